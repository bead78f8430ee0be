/* SPDX-License-Identifier: Apache-2.0 */
/* cl/embed.py writes this list of the kernel sources that are embedded in the library. */
#ifndef ORDO_CL_FILES_H
#define ORDO_CL_FILES_H

#include <stddef.h>

struct ordo_cl_file {
    const char *path;
    const char *text;
    size_t      bytes;
    const char *together; /* Each line lists the kernels of one program: " sort_histogram sort_onesweep \n". */
};
extern const struct ordo_cl_file ordo_cl_files[];
extern const size_t              ordo_n_cl_files;

#endif
