/* SPDX-License-Identifier: Apache-2.0 */
/* Mixed batches, as if their operations ran one after another; host/dict/apply.c has the plan.
 *
 *   apply_survey                    what is in the batch
 *   apply_starts, apply_groups, apply_stretches
 *                                   in key order: stretches of one state, and groups of equal keys
 *   apply_points                    results of finds and updates, changes over time, keys whose state changes at last
 *   apply_store                     those keys as sorted updates
 *   timeline_pack, timeline_move    one level of the timeline
 *   apply_pick, apply_gather        operations of one kind
 *   apply_ask                       seeks in key order, and what the batch erases
 *   apply_chain                     neighbours of erased keys that the batch does not erase
 *   apply_seek, apply_seek_far      results of seeks
 *   apply_count, apply_rank         results of other order queries
 *   apply_select_plan, apply_select elements of ranks
 *   apply_range_kept, apply_range_touched
 *
 * The host gives ORDO_KEY, ORDO_VALUE_BYTES, RUN_GROUP.
 */
#pragma once
#include "device/atomic.cl"
#include "dict/codes.cl"
#include "dict/each.cl"
#include "dict/timeline.cl"
#include "group/merge.cl"

/* Built together: apply_survey apply_starts apply_groups apply_stretches apply_points apply_store timeline_pack timeline_move apply_pick apply_gather */
/* Built together: apply_ask apply_chain apply_seek */
/* Built together: apply_count apply_rank */
/* Built together: apply_select_plan apply_select */
/* Built together: apply_range_plan apply_range_kept apply_range_touched */

#define NONE 0xffffffffu

/* survey[code], 0 at first: operations with it; [N_CODES]: n less the first whose code is unknown, or 0. number (NULL: not
 * wanted): 0, 1, 2, ... */
ORDO_KERNEL(RUN_GROUP)
void apply_survey(__global const uchar *codes, ulong codes_at, uint n, __global uint *survey, __global uint *number)
{
    uint count[N_CODES];
    for (uint c = 0; c < N_CODES; c++)
        count[c] = 0;
    RUN_EACH (uint, i, n) {
        const uint code = codes[codes_at + i];
        if (number)
            number[i] = i;
        for (uint c = 0; c < N_CODES; c++)
            count[c] += code == c;
        if (code >= N_CODES)
            ordo_max(&survey[N_CODES], n - i);
    }
    for (uint c = 0; c < N_CODES; c++)
        if (count[c])
            ordo_add(&survey[c], count[c]);
}

/* ---- the state of a key over time ------------------------------------------------------------------------------ */

/* The batch in key order. Position j is operation index[j]. A stretch begins where a key begins, and at each upsert and
 * erase: within it only the first insert can matter, and combines. start[j]: where j's stretch begins; insert[j]: the first
 * insert or combine from there to j, or NONE. there[j], value[j]: whether j's key was in the dictionary before the batch, and
 * its value. made[j], if there are combines (else NULL): the value of j's key after it, where it is there. */
typedef struct {
    __global const uchar       *codes;
    __global const ordo_key    *keys;
    __global const uint        *index, *start, *insert;
    __global const uchar       *there;
    __global const merge_value *before, *values; /* before the batch, in key order; the batch's, in its own */
    __global const merge_value *made;
    uint                        n;
} sorted_batch;

#define BATCH_ARGS                                                                                                     \
    __global const uchar *codes, ulong codes_at, __global const merge_value *values, ulong values_at,                  \
        __global const ordo_key *sorted, __global const uint *index, __global const uint *start,                       \
        __global const uint *insert, __global const uchar *there, __global const merge_value *before,                  \
        __global const merge_value *made, uint n
#define BATCH                                                                                                          \
    {                                                                                                                  \
        codes + codes_at, sorted, index, start, insert, there, before, values + values_at, made, n                     \
    }

/* What a key's state is: absent; present with the value from before the batch; or, any other number, with the value of
 * that operation or, if there are combines, the value made at that position. */
typedef uint key_state;
#define STATE_BEFORE 0xffffffffu
#define STATE_ABSENT 0xfffffffeu

