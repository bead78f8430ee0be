/* SPDX-License-Identifier: Apache-2.0 */
/* Linked trees on the host: the B-link tree and the skiplist. cl/shared/ltree.h has the layout and the invariants.
 *
 * Files from the bottom up. Each calls the files before it and the layers below. concurrent.c calls dict/apply.c, which
 * calls finds and an update through the structure's table.
 *
 *   launch.c       launches of kernels
 *   pool.c         memory: the pools of nodes
 *   list.c         the leaves in key order
 *   build.c        the tree from sorted elements
 *   levels.c       the levels above take in splits
 *   reclaim.c      merged leaves are taken out of all levels
 *   check.c        the invariants; the begin of every call
 *   find.c         finds
 *   order.c        queries by order, over the list of leaves
 *   range.c        ranges
 *   rebuild.c      the tree from itself and a batch
 *   update.c       batches in order, without latches
 *   concurrent_memory.c, leftover.c, concurrent.c   concurrent operations
 *   blink.c, skiplist.c   the structures' tables */
#ifndef ORDO_LTREE_PRIVATE_H
#define ORDO_LTREE_PRIVATE_H

#include "dict/sorted_run.h"
#include "shared/faults.h"
#include "shared/ltree.h"

/* The leaves in key order, for queries by order; uint32_t each. */
struct ordo_ltree_list {
    cl_mem order;    /* leaves, in order */
    cl_mem place;    /* of each leaf, in the order */
    cl_mem before;   /* elements in the leaves before each place; one word more than places */
    size_t places;   /* at least the leaves taken; places past them have no elements */
    size_t capacity; /* places that fit */
    bool   fresh;    /* matches the tree */
};

struct ordo_ltree;

struct ordo_ltree_config {
    unsigned words;        /* of a node's line of keys: 32 or 16; 0: 32 */
    unsigned fill_percent; /* of nodes that are built, 50 to 100; 0: 90 */
    size_t   max_leaves;   /* 0: no limit */
    /* Percentage of nodes split off by concurrent operations that get their entry above immediately. The host adds the
     * others between launches. */
    unsigned raise_percent;
    bool     merges; /* concurrent operations merge leaves: a skiplist's chunks */
};

/* The pools of nodes. Nodes past the taken ones are LTREE_FREE (B6). All NULL: an empty tree. */
struct ordo_ltree_pools {
    cl_mem leaf_keys, leaf_values, inner_keys, children;
    cl_mem counts;        /* copies of leaves' counts, where batches mark touched leaves */
    cl_mem dirty[2];      /* lists of inner nodes with entries to take in, of even and odd levels */
    size_t leaves, inner; /* nodes that fit */
};

struct ordo_ltree {
    ordo_dict                dict; /* first */
    struct ordo_ltree_config config;
    struct ordo_ltree_pools  pools;
    /* All elements, if the driver refused a build after the nodes were written over: the next call builds the tree from
     * this run (ordo_ltree_validate). Else without a block. */
    struct ordo_sorted_run rescue;
    cl_mem                 state;               /* LTREE_STATE_WORDS words */
    size_t                 leaves_max;          /* upper bound of leaves taken */
    size_t                 elements_max;        /* upper bound of elements */
    size_t                 changes;             /* concurrent stores and erases since the pools were last made to fit */
    bool                   counted;             /* counts match the leaves' headers */
    bool                   planned;             /* the state has words of a plan that are not 0 */
    unsigned               bucket_backoff;      /* batches to sort before the next one tries buckets */
    unsigned               bucket_backoff_next; /* its value after the next overflow */
    bool                   underfull;           /* the next batch rebuilds the tree, because leaves are nearly empty */
    bool                   in_order;            /* leaf i is the i-th in key order, since the last build */
    bool                   unchecked;           /* a change did not complete: the next call checks the tree */
    uint64_t               rounds;              /* how often a batch in order changed leaves */
    bool                   broken;              /* checked, and damaged */
    struct ordo_ltree_list list;
    size_t                 bytes, bytes_peak, rebuilds, restarts;
    struct ordo_runs       runs; /* of a rebuild */
    /* Tests: a sum of enum ordo_fault, and a history (two uint32_t ticks an operation) or NULL. */
    uint32_t faults;
    cl_mem   history;
};

static inline struct ordo_ltree *ordo_ltree_of(ordo_dict *dict)
{
    return (struct ordo_ltree *) dict;
}

/* Entries of a node, at most. */
static inline size_t ordo_ltree_slots(const struct ordo_ltree *tree)
{
    return tree->config.words - LTREE_TAIL;
}

