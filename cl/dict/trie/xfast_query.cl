/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of an X-fast trie, a work-item each.
 *
 *   xfast_find   values of keys
 *   xfast_ranks  how many keys are before each
 *   xfast_seek   the keys next to each
 *   xfast_tally  how many keys lie in each range
 *
 * The host gives ORDO_KEY, ORDO_VALUE_BYTES (XFAST_ENTRY_BYTES), RUN_GROUP. Outputs may be NULL.
 */
#pragma once
#include "dict/trie/xfast.cl"

/* values_out[to] = values[from], of 4 or 8 bytes. */
ORDO_FN void xfast_copy_value(__global const uchar *values, ulong from, uint bytes, __global uchar *values_out,
                              ulong to)
{
    if (bytes == 4)
        ((__global uint *) values_out)[to] = ((__global const uint *) values)[from];
    else
        ((__global ulong *) values_out)[to] = ((__global const ulong *) values)[from];
}

ORDO_KERNEL(RUN_GROUP)
void xfast_find(XFAST_TRIE, __global const uchar *values, ulong values_at, uint value_bytes,
                __global const ordo_key *keys, ulong keys_at, uint n, __global uchar *values_out, ulong values_out_at,
                __global uchar *found, ulong found_at)
{
    const xfast_trie trie = XFAST_TRIE_HERE;
    RUN_EACH (uint, i, n) {
        const uint place = xfast_place(&trie, key_bits(keys[keys_at + i]));
        if (found)
            found[found_at + i] = place != XFAST_NONE;
        if (values_out && place != XFAST_NONE)
            xfast_copy_value(values, values_at + place, value_bytes, values_out, values_out_at + i);
    }
}

ORDO_KERNEL(RUN_GROUP)
void xfast_ranks(XFAST_TRIE, __global const ordo_key *keys, ulong keys_at, uint n, uint upper, __global uint *ranks,
                 ulong ranks_at)
{
    const xfast_trie trie = XFAST_TRIE_HERE;
    RUN_EACH (uint, i, n)
        ranks[ranks_at + i] = xfast_rank(&trie, key_bits(keys[keys_at + i]), upper != 0);
}

/* The nearest key after those that are less, or not greater (`upper`), than keys[i]: the first other one (`forward`), or the last of
 * them. */
ORDO_KERNEL(RUN_GROUP)
void xfast_seek(XFAST_TRIE, __global const uchar *values, ulong values_at, uint value_bytes,
                __global const ordo_key *keys, ulong keys_at, uint n, uint upper, uint forward,
                __global ordo_key *keys_out, ulong keys_out_at, __global uchar *values_out, ulong values_out_at,
                __global uchar *found, ulong found_at)
{
    const xfast_trie trie = XFAST_TRIE_HERE;
    RUN_EACH (uint, i, n) {
        const uint place = xfast_rank(&trie, key_bits(keys[keys_at + i]), upper != 0) - (forward ? 0 : 1);
        const bool there = place < trie.shape.count; /* one before the first: wraps */
        if (found)
            found[found_at + i] = there;
        if (keys_out && there)
            keys_out[keys_out_at + i] = trie.keys[place];
        if (values_out && there)
            xfast_copy_value(values, values_at + place, value_bytes, values_out, values_out_at + i);
    }
}

ORDO_KERNEL(RUN_GROUP)
void xfast_tally(XFAST_TRIE, __global const ordo_key *lo, ulong lo_at, __global const ordo_key *hi, ulong hi_at, uint n,
                 __global uint *counts, ulong counts_at)
{
    const xfast_trie trie = XFAST_TRIE_HERE;
    RUN_EACH (uint, i, n) {
        const ordo_key_form low = key_bits(lo[lo_at + i]), high = key_bits(hi[hi_at + i]);
        counts[counts_at + i] = low > high ? 0 : xfast_rank(&trie, high, true) - xfast_rank(&trie, low, false);
    }
}
