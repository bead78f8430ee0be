/* SPDX-License-Identifier: Apache-2.0 */
/* Batches into a B-link tree, without latches: a node is changed by one team, once a launch.
 *
 *   group_flags, group_first   groups of updates that fall into one leaf
 *   group_plan                 how many new leaves the batch may need: nothing is changed yet
 *   update_leaves              each leaf takes its group, and splits into as many as it needs
 *   bucket_updates             a batch that is not sorted, if few of its updates meet in a leaf: which these are
 *   update_heads               its leaves: those that cannot split by a work-item each, the others by a team
 *   count_leaves               what leaf_counts[] is before that
 *   update_level               parents, of which a list was kept, take in what their children have split off
 *   update_root                new levels above a root that has split
 *
 * What a child has split off is found by its links: from the child to the right, up to where the parent's next entry
 * begins (B4). So no list of new nodes is kept, and no order among them.
 *
 * BLINK_TEAM kernels: a team is a whole sub-group; a node's words lie across its lanes, word x in lane x % TEAM_WIDTH.
 */
#pragma once
#include "dict/blink_build.cl"

#define LANE_WORDS ((BLINK_WORDS + TEAM_WIDTH - 1) / TEAM_WIDTH)

/* A node that splits, splits into nodes of about this many entries. */
#define BLINK_TARGET 21

