/* SPDX-License-Identifier: Apache-2.0 */
/* Implements ordo_reduce_by_key and ordo_unique. */
#include "primitive/by_key.h"
#include "primitive/host_array.h"
#include "primitive/sort.h"
#include "primitive/tiles.h"

#include "shared/by_index.h"
#include "shared/group.h"

struct by_key {
    ordo_type         key, value, result;
    bool              values, wide, sorted;
    ordo_op           op;
    uint32_t          bits; /* Number of key bits that the sort compares. 0 means all. */
    struct ordo_slice keys, values_in, keys_out, values_out, counts, groups;
    size_t            count, capacity;
    cl_uint           n, room;
};

enum { COUNT_BYTES = 4 };

static size_t key_bytes(const struct by_key *b)
{
    return ordo_type_bytes(b->key);
}

static size_t value_bytes(const struct by_key *b)
{
    return b->values ? ordo_type_bytes(b->value) : 0;
}

static size_t result_bytes(const struct by_key *b)
{
    return b->values ? ordo_type_bytes(b->result) : 0;
}

/* ---- launches ------------------------------------------------------------------------------------------------ */

/* Returns 1 to widen values to unsigned 8-byte integers, 2 to signed ones, 0 to keep them. */
static long widening(const struct by_key *b)
{
    if (!b->wide)
        return 0;
    return b->value == ORDO_I32 ? 2 : 1;
}

static void define_elements(struct ordo_launch *launch, const struct by_key *b)
{
    ordo_launch_define(launch, "BY_KEY_BYTES", (long) key_bytes(b));
    ordo_launch_define(launch, "BY_KEY_VALUES", b->values);
    ordo_launch_define(launch, "BY_KEY_WIDEN", widening(b));
    ordo_launch_define(launch, "ORDO_KEY", (long) (b->values ? ordo_fold_type(b->result, b->op) : ORDO_U32));
    ordo_launch_define(launch, "FOLD_OP", (long) b->op);
}

/* Adds the kernel arguments that the macro BY_KEY_ARGS of cl/group/by_key.cl declares, in its order. */
static void add_elements(struct ordo_args *args, const struct by_key *b)
{
    ordo_args_slice(args, &b->keys);
    ordo_args_slice(args, &b->values_in);
    ordo_args_slice(args, &b->keys_out);
    ordo_args_slice(args, &b->values_out);
    ordo_args_slice(args, &b->counts);
    ordo_args_slice(args, &b->groups);
    ORDO_ADD(args, ORDO_ARG(b->n), ORDO_ARG(b->room));
}

/* Equal keys in b->keys must be neighbours. */
static ordo_status enqueue_sorted(struct ordo_call *call, const struct by_key *b)
{
    const size_t            keys = key_bytes(b), results = result_bytes(b);
    const struct ordo_tiles t =
        ordo_tiles_of(call->dev, ORDO_BY_KEY_GROUP, ORDO_BY_KEY_ITEMS, keys > results ? keys : results, b->count, 0);
    const struct ordo_tile_kernels kernels = { "by_key_lookback", "by_key_sums", "by_key_ranges",
                                               LOOKBACK_PAYLOAD_BYTES(results, true),
                                               FOLD_ITEM_BYTES(results, false, true) };
    struct ordo_launch             launch = ordo_tiles_launch(&t, "primitive/by_key.cl");
    struct ordo_args               args = { .n = 0 };
    define_elements(&launch, b);
    add_elements(&args, b);
    return ordo_call_tiles(call, &t, &kernels, launch, &args);
}

static ordo_status sort_first(struct ordo_call *call, struct by_key *b)
{
    const struct ordo_sort_params params = { .key = b->key, .value_bytes = (uint32_t) value_bytes(b), .bits = b->bits };
    struct ordo_slice             keys = ordo_none(), values = ordo_none();
    ORDO_TRY(ordo_call_scratch(call, b->count * key_bytes(b), &keys.mem));
    if (b->values)
        ORDO_TRY(ordo_call_scratch(call, b->count * value_bytes(b), &values.mem));
    ORDO_TRY(ordo_call_sort(call, &params, b->keys, b->values_in, keys, values, b->count));
    b->keys = keys;
    b->values_in = values;
    return ORDO_OK;
}

/* With more bits, tables exceed the caches, and a sort is faster. */
enum { INDEX_BITS_MAX = 20 };

/* Returns the number of tables, or 0 if a sort is faster or the keys are not integers. */
static size_t tables_of(const ordo_device *dev, const struct by_key *b)
{
    const struct ordo_facts *facts = ordo_device_facts(dev);
    const bool   integers = b->key == ORDO_U32 || b->key == ORDO_I32 || b->key == ORDO_U64 || b->key == ORDO_I64;
    const size_t cores = facts->compute_units, slots = (size_t) 1 << ordo_min_size(b->bits, INDEX_BITS_MAX);
    if (!facts->cpu || !integers || b->bits == 0 || b->bits > INDEX_BITS_MAX || 2 * b->count < slots)
        return 0;
    const size_t tables = b->count < slots ? 1 : ordo_min_size(b->count / slots, cores);
    return 4 * tables < cores ? 0 : tables;
}

