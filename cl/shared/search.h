/* SPDX-License-Identifier: Apache-2.0 */
/* Local memory of batched searches. */
#pragma once
#include "shared/types.h"

/* Size of a narrow_scratch (group/search.cl), in bytes. */
#define SEARCH_NARROW_BYTES(group) (((group) / 2 * 2 + 2) * 4)
