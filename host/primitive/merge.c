/* SPDX-License-Identifier: Apache-2.0 */
#include "primitive/merge.h"

#include "primitive/host_array.h"

/* ---- the kernel's shape -------------------------------------------------------------------------------------- */

struct shape {
    size_t group, items;
    bool   staged;
};

static size_t local_bytes(const struct ordo_merge_params *params, const struct shape *shape)
{
    return MERGE_LOCAL_BYTES(shape->group, shape->items, ordo_type_bytes(params->key), params->value_bytes,
                             shape->staged);
}

static struct shape choose_shape(ordo_device *dev, const struct ordo_merge_params *params)
{
    const struct ordo_facts *facts = ordo_device_facts(dev);
    const enum ordo_shape    data = ordo_shape_of(ordo_type_bytes(params->key), params->value_bytes);
    struct shape             shape = {
                    .group = ordo_group_of(dev, ORDO_MERGE_GROUP, data),
                    .items = ordo_tunable(dev, ORDO_MERGE_ITEMS, data),
                    .staged = ordo_tunable(dev, ORDO_MERGE_STAGED, data) != 0,
    };
    if (shape.items > MERGE_ITEMS_MAX)
        shape.group = 1;
    while (shape.group > 1 && local_bytes(params, &shape) > facts->local_bytes)
        shape.group = shape.group / 2 < facts->sub_group ? 1 : shape.group / 2;
    return shape;
}

/* Kernels guess where to split the inputs, then search nearby in steps of this size. For random keys, the guess has a
 * standard deviation of at most sqrt(count) / 4. */
static cl_uint spread_of(size_t count)
{
    size_t root = 1;
    while (root * root < count)
        root *= 2;
    return (cl_uint) (root / 4 + 1);
}

/* ---- device arrays ------------------------------------------------------------------------------------------- */

ordo_status ordo_merge_enqueue(struct ordo_call *call, const struct ordo_merge_params *params,
                               const struct ordo_merge_side *a, const struct ordo_merge_side *b,
                               const struct ordo_merge_side *out)
{
    const struct shape       shape = choose_shape(call->dev, params);
    const size_t             count = a->count + b->count;
    const struct ordo_launch launch = {
        .file = "primitive/merge.cl",
        .kernel = shape.group > 1 ? "merge_tiles" : "merge_chunks",
        .groups = ordo_ceil_div(count, shape.group * shape.items),
        .group = shape.group,
        .defines = { { "ORDO_KEY", params->key },
                     { "ORDO_VALUE_BYTES", params->value_bytes },
                     { "ORDO_DESCENDING", params->descending },
                     { "MERGE_GROUP", (long) shape.group },
                     { "MERGE_ITEMS", (long) shape.items },
                     { "MERGE_STAGED", shape.staged },
                     { "LOCAL_BYTES", (long) local_bytes(params, &shape) } },
    };
    const cl_uint    a_count = (cl_uint) a->count, b_count = (cl_uint) b->count, near = spread_of(count);
    struct ordo_args args = { .n = 0 };

    ordo_args_slice(&args, &a->keys);
    ordo_args_slice(&args, &a->values);
    ORDO_ADD(&args, ORDO_ARG(a_count));
    ordo_args_slice(&args, &b->keys);
    ordo_args_slice(&args, &b->values);
    ORDO_ADD(&args, ORDO_ARG(b_count), ORDO_ARG(near));
    ordo_args_slice(&args, &out->keys);
    ordo_args_slice(&args, &out->values);
    return ordo_call_launch(call, &launch, &args);
}

ordo_status ordo_merge_check_params(ordo_device *dev, const struct ordo_merge_params *params)
{
    ORDO_REQUIRE_GIVEN(dev, params);
    return ordo_check_pair(dev, params->key, params->value_bytes);
}

