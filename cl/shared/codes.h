/* SPDX-License-Identifier: Apache-2.0 */
/* Values of enum ordo_code and enum ordo_outcome (include/ordo/dict.h). host/dict/apply_batch.c asserts that they are
 * equal. */
#pragma once

#define CODE_FIND     0
#define CODE_CONTAINS 1
#define CODE_UPSERT   2
#define CODE_INSERT   3
#define CODE_ERASE    4
#define CODE_SEEK_LT  5
#define CODE_SEEK_LE  6
#define CODE_SEEK_GE  7
#define CODE_SEEK_GT  8
#define CODE_COUNT    9
#define CODE_RANGE    10
#define CODE_COMBINE  11
#define CODE_RANK_LT  12
#define CODE_RANK_LE  13
#define CODE_SELECT   14
#define N_CODES       15

#define N_CONCURRENT_CODES CODE_COMBINE

/* Word c of the histogram is the number of operations with code c. The last word is 0 if all codes are valid. Otherwise
 * it is n - i, where operation i of n is the first with an invalid code. */
#define HISTOGRAM_WORDS (N_CODES + 1)

#define OUTCOME_DONE       0
#define OUTCOME_NOT_STORED 1
#define OUTCOME_CUT_SHORT  2
#define OUTCOME_UNKNOWN    3