/* Minimum of leaves per inner node of all levels, except for a few inner nodes that pools have in addition. Nodes are
 * made half full or more: with 14 entries all levels sum up to a 13th of the leaves, with 6 to a 5th. */
static inline size_t ordo_ltree_share(const struct ordo_ltree *tree)
{
    return tree->config.words == LTREE_WORDS_USUAL ? 12 : 5;
}

static inline bool ordo_ltree_has_nodes(const struct ordo_ltree *tree)
{
    return tree->pools.leaf_keys != NULL;
}

#define ORDO_ARG_UINT(x) ORDO_ARG(((cl_uint) { (cl_uint) (x) }))

/* ---- launch.c ---------------------------------------------------------------------------------------------------- */

struct ordo_args ordo_ltree_args(const struct ordo_ltree *tree);

/* Division of a kernel's work: LTREE_GROUP (and RUN_GROUP), TEAM_WIDTH, and LTREE_ITEMS queries per work-item; items 0:
 * a team takes one item after another. */
struct ordo_ltree_shape {
    size_t group, lanes, items;
};
/* A work-item for each item. */
struct ordo_ltree_shape ordo_ltree_flat(const struct ordo_ltree *tree);
/* Work-items of a group of concurrent operations. */
size_t ordo_ltree_operations_group(const struct ordo_ltree *tree);
/* A whole sub-group for each item, in groups of `group` work-items; 0: of the usual size. */
struct ordo_ltree_shape ordo_ltree_teams(const struct ordo_ltree *tree, size_t group);
/* A work-item for each item, teams of a few lanes. */
struct ordo_ltree_shape ordo_ltree_narrow(const struct ordo_ltree *tree);
/* Searches, by the device's tunables. */
struct ordo_ltree_shape ordo_ltree_search_shape(const struct ordo_ltree *tree);

/* A kernel of the tree's types and words. Its groups are limited: kernels loop. */
struct ordo_launch ordo_ltree_kernel(const struct ordo_ltree *tree, const char *file, const char *kernel,
                                     struct ordo_ltree_shape shape, size_t items);
/* Adds the defines of updates that combine like this; NULL: none. */
void ordo_ltree_define_combines(struct ordo_launch *launch, const struct ordo_combines *combines);

/* ---- pool.c ------------------------------------------------------------------------------------------------------ */

/* Memory of the tree, counted in its statistics. */
ordo_status ordo_ltree_buffer(struct ordo_call *call, struct ordo_ltree *tree, size_t bytes, cl_mem *out);
void        ordo_ltree_drop(struct ordo_ltree *tree, cl_mem *mem, size_t bytes);

/* Leaves that config.max_leaves allows. Dead leaves do not count. */
size_t ordo_ltree_leaves_allowed(const struct ordo_ltree *tree, size_t dead);
/* Makes pools for `leaves` leaves and their inner nodes (ordo_ltree_share), and copies the nodes that `state` counts.
 * ORDO_NO_DEVICE_MEMORY, also above config.max_leaves, leaves the tree unchanged. */
ordo_status ordo_ltree_reserve(struct ordo_call *call, struct ordo_ltree *tree, const cl_uint *state, size_t leaves);
/* Makes tree->pools fit a new tree of `leaves` leaves, with a reserve if `reserve`: keeps them if they are large enough
 * and not much too large, else makes new ones. The caller keeps a copy of the old ones, to drop or put back. */
ordo_status ordo_ltree_renew_pools(struct ordo_call *call, struct ordo_ltree *tree, size_t leaves, bool reserve);
/* Drops the tree's pools and uses these, unless they are the same. */
void ordo_ltree_use_pools(struct ordo_ltree *tree, const struct ordo_ltree_pools *pools);
void ordo_ltree_drop_pools(struct ordo_ltree *tree, struct ordo_ltree_pools *pools);
/* Frees nodes from these on (B6). Only enqueues. */
ordo_status ordo_ltree_mark_free(struct ordo_call *call, const struct ordo_ltree *tree, size_t leaves, size_t inner);
/* Moves the nodes into smaller pools that fit. Only enqueues. */
ordo_status ordo_ltree_shrink(struct ordo_call *call, struct ordo_ltree *tree, const cl_uint *state);
/* Reads the whole state; waits. Sets leaves_max and elements_max. */
ordo_status ordo_ltree_read_state(struct ordo_call *call, struct ordo_ltree *tree, cl_uint state[LTREE_STATE_WORDS]);
/* Reads the state after concurrent operations, and corrects counters that exceed the pools. */
ordo_status ordo_ltree_read_counters(struct ordo_call *call, struct ordo_ltree *tree, cl_uint state[LTREE_STATE_WORDS]);
/* ORDO_TOO_LARGE if `stores` new keys would make more than ORDO_MAX_COUNT elements. May wait. */
ordo_status ordo_ltree_check_count(struct ordo_call *call, struct ordo_ltree *tree, size_t stores);

