/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "dict/hash/placement.cl"

ORDO_KERNEL(HASH_GROUP)
void hash_recount(HASH_TABLE)
{
    __local hash_local mem;
    const hash_table   table = HASH_TABLE_HERE;
    HASH_PARTITIONS (p, table) {
        const uint count = table.counts[p];
        if (!(count & HASH_RECOUNT))
            continue;
        const hash_part part = hash_part_at(&table, p);
        hash_recount_part(&table, &part, &mem);
        if (get_local_id(0) == 0)
            table.counts[p] = count & ~HASH_RECOUNT;
        hash_barrier();
    }
}

/* The array `starts` must be correct. */
ORDO_KERNEL(HASH_GROUP)
void hash_check(HASH_TABLE, __global uint *wrong)
{
    __local hash_local mem;
    const hash_table   table = HASH_TABLE_HERE;
    HASH_PARTITIONS (p, table) {
        const uint start = table.starts[p], n = table.starts[p + 1] - start;
        hash_begin(&mem);
        hash_barrier();
        HASH_EACH (s, n * HASH_SLOTS) {
            const uint     b = s / HASH_SLOTS;
            const ordo_key mixed = hash_keys(&table, start + b)[s % HASH_SLOTS];
            if (hash_partition(mixed, table.bits) != p) {
                if (!key_same(mixed, hash_empty(p, table.bits)))
                    ordo_min(&wrong[HASH_WRONG_EMPTY], p);
                continue;
            }
            hash_add(&mem.stored, 1u);
            const hash_place place = hash_look(&table, start, n, mixed);
            if (place.bucket != start + b || place.slot != s % HASH_SLOTS)
                ordo_min(&wrong[HASH_WRONG_HOME], p);
            const uint home = hash_home(mixed, table.bits, n);
            if (b != home)
                hash_add(&mem.spills[home], b == hash_second(mixed, home, n) ? 1u : HASH_SCAN);
        }
        hash_barrier();
        HASH_EACH (b, n) {
            if (table.spills[start + b] != min(mem.spills[b], (uint) HASH_SCAN))
                ordo_min(&wrong[HASH_WRONG_SPILLS], p);
            if (!hash_is_filtered(&table, p, start + b))
                ordo_min(&wrong[HASH_WRONG_FILTER], p);
        }
        if (get_local_id(0) == 0 && table.counts[p] != mem.stored)
            ordo_min(&wrong[HASH_WRONG_COUNT], p);
        hash_barrier();
    }
}
