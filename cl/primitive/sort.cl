/* SPDX-License-Identifier: Apache-2.0 */
/* Stable radix sort, least significant digit first, for devices with many work-items.
 *
 * Three ways to tell a tile where its elements of each digit go:
 *   one-sweep         the tiles look back at each other in the same launch: everything is read once and written once.
 *                     Adinarayan and Merrill, Onesweep (2022); look-back: Merrill and Garland (2016).
 *   reduce-then-scan  count, scan, scatter in three launches: waits for nobody, reads the keys twice.
 *   direct            for few tiles: each counts all keys for itself, in one launch.
 * All rank and scatter with the same functions, and are stable, so their results are the same bits.
 *
 * With 8-byte keys a plan that the histogram makes (shared/sort.h) leaves out digits that all keys share. Where the most significant
 * digits split the keys into small segments, the passes sort by those digits alone, and sort_local.cl sorts each segment
 * in local memory by all bits below. Stehle and Jacobsen, A Memory Bandwidth-Efficient Hybrid Radix Sort on GPUs
 * (SIGMOD 2017).
 *
 * Tunables: GROUP_SIZE, RANK_ITEMS (items per work-item), RANK_BITS (of the widest digit).
 */
#pragma once
#include "device/atomic.cl"
#include "device/team.cl"
#include "group/rank.cl"
#include "group/scan.cl"
#include "shared/key.h"
#include "shared/sort.h"

/* Built together: sort_histogram sort_onesweep */
/* Built together: sort_count sort_scan sort_scatter */

#if RANK_BITS > 8
#error "RANK_BITS must be at most 8: the control buffer has SORT_RADIX_MAX counters a tile"
#endif

/* ---- a tile ---------------------------------------------------------------------------------------------------- */

/* A digit: its number, its lowest bit in the ordered form, and its width as a mask. */
typedef struct {
    uint number, shift, mask;
} sort_digit;

/* Local memory of a tile: first the teams' counts, then the keys in digit order, then the values. */
typedef union {
    uint     counts[RANK_TEAMS > 1 ? RANK_WORDS : 2 * RANK_RADIX]; /* sort_direct has two rows, whatever the teams */
    ordo_key keys[RANK_TILE];
#if ORDO_VALUE_BYTES
    ordo_value values[RANK_TILE];
#endif
} sort_exchange;

typedef struct {
    sort_exchange exchange;
    uint          scratch[GROUP_SCAN_WORDS];
    uint          base[RANK_RADIX]; /* where an element of the digit goes, less its place in the tile */
    uint          tile;
    sort_digit    digit;
    uint          missing; /* look-back: 1 + the last tile that somebody waited for in vain; 0: none */
} sort_local_memory;

ORDO_FN sort_digit sort_digit_of(uint number, uint first_bit, uint bits, uint passes)
{
    const uint below = SORT_BITS_BELOW(bits, passes, number);
    const uint width = SORT_BITS_BELOW(bits, passes, number + 1) - below;
    return (sort_digit) { number, first_bit + below, (1u << width) - 1 };
}

/* The digit that a pass sorts by; its number is SORT_IDLE where the plan leaves the pass nothing to do. Passes over 4-byte
 * keys have no plan: their digit is an argument. */
ORDO_FN sort_digit sort_pass_digit(__global const uint *plan, struct sort_pass p)
{
#if KEY_BITS == 64
    if (p.planned) {
        const uint number = plan[SORT_PLAN_DIGITS + p.pass];
        sort_digit d = { SORT_IDLE, 0, 0 };
        if (number != SORT_IDLE)
            d = sort_digit_of(number, p.first_bit, p.bits, p.passes);
        return d;
    }
#else
    (void) plan;
#endif
    return (sort_digit) { p.pass, p.shift, p.digit_mask };
}

/* Elements of tile `tile`; fewer only in the last one. */
ORDO_FN uint sort_tile_count(uint count, uint tile)
{
    return min(count - tile * RANK_TILE, (uint) RANK_TILE);
}

/* Ordered forms of this work-item's keys of a tile; what lies beyond the end is all ones and, coming last in the tile's
 * order too, is ranked behind every real key. */
ORDO_FN void sort_load_keys(__global const ordo_key *tile_keys, uint here, ordo_key_form *bits)
{
    const uint first = rank_first_element();
    if (here == RANK_TILE) {
        ORDO_UNROLL
        for (int i = 0; i < RANK_ITEMS; i++)
            bits[i] = key_bits(tile_keys[first + i * TEAM_WIDTH]);
    } else {
        ORDO_UNROLL
        for (int i = 0; i < RANK_ITEMS; i++) {
            const uint e = first + i * TEAM_WIDTH;
            bits[i] = e < here ? key_bits(tile_keys[e]) : ~(ordo_key_form) 0;
        }
    }
}

/* Digits of the elements that a work-item writes, four to a register: the places themselves would take four times as many. */
typedef struct {
    uint four[(RANK_ITEMS + 3) / 4];
} sort_digits;

/* Writes the tile's keys, which lie in the exchange in digit order, to their places; coalesced within a digit.
 * Keeps the digits, for the values. */
