/* SPDX-License-Identifier: Apache-2.0 */
/* A batch of n operations (cl/dict/apply.cl) has two scratch arrays. Array `sums` has SUM_PARTS parts of n + 1 words
 * each. Array `places` has PLACE_PARTS parts of n + 2 words each. */

/* In each part, word j belongs to the j-th operation in key order. At first, this word is a flag, 0 or 1. A prefix
 * sum then replaces it by the sum of the earlier flags of the part. The comments below say which operations have
 * flag 1. */
#pragma once

#define SUM_HEADS   0 /* An operation has flag 1 if it is an upsert, an erasure, or the first one on its key. */
#define SUM_INSERTS 1
#define SUM_GROUPS  2
#define SUM_THERE   3 /* An operation has flag 1 if it is the first on a key that was present before the batch. */
#define SUM_PARTS   4

#define PLACE_CHANGED 0 /* If the batch changes a key, the last operation of this key has flag 1. */
#define PLACE_UP      1
#define PLACE_DOWN    2
#define PLACE_GONE    3
#define PLACE_PARTS   4
