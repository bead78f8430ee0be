/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ORDO_ROWS_H
#define ORDO_ROWS_H

#include "primitive/primitive.h"

/* A gather copies row index[i] of `table` to row i of `list`. A scatter does the reverse. */
struct ordo_rows {
    struct ordo_slice table, list, index; /* Offsets of `table` and `list` are in rows. */
    size_t            n_rows, count;      /* Numbers of rows of `table` and of `list`. */
    uint32_t          row_bytes;
    bool              scatter;
    bool              distinct; /* The caller guarantees that all indices of a scatter differ. */
};

ordo_status ordo_call_rows(struct ordo_call *call, const struct ordo_rows *rows);

#endif
