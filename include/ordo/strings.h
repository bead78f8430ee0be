/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of strings of any bytes: sorting their rows, and an index for searches. It is also an
 * ordered dictionary that maps strings to ids and back. share/doc/strings.md describes both.
 *
 * Example: sorts the rows of a column in host memory, and replaces its strings by ids.
 *
 *     const uint32_t offsets[] = { 0, 2, 2, 5 };
 *     struct ordo_host_strings column = { .offsets = offsets, .offset_bytes = 4, .bytes = "hiabc",
 *                                         .n_bytes = 5, .count = 3 };
 *     uint32_t rows[3]; // becomes { 1, 2, 0 }: "", "abc", "hi"
 *     ordo_sort_strings_host(dev, ordo_sort_strings_params(.descending = false), &column, rows,
 *                            NULL);
 *
 *     ordo_string_index *index = NULL;
 *     uint32_t           ids[3]; // becomes { 2, 0, 1 }
 *     ordo_string_index_build_host(dev, ordo_string_index_params(.sorted = false), &column,
 *                                  &index);
 *     ordo_string_index_search_host(index, ORDO_STRING_FIND, &column, ids);
 *     ordo_string_index_destroy(&index); */
#ifndef ORDO_STRINGS_H
#define ORDO_STRINGS_H

#include "array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A column of strings in device memory, in the layout of Arrow's Binary (offset_bytes is 4) and
 * LargeBinary (8). String i has bytes offsets[i] to offsets[i + 1] - 1 of `bytes`. Strings may have
 * any length, and any bytes, also NUL. Offsets need not begin with 0, and the last one need not be
 * n_bytes, so a slice of a column is a column. A column without rows needs no arrays, and one
 * without bytes needs only offsets. */
struct ordo_strings {
    struct ordo_slice offsets; /* count + 1 unsigned integers, which do not descend */
    uint32_t          offset_bytes;
    struct ordo_slice bytes;
    size_t            n_bytes; /* maximum value of an offset */
    size_t            count;
};

/* A column of strings in host memory. */
struct ordo_host_strings {
    const void *offsets;
    uint32_t    offset_bytes;
    const void *bytes;
    size_t      n_bytes;
    size_t      count;
};

struct ordo_sort_strings_params {
    bool descending; /* Even if true, equal strings keep the order of the input. */
};

/* Sorts rows by their strings in memcmp order, where a string comes after its prefixes. Row
 * rows_out[0] (uint32_t) has the first string. Equal strings keep their order. equal_out[i] (one
 * byte) receives 1 if the strings of rows_out[i] and rows_out[i - 1] are equal, otherwise 0. It may
 * be ordo_none().
 * Cost: some reads of each string up to the byte that tells it from all others, and sorts of u64
 *   keys. Each sort orders rows that are equal so far by their next 3 to 7 bytes, after skipping
 *   the bytes that they share.
 * Memory: 64 bytes per row, plus 2 % of that, plus 4 MiB.
 * Blocking: waits for the device several times.
 * Errors: ORDO_INVALID if offsets descend or exceed n_bytes. The message names the first such row.
 *   Nothing is read outside of the arrays, and the outputs stay unchanged. */
ORDO_API ordo_status ordo_sort_strings(ordo_device                           *device,
                                       const struct ordo_sort_strings_params *params,
                                       const struct ordo_strings             *column,
                                       struct ordo_slice rows_out, struct ordo_slice equal_out,
                                       const struct ordo_order *order);
ORDO_API ordo_status ordo_sort_strings_host(ordo_device                           *device,
                                            const struct ordo_sort_strings_params *params,
                                            const struct ordo_host_strings        *column,
                                            uint32_t *rows_out, uint8_t *equal_out);

/* ---- index ---------------------------------------------------------------------------------- */

