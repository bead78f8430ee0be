/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that ends tests that hang: see watchdog.h. */
#include "watchdog.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS_UNLESS_SET = 600 };

static struct {
    pthread_mutex_t lock;
    double          patience; /* seconds */
    double          alive_at; /* the last sign of life */
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

/* The test that runs in this process, or NULL. (Declared a constant, which it is not: it is set when the test begins.) */
static const struct criterion_test *current_test(void)
{
    return *(const struct criterion_test *const volatile *) &criterion_current_test;
}

static _Noreturn void bark(void)
{
    (void) fprintf(stderr,
                   "watchdog: %s/%s hangs: no sign of life for %g s\n    trying: %s\n    device: %s%s%s\n"
                   "    seed:   ORDO_TEST_SEED=%" PRIu64 "\n",
                   current_test()->category, current_test()->name, dog.patience,
                   dog.trying[0] ? dog.trying : "(nothing yet)", dog.device[0] ? dog.device : "(none)",
                   dog.mask[0] ? ", mask " : "", dog.mask, dog.seed);
    (void) fflush(stderr);
    abort();
}

/* Each test runs in a process of its own. In the one that starts them no test is ever current. */
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

/* Before main, so that no test has to think of it. Signals are for the other threads. */
__attribute__((constructor)) static void let_out(void)
{
    const char *set = getenv("ORDO_TEST_WATCHDOG");
    sigset_t    all, before;
    pthread_t   thread;

    dog.patience = set ? strtod(set, NULL) : SECONDS_UNLESS_SET;
    if (!(dog.patience > 0))
        return;
    (void) sigfillset(&all);
    (void) pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, watch, NULL) == 0)
        (void) pthread_detach(thread);
    else
        (void) fprintf(stderr, "watchdog: no thread; what hangs will hang\n");
    (void) pthread_sigmask(SIG_SETMASK, &before, NULL);
}
