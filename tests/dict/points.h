/* SPDX-License-Identifier: Apache-2.0 */
/* Histories of concurrent finds, upserts, inserts and erases on a structure that records them: whether some order of
 * the operations explains their results (history.h). The files of tests of a structure say how to create it and how to
 * inject faults. */
#ifndef ORDO_TESTS_POINTS_H
#define ORDO_TESTS_POINTS_H

#include "history.h"

#include "tests/support/support.h"

struct plan {
    const char *name;
    ordo_type   type;
    uint32_t    value_bytes;
    uint32_t    keys, initial; /* percent of them that exist before */
    uint32_t    setting;       /* of the structure */
    size_t      operations;
    uint8_t     weight[ORDO_ERASE + 1]; /* percent of each code */
    bool        dense;                  /* The keys are the greatest of the type, one after another. */
};

#define STORES                                                                                                         \
    {                                                                                                                  \
        5, 0, 60, 30, 5                                                                                                \
    }

/* A structure and its plans. `record` sets the faults (a sum of enum ordo_fault) and the memory for time stamps, or
 * takes both away. */
struct points_subject {
    ordo_status (*create)(ordo_device *dev, const struct plan *plan, ordo_dict **out);
    void (*record)(ordo_dict *dict, uint32_t faults, cl_mem history);
    const struct plan *plans;
    size_t             n_plans;
    const struct plan *kinds; /* plans of other types of keys and values */
    size_t             n_kinds;
    size_t             histories; /* default of ORDO_TEST_HISTORIES */
};

/* Runs a history. Returns false if it is wrong, with the reason in `wrong`. */
bool points_run(struct test *t, const struct points_subject *subject, const struct plan *plan, uint32_t faults,
                uint64_t seed, char *wrong, size_t bytes);
/* Expects that a history is right. */
void points_expect(struct test *t, const struct points_subject *subject, const struct plan *plan, uint32_t faults,
                   uint64_t seed);
/* Expects that kernels with a bug are wrong in one of some histories, which take turns between the plans. */
void points_expect_caught(struct test *t, const struct points_subject *subject, const struct plan *plans,
                          size_t n_plans, uint32_t faults, const char *bug);

/* Expect that histories of the plans are right: as many as ORDO_TEST_HISTORIES says, one of each plan with optimized
 * kernels, some with injected faults (also with operations that give up at once), and two of each kind. */
void points_expect_many(struct test *t, const struct points_subject *subject);
void points_expect_each(struct test *t, const struct points_subject *subject);
void points_expect_faults(struct test *t, const struct points_subject *subject, uint32_t faults);
void points_expect_kinds(struct test *t, const struct points_subject *subject, uint32_t faults);

#endif
