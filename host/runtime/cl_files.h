/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel sources that are embedded in the library. cl/embed.py writes them. */
#ifndef ORDO_CL_FILES_H
#define ORDO_CL_FILES_H

#include <stddef.h>

struct ordo_cl_file {
    const char *path; /* relative to cl/: "primitive/scan.cl" */
    const char *text;
    size_t      bytes;
    const char *together; /* Each line lists the kernels of one program: " sort_histogram sort_onesweep \n". */
};
extern const struct ordo_cl_file ordo_cl_files[];
extern const size_t              ordo_n_cl_files;

#endif
