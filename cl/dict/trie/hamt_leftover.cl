/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the operations that hamt_apply leaves of a concurrent batch: updates that gave up, and seeks, counts and ranges,
 * which see the dictionary before the batch. */
#pragma once
#include "dict/codes.cl"
#include "dict/each.cl"
#include "dict/trie/hamt.cl"

/* Built together: hamt_query_in_batch */
/* Built together: hamt_gather hamt_scatter */

typedef struct {
    __global ordo_key   *keys_out;
    __global hamt_value *values_out;
} hamt_output;

/* Returns the number of elements less than the key, plus 1 if `upper` and the key exists. */
ORDO_FN uint hamt_rank_of(const hamt_trie *t, ordo_key_form key, bool upper)
{
    if (t->n_leaves == 0)
        return 0;
    const hamt_node     node = hamt_load(t, hamt_leaf_of(t, key));
    const hamt_position at = hamt_look(&node, key);
    return node.record.before + at.below + (upper && at.there);
}

ORDO_FN bool hamt_seek_one(const hamt_trie *t, uint code, ordo_key_form key, const hamt_output *out, ulong at)
{
    const bool forward = CODE_SEEKS_UP(code);
    const uint rank = hamt_rank_of(t, key, code == CODE_SEEK_LE || code == CODE_SEEK_GT);
    if (forward ? rank == t->n : rank == 0)
        return false;
    const uint      taken = forward ? rank : rank - 1;
    const hamt_node node = hamt_load(t, hamt_leaf_of_rank(t, taken));
    hamt_take(&node, taken - node.record.before, out->keys_out, at, out->values_out, at);
    return true;
}

/* Copies elements `rank` .. rank + n - 1 to the outputs, from index `at` on. */
ORDO_FN void hamt_copy_range(const hamt_trie *t, uint rank, uint n, const hamt_output *out, ulong at)
{
    if (n == 0)
        return;
    uint      leaf = hamt_leaf_of_rank(t, rank);
    hamt_node node = hamt_load(t, leaf);
    for (uint e = 0; e < n; e++) {
        if (rank + e == node.record.before + node.count)
            node = hamt_load(t, ++leaf);
        hamt_take(&node, rank + e - node.record.before, out->keys_out, at + e, out->values_out, at + e);
    }
}

#define AT(array) (array ? array + array##_at : array)

/* Answers the seeks, counts and ranges of a batch. */
ORDO_KERNEL(RUN_GROUP)
void hamt_query_in_batch(HAMT_TRIE, uint n, __global const uchar *codes, ulong codes_at, __global const ordo_key *keys,
                         ulong keys_at, __global const ordo_key *hi, ulong hi_at, __global const ulong *rooms,
                         ulong rooms_at, __global uchar *found, ulong found_at, __global ordo_key *keys_out,
                         ulong keys_out_at, __global hamt_value *values_out, ulong values_out_at, __global uint *counts,
                         ulong counts_at, __global uchar *outcomes, ulong outcomes_at, __global ordo_key *range_keys,
                         ulong range_keys_at, __global hamt_value *range_values, ulong range_values_at,
                         ulong range_capacity)
{
    const hamt_trie   t = HAMT_TRIE_HERE;
    const hamt_output out = { AT(keys_out), AT(values_out) }, range = { AT(range_keys), AT(range_values) };
    RUN_EACH (uint, i, n) {
        const uint code = codes[codes_at + i];
        uint       outcome = OUTCOME_DONE;
        if (code <= CODE_ERASE || code >= N_CONCURRENT_CODES)
            continue;
        const ordo_key_form key = key_bits(keys[keys_at + i]);
        if (code < CODE_COUNT) {
            const bool there = hamt_seek_one(&t, code, key, &out, i);
            if (found)
                found[found_at + i] = there;
        } else {
            const ordo_key_form last = key_bits(hi[hi_at + i]);
            const uint          below = hamt_rank_of(&t, key, false);
            const uint          all = key <= last ? hamt_rank_of(&t, last, true) - below : 0;
            if (counts)
                counts[counts_at + i] = all;
            if (code == CODE_RANGE) {
                const ulong end = min(rooms[rooms_at + i + 1], range_capacity), begin = min(rooms[rooms_at + i], end);
                outcome = all > end - begin ? OUTCOME_CUT_SHORT : OUTCOME_DONE;
                hamt_copy_range(&t, below, (uint) min((ulong) all, end - begin), &range, begin);
            }
        }
        if (outcomes)
            outcomes[outcomes_at + i] = (uchar) outcome;
    }
}

/* Copies the updates pending[first .. first + count - 1] to an ordered batch. */
ORDO_KERNEL(RUN_GROUP)
void hamt_gather(__global const uint *pending, uint first, uint count, __global const uchar *codes, ulong codes_at,
                 __global const ordo_key *keys, ulong keys_at, __global const hamt_value *values, ulong values_at,
                 __global uchar *codes_out, __global ordo_key *keys_out, __global hamt_value *values_out)
{
    RUN_EACH (uint, l, count) {
        const uint i = pending[first + l], code = codes[codes_at + i];
        codes_out[l] = (uchar) code;
        keys_out[l] = keys[keys_at + i];
        if (values_out)
            values_out[l] = values && code != CODE_ERASE ? values[values_at + i] : 0;
    }
}

/* Copies back the results of the ordered batch (the updates that gave up). If `results` is NULL (no memory for the
 * batch), reports the updates as not stored. Update l ends at time tick + l. */
ORDO_KERNEL(RUN_GROUP)
void hamt_scatter(__global const uint *pending, uint first, uint count, __global const uchar *results,
                  __global uchar *found, ulong found_at, __global uchar *outcomes, ulong outcomes_at,
                  __global uint *history, uint tick)
{
    RUN_EACH (uint, l, count) {
        const uint i = pending[first + l];
        if (found && results)
            found[found_at + i] = results[l];
        if (outcomes)
            outcomes[outcomes_at + i] = results ? OUTCOME_DONE : OUTCOME_NOT_STORED;
        if (history)
            history[2 * i + 1] = tick + l;
    }
}
