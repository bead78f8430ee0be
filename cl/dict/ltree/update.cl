/* SPDX-License-Identifier: Apache-2.0 */
/* Applies a sorted batch. A group is all updates of one leaf. Takes no latches, because no two teams change the same
 * leaf in a launch. */
#pragma once
#include "dict/ltree/split.cl"

/* Built together: group_flags group_first group_plan group_effects group_split */

ORDO_KERNEL(RUN_GROUP)
void group_flags(__global const uint *leaves, uint n, __global uint *number)
{
    RUN_EACH (uint, i, n)
        number[i] = i == 0 || leaves[i] != leaves[i - 1];
}

/* first[g] becomes the index of group g's first update. The word after the last group becomes n. `number` must hold the
 * inclusive prefix sums of group_flags' flags. */
ORDO_KERNEL(RUN_GROUP)
void group_first(__global const uint *number, uint n, __global uint *first, __global uint *state)
{
    RUN_EACH (uint, i, n) {
        if (i == 0 || number[i] != number[i - 1])
            first[number[i] - 1] = i;
        if (i == n - 1) {
            first[number[i]] = n;
            state[LTREE_GROUPS] = number[i];
            state[LTREE_WANTED] = state[LTREE_LARGEST] = 0;
        }
    }
}

ORDO_KERNEL(RUN_GROUP)
void group_plan(LTREE_TREE, __global const uint *leaves, __global const uint *first, uint erases)
{
    const ltree_tree tree = LTREE_TREE_HERE;
    uint             wanted = 0, largest = 0, emptied = 0;

    RUN_EACH (uint, g, state[LTREE_GROUPS]) {
        const uint updates = first[g + 1] - first[g], count = ltree_count(ltree_leaf(&tree, leaves[first[g]]));
        wanted += ltree_nodes_for(count + updates) - 1;
        largest = max(largest, updates);
        emptied += erases && count > 0 && updates >= count;
    }
    if (wanted)
        ordo_add(&state[LTREE_WANTED], wanted);
    if (largest)
        ordo_max(&state[LTREE_LARGEST], largest);
    if (emptied)
        ordo_add(&state[LTREE_EMPTIED], emptied);
}

/* A sorted batch. If a key has several updates, only the last has an effect; with COMBINE_OP, it combines all values of
 * the key. */
typedef struct {
    __global const ordo_key    *keys;
    __global const ltree_value *values;
    __global const uchar       *erased;
    __global const uint        *positions;
    uint                        n, all_erased;
} leaf_batch;

/* flags[j] becomes 0 if update j has no effect: if it is not its key's last update, or erases an absent key. Otherwise
 * it becomes 1. flags[n] becomes 0. */
ORDO_KERNEL(RUN_GROUP)
void group_effects(__global const ordo_key *keys, ulong keys_at, __global const uchar *erased, ulong erased_at,
                   __global const uint *positions, uint n, uint all_erased, __global uint *flags)
{
    RUN_EACH (uint, j, n + 1) {
        const bool last = j < n && (j + 1 == n || !key_same(keys[keys_at + j], keys[keys_at + j + 1]));
        const bool erases = last && (all_erased || (erased && erased[erased_at + j]));
        flags[j] = last && (!erases || (positions[j] & PLACE_HIT));
    }
}

/* The sorted updates are divided into blocks of `most` updates. Returns the index of the last update in block k. */
#define BORDER(k, most) (((k) + 1) * (most) -1)

ORDO_FN uint group_splits(__global const uint *leaves, uint n, uint most, uint k)
{
    const uint leaf = leaves[BORDER(k, most)];
    uint       end = k;

    while (end < n / most && BORDER(end, most) + 1 < n && leaves[BORDER(end, most) + 1] == leaf)
        end++;
    return end - k;
}

ORDO_FN void leaf_write(const ltree_tree *tree, uint leaf, uint source, uint from, uint to, uint right,
                        ordo_key_form high)
{
    __global ordo_key_form *line = ltree_leaf(tree, leaf);

    for (uint slot = 0; slot < LTREE_SLOTS; slot++) {
        const uint its = from + slot;
        line[slot] = its < to ? ltree_leaf(tree, source)[its] : LTREE_UNUSED;
        if (HAS_VALUES && its < to)
            ltree_values(tree, leaf)[slot] = ltree_values(tree, source)[its];
    }
    line[LTREE_RIGHT] = LTREE_WORD(right);
    line[LTREE_HEADER] = LTREE_WORD(tree->leaf_counts[leaf] = to - from);
    line[LTREE_HIGH] = high;
}

