/* SPDX-License-Identifier: Apache-2.0 */
/* The programs of a device: found again by those who ask, built by whoever asks first, or by threads of the device's own before
 * anybody does.
 *
 * A call that needs a program that is wanted takes it out of turn and builds it itself; one that is in work it waits for. What
 * a thread failed to build is built once more by the call that needs it, which so has the error. */
#define _GNU_SOURCE
#include "internal.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- finding ------------------------------------------------------------------------------------------------- */

/* Stands for module and options, facts included, without expanding anything: this runs in every call. */
static struct ordo_digest variant_of(const ordo_device *dev, const char *file, struct ordo_kernel_set kernels,
                                     const struct ordo_define *defines)
{
    const struct ordo_facts *f = &dev->facts;
    const uint32_t           facts[] = { f->lanes, f->atomics,      f->sub_group,          f->int64_atomics,
                                         f->cpu,   dev->khr_ballot, dev->intel_sub_groups, f->address_order };
    struct ordo_digest       hash = ordo_digest_of((struct ordo_digest) { 0, 0 }, facts, sizeof facts);
    hash = ORDO_DIGEST_TEXT(hash, file);
    hash = ordo_digest_of(hash, kernels.names, kernels.bytes);
    for (const struct ordo_define *d = defines; d && d->name; d++) {
        hash = ORDO_DIGEST_TEXT(hash, d->name);
        hash = ordo_digest_of(hash, &d->value, sizeof d->value);
    }
    return hash;
}

static void free_program(struct ordo_program *p)
{
    free(p->file);
    free(p->only);
    free(p->options);
    free(p);
}

static ordo_status create_program(ordo_device *dev, const char *file, struct ordo_kernel_set kernels,
                                  const struct ordo_define *defines, struct ordo_program **out)
{
    struct ordo_program *p = calloc(1, sizeof *p);
    ORDO_REQUIRE_MEMORY(dev, p);
    p->file = ordo_format("%s", file);
    p->only = kernels.names ? ordo_format("%.*s", (int) kernels.bytes, kernels.names) : NULL;
    const ordo_status got = ordo_program_options(dev, defines, &p->options);
    if (got == ORDO_OK && p->file && !p->only == !kernels.names) {
        *out = p;
        return ORDO_OK;
    }
    free_program(p);
    ORDO_TRY(got);
    return ORDO_FAIL(dev, ORDO_NO_HOST_MEMORY, NULL);
}

/* Called with the lock. */
static struct ordo_program *known(const ordo_device *dev, struct ordo_digest variant)
{
    for (struct ordo_program *p = dev->builds.programs; p; p = p->next)
        if (p->variant.low == variant.low && p->variant.high == variant.high)
            return p;
    return NULL;
}

/* A program of which one kernel is needed, new or not. */
static ordo_status find_program(ordo_device *dev, const char *file, const char *kernel,
                                const struct ordo_define *defines, struct ordo_program **out)
{
    struct ordo_builds          *b = &dev->builds;
    const struct ordo_kernel_set all = { NULL, 0 };
    const struct ordo_kernel_set kernels = dev->kernels_apart ? ordo_kernel_set(file, kernel) : all;
    const struct ordo_digest     variant = variant_of(dev, file, kernels, defines);
    pthread_mutex_lock(&b->lock);
    *out = known(dev, variant);
    pthread_mutex_unlock(&b->lock);
    if (*out)
        return ORDO_OK;

    struct ordo_program *p = NULL;
    ORDO_TRY(create_program(dev, file, kernels, defines, &p));
    p->variant = variant;
    pthread_mutex_lock(&b->lock);
    *out = known(dev, variant); /* another thread may have been quicker */
    if (!*out) {
        p->next = b->programs;
        b->programs = *out = p;
    }
    pthread_mutex_unlock(&b->lock);
    if (*out != p)
        free_program(p);
    return ORDO_OK;
}

/* ---- threads ------------------------------------------------------------------------------------------------- */

/* Devices with threads, so that a program that ends waits for builds: drivers do not bear being unloaded under one. */
static struct ordo_device *live;
static pthread_mutex_t     live_lock = PTHREAD_MUTEX_INITIALIZER;

/* Keeps the lock while it waits, so that no device is closed meanwhile. */
static void end_all(void)
{
    pthread_mutex_lock(&live_lock);
    for (ordo_device *dev = live; dev; dev = dev->next_live)
        ordo_builds_end(dev);
    pthread_mutex_unlock(&live_lock);
}

/* The child of a fork has none of these threads. A fork takes no lock: a driver may fork while end_all waits for its
 * build. */
