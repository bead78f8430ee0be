/* SPDX-License-Identifier: Apache-2.0 */
/* Names the parts of two arrays, `sums` and `places`, for kernels that run a batch of n operations. */

/* Each part counts one class of operations: a kernel sets entry j to 1 if operation j, in key order, belongs to the
 * class. Then an exclusive prefix sum makes entry j the number of such operations before operation j. */
#pragma once

/* Parts of the array `sums`. Each has n + 1 entries. */
#define SUM_HEADS   0 /* counts operations that begin a segment: upserts, erasures, first operations of a key */
#define SUM_INSERTS 1 /* counts inserts and combines */
#define SUM_GROUPS  2 /* counts first operations of a key */
#define SUM_THERE   3 /* counts keys that are in the dictionary before the batch */
#define SUM_PARTS   4

/* Each part of the array `places` has n + 2 entries, and the last two are 0. Without seeks in the batch, the array has
 * only PLACE_CHANGED. Without erasures, it lacks PLACE_GONE. */
#define PLACE_CHANGED 0 /* counts keys that the batch changes */
#define PLACE_UP      1 /* counts seeks of greater keys */
#define PLACE_DOWN    2 /* counts seeks of lesser keys */
#define PLACE_GONE    3 /* counts erasures of keys that are in the dictionary before the batch */
#define PLACE_PARTS   4