ORDO_FN void leaf_split_at(const ltree_tree *tree, uint leaf, __global const ordo_key *keys, uint k, uint splits,
                           uint most)
{
    __global ordo_key_form *line = ltree_leaf(tree, leaf);
    const uint              first = ordo_add(&tree->state[LTREE_LEAVES], splits);
    uint                    right = *ltree_right(line), to = ltree_count(line);
    ordo_key_form           high = line[LTREE_HIGH];

    for (uint s = splits; s-- > 0;) {
        const ordo_key_form low = key_bits(keys[BORDER(k + s, most)]);
        uint                from = to;
        for (uint slot = to; slot-- > 0 && key_before(low, line[slot]);)
            from = slot;
        leaf_write(tree, first + s, leaf, from, to, right, high);
        ltree_leaf(tree, first + s)[LTREE_LOW] = low;
        right = first + s;
        high = low;
        to = from;
    }
    leaf_write(tree, leaf, leaf, 0, to, right, high);
}

/* Splits each leaf that has updates in more than one block of `most` updates. Keys must be distinct. Appends the
 * parents of split leaves to `dirty`. */
ORDO_KERNEL(RUN_GROUP)
void group_split(LTREE_TREE, __global const uint *leaves, __global const uint *parents, __global const ordo_key *keys,
                 ulong keys_at, uint n, uint most, __global uint *dirty)
{
    const ltree_tree tree = LTREE_TREE_HERE;

    RUN_EACH (uint, k, n / most) {
        const uint leaf = leaves[BORDER(k, most)], parent = parents[BORDER(k, most)];
        if (k > 0 && leaves[BORDER(k - 1, most)] == leaf)
            continue;
        const uint splits = group_splits(leaves, n, most, k);
        if (splits == 0)
            continue;
        leaf_split_at(&tree, leaf, keys + keys_at, k, splits, most);
        if (parent != LTREE_NONE && ltree_is_fresh(&tree, parent))
            dirty[ordo_add(&state[LTREE_DIRTY_NODES + 1], 1)] = parent;
    }
}

typedef struct {
    uint first, count;
} leaf_share;

typedef struct {
    uint index, slot;
    bool hit, stores, removes;
} leaf_update;

typedef struct {
    uint stores, removes;
} leaf_change;

ORDO_FN leaf_update share_update(const leaf_batch *batch, leaf_share share, uint t)
{
    leaf_update u = { share.first + t, 0, false, false, false };
    if (t >= share.count)
        return u;
    const uint i = u.index, position = batch->positions[i];
    const bool counts = i + 1 == batch->n || !key_same(batch->keys[i + 1], batch->keys[i]);
    const bool erases = batch->all_erased || (batch->erased && batch->erased[i]);
    u.slot = position & PLACE_SLOT;
    u.hit = (position & PLACE_HIT) != 0;
    u.stores = counts && !erases;
    u.removes = counts && u.hit;
    return u;
}

ORDO_FN ltree_value share_value(const leaf_batch *batch, leaf_share share, leaf_update u)
{
#if ORDO_VALUE_BYTES
    ltree_value value = batch->values[u.index];
#if VALUE_COMBINES
    for (uint i = u.index; i > share.first && key_same(batch->keys[i - 1], batch->keys[u.index]); i--)
        value = value_combine(batch->values[i - 1], value);
#endif
    return value;
#else
    return 0;
#endif
}

ORDO_FN void split_put_update(const ltree_tree *tree, const leaf_batch *batch, leaf_update u, const node_split *split,
                              uint p, ltree_value value)
{
    split_put_element(tree, split, p, key_bits(batch->keys[u.index]), value);
}

#if TEAM_WIDTH == 1

typedef struct {
    ordo_key_form key[LTREE_SLOTS];
    ltree_value   value[LTREE_SLOTS];
} leaf_copy;

