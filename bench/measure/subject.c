/* SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"

#include "bench/common/device.h"
#include "bench/common/timing.h"
#include "bench/workload/inputs.h"
#include "bench/workload/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A buffer: input, output, or unused (bytes 0). */
struct array {
    size_t bytes;
    cl_mem mem;
};

struct subject {
    ordo_device  *device;
    struct spec   spec;
    struct inputs in;
    ordo_index   *index;
    double        index_seconds;
    void         *host_keys, *host_values; /* used instead of buffers for host memory */
    struct {
        struct array keys, values, flags, queries, rows;      /* inputs */
        struct array keys_out, values_out, ranks, found, one; /* outputs; one: a total, or the number kept */
        struct array uppers, counts;
    } at;
};

#define N_INPUTS 5
#define N_ARRAYS 12

/* The buffers in struct order. */
static void list_arrays(struct subject *subject, struct array *list[N_ARRAYS])
{
    struct array *const all[N_ARRAYS] = { &subject->at.keys,       &subject->at.values, &subject->at.flags,
                                          &subject->at.queries,    &subject->at.rows,   &subject->at.keys_out,
                                          &subject->at.values_out, &subject->at.ranks,  &subject->at.found,
                                          &subject->at.one,        &subject->at.uppers, &subject->at.counts };
    for (int a = 0; a < N_ARRAYS; a++)
        list[a] = all[a];
}

static void plan_arrays(struct subject *subject)
{
    const struct spec *spec = &subject->spec;
    const size_t       key = ordo_type_bytes(spec->type), count = spec->count;
    const bool         queries = workload_has_queries(spec->workload);

    if (spec->workload == GATHER) {
        subject->at.keys.bytes = count * 4;
        subject->at.rows.bytes = subject->at.keys_out.bytes = count * spec_row_bytes(spec);
        return;
    }
    subject->at.keys.bytes = count * key;
    subject->at.values.bytes = count * spec->value_bytes;
    subject->at.flags.bytes = spec->workload == COMPACT ? count : 0;
    subject->at.queries.bytes = queries ? spec->n_queries * key : 0;
    subject->at.keys_out.bytes = queries || spec->workload == REDUCE ? 0 : count * key;
    subject->at.values_out.bytes = (spec->workload == LOOKUP ? spec->n_queries : count) * spec->value_bytes;
    subject->at.ranks.bytes = spec->workload == SEARCH || spec->workload == EQUAL_RANGE ? spec->n_queries * 4 : 0;
    subject->at.uppers.bytes = spec->workload == EQUAL_RANGE ? spec->n_queries * 4 : 0;
    subject->at.counts.bytes = spec->workload == GROUPBY ? count * 4 : 0;
    subject->at.found.bytes = spec->workload == LOOKUP ? spec->n_queries : 0;
    subject->at.one.bytes = spec->workload == REDUCE || spec->workload == COMPACT || spec->workload == GROUPBY ? 8 : 0;
}

struct workload_bytes subject_bytes(const struct spec *spec)
{
    struct subject        plan = { .spec = *spec };
    struct array         *arrays[N_ARRAYS];
    struct workload_bytes size = { 0, 0 };

    plan_arrays(&plan);
    list_arrays(&plan, arrays);
    for (int a = 0; a < N_ARRAYS; a++) {
        size.all += arrays[a]->bytes;
        size.largest = arrays[a]->bytes > size.largest ? arrays[a]->bytes : size.largest;
    }
    return size;
}

/* ---- to the device ------------------------------------------------------------------------------------------- */

static ordo_status fail(char *why, ordo_status status, const char *what, cl_int code)
{
    because(why, "%s: %s", what, code ? ordo_cl_error_string(code) : ordo_status_string(status));
    return status;
}

static ordo_status make_buffers(struct subject *subject, char *why)
{
    const void *const from[N_INPUTS] = { subject->in.keys, subject->in.values, subject->in.flags, subject->in.queries,
                                         subject->in.rows };
    struct array     *arrays[N_ARRAYS];

    list_arrays(subject, arrays);
    for (int a = 0; a < N_ARRAYS; a++) {
        cl_int        code = CL_SUCCESS;
        struct array *array = arrays[a];
        if (array->bytes == 0)
            continue;
        array->mem = clCreateBuffer(ordo_device_context(subject->device), CL_MEM_READ_WRITE, array->bytes, NULL, &code);
        if (code == CL_SUCCESS && a < N_INPUTS)
            code = clEnqueueWriteBuffer(ordo_device_queue(subject->device), array->mem, CL_TRUE, 0, array->bytes,
                                        from[a], 0, NULL, NULL);
        if (code != CL_SUCCESS)
            return fail(why, ORDO_NO_DEVICE_MEMORY, "cannot place the workload's arrays", code);
    }
    return ORDO_OK;
}

