/* SPDX-License-Identifier: Apache-2.0 */
/* Selects the first k elements of an array in key order, or the element of a given rank. The output is unsorted. Radix
 * select finds the k-th element digit by digit, from the highest digit on. Each pass keeps the *candidates*: the
 * elements that have the k-th element's digits in all passes so far. Zhang, Naruse, Li and Wang, Parallel Top-K
 * Algorithms on GPU (SC 2023). */

/* With TOP_SELECT, the kernels find only the element of rank `needed` - 1. */
#pragma once
#ifndef TOP_GROUP
#define TOP_GROUP 1
#endif
#define GROUP_SIZE TOP_GROUP
#include "device/atomic.cl"
#include "device/compiler.cl"
#include "group/last_group.cl"
#include "shared/key.h"
#include "shared/top.h"
#if TOP_GROUP > 1
#include "group/scan.cl"

/* Built together: top_count top_narrow top_all top_order */
#else
#define GROUP_SCAN_WORDS 1
#define TEAM_WIDTH       1
#endif

#ifndef TOP_SELECT
#define TOP_SELECT 0
#endif
#ifndef TOP_ITEMS
#define TOP_ITEMS 16
#endif
#ifndef TOP_BITS
#define TOP_BITS 8
#endif
#ifndef TOP_COPIES
#define TOP_COPIES 1
#endif
#define TOP_RADIX (1u << TOP_BITS)
#define TOP_WORDS (TOP_RECORD(KEY_BITS / 8) + TOP_RADIX) /* words of `state` per pass: a record and a histogram */
#define TOP_TILE  ((uint) (TOP_GROUP * TOP_ITEMS))
#if TOP_GROUP > 1 && TOP_ITEMS > TOP_ITEMS_MAX
#error "TOP_ITEMS must be at most TOP_ITEMS_MAX"
#endif
#if TOP_GROUP * TOP_ITEMS > 32768
#error "TOP_GROUP * TOP_ITEMS must be at most 32768: two counts of a tile share a word"
#endif

typedef struct {
    uint counts[TOP_RADIX * TOP_COPIES];
    uint scratch[GROUP_SCAN_WORDS];
    uint taken_at, listed_at, is_last;
} top_local;

#ifndef LOCAL_BYTES
#define LOCAL_BYTES TOP_LOCAL_BYTES(TOP_BITS, TOP_COPIES, TOP_GROUP, TEAM_WIDTH)
#endif
ORDO_STATIC_ASSERT(sizeof(top_local) <= LOCAL_BYTES, "the host reserves less local memory than a pass needs");

ORDO_FN uint top_scan(uint x, __local uint *scratch, __private uint *total)
{
#if TOP_GROUP > 1
    return group_scan_add(x, scratch, total);
#else
    *total = x;
    return 0;
#endif
}

ORDO_FN void top_barrier(void)
{
#if TOP_GROUP > 1
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#endif
}

ORDO_FN __global uint *top_record_at(__global uint *state, uint pass)
{
    return state + TOP_TAKEN_WORDS + pass * TOP_WORDS;
}

typedef struct {
    ordo_key_form key;
    uint          index, needed, candidates;
} top_record;

ORDO_FN top_record top_read(__global const uint *state, uint pass)
{
    __global const uint *words = state + TOP_TAKEN_WORDS + pass * TOP_WORDS;
    top_record           r;
    r.key = KEY_LEAST;
    ORDO_UNROLL
    for (uint w = KEY_BITS / 32; w-- > 0;)
        r.key |= key_of_digit(words[TOP_KEY(w)], 32 * w);
    r.index = words[TOP_INDEX];
    r.needed = words[TOP_NEEDED];
    r.candidates = words[TOP_CANDIDATES];
    return r;
}

/* Returns the digit (number >> shift) & mask of an element's number (shared/top.h). */
ORDO_FN uint top_digit(struct top_pass p, ordo_key_form key, uint index, uint shift, uint mask)
{
    if (shift >= p.index_bits)
        return key_digit(key, shift - p.index_bits, mask);
    return ((uint) ((ulong) key_digit(key, 0, ~0u) << (p.index_bits - shift)) | index >> shift) & mask;
}

