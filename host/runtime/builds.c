/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the programs of a device, in build threads or in the calls that need them. Build threads record no errors. */
#define _GNU_SOURCE
#include "internal.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- finding ------------------------------------------------------------------------------------------------- */

/* Every launch computes this hash, so it excludes the long source text. */
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

static struct ordo_program *create_program(const ordo_device *dev, const char *file, struct ordo_kernel_set kernels,
                                           const struct ordo_define *defines)
{
    struct ordo_program *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->file = ordo_format("%s", file);
    p->only = kernels.names ? ordo_format("%.*s", (int) kernels.bytes, kernels.names) : NULL;
    p->options = ordo_program_options(dev, defines);
    if (p->file && p->options && !p->only == !kernels.names)
        return p;
    free_program(p);
    return NULL;
}

static struct ordo_program *find_program(ordo_device *dev, const char *file, const char *kernel,
                                         const struct ordo_define *defines)
{
    struct ordo_builds          *b = &dev->builds;
    const struct ordo_kernel_set all = { NULL, 0 };
    const struct ordo_kernel_set kernels = dev->kernels_apart ? ordo_kernel_set(file, kernel) : all;
    const struct ordo_digest     variant = variant_of(dev, file, kernels, defines);
    pthread_mutex_lock(&b->lock);
    struct ordo_program *p = b->programs;
    while (p && (p->variant.low != variant.low || p->variant.high != variant.high))
        p = p->next;
    if (!p && (p = create_program(dev, file, kernels, defines))) {
        p->variant = variant;
        p->next = b->programs;
        b->programs = p;
    }
    pthread_mutex_unlock(&b->lock);
    return p;
}

/* ---- threads ------------------------------------------------------------------------------------------------- */

/* List of the devices that have build threads. At exit the process waits for these threads, because a driver crashes if
 * it is unloaded while it compiles. */
static struct ordo_device *live;
static pthread_mutex_t     live_lock = PTHREAD_MUTEX_INITIALIZER;

static void end_all(void)
{
    pthread_mutex_lock(&live_lock);
    for (ordo_device *dev = live; dev; dev = dev->next_live)
        ordo_builds_end(dev);
    pthread_mutex_unlock(&live_lock);
}

/* Runs in the child of a fork. Replaces live_lock, which another thread may have held during the fork. */
static void forget_live(void)
{
    pthread_mutex_init(&live_lock, NULL);
    live = NULL;
}

/* Exit handlers run in the reverse order of registration. Therefore end_all runs before the handlers of all libraries
 * that are already loaded. */
static void watch_exit(void)
{
    (void) atexit(end_all);
}

static void watch(void)
{
    pthread_atfork(NULL, NULL, forget_live);
    watch_exit();
}

/* Registers a destructor of the current thread. Destructors of the main thread run before all exit handlers. */
int          __cxa_thread_atexit_impl(void (*end)(void *), void *argument, void *library) __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

static void end_with_main(void *argument)
{
    (void) argument;
    end_all();
}

/* The caller must hold live_lock. */
static void watch_main(void)
{
    static bool watched = false;
    if (!watched && __cxa_thread_atexit_impl && (pid_t) syscall(SYS_gettid) == getpid())
        watched = __cxa_thread_atexit_impl(end_with_main, NULL, &__dso_handle) == 0;
}

static ordo_device **find_live(const ordo_device *dev)
{
    ordo_device **at = &live;
    while (*at && *at != dev)
        at = &(*at)->next_live;
    return at;
}

