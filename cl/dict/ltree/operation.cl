/* SPDX-License-Identifier: Apache-2.0 */
/* A concurrent operation on a linked tree: its batch, its state, reads of a node, and results. concurrent.cl explains
 * the order of accesses. */
#pragma once
#include "dict/concurrent.cl"
#include "dict/ltree/node.cl"

#if TEAM_WIDTH != 1
#error "TEAM_WIDTH must be 1: each work-item has its own operation"
#endif
#define LTREE_BY_FENCE (!ORDO_AFTER_ORDERS)

/* An operation gives up after this many failed steps. */
#define LTREE_TRIES(op) (concurrent_has(&(op)->faults, FAULT_NO_TRIES) ? 0 : 256)

#define STEP_AGAIN   0 /* no progress: the latch was taken, or the path was wrong */
#define STEP_ON      1 /* progress */
#define STEP_DONE    2
#define STEP_STARVED 3 /* no node is left */
#define STEP_FAR     4 /* progress, but too many leaves are left for one launch */

#define LTREE_HALF (LTREE_SLOTS / 2)

/* A leaf with fewer elements than LTREE_SPARSE after an erase merges into its right neighbour, if the neighbour then
 * has at most LTREE_MERGED, so that the next store does not split it. */
#define LTREE_SPARSE (LTREE_SLOTS / 3)
#define LTREE_MERGED (LTREE_SLOTS * 3 / 4)

/* Arrays may be NULL. */
typedef struct {
    ltree_tree                  tree;
    uint                        leaf_capacity, inner_capacity;
    uint                        final; /* no nodes will be added: operations that need one are refused */
    uint                        never; /* 0, but unknown to the compiler */
    uint                        far;   /* maximum leaves that a query passes in a launch */
    __global const uchar       *codes;
    __global const ordo_key    *keys, *hi;
    __global const ltree_value *values;
    __global const ulong       *rooms;
    __global uchar             *found, *outcomes;
    __global ordo_key          *keys_out, *range_keys;
    __global ltree_value       *values_out, *range_values;
    __global uint              *counts;
    ulong                       range_capacity;
    __global uint4             *pending; /* operations that gave up: number, count, query */
    __global uint              *history;
} ltree_batch;

#define CODE_NONE 0xffu /* no operation */

typedef struct {
    uint i, code;
    uint level; /* 0: at the leaves. Else: the level that gets the entry of a split below */
    uint at;    /* the next node; LTREE_NONE: start from the root */
    /* The node must cover this key: a scan's least unseen key, a backward seek's greatest possible key, the separator
     * plus one above the leaves. */
    ordo_key_form     query;
    uint              child;    /* above the leaves: the new node */
    uint              count;    /* keys so far of a count or range */
    uint              tries;    /* failed steps */
    uint              hops;     /* leaves that a query passed in this launch */
    bool              lost;     /* the path was wrong: read past the caches */
    uint              zombie;   /* the zombie before `at`, or LTREE_NONE */
    uint              elements; /* stores minus erasures of all this work-item's operations */
    concurrent_faults faults;
} ltree_op;

ORDO_FN void ltree_delay(const ltree_batch *batch, ltree_op *op, uint kind)
{
    if (concurrent_strikes(&op->faults, kind, kind == FAULT_SLOW_RAISE ? 1 : 16))
        concurrent_wait(batch->tree.state + LTREE_TICK, CONCURRENT_PAUSE_TICKS, CONCURRENT_PAUSE_LOOKS);
}

/* Returns 0. Added to an address, it orders the access after the first look at a header, `seen`. */
ORDO_FN uint ltree_after_look(const ltree_batch *batch, uint seen)
{
    return LTREE_BY_FENCE ? 0 : ordo_after(seen, batch->never); /* by fences the look was an acquire load */
}

/* Returns 0. Added to the header's address, it orders the second look after all loads that `seen` comes from. */
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

typedef struct {
    ordo_key_form low, high;
    uint          right, header;
} ltree_tail;

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
        tail.header = words.z; /* one access reads words of one moment */
#else
    const ulong2 last = as_ulong2(ordo_load_uncached128((__global const uint *) (line + LTREE_HEADER)));
    tail.high = last.y;
    if (!LTREE_BY_FENCE)
        tail.header = (uint) last.x;
    line += ltree_after_look(batch, tail.header);
    const ulong2 words = as_ulong2(ordo_load_uncached128((__global const uint *) (line + LTREE_LOW)));
#endif
    tail.low = words.x;
    tail.right = (uint) words.y;
    return tail;
}

ORDO_FN ordo_key_form ltree_load_uncached_key(__global const ordo_key_form *p)
{
    return KEY_BITS == 64 ? (ordo_key_form) ordo_load_uncached64((__global const ulong *) p)
                          : ordo_load_uncached((__global const uint *) p);
}

ORDO_FN void ltree_store_uncached_key(__global ordo_key_form *p, ordo_key_form key)
{
    if (KEY_BITS == 64)
        ordo_store_uncached64((__global ulong *) p, key);
    else
        ordo_store_uncached((__global uint *) p, (uint) key);
}

