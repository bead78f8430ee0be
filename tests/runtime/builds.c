/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that are built ahead, by the device's threads and by ordo_device_prepare. */
#include "tests/support/overlay.h"
#include "tests/support/support.h"

#include "dict/warm_up.h"
#include "runtime/cl_files.h"
#include "runtime/internal.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

TestSuite(builds, .init = test_host_code);

enum { N = 1000 };

/* Without the self-test, because no test here needs it. */
static ordo_device *open_device(int build_threads)
{
    ordo_device                    *dev = NULL;
    const struct ordo_device_config config = { .no_self_test = true, .build_threads = build_threads };
    cr_assert(ordo_device_open(&config, &dev) == ORDO_OK);
    return dev;
}

static ordo_dict *make_lsm(ordo_device *dev)
{
    ordo_dict                   *lsm = NULL;
    const struct ordo_lsm_config config = { .dict = { .key = ORDO_U32 } };
    cr_assert(ordo_lsm_create(dev, &config, &lsm) == ORDO_OK);
    return lsm;
}

static void use_lsm(ordo_dict *lsm)
{
    uint32_t keys[N];
    uint8_t  found[N] = { 0 };
    for (uint32_t i = 0; i < N; i++)
        keys[i] = i * 7919;
    cr_assert(ordo_dict_upsert_host(lsm, keys, NULL, N) == ORDO_OK);
    cr_assert(ordo_dict_contains_host(lsm, keys, N, found) == ORDO_OK);
    for (uint32_t i = 0; i < N; i++)
        cr_assert(found[i] == 1, "key %u", i);
}

static const struct ordo_prepare_params lsm_of_u32 = {
    .what = ORDO_PREPARE_LSM,
    .keys = 1u << ORDO_U32,
    .value_bytes = 1u << 0,
    .operations = ORDO_PREPARE_UPDATE | ORDO_PREPARE_FIND,
    .batch = N,
};

/* ---- one kernel of a module -------------------------------------------------------------------------------------- */

static size_t count_of(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
        n++;
    return n;
}

Test(builds, one_kernel_of_a_module_keeps_its_line)
{
    AUTO_DEVICE ordo_device *dev = open_device(-1);
    AUTO_FREE char          *whole = NULL, *one = NULL;
    cr_assert(ordo_program_text(dev, "dict/apply.cl", NULL, &whole) == ORDO_OK);
    cr_assert(ordo_program_text(dev, "dict/apply.cl", "apply_points", &one) == ORDO_OK);
    cr_assert(count_of(whole, "\nORDO_KERNEL(") > 5);
    cr_assert(count_of(one, "\nORDO_KERNEL(") == 1);
    cr_assert(count_of(whole, "\n") == count_of(one, "\n"));
    cr_assert(strlen(one) < strlen(whole) && strstr(one, "void apply_points("));
}