ORDO_FN void sort_store_keys(__local const sort_local_memory *l, uint here, uint shift, uint mask,
                             __global ordo_key *out, sort_digits *digits)
{
    ORDO_UNROLL
    for (int k = 0; k < RANK_ITEMS; k++) {
        const uint     place = get_local_id(0) + k * GROUP_SIZE;
        const ordo_key key = l->exchange.keys[place];
        const uint     digit = rank_digit(key_bits(key), shift, mask);
        digits->four[k / 4] = k % 4 == 0 ? digit : digits->four[k / 4] | digit << k % 4 * 8;
        if (place < here)
            out[l->base[digit] + place] = key;
    }
}

#if ORDO_VALUE_BYTES
ORDO_FN void sort_load_values(__global const ordo_value *tile_values, uint here, ordo_value *value)
{
    const uint first = rank_first_element();
    ORDO_UNROLL
    for (int i = 0; i < RANK_ITEMS; i++) {
        const uint e = first + i * TEAM_WIDTH;
        value[i] = e < here ? tile_values[e] : 0;
    }
}

/* Moves the tile's values as its keys were: `places` and `digits` as ranked and stored.
 * Called by every work-item after sort_store_keys. */
ORDO_FN void sort_move_values(__local sort_local_memory *l, const ordo_value *value, uint here,
                              const rank_places *places, const sort_digits *digits, __global ordo_value *out)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    ORDO_UNROLL
    for (int i = 0; i < RANK_ITEMS; i++)
        l->exchange.values[rank_place_of(places, i)] = value[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    ORDO_UNROLL
    for (int k = 0; k < RANK_ITEMS; k++) {
        const uint at = get_local_id(0) + k * GROUP_SIZE;
        const uint digit = digits->four[k / 4] >> k % 4 * 8 & 255;
        if (at < here)
            out[l->base[digit] + at] = l->exchange.values[at];
    }
}
#endif

/* Puts the keys into the exchange in digit order; their ranks become places in the tile.
 * Called by every work-item, behind a barrier after rank_starts. Barriers: one before the exchange is overwritten;
 * the caller's next one makes it visible. */
ORDO_FN void sort_exchange_keys(__local sort_local_memory *l, const ordo_key_form *bits, uint shift, uint mask,
                                rank_places *places)
{
    rank_to_places(bits, shift, mask, l->exchange.counts, places);
    barrier(CLK_LOCAL_MEM_FENCE);
    ORDO_UNROLL
    for (int i = 0; i < RANK_ITEMS; i++)
        l->exchange.keys[rank_place_of(places, i)] = key_from_bits(bits[i]);
}

/* Ranks a tile by a digit and puts its keys into the exchange in digit order. total[j] and start[j]: how many elements
 * of this work-item's digit j the tile has, and where they begin in it. Called by every work-item, uniformly; the
 * exchange is in use by nobody. The next barrier makes the exchange visible. */
ORDO_FN void sort_rank_tile(__local sort_local_memory *l, const ordo_key_form *bits, sort_digit d, rank_places *places,
                            uint *total, uint *start)
{
    rank_clear(l->exchange.counts);
    rank_within_team(bits, d.shift, d.mask, l->exchange.counts, places);
    barrier(CLK_LOCAL_MEM_FENCE);
    rank_totals(l->exchange.counts, total);
    rank_starts(l->exchange.counts, total, l->scratch, start);
    barrier(CLK_LOCAL_MEM_FENCE);
    sort_exchange_keys(l, bits, d.shift, d.mask, places);
}

/* ---- one-sweep: histogram -------------------------------------------------------------------------------------- */

/* Several copies of the counters, lanes apart, so that equal keys do not queue for one word. */
#ifndef HISTOGRAM_COPIES
#define HISTOGRAM_COPIES 1
#endif
#define HISTOGRAM_PASSES_MAX ((KEY_BITS + RANK_BITS - 1) / RANK_BITS + 1)
#define HISTOGRAM_WORDS      (HISTOGRAM_PASSES_MAX * RANK_RADIX * HISTOGRAM_COPIES)

/* counts of `passes` digits of one key, into this work-item's copy. */
ORDO_FN void histogram_count(__local uint *counts, ordo_key_form bits, struct sort_histogram h, uint copy)
{
    for (uint pass = 0; pass < h.passes; pass++) {
        const sort_digit d = sort_digit_of(pass, h.first_bit, h.bits, h.passes);
        const uint       digit = rank_digit(bits, d.shift, d.mask);
        ordo_local_add(&counts[(pass * RANK_RADIX + digit) * HISTOGRAM_COPIES + copy], 1);
    }
}

typedef struct {
    uint greatest, least; /* greatest digit + 1; RANK_RADIX - least digit */
} histogram_digit;

typedef struct {
    uint            counts[HISTOGRAM_WORDS];
    uint            scratch[GROUP_SCAN_WORDS];
    uint            finished;
    histogram_digit digit[HISTOGRAM_PASSES_MAX];
} histogram_local;

/* The last group to finish turns the counts into where each digit begins, and leaves the counters as it found them: zero.
 * Its loads are ordered behind the others' additions by the counter of finished groups, to which each group adds behind a
 * fence. */
