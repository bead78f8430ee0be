/* SPDX-License-Identifier: Apache-2.0 */
/* Batches into a linked tree, without latches: a node is changed by one team, once a launch.
 *
 *   group_flags, group_first   groups of a sorted batch's updates that fall into one leaf
 *   group_plan                 how many new leaves the batch may need: nothing is changed yet
 *   group_effects              which updates do anything
 *   group_split                leaves split at keys of the batch, ahead of the updates: where very many fall into one
 *   leaf
 *   update_leaves              each leaf takes its group, and splits into as many as it needs
 *   update_level               parents, of which a list was kept, take in what their children have split off
 *   update_top                 the same of all levels from one on, then new levels above a root that has split
 *   list_root, list_below      all nodes of a level, as such a list: where it is not known who has split
 *
 * What a child has split off is found by its links: from the child to the right, up to where the parent's next entry
 * begins (B4). So no list of new nodes is kept, and no order among them.
 *
 * LINKS_TEAM kernels: a team is a whole sub-group; a node's words lie across its lanes, word x in lane x % TEAM_WIDTH.
 */
#pragma once
#include "dict/links/split.cl"

/* Built together: group_flags group_first group_plan group_effects group_split */

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
            state[LINKS_GROUPS] = number[i];
            state[LINKS_WANTED] = state[LINKS_LARGEST] = 0;
        }
    }
}

ORDO_KERNEL(RUN_GROUP)
void group_plan(LINKS_TREE, __global const uint *leaves, __global const uint *first)
{
    const links_tree tree = LINKS_TREE_HERE;
    uint             wanted = 0, largest = 0;

    RUN_EACH (uint, g, state[LINKS_GROUPS]) {
        const uint updates = first[g + 1] - first[g];
        wanted += links_nodes_for(links_count(links_leaf(&tree, leaves[first[g]])) + updates) - 1;
        largest = max(largest, updates);
    }
    if (wanted)
        ordo_add(&state[LINKS_WANTED], wanted);
    if (largest)
        ordo_max(&state[LINKS_LARGEST], largest);
}

/* ---- leaves ------------------------------------------------------------------------------------------------------ */

/* The batch, sorted: of equal keys the last counts. */
typedef struct {
    __global const ordo_key    *keys;
    __global const links_value *values;
    __global const uchar       *erased; /* NULL: all are stored, or, with all_erased, none */
    __global const uint        *positions;
    uint                        n, all_erased;
} leaf_batch;

/* flags[j] = whether update j does anything: it is the last of its key, and no erase of what is not there. Of n: 0. */
ORDO_KERNEL(RUN_GROUP)
void group_effects(__global const ordo_key *keys, ulong keys_at, __global const uchar *erased, ulong erased_at,
                   __global const uint *positions, uint n, uint all_erased, __global uint *flags)
{
    RUN_EACH (uint, j, n + 1) {
        const bool last = j < n && (j + 1 == n || keys[keys_at + j] != keys[keys_at + j + 1]);
        const bool erases = last && (all_erased || (erased && erased[erased_at + j]));
        flags[j] = last && (!erases || (positions[j] & PLACE_HIT));
    }
}

/* ---- leaves that split ahead of the updates ---------------------------------------------------------------------- */

/* A leaf that was split off covers keys up to the last one of `most` updates of the batch, inclusive. */
#define BORDER(k, most) (((k) + 1) * (most) -1)

/* How many borders from border k on split its leaf: those whose next update falls into the leaf, too. */
ORDO_FN uint group_splits(__global const uint *leaves, uint n, uint most, uint k)
{
    const uint leaf = leaves[BORDER(k, most)];
    uint       end = k;

    while (end < n / most && BORDER(end, most) + 1 < n && leaves[BORDER(end, most) + 1] == leaf)
        end++;
    return end - k;
}

/* Writes all words of a leaf: the elements from .. to - 1 of leaf `source`, which may be the same. */
ORDO_FN void leaf_write(const links_tree *tree, uint leaf, uint source, uint from, uint to, uint right,
                        ordo_key_form high)
{
    __global ordo_key_form *line = links_leaf(tree, leaf);

    for (uint slot = 0; slot < LINKS_SLOTS; slot++) {
        const uint its = from + slot;
        line[slot] = its < to ? links_leaf(tree, source)[its] : LINKS_UNUSED;
#if ORDO_VALUE_BYTES
        if (its < to)
            links_values(tree, leaf)[slot] = links_values(tree, source)[its];
#endif
    }
    line[LINKS_RIGHT] = right;
    line[LINKS_HEADER] = tree->leaf_counts[leaf] = to - from;
    line[LINKS_HIGH] = high;
}

