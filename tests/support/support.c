/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for tests of device code: see support.h. */
#define _GNU_SOURCE
#include "support.h"
#include "watchdog.h"
#include "wide.h"

#include "runtime/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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
const char *const test_shape_name[TEST_N_SHAPES] = { "random", "ascending", "descending", "equal", "few", "extremes" };
const ordo_type   test_types[6] = { ORDO_U32, ORDO_U64, ORDO_I32, ORDO_I64, ORDO_F32, ORDO_F64 };
const char *const test_type_name[8] = { "u32", "u64", "i32", "i64", "f32", "f64", "u128", "bytes16" };
const uint32_t    test_value_bytes[8][TEST_VALUE_SIZES] = { { 4, 0, 8 }, { 0, 4, 8 }, { 0, 4, 8 }, { 4, 0, 8 },
                                                            { 8, 0, 4 }, { 8, 0, 4 }, { 4, 0, 8 }, { 0, 8, 4 } };

/* ---- failing ----------------------------------------------------------------------------------------------------- */

void test_fail(const struct test *t, const char *file, int line, const char *format, ...)
{
    char    what[1024];
    va_list args;

    va_start(args, format);
    (void) vsnprintf(what, sizeof what, format, args);
    va_end(args);
    (void) fprintf(stderr, "%s:%d: %s\n    trying: %s\n    device: %s%s%s\n    seed:   ORDO_TEST_SEED=%" PRIu64 "\n",
                   file, line, what, t->context[0] ? t->context : "(nothing yet)", t->facts ? t->facts->name : "(none)",
                   t->mask[0] ? ", mask " : "", t->mask, t->seed);
    cr_assert_fail("%s:%d: %s (%s, mask '%s', %s)", file, line, what, t->context, t->mask,
                   t->facts ? t->facts->name : "no device");
    abort();
}

void test_skip(const char *format, ...)
{
    char    why[1024];
    va_list args;

    va_start(args, format);
    (void) vsnprintf(why, sizeof why, format, args);
    va_end(args);
    (void) fprintf(stderr, "skipped: %s\n", why);
    cr_skip_test("%s", why);
    abort();
}

void test_context(struct test *t, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void) vsnprintf(t->context, sizeof t->context, format, args);
    va_end(args);
    watchdog_note(t->context, t->facts ? t->facts->name : "", t->mask, t->seed);
}

/* A message begins with the fact in words and ends with the status, the device and the source line in brackets. */
static bool is_a_message(const char *text)
{
    const char *place = strrchr(text, ' '), *dot = place ? strchr(place, '.') : NULL;
    const bool  ends = dot && strncmp(dot, ".c:", 3) == 0 && dot[3 + strspn(dot + 3, "0123456789")] == ']' &&
                      dot[4 + strspn(dot + 3, "0123456789")] == 0;
    const size_t word = strspn(text, "abcdefghijklmnopqrstuvwxyz_0123456789");
    return ends && strchr(text, '[') && strncmp(text + word, ".c:", 3) != 0 && !strstr(text, "not so:") &&
           !strstr(text, " && ");
}

/* Checks the device's last error, unless memory for the message was missing. */
static void check_message(const struct test *t, const char *call, const char *file, int line)
{
    AUTO_FREE char *text = test_alloc(1 << 16);
    const size_t    need = ordo_device_last_error(t->dev, text, 1 << 16);
    if (need > 1 && need < 1 << 16 && strchr(text, '[') && !is_a_message(text))
        test_fail(t, file, line, "%s: not how a message is written: %s", call, text);
}

void test_check_status(const struct test *t, ordo_status got, ordo_status want, const char *call, const char *file,
                       int line)
{
    char text[640] = "";

    if (got == want && got != ORDO_OK && t->dev)
        check_message(t, call, file, line);
    if (got == want)
        return;
    if (got != ORDO_OK && t->dev)
        (void) ordo_device_last_error(t->dev, text, sizeof text);
    test_fail(t, file, line, "%s gave '%s', not '%s': %s", call, ordo_status_string(got), ordo_status_string(want),
              text);
}

