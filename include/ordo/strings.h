/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts columns of strings of any bytes, and builds indexes of them. An index maps strings to ids
 * and back. share/doc/strings.md describes both.
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

/* A column of `count` strings in device memory. The layout is Arrow's Binary if offset_bytes is 4,
 * and LargeBinary if offset_bytes is 8. String i is bytes offsets[i] to offsets[i + 1] - 1 of
 * `bytes`. There are count + 1 offsets, which must not descend. Strings may have any length, and
 * any bytes, also NUL. A part of a column is also a column: the first offset need not be 0, and the
 * last need not be n_bytes. A column without rows needs no arrays. A column of empty strings needs
 * only offsets. */
struct ordo_strings {
    struct ordo_slice offsets;
    uint32_t          offset_bytes;
    struct ordo_slice bytes;
    size_t            n_bytes; /* No offset may exceed it. */
    size_t            count;
};

struct ordo_host_strings {
    const void *offsets;
    uint32_t    offset_bytes;
    const void *bytes;
    size_t      n_bytes;
    size_t      count;
};

struct ordo_sort_strings_params {
    bool descending;
};

/* Sorts rows by their strings in memcmp order. A string comes after its prefixes. rows_out
 * (uint32_t) receives the row numbers in sorted order. Equal strings keep their order, also if
 * `descending`. equal_out[i] (a byte, optional) receives 1 if rows rows_out[i] and rows_out[i - 1]
 * have equal strings, else 0.
 * Cost: some sorts of 64-bit keys. Each string is read until it differs from all others.
 * Memory: 65.3 bytes per row, plus 4 MiB.
 * Blocking: yes.
 * Errors: ORDO_INVALID if offsets descend or exceed n_bytes. */
ORDO_API ordo_status ordo_sort_strings(ordo_device                           *device,
                                       const struct ordo_sort_strings_params *params,
                                       const struct ordo_strings             *column,
                                       struct ordo_slice rows_out, struct ordo_slice equal_out,
                                       const struct ordo_order *order);
ORDO_API ordo_status ordo_sort_strings_host(ordo_device                           *device,
                                            const struct ordo_sort_strings_params *params,
                                            const struct ordo_host_strings        *column,
                                            uint32_t *rows_out, uint8_t *equal_out);

/* Copies string rows[i] (uint32_t) of the column to row i of the result, for all i < count. With
 * the rows of ordo_sort_strings, the result is the sorted column. `offsets_out` receives count + 1
 * numbers (uint64_t), and the first is 0. *needed (may be NULL) receives the number of bytes.
 * Cost: one read of all offsets. One read and one write of the strings.
 * Memory: none.
 * Blocking: yes.
 * Errors: ORDO_INVALID if a row is out of range, or offsets descend or exceed n_bytes.
 *   ORDO_TOO_SMALL if there are more than `capacity` bytes. `bytes_out` is unchanged then. */
ORDO_API ordo_status ordo_gather_strings(ordo_device *device, const struct ordo_strings *column,
                                         struct ordo_slice rows, size_t count,
                                         struct ordo_slice offsets_out, struct ordo_slice bytes_out,
                                         size_t capacity, size_t *needed,
                                         const struct ordo_order *order);
ORDO_API ordo_status ordo_gather_strings_host(ordo_device                    *device,
                                              const struct ordo_host_strings *column,
                                              const uint32_t *rows, size_t count,
                                              uint64_t *offsets_out, void *bytes_out,
                                              size_t capacity, size_t *needed);

/* ---- index ---------------------------------------------------------------------------------- */

/* A search index of the distinct strings of a column. The id of a string is the number of distinct
 * lesser strings in the column. So ids have the order of their strings, and can replace them.
 *
 * If the offsets of a query descend or exceed n_bytes, its result is ORDO_NO_ID, or 0 for a count.
 * _host calls return ORDO_INVALID.
 * Memory: 4.6 to 5.5 bytes per id for most columns, at most 24. An index of partial keys
 *   (ordo_string_partial) instead takes key_bytes bytes per id. Each of its pages also takes
 *   32 * key_bytes / nibble_bits bytes, unless `prefix` is ORDO_NO_PREFIX. If the column was
 *   unsorted or has equal strings, an index takes 4 more bytes per id. It takes 4 more bytes per
 *   row if the column was unsorted and keep_rows is set.
 * Concurrency: as for ordo_index (array.h). */
