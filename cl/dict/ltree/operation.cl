/* SPDX-License-Identifier: Apache-2.0 */
/* A concurrent operation on a linked tree. */
#pragma once
#include "device/apart.cl"
#include "dict/concurrent.cl"
#include "dict/ltree/column.cl"
#include "dict/ltree/column_team.cl"

/* If 1, fences order the loads of a node's words. Without fences, one load of at most 16 bytes must return a node's
 * header and high bound. So keys and values of 16 bytes always need fences. */
#define LTREE_BY_FENCE (!ORDO_AFTER_ORDERS || LTREE_WIDE || LTREE_FENCES)

/* Settings of papers' baselines: the tunables links.fences, links.uncached, links.retry and links.coupled. */
#ifndef LTREE_FENCES
#define LTREE_FENCES 0
#endif
#ifndef LTREE_UNCACHED
#define LTREE_UNCACHED 0
#endif
#ifndef LTREE_RETRY
#define LTREE_RETRY RETRY_NOW
#endif
#ifndef LTREE_COUPLED
#define LTREE_COUPLED 0
#endif

#define LTREE_TRIES(op) (concurrent_has(&(op)->faults, FAULT_NO_TRIES) ? 0 : 256)

#define STEP_AGAIN   0
#define STEP_ON      1
#define STEP_DONE    2
#define STEP_STARVED 3
#define STEP_FAR     4 /* The operation has passed the maximum number of leaves. The next launch continues it. */

/* If an erase leaves fewer than LTREE_SPARSE elements in a leaf, it merges the leaf into its right neighbour. After the
 * merge, the neighbour must have at most LTREE_MERGED elements, so that the next store does not split it. */
#define LTREE_SPARSE (LTREE_SLOTS / 3)
#define LTREE_MERGED (LTREE_SLOTS * 3 / 4)

/* A concurrent batch. Array pointers may be NULL. */
typedef struct {
    ltree_tree tree;
    uint       leaf_capacity, inner_capacity;
    /* If 1, an operation that needs a new node gets OUTCOME_NOT_STORED if no node is free. */
    uint final;
    /* Always 0. See ordo_after. */
    uint                        never;
    uint                        far; /* maximum number of leaves that a query visits per launch */
    uint                        found_first;
    __global const uchar       *codes;
    __global const ordo_key    *keys, *hi;
    __global const ltree_value *values;
    __global const ulong       *rooms;
    __global uchar             *found, *outcomes;
    __global ordo_key          *keys_out, *range_keys;
    __global ltree_value       *values_out, *range_values;
    __global uint              *counts;
    ulong                       range_capacity;
    __global const uint        *subset;
    __global ltree_pended      *pending;
    __global uint              *history;
} ltree_batch;

typedef struct {
    uint i, code;
    /* Level of the node to read or change. Leaves have level 0. After a split, this is the level of the inner node that
     * gets an entry for the new node. */
    uint level;
    uint at; /* node to visit next, or LTREE_NONE to start at the root */
    /* Key that the node must cover: low < query <= high, where low and high are the node's bounds. The query is:
     *
     *   - for a count or range, the least key that the operation has not visited
     *   - for a backward seek, the greatest possible result
     *   - if `level` is above 0, the key of the new entry plus 1 */
    ordo_key_form query;
    uint          child;
#if TEAM_WIDTH > 1
    ltree_value value;
#endif
    uint              count;
    uint              tries;
    uint              hops;
    bool              lost;     /* True after a restart at the root. All loads then bypass the caches. */
    uint              parent;   /* Node of the level above, from which the descent came, or LTREE_NONE. */
    uint              zombie;   /* Node visited before `at`, if a merge has emptied it. Otherwise LTREE_NONE. */
    uint              elements; /* Elements that this work-item has stored, minus elements that it has erased. */
    concurrent_faults faults;
} ltree_op;

