/* SPDX-License-Identifier: Apache-2.0 */
/* A differential test of the whole public interface (soak.h). The first life has seed ORDO_TEST_SEED.
 *
 *     ORDO_TEST_SECONDS=600 ORDO_TEST_SEED=500 ORDO_TEST_KINDS=all build/tests/test-soak   # ten minutes, all types
 *     ORDO_TEST_SEED=577 ORDO_TEST_KINDS=all build/tests/test-soak                         # the life of seed 577 alone
 *
 * ORDO_TEST_STEPS=number      ends each life after this many steps
 * ORDO_TEST_TRACE=1           prints each step before it is made
 * ORDO_TEST_CHECKS=all        compares the whole content after each step
 * ORDO_TEST_STRUCTURE=hash    gives every life this structure; string_dict makes calls of dictionaries of strings alone
 * ORDO_TEST_WITHOUT=a,b       leaves out: faults, limits, masks, tunables, loose, bursts, nodes
 * ORDO_MASK=...               holds for every life */
#include "soak.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 80, QUICK_LIVES = 8, QUICK_STEPS = 25 };

static double now(void)
{
    struct timespec ts;

    (void) clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double) ts.tv_sec + 1e-9 * (double) ts.tv_nsec;
}

static size_t number_from(const char *variable, size_t otherwise)
{
    const char *text = getenv(variable);

    return text ? (size_t) strtoull(text, NULL, 0) : otherwise;
}

/* ---- messages of failed tests ------------------------------------------------------------------------------------ */

static char again[512]; /* the command that repeats the life */

static void tell(int signal_number)
{
    (void) !write(STDERR_FILENO, again, strlen(again));
    (void) signal(signal_number, SIG_DFL);
    (void) raise(signal_number);
}

/* A failed assertion ends the process during a life. */
static void tell_unless_done(void)
{
    (void) !write(STDERR_FILENO, again, strlen(again));
}

static void tell_at_end(void)
{
    static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGABRT };

    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        (void) signal(signals[i], tell);
    (void) atexit(tell_unless_done);
}

/* Notes the variables that change a life. */
static void note_again(const struct life *l, size_t steps)
{
    static const char *const names[] = { "ORDO_DEVICE", "ORDO_MASK", "ORDO_TEST_KINDS", "ORDO_TEST_STRUCTURE",
                                         "ORDO_TEST_WITHOUT" };
    int n = snprintf(again, sizeof again, "again: ORDO_TEST_SEED=%" PRIu64 " ORDO_TEST_STEPS=%zu", l->seed, steps);

    for (size_t i = 0; i < sizeof names / sizeof *names && n < (int) sizeof again; i++)
        if (getenv(names[i]))
            n += snprintf(again + n, sizeof again - (size_t) n, " %s='%s'", names[i], getenv(names[i]));
    if (n < (int) sizeof again)
        (void) snprintf(again + n, sizeof again - (size_t) n, " build/tests/test-soak\n");
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

struct table {
    const struct soak_row *row;
    size_t                 n;
};

static bool can_do(const struct life *l, const struct soak_row *row)
{
    return (!row->needs || ordo_dict_can(l->dict, row->needs)) &&
           !((row->traits & ROW_NEEDS_VALUES) && (l->config.value_bytes == 0 || l->config.value_bytes == 16));
}

static bool only_strings(void)
{
    const char *const only = getenv("ORDO_TEST_STRUCTURE");

    return only && strcmp(only, "string_dict") == 0;
}

static const struct soak_row *choose_row(struct life *l)
{
    const struct table tables[] = { { soak_string_rows, n_soak_string_rows },
                                    { soak_dict_rows, n_soak_dict_rows },
                                    { soak_concurrent_rows, n_soak_concurrent_rows },
                                    { soak_own_rows, n_soak_own_rows },
                                    { soak_array_rows, n_soak_array_rows } };
    size_t             all = 0, chosen = SIZE_MAX;

    for (int pass = 0; pass < 2; pass++) {
        for (size_t t = 0; t < (only_strings() ? 1 : LENGTH(tables)); t++)
            for (size_t r = 0; r < tables[t].n; r++) {
                const struct soak_row *row = &tables[t].row[r];
                const size_t           weight = can_do(l, row) ? row->weight[l->mood] : 0;
                if (pass == 0)
                    all += weight;
                else if (chosen < weight)
                    return row;
                else
                    chosen -= weight;
            }
        chosen = soak_below(l, all);
    }
    abort();
}

static void burst(struct life *l)
{
    const struct soak_row *rows[4];
    const size_t           n = 2 + soak_below(l, 3);

    for (size_t i = 0; i < n; i++)
        do
            rows[i] = choose_row(l);
        while (rows[i]->run || rows[i]->check);
    soak_burst(l, rows, n);
}

/* A step has a random sequence that depends on its number only. */
static void step(struct life *l)
{
    l->t.random = l->seed * 0x9e3779b97f4a7c15u + l->step * 0xd1342543de82ef95u;
    if (l->step % 10 == 0)
        l->mood = (enum mood) soak_below(l, N_MOODS);
    const bool             many = soak_one_in(l, 6) && !l->without[HAZARD_BURSTS] && !only_strings();
    const struct soak_row *row = choose_row(l);
    if (many)
        burst(l);
    else if (row->run)
        row->run(l);
    else
        soak_play(l, row);
    if (soak_one_in(l, 8) || test_wants_all("ORDO_TEST_CHECKS"))
        soak_check_content(l);
}

struct soaked {
    size_t lives, calls, operations;
};

static void live(struct test *t, uint64_t seed, size_t steps, struct soaked *done)
{
    struct life l = { .seed = seed };

    note_again(&l, steps);
    for (l = life_begin(t, seed); l.step < steps; l.step++) {
        note_again(&l, l.step + 1);
        step(&l);
    }
    done->lives++;
    done->calls += l.calls;
    done->operations += l.operations;
    life_end(&l);
    again[0] = 0;
}

static void soak(struct test *t)
{
    const char *const text = getenv("ORDO_TEST_SECONDS");
    const double      begin = now(), until = begin + (text ? strtod(text, NULL) : 0);
    const bool        quick = !text && !getenv("ORDO_TEST_SEED");
    const size_t      steps = number_from("ORDO_TEST_STEPS", quick ? QUICK_STEPS : STEPS);
    struct soaked     done = { 0 };

    test_spare_compiler();
    tell_at_end();
    do
        live(t, t->seed + done.lives, steps, &done);
    while (now() < until || (quick && done.lives < QUICK_LIVES));
    (void) fprintf(stderr, "%s: %zu lives from seed %" PRIu64 " on, %zu calls, %zu operations in %.0f s\n",
                   t->facts->name, done.lives, t->seed, done.calls, done.operations, now() - begin);
}

TestSuite(soak, .init = fault_alone);

Test(soak, random_calls_agree_with_plain_code)
{
    test_each_device(soak);
}
