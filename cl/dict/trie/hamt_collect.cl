/* SPDX-License-Identifier: Apache-2.0 */
/* After a concurrent batch, these kernels list the updates of its draft in key order, by means of the draft's trie
 * (shared/hamt_draft.h). All prefix sums are exclusive.
 *
 *   hamt_children     counts the children of each listed node
 *   hamt_descend      lists these children
 *   hamt_leaf_bits    counts the keys of each listed leaf
 *   hamt_collect      writes the updates of these keys */
#pragma once
#include "dict/each.cl"
#include "dict/trie/draft.cl"
#include "dict/trie/hamt_draft.cl"

/* Built together: hamt_children hamt_descend hamt_leaf_bits hamt_collect */

ORDO_KERNEL(RUN_GROUP)
void hamt_children(__global const uint *nodes, __global const uint *list, uint n, __global uint *counts)
{
    RUN_EACH (uint, k, n + 1) {
        uint children = 0;
        for (uint w = 0; k < n && w < HAMT_NODE; w++)
            children += nodes[(ulong) list[k] * HAMT_NODE + w] != 0;
        counts[k] = children;
    }
}

/* Lists the children of listed nodes. firsts[k] is the least possible key below node list[k]. `counts` must hold the
 * prefix sums of hamt_children's counts. */
ORDO_KERNEL(RUN_GROUP)
void hamt_descend(__global const uint *nodes, __global const uint *list, __global const ordo_key_form *firsts, uint n,
                  __global const uint *counts, uint level, __global uint *list_out, __global ordo_key_form *firsts_out)
{
    RUN_EACH (uint, k, n) {
        uint to = counts[k];
        for (uint w = 0; w < HAMT_NODE; w++) {
            const uint child = nodes[(ulong) list[k] * HAMT_NODE + w];
            if (child == 0)
                continue;
            list_out[to] = child - 1;
            firsts_out[to++] = firsts[k] | (ordo_key_form) w << (HAMT_BITS + HAMT_LEVEL_BITS * level);
        }
    }
}

ORDO_KERNEL(RUN_GROUP)
void hamt_leaf_bits(__global const uint *leaves, __global const uint *list, uint n, __global uint *counts)
{
    RUN_EACH (uint, k, n + 1) {
        uint keys = 0;
        for (uint w = 0; k < n && w < HAMT_WORDS; w++)
            keys += popcount(leaves[(ulong) list[k] * HAMT_WORDS + w]);
        counts[k] = keys;
    }
}

typedef struct {
    __global const hamt_value *values;
    __global ordo_key         *keys_out;
    __global hamt_value       *values_out;
    __global uchar            *erased;
} draft_updates;

ORDO_FN void draft_collect(const draft_table *d, const draft_updates *out, uint bits, ordo_key_form first, uint to)
{
    for (; bits; bits &= bits - 1) {
        const ordo_key_form key = first + (31 - clz(bits & (0 - bits)));
        const uint          word = draft_find(d, key).word;
        const bool          gone = word & DRAFT_ERASED;
        out->keys_out[to] = key_from_bits(key);
        if (ORDO_VALUE_BYTES)
            out->values_out[to] = gone ? 0 : out->values[DRAFT_UPDATE(word)];
        out->erased[to++] = gone;
    }
}

/* `counts` must hold the prefix sums of hamt_leaf_bits' counts. */
ORDO_KERNEL(RUN_GROUP)
void hamt_collect(DRAFT_TABLE, __global const uint *draft_leaves, __global const uint *list,
                  __global const ordo_key_form *firsts, __global const uint *counts, uint n,
                  __global const hamt_value *values, ulong values_at, __global ordo_key *keys_out,
                  __global hamt_value *values_out, __global uchar *erased)
{
    const draft_table   d = DRAFT_TABLE_HERE;
    const draft_updates out = { values + values_at, keys_out, values_out, erased };
    RUN_EACH (uint, item, n * HAMT_WORDS) {
        const uint           k = item / HAMT_WORDS, word = item % HAMT_WORDS;
        __global const uint *leaf = draft_leaves + (ulong) list[k] * HAMT_WORDS;
        uint                 to = counts[k];
        if (leaf[word] == 0)
            continue;
        for (uint w = 0; w < word; w++)
            to += popcount(leaf[w]);
        draft_collect(&d, &out, leaf[word], firsts[k] + word * 32, to);
    }
}
