/* SPDX-License-Identifier: Apache-2.0 */
/* Ordered dictionaries in device memory: one interface to several structures.
 *
 * A dictionary maps distinct keys to values. Every key and every value is legal. Keys have the
 * order of array.h; -0 and +0 are two keys, and so is each NaN.
 *
 * Rules for all calls:
 *   Arrays      device memory with an offset in elements (ordo_at), or ordo_none() if the call
 *               allows it. Values must be ordo_none() if value_bytes is 0. A call whose name
 *               ends in _host takes host memory (NULL for ordo_none()), allocates device memory
 *               of the same size, and blocks. If that allocation fails, queries of single keys,
 *               counts and aggregates work in pieces. Other threads' calls then wait for all
 *               pieces, and after an error some outputs may be written.
 *   Batches     0 to ORDO_MAX_COUNT elements. A batch acts as if its operations ran one after
 *               another in the order of their indices. Queries see all earlier updates. An empty
 *               batch signals order->done and sets returned numbers and offsets[0] to 0.
 *   Blocking    a call enqueues and returns, as in array.h, unless it says that it waits.
 *   Events      a call that changes the dictionary blocks until the events in order->wait have
 *               completed. A query passes the events to the driver, unless it waits anyway or
 *               must first build something, as the first query of order after an update does
 *               (ordo_order).
 *   First call  builds its kernels, as in array.h.
 *   Order       a call on another queue waits for the earlier calls on the same dictionary.
 *   Overlap     outputs must not overlap inputs or each other. Inputs may overlap.
 *   Results     are bit-identical on all devices, structures and tunings, except for the order
 *               in which a hash table exports (hash.h).
 *   Errors      as in array.h. ORDO_TOO_LARGE: more than ORDO_MAX_COUNT elements in a batch or
 *               in the dictionary, or an allocation above the device's largest.
 *               ORDO_UNSUPPORTED: ordo_dict_can returns false for the call. After an error of
 *               arguments or memory the content is unchanged. After ORDO_OPENCL, structures that
 *               change in place (blink.h, hash.h) may hold a part of the batch. The next call
 *               then checks the structure and returns ORDO_BROKEN if it is damaged;
 *               ordo_dict_build and ordo_dict_clear repair it.
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
 * complete. The device may be closed earlier: its resources live until the last dictionary is
 * destroyed.
 * Concurrency: no other thread may be in a call on the dictionary. */
ORDO_API void ordo_dict_destroy(ordo_dict **dict);

typedef enum ordo_dict_op {
    ORDO_CAN_BUILD,
    ORDO_CAN_UPDATE, /* upsert, insert, erase */
    ORDO_CAN_FIND,   /* find, contains, size, export */
    /* Queries in key order: count, range, seek, rank, select, aggregate, take_first ... */
    ORDO_CAN_ORDER,
    /* Mixed batches. Without ORDO_CAN_ORDER they contain only operations on single keys. */
    ORDO_CAN_APPLY,
    ORDO_CAN_COMPACT,
    ORDO_CAN_CONCURRENT, /* ordo_dict_apply_concurrent */
} ordo_dict_op;
/* Returns whether the dictionary's structure supports op; false for NULL. */
ORDO_API bool ordo_dict_can(const ordo_dict *dict, ordo_dict_op op);
/* Returns the name of the structure, such as "lsm" or "sorted array"; "" for NULL. */
ORDO_API const char *ordo_dict_name(const ordo_dict *dict);

/* ---- updates ------------------------------------------------------------------------------- */

/* Replaces the content by count elements in any order. If keys repeat, the last value of each
 * counts.
 * Cost: one sort.
 * Memory: a sorted array, LSM or FAST tree takes up to 2.2 times the new keys and values (3.3 times
 *   if keys repeat) and 4 MiB; a B-link tree or skiplist takes 5 times; the headers of the others
 *   say. The old content stays until the end.
 * Blocking: waits for the number of distinct keys. */
