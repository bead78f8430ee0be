/* SPDX-License-Identifier: Apache-2.0 */
/* Records when the keys of a mixed batch are present, as a wavelet matrix (Claude, Navarro, Ordonez, 2015)
 * over the batch in the order of its operations ("times"). Entry i is operation i. Its group is its key's number among
 * the batch's distinct keys. Its change is +1 if it adds the key, -1 if it removes it, else 0.
 *
 * Level b (from the highest bit of a group's number down) has all entries, stably sorted by the bits above b, lowest
 * first. Each block of 32 entries has
 *
 *     masks[3 * block]      bit b of each entry's group
 *     masks[.. + 1], [+ 2]  entries with bit 0 and change +1; and change -1
 *     sums[block]           high half: the number of entries with bit 0 in earlier blocks; low half: their changes,
 *                           plus 32 for each block so that no sum is negative
 *
 * Both "changes of groups below g before time t" and "the r-th group present at time t" take one step per level. A
 * level takes 20 bytes per block. */
#pragma once
#include "device/compiler.cl"

#define TIMELINE_BLOCK 32

/* An entry while levels are built: group * 4 + change + 1. */
ORDO_FN ulong timeline_entry(uint group, int change)
{
    return (ulong) group << 2 | (uint) (change + 1);
}

typedef struct {
    __global const uint  *masks;
    __global const ulong *sums;
    __global const uint  *there_before; /* for g from 0 to n_groups: groups below g present before the batch */
    uint                  n, n_blocks, n_levels, n_groups;
} timeline;

#define TIMELINE_ARGS                                                                                                  \
    __global const uint *masks, __global const ulong *sums, __global const uint *there_before,                         \
        __global const uint *group_of, uint n_blocks, uint n_levels
#define TIMELINE                                                                                                       \
    {                                                                                                                  \
        masks, sums, there_before, n, n_blocks, n_levels, group_of[n]                                                  \
    }

/* Counts the entries with bit 0 among the first e of a level. Adds their changes to *changes. (Returns no struct,
 * because Oclgrind fails then.) */
ORDO_FN uint timeline_before(const timeline *t, uint level, uint e, __private int *changes)
{
    const uint           block = e / TIMELINE_BLOCK, below = (1u << (e % TIMELINE_BLOCK)) - 1;
    const ulong          at = (ulong) level * t->n_blocks + block, sum = t->sums[at];
    __global const uint *masks = t->masks + 3 * at;
    *changes += (int) ((uint) sum - TIMELINE_BLOCK * block) + (int) popcount(masks[1] & below) -
                (int) popcount(masks[2] & below);
    return (uint) (sum >> 32) + popcount(~masks[0] & below);
}

/* Goes down one level, to the entries *first .. *end - 1 with bit *bit. Returns the changes of entries with bit 0.
 * `select`: chooses *bit by *least. */
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

/* Counts the groups below g present before operation `time`. */
ORDO_FN uint timeline_rank(const timeline *t, uint g, uint time)
{
    return t->there_before[g] + timeline_changes(t, g, time);
}

/* Returns the group that is present at `time` and has r present groups before it, which must exist. */
ORDO_FN uint timeline_select(const timeline *t, uint r, uint time)
{
    uint first = 0, end = time, group = 0;
    for (uint level = t->n_levels; level-- > 0;) {
        const uint middle = min(group + (1u << level), t->n_groups);
        const uint before = t->there_before[middle] - t->there_before[min(group, t->n_groups)];
        int        least = (int) (r - before); /* fewer changes in the lower half are not enough */
        bool       bit = false;
        const int  changes = timeline_descend(t, level, &first, &end, &bit, &least, true);
        r -= bit ? before + changes : 0;
        group += bit ? 1u << level : 0;
    }
    return group;
}
