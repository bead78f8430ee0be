/* SPDX-License-Identifier: Apache-2.0 */
/* The HAMT on the host's side; cl/shared/hamt_node.h draws it and has the invariants.
 *
 * Its files from the bottom up, each of which calls those before it:
 *
 *   hamt_store.c    memory, and how kernels are launched
 *   hamt_query.c    queries, export, statistics
 *   hamt_nodes.c    nodes of a trie of fixed depth
 *   hamt_build.c    leaves of sorted elements, and the trie of them and of leaves that stay
 *   hamt_merge.c    leaves merged with the updates that fall into them
 *   hamt_update.c   batches; the trie built anew
 *   hamt_check.c    the invariants
 *   hamt.c          the structure's table
 *   roaring_read.c, roaring_write.c
 *                   the Roaring portable format
 *
 * A call makes the trie that is to be beside the one that is, and puts it in its place when all is enqueued, so whatever fails
 * before leaves it as it was. */
#ifndef ORDO_HAMT_PRIVATE_H
#define ORDO_HAMT_PRIVATE_H

#include "dict/launch.h"
#include "dict/sorted_run.h"
#include "ordo/hamt.h"
#include "shared/hamt_node.h"

struct ordo_hamt_block {
    cl_mem mem;
    size_t bytes;
};

/* All zero: without elements. */
struct ordo_hamt_trie {
    struct ordo_hamt_block leaves, tables, pool; /* may be larger than what they have */
    cl_uint                n_leaves, n;          /* elements */
    cl_uint                cell_bits, rank_bits; /* of cells' numbers */
    size_t                 nodes;                /* of fixed depth */
    size_t                 used, live;           /* units of the pool: taken, and of these in use */
};

struct ordo_hamt {
    ordo_dict              dict; /* first */
    bool                   fixed_depth;
    struct ordo_hamt_trie  trie;
    struct ordo_hamt_block spare_leaves, spare_tables, spare_pool;      /* for the next trie */
    size_t                 built_elements, built_leaves, most_elements; /* since all was built anew */
    size_t                 bytes, bytes_peak, rebuilds;
    struct ordo_runs       runs; /* what sorts batches and merges leaves with them */
};

static inline struct ordo_hamt *ordo_hamt_of(ordo_dict *dict)
{
    return (struct ordo_hamt *) dict;
}

/* ---- hamt_store.c ------------------------------------------------------------------------------------------------- */

/* Of both tables, and of nodes. */
size_t ordo_hamt_table_words(const struct ordo_hamt_trie *trie);

/* `bytes` of memory, and some more if `roomy`, counted. */
ordo_status ordo_hamt_allocate(struct ordo_hamt *hamt, size_t bytes, bool roomy, struct ordo_hamt_block *out);
void        ordo_hamt_drop(struct ordo_hamt *hamt, struct ordo_hamt_block *block);
/* Units that so many elements take, which lie in so many leaves, at most. */
size_t ordo_hamt_units_most(const struct ordo_hamt *hamt, size_t elements, size_t leaves);
/* Memory for the records and tables of a trie with so many leaves, or of fixed depth the records alone: spare, or new. */
ordo_status ordo_hamt_make_room(struct ordo_hamt *hamt, struct ordo_hamt_trie *next, bool roomy);
/* Of fixed depth, for the tables, once it is known how many nodes there are. */
ordo_status ordo_hamt_make_node_room(struct ordo_hamt *hamt, struct ordo_hamt_trie *next, bool roomy);
/* Memory for so many units: spare, or new. */
ordo_status ordo_hamt_make_pool(struct ordo_hamt *hamt, struct ordo_hamt_trie *next, size_t units, bool roomy);
/* Has spare memory made for about so many leaves and units, while the device is busy: drivers take their time for it. What cannot be had
 * is asked for again when it is needed. */
void ordo_hamt_foresee(struct ordo_hamt *hamt, size_t leaves, size_t units);
/* Gives back what `next` has for itself. */
void ordo_hamt_give_up(struct ordo_hamt *hamt, struct ordo_hamt_trie *next);
/* Puts a trie in the place of the one there, which may have its pool. */
void ordo_hamt_become(struct ordo_hamt *hamt, const struct ordo_hamt_trie *next);
void ordo_hamt_drop_spare(struct ordo_hamt *hamt);
void ordo_hamt_give_spare(ordo_dict *dict);
void ordo_hamt_clear(ordo_dict *dict);

/* ordo_dict_kernel, and HAMT_FIXED_DEPTH for a trie of fixed depth. */
struct ordo_launch ordo_hamt_kernel(const struct ordo_hamt *hamt, const char *file, const char *kernel, size_t items);
/* HAMT_TRIE of cl/dict/trie/hamt.cl. */
void ordo_hamt_add_trie(struct ordo_args *args, const struct ordo_hamt_trie *trie);

/* ---- hamt_query.c ------------------------------------------------------------------------------------------------- */

