/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on a B-link tree side by side: each work-item takes one operation after another, and works on it alone.
 * Finds were answered before (blink_find_in_batch); what is left are updates, seeks, counts and ranges.
 *
 *   blink_apply     runs operations, and lists those that gave up
 *   blink_tally     what there is in a batch
 *   blink_gather    makes a batch of those of one kind that gave up, to be done with the tree at rest
 *   blink_scatter   hands its results on
 *
 * An operation is a loop of steps: from the root to a node, then something done there, to the right, or up a level with
 * the news of a split. A latch is taken, used and given back within one step, and no step waits. So lanes of a
 * sub-group need not run independently of each other, and no operation holds more than one latch: while the level above
 * has not heard of a split, searches reach the new node by its left neighbour's link. (Lehman and Yao, Efficient
 * Locking for Concurrent Operations on B-Trees, TODS 1981; one latch at a time: Sagiv, Concurrent Operations on
 * B*-Trees, JCSS 1986.)
 *
 * The way down is a hint. Inner nodes are read without latch, version, or order, by loads that may come from any cache,
 * stale or torn. Whatever is read, one of these holds:
 *   - Each number that was ever a child in a node of level L + 1 is a node of level L: nodes change neither level nor
 *     place, and none is freed during a launch. Words of a node that nobody has written yet are all ones, which is no
 *     node's number. So a number within the pool is a node of the level looked for, or one whose own words are not
 *     there yet: these look latched, or lead nowhere.
 *   - A node's low never changes. If the query is above the high of where it was led, the way goes on by the links to
 *     the right; if it is not above the low, a mistake was made on the path, and the search starts again from the root,
 *     this time past the caches.
 * So is a link to the right: it is followed without a second look at the header, and may lead to a node that is being
 * made. That one is latched until all of it is there.
 *
 * Leaves are read and changed by their headers' version:
 *   read     the header; then what is to be read; then the header again. If it is the same and not latched, all that
 *            was read was there at one moment: whoever changes a leaf latches it before, and gives it another version
 *            after.
 *   change   the same, but the second look is a compare-and-swap that latches the leaf: if it succeeds, what was read
 *            before is still so, and is now the work-item's own.
 * A version has 25 bits. A launch has at most 2^22 operations (the host sees to it), each of which changes a node at
 * most twice.
 *
 * How these accesses are ordered, BLINK_BY_FENCE says:
 *   1   by fences: the first look acquires, a fence lies before the second one; after the compare-and-swap there is a
 *       fence, and the last store releases.
 *   0   where ORDO_AFTER_ORDERS (device/atomic.cl): what is read later is at an address that is computed from what was
 *       read before (ordo_after), stores after a compare-and-swap hang on its result, and the last store releases. No
 *       access throws away the first-level cache, in which the inner nodes lie.
 *
 * BLINK_HISTORY 1 records when each operation began and ended. BLINK_TORTURE (tests) is the sum of 1: latches cannot be
 * had now and then; 2: nor new nodes; 4: long pauses between the stores of a change; 8: between the two looks; 16:
 * before the level above has the entry of a split; 32: now and then a work-item begins only when another is at work; 64:
 * operations give up at the first step that comes to nothing; 128: one work-item does all; 256: no inner nodes can be
 * had. The pauses last until the clock of histories has gone on, so that they need BLINK_HISTORY to be short.
 */
#pragma once
#include "dict/blink/node.cl"
#include "dict/codes.cl"

#if TEAM_WIDTH != 1
#error "TEAM_WIDTH must be 1: each work-item has its own operation"
#endif
#ifndef BLINK_BY_FENCE
#define BLINK_BY_FENCE (!ORDO_AFTER_ORDERS)
#endif
#ifndef BLINK_HISTORY
#define BLINK_HISTORY 0
#endif
#ifndef BLINK_TORTURE
#define BLINK_TORTURE 0
#endif

/* Steps of an operation that came to nothing, after which it is left to another launch; and steps of a work-item. (A try
 * takes some 10 us on an H200 where a leaf is fought over.) */
#ifndef BLINK_TRIES
#define BLINK_TRIES (BLINK_TORTURE & 64 ? 0 : 256)
#endif
#ifndef BLINK_STEPS
#define BLINK_STEPS 16384
#endif

/* What came of a step. */
#define STEP_AGAIN   0 /* nothing: another work-item was in the path, or the search has lost its path */
#define STEP_ON      1 /* it came further */
#define STEP_DONE    2
#define STEP_STARVED 3 /* there is no node left */
#define STEP_FAR     4 /* it came further, but has gone through so many leaves that the rest is not for it to look at */

/* Nodes are split in the middle. */
#define BLINK_HALF (BLINK_SLOTS / 2)

/* ---- a work-item ------------------------------------------------------------------------------------------------- */

/* What all operations of a launch share. Arrays may be NULL. */
typedef struct {
    blink_tree                  tree;
    uint                        leaf_capacity, inner_capacity;
    uint                        final; /* no more nodes will come: who needs one is refused */
    uint                        never; /* 0, unknown to the compiler */
    uint                        far;   /* leaves that a query goes through in a launch, at most */
    __global const uchar       *codes;
    __global const ordo_key    *keys, *his;
    __global const blink_value *values;
    __global const ulong       *rooms;
    __global uchar             *found, *outcomes;
    __global ordo_key          *keys_out, *range_keys;
    __global blink_value       *values_out, *range_values;
    __global uint              *counts;
    ulong                       range_capacity;
    __global uint4             *pending; /* of those that gave up: operation, count, query */
    __global uint              *history;
} blink_batch;

#define CODE_NONE 0xffu /* no operation */

typedef struct {
    uint i, code;
    uint
        level; /* 0: at work on leaves. Else it has split a node of the level below, and puts its entry into this one */
    uint at;   /* a node of this level, to be looked at next; BLINK_NONE: from the root */
    ordo_key_form
         query;    /* what the node must cover. Of scans: the least key not yet seen, of backward seeks the greatest;
                            above the leaves: one more than the separator */
    uint child;    /* above the leaves: the new node */
    uint count;    /* of counts and ranges: keys so far */
    uint tries;    /* steps that came to nothing */
    uint hops;     /* leaves that a query has gone through in this launch */
    bool lost;     /* has lost its path: caches are not trusted */
    uint elements; /* stored by this work-item, less those erased, over all its operations */
    uint dice;
} blink_op;

/* Whether something that is done to an operation now and then happens now. */
ORDO_FN bool blink_inject(blink_op *op, uint kind, uint one_in)
{
    if ((BLINK_TORTURE & kind) == 0)
        return false;
    op->dice = op->dice * 1664525u + 1013904223u;
    return (op->dice >> 8) % one_in == 0;
}

/* Waits for others to come by: until their clock has gone on by `ticks`, but not for ever. A processor looks often,
 * for it reads from its cache; and a thread may have to be woken. */
