/* SPDX-License-Identifier: Apache-2.0 */
/* Merges a sorted batch of few updates into a HAMT: plans only for leaves with updates. */
#pragma once
#include "device/atomic.cl"
#include "dict/each.cl"
#include "dict/trie/hamt_mix.cl"
#include "group/last_group.cl"
#include "group/scan.cl"

/* Built together: hamt_small_plan hamt_small_write */

#define SMALL_CHANGES 0x8000u /* An update of the leaf adds or removes an element. */

/* leaf_of[j] is the index of update j's leaf. If update j is the first one of its leaf, ends[j] is the index after the
 * leaf's last update, and fresh[HAMT_SMALL_FRESH * j] the first of its new records. Their `before` and `place` count
 * from 0. */
typedef struct {
    __global const ordo_key *keys;
    __global const uint     *hidden;
    uint                     n;
    __global ushort         *effects;
    __global uint           *leaf_of, *more, *ends;
    __global hamt_leaf      *fresh;
    __global ulong          *plan;
} small_batch;

typedef struct {
    ulong scratch[GROUP_SCAN_WORDS];
    uint  found[HAMT_FOUND_WORDS];
    uint  past, is_last;
} small_local;

ORDO_FN __global ulong *small_sums(__global ulong *plan, uint n)
{
    return plan + n;
}

ORDO_FN __global hamt_small_end *small_end_in(__global ulong *plan, uint n)
{
    return (__global hamt_small_end *) (plan + n + HAMT_SMALL_TILES(n));
}

ORDO_FN __global uint *small_totals(__global ulong *plan, uint n)
{
    return (__global uint *) (small_end_in(plan, n) + 1);
}

/* ---- plan -------------------------------------------------------------------------------------------------------- */

/* Finds the leaves and effects of updates from .. to - 1. The whole group must call. */
ORDO_FN void small_effects(const hamt_trie *t, const small_batch *b, uint from, uint to)
{
    const uint steps = RUN_STEPS(to - from);
    for (uint s = (uint) get_local_id(0); s < steps; s += GROUP_SIZE) {
        const uint    first = from + s * RUN_STEP, some = min(to - first, (uint) RUN_STEP);
        ordo_key_form key[RUN_STEP];
        uint          leaf[RUN_STEP];
        hamt_node     node[RUN_STEP];
        hamt_load_keys(t, b->keys, first, some, key, leaf, node);
        for (uint k = 0; k < RUN_SOME(some); k++) {
            const uint j = first + k;
            b->effects[j] = (ushort) hamt_effect(hamt_look(&node[k], key[k]), b->keys, b->hidden, b->n, j);
            b->leaf_of[j] = leaf[k];
        }
    }
}

/* Returns true if update j, whose leaf is `leaf`, is the first one of its leaf. */
ORDO_FN bool small_starts(const hamt_trie *t, const small_batch *b, uint leaf, uint j)
{
    return j == 0 || (leaf > 0 && key_bits(b->keys[j - 1]) < t->leaves[leaf].first);
}

/* Returns the index after the last update of update j's leaf. */
ORDO_FN uint small_end(const hamt_trie *t, const small_batch *b, uint leaf, uint j)
{
    if (leaf + 1 == t->n_leaves)
        return b->n;
    return keys_less_near(b->keys, j + 1, b->n, t->leaves[leaf + 1].first);
}

/* Returns the end of the updates whose effects the tile first .. end - 1 needs. A tile needs all updates of a leaf
 * whose first update is in the tile. */
ORDO_FN uint small_past(const hamt_trie *t, const small_batch *b, uint first, uint end)
{
    const uint leaf = b->leaf_of[end - 1];
    if (b->leaf_of[first] == leaf && !small_starts(t, b, leaf, first))
        return end;
    return min(small_end(t, b, leaf, end - 1), end + HAMT_UPDATES_MAX);
}

/* Returns the sum of the flags of the leaf's effects. more[j] becomes the change of the number of elements by the
 * leaf's updates before j. */
ORDO_FN uint small_sum(hamt_mix *mix, __global uint *more)
{
    uint any = 0;
    mix->sum = 0;
    for (uint j = mix->begin; j < mix->end; j++) {
        const uint effect = mix->effects[j], change = effect_more(effect);
        more[j] = mix->sum;
        mix->sum += change;
        any |= effect;
        if (change)
            any |= SMALL_CHANGES;
    }
    return any;
}

ORDO_FN ulong small_word(uint parts, uint sum, uint k, uint units)
{
    return (ulong) (parts + k - 1) << 46 | (ulong) (sum + k) << 28 | units;
}

