/* SPDX-License-Identifier: Apache-2.0 */
/* Answers the counts, ranks, selections and ranges of a mixed batch. */
#pragma once
#include "dict/apply_batch.cl"

/* Built together: timeline_pack timeline_move apply_pick apply_gather */
/* Built together: apply_count apply_rank */
/* Built together: apply_select_plan apply_select */
/* Built together: apply_range_plan apply_range_kept apply_range_touched */

ORDO_KERNEL(RUN_GROUP)
void timeline_pack(__global const ulong *entries, uint n, uint level, uint n_blocks, __global uint *masks,
                   __global ulong *sums)
{
    masks += 3 * (ulong) level * n_blocks;
    sums += (ulong) level * n_blocks;
    RUN_EACH (uint, block, n_blocks) {
        uint bits = 0, up = 0, down = 0;
        for (uint k = 0; k < TIMELINE_BLOCK && block * TIMELINE_BLOCK + k < n; k++) {
            const ulong e = entries[block * TIMELINE_BLOCK + k];
            const uint  bit = (uint) (e >> (level + 2)) & 1;
            bits |= bit << k;
            up |= (uint) (!bit && (e & 3) == 2) << k;
            down |= (uint) (!bit && (e & 3) == 0) << k;
        }
        const uint here = min(n - block * TIMELINE_BLOCK, (uint) TIMELINE_BLOCK);
        masks[3 * block] = bits;
        masks[3 * block + 1] = up;
        masks[3 * block + 2] = down;
        sums[block] = (ulong) (here - popcount(bits)) << 32 | (TIMELINE_BLOCK + popcount(up) - popcount(down));
    }
}

/* Sorts entries (timeline_entry) stably by bit `level` of their group number. */
ORDO_KERNEL(RUN_GROUP)
void timeline_move(__global const ulong *from, uint n, uint level, uint n_blocks, __global const uint *masks,
                   __global const ulong *sums, __global ulong *to)
{
    const timeline t = { masks, sums, 0, n, n_blocks, 0, 0 };
    int            unused = 0;
    const uint     all = timeline_before(&t, level, n, &unused);
    RUN_EACH (uint, e, n) {
        const ulong entry = from[e];
        const uint  zeros = timeline_before(&t, level, e, &unused);
        to[entry >> (level + 2) & 1 ? all + (e - zeros) : zeros] = entry;
    }
}

ORDO_KERNEL(RUN_GROUP)
void apply_pick(__global const uchar *codes, ulong codes_at, uint n, uint least, uint most, __global uint *picked)
{
    RUN_EACH (uint, i, n + 1) {
        const uint code = i < n ? codes[codes_at + i] : N_CODES;
        picked[i] = code >= least && code <= most;
    }
}

/* apply_pick wrote a flag for each operation. picked[] must hold the exclusive prefix sums of these flags. Copies the
 * operations whose flag is 1, without gaps. */
ORDO_KERNEL(RUN_GROUP)
void apply_gather(__global const uint *picked, uint n, __global const ordo_key *keys, ulong keys_at,
                  __global const ordo_key *hi, ulong hi_at, __global uint *ops, __global ordo_key *lo_out,
                  __global ordo_key *hi_out)
{
    RUN_EACH (uint, i, n) {
        const uint at = picked[i];
        if (picked[i + 1] == at)
            continue;
        ops[at] = i;
        lo_out[at] = keys[keys_at + i];
        if (hi_out)
            hi_out[at] = hi[hi_at + i];
    }
}

/* Counts the keys from lo[q] to hi[q] at the time of operation ops[q]. base[q] must be their count before the batch. */
ORDO_KERNEL(RUN_GROUP)
void apply_count(uint n, __global const uchar *codes, ulong codes_at, __global const ordo_key *sorted, TIMELINE_ARGS,
                 __global const uint *ops, __global const ordo_key *lo, __global const ordo_key *hi, uint n_queries,
                 __global const uint *base, __global uint *counts, ulong counts_at, __global uint *lengths)
{
    const timeline t = TIMELINE;
    RUN_EACH (uint, q, n_queries) {
        const uint time = ops[q];
        uint       count = 0;
        if (key_upto(key_bits(lo[q]), key_bits(hi[q]))) {
            const uint low = group_of[sorted_bound(sorted, n, lo[q], false)];
            const uint high = group_of[sorted_bound(sorted, n, hi[q], true)];
            count = base[q] + timeline_changes(&t, high, time) - timeline_changes(&t, low, time);
        }
        if (counts)
            counts[counts_at + time] = count;
        if (lengths && codes[codes_at + time] == CODE_RANGE)
            lengths[time] = count;
    }
}

