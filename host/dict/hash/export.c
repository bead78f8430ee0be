/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/hash/hash.h"

#include "primitive/scan.h"

/* Allocates *before in scratch memory. Entry p becomes the number of elements in the first p partitions. */
static ordo_status count_before(struct ordo_call *call, const struct ordo_hash_table *table, cl_mem *before,
                                size_t *size)
{
    const size_t partitions = ordo_hash_partitions(table);
    cl_uint      total = 0;
    ORDO_TRY(ordo_call_scratch(call, (partitions + 1) * sizeof(cl_uint), before));
    ORDO_TRY(ordo_call_copy(call, table->counts, 0, *before, 0, partitions * sizeof(cl_uint)));
    ORDO_TRY(ordo_call_fill(call, *before, partitions * sizeof(cl_uint), sizeof(cl_uint), 0));
    ORDO_TRY(ordo_call_sum_before(call, ORDO_U32, *before, partitions + 1));
    ORDO_TRY(ordo_call_read(call, *before, partitions * sizeof total, &total, sizeof total));
    *size = total;
    return ORDO_OK;
}

ordo_status ordo_hash_size(ordo_dict *dict, struct ordo_call *call, size_t *out)
{
    struct ordo_hash *hash = ordo_hash_of(dict);
    const int         mark = call->n_scratch;
    cl_mem            before = NULL;

    *out = 0;
    ORDO_TRY(ordo_hash_begin(call, hash));
    if (hash->table.starts)
        ORDO_TRY(count_before(call, &hash->table, &before, out));
    ordo_call_release(call, mark);
    return ORDO_OK;
}

ordo_status ordo_hash_export(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys_out,
                             struct ordo_slice values_out, size_t capacity, size_t *count)
{
    struct ordo_hash        *hash = ordo_hash_of(dict);
    const struct ordo_launch launch = ordo_hash_kernel(hash, "dict/hash/export.cl", "hash_export",
                                                       ordo_hash_partitions(&hash->table), HASH_GROUP_DENSE);
    struct ordo_args         args = { .n = 0 };
    cl_mem                   before = NULL;

    *count = 0;
    ORDO_TRY(ordo_hash_begin(call, hash));
    if (hash->table.starts)
        ORDO_TRY(count_before(call, &hash->table, &before, count));
    if (*count > capacity)
        return ORDO_FAIL(call->dev, ORDO_TOO_SMALL, "capacity is %zu: the table has %zu elements", capacity, *count);
    if (*count == 0)
        return ORDO_OK;
    ordo_hash_add_table(&args, &hash->table);
    ORDO_ADD(&args, ORDO_ARG(before));
    ordo_args_slice(&args, &keys_out);
    ordo_args_slice(&args, &values_out);
    return ordo_call_launch(call, &launch, &args);
}

ordo_status ordo_hash_statistics(ordo_dict *dict, struct ordo_call *call, struct ordo_statistics *out)
{
    struct ordo_hash *hash = ordo_hash_of(dict);
    const size_t      element = dict->key_bytes + dict->value_bytes;

    *out = (struct ordo_statistics) { .bytes_peak = hash->bytes_peak, .cleanups = hash->rebuilds };
    ORDO_TRY(ordo_hash_begin(call, hash));
    ORDO_TRY(ordo_hash_size(dict, call, &out->elements));
    if (!hash->table.starts)
        return ORDO_OK;
    out->bytes_data = out->elements * element;
    out->bytes_index = (2 * ordo_hash_partitions(&hash->table) + 1) * sizeof(cl_uint);
    out->bytes_marks = ordo_hash_mark_bytes(hash, &hash->table);
    out->bytes_spare = hash->bytes - out->bytes_data - out->bytes_index - out->bytes_marks;
    return ORDO_OK;
}
