/* SPDX-License-Identifier: Apache-2.0 */
/* Computes sizes of local memory for batched searches. */
#pragma once
#include "shared/types.h"

/* Size of a narrow_scratch (group/search.cl) in bytes. Kernel search_sorted needs it in addition to its tree of
 * separators. */
#define SEARCH_NARROW_BYTES(group) (((group) / 2 * 2 + 2) * 4)
