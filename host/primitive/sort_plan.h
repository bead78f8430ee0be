/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the algorithm, the tile size and the passes of a sort. */
#ifndef ORDO_SORT_PLAN_H
#define ORDO_SORT_PLAN_H

#include "primitive/primitive.h"

enum ordo_sort_way {
    ORDO_SORT_BY_SMALL,       /* One work-group sorts all elements. */
    ORDO_SORT_BY_MERGE,       /* Each work-group sorts a tile. Then one launch merges all tiles. */
    ORDO_SORT_BY_ONESWEEP,    /* One launch counts all digits, then one launch per pass. */
    ORDO_SORT_BY_REDUCE_SCAN, /* Three launches per pass. */
    ORDO_SORT_BY_FEW_CHUNKS,  /* One work-item sorts all elements. */
    ORDO_SORT_BY_MANY_CHUNKS, /* One work-item sorts each chunk. */
};

/* The local pass (cl/primitive/sort_local.cl): each work-group sorts about `step` elements. There is none if `step` is
 * 0. */
struct ordo_sort_local {
    uint32_t group, items, local_bytes;
    uint32_t step, ranges, segment_limit;
};

/* The sort by buckets on CPUs (struct sort_buckets in cl/shared/sort.h). */
struct ordo_sort_buckets {
    uint32_t bits;    /* There are 2^bits buckets. */
    uint32_t longest; /* maximum number of elements in a bucket, or 0 if there are no buckets */
    uint32_t chunk, chunks;
    uint32_t step;
    uint32_t sort_step;
    uint32_t room;
    bool     blocks;
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
    /* Each pass has `launches` launches of up to launch_tiles tiles. */
    uint32_t                 launches, launch_tiles;
    uint32_t                 histogram_groups;
    bool                     planned;
    uint32_t                 copies;
    uint32_t                 local_bytes, histogram_bytes;
    uint32_t                 chunk, chunks;
    struct ordo_sort_buckets buckets;
    struct ordo_sort_local   local;
};

/* `count` must not be 0. */
struct ordo_sort_plan ordo_sort_plan_of(const ordo_device *dev, const struct ordo_sort_params *params, size_t key_bytes,
                                        size_t count, bool in_place);

#endif
