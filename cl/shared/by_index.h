/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of a reduction by key on CPUs, indexed by the low bits of keys (cl/primitive/by_index.cl). */
#pragma once
#include "shared/types.h"

struct by_index {
    ordo_u32 bits;
    ordo_u32 part; /* Elements that a work-item adds to its table. */
    ordo_u32 parts;
    ordo_u32 range; /* Kernel by_index_join combines all tables slot by slot. A work-item handles this many slots. */
};

/* Words of a slot: the reduction of the values, then the number of elements. Without values only the latter. */
#define BY_INDEX_WORDS(values) ((values) ? 2u : 1u)

ORDO_STATIC_ASSERT(sizeof(struct by_index) == 16, "no padding");
