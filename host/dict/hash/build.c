/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table made anew, of a batch, of itself, or of both: the keys by partitions, how many buckets each partition needs, then
 * each filled by one work-group. Nothing of the old table is touched until the new one is there. */
#include "dict/hash/hash.h"

#include "dict/batch.h"
#include "primitive/scan.h"

/* Seeds that are tried: with each, keys that were chosen to meet in few partitions meet no more. */
#define SEEDS_MOST 16

/* In scratch: how many different keys the batch has in each partition of the table to be. */
static ordo_status count_distinct(struct ordo_call *call, const struct ordo_hash *hash,
                                  const struct ordo_hash_table *table, const struct ordo_hash_batch *batch, cl_mem *out)
{
    const size_t                 partitions = ordo_hash_partitions(table);
    const struct ordo_hash_table none = { .bits = table->bits, .seed = table->seed };
    struct ordo_args             args = { .n = 0 };

    ORDO_TRY(ordo_call_scratch(call, partitions * sizeof(cl_uint), out));
    ordo_hash_add_table(&args, &none);
    ordo_hash_add_batch(&args, batch);
    ORDO_ADD(&args, ORDO_ARG(*out));
    return ordo_hash_launch_parts(call, hash, "hash_distinct", partitions, &args);
}

/* starts of a table for the keys between bounds (or NULL) and incoming (or NULL), and its number of buckets. Waits. *fits: no
 * partition is too large for a work-group. */
static ordo_status size_table(struct ordo_call *call, struct ordo_hash *hash, struct ordo_hash_table *table,
                              cl_mem bounds, cl_mem incoming, unsigned load, bool *fits)
{
    const size_t     partitions = ordo_hash_partitions(table);
    const cl_uint    percent = load;
    const int        mark = call->n_scratch;
    struct ordo_args args = { .n = 0 };
    cl_uint          found[HASH_FOUND_WORDS], total = 0;
    cl_mem           words = NULL;

    ORDO_TRY(ordo_hash_begin_found(call, &words));
    ORDO_ADD(&args, ORDO_ARG(bounds), ORDO_ARG(incoming), ORDO_ARG(table->bits), ORDO_ARG(percent),
             ORDO_ARG(table->starts), ORDO_ARG(words));
    ORDO_TRY(
        ordo_dict_launch(call, &hash->dict, "dict/hash/partition.cl", "hash_size", partitions + 1, args.arg, args.n));
    const struct ordo_scan scan = { .type = ORDO_U32,
                                    .op = ORDO_SUM,
                                    .in = ordo_at(table->starts, 0),
                                    .out = ordo_at(table->starts, 0),
                                    .count = partitions + 1 };
    ORDO_TRY(ordo_call_scan(call, &scan));
    ORDO_TRY(ordo_hash_read_found(call, words, found));
    ORDO_TRY(ordo_call_read(call, table->starts, partitions * sizeof total, &total, sizeof total));
    ordo_call_release(call, mark);
    table->n_buckets = total;
    *fits = found[HASH_LARGEST] <= HASH_BUCKETS_MOST;
    return ORDO_OK;
}

/* Everything but the starts, from a batch that may be empty. */
static ordo_status fill_table(struct ordo_call *call, const struct ordo_hash *hash, const struct ordo_hash_table *table,
                              const struct ordo_hash_batch *batch)
{
    struct ordo_args args = { .n = 0 };
    ordo_hash_add_table(&args, table);
    ordo_hash_add_batch(&args, batch);
    return ordo_hash_launch_parts(call, hash, "hash_fill", ordo_hash_partitions(table), &args);
}

/* With so many buckets for each update, those that are touched are fewer than the others. */
#define BUCKETS_EACH 2
/* Groups of hash_update after hash_touch: each looks at so many partitions, few of which are left. */
#define LEFT_SHARE 8

/* Whether there is memory to say which partitions are left. */
static ordo_status list_left(struct ordo_call *call, size_t partitions, cl_mem *left, bool *there_is)
{
    const int         mark = call->n_scratch;
    const ordo_status status = ordo_call_scratch(call, partitions * sizeof(cl_uint), left);
    *there_is = status == ORDO_OK;
    if (!ordo_lacks_memory(status))
        return status;
    ordo_call_abandon(call, mark);
    *left = NULL;
    return ORDO_OK;
}

/* What hash_touch leaves. By now part of the batch is stored: a launch that fails is tried once more, and if that fails, too, the
 * table holds neither what it held nor what it was to hold. */
