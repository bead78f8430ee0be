/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel hash_mixed computes all results of a mixed batch, and one update for each changed key. */
#include "dict/hash/hash.h"

static ordo_status resolve(struct ordo_call *call, const struct ordo_hash *hash, const struct ordo_hash_batch *batch,
                           cl_mem left, const struct ordo_batch *results)
{
    const struct ordo_launch launch = ordo_hash_kernel(hash, "dict/hash/mixed.cl", "hash_mixed",
                                                       ordo_hash_partitions(&hash->table), HASH_GROUP_SPARSE);
    struct ordo_args         args = { .n = 0 };
    ordo_hash_add_table(&args, &hash->table);
    ordo_hash_add_batch(&args, batch);
    ordo_args_slice(&args, &batch->codes);
    ORDO_ADD(&args, ORDO_ARG(left));
    ordo_args_slice(&args, &results->found);
    ordo_args_slice(&args, &results->values_out);
    ORDO_ADD(&args, ORDO_ARG(batch->found));
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status store(struct ordo_call *call, struct ordo_hash *hash, const struct ordo_hash_batch *batch,
                         const cl_uint found[HASH_FOUND_WORDS])
{
    hash->elements_min = ordo_hash_least_elements(found, batch->count);
    hash->needs_check = true;
    ORDO_TRY(ordo_hash_change(call, hash, &hash->table, batch));
    hash->needs_check = false;
    return ORDO_OK;
}

ordo_status ordo_hash_apply_points(ordo_dict *dict, struct ordo_call *call, const struct ordo_batch *batch, bool *done)
{
    struct ordo_hash      *hash = ordo_hash_of(dict);
    struct ordo_hash_batch points = { .keys = batch->keys,
                                      .values = batch->values,
                                      .codes = batch->codes,
                                      .count = batch->count,
                                      .kind = HASH_RESOLVED };
    const int              mark = call->n_scratch;
    cl_uint                found[HASH_FOUND_WORDS];
    cl_mem                 left = NULL;

    *done = false;
    ORDO_TRY(ordo_hash_begin(call, hash));
    if (!hash->table.starts)
        return ORDO_OK;
    ORDO_TRY(ordo_dict_no_ranges(call, batch));
    if (!dict->results) /* results for host arrays must be downloaded before the batch stores anything */
        ORDO_TRY(ordo_hash_apply_direct(call, hash, &points, batch->found, batch->values_out, done));
    if (*done && !ordo_is_dry_run(call->dev))
        return ORDO_OK;
    ORDO_TRY(ordo_hash_begin_found(call, &points.found));
    ORDO_TRY(ordo_hash_partition(call, hash, &hash->table, &points));
    ORDO_TRY(ordo_hash_look(call, &hash->table, dict, &points, points.found));
    ORDO_TRY(ordo_call_scratch(call, batch->count * sizeof(cl_uint), &left));
    ORDO_TRY(resolve(call, hash, &points, left, batch));
    ORDO_TRY(ordo_hash_read_found(call, points.found, found));
    *done = !found[HASH_REFUSED] && !ordo_hash_is_underfull(hash, found[HASH_TOTAL] + batch->count);
    if (*done || ordo_is_dry_run(call->dev)) {
        ORDO_TRY(ordo_dict_before_store(dict, call));
        points.index = left;
        if (found[HASH_CODES] >= HASH_CODE_BIT(ORDO_UPSERT))
            ORDO_TRY(store(call, hash, &points, found));
    }
    ordo_call_release(call, mark);
    return ORDO_OK;
}
