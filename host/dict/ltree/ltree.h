/* SPDX-License-Identifier: Apache-2.0 */
/* Linked trees on the host: the B-link tree and the skiplist. cl/shared/ltree.h describes their layout and
 * invariants. */
#ifndef ORDO_LTREE_PRIVATE_H
#define ORDO_LTREE_PRIVATE_H

#include "dict/sorted_run.h"
#include "shared/faults.h"
#include "shared/ltree.h"

/* The leaves in key order. A leaf's place is its position in this order. Numbers are uint32_t. */
struct ordo_ltree_list {
    cl_mem order;    /* number of the leaf at each place */
    cl_mem place;    /* place of each leaf */
    cl_mem before;   /* before[p] is the number of elements in leaves before place p. There are places + 1 entries. */
    size_t places;   /* Number of places. Places after the last leaf have no elements. */
    size_t capacity; /* allocated places */
    bool   fresh;    /* the list matches the tree */
};

struct ordo_ltree;

struct ordo_ltree_config {
    unsigned words;        /* Number of words for the keys of a node: 32 or 16; 0 means 32. */
    unsigned fill_percent; /* Percentage of slots that a build fills: 50 to 100; 0 means 90. */
    size_t   max_leaves;   /* 0: no limit */
    /* Percentage of concurrent splits that also add the new node's entry to the level above. Between launches, the host
     * adds the entries of the other splits. */
    unsigned raise_percent;
    bool     merges; /* True if concurrent operations merge small leaves (a skiplist's chunks). */
};

/* The memory of all nodes. Unused nodes contain LTREE_FREE. All members are NULL for an empty tree. */
struct ordo_ltree_pools {
    cl_mem leaf_keys, leaf_values, inner_keys, children;
    cl_mem counts;        /* Number of elements of each leaf, as in the leaf's header. */
    cl_mem dirty[2];      /* dirty[0] lists the nodes of even levels whose children have split, dirty[1] the nodes of
                           * odd levels. */
    size_t leaves, inner; /* allocated nodes */
};

struct ordo_ltree {
    ordo_dict                dict; /* first */
    struct ordo_ltree_config config;
    struct ordo_ltree_pools  pools;
    /* Usually empty. If the driver fails while a rebuild overwrites the nodes, this run has all elements. The next call
     * then builds the tree from it. */
    struct ordo_sorted_run rescue;
    cl_mem                 state;               /* LTREE_STATE_WORDS words */
    size_t                 leaves_max;          /* upper bound of leaves in use */
    size_t                 elements_max;        /* upper bound of elements */
    size_t                 changes;             /* Number of concurrent stores and erases since the pools were last
                                                 * fitted. */
    bool                   counted;             /* True if pools.counts equals the counts in the leaves' headers. */
    bool                   planned;             /* True if `state` contains the plan of a batch. */
    unsigned               bucket_backoff;      /* Number of next batches to sort, because a bucket (a leaf's list of
                                                 * updates, see update.c) overflowed. */
    unsigned               bucket_backoff_next; /* Value that bucket_backoff gets when a bucket overflows again. */
    bool     underfull; /* True if leaves are nearly empty, so that the next batch must rebuild the tree. */
    bool     in_order;  /* True if leaf i is the i-th leaf in key order. */
    bool     unchecked; /* True if a change did not complete. The next call then checks the tree. */
    uint64_t rounds;    /* Number of ordered (not concurrent) batches that have changed leaves. */
    bool     broken;    /* a check has found damage */
    struct ordo_ltree_list list;
    size_t                 bytes, bytes_peak, rebuilds, restarts;
    struct ordo_runs       runs; /* makes runs for rebuilds */
    /* For tests: faults to inject, a sum of enum ordo_fault values. */
    uint32_t faults;
    /* For tests: two time stamps (uint32_t) per operation, or NULL. */
    cl_mem history;
    bool   counted_on; /* True if the device's counters of concurrent batches may differ from 0. */
};

static inline struct ordo_ltree *ordo_ltree_of(ordo_dict *dict)
{
    return (struct ordo_ltree *) dict;
}

static inline size_t ordo_ltree_slots(const struct ordo_ltree *tree)
{
    return tree->config.words - LTREE_TAIL;
}

/* Returns a lower bound of the ratio of leaves to inner nodes, if nodes are at least half full. */
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
 *   items   items per work-item (LTREE_ITEMS). If 0, a team takes one item at a time. */
struct ordo_ltree_shape {
    size_t group, lanes, items;
};
struct ordo_ltree_shape ordo_ltree_flat(const struct ordo_ltree *tree);
/* Returns the shape of a launch of concurrent operations. */
struct ordo_ltree_shape ordo_ltree_operations(const struct ordo_ltree *tree);
/* Returns a shape with one team. The team is a sub-group if ordo_ltree_operations makes such teams, and the device
 * orders memory accesses between work-groups. Otherwise it is one work-item. */
