/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "dict/ltree/change.cl"

#if TEAM_WIDTH == 1
ORDO_FN void ltree_move_element(const ltree_batch *batch, uint from, uint slot, uint into, uint to)
{
    const ltree_tree *tree = &batch->tree;
    ltree_store_uncached_key(ltree_leaf(tree, into) + to, ltree_load_uncached_key(ltree_leaf(tree, from) + slot));
    if (HAS_VALUES)
        ltree_store_uncached_value(ltree_values(tree, into) + to,
                                   ltree_load_uncached_value(ltree_values(tree, from) + slot));
}

/* Moves the elements of leaf op->at, except the erased one in site->slot, to leaf `into`, in front of its `count`
 * elements. Both leaves are latched. */
ORDO_FN void ltree_move_all(const ltree_batch *batch, ltree_op *op, const ltree_site *site, uint into, uint count)
{
    for (uint slot = site->count > 1 ? count : 0; slot-- > 0;)
        ltree_move_element(batch, into, slot, into, slot + site->count - 1);
    ltree_delay(batch, op, FAULT_SLOW_STORES);
    for (uint slot = 0; slot < site->count; slot++)
        if (slot != site->slot)
            ltree_move_element(batch, op->at, slot, into, slot - (slot > site->slot));
}
#else
ORDO_FN void ltree_move_all(const ltree_batch *batch, ltree_op *op, const ltree_site *site, uint into, uint count)
{
    const ltree_tree *tree = &batch->tree;

    KEYS_DO(merge)(ltree_leaf(tree, op->at), site->slot, site->count, ltree_leaf(tree, into), count);
    ltree_delay(batch, op, FAULT_SLOW_STORES);
#if ORDO_VALUE_BYTES == 4
    column_merge_uint(ltree_values(tree, op->at), site->slot, site->count, ltree_values(tree, into), count);
#elif ORDO_VALUE_BYTES == 8
    column_merge_ulong(ltree_values(tree, op->at), site->slot, site->count, ltree_values(tree, into), count);
#elif ORDO_VALUE_BYTES == 16
    column_merge_ulong2(ltree_values(tree, op->at), site->slot, site->count, ltree_values(tree, into), count);
#endif
}
#endif

/* A zombie (a leaf that a merge has emptied) has equal low and high bounds. But a writer may have changed the bounds
 * between their loads, so the leaf must also be empty, and its header unchanged. */
ORDO_FN bool ltree_is_zombie(const ltree_batch *batch, uint leaf, ltree_tail tail)
{
    const uint seen = ltree_fold(tail.low) ^ ltree_fold(tail.high) ^ tail.right;

    return LTREE_MERGE && (tail.header & LTREE_COUNT_MASK) == 0 && ltree_is_dead(leaf, tail.low, tail.high) &&
           ltree_unchanged(batch, ltree_leaf(&batch->tree, leaf), tail, seen);
}

/* Tries to latch the right neighbour of a latched leaf. Fails if `kept` more elements do not fit into the neighbour. If
 * the neighbour is a zombie (a leaf that a merge has emptied), unlinks it from the list of leaves and fails. */
ORDO_FN bool ltree_latch_neighbour(const ltree_batch *batch, ltree_op *op, __global ordo_key_form *line,
                                   __global ordo_key_form *right, uint into, uint kept, ltree_tail *of_right)
{
    const ltree_tail tail = ltree_load_uncached_tail(batch, op, right);
    const uint       count = tail.header & LTREE_COUNT_MASK;

    if ((tail.header & LTREE_LATCHED) != 0)
        return false;
    if (ltree_is_zombie(batch, into, tail)) {
        ltree_store_uncached_word(ltree_right(line), tail.right);
        return false;
    }
    if (kept + count > (kept ? LTREE_MERGED : LTREE_SLOTS) || concurrent_strikes(&op->faults, FAULT_LATCHES, 8) ||
        ltree_cas(ltree_header(right), tail.header, tail.header | LTREE_LATCHED) != tail.header)
        return false;
    *of_right = tail;
    return true;
}

/* Erases the element in site->slot, and moves the other elements to the right neighbour. Releases the neighbour before
 * it empties this leaf. So at any time, a search finds each moved element in one of the two leaves. Returns false if
 * the leaves were not merged. */
ORDO_FN bool ltree_merge(const ltree_batch *batch, ltree_op *op, __global ordo_key_form *line, ltree_tail tail,
                         const ltree_site *site)
{
    const uint into = tail.right;
    ltree_tail of_right;

    if (!LTREE_MERGE || site->count > LTREE_SPARSE || op->at == 0 || into >= batch->leaf_capacity)
        return false;
    __global ordo_key_form *right = ltree_leaf(&batch->tree, into);
    if (!ltree_latch_neighbour(batch, op, line, right, into, site->count - 1, &of_right))
        return false;
    ltree_fence();
    const uint count = of_right.header & LTREE_COUNT_MASK;
    if (apart_leads())
        (void) ordo_add(batch->tree.state + LTREE_ZOMBIES, 1);
    ltree_move_all(batch, op, site, into, count);
    ltree_store_uncached_key(right + LTREE_LOW, tail.low);
    ltree_publish(batch, op, ltree_header(right), of_right.header, count + site->count - 1);
    ltree_fence();
    ltree_store_uncached_key(line + LTREE_HIGH, tail.low);
    ltree_publish(batch, op, ltree_header(line), tail.header, 0);
    op->elements--;
    return true;
}

/* If an operation passes two zombies (leaves that merges have emptied) in succession, makes the link of the first one
 * skip the second one. No other function writes a zombie's link. */
ORDO_FN void ltree_pass_zombie(const ltree_batch *batch, ltree_op *op, ltree_tail tail)
{
    const bool is_zombie = op->level == 0 && ltree_is_zombie(batch, op->at, tail);
    if (is_zombie && op->zombie != LTREE_NONE)
        ltree_store_uncached_word(ltree_right(ltree_leaf(&batch->tree, op->zombie)), tail.right);
    op->zombie = is_zombie ? op->at : LTREE_NONE;
}