static struct ordo_slice slice(const struct array *array)
{
    return array->mem ? ordo_at(array->mem, 0) : ordo_none();
}

ordo_status subject_index(struct subject *subject)
{
    if (!workload_has_queries(subject->spec.workload) || !variant_has_index(subject->spec.variant))
        return ORDO_OK;
    ordo_index_destroy(&subject->index);
    const double before = now();
    const bool   compressed = subject->spec.variant == VARIANT_COMPRESSED;
    ordo_status  got = (compressed ? ordo_index_build_compressed : ordo_index_build)(
        subject->device, subject->spec.type, slice(&subject->at.keys), subject->spec.count, NULL, &subject->index);
    if (got == ORDO_OK)
        got = ordo_device_finish(subject->device);
    subject->index_seconds = now() - before;
    return got;
}

static bool make_host_arrays(struct subject *subject)
{
    subject->host_keys = malloc(subject->at.keys.bytes + 1);
    subject->host_values = malloc(subject->at.values.bytes + 1);
    return subject->host_keys && subject->host_values && subject_prepare(subject, NULL) == ORDO_OK;
}

static ordo_status fill_subject(struct subject *subject, char *why)
{
    if (!inputs_make(&subject->spec, &subject->in))
        return fail(why, ORDO_NO_HOST_MEMORY, "cannot make the workload's inputs", 0);
    if (workload_is_host(subject->spec.workload))
        return make_host_arrays(subject) ? ORDO_OK
                                         : fail(why, ORDO_NO_HOST_MEMORY, "cannot place the workload's arrays", 0);
    ordo_status got = make_buffers(subject, why);
    if (got != ORDO_OK)
        return got;
    got = subject_index(subject);
    if (got == ORDO_OK) /* repeated, because the first build may compile kernels */
        got = subject_index(subject);
    if (got == ORDO_OK)
        got = subject_poison(subject);
    return device_why(subject->device, got, why);
}

ordo_status subject_open(ordo_device *device, const struct spec *spec, struct subject **out, char *why)
{
    *out = NULL;
    struct subject *subject = calloc(1, sizeof *subject);
    if (!subject)
        return fail(why, ORDO_NO_HOST_MEMORY, "cannot make a workload", 0);
    subject->device = device;
    subject->spec = *spec;
    plan_arrays(subject);

    const ordo_status made = fill_subject(subject, why);
    if (made != ORDO_OK) {
        subject_close(&subject);
        return made;
    }
    *out = subject;
    return ORDO_OK;
}

void subject_close(struct subject **subject)
{
    if (!*subject)
        return;
    struct array *arrays[N_ARRAYS];
    ordo_device_finish((*subject)->device);
    ordo_index_destroy(&(*subject)->index);
    list_arrays(*subject, arrays);
    for (int a = 0; a < N_ARRAYS; a++)
        if (arrays[a]->mem)
            clReleaseMemObject(arrays[a]->mem);
    inputs_free(&(*subject)->in);
    free((*subject)->host_keys);
    free((*subject)->host_values);
    free(*subject);
    *subject = NULL;
}

/* ---- the calls ----------------------------------------------------------------------------------------------- */

static ordo_status call_merge(const struct subject *subject, const struct ordo_order *order)
{
    const struct spec             *spec = &subject->spec;
    const struct ordo_run          a = spec_run(spec, 0), b = spec_run(spec, 1);
    const struct ordo_merge_params params = { .key = spec->type, .value_bytes = spec->value_bytes };
    const struct ordo_slice        none = ordo_none();
    const cl_mem                   keys = subject->at.keys.mem, values = subject->at.values.mem;
    return ordo_merge(subject->device, &params, ordo_at(keys, a.at), values ? ordo_at(values, a.at) : none, a.count,
                      ordo_at(keys, b.at), values ? ordo_at(values, b.at) : none, b.count, slice(&subject->at.keys_out),
                      slice(&subject->at.values_out), order);
}

