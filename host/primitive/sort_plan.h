/* SPDX-License-Identifier: Apache-2.0 */
/* All decisions of a sort, made once from the device, its tunables, the types and the count. */
#ifndef ORDO_SORT_PLAN_H
#define ORDO_SORT_PLAN_H

#include "primitive/primitive.h"

/* The ways to sort. Each is a function of sort.c. */
enum ordo_sort_way {
    ORDO_SORT_BY_SMALL,       /* one launch of one work-group */
    ORDO_SORT_BY_DIRECT,      /* few tiles: one launch per pass */
    ORDO_SORT_BY_ONESWEEP,    /* a histogram, then one launch per pass */
    ORDO_SORT_BY_REDUCE_SCAN, /* three launches per pass */
    ORDO_SORT_BY_FEW_CHUNKS,  /* one launch of one work-item */
    ORDO_SORT_BY_MANY_CHUNKS, /* one work-item per chunk */
};

/* The local pass (cl/primitive/sort_local.cl), which follows the other passes. step 0: no local pass. */
struct ordo_sort_local {
    uint32_t group, items, local_bytes;
    uint32_t step, ranges, segment_limit;
};

struct ordo_sort_plan {
    enum ordo_sort_way     way;
    size_t                 count;
    ordo_type              key;
    uint32_t               key_bytes, value_bytes;
    bool                   descending, in_place;
    uint32_t               first_bit, bits, passes;
    uint32_t               group, items, digit_bits, registers;
    uint32_t               tile, tiles;
    uint32_t               launches, launch_tiles; /* ORDO_SORT_BY_ONESWEEP: launches per pass, tiles per launch */
    uint32_t               histogram_groups;
    bool                   planned;                      /* a kernel plans the passes */
    uint32_t               copies;                       /* copies of the histogram's counters */
    uint32_t               local_bytes, histogram_bytes; /* bytes of local memory */
    uint32_t               chunk, chunks;                /* ORDO_SORT_BY_MANY_CHUNKS */
    uint32_t               bucket_max; /* the most elements of a bucket (cl/primitive/sort_buckets.cl); 0: no buckets */
    struct ordo_sort_local local;
};

/* Requires count > 0. */
struct ordo_sort_plan ordo_sort_plan_of(const ordo_device *dev, const struct ordo_sort_params *params, size_t key_bytes,
                                        size_t count, bool in_place);

#endif