/* Writes the records of the new leaves to `fresh`. Their `before` and `place` count from 0. Sets *parts to their
 * number. */
ORDO_FN ulong small_divide(const hamt_mix *mix, __global hamt_leaf *fresh, uint *parts)
{
    hamt_rest rest = mix_rest(mix);
    uint      units = 0;
    *parts = 0;
    while (rest.at < rest.all) {
        const hamt_part part = mix_next(mix, &rest);
        fresh[(*parts)++] = mix_record(mix, part, 0, units);
        units += hamt_units(part.count, part.wide);
    }
    const hamt_leaf end = { .before = rest.all };
    fresh[*parts] = end;
    return small_word(*parts, mix->sum, mix->end - mix->begin, units);
}

/* Plans the leaf whose first update is j. Sets *parts to the number of its new leaves, or 0 if it stays. Returns a word
 * of shared/hamt_node.h. */
ORDO_FN ulong small_plan_leaf(const hamt_trie *t, const small_batch *b, uint leaf, uint j, __local uint *found,
                              uint *parts)
{
    const uint  end = b->ends[j], k = end - j;
    hamt_mix    mix = { hamt_load(t, leaf), b->keys, b->effects, b->more, j, end, 0 };
    const ulong stays = small_word(1, 0, k, 0);
    *parts = 0;
    if (k > HAMT_UPDATES_MAX) {
        (void) atomic_max(&found[HAMT_LARGEST], k);
        return stays;
    }
    const uint any = small_sum(&mix, b->more);
    if (!(any & EFFECT_ANY))
        return stays;
    if (any & SMALL_CHANGES)
        (void) atomic_max(&found[HAMT_CHANGES], 1);
    (void) atomic_add(&found[HAMT_LEFT], hamt_units(mix.node.count, (mix.node.record.place & HAMT_WIDE) != 0));
    const ulong word = small_divide(&mix, b->fresh + HAMT_SMALL_FRESH * j, parts);
    if (*parts == 0)
        (void) atomic_max(&found[HAMT_GONE], 1);
    return word;
}

/* Returns the word of update j, and notes the first and last leaf of the new trie. */
ORDO_FN ulong small_plan(const hamt_trie *t, const small_batch *b, uint j, __local uint *found)
{
    __global hamt_small_end  *to = small_end_in(b->plan, b->n);
    __global const hamt_leaf *fresh = b->fresh + HAMT_SMALL_FRESH * j;
    const uint                leaf = b->leaf_of[j], last = t->n_leaves - 1;
    uint                      parts;
    if (!small_starts(t, b, leaf, j))
        return 0;
    b->ends[j] = small_end(t, b, leaf, j);
    const ulong word = small_plan_leaf(t, b, leaf, j, found, &parts);
    if (j == 0)
        to->first = leaf == 0 && parts > 0 ? fresh[0].first : t->leaves[0].first;
    if (b->ends[j] == b->n)
        to->last = leaf == last && parts > 0 ? fresh[parts - 1].first : t->leaves[last].first;
    return word;
}

/* Adds the group's results to `state`, which has the words of enum hamt_found, then the number of finished groups.
 * Returns true to the last group. The whole group must call, after a barrier for l->found. */
ORDO_FN bool small_hand_over(const small_batch *b, ulong sum, __local small_local *l, volatile __global uint *state)
{
    volatile __global uint *total = small_totals(b->plan, b->n) + 2 * (uint) get_group_id(0);
    if (get_local_id(0) == 0) {
        ordo_store_relaxed(&total[0], (uint) sum);
        ordo_store_relaxed(&total[1], (uint) (sum >> 32));
        for (uint w = 0; w < HAMT_FOUND_WORDS; w++) /* HAMT_LEFT is a sum. The others set here are flags and maxima. */
            if (w == HAMT_LEFT)
                (void) ordo_add(&state[w], l->found[w]);
            else if (l->found[w])
                (void) ordo_max(&state[w], l->found[w]);
    }
    return group_is_last(&state[HAMT_FOUND_WORDS], HAMT_SMALL_TILES(b->n), &l->is_last);
}

