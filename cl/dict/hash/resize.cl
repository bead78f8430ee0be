/* SPDX-License-Identifier: Apache-2.0 */
/* Moves all elements of a table into a new one with the same seed. Each partition of the table with more partitions is
 * a part of one partition of the other, so nothing is sorted. */
#pragma once
#include "dict/hash/update_serial.cl"

#define HASH_OLD __global uchar *old_buckets, __global const uint *old_starts, uint old_bits

ORDO_FN uint hash_first_old(uint p, uint bits, uint old_bits)
{
    return old_bits > bits ? p << (old_bits - bits) : p >> (bits - old_bits);
}

ORDO_FN uint hash_end_old(uint p, uint bits, uint old_bits)
{
    return old_bits > bits ? hash_first_old(p + 1, bits, old_bits) : hash_first_old(p, bits, old_bits) + 1;
}

/* Returns whether a mixed key of old partition `of` is an element of partition p. Empty slots hold none. */
ORDO_FN bool hash_is_of(ordo_key mixed, uint of, uint p, uint bits, uint old_bits)
{
    return hash_partition(mixed, max(bits, old_bits)) == (old_bits > bits ? of : p);
}

#define HASH_EACH_OLD_SLOT(slot, of)                                                                                   \
    for (ulong slot = (ulong) old_starts[of] * HASH_SLOTS; slot < (ulong) old_starts[(of) + 1] * HASH_SLOTS; slot++)

ORDO_KERNEL(HASH_GROUP)
void hash_resize_count(HASH_OLD, uint bits, __global uint *counts)
{
    const hash_table old = { old_buckets, 0, 0, 0, old_bits, 0 };
    HASH_EACH_SHARED(p, bits)
    {
        uint count = 0;
        for (uint of = hash_first_old(p, bits, old_bits); of < hash_end_old(p, bits, old_bits); of++)
            HASH_EACH_OLD_SLOT (slot, of)
                count +=
                    hash_is_of(hash_keys(&old, (uint) (slot / HASH_SLOTS))[slot % HASH_SLOTS], of, p, bits, old_bits);
        counts[p] = count;
    }
    if (get_global_id(0) == 0)
        counts[1ul << bits] = 0;
}

/* Sets slots[] to the slots of old partition `of` that hold elements of partition p, counted from the partition's first
 * slot. Returns their number. Chooses them without branches, which would be mispredicted. */
ORDO_FN uint hash_list_old(__global const uint *old_starts, const hash_table *old, uint of, uint p, uint bits,
                           __local uint *slots)
{
    const ulong first = (ulong) old_starts[of] * HASH_SLOTS;
    uint        n = 0;
    HASH_EACH_OLD_SLOT (slot, of) {
        slots[n] = (uint) (slot - first);
        n += hash_is_of(hash_keys(old, (uint) (slot / HASH_SLOTS))[slot % HASH_SLOTS], of, p, bits, old->bits);
    }
    return n;
}

/* Moves an element of an old partition, whose first bucket is old_start, into its home bucket, or elsewhere if the
 * bucket may be full. used[b] is the first slot of bucket b that this function has not filled. */
ORDO_FN void hash_move_old(const hash_table *table, const hash_part *part, const hash_table *old, uint old_start,
                           uint old_slot, __local uint *used, __private hash_tally *tally)
{
    const uint     bucket = old_start + old_slot / HASH_SLOTS;
    const ordo_key mixed = hash_keys(old, bucket)[old_slot % HASH_SLOTS];
    const uint     home = hash_home_in(table, part, mixed), slot = used[home - part->start];
#if ORDO_VALUE_BYTES
    const hash_value value = hash_values(old, bucket)[old_slot % HASH_SLOTS];
#else
    const hash_value value = 0;
#endif
    if (slot == HASH_SLOTS || !key_same(hash_keys(table, home)[slot], hash_empty(part->number, table->bits))) {
        hash_insert(table, part, home, mixed, value, tally);
        return;
    }
    const hash_place place = { home, slot };
    hash_put(table, place, mixed, value);
    hash_filter_add(table, home, mixed);
    used[home - part->start] = slot + 1;
    tally->count++;
}

/* Writes all arrays of a new table except `starts`. */
ORDO_KERNEL(HASH_GROUP)
void hash_resize(HASH_TABLE, HASH_OLD)
{
    __local hash_local mem;
    const hash_table   table = HASH_TABLE_HERE, old = { old_buckets, 0, 0, 0, old_bits, 0 };
    HASH_EACH_SHARED(p, table_bits)
    {
        const hash_part part = hash_part_at(&table, p);
        hash_tally      tally = { 0, false };
        hash_empty_part(&table, &part);
        for (uint b = 0; b < part.buckets; b++)
            mem.spills[b] = 0;
        for (uint of = hash_first_old(p, table_bits, old_bits); of < hash_end_old(p, table_bits, old_bits); of++) {
            const uint n = hash_list_old(old_starts, &old, of, p, table_bits, mem.words);
            for (uint k = 0; k < n; k++)
                hash_move_old(&table, &part, &old, old_starts[of], mem.words[k], mem.spills, &tally);
        }
        if (tally.recounts)
            hash_recount_part(&table, &part, &mem);
        table.counts[p] = tally.count;
    }
}
