/* SPDX-License-Identifier: Apache-2.0 */
/* Layout of `sums` and `places`, two scratch arrays of an ordered batch (cl/dict/apply.cl). */

/* Each part belongs to a kind of operations. A kernel sets entry j to 1 if operation j, in key order, is of this kind.
 * After an exclusive prefix sum, entry j is the number of such operations before operation j. */
#pragma once

/* Parts of `sums`, of n + 1 entries each for n operations. */
#define SUM_HEADS   0 /* first operations of keys, all upserts and erasures */
#define SUM_INSERTS 1 /* inserts and combines */
#define SUM_GROUPS  2 /* first operations of keys */
#define SUM_THERE   3 /* first operations of keys that were in the dictionary */
#define SUM_PARTS   4

/* Parts of `places`, of n + 2 entries each. Without seeks, a batch has only PLACE_CHANGED. With seeks, it has
 * PLACE_GONE only if it has erasures. */
#define PLACE_CHANGED 0 /* last operations of keys that the batch changes */
#define PLACE_UP      1 /* seeks of greater keys */
#define PLACE_DOWN    2 /* seeks of lesser keys */
#define PLACE_GONE    3 /* erasures of keys that were in the dictionary */
#define PLACE_PARTS   4
