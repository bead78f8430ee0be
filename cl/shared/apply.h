/* SPDX-License-Identifier: Apache-2.0 */
/* A batch of n operations (cl/dict/apply.cl) has two scratch arrays. Array `sums` has SUM_PARTS parts of n + 1 words
 * each. Array `places` has PLACE_PARTS parts of n + 2 words each. */

/* In each part, word j belongs to the j-th operation in key order. It is a flag at first, 0 or 1. A prefix sum then
 * replaces it by the sum of the earlier flags of the part. */
#pragma once

/* Parts of array `sums`. Kernel apply_starts sets word j of a part to 1 in these cases, else to 0:
 *
 *  SUM_HEADS     operation j is an upsert, an erasure, or the first one on its key
 *  SUM_INSERTS   operation j is an insert or a combine
 *  SUM_GROUPS    operation j is the first one on its key
 *  SUM_THERE     operation j is the first one on its key, and the key was present before the batch */
#define SUM_HEADS   0
#define SUM_INSERTS 1
#define SUM_GROUPS  2
#define SUM_THERE   3
#define SUM_PARTS   4

/* Parts of array `places`. In part PLACE_CHANGED, kernel apply_points sets word j to 1 if operation j is the last
 * one on its key, and the batch changes this key. */
#define PLACE_CHANGED 0
#define PLACE_UP      1
#define PLACE_DOWN    2
#define PLACE_GONE    3
#define PLACE_PARTS   4
