/* SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"

#include "bench/common/device.h"

#include <stdlib.h>
#include <string.h>

/* The buffers: inputs, then outputs. ONE: a total, or the number of kept elements. */
enum { KEYS_IN, VALUES_IN, FLAGS, QUERIES, ROWS, N_INPUTS, KEYS_OUT = N_INPUTS, VALUES_OUT, RANKS, FOUND, ONE };
enum { UPPERS = ONE + 1, COUNTS, N_ARRAYS };

struct target {
    ordo_device  *device;
    struct spec   spec;
    struct inputs in;
    ordo_index   *index;
    double        index_seconds;
    void         *host_keys, *host_values; /* used instead of buffers for host memory */
    size_t        bytes[N_ARRAYS];         /* 0: unused */
    cl_mem        at[N_ARRAYS];
};

static void plan_arrays(struct target *t)
{
    const struct spec  *spec = &t->spec;
    const enum workload w = spec->workload;
    const size_t        key = ordo_type_bytes(spec->type), count = spec->count, value = spec->value_bytes;
    const size_t        queries = workload_has_queries(w) ? spec->n_queries : 0;
    const bool          gather = w == GATHER, ranks = w == SEARCH || w == EQUAL_RANGE;
    t->bytes[KEYS_IN] = count * (gather ? 4 : key);
    t->bytes[VALUES_IN] = gather ? 0 : count * value;
    t->bytes[FLAGS] = w == COMPACT ? count : 0;
    t->bytes[QUERIES] = queries * key;
    t->bytes[ROWS] = gather ? count * spec_row_bytes(spec) : 0;
    t->bytes[KEYS_OUT] = gather ? t->bytes[ROWS] : queries || w == REDUCE ? 0 : count * key;
    t->bytes[VALUES_OUT] = gather ? 0 : (w == LOOKUP ? queries : count) * value;
    t->bytes[RANKS] = ranks ? queries * 4 : 0;
    t->bytes[FOUND] = w == LOOKUP ? queries : 0;
    t->bytes[ONE] = w == REDUCE || w == COMPACT || w == GROUPBY ? 8 : 0;
    t->bytes[UPPERS] = w == EQUAL_RANGE ? queries * 4 : 0;
    t->bytes[COUNTS] = w == GROUPBY ? count * 4 : 0;
}

struct workload_bytes target_bytes(const struct spec *spec)
{
    struct target         plan = { .spec = *spec };
    struct workload_bytes size = { 0, 0 };
    plan_arrays(&plan);
    for (int a = 0; a < N_ARRAYS; a++) {
        size.all += plan.bytes[a];
        size.largest = plan.bytes[a] > size.largest ? plan.bytes[a] : size.largest;
    }
    return size;
}

/* ---- to the device ------------------------------------------------------------------------------------------- */

static ordo_status no_memory(const char *what, char *why)
{
    because(why, "cannot make the workload's %s: %s", what, ordo_status_string(ORDO_NO_HOST_MEMORY));
    return ORDO_NO_HOST_MEMORY;
}

static ordo_status make_buffers(struct target *t, char *why)
{
    const void *const from[N_INPUTS] = { t->in.keys, t->in.values, t->in.flags, t->in.queries, t->in.rows };
    for (int a = 0; a < N_ARRAYS; a++) {
        ordo_status got = t->bytes[a] ? device_buffer(t->device, t->bytes[a], &t->at[a]) : ORDO_OK;
        if (got == ORDO_OK && a < N_INPUTS)
            got = device_write(t->device, t->at[a], from[a], t->bytes[a]);
        if (got != ORDO_OK) {
            because(why, "cannot place the workload's arrays: %s", ordo_status_string(got));
            return ORDO_NO_DEVICE_MEMORY;
        }
    }
    return ORDO_OK;
}

