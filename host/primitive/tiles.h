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
/* For so many tiles, each with a payload of `item_bytes`, for one launch. */
ordo_status ordo_lookback_state(struct ordo_call *call, size_t tiles, size_t item_bytes, struct ordo_lookback *out);

/* The kernels of a file that uses cl/group/tiles.cl, and its items: LOOKBACK_PAYLOAD_BYTES and FOLD_ITEM_BYTES of
 * cl/shared/group.h. */
struct ordo_tile_kernels {
    const char *look_back, *sums, *ranges;
    size_t      payload_bytes, item_bytes;
};
/* A launch over tiles, without its kernel and groups: ordo_call_tiles sets these. */
struct ordo_launch ordo_tiles_launch(const struct ordo_tiles *t, const char *file);
/* Launches one or two of the kernels over all tiles. args: those that all of them have first. */
ordo_status ordo_call_tiles(struct ordo_call *call, const struct ordo_tiles *t, const struct ordo_tile_kernels *kernels,
                            struct ordo_launch launch, struct ordo_args *args);

/* The type of key with whose kernel values of `type` are folded: sums do not tell signed from unsigned. */
ordo_type ordo_fold_type(ordo_type type, ordo_op op);

#endif
