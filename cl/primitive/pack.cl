/* SPDX-License-Identifier: Apache-2.0 */
/* Packs the columns of a table into one column of keys, and unpacks them. A key consists of the ordered forms of a
 * row's values. An ordered form is an unsigned integer that has the same order as the value (shared/key.h). */
#pragma once
#include "device/atomic.cl"
#include "device/compiler.cl"
#include "shared/key.h"
#include "shared/pack.h"

#ifndef PACK_GROUP
#define PACK_GROUP 1
#endif
#ifndef PACK_TILE
#define PACK_TILE 4096
#endif
#if PACK_TILE % 8
#error "PACK_TILE must be a multiple of 8, so that a byte of a bitmap belongs to one group"
#endif

/* valid[f] is an Arrow validity bitmap: bit i % 8 of byte i / 8 is 0 if row i is null. It may be NULL. If column[f] is
 * NULL, kernels that unpack keys do not write column f. */
typedef struct {
    __global uchar *column[PACK_FIELDS], *valid[PACK_FIELDS];
} pack_table;

/* clang-format off */
#define PACK_EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
/* clang-format on */
#define PACK_ARG(f)   __global uchar *column##f, __global uchar *valid##f,
#define PACK_POINT(f) table.column[f] = column##f, table.valid[f] = valid##f;

ORDO_FN ordo_key pack_put(ulong form, uint first)
{
#if KEY_BITS == 128
    const uint  shift = first & 63;
    const ulong low = form << shift, high = form >> 1 >> (63 - shift);
    return first < 64 ? (ordo_key) (low, high) : (ordo_key) (0, low);
#else
    return (ordo_key) form << first;
#endif
}

ORDO_FN ulong pack_take(ordo_key key, uint first)
{
#if KEY_BITS == 128
    return key_above(key, first).x;
#else
    return (ulong) (key >> first);
#endif
}

ORDO_FN ulong pack_sign(uint how)
{
    return how & PACK_WIDE ? (ulong) 1 << 63 : (ulong) 1 << 31;
}

/* Converts a value of field f to an unsigned integer with the same order. If the value exceeds the field's range, the
 * result has bits outside of plan->mask[f]. */
ORDO_FN ulong pack_form(__private const pack_plan *plan, uint f, ulong value)
{
    const ulong sign = pack_sign(plan->how[f]);
    if (plan->how[f] & PACK_FLOAT)
        return value ^ (value & sign ? sign | (sign - 1) : sign);
    return value + plan->bias[f];
}

ORDO_FN ulong pack_value(__private const pack_plan *plan, uint f, ulong form)
{
    const ulong sign = pack_sign(plan->how[f]);
    if (plan->how[f] & PACK_FLOAT)
        return form ^ (form & sign ? sign : sign | (sign - 1));
    return form - plan->bias[f];
}

ORDO_FN ulong pack_read(__private const pack_table *table, __private const pack_plan *plan, uint f, uint i)
{
    const ulong at = plan->column_at[f] + i;
    if (plan->how[f] & PACK_WIDE)
        return ((__global const ulong *) table->column[f])[at];
    const uint word = ((__global const uint *) table->column[f])[at];
    return plan->how[f] & PACK_SIGNED ? (ulong) (int) word : word;
}

ORDO_FN void pack_write(__private const pack_table *table, __private const pack_plan *plan, uint f, uint i, ulong value)
{
    const ulong at = plan->column_at[f] + i;
    if (plan->how[f] & PACK_WIDE)
        ((__global ulong *) table->column[f])[at] = value;
    else
        ((__global uint *) table->column[f])[at] = (uint) value;
}

ORDO_FN bool pack_read_valid(__private const pack_table *table, __private const pack_plan *plan, uint f, uint i)
{
    const ulong at = plan->valid_at[f] + i;
    return !table->valid[f] || (table->valid[f][at / 8] >> (at % 8) & 1);
}

ORDO_FN void pack_report(__global uint *outside, uint f, uint i)
{
    if (outside && ordo_load_relaxed(&outside[f]) > i)
        ordo_min(&outside[f], i);
}

ORDO_FN ordo_key pack_part(__private const pack_plan *plan, uint f, uint i, ulong value, bool valid,
                           __global uint *outside)
{
    const ulong form = pack_form(plan, f, value), mask = plan->mask[f];
    ordo_key    part = 0;
    if (valid) {
        part = pack_put((form ^ plan->turn[f]) & mask, plan->first[f]);
        if (form & ~mask)
            pack_report(outside, f, i);
    }
    if (plan->how[f] & PACK_NULLABLE && valid == !(plan->how[f] & PACK_NULLS_LAST))
        part |= pack_put(1, plan->first[f] + plan->bits[f]);
    return part;
}