typedef struct ordo_string_index ordo_string_index;

#define ORDO_NO_ID UINT32_MAX

/* A string is a sequence of bit groups, each of nibble_bits bits. A partial key has only some bit
 * groups of a string. Neighbouring partial keys form pages, and pages form a tree. The strings of a
 * page are the strings of its partial keys, and of all pages below it in the tree. An
 * ordo_string_prefix says which bit groups the partial keys of a page omit. */
typedef enum ordo_string_prefix {
    ORDO_NONCONTIGUOUS_PREFIX = 0, /* omit bit groups that are equal in all strings of a page */
    ORDO_CONTIGUOUS_PREFIX = 1,    /* omit only the common prefix of all strings of a page */
    ORDO_NO_PREFIX = 2,            /* omit none: partial keys are the first bytes of strings */
} ordo_string_prefix;

/* Parameters of an index of partial keys (Kim et al., FAST, TODS 2011, section 7.1). Partial keys
 * do not change results. Searches are slow if many partial keys are equal. */
struct ordo_string_partial {
    uint32_t           key_bytes;   /* bytes per partial key: 0 (none) or 4, 8, ..., 128 */
    uint32_t           page_keys;   /* partial keys per page: 4 to 65536. 0 means 1023 */
    uint32_t           nibble_bits; /* bits per bit group of a string: 1, 2, 4 or 8. 0 means 4 */
    ordo_string_prefix prefix;
};

struct ordo_string_index_params {
    bool sorted;    /* the strings of the column do not descend */
    bool keep_rows; /* lets ordo_string_index_rows return all rows of equal strings */
    struct ordo_string_partial partial; /* If key_bytes is 0, the index is a binary trie. */
};

/* Builds an index of a column. The column of ordo_string_index_build must stay in place and
 * unchanged while the index exists. ordo_string_index_build_host copies its column.
 * Cost: an ordo_sort_strings if `sorted` is false. Then one read of neighbouring strings up to
 *   their first difference.
 * Memory: scratch of 24 bytes per row, or 64 with a sort. Each page of partial keys takes 272 more
 *   bytes.
 * Blocking: yes, but the last commands may still run when the call returns. So calls on another
 *   queue must wait for order->done before they use *out.
 * Errors: ORDO_INVALID if offsets descend or exceed n_bytes, or the column is unsorted despite
 *   `sorted`. ORDO_TOO_LARGE if two strings, also equal ones, share almost 2^28 bytes. */
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
    size_t   ids;
    size_t   rows;
    size_t   bytes;    /* device memory of the index, without the column */
    uint32_t levels;   /* levels of pages, or of nodes if there are no partial keys */
    size_t   branches; /* nodes that have two entries */
    /* Each string of the index is searched once. These are sums over all these searches: */
    uint64_t candidates; /* partial keys that equal the string's partial key */
    uint64_t compared;   /* strings that the search compares with the string */
};

/* Returns the statistics. With partial keys, searches for each string to compute `candidates` and
 * `compared`. Without partial keys both equal `ids`.
 * Cost: with partial keys, a search for each string.
 * Memory: with partial keys, scratch of 16 bytes per id.
 * Blocking: yes, if the index has partial keys. */
ORDO_API ordo_status ordo_string_index_get_statistics(const ordo_string_index             *index,
                                                      struct ordo_string_index_statistics *out);

/* The result of a search for query q among the distinct strings of the column.
 *   FIND             id of the string that equals q
 *   LT, LE           id of the greatest string < q, or <= q
 *   GE, GT           id of the least string >= q, or > q
 *   LOWER, UPPER     number of strings < q, or <= q
 *   LONGEST_PREFIX   id of the longest string that is a prefix of q or equals q */
