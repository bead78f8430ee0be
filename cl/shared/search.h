/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "shared/types.h"

/* Size in bytes of struct narrow_scratch, the local memory of function group_narrow (group/search.cl). */
#define SEARCH_NARROW_BYTES(group) (((group) / 2 * 2 + 2) * 4)
