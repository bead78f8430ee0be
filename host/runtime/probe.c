/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the features of a device from extensions and trial compiles, never from version strings. */
#include "internal.h"

#include <CL/cl_ext.h>
#include <stdlib.h>
#include <strings.h>

#ifndef CL_DEVICE_WARP_SIZE_NV
#define CL_DEVICE_WARP_SIZE_NV 0x4003
#endif
#ifndef CL_DEVICE_WAVEFRONT_WIDTH_AMD
#define CL_DEVICE_WAVEFRONT_WIDTH_AMD 0x4043
#endif
#define QUERY_SUB_GROUP_SIZES_INTEL          0x4108
#define QUERY_MAX_SUB_GROUP_SIZE_FOR_NDRANGE 0x2033

/* ---- features ------------------------------------------------------------------------------------------------ */

static ordo_status text_of(ordo_device *dev, cl_device_info what, char **out)
{
    size_t bytes = 0;
    ORDO_TRY_CL(dev, clGetDeviceInfo(dev->id, what, 0, NULL, &bytes), "clGetDeviceInfo of %#x", (unsigned) what);
    char *text = calloc(1, bytes + 2);
    ORDO_REQUIRE_MEMORY(dev, text);
    text[0] = ' ';
    const cl_int code = clGetDeviceInfo(dev->id, what, bytes, text + 1, NULL);
    *out = code == CL_SUCCESS ? text : NULL;
    if (code != CL_SUCCESS)
        free(text);
    ORDO_TRY_CL(dev, code, "clGetDeviceInfo of %#x", (unsigned) what);
    return ORDO_OK;
}

static ordo_status short_text_of(ordo_device *dev, cl_device_info what, char *out, size_t size)
{
    char *text = NULL;
    ORDO_TRY(text_of(dev, what, &text));
    const char  *from = text + strspn(text, " ");
    const size_t length = strlen(from) < size - 1 ? strlen(from) : size - 1;
    memcpy(out, from, length);
    out[length] = 0;
    free(text);
    return ORDO_OK;
}

static cl_int get_number(ordo_device *dev, cl_device_info what, size_t bytes, uint64_t *out)
{
    uint64_t     wide = 0;
    uint32_t     narrow = 0;
    const cl_int code =
        clGetDeviceInfo(dev->id, what, bytes, bytes == sizeof narrow ? (void *) &narrow : (void *) &wide, NULL);
    *out = bytes == sizeof narrow ? narrow : wide;
    return code;
}

static uint64_t number_of(ordo_device *dev, cl_device_info what, size_t bytes, uint64_t otherwise)
{
    uint64_t number = 0;
    return get_number(dev, what, bytes, &number) == CL_SUCCESS ? number : otherwise;
}

#define REQUIRED(dev, what, bytes, out)                                                                                \
    ORDO_TRY_CL((dev), get_number((dev), (what), (bytes), (out)), "clGetDeviceInfo of %s", #what)

const struct ordo_facts *ordo_device_facts(const ordo_device *dev)
{
    return dev ? &dev->facts : NULL;
}

static ordo_status load_limits(ordo_device *dev)
{
    struct ordo_facts *f = &dev->facts;
    uint64_t           type = 0, units = 0, group = 0, compiler = 0, little = 0;
    REQUIRED(dev, CL_DEVICE_TYPE, 8, &type);
    REQUIRED(dev, CL_DEVICE_MAX_COMPUTE_UNITS, 4, &units);
    REQUIRED(dev, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t), &group);
    REQUIRED(dev, CL_DEVICE_LOCAL_MEM_SIZE, 8, &f->local_bytes);
    REQUIRED(dev, CL_DEVICE_GLOBAL_MEM_SIZE, 8, &f->global_bytes);
    REQUIRED(dev, CL_DEVICE_MAX_MEM_ALLOC_SIZE, 8, &f->max_alloc_bytes);
    REQUIRED(dev, CL_DEVICE_COMPILER_AVAILABLE, 4, &compiler);
    REQUIRED(dev, CL_DEVICE_ENDIAN_LITTLE, 4, &little);
    f->cpu = (type & CL_DEVICE_TYPE_CPU) != 0;
    f->compute_units = (uint32_t) units;
    f->max_group = (uint32_t) group;
    ORDO_REQUIRE(dev, compiler, ORDO_UNSUPPORTED, "the device has no OpenCL C compiler");
    ORDO_REQUIRE(dev, little, ORDO_UNSUPPORTED, "the device is not little-endian");
    return ORDO_OK;
}

