/* SPDX-License-Identifier: Apache-2.0 */
/* When ordo-bench --compare reports a slower row. Needs no device. */
#include "bench/common/timing.h"

#include <criterion/criterion.h>
#include <math.h>

#define N(array)                 ((int) (sizeof(array) / sizeof *(array)))
#define JUDGE(old, now, turns)   judge_rates(old, N(old), now, N(now), turns, 0.1)
#define MUST_BE(verdict, judged) cr_expect_eq(judged, verdict, "not %d: " #judged, (int) (verdict))

Test(slower, is_below_all_and_by_enough)
{
    const double old[] = { 10, 12, 11 }, below[] = { 8, 9.5, 8.5 }, one_above[] = { 8, 10.5, 8.5 },
                 by_little[] = { 9.9, 9.8, 9.9 };
    MUST_BE(SLOWER, JUDGE(old, below, false));
    MUST_BE(NOT_SLOWER, JUDGE(old, one_above, false));
    MUST_BE(SLOWER, judge_rates(old, 3, by_little, 3, false, 0.05));
    MUST_BE(NOT_SLOWER, judge_rates(old, 3, by_little, 3, false, 0.11));
    MUST_BE(NOT_SLOWER, JUDGE(below, old, false));
    MUST_BE(NOT_SLOWER, JUDGE(old, old, true));
}

/* The pace of the machine changes from turn to turn. */
Test(slower, is_below_in_each_turn)
{
    const double old[] = { 10, 20, 11, 21, 10 }, now[] = { 8, 16, 9, 17, 8 }, once_faster[] = { 8, 16, 12, 17, 8 };
    const double by_little[] = { 9.5, 19, 10.5, 20, 9.5 };
    MUST_BE(SLOWER, JUDGE(old, now, true));
    MUST_BE(NOT_SLOWER, JUDGE(old, now, false));
    MUST_BE(NOT_SLOWER, JUDGE(old, once_faster, true));
    MUST_BE(NOT_SLOWER, JUDGE(old, by_little, true));
    MUST_BE(NOT_SLOWER, judge_rates(old, 4, now, 4, true, 0.1)); /* too few pairs */
}

Test(slower, needs_rates)
{
    const double old[] = { 10, NAN, 20, 11, 21, 10 }, now[] = { 8, 9, 16, 9, 17, 8 },
                 gone[] = { NAN, 1, NAN, NAN, 2, NAN };
    MUST_BE(SLOWER, JUDGE(old, now, true)); /* five pairs are left */
    MUST_BE(UNKNOWN, JUDGE(old, gone, true));
    MUST_BE(UNKNOWN, JUDGE(gone, now, true));
    MUST_BE(UNKNOWN, judge_rates(old, 0, now, 6, true, 0.1));
    cr_expect(isnan(median_of_known(gone, 0)) && median_of_known(gone, N(gone)) == 1.5 && median_of_known(now, 3) == 9);
}