ORDO_FN uint blink_nodes_for(uint entries)
{
    return entries <= BLINK_SLOTS ? 1 : (entries - 1) / BLINK_TARGET + 1;
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

ORDO_KERNEL(RUN_GROUP)
void group_flags(__global const uint *leaves, uint n, __global uint *number)
{
    RUN_EACH (uint, i, n)
        number[i] = i == 0 || leaves[i] != leaves[i - 1];
}

/* number: scanned, inclusive. first[g]: where group g begins; one entry more than groups. */
ORDO_KERNEL(RUN_GROUP)
void group_first(__global const uint *number, uint n, __global uint *first, __global uint *state)
{
    RUN_EACH (uint, i, n) {
        if (i == 0 || number[i] != number[i - 1])
            first[number[i] - 1] = i;
        if (i == n - 1) {
            first[number[i]] = n;
            state[BLINK_GROUPS] = number[i];
            state[BLINK_WANTED] = state[BLINK_LARGEST] = 0;
        }
    }
}

ORDO_KERNEL(RUN_GROUP)
void group_plan(BLINK_TREE, __global const uint *leaves, __global const uint *first)
{
    const blink_tree tree = BLINK_TREE_HERE;
    uint             wanted = 0, largest = 0;

    RUN_EACH (uint, g, state[BLINK_GROUPS]) {
        const uint updates = first[g + 1] - first[g];
        wanted += blink_nodes_for(blink_count(blink_leaf(&tree, leaves[first[g]])) + updates) - 1;
        largest = max(largest, updates);
    }
    if (wanted)
        ordo_add(&state[BLINK_WANTED], wanted);
    if (largest)
        ordo_max(&state[BLINK_LARGEST], largest);
}

/* ---- what a node becomes ----------------------------------------------------------------------------------------- */

/* A node whose `all` entries are shared among itself and `nodes` - 1 new ones, numbered from first_new on. */
typedef struct {
    uint          level, node, first_new, nodes, all;
    node_share    share;
    uint          right; /* of the last */
    ordo_key_form high;
} node_split;

ORDO_FN uint split_number(const node_split *split, uint j)
{
    return j == 0 ? split->node : split->first_new + j - 1;
}

/* Takes the new nodes. Called by a whole team; the numbers are there: they were reserved. */
ORDO_FN node_split split_begin(const blink_tree *tree, uint level, uint node, uint all)
{
    __global ordo_key_form *line = blink_line(tree, level, node);
    node_split              split = { level, node, 0, blink_nodes_for(all), all, { all, 0 }, 0, 0 };

    split.right = *blink_right(line);
    split.high = line[BLINK_HIGH];
    if (split.nodes == 1)
        return split;
    split.share = share_among(all, split.nodes);
    if (team_lane() == 0)
        split.first_new = ordo_add(&tree->state[level == 0 ? BLINK_LEAVES : BLINK_INNER], split.nodes - 1);
    split.first_new = team_bcast(split.first_new, 0);
    return split;
}

typedef struct {
    uint j, slot, size;
} split_place;

/* Where entry p of all goes. */
ORDO_FN split_place split_where(const node_split *split, uint p)
{
    const node_share share = split->share;
    split_place      to = { 0, p, split->all };
    if (split->nodes == 1)
        return to;
    const uint in_larger = share.more * (share.even + 1);
    to.j = p < in_larger ? p / (share.even + 1) : share.more + (p - in_larger) / share.even;
    to.slot = p - share_first(share, to.j);
    to.size = share_size(share, to.j);
    return to;
}

/* Writes the words of the nodes that do not depend on keys: unused slots, links, headers, and the last one's high.
 * By a whole team. */
ORDO_FN void split_frame(const blink_tree *tree, const node_split *split)
{
    for (uint j = 0; j < split->nodes; j++) {
        __global ordo_key_form *line = blink_line(tree, split->level, split_number(split, j));
        const bool              last = j + 1 == split->nodes;
        const uint              size = share_size(split->share, j);
        ORDO_UNROLL
        for (uint r = 0; r < LANE_WORDS; r++) {
            const uint word = r * TEAM_WIDTH + team_lane();
            if (word >= size && word < BLINK_SLOTS)
                line[word] = BLINK_UNUSED;
            if (word == BLINK_RIGHT)
                line[word] = last ? split->right : split_number(split, j + 1);
            if (word == BLINK_HEADER) {
                line[word] = size;
                if (split->level == 0)
                    tree->leaf_counts[split_number(split, j)] = size;
            }
            if (word == BLINK_HIGH && last)
                line[word] = split->high;
        }
    }
}

/* The border between nodes j and j + 1. */
ORDO_FN void split_border(const blink_tree *tree, const node_split *split, uint j, ordo_key_form border)
{
    blink_line(tree, split->level, split_number(split, j))[BLINK_HIGH] = border;
    blink_line(tree, split->level, split_number(split, j + 1))[BLINK_LOW] = border;
}

/* ---- leaves ------------------------------------------------------------------------------------------------------ */

/* Entry p of a leaf's. The last key of a leaf is its high. */
ORDO_FN void split_put_element(const blink_tree *tree, const node_split *split, uint p, ordo_key_form key,
                               blink_value value)
{
    const split_place to = split_where(split, p);
    const uint        leaf = split_number(split, to.j);

    blink_leaf(tree, leaf)[to.slot] = key;
#if ORDO_VALUE_BYTES
    blink_values(tree, leaf)[to.slot] = value;
#endif
    if (to.slot + 1 == to.size && to.j + 1 < split->nodes)
        split_border(tree, split, to.j, key);
}

/* The batch, sorted: of equal keys the last counts. */
typedef struct {
    __global const ordo_key    *keys;
    __global const blink_value *values;
    __global const uchar       *erased; /* NULL: all are stored, or, with all_erased, none */
    __global const uint        *spots;
    uint                        n, all_erased;
} leaf_batch;

/* Every step-th update from `first` on. */
typedef struct {
    uint first, step, count;
} leaf_share;

/* Of the updates that a team looks at together, in key order, lane l's. */
typedef struct {
    uint index, slot;
    bool hit, stores, removes;
} leaf_update;

/* How many elements updates store and remove. */
typedef struct {
    uint stores, removes;
} leaf_change;

ORDO_FN leaf_update share_update(const leaf_batch *batch, leaf_share share, uint t)
{
    leaf_update u = { share.first + t * share.step, 0, false, false, false };
    if (t >= share.count)
        return u;
    const uint i = u.index, spot = batch->spots[i];
    const bool counts = i + 1 == batch->n || batch->keys[i + 1] != batch->keys[i];
    const bool erases = batch->all_erased || (batch->erased && batch->erased[i]);
    u.slot = spot & PLACE_SLOT;
    u.hit = (spot & PLACE_HIT) != 0;
    u.stores = counts && !erases;
    u.removes = counts && u.hit;
    return u;
}

/* A leaf's elements in a team's lanes, and what the updates do to them. */
typedef struct {
    ordo_key_form key[LANE_WORDS];
#if ORDO_VALUE_BYTES
    blink_value value[LANE_WORDS];
#endif
    uint to[LANE_WORDS];   /* its place among all that the leaf becomes */
    bool kept[LANE_WORDS]; /* not erased, not replaced */
} leaf_tile;

ORDO_FN void tile_take(const blink_tree *tree, uint leaf, uint count, __private leaf_tile *tile)
{
    ORDO_UNROLL
    for (uint r = 0; r < LANE_WORDS; r++) {
        const uint slot = r * TEAM_WIDTH + team_lane();
        tile->to[r] = slot;
        tile->kept[r] = slot < count;
        if (slot < count) {
            tile->key[r] = blink_leaf(tree, leaf)[slot];
#if ORDO_VALUE_BYTES
            tile->value[r] = blink_values(tree, leaf)[slot];
#endif
        }
    }
}

/* Moves the elements for one update of some lane's. */
ORDO_FN void tile_move(__private leaf_tile *tile, uint slot, bool hit, bool stores, bool removes)
{
    ORDO_UNROLL
    for (uint r = 0; r < LANE_WORDS; r++) {
        const uint mine = r * TEAM_WIDTH + team_lane();
        tile->to[r] += stores && slot + hit <= mine;
        tile->to[r] -= removes && slot < mine;
        tile->kept[r] = tile->kept[r] && !(removes && slot == mine);
    }
}

/* Moves the elements for a team's updates; counts these. */
ORDO_FN void tile_update(__private leaf_tile *tile, leaf_update u, __private leaf_change *change)
{
    const team_mask stores = team_ballot(u.stores), removes = team_ballot(u.removes);
    const uint      word = u.slot | (uint) u.hit << 8;

    for (team_mask left = stores | removes; left; left &= left - 1) {
        const uint lane = first_lane(left), its = team_bcast(word, lane);
        tile_move(tile, its & 0xff, its >> 8, stores >> lane & 1, removes >> lane & 1);
    }
    change->stores += mask_count(stores);
    change->removes += mask_count(removes);
}

/* Stores a team's updates, which come after those that `before` counts. */
ORDO_FN void split_put_updates(const blink_tree *tree, const leaf_batch *batch, leaf_update u, const node_split *split,
                               __private leaf_change *before)
{
    const team_mask stores = team_ballot(u.stores), removes = team_ballot(u.removes);

    if (u.stores) {
        const uint p = u.slot + before->stores + mask_count(stores & team_lanes_below()) -
                       (before->removes + mask_count(removes & team_lanes_below()));
#if ORDO_VALUE_BYTES
        const blink_value value = batch->values[u.index];
#else
        const blink_value value = 0;
#endif
        split_put_element(tree, split, p, key_bits(batch->keys[u.index]), value);
    }
    before->stores += mask_count(stores);
    before->removes += mask_count(removes);
}

ORDO_FN void split_put_tile(const blink_tree *tree, const node_split *split, __private const leaf_tile *tile)
{
    ORDO_UNROLL
    for (uint r = 0; r < LANE_WORDS; r++) {
#if ORDO_VALUE_BYTES
        const blink_value value = tile->value[r];
#else
        const blink_value value = 0;
#endif
        if (tile->kept[r])
            split_put_element(tree, split, tile->to[r], tile->key[r], value);
    }
}

/* Puts each lane's node, if it has one, on the list of its level, once. By the whole team. */
ORDO_FN void blink_mark_each(const blink_tree *tree, uint level, uint node, bool has, __global uint *list)
{
    const bool      fresh = has && !(ordo_or(blink_header(blink_inner(tree, node)), BLINK_DIRTY) & BLINK_DIRTY);
    const team_mask lanes = team_ballot(fresh);
    uint            first = 0;
    if (lanes == 0)
        return;
    if (team_lane() == 0)
        first = ordo_add(&tree->state[BLINK_DIRTY_NODES + level], mask_count(lanes));
    first = team_bcast(first, 0);
    if (fresh)
        list[first + mask_count(lanes & team_lanes_below())] = node;
}

/* What a leaf's elements and its share of the batch become; how many elements more there are. By a whole team. */
ORDO_FN uint leaf_take(const blink_tree *tree, uint leaf, const leaf_batch *batch, leaf_share share,
                       __private node_split *split)
{
    const uint count = blink_count(blink_leaf(tree, leaf));
    leaf_tile  tile;

    tile_take(tree, leaf, count, &tile);
    leaf_change change = { 0, 0 }, before = { 0, 0 };
    for (uint base = 0; base < share.count; base += TEAM_WIDTH)
        tile_update(&tile, share_update(batch, share, base + team_lane()), &change);
    *split = split_begin(tree, 0, leaf, count + change.stores - change.removes);
    team_sync(); /* all lanes have read the leaf */
    split_put_tile(tree, split, &tile);
    for (uint base = 0; base < share.count; base += TEAM_WIDTH)
        split_put_updates(tree, batch, share_update(batch, share, base + team_lane()), split, &before);
    split_frame(tree, split);
    return change.stores - change.removes;
}

/* The team's number among all of the launch's, and how many there are. */
#define BLINK_TEAM  ((uint) get_group_id(0) * (BLINK_GROUP / TEAM_WIDTH) + team_index())
#define BLINK_TEAMS ((uint) get_num_groups(0) * (BLINK_GROUP / TEAM_WIDTH))

/* Of a group of more than `most` updates, which then are all distinct, that many are taken, evenly spread: the leaf
 * splits, and what it becomes takes more the next time. dirty: the list of level 1. */
ORDO_KERNEL(BLINK_GROUP)
void update_leaves(BLINK_TREE, __global const uint *leaves, __global const uint *parents, __global const uint *first,
                   __global const ordo_key *keys, ulong keys_at, __global const blink_value *values, ulong values_at,
                   __global const uchar *erased, ulong erased_at, __global const uint *spots, uint n, uint all_erased,
                   uint most, __global uint *dirty)
{
    const blink_tree tree = BLINK_TREE_HERE;
    const leaf_batch batch = { keys + keys_at, values + values_at, erased ? erased + erased_at : erased, spots, n,
                               all_erased };
    uint             more = 0;

    for (uint g = BLINK_TEAM; g < state[BLINK_GROUPS]; g += BLINK_TEAMS) {
        const uint       size = first[g + 1] - first[g], step = (size - 1) / most + 1;
        const leaf_share share = { first[g], step, (size - 1) / step + 1 };
        node_split       split;
        more += leaf_take(&tree, leaves[first[g]], &batch, share, &split);
        const uint parent = parents[first[g]];
        blink_mark_each(&tree, 1, parent, team_lane() == 0 && split.nodes > 1 && parent != BLINK_NONE, dirty);
    }
    if (team_lane() == 0 && more)
        ordo_add(&state[BLINK_ELEMENTS], more);
}

/* ---- leaves, of a batch that is not sorted ----------------------------------------------------------------------- */

/* Updates say at their leaf that they are there: leaf_counts[leaf] counts them, too, above the leaf's own count.
 * The one that comes first is the leaf's head, and does the work in the next launch; the k-th after it leaves its
 * index in the leaf's bucket, bucket[leaf * slots + k - 1]. So which update is the head is chance, but the work goes
 * by index. If more come than a bucket holds, BLINK_LARGEST tells, and the batch is sorted instead. */
#define ARRIVAL          (BLINK_COUNT_MASK + 1)
#define ARRIVALS(counts) ((counts) / ARRIVAL)

/* Adds up over the group what its work-items give, and then once to a word that all groups share: such words take an
 * atomic at a time, some 2 ns each on an H200. By the whole group, from uniform control flow; `sum` is its own. */
ORDO_FN void group_add(volatile __global uint *to, __local uint *sum, uint x)
{
    if (get_local_id(0) == 0)
        *sum = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x)
        (void) ordo_local_add(sum, x);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0 && *sum)
        (void) ordo_add(to, *sum);
}

