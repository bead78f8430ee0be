/* SPDX-License-Identifier: Apache-2.0 */
/* Mixed batches: sums over n operations in key order, for host and kernels (cl/dict/apply*.cl). The parts of an array
 * have equal length and are scanned together. */
#pragma once

/* Parts of `sums`, of n + 1 positions each: the number before each position of */
#define SUM_HEADS   0 /* segment starts */
#define SUM_INSERTS 1 /* inserts and combines */
#define SUM_GROUPS  2 /* key starts */
#define SUM_THERE   3 /* key starts whose key is present before the batch */
#define SUM_PARTS   4

/* Parts of `places`, of n + 2 positions each; the last two hold no term. Batches without seeks have only the first
 * part, without erasures all but the last. */
#define PLACE_CHANGED 0 /* last operations of keys whose final state differs */
#define PLACE_UP      1 /* seeks upwards, downwards */
#define PLACE_DOWN    2
#define PLACE_GONE    3 /* erasures of keys that are present before the batch */
#define PLACE_PARTS   4
