/* SPDX-License-Identifier: Apache-2.0 */
/* Changes a node that the operation has latched. */
#pragma once
#include "dict/ltree/operation.cl"

#if ORDO_VALUE_BYTES == 16
typedef ulong2        wide_value;
typedef column_ulong2 column_values;
#define VALUES_DO(verb) column_##verb##_ulong2
#else
typedef ulong        wide_value;
typedef column_ulong column_values;
#define VALUES_DO(verb) column_##verb##_ulong
#endif

/* Changes the children of an inner node, or the values of a leaf. Inserts `child` or `value` at `slot` if `open` is
 * true, else removes the child or value at `slot`. */
ORDO_FN void ltree_shift_beside(const ltree_tree *tree, uint level, uint node, uint slot, uint count, bool open,
                                uint child, ltree_value value)
{
    if (WORDS_BESIDE(level)) {
        __global uint *words = ltree_words_beside(tree, level, node);
        column_uint    c;
        column_load_uncached_uint(&c, words, slot, count + open);
        column_shift_uint(&c, slot, open, level > 0 ? child : VALUE_WORD(value));
        column_store_uncached_uint(&c, words, slot, count + open);
    }
    if (VALUES_BESIDE(level)) {
        __global wide_value *values = (__global wide_value *) ltree_values(tree, node);
        column_values        c;
        VALUES_DO(load_uncached)(&c, values, slot, count + open);
        VALUES_DO(shift)(&c, slot, open, value);
        VALUES_DO(store_uncached)(&c, values, slot, count + open);
    }
}

ORDO_FN void ltree_halve_beside(const ltree_tree *tree, uint level, uint node, uint into)
{
    if (WORDS_BESIDE(level)) {
        column_uint c;
        column_load_uncached_uint(&c, ltree_words_beside(tree, level, node), LTREE_HALF, LTREE_SLOTS);
        column_keep_uint(&c, true, LTREE_NONE);
        column_store_uncached_uint(&c, ltree_words_beside(tree, level, into), 0, LTREE_HALF);
    }
    if (VALUES_BESIDE(level)) {
        column_values c;
        VALUES_DO(load_uncached)(&c, (__global const wide_value *) ltree_values(tree, node), LTREE_HALF, LTREE_SLOTS);
        VALUES_DO(keep)(&c, true, 0);
        VALUES_DO(store_uncached)(&c, (__global wide_value *) ltree_values(tree, into), 0, LTREE_HALF);
    }
}

/* Returns LTREE_NONE if no node is free. */
ORDO_FN uint ltree_new_node(const ltree_batch *batch, ltree_op *op, uint level)
{
    __global uint *taken = batch->tree.state + (level > 0 ? LTREE_INNER : LTREE_LEAVES);
    const uint     capacity = level > 0 ? batch->inner_capacity : batch->leaf_capacity;
    uint           node = capacity;

    if (concurrent_strikes(&op->faults, FAULT_NODES, 8) ||
        (level > 0 && concurrent_strikes(&op->faults, FAULT_NO_INNER, 1)))
        return LTREE_NONE;
    if (apart_leads() && ordo_load_relaxed(taken) < capacity) {
        node = ordo_add(taken, 1);
        if (node >= capacity)
            (void) ordo_add(taken, -1);
    }
    node = apart_first(node);
    return node < capacity ? node : LTREE_NONE;
}

/* Latches a node if its header still equals `was`. The caller must compute `seen` from the words that it has loaded
 * from the node. The device then cannot latch the node before these loads. */
ORDO_FN bool ltree_latch(const ltree_batch *batch, ltree_op *op, __global uint *header, uint was, uint seen)
{
    ltree_delay(batch, op, FAULT_SLOW_LOOKS);
    if (concurrent_strikes(&op->faults, FAULT_LATCHES, 8))
        return false;
    const uint after = ltree_before_look(batch, seen);
    apart_sync();
    if (ltree_cas(header + after, was, was | LTREE_LATCHED) != was)
        return false;
    apart_sync();
    if (LTREE_BY_FENCE)
        ordo_fence_device(); /* Other teams must see the latch before any store of this change. */
    return true;
}

ORDO_FN void ltree_publish(const ltree_batch *batch, ltree_op *op, __global uint *header, uint was, uint count)
{
    ltree_delay(batch, op, FAULT_SLOW_STORES);
    apart_sync();
    if (apart_leads())
        ordo_store_release(header, ((was + LTREE_VERSION_ONE) & LTREE_VERSION_MASK) | count);
}

/* Clears the latch of a new node. */
ORDO_FN void ltree_open(__global uint *header, uint count)
{
    apart_sync();
    if (!apart_leads())
        return;
    if (LTREE_BY_FENCE)
        ordo_store_release(header, count);
    else
        ordo_store_relaxed(header, count);
}

ORDO_FN void ltree_store_uncached_tail(__global ordo_key_form *line, ltree_tail tail)
{
    if (!apart_leads())
        return;
#if KEY_BITS == 32
    ordo_store_uncached128((__global uint *) (line + LTREE_LOW),
                           (uint4) (tail.low, tail.right, tail.header, tail.high));
#elif KEY_BITS == 128
    ltree_store_uncached_key(line + LTREE_LOW, tail.low);
    ordo_store_uncached(ltree_right(line), tail.right);
    ordo_store_uncached(ltree_header(line), tail.header);
    ltree_store_uncached_key(line + LTREE_HIGH, tail.high);
#else
    ordo_store_uncached128((__global uint *) (line + LTREE_LOW), as_uint4((ulong2) (tail.low, tail.right)));
    ordo_store_uncached128((__global uint *) (line + LTREE_HEADER), as_uint4((ulong2) (tail.header, tail.high)));
#endif
}

