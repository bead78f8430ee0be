/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays cut into tiles of group x items elements, and ranges of tiles. */
#ifndef ORDO_TILES_H
#define ORDO_TILES_H

#include "primitive/primitive.h"

struct ordo_tiles {
    size_t  group, items; /* work-items per group; elements per work-item */
    bool    lookback;     /* look-back in one launch, not two launches */
    cl_uint tiles;
    cl_uint range;  /* tiles per group without look-back */
    size_t  groups; /* groups with ranges; 1: one launch by one group */
    cl_uint shift;  /* elements from the first tile's begin to the array's: cl/group/tile.cl */
};

/* The tiles of `count` elements of key_bytes each. group, items: the tunables. at: the first element, in its buffer, of
 * the array that kernels access in aligned vectors, else 0. */
struct ordo_tiles ordo_tiles_of(const ordo_device *dev, enum ordo_tunable group, enum ordo_tunable items,
                                size_t key_bytes, size_t count, size_t at);

/* Whether tiles of one launch look back at each other (cl/group/lookback.cl). */
bool ordo_looks_back(const ordo_device *dev, enum ordo_shape shape);
struct ordo_lookback {
    cl_mem  mem;
    cl_uint stamp;
};
/* State for one launch over `tiles` tiles with a payload of item_bytes each. */
ordo_status ordo_lookback_state(struct ordo_call *call, size_t tiles, size_t item_bytes, struct ordo_lookback *out);

/* The kernels of a file over cl/group/tiles.cl, with LOOKBACK_PAYLOAD_BYTES and FOLD_ITEM_BYTES of cl/shared/group.h.
 */
struct ordo_tile_kernels {
    const char *look_back, *sums, *ranges;
    size_t      payload_bytes, item_bytes;
};
/* A launch over tiles. ordo_call_tiles sets the kernel and groups. */
struct ordo_launch ordo_tiles_launch(const struct ordo_tiles *t, const char *file);
/* Launches one or two kernels over all tiles. args: the first arguments of each kernel. */
ordo_status ordo_call_tiles(struct ordo_call *call, const struct ordo_tiles *t, const struct ordo_tile_kernels *kernels,
                            struct ordo_launch launch, struct ordo_args *args);

/* The type whose kernel folds values of `type`. Sums of signed and unsigned integers are the same. */
ordo_type ordo_fold_type(ordo_type type, ordo_op op);

#endif