struct ordo_ltree_shape ordo_ltree_operations_alone(const struct ordo_ltree *tree);
/* Returns a shape whose teams are sub-groups. A team takes one item at a time. Work-groups have `group` work-items, or
 * the usual number if `group` is 0. */
struct ordo_ltree_shape ordo_ltree_teams(const struct ordo_ltree *tree, size_t group);
/* Returns a shape with teams of a few work-items. Each work-item has one item, and the team handles these items
 * together. */
struct ordo_ltree_shape ordo_ltree_narrow(const struct ordo_ltree *tree);
struct ordo_ltree_shape ordo_ltree_search_shape(const struct ordo_ltree *tree);

/* Returns a launch for the tree's types and node size. The number of groups is limited, so kernels must loop over
 * items. */
struct ordo_launch ordo_ltree_kernel(const struct ordo_ltree *tree, const char *file, const char *kernel,
                                     struct ordo_ltree_shape shape, size_t items);
void               ordo_ltree_define_combines(struct ordo_launch *launch, const struct ordo_combines *combines);

/* ---- pool.c ------------------------------------------------------------------------------------------------------ */

ordo_status ordo_ltree_buffer(struct ordo_call *call, struct ordo_ltree *tree, size_t bytes, cl_mem *out);
void        ordo_ltree_drop(struct ordo_ltree *tree, cl_mem *mem, size_t bytes);

/* Returns the maximum number of leaves: config.max_leaves plus `dead`, because dead leaves (emptied by merges) do not
 * count. Without a limit, returns LTREE_NONE. */
size_t ordo_ltree_leaves_allowed(const struct ordo_ltree *tree, size_t dead);
/* Grows the pools to at least `leaves` leaves and their inner nodes, and copies the nodes in use. `state` must be the
 * tree's state. If memory is short or `leaves` exceeds config.max_leaves, returns ORDO_NO_DEVICE_MEMORY and changes
 * nothing. */
ordo_status ordo_ltree_reserve(struct ordo_call *call, struct ordo_ltree *tree, const cl_uint *state, size_t leaves);
/* Makes tree->pools large enough for a new tree of `leaves` leaves, plus a reserve if `reserve`. May allocate new
 * pools. The caller must keep a copy of the old tree->pools, to free or restore them. */
ordo_status ordo_ltree_renew_pools(struct ordo_call *call, struct ordo_ltree *tree, size_t leaves, bool reserve);
/* Replaces the tree's pools by *pools. Frees the old pools unless they are *pools. */
void ordo_ltree_use_pools(struct ordo_ltree *tree, const struct ordo_ltree_pools *pools);
void ordo_ltree_drop_pools(struct ordo_ltree *tree, struct ordo_ltree_pools *pools);
/* Marks all leaves from number `leaves` on, and all inner nodes from number `inner` on, as free. */
ordo_status ordo_ltree_mark_free(struct ordo_call *call, const struct ordo_ltree *tree, size_t leaves, size_t inner);
ordo_status ordo_ltree_shrink(struct ordo_call *call, struct ordo_ltree *tree, const cl_uint *state);
/* Reads all state words, and sets leaves_max and elements_max. Waits. */
ordo_status ordo_ltree_read_state(struct ordo_call *call, struct ordo_ltree *tree, cl_uint state[LTREE_STATE_WORDS]);
/* Reads the state after concurrent operations. Limits the node counts to the capacity of the pools, because a work-item
 * that finds no free node also counts one. */
ordo_status ordo_ltree_read_counters(struct ordo_call *call, struct ordo_ltree *tree, cl_uint state[LTREE_STATE_WORDS]);
/* Returns ORDO_TOO_LARGE if `stores` new keys may make more than ORDO_MAX_COUNT elements. May wait. */
ordo_status ordo_ltree_check_count(struct ordo_call *call, struct ordo_ltree *tree, size_t stores);

/* ---- list.c ------------------------------------------------------------------------------------------------------ */

ordo_status ordo_ltree_list_leaves(struct ordo_call *call, struct ordo_ltree *tree);
void        ordo_ltree_drop_list(struct ordo_ltree *tree);

/* ---- build.c ----------------------------------------------------------------------------------------------------- */

/* Returns the number of nodes for `entries` entries, if each node is `fill` percent full. */
size_t ordo_ltree_nodes_over(const struct ordo_ltree *tree, size_t entries, unsigned fill);
/* Builds the tree from a run of distinct elements, which has no block if it is empty. Nodes are `fill` percent full, or
 * fuller to stay within config.max_leaves. An error before the first write changes nothing. After a later error,
 * tree->rescue has the run. */
