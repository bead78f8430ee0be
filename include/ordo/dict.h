/* SPDX-License-Identifier: Apache-2.0 */
/* Dictionaries in device memory: one interface to several structures. A dictionary maps distinct
 * keys to values. Every key and value is legal.
 *
 * Example:
 *
 *     ordo_dict *dict = NULL;
 *     ordo_lsm_create(dev, ordo_lsm_config(.dict = { .key = ORDO_U32, .value_bytes = 4 }), &dict);
 *     ordo_dict_upsert(dict, ordo_at(keys, 0), ordo_at(values, 0), count, NULL);
 *     ordo_dict_find(dict, ordo_at(queries, 0), n, ordo_at(out, 0), ordo_at(found, 0), NULL);
 *     ordo_dict_destroy(&dict); */

/* ---- rules of all calls -------------------------------------------------------------------------
 *
 * The rules of array.h apply, and these:
 *
 *   Batches     The elements of a batch have the effect of single calls in the order of their
 *               indices. Queries see all earlier updates. An empty batch sets returned numbers and
 *               offsets[0] to 0.
 *   _host       If device memory for the arrays is missing, queries of single keys, counts and
 *               aggregates split the batch. They also split large batches in memory of
 *               ordo_host_alloc (array.h). Calls of other threads wait until all parts are done.
 *   Queues      Calls on one dictionary run one after another, even if they use different queues.
 *   Results     Results have the same bits on all devices and with all structures. Only
 *               ordo_dict_export of a hash table returns another order (hash.h).
 *   Costs       "A lookup" costs as much as ordo_dict_find of one key. "An update" costs as much as
 *               ordo_dict_upsert of the batch.
 *   Threads     Any number of threads may use one dictionary. */

/* Errors: ORDO_TOO_LARGE if a batch or the dictionary exceeds ORDO_MAX_COUNT elements, or an
 *   allocation exceeds the device's largest. ORDO_UNSUPPORTED if ordo_dict_can returns false for
 *   the call. A call that creates a dictionary returns ORDO_UNSUPPORTED if the structure does not
 *   take the type of keys. After a wrong argument or lack of memory the content is unchanged. Some
 *   structures change in place (blink.h, hash.h). After the error ORDO_OPENCL, they may contain a
 *   part of the batch. The next call checks the structure, and returns ORDO_BROKEN if it is
 *   damaged. ordo_dict_build and ordo_dict_clear repair it. */

/* ---- the dictionary ----------------------------------------------------------------------- */
#ifndef ORDO_DICT_H
#define ORDO_DICT_H

#include "array.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ordo_dict ordo_dict;

struct ordo_dict_config {
    /* X-fast tries and HAMTs take types of 4 and 8 bytes. Other structures take all types. */
    ordo_type key;
    uint32_t  value_bytes; /* 0, 4, 8 or 16 */
};

/* Destroys the dictionary and sets *dict to NULL. Does nothing if `dict` or *dict is NULL. Enqueued
 * commands complete. The device may already be closed.
 * Concurrency: no other thread may be in a call on the dictionary. */
ORDO_API void ordo_dict_destroy(ordo_dict **dict);

/* Groups of calls. ordo_dict_can returns true if a structure supports a group.
 *   UPDATE       ordo_dict_upsert, ordo_dict_insert, ordo_dict_combine, ordo_dict_erase
 *   FIND         ordo_dict_find, ordo_dict_contains, ordo_dict_size, ordo_dict_export
 *   ORDER        all calls that use the order of the keys, such as ordo_dict_range
 *   APPLY        ordo_dict_apply. Its operations that use the order of the keys also need ORDER.
 *   CONCURRENT   ordo_dict_apply_concurrent */
typedef enum ordo_dict_op {
    ORDO_CAN_BUILD,
    ORDO_CAN_UPDATE,
    ORDO_CAN_FIND,
    ORDO_CAN_ORDER,
    ORDO_CAN_APPLY,
    ORDO_CAN_COMPACT,
    ORDO_CAN_CONCURRENT,
} ordo_dict_op;