ORDO_FN void histogram_scan(__global uint *counters, __global uint *control, struct sort_histogram h,
                            __local histogram_local *l)
{
    for (uint pass = get_local_id(0); pass < HISTOGRAM_PASSES_MAX; pass += GROUP_SIZE) {
        l->digit[pass].greatest = 0;
        l->digit[pass].least = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint pass = 0; pass < h.passes; pass++) {
        uint count[RANK_DIGITS_PER_ITEM], sum = 0, all;
        RANK_FOR_MY_DIGITS(digit, j)
        {
            count[j] = ordo_exchange(&counters[1 + pass * RANK_RADIX + digit], 0);
            sum += count[j];
            if (KEY_BITS == 64 && count[j]) {
                ordo_local_max(&l->digit[pass].greatest, digit + 1);
                ordo_local_max(&l->digit[pass].least, RANK_RADIX - digit);
            }
        }
        uint before = group_scan_add(sum, l->scratch, &all);
        RANK_FOR_MY_DIGITS(digit, j)
        {
            control[h.bases_word + 2 * pass * RANK_RADIX + digit] = before;
            before += count[j];
        }
    }
    if (get_local_id(0) == 0)
        ordo_exchange(&counters[0], 0);
    barrier(CLK_LOCAL_MEM_FENCE);
}

ORDO_FN bool histogram_varies(__local const histogram_local *l, uint digit)
{
    return l->digit[digit].greatest + l->digit[digit].least != RANK_RADIX + 1;
}

/* ---- one-sweep: the plan --------------------------------------------------------------------------------------- */

/* The last group counts its sample in this many cells. */
#define SAMPLE_CELLS (HISTOGRAM_WORDS >= 8192 ? 8192 : HISTOGRAM_WORDS >= 4096 ? 4096 : 2048)

#if KEY_BITS == 64 && HISTOGRAM_WORDS >= 2048
typedef struct {
    float mean;    /* the mean number of elements that have the prefix of a random element */
    float fullest; /* the share of the sample in the fullest cell */
} sample_prefixes;

/* Keys of the sample that a work-item asks for at once. */
#define SAMPLE_AHEAD 8

/* The number of keys in a sample of `count` keys, of which there are at least 2^12. With 8192 cells the standard
 * deviation of the estimate is at most 16 elements up to 2^26 keys. */
ORDO_FN uint sample_keys(uint count)
{
    return clamp(count >> 10, min(count / 2, 16384u), 65536u);
}

/* Estimates how many elements share a prefix: the bits of the ordered form from `shift` on. Counts a sample by a hash
 * of the prefix. Two different prefixes fall into one cell with a probability of 1 / SAMPLE_CELLS. More pairs than that
 * have equal prefixes. Called by every work-item, uniformly. */
ORDO_FN sample_prefixes sample_by_prefix(__global const ordo_key *keys, uint count, uint shift,
                                         __local histogram_local *l)
{
    const uint      n = sample_keys(count), step = count / n, lid = get_local_id(0);
    uint            pairs = 0, fullest = 0;
    sample_prefixes out;

    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint cell = lid; cell < SAMPLE_CELLS; cell += GROUP_SIZE)
        l->counts[cell] = 0;
    if (lid == 0)
        l->finished = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint first = lid; first < n; first += SAMPLE_AHEAD * GROUP_SIZE) {
        ulong hash[SAMPLE_AHEAD];
        ORDO_UNROLL
        for (uint i = 0; i < SAMPLE_AHEAD; i++)
            hash[i] = (key_bits(keys[min(first + i * GROUP_SIZE, n - 1) * step]) >> shift) * 0x9e3779b97f4a7c15ul;
        ORDO_UNROLL
        for (uint i = 0; i < SAMPLE_AHEAD; i++)
            if (first + i * GROUP_SIZE < n)
                ordo_local_add(&l->counts[(uint) (hash[i] >> 32) * 0x85ebca6bu >> 16 & (SAMPLE_CELLS - 1)], 1);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint cell = lid; cell < SAMPLE_CELLS; cell += GROUP_SIZE) {
        const uint here = l->counts[cell];
        pairs += here ? min(here * (here - 1), 0xffffffffu / SAMPLE_CELLS) : 0;
        fullest = max(fullest, here);
    }
    ordo_local_max(&l->finished, fullest);
    const uint all = group_reduce_add(pairs, l->scratch);
    barrier(CLK_LOCAL_MEM_FENCE);
    const float ordered_pairs = (float) n * (float) (n - 1);
    out.mean = ((float) all / ordered_pairs - 1.0f / (float) SAMPLE_CELLS) * (float) count;
    out.fullest = (float) l->finished / (float) n;
    return out;
}

/* A segment with a greater share of all elements keeps one group busy for long. */
#define SAMPLE_SHARE_MAX (1.0f / 400.0f)
/* The mean number of elements in the bin of an element. The local pass compares each element with all others of its
 * bin. */
#define SAMPLE_BIN_MAX 96.0f
/* The bins of the local pass tell at least this many bits below the two top digits apart. */
#define SAMPLE_BIN_BITS 8

/* The number of passes, by digit `top` and the ones below it, after which segments are small enough for the local pass;
 * 0: the local pass does not pay. `top` is the most significant digit that varies. A wrong estimate costs time: the
 * result is right all the same. Called by every work-item, uniformly. */