ORDO_FN ordo_key pack_row(__private const pack_table *table, __private const pack_plan *plan, uint i,
                          __global uint *outside)
{
    ulong    value[PACK_FIELDS];
    bool     valid[PACK_FIELDS];
    ordo_key key = 0;
    ORDO_UNROLL
    for (uint f = 0; f < PACK_FIELDS; f++)
        if (f < plan->n_fields) {
            value[f] = pack_read(table, plan, f, i);
            valid[f] = pack_read_valid(table, plan, f, i);
        }
    ORDO_UNROLL
    for (uint f = 0; f < PACK_FIELDS; f++)
        if (f < plan->n_fields)
            key |= pack_part(plan, f, i, value[f], valid[f], outside);
    return key;
}

/* outside[f] becomes the first row whose value exceeds the range of field f. It must be PACK_NO_ROW before. `outside`
 * may be NULL. */
/* clang-format off */
ORDO_KERNEL(PACK_GROUP)
void pack_rows(PACK_EACH(PACK_ARG) pack_plan plan, uint count, __global ordo_key *keys, ulong keys_at,
               __global uint *outside, ulong outside_at)
/* clang-format on */
{
    const uint first = (uint) get_group_id(0) * PACK_TILE, end = min(count - first, (uint) PACK_TILE) + first;
    pack_table table;
    PACK_EACH(PACK_POINT)
    for (uint i = first + (uint) get_local_id(0); i < end; i += PACK_GROUP)
        keys[keys_at + i] = pack_row(&table, &plan, i, outside ? outside + outside_at : 0);
}

ORDO_FN bool pack_is_valid(__private const pack_plan *plan, uint f, ordo_key key)
{
    if (!(plan->how[f] & PACK_NULLABLE))
        return true;
    return (pack_take(key, plan->first[f] + plan->bits[f]) & 1) == !(plan->how[f] & PACK_NULLS_LAST);
}

ORDO_FN void pack_unpack_row(__private const pack_table *table, __private const pack_plan *plan, uint i, ordo_key key)
{
    ORDO_UNROLL
    for (uint f = 0; f < PACK_FIELDS; f++)
        if (f < plan->n_fields && table->column[f]) {
            const ulong form = (pack_take(key, plan->first[f]) & plan->mask[f]) ^ plan->turn[f];
            pack_write(table, plan, f, i, pack_is_valid(plan, f, key) ? pack_value(plan, f, form) : 0);
        }
}

/* Writes the byte of rows i to i + 7 in each validity bitmap. Bits of rows from `end` on become 0. */
ORDO_FN void pack_write_valid(__private const pack_table *table, __private const pack_plan *plan,
                              __global const ordo_key *keys, uint i, uint end)
{
    uint byte[PACK_FIELDS] = { 0 };
    for (uint k = 0; k < min(end - i, 8u); k++) {
        const ordo_key key = keys[i + k];
        ORDO_UNROLL
        for (uint f = 0; f < PACK_FIELDS; f++)
            if (f < plan->n_fields)
                byte[f] |= (uint) pack_is_valid(plan, f, key) << k;
    }
    ORDO_UNROLL
    for (uint f = 0; f < PACK_FIELDS; f++)
        if (f < plan->n_fields && table->valid[f])
            table->valid[f][plan->valid_at[f] / 8 + i / 8] = (uchar) byte[f];
}

/* clang-format off */
ORDO_KERNEL(PACK_GROUP)
void unpack_rows(PACK_EACH(PACK_ARG) pack_plan plan, uint count, __global const ordo_key *keys, ulong keys_at)
/* clang-format on */
{
    const uint first = (uint) get_group_id(0) * PACK_TILE, end = min(count - first, (uint) PACK_TILE) + first;
    pack_table table;
    PACK_EACH(PACK_POINT)
    for (uint i = first + (uint) get_local_id(0); i < end; i += PACK_GROUP)
        pack_unpack_row(&table, &plan, i, keys[keys_at + i]);
    if (plan.n_bitmaps == 0)
        return;
    for (uint i = first + (uint) get_local_id(0) * 8; i < end; i += PACK_GROUP * 8)
        pack_write_valid(&table, &plan, keys + keys_at, i, end);
}
