/* SPDX-License-Identifier: Apache-2.0 */
/* Applies batches in their own order on CPUs (cl/dict/hash/direct.cl). */
#include "dict/hash/hash.h"

#include "shared/codes.h"

/* Each work-group reads all keys of the batch. So more work-groups need more operations. */
#define GROUP_ITEMS HASH_DIRECT_ALONE
#define GROUPS_MAX  ((size_t) 16)

struct direct {
    struct ordo_call             *call;
    struct ordo_hash             *hash;
    const struct ordo_hash_batch *batch;
    cl_uint                       n, reserves;
    cl_mem                        reserved, found;
};

/* Larger batches of updates alone are faster if they are sorted by partition. */
#define UPDATES_MAX ((size_t) 1 << 12)

/* This method never shrinks tables. So it is not suited to tables that may be underfull. */
static bool is_suited(const struct ordo_hash *hash, const struct ordo_hash_batch *b)
{
    if (!ordo_device_facts(hash->dict.dev)->cpu || hash->whole || b->combines)
        return false;
    if (ordo_is_dry_run(hash->dict.dev))
        return true;
    return hash->table.starts && (b->codes.mem || b->count <= UPDATES_MAX) &&
           !ordo_hash_is_underfull(hash, hash->elements_min);
}

static struct ordo_launch kernel_of(const struct direct *d, const char *kernel)
{
    const size_t       units = ordo_device_facts(d->hash->dict.dev)->compute_units;
    struct ordo_launch launch = ordo_hash_serial_kernel(d->hash, "dict/hash/direct.cl", kernel, &d->hash->table);
    const size_t most = ordo_min_size(ordo_ceil_div(d->batch->count, GROUP_ITEMS), ordo_min_size(units, GROUPS_MAX));
    launch.groups = d->reserves ? 1 : ordo_min_size(launch.groups, most);
    return launch;
}

static void add_args(const struct direct *d, struct ordo_args *args)
{
    ordo_hash_add_table(args, &d->hash->table);
    ordo_args_slice(args, &d->batch->keys);
    ORDO_ADD(args, ORDO_ARG(d->n));
    ordo_args_slice(args, &d->batch->codes);
    ordo_args_slice(args, &d->batch->erased);
    ORDO_ADD(args, ORDO_ARG(d->reserved), ORDO_ARG(d->found));
}

static ordo_status enqueue(struct direct *d, struct ordo_slice found_out, struct ordo_slice values_out)
{
    const struct ordo_launch reserve = kernel_of(d, "hash_direct_reserve"), all = kernel_of(d, "hash_direct");
    struct ordo_args         batch = { .n = 0 };

    add_args(d, &batch);
    if (!d->reserves || ordo_is_dry_run(d->call->dev))
        ORDO_TRY(ordo_call_launch(d->call, &reserve, &batch));
    ordo_args_slice(&batch, &d->batch->values);
    ordo_args_slice(&batch, &found_out);
    ordo_args_slice(&batch, &values_out);
    ORDO_ADD(&batch, ORDO_ARG(d->reserves));
    d->hash->needs_check = true;
    return ordo_call_launch(d->call, &all, &batch);
}

static ordo_status take_memory(struct direct *d)
{
    ORDO_TRY(ordo_call_scratch(d->call, ordo_hash_partitions(&d->hash->table) * sizeof(cl_uint), &d->reserved));
    return ordo_hash_begin_found(d->call, &d->found);
}

ordo_status ordo_hash_apply_direct(struct ordo_call *call, struct ordo_hash *hash, const struct ordo_hash_batch *batch,
                                   struct ordo_slice found_out, struct ordo_slice values_out, bool *done)
{
    struct direct d = { .call = call,
                        .hash = hash,
                        .batch = batch,
                        .n = (cl_uint) batch->count,
                        .reserves = batch->count <= hash->scan_max };
    const int     mark = call->n_scratch;
    cl_uint       found[HASH_FOUND_WORDS];

    *done = false;
    if (!is_suited(hash, batch))
        return ORDO_OK;
    ORDO_TRY(take_memory(&d));
    ORDO_TRY(enqueue(&d, found_out, values_out));
    ORDO_TRY(ordo_hash_read_found(call, d.found, found));
    hash->needs_check = false;
    ordo_call_release(call, mark);
    *done = !found[HASH_REFUSED];
    if (*done)
        hash->elements_min = (size_t) ((int64_t) hash->elements_min + (int32_t) found[HASH_TOTAL]);
    return ORDO_OK;
}