ORDO_FN bool batch_begins(const sorted_batch *b, uint j)
{
    return j == 0 || b->keys[j] != b->keys[j - 1];
}

ORDO_FN key_state state_at_first(const sorted_batch *b, uint j)
{
    return b->there[j] ? STATE_BEFORE : STATE_ABSENT;
}

ORDO_FN key_state state_in(const sorted_batch *b, uint j, uint first, uint insert)
{
    const uint code = b->codes[b->index[first]];
    if (code == CODE_UPSERT)
        return b->made ? j : b->index[first];
    if (code != CODE_ERASE && b->there[j])
        return b->made && insert != NONE ? j : STATE_BEFORE;
    return insert == NONE ? STATE_ABSENT : b->made ? j : b->index[insert];
}

ORDO_FN key_state state_after(const sorted_batch *b, uint j)
{
    return state_in(b, j, b->start[j], b->insert[j]);
}

#if ORDO_VALUE_BYTES
/* The value of j's key in a state in which it is present. */
ORDO_FN merge_value state_value(const sorted_batch *b, uint j, key_state s)
{
    return s == STATE_BEFORE ? b->before[j] : b->made ? b->made[s] : b->values[s];
}
#endif

/* Sums over the batch in key order, in parts of `stride` one after another, scanned as one: before position j of part p lie
 * sum_at(sums, stride, p, j). */
ORDO_FN uint sum_at(__global const uint *sums, ulong stride, uint part, uint j)
{
    return sums[part * stride + j] - sums[part * stride];
}

#define SUM_HEADS   0 /* positions at which stretches begin */
#define SUM_INSERTS 1 /* inserts and combines */
#define SUM_GROUPS  2 /* positions at which keys begin */
#define SUM_THERE   3 /* those of them whose key was there */

/* What sums (of n + 1 positions each) are scanned from; heads (NULL: not wanted): where stretches begin. Clears the survey, which
 * has been read. */
ORDO_KERNEL(RUN_GROUP)
void apply_starts(__global const uchar *codes, ulong codes_at, __global const ordo_key *sorted,
                  __global const uint *index, __global const uchar *there, uint n, __global uint *sums,
                  __global uchar *heads, __global uint *survey)
{
    const ulong stride = (ulong) n + 1;
    RUN_EACH (uint, j, n + 1) {
        for (uint c = 0; j == 0 && c <= N_CODES; c++)
            survey[c] = 0;
        const uint code = j < n ? codes[codes_at + index[j]] : CODE_FIND;
        const bool begins = j < n && (j == 0 || sorted[j] != sorted[j - 1]);
        const bool head = begins || code == CODE_UPSERT || code == CODE_ERASE;
        sums[SUM_HEADS * stride + j] = head;
        sums[SUM_INSERTS * stride + j] = code == CODE_INSERT || code == CODE_COMBINE;
        sums[SUM_GROUPS * stride + j] = begins;
        sums[SUM_THERE * stride + j] = begins && there[j] != 0;
        if (heads && j < n)
            heads[j] = head;
    }
}

/* group_of[j] of position j, and of each group where it begins and how many before it were there; of position n and of the
 * group past the last likewise. Where the stretches begin, and where the inserts are. */
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

/* What start and insert are made of: STRETCH_ARGS. */
typedef struct {
    __global const uint *sums, *head_at, *insert_at;
    ulong                stride;
} stretches;

#define STRETCH_ARGS __global const uint *sums, __global const uint *head_at, __global const uint *insert_at
#define STRETCHES                                                                                                      \
    {                                                                                                                  \
        sums, head_at, insert_at, (ulong) n + 1                                                                        \
    }

/* start and insert of a position. */
typedef uint2 stretch;

ORDO_FN stretch stretch_of(const stretches *s, uint j)
{
    const uint start = s->head_at[sum_at(s->sums, s->stride, SUM_HEADS, j + 1) - 1];
    const uint first = sum_at(s->sums, s->stride, SUM_INSERTS, start);
    const bool inserts = sum_at(s->sums, s->stride, SUM_INSERTS, j + 1) > first;
    return (stretch) (start, inserts ? s->insert_at[first] : NONE);
}

