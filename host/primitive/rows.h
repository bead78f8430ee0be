/* SPDX-License-Identifier: Apache-2.0 */
/* Gather and scatter within a call. */
#ifndef ORDO_ROWS_H
#define ORDO_ROWS_H

#include "primitive/primitive.h"

/* Gathers row index[i] of `table` to row i of `list`, or scatters the other way. Nothing is checked. */
struct ordo_rows {
    struct ordo_slice table, list, index; /* offsets of table and list count rows */
    size_t            n_rows, count;      /* rows of the table, rows of the list */
    uint32_t          row_bytes;
    bool              scatter;
    bool              distinct; /* a scatter: no number in `index` repeats */
};

ordo_status ordo_call_rows(struct ordo_call *call, const struct ordo_rows *rows);

#endif
