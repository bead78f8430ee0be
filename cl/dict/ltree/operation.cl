/* SPDX-License-Identifier: Apache-2.0 */
/* A concurrent operation on a linked tree: its batch and its work-item, faults that tests inject, how nodes are read, and
 * results. concurrent.cl explains the order of its accesses. */
#pragma once
#include "dict/concurrent.cl"
#include "dict/ltree/node.cl"

#if TEAM_WIDTH != 1
#error "TEAM_WIDTH must be 1: each work-item has its own operation"
#endif
#define LTREE_BY_FENCE (!ORDO_AFTER_ORDERS)

/* Steps of an operation that came to nothing, after which it is left to another launch. (A try takes some 10 us on an H200
 * where a leaf is fought over.) */
#define LTREE_TRIES(op) (concurrent_has(&(op)->faults, FAULT_NO_TRIES) ? 0 : 256)

/* What came of a step. */
#define STEP_AGAIN   0 /* nothing: another work-item was in the path, or the search has lost its path */
#define STEP_ON      1 /* it came further */
#define STEP_DONE    2
#define STEP_STARVED 3 /* there is no node left */
#define STEP_FAR     4 /* it came further, but has gone through so many leaves that the rest is not for it to look at */

/* Nodes are split in the middle. */
#define LTREE_HALF (LTREE_SLOTS / 2)

/* A leaf that an erase leaves with fewer elements than this merges into its right neighbour, if that has then no more than
 * so many, so that not the next store splits it. */
#define LTREE_SPARSE (LTREE_SLOTS / 3)
#define LTREE_MERGED (LTREE_SLOTS * 3 / 4)

/* ---- a work-item ------------------------------------------------------------------------------------------------- */

/* What all operations of a launch share. Arrays may be NULL. */
typedef struct {
    ltree_tree                  tree;
    uint                        leaf_capacity, inner_capacity;
    uint                        final; /* no more nodes will come: who needs one is refused */
    uint                        never; /* 0, unknown to the compiler */
    uint                        far;   /* leaves that a query goes through in a launch, at most */
    __global const uchar       *codes;
    __global const ordo_key    *keys, *his;
    __global const ltree_value *values;
    __global const ulong       *rooms;
    __global uchar             *found, *outcomes;
    __global ordo_key          *keys_out, *range_keys;
    __global ltree_value       *values_out, *range_values;
    __global uint              *counts;
    ulong                       range_capacity;
    __global uint4             *pending; /* of those that gave up: operation, count, query */
    __global uint              *history;
} ltree_batch;

#define CODE_NONE 0xffu /* no operation */

typedef struct {
    uint i, code;
    uint
        level; /* 0: at work on leaves. Else it has split a node of the level below, and puts its entry into this one */
    uint at;   /* a node of this level, to be looked at next; LTREE_NONE: from the root */
    ordo_key_form
         query;    /* what the node must cover. Of scans: the least key not yet seen, of backward seeks the greatest;
                            above the leaves: one more than the separator */
    uint child;    /* above the leaves: the new node */
    uint count;    /* of counts and ranges: keys so far */
    uint tries;    /* steps that came to nothing */
    uint hops;     /* leaves that a query has gone through in this launch */
    bool lost;     /* has lost its path: caches are not trusted */
    uint zombie;   /* the zombie that led to `at`, or LTREE_NONE */
    uint elements; /* stored by this work-item, less those erased, over all its operations */
    concurrent_faults faults;
} ltree_op;