ORDO_FN void copy_take(const ltree_tree *tree, uint leaf, __private leaf_copy *copy)
{
    for (uint slot = 0; slot < LTREE_SLOTS; slot++)
        copy->key[slot] = ltree_leaf(tree, leaf)[slot];
    if (HAS_VALUES)
        for (uint slot = 0; slot < LTREE_SLOTS; slot++)
            copy->value[slot] = ltree_values(tree, leaf)[slot];
}

ORDO_FN void split_put_copy(const ltree_tree *tree, const node_split *split, __private const leaf_copy *copy, uint from,
                            uint to, uint p)
{
    if (split->nodes == 1 && p == from)
        return;
    for (uint slot = from; slot < to; slot++) {
        const ltree_value value = HAS_VALUES ? copy->value[slot] : 0;
        split_put_element(tree, split, p + slot - from, copy->key[slot], value);
    }
}

ORDO_FN uint leaf_take(const ltree_tree *tree, uint leaf, const leaf_batch *batch, leaf_share share,
                       __private node_split *split)
{
    const uint count = ltree_count(ltree_leaf(tree, leaf));
    uint       more = 0, from = 0, p = 0;
    leaf_copy  copy;

    copy_take(tree, leaf, &copy);
    for (uint t = 0; t < share.count; t++) {
        const leaf_update u = share_update(batch, share, t);
        more += (uint) u.stores - (uint) u.removes;
    }
    *split = split_begin(tree, 0, leaf, count + more);
    for (uint t = 0; t < share.count; t++) {
        const leaf_update u = share_update(batch, share, t);
        if (!u.stores && !u.removes)
            continue;
        split_put_copy(tree, split, &copy, from, u.slot, p);
        p += u.slot - from;
        from = u.slot + u.removes;
        if (u.stores) {
            ltree_value value = share_value(batch, share, u);
#if VALUE_COMBINES
            value = u.hit ? value_combine(copy.value[u.slot], value) : value;
#endif
            split_put_update(tree, batch, u, split, p++, value);
        }
    }
    split_put_copy(tree, split, &copy, from, count, p);
    split_frame(tree, split);
    return more;
}

#endif
#if TEAM_WIDTH > 1

/* The words of a leaf that a lane holds: word x is in lane x % TEAM_WIDTH. */
typedef struct {
    ordo_key_form key[LANE_WORDS];
    ltree_value   value[LANE_WORDS];
    uint          to[LANE_WORDS];
    bool          kept[LANE_WORDS];
} leaf_tile;

ORDO_FN void tile_take(const ltree_tree *tree, uint leaf, uint count, __private leaf_tile *tile)
{
    LANE_UNROLL
    for (uint r = 0; r < LANE_WORDS; r++) {
        const uint slot = r * TEAM_WIDTH + team_lane();
        tile->to[r] = slot;
        tile->kept[r] = slot < count;
        if (slot < count) {
            tile->key[r] = ltree_leaf(tree, leaf)[slot];
            if (HAS_VALUES)
                tile->value[r] = ltree_values(tree, leaf)[slot];
        }
    }
}

ORDO_FN void tile_move(__private leaf_tile *tile, uint slot, bool hit, bool stores, bool removes)
{
    LANE_UNROLL
    for (uint r = 0; r < LANE_WORDS; r++) {
        const uint mine = r * TEAM_WIDTH + team_lane();
        tile->to[r] += stores && slot + hit <= mine;
        tile->to[r] -= removes && slot < mine;
        tile->kept[r] = tile->kept[r] && !(removes && slot == mine);
    }
}

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

#if VALUE_COMBINES
ORDO_FN ltree_value tile_value(__private const leaf_tile *tile, uint slot)
{
    ltree_value value = 0;

    LANE_UNROLL
    for (uint r = 0; r < LANE_WORDS; r++) {
        const ltree_value its = OF_VALUES(team_shuffle)(tile->value[r], slot % TEAM_WIDTH);
        value = slot / TEAM_WIDTH == r ? its : value;
    }
    return value;
}
#endif

/* Writes each lane's update `u` to the leaves of a split. `tile` holds the old leaf. *before must count the stores and
 * removals of all earlier calls. Afterwards, it also counts the stores and removals of this call. */