ORDO_API ordo_status ordo_dict_build(ordo_dict *dict, struct ordo_slice keys,
                                     struct ordo_slice values, size_t count,
                                     const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_build_host(ordo_dict *dict, const void *keys, const void *values,
                                          size_t count);

/* Stores each key with its value, which replaces the old value.
 * Cost: an update, as the structure's header describes it.
 * Memory: scratch as large as the batch, unless the structure's header says otherwise. */
ORDO_API ordo_status ordo_dict_upsert(ordo_dict *dict, struct ordo_slice keys,
                                      struct ordo_slice values, size_t count,
                                      const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_upsert_host(ordo_dict *dict, const void *keys, const void *values,
                                           size_t count);

/* Stores each absent key. Present keys keep their values. Of equal keys in the batch only the first
 * is stored. inserted[i] (one byte; or ordo_none()) = 1 if key i was stored, else 0.
 * Cost: a sort of the keys, a find for each key, and an update.
 * Memory: per element scratch of two keys and 12 bytes, or the update's scratch if that is larger.
 */
ORDO_API ordo_status ordo_dict_insert(ordo_dict *dict, struct ordo_slice keys,
                                      struct ordo_slice values, size_t count,
                                      struct ordo_slice inserted, const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_insert_host(ordo_dict *dict, const void *keys, const void *values,
                                           size_t count, uint8_t *inserted);

/* Combines each given value with the stored value of its key: their sum, minimum or maximum (op).
 * An absent key gets the new value. If a key repeats, all its values are combined. `value` is the
 * type of the values.
 * Cost: an update, a sort of keys with values, and a find for each key. Hash tables, B-link trees,
 *   skiplists, sorted arrays and X-fast tries need only an update.
 * Memory: per element scratch of a key, two values and 2 bytes; and the update's scratch.
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

/* Removes all keys in [lo[i], hi[i]] for each i. Ranges may overlap. A range with lo[i] > hi[i] is
 * empty. erased[i] (uint32_t; or ordo_none()) = the number of keys that range i removes if the
 * ranges run in order.
 * Cost: two ranks for each range, a sort of the ranges, a range query and an update. A single range
 *   costs less in an LSM (lsm.md).
 * Memory: scratch of the removed keys, and per range 44 bytes and two keys. If ranges overlap and
 *   `erased` is given, 17 bytes more per range.
 * Blocking: waits for the number of removed keys. */
ORDO_API ordo_status ordo_dict_erase_range(ordo_dict *dict, struct ordo_slice lo,
                                           struct ordo_slice hi, size_t count,
                                           struct ordo_slice        erased,
                                           const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_erase_range_host(ordo_dict *dict, const void *lo, const void *hi,
                                                size_t count, uint32_t *erased);

/* Removes the count least elements, or all if there are fewer, and returns them in ascending order,
 * as a priority queue does. take_last removes the greatest and returns them in descending order.
 * *taken receives their number. keys_out and values_out have capacity for count elements or are
 * ordo_none().
 * Cost: a range query and an update. An LSM only marks the elements (lsm.md). take_last only
 *   shortens a sorted array.
 * Memory: per element scratch of a key and a byte.
 * Blocking: waits for the number of elements. */
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
 * Memory: unused space in blocks remains: about 3 % of keys and values, in a B-link tree 10 %.
 * Blocking: waits. */
ORDO_API ordo_status ordo_dict_compact(ordo_dict *dict, const struct ordo_order *order);

/* ---- queries -----------------------------------------------------------------------------------
 *
 * Cost: a search for each query (an LSM searches each run), and the results. Some structures first
 *   prepare an index or a list, as their headers say.
 * Memory: scratch, in bytes per query. A find needs none, and a count up to 8. A seek needs 4, plus
 *   the size of a key if keys_out is ordo_none(), plus 1 if found is ordo_none(). A range needs 20,
 *   and in an LSM 8 more for each run after the first. */

/* values_out[i] = the value of keys[i], unchanged if the key is absent. found[i] (one byte) = 1 if
 * the key is present, else 0. Both outputs may be ordo_none(). */
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

/* Returns all elements with keys in [lo[i], hi[i]], in key order. Query i receives elements
 * offsets[i] to offsets[i + 1] - 1 of keys_out and values_out. offsets has count + 1 numbers
 * (uint64_t). Each output may be ordo_none(). *needed receives offsets[count].
 * Blocking: waits if `needed` is not NULL, and in the _host call.
 * Errors: ORDO_TOO_SMALL if offsets[count] exceeds capacity, the number of elements that keys_out
 *   and values_out hold. Then neither is written. If `needed` is NULL, the caller must compare. */
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
    uint32_t          limit; /* the most elements of a range; 0: no limit */
    /* range i has at most limits[i] elements (uint32_t), possibly 0; or ordo_none() */
    struct ordo_slice limits;
    bool              descending; /* from hi[i] down: a limit keeps the greatest */

    struct ordo_slice offsets; /* count + 1 numbers (uint64_t) */
    struct ordo_slice keys_out, values_out;
    size_t            capacity; /* elements that keys_out and values_out hold */
};
/* Answers ranges with limits as ordo_dict_range does.
 * Cost: a range query. A limit adds two ranks and a selection per range. Descending order moves
 *   each element once more.
 * Memory: scratch of a range query. A limit adds 16 bytes and three keys per range. */
ORDO_API ordo_status ordo_dict_range_limited(ordo_dict                        *dict,
                                             const struct ordo_limited_ranges *ranges,
                                             size_t *needed, const struct ordo_order *order);

/* ordo_limited_ranges in host memory. */
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
 * identity of op if there are none. counts[i] (uint32_t; or ordo_none()) = their number.
 * Cost: two ranks for each range. If every range has at most 128 elements, their values are read.
 *   Else all values are exported into a table that stays until the dictionary changes. Ranges that
 *   have less than a quarter of all elements get a table of their own, which is not kept.
 * Memory: per range scratch of 16 bytes, and the values of short ranges. The table has a value for
 *   each element, and for minima and maxima a 15th more.
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

/* Seeks that find no key beyond bounds[i]: none greater with ORDO_GE and ORDO_GT, none lesser with
 * ORDO_LT and ORDO_LE.
 * Memory: per query also scratch of a key, a value and a byte. */
ORDO_API ordo_status ordo_dict_seek_within(ordo_dict *dict, ordo_relation relation,
                                           struct ordo_slice keys, struct ordo_slice bounds,
                                           size_t count, struct ordo_slice keys_out,
                                           struct ordo_slice values_out, struct ordo_slice found,
                                           const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_seek_within_host(ordo_dict *dict, ordo_relation relation,
                                                const void *keys, const void *bounds, size_t count,
                                                void *keys_out, void *values_out, uint8_t *found);

/* ranks[i] (uint32_t) = the number of keys less than keys[i] (ORDO_LT), or not greater (ORDO_LE).
 * Cost: a search for each key; an LSM searches each run.
 * Errors: ORDO_INVALID for other relations. */
ORDO_API ordo_status ordo_dict_rank(ordo_dict *dict, ordo_relation relation, struct ordo_slice keys,
                                    size_t count, struct ordo_slice ranks,
                                    const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_rank_host(ordo_dict *dict, ordo_relation relation, const void *keys,
                                         size_t count, uint32_t *ranks);

/* Finds the element whose key has ranks[i] (uint32_t) lesser keys; 0 selects the least. If there is
 * none, found[i] is 0 and the other outputs are unchanged. Each output may be ordo_none().
 * Cost: a sorted array reads one element. A tree searches its leaves. An LSM of several runs takes
 *   a step per run for each bit of a key. */
ORDO_API ordo_status ordo_dict_select(ordo_dict *dict, struct ordo_slice ranks, size_t count,
                                      struct ordo_slice keys_out, struct ordo_slice values_out,
                                      struct ordo_slice found, const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_select_host(ordo_dict *dict, const uint32_t *ranks, size_t count,
                                           void *keys_out, void *values_out, uint8_t *found);

/* Return the elements that ordo_dict_take_first and ordo_dict_take_last would remove, and keep
 * them. got must not be NULL.
 * Blocking: waits for the number of elements. */
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

/* Return the least or the greatest element. Each output has one entry, as in ordo_dict_seek. */
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

/* Returns all elements in key order, or in a hash table's own order. *count receives their number.
 * values_out may be ordo_none().
 * Blocking: waits.
 * Errors: ORDO_TOO_SMALL if *count exceeds capacity. Then nothing is written. */
ORDO_API ordo_status ordo_dict_export(ordo_dict *dict, struct ordo_slice keys_out,
                                      struct ordo_slice values_out, size_t capacity, size_t *count,
                                      const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_export_host(ordo_dict *dict, void *keys_out, void *values_out,
                                           size_t capacity, size_t *count);

/* ---- mixed batches ------------------------------------------------------------------------- */

/* An operation of a mixed batch: one byte. Each comment lists the outputs that the operation
 * writes. */
typedef enum ordo_code {
    ORDO_FIND = 0,     /* found, values_out */
    ORDO_CONTAINS = 1, /* found */
    ORDO_UPSERT = 2,   /* found: whether the key was present before */
    ORDO_INSERT = 3,   /* found: 1 if the key was present before, so nothing was stored */
    ORDO_ERASE = 4,    /* found: whether the key was present before */
    ORDO_SEEK_LT = 5,  /* found, keys_out, values_out */
    ORDO_SEEK_LE = 6,
    ORDO_SEEK_GE = 7,
    ORDO_SEEK_GT = 8,
    ORDO_COUNT = 9,    /* counts: keys in [keys[i], hi[i]] */
    ORDO_RANGE = 10,   /* counts, and the elements in range_keys, range_values */
    ORDO_COMBINE = 11, /* found: whether the key was present before */
    ORDO_RANK_LT = 12, /* counts: keys less than keys[i] */
    ORDO_RANK_LE = 13, /* counts: keys not greater than keys[i] */
    ORDO_SELECT = 14,  /* found, keys_out, values_out: the element of rank keys[i] */
    ORDO_N_CODES = 15,
    ORDO_N_CONCURRENT_CODES = 11, /* concurrent batches take only codes below this one */
} ordo_code;

/* A mixed batch of count operations. An operation leaves the outputs that it does not write
 * unchanged. Arrays except codes and keys may be ordo_none() if unused. */
struct ordo_batch {
    struct ordo_slice codes;  /* bytes: ordo_code */
    struct ordo_slice keys;   /* lower bounds of counts and ranges */
    struct ordo_slice hi;     /* upper bounds of counts and ranges */
    struct ordo_slice values; /* read by upserts, inserts and combines */
    size_t            count;

    struct ordo_slice found;      /* bytes */
    struct ordo_slice keys_out;   /* written by seeks and selections */
    struct ordo_slice values_out; /* written by finds, seeks and selections */
    struct ordo_slice counts;     /* uint32_t: written by counts, ranges and ranks */

    /* count + 1 numbers (uint64_t): range i has elements offsets[i] to offsets[i + 1] - 1 of
     * range_keys and range_values; other operations have none */
    struct ordo_slice offsets;
    struct ordo_slice range_keys, range_values;
    size_t            range_capacity; /* elements that range_keys and range_values hold */

    ordo_type value;   /* type of the values, for combines */
    ordo_op   combine; /* operation of combines (ordo_dict_combine) */
};

/* Applies a mixed batch as if its operations ran one after another in the order of their indices.
 * Cost: one sort, one find for each key, two scans (three if there are combines), one update. For
 *   queries of order see share/doc/dict.md.
 * Memory: per operation scratch of about 45 bytes (80 if there are queries of order), its key and
 *   its value; and the elements that the ranges have before the batch.
 * Blocking: waits.
 * Errors: as ordo_dict_combine; ORDO_INVALID for an unknown code; ORDO_TOO_SMALL if ranges exceed
 *   range_capacity, and *needed receives their length (`needed` may be NULL). Nothing is then
 *   applied. */
ORDO_API ordo_status ordo_dict_apply(ordo_dict *dict, const struct ordo_batch *batch,
                                     size_t *needed, const struct ordo_order *order);

/* ordo_batch in host memory. */
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
 * Operations on single keys are linearizable: for each key, one order of its operations explains
 * all results. The order may differ between runs, but finds and contains see the state before the
 * batch. Seeks, counts and ranges see the leaves one after another, each leaf at one moment. A
 * reported key was present with its reported value at some moment. A key that was present
 * throughout is reported once. Keys ascend. */

/* The outcome of an operation of a concurrent batch: one byte. */
typedef enum ordo_outcome {
    ORDO_DONE = 0,
    ORDO_NOT_STORED = 1, /* out of memory; the operation changed nothing */
    ORDO_CUT_SHORT = 2,  /* a range exceeds its capacity; counts has its length */
    ORDO_UNKNOWN = 3,    /* the code is not one of concurrent batches; nothing done */
} ordo_outcome;

/* A batch of count unordered operations. Members are as in ordo_batch, except that the caller
 * assigns each range its slice of range_keys and range_values. */
struct ordo_concurrent_batch {
    struct ordo_slice codes, keys, hi, values; /* see ordo_batch */
    size_t            count;

    struct ordo_slice found, keys_out, values_out, counts; /* see ordo_batch */
    struct ordo_slice outcomes;                            /* bytes: ordo_outcome; or ordo_none() */

    /* An input: count + 1 ascending numbers (uint64_t). Range i may write elements rooms[i] to
     * rooms[i + 1] - 1. Elements of the slice after its counts[i] results are undefined. */
    struct ordo_slice rooms;
    struct ordo_slice range_keys, range_values;
    size_t            range_capacity; /* elements that they hold; slices that exceed it are cut */
};

/* Applies a batch concurrently.
 * Cost: each update searches for a leaf and changes it. Contention costs more, and so do seeks and
 *   counts over hundreds of leaves (share/doc/dict.md).
 * Memory: scratch of 32 bytes for each of up to 2^24 operations at a time, fewer if memory is
 *   short.
 * Blocking: waits.
 * Errors: ORDO_NO_DEVICE_MEMORY if scratch for 1024 operations is missing; ORDO_INVALID for missing
 *   values, hi or rooms; ORDO_TOO_LARGE if ORDO_MAX_COUNT could be exceeded. Nothing is then done.
 *   After ORDO_OPENCL a part is done. An operation that lacks memory reports it in `outcomes`
 *   alone. */
ORDO_API ordo_status ordo_dict_apply_concurrent(ordo_dict                          *dict,
                                                const struct ordo_concurrent_batch *batch,
                                                const struct ordo_order            *order);

/* ordo_concurrent_batch in host memory. */
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
 * Errors: ORDO_BROKEN. The message names the first violated invariant and where it is violated. */
ORDO_API ordo_status ordo_dict_check(ordo_dict *dict, const struct ordo_order *order);

struct ordo_statistics {
    size_t elements;    /* visible to queries */
    size_t stale;       /* replaced or erased elements, still stored */
    size_t tombstones;  /* records of erased keys */
    size_t runs;        /* sorted runs; 1 for a non-empty sorted array */
    size_t bytes_data;  /* stored keys and values; in a HAMT their compressed size */
    size_t bytes_index; /* search indexes */
    size_t bytes_marks; /* bits and counters in addition to the elements */
    size_t bytes_spare; /* cached blocks, freed if memory is short; unused parts of blocks */
    size_t bytes_peak;  /* the most memory in use since creation */
    size_t cleanups;    /* cleanups since creation; in a tree, rebuilds */
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