/* Computes the prefix sums of tiles and the results of the plan. Clears `state`. The whole group must call. */
ORDO_FN void small_sum_tiles(const small_batch *b, __local ulong *scratch, volatile __global uint *state)
{
    volatile __global uint *totals = small_totals(b->plan, b->n);
    __global hamt_plan_end *to = &small_end_in(b->plan, b->n)->sums;
    const uint              tiles = HAMT_SMALL_TILES(b->n);
    ulong                   before = 0;
    for (uint from = 0; from < tiles; from += GROUP_SIZE) {
        const uint  tile = from + (uint) get_local_id(0), at = 2 * min(tile, tiles - 1);
        const ulong sum = (ulong) ordo_load_relaxed(&totals[at + 1]) << 32 | ordo_load_relaxed(&totals[at]);
        ulong       all;
        const ulong earlier = group_scan_add64(tile < tiles ? sum : 0, scratch, &all);
        if (tile < tiles)
            small_sums(b->plan, b->n)[tile] = before + earlier;
        before += all;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (get_local_id(0) != 0)
        return;
    to->follow = before;
    for (uint w = 0; w < HAMT_FOUND_WORDS; w++)
        to->found[w] = ordo_load_relaxed(&state[w]);
    for (uint w = 0; w < HAMT_FOUND_WORDS; w++)
        ordo_store_relaxed(&state[w], 0);
}

/* Plans the changes of leaves. A group plans the leaves whose first update is in its tile. `state` must have
 * HAMT_FOUND_WORDS + 1 zeros. They are 0 again after the launch. */
ORDO_KERNEL(GROUP_SIZE)
void hamt_small_plan(HAMT_TRIE, __global const ordo_key *keys, __global const uint *hidden, ulong hidden_at, uint n,
                     __global ushort *effects, __global uint *leaf_of, __global uint *more, __global uint *ends,
                     __global hamt_leaf *fresh, __global ulong *plan, volatile __global uint *state)
{
    __local small_local l;
    const hamt_trie     t = HAMT_TRIE_HERE;
    const small_batch   b = { keys, hidden ? hidden + hidden_at : 0, n, effects, leaf_of, more, ends, fresh, plan };
    const uint          lid = (uint) get_local_id(0), first = (uint) get_group_id(0) * HAMT_SMALL_TILE;
    const uint          end = first + min(n - first, HAMT_SMALL_TILE);
    ulong               before = 0;
    for (uint w = lid; w < HAMT_FOUND_WORDS; w += GROUP_SIZE)
        l.found[w] = 0;

    small_effects(&t, &b, first, end);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (lid == 0)
        l.past = small_past(&t, &b, first, end);
    barrier(CLK_LOCAL_MEM_FENCE);
    small_effects(&t, &b, end, l.past);
    barrier(CLK_GLOBAL_MEM_FENCE);

    for (uint from = first; from < end; from += GROUP_SIZE) {
        const uint  j = from + lid;
        const ulong word = j < end ? small_plan(&t, &b, j, l.found) : 0;
        ulong       all;
        const ulong earlier = group_scan_add64(word, l.scratch, &all);
        if (j < end)
            plan[j] = before + earlier;
        before += all;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (small_hand_over(&b, before, &l, state))
        small_sum_tiles(&b, l.scratch, state);
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* A leaf fills at most this many cells of a table. If there are more, the host fills the tables. */
#define SMALL_CELLS_MAX 256

/* The last leaf begins in cell cells_used - 1. The last rank is in cell ranks_used - 1. */
typedef struct {
    ordo_key_form           base;
    uint                    key_shift, rank_shift, cells_used, ranks_used;
    __global uint          *by_key, *by_rank;
    volatile __global uint *gaps;
} small_tables;

ORDO_FN void small_fill(const small_tables *s, __global uint *table, uint from, uint to, uint value)
{
    if (from < to && to - from > SMALL_CELLS_MAX) {
        (void) ordo_or(s->gaps, 1);
        return;
    }
    for (uint c = from; c < to; c++)
        table[c] = value;
}

/* Fills the cells from the first key of new leaf `at` to the first key of the next leaf, and likewise for ranks. */
ORDO_FN void small_put_cells(const small_tables *s, uint at, const hamt_leaf *leaf, const hamt_leaf *next, bool is_last)
{
    small_fill(s, s->by_key, (uint) ((leaf->first - s->base) >> s->key_shift),
               is_last ? s->cells_used : (uint) ((next->first - s->base) >> s->key_shift), at + 1);
    small_fill(s, s->by_rank, leaf->before >> s->rank_shift, is_last ? s->ranks_used : next->before >> s->rank_shift,
               at + 1);
}

/* Fills a work-item's cells if they follow the last leaf's cell or the last rank's cell. Up to half of all cells do.
 * Both tables have `words` words together. */
ORDO_FN void small_fill_tail(const small_tables *s, uint n_leaves, uint share, uint words)
{
    const uint first = share * HAMT_SMALL_WORDS(ORDO_CPU), end = min(first + HAMT_SMALL_WORDS(ORDO_CPU), words);
    const uint cells = (uint) (s->by_rank - s->by_key);
    for (uint w = first; w < end; w++)
        if (w < cells ? w >= s->cells_used : w - cells >= s->ranks_used)
            s->by_key[w] = n_leaves;
}

/* ---- write ------------------------------------------------------------------------------------------------------- */

/* The results of hamt_small_plan. */
typedef struct {
    __global const uint      *leaf_of, *ends;
    __global const hamt_leaf *fresh;
    __global const ulong     *plan, *sums;
    __global hamt_small_end  *end;
    uint                      n, first_unit;
} small_ready;

/* Returns the sum of the words of updates before j. */
ORDO_FN ulong small_before(const small_ready *r, uint j)
{
    return j == r->n ? r->end->sums.follow : r->sums[j / HAMT_SMALL_TILE] + r->plan[j];
}

/* Returns the number of leaves of the new trie, or 0 if the host must not use it. `room`: number of free pool units. */
ORDO_FN uint small_leaves(const small_ready *r, uint n_leaves, uint room)
{
    __global const hamt_plan_end *sums = &r->end->sums;
    const bool                    fits = HAMT_SMALL_UNITS(sums->follow) <= room;
    return sums->found[HAMT_CHANGES] && !sums->found[HAMT_LARGEST] && fits
               ? n_leaves + HAMT_SMALL_FOLLOW(sums->follow) - r->n
               : 0;
}

/* The changed leaf whose first update is j. */
typedef struct {
    uint parts, sum, units, first_unit;
} hamt_small;

ORDO_FN hamt_small small_at(const small_ready *r, uint j)
{
    const uint       k = r->ends[j] - j;
    const ulong      before = small_before(r, j), word = small_before(r, j + 1) - before;
    const hamt_small s = { HAMT_SMALL_FOLLOW(word) + 1 - k, HAMT_SMALL_MORE(word) - k, HAMT_SMALL_UNITS(word),
                           r->first_unit + HAMT_SMALL_UNITS(before) };
    return s;
}

/* Returns the `first` of the leaf that follows leaf i. Update `end` is the first one of a later leaf. */
ORDO_FN ordo_key_form small_next(const hamt_trie *t, const small_ready *r, uint i, uint end)
{
    if (end < r->n && r->leaf_of[end] == i + 1 && small_at(r, end).units > 0)
        return r->fresh[HAMT_SMALL_FRESH * end].first;
    return t->leaves[i + 1].first;
}

typedef struct {
    __global hamt_leaf *leaves;
    uint                n_leaves;
    bool                fills; /* the tables */
    small_tables        tables;
} small_target;

ORDO_FN void small_put_leaf(const small_target *to, uint at, const hamt_leaf *leaf, const hamt_leaf *next)
{
    to->leaves[at] = *leaf;
    if (to->fills)
        small_put_cells(&to->tables, at, leaf, next, at + 1 == to->n_leaves);
}

/* Writes the new leaves of leaf i, whose first update is h. */
ORDO_FN void small_put_parts(const small_ready *r, uint h, const hamt_small *s, const small_target *to, uint at,
                             uint before, ordo_key_form next_first)
{
    hamt_leaf leaf = r->fresh[HAMT_SMALL_FRESH * h];
    leaf.before += before;
    for (uint p = 0; p < s->parts; p++) {
        hamt_leaf next = r->fresh[HAMT_SMALL_FRESH * h + p + 1];
        next.first = p + 1 < s->parts ? next.first : next_first;
        next.before += before;
        leaf.place += s->first_unit << 1;
        small_put_leaf(to, at + p, &leaf, &next);
        leaf = next;
    }
}

/* Writes what follows leaf i, or the end record. Update h is the first one of leaf i or a later leaf. */
ORDO_FN void small_put_records(const hamt_trie *t, const small_ready *r, uint i, uint h, const small_target *to)
{
    const ulong word = small_before(r, h);
    const uint  at = i + HAMT_SMALL_FOLLOW(word) - h;
    hamt_leaf   leaf = t->leaves[i];
    const uint  before = leaf.before + HAMT_SMALL_MORE(word) - h;
    uint        end = h;
    if (i == t->n_leaves) {
        leaf.before = before;
        to->leaves[at] = leaf;
        return;
    }
    if (h < r->n && r->leaf_of[h] == i) {
        const hamt_small s = small_at(r, h);
        end = r->ends[h];
        if (s.units > 0 || s.parts == 0) {
            small_put_parts(r, h, &s, to, at, before, small_next(t, r, i, end));
            return;
        }
    }
    hamt_leaf next = t->leaves[i + 1];
    next.first = small_next(t, r, i, end);
    next.before += before - leaf.before;
    leaf.before = before;
    small_put_leaf(to, at, &leaf, &next);
}

/* Writes what follows a work-item's leaves. */
ORDO_FN void small_put_leaves(const hamt_trie *t, const small_ready *r, uint share, const small_target *to)
{
    const uint first = share * HAMT_SMALL_LEAVES(ORDO_CPU);
    const uint end = min(first + HAMT_SMALL_LEAVES(ORDO_CPU), t->n_leaves + 1);
    uint       h = 0;
    HAMT_SEARCH(h, r->n, j, r->leaf_of[j] < first)
    for (uint i = first; i < end; i++) {
        /* The search has found the update of leaf `first`. */
        while (i > first && h < r->n && r->leaf_of[h] < i)
            h++;
        small_put_records(t, r, i, h, to);
    }
}

/* Writes a lane's part of the blocks of the leaf whose first update is j. */
ORDO_FN void small_put_blocks(const hamt_trie *t, const small_ready *r, HAMT_BATCH, __global const hamt_value *values,
                              uint j, uint lane, __global uchar *pool)
{
    const uint leaf = r->leaf_of[j];
    if (j > 0 && leaf == r->leaf_of[j - 1])
        return;
    const hamt_small s = small_at(r, j);
    if (s.units == 0)
        return;
    const hamt_mix    mix = { hamt_load(t, leaf), batch_keys, batch_effects, batch_more, j, r->ends[j], s.sum };
    const hamt_target to = { .leaves = r->fresh,
                             .next = HAMT_SMALL_FRESH * j,
                             .pool = pool + (ulong) s.first_unit * HAMT_UNIT };
    mix_put_blocks(&mix, to, HAMT_SMALL_FRESH * j + s.parts, values, lane);
}

/* Writes blocks, records and tables of the new trie. Fills the tables only if no leaf vanishes. */
ORDO_KERNEL(RUN_GROUP)
void hamt_small_write(HAMT_TRIE, HAMT_BATCH, __global const hamt_value *values, ulong values_at,
                      __global const uint *leaf_of, __global const uint *ends, __global const hamt_leaf *fresh,
                      __global ulong *plan, uint first_unit, uint room, uint cell_bits, uint rank_bits,
                      __global hamt_leaf *leaves, __global uint *tables, __global uchar *pool)
{
    const hamt_trie          t = HAMT_TRIE_HERE;
    __global hamt_small_end *end = small_end_in(plan, batch_n);
    const small_ready        r = { leaf_of, ends, fresh, plan, small_sums(plan, batch_n), end, batch_n, first_unit };
    const uint               n_leaves = small_leaves(&r, t.n_leaves, room);
    const ulong              blocks = (ulong) batch_n * MIX_LANES;
    const ulong              records = blocks + HAMT_SMALL_RECORDS(ORDO_CPU, t.n_leaves);
    if (n_leaves == 0)
        return;
    const ordo_key_form base = (ordo_key_form) end->first, last = (ordo_key_form) end->last;
    const uint          n = t.n + HAMT_SMALL_MORE(end->sums.follow) - batch_n;
    const uint          key_shift = hamt_key_shift(last - base, cell_bits), rank_shift = hamt_rank_shift(n, rank_bits);
    const small_target  to = { leaves,
                               n_leaves,
                               !HAMT_FIXED_DEPTH && !end->sums.found[HAMT_GONE],
                               { base, key_shift, rank_shift, (uint) ((last - base) >> key_shift) + 1,
                                 ((n - 1) >> rank_shift) + 1, tables, tables + HAMT_RANKS_AT(cell_bits),
                                 &end->sums.found[HAMT_GAPS] } };
    RUN_EACH (ulong, item, records + HAMT_SMALL_TAILS(ORDO_CPU, cell_bits, rank_bits)) {
        if (item < blocks)
            small_put_blocks(&t, &r, batch_keys, batch_effects, batch_more, batch_n, values ? values + values_at : 0,
                             (uint) (item / MIX_LANES), (uint) (item % MIX_LANES), pool);
        else if (item < records)
            small_put_leaves(&t, &r, (uint) (item - blocks), &to);
        else if (to.fills)
            small_fill_tail(&to.tables, n_leaves, (uint) (item - records), HAMT_NODES_AT(cell_bits, rank_bits));
    }
}
