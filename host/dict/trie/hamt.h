/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of the HAMT. cl/shared/hamt_node.h draws the trie and lists its invariants. Each section below is a file
 * that calls only earlier ones.
 *
 * A call enqueues the next trie in separate memory and then replaces the current trie, which stays if anything fails.
 */
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

/* A trie. An empty trie is all zero. */
struct ordo_hamt_trie {
    struct ordo_hamt_block leaves, tables, pool; /* a block may be larger than its content */
    cl_uint                n_leaves, n;          /* n: elements */
    cl_uint                cell_bits, rank_bits; /* log2 of the number of cells */
    size_t                 nodes;                /* number of nodes, if the depth is fixed */
    /* units of the pool: used up to the free end; live in blocks of leaves */
    size_t used, live;
};

struct ordo_hamt {
    ordo_dict              dict; /* first */
    bool                   fixed_depth;
    struct ordo_hamt_trie  trie;
    struct ordo_hamt_block spare_leaves, spare_tables, spare_pool; /* cached for the next trie */
    /* built: at the last rebuild; most: since then */
    size_t           built_elements, built_leaves, most_elements;
    size_t           bytes, bytes_peak, rebuilds;
    struct ordo_runs runs; /* sorts batches and merges leaves with them */
};

static inline struct ordo_hamt *ordo_hamt_of(ordo_dict *dict)
{
    return (struct ordo_hamt *) dict;
}

/* ---- hamt_store.c ------------------------------------------------------------------------------------------------ */

size_t ordo_hamt_table_words(const struct ordo_hamt_trie *trie);
/* Returns an upper bound of the pool units for `elements` in `leaves`. */
size_t ordo_hamt_units_max(const struct ordo_hamt *hamt, size_t elements, size_t leaves);

/* The following four take a cached block or allocate one. `reserve` adds a quarter if there is memory for it. */
/* Sets the table sizes for next->n_leaves, and takes memory for records and, unless the depth is fixed, tables. */
ordo_status ordo_hamt_make_blocks(struct ordo_hamt *hamt, struct ordo_hamt_trie *next, bool reserve);
/* Takes memory for the tables of a trie of fixed depth, whose next->nodes is known. */
ordo_status ordo_hamt_make_node_block(struct ordo_hamt *hamt, struct ordo_hamt_trie *next, bool reserve);
ordo_status ordo_hamt_make_pool(struct ordo_hamt *hamt, struct ordo_hamt_trie *next, size_t units, bool reserve);
/* Caches blocks for about `leaves` and `units` while the device is busy, because drivers take time to allocate. Failed
 * allocations are tried again later. */
void ordo_hamt_foresee(struct ordo_hamt *hamt, size_t leaves, size_t units);

/* Frees the blocks of `next` that the current trie does not use. */
void ordo_hamt_give_up(struct ordo_hamt *hamt, struct ordo_hamt_trie *next);
/* Makes *next the current trie. `next` may use the current pool. */
void ordo_hamt_become(struct ordo_hamt *hamt, const struct ordo_hamt_trie *next);
void ordo_hamt_drop_spare(struct ordo_hamt *hamt);
void ordo_hamt_release_spare(ordo_dict *dict);
void ordo_hamt_clear(ordo_dict *dict);

struct ordo_launch ordo_hamt_kernel(const struct ordo_hamt *hamt, const char *file, const char *kernel, size_t items);
struct ordo_args   ordo_hamt_args(const struct ordo_hamt_trie *trie);

/* ---- hamt_query.c ------------------------------------------------------------------------------------------------ */

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

/* Arguments of hamt_write (cl/dict/trie/hamt_query.cl), which writes nothing if there are more than `most` elements. */
struct ordo_hamt_slices {
    struct ordo_slice offsets;
    cl_mem            firsts; /* NULL: write all elements */
    size_t            count, most;
    struct ordo_slice keys_out, values_out;
};
ordo_status ordo_hamt_write(struct ordo_call *call, const struct ordo_hamt *hamt, const struct ordo_hamt_slices *s);

