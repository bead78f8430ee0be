/* SPDX-License-Identifier: Apache-2.0 */
/* Searches the index of a column of strings, a query per team of lanes. shared/string_index.h describes the search. */
#pragma once
#ifndef TEAM_WIDTH
#define TEAM_WIDTH 1
#endif
#include "device/atomic.cl"
#include "device/team.cl"
#include "group/strings.cl"
#include "shared/string_index.h"

/* 1: the index has partial keys (shared/string_partial.h). */
#ifndef STRING_PARTIAL
#define STRING_PARTIAL 0
#endif

/* The index of a column. The *sorted rows* are the column's rows in the order of their strings. Of rows with equal
 * strings, there may be only the first.
 *
 *  rows    Row rows[i] of the column is sorted row i. If `rows` is NULL, the column itself is sorted
 *  starts  Sorted row starts[id] is the first row with string `id`. If `starts` is NULL, it is sorted row `id` */
typedef struct {
    __global const uint        *words;
    __global const string_head *head;
    __global const uint        *starts, *rows;
    string_column               column;
} string_index;

#define STRING_INDEX_ARGS                                                                                              \
    STRING_COLUMN_ARGS(column), __global const uint *words, __global const uint *starts, __global const uint *rows
#define STRING_INDEX                                                                                                   \
    (string_index)                                                                                                     \
    {                                                                                                                  \
        words, (__global const string_head *) words, starts, rows, STRING_COLUMN(column)                               \
    }

ORDO_FN string_text string_with_id(__private const string_index *x, uint id)
{
    const uint sorted = x->starts ? x->starts[id] : id;
    return string_of(&x->column, x->rows ? x->rows[sorted] : sorted);
}

/* ---- teams ----------------------------------------------------------------------------------------------------- */

/* All lanes of a sub-group must call the functions that search, because their lanes exchange values. The loop body runs
 * for the queries of a group. In one round, each team takes one query: query begin + team_index(), if there is one. */
#define STRING_ROUNDS(begin, count)                                                                                    \
    for (uint begin = (uint) get_group_id(0) * (STRINGS_TILE / TEAM_WIDTH),                                            \
              end_ = min((count) -begin, (uint) (STRINGS_TILE / TEAM_WIDTH)) + begin;                                  \
         begin < end_; begin += STRINGS_GROUP / TEAM_WIDTH)

/* Returns query i. Returns an empty string that is not good if there is none, or if its offsets are invalid. */
ORDO_FN string_text string_query(__private const string_column *queries, uint i, uint count)
{
    const string_text none = { 0, 0, false };
    if (i >= count)
        return none;
    const string_text q = string_of(queries, i);
    return q.good ? q : none;
}

/* Returns true if this lane writes the result of query i. */
ORDO_FN bool string_writes(uint i, uint count)
{
    return i < count && team_lane() == 0;
}

/* string_any returns true if a search must go on, because `p` is true for it or for another search of the sub-group. */
#if TEAM_WIDTH == 1
#define string_any(p)         (p)
#define string_shared_by_team string_shared
#else
ORDO_FN bool string_any(bool p)
{
    return subgroup_any(p);
}

/* Returns what string_shared does. In each round, each lane compares 8 bytes. */
ORDO_FN ulong string_shared_by_team(__private const string_bytes *a, ulong a_at, __private const string_bytes *b,
                                    ulong b_at, ulong most)
{
    ulong same = 0;
    while (string_any(same < most)) {
        const ulong     at = min(same + 8 * team_lane(), most);
        const uint      left = (uint) min(most - at, (ulong) 8);
        const ulong     apart = string_word(a, a_at + at, left) ^ string_word(b, b_at + at, left);
        const team_mask lanes = team_ballot(apart != 0);
        const uint      lane = lanes ? first_lane(lanes) : 0, equal = team_shuffle((uint) clz(apart) / 8, lane);
        most = lanes ? same + 8 * lane + equal : most;
        same = min(same + 8 * TEAM_WIDTH, most);
    }
    return most;
}
#endif

