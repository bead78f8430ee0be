/* SPDX-License-Identifier: Apache-2.0 */
/* Builds and searches an index of partial keys. shared/string_partial.h describes it. string_search.cl includes this
 * file if STRING_PARTIAL is 1. */
#pragma once
#if TEAM_WIDTH != 1
#error "a team has one lane: partial keys are searched by single work-items"
#endif
#include "shared/string_partial.h"

/* ---- partial keys ---------------------------------------------------------------------------------------------- */

/* A query. Bytes after its end are `pad`, which is 0 or 0xff. With 0xff, the query is greater than all strings that
 * begin with it. */
typedef struct {
    string_bytes bytes;
    string_text  text;
    uint         pad;
} partial_query;

ORDO_FN uint partial_byte(__private const partial_query *q, ulong at)
{
    return at < q->text.length ? q->bytes.bytes[q->text.at + at] : q->pad;
}

/* Returns word `word` of the query's partial key. If `positions` is NULL, the partial key has the first bytes of the
 * query. */
ORDO_FN uint partial_word(__private const partial_query *q, __global const uint *positions, uint bits, uint word)
{
    uint value = 0;
    if (!positions) {
        for (uint b = 0; b < 4; b++)
            value = value << 8 | partial_byte(q, 4 * word + b);
        return value;
    }
    for (uint k = word * (32 / bits); k < (word + 1) * (32 / bits); k++) {
        const uint  position = positions[k];
        const ulong bit = (ulong) position * bits;
        const uint  byte = position == PARTIAL_NONE ? 0 : partial_byte(q, bit / 8);
        value = value << bits | (byte >> (8 - bits - (uint) bit % 8) & ((1u << bits) - 1));
    }
    return value;
}

/* ---- pages ----------------------------------------------------------------------------------------------------- */

typedef struct {
    __global const uint *positions, *keys;
    uint                 bits, key_words, count, first;
} partial_page;

ORDO_FN partial_page partial_page_of(__private const string_index *x, __private const partial_query *q, uint level,
                                     uint page)
{
    __global const partial_head  *head = (__global const partial_head *) x->words;
    __global const partial_level *on = &head->level[level];
    __global const uint          *words = x->words + on->pages + (ulong) page * on->page_words;
    partial_page                  p = { on->positions ? words : 0,
                       words + on->positions,
                       head->nibble_bits,
                       on->key_words,
                       min(on->count - page * head->page_keys, head->page_keys),
                       0 };
    p.first = partial_word(q, p.positions, p.bits, 0);
    return p;
}

ORDO_FN int partial_order(__private const partial_page *p, __private const partial_query *q, uint entry)
{
    for (uint w = 0; w < p->key_words; w++) {
        const uint stored = p->keys[entry * p->key_words + w];
        const uint asked = w ? partial_word(q, p->positions, p->bits, w) : p->first;
        if (stored != asked)
            return stored < asked ? -1 : 1;
    }
    return 0;
}

/* Returns how many entries of a page have a partial key less than the query's. If `below` is 1, equal partial keys
 * count, too. The first `from` entries must be among those counted. */
