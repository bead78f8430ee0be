/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "shared/types.h"

#define SHARED_MAX(a, b)         ((a) > (b) ? (a) : (b))
#define SHARED_CEIL_DIV(a, b)    (((a) + (b) -1) / (b))
#define SHARED_ROUND_UP(a, unit) (SHARED_CEIL_DIV(a, unit) * (unit))

/* Words of local memory for a scan of a work-group (group/scan.cl). Each team (device/team.cl) needs one word. Several
 * teams of fewer than SCAN_TEAMS_MIN_LANES lanes need 2 words per work-item. */
#define SCAN_TEAMS_MIN_LANES 8
#define SCAN_WORDS(group, lanes)                                                                                       \
    ((group) == (lanes) ? 1 : (lanes) >= SCAN_TEAMS_MIN_LANES ? (group) / (lanes) : 2 * (group))

/* Maximum keys per work-item. A work-item holds one flag per key in a 32-bit word. */
#define TILE_ITEMS_MAX 24

/* Bytes of a fold_item (group/fold.cl): a value, plus a flag (`segmented`) or a 64-bit mark (`numbered`). */
#define FOLD_ITEM_BYTES(value_bytes, segmented, numbered) ((numbered) ? 16 : (value_bytes) * ((segmented) ? 2 : 1))

/* Sizes of the buffer of a scan with look-back (group/lookback.cl). */
#define LOOKBACK_TICKET_BYTES                      64
#define LOOKBACK_STAMP_BITS                        13
#define LOOKBACK_STAMP_MAX                         ((1u << LOOKBACK_STAMP_BITS) - 1)
#define LOOKBACK_PAYLOAD_BYTES(value_bytes, marks) ((value_bytes) + ((marks) ? 8 : 0))
#define LOOKBACK_TILE_BYTES(payload_bytes)         (2 * (payload_bytes))
