/* SPDX-License-Identifier: Apache-2.0 */
#include "primitive/host_array.h"
#include "primitive/tiles.h"

#include "shared/group.h"

struct compaction {
    const struct ordo_compact_params *params;
    struct ordo_slice                 keys, values, flags, keys_out, values_out, kept;
    size_t                            count;
};

enum { COUNT_BYTES = 4 };

static ordo_status enqueue(struct ordo_call *call, const struct compaction *c)
{
    const cl_uint           count = (cl_uint) c->count;
    const struct ordo_tiles t =
        ordo_tiles_of(call->dev, ORDO_COMPACT_GROUP, ORDO_COMPACT_ITEMS, c->params->key_bytes, c->count, 0);
    const struct ordo_tile_kernels kernels = { "compact_lookback", "compact_counts", "compact_ranges",
                                               LOOKBACK_PAYLOAD_BYTES(COUNT_BYTES, false),
                                               FOLD_ITEM_BYTES(COUNT_BYTES, false, false) };
    struct ordo_launch             launch = ordo_tiles_launch(&t, "primitive/compact.cl");
    struct ordo_args               args = { .n = 0 };
    if (c->count == 0)
        return ordo_call_fill(call, c->kept.mem, c->kept.at * COUNT_BYTES, COUNT_BYTES, 0);
    ordo_launch_define(&launch, "COMPACT_KEY_BYTES", (long) c->params->key_bytes);
    ordo_launch_define(&launch, "COMPACT_VALUE_BYTES", (long) c->params->value_bytes);
    ordo_args_slice(&args, &c->keys);
    ordo_args_slice(&args, &c->values);
    ordo_args_slice(&args, &c->flags);
    ordo_args_slice(&args, &c->keys_out);
    ordo_args_slice(&args, &c->values_out);
    ORDO_ADD(&args, ORDO_ARG(count));
    ordo_args_slice(&args, &c->kept);
    return ordo_call_tiles(call, &t, &kernels, launch, &args);
}

static ordo_status check_params(ordo_device *dev, const struct ordo_compact_params *params)
{
    ORDO_REQUIRE_GIVEN(dev, params);
    ORDO_REQUIRE(dev, params->key_bytes == 4 || params->key_bytes == 8 || params->key_bytes == 16, ORDO_INVALID,
                 "key_bytes is %u: keys have 4, 8 or 16 bytes", (unsigned) params->key_bytes);
    ORDO_TRY(ordo_check_value_bytes(dev, params->value_bytes));
    return ORDO_OK;
}

static ordo_status check(ordo_device *dev, const struct compaction *c)
{
    const size_t            n = c->count, key_bytes = c->params->key_bytes, value_bytes = c->params->value_bytes;
    const struct ordo_array arrays[] = {
        { "keys", c->keys, n, key_bytes, key_bytes },
        { "values", c->values, n, value_bytes, value_bytes },
        { "flags", c->flags, n, 1 },
        { "keys_out", c->keys_out, n, key_bytes, key_bytes },
        { "values_out", c->values_out, n, value_bytes, value_bytes },
        { "kept", c->kept, 1, COUNT_BYTES },
    };
    ORDO_REQUIRE_COUNT(dev, "count", n);
    return ordo_check_arrays(dev, arrays, sizeof arrays / sizeof *arrays, 3);
}

ordo_status ordo_compact(ordo_device *dev, const struct ordo_compact_params *params, struct ordo_slice keys,
                         struct ordo_slice values, struct ordo_slice flags, size_t count, struct ordo_slice keys_out,
                         struct ordo_slice values_out, struct ordo_slice kept, const struct ordo_order *order)
{
    const struct compaction c = { params, keys, values, flags, keys_out, values_out, kept, count };
    struct ordo_call        call;
    ORDO_TRY(check_params(dev, params));
    ORDO_TRY(ordo_call_begin(&call, dev, order));
    ordo_status status = check(dev, &c);
    if (status == ORDO_OK)
        status = enqueue(&call, &c);
    return ordo_call_end(&call, status);
}

ordo_status ordo_compact_host(ordo_device *dev, const struct ordo_compact_params *params, const void *keys,
                              const void *values, const uint8_t *flags, size_t count, void *keys_out, void *values_out,
                              uint32_t *kept)
{
    ORDO_TRY(check_params(dev, params));
    ORDO_REQUIRE_GIVEN(dev, kept);
    enum { KEYS, VALUES, FLAGS, KEYS_OUT, VALUES_OUT, KEPT, N };
    struct ordo_host_array a[N] = {
        [KEYS] = ordo_host_in(keys, count, params->key_bytes),
        [VALUES] = ordo_host_in(values, count, params->value_bytes),
        [FLAGS] = ordo_host_in(flags, count, 1),
        [KEYS_OUT] = ordo_host_out(keys_out, count, params->key_bytes),
        [VALUES_OUT] = ordo_host_out(values_out, count, params->value_bytes),
        [KEPT] = ordo_host_out(kept, 1, sizeof *kept),
    };
    struct ordo_call call;
    ORDO_TRY(ordo_host_begin(&call, dev, NULL, a, N));
    ordo_status status = ordo_compact(dev, params, a[KEYS].slice, a[VALUES].slice, a[FLAGS].slice, count,
                                      a[KEYS_OUT].slice, a[VALUES_OUT].slice, a[KEPT].slice, NULL);
    status = ordo_host_read(&call, &a[KEPT], status);
    if (status == ORDO_OK)
        a[KEYS_OUT].count = a[VALUES_OUT].count = *kept;
    return ordo_host_end(&call, a, N, status);
}