/* For batches with combines, whose values are made before apply_points. */
ORDO_KERNEL(RUN_GROUP)
void apply_stretches(STRETCH_ARGS, uint n, __global uint *start, __global uint *insert)
{
    const stretches s = STRETCHES;
    RUN_EACH (uint, j, n) {
        const stretch here = stretch_of(&s, j);
        start[j] = here.x;
        insert[j] = here.y;
    }
}

#define CODE_SEEKS_UP(code)   ((code) == CODE_SEEK_GE || (code) == CODE_SEEK_GT)
#define CODE_SEEKS_DOWN(code) ((code) == CODE_SEEK_LT || (code) == CODE_SEEK_LE)

/* Places of what is taken out of the batch in key order: sums in parts as above, of n + 2 positions, the last two of which
 * count for nothing. Without seeks the first part is all; without erasures the last is left out. */
#define PLACE_CHANGED 0 /* the last operation of a key that the batch leaves in another state */
#define PLACE_UP      1 /* seeks upwards, downwards */
#define PLACE_DOWN    2
#define PLACE_GONE    3 /* erasures of keys that were there before the batch */

ORDO_FN uint place_of(__global const uint *places, uint n, uint part, uint j)
{
    return sum_at(places, (ulong) n + 2, part, j);
}

/* Results of finds, contains and updates; start and insert. places: what they are scanned from, so many parts. entries (NULL: not
 * wanted): the timeline's. offsets (NULL: not wanted): those of no ranges. */
ORDO_KERNEL(RUN_GROUP)
void apply_points(BATCH_ARGS, STRETCH_ARGS, __global uint *start_out, __global uint *insert_out,
                  __global const uint *group_of, __global uint *places, uint parts, __global ulong *entries,
                  __global uchar *found, ulong found_at, __global merge_value *values_out, ulong values_out_at,
                  __global ulong *offsets, ulong offsets_at)
{
    const sorted_batch b = BATCH;
    const stretches    stretched = STRETCHES;
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
        const stretch   here = stretch_of(&stretched, j);
        const key_state at_first = state_at_first(&b, j), after = state_in(&b, j, here.x, here.y);
        key_state       s = at_first;
        if (!batch_begins(&b, j)) {
            const stretch left = stretch_of(&stretched, j - 1);
            s = state_in(&b, j - 1, left.x, left.y);
        }
        start_out[j] = here.x;
        insert_out[j] = here.y;
        const bool last = j + 1 == n || sorted[j] != sorted[j + 1];
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

/* place: PLACE_CHANGED. */
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
        erased[at] = s == STATE_ABSENT;
#if ORDO_VALUE_BYTES
        values_out[at] = s != STATE_ABSENT ? state_value(&b, j, s) : 0;
#endif
    }
}

/* ---- the timeline ----------------------------------------------------------------------------------------------- */

/* Masks of one level's blocks, and what their sums are scanned from. */
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

#define TIMELINE_ARGS                                                                                                  \
    __global const uint *masks, __global const ulong *sums, __global const uint *there_before,                         \
        __global const uint *group_of, uint n_blocks, uint n_levels
#define TIMELINE                                                                                                       \
    {                                                                                                                  \
        masks, sums, there_before, n, n_blocks, n_levels, group_of[n]                                                  \
    }

/* To the order of the next level: entries whose bit is 0 first. */
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

/* ---- operations of one kind -------------------------------------------------------------------------------------- */

/* picked[i] = whether operation i's code is from `least` to `most`; of position n: 0. */
ORDO_KERNEL(RUN_GROUP)
void apply_pick(__global const uchar *codes, ulong codes_at, uint n, uint least, uint most, __global uint *picked)
{
    RUN_EACH (uint, i, n + 1) {
        const uint code = i < n ? codes[codes_at + i] : N_CODES;
        picked[i] = code >= least && code <= most;
    }
}

