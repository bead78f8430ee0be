/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a test on each device with each mask: see support.h. */
#define _GNU_SOURCE
#include "support.h"
#include "watchdog.h"

#include "runtime/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The device itself, then with fewer abilities. On a CPU "cpu=0" selects the code for an unknown GPU without lanes, and
 * "progress=1" the code for a GPU whose groups may wait for each other. */
const char *const test_masks[] = {
    "",
    "lanes=one",
    "progress=0",
    "int64_atomics=0",
    "local=16384",
    "group=64",
    "cpu=0",
    "cpu=0,progress=1",
    "cpu=0,progress=1,int64_atomics=0",
    "cpu=0,local=16384",
    NULL,
};

uint64_t test_seed(void)
{
    const char *text = getenv("ORDO_TEST_SEED");

    return text ? strtoull(text, NULL, 0) : 1;
}

/* Appends to the file ORDO_TEST_LANES how lanes communicate here and what the self-test disabled. `./run ci` counts
 * these lines. */
static void note_lanes(const struct ordo_facts *facts)
{
    static const char *const names[] = { "one", "Khronos", "NVIDIA", "AMD" };
    const char *const        path = getenv("ORDO_TEST_LANES");
    FILE *const              file = path ? fopen(path, "a") : NULL;

    if (!file)
        return;
    (void) fprintf(file, "%s\t%" PRIu32 "\t%s\t%.*s\n", names[facts->lanes], facts->sub_group, facts->name,
                   (int) strcspn(facts->dropped, "\n"), facts->dropped);
    (void) fclose(file);
}

/* Appends to the file ORDO_TEST_TIMES the time of a test on a device: elapsed and CPU seconds; then seconds for opening
 * the device, building programs, and calls that waited for builds; then the number of builds. */
static void note_time(const struct test *t, double seconds, double cpu)
{
    const char *const          path = getenv("ORDO_TEST_TIMES");
    FILE *const                file = path ? fopen(path, "a") : NULL;
    const struct ordo_builds  *b = &t->dev->builds;
    const struct ordo_program *p = b->programs;
    size_t                     built = 0;

    if (!file)
        return;
    for (; p; p = p->next)
        built += p->program && !p->from_cache;
    (void) fprintf(file, "%s/%s\t%s\t%s\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%zu\n", criterion_current_test->category,
                   criterion_current_test->name, t->facts->name, t->mask, seconds, cpu, t->facts->open_ms / 1e3,
                   b->ms / 1e3, b->waited_ms / 1e3, built);
    (void) fclose(file);
}

static void run_body(ordo_device *dev, const char *mask, test_body body)
{
    struct test   t = { .dev = dev, .facts = ordo_device_facts(dev), .mask = mask, .seed = test_seed() };
    const double  start = ordo_now_ms();
    const clock_t cpu = clock();

    t.random = t.seed;
    watchdog_note("", t.facts->name, mask ? mask : "", t.seed);
    note_lanes(t.facts);
    body(&t);
    note_time(&t, (ordo_now_ms() - start) / 1e3, (double) (clock() - cpu) / CLOCKS_PER_SEC);
}

/* Whether two masks leave the same abilities. 64-bit atomics matter only to groups that wait for each other and to the
 * self-test, which each mask gets when it is opened. */
static bool same_abilities(const struct ordo_facts *a, const struct ordo_facts *b)
{
    return a->cpu == b->cpu && a->lanes == b->lanes && a->sub_group == b->sub_group &&
           a->groups_progress == b->groups_progress && (a->int64_atomics == b->int64_atomics || !a->groups_progress) &&
           a->address_order == b->address_order && a->atomics == b->atomics && a->local_bytes == b->local_bytes &&
           a->max_group == b->max_group && a->max_alloc_bytes == b->max_alloc_bytes;
}

/* A device: context and id; NULL for the one that ORDO_DEVICE selects. */
struct place {
    cl_context   context;
    cl_device_id id;
};

