/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of faults share: the two places where calls fail (OpenCL and host memory), what must hold afterwards, which
 * calls are chosen, and a record of what was tried. A program that uses this is linked with --wrap of both. */
#ifndef ORDO_TESTS_FAULT_RUN_H
#define ORDO_TESTS_FAULT_RUN_H

#include "fault.h"
#include "tests/support/support.h"

/* Host memory and OpenCL, of the library and of the test. */
extern struct fault        fault_memory;
extern struct fault *const fault_opencl;

/* .init of a suite: devices that build with no threads of their own, whose calls and objects would be counted with those of the
 * call at hand, each time at another moment. */
void fault_alone(void);

/* ---- what must hold ------------------------------------------------------------------------------------------ */

/* What is wrong, in words; "" if nothing is. */
struct complaint {
    char text[400];
};

void complain(struct complaint *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether an error may end in this status; of OpenCL's calls by what they returned. */
bool fault_suits(const struct fault *f, ordo_status got);

/* What a leak changes. */
struct fault_holding {
    long               objects[FAULT_N_OBJECTS];
    long               blocks;
    struct ordo_memory memory;
};
/* As it is now, with nothing under way and no scratch. */
struct fault_holding fault_holding(struct test *t);
void fault_check_leaks(struct complaint *c, const struct fault_holding *was, const struct fault_holding *is);

/* ---- which calls fail ---------------------------------------------------------------------------------------- */

/* ORDO_TEST_FAULTS=all */
bool fault_every_call(void);
/* Whether call `n` of those that were counted is to fail, in a sample of about `few`. Calls that set arguments of kernels are
 * most of all, and count for less. */
bool fault_chosen(struct test *t, const struct fault *f, unsigned long n, unsigned long few);
/* Counts a run with a fault, and tells what was wrong with it. */
void fault_note(struct test *t, const struct fault *f, const struct fault *plan, ordo_status got,
                const struct complaint *c);
/* Tells what was tried since the last time; fails if something was wrong, if there were runs without a call that failed, or
 * less than `least` that ended in an error. */
void fault_show(struct test *t, const char *what, unsigned long least);

/* Removes the files of a directory. */
void fault_empty(const char *path);

#endif
