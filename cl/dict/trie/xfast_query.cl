/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "dict/trie/xfast.cl"
#include "dict/value.cl"

ORDO_FN void xfast_take(__global const ordo_key *keys, ulong at, uint some, ordo_key_form form[RUN_STEP])
{
    for (uint k = 0; k < RUN_SOME(some); k++)
        form[k] = key_bits(keys[at + k]);
}

ORDO_KERNEL(RUN_GROUP)
void xfast_find(XFAST_TRIE, __global const uchar *values, ulong values_at, uint value_bytes,
                __global const ordo_key *keys, ulong keys_at, uint n, __global uchar *values_out, ulong values_out_at,
                __global uchar *found, ulong found_at)
{
    const xfast_trie trie = XFAST_TRIE_HERE;
    RUN_EACH (uint, s, RUN_STEPS(n)) {
        const uint    at = s * RUN_STEP, some = min(n - at, (uint) RUN_STEP);
        ordo_key_form form[RUN_STEP];
        uint          rank[RUN_STEP];
        xfast_take(keys, keys_at + at, some, form);
        xfast_rank_each(&trie, form, some, false, rank);
        for (uint k = 0; k < RUN_SOME(some); k++) {
            const uint place = xfast_place_at(&trie, form[k], rank[k]);
            if (found)
                found[found_at + at + k] = place != XFAST_NONE;
            if (values_out && place != XFAST_NONE)
                value_copy(values, values_at + place, value_bytes, values_out, values_out_at + at + k);
        }
    }
}

ORDO_KERNEL(RUN_GROUP)
void xfast_ranks(XFAST_TRIE, __global const ordo_key *keys, ulong keys_at, uint n, uint upper, __global uint *ranks,
                 ulong ranks_at)
{
    const xfast_trie trie = XFAST_TRIE_HERE;
    RUN_EACH (uint, s, RUN_STEPS(n)) {
        const uint    at = s * RUN_STEP, some = min(n - at, (uint) RUN_STEP);
        ordo_key_form form[RUN_STEP];
        uint          rank[RUN_STEP];
        xfast_take(keys, keys_at + at, some, form);
        xfast_rank_each(&trie, form, some, upper != 0, rank);
        for (uint k = 0; k < RUN_SOME(some); k++)
            ranks[ranks_at + at + k] = rank[k];
    }
}

/* Finds a neighbour of each query:
 *
 *   forward                first key >= query
 *   forward, upper         first key > query
 *   not forward            last key < query
 *   not forward, upper     last key <= query */
ORDO_KERNEL(RUN_GROUP)
void xfast_seek(XFAST_TRIE, __global const uchar *values, ulong values_at, uint value_bytes,
                __global const ordo_key *keys, ulong keys_at, uint n, uint upper, uint forward,
                __global ordo_key *keys_out, ulong keys_out_at, __global uchar *values_out, ulong values_out_at,
                __global uchar *found, ulong found_at)
{
    const xfast_trie trie = XFAST_TRIE_HERE;
    RUN_EACH (uint, s, RUN_STEPS(n)) {
        const uint    at = s * RUN_STEP, some = min(n - at, (uint) RUN_STEP);
        ordo_key_form form[RUN_STEP];
        uint          rank[RUN_STEP];
        xfast_take(keys, keys_at + at, some, form);
        xfast_rank_each(&trie, form, some, upper != 0, rank);
        for (uint k = 0; k < RUN_SOME(some); k++) {
            const uint place = rank[k] - (forward ? 0 : 1);
            const bool there = place < trie.shape.count; /* If rank[k] is 0, `rank[k] - 1` wraps around. */
            if (found)
                found[found_at + at + k] = there;
            if (keys_out && there)
                keys_out[keys_out_at + at + k] = trie.keys[place];
            if (values_out && there)
                value_copy(values, values_at + place, value_bytes, values_out, values_out_at + at + k);
        }
    }
}

ORDO_KERNEL(RUN_GROUP)
void xfast_tally(XFAST_TRIE, __global const ordo_key *lo, ulong lo_at, __global const ordo_key *hi, ulong hi_at, uint n,
                 __global uint *counts, ulong counts_at)
{
    const xfast_trie trie = XFAST_TRIE_HERE;
    RUN_EACH (uint, s, RUN_STEPS(n)) {
        const uint    at = s * RUN_STEP, some = min(n - at, (uint) RUN_STEP);
        ordo_key_form low[RUN_STEP], high[RUN_STEP];
        uint          below[RUN_STEP], up_to[RUN_STEP];
        xfast_take(lo, lo_at + at, some, low);
        xfast_take(hi, hi_at + at, some, high);
        xfast_rank_each(&trie, low, some, false, below);
        xfast_rank_each(&trie, high, some, true, up_to);
        for (uint k = 0; k < RUN_SOME(some); k++)
            counts[counts_at + at + k] = low[k] > high[k] ? 0 : up_to[k] - below[k];
    }
}
