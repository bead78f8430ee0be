/* SPDX-License-Identifier: Apache-2.0 */
/* Places of the fields in a packed key (cl/primitive/pack.cl). */
#pragma once
#include "shared/types.h"

/* Equal to ORDO_MAX_KEY_FIELDS. */
#define PACK_FIELDS 8

/* Bits of pack_plan.how. */
#define PACK_WIDE       1 /* Values have 8 bytes, otherwise 4. */
#define PACK_SIGNED     2
#define PACK_FLOAT      4
#define PACK_NULLABLE   8
#define PACK_NULLS_LAST 16

/* The fields of a key, the most significant first. Field f has bits[f] bits, from bit first[f] of the key up. A
 * nullable field has one more bit above. This bit is 1 for nulls with PACK_NULLS_LAST, and 0 for nulls without. */
typedef struct {
    ordo_u64 column_at[PACK_FIELDS]; /* Index of the column's first element in its buffer. */
    ordo_u64 valid_at[PACK_FIELDS];  /* Bit offset of the validity bitmap in its buffer. */
    ordo_u64 mask[PACK_FIELDS];      /* The lowest bits[f] bits are 1. */
    ordo_u64 bias[PACK_FIELDS];      /* Added to integers, so that the least signed value becomes 0. */
    ordo_u64 turn[PACK_FIELDS];      /* Bits to invert: mask[f] in descending fields, else 0. */
    ordo_u32 bits[PACK_FIELDS], first[PACK_FIELDS], how[PACK_FIELDS];
    ordo_u32 n_fields;
    ordo_u32 n_bitmaps; /* Validity bitmaps that an unpack writes. */
} pack_plan;

ORDO_STATIC_ASSERT(sizeof(pack_plan) == (8 * 5 + 4 * 3) * PACK_FIELDS + 4 * 2, "both compilers lay a plan out alike");

/* Result for a field without out-of-range values, otherwise the first row with one. */
#define PACK_NO_ROW 0xffffffffu
