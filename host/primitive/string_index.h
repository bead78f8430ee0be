/* SPDX-License-Identifier: Apache-2.0 */
/* The index of a column of strings. cl/shared/string_index.h shows its memory layout. */
#ifndef ORDO_PRIMITIVE_STRING_INDEX_H
#define ORDO_PRIMITIVE_STRING_INDEX_H

#include "primitive/strings.h"
#include "shared/string_index.h"

struct ordo_string_index {
    ordo_device        *dev;
    struct ordo_strings column;
    cl_mem              offsets, bytes; /* The column's copy, if the index owns one. */
    size_t              ids;
    cl_mem              words; /* string_head, levels and branches. NULL if there are no strings. */
    cl_mem  starts; /* starts and rows of string_index (cl/primitive/string_search.cl). Either may be NULL. */
    cl_mem  rows;
    size_t  n_rows; /* Number of rows that the index knows. */
    size_t  bytes_held;
    cl_uint levels, branches;
};

/* Builds an index. The caller must set index->dev and index->column before, and free the buffers of *index afterwards,
 * even after an error. */
ordo_status ordo_call_build_strings(struct ordo_call *call, const struct ordo_string_index_params *params,
                                    struct ordo_string_index *index);

/* Adds the arguments STRING_COLUMN_ARGS of a column. n_bytes and wide must live until the launch. */
struct ordo_string_args {
    cl_ulong n_bytes;
    cl_uint  wide;
};
void ordo_string_column_args(struct ordo_args *args, const struct ordo_strings *column, struct ordo_string_args *more);
/* Adds the arguments STRING_INDEX_ARGS. */
void ordo_string_index_args(struct ordo_args *args, const struct ordo_string_index *index,
                            struct ordo_string_args *more);

/* A kernel of primitive/string_build.cl or string_search.cl that handles `count` rows. */
struct ordo_launch ordo_string_kernel(const ordo_device *dev, const char *file, const char *kernel, size_t count);

#endif
