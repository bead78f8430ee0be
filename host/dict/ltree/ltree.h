/* SPDX-License-Identifier: Apache-2.0 */
/* Linked trees on the host: the B-link tree and the skiplist. cl/shared/ltree.h has the layout and the invariants.
 *
 * Each section below is a file, which calls only files of earlier sections and lower layers. concurrent.c also calls
 * dict/apply.c, which calls finds and an update through the structure's table. */
#ifndef ORDO_LTREE_PRIVATE_H
#define ORDO_LTREE_PRIVATE_H

#include "dict/sorted_run.h"
#include "shared/faults.h"
#include "shared/ltree.h"

/* The list of the leaves in key order, for queries by order. All numbers are uint32_t. */
struct ordo_ltree_list {
    cl_mem order;    /* the leaf at each place (position in key order) */
    cl_mem place;    /* the place of each leaf */
    cl_mem before;   /* the number of elements before each place; places + 1 entries */
    size_t places;   /* at least the leaves in use; places past these have no elements */
    size_t capacity; /* allocated places */
    bool   fresh;    /* the list matches the tree */
};

struct ordo_ltree;

struct ordo_ltree_config {
    unsigned words;        /* words of a node's line of keys: 32 or 16; 0 means 32 */
    unsigned fill_percent; /* how full a build makes nodes, 50 to 100; 0 means 90 */
    size_t   max_leaves;   /* 0: no limit */
    /* The percentage of nodes created by concurrent splits that get their entry in the level above immediately. The
     * host adds the other entries between launches. */
    unsigned raise_percent;
    bool     merges; /* concurrent operations merge leaves (a skiplist's chunks) */
};

/* The memory of all nodes. Unused nodes are LTREE_FREE (B6). All members are NULL for an empty tree. */
struct ordo_ltree_pools {
    cl_mem leaf_keys, leaf_values, inner_keys, children;
    cl_mem counts;        /* a count per leaf, like its header's; batches mark touched leaves here */
    cl_mem dirty[2];      /* lists of inner nodes whose children have split, for even and odd levels */
    size_t leaves, inner; /* allocated nodes */
};

struct ordo_ltree {
    ordo_dict                dict; /* first */
    struct ordo_ltree_config config;
    struct ordo_ltree_pools  pools;
    /* Usually empty. If the driver refused a build after nodes were overwritten, has all elements, and
     * ordo_ltree_validate builds the tree from them in the next call. */
    struct ordo_sorted_run rescue;
    cl_mem                 state;               /* LTREE_STATE_WORDS words */
    size_t                 leaves_max;          /* upper bound of leaves in use */
    size_t                 elements_max;        /* upper bound of elements */
    size_t                 changes;             /* concurrent stores and erases since the pools were last fitted */
    bool                   counted;             /* pools.counts match the leaves' headers */
    bool                   planned;             /* the state has nonzero words of a batch's plan */
    unsigned               bucket_backoff;      /* batches to sort before a batch tries buckets again */
    unsigned               bucket_backoff_next; /* its value after the next overflow */
    bool                   underfull;           /* the next batch rebuilds the tree, because leaves are nearly empty */
    bool                   in_order;            /* leaf i is the i-th in key order, since the last build */
    bool                   unchecked;           /* a change did not complete: the next call checks the tree */
    uint64_t               rounds;              /* how often an update in key order has changed leaves */
    bool                   broken;              /* a check has found damage */
    struct ordo_ltree_list list;
    size_t                 bytes, bytes_peak, rebuilds, restarts;
    struct ordo_runs       runs; /* makes runs for rebuilds */
    /* For tests: a sum of enum ordo_fault, and a history (two uint32_t ticks for each operation) or NULL. */
    uint32_t faults;
    cl_mem   history;
};

static inline struct ordo_ltree *ordo_ltree_of(ordo_dict *dict)
{
    return (struct ordo_ltree *) dict;
}

/* The maximum entries of a node. */
static inline size_t ordo_ltree_slots(const struct ordo_ltree *tree)
{
    return tree->config.words - LTREE_TAIL;
}

/* A lower bound of leaves per inner node. Pools have a few more inner nodes. Splits leave nodes at least half full:
 * with 14 entries in each, the inner nodes of all levels are a 13th of the leaves, with 6 a 5th. */
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

/* A kernel's division of work: work-items per group (LTREE_GROUP, RUN_GROUP), lanes per team (TEAM_WIDTH), and queries
 * per work-item (LTREE_ITEMS). items 0: each team takes one item after another. */
