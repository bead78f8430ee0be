/* SPDX-License-Identifier: Apache-2.0 */
/* Tells kernels where the fields of a packed key lie (cl/primitive/pack.cl). */
#pragma once
#include "shared/types.h"

/* Maximum number of fields of a key, equal to ORDO_MAX_KEY_FIELDS. */
#define PACK_FIELDS 8

/* Bits of pack_plan.how. */
#define PACK_WIDE       1 /* Values have 8 bytes, otherwise 4. */
#define PACK_SIGNED     2
#define PACK_FLOAT      4
#define PACK_NULLABLE   8
#define PACK_NULLS_LAST 16

/* Describes the fields of a key, the most significant field first. Field f has bits[f] bits. Its lowest bit is bit
 * number first[f] of the key. A nullable field has one more bit above, the null bit. With PACK_NULLS_LAST it is 1 in
 * null rows, otherwise in all other rows. */
typedef struct {
    ordo_u64 column_at[PACK_FIELDS]; /* Index of the column's first element in its buffer. */
    ordo_u64 valid_at[PACK_FIELDS];  /* Bit offset of the validity bitmap in its buffer. */
    ordo_u64 mask[PACK_FIELDS];      /* The bits[f] lowest bits. */
    ordo_u64 bias[PACK_FIELDS];      /* Added to integers, so that the least integer of a signed field becomes 0. */
    ordo_u64 turn[PACK_FIELDS];      /* Bits to invert: mask[f] if the field descends, else 0. */
    ordo_u32 bits[PACK_FIELDS], first[PACK_FIELDS], how[PACK_FIELDS];
    ordo_u32 n_fields;
    ordo_u32 n_bitmaps; /* Number of validity bitmaps that an unpack writes. */
} pack_plan;

ORDO_STATIC_ASSERT(sizeof(pack_plan) == (8 * 5 + 4 * 3) * PACK_FIELDS + 4 * 2, "both compilers lay a plan out alike");

/* outside[f] is the first row with an out-of-range value in field f. It is PACK_NO_ROW if there is none. */
#define PACK_NO_ROW 0xffffffffu
