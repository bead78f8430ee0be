/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ORDO_SCAN_H
#define ORDO_SCAN_H

#include "primitive/primitive.h"

struct ordo_scan {
    ordo_type         type;
    ordo_op           op;
    bool              inclusive;
    struct ordo_slice in;
    struct ordo_slice heads; /* Flags of elements that begin segments. ordo_none() means one segment. */
    struct ordo_slice out;   /* May equal `in`. */
    size_t            count;
    uint32_t          faults; /* Faults that a test injects (cl/group/lookback.cl), otherwise 0. */
};

ordo_status ordo_call_scan(struct ordo_call *call, const struct ordo_scan *scan);

/* Replaces each of n words by the sum of all words before it. `type` is ORDO_U32 or ORDO_U64. */
ordo_status ordo_call_sum_before(struct ordo_call *call, ordo_type type, cl_mem words, size_t n);

#endif
