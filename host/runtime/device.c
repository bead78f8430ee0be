/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing devices: selection, probe, self-test, and what is remembered of both. */
#define _GNU_SOURCE
#include "device_private.h"
#include "self_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double) t.tv_sec + 1e-6 * (double) t.tv_nsec;
}

/* ---- selection ----------------------------------------------------------------------------------------------- */

#define MAX_LISTED 64

struct listed {
    cl_device_id id;
    unsigned     platform, device;
    bool         gpu, cpu;
    char         name[128], platform_name[128];
};

/* Whether a call is done; if not, *failed is why. */
static bool done(cl_int code, cl_int *failed)
{
    if (code != CL_SUCCESS)
        *failed = code;
    return code == CL_SUCCESS;
}

static void describe(struct listed *entry, cl_platform_id platform, cl_int *failed)
{
    cl_device_type type = 0;
    char           text[512] = "";
    if (done(clGetDeviceInfo(entry->id, CL_DEVICE_TYPE, sizeof type, &type, NULL), failed)) {
        entry->gpu = (type & CL_DEVICE_TYPE_GPU) != 0;
        entry->cpu = (type & CL_DEVICE_TYPE_CPU) != 0;
    }
    if (done(clGetDeviceInfo(entry->id, CL_DEVICE_NAME, sizeof text - 1, text, NULL), failed))
        snprintf(entry->name, sizeof entry->name, "%.127s", text);
    if (done(clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof text - 1, text, NULL), failed))
        snprintf(entry->platform_name, sizeof entry->platform_name, "%.127s", text);
}

/* Every device of every platform, in the loader's order; platforms without devices are passed over. One broken driver does
 * not hide the others: *failed is the code of what failed, else CL_SUCCESS. */
static size_t list_devices(struct listed *out, cl_int *failed)
{
    cl_platform_id platforms[16];
    cl_uint        n_platforms = 0;
    size_t         n = 0;
    *failed = CL_SUCCESS;
    if (!done(clGetPlatformIDs(16, platforms, &n_platforms), failed))
        return 0;
    for (cl_uint p = 0; p < n_platforms && p < 16; p++) {
        cl_device_id ids[MAX_LISTED];
        cl_uint      n_ids = 0;
        const cl_int code = clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MAX_LISTED, ids, &n_ids);
        if (code == CL_DEVICE_NOT_FOUND || !done(code, failed))
            continue;
        for (cl_uint d = 0; d < n_ids && d < MAX_LISTED && n < MAX_LISTED; d++) {
            out[n] = (struct listed) { .id = ids[d], .platform = p, .device = d };
            describe(&out[n++], platforms[p], failed);
        }
    }
    return n;
}

/* Whether `select` names this device. */
static bool selected(const struct listed *entry, const char *select)
{
    unsigned platform = 0, device = 0;
    char     rest = 0;
    if (sscanf(select, "%u:%u%c", &platform, &device, &rest) == 2)
        return entry->platform == platform && entry->device == device;
    if (strcasecmp(select, "gpu") == 0)
        return entry->gpu;
    if (strcasecmp(select, "cpu") == 0)
        return entry->cpu;
    return strcasestr(entry->name, select) || strcasestr(entry->platform_name, select);
}

