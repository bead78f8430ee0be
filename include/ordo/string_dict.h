/* SPDX-License-Identifier: Apache-2.0 */
/* A dictionary of strings in device memory. It maps distinct strings of any bytes to values. It has
 * sorted runs of strings, in memcmp order, with indexes. Updates merge runs as in an LSM.
 * See share/doc/string_dict.md.
 *
 * Example: counts the strings that begin with "usr/".
 *
 *     const uint32_t offsets[] = { 0, 5, 10, 14 }, values[] = { 7, 8, 9 };
 *     struct ordo_host_strings column = { .offsets = offsets, .offset_bytes = 4,
 *                                         .bytes = "usr/busr/aetc/", .n_bytes = 14, .count = 3 };
 *     const uint32_t usr[] = { 0, 4 };
 *     struct ordo_host_strings prefix = { .offsets = usr, .offset_bytes = 4, .bytes = "usr/",
 *                                         .n_bytes = 4, .count = 1 };
 *     uint32_t first, count; // become 1 and 2: "usr/a" and "usr/b" have ranks 1 and 2
 *
 *     ordo_string_dict *dict = NULL;
 *     ordo_string_dict_create(dev, ordo_string_dict_config(.value_bytes = 4), &dict);
 *     ordo_string_dict_upsert_host(dict, &column, values);
 *     ordo_string_dict_prefix_host(dict, &prefix, &first, &count);
 *     ordo_string_dict_destroy(&dict); */

/* ---- rules of all calls -------------------------------------------------------------------------
 *
 * The rules of array.h apply. Columns are as in strings.h. Also:
 *
 *   Batches     The elements of a batch have the effect of single calls in the order of their
 *               indices. An empty batch sets *needed and offsets[0] to 0, and changes nothing else.
 *               But an empty ordo_string_dict_build removes all strings.
 *   Ranks       The rank of a string is the number of lesser strings in the dictionary. Updates
 *               change ranks.
 *   Bad offsets If the offsets of a query descend or exceed n_bytes, the query has rank ORDO_NO_ID,
 *               count 0 and found 0. Updates and _host calls return ORDO_INVALID.
 *   Queues      Calls on one dictionary run one after another, even if they use different queues.
 *   Errors      After an error the content is unchanged. But if an update is complete and then
 *               order->done cannot be created, the call returns an error and the update remains.
 *               ORDO_TOO_LARGE if the dictionary exceeds ORDO_MAX_COUNT strings, if an allocation
 *               exceeds the device's largest, or if two strings share almost 2^28 bytes.
 *   Threads     Any number of threads may use one dictionary. */

/* ---- the dictionary ----------------------------------------------------------------------- */
#ifndef ORDO_STRING_DICT_H
#define ORDO_STRING_DICT_H

#include "strings.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ordo_string_dict ordo_string_dict;

struct ordo_string_dict_config {
    uint32_t value_bytes; /* 0, 4, 8 or 16 */
};

/* Creates an empty dictionary.
 * Memory: the strings, the values, an index (strings.h), 8 bytes per string for offsets, and 2 bits
 *   per string. At most half of the stored strings are stale (replaced or erased), unless memory is
 *   too small to remove them.
 * Errors: ORDO_INVALID if value_bytes is not 0, 4, 8 or 16. */
ORDO_API ordo_status ordo_string_dict_create(ordo_device                          *device,
                                             const struct ordo_string_dict_config *config,
                                             ordo_string_dict                    **out);

/* Destroys the dictionary and sets *dict to NULL. Does nothing if `dict` or *dict is NULL. Enqueued
 * commands complete. The device may already be closed.
 * Concurrency: no other thread may be in a call on the dictionary. */
ORDO_API void ordo_string_dict_destroy(ordo_string_dict **dict);

/* ---- updates ------------------------------------------------------------------------------- */

/* Replaces the content by the strings of a column in any order, with their values. A repeated
 * string gets its last value. The dictionary copies the strings.
 * Cost: an ordo_string_index_build of an unsorted column, and a read and a write of the strings and
 *   values.
 * Memory: scratch of 68 bytes per row. The memory of the old content is freed at the end.
 * Blocking: yes. */
ORDO_API ordo_status ordo_string_dict_build(ordo_string_dict          *dict,
                                            const struct ordo_strings *strings,
                                            struct ordo_slice          values,
                                            const struct ordo_order   *order);
ORDO_API ordo_status ordo_string_dict_build_host(ordo_string_dict               *dict,
                                                 const struct ordo_host_strings *strings,
                                                 const void                     *values);

/* Stores each string with its value. If the string is present, the value replaces the old one.
 * Cost: as ordo_string_dict_build for the batch, a search of the batch in each run, and a write of
 *   2 bits per stored string. If n strings arrive in batches of b, each is merged O(log(n / b))
 *   times.
 * Memory: as ordo_string_dict_build for the batch. A merge takes the memory of its result, and 28
 *   bytes per merged string.
 * Blocking: yes. */