ORDO_FN void top_clear(__local top_local *l)
{
    for (uint i = get_local_id(0); i < TOP_RADIX * TOP_COPIES; i += TOP_GROUP)
        l->counts[i] = 0;
    top_barrier();
}

ORDO_FN void top_count_digit(__local top_local *l, uint digit, uint copy)
{
#if TOP_GROUP == 1
    l->counts[digit * TOP_COPIES + copy % TOP_COPIES]++;
#else
    ordo_local_add(&l->counts[digit * TOP_COPIES + copy % TOP_COPIES], 1);
#endif
}

/* A digit may have bits of both the key and the index. top_key_of returns a key with the digit's key bits, top_index_of
 * an index with its index bits. All other bits of the results are 0. */
ORDO_FN ordo_key_form top_key_of(struct top_pass p, uint digit)
{
    if (p.next_shift >= p.index_bits)
        return key_of_digit(digit, p.next_shift - p.index_bits);
    return key_of_digit((uint) ((ulong) digit >> (p.index_bits - p.next_shift)), 0);
}
ORDO_FN uint top_index_of(struct top_pass p, uint digit)
{
    return p.next_shift >= p.index_bits ? 0 : digit << p.next_shift & ~0u >> (32 - p.index_bits);
}

#define TOP_MINE ((TOP_RADIX + TOP_GROUP - 1) / TOP_GROUP)
#define TOP_HELD (TOP_MINE < 8 ? TOP_MINE : 8)

ORDO_FN uint top_digits(volatile __global uint *histogram, uint first, __private uint *here)
{
    uint sum = 0;
    ORDO_UNROLL
    for (uint k = 0; k < TOP_HELD; k++)
        here[k] = first + k < TOP_RADIX ? ordo_load_relaxed(&histogram[first + k]) : 0;
    ORDO_UNROLL
    for (uint k = 0; k < TOP_HELD; k++)
        sum += here[k];
    return sum;
}

ORDO_FN void top_note(__global uint *record, top_record before, struct top_pass p, uint digit, uint upto,
                      uint candidates)
{
    const ordo_key_form key = before.key | top_key_of(p, digit);
    ORDO_UNROLL
    for (uint w = 0; w < KEY_BITS / 32; w++)
        record[TOP_KEY(w)] = key_digit(key, 32 * w, ~0u);
    record[TOP_INDEX] = before.index | top_index_of(p, digit);
    record[TOP_NEEDED] = before.needed - upto;
    record[TOP_CANDIDATES] = candidates;
}

/* Finds the k-th element's next digit, and writes the pass's result to `record`. Only the group that finishes last may
 * call. */
ORDO_FN void top_choose(__local top_local *l, __global uint *record, top_record before, struct top_pass p)
{
    volatile __global uint *histogram = record + TOP_RECORD(KEY_BITS / 8);
    const uint              first = get_local_id(0) * TOP_MINE;
    uint                    here[TOP_HELD], sum = 0, all;
    for (uint d = 0; d < TOP_MINE; d += TOP_HELD)
        sum += top_digits(histogram, first + d, here);
    uint upto = top_scan(sum, l->scratch, &all);
    /* PoCL 3.1 compiles the loop wrongly if its condition has `upto < before.needed`. */
    for (uint d = 0; d < TOP_MINE; d += TOP_HELD) {
        if (TOP_MINE > TOP_HELD)
            (void) top_digits(histogram, first + d, here);
        ORDO_UNROLL
        for (uint k = 0; k < TOP_HELD; k++) {
            if (upto < before.needed && upto + here[k] >= before.needed)
                top_note(record, before, p, first + d + k, upto, here[k]);
            upto += here[k];
        }
    }
}

