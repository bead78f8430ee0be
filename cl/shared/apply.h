/* SPDX-License-Identifier: Apache-2.0 */
/* Defines two arrays of a mixed batch of n operations in key order (cl/dict/apply*.cl). Each array has parts of equal
 * length, which one exclusive scan turns into sums. */
#pragma once

/* Parts of `sums`, with n + 1 entries each. Scanned, entry j is how many of these come before operation j: */
#define SUM_HEADS   0 /* segment starts */
#define SUM_INSERTS 1 /* inserts and combines */
#define SUM_GROUPS  2 /* key starts */
#define SUM_THERE   3 /* key starts whose key is present before the batch */
#define SUM_PARTS   4

/* Parts of `places`, with n + 2 entries each, the last two 0. Without seeks, only the first part exists; without
 * erasures, the last does not. */
#define PLACE_CHANGED 0 /* last operations of keys that the batch changes */
#define PLACE_UP      1 /* seeks of greater keys */
#define PLACE_DOWN    2 /* seeks of lesser keys */
#define PLACE_GONE    3 /* erasures of keys that are present before the batch */
#define PLACE_PARTS   4