/* ---- list.c ------------------------------------------------------------------------------------------------------ */

/* Makes the list match the tree. Only enqueues. */
ordo_status ordo_ltree_list_leaves(struct ordo_call *call, struct ordo_ltree *tree);
void        ordo_ltree_drop_list(struct ordo_ltree *tree);

/* ---- build.c ----------------------------------------------------------------------------------------------------- */

/* Nodes for `entries`, each `fill` percent full. */
size_t ordo_ltree_nodes_over(const struct ordo_ltree *tree, size_t entries, unsigned fill);
/* Builds the tree from a run of distinct elements; an empty run has no block. Nodes are `fill` percent full, or fuller
 * for config.max_leaves. Only enqueues. After an error the tree is unchanged, or, if nodes were written over, the run
 * is in tree->rescue. */
ordo_status ordo_ltree_bulk_build(struct ordo_call *call, struct ordo_ltree *tree, struct ordo_sorted_run *run,
                                  unsigned fill);
/* Makes counts match the leaves' headers. Only enqueues. */
ordo_status ordo_ltree_count_leaves(struct ordo_call *call, const struct ordo_ltree *tree);
ordo_status ordo_ltree_configure(ordo_dict *dict, const struct ordo_ltree_config *config);
void        ordo_ltree_clear(ordo_dict *dict);

/* ---- levels.c ---------------------------------------------------------------------------------------------------- */

/* Takes splits into the inner nodes: at most `splits` of at most `leaves` leaves. Only enqueues. */
ordo_status ordo_ltree_update_above(struct ordo_call *call, struct ordo_ltree *tree, size_t leaves, size_t splits);
/* Takes unknown splits into the inner nodes (LTREE_SPLITS_PENDING). `state`: as read. Only enqueues. */
ordo_status ordo_ltree_rebuild_levels(struct ordo_call *call, struct ordo_ltree *tree, const cl_uint *state);

/* Lists all nodes of a level in tree->pools.dirty[level % 2], and their number in the state (LTREE_DIRTY_NODES). `top`:
 * the root's level; `inner`: nodes taken. The levels from this one on may lag behind. Only enqueues. */
ordo_status ordo_ltree_list_level(struct ordo_call *call, const struct ordo_ltree *tree, cl_uint level, cl_uint top,
                                  size_t inner);
ordo_status ordo_ltree_forget_lists(struct ordo_call *call, const struct ordo_ltree *tree, cl_uint level,
                                    cl_uint levels);

/* ---- reclaim.c --------------------------------------------------------------------------------------------------- */

/* Takes merged leaves out of all levels. `state`: as read, and updated. Waits if there are any. */
ordo_status ordo_ltree_reclaim(struct ordo_call *call, struct ordo_ltree *tree, cl_uint state[LTREE_STATE_WORDS]);

/* ---- check.c ----------------------------------------------------------------------------------------------------- */

/* Checks an unchecked tree, and completes its levels. ORDO_BROKEN if it is damaged. */
ordo_status ordo_ltree_validate(struct ordo_call *call, struct ordo_ltree *tree);
/* Validates the tree, and makes an empty leaf if there are no nodes. */
ordo_status ordo_ltree_begin(struct ordo_call *call, struct ordo_ltree *tree);
void        ordo_ltree_invalidate(ordo_dict *dict);
ordo_status ordo_ltree_check(ordo_dict *dict, struct ordo_call *call);
ordo_status ordo_ltree_statistics(ordo_dict *dict, struct ordo_call *call, struct ordo_statistics *out);

/* ---- find.c ------------------------------------------------------------------------------------------------------ */

ordo_status ordo_ltree_find(ordo_dict *dict, struct ordo_call *call, const struct ordo_finds *finds);
/* Finds the place of each key: leaves[i], positions[i] (PLACE_SLOT and PLACE_HIT of node.cl) and, unless NULL, the
 * parent. */
ordo_status ordo_ltree_locate(struct ordo_call *call, const struct ordo_ltree *tree, struct ordo_slice keys,
                              size_t count, cl_mem leaves, cl_mem positions, cl_mem parents);