ORDO_FN void top_finish(__local top_local *l, __global uint *record, uint groups, top_record before, struct top_pass p)
{
    top_barrier();
    for (uint digit = get_local_id(0); digit < TOP_RADIX; digit += TOP_GROUP) {
        uint sum = 0;
        for (uint copy = 0; copy < TOP_COPIES; copy++)
            sum += l->counts[digit * TOP_COPIES + copy];
        if (sum)
            ordo_add(&record[TOP_RECORD(KEY_BITS / 8) + digit], sum);
    }
    if (group_is_last(&record[TOP_FINISHED], groups, &l->is_last))
        top_choose(l, record, before, p);
}

#define TOP_AHEAD (TOP_GROUP == 1 ? 1 : 4)

ORDO_KERNEL(TOP_GROUP)
void top_count(__global const ordo_key *keys, __global uint *state, struct top_pass p)
{
    __local top_local l;
    const uint        tiles = (p.count - 1) / TOP_TILE + 1;
    top_record        all;
    if (get_group_id(0) >= tiles)
        return;
    all.key = KEY_LEAST;
    all.index = 0;
    all.needed = p.needed;
    all.candidates = p.count;
    keys += p.keys_at;
    top_clear(&l);
    for (uint tile = get_group_id(0); tile < tiles; tile += get_num_groups(0)) {
        const uint first = tile * TOP_TILE + get_local_id(0);
        for (uint r = 0; r < TOP_ITEMS; r += TOP_AHEAD) {
            ordo_key key[TOP_AHEAD];
            ORDO_UNROLL
            for (uint k = 0; k < TOP_AHEAD; k++)
                key[k] = keys[min(first + (r + k) * TOP_GROUP, p.count - 1)];
            ORDO_UNROLL
            for (uint k = 0; k < TOP_AHEAD; k++)
                if (first + (r + k) * TOP_GROUP < p.count)
                    top_count_digit(&l, top_digit(p, key_bits(key[k]), 0, p.next_shift, p.next_mask),
                                    TOP_GROUP == 1 ? r : get_local_id(0));
        }
    }
    top_finish(&l, top_record_at(state, 0), min(tiles, (uint) get_num_groups(0)), all, p);
}

typedef struct {
    __global const ordo_key *keys;
    __global const uint     *index;
    uint                     count;
} top_source;

typedef struct {
    top_source source;
    top_record now, prev;
    bool       done;
    uint       digit;
    uint       items;
} top_step;

/* Returns whether an element's number (shared/top.h) equals the k-th element's in all bits from bit p.digit_above up.
 * If s->source.index is set, the source is a list that contains only candidates. */
ORDO_FN bool top_is_candidate(__private const top_step *s, struct top_pass p, ordo_key_form key, uint index)
{
    if (p.pass == 1 || s->source.index)
        return true;
    if (p.digit_above >= p.index_bits)
        return key_same(key_above(key, p.digit_above - p.index_bits),
                        key_above(s->prev.key, p.digit_above - p.index_bits));
    return key_same(key, s->prev.key) && index >> p.digit_above == s->prev.index >> p.digit_above;
}

#define TOP_NOTHING 0
#define TOP_TAKE    1u
#define TOP_KEEP    0x10000u

typedef struct {
    ordo_key_form key[TOP_AHEAD];
    uint          index[TOP_AHEAD];
    bool          there[TOP_AHEAD];
} top_elements;

ORDO_FN void top_fetch(__private const top_step *s, uint first, uint r, __private top_elements *e)
{
    ORDO_UNROLL
    for (uint k = 0; k < TOP_AHEAD; k++) {
        const uint i = first + (r + k) * TOP_GROUP, at = min(i, s->source.count - 1);
        e->there[k] = r + k < s->items && i < s->source.count;
        e->key[k] = key_bits(s->source.keys[at]);
        e->index[k] = s->source.index ? s->source.index[at] : i;
    }
}

ORDO_FN uint top_fate(__private const top_step *s, struct top_pass p, __private const top_elements *e, uint k)
{
    if (!e->there[k])
        return TOP_NOTHING;
    const uint digit = top_digit(p, e->key[k], e->index[k], p.digit_shift, p.digit_mask);
    if (digit > s->digit || !top_is_candidate(s, p, e->key[k], e->index[k]))
        return TOP_NOTHING;
    if (digit < s->digit)
        return TOP_SELECT ? TOP_NOTHING : TOP_TAKE;
    return s->done ? TOP_TAKE : TOP_KEEP;
}

