/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "shared/types.h"

#define SHARED_MAX(a, b)         ((a) > (b) ? (a) : (b))
#define SHARED_CEIL_DIV(a, b)    (((a) + (b) -1) / (b))
#define SHARED_ROUND_UP(a, unit) (SHARED_CEIL_DIV(a, unit) * (unit))

/* Words of local memory for a prefix sum over a work-group (group/scan.cl). `group` is the number of work-items in the
 * work-group, `lanes` the number in each of its teams (device/team.cl). */
#define SCAN_TEAMS_MIN_LANES 8
#define SCAN_WORDS(group, lanes)                                                                                       \
    ((group) == (lanes) ? 1 : (lanes) >= SCAN_TEAMS_MIN_LANES ? (group) / (lanes) : 2 * (group))

/* A work-item handles at most this many keys, so that one flag per key fits in a 32-bit word. */
#define TILE_ITEMS_MAX 24

#define FOLD_ITEM_BYTES(value_bytes, segmented, numbered) ((numbered) ? 16 : (value_bytes) * ((segmented) ? 2 : 1))

/* Buffer of a prefix sum over a large array (group/lookback.cl): a counter in LOOKBACK_TICKET_BYTES bytes, then
 * LOOKBACK_TILE_BYTES bytes for each tile. A tile is the part of the array that a work-group sums up. */
#define LOOKBACK_TICKET_BYTES                      64
#define LOOKBACK_STAMP_BITS                        13
#define LOOKBACK_STAMP_MAX                         ((1u << LOOKBACK_STAMP_BITS) - 1)
#define LOOKBACK_PAYLOAD_BYTES(value_bytes, marks) ((value_bytes) + ((marks) ? 8 : 0))
#define LOOKBACK_TILE_BYTES(payload_bytes)         (2 * (payload_bytes))