/* Splits `leaf` at borders k .. k + splits - 1 of the batch, the last first. */
ORDO_FN void leaf_split_at(const links_tree *tree, uint leaf, __global const ordo_key *keys, uint k, uint splits,
                           uint most)
{
    __global ordo_key_form *line = links_leaf(tree, leaf);
    const uint              first = ordo_add(&tree->state[LINKS_LEAVES], splits);
    uint                    right = *links_right(line), to = links_count(line);
    ordo_key_form           high = line[LINKS_HIGH];

    for (uint s = splits; s-- > 0;) {
        const ordo_key_form low = key_bits(keys[BORDER(k + s, most)]);
        uint                from = to;
        for (uint slot = to; slot-- > 0 && line[slot] > low;)
            from = slot;
        leaf_write(tree, first + s, leaf, from, to, right, high);
        links_leaf(tree, first + s)[LINKS_LOW] = low;
        right = first + s;
        high = low;
        to = from;
    }
    leaf_write(tree, leaf, leaf, 0, to, right, high);
}

/* The keys of the batch are all distinct. Each `most`-th update is a border at which its leaf splits, if the next
 * update falls into the leaf, too. The first border of a leaf stands for all of them. dirty: the list of level 1. */
ORDO_KERNEL(RUN_GROUP)
void group_split(LINKS_TREE, __global const uint *leaves, __global const uint *parents, __global const ordo_key *keys,
                 ulong keys_at, uint n, uint most, __global uint *dirty)
{
    const links_tree tree = LINKS_TREE_HERE;

    RUN_EACH (uint, k, n / most) {
        const uint leaf = leaves[BORDER(k, most)], parent = parents[BORDER(k, most)];
        if (k > 0 && leaves[BORDER(k - 1, most)] == leaf)
            continue;
        const uint splits = group_splits(leaves, n, most, k);
        if (splits == 0)
            continue;
        leaf_split_at(&tree, leaf, keys + keys_at, k, splits, most);
        if (parent != LINKS_NONE && links_is_fresh(&tree, parent))
            dirty[ordo_add(&state[LINKS_DIRTY_NODES + 1], 1)] = parent;
    }
}

/* ---- a leaf's updates -------------------------------------------------------------------------------------------- */

/* The updates of one leaf. */
typedef struct {
    uint first, count;
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
    leaf_update u = { share.first + t, 0, false, false, false };
    if (t >= share.count)
        return u;
    const uint i = u.index, position = batch->positions[i];
    const bool counts = i + 1 == batch->n || batch->keys[i + 1] != batch->keys[i];
    const bool erases = batch->all_erased || (batch->erased && batch->erased[i]);
    u.slot = position & PLACE_SLOT;
    u.hit = (position & PLACE_HIT) != 0;
    u.stores = counts && !erases;
    u.removes = counts && u.hit;
    return u;
}

/* The value of an update, the last of its key; where values are combined, of all of its key, which lie in one share. */
ORDO_FN links_value share_value(const leaf_batch *batch, leaf_share share, leaf_update u)
{
#if ORDO_VALUE_BYTES
    links_value value = batch->values[u.index];
#if VALUE_COMBINES
    for (uint i = u.index; i > share.first && batch->keys[i - 1] == batch->keys[u.index]; i--)
        value = value_combine(batch->values[i - 1], value);
#endif
    return value;
#else
    return 0;
#endif
}

/* Stores an update at place p of all that its leaf becomes. */
ORDO_FN void split_put_update(const links_tree *tree, const leaf_batch *batch, leaf_update u, const node_split *split,
                              uint p, links_value value)
{
    split_put_element(tree, split, p, key_bits(batch->keys[u.index]), value);
}

#if TEAM_WIDTH == 1

/* A leaf's elements. */
typedef struct {
    ordo_key_form key[LINKS_SLOTS];
#if ORDO_VALUE_BYTES
    links_value value[LINKS_SLOTS];
#endif
} leaf_copy;

