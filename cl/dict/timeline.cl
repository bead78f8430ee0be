/* SPDX-License-Identifier: Apache-2.0 */
/* Records when each key of a mixed batch is present, as a wavelet matrix (Claude, Navarro, Ordonez, 2015). */
#pragma once
#include "device/compiler.cl"

#define TIMELINE_BLOCK 32

/* Packs an operation's group and change. The group is the index of the operation's key among the batch's distinct keys.
 * The change is 1 if the operation adds the key, -1 if it removes the key, else 0. */
ORDO_FN ulong timeline_entry(uint group, int change)
{
    return (ulong) group << 2 | (uint) (change + 1);
}

/* A wavelet matrix of the batch's entries (timeline_entry). It has a level for each bit of a group number. The highest
 * level has the entries in batch order. A stable sort of level b by bit b of the group numbers gives level b - 1. Level
 * b stores for each block of 32 entries:
 *
 *  masks[3 * block]      bit b of each entry's group number
 *  masks[3 * block + 1]  1 for each entry whose bit b is 0 and whose change is 1
 *  masks[3 * block + 2]  1 for each entry whose bit b is 0 and whose change is -1
 *  sums[block]           upper half: number of entries in earlier blocks whose bit b is 0
 *                        lower half: sum of the changes of the same entries, plus 32 * block. It is at least 0 */
typedef struct {
    __global const uint  *masks;
    __global const ulong *sums;
    __global const uint  *there_before;
    uint                  n, n_blocks, n_levels, n_groups;
} timeline;

#define TIMELINE_ARGS                                                                                                  \
    __global const uint *masks, __global const ulong *sums, __global const uint *there_before,                         \
        __global const uint *group_of, uint n_blocks, uint n_levels
#define TIMELINE                                                                                                       \
    {                                                                                                                  \
        masks, sums, there_before, n, n_blocks, n_levels, group_of[n]                                                  \
    }

/* Counts the entries among the first e of a level that have a 0 in bit `level` of their group number. Adds their
 * changes to *changes. */
ORDO_FN uint timeline_before(const timeline *t, uint level, uint e, __private int *changes)
{
    const uint           block = e / TIMELINE_BLOCK, below = (1u << (e % TIMELINE_BLOCK)) - 1;
    const ulong          at = (ulong) level * t->n_blocks + block, sum = t->sums[at];
    __global const uint *masks = t->masks + 3 * at;
    *changes += (int) ((uint) sum - TIMELINE_BLOCK * block) + (int) popcount(masks[1] & below) -
                (int) popcount(masks[2] & below);
    return (uint) (sum >> 32) + popcount(~masks[0] & below);
}

/* Entries *first .. *end - 1 of a level are the part to search. The lower half of the part has a 0 in bit `level` of
 * the group number. The upper half has a 1 there.
 *
 *  1. Returns the sum of the changes in the lower half.
 *  2. If `select` is true, chooses *bit: 0 if the returned sum is greater than *least, else 1.
 *  3. Keeps the lower half if *bit is 0, else the upper half. Sets *first and *end to the range of this half on the
 *     level below. */
ORDO_FN int timeline_descend(const timeline *t, uint level, uint *first, uint *end, bool *bit, int *least, bool select)
{
    int        before = 0, changes = 0, unused = 0;
    const uint zeros_before = timeline_before(t, level, *first, &before);
    const uint zeros_to_end = timeline_before(t, level, *end, &changes);
    changes -= before;
    if (select)
        *bit = *least >= changes;
    if (*bit) {
        const uint zeros = timeline_before(t, level, t->n, &unused);
        *first = zeros + (*first - zeros_before);
        *end = zeros + (*end - zeros_to_end);
    } else {
        *first = zeros_before;
        *end = zeros_to_end;
    }
    return changes;
}

ORDO_FN int timeline_changes(const timeline *t, uint g, uint time)
{
    uint first = 0, end = time;
    int  sum = 0, unused = 0;
    for (uint level = t->n_levels; level-- > 0 && first < end;) {
        bool      bit = g >> level & 1;
        const int changes = timeline_descend(t, level, &first, &end, &bit, &unused, false);
        sum += bit ? changes : 0;
    }
    return sum;
}

/* Among the first g distinct keys of the batch, counts the keys that are present before operation `time`. */
ORDO_FN uint timeline_rank(const timeline *t, uint g, uint time)
{
    return t->there_before[g] + timeline_changes(t, g, time);
}

/* Among the batch's keys that are present just before operation `time`, finds the key with exactly r lesser ones. It
 * must exist. Returns its index among the batch's distinct keys. */
ORDO_FN uint timeline_select(const timeline *t, uint r, uint time)
{
    uint first = 0, end = time, group = 0;
    for (uint level = t->n_levels; level-- > 0;) {
        const uint middle = min(group + (1u << level), t->n_groups);
        const uint before = t->there_before[middle] - t->there_before[min(group, t->n_groups)];
        int        least = (int) (r - before);
        bool       bit = false;
        const int  changes = timeline_descend(t, level, &first, &end, &bit, &least, true);
        r -= bit ? before + changes : 0;
        group += bit ? 1u << level : 0;
    }
    return group;
}