ORDO_FN void blink_wait(const blink_batch *batch, uint ticks, uint looks)
{
    volatile __global uint *clock = batch->tree.state + BLINK_TICK;
    const uint              since = ordo_load_relaxed(clock);
    for (uint k = 0; k < looks && ordo_load_relaxed(clock) - since < ticks; k++)
        ordo_pause();
}

ORDO_FN void blink_delay(const blink_batch *batch, blink_op *op, uint kind)
{
    if (blink_inject(op, kind, kind == 16 ? 1 : 16))
        blink_wait(batch, 16, ORDO_CPU ? 1000 : 100);
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

/* 0, to be added to the address of what is read after the first look at a header, which is `seen`. */
ORDO_FN uint blink_after_look(const blink_batch *batch, uint seen)
{
#if BLINK_BY_FENCE
    return 0; /* the look was an acquire load */
#else
    return ordo_after(seen, batch->never);
#endif
}

/* 0, to be added to the header's address for the second look, which comes after all that `seen` was computed from. */
ORDO_FN uint blink_before_look(const blink_batch *batch, uint seen)
{
#if BLINK_BY_FENCE
    ordo_fence_acquire();
    return 0;
#else
    return ordo_after(seen, batch->never);
#endif
}

ORDO_FN uint blink_fold(ordo_key_form form)
{
#if KEY_BITS == 32
    return form;
#else
    return (uint) form ^ (uint) (form >> 32);
#endif
}

/* ---- reading a node ---------------------------------------------------------------------------------------------- */

/* A line's words besides the keys; the header was read first. */
typedef struct {
    ordo_key_form low, high;
    uint          right, header;
} blink_tail;

ORDO_FN blink_tail blink_peek_tail(const blink_batch *batch, blink_op *op, __global ordo_key_form *line)
{
    blink_tail tail;
#if BLINK_BY_FENCE
    tail.header = ordo_load_acquire(blink_header(line));
    blink_delay(batch, op, 8);
#endif
#if KEY_BITS == 32
    const uint4 words = ordo_peek128((__global const uint *) (line + BLINK_LOW));
    tail.low = words.x;
    tail.right = words.y;
    tail.high = words.w;
#if !BLINK_BY_FENCE
    tail.header = words.z; /* one access: they are of the same moment */
#endif
#else
    const ulong2 last = as_ulong2(ordo_peek128((__global const uint *) (line + BLINK_HEADER)));
#if !BLINK_BY_FENCE
    tail.header = (uint) last.x;
    line += blink_after_look(batch, tail.header);
#endif
    const ulong2 words = as_ulong2(ordo_peek128((__global const uint *) (line + BLINK_LOW)));
    tail.low = words.x;
    tail.right = (uint) words.y;
    tail.high = last.y;
#endif
    return tail;
}

ORDO_FN ordo_key_form blink_peek_key(__global const ordo_key_form *p)
{
#if KEY_BITS == 32
    return ordo_peek(p);
#else
    return ordo_peek64(p);
#endif
}

ORDO_FN blink_value blink_peek_value(__global const blink_value *p)
{
#if ORDO_VALUE_BYTES == 8
    return ordo_peek64(p);
#else
    return ordo_peek(p);
#endif
}

ORDO_FN void blink_poke_value(__global blink_value *p, blink_value value)
{
#if ORDO_VALUE_BYTES == 8
    ordo_poke64(p, value);
#else
    ordo_poke(p, value);
#endif
}

/* Keys of a piece, 16 bytes. */
#define PIECE_KEYS (128 / KEY_BITS)
#define PIECES     (BLINK_SLOTS / PIECE_KEYS)

ORDO_FN void blink_unpack_keys(uint4 piece, __private ordo_key_form keys[PIECE_KEYS])
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
ORDO_FN uint blink_place(__global const ordo_key_form *line, ordo_key_form query, bool fresh, ordo_key_form *next)
{
#if ORDO_CPU && !ORDO_CHECKED
    (void) fresh;
    const uint less = blink_less(line, query);
    *next = less < BLINK_SLOTS ? line[less] : BLINK_UNUSED;
    return less;
#else
    /* By halves: each lane reads a line of its own, so that each access counts, not the bytes. */
    uint piece = 0;
    ORDO_UNROLL
    for (uint step = (PIECES + 2) / 2 & ~1u; step > 0; step /= 2) { /* 4 of 7, 8 of 14 */
        const uint last = (piece + step) * PIECE_KEYS - 1;
        if (last < BLINK_SLOTS && (fresh ? blink_peek_key(line + last) : line[last]) < query)
            piece += step;
    }
    *next = BLINK_UNUSED;
    if (piece == PIECES)
        return BLINK_SLOTS;

    __global const uint *from = (__global const uint *) (line + piece * PIECE_KEYS);
    ordo_key_form        keys[PIECE_KEYS];
    uint                 less = 0;
    blink_unpack_keys(fresh ? ordo_peek128(from) : *(__global const uint4 *) from, keys);
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
ORDO_FN __global uint *blink_words_beside(const blink_tree *tree, uint level, uint node)
{
#if ORDO_VALUE_BYTES == 4
    if (level == 0)
        return blink_values(tree, node);
#endif
    return blink_children(tree, node);
}
#define WORDS_BESIDE(level)  ((level) > 0 || ORDO_VALUE_BYTES == 4)
#define ULONGS_BESIDE(level) ((level) == 0 && ORDO_VALUE_BYTES == 8)

/* All of a node at once, on CPUs: its two arrays, of a line of the cache and a half each, or two. */
ORDO_FN void blink_prefetch(const blink_tree *tree, uint level, uint node)
{
#if ORDO_CPU
    ORDO_PREFETCH(blink_line(tree, level, node));
    ORDO_PREFETCH(blink_line(tree, level, node) + BLINK_SLOTS / 2);
    if (WORDS_BESIDE(level)) {
        ORDO_PREFETCH(blink_words_beside(tree, level, node));
        ORDO_PREFETCH(blink_words_beside(tree, level, node) + BLINK_SLOTS / 2);
    }
#endif
}

/* The node of op->level to look for the query in, or BLINK_NONE if that led nowhere. A hint, by the argument at the
 * top. */
ORDO_FN uint blink_go_down(const blink_batch *batch, const blink_op *op, uint root)
{
    const blink_tree *tree = &batch->tree;
    const bool        fresh = op->lost || ORDO_CHECKED;
    uint              node = blink_root_node(root), hops = 0;

    for (uint above = blink_root_level(root); above > op->level; above--) {
        __global ordo_key_form *line = blink_inner(tree, node);
        ordo_key_form           next;
        const uint              less = blink_place(line, op->query, fresh, &next);
        if (next == BLINK_UNUSED) { /* behind the last key, it seems */
            const uint right = fresh ? ordo_peek(blink_right(line)) : *blink_right(line);
            if (op->query > (fresh ? blink_peek_key(line + BLINK_HIGH) : line[BLINK_HIGH])) {
                if (right >= batch->inner_capacity || hops++ > BLINK_TRIES)
                    return BLINK_NONE;
                node = right;
                above++;
                continue;
            }
        }
        __global uint *child = blink_children(tree, node) + blink_entry(less);
        node = fresh ? ordo_peek(child) : *child;
        if (node >= (above > 1 ? batch->inner_capacity : batch->leaf_capacity))
            return BLINK_NONE;
        blink_prefetch(tree, above - 1, node);
    }
    return node;
}

/* The second look at a leaf, after `seen`: whether all that was read was there at one moment. */
ORDO_FN bool blink_unchanged(const blink_batch *batch, __global ordo_key_form *line, blink_tail tail, uint seen)
{
    return ordo_load_relaxed(blink_header(line) + blink_before_look(batch, seen)) == tail.header;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

ORDO_FN void blink_tick(const blink_batch *batch, const blink_op *op, uint end)
{
#if BLINK_HISTORY
    ordo_fence_device();
    batch->history[2 * op->i + end] = ordo_add(batch->tree.state + BLINK_TICK, 1);
    ordo_fence_device();
#endif
}

ORDO_FN void blink_outcome(const blink_batch *batch, const blink_op *op, uint outcome)
{
    blink_tick(batch, op, 1);
    if (batch->outcomes)
        batch->outcomes[op->i] = (uchar) outcome;
}

ORDO_FN uint blink_answer(const blink_batch *batch, const blink_op *op, bool found)
{
    if (batch->found)
        batch->found[op->i] = found;
    blink_outcome(batch, op, OUTCOME_DONE);
    return STEP_DONE;
}

ORDO_FN uint blink_answer_seek(const blink_batch *batch, const blink_op *op, bool found, ordo_key_form key,
                               blink_value value)
{
    if (found && batch->keys_out)
        batch->keys_out[op->i] = key_from_bits(key);
#if ORDO_VALUE_BYTES
    if (found && batch->values_out)
        batch->values_out[op->i] = value;
#endif
    return blink_answer(batch, op, found);
}

/* ---- reading steps ----------------------------------------------------------------------------------------------- */

/* Seeks: the nearest key of this leaf, or on to its neighbour. */
ORDO_FN uint blink_seek_on(const blink_batch *batch, blink_op *op, __global ordo_key_form *line, blink_tail tail)
{
    const bool    forward = op->code >= CODE_SEEK_GE;
    const uint    count = tail.header & BLINK_COUNT_MASK;
    ordo_key_form key;
    blink_value   value = 0;

    line += blink_after_look(batch, tail.header);
    uint slot = blink_place(line, op->query, true, &key);
    uint seen = slot ^ blink_fold(key);
    blink_delay(batch, op, 8);
    bool found = slot < count && (forward || key == op->query);
    if (!forward && !found && slot > 0) {
        slot = min(slot, count) - 1; /* a torn count may be 0: then nothing of this will hold */
        found = slot < BLINK_SLOTS;
        if (found)
            key = blink_peek_key(line + slot);
        seen ^= blink_fold(key);
    }
#if ORDO_VALUE_BYTES
    if (found) {
        value = blink_peek_value(blink_values(&batch->tree, op->at) + slot);
        seen ^= (uint) value;
    }
#endif
    if (!blink_unchanged(batch, line, tail, seen))
        return STEP_AGAIN;
    if (found || (forward ? tail.right == BLINK_NONE : op->at == 0))
        return blink_answer_seek(batch, op, found, key, value);
    /* No key from the query to this leaf's end: the rest begins where the leaf ends. Where that is now, the links
     * say; there are none to the left, so that the way there is from the root. */
    op->query = forward ? tail.high + 1 : tail.low;
    op->at = forward ? tail.right : BLINK_NONE;
    return ++op->hops < batch->far ? STEP_ON : STEP_FAR;
}

/* Where range op->i may write: elements begin .. end - 1 of the range outputs. */
typedef struct {
    ulong begin, end;
} blink_room;

ORDO_FN blink_room blink_room_of(const blink_batch *batch, const blink_op *op)
{
    blink_room room = { 0, 0 };
    if (op->code == CODE_RANGE && batch->rooms) {
        room.end = min(batch->rooms[op->i + 1], batch->range_capacity);
        room.begin = min(batch->rooms[op->i], room.end);
    }
    return room;
}

ORDO_FN void blink_write_element(const blink_batch *batch, const blink_op *op, ulong place, ordo_key_form key,
                                 uint slot)
{
    if (batch->range_keys)
        batch->range_keys[place] = key_from_bits(key);
#if ORDO_VALUE_BYTES
    if (batch->range_values)
        batch->range_values[place] = blink_peek_value(blink_values(&batch->tree, op->at) + slot);
#endif
}

/* Counts and ranges: the keys of this leaf from the query to `his`, then on to its right neighbour. Elements are
 * written before it is known whether they were there at one moment: if not, they lie behind the count, in the
 * range's own room, and the next look writes over them. */
ORDO_FN uint blink_scan_on(const blink_batch *batch, blink_op *op, __global ordo_key_form *line, blink_tail tail)
{
    const uint          count = tail.header & BLINK_COUNT_MASK;
    const ordo_key_form hi = key_bits(batch->his[op->i]);
    const blink_room    room = blink_room_of(batch, op);
    uint                keys_here = 0, seen = 0;

    line += blink_after_look(batch, tail.header);
    for (uint first = 0; first < min(count, (uint) BLINK_SLOTS); first += PIECE_KEYS) {
        ordo_key_form keys[PIECE_KEYS];
        blink_delay(batch, op, 8);
        blink_unpack_keys(ordo_peek128((__global const uint *) (line + first)), keys);
        ORDO_UNROLL
        for (uint k = 0; k < PIECE_KEYS; k++) {
            seen ^= blink_fold(keys[k]);
            if (first + k >= count || keys[k] < op->query || keys[k] > hi)
                continue;
            const ulong place = room.begin + op->count + keys_here;
            if (place < room.end)
                blink_write_element(batch, op, place, keys[k], first + k);
            keys_here++;
        }
    }
#if !BLINK_BY_FENCE && ORDO_VALUE_BYTES
    if (room.begin < room.end) /* the values' loads have no dependency to offer: they went to memory */
        ordo_fence_acquire();
#endif
    if (!blink_unchanged(batch, line, tail, seen))
        return STEP_AGAIN;
    op->count += keys_here;
    if (hi > tail.high && tail.right != BLINK_NONE) {
        op->query = tail.high + 1; /* all up to high is seen: nothing twice, nothing left out, whoever splits what */
        op->at = tail.right;
        return ++op->hops < batch->far || op->count < room.end - room.begin ? STEP_ON : STEP_FAR;
    }
    if (batch->counts)
        batch->counts[op->i] = op->count;
    blink_outcome(batch, op,
                  op->code == CODE_RANGE && op->count > room.end - room.begin ? OUTCOME_CUT_SHORT : OUTCOME_DONE);
    return STEP_DONE;
}

/* ---- columns of a node in registers ------------------------------------------------------------------------------ */

#define UNPACK_uint(at, s, piece)                                                                                      \
    at[s] = piece.x;                                                                                                   \
    at[(s) + 1] = piece.y;                                                                                             \
    at[(s) + 2] = piece.z;                                                                                             \
    at[(s) + 3] = piece.w
#define PACK_uint(at, s) (uint4)(at[s], at[(s) + 1], at[(s) + 2], at[(s) + 3])
#define PER_PIECE_uint   4
#define UNPACK_ulong(at, s, piece)                                                                                     \
    at[s] = as_ulong2(piece).x;                                                                                        \
    at[(s) + 1] = as_ulong2(piece).y
#define PACK_ulong(at, s) as_uint4((ulong2) (at[s], at[(s) + 1]))
#define PER_PIECE_ulong   2

/* Of a column of keys, values or children:
 *   column_peek    reads, column_poke writes the pieces that hold slots first .. end - 1; others are left as they are
 *   column_shift   `open`: makes room at `slot` and puts x there; what was in the last slot goes. Else takes out
 *                  `slot`; x moves into the last one
 *   column_keep    keeps the lower or the upper half, from slot 0 on, and fills up with `fill` */
#define BLINK_COLUMN(type)                                                                                             \
    typedef struct {                                                                                                   \
        type at[BLINK_SLOTS];                                                                                          \
    } column_##type;                                                                                                   \
                                                                                                                       \
    ORDO_FN void column_peek_##type(column_##type *c, __global const type *from, uint first, uint end)                 \
    {                                                                                                                  \
        ORDO_UNROLL                                                                                                    \
        for (uint s = 0; s < BLINK_SLOTS; s += PER_PIECE_##type)                                                       \
            if (s + PER_PIECE_##type > first && s < end) {                                                             \
                const uint4 piece = ordo_peek128((__global const uint *) (from + s));                                  \
                UNPACK_##type(c->at, s, piece);                                                                        \
            }                                                                                                          \
    }                                                                                                                  \
    ORDO_FN void column_poke_##type(const column_##type *c, __global type *to, uint first, uint end)                   \
    {                                                                                                                  \
        ORDO_UNROLL                                                                                                    \
        for (uint s = 0; s < BLINK_SLOTS; s += PER_PIECE_##type)                                                       \
            if (s + PER_PIECE_##type > first && s < end)                                                               \
                ordo_poke128((__global uint *) (to + s), PACK_##type(c->at, s));                                       \
    }                                                                                                                  \
    ORDO_FN void column_shift_##type(column_##type *c, uint slot, bool open, type x)                                   \
    {                                                                                                                  \
        type before = x;                                                                                               \
        ORDO_UNROLL                                                                                                    \
        for (uint s = 0; s < BLINK_SLOTS; s++) {                                                                       \
            const type here = c->at[s], behind = s + 1 < BLINK_SLOTS ? c->at[s + 1] : x;                               \
            const type opened = s > slot ? before : x, closed = behind;                                                \
            c->at[s] = s < slot ? here : open ? opened : closed;                                                       \
            before = here;                                                                                             \
        }                                                                                                              \
    }                                                                                                                  \
    ORDO_FN void column_keep_##type(column_##type *c, bool upper, type fill)                                           \
    {                                                                                                                  \
        ORDO_UNROLL                                                                                                    \
        for (uint s = 0; s < BLINK_HALF; s++) {                                                                        \
            const type here = c->at[s], above = c->at[s + BLINK_HALF];                                                 \
            c->at[s] = upper ? above : here;                                                                           \
            c->at[s + BLINK_HALF] = fill;                                                                              \
        }                                                                                                              \
    }
BLINK_COLUMN(uint)
#if KEY_BITS == 64 || ORDO_VALUE_BYTES == 8
BLINK_COLUMN(ulong)
#endif

#if KEY_BITS == 32
typedef column_uint column_keys;
#define KEYS_DO(verb) column_##verb##_uint
#else
typedef column_ulong column_keys;
#define KEYS_DO(verb) column_##verb##_ulong
#endif

/* How many keys are less than `key`; *next: the one behind them. */
ORDO_FN uint column_place(const column_keys *c, ordo_key_form key, ordo_key_form *next)
{
    uint less = 0;
    ORDO_UNROLL
    for (uint s = 0; s < BLINK_SLOTS; s++)
        less += c->at[s] < key;
    *next = BLINK_UNUSED;
    ORDO_UNROLL
    for (uint s = 0; s < BLINK_SLOTS; s++) {
        const ordo_key_form here = c->at[s];
        *next = s == less ? here : *next;
    }
    return less;
}

/* ---- what goes with the keys ------------------------------------------------------------------------------------- */

/* column_shift of what goes with `count` keys. `child`, `value`: what goes with a new one. */
ORDO_FN void blink_shift_beside(const blink_tree *tree, uint level, uint node, uint slot, uint count, bool open,
                                uint child, blink_value value)
{
    if (WORDS_BESIDE(level)) {
        __global uint *words = blink_words_beside(tree, level, node);
        column_uint    c;
        /* Also an unused slot that is written back with its piece: a number there is a node's of the level below,
         * too. */
        column_peek_uint(&c, words, slot, count + open);
        column_shift_uint(&c, slot, open, level > 0 ? child : (uint) value);
        column_poke_uint(&c, words, slot, count + open);
    }
#if ORDO_VALUE_BYTES == 8
    if (ULONGS_BESIDE(level)) {
        column_ulong c;
        column_peek_ulong(&c, blink_values(tree, node), slot, count + open);
        column_shift_ulong(&c, slot, open, value);
        column_poke_ulong(&c, blink_values(tree, node), slot, count + open);
    }
#endif
}

ORDO_FN void blink_halve_beside(const blink_tree *tree, uint level, uint node, uint into)
{
    if (WORDS_BESIDE(level)) {
        column_uint c;
        column_peek_uint(&c, blink_words_beside(tree, level, node), BLINK_HALF, BLINK_SLOTS);
        column_keep_uint(&c, true, BLINK_NONE);
        column_poke_uint(&c, blink_words_beside(tree, level, into), 0, BLINK_HALF);
    }
#if ORDO_VALUE_BYTES == 8
    if (ULONGS_BESIDE(level)) {
        column_ulong c;
        column_peek_ulong(&c, blink_values(tree, node), BLINK_HALF, BLINK_SLOTS);
        column_keep_ulong(&c, true, 0);
        column_poke_ulong(&c, blink_values(tree, into), 0, BLINK_HALF);
    }
#endif
}

/* ---- writing steps ----------------------------------------------------------------------------------------------- */

/* The next free node, or BLINK_NONE. The counter may end above the capacity, by no more than there are work-items;
 * the host puts it right. */
ORDO_FN uint blink_new_node(const blink_batch *batch, blink_op *op, uint level)
{
    __global uint *taken = batch->tree.state + (level > 0 ? BLINK_INNER : BLINK_LEAVES);
    const uint     capacity = level > 0 ? batch->inner_capacity : batch->leaf_capacity;
    if (ordo_load_relaxed(taken) >= capacity || blink_inject(op, 2, 8) || (level > 0 && blink_inject(op, 256, 1)))
        return BLINK_NONE;
    const uint node = ordo_add(taken, 1);
    return node < capacity ? node : BLINK_NONE;
}

/* Latches a node of which `seen` was read, if it is still as it was when its header was. */
ORDO_FN bool blink_latch(const blink_batch *batch, blink_op *op, __global uint *header, uint was, uint seen)
{
    blink_delay(batch, op, 8);
    if (blink_inject(op, 1, 8))
        return false;
    if (ordo_cas(header + blink_before_look(batch, seen), was, was | BLINK_LATCHED) != was)
        return false;
#if BLINK_BY_FENCE
    ordo_fence_device(); /* no store of this change may be seen before the latch is */
#endif
    return true;
}

/* Gives a latched node its new count, another version, and the latch back: from here on others see the change. */
ORDO_FN void blink_publish(const blink_batch *batch, blink_op *op, __global uint *header, uint was, uint count)
{
    blink_delay(batch, op, 4);
    ordo_store_release(header, ((was + BLINK_VERSION_ONE) & BLINK_VERSION_MASK) | count);
}

/* Opens a new node, before its left neighbour is given back. Where header and high are read at once, nobody is led to it
 * before that. */
ORDO_FN void blink_open(__global uint *header, uint count)
{
#if BLINK_BY_FENCE
    ordo_store_release(header, count);
#else
    ordo_store_relaxed(header, count);
#endif
}

ORDO_FN void blink_poke_key(__global ordo_key_form *p, ordo_key_form key)
{
#if KEY_BITS == 32
    ordo_poke(p, key);
#else
    ordo_poke64(p, key);
#endif
}

ORDO_FN void blink_poke_tail(__global ordo_key_form *line, blink_tail tail)
{
#if KEY_BITS == 32
    ordo_poke128((__global uint *) (line + BLINK_LOW), (uint4) (tail.low, tail.right, tail.header, tail.high));
#else
    ordo_poke128((__global uint *) (line + BLINK_LOW), as_uint4((ulong2) (tail.low, tail.right)));
    ordo_poke128((__global uint *) (line + BLINK_HEADER), as_uint4((ulong2) (tail.header, tail.high)));
#endif
}

/* Moves the upper half of a full, latched node to a new one, which is latched, too: whoever has seen the node's header
 * before, and its new link and high after, is there already. `keys` are the node's. `middle`: the high of the one and the
 * low of the other. */
ORDO_FN void blink_split(const blink_batch *batch, blink_op *op, const column_keys *keys, blink_tail tail,
                         ordo_key_form middle, uint into)
{
    __global ordo_key_form *left = blink_line(&batch->tree, op->level, op->at);
    __global ordo_key_form *right = blink_line(&batch->tree, op->level, into);
    const blink_tail        of_right = { middle, tail.high, tail.right, BLINK_HALF | BLINK_LATCHED };
    column_keys             part = *keys;

    KEYS_DO(keep)(&part, true, BLINK_UNUSED);
    KEYS_DO(poke)(&part, right, 0, BLINK_SLOTS);
    part = *keys;
    KEYS_DO(keep)(&part, false, BLINK_UNUSED);
    KEYS_DO(poke)(&part, left, BLINK_HALF, BLINK_SLOTS);
    blink_halve_beside(&batch->tree, op->level, op->at, into);
    blink_poke_tail(right, of_right);
    blink_delay(batch, op, 4);
    ordo_poke(blink_right(left), into);
    blink_poke_key(left + BLINK_HIGH, middle);
}

/* What is looked for in a node, or put there. */
ORDO_FN ordo_key_form blink_key_of(const blink_op *op)
{
    return op->level > 0 ? op->query - 1 : op->query;
}

#define HAS_VALUES (ORDO_VALUE_BYTES != 0)

#define CHANGE_NONE  0
#define CHANGE_VALUE 1
#define CHANGE_OPEN  2
#define CHANGE_CLOSE 3

/* What the operation does to a node that has its key, or has not. */
ORDO_FN uint blink_change(const blink_op *op, bool found)
{
    if (op->level == 0 && op->code == CODE_ERASE)
        return found ? CHANGE_CLOSE : CHANGE_NONE;
    if (!found)
        return CHANGE_OPEN;
    return HAS_VALUES && op->level == 0 && op->code == CODE_UPSERT ? CHANGE_VALUE : CHANGE_NONE;
}

/* Where a latched node's change takes place. */
typedef struct {
    uint          node, slot, count; /* the keys before it */
    uint          fresh;             /* the node that it was split into, or BLINK_NONE */
    ordo_key_form middle;            /* between the two */
} blink_site;

/* Splits a full, latched node in which a key is to be put into `slot`. False if there is no node for it: no harm is
 * done. */
ORDO_FN bool blink_make_room(const blink_batch *batch, blink_op *op, column_keys *keys, blink_tail tail,
                             blink_site *site)
{
    site->fresh = blink_new_node(batch, op, op->level);
    if (site->fresh == BLINK_NONE)
        return false;
    /* A leaf's high is one of its keys; the entries of an inner node begin with its low. */
    const bool          upper = site->slot > BLINK_HALF || (site->slot == BLINK_HALF && op->level == 0);
    const ordo_key_form last = keys->at[BLINK_HALF - 1], first = keys->at[BLINK_HALF];
    site->middle = op->level > 0 ? first : last;
    blink_split(batch, op, keys, tail, site->middle, site->fresh);
    site->node = upper ? site->fresh : site->node;
    /* Back from memory: this work-item's own stores. To keep them would take twice the registers. */
    KEYS_DO(peek)(keys, blink_line(&batch->tree, op->level, site->node), 0, BLINK_HALF);
    KEYS_DO(keep)(keys, false, BLINK_UNUSED);
    site->slot -= upper ? BLINK_HALF : 0;
    site->count = BLINK_HALF;
    return true;
}

/* Changes a latched node, of which `keys` are the keys, and gives it back. */
ORDO_FN void blink_change_node(const blink_batch *batch, blink_op *op, column_keys *keys, blink_tail tail,
                               const blink_site *site, uint change)
{
    const blink_tree       *tree = &batch->tree;
    __global ordo_key_form *home = blink_line(tree, op->level, op->at);
    __global ordo_key_form *line = blink_line(tree, op->level, site->node);
    const bool              open = change == CHANGE_OPEN;
    blink_value             value = 0;

#if ORDO_VALUE_BYTES
    if (op->level == 0 && change != CHANGE_CLOSE)
        value = batch->values[op->i];
    if (change == CHANGE_VALUE)
        blink_poke_value(blink_values(tree, site->node) + site->slot, value);
#endif
    if (change != CHANGE_VALUE) {
        KEYS_DO(shift)(keys, site->slot, open, open ? blink_key_of(op) : BLINK_UNUSED);
        KEYS_DO(poke)(keys, line, site->slot, site->count + open);
        blink_delay(batch, op, 4);
        blink_shift_beside(tree, op->level, site->node, site->slot, site->count, open, op->child, value);
    }
    const uint count = site->count + open - (change == CHANGE_CLOSE);
    if (site->fresh != BLINK_NONE)
        blink_open(blink_header(blink_line(tree, op->level, site->fresh)), line != home ? count : BLINK_HALF);
    blink_publish(batch, op, blink_header(home), tail.header, line != home ? BLINK_HALF : count);
    if (op->level == 0)
        op->elements += open - (change == CHANGE_CLOSE);
}

/* Upsert, insert and erase, at the leaf that covers the key; above the leaves, the entry of a new node below. */
ORDO_FN uint blink_write(const blink_batch *batch, blink_op *op, __global ordo_key_form *line, blink_tail tail)
{
    blink_site    site = { op->at, 0, tail.header & BLINK_COUNT_MASK, BLINK_NONE, 0 };
    column_keys   keys;
    ordo_key_form next;

    KEYS_DO(peek)(&keys, line + blink_after_look(batch, tail.header), 0, BLINK_SLOTS);
    site.slot = column_place(&keys, blink_key_of(op), &next);
    const bool found = next == blink_key_of(op) && site.slot < site.count;
    const uint change = blink_change(op, found), seen = site.slot ^ blink_fold(next);

    if (change == CHANGE_NONE) {
        if (!blink_unchanged(batch, line, tail, seen))
            return STEP_AGAIN;
        return op->level > 0 ? STEP_DONE : blink_answer(batch, op, found);
    }
    if (!blink_latch(batch, op, blink_header(line), tail.header, seen))
        return STEP_AGAIN;
    if (change == CHANGE_OPEN && site.count == BLINK_SLOTS && !blink_make_room(batch, op, &keys, tail, &site)) {
        ordo_store_relaxed(blink_header(line), tail.header); /* as it was */
        return STEP_STARVED;
    }
    blink_change_node(batch, op, &keys, tail, &site, change);
    if (op->level == 0)
        (void) blink_answer(batch, op, found);
    if (site.fresh == BLINK_NONE)
        return STEP_DONE;
    op->query = site.middle + 1; /* the node above that covers the new entry's key covers this query */
    op->child = site.fresh;
    op->level++;
    op->at = BLINK_NONE;
    op->tries = 0;
    blink_delay(batch, op, 16);
    return STEP_ON;
}

/* A new root over the present one, whose level has split. */
ORDO_FN uint blink_grow(const blink_batch *batch, blink_op *op, uint root)
{
    volatile __global uint *word = batch->tree.state + BLINK_ROOT;

    if ((root & BLINK_ROOT_LATCHED) || blink_inject(op, 1, 4) ||
        ordo_cas(word, root, root | BLINK_ROOT_LATCHED) != root)
        return STEP_AGAIN;
    const uint node = blink_new_node(batch, op, op->level);
    if (node == BLINK_NONE) {
        ordo_store_relaxed(word, root);
        return STEP_STARVED;
    }
    /* The root is the first node of its level, and covers all below the separator as well as any above it (B2). */
    __global ordo_key_form *line = blink_inner(&batch->tree, node);
    const blink_tail        tail = { 0, BLINK_UNUSED, BLINK_NONE, 2 };
    column_keys             keys;
    ORDO_UNROLL
    for (uint s = 0; s < BLINK_SLOTS; s++)
        keys.at[s] = s == 0 ? 0 : s == 1 ? op->query - 1 : BLINK_UNUSED;
    KEYS_DO(poke)(&keys, line, 0, BLINK_SLOTS);
    ordo_poke(blink_children(&batch->tree, node), blink_root_node(root));
    ordo_poke(blink_children(&batch->tree, node) + 1, op->child);
    blink_poke_tail(line, tail);
    blink_delay(batch, op, 4);
    ordo_store_release(word, op->level << BLINK_LEVEL_SHIFT | node);
    return STEP_DONE;
}

/* ---- operations -------------------------------------------------------------------------------------------------- */

ORDO_FN uint blink_restart(blink_op *op)
{
    op->at = BLINK_NONE;
    op->lost = true;
#if BLINK_BY_FENCE
    ordo_fence_acquire(); /* the first-level cache may have led it there, and peeks alone do not get past it */
#endif
    return STEP_AGAIN;
}

ORDO_FN uint blink_step(const blink_batch *batch, blink_op *op)
{
    if (op->at == BLINK_NONE) {
        /* A root of an earlier moment is as good: it is the first node of its level still. */
        const uint root = ordo_load_relaxed(batch->tree.state + BLINK_ROOT);
        if (op->level > blink_root_level(root))
            return blink_grow(batch, op, root);
        op->at = blink_go_down(batch, op, root);
        if (op->at == BLINK_NONE)
            return blink_restart(op);
    }
    __global ordo_key_form *line = blink_line(&batch->tree, op->level, op->at);
    const blink_tail        tail = blink_peek_tail(batch, op, line);

    if (tail.header == BLINK_FREE) /* an entry was read whose number was not there yet */
        return blink_restart(op);
    if (tail.header & BLINK_LATCHED)
        return STEP_AGAIN;
    if (op->query > tail.high) {
        if (tail.right >= (op->level > 0 ? batch->inner_capacity : batch->leaf_capacity))
            return blink_restart(op);
        op->at = tail.right;
        return STEP_ON;
    }
    if (op->query <= tail.low && (op->level > 0 || op->at > 0)) /* leaf 0 is the first one */
        return blink_restart(op);
    if (op->level > 0 || CODE_UPDATES(op->code))
        return blink_write(batch, op, line, tail);
    if (op->code <= CODE_SEEK_GT)
        return blink_seek_on(batch, op, line, tail);
    return blink_scan_on(batch, op, line, tail);
}

/* Sets up operation i from the batch. False if it is over before it has begun. */
ORDO_FN bool blink_take(const blink_batch *batch, blink_op *op)
{
    op->code = batch->codes[op->i];
    op->count = 0;
    if (CODE_FINDS(op->code))
        return false;
    blink_tick(batch, op, 0);
    if (op->code >= N_CONCURRENT_CODES) {
        blink_outcome(batch, op, OUTCOME_UNKNOWN);
        return false;
    }
    op->query = key_bits(batch->keys[op->i]);
    if ((op->code == CODE_SEEK_LT && op->query == 0) || (op->code == CODE_SEEK_GT && op->query == BLINK_UNUSED)) {
        (void) blink_answer_seek(batch, op, false, 0, 0);
        return false;
    }
    op->query += op->code == CODE_SEEK_GT;
    op->query -= op->code == CODE_SEEK_LT;
    if (op->code >= CODE_COUNT && op->query > key_bits(batch->his[op->i])) {
        if (batch->counts)
            batch->counts[op->i] = 0;
        blink_outcome(batch, op, OUTCOME_DONE);
        return false;
    }
    return true;
}

/* Goes on with one that had given up: counts and ranges where they were. */
ORDO_FN void blink_take_again(const blink_batch *batch, blink_op *op, uint4 left)
{
    op->i = left.x;
    op->code = batch->codes[op->i];
    op->count = left.y;
#if KEY_BITS == 32
    op->query = left.z;
#else
    op->query = left.z | (ulong) left.w << 32;
#endif
}

ORDO_FN void blink_give_up(const blink_batch *batch, const blink_op *op, bool starved)
{
    __global uint *state = batch->tree.state;
    if (op->level > 0) { /* what it was to do is done; the entry in the level above is the host's to make */
        ordo_store_relaxed(state + BLINK_SPLITS_PENDING, 1);
        return;
    }
    if (starved && batch->final) {
        blink_outcome(batch, op, OUTCOME_NOT_STORED);
        return;
    }
    if (starved)
        (void) ordo_add(state + BLINK_STARVED, 1);
    if (op->hops)
        ordo_store_relaxed(state + BLINK_MOVED, 1);
#if KEY_BITS == 32
    const uint upper = 0;
#else
    const uint upper = (uint) (op->query >> 32);
#endif
    batch->pending[ordo_add(state + BLINK_PENDING, 1)] = (uint4) (op->i, op->count, (uint) op->query, upper);
}

/* Its die falls otherwise in each launch: what fails once must not fail for ever. */
ORDO_FN void blink_begin_torture(const blink_batch *batch, blink_op *op)
{
    if (BLINK_TORTURE)
        op->dice = (uint) get_global_id(0) * 2654435761u + ordo_add(batch->tree.state + BLINK_TICK, 1) * 40503u;
    if ((BLINK_TORTURE & 32) && get_global_id(0) % 64 == 0)
        blink_wait(batch, 1, ORDO_CPU ? 2000000 : 1000);
}

/* Where a work-item stands: in an operation, or before number `next` of the launch's. */
typedef struct {
    blink_op op;
    ulong    next;
    uint     steps;
    bool     idle;
} blink_turn;

/* Sets up the next operation; false if it is over at once. */
ORDO_FN bool blink_next_op(const blink_batch *batch, blink_turn *turn, uint first, __global const uint4 *again)
{
    blink_op *op = &turn->op;

    op->i = first + (uint) turn->next;
    op->level = op->tries = op->hops = 0;
    op->at = BLINK_NONE;
    op->lost = false;
    turn->next += get_global_size(0);
    if (!again)
        return blink_take(batch, op);
    blink_take_again(batch, op, again[op->i]);
    return true;
}

/* One step, of the operation under way or of the next one. False when all of this work-item's are over. */
ORDO_FN bool blink_take_turn(const blink_batch *batch, blink_turn *turn, uint first, uint n,
                             __global const uint4 *again)
{
    blink_op *op = &turn->op;

    if (turn->idle) {
        if (turn->next >= n)
            return false;
        turn->idle = !blink_next_op(batch, turn, first, again);
        if (turn->idle)
            return true;
    }
    const uint came = turn->steps++ < BLINK_STEPS ? blink_step(batch, op) : STEP_AGAIN;
    turn->idle = came == STEP_DONE;
    if (came == STEP_ON || came == STEP_DONE)
        return true;
    if (came >= STEP_STARVED || ++op->tries > BLINK_TRIES || turn->steps > BLINK_STEPS) {
        blink_give_up(batch, op, came == STEP_STARVED);
        turn->idle = true;
        return true;
    }
    ordo_pause();
    return true;
}

/* Lanes that may run independently of each other take their steps together all the same. Without that, lanes that
 * try for a latch again and again may keep the lane of their own that has it from going on: on an H200 some
 * operations in a million gave up after 1024 tries, 10 ms. Elsewhere lanes run in step, and the compiler is free to
 * choose a sub-group for which it has registers. */
#if SUBGROUP_MAY_PART && BLINK_GROUP % ORDO_SUBGROUP == 0
#define BLINK_ANY(more) subgroup_any(more)
#else
#define BLINK_ANY(more) (more)
#endif
#if ORDO_LANES == ORDO_LANES_KHR
#define BLINK_KERNEL __kernel __attribute__((reqd_work_group_size(BLINK_GROUP, 1, 1)))
#else
#define BLINK_KERNEL ORDO_KERNEL(BLINK_GROUP)
#endif

/* Operations first .. first + n - 1 of the batch; or, if `again` is there, of those that gave up in another launch.
 * `final`, `never`, `far`, `pending`, `history`: see blink_batch. The state counts those that are put on `pending`. */
BLINK_KERNEL
void blink_apply(BLINK_TREE, uint leaf_capacity, uint inner_capacity, uint first, uint n, uint final, uint never,
                 uint far, __global const uint4 *again, __global uint4 *pending, __global uint *history,
                 __global const uchar *codes, ulong codes_at, __global const ordo_key *keys, ulong keys_at,
                 __global const ordo_key *his, ulong his_at, __global const blink_value *values, ulong values_at,
                 __global const ulong *rooms, ulong rooms_at, __global uchar *found, ulong found_at,
                 __global ordo_key *keys_out, ulong keys_out_at, __global blink_value *values_out, ulong values_out_at,
                 __global uint *counts, ulong counts_at, __global uchar *outcomes, ulong outcomes_at,
                 __global ordo_key *range_keys, ulong range_keys_at, __global blink_value *range_values,
                 ulong range_values_at, ulong range_capacity)
{
#define AT(array) (array ? array + array##_at : array)
    const blink_batch batch = {
        .tree = BLINK_TREE_HERE,
        .leaf_capacity = leaf_capacity,
        .inner_capacity = inner_capacity,
        .final = final,
        .never = never,
        .far = far,
        .codes = AT(codes),
        .keys = AT(keys),
        .his = AT(his),
        .values = AT(values),
        .rooms = AT(rooms),
        .found = AT(found),
        .outcomes = AT(outcomes),
        .keys_out = AT(keys_out),
        .range_keys = AT(range_keys),
        .values_out = AT(values_out),
        .range_values = AT(range_values),
        .counts = AT(counts),
        .range_capacity = range_capacity,
        .pending = pending,
        .history = history,
    };
#undef AT
    blink_turn turn = { .next = get_global_id(0), .idle = true };

    turn.op.elements = 0;
    blink_begin_torture(&batch, &turn.op);
    for (bool more = true; BLINK_ANY(more);)
        if (more)
            more = blink_take_turn(&batch, &turn, first, n, again);
    if (turn.op.elements)
        (void) ordo_add(state + BLINK_ELEMENTS, turn.op.elements);
}

#define TALLIES 5 /* struct tally of host/dict/blink/concurrent.c */

/* tally: of a batch, how many operations store, count or range, range, erase, find. */
ORDO_KERNEL(BLINK_GROUP)
void blink_tally(__global const uchar *codes, ulong codes_at, uint n, __global uint *tally)
{
    __local uint sums[TALLIES];
    uint         of[TALLIES] = { 0, 0, 0, 0, 0 };

    for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) {
        const uint code = codes[codes_at + i];
        of[0] += code == CODE_UPSERT || code == CODE_INSERT;
        of[1] += code == CODE_COUNT || code == CODE_RANGE;
        of[2] += code == CODE_RANGE;
        of[3] += code == CODE_ERASE;
        of[4] += CODE_FINDS(code);
    }
    for (uint k = get_local_id(0); k < TALLIES; k += BLINK_GROUP)
        sums[k] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    ORDO_UNROLL
    for (uint k = 0; k < TALLIES; k++)
        if (of[k])
            (void) ordo_local_add(sums + k, of[k]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = get_local_id(0); k < TALLIES; k += BLINK_GROUP)
        if (sums[k])
            (void) ordo_add(tally + k, sums[k]);
}

/* ---- what gave up, with the tree at rest ------------------------------------------------------------------------- */

/* Kinds of operations that are done together. */
#define LEFT_UPDATES  0
#define LEFT_FORWARD  1 /* the first element from the query on */
#define LEFT_BACKWARD 2 /* the last one up to it */
#define LEFT_COUNTS   3 /* also ranges that have no room left */
#define LEFT_RANGES   4

/* Elements that range i may write: rooms[i] to rooms[i + 1], as far as there is any. */
ORDO_FN ulong left_room(__global const ulong *rooms, ulong capacity, uint i)
{
    const ulong end = min(rooms[i + 1], capacity);
    return end - min(rooms[i], end);
}

ORDO_FN uint left_kind(uint code, uint counted, __global const ulong *rooms, ulong capacity, uint i)
{
    if (CODE_UPDATES(code))
        return LEFT_UPDATES;
    if (code <= CODE_SEEK_GT)
        return code >= CODE_SEEK_GE ? LEFT_FORWARD : LEFT_BACKWARD;
    return code == CODE_RANGE && counted < left_room(rooms, capacity, i) ? LEFT_RANGES : LEFT_COUNTS;
}

/* Of `count` operations that gave up (blink_batch), those of a kind become a batch: operation p of it is number where[p] of
 * the batch that they come from. Of updates keys_out and more_out are keys and values; of counts, bounds, and before[p]
 * is what has been counted; of seeks, more_out is nothing. The others go to `rest`. taken: how many of both. values, his and
 * rooms may be NULL. */
ORDO_KERNEL(BLINK_GROUP)
void blink_gather(__global const uint4 *left, uint count, uint kind, __global const uchar *codes, ulong codes_at,
                  __global const ordo_key *his, ulong his_at, __global const blink_value *values, ulong values_at,
                  __global const ulong *rooms, ulong rooms_at, ulong range_capacity, __global uint *taken,
                  __global uint *where, __global uchar *codes_out, __global ordo_key *keys_out,
                  __global blink_value *values_out, __global ordo_key *his_out, __global uint *before,
                  __global uint4 *rest)
{
    const uint l = (uint) get_global_id(0);
    if (l >= count)
        return;
    const uint i = left[l].x, code = codes[codes_at + i];
    if (left_kind(code, left[l].y, rooms + rooms_at, range_capacity, i) != kind) {
        rest[ordo_add(taken + 1, 1)] = left[l];
        return;
    }
    const uint p = ordo_add(taken, 1);
    where[p] = i;
#if KEY_BITS == 32
    keys_out[p] = key_from_bits(left[l].z);
#else
    keys_out[p] = key_from_bits(left[l].z | (ulong) left[l].w << 32);
#endif
    if (kind == LEFT_UPDATES)
        codes_out[p] = (uchar) code;
    if (kind == LEFT_UPDATES && values && code != CODE_ERASE)
        values_out[p] = values[values_at + i];
    if (kind == LEFT_COUNTS) {
        his_out[p] = his[his_at + i];
        before[p] = left[l].y;
    }
}

/* Results of such a batch: `found` of updates and seeks, keys and values of seeks that found, `counts` besides what was
 * counted before. The ticks of a history's ends begin with `tick`. Arrays may be NULL. */
ORDO_KERNEL(BLINK_GROUP)
void blink_scatter(uint count, __global const uint *where, __global const uchar *results, __global const ordo_key *keys,
                   __global const blink_value *values, __global const uint *counted, __global const uint *before,
                   __global const uchar *codes, ulong codes_at, __global const ulong *rooms, ulong rooms_at,
                   ulong range_capacity, __global uchar *found, ulong found_at, __global ordo_key *keys_out,
                   ulong keys_out_at, __global blink_value *values_out, ulong values_out_at, __global uint *counts,
                   ulong counts_at, __global uchar *outcomes, ulong outcomes_at, __global uint *history, uint tick)
{
    const uint p = (uint) get_global_id(0);
    if (p >= count)
        return;
    const uint i = where[p];
    uint       outcome = OUTCOME_DONE;
    if (results && found)
        found[found_at + i] = results[p];
    if (keys && keys_out && results[p])
        keys_out[keys_out_at + i] = keys[p];
    if (values && values_out && results[p])
        values_out[values_out_at + i] = values[p];
    if (counted) {
        const uint all = before[p] + counted[p];
        if (counts)
            counts[counts_at + i] = all;
        if (codes[codes_at + i] == CODE_RANGE && all > left_room(rooms + rooms_at, range_capacity, i))
            outcome = OUTCOME_CUT_SHORT;
    }
    if (outcomes)
        outcomes[outcomes_at + i] = (uchar) outcome;
    if (history)
        history[2 * i + 1] = tick + p;
}