/* ---- one query ------------------------------------------------------------------------------------------------- */

/* A query compared with the string where its search ended:
 *
 *  same     number of leading bytes that are equal in both
 *  apart    position of their first difference, or STRING_EQUAL
 *  begins   true if the whole string is equal to the first bytes of the query
 *  ends     true if the whole query is equal to the first bytes of the string */
typedef struct {
    ulong same;
    uint  id, apart;
    bool  greater, begins, ends;
} string_match;

/* Returns the position of bit `bit` of byte `at`. Uses at most STRING_SHARED_MAX as `at`, so that the position fits in
 * 32 bits. */
ORDO_FN uint string_position(ulong at, uint bit)
{
    return (uint) min(at, (ulong) STRING_SHARED_MAX) << 4 | bit;
}

ORDO_FN string_match string_compare(__private const string_index *x, __private const string_column *queries,
                                    string_text q, uint id)
{
    const string_text s = string_with_id(x, id);
    const ulong       both = min(q.length, s.length);
    const ulong       same = string_shared_by_team(&queries->bytes, q.at, &x->column.bytes, s.at, both);
    if (same < both) {
        const uchar in_q = queries->bytes.bytes[q.at + same], in_s = x->column.bytes.bytes[s.at + same];
        const uint  bit = clz((uchar) (in_q ^ in_s)) + 1u;
        return (string_match) { same, id, string_position(same, bit), in_q > in_s, false, false };
    }
    const bool begins = s.length == same, ends = q.length == same;
    return (string_match) { same, id, begins && ends ? STRING_EQUAL : string_position(same, 0), !ends, begins, ends };
}

#if STRING_PARTIAL
#include "primitive/string_partial.cl"
#else

/* ---- descents -------------------------------------------------------------------------------------------------- */

/* The bits that a search reads. Before position `stop`, they are the bits of the query, which begins at byte `at`. From
 * `stop` on, all bits are `turn`. `stop` must not exceed the position after the query's last byte. */
typedef struct {
    string_bytes bytes;
    ulong        at;
    uint         stop;
    bool         turn;
} string_probe;

ORDO_FN bool probe_bit(__private const string_probe *p, uint position)
{
    if (position >= p->stop)
        return p->turn;
    const uint value = 256u | p->bytes.bytes[p->at + (position >> 4)];
    return value >> (8 - (position & 15)) & 1;
}

/* State of a search that reads a node's tests from left to right. A test is the position of a bit of the query. Tests
 * not less than `limit` are skipped. `gap` is the index after the last test whose bit was 1. */
typedef struct {
    uint gap, limit;
} node_state;

/* Searches tests[from] to tests[to - 1]. Returns the index after the last read test whose bit is 1, or `from` if there
 * is none. */
#if ORDO_CPU
/* The loop has no branches on bits, because a CPU would often predict them wrongly. */
ORDO_FN uint node_gap(__global const uint *tests, uint from, uint to, __private const string_probe *p)
{
    __global const uchar *bytes = p->bytes.bytes + p->at;
    const uint            stop = p->stop, turn = p->turn;
    node_state            s = { from, STRING_EQUAL };
    if (stop == 0)
        return turn ? to : from;
    for (uint i = from; i < to; i++) {
        const uint position = tests[i], value = 256u | bytes[min(position, stop - 1) >> 4];
        const bool bit = (position < stop ? value >> (8 - (position & 15)) : turn) & 1, reads = position < s.limit;
        const uint limit = bit ? STRING_EQUAL : position;
        s.limit = reads ? limit : s.limit;
        s.gap = reads && bit ? i + 1 : s.gap;
    }
    return s.gap;
}
#elif TEAM_WIDTH > 1
/* Result of a search of a part of a node's tests, as if there were no others. `gap` is as above. A search that goes
 * right until it reads a 0 reads this 0 at position `zero`. A search that goes left until it reads a 1 reads this 1 at
 * position `one`. They are STRING_EQUAL if there is no such bit. */
