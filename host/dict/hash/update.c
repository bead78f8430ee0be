/* SPDX-License-Identifier: Apache-2.0 */
/* Batches in place. One work-group changes each partition, once it is known that all partitions have room. A batch that only erases
 * is not parted: its keys go to their elements one by one. */
#include "dict/hash/hash.h"

/* ---- launches ---------------------------------------------------------------------------------------------------- */

/* Whether all partitions have the capacity, exactly. Waits. */
static ordo_status has_room(struct ordo_call *call, const struct ordo_hash *hash, const struct ordo_hash_batch *batch,
                            bool *out)
{
    const struct ordo_launch launch = ordo_hash_kernel(hash, "dict/hash/update_dense.cl", "hash_plan",
                                                       ordo_hash_partitions(&hash->table), HASH_GROUP_DENSE);
    const int                mark = call->n_scratch;
    struct ordo_args         args = { .n = 0 };
    cl_uint                  words[HASH_FOUND_WORDS];
    cl_mem                   found = NULL;

    ORDO_TRY(ordo_hash_begin_found(call, &found));
    ordo_hash_add_table(&args, &hash->table);
    ordo_hash_add_batch(&args, batch);
    ORDO_ADD(&args, ORDO_ARG(found));
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    ORDO_TRY(ordo_hash_read_found(call, found, words));
    ordo_call_release(call, mark);
    *out = !words[HASH_FULL];
    return ORDO_OK;
}

/* With this many buckets for each update, fewer buckets are read than not. */
#define BUCKETS_EACH 2
/* Partitions for each group of hash_update_dense after hash_update_sparse: few of them are left. */
#define LEFT_SHARE 8

/* Takes scratch for the list of partitions that are left. *left: NULL if there is no memory. */
static ordo_status take_left(struct ordo_call *call, size_t partitions, cl_mem *left)
{
    const int         mark = call->n_scratch;
    const ordo_status status = ordo_call_scratch(call, partitions * sizeof(cl_uint), left);
    if (!ordo_lacks_memory(status))
        return status;
    ordo_call_abandon(call, mark);
    *left = NULL;
    return ORDO_OK;
}

ordo_status ordo_hash_change(struct ordo_call *call, struct ordo_hash *hash, const struct ordo_hash_table *table,
                             const struct ordo_hash_batch *batch)
{
    const size_t       partitions = ordo_hash_partitions(table);
    const bool         dense = hash->whole || (table->n_buckets > 0 && batch->count > table->n_buckets / BUCKETS_EACH);
    const int          mark = call->n_scratch;
    const cl_uint      how = ordo_hash_how(batch);
    struct ordo_launch sparse =
        ordo_hash_kernel(hash, "dict/hash/update_sparse.cl", "hash_update_sparse", partitions, HASH_GROUP_SPARSE);
    struct ordo_launch rest =
        ordo_hash_kernel(hash, "dict/hash/update_dense.cl", "hash_update_dense", partitions, HASH_GROUP_DENSE);
    struct ordo_args args = { .n = 0 };
    cl_mem           left = NULL;

    if (!dense || ordo_rehearses(call->dev))
        ORDO_TRY(take_left(call, partitions, &left));
    ordo_hash_add_table(&args, table);
    ordo_hash_add_batch(&args, batch);
    ORDO_ADD(&args, ORDO_ARG(left), ORDO_ARG(how));
    if (batch->combines) {
        ordo_launch_define(&sparse, "HASH_COMBINES", 1);
        ordo_launch_define(&rest, "HASH_COMBINES", 1);
    }
    if (left) {
        ORDO_TRY(ordo_call_launch(call, &sparse, &args));
        rest.groups = ordo_ceil_div(partitions, LEFT_SHARE);
    }
    ordo_status status = ordo_call_launch(call, &rest, &args);
    /* Part of the batch is stored by now, so a launch that fails is repeated. If it fails again, every partition is sound,
     * and the table has some of the batch. */
    if (left && status != ORDO_OK)
        status = ordo_call_launch(call, &rest, &args);
    ORDO_TRY(status);
    ordo_call_release(call, mark);
    return ORDO_OK;
}

/* ---- capacity ---------------------------------------------------------------------------------------------------- */

/* Below so many slots a table that is nearly empty stays as it is. */
#define SLOTS_MIN ((size_t) 1 << 16)

bool ordo_hash_is_underfull(const struct ordo_hash *hash, size_t elements)
{
    const size_t slots = hash->table.n_buckets * HASH_SLOTS;
    return slots > SLOTS_MIN && elements < slots / 8;
}

/* In the table as it is, if it has the room; else in a new one. `found` is what ordo_hash_measure did. */
static ordo_status store(struct ordo_call *call, struct ordo_hash *hash, struct ordo_hash_batch *batch,
                         const cl_uint found[HASH_FOUND_WORDS])
{
    bool room = !found[HASH_FULL];
    if (found[HASH_LARGEST] > HASH_UPDATES_MAX)
        room = false;
    else if (!room)
        ORDO_TRY(has_room(call, hash, batch, &room));
    if (room && ordo_hash_is_underfull(hash, found[HASH_TOTAL] + batch->count)) {
        const int         mark = call->n_scratch;
        const ordo_status status = ordo_hash_rebuild(call, hash, batch, 0, ordo_hash_update_load(hash));
        if (!ordo_lacks_memory(status))
            return status;
        ordo_call_abandon(call, mark);
    }
    if (!room)
        return ordo_hash_rebuild(call, hash, batch, 0, ordo_hash_update_load(hash));
    hash->in_doubt = true;
    ORDO_TRY(ordo_hash_change(call, hash, &hash->table, batch));
    hash->in_doubt = false;
    return ORDO_OK;
}

