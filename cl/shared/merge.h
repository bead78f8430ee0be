/* SPDX-License-Identifier: Apache-2.0 */
/* Limits and local memory of the merge (cl/primitive/merge.cl). */
#pragma once
#include "shared/group.h"

/* With more items per work-item, tiles do not fit in registers and local memory: each work-item merges a chunk
 * alone. */
#define MERGE_ITEMS_MAX 32

/* Bytes of local memory of merge_tiles: the keys, a sentinel for each item and 1 more; each element's origin if there
 * are values; the values if staged; 2 words. */
#define MERGE_LOCAL_BYTES(group, items, key_bytes, value_bytes, staged)                                                \
    SHARED_ROUND_UP(((group) * (items) + (items) + 1) * (key_bytes) +                                                  \
                        ((value_bytes) ? SHARED_ROUND_UP(2 * (group) * (items), 8) : 0) +                              \
                        ((staged) ? (group) * (items) * (value_bytes) : 0) + 8 + 8,                                    \
                    8)
