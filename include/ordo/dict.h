/* SPDX-License-Identifier: Apache-2.0 */
/* Ordered dictionaries in device memory: one interface, several structures behind it.
 *
 *     ordo_dict *dict = NULL;
 *     ordo_lsm_create(dev, ordo_lsm_config(.dict = { .key = ORDO_U32, .value_bytes = 4 }), &dict);
 *     ordo_dict_upsert(dict, ordo_at(keys, 0), ordo_at(values, 0), count, NULL);
 *     ordo_dict_find(dict, ordo_at(queries, 0), n, ordo_at(found_values, 0), ordo_at(found, 0), NULL);
 *     ordo_dict_destroy(&dict);
 *
 * A dictionary maps keys to values; each key is there once at most. Every key and every value is legal. Keys are ordered
 * as array.h says: integers by value, floats in IEEE total order (-0 and +0 are two keys, and so is each NaN).
 *
 * What holds for every call here:
 *   Arrays     device memory with an offset in elements (ordo_at), or ordo_none() where a call allows it. Values are
 *              ordo_none() where value_bytes is 0: values that are given are refused. Calls ending in _host take host
 *              memory instead (NULL for ordo_none()), need room on the device for it, and block. Where there is no such
 *              room, find, contains, count, seek, seek_within, rank, select and aggregate ask in pieces, between which
 *              no other thread's call comes; after an error they may have written some of their answers.
 *   Batches    any size from 1 up to ORDO_MAX_COUNT; 0 does nothing but signal order->done, and set numbers that are returned
 *              and offsets[0] to 0. A batch acts as if its operations ran one after another in the order of their indices. Queries
 *              see all updates of calls before.
 *   Blocking   calls enqueue and return. Those that wait for the device say so under "Waits"; they wait for what
 *              order->wait names, too. Inputs must stay untouched, and outputs unread, until the commands are done.
 *   First calls  a call waits for the kernels that it is the first to need on this device: on an H200 0.05 to 1 s each and
 *              up to 1.2 s in all, on a CPU up to 4 s; some ms where they are on the disk already (prepare.h).
 *   Order      the dictionary orders its own calls: one made on another queue waits for those made before.
 *   Overlap    outputs must not overlap inputs or each other: ORDO_INVALID. Inputs may: keys may be their own values.
 *   Results    are the same bits on every device, with every structure and tuning (but the order of what a hash table exports:
 *              hash.h).
 *   Errors     ORDO_INVALID, ORDO_TOO_LARGE (more than ORDO_MAX_COUNT elements in a batch, or stored in all; scratch or a part
 *              of a structure larger than the device's largest allocation),
 *              ORDO_UNSUPPORTED (see ordo_dict_can), ORDO_NO_DEVICE_MEMORY, ORDO_BUILD, ORDO_OPENCL, ORDO_DEVICE_FAILED,
 *              ORDO_NO_HOST_MEMORY, ORDO_FORKED; ordo_device_last_error says what is wrong. After an error the dictionary
 *              holds what it held before the call, and the call may be made again. device.h says what holds where a kernel
 *              or a driver fails for good.
 *   Threads    any number may call on one dictionary: a lock takes them one after another, updates included.
 */
#ifndef ORDO_DICT_H
#define ORDO_DICT_H

#include "array.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ordo_dict ordo_dict;

/* What every structure's own configuration begins with. */
struct ordo_dict_config {
    ordo_type key;
    uint32_t  value_bytes; /* 0, 4 or 8 */
};

/* Sets *dict to NULL. NULL and *NULL are fine. Commands under way finish. Destroy when no other thread makes calls on it any more;
 * before or after the device is closed, of which a dictionary holds what it needs (so one that is never destroyed keeps it). */
ORDO_API void ordo_dict_destroy(ordo_dict **dict);

typedef enum ordo_dict_op {
    ORDO_CAN_BUILD,
    ORDO_CAN_UPDATE, /* upsert, insert, erase */
    ORDO_CAN_FIND,   /* find, contains, size, export */
    ORDO_CAN_ORDER, /* what goes by the order of keys: count, range, seek, first, last, rank, select, aggregate, take_first ... */
    ORDO_CAN_APPLY, /* without ORDO_CAN_ORDER a batch that has seeks, counts, ranges, ranks or selections is refused */
    ORDO_CAN_COMPACT,
    ORDO_CAN_CONCURRENT, /* apply_concurrent */
} ordo_dict_op;
/* Whether the structure behind dict can do this; false for NULL. */
ORDO_API bool ordo_dict_can(const ordo_dict *dict, ordo_dict_op op);
/* "sorted array", "lsm", "blink", "skiplist", "fast", "hash", "xfast", "hamt". "" for NULL. */
ORDO_API const char *ordo_dict_name(const ordo_dict *dict);

