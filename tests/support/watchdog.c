/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that ends hanging tests: see watchdog.h. */
#define _GNU_SOURCE
#include "watchdog.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <execinfo.h>
#endif

enum { SECONDS_UNLESS_SET = 600 };

static struct {
    pthread_mutex_t lock;
    double          patience; /* seconds */
    double          alive_at; /* time of the last report */
    uint64_t        seed;
    char            trying[256], device[128], mask[128];
} dog = { .lock = PTHREAD_MUTEX_INITIALIZER };

static double now(void)
{
    struct timespec t;
    (void) clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

void watchdog_note(const char *trying, const char *device, const char *mask, uint64_t seed)
{
    (void) pthread_mutex_lock(&dog.lock);
    (void) snprintf(dog.trying, sizeof dog.trying, "%s", trying);
    (void) snprintf(dog.device, sizeof dog.device, "%s", device);
    (void) snprintf(dog.mask, sizeof dog.mask, "%s", mask);
    dog.seed = seed;
    dog.alive_at = now();
    (void) pthread_mutex_unlock(&dog.lock);
}

/* The test that runs in this process, or NULL. (Declared const, but set when the test begins.) */
static const struct criterion_test *current_test(void)
{
    return *(const struct criterion_test *const volatile *) &criterion_current_test;
}

/* ---- places of the threads --------------------------------------------------------------------------------------- */

#ifdef __GLIBC__
enum { FRAMES_MAX = 48, TELLS = 40 /* which real-time signal: drivers use the first ones */ };

static volatile sig_atomic_t told;

static void tell(int number)
{
    void *frames[FRAMES_MAX];

    (void) number;
    backtrace_symbols_fd(frames, backtrace(frames, FRAMES_MAX), STDERR_FILENO);
    told = 1;
}

/* After half a second, gives up on a thread that blocks signals. */
static void ask(pid_t thread)
{
    const struct timespec nap = { .tv_nsec = 10000000 };

    told = 0;
    (void) fprintf(stderr, "    thread %d:\n", (int) thread);
    if (syscall(SYS_tgkill, getpid(), thread, TELLS) != 0)
        return;
    for (int i = 0; i < 50 && !told; i++)
        (void) nanosleep(&nap, NULL);
}

static void ask_threads(void)
{
    const struct sigaction how = { .sa_handler = tell };
    const long             own = syscall(SYS_gettid);
    DIR                   *threads = opendir("/proc/self/task");

    if (!threads || sigaction(TELLS, &how, NULL) != 0)
        return;
    for (const struct dirent *entry = readdir(threads); entry; entry = readdir(threads)) {
        const long thread = strtol(entry->d_name, NULL, 10);
        if (thread > 0 && thread != own)
            ask((pid_t) thread);
    }
    (void) closedir(threads);
}

/* The first backtrace loads a library, and a hanging thread may hold the loader's lock then. */
static void prepare_to_ask(void)
{
    void *frame = NULL;
    (void) backtrace(&frame, 1);
}
#else
static void ask_threads(void)
{
}

static void prepare_to_ask(void)
{
}
#endif

/* ---- the watchdog thread ----------------------------------------------------------------------------------------- */

static _Noreturn void bark(void)
{
    (void) fprintf(stderr,
                   "watchdog: %s/%s hangs: no sign of life for %g s\n    trying: %s\n    device: %s%s%s\n"
                   "    seed:   ORDO_TEST_SEED=%" PRIu64 "\n",
                   current_test()->category, current_test()->name, dog.patience,
                   dog.trying[0] ? dog.trying : "(nothing yet)", dog.device[0] ? dog.device : "(none)",
                   dog.mask[0] ? ", mask " : "", dog.mask, dog.seed);
    (void) fflush(stderr);
    ask_threads();
    abort();
}

/* Each test runs in its own process. The process that starts them has no current test. */
static void *watch(void *unused)
{
    const struct timespec nap = { .tv_nsec = 250000000 };

    for (;;) {
        (void) nanosleep(&nap, NULL);
        if (!current_test())
            continue;
        (void) pthread_mutex_lock(&dog.lock);
        if (dog.alive_at == 0)
            dog.alive_at = now();
        if (now() - dog.alive_at > dog.patience)
            bark();
        (void) pthread_mutex_unlock(&dog.lock);
    }
    return unused;
}

/* Before main, so that all tests have it. Blocks signals in its thread. */
__attribute__((constructor)) static void let_out(void)
{
    const char *set = getenv("ORDO_TEST_WATCHDOG");
    sigset_t    all, before;
    pthread_t   thread;

    dog.patience = set ? strtod(set, NULL) : SECONDS_UNLESS_SET;
    if (!(dog.patience > 0))
        return;
    prepare_to_ask();
    (void) sigfillset(&all);
    (void) pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, watch, NULL) == 0)
        (void) pthread_detach(thread);
    else
        (void) fprintf(stderr, "watchdog: no thread; what hangs will hang\n");
    (void) pthread_sigmask(SIG_SETMASK, &before, NULL);
}