typedef struct {
    uint gap, zero, one;
} node_part;

/* Joins the tests of `a` and the tests of `b`, which follow them. */
ORDO_FN node_part node_join(node_part a, node_part b)
{
    return (node_part) { a.zero < b.one ? a.gap : b.gap, a.zero < min(b.zero, b.one) ? a.zero : b.zero,
                         b.one < min(a.zero, a.one) ? b.one : a.one };
}

ORDO_FN node_part node_test(__global const uint *tests, uint i, uint to, __private const string_probe *p)
{
    if (i >= to)
        return (node_part) { to, STRING_EQUAL, STRING_EQUAL };
    const uint position = tests[i];
    return probe_bit(p, position) ? (node_part) { i + 1, STRING_EQUAL, position }
                                  : (node_part) { i, position, STRING_EQUAL };
}

#define NODE_PART (STRING_NODE / TEAM_WIDTH)

ORDO_FN uint node_gap(__global const uint *tests, uint from, uint to, __private const string_probe *p)
{
    const uint first = from + NODE_PART * team_lane();
    node_part  part = node_test(tests, first, to, p);
    ORDO_UNROLL
    for (uint k = 1; k < NODE_PART; k++)
        part = node_join(part, node_test(tests, first + k, to, p));
    ORDO_UNROLL
    for (uint d = 1; d < TEAM_WIDTH; d *= 2) {
        const node_part other = { team_shuffle_xor(part.gap, d), team_shuffle_xor(part.zero, d),
                                  team_shuffle_xor(part.one, d) };
        part = team_lane() & d ? node_join(other, part) : node_join(part, other);
    }
    return part.gap;
}
#else
ORDO_FN node_state node_test(node_state s, __private const string_probe *p, uint i, uint position)
{
    if (position >= s.limit)
        return s;
    return probe_bit(p, position) ? (node_state) { i + 1, STRING_EQUAL } : (node_state) { s.gap, position };
}

ORDO_FN uint node_gap(__global const uint *tests, uint from, uint to, __private const string_probe *p)
{
    node_state s = { from, STRING_EQUAL };
    for (uint i = from & ~3u; i < to; i += 4) {
        uint4 four = *(__global const uint4 *) (tests + i);
        four.x = i < from ? STRING_EQUAL : four.x;
        four.y = i + 1 < from || i + 1 >= to ? STRING_EQUAL : four.y;
        four.z = i + 2 < from || i + 2 >= to ? STRING_EQUAL : four.z;
        four.w = i + 3 >= to ? STRING_EQUAL : four.w;
        s = node_test(s, p, i, four.x);
        s = node_test(s, p, i + 1, four.y);
        s = node_test(s, p, i + 2, four.z);
        s = node_test(s, p, i + 3, four.w);
    }
    return s.gap;
}
#endif

/* A stored string that is a prefix of the query. It first differs from the next stored string at test number `test` of
 * level `level`. If there is no such prefix, `level` is STRING_NO_PREFIX. */
typedef struct {
    uint level, test;
} string_prefix;
#define STRING_NO_PREFIX STRING_LEVELS_MAX

/* A search of this node has ended before tests[gap]. If it met stored prefixes of the query, sets *prefix to the
 * longest one. A test of bit 0 asks whether the query is long enough to have a byte. If it is, the string before the
 * test is a prefix. */
ORDO_FN void node_prefix(__global const uint *tests, uint from, uint gap, uint stop, uint level,
                         __private string_prefix *prefix)
{
    uint least = STRING_EQUAL;
    for (uint i = gap; i > from; i--) {
        const uint position = tests[i - 1];
        if (position >= least)
            continue;
        least = position;
        if (position < stop && (position & 15) == 0) {
            *prefix = (string_prefix) { level, i - 1 };
            return;
        }
    }
}

