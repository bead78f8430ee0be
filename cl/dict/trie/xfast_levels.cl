/* SPDX-License-Identifier: Apache-2.0 */
/* Searches and fills the level tables (shared/xfast.h). */
#pragma once
#include "device/atomic.cl"
#include "dict/hash/table.cl"
#include "shared/xfast.h"

typedef struct {
    ordo_key_form word;
    uint          first, end;
} xfast_slot;

ORDO_STATIC_ASSERT(sizeof(xfast_slot) == XFAST_SLOT_BYTES(KEY_BITS / 8), "the host allocates slots of this size");

#define XFAST_TABLE __global xfast_slot *table_slots, ulong table_seed
#define XFAST_TABLE_HERE                                                                                               \
    {                                                                                                                  \
        table_slots, table_seed                                                                                        \
    }

typedef struct {
    __global xfast_slot *slots;
    ulong                seed;
} xfast_table;

typedef struct {
    ulong first, n;
} xfast_level;

ORDO_FN xfast_level xfast_level_of(const xfast_shape *shape, uint length)
{
    const uint  number = (length - shape->flat_bits) / shape->group;
    const ulong most = 2ul * shape->count;
    xfast_level level = { 2 * most + (number - 1 - shape->small) * most, most };
    if (number <= shape->small)
        level.first = level.n = 2ul << length;
    return level;
}

ORDO_FN ulong xfast_home(const xfast_table *table, const xfast_level *level, ordo_key_form word)
{
    return (ulong) (uint) (hash_mix(word, table->seed) >> (KEY_BITS - 32)) * level->n >> 32;
}

ORDO_FN bool xfast_level_lookup(const xfast_table *table, const xfast_shape *shape, uint length, ordo_key_form word,
                                xfast_range *leaves)
{
    const xfast_level level = xfast_level_of(shape, length);
    ulong             at = xfast_home(table, &level, word);
    for (ulong probe = 0; probe < level.n; probe++) {
        const xfast_slot slot = table->slots[level.first + at];
        if (slot.end == 0)
            return false;
        if (slot.word == word) {
            leaves->first = slot.first;
            leaves->end = slot.end;
            return true;
        }
        at = at + 1 < level.n ? at + 1 : 0;
    }
    return false;
}

/* Work-items may put distinct prefixes at the same time, but no work-item may search meanwhile. */
ORDO_FN void xfast_level_put(const xfast_table *table, const xfast_shape *shape, uint length, ordo_key_form word,
                             xfast_range leaves)
{
    const xfast_level level = xfast_level_of(shape, length);
    ulong             at = xfast_home(table, &level, word);
    for (ulong probe = 0; probe < level.n; probe++) {
        __global xfast_slot *slot = table->slots + level.first + at;
        if (ordo_cas(&slot->end, 0, leaves.end) == 0) {
            slot->word = word;
            slot->first = leaves.first;
            return;
        }
        at = at + 1 < level.n ? at + 1 : 0;
    }
}