typedef enum ordo_string_search {
    ORDO_STRING_FIND = 0,
    ORDO_STRING_LT = 1,
    ORDO_STRING_LE = 2,
    ORDO_STRING_GE = 3,
    ORDO_STRING_GT = 4,
    ORDO_STRING_LOWER = 5,
    ORDO_STRING_UPPER = 6,
    ORDO_STRING_LONGEST_PREFIX = 7,
} ordo_string_search;

/* Searches for each query. ids[i] (uint32_t) receives the result for query i, as listed at
 * ordo_string_search, or ORDO_NO_ID if there is no such string.
 * Cost: per query, one read of the query, of one string, and of about 64 bytes per level of the
 *   index.
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

/* Finds for prefix i all strings that begin with it. Their ids are first[i] to first[i] + counts[i]
 * - 1 (uint32_t). If no string begins with the prefix, counts[i] is 0, and first[i] is the number
 * of strings less than the prefix. Both outputs are optional.
 * Cost: as ordo_string_index_search, but each query reads the levels of the index twice. */
ORDO_API ordo_status ordo_string_index_prefix(const ordo_string_index   *index,
                                              const struct ordo_strings *prefixes,
                                              struct ordo_slice first, struct ordo_slice counts,
                                              const struct ordo_order *order);
ORDO_API ordo_status ordo_string_index_prefix_host(const ordo_string_index        *index,
                                                   const struct ordo_host_strings *prefixes,
                                                   uint32_t *first, uint32_t *counts);

/* Finds for each i all strings from string i of `lo` to string i of `hi`, both included. Outputs
 * are as for ordo_string_index_prefix. counts[i] is 0 if string i of `lo` exceeds string i of
 * `hi`.
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

/* Finds for query i the strings that share the most leading bytes with it. lengths[i] (uint64_t)
 * receives the number of shared bytes: from 0 to the length of the query. The ids of these strings
 * are first[i] to first[i] + counts[i] - 1 (uint32_t). If the index has no strings, lengths[i] and
 * counts[i] are 0, and first[i] is ORDO_NO_ID. All outputs are optional.
 * Cost: per query, one read of the query, of one string, and of about 64 bytes per level of the
 *   index. */
ORDO_API ordo_status ordo_string_index_common(const ordo_string_index   *index,
                                              const struct ordo_strings *queries,
                                              struct ordo_slice lengths, struct ordo_slice first,
                                              struct ordo_slice        counts,
                                              const struct ordo_order *order);
ORDO_API ordo_status ordo_string_index_common_host(const ordo_string_index        *index,
                                                   const struct ordo_host_strings *queries,
                                                   uint64_t *lengths, uint32_t *first,
                                                   uint32_t *counts);

/* Returns the rows of each string. The rows of the string with id d are elements starts[d] to
 * starts[d + 1] - 1 of `rows` (uint32_t), in ascending order. `starts` receives one uint32_t more
 * than there are ids. Without ordo_string_index_params.keep_rows, `rows` receives only the first
 * row of each string. Both outputs are optional.
 * Cost: one read and one write of each number.
 * Memory: none.
 * Errors: ORDO_TOO_SMALL if there are more than `capacity` rows to return. */
ORDO_API ordo_status ordo_string_index_rows(const ordo_string_index *index,
                                            struct ordo_slice starts, struct ordo_slice rows,
                                            size_t capacity, const struct ordo_order *order);
ORDO_API ordo_status ordo_string_index_rows_host(const ordo_string_index *index, uint32_t *starts,
                                                 uint32_t *rows, size_t capacity);

/* Returns the strings that have the ids in `ids` (uint32_t) as a column. `offsets` receives count +
 * 1 numbers (uint64_t), and offsets[0] is 0. *needed (may be NULL) receives the number of bytes.
 * Cost: one read and one write of the strings.
 * Memory: none.
 * Blocking: yes.
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

#ifndef __cplusplus
#define ordo_string_index_params(...) (&(struct ordo_string_index_params) { __VA_ARGS__ })
#define ordo_sort_strings_params(...) (&(struct ordo_sort_strings_params) { __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif

#endif
