/* SPDX-License-Identifier: Apache-2.0 */
/* One sort, for the tests of the sort and its tunings. */
#ifndef ORDO_TESTS_SORT_CASE_H
#define ORDO_TESTS_SORT_CASE_H

#include "array_case.h"

struct job {
    struct ordo_sort_params params;
    enum test_shape         shape;
    size_t                  count;
    bool                    in_place;
};

/* Sorts these keys, or keys of the job's shape if `keys` is NULL; `name` is for messages. */
static inline void check_keys(struct test *t, const struct job *job, const void *keys, const char *name)
{
    struct given g = array_given(t, job->params.key, job->params.value_bytes, job->count);

    g.descending = job->params.descending;
    g.first_bit = job->params.first_bit;
    g.bits = job->params.bits;
    AUTO(array_case_free) struct array_case c = array_case(t, "ordo_sort", &g);
    (void) snprintf(c.name, sizeof c.name, "%s", name);
    if (keys)
        memcpy(c.host[0], keys, job->count * ordo_type_bytes(g.type));
    else
        test_keys(t, g.type, job->shape, job->count, c.host[0]);
    for (size_t i = 2; i < 4 && job->in_place; i++)
        c.as[i] = i - 2;
    array_case_check(&c);
}

static inline void check_job(struct test *t, const struct job *job)
{
    check_keys(t, job, NULL, test_shape_name[job->shape]);
}

#endif