ordo_status ordo_hamt_find(ordo_dict *dict, struct ordo_call *call, const struct ordo_finds *finds);
ordo_status ordo_hamt_count(ordo_dict *dict, struct ordo_call *call, const struct ordo_counts *counts);
ordo_status ordo_hamt_range(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranges *ranges);
ordo_status ordo_hamt_seek(ordo_dict *dict, struct ordo_call *call, const struct ordo_seeks *seeks);
ordo_status ordo_hamt_rank(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranks *ranks);
ordo_status ordo_hamt_select(ordo_dict *dict, struct ordo_call *call, const struct ordo_selects *selects);
ordo_status ordo_hamt_size(ordo_dict *dict, struct ordo_call *call, size_t *out);
ordo_status ordo_hamt_export(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys_out,
                             struct ordo_slice values_out, size_t capacity, size_t *count);
ordo_status ordo_hamt_statistics(ordo_dict *dict, struct ordo_call *call, struct ordo_statistics *out);

/* Elements by ranks: hamt_write of cl/dict/trie/hamt_query.cl. firsts NULL: all. Nothing if they are more than `most`. */
struct ordo_hamt_stretch {
    struct ordo_slice offsets;
    cl_mem            firsts;
    size_t            count, most;
    struct ordo_slice keys_out, values_out;
};
ordo_status ordo_hamt_write(struct ordo_call *call, const struct ordo_hamt *hamt, const struct ordo_hamt_stretch *s);

/* ---- hamt_nodes.c ------------------------------------------------------------------------------------------------- */

/* Numbers of the nodes above leaves, whose records are written, in scratch: hamt_node_heads of cl/dict/trie/hamt_nodes.cl, scanned.
 * *nodes: how many there are. Waits. */
ordo_status ordo_hamt_number_nodes(struct ordo_call *call, const struct ordo_hamt *hamt,
                                   const struct ordo_hamt_trie *trie, cl_mem *number, size_t *nodes);
/* Writes the words of nodes, and the header; or if there is `wrong` looks whether they are right. */
ordo_status ordo_hamt_nodes(struct ordo_call *call, const struct ordo_hamt *hamt, const struct ordo_hamt_trie *trie,
                            cl_mem number, cl_mem wrong);

/* ---- hamt_build.c ------------------------------------------------------------------------------------------------- */

/* The leaves that an update touches, in scratch, and what they have. */
struct ordo_hamt_touched {
    cl_mem  leaves, firsts, offsets; /* of each: its number, the rank of its first element, elements before */
    cl_uint n;
    size_t  elements, units;
};

/* Puts a trie in the place of the one there: of the old one without the leaves that are touched, and of a run that has
 * their elements as they now are; touched NULL: of the run alone. The run may have no block: no elements. Waits. */
ordo_status ordo_hamt_assemble(struct ordo_call *call, struct ordo_hamt *hamt, const struct ordo_hamt_touched *touched,
                               const struct ordo_sorted_run *run, bool roomy);

/* That a trie to be is not too large; next->n, n_leaves and used say how large. */
ordo_status ordo_hamt_check_size(struct ordo_call *call, const struct ordo_hamt *hamt,
                                 const struct ordo_hamt_trie *next);
/* T5, once records are written. Of fixed depth it waits for the number of nodes, and makes memory for the tables. */
ordo_status ordo_hamt_make_tables(struct ordo_call *call, struct ordo_hamt *hamt, struct ordo_hamt_trie *next,
                                  bool roomy);

/* ---- hamt_merge.c ------------------------------------------------------------------------------------------------- */

/* Puts the trie with a batch merged into its leaves in the place of the one there, which has leaves; *done: false, and nothing has
 * changed, if too many updates fall into one of them. Waits. */
ordo_status ordo_hamt_merge(struct ordo_call *call, struct ordo_hamt *hamt, const struct ordo_sorted_run *batch,
                            bool *done);

/* ---- hamt_update.c ------------------------------------------------------------------------------------------------ */

ordo_status ordo_hamt_build(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys, struct ordo_slice values,
                            size_t count);
ordo_status ordo_hamt_update(ordo_dict *dict, struct ordo_call *call, bool erase, struct ordo_slice keys,
                             struct ordo_slice values, size_t count);
ordo_status ordo_hamt_update_sorted(ordo_dict *dict, struct ordo_call *call, const struct ordo_sorted_updates *updates);
ordo_status ordo_hamt_compact(ordo_dict *dict, struct ordo_call *call);

/* A trie of a run alone. Waits. */
ordo_status ordo_hamt_build_of(struct ordo_call *call, struct ordo_hamt *hamt, const struct ordo_sorted_run *run,
                               bool roomy);

/* ---- hamt_check.c ------------------------------------------------------------------------------------------------- */

ordo_status ordo_hamt_check(ordo_dict *dict, struct ordo_call *call);

/* ---- hamt.c ------------------------------------------------------------------------------------------------------- */

extern const struct ordo_structure ordo_hamt_structure;
/* ORDO_UNSUPPORTED unless keys are of a type that the Roaring format has. */
ordo_status ordo_hamt_check_roaring(const ordo_dict *dict);
/* ordo_dict_kernel for keys alone. */
struct ordo_launch ordo_roaring_kernel(const ordo_dict *dict, const char *file, const char *kernel, size_t items);

#endif
