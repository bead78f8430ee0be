/* SPDX-License-Identifier: Apache-2.0 */
/* Executes pending operations of a concurrent batch as ordered batches. */
#ifndef ORDO_DICT_LEFTOVER_H
#define ORDO_DICT_LEFTOVER_H

#include "dict/launch.h"

/* Copies of pending operations, in scratch memory, and their results `found`. */
struct ordo_leftover {
    cl_mem codes, keys, values, found;
};

struct ordo_leftovers {
    ordo_dict        *dict;
    struct ordo_call *call;
    void             *batch;      /* the first argument of gather and scatter */
    bool              has_values; /* whether the operations have values */
    const bool       *half_done;  /* Becomes true if an error left the structure half changed. May be NULL. */
    /* Copies pending operations `at` to at + count - 1. */
    ordo_status (*gather)(void *batch, size_t at, size_t count, const struct ordo_leftover *to);
    /* Copies their results to the batch. */
    ordo_status (*scatter)(void *batch, size_t at, size_t count, cl_mem found);
};

/* Executes `count` pending operations. While memory is short, halves the size of the ordered batches. *done becomes the
 * number of executed operations: less than `count` only if an ordered batch of one operation lacks memory. After the
 * structure changed, any error ends the concurrent batch, because a repeated insert would find its own key. */
ordo_status ordo_dict_apply_leftovers(const struct ordo_leftovers *l, size_t count, size_t *done);

#endif
