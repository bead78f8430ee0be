/* SPDX-License-Identifier: Apache-2.0 */
/* Gather and scatter within a call. */
#ifndef ORDO_ROWS_H
#define ORDO_ROWS_H

#include "primitive/primitive.h"

/* Row i of `list` belongs to row index[i] of `table`. Nothing is checked. */
struct ordo_rows {
    struct ordo_slice table, list, index; /* table and list count in rows */
    size_t            n_rows, count;      /* of the table, of the list */
    uint32_t          row_bytes;
    bool              scatter;
    bool              distinct; /* a scatter without repeated numbers */
};

ordo_status ordo_call_rows(struct ordo_call *call, const struct ordo_rows *rows);

#endif
