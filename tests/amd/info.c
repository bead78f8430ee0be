/* SPDX-License-Identifier: Apache-2.0 */
/* Platform, devices and contexts: what ROCm's OpenCL says of such devices. */
#include "driver.h"

#include <CL/cl_ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- objects ------------------------------------------------------------------------------------------------- */

pthread_mutex_t driver_lock = PTHREAD_MUTEX_INITIALIZER;

void *object_as(const void *handle, enum kind kind)
{
    const struct object *object = handle;
    return object && object->kind == kind ? (void *) object : NULL;
}

void *object_create(size_t bytes, enum kind kind)
{
    struct object *object = calloc(1, bytes);
    if (object)
        *object = (struct object) { &driver_table, kind, 1 };
    return object;
}

cl_int answer(const void *value, size_t bytes, size_t room, void *to, size_t *have)
{
    if (to && room < bytes)
        return CL_INVALID_VALUE;
    if (to)
        memcpy(to, value, bytes);
    if (have)
        *have = bytes;
    return CL_SUCCESS;
}

static cl_int answer_text(const char *text, size_t room, void *to, size_t *have)
{
    return answer(text, strlen(text) + 1, room, to, have);
}

/* ---- the platform -------------------------------------------------------------------------------------------- */

struct platform driver_platform = { { &driver_table, KIND_PLATFORM, 1 } };
struct device   driver_devices[DEVICES_MAX];
cl_uint         driver_n_devices;

/* The processor's number in ELF files (EF_AMDGPU_MACH). */
static unsigned machine_of(const char *key)
{
    static const struct {
        const char *key;
        unsigned    machine;
    } known[] = { { "gfx90a", 0x3f }, { "gfx1100", 0x41 }, { "gfx1200", 0x48 } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].key, key) == 0)
            return known[i].machine;
    return 0;
}

/* ORDO_AMD_DEVICES: KEY,ARCH,WAVE,UNITS,NAME for each, with spaces between. */
static void find_devices(void)
{
    const char *text = getenv("ORDO_AMD_DEVICES");
    if (!text || !getenv("ORDO_AMD_CACHE") || !getenv("ORDO_AMD_MAPS") || !getenv("ORDO_AMD_TOOLS"))
        (void) fprintf(stderr,
                       "the driver for AMD's machine code shows no device: start programs by tests/amd/suite.py\n");
    else
        for (int used = 0; driver_n_devices < DEVICES_MAX; text += used) {
            struct device d = { .object = { &driver_table, KIND_DEVICE, 1 } };
            if (sscanf(text, " %15[^,],%15[^,],%u,%u,%63[^ ]%n", d.key, d.arch, &d.wave, &d.units, d.name, &used) != 5)
                break;
            d.machine = machine_of(d.key);
            driver_devices[driver_n_devices++] = d;
        }
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void before_fork(void)
{
    pthread_mutex_lock(&driver_lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&driver_lock);
}

static void in_child(void)
{
    pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    driver_lock = fresh;
    queue_forget();
    link_forget();
}

static void start(void)
{
    find_devices();
    (void) pthread_atfork(before_fork, after_fork, in_child);
}

static cl_int CL_API_CALL get_platforms(cl_uint n, cl_platform_id *out, cl_uint *have)
{
    (void) pthread_once(&once, start);
    if (have)
        *have = 1;
    if (out && n)
        out[0] = (cl_platform_id) &driver_platform;
    return (!out && !have) || (out && !n) ? CL_INVALID_VALUE : CL_SUCCESS;
}

static cl_int CL_API_CALL platform_info(cl_platform_id of, cl_platform_info what, size_t room, void *to, size_t *have)
{
    if (of && !object_as(of, KIND_PLATFORM))
        return CL_INVALID_PLATFORM;
    switch (what) {
    case CL_PLATFORM_PROFILE:
        return answer_text("FULL_PROFILE", room, to, have);
    case CL_PLATFORM_VERSION:
        return answer_text("OpenCL 2.1 AMD-APP (3452.0)", room, to, have);
    case CL_PLATFORM_NAME:
        return answer_text("AMD code on a CPU, for tests", room, to, have);
    case CL_PLATFORM_VENDOR:
        return answer_text("Ordo", room, to, have);
    case CL_PLATFORM_EXTENSIONS:
        return answer_text("cl_khr_icd cl_amd_event_callback", room, to, have);
    case CL_PLATFORM_ICD_SUFFIX_KHR:
        return answer_text("AMDTEST", room, to, have);
    default:
        return CL_INVALID_VALUE;
    }
}

static cl_int CL_API_CALL get_devices(cl_platform_id of, cl_device_type type, cl_uint n, cl_device_id *out,
                                      cl_uint *have)
{
    if (of && !object_as(of, KIND_PLATFORM))
        return CL_INVALID_PLATFORM;
    if ((out && !n) || (!out && !have))
        return CL_INVALID_VALUE;
    if (!(type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT)) || driver_n_devices == 0)
        return CL_DEVICE_NOT_FOUND;
    const cl_uint found = type == CL_DEVICE_TYPE_DEFAULT ? 1 : driver_n_devices;
    for (cl_uint i = 0; out && i < n && i < found; i++)
        out[i] = (cl_device_id) &driver_devices[i];
    if (have)
        *have = found;
    return CL_SUCCESS;
}