/* Waits. */
static ordo_status partition_and_measure(struct ordo_call *call, const struct ordo_hash *hash,
                                         struct ordo_hash_batch *batch, cl_uint found[HASH_FOUND_WORDS])
{
    ORDO_TRY(ordo_hash_partition(call, hash, &hash->table, batch));
    return ordo_hash_measure(call, &hash->table, &hash->dict, batch, found);
}

static ordo_status partition_and_store(struct ordo_call *call, struct ordo_hash *hash, struct ordo_hash_batch *batch,
                                       struct ordo_sorted_run *run)
{
    cl_uint found[HASH_FOUND_WORDS];

    ORDO_TRY(partition_and_measure(call, hash, batch, found));
    hash->elements_min = found[HASH_TOTAL] - (batch->erased.mem ? ordo_min_size(found[HASH_TOTAL], batch->count) : 0);
    if (found[HASH_LARGEST] > HASH_UPDATES_MAX && batch->kind != HASH_DISTINCT && !batch->erased.mem) {
        ORDO_TRY(ordo_hash_make_distinct(call, hash, batch, run));
        ORDO_TRY(partition_and_measure(call, hash, batch, found));
    }
    return store(call, hash, batch, found);
}

/* ---- erasures ---------------------------------------------------------------------------------------------------- */

/* Counts the elements only where the table might be underfull: an element is counted once for every seven eighths of the table that
 * are erased. */
static ordo_status shrink_if_underfull(struct ordo_call *call, struct ordo_hash *hash)
{
    if (ordo_hash_is_underfull(hash, hash->elements_min))
        ORDO_TRY(ordo_hash_size(&hash->dict, call, &hash->elements_min));
    if (!ordo_hash_is_underfull(hash, hash->elements_min))
        return ORDO_OK;
    return ordo_hash_rebuild(call, hash, NULL, 0, ordo_hash_update_load(hash));
}

ordo_status ordo_hash_shrink(struct ordo_call *call, struct ordo_hash *hash, size_t erased)
{
    const int mark = call->n_scratch;

    hash->elements_min -= ordo_min_size(hash->elements_min, erased);
    const ordo_status status = shrink_if_underfull(call, hash);
    if (!ordo_lacks_memory(status))
        return status;
    ordo_call_abandon(call, mark);
    return ORDO_OK;
}

static ordo_status erase_keys(struct ordo_call *call, struct ordo_hash *hash, struct ordo_slice keys, size_t count)
{
    ORDO_TRY(ordo_hash_begin(call, hash));
    if (!hash->table.starts)
        return ORDO_OK;
    ORDO_TRY(ordo_hash_erase(call, hash, keys, count));
    return ordo_hash_shrink(call, hash, count);
}

/* ---- updates ----------------------------------------------------------------------------------------------------- */

static ordo_status update(struct ordo_call *call, struct ordo_hash *hash, struct ordo_hash_batch *batch)
{
    struct ordo_sorted_run run = { .mem = NULL };

    ORDO_TRY(ordo_hash_begin(call, hash));
    const ordo_status status = hash->table.starts
                                   ? partition_and_store(call, hash, batch, &run)
                                   : ordo_hash_rebuild(call, hash, batch, 0, ordo_hash_update_load(hash));
    ordo_runs_release(&hash->runs, &run);
    ordo_runs_drop_spare(&hash->runs);
    return status;
}

ordo_status ordo_hash_update(ordo_dict *dict, struct ordo_call *call, bool erase, struct ordo_slice keys,
                             struct ordo_slice values, size_t count)
{
    struct ordo_hash_batch batch = { .keys = keys, .values = values, .count = count };
    return erase ? erase_keys(call, ordo_hash_of(dict), keys, count) : update(call, ordo_hash_of(dict), &batch);
}

ordo_status ordo_hash_update_sorted(ordo_dict *dict, struct ordo_call *call, const struct ordo_sorted_updates *updates)
{
    struct ordo_hash_batch batch = { .keys = updates->keys,
                                     .values = updates->values,
                                     .erased = updates->erased,
                                     .count = updates->count,
                                     .kind = updates->distinct ? HASH_DISTINCT : HASH_ANY };
    if (updates->erased.mem && !updates->values.mem && dict->value_bytes) /* all are erased */
        return erase_keys(call, ordo_hash_of(dict), updates->keys, updates->count);
    return update(call, ordo_hash_of(dict), &batch);
}

ordo_status ordo_hash_combine(ordo_dict *dict, struct ordo_call *call, const struct ordo_combines *combines)
{
    struct ordo_hash_batch batch = { .keys = combines->keys,
                                     .values = combines->values,
                                     .count = combines->count,
                                     .combines = true,
                                     .value = combines->value,
                                     .op = combines->op };
    return update(call, ordo_hash_of(dict), &batch);
}
