/* SPDX-License-Identifier: Apache-2.0 */
/* Applies small batches of upserts without a sort, on devices other than CPUs (cl/dict/hash/update_small.cl). */
#include "dict/hash/hash.h"

#include "shared/hash_small.h"

#define SIT_OUT 16

/* Indices of slots of larger tables would need more than 32 bits. */
#define BUCKETS_MAX ((size_t) 1 << 28)

struct small {
    struct ordo_call             *call;
    struct ordo_hash             *hash;
    const struct ordo_hash_batch *batch;
    cl_uint                       group_bits;
    cl_mem                        state, bin_keys, bin_index, words;
};

static struct ordo_launch kernel_of(const struct small *s, const char *kernel, size_t groups, size_t group)
{
    return ordo_hash_kernel(s->hash, "dict/hash/update_small.cl", kernel, groups, group);
}

static bool has_bins(const struct small *s)
{
    return s->batch->count > s->hash->scan_max;
}

static size_t groups_of(const struct small *s)
{
    return (size_t) 1 << s->group_bits;
}

/* This method never shrinks tables. So it is not suited to tables that may be underfull. */
static bool is_suited(const struct small *s)
{
    const struct ordo_hash       *hash = s->hash;
    const struct ordo_hash_batch *b = s->batch;

    if (ordo_device_facts(hash->dict.dev)->cpu || hash->whole || b->combines || b->erased.mem ||
        (hash->dict.value_bytes && !b->values.mem))
        return false;
    if (ordo_is_dry_run(hash->dict.dev))
        return true;
    return hash->table.starts && b->count <= HASH_SMALL_MAX && b->count <= hash->table.n_buckets / 2 &&
           hash->table.n_buckets <= BUCKETS_MAX && s->group_bits <= hash->table.bits &&
           !ordo_hash_is_underfull(hash, hash->elements_min);
}

/* Up to this number of updates, a work-group has half as many updates as work-items on average, so that most of its
 * steps take one round. On an H200, 2^14 upserts took 79 and 86 us, and 103 and 104 us with twice as many updates (two
 * runs, with plans for 48 updates). More groups would take too much memory. */
#define SPREAD_MAX ((size_t) 1 << 16)

static cl_uint bits_of_groups(size_t count, cl_uint table_bits)
{
    cl_uint bits = 1;
    while (((size_t) HASH_SMALL_MEAN << bits) < count)
        bits++;
    return count <= SPREAD_MAX && bits < table_bits ? bits + 1 : bits;
}

static ordo_status take_memory(struct small *s)
{
    const size_t groups = groups_of(s), entries = groups * HASH_SMALL_UPDATES;

    ORDO_TRY(ordo_call_scratch(s->call, groups * HASH_SMALL_PLAN_WORDS * sizeof(cl_uint), &s->words));
    if (has_bins(s)) {
        ORDO_TRY(ordo_call_scratch(s->call, entries * s->hash->dict.key_bytes, &s->bin_keys));
        ORDO_TRY(ordo_call_scratch(s->call, entries * sizeof(cl_uint), &s->bin_index));
    }
    return ordo_call_zeroed(s->call, HASH_SMALL_STATE_WORDS * sizeof(cl_uint), &s->state);
}

static ordo_status bin(const struct small *s)
{
    struct ordo_launch launch = kernel_of(s, "hash_small_bin", 1, HASH_GROUP_SPARSE);
    const cl_uint      n = (cl_uint) s->batch->count;
    struct ordo_args   args = { .n = 0 };

    launch.groups = ordo_ceil_div(s->batch->count, launch.group * HASH_SMALL_BIN_KEYS);
    ordo_args_slice(&args, &s->batch->keys);
    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(s->hash->table.seed), ORDO_ARG(s->state), ORDO_ARG(s->bin_keys),
             ORDO_ARG(s->bin_index), ORDO_ARG(s->group_bits));
    return ordo_call_launch(s->call, &launch, &args);
}

static ordo_status plan(const struct small *s)
{
    const struct ordo_launch launch = kernel_of(s, "hash_small_plan", groups_of(s), HASH_SMALL_GROUP);
    const cl_uint            n = (cl_uint) s->batch->count;
    struct ordo_args         args = { .n = 0 };

    ordo_hash_add_table(&args, &s->hash->table);
    ordo_args_slice(&args, &s->batch->keys);
    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(s->batch->kind), ORDO_ARG(s->state), ORDO_ARG(s->bin_keys),
             ORDO_ARG(s->bin_index), ORDO_ARG(s->group_bits), ORDO_ARG(s->words));
    return ordo_call_launch(s->call, &launch, &args);
}

static ordo_status write(const struct small *s)
{
    const struct ordo_launch launch = kernel_of(s, "hash_small_write", groups_of(s), HASH_SMALL_WRITERS);
    struct ordo_args         args = { .n = 0 };

    ordo_hash_add_table(&args, &s->hash->table);
    ordo_args_slice(&args, &s->batch->keys);
    ordo_args_slice(&args, &s->batch->values);
    ORDO_ADD(&args, ORDO_ARG(s->state), ORDO_ARG(s->words));
    return ordo_call_launch(s->call, &launch, &args);
}

static ordo_status run(const struct small *s, bool *done)
{
    cl_uint declined = 0;

    if (has_bins(s))
        ORDO_TRY(bin(s));
    ORDO_TRY(plan(s));
    s->hash->needs_check = true;
    ORDO_TRY(write(s));
    ORDO_TRY(ordo_call_read_after_change(s->call, s->state, 0, &declined, sizeof declined));
    s->hash->needs_check = false;
    *done = !declined;
    return declined ? ordo_call_fill(s->call, s->state, 0, sizeof declined, 0) : ORDO_OK;
}

ordo_status ordo_hash_update_small(struct ordo_call *call, struct ordo_hash *hash, const struct ordo_hash_batch *batch,
                                   bool *done)
{
    struct small s = { .call = call, .hash = hash, .batch = batch };
    const int    mark = call->n_scratch;
    bool         lacked = false;

    *done = false;
    s.group_bits = bits_of_groups(batch->count, hash->table.bits);
    if (!is_suited(&s))
        return ORDO_OK;
    if (hash->sits_out > 0) {
        hash->sits_out--;
        return ORDO_OK;
    }
    ORDO_CALL_TRY(call, take_memory(&s), &lacked);
    if (lacked)
        return ORDO_OK;
    ORDO_TRY(run(&s, done));
    ordo_call_release(call, mark);
    if (*done)
        hash->small_batches++;
    else
        hash->sits_out = SIT_OUT;
    return ORDO_OK;
}
