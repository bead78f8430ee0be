/* SPDX-License-Identifier: Apache-2.0 */
/* Linked trees on the host's side, which the B-link tree and the skiplist are; cl/shared/ltree.h draws one and has the
 * invariants.
 *
 * Their files from the bottom up. Each calls those before it, the layers below host/dict, and no other family; what goes
 * through the structure's table (concurrent.c: dict/apply.c, which asks for finds and an update) goes down by the table alone.
 *
 *   launch.c       how kernels are cut
 *   pool.c         memory: the pools of nodes
 *   list.c         the leaves in key order
 *   build.c        the whole tree from sorted elements
 *   levels.c       what has split is made known to the levels above
 *   reclaim.c      leaves that have merged are taken out of all levels
 *   check.c        the invariants; what every call begins with
 *   find.c         finds
 *   order.c        queries by order, over the list of leaves
 *   range.c        ranges
 *   rebuild.c      the tree anew, of itself and a batch
 *   update.c       batches in order, without latches
 *   concurrent_memory.c, leftover.c, concurrent.c   operations side by side
 *
 * On top of them are the structures' tables, such as blink/blink.c. */
#ifndef ORDO_LTREE_PRIVATE_H
#define ORDO_LTREE_PRIVATE_H

#include "dict/sorted_run.h"
#include "shared/faults.h"
#include "shared/ltree.h"

/* The leaves in key order, made when a query by order needs it; uint32_t each. */
struct ordo_ltree_list {
    cl_mem order;  /* leaves, in order */
    cl_mem place;  /* of each leaf: where in the order it stands */
    cl_mem before; /* of each place: elements in leaves before it; one more than places */
    size_t places; /* at least the leaves taken; places past them have no elements */
    size_t room;   /* places that there is room for */
    bool   fresh;  /* as the tree is now */
};

struct ordo_ltree;

/* What a structure's own configuration says of it. */
struct ordo_ltree_config {
    unsigned words;        /* of a node's line of keys: 32 or 16; 0: 32 */
    unsigned fill_percent; /* of nodes that are built, 50 to 100; 0: 90 */
    size_t   max_leaves;   /* 0: no limit */
    /* Of operations side by side: how many of the nodes that they split off they tell the level above of, in percent; the
     * others the host does, between launches. */
    unsigned raise_percent;
    bool     merges; /* they also merge leaves: a skiplist's chunks */
};

/* The pools of nodes. Nodes past those taken are LTREE_FREE (B6). All NULL: nothing was ever stored, or all was
 * cleared. */
struct ordo_ltree_pools {
    cl_mem leaf_keys, leaf_values, inner_keys, children;
    cl_mem counts;        /* a word for each leaf: its count once more, where batches say which leaves they touch */
    cl_mem dirty[2];      /* lists of inner nodes with entries to take in, of even levels and of odd ones */
    size_t leaves, inner; /* nodes that there is room for */
};

