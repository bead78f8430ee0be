/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes for kernels that merge two sorted arrays (cl/primitive/merge.cl). */
#pragma once
#include "shared/group.h"

/* A work-group merges in local memory if each work-item has at most this many elements. */
#define MERGE_ITEMS_MAX 32

#define MERGE_LOCAL_BYTES(group, items, key_bytes, value_bytes, staged)                                                \
    SHARED_ROUND_UP(((group) * (items) + (items) + 1) * (key_bytes) +                                                  \
                        ((value_bytes) ? SHARED_ROUND_UP(2 * (group) * (items), 8) : 0) +                              \
                        ((staged) ? (group) * (items) * (value_bytes) : 0) + 8 + SHARED_MAX(8, value_bytes),           \
                    SHARED_MAX(8, SHARED_MAX(key_bytes, value_bytes)))