struct ordo_ltree_shape {
    size_t group, lanes, items;
};
/* One work-item for each item, without teams. */
struct ordo_ltree_shape ordo_ltree_flat(const struct ordo_ltree *tree);
/* Work-items per group for concurrent operations. */
size_t ordo_ltree_operations_group(const struct ordo_ltree *tree);
/* A team of a whole sub-group for each item. Groups have `group` work-items, or the usual number if `group` is 0. */
struct ordo_ltree_shape ordo_ltree_teams(const struct ordo_ltree *tree, size_t group);
/* One work-item for each item, in teams of a few lanes. */
struct ordo_ltree_shape ordo_ltree_narrow(const struct ordo_ltree *tree);
/* The shape for searches that the device's tunables give. */
struct ordo_ltree_shape ordo_ltree_search_shape(const struct ordo_ltree *tree);

/* Makes a launch for the tree's types and words. Limits the number of groups, so the kernel must loop over its
 * items. */
struct ordo_launch ordo_ltree_kernel(const struct ordo_ltree *tree, const char *file, const char *kernel,
                                     struct ordo_ltree_shape shape, size_t items);
/* Adds the defines of combining updates. Adds none if `combines` is NULL. */
void ordo_ltree_define_combines(struct ordo_launch *launch, const struct ordo_combines *combines);

/* ---- pool.c ------------------------------------------------------------------------------------------------------ */

/* Allocate and free memory of the tree, and count it in the statistics. */
ordo_status ordo_ltree_buffer(struct ordo_call *call, struct ordo_ltree *tree, size_t bytes, cl_mem *out);
void        ordo_ltree_drop(struct ordo_ltree *tree, cl_mem *mem, size_t bytes);

/* The number of leaves that config.max_leaves allows, in addition to `dead` leaves in no level. */
size_t ordo_ltree_leaves_allowed(const struct ordo_ltree *tree, size_t dead);
/* Grows the pools to at least `leaves` leaves and their inner nodes (ordo_ltree_share). Copies the nodes that `state`
 * counts. Returns ORDO_NO_DEVICE_MEMORY, without changes, if memory is short or above config.max_leaves. */
ordo_status ordo_ltree_reserve(struct ordo_call *call, struct ordo_ltree *tree, const cl_uint *state, size_t leaves);
/* Makes tree->pools fit a new tree of `leaves` leaves, plus a reserve if `reserve`. Keeps fitting pools, else allocates
 * new ones. The caller keeps a copy of the old pools, to free or restore them. */
ordo_status ordo_ltree_renew_pools(struct ordo_call *call, struct ordo_ltree *tree, size_t leaves, bool reserve);
/* Replaces the tree's pools by *pools, and frees the old ones unless they are the same. */
void ordo_ltree_use_pools(struct ordo_ltree *tree, const struct ordo_ltree_pools *pools);
void ordo_ltree_drop_pools(struct ordo_ltree *tree, struct ordo_ltree_pools *pools);
/* Marks the leaves from number `leaves` on and the inner nodes from number `inner` on as free (B6). */
ordo_status ordo_ltree_mark_free(struct ordo_call *call, const struct ordo_ltree *tree, size_t leaves, size_t inner);
/* Moves the nodes to smaller pools if the pools are too large. */
ordo_status ordo_ltree_shrink(struct ordo_call *call, struct ordo_ltree *tree, const cl_uint *state);
/* Reads the whole state; waits. Sets leaves_max and elements_max. */
ordo_status ordo_ltree_read_state(struct ordo_call *call, struct ordo_ltree *tree, cl_uint state[LTREE_STATE_WORDS]);
/* Reads the state after concurrent operations, and corrects counters that exceed the pools. */
ordo_status ordo_ltree_read_counters(struct ordo_call *call, struct ordo_ltree *tree, cl_uint state[LTREE_STATE_WORDS]);
/* ORDO_TOO_LARGE if `stores` new keys would make more than ORDO_MAX_COUNT elements. May wait. */
ordo_status ordo_ltree_check_count(struct ordo_call *call, struct ordo_ltree *tree, size_t stores);

/* ---- list.c ------------------------------------------------------------------------------------------------------ */

/* Makes the list match the tree. */
ordo_status ordo_ltree_list_leaves(struct ordo_call *call, struct ordo_ltree *tree);
void        ordo_ltree_drop_list(struct ordo_ltree *tree);

/* ---- build.c ----------------------------------------------------------------------------------------------------- */

/* The number of nodes for `entries`, each `fill` percent full. */
size_t ordo_ltree_nodes_over(const struct ordo_ltree *tree, size_t entries, unsigned fill);
/* Builds the tree from a run of distinct elements; an empty run has no block. Nodes are `fill` percent full, or fuller
 * to stay within config.max_leaves. After an error the tree is unchanged, or, if nodes were overwritten,
 * tree->rescue has the run. */