struct ordo_ltree {
    ordo_dict                dict; /* first */
    struct ordo_ltree_config config;
    struct ordo_ltree_pools  pools;
    /* A build was refused after it had written over the nodes: the run has all elements, and the next call builds the
     * tree of it (ordo_ltree_validate). Without a block otherwise. */
    struct ordo_sorted_run rescue;
    cl_mem                 state;         /* LTREE_STATE_WORDS words */
    size_t                 leaves_most;   /* no more leaves than this are taken; the state knows how many */
    size_t                 elements_most; /* nor more elements */
    size_t                 changes; /* stores and erases of concurrent batches since the pools were last made to fit */
    bool                   counted; /* counts are those of the leaves' headers */
    bool                   planned; /* the state has words of a plan that are not 0 */
    unsigned               bucket_backoff;      /* batches to be sorted before one tries buckets again */
    unsigned               bucket_backoff_next; /* how many it would be after the next that overflows a bucket */
    bool                   underfull;           /* leaves are so empty that the next batch builds the tree anew */
    bool                   in_order;            /* leaf i is the i-th in key order, since the last bulk build */
    bool                   in_doubt; /* a change was begun and not seen through: to be checked before anything else */
    uint64_t               rounds;   /* so many times leaves were changed by a batch in order */
    bool                   broken;   /* checked, and not sound */
    struct ordo_ltree_list list;
    size_t                 bytes, bytes_peak, rebuilds, restarts;
    struct ordo_runs       runs; /* what a rebuild merges in */
    /* Tests: a sum of enum ordo_fault, and where concurrent batches leave their histories (two
     * ticks an operation, uint32_t, by its index), or NULL. */
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

/* Leaves for each inner node, all levels counted, at least; but for a few, which pools have room for besides. Nodes are made
 * half full or more: of 14 entries all levels sum up to a 13th of the leaves, of 6 to a 5th. (A few of a build have an entry
 * less; entries that go later were some node's own.) */
static inline size_t ordo_ltree_share(const struct ordo_ltree *tree)
{
    return tree->config.words == LTREE_WORDS_USUAL ? 12 : 5;
}

/* Whether there are nodes: leaf 0 at least. */
static inline bool ordo_ltree_has_nodes(const struct ordo_ltree *tree)
{
    return tree->pools.leaf_keys != NULL;
}

/* A number as kernels take it. */
#define ORDO_ARG_UINT(x) ORDO_ARG(((cl_uint) { (cl_uint) (x) }))

/* ---- launch.c ---------------------------------------------------------------------------------------------------- */

/* Arguments that begin with LTREE_TREE of cl/dict/ltree/node.cl. */
struct ordo_args ordo_ltree_args(const struct ordo_ltree *tree);

/* How a kernel of cl/dict/ltree is cut: LTREE_GROUP (and RUN_GROUP), TEAM_WIDTH, and LTREE_ITEMS queries per
 * work-item; 0 of these: a team takes one item after another. */
struct ordo_ltree_shape {
    size_t group, lanes, items;
};
/* A work-item for each item. */
struct ordo_ltree_shape ordo_ltree_flat(const struct ordo_ltree *tree);
/* Work-items of a group of operations side by side. */
size_t ordo_ltree_operations_group(const struct ordo_ltree *tree);
/* A whole sub-group for each item; groups of `group` work-items, 0: of the usual number. */
struct ordo_ltree_shape ordo_ltree_teams(const struct ordo_ltree *tree, size_t group);
/* A work-item for each item, teams of a few lanes. */
struct ordo_ltree_shape ordo_ltree_narrow(const struct ordo_ltree *tree);
/* Searches, by the device's tunables. */
struct ordo_ltree_shape ordo_ltree_search_shape(const struct ordo_ltree *tree);

/* A kernel of the tree's types and words, with enough groups for the items, within reason: kernels loop. */
struct ordo_launch ordo_ltree_kernel(const struct ordo_ltree *tree, const char *file, const char *kernel,
                                     struct ordo_ltree_shape shape, size_t items);
/* For a kernel of updates that combine as these do; NULL: they do not. */
void ordo_ltree_define_combines(struct ordo_launch *launch, const struct ordo_combines *combines);

/* ---- pool.c ------------------------------------------------------------------------------------------------------ */

/* Memory of the tree's own, counted. */
ordo_status ordo_ltree_buffer(struct ordo_call *call, struct ordo_ltree *tree, size_t bytes, cl_mem *out);
void        ordo_ltree_drop(struct ordo_ltree *tree, cl_mem *mem, size_t bytes);

/* Leaves that may be taken at most, by config.max_leaves: dead ones do not count. */
size_t ordo_ltree_leaves_allowed(const struct ordo_ltree *tree, size_t dead);
/* Room for so many leaves, and for all inner nodes that they can ever need (ordo_ltree_share). Copies what is there, of which
 * `state` says how much.
 * ORDO_NO_DEVICE_MEMORY also above config.max_leaves; the tree is then as it was. */
ordo_status ordo_ltree_reserve(struct ordo_call *call, struct ordo_ltree *tree, const cl_uint *state, size_t leaves);
/* Makes tree->pools fit another tree of so many leaves, with the usual reserve if `roomy`: leaves them as they are if
 * they are large enough and not much too large; else puts new ones there. The caller has a copy of the old ones, which
 * are his to drop or to put back. */
ordo_status ordo_ltree_renew_pools(struct ordo_call *call, struct ordo_ltree *tree, size_t leaves, bool roomy);
/* Drops the tree's pools and uses these, unless they are the same. */
void ordo_ltree_use_pools(struct ordo_ltree *tree, const struct ordo_ltree_pools *pools);
void ordo_ltree_drop_pools(struct ordo_ltree *tree, struct ordo_ltree_pools *pools);
/* Makes nodes from these on free (B6). Enqueues; no wait. */
ordo_status ordo_ltree_mark_free(struct ordo_call *call, const struct ordo_ltree *tree, size_t leaves, size_t inner);
/* Moves the nodes into pools of not much more than there are, if the present ones are larger. Likewise. */
ordo_status ordo_ltree_shrink(struct ordo_call *call, struct ordo_ltree *tree, const cl_uint *state);
/* Reads the whole state; waits. Sets leaves_most and elements_most. */
ordo_status ordo_ltree_read_state(struct ordo_call *call, struct ordo_ltree *tree, cl_uint state[LTREE_STATE_WORDS]);
/* The same after operations side by side, which may count more nodes than pools have: puts the counters right. */
ordo_status ordo_ltree_read_counters(struct ordo_call *call, struct ordo_ltree *tree, cl_uint state[LTREE_STATE_WORDS]);
/* ORDO_TOO_LARGE if so many stores, were all their keys new, would make more than ORDO_MAX_COUNT elements. May wait. */
ordo_status ordo_ltree_check_room(struct ordo_call *call, struct ordo_ltree *tree, size_t stores);

/* ---- list.c ------------------------------------------------------------------------------------------------------ */

/* Makes the list fresh. Enqueues; no wait. */
ordo_status ordo_ltree_list_leaves(struct ordo_call *call, struct ordo_ltree *tree);
void        ordo_ltree_drop_list(struct ordo_ltree *tree);

/* ---- build.c ----------------------------------------------------------------------------------------------------- */

/* Nodes for so many entries that are `fill` percent full. */
size_t ordo_ltree_nodes_over(const struct ordo_ltree *tree, size_t entries, unsigned fill);
/* Builds the tree anew from a run, whose elements are all distinct; a run of no elements has no block. Nodes are `fill`
 * percent full, or fuller if config.max_leaves allows no more nodes. Enqueues; no wait. After an error the tree is as it
 * was, unless nodes were written over in place: then the run is moved to tree->rescue. */
ordo_status ordo_ltree_bulk_build(struct ordo_call *call, struct ordo_ltree *tree, struct ordo_sorted_run *run,
                                  unsigned fill);
/* Makes counts those of the leaves' headers. Enqueues; no wait. */
ordo_status ordo_ltree_count_leaves(struct ordo_call *call, const struct ordo_ltree *tree);
/* What a new dictionary of linked trees begins with. ORDO_INVALID: the configuration is not one. */
ordo_status ordo_ltree_configure(ordo_dict *dict, const struct ordo_ltree_config *config);
/* Gives everything back. */
void ordo_ltree_clear(ordo_dict *dict);

/* ---- levels.c ---------------------------------------------------------------------------------------------------- */

/* What inner nodes have to do after leaves have split, of which there were `leaves` at most, and `splits` at most
 * did. Enqueues; no wait. */
ordo_status ordo_ltree_update_above(struct ordo_call *call, struct ordo_ltree *tree, size_t leaves, size_t splits);
/* The same where B4 and B5 lag behind (LTREE_SPLITS_PENDING), and it is not known where. `state`: as read. Enqueues; no wait. */
ordo_status ordo_ltree_rebuild_levels(struct ordo_call *call, struct ordo_ltree *tree, const cl_uint *state);

/* Lists all nodes of a level in tree->pools.dirty[level % 2]; the state has how many (LTREE_DIRTY_NODES). `top`: the root's
 * level; `inner`: nodes taken. Levels from this one on hold, but may lag behind. Enqueues; no wait. */
ordo_status ordo_ltree_list_level(struct ordo_call *call, const struct ordo_ltree *tree, cl_uint level, cl_uint top,
                                  size_t inner);
/* Makes the lists of these levels empty. */
ordo_status ordo_ltree_forget_lists(struct ordo_call *call, const struct ordo_ltree *tree, cl_uint level,
                                    cl_uint levels);

/* ---- reclaim.c --------------------------------------------------------------------------------------------------- */

/* Between launches of operations that merge leaves: nobody is led to those that have merged any more. `state`: as read, and
 * kept so. Waits if there are such. */
ordo_status ordo_ltree_reclaim(struct ordo_call *call, struct ordo_ltree *tree, cl_uint state[LTREE_STATE_WORDS]);

/* ---- check.c ----------------------------------------------------------------------------------------------------- */

/* If the tree is in doubt, checks it, and sees through what a change has left; ORDO_BROKEN if that cannot be done, or could
 * not before. */
ordo_status ordo_ltree_validate(struct ordo_call *call, struct ordo_ltree *tree);
/* The same; and an empty leaf as the root, if there are no nodes at all. */
ordo_status ordo_ltree_begin(struct ordo_call *call, struct ordo_ltree *tree);
void        ordo_ltree_doubt(ordo_dict *dict);
ordo_status ordo_ltree_check(ordo_dict *dict, struct ordo_call *call);
ordo_status ordo_ltree_statistics(ordo_dict *dict, struct ordo_call *call, struct ordo_statistics *out);

/* ---- find.c ------------------------------------------------------------------------------------------------------ */

ordo_status ordo_ltree_find(ordo_dict *dict, struct ordo_call *call, const struct ordo_finds *finds);
/* Where each key belongs: leaves[i], positions[i] (PLACE_SLOT and PLACE_HIT of node.cl) and, unless NULL, its
 * leaf's parent. */
ordo_status ordo_ltree_locate(struct ordo_call *call, const struct ordo_ltree *tree, struct ordo_slice keys,
                              size_t count, cl_mem leaves, cl_mem positions, cl_mem parents);
/* The finds of a concurrent batch, and their ticks if there is a history. */
ordo_status ordo_ltree_find_in_batch(struct ordo_call *call, const struct ordo_ltree *tree,
                                     const struct ordo_concurrent_batch *batch);

/* Looks at every step-th operation: absent[0] += how many of these store, absent[1] += how many of their keys are not
 * there. */
ordo_status ordo_ltree_count_absent(struct ordo_call *call, const struct ordo_ltree *tree,
                                    const struct ordo_concurrent_batch *batch, uint32_t step, cl_mem absent);

/* ---- order.c ----------------------------------------------------------------------------------------------------- */

/* Queries of which something is in scratch at once. */
#define ORDO_LTREE_QUERIES_MAX ((size_t) 1 << 26)

/* Begins every query by order. */
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

/* How full a rebuild by an update leaves nodes, so that not all split in the next one. */
#define ORDO_LTREE_UPDATE_FILL 70

/* A new tree of the old one and a batch, which goes, `fill` percent full; batch NULL: of the old one alone. Waits. */
ordo_status ordo_ltree_rebuild(struct ordo_call *call, struct ordo_ltree *tree, struct ordo_sorted_run *batch,
                               unsigned fill);
/* The lesser of ORDO_LTREE_UPDATE_FILL and what build and compact do. */
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

/* ---- the structures' tables ----------------------------------------------------------------------------------------- */

/* What a build that failed has left. */
static inline void ordo_ltree_give_spare(ordo_dict *dict)
{
    ordo_runs_drop_spare(&ordo_ltree_of(dict)->runs);
}

/* All calls of a struct ordo_structure: linked trees differ by their configuration alone. */
#define ORDO_LTREE_CALLS                                                                                               \
    .destroy = ordo_ltree_clear, .clear = ordo_ltree_clear, .build = ordo_ltree_build, .update = ordo_ltree_update,    \
    .update_sorted = ordo_ltree_update_sorted, .combine = ordo_ltree_combine,                                          \
    .apply_concurrent = ordo_ltree_apply_concurrent, .compact = ordo_ltree_compact, .find = ordo_ltree_find,           \
    .count = ordo_ltree_count, .range = ordo_ltree_range, .seek = ordo_ltree_seek, .seeks_both = true,                 \
    .rank = ordo_ltree_rank, .select = ordo_ltree_select, .size = ordo_ltree_size, .export_all = ordo_ltree_export,    \
    .check = ordo_ltree_check, .doubt = ordo_ltree_doubt, .statistics = ordo_ltree_statistics,                         \
    .give_spare = ordo_ltree_give_spare

#endif
