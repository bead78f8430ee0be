/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/hash/hash.h"

size_t ordo_hash_mark_bytes(const struct ordo_hash *hash, const struct ordo_hash_table *table)
{
    const size_t n = table->n_buckets;
    /* CPUs have one filter per bucket, and one more word after the last filter. If the last partition has no bucket,
     * lookups in it read that word and ignore its value. */
    return (HASH_SPILL_WORDS(n) + (ordo_device_facts(hash->dict.dev)->cpu ? n + 1 : 0)) * sizeof(cl_uint);
}

size_t ordo_hash_bucket_bytes(const ordo_dict *dict)
{
    return HASH_SLOTS * (dict->key_bytes + dict->value_bytes);
}

cl_uint ordo_hash_bits_for(size_t elements, unsigned load)
{
    const double slots = (double) elements * 100 / load;
    cl_uint      bits = 1; /* invariant: at least two partitions */
    while (bits < 31 && slots > (double) ((size_t) HASH_SLOTS_MEAN << bits))
        bits++;
    return bits;
}

cl_ulong ordo_hash_seed(cl_ulong from, cl_ulong steps)
{
    cl_ulong x = from + steps * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

enum { N_PARTS = 4 };
static void parts_of(const struct ordo_hash *hash, struct ordo_hash_table *table, cl_mem *part[N_PARTS],
                     size_t bytes[N_PARTS])
{
    const size_t partitions = ordo_hash_partitions(table);
    part[0] = &table->buckets;
    part[1] = &table->spills;
    part[2] = &table->starts;
    part[3] = &table->counts;
    bytes[0] = table->n_buckets * ordo_hash_bucket_bytes(&hash->dict);
    bytes[1] = ordo_hash_mark_bytes(hash, table);
    bytes[2] = (partitions + 1) * sizeof(cl_uint);
    bytes[3] = partitions * sizeof(cl_uint);
}

void ordo_hash_release(struct ordo_hash *hash, struct ordo_hash_table *table)
{
    cl_mem *part[N_PARTS];
    size_t  bytes[N_PARTS];
    parts_of(hash, table, part, bytes);
    for (int i = 0; i < N_PARTS; i++) {
        hash->bytes -= *part[i] ? bytes[i] : 0;
        ordo_buffer_destroy(hash->dict.dev, part[i]);
    }
    *table = (struct ordo_hash_table) { .buckets = NULL };
}

ordo_status ordo_hash_allocate(struct ordo_hash *hash, struct ordo_hash_table *table)
{
    cl_mem     *part[N_PARTS];
    size_t      bytes[N_PARTS];
    ordo_status made = ORDO_OK;
    parts_of(hash, table, part, bytes);
    for (int i = 0; i < N_PARTS && made == ORDO_OK; i++) {
        if (*part[i])
            continue;
        made = ordo_buffer_create(hash->dict.dev, bytes[i], part[i]);
        if (made == ORDO_OK)
            hash->bytes += bytes[i];
    }
    if (made != ORDO_OK)
        ordo_hash_release(hash, table);
    if (hash->bytes_peak < hash->bytes + hash->runs.bytes)
        hash->bytes_peak = hash->bytes + hash->runs.bytes;
    return made;
}

void ordo_hash_replace(struct ordo_hash *hash, const struct ordo_hash_table *table)
{
    ordo_hash_release(hash, &hash->table);
    hash->table = *table;
    hash->needs_check = hash->broken = hash->recounts = false;
    hash->elements_min = 0;
}

void ordo_hash_clear(ordo_dict *dict)
{
    struct ordo_hash *hash = ordo_hash_of(dict);
    ordo_hash_replace(hash, &(struct ordo_hash_table) { .buckets = NULL });
    ordo_runs_clear(&hash->runs.dict);
}

/* Tables with at most this number of slots never shrink. */
#define SLOTS_MIN ((size_t) 1 << 16)

bool ordo_hash_is_underfull(const struct ordo_hash *hash, size_t elements)
{
    const size_t slots = hash->table.n_buckets * HASH_SLOTS;
    return slots > SLOTS_MIN && elements < slots / 8;
}

void ordo_hash_add_table(struct ordo_args *args, const struct ordo_hash_table *table)
{
    ORDO_ADD(args, ORDO_ARG(table->buckets), ORDO_ARG(table->spills), ORDO_ARG(table->starts), ORDO_ARG(table->counts),
             ORDO_ARG(table->bits), ORDO_ARG(table->seed));
}

#define GROUPS_MAX ((size_t) 1 << 16)

struct ordo_launch ordo_hash_kernel(const struct ordo_hash *hash, const char *file, const char *kernel, size_t groups,
                                    size_t group)
{
    const struct ordo_facts *facts = ordo_device_facts(hash->dict.dev);
    while (group > facts->max_group)
        group /= 2;
    if (facts->cpu || group < 32)
        group = 1;
    return (struct ordo_launch) {
        .file = file,
        .kernel = kernel,
        .groups = ordo_min_size(groups, GROUPS_MAX),
        .group = group,
        .defines = { { "ORDO_KEY", hash->dict.key },
                     { "ORDO_VALUE_BYTES", hash->dict.value_bytes },
                     { "HASH_GROUP", (long) group } },
    };
}

#define SERIAL_GROUPS_MAX 512

struct ordo_launch ordo_hash_serial_kernel(const struct ordo_hash *hash, const char *file, const char *kernel,
                                           const struct ordo_hash_table *table)
{
    return ordo_hash_kernel(hash, file, kernel, ordo_min_size(ordo_hash_partitions(table), SERIAL_GROUPS_MAX), 1);
}
