/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that find and erase keys. On CPUs, a work-item handles HASH_IN_FLIGHT keys at a time, so that their memory
 * accesses overlap. */
#pragma once
#include "dict/each.cl"
#include "dict/hash/filter.cl"

#if ORDO_CPU
#define HASH_IN_FLIGHT HASH_CPU_IN_FLIGHT
#else
#define HASH_IN_FLIGHT 1
#endif

/* The keys that a work-item handles at a time. The partition of key i has buckets[i] buckets, from bucket start[i]
 * on. */
typedef struct {
    uint     at, n;
    ordo_key mixed[HASH_IN_FLIGHT];
    uint     start[HASH_IN_FLIGHT], buckets[HASH_IN_FLIGHT];
} hash_block;

#if ORDO_CPU
#define HASH_EACH_IN_BLOCK(i, block) for (uint i = 0; i < (block).n; i++)
#else
#define HASH_EACH_IN_BLOCK(i, block) for (uint i = 0, i##_left = 1; i##_left; i##_left = 0)
#endif

#if ORDO_CPU
#define HASH_BLOCKS(n)    ((n) / HASH_IN_FLIGHT + ((n) % HASH_IN_FLIGHT != 0))
#define HASH_SHARE(n, of) ((uint) ((ulong) HASH_BLOCKS(n) * (of) / get_global_size(0)))
#define HASH_EACH_BLOCK(block, n)                                                                                      \
    for (uint block = HASH_SHARE(n, get_global_id(0)), block##_end = HASH_SHARE(n, get_global_id(0) + 1);              \
         block < block##_end; block++)
#else
#define HASH_EACH_BLOCK(block, n) RUN_EACH (uint, block, n)
#endif

ORDO_FN void hash_prefetch(const hash_table *table, uint bucket)
{
    ORDO_PREFETCH(hash_keys(table, bucket));
#if ORDO_VALUE_BYTES && HASH_SLOTS * (KEY_BITS / 8 + ORDO_VALUE_BYTES) > 64
    ORDO_PREFETCH(hash_values(table, bucket));
#endif
}

ORDO_FN void hash_load_block(const hash_table *table, __global const ordo_key *keys, uint b, uint n,
                             __private hash_block *block)
{
    block->at = b * HASH_IN_FLIGHT;
    block->n = min(n - block->at, (uint) HASH_IN_FLIGHT);
    HASH_EACH_IN_BLOCK(i, *block)
    {
        const ordo_key mixed = hash_mix(keys[block->at + i], table->seed);
        const uint     p = hash_partition(mixed, table->bits);
        block->mixed[i] = mixed;
        block->start[i] = table->starts[p];
        block->buckets[i] = table->starts[p + 1] - block->start[i];
    }
}

ORDO_FN uint hash_home_of(const hash_table *table, const __private hash_block *block, uint i)
{
    return block->start[i] + hash_home(block->mixed[i], table->bits, block->buckets[i]);
}

#if ORDO_CPU
typedef struct {
    uint n, i[HASH_IN_FLIGHT];
} hash_list;

ORDO_FN void hash_list_if(__private hash_list *list, uint i, bool wanted)
{
    list->i[list->n] = i;
    list->n += wanted;
}

ORDO_FN void hash_look_into(const hash_table *table, const __private hash_block *block, __private hash_place *places,
                            const __private hash_list *look)
{
    for (uint k = 0; k < look->n; k++)
        hash_prefetch(table, places[look->i[k]].bucket);
    for (uint k = 0; k < look->n; k++) {
        __private hash_place *place = &places[look->i[k]];
        place->slot = hash_slot_of(table, place->bucket, block->mixed[look->i[k]]);
    }
}

ORDO_FN bool hash_may_have(uint filter, ordo_key mixed)
{
    return (~filter & hash_filter_of(mixed)) == 0;
}

/* Searches the home bucket of each key. If `sift` is true, skips buckets whose filter shows that the key is absent.
 * Lists in `on` the keys that may be in another bucket. */
ORDO_FN void hash_look_first(const hash_table *table, const __private hash_block *block, __private hash_place *places,
                             bool sift, __private hash_list *on)
{
    __global const uint *filters = hash_filters(table);
    hash_list            look;

    for (uint i = 0; i < block->n; i++) {
        places[i].bucket = hash_home_of(table, block, i);
        places[i].slot = HASH_NONE;
        hash_prefetch_filter(table, places[i].bucket);
    }
    look.n = on->n = 0;
    for (uint i = 0; i < block->n; i++) {
        const uint filter = filters[places[i].bucket];
        const bool there = block->buckets[i] != 0, may = !sift | hash_may_have(filter, block->mixed[i]);
        hash_list_if(&look, i, there & may);
        hash_list_if(on, i, there & !may & filter >> 31);
    }
    hash_look_into(table, block, places, &look);
    for (uint k = 0; k < look.n; k++) {
        const uint       i = look.i[k];
        const hash_place place = places[i];
        hash_list_if(on, i, (place.slot == HASH_NONE) & filters[place.bucket] >> 31);
    }
}

ORDO_FN void hash_look_second(const hash_table *table, const __private hash_block *block, __private hash_place *places,
                              __private hash_list *on)
{
    __global const uint *filters = hash_filters(table);
    hash_list            look;
    bool                 scan[HASH_IN_FLIGHT];

    for (uint k = 0; k < on->n; k++) {
        const uint i = on->i[k], start = block->start[i], home = places[i].bucket - start;
        scan[k] = table->spills[places[i].bucket] == HASH_SCAN;
        places[i].bucket = start + hash_second(block->mixed[i], home, block->buckets[i]);
        hash_prefetch_filter(table, places[i].bucket);
    }
    look.n = 0;
    for (uint k = 0; k < on->n; k++) {
        const uint i = on->i[k];
        if (scan[k])
            places[i] = hash_find_stashed(table, block->start[i], block->buckets[i], block->mixed[i]);
        else
            hash_list_if(&look, i, hash_may_have(filters[places[i].bucket], block->mixed[i]));
    }
    hash_look_into(table, block, places, &look);
}
#endif

ORDO_FN void hash_look_up(const hash_table *table, const __private hash_block *block, bool sift,
                          __private hash_place *places)
{
#if ORDO_CPU
    hash_list on;
    hash_look_first(table, block, places, sift, &on);
    hash_look_second(table, block, places, &on);
#else
    const hash_place none = { 0, HASH_NONE };
    places[0] = block->buckets[0] ? hash_look(table, block->start[0], block->buckets[0], block->mixed[0]) : none;
#endif
}

ORDO_KERNEL(RUN_GROUP)
void hash_find(HASH_TABLE, __global const ordo_key *keys, ulong keys_at, uint n, __global hash_value *values_out,
               ulong values_out_at, __global uchar *found, ulong found_at)
{
    const hash_table table = HASH_TABLE_HERE;
    if (!table.starts) {
        RUN_EACH (uint, i, n)
            if (found)
                found[found_at + i] = 0;
        return;
    }
    bool sift = true;
    HASH_EACH_BLOCK (b, n) {
        hash_block block;
        hash_place places[HASH_IN_FLIGHT];
        uint       n_found = 0;
        hash_load_block(&table, keys + keys_at, b, n, &block);
        hash_look_up(&table, &block, sift, places);
        HASH_EACH_IN_BLOCK(i, block)
        {
            const hash_place place = places[i];
            n_found += place.slot != HASH_NONE;
#if ORDO_VALUE_BYTES
            if (values_out && place.slot != HASH_NONE)
                values_out[values_out_at + block.at + i] = hash_values(&table, place.bucket)[place.slot];
#endif
            if (found)
                found[found_at + block.at + i] = place.slot != HASH_NONE;
        }
        sift = 2 * n_found < block.n;
    }
}

/* Empties the slot of a key. If several work-items erase the key, only one call returns true. That work-item must
 * update the counts. */
ORDO_FN bool hash_empty_slot(const hash_table *table, volatile __global uint *word, ordo_key mixed)
{
    const uint upper = key_digit(mixed, KEY_BITS - 32, ~0u);
    const uint empty = key_digit(hash_empty(hash_partition(mixed, table->bits), table->bits), KEY_BITS - 32, ~0u);
    if (ordo_cas(word, upper, empty) != upper)
        return false;
    ORDO_UNROLL
    for (uint w = 1; w < KEY_BITS / 32; w++)
        ordo_store_uncached(word - w, 0u);
    return true;
}

ORDO_FN bool hash_take(const hash_table *table, uint bucket, ordo_key mixed, __private hash_changed *changed)
{
    volatile __global uint *words = (volatile __global uint *) hash_keys(table, bucket);
    bool                    taken = false;
    for (uint i = 0; i < HASH_SLOTS * KEY_BITS / 32 && !taken; i += 4) {
        const uint4 line = ordo_load_uncached128(words + i);
#if KEY_BITS == 32
        const uint slot = line.s0 == mixed ? 0 : line.s1 == mixed ? 1 : line.s2 == mixed ? 2 : line.s3 == mixed ? 3 : 4;
        if (slot < 4)
            taken = hash_empty_slot(table, words + i + slot, mixed);
#elif KEY_BITS == 128
        taken = key_same(as_ulong2(line), mixed) && hash_empty_slot(table, words + i + 3, mixed);
#else
        /* `line` has two slots. If another work-item empties the first slot during the load, its old upper word and new
         * lower word may look like the key. hash_empty_slot then returns false, and the second slot may have the
         * key. */
        const uint lower = (uint) mixed, upper = (uint) (mixed >> 32);
        taken = line.s0 == lower && line.s1 == upper && hash_empty_slot(table, words + i + 1, mixed);
        if (!taken && line.s2 == lower && line.s3 == upper)
            taken = hash_empty_slot(table, words + i + 3, mixed);
#endif
    }
    if (taken)
        hash_note_change(table, hash_partition(mixed, table->bits), bucket, changed);
    return taken;
}

/* Erases a key outside its home bucket. Decrements the home bucket's spill count, unless this count is HASH_SCAN. */
ORDO_FN bool hash_take_spilled(const hash_table *table, uint p, uint start, uint n, ordo_key mixed,
                               __private hash_changed *changed)
{
    const uint first = hash_home(mixed, table->bits, n);
    const uint spilled = hash_load_spills(table, start + first);
    bool       taken = spilled && hash_take(table, start + hash_second(mixed, first, n), mixed, changed);
    if (taken && spilled != HASH_SCAN) {
        ordo_add((volatile __global uint *) table->spills + (start + first) / 4, 0u - (1u << (start + first) % 4 * 8));
        hash_note_change(table, p, start + first, changed);
    }
    for (uint b = 0; spilled == HASH_SCAN && b < n && !taken; b++)
        taken = hash_take(table, start + b, mixed, changed);
    if (taken && spilled == HASH_SCAN)
        ordo_or(&table->counts[p], HASH_RECOUNT);
    return taken;
}

ORDO_KERNEL(RUN_GROUP)
void hash_erase(HASH_TABLE, __global const ordo_key *keys, ulong keys_at, uint n)
{
    const hash_table table = HASH_TABLE_HERE;
    hash_changed     changed;
    changed.n = 0;
    HASH_EACH_BLOCK (b, n) {
        hash_block block;
        hash_load_block(&table, keys + keys_at, b, n, &block);
        HASH_EACH_IN_BLOCK(i, block)
        {
            const uint bucket = hash_home_of(&table, &block, i);
            hash_prefetch(&table, bucket);
            hash_prefetch_filter(&table, bucket);
        }
        HASH_EACH_IN_BLOCK(i, block)
        {
            const ordo_key mixed = block.mixed[i];
            const uint     p = hash_partition(mixed, table.bits), start = block.start[i], buckets = block.buckets[i];
            if (buckets == 0)
                continue;
            if (hash_take(&table, start + hash_home(mixed, table.bits, buckets), mixed, &changed) ||
                hash_take_spilled(&table, p, start, buckets, mixed, &changed))
                ordo_add(&table.counts[p], ~0u);
        }
    }
    hash_update_filters(&table, &changed);
}