static struct ordo_slice slice(const struct target *t, int array)
{
    return t->at[array] ? ordo_at(t->at[array], 0) : ordo_none();
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
static ordo_status prepare_buffers(struct target *t)
{
    TRY(target_index(t));
    TRY(target_index(t));
    return target_poison(t);
}

static ordo_status fill_target(struct target *t, char *why)
{
    if (!inputs_make(&t->spec, &t->in))
        return no_memory("inputs", why);
    if (!workload_is_host(t->spec.workload)) {
        TRY(make_buffers(t, why));
        return device_why(t->device, prepare_buffers(t), why);
    }
    t->host_keys = malloc(t->bytes[KEYS_IN] + 1);
    t->host_values = malloc(t->bytes[VALUES_IN] + 1);
    if (!t->host_keys || !t->host_values)
        return no_memory("arrays", why);
    return target_prepare(t, NULL);
}

ordo_status target_open(ordo_device *device, const struct spec *spec, struct target **out, char *why)
{
    struct target *t = *out = calloc(1, sizeof *t);
    if (!t)
        return no_memory("state", why);
    t->device = device;
    t->spec = *spec;
    plan_arrays(t);
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
    device_release(t->at, N_ARRAYS);
    inputs_free(&t->in);
    free(t->host_keys);
    free(t->host_values);
    free(t);
    *target = NULL;
}

/* ---- the calls ----------------------------------------------------------------------------------------------- */

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
    const size_t            b = runs[1].at;
    const struct ordo_slice values_b = spec->value_bytes ? ordo_at(t->at[VALUES_IN], b) : ordo_none();
    return ordo_merge(t->device, &params, keys, values, runs[0].count, ordo_at(t->at[KEYS_IN], b), values_b,
                      runs[1].count, keys_out, values_out, order);
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

ordo_status target_prepare(void *arg, const struct ordo_order *order)
{
    struct target *t = arg;
    (void) order; /* nothing to wait for */
    if (t->in.keys)
        memcpy(t->host_keys, t->in.keys, t->bytes[KEYS_IN]);
    if (t->in.values)
        memcpy(t->host_values, t->in.values, t->bytes[VALUES_IN]);
    return ORDO_OK;
}

ordo_status target_call(void *arg, const struct ordo_order *order)
{
    const struct target    *t = arg;
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

    switch (spec->workload) {
    case SORT:
        return ordo_sort(dev, ordo_sort_params(.key = spec->type, .value_bytes = value_bytes), keys, values, keys_out,
                         values_out, n, order);
    case HOSTSORT:
        return ordo_sort_host(dev, ordo_sort_params(.key = spec->type, .value_bytes = value_bytes), t->host_keys,
                              value_bytes ? t->host_values : NULL, n);
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
    case LOOKUP:
        return ordo_lookup(dev,
                           ordo_lookup_params(.key = spec->type, .value_bytes = value_bytes, .sorted_queries = sorted,
                                              .index = t->index, .scheme = scheme),
                           keys, values, n, queries, n_queries, values_out, slice(t, FOUND), order);
    default:
        return ORDO_UNSUPPORTED;
    }
}

/* ---- back from the device ------------------------------------------------------------------------------------ */

ordo_status target_poison(struct target *t)
{
    for (int a = N_INPUTS; a < N_ARRAYS; a++)
        TRY(device_fill(t->device, t->at[a], POISON_BYTE, t->bytes[a]));
    return ordo_device_finish(t->device);
}

static bool read_outputs(const struct target *t, void *host[N_ARRAYS], char *why)
{
    for (int a = N_INPUTS; a < N_ARRAYS; a++) {
        host[a] = t->at[a] ? malloc(t->bytes[a]) : NULL;
        if (t->at[a] && (!host[a] || device_read(t->device, t->at[a], host[a], t->bytes[a]) != ORDO_OK))
            return because(why, "cannot read the results");
    }
    return true;
}

bool target_check(struct target *t, char *why)
{
    void         *host[N_ARRAYS] = { NULL };
    struct answer answer = { .keys = t->host_keys, .values = t->spec.value_bytes ? t->host_values : NULL };
    bool          good = true;
    if (!workload_is_host(t->spec.workload)) {
        good = read_outputs(t, host, why);
        answer = (struct answer) { .keys = host[KEYS_OUT],
                                   .values = host[VALUES_OUT],
                                   .ranks = host[RANKS],
                                   .found = host[FOUND],
                                   .total = host[ONE],
                                   .kept = host[ONE] ? *(const uint32_t *) host[ONE] : 0,
                                   .uppers = host[UPPERS],
                                   .counts = host[COUNTS] };
    }
    good = good && answer_check(&t->spec, &t->in, &answer, false, why);
    for (int a = 0; a < N_ARRAYS; a++)
        free(host[a]);
    return good;
}

double target_index_seconds(const struct target *target)
{
    return target->index_seconds;
}

size_t target_index_bytes(const struct target *target)
{
    return ordo_index_bytes(target->index);
}

const struct inputs *target_inputs(const struct target *target)
{
    return &target->in;
}