ordo_status ordo_probe_features(ordo_device *dev)
{
    struct ordo_facts *f = &dev->facts;
    char               platform[512] = "";
    ORDO_TRY(short_text_of(dev, CL_DEVICE_NAME, f->name, sizeof f->name));
    ORDO_TRY(short_text_of(dev, CL_DEVICE_VENDOR, f->vendor, sizeof f->vendor));
    ORDO_TRY(short_text_of(dev, CL_DRIVER_VERSION, f->driver, sizeof f->driver));
    ORDO_TRY(short_text_of(dev, CL_DEVICE_VERSION, f->version, sizeof f->version));
    ORDO_TRY_CL(dev, clGetDeviceInfo(dev->id, CL_DEVICE_PLATFORM, sizeof dev->platform, &dev->platform, NULL),
                "clGetDeviceInfo of CL_DEVICE_PLATFORM");
    if (clGetPlatformInfo(dev->platform, CL_PLATFORM_NAME, sizeof platform - 1, platform, NULL) == CL_SUCCESS)
        memcpy(f->platform, platform, sizeof f->platform - 1);
    f->own_binary_cache = strcmp(f->platform, "Portable Computing Language") == 0;
    ORDO_TRY(text_of(dev, CL_DEVICE_EXTENSIONS, &dev->extensions));
    ORDO_TRY(load_limits(dev));
    f->unified_memory = f->cpu || number_of(dev, CL_DEVICE_HOST_UNIFIED_MEMORY, 4, 0) != 0;
    f->cache_line_bytes = (uint32_t) number_of(dev, CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, 4, 64);
    f->vector_bytes = (uint32_t) number_of(dev, CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, 4, 4) * 4;
    f->clock_mhz = (uint32_t) number_of(dev, CL_DEVICE_MAX_CLOCK_FREQUENCY, 4, 0);
    f->timer_ns = (uint32_t) number_of(dev, CL_DEVICE_PROFILING_TIMER_RESOLUTION, 8, 0);
    f->cache_bytes = number_of(dev, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, 8, 0);
    return ORDO_OK;
}

/* ---- trial compiles ------------------------------------------------------------------------------------------ */

static const char c11_trial[] =
    "__kernel void trial(__global uint *p)\n"
    "{\n"
    "    volatile __global atomic_uint *a = (volatile __global atomic_uint *) p;\n"
    "    uint expected = atomic_load_explicit(a, memory_order_acquire, memory_scope_device);\n"
    "    atomic_store_explicit(a, expected + 1, memory_order_release, memory_scope_device);\n"
    "    atomic_fetch_add_explicit(a, 1, memory_order_relaxed, memory_scope_device);\n"
    "    atomic_compare_exchange_strong_explicit(a, &expected, 3, memory_order_acquire, memory_order_relaxed,\n"
    "                                            memory_scope_device);\n"
    "    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);\n"
    "}\n";

static const char int64_trial[] = "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n"
                                  "#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable\n"
                                  "__kernel void trial(__global ulong *p)\n"
                                  "{\n"
                                  "    atom_add(p, 1UL);\n"
                                  "    atom_cmpxchg(p, 1UL, 2UL);\n"
                                  "    atom_max(p, 3UL);\n"
                                  "}\n";