ORDO_FN uint plan_top_digits(__global const ordo_key *keys, struct sort_histogram h, uint top, uint varying,
                             __local histogram_local *l)
{
    uint found = 0, digits = 1;
    bool searches = varying >= SORT_LOCAL_DIGITS;
    /* Tries prefixes of two digits and SAMPLE_BIN_BITS first (digits = 1), then two digits, then three. */
    while (searches) {
        const bool            bins = digits == 1;
        const uint            low = sort_digit_of(top + 1 - max(digits, 2u), h.first_bit, h.bits, h.passes).shift;
        const sample_prefixes alike =
            sample_by_prefix(keys, h.count, bins ? low - min(low, (uint) SAMPLE_BIN_BITS) : low, l);
        const bool few =
            alike.mean <= (bins ? SAMPLE_BIN_MAX : (float) h.segment_limit) && alike.fullest <= SAMPLE_SHARE_MAX;
        found = few && !bins ? digits : 0;
        digits++;
        searches = found == 0 && few == bins && digits <= 3 && digits + SORT_LOCAL_DIGITS - 2 <= varying;
    }
    return found;
}
#else
ORDO_FN uint plan_top_digits(__global const ordo_key *keys, struct sort_histogram h, uint top, uint varying,
                             __local histogram_local *l)
{
    (void) keys, (void) h, (void) top, (void) varying, (void) l;
    return 0;
}
#endif

/* Plans passes by the digits from `low` to `top`. The local pass sorts by the bits below. Called by one work-item. */
ORDO_FN void plan_local(__global uint *plan, struct sort_histogram h, uint low, uint top)
{
    plan[SORT_PLAN_LOCAL] = sort_digit_of(low, h.first_bit, h.bits, h.passes).shift;
    plan[SORT_PLAN_PASSES] = top + 1 - low;
    for (uint pass = 0; pass < h.passes; pass++)
        plan[SORT_PLAN_DIGITS + pass] = low + pass <= top ? low + pass : SORT_IDLE;
}

/* Plans passes by every digit that varies, and by more where S3 asks for it. Called by one work-item. */
ORDO_FN void plan_all(__global uint *plan, struct sort_histogram h, uint varying, __local const histogram_local *l)
{
    const uint wanted = max(varying, 1u), passes = wanted + (h.passes - wanted) % 2;
    uint       spare = passes - varying, pass = 0;
    for (uint digit = 0; digit < h.passes; digit++) {
        const bool varies = histogram_varies(l, digit);
        if (!varies && spare == 0)
            continue;
        spare -= varies ? 0 : 1;
        plan[SORT_PLAN_DIGITS + pass++] = digit;
    }
    for (; pass < h.passes; pass++)
        plan[SORT_PLAN_DIGITS + pass] = SORT_IDLE;
    plan[SORT_PLAN_LOCAL] = SORT_NO_LOCAL;
    plan[SORT_PLAN_PASSES] = passes;
}

/* Writes the plan. Called by every work-item of the last group, behind a barrier after the digits' facts. */
ORDO_FN void histogram_plan(__global const ordo_key *keys, __global uint *plan, struct sort_histogram h,
                            __local histogram_local *l)
{
    uint varying = 0, top = 0;
    for (uint digit = 0; digit < h.passes; digit++) {
        varying += histogram_varies(l, digit);
        top = histogram_varies(l, digit) ? digit : top;
    }
    const uint digits = h.segment_limit ? plan_top_digits(keys, h, top, varying, l) : 0;
    if (get_local_id(0) != 0)
        return;
    if (digits)
        plan_local(plan, h, top + 1 - digits, top);
    else
        plan_all(plan, h, varying, l);
}

/* Histograms of every digit in one read of the keys, the plan of the passes over 8-byte keys, and a clean start for the
 * passes: tickets and status words are zeroed. Any number of groups. counters: one word for finished groups, then
 * passes x RANK_RADIX; zero before and after. */
ORDO_KERNEL(GROUP_SIZE)
void sort_histogram(__global const ordo_key *keys, __global uint *counters, __global uint *control, __global uint *plan,
                    struct sort_histogram h)
{
    __local histogram_local l;
    const uint              lid = get_local_id(0), words = h.passes * RANK_RADIX;
    const ulong             stride = get_global_size(0);

    for (ulong i = get_global_id(0); i < h.bases_word; i += stride)
        control[i] = 0;
    for (uint i = lid; i < words * HISTOGRAM_COPIES; i += GROUP_SIZE)
        l.counts[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    keys += h.keys_at;
    for (ulong i = get_global_id(0); i < h.count; i += stride)
        histogram_count(l.counts, key_bits(keys[i]), h, lid % HISTOGRAM_COPIES);
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint i = lid; i < words; i += GROUP_SIZE) {
        uint sum = 0;
        for (uint copy = 0; copy < HISTOGRAM_COPIES; copy++)
            sum += l.counts[i * HISTOGRAM_COPIES + copy];
        if (sum)
            ordo_add(&counters[1 + i], sum);
    }
    ordo_fence_device();
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (lid == 0)
        l.finished = ordo_add(&counters[0], 1);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (l.finished == get_num_groups(0) - 1) {
        ordo_fence_device();
        histogram_scan(counters, control, h, &l);
#if KEY_BITS == 64
        histogram_plan(keys, plan, h, &l);
#endif
    }
}

/* ---- one-sweep: look-back -------------------------------------------------------------------------------------- */

