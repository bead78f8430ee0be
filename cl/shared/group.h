/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of memory for kernels of cl/group. */
#pragma once
#include "shared/types.h"

#define SHARED_MAX(a, b)         ((a) > (b) ? (a) : (b))
#define SHARED_CEIL_DIV(a, b)    (((a) + (b) -1) / (b))
#define SHARED_ROUND_UP(a, unit) (SHARED_CEIL_DIV(a, unit) * (unit))

/* The words of local memory of a scan (group/scan.cl). Teams below 8 lanes are not used: they would leave too many
 * partial results. */
#define SCAN_TEAMS_MIN_LANES 8
#define SCAN_WORDS(group, lanes)                                                                                       \
    ((group) == (lanes) ? 1 : (lanes) >= SCAN_TEAMS_MIN_LANES ? (group) / (lanes) : 2 * (group))

/* Maximum keys per work-item (group/tile.cl). Their flags are bits of one word. */
#define TILE_ITEMS_MAX 24

/* The bytes of a fold_item (group/fold.cl): a value, and if `segmented` a flag as wide; if `numbered`, 8 bytes each for
 * value and mark. */
#define FOLD_ITEM_BYTES(value_bytes, segmented, numbered) ((numbered) ? 16 : (value_bytes) * ((segmented) ? 2 : 1))

/* The state of a look-back (group/lookback.cl): the ticket, then words of each tile. Half of each word is payload.
 * Stamps are 1 to LOOKBACK_STAMP_MAX. */
#define LOOKBACK_TICKET_BYTES                      64
#define LOOKBACK_STAMP_BITS                        13
#define LOOKBACK_STAMP_MAX                         ((1u << LOOKBACK_STAMP_BITS) - 1)
#define LOOKBACK_PAYLOAD_BYTES(value_bytes, marks) ((value_bytes) + ((marks) ? 8 : 0))
#define LOOKBACK_TILE_BYTES(payload_bytes)         (2 * (payload_bytes))
