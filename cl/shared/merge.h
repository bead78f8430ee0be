/* SPDX-License-Identifier: Apache-2.0 */
/* Constants of the merge (cl/primitive/merge.cl). */
#pragma once
#include "shared/group.h"

/* Maximum items per work-item of a group that merges a tile. With more, each work-item merges a chunk alone. */
#define MERGE_ITEMS_MAX 32

/* The bytes of local memory of merge_tiles: keys with items + 1 sentinels, 2 bytes with each value's origin, the values
 * if `staged`, and 2 words. */
#define MERGE_LOCAL_BYTES(group, items, key_bytes, value_bytes, staged)                                                \
    SHARED_ROUND_UP(((group) * (items) + (items) + 1) * (key_bytes) +                                                  \
                        ((value_bytes) ? SHARED_ROUND_UP(2 * (group) * (items), 8) : 0) +                              \
                        ((staged) ? (group) * (items) * (value_bytes) : 0) + 8 + 8,                                    \
                    8)
