/* SPDX-License-Identifier: Apache-2.0 */
/* Answers the operations on single keys of a mixed batch, as if they ran one after another. */
#pragma once
#include "device/atomic.cl"
#include "dict/apply_batch.cl"

/* Built together: apply_histogram apply_starts apply_groups apply_segments apply_points apply_store */

/* Computes the histogram (shared/codes.h), which must be 0 before. */
ORDO_KERNEL(RUN_GROUP)
void apply_histogram(__global const uchar *codes, ulong codes_at, uint n, __global uint *histogram,
                     __global uint *number)
{
    __local uint sums[N_CODES];
    uint         count[N_CODES];
    for (uint c = 0; c < N_CODES; c++)
        count[c] = 0;
    for (uint c = (uint) get_local_id(0); c < N_CODES; c += RUN_GROUP)
        sums[c] = 0;
    RUN_EACH (uint, i, n) {
        const uint code = codes[codes_at + i];
        if (number)
            number[i] = i;
        for (uint c = 0; c < N_CODES; c++)
            count[c] += code == c;
        if (code >= N_CODES)
            ordo_max(&histogram[N_CODES], n - i);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint c = 0; c < N_CODES; c++)
        if (count[c])
            (void) ordo_local_add(&sums[c], count[c]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint c = (uint) get_local_id(0); c < N_CODES; c += RUN_GROUP)
        if (sums[c])
            (void) ordo_add(&histogram[c], sums[c]);
}

/* Sets the flags SUM_... (shared/apply.h) of each operation, in key order. heads[j] becomes 1 if operation j starts a
 * segment (struct sorted_batch). */
ORDO_KERNEL(RUN_GROUP)
void apply_starts(__global const uchar *codes, ulong codes_at, __global const ordo_key *sorted,
                  __global const uint *index, __global const uchar *there, uint n, __global uint *sums,
                  __global uchar *heads, __global uint *histogram)
{
    const ulong stride = (ulong) n + 1;
    RUN_EACH (uint, j, n + 1) {
        for (uint c = 0; j == 0 && c <= N_CODES; c++)
            histogram[c] = 0;
        const uint code = j < n ? codes[codes_at + index[j]] : CODE_FIND;
        const bool begins = j < n && (j == 0 || !key_same(sorted[j], sorted[j - 1]));
        const bool head = begins || code == CODE_UPSERT || code == CODE_ERASE;
        sums[SUM_HEADS * stride + j] = head;
        sums[SUM_INSERTS * stride + j] = code == CODE_INSERT || code == CODE_COMBINE;
        sums[SUM_GROUPS * stride + j] = begins;
        sums[SUM_THERE * stride + j] = begins && there[j] != 0;
        if (heads && j < n)
            heads[j] = head;
    }
}

/* Numbers the groups in key order. A group is all operations on one key. sums[] must hold the exclusive prefix sums of
 * the flags from apply_starts.
 *
 *  group_of[j]       group of operation j
 *  first_of[g]       first operation of group g
 *  there_before[g]   number of earlier groups whose key was present before the batch
 *  head_at[s]        first operation of segment s (struct sorted_batch)
 *  insert_at[i]      operation that is the i-th insert or combine */
ORDO_KERNEL(RUN_GROUP)
void apply_groups(__global const uint *sums, uint n, __global uint *group_of, __global uint *first_of,
                  __global uint *there_before, __global uint *head_at, __global uint *insert_at)
{
    const ulong stride = (ulong) n + 1;
    RUN_EACH (uint, j, n + 1) {
        const uint group = sum_at(sums, stride, SUM_GROUPS, j);
        const bool begins = j == n || sum_at(sums, stride, SUM_GROUPS, j + 1) != group;
        group_of[j] = begins ? group : group - 1;
        if (begins) {
            first_of[group] = j;
            there_before[group] = sum_at(sums, stride, SUM_THERE, j);
        }
        if (j == n)
            break;
        const uint head = sum_at(sums, stride, SUM_HEADS, j), insert = sum_at(sums, stride, SUM_INSERTS, j);
        if (sum_at(sums, stride, SUM_HEADS, j + 1) != head)
            head_at[head] = j;
        if (sum_at(sums, stride, SUM_INSERTS, j + 1) != insert)
            insert_at[insert] = j;
    }
}

typedef struct {
    __global const uint *sums, *head_at, *insert_at;
    ulong                stride;
} segments;

#define SEGMENT_ARGS __global const uint *sums, __global const uint *head_at, __global const uint *insert_at
#define SEGMENTS                                                                                                       \
    {                                                                                                                  \
        sums, head_at, insert_at, (ulong) n + 1                                                                        \
    }

/* Two operations of the segment that contains operation j, as members of a uint2:
 *
 *  x   first operation of the segment
 *  y   first insert or combine among operations x to j, or NONE */
