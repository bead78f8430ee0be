/* SPDX-License-Identifier: Apache-2.0 */
/* Gathers as part of another call's launches. */
#ifndef ORDO_ROWS_H
#define ORDO_ROWS_H

#include "primitive/primitive.h"

/* Row i of `list` belongs with row index[i] of `table`. Nothing is checked. */
struct ordo_rows {
    struct ordo_slice table, list, index; /* the first two in rows */
    size_t            n_rows, count;      /* of the table, of the list */
    uint32_t          row_bytes;
    bool              scatter;
    bool              distinct; /* no number occurs twice: of a scatter */
};

ordo_status ordo_call_rows(struct ordo_call *call, const struct ordo_rows *rows);

#endif
