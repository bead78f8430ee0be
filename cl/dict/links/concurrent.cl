/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on a linked tree side by side: each work-item takes one operation after another, and works on it alone.
 * Finds were answered before (links_find_in_batch); what is left are updates, seeks, counts and ranges.
 *
 *   links_apply     runs operations, and lists those that gave up
 *   links_tally     what there is in a batch
 *   links_gather    makes a batch of those of one kind that gave up, to be done with the tree at rest
 *   links_scatter   hands its results on
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
 *   - A node's low never rises, nor does its high. If the query is above the high of where it was led, the way goes on by
 *     the links to the right; if it is not above the low, a mistake was made on the path, and the search starts again from
 *     the root, this time past the caches.
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
 * Of a skiplist (LINKS_MERGE) leaves merge, too: an erase that leaves few elements moves them into the right neighbour, if
 * it can have that leaf's latch at once; so this step holds two latches, and waits for none. The neighbour's low becomes the
 * leaf's, and the leaf's high its own low: it covers nothing from then on, a zombie, and whoever is led to it goes on to the
 * right. That is so of old entries above, too, which go between launches (dict/skiplist/reclaim.cl).
 *
 * How these accesses are ordered, LINKS_BY_FENCE says:
 *   1   by fences: the first look acquires, a fence lies before the second one; after the compare-and-swap there is a
 *       fence, and the last store releases.
 *   0   where ORDO_AFTER_ORDERS (device/atomic.cl): what is read later is at an address that is computed from what was
 *       read before (ordo_after), stores after a compare-and-swap hang on its result, and the last store releases. No
 *       access throws away the first-level cache, in which the inner nodes lie.
 *
 * The table says for each access what orders it. Way 1 and way 0 are the values of LINKS_BY_FENCE. Way 0 is used with
 * ORDO_ATOMICS_NVIDIA, unless the self-test has seen a wrong order; way 1 everywhere else. "fence" is a fence that
 * acquires and releases at the scope of the device.
 *
 *      access                                    way 1                             way 0
 *    1 header of a node, first look              acquire load                      part of load 2
 *      (links_peek_tail)
 *    2 low, right, high (links_peek_tail)        after 1: it acquires              4-byte keys: one load with the
 *                                                                                  header. 8-byte keys: high with the
 *                                                                                  header; low and right at an
 *                                                                                  address computed from it
 *    3 keys, values (links_place,                after 1: it acquires              at an address computed from 1; an
 *      links_scan_on, column_peek)                                                 acquire fence comes after the
 *                                                                                  values of a range
 *    4 header, second look (links_unchanged)     acquire fence before it           at an address computed from 2 and
 *                                                                                  3
 *    5 compare-and-swap that latches a node      acquire fence before it, fence    at an address computed from 3
 *      (links_latch)                             after it
 *    6 compare-and-swap that latches a           fence after it; where it          the same
 *      neighbour (links_latch_neighbour)         succeeds, 2 gives the same
 *                                                before it and after it
 *    7 words of a latched node (poke)            after the fence of 5 or 6         the branch on the result of 5; the
 *                                                                                  fence of 6
 *    8 header of a new node (links_open)         release store after 7             relaxed store; 9 comes after it
 *    9 header that gives the latch back          release store after 7, 8          the same
 *      (links_publish)
 *   10 merge: neighbour given back, then the     fence between the two             the same
 *      zombie's high
 *   11 root, inner nodes on the way down, links  nothing                           nothing
 *      to the right that are followed
 *   12 link of a zombie, shortened               after 4 of both zombies           the same
 *      (links_pass_zombie)
 *   13 the root's word (links_grow)              compare-and-swap; release store   the same
 *                                                after the new root's words
 *   14 counters of the state                     atomic updates of one word each   the same
 *   15 results                                   the end of the launch             the same
 *
 * Why 11 needs no order the text on hints says. 14: no operation concludes from a counter that other words are there; a
 * number that one work-item got is its own. In way 0 low and high of keys of 8 bytes may be of two moments. Both only
 * fall, so such a look sends an operation to the right, or back to the root, but never past its key; and a leaf that
 * looks like a zombie is looked at again.
 *
 * By the memory models:
 *   C11 (OpenCL 2, 3)   A reader's 1 and a writer's 9 are a pair of acquire and release. A reader that has read a word
 *                       of 7 before the writer's 9 finds another header in 4 or 5: the fence before these pairs with
 *                       the writer's fence after 5. The words of 2, 3 and 7 are no atomic objects, so by the letter
 *                       such a reader races. They are volatile accesses to aligned words, which compilers keep as they
 *                       are, and what the reader has read is thrown away.
 *   PTX                 All accesses of 1 to 9 are relaxed or stronger at the scope of the device, so that nothing
 *                       races. Way 1 is the same pairs by ld.acquire, st.release and fence.acq_rel. Way 0 relies on
 *                       more than PTX says, where an address that is computed from a load gives no order: on hardware
 *                       that starts loads in order (device/atomic.cl).
 *   AMD                 Its OpenCL has C11 atomics: way 1. An acquire throws away the first-level cache, so that loads
 *                       after it are no older than it is. The builtins are for lanes alone and order nothing here.
 *   OpenCL 1.2          mem_fence orders nothing between groups. One work-item runs alone (is_alone of
 *                       host/dict/links/concurrent.c), and reads its own stores.
 *
 * LINKS_HISTORY 1 records when each operation began and ended. With LINKS_TORTURE 1 (tests) links_apply is told what is
 * done to its operations, one kernel for all of it: `torture` is the sum of 1: latches cannot be had now and then; 2: nor
 * new nodes; 4: long pauses between the stores of a change; 8: between the two looks; 16: before the level above has the
 * entry of a split; 32: now and then a work-item begins only when another is at work; 64: operations give up at the first
 * step that comes to nothing; 128: one work-item does all; 256: no inner nodes can be had. The pauses last until the clock
 * of histories has gone on, so that they need LINKS_HISTORY to be short.
 */
#pragma once
#include "dict/codes.cl"
#include "dict/links/node.cl"

#if TEAM_WIDTH != 1
#error "TEAM_WIDTH must be 1: each work-item has its own operation"
#endif
#ifndef LINKS_BY_FENCE
#define LINKS_BY_FENCE (!ORDO_AFTER_ORDERS)
#endif
#ifndef LINKS_HISTORY
#define LINKS_HISTORY 0
#endif
#ifndef LINKS_TORTURE
#define LINKS_TORTURE 0
#endif
/* Where an operation knows of it. */
#define LINKS_TORTURED(op, kind) (LINKS_TORTURE && (op)->torture & (kind))
#ifndef LINKS_MERGE
#define LINKS_MERGE 0
#endif
#ifndef LINKS_RAISE
#define LINKS_RAISE 100
#endif

/* Steps of an operation that came to nothing, after which it is left to another launch; and steps of a work-item. (A try
 * takes some 10 us on an H200 where a leaf is fought over.) */
