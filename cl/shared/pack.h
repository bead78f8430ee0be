/* SPDX-License-Identifier: Apache-2.0 */
/* A packed key is an integer made of several fields, one per column of a table (cl/primitive/pack.cl). */
#pragma once
#include "shared/types.h"

/* Maximum number of fields, equal to ORDO_MAX_KEY_FIELDS. */
#define PACK_FIELDS 8

/* Bits of `how`, a member of struct pack_plan. */
#define PACK_WIDE       1 /* The column has values of 8 bytes, otherwise 4. */
#define PACK_SIGNED     2
#define PACK_FLOAT      4
#define PACK_NULLABLE   8
#define PACK_NULLS_LAST 16

/* Field 0 is the most significant. Field f has bits[f] bits, from bit first[f] of the key up. A nullable field has one
 * more bit above these. With PACK_NULLS_LAST, it is 1 for nulls. Otherwise it is 0 for nulls. */
typedef struct {
    ordo_u64 column_at[PACK_FIELDS];
    ordo_u64 valid_at[PACK_FIELDS]; /* Index of the first bit of the validity bitmap in its buffer. */
    ordo_u64 mask[PACK_FIELDS];
    ordo_u64 bias[PACK_FIELDS]; /* Added to integers, so that the least signed integer becomes 0. */
    ordo_u64 turn[PACK_FIELDS]; /* Bits to invert: all bits of a descending field, otherwise none. */
    ordo_u32 bits[PACK_FIELDS], first[PACK_FIELDS], how[PACK_FIELDS];
    ordo_u32 n_fields;
    ordo_u32 n_bitmaps;
} pack_plan;

ORDO_STATIC_ASSERT(sizeof(pack_plan) == (8 * 5 + 4 * 3) * PACK_FIELDS + 4 * 2, "both compilers lay a plan out alike");

/* For each field, kernel pack_rows reports the first row whose value does not fit, or PACK_NO_ROW. */
#define PACK_NO_ROW 0xffffffffu
