/* SPDX-License-Identifier: Apache-2.0 */
/* Plans a sort on the host: chooses the algorithm, the sizes of work-groups and tiles, and the number of passes. */
#ifndef ORDO_SORT_PLAN_H
#define ORDO_SORT_PLAN_H

#include "primitive/primitive.h"

/* The sort algorithms. Each has a function in sort.c. */
enum ordo_sort_way {
    ORDO_SORT_BY_SMALL,       /* One work-group sorts all elements in one launch. */
    ORDO_SORT_BY_DIRECT,      /* For few tiles: each pass is one launch. */
    ORDO_SORT_BY_ONESWEEP,    /* One histogram kernel, then one read of the elements per pass. */
    ORDO_SORT_BY_REDUCE_SCAN, /* A pass counts, scans and scatters in three launches. */
    ORDO_SORT_BY_FEW_CHUNKS,  /* For CPUs: one work-item sorts all elements. */
    ORDO_SORT_BY_MANY_CHUNKS, /* For CPUs: each work-item moves one chunk per pass. */
};

/* The plan of the local pass (cl/primitive/sort_local.cl), the last pass of some sorts of 8-byte keys. Each work-group
 * sorts a range of about `step` elements in local memory. There is no local pass if `step` is 0. */
struct ordo_sort_local {
    uint32_t group, items, local_bytes;
    uint32_t step, ranges, segment_limit;
};

struct ordo_sort_plan {
    enum ordo_sort_way way;
    size_t             count;
    ordo_type          key;
    uint32_t           key_bytes, value_bytes;
    bool               descending, in_place;
    uint32_t           first_bit, bits, passes;
    uint32_t           group, items, digit_bits, registers;
    uint32_t           tile, tiles;
    /* Number of launches per pass, and of tiles per launch, for ORDO_SORT_BY_ONESWEEP. */
    uint32_t launches, launch_tiles;
    uint32_t histogram_groups;
    /* True if kernel sort_histogram chooses the digit of each pass on the device. */
    bool planned;
    /* Number of copies of each counter in the histogram kernel's local memory. */
    uint32_t copies;
    /* Bytes of local memory that a work-group needs to sort a tile, and to compute the histogram. */
    uint32_t local_bytes, histogram_bytes;
    /* Number of elements per chunk, and number of chunks. */
    uint32_t chunk, chunks;
    /* Maximum number of elements in a bucket (cl/primitive/sort_buckets.cl), or 0 if the sort has no buckets. */
    uint32_t               bucket_max;
    struct ordo_sort_local local;
};

/* Returns the plan for a sort of `count` elements. Needs count > 0. */
struct ordo_sort_plan ordo_sort_plan_of(const ordo_device *dev, const struct ordo_sort_params *params, size_t key_bytes,
                                        size_t count, bool in_place);

#endif