/* heads[i]: the leaf whose head update i is, or BLINK_NONE. */
ORDO_KERNEL(BLINK_GROUP)
void bucket_updates(BLINK_TREE, __global const ordo_key *keys, ulong keys_at, uint n, uint slots, __global uint *bucket,
                    __global uint *heads, __global uint *parents)
{
    __local uint     sum;
    const blink_tree tree = BLINK_TREE_HERE;
    uint             wanted = 0;

    for (ulong tile = get_group_id(0); tile * BLINK_TILE < n; tile += get_num_groups(0)) {
        const uint first = (uint) tile * BLINK_TILE;
        blink_way  way[TEAM_QUERIES];
        blink_spot spot[BLINK_ITEMS] = { { 0, 0, 0 } };

        blink_take_tile(&tree, keys + keys_at, n, first, way);
        blink_own(way, spot);
        for (uint r = 0; r < BLINK_ITEMS; r++) {
            const uint i = blink_query_at(first, r), leaf = spot[r].leaf;
            if (i >= n)
                continue;
            const uint counted = ordo_add(&leaf_counts[leaf], ARRIVAL), before = ARRIVALS(counted);
            heads[i] = before == 0 ? leaf : BLINK_NONE;
            parents[i] = spot[r].parent;
            if (before > slots)
                ordo_max(&state[BLINK_LARGEST], before);
            else if (before > 0)
                bucket[(ulong) leaf * slots + before - 1] = i;
            const uint all = (counted & BLINK_COUNT_MASK) + before + 1;
            wanted += blink_nodes_for(all) - blink_nodes_for(all - 1);
        }
    }
    group_add(&state[BLINK_WANTED], &sum, wanted);
}