/* The lower half of `sum` counts this work-item's elements for the output. The upper half counts the remaining
 * candidates. A block is TOP_AHEAD successive elements of the work-item. If bit i of `some` is 0, block i adds nothing
 * to `sum`. */
typedef struct {
    uint sum, some;
} top_fates;

ORDO_FN top_fates top_fates_of(__private const top_step *s, struct top_pass p, uint first)
{
    top_fates fates;
    fates.sum = 0;
    fates.some = TOP_GROUP == 1 ? ~0u : 0;
    for (uint r = 0; r < s->items; r += TOP_AHEAD) {
        top_elements e;
        uint         sum = 0;
        top_fetch(s, first, r, &e);
        ORDO_UNROLL
        for (uint k = 0; k < TOP_AHEAD; k++)
            sum += top_fate(s, p, &e, k);
        fates.sum += sum;
        fates.some |= (uint) (sum != 0) << (r / TOP_AHEAD) % 32;
    }
    return fates;
}

ORDO_FN top_step top_step_of(__global const ordo_key *keys, __global const ordo_key *list_keys,
                             __global const uint *list_index, __global const uint *state, struct top_pass p)
{
    top_step s;
    s.now = top_read(state, p.pass - 1);
    s.prev = top_read(state, p.pass > 1 ? p.pass - 2 : 0);
    s.done = TOP_SELECT ? s.now.candidates == 1 : s.now.candidates == s.now.needed;
    s.digit = top_digit(p, s.now.key, s.now.index, p.digit_shift, p.digit_mask);
    s.source.keys = keys + p.keys_at;
    s.source.index = 0;
    s.source.count = p.count;
    if (p.pass > 1 && s.prev.candidates <= p.room) {
        s.source.keys = list_keys + (ulong) (p.pass % 2 ? 0 : 1) * p.room;
        s.source.index = list_index + (ulong) (p.pass % 2 ? 0 : 1) * p.room;
        s.source.count = s.prev.candidates;
    }
    s.items = clamp(s.source.count / (uint) get_global_size(0), 1u, (uint) TOP_ITEMS);
    return s;
}

typedef struct {
    __global ordo_key *keys;
    __global uint     *index;
    __global ordo_key *list_keys;
    __global uint     *list_index;
} top_places;

/* `before` counts elements of the group's earlier work-items in this tile. Its lower half counts those for the output,
 * its upper half those for the list. */
ORDO_FN void top_move(__local top_local *l, __private const top_step *s, struct top_pass p, uint first, uint some,
                      uint before, __private const top_places *to)
{
    top_elements e;
    for (uint r = 0; r < s->items; r += TOP_AHEAD) {
        if (!(some >> (r / TOP_AHEAD) % 32 & 1))
            continue;
        top_fetch(s, first, r, &e);
        ORDO_UNROLL
        for (uint k = 0; k < TOP_AHEAD; k++) {
            const uint fate = top_fate(s, p, &e, k);
            if (fate == TOP_TAKE) {
                to->keys[l->taken_at + before % TOP_KEEP] = key_from_bits(e.key[k]);
                if (to->index)
                    to->index[l->taken_at + before % TOP_KEEP] = e.index[k];
            } else if (fate == TOP_KEEP) {
                if (to->list_keys) {
                    to->list_keys[l->listed_at + before / TOP_KEEP] = key_from_bits(e.key[k]);
                    to->list_index[l->listed_at + before / TOP_KEEP] = e.index[k];
                }
                top_count_digit(l, top_digit(p, e.key[k], e.index[k], p.next_shift, p.next_mask),
                                TOP_GROUP == 1 ? r : get_local_id(0));
            }
            before += fate;
        }
    }
}

/* Copies candidates to the output if their digit is less than the k-th element's. Copies candidates with the same digit
 * to a list, which the next pass reads. If there are more than p.room of them, writes no list. All passes need the same
 * number of groups. */