/* Moves the upper half of a full, latched node to the new node `into`. `middle` becomes the bound between the two
 * nodes. The new node stays latched, because other operations may follow the link to it at once. */
ORDO_FN void ltree_split(const ltree_batch *batch, ltree_op *op, const column_keys *keys, ltree_tail tail,
                         ordo_key_form middle, uint into)
{
    __global ordo_key_form *left = ltree_line(&batch->tree, op->level, op->at);
    __global ordo_key_form *right = ltree_line(&batch->tree, op->level, into);
    const ltree_tail        of_right = { middle, tail.high, tail.right, LTREE_HALF | LTREE_LATCHED };
    column_keys             part = *keys;

    KEYS_DO(keep)(&part, true, LTREE_UNUSED);
    KEYS_DO(store_uncached)(&part, right, 0, LTREE_SLOTS);
    part = *keys;
    KEYS_DO(keep)(&part, false, LTREE_UNUSED);
    KEYS_DO(store_uncached)(&part, left, LTREE_HALF, LTREE_SLOTS);
    ltree_halve_beside(&batch->tree, op->level, op->at, into);
    ltree_store_uncached_tail(right, of_right);
    ltree_delay(batch, op, FAULT_SLOW_STORES);
    ltree_store_uncached_word(ltree_right(left), into);
    ltree_store_uncached_key(left + LTREE_HIGH, middle);
}

ORDO_FN ordo_key_form ltree_key_of(const ltree_op *op)
{
    return op->level > 0 ? key_minus(op->query, LTREE_WORD(1)) : op->query;
}

#define CHANGE_NONE  0
#define CHANGE_VALUE 1
#define CHANGE_OPEN  2
#define CHANGE_CLOSE 3

ORDO_FN uint ltree_change(const ltree_op *op, bool found)
{
    if (op->level == 0 && op->code == CODE_ERASE)
        return found ? CHANGE_CLOSE : CHANGE_NONE;
    if (!found)
        return CHANGE_OPEN;
    return HAS_VALUES && op->level == 0 && op->code == CODE_UPSERT ? CHANGE_VALUE : CHANGE_NONE;
}

typedef struct {
    uint          node, slot, count;
    uint          fresh;
    ordo_key_form middle;
} ltree_site;

ORDO_FN bool ltree_make_room(const ltree_batch *batch, ltree_op *op, column_keys *keys, ltree_tail tail,
                             ltree_site *site)
{
    site->fresh = ltree_new_node(batch, op, op->level);
    if (site->fresh == LTREE_NONE)
        return false;
    const bool          upper = site->slot > LTREE_HALF || (site->slot == LTREE_HALF && op->level == 0);
    const ordo_key_form last = KEYS_DO(at)(keys, LTREE_HALF - 1), first = KEYS_DO(at)(keys, LTREE_HALF);
    site->middle = op->level > 0 ? first : last;
    ltree_split(batch, op, keys, tail, site->middle, site->fresh);
    site->node = upper ? site->fresh : site->node;
    KEYS_DO(load_uncached)(keys, ltree_line(&batch->tree, op->level, site->node), 0, LTREE_HALF);
    KEYS_DO(keep)(keys, false, LTREE_UNUSED);
    site->slot -= upper ? LTREE_HALF : 0;
    site->count = LTREE_HALF;
    return true;
}

ORDO_FN ltree_value ltree_stored_value(const ltree_batch *batch, const ltree_op *op)
{
#if TEAM_WIDTH > 1
    return op->value;
#else
    return batch->values[op->i];
#endif
}

ORDO_FN void ltree_change_node(const ltree_batch *batch, ltree_op *op, column_keys *keys, ltree_tail tail,
                               const ltree_site *site, uint change)
{
    const ltree_tree       *tree = &batch->tree;
    __global ordo_key_form *home = ltree_line(tree, op->level, op->at);
    __global ordo_key_form *line = ltree_line(tree, op->level, site->node);
    const bool              open = change == CHANGE_OPEN;
    ltree_value             value = 0;

    if (HAS_VALUES && op->level == 0 && change != CHANGE_CLOSE)
        value = ltree_stored_value(batch, op);
    if (change == CHANGE_VALUE)
        ltree_store_uncached_value(ltree_values(tree, site->node) + site->slot, value);
    if (change != CHANGE_VALUE) {
        KEYS_DO(shift)(keys, site->slot, open, open ? ltree_key_of(op) : LTREE_UNUSED);
        KEYS_DO(store_uncached)(keys, line, site->slot, site->count + open);
        ltree_delay(batch, op, FAULT_SLOW_STORES);
        ltree_shift_beside(tree, op->level, site->node, site->slot, site->count, open, op->child, value);
    }
    const uint count = site->count + open - (change == CHANGE_CLOSE);
    if (site->fresh != LTREE_NONE)
        ltree_open(ltree_header(ltree_line(tree, op->level, site->fresh)), line != home ? count : LTREE_HALF);
    ltree_publish(batch, op, ltree_header(home), tail.header, line != home ? LTREE_HALF : count);
    if (op->level == 0)
        op->elements += open - (change == CHANGE_CLOSE);
}
