/* SPDX-License-Identifier: Apache-2.0 */
/* Mixed batches: the sums over a batch of n operations in key order that host and kernels (cl/dict/apply*.cl) share. Each array
 * is some parts of equal length, one after another, which are scanned as one. */
#pragma once

/* Parts of `sums`, of n + 1 positions each: how many there are before each position. */
#define SUM_HEADS   0 /* positions at which stretches begin */
#define SUM_INSERTS 1 /* inserts and combines */
#define SUM_GROUPS  2 /* positions at which keys begin */
#define SUM_THERE   3 /* those of them whose key was there */
#define SUM_PARTS   4

/* Parts of `places`, of n + 2 positions each, the last two of which count for nothing. A batch without seeks has the first
 * alone; one without erasures all but the last. */
#define PLACE_CHANGED 0 /* the last operation of a key that the batch leaves in another state */
#define PLACE_UP      1 /* seeks upwards, downwards */
#define PLACE_DOWN    2
#define PLACE_GONE    3 /* erasures of keys that were there before the batch */
#define PLACE_PARTS   4