/* One of several concurrent tests runs the self-test of a mask; the others reuse its result. Returns -1 if none is
 * kept, else a descriptor to close. */
static int lock_opening(const char *mask)
{
    const char *const kept = getenv("ORDO_CACHE");
    char              path[1024];

    if (!kept || kept[0] != '/')
        return -1;
    (void) mkdir(kept, 0700);
    (void) snprintf(path, sizeof path, "%s/opening %s", kept, mask ? mask : "");
    const int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock >= 0)
        (void) flock(lock, LOCK_EX);
    return lock;
}

/* If a mask claims that groups make progress and the device does not, the self-test may pass today and fail on a busy
 * day. The device is then opened without a self-test, which would reject the mask (device_lanes tests that). */
static ordo_device *open_place(const struct place *place, const char *mask)
{
    char                      message[512] = "";
    ordo_device              *dev = NULL;
    struct ordo_device_config config = { .mask = mask,
                                         .message = message,
                                         .message_bytes = sizeof message,
                                         .no_self_test = mask && strstr(mask, "progress=1") };

    const struct ordo_build_changes *const before = ordo_build_changes;
    const int                              lock = lock_opening(mask);
    test_spare_compiler();
    const ordo_status got = place->context ? ordo_device_adopt(place->context, place->id, NULL, &config, &dev)
                                           : ordo_device_open(&config, &dev);
    ordo_build_changes = before;
    if (lock >= 0)
        (void) close(lock);
    if (got != ORDO_OK)
        cr_assert_fail("opening a device with mask '%s': %s: %s", mask ? mask : "", ordo_status_string(got), message);
    return dev;
}

enum { PLATFORMS_MAX = 16, DEVICES_MAX = 16, MASKS_MAX = 16 };

/* The index among several devices, and whether the device is a CPU among GPUs. */
struct turn {
    cl_uint device, n_devices;
    bool    cpu_only;
};

/* Each mask needs kernels. Several devices share the masks: each has the first mask and a part of the others, which
 * differs between programs. A GPU among the devices runs GPU code in place of the CPU. ORDO_TEST_KINDS=all gives each
 * device all masks. */
static bool mask_is_met(const struct turn *turn, const char *const *masks, size_t m)
{
    size_t program = 0;

    if (turn->n_devices < 2 || test_wants_all("ORDO_TEST_KINDS"))
        return true;
    if (turn->cpu_only && strstr(masks[m], "cpu=0"))
        return false;
    for (const char *c = program_invocation_short_name; *c; c++)
        program = 31 * program + (unsigned char) *c;
    return m == 0 || (m + turn->device + program + test_seed()) % 2 == 0;
}

/* Runs body with each mask of a list that ends with NULL, but only once for masks that are equal to body. */
static void run_on_place(const struct place *place, const struct turn *turn, const char *const *masks, test_body body)
{
    struct ordo_facts seen[MASKS_MAX];
    size_t            n = 0;

    for (size_t m = 0; m < MASKS_MAX && masks[m]; m++) {
        if (!mask_is_met(turn, masks, m))
            continue;
        AUTO_DEVICE ordo_device *dev = open_place(place, masks[m]);
        bool                     again = false;

        seen[n] = *ordo_device_facts(dev);
        for (size_t earlier = 0; earlier < n; earlier++)
            again = again || same_abilities(&seen[earlier], &seen[n]);
        n++;
        if (!again)
            run_body(dev, masks[m], body);
    }
}

static void run_on_device(cl_platform_id platform, cl_device_id id, const struct turn *turn, const char *const *masks,
                          test_body body)
{
    cl_int                      code = CL_SUCCESS;
    const cl_context_properties properties[] = { CL_CONTEXT_PLATFORM, (cl_context_properties) platform, 0 };
    const struct place          place = { clCreateContext(properties, 1, &id, NULL, NULL, &code), id };

    cr_assert(code == CL_SUCCESS, "clCreateContext: %s", ordo_cl_error_string(code));
    run_on_place(&place, turn, masks, body);
    (void) clReleaseContext(place.context);
}

