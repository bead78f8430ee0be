/* SPDX-License-Identifier: Apache-2.0 */
/* Two scratch arrays of a batch of n operations (cl/dict/apply.cl): `sums` has parts of n + 1 words, `places` has parts
 * of n + 2 words. */

/* Each part counts operations of one kind. A kernel first sets word j to 1 if operation j, in key order, is of this
 * kind, otherwise to 0. A prefix sum then changes word j to the number of such operations before operation j. */
#pragma once

#define SUM_HEADS   0 /* first operation of each key, and each upsert and erasure */
#define SUM_INSERTS 1
#define SUM_GROUPS  2
#define SUM_THERE   3 /* first operation of each key that was in the dictionary before the batch */
#define SUM_PARTS   4

/* Batches without seeks need only PLACE_CHANGED. PLACE_GONE is only for batches that have both seeks and erasures. */
#define PLACE_CHANGED 0 /* last operation of each key that the batch changes */
#define PLACE_UP      1
#define PLACE_DOWN    2
#define PLACE_GONE    3
#define PLACE_PARTS   4