#ifndef LINKS_TRIES
#define LINKS_TRIES(op) (LINKS_TORTURED(op, 64) ? 0 : 256)
#endif
#ifndef LINKS_STEPS
#define LINKS_STEPS 16384
#endif

/* What came of a step. */
#define STEP_AGAIN   0 /* nothing: another work-item was in the path, or the search has lost its path */
#define STEP_ON      1 /* it came further */
#define STEP_DONE    2
#define STEP_STARVED 3 /* there is no node left */
#define STEP_FAR     4 /* it came further, but has gone through so many leaves that the rest is not for it to look at */

/* Nodes are split in the middle. */
#define LINKS_HALF (LINKS_SLOTS / 2)

/* A leaf that an erase leaves with fewer elements than this merges into its right neighbour, if that has then no more than
 * so many, so that not the next store splits it. */
#define LINKS_SPARSE (LINKS_SLOTS / 3)
#define LINKS_MERGED (LINKS_SLOTS * 3 / 4)

/* ---- a work-item ------------------------------------------------------------------------------------------------- */

/* What all operations of a launch share. Arrays may be NULL. */
typedef struct {
    links_tree                  tree;
    uint                        leaf_capacity, inner_capacity;
    uint                        final; /* no more nodes will come: who needs one is refused */
    uint                        never; /* 0, unknown to the compiler */
    uint                        far;   /* leaves that a query goes through in a launch, at most */
    __global const uchar       *codes;
    __global const ordo_key    *keys, *his;
    __global const links_value *values;
    __global const ulong       *rooms;
    __global uchar             *found, *outcomes;
    __global ordo_key          *keys_out, *range_keys;
    __global links_value       *values_out, *range_values;
    __global uint              *counts;
    ulong                       range_capacity;
    __global uint4             *pending; /* of those that gave up: operation, count, query */
    __global uint              *history;
} links_batch;

#define CODE_NONE 0xffu /* no operation */

typedef struct {
    uint i, code;
    uint
        level; /* 0: at work on leaves. Else it has split a node of the level below, and puts its entry into this one */
    uint at;   /* a node of this level, to be looked at next; LINKS_NONE: from the root */
    ordo_key_form
         query;    /* what the node must cover. Of scans: the least key not yet seen, of backward seeks the greatest;
                            above the leaves: one more than the separator */
    uint child;    /* above the leaves: the new node */
    uint count;    /* of counts and ranges: keys so far */
    uint tries;    /* steps that came to nothing */
    uint hops;     /* leaves that a query has gone through in this launch */
    bool lost;     /* has lost its path: caches are not trusted */
    uint zombie;   /* the zombie that led to `at`, or LINKS_NONE */
    uint elements; /* stored by this work-item, less those erased, over all its operations */
    uint dice;
    uint torture; /* where LINKS_TORTURE */
} links_op;

/* Whether something that is done to an operation now and then happens now. */
ORDO_FN bool links_inject(links_op *op, uint kind, uint one_in)
{
    if (!LINKS_TORTURED(op, kind))
        return false;
    op->dice = op->dice * 1664525u + 1013904223u;
    return (op->dice >> 8) % one_in == 0;
}

/* Waits for others to come by: until their clock has gone on by `ticks`, but not for ever. A processor looks often,
 * for it reads from its cache; and a thread may have to be woken. */
ORDO_FN void links_wait(const links_batch *batch, uint ticks, uint looks)
{
    volatile __global uint *clock = batch->tree.state + LINKS_TICK;
    const uint              since = ordo_load_relaxed(clock);
    for (uint k = 0; k < looks && ordo_load_relaxed(clock) - since < ticks; k++)
        ordo_pause();
}

ORDO_FN void links_delay(const links_batch *batch, links_op *op, uint kind)
{
    if (links_inject(op, kind, kind == 16 ? 1 : 16))
        links_wait(batch, 16, ORDO_CPU ? 1000 : 100);
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

/* 0, to be added to the address of what is read after the first look at a header, which is `seen`. */
ORDO_FN uint links_after_look(const links_batch *batch, uint seen)
{
#if LINKS_BY_FENCE
    return 0; /* the look was an acquire load */
#else
    return ordo_after(seen, batch->never);
#endif
}

/* 0, to be added to the header's address for the second look, which comes after all that `seen` was computed from. */
ORDO_FN uint links_before_look(const links_batch *batch, uint seen)
{
#if LINKS_BY_FENCE
    ordo_fence_acquire();
    return 0;
#else
    return ordo_after(seen, batch->never);
#endif
}

ORDO_FN uint links_fold(ordo_key_form form)
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
} links_tail;

ORDO_FN links_tail links_peek_tail(const links_batch *batch, links_op *op, __global ordo_key_form *line)
{
    links_tail tail;
#if LINKS_BY_FENCE
    tail.header = ordo_load_acquire(links_header(line));
    links_delay(batch, op, 8);
#endif
#if KEY_BITS == 32
    const uint4 words = ordo_peek128((__global const uint *) (line + LINKS_LOW));
    tail.low = words.x;
    tail.right = words.y;
    tail.high = words.w;
#if !LINKS_BY_FENCE
    tail.header = words.z; /* one access: they are of the same moment */
#endif
#else
    const ulong2 last = as_ulong2(ordo_peek128((__global const uint *) (line + LINKS_HEADER)));
#if !LINKS_BY_FENCE
    tail.header = (uint) last.x;
    line += links_after_look(batch, tail.header);
#endif
    const ulong2 words = as_ulong2(ordo_peek128((__global const uint *) (line + LINKS_LOW)));
    tail.low = words.x;
    tail.right = (uint) words.y;
    tail.high = last.y;
#endif
    return tail;
}

ORDO_FN ordo_key_form links_peek_key(__global const ordo_key_form *p)
{
#if KEY_BITS == 32
    return ordo_peek(p);
#else
    return ordo_peek64(p);
#endif
}

ORDO_FN links_value links_peek_value(__global const links_value *p)
{
#if ORDO_VALUE_BYTES == 8
    return ordo_peek64(p);
#else
    return ordo_peek(p);
#endif
}

ORDO_FN void links_poke_value(__global links_value *p, links_value value)
{
#if ORDO_VALUE_BYTES == 8
    ordo_poke64(p, value);
#else
    ordo_poke(p, value);
#endif
}

/* Keys of a piece, 16 bytes. */
#define PIECE_KEYS (128 / KEY_BITS)
#define PIECES     (LINKS_SLOTS / PIECE_KEYS)