/* Each set of kernels that are built together has all of them, and no other kernel that can be left out. */
Test(builds, kernels_that_are_built_together_are_those_of_a_program)
{
    AUTO_DEVICE ordo_device *dev = open_device(-1);
    size_t                   sets = 0;
    for (size_t i = 0; i < ordo_n_cl_files; i++)
        for (const char *set = ordo_cl_files[i].together; *set; set = strchr(set, '\n') + 1) {
            char      names[1024] = "", *text = NULL, *rest = NULL;
            const int bytes = (int) strcspn(set, "\n");
            size_t    wanted = 0;
            cr_assert(bytes < (int) sizeof names);
            memcpy(names, set, (size_t) bytes);
            cr_assert(ordo_program_text(dev, ordo_cl_files[i].path, names, &text) == ORDO_OK);
            for (char *name = strtok_r(names, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
                const struct ordo_kernel_set got = ordo_kernel_set(ordo_cl_files[i].path, name);
                cr_assert(got.names == set && got.bytes == (size_t) bytes, "%s", name);
                cr_assert(strstr(text, name), "%s", name);
                wanted++;
            }
            const size_t made = count_of(text, "\nORDO_KERNEL(") + count_of(text, "\nLTREE_KERNEL");
            cr_assert(made <= wanted, "%s: %zu", set, made);
            free(text);
            sets++;
        }
    cr_assert(sets > 10);
    const struct ordo_kernel_set alone = ordo_kernel_set("primitive/sort_merge.cl", "sort_merge");
    cr_assert(alone.bytes == strlen("sort_merge"));
}

/* A device with one program for each kernel gives right answers, and finds every kernel in its own program. */
Test(builds, programs_of_one_kernel)
{
    AUTO_DEVICE ordo_device *dev = open_device(-1);
    dev->kernels_apart = true;
    AUTO_DICT ordo_dict *lsm = make_lsm(dev);
    use_lsm(lsm);
    for (const struct ordo_program *p = dev->builds.programs; p; p = p->next)
        cr_assert(p->only && p->kernels && strstr(p->only, p->kernels->name));
}

/* ---- by threads -------------------------------------------------------------------------------------------------- */

/* Calls build wanted programs out of turn and wait for programs in work. Closing the device waits for threads. */
Test(builds, threads_build_what_a_dictionary_will_need)
{
    AUTO_DEVICE ordo_device *dev = open_device(2);
    AUTO_DICT ordo_dict     *lsm = make_lsm(dev);
    pthread_mutex_lock(&dev->builds.lock);
    const unsigned n_threads = dev->builds.n_threads;
    const bool     some = dev->builds.programs != NULL;
    pthread_mutex_unlock(&dev->builds.lock);
    cr_assert(n_threads == 2 && some);
    use_lsm(lsm);
    ordo_dict_destroy(&lsm);
    ordo_device_close(&dev);

    dev = open_device(-1);
    lsm = make_lsm(dev);
    cr_assert(dev->builds.n_threads == 0 && dev->builds.programs == NULL);
}

/* Concurrent threads spend more time than passes. Of the time of opening, calls waited for the builds. */
DEVICE_TEST(builds, numbers_of_threads_that_are_none_are_refused)
{
    static const int          bad[] = { -2, 17, INT32_MAX, INT32_MIN };
    struct ordo_device_config config = { .no_self_test = true, .mask = t->mask };
    static const char *const  odd[] = { "abc", "3x", "-1", "17", "" };
    AUTO_DEVICE ordo_device  *dev = NULL;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        config.build_threads = bad[i];
        test_status(t, ordo_device_open(&config, &dev), ORDO_INVALID);
        test_true(t, !dev);
    }
    config.build_threads = 0;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        test_true(t, setenv("ORDO_BUILD_THREADS", odd[i], 1) == 0);
        test_ok(t, ordo_device_open(&config, &dev));
        test_true(t, (dev->builds.threads_most == 0) == ordo_device_facts(dev)->cpu);
        ordo_device_close(&dev);
    }
    test_true(t, setenv("ORDO_BUILD_THREADS", "3", 1) == 0);
    test_ok(t, ordo_device_open(&config, &dev));
    test_true(t, dev->builds.threads_most == 3);
}

Test(builds, opening_counts_what_was_waited_for)
{
    AUTO_DEVICE ordo_device        *dev = NULL;
    const struct ordo_device_config config = { .build_threads = 6 };
    cr_assert(setenv("ORDO_CACHE", "off", 1) == 0);
    cr_assert(ordo_device_open(&config, &dev) == ORDO_OK);
    const struct ordo_facts *f = ordo_device_facts(dev);
    cr_assert(f->build_ms > 0 && f->self_test_ms > 0 && f->build_ms + f->self_test_ms <= f->open_ms,
              "%.1f ms of building and %.1f ms of the self-test in %.1f ms", f->build_ms, f->self_test_ms, f->open_ms);
}

/* While a call waits for a program, threads begin no build. */
Test(builds, threads_give_way_to_calls)
{
    AUTO_DEVICE ordo_device *dev = open_device(3);
    struct ordo_builds      *b = &dev->builds;
    pthread_mutex_lock(&b->lock);
    b->calls = 1;
    pthread_mutex_unlock(&b->lock);
    AUTO_DICT ordo_dict *lsm = make_lsm(dev);
    unsigned             most = 0, n_threads = 0;
    for (int i = 0; i < 200; i++) {
        nanosleep(&(struct timespec) { .tv_nsec = 1000000 }, NULL);
        pthread_mutex_lock(&b->lock);
        most = b->in_work > most ? b->in_work : most;
        n_threads = b->n_threads;
        pthread_mutex_unlock(&b->lock);
    }
    cr_assert(n_threads == 3 && most == 0, "%u at once", most);
    pthread_mutex_lock(&b->lock);
    b->calls = 0;
    pthread_mutex_unlock(&b->lock);
    use_lsm(lsm);
}