/* Must be called before a build thread is started, so that end_all waits for it. */
static void enter_live(ordo_device *dev)
{
    static pthread_once_t at_first = PTHREAD_ONCE_INIT;
    pthread_once(&at_first, watch);
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

static struct ordo_program *next_wanted(const struct ordo_builds *b)
{
    struct ordo_program *oldest = NULL;
    for (struct ordo_program *p = b->programs; p; p = p->next)
        oldest = p->state == ORDO_PROGRAM_WANTED ? p : oldest;
    return oldest;
}

/* The caller must hold dev->builds.lock. This function releases the lock during the build. */
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

static void build_early(ordo_device *dev, struct ordo_program *p)
{
    p->ahead = true;
    dev->builds.in_work++;
    (void) build(dev, p);
    dev->builds.in_work--;
}

/* Build threads pause while a call waits, because NVIDIA's compiler builds one program at a time. They resume CALM_MS
 * milliseconds after the wait. The caller must hold b->lock. */
#define CALM_MS 10
static bool gives_way(const struct ordo_builds *b)
{
    return b->calls > 0 || ordo_now_ms() < b->calm_ms + CALM_MS;
}

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
    ordo_thread_is_mute = true;
    pthread_mutex_lock(&b->lock);
    while (!b->end) {
        struct ordo_program *p = next_wanted(b);
        if (!p) {
            pthread_cond_wait(&b->changed, &b->lock);
        } else if (gives_way(b)) {
            wait_a_moment(b);
        } else {
            build_early(dev, p);
            /* The compiler that the driver has now loaded may have registered an exit handler. Registers end_all again,
             * to run before this handler. */
            pthread_once(&at_first_build, watch_exit);
        }
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

/* Blocks all signals in the thread, because only the application's threads may handle them. */
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

static void forget_wanted(struct ordo_builds *b)
{
    for (struct ordo_program *p = b->programs; p; p = p->next)
        p->state = p->state == ORDO_PROGRAM_WANTED ? ORDO_PROGRAM_KNOWN : p->state;
}

void ordo_builds_forget(ordo_device *dev)
{
    pthread_mutex_lock(&dev->builds.lock);
    forget_wanted(&dev->builds);
    pthread_mutex_unlock(&dev->builds.lock);
}

void ordo_build_ahead(struct ordo_dry_run *dry, const char *file, const char *kernel, const struct ordo_define *defines)
{
    ordo_device           *dev = dry->stands_for;
    struct ordo_gathering *g = dry->gathering;
    struct ordo_builds    *b = &dev->builds;
    struct ordo_program   *p = b->threads_most > 0 || g ? find_program(dev, file, kernel, defines) : NULL;
    if (!p)
        return;
    if (b->threads_most > 0)
        enter_live(dev);
    const bool parted = g && g->parts > 0;
    pthread_mutex_lock(&b->lock);
    if (p->state == ORDO_PROGRAM_KNOWN || (p->state == ORDO_PROGRAM_OTHERS && !parted)) {
        const bool others = parted && g->n++ % g->parts != g->part;
        p->state = others ? ORDO_PROGRAM_OTHERS : ORDO_PROGRAM_WANTED;
        if (!others && !b->end && b->n_threads < b->threads_most)
            start_thread(dev);
        pthread_cond_broadcast(&b->changed);
    }
    pthread_mutex_unlock(&b->lock);
}

/* ---- calls --------------------------------------------------------------------------------------------------- */

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
    if (code != CL_SUCCESS && code != CL_OUT_OF_HOST_MEMORY) /* Some drivers compile only in this call. */
        return ordo_fail(dev, ORDO_BUILD, code, __FILE__, __LINE__, "kernel %s cannot be made", name);
    ORDO_TRY_CL(dev, code, "clCreateKernel of %s", name);

#define GET(what, out)                                                                                                 \
    ORDO_TRY_CL(dev, clGetKernelWorkGroupInfo(k->kernel, dev->id, (what), sizeof(out), &(out), NULL),                  \
                "clGetKernelWorkGroupInfo of %s", name)
    cl_ulong local = 0;
    size_t   fixed[3] = { 0 };
    GET(CL_KERNEL_WORK_GROUP_SIZE, k->max_group);
    GET(CL_KERNEL_LOCAL_MEM_SIZE, local);
    GET(CL_KERNEL_COMPILE_WORK_GROUP_SIZE, fixed);
#undef GET
    /* NVIDIA's driver reports at most 256 work-items, even for kernels that are compiled for larger work-groups. */
    if (fixed[0] > k->max_group)
        k->max_group = fixed[0];
    if (k->max_group > dev->facts.max_group)
        k->max_group = dev->facts.max_group;
    ORDO_REQUIRE(dev, local <= dev->facts.local_bytes, ORDO_UNSUPPORTED,
                 "kernel %s needs %llu bytes of local memory, the device has %llu", name, (unsigned long long) local,
                 (unsigned long long) dev->facts.local_bytes);
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
    ordo_device *dev = call->dev;
    if (dev->dry_run) {
        ordo_build_ahead(dev->dry_run, file, name, defines);
        *out = &dev->dry_run->kernel;
        return ORDO_OK;
    }
    struct ordo_program *program = find_program(dev, file, name, defines);
    ORDO_REQUIRE_MEMORY(dev, program);
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

/* ---- building ahead ------------------------------------------------------------------------------------------ */

bool ordo_builds_ahead(const ordo_device *dev)
{
    return dev->builds.threads_most > 0;
}

bool ordo_builds_expect(ordo_device *dev, const char *name, uint32_t type)
{
    struct ordo_builds      *b = &dev->builds;
    const struct ordo_digest hash =
        ordo_digest_of(ORDO_DIGEST_TEXT(((struct ordo_digest) { 0, 0 }), name), &type, sizeof type);
    if (!ordo_builds_ahead(dev) || dev->dry_run)
        return false;
    pthread_mutex_lock(&b->lock);
    bool fresh = b->n_expected < sizeof b->expected / sizeof *b->expected;
    for (size_t i = 0; i < b->n_expected && fresh; i++)
        fresh = b->expected[i] != hash.low;
    if (fresh)
        b->expected[b->n_expected++] = hash.low;
    pthread_mutex_unlock(&b->lock);
    return fresh;
}

void ordo_builds_begin(ordo_device *dev)
{
    pthread_mutex_lock(&dev->builds.lock);
    dev->builds.preparing++;
    pthread_mutex_unlock(&dev->builds.lock);
}

static size_t n_left(const struct ordo_builds *b)
{
    size_t left = b->in_work;
    for (const struct ordo_program *p = b->programs; p; p = p->next)
        left += p->state == ORDO_PROGRAM_WANTED;
    return left;
}

static size_t build_one(ordo_device *dev, size_t *total)
{
    struct ordo_builds *b = &dev->builds;
    ordo_thread_is_mute = true;
    pthread_mutex_lock(&b->lock);
    const size_t         before = n_left(b);
    struct ordo_program *p = next_wanted(b);
    if (p)
        build_early(dev, p);
    else if (b->in_work > 0)
        pthread_cond_wait(&b->changed, &b->lock);
    const size_t left = n_left(b), most = before > left ? before : left;
    pthread_mutex_unlock(&b->lock);
    ordo_thread_is_mute = false;
    *total = most > *total ? most : *total;
    return left;
}

/* Builds the first failed program again, so that its error becomes the device's last error. */
static ordo_status end_preparing(ordo_device *dev, bool cancelled, size_t *built, size_t *failed)
{
    struct ordo_builds *b = &dev->builds;
    ordo_status         first = ORDO_OK;
    pthread_mutex_lock(&b->lock);
    if (--b->preparing == 0 && cancelled)
        forget_wanted(b);
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
    ordo_cache_tell(dev);
    const ordo_status got = end_preparing(dev, !go_on, built, failed);
    return go_on ? got : ORDO_FAIL(dev, ORDO_CANCELLED, NULL);
}

/* ---- life ---------------------------------------------------------------------------------------------------- */

void ordo_builds_open(ordo_device *dev)
{
    dev->builds.lock = (pthread_mutex_t) PTHREAD_MUTEX_INITIALIZER;
    dev->builds.changed = (pthread_cond_t) PTHREAD_COND_INITIALIZER;
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
    b->end = false;
}

void ordo_builds_close(ordo_device *dev)
{
    struct ordo_builds *b = &dev->builds;
    leave_live(dev);
    if (dev->pid != getpid())
        return; /* In the child of a fork, pthread_cond_destroy would wait for threads that exist only in the parent. */
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->lock);
}
