/* SPDX-License-Identifier: Apache-2.0 */
/* The descent with latch coupling (tunable links.coupled), a baseline of papers. Each operation, also a query, latches
 * every node on its way from the root, and then releases the node before. It never waits: if it cannot latch a node, it
 * releases the node before, and the next step starts at the root. */
#pragma once
#include "dict/ltree/change.cl"

#define COUPLED_HOPS 1024

/* `was` is the header's value before the latch. */
typedef struct {
    volatile __global uint *header;
    uint                    was;
} ltree_held;

ORDO_FN void ltree_let_go(ltree_held *held)
{
    apart_sync();
    if (held->header && apart_leads())
        ordo_store_release(held->header, held->was);
    held->header = 0;
}

/* Latches a node, then releases the node in `held`. Returns false if the node is latched already. */
ORDO_FN bool ltree_hand_over(const ltree_batch *batch, ltree_op *op, __global ordo_key_form *line, ltree_held *held,
                             ltree_tail *tail)
{
    *tail = ltree_load_uncached_tail(batch, op, line);
    const uint seen = ltree_fold(tail->low) ^ ltree_fold(tail->high) ^ tail->right;
    const bool latched =
        !(tail->header & LTREE_LATCHED) && ltree_latch(batch, op, ltree_header(line), tail->header, seen);
    ltree_let_go(held);
    if (latched) {
        held->header = ltree_header(line);
        held->was = tail->header;
    }
    return latched;
}

/* Descends to the node of op->level that covers the query, and sets op->at to it. Returns false without a latch if a
 * node was latched, or if a stale word misled the descent. */
ORDO_FN bool ltree_go_down_coupled(const ltree_batch *batch, ltree_op *op, uint root, ltree_held *held,
                                   ltree_tail *tail)
{
    const ltree_tree *tree = &batch->tree;
    uint              level = ltree_root_level(root), node = ltree_root_node(root);

    op->parent = op->zombie = LTREE_NONE;
    for (uint hops = 0; hops < COUPLED_HOPS; hops++) {
        if (node >= (level > 0 ? batch->inner_capacity : batch->leaf_capacity) ||
            !ltree_hand_over(batch, op, ltree_line(tree, level, node), held, tail))
            break;
        if (key_before(tail->high, op->query)) {
            node = tail->right;
            continue;
        }
        if (node > 0 && key_upto(op->query, tail->low) && level == op->level)
            break;
        if (level == op->level) {
            op->at = node;
            return true;
        }
        const ltree_way way = ltree_look_for_way(tree, node, op->query, true);
        level -= !way.beyond;
        node = way.next;
    }
    ltree_let_go(held);
    return false;
}
