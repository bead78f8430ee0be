/* SPDX-License-Identifier: Apache-2.0 */
/* Batches in key order, and inserts of absent keys: launches of cl/dict/batch.cl. */
#include "dict/batch.h"

#include "primitive/scan.h"
#include "primitive/sort.h"

/* Work-items of a group; each works alone. */
#define GROUP 64

/* More groups than this fill every device; work-items then take several items. */
#define GROUPS_MAX ((size_t) 1 << 18)

ordo_status ordo_dict_launch(struct ordo_call *call, const ordo_dict *dict, const char *file, const char *name,
                             size_t items, const struct ordo_arg *args, size_t n_args)
{
    const size_t             group = ordo_device_facts(call->dev)->max_group < GROUP ? 1 : GROUP;
    const struct ordo_define defines[] = {
        { "ORDO_KEY", dict->key },
        { "ORDO_VALUE_BYTES", dict->value_bytes },
        { "RUN_GROUP", (long) group },
        { NULL, 0 },
    };
    struct ordo_kernel *kernel = NULL;
    ORDO_TRY(ordo_call_kernel(call, file, name, defines, &kernel));
    return ordo_call_launch(call, kernel, ordo_min_size(ordo_ceil_div(items, group), GROUPS_MAX), group, args, n_args);
}

static ordo_status launch(struct ordo_call *call, const ordo_dict *dict, const char *name, size_t items,
                          const struct ordo_arg *args, size_t n_args)
{
    return ordo_dict_launch(call, dict, "dict/batch.cl", name, items, args, n_args);
}

ordo_status ordo_batch_sort(struct ordo_call *call, const ordo_dict *dict, struct ordo_slice keys, size_t count,
                            struct ordo_sorted_batch *out)
{
    const struct ordo_sort_params params = { .key = dict->key, .value_bytes = sizeof(cl_uint) };
    const size_t                  words = count * sizeof(cl_uint);
    const cl_uint                 n = (cl_uint) count;

    out->count = count;
    ORDO_TRY(ordo_call_scratch(call, count * dict->key_bytes, &out->keys));
    ORDO_TRY(ordo_call_scratch(call, words, &out->index));
    ORDO_TRY(ordo_call_scratch(call, words, &out->heads));
    /* The numbers lie where heads will. */
    ORDO_TRY(launch(call, dict, "batch_number", count, ORDO_ARGS(ORDO_ARG(out->heads), ORDO_ARG(n))));
    ORDO_TRY(ordo_call_sort(call, &params, keys, ordo_at(out->heads, 0), ordo_at(out->keys, 0), ordo_at(out->index, 0),
                            count));
    ORDO_TRY(
        launch(call, dict, "batch_heads", count, ORDO_ARGS(ORDO_ARG(out->keys), ORDO_ARG(n), ORDO_ARG(out->heads))));
    const struct ordo_scan scan = { .type = ORDO_U32,
                                    .op = ORDO_MAX,
                                    .inclusive = true,
                                    .in = ordo_at(out->heads, 0),
                                    .out = ordo_at(out->heads, 0),
                                    .count = count };
    return ordo_call_scan(call, &scan);
}

ordo_status ordo_dict_insert_enqueue(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys,
                                     struct ordo_slice values, size_t count, struct ordo_slice inserted)
{
    const cl_ulong           values_at = values.at, inserted_at = inserted.at;
    const cl_uint            n = (cl_uint) count;
    struct ordo_sorted_batch batch;
    cl_mem                   found = NULL, stored = NULL;

    ORDO_TRY(ordo_batch_sort(call, dict, keys, count, &batch));
    ORDO_TRY(ordo_call_scratch(call, count, &found));
    if (dict->value_bytes)
        ORDO_TRY(ordo_call_scratch(call, count * dict->value_bytes, &stored));

    const struct ordo_finds finds = { ordo_at(batch.keys, 0), count, true, ordo_at(stored, 0), ordo_at(found, 0) };
    ORDO_TRY(dict->structure->find(dict, call, &finds));
    ORDO_TRY(launch(call, dict, "insert_resolve", count,
                    ORDO_ARGS(ORDO_ARG(batch.heads), ORDO_ARG(batch.index), ORDO_ARG(found), ORDO_ARG(values.mem),
                              ORDO_ARG(values_at), ORDO_ARG(n), ORDO_ARG(stored), ORDO_ARG(inserted.mem),
                              ORDO_ARG(inserted_at))));
    const struct ordo_sorted_updates updates = { ordo_at(batch.keys, 0), ordo_at(stored, 0), ordo_none(), count,
                                                 false };
    return dict->structure->update_sorted(dict, call, &updates);
}
