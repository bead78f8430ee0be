/* SPDX-License-Identifier: Apache-2.0 */
/* Fills sorted runs. An element is hidden if it is an erasure or a newer element replaces it. */
#pragma once
#include "device/atomic.cl"
#include "dict/each.cl"
#include "group/runs.cl"
#include "shared/key.h"

/* Built together: run_unsorted run_take run_repeats run_visible run_directories run_newest run_totals */

/* Sets *wrong to 1 unless each key is less than the next key. *wrong must be 0 before. */
ORDO_KERNEL(RUN_GROUP)
void run_unsorted(__global const ordo_key *keys, ulong keys_at, uint count, __global uint *wrong)
{
    keys += keys_at;
    RUN_EACH (uint, i, count - 1)
        if (!key_before(key_bits(keys[i]), key_bits(keys[i + 1])) && ordo_load_relaxed(wrong) == 0)
            ordo_or(wrong, 1);
}

ORDO_FN uint run_erased_bits(__global const uchar *erased, uint count, uint word)
{
    const uint here = min(count - word * 32, 32u);
    uint       bits = 0;
    for (uint i = 0; i < here; i++)
        bits |= (uint) (erased[(ulong) word * 32 + i] != 0) << i;
    return bits;
}

ORDO_KERNEL(RUN_GROUP)
void run_take(__global const ordo_key *keys, ulong keys_at, __global const merge_value *values, ulong values_at,
              __global const uchar *erased, ulong erased_at, uint count, __global ordo_key *keys_out,
              __global merge_value *values_out, ulong values_out_at, __global uint *hidden, ulong hidden_at)
{
    const uint words = erased ? run_words(count) : 0;
    RUN_EACH (uint, i, count) {
        keys_out[i] = keys[keys_at + i];
#if ORDO_VALUE_BYTES
        if (values)
            values_out[values_out_at + i] = values[values_at + i];
#endif
        if (i < words)
            hidden[hidden_at + i] = run_erased_bits(erased + erased_at, count, i);
    }
}

#if KEY_BITS == 32
typedef uint4 run_keys4;
#elif KEY_BITS == 64
typedef ulong4 run_keys4;
#else
typedef struct {
    ordo_key s0, s1, s2, s3;
} run_keys4;
#endif

ORDO_FN uint run_equal_bits(run_keys4 k, ordo_key next)
{
    return (uint) key_same(k.s0, k.s1) | (uint) key_same(k.s1, k.s2) << 1 | (uint) key_same(k.s2, k.s3) << 2 |
           (uint) key_same(k.s3, next) << 3;
}

/* Hides each element whose next element has the same key. If `fresh` is 0, keeps the old hidden bits, too. `keys`
 * must begin at a multiple of 256 bytes. The kernel reads `count` keys, rounded up to a multiple of 32, so the
 * buffer must be long enough. */
ORDO_KERNEL(RUN_GROUP)
void run_repeats(__global const ordo_key *keys, uint count, __global uint *hidden, ulong hidden_at, uint fresh)
{
    __global const run_keys4 *fours = (__global const run_keys4 *) keys;
    __global uchar           *bytes = (__global uchar *) (hidden + hidden_at);
    RUN_EACH (uint, byte, run_words(count) * 4) {
        const run_keys4 a = fours[(ulong) byte * 2], b = fours[(ulong) byte * 2 + 1];
        const uint      next = min(byte * 8 + 8, count - 1);
        const uint      pairs = count - 1 - min(byte * 8, count - 1);
        const uint      bits = run_equal_bits(a, b.s0) | run_equal_bits(b, keys[next]) << 4;
        bytes[byte] = (uchar) ((bits & run_low_bits(min(pairs, 8u))) | (fresh ? 0u : bytes[byte]));
    }
}

