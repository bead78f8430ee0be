/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/batch.h"

#include "primitive/scan.h"
#include "primitive/sort.h"
#include "shared/key.h"

uint64_t ordo_dict_end_key(const ordo_dict *dict, bool greatest)
{
    const uint64_t bits = !greatest ? 0 : dict->key_bytes >= 8 ? UINT64_MAX : UINT32_MAX;
    return key_from_bits_of((int) dict->key, bits);
}

#define BATCH_FILE "dict/batch.cl"

ordo_status ordo_dict_offsets(struct ordo_call *call, const ordo_dict *dict, struct ordo_slice counts, size_t count,
                              struct ordo_slice offsets)
{
    const struct ordo_launch launch = ordo_dict_kernel(dict, BATCH_FILE, "batch_widen", count + 1);
    const cl_uint            n = (cl_uint) count;
    struct ordo_args         args = { .n = 0 };

    ordo_args_slice(&args, &counts);
    ORDO_ADD(&args, ORDO_ARG(n));
    ordo_args_slice(&args, &offsets);
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    const struct ordo_scan scan = {
        .type = ORDO_U64, .op = ORDO_SUM, .in = offsets, .out = offsets, .count = count + 1
    };
    return ordo_call_scan(call, &scan);
}

ordo_status ordo_batch_sort(struct ordo_call *call, const ordo_dict *dict, struct ordo_slice keys, size_t count,
                            struct ordo_sorted_batch *out)
{
    const struct ordo_launch launch = ordo_dict_kernel(dict, BATCH_FILE, "batch_number", count);
    const cl_uint            n = (cl_uint) count;
    struct ordo_args         args = { .n = 0 };
    cl_mem                   number = NULL;

    ORDO_TRY(ordo_call_scratch(call, count * sizeof(cl_uint), &number));
    ORDO_ADD(&args, ORDO_ARG(number), ORDO_ARG(n));
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    return ordo_batch_sort_numbered(call, dict, keys, number, count, out);
}

ordo_status ordo_batch_sort_numbered(struct ordo_call *call, const ordo_dict *dict, struct ordo_slice keys,
                                     cl_mem number, size_t count, struct ordo_sorted_batch *out)
{
    const struct ordo_sort_params params = { .key = dict->key, .value_bytes = sizeof(cl_uint) };

    ORDO_TRY(ordo_call_scratch(call, count * dict->key_bytes, &out->keys));
    ORDO_TRY(ordo_call_scratch(call, count * sizeof(cl_uint), &out->index));
    return ordo_call_sort(call, &params, keys, ordo_at(number, 0), ordo_at(out->keys, 0), ordo_at(out->index, 0),
                          count);
}

/* Replaces n flags and the 0 after them by exclusive prefix sums. Sets *kept to the number of flags that are 1. */
static ordo_status number_kept(struct ordo_call *call, cl_mem flags, size_t n, size_t *kept)
{
    cl_uint total = 0;
    ORDO_TRY(ordo_call_sum_before(call, ORDO_U32, flags, n + 1));
    ORDO_TRY(ordo_call_read(call, flags, n * sizeof total, &total, sizeof total));
    *kept = total;
    return ORDO_OK;
}

ordo_status ordo_batch_keep(struct ordo_call *call, const ordo_dict *dict, cl_mem flags,
                            struct ordo_sorted_updates *updates)
{
    const struct ordo_sorted_updates u = *updates;
    const struct ordo_launch         launch = ordo_dict_kernel(dict, BATCH_FILE, "batch_keep", u.count);
    const cl_uint                    n = (cl_uint) u.count;
    struct ordo_args                 args = { .n = 0 };
    cl_mem                           keys = NULL, values = NULL, erased = NULL;
    size_t                           kept = 0;

    ORDO_TRY(number_kept(call, flags, u.count, &kept));
    if (kept > 0) {
        ORDO_TRY(ordo_call_scratch(call, kept * dict->key_bytes, &keys));
        if (u.values.mem)
            ORDO_TRY(ordo_call_scratch(call, kept * dict->value_bytes, &values));
        if (u.erased.mem)
            ORDO_TRY(ordo_call_scratch(call, kept, &erased));
        ORDO_ADD(&args, ORDO_ARG(flags), ORDO_ARG(n));
        ordo_args_slice(&args, &u.keys);
        ordo_args_slice(&args, &u.values);
        ordo_args_slice(&args, &u.erased);
        ORDO_ADD(&args, ORDO_ARG(keys), ORDO_ARG(values), ORDO_ARG(erased));
        ORDO_TRY(ordo_call_launch(call, &launch, &args));
    }
    *updates =
        (struct ordo_sorted_updates) { ordo_at(keys, 0), ordo_at(values, 0), ordo_at(erased, 0), kept, true, u.waits };
    return ORDO_OK;
}

static ordo_status find_heads(struct ordo_call *call, const ordo_dict *dict, const struct ordo_sorted_batch *batch,
                              size_t count, cl_mem *heads)
{
    const struct ordo_launch launch = ordo_dict_kernel(dict, BATCH_FILE, "batch_heads", count);
    const cl_uint            n = (cl_uint) count;
    struct ordo_args         args = { .n = 0 };

    ORDO_TRY(ordo_call_scratch(call, count * sizeof(cl_uint), heads));
    ORDO_ADD(&args, ORDO_ARG(batch->keys), ORDO_ARG(n), ORDO_ARG(*heads));
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    const struct ordo_scan scan = { .type = ORDO_U32,
                                    .op = ORDO_MAX,
                                    .inclusive = true,
                                    .in = ordo_at(*heads, 0),
                                    .out = ordo_at(*heads, 0),
                                    .count = count };
    return ordo_call_scan(call, &scan);
}

ordo_status ordo_dict_insert_enqueue(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys,
                                     struct ordo_slice values, size_t count, struct ordo_slice inserted)
{
    const struct ordo_launch launch = ordo_dict_kernel(dict, BATCH_FILE, "insert_resolve", count);
    const cl_uint            n = (cl_uint) count;
    struct ordo_args         args = { .n = 0 };
    struct ordo_sorted_batch batch;
    cl_mem                   heads = NULL, found = NULL, stored = NULL;

    ORDO_TRY(ordo_batch_sort(call, dict, keys, count, &batch));
    ORDO_TRY(find_heads(call, dict, &batch, count, &heads));
    ORDO_TRY(ordo_call_scratch(call, count, &found));
    if (dict->value_bytes)
        ORDO_TRY(ordo_call_scratch(call, count * dict->value_bytes, &stored));

    const struct ordo_finds finds = { ordo_at(batch.keys, 0), count, true, ordo_at(stored, 0), ordo_at(found, 0) };
    ORDO_TRY(dict->structure->find(dict, call, &finds));
    ORDO_ADD(&args, ORDO_ARG(heads), ORDO_ARG(batch.index), ORDO_ARG(found));
    ordo_args_slice(&args, &values);
    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(stored));
    ordo_args_slice(&args, &inserted);
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    ORDO_TRY(ordo_dict_before_store(dict, call));
    const struct ordo_sorted_updates updates = {
        ordo_at(batch.keys, 0), ordo_at(stored, 0), ordo_none(), count, false, false
    };
    return dict->structure->update_sorted(dict, call, &updates);
}