ORDO_API ordo_status ordo_string_dict_upsert(ordo_string_dict          *dict,
                                             const struct ordo_strings *strings,
                                             struct ordo_slice          values,
                                             const struct ordo_order   *order);
ORDO_API ordo_status ordo_string_dict_upsert_host(ordo_string_dict               *dict,
                                                  const struct ordo_host_strings *strings,
                                                  const void                     *values);

/* Removes the strings. Absent strings are allowed.
 * Cost: a search of the batch in each run, and a write of 2 bits per stored string. If more than
 *   half of the stored strings are then stale, ordo_string_dict_cleanup runs too.
 * Memory: scratch of 4 bytes per row, and 2 bits per stored string.
 * Blocking: yes. */
ORDO_API ordo_status ordo_string_dict_erase(ordo_string_dict          *dict,
                                            const struct ordo_strings *strings,
                                            const struct ordo_order   *order);
ORDO_API ordo_status ordo_string_dict_erase_host(ordo_string_dict               *dict,
                                                 const struct ordo_host_strings *strings);

/* Removes all strings and frees memory. */
ORDO_API ordo_status ordo_string_dict_clear(ordo_string_dict *dict);

/* Removes stale strings, and merges all runs into one.
 * Cost: a search for each string in all larger runs, one read and one write of each string and
 *   value, and the build of an index of sorted strings.
 * Memory: the memory of the result, and 28 bytes per string.
 * Blocking: yes. */
ORDO_API ordo_status ordo_string_dict_cleanup(ordo_string_dict        *dict,
                                              const struct ordo_order *order);

/* ---- queries -----------------------------------------------------------------------------------
 *
 * Cost: one search per query and run, or two in ordo_string_dict_range. A dictionary of n strings
 *   has at most log3(n) + 1 runs.
 * Memory: scratch of 4 to 12 bytes per query. */

/* If string i of `strings` is present, sets values_out[i] to its value and found[i] (a byte) to 1.
 * Otherwise sets found[i] to 0 and leaves values_out[i] unchanged. Both outputs are optional. */
ORDO_API ordo_status ordo_string_dict_find(ordo_string_dict          *dict,
                                           const struct ordo_strings *strings,
                                           struct ordo_slice values_out, struct ordo_slice found,
                                           const struct ordo_order *order);
ORDO_API ordo_status ordo_string_dict_find_host(ordo_string_dict               *dict,
                                                const struct ordo_host_strings *strings,
                                                void *values_out, uint8_t *found);

/* Like ordo_string_index_search, but returns ranks instead of ids. ranks[i] (uint32_t) receives the
 * rank of the string that `search` asks for, or ORDO_NO_ID if there is none. For ORDO_STRING_LOWER,
 * it is the number of strings less than the query. ORDO_STRING_UPPER also counts an equal string.
 * Cost: ORDO_STRING_FIND and ORDO_STRING_LONGEST_PREFIX take two searches per query and run.
 *   ORDO_STRING_FIND takes one if there is only one run, without stale strings.
 *   ORDO_STRING_LONGEST_PREFIX takes one more for each stale prefix of the query. */
ORDO_API ordo_status ordo_string_dict_search(ordo_string_dict *dict, ordo_string_search search,
                                             const struct ordo_strings *queries,
                                             struct ordo_slice          ranks,
                                             const struct ordo_order   *order);
ORDO_API ordo_status ordo_string_dict_search_host(ordo_string_dict *dict, ordo_string_search search,
                                                  const struct ordo_host_strings *queries,
                                                  uint32_t                       *ranks);

/* Finds for prefix i all strings that begin with it. Their ranks are first[i] to first[i] +
 * counts[i] - 1 (uint32_t). If no string begins with the prefix, counts[i] is 0, and first[i] is
 * the number of strings less than the prefix. Both outputs are optional. */
ORDO_API ordo_status ordo_string_dict_prefix(ordo_string_dict          *dict,
                                             const struct ordo_strings *prefixes,
                                             struct ordo_slice first, struct ordo_slice counts,
                                             const struct ordo_order *order);
ORDO_API ordo_status ordo_string_dict_prefix_host(ordo_string_dict               *dict,
                                                  const struct ordo_host_strings *prefixes,
                                                  uint32_t *first, uint32_t *counts);

/* Finds for each i all strings from string i of `lo` to string i of `hi`, both included. Outputs
 * are as for ordo_string_dict_prefix. counts[i] is 0 if string i of `lo` exceeds string i of `hi`.
 * Errors: ORDO_INVALID if lo and hi have different counts. */
