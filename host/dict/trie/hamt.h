/* SPDX-License-Identifier: Apache-2.0 */
/* The HAMT (hash array mapped trie) on the host; cl/shared/hamt_node.h has its layout and invariants. A change writes a
 * new trie to separate memory, and then replaces the current trie. */
#ifndef ORDO_HAMT_PRIVATE_H
#define ORDO_HAMT_PRIVATE_H

#include "dict/launch.h"
#include "dict/sorted_run.h"
#include "dict/trie/draft.h"
#include "ordo/hamt.h"
#include "shared/hamt_draft.h"
#include "shared/hamt_node.h"

struct ordo_hamt_block {
    cl_mem mem;
    size_t bytes;
};

/* All members of an empty trie are 0. */
struct ordo_hamt_trie {
    struct ordo_hamt_block leaves, tables, pool; /* A block can be larger than its content. */
    cl_uint                n_leaves, n;
    cl_uint                cell_bits, rank_bits; /* log2 of the sizes of tables `cells` and `ranks` */
    size_t                 nodes;
    /* Numbers of pool units (HAMT_UNIT bytes). The first `used` units are allocated. Leaves own `live` of them. */
    size_t used, live;
};

struct ordo_hamt {
    ordo_dict              dict; /* must be the first member */
    bool                   fixed_depth;
    struct ordo_hamt_trie  trie;
    struct ordo_hamt_block spare_leaves, spare_tables, spare_pool;
    /* Elements and leaves after the last rebuild, and the maximum number of elements since then. */
    size_t             built_elements, built_leaves, most_elements;
    size_t             bytes, bytes_peak, rebuilds;
    struct ordo_runs   runs;
    struct ordo_drafts drafts;
};

static inline struct ordo_hamt *ordo_hamt_of(ordo_dict *dict)
{
    return (struct ordo_hamt *) dict;
}

/* ---- hamt_store.c ------------------------------------------------------------------------------------------------ */

size_t ordo_hamt_table_words(const struct ordo_hamt_trie *trie);
/* Returns an upper bound of the pool units (HAMT_UNIT bytes) of a trie. */
size_t ordo_hamt_units_max(const struct ordo_hamt *hamt, size_t elements, size_t leaves);

/* The next three functions take large enough spare blocks, or allocate blocks. If `reserve` is true, they try to
 * allocate a quarter more bytes. */

/* Sets the table sizes of *next, and makes its block of leaves. Unless the depth is fixed, also makes its block of
 * tables. */
ordo_status ordo_hamt_make_blocks(struct ordo_hamt *hamt, struct ordo_hamt_trie *next, bool reserve);
/* If the depth is fixed, next->nodes must be set. */
ordo_status ordo_hamt_make_node_block(struct ordo_hamt *hamt, struct ordo_hamt_trie *next, bool reserve);
ordo_status ordo_hamt_make_pool(struct ordo_hamt *hamt, struct ordo_hamt_trie *next, size_t units, bool reserve);
/* Allocate spare blocks for the next trie, and ignore errors. Call these functions while the device is busy. */
void ordo_hamt_foresee(struct ordo_call *call, struct ordo_hamt *hamt, size_t leaves, size_t units);
void ordo_hamt_foresee_records(struct ordo_call *call, struct ordo_hamt *hamt, size_t leaves);

/* Makes the records and tables of `next` spare blocks. */
void ordo_hamt_put_back(struct ordo_hamt *hamt, struct ordo_hamt_trie *next);
/* Frees the blocks of `next` that the current trie does not use. */
void ordo_hamt_give_up(struct ordo_hamt *hamt, struct ordo_hamt_trie *next);
/* Makes *next the current trie. Both may have the same pool. */
void ordo_hamt_become(struct ordo_hamt *hamt, const struct ordo_hamt_trie *next);
void ordo_hamt_drop_spare(struct ordo_hamt *hamt);
void ordo_hamt_release_spare(ordo_dict *dict);
void ordo_hamt_clear(ordo_dict *dict);

struct ordo_launch ordo_hamt_kernel(const struct ordo_hamt *hamt, const char *file, const char *kernel, size_t items);
struct ordo_args   ordo_hamt_args(const struct ordo_hamt_trie *trie);

/* Notes that the current trie was built as a whole. */
static inline void ordo_hamt_note_built(struct ordo_hamt *hamt)
{
    hamt->built_elements = hamt->most_elements = hamt->trie.n;
    hamt->built_leaves = hamt->trie.n_leaves;
}

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

/* Arguments of kernel hamt_write, which writes nothing if the elements exceed `most`. */
struct ordo_hamt_slices {
    struct ordo_slice offsets;
    cl_mem            firsts;
    size_t            count, most;
    struct ordo_slice keys_out, values_out;
};
ordo_status ordo_hamt_write(struct ordo_call *call, const struct ordo_hamt *hamt, const struct ordo_hamt_slices *s);

/* ---- hamt_nodes.c ------------------------------------------------------------------------------------------------ */

/* Kernel hamt_node_heads flags the first leaf below each node. *number becomes the prefix sums of these flags, and
 * *nodes the number of nodes. The leaves' records must be complete. Waits for the device. */
