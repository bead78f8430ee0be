/* SPDX-License-Identifier: Apache-2.0 */
/* Builds kernels ahead, when a service starts or is installed. A call compiles the kernels that no
 * earlier call has used, which takes 0.05 to some seconds. Ordo or the driver then keeps them on
 * disk.
 *
 * Example:
 *
 *     ordo_device_prepare(dev, ordo_prepare_params(.what = ORDO_PREPARE_LSM,
 *                                                  .keys = 1u << ORDO_U64,
 *                                                  .value_bytes = 1u << 4), NULL); */
#ifndef ORDO_PREPARE_H
#define ORDO_PREPARE_H

#include "array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Calls of array.h, and structures. Add up the wanted values. */
typedef enum ordo_prepare_what {
    ORDO_PREPARE_SORT = 1 << 0,
    ORDO_PREPARE_MERGE = 1 << 1,  /* ordo_merge, ordo_merge_runs */
    ORDO_PREPARE_SCAN = 1 << 2,   /* scans by sums of u32 and u64, by minima and maxima; reductions;
                                     compact */
    ORDO_PREPARE_SEARCH = 1 << 3, /* ordo_search, ordo_lookup, with and without an index */
    ORDO_PREPARE_SORTED_ARRAY = 1 << 8,
    ORDO_PREPARE_LSM = 1 << 9,
    ORDO_PREPARE_BLINK = 1 << 10,
    ORDO_PREPARE_FAST = 1 << 11,
    ORDO_PREPARE_HASH = 1 << 12,
    ORDO_PREPARE_HAMT = 1 << 13,
    ORDO_PREPARE_XFAST = 1 << 14,
    ORDO_PREPARE_SKIPLIST = 1 << 15,
} ordo_prepare_what;

/* Operations of dictionaries. Add up the wanted values. */
typedef enum ordo_prepare_op {
    ORDO_PREPARE_BUILD = 1 << 0,
    ORDO_PREPARE_UPDATE = 1 << 1, /* upsert, insert, erase, combine by sums of unsigned numbers */
    ORDO_PREPARE_FIND = 1 << 2,   /* find, contains */
    ORDO_PREPARE_ORDER = 1 << 3,  /* seek, first, last, count, range, size, export */
    ORDO_PREPARE_APPLY = 1 << 4,
    ORDO_PREPARE_CONCURRENT = 1 << 5,
    ORDO_PREPARE_COMPACT = 1 << 6, /* compact, cleanup */
} ordo_prepare_op;

/* The kernels to build: all combinations of the listed items. 0 means all items. */
struct ordo_prepare_params {
    uint32_t what;        /* ORDO_PREPARE_SORT ... */
    uint32_t keys;        /* 1u << ORDO_U32, 1u << ORDO_U64 ... */
    uint32_t value_bytes; /* 1u << 0, 1u << 4, 1u << 8 */
    uint32_t operations;  /* ORDO_PREPARE_BUILD ... */
    size_t   batch;       /* elements per call, because small and large batches have different
                             kernels */

    /* Divides the work among processes that share a cache, because some drivers compile one program
     * of a process at a time. A process builds only every parts-th program, from number `part` on,
     * and makes no call. Afterwards one process prepares the same list with parts 0, which means
     * all. */
    uint32_t part, parts;

    /* Reports progress in the calling thread. Returns false to cancel. May be NULL, and may call
     * Ordo. */
    bool (*progress)(void *user, size_t done, size_t total);
    void *user;
};
#ifndef __cplusplus
#define ordo_prepare_params(...) (&(struct ordo_prepare_params) { __VA_ARGS__ })
#endif

struct ordo_prepared {
    size_t programs; /* programs built on this device object, earlier ones included */
    size_t failed;   /* programs not built: calls that need them try again and report the error */
    double seconds;
};

/* Builds the kernels of the listed calls, then makes each call once, because some drivers finish a
 * kernel when it first runs. Skips unsupported calls. params NULL: everything.
 * Memory: some MB on the device, freed except for pooled scratch (ordo_device_trim).
 * Blocking: waits for each program. A program takes 0.03 to 1 s on an H200, whose driver compiles
 *   one at a time, and tens of ms from a cache.
 * Errors: the first failure of a program or call, after all others are done; ORDO_CANCELLED. *out
 *   (may be NULL) is set unless params are refused.
 * Concurrency: other threads may use the device; their kernels are built first. */
ORDO_API ordo_status ordo_device_prepare(ordo_device                      *device,
                                         const struct ordo_prepare_params *params,
                                         struct ordo_prepared             *out);

#ifdef __cplusplus
}
#endif

#endif
