/* SPDX-License-Identifier: Apache-2.0 */
/* A batch of n operations (cl/dict/apply.cl) has two scratch arrays. Array `sums` has SUM_PARTS parts of n + 1 words
 * each. Array `places` has PLACE_PARTS parts of n + 2 words each. */

/* At first, word j of a part is a flag of operation j, in key order. A prefix sum then replaces each flag by the number
 * of flags before it that are 1. */
#pragma once

#define SUM_HEADS   0 /* flag 1: upserts, erasures, and the first operation of each key */
#define SUM_INSERTS 1
#define SUM_GROUPS  2
#define SUM_THERE   3 /* flag 1: first operation of each key that was in the dictionary before */
#define SUM_PARTS   4

#define PLACE_CHANGED 0 /* flag 1: last operation of each key that the batch changes */
#define PLACE_UP      1
#define PLACE_DOWN    2
#define PLACE_GONE    3
#define PLACE_PARTS   4
