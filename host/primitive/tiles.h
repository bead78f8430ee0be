/* SPDX-License-Identifier: Apache-2.0 */
/* How scan, reduce and compact cut an array: tiles of group x items elements, and ranges of tiles. */
#ifndef ORDO_TILES_H
#define ORDO_TILES_H

#include "primitive/primitive.h"

struct ordo_tiles {
    size_t  group, items; /* work-items per group; elements per work-item */
    bool    lookback;     /* one launch with look-back, else a launch per phase */
    cl_uint tiles;
    cl_uint range;  /* tiles per group, without look-back */
    size_t  groups; /* groups with that range; 1: that one does all in one launch, whatever the way */
    cl_uint shift;  /* elements that the first tile begins before the array; see cl/group/tile.cl */
};

/* Tiles for `count` elements of key_bytes each, as the tunables group and items have them (ORDO_SCAN_GROUP and ORDO_SCAN_ITEMS,
 * or those of compact). `at`: the element of its buffer where the array begins that is to be
 * accessed in aligned vectors; 0 if none is. */
struct ordo_tiles ordo_tiles_of(const ordo_device *dev, enum ordo_tunable group, enum ordo_tunable items,
                                size_t key_bytes, size_t count, size_t at);

/* Whether tiles of one launch learn from each other what is before them (cl/group/lookback.cl). */
bool ordo_looks_back(const ordo_device *dev, enum ordo_shape shape);
/* lookback_state of cl/group/lookback.cl. */
struct ordo_lookback {
    cl_mem  mem;
    cl_uint stamp;
};
/* For so many tiles, each with an item of `item_bytes`, for one launch. */
ordo_status ordo_lookback_state(struct ordo_call *call, size_t tiles, size_t item_bytes, struct ordo_lookback *out);

#endif