void test_check_message(const struct test *t, const char *part, const char *file, int line)
{
    char text[640] = "";

    (void) ordo_device_last_error(t->dev, text, sizeof text);
    if (!strstr(text, part))
        test_fail(t, file, line, "the message is '%s', without '%s'", text, part);
}

void *test_alloc(size_t bytes)
{
    void *made = malloc(bytes ? bytes : 1);

    if (!made)
        cr_assert_fail("no host memory for %zu bytes", bytes);
    return made;
}

/* ---- devices ----------------------------------------------------------------------------------------------------- */

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

/* ---- how programs are built -------------------------------------------------------------------------------------- */

static bool is_pocl(const ordo_device *dev, const char *version)
{
    return strcmp(dev->facts.platform, "Portable Computing Language") == 0 &&
           strncmp(dev->facts.driver, version, strlen(version)) == 0;
}

/* Also under a mask, because PoCL names its devices so. Calls no OpenCL function, because tests make these fail. */
static bool is_processor(const ordo_device *dev)
{
    static const char *const kinds[] = { "pthread", "basic", "cpu" };
    bool                     is = false;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        is = is || strncmp(dev->facts.name, kinds[i], strlen(kinds[i])) == 0;
    return is;
}

/* Whether this process tests host code. */
static bool of_host;

static long value_of(const struct ordo_define *defines, const char *name, long otherwise)
{
    for (const struct ordo_define *d = defines; d && d->name; d++)
        if (strcmp(d->name, name) == 0)
            return d->value;
    return otherwise;
}

/* On a CPU most of the time goes to the compiler. PoCL needs 5 to 10 times as long for a GPU's code with optimization,
 * up to 30 s a kernel. No user runs that code, and some of it is wrong (tests/README.md, "Drivers"). Kernels for other
 * types differ in a line or two. So only code for u32 keys is optimized, with values of 4 bytes if there are any.
 * ORDO_TEST_KINDS=all (suite slow) and test_optimized optimize all code that a CPU runs. */
static bool is_optimized(const ordo_device *dev, const struct ordo_define *defines)
{
    if (dev->optimized != 0)
        return dev->optimized > 0;
    if (of_host && !test_wants_all("ORDO_TEST_KINDS"))
        return false;
    if (!is_pocl(dev, "") || !is_processor(dev))
        return true;
    return dev->facts.cpu &&
           (test_wants_all("ORDO_TEST_KINDS") ||
            (value_of(defines, "ORDO_KEY", ORDO_U32) == ORDO_U32 && value_of(defines, "ORDO_VALUE_BYTES", 4) == 4 &&
             value_of(defines, "COMBINE_TYPE", ORDO_U32) == ORDO_U32));
}

/* Whether PoCL gets declared.cl instead of PoCL's declarations. */
static bool are_declared(const ordo_device *dev)
{
    return is_pocl(dev, "3.1") && !test_wants_all("ORDO_TEST_KINDS");
}

static const char *read_declared(void)
{
    static char text[1 << 14];
    FILE       *file = text[0] ? NULL : fopen(TEST_SUPPORT_DIR "/declared.cl", "r");

    if (!file)
        return text;
    const size_t bytes = fread(text, 1, sizeof text - 1, file);
    cr_assert(bytes > 0 && bytes < sizeof text - 1 && fclose(file) == 0);
    return text;
}

static const char *before_programs(const ordo_device *dev)
{
    return are_declared(dev) ? read_declared() : "";
}

/* Keeps Clang from reading its declarations again. */
#define NO_DECLARATIONS " -D_OPENCL_H_"

static const char *options_of_programs(const ordo_device *dev, const struct ordo_define *defines)
{
    if (is_optimized(dev, defines))
        return are_declared(dev) ? NO_DECLARATIONS : "";
    return are_declared(dev) ? NO_DECLARATIONS " -cl-opt-disable" : " -cl-opt-disable";
}

static const struct ordo_build_changes changes = { before_programs, options_of_programs };

void test_spare_compiler(void)
{
    ordo_build_changes = &changes;
}