/* leaf_counts[] as the leaves' headers have it, without arrivals; 0 of what is no leaf yet. */
ORDO_KERNEL(RUN_GROUP)
void count_leaves(BLINK_TREE, uint capacity)
{
    const blink_tree tree = BLINK_TREE_HERE;
    RUN_EACH (uint, leaf, capacity)
        leaf_counts[leaf] = leaf < state[BLINK_LEAVES] ? blink_count(blink_leaf(&tree, leaf)) : 0;
}

/* The updates of a leaf that has `all`, by index: the least one after `last`, or the least of all. */
ORDO_FN uint bucket_next(__global const uint *bucket, uint head, uint all, uint last, bool first)
{
    uint next = first || head > last ? head : BLINK_NONE;
    for (uint k = 0; k + 1 < all; k++) {
        const uint i = bucket[k];
        next = (first || i > last) && i < next ? i : next;
    }
    return next;
}

#if TEAM_WIDTH >= 16 /* where a bucket's updates have a lane each; others sort */

/* ---- a leaf that may split, by a team ---------------------------------------------------------------------------- */

/* A leaf and its updates, as a team's lanes read them at once. */
typedef struct {
    leaf_tile     tile;
    uint          leaf, count, updates;
    ordo_key_form key; /* of this lane's update */
    uint          index;
} bucket_load;

