/* SPDX-License-Identifier: Apache-2.0 */
/* The index of a column of strings. Layout: cl/shared/string_index.h. */
#ifndef ORDO_PRIMITIVE_STRING_INDEX_H
#define ORDO_PRIMITIVE_STRING_INDEX_H

#include "primitive/strings.h"
#include "shared/string_index.h"

struct ordo_string_index {
    ordo_device        *dev;
    struct ordo_strings column;
    cl_mem              offsets, bytes; /* Copy of the column, if the index owns one. */
    size_t              ids;
    cl_mem              words;  /* string_head, levels and branches. NULL if there are no strings. */
    cl_mem              starts; /* Index among the sorted rows of each string's first row. NULL if n_rows is `ids`. */
    cl_mem              rows;   /* Row of the column at each index of the sorted rows. NULL if row i is at index i. */
    size_t              n_rows; /* Number of sorted rows. Without keep_rows, each string has one. */
    size_t              bytes_held;
    cl_uint             levels, branches;
    bool                partial; /* `words` has a partial_head and pages. */
};

/* Creates an index that the caller fills. */
ordo_status ordo_string_index_create(ordo_device *dev, ordo_string_index **index);

/* The caller must set index->dev and index->column before, and free the buffers of *index afterwards, even after an
 * error. */
ordo_status ordo_call_build_strings(struct ordo_call *call, const struct ordo_string_index_params *params,
                                    struct ordo_string_index *index);

/* Returns ORDO_INVALID if offsets descend or exceed n_bytes. The message names the first row. Waits for the device. */
ordo_status ordo_call_check_strings(struct ordo_call *call, const struct ordo_strings *column);

/* ordo_string_index_search, _prefix and _range within a call. */
ordo_status ordo_call_search_strings(struct ordo_call *call, const ordo_string_index *index, ordo_string_search search,
                                     const struct ordo_strings *queries, struct ordo_slice ids);
ordo_status ordo_call_prefix_strings(struct ordo_call *call, const ordo_string_index *index,
                                     const struct ordo_strings *prefixes, struct ordo_slice first,
                                     struct ordo_slice counts);
ordo_status ordo_call_range_strings(struct ordo_call *call, const ordo_string_index *index,
                                    const struct ordo_strings *lo, const struct ordo_strings *hi,
                                    struct ordo_slice first, struct ordo_slice counts);

/* Assigns ids to the distinct strings. tests[i] becomes the position where strings i and i + 1 differ first. The column
 * must have rows. `tests` is scratch memory of the call. */
ordo_status ordo_call_number_strings(struct ordo_call *call, const struct ordo_string_index_params *params,
                                     struct ordo_string_index *index, cl_mem *tests);

/* As ordo_call_build_strings, for params->partial. */
ordo_status ordo_call_build_partial(struct ordo_call *call, const struct ordo_string_index_params *params,
                                    struct ordo_string_index *index);
ordo_status ordo_check_partial(ordo_device *dev, const struct ordo_string_partial *params);
/* Searches for each string, and sets out->candidates and out->compared. The index must have partial keys. Waits for the
 * device. */
ordo_status ordo_partial_count(const struct ordo_string_index *index, struct ordo_string_index_statistics *out);

/* Values of kernel arguments. They must stay in place until the launch. */
struct ordo_string_args {
    cl_ulong n_bytes;
    cl_uint  wide;
};
void ordo_string_column_args(struct ordo_args *args, const struct ordo_strings *column, struct ordo_string_args *more);
void ordo_string_index_args(struct ordo_args *args, const struct ordo_string_index *index,
                            struct ordo_string_args *more);

struct ordo_launch ordo_string_kernel(const ordo_device *dev, const char *file, const char *kernel, size_t count);
/* Returns a launch of a kernel of string_search.cl, compiled for the kind of *index: with or without partial
 * keys. */
struct ordo_launch ordo_string_search_kernel(const struct ordo_string_index *index, const char *kernel, size_t count);

#endif