ORDO_FN void ltree_delay(const ltree_batch *batch, ltree_op *op, uint kind)
{
    if (concurrent_strikes(&op->faults, kind, kind == FAULT_SLOW_RAISE ? 1 : 16))
        concurrent_wait(batch->tree.state + LTREE_TICK, CONCURRENT_PAUSE_TICKS, CONCURRENT_PAUSE_LOOKS);
}

/* Returns 0, which the caller adds to the address of a load. If LTREE_BY_FENCE is 0, the device thus loads the header
 * `seen` first. */
ORDO_FN uint ltree_after_look(const ltree_batch *batch, uint seen)
{
    return LTREE_BY_FENCE ? 0 : ordo_after(seen, batch->never);
}

/* Returns 0. The caller must compute `seen` from the words that it has loaded from a node. It adds the 0 to the address
 * of the node's header. An access to this address cannot precede the loads of the words. */
ORDO_FN uint ltree_before_look(const ltree_batch *batch, uint seen)
{
    if (LTREE_BY_FENCE)
        ordo_fence_acquire();
    return LTREE_BY_FENCE ? 0 : ordo_after(seen, batch->never);
}

ORDO_FN uint ltree_fold(ordo_key_form form)
{
#if KEY_BITS == 128
    const ulong word = form.x ^ form.y;
#else
    const ulong word = form;
#endif
    return (uint) word ^ (uint) (word >> 32);
}

ORDO_FN ordo_key_form ltree_key_of_lane(ordo_key_form key, uint lane)
{
    return OF_KEYS(apart_shuffle)(key, lane);
}

typedef struct {
    ordo_key_form low, high;
    uint          right, header;
} ltree_tail;

/* Gives lane 0's tail (the words after a node's keys) to all lanes. If LTREE_BY_FENCE is 1, each lane has loaded the
 * header itself. If these headers differ, a writer has changed the node. The result then has LTREE_LATCHED, so that the
 * caller tries again. */
ORDO_FN ltree_tail ltree_share_tail(ltree_tail own)
{
    ltree_tail tail;

    tail.low = ltree_key_of_lane(own.low, 0);
    tail.high = ltree_key_of_lane(own.high, 0);
    tail.right = apart_first(own.right);
    tail.header = apart_first(own.header);
    if (LTREE_BY_FENCE && !apart_all(own.header == tail.header))
        tail.header |= LTREE_LATCHED;
    return tail;
}

ORDO_FN ordo_key_form ltree_load_uncached_key(__global const ordo_key_form *p)
{
#if KEY_BITS == 128
    return as_ulong2(ordo_load_uncached128((__global const uint *) p));
#else
    return OF_KEYS(ordo_load_uncached)(p);
#endif
}

ORDO_FN ltree_tail ltree_load_uncached_tail(const ltree_batch *batch, ltree_op *op, __global ordo_key_form *line)
{
    ltree_tail tail;
    if (LTREE_BY_FENCE) {
        tail.header = ordo_load_acquire(ltree_header(line));
        ltree_delay(batch, op, FAULT_SLOW_LOOKS);
    }
#if KEY_BITS == 32
    const uint4 words = ordo_load_uncached128((__global const uint *) (line + LTREE_LOW));
    tail.high = words.w;
    if (!LTREE_BY_FENCE)
        tail.header = words.z;
    tail.low = words.x;
    tail.right = words.y;
#elif KEY_BITS == 64
    const ulong2 last = as_ulong2(ordo_load_uncached128((__global const uint *) (line + LTREE_HEADER)));
    tail.high = last.y;
    if (!LTREE_BY_FENCE)
        tail.header = (uint) last.x;
    line += ltree_after_look(batch, tail.header);
    const ulong2 words = as_ulong2(ordo_load_uncached128((__global const uint *) (line + LTREE_LOW)));
    tail.low = words.x;
    tail.right = (uint) words.y;
#else
    tail.low = ltree_load_uncached_key(line + LTREE_LOW);
    tail.right = ordo_load_uncached(ltree_right(line));
    tail.high = ltree_load_uncached_key(line + LTREE_HIGH);
#endif
    return ltree_share_tail(tail);
}