/* Returns true if the dictionary supports `op`. Returns false for NULL. */
ORDO_API bool ordo_dict_can(const ordo_dict *dict, ordo_dict_op op);
/* Returns the structure's name, such as "lsm" or "sorted array", or "" for NULL. */
ORDO_API const char *ordo_dict_name(const ordo_dict *dict);

/* ---- updates ------------------------------------------------------------------------------- */

/* Replaces the content by `count` elements in any order. A repeated key gets its last value.
 * Cost: one sort.
 * Memory: a sorted array, LSM or FAST tree temporarily takes up to 2.2 times the bytes of the new
 *   keys and values (3.3 times if keys repeat), plus 4 MiB. A B-link tree or skiplist takes 5 times
 *   these bytes. The memory of the old content is freed at the end.
 * Blocking: yes. */
ORDO_API ordo_status ordo_dict_build(ordo_dict *dict, struct ordo_slice keys,
                                     struct ordo_slice values, size_t count,
                                     const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_build_host(ordo_dict *dict, const void *keys, const void *values,
                                          size_t count);

/* Stores each key with its value. If the key is present, the value replaces the old one.
 * Cost: the structure's header describes it.
 * Memory: scratch as large as the batch, unless the structure's header says otherwise. */
ORDO_API ordo_status ordo_dict_upsert(ordo_dict *dict, struct ordo_slice keys,
                                      struct ordo_slice values, size_t count,
                                      const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_upsert_host(ordo_dict *dict, const void *keys, const void *values,
                                           size_t count);

/* Stores each absent key with its value. Present keys keep their values. A repeated key gets its
 * first value. inserted[i] (a byte, optional) becomes 1 if element i was stored, else 0.
 * Cost: a sort of the keys, a lookup of each key, and an update.
 * Memory: the update's scratch, or two keys and 12 bytes per element if that is more. */
ORDO_API ordo_status ordo_dict_insert(ordo_dict *dict, struct ordo_slice keys,
                                      struct ordo_slice values, size_t count,
                                      struct ordo_slice inserted, const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_insert_host(ordo_dict *dict, const void *keys, const void *values,
                                           size_t count, uint8_t *inserted);

/* Combines each value with the stored value of its key: `op` selects sum, minimum or maximum.
 * `value` is the type of the values. Absent keys are stored with their values. All values of a
 * repeated key are combined.
 * Cost: an update. An LSM, FAST tree or HAMT also sorts the keys and looks each key up.
 * Memory: the update's scratch, plus a key, two values and 2 bytes per element.
 * Errors: ORDO_INVALID if value_bytes is 0 or not the size of type `value`. ORDO_UNSUPPORTED for
 *   sums of floats, and for values of 16 bytes. */
ORDO_API ordo_status ordo_dict_combine(ordo_dict *dict, ordo_type value, ordo_op op,
                                       struct ordo_slice keys, struct ordo_slice values,
                                       size_t count, const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_combine_host(ordo_dict *dict, ordo_type value, ordo_op op,
                                            const void *keys, const void *values, size_t count);

/* Removes the keys. Absent keys are allowed. Cost and memory are as for ordo_dict_upsert. */
ORDO_API ordo_status ordo_dict_erase(ordo_dict *dict, struct ordo_slice keys, size_t count,
                                     const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_erase_host(ordo_dict *dict, const void *keys, size_t count);

/* Removes, for each i, all keys from lo[i] to hi[i]. Range i is empty if lo[i] > hi[i]. erased[i]
 * (uint32_t, optional) receives the number of keys that range i removes. A key in several ranges
 * counts for the first of them.
 * Cost: two searches per range, a sort of the ranges, an ordo_dict_range and an update.
 * Memory: scratch of the removed keys, plus at most 61 bytes and two keys per range.
 * Blocking: yes. */
ORDO_API ordo_status ordo_dict_erase_range(ordo_dict *dict, struct ordo_slice lo,
                                           struct ordo_slice hi, size_t count,
                                           struct ordo_slice        erased,
                                           const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_erase_range_host(ordo_dict *dict, const void *lo, const void *hi,
                                                size_t count, uint32_t *erased);

/* ordo_dict_take_first removes the `count` elements with the least keys, and returns them in
 * ascending order. ordo_dict_take_last does so with the greatest keys, in descending order. If
 * there are fewer, all are removed. *taken receives their number. keys_out and values_out
 * (optional) need space for `count` elements.
 * Cost: an ordo_dict_range and an update.
 * Memory: scratch of a key and a byte per element.
 * Blocking: yes. */
ORDO_API ordo_status ordo_dict_take_first(ordo_dict *dict, size_t count, struct ordo_slice keys_out,
                                          struct ordo_slice values_out, size_t *taken,
                                          const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_take_first_host(ordo_dict *dict, size_t count, void *keys_out,
                                               void *values_out, size_t *taken);
ORDO_API ordo_status ordo_dict_take_last(ordo_dict *dict, size_t count, struct ordo_slice keys_out,
                                         struct ordo_slice values_out, size_t *taken,
                                         const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_take_last_host(ordo_dict *dict, size_t count, void *keys_out,
                                              void *values_out, size_t *taken);

/* Removes all elements and frees memory. */
ORDO_API ordo_status ordo_dict_clear(ordo_dict *dict);

/* Removes replaced and erased elements from memory, and frees unused memory.
 * Memory: afterwards 3 % of the memory for keys and values is unused (in a B-link tree 10 %).
 * Blocking: yes. */
ORDO_API ordo_status ordo_dict_compact(ordo_dict *dict, const struct ordo_order *order);

/* ---- queries -----------------------------------------------------------------------------------
 *
 * Cost: one search per query, and a write of the results. An LSM searches each run.
 * Memory: scratch per query. ordo_dict_find takes none, ordo_dict_count up to 8 bytes.
 *   ordo_dict_seek takes 4 bytes, a key if keys_out is omitted, and a byte if `found` is omitted.
 *   ordo_dict_range takes 20 bytes, and 8 bytes for each run of an LSM after the first. */

/* If keys[i] is present, sets values_out[i] to its value and found[i] (a byte) to 1. Otherwise sets
 * found[i] to 0 and leaves values_out[i] unchanged. Both outputs are optional. */
ORDO_API ordo_status ordo_dict_find(ordo_dict *dict, struct ordo_slice keys, size_t count,
                                    struct ordo_slice values_out, struct ordo_slice found,
                                    const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_find_host(ordo_dict *dict, const void *keys, size_t count,
                                         void *values_out, uint8_t *found);

/* Sets found[i] (a byte) to 1 if keys[i] is present, else to 0. */
ORDO_API ordo_status ordo_dict_contains(ordo_dict *dict, struct ordo_slice keys, size_t count,
                                        struct ordo_slice found, const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_contains_host(ordo_dict *dict, const void *keys, size_t count,
                                             uint8_t *found);

/* Sets counts[i] (uint32_t) to the number of keys from lo[i] to hi[i], both included, or 0 if lo[i]
 * > hi[i]. */
ORDO_API ordo_status ordo_dict_count(ordo_dict *dict, struct ordo_slice lo, struct ordo_slice hi,
                                     size_t count, struct ordo_slice counts,
                                     const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_count_host(ordo_dict *dict, const void *lo, const void *hi,
                                          size_t count, uint32_t *counts);

/* Returns for each i all elements with keys from lo[i] to hi[i], in key order. They are elements
 * offsets[i] to offsets[i + 1] - 1 of keys_out and values_out. `offsets` receives count + 1 numbers
 * (uint64_t). *needed receives the number of elements of all ranges. keys_out and values_out are
 * optional.
 * Blocking: waits for the device if `needed` is not NULL, and in the _host call.
 * Errors: ORDO_TOO_SMALL if the ranges have more than `capacity` elements. keys_out and values_out
 *   are then unchanged. If `needed` is NULL, the caller must compare offsets[count] with `capacity`
 *   instead. */
ORDO_API ordo_status ordo_dict_range(ordo_dict *dict, struct ordo_slice lo, struct ordo_slice hi,
                                     size_t count, struct ordo_slice offsets,
                                     struct ordo_slice keys_out, struct ordo_slice values_out,
                                     size_t capacity, size_t *needed,
                                     const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_range_host(ordo_dict *dict, const void *lo, const void *hi,
                                          size_t count, uint64_t *offsets, void *keys_out,
                                          void *values_out, size_t capacity, size_t *needed);

struct ordo_limited_ranges {
    struct ordo_slice lo, hi;
    size_t            count;
    uint32_t          limit; /* maximum number of elements per range; 0 means no limit */
    /* Optional. limits[i] (uint32_t) is the maximum for range i alone, and 0 means no elements. If
     * `limit` is not 0, each range obeys both maxima. */
    struct ordo_slice limits;
    /* If true, the elements of each range descend. A limit then keeps the greatest keys. */
    bool descending;

    struct ordo_slice offsets;
    struct ordo_slice keys_out, values_out;
    size_t            capacity;
};
/* Like ordo_dict_range, but can limit the elements of each range, and return them in descending
 * order.
 * Cost: as ordo_dict_range. A limit adds two searches and an ordo_dict_select per range.
 * Memory: as ordo_dict_range. A limit adds 16 bytes and three keys per range. */
ORDO_API ordo_status ordo_dict_range_limited(ordo_dict                        *dict,
                                             const struct ordo_limited_ranges *ranges,
                                             size_t *needed, const struct ordo_order *order);

struct ordo_host_limited_ranges {
    const void     *lo, *hi;
    size_t          count;
    uint32_t        limit;
    const uint32_t *limits;
    bool            descending;
    uint64_t       *offsets;
    void           *keys_out, *values_out;
    size_t          capacity;
};
ORDO_API ordo_status ordo_dict_range_limited_host(ordo_dict                             *dict,
                                                  const struct ordo_host_limited_ranges *ranges,
                                                  size_t                                *needed);

/* Sets results[i] to the sum, minimum or maximum (op) of the values of all keys from lo[i] to
 * hi[i]. counts[i] (uint32_t, optional) receives the number of these keys. If there are none,
 * results[i] is the identity of op.
 * Cost: two searches per range, and a read of the values. If a range has over 128 elements, the
 *   call builds a table of all values. Later calls may reuse it (share/doc/dict.md).
 * Memory: scratch of 16 bytes per range, and the values of short ranges. The table has a value per
 *   element, and 7 % more for minima and maxima.
 * Blocking: yes.
 * Errors: as ordo_dict_combine. */
ORDO_API ordo_status ordo_dict_aggregate(ordo_dict *dict, ordo_type value, ordo_op op,
                                         struct ordo_slice lo, struct ordo_slice hi, size_t count,
                                         struct ordo_slice results, struct ordo_slice counts,
                                         const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_aggregate_host(ordo_dict *dict, ordo_type value, ordo_op op,
                                              const void *lo, const void *hi, size_t count,
                                              void *results, uint32_t *counts);

typedef enum ordo_relation {
    ORDO_LT = 0, /* the greatest key < k */
    ORDO_LE = 1, /* the greatest key <= k */
    ORDO_GE = 2, /* the least key >= k */
    ORDO_GT = 3, /* the least key > k */
} ordo_relation;

/* For each key k of `keys`, finds the stored key that ordo_relation describes, and its value.
 * Outputs are as for ordo_dict_find. */
ORDO_API ordo_status ordo_dict_seek(ordo_dict *dict, ordo_relation relation, struct ordo_slice keys,
                                    size_t count, struct ordo_slice keys_out,
                                    struct ordo_slice values_out, struct ordo_slice found,
                                    const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_seek_host(ordo_dict *dict, ordo_relation relation, const void *keys,
                                         size_t count, void *keys_out, void *values_out,
                                         uint8_t *found);

/* Like ordo_dict_seek, but with a bound per query. ORDO_GE and ORDO_GT ignore keys greater than
 * bounds[i]. ORDO_LT and ORDO_LE ignore keys less than bounds[i].
 * Memory: scratch of ordo_dict_seek, plus a key, a value and a byte per query. */
ORDO_API ordo_status ordo_dict_seek_within(ordo_dict *dict, ordo_relation relation,
                                           struct ordo_slice keys, struct ordo_slice bounds,
                                           size_t count, struct ordo_slice keys_out,
                                           struct ordo_slice values_out, struct ordo_slice found,
                                           const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_seek_within_host(ordo_dict *dict, ordo_relation relation,
                                                const void *keys, const void *bounds, size_t count,
                                                void *keys_out, void *values_out, uint8_t *found);

/* Sets ranks[i] (uint32_t) to the number of keys less than keys[i]. ORDO_LE also counts an equal
 * key.
 * Cost: a search per key.
 * Errors: ORDO_INVALID for relations other than ORDO_LT and ORDO_LE. */
ORDO_API ordo_status ordo_dict_rank(ordo_dict *dict, ordo_relation relation, struct ordo_slice keys,
                                    size_t count, struct ordo_slice ranks,
                                    const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_rank_host(ordo_dict *dict, ordo_relation relation, const void *keys,
                                         size_t count, uint32_t *ranks);

/* Finds the element that has index ranks[i] (uint32_t) in key order, counted from 0. Outputs are as
 * for ordo_dict_find.
 * Cost: a sorted array reads one element. A tree searches its leaves. */
ORDO_API ordo_status ordo_dict_select(ordo_dict *dict, struct ordo_slice ranks, size_t count,
                                      struct ordo_slice keys_out, struct ordo_slice values_out,
                                      struct ordo_slice found, const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_select_host(ordo_dict *dict, const uint32_t *ranks, size_t count,
                                           void *keys_out, void *values_out, uint8_t *found);

/* Like ordo_dict_take_first and ordo_dict_take_last, but remove nothing. *got receives the number
 * of returned elements.
 * Blocking: yes. */
ORDO_API ordo_status ordo_dict_peek_first(ordo_dict *dict, size_t count, struct ordo_slice keys_out,
                                          struct ordo_slice values_out, size_t *got,
                                          const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_peek_first_host(ordo_dict *dict, size_t count, void *keys_out,
                                               void *values_out, size_t *got);
ORDO_API ordo_status ordo_dict_peek_last(ordo_dict *dict, size_t count, struct ordo_slice keys_out,
                                         struct ordo_slice values_out, size_t *got,
                                         const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_peek_last_host(ordo_dict *dict, size_t count, void *keys_out,
                                              void *values_out, size_t *got);

/* Return the element with the least or greatest key. Each output has one entry. If the dictionary
 * is empty, only `found` is written: it becomes 0. */
ORDO_API ordo_status ordo_dict_first(ordo_dict *dict, struct ordo_slice key_out,
                                     struct ordo_slice value_out, struct ordo_slice found,
                                     const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_first_host(ordo_dict *dict, void *key_out, void *value_out,
                                          uint8_t *found);
ORDO_API ordo_status ordo_dict_last(ordo_dict *dict, struct ordo_slice key_out,
                                    struct ordo_slice value_out, struct ordo_slice found,
                                    const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_last_host(ordo_dict *dict, void *key_out, void *value_out,
                                         uint8_t *found);

/* *out receives the number of keys in the dictionary.
 * Blocking: yes. */
ORDO_API ordo_status ordo_dict_size(ordo_dict *dict, const struct ordo_order *order, size_t *out);

/* Returns all elements, in key order unless the structure is a hash table. *count receives their
 * number. values_out is optional.
 * Blocking: yes.
 * Errors: ORDO_TOO_SMALL if *count exceeds `capacity`. keys_out and values_out are then
 *   unchanged. */
ORDO_API ordo_status ordo_dict_export(ordo_dict *dict, struct ordo_slice keys_out,
                                      struct ordo_slice values_out, size_t capacity, size_t *count,
                                      const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_export_host(ordo_dict *dict, void *keys_out, void *values_out,
                                           size_t capacity, size_t *count);

/* ---- mixed batches ------------------------------------------------------------------------- */

/* Codes of the operations of a batch, one byte each. Operation i does this:
 *   FIND       looks up keys[i]. Writes found[i] and, if the key is present, values_out[i].
 *   CONTAINS   looks up keys[i]. Writes found[i].
 *   UPSERT, INSERT, COMBINE
 *              does ordo_dict_upsert, ordo_dict_insert or ordo_dict_combine with keys[i] and
 *              values[i]. Sets found[i] to 1 if the key was present before, else to 0.
 *   ERASE      removes keys[i]. Sets found[i] as UPSERT does.
 *   SEEK_LT to SEEK_GT
 *              does ordo_dict_seek with keys[i]. Writes found[i] and, if there is such a key,
 *              keys_out[i] and values_out[i].
 *   COUNT      sets counts[i] to the number of keys from keys[i] to hi[i].
 *   RANGE      does the same as COUNT, and writes the elements to range_keys and range_values.
 *   RANK_LT    sets counts[i] to the number of stored keys less than keys[i].
 *   RANK_LE    does the same as RANK_LT, but also counts an equal key.
 *   SELECT     takes keys[i] as an unsigned index in key order. Writes found[i] and, if an element
 *              has this index, keys_out[i] and values_out[i].
 * Concurrent batches take only codes below ORDO_N_CONCURRENT_CODES. */
typedef enum ordo_code {
    ORDO_FIND = 0,
    ORDO_CONTAINS = 1,
    ORDO_UPSERT = 2,
    ORDO_INSERT = 3,
    ORDO_ERASE = 4,
    ORDO_SEEK_LT = 5,
    ORDO_SEEK_LE = 6,
    ORDO_SEEK_GE = 7,
    ORDO_SEEK_GT = 8,
    ORDO_COUNT = 9,
    ORDO_RANGE = 10,
    ORDO_COMBINE = 11,
    ORDO_RANK_LT = 12,
    ORDO_RANK_LE = 13,
    ORDO_SELECT = 14,
    ORDO_N_CODES = 15,
    ORDO_N_CONCURRENT_CODES = 11,
} ordo_code;

/* A mixed batch of `count` operations. Operation i uses element i of each array, as ordo_code says.
 * Outputs that an operation does not write stay unchanged. Arrays that no operation uses may be
 * ordo_none(), except `codes` and `keys`. */
struct ordo_batch {
    struct ordo_slice codes; /* bytes */
    struct ordo_slice keys;
    struct ordo_slice hi;
    struct ordo_slice values;
    size_t            count;

    struct ordo_slice found; /* bytes */
    struct ordo_slice keys_out;
    struct ordo_slice values_out;
    struct ordo_slice counts; /* uint32_t */

    /* An output of count + 1 numbers (uint64_t). If operation i is ORDO_RANGE, its results are
     * elements offsets[i] to offsets[i + 1] - 1 of range_keys and range_values. */
    struct ordo_slice offsets;
    struct ordo_slice range_keys, range_values;
    size_t            range_capacity;

    /* ORDO_COMBINE combines values of type `value` by the operation `combine`. */
    ordo_type value;
    ordo_op   combine;
};

/* Applies a mixed batch in the order of its operations.
 * Cost: one sort, one lookup of each key, two or three scans, and one update (share/doc/dict.md).
 * Memory: scratch of 45 bytes, a key and a value per operation. If an operation uses the order of
 *   keys, it is 80 bytes instead of 45. For each range, scratch also has a copy of its elements
 *   before the batch.
 * Blocking: yes.
 * Errors: ORDO_INVALID for an unknown code. ORDO_TOO_SMALL if the ranges have more than
 *   range_capacity elements together. *needed (may be NULL) receives their number. After these
 *   errors no operation is applied. ORDO_COMBINE has the errors of ordo_dict_combine. */
ORDO_API ordo_status ordo_dict_apply(ordo_dict *dict, const struct ordo_batch *batch,
                                     size_t *needed, const struct ordo_order *order);

struct ordo_host_batch {
    const uint8_t *codes;
    const void    *keys, *hi, *values;
    size_t         count;
    uint8_t       *found;
    void          *keys_out, *values_out;
    uint32_t      *counts;
    uint64_t      *offsets;
    void          *range_keys, *range_values;
    size_t         range_capacity;
    ordo_type      value;
    ordo_op        combine;
};
ORDO_API ordo_status ordo_dict_apply_host(ordo_dict *dict, const struct ordo_host_batch *batch,
                                          size_t *needed);

/* ---- concurrent batches ------------------------------------------------------------------------
 *
 * The operations of a concurrent batch run in no fixed order. Operations on single keys are
 * linearizable: for each key, the results are as if its operations had run one after another in
 * some order. In a HAMT or X-fast trie, seeks, counts and ranges see the state before the batch. In
 * other structures they run during updates. They then return a key only if it was present, with its
 * value, at some moment. A range returns each key that is present during the whole batch exactly
 * once. Its keys ascend. */

/* Outcome of an operation of a concurrent batch, stored in one byte. */
typedef enum ordo_outcome {
    ORDO_DONE = 0,
    ORDO_NOT_STORED = 1, /* The operation lacked memory and changed nothing. */
    ORDO_CUT_SHORT = 2, /* The range has counts[i] elements. Only the first of them are returned. */
    ORDO_UNKNOWN = 3,   /* The operation's code is invalid. */
} ordo_outcome;

/* Like ordo_batch, but the operations have no order. The input `rooms` replaces the output
 * `offsets`: the caller gives each range a part of range_keys and range_values. */
struct ordo_concurrent_batch {
    struct ordo_slice codes, keys, hi, values;
    size_t            count;

    struct ordo_slice found, keys_out, values_out, counts;
    struct ordo_slice outcomes; /* bytes, optional */

    /* An input of count + 1 ascending numbers (uint64_t). If operation i is ORDO_RANGE, it may
     * write elements rooms[i] to rooms[i + 1] - 1 of range_keys and range_values. Those after its
     * last result become undefined. No element with index range_capacity or more is written, even
     * if `rooms` allows it. */
    struct ordo_slice rooms;
    struct ordo_slice range_keys, range_values;
    size_t            range_capacity;
};

/* Applies a concurrent batch.
 * Cost: each update searches for a leaf and changes it. Many updates of one leaf cost more.
 * Memory: scratch of 32 bytes per operation, but at most 512 MiB.
 * Blocking: yes.
 * Errors: ORDO_NO_DEVICE_MEMORY if scratch for 1024 operations is missing. ORDO_INVALID if the
 *   batch lacks `values`, `hi` or `rooms` and an operation needs it. After these errors nothing has
 *   changed. After ORDO_OPENCL a part of the batch is done. If only some operations lack memory,
 *   the call returns ORDO_OK. Their outcome is then ORDO_NOT_STORED, and found[i] is undefined. */
ORDO_API ordo_status ordo_dict_apply_concurrent(ordo_dict                          *dict,
                                                const struct ordo_concurrent_batch *batch,
                                                const struct ordo_order            *order);

struct ordo_host_concurrent_batch {
    const uint8_t  *codes;
    const void     *keys, *hi, *values;
    size_t          count;
    uint8_t        *found;
    void           *keys_out, *values_out;
    uint32_t       *counts;
    uint8_t        *outcomes;
    const uint64_t *rooms;
    void           *range_keys, *range_values;
    size_t          range_capacity;
};
ORDO_API ordo_status
ordo_dict_apply_concurrent_host(ordo_dict *dict, const struct ordo_host_concurrent_batch *batch);

/* ---- checks and statistics ----------------------------------------------------------------- */

/* Checks the structure's invariants by reading all its memory.
 * Blocking: yes.
 * Errors: ORDO_BROKEN. */
ORDO_API ordo_status ordo_dict_check(ordo_dict *dict, const struct ordo_order *order);

/* Members that a structure does not use are 0. */
struct ordo_statistics {
    size_t elements;
    size_t stale;      /* replaced or erased elements that are still stored */
    size_t tombstones; /* stored records that say that a key is erased */
    size_t runs;
    size_t bytes_data; /* for keys and values */
    size_t bytes_index;
    size_t bytes_marks; /* for bitmaps and counters */
    size_t bytes_spare; /* allocated but unused */
    size_t bytes_peak;
    size_t cleanups; /* removals of stale elements, and rebuilds */
    size_t leaves;
    size_t levels;
    size_t restarts; /* steps of concurrent batches that were repeated after conflicts */
};
/* Blocking: yes. */
ORDO_API ordo_status ordo_dict_statistics(ordo_dict *dict, const struct ordo_order *order,
                                          struct ordo_statistics *out);

#ifdef __cplusplus
}
#endif

#endif
