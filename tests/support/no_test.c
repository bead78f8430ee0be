/* SPDX-License-Identifier: Apache-2.0 */
/* Fails a test program that ran no test, because Criterion accepts a --filter without matches. */
#include <criterion/criterion.h>
#include <criterion/hooks.h>
#include <stdio.h>

/* Criterion disables the tests that the filter excludes. */
static bool any_enabled(const struct criterion_suite_stats *suite)
{
    for (; suite; suite = suite->next)
        for (const struct criterion_test_stats *test = suite->tests; test; test = test->next)
            if (!test->test->data->disabled)
                return true;
    return false;
}

ReportHook(POST_ALL)(struct criterion_global_stats *stats)
{
    if (any_enabled(stats->suites))
        return;
    (void) fprintf(stderr, "nothing was tested: no test has such a name (--list prints the names)\n");
    stats->tests_failed = 1;
}
