/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/hash/hash.h"

#include "primitive/by_key.h"
#include "primitive/scan.h"
#include "primitive/sort.h"
#include "shared/value.h"

#define PARTITION_FILE "dict/hash/partition.cl"

static ordo_status find_bounds(struct ordo_call *call, const ordo_dict *dict, const struct ordo_hash_table *table,
                               struct ordo_hash_batch *batch)
{
    const size_t             partitions = ordo_hash_partitions(table);
    const cl_uint            n = (cl_uint) batch->count;
    struct ordo_args         args = { .n = 0 };
    const struct ordo_launch launch = ordo_dict_kernel(dict, PARTITION_FILE, "hash_bounds", partitions + 1);

    ORDO_TRY(ordo_call_scratch(call, (partitions + 1) * sizeof(cl_uint), &batch->bounds));
    ORDO_ADD(&args, ORDO_ARG(batch->mixed), ORDO_ARG(n), ORDO_ARG(table->bits), ORDO_ARG(batch->bounds));
    return ordo_call_launch(call, &launch, &args);
}

/* Returns whether the sort moves each update's index instead of its value. */
static bool goes_by_index(const struct ordo_hash_batch *batch)
{
    return batch->erased.mem != NULL || batch->codes.mem != NULL;
}

ordo_status ordo_hash_partition(struct ordo_call *call, const struct ordo_hash *hash,
                                const struct ordo_hash_table *table, struct ordo_hash_batch *batch)
{
    const ordo_dict              *dict = &hash->dict;
    const bool                    by_index = goes_by_index(batch);
    const uint32_t                value_bytes = by_index ? sizeof(cl_uint) : batch->values.mem ? dict->value_bytes : 0;
    const cl_uint                 n = (cl_uint) batch->count;
    const struct ordo_sort_params params = { .key = ordo_dict_form_type(dict),
                                             .value_bytes = value_bytes,
                                             .first_bit = (uint32_t) (8 * dict->key_bytes) - table->bits,
                                             .bits = table->bits };
    struct ordo_args              args = { .n = 0 };
    struct ordo_slice             values = batch->values, sorted = ordo_none();
    cl_mem                        mixed = NULL, index = NULL;
    const struct ordo_launch      launch =
        ordo_dict_kernel(dict, PARTITION_FILE, "hash_mix_keys", ordo_dict_pass_items(call->dev, batch->count));

    ORDO_TRY(ordo_call_scratch(call, batch->count * dict->key_bytes, &batch->mixed));
    if (value_bytes)
        ORDO_TRY(ordo_call_scratch(call, batch->count * value_bytes, &sorted.mem));
    const int mark = call->n_scratch;
    ORDO_TRY(ordo_call_scratch(call, batch->count * dict->key_bytes, &mixed));
    if (by_index) {
        ORDO_TRY(ordo_call_scratch(call, batch->count * sizeof(cl_uint), &index));
        values = ordo_at(index, 0);
    }
    ordo_args_slice(&args, &batch->keys);
    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(table->seed), ORDO_ARG(mixed), ORDO_ARG(index));
    ordo_args_slice(&args, &batch->codes);
    ORDO_ADD(&args, ORDO_ARG(batch->found));
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    ORDO_TRY(ordo_call_sort(call, &params, ordo_at(mixed, 0), value_bytes ? values : ordo_none(),
                            ordo_at(batch->mixed, 0), sorted, batch->count));
    ordo_call_release(call, mark);
    batch->index = by_index ? sorted.mem : NULL;
    batch->values_by_part = by_index ? batch->values : sorted;
    return find_bounds(call, dict, table, batch);
}

void ordo_hash_add_batch(struct ordo_args *args, const struct ordo_hash_batch *batch)
{
    ORDO_ADD(args, ORDO_ARG(batch->mixed), ORDO_ARG(batch->index));
    ordo_args_slice(args, &batch->values_by_part);
    ordo_args_slice(args, &batch->erased);
    ORDO_ADD(args, ORDO_ARG(batch->kind), ORDO_ARG(batch->bounds));
}

cl_uint ordo_hash_how(const struct ordo_hash_batch *batch)
{
    const bool    is_signed = batch->value == ORDO_I32 || batch->value == ORDO_I64;
    const bool    is_float = batch->value == ORDO_F32 || batch->value == ORDO_F64;
    const cl_uint order = is_float ? VALUE_FLOAT : is_signed ? VALUE_SIGNED : VALUE_UNSIGNED;
    return VALUE_HOW((cl_uint) batch->op, order);
}