enum way { RETURN, EXIT_AFTER_CALLS, CLOSE, FORK, FORK_WHILE_THEY_WAIT, DRIVER_FORKS };

static ordo_device *ending;   /* NULL: the driver builds as usual */
static atomic_bool  in_build; /* a thread of that device builds */

cl_int __real_clBuildProgram(cl_program program, cl_uint n, const cl_device_id *devices, const char *options,
                             void(CL_CALLBACK *notify)(cl_program program, void *user), void *user);
cl_int __wrap_clBuildProgram(cl_program program, cl_uint n, const cl_device_id *devices, const char *options,
                             void(CL_CALLBACK *notify)(cl_program program, void *user), void *user);

/* Acts as a driver that forks in a build while the program ends. */
cl_int __wrap_clBuildProgram(cl_program program, cl_uint n, const cl_device_id *devices, const char *options,
                             void(CL_CALLBACK *notify)(cl_program program, void *user), void *user)
{
    bool ends = !ending;
    atomic_store(&in_build, true);
    while (!ends) {
        (void) nanosleep(&(struct timespec) { .tv_nsec = 1000000 }, NULL);
        pthread_mutex_lock(&ending->builds.lock);
        ends = ending->builds.end;
        pthread_mutex_unlock(&ending->builds.lock);
    }
    if (ending) {
        const pid_t child = fork();
        if (child == 0)
            _exit(0);
        (void) waitpid(child, NULL, 0);
    }
    return __real_clBuildProgram(program, n, devices, options, notify, user);
}

static void await_build(ordo_device *dev)
{
    ending = dev;
    atomic_store(&in_build, false);
    ordo_dict *lsm = make_lsm(dev); /* has its programs built by threads */
    cr_assert(lsm);
    while (!atomic_load(&in_build))
        (void) nanosleep(&(struct timespec) { .tv_nsec = 1000000 }, NULL);
}

/* Waits until the threads are idle and, very likely, wait for work. */
static void let_threads_wait(ordo_device *dev)
{
    const struct timespec moment = { 0, 30000000 };
    bool                  busy = true;

    cr_assert(ordo_device_prepare(dev, &lsm_of_u32, NULL) == ORDO_OK);
    while (busy) {
        (void) nanosleep(&moment, NULL);
        pthread_mutex_lock(&dev->builds.lock);
        busy = dev->builds.in_work > 0;
        pthread_mutex_unlock(&dev->builds.lock);
    }
    (void) nanosleep(&moment, NULL);
}

/* Ends the program while the device's threads build, or wait. */
static void end_early(enum way way)
{
    (void) alarm(120); /* an exit that waits for ever ends the test */
    ordo_device *dev = open_device(2);
    if (way == DRIVER_FORKS) {
        await_build(dev);
        exit(0);
    }
    ordo_dict *lsm = make_lsm(dev);
    if (way == EXIT_AFTER_CALLS)
        use_lsm(lsm);
    if (way == CLOSE) {
        ordo_dict_destroy(&lsm);
        ordo_device_close(&dev);
    }
    if (way == FORK_WHILE_THEY_WAIT)
        let_threads_wait(dev);
    if (way == FORK || way == FORK_WHILE_THEY_WAIT) {
        const pid_t child = fork();
        int         status = 1;
        if (child == 0) {
            (void) alarm(60);
            const ordo_status got = ordo_device_prepare(dev, &lsm_of_u32, NULL);
            ordo_dict_destroy(&lsm);
            ordo_device_close(&dev);
            _exit(got != ORDO_FORKED);
        }
        (void) waitpid(child, &status, 0);
        if (status)
            _exit(2);
    }
    exit(0);
}