/* Looks at a predecessor before the waiting group counts that tile itself. A tile needs some 10 us. */
#ifndef SORT_LOOKS
#define SORT_LOOKS 4096
#endif

/* How far one digit's look-back has come. */
typedef struct {
    uint sum; /* elements of the digit in the tiles after `at` and before this one */
    int  at;  /* the tile that is asked next; below the first tile: done */
} sort_look;

/* Words asked for together: the answers take as long as one, and most are there. */
#define SORT_LOOK_AHEAD 4

/* Goes on until the sum is complete or a tile is silent for too long: then false. */
ORDO_FN bool sort_look_back(__global uint *status, uint digit, int first_tile, uint upto, sort_look *look)
{
    for (uint looks = 0; look->at >= first_tile && looks < SORT_LOOKS; looks++) {
        uint word[SORT_LOOK_AHEAD];
        ORDO_UNROLL
        for (int i = 0; i < SORT_LOOK_AHEAD; i++)
            word[i] = ordo_load_relaxed(&status[(uint) max(look->at - i, first_tile) * RANK_RADIX + digit]);
        bool silent = false;
        ORDO_UNROLL
        for (int i = 0; i < SORT_LOOK_AHEAD; i++) {
            const uint code = word[i] >> SORT_COUNT_BITS;
            const bool known = code == upto || code == SORT_CODE_OWN;
            silent = silent || !known;
            if (silent || look->at < first_tile)
                continue;
            look->sum += word[i] & SORT_COUNT_MASK;
            look->at = code == upto ? first_tile - 1 : look->at - 1;
            looks = 0;
        }
        if (looks)
            ordo_pause();
    }
    return look->at < first_tile;
}

/* counts[digit] = how many of a tile's keys have it, counted from the input, which no pass overwrites.
 * Called by every work-item, uniformly. The exchange is in use: counts lie in the bases, which are not yet. */
ORDO_FN void sort_count_tile(__global const ordo_key *tile_keys, uint here, uint shift, uint mask, __local uint *counts)
{
    for (uint digit = get_local_id(0); digit < RANK_RADIX; digit += GROUP_SIZE)
        counts[digit] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint e = get_local_id(0); e < here; e += GROUP_SIZE)
        ordo_local_add(&counts[rank_digit(key_bits(tile_keys[e]), shift, mask)], 1);
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* before[j] = elements of this work-item's digit j in all tiles of this launch before this one. Ends whether or not other
 * groups make progress: a tile that stays silent is counted here, by the whole group.
 * Called by every work-item, uniformly, with l->missing 0 and visible. */
ORDO_FN void sort_elements_before(__local sort_local_memory *l, __global uint *status, __global const ordo_key *keys,
                                  struct sort_pass p, sort_digit d, uint *before)
{
    const int first_tile = (int) p.first_tile;
    sort_look look[RANK_DIGITS_PER_ITEM];
    bool      silent = false;

