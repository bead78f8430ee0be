/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of the X-fast trie. cl/shared/xfast.h draws it and lists the invariants.
 *
 * The leaves are the run of a sorted array (dict/runs), and a hash table (dict/hash) has the long prefixes. An update
 * merges run and batch, and rebuilds flat and table, because the places of most leaves change. Without memory for flat
 * or table, queries search the run until the next update. A query of prefixes builds a missing trie.
 *
 * Each file calls only files above it in this list:
 *
 *   xfast_build.c   flat and table
 *   xfast_query.c   queries
 *   xfast_check.c   invariants, statistics
 *   xfast.c         updates, table of the structure
 *   xfast_prefix.c  queries of prefixes */
#ifndef ORDO_XFAST_PRIVATE_H
#define ORDO_XFAST_PRIVATE_H

#include "dict/hash/hash.h"
#include "dict/runs/runs.h"
#include "ordo/xfast.h"
#include "shared/xfast.h"

struct ordo_xfast {
    struct ordo_runs runs;  /* first */
    uint32_t         group; /* of the configuration */
    xfast_shape      shape; /* of flat, masks and prefixes */
    cl_mem           flat;  /* NULL: the run has no trie */
    cl_mem           masks; /* X4; made by the first query that needs them */
    size_t           flat_bytes, mask_bytes, bytes_peak;
    struct ordo_hash prefixes; /* the table; no caller of the interface reaches it */
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
/* Builds flat and table if there is a run and they are missing. Waits. */
ordo_status      ordo_xfast_raise(struct ordo_xfast *xfast, struct ordo_call *call);
void             ordo_xfast_note_peak(struct ordo_xfast *xfast);
struct ordo_args ordo_xfast_args(struct ordo_xfast *xfast);
/* ordo_dict_kernel with the values of the table, of XFAST_ENTRY_BYTES. */
struct ordo_launch ordo_xfast_kernel(const struct ordo_xfast *xfast, const char *file, const char *kernel,
                                     size_t items);

/* ---- xfast_query.c ----------------------------------------------------------------------------------------------- */

ordo_status ordo_xfast_find(ordo_dict *dict, struct ordo_call *call, const struct ordo_finds *finds);
ordo_status ordo_xfast_count(ordo_dict *dict, struct ordo_call *call, const struct ordo_counts *counts);
ordo_status ordo_xfast_seek(ordo_dict *dict, struct ordo_call *call, const struct ordo_seeks *seeks);
ordo_status ordo_xfast_rank(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranks *ranks);

/* ---- xfast_check.c ----------------------------------------------------------------------------------------------- */

ordo_status ordo_xfast_check(ordo_dict *dict, struct ordo_call *call);
ordo_status ordo_xfast_statistics(ordo_dict *dict, struct ordo_call *call, struct ordo_statistics *out);

#endif
