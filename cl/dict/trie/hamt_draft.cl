/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and changes a draft's trie (shared/hamt_draft.h). All accesses are relaxed: each function changes one word by
 * one atomic operation, and no reader needs a consistent view of two words. */
#pragma once
#include "device/atomic.cl"
#include "dict/trie/hamt.cl"
#include "shared/hamt_draft.h"

#define HAMT_DRAFT                                                                                                     \
    __global uint *draft_nodes, __global uint *draft_leaves, uint draft_most_nodes, uint draft_most_leaves
#define HAMT_DRAFT_HERE                                                                                                \
    {                                                                                                                  \
        draft_nodes, draft_leaves, draft_most_nodes, draft_most_leaves                                                 \
    }

typedef struct {
    volatile __global uint *nodes, *leaves;
    uint                    most_nodes, most_leaves;
} hamt_draft;

/* Allocates a child: a leaf if `level` is 0, else a node. Returns the word that the parent stores, or 0 if memory
 * is short. */
ORDO_FN uint hamt_draft_allocate(const hamt_draft *d, volatile __global uint *state, uint level)
{
    const uint child = ordo_add(state + (level == 0 ? HAMT_DRAFT_LEAVES : HAMT_DRAFT_NODES), 1);
    if (child >= (level == 0 ? d->most_leaves : d->most_nodes))
        return 0;
    if (level > 0)
        ordo_add(state + HAMT_DRAFT_LEVELS + level - 1, 1);
    return child + 1;
}

ORDO_FN volatile __global uint *hamt_draft_child(const hamt_draft *d, uint node, uint level, ordo_key_form key)
{
    return d->nodes + (ulong) node * HAMT_NODE + hamt_slot(key, level);
}

ORDO_FN void hamt_draft_mark(const hamt_draft *d, uint leaf, ordo_key_form key)
{
    const uint off = (uint) key & ((1u << HAMT_BITS) - 1);
    ordo_or(d->leaves + (ulong) leaf * HAMT_WORDS + off / 32, 1u << off % 32);
}
