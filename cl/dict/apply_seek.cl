/* SPDX-License-Identifier: Apache-2.0 */
/* Answers the seeks of a mixed batch. A seek finds the next greater or lesser key. */
#pragma once
#include "device/atomic.cl"
#include "dict/apply_batch.cl"

/* Built together: apply_list_seeks apply_chain apply_seek */

ORDO_FN ordo_key next_key(ordo_key key)
{
    const ordo_key_form bits = key_bits(key);
    return key_from_bits(key_plus(bits, key_of_digit(!key_same(bits, KEY_GREATEST), 0)));
}

/* A mixed batch puts its queries to the dictionary in one array. The array has four parts:
 *
 *  n_up queries             one per upward seek
 *  n_erased queries         one per erased key: finds the next greater key
 *  n_seeks - n_up queries   one per downward seek
 *  n_erased queries         one per erased key: finds the next lesser key */
ORDO_FN uint seek_query(uint q, uint n_up, uint n_erased)
{
    return q < n_up ? q : q + n_erased;
}
ORDO_FN uint near_query(uint e, bool forward, uint n_up, uint n_seeks, uint n_erased)
{
    return forward ? n_up + e : n_seeks + n_erased + e;
}

/* Writes queries to keys[]. The query for a neighbour of a key x is one of two keys:
 *
 *  next_key(x)   finds the least key that is greater than x
 *  x             finds the greatest key that is less than x
 *
 * erased[] gets the keys that the dictionary has and the batch erases. */
ORDO_KERNEL(RUN_GROUP)
void apply_list_seeks(__global const uchar *codes, ulong codes_at, __global const ordo_key *sorted,
                      __global const uint *index, uint n, __global const uint *places, uint n_up, uint n_seeks,
                      uint n_erased, __global uint *ops, __global ordo_key *keys, __global ordo_key *erased)
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

/* Returns whether a query found a neighbour of `key`. For the greatest possible key, next_key returns this key
 * itself. */
ORDO_FN bool has_near(ordo_key key, bool found, bool forward)
{
    return found && !(forward && key_same(key_bits(key), KEY_GREATEST));
}

typedef struct {
    __global const uint        *ops;
    __global const ordo_key    *base_key;
    __global const merge_value *base_value;
    __global const uchar       *base_found;
    __global const ordo_key    *erased;
    __global const uint        *end;
    uint                        n_up, n_seeks, n_erased, all;
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

/* A chain is a sequence of erased keys that are neighbours in the dictionary. An upward chain ends at its greatest key,
 * a downward chain at its least key. Each entry of ends[] belongs to an erased key:
 *
 *  first half of ends[]    the erased keys in descending order, for upward chains
 *  second half of ends[]   the erased keys in ascending order, for downward chains
 *
 * ends[p] becomes p + 1 if the key of entry p ends a chain, else 0. The host then computes the inclusive maximum scan
 * of ends[]. After that, the key of entry ends[p] - 1 ends the chain of the key of entry p. */
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
            is_end = at == s.all || !key_same(erased[at], base_key[query]);
        }
        ends[place] = is_end ? place + 1 : 0;
    }
}

/* Returns the index in erased[] of the key that ends the upward (`forward`) or downward chain of `key`. Returns NONE if
 * `key` is not in erased[]. */
ORDO_FN uint chain_end(const seek_queries *s, bool forward, ordo_key key)
{
    const uint e = s->all ? sorted_bound(s->erased, s->all, key, false) : 0;
    if (e == s->all || !key_same(s->erased[e], key))
        return NONE;
    return forward ? s->n_erased - s->end[s->n_erased - 1 - e] : s->end[s->n_erased + e] - 1 - s->n_erased;
}

ORDO_FN bool is_nearer(ordo_key a, ordo_key b, bool forward)
{
    const ordo_key_form f = key_bits(a), g = key_bits(b);
    const bool          less = key_before(f, g), greater = !key_upto(f, g);
    return forward ? less : greater;
}

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

#define SEEK_STEPS 32

#define SEEK_OUT                                                                                                       \
    __global ordo_key *keys_out, ulong keys_out_at, __global merge_value *values_out, ulong values_out_at,             \
        __global uchar *found, ulong found_at

/* Visits the batch's distinct keys, from the seek's key on, nearest first. The first present key is the result. If the
 * dictionary has a nearer key that is not in the batch, that key is the result. If a seek visits SEEK_STEPS keys
 * without a result, sets changed[n + 1] to NONE. The host then runs apply_seek_far. */
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
        /* If g is 0, g - 1 wraps around and ends the loop. */
        uint      g = group_of[j] + (code == CODE_SEEK_GT) - (code == CODE_SEEK_LT);
        uint      at = seek_query(q, n_up, n_erased), position = 0;
        uint      step = 0;
        bool      other = has_near(sorted[j], base_found[at], forward);
        ordo_key  other_key = base_key[at];
        key_state s = STATE_ABSENT;
        for (; step < SEEK_STEPS && g < n_groups; step++, g += forward ? 1 : -1u) {
            const ordo_key key = sorted[first_of[g]];
            if (other && is_nearer(other_key, key, forward))
                break;
            s = group_state(&b, first_of, g, time, &position);
            if (s != STATE_ABSENT)
                break;
            if (other && key_same(key, other_key)) {
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

/* Answers all seeks, without a limit on the number of keys to visit. */
ORDO_KERNEL(RUN_GROUP)
void apply_seek_far(BATCH_ARGS, TIMELINE_ARGS, __global const uint *first_of, QUERY_ARGS, SEEK_OUT)
{
    const sorted_batch b = BATCH;
    const timeline     t = TIMELINE;
    const seek_queries queries = QUERIES;
    RUN_EACH (uint, q, n_seeks) {
        const bool forward = q < n_up;
        const uint j = ops[q], time = index[j], code = b.codes[time];
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