typedef struct {
    uint from, to;
} string_range;

/* Follows the branches, which are the top of the trie (shared/string_index.h). Returns a range of test indices in the
 * last level. `prefix` may be NULL. */
ORDO_FN string_range branch_end(__private const string_index *x, __private const string_probe *p,
                                __private string_prefix *prefix)
{
    __global const string_branch *branch = (__global const string_branch *) (x->words + x->head->branches);
    const uint                    last = x->head->levels - 1;
    string_range                  r = { 0, x->head->level[last].count };
    for (uint at = 0, on = x->head->n_branches; on;) {
        const uint4 b = ((__global const uint4 *) branch)[at];
        if (probe_bit(p, b.x)) {
            if (prefix && b.x < p->stop && (b.x & 15) == 0)
                *prefix = (string_prefix) { last, b.y };
            r.from = b.y + 1;
            at = on = b.z;
        } else {
            r.to = b.y;
            at++;
            on = b.w;
        }
    }
    return r;
}

/* A search of a level has ended before test number `gap`. Returns the node where it continues, in the level below. */
ORDO_FN string_range node_below(__private const string_index *x, uint level, uint gap)
{
    __global const string_level *on = &x->head->level[level];
    __global const uint         *cuts = x->words + on->cuts;
    return (string_range) { gap > 0 ? cuts[gap - 1] + 1 : 0, gap < on->count ? cuts[gap] : on[-1].count };
}

/* Returns the id of the string where the search ends. If `prefix` is not NULL and a stored string is a prefix of the
 * query, sets *prefix to the longest one. */
ORDO_FN uint string_descend(__private const string_index *x, __private const string_probe *p,
                            __private string_prefix *prefix)
{
    string_range r = branch_end(x, p, prefix);
    for (uint level = x->head->levels - 1;; level--) {
        __global const uint *tests = x->words + x->head->level[level].tests;
        const uint           gap = node_gap(tests, r.from, r.to, p);
        if (prefix)
            node_prefix(tests, r.from, gap, p->stop, level, prefix);
        if (level == 0)
            return gap;
        r = node_below(x, level, gap);
    }
}

/* Returns a probe of the bits of the query before position `stop`. From there on, all bits are `turn`. */
ORDO_FN string_probe string_probe_before(__private const string_column *queries, string_text q, uint stop, bool turn)
{
    return (string_probe) { queries->bytes, q.at, min(stop, string_position(q.length, 0)), turn };
}

ORDO_FN string_match string_locate(__private const string_index *x, __private const string_column *queries,
                                   string_text q)
{
    const string_probe p = string_probe_before(queries, q, STRING_EQUAL, false);
    return string_compare(x, queries, q, string_descend(x, &p, 0));
}

/* Finds the strings whose bits before position `stop` are equal to the query's. Returns the id of the first such
 * string, or of the last one if `last` is true. */
ORDO_FN uint string_end(__private const string_index *x, __private const string_column *queries, string_text q,
                        uint stop, bool last)
{
    const string_probe p = string_probe_before(queries, q, stop, last);
    return string_descend(x, &p, 0);
}

/* Returns the number of strings less than a query. If `upper` is true, also counts a string equal to the query. `m`
 * must be the result of string_locate for the query. */
ORDO_FN uint string_bound(__private const string_index *x, __private const string_column *queries, string_text q,
                          string_match m, bool upper)
{
    if (!string_any(m.apart != STRING_EQUAL))
        return m.id + upper;
    const uint end = string_end(x, queries, q, m.apart, m.greater);
    return m.apart == STRING_EQUAL ? m.id + upper : end + m.greater;
}

/* Returns the number of strings that begin with the query or are less than it. `m` must be the result of string_locate
 * for the query. */
