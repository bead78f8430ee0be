/* SPDX-License-Identifier: Apache-2.0 */
/* Child processes of the tools. Needs no device. */
#include "bench/common/child.h"

#include <criterion/criterion.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

static const char *said_by_shell(const char *command, const char *const *environment)
{
    static struct child_outcome outcome;
    const char *const           arguments[] = { "sh", "-c", command, NULL };
    child_run(&(struct child) { "/bin/sh", arguments, environment, 60 }, &outcome);
    cr_expect_str_eq(outcome.problem, "gave no answer");
    cJSON_Delete(outcome.answer);
    return outcome.said;
}

/* Some OpenCL loaders split a list of drivers in place, so a second process would get only the first driver. */
Test(child, gets_the_environment_that_was_kept)
{
    static const char *const added[] = { "ORDO_TEST_ADDED=new", NULL };
    cr_assert(setenv("ORDO_TEST_LIST", "one:two", 1) == 0 && setenv("ORDO_TEST_ADDED", "old", 1) == 0);
    child_keep_environment();
    char *const list = getenv("ORDO_TEST_LIST");
    cr_assert(list && strlen(list) > 3);
    list[3] = 0;
    cr_expect_str_eq(said_by_shell("echo $ORDO_TEST_LIST $ORDO_TEST_ADDED", NULL), "one:two old");
    cr_expect_str_eq(said_by_shell("echo $ORDO_TEST_LIST $ORDO_TEST_ADDED", added), "one:two new");
}

/* Fills fresh memory with digits, which are valid JSON. A child without an answer must not appear to give one. The
 * allocator of a sanitizer ignores M_PERTURB and fills memory with another byte. */
Test(child, says_nothing_of_its_own)
{
#ifdef M_PERTURB
    (void) mallopt(M_PERTURB, 0xff ^ '8');
#endif
    cr_expect_str_eq(said_by_shell("echo one", NULL), "one");
}

Test(child, that_fails_is_an_outcome)
{
    const char *const    fails[] = { "sh", "-c", "echo why; exit 3", NULL };
    const char *const    hangs[] = { "sh", "-c", "exec sleep 60", NULL };
    struct child_outcome outcome;
    child_run(&(struct child) { "/bin/sh", fails, NULL, 60 }, &outcome);
    cr_expect_str_eq(outcome.problem, "ended with status 3");
    cr_expect_str_eq(outcome.said, "why");
    child_run(&(struct child) { "/bin/sh", hangs, NULL, 0.2 }, &outcome);
    cr_expect_str_eq(outcome.problem, "timed out after 0.2 s");
    child_run(&(struct child) { "/nowhere/to/be/found", fails, NULL, 60 }, &outcome);
    cr_expect(strncmp(outcome.problem, "did not start", 13) == 0);
}