static ordo_status check_counts(ordo_device *dev, size_t a_count, size_t b_count)
{
    ORDO_REQUIRE_COUNT(dev, "a_count", a_count);
    ORDO_REQUIRE_COUNT(dev, "b_count", b_count);
    ORDO_REQUIRE(dev, b_count <= ORDO_MAX_COUNT - a_count, ORDO_TOO_LARGE,
                 "a_count %zu and b_count %zu together: " ORDO_AT_MOST, a_count, b_count, ORDO_MAX_COUNT);
    return ORDO_OK;
}

static ordo_status check_sides(ordo_device *dev, const struct ordo_merge_params *params,
                               const struct ordo_merge_side *a, const struct ordo_merge_side *b,
                               const struct ordo_merge_side *out)
{
    const size_t            key_bytes = ordo_type_bytes(params->key), value_bytes = params->value_bytes;
    const struct ordo_array arrays[] = {
        { "a_keys", a->keys, a->count, key_bytes, key_bytes },
        { "a_values", a->values, a->count, value_bytes, value_bytes },
        { "b_keys", b->keys, b->count, key_bytes, key_bytes },
        { "b_values", b->values, b->count, value_bytes, value_bytes },
        { "keys_out", out->keys, out->count, key_bytes, key_bytes },
        { "values_out", out->values, out->count, value_bytes, value_bytes },
    };
    ORDO_TRY(check_counts(dev, a->count, b->count));
    return ordo_check_arrays(dev, arrays, sizeof arrays / sizeof *arrays, 2);
}

static ordo_status check_and_enqueue(struct ordo_call *call, const struct ordo_merge_params *params,
                                     const struct ordo_merge_side *a, const struct ordo_merge_side *b,
                                     const struct ordo_merge_side *out)
{
    ORDO_TRY(ordo_merge_check_params(call->dev, params));
    ORDO_TRY(check_sides(call->dev, params, a, b, out));
    return ordo_merge_enqueue(call, params, a, b, out);
}

ordo_status ordo_merge(ordo_device *dev, const struct ordo_merge_params *params, struct ordo_slice a_keys,
                       struct ordo_slice a_values, size_t a_count, struct ordo_slice b_keys, struct ordo_slice b_values,
                       size_t b_count, struct ordo_slice keys_out, struct ordo_slice values_out,
                       const struct ordo_order *order)
{
    const struct ordo_merge_side a = { a_keys, a_values, a_count }, b = { b_keys, b_values, b_count };
    const struct ordo_merge_side out = { keys_out, values_out, a_count + b_count };
    struct ordo_call             call;
    ORDO_TRY(ordo_call_begin(&call, dev, order));
    return ordo_call_end(&call, check_and_enqueue(&call, params, &a, &b, &out));
}

/* ---- host arrays --------------------------------------------------------------------------------------------- */

ordo_status ordo_merge_host(ordo_device *dev, const struct ordo_merge_params *params, const void *a_keys,
                            const void *a_values, size_t a_count, const void *b_keys, const void *b_values,
                            size_t b_count, void *keys_out, void *values_out)
{
    ORDO_TRY(ordo_merge_check_params(dev, params));
    ORDO_TRY(check_counts(dev, a_count, b_count));
    const size_t           key_bytes = ordo_type_bytes(params->key), value_bytes = params->value_bytes;
    struct ordo_host_array arrays[] = {
        ordo_host_in(a_keys, a_count, key_bytes),
        ordo_host_in(a_values, a_count, value_bytes),
        ordo_host_in(b_keys, b_count, key_bytes),
        ordo_host_in(b_values, b_count, value_bytes),
        ordo_host_out(keys_out, a_count + b_count, key_bytes),
        ordo_host_out(values_out, a_count + b_count, value_bytes),
    };
    const size_t     n = sizeof arrays / sizeof *arrays;
    struct ordo_call call;
    ORDO_TRY(ordo_host_begin(&call, dev, NULL, arrays, n));
    return ordo_host_end(&call, arrays, n,
                         ordo_merge(dev, params, arrays[0].slice, arrays[1].slice, a_count, arrays[2].slice,
                                    arrays[3].slice, b_count, arrays[4].slice, arrays[5].slice, NULL));
}