/* ---- hamt_nodes.c ------------------------------------------------------------------------------------------------ */

/* Numbers the nodes above written leaves. *number: the scanned result of hamt_node_heads (cl/dict/trie/hamt_nodes.cl),
 * in scratch; *nodes: the number of nodes. Waits for the device. */
ordo_status ordo_hamt_number_nodes(struct ordo_call *call, const struct ordo_hamt *hamt,
                                   const struct ordo_hamt_trie *trie, cl_mem *number, size_t *nodes);
/* Writes the nodes' words and the header. If `wrong` is not NULL, compares them instead. */
ordo_status ordo_hamt_nodes(struct ordo_call *call, const struct ordo_hamt *hamt, const struct ordo_hamt_trie *trie,
                            cl_mem number, cl_mem wrong);

/* ---- hamt_build.c ------------------------------------------------------------------------------------------------ */

/* The leaves that a batch touches (updates fall into them), in scratch, and the sums of their elements and units. */
struct ordo_hamt_touched {
    /* each leaf's number, its first element's rank, and the number of touched elements before it */
    cl_mem  leaves, firsts, offsets;
    cl_uint n;
    size_t  elements, units;
};

/* Replaces the trie by its untouched leaves and new leaves for the run, which has the merged elements of the touched
 * leaves. If `touched` is NULL, no old leaf stays. An empty run has no block. Waits for the device. */
ordo_status ordo_hamt_assemble(struct ordo_call *call, struct ordo_hamt *hamt, const struct ordo_hamt_touched *touched,
                               const struct ordo_sorted_run *run, bool reserve);

/* ORDO_TOO_LARGE if next->n elements in next->n_leaves leaves, or next->used units, may exceed a pool. */
ordo_status ordo_hamt_check_size(struct ordo_call *call, const struct ordo_hamt *hamt,
                                 const struct ordo_hamt_trie *next);
/* Builds the tables (T5). Needs the records written. With fixed depth, waits for the number of nodes and allocates the
 * tables. */
ordo_status ordo_hamt_make_tables(struct ordo_call *call, struct ordo_hamt *hamt, struct ordo_hamt_trie *next,
                                  bool reserve);

/* ---- hamt_merge.c ------------------------------------------------------------------------------------------------ */

/* Merges a batch into the leaves of a non-empty trie. If too many updates fall into one leaf, sets *done to false and
 * changes nothing. Waits for the device. */
ordo_status ordo_hamt_merge(struct ordo_call *call, struct ordo_hamt *hamt, const struct ordo_sorted_run *batch,
                            bool *done);

/* ---- hamt_update.c ----------------------------------------------------------------------------------------------- */

ordo_status ordo_hamt_build(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys, struct ordo_slice values,
                            size_t count);
ordo_status ordo_hamt_update(ordo_dict *dict, struct ordo_call *call, bool erase, struct ordo_slice keys,
                             struct ordo_slice values, size_t count);
ordo_status ordo_hamt_update_sorted(ordo_dict *dict, struct ordo_call *call, const struct ordo_sorted_updates *updates);
ordo_status ordo_hamt_compact(ordo_dict *dict, struct ordo_call *call);
/* Rebuilds the trie from the run's elements. Waits for the device. */
ordo_status ordo_hamt_build_of(struct ordo_call *call, struct ordo_hamt *hamt, const struct ordo_sorted_run *run,
                               bool reserve);

/* ---- hamt_check.c ------------------------------------------------------------------------------------------------ */

ordo_status ordo_hamt_check(ordo_dict *dict, struct ordo_call *call);

/* ---- hamt.c ------------------------------------------------------------------------------------------------------ */

/* Returns ORDO_UNSUPPORTED unless the Roaring format has keys of this type. */
ordo_status        ordo_hamt_check_roaring(const ordo_dict *dict);
struct ordo_launch ordo_roaring_kernel(const ordo_dict *dict, const char *file, const char *kernel, size_t items);

#endif
