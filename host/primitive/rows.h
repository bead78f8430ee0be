/* SPDX-License-Identifier: Apache-2.0 */
/* Adds a gather or a scatter to another call (struct ordo_call). */
#ifndef ORDO_ROWS_H
#define ORDO_ROWS_H

#include "primitive/primitive.h"

/* The arguments of a gather or a scatter. A gather copies row index[i] of `table` to row i of `list`. A scatter
 * copies row i of `list` to row index[i] of `table`. */
struct ordo_rows {
    struct ordo_slice table, list, index; /* Offsets of `table` and `list` are in rows, not in bytes. */
    size_t            n_rows, count;      /* `table` has n_rows rows, `list` has `count` rows. */
    uint32_t          row_bytes;
    bool              scatter;
    bool              distinct; /* True if all indices of a scatter are different. */
};

ordo_status ordo_call_rows(struct ordo_call *call, const struct ordo_rows *rows);

#endif
