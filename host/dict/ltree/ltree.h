/* SPDX-License-Identifier: Apache-2.0 */
/* B-link trees and skiplists on the host. cl/shared/ltree.h has the layout and invariants. */
#ifndef ORDO_LTREE_PRIVATE_H
#define ORDO_LTREE_PRIVATE_H

#include "dict/sorted_run.h"
#include "shared/faults.h"
#include "shared/ltree.h"

/* The leaves in key order, in arrays of uint32_t. A leaf's place is its position in this order. */
struct ordo_ltree_list {
    cl_mem order;
    cl_mem place;
    cl_mem before; /* before[p] is the number of elements before place p, for p from 0 to `places` */
    size_t places;
    size_t capacity;
    bool   fresh;
};

struct ordo_ltree;

struct ordo_ltree_config {
    unsigned words;        /* words of a node's key array: 32 or 16; 0 means 32 */
    unsigned fill_percent; /* A build fills this percentage of each node's slots: 50 to 100; 0 means 90. */
    size_t   max_leaves;   /* 0 means no limit */
    /* Concurrent operations add entries for raise_percent percent of the new nodes to the level above. The host adds
     * the other entries after the launch. 0 means 100. */
    unsigned raise_percent;
    bool     merges; /* as in a skiplist: an erase merges a leaf with few elements into its right neighbour */
};

/* Memory of all nodes. The keys of unused nodes are LTREE_FREE. All members of an empty tree are NULL. */
struct ordo_ltree_pools {
    cl_mem leaf_keys, leaf_values, inner_keys, children;
    cl_mem counts;
    cl_mem dirty[2]; /* dirty[l % 2] lists nodes of level l whose children have split */
    size_t leaves, inner;
};

struct ordo_ltree {
    ordo_dict                dict; /* must be the first member */
    struct ordo_ltree_config config;
    struct ordo_ltree_pools  pools;
    /* If the driver fails while a rebuild overwrites the nodes, this run keeps all elements, and the next call builds
     * the tree from it. Otherwise the run is empty. */
    struct ordo_sorted_run rescue;
    cl_mem                 state;               /* LTREE_STATE_WORDS words of type uint32_t */
    size_t                 leaves_max;          /* upper bound of the number of leaves */
    size_t                 elements_max;        /* upper bound of the number of elements */
    size_t                 emptied;             /* upper bound of leaves emptied since the last build, or SIZE_MAX */
    size_t                 changes;             /* concurrent stores and erases since ordo_ltree_fit_pools ran */
    bool                   counted;             /* pools.counts equals the counts in the leaves' headers */
    bool                   planned;             /* `state` contains the plan of an ordered batch. */
    unsigned               bucket_backoff;      /* This many more batches must not use buckets. */
    unsigned               bucket_backoff_next; /* value of bucket_backoff after the next overflow */
    bool                   underfull;           /* Leaves are nearly empty. The next batch must rebuild the tree. */
    bool                   in_order;            /* Leaf i is the i-th leaf in key order. */
    bool                   unchecked;           /* A change did not complete. The next call must check the tree. */
    uint64_t               rounds;
    bool                   broken;
    struct ordo_ltree_list list;
    size_t                 bytes, bytes_peak, rebuilds, restarts;
    struct ordo_runs       runs;
    /* For tests: faults to inject, a sum of enum ordo_fault values. */
    uint32_t faults;
    /* For tests: two time stamps (uint32_t) per operation, or NULL. */
    cl_mem history;
};

static inline struct ordo_ltree *ordo_ltree_of(ordo_dict *dict)
{
    return (struct ordo_ltree *) dict;
}

static inline size_t ordo_ltree_slots(const struct ordo_ltree *tree)
{
    return tree->config.words - LTREE_TAIL;
}

static inline size_t ordo_ltree_share(const struct ordo_ltree *tree)
{
    return tree->config.words == LTREE_WORDS_USUAL ? 12 : 5;
}

static inline bool ordo_ltree_has_nodes(const struct ordo_ltree *tree)
{
    return tree->pools.leaf_keys != NULL;
}

/* ---- launch.c ---------------------------------------------------------------------------------------------------- */

struct ordo_args ordo_ltree_args(const struct ordo_ltree *tree);

/* How a launch divides its items:
 *
 *   group   work-items per work-group (LTREE_GROUP, RUN_GROUP)
 *   lanes   work-items per team (TEAM_WIDTH)
 *   items   items per work-item (LTREE_ITEMS); 0: a team takes one item at a time */