static ordo_status enqueue_indexed(struct ordo_call *call, const struct by_key *b, size_t tables)
{
    const size_t       slots = (size_t) 1 << b->bits, word = b->values ? result_bytes(b) : COUNT_BYTES;
    const cl_uint      part = (cl_uint) ordo_ceil_div(b->count, tables);
    const size_t       parts = ordo_ceil_div(b->count, part);
    const size_t       ranges = ordo_min_size(slots, ordo_device_facts(call->dev)->compute_units);
    struct by_index    x = { .bits = b->bits, .part = part, .parts = (cl_uint) parts };
    struct ordo_launch launch = {
        .file = "primitive/by_index.cl", .kernel = "by_index_fold", .groups = parts, .group = 1
    };
    struct ordo_args args = { .n = 0 };
    cl_mem           table = NULL, others = NULL, last = NULL, groups_of = NULL;
    x.range = (cl_uint) ordo_ceil_div(slots, ranges);
    ORDO_TRY(ordo_call_scratch(call, parts * slots * BY_INDEX_WORDS(b->values) * word, &table));
    ORDO_TRY(ordo_call_scratch(call, parts * key_bytes(b), &others));
    ORDO_TRY(ordo_call_scratch(call, slots * key_bytes(b), &last));
    ORDO_TRY(ordo_call_scratch(call, ranges * sizeof(cl_uint), &groups_of));
    define_elements(&launch, b);
    add_elements(&args, b);
    ORDO_ADD(&args, ORDO_ARG(x), ORDO_ARG(table), ORDO_ARG(others));
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    ORDO_ADD(&args, ORDO_ARG(last), ORDO_ARG(groups_of));
    launch.groups = ordo_ceil_div(slots, x.range);
    launch.kernel = "by_index_join";
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    launch.kernel = "by_index_write";
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status enqueue(struct ordo_call *call, struct by_key *b)
{
    if (b->count == 0)
        return ordo_call_fill(call, b->groups.mem, b->groups.at * COUNT_BYTES, COUNT_BYTES, 0);
    b->n = (cl_uint) b->count;
    b->room = (cl_uint) ordo_min_size(b->capacity, ORDO_MAX_COUNT);
    const size_t tables = b->sorted ? 0 : tables_of(call->dev, b);
    if (tables)
        return enqueue_indexed(call, b, tables);
    if (!b->sorted)
        ORDO_TRY(sort_first(call, b));
    return enqueue_sorted(call, b);
}

/* ---- calls --------------------------------------------------------------------------------------------------- */

static ordo_status check_params(ordo_device *dev, const struct by_key *b)
{
    ORDO_TRY(ordo_check_type(dev, b->key));
    if (b->values)
        ORDO_TRY(ordo_check_op(dev, b->value, b->op, "ordo_reduce_by_key"));
    ORDO_REQUIRE(dev, !b->wide || (b->op == ORDO_SUM && ordo_type_bytes(b->value) == 4), ORDO_INVALID,
                 "wide is for ORDO_SUM of ORDO_U32 or ORDO_I32 only");
    ORDO_REQUIRE(dev, b->bits <= 8 * key_bytes(b), ORDO_INVALID, "bits is %u: a key has %zu", (unsigned) b->bits,
                 8 * key_bytes(b));
    ORDO_REQUIRE_COUNT(dev, "count", b->count);
    return ORDO_OK;
}

static ordo_status check_arrays(ordo_device *dev, const struct by_key *b)
{
    const struct ordo_array arrays[] = {
        { "keys", b->keys, b->count, key_bytes(b), key_bytes(b) },
        { "values", b->values_in, b->count, value_bytes(b) },
        { "keys_out", b->keys_out, b->capacity, key_bytes(b), key_bytes(b) },
        { "values_out", b->values_out, b->capacity, result_bytes(b) },
        { "counts", b->counts, b->capacity, b->counts.mem ? COUNT_BYTES : 0 },
        { "groups", b->groups, 1, COUNT_BYTES },
    };
    return ordo_check_arrays(dev, arrays, sizeof arrays / sizeof *arrays, 4);
}

static ordo_status check_and_enqueue(struct ordo_call *call, struct by_key *b)
{
    ORDO_TRY(check_params(call->dev, b));
    ORDO_TRY(check_arrays(call->dev, b));
    return enqueue(call, b);
}

static ordo_status run(ordo_device *dev, struct by_key *b, const struct ordo_order *order)
{
    struct ordo_call call;
    ORDO_TRY(ordo_call_begin(&call, dev, order));
    return ordo_call_end(&call, check_and_enqueue(&call, b));
}

static ordo_type result_of(const struct ordo_reduce_by_key_params *params)
{
    if (!params->wide)
        return params->value;
    return params->value == ORDO_I32 ? ORDO_I64 : ORDO_U64;
}

static struct by_key reduction(const struct ordo_reduce_by_key_params *params, size_t count, size_t capacity)
{
    return (struct by_key) { .key = params->key,
                             .value = params->value,
                             .result = result_of(params),
                             .values = true,
                             .wide = params->wide,
                             .sorted = params->sorted,
                             .op = params->op,
                             .bits = params->bits,
                             .count = count,
                             .capacity = capacity };
}

static struct by_key uniqueness(const struct ordo_unique_params *params, size_t count, size_t capacity)
{
    return (struct by_key) {
        .key = params->key, .sorted = params->sorted, .bits = params->bits, .count = count, .capacity = capacity
    };
}

ordo_status ordo_reduce_by_key(ordo_device *dev, const struct ordo_reduce_by_key_params *params, struct ordo_slice keys,
                               struct ordo_slice values, size_t count, struct ordo_slice keys_out,
                               struct ordo_slice values_out, struct ordo_slice counts, size_t capacity,
                               struct ordo_slice groups, const struct ordo_order *order)
{
    ORDO_REQUIRE_GIVEN(dev, params);
    struct by_key b = reduction(params, count, capacity);
    b.keys = keys;
    b.values_in = values;
    b.keys_out = keys_out;
    b.values_out = values_out;
    b.counts = counts;
    b.groups = groups;
    return run(dev, &b, order);
}

ordo_status ordo_call_reduce_by_key(struct ordo_call *call, const struct ordo_reduce_by_key_params *params,
                                    struct ordo_slice keys, struct ordo_slice values, size_t count,
                                    struct ordo_slice keys_out, struct ordo_slice values_out, struct ordo_slice groups)
{
    struct by_key b = reduction(params, count, count);
    b.keys = keys;
    b.values_in = values;
    b.keys_out = keys_out;
    b.values_out = values_out;
    b.groups = groups;
    return enqueue(call, &b);
}

ordo_status ordo_unique(ordo_device *dev, const struct ordo_unique_params *params, struct ordo_slice keys, size_t count,
                        struct ordo_slice keys_out, struct ordo_slice counts, size_t capacity, struct ordo_slice groups,
                        const struct ordo_order *order)
{
    ORDO_REQUIRE_GIVEN(dev, params);
    struct by_key b = uniqueness(params, count, capacity);
    b.keys = keys;
    b.keys_out = keys_out;
    b.counts = counts;
    b.groups = groups;
    return run(dev, &b, order);
}

/* ---- host arrays --------------------------------------------------------------------------------------------- */

static ordo_status run_host(ordo_device *dev, struct by_key *b, const void *keys, const void *values, void *keys_out,
                            void *values_out, uint32_t *counts, uint32_t *groups)
{
    ORDO_TRY(check_params(dev, b));
    ORDO_REQUIRE_GIVEN(dev, groups);
    ORDO_REQUIRE_COUNT(dev, "capacity", b->capacity);
    enum { KEYS, VALUES, KEYS_OUT, VALUES_OUT, COUNTS, GROUPS, N };
    const size_t           room = b->capacity;
    struct ordo_host_array a[N] = {
        [KEYS] = ordo_host_in(keys, b->count, key_bytes(b)),
        [VALUES] = ordo_host_in(values, b->count, value_bytes(b)),
        [KEYS_OUT] = ordo_host_out(keys_out, room, key_bytes(b)),
        [VALUES_OUT] = ordo_host_out(values_out, room, result_bytes(b)),
        [COUNTS] = ordo_host_out(counts, room, counts ? COUNT_BYTES : 0),
        [GROUPS] = ordo_host_out(groups, 1, COUNT_BYTES),
    };

    struct ordo_call call;
    ORDO_TRY(ordo_host_begin(&call, dev, NULL, a, N));
    b->keys = a[KEYS].slice;
    b->values_in = a[VALUES].slice;
    b->keys_out = a[KEYS_OUT].slice;
    b->values_out = a[VALUES_OUT].slice;
    b->counts = a[COUNTS].slice;
    b->groups = a[GROUPS].slice;
    const ordo_status status = ordo_host_read(&call, &a[GROUPS], run(dev, b, NULL));
    if (status == ORDO_OK)
        a[KEYS_OUT].count = a[VALUES_OUT].count = a[COUNTS].count = ordo_min_size(room, *groups);
    return ordo_host_end(&call, a, N, status);
}

ordo_status ordo_reduce_by_key_host(ordo_device *dev, const struct ordo_reduce_by_key_params *params, const void *keys,
                                    const void *values, size_t count, void *keys_out, void *values_out,
                                    uint32_t *counts, size_t capacity, uint32_t *groups)
{
    ORDO_REQUIRE_GIVEN(dev, params);
    struct by_key b = reduction(params, count, capacity);
    return run_host(dev, &b, keys, values, keys_out, values_out, counts, groups);
}

ordo_status ordo_unique_host(ordo_device *dev, const struct ordo_unique_params *params, const void *keys, size_t count,
                             void *keys_out, uint32_t *counts, size_t capacity, uint32_t *groups)
{
    ORDO_REQUIRE_GIVEN(dev, params);
    struct by_key b = uniqueness(params, count, capacity);
    return run_host(dev, &b, keys, NULL, keys_out, NULL, counts, groups);
}