/* picked, scanned: the operations, and their keys; their upper bounds too, if hi is wanted. */
ORDO_KERNEL(RUN_GROUP)
void apply_gather(__global const uint *picked, uint n, __global const ordo_key *keys, ulong keys_at,
                  __global const ordo_key *his, ulong his_at, __global uint *ops, __global ordo_key *lo,
                  __global ordo_key *hi)
{
    RUN_EACH (uint, i, n) {
        const uint at = picked[i];
        if (picked[i + 1] == at)
            continue;
        ops[at] = i;
        lo[at] = keys[keys_at + i];
        if (hi)
            hi[at] = his[his_at + i];
    }
}

/* How many of the first n sorted keys are less than key, or not greater (`upper`). */
ORDO_FN uint sorted_bound(__global const ordo_key *sorted, uint n, ordo_key key, bool upper)
{
    const ordo_key_form x = key_bits(key);
    uint                low = 0, end = n;
    while (low < end) {
        const uint          middle = low + (end - low) / 2;
        const ordo_key_form y = key_bits(sorted[middle]);
        if (y < x || (upper && y == x))
            low = middle + 1;
        else
            end = middle;
    }
    return low;
}

/* The state and the position of group g before operation `time`. */
ORDO_FN key_state group_state(const sorted_batch *b, __global const uint *first_of, uint g, uint time, uint *position)
{
    const uint first = first_of[g];
    uint       low = first, end = first_of[g + 1];
    while (low < end) {
        const uint middle = low + (end - low) / 2;
        if (b->index[middle] < time)
            low = middle + 1;
        else
            end = middle;
    }
    *position = low > first ? low - 1 : first;
    return low > first ? state_after(b, low - 1) : state_at_first(b, first);
}

/* ---- seeks ------------------------------------------------------------------------------------------------------- */

/* The least key greater than this; the key itself if there is none. */
ORDO_FN ordo_key next_key(ordo_key key)
{
    const ordo_key_form bits = key_bits(key);
    return key_from_bits(bits + (bits != ~(ordo_key_form) 0));
}

/* Seeks, which of them at which position: those upwards first, n_up of n_seeks. Queries of the dictionary: theirs, and of each
 * direction behind them those of what is next to erased keys, n_erased. Where a seek's and an erased key's query is: */
ORDO_FN uint seek_query(uint q, uint n_up, uint n_erased)
{
    return q < n_up ? q : q + n_erased;
}
ORDO_FN uint near_query(uint e, bool forward, uint n_up, uint n_seeks, uint n_erased)
{
    return forward ? n_up + e : n_seeks + n_erased + e;
}

/* The positions of seeks, and the keys of their queries: upwards for what is not less than that, downwards for what is less. All look
 * past the seek's own key, of which the batch knows. erased: keys that were there and that the batch erases, in order. What is left of
 * n_erased is filled up. */
ORDO_KERNEL(RUN_GROUP)
void apply_ask(__global const uchar *codes, ulong codes_at, __global const ordo_key *sorted, __global const uint *index,
               uint n, __global const uint *places, uint n_up, uint n_seeks, uint n_erased, __global uint *ops,
               __global ordo_key *keys, __global ordo_key *erased)
{
    const uint all = n_erased ? place_of(places, n, PLACE_GONE, n) : 0;
    RUN_EACH (uint, j, n) {
        const uint code = codes[codes_at + index[j]];
        if (CODE_SEEKS_UP(code) || CODE_SEEKS_DOWN(code)) {
            const bool up = CODE_SEEKS_UP(code);
            const uint q = up ? place_of(places, n, PLACE_UP, j) : n_up + place_of(places, n, PLACE_DOWN, j);
            ops[q] = j;
            keys[seek_query(q, n_up, n_erased)] = up ? next_key(sorted[j]) : sorted[j];
        }
        if (n_erased == 0)
            continue;
        const uint e = place_of(places, n, PLACE_GONE, j);
        if (place_of(places, n, PLACE_GONE, j + 1) != e) {
            erased[e] = sorted[j];
            keys[near_query(e, true, n_up, n_seeks, n_erased)] = next_key(sorted[j]);
            keys[near_query(e, false, n_up, n_seeks, n_erased)] = sorted[j];
        }
        if (j >= all && j < n_erased) {
            keys[near_query(j, true, n_up, n_seeks, n_erased)] = sorted[j];
            keys[near_query(j, false, n_up, n_seeks, n_erased)] = sorted[j];
        }
    }
}