/* `head`: the update that is the leaf's head. */
ORDO_FN bucket_load bucket_read(const blink_tree *tree, const leaf_batch *batch, uint head, uint leaf, uint counted,
                                uint slots, __global const uint *bucket)
{
    bucket_load load;
    load.leaf = leaf;
    load.count = counted & BLINK_COUNT_MASK;
    load.updates = ARRIVALS(counted);
    load.index = head;
    if (team_lane() > 0 && team_lane() < load.updates)
        load.index = bucket[(ulong) leaf * slots + team_lane() - 1];
    tile_take(tree, leaf, load.count, &load.tile);
    load.key = key_bits(batch->keys[load.index]);
    return load;
}

/* Lane l gets the update that is the l-th by key, and among equal keys by index. */
ORDO_FN void bucket_sort(__private bucket_load *load)
{
    uint rank = 0, from = 0;
    for (uint j = 0; j < load->updates; j++) {
        const ordo_key_form key = blink_bcast_key(load->key, j);
        const uint          index = team_bcast(load->index, j);
        rank += key < load->key || (key == load->key && index < load->index);
    }
    for (uint j = 0; j < load->updates; j++)
        from = team_bcast(rank, j) == team_lane() ? j : from;
#if KEY_BITS == 32
    load->key = team_shuffle(load->key, from);
#else
    load->key = team_shuffle64(load->key, from);
#endif
    load->index = team_shuffle(load->index, from);
}

/* This lane's update, of a bucket that is sorted: where it belongs in the leaf. */
ORDO_FN leaf_update bucket_update(const leaf_batch *batch, const bucket_load *load)
{
    leaf_update u = { load->index, 0, false, false, false };
    bool        counts = team_lane() < load->updates;

    for (uint j = 0; j < load->updates; j++) {
        const ordo_key_form key = blink_bcast_key(load->key, j);
        uint                less = 0;
        bool                hit = false;
        ORDO_UNROLL
        for (uint r = 0; r < LANE_WORDS; r++) {
            less += mask_count(team_ballot(load->tile.kept[r] && load->tile.key[r] < key));
            hit = hit || team_any(load->tile.kept[r] && load->tile.key[r] == key);
        }
        if (j == team_lane()) {
            u.slot = less;
            u.hit = hit;
        }
        if (j == team_lane() + 1 && key == load->key) /* of equal keys the last counts */
            counts = false;
    }
    const bool erases = batch->all_erased || (batch->erased && batch->erased[u.index]);
    u.stores = counts && !erases;
    u.removes = counts && u.hit;
    return u;
}

ORDO_FN uint bucket_take(const blink_tree *tree, const leaf_batch *batch, __private bucket_load *load,
                         __private node_split *split)
{
    leaf_change change = { 0, 0 }, before = { 0, 0 };

    if (load->updates > 1)
        bucket_sort(load);
    const leaf_update u = bucket_update(batch, load);
    tile_update(&load->tile, u, &change);
    *split = split_begin(tree, 0, load->leaf, load->count + change.stores - change.removes);
    team_sync(); /* all lanes have read the leaf */
    split_put_tile(tree, split, &load->tile);
    split_put_updates(tree, batch, u, split, &before);
    split_frame(tree, split);
    return change.stores - change.removes;
}

/* ---- leaves that need not split, each by a work-item ------------------------------------------------------------- */

/* Most leaves. The team reads and writes its lanes' leaves one after another, a line at a time, and between that
 * each lane changes its own one in local memory: as many leaves as lanes hide each other's latency, and memory sees
 * whole lines. (On an H200, 2^20 updates: a sub-group for each leaf 0.36 ms, this 0.24 ms. With the leaf in
 * registers it is as fast at 2^20, but takes 78 us instead of 75 us at 2^18, and spills on others.) */
typedef struct {
    ordo_key_form key[BLINK_SLOTS + 1]; /* one more: neighbours' leaves begin in other banks */
#if ORDO_VALUE_BYTES
    blink_value value[BLINK_SLOTS + 1];
#endif
} lane_leaf;

/* What a lane's leaf is, if `has`; slots before `changed` are as they were. */
typedef struct {
    bool has;
    uint leaf, count, changed;
} lane_state;

/* Leaves whose lines a team has under way at once: as registers allow. */
#if TEAM_WIDTH >= 32 && KEY_BITS == 32 && ORDO_VALUE_BYTES <= 4
#define LANE_READS 8
#else
#define LANE_READS 2
#endif

