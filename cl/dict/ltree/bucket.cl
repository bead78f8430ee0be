/* SPDX-License-Identifier: Apache-2.0 */
/* Applies an unsorted batch with few updates per leaf.
 *
 *   bucket_updates   puts each update's index into its leaf's bucket
 *   update_heads     applies each bucket to its leaf */

/* All lanes of a sub-group must call updates_next and the functions after it. */
#pragma once
#include "dict/ltree/split.cl"

/* Updates arrive at a leaf in any order. The first one to arrive is the leaf's head. The others go to the leaf's
 * bucket. update_heads applies them in batch order.
 *
 *   leaf_counts[leaf]              number of keys, plus ARRIVAL for each update that has arrived
 *   bucket[leaf * slots + k - 1]   index of the k-th update after the head
 *
 * If a bucket overflows, state[LTREE_LARGEST] becomes positive, and the host sorts the batch instead. */
#define ARRIVAL          (LTREE_COUNT_MASK + 1)
#define ARRIVALS(counts) ((counts) / ARRIVAL)

/* The whole group must call. */
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

ORDO_KERNEL(LTREE_GROUP)
void bucket_updates(LTREE_TREE, __global const ordo_key *keys, ulong keys_at, uint n, uint erases, uint slots,
                    __global uint *bucket, __global uint *heads, __global uint *parents)
{
    __local uint     sum;
    const ltree_tree tree = LTREE_TREE_HERE;
    uint             wanted = 0, emptied = 0;

    for (ulong tile = get_group_id(0); tile * LTREE_TILE < n; tile += get_num_groups(0)) {
        const uint     first = (uint) tile * LTREE_TILE;
        ltree_path     path[TEAM_QUERIES];
        ltree_position position[LTREE_ITEMS] = { { 0, 0, 0 } };

        ltree_take_tile(&tree, keys + keys_at, n, first, path);
        ltree_own(path, position);
        for (uint r = 0; r < LTREE_ITEMS; r++) {
            const uint i = ltree_query_at(first, r), leaf = position[r].leaf;
            if (i >= n)
                continue;
            const uint counted = ordo_add(&leaf_counts[leaf], ARRIVAL), before = ARRIVALS(counted);
            heads[i] = before == 0 ? leaf : LTREE_NONE;
            parents[i] = position[r].parent;
            if (before > slots)
                ordo_max(&state[LTREE_LARGEST], before);
            else if (before > 0)
                bucket[(ulong) leaf * slots + before - 1] = i;
            const uint all = (counted & LTREE_COUNT_MASK) + before + 1;
            wanted += ltree_nodes_for(all) - ltree_nodes_for(all - 1);
            emptied += before + 1 == (counted & LTREE_COUNT_MASK);
        }
    }
    group_add(&state[LTREE_WANTED], &sum, wanted);
    /* No branch on `erases` around the barriers of group_add, which PoCL 6.0 miscompiles. */
    group_add(&state[LTREE_EMPTIED], &sum, erases ? emptied : 0);
}

/* A team holds a leaf in registers, in parts of LTREE_WORDS slots. A leaf that may overflow has two parts, any other
 * leaf has one. Lane l holds the slots l * LANE_SLOTS .. (l + 1) * LANE_SLOTS - 1 of each part. */
#define LANE_SLOTS (LTREE_WORDS / TEAM_WIDTH)
#define LEAF_PARTS 2
#if LTREE_SLOTS + 1 + LTREE_BUCKET_SLOTS > LEAF_PARTS * LTREE_WORDS
#error "a leaf and its updates must fit in the parts"
#endif
#if LTREE_WORDS / TEAM_WIDTH < 4
#error "a lane must have whole pieces"
#endif

ORDO_FN uint lane_slot(uint part, uint k)
{
    return part * LTREE_WORDS + team_lane() * LANE_SLOTS + k;
}

ORDO_FN uint lane_below(uint x)
{
    return TEAM_WIDTH > 1 ? team_shuffle_up(x, 1 % TEAM_WIDTH) : x;
}
ORDO_FN ulong lane_below64(ulong x)
{
    return TEAM_WIDTH > 1 ? team_shuffle_up64(x, 1 % TEAM_WIDTH) : x;
}
#if LTREE_WIDE
ORDO_FN ulong2 lane_below128(ulong2 x)
{
    return TEAM_WIDTH > 1 ? team_shuffle_up128(x, 1 % TEAM_WIDTH) : x;
}
#endif