/* Whether the query of a key has found what is next to it in the dictionary before the batch: not if that is the last key that there
 * can be. */
ORDO_FN bool has_near(ordo_key key, bool found, bool forward)
{
    return found && !(forward && key_bits(key) == ~(ordo_key_form) 0);
}

/* Queries of seeks and what they found; the erased keys and where their chains end (apply_chain). */
typedef struct {
    __global const uint        *ops;
    __global const ordo_key    *base_key;
    __global const merge_value *base_value;
    __global const uchar       *base_found;
    __global const ordo_key    *erased;
    __global const uint        *end;
    uint                        n_up, n_seeks, n_erased, all; /* of the erased keys there are `all` */
} seek_queries;

#define QUERY_ARGS                                                                                                     \
    __global const uint *ops, __global const ordo_key *base_key, __global const merge_value *base_value,               \
        __global const uchar *base_found, __global const ordo_key *erased, __global const uint *end, uint n_up,        \
        uint n_seeks, uint n_erased, __global const uint *places
#define QUERIES                                                                                                        \
    {                                                                                                                  \
        ops, base_key, base_value, base_found, erased, end, n_up, n_seeks, n_erased,                                   \
            n_erased ? place_of(places, n, PLACE_GONE, n) : 0                                                          \
    }

/* Erased keys form chains of neighbours; a chain ends at a key whose neighbour is not erased, or that has none. ends[e], once
 * scanned for the maximum: 1 more than the nearest end at or after e, with positions counted from the right; from n_erased on
 * the same at or before e, by n_erased more, so that nothing of the one half reaches into the other. Of these `first` to
 * `last` - 1. */
ORDO_KERNEL(RUN_GROUP)
void apply_chain(uint n, QUERY_ARGS, __global uint *ends, uint first, uint last)
{
    const seek_queries s = QUERIES;
    RUN_EACH (uint, i, last - first) {
        const bool forward = first + i < n_erased;
        const uint e = forward ? first + i : first + i - n_erased, place = forward ? n_erased - 1 - e : first + i;
        const uint query = near_query(e, forward, n_up, n_seeks, n_erased);
        bool       is_end = e < s.all;
        if (is_end && has_near(erased[e], base_found[query], forward)) {
            const uint at = sorted_bound(erased, s.all, base_key[query], false);
            is_end = at == s.all || erased[at] != base_key[query];
        }
        ends[place] = is_end ? place + 1 : 0;
    }
}

/* Which erased key ends the chain of an erased key; NONE if the key is not erased. */
ORDO_FN uint chain_end(const seek_queries *s, bool forward, ordo_key key)
{
    const uint e = s->all ? sorted_bound(s->erased, s->all, key, false) : 0;
    if (e == s->all || s->erased[e] != key)
        return NONE;
    return forward ? s->n_erased - s->end[s->n_erased - 1 - e] : s->end[s->n_erased + e] - 1 - s->n_erased;
}

ORDO_FN bool is_nearer(ordo_key a, ordo_key b, bool forward)
{
    return forward ? key_bits(a) < key_bits(b) : key_bits(a) > key_bits(b);
}

/* The result of a seek: of the batch's the key at `position` in state s, unless that is STATE_ABSENT; else the other one, if
 * there is one, whose value is that of base_...[at]. */
#if ORDO_VALUE_BYTES
#define SEEK_VALUE()                                                                                                   \
    if (values_out && (s != STATE_ABSENT || other))                                                                    \
        values_out[values_out_at + time] = s != STATE_ABSENT ? state_value(&b, position, s) : base_value[at];
#else
#define SEEK_VALUE()
#endif
#define SEEK_RESULT()                                                                                                  \
    if (found)                                                                                                         \
        found[found_at + time] = s != STATE_ABSENT || other;                                                           \
    if (keys_out && (s != STATE_ABSENT || other))                                                                      \
        keys_out[keys_out_at + time] = s != STATE_ABSENT ? sorted[position] : other_key;                               \
    SEEK_VALUE()

