/* SPDX-License-Identifier: Apache-2.0 */
/* Computes sizes of local memory for the functions of cl/group. */
#pragma once
#include "shared/types.h"

#define SHARED_MAX(a, b)         ((a) > (b) ? (a) : (b))
#define SHARED_CEIL_DIV(a, b)    (((a) + (b) -1) / (b))
#define SHARED_ROUND_UP(a, unit) (SHARED_CEIL_DIV(a, unit) * (unit))

/* SCAN_WORDS is the number of local words that a scan of a work-group needs (group/scan.cl): one word per team
 * (neighbouring lanes of a sub-group). If teams have fewer than SCAN_TEAMS_MIN_LANES lanes, it is 2 words per
 * work-item. */
#define SCAN_TEAMS_MIN_LANES 8
#define SCAN_WORDS(group, lanes)                                                                                       \
    ((group) == (lanes) ? 1 : (lanes) >= SCAN_TEAMS_MIN_LANES ? (group) / (lanes) : 2 * (group))

/* Maximum number of keys per work-item. One 32-bit word of a work-item has the flags of its keys (group/tile.cl). */
#define TILE_ITEMS_MAX 24

/* Size in bytes of a fold_item, the element of a reduction (group/fold.cl). A value with a 64-bit mark (`numbered`) has
 * 16 bytes. A value with a flag (`segmented`) has twice the value's size, otherwise the value's size. */
#define FOLD_ITEM_BYTES(value_bytes, segmented, numbered) ((numbered) ? 16 : (value_bytes) * ((segmented) ? 2 : 1))

/* Sizes of the buffer of a scan with look-back (group/lookback.cl). The buffer has a counter that hands out tile
 * numbers, then words for each tile. Half of a word has bits of a partial sum (payload). The other half has the number
 * (stamp) of the scan that wrote the word. */
#define LOOKBACK_TICKET_BYTES                      64
#define LOOKBACK_STAMP_BITS                        13
#define LOOKBACK_STAMP_MAX                         ((1u << LOOKBACK_STAMP_BITS) - 1)
#define LOOKBACK_PAYLOAD_BYTES(value_bytes, marks) ((value_bytes) + ((marks) ? 8 : 0))
#define LOOKBACK_TILE_BYTES(payload_bytes)         (2 * (payload_bytes))