Test(builds, programs_may_end_while_threads_build)
{
    for (int way = RETURN; way <= DRIVER_FORKS; way++) {
        const pid_t child = fork();
        int         status = 1;
        if (child == 0)
            end_early((enum way) way);
        cr_assert(waitpid(child, &status, 0) == child);
        cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "way %d: status 0x%x", way, (unsigned) status);
    }
}

/* ---- preparation ------------------------------------------------------------------------------------------------- */

struct told {
    size_t calls, done, total, most;
    bool   back;
};

static bool tell(void *user, size_t done, size_t total)
{
    struct told *t = user;
    t->back = t->back || done > total;
    t->calls++;
    t->done = done;
    t->total = total;
    return t->calls < t->most;
}

Test(builds, what_is_prepared_is_not_built_again)
{
    for (int threads = -1; threads <= 2; threads += 3) {
        AUTO_DEVICE ordo_device   *dev = open_device(threads);
        struct told                told = { .most = SIZE_MAX };
        struct ordo_prepare_params params = lsm_of_u32;
        struct ordo_prepared       prepared;
        params.progress = tell;
        params.user = &told;
        cr_assert(ordo_device_prepare(dev, &params, &prepared) == ORDO_OK);
        cr_assert(prepared.programs > 0 && prepared.failed == 0 && prepared.seconds > 0);
        cr_assert(told.calls > 1 && told.done == told.total && !told.back);

        const double         built_ms = dev->builds.ms;
        AUTO_DICT ordo_dict *lsm = make_lsm(dev);
        use_lsm(lsm);
        if (threads < 0) /* otherwise other programs are in work */
            cr_assert(dev->builds.ms == built_ms, "%.3f ms more", dev->builds.ms - built_ms);
    }
}

/* The parts are different programs, about equally many, and together all of them. */
Test(builds, parts_of_a_preparation_are_the_whole)
{
    struct ordo_prepare_params params = lsm_of_u32;
    struct ordo_prepared       whole = { 0 }, part = { 0 };
    size_t                     sum = 0;
    for (params.parts = 0; params.parts <= 3; params.parts += 3)
        for (params.part = 0; params.part < 3 && (params.parts || params.part == 0); params.part++) {
            AUTO_DEVICE ordo_device *dev = open_device(-1);
            dev->kernels_apart = true;
            cr_assert(ordo_device_prepare(dev, &params, params.parts ? &part : &whole) == ORDO_OK);
            if (params.parts)
                cr_assert(part.programs >= whole.programs / 3 && part.programs <= (whole.programs + 2) / 3);
            sum += params.parts ? part.programs : 0;
            if (params.part == 2) { /* the rest, in the same process */
                struct ordo_prepare_params all = lsm_of_u32;
                cr_assert(ordo_device_prepare(dev, &all, &part) == ORDO_OK);
                cr_assert(part.programs == whole.programs);
            }
        }
    cr_assert(sum == whole.programs, "%zu, not %zu", sum, whole.programs);
}

Test(builds, a_preparation_is_cancelled)
{
    AUTO_DEVICE ordo_device   *dev = open_device(-1);
    struct told                told = { .most = 1 };
    struct ordo_prepare_params params = lsm_of_u32;
    struct ordo_prepared       prepared = { 0 };
    params.progress = tell;
    params.user = &told;
    cr_assert(ordo_device_prepare(dev, &params, &prepared) == ORDO_CANCELLED);
    cr_assert(told.calls == 1 && prepared.programs == 1);
    AUTO_DICT ordo_dict *lsm = make_lsm(dev);
    use_lsm(lsm);
}

/* One of two threads that prepare on one device. */
struct side {
    ordo_device               *dev;
    struct ordo_prepare_params params;
    struct ordo_prepared       prepared;
    ordo_status                got;
    struct told                told;
    bool                       waits_last; /* otherwise it waits in the first call of its progress function */
    sem_t                     *here, *other, *back;
};

static bool tell_side(void *user, size_t done, size_t total)
{
    struct side *s = user;
    const bool   go_on = tell(&s->told, done, total);
    if (s->waits_last ? done == total : s->told.calls == 1) {
        (void) sem_post(s->here);
        (void) sem_wait(s->other);
    }
    return go_on;
}

