/* SPDX-License-Identifier: Apache-2.0 */
/* A dictionary of strings beside a map on the host: each update changes both, and each query compares them. */
#ifndef ORDO_TESTS_STRING_TRIAL_H
#define ORDO_TESTS_STRING_TRIAL_H

#include "tests/dict/string_map.h"

#include "ordo/string_dict.h"

struct string_trial {
    struct test      *t;
    ordo_string_dict *dict;
    struct string_map m;
    uint32_t          value_bytes;
    bool              lacks_memory; /* merges may lack memory: more runs and stale strings may remain */
    /* Called before and after each update, with `user`. NULL: none. */
    void (*hazard)(void *user, bool begins);
    void *user;
};

struct string_trial string_trial_begin(struct test *t, uint32_t value_bytes);
void                string_trial_end(struct string_trial *r);

/* ---- columns ----------------------------------------------------------------------------------------------------- */

/* A column in host and device memory. */
struct string_column_at {
    const struct string_case *c;
    void                     *wide_or_narrow;
    struct test_array         on_offsets, on_bytes;
    struct ordo_host_strings  host;
    struct ordo_strings       device;
};

struct string_column_at string_upload(struct test *t, const struct string_case *c);
void                    string_column_at_free(struct string_column_at *k);
#define AUTO_UPLOADED AUTO(string_column_at_free)

/* Returns `n` strings. `stored` of 10 come from the dictionary, and if `changed`, are perhaps shortened or extended. */
struct string_case string_trial_batch(struct string_trial *r, enum string_shape shape, size_t n, uint64_t stored,
                                      bool changed);

/* Returns all strings of the dictionary. */
struct string_case string_trial_all(const struct string_trial *r);

/* ---- updates ----------------------------------------------------------------------------------------------------- */

enum string_change { STRINGS_BUILD, STRINGS_UPSERT, STRINGS_ERASE };

/* Makes an update. If it succeeds, the map changes too. */
ordo_status string_trial_try(struct string_trial *r, enum string_change kind, const struct string_case *c);
/* Makes an update, which must succeed. */
void string_trial_change(struct string_trial *r, enum string_change kind, const struct string_case *c);
/* Changes the dictionary by string_trial_batch(r, shape, n, stored, false). */
void string_trial_update(struct string_trial *r, enum string_change kind, enum string_shape shape, size_t n,
                         uint64_t stored);

/* ---- comparisons ------------------------------------------------------------------------------------------------- */

/* Makes all queries, and compares the whole content. */
void string_trial_check(struct string_trial *r, enum string_shape shape);
/* As string_trial_check, with n > 0 strings in each batch of queries. */
void string_trial_ask(struct string_trial *r, enum string_shape shape, size_t n);
void string_trial_export(struct string_trial *r);
void string_trial_select(struct string_trial *r);

#endif
