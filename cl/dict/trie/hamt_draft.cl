/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and changes a draft, a temporary trie of a concurrent batch's updates (shared/hamt_draft.h). Many work-items
 * may call these functions at once.
 *
 * All accesses are relaxed: each function changes one word by one atomic update, and no reader needs two words of one
 * moment. Keys and values do not change, and new nodes are 0 before the launch. */
#pragma once
#include "device/atomic.cl"
#include "dict/trie/hamt.cl"
#include "shared/hamt_draft.h"

/* Kernel parameters of a draft. `draft_keys` are the keys of the launch's operations. */
#define DRAFT_PARAMETERS                                                                                               \
    __global uint *draft_slots, __global uint *draft_nodes, __global uint *draft_leaves, __global uint *draft_state,   \
        uint draft_n_slots, uint draft_most_nodes, uint draft_most_leaves, __global const ordo_key *draft_keys,        \
        ulong draft_keys_at
#define DRAFT_HERE                                                                                                     \
    {                                                                                                                  \
        draft_slots, draft_nodes, draft_leaves, draft_state, draft_n_slots, draft_most_nodes, draft_most_leaves,       \
            draft_keys + draft_keys_at                                                                                 \
    }

typedef struct {
    volatile __global uint  *slots, *nodes, *leaves, *state;
    uint                     n_slots, most_nodes, most_leaves;
    __global const ordo_key *keys;
} hamt_draft;

/* Returns the index of the update that a slot's word describes. */
#define DRAFT_UPDATE(word)         (((word) >> 1) - 1)
#define DRAFT_WORD(update, erased) (((update) + 1) << 1 | ((erased) ? HAMT_ERASED : 0))

#define DRAFT_NO_SLOT 0xffffffffu

/* A slot and its word. If the word is 0, the draft lacks the key, and the key may claim the slot. The slot is
 * DRAFT_NO_SLOT if other keys have all slots that the key may claim. */
typedef struct {
    uint slot, word;
} draft_place;

/* Mixes the bits of a key. (Finalizer of MurmurHash3, by A. Appleby.) */
ORDO_FN uint draft_hash(ordo_key_form key)
{
    ulong x = key;
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdul;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ul;
    return (uint) (x >> 32);
}

ORDO_FN draft_place draft_find(const hamt_draft *d, ordo_key_form key)
{
    draft_place place = { DRAFT_NO_SLOT, 0 };
    uint        slot = mul_hi(draft_hash(key), d->n_slots);
    for (uint probe = 0; probe < min(d->n_slots, (uint) HAMT_PROBES); probe++) {
        const uint word = ordo_load_relaxed(d->slots + slot);
        if (word == 0 || key_bits(d->keys[DRAFT_UPDATE(word)]) == key) {
            place.slot = slot;
            place.word = word;
            break;
        }
        slot = slot + 1 < d->n_slots ? slot + 1 : 0;
    }
    return place;
}

/* Allocates a child of a node of `level`: a leaf if `level` is 0, else a node. Returns the word for the child, or 0 if
 * no memory is left. */
ORDO_FN uint draft_allocate(const hamt_draft *d, uint level)
{
    const uint child = ordo_add(d->state + (level == 0 ? HAMT_DRAFT_LEAVES : HAMT_DRAFT_NODES), 1);
    if (child >= (level == 0 ? d->most_leaves : d->most_nodes))
        return 0;
    if (level > 0)
        ordo_add(d->state + HAMT_DRAFT_LEVELS + level - 1, 1);
    return child + 1;
}

ORDO_FN volatile __global uint *draft_word(const hamt_draft *d, uint node, uint level, ordo_key_form key)
{
    return d->nodes + (ulong) node * HAMT_NODE + hamt_slot(key, level);
}

/* Sets the key's bit in its leaf. */
ORDO_FN void draft_mark(const hamt_draft *d, uint leaf, ordo_key_form key)
{
    const uint off = (uint) key & ((1u << HAMT_BITS) - 1);
    ordo_or(d->leaves + (ulong) leaf * HAMT_WORDS + off / 32, 1u << off % 32);
}
