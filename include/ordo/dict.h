/* SPDX-License-Identifier: Apache-2.0 */
/* Ordered dictionaries in device memory: one interface to several structures.
 *
 * A dictionary maps distinct keys to values. Every key and every value is legal. Keys have the
 * order of array.h; -0 and +0 are two keys, and so is each NaN.
 *
 * Rules for all calls:
 *   Arrays      device memory with an offset in elements (ordo_at), or ordo_none() if the call
 *               allows it. Values must be ordo_none() if value_bytes is 0. A call whose name
 *               ends in _host takes host memory (NULL for ordo_none()), needs device memory of
 *               the same size, and blocks. If that is missing, queries of single keys, counts and
 *               aggregates work in pieces, and after an error some outputs may be written.
 *               Other threads' calls wait for all pieces.
 *   Batches     0 to ORDO_MAX_COUNT elements. A batch acts as if its operations ran one after
 *               another in the order of their indices. Queries see all earlier updates. An empty
 *               batch signals order->done and sets returned numbers and offsets[0] to 0.
 *   Blocking    a call enqueues and returns, unless it says that it waits. Inputs must stay
 *               unchanged, and outputs must not be read, until the commands have completed.
 *   Events      a call that changes the dictionary blocks until the events in order->wait have
 *               completed. A query passes them on, unless it waits anyway or must first build
 *               something, as the first query of order after an update does (ordo_order).
 *   First call  builds the kernels that it needs: 0.05 to 1 s each and up to 1.2 s in all on an
 *               H200, up to 4 s on a CPU, some ms from the disk cache (prepare.h).
 *   Order       a call on another queue waits for the earlier calls on the same dictionary.
 *   Overlap     outputs must not overlap inputs or each other: ORDO_INVALID. Inputs may overlap.
 *   Results     are bit-identical on all devices, structures and tunings, except for the order
 *               in which a hash table exports (hash.h).
 *   Errors      as in array.h. ORDO_TOO_LARGE: more than ORDO_MAX_COUNT elements in a batch or
 *               in all, or an allocation above the device's largest. ORDO_UNSUPPORTED:
 *               ordo_dict_can. After an error of arguments or memory the content is unchanged.
 *               After ORDO_OPENCL, structures that change in place (blink.h, hash.h) may hold a
 *               part of the batch. The next call then checks the structure and returns
 *               ORDO_BROKEN if it is damaged; ordo_dict_build and ordo_dict_clear repair it.
 *   Threads     any number may use one dictionary. A lock runs their calls one after another.
 *
 * Example:
 *
 *     ordo_dict *dict = NULL;
 *     ordo_lsm_create(dev, ordo_lsm_config(.dict = { .key = ORDO_U32, .value_bytes = 4 }), &dict);
 *     ordo_dict_upsert(dict, ordo_at(keys, 0), ordo_at(values, 0), count, NULL);
 *     ordo_dict_find(dict, ordo_at(queries, 0), n, ordo_at(out, 0), ordo_at(found, 0), NULL);
 *     ordo_dict_destroy(&dict); */
#ifndef ORDO_DICT_H
#define ORDO_DICT_H

#include "array.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ordo_dict ordo_dict;

/* The first member of every structure's configuration. */
struct ordo_dict_config {
    ordo_type key;
    uint32_t  value_bytes; /* 0, 4 or 8 */
};

/* Destroys the dictionary and sets *dict to NULL. Accepts NULL and *NULL. Enqueued commands
 * complete. The device may be closed before; its resources live until the last dictionary is
 * destroyed.
 * Concurrency: no other thread may be in a call on it. */
ORDO_API void ordo_dict_destroy(ordo_dict **dict);

typedef enum ordo_dict_op {
    ORDO_CAN_BUILD,
    ORDO_CAN_UPDATE, /* upsert, insert, erase */
    ORDO_CAN_FIND,   /* find, contains, size, export */
    /* Queries in key order: count, range, seek, rank, select, aggregate, take_first ... */
    ORDO_CAN_ORDER,
    /* Mixed batches; without ORDO_CAN_ORDER only of operations on single keys, and combines. */
    ORDO_CAN_APPLY,
    ORDO_CAN_COMPACT,
    ORDO_CAN_CONCURRENT, /* apply_concurrent */
} ordo_dict_op;
/* Returns whether the dictionary's structure supports op; false for NULL. */
ORDO_API bool ordo_dict_can(const ordo_dict *dict, ordo_dict_op op);
/* Returns the name of the structure, such as "lsm" or "sorted array"; "" for NULL. */
ORDO_API const char *ordo_dict_name(const ordo_dict *dict);