void test_host_code(void)
{
    test_spare_compiler();
    of_host = true;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

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
    ordo_build_changes = &changes;
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

bool test_compiler_ends_processes(const struct test *t)
{
    static bool told;
    const bool  ends = is_pocl(t->dev, "6.0");
    if (ends && !told)
        fprintf(stderr, "a kernel is left out, which this driver's compiler ends the process over\n");
    told |= ends;
    return ends;
}

bool test_wants_all(const char *variable)
{
    const char *const set = getenv(variable);

    return set && strcmp(set, "all") == 0;
}

size_t test_n_value_sizes(void)
{
    return test_wants_all("ORDO_TEST_KINDS") ? TEST_VALUE_SIZES : 1;
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

void test_optimized(struct test *t)
{
    t->dev->optimized = 1;
}

void test_unoptimized(struct test *t)
{
    t->dev->optimized = test_wants_all("ORDO_TEST_KINDS") ? 0 : -1;
}

void test_look_back(struct test *t)
{
    if (t->facts->groups_progress && !t->facts->cpu)
        test_ok(t, ordo_device_set_tunable(t->dev, "scan.method", ORDO_SCAN_LOOKBACK));
}

/* ---- random input ------------------------------------------------------------------------------------------------ */

/* Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators (OOPSLA 2014). */
uint64_t test_random(struct test *t)
{
    uint64_t z = (t->random += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t test_below(struct test *t, uint64_t n)
{
    return test_random(t) % n;
}

void test_random_bytes(struct test *t, void *to, size_t bytes)
{
    uint8_t *byte = to;

    for (size_t i = 0; i < bytes; i++)
        byte[i] = (uint8_t) test_random(t);
}

static const uint64_t extreme32[] = { 0,          1,          0xffffffff, 0xfffffffe, 0x7fffffff,
                                      0x80000000, 0x80000001, 0x7f800000, 0xff800000, 0x7fc00000,
                                      0xffc00000, 0x7f800001, 0x3f800000, 0xbf800000 };
static const uint64_t extreme64[] = { 0,
                                      1,
                                      UINT64_MAX,
                                      UINT64_MAX - 1,
                                      0x7fffffffffffffff,
                                      0x8000000000000000,
                                      0x8000000000000001,
                                      0x7ff0000000000000,
                                      0xfff0000000000000,
                                      0x7ff8000000000000,
                                      0xfff8000000000000,
                                      0x7ff0000000000001,
                                      0x00000000ffffffff,
                                      0xffffffff00000000 };

static uint64_t extreme(struct test *t, size_t bytes)
{
    if (bytes == 4)
        return extreme32[test_below(t, sizeof extreme32 / sizeof *extreme32)];
    return extreme64[test_below(t, sizeof extreme64 / sizeof *extreme64)];
}

static void put_bits(void *keys, size_t bytes, size_t i, uint64_t bits)
{
    if (bytes == 4)
        ((uint32_t *) keys)[i] = (uint32_t) bits;
    else
        ((uint64_t *) keys)[i] = bits;
}

static ordo_type sorted_type; /* qsort passes no context */

static int by_sorted_type(const void *a, const void *b)
{
    return test_form_compare(test_form_of(sorted_type, a), test_form_of(sorted_type, b));
}

static void reverse_keys(size_t bytes, size_t count, uint8_t *keys)
{
    for (size_t i = 0; i < count / 2; i++) {
        uint8_t *a = keys + i * bytes;
        uint8_t *b = keys + (count - 1 - i) * bytes;
        uint8_t  held[16];

        memcpy(held, a, bytes);
        memcpy(a, b, bytes);
        memcpy(b, held, bytes);
    }
}

void test_sort_keys(ordo_type type, bool descending, size_t count, void *keys)
{
    sorted_type = type;
    qsort(keys, count, ordo_type_bytes(type), by_sorted_type);
    if (descending)
        reverse_keys(ordo_type_bytes(type), count, keys);
}

size_t test_seams(size_t group, size_t tile, size_t counts[TEST_SEAMS])
{
    const size_t wanted[] = { 0,    1,        2,        3,        group - 1,    group,    group + 1,    tile - 1,
                              tile, tile + 1, tile * 2, tile * 3, tile * 4 + 1, tile * 9, tile * 9 + 7, tile * 30 - 1 };
    size_t       n = 0;

    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (n == 0 || wanted[i] > counts[n - 1])
            counts[n++] = wanted[i];
    return n;
}

static uint64_t key_of_shape(struct test *t, size_t bytes, enum test_shape shape, const uint64_t few[5])
{
    switch (shape) {
    case TEST_EQUAL:
        return few[0];
    case TEST_FEW:
        return few[test_below(t, 5)];
    case TEST_EXTREMES:
        return extreme(t, bytes);
    default:
        return test_random(t);
    }
}

void test_keys(struct test *t, ordo_type type, enum test_shape shape, size_t count, void *keys)
{
    const size_t bytes = ordo_type_bytes(type);
    uint64_t     few[5];

    for (size_t i = 0; i < 5; i++)
        few[i] = test_random(t);
    if (bytes == 16) /* words of the same five numbers: 25 keys */
        for (size_t i = 0; i < 2 * count; i++)
            put_bits(keys, 8, i, key_of_shape(t, 8, shape, shape == TEST_EQUAL ? few + i % 2 : few));
    else
        for (size_t i = 0; i < count; i++)
            put_bits(keys, bytes, i, key_of_shape(t, bytes, shape, few));
    if (shape != TEST_ASCENDING && shape != TEST_DESCENDING)
        return;
    for (size_t i = 1; i < count; i += 7) /* duplicates */
        memcpy((uint8_t *) keys + i * bytes, (uint8_t *) keys + (i - 1) * bytes, bytes);
    test_sort_keys(type, shape == TEST_DESCENDING, count, keys);
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

static void print_element(char *text, size_t size, ordo_type type, size_t bytes, const void *element)
{
    union {
        uint8_t  u8;
        uint8_t  bytes[16];
        uint32_t u32;
        uint64_t u64;
        int32_t  i32;
        int64_t  i64;
        float    f32;
        double   f64;
    } x = { 0 };

    memcpy(&x, element, bytes);
    if (bytes == 1)
        (void) snprintf(text, size, "%u", x.u8);
    else if (bytes == 16)
        (void) snprintf(text, size, "0x%016" PRIx64 "%016" PRIx64, test_form_of(type, x.bytes).high,
                        test_form_of(type, x.bytes).low);
    else if (type == ORDO_U32)
        (void) snprintf(text, size, "%" PRIu32 " (0x%08" PRIx32 ")", x.u32, x.u32);
    else if (type == ORDO_U64)
        (void) snprintf(text, size, "%" PRIu64 " (0x%016" PRIx64 ")", x.u64, x.u64);
    else if (type == ORDO_I32)
        (void) snprintf(text, size, "%" PRId32 " (0x%08" PRIx32 ")", x.i32, x.u32);
    else if (type == ORDO_I64)
        (void) snprintf(text, size, "%" PRId64 " (0x%016" PRIx64 ")", x.i64, x.u64);
    else if (type == ORDO_F32)
        (void) snprintf(text, size, "%g (0x%08" PRIx32 ")", (double) x.f32, x.u32);
    else
        (void) snprintf(text, size, "%g (0x%016" PRIx64 ")", x.f64, x.u64);
}

void test_check_same(const struct test *t, const char *what, ordo_type type, size_t bytes, const void *got,
                     const void *want, size_t count, const char *file, int line)
{
    const uint8_t *g = got;
    const uint8_t *w = want;
    size_t         first = count;
    size_t         differ = 0;
    char           got_text[64];
    char           want_text[64];

    if (count * bytes == 0 || memcmp(got, want, count * bytes) == 0)
        return;
    for (size_t i = count; i-- > 0;) {
        if (memcmp(g + i * bytes, w + i * bytes, bytes) != 0) {
            first = i;
            differ++;
        }
    }
    print_element(got_text, sizeof got_text, type, bytes, g + first * bytes);
    print_element(want_text, sizeof want_text, type, bytes, w + first * bytes);
    test_fail(t, file, line, "%s[%zu] is %s, not %s; %zu of %zu differ", what, first, got_text, want_text, differ,
              count);
}

/* ---- device arrays ----------------------------------------------------------------------------------------------- */

enum { GUARD_BYTES = 64, GUARD = 0xa5 };

static size_t bytes_before(const struct test_array *array)
{
    return array->at * array->bytes;
}

static size_t bytes_of(const struct test_array *array)
{
    return array->count * array->bytes;
}

static size_t bytes_in_all(const struct test_array *array)
{
    return bytes_before(array) + bytes_of(array) + GUARD_BYTES;
}

struct test_array test_upload(const struct test *t, const void *data, size_t count, size_t bytes, size_t at)
{
    struct test_array array = { .at = at, .count = count, .bytes = bytes };
    uint8_t          *image = test_alloc(bytes_in_all(&array));
    cl_int            code = CL_SUCCESS;

    memset(image, GUARD, bytes_in_all(&array));
    if (data && bytes_of(&array))
        memcpy(image + bytes_before(&array), data, bytes_of(&array));
    else
        memset(image + bytes_before(&array), TEST_EMPTY, bytes_of(&array));
    array.mem = clCreateBuffer(ordo_device_context(t->dev), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                               bytes_in_all(&array), image, &code);
    free(image);
    if (code != CL_SUCCESS)
        test_fail(t, __FILE__, __LINE__, "clCreateBuffer: %s", ordo_cl_error_string(code));
    return array;
}

void test_free(struct test_array *array)
{
    (void) clReleaseMemObject(array->mem);
    array->mem = NULL;
}

/* The first changed guard byte; SIZE_MAX if there is none. */
static size_t changed_guard(const uint8_t *image, const struct test_array *array)
{
    const size_t end = bytes_before(array) + bytes_of(array);

    for (size_t i = 0; i < end + GUARD_BYTES; i++)
        if ((i < bytes_before(array) || i >= end) && image[i] != GUARD)
            return i;
    return SIZE_MAX;
}

size_t test_read(const struct test *t, const struct test_array *array, void *to, const char *what)
{
    const size_t       all = bytes_in_all(array);
    AUTO_FREE uint8_t *image = test_alloc(all);
    const cl_int       code =
        clEnqueueReadBuffer(ordo_device_queue(t->dev), array->mem, CL_TRUE, 0, all, image, 0, NULL, NULL);

    if (code != CL_SUCCESS)
        test_fail(t, __FILE__, __LINE__, "reading %s: %s", what, ordo_cl_error_string(code));
    const size_t changed = changed_guard(image, array);
    if (bytes_of(array))
        memcpy(to, image + bytes_before(array), bytes_of(array));
    return changed;
}

void test_check_download(const struct test *t, const struct test_array *array, void *to, const char *what,
                         const char *file, int line)
{
    const size_t changed = test_read(t, array, to, what);

    if (changed != SIZE_MAX)
        test_fail(t, file, line, "%s: byte %zu was written; the array is bytes %zu to %zu", what, changed,
                  bytes_before(array), bytes_before(array) + bytes_of(array));
}

void test_check_expect(const struct test *t, ordo_type type, const struct test_array *array, const void *want, size_t n,
                       const char *what, const char *file, int line)
{
    AUTO_FREE void *got = test_alloc(bytes_of(array));

    test_check_download(t, array, got, what, file, line);
    test_check_same(t, what, type, array->bytes, got, want, n, file, line);
}

cl_command_queue test_queue_of(cl_context context, cl_device_id id, cl_command_queue_properties properties)
{
    const cl_queue_properties list[] = { CL_QUEUE_PROPERTIES, properties, 0 };
    cl_int                    code = CL_SUCCESS;
    cl_command_queue          queue = clCreateCommandQueueWithProperties(context, id, list, &code);

    return code == CL_SUCCESS ? queue : NULL;
}

cl_command_queue test_queue(const struct test *t, cl_command_queue_properties properties)
{
    return test_queue_of(ordo_device_context(t->dev), ordo_device_id(t->dev), properties);
}

cl_int test_event_state(cl_event event)
{
    cl_int state = CL_QUEUED;

    (void) clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    return state;
}