typedef uint2 segment;

ORDO_FN segment segment_of(const segments *s, uint j)
{
    const uint heads = sum_at(s->sums, s->stride, SUM_HEADS, j + 1);
    const uint to_here = sum_at(s->sums, s->stride, SUM_INSERTS, j + 1);
    if (sum_at(s->sums, s->stride, SUM_HEADS, j) != heads) /* Most operations start a segment. */
        return (segment) (j, sum_at(s->sums, s->stride, SUM_INSERTS, j) != to_here ? j : NONE);
    const uint start = s->head_at[heads - 1];
    const uint first = sum_at(s->sums, s->stride, SUM_INSERTS, start);
    const bool inserts = to_here > first;
    return (segment) (start, inserts ? s->insert_at[first] : NONE);
}

ORDO_KERNEL(RUN_GROUP)
void apply_segments(SEGMENT_ARGS, uint n, __global uint *start, __global uint *insert)
{
    const segments s = SEGMENTS;
    RUN_EACH (uint, j, n) {
        const segment here = segment_of(&s, j);
        start[j] = here.x;
        insert[j] = here.y;
    }
}

/* Writes the results of the operations on single keys, and inputs of later kernels:
 *
 *  start_out[], insert_out[]   members `start` and `insert` of struct sorted_batch
 *  places[]                    the flags PLACE_... (shared/apply.h)
 *  entries[i]                  operation i of the batch, packed by timeline_entry
 *  offsets[]                   zeros */
ORDO_KERNEL(RUN_GROUP)
void apply_points(BATCH_ARGS, SEGMENT_ARGS, __global uint *start_out, __global uint *insert_out,
                  __global const uint *group_of, __global uint *places, uint parts, __global ulong *entries,
                  __global uchar *found, ulong found_at, __global merge_value *values_out, ulong values_out_at,
                  __global ulong *offsets, ulong offsets_at)
{
    const sorted_batch b = BATCH;
    const segments     segmented = SEGMENTS;
    const ulong        stride = (ulong) n + 2;
    RUN_EACH (uint, j, n + 1) {
        if (offsets)
            offsets[offsets_at + j] = 0;
        if (j == n) {
            for (uint part = 0; part < parts; part++)
                places[part * stride + n] = places[part * stride + n + 1] = 0;
            break;
        }
        const uint      i = index[j], code = b.codes[i];
        const segment   here = segment_of(&segmented, j);
        const key_state at_first = state_at_first(&b, j), after = state_in(&b, j, here.x, here.y);
        key_state       s = at_first;
        if (!batch_begins(&b, j)) {
            const segment left = segment_of(&segmented, j - 1);
            s = state_in(&b, j - 1, left.x, left.y);
        }
        start_out[j] = here.x;
        insert_out[j] = here.y;
        const bool last = j + 1 == n || !key_same(sorted[j], sorted[j + 1]);
        if (found && (code <= CODE_ERASE || code == CODE_COMBINE))
            found[found_at + i] = s != STATE_ABSENT;
#if ORDO_VALUE_BYTES
        if (values_out && code == CODE_FIND && s != STATE_ABSENT)
            values_out[values_out_at + i] = state_value(&b, j, s);
#endif
        places[PLACE_CHANGED * stride + j] = last && after != at_first;
        if (parts > PLACE_DOWN) {
            places[PLACE_UP * stride + j] = CODE_SEEKS_UP(code);
            places[PLACE_DOWN * stride + j] = CODE_SEEKS_DOWN(code);
        }
        if (parts > PLACE_GONE)
            places[PLACE_GONE * stride + j] = code == CODE_ERASE && there[j] != 0;
        if (entries)
            entries[i] = timeline_entry(group_of[j], (int) (after != STATE_ABSENT) - (int) (s != STATE_ABSENT));
    }
}

/* Writes one update for each key that the batch changes. place[] must hold the exclusive prefix sums of the flags
 * PLACE_CHANGED. `erased` may be NULL if the batch has no erasures. */
ORDO_KERNEL(RUN_GROUP)
void apply_store(BATCH_ARGS, __global const uint *place, __global ordo_key *keys_out, __global merge_value *values_out,
                 __global uchar *erased)
{
    const sorted_batch b = BATCH;
    RUN_EACH (uint, j, n) {
        const uint at = place[j];
        if (place[j + 1] == at)
            continue;
        const key_state s = state_after(&b, j);
        keys_out[at] = sorted[j];
        if (erased)
            erased[at] = s == STATE_ABSENT;
#if ORDO_VALUE_BYTES
        values_out[at] = s != STATE_ABSENT ? state_value(&b, j, s) : (merge_value) 0;
#endif
    }
}
