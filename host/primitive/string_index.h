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
    cl_mem              starts; /* First sorted row of each string. NULL if each string has only one row. */
    cl_mem              rows;   /* Sorted row i is row rows[i] of the column. NULL if rows[i] would be i. */
    size_t              n_rows; /* Number of sorted rows. Without keep_rows, the number of distinct strings. */
    size_t              bytes_held;
    cl_uint             levels, branches;
    bool                partial; /* `words` has the layout of cl/shared/string_partial.h. */
};

/* Creates an index that the caller fills. */
ordo_status ordo_string_index_create(ordo_device *dev, ordo_string_index **index);

/* The caller must set index->dev and index->column before, and free the buffers of *index afterwards, even after an
 * error. */
ordo_status ordo_call_build_strings(struct ordo_call *call, const struct ordo_string_index_params *params,
                                    struct ordo_string_index *index);

/* Returns ORDO_INVALID if offsets descend or exceed n_bytes. Waits for the device. */
ordo_status ordo_call_check_strings(struct ordo_call *call, const struct ordo_strings *column);

ordo_status ordo_call_search_strings(struct ordo_call *call, const ordo_string_index *index, ordo_string_search search,
                                     const struct ordo_strings *queries, struct ordo_slice ids);
/* Like ordo_call_search_strings, but first cuts query i to lengths[i] - 1 bytes. If lengths[i] (uint64_t) is 0, ids[i]
 * becomes ORDO_NO_ID. `search` must be ORDO_STRING_LOWER or ORDO_STRING_UPPER, unless `lengths` is NULL. */
ordo_status ordo_call_bound_prefixes(struct ordo_call *call, const ordo_string_index *index, ordo_string_search search,
                                     const struct ordo_strings *queries, cl_mem lengths, struct ordo_slice ids);
/* Finds the longest prefix of each query among the strings whose bit in `hidden` is 0. If the prefix of query i has n
 * bytes, lengths[i] (uint64_t) becomes n + 1, unless it already is greater. The index and the column must not be
 * empty. */
ordo_status ordo_call_longest_prefixes(struct ordo_call *call, const ordo_string_index *index,
                                       const struct ordo_strings *queries, cl_mem hidden, cl_mem lengths);
ordo_status ordo_call_prefix_strings(struct ordo_call *call, const ordo_string_index *index,
                                     const struct ordo_strings *prefixes, struct ordo_slice first,
                                     struct ordo_slice counts);
ordo_status ordo_call_range_strings(struct ordo_call *call, const ordo_string_index *index,
                                    const struct ordo_strings *lo, const struct ordo_strings *hi,
                                    struct ordo_slice first, struct ordo_slice counts);

/* The column must not be empty. Entry i of *tests becomes the first position where strings i and i + 1 differ. The call
 * owns *tests. */
ordo_status ordo_call_number_strings(struct ordo_call *call, const struct ordo_string_index_params *params,
                                     struct ordo_string_index *index, cl_mem *tests);

/* Builds an index of partial keys. The caller has the same duties as for ordo_call_build_strings. */
ordo_status ordo_call_build_partial(struct ordo_call *call, const struct ordo_string_index_params *params,
                                    struct ordo_string_index *index);
ordo_status ordo_check_partial(ordo_device *dev, const struct ordo_string_partial *params);
/* Searches an index of partial keys for each of its strings. Sets out->candidates and out->compared to the totals of
 * these searches. Waits for the device. */
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
/* Changes a launch of `count` rows: `lanes` work-items handle one row together. `name` is the macro of this number. */
void ordo_string_share(struct ordo_launch *launch, const char *name, size_t lanes, size_t count);
/* Returns a launch of a kernel of string_search.cl. Compiles it for partial keys if *index has them. */
struct ordo_launch ordo_string_search_kernel(const struct ordo_string_index *index, const char *kernel, size_t count);

#endif