/* The most groups that a seek looks at one by one. */
#define SEEK_STEPS 32

#define SEEK_OUT                                                                                                       \
    __global ordo_key *keys_out, ulong keys_out_at, __global merge_value *values_out, ulong values_out_at,             \
        __global uchar *found, ulong found_at

/* Seeks go from group to group until one is there at the time, or the nearest key is one that the batch does not touch. That is
 * mostly the first or second; one that takes SEEK_STEPS has no result, and says so: changed[n + 1] is no longer changed[n]. */
ORDO_KERNEL(RUN_GROUP)
void apply_seek(BATCH_ARGS, __global const uint *group_of, __global const uint *first_of, QUERY_ARGS, SEEK_OUT,
                __global uint *changed)
{
    const sorted_batch b = BATCH;
    const seek_queries queries = QUERIES;
    const uint         n_groups = group_of[n];
    RUN_EACH (uint, q, n_seeks) {
        const bool forward = q < n_up;
        const uint j = ops[q], time = index[j], code = b.codes[time];
        uint       g = group_of[j] + (code == CODE_SEEK_GT) - (code == CODE_SEEK_LT); /* 0 - 1: past all */
        uint       at = seek_query(q, n_up, n_erased), position = 0;
        uint       step = 0;
        bool       other = has_near(sorted[j], base_found[at], forward);
        ordo_key   other_key = base_key[at];
        key_state  s = STATE_ABSENT;
        for (; step < SEEK_STEPS && g < n_groups; step++, g += forward ? 1 : -1u) {
            const ordo_key key = sorted[first_of[g]];
            if (other && is_nearer(other_key, key, forward))
                break;
            s = group_state(&b, first_of, g, time, &position);
            if (s != STATE_ABSENT)
                break;
            if (other && key == other_key) {
                const uint e = chain_end(&queries, forward, key);
                at = near_query(e, forward, n_up, n_seeks, n_erased);
                other = has_near(erased[e], base_found[at], forward);
                other_key = base_key[at];
            }
        }
        if (step == SEEK_STEPS) {
            ordo_max(&changed[n + 1], NONE);
            continue;
        }
        SEEK_RESULT()
    }
}

/* The same for any distance, by the timeline. */
ORDO_KERNEL(RUN_GROUP)
void apply_seek_far(BATCH_ARGS, TIMELINE_ARGS, __global const uint *first_of, QUERY_ARGS, SEEK_OUT)
{
    const sorted_batch b = BATCH;
    const timeline     t = TIMELINE;
    const seek_queries queries = QUERIES;
    RUN_EACH (uint, q, n_seeks) {
        const bool forward = q < n_up;
        const uint j = ops[q], time = index[j], code = b.codes[time];
        /* what is there below where an upward seek begins, or not above where a downward one does */
        const uint rank = timeline_rank(&t, group_of[j] + (code == CODE_SEEK_GT || code == CODE_SEEK_LE), time);
        const bool touched = forward ? rank < timeline_rank(&t, t.n_groups, time) : rank > 0;
        uint       at = seek_query(q, n_up, n_erased);
        bool       other = has_near(sorted[j], base_found[at], forward);
        ordo_key   other_key = base_key[at];
        const uint e = other ? chain_end(&queries, forward, other_key) : NONE;
        if (e != NONE) {
            at = near_query(e, forward, n_up, n_seeks, n_erased);
            other = has_near(erased[e], base_found[at], forward);
            other_key = base_key[at];
        }

        uint      position = 0;
        key_state s = STATE_ABSENT;
        if (touched) {
            const uint g = timeline_select(&t, forward ? rank : rank - 1, time);
            s = group_state(&b, first_of, g, time, &position);
            if (other && is_nearer(other_key, sorted[position], forward))
                s = STATE_ABSENT;
        }
        SEEK_RESULT()
    }
}

/* ---- counts and ranges ------------------------------------------------------------------------------------------- */

