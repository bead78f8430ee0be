/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of local memory for batched searches. */
#pragma once
#include "shared/types.h"

/* The bytes of narrow_scratch (group/search.cl). search_sorted needs it in addition to its tree. */
#define SEARCH_NARROW_BYTES(group) (((group) / 2 * 2 + 2) * 4)
