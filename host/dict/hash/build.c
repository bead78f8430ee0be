/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a new hash table from a batch of updates, the old table's elements, or both. The old table stays until the new
 * one is complete. */
#include "dict/hash/hash.h"

#include "primitive/scan.h"

#include <stdlib.h>

#define BUILD_FILE  "dict/hash/build.cl"
#define RESIZE_FILE "dict/hash/resize.cl"

/* Maximum seeds that a build tries. A seed fails if a partition gets too many buckets or updates. */
#define SEEDS_MAX 64

/* If a partition gets too many distinct keys, the build starts again with 2^BITS_MORE times as many partitions. After
 * several such starts, the factor is at most 2^BITS_MORE_MAX. */
#define BITS_MORE     2
#define BITS_MORE_MAX 6

/* A split of a partition into more than 2^SPLIT_BITS_MAX partitions takes longer than a sort. */
#define SPLIT_BITS_MAX 3

struct content {
    struct ordo_hash_batch elements; /* `keys` is none while all attempts copy from the old table */
    struct ordo_hash_batch batch;
    size_t                 more;     /* number of later keys for which the table needs capacity */
    cl_mem                 incoming; /* number of the batch's distinct keys in each partition */
    cl_uint                largest;  /* greatest number of updates in a partition */
};

static ordo_status count_distinct(struct ordo_call *call, const struct ordo_hash *hash,
                                  const struct ordo_hash_table *table, const struct ordo_hash_batch *batch, cl_mem *out)
{
    const size_t                 partitions = ordo_hash_partitions(table);
    const struct ordo_hash_table none = { .bits = table->bits, .seed = table->seed };
    const struct ordo_launch launch = ordo_hash_kernel(hash, BUILD_FILE, "hash_distinct", partitions, HASH_GROUP_DENSE);
    struct ordo_args         args = { .n = 0 };

    ORDO_TRY(ordo_call_scratch(call, partitions * sizeof(cl_uint), out));
    ordo_hash_add_table(&args, &none);
    ordo_hash_add_batch(&args, batch);
    ORDO_ADD(&args, ORDO_ARG(*out));
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status size_table(struct ordo_call *call, struct ordo_hash *hash, struct ordo_hash_table *table,
                              const struct content *c, unsigned load, bool *fits)
{
    const size_t  partitions = ordo_hash_partitions(table);
    const cl_mem  bounds = c->elements.count ? c->elements.bounds : NULL;
    const cl_uint more = (cl_uint) ordo_ceil_div(c->more, partitions);
    const int     mark = call->n_scratch;
    cl_uint       found[HASH_FOUND_WORDS], total = 0;
    cl_mem        words = NULL;

    ORDO_TRY(ordo_hash_begin_found(call, &words));
    ORDO_TRY(ordo_hash_size_partitions(call, hash, table, bounds, c->incoming, more, load, words));
    ORDO_TRY(ordo_hash_read_found(call, words, found));
    ORDO_TRY(ordo_call_read(call, table->starts, partitions * sizeof total, &total, sizeof total));
    ordo_call_release(call, mark);
    table->n_buckets = total;
    *fits = found[HASH_LARGEST] <= HASH_BUCKETS_MAX;
    return ORDO_OK;
}

/* table->starts must be complete. */
static ordo_status fill_table(struct ordo_call *call, const struct ordo_hash *hash, const struct ordo_hash_table *table,
                              const struct ordo_hash_batch *batch)
{
    const struct ordo_launch launch =
        ordo_hash_kernel(hash, BUILD_FILE, "hash_fill", ordo_hash_partitions(table), HASH_GROUP_DENSE);
    struct ordo_args args = { .n = 0 };
    ordo_hash_add_table(&args, table);
    ordo_hash_add_batch(&args, batch);
    return ordo_call_launch(call, &launch, &args);
}

/* Returns whether kernel hash_resize copies the elements of the old table. */
static bool resizes(const struct ordo_hash *hash, const struct ordo_hash_table *table, const struct content *c)
{
    const struct ordo_hash_table *old = &hash->table;
    return ordo_device_facts(hash->dict.dev)->cpu && !hash->whole &&
           (ordo_is_dry_run(hash->dict.dev) ||
            (c->elements.count > 0 && table->seed == old->seed && table->bits <= old->bits + SPLIT_BITS_MAX));
}

static void add_old(struct ordo_args *args, const struct ordo_hash *hash)
{
    const struct ordo_hash_table *old = &hash->table;
    ORDO_ADD(args, ORDO_ARG(old->buckets), ORDO_ARG(old->starts), ORDO_ARG(old->bits));
}

/* Sets c->elements.bounds as a sort would. */
static ordo_status count_resized(struct ordo_call *call, const struct ordo_hash *hash,
                                 const struct ordo_hash_table *table, struct content *c)
{
    const struct ordo_launch launch = ordo_hash_serial_kernel(hash, RESIZE_FILE, "hash_resize_count", table);
    const size_t             n = ordo_hash_partitions(table) + 1;
    struct ordo_args         args = { .n = 0 };

    ORDO_TRY(ordo_call_scratch(call, n * sizeof(cl_uint), &c->elements.bounds));
    add_old(&args, hash);
    ORDO_ADD(&args, ORDO_ARG(table->bits), ORDO_ARG(c->elements.bounds));
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    return ordo_call_sum_before(call, ORDO_U32, c->elements.bounds, n);
}

static ordo_status resize(struct ordo_call *call, const struct ordo_hash *hash, const struct ordo_hash_table *table)
{
    const struct ordo_launch launch = ordo_hash_serial_kernel(hash, RESIZE_FILE, "hash_resize", table);
    struct ordo_args         args = { .n = 0 };
    ordo_hash_add_table(&args, table);
    add_old(&args, hash);
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status partition_content(struct ordo_call *call, const struct ordo_hash *hash,
                                     const struct ordo_hash_table *table, struct content *c)
{
    cl_uint                      found[HASH_FOUND_WORDS] = { 0 };
    const struct ordo_hash_table none = { .bits = table->bits, .seed = table->seed };

    c->largest = 0;
    c->incoming = NULL;
    if (resizes(hash, table, c))
        ORDO_TRY(count_resized(call, hash, table, c));
    else if (c->elements.count > 0)
        ORDO_TRY(ordo_hash_partition(call, hash, table, &c->elements));
    if (c->batch.count == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_hash_partition(call, hash, table, &c->batch));
    ORDO_TRY(ordo_hash_measure(call, &none, &hash->dict, &c->batch, found));
    c->largest = found[HASH_LARGEST];
    if (c->largest > HASH_UPDATES_MAX)
        return ORDO_OK;
    return count_distinct(call, hash, table, &c->batch, &c->incoming);
}

static ordo_status plan_table(struct ordo_call *call, struct ordo_hash *hash, struct ordo_hash_table *table,
                              struct content *c, unsigned load, bool *fits)
{
    *fits = false;
    ORDO_TRY(partition_content(call, hash, table, c));
    if (c->largest > HASH_UPDATES_MAX)
        return ORDO_OK;
    return size_table(call, hash, table, c, load, fits);
}

static ordo_status write_table(struct ordo_call *call, struct ordo_hash *hash, const struct ordo_hash_table *table,
                               const struct content *c)
{
    static const struct ordo_hash_batch nothing = { .count = 0 };
    if (resizes(hash, table, c)) {
        ORDO_TRY(resize(call, hash, table));
        return c->batch.count ? ordo_hash_change(call, hash, table, &c->batch) : ORDO_OK;
    }
    if (ordo_hash_is_serial(hash, &c->batch)) {
        const bool has_both = c->elements.count > 0 && c->batch.count > 0;
        if (has_both)
            ORDO_TRY(ordo_hash_update_serial(call, hash, table, &c->elements, true));
        return ordo_hash_update_serial(call, hash, table, c->batch.count ? &c->batch : &c->elements, !has_both);
    }
    if (c->elements.count == 0 && c->batch.count > 0 && !c->batch.erased.mem && !c->batch.combines)
        return fill_table(call, hash, table, &c->batch);
    ORDO_TRY(fill_table(call, hash, table, c->elements.count ? &c->elements : &nothing));
    return c->batch.count ? ordo_hash_change(call, hash, table, &c->batch) : ORDO_OK;
}

static bool is_repetitive(const struct content *c)
{
    return c->largest > HASH_UPDATES_MAX && c->batch.kind != HASH_DISTINCT;
}

/* The new seed depends on the sizes of all partitions, so an attacker cannot prepare keys that collide under every
 * seed. */
static ordo_status next_seed(struct ordo_call *call, const struct ordo_hash_table *table, const struct content *c,
                             cl_ulong *seed)
{
    const size_t n = ordo_hash_partitions(table) + 1;
    cl_uint     *bounds = calloc(n, sizeof *bounds);

    ORDO_REQUIRE_MEMORY(call->dev, bounds);
    const ordo_status status =
        ordo_call_read(call, c->batch.count ? c->batch.bounds : c->elements.bounds, 0, bounds, n * sizeof *bounds);
    for (size_t p = 0; p < n; p++)
        *seed = ordo_hash_seed(*seed, 2 + (cl_ulong) bounds[p]);
    free(bounds);
    return status;
}

/* Builds *table with its `bits` and `seed`. If a partition gets too full, sets *fits to false, and changes *seed. If
 * repeated keys may be the cause, *seed does not change. */
static ordo_status try_seed(struct ordo_call *call, struct ordo_hash *hash, struct content *c, unsigned load,
                            struct ordo_hash_table *table, bool *fits, cl_ulong *seed)
{
    ORDO_TRY(ordo_buffer_create(call->dev, (ordo_hash_partitions(table) + 1) * sizeof(cl_uint), &table->starts));
    hash->bytes += (ordo_hash_partitions(table) + 1) * sizeof(cl_uint);
    ordo_status status = plan_table(call, hash, table, c, load, fits);
    if (status == ORDO_OK && *fits)
        status = ordo_hash_allocate(hash, table);
    if (status == ORDO_OK && *fits)
        status = write_table(call, hash, table, c);
    if (status == ORDO_OK && !*fits && !is_repetitive(c))
        status = next_seed(call, table, c, seed);
    if (status != ORDO_OK || !*fits)
        ordo_hash_release(hash, table);
    return status;
}

static cl_ulong first_seed(const struct ordo_hash *hash)
{
    return ordo_hash_seed(hash->config.seed, 1);
}

static ordo_status export_elements(struct ordo_call *call, struct ordo_hash *hash, struct ordo_hash_batch *out)
{
    const size_t size = out->count;
    ORDO_TRY(ordo_call_scratch(call, size * hash->dict.key_bytes, &out->keys.mem));
    if (hash->dict.value_bytes)
        ORDO_TRY(ordo_call_scratch(call, size * hash->dict.value_bytes, &out->values.mem));
    return ordo_hash_export(&hash->dict, call, out->keys, out->values, size, &out->count);
}

static ordo_status make_table(struct ordo_call *call, struct ordo_hash *hash, struct content *c, unsigned load,
                              cl_ulong seed, struct ordo_hash_table *table)
{
    struct ordo_sorted_run run = { .mem = NULL };
    ordo_status            status = ORDO_OK;
    cl_uint                more = 0;
    bool                   fits = false;

    for (unsigned attempt = 0; attempt < SEEDS_MAX && status == ORDO_OK && !fits; attempt++) {
        const cl_uint bits = ordo_hash_bits_for(c->elements.count + c->batch.count + c->more, load);
        *table = (struct ordo_hash_table) { .bits = bits + more < HASH_BITS_MAX ? bits + more : HASH_BITS_MAX,
                                            .seed = seed };
        if (c->elements.count > 0 && !c->elements.keys.mem && !resizes(hash, table, c))
            status = export_elements(call, hash, &c->elements);
        if (status != ORDO_OK)
            break;
        const int mark = call->n_scratch;
        status = try_seed(call, hash, c, load, table, &fits, &seed);
        if (status != ORDO_OK)
            break;
        ordo_call_release(call, mark);
        if (!fits && is_repetitive(c))
            status = ordo_hash_make_distinct(call, hash, &c->batch, &run);
        else
            more = more < BITS_MORE_MAX ? more + BITS_MORE : more;
    }
    ordo_runs_release(&hash->runs, &run);
    ordo_runs_drop_spare(&hash->runs);
    if (status == ORDO_OK && !fits)
        status =
            ORDO_FAIL(call->dev, ORDO_TOO_LARGE, "keys: too many of them collide under each of %d seeds", SEEDS_MAX);
    return status;
}

static size_t least_elements(const struct content *c, const struct ordo_hash_table *table, unsigned load)
{
    const size_t partitions = ordo_hash_partitions(table),
                 full = table->n_buckets - ordo_min_size(table->n_buckets, partitions);
    const size_t counted = (size_t) ((double) full * HASH_SLOTS * load / 100),
                 over = c->more + partitions + ordo_min_size(c->elements.count, c->batch.count);

    if (c->batch.erased.mem)
        return 0;
    return counted > over && counted - over > c->elements.count ? counted - over : c->elements.count;
}

ordo_status ordo_hash_build(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys, struct ordo_slice values,
                            size_t count)
{
    struct ordo_hash      *hash = ordo_hash_of(dict);
    struct content         c = { .batch = { .keys = keys, .values = values, .count = count } };
    struct ordo_hash_table table;

    ORDO_TRY(make_table(call, hash, &c, hash->config.load_percent, first_seed(hash), &table));
    ordo_hash_replace(hash, &table);
    hash->elements_min = least_elements(&c, &table, hash->config.load_percent);
    return ORDO_OK;
}

unsigned ordo_hash_update_load(const struct ordo_hash *hash)
{
    /* At 50, a table that grows step by step is rebuilt half as often as at 70. */
    const unsigned load = ordo_device_facts(hash->dict.dev)->cpu ? 50 : 70;
    return hash->config.load_percent < load ? hash->config.load_percent : load;
}

ordo_status ordo_hash_rebuild(struct ordo_call *call, struct ordo_hash *hash, const struct ordo_hash_batch *batch,
                              size_t more, unsigned load)
{
    const cl_ulong         seed = hash->table.starts ? hash->table.seed : first_seed(hash);
    struct content         c = { .elements.kind = HASH_DISTINCT, .more = more };
    struct ordo_hash_table table = { .buckets = NULL };

    ORDO_TRY(ordo_hash_size(&hash->dict, call, &c.elements.count));
    if (batch)
        c.batch = *batch;
    if (c.elements.count + c.batch.count + more > 0)
        ORDO_TRY(make_table(call, hash, &c, load, seed, &table));
    hash->rebuilds++;
    ordo_hash_replace(hash, &table);
    hash->elements_min = least_elements(&c, &table, load);
    return ORDO_OK;
}

ordo_status ordo_hash_compact(ordo_dict *dict, struct ordo_call *call)
{
    struct ordo_hash *hash = ordo_hash_of(dict);
    ORDO_TRY(ordo_hash_begin(call, hash));
    return hash->table.starts ? ordo_hash_rebuild(call, hash, NULL, 0, hash->config.load_percent) : ORDO_OK;
}