ORDO_FN uint ltree_cas(volatile __global uint *p, uint expected, uint desired)
{
    uint came = expected;
    if (apart_leads())
        came = ordo_cas(p, expected, desired);
    return apart_first(came);
}

/* Orders all earlier accesses of the team before all later ones. */
ORDO_FN void ltree_fence(void)
{
    apart_sync();
    ordo_fence_device();
    apart_sync();
}

ORDO_FN void ltree_store_relaxed(volatile __global uint *p, uint word)
{
    if (apart_leads())
        ordo_store_relaxed(p, word);
}
ORDO_FN void ltree_store_uncached_word(__global uint *p, uint word)
{
    if (apart_leads())
        ordo_store_uncached(p, word);
}

ORDO_FN void ltree_store_uncached_key(__global ordo_key_form *p, ordo_key_form key)
{
    if (!apart_leads())
        return;
#if KEY_BITS == 128
    ordo_store_uncached128((__global uint *) p, as_uint4(key));
#else
    OF_KEYS(ordo_store_uncached)(p, key);
#endif
}

#if ORDO_VALUE_BYTES == 16
#define VALUE_WORD(value) 0 /* LTREE_BY_FENCE needs no word. */
#else
#define VALUE_WORD(value) (uint)(value)
#endif

ORDO_FN ltree_value ltree_load_uncached_value(__global const ltree_value *p)
{
#if ORDO_VALUE_BYTES == 16
    return as_ulong2(ordo_load_uncached128((__global const uint *) p));
#else
    return ORDO_VALUE_BYTES == 8 ? (ltree_value) ordo_load_uncached64((__global const ulong *) p)
                                 : ordo_load_uncached((__global const uint *) p);
#endif
}

ORDO_FN void ltree_store_uncached_value(__global ltree_value *p, ltree_value value)
{
    if (!apart_leads())
        return;
#if ORDO_VALUE_BYTES == 16
    ordo_store_uncached128((__global uint *) p, as_uint4(value));
#else
    if (ORDO_VALUE_BYTES == 8)
        ordo_store_uncached64((__global ulong *) p, value);
    else
        ordo_store_uncached((__global uint *) p, (uint) value);
#endif
}

#define PIECE_KEYS  (128 / KEY_BITS)
#define PIECES      (LTREE_SLOTS / PIECE_KEYS)
#define PIECES_HALF (PIECES >= 16 ? 16u : PIECES >= 8 ? 8u : PIECES >= 4 ? 4u : 2u)

ORDO_FN void ltree_unpack_keys(uint4 piece, __private ordo_key_form keys[PIECE_KEYS])
{
#if KEY_BITS == 32
    keys[0] = piece.x;
    keys[1] = piece.y;
    keys[2] = piece.z;
    keys[3] = piece.w;
#elif KEY_BITS == 128
    keys[0] = as_ulong2(piece);
#else
    const ulong2 two = as_ulong2(piece);
    keys[0] = two.x;
    keys[1] = two.y;
#endif
}

#if TEAM_WIDTH > 1
ORDO_FN void ltree_load_line(__global const ordo_key_form *line, bool fresh, column_keys *c)
{
    if (fresh) {
        KEYS_DO(load_uncached)(c, line, 0, LTREE_WORDS);
        return;
    }
    ORDO_UNROLL
    for (uint r = 0; r < COLUMN_ROWS; r++)
        c->at[r] = column_word(r) < LTREE_WORDS ? line[column_word(r)] : KEY_LEAST;
}
#endif

/* On an H200, concurrent upserts of 2^16, 2^18 and 2^20 pairs take 123, 249 and 1540 us if a search loads its last 4
 * pieces at once. They take 145, 265 and 1721 us if it loads one piece after another. */
#define PIECES_AT_ONCE 4u

#if TEAM_WIDTH == 1 && (!ORDO_CPU || ORDO_CHECKED)
/* Returns the number of keys less than the query in PIECES_AT_ONCE pieces, from `piece` on. Sets *next as ltree_place
 * does. */
