/* SPDX-License-Identifier: Apache-2.0 */
/* Local memory of the kernels of a batched search. */
#pragma once
#include "shared/types.h"

/* Bytes of narrow_scratch (group/search.cl), which search_sorted has in addition to its tree. */
#define SEARCH_NARROW_BYTES(group) (((group) / 2 * 2 + 2) * 4)