static const struct listed *choose(const struct listed *list, size_t n, const char *select)
{
    if (select && *select) {
        for (size_t i = 0; i < n; i++)
            if (selected(&list[i], select))
                return &list[i];
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        if (list[i].gpu)
            return &list[i];
    return &list[0];
}

static ordo_status refuse_selection(ordo_device *dev, const struct listed *list, size_t n, const char *select,
                                    cl_int failed)
{
    char   choices[2048] = "";
    size_t used = 0;
    for (size_t i = 0; i < n && used < sizeof choices - 300; i++)
        used += (size_t) snprintf(choices + used, sizeof choices - used, "\n  %u:%u  %s%s  (%s)", list[i].platform,
                                  list[i].device, list[i].name,
                                  list[i].gpu   ? ", gpu"
                                  : list[i].cpu ? ", cpu"
                                                : "",
                                  list[i].platform_name);
    return ordo_fail(dev, ORDO_NO_DEVICE, failed, __FILE__, __LINE__,
                     "no device is called \"%s\"; there are (also \"gpu\", \"cpu\", or part of a name):%s", select,
                     choices);
}

static ordo_status select_device(ordo_device *dev, const char *select)
{
    struct listed *list = calloc(MAX_LISTED, sizeof *list);
    ORDO_REQUIRE(dev, list, ORDO_NO_HOST_MEMORY);
    cl_int       failed = CL_SUCCESS;
    const size_t n = list_devices(list, &failed);
    ordo_status  got = ORDO_OK;
    if (n == 0) {
        got =
            ordo_fail(dev, ORDO_NO_DEVICE, failed, __FILE__, __LINE__,
                      "there is no OpenCL device: install a driver's package, such as pocl-opencl-icd for the CPU, "
                      "nvidia-opencl-icd, intel-opencl-icd, or mesa-opencl-icd (with RUSTICL_ENABLE=radeonsi) for AMD");
    } else {
        const struct listed *chosen = choose(list, n, select);
        if (chosen)
            dev->id = chosen->id;
        else
            got = refuse_selection(dev, list, n, select, failed);
    }
    free(list);
    return got;
}

/* ---- probe and self-test, remembered ------------------------------------------------------------------------- */

/* What a probe found that costs compiles or runs to find again. */
struct remembered {
    struct ordo_device_facts facts;
    char                     std[24];
    bool                     khr_ballot, intel_sub_groups, tested;
};

static struct ordo_hash memory_key(ordo_device *dev, const char *mask)
{
    const struct ordo_hash sources = ordo_sources_hash(dev);
    return ORDO_HASH_TEXT(ordo_hash_of(dev->identity, &sources, sizeof sources), mask);
}

static bool recall(ordo_device *dev, struct ordo_hash key)
{
    size_t             bytes = 0;
    struct remembered *r = ordo_cache_read(dev, "probe", key, &bytes);
    const bool         good = r && bytes == sizeof *r;
    if (good) {
        dev->facts = r->facts;
        memcpy(dev->std, r->std, sizeof dev->std);
        dev->khr_ballot = r->khr_ballot;
        dev->intel_sub_groups = r->intel_sub_groups;
        dev->facts.self_test_remembered = r->tested;
        dev->facts.open_ms = dev->facts.build_ms = dev->facts.self_test_ms = 0;
    }
    free(r);
    return good;
}

static void remember(ordo_device *dev, struct ordo_hash key)
{
    struct remembered r;
    if (dev->probe_disturbed)
        return;
    memset(&r, 0, sizeof r);
    r.facts = dev->facts;
    memcpy(r.std, dev->std, sizeof r.std);
    r.khr_ballot = dev->khr_ballot;
    r.intel_sub_groups = dev->intel_sub_groups;
    r.tested = true;
    ordo_cache_write(dev, "probe", key, &r, sizeof r);
}

/* ---- self-test and what to do about failures ----------------------------------------------------------------- */

static void drop(ordo_device *dev, const char *what)
{
    char        *dropped = dev->facts.dropped;
    const size_t used = strlen(dropped);
    snprintf(dropped + used, sizeof dev->facts.dropped - used, "%s%s", used ? "\n" : "", what);
    ordo_log(dev, ORDO_LOG_WARNING, "self-test on %s: %s", dev->facts.name, what);
}

/* Lowers the facts by one step that may cure a failure in `part`; false when there is nothing safer left. */
static bool step_down(ordo_device *dev, enum ordo_self_test_part part)
{
    struct ordo_device_facts *f = &dev->facts;
    if (part != ORDO_TEST_LANES && f->groups_progress) {
        f->groups_progress = false;
        drop(dev, "look-back between work-groups: replaced by passes that wait for nobody");
    } else if (part == ORDO_TEST_ATOMICS && f->int64_atomics) {
        f->int64_atomics = false;
        drop(dev, "64-bit atomics: replaced by 32-bit ones");
    } else if (part == ORDO_TEST_ATOMICS && f->atomics != ORDO_ATOMICS_LEGACY) {
        f->atomics = ORDO_ATOMICS_LEGACY;
        drop(dev, "device-scope atomics: replaced by OpenCL 1.2 ones");
    } else if (f->lanes != ORDO_LANES_ONE) {
        f->lanes = ORDO_LANES_ONE;
        f->sub_group = 1;
        drop(dev, "sub-group operations: replaced by teams of one");
    } else {
        return false;
    }
    ordo_choose_older_language(dev);
    ordo_profile_load(dev);
    return true;
}

static ordo_status run_self_test(ordo_device *dev, enum ordo_self_test_part *failed)
{
    *failed = ORDO_TEST_LANES;
    ORDO_TRY(ordo_self_test_lanes(dev));
    *failed = ORDO_TEST_ATOMICS;
    ORDO_TRY(ordo_self_test_atomics(dev));
    *failed = ORDO_TEST_PRIMITIVES;
    return ordo_self_test_primitives(dev);
}

/* Whether a safer variant may cure this: wrong answers, kernels that do not build or do not fit. Lack of memory and errors
 * of the driver say nothing about the variant. */
static bool blames_variant(ordo_status got)
{
    return got == ORDO_SELF_TEST || got == ORDO_BUILD || got == ORDO_UNSUPPORTED;
}

/* A kernel that was refused for want of memory gets a second chance: what is blamed is remembered. */
static ordo_status try_variant(ordo_device *dev, enum ordo_self_test_part *failed)
{
    const ordo_status got = run_self_test(dev, failed);
    if (blames_variant(got) && ordo_is_want_of_memory(ordo_device_last_cl_error(dev)))
        return run_self_test(dev, failed);
    return got;
}

static ordo_status settle(ordo_device *dev)
{
    const double             start = now_ms(), built = dev->facts.build_ms;
    enum ordo_self_test_part failed = ORDO_TEST_LANES;
    ordo_status              got = try_variant(dev, &failed);
    while (blames_variant(got) && step_down(dev, failed))
        got = try_variant(dev, &failed);
    dev->facts.self_test_ms = now_ms() - start - (dev->facts.build_ms - built);
    return got;
}

ordo_status ordo_device_self_test(ordo_device *dev)
{
    ORDO_REQUIRE(dev, dev, ORDO_INVALID);
    enum ordo_self_test_part failed = ORDO_TEST_LANES;
    const double             start = now_ms();
    const ordo_status        got = run_self_test(dev, &failed);
    dev->facts.self_test_ms = now_ms() - start;
    dev->facts.self_test_remembered = false;
    return got;
}

/* ---- opening ------------------------------------------------------------------------------------------------- */

/* By the call of OpenCL 1.2, which every platform has. */
static ordo_status create_queue(ordo_device *dev, const struct ordo_device_config *config)
{
    const cl_command_queue_properties properties = config->profiling ? CL_QUEUE_PROFILING_ENABLE : 0;
    cl_int                            code = CL_SUCCESS;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    dev->queue = clCreateCommandQueue(dev->context, dev->id, properties, &code);
#pragma GCC diagnostic pop
    ORDO_TRY_CL(dev, code, "clCreateCommandQueue (is the device one of the context's?)");
    return ORDO_OK;
}

static ordo_status create_objects(ordo_device *dev, const struct ordo_device_config *config)
{
    cl_int code = CL_SUCCESS;
    dev->context = clCreateContext(NULL, 1, &dev->id, NULL, NULL, &code);
    ORDO_TRY_CL(dev, code, "clCreateContext");
    return create_queue(dev, config);
}

static void identify(ordo_device *dev)
{
    const struct ordo_device_facts *f = &dev->facts;
    struct ordo_hash                hash = { 0, 0 };
    hash = ORDO_HASH_TEXT(hash, f->platform);
    hash = ORDO_HASH_TEXT(hash, f->name);
    hash = ORDO_HASH_TEXT(hash, f->driver);
    hash = ORDO_HASH_TEXT(hash, f->version);
    hash = ORDO_HASH_TEXT(hash, ORDO_VERSION);
    dev->identity = hash;
}

/* Everything after context and queue are there. */
static ordo_status learn(ordo_device *dev, const struct ordo_device_config *config)
{
    const char *mask = config->mask ? config->mask : getenv("ORDO_MASK");
    const char *dir = getenv("ORDO_CL_DIR");
    mask = mask ? mask : "";
    if (dir && *dir)
        ORDO_REQUIRE(dev, dev->cl_dir = ordo_format("%s", dir), ORDO_NO_HOST_MEMORY);

    ORDO_TRY(ordo_probe_features(dev));
    identify(dev);
    ordo_cache_open(dev);
    dev->memory_limit = dev->facts.global_bytes;

    const struct ordo_hash key = memory_key(dev, mask);
    const bool             known = recall(dev, key);
    if (!known) {
        ORDO_TRY(ordo_probe_trials(dev));
        ORDO_TRY(ordo_apply_mask(dev, mask));
    }
    ordo_profile_load(dev);
    if (!config->no_self_test && !dev->facts.self_test_remembered) {
        ORDO_TRY(settle(dev));
        remember(dev, key);
        ORDO_TRY(ordo_device_trim(dev));
    }
    if (config->memory_limit)
        dev->memory_limit = config->memory_limit;
    return ORDO_OK;
}

/* A device with only its locks and log: enough to fail with a message. */
static ordo_device *bare_device(const struct ordo_device_config *config)
{
    pthread_mutexattr_t recursive;
    ordo_device        *dev = calloc(1, sizeof *dev);
    if (!dev)
        return NULL;
    if (ordo_errors_open(dev, config) != ORDO_OK) {
        free(dev);
        return NULL;
    }
    dev->pid = getpid();
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&dev->lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
    return dev;
}

/* Hands the device out, or its message and nothing. */
static ordo_status finish(ordo_device *dev, const struct ordo_device_config *config, ordo_status got, double start,
                          ordo_device **out)
{
    if (got == ORDO_OK) {
        dev->facts.open_ms = now_ms() - start;
        ordo_log(dev, ORDO_LOG_INFO, "opened %s (%s) in %.1f ms", dev->facts.name, dev->facts.platform,
                 dev->facts.open_ms);
        *out = dev;
        return ORDO_OK;
    }
    if (config->message && config->message_bytes)
        ordo_device_last_error(dev, config->message, config->message_bytes);
    ordo_device_close(&dev);
    return got;
}

ordo_status ordo_device_open(const struct ordo_device_config *config, ordo_device **out)
{
    static const struct ordo_device_config defaults = { 0 };
    const double                           start = now_ms();
    if (!out)
        return ORDO_INVALID;
    *out = NULL;
    config = config ? config : &defaults;
    ordo_device *dev = bare_device(config);
    if (!dev)
        return ORDO_NO_HOST_MEMORY;

    ordo_status got = select_device(dev, config->select ? config->select : getenv("ORDO_DEVICE"));
    if (got == ORDO_OK)
        got = create_objects(dev, config);
    if (got == ORDO_OK)
        got = learn(dev, config);
    return finish(dev, config, got, start, out);
}

static ordo_status adopt_objects(ordo_device *dev, cl_context context, cl_device_id id, cl_command_queue queue,
                                 const struct ordo_device_config *config)
{
    ORDO_REQUIRE(dev, context && id, ORDO_INVALID);
    dev->id = id;
    ORDO_TRY_CL(dev, clRetainContext(context), "clRetainContext");
    dev->context = context;
    if (!queue)
        return create_queue(dev, config);

    cl_context                  queue_context = NULL;
    cl_device_id                queue_device = NULL;
    cl_command_queue_properties properties = 0;
    ORDO_TRY_CL(dev, clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof queue_context, &queue_context, NULL),
                "the adopted queue is not a command queue");
    ORDO_TRY_CL(dev, clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof queue_device, &queue_device, NULL),
                "CL_QUEUE_DEVICE");
    ORDO_TRY_CL(dev, clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL),
                "CL_QUEUE_PROPERTIES");
    ORDO_REQUIRE(dev, queue_context == context && queue_device == id, ORDO_INVALID);
    ORDO_TRY_CL(dev, clRetainCommandQueue(queue), "clRetainCommandQueue");
    dev->queue = queue;
    dev->own_queue_out_of_order = (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
    return ORDO_OK;
}