ordo_status ordo_ltree_bulk_build(struct ordo_call *call, struct ordo_ltree *tree, struct ordo_sorted_run *run,
                                  unsigned fill);
/* Makes pools.counts match the leaves' headers. */
ordo_status ordo_ltree_count_leaves(struct ordo_call *call, const struct ordo_ltree *tree);
ordo_status ordo_ltree_configure(ordo_dict *dict, const struct ordo_ltree_config *config);
void        ordo_ltree_clear(ordo_dict *dict);

/* ---- levels.c ---------------------------------------------------------------------------------------------------- */

/* Adds entries for the listed split nodes to the inner nodes: at most `splits` splits, in a tree of at most `leaves`
 * leaves. */
ordo_status ordo_ltree_update_above(struct ordo_call *call, struct ordo_ltree *tree, size_t leaves, size_t splits);
/* Adds missing entries to the inner nodes, for splits that no list contains (LTREE_SPLITS_PENDING). Needs `state` as
 * read. */
ordo_status ordo_ltree_rebuild_levels(struct ordo_call *call, struct ordo_ltree *tree, const cl_uint *state);

/* Lists all nodes of a level in tree->pools.dirty[level % 2], and counts them in the state (LTREE_DIRTY_NODES). `top`:
 * the root's level; `inner`: inner nodes in use. This level and the levels above may lack entries. */
ordo_status ordo_ltree_list_level(struct ordo_call *call, const struct ordo_ltree *tree, cl_uint level, cl_uint top,
                                  size_t inner);
ordo_status ordo_ltree_forget_lists(struct ordo_call *call, const struct ordo_ltree *tree, cl_uint level,
                                    cl_uint levels);

/* ---- reclaim.c --------------------------------------------------------------------------------------------------- */

/* Removes merged leaves from all levels, and updates `state`, which the caller has read. Waits if there are merged
 * leaves. */
ordo_status ordo_ltree_reclaim(struct ordo_call *call, struct ordo_ltree *tree, cl_uint state[LTREE_STATE_WORDS]);

/* ---- check.c ----------------------------------------------------------------------------------------------------- */

/* Checks the tree if it is `unchecked`, and adds missing entries to its levels. Returns ORDO_BROKEN if it is
 * damaged. */
ordo_status ordo_ltree_validate(struct ordo_call *call, struct ordo_ltree *tree);
/* Calls ordo_ltree_validate, then creates an empty leaf if the tree has no nodes. */
ordo_status ordo_ltree_begin(struct ordo_call *call, struct ordo_ltree *tree);
void        ordo_ltree_invalidate(ordo_dict *dict);
ordo_status ordo_ltree_check(ordo_dict *dict, struct ordo_call *call);
ordo_status ordo_ltree_statistics(ordo_dict *dict, struct ordo_call *call, struct ordo_statistics *out);

/* ---- find.c ------------------------------------------------------------------------------------------------------ */

ordo_status ordo_ltree_find(ordo_dict *dict, struct ordo_call *call, const struct ordo_finds *finds);
/* Finds each key's leaf (leaves[i]), slot (positions[i]: PLACE_SLOT and PLACE_HIT of node.cl) and, unless `parents` is
 * NULL, the leaf's parent. */
ordo_status ordo_ltree_locate(struct ordo_call *call, const struct ordo_ltree *tree, struct ordo_slice keys,
                              size_t count, cl_mem leaves, cl_mem positions, cl_mem parents);
/* Answers the finds of a concurrent batch, and writes their ticks if there is a history. */
ordo_status ordo_ltree_find_in_batch(struct ordo_call *call, const struct ordo_ltree *tree,
                                     const struct ordo_concurrent_batch *batch);

/* Samples every step-th operation: adds the number of stores to absent[0], of stores of absent keys to absent[1]. */
ordo_status ordo_ltree_count_absent(struct ordo_call *call, const struct ordo_ltree *tree,
                                    const struct ordo_concurrent_batch *batch, uint32_t step, cl_mem absent);

/* ---- order.c ----------------------------------------------------------------------------------------------------- */

/* Maximum queries whose intermediate results are in scratch at a time. */
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

/* How full an update that rebuilds makes nodes, in percent. */
#define ORDO_LTREE_UPDATE_FILL 70

/* Rebuilds the tree from its elements and a batch, and releases the batch. `batch` may be NULL. Waits for the
 * device. */
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

/* Frees cached blocks that a failed build has left. */
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
