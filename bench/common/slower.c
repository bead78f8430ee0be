/* SPDX-License-Identifier: Apache-2.0 */
#include "slower.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *) a, y = *(const double *) b;
    return x < y ? -1 : x > y;
}

/* Ascending; their number. */
static int known_of(const double *numbers, int n, double known[MOST_RATES])
{
    int n_known = 0;
    for (int i = 0; i < n && n_known < MOST_RATES; i++)
        if (!isnan(numbers[i]))
            known[n_known++] = numbers[i];
    qsort(known, (size_t) n_known, sizeof *known, ascending);
    return n_known;
}

static double median_of_sorted(const double *numbers, int n)
{
    return n == 0 ? NAN : n % 2 ? numbers[n / 2] : (numbers[n / 2 - 1] + numbers[n / 2]) / 2;
}

double median_of_known(const double *numbers, int n)
{
    double known[MOST_RATES];
    return median_of_sorted(known, known_of(numbers, n, known));
}

static bool slower_in_pairs(const double *old, int n_old, const double *new_rates, int n_new, double worth)
{
    double    ratios[MOST_RATES];
    const int turns = n_old < n_new ? n_old : n_new;
    int       n = 0;
    bool      all = true;
    for (int p = 0; p < turns && n < MOST_RATES; p++) {
        const double ratio = new_rates[p] / old[p];
        if (isnan(ratio))
            continue;
        all = all && ratio < 1;
        ratios[n++] = ratio;
    }
    return all && n >= LEAST_PAIRS && median_of_known(ratios, n) < 1 - worth;
}

enum verdict judge_rates(const double *old, int n_old, const double *new_rates, int n_new, bool turns, double worth)
{
    double    before[MOST_RATES], after[MOST_RATES];
    const int n_before = known_of(old, n_old, before), n_after = known_of(new_rates, n_new, after);
    if (n_before < LEAST_PROCESSES || n_after < LEAST_PROCESSES)
        return UNKNOWN;
    if (after[n_after - 1] < before[0] &&
        median_of_sorted(after, n_after) < median_of_sorted(before, n_before) * (1 - worth))
        return SLOWER;
    return turns && slower_in_pairs(old, n_old, new_rates, n_new, worth) ? SLOWER : NOT_SLOWER;
}
