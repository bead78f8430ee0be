/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the updates of a finished draft (shared/draft.h):
 *
 *   draft_count    counts the used slots; the host then computes the prefix sums
 *   draft_list     lists words and keys in slot order; the host then sorts them by key
 *   draft_updates  writes the updates in key order */
#pragma once
#include "dict/trie/draft.cl"
#include "dict/value.cl"

/* Built together: draft_count draft_list draft_updates */

/* counts[b] becomes the number of used slots in block b (DRAFT_BLOCK slots). counts[n_blocks] becomes 0. */
ORDO_KERNEL(RUN_GROUP)
void draft_count(DRAFT_TABLE, uint n_blocks, __global uint *counts)
{
    const draft_table d = DRAFT_TABLE_HERE;
    RUN_EACH (uint, b, n_blocks + 1) {
        const uint first = min(b * DRAFT_BLOCK, d.n_slots), end = first + min((uint) DRAFT_BLOCK, d.n_slots - first);
        uint       words = 0;
        for (uint slot = first; slot < end; slot++)
            words += d.slots[slot] != 0;
        counts[b] = words;
    }
}

/* `counts` must hold the exclusive prefix sums of draft_count's counts. */
ORDO_KERNEL(RUN_GROUP)
void draft_list(DRAFT_TABLE, uint n_blocks, __global const uint *counts, __global ordo_key *keys_out,
                __global uint *words_out)
{
    const draft_table d = DRAFT_TABLE_HERE;
    RUN_EACH (uint, b, n_blocks) {
        const uint first = b * DRAFT_BLOCK, end = first + min((uint) DRAFT_BLOCK, d.n_slots - first);
        uint       to = counts[b];
        for (uint slot = first; slot < end; slot++) {
            const uint word = d.slots[slot];
            if (word == 0)
                continue;
            keys_out[to] = d.keys[DRAFT_UPDATE(word)];
            words_out[to++] = word;
        }
    }
}

/* words[k] describes the last update of the k-th updated key. DRAFT_UPDATE(words[k]) is the index of this update in the
 * launch. Bit DRAFT_ERASED is 1 if the update erased the key. */
ORDO_KERNEL(RUN_GROUP)
void draft_updates(__global const uint *words, uint n, __global const uchar *values, ulong values_at,
                   __global uchar *values_out, __global uchar *erased)
{
    RUN_EACH (uint, k, n) {
        const uint word = words[k];
        const bool gone = word & DRAFT_ERASED;
        if (gone)
            value_clear(ORDO_VALUE_BYTES, values_out, k);
        else
            value_copy(values, values_at + DRAFT_UPDATE(word), ORDO_VALUE_BYTES, values_out, k);
        erased[k] = gone;
    }
}