ORDO_FN void split_put_updates(const ltree_tree *tree, const leaf_batch *batch, leaf_share share,
                               __private const leaf_tile *tile, leaf_update u, const node_split *split,
                               __private leaf_change *before)
{
    const team_mask stores = team_ballot(u.stores), removes = team_ballot(u.removes);
#if VALUE_COMBINES
    const ltree_value was = tile_value(tile, u.slot);
#endif

    if (u.stores) {
        ltree_value value = share_value(batch, share, u);
#if VALUE_COMBINES
        value = u.hit ? value_combine(was, value) : value;
#endif
        split_put_update(tree, batch, u, split,
                         u.slot + before->stores + mask_count(stores & team_lanes_below()) -
                             (before->removes + mask_count(removes & team_lanes_below())),
                         value);
    }
    before->stores += mask_count(stores);
    before->removes += mask_count(removes);
}

ORDO_FN void split_put_tile(const ltree_tree *tree, const node_split *split, __private const leaf_tile *tile)
{
    LANE_UNROLL
    for (uint r = 0; r < LANE_WORDS; r++) {
        const ltree_value value = HAS_VALUES ? tile->value[r] : 0;
        if (tile->kept[r])
            split_put_element(tree, split, tile->to[r], tile->key[r], value);
    }
}

ORDO_FN uint leaf_take(const ltree_tree *tree, uint leaf, const leaf_batch *batch, leaf_share share,
                       __private node_split *split)
{
    const uint count = ltree_count(ltree_leaf(tree, leaf));
    leaf_tile  tile;

    tile_take(tree, leaf, count, &tile);
    leaf_change change = { 0, 0 }, before = { 0, 0 };
    for (uint base = 0; base < share.count; base += TEAM_WIDTH)
        tile_update(&tile, share_update(batch, share, base + team_lane()), &change);
    *split = split_begin(tree, 0, leaf, count + change.stores - change.removes);
    team_sync_global();
    split_put_tile(tree, split, &tile);
    for (uint base = 0; base < share.count; base += TEAM_WIDTH)
        split_put_updates(tree, batch, share, &tile, share_update(batch, share, base + team_lane()), split, &before);
    split_frame(tree, split);
    return change.stores - change.removes;
}

#endif

#define LINE_VALUES ((uint) (64 / sizeof(ltree_value)))

ORDO_FN void leaf_prefetch(const ltree_tree *tree, uint leaf)
{
    for (uint slot = 0; slot < LTREE_WORDS; slot += 512 / KEY_BITS)
        ORDO_PREFETCH(ltree_leaf(tree, leaf) + slot);
    if (HAS_VALUES)
        for (uint slot = 0; slot < LTREE_SLOTS; slot += LINE_VALUES)
            ORDO_PREFETCH(ltree_values(tree, leaf) + slot);
}

#define LEAVES_AHEAD 8

ORDO_KERNEL(LTREE_GROUP)
void update_leaves(LTREE_TREE, __global const uint *leaves, __global const uint *parents, __global const uint *first,
                   __global const ordo_key *keys, ulong keys_at, __global const ltree_value *values, ulong values_at,
                   __global const uchar *erased, ulong erased_at, __global const uint *positions, uint n,
                   uint all_erased, __global uint *dirty)
{
    const ltree_tree tree = LTREE_TREE_HERE;
    const leaf_batch batch = {
        keys + keys_at,          values + values_at, LTREE_ERASED(erased ? erased + erased_at : erased), positions, n,
        LTREE_ERASED(all_erased)
    };
    const uint groups = state[LTREE_GROUPS];
    uint       more = 0;

    LTREE_SHARE(g, groups)
    {
        const leaf_share share = { first[g], first[g + 1] - first[g] };
        node_split       split;
#if ORDO_CPU
        if (g + LEAVES_AHEAD < groups)
            leaf_prefetch(&tree, leaves[first[g + LEAVES_AHEAD]]);
#endif
        more += leaf_take(&tree, leaves[first[g]], &batch, share, &split);
        const uint parent = parents[first[g]];
        ltree_mark_each(&tree, 1, parent, team_lane() == 0 && split.nodes > 1 && parent != LTREE_NONE, dirty);
    }
    if (team_lane() == 0 && more)
        ordo_add(&state[LTREE_ELEMENTS], more);
}
