/* SPDX-License-Identifier: Apache-2.0 */
/* Faults by number: the functions that may fail count their calls, and the chosen call fails without any effect. For
 * OpenCL (fault_opencl.c) and host memory (fault_run.c). */
#ifndef ORDO_TESTS_FAULT_H
#define ORDO_TESTS_FAULT_H

#include <CL/cl.h>
#include <stdbool.h>
#include <string.h>

/* OpenCL's objects, counted by references: created, retained, released, and handed out. */
enum fault_object {
    FAULT_CONTEXTS,
    FAULT_QUEUES,
    FAULT_BUFFERS,
    FAULT_PROGRAMS,
    FAULT_KERNELS,
    FAULT_EVENTS,
    FAULT_N_OBJECTS
};

enum { FAULT_LOG = 1 << 14 };

struct fault {
    /* set by the test */
    bool          armed;   /* calls count */
    bool          lasting; /* all calls from number `at` on fail */
    unsigned long at;      /* the number of the call that fails, from 1; 0: none */
    cl_int        code;    /* returned code; 0: a code that suits the call */
    const char   *only;    /* only calls whose names begin with this count and fail; NULL: all */
    /* results */
    unsigned long calls, struck; /* since armed; `struck` of them failed */
    const char   *what;          /* the first call that failed; NULL: none */
    cl_int        given;         /* with this code */
    long          live[FAULT_N_OBJECTS];
    const char   *log[FAULT_LOG]; /* the first calls since armed, by name */
};

/* Whether this call fails. */
static inline bool fault_strikes(struct fault *f, const char *what, cl_int suits)
{
    if (!f->armed || (f->only && strncmp(what, f->only, strlen(f->only)) != 0))
        return false;
    if (f->calls < FAULT_LOG)
        f->log[f->calls] = what;
    f->calls++;
    if (f->at == 0 || f->calls < f->at || (f->calls > f->at && !f->lasting))
        return false;
    if (f->struck++ == 0) {
        f->what = what;
        f->given = f->code ? f->code : suits;
    }
    return true;
}

static inline void fault_arm(struct fault *f, unsigned long at, cl_int code, bool lasting)
{
    f->at = at;
    f->code = code;
    f->lasting = lasting;
    f->calls = f->struck = 0;
    f->what = NULL;
    f->given = 0;
    f->armed = true;
}

#endif
