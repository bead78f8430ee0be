/* SPDX-License-Identifier: Apache-2.0 */
/* A test that hangs is ended, and says what it was at. Every test program of Criterion's has this in it: a thread that looks
 * for signs of life, which the beginning of a test is, and each test_context and device of support.h. After
 * ORDO_TEST_WATCHDOG seconds without one (600 unless set; 0: never) it prints the test's name, what was being tried, the
 * device, the mask, the seed and, with glibc, where each thread is, and aborts the process: Criterion reports a crash, and
 * goes on with the next test. */
#ifndef ORDO_TESTS_WATCHDOG_H
#define ORDO_TESTS_WATCHDOG_H

#include <stdint.h>

/* A sign of life. Texts are copied, and cut to fit; "" where there is nothing to say. */
void watchdog_note(const char *trying, const char *device, const char *mask, uint64_t seed);

#endif