static void *prepare_side(void *user)
{
    struct side *s = user;
    s->params.parts = 1; /* makes no calls */
    s->params.progress = tell_side;
    s->params.user = s;
    s->got = ordo_device_prepare(s->dev, &s->params, &s->prepared);
    (void) sem_post(s->back);
    return NULL;
}

/* The first thread stays in its progress function until the second one builds. The second one continues when the first
 * has returned. */
static void prepare_by_two(bool cancelled)
{
    const struct ordo_prepare_params scan = {
        .what = ORDO_PREPARE_SCAN, .keys = 1u << ORDO_U32, .value_bytes = 1u << 0, .batch = N
    };
    AUTO_DEVICE ordo_device *dev = open_device(-1);
    struct ordo_prepared     again;
    pthread_t                thread;
    sem_t                    first_here, second_here, first_back, second_back;
    struct side              first = { .dev = dev, .params = scan, .waits_last = !cancelled, .here = &first_here };
    struct side              second = { .dev = dev, .params = lsm_of_u32, .here = &second_here, .back = &second_back };
    sem_t *const             all[] = { &first_here, &second_here, &first_back, &second_back };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        cr_assert(sem_init(all[i], 0, 0) == 0);
    first.told.most = cancelled ? 1 : SIZE_MAX;
    second.told.most = SIZE_MAX;
    first.other = &second_here;
    first.back = second.other = &first_back;

    cr_assert(pthread_create(&thread, NULL, prepare_side, &first) == 0);
    (void) sem_wait(&first_here);
    (void) prepare_side(&second);
    cr_assert(pthread_join(thread, NULL) == 0);

    cr_assert(first.got == (cancelled ? ORDO_CANCELLED : ORDO_OK) && second.got == ORDO_OK);
    cr_assert(!first.told.back && !second.told.back, "more programs done than there are");
    cr_assert(second.told.done == second.told.total);
    second.params.progress = NULL;
    cr_assert(ordo_device_prepare(dev, &second.params, &again) == ORDO_OK);
    cr_assert(again.programs == second.prepared.programs, "%zu were left out",
              again.programs - second.prepared.programs);
}

Test(builds, two_threads_prepare_at_once)
{
    prepare_by_two(false);
}

Test(builds, a_cancelled_preparation_leaves_the_programs_of_another)
{
    prepare_by_two(true);
}

Test(builds, a_program_that_does_not_build_is_told_and_the_rest_prepared)
{
    const struct ordo_prepare_params params = {
        .what = ORDO_PREPARE_SCAN | ORDO_PREPARE_SORT, .keys = 1u << ORDO_U32, .value_bytes = 1u << 0, .batch = N
    };
    struct ordo_prepared prepared;
    char                 text[16384];
    uint32_t             keys[N];
    for (uint32_t i = 0; i < N; i++)
        keys[i] = N - i;
    AUTO(overlay_end) struct overlay o = overlay_begin();
    overlay_use(&o);
    (void) overlay_add_line(&o, "primitive/reduce.cl", "primitive/reduce.cl", "no_such_type nonsense(void);");
    AUTO_DEVICE ordo_device *dev = open_device(2);
    cr_assert(ordo_device_prepare(dev, &params, &prepared) == ORDO_BUILD);
    (void) ordo_device_last_error(dev, text, sizeof text);
    cr_assert(strstr(text, "primitive/reduce.cl"), "%s", text);
    cr_assert(prepared.failed > 0 && prepared.programs > 0);
    const double built_ms = dev->builds.ms;
    cr_assert(ordo_sort_host(dev, ordo_sort_params(.key = ORDO_U32), keys, NULL, N) == ORDO_OK && keys[0] == 1);
    cr_assert(dev->builds.ms == built_ms);
}