ORDO_FN uint partial_gap(__private const partial_page *p, __private const partial_query *q, uint from, int below)
{
    uint to = p->count;
    while (from < to) {
        const uint middle = from + (to - from) / 2;
        if (partial_order(p, q, middle) < below)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* ---- whole strings --------------------------------------------------------------------------------------------- */

ORDO_FN int partial_compare(__private const string_index *x, __private const partial_query *q, uint id)
{
    const string_text s = string_with_id(x, id), t = q->text;
    const ulong       both = min(s.length, t.length);
    const ulong       same = string_shared(&x->column.bytes, s.at, &q->bytes, t.at, both);
    if (same < both)
        return x->column.bytes.bytes[s.at + same] < q->bytes.bytes[t.at + same] ? -1 : 1;
    if (s.length < t.length || q->pad)
        return -1;
    return s.length > t.length;
}

/* Result of a search. If `equal` is true, the string with id `rank` equals the query. Otherwise the meaning of `rank`
 * differs between the search functions. */
typedef struct {
    uint  rank;
    bool  equal;
    ulong candidates; /* entries whose partial key equals the query's */
    ulong compared;
} partial_match;

/* Searches the strings with ids k * stride, for k from `from` to `to` - 1. If one of them equals the query, m->rank
 * becomes its id, k * stride. Otherwise m->rank becomes the number k, not the id, of the first greater string. If no
 * string is greater, m->rank becomes `to`. */
ORDO_FN void partial_among(__private const string_index *x, __private const partial_query *q, uint from, uint to,
                           uint stride, __private partial_match *m)
{
    while (from < to) {
        const uint middle = from + (to - from) / 2;
        const int  order = partial_compare(x, q, middle * stride);
        m->compared++;
        if (order == 0) {
            m->equal = true;
            m->rank = middle * stride;
            return;
        }
        if (order < 0)
            from = middle + 1;
        else
            to = middle;
    }
    m->rank = from;
}

/* Searches the pages from the last level down to level 0. If a string equals the query, finds it. Otherwise the rank
 * may be wrong, because pages do not store all bits of the strings. */
ORDO_FN partial_match partial_descend(__private const string_index *x, __private const partial_query *q)
{
    __global const partial_head *head = (__global const partial_head *) x->words;
    partial_match                m = { 0, false, 0, 0 };
    uint                         page = 0;
    for (uint level = head->levels; level-- > 0;) {
        const partial_page p = partial_page_of(x, q, level, page);
        const uint         before = page * head->page_keys, from = partial_gap(&p, q, 0, 0);
        const bool         tie = from < p.count && partial_order(&p, q, from) == 0;
        const uint         to = tie ? partial_gap(&p, q, from + 1, 1) : from;
        m.candidates += to - from;
        partial_among(x, q, before + from, before + to, head->level[level].stride, &m);
        if (m.equal)
            return m;
        page = m.rank > before ? m.rank - 1 : before;
    }
    return m;
}

/* Returns the number of strings less than the query. */
ORDO_FN partial_match partial_locate(__private const string_index *x, __private const partial_query *q)
{
    const uint    ids = ((__global const partial_head *) x->words)->ids;
    partial_match m = partial_descend(x, q);
    if (m.equal)
        return m;
    const uint rank = m.rank;
    partial_among(x, q, max(rank, 1u) - 1, rank, 1, &m);
    if (!m.equal && m.rank < rank)
        partial_among(x, q, 0, m.rank, 1, &m);
    else if (!m.equal)
        partial_among(x, q, rank, min(rank + 1, ids), 1, &m);
    if (!m.equal && m.rank > rank)
        partial_among(x, q, m.rank, ids, 1, &m);
    return m;
}

/* ---- one query ------------------------------------------------------------------------------------------------- */

ORDO_FN partial_query partial_query_of(__private const string_column *queries, string_text q, bool pad)
{
    return (partial_query) { queries->bytes, q, pad ? 0xffu : 0u };
}

ORDO_FN uint string_find_id(__private const string_index *x, __private const string_column *queries, string_text q)
{
    const partial_query asked = partial_query_of(queries, q, false);
    const partial_match m = partial_descend(x, &asked);
    return m.equal ? m.rank : STRING_NO_ID;
}

/* Compares the query with the strings before and after it in sorted order. Returns the comparison with more equal
 * leading bits. */
ORDO_FN string_match string_locate(__private const string_index *x, __private const string_column *queries,
                                   string_text q)
{
    const uint          ids = ((__global const partial_head *) x->words)->ids;
    const partial_query asked = partial_query_of(queries, q, false);
    const partial_match m = partial_locate(x, &asked);
    const string_match  next = string_compare(x, queries, q, min(m.rank, ids - 1));
    if (m.equal || m.rank == 0)
        return next;
    const string_match before = string_compare(x, queries, q, m.rank - 1);
    return m.rank == ids || before.apart > next.apart ? before : next;
}

ORDO_FN uint string_bound(__private const string_index *x, __private const string_column *queries, string_text q,
                          string_match m, bool upper)
{
    (void) x, (void) queries, (void) q;
    return m.id + (m.apart == STRING_EQUAL ? upper : m.greater);
}

ORDO_FN uint string_first_with(__private const string_index *x, __private const string_column *queries, string_text q)
{
    const partial_query asked = partial_query_of(queries, q, false);
    return partial_locate(x, &asked).rank;
}

ORDO_FN uint string_last_with(__private const string_index *x, __private const string_column *queries, string_text q)
{
    const partial_query asked = partial_query_of(queries, q, true);
    return partial_locate(x, &asked).rank - 1;
}

ORDO_FN uint string_prefix_end(__private const string_index *x, __private const string_column *queries, string_text q,
                               string_match m)
{
    return m.ends ? string_last_with(x, queries, q) + 1 : string_bound(x, queries, q, m, false);
}

ORDO_FN uint string_longest_of(__private const string_index *x, __private const string_column *queries, string_text q)
{
    for (;;) {
        const partial_query asked = partial_query_of(queries, q, false);
        const partial_match m = partial_locate(x, &asked);
        if (m.equal || m.rank == 0)
            return m.equal ? m.rank : STRING_NO_ID;
        const string_text s = string_with_id(x, m.rank - 1);
        const ulong       both = min(q.length, s.length);
        q.length = string_shared(&queries->bytes, q.at, &x->column.bytes, s.at, both);
        if (q.length == s.length)
            return m.rank - 1;
    }
}

/* ---- statistics ------------------------------------------------------------------------------------------------ */

/* Searches for each string, and stores the numbers `candidates` and `compared` of the result. Sets element `count` of
 * both arrays to 0. */
ORDO_KERNEL(STRINGS_GROUP)
void partial_count(STRING_INDEX_ARGS, uint count, __global ulong *candidates, __global ulong *compared)
{
    const string_index x = STRING_INDEX;
    STRINGS_EACH(id, count)
    {
        const partial_query q = partial_query_of(&x.column, string_with_id(&x, id), false);
        const partial_match m = partial_descend(&x, &q);
        candidates[id] = m.candidates;
        compared[id] = m.compared;
        if (id == 0)
            candidates[count] = compared[count] = 0;
    }
}

/* ---- build ----------------------------------------------------------------------------------------------------- */

/* A page to build: entries `first` to first + count - 1 of its level. Entry k is the string with id k * stride. The
 * strings i and i + 1 of level 0 first differ at position tests[i]. In a higher level, entry k begins page k of the
 * next lower level, and below[k] summarizes all strings of this page. In level 0, `below` is NULL. */
typedef struct {
    uint                          first, count, stride;
    __global const partial_draft *below;
    __global const uint          *tests;
} partial_entries;

ORDO_FN string_text partial_entry(__private const string_index *x, __private const partial_entries *e, uint i)
{
    return string_with_id(x, (e->first + i) * e->stride);
}

ORDO_FN void partial_measure(__private const string_index *x, __private const partial_entries *e,
                             __private uint *inside, __private uint *longest, __local uint *two)
{
    uint least = STRING_EQUAL, most = 0;
    if (get_local_id(0) == 0) {
        two[0] = STRING_EQUAL;
        two[1] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = (uint) get_local_id(0); i < e->count; i += STRINGS_GROUP) {
        const bool last = i + 1 == e->count;
        if (e->below) {
            const uint inside_entry = last ? e->below[e->first + i].inside : e->below[e->first + i].across;
            least = min(least, inside_entry);
            most = max(most, e->below[e->first + i].longest);
        } else {
            least = last ? least : min(least, e->tests[e->first + i]);
            most = max(most, (uint) min(partial_entry(x, e, i).length, (ulong) PARTIAL_LONGEST_MAX));
        }
    }
    (void) atomic_min(&two[0], least);
    (void) atomic_max(&two[1], most);
    barrier(CLK_LOCAL_MEM_FENCE);
    *inside = two[0];
    *longest = two[1];
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Bytes after the end of the string are 0. */
ORDO_FN ulong partial_eight(__private const string_index *x, string_text s, ulong at)
{
    return string_word(&x->column.bytes, s.at + at, at < s.length ? (uint) min(s.length - at, (ulong) 8) : 0u);
}

ORDO_FN ulong partial_below(__global const partial_draft *d, ulong at)
{
    const uint from = PARTIAL_FROM(d->inside);
    return d->inside == STRING_EQUAL || at < from || at >= d->longest ? 0 : d->apart[(at - from) / 8];
}

/* Compares bytes `at` to at + 7 of the strings of page `e` and of the pages below it (e->below). Returns a word whose
 * bits are 1 where any two strings differ. The whole group must call, and gets the same result. */
ORDO_FN ulong partial_apart(__private const string_index *x, __private const partial_entries *e, ulong at,
                            __local uint *two)
{
    const uint  lane = (uint) get_local_id(0);
    const ulong first = partial_eight(x, partial_entry(x, e, 0), at);
    ulong       apart = 0;
    if (lane == 0)
        two[0] = two[1] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = lane; i < e->count; i += STRINGS_GROUP) {
        apart |= first ^ partial_eight(x, partial_entry(x, e, i), at);
        apart |= e->below ? partial_below(&e->below[e->first + i], at) : 0;
    }
    if (apart) {
        (void) atomic_or(&two[0], (uint) (apart >> 32));
        (void) atomic_or(&two[1], (uint) apart);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    apart = (ulong) two[0] << 32 | two[1];
    barrier(CLK_LOCAL_MEM_FENCE);
    return apart;
}

/* Finds the nibbles (groups of `bits` bits) that differ between strings of the page, from byte `from` to `end`. Stops
 * after `most` nibbles. Sets d->apart, and writes the positions of the first `n_positions` nibbles. */
ORDO_FN void partial_differing(__private const string_index *x, __private const partial_entries *e, uint bits, uint end,
                               uint most, __global partial_draft *d, __global uint *positions, uint n_positions,
                               uint from, __local uint *two)
{
    const bool leads = get_local_id(0) == 0;
    uint       n = 0;
    for (uint at = from; at < end && n < most; at += 8) {
        const ulong apart = partial_apart(x, e, at, two);
        if (leads)
            d->apart[(at - from) / 8] = apart;
        for (uint k = 0; k < 64 / bits; k++) {
            if ((apart >> (64 - bits - k * bits) & ((1u << bits) - 1)) == 0)
                continue;
            if (leads && n < n_positions)
                positions[n] = at * (8 / bits) + k;
            n++;
        }
    }
    for (; leads && n < n_positions; n++)
        positions[n] = PARTIAL_NONE;
}

/* Each group builds one page of a level. Page 0 begins at word `pages_at` of `pages`. drafts[i] becomes a summary of
 * the strings of page i and of the pages below it. No level uses more than `most` nibbles of `bits` bits. */
ORDO_KERNEL(STRINGS_GROUP)
void partial_pages(STRING_INDEX_ARGS, __global uint *pages, ulong pages_at, uint count, uint stride, uint page_words,
                   uint n_positions, uint key_words, uint page_keys, uint bits, uint prefix, uint most,
                   __global const uint *tests, __global const partial_draft *below, __global partial_draft *drafts)
{
    __local uint            two[2];
    const string_index      x = STRING_INDEX;
    const uint              lane = (uint) get_local_id(0), page = (uint) get_group_id(0), first = page * page_keys;
    const partial_entries   e = { first, min(count - first, page_keys), stride, below, tests };
    __global uint          *positions = pages + pages_at + (ulong) page * page_words, *keys = positions + n_positions;
    __global partial_draft *d = drafts + page;
    uint                    inside, longest;

    partial_measure(&x, &e, &inside, &longest, two);
    const uint from = PARTIAL_FROM(inside), last = first + e.count - 1;
    if (lane == 0) {
        d->inside = inside;
        d->longest = longest;
        d->across = last + 1 < count ? min(inside, below ? below[last].across : tests[last]) : inside;
    }
    if (prefix == PARTIAL_NONCONTIGUOUS)
        partial_differing(&x, &e, bits, min(longest, from + PARTIAL_REACH), most, d, positions, n_positions, from, two);
    for (uint k = lane; prefix == PARTIAL_CONTIGUOUS && k < n_positions; k += STRINGS_GROUP)
        positions[k] = inside == STRING_EQUAL ? k : (inside >> 4) * (8 / bits) + (max(inside & 15, 1u) - 1) / bits + k;
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (uint i = lane; i < e.count; i += STRINGS_GROUP) {
        const partial_query q = partial_query_of(&x.column, partial_entry(&x, &e, i), false);
        for (uint w = 0; w < key_words; w++)
            keys[i * key_words + w] = partial_word(&q, n_positions ? positions : 0, bits, w);
    }
}
