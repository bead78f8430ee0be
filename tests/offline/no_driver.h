/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL without a device. The program itself defines every function that the library calls on an open device, so
 * the loader's are not used. Kernels do nothing; the program is notified of each build. */
#ifndef OFFLINE_NO_DRIVER_H
#define OFFLINE_NO_DRIVER_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#include <CL/cl.h>

struct no_driver {
    /* Called for each build, whose number it returns, and for each kernel of a build. */
    size_t (*built)(const char *text, const char *options);
    void (*created)(size_t program, const char *kernel);
    /* Makes up a kernel's result: `to` has the words filled in or written before, else zeros. */
    void (*read)(cl_uint *to, size_t words);
    size_t   max_group; /* of every kernel */
    unsigned launches;  /* left; further ones fail */
};
extern struct no_driver no_driver;

cl_mem no_driver_buffer(size_t bytes);

#endif