ORDO_FN uint ltree_place_near_piece(__global const ordo_key_form *line, ordo_key_form query, bool fresh, uint piece,
                                    ordo_key_form *next)
{
    uint less = 0;

    *next = LTREE_UNUSED;
    ORDO_UNROLL
    for (uint p = 0; p < PIECES_AT_ONCE; p++) {
        if (piece + p >= PIECES)
            continue;
        __global const uint *from = (__global const uint *) (line + (piece + p) * PIECE_KEYS);
        ordo_key_form        keys[PIECE_KEYS];
        ltree_unpack_keys(fresh ? ordo_load_uncached128(from) : *(__global const uint4 *) from, keys);
        ORDO_UNROLL
        for (uint k = 0; k < PIECE_KEYS; k++) {
            const bool before = key_before(keys[k], query);
            less += before;
            if (!before && key_before(keys[k], *next))
                *next = keys[k];
        }
    }
    return less;
}
#endif

/* Returns the number of keys less than the query. Sets *next to the first key that is not less, or to LTREE_UNUSED. If
 * `fresh`, bypasses the caches. */
ORDO_FN uint ltree_place(__global const ordo_key_form *line, ordo_key_form query, bool fresh, ordo_key_form *next)
{
#if TEAM_WIDTH > 1
    column_keys c;
    ltree_load_line(line, fresh, &c);
    return column_place(&c, query, next);
#elif ORDO_CPU && !ORDO_CHECKED
    (void) fresh;
    const uint less = ltree_less(line, query);
    *next = less < LTREE_SLOTS ? line[less] : LTREE_UNUSED;
    return less;
#else
    uint piece = 0;
    ORDO_UNROLL
    for (uint step = PIECES_HALF; step >= PIECES_AT_ONCE; step /= 2) {
        const uint last = (piece + step) * PIECE_KEYS - 1;
        if (last < LTREE_SLOTS && key_before(fresh ? ltree_load_uncached_key(line + last) : line[last], query))
            piece += step;
    }
    return piece * PIECE_KEYS + ltree_place_near_piece(line, query, fresh, piece, next);
#endif
}

ORDO_FN __global uint *ltree_words_beside(const ltree_tree *tree, uint level, uint node)
{
    return ORDO_VALUE_BYTES == 4 && level == 0 ? (__global uint *) ltree_values(tree, node)
                                               : ltree_children(tree, node);
}
#define WORDS_BESIDE(level)  ((level) > 0 || ORDO_VALUE_BYTES == 4)
#define VALUES_BESIDE(level) ((level) == 0 && ORDO_VALUE_BYTES >= 8)

ORDO_FN void ltree_prefetch(const ltree_tree *tree, uint level, uint node)
{
    ORDO_PREFETCH(ltree_line(tree, level, node));
    ORDO_PREFETCH(ltree_line(tree, level, node) + LTREE_SLOTS / 2);
    if (WORDS_BESIDE(level)) {
        ORDO_PREFETCH(ltree_words_beside(tree, level, node));
        ORDO_PREFETCH(ltree_words_beside(tree, level, node) + LTREE_SLOTS / 2);
    }
}

/* The next node on the way to a query: the right neighbour if `beyond`, else a child. */
typedef struct {
    uint next;
    bool beyond;
} ltree_way;