/* Counts the keys less than keys[q] that the dictionary has just before operation ops[q] of the batch. If `upper`, also
 * counts keys[q] itself. base[q] must be the number of these keys before the first operation of the batch. */
ORDO_KERNEL(RUN_GROUP)
void apply_rank(uint n, __global const ordo_key *sorted, TIMELINE_ARGS, __global const uint *ops,
                __global const ordo_key *keys, uint n_queries, uint upper, __global const uint *base,
                __global uint *counts, ulong counts_at)
{
    const timeline t = TIMELINE;
    RUN_EACH (uint, q, n_queries)
        counts[counts_at + ops[q]] =
            base[q] + timeline_changes(&t, group_of[sorted_bound(sorted, n, keys[q], upper)], ops[q]);
}

/* Returns the rank of the batch's g-th distinct key just before operation `time`. ranks[j] must be the rank of
 * sorted[j] before the first operation of the batch. */
ORDO_FN uint group_rank(const timeline *t, __global const uint *first_of, __global const uint *ranks, uint g, uint time)
{
    return ranks[first_of[g]] + timeline_changes(t, g, time);
}

/* A selection passes the wanted rank in a key, as an unsigned integer. Returns this rank, but at most NONE. */
ORDO_FN uint rank_in_key(ordo_key key)
{
    return key_before(key_of_digit(NONE - 1, 0), key) ? NONE : key_digit(key, 0, ~0u);
}

/* Query q asks which key has rank queries[q] just before operation ops[q] of the batch.
 *
 *  groups[q]       index of this key among the batch's distinct keys, or NONE if the batch does not have it
 *  base_ranks[q]   rank of this key before the batch, if groups[q] is NONE */
ORDO_KERNEL(RUN_GROUP)
void apply_select_plan(BATCH_ARGS, TIMELINE_ARGS, __global const uint *first_of, __global const uint *ranks,
                       __global const uint *ops, __global const ordo_key *queries, uint n_queries,
                       __global uint *groups, __global uint *base_ranks)
{
    const sorted_batch b = BATCH;
    const timeline     t = TIMELINE;
    RUN_EACH (uint, q, n_queries) {
        const uint time = ops[q], k = rank_in_key(queries[q]);
        uint       low = 0, high = t.n_groups;
        uint       found = NONE, position = 0;
        while (low < high) {
            const uint middle = low + (high - low) / 2;
            if (group_rank(&t, first_of, ranks, middle, time) <= k)
                low = middle + 1;
            else
                high = middle;
        }
        if (low > 0 && group_rank(&t, first_of, ranks, low - 1, time) == k &&
            group_state(&b, first_of, low - 1, time, &position) != STATE_ABSENT)
            found = low - 1;
        groups[q] = found;
        base_ranks[q] = k == NONE ? NONE : k - (uint) timeline_changes(&t, low, time);
    }
}

ORDO_KERNEL(RUN_GROUP)
void apply_select(BATCH_ARGS, __global const uint *first_of, __global const uint *ops, uint n_queries,
                  __global const uint *groups, __global const ordo_key *base_key,
                  __global const merge_value *base_value, __global const uchar *base_found, __global ordo_key *keys_out,
                  ulong keys_out_at, __global merge_value *values_out, ulong values_out_at, __global uchar *found,
                  ulong found_at)
{
    RUN_EACH (uint, q, n_queries) {
        const uint time = ops[q], g = groups[q];
        const bool touched = g != NONE, is_there = touched || base_found[q];
        if (found)
            found[found_at + time] = is_there;
        if (!is_there)
            continue;
        if (keys_out)
            keys_out[keys_out_at + time] = touched ? sorted[first_of[g]] : base_key[q];
#if ORDO_VALUE_BYTES
        const sorted_batch b = BATCH;
        uint               position = 0;
        const key_state    s = touched ? group_state(&b, first_of, g, time, &position) : STATE_BEFORE;
        if (values_out)
            values_out[values_out_at + time] = touched ? state_value(&b, position, s) : base_value[q];
#endif
    }
}