struct ordo_ltree_shape {
    size_t group, lanes, items;
};
struct ordo_ltree_shape ordo_ltree_flat(const struct ordo_ltree *tree);
struct ordo_ltree_shape ordo_ltree_operations(const struct ordo_ltree *tree);
/* A shape for launches of one team. The team is a sub-group if the device supports this, or else one work-item. */
struct ordo_ltree_shape ordo_ltree_operations_alone(const struct ordo_ltree *tree);
/* A shape whose teams are sub-groups and take one item at a time. If `group` is 0, a work-group has the usual size. */
struct ordo_ltree_shape ordo_ltree_teams(const struct ordo_ltree *tree, size_t group);
/* Like ordo_ltree_teams, but teams have only a few work-items. Each work-item has one item. */
struct ordo_ltree_shape ordo_ltree_narrow(const struct ordo_ltree *tree, size_t group);
struct ordo_ltree_shape ordo_ltree_search_shape(const struct ordo_ltree *tree);

/* The number of work-groups is limited. A kernel must therefore loop over its items. */
struct ordo_launch ordo_ltree_kernel(const struct ordo_ltree *tree, const char *file, const char *kernel,
                                     struct ordo_ltree_shape shape, size_t items);
void               ordo_ltree_define_combines(struct ordo_launch *launch, const struct ordo_combines *combines);

/* ---- pool.c ------------------------------------------------------------------------------------------------------ */

ordo_status ordo_ltree_buffer(struct ordo_call *call, struct ordo_ltree *tree, size_t bytes, cl_mem *out);
void        ordo_ltree_drop(struct ordo_ltree *tree, cl_mem *mem, size_t bytes);

/* Returns config.max_leaves plus `dead`, the number of leaves that merges have emptied. Without a limit, returns
 * LTREE_NONE. */
size_t ordo_ltree_leaves_allowed(const struct ordo_ltree *tree, size_t dead);
/* Returns how many more leaves the pools and config.max_leaves surely allow. */
size_t ordo_ltree_room(const struct ordo_ltree *tree);
/* Grows the pools to at least `leaves` leaves. `state` must be the tree's current state. If memory is short or `leaves`
 * exceeds config.max_leaves, returns ORDO_NO_DEVICE_MEMORY and changes nothing. */
ordo_status ordo_ltree_reserve(struct ordo_call *call, struct ordo_ltree *tree, const cl_uint *state, size_t leaves);
/* Replaces tree->pools if their size does not suit `leaves` leaves. If `reserve` is true, adds spare leaves. The caller
 * must keep a copy of the old tree->pools, and later free or restore them. */
ordo_status ordo_ltree_renew_pools(struct ordo_call *call, struct ordo_ltree *tree, size_t leaves, bool reserve);
void        ordo_ltree_use_pools(struct ordo_ltree *tree, const struct ordo_ltree_pools *pools);
void        ordo_ltree_drop_pools(struct ordo_ltree *tree, struct ordo_ltree_pools *pools);
ordo_status ordo_ltree_mark_free(struct ordo_call *call, const struct ordo_ltree *tree, size_t leaves, size_t inner);
ordo_status ordo_ltree_shrink(struct ordo_call *call, struct ordo_ltree *tree, const cl_uint *state);
ordo_status ordo_ltree_read_state(struct ordo_call *call, struct ordo_ltree *tree, cl_uint state[LTREE_STATE_WORDS]);
/* Returns ORDO_TOO_LARGE if `stores` new keys may exceed ORDO_MAX_COUNT elements. May wait for the device. */
ordo_status ordo_ltree_check_count(struct ordo_call *call, struct ordo_ltree *tree, size_t stores);

/* ---- list.c ------------------------------------------------------------------------------------------------------ */

ordo_status ordo_ltree_list_leaves(struct ordo_call *call, struct ordo_ltree *tree);
void        ordo_ltree_drop_list(struct ordo_ltree *tree);

/* ---- build.c ----------------------------------------------------------------------------------------------------- */

size_t ordo_ltree_nodes_over(const struct ordo_ltree *tree, size_t entries, unsigned fill);
/* Builds the tree from a run of distinct elements. Nodes are `fill` percent full, or fuller if config.max_leaves
 * requires it. An error before the first write changes nothing. After a later error, tree->rescue has the run. */
ordo_status ordo_ltree_bulk_build(struct ordo_call *call, struct ordo_ltree *tree, struct ordo_sorted_run *run,
                                  unsigned fill);
ordo_status ordo_ltree_count_leaves(struct ordo_call *call, const struct ordo_ltree *tree);
ordo_status ordo_ltree_configure(ordo_dict *dict, const struct ordo_ltree_config *config);
void        ordo_ltree_clear(ordo_dict *dict);

/* ---- levels.c ---------------------------------------------------------------------------------------------------- */

/* pools.dirty lists nodes whose children have split. Adds entries of the new children to these nodes. `leaves` and
 * `splits` estimate the numbers of leaves and splits. */
