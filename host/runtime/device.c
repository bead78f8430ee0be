/* SPDX-License-Identifier: Apache-2.0 */
/* Opens and closes devices. */
#include "internal.h"
#include "ordo/ordo.h"
#include "self_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- self-test and safer variants after failures --------------------------------------------------------------- */

static void drop(ordo_device *dev, const char *what)
{
    char        *dropped = dev->facts.dropped;
    const size_t used = strlen(dropped);
    snprintf(dropped + used, sizeof dev->facts.dropped - used, "%s%s", used ? "\n" : "", what);
    ordo_log(dev, ORDO_LOG_WARNING, "self-test on %s: %s", dev->facts.name, what);
}

/* Turns off one feature that may have made `part` fail. Returns false if no such feature is left. */
static bool step_down(ordo_device *dev, enum ordo_self_test_part part)
{
    struct ordo_facts *f = &dev->facts;
    if (part == ORDO_TEST_ATOMICS && f->address_order) {
        f->address_order = false;
        drop(dev, "order by addresses: replaced by fences");
    } else if (part != ORDO_TEST_LANES && f->groups_progress) {
        f->groups_progress = false;
        drop(dev, "look-back between work-groups: replaced by passes that wait for nobody");
    } else if (part == ORDO_TEST_ATOMICS && f->int64_atomics) {
        f->int64_atomics = false;
        drop(dev, "64-bit atomics: replaced by 32-bit ones");
    } else if (part == ORDO_TEST_ATOMICS && f->atomics != ORDO_ATOMICS_LEGACY) {
        f->atomics = ORDO_ATOMICS_LEGACY;
        f->address_order = false;
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

static ordo_status run_self_test(ordo_device *dev, bool all, enum ordo_self_test_part *failed)
{
    *failed = ORDO_TEST_LANES;
    ORDO_TRY(ordo_self_test_lanes(dev));
    *failed = ORDO_TEST_ATOMICS;
    ORDO_TRY(ordo_self_test_atomics(dev));
    *failed = ORDO_TEST_PRIMITIVES;
    return dev->test_primitives(dev, all);
}

static bool blames_variant(ordo_status got)
{
    return got == ORDO_SELF_TEST || got == ORDO_BUILD || got == ORDO_UNSUPPORTED;
}

static void build_self_test(ordo_device *dev)
{
    ordo_device *dry = NULL;
    if (!ordo_builds_ahead(dev) || ordo_dry_run_open(dev, NULL, &dry) != ORDO_OK)
        return;
    (void) ordo_self_test_lanes(dry);
    (void) ordo_self_test_atomics(dry);
    (void) dry->test_primitives(dry, false);
    ordo_dry_run_close(&dry);
}

/* Repeats a self-test that lacked memory, because its failure would be cached. */
static ordo_status try_variant(ordo_device *dev, enum ordo_self_test_part *failed)
{
    build_self_test(dev);
    const ordo_status got = run_self_test(dev, false, failed);
    ordo_builds_forget(dev);
    if (blames_variant(got) && ordo_is_want_of_memory(ordo_device_last_cl_error(dev)))
        return run_self_test(dev, false, failed);
    return got;
}

static ordo_status find_variants(ordo_device *dev)
{
    const double             start = ordo_now_ms(), built = dev->builds.ms;
    enum ordo_self_test_part failed = ORDO_TEST_LANES;
    ordo_status              got = try_variant(dev, &failed);
    while (blames_variant(got) && step_down(dev, failed))
        got = try_variant(dev, &failed);
    dev->facts.self_test_ms = ordo_now_ms() - start - (dev->builds.ms - built);
    return got;
}

ordo_status ordo_device_self_test(ordo_device *dev)
{
    ORDO_REQUIRE_GIVEN(dev, dev);
    enum ordo_self_test_part failed = ORDO_TEST_LANES;
    const double             start = ordo_now_ms();
    const ordo_status        got = run_self_test(dev, true, &failed);
    ordo_lock(dev);
    dev->facts.self_test_ms = ordo_now_ms() - start;
    dev->facts.self_test_remembered = false;
    ordo_unlock(dev);
    return got;
}

/* ---- opening ------------------------------------------------------------------------------------------------- */

static ordo_status create_objects(ordo_device *dev, const struct ordo_device_config *config,
                                  const struct ordo_adopted *adopted)
{
    cl_int code = CL_SUCCESS;
    if (adopted) {
        ORDO_REQUIRE(dev, adopted->context, ORDO_INVALID, "context is NULL");
        ORDO_REQUIRE(dev, adopted->id, ORDO_INVALID, "id is NULL");
        dev->id = adopted->id;
        ORDO_TRY_CL(dev, clRetainContext(adopted->context), "clRetainContext");
        dev->context = adopted->context;
    } else {
        ORDO_TRY(ordo_select_device(dev, config->select ? config->select : ordo_environment("ORDO_DEVICE")));
        dev->context = clCreateContext(NULL, 1, &dev->id, NULL, NULL, &code);
        ORDO_TRY_CL(dev, code, "clCreateContext");
    }
    if (!adopted || !adopted->queue)
        return ordo_queue_create(dev, config->profiling ? CL_QUEUE_PROFILING_ENABLE : 0, &dev->queue);
    ORDO_TRY(ordo_queue_check(dev, adopted->queue, "the adopted queue", &dev->own_queue_out_of_order));
    ORDO_TRY_CL(dev, clRetainCommandQueue(adopted->queue), "clRetainCommandQueue");
    dev->queue = adopted->queue;
    return ORDO_OK;
}

static void identify(ordo_device *dev)
{
    const struct ordo_facts *f = &dev->facts;
    const char *const        texts[] = { f->platform, f->name, f->driver, f->version, ORDO_VERSION };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        dev->identity = ORDO_DIGEST_TEXT(dev->identity, texts[i]);
}

static ordo_status find_kernels(ordo_device *dev)
{
    const char *dir = ordo_environment("ORDO_CL_DIR");
    struct stat info;
    if (!dir || !*dir)
        return ORDO_OK;
    ORDO_REQUIRE(dev, stat(dir, &info) == 0 && S_ISDIR(info.st_mode), ORDO_IO,
                 "ORDO_CL_DIR=%s is not a directory: kernels would be read from there", dir);
    ORDO_REQUIRE_MEMORY(dev, dev->cl_dir = ordo_format("%s", dir));
    return ORDO_OK;
}

/* Default number of build threads for a GPU. NVIDIA's compiler is not faster with more threads. For a CPU the default
 * is 0, because its driver builds one program at a time, and builds slow down kernels. */
#define BUILD_THREADS_GPU 2

static ordo_status choose_build_threads(ordo_device *dev, const struct ordo_device_config *config)
{
    const char *chosen = ordo_environment("ORDO_BUILD_THREADS");
    char       *end = NULL;

    ORDO_REQUIRE(dev, config->build_threads >= -1 && config->build_threads <= ORDO_BUILD_THREADS_MAX, ORDO_INVALID,
                 "build_threads is %d: it may be -1 to %d", config->build_threads, ORDO_BUILD_THREADS_MAX);
    dev->builds.threads_most = config->build_threads > 0 ? (unsigned) config->build_threads : 0;
    if (config->build_threads != 0)
        return ORDO_OK;
    dev->builds.threads_most = dev->facts.cpu ? 0 : BUILD_THREADS_GPU;
    if (!chosen || !*chosen)
        return ORDO_OK;
    const long n = strtol(chosen, &end, 10);
    if (*end || n < 0 || n > ORDO_BUILD_THREADS_MAX)
        ordo_log(dev, ORDO_LOG_WARNING, "ORDO_BUILD_THREADS=%s: it may be 0 to %d, and counts as not set", chosen,
                 ORDO_BUILD_THREADS_MAX);
    else
        dev->builds.threads_most = (unsigned) n;
    return ORDO_OK;
}

static ordo_status learn(ordo_device *dev, const struct ordo_device_config *config)
{
    const char *mask = config->mask ? config->mask : ordo_environment("ORDO_MASK");
    mask = mask ? mask : "";
    ORDO_TRY(find_kernels(dev));
    ORDO_TRY(ordo_probe_features(dev));
    identify(dev);
    ordo_cache_open(dev);
    dev->memory_limit = dev->facts.global_bytes;
    ordo_ring_open(dev);
    ordo_overlap_open(dev);
    ORDO_TRY(choose_build_threads(dev, config));
    dev->kernels_apart = !dev->facts.own_binary_cache;

    struct ordo_digest key;
    ORDO_TRY(ordo_memory_key(dev, mask, &key));
    const bool known = ordo_recall(dev, key);
    if (!known) {
        ordo_probe_trials(dev);
        ORDO_TRY(ordo_apply_mask(dev, mask));
    }
    ordo_profile_load(dev);
    if (!config->no_self_test && !dev->facts.self_test_remembered) {
        ORDO_TRY(find_variants(dev));
        ordo_remember(dev, key);
        ORDO_TRY(ordo_device_trim(dev));
    }
    if (config->memory_limit)
        dev->memory_limit = config->memory_limit;
    return ORDO_OK;
}

static ordo_status finish(ordo_device *dev, const struct ordo_device_config *config, ordo_status got, double start,
                          ordo_device **out)
{
    const char *text = ordo_status_string(got);
    size_t      needs = got == ORDO_OK ? 0 : ordo_device_last_error(dev, config->message, config->message_bytes);
    if (!dev) {
        needs = strlen(text) + 1;
        if (config->message)
            snprintf(config->message, config->message_bytes, "%s", text);
    }
    if (config->message_needs)
        *config->message_needs = needs;
    if (got == ORDO_OK) {
        dev->facts.open_ms = ordo_now_ms() - start;
        dev->facts.build_ms = dev->builds.ms;
        ordo_log(dev, ORDO_LOG_INFO, "opened %s (%s) in %.1f ms", dev->facts.name, dev->facts.platform,
                 dev->facts.open_ms);
        *out = dev;
        return ORDO_OK;
    }
    ordo_device_close(&dev);
    return got;
}

ordo_status ordo_open_device(const struct ordo_device_config *config, const struct ordo_adopted *adopted,
                             ordo_self_test_part_fn *test_primitives, ordo_device **out)
{
    static const struct ordo_device_config defaults = { 0 };
    const double                           start = ordo_now_ms();
    if (!out)
        return ORDO_INVALID;
    *out = NULL;
    config = config ? config : &defaults;
    ordo_device *dev = ordo_bare_device(config);
    ordo_status  got = dev ? create_objects(dev, config, adopted) : ORDO_NO_HOST_MEMORY;
    if (got == ORDO_OK) {
        dev->test_primitives = test_primitives;
        got = learn(dev, config);
    }
    return finish(dev, config, got, start, out);
}

ordo_status ordo_device_trim(ordo_device *dev)
{
    struct ordo_call call;
    ORDO_TRY(ordo_call_begin(&call, dev, NULL));
    ordo_scratch_destroy(dev);
    ordo_stages_destroy(dev);
    ordo_ring_destroy(dev);
    free(dev->bounce);
    dev->bounce = NULL;
    dev->memory.scratch_peak_bytes = dev->scratch_used;
    dev->memory.held_peak_bytes = dev->memory.held_bytes;
    return ordo_call_end(&call, ORDO_OK);
}

ordo_status ordo_device_check_fork(ordo_device *dev)
{
    ORDO_REQUIRE_NO_FORK(dev);
    return ORDO_OK;
}

void ordo_device_hold(ordo_device *dev)
{
    atomic_fetch_add(&dev->holders, 1);
}

void ordo_device_release(ordo_device *dev)
{
    if (atomic_fetch_sub(&dev->holders, 1) > 1)
        return;
    /* In the child of a fork the driver's threads do not exist, so OpenCL objects are not released. */
    if (dev->pid == getpid()) {
        if (dev->queue)
            clFinish(dev->queue);
        ordo_programs_destroy(dev);
        ordo_pending_forget(dev);
        ordo_scratch_destroy(dev);
        ordo_stages_forget(dev, UINT64_MAX);
        ordo_stages_destroy(dev);
        ordo_ring_destroy(dev);
        ordo_overlap_close(dev);
        if (dev->queue)
            clReleaseCommandQueue(dev->queue);
        if (dev->context)
            clReleaseContext(dev->context);
    }
    ordo_bare_device_free(dev);
}

void ordo_device_close(ordo_device **device)
{
    if (!device || !*device)
        return;
    ordo_device *dev = *device;
    *device = NULL;
    if (dev->pid == getpid() && dev->queue)
        clFinish(dev->queue);
    ordo_errors_close(dev);
    ordo_device_release(dev);
}

/* ---- getters ------------------------------------------------------------------------------------------------- */

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
    ORDO_REQUIRE_GIVEN(dev, dev);
    ORDO_REQUIRE_NO_FORK(dev);
    ordo_lock(dev);
    const uint64_t sent = dev->stage_number;
    ordo_unlock(dev);
    ORDO_TRY_WAIT(dev, clFinish(dev->queue), "clFinish");
    ordo_lock(dev);
    ordo_stages_forget(dev, sent);
    ordo_unlock(dev);
    return ORDO_OK;
}
