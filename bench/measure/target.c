/* SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"

#include "bench/common/device.h"

#include <stdlib.h>
#include <string.h>

/* Inputs, then outputs. ONE: a total, or the number of kept elements. */
enum { KEYS_IN, VALUES_IN, FLAGS, QUERIES, ROWS, N_INPUTS, KEYS_OUT = N_INPUTS, VALUES_OUT, RANKS, FOUND, ONE };
enum { UPPERS = ONE + 1, COUNTS, PACKED, N_ARRAYS };

static void bytes_of(const struct spec *spec, size_t bytes[N_ARRAYS])
{
    const enum workload w = spec->workload;
    const size_t        key = ordo_type_bytes(spec->type), count = spec->count, value = spec->value_bytes;
    const size_t        queries = workload_has_queries(w) ? spec->n_queries : 0;
    const bool          gather = w == GATHER, ranks = w == SEARCH || w == EQUAL_RANGE, columns = w == COLUMNS;
    bytes[KEYS_IN] = columns ? 0 : count * (gather ? 4 : key);
    bytes[VALUES_IN] = gather ? 0 : count * value;
    bytes[FLAGS] = w == COMPACT ? count : 0;
    bytes[QUERIES] = queries * key;
    bytes[ROWS] = gather || columns ? count * spec_row_bytes(spec) : 0;
    bytes[KEYS_OUT] = gather ? bytes[ROWS] : queries || w == REDUCE ? 0 : count * key;
    bytes[VALUES_OUT] = gather ? 0 : (w == LOOKUP ? queries : count) * value;
    bytes[RANKS] = ranks ? queries * 4 : 0;
    bytes[FOUND] = w == LOOKUP ? queries : 0;
    bytes[ONE] = w == REDUCE || w == COMPACT || w == GROUPBY ? 8 : 0;
    bytes[UPPERS] = w == EQUAL_RANGE ? queries * 4 : 0;
    bytes[COUNTS] = w == GROUPBY ? count * 4 : 0;
    bytes[PACKED] = columns ? count * key : 0;
    if (w == HOSTSORT) /* in place of its outputs */
        bytes[KEYS_IN] = bytes[VALUES_IN] = 0;
}

struct workload_bytes target_bytes(const struct spec *spec)
{
    size_t                bytes[N_ARRAYS];
    struct workload_bytes size = { 0, 0 };
    if (workload_is_strings(spec->workload))
        return string_target_bytes(spec);
    if (workload_is_roaring(spec->workload))
        return roaring_target_bytes(spec);
    bytes_of(spec, bytes);
    for (int a = 0; a < N_ARRAYS; a++) {
        size.all += bytes[a];
        size.largest = bytes[a] > size.largest ? bytes[a] : size.largest;
    }
    return size;
}

static struct ordo_slice slice(const struct target *t, int array)
{
    return buffers_at(&t->arrays, array, 0);
}

ordo_status target_index(struct target *t)
{
    if (!workload_has_queries(t->spec.workload) || !variant_has_index(t->spec.variant))
        return ORDO_OK;
    ordo_index_destroy(&t->index);
    const double before = now();
    const bool   compressed = t->spec.variant == VARIANT_COMPRESSED;
    TRY((compressed ? ordo_index_build_compressed : ordo_index_build)(t->device, t->spec.type, slice(t, KEYS_IN),
                                                                      t->spec.count, NULL, &t->index));
    TRY(ordo_device_finish(t->device));
    t->index_seconds = now() - before;
    return ORDO_OK;
}

/* Builds the index twice, because the first build may compile kernels. */
static ordo_status fill_target(struct target *t, char *why)
{
    size_t bytes[N_ARRAYS];
    if (workload_is_strings(t->spec.workload))
        return string_target_fill(t, why);
    if (workload_is_roaring(t->spec.workload))
        return roaring_target_fill(t, why);
    bytes_of(&t->spec, bytes);
    if (!inputs_make(&t->spec, &t->in))
        return device_why(t->device, ORDO_NO_HOST_MEMORY, why);
    TRY(buffers_make(&t->arrays, bytes,
                     (const void *[]) { t->in.keys, t->in.values, t->in.flags, t->in.queries, t->in.rows }, why));
    if (t->arrays.on_host)
        return target_prepare(t, NULL);
    TRY(device_why(t->device, target_index(t), why));
    TRY(device_why(t->device, target_index(t), why));
    return device_why(t->device, buffers_poison(&t->arrays), why);
}

ordo_status target_open(ordo_device *device, const struct spec *spec, struct target **out, char *why)
{
    struct target *t = *out = calloc(1, sizeof *t);
    if (!t)
        return device_why(device, ORDO_NO_HOST_MEMORY, why);
    t->device = device;
    t->spec = *spec;
    t->arrays = (struct buffers) { .device = device,
                                   .n_inputs = N_INPUTS,
                                   .n = N_ARRAYS,
                                   .on_host = workload_is_host(spec->workload),
                                   .pinned = spec->pinned != 0 };
    const ordo_status made = fill_target(t, why);
    if (made != ORDO_OK)
        target_close(out);
    return made;
}

