/* SPDX-License-Identifier: Apache-2.0 */
/* The data and calls of a dictionary workload. */
#pragma once

#include "bench/common/threads.h"
#include "keys.h"
#include "model.h"
#include "workload.h"

struct dict_plan {
    struct spec spec;
    /* Batches of upserts that fill the dictionary. */
    struct script table;
    /* longestprefix: spec.count prefixes, the empty one included. The table has them or an equivalent. */
    void *prefixes;
    /* Changes before the timed calls, for example to make elements stale. */
    struct script churn;
    /* The timed calls. Queries: the calls of the current fill. */
    struct script work;
    /* Queries of each fill so far, if memory allows; else only `work`. */
    struct script *asked;
    size_t         n_asked;
    bool           keeps;
    /* After the batches so far; finally after all timed calls. */
    struct model model;
};

/* Independent random streams. */
enum { STREAM_TABLE, STREAM_NEW, STREAM_PICK, STREAM_MISS, STREAM_WIDTH, STREAM_CODE };
uint64_t stream(const struct dict_plan *plan, int which);

/* Draws keys and values for upserts. Values number the elements from `first` on. False without memory. */
bool draw_elements(const struct dict_plan *plan, struct column_batch *cols, int from_stream, size_t first,
                   size_t count);

/* A value that depends on the key (stored form) alone; the other writes it to rows. */
static inline uint64_t value_by_key(uint64_t key)
{
    return draw(STREAM_NEW, key);
}
void set_value_by_key(struct column_batch *cols, size_t row);
void set_values_by_key(struct column_batch *cols, size_t rows);

/* Adds steps to a script: one per batch, over `count` rows from `at` on. False without memory. */
bool batch_steps(struct script *script, size_t batch, enum step_call call, size_t at, size_t count);

/* Takes the ordered form. */
void set_stored(struct column_batch *cols, enum column_id column, size_t row, uint64_t key);
/* The key of the i-th of `count` requests, among `keys` keys. */
size_t   pick_of(const struct dict_plan *plan, size_t keys, size_t i, size_t count);
uint64_t highest(const struct dict_plan *plan);

struct requests {
    const struct dict_plan *plan;
    struct column_batch    *cols;
    size_t                  at; /* first row */
    size_t                  count;
};
/* Calls fn(requests, i) for each i below count. */
void request_each(const struct dict_plan *plan, struct column_batch *cols, size_t at, size_t count, each_fn fn);

/* ---- concurrent batches -------------------------------------------------------------------------------------- */

/* Upserts without `found`, because the first of equal keys is unknown. */
bool draw_concurrent_upserts(struct dict_plan *plan, enum step_call call);
/* concurrentmix and concurrentranges: operations of every kind, each with a random key and neighbourhood.
 * concurrentpoints: inserts, erases and finds of any keys of a range; explain_points checks them. */
bool draw_concurrent(struct dict_plan *plan, enum step_call call);

/* Keys of a range of spec.count, in ordered form, and back. */
uint64_t range_key(const struct dict_plan *plan, size_t i);
size_t   range_place(const struct dict_plan *plan, uint64_t key);
/* The table of concurrentpoints: half of that range. */
bool draw_half_of_range(struct dict_plan *plan);

/* Whether an order of concurrent inserts, erases and finds, all overlapping, explains their results: found and
 * values_out of concurrentpoints. *after: the final content, which the caller frees with model_free. False with the
 * reason in `why` if no order explains them, or without memory. */
bool explain_points(const struct dict_plan *plan, const uint8_t *found, const void *values_out, struct model *after,
                    char *why);

/* Draws the table and, unless the workload has queries, all the rest, and runs it on the model. False without
 * memory; then *plan is empty. */
bool plan_make(const struct spec *spec, struct dict_plan *plan);
void plan_free(struct dict_plan *plan);

/* Whether the workload times queries at several fills. */
bool plan_has_fills(enum workload workload);
/* The number of fills, and the number of table batches of fill i (ascending). */
size_t plan_fills(const struct dict_plan *plan);
size_t plan_fill(const struct dict_plan *plan, size_t i);
/* Advances the model to fill i and draws its queries, or returns to queries drawn before. False without memory. */
bool plan_advance(struct dict_plan *plan, size_t i);

/* The plan of a point: the previous plan if it differs only in the structure. This module owns it, and the next call
 * may change it. NULL without memory. */
struct dict_plan *plan_borrow(const struct spec *spec);
/* Ends the use of the plan. It is kept if `good` and small. */
void plan_return(bool good);

/* A rough estimate of the device memory, and of the largest buffer. */
struct workload_bytes plan_bytes(const struct spec *spec);