/* By the whole team: its lanes' leaves into its part of local memory. */
ORDO_FN void lanes_read(const blink_tree *tree, lane_state mine, __local lane_leaf *leaves)
{
    for (uint t = 0; t < TEAM_WIDTH; t += LANE_READS) {
        ordo_key_form key[LANE_READS][LANE_WORDS];
#if ORDO_VALUE_BYTES
        blink_value value[LANE_READS][LANE_WORDS];
#endif
        ORDO_UNROLL
        for (uint k = 0; k < LANE_READS; k++) {
            const uint leaf = team_bcast(mine.leaf, t + k), count = team_bcast(mine.count, t + k);
            ORDO_UNROLL
            for (uint r = 0; r < LANE_WORDS; r++) {
                const uint slot = r * TEAM_WIDTH + team_lane();
                if (slot >= count)
                    continue;
                key[k][r] = blink_leaf(tree, leaf)[slot];
#if ORDO_VALUE_BYTES
                value[k][r] = blink_values(tree, leaf)[slot];
#endif
            }
        }
        ORDO_UNROLL
        for (uint k = 0; k < LANE_READS; k++) {
            const uint count = team_bcast(mine.count, t + k);
            ORDO_UNROLL
            for (uint r = 0; r < LANE_WORDS; r++) {
                const uint slot = r * TEAM_WIDTH + team_lane();
                if (slot >= count)
                    continue;
                leaves[t + k].key[slot] = key[k][r];
#if ORDO_VALUE_BYTES
                leaves[t + k].value[slot] = value[k][r];
#endif
            }
        }
    }
}

/* By the whole team: what has changed, unused slots and the header, too. */
ORDO_FN void lanes_write(const blink_tree *tree, lane_state mine, __local const lane_leaf *leaves)
{
    for (team_mask left = team_ballot(mine.has); left; left &= left - 1) {
        const uint t = first_lane(left), leaf = team_bcast(mine.leaf, t), count = team_bcast(mine.count, t);
        const uint changed = team_bcast(mine.changed, t);
        ORDO_UNROLL
        for (uint r = 0; r < LANE_WORDS; r++) {
            const uint word = r * TEAM_WIDTH + team_lane();
            if (word == BLINK_HEADER) {
                blink_leaf(tree, leaf)[word] = count;
                tree->leaf_counts[leaf] = count;
            }
            if (word < changed || word >= BLINK_SLOTS)
                continue;
            blink_leaf(tree, leaf)[word] = word < count ? leaves[t].key[word] : BLINK_UNUSED;
#if ORDO_VALUE_BYTES
            if (word < count)
                blink_values(tree, leaf)[word] = leaves[t].value[word];
#endif
        }
    }
}

/* How many keys of a lane's leaf are less. */
ORDO_FN uint lane_less(__local const lane_leaf *its, uint count, ordo_key_form key)
{
    uint low = 0;
    while (count > 0) {
        const uint middle = count / 2;
        const bool less = its->key[low + middle] < key;
        low = less ? low + middle + 1 : low;
        count = less ? count - middle - 1 : middle;
    }
    return low;
}

/* Puts an element before slot `at`; there is room. */
ORDO_FN void lane_insert(__local lane_leaf *its, __private lane_state *mine, uint at)
{
    for (uint slot = mine->count; slot > at; slot--) {
        its->key[slot] = its->key[slot - 1];
#if ORDO_VALUE_BYTES
        its->value[slot] = its->value[slot - 1];
#endif
    }
    mine->count++;
}

ORDO_FN void lane_remove(__local lane_leaf *its, __private lane_state *mine, uint at)
{
    mine->count--;
    for (uint slot = at; slot < mine->count; slot++) {
        its->key[slot] = its->key[slot + 1];
#if ORDO_VALUE_BYTES
        its->value[slot] = its->value[slot + 1];
#endif
    }
}

ORDO_FN void lane_update(const leaf_batch *batch, uint i, __local lane_leaf *its, __private lane_state *mine)
{
    const ordo_key_form key = key_bits(batch->keys[i]);
    const uint          at = lane_less(its, mine->count, key);
    const bool          hit = at < mine->count && its->key[at] == key;
    const bool          erases = batch->all_erased || (batch->erased && batch->erased[i]);

    if (erases && !hit)
        return;
    mine->changed = min(mine->changed, at);
    if (erases) {
        lane_remove(its, mine, at);
        return;
    }
    if (!hit)
        lane_insert(its, mine, at);
    its->key[at] = key;
#if ORDO_VALUE_BYTES
    its->value[at] = batch->values[i];
#endif
}

/* Does all updates of a head's leaf, in the order of their indices. */
ORDO_FN void lane_updates(const leaf_batch *batch, __global const uint *bucket, uint head, uint all,
                          __local lane_leaf *its, __private lane_state *mine)
{
    uint last = head;
    for (uint u = 0; u < all; u++) {
        if (all > 1)
            last = bucket_next(bucket, head, all, last, u == 0);
        lane_update(batch, last, its, mine);
    }
}