static ordo_status call_merge_runs(const struct subject *subject, const struct ordo_order *order)
{
    const struct spec             *spec = &subject->spec;
    const struct ordo_merge_params params = { .key = spec->type, .value_bytes = spec->value_bytes };
    struct ordo_run                runs[ORDO_MAX_RUNS];
    for (size_t r = 0; r < spec_runs(spec); r++)
        runs[r] = spec_run(spec, r);
    return ordo_merge_runs(subject->device, &params, slice(&subject->at.keys), slice(&subject->at.values), runs,
                           spec_runs(spec), slice(&subject->at.keys_out), slice(&subject->at.values_out), order);
}

/* Uses ordo_unique if there are no values. */
static ordo_status call_groups(const struct subject *s, const struct ordo_order *order)
{
    const struct spec                     *spec = &s->spec;
    const bool                             sorted = spec->variant == 1;
    const struct ordo_reduce_by_key_params sums = { .key = spec->type,
                                                    .value = spec->value_bytes == 8 ? ORDO_U64 : ORDO_U32,
                                                    .sorted = sorted };
    const struct ordo_unique_params        unique = { .key = spec->type, .sorted = sorted };
    if (!spec->value_bytes)
        return ordo_unique(s->device, &unique, slice(&s->at.keys), spec->count, slice(&s->at.keys_out),
                           slice(&s->at.counts), spec->count, slice(&s->at.one), order);
    return ordo_reduce_by_key(s->device, &sums, slice(&s->at.keys), slice(&s->at.values), spec->count,
                              slice(&s->at.keys_out), slice(&s->at.values_out), slice(&s->at.counts), spec->count,
                              slice(&s->at.one), order);
}

ordo_status subject_prepare(void *arg, const struct ordo_order *order)
{
    struct subject *subject = arg;
    (void) order; /* nothing to wait for */
    if (subject->in.keys)
        memcpy(subject->host_keys, subject->in.keys, subject->at.keys.bytes);
    if (subject->in.values)
        memcpy(subject->host_values, subject->in.values, subject->at.values.bytes);
    return ORDO_OK;
}

ordo_status subject_call(void *arg, const struct ordo_order *order)
{
    const struct subject *s = arg;
    const struct spec    *spec = &s->spec;
    ordo_device          *dev = s->device;
    const size_t          n = spec->count;
    const bool            sorted = variant_is_sorted(spec->variant);
    const ordo_scheme     scheme = spec->variant == VARIANT_BUFFERED ? ORDO_SCHEME_BUFFERED
                                   : spec->variant == VARIANT_SORTS  ? ORDO_SCHEME_SORTED
                                                                     : ORDO_SCHEME_AUTO;

    switch (spec->workload) {
    case SORT:
        return ordo_sort(dev, ordo_sort_params(.key = spec->type, .value_bytes = spec->value_bytes), slice(&s->at.keys),
                         slice(&s->at.values), slice(&s->at.keys_out), slice(&s->at.values_out), n, order);
    case HOSTSORT:
        return ordo_sort_host(dev, ordo_sort_params(.key = spec->type, .value_bytes = spec->value_bytes), s->host_keys,
                              spec->value_bytes ? s->host_values : NULL, n);
    case MERGE:
        return call_merge(s, order);
    case MERGE_RUNS:
        return call_merge_runs(s, order);
    case SCAN:
        return ordo_scan(
            dev, ordo_scan_params(.type = spec->type, .op = spec_op(spec), .inclusive = spec_op(spec) == ORDO_MAX),
            slice(&s->at.keys), slice(&s->at.keys_out), n, order);
    case REDUCE:
        return ordo_reduce(dev, ordo_reduce_params(.type = spec->type, .op = spec_op(spec)), slice(&s->at.keys), n,
                           slice(&s->at.one), order);
    case COMPACT:
        return ordo_compact(
            dev,
            ordo_compact_params(.key_bytes = (uint32_t) ordo_type_bytes(spec->type), .value_bytes = spec->value_bytes),
            slice(&s->at.keys), slice(&s->at.values), slice(&s->at.flags), n, slice(&s->at.keys_out),
            slice(&s->at.values_out), slice(&s->at.one), order);
    case SEARCH:
        return ordo_search(
            dev, ordo_search_params(.key = spec->type, .sorted_queries = sorted, .index = s->index, .scheme = scheme),
            slice(&s->at.keys), n, slice(&s->at.queries), spec->n_queries, slice(&s->at.ranks), order);
    case EQUAL_RANGE:
        return ordo_equal_range(dev,
                                ordo_equal_range_params(.key = spec->type, .sorted_queries = sorted, .index = s->index),
                                slice(&s->at.keys), n, slice(&s->at.queries), spec->n_queries, slice(&s->at.ranks),
                                slice(&s->at.uppers), order);
    case GROUPBY:
        return call_groups(s, order);
    case TOP:
        return ordo_top_k(dev, ordo_top_k_params(.key = spec->type, .value_bytes = spec->value_bytes, .greatest = true),
                          slice(&s->at.keys), slice(&s->at.values), n, spec_top(spec), slice(&s->at.keys_out),
                          slice(&s->at.values_out), ordo_none(), order);
    case SELECT:
        return ordo_select(dev, ordo_select_params(.key = spec->type), slice(&s->at.keys), n, n / 2,
                           slice(&s->at.keys_out), ordo_none(), order);
    case GATHER:
        return ordo_gather(dev, ordo_gather_params(.row_bytes = (uint32_t) spec_row_bytes(spec)), slice(&s->at.rows), n,
                           slice(&s->at.keys), n, slice(&s->at.keys_out), order);
    case LOOKUP:
        return ordo_lookup(dev,
                           ordo_lookup_params(.key = spec->type, .value_bytes = spec->value_bytes,
                                              .sorted_queries = sorted, .index = s->index, .scheme = scheme),
                           slice(&s->at.keys), slice(&s->at.values), n, slice(&s->at.queries), spec->n_queries,
                           slice(&s->at.values_out), slice(&s->at.found), order);
    default:
        return ORDO_UNSUPPORTED;
    }
}