/* ---- devices ------------------------------------------------------------------------------------------------- */

/* ROCm 5.4's list, without what needs images that kernels read. No ballot, no shuffle. */
static const char extensions[] =
    "cl_khr_fp64 cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics cl_khr_local_int32_base_atomics "
    "cl_khr_local_int32_extended_atomics cl_khr_int64_base_atomics cl_khr_int64_extended_atomics "
    "cl_khr_byte_addressable_store cl_khr_fp16 cl_amd_device_attribute_query cl_amd_media_ops cl_amd_media_ops2 "
    "cl_khr_subgroups cl_amd_copy_buffer_p2p cl_amd_assembly_program ";

#define QUERY_WAVEFRONT_WIDTH 0x4043
#define QUERY_BOARD_NAME      0x4038

/* Answers that are equal for all devices: a number of a given size, or a text. */
#define NUMBER(type, value) sizeof(type), (value), NULL
#define TEXT(text)          0, 0, (text)

static const struct {
    cl_device_info what;
    size_t         bytes;
    uint64_t       number;
    const char    *text;
} facts[] = {
    { CL_DEVICE_TYPE, NUMBER(cl_device_type, CL_DEVICE_TYPE_GPU) },
    { CL_DEVICE_VENDOR_ID, NUMBER(cl_uint, 0x1002) },
    { CL_DEVICE_MAX_WORK_GROUP_SIZE, NUMBER(size_t, MAX_GROUP) },
    { CL_DEVICE_MAX_CLOCK_FREQUENCY, NUMBER(cl_uint, 1700) },
    { CL_DEVICE_MAX_MEM_ALLOC_SIZE, NUMBER(cl_ulong, MAX_ALLOC_BYTES) },
    { CL_DEVICE_GLOBAL_MEM_SIZE, NUMBER(cl_ulong, GLOBAL_BYTES) },
    { CL_DEVICE_LOCAL_MEM_SIZE, NUMBER(cl_ulong, LOCAL_BYTES) },
    { CL_DEVICE_HOST_UNIFIED_MEMORY, NUMBER(cl_bool, CL_FALSE) },
    { CL_DEVICE_PROFILING_TIMER_RESOLUTION, NUMBER(size_t, 1) },
    { CL_DEVICE_ENDIAN_LITTLE, NUMBER(cl_bool, CL_TRUE) },
    { CL_DEVICE_COMPILER_AVAILABLE, NUMBER(cl_bool, CL_TRUE) },
    { CL_DEVICE_QUEUE_PROPERTIES,
      NUMBER(cl_command_queue_properties, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE) },
    { QUERY_BOARD_NAME, TEXT("AMD code on a CPU, for tests") },
    { CL_DEVICE_VENDOR, TEXT("Advanced Micro Devices, Inc.") },
    { CL_DRIVER_VERSION, TEXT("3452.0 (HSA1.1,LC)") },
    { CL_DEVICE_VERSION, TEXT("OpenCL 2.0 ") },
    { CL_DEVICE_OPENCL_C_VERSION, TEXT("OpenCL C 2.0 ") },
    { CL_DEVICE_EXTENSIONS, TEXT(extensions) },
};