/* ---- updates ------------------------------------------------------------------------------- */

/* Replaces the content by count elements in any order. The last one of equal keys counts.
 * Cost: one sort.
 * Memory: up to 2.2 times the new keys and values (3.3 times if keys repeat) and 4 MiB in a sorted
 *   array, LSM or FAST tree, 5 times in a B-link tree or skiplist, else see the structure's header.
 *   The old content stays until the end.
 * Blocking: waits for the number of distinct keys. */
ORDO_API ordo_status ordo_dict_build(ordo_dict *dict, struct ordo_slice keys,
                                     struct ordo_slice values, size_t count,
                                     const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_build_host(ordo_dict *dict, const void *keys, const void *values,
                                          size_t count);

/* Stores each key with its value, which replaces the old value.
 * Cost: an update (the structure's header).
 * Memory: scratch of the batch's keys and values, or as the structure's header says. */
ORDO_API ordo_status ordo_dict_upsert(ordo_dict *dict, struct ordo_slice keys,
                                      struct ordo_slice values, size_t count,
                                      const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_upsert_host(ordo_dict *dict, const void *keys, const void *values,
                                           size_t count);

/* Stores each absent key; present keys keep their values. Only the first of equal keys is stored.
 * inserted[i] (one byte; or ordo_none()) = 1 if key i was stored, else 0.
 * Cost: a sort of the keys, a find for each, and an update.
 * Memory: scratch of two keys and 12 bytes for each element, or the update's if larger. */
ORDO_API ordo_status ordo_dict_insert(ordo_dict *dict, struct ordo_slice keys,
                                      struct ordo_slice values, size_t count,
                                      struct ordo_slice inserted, const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_insert_host(ordo_dict *dict, const void *keys, const void *values,
                                           size_t count, uint8_t *inserted);

/* Combines stored values with given ones: old + new, or the lesser or the greater. An absent key
 * gets the new value. All equal keys of a batch count. `value` is the type of the values.
 * Cost: an update, a sort with values and a find for each key. Hash tables, B-link trees,
 *   skiplists, sorted arrays and X-fast tries combine during the update.
 * Memory: scratch of a key, two values and 2 bytes for each element, and the update's.
 * Errors: ORDO_INVALID if value_bytes is 0 or not the size of `value`; ORDO_UNSUPPORTED for sums of
 *   floats, which would depend on the order. */
ORDO_API ordo_status ordo_dict_combine(ordo_dict *dict, ordo_type value, ordo_op op,
                                       struct ordo_slice keys, struct ordo_slice values,
                                       size_t count, const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_combine_host(ordo_dict *dict, ordo_type value, ordo_op op,
                                            const void *keys, const void *values, size_t count);

/* Removes each key; absent keys are allowed.
 * Cost: as ordo_dict_upsert.
 * Memory: as ordo_dict_upsert. */
ORDO_API ordo_status ordo_dict_erase(ordo_dict *dict, struct ordo_slice keys, size_t count,
                                     const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_erase_host(ordo_dict *dict, const void *keys, size_t count);

/* Removes all keys in [lo[i], hi[i]] for each i. Ranges may overlap; one with lo[i] > hi[i] is
 * empty. erased[i] (uint32_t; or ordo_none()) = the keys that range i removed after the ranges
 * before it.
 * Cost: two ranks for each range, a sort of them, a range query and an update. One range in an LSM:
 *   lsm.h.
 * Memory: scratch of the removed keys, and 44 bytes and two keys for each range; 17 more with
 *   overlaps and `erased`.
 * Blocking: waits for the number of keys. */
ORDO_API ordo_status ordo_dict_erase_range(ordo_dict *dict, struct ordo_slice lo,
                                           struct ordo_slice hi, size_t count,
                                           struct ordo_slice        erased,
                                           const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_erase_range_host(ordo_dict *dict, const void *lo, const void *hi,
                                                size_t count, uint32_t *erased);

/* Removes the count least elements, or all if there are fewer, and returns them in order, as a
 * priority queue does. take_last removes the greatest and returns them in descending order. *taken
 * receives their number. keys_out and values_out have count elements or are ordo_none().
 * Cost: a range query and an update. In an LSM less (lsm.h); a sorted array is shortened in place.
 * Memory: scratch of a key and a byte for each.
 * Blocking: waits for their number. */
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

/* Empties the dictionary and frees its memory. */
ORDO_API ordo_status ordo_dict_clear(ordo_dict *dict);

/* Drops replaced and erased elements and frees unused memory.
 * Memory: about 3 % of keys and values stay unused in blocks, in a B-link tree 10 %.
 * Blocking: waits. */
ORDO_API ordo_status ordo_dict_compact(ordo_dict *dict, const struct ordo_order *order);

/* ---- queries -----------------------------------------------------------------------------------
 *
 * Cost: a search for each query, in an LSM in each run, and the results. A structure may prepare
 *   something first (its header).
 * Memory: scratch for each query. Finds: none. Counts: up to 8 bytes. Seeks: 4, and a key without
 *   keys_out, 1 without found. Ranges: 20, in an LSM 8 more for each further run. */

/* values_out[i] = the value of keys[i], unchanged if the key is absent. found[i] (one byte) = 1 if
 * the key is present, else 0. Both may be ordo_none(). */
ORDO_API ordo_status ordo_dict_find(ordo_dict *dict, struct ordo_slice keys, size_t count,
                                    struct ordo_slice values_out, struct ordo_slice found,
                                    const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_find_host(ordo_dict *dict, const void *keys, size_t count,
                                         void *values_out, uint8_t *found);

/* found[i] (one byte) = 1 if keys[i] is present, else 0. */
ORDO_API ordo_status ordo_dict_contains(ordo_dict *dict, struct ordo_slice keys, size_t count,
                                        struct ordo_slice found, const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_contains_host(ordo_dict *dict, const void *keys, size_t count,
                                             uint8_t *found);

/* counts[i] (uint32_t) = the number of keys in [lo[i], hi[i]]; 0 if lo[i] > hi[i]. */
ORDO_API ordo_status ordo_dict_count(ordo_dict *dict, struct ordo_slice lo, struct ordo_slice hi,
                                     size_t count, struct ordo_slice counts,
                                     const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_count_host(ordo_dict *dict, const void *lo, const void *hi,
                                          size_t count, uint32_t *counts);

/* Returns all elements with keys in [lo[i], hi[i]], in key order. Query i has elements offsets[i]
 * to offsets[i + 1] - 1 of keys_out and values_out. Each may be ordo_none(); offsets has count + 1
 * numbers (uint64_t). *needed receives offsets[count].
 * Blocking: waits if `needed` is not NULL, and in the _host call.
 * Errors: ORDO_TOO_SMALL if offsets[count] exceeds capacity, the elements of keys_out and
 *   values_out, which are then not written. Without `needed` the caller compares. */
ORDO_API ordo_status ordo_dict_range(ordo_dict *dict, struct ordo_slice lo, struct ordo_slice hi,
                                     size_t count, struct ordo_slice offsets,
                                     struct ordo_slice keys_out, struct ordo_slice values_out,
                                     size_t capacity, size_t *needed,
                                     const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_range_host(ordo_dict *dict, const void *lo, const void *hi,
                                          size_t count, uint64_t *offsets, void *keys_out,
                                          void *values_out, size_t capacity, size_t *needed);

/* Ranges with limits, in either direction: the next k elements after a key, or a page of a
 * listing. */
struct ordo_limited_ranges {
    struct ordo_slice lo, hi;
    size_t            count;
    uint32_t          limit; /* elements of a range at most; 0: no limit */
    /* uint32_t: range i has at most limits[i] elements, possibly 0; or ordo_none() */
    struct ordo_slice limits;
    bool              descending; /* from hi[i] downwards, so that a limit keeps the greatest */

    struct ordo_slice offsets; /* count + 1 numbers (uint64_t) */
    struct ordo_slice keys_out, values_out;
    size_t            capacity; /* elements of keys_out and values_out */
};
/* Answers ranges with limits as ordo_dict_range does.
 * Cost: a range query; with limits also two ranks and a selection for each. Descending order moves
 *   the elements once more.
 * Memory: scratch of a range query; with limits also 16 bytes and three keys for each. */
ORDO_API ordo_status ordo_dict_range_limited(ordo_dict                        *dict,
                                             const struct ordo_limited_ranges *ranges,
                                             size_t *needed, const struct ordo_order *order);

/* ordo_limited_ranges in host memory, with NULL for ordo_none(). */
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

/* results[i] = the sum, minimum or maximum (op) of the values of all keys in [lo[i], hi[i]], or the
 * identity of op without keys; counts[i] (uint32_t; or ordo_none()) = their number.
 * Cost: two ranks for each range, and its values if all have at most 128 elements. Else an export
 *   into a table that stays until the dictionary changes, or only of the ranges' elements, not
 *   kept, if these are less than a quarter of all.
 * Memory: scratch of 16 bytes and a short range's values for each range. Table: a value for each
 *   element, for extremes a 15th more.
 * Blocking: waits for the lengths of the ranges. */
ORDO_API ordo_status ordo_dict_aggregate(ordo_dict *dict, ordo_type value, ordo_op op,
                                         struct ordo_slice lo, struct ordo_slice hi, size_t count,
                                         struct ordo_slice results, struct ordo_slice counts,
                                         const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_aggregate_host(ordo_dict *dict, ordo_type value, ordo_op op,
                                              const void *lo, const void *hi, size_t count,
                                              void *results, uint32_t *counts);

typedef enum ordo_relation {
    ORDO_LT = 0, /* the largest key < k */
    ORDO_LE = 1, /* the largest key <= k */
    ORDO_GE = 2, /* the smallest key >= k */
    ORDO_GT = 3, /* the smallest key > k */
} ordo_relation;

/* Finds the nearest key in `relation` to keys[i], and its value. If there is none, found[i] is 0
 * and the other outputs are unchanged. Each output may be ordo_none(). */
ORDO_API ordo_status ordo_dict_seek(ordo_dict *dict, ordo_relation relation, struct ordo_slice keys,
                                    size_t count, struct ordo_slice keys_out,
                                    struct ordo_slice values_out, struct ordo_slice found,
                                    const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_seek_host(ordo_dict *dict, ordo_relation relation, const void *keys,
                                         size_t count, void *keys_out, void *values_out,
                                         uint8_t *found);

/* Seeks that find nothing beyond bounds[i]: no greater key with ORDO_GE and ORDO_GT, no lesser key
 * with ORDO_LT and ORDO_LE.
 * Memory: also scratch of a key, a value and a byte for each. */
ORDO_API ordo_status ordo_dict_seek_within(ordo_dict *dict, ordo_relation relation,
                                           struct ordo_slice keys, struct ordo_slice bounds,
                                           size_t count, struct ordo_slice keys_out,
                                           struct ordo_slice values_out, struct ordo_slice found,
                                           const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_seek_within_host(ordo_dict *dict, ordo_relation relation,
                                                const void *keys, const void *bounds, size_t count,
                                                void *keys_out, void *values_out, uint8_t *found);

/* ranks[i] (uint32_t) = the number of keys less than keys[i] (ORDO_LT), or not greater (ORDO_LE).
 * Cost: a search, in an LSM in each run.
 * Errors: ORDO_INVALID for other relations. */
ORDO_API ordo_status ordo_dict_rank(ordo_dict *dict, ordo_relation relation, struct ordo_slice keys,
                                    size_t count, struct ordo_slice ranks,
                                    const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_rank_host(ordo_dict *dict, ordo_relation relation, const void *keys,
                                         size_t count, uint32_t *ranks);

/* Finds the element with ranks[i] (uint32_t) lesser keys; 0 selects the least. If there is none,
 * found[i] is 0 and the other outputs are unchanged. Each output may be ordo_none().
 * Cost: one access in a sorted array, a binary search over leaves in a tree, a step for each bit of
 *   a key and each run in an LSM of several runs. */
ORDO_API ordo_status ordo_dict_select(ordo_dict *dict, struct ordo_slice ranks, size_t count,
                                      struct ordo_slice keys_out, struct ordo_slice values_out,
                                      struct ordo_slice found, const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_select_host(ordo_dict *dict, const uint32_t *ranks, size_t count,
                                           void *keys_out, void *values_out, uint8_t *found);

/* Returns the elements that ordo_dict_take_first and ordo_dict_take_last would remove, and keeps
 * them. got must not be NULL.
 * Blocking: waits for their number. */
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

/* Returns the least or the greatest element, one for each output, as ordo_dict_seek does. */
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

/* Counts the keys.
 * Blocking: waits. */
ORDO_API ordo_status ordo_dict_size(ordo_dict *dict, const struct ordo_order *order, size_t *out);

/* Returns all elements in key order (in a hash table in the order of the table). *count receives
 * their number. values_out may be ordo_none().
 * Blocking: waits.
 * Errors: ORDO_TOO_SMALL if *count exceeds capacity; nothing is written. */
ORDO_API ordo_status ordo_dict_export(ordo_dict *dict, struct ordo_slice keys_out,
                                      struct ordo_slice values_out, size_t capacity, size_t *count,
                                      const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_export_host(ordo_dict *dict, void *keys_out, void *values_out,
                                           size_t capacity, size_t *count);

/* ---- mixed batches ------------------------------------------------------------------------- */

/* An operation of a mixed batch: one byte. */
typedef enum ordo_code {
    ORDO_FIND = 0,     /* found, values_out */
    ORDO_CONTAINS = 1, /* found */
    ORDO_UPSERT = 2,   /* found: whether the key was present before */
    ORDO_INSERT = 3,   /* found: whether the key was present before, so that nothing was stored */
    ORDO_ERASE = 4,    /* found: whether the key was present before */
    ORDO_SEEK_LT = 5,  /* found, keys_out, values_out */
    ORDO_SEEK_LE = 6,
    ORDO_SEEK_GE = 7,
    ORDO_SEEK_GT = 8,
    ORDO_COUNT = 9,    /* counts: keys in [keys[i], hi[i]] */
    ORDO_RANGE = 10,   /* counts, and these keys and their values in the range outputs */
    ORDO_COMBINE = 11, /* found: whether the key was present before */
    ORDO_RANK_LT = 12, /* counts: keys less than keys[i] */
    ORDO_RANK_LE = 13, /* counts: keys not greater than keys[i] */
    ORDO_SELECT = 14,  /* found, keys_out, values_out: the element of rank keys[i] */
    ORDO_N_CODES = 15,
    ORDO_N_CONCURRENT_CODES = 11, /* concurrent batches take the codes below this */
} ordo_code;

/* A mixed batch of count operations. Unwritten elements stay unchanged. Arrays except codes and
 * keys may be ordo_none() if unused. */
struct ordo_batch {
    struct ordo_slice codes;  /* bytes: ordo_code */
    struct ordo_slice keys;   /* lower bounds of counts and ranges */
    struct ordo_slice hi;     /* upper bounds of counts and ranges */
    struct ordo_slice values; /* of upserts, inserts and combines */
    size_t            count;

    struct ordo_slice found;      /* bytes */
    struct ordo_slice keys_out;   /* of seeks and selections */
    struct ordo_slice values_out; /* of finds, seeks and selections */
    struct ordo_slice counts;     /* uint32_t: of counts, ranges and ranks */

    /* count + 1 of uint64_t: range i has elements offsets[i] to offsets[i + 1] - 1; other
     * operations have none */
    struct ordo_slice offsets;
    struct ordo_slice range_keys, range_values;
    size_t            range_capacity; /* elements of range_keys and range_values */

    ordo_type value;   /* type of the values, for combines */
    ordo_op   combine; /* operation of combines (ordo_dict_combine) */
};

/* Applies a mixed batch as if its operations ran one after another in the order of their indices.
 * Cost: one sort, one find for each key, two scans (three with combines), one update. Other
 *   queries: share/doc/dict.md.
 * Memory: scratch of about 45 bytes for each operation (80 with order queries), keys and values,
 *   and the elements of ranges before the batch.
 * Blocking: waits.
 * Errors: as ordo_dict_combine; ORDO_INVALID for an unknown code; ORDO_TOO_SMALL with *needed
 *   (which may be NULL) if ranges exceed range_capacity. Nothing is applied then. */
ORDO_API ordo_status ordo_dict_apply(ordo_dict *dict, const struct ordo_batch *batch,
                                     size_t *needed, const struct ordo_order *order);

/* ordo_batch in host memory, with NULL for ordo_none(). */
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
 * Operations on single keys are linearizable: for each key one order of its operations explains
 * all results. The order may differ between runs, but finds and contains see the state before the
 * batch. Seeks, counts and ranges see each leaf at one moment, and leaves one after another. A
 * reported key was present with that value at some moment. A key that was present throughout is
 * reported once. Keys ascend. */

/* The outcome of an operation of a concurrent batch: one byte. */
typedef enum ordo_outcome {
    ORDO_DONE = 0,
    ORDO_NOT_STORED = 1, /* out of memory; the operation changed nothing */
    ORDO_CUT_SHORT = 2,  /* a range exceeds its capacity; counts has its length */
    ORDO_UNKNOWN = 3,    /* not a code of concurrent batches; nothing done */
} ordo_outcome;

/* A batch of count unordered operations. Members as in ordo_batch, except that the caller lays out
 * the capacity of each range. */
struct ordo_concurrent_batch {
    struct ordo_slice codes, keys, hi, values; /* see ordo_batch */
    size_t            count;

    struct ordo_slice found, keys_out, values_out, counts; /* see ordo_batch */
    struct ordo_slice outcomes;                            /* bytes: ordo_outcome; or ordo_none() */

    /* Input, count + 1 of uint64_t, ascending: range i may write elements rooms[i] to rooms[i + 1]
     * - 1. The elements beyond counts[i] are undefined. */
    struct ordo_slice rooms;
    struct ordo_slice range_keys, range_values;
    size_t            range_capacity; /* their elements; rooms beyond are cut */
};

/* Applies a batch concurrently.
 * Cost: a search and a change of a leaf for each update; more under contention and for seeks and
 *   counts over hundreds of leaves (share/doc/dict.md).
 * Memory: scratch of 32 bytes for each of up to 2^24 operations at a time, fewer if memory is
 *   short.
 * Blocking: waits.
 * Errors: ORDO_NO_DEVICE_MEMORY without scratch for 1024 operations; ORDO_INVALID for missing
 *   values, hi or rooms; ORDO_TOO_LARGE if ORDO_MAX_COUNT could be exceeded: nothing is done.
 *   ORDO_OPENCL: a part is done. ORDO_OK if single operations lack memory (outcomes). */
ORDO_API ordo_status ordo_dict_apply_concurrent(ordo_dict                          *dict,
                                                const struct ordo_concurrent_batch *batch,
                                                const struct ordo_order            *order);

/* ordo_concurrent_batch in host memory, with NULL for ordo_none(). */
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

/* Checks the structure's invariants by reading all of it.
 * Blocking: waits.
 * Errors: ORDO_BROKEN; the message names the first violated invariant and its place. */
ORDO_API ordo_status ordo_dict_check(ordo_dict *dict, const struct ordo_order *order);

struct ordo_statistics {
    size_t elements;    /* visible to queries */
    size_t stale;       /* replaced or erased, still stored */
    size_t tombstones;  /* records of erased keys */
    size_t runs;        /* sorted runs; 1 for a non-empty sorted array */
    size_t bytes_data;  /* stored keys and values; in a HAMT their compressed size */
    size_t bytes_index; /* search indexes */
    size_t bytes_marks; /* bits and counters in addition to the elements */
    size_t bytes_spare; /* cached blocks, freed if memory is short; unused parts of blocks */
    size_t bytes_peak;  /* maximum of all uses since creation */
    size_t cleanups;    /* since creation; in a tree, rebuilds */
    size_t leaves;      /* of a tree or a HAMT: nodes with elements */
    size_t levels;      /* of a tree or a HAMT: levels from the root to the leaves, both included */
    size_t restarts;    /* of concurrent batches: steps repeated because of conflicts */
};
/* Counts elements and memory.
 * Blocking: waits. */
ORDO_API ordo_status ordo_dict_statistics(ordo_dict *dict, const struct ordo_order *order,
                                          struct ordo_statistics *out);

#ifdef __cplusplus
}
#endif

#endif