/* ---- back from the device ------------------------------------------------------------------------------------ */

ordo_status subject_poison(struct subject *subject)
{
    const cl_uchar poison = POISON_BYTE;
    struct array  *arrays[N_ARRAYS];
    list_arrays(subject, arrays);
    for (int a = N_INPUTS; a < N_ARRAYS; a++)
        if (arrays[a]->mem && clEnqueueFillBuffer(ordo_device_queue(subject->device), arrays[a]->mem, &poison, 1, 0,
                                                  arrays[a]->bytes, 0, NULL, NULL) != CL_SUCCESS)
            return ORDO_OPENCL;
    return ordo_device_finish(subject->device);
}

/* Reads outputs to `host`, indexed as in list_arrays. */
static bool read_outputs(struct subject *subject, void *host[N_ARRAYS], char *why)
{
    struct array *arrays[N_ARRAYS];
    list_arrays(subject, arrays);
    for (int a = N_INPUTS; a < N_ARRAYS; a++) {
        if (!arrays[a]->mem)
            continue;
        host[a] = malloc(arrays[a]->bytes);
        if (!host[a]) {
            fail(why, ORDO_NO_HOST_MEMORY, "cannot read the results", 0);
            return false;
        }
        const cl_int code = clEnqueueReadBuffer(ordo_device_queue(subject->device), arrays[a]->mem, CL_TRUE, 0,
                                                arrays[a]->bytes, host[a], 0, NULL, NULL);
        if (code != CL_SUCCESS) {
            fail(why, ORDO_OPENCL, "cannot read the results", code);
            return false;
        }
    }
    return true;
}

bool subject_check(struct subject *subject, char *why)
{
    void *host[N_ARRAYS] = { NULL };
    if (workload_is_host(subject->spec.workload)) {
        const struct answer answer = { .keys = subject->host_keys,
                                       .values = subject->spec.value_bytes ? subject->host_values : NULL };
        return answer_check(&subject->spec, &subject->in, &answer, false, why);
    }
    bool good = read_outputs(subject, host, why);
    if (good) {
        const struct answer answer = { .keys = host[5],
                                       .values = host[6],
                                       .ranks = host[7],
                                       .found = host[8],
                                       .total = host[9],
                                       .kept = host[9] ? *(const uint32_t *) host[9] : 0,
                                       .uppers = host[10],
                                       .counts = host[11] };
        good = answer_check(&subject->spec, &subject->in, &answer, false, why);
    }
    for (int a = 0; a < N_ARRAYS; a++)
        free(host[a]);
    return good;
}

double subject_index_seconds(const struct subject *subject)
{
    return subject->index_seconds;
}

size_t subject_index_bytes(const struct subject *subject)
{
    return ordo_index_bytes(subject->index);
}

const struct inputs *subject_inputs(const struct subject *subject)
{
    return &subject->in;
}