static void forget_live(void)
{
    pthread_mutex_init(&live_lock, NULL);
    live = NULL;
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget_live);
}

/* Handlers run in the opposite order of their registration: this one before those of what a driver has loaded by now. */
static void watch_exit(void)
{
    (void) atexit(end_all);
}

/* What a driver loads while it first compiles is ended before end_all is, if the program ends meanwhile. What belongs to the
 * main thread is ended before all of that; for other threads, and other C libraries, end_all must do. */
int          __cxa_thread_atexit_impl(void (*end)(void *), void *argument, void *library) __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

static void end_with_main(void *argument)
{
    (void) argument;
    end_all();
}

/* Caller holds live_lock. */
static void watch_main(void)
{
    static bool watched = false;
    if (!watched && __cxa_thread_atexit_impl && (pid_t) syscall(SYS_gettid) == getpid())
        watched = __cxa_thread_atexit_impl(end_with_main, NULL, &__dso_handle) == 0;
}

/* Where the list has the device, or its end. Caller holds live_lock. */
static ordo_device **find_live(const ordo_device *dev)
{
    ordo_device **at = &live;
    while (*at && *at != dev)
        at = &(*at)->next_live;
    return at;
}

/* Before the device starts a thread, so that an exit misses none. */
static void enter_live(ordo_device *dev)
{
    static pthread_once_t forks = PTHREAD_ONCE_INIT, at_first = PTHREAD_ONCE_INIT;
    pthread_once(&forks, watch_forks);
    pthread_once(&at_first, watch_exit);
    pthread_mutex_lock(&live_lock);
    ordo_device **at = find_live(dev);
    if (!*at) {
        watch_main();
        dev->next_live = NULL;
        *at = dev;
    }
    pthread_mutex_unlock(&live_lock);
}

static void leave_live(ordo_device *dev)
{
    pthread_mutex_lock(&live_lock);
    ordo_device **at = find_live(dev);
    if (*at)
        *at = dev->next_live;
    pthread_mutex_unlock(&live_lock);
}

/* The next program that nobody has begun, or NULL. Called with the lock. */
static struct ordo_program *next_wanted(struct ordo_builds *b)
{
    while (b->first_wanted) {
        struct ordo_program *p = b->first_wanted;
        b->first_wanted = p->next_wanted;
        p->next_wanted = NULL;
        if (p->state == ORDO_PROGRAM_WANTED)
            return p;
    }
    b->last_wanted = NULL;
    return NULL;
}

/* Called with the lock, and returns with it. */
static ordo_status build(ordo_device *dev, struct ordo_program *p)
{
    struct ordo_builds *b = &dev->builds;
    p->state = ORDO_PROGRAM_IN_WORK;
    pthread_mutex_unlock(&b->lock);
    const ordo_status got = ordo_program_build(dev, p);
    pthread_mutex_lock(&b->lock);
    p->state = got == ORDO_OK ? ORDO_PROGRAM_BUILT : ORDO_PROGRAM_FAILED;
    pthread_cond_broadcast(&b->changed);
    return got;
}

/* Builds a program that no call waits for. Called with the lock, and returns with it. */
static void build_early(ordo_device *dev, struct ordo_program *p)
{
    p->ahead = true;
    dev->builds.in_work++;
    (void) build(dev, p);
    dev->builds.in_work--;
}

/* Threads give way to calls, and begin nothing while one waits: NVIDIA's compiler works on one program of a process at a time for
 * nearly all of its way, and serves nobody in turn. Beside six threads a call waited 2.7 s for a program of 45 ms; opening and a
 * tour of three structures took 14.6 s on an H200, beside one that did not give way 12.9, now 9.2. A call that was served may
 * need its next program soon. Called with the lock. */
#define CALM_MS 10
static bool gives_way(const struct ordo_builds *b)
{
    return b->calls > 0 || ordo_now_ms() < b->calm_ms + CALM_MS;
}

/* Until something changes, or a moment has passed. Called with the lock. */
static void wait_a_moment(struct ordo_builds *b)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 5000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&b->changed, &b->lock, &until);
}

