/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles kernels ahead of time. Compiled kernels stay on disk.
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

/* A bit selects the kernels of a dictionary structure, or of these calls in array.h:
 *   SORT     ordo_sort
 *   MERGE    ordo_merge, ordo_merge_runs
 *   SCAN     ordo_compact, and for unsigned sums ordo_scan, ordo_segmented_scan and ordo_reduce
 *   SEARCH   ordo_search, ordo_lookup
 *   PACK     ordo_key_pack, ordo_key_unpack */
typedef enum ordo_prepare_what {
    ORDO_PREPARE_SORT = 1 << 0,
    ORDO_PREPARE_MERGE = 1 << 1,
    ORDO_PREPARE_SCAN = 1 << 2,
    ORDO_PREPARE_SEARCH = 1 << 3,
    ORDO_PREPARE_PACK = 1 << 4,
    ORDO_PREPARE_SORTED_ARRAY = 1 << 8,
    ORDO_PREPARE_LSM = 1 << 9,
    ORDO_PREPARE_BLINK = 1 << 10,
    ORDO_PREPARE_FAST = 1 << 11,
    ORDO_PREPARE_HASH = 1 << 12,
    ORDO_PREPARE_HAMT = 1 << 13,
    ORDO_PREPARE_XFAST = 1 << 14,
    ORDO_PREPARE_SKIPLIST = 1 << 15,
} ordo_prepare_what;

/* Calls on dictionaries.
 *   UPDATE    ordo_dict_upsert, ordo_dict_insert, ordo_dict_erase, ordo_dict_combine for unsigned
 *             sums
 *   FIND      ordo_dict_find, ordo_dict_contains
 *   ORDER     all other queries, such as ordo_dict_range, ordo_dict_size and ordo_dict_export
 *   COMPACT   ordo_dict_compact, ordo_lsm_cleanup */
typedef enum ordo_prepare_op {
    ORDO_PREPARE_BUILD = 1 << 0,
    ORDO_PREPARE_UPDATE = 1 << 1,
    ORDO_PREPARE_FIND = 1 << 2,
    ORDO_PREPARE_ORDER = 1 << 3,
    ORDO_PREPARE_APPLY = 1 << 4,
    ORDO_PREPARE_CONCURRENT = 1 << 5,
    ORDO_PREPARE_COMPACT = 1 << 6,
} ordo_prepare_op;

/* Selects the kernels to compile by four bit masks. All combinations are compiled. A mask of 0
 * selects everything, except keys and values of 16 bytes. */
struct ordo_prepare_params {
    uint32_t what;        /* bits of ordo_prepare_what */
    uint32_t keys;        /* a bit mask: 1u << ORDO_U32 selects keys of type ORDO_U32 */
    uint32_t value_bytes; /* a bit mask: 1u << 4 selects values of 4 bytes */
    uint32_t operations;  /* bits of ordo_prepare_op */
    size_t   batch;       /* elements per later call: kernels for small and large batches differ */

    /* Some drivers compile only one program at a time in a process. To compile in several
     * processes, set `parts` to their number, and `part` to a different number from 0 to parts - 1
     * in each. Afterwards one process must call again with `part` and `parts` 0, and all other
     * members as before. */
    uint32_t part, parts;

    /* May be NULL. The calling thread calls it to report progress. If it returns false, the
     * preparation stops. It may call Ordo. */
    bool (*progress)(void *user, size_t done, size_t total);
    void *user;
};
#ifndef __cplusplus
#define ordo_prepare_params(...) (&(struct ordo_prepare_params) { __VA_ARGS__ })
#endif

struct ordo_prepared {
    size_t programs; /* number of programs compiled since the device was opened */
    size_t failed;   /* number of programs that did not compile */
    double seconds;
};

/* Compiles the kernels of the selected calls, then makes each call once, because some drivers
 * complete a kernel only when it first runs. Skips unsupported calls. NULL params prepare
 * everything.
 * Cost: 0.03 to 1 s per program on an H200, or some ms if the program is in the cache.
 * Memory: some MB on the device. ordo_device_trim frees the part that stays allocated.
 * Blocking: yes.
 * Errors: the first error of a program or call. It does not stop the others. ORDO_CANCELLED if
 *   `progress` returned false. *out (may be NULL) is set unless `params` is invalid.
 * Concurrency: other threads may use the device. */
ORDO_API ordo_status ordo_device_prepare(ordo_device                      *device,
                                         const struct ordo_prepare_params *params,
                                         struct ordo_prepared             *out);

#ifdef __cplusplus
}
#endif

#endif
