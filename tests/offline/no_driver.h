/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL without a device: every function that the library calls once it is open, defined in the program itself and so
 * taken instead of the loader's. Kernels do nothing; what is built is told. */
#ifndef OFFLINE_NO_DRIVER_H
#define OFFLINE_NO_DRIVER_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#include <CL/cl.h>

struct no_driver {
    /* Told of each build, which gets a number, and of each kernel made of it. */
    size_t (*built)(const char *text, const char *options);
    void (*created)(size_t program, const char *kernel);
    /* Makes up what a kernel may have written: `to` holds what was filled in or written, else zeros. */
    void (*read)(cl_uint *to, size_t words);
    size_t   max_group; /* of every kernel */
    unsigned launches;  /* left; then they fail */
};
extern struct no_driver no_driver;

cl_mem no_driver_buffer(size_t bytes);

#endif
