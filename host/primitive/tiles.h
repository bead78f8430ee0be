/* SPDX-License-Identifier: Apache-2.0 */
/* Divides an array into tiles of group * items elements. With look-back, a work-group handles one tile, otherwise a
 * range of tiles. */
#ifndef ORDO_TILES_H
#define ORDO_TILES_H

#include "primitive/primitive.h"

struct ordo_tiles {
    size_t group, items; /* Work-items per group, and elements per work-item. */
    /* If true, one launch suffices, because groups wait for the results of earlier groups. Otherwise there are two. */
    bool    lookback;
    cl_uint tiles;
    cl_uint range; /* Tiles per group. With `lookback` and several groups, each group has one tile instead. */
    size_t  groups;
    cl_uint shift; /* Tile 0 begins this many elements before the array, so that vectors are aligned. */
};

/* `at` is the index of the array's first element in its buffer. Pass 0 if kernels use no vectors. */
struct ordo_tiles ordo_tiles_of(const ordo_device *dev, enum ordo_tunable group, enum ordo_tunable items,
                                size_t key_bytes, size_t count, size_t at);
/* With `items` elements per work-item, or as many as fit. */
struct ordo_tiles ordo_tiles_with(const ordo_device *dev, enum ordo_tunable group, size_t items, size_t key_bytes,
                                  size_t count, size_t at);

/* Returns true if kernels should use look-back (cl/group/lookback.cl). */
bool ordo_looks_back(const ordo_device *dev, enum ordo_shape shape);
struct ordo_lookback {
    cl_mem  mem;
    cl_uint stamp;
};
/* Creates the buffer in which each tile publishes its result of item_bytes bytes. */
ordo_status ordo_lookback_state(struct ordo_call *call, size_t tiles, size_t item_bytes, struct ordo_lookback *out);

/* Names of kernels in a file that includes cl/group/tiles.cl. */
struct ordo_tile_kernels {
    const char *look_back, *sums, *ranges;
    size_t      payload_bytes, item_bytes;
};
struct ordo_launch ordo_tiles_launch(const struct ordo_tiles *t, const char *file);
/* Launches `look_back` alone, `ranges` alone, or `sums` and then `ranges`, over all tiles. The caller must have added
 * to `args` the arguments that all these kernels share. */
ordo_status ordo_call_tiles(struct ordo_call *call, const struct ordo_tiles *t, const struct ordo_tile_kernels *kernels,
                            struct ordo_launch launch, struct ordo_args *args);

/* Returns the type that a kernel computes with. Sums of signed integers use the unsigned type. */
ordo_type ordo_fold_type(ordo_type type, ordo_op op);

#endif
