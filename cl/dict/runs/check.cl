/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the invariants of a sorted run (host/dict/sorted_run.h). */
#pragma once
#include "device/atomic.cl"
#include "dict/each.cl"
#include "group/runs.cl"

ORDO_FN uint run_word_mask(uint word, uint count)
{
    return count - word * 32 >= 32 ? 0xffffffffu : (1u << (count - word * 32)) - 1;
}

/* Lowers findings[f] to the index of the first violation of invariant f (RUN_... in shared/runs.h). Adds the number of
 * stale (replaced) elements to findings[RUN_STALE].
 *
 * The bits from words[stale_at] on must mark the stale elements. If `counted` is not 0, also checks the array that
 * begins at visible[visible_at]. Its correct contents must begin at words[counted_at]. */
ORDO_KERNEL(RUN_GROUP)
void run_check(__global const ordo_key *keys, uint count, __global const uint *hidden, ulong hidden_at,
               __global const uint *visible, ulong visible_at, __global const uint *words, ulong stale_at,
               ulong counted_at, uint counted, __global uint *findings)
{
    RUN_EACH (uint, i, count - 1) {
        const ordo_key_form key = key_bits(keys[i]), next = key_bits(keys[i + 1]);
        if (key_before(next, key))
            ordo_min(&findings[RUN_UNSORTED], i);
        if (key_same(next, key))
            ordo_min(&findings[RUN_REPEATED], i);
    }
    RUN_EACH (uint, word, run_words(count)) {
        const uint mask = run_word_mask(word, count), bits = words[stale_at + word] & mask;
        const uint marks = hidden ? hidden[hidden_at + word] & mask : 0u;
        if (bits & ~marks)
            ordo_min(&findings[RUN_NOT_HIDDEN], word * 32);
        if (marks & ~bits)
            ordo_min(&findings[RUN_TOMBSTONE], word * 32);
        if (bits)
            ordo_add(&findings[RUN_STALE], popcount(bits));
    }
    if (!counted)
        return;
    RUN_EACH (uint, entry, (count - 1) / RUN_BLOCK + 2)
        if (visible[visible_at + entry] != words[counted_at + entry])
            ordo_min(&findings[RUN_MISCOUNTED], entry);
}

ORDO_KERNEL(RUN_GROUP)
void run_none(__global uchar *found, ulong found_at, uint n)
{
    RUN_EACH (uint, i, n)
        found[found_at + i] = 0;
}