ORDO_FN ltree_value ltree_load_uncached_value(__global const ltree_value *p)
{
    return ORDO_VALUE_BYTES == 8 ? (ltree_value) ordo_load_uncached64((__global const ulong *) p)
                                 : ordo_load_uncached((__global const uint *) p);
}

ORDO_FN void ltree_store_uncached_value(__global ltree_value *p, ltree_value value)
{
    if (ORDO_VALUE_BYTES == 8)
        ordo_store_uncached64((__global ulong *) p, value);
    else
        ordo_store_uncached((__global uint *) p, (uint) value);
}

/* Keys of a piece of 16 bytes. */
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

/* Counts a line's keys less than the query. *next becomes the key after them, perhaps of an unused slot, or all ones.
 * `fresh` reads past the caches. */
ORDO_FN uint ltree_place(__global const ordo_key_form *line, ordo_key_form query, bool fresh, ordo_key_form *next)
{
#if ORDO_CPU && !ORDO_CHECKED
    (void) fresh;
    const uint less = ltree_less(line, query);
    *next = less < LTREE_SLOTS ? line[less] : LTREE_UNUSED;
    return less;
#else
    /* A binary search, because each lane reads another line: accesses count, not bytes. */
    uint piece = 0;
    ORDO_UNROLL
    for (uint step = (PIECES + 2) / 2 & ~1u; step > 0; step /= 2) { /* 4 of 7, 8 of 14 */
        const uint last = (piece + step) * PIECE_KEYS - 1;
        if (last < LTREE_SLOTS && (fresh ? ltree_load_uncached_key(line + last) : line[last]) < query)
            piece += step;
    }
    *next = LTREE_UNUSED;
    if (piece == PIECES)
        return LTREE_SLOTS;

    __global const uint *from = (__global const uint *) (line + piece * PIECE_KEYS);
    ordo_key_form        keys[PIECE_KEYS];
    uint                 less = 0;
    ltree_unpack_keys(fresh ? ordo_load_uncached128(from) : *(__global const uint4 *) from, keys);
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

/* Returns the node's children, or its values if they are as large. */
ORDO_FN __global uint *ltree_words_beside(const ltree_tree *tree, uint level, uint node)
{
    return ORDO_VALUE_BYTES == 4 && level == 0 ? (__global uint *) ltree_values(tree, node)
                                               : ltree_children(tree, node);
}
#define WORDS_BESIDE(level)  ((level) > 0 || ORDO_VALUE_BYTES == 4)
#define ULONGS_BESIDE(level) ((level) == 0 && ORDO_VALUE_BYTES == 8)

/* Each of a node's two arrays lies in at most two cache lines. */
ORDO_FN void ltree_prefetch(const ltree_tree *tree, uint level, uint node)
{
    ORDO_PREFETCH(ltree_line(tree, level, node));
    ORDO_PREFETCH(ltree_line(tree, level, node) + LTREE_SLOTS / 2);
    if (WORDS_BESIDE(level)) {
        ORDO_PREFETCH(ltree_words_beside(tree, level, node));
        ORDO_PREFETCH(ltree_words_beside(tree, level, node) + LTREE_SLOTS / 2);
    }
}

/* Descends to op->level. Returns the query's node, which is a hint, or LTREE_NONE if the path led nowhere. */
ORDO_FN uint ltree_go_down(const ltree_batch *batch, const ltree_op *op, uint root)
{
    const ltree_tree *tree = &batch->tree;
    const bool        fresh = op->lost || ORDO_CHECKED;
    uint              node = ltree_root_node(root), hops = 0;

    for (uint above = ltree_root_level(root); above > op->level; above--) {
        __global ordo_key_form *line = ltree_inner(tree, node);
        ordo_key_form           next;
        const uint              less = ltree_place(line, op->query, fresh, &next);
        if (next == LTREE_UNUSED) { /* past the last key, apparently */
            const uint right = fresh ? ordo_load_uncached(ltree_right(line)) : *ltree_right(line);
            if (op->query > (fresh ? ltree_load_uncached_key(line + LTREE_HIGH) : line[LTREE_HIGH])) {
                if (right >= batch->inner_capacity || hops++ > LTREE_TRIES(op))
                    return LTREE_NONE;
                node = right;
                above++;
                continue;
            }
        }
        __global uint *child = ltree_children(tree, node) + ltree_entry(less);
        node = fresh ? ordo_load_uncached(child) : *child;
        if (node >= (above > 1 ? batch->inner_capacity : batch->leaf_capacity))
            return LTREE_NONE;
        ltree_prefetch(tree, above - 1, node);
    }
    return node;
}

/* Takes the second look at a leaf, after `seen`. Returns whether all words read are of one moment. */
ORDO_FN bool ltree_unchanged(const ltree_batch *batch, __global ordo_key_form *line, ltree_tail tail, uint seen)
{
    return ordo_load_relaxed(ltree_header(line) + ltree_before_look(batch, seen)) == tail.header;
}

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