ordo_status ordo_ltree_update_above(struct ordo_call *call, struct ordo_ltree *tree, size_t leaves, size_t splits);
/* Adds all missing entries of new nodes, even of nodes outside pools.dirty. */
ordo_status ordo_ltree_rebuild_levels(struct ordo_call *call, struct ordo_ltree *tree, const cl_uint *state);

/* Lists all nodes of a level in pools.dirty[level % 2], and stores their number in the state. `top` is the root's
 * level, and `inner` is the number of inner nodes. */
ordo_status ordo_ltree_list_level(struct ordo_call *call, const struct ordo_ltree *tree, cl_uint level, cl_uint top,
                                  size_t inner);
ordo_status ordo_ltree_forget_lists(struct ordo_call *call, const struct ordo_ltree *tree, cl_uint level,
                                    cl_uint levels);

/* ---- reclaim.c --------------------------------------------------------------------------------------------------- */

/* Removes leaves that merges have emptied, and updates `state`. Waits for the device if there are any. */
ordo_status ordo_ltree_reclaim(struct ordo_call *call, struct ordo_ltree *tree, cl_uint state[LTREE_STATE_WORDS]);

/* ---- check.c ----------------------------------------------------------------------------------------------------- */

/* If the tree is `unchecked`, checks it and adds missing entries. If it is damaged, returns ORDO_BROKEN. */
ordo_status ordo_ltree_validate(struct ordo_call *call, struct ordo_ltree *tree);
ordo_status ordo_ltree_begin(struct ordo_call *call, struct ordo_ltree *tree);
void        ordo_ltree_invalidate(ordo_dict *dict);
ordo_status ordo_ltree_check(ordo_dict *dict, struct ordo_call *call);
ordo_status ordo_ltree_statistics(ordo_dict *dict, struct ordo_call *call, struct ordo_statistics *out);

/* ---- find.c ------------------------------------------------------------------------------------------------------ */

ordo_status ordo_ltree_find(ordo_dict *dict, struct ordo_call *call, const struct ordo_finds *finds);
/* Finds the leaf of each key. leaves[i] becomes this leaf, parents[i] (if not NULL) its parent, and positions[i] the
 * key's slot, as PLACE_SLOT and PLACE_HIT define it (cl/dict/ltree/node.cl). */
ordo_status ordo_ltree_locate(struct ordo_call *call, const struct ordo_ltree *tree, struct ordo_slice keys,
                              size_t count, cl_mem leaves, cl_mem positions, cl_mem parents);
ordo_status ordo_ltree_find_in_batch(struct ordo_call *call, const struct ordo_ltree *tree,
                                     const struct ordo_concurrent_batch *batch);

/* Samples every step-th operation. Adds the number of sampled stores to absent[0], and the number of stores of absent
 * keys to absent[1]. */
ordo_status ordo_ltree_count_absent(struct ordo_call *call, const struct ordo_ltree *tree,
                                    const struct ordo_concurrent_batch *batch, uint32_t step, cl_mem absent);

/* ---- order.c ----------------------------------------------------------------------------------------------------- */

/* A batch of more queries runs in segments of this size, because intermediate results take scratch memory. */
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

/* A rebuild by an update fills this percentage of each node's slots. */
#define ORDO_LTREE_UPDATE_FILL 70

/* Rebuilds the tree from its elements and `batch` (may be NULL), and releases the batch. Waits for the device. */
ordo_status ordo_ltree_rebuild(struct ordo_call *call, struct ordo_ltree *tree, struct ordo_sorted_run *batch,
                               unsigned fill);
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

static inline void ordo_ltree_give_spare(ordo_dict *dict)
{
    ordo_runs_drop_spare(&ordo_ltree_of(dict)->runs);
}

#define ORDO_LTREE_CALLS                                                                                               \
    .destroy = ordo_ltree_clear, .clear = ordo_ltree_clear, .build = ordo_ltree_build, .update = ordo_ltree_update,    \
    .update_sorted = ordo_ltree_update_sorted, .combine = ordo_ltree_combine,                                          \
    .apply_concurrent = ordo_ltree_apply_concurrent, .compact = ordo_ltree_compact, .find = ordo_ltree_find,           \
    .count = ordo_ltree_count, .range = ordo_ltree_range, .seek = ordo_ltree_seek, .seeks_both = true,                 \
    .rank = ordo_ltree_rank, .select = ordo_ltree_select, .size = ordo_ltree_size, .export_all = ordo_ltree_export,    \
    .check = ordo_ltree_check, .invalidate = ordo_ltree_invalidate, .statistics = ordo_ltree_statistics,               \
    .release_spare = ordo_ltree_give_spare

#endif