/* The team's leaves that may split, one after another; how many elements more there are. By the whole team. */
ORDO_FN uint team_take_large(const blink_tree *tree, const leaf_batch *batch, __global const uint *bucket, uint slots,
                             bool large, uint head, uint leaf, uint counted, uint parent, __global uint *dirty)
{
    uint more = 0;
    bool splits = false; /* this lane's leaf */

    for (team_mask left = team_ballot(large); left; left &= left - 1) {
        const uint  t = first_lane(left);
        node_split  split;
        bucket_load load =
            bucket_read(tree, batch, team_bcast(head, t), team_bcast(leaf, t), team_bcast(counted, t), slots, bucket);
        more += bucket_take(tree, batch, &load, &split);
        splits = splits || (split.nodes > 1 && t == team_lane());
    }
    blink_mark_each(tree, 1, parent, splits && parent != BLINK_NONE, dirty);
    return team_lane() == 0 ? more : 0;
}

/* A work-item for each update that is a head. */
ORDO_KERNEL(BLINK_GROUP)
void update_heads(BLINK_TREE, uint n, uint slots, __global const uint *bucket, __global const uint *heads,
                  __global const uint *parents, __global const ordo_key *keys, ulong keys_at,
                  __global const blink_value *values, ulong values_at, __global const uchar *erased, ulong erased_at,
                  uint all_erased, __global uint *dirty)
{
    __local lane_leaf  leaves[BLINK_GROUP];
    __local uint       sum;
    __local lane_leaf *its = leaves + get_local_id(0), *team = leaves + team_index() * TEAM_WIDTH;
    const blink_tree   tree = BLINK_TREE_HERE;
    const leaf_batch   batch = { keys + keys_at, values + values_at, erased ? erased + erased_at : erased, 0, 0,
                                 all_erased };
    uint               more = 0;

    for (ulong first = get_group_id(0) * (ulong) BLINK_GROUP; first < n;
         first += get_num_groups(0) * (ulong) BLINK_GROUP) {
        const uint i = (uint) first + (uint) get_local_id(0), leaf = i < n ? heads[i] : BLINK_NONE;
        const uint counted = leaf != BLINK_NONE ? leaf_counts[leaf] : 0;
        const uint count = counted & BLINK_COUNT_MASK, all = ARRIVALS(counted);
        const bool large = count + all > BLINK_SLOTS;
        lane_state mine = { leaf != BLINK_NONE && !large, leaf, count, BLINK_SLOTS };

        mine.count = mine.has ? count : 0;
        lanes_read(&tree, mine, team);
        team_sync();
        if (mine.has)
            lane_updates(&batch, bucket + (ulong) leaf * slots, i, all, its, &mine);
        more += mine.has ? mine.count - count : 0;
        team_sync();
        lanes_write(&tree, mine, team);
        team_sync();
        more += team_take_large(&tree, &batch, bucket, slots, large, i, leaf, counted, large ? parents[i] : BLINK_NONE,
                                dirty);
    }
    group_add(&state[BLINK_ELEMENTS], &sum, more);
}

#endif

/* ---- inner nodes ------------------------------------------------------------------------------------------------- */

/* An inner node's entries in a team's lanes, and the chain of nodes that each child has split off. */
typedef struct {
    ordo_key_form key[LANE_WORDS];
    uint          child[LANE_WORDS];
    uint          to[LANE_WORDS];
    uint          chain[LANE_WORDS]; /* nodes in it */
} inner_tile;

/* Nodes to the right of `child` before the one that begins at `bound`, or all. Callable from anywhere. */
ORDO_FN uint chain_length(const blink_tree *tree, uint level, uint child, ordo_key_form bound)
{
    uint length = 0;
    for (__global ordo_key_form *line = blink_line(tree, level, child); line[BLINK_HIGH] != bound; length++) {
        const uint right = *blink_right(line);
        if (right == BLINK_NONE)
            break;
        line = blink_line(tree, level, right);
    }
    return length;
}

/* Reads the entries; returns how many the node will have. */
ORDO_FN uint inner_take(const blink_tree *tree, uint level, uint node, __private inner_tile *tile)
{
    __global ordo_key_form *line = blink_inner(tree, node);
    const uint              count = blink_count(line);
    uint                    all = 0;

    ORDO_UNROLL
    for (uint r = 0; r < LANE_WORDS; r++) {
        const uint slot = r * TEAM_WIDTH + team_lane();
        tile->chain[r] = 0;
        if (slot < count) {
            tile->key[r] = line[slot];
            tile->child[r] = blink_children(tree, node)[slot];
            tile->chain[r] =
                chain_length(tree, level - 1, tile->child[r], line[slot + 1 < count ? slot + 1 : BLINK_HIGH]);
        }
        const uint mine = slot < count ? tile->chain[r] + 1 : 0;
        tile->to[r] = all + team_scan_exclusive_add(mine);
        all += team_reduce_add(mine);
    }
    return all;
}