/* Skips operations that a structure lacks, and types that a device lacks. */
Test(builds, what_cannot_be_done_is_passed_over)
{
    static const char *const masks[] = { "", "lanes=one,atomics=legacy", "progress=0,int64_atomics=0" };
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        if (i == 1 + test_seed() % 2 && !test_wants_all("ORDO_TEST_KINDS")) /* a structure that lacks operations */
            continue;
        const struct ordo_device_config  config = { .no_self_test = true, .build_threads = -1, .mask = masks[i] };
        const struct ordo_prepare_params params = { .what = ORDO_PREPARE_LSM | ORDO_PREPARE_BLINK,
                                                    .keys = 1u << ORDO_U32,
                                                    .value_bytes = 1u << 0,
                                                    .operations = ORDO_PREPARE_CONCURRENT,
                                                    .batch = N };
        AUTO_DEVICE ordo_device         *dev = NULL;
        struct ordo_prepared             prepared;
        cr_assert(ordo_device_open(&config, &dev) == ORDO_OK);
        cr_assert(ordo_device_prepare(dev, &params, &prepared) == ORDO_OK, "%s", masks[i]);
        cr_assert(prepared.failed == 0);
    }
}

/* Names of launched kernels, and a kernel that was launched unprepared. */
struct launched {
    char names[64][64];
    int  n;
    bool closed;
    char late[64];
};

static void see_launch(void *user, ordo_log_level level, const char *message)
{
    struct launched *l = user;
    const char      *at = level == ORDO_LOG_DEBUG ? strstr(message, "launch ") : NULL;
    char             name[64];
    if (!at || sscanf(at, "launch %63[^:]:", name) != 1)
        return;
    for (int i = 0; i < l->n; i++)
        if (strcmp(l->names[i], name) == 0)
            return;
    if (l->closed)
        memcpy(l->late, name, sizeof name);
    else if (l->n < 64)
        memcpy(l->names[l->n++], name, sizeof name);
}

enum { MANY = 20000 };

/* A tree without room for a concurrent batch counts how many keys of the batch are new. */
static void use_tree_side_by_side(ordo_device *dev)
{
    static uint32_t                         keys[MANY];
    static uint8_t                          codes[MANY], found[MANY], outcomes[MANY];
    const struct ordo_blink_config          config = { .dict = { .key = ORDO_U32 } };
    const struct ordo_host_concurrent_batch batch = {
        .codes = codes, .keys = keys, .count = MANY, .found = found, .outcomes = outcomes
    };
    AUTO_DICT ordo_dict *tree = NULL;
    for (uint32_t i = 0; i < MANY; i++) {
        keys[i] = i * 2654435761u;
        codes[i] = i % 8 ? ORDO_UPSERT : ORDO_CONTAINS;
    }
    cr_assert(ordo_blink_create(dev, &config, &tree) == ORDO_OK);
    cr_assert(ordo_dict_upsert_host(tree, keys, NULL, MANY) == ORDO_OK);
    cr_assert(ordo_dict_apply_concurrent_host(tree, &batch) == ORDO_OK);
}

/* Makes many updates, then few. */
static void use_table(ordo_device *dev)
{
    static uint32_t               keys[MANY];
    const struct ordo_hash_config config = { .dict = { .key = ORDO_U32, .value_bytes = 4 } };
    AUTO_DICT ordo_dict          *table = NULL;
    for (uint32_t i = 0; i < MANY; i++)
        keys[i] = i * 2654435761u;
    cr_assert(ordo_hash_create(dev, &config, &table) == ORDO_OK);
    cr_assert(ordo_dict_upsert_host(table, keys, keys, MANY) == ORDO_OK);
    for (size_t n = MANY; n > 0; n /= 64) {
        cr_assert(ordo_dict_upsert_host(table, keys, keys, n) == ORDO_OK);
        cr_assert(ordo_dict_combine_host(table, ORDO_U32, ORDO_SUM, keys, keys, n) == ORDO_OK);
        cr_assert(ordo_dict_combine_host(table, ORDO_I32, ORDO_MIN, keys, keys, n) == ORDO_OK);
    }
}

/* A sorted array combines values as it merges. */
static void use_array(ordo_device *dev)
{
    static uint32_t                       keys[MANY];
    const struct ordo_sorted_array_config config = { .dict = { .key = ORDO_U32, .value_bytes = 4 } };
    AUTO_DICT ordo_dict                  *array = NULL;
    for (uint32_t i = 0; i < MANY; i++)
        keys[i] = i * 2654435761u;
    cr_assert(ordo_sorted_array_create(dev, &config, &array) == ORDO_OK);
    cr_assert(ordo_dict_upsert_host(array, keys, keys, MANY) == ORDO_OK);
    cr_assert(ordo_dict_combine_host(array, ORDO_U32, ORDO_SUM, keys, keys, MANY) == ORDO_OK);
}

