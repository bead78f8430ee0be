/* SPDX-License-Identifier: Apache-2.0 */
/* Stores batches of updates. If all partitions have capacity, changes the table in place. Otherwise builds a new
 * table. */
#include "dict/hash/hash.h"

/* `found` must come from ordo_hash_measure. */
static ordo_status store(struct ordo_call *call, struct ordo_hash *hash, struct ordo_hash_batch *batch,
                         const cl_uint found[HASH_FOUND_WORDS])
{
    bool fits = !found[HASH_FULL];
    if (found[HASH_LARGEST] > HASH_UPDATES_MAX)
        fits = false;
    else if (!fits)
        ORDO_TRY(ordo_hash_has_capacity(call, hash, batch, &fits));
    if (fits && ordo_hash_is_underfull(hash, found[HASH_TOTAL] + batch->count)) {
        const int         mark = call->n_scratch;
        const ordo_status status = ordo_hash_rebuild(call, hash, batch, 0, ordo_hash_update_load(hash));
        if (!ordo_lacks_memory(status))
            return status;
        ordo_call_abandon(call, mark);
    }
    if (!fits)
        return ordo_hash_rebuild(call, hash, batch, 0, ordo_hash_update_load(hash));
    hash->needs_check = true;
    ORDO_TRY(ordo_hash_change(call, hash, &hash->table, batch));
    hash->needs_check = false;
    return ORDO_OK;
}

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

static ordo_status update(struct ordo_call *call, struct ordo_hash *hash, struct ordo_hash_batch *batch)
{
    struct ordo_sorted_run run = { .mem = NULL };
    bool                   done = false;

    ORDO_TRY(ordo_hash_begin(call, hash));
    ORDO_TRY(ordo_hash_update_small(call, hash, batch, &done));
    if (!done)
        ORDO_TRY(ordo_hash_apply_direct(call, hash, batch, ordo_none(), ordo_none(), &done));
    if (done && !ordo_is_dry_run(call->dev))
        return ORDO_OK;
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
    if (updates->erased.mem && !updates->values.mem && dict->value_bytes)
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
