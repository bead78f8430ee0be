/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles kernels ahead of time. Otherwise the first call that needs a kernel compiles it, which
 * takes 0.05 to some seconds. Compiled kernels stay on disk.
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

/* Bits for calls of array.h and structures. */
typedef enum ordo_prepare_what {
    ORDO_PREPARE_SORT = 1 << 0,
    ORDO_PREPARE_MERGE = 1 << 1,  /* ordo_merge, ordo_merge_runs */
    ORDO_PREPARE_SCAN = 1 << 2,   /* scans and reductions (unsigned sums only), compact */
    ORDO_PREPARE_SEARCH = 1 << 3, /* ordo_search, ordo_lookup */
    ORDO_PREPARE_PACK = 1 << 4,   /* ordo_key_pack, ordo_key_unpack */
    ORDO_PREPARE_SORTED_ARRAY = 1 << 8,
    ORDO_PREPARE_LSM = 1 << 9,
    ORDO_PREPARE_BLINK = 1 << 10,
    ORDO_PREPARE_FAST = 1 << 11,
    ORDO_PREPARE_HASH = 1 << 12,
    ORDO_PREPARE_HAMT = 1 << 13,
    ORDO_PREPARE_XFAST = 1 << 14,
    ORDO_PREPARE_SKIPLIST = 1 << 15,
} ordo_prepare_what;

/* Bits for operations of dictionaries. */
typedef enum ordo_prepare_op {
    ORDO_PREPARE_BUILD = 1 << 0,
    ORDO_PREPARE_UPDATE = 1 << 1, /* upsert, insert, erase, unsigned sums */
    ORDO_PREPARE_FIND = 1 << 2,   /* find, contains */
    ORDO_PREPARE_ORDER = 1 << 3,  /* queries in key order, size, export */
    ORDO_PREPARE_APPLY = 1 << 4,
    ORDO_PREPARE_CONCURRENT = 1 << 5,
    ORDO_PREPARE_COMPACT = 1 << 6, /* compact, cleanup */
} ordo_prepare_op;

/* Selects the kernels to compile: all combinations of the bits of four masks. A mask of 0 selects
 * everything, except key types of 16 bytes. */
struct ordo_prepare_params {
    uint32_t what;        /* ORDO_PREPARE_SORT ... */
    uint32_t keys;        /* key types: 1u << ORDO_U32 ... */
    uint32_t value_bytes; /* sizes: 1u << 4 ... */
    uint32_t operations;  /* ORDO_PREPARE_BUILD ... */
    size_t   batch;       /* elements per call: kernels for small and large batches differ */

    /* Divides the programs among processes, because some drivers compile only one at a time in a
     * process. This process compiles the programs whose number modulo `parts` is `part`. It runs no
     * kernels. Afterwards one process must prepare with the same masks and `parts` 0. */
    uint32_t part, parts;

    /* Called in the calling thread to report progress. If it returns false, the preparation is
     * cancelled. May be NULL, and may call Ordo. */
    bool (*progress)(void *user, size_t done, size_t total);
    void *user;
};
#ifndef __cplusplus
#define ordo_prepare_params(...) (&(struct ordo_prepare_params) { __VA_ARGS__ })
#endif

struct ordo_prepared {
    size_t programs; /* programs compiled since opening the device */
    /* Programs that did not compile. Calls that need one compile it again and report the error. */
    size_t failed;
    double seconds;
};

/* Compiles the kernels of the selected calls, then makes each call once, because some drivers
 * complete a kernel only when it first runs. Skips unsupported calls. NULL params prepare
 * everything.
 * Memory: some MB on the device, freed at the end except for pooled scratch (ordo_device_trim).
 * Blocking: waits for each program: on an H200 0.03 to 1 s, some ms from the cache.
 * Errors: the first error of a program or call, after all others are done. ORDO_CANCELLED if
 *   `progress` returned false. *out (may be NULL) is set unless `params` is invalid.
 * Concurrency: other threads may use the device. The kernels that they need are compiled first. */
ORDO_API ordo_status ordo_device_prepare(ordo_device                      *device,
                                         const struct ordo_prepare_params *params,
                                         struct ordo_prepared             *out);

#ifdef __cplusplus
}
#endif

#endif
