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
    /* Copies `count` pending operations into the arrays of *to. `at` is the number of the first one. */
    ordo_status (*gather)(void *batch, size_t at, size_t count, const struct ordo_leftover *to);
    /* Copies the results of `count` pending operations from `found` to the batch. `at` is the number of the first. */
    ordo_status (*scatter)(void *batch, size_t at, size_t count, cl_mem found);
};

/* Executes `count` pending operations in calls of ordo_dict_apply_enqueue. If memory is short, halves the number of
 * operations per call. *done becomes the number of executed operations. If an error left the structure half changed,
 * returns this error: in a second try, an insert would find the key that its first try stored. */
ordo_status ordo_dict_apply_leftovers(const struct ordo_leftovers *l, size_t count, size_t *done);

#endif