/* A search index of the distinct strings of a column. The id of a string is its rank: the number of
 * lesser strings in the column. So ids have the order of their strings, and a column of ids can
 * replace the strings. A search compares the query with one string of the column, never more.
 *
 * A query whose offsets descend or exceed n_bytes is not read. Its results are ORDO_NO_ID, or 0 for
 * a count. Calls that end in _host refuse it.
 * Memory: 4.6 to 5.5 bytes per id for most columns, and 24 in the worst case, where almost every
 *   string is a prefix of the next. Also 4 bytes per id, unless the column was sorted and has no
 *   equal strings. If keep_rows is set and the column was not sorted, also 4 bytes per row.
 * Concurrency: any number of threads may search. No call may use the index while it is
 *   destroyed. Commands enqueued before may still run, and the device may already be closed. */
typedef struct ordo_string_index ordo_string_index;

/* In place of an id where there is none. */
#define ORDO_NO_ID UINT32_MAX

struct ordo_string_index_params {
    bool sorted;    /* Set to true if the column is sorted. It may contain equal strings. */
    bool keep_rows; /* If true, ordo_string_index_rows returns all rows of each string. */
};

/* Builds an index of a column. The column must stay in place and unchanged while the index exists.
 * Calls on the same queue may use *out immediately. Calls on another queue must wait for
 * order->done. ordo_string_index_build_host copies the column to the device.
 * Cost: a sort unless `sorted`, then one read of neighbouring strings up to their first difference.
 * Memory: 24 bytes of scratch per row. The sort, if there is one, takes 64 bytes per row.
 * Blocking: waits for the device several times.
 * Errors: ORDO_INVALID if offsets descend or exceed n_bytes, or if the column is not sorted but
 *   should be. The message names the row. ORDO_TOO_LARGE if two different strings begin with the
 *   same 2^28 bytes. */
ORDO_API ordo_status ordo_string_index_build(ordo_device                           *device,
                                             const struct ordo_string_index_params *params,
                                             const struct ordo_strings             *column,
                                             const struct ordo_order               *order,
                                             ordo_string_index                    **out);
ORDO_API ordo_status ordo_string_index_build_host(ordo_device                           *device,
                                                  const struct ordo_string_index_params *params,
                                                  const struct ordo_host_strings        *column,
                                                  ordo_string_index                    **out);
ORDO_API void        ordo_string_index_destroy(ordo_string_index **index);

struct ordo_string_index_statistics {
    size_t   ids;      /* number of distinct strings */
    size_t   rows;     /* number of rows of the column */
    size_t   bytes;    /* memory of the index, without the column */
    uint32_t levels;   /* number of levels of nodes with up to 16 entries */
    size_t   branches; /* number of nodes above these levels, with two entries each */
};

ORDO_API ordo_status ordo_string_index_get_statistics(const ordo_string_index             *index,
                                                      struct ordo_string_index_statistics *out);

/* The result of a search for query q. */
typedef enum ordo_string_search {
    ORDO_STRING_FIND = 0,  /* id of q */
    ORDO_STRING_LT = 1,    /* id of the greatest string < q */
    ORDO_STRING_LE = 2,    /* id of the greatest string <= q */
    ORDO_STRING_GE = 3,    /* id of the least string >= q */
    ORDO_STRING_GT = 4,    /* id of the least string > q */
    ORDO_STRING_LOWER = 5, /* number of strings < q */
    ORDO_STRING_UPPER = 6, /* number of strings <= q */
    /* id of the longest string that is a prefix of q, or equal to q */
    ORDO_STRING_LONGEST_PREFIX = 7,
} ordo_string_search;

/* Searches for each query. ids[i] (uint32_t) receives the id or number that `search` selects. If
 * there is no such string, it receives ORDO_NO_ID. To replace the strings of a column by ids,
 * search for all of them with ORDO_STRING_FIND.
 * Cost: one read of the query, of one string, and of about 64 bytes per level of the index. If the
 *   query is not in the column, searches other than ORDO_STRING_FIND read the levels twice.
 * Memory: none. */
ORDO_API ordo_status ordo_string_index_search(const ordo_string_index   *index,
                                              ordo_string_search         search,
                                              const struct ordo_strings *queries,
                                              struct ordo_slice          ids,
                                              const struct ordo_order   *order);