    RANK_FOR_MY_DIGITS(digit, j)
    {
        look[j].sum = 0;
        look[j].at = (int) l->tile - 1;
        if (!sort_look_back(status, digit, first_tile, SORT_CODE_UPTO(p.pass), &look[j]))
            silent = true;
    }
    for (;;) {
        if (silent) {
            RANK_FOR_MY_DIGITS(digit, j)
            {
                if (look[j].at >= first_tile)
                    ordo_local_max(&l->missing, (uint) look[j].at + 1);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint missing = l->missing;
        if (missing == 0)
            break;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (get_local_id(0) == 0)
            l->missing = 0;
        sort_count_tile(keys + (ulong) (missing - 1) * RANK_TILE, sort_tile_count(p.count, missing - 1), d.shift,
                        d.mask, l->base);
        silent = false;
        RANK_FOR_MY_DIGITS(digit, j)
        {
            if (look[j].at == (int) missing - 1) {
                look[j].sum += l->base[digit];
                look[j].at--;
            }
            if (!sort_look_back(status, digit, first_tile, SORT_CODE_UPTO(p.pass), &look[j]))
                silent = true;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    RANK_FOR_MY_DIGITS(digit, j)
    {
        before[j] = look[j].sum;
    }
}

ORDO_FN void sort_publish(__global uint *status, uint tile, const uint *count, uint code)
{
    RANK_FOR_MY_DIGITS(digit, j)
    {
        ordo_store_relaxed(&status[tile * RANK_RADIX + digit], code << SORT_COUNT_BITS | count[j]);
    }
}

/* ---- one-sweep: a pass ----------------------------------------------------------------------------------------- */

/* The next tile of the launch, for the whole group, and the digit of the pass: one work-item waits for both at once. Tickets start in the order in which groups do, so a tile's
 * predecessors have all been taken by groups that have started. */
ORDO_FN sort_digit sort_draw_tile(__local sort_local_memory *l, __global uint *control, __global const uint *plan,
                                  struct sort_pass p)
{
    if (get_local_id(0) == 0) {
        l->tile = p.first_tile + ordo_add(&control[p.ticket_word], 1);
        l->missing = 0;
        l->digit = sort_pass_digit(plan, p);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#if KEY_BITS == 64
    return l->digit;
#else
    return sort_pass_digit(plan, p);
#endif
}

/* Where the control buffer says where each digit's elements begin, before launch `part` of the pass. */
ORDO_FN uint sort_base_word(struct sort_pass p, sort_digit d, uint part)
{
    return p.bases_word + (2 * d.number + part % 2) * RANK_RADIX;
}

/* Sorts the tiles of a launch by one digit. One group per tile. */
ORDO_KERNEL(GROUP_SIZE)
void sort_onesweep(__global const ordo_key *keys_in, __global ordo_key *keys_out,
#if ORDO_VALUE_BYTES
                   __global const ordo_value *values_in, __global ordo_value *values_out,
#endif
                   __global uint *control, __global const uint *plan, struct sort_pass p)
{
    __local sort_local_memory l;
    const sort_digit          d = sort_draw_tile(&l, control, plan, p);
    if (d.number == SORT_IDLE)
        return;
    __global uint *status = control + p.status_word;
    ordo_key_form  bits[RANK_ITEMS];
    rank_places    places;
    uint           total[RANK_DIGITS_PER_ITEM], start[RANK_DIGITS_PER_ITEM], before[RANK_DIGITS_PER_ITEM];
    sort_digits    digits;

    const uint  tile = l.tile, here = sort_tile_count(p.count, tile);
    const ulong tile_at = (ulong) tile * RANK_TILE;
    keys_in += p.keys_in_at;
    sort_load_keys(keys_in + tile_at, here, bits);

    rank_clear(l.exchange.counts);
    rank_within_team(bits, d.shift, d.mask, l.exchange.counts, &places);
    barrier(CLK_LOCAL_MEM_FENCE);
    rank_totals(l.exchange.counts, total);
    /* What lies beyond the end was counted under the last digit; only the very last tile has any. Whoever reads that
     * count adds it to the last digit of a later tile, and there is none. */
    sort_publish(status, tile, total, tile == p.first_tile ? SORT_CODE_UPTO(p.pass) : SORT_CODE_OWN);
    rank_starts(l.exchange.counts, total, l.scratch, start);
    barrier(CLK_LOCAL_MEM_FENCE);
    sort_exchange_keys(&l, bits, d.shift, d.mask, &places);
#if ORDO_VALUE_BYTES
    /* Now, in the registers that the keys have left: they arrive while the group looks back. */
    ordo_value value[RANK_ITEMS];
    sort_load_values(values_in + p.values_in_at + tile_at, here, value);
#endif

    sort_elements_before(&l, status, keys_in, p, d, before);
    RANK_FOR_MY_DIGITS(digit, j)
    {
        const uint base = control[sort_base_word(p, d, p.part) + digit] + before[j];
        l.base[digit] = base - start[j];
        before[j] += total[j];
        if (tile == p.end_tile - 1)
            control[sort_base_word(p, d, p.part + 1) + digit] = base + total[j];
    }
    if (tile != p.first_tile)
        sort_publish(status, tile, before, SORT_CODE_UPTO(p.pass));
    barrier(CLK_LOCAL_MEM_FENCE);

    sort_store_keys(&l, here, d.shift, d.mask, keys_out + p.keys_out_at, &digits);
#if ORDO_VALUE_BYTES
    sort_move_values(&l, value, here, &places, &digits, values_out + p.values_out_at);
#endif
}

/* ---- direct ---------------------------------------------------------------------------------------------------- */

/* Copies of the counters, as in the histogram. */
#define DIRECT_COPIES (RANK_TILE * sizeof(ordo_key) >= 2 * 8 * RANK_RADIX * sizeof(uint) ? 8 : 1)
#if GROUP_SIZE > 1
/* Keys that a work-item has under way while it counts. */
#define DIRECT_AHEAD 4

/* Adds the digits of elements first .. end - 1 to counts[digit * DIRECT_COPIES + copy]. */
ORDO_FN void direct_count(__global const ordo_key *keys, uint first, uint end, sort_digit d, __local uint *counts)
{
    const uint copy = get_local_id(0) % DIRECT_COPIES;
    for (uint at = first + get_local_id(0); at < end; at += DIRECT_AHEAD * GROUP_SIZE) {
        ordo_key key[DIRECT_AHEAD];
        ORDO_UNROLL
        for (int i = 0; i < DIRECT_AHEAD; i++)
            key[i] = keys[min(at + i * GROUP_SIZE, end - 1)];
        ORDO_UNROLL
        for (int i = 0; i < DIRECT_AHEAD; i++) {
            const uint digit = rank_digit(key_bits(key[i]), d.shift, d.mask);
            if (at + i * GROUP_SIZE < end)
                ordo_local_add(&counts[digit * DIRECT_COPIES + copy], 1);
        }
    }
}

ORDO_FN uint direct_sum(__local const uint *counts, uint digit)
{
    uint sum = 0;
    for (uint copy = 0; copy < DIRECT_COPIES; copy++)
        sum += counts[digit * DIRECT_COPIES + copy];
    return sum;
}

/* One pass over few tiles: every group counts all keys for itself, so there is one launch, and nothing to wait for or to
 * clear. One group per tile. */
ORDO_KERNEL(GROUP_SIZE)
void sort_direct(__global const ordo_key *keys_in, __global ordo_key *keys_out,
#if ORDO_VALUE_BYTES
                 __global const ordo_value *values_in, __global ordo_value *values_out,
#endif
                 struct sort_pass p)
{
    __local sort_local_memory l;
    __local uint             *earlier = l.exchange.counts, *later = earlier + RANK_RADIX * DIRECT_COPIES;
    ordo_key_form             bits[RANK_ITEMS];
    rank_places               places;
    uint                      total[RANK_DIGITS_PER_ITEM], start[RANK_DIGITS_PER_ITEM], before[RANK_DIGITS_PER_ITEM];
    sort_digits               digits;
    const uint                tile = (uint) get_group_id(0), here = sort_tile_count(p.count, tile);
    const uint                tile_at = tile * RANK_TILE;
    const sort_digit          d = { p.pass, p.shift, p.digit_mask };

    keys_in += p.keys_in_at;
    sort_load_keys(keys_in + tile_at, here, bits);

    for (uint i = get_local_id(0); i < 2 * RANK_RADIX * DIRECT_COPIES; i += GROUP_SIZE)
        earlier[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    direct_count(keys_in, 0, tile_at, d, earlier);
    direct_count(keys_in, tile_at, p.count, d, later);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint sum = 0, all;
    RANK_FOR_MY_DIGITS(digit, j)
    {
        before[j] = direct_sum(earlier, digit);
        total[j] = before[j] + direct_sum(later, digit);
        sum += total[j];
    }
    uint digit_at = group_scan_add(sum, l.scratch, &all);
    RANK_FOR_MY_DIGITS(digit, j)
    {
        before[j] += digit_at;
        digit_at += total[j];
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    sort_rank_tile(&l, bits, d, &places, total, start);
#if ORDO_VALUE_BYTES
    ordo_value value[RANK_ITEMS];
    sort_load_values(values_in + p.values_in_at + tile_at, here, value);
#endif
    RANK_FOR_MY_DIGITS(digit, j)
    {
        l.base[digit] = before[j] - start[j];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    sort_store_keys(&l, here, d.shift, d.mask, keys_out + p.keys_out_at, &digits);
#if ORDO_VALUE_BYTES
    sort_move_values(&l, value, here, &places, &digits, values_out + p.values_out_at);
#endif
}
#endif

/* ---- reduce-then-scan ------------------------------------------------------------------------------------------ */

/* counts[digit * tiles + tile] = how many of the tile's keys have the digit. One group per tile. */
ORDO_KERNEL(GROUP_SIZE)
void sort_count(__global const ordo_key *keys_in, __global uint *control, __global const uint *plan, struct sort_pass p)
{
    __local uint     counts[RANK_RADIX];
    const uint       tile = (uint) get_group_id(0);
    const sort_digit d = sort_pass_digit(plan, p);
    if (d.number == SORT_IDLE)
        return;
    sort_count_tile(keys_in + p.keys_in_at + (ulong) tile * RANK_TILE, sort_tile_count(p.count, tile), d.shift, d.mask,
                    counts);
    for (uint digit = get_local_id(0); digit < RANK_RADIX; digit += GROUP_SIZE)
        control[RANK_RADIX + digit * p.tiles + tile] = counts[digit];
}

/* One group per digit: its counts become the counts before each tile, its total goes to control[digit]. */
ORDO_KERNEL(GROUP_SIZE)
void sort_scan(__global uint *control, __global const uint *plan, struct sort_pass p)
{
    __local uint scratch[GROUP_SCAN_WORDS];
    const uint   digit = (uint) get_group_id(0);
    if (sort_pass_digit(plan, p).number == SORT_IDLE)
        return;
    __global uint *counts = control + RANK_RADIX + digit * p.tiles;
    uint           before = 0;
    for (uint first = 0; first < p.tiles; first += GROUP_SIZE) {
        const uint tile = first + get_local_id(0);
        const uint count = tile < p.tiles ? counts[tile] : 0;
        uint       all;
        const uint upto = before + group_scan_add(count, scratch, &all);
        if (tile < p.tiles)
            counts[tile] = upto;
        before += all;
    }
    if (get_local_id(0) == 0)
        control[digit] = before;
}

/* Sorts each tile by one digit and writes it to where the counts say. One group per tile. */
ORDO_KERNEL(GROUP_SIZE)
void sort_scatter(__global const ordo_key *keys_in, __global ordo_key *keys_out,
#if ORDO_VALUE_BYTES
                  __global const ordo_value *values_in, __global ordo_value *values_out,
#endif
                  __global const uint *control, __global const uint *plan, struct sort_pass p)
{
    __local sort_local_memory l;
    const sort_digit          d = sort_pass_digit(plan, p);
    if (d.number == SORT_IDLE)
        return;
    ordo_key_form bits[RANK_ITEMS];
    rank_places   places;
    uint          total[RANK_DIGITS_PER_ITEM], start[RANK_DIGITS_PER_ITEM];
    sort_digits   digits;
    const uint    tile = (uint) get_group_id(0), here = sort_tile_count(p.count, tile);
    const ulong   tile_at = (ulong) tile * RANK_TILE;

    sort_load_keys(keys_in + p.keys_in_at + tile_at, here, bits);
    sort_rank_tile(&l, bits, d, &places, total, start);
#if ORDO_VALUE_BYTES
    ordo_value value[RANK_ITEMS];
    sort_load_values(values_in + p.values_in_at + tile_at, here, value);
#endif

    uint all, sum = 0;
    RANK_FOR_MY_DIGITS(digit, j)
    {
        sum += control[digit];
    }
    uint digit_at = group_scan_add(sum, l.scratch, &all);
    RANK_FOR_MY_DIGITS(digit, j)
    {
        l.base[digit] = digit_at + control[RANK_RADIX + digit * p.tiles + tile] - start[j];
        digit_at += control[digit];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    sort_store_keys(&l, here, d.shift, d.mask, keys_out + p.keys_out_at, &digits);
#if ORDO_VALUE_BYTES
    sort_move_values(&l, value, here, &places, &digits, values_out + p.values_out_at);
#endif
}

/* ---- ranges that are too long for the local pass --------------------------------------------------------------- */

typedef struct {
    __global ordo_key *keys;
#if ORDO_VALUE_BYTES
    __global ordo_value *values;
#endif
} sort_array;

/* Sorts `count` elements by one digit with one group: counts all of them, then moves tile after tile.
 * Called by every work-item, uniformly. The group sees its writes on return. */
ORDO_FN void large_pass(__local sort_local_memory *l, sort_array from, sort_array to, uint count, sort_digit d)
{
    uint next[RANK_DIGITS_PER_ITEM], sum = 0, all;
    sort_count_tile(from.keys, count, d.shift, d.mask, l->base);
    RANK_FOR_MY_DIGITS(digit, j)
    {
        next[j] = l->base[digit];
        sum += next[j];
    }
    uint before = group_scan_add(sum, l->scratch, &all);
    RANK_FOR_MY_DIGITS(digit, j)
    {
        const uint here = next[j];
        next[j] = before;
        before += here;
    }
    for (uint at = 0; at < count; at += RANK_TILE) {
        const uint    here = min(count - at, (uint) RANK_TILE);
        ordo_key_form bits[RANK_ITEMS];
        rank_places   places;
        uint          total[RANK_DIGITS_PER_ITEM], start[RANK_DIGITS_PER_ITEM];
        sort_digits   digits;

        sort_load_keys(from.keys + at, here, bits);
        barrier(CLK_LOCAL_MEM_FENCE);
        sort_rank_tile(l, bits, d, &places, total, start);
        RANK_FOR_MY_DIGITS(digit, j)
        {
            l->base[digit] = next[j] - start[j];
            next[j] += total[j];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        sort_store_keys(l, here, d.shift, d.mask, to.keys, &digits);
#if ORDO_VALUE_BYTES
        ordo_value value[RANK_ITEMS];
        sort_load_values(from.values + at, here, value);
        sort_move_values(l, value, here, &places, &digits, to.values);
#endif
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

/* Sorts one range by all bits from first_bit on that differ in it. The range lies in `out` if from_out, else in
 * `spare`. The result goes to `out`; `spare` is overwritten. Called by every work-item, uniformly. */
ORDO_FN void large_range(__local sort_local_memory *l, sort_array out, sort_array spare, bool from_out, uint count,
                         uint first_bit, ordo_key_form least, ordo_key_form greatest)
{
    const uint bits = KEY_BITS - first_bit, above = (uint) clz((least ^ greatest) | 1);
    const uint differing = above < bits ? bits - above : 1, wanted = (differing + RANK_BITS - 1) / RANK_BITS;
    const uint passes = wanted + (wanted % 2 == (from_out ? 0 : 1) ? 0 : 1);

    for (uint pass = 0; pass < passes; pass++) {
        const bool reads_out = (passes - pass) % 2 == 0;
        large_pass(l, reads_out ? out : spare, reads_out ? spare : out, count,
                   sort_digit_of(pass, first_bit, differing, passes));
    }
}

/* Sorts the ranges that have more than range_max elements, and those that the local pass has left. One group
 * per range. */
ORDO_KERNEL(GROUP_SIZE)
void sort_large(__global ordo_key *keys_out, __global ordo_key *keys_spare,
#if ORDO_VALUE_BYTES
                __global ordo_value *values_out, __global ordo_value *values_spare,
#endif
                __global const uint *plan, __global const uint *bounds, struct sort_local s)
{
    __local sort_local_memory l;
    const uint                local_bit = plan[SORT_PLAN_LOCAL];
    if (local_bit == SORT_NO_LOCAL)
        return;
    const uint range = (uint) get_group_id(0), first = bounds[range], count = bounds[range + 1] - first;
    if (count == 0 || (count <= s.range_max && !bounds[s.ranges + 1 + range]))
        return;
    const bool from_out = (s.passes - plan[SORT_PLAN_PASSES]) % 2 == 0;
    sort_array out, spare;
    out.keys = keys_out + s.keys_out_at + first;
    spare.keys = keys_spare + first;
#if ORDO_VALUE_BYTES
    out.values = values_out + s.values_out_at + first;
    spare.values = values_spare + first;
#endif
    __global const ordo_key *keys = from_out ? out.keys : spare.keys;
    const ordo_key_form      below = ((ordo_key_form) 1 << local_bit) - 1;
    const ordo_key_form      least = key_bits(keys[0]) & ~below, greatest = key_bits(keys[count - 1]) | below;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    large_range(&l, out, spare, from_out, count, s.first_bit, least, greatest);
}
