/* SPDX-License-Identifier: Apache-2.0 */
/* The host must define TEAM_WIDTH. If it is 1, a query finds its longest prefix by a binary search over levels.
 * Otherwise the lanes of a team look up all levels at once, for one query after another. */
#pragma once
#include "device/team.cl"
#include "dict/trie/xfast.cl"
#include "dict/value.cl"

/* All work-items of a group take part in each step, so the number of steps is rounded up. */
#if TEAM_WIDTH > 1
#define XFAST_STEPS(n)   (((n) + (RUN_GROUP - 1)) / RUN_GROUP * RUN_GROUP)
#define XFAST_SOME(some) (some)
#else
#define XFAST_STEPS(n)   RUN_STEPS(n)
#define XFAST_SOME(some) RUN_SOME(some)
#endif

ORDO_FN uint xfast_some(uint at, uint n)
{
    return at < n ? min(n - at, (uint) RUN_STEP) : 0;
}

ORDO_FN void xfast_take(__global const ordo_key *keys, ulong at, uint some, ordo_key_form form[RUN_STEP])
{
    form[0] = 0;
    for (uint k = 0; k < XFAST_SOME(some); k++)
        form[k] = key_bits(keys[at + k]);
}

#if TEAM_WIDTH > 1

#if KEY_BITS == 32
#define XFAST_BCAST team_bcast
#else
#define XFAST_BCAST team_bcast64
#endif

/* As xfast_longest, for a key that all lanes of the team have. Sets *length to 0 if no level has a prefix of `form`.
 * All lanes of the sub-group must call. */
ORDO_FN xfast_range xfast_longest_by_team(const xfast_trie *trie, ordo_key_form form, uint *length)
{
    const uint  levels = trie->shape.levels;
    xfast_range leaves = { 0, 0 };

    *length = 0;
    for (uint first = 0; first < levels; first += TEAM_WIDTH) {
        const uint  level = first + 1 + team_lane();
        xfast_range here = { 0, 0 };
        const bool  there =
            level <= levels && xfast_lookup(trie, form, trie->shape.flat_bits + level * trie->shape.group, &here);
        const team_mask lanes = team_ballot(there);
        const uint      deepest = lanes ? last_lane(lanes) : 0;
        const uint      begin = team_bcast(here.first, deepest), end = team_bcast(here.end, deepest);
        if (lanes) {
            leaves.first = begin;
            leaves.end = end;
            *length = trie->shape.flat_bits + (first + 1 + deepest) * trie->shape.group;
        }
    }
    return leaves;
}

ORDO_FN void xfast_rank_each(const xfast_trie *trie, const ordo_key_form form[RUN_STEP], uint n, bool upper,
                             uint rank[RUN_STEP])
{
    uint        length = trie->shape.flat_bits;
    xfast_range leaves = { 0, 0 };

    if (n > 0)
        leaves = xfast_flat_range(trie, form[0]);
    TEAM_FOR_EACH (owner, xfast_is_deep(trie, leaves)) {
        uint              bits;
        const xfast_range found = xfast_longest_by_team(trie, XFAST_BCAST(form[0], owner % TEAM_WIDTH), &bits);
        if (team_lane() == owner && bits > 0) {
            leaves = found;
            length = bits;
        }
    }
    if (n > 0)
        rank[0] = xfast_search(trie, xfast_narrow(trie, form[0], length, leaves), form[0], upper);
}

#else

ORDO_FN void xfast_rank_each(const xfast_trie *trie, const ordo_key_form form[RUN_STEP], uint n, bool upper,
                             uint rank[RUN_STEP])
{
    if (RUN_STEP == 1) {
        rank[0] = xfast_rank(trie, form[0], upper);
        return;
    }
    const uint last = trie->shape.count - 1;
    uint       end[RUN_STEP], most = 0;
    for (uint k = 0; k < n; k++) {
        const xfast_range leaves = xfast_around(trie, form[k]);
        rank[k] = leaves.first;
        end[k] = leaves.end;
        most = max(most, leaves.end - leaves.first);
    }
    for (; most > 0; most /= 2)
        for (uint k = 0; k < n; k++) {
            const uint          middle = rank[k] + (end[k] - rank[k]) / 2;
            const ordo_key_form there = key_bits(trie->keys[min(middle, last)]);
            const bool          before = rank[k] < end[k] && (there < form[k] || (upper && there == form[k]));
            rank[k] = before ? middle + 1 : rank[k];
            end[k] = before ? end[k] : middle;
        }
}

#endif

ORDO_KERNEL(RUN_GROUP)
void xfast_find(XFAST_TRIE, __global const uchar *values, ulong values_at, uint value_bytes,
                __global const ordo_key *keys, ulong keys_at, uint n, __global uchar *values_out, ulong values_out_at,
                __global uchar *found, ulong found_at)
{
    const xfast_trie trie = XFAST_TRIE_HERE;
    RUN_EACH (uint, s, XFAST_STEPS(n)) {
        const uint    at = s * RUN_STEP, some = xfast_some(at, n);
        ordo_key_form form[RUN_STEP];
        uint          rank[RUN_STEP];
        xfast_take(keys, keys_at + at, some, form);
        xfast_rank_each(&trie, form, some, false, rank);
        for (uint k = 0; k < XFAST_SOME(some); k++) {
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
    RUN_EACH (uint, s, XFAST_STEPS(n)) {
        const uint    at = s * RUN_STEP, some = xfast_some(at, n);
        ordo_key_form form[RUN_STEP];
        uint          rank[RUN_STEP];
        xfast_take(keys, keys_at + at, some, form);
        xfast_rank_each(&trie, form, some, upper != 0, rank);
        for (uint k = 0; k < XFAST_SOME(some); k++)
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
    RUN_EACH (uint, s, XFAST_STEPS(n)) {
        const uint    at = s * RUN_STEP, some = xfast_some(at, n);
        ordo_key_form form[RUN_STEP];
        uint          rank[RUN_STEP];
        xfast_take(keys, keys_at + at, some, form);
        xfast_rank_each(&trie, form, some, upper != 0, rank);
        for (uint k = 0; k < XFAST_SOME(some); k++) {
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
    RUN_EACH (uint, s, XFAST_STEPS(n)) {
        const uint    at = s * RUN_STEP, some = xfast_some(at, n);
        ordo_key_form low[RUN_STEP], high[RUN_STEP];
        uint          below[RUN_STEP], up_to[RUN_STEP];
        xfast_take(lo, lo_at + at, some, low);
        xfast_take(hi, hi_at + at, some, high);
        xfast_rank_each(&trie, low, some, false, below);
        xfast_rank_each(&trie, high, some, true, up_to);
        for (uint k = 0; k < XFAST_SOME(some); k++)
            counts[counts_at + at + k] = low[k] > high[k] ? 0 : up_to[k] - below[k];
    }
}
