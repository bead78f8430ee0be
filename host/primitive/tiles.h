/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts an array into tiles of group x items elements. Each group takes one tile, or a range of neighbouring tiles. */
#ifndef ORDO_TILES_H
#define ORDO_TILES_H

#include "primitive/primitive.h"

struct ordo_tiles {
    size_t  group, items; /* work-items per group; elements per work-item */
    bool    lookback;     /* one launch, whose tiles look back; else two launches */
    cl_uint tiles;
    cl_uint range;  /* tiles per range: the tiles of one group if lookback is false */
    size_t  groups; /* number of ranges; 1: one launch of one group, whatever lookback says */
    cl_uint shift;  /* elements of the first tile that lie before the array: cl/group/tile.cl */
};

/* Returns the tiles of `count` elements of key_bytes each. group and items name the tunables. Kernels read aligned
 * vectors of an array that begins at element `at` of its buffer; pass 0 if they read none. */
struct ordo_tiles ordo_tiles_of(const ordo_device *dev, enum ordo_tunable group, enum ordo_tunable items,
                                size_t key_bytes, size_t count, size_t at);

/* Whether tiles of one launch look back at each other (cl/group/lookback.cl). */
bool ordo_looks_back(const ordo_device *dev, enum ordo_shape shape);
struct ordo_lookback {
    cl_mem  mem;
    cl_uint stamp;
};
/* Makes the state of one launch over `tiles` tiles that pass item_bytes each. */
ordo_status ordo_lookback_state(struct ordo_call *call, size_t tiles, size_t item_bytes, struct ordo_lookback *out);

/* The kernels of a file that includes cl/group/tiles.cl: look_back for one launch, sums and ranges for two. The bytes
 * are LOOKBACK_PAYLOAD_BYTES and FOLD_ITEM_BYTES of cl/shared/group.h. */
struct ordo_tile_kernels {
    const char *look_back, *sums, *ranges;
    size_t      payload_bytes, item_bytes;
};
/* ordo_call_tiles sets the launch's kernel and groups. */
struct ordo_launch ordo_tiles_launch(const struct ordo_tiles *t, const char *file);
/* Launches one or two kernels over all tiles. `args` has the first arguments of each kernel. */
ordo_status ordo_call_tiles(struct ordo_call *call, const struct ordo_tiles *t, const struct ordo_tile_kernels *kernels,
                            struct ordo_launch launch, struct ordo_args *args);

/* Returns the type whose kernel folds values of `type`. Sums of signed integers are sums of unsigned ones. */
ordo_type ordo_fold_type(ordo_type type, ordo_op op);

#endif
