/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

#include "json.h"
#include "terminal.h"
#include "timing.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define PLATFORMS_MAX 16

static int select_all(char selected[SELECTED_MAX][SELECT_BYTES])
{
    cl_platform_id platforms[PLATFORMS_MAX];
    cl_uint        n_platforms = 0;
    int            n = 0;
    if (clGetPlatformIDs(PLATFORMS_MAX, platforms, &n_platforms) != CL_SUCCESS)
        return 0;
    for (cl_uint p = 0; p < n_platforms && p < PLATFORMS_MAX; p++) {
        cl_uint n_devices = 0;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 0, NULL, &n_devices) != CL_SUCCESS)
            continue;
        for (cl_uint d = 0; d < n_devices && n < SELECTED_MAX; d++)
            snprintf(selected[n++], SELECT_BYTES, "%u:%u", p, d);
    }
    return n;
}

int select_devices(const char *list, char selected[SELECTED_MAX][SELECT_BYTES])
{
    int n = 0;
    if (!list) {
        selected[0][0] = 0;
        return 1;
    }
    if (strcmp(list, "all") == 0)
        return select_all(selected);
    for (const char *at = list;;) {
        const size_t length = strcspn(at, ",");
        if (n == SELECTED_MAX || length == 0 || length >= SELECT_BYTES)
            usage_error("--device: '%s' is not a list of devices", list);
        snprintf(selected[n++], SELECT_BYTES, "%.*s", (int) length, at);
        if (!at[length])
            return n;
        at += length + 1;
    }
}

ordo_device *open_device(const char *select)
{
    char                            message[4096] = "";
    ordo_device                    *device = NULL;
    const struct ordo_device_config config = { .select = *select ? select : NULL,
                                               .message = message,
                                               .message_bytes = sizeof message };
    const ordo_status               got = ordo_device_open(&config, &device);
    if (got != ORDO_OK)
        report_error("%s", *message ? message : ordo_status_string(got));
    return device;
}

ordo_status device_why(ordo_device *device, ordo_status status, char *why)
{
    if (status != ORDO_OK && ordo_device_last_error(device, why, WHY_BYTES) <= 1)
        because(why, "%s", ordo_status_string(status));
    return status;
}

/* ---- buffers ------------------------------------------------------------------------------------------------- */

ordo_status device_buffer(ordo_device *device, size_t bytes, cl_mem *out)
{
    cl_int code = CL_SUCCESS;
    *out = clCreateBuffer(ordo_device_context(device), CL_MEM_READ_WRITE, bytes ? bytes : 1, NULL, &code);
    return code == CL_SUCCESS ? ORDO_OK : ORDO_NO_DEVICE_MEMORY;
}

ordo_status device_write(ordo_device *device, cl_mem to, const void *from, size_t bytes)
{
    if (bytes)
        TRY_CL(clEnqueueWriteBuffer(ordo_device_queue(device), to, CL_TRUE, 0, bytes, from, 0, NULL, NULL));
    return ORDO_OK;
}

ordo_status device_read(ordo_device *device, cl_mem from, void *to, size_t bytes)
{
    if (bytes)
        TRY_CL(clEnqueueReadBuffer(ordo_device_queue(device), from, CL_TRUE, 0, bytes, to, 0, NULL, NULL));
    return ORDO_OK;
}

ordo_status device_fill(ordo_device *device, cl_mem mem, cl_uchar byte, size_t bytes)
{
    if (mem)
        TRY_CL(clEnqueueFillBuffer(ordo_device_queue(device), mem, &byte, 1, 0, bytes, 0, NULL, NULL));
    return ORDO_OK;
}

void device_release(const cl_mem *buffers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (buffers[i])
            clReleaseMemObject(buffers[i]);
}

/* ---- limits -------------------------------------------------------------------------------------------------- */

const size_t gather_bytes[N_GATHERS] = { 32, 64, 128 };

/* Each of `lanes` work-items reads 16 bytes from each of PLACES places and writes their sum. */
#define PLACES 16
static const char kernels[] =
    "__kernel void copy(__global const uint4 *from, __global uint4 *to)\n"
    "{\n"
    "    to[get_global_id(0)] = from[get_global_id(0)];\n"
    "}\n"
    "uint mix(uint x)\n"
    "{\n"
    "    x = (x ^ (x >> 16)) * 0x7feb352du;\n"
    "    x = (x ^ (x >> 15)) * 0x846ca68bu;\n"
    "    return x ^ (x >> 16);\n"
    "}\n"
    "__kernel void gather(__global const uint4 *table, __global uint *sums, uint mask, uint lanes)\n"
    "{\n"
    "    const uint id = get_global_id(0), lane = id & (lanes - 1), first = id / lanes * PLACES;\n"
    "    uint4      sum = 0;\n"
    "    for (uint i = 0; i < PLACES; i++)\n"
    "        sum += table[(size_t) (mix(first + i) & mask) * lanes + lane];\n"
    "    sums[id] = sum.x + sum.y + sum.z + sum.w;\n"
    "}\n"
    "__kernel void number(__global uint4 *table)\n"
    "{\n"
    "    const uint i = get_global_id(0) * 4;\n"
    "    table[get_global_id(0)] = (uint4) (i, i + 1, i + 2, i + 3);\n"
    "}\n"
    "__kernel void nothing(void)\n"
    "{\n"
    "}\n";