ORDO_FN uint string_prefix_end(__private const string_index *x, __private const string_column *queries, string_text q,
                               string_match m)
{
    const bool last = m.ends || m.greater;
    return string_end(x, queries, q, m.apart, last) + last;
}

/* Returns the first string that begins with the query. There must be one. */
ORDO_FN uint string_first_with(__private const string_index *x, __private const string_column *queries, string_text q)
{
    return string_end(x, queries, q, string_position(q.length, 0), false);
}

/* Returns the last string that begins with the query. There must be one. */
ORDO_FN uint string_last_with(__private const string_index *x, __private const string_column *queries, string_text q)
{
    return string_end(x, queries, q, string_position(q.length, 0), true);
}

ORDO_FN uint string_find_id(__private const string_index *x, __private const string_column *queries, string_text q)
{
    const string_match m = string_locate(x, queries, q);
    return m.apart == STRING_EQUAL ? m.id : STRING_NO_ID;
}

ORDO_FN uint string_longest_of(__private const string_index *x, __private const string_column *queries, string_text q)
{
    const string_match m = string_locate(x, queries, q);
    if (!string_any(!m.begins))
        return m.id;
    const string_probe p = string_probe_before(queries, q, m.apart, false);
    string_prefix      prefix = { STRING_NO_PREFIX, 0 };
    (void) string_descend(x, &p, &prefix);
    if (m.begins)
        return m.id;
    if (prefix.level == STRING_NO_PREFIX)
        return STRING_NO_ID;
    for (; prefix.level > 0; prefix.level--)
        prefix.test = x->words[x->head->level[prefix.level].cuts + prefix.test];
    return prefix.test;
}

#endif

ORDO_FN uint string_rank(__private const string_index *x, __private const string_column *queries, string_text q,
                         bool upper)
{
    return string_bound(x, queries, q, string_locate(x, queries, q), upper);
}

#if STRINGS_GROUP == 1 && !STRING_PARTIAL

/* On a CPU, a work-item takes STRING_BLOCK queries through the levels together, so that their loads overlap. */
#define STRING_BLOCK 16

typedef struct {
    string_text  q, s;
    string_probe probe;
    string_range node;
    uint         id, row;
} string_step;

ORDO_FN void string_level_block(__private const string_index *x, uint level, __private string_step *steps, uint count)
{
    __global const uint *tests = x->words + x->head->level[level].tests;
    __global const uint *cuts = x->words + x->head->level[level].cuts;
    for (uint k = 0; k < count; k++) {
        __private string_step *on = &steps[k];
        on->id = node_gap(tests, on->node.from, on->node.to, &on->probe);
        if (level > 0)
            ORDO_PREFETCH(cuts + on->id);
    }
    if (level == 0)
        return;
    __global const uint *below = x->words + x->head->level[level - 1].tests;
    for (uint k = 0; k < count; k++) {
        steps[k].node = node_below(x, level, steps[k].id);
        ORDO_PREFETCH(below + steps[k].node.from);
        ORDO_PREFETCH(below + steps[k].node.to);
    }
}

ORDO_FN void string_load_block(__private const string_index *x, __private string_step *steps, uint count)
{
    for (uint k = 0; k < count; k++) {
        steps[k].row = x->starts ? x->starts[steps[k].id] : steps[k].id;
        if (x->rows)
            ORDO_PREFETCH(x->rows + steps[k].row);
    }
    for (uint k = 0; k < count; k++) {
        steps[k].row = x->rows ? x->rows[steps[k].row] : steps[k].row;
        ORDO_PREFETCH(x->column.offsets + ((x->column.offsets_at + steps[k].row) << x->column.wide));
    }
    for (uint k = 0; k < count; k++) {
        steps[k].s = string_of(&x->column, steps[k].row);
        ORDO_PREFETCH(x->column.bytes.bytes + steps[k].s.at);
        ORDO_PREFETCH(x->column.bytes.bytes + steps[k].s.at + steps[k].s.length);
    }
}

