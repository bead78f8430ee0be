/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel sources, as cl/embed.py put them into the library. */
#ifndef ORDO_CL_FILES_H
#define ORDO_CL_FILES_H

#include <stddef.h>

struct ordo_cl_file {
    const char *path; /* relative to cl/: "primitive/scan.cl" */
    const char *text; /* ends with a 0 that bytes does not count */
    size_t      bytes;
};

extern const struct ordo_cl_file ordo_cl_files[];
extern const size_t              ordo_n_cl_files;

#endif