struct bench {
    ordo_device     *device;
    cl_command_queue queue;
    cl_program       program;
    cl_mem           a, b; /* `bytes` each */
    size_t           bytes, items;
    cl_kernel        kernel; /* launched on `items`; NULL after an error */
};

/* A kernel takes the first few of the arguments, or none. */
static void choose_kernel(struct bench *bench, const char *kernel, size_t items, cl_uint mask, cl_uint lanes)
{
    if (bench->kernel)
        clReleaseKernel(bench->kernel);
    bench->items = items;
    bench->kernel = clCreateKernel(bench->program, kernel, NULL);
    if (!bench->kernel)
        return;
    (void) clSetKernelArg(bench->kernel, 0, sizeof bench->a, &bench->a);
    (void) clSetKernelArg(bench->kernel, 1, sizeof bench->b, &bench->b);
    (void) clSetKernelArg(bench->kernel, 2, sizeof mask, &mask);
    (void) clSetKernelArg(bench->kernel, 3, sizeof lanes, &lanes);
}

static ordo_status enqueue_kernel(void *bench_, const struct ordo_order *order)
{
    const struct bench *bench = bench_;
    (void) order;
    if (!bench->kernel)
        return ORDO_OPENCL;
    TRY_CL(clEnqueueNDRangeKernel(bench->queue, bench->kernel, 1, NULL, &bench->items, NULL, 0, NULL, NULL));
    return ORDO_OK;
}

static ordo_status enqueue_copy(void *bench_, const struct ordo_order *order)
{
    const struct bench *bench = bench_;
    (void) order;
    TRY_CL(clEnqueueCopyBuffer(bench->queue, bench->a, bench->b, 0, 0, bench->bytes, 0, NULL, NULL));
    return ORDO_OK;
}

/* Seconds of a call; NaN if it fails. */
static double time_call(struct bench *bench, call_fn call)
{
    const struct timing_goal goal = { .seconds = 0.08, .batch_seconds = 0.004, .repetitions = 9 };
    struct timing            timing;
    return time_calls(bench->device, call, bench, &goal, &timing) == ORDO_OK ? timing.wall.median : (double) NAN;
}

static double time_kernel(struct bench *bench, const char *kernel, size_t items, cl_uint mask, cl_uint lanes)
{
    choose_kernel(bench, kernel, items, mask, lanes);
    return time_call(bench, enqueue_kernel);
}

/* ---- places at random ---------------------------------------------------------------------------------------- */

static uint32_t mix(uint32_t x)
{
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return x ^ (x >> 16);
}

#define CHECKED 1024

/* Places a second in the first table_bytes of the table; NaN if it fails, negative if a sum is wrong. */
static double gather_rate(struct bench *bench, size_t table_bytes, size_t place_bytes)
{
    const cl_uint lanes = (cl_uint) (place_bytes / 16), mask = (cl_uint) (table_bytes / place_bytes) - 1;
    const size_t  items = (size_t) 1 << (ordo_device_facts(bench->device)->cpu ? 15 : 22), first = items - CHECKED;
    const double  seconds = time_kernel(bench, "gather", items, mask, lanes);
    uint32_t      sums[CHECKED];
    if (isnan(seconds))
        return NAN;
    bool right =
        clEnqueueReadBuffer(bench->queue, bench->b, CL_TRUE, first * 4, sizeof sums, sums, 0, NULL, NULL) == CL_SUCCESS;
    for (size_t i = 0; i < CHECKED; i++) {
        const uint32_t id = (uint32_t) (first + i);
        uint32_t       sum = 0;
        for (uint32_t k = 0; k < PLACES; k++) /* word w of the table is w */
            sum += 16 * ((mix(id / lanes * PLACES + k) & mask) * lanes + id % lanes) + 6;
        right = right && sums[i] == sum;
    }
    return right ? (double) items / lanes * PLACES / seconds : -1;
}