ORDO_FN void ltree_delay(const ltree_batch *batch, ltree_op *op, uint kind)
{
    if (concurrent_strikes(&op->faults, kind, kind == FAULT_SLOW_RAISE ? 1 : 16))
        concurrent_wait(batch->tree.state + LTREE_TICK, CONCURRENT_PAUSE_TICKS, CONCURRENT_PAUSE_LOOKS);
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

/* 0, to be added to the address of what is read after the first look at a header, which is `seen`. */
ORDO_FN uint ltree_after_look(const ltree_batch *batch, uint seen)
{
    return LTREE_BY_FENCE ? 0 : ordo_after(seen, batch->never); /* 1: the look was an acquire load */
}

/* 0, to be added to the header's address for the second look, which comes after all that `seen` was computed from. */
ORDO_FN uint ltree_before_look(const ltree_batch *batch, uint seen)
{
    if (LTREE_BY_FENCE)
        ordo_fence_acquire();
    return LTREE_BY_FENCE ? 0 : ordo_after(seen, batch->never);
}

ORDO_FN uint ltree_fold(ordo_key_form form)
{
    return (uint) form ^ (uint) ((ulong) form >> 32);
}

/* ---- reading a node ---------------------------------------------------------------------------------------------- */

/* A line's words besides the keys; the header was read first. */
typedef struct {
    ordo_key_form low, high;
    uint          right, header;
} ltree_tail;

ORDO_FN ltree_tail ltree_peek_tail(const ltree_batch *batch, ltree_op *op, __global ordo_key_form *line)
{
    ltree_tail tail;
    if (LTREE_BY_FENCE) {
        tail.header = ordo_load_acquire(ltree_header(line));
        ltree_delay(batch, op, FAULT_SLOW_LOOKS);
    }
#if KEY_BITS == 32
    const uint4 words = ordo_peek128((__global const uint *) (line + LTREE_LOW));
    tail.high = words.w;
    if (!LTREE_BY_FENCE)
        tail.header = words.z; /* one access: they are of the same moment */
#else
    const ulong2 last = as_ulong2(ordo_peek128((__global const uint *) (line + LTREE_HEADER)));
    tail.high = last.y;
    if (!LTREE_BY_FENCE)
        tail.header = (uint) last.x;
    line += ltree_after_look(batch, tail.header);
    const ulong2 words = as_ulong2(ordo_peek128((__global const uint *) (line + LTREE_LOW)));
#endif
    tail.low = words.x;
    tail.right = (uint) words.y;
    return tail;
}

ORDO_FN ordo_key_form ltree_peek_key(__global const ordo_key_form *p)
{
    return KEY_BITS == 64 ? (ordo_key_form) ordo_peek64((__global const ulong *) p)
                          : ordo_peek((__global const uint *) p);
}

ORDO_FN void ltree_poke_key(__global ordo_key_form *p, ordo_key_form key)
{
    if (KEY_BITS == 64)
        ordo_poke64((__global ulong *) p, key);
    else
        ordo_poke((__global uint *) p, (uint) key);
}

ORDO_FN ltree_value ltree_peek_value(__global const ltree_value *p)
{
    return ORDO_VALUE_BYTES == 8 ? (ltree_value) ordo_peek64((__global const ulong *) p)
                                 : ordo_peek((__global const uint *) p);
}

ORDO_FN void ltree_poke_value(__global ltree_value *p, ltree_value value)
{
    if (ORDO_VALUE_BYTES == 8)
        ordo_poke64((__global ulong *) p, value);
    else
        ordo_poke((__global uint *) p, (uint) value);
}

/* Keys of a piece, 16 bytes. */
#define PIECE_KEYS (128 / KEY_BITS)
#define PIECES     (LTREE_SLOTS / PIECE_KEYS)

ORDO_FN void ltree_unpack_keys(uint4 piece, __private ordo_key_form keys[PIECE_KEYS])
{
#if KEY_BITS == 32
    keys[0] = piece.x;
    keys[1] = piece.y;
    keys[2] = piece.z;
    keys[3] = piece.w;
#else
    const ulong2 two = as_ulong2(piece);
    keys[0] = two.x;
    keys[1] = two.y;
#endif
}

/* How many keys of a line are less than the query; *next: the first one that is not, unused slots included, all ones
 * if there is none. `fresh`: past the caches. */
ORDO_FN uint ltree_place(__global const ordo_key_form *line, ordo_key_form query, bool fresh, ordo_key_form *next)
{
#if ORDO_CPU && !ORDO_CHECKED
    (void) fresh;
    const uint less = ltree_less(line, query);
    *next = less < LTREE_SLOTS ? line[less] : LTREE_UNUSED;
    return less;
#else
    /* By halves: each lane reads a line of its own, so that each access counts, not the bytes. */
    uint piece = 0;
    ORDO_UNROLL
    for (uint step = (PIECES + 2) / 2 & ~1u; step > 0; step /= 2) { /* 4 of 7, 8 of 14 */
        const uint last = (piece + step) * PIECE_KEYS - 1;
        if (last < LTREE_SLOTS && (fresh ? ltree_peek_key(line + last) : line[last]) < query)
            piece += step;
    }
    *next = LTREE_UNUSED;
    if (piece == PIECES)
        return LTREE_SLOTS;

    __global const uint *from = (__global const uint *) (line + piece * PIECE_KEYS);
    ordo_key_form        keys[PIECE_KEYS];
    uint                 less = 0;
    ltree_unpack_keys(fresh ? ordo_peek128(from) : *(__global const uint4 *) from, keys);
    ORDO_UNROLL
    for (uint k = 0; k < PIECE_KEYS; k++)
        less += keys[k] < query;
    ORDO_UNROLL
    for (uint k = 0; k < PIECE_KEYS; k++) {
        const ordo_key_form here = keys[k];
        *next = k == less ? here : *next;
    }
    return piece * PIECE_KEYS + less;
#endif
}

/* The column of children, or of values if these are of the same size. */
ORDO_FN __global uint *ltree_words_beside(const ltree_tree *tree, uint level, uint node)
{
    return ORDO_VALUE_BYTES == 4 && level == 0 ? (__global uint *) ltree_values(tree, node)
                                               : ltree_children(tree, node);
}
#define WORDS_BESIDE(level)  ((level) > 0 || ORDO_VALUE_BYTES == 4)
#define ULONGS_BESIDE(level) ((level) == 0 && ORDO_VALUE_BYTES == 8)

/* All of a node at once, on CPUs: its two arrays, of a line of the cache and a half each, or two. */
ORDO_FN void ltree_prefetch(const ltree_tree *tree, uint level, uint node)
{
    ORDO_PREFETCH(ltree_line(tree, level, node));
    ORDO_PREFETCH(ltree_line(tree, level, node) + LTREE_SLOTS / 2);
    if (WORDS_BESIDE(level)) {
        ORDO_PREFETCH(ltree_words_beside(tree, level, node));
        ORDO_PREFETCH(ltree_words_beside(tree, level, node) + LTREE_SLOTS / 2);
    }
}

/* The node of op->level to look for the query in, or LTREE_NONE if that led nowhere. A hint, by the argument at the
 * top. */
ORDO_FN uint ltree_go_down(const ltree_batch *batch, const ltree_op *op, uint root)
{
    const ltree_tree *tree = &batch->tree;
    const bool        fresh = op->lost || ORDO_CHECKED;
    uint              node = ltree_root_node(root), hops = 0;

    for (uint above = ltree_root_level(root); above > op->level; above--) {
        __global ordo_key_form *line = ltree_inner(tree, node);
        ordo_key_form           next;
        const uint              less = ltree_place(line, op->query, fresh, &next);
        if (next == LTREE_UNUSED) { /* behind the last key, it seems */
            const uint right = fresh ? ordo_peek(ltree_right(line)) : *ltree_right(line);
            if (op->query > (fresh ? ltree_peek_key(line + LTREE_HIGH) : line[LTREE_HIGH])) {
                if (right >= batch->inner_capacity || hops++ > LTREE_TRIES(op))
                    return LTREE_NONE;
                node = right;
                above++;
                continue;
            }
        }
        __global uint *child = ltree_children(tree, node) + ltree_entry(less);
        node = fresh ? ordo_peek(child) : *child;
        if (node >= (above > 1 ? batch->inner_capacity : batch->leaf_capacity))
            return LTREE_NONE;
        ltree_prefetch(tree, above - 1, node);
    }
    return node;
}

/* The second look at a leaf, after `seen`: whether all that was read was there at one moment. */
ORDO_FN bool ltree_unchanged(const ltree_batch *batch, __global ordo_key_form *line, ltree_tail tail, uint seen)
{
    return ordo_load_relaxed(ltree_header(line) + ltree_before_look(batch, seen)) == tail.header;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

ORDO_FN void ltree_outcome(const ltree_batch *batch, const ltree_op *op, uint outcome)
{
    concurrent_outcome(batch->outcomes, batch->history, batch->tree.state + LTREE_TICK, op->i, outcome);
}

ORDO_FN uint ltree_answer(const ltree_batch *batch, const ltree_op *op, bool found)
{
    if (batch->found)
        batch->found[op->i] = found;
    ltree_outcome(batch, op, OUTCOME_DONE);
    return STEP_DONE;
}

ORDO_FN uint ltree_answer_seek(const ltree_batch *batch, const ltree_op *op, bool found, ordo_key_form key,
                               ltree_value value)
{
    if (found && batch->keys_out)
        batch->keys_out[op->i] = key_from_bits(key);
    if (HAS_VALUES && found && batch->values_out)
        batch->values_out[op->i] = value;
    return ltree_answer(batch, op, found);
}