static ordo_status update_left(struct ordo_call *call, struct ordo_hash *hash, bool combines, size_t partitions,
                               const struct ordo_args *args)
{
    const size_t groups = ordo_ceil_div(partitions, LEFT_SHARE);
    if (ordo_hash_launch_update(call, hash, combines, groups, args) == ORDO_OK)
        return ORDO_OK;
    const ordo_status status = ordo_hash_launch_update(call, hash, combines, groups, args);
    hash->broken = status != ORDO_OK;
    return status;
}

ordo_status ordo_hash_change(struct ordo_call *call, struct ordo_hash *hash, const struct ordo_hash_table *table,
                             const struct ordo_hash_batch *batch)
{
    const size_t     partitions = ordo_hash_partitions(table);
    const bool       fills = hash->whole || (table->n_buckets > 0 && batch->count > table->n_buckets / BUCKETS_EACH);
    const int        mark = call->n_scratch;
    const cl_uint    how = ordo_hash_how(batch);
    struct ordo_args args = { .n = 0 };
    cl_mem           left = NULL;
    bool             few = false;

    if (!fills || ordo_rehearses(call->dev))
        ORDO_TRY(list_left(call, partitions, &left, &few));
    ordo_hash_add_table(&args, table);
    ordo_hash_add_batch(&args, batch);
    ORDO_ADD(&args, ORDO_ARG(left));
    if (batch->combines)
        ORDO_ADD(&args, ORDO_ARG(how));
    if (few) {
        ORDO_TRY(ordo_hash_launch_touch(call, hash, batch->combines, partitions, &args));
        ORDO_TRY(update_left(call, hash, batch->combines, partitions, &args));
    } else {
        ORDO_TRY(ordo_hash_launch_update(call, hash, batch->combines, partitions, &args));
    }
    ordo_call_release(call, mark);
    return ORDO_OK;
}

/* ---- a table ----------------------------------------------------------------------------------------------------- */

/* What a new table is made of: elements that are all different, if any, then a batch, if any. */
struct content {
    struct ordo_hash_batch elements, batch;
    cl_mem                 incoming; /* of the batch, where it comes on top of elements */
    cl_uint                largest;  /* updates of a partition */
};

static ordo_status part_content(struct ordo_call *call, const struct ordo_hash *hash,
                                const struct ordo_hash_table *table, struct content *c)
{
    cl_uint                      found[HASH_FOUND_WORDS] = { 0 };
    const struct ordo_hash_table none = { .bits = table->bits, .seed = table->seed };

    c->largest = 0;
    c->incoming = NULL;
    if (c->elements.count > 0)
        ORDO_TRY(ordo_hash_part(call, hash, table, &c->elements));
    if (c->batch.count == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_hash_part(call, hash, table, &c->batch));
    ORDO_TRY(ordo_hash_measure(call, &none, &hash->dict, &c->batch, found));
    c->largest = found[HASH_LARGEST];
    if (c->largest > HASH_UPDATES_MOST)
        return ORDO_OK;
    return count_distinct(call, hash, table, &c->batch, &c->incoming);
}

/* Parts the content and sizes the table; *fits: false if another seed is needed. */
static ordo_status plan_table(struct ordo_call *call, struct ordo_hash *hash, struct ordo_hash_table *table,
                              struct content *c, unsigned load, bool *fits)
{
    *fits = false;
    ORDO_TRY(part_content(call, hash, table, c));
    if (c->largest > HASH_UPDATES_MOST)
        return ORDO_OK;
    return size_table(call, hash, table, c->elements.count ? c->elements.bounds : NULL, c->incoming, load, fits);
}

static ordo_status write_table(struct ordo_call *call, struct ordo_hash *hash, const struct ordo_hash_table *table,
                               const struct content *c)
{
    static const struct ordo_hash_batch nothing = { .count = 0 };
    if (c->elements.count == 0 && c->batch.count > 0 && !c->batch.erased.mem && !c->batch.combines)
        return fill_table(call, hash, table, &c->batch);
    ORDO_TRY(fill_table(call, hash, table, c->elements.count ? &c->elements : &nothing));
    return c->batch.count ? ordo_hash_change(call, hash, table, &c->batch) : ORDO_OK;
}

/* A batch with so many equal keys that a partition cannot take them is sorted first. *run: what then has it, or none. */
static ordo_status thin_out(struct ordo_call *call, struct ordo_hash *hash, struct content *c,
                            struct ordo_sorted_run *run)
{
    if (c->largest <= HASH_UPDATES_MOST || c->batch.kind == HASH_DISTINCT)
        return ORDO_OK;
    return ordo_hash_make_distinct(call, hash, &c->batch, run);
}

