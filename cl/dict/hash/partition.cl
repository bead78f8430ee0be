/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "device/atomic.cl"
#include "dict/each.cl"
#include "dict/hash/table.cl"

ORDO_KERNEL(RUN_GROUP)
void hash_mix_keys(__global const ordo_key *keys, ulong keys_at, uint n, ulong seed, __global ordo_key *mixed,
                   __global uint *index, __global const uchar *codes, ulong codes_at, __global uint *found)
{
    uint seen = 0;
    RUN_EACH (uint, i, n) {
        mixed[i] = hash_mix(keys[keys_at + i], seed);
        if (index)
            index[i] = i;
        if (codes)
            seen |= 1u << min((uint) codes[codes_at + i], (uint) HASH_CODE_OTHER);
    }
    if (seen && (seen & ~ordo_load_relaxed(&found[HASH_CODES])))
        ordo_or(&found[HASH_CODES], seen);
}

/* bounds[p] becomes the index of the first key in partition p or later. The mixed keys must be sorted. */
ORDO_KERNEL(RUN_GROUP)
void hash_bounds(__global const ordo_key *mixed, uint n, uint bits, __global uint *bounds)
{
    const uint partitions = 1u << bits;
    RUN_EACH (uint, p, partitions + 1) {
        uint low = 0, high = n;
        while (low < high) {
            const uint middle = low + (high - low) / 2;
            if (hash_partition(mixed[middle], bits) < p)
                low = middle + 1;
            else
                high = middle;
        }
        bounds[p] = low;
    }
}

ORDO_KERNEL(RUN_GROUP)
void hash_measure(HASH_TABLE, __global const uint *bounds, __global uint *found)
{
    const hash_table table = HASH_TABLE_HERE;
    const uint       partitions = 1u << table.bits;
    uint             largest = 0, full = 0, total = 0;
    RUN_EACH (uint, p, partitions) {
        const uint updates = bounds[p + 1] - bounds[p];
        largest = max(largest, updates);
        if (table.starts) {
            const uint count = table.counts[p];
            total += count;
            full |= updates && count + updates > HASH_LIMIT(table.starts[p + 1] - table.starts[p]);
        }
    }
    if (largest)
        ordo_max(&found[HASH_LARGEST], largest);
    if (full)
        ordo_or(&found[HASH_FULL], full);
    if (total)
        ordo_add(&found[HASH_TOTAL], total);
}

/* starts[p] becomes the number of buckets for the keys of partition p. The keys fill `load` percent of the slots of
 * these buckets. If the keys fit in HASH_BUCKETS_MAX buckets, starts[p] is at most HASH_BUCKETS_MAX. */
ORDO_KERNEL(RUN_GROUP)
void hash_size(__global const uint *bounds, __global const uint *incoming, uint more, uint bits, uint load,
               __global uint *starts, __global uint *found)
{
    const uint partitions = 1u << bits;
    uint       largest = 0;
    RUN_EACH (uint, p, partitions + 1) {
        uint buckets = 0;
        if (p < partitions) {
            uint count = more + (bounds ? bounds[p + 1] - bounds[p] : 0);
            count += incoming ? incoming[p] : 0;
            const uint slots = HASH_SLOTS * load;
            buckets = count / slots * 100 + (count % slots * 100 + slots - 1) / slots;
            if (count <= HASH_LIMIT(HASH_BUCKETS_MAX))
                buckets = min(buckets, (uint) HASH_BUCKETS_MAX);
        }
        starts[p] = buckets;
        largest = max(largest, buckets);
    }
    if (largest)
        ordo_max(&found[HASH_LARGEST], largest);
}