ORDO_FN void string_find_block(__private const string_index *x, __private const string_column *queries, uint from,
                               uint count, __global uint *ids)
{
    string_step steps[STRING_BLOCK];
    for (uint k = 0; k < count; k++) {
        __private string_step *on = &steps[k];
        on->q = string_query(queries, from + k, from + count);
        on->probe = string_probe_before(queries, on->q, STRING_EQUAL, false);
        on->node = branch_end(x, &on->probe, 0);
    }
    for (uint level = x->head->levels; level > 0; level--)
        string_level_block(x, level - 1, steps, count);
    string_load_block(x, steps, count);
    for (uint k = 0; k < count; k++) {
        const string_text q = steps[k].q, s = steps[k].s;
        const bool        found = q.good && q.length == s.length &&
                           string_shared(&queries->bytes, q.at, &x->column.bytes, s.at, q.length) == q.length;
        ids[k] = found ? steps[k].id : STRING_NO_ID;
    }
}

ORDO_KERNEL(STRINGS_GROUP)
void string_find(STRING_INDEX_ARGS, STRING_COLUMN_ARGS(queries), uint count, __global uint *ids, ulong ids_at)
{
    const string_index  x = STRING_INDEX;
    const string_column queries = STRING_COLUMN(queries);
    const uint          end = min(count - STRINGS_FIRST, (uint) STRINGS_TILE) + STRINGS_FIRST;
    for (uint i = STRINGS_FIRST; i < end; i += STRING_BLOCK)
        string_find_block(&x, &queries, i, min(end - i, (uint) STRING_BLOCK), ids + ids_at + i);
}

#else

ORDO_KERNEL(STRINGS_GROUP)
void string_find(STRING_INDEX_ARGS, STRING_COLUMN_ARGS(queries), uint count, __global uint *ids, ulong ids_at)
{
    const string_index  x = STRING_INDEX;
    const string_column queries = STRING_COLUMN(queries);
    STRING_ROUNDS(begin, count)
    {
        const uint        i = begin + team_index();
        const string_text q = string_query(&queries, i, count);
        const uint        id = string_find_id(&x, &queries, q);
        if (string_writes(i, count))
            ids[ids_at + i] = q.good ? id : STRING_NO_ID;
    }
}

#endif

/* Sets ids[i] to `add` plus the number of strings less than query i. If `upper` is not 0, also counts a string equal to
 * the query. If the sum is not below `limit`, ids[i] becomes STRING_NO_ID. If `lengths` is not NULL, first cuts query i
 * to lengths[i] - 1 bytes. If lengths[i] is 0, ids[i] becomes STRING_NO_ID. */
ORDO_KERNEL(STRINGS_GROUP)
void string_bounds(STRING_INDEX_ARGS, STRING_COLUMN_ARGS(queries), uint count, __global uint *ids, ulong ids_at,
                   __global const ulong *lengths, uint upper, uint add, uint limit)
{
    const string_index  x = STRING_INDEX;
    const string_column queries = STRING_COLUMN(queries);
    STRING_ROUNDS(begin, count)
    {
        const uint  i = begin + team_index();
        string_text q = string_query(&queries, i, count);
        if (lengths && q.good) {
            q.good = lengths[i] > 0;
            q.length = q.good ? lengths[i] - 1 : 0;
        }
        const uint bound = string_rank(&x, &queries, q, upper != 0) + add;
        if (string_writes(i, count))
            ids[ids_at + i] = q.good && bound < limit ? bound : STRING_NO_ID;
    }
}