ORDO_FN void piece_read(__global const uint *from, __private uint x[4])
{
    const uint4 piece = *(__global const uint4 *) from;
    x[0] = piece.x;
    x[1] = piece.y;
    x[2] = piece.z;
    x[3] = piece.w;
}
ORDO_FN void piece_read64(__global const ulong *from, __private ulong x[2])
{
    const ulong2 piece = *(__global const ulong2 *) from;
    x[0] = piece.x;
    x[1] = piece.y;
}
ORDO_FN void piece_write(__global uint *to, __private const uint x[4])
{
    *(__global uint4 *) to = (uint4) (x[0], x[1], x[2], x[3]);
}
ORDO_FN void piece_write64(__global ulong *to, __private const ulong x[2])
{
    *(__global ulong2 *) to = (ulong2) (x[0], x[1]);
}
#if LTREE_WIDE
ORDO_FN void piece_read128(__global const ulong2 *from, __private ulong2 x[1])
{
    x[0] = *from;
}
ORDO_FN void piece_write128(__global ulong2 *to, __private const ulong2 x[1])
{
    *to = x[0];
}
#endif

/* Functions on a column: a leaf's keys or values in a team's registers.
 *
 *   column_read    reads the slots below `count`, sets the others to `fill`
 *   column_write   writes the 16-byte pieces that contain slots first .. end - 1
 *   column_put     if `opens` is true, shifts the elements in slot `at` and all later slots by one slot;
 *                  if `puts` is true, stores x in slot `at`, and if `joins` is also true, combines x with the old value
 *   column_close   if `closes` is true, removes the element in slot `at`, and sets the last slot to `fill`
 *
 * `joined` is a macro that combines two values. `parts` must be a constant. All lanes of a sub-group must call
 * column_put and column_close. */
