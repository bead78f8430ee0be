/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels are compiled for the device at hand when a call first needs them, which takes a call 0.05 to some seconds, once: they
 * are then kept on disk, by Ordo or by the driver, for all later processes. On a GPU threads of the device's own
 * (ordo_device_config) begin to build what a dictionary is likely to need when it is created. This builds by list, all at once:
 * when a service starts, or when it is installed.
 *
 *     ordo_device_prepare(dev, ordo_prepare_params(.what = ORDO_PREPARE_LSM, .keys = 1u << ORDO_U64,
 *                                                  .value_bytes = 1u << 4), NULL);
 */
#ifndef ORDO_PREPARE_H
#define ORDO_PREPARE_H

#include "array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What will be used: array.h's calls, and structures. To be added. */
typedef enum ordo_prepare_what {
    ORDO_PREPARE_SORT = 1 << 0,
    ORDO_PREPARE_MERGE = 1 << 1,  /* ordo_merge, ordo_merge_runs */
    ORDO_PREPARE_SCAN = 1 << 2,   /* of u32 and u64: sums; of all types: minima and maxima; reductions; compact */
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

/* Operations of dictionaries. To be added. */
typedef enum ordo_prepare_op {
    ORDO_PREPARE_BUILD = 1 << 0,
    ORDO_PREPARE_UPDATE = 1 << 1, /* upsert, insert, erase, combine by sums of unsigned numbers */
    ORDO_PREPARE_FIND = 1 << 2,   /* find, contains */
    ORDO_PREPARE_ORDER = 1 << 3,  /* seek, first, last, count, range, size, export */
    ORDO_PREPARE_APPLY = 1 << 4,
    ORDO_PREPARE_CONCURRENT = 1 << 5,
    ORDO_PREPARE_COMPACT = 1 << 6, /* compact, cleanup */
} ordo_prepare_op;

/* Every combination of what is listed. 0 means all. */
struct ordo_prepare_params {
    uint32_t what;        /* ORDO_PREPARE_SORT ... */
    uint32_t keys;        /* 1u << ORDO_U32, 1u << ORDO_U64 ... */
    uint32_t value_bytes; /* 1u << 0, 1u << 4, 1u << 8 */
    uint32_t operations;  /* ORDO_PREPARE_BUILD ... */
    size_t   batch;       /* elements of a call: kernels for small batches differ from those for large ones */

    /* For processes that fill one cache side by side, as some drivers compile one program of a process at a time: this one
     * builds only every parts-th program, from number `part` on, and makes no call. Once all have ended, one prepares the same
     * list without parts, mostly from the cache. parts 0: all. */
    uint32_t part, parts;

    /* Told from time to time, by the thread that called, how much is done of how much; false ends it: ORDO_CANCELLED. May be
     * NULL. It may call Ordo. */
    bool (*progress)(void *user, size_t done, size_t total);
    void *user;
};
#ifndef __cplusplus
#define ordo_prepare_params(...) (&(struct ordo_prepare_params) { __VA_ARGS__ })
#endif

struct ordo_prepared {
    size_t programs; /* that are ready on this device object, those built before included */
    size_t failed;   /* that could not be built: the calls that need them will try again, and say why */
    double seconds;
};

/* Builds what the calls listed need, on the device's threads and this one, then makes each of these calls once, on dictionaries of its own
 * that it destroys: some drivers finish a kernel only when it first runs. What a device or a structure cannot do is passed over.
 * Blocks     on an H200 0.03 to 1 s a program, as its driver compiles one of a process at a time (parts help), on a CPU as long as
 *            all compiles; with filled caches tens of ms.
 *            Other threads may use the device meanwhile; what they need is built first.
 * Memory     some MB on the device, given back but for pooled scratch (ordo_device_trim).
 * Errors     that of the first program which could not be built, or of the first call that failed; all the rest is prepared
 *            all the same. ORDO_CANCELLED. *out (may be NULL) is set whatever comes of it, but where params are refused.
 * params NULL: all of everything. */
ORDO_API ordo_status ordo_device_prepare(ordo_device *device, const struct ordo_prepare_params *params,
                                         struct ordo_prepared *out);

#ifdef __cplusplus
}
#endif

#endif