ordo_status ordo_ltree_bulk_build(struct ordo_call *call, struct ordo_ltree *tree, struct ordo_sorted_run *run,
                                  unsigned fill);
ordo_status ordo_ltree_count_leaves(struct ordo_call *call, const struct ordo_ltree *tree);
ordo_status ordo_ltree_configure(ordo_dict *dict, const struct ordo_ltree_config *config);
void        ordo_ltree_clear(ordo_dict *dict);

/* ---- levels.c ---------------------------------------------------------------------------------------------------- */

/* Adds entries of new nodes to the inner nodes in the lists pools.dirty. `leaves` and `splits` are upper bounds of the
 * numbers of leaves and splits. */
ordo_status ordo_ltree_update_above(struct ordo_call *call, struct ordo_ltree *tree, size_t leaves, size_t splits);
/* Adds all missing entries of new nodes to the inner nodes. Needed if splits did not list these in pools.dirty
 * (LTREE_SPLITS_PENDING). */
ordo_status ordo_ltree_rebuild_levels(struct ordo_call *call, struct ordo_ltree *tree, const cl_uint *state);

/* Lists all nodes of a level in pools.dirty[level % 2], and counts them in the state (LTREE_DIRTY_NODES). A split node
 * that has no entry in the level above yet is found by its left neighbour's link. `top` is the root's level. `inner` is
 * the number of inner nodes. */
ordo_status ordo_ltree_list_level(struct ordo_call *call, const struct ordo_ltree *tree, cl_uint level, cl_uint top,
                                  size_t inner);
ordo_status ordo_ltree_forget_lists(struct ordo_call *call, const struct ordo_ltree *tree, cl_uint level,
                                    cl_uint levels);

/* ---- reclaim.c --------------------------------------------------------------------------------------------------- */

/* Removes zombies (leaves that a merge has emptied) from all levels, and updates `state`, which must be the tree's
 * state. Waits if there are zombies. */
ordo_status ordo_ltree_reclaim(struct ordo_call *call, struct ordo_ltree *tree, cl_uint state[LTREE_STATE_WORDS]);

/* ---- check.c ----------------------------------------------------------------------------------------------------- */

/* Checks the tree if it is `unchecked`, and adds missing entries to its levels. Returns ORDO_BROKEN if the tree is
 * damaged. */
ordo_status ordo_ltree_validate(struct ordo_call *call, struct ordo_ltree *tree);
/* Calls ordo_ltree_validate. If the tree has no nodes, creates a leaf. */
ordo_status ordo_ltree_begin(struct ordo_call *call, struct ordo_ltree *tree);
void        ordo_ltree_invalidate(ordo_dict *dict);
ordo_status ordo_ltree_check(ordo_dict *dict, struct ordo_call *call);
ordo_status ordo_ltree_statistics(ordo_dict *dict, struct ordo_call *call, struct ordo_statistics *out);

/* ---- find.c ------------------------------------------------------------------------------------------------------ */

ordo_status ordo_ltree_find(ordo_dict *dict, struct ordo_call *call, const struct ordo_finds *finds);
/* Finds the place of each key i. leaves[i] becomes its leaf, parents[i] the leaf's parent (unless `parents` is NULL).
 * positions[i] becomes its slot in the leaf, in the form of PLACE_SLOT and PLACE_HIT (node.cl). */
ordo_status ordo_ltree_locate(struct ordo_call *call, const struct ordo_ltree *tree, struct ordo_slice keys,
                              size_t count, cl_mem leaves, cl_mem positions, cl_mem parents);
/* Answers the finds of a concurrent batch. Writes their ticks (time stamps) if tests record a history. */
ordo_status ordo_ltree_find_in_batch(struct ordo_call *call, const struct ordo_ltree *tree,
                                     const struct ordo_concurrent_batch *batch);

/* Samples every step-th operation. Adds the number of sampled stores to absent[0], and the number of those with absent
 * keys to absent[1]. */
ordo_status ordo_ltree_count_absent(struct ordo_call *call, const struct ordo_ltree *tree,
                                    const struct ordo_concurrent_batch *batch, uint32_t step, cl_mem absent);

/* ---- order.c ----------------------------------------------------------------------------------------------------- */

/* Maximum queries whose intermediate results are in scratch memory together. */
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

/* Percentage of slots that an update fills when it rebuilds the tree. */
#define ORDO_LTREE_UPDATE_FILL 70

/* Rebuilds the tree from its elements and a batch (may be NULL), and releases the batch. Waits. */
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