static ordo_status try_seed(struct ordo_call *call, struct ordo_hash *hash, struct content *c, unsigned attempt,
                            unsigned load, struct ordo_sorted_run *run, struct ordo_hash_table *table, bool *fits)
{
    const int mark = call->n_scratch;

    *table = (struct ordo_hash_table) { .bits = ordo_hash_bits_for(c->elements.count + c->batch.count, load),
                                        .seed = ordo_hash_seed(attempt) };
    if (attempt > 2) /* more of them, of fewer elements each */
        table->bits += table->bits < 28;
    ORDO_TRY(ordo_buffer_create(call->dev, (ordo_hash_partitions(table) + 1) * sizeof(cl_uint), &table->starts));
    hash->bytes += (ordo_hash_partitions(table) + 1) * sizeof(cl_uint);
    ordo_status status = plan_table(call, hash, table, c, load, fits);
    if (status == ORDO_OK && *fits)
        status = ordo_hash_allocate(hash, table);
    if (status == ORDO_OK && *fits)
        status = write_table(call, hash, table, c);
    if (status != ORDO_OK || !*fits)
        ordo_hash_release(hash, table);
    if (status != ORDO_OK)
        return status;
    ordo_call_release(call, mark);
    return *fits ? ORDO_OK : thin_out(call, hash, c, run);
}

static ordo_status make_table(struct ordo_call *call, struct ordo_hash *hash, struct content *c, unsigned load,
                              struct ordo_hash_table *table)
{
    struct ordo_sorted_run run = { .mem = NULL };
    ordo_status            status = ORDO_OK;
    bool                   fits = false;

    for (unsigned attempt = 0; attempt < SEEDS_MOST && status == ORDO_OK && !fits; attempt++)
        status = try_seed(call, hash, c, attempt, load, &run, table, &fits);
    ordo_runs_release(&hash->runs, &run);
    ordo_runs_drop_spare(&hash->runs);
    if (status == ORDO_OK && !fits)
        status = ordo_fail(call->dev, ORDO_TOO_LARGE, 0, __FILE__, __LINE__,
                           "under %d seeds the keys meet in too few places", SEEDS_MOST);
    return status;
}

ordo_status ordo_hash_build(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys, struct ordo_slice values,
                            size_t count)
{
    struct ordo_hash      *hash = ordo_hash_of(dict);
    struct content         c = { .batch = { .keys = keys, .values = values, .count = count } };
    struct ordo_hash_table table;

    ORDO_TRY(make_table(call, hash, &c, hash->config.load_percent, &table));
    ordo_hash_replace(hash, &table);
    return ORDO_OK;
}

/* All elements, in scratch. */
static ordo_status take_elements(struct ordo_call *call, struct ordo_hash *hash, struct ordo_hash_batch *out)
{
    size_t size = 0;

    *out = (struct ordo_hash_batch) { .kind = HASH_DISTINCT };
    ORDO_TRY(ordo_hash_size(&hash->dict, call, &size));
    if (size == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_call_scratch(call, size * hash->dict.key_bytes, &out->keys.mem));
    if (hash->dict.value_bytes)
        ORDO_TRY(ordo_call_scratch(call, size * hash->dict.value_bytes, &out->values.mem));
    return ordo_hash_export(&hash->dict, call, out->keys, out->values, size, &out->count);
}

unsigned ordo_hash_update_load(const struct ordo_hash *hash)
{
    const unsigned load = 70;
    return hash->config.load_percent < load ? hash->config.load_percent : load;
}

ordo_status ordo_hash_rebuild(struct ordo_call *call, struct ordo_hash *hash, struct ordo_hash_batch *batch,
                              unsigned load)
{
    struct content         c = { .batch = { .count = 0 } };
    struct ordo_hash_table table = { .buckets = NULL };

    ORDO_TRY(take_elements(call, hash, &c.elements));
    if (batch)
        c.batch = *batch;
    if (c.elements.count + c.batch.count > 0)
        ORDO_TRY(make_table(call, hash, &c, load, &table));
    hash->rebuilds++;
    ordo_hash_replace(hash, &table);
    return ORDO_OK;
}

ordo_status ordo_hash_compact(ordo_dict *dict, struct ordo_call *call)
{
    struct ordo_hash *hash = ordo_hash_of(dict);
    ORDO_TRY(ordo_hash_begin(call, hash));
    return hash->table.starts ? ordo_hash_rebuild(call, hash, NULL, hash->config.load_percent) : ORDO_OK;
}
