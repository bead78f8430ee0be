/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of strings: sorting rows by strings of any bytes. share/doc/strings.md describes the
 * algorithm.
 *
 * Example: sorts the rows of a column in host memory.
 *
 *     const uint32_t offsets[] = { 0, 2, 2, 5 };
 *     struct ordo_host_strings column = { .offsets = offsets, .offset_bytes = 4, .bytes = "hiabc",
 *                                         .n_bytes = 5, .count = 3 };
 *     uint32_t rows[3]; // becomes { 1, 2, 0 }: "", "abc", "hi"
 *     ordo_sort_strings_host(dev, ordo_sort_strings_params(.descending = false), &column, rows,
 *                            NULL); */
#ifndef ORDO_STRINGS_H
#define ORDO_STRINGS_H

#include "array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A column of strings in device memory, in the layout of Arrow's Binary (offset_bytes is 4) and
 * LargeBinary (8). String i has bytes offsets[i] to offsets[i + 1] - 1 of `bytes`. Strings may have
 * any length, and any bytes, also NUL. Offsets need not begin with 0, and the last one need not be
 * n_bytes, so a slice of a column is a column. A column without rows needs no arrays, and one
 * without bytes needs only offsets. */
struct ordo_strings {
    struct ordo_slice offsets; /* count + 1 unsigned integers, which do not descend */
    uint32_t          offset_bytes;
    struct ordo_slice bytes;
    size_t            n_bytes; /* maximum value of an offset */
    size_t            count;
};

/* A column of strings in host memory. */
struct ordo_host_strings {
    const void *offsets;
    uint32_t    offset_bytes;
    const void *bytes;
    size_t      n_bytes;
    size_t      count;
};

struct ordo_sort_strings_params {
    bool descending; /* Even if true, equal strings keep the order of the input. */
};

/* Sorts rows by their strings in memcmp order, where a string comes after its prefixes. Row
 * rows_out[0] (uint32_t) has the first string. Equal strings keep their order. equal_out[i] (one
 * byte) receives 1 if the strings of rows_out[i] and rows_out[i - 1] are equal, otherwise 0. It may
 * be ordo_none().
 * Cost: some reads of each string up to the byte that tells it from all others, and a sort of u64
 *   keys for every 3 to 7 bytes that the strings of a group do not share.
 * Memory: 64 bytes per row, plus 2 % of that, plus 4 MiB.
 * Blocking: waits for the device several times.
 * Errors: ORDO_INVALID if offsets descend or exceed n_bytes. The message names the first such row.
 *   Nothing is read outside of the arrays, and the outputs stay unchanged. */
ORDO_API ordo_status ordo_sort_strings(ordo_device                           *device,
                                       const struct ordo_sort_strings_params *params,
                                       const struct ordo_strings             *column,
                                       struct ordo_slice rows_out, struct ordo_slice equal_out,
                                       const struct ordo_order *order);
ORDO_API ordo_status ordo_sort_strings_host(ordo_device                           *device,
                                            const struct ordo_sort_strings_params *params,
                                            const struct ordo_host_strings        *column,
                                            uint32_t *rows_out, uint8_t *equal_out);

/* See ordo.h. */
#ifndef __cplusplus
#define ordo_sort_strings_params(...) (&(struct ordo_sort_strings_params) { __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif

#endif