/* All devices and their platforms. */
struct devices {
    cl_uint        n;
    cl_platform_id platform[PLATFORMS_MAX * DEVICES_MAX];
    cl_device_id   id[PLATFORMS_MAX * DEVICES_MAX];
};

static void list_devices(struct devices *all)
{
    cl_platform_id platforms[PLATFORMS_MAX];
    cl_uint        n_platforms = 0;

    all->n = 0;
    if (clGetPlatformIDs(PLATFORMS_MAX, platforms, &n_platforms) != CL_SUCCESS)
        n_platforms = 0;
    for (cl_uint p = 0; p < n_platforms && p < PLATFORMS_MAX; p++) {
        cl_uint n = 0;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, DEVICES_MAX, all->id + all->n, &n) != CL_SUCCESS)
            continue;
        for (cl_uint d = 0; d < n && d < DEVICES_MAX; d++)
            all->platform[all->n++] = platforms[p];
    }
}

static bool is_cpu(cl_device_id id)
{
    cl_device_type type = 0;

    cr_assert(clGetDeviceInfo(id, CL_DEVICE_TYPE, sizeof type, &type, NULL) == CL_SUCCESS);
    return (type & CL_DEVICE_TYPE_CPU) != 0;
}

static cl_uint count_cpus(const struct devices *all)
{
    cl_uint n = 0;

    for (cl_uint d = 0; d < all->n; d++)
        n += is_cpu(all->id[d]);
    return n;
}

static void run_everywhere(const char *const *masks, test_body body)
{
    const char *const only[] = { getenv("ORDO_MASK"), NULL };
    struct devices    all;

    if (only[0])
        masks = only;
    if (getenv("ORDO_DEVICE")) {
        run_on_place(&(struct place) { 0 }, &(struct turn) { 0, 1, false }, masks, body);
        return;
    }
    list_devices(&all);
    const bool has_gpu = count_cpus(&all) < all.n && !only[0];
    for (cl_uint d = 0; d < all.n; d++) {
        const struct turn turn = { d, all.n, has_gpu && is_cpu(all.id[d]) };
        run_on_device(all.platform[d], all.id[d], &turn, masks, body);
    }
    cr_assert(all.n > 0, "there is no OpenCL device to test on");
}

void test_each_device(test_body body)
{
    run_everywhere((const char *const[]) { "", NULL }, body);
}

void test_each_device_and_mask(test_body body)
{
    run_everywhere(test_masks, body);
}

void test_each_device_and_most_masks(test_body body)
{
    const char *most[MASKS_MAX] = { NULL };
    size_t      n = 0;

    for (size_t m = 0; test_masks[m]; m++)
        if (!strstr(test_masks[m], "int64_atomics"))
            most[n++] = test_masks[m];
    run_everywhere(most, body);
}

void test_each_device_with(const char *mask, test_body body)
{
    run_everywhere((const char *const[]) { mask, NULL }, body);
}

bool test_wants_all(const char *variable)
{
    const char *const set = getenv(variable);

    return set && strcmp(set, "all") == 0;
}

ordo_device *test_open_again(const struct test *t)
{
    const struct place place = { ordo_device_context(t->dev), ordo_device_id(t->dev) };

    return open_place(&place, t->mask);
}

struct ordo_tunable_info test_tunable(const struct test *t, ordo_device *dev, const char *name)
{
    struct ordo_tunable_info info;

    for (size_t i = 0; ordo_device_tunable(dev, i, &info) == ORDO_OK; i++)
        if (strcmp(info.name, name) == 0)
            return info;
    test_fail(t, __FILE__, __LINE__, "no tunable %s", name);
}

void test_look_back(struct test *t)
{
    if (t->facts->groups_progress && !t->facts->cpu)
        test_ok(t, ordo_device_set_tunable(t->dev, "scan.method", ORDO_SCAN_LOOKBACK));
}