/* Query q is operation ops[q] of the batch. It asks for the keys lo[q] .. hi[q]. A group is a distinct key of the
 * batch.
 *
 *  group[q]     first group whose key is at least lo[q]
 *  changes[q]   number of keys less than lo[q] that operations before ops[q] add, minus the number that they remove
 *  touched[q]   number of groups from lo[q] to hi[q] whose keys are present just before operation ops[q] */
ORDO_KERNEL(RUN_GROUP)
void apply_range_plan(uint n, __global const ordo_key *sorted, TIMELINE_ARGS, __global const uint *ops,
                      __global const ordo_key *lo, __global const ordo_key *hi, uint n_queries, __global uint *group,
                      __global int *changes, __global ulong *touched)
{
    const timeline t = TIMELINE;
    RUN_EACH (uint, q, n_queries + 1) {
        if (q == n_queries || !key_upto(key_bits(lo[q]), key_bits(hi[q]))) {
            touched[q] = 0;
            if (q < n_queries) {
                group[q] = 0;
                changes[q] = 0;
            }
            continue;
        }
        const uint low = group_of[sorted_bound(sorted, n, lo[q], false)];
        const uint high = group_of[sorted_bound(sorted, n, hi[q], true)];
        group[q] = low;
        changes[q] = timeline_changes(&t, low, ops[q]);
        touched[q] = timeline_rank(&t, high, ops[q]) - timeline_rank(&t, low, ops[q]);
    }
}

#define RANGE_OUT                                                                                                      \
    __global const ulong *offsets, ulong offsets_at, __global ordo_key *keys_out, ulong keys_out_at,                   \
        __global merge_value *values_out, ulong values_out_at

/* Writes the elements of the ranges, but omits keys that have operations in the batch. Before the batch, range q had
 * the keys base_key[base_first[q]] .. base_key[base_first[q + 1] - 1]. */
ORDO_KERNEL(RUN_GROUP)
void apply_range_kept(uint n, __global const ordo_key *sorted, TIMELINE_ARGS, __global const uint *ops, uint n_queries,
                      __global const int *changes, __global const ulong *base_first, __global const ordo_key *base_key,
                      __global const merge_value *base_value, RANGE_OUT)
{
    const timeline t = TIMELINE;
    const ulong    total = base_first[n_queries];
    RUN_EACH (ulong, x, total) {
        const ordo_key key = base_key[x];
        const uint     j = sorted_bound(sorted, n, key, false);
        if (j < n && key_same(sorted[j], key))
            continue;
        const uint  q = each_owner(base_first, 0, n_queries - 1, x), time = ops[q];
        const int   shift = timeline_changes(&t, group_of[j], time) - changes[q];
        const ulong at = offsets[offsets_at + time] + (x - base_first[q]) + (long) shift;
        if (keys_out)
            keys_out[keys_out_at + at] = key;
#if ORDO_VALUE_BYTES
        if (values_out)
            values_out[values_out_at + at] = base_value[x];
#endif
    }
}

ORDO_KERNEL(RUN_GROUP)
void apply_range_touched(BATCH_ARGS, TIMELINE_ARGS, __global const uint *first_of, __global const uint *ops,
                         uint n_queries, __global const uint *group, __global const ulong *touched,
                         __global const ulong *base_first, __global const ordo_key *base_key, RANGE_OUT)
{
    const timeline t = TIMELINE;
    const ulong    total = touched[n_queries];
    RUN_EACH (ulong, x, total) {
        const uint     q = each_owner(touched, 0, n_queries - 1, x), time = ops[q];
        const ulong    r = x - touched[q];
        const uint     g = timeline_select(&t, timeline_rank(&t, group[q], time) + (uint) r, time);
        const ordo_key key = sorted[first_of[g]];
        const uint     in_base = (uint) (base_first[q + 1] - base_first[q]);
        const uint     less = sorted_bound(base_key + base_first[q], in_base, key, false);
        const ulong    at = offsets[offsets_at + time] + r + (less - (t.there_before[g] - t.there_before[group[q]]));
        if (keys_out)
            keys_out[keys_out_at + at] = key;
#if ORDO_VALUE_BYTES
        const sorted_batch b = BATCH;
        uint               position = 0;
        const key_state    s = group_state(&b, first_of, g, time, &position);
        if (values_out)
            values_out[values_out_at + at] = state_value(&b, position, s);
#endif
    }
}
