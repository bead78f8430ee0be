/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by tests of faults: calls of OpenCL and of host memory that fail, checks afterwards, the choice of calls, and
 * a record. A program that uses this is linked with --wrap of both. */
#ifndef ORDO_TESTS_FAULT_RUN_H
#define ORDO_TESTS_FAULT_RUN_H

#include "fault.h"
#include "tests/support/support.h"

/* Host memory and OpenCL, for the library and the test. */
extern struct fault        fault_memory;
extern struct fault *const fault_opencl;

/* The .init of a suite: devices without build threads, because their calls and objects would be counted at random
 * moments. */
void fault_alone(void);

/* ---- checks ------------------------------------------------------------------------------------------------------ */

/* The first error found, or "". */
struct complaint {
    char text[400];
};

void complain(struct complaint *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether this status suits the fault and the code that OpenCL returned. */
bool fault_suits(const struct fault *f, ordo_status got);

/* Numbers that a leak changes. */
struct fault_holding {
    long               objects[FAULT_N_OBJECTS];
    long               blocks;
    struct ordo_memory memory;
};
/* The numbers now, without running commands and scratch. */
struct fault_holding fault_holding(struct test *t);
void fault_check_leaks(struct complaint *c, const struct fault_holding *was, const struct fault_holding *is);

/* ---- which calls fail -------------------------------------------------------------------------------------------- */

/* ORDO_TEST_FAULTS=all */
bool fault_every_call(void);
/* Whether call `n` fails, in a sample of about `few`. Calls that set arguments of kernels are most frequent, and count
 * less. */
bool fault_chosen(struct test *t, const struct fault *f, unsigned long n, unsigned long few);
/* Counts a run with a fault, and reports an error in it. */
void fault_note(struct test *t, const struct fault *f, const struct fault *plan, ordo_status got,
                const struct complaint *c);
/* Reports the runs since the last time. Fails after an error in a run, if no call failed, or if of a hundred runs
 * fewer than ten ended in an error. */
void fault_show(struct test *t, const char *what);

/* Removes the files of a directory. */
void fault_empty(const char *path);

#endif
