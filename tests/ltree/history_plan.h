/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of histories on a linked tree: its content, the batch's keys, the mixture of operations, injected faults. */
#ifndef ORDO_TESTS_HISTORY_PLAN_H
#define ORDO_TESTS_HISTORY_PLAN_H

#include "tests/support/support.h"

enum order {
    ANY_ORDER,
    ASCENDING,
    DESCENDING,
    SLIDING, /* random keys of a few neighbouring leaves, which move through the tree */
};

struct plan {
    const char    *name;
    ordo_type      type;
    uint32_t       value_bytes;
    uint32_t       keys;       /* changed by operations */
    uint32_t       background; /* unchanged keys between each two of them */
    uint32_t       initial;    /* percent of the changed keys that are stored before */
    enum order     order;      /* of the batch's keys */
    uint32_t       operations;
    const uint8_t *mixture;    /* the weight of each code */
    size_t         max_leaves; /* of 28 elements; more leaves of small ones */
    uint32_t       faults;     /* enum ordo_fault */
};

/* ---- mixtures ---------------------------------------------------------------------------------------------------- */

typedef uint8_t mixture[ORDO_N_CONCURRENT_CODES];

static const mixture points = {
    [ORDO_FIND] = 25, [ORDO_CONTAINS] = 10, [ORDO_UPSERT] = 25, [ORDO_INSERT] = 15, [ORDO_ERASE] = 25,
};
static const mixture changes = { [ORDO_UPSERT] = 20, [ORDO_INSERT] = 40, [ORDO_ERASE] = 40 };
static const mixture stores = { [ORDO_FIND] = 5, [ORDO_UPSERT] = 60, [ORDO_INSERT] = 35 };
static const mixture upserts_and_erases = { [ORDO_FIND] = 10, [ORDO_UPSERT] = 45, [ORDO_ERASE] = 45 };
static const mixture finds_of_changes = {
    [ORDO_FIND] = 40,
    [ORDO_UPSERT] = 30,
    [ORDO_INSERT] = 10,
    [ORDO_ERASE] = 20,
};
static const mixture seeks_of_changes = {
    [ORDO_UPSERT] = 30, [ORDO_INSERT] = 10, [ORDO_ERASE] = 20, [ORDO_SEEK_LE] = 20, [ORDO_SEEK_GE] = 20,
};
static const mixture seeks_of_splits = {
    [ORDO_FIND] = 15, [ORDO_CONTAINS] = 10, [ORDO_INSERT] = 40, [ORDO_SEEK_LE] = 20, [ORDO_SEEK_GE] = 15,
};
static const mixture everything = { 15, 5, 20, 10, 20, 3, 3, 3, 3, 8, 10 };
static const mixture scans = { 0, 0, 25, 15, 25, 3, 3, 3, 3, 8, 15 };
/* Leaves become empty, and chunks of a skiplist merge. */
static const mixture erases = { [ORDO_FIND] = 5, [ORDO_UPSERT] = 10, [ORDO_INSERT] = 5, [ORDO_ERASE] = 80 };
static const mixture seeks_of_merges = { 0, 0, 10, 5, 55, 5, 5, 5, 5, 5, 5 };

#endif