static const char nvidia_trial[] =
    "__kernel void trial(__global uint *p)\n"
    "{\n"
    "    uint lane, votes, other, seen;\n"
    "    __asm__ volatile(\"mov.u32 %0, %%laneid;\" : \"=r\"(lane));\n"
    "    __asm__ volatile(\"{\\n\\t.reg .pred %%q;\\n\\tsetp.ne.u32 %%q, %1, 0;\\n\\t\"\n"
    "                     \"vote.sync.ballot.b32 %0, %%q, 0xffffffff;\\n\\t}\" : \"=r\"(votes) : \"r\"(lane));\n"
    "    __asm__ volatile(\"shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;\" : \"=r\"(other) : \"r\"(votes), "
    "\"r\"(lane));\n"
    "    __asm__ volatile(\"ld.acquire.gpu.global.u32 %0, [%1];\" : \"=r\"(seen) : \"l\"(p) : \"memory\");\n"
    "    __asm__ volatile(\"st.release.gpu.global.u32 [%0], %1;\" :: \"l\"(p), \"r\"(other + seen) : \"memory\");\n"
    "    __asm__ volatile(\"fence.acq_rel.gpu;\" ::: \"memory\");\n"
    "}\n";

static const char amd_trial[] = "__kernel void trial(__global uint *p)\n"
                                "{\n"
                                "    uint lane = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));\n"
                                "    ulong votes = __builtin_amdgcn_uicmp(lane, 0u, 33);\n"
                                "    p[lane] = (uint) __builtin_amdgcn_ds_bpermute((int) (lane << 2), (int) votes);\n"
                                "    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, \"wavefront\");\n"
                                "    __builtin_amdgcn_wave_barrier();\n"
                                "}\n";

static const char khr_shuffle_trial[] =
    "__kernel void trial(__global uint *p)\n"
    "{\n"
    "    uint lane = get_sub_group_local_id();\n"
    "    p[lane] = sub_group_shuffle(p[lane], lane ^ 1u) + sub_group_reduce_add(lane);\n"
    "    sub_group_barrier(CLK_LOCAL_MEM_FENCE);\n"
    "}\n";

static const char khr_ballot_trial[] =
    "__kernel void trial(__global uint *p) { p[get_global_id(0)] = sub_group_ballot(p[0] != 0).x; }\n";

static const char intel_size_trial[] =
    "__attribute__((intel_reqd_sub_group_size(16))) __kernel void trial(__global uint *p)\n"
    "{ p[0] = get_sub_group_local_id(); }\n";

static bool compiles(ordo_device *dev, const char *options, const char *text)
{
    return ordo_trial_compile(dev, options, &text, 1);
}

static bool has_int64_atomics(const ordo_device *dev)
{
    return ordo_device_has(dev, "cl_khr_int64_base_atomics") && ordo_device_has(dev, "cl_khr_int64_extended_atomics");
}

static bool may_be_nvidia(const ordo_device *dev)
{
    return !dev->facts.cpu && ordo_device_has(dev, "cl_nv_device_attribute_query");
}

static bool may_be_amd(const ordo_device *dev)
{
    return !dev->facts.cpu && ordo_device_has(dev, "cl_amd_device_attribute_query");
}

#define NEWEST "-cl-std=CL3.0"

static bool all_compiles(ordo_device *dev)
{
    const char *texts[3] = { c11_trial };
    size_t      n = 1;
    if (has_int64_atomics(dev))
        texts[n++] = int64_trial;
    if (may_be_nvidia(dev))
        texts[n++] = nvidia_trial;
    else if (may_be_amd(dev))
        texts[n++] = amd_trial;
    return n > 1 && ordo_trial_compile(dev, NEWEST, texts, n);
}

/* Chooses the newest language standard with C11 atomics of device scope. If there is none, uses the default language
 * and OpenCL 1.2 atomics. The caller sets `all` if all trial kernels have compiled in the newest standard. */
static void choose_language(ordo_device *dev, bool all)
{
    static const char *const standards[] = { NEWEST, "-cl-std=CL2.0", "" };
    dev->facts.atomics = ORDO_ATOMICS_LEGACY;
    for (size_t i = 0; i < sizeof standards / sizeof *standards; i++)
        if (all || compiles(dev, standards[i], c11_trial)) {
            memcpy(dev->std, standards[i], strlen(standards[i]) + 1);
            dev->facts.atomics = ORDO_ATOMICS_C11;
            return;
        }
}

void ordo_choose_older_language(ordo_device *dev)
{
    if (dev->facts.atomics == ORDO_ATOMICS_LEGACY && dev->facts.lanes != ORDO_LANES_KHR)
        dev->std[0] = 0;
}

