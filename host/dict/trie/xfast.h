/* SPDX-License-Identifier: Apache-2.0 */
/* The X-fast trie on the host's side; cl/shared/xfast.h draws it and has the invariants.
 *
 * The leaves are the run of a sorted array (dict/runs), and long prefixes lie in a hash table (dict/hash): the trie stands on
 * both. An update merges the run with the batch, as the sorted array does, and makes flat and table anew: places shift, so
 * all entries change anyway, and of most keys there are few entries. What cannot be made for want of memory is no error: queries
 * then go by the sorted array's search until the next update.
 *
 * A question about prefixes needs the trie, and makes it if it is not there.
 *
 * Its files from the bottom up, each of which calls those before it:
 *
 *   xfast_build.c   flat and table
 *   xfast_query.c   queries
 *   xfast_check.c   the invariants, what it takes
 *   xfast.c         updates, the structure's table
 *   xfast_prefix.c  questions about prefixes
 */
#ifndef ORDO_XFAST_PRIVATE_H
#define ORDO_XFAST_PRIVATE_H

#include "dict/hash/hash.h"
#include "dict/runs/runs.h"
#include "ordo/xfast.h"
#include "shared/xfast.h"

struct ordo_xfast {
    struct ordo_runs runs;  /* first: a dictionary is a struct ordo_runs, and that a struct ordo_xfast */
    uint32_t         group; /* as it was asked for */
    xfast_shape      shape; /* of what follows */
    cl_mem           flat;  /* NULL: there is no trie over the run */
    cl_mem           masks; /* X4; made when first asked for */
    size_t           flat_bytes, mask_bytes, bytes_peak;
    struct ordo_hash prefixes; /* a hash table of its own, never called by itself */
};

static inline struct ordo_xfast *ordo_xfast_of(ordo_dict *dict)
{
    return (struct ordo_xfast *) dict;
}

/* The run under the trie. */
static inline struct ordo_sorted_run *ordo_xfast_run(struct ordo_xfast *xfast)
{
    return &xfast->runs.set.run[0];
}

/* ---- xfast_build.c ----------------------------------------------------------------------------------------------- */

/* Lets go of flat, table and masks. */
void ordo_xfast_drop(struct ordo_xfast *xfast);
/* Makes them for the run that is there, if any and if they are not. Waits. */
ordo_status ordo_xfast_raise(struct ordo_xfast *xfast, struct ordo_call *call);
/* Notes what flat, table and masks take, if that was never so much. */
void ordo_xfast_note_peak(struct ordo_xfast *xfast);
/* XFAST_TRIE of cl/dict/trie/xfast.cl. */
void ordo_xfast_add_trie(struct ordo_args *args, struct ordo_xfast *xfast);
/* ordo_dict_kernel for values of XFAST_ENTRY_BYTES, which are those of the table. */
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

/* ---- xfast.c ----------------------------------------------------------------------------------------------------- */

extern const struct ordo_structure ordo_xfast_structure;

#endif