static int programs_of(ordo_device *dev)
{
    int n = 0;
    pthread_mutex_lock(&dev->builds.lock);
    for (const struct ordo_program *p = dev->builds.programs; p; p = p->next)
        n++;
    pthread_mutex_unlock(&dev->builds.lock);
    return n;
}

/* A preparation launches these kernels. Using the prepared calls launches no others, and builds nothing. */
static void expect_launched(const char *mask, const struct ordo_prepare_params *params, void (*use)(ordo_device *dev))
{
    static struct launched launched;
    memset(&launched, 0, sizeof launched);
    const struct ordo_device_config config = {
        .mask = mask, .no_self_test = true, .build_threads = -1, .log = see_launch, .user = &launched
    };
    AUTO_DEVICE ordo_device *dev = NULL;
    (void) setenv("ORDO_LOG", "debug", 1);
    cr_assert(ordo_device_open(&config, &dev) == ORDO_OK);
    cr_assert(ordo_device_prepare(dev, params, NULL) == ORDO_OK);
    cr_assert(launched.n > 10);
    launched.closed = true;
    const int programs = programs_of(dev);
    use(dev);
    cr_assert(programs_of(dev) == programs, "%d programs are new", programs_of(dev) - programs);
    cr_assert(launched.late[0] == 0, "%s had not run", launched.late);
}

/* Some drivers finish a kernel only when it first runs. */
Test(builds, what_is_prepared_has_run)
{
    struct ordo_prepare_params params = { .what = ORDO_PREPARE_BLINK,
                                          .keys = 1u << ORDO_U32,
                                          .value_bytes = 1u << 0,
                                          .operations = ORDO_PREPARE_BUILD | ORDO_PREPARE_UPDATE | ORDO_PREPARE_APPLY |
                                                        ORDO_PREPARE_CONCURRENT,
                                          .batch = MANY };
    expect_launched("", &params, use_tree_side_by_side);
    params.what = ORDO_PREPARE_HASH;
    params.value_bytes = 1u << 4;
    params.operations = ORDO_PREPARE_UPDATE;
    expect_launched("", &params, use_table);
    params.what = ORDO_PREPARE_SORTED_ARRAY;
    expect_launched("", &params, use_array);
    expect_launched("cpu=0,progress=1", &params, use_array);
}

/* ---- dry runs ---------------------------------------------------------------------------------------------------- */

/* With batches of any size, made-up answers do no harm, and leave nothing held. */
DEVICE_TEST(builds, dry_runs_do_no_harm)
{
    const struct ordo_structure *const structures[] = { &ordo_lsm_structure, &ordo_sorted_array_structure,
                                                        &ordo_blink_structure, &ordo_hash_structure };
    const size_t       counts[] = { 1, 2, 5, 100, 600, 3000, 1 << 14, 1 << 17, 1 << 20, 1 << 24, 1 << 26 };
    struct ordo_memory before, after;
    test_ok(t, ordo_device_memory(t->dev, &before));
    for (size_t m = 0; m < sizeof structures / sizeof *structures; m++)
        for (int type = ORDO_U32; type <= ORDO_U64; type++)
            for (uint32_t value_bytes = 0; value_bytes <= 8; value_bytes += 4)
                for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
                    ordo_device             *stand_in = NULL;
                    struct ordo_dict_config *config =
                        ordo_dict_default_config(structures[m], (ordo_type) type, value_bytes);
                    test_context(t, "structure %zu, type %d, values of %u, batches of %zu", m, type,
                                 (unsigned) value_bytes, counts[i]);
                    test_ok(t, ordo_dry_run_open(t->dev, NULL, &stand_in));
                    ordo_dict_dry_run(stand_in, structures[m], config, ~0u, counts[i]);
                    free(config);
                    test_true(t, stand_in->memory.held_bytes == stand_in->memory.scratch_bytes);
                    ordo_dry_run_close(&stand_in);
                }
    test_ok(t, ordo_device_memory(t->dev, &after));
    test_true(t, after.held_bytes == before.held_bytes && after.buffers == before.buffers);
}