ordo_status ordo_device_adopt(cl_context context, cl_device_id id, cl_command_queue queue,
                              const struct ordo_device_config *config, ordo_device **out)
{
    static const struct ordo_device_config defaults = { 0 };
    const double                           start = now_ms();
    if (!out)
        return ORDO_INVALID;
    *out = NULL;
    config = config ? config : &defaults;
    ordo_device *dev = bare_device(config);
    if (!dev)
        return ORDO_NO_HOST_MEMORY;

    ordo_status got = adopt_objects(dev, context, id, queue, config);
    if (got == ORDO_OK)
        got = learn(dev, config);
    return finish(dev, config, got, start, out);
}

void ordo_device_close(ordo_device **device)
{
    if (!device || !*device)
        return;
    ordo_device *dev = *device;
    *device = NULL;
    /* In the child of a fork the driver's threads are gone: its objects are left alone. */
    if (dev->pid == getpid()) {
        if (dev->queue)
            clFinish(dev->queue);
        ordo_programs_destroy(dev);
        ordo_scratch_destroy(dev);
        if (dev->queue)
            clReleaseCommandQueue(dev->queue);
        if (dev->context)
            clReleaseContext(dev->context);
    }
    ordo_held_forget(dev);
    pthread_mutex_destroy(&dev->lock);
    pthread_mutex_destroy(&dev->error_lock);
    free(dev->error);
    free(dev->extensions);
    free(dev->cl_dir);
    free(dev->cache_dir);
    free(dev);
}

/* ---- getters ------------------------------------------------------------------------------------------------- */

const struct ordo_device_facts *ordo_device_facts(const ordo_device *dev)
{
    return dev ? &dev->facts : NULL;
}

cl_context ordo_device_context(const ordo_device *dev)
{
    return dev ? dev->context : NULL;
}

cl_device_id ordo_device_id(const ordo_device *dev)
{
    return dev ? dev->id : NULL;
}

cl_command_queue ordo_device_queue(const ordo_device *dev)
{
    return dev ? dev->queue : NULL;
}

ordo_status ordo_device_finish(ordo_device *dev)
{
    ORDO_REQUIRE(dev, dev, ORDO_INVALID);
    ORDO_REQUIRE(dev, dev->pid == getpid(), ORDO_FORKED);
    ORDO_TRY_CL(dev, clFinish(dev->queue), "clFinish");
    return ORDO_OK;
}
