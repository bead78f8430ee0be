/* SPDX-License-Identifier: Apache-2.0 */
/* Computes sizes of local memory for the functions of cl/group. Host and kernels must agree about these sizes. */
#pragma once
#include "shared/types.h"

#define SHARED_MAX(a, b)         ((a) > (b) ? (a) : (b))
#define SHARED_CEIL_DIV(a, b)    (((a) + (b) -1) / (b))
#define SHARED_ROUND_UP(a, unit) (SHARED_CEIL_DIV(a, unit) * (unit))

/* SCAN_WORDS is the local memory that a scan of one work-group needs, in words of 4 bytes (group/scan.cl). The scan
 * does not use sub-groups that have fewer than 8 lanes. */
#define SCAN_TEAMS_MIN_LANES 8
#define SCAN_WORDS(group, lanes)                                                                                       \
    ((group) == (lanes) ? 1 : (lanes) >= SCAN_TEAMS_MIN_LANES ? (group) / (lanes) : 2 * (group))

/* Maximum number of keys that a work-item holds in registers (group/tile.cl). A 32-bit word has one flag per key. */
#define TILE_ITEMS_MAX 24

/* Size in bytes of a fold_item, the element of a reduction (group/fold.cl). A fold_item has a value. A segmented
 * reduction adds a flag of the same size. A numbered reduction has 8 bytes for the value and 8 bytes for the number. */
#define FOLD_ITEM_BYTES(value_bytes, segmented, numbered) ((numbered) ? 16 : (value_bytes) * ((segmented) ? 2 : 1))

/* Sizes of the buffer of a scan with look-back (group/lookback.cl). The buffer begins with a counter that hands out
 * tile numbers. Two words follow for each tile. Half of each word is a partial sum, the other half is a stamp from 1
 * to LOOKBACK_STAMP_MAX, which tells whether the sum belongs to the current scan. */
#define LOOKBACK_TICKET_BYTES                      64
#define LOOKBACK_STAMP_BITS                        13
#define LOOKBACK_STAMP_MAX                         ((1u << LOOKBACK_STAMP_BITS) - 1)
#define LOOKBACK_PAYLOAD_BYTES(value_bytes, marks) ((value_bytes) + ((marks) ? 8 : 0))
#define LOOKBACK_TILE_BYTES(payload_bytes)         (2 * (payload_bytes))
