/* SPDX-License-Identifier: Apache-2.0 */
/* The X-fast trie on the host; cl/shared/xfast.h has its layout and invariants. The leaves are a sorted array
 * (dict/runs). An update merges array and batch, and drops the trie. A large update also rebuilds it. Otherwise queries
 * search the array, and rebuild the trie after enough of them. */
#ifndef ORDO_XFAST_PRIVATE_H
#define ORDO_XFAST_PRIVATE_H

#include "dict/hash/hash.h"
#include "dict/runs/runs.h"
#include "dict/trie/draft.h"
#include "ordo/xfast.h"
#include "shared/xfast.h"

struct ordo_xfast {
    struct ordo_runs   runs; /* must be the first member */
    uint32_t           group;
    bool               level_tables;
    cl_ulong           seed;
    xfast_shape        shape;
    cl_mem             flat;  /* NULL if there is no trie */
    cl_mem             masks; /* per key, a bitmap of the lengths of its stored prefixes; NULL if not made yet */
    cl_mem             slots;
    size_t             flat_bytes, mask_bytes, slot_bytes, bytes_peak;
    size_t             searched; /* number of queries that have searched the array because there was no trie */
    struct ordo_hash   prefixes;
    struct ordo_drafts drafts;
    /* Kernel arguments of a concurrent batch: the elements that the dictionary had when the batch began. If it was
     * empty, all members are 0. */
    struct {
        cl_mem            keys;
        struct ordo_slice values;
        xfast_shape       shape; /* If `flat` is NULL, only `count` is set. */
    } before;
};

static inline struct ordo_xfast *ordo_xfast_of(ordo_dict *dict)
{
    return (struct ordo_xfast *) dict;
}

static inline struct ordo_sorted_run *ordo_xfast_run(struct ordo_xfast *xfast)
{
    return &xfast->runs.set.run[0];
}

/* ---- xfast_build.c ----------------------------------------------------------------------------------------------- */

void ordo_xfast_drop(struct ordo_xfast *xfast);
/* Builds the trie if it is missing and there are keys. Waits for the device. */
ordo_status ordo_xfast_raise(struct ordo_xfast *xfast, struct ordo_call *call);
/* Like ordo_xfast_raise. If this fails, logs a warning and returns no error, because queries can search the array. */
void ordo_xfast_raise_if_possible(struct ordo_xfast *xfast, struct ordo_call *call);
/* Returns whether the operations are numerous enough for a build of the trie. */
bool ordo_xfast_pays(const struct ordo_xfast *xfast, size_t operations);
/* Must precede queries. Builds a missing trie once enough queries have searched the array. May wait for the device. */
ordo_status        ordo_xfast_prepare(struct ordo_xfast *xfast, struct ordo_call *call, size_t queries);
void               ordo_xfast_note_peak(struct ordo_xfast *xfast);
struct ordo_args   ordo_xfast_args(struct ordo_xfast *xfast);
void               ordo_xfast_add_table(struct ordo_args *args, const struct ordo_xfast *xfast);
struct ordo_launch ordo_xfast_kernel(const struct ordo_xfast *xfast, const char *file, const char *kernel,
                                     size_t items);

/* ---- xfast_query.c ----------------------------------------------------------------------------------------------- */

ordo_status ordo_xfast_find(ordo_dict *dict, struct ordo_call *call, const struct ordo_finds *finds);
ordo_status ordo_xfast_count(ordo_dict *dict, struct ordo_call *call, const struct ordo_counts *counts);
ordo_status ordo_xfast_seek(ordo_dict *dict, struct ordo_call *call, const struct ordo_seeks *seeks);
ordo_status ordo_xfast_rank(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranks *ranks);

/* ---- xfast_concurrent.c ------------------------------------------------------------------------------------------ */

ordo_status ordo_xfast_apply_concurrent(ordo_dict *dict, struct ordo_call *call,
                                        const struct ordo_concurrent_batch *batch);

/* ---- xfast_check.c ----------------------------------------------------------------------------------------------- */

ordo_status ordo_xfast_check(ordo_dict *dict, struct ordo_call *call);
ordo_status ordo_xfast_statistics(ordo_dict *dict, struct ordo_call *call, struct ordo_statistics *out);

#endif