/* Answers the finds of a concurrent batch, and writes their ticks if there is a history. */
ordo_status ordo_ltree_find_in_batch(struct ordo_call *call, const struct ordo_ltree *tree,
                                     const struct ordo_concurrent_batch *batch);

/* Reads every step-th operation: absent[0] += stores, absent[1] += stores of absent keys. */
ordo_status ordo_ltree_count_absent(struct ordo_call *call, const struct ordo_ltree *tree,
                                    const struct ordo_concurrent_batch *batch, uint32_t step, cl_mem absent);

/* ---- order.c ----------------------------------------------------------------------------------------------------- */

/* Queries with a part in scratch, at most. */
#define ORDO_LTREE_QUERIES_MAX ((size_t) 1 << 26)

ordo_status ordo_ltree_begin_order(struct ordo_call *call, struct ordo_ltree *tree);
ordo_status ordo_ltree_count(ordo_dict *dict, struct ordo_call *call, const struct ordo_counts *counts);
ordo_status ordo_ltree_seek(ordo_dict *dict, struct ordo_call *call, const struct ordo_seeks *seeks);
ordo_status ordo_ltree_rank(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranks *ranks);
ordo_status ordo_ltree_select(ordo_dict *dict, struct ordo_call *call, const struct ordo_selects *selects);
ordo_status ordo_ltree_size(ordo_dict *dict, struct ordo_call *call, size_t *out);
ordo_status ordo_ltree_export(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys_out,
                              struct ordo_slice values_out, size_t capacity, size_t *count);

/* ---- range.c ----------------------------------------------------------------------------------------------------- */

ordo_status ordo_ltree_range(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranges *ranges);

/* ---- rebuild.c --------------------------------------------------------------------------------------------------- */

/* Fill of nodes that an update rebuilds. */
#define ORDO_LTREE_UPDATE_FILL 70

/* Builds the tree from its elements and a batch (or NULL), which it releases. Waits. */
ordo_status ordo_ltree_rebuild(struct ordo_call *call, struct ordo_ltree *tree, struct ordo_sorted_run *batch,
                               unsigned fill);
/* The lesser of ORDO_LTREE_UPDATE_FILL and config.fill_percent. */
unsigned    ordo_ltree_update_fill(const struct ordo_ltree *tree);
ordo_status ordo_ltree_build(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys, struct ordo_slice values,
                             size_t count);
ordo_status ordo_ltree_compact(ordo_dict *dict, struct ordo_call *call);

/* ---- update.c ---------------------------------------------------------------------------------------------------- */

ordo_status ordo_ltree_update(ordo_dict *dict, struct ordo_call *call, bool erase, struct ordo_slice keys,
                              struct ordo_slice values, size_t count);
ordo_status ordo_ltree_update_sorted(ordo_dict *dict, struct ordo_call *call, const struct ordo_sorted_updates *u);
ordo_status ordo_ltree_combine(ordo_dict *dict, struct ordo_call *call, const struct ordo_combines *combines);

/* ---- concurrent.c ------------------------------------------------------------------------------------------------ */

ordo_status ordo_ltree_apply_concurrent(ordo_dict *dict, struct ordo_call *call,
                                        const struct ordo_concurrent_batch *batch);

/* ---- the structures' tables -------------------------------------------------------------------------------------- */

/* Frees the blocks that a failed build has left. */
static inline void ordo_ltree_give_spare(ordo_dict *dict)
{
    ordo_runs_drop_spare(&ordo_ltree_of(dict)->runs);
}

/* All calls of a struct ordo_structure. */
#define ORDO_LTREE_CALLS                                                                                               \
    .destroy = ordo_ltree_clear, .clear = ordo_ltree_clear, .build = ordo_ltree_build, .update = ordo_ltree_update,    \
    .update_sorted = ordo_ltree_update_sorted, .combine = ordo_ltree_combine,                                          \
    .apply_concurrent = ordo_ltree_apply_concurrent, .compact = ordo_ltree_compact, .find = ordo_ltree_find,           \
    .count = ordo_ltree_count, .range = ordo_ltree_range, .seek = ordo_ltree_seek, .seeks_both = true,                 \
    .rank = ordo_ltree_rank, .select = ordo_ltree_select, .size = ordo_ltree_size, .export_all = ordo_ltree_export,    \
    .check = ordo_ltree_check, .invalidate = ordo_ltree_invalidate, .statistics = ordo_ltree_statistics,               \
    .release_spare = ordo_ltree_give_spare

#endif
