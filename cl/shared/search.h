/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "shared/types.h"

/* Bytes of a narrow_scratch, the local memory of group_narrow (group/search.cl). */
#define SEARCH_NARROW_BYTES(group) (((group) / 2 * 2 + 2) * 4)