static void *build_what_is_wanted(void *argument)
{
    static pthread_once_t at_first_build = PTHREAD_ONCE_INIT;
    ordo_device          *dev = argument;
    struct ordo_builds   *b = &dev->builds;
    ordo_mute_thread(true);
    pthread_mutex_lock(&b->lock);
    while (!b->end) {
        if (gives_way(b) && b->first_wanted) {
            wait_a_moment(b);
            continue;
        }
        struct ordo_program *p = next_wanted(b);
        if (!p) {
            pthread_cond_wait(&b->changed, &b->lock);
            continue;
        }
        build_early(dev, p);
        /* Once more: by now the driver has loaded its compiler. */
        pthread_once(&at_first_build, watch_exit);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

/* Signals are for the program's own threads. */
static void start_thread(ordo_device *dev)
{
    struct ordo_builds *b = &dev->builds;
    sigset_t            all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return;
    b->n_threads += pthread_create(&b->thread[b->n_threads], NULL, build_what_is_wanted, dev) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void ordo_builds_end(ordo_device *dev)
{
    struct ordo_builds *b = &dev->builds;
    pthread_mutex_lock(&b->lock);
    const unsigned n = b->n_threads;
    b->end = true;
    b->n_threads = 0;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
    for (unsigned i = 0; i < n; i++)
        pthread_join(b->thread[i], NULL);
}

void ordo_builds_forget(ordo_device *dev)
{
    struct ordo_builds *b = &dev->builds;
    pthread_mutex_lock(&b->lock);
    for (struct ordo_program *p = NULL; (p = next_wanted(b));)
        p->state = ORDO_PROGRAM_KNOWN;
    pthread_mutex_unlock(&b->lock);
}

/* Called with the lock. */
static void want(ordo_device *dev, struct ordo_program *p)
{
    struct ordo_builds *b = &dev->builds;
    p->state = ORDO_PROGRAM_WANTED;
    if (b->last_wanted && b->first_wanted)
        b->last_wanted->next_wanted = p;
    else
        b->first_wanted = p;
    b->last_wanted = p;
    if (!b->end && b->n_threads < b->threads_most)
        start_thread(dev);
    pthread_cond_broadcast(&b->changed);
}

void ordo_build_ahead(struct ordo_rehearsal *rehearsal, const char *file, const char *kernel,
                      const struct ordo_define *defines)
{
    ordo_device           *dev = rehearsal->stands_for;
    struct ordo_gathering *g = rehearsal->gathering;
    struct ordo_builds    *b = &dev->builds;
    struct ordo_program   *p = NULL;
    if ((b->threads_most == 0 && !g) || find_program(dev, file, kernel, defines, &p) != ORDO_OK)
        return;
    if (b->threads_most > 0)
        enter_live(dev);
    const bool parted = g && g->parts > 0;
    pthread_mutex_lock(&b->lock);
    if (p->state == ORDO_PROGRAM_KNOWN || (p->state == ORDO_PROGRAM_OTHERS && !parted)) {
        if (parted && g->n++ % g->parts != g->part)
            p->state = ORDO_PROGRAM_OTHERS;
        else
            want(dev, p);
    }
    pthread_mutex_unlock(&b->lock);
}

/* ---- calls --------------------------------------------------------------------------------------------------- */

/* What a call has waited for programs, and a word once that is long. */
static void tell(ordo_device *dev, const struct ordo_program *p, double ms, bool ahead)
{
    struct ordo_builds *b = &dev->builds;
    pthread_mutex_lock(&b->lock);
    b->waited_ms += ms;
    const double all = b->waited_ms;
    const bool   now = !b->told && all > 1000;
    b->told = b->told || now;
    pthread_mutex_unlock(&b->lock);
    ordo_log(dev, ORDO_LOG_DEBUG, "built %s%s%s from %s in %.1f ms%s: %s", p->file, p->only ? " " : "",
             p->only ? p->only : "", p->from_cache ? "cache" : "source", p->build_ms, ahead ? ", ahead" : "",
             p->options);
    if (now)
        ordo_log(dev, ORDO_LOG_INFO,
                 "kernels are being built for %s: calls have waited %.1f s for that. They are kept for the next time; "
                 "ordo_device_prepare and ordo-info --prepare build them ahead",
                 dev->facts.name, all / 1e3);
}

/* The program is built when this returns ORDO_OK. */
static ordo_status await(ordo_device *dev, struct ordo_program *p)
{
    struct ordo_builds *b = &dev->builds;
    ordo_status         got = ORDO_OK;
    pthread_mutex_lock(&b->lock);
    if (p->state == ORDO_PROGRAM_BUILT && !p->ahead) {
        pthread_mutex_unlock(&b->lock);
        return ORDO_OK;
    }
    const double start = ordo_now_ms();
    b->calls++;
    while (p->state == ORDO_PROGRAM_IN_WORK)
        pthread_cond_wait(&b->changed, &b->lock);
    const bool ahead = p->state == ORDO_PROGRAM_BUILT;
    p->ahead = false;
    if (!ahead)
        got = build(dev, p);
    const double ms = ordo_now_ms() - start;
    b->ms += p->from_cache ? 0 : ms;
    b->calls--;
    b->calm_ms = ordo_now_ms();
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
    if (got == ORDO_OK)
        tell(dev, p, ms, ahead);
    ordo_cache_tell(dev);
    return got;
}

static ordo_status create_kernel(ordo_device *dev, struct ordo_program *program, const char *name,
                                 struct ordo_kernel *k)
{
    cl_int code = CL_SUCCESS;
    k->name = ordo_format("%s", name);
    ORDO_REQUIRE_MEMORY(dev, k->name);
    k->kernel = clCreateKernel(program->program, name, &code);
    if (code != CL_SUCCESS && code != CL_OUT_OF_HOST_MEMORY) /* some drivers compile only here */
        return ordo_fail(dev, ORDO_BUILD, code, __FILE__, __LINE__, "kernel %s cannot be made", name);
    ORDO_TRY_CL(dev, code, "clCreateKernel of %s", name);

    cl_ulong local = 0;
    size_t   fixed[3] = { 0 };
    ORDO_TRY_CL(dev,
                clGetKernelWorkGroupInfo(k->kernel, dev->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof k->max_group,
                                         &k->max_group, NULL),
                "clGetKernelWorkGroupInfo of %s", name);
    ORDO_TRY_CL(dev, clGetKernelWorkGroupInfo(k->kernel, dev->id, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local, NULL),
                "clGetKernelWorkGroupInfo of %s", name);
    ORDO_TRY_CL(
        dev, clGetKernelWorkGroupInfo(k->kernel, dev->id, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof fixed, fixed, NULL),
        "clGetKernelWorkGroupInfo of %s", name);
    k->local_bytes = local;
    /* NVIDIA's driver says 256 of kernels that were compiled for larger groups and run in them. */
    if (fixed[0] > k->max_group)
        k->max_group = fixed[0];
    if (k->max_group > dev->facts.max_group)
        k->max_group = dev->facts.max_group;
    if (local > dev->facts.local_bytes)
        return ORDO_FAIL(dev, ORDO_UNSUPPORTED, "kernel %s needs %llu bytes of local memory, the device has %llu", name,
                         (unsigned long long) local, (unsigned long long) dev->facts.local_bytes);
    return ORDO_OK;
}

static void destroy_kernel(struct ordo_kernel *k)
{
    if (k->kernel)
        clReleaseKernel(k->kernel);
    free(k->name);
    free(k);
}

ordo_status ordo_call_kernel(struct ordo_call *call, const char *file, const char *name,
                             const struct ordo_define *defines, struct ordo_kernel **out)
{
    ordo_device         *dev = call->dev;
    struct ordo_program *program = NULL;
    if (dev->rehearsal) {
        ordo_build_ahead(dev->rehearsal, file, name, defines);
        *out = &dev->rehearsal->kernel;
        return ORDO_OK;
    }
    ORDO_TRY(find_program(dev, file, name, defines, &program));
    ORDO_TRY(await(dev, program));
    for (struct ordo_kernel *k = program->kernels; k; k = k->next)
        if (strcmp(k->name, name) == 0) {
            *out = k;
            return ORDO_OK;
        }

    struct ordo_kernel *made = calloc(1, sizeof *made);
    ORDO_REQUIRE_MEMORY(dev, made);
    const ordo_status got = create_kernel(dev, program, name, made);
    if (got != ORDO_OK) {
        destroy_kernel(made);
        return got;
    }
    for (const struct ordo_define *d = defines; d && d->name; d++)
        made->limited = made->limited || (strcmp(d->name, "ORDO_MAX_REGISTERS") == 0 && d->value);
    made->next = program->kernels;
    program->kernels = made;
    *out = made;
    return ORDO_OK;
}

/* ---- all that is wanted -------------------------------------------------------------------------------------- */

bool ordo_builds_ahead(const ordo_device *dev)
{
    return dev->builds.threads_most > 0;
}

bool ordo_builds_expect(ordo_device *dev, const char *name, uint32_t type)
{
    struct ordo_builds      *b = &dev->builds;
    const struct ordo_digest hash =
        ordo_digest_of(ORDO_DIGEST_TEXT(((struct ordo_digest) { 0, 0 }), name), &type, sizeof type);
    bool fresh = ordo_builds_ahead(dev) && !dev->rehearsal;
    pthread_mutex_lock(&b->lock);
    for (size_t i = 0; i < b->n_expected && fresh; i++)
        fresh = b->expected[i] != hash.low;
    if (fresh && b->n_expected < sizeof b->expected / sizeof *b->expected)
        b->expected[b->n_expected++] = hash.low;
    else
        fresh = false;
    pthread_mutex_unlock(&b->lock);
    return fresh;
}

void ordo_builds_begin(ordo_device *dev)
{
    pthread_mutex_lock(&dev->builds.lock);
    dev->builds.preparing++;
    pthread_mutex_unlock(&dev->builds.lock);
}

/* How many programs are wanted or in work. Called with the lock. */
static size_t n_left(const struct ordo_builds *b)
{
    size_t left = b->in_work;
    for (const struct ordo_program *p = b->first_wanted; p; p = p->next_wanted)
        left += p->state == ORDO_PROGRAM_WANTED;
    return left;
}

/* Builds one program, or waits for one that is in work. How many are left, of the most that were. */
static size_t build_one(ordo_device *dev, size_t *most)
{
    struct ordo_builds *b = &dev->builds;
    ordo_mute_thread(true);
    pthread_mutex_lock(&b->lock);
    const size_t         before = n_left(b);
    struct ordo_program *p = next_wanted(b);
    if (p)
        build_early(dev, p);
    else if (b->in_work > 0)
        pthread_cond_wait(&b->changed, &b->lock);
    const size_t left = n_left(b);
    pthread_mutex_unlock(&b->lock);
    ordo_mute_thread(false);
    *most = before > *most ? before : *most;
    *most = left > *most ? left : *most; /* another thread wanted more */
    return left;
}

/* Forgets what a cancelled preparation wanted, unless another one may want it. */
static void end_preparing(ordo_device *dev, bool cancelled)
{
    pthread_mutex_lock(&dev->builds.lock);
    const bool last = --dev->builds.preparing == 0;
    pthread_mutex_unlock(&dev->builds.lock);
    if (cancelled && last)
        ordo_builds_forget(dev);
}

/* Tries the first again that could not be built, so that its message is the last error. */
static ordo_status count_failures(ordo_device *dev, size_t *built, size_t *failed)
{
    struct ordo_builds *b = &dev->builds;
    ordo_status         first = ORDO_OK;
    pthread_mutex_lock(&b->lock);
    for (struct ordo_program *p = b->programs; p; p = p->next) {
        if (p->state == ORDO_PROGRAM_FAILED && first == ORDO_OK)
            first = build(dev, p);
        *built += p->state == ORDO_PROGRAM_BUILT;
        *failed += p->state == ORDO_PROGRAM_FAILED;
    }
    pthread_mutex_unlock(&b->lock);
    return first;
}

ordo_status ordo_builds_finish(ordo_device *dev, bool (*progress)(void *user, size_t done, size_t total), void *user,
                               size_t *built, size_t *failed)
{
    size_t left = 0, total = 0;
    bool   go_on = true;
    *built = *failed = 0;
    do {
        left = build_one(dev, &total);
        go_on = !progress || progress(user, total - left, total);
    } while (left > 0 && go_on);
    end_preparing(dev, !go_on);
    ordo_cache_tell(dev);
    const ordo_status got = count_failures(dev, built, failed);
    return go_on ? got : ORDO_FAIL(dev, ORDO_CANCELLED, NULL);
}

/* ---- life ---------------------------------------------------------------------------------------------------- */

ordo_status ordo_builds_open(ordo_device *dev)
{
    struct ordo_builds *b = &dev->builds;
    if (pthread_mutex_init(&b->lock, NULL) != 0)
        return ORDO_NO_HOST_MEMORY;
    if (pthread_cond_init(&b->changed, NULL) == 0)
        return ORDO_OK;
    pthread_mutex_destroy(&b->lock);
    return ORDO_NO_HOST_MEMORY;
}

void ordo_programs_destroy(ordo_device *dev)
{
    struct ordo_builds *b = &dev->builds;
    ordo_builds_end(dev);
    leave_live(dev);
    while (b->programs) {
        struct ordo_program *program = b->programs;
        b->programs = program->next;
        while (program->kernels) {
            struct ordo_kernel *kernel = program->kernels;
            program->kernels = kernel->next;
            destroy_kernel(kernel);
        }
        if (program->program)
            clReleaseProgram(program->program);
        free_program(program);
    }
    b->first_wanted = b->last_wanted = NULL;
    b->end = false;
}

void ordo_builds_close(ordo_device *dev)
{
    struct ordo_builds *b = &dev->builds;
    leave_live(dev); /* in the child of a fork too */
    if (dev->pid != getpid())
        return; /* glibc would wait for threads that wait for a change in the parent, and are not here */
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->lock);
}