void target_close(struct target **target)
{
    struct target *t = *target;
    if (!t)
        return;
    ordo_device_finish(t->device);
    ordo_index_destroy(&t->index);
    ordo_string_index_destroy(&t->strings);
    ordo_string_dict_destroy(&t->string_dict);
    ordo_dict_destroy(&t->set);
    buffers_free(&t->arrays);
    inputs_free(&t->in);
    free(t);
    *target = NULL;
}

static ordo_status call_merge(const struct target *t, const struct ordo_order *order)
{
    const struct spec             *spec = &t->spec;
    const struct ordo_merge_params params = { .key = spec->type, .value_bytes = spec->value_bytes };
    const struct ordo_slice        keys = slice(t, KEYS_IN), values = slice(t, VALUES_IN);
    const struct ordo_slice        keys_out = slice(t, KEYS_OUT), values_out = slice(t, VALUES_OUT);
    struct ordo_run                runs[ORDO_MAX_RUNS] = { { 0, 0 } };
    const size_t                   n = spec_runs(spec);
    for (size_t r = 0; r < n; r++)
        runs[r] = spec_run(spec, r);
    if (spec->workload == MERGE_RUNS)
        return ordo_merge_runs(t->device, &params, keys, values, runs, n, keys_out, values_out, order);
    const size_t b = runs[1].at;
    return ordo_merge(t->device, &params, keys, values, runs[0].count, buffers_at(&t->arrays, KEYS_IN, b),
                      buffers_at(&t->arrays, VALUES_IN, b), runs[1].count, keys_out, values_out, order);
}

/* Uses ordo_unique if there are no values. */
static ordo_status call_groups(const struct target *t, const struct ordo_order *order)
{
    const struct spec                     *spec = &t->spec;
    const bool                             sorted = spec->variant == 1;
    const struct ordo_reduce_by_key_params sums = { .key = spec->type,
                                                    .value = spec->value_bytes == 8 ? ORDO_U64 : ORDO_U32,
                                                    .sorted = sorted };
    const struct ordo_unique_params        unique = { .key = spec->type, .sorted = sorted };
    if (!spec->value_bytes)
        return ordo_unique(t->device, &unique, slice(t, KEYS_IN), spec->count, slice(t, KEYS_OUT), slice(t, COUNTS),
                           spec->count, slice(t, ONE), order);
    return ordo_reduce_by_key(t->device, &sums, slice(t, KEYS_IN), slice(t, VALUES_IN), spec->count, slice(t, KEYS_OUT),
                              slice(t, VALUES_OUT), slice(t, COUNTS), spec->count, slice(t, ONE), order);
}

static ordo_status call_columns(const struct target *t, const struct ordo_order *order)
{
    static const ordo_type        types[N_TABLE_COLUMNS] = TABLE_COLUMN_TYPES;
    const struct spec            *spec = &t->spec;
    const struct ordo_order       first = { .queue = order ? order->queue : NULL };
    const struct ordo_sort_params sort = { .key = spec->type, .value_bytes = spec->value_bytes };
    struct ordo_key_field         fields[N_TABLE_COLUMNS];
    struct ordo_slice             columns[N_TABLE_COLUMNS];
    for (int c = 0; c < N_TABLE_COLUMNS; c++) {
        fields[c] = (struct ordo_key_field) { .type = types[c] };
        columns[c] = buffers_at(&t->arrays, ROWS, inputs_column(spec, c));
    }
    TRY(ordo_key_pack(t->device, fields, N_TABLE_COLUMNS, columns, NULL, spec->count, slice(t, PACKED), ordo_none(),
                      &first));
    return ordo_sort(t->device, &sort, slice(t, PACKED), slice(t, VALUES_IN), slice(t, KEYS_OUT), slice(t, VALUES_OUT),
                     spec->count, order);
}

ordo_status target_prepare(void *arg, const struct ordo_order *order)
{
    struct target *t = arg;
    (void) order; /* nothing to wait for */
    if (workload_is_strings(t->spec.workload))
        return string_target_prepare(t);
    if (t->arrays.host[KEYS_OUT])
        memcpy(t->arrays.host[KEYS_OUT], t->in.keys, t->arrays.bytes[KEYS_OUT]);
    if (t->arrays.host[VALUES_OUT])
        memcpy(t->arrays.host[VALUES_OUT], t->in.values, t->arrays.bytes[VALUES_OUT]);
    return ORDO_OK;
}