static ordo_status sum_up(struct ordo_call *call, const struct ordo_hash *hash, struct ordo_hash_batch *batch)
{
    const ordo_dict                       *dict = &hash->dict;
    const struct ordo_reduce_by_key_params params = { .key = ordo_dict_form_type(dict),
                                                      .value = batch->value,
                                                      .op = batch->op };
    struct ordo_slice                      keys = ordo_none(), values = ordo_none(), groups = ordo_none();
    cl_uint                                count = 0;

    ORDO_TRY(ordo_call_scratch(call, batch->count * dict->key_bytes, &keys.mem));
    ORDO_TRY(ordo_call_scratch(call, batch->count * dict->value_bytes, &values.mem));
    ORDO_TRY(ordo_call_scratch(call, sizeof count, &groups.mem));
    const int mark = call->n_scratch;
    ORDO_TRY(ordo_call_reduce_by_key(call, &params, batch->keys, batch->values, batch->count, keys, values, groups));
    ORDO_TRY(ordo_call_read(call, groups.mem, 0, &count, sizeof count));
    ordo_call_release(call, mark);
    batch->keys = keys;
    batch->values = values;
    batch->count = count;
    batch->kind = HASH_DISTINCT;
    return ORDO_OK;
}

ordo_status ordo_hash_make_distinct(struct ordo_call *call, struct ordo_hash *hash, struct ordo_hash_batch *batch,
                                    struct ordo_sorted_run *run)
{
    if (batch->combines)
        return sum_up(call, hash, batch);
    ORDO_TRY(ordo_runs_sort_distinct(&hash->runs, call, batch->keys, batch->values, batch->count, run));
    batch->keys = ordo_run_keys(run);
    batch->values = ordo_run_values(&hash->dict, run);
    batch->count = run->count;
    batch->kind = HASH_DISTINCT;
    return ORDO_OK;
}

ordo_status ordo_hash_begin_found(struct ordo_call *call, cl_mem *found)
{
    ORDO_TRY(ordo_call_scratch(call, HASH_FOUND_WORDS * sizeof(cl_uint), found));
    return ordo_call_fill(call, *found, 0, HASH_FOUND_WORDS * sizeof(cl_uint), 0);
}

ordo_status ordo_hash_read_found(struct ordo_call *call, cl_mem found, cl_uint out[HASH_FOUND_WORDS])
{
    return ordo_call_read(call, found, 0, out, HASH_FOUND_WORDS * sizeof *out);
}

ordo_status ordo_hash_look(struct ordo_call *call, const struct ordo_hash_table *table, const ordo_dict *dict,
                           const struct ordo_hash_batch *batch, cl_mem found)
{
    const struct ordo_launch launch =
        ordo_dict_kernel(dict, PARTITION_FILE, "hash_measure", ordo_hash_partitions(table));
    struct ordo_args args = { .n = 0 };
    ordo_hash_add_table(&args, table);
    ORDO_ADD(&args, ORDO_ARG(batch->bounds), ORDO_ARG(found));
    return ordo_call_launch(call, &launch, &args);
}

ordo_status ordo_hash_measure(struct ordo_call *call, const struct ordo_hash_table *table, const ordo_dict *dict,
                              const struct ordo_hash_batch *batch, cl_uint found[HASH_FOUND_WORDS])
{
    const int mark = call->n_scratch;
    cl_mem    words = NULL;

    ORDO_TRY(ordo_hash_begin_found(call, &words));
    ORDO_TRY(ordo_hash_look(call, table, dict, batch, words));
    ORDO_TRY(ordo_hash_read_found(call, words, found));
    ordo_call_release(call, mark);
    return ORDO_OK;
}

ordo_status ordo_hash_size_partitions(struct ordo_call *call, const struct ordo_hash *hash,
                                      const struct ordo_hash_table *table, cl_mem bounds, cl_mem incoming, cl_uint more,
                                      cl_uint load, cl_mem found)
{
    const size_t             partitions = ordo_hash_partitions(table);
    const struct ordo_launch launch = ordo_dict_kernel(&hash->dict, PARTITION_FILE, "hash_size", partitions + 1);
    struct ordo_args         args = { .n = 0 };

    ORDO_ADD(&args, ORDO_ARG(bounds), ORDO_ARG(incoming), ORDO_ARG(more), ORDO_ARG(table->bits), ORDO_ARG(load),
             ORDO_ARG(table->starts), ORDO_ARG(found));
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    return ordo_call_sum_before(call, ORDO_U32, table->starts, partitions + 1);
}
