/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of baselines that run on the device beside Ordo's (lockfree.h, cuckoo.h): a program of source lines, launches, buffers. */
#ifndef BENCH_BASELINE_KERNELS_H
#define BENCH_BASELINE_KERNELS_H

#include "ordo/ordo.h"

#include <stdbool.h>

#define BASELINE_TRY(expr)                                                                                             \
    do {                                                                                                               \
        const ordo_status try_ = (expr);                                                                               \
        if (try_ != ORDO_OK)                                                                                           \
            return try_;                                                                                               \
    } while (0)
#define BASELINE_TRY_CL(expr)                                                                                          \
    do {                                                                                                               \
        if ((expr) != CL_SUCCESS)                                                                                      \
            return ORDO_OPENCL;                                                                                        \
    } while (0)

enum { BASELINE_KERNELS_MOST = 4 };

struct baseline_kernels {
    ordo_device *device;
    cl_program   program;
    cl_kernel    kernels[BASELINE_KERNELS_MOST];
    size_t       group; /* work-items: as many as was asked for, or as all kernels can */
};

/* What is made of them: source lines up to NULL, names up to NULL. After an error `why` says what failed, and
 * baseline_kernels_free is still to be called. */
struct baseline_source {
    const char        *name; /* for messages */
    const char *const *lines, *const *names;
    const char *options;
    size_t      group;
};
ordo_status baseline_kernels_make(struct baseline_kernels *out, ordo_device *device,
                                  const struct baseline_source *source, char *why, size_t why_bytes);
void        baseline_kernels_free(struct baseline_kernels *kernels);

ordo_status baseline_buffer(const struct baseline_kernels *kernels, size_t bytes, cl_mem *out);

struct baseline_argument {
    const void *at;
    size_t      bytes;
};
#define BASELINE_ARGUMENT(x)                                                                                           \
    {                                                                                                                  \
        &(x), sizeof(x)                                                                                                \
    }
/* A launch of so many work-items at least, from `first` on; `done` may be NULL. */
ordo_status baseline_enqueue(const struct baseline_kernels *kernels, int kernel,
                             const struct baseline_argument *arguments, size_t n, size_t first, size_t items,
                             cl_command_queue queue, cl_event *done);
#define BASELINE_ENQUEUE(kernels, kernel, arguments, first, items, queue, done)                                        \
    baseline_enqueue(kernels, kernel, arguments, sizeof(arguments) / sizeof *(arguments), first, items, queue, done)

/* The queue of a call, after what it is to wait for. */
ordo_status baseline_begin(const struct baseline_kernels *kernels, const struct ordo_order *order,
                           cl_command_queue *queue);

#endif
