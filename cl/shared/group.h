/* SPDX-License-Identifier: Apache-2.0 */
/* Computes sizes of local memory for the functions of cl/group. */
#pragma once
#include "shared/types.h"

#define SHARED_MAX(a, b)         ((a) > (b) ? (a) : (b))
#define SHARED_CEIL_DIV(a, b)    (((a) + (b) -1) / (b))
#define SHARED_ROUND_UP(a, unit) (SHARED_CEIL_DIV(a, unit) * (unit))

/* SCAN_WORDS is the local memory that a scan of a work-group needs, in words (group/scan.cl). If a team has fewer than
 * SCAN_TEAMS_MIN_LANES lanes, the scan needs 2 words per work-item. */
#define SCAN_TEAMS_MIN_LANES 8
#define SCAN_WORDS(group, lanes)                                                                                       \
    ((group) == (lanes) ? 1 : (lanes) >= SCAN_TEAMS_MIN_LANES ? (group) / (lanes) : 2 * (group))

/* Maximum number of keys per work-item (group/tile.cl). A work-item keeps one flag bit per key in a 32-bit word. */
#define TILE_ITEMS_MAX 24

/* Size of a fold_item, the element of a reduction, in bytes (group/fold.cl). If the item has a flag (`segmented`), the
 * size is twice the value's size. If the item has a 64-bit mark (`numbered`), the size is 16 bytes. */
#define FOLD_ITEM_BYTES(value_bytes, segmented, numbered) ((numbered) ? 16 : (value_bytes) * ((segmented) ? 2 : 1))

/* The buffer of a scan with look-back (group/lookback.cl) has a counter that hands out tile numbers, then words for
 * each tile. One half of a word is payload, a part of a partial sum. The other half has the stamp (number) of the scan
 * that wrote the word. */
#define LOOKBACK_TICKET_BYTES                      64
#define LOOKBACK_STAMP_BITS                        13
#define LOOKBACK_STAMP_MAX                         ((1u << LOOKBACK_STAMP_BITS) - 1)
#define LOOKBACK_PAYLOAD_BYTES(value_bytes, marks) ((value_bytes) + ((marks) ? 8 : 0))
#define LOOKBACK_TILE_BYTES(payload_bytes)         (2 * (payload_bytes))
