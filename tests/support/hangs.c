/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the watchdog (watchdog.h): a hanging test is ended, named and fails. hang.c has the hanging tests, in its own
 * program with a short timeout. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* Captures the output, truncated. The hanging program ends after a minute if the watchdog fails. */
static int run_hanging(const char *test, const char *seconds, char *said, size_t room)
{
    char   command[512];
    size_t used = 0;

    (void) snprintf(command, sizeof command,
                    "env -u BXFI_MAP ORDO_TEST_WATCHDOG=%s timeout -k 1 120 '%s' --filter 'hang/%s' --jobs 1 2>&1",
                    seconds, TEST_HANG, test);
    FILE *from = popen(command, "r"); // NOLINT(cert-env33-c): the shell joins the two outputs
    cr_assert(from != NULL, "%s", command);
    for (size_t got; used + 1 < room && (got = fread(said + used, 1, room - 1 - used, from)) > 0;)
        used += got;
    said[used] = 0;
    const int status = pclose(from);
    cr_assert(WIFEXITED(status), "%s ended by a signal: %s", command, said);
    return WEXITSTATUS(status);
}

/* Part of the report on the waiting thread. */
#ifdef __GLIBC__
#define WHERE "libc.so.6(pause"
#else
#define WHERE "watchdog"
#endif

/* Runs the hanging test, which must fail in time with each of these texts in its output. */
static void expect_ended(const char *test, const char *seconds, const char *const *texts)
{
    static char said[65536];
    const int   status = run_hanging(test, seconds, said, sizeof said);

    cr_expect(status != 0 && status != 124 && status != 137, "hang/%s: status %d: %s", test, status, said);
    for (size_t i = 0; texts[i]; i++)
        cr_expect(strstr(said, texts[i]), "hang/%s: '%s' is not in: %s", test, texts[i], said);
}

Test(hangs, on_the_host_are_ended_and_named)
{
    expect_ended("on_the_host", "8",
                 (const char *const[]) { "watchdog: hang/on_the_host hangs: no sign of life for 8 s",
                                         "trying: a lock that is never released", "mask local=16384",
                                         "device: ", "seed:   ORDO_TEST_SEED=77", WHERE, NULL });
}

Test(hangs, on_the_device_are_ended_and_named)
{
    expect_ended("on_the_device", "8",
                 (const char *const[]) { "watchdog: hang/on_the_device hangs", "trying: a word that stays 0", NULL });
}

Test(hangs, before_the_first_trial_are_ended_and_named)
{
    expect_ended("at_once", "2",
                 (const char *const[]) { "watchdog: hang/at_once hangs", "trying: (nothing yet)", NULL });
}

Test(hangs, are_not_reported_with_progress)
{
    static char said[65536];
    const int   status = run_hanging("not_at_all", "2", said, sizeof said);

    cr_expect(status == 0, "status %d: %s", status, said);
    cr_expect(strstr(said, "watchdog") == NULL, "%s", said);
}
