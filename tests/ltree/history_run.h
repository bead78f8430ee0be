/* SPDX-License-Identifier: Apache-2.0 */
/* A history on a linked tree: a concurrent batch by a plan, and checks of its results and of the tree afterwards.
 *
 * expect_history is the call for tests. history_run.c calls the other files in the order in which they stand here. */
#ifndef ORDO_TESTS_HISTORY_RUN_H
#define ORDO_TESTS_HISTORY_RUN_H

#include "history_plan.h"

#include "tests/dict/history.h"

/* Expects that the history of a seed is right. */
void expect_history(struct test *t, const struct plan *plan, uint64_t seed);

enum { WRONG_BYTES = 4096 };

/* Runs one history. False if it found a fault, which `wrong` (WRONG_BYTES bytes) describes. */
bool run_history(struct test *t, const struct plan *plan, uint64_t seed, char *wrong);

/* ---- a running history ------------------------------------------------------------------------------------------- */

struct input {
    uint8_t  *codes;
    uint8_t  *keys, *hi, *values; /* with the plan's sizes */
    uint64_t *rooms;
};

struct output {
    uint8_t  *found, *outcomes, *keys_out, *values_out;
    uint32_t *counts;
    uint8_t  *range_keys, *range_values;
    uint32_t *ticks;
};

struct run {
    struct test       *t;
    const struct plan *plan;
    uint64_t           seed;
    size_t             key_bytes;
    ordo_dict         *dict;
    struct model       before, after;
    struct input       in;
    struct output      out;
    size_t             n;
    char               wrong[WRONG_BYTES]; /* the first fault found, or "" */
};

/* Writes down a fault. Always false. */
bool is_wrong(struct run *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline key_form form_at(const struct run *r, const uint8_t *keys, size_t i)
{
    return form_of_key(r->plan->type, keys, i);
}

/* ---- history_input.c --------------------------------------------------------------------------------------------- */

/* A history's keys have the numbers 0 to n_numbers - 1, in key order. */
size_t   n_numbers(const struct plan *plan);
key_form form_of(const struct run *r, size_t number);

/* Makes the arrays of the batch. */
void make_input(struct run *r);

/* Makes the tree, with the background and some of the changed keys, and its model (`before`). */
bool make_dict(struct run *r);

/* ---- history_slots.c --------------------------------------------------------------------------------------------- */

/* Checks unused slots of inner nodes: a torn read may return their numbers, so these must be nodes of the level below.
 */
bool check_unused_slots(struct run *r);

/* ---- history_check.c --------------------------------------------------------------------------------------------- */

/* Checks the results of all operations: some order explains operations on one key, and operations on many keys report
 * what dict.h promises. */
bool check_history(struct run *r, const struct ordo_host_concurrent_batch *batch);

#endif