/* ---- updates ------------------------------------------------------------------------------------------------- */

/* Replaces the whole content by count elements in any order; of equal keys the last wins. 0 elements empty it.
 * Cost    one sort. Waits once, for the number of distinct keys.
 * Memory  the old content stays until the new one is there. A sorted array, an LSM or a FAST tree takes besides, scratch
 *         included, up to 2.2 times the new keys and values, 3.3 times where keys repeat, and 4 MiB; a B-link tree or a
 *         skiplist 5 times. The headers of the others say how much these take. */
ORDO_API ordo_status ordo_dict_build(ordo_dict *dict, struct ordo_slice keys, struct ordo_slice values, size_t count,
                                     const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_build_host(ordo_dict *dict, const void *keys, const void *values, size_t count);

/* Stores each key with its value, replacing the value that it had.
 * Cost     of this and of ordo_dict_erase: an update, which the structures' headers describe.
 * Scratch  as much as the batch's keys and values, but where a structure's header says more. */
ORDO_API ordo_status ordo_dict_upsert(ordo_dict *dict, struct ordo_slice keys, struct ordo_slice values, size_t count,
                                      const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_upsert_host(ordo_dict *dict, const void *keys, const void *values, size_t count);

/* Stores each key that is not there; those that are keep their values. inserted (one byte each, or ordo_none()): 1 where
 * the key was stored, 0 where it was there already, or earlier in the batch.
 * Cost     a sort of the keys, a find for each, and an update. Scratch two keys and 12 bytes an element, or the update's. */
ORDO_API ordo_status ordo_dict_insert(ordo_dict *dict, struct ordo_slice keys, struct ordo_slice values, size_t count,
                                      struct ordo_slice inserted, const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_insert_host(ordo_dict *dict, const void *keys, const void *values, size_t count,
                                           uint8_t *inserted);

/* Combines each key's value with the given one: the value becomes old + new, or the least or the greatest of the two, as op
 * says; a key that is not there gets the new one. Equal keys in a batch are all combined. Counters, sums and extremes by
 * key are one call a batch.
 *   value  what the values are: a type of value_bytes bytes. Sums are of integers, modulo 2^32 or 2^64; of floats:
 *          ORDO_UNSUPPORTED, as a float sum would depend on the order; extremes are of every type, in its order.
 * Cost     a sort of the batch with its values, a find for each key and an update. Scratch a key, two values and 2 bytes an
 *          element, and the update's. Hash tables, B-link trees and skiplists combine where they update, sorted arrays and
 *          X-fast tries as they merge.
 * ORDO_INVALID where value_bytes is 0 or not that of `value`. */
ORDO_API ordo_status ordo_dict_combine(ordo_dict *dict, ordo_type value, ordo_op op, struct ordo_slice keys,
                                       struct ordo_slice values, size_t count, const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_combine_host(ordo_dict *dict, ordo_type value, ordo_op op, const void *keys,
                                            const void *values, size_t count);

/* Removes each key; a key that is not there is fine. */
ORDO_API ordo_status ordo_dict_erase(ordo_dict *dict, struct ordo_slice keys, size_t count,
                                     const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_erase_host(ordo_dict *dict, const void *keys, size_t count);

/* Removes all keys k with lo[i] <= k <= hi[i], for each i; ranges may overlap, and one with lo[i] > hi[i] is empty.
 * erased (uint32_t each, or ordo_none()): how many range i removed that those before it had left.
 * Cost     two ranks for each range, a sort of them, and for each element removed a range's and an update's. One range in an LSM: lsm.h.
 * Scratch  44 bytes and two keys a range, and 17 more where ranges overlap and `erased` is asked for; and the keys removed.
 * Waits, for how many these are. */
ORDO_API ordo_status ordo_dict_erase_range(ordo_dict *dict, struct ordo_slice lo, struct ordo_slice hi, size_t count,
                                           struct ordo_slice erased, const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_erase_range_host(ordo_dict *dict, const void *lo, const void *hi, size_t count,
                                                uint32_t *erased);

/* Removes the `count` least elements, or all if there are fewer, and returns them in order: a priority queue's pop, many at a
 * time. take_last removes the greatest ones and returns them from the greatest down. *taken, which must not be NULL,
 * receives how many they are. keys_out and values_out have room for `count`, at most ORDO_MAX_COUNT, or are ordo_none().
 * Cost     a range of as many elements, and an update, but in an LSM (lsm.h), and for the last of a sorted array, which are cut off
 *          where they lie. Scratch a key and a byte for each. Waits, for their number. */
ORDO_API ordo_status ordo_dict_take_first(ordo_dict *dict, size_t count, struct ordo_slice keys_out,
                                          struct ordo_slice values_out, size_t *taken, const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_take_first_host(ordo_dict *dict, size_t count, void *keys_out, void *values_out,
                                               size_t *taken);
ORDO_API ordo_status ordo_dict_take_last(ordo_dict *dict, size_t count, struct ordo_slice keys_out,
                                         struct ordo_slice values_out, size_t *taken, const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_take_last_host(ordo_dict *dict, size_t count, void *keys_out, void *values_out,
                                              size_t *taken);

/* Empties the dictionary and gives its memory back. */
ORDO_API ordo_status ordo_dict_clear(ordo_dict *dict);

/* Drops what no query can see (replaced and erased elements) and gives spare memory back, but for what the blocks in use
 * have left over: some 3 % of keys and values, of a B-link tree 10 %. Waits. */
ORDO_API ordo_status ordo_dict_compact(ordo_dict *dict, const struct ordo_order *order);

/* ---- queries -------------------------------------------------------------------------------------------------
 *
 * Each costs a search, in an LSM in each run, and what it returns; the structures' headers say what may come before.
 * Scratch  none for finds; up to 8 bytes a query for counts; for seeks 4, and a key or 1 byte more where keys_out or
 *          found is not given; 20 for ranges, in an LSM 8 more for each further run. */

/* values_out[i] = the value of keys[i]; left alone where the key is not there. found (one byte each: 1 or 0) and
 * values_out may be ordo_none(). */
ORDO_API ordo_status ordo_dict_find(ordo_dict *dict, struct ordo_slice keys, size_t count, struct ordo_slice values_out,
                                    struct ordo_slice found, const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_find_host(ordo_dict *dict, const void *keys, size_t count, void *values_out,
                                         uint8_t *found);

/* found[i] (one byte) = whether keys[i] is there. */
ORDO_API ordo_status ordo_dict_contains(ordo_dict *dict, struct ordo_slice keys, size_t count, struct ordo_slice found,
                                        const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_contains_host(ordo_dict *dict, const void *keys, size_t count, uint8_t *found);

/* counts[i] (uint32_t) = how many keys k there are with lo[i] <= k <= hi[i]; 0 where lo[i] > hi[i]. */
ORDO_API ordo_status ordo_dict_count(ordo_dict *dict, struct ordo_slice lo, struct ordo_slice hi, size_t count,
                                     struct ordo_slice counts, const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_count_host(ordo_dict *dict, const void *lo, const void *hi, size_t count,
                                          uint32_t *counts);

/* All elements with lo[i] <= key <= hi[i], in key order: those of query i are elements offsets[i] to offsets[i + 1] - 1
 * of keys_out and values_out (each may be ordo_none()). offsets is count + 1 numbers (uint64_t).
 *   capacity  elements that keys_out and values_out have room for. If offsets[count] is more, offsets are right but
 *             nothing is written to keys_out and values_out.
 *   needed    receives offsets[count], for which the call waits; it then returns ORDO_TOO_SMALL where that is more than
 *             capacity. NULL: the call does not wait, and the caller looks at offsets[count]. In host memory the
 *             call waits, and returns that, whether needed is NULL or not. */
ORDO_API ordo_status ordo_dict_range(ordo_dict *dict, struct ordo_slice lo, struct ordo_slice hi, size_t count,
                                     struct ordo_slice offsets, struct ordo_slice keys_out,
                                     struct ordo_slice values_out, size_t capacity, size_t *needed,
                                     const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_range_host(ordo_dict *dict, const void *lo, const void *hi, size_t count,
                                          uint64_t *offsets, void *keys_out, void *values_out, size_t capacity,
                                          size_t *needed);

/* Ranges with a limit, and in either direction: the next k elements after a key, the last k before one, a page of a
 * listing. */
struct ordo_limited_ranges {
    struct ordo_slice lo, hi;
    size_t            count;
    uint32_t          limit;  /* elements of a range, at most; 0: as many as there are */
    struct ordo_slice limits; /* uint32_t: of range i not more than limits[i] either, which may be 0; or ordo_none() */
    bool              descending; /* from hi[i] down: with a limit these are the greatest, else the least */

    struct ordo_slice offsets; /* count + 1 numbers (uint64_t) */
    struct ordo_slice keys_out, values_out;
    size_t            capacity; /* elements that keys_out and values_out have room for */
};
/* As ordo_dict_range, with what limits leave.
 * Cost     a range; with limits also two ranks and a selection for each. Descending, its elements once more.
 * Scratch  a range's; with limits also 16 bytes and three keys for each. */
ORDO_API ordo_status ordo_dict_range_limited(ordo_dict *dict, const struct ordo_limited_ranges *ranges, size_t *needed,
                                             const struct ordo_order *order);

/* The same in host memory. NULL where ordo_limited_ranges has ordo_none(). */
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
ORDO_API ordo_status ordo_dict_range_limited_host(ordo_dict *dict, const struct ordo_host_limited_ranges *ranges,
                                                  size_t *needed);

/* results[i] = the sum, least or greatest of the values of all keys k with lo[i] <= k <= hi[i]; of none the identity of op, as
 * ordo_reduce has it. `value` and op as in ordo_dict_combine. counts (uint32_t, or ordo_none()): how many values
 * they are.
 * Cost     two ranks for each range, and for short ranges (up to 128 elements) their values. If one is longer: a table, which
 *          answers in a time that does not depend on the length, made in the time of an export when first asked for
 *          and kept for the next call until the dictionary changes; if all ranges together have less than a quarter of all
 *          elements, of these alone.
 * Memory   the table: a value for each element stored, and a 15th more of extremes.
 * Scratch  16 bytes a range; of short ranges their values; a table's that is not kept. Waits, for how long the ranges are. */
ORDO_API ordo_status ordo_dict_aggregate(ordo_dict *dict, ordo_type value, ordo_op op, struct ordo_slice lo,
                                         struct ordo_slice hi, size_t count, struct ordo_slice results,
                                         struct ordo_slice counts, const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_aggregate_host(ordo_dict *dict, ordo_type value, ordo_op op, const void *lo,
                                              const void *hi, size_t count, void *results, uint32_t *counts);

typedef enum ordo_relation {
    ORDO_LT = 0, /* the largest key < k */
    ORDO_LE = 1, /* the largest key <= k */
    ORDO_GE = 2, /* the smallest key >= k */
    ORDO_GT = 3, /* the smallest key > k */
} ordo_relation;

/* Successors and predecessors: of the keys that stand in `relation` to keys[i], the nearest, with its value. Where there is
 * none, found[i] is 0 and the other outputs are left alone. Each output may be ordo_none(). */
ORDO_API ordo_status ordo_dict_seek(ordo_dict *dict, ordo_relation relation, struct ordo_slice keys, size_t count,
                                    struct ordo_slice keys_out, struct ordo_slice values_out, struct ordo_slice found,
                                    const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_seek_host(ordo_dict *dict, ordo_relation relation, const void *keys, size_t count,
                                         void *keys_out, void *values_out, uint8_t *found);

/* The same, but nothing is found past bounds[i]: with ORDO_GE and ORDO_GT a key greater than it, with ORDO_LT and ORDO_LE a
 * lesser one. Scratch a key, a value and a byte a query more. */
ORDO_API ordo_status ordo_dict_seek_within(ordo_dict *dict, ordo_relation relation, struct ordo_slice keys,
                                           struct ordo_slice bounds, size_t count, struct ordo_slice keys_out,
                                           struct ordo_slice values_out, struct ordo_slice found,
                                           const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_seek_within_host(ordo_dict *dict, ordo_relation relation, const void *keys,
                                                const void *bounds, size_t count, void *keys_out, void *values_out,
                                                uint8_t *found);

/* ranks[i] (uint32_t) = how many keys are less than keys[i] (relation ORDO_LT), or not greater (ORDO_LE). Other relations:
 * ORDO_INVALID. Cost: a search, in an LSM in each run. */
ORDO_API ordo_status ordo_dict_rank(ordo_dict *dict, ordo_relation relation, struct ordo_slice keys, size_t count,
                                    struct ordo_slice ranks, const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_rank_host(ordo_dict *dict, ordo_relation relation, const void *keys, size_t count,
                                         uint32_t *ranks);

/* The element that ranks[i] (uint32_t) others are before in key order: 0 selects the least. Where there are not so many,
 * found[i] is 0 and the other outputs are left alone. Each output may be ordo_none().
 * Cost  a look in a sorted array, a binary search over leaves in a tree; in an LSM of several runs a step for each bit of a
 *       key and run. */
ORDO_API ordo_status ordo_dict_select(ordo_dict *dict, struct ordo_slice ranks, size_t count,
                                      struct ordo_slice keys_out, struct ordo_slice values_out, struct ordo_slice found,
                                      const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_select_host(ordo_dict *dict, const uint32_t *ranks, size_t count, void *keys_out,
                                           void *values_out, uint8_t *found);

/* The `count` least (greatest) elements, as ordo_dict_take_first and ordo_dict_take_last return them, and left where they are;
 * `got` must not be NULL. Waits, for their number. */
ORDO_API ordo_status ordo_dict_peek_first(ordo_dict *dict, size_t count, struct ordo_slice keys_out,
                                          struct ordo_slice values_out, size_t *got, const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_peek_first_host(ordo_dict *dict, size_t count, void *keys_out, void *values_out,
                                               size_t *got);
ORDO_API ordo_status ordo_dict_peek_last(ordo_dict *dict, size_t count, struct ordo_slice keys_out,
                                         struct ordo_slice values_out, size_t *got, const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_peek_last_host(ordo_dict *dict, size_t count, void *keys_out, void *values_out,
                                              size_t *got);

/* The minimum (maximum): one element for each output, as by ordo_dict_seek. */
ORDO_API ordo_status ordo_dict_first(ordo_dict *dict, struct ordo_slice key_out, struct ordo_slice value_out,
                                     struct ordo_slice found, const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_first_host(ordo_dict *dict, void *key_out, void *value_out, uint8_t *found);
ORDO_API ordo_status ordo_dict_last(ordo_dict *dict, struct ordo_slice key_out, struct ordo_slice value_out,
                                    struct ordo_slice found, const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_last_host(ordo_dict *dict, void *key_out, void *value_out, uint8_t *found);

/* The number of keys. Waits. */
ORDO_API ordo_status ordo_dict_size(ordo_dict *dict, const struct ordo_order *order, size_t *out);

/* All elements in key order (of a hash table in the table's). *count receives their number; if that is more than capacity,
 * nothing is written and ORDO_TOO_SMALL returned. values_out may be ordo_none(). Waits. */
ORDO_API ordo_status ordo_dict_export(ordo_dict *dict, struct ordo_slice keys_out, struct ordo_slice values_out,
                                      size_t capacity, size_t *count, const struct ordo_order *order);
ORDO_API ordo_status ordo_dict_export_host(ordo_dict *dict, void *keys_out, void *values_out, size_t capacity,
                                           size_t *count);

/* ---- mixed batches ------------------------------------------------------------------------------------------- */

/* One byte per operation of a mixed batch. */
typedef enum ordo_code {
    ORDO_FIND = 0,     /* found, values_out */
    ORDO_CONTAINS = 1, /* found */
    ORDO_UPSERT = 2,   /* found: whether the key was there before */
    ORDO_INSERT = 3,   /* found: whether the key was there before, so that nothing was stored */
    ORDO_ERASE = 4,    /* found: whether the key was there before */
    ORDO_SEEK_LT = 5,  /* found, keys_out, values_out */
    ORDO_SEEK_LE = 6,
    ORDO_SEEK_GE = 7,
    ORDO_SEEK_GT = 8,
    ORDO_COUNT = 9,    /* counts: keys from keys[i] to his[i] */
    ORDO_RANGE = 10,   /* the same keys, with their values, in the range outputs; counts: how many they are */
    ORDO_COMBINE = 11, /* found: whether the key was there before */
    ORDO_RANK_LT = 12, /* counts: keys less than keys[i] */
    ORDO_RANK_LE = 13, /* counts: keys not greater */
    ORDO_SELECT =
        14, /* found, keys_out, values_out: the element of the rank that keys[i] is, taken as an unsigned number of
                          the keys' width */
    ORDO_N_CODES = 15,
    ORDO_N_CONCURRENT_CODES = 11, /* codes below this are those of concurrent batches, too */
} ordo_code;

/* A mixed batch of `count` operations. What an operation does not write is left alone; outputs may be ordo_none(). */
struct ordo_batch {
    struct ordo_slice codes; /* bytes: ordo_code */
    struct ordo_slice keys;  /* of counts and ranges the lower bound */
    struct ordo_slice his; /* upper bounds of counts and ranges, looked at only there; ordo_none() if there are none */
    struct ordo_slice values; /* of upserts, inserts and combines; ordo_none() if there are none */
    size_t            count;

    struct ordo_slice found;      /* bytes */
    struct ordo_slice keys_out;   /* of seeks and selections */
    struct ordo_slice values_out; /* of finds, seeks and selections */
    struct ordo_slice counts;     /* uint32_t: of counts, ranges and ranks */

    struct ordo_slice offsets; /* count + 1 numbers (uint64_t): results of range i are offsets[i] to offsets[i + 1] - 1;
                                  nothing lies there of an operation that is no range. ordo_none() if there are none */
    struct ordo_slice range_keys, range_values;
    size_t            range_capacity; /* elements that range_keys and range_values have room for */

    ordo_type value;   /* of combines, looked at only if there are some: what the values are, */
    ordo_op   combine; /* and how they are combined: see ordo_dict_combine */
};

/* Does a mixed batch as if its operations ran one after another in the order of their indices. An unknown code refuses the
 * whole batch: ORDO_INVALID; so do combines that ordo_dict_combine would refuse, with its error. Ranges that need more room than there is refuse it too: ORDO_TOO_SMALL, with *needed (which
 * may be NULL) the room needed. In both cases nothing is applied.
 * Cost     point operations: one stable sort, one find per key, two scans (three with combines) and one update. Seeks: some
 *          12 launches, a seek of the structure for each and two for each erasure, and a step for each key that the batch brings in later, or has
 *          erased before, up to 32; if one takes more, or if there are counts, ranges, ranks or selections: some 5 launches per bit of `count`,
 *          then log2(count) steps for each besides the structure's own query; for a range as many per element that lies in it before the batch
 *          or at its turn. Waits, for what is in the
 *          batch, for the size of ranges and for how much is stored.
 * Scratch  some 45 bytes an operation, 80 with order queries, besides keys and values; for ranges also their elements as
 *          before the batch. */
ORDO_API ordo_status ordo_dict_apply(ordo_dict *dict, const struct ordo_batch *batch, size_t *needed,
                                     const struct ordo_order *order);

/* The same in host memory. NULL where ordo_batch has ordo_none(). */
struct ordo_host_batch {
    const uint8_t *codes;
    const void    *keys, *his, *values;
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
ORDO_API ordo_status ordo_dict_apply_host(ordo_dict *dict, const struct ordo_host_batch *batch, size_t *needed);

/* ---- operations side by side --------------------------------------------------------------------------------- */

/* What became of an operation of a concurrent batch, a byte each. */
typedef enum ordo_outcome {
    ORDO_DONE = 0,
    ORDO_NOT_STORED = 1, /* no memory: the operation has changed nothing */
    ORDO_CUT_SHORT = 2,  /* a range with more elements than room: counts says how many there are */
    ORDO_UNKNOWN = 3,    /* no such code in concurrent batches: nothing done */
} ordo_outcome;

/* A batch of `count` operations without order between them. Codes, inputs and outputs are those of ordo_batch, but for
 * ranges: the room for them is laid out by the caller. */
struct ordo_concurrent_batch {
    struct ordo_slice codes, keys, his, values; /* as in ordo_batch */
    size_t            count;

    struct ordo_slice found, keys_out, values_out, counts; /* as in ordo_batch */
    struct ordo_slice outcomes;                            /* bytes: ordo_outcome; ordo_none() where nobody asks */

    struct ordo_slice
        rooms; /* count + 1 numbers (uint64_t), an input: range i may write elements rooms[i] to rooms[i + 1]
                                - 1; they ascend. What lies there behind the counts[i] elements that it reports is
                                undefined after the call. ordo_none() if there are no ranges */
    struct ordo_slice range_keys, range_values;
    size_t range_capacity; /* elements that range_keys and range_values have room for; rooms beyond are cut */
};

/* Does all operations of a batch at once, each as soon as a work-item comes to it.
 * Order     each operation on one key (find, contains, upsert, insert, erase) takes effect at one moment between the call's
 *           beginning and its end: for each key there is one order of its operations that explains all results
 *           (linearizability). Which order that is may differ from run to run; but finds and contains come first: they see
 *           what was there before the batch.
 * Neighbours, counts, ranges  what they see of each leaf was there at one moment, but leaves are looked at one after another.
 *           So: each key reported was there, with that value, at some moment of the operation; a key that was there all the
 *           while, and lies in the range, is reported exactly once; keys ascend.
 * Errors    running out of memory is an outcome per operation, and the call ORDO_OK; ORDO_NO_DEVICE_MEMORY if there is not even
 *           scratch for 1024 operations: nothing is done. An OpenCL error ends the call; what was done by then stays done.
 *           Stores without values, counts and ranges without his, and ranges without rooms refuse the whole batch:
 *           ORDO_INVALID, and nothing is done. ORDO_TOO_LARGE if there would be more than ORDO_MAX_COUNT elements if all
 *           stores were of new keys.
 * Cost      a search and a change of a leaf for each update, at once as far as they meet different leaves. Updates that give
 *           up, as too many want one leaf, are in the end done as by ordo_dict_apply, after a look at the whole structure;
 *           neighbours and counts that have gone through hundreds of leaves, as by ordo_dict_seek and ordo_dict_count.
 * Scratch   32 bytes an operation, for up to 2^24 of them at a time, or fewer where there is less memory; of those that give up
 *           what ordo_dict_apply takes.
 * Waits. ORDO_UNSUPPORTED where !ordo_dict_can(dict, ORDO_CAN_CONCURRENT). */
ORDO_API ordo_status ordo_dict_apply_concurrent(ordo_dict *dict, const struct ordo_concurrent_batch *batch,
                                                const struct ordo_order *order);

/* The same in host memory. NULL where ordo_concurrent_batch has ordo_none(). */
struct ordo_host_concurrent_batch {
    const uint8_t  *codes;
    const void     *keys, *his, *values;
    size_t          count;
    uint8_t        *found;
    void           *keys_out, *values_out;
    uint32_t       *counts;
    uint8_t        *outcomes;
    const uint64_t *rooms;
    void           *range_keys, *range_values;
    size_t          range_capacity;
};
ORDO_API ordo_status ordo_dict_apply_concurrent_host(ordo_dict *dict, const struct ordo_host_concurrent_batch *batch);

/* ---- what is inside ------------------------------------------------------------------------------------------ */

/* Checks the structure's invariants: ORDO_BROKEN with a message that names the first one that does not hold, and where.
 * Reads everything. Waits. */
ORDO_API ordo_status ordo_dict_check(ordo_dict *dict, const struct ordo_order *order);

struct ordo_dict_statistics {
    size_t elements;    /* that queries see */
    size_t stale;       /* replaced or erased, still stored */
    size_t tombstones;  /* stored only to say that a key is erased */
    size_t runs;        /* sorted runs; 1 for a sorted array that is not empty */
    size_t bytes_data;  /* keys and values of all that is stored; of a HAMT what they take there */
    size_t bytes_index; /* search indexes */
    size_t bytes_marks; /* bits and counters beside the elements */
    size_t bytes_spare; /* held for later, unless another call is short of memory, and what blocks have left over */
    size_t bytes_peak;  /* the most that the dictionary held at once since it was created, all uses together */
    size_t cleanups;    /* since it was created; of a tree, rebuilds */
    size_t leaves;      /* of a tree or a HAMT: nodes that hold elements */
    size_t levels;      /* likewise: from the root to the leaves, both counted */
    size_t restarts;    /* of concurrent batches: steps that others were in the way of; finds have none */
};
/* Waits, to count. */
ORDO_API ordo_status ordo_dict_statistics(ordo_dict *dict, const struct ordo_order *order,
                                          struct ordo_dict_statistics *out);

#ifdef __cplusplus
}
#endif

#endif
