/* SPDX-License-Identifier: Apache-2.0 */
/* Ends hanging tests. Each Criterion program has this thread, which watches for reports of progress: the start of a
 * test, test_context, and each device of support.h. After ORDO_TEST_WATCHDOG seconds without one (600 by default; 0:
 * never) it prints the test's name, context, device, mask and seed, with glibc also the place of each thread, and
 * aborts the process. Criterion reports a crash and continues with the next test. */
#ifndef ORDO_TESTS_WATCHDOG_H
#define ORDO_TESTS_WATCHDOG_H

#include <stdint.h>

/* Reports progress. Copies and truncates the texts; "" for none. */
void watchdog_note(const char *trying, const char *device, const char *mask, uint64_t seed);

#endif