ORDO_API ordo_status ordo_string_index_search_host(const ordo_string_index        *index,
                                                   ordo_string_search              search,
                                                   const struct ordo_host_strings *queries,
                                                   uint32_t                       *ids);

/* Finds for each prefix all strings that begin with it: those with ids from first[i] to first[i] +
 * counts[i] - 1 (both uint32_t). If there are none, counts[i] is 0, and first[i] is the number of
 * strings less than the prefix. Either output may be ordo_none().
 * Cost: as ordo_string_index_search, but always reads the levels of the index twice. */
ORDO_API ordo_status ordo_string_index_prefix(const ordo_string_index   *index,
                                              const struct ordo_strings *prefixes,
                                              struct ordo_slice first, struct ordo_slice counts,
                                              const struct ordo_order *order);
ORDO_API ordo_status ordo_string_index_prefix_host(const ordo_string_index        *index,
                                                   const struct ordo_host_strings *prefixes,
                                                   uint32_t *first, uint32_t *counts);

/* Finds all strings from string i of `lo` to string i of `hi`, both included. Outputs are as for
 * ordo_string_index_prefix. If lo > hi, counts[i] is 0.
 * Cost: two searches per range.
 * Errors: ORDO_INVALID if lo and hi have different counts. */
ORDO_API ordo_status ordo_string_index_range(const ordo_string_index   *index,
                                             const struct ordo_strings *lo,
                                             const struct ordo_strings *hi, struct ordo_slice first,
                                             struct ordo_slice        counts,
                                             const struct ordo_order *order);
ORDO_API ordo_status ordo_string_index_range_host(const ordo_string_index        *index,
                                                  const struct ordo_host_strings *lo,
                                                  const struct ordo_host_strings *hi,
                                                  uint32_t *first, uint32_t *counts);

/* Returns the rows of the column in the order of their strings. String `id` is in rows[k]
 * (uint32_t) for k from starts[id] to starts[id + 1] - 1, in ascending order. `starts` receives a
 * uint32_t per id and one more. Unless the index keeps rows, it knows only the first row of each
 * string. Either output may be ordo_none().
 * Cost: one read and one write of each number.
 * Memory: none.
 * Errors: ORDO_TOO_SMALL if `rows` is given and `capacity`, its number of rows, does not suffice.
 *   The message states the number needed: `rows` of the statistics if the index keeps rows,
 *   otherwise `ids`. */
ORDO_API ordo_status ordo_string_index_rows(const ordo_string_index *index,
                                            struct ordo_slice starts, struct ordo_slice rows,
                                            size_t capacity, const struct ordo_order *order);
ORDO_API ordo_status ordo_string_index_rows_host(const ordo_string_index *index, uint32_t *starts,
                                                 uint32_t *rows, size_t capacity);

/* Returns the strings with the given ids (uint32_t) as a column: `offsets` receives count + 1
 * numbers (uint64_t), the first is 0. *needed (may be NULL) receives the number of bytes of all.
 * Cost: one read and one write of the strings.
 * Memory: none.
 * Blocking: waits for the number of bytes.
 * Errors: ORDO_INVALID if an id is out of range. ORDO_TOO_SMALL if there are more than `capacity`
 *   bytes. `bytes` is unchanged then. */
ORDO_API ordo_status ordo_string_index_strings(const ordo_string_index *index,
                                               struct ordo_slice ids, size_t count,
                                               struct ordo_slice offsets, struct ordo_slice bytes,
                                               size_t capacity, size_t *needed,
                                               const struct ordo_order *order);
ORDO_API ordo_status ordo_string_index_strings_host(const ordo_string_index *index,
                                                    const uint32_t *ids, size_t count,
                                                    uint64_t *offsets, void *bytes, size_t capacity,
                                                    size_t *needed);

/* See ordo.h. */
#ifndef __cplusplus
#define ordo_string_index_params(...) (&(struct ordo_string_index_params) { __VA_ARGS__ })
#define ordo_sort_strings_params(...) (&(struct ordo_sort_strings_params) { __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif

#endif
