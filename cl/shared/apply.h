/* SPDX-License-Identifier: Apache-2.0 */
/* Names the parts of two arrays, `sums` and `places`, for kernels that run a batch of operations. */

/* Each part of `sums` and `places` counts one class of operations. First a kernel sets entry j to 1 if operation j, in
 * key order, belongs to the class. An exclusive prefix sum then makes entry j the number of such operations before
 * operation j. */
#pragma once

/* Parts of the array `sums` for a batch of n operations. Each part has n + 1 entries. */
#define SUM_HEADS   0 /* counts upserts, erasures, and the first operation of each key */
#define SUM_INSERTS 1 /* counts inserts and combines */
#define SUM_GROUPS  2 /* counts first operations of a key */
#define SUM_THERE   3 /* counts first operations of keys that are in the dictionary before the batch */
#define SUM_PARTS   4

/* Parts of the array `places` for a batch of n operations. Each part has n + 2 entries, and the last two are 0. A batch
 * without seeks has only PLACE_CHANGED. A batch with seeks, but no erasures, has all parts except PLACE_GONE. */
#define PLACE_CHANGED 0 /* counts keys that the batch changes */
#define PLACE_UP      1 /* counts seeks of greater keys */
#define PLACE_DOWN    2 /* counts seeks of lesser keys */
#define PLACE_GONE    3 /* counts erasures of keys that are in the dictionary before the batch */
#define PLACE_PARTS   4