static bool sub_group_sizes_have(ordo_device *dev, uint32_t lanes)
{
    size_t sizes[16] = { 0 }, bytes = 0;
    if (clGetDeviceInfo(dev->id, QUERY_SUB_GROUP_SIZES_INTEL, sizeof sizes, sizes, &bytes) != CL_SUCCESS)
        return false;
    for (size_t i = 0; i < bytes / sizeof *sizes; i++)
        if (sizes[i] == lanes)
            return true;
    return false;
}

typedef cl_int(CL_API_CALL *sub_group_info_fn)(cl_kernel, cl_device_id, cl_uint, size_t, const void *, size_t, void *,
                                               size_t *);

static uint32_t asked_sub_group(ordo_device *dev)
{
    sub_group_info_fn info = NULL;
    void             *address = clGetExtensionFunctionAddressForPlatform(dev->platform, "clGetKernelSubGroupInfoKHR");
    memcpy(&info, &address, sizeof info);
    const char  *text = khr_shuffle_trial;
    cl_program   program = info ? clCreateProgramWithSource(dev->context, 1, &text, NULL, NULL) : NULL;
    cl_kernel    kernel = NULL;
    size_t       size = 0;
    const size_t group = 64;
    if (program && clBuildProgram(program, 1, &dev->id, dev->std, NULL, NULL) == CL_SUCCESS)
        kernel = clCreateKernel(program, "trial", NULL);
    if (kernel && info(kernel, dev->id, QUERY_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, sizeof group, &group, sizeof size, &size,
                       NULL) != CL_SUCCESS)
        size = 0;
    if (kernel)
        clReleaseKernel(kernel);
    if (program)
        clReleaseProgram(program);
    return (uint32_t) size;
}

static bool is_lane_count(uint64_t n)
{
    return n >= 2 && n <= 64 && (n & (n - 1)) == 0;
}

static bool try_nvidia(ordo_device *dev, bool all)
{
    if (!may_be_nvidia(dev) || !(all || compiles(dev, dev->std, nvidia_trial)))
        return false;
    const uint64_t warp = number_of(dev, CL_DEVICE_WARP_SIZE_NV, 4, 32);
    if (warp != 32)
        return false;
    dev->facts.lanes = ORDO_LANES_NVIDIA;
    dev->facts.atomics = ORDO_ATOMICS_NVIDIA;
    dev->facts.sub_group = 32;
    dev->facts.groups_progress = true;
    /* A load waits for an earlier load that its address depends on. NVIDIA does not document this. The self-test checks
     * it. */
    dev->facts.address_order = true;
    return true;
}

static bool try_amd(ordo_device *dev, bool all)
{
    if (!may_be_amd(dev) || !((all && !may_be_nvidia(dev)) || compiles(dev, dev->std, amd_trial)))
        return false;
    const uint64_t wave = number_of(dev, CL_DEVICE_WAVEFRONT_WIDTH_AMD, 4, 0);
    if (!is_lane_count(wave))
        return false;
    dev->facts.lanes = ORDO_LANES_AMD;
    dev->facts.sub_group = (uint32_t) wave;
    dev->facts.groups_progress = dev->facts.atomics == ORDO_ATOMICS_C11;
    return true;
}

/* Selects sub-groups of `lanes` work-items. If `lanes` is 0, selects 16, or else the driver's size. Returns false if
 * kernels cannot have such sub-groups. */
static bool try_khronos(ordo_device *dev, uint32_t lanes)
{
    const uint32_t wanted = lanes ? lanes : 16;
    const bool     listed = ordo_device_has(dev, "cl_khr_subgroups") || ordo_device_has(dev, "cl_intel_subgroups");
    if (!listed || !compiles(dev, dev->std, khr_shuffle_trial))
        return false;
    dev->intel_sub_groups = ordo_device_has(dev, "cl_intel_required_subgroup_size") &&
                            sub_group_sizes_have(dev, wanted) && compiles(dev, dev->std, intel_size_trial);
    const uint32_t given = dev->intel_sub_groups ? wanted : asked_sub_group(dev);
    if (!is_lane_count(given) || (lanes && given != lanes))
        return false;
    dev->facts.lanes = ORDO_LANES_KHR;
    dev->facts.sub_group = given;
    dev->khr_ballot = compiles(dev, dev->std, khr_ballot_trial);
    dev->facts.groups_progress = dev->intel_sub_groups && !dev->facts.cpu && dev->facts.atomics == ORDO_ATOMICS_C11;
    return true;
}