/* Entry p of an inner node's. The first key of a node is its low. */
ORDO_FN void split_put_entry(const blink_tree *tree, const node_split *split, uint p, ordo_key_form key, uint child)
{
    const split_place to = split_where(split, p);
    const uint        node = split_number(split, to.j);

    blink_inner(tree, node)[to.slot] = key;
    blink_children(tree, node)[to.slot] = child;
    if (to.slot == 0 && to.j > 0)
        split_border(tree, split, to.j - 1, key);
}

ORDO_FN void inner_put(const blink_tree *tree, uint count, const node_split *split, __private const inner_tile *tile)
{
    ORDO_UNROLL
    for (uint r = 0; r < LANE_WORDS; r++) {
        if (r * TEAM_WIDTH + team_lane() >= count)
            continue;
        uint child = tile->child[r];
        split_put_entry(tree, split, tile->to[r], tile->key[r], child);
        for (uint k = 1; k <= tile->chain[r]; k++) {
            child = *blink_right(blink_line(tree, split->level - 1, child));
            split_put_entry(tree, split, tile->to[r] + k, blink_line(tree, split->level - 1, child)[BLINK_LOW], child);
        }
    }
}

/* The node of `level` that covers a query: the whole team goes down together. Levels from `level` on are at rest. */
ORDO_FN uint blink_covering(const blink_tree *tree, uint level, ordo_key_form query)
{
    const uint root = tree->state[BLINK_ROOT];
    uint       node = blink_root_node(root);
    for (uint above = blink_root_level(root); above > level; above--)
        node = blink_children(tree, node)[blink_entry(blink_less(blink_inner(tree, node), query))];
    return node;
}

/* The nodes of `level` on its list take in what their children have split off. next: the list of the level above. */
ORDO_KERNEL(BLINK_GROUP)
void update_level(BLINK_TREE, uint level, __global const uint *list, __global uint *next)
{
    const blink_tree tree = BLINK_TREE_HERE;
    const uint       n = state[BLINK_DIRTY_NODES + level], top = blink_root_level(state[BLINK_ROOT]);

    for (uint i = BLINK_TEAM; i < n; i += BLINK_TEAMS) {
        const uint          node = list[i], count = blink_count(blink_inner(&tree, node));
        const ordo_key_form low = blink_inner(&tree, node)[BLINK_LOW];
        inner_tile          tile;
        const uint          all = inner_take(&tree, level, node, &tile);
        const node_split    split = split_begin(&tree, level, node, all);
        team_sync(); /* all lanes have read the node */
        inner_put(&tree, count, &split, &tile);
        split_frame(&tree, &split);
        if (split.nodes == 1 || level == top)
            continue;
        const uint parent = blink_covering(&tree, level + 1, low + 1);
        blink_mark_each(&tree, level + 1, parent, team_lane() == 0, next);
    }
}

/* ---- the root ---------------------------------------------------------------------------------------------------- */

/* One level more, over the chain that begins with the root. By one team. */
ORDO_FN uint root_grow(const blink_tree *tree, uint root)
{
    const uint level = blink_root_level(root), node = blink_root_node(root);
    const uint all = chain_length(tree, level, node, BLINK_UNUSED) + 1, nodes = blink_nodes_for(all);
    node_split split = { level + 1, 0, 0, nodes, all, share_among(all, nodes), BLINK_NONE, BLINK_UNUSED };

    if (team_lane() == 0)
        split.node = ordo_add(&tree->state[BLINK_INNER], nodes);
    split.node = team_bcast(split.node, 0);
    split.first_new = split.node + 1;
    if (team_lane() == 0) {
        uint child = node;
        for (uint p = 0; p < all; p++) {
            split_put_entry(tree, &split, p, blink_line(tree, level, child)[BLINK_LOW], child);
            child = *blink_right(blink_line(tree, level, child));
        }
        blink_inner(tree, split.node)[BLINK_LOW] = 0;
    }
    split_frame(tree, &split);
    return (level + 1) << BLINK_LEVEL_SHIFT | split.node;
}

/* Also makes the lists of dirty nodes empty again, and what a plan found. */
ORDO_KERNEL(BLINK_GROUP)
void update_root(BLINK_TREE)
{
    const blink_tree tree = BLINK_TREE_HERE;
    uint             root = state[BLINK_ROOT];

    if (BLINK_TEAM != 0)
        return;
    while (*blink_right(blink_line(&tree, blink_root_level(root), blink_root_node(root))) != BLINK_NONE) {
        root = root_grow(&tree, root);
        ordo_fence_device(); /* the lanes read what others have written */
        team_sync();
        ordo_fence_device();
    }
    if (team_lane() == 0) {
        state[BLINK_ROOT] = root;
        state[BLINK_GROUPS] = state[BLINK_WANTED] = state[BLINK_LARGEST] = 0;
    }
    for (uint level = team_lane(); level < BLINK_LEVELS_MAX; level += TEAM_WIDTH)
        state[BLINK_DIRTY_NODES + level] = 0;
}