/* Unused slots too: so many words are copied fastest. */
ORDO_FN void copy_take(const links_tree *tree, uint leaf, __private leaf_copy *copy)
{
    for (uint slot = 0; slot < LINKS_SLOTS; slot++)
        copy->key[slot] = links_leaf(tree, leaf)[slot];
#if ORDO_VALUE_BYTES
    for (uint slot = 0; slot < LINKS_SLOTS; slot++)
        copy->value[slot] = links_values(tree, leaf)[slot];
#endif
}

/* Stores the elements of slots from .. to - 1 at place p of all that the leaf becomes. */
ORDO_FN void split_put_copy(const links_tree *tree, const node_split *split, __private const leaf_copy *copy, uint from,
                            uint to, uint p)
{
    if (split->nodes == 1 && p == from)
        return; /* there they are */
    for (uint slot = from; slot < to; slot++) {
#if ORDO_VALUE_BYTES
        const links_value value = copy->value[slot];
#else
        const links_value value = 0;
#endif
        split_put_element(tree, split, p + slot - from, copy->key[slot], value);
    }
}

/* What a leaf's elements and its share of the batch become: one work-item merges them. How many elements more there are. */
ORDO_FN uint leaf_take(const links_tree *tree, uint leaf, const leaf_batch *batch, leaf_share share,
                       __private node_split *split)
{
    const uint count = links_count(links_leaf(tree, leaf));
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
            links_value value = share_value(batch, share, u);
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

/* A leaf's elements in a team's lanes, and what the updates do to them. */
typedef struct {
    ordo_key_form key[LANE_WORDS];
#if ORDO_VALUE_BYTES
    links_value value[LANE_WORDS];
#endif
    uint to[LANE_WORDS];   /* its place among all that the leaf becomes */
    bool kept[LANE_WORDS]; /* not erased, not replaced */
} leaf_tile;

ORDO_FN void tile_take(const links_tree *tree, uint leaf, uint count, __private leaf_tile *tile)
{
    LANE_UNROLL
    for (uint r = 0; r < LANE_WORDS; r++) {
        const uint slot = r * TEAM_WIDTH + team_lane();
        tile->to[r] = slot;
        tile->kept[r] = slot < count;
        if (slot < count) {
            tile->key[r] = links_leaf(tree, leaf)[slot];
#if ORDO_VALUE_BYTES
            tile->value[r] = links_values(tree, leaf)[slot];
#endif
        }
    }
}

/* Moves the elements for one update of some lane's. */
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

#if VALUE_COMBINES
/* The value that was at a slot, which each lane chooses for itself. */
ORDO_FN links_value tile_value(__private const leaf_tile *tile, uint slot)
{
    links_value value = 0;

    LANE_UNROLL
    for (uint r = 0; r < LANE_WORDS; r++) {
        const links_value its = OF_VALUES(team_shuffle)(tile->value[r], slot % TEAM_WIDTH);
        value = slot / TEAM_WIDTH == r ? its : value;
    }
    return value;
}
#endif

/* Stores a team's updates, which come after those that `before` counts. tile: what the leaf had. */
ORDO_FN void split_put_updates(const links_tree *tree, const leaf_batch *batch, leaf_share share,
                               __private const leaf_tile *tile, leaf_update u, const node_split *split,
                               __private leaf_change *before)
{
    const team_mask stores = team_ballot(u.stores), removes = team_ballot(u.removes);
#if VALUE_COMBINES
    const links_value was = tile_value(tile, u.slot);
#endif

    if (u.stores) {
        links_value value = share_value(batch, share, u);
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

ORDO_FN void split_put_tile(const links_tree *tree, const node_split *split, __private const leaf_tile *tile)
{
    LANE_UNROLL
    for (uint r = 0; r < LANE_WORDS; r++) {
#if ORDO_VALUE_BYTES
        const links_value value = tile->value[r];
#else
        const links_value value = 0;
#endif
        if (tile->kept[r])
            split_put_element(tree, split, tile->to[r], tile->key[r], value);
    }
}

/* What a leaf's elements and its share of the batch become; how many elements more there are. By a whole team. */
ORDO_FN uint leaf_take(const links_tree *tree, uint leaf, const leaf_batch *batch, leaf_share share,
                       __private node_split *split)
{
    const uint count = links_count(links_leaf(tree, leaf));
    leaf_tile  tile;

    tile_take(tree, leaf, count, &tile);
    leaf_change change = { 0, 0 }, before = { 0, 0 };
    for (uint base = 0; base < share.count; base += TEAM_WIDTH)
        tile_update(&tile, share_update(batch, share, base + team_lane()), &change);
    *split = split_begin(tree, 0, leaf, count + change.stores - change.removes);
    team_sync_global(); /* all lanes have read the leaf */
    split_put_tile(tree, split, &tile);
    for (uint base = 0; base < share.count; base += TEAM_WIDTH)
        split_put_updates(tree, batch, share, &tile, share_update(batch, share, base + team_lane()), split, &before);
    split_frame(tree, split);
    return change.stores - change.removes;
}

#endif

/* Asks for all of a leaf. */
ORDO_FN void leaf_prefetch(const links_tree *tree, uint leaf)
{
    for (uint slot = 0; slot < LINKS_WORDS; slot += 512 / KEY_BITS)
        ORDO_PREFETCH(links_leaf(tree, leaf) + slot);
#if ORDO_VALUE_BYTES
    for (uint slot = 0; slot < LINKS_SLOTS; slot += 64 / ORDO_VALUE_BYTES)
        ORDO_PREFETCH(links_values(tree, leaf) + slot);
#endif
}

/* So many leaves before a team's turn comes, a CPU asks for it. */
#define LEAVES_AHEAD 8

/* The team's number among all of the launch's, and how many there are. */
#define LINKS_TEAM  ((uint) get_group_id(0) * (LINKS_GROUP / TEAM_WIDTH) + team_index())
#define LINKS_TEAMS ((uint) get_num_groups(0) * (LINKS_GROUP / TEAM_WIDTH))

/* A team's share of n items: a CPU's are in a row, as its work-items take their turns. */
#if ORDO_CPU
#define LINKS_SHARE(i, n)                                                                                              \
    for (uint i = share_first(share_among(n, LINKS_TEAMS), LINKS_TEAM),                                                \
              end_ = i + share_size(share_among(n, LINKS_TEAMS), LINKS_TEAM);                                          \
         i < end_; i++)
#else
#define LINKS_SHARE(i, n) for (uint i = LINKS_TEAM; i < (n); i += LINKS_TEAMS)
#endif

/* dirty: the list of level 1. */
ORDO_KERNEL(LINKS_GROUP)
void update_leaves(LINKS_TREE, __global const uint *leaves, __global const uint *parents, __global const uint *first,
                   __global const ordo_key *keys, ulong keys_at, __global const links_value *values, ulong values_at,
                   __global const uchar *erased, ulong erased_at, __global const uint *positions, uint n,
                   uint all_erased, __global uint *dirty)
{
    const links_tree tree = LINKS_TREE_HERE;
    const leaf_batch batch = {
        keys + keys_at,          values + values_at, LINKS_ERASED(erased ? erased + erased_at : erased), positions, n,
        LINKS_ERASED(all_erased)
    };
    const uint groups = state[LINKS_GROUPS]; /* once: others change words beside it */
    uint       more = 0;

    LINKS_SHARE(g, groups)
    {
        const leaf_share share = { first[g], first[g + 1] - first[g] };
        node_split       split;
#if ORDO_CPU
        if (g + LEAVES_AHEAD < groups)
            leaf_prefetch(&tree, leaves[first[g + LEAVES_AHEAD]]);
#endif
        more += leaf_take(&tree, leaves[first[g]], &batch, share, &split);
        const uint parent = parents[first[g]];
        links_mark_each(&tree, 1, parent, team_lane() == 0 && split.nodes > 1 && parent != LINKS_NONE, dirty);
    }
    if (team_lane() == 0 && more)
        ordo_add(&state[LINKS_ELEMENTS], more);
}

/* ---- inner nodes ------------------------------------------------------------------------------------------------- */

/* An inner node's entries in a team's lanes, and the chain of nodes that each child has split off. */
typedef struct {
    ordo_key_form key[LANE_WORDS];
    uint          child[LANE_WORDS];
    uint          to[LANE_WORDS];
    uint          chain[LANE_WORDS]; /* nodes in it */
} inner_tile;

/* Nodes to the right of `child` before the one that begins at `bound`, or all. Callable from anywhere. */
ORDO_FN uint chain_length(const links_tree *tree, uint level, uint child, ordo_key_form bound)
{
    uint length = 0;
    for (__global ordo_key_form *line = links_line(tree, level, child); line[LINKS_HIGH] != bound; length++) {
        const uint right = *links_right(line);
        if (right == LINKS_NONE)
            break;
        line = links_line(tree, level, right);
    }
    return length;
}

/* Reads the entries; returns how many the node will have. */
ORDO_FN uint inner_take(const links_tree *tree, uint level, uint node, __private inner_tile *tile)
{
    __global ordo_key_form *line = links_inner(tree, node);
    const uint              count = links_count(line);
    uint                    all = 0;

    LANE_UNROLL
    for (uint r = 0; r < LANE_WORDS; r++) {
        const uint slot = r * TEAM_WIDTH + team_lane();
        tile->chain[r] = 0;
        if (slot < count) {
            tile->key[r] = line[slot];
            tile->child[r] = links_children(tree, node)[slot];
            tile->chain[r] =
                chain_length(tree, level - 1, tile->child[r], line[slot + 1 < count ? slot + 1 : LINKS_HIGH]);
        }
        const uint mine = slot < count ? tile->chain[r] + 1 : 0;
        tile->to[r] = all + team_scan_exclusive_add(mine);
        all += team_reduce_add(mine);
    }
    return all;
}

/* Entry p of an inner node's. The first key of a node is its low. */
ORDO_FN void split_put_entry(const links_tree *tree, const node_split *split, uint p, ordo_key_form key, uint child)
{
    const split_place to = split_where(split, p);
    const uint        node = split_number(split, to.j);

    links_inner(tree, node)[to.slot] = key;
    links_children(tree, node)[to.slot] = child;
    if (to.slot == 0 && to.j > 0)
        split_border(tree, split, to.j - 1, key);
}

ORDO_FN void inner_put(const links_tree *tree, uint count, const node_split *split, __private const inner_tile *tile)
{
    LANE_UNROLL
    for (uint r = 0; r < LANE_WORDS; r++) {
        if (r * TEAM_WIDTH + team_lane() >= count)
            continue;
        uint child = tile->child[r];
        split_put_entry(tree, split, tile->to[r], tile->key[r], child);
        for (uint k = 1; k <= tile->chain[r]; k++) {
            child = *links_right(links_line(tree, split->level - 1, child));
            split_put_entry(tree, split, tile->to[r] + k, links_line(tree, split->level - 1, child)[LINKS_LOW], child);
        }
    }
}

/* The node of `level` that covers a query: the whole team goes down together. Levels from `level` on are at rest. */
ORDO_FN uint links_covering(const links_tree *tree, uint level, ordo_key_form query)
{
    const uint root = tree->state[LINKS_ROOT];
    uint       node = links_root_node(root);
    for (uint above = links_root_level(root); above > level; above--)
        node = links_children(tree, node)[links_entry(links_less(links_inner(tree, node), query))];
    return node;
}

/* The nodes of `level` on its list take in what their children have split off. next: the list of the level above. By
 * all teams of the launch. */
ORDO_FN void level_take(const links_tree *tree, uint level, __global const uint *list, __global uint *next)
{
    const uint n = tree->state[LINKS_DIRTY_NODES + level], top = links_root_level(tree->state[LINKS_ROOT]);

    for (uint i = LINKS_TEAM; i < n; i += LINKS_TEAMS) {
        const uint          node = list[i], count = links_count(links_inner(tree, node));
        const ordo_key_form low = links_inner(tree, node)[LINKS_LOW];
        inner_tile          tile;
        const uint          all = inner_take(tree, level, node, &tile);
        const node_split    split = split_begin(tree, level, node, all);
        team_sync_global(); /* all lanes have read the node */
        inner_put(tree, count, &split, &tile);
        split_frame(tree, &split);
        if (split.nodes == 1 || level == top)
            continue;
        const uint parent = links_covering(tree, level + 1, low + 1);
        links_mark_each(tree, level + 1, parent, team_lane() == 0, next);
    }
}

ORDO_KERNEL(LINKS_GROUP)
void update_level(LINKS_TREE, uint level, __global const uint *list, __global uint *next)
{
    const links_tree tree = LINKS_TREE_HERE;
    level_take(&tree, level, list, next);
}

/* ---- the root ---------------------------------------------------------------------------------------------------- */

/* One level more, over the chain that begins with the root. By one team. */
ORDO_FN uint root_grow(const links_tree *tree, uint root)
{
    const uint level = links_root_level(root), node = links_root_node(root);
    const uint all = chain_length(tree, level, node, LINKS_UNUSED) + 1, nodes = links_nodes_for(all);
    node_split split = { level + 1, 0, 0, nodes, all, share_among(all, nodes), LINKS_NONE, LINKS_UNUSED };

    if (team_lane() == 0)
        split.node = ordo_add(&tree->state[LINKS_INNER], nodes);
    split.node = team_bcast(split.node, 0);
    split.first_new = split.node + 1;
    if (team_lane() == 0) {
        uint child = node;
        for (uint p = 0; p < all; p++) {
            split_put_entry(tree, &split, p, links_line(tree, level, child)[LINKS_LOW], child);
            child = *links_right(links_line(tree, level, child));
        }
        links_inner(tree, split.node)[LINKS_LOW] = 0;
    }
    split_frame(tree, &split);
    return (level + 1) << LINKS_LEVEL_SHIFT | split.node;
}

/* New levels, until the root is the only node of its level. By one team. */
ORDO_FN void root_take(const links_tree *tree)
{
    uint root = tree->state[LINKS_ROOT];

    while (*links_right(links_line(tree, links_root_level(root), links_root_node(root))) != LINKS_NONE) {
        root = root_grow(tree, root);
        ordo_fence_device(); /* the lanes read what others have written */
        team_sync();
        ordo_fence_device();
    }
    if (team_lane() == 0)
        tree->state[LINKS_ROOT] = root;
}

/* Levels from `level` on, by one group; lists: of even levels and of odd ones, and of `level` its own. Also makes the
 * lists of dirty nodes empty again, and forgets the plan. */
ORDO_KERNEL(LINKS_GROUP)
void update_top(LINKS_TREE, uint level, __global uint *even, __global uint *odd)
{
    const links_tree tree = LINKS_TREE_HERE;
    const uint       top = links_root_level(state[LINKS_ROOT]);

    barrier(CLK_GLOBAL_MEM_FENCE); /* all have read the root */
    for (; level <= top; level++) {
        level_take(&tree, level, level % 2 ? odd : even, level % 2 ? even : odd);
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
    if (LINKS_TEAM == 0)
        root_take(&tree);
    for (uint word = (uint) get_local_id(0); word < LINKS_LEVELS_MAX; word += LINKS_GROUP)
        state[LINKS_DIRTY_NODES + word] = 0;
    if (get_local_id(0) == 0)
        state[LINKS_GROUPS] = state[LINKS_WANTED] = state[LINKS_LARGEST] = 0;
}

/* ---- all nodes of a level ---------------------------------------------------------------------------------------- */

/* The root and what it has split off: the list of the top level. */
ORDO_KERNEL(LINKS_GROUP)
void list_root(LINKS_TREE, __global uint *list)
{
    const links_tree tree = LINKS_TREE_HERE;
    const uint       root = state[LINKS_ROOT], level = links_root_level(root);
    uint             n = 0;

    if (get_global_id(0) > 0)
        return;
    for (uint node = links_root_node(root); node != LINKS_NONE; node = *links_right(links_line(&tree, level, node)))
        list[n++] = node;
    state[LINKS_DIRTY_NODES + level] = n;
}

/* The list of the level below that of `list`: the children of its nodes, and what these have split off (B4). */
ORDO_KERNEL(LINKS_GROUP)
void list_below(LINKS_TREE, uint level, __global const uint *list, __global uint *below)
{
    const links_tree tree = LINKS_TREE_HERE;

    RUN_EACH (ulong, i, (ulong) state[LINKS_DIRTY_NODES + level] * LINKS_SLOTS) {
        __global ordo_key_form *line = links_inner(&tree, list[i / LINKS_SLOTS]);
        const uint              slot = (uint) (i % LINKS_SLOTS), count = links_count(line);
        if (slot >= count)
            continue;
        uint       child = links_children(&tree, list[i / LINKS_SLOTS])[slot];
        const uint chain = chain_length(&tree, level - 1, child, line[slot + 1 < count ? slot + 1 : LINKS_HIGH]);
        const uint first = ordo_add(&state[LINKS_DIRTY_NODES + level - 1], chain + 1);
        for (uint k = 0; k <= chain; k++) {
            below[first + k] = child;
            child = *links_right(links_line(&tree, level - 1, child));
        }
    }
}
