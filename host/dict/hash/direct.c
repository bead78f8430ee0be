/* SPDX-License-Identifier: Apache-2.0 */
/* Applies batches in their own order on CPUs (cl/dict/hash/direct.cl). */
#include "dict/hash/hash.h"

#include "shared/codes.h"

/* Each work-group reads all keys of the batch. So more work-groups need more operations. */
#define GROUP_ITEMS ((size_t) 1 << 12)
#define GROUPS_MAX  ((size_t) 16)

struct direct {
    struct ordo_call             *call;
    struct ordo_hash             *hash;
    const struct ordo_hash_batch *batch;
    cl_uint                       n;
    cl_mem                        reserved, found;
};

/* Larger batches of updates alone are faster if they are sorted by partition. */
#define UPDATES_MAX ((size_t) 1 << 15)

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
    launch.groups = ordo_min_size(launch.groups, most);
    return launch;
}

static void add_args(const struct direct *d, struct ordo_args *args)
{
    ordo_hash_add_table(args, &d->hash->table);
    ordo_args_slice(args, &d->batch->keys);
    ORDO_ADD(args, ORDO_ARG(d->n));
    ordo_args_slice(args, &d->batch->codes);
    ordo_args_slice(args, &d->batch->erased);
    ORDO_ADD(args, ORDO_ARG(d->reserved));
}

static ordo_status reserve(struct direct *d, cl_uint found[HASH_FOUND_WORDS])
{
    const struct ordo_launch launch = kernel_of(d, "hash_direct_reserve");
    struct ordo_args         args = { .n = 0 };

    add_args(d, &args);
    ORDO_ADD(&args, ORDO_ARG(d->found));
    ORDO_TRY(ordo_call_launch(d->call, &launch, &args));
    return ordo_hash_read_found(d->call, d->found, found);
}

static ordo_status execute(struct direct *d, struct ordo_slice found_out, struct ordo_slice values_out)
{
    const struct ordo_launch launch = kernel_of(d, "hash_direct");
    struct ordo_args         args = { .n = 0 };

    add_args(d, &args);
    ordo_args_slice(&args, &d->batch->values);
    ordo_args_slice(&args, &found_out);
    ordo_args_slice(&args, &values_out);
    d->hash->needs_check = true;
    ORDO_TRY(ordo_call_launch(d->call, &launch, &args));
    d->hash->needs_check = false;
    return ORDO_OK;
}

static bool can_do(const struct direct *d, const cl_uint found[HASH_FOUND_WORDS])
{
    const cl_uint codes = found[HASH_CODES];
    const bool    stores = (codes & (HASH_CODE_BIT(CODE_UPSERT) | HASH_CODE_BIT(CODE_INSERT))) != 0;
    return !found[HASH_FULL] && codes >> CODE_SEEK_LT == 0 &&
           (!stores || d->batch->values.mem || d->hash->dict.value_bytes == 0);
}

static ordo_status take_memory(struct direct *d)
{
    ORDO_TRY(ordo_call_scratch(d->call, ordo_hash_partitions(&d->hash->table) * sizeof(cl_uint), &d->reserved));
    return ordo_hash_begin_found(d->call, &d->found);
}

ordo_status ordo_hash_apply_direct(struct ordo_call *call, struct ordo_hash *hash, const struct ordo_hash_batch *batch,
                                   struct ordo_slice found_out, struct ordo_slice values_out, bool *done)
{
    struct direct d = { .call = call, .hash = hash, .batch = batch, .n = (cl_uint) batch->count };
    const int     mark = call->n_scratch;
    cl_uint       found[HASH_FOUND_WORDS];

    *done = false;
    if (!is_suited(hash, batch))
        return ORDO_OK;
    ORDO_TRY(take_memory(&d));
    ORDO_TRY(reserve(&d, found));
    *done = can_do(&d, found);
    if (*done || ordo_is_dry_run(call->dev)) {
        hash->elements_min = ordo_hash_least_elements(found, batch->count);
        ORDO_TRY(execute(&d, found_out, values_out));
    }
    ordo_call_release(call, mark);
    return ORDO_OK;
}
