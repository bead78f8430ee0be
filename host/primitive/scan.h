/* SPDX-License-Identifier: Apache-2.0 */
/* Scans as part of another call's launches. */
#ifndef ORDO_SCAN_H
#define ORDO_SCAN_H

#include "primitive/primitive.h"

/* What to scan. Nothing is checked. */
struct ordo_scan {
    ordo_type         type;
    ordo_op           op;
    bool              inclusive;
    struct ordo_slice in;
    struct ordo_slice heads; /* ordo_none(): one segment */
    struct ordo_slice out;   /* may be in itself */
    size_t            count;
    uint32_t          torture; /* tests: LOOKBACK_TORTURE of cl/group/lookback.cl, and no patience; 0: not */
};

ordo_status ordo_call_scan(struct ordo_call *call, const struct ordo_scan *scan);

/* Each of n words, of ORDO_U32 or ORDO_U64, becomes the sum of those before it. */
ordo_status ordo_call_sum_before(struct ordo_call *call, ordo_type type, cl_mem words, size_t n);

#endif
