/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/hash/hash.h"

ordo_status ordo_hash_has_capacity(struct ordo_call *call, const struct ordo_hash *hash,
                                   const struct ordo_hash_batch *batch, bool *out)
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

/* If the table has fewer than BUCKETS_EACH buckets per update, kernels read whole partitions (update_dense.cl).
 * Otherwise they read only some buckets (update_sparse.cl). */
#define BUCKETS_EACH 2
/* After hash_update_sparse, a work-group of hash_update_dense handles this number of partitions. */
#define LEFT_SHARE 8

/* Allocates *left, which tells hash_update_dense the partitions to update. If memory is short, sets *left to NULL.
 * hash_update_dense then updates all partitions. */
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

bool ordo_hash_is_serial(const struct ordo_hash *hash, const struct ordo_hash_batch *batch)
{
    return ordo_device_facts(hash->dict.dev)->cpu && !hash->whole &&
           !(batch->erased.mem && batch->kind != HASH_DISTINCT);
}

ordo_status ordo_hash_update_serial(struct ordo_call *call, const struct ordo_hash *hash,
                                    const struct ordo_hash_table *table, const struct ordo_hash_batch *batch,
                                    bool fills)
{
    const cl_uint      how = ordo_hash_how(batch), fill = fills;
    struct ordo_args   args = { .n = 0 };
    struct ordo_launch launch =
        ordo_hash_serial_kernel(hash, "dict/hash/update_serial.cl", "hash_update_serial", table);

    if (batch->combines)
        ordo_launch_define(&launch, "HASH_COMBINES", 1);
    ordo_hash_add_table(&args, table);
    ordo_hash_add_batch(&args, batch);
    ORDO_ADD(&args, ORDO_ARG(fill), ORDO_ARG(how));
    return ordo_call_launch(call, &launch, &args);
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

    if (ordo_hash_is_serial(hash, batch))
        return ordo_hash_update_serial(call, hash, table, batch, false);
    if (!dense || ordo_is_dry_run(call->dev))
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
    /* hash_update_sparse has stored part of the batch, so a failed second launch is tried again. */
    if (left && status != ORDO_OK)
        status = ordo_call_launch(call, &rest, &args);
    ORDO_TRY(status);
    ordo_call_release(call, mark);
    return ORDO_OK;
}