static cl_int common_info(cl_device_info what, size_t room, void *to, size_t *have)
{
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (facts[i].what == what)
            return facts[i].text
                       ? answer_text(facts[i].text, room, to, have)
                       : answer(&facts[i].number, facts[i].bytes, room, to, have); /* its low bytes come first */
    return CL_INVALID_VALUE;
}

static cl_int CL_API_CALL device_info(cl_device_id id, cl_device_info what, size_t room, void *to, size_t *have)
{
    const struct device *d = AS(device, id, KIND_DEVICE);
    if (!d)
        return CL_INVALID_DEVICE;
    switch (what) {
    case CL_DEVICE_PLATFORM:
        ANSWER(cl_platform_id, (cl_platform_id) &driver_platform);
    case CL_DEVICE_NAME:
        return answer_text(d->name, room, to, have);
    case CL_DEVICE_MAX_COMPUTE_UNITS:
        ANSWER(cl_uint, d->units);
    case QUERY_WAVEFRONT_WIDTH:
        ANSWER(cl_uint, d->wave);
    case CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE:
        ANSWER(cl_uint, d->wave == 64 ? 64 : 128);
    case CL_DEVICE_GLOBAL_MEM_CACHE_SIZE:
        ANSWER(cl_ulong, d->wave == 64 ? 16384 : 32768);
    default:
        return common_info(what, room, to, have);
    }
}

static cl_int CL_API_CALL keep_device(cl_device_id id)
{
    return object_as(id, KIND_DEVICE) ? CL_SUCCESS : CL_INVALID_DEVICE;
}

/* ---- contexts ------------------------------------------------------------------------------------------------ */

void context_retain(struct context *context)
{
    context->object.references++;
}

void context_release(struct context *context)
{
    if (--context->object.references)
        return;
    context->object.kind = KIND_NONE;
    free(context);
}

static cl_int check_properties(const cl_context_properties *p)
{
    for (; p && p[0]; p += 2) {
        if (p[0] != CL_CONTEXT_PLATFORM)
            return CL_INVALID_PROPERTY;
        if (p[1] != (cl_context_properties) &driver_platform)
            return CL_INVALID_PLATFORM;
    }
    return CL_SUCCESS;
}

static cl_context CL_API_CALL create_context(const cl_context_properties *properties, cl_uint n,
                                             const cl_device_id *ids,
                                             void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
                                             void *user, cl_int *code)
{
    struct context *c = object_create(sizeof *c, KIND_CONTEXT);
    cl_int          got = !c ? CL_OUT_OF_HOST_MEMORY : check_properties(properties);
    if (got == CL_SUCCESS && (!ids || n == 0 || n > DEVICES_MAX || (!notify && user)))
        got = CL_INVALID_VALUE;
    for (cl_uint i = 0; got == CL_SUCCESS && i < n; i++) {
        c->devices[c->n++] = AS(device, ids[i], KIND_DEVICE);
        if (!c->devices[i])
            got = CL_INVALID_DEVICE;
    }
    if (code)
        *code = got;
    if (got != CL_SUCCESS) {
        free(c);
        return NULL;
    }
    c->notify = notify;
    c->user = user;
    return (cl_context) c;
}

RETAIN_AND_RELEASE(context, cl_context, KIND_CONTEXT, CL_INVALID_CONTEXT)

/* ---- the table ----------------------------------------------------------------------------------------------- */

void info_fill_table(struct _cl_icd_dispatch *table);
void info_fill_table(struct _cl_icd_dispatch *table)
{
    table->clGetPlatformIDs = get_platforms;
    table->clGetPlatformInfo = platform_info;
    table->clGetDeviceIDs = get_devices;
    table->clGetDeviceInfo = device_info;
    table->clRetainDevice = keep_device;
    table->clReleaseDevice = keep_device;
    table->clCreateContext = create_context;
    table->clRetainContext = retain_context;
    table->clReleaseContext = release_context;
}
