/* SPDX-License-Identifier: Apache-2.0 */
/* Searches a draft (shared/draft.h). All accesses are relaxed, because each update changes one slot by one atomic
 * operation, and no reader needs a consistent view of two slots. */
#pragma once
#include "device/atomic.cl"
#include "dict/each.cl"
#include "shared/draft.h"
#include "shared/key.h"

/* draft_keys[draft_keys_at + i] is the key of operation i of the launch. */
#define DRAFT_TABLE                                                                                                    \
    __global uint *draft_slots, uint draft_n_slots, __global const ordo_key *draft_keys, ulong draft_keys_at
#define DRAFT_TABLE_HERE                                                                                               \
    {                                                                                                                  \
        draft_slots, draft_n_slots, draft_keys + draft_keys_at                                                         \
    }

typedef struct {
    volatile __global uint  *slots;
    uint                     n_slots;
    __global const ordo_key *keys;
} draft_table;

#define DRAFT_UPDATE(word)         (((word) >> 1) - 1)
#define DRAFT_WORD(update, erased) (((update) + 1) << 1 | ((erased) ? DRAFT_ERASED : 0))

#define DRAFT_NO_SLOT 0xffffffffu

/* Result of the search for a key: its slot, and the slot's content `word`. A key without a slot gets an unused slot, or
 * DRAFT_NO_SLOT if there is none. `word` is then 0. */
typedef struct {
    uint slot, word;
} draft_place;

/* Finalizer of MurmurHash3, by A. Appleby. */
ORDO_FN uint draft_hash(ordo_key_form key)
{
    ulong x = key;
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdul;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ul;
    return (uint) (x >> 32);
}

ORDO_FN draft_place draft_find(const draft_table *d, ordo_key_form key)
{
    draft_place place = { DRAFT_NO_SLOT, 0 };
    uint        slot = mul_hi(draft_hash(key), d->n_slots);
    for (uint probe = 0; probe < min(d->n_slots, (uint) DRAFT_PROBES); probe++) {
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