ordo_status target_call(void *arg, const struct ordo_order *order)
{
    struct target          *t = arg;
    const struct spec      *spec = &t->spec;
    ordo_device            *dev = t->device;
    const size_t            n = spec->count, n_queries = spec->n_queries;
    const uint32_t          value_bytes = spec->value_bytes;
    const bool              sorted = variant_is_sorted(spec->variant);
    const struct ordo_slice keys = slice(t, KEYS_IN), values = slice(t, VALUES_IN), queries = slice(t, QUERIES);
    const struct ordo_slice keys_out = slice(t, KEYS_OUT), values_out = slice(t, VALUES_OUT), one = slice(t, ONE);
    const ordo_op           op = spec_op(spec);
    const ordo_scheme       scheme = spec->variant == VARIANT_BUFFERED ? ORDO_SCHEME_BUFFERED
                                     : spec->variant == VARIANT_SORTS  ? ORDO_SCHEME_SORTED
                                                                       : ORDO_SCHEME_AUTO;
    if (workload_is_strings(spec->workload))
        return string_target_call(t, order);
    if (workload_is_roaring(spec->workload))
        return roaring_target_call(t, order);
    switch (spec->workload) {
    case SORT:
        return ordo_sort(dev, ordo_sort_params(.key = spec->type, .value_bytes = value_bytes), keys, values, keys_out,
                         values_out, n, order);
    case HOSTSORT:
        return ordo_sort_host(dev, ordo_sort_params(.key = spec->type, .value_bytes = value_bytes),
                              t->arrays.host[KEYS_OUT], t->arrays.host[VALUES_OUT], n);
    case MERGE:
    case MERGE_RUNS:
        return call_merge(t, order);
    case SCAN:
        return ordo_scan(dev, ordo_scan_params(.type = spec->type, .op = op, .inclusive = op == ORDO_MAX), keys,
                         keys_out, n, order);
    case REDUCE:
        return ordo_reduce(dev, ordo_reduce_params(.type = spec->type, .op = op), keys, n, one, order);
    case COMPACT:
        return ordo_compact(
            dev, ordo_compact_params(.key_bytes = (uint32_t) ordo_type_bytes(spec->type), .value_bytes = value_bytes),
            keys, values, slice(t, FLAGS), n, keys_out, values_out, one, order);
    case SEARCH:
        return ordo_search(
            dev, ordo_search_params(.key = spec->type, .sorted_queries = sorted, .index = t->index, .scheme = scheme),
            keys, n, queries, n_queries, slice(t, RANKS), order);
    case EQUAL_RANGE:
        return ordo_equal_range(dev,
                                ordo_equal_range_params(.key = spec->type, .sorted_queries = sorted, .index = t->index),
                                keys, n, queries, n_queries, slice(t, RANKS), slice(t, UPPERS), order);
    case GROUPBY:
        return call_groups(t, order);
    case TOP:
        return ordo_top_k(dev, ordo_top_k_params(.key = spec->type, .value_bytes = value_bytes, .greatest = true), keys,
                          values, n, spec_top(spec), keys_out, values_out, ordo_none(), order);
    case SELECT:
        return ordo_select(dev, ordo_select_params(.key = spec->type), keys, n, n / 2, keys_out, ordo_none(), order);
    case GATHER:
        return ordo_gather(dev, ordo_gather_params(.row_bytes = (uint32_t) spec_row_bytes(spec)), slice(t, ROWS), n,
                           keys, n, keys_out, order);
    case COLUMNS:
        return call_columns(t, order);
    case LOOKUP:
        return ordo_lookup(dev,
                           ordo_lookup_params(.key = spec->type, .value_bytes = value_bytes, .sorted_queries = sorted,
                                              .index = t->index, .scheme = scheme),
                           keys, values, n, queries, n_queries, values_out, slice(t, FOUND), order);
    default:
        return ORDO_UNSUPPORTED;
    }
}

bool target_check(struct target *t, char *why)
{
    void *out[N_ARRAYS] = { NULL };
    bool  good = true;
    if (workload_is_strings(t->spec.workload))
        return string_target_check(t, why);
    if (workload_is_roaring(t->spec.workload))
        return roaring_target_check(t, why);
    for (int a = N_INPUTS; a < N_ARRAYS && good; a++)
        good = !t->arrays.bytes[a] || (out[a] = buffers_read(&t->arrays, a, why));
    const struct answer answer = { .keys = out[KEYS_OUT],
                                   .values = out[VALUES_OUT],
                                   .ranks = out[RANKS],
                                   .found = out[FOUND],
                                   .total = out[ONE],
                                   .kept = out[ONE] ? *(const uint32_t *) out[ONE] : 0,
                                   .uppers = out[UPPERS],
                                   .counts = out[COUNTS] };
    good = good && answer_check(&t->spec, &t->in, &answer, false, why);
    for (int a = 0; a < N_ARRAYS; a++)
        free(out[a]);
    return good;
}