#if TEAM_WIDTH > 1
ORDO_FN ltree_way ltree_look_for_way(const ltree_tree *tree, uint node, ordo_key_form query, bool fresh)
{
    __global const uint *from = ltree_children(tree, node);
    column_keys          keys;
    column_uint          children;

    ltree_load_line(ltree_inner(tree, node), fresh, &keys);
    ORDO_UNROLL
    for (uint r = 0; r < COLUMN_ROWS; r++) {
        const uint s = min(column_word(r), (uint) LTREE_SLOTS - 1);
        children.at[r] = fresh ? ordo_load_uncached(from + s) : from[s];
    }
    const uint words = column_less(&keys, query), entry = ltree_entry(popcount(words & COLUMN_SLOTS_MASK));
    const bool beyond = words >> LTREE_HIGH & 1;
    return (ltree_way) { beyond ? ltree_number(KEYS_DO(at)(&keys, LTREE_RIGHT)) : column_at_uint(&children, entry),
                         beyond };
}
#else
ORDO_FN ltree_way ltree_look_for_way(const ltree_tree *tree, uint node, ordo_key_form query, bool fresh)
{
    __global ordo_key_form *line = ltree_inner(tree, node);
    ordo_key_form next;
    const uint less = ltree_place(line, query, fresh, &next);

    if (key_same(next, LTREE_UNUSED)) {
        const uint right = fresh ? ordo_load_uncached(ltree_right(line)) : *ltree_right(line);
        if (key_before(fresh ? ltree_load_uncached_key(line + LTREE_HIGH) : line[LTREE_HIGH], query))
            return (ltree_way) { right, true };
    }
    __global uint *child = ltree_children(tree, node) + ltree_entry(less);
    return (ltree_way) { fresh ? ordo_load_uncached(child) : *child, false };
}
#endif

ORDO_FN uint ltree_obstructed(ltree_op *op)
{
    if (LTREE_RETRY == RETRY_LATER)
        for (uint turns = 1u << min(op->tries, RETRY_PAUSES_LOG2); turns > 0; turns--)
            ordo_pause();
    if (LTREE_RETRY == RETRY_AT_ROOT)
        op->at = LTREE_NONE;
    return STEP_AGAIN;
}

/* Descends to op->level, and sets op->parent. Returns LTREE_NONE if an outdated child index is out of range. The caller
 * must check that the returned node covers the query. */
ORDO_FN uint ltree_go_down(const ltree_batch *batch, ltree_op *op, uint root)
{
    const ltree_tree *tree = &batch->tree;
    const bool        fresh = op->lost || LTREE_UNCACHED || ORDO_CHECKED;
    uint              node = ltree_root_node(root), hops = 0;

    op->parent = LTREE_NONE;
    for (uint above = ltree_root_level(root); above > op->level; above--) {
        const ltree_way way = ltree_look_for_way(tree, node, op->query, fresh);
        if (way.beyond) {
            if (way.next >= batch->inner_capacity || hops++ > LTREE_TRIES(op))
                return LTREE_NONE;
            node = way.next;
            above++;
            continue;
        }
        op->parent = node;
        node = way.next;
        if (node >= (above > 1 ? batch->inner_capacity : batch->leaf_capacity))
            return LTREE_NONE;
        ltree_prefetch(tree, above - 1, node);
    }
    return node;
}

/* Loads the header again, after the loads from which `seen` was computed. If the header is unchanged in all lanes, all
 * loaded words belong to one moment. */
ORDO_FN bool ltree_unchanged(const ltree_batch *batch, __global ordo_key_form *line, ltree_tail tail, uint seen)
{
    return apart_all(ordo_load_relaxed(ltree_header(line) + ltree_before_look(batch, seen)) == tail.header);
}

ORDO_FN void ltree_outcome(const ltree_batch *batch, const ltree_op *op, uint outcome)
{
    if (apart_leads())
        concurrent_outcome(batch->outcomes, batch->history, batch->tree.state + LTREE_TICK, op->i, outcome);
}

ORDO_FN uint ltree_answer(const ltree_batch *batch, const ltree_op *op, bool found)
{
    if (batch->found && apart_leads())
        batch->found[op->i] = found;
    ltree_outcome(batch, op, OUTCOME_DONE);
    return STEP_DONE;
}

ORDO_FN uint ltree_answer_seek(const ltree_batch *batch, const ltree_op *op, bool found, ordo_key_form key,
                               ltree_value value)
{
    if (found && batch->keys_out && apart_leads())
        batch->keys_out[op->i] = key_from_bits(key);
    if (HAS_VALUES && found && batch->values_out && apart_leads())
        batch->values_out[op->i] = value;
    return ltree_answer(batch, op, found);
}