ORDO_API ordo_status ordo_string_dict_range(ordo_string_dict *dict, const struct ordo_strings *lo,
                                            const struct ordo_strings *hi, struct ordo_slice first,
                                            struct ordo_slice        counts,
                                            const struct ordo_order *order);
ORDO_API ordo_status ordo_string_dict_range_host(ordo_string_dict               *dict,
                                                 const struct ordo_host_strings *lo,
                                                 const struct ordo_host_strings *hi,
                                                 uint32_t *first, uint32_t *counts);

/* Outputs of ordo_string_dict_select and ordo_string_dict_export. They receive n strings as a
 * column. `offsets` receives n + 1 numbers (uint64_t), and offsets[0] is 0. `bytes` has room for
 * `capacity` bytes. */
struct ordo_string_elements {
    struct ordo_slice offsets;
    struct ordo_slice bytes;
    size_t            capacity;
    struct ordo_slice values; /* optional */
};

struct ordo_host_string_elements {
    uint64_t *offsets;
    void     *bytes;
    size_t    capacity;
    void     *values; /* optional */
};

/* Returns the strings with the ranks in `ranks` (uint32_t), and their values. found[i] (a byte,
 * optional) becomes 1. If no string has rank ranks[i], found[i] becomes 0, string i is empty, and
 * its value is unchanged. *needed (may be NULL) receives the number of bytes.
 * Cost: a read and a write of each element. If there are several runs or stale strings, the first
 *   selection or export after an update also searches for each string in all larger runs.
 * Memory: scratch of 4 bytes per rank. The searches take scratch of 8 bytes per stored string.
 *   Their result, 4 bytes per string, stays allocated until the next update.
 * Blocking: yes.
 * Errors: ORDO_TOO_SMALL if the strings have more than out->capacity bytes. `bytes` and `values`
 *   are unchanged then. */
ORDO_API ordo_status ordo_string_dict_select(ordo_string_dict *dict, struct ordo_slice ranks,
                                             size_t count, const struct ordo_string_elements *out,
                                             struct ordo_slice found, size_t *needed,
                                             const struct ordo_order *order);
ORDO_API ordo_status ordo_string_dict_select_host(ordo_string_dict *dict, const uint32_t *ranks,
                                                  size_t                                  count,
                                                  const struct ordo_host_string_elements *out,
                                                  uint8_t *found, size_t *needed);

/* Returns all elements in the order of their strings. `offsets` has room for max_count + 1 numbers,
 * `values` for max_count values. *count receives the number of elements, *needed the number of
 * bytes.
 * Cost: as ordo_string_dict_select of all ranks.
 * Memory: as ordo_string_dict_select, but without scratch per rank. If *count exceeds max_count,
 *   the call also takes scratch of 8 bytes per string.
 * Blocking: yes.
 * Errors: ORDO_TOO_SMALL if *count exceeds max_count, or *needed exceeds out->capacity. `bytes` and
 *   `values` are unchanged then. */
ORDO_API ordo_status ordo_string_dict_export(ordo_string_dict                  *dict,
                                             const struct ordo_string_elements *out,
                                             size_t max_count, size_t *count, size_t *needed,
                                             const struct ordo_order *order);
ORDO_API ordo_status ordo_string_dict_export_host(ordo_string_dict                       *dict,
                                                  const struct ordo_host_string_elements *out,
                                                  size_t max_count, size_t *count, size_t *needed);

/* Returns the number of strings in *out. */
ORDO_API ordo_status ordo_string_dict_size(ordo_string_dict *dict, size_t *out);

/* ---- checks and statistics ----------------------------------------------------------------- */

/* Checks that each run's index finds all strings of the run, and that at most one copy of each
 * string is not stale (replaced or erased).
 * Memory: scratch of 4 bytes per stored string.
 * Blocking: yes.
 * Errors: ORDO_BROKEN. */
ORDO_API ordo_status ordo_string_dict_check(ordo_string_dict *dict, const struct ordo_order *order);

struct ordo_string_dict_statistics {
    size_t strings;
    size_t stale; /* replaced or erased strings that are still stored */
    size_t runs;
    size_t bytes_strings; /* offsets and bytes of strings */
    size_t bytes_values;
    size_t bytes_index;
    /* Marks of stale strings: one bit per stored string, and 4 bytes per 32 strings. After a
     * selection or an export, perhaps also 4 bytes per string for the sorted order. */
    size_t bytes_marks;
    size_t cleanups; /* merges due to ordo_string_dict_cleanup or to stale strings */
};

ORDO_API ordo_status ordo_string_dict_get_statistics(ordo_string_dict                   *dict,
                                                     struct ordo_string_dict_statistics *out);

#ifndef __cplusplus
#define ordo_string_dict_config(...) (&(struct ordo_string_dict_config) { __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif

#endif