/* The table for a cache has a power of two of bytes, 16 MiB at most. */
static ordo_status measure_gathers(struct bench *bench, struct limits *out)
{
    const uint64_t half = ordo_device_facts(bench->device)->cache_bytes / 2, part = bench->bytes / 8;
    out->memory_bytes = bench->bytes;
    out->cache_bytes = (size_t) 16 << 20;
    while (out->cache_bytes > 1 && out->cache_bytes > (half < part ? half : part))
        out->cache_bytes /= 2;
    for (int g = 0; g < N_GATHERS; g++) {
        out->from_memory[g] = gather_rate(bench, out->memory_bytes, gather_bytes[g]);
        if (out->cache_bytes >= 4096)
            out->from_cache[g] = gather_rate(bench, out->cache_bytes, gather_bytes[g]);
        if (out->from_memory[g] < 0 || out->from_cache[g] < 0)
            return ORDO_BROKEN;
    }
    return ORDO_OK;
}

#define WAITS 21

static void measure_launches(struct bench *bench, struct limits *out)
{
    double seconds[WAITS];
    int    n = 0;
    out->launch = time_kernel(bench, "nothing", 1, 0, 0);
    for (double before = now();
         n < WAITS && enqueue_kernel(bench, NULL) == ORDO_OK && clFinish(bench->queue) == CL_SUCCESS; before = now())
        seconds[n++] = now() - before;
    out->launch_and_wait = spread_of(seconds, n).median;
}

#define TRANSFERS 5

static void measure_transfers(const struct bench *bench, void *host, size_t bytes, double *to, double *from)
{
    double there[TRANSFERS], back[TRANSFERS];
    int    n = 0;
    for (int t = -1; t < TRANSFERS && host; t++) { /* the first touches the pages */
        const double start = now();
        if (device_write(bench->device, bench->b, host, bytes) != ORDO_OK)
            break;
        const double middle = now();
        if (device_read(bench->device, bench->b, host, bytes) != ORDO_OK)
            break;
        if (t < 0)
            continue;
        there[n] = middle - start;
        back[n++] = now() - middle;
    }
    *to = (double) bytes / spread_of(there, n).median;
    *from = (double) bytes / spread_of(back, n).median;
}

static void measure_link(const struct bench *bench, struct limits *out)
{
    const size_t bytes = bench->bytes < (size_t) 64 << 20 ? bench->bytes : (size_t) 64 << 20;
    void        *host = calloc(1, bytes), *pinned = NULL;
    measure_transfers(bench, host, bytes, &out->to_device, &out->from_device);
    free(host);
    if (ordo_host_alloc(bench->device, bytes, &pinned) != ORDO_OK)
        return;
    measure_transfers(bench, pinned, bytes, &out->pinned_to, &out->pinned_from);
    (void) ordo_host_free(bench->device, pinned);
}

/* A power of two, much larger than a cache and a small part of the device's memory. */
static size_t table_bytes(const struct ordo_facts *facts)
{
    uint64_t bytes = facts->cpu ? (uint64_t) 128 << 20 : (uint64_t) 1 << 30;
    while (bytes > facts->max_alloc_bytes || bytes * 8 > facts->global_bytes)
        bytes /= 2;
    return (size_t) bytes;
}

static ordo_status measure(struct bench *bench, struct limits *out)
{
    const cl_device_id id = ordo_device_id(bench->device);
    const char        *source = kernels;
    char               options[32];
    snprintf(options, sizeof options, "-DPLACES=%d", PLACES);
    bench->queue = ordo_device_queue(bench->device);
    bench->bytes = table_bytes(ordo_device_facts(bench->device));
    bench->program = clCreateProgramWithSource(ordo_device_context(bench->device), 1, &source, NULL, NULL);
    if (!bench->program || clBuildProgram(bench->program, 1, &id, options, NULL, NULL) != CL_SUCCESS)
        return ORDO_OPENCL;
    TRY(device_buffer(bench->device, bench->bytes, &bench->a));
    TRY(device_buffer(bench->device, bench->bytes, &bench->b));
    choose_kernel(bench, "number", bench->bytes / 16, 0, 0); /* word w is w */
    TRY(enqueue_kernel(bench, NULL));
    const double moved = 2 * (double) bench->bytes;
    out->copy.bytes = bench->bytes;
    out->copy.by_command = moved / time_call(bench, enqueue_copy);
    out->copy.by_kernel = moved / time_kernel(bench, "copy", bench->bytes / 16, 0, 0);
    out->copy.bytes_per_second = fmax(out->copy.by_kernel, out->copy.by_command); /* fmax(NaN, x) is x */
    TRY(measure_gathers(bench, out));
    measure_launches(bench, out);
    measure_link(bench, out);
    return ordo_device_finish(bench->device);
}