/* base[q]: the count before the batch. lengths (NULL: not wanted): the counts of ranges, of each operation. */
ORDO_KERNEL(RUN_GROUP)
void apply_count(uint n, __global const uchar *codes, ulong codes_at, __global const ordo_key *sorted, TIMELINE_ARGS,
                 __global const uint *ops, __global const ordo_key *lo, __global const ordo_key *hi, uint n_queries,
                 __global const uint *base, __global uint *counts, ulong counts_at, __global uint *lengths)
{
    const timeline t = TIMELINE;
    RUN_EACH (uint, q, n_queries) {
        const uint time = ops[q];
        uint       count = 0;
        if (key_bits(lo[q]) <= key_bits(hi[q])) {
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

/* base[q]: the rank before the batch; upper: of keys not greater. */
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

/* How many keys are less than group g's at `time`; ranks[j]: how many were before the batch less than sorted[j]. */
ORDO_FN uint group_rank(const timeline *t, __global const uint *first_of, __global const uint *ranks, uint g, uint time)
{
    return ranks[first_of[g]] + timeline_changes(t, g, time);
}

/* Of each selection the group that it finds, or NONE; and of one that finds what the batch does not touch the rank that this had
 * before the batch. Ranks are the queries' keys, as numbers. */
ORDO_KERNEL(RUN_GROUP)
void apply_select_plan(BATCH_ARGS, TIMELINE_ARGS, __global const uint *first_of, __global const uint *ranks,
                       __global const uint *ops, __global const ordo_key *queries, uint n_queries,
                       __global uint *groups, __global uint *base_ranks)
{
    const sorted_batch b = BATCH;
    const timeline     t = TIMELINE;
    RUN_EACH (uint, q, n_queries) {
        const uint time = ops[q], k = queries[q] > NONE - 1 ? NONE : (uint) queries[q];
        uint       low = 0, high = t.n_groups; /* groups below `low` have ranks that are not greater than k */
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

/* Of each range: the first group in it, the changes of groups before it, and (touched) how many keys in it that the
 * batch touches are there at its time; of range n_queries: 0. */
ORDO_KERNEL(RUN_GROUP)
void apply_range_plan(uint n, __global const ordo_key *sorted, TIMELINE_ARGS, __global const uint *ops,
                      __global const ordo_key *lo, __global const ordo_key *hi, uint n_queries, __global uint *group,
                      __global int *changes, __global ulong *touched)
{
    const timeline t = TIMELINE;
    RUN_EACH (uint, q, n_queries + 1) {
        if (q == n_queries || key_bits(lo[q]) > key_bits(hi[q])) {
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

/* The last of queries 0 to n - 1 whose first element is not after x. */
ORDO_FN uint query_of(__global const ulong *first, uint n, ulong x)
{
    uint low = 0, high = n - 1;
    while (low < high) {
        const uint middle = low + (high - low + 1) / 2;
        if (first[middle] <= x)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

#define RANGE_OUT                                                                                                      \
    __global const ulong *offsets, ulong offsets_at, __global ordo_key *keys_out, ulong keys_out_at,                   \
        __global merge_value *values_out, ulong values_out_at

/* Elements of the ranges before the batch (base_...; those of range q from base_first[q] on) that the batch does not
 * touch go to their places: as many on as changes have brought in or taken out before them. */
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
        if (j < n && sorted[j] == key)
            continue;
        const uint  q = query_of(base_first, n_queries, x), time = ops[q];
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

/* Keys that the batch touches and that are there at a range's time go to theirs: before each stand those of them
 * that are less, and what is less in the range and not touched. */
ORDO_KERNEL(RUN_GROUP)
void apply_range_touched(BATCH_ARGS, TIMELINE_ARGS, __global const uint *first_of, __global const uint *ops,
                         uint n_queries, __global const uint *group, __global const ulong *touched,
                         __global const ulong *base_first, __global const ordo_key *base_key, RANGE_OUT)
{
    const timeline t = TIMELINE;
    const ulong    total = touched[n_queries];
    RUN_EACH (ulong, x, total) {
        const uint     q = query_of(touched, n_queries, x), time = ops[q];
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