ORDO_FN uint run_block_visible(__global const uint4 *words, uint count, uint block)
{
    if (block > (count - 1) / RUN_BLOCK)
        return 0;
    const uint  here = min(count - block * RUN_BLOCK, (uint) RUN_BLOCK);
    const uint4 w = ~words[block];
    return popcount(w.s0 & run_low_bits(here)) + popcount(w.s1 & run_low_bits(max((int) here - 32, 0))) +
           popcount(w.s2 & run_low_bits(max((int) here - 64, 0))) +
           popcount(w.s3 & run_low_bits(max((int) here - 96, 0)));
}

/* Sets visible[b] to the number of visible elements of block b. A block has RUN_BLOCK elements. The entry after the
 * last block becomes 0. `hidden` must begin at a multiple of 256 bytes. */
ORDO_KERNEL(RUN_GROUP)
void run_visible(__global const uint *hidden, ulong hidden_at, uint count, __global uint *visible, ulong visible_at)
{
    __global const uint4 *words = (__global const uint4 *) (hidden + hidden_at);
    RUN_EACH (uint, block, (count - 1) / RUN_BLOCK + 2)
        visible[visible_at + block] = run_block_visible(words, count, block);
}

ORDO_FN void run_barrier(void)
{
#if RUN_GROUP > 1
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
}

/* Adds to *total the number of distinct keys whose last element is not hidden. */
ORDO_KERNEL(RUN_GROUP)
void run_newest(__global const ordo_key *keys, uint count, __global const uint *hidden, ulong hidden_at,
                __global uint *total)
{
    __local uint sum;
    uint         newest = 0;
    if (get_local_id(0) == 0)
        sum = 0;
    run_barrier();
    RUN_EACH (uint, i, count) {
        const bool last = i + 1 == count || !key_same(keys[i], keys[min(i + 1, count - 1)]);
        newest += last && !(hidden && run_is_hidden(hidden + hidden_at, i));
    }
    if (newest > 0)
        ordo_local_add(&sum, newest);
    run_barrier();
    if (get_local_id(0) == 0 && sum > 0)
        ordo_add(total, sum);
}

typedef struct {
    runs_words hidden_of[RUN_TABLE_MAX], visible_of[RUN_TABLE_MAX];
} run_marks;

/* Work-group r fills array visible[] of run r (shared/runs.h). */
ORDO_KERNEL(RUN_GROUP)
void run_directories(RUNS_KEYS run_table runs)
{
    __local run_marks mem;
#if RUN_GROUP > 1
    __local uint sums[RUN_GROUP];
#endif
    if (get_local_id(0) == 0) {
        RUNS_EACH(RUNS_POINT_MARKS, &mem)
    }
    run_barrier();
    const uint            lid = (uint) get_local_id(0), r = min((uint) get_group_id(0), runs.n_runs - 1);
    const uint            entries = (runs.count[r] - 1) / RUN_BLOCK + 2, share = (entries - 1) / RUN_GROUP + 1;
    const uint            first = min(lid * share, entries), end = first + min(share, entries - first);
    __global const uint4 *words = (__global const uint4 *) mem.hidden_of[r];
    __global uint        *visible = (__global uint *) mem.visible_of[r];

    uint before = 0;
#if RUN_GROUP > 1
    uint sum = 0;
    for (uint entry = first; entry < end; entry++)
        sum += run_block_visible(words, runs.count[r], entry);
    sums[lid] = sum;
    run_barrier();
    for (uint i = 0; i < lid; i++)
        before += sums[i];
#endif
    if (get_group_id(0) < runs.n_runs)
        for (uint entry = first; entry < end; entry++) {
            const uint here = run_block_visible(words, runs.count[r], entry);
            visible[entry] = before;
            before += here;
        }
}

ORDO_KERNEL(RUN_GROUP)
void run_totals(RUNS_KEYS run_table runs, __global uint *totals)
{
    __local run_marks mem;
    if (get_local_id(0) == 0) {
        RUNS_EACH(RUNS_POINT_MARKS, &mem)
    }
    run_barrier();
    RUN_EACH (uint, r, runs.n_runs)
        totals[r] = mem.hidden_of[r] ? mem.visible_of[r][(runs.count[r] - 1) / RUN_BLOCK + 1] : runs.count[r];
}