ordo_status ordo_hamt_number_nodes(struct ordo_call *call, const struct ordo_hamt *hamt,
                                   const struct ordo_hamt_trie *trie, cl_mem *number, size_t *nodes);
/* Computes the nodes, and a header with the index of each level's first node. If `wrong` is NULL, writes these words to
 * trie->tables. Otherwise compares them with trie->tables, and lowers the number in `wrong` to the index of the first
 * leaf with a wrong word. */
ordo_status ordo_hamt_nodes(struct ordo_call *call, const struct ordo_hamt *hamt, const struct ordo_hamt_trie *trie,
                            cl_mem number, cl_mem wrong);

/* ---- hamt_build.c ------------------------------------------------------------------------------------------------ */

/* The n leaves that a batch changes. Together they have `elements` elements and `units` pool units (HAMT_UNIT
 * bytes). */
struct ordo_hamt_touched {
    /* Indices of the leaves, ranks of their first elements, and prefix sums of their numbers of elements. */
    cl_mem  leaves, firsts, offsets;
    cl_uint n;
    size_t  elements, units;
};

/* Replaces the leaves in `touched` by new leaves with the elements of *run. If `touched` is NULL, replaces all leaves.
 * Waits for the device. */
ordo_status ordo_hamt_assemble(struct ordo_call *call, struct ordo_hamt *hamt, const struct ordo_hamt_touched *touched,
                               const struct ordo_sorted_run *run, bool reserve);

/* n leaves, and the function that writes their blocks. `fresh` has the records of kernel hamt_shape, `sizes` the prefix
 * sums of its `units`. */
struct ordo_hamt_ready {
    cl_uint n, n_elements;
    size_t  units;
    cl_mem  fresh, sizes;
    ordo_status (*fill)(struct ordo_call *call, const struct ordo_hamt_ready *ready, const struct ordo_hamt_trie *next);
};

/* Replaces all leaves by *ready. */
ordo_status ordo_hamt_assemble_ready(struct ordo_call *call, struct ordo_hamt *hamt,
                                     const struct ordo_hamt_ready *ready);

/* Returns ORDO_TOO_LARGE if the pool of *next could be too large. */
ordo_status ordo_hamt_check_size(struct ordo_call *call, const struct ordo_hamt *hamt,
                                 const struct ordo_hamt_trie *next);
/* Builds the tables from the leaves' records, which must be complete. With fixed depth, allocates the tables and
 * waits. */
ordo_status ordo_hamt_make_tables(struct ordo_call *call, struct ordo_hamt *hamt, struct ordo_hamt_trie *next,
                                  bool reserve);

/* ---- hamt_merge.c ------------------------------------------------------------------------------------------------ */

/* Merges a batch into the leaves of a non-empty trie. If a leaf gets too many updates, sets *done to false and changes
 * nothing. Waits for the device. */
ordo_status ordo_hamt_merge(struct ordo_call *call, struct ordo_hamt *hamt, const struct ordo_sorted_run *batch,
                            bool *done);

/* ---- hamt_update.c ----------------------------------------------------------------------------------------------- */

ordo_status ordo_hamt_build(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys, struct ordo_slice values,
                            size_t count);
ordo_status ordo_hamt_update(ordo_dict *dict, struct ordo_call *call, bool erase, struct ordo_slice keys,
                             struct ordo_slice values, size_t count);
ordo_status ordo_hamt_update_sorted(ordo_dict *dict, struct ordo_call *call, const struct ordo_sorted_updates *updates);
ordo_status ordo_hamt_compact(ordo_dict *dict, struct ordo_call *call);
ordo_status ordo_hamt_build_of(struct ordo_call *call, struct ordo_hamt *hamt, const struct ordo_sorted_run *run,
                               bool reserve);

/* ---- hamt_draft.c ------------------------------------------------------------------------------------------------ */

/* Returns `operations`, or fewer if their draft would exceed the memory limit. */
size_t      ordo_hamt_draft_operations(const struct ordo_hamt *hamt, size_t operations);
ordo_status ordo_hamt_draft_begin(const struct ordo_draft_batch *b, size_t operations, struct ordo_draft *draft);
ordo_status ordo_hamt_draft_collect(const struct ordo_draft_batch *b, const struct ordo_draft *draft,
                                    const struct ordo_draft_window *window, struct ordo_draft_updates *out);

/* ---- hamt_concurrent.c ------------------------------------------------------------------------------------------- */

ordo_status ordo_hamt_apply_concurrent(ordo_dict *dict, struct ordo_call *call,
                                       const struct ordo_concurrent_batch *batch);

/* ---- hamt_check.c ------------------------------------------------------------------------------------------------ */

ordo_status ordo_hamt_check(ordo_dict *dict, struct ordo_call *call);

/* ---- hamt.c ------------------------------------------------------------------------------------------------------ */

/* Returns ORDO_UNSUPPORTED if the Roaring format cannot store the dictionary's type of keys. */
ordo_status        ordo_hamt_check_roaring(const ordo_dict *dict);
struct ordo_launch ordo_roaring_kernel(const ordo_dict *dict, const char *file, const char *kernel, size_t items);

#endif