ordo_status measure_limits(ordo_device *device, struct limits *out)
{
    struct bench bench = { .device = device };
    *out = limits_from_json(NULL); /* all unknown */
    const ordo_status got = measure(&bench, out);
    device_release((const cl_mem[]) { bench.a, bench.b }, 2);
    if (bench.kernel)
        clReleaseKernel(bench.kernel);
    if (bench.program)
        clReleaseProgram(bench.program);
    return got;
}

/* ---- names --------------------------------------------------------------------------------------------------- */

/* Numbers, their fields in files, and their names where they are compared. A number that was not measured is NaN. */
static const struct {
    size_t      at;
    const char *name, *compared;
} numbers[] = {
    { offsetof(struct limits, copy.bytes_per_second), "copy_bytes_per_s", "copy" },
    { offsetof(struct limits, copy.by_command), "copy_by_command", NULL },
    { offsetof(struct limits, copy.by_kernel), "copy_by_kernel", NULL },
    { offsetof(struct limits, from_memory[0]), "gathers_32_per_s", "gathers" },
    { offsetof(struct limits, from_cache[0]), "gathers_32_from_cache_per_s", "gathers from cache" },
    { offsetof(struct limits, from_memory[1]), "gathers_64_per_s", NULL },
    { offsetof(struct limits, from_cache[1]), "gathers_64_from_cache_per_s", NULL },
    { offsetof(struct limits, from_memory[2]), "gathers_128_per_s", NULL },
    { offsetof(struct limits, from_cache[2]), "gathers_128_from_cache_per_s", NULL },
    { offsetof(struct limits, launch), "launch_s", "launches" },
    { offsetof(struct limits, launch_and_wait), "launch_and_wait_s", NULL },
    { offsetof(struct limits, to_device), "to_device_bytes_per_s", "to the device" },
    { offsetof(struct limits, from_device), "from_device_bytes_per_s", "from the device" },
    { offsetof(struct limits, pinned_to), "pinned_to_device_bytes_per_s", NULL },
    { offsetof(struct limits, pinned_from), "pinned_from_device_bytes_per_s", NULL },
};
#define N_NUMBERS (sizeof numbers / sizeof *numbers)

static double number_in(const struct limits *limits, size_t i)
{
    return *(const double *) ((const char *) limits + numbers[i].at);
}

cJSON *limits_to_json(const struct limits *limits)
{
    cJSON *json = cJSON_CreateObject();
    for (size_t i = 0; i < N_NUMBERS; i++)
        json_number(json, numbers[i].name, number_in(limits, i));
    json_exact(json, "copy_bytes", (double) limits->copy.bytes);
    json_exact(json, "gather_table_bytes", (double) limits->memory_bytes);
    json_exact(json, "gather_cached_bytes", (double) limits->cache_bytes);
    return json;
}

struct limits limits_from_json(const cJSON *json)
{
    struct limits limits = { .copy.bytes = (size_t) fmax(0, number_of(json, "copy_bytes")) };
    for (size_t i = 0; i < N_NUMBERS; i++)
        *(double *) ((char *) &limits + numbers[i].at) = number_of(json, numbers[i].name);
    return limits;
}

void say_limits(FILE *out, int indent, const struct limits *l)
{
    char copy[TEXT_BYTES], launch[TEXT_BYTES];
    char memory[N_GATHERS][TEXT_BYTES], cache[N_GATHERS][TEXT_BYTES];
    for (int g = 0; g < N_GATHERS; g++) {
        text_rate(memory[g], l->from_memory[g]);
        text_rate(cache[g], l->from_cache[g]);
    }
    say(out, indent + 11, "%*s%-10s %s GB/s, read and written; from the host %s GB/s, back %s", indent, "", "copies",
        text_giga(copy, l->copy.bytes_per_second), text_giga(TEXT, l->to_device), text_giga(TEXT, l->from_device));
    say(out, indent + 11,
        "%*s%-10s a second, of 32 / 64 / 128 bytes at random: %s / %s / %s from memory, %s / %s / %s from its cache",
        indent, "", "gathers", memory[0], memory[1], memory[2], cache[0], cache[1], cache[2]);
    say(out, indent + 11, "%*s%-10s %s for an empty kernel, %s waited for", indent, "", "launches",
        text_seconds(launch, l->launch), text_seconds(TEXT, l->launch_and_wait));
}

void limits_differ(const struct limits *a, const struct limits *b, double share, char *text, size_t bytes)
{
    size_t used = 0;
    *text = 0;
    for (size_t i = 0; i < N_NUMBERS && used < bytes; i++)
        if (numbers[i].compared && fabs(log(number_in(b, i) / number_in(a, i))) > log(1 + share)) /* false for NaN */
            used += (size_t) snprintf(text + used, bytes - used, "%s%s", used ? ", " : "", numbers[i].compared);
}
