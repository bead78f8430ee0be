/* SPDX-License-Identifier: Apache-2.0 */
/* What host and kernels of the merge (cl/primitive/merge.cl) both know. */
#pragma once
#include "shared/group.h"

/* More items per work-item than this, and a work-group's tile no longer fits in registers and local memory: such a number
 * is a chunk for one work-item that works by itself. */
#define MERGE_ITEMS_MAX 32

/* Bytes of local memory of merge_tiles: a tile's keys and a sentinel after each work-item's, where each element stood if there are
 * values, the values if they are staged, and 2 words. */
#define MERGE_LOCAL_BYTES(group, items, key_bytes, value_bytes, staged)                                                \
    SHARED_ROUND_UP(((group) * (items) + (items) + 1) * (key_bytes) +                                                  \
                        ((value_bytes) ? SHARED_ROUND_UP(2 * (group) * (items), 8) : 0) +                              \
                        ((staged) ? (group) * (items) * (value_bytes) : 0) + 8 + 8,                                    \
                    8)
