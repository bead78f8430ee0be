/* SPDX-License-Identifier: Apache-2.0 */
/* Divides an array into tiles of group * items elements. With look-back (waiting for results of earlier tiles) a
 * work-group handles one tile, otherwise a range of successive tiles. */
#ifndef ORDO_TILES_H
#define ORDO_TILES_H

#include "primitive/primitive.h"

struct ordo_tiles {
    size_t group, items; /* Number of work-items per group, and of elements per work-item. */
    /* If true, groups wait for earlier groups, and one launch suffices. If false, there are two launches. */
    bool    lookback;
    cl_uint tiles;
    cl_uint range;  /* Number of tiles per group if `lookback` is false. */
    size_t  groups; /* Number of ranges of tiles. If it is 1, one group handles all tiles in one launch. */
    cl_uint shift;  /* Tile 0 begins this number of elements before the array, so that vectors are aligned. */
};

/* Returns the tiles of `count` elements of key_bytes bytes each. `at` is the index of the array's first element in
 * its buffer, which kernels need to align vectors. Pass 0 if kernels use no vectors. */
struct ordo_tiles ordo_tiles_of(const ordo_device *dev, enum ordo_tunable group, enum ordo_tunable items,
                                size_t key_bytes, size_t count, size_t at);

/* Returns true if kernels should use look-back (cl/group/lookback.cl). `shape` gives the sizes of keys and values. */
bool ordo_looks_back(const ordo_device *dev, enum ordo_shape shape);
struct ordo_lookback {
    cl_mem  mem;
    cl_uint stamp;
};
/* Creates the buffer in which each tile of a look-back publishes its result of item_bytes bytes. */
ordo_status ordo_lookback_state(struct ordo_call *call, size_t tiles, size_t item_bytes, struct ordo_lookback *out);

/* Names of kernels in a file that includes cl/group/tiles.cl. With look-back only kernel look_back runs, otherwise
 * `sums` and then `ranges`. */
struct ordo_tile_kernels {
    const char *look_back, *sums, *ranges;
    size_t      payload_bytes, item_bytes;
};
struct ordo_launch ordo_tiles_launch(const struct ordo_tiles *t, const char *file);
/* Launches one or two kernels over all tiles. `args` must already have the first arguments, which the kernels share. */
ordo_status ordo_call_tiles(struct ordo_call *call, const struct ordo_tiles *t, const struct ordo_tile_kernels *kernels,
                            struct ordo_launch launch, struct ordo_args *args);

/* Returns the type for which a kernel is compiled: for sums of signed integers the unsigned type, else `type`. */
ordo_type ordo_fold_type(ordo_type type, ordo_op op);

#endif