ORDO_FN void links_unpack_keys(uint4 piece, __private ordo_key_form keys[PIECE_KEYS])
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
ORDO_FN uint links_place(__global const ordo_key_form *line, ordo_key_form query, bool fresh, ordo_key_form *next)
{
#if ORDO_CPU && !ORDO_CHECKED
    (void) fresh;
    const uint less = links_less(line, query);
    *next = less < LINKS_SLOTS ? line[less] : LINKS_UNUSED;
    return less;
#else
    /* By halves: each lane reads a line of its own, so that each access counts, not the bytes. */
    uint piece = 0;
    ORDO_UNROLL
    for (uint step = (PIECES + 2) / 2 & ~1u; step > 0; step /= 2) { /* 4 of 7, 8 of 14 */
        const uint last = (piece + step) * PIECE_KEYS - 1;
        if (last < LINKS_SLOTS && (fresh ? links_peek_key(line + last) : line[last]) < query)
            piece += step;
    }
    *next = LINKS_UNUSED;
    if (piece == PIECES)
        return LINKS_SLOTS;

    __global const uint *from = (__global const uint *) (line + piece * PIECE_KEYS);
    ordo_key_form        keys[PIECE_KEYS];
    uint                 less = 0;
    links_unpack_keys(fresh ? ordo_peek128(from) : *(__global const uint4 *) from, keys);
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
ORDO_FN __global uint *links_words_beside(const links_tree *tree, uint level, uint node)
{
#if ORDO_VALUE_BYTES == 4
    if (level == 0)
        return links_values(tree, node);
#endif
    return links_children(tree, node);
}
#define WORDS_BESIDE(level)  ((level) > 0 || ORDO_VALUE_BYTES == 4)
#define ULONGS_BESIDE(level) ((level) == 0 && ORDO_VALUE_BYTES == 8)

/* All of a node at once, on CPUs: its two arrays, of a line of the cache and a half each, or two. */
ORDO_FN void links_prefetch(const links_tree *tree, uint level, uint node)
{
#if ORDO_CPU
    ORDO_PREFETCH(links_line(tree, level, node));
    ORDO_PREFETCH(links_line(tree, level, node) + LINKS_SLOTS / 2);
    if (WORDS_BESIDE(level)) {
        ORDO_PREFETCH(links_words_beside(tree, level, node));
        ORDO_PREFETCH(links_words_beside(tree, level, node) + LINKS_SLOTS / 2);
    }
#endif
}

/* The node of op->level to look for the query in, or LINKS_NONE if that led nowhere. A hint, by the argument at the
 * top. */
ORDO_FN uint links_go_down(const links_batch *batch, const links_op *op, uint root)
{
    const links_tree *tree = &batch->tree;
    const bool        fresh = op->lost || ORDO_CHECKED;
    uint              node = links_root_node(root), hops = 0;

    for (uint above = links_root_level(root); above > op->level; above--) {
        __global ordo_key_form *line = links_inner(tree, node);
        ordo_key_form           next;
        const uint              less = links_place(line, op->query, fresh, &next);
        if (next == LINKS_UNUSED) { /* behind the last key, it seems */
            const uint right = fresh ? ordo_peek(links_right(line)) : *links_right(line);
            if (op->query > (fresh ? links_peek_key(line + LINKS_HIGH) : line[LINKS_HIGH])) {
                if (right >= batch->inner_capacity || hops++ > LINKS_TRIES(op))
                    return LINKS_NONE;
                node = right;
                above++;
                continue;
            }
        }
        __global uint *child = links_children(tree, node) + links_entry(less);
        node = fresh ? ordo_peek(child) : *child;
        if (node >= (above > 1 ? batch->inner_capacity : batch->leaf_capacity))
            return LINKS_NONE;
        links_prefetch(tree, above - 1, node);
    }
    return node;
}

/* The second look at a leaf, after `seen`: whether all that was read was there at one moment. */
ORDO_FN bool links_unchanged(const links_batch *batch, __global ordo_key_form *line, links_tail tail, uint seen)
{
    return ordo_load_relaxed(links_header(line) + links_before_look(batch, seen)) == tail.header;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

ORDO_FN void links_tick(const links_batch *batch, const links_op *op, uint end)
{
#if LINKS_HISTORY
    ordo_fence_device();
    batch->history[2 * op->i + end] = ordo_add(batch->tree.state + LINKS_TICK, 1);
    ordo_fence_device();
#endif
}

ORDO_FN void links_outcome(const links_batch *batch, const links_op *op, uint outcome)
{
    links_tick(batch, op, 1);
    if (batch->outcomes)
        batch->outcomes[op->i] = (uchar) outcome;
}

ORDO_FN uint links_answer(const links_batch *batch, const links_op *op, bool found)
{
    if (batch->found)
        batch->found[op->i] = found;
    links_outcome(batch, op, OUTCOME_DONE);
    return STEP_DONE;
}

ORDO_FN uint links_answer_seek(const links_batch *batch, const links_op *op, bool found, ordo_key_form key,
                               links_value value)
{
    if (found && batch->keys_out)
        batch->keys_out[op->i] = key_from_bits(key);
#if ORDO_VALUE_BYTES
    if (found && batch->values_out)
        batch->values_out[op->i] = value;
#endif
    return links_answer(batch, op, found);
}

/* ---- reading steps ----------------------------------------------------------------------------------------------- */

/* Seeks: the nearest key of this leaf, or on to its neighbour. */
ORDO_FN uint links_seek_on(const links_batch *batch, links_op *op, __global ordo_key_form *line, links_tail tail)
{
    const bool    forward = op->code >= CODE_SEEK_GE;
    const uint    count = tail.header & LINKS_COUNT_MASK;
    ordo_key_form key;
    links_value   value = 0;

    line += links_after_look(batch, tail.header);
    uint slot = links_place(line, op->query, true, &key);
    uint seen = slot ^ links_fold(key);
    links_delay(batch, op, 8);
    bool found = slot < count && (forward || key == op->query);
    if (!forward && !found && slot > 0) {
        slot = min(slot, count) - 1; /* a torn count may be 0: then nothing of this will hold */
        found = slot < LINKS_SLOTS;
        if (found)
            key = links_peek_key(line + slot);
        seen ^= links_fold(key);
    }
#if ORDO_VALUE_BYTES
    if (found) {
        value = links_peek_value(links_values(&batch->tree, op->at) + slot);
        seen ^= (uint) value;
    }
#endif
    if (!links_unchanged(batch, line, tail, seen))
        return STEP_AGAIN;
    if (found || (forward ? tail.right == LINKS_NONE : op->at == 0))
        return links_answer_seek(batch, op, found, key, value);
    /* No key from the query to this leaf's end: the rest begins where the leaf ends. Where that is now, the links
     * say; there are none to the left, so that the way there is from the root. */
    op->query = forward ? tail.high + 1 : tail.low;
    op->at = forward ? tail.right : LINKS_NONE;
    return ++op->hops < batch->far ? STEP_ON : STEP_FAR;
}

/* Where range op->i may write: elements begin .. end - 1 of the range outputs. */
typedef struct {
    ulong begin, end;
} links_room;

ORDO_FN links_room links_room_of(const links_batch *batch, const links_op *op)
{
    links_room room = { 0, 0 };
    if (op->code == CODE_RANGE && batch->rooms) {
        room.end = min(batch->rooms[op->i + 1], batch->range_capacity);
        room.begin = min(batch->rooms[op->i], room.end);
    }
    return room;
}

ORDO_FN void links_write_element(const links_batch *batch, const links_op *op, ulong place, ordo_key_form key,
                                 uint slot)
{
    if (batch->range_keys)
        batch->range_keys[place] = key_from_bits(key);
#if ORDO_VALUE_BYTES
    if (batch->range_values)
        batch->range_values[place] = links_peek_value(links_values(&batch->tree, op->at) + slot);
#endif
}

/* Counts and ranges: the keys of this leaf from the query to `his`, then on to its right neighbour. Elements are
 * written before it is known whether they were there at one moment: if not, they lie behind the count, in the
 * range's own room, and the next look writes over them. */
ORDO_FN uint links_scan_on(const links_batch *batch, links_op *op, __global ordo_key_form *line, links_tail tail)
{
    const uint          count = tail.header & LINKS_COUNT_MASK;
    const ordo_key_form hi = key_bits(batch->his[op->i]);
    const links_room    room = links_room_of(batch, op);
    uint                keys_here = 0, seen = 0;

    line += links_after_look(batch, tail.header);
    for (uint first = 0; first < min(count, (uint) LINKS_SLOTS); first += PIECE_KEYS) {
        ordo_key_form keys[PIECE_KEYS];
        links_delay(batch, op, 8);
        links_unpack_keys(ordo_peek128((__global const uint *) (line + first)), keys);
        ORDO_UNROLL
        for (uint k = 0; k < PIECE_KEYS; k++) {
            seen ^= links_fold(keys[k]);
            if (first + k >= count || keys[k] < op->query || keys[k] > hi)
                continue;
            const ulong place = room.begin + op->count + keys_here;
            if (place < room.end)
                links_write_element(batch, op, place, keys[k], first + k);
            keys_here++;
        }
    }
#if !LINKS_BY_FENCE && ORDO_VALUE_BYTES
    if (room.begin < room.end) /* the values' loads have no dependency to offer: they went to memory */
        ordo_fence_acquire();
#endif
    if (!links_unchanged(batch, line, tail, seen))
        return STEP_AGAIN;
    op->count += keys_here;
    if (hi > tail.high && tail.right != LINKS_NONE) {
        op->query = tail.high + 1; /* all up to high is seen: nothing twice, nothing left out, whoever splits what */
        op->at = tail.right;
        return ++op->hops < batch->far || op->count < room.end - room.begin ? STEP_ON : STEP_FAR;
    }
    if (batch->counts)
        batch->counts[op->i] = op->count;
    links_outcome(batch, op,
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
#define LINKS_COLUMN(type)                                                                                             \
    typedef struct {                                                                                                   \
        type at[LINKS_SLOTS];                                                                                          \
    } column_##type;                                                                                                   \
                                                                                                                       \
    ORDO_FN void column_peek_##type(column_##type *c, __global const type *from, uint first, uint end)                 \
    {                                                                                                                  \
        ORDO_UNROLL                                                                                                    \
        for (uint s = 0; s < LINKS_SLOTS; s += PER_PIECE_##type)                                                       \
            if (s + PER_PIECE_##type > first && s < end) {                                                             \
                const uint4 piece = ordo_peek128((__global const uint *) (from + s));                                  \
                UNPACK_##type(c->at, s, piece);                                                                        \
            }                                                                                                          \
    }                                                                                                                  \
    ORDO_FN void column_poke_##type(const column_##type *c, __global type *to, uint first, uint end)                   \
    {                                                                                                                  \
        ORDO_UNROLL                                                                                                    \
        for (uint s = 0; s < LINKS_SLOTS; s += PER_PIECE_##type)                                                       \
            if (s + PER_PIECE_##type > first && s < end)                                                               \
                ordo_poke128((__global uint *) (to + s), PACK_##type(c->at, s));                                       \
    }                                                                                                                  \
    ORDO_FN void column_shift_##type(column_##type *c, uint slot, bool open, type x)                                   \
    {                                                                                                                  \
        type before = x;                                                                                               \
        ORDO_UNROLL                                                                                                    \
        for (uint s = 0; s < LINKS_SLOTS; s++) {                                                                       \
            const type here = c->at[s], behind = s + 1 < LINKS_SLOTS ? c->at[s + 1] : x;                               \
            const type opened = s > slot ? before : x, closed = behind;                                                \
            c->at[s] = s < slot ? here : open ? opened : closed;                                                       \
            before = here;                                                                                             \
        }                                                                                                              \
    }                                                                                                                  \
    ORDO_FN void column_keep_##type(column_##type *c, bool upper, type fill)                                           \
    {                                                                                                                  \
        ORDO_UNROLL                                                                                                    \
        for (uint s = 0; s < LINKS_HALF; s++) {                                                                        \
            const type here = c->at[s], above = c->at[s + LINKS_HALF];                                                 \
            c->at[s] = upper ? above : here;                                                                           \
            c->at[s + LINKS_HALF] = fill;                                                                              \
        }                                                                                                              \
    }
LINKS_COLUMN(uint)
#if KEY_BITS == 64 || ORDO_VALUE_BYTES == 8
LINKS_COLUMN(ulong)
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
    for (uint s = 0; s < LINKS_SLOTS; s++)
        less += c->at[s] < key;
    *next = LINKS_UNUSED;
    ORDO_UNROLL
    for (uint s = 0; s < LINKS_SLOTS; s++) {
        const ordo_key_form here = c->at[s];
        *next = s == less ? here : *next;
    }
    return less;
}

/* ---- what goes with the keys ------------------------------------------------------------------------------------- */

/* column_shift of what goes with `count` keys. `child`, `value`: what goes with a new one. */
ORDO_FN void links_shift_beside(const links_tree *tree, uint level, uint node, uint slot, uint count, bool open,
                                uint child, links_value value)
{
    if (WORDS_BESIDE(level)) {
        __global uint *words = links_words_beside(tree, level, node);
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
        column_peek_ulong(&c, links_values(tree, node), slot, count + open);
        column_shift_ulong(&c, slot, open, value);
        column_poke_ulong(&c, links_values(tree, node), slot, count + open);
    }
#endif
}

ORDO_FN void links_halve_beside(const links_tree *tree, uint level, uint node, uint into)
{
    if (WORDS_BESIDE(level)) {
        column_uint c;
        column_peek_uint(&c, links_words_beside(tree, level, node), LINKS_HALF, LINKS_SLOTS);
        column_keep_uint(&c, true, LINKS_NONE);
        column_poke_uint(&c, links_words_beside(tree, level, into), 0, LINKS_HALF);
    }
#if ORDO_VALUE_BYTES == 8
    if (ULONGS_BESIDE(level)) {
        column_ulong c;
        column_peek_ulong(&c, links_values(tree, node), LINKS_HALF, LINKS_SLOTS);
        column_keep_ulong(&c, true, 0);
        column_poke_ulong(&c, links_values(tree, into), 0, LINKS_HALF);
    }
#endif
}

/* ---- writing steps ----------------------------------------------------------------------------------------------- */

/* The next free node, or LINKS_NONE. The counter may end above the capacity, by no more than there are work-items;
 * the host puts it right. */
ORDO_FN uint links_new_node(const links_batch *batch, links_op *op, uint level)
{
    __global uint *taken = batch->tree.state + (level > 0 ? LINKS_INNER : LINKS_LEAVES);
    const uint     capacity = level > 0 ? batch->inner_capacity : batch->leaf_capacity;
    if (ordo_load_relaxed(taken) >= capacity || links_inject(op, 2, 8) || (level > 0 && links_inject(op, 256, 1)))
        return LINKS_NONE;
    const uint node = ordo_add(taken, 1);
    return node < capacity ? node : LINKS_NONE;
}

/* Latches a node of which `seen` was read, if it is still as it was when its header was. */
ORDO_FN bool links_latch(const links_batch *batch, links_op *op, __global uint *header, uint was, uint seen)
{
    links_delay(batch, op, 8);
    if (links_inject(op, 1, 8))
        return false;
    if (ordo_cas(header + links_before_look(batch, seen), was, was | LINKS_LATCHED) != was)
        return false;
#if LINKS_BY_FENCE
    ordo_fence_device(); /* no store of this change may be seen before the latch is */
#endif
    return true;
}

/* Gives a latched node its new count, another version, and the latch back: from here on others see the change. */
ORDO_FN void links_publish(const links_batch *batch, links_op *op, __global uint *header, uint was, uint count)
{
    links_delay(batch, op, 4);
    ordo_store_release(header, ((was + LINKS_VERSION_ONE) & LINKS_VERSION_MASK) | count);
}

/* Opens a new node, before its left neighbour is given back. Where header and high are read at once, nobody is led to it
 * before that. */
ORDO_FN void links_open(__global uint *header, uint count)
{
#if LINKS_BY_FENCE
    ordo_store_release(header, count);
#else
    ordo_store_relaxed(header, count);
#endif
}

ORDO_FN void links_poke_key(__global ordo_key_form *p, ordo_key_form key)
{
#if KEY_BITS == 32
    ordo_poke(p, key);
#else
    ordo_poke64(p, key);
#endif
}

ORDO_FN void links_poke_tail(__global ordo_key_form *line, links_tail tail)
{
#if KEY_BITS == 32
    ordo_poke128((__global uint *) (line + LINKS_LOW), (uint4) (tail.low, tail.right, tail.header, tail.high));
#else
    ordo_poke128((__global uint *) (line + LINKS_LOW), as_uint4((ulong2) (tail.low, tail.right)));
    ordo_poke128((__global uint *) (line + LINKS_HEADER), as_uint4((ulong2) (tail.header, tail.high)));
#endif
}

/* Moves the upper half of a full, latched node to a new one, which is latched, too: whoever has seen the node's header
 * before, and its new link and high after, is there already. `keys` are the node's. `middle`: the high of the one and the
 * low of the other. */
ORDO_FN void links_split(const links_batch *batch, links_op *op, const column_keys *keys, links_tail tail,
                         ordo_key_form middle, uint into)
{
    __global ordo_key_form *left = links_line(&batch->tree, op->level, op->at);
    __global ordo_key_form *right = links_line(&batch->tree, op->level, into);
    const links_tail        of_right = { middle, tail.high, tail.right, LINKS_HALF | LINKS_LATCHED };
    column_keys             part = *keys;

    KEYS_DO(keep)(&part, true, LINKS_UNUSED);
    KEYS_DO(poke)(&part, right, 0, LINKS_SLOTS);
    part = *keys;
    KEYS_DO(keep)(&part, false, LINKS_UNUSED);
    KEYS_DO(poke)(&part, left, LINKS_HALF, LINKS_SLOTS);
    links_halve_beside(&batch->tree, op->level, op->at, into);
    links_poke_tail(right, of_right);
    links_delay(batch, op, 4);
    ordo_poke(links_right(left), into);
    links_poke_key(left + LINKS_HIGH, middle);
}

/* What is looked for in a node, or put there. */
ORDO_FN ordo_key_form links_key_of(const links_op *op)
{
    return op->level > 0 ? op->query - 1 : op->query;
}

#define HAS_VALUES (ORDO_VALUE_BYTES != 0)

#define CHANGE_NONE  0
#define CHANGE_VALUE 1
#define CHANGE_OPEN  2
#define CHANGE_CLOSE 3

/* What the operation does to a node that has its key, or has not. */
ORDO_FN uint links_change(const links_op *op, bool found)
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
    uint          fresh;             /* the node that it was split into, or LINKS_NONE */
    ordo_key_form middle;            /* between the two */
} links_site;

/* Splits a full, latched node in which a key is to be put into `slot`. False if there is no node for it: no harm is
 * done. */
ORDO_FN bool links_make_room(const links_batch *batch, links_op *op, column_keys *keys, links_tail tail,
                             links_site *site)
{
    site->fresh = links_new_node(batch, op, op->level);
    if (site->fresh == LINKS_NONE)
        return false;
    /* A leaf's high is one of its keys; the entries of an inner node begin with its low. */
    const bool          upper = site->slot > LINKS_HALF || (site->slot == LINKS_HALF && op->level == 0);
    const ordo_key_form last = keys->at[LINKS_HALF - 1], first = keys->at[LINKS_HALF];
    site->middle = op->level > 0 ? first : last;
    links_split(batch, op, keys, tail, site->middle, site->fresh);
    site->node = upper ? site->fresh : site->node;
    /* Back from memory: this work-item's own stores. To keep them would take twice the registers. */
    KEYS_DO(peek)(keys, links_line(&batch->tree, op->level, site->node), 0, LINKS_HALF);
    KEYS_DO(keep)(keys, false, LINKS_UNUSED);
    site->slot -= upper ? LINKS_HALF : 0;
    site->count = LINKS_HALF;
    return true;
}

/* Changes a latched node, of which `keys` are the keys, and gives it back. */
ORDO_FN void links_change_node(const links_batch *batch, links_op *op, column_keys *keys, links_tail tail,
                               const links_site *site, uint change)
{
    const links_tree       *tree = &batch->tree;
    __global ordo_key_form *home = links_line(tree, op->level, op->at);
    __global ordo_key_form *line = links_line(tree, op->level, site->node);
    const bool              open = change == CHANGE_OPEN;
    links_value             value = 0;

#if ORDO_VALUE_BYTES
    if (op->level == 0 && change != CHANGE_CLOSE)
        value = batch->values[op->i];
    if (change == CHANGE_VALUE)
        links_poke_value(links_values(tree, site->node) + site->slot, value);
#endif
    if (change != CHANGE_VALUE) {
        KEYS_DO(shift)(keys, site->slot, open, open ? links_key_of(op) : LINKS_UNUSED);
        KEYS_DO(poke)(keys, line, site->slot, site->count + open);
        links_delay(batch, op, 4);
        links_shift_beside(tree, op->level, site->node, site->slot, site->count, open, op->child, value);
    }
    const uint count = site->count + open - (change == CHANGE_CLOSE);
    if (site->fresh != LINKS_NONE)
        links_open(links_header(links_line(tree, op->level, site->fresh)), line != home ? count : LINKS_HALF);
    links_publish(batch, op, links_header(home), tail.header, line != home ? LINKS_HALF : count);
    if (op->level == 0)
        op->elements += open - (change == CHANGE_CLOSE);
}

/* ---- merging ----------------------------------------------------------------------------------------------------- */

ORDO_FN void links_move_element(const links_batch *batch, uint from, uint slot, uint into, uint to)
{
    const links_tree *tree = &batch->tree;
    links_poke_key(links_leaf(tree, into) + to, links_peek_key(links_leaf(tree, from) + slot));
#if ORDO_VALUE_BYTES
    links_poke_value(links_values(tree, into) + to, links_peek_value(links_values(tree, from) + slot));
#endif
}

/* Moves the elements of op->at but the one in site->slot in front of those of `into`. Both are latched. */
ORDO_FN void links_move_all(const links_batch *batch, links_op *op, const links_site *site, uint into, uint count)
{
    for (uint slot = site->count > 1 ? count : 0; slot-- > 0;)
        links_move_element(batch, into, slot, into, slot + site->count - 1);
    links_delay(batch, op, 4);
    for (uint slot = 0; slot < site->count; slot++)
        if (slot != site->slot)
            links_move_element(batch, op->at, slot, into, slot - (slot > site->slot));
}

/* Whether a leaf of which `tail` was read is a zombie. Low and high of a leaf that is alive may look the same if they
 * are of two moments. So a zombie has no elements, either, and its header is the same at a second look. It stays a
 * zombie in this launch. */
ORDO_FN bool links_is_zombie(const links_batch *batch, uint leaf, links_tail tail)
{
    const uint seen = links_fold(tail.low) ^ links_fold(tail.high) ^ tail.right;

    return LINKS_MERGE && (tail.header & LINKS_COUNT_MASK) == 0 && links_is_dead(leaf, tail.low, tail.high) &&
           links_unchanged(batch, links_leaf(&batch->tree, leaf), tail, seen);
}

/* Latches the right neighbour of a latched leaf, too, if it has room for the elements that the leaf keeps. Does not
 * wait. Takes a zombie in that place out of the chain: all that the zombie had is further right. */
ORDO_FN bool links_latch_neighbour(const links_batch *batch, links_op *op, __global ordo_key_form *line,
                                   __global ordo_key_form *right, uint into, uint kept, links_tail *of_right)
{
    const links_tail tail = links_peek_tail(batch, op, right);
    const uint       count = tail.header & LINKS_COUNT_MASK;

    if ((tail.header & LINKS_LATCHED) != 0)
        return false;
    if (links_is_zombie(batch, into, tail)) {
        ordo_poke(links_right(line), tail.right);
        return false;
    }
    if (kept + count > (kept ? LINKS_MERGED : LINKS_SLOTS) || links_inject(op, 1, 8) ||
        ordo_cas(links_header(right), tail.header, tail.header | LINKS_LATCHED) != tail.header)
        return false;
    *of_right = tail;
    return true;
}

/* Erases the element in site->slot of a latched leaf by moving the others into its right neighbour. Both are given back, the
 * leaf as a zombie: it covers nothing, so that whoever is led to it goes on to the right, where all that it covered now is.
 * The neighbour first, so that nobody finds an element in neither. False: nothing is done. */
ORDO_FN bool links_merge(const links_batch *batch, links_op *op, __global ordo_key_form *line, links_tail tail,
                         const links_site *site)
{
    const uint into = tail.right;
    links_tail of_right;

    if (!LINKS_MERGE || site->count > LINKS_SPARSE || op->at == 0 || into >= batch->leaf_capacity)
        return false;
    __global ordo_key_form *right = links_leaf(&batch->tree, into);
    if (!links_latch_neighbour(batch, op, line, right, into, site->count - 1, &of_right))
        return false;
    ordo_fence_device();
    const uint count = of_right.header & LINKS_COUNT_MASK;
    (void) ordo_add(batch->tree.state + LINKS_ZOMBIES, 1);
    links_move_all(batch, op, site, into, count);
    links_poke_key(right + LINKS_LOW, tail.low);
    links_publish(batch, op, links_header(right), of_right.header, count + site->count - 1);
    ordo_fence_device();
    links_poke_key(line + LINKS_HIGH, tail.low);
    links_publish(batch, op, links_header(line), tail.header, 0);
    op->elements--;
    return true;
}

/* An operation that goes through two zombies makes the first lead past the second. Nobody else writes a zombie's link
 * but for this reason. After a few operations a chain of n zombies takes some log n steps. */
ORDO_FN void links_pass_zombie(const links_batch *batch, links_op *op, links_tail tail)
{
    const bool is_zombie = op->level == 0 && links_is_zombie(batch, op->at, tail);
    if (is_zombie && op->zombie != LINKS_NONE)
        ordo_poke(links_right(links_leaf(&batch->tree, op->zombie)), tail.right);
    op->zombie = is_zombie ? op->at : LINKS_NONE;
}

/* The level above lags behind. That is so, too, where an entry with the new node's key is there already: it is that of a leaf
 * which began at the same key, and has merged in this launch. Reclaim takes it away. */
ORDO_FN void links_tell_host(const links_batch *batch)
{
    ordo_store_relaxed(batch->tree.state + LINKS_SPLITS_PENDING, 1);
}

/* Whether the operation that split a node off tells the level above; if not, the host does, between launches. By the key that
 * the new node begins behind, and so the same in every run. */
ORDO_FN bool links_raises(const links_batch *batch, ordo_key_form key)
{
    if (LINKS_RAISE >= 100 || (links_fold(key) * 2654435761u >> 16) % 100 < LINKS_RAISE)
        return true;
    links_tell_host(batch);
    return false;
}

/* To be done before an operation's tries begin anew. */
ORDO_FN void links_count_restarts(const links_batch *batch, const links_op *op)
{
    if (op->tries)
        (void) ordo_add(batch->tree.state + LINKS_RESTARTS, op->tries);
}

/* Upsert, insert and erase, at the leaf that covers the key; above the leaves, the entry of a new node below. */
ORDO_FN uint links_write(const links_batch *batch, links_op *op, __global ordo_key_form *line, links_tail tail)
{
    links_site    site = { op->at, 0, tail.header & LINKS_COUNT_MASK, LINKS_NONE, 0 };
    column_keys   keys;
    ordo_key_form next;

    KEYS_DO(peek)(&keys, line + links_after_look(batch, tail.header), 0, LINKS_SLOTS);
    site.slot = column_place(&keys, links_key_of(op), &next);
    const bool found = next == links_key_of(op) && site.slot < site.count;
    const uint change = links_change(op, found), seen = site.slot ^ links_fold(next);

    if (change == CHANGE_NONE) {
        if (!links_unchanged(batch, line, tail, seen))
            return STEP_AGAIN;
        if (op->level == 0)
            return links_answer(batch, op, found);
        links_tell_host(batch);
        return STEP_DONE;
    }
    if (!links_latch(batch, op, links_header(line), tail.header, seen))
        return STEP_AGAIN;
    if (change == CHANGE_OPEN && site.count == LINKS_SLOTS && !links_make_room(batch, op, &keys, tail, &site)) {
        ordo_store_relaxed(links_header(line), tail.header); /* as it was */
        return STEP_STARVED;
    }
    if (change != CHANGE_CLOSE || !links_merge(batch, op, line, tail, &site))
        links_change_node(batch, op, &keys, tail, &site, change);
    if (op->level == 0)
        (void) links_answer(batch, op, found);
    if (site.fresh == LINKS_NONE || !links_raises(batch, site.middle))
        return STEP_DONE;
    links_count_restarts(batch, op);
    op->query = site.middle + 1; /* the node above that covers the new entry's key covers this query */
    op->child = site.fresh;
    op->level++;
    op->at = LINKS_NONE;
    op->tries = 0;
    links_delay(batch, op, 16);
    return STEP_ON;
}

/* A new root over the present one, whose level has split. */
ORDO_FN uint links_grow(const links_batch *batch, links_op *op, uint root)
{
    volatile __global uint *word = batch->tree.state + LINKS_ROOT;

    if ((root & LINKS_ROOT_LATCHED) || links_inject(op, 1, 4) ||
        ordo_cas(word, root, root | LINKS_ROOT_LATCHED) != root)
        return STEP_AGAIN;
    const uint node = links_new_node(batch, op, op->level);
    if (node == LINKS_NONE) {
        ordo_store_relaxed(word, root);
        return STEP_STARVED;
    }
    /* The root is the first node of its level, and covers all below the separator as well as any above it (B2). */
    __global ordo_key_form *line = links_inner(&batch->tree, node);
    const links_tail        tail = { 0, LINKS_UNUSED, LINKS_NONE, 2 };
    column_keys             keys;
    ORDO_UNROLL
    for (uint s = 0; s < LINKS_SLOTS; s++)
        keys.at[s] = s == 0 ? 0 : s == 1 ? op->query - 1 : LINKS_UNUSED;
    KEYS_DO(poke)(&keys, line, 0, LINKS_SLOTS);
    ordo_poke(links_children(&batch->tree, node), links_root_node(root));
    ordo_poke(links_children(&batch->tree, node) + 1, op->child);
    links_poke_tail(line, tail);
    links_delay(batch, op, 4);
    ordo_store_release(word, op->level << LINKS_LEVEL_SHIFT | node);
    return STEP_DONE;
}

/* ---- operations -------------------------------------------------------------------------------------------------- */

ORDO_FN uint links_restart(links_op *op)
{
    op->at = LINKS_NONE;
    op->lost = true;
#if LINKS_BY_FENCE
    ordo_fence_acquire(); /* the first-level cache may have led it there, and peeks alone do not get past it */
#endif
    return STEP_AGAIN;
}

ORDO_FN uint links_step(const links_batch *batch, links_op *op)
{
    if (op->at == LINKS_NONE) {
        /* A root of an earlier moment is as good: it is the first node of its level still. */
        const uint root = ordo_load_relaxed(batch->tree.state + LINKS_ROOT);
        if (op->level > links_root_level(root))
            return links_grow(batch, op, root);
        op->at = links_go_down(batch, op, root);
        op->zombie = LINKS_NONE;
        if (op->at == LINKS_NONE)
            return links_restart(op);
    }
    __global ordo_key_form *line = links_line(&batch->tree, op->level, op->at);
    const links_tail        tail = links_peek_tail(batch, op, line);

    if (tail.header == LINKS_FREE) /* an entry was read whose number was not there yet */
        return links_restart(op);
    if (tail.header & LINKS_LATCHED)
        return STEP_AGAIN;
    if (op->query > tail.high) {
        if (tail.right >= (op->level > 0 ? batch->inner_capacity : batch->leaf_capacity))
            return links_restart(op);
        links_pass_zombie(batch, op, tail);
        op->at = tail.right;
        return STEP_ON;
    }
    op->zombie = LINKS_NONE;
    if (op->query <= tail.low && (op->level > 0 || op->at > 0)) /* leaf 0 is the first one */
        return links_restart(op);
    if (op->level > 0 || CODE_UPDATES(op->code))
        return links_write(batch, op, line, tail);
    if (op->code <= CODE_SEEK_GT)
        return links_seek_on(batch, op, line, tail);
    return links_scan_on(batch, op, line, tail);
}

/* Sets up operation i from the batch. False if it is over before it has begun. */
ORDO_FN bool links_take(const links_batch *batch, links_op *op)
{
    op->code = batch->codes[op->i];
    op->count = 0;
    if (CODE_FINDS(op->code))
        return false;
    links_tick(batch, op, 0);
    if (op->code >= N_CONCURRENT_CODES) {
        links_outcome(batch, op, OUTCOME_UNKNOWN);
        return false;
    }
    op->query = key_bits(batch->keys[op->i]);
    if ((op->code == CODE_SEEK_LT && op->query == 0) || (op->code == CODE_SEEK_GT && op->query == LINKS_UNUSED)) {
        (void) links_answer_seek(batch, op, false, 0, 0);
        return false;
    }
    op->query += op->code == CODE_SEEK_GT;
    op->query -= op->code == CODE_SEEK_LT;
    if (op->code >= CODE_COUNT && op->query > key_bits(batch->his[op->i])) {
        if (batch->counts)
            batch->counts[op->i] = 0;
        links_outcome(batch, op, OUTCOME_DONE);
        return false;
    }
    return true;
}

/* Goes on with one that had given up: counts and ranges where they were. */
ORDO_FN void links_take_again(const links_batch *batch, links_op *op, uint4 left)
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

ORDO_FN void links_give_up(const links_batch *batch, const links_op *op, bool starved)
{
    __global uint *state = batch->tree.state;
    if (op->level > 0) { /* what it was to do is done; the entry in the level above is the host's to make */
        links_tell_host(batch);
        return;
    }
    if (starved && batch->final) {
        links_outcome(batch, op, OUTCOME_NOT_STORED);
        return;
    }
    if (starved)
        (void) ordo_add(state + LINKS_STARVED, 1);
    if (op->hops)
        ordo_store_relaxed(state + LINKS_MOVED, 1);
#if KEY_BITS == 32
    const uint upper = 0;
#else
    const uint upper = (uint) (op->query >> 32);
#endif
    batch->pending[ordo_add(state + LINKS_PENDING, 1)] = (uint4) (op->i, op->count, (uint) op->query, upper);
}

/* Its die falls otherwise in each launch: what fails once must not fail for ever. */
ORDO_FN void links_begin_torture(const links_batch *batch, links_op *op)
{
    if (LINKS_TORTURE)
        op->dice = (uint) get_global_id(0) * 2654435761u + ordo_add(batch->tree.state + LINKS_TICK, 1) * 40503u;
    if (LINKS_TORTURED(op, 32) && get_global_id(0) % 64 == 0)
        links_wait(batch, 1, ORDO_CPU ? 2000000 : 1000);
}

/* Where a work-item stands: in an operation, or before number `next` of the launch's. */
typedef struct {
    links_op op;
    ulong    next;
    uint     steps;
    bool     idle;
} links_turn;

/* Sets up the next operation; false if it is over at once. */
ORDO_FN bool links_next_op(const links_batch *batch, links_turn *turn, uint first, __global const uint4 *again)
{
    links_op *op = &turn->op;

    op->i = first + (uint) turn->next;
    op->level = op->tries = op->hops = 0;
    op->at = LINKS_NONE;
    op->lost = false;
    turn->next += get_global_size(0);
    if (!again)
        return links_take(batch, op);
    links_take_again(batch, op, again[op->i]);
    return true;
}

/* One step, of the operation under way or of the next one. False when all of this work-item's are over. */
ORDO_FN bool links_take_turn(const links_batch *batch, links_turn *turn, uint first, uint n,
                             __global const uint4 *again)
{
    links_op *op = &turn->op;

    if (turn->idle) {
        if (turn->next >= n)
            return false;
        turn->idle = !links_next_op(batch, turn, first, again);
        if (turn->idle)
            return true;
    }
    const uint came = turn->steps++ < LINKS_STEPS ? links_step(batch, op) : STEP_AGAIN;
    op->tries += came == STEP_AGAIN;
    turn->idle = came == STEP_DONE;
    if (came >= STEP_STARVED || op->tries > LINKS_TRIES(op) || turn->steps > LINKS_STEPS) {
        links_give_up(batch, op, came == STEP_STARVED);
        turn->idle = true;
    }
    if (turn->idle)
        links_count_restarts(batch, op);
    else if (came == STEP_AGAIN)
        ordo_pause();
    return true;
}

/* Lanes that may run independently of each other take their steps together all the same. Without that, lanes that
 * try for a latch again and again may keep the lane of their own that has it from going on: on an H200 some
 * operations in a million gave up after 1024 tries, 10 ms. Elsewhere lanes run in step, and the compiler is free to
 * choose a sub-group for which it has registers. */
#if SUBGROUP_MAY_PART && LINKS_GROUP % ORDO_SUBGROUP == 0
#define LINKS_ANY(more) subgroup_any(more)
#else
#define LINKS_ANY(more) (more)
#endif
#if ORDO_LANES == ORDO_LANES_KHR
#define LINKS_KERNEL __kernel __attribute__((reqd_work_group_size(LINKS_GROUP, 1, 1)))
#else
#define LINKS_KERNEL ORDO_KERNEL(LINKS_GROUP)
#endif

#if LINKS_TORTURE
#define LINKS_TORTURE_ARG  , uint torture
#define LINKS_TORTURE_HERE torture
#else
#define LINKS_TORTURE_ARG
#define LINKS_TORTURE_HERE 0
#endif

/* Operations first .. first + n - 1 of the batch; or, if `again` is there, of those that gave up in another launch.
 * `final`, `never`, `far`, `pending`, `history`: see links_batch. The state counts those that are put on `pending`. */
LINKS_KERNEL
void links_apply(LINKS_TREE, uint leaf_capacity, uint inner_capacity, uint first, uint n, uint final, uint never,
                 uint far, __global const uint4 *again, __global uint4 *pending, __global uint *history,
                 __global const uchar *codes, ulong codes_at, __global const ordo_key *keys, ulong keys_at,
                 __global const ordo_key *his, ulong his_at, __global const links_value *values, ulong values_at,
                 __global const ulong *rooms, ulong rooms_at, __global uchar *found, ulong found_at,
                 __global ordo_key *keys_out, ulong keys_out_at, __global links_value *values_out, ulong values_out_at,
                 __global uint *counts, ulong counts_at, __global uchar *outcomes, ulong outcomes_at,
                 __global ordo_key *range_keys, ulong range_keys_at, __global links_value *range_values,
                 ulong range_values_at, ulong range_capacity LINKS_TORTURE_ARG)
{
#define AT(array) (array ? array + array##_at : array)
    const links_batch batch = {
        .tree = LINKS_TREE_HERE,
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
    links_turn turn = { .next = get_global_id(0), .idle = true };

    turn.op.elements = 0;
    turn.op.torture = LINKS_TORTURE_HERE;
    links_begin_torture(&batch, &turn.op);
    for (bool more = true; LINKS_ANY(more);)
        if (more)
            more = links_take_turn(&batch, &turn, first, n, again);
    if (turn.op.elements)
        (void) ordo_add(state + LINKS_ELEMENTS, turn.op.elements);
}

#define TALLIES 5 /* struct tally of host/dict/links/concurrent.c */

/* tally: of a batch, how many operations store, count or range, range, erase, find. */
ORDO_KERNEL(LINKS_GROUP)
void links_tally(__global const uchar *codes, ulong codes_at, uint n, __global uint *tally)
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
    for (uint k = get_local_id(0); k < TALLIES; k += LINKS_GROUP)
        sums[k] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    ORDO_UNROLL
    for (uint k = 0; k < TALLIES; k++)
        if (of[k])
            (void) ordo_local_add(sums + k, of[k]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = get_local_id(0); k < TALLIES; k += LINKS_GROUP)
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

/* Of `count` operations that gave up (links_batch), those of a kind become a batch: operation p of it is number where[p] of
 * the batch that they come from. Of updates keys_out and more_out are keys and values; of counts, bounds, and before[p]
 * is what has been counted; of seeks, more_out is nothing. The others go to `rest`. taken: how many of both. values, his and
 * rooms may be NULL. */
ORDO_KERNEL(LINKS_GROUP)
void links_gather(__global const uint4 *left, uint count, uint kind, __global const uchar *codes, ulong codes_at,
                  __global const ordo_key *his, ulong his_at, __global const links_value *values, ulong values_at,
                  __global const ulong *rooms, ulong rooms_at, ulong range_capacity, __global uint *taken,
                  __global uint *where, __global uchar *codes_out, __global ordo_key *keys_out,
                  __global links_value *values_out, __global ordo_key *his_out, __global uint *before,
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
ORDO_KERNEL(LINKS_GROUP)
void links_scatter(uint count, __global const uint *where, __global const uchar *results, __global const ordo_key *keys,
                   __global const links_value *values, __global const uint *counted, __global const uint *before,
                   __global const uchar *codes, ulong codes_at, __global const ulong *rooms, ulong rooms_at,
                   ulong range_capacity, __global uchar *found, ulong found_at, __global ordo_key *keys_out,
                   ulong keys_out_at, __global links_value *values_out, ulong values_out_at, __global uint *counts,
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