static void use_one_lane(ordo_device *dev)
{
    dev->facts.lanes = ORDO_LANES_ONE;
    dev->facts.sub_group = 1;
}

void ordo_probe_trials(ordo_device *dev)
{
    const bool all = all_compiles(dev);
    choose_language(dev, all);
    dev->facts.int64_atomics = has_int64_atomics(dev) && (all || compiles(dev, dev->std, int64_trial));
    use_one_lane(dev);
    if (!dev->facts.cpu && !try_nvidia(dev, all) && !try_amd(dev, all))
        try_khronos(dev, 0);
}

/* ---- masks --------------------------------------------------------------------------------------------------- */

static bool khronos_lanes(const char *value, uint32_t *lanes)
{
    *lanes = strncmp(value, "khr", 3) == 0 ? (uint32_t) strtoul(value + 3, NULL, 10) : 0;
    return strcmp(value, "khr") == 0 || strcmp(value, "khr8") == 0 || strcmp(value, "khr16") == 0 ||
           strcmp(value, "khr32") == 0;
}

static ordo_status mask_one(ordo_device *dev, const char *name, const char *value)
{
    struct ordo_facts       *f = &dev->facts;
    const bool               is_number = *value && value[strspn(value, "0123456789")] == 0;
    const unsigned long long number = strtoull(value, NULL, 10);
    uint32_t                 lanes = 0;
    if (strcmp(name, "lanes") == 0 && strcmp(value, "one") == 0)
        use_one_lane(dev);
    else if (strcmp(name, "lanes") == 0 && khronos_lanes(value, &lanes) && try_khronos(dev, lanes))
        return ORDO_OK;
    else if (strcmp(name, "atomics") == 0 && strcmp(value, "legacy") == 0) {
        f->atomics = ORDO_ATOMICS_LEGACY;
        f->address_order = false;
    } else if (strcmp(name, "address_order") == 0 && is_number && number <= 1)
        f->address_order = number != 0;
    else if (strcmp(name, "local") == 0 && is_number && number >= 1024)
        f->local_bytes = number < f->local_bytes ? number : f->local_bytes;
    else if (strcmp(name, "group") == 0 && is_number && number >= 1)
        f->max_group = number < f->max_group ? (uint32_t) number : f->max_group;
    else if (strcmp(name, "alloc") == 0 && is_number && number >= 4096)
        f->max_alloc_bytes = number < f->max_alloc_bytes ? number : f->max_alloc_bytes;
    else if (strcmp(name, "int64_atomics") == 0 && is_number && number == 0)
        f->int64_atomics = false;
    else if (strcmp(name, "progress") == 0 && is_number && number <= 1)
        f->groups_progress = number != 0;
    else if (strcmp(name, "cpu") == 0 && is_number && number == 0)
        f->cpu = false;
    else
        return ORDO_FAIL(dev, ORDO_INVALID,
                         "mask %s=%s is not one of lanes=one|khr|khr8|khr16|khr32, atomics=legacy, local=, group=, "
                         "alloc=, int64_atomics=0, progress=0|1, address_order=0|1, cpu=0",
                         name, value);
    return ORDO_OK;
}

ordo_status ordo_apply_mask(ordo_device *dev, const char *mask)
{
    char *copy = ordo_format("%s", mask), *rest = NULL;
    ORDO_REQUIRE_MEMORY(dev, copy);
    ordo_status got = ORDO_OK;
    for (char *one = strtok_r(copy, ", ", &rest); one && got == ORDO_OK; one = strtok_r(NULL, ", ", &rest)) {
        char *value = strchr(one, '=');
        if (value)
            *value++ = 0;
        got = mask_one(dev, one, value ? value : "");
    }
    free(copy);
    ordo_choose_older_language(dev);
    return got;
}