ORDO_KERNEL(TOP_GROUP)
void top_narrow(__global const ordo_key *keys, __global ordo_key *list_keys, __global uint *list_index,
                __global ordo_key *keys_out, __global uint *index_out, __global uint *state, struct top_pass p)
{
    __local top_local l;
    const top_step    s = top_step_of(keys, list_keys, list_index, state, p);
    const uint        tile_size = TOP_GROUP * s.items;
    const uint        tiles = s.source.count ? (s.source.count - 1) / tile_size + 1 : 0;
    __global uint    *record = top_record_at(state, p.pass);
    const bool        listed = s.now.candidates <= p.room;
    const ulong       list_at = (ulong) (p.pass % 2) * p.room;
    const top_places  to = { keys_out + p.keys_out_at, index_out ? index_out + p.index_out_at : 0,
                            listed ? list_keys + list_at : 0, list_index + list_at };
    if (s.now.needed == 0 || get_group_id(0) >= tiles)
        return;
    top_clear(&l);
    for (uint tile = get_group_id(0); tile < tiles; tile += get_num_groups(0)) {
        const uint      first = tile * tile_size + get_local_id(0);
        const top_fates fates = top_fates_of(&s, p, first);
        uint            all;

        const uint before = top_scan(fates.sum, l.scratch, &all);
        if (get_local_id(0) == 0) {
            l.taken_at = all % TOP_KEEP ? ordo_add(&state[0], all % TOP_KEEP) : 0;
            l.listed_at = all / TOP_KEEP && listed ? ordo_add(&record[TOP_LISTED], all / TOP_KEEP) : 0;
        }
        top_barrier();
        if (fates.sum)
            top_move(&l, &s, p, first, fates.some, before, &to);
    }
    if (!s.done)
        top_finish(&l, record, min(tiles, (uint) get_num_groups(0)), s.now, p);
}

ORDO_KERNEL(TOP_GROUP)
void top_all(__global const ordo_key *keys, ulong keys_at, uint count, __global ordo_key *keys_out,
             __global uint *index_out)
{
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {
        keys_out[i] = keys[keys_at + i];
        index_out[i] = (uint) i;
    }
}

#if TOP_GROUP > 1
typedef struct {
    ordo_key_form key[TOP_ORDERED];
    uint          index[TOP_ORDERED];
} top_ordered;
ORDO_STATIC_ASSERT(sizeof(top_ordered) <= TOP_ORDERED_LOCAL_BYTES(KEY_BITS / 8), "the host checks for so many bytes");

ORDO_FN uint top_rank(__local const top_ordered *l, uint count, uint i)
{
    const ordo_key_form key = l->key[i];
    const uint          index = l->index[i];
    uint                before = 0;
    for (uint k = 0; k < count; k++)
        before += key_before(l->key[k], key) || (key_same(l->key[k], key) && l->index[k] < index);
    return before;
}

/* The first group sorts the selected elements and copies their values. The other groups zero `state`. There must be at
 * least two groups. index_out may be NULL. */
ORDO_KERNEL(TOP_GROUP)
void top_order(__global const ordo_key *keys, __global const uint *index, __global const uint *values,
               __global ordo_key *keys_out, __global uint *index_out, __global uint *values_out, __global uint *state,
               struct top_order o)
{
    __local top_ordered l;
    if (get_group_id(0) > 0) {
        for (ulong i = get_global_id(0) - TOP_GROUP; i < o.state_words; i += get_global_size(0) - TOP_GROUP)
            state[i] = 0;
        return;
    }
    for (uint i = get_local_id(0); i < o.count; i += TOP_GROUP) {
        l.key[i] = key_bits(keys[i]);
        l.index[i] = index[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_local_id(0); i < o.count; i += TOP_GROUP) {
        const uint place = top_rank(&l, o.count, i);

        keys_out[o.keys_out_at + place] = key_from_bits(l.key[i]);
        if (index_out)
            index_out[o.index_out_at + place] = l.index[i];
        for (uint w = 0; w < o.value_words; w++)
            values_out[(o.values_out_at + place) * o.value_words + w] =
                values[(o.values_at + l.index[i]) * o.value_words + w];
    }
}
#endif