ORDO_KERNEL(STRINGS_GROUP)
void string_longest(STRING_INDEX_ARGS, STRING_COLUMN_ARGS(queries), uint count, __global uint *ids, ulong ids_at)
{
    const string_index  x = STRING_INDEX;
    const string_column queries = STRING_COLUMN(queries);
    STRING_ROUNDS(begin, count)
    {
        const uint        i = begin + team_index();
        const string_text q = string_query(&queries, i, count);
        const uint        id = string_longest_of(&x, &queries, q);
        if (string_writes(i, count))
            ids[ids_at + i] = q.good ? id : STRING_NO_ID;
    }
}

/* A string is visible if its bit in `hidden` is 0. Finds the longest visible string that is a prefix of the query.
 * Returns its length plus 1. Returns `best` if there is no such string, or if `best` is greater. */
ORDO_FN ulong string_longest_visible(__private const string_index *x, __private const string_column *queries,
                                     string_text q, __global const uint *hidden, ulong best)
{
    bool more = q.length >= best;
    while (string_any(more)) {
        const uint id = string_longest_of(x, queries, q);
        if (!more)
            continue;
        more = false;
        if (id == STRING_NO_ID)
            continue;
        const ulong length = min(string_with_id(x, id).length, q.length);
        if (!(hidden[id / 32] >> id % 32 & 1)) {
            best = max(best, length + 1);
        } else if (length > 0) {
            q.length = length - 1;
            more = q.length >= best;
        }
    }
    return best;
}

/* No string is so long. */
#define STRING_NO_LENGTH (~0UL)

/* Raises lengths[i] to n + 1 if the longest visible string (its bit in `hidden` is 0) that is a prefix of query i has n
 * bytes. */
ORDO_KERNEL(STRINGS_GROUP)
void string_longest_lengths(STRING_INDEX_ARGS, STRING_COLUMN_ARGS(queries), uint count, __global const uint *hidden,
                            __global ulong *lengths)
{
    const string_index  x = STRING_INDEX;
    const string_column queries = STRING_COLUMN(queries);
    STRING_ROUNDS(begin, count)
    {
        const uint        i = begin + team_index();
        const string_text q = string_query(&queries, i, count);
        const ulong       best = q.good ? lengths[i] : STRING_NO_LENGTH;
        const ulong       length = string_longest_visible(&x, &queries, q, hidden, best);
        if (string_writes(i, count) && q.good)
            lengths[i] = length;
    }
}

ORDO_FN void string_write(__global uint *first, __global uint *counts, bool good, uint from, uint to)
{
    if (first)
        *first = good ? from : STRING_NO_ID;
    if (counts)
        /* Compilers translate `to > from ? to - from : 0` to a saturating subtraction, which Oclgrind lacks. */
        *counts = good ? (uint) max((long) to - (long) from, 0L) : 0;
}

#define STRING_RESULT(array, i) ((array) ? (array) + array##_at + (i) : 0)

ORDO_KERNEL(STRINGS_GROUP)
void string_prefixes(STRING_INDEX_ARGS, STRING_COLUMN_ARGS(queries), uint count, __global uint *first, ulong first_at,
                     __global uint *counts, ulong counts_at)
{
    const string_index  x = STRING_INDEX;
    const string_column queries = STRING_COLUMN(queries);
    STRING_ROUNDS(begin, count)
    {
        const uint         i = begin + team_index();
        const string_text  q = string_query(&queries, i, count);
        const string_match m = string_locate(&x, &queries, q);
        const uint         to = string_prefix_end(&x, &queries, q, m);
        if (string_writes(i, count))
            string_write(STRING_RESULT(first, i), STRING_RESULT(counts, i), q.good, m.ends ? m.id : to, to);
    }
}

/* Finds the strings that share the most leading bytes with the query. They all begin with these bytes, so their ids are
 * consecutive. */