#if VALUE_COMBINES
#define COLUMN_JOINED(a, b) value_combine(a, b)
#else
#define COLUMN_JOINED(a, b) (b)
#endif
#define COLUMN_NEW(a, b) (b)
#define COLUMN_DEFINE(type, suffix, per_piece, joined)                                                                 \
    ORDO_FN void column_read##suffix(__private type *column, uint parts, __global const type *from, uint count,        \
                                     type fill)                                                                        \
    {                                                                                                                  \
        LANE_UNROLL                                                                                                    \
        for (uint k = 0; k < parts * LANE_SLOTS; k++)                                                                  \
            column[k] = fill;                                                                                          \
        LANE_UNROLL                                                                                                    \
        for (uint k = 0; k < LANE_SLOTS; k += per_piece)                                                               \
            if (lane_slot(0, k) < count)                                                                               \
                piece_read##suffix(from + lane_slot(0, k), column + k);                                                \
    }                                                                                                                  \
                                                                                                                       \
    ORDO_FN void column_write##suffix(__private const type *column, __global type *to, uint first, uint end)           \
    {                                                                                                                  \
        LANE_UNROLL                                                                                                    \
        for (uint k = 0; k < LANE_SLOTS; k += per_piece)                                                               \
            if (lane_slot(0, k) < end && lane_slot(0, k) + per_piece > first)                                          \
                piece_write##suffix(to + lane_slot(0, k), column + k);                                                 \
    }                                                                                                                  \
                                                                                                                       \
    ORDO_FN void column_put##suffix(__private type *column, uint parts, uint at, bool puts, bool opens, bool joins,    \
                                    type x)                                                                            \
    {                                                                                                                  \
        LANE_UNROLL                                                                                                    \
        for (uint part = parts; part-- > 0;) {                                                                         \
            __private type *mine = column + part * LANE_SLOTS;                                                         \
            type            below = lane_below##suffix(mine[LANE_SLOTS - 1]);                                          \
            if (part > 0) {                                                                                            \
                const type last = team_bcast##suffix(column[part * LANE_SLOTS - 1], TEAM_WIDTH - 1);                   \
                below = team_lane() == 0 ? last : below;                                                               \
            }                                                                                                          \
            LANE_UNROLL                                                                                                \
            for (uint k = LANE_SLOTS; k-- > 0;) {                                                                      \
                const uint slot = lane_slot(part, k);                                                                  \
                const type lower = k > 0 ? mine[k > 0 ? k - 1 : 0] : below;                                            \
                const type put = joins ? (type) joined(mine[k], x) : x;                                                \
                mine[k] = puts && slot == at ? put : opens && slot > at ? lower : mine[k];                             \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    ORDO_FN void column_close##suffix(__private type *column, uint parts, uint at, bool closes, type fill)             \
    {                                                                                                                  \
        LANE_UNROLL                                                                                                    \
        for (uint part = 0; part < parts; part++) {                                                                    \
            __private type *mine = column + part * LANE_SLOTS;                                                         \
            type            above = team_shuffle##suffix(mine[0], (team_lane() + 1) % TEAM_WIDTH);                     \
            const type      next =                                                                                     \
                part + 1 < parts ? team_bcast##suffix(column[(part + 1) % LEAF_PARTS * LANE_SLOTS], 0) : fill;    \
            above = team_lane() == TEAM_WIDTH - 1 ? next : above;                                                      \
            LANE_UNROLL                                                                                                \
            for (uint k = 0; k < LANE_SLOTS; k++) {                                                                    \
                const type upper = k + 1 < LANE_SLOTS ? mine[(k + 1) % LANE_SLOTS] : above;                            \
                mine[k] = closes && lane_slot(part, k) >= at ? upper : mine[k];                                        \
            }                                                                                                          \
        }                                                                                                              \
    }

COLUMN_DEFINE(uint, , 4, COLUMN_JOINED)
COLUMN_DEFINE(ulong, 64, 2, COLUMN_JOINED)
#if LTREE_WIDE
COLUMN_DEFINE(ulong2, 128, 1, COLUMN_NEW)
#endif

typedef struct {
    uint leaf, count, updates, head, parent;
} leaf_work;

/* Unused slots hold LTREE_UNUSED. `changed` is the first slot that may differ from the leaf in memory. */
typedef struct {
    ordo_key_form key[LEAF_PARTS * LANE_SLOTS];
#if ORDO_VALUE_BYTES
    ltree_value value[LEAF_PARTS * LANE_SLOTS];
#endif
    uint count, changed;
} held_leaf;

ORDO_FN void held_read(const ltree_tree *tree, leaf_work work, uint parts, __private held_leaf *held)
{
    held->count = work.count;
    held->changed = LEAF_PARTS * LTREE_WORDS;
    OF_KEYS(column_read)(held->key, parts, ltree_leaf(tree, work.leaf), work.count, LTREE_UNUSED);
#if ORDO_VALUE_BYTES
    OF_VALUES(column_read)(held->value, parts, ltree_values(tree, work.leaf), work.count, 0);
#endif
}

ORDO_FN void held_write(const ltree_tree *tree, leaf_work work, __private const held_leaf *held)
{
    const uint end = max(work.count, held->count);

    OF_KEYS(column_write)(held->key, ltree_leaf(tree, work.leaf), held->changed, end);
#if ORDO_VALUE_BYTES
    OF_VALUES(column_write)(held->value, ltree_values(tree, work.leaf), held->changed, end);
#endif
    if (team_lane() == 0)
        *ltree_header(ltree_leaf(tree, work.leaf)) = tree->leaf_counts[work.leaf] = held->count;
}

typedef struct {
    __global const ordo_key    *keys;
    __global const ltree_value *values;
    __global const uchar       *erased;
    uint                        all_erased, slots;
    __global const uint        *bucket;
} bucket_batch;

#define LANE_UPDATES ((LTREE_BUCKET_SLOTS + TEAM_WIDTH) / TEAM_WIDTH)

typedef struct {
    uint          index[LANE_UPDATES];
    ordo_key_form key[LANE_UPDATES];
    ltree_value   value[LANE_UPDATES];
    bool          erases[LANE_UPDATES];
} held_updates;

ORDO_FN void updates_read(const bucket_batch *batch, leaf_work work, __private held_updates *u)
{
    LANE_UNROLL
    for (uint e = 0; e < LANE_UPDATES; e++) {
        const uint j = e * TEAM_WIDTH + team_lane();
        u->index[e] = LTREE_NONE;
        u->key[e] = KEY_LEAST;
        u->value[e] = 0;
        u->erases[e] = false;
        if (j >= work.updates)
            continue;
        const uint i = j == 0 ? work.head : batch->bucket[(ulong) work.leaf * batch->slots + j - 1];
        u->index[e] = i;
        u->key[e] = key_bits(batch->keys[i]);
        u->erases[e] = batch->all_erased || (batch->erased && batch->erased[i]);
        if (HAS_VALUES && !u->erases[e])
            u->value[e] = batch->values[i];
    }
}

typedef struct {
    bool          any, erases;
    ordo_key_form key;
    ltree_value   value;
} one_update;

/* Removes the update with the least batch index from *u. Returns it to all lanes. */
ORDO_FN one_update updates_next(__private held_updates *u)
{
    uint          least = LTREE_NONE;
    ordo_key_form key = KEY_LEAST;
    ltree_value   value = 0;
    bool          erases = false;

    LANE_UNROLL
    for (uint e = 0; e < LANE_UPDATES; e++) {
        const bool less = u->index[e] < least;
        least = less ? u->index[e] : least;
        key = less ? u->key[e] : key;
        value = less ? u->value[e] : value;
        erases = less ? u->erases[e] : erases;
    }
    const uint      next = ~team_reduce_max(~least);
    const team_mask lanes = team_ballot(least == next && least != LTREE_NONE);
    const uint      lane = lanes ? first_lane(lanes) : 0;
    LANE_UNROLL
    for (uint e = 0; e < LANE_UPDATES; e++)
        u->index[e] = u->index[e] == next ? LTREE_NONE : u->index[e];
    one_update one = { lanes != 0, team_bcast(erases, lane), OF_KEYS(team_bcast)(key, lane), 0 };
#if ORDO_VALUE_BYTES
    one.value = OF_VALUES(team_bcast)(value, lane);
#endif
    return one;
}

ORDO_FN void held_update(__private held_leaf *held, uint parts, one_update u, bool may_erase)
{
    uint count = 0;
    LANE_UNROLL
    for (uint k = 0; k < parts * LANE_SLOTS; k++) {
        const bool used = lane_slot(k / LANE_SLOTS, k % LANE_SLOTS) < held->count;
        count += ltree_count_key(held->key[k], u.key, used);
    }
    count = team_reduce_add(count);
    const uint at = COUNT_LESS(count);
    const bool hit = count >= COUNT_EQUAL, puts = u.any && !u.erases, opens = puts && !hit;
    const bool closes = u.any && u.erases && hit;

    OF_KEYS(column_put)(held->key, parts, at, puts, opens, false, u.key);
#if ORDO_VALUE_BYTES
    OF_VALUES(column_put)(held->value, parts, at, puts, opens, VALUE_COMBINES && hit, u.value);
#endif
    if (may_erase) {
        OF_KEYS(column_close)(held->key, parts, at, closes, LTREE_UNUSED);
#if ORDO_VALUE_BYTES
        OF_VALUES(column_close)(held->value, parts, at, closes, 0);
#endif
    }
    held->count = held->count + opens - closes;
    held->changed = puts || closes ? min(held->changed, at) : held->changed;
}

ORDO_FN void held_take(const ltree_tree *tree, const bucket_batch *batch, leaf_work work, uint parts,
                       __private held_leaf *held)
{
    const bool   may_erase = batch->all_erased || batch->erased;
    held_updates updates;

    updates_read(batch, work, &updates);
    held_read(tree, work, parts, held);
    for (uint u = 0; subgroup_any(u < work.updates); u++)
        held_update(held, parts, updates_next(&updates), may_erase);
}

typedef struct {
    uint leaves, parents, first_leaf, first_parent;
} group_share;

/* Allocates leaves, and places in the list of inner nodes with new children. Returns the work-item's first leaf and
 * first place. The whole group must call. */
ORDO_FN uint2 group_take(const ltree_tree *tree, __local group_share *share, uint leaves, uint parents)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        share->leaves = share->parents = share->first_leaf = share->first_parent = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint leaf = leaves ? ordo_local_add(&share->leaves, leaves) : 0;
    const uint parent = parents ? ordo_local_add(&share->parents, parents) : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0 && share->leaves)
        share->first_leaf = ordo_add(&tree->state[LTREE_LEAVES], share->leaves);
    if (get_local_id(0) == 0 && share->parents)
        share->first_parent = ordo_add(&tree->state[LTREE_DIRTY_NODES + 1], share->parents);
    barrier(CLK_LOCAL_MEM_FENCE);
    return (uint2) (share->first_leaf + leaf, share->first_parent + parent);
}

ORDO_FN void held_split(const ltree_tree *tree, const node_split *split, __private const held_leaf *held)
{
    LANE_UNROLL
    for (uint k = 0; k < LEAF_PARTS * LANE_SLOTS; k++) {
        const uint p = lane_slot(k / LANE_SLOTS, k % LANE_SLOTS);
#if ORDO_VALUE_BYTES
        const ltree_value value = held->value[k];
#else
        const ltree_value value = 0;
#endif
        if (p < held->count)
            split_put_element(tree, split, p, held->key[k], value);
    }
    split_frame(tree, split);
}

/* `has` is false for a team without a leaf. Lane 0 returns the change of the leaf's number of elements, the other lanes
 * 0. */
ORDO_FN uint bucket_take_large(const ltree_tree *tree, const bucket_batch *batch, leaf_work work, bool has,
                               __local group_share *share, __global uint *dirty)
{
    held_leaf held;

    held_take(tree, batch, work, LEAF_PARTS, &held);
    node_split  split = split_plan(tree, 0, has ? work.leaf : LTREE_NONE, held.count);
    const bool  splits = split.nodes > 1 && team_lane() == 0;
    const bool  marks = splits && work.parent != LTREE_NONE && ltree_is_fresh(tree, work.parent);
    const uint2 from = group_take(tree, share, team_lane() == 0 ? max(split.nodes, 1u) - 1 : 0, marks);
    split.first_new = team_bcast(from.x, 0);
    if (has)
        held_split(tree, &split, &held);
    if (marks)
        dirty[from.y] = work.parent;
    return has && team_lane() == 0 ? held.count - work.count : 0;
}

ORDO_FN leaf_work work_of(const ltree_tree *tree, __global const uint *heads, uint i, bool has, bool refused)
{
    leaf_work work = { LTREE_NONE, 0, 0, i, LTREE_NONE };
    if (has)
        work.leaf = heads[i];
    if (work.leaf == LTREE_NONE || refused)
        return work;
    const uint counted = tree->leaf_counts[work.leaf];
    work.count = counted & LTREE_COUNT_MASK;
    work.updates = ARRIVALS(counted);
    return work;
}

ORDO_FN leaf_work work_bcast(leaf_work mine, uint lane, bool has)
{
    leaf_work work = { team_bcast(mine.leaf, lane), team_bcast(mine.count, lane), team_bcast(mine.updates, lane),
                       team_bcast(mine.head, lane), LTREE_NONE };
    work.count = has ? work.count : 0;
    work.updates = has ? work.updates : 0;
    return work;
}

/* Does nothing if a bucket has overflowed or the leaves may need more than `room` new leaves. `spread` work-items share
 * a head: a power of two of at most TEAM_WIDTH. */
ORDO_KERNEL(LTREE_GROUP)
void update_heads(LTREE_TREE, uint n, uint room, uint spread, uint slots, __global const uint *bucket,
                  __global const uint *heads, __global const uint *parents, __global const ordo_key *keys,
                  ulong keys_at, __global const ltree_value *values, ulong values_at, __global const uchar *erased,
                  ulong erased_at, uint all_erased, __global uint *dirty)
{
    __local leaf_work   large[LTREE_GROUP];
    __local uint        n_large, sum;
    __local group_share share;
    const ltree_tree    tree = LTREE_TREE_HERE;
    const bucket_batch  batch = { keys + keys_at,
                                  values + values_at,
                                  LTREE_ERASED(erased ? erased + erased_at : erased),
                                  LTREE_ERASED(all_erased),
                                  slots,
                                  bucket };
    const bool          refused = state[LTREE_LARGEST] > 0 || state[LTREE_WANTED] > room;
    const uint          tile = LTREE_GROUP / spread;
    uint                more = 0;

    for (ulong first = get_group_id(0) * (ulong) tile; first < n; first += get_num_groups(0) * (ulong) tile) {
        if (get_local_id(0) == 0)
            n_large = 0;
        barrier(CLK_LOCAL_MEM_FENCE);

        const uint      i = (uint) first + (uint) get_local_id(0) / spread;
        const leaf_work mine = work_of(&tree, heads, i, get_local_id(0) % spread == 0 && i < n, refused);
        const bool      is_large = mine.count + mine.updates > LTREE_SLOTS;
        if (is_large)
            large[ordo_local_add(&n_large, 1)] = mine;
        TEAM_FOR_EACH (owner, mine.updates > 0 && !is_large) {
            const bool      has = owner < TEAM_WIDTH;
            const leaf_work work = work_bcast(mine, owner, has);
            held_leaf       held;
            held_take(&tree, &batch, work, 1, &held);
            if (has)
                held_write(&tree, work, &held);
            more += team_lane() == owner ? held.count - work.count : 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        for (uint next = 0; next < n_large; next += LTREE_GROUP / TEAM_WIDTH) {
            const uint at = next + team_index();
            const bool has = at < n_large;
            leaf_work  work = { 0, 0, 0, 0, LTREE_NONE };
            if (has) {
                work = large[at];
                work.parent = parents[work.head];
            }
            more += bucket_take_large(&tree, &batch, work, has, &share, dirty);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    group_add(&state[LTREE_ELEMENTS], &sum, more);
}
