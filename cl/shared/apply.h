/* SPDX-License-Identifier: Apache-2.0 */
/* A batch of n operations (cl/dict/apply.cl) has two scratch arrays: `sums` in parts of n + 1 words, and `places` in
 * parts of n + 2 words. */

/* After a prefix sum, word j of a part is the number of operations of one kind before operation j, in key order. */
#pragma once

#define SUM_HEADS   0 /* first operation of each key, and each upsert and erasure */
#define SUM_INSERTS 1
#define SUM_GROUPS  2
#define SUM_THERE   3 /* first operation of each key that was in the dictionary before the batch */
#define SUM_PARTS   4

#define PLACE_CHANGED 0 /* last operation of each key that the batch changes */
#define PLACE_UP      1
#define PLACE_DOWN    2
#define PLACE_GONE    3
#define PLACE_PARTS   4
