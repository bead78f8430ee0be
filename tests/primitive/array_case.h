/* SPDX-License-Identifier: Apache-2.0 */
/* One call of array.h, compared with the model.
 *
 *     struct given g = array_given(t, ORDO_U32, 4, count);
 *     AUTO(array_case_free) struct array_case c = array_case(t, "ordo_sort", &g);
 *     test_keys(t, ORDO_U32, TEST_RANDOM, count, c.host[0]);       // all inputs are random bytes before
 *     array_case_check(&c);
 *     array_case_check_host(&c);
 */
#ifndef ORDO_TESTS_ARRAY_CASE_H
#define ORDO_TESTS_ARRAY_CASE_H

#include "array_model.h"
#include "scan_common.h"

#include <stdio.h>

struct array_case {
    struct test             *t;
    const struct array_call *call;
    struct given             g;
    char                     name[80];          /* for messages; "" at first */
    void                    *host[CALL_ARRAYS]; /* inputs; outputs of the model. NULL: absent */
    size_t                   at[CALL_ARRAYS];   /* where each begins in its buffer; random at first */
    size_t                   as[CALL_ARRAYS];   /* an output in the buffer of this input; itself at first */
    const struct test_array *on[CALL_ARRAYS];   /* an input that the caller has uploaded */
    bool                     unsorted;          /* the results are undefined */
    bool                     is_modelled;       /* the outputs of the model are there */
    bool                     gone;              /* the keys are in the index only */
    /* NULL: the public call. Else makes the call in its place. */
    ordo_status (*run)(const struct array_case *c, const struct ordo_slice a[]);
    uint32_t faults; /* for run */
};

/* Arguments with a type of keys, a size of values and a count; the rest as in call_given. */
struct given array_given(struct test *t, ordo_type type, uint32_t value_bytes, size_t count);

/* Counts at boundaries of the groups and tiles that these tunables give for elements of this size. */
size_t array_seams(const struct test *t, enum ordo_tunable group, enum ordo_tunable items, size_t bytes,
                   size_t counts[TEST_SEAMS]);

/* Makes the arrays of a call. Optional outputs are sometimes absent. */
struct array_case array_case(struct test *t, const char *call, const struct given *g);
void              array_case_free(struct array_case *c);
/* Whether an optional output is present, in place of chance. */
void array_case_want(struct array_case *c, size_t i, bool present);

/* Makes the call on the device: the outputs equal the model's, also where it writes nothing, and inputs are unchanged.
 * Returns false if the device refuses the tunables. */
bool array_case_runs(struct array_case *c);
#define array_case_check(c) test_true((c)->t, array_case_runs(c))
/* Makes the call over host memory, and compares the outputs. */
void array_case_check_host(struct array_case *c);

#endif