ORDO_KERNEL(STRINGS_GROUP)
void string_common(STRING_INDEX_ARGS, STRING_COLUMN_ARGS(queries), uint count, __global uint *first, ulong first_at,
                   __global uint *counts, ulong counts_at, __global ulong *lengths, ulong lengths_at)
{
    const string_index  x = STRING_INDEX;
    const string_column queries = STRING_COLUMN(queries);
    STRING_ROUNDS(begin, count)
    {
        const uint  i = begin + team_index();
        string_text q = string_query(&queries, i, count);
        q.length = string_locate(&x, &queries, q).same;
        const uint from = first || counts ? string_first_with(&x, &queries, q) : 0;
        const uint to = counts ? string_last_with(&x, &queries, q) + 1 : 0;
        if (!string_writes(i, count))
            continue;
        string_write(STRING_RESULT(first, i), STRING_RESULT(counts, i), q.good, from, to);
        if (lengths)
            lengths[lengths_at + i] = q.length;
    }
}

ORDO_KERNEL(STRINGS_GROUP)
void string_ranges(STRING_INDEX_ARGS, STRING_COLUMN_ARGS(queries), STRING_COLUMN_ARGS(uppers), uint count,
                   __global uint *first, ulong first_at, __global uint *counts, ulong counts_at)
{
    const string_index  x = STRING_INDEX;
    const string_column queries = STRING_COLUMN(queries), uppers = STRING_COLUMN(uppers);
    STRING_ROUNDS(begin, count)
    {
        const uint        i = begin + team_index();
        const string_text lo = string_query(&queries, i, count), hi = string_query(&uppers, i, count);
        const uint        from = string_rank(&x, &queries, lo, false), to = string_rank(&x, &uppers, hi, true);
        if (string_writes(i, count))
            string_write(STRING_RESULT(first, i), STRING_RESULT(counts, i), lo.good && hi.good, from, to);
    }
}

/* ---- strings by id --------------------------------------------------------------------------------------------- */

/* Sets lengths[i] to the length of string ids[i], and lengths[count] to 0. An id is bad if it is not below n_ids. If
 * there are bad ids, bad[0] becomes the number of ids from the first bad one to the end. bad[0] must be 0 before. */
ORDO_KERNEL(STRINGS_GROUP)
void string_lengths(STRING_INDEX_ARGS, __global const uint *ids, ulong ids_at, uint count, uint n_ids,
                    __global ulong *lengths, ulong lengths_at, __global uint *bad)
{
    const string_index x = STRING_INDEX;
    STRINGS_EACH(i, count)
    {
        const uint id = ids[ids_at + i];
        if (id >= n_ids)
            ordo_max(bad, count - i);
        lengths[lengths_at + i] = id < n_ids ? string_with_id(&x, id).length : 0;
        if (i == 0)
            lengths[lengths_at + count] = 0;
    }
}

ORDO_KERNEL(STRINGS_GROUP)
void string_numbers(__global uint *words_out, ulong at, uint count)
{
    STRINGS_EACH(i, count)
    words_out[at + i] = i;
}

#ifndef STRINGS_LANES
#define STRINGS_LANES 1
#endif
ORDO_KERNEL(STRINGS_GROUP)
void string_copy(STRING_INDEX_ARGS, __global const uint *ids, ulong ids_at, uint count, __global const ulong *offsets,
                 ulong offsets_at, __global uchar *bytes, ulong bytes_at)
{
    const string_index x = STRING_INDEX;
    const uint         lane = (uint) get_local_id(0) % STRINGS_LANES;
    const uint         first = (uint) get_group_id(0) * (STRINGS_TILE / STRINGS_LANES);
    const uint         end = min(count - first, (uint) (STRINGS_TILE / STRINGS_LANES)) + first;
    for (uint i = first + (uint) get_local_id(0) / STRINGS_LANES; i < end; i += STRINGS_GROUP / STRINGS_LANES) {
        const string_text s = string_with_id(&x, ids[ids_at + i]);
        const ulong       to = bytes_at + offsets[offsets_at + i];
        for (ulong k = lane; k < s.length; k += STRINGS_LANES)
            bytes[to + k] = x.column.bytes.bytes[s.at + k];
    }
}
