/* SPDX-License-Identifier: Apache-2.0 */
/* Whether rates that several processes measured became less. */
#ifndef BENCH_SLOWER_H
#define BENCH_SLOWER_H

#include <stdbool.h>

enum verdict { NOT_SLOWER, SLOWER, UNKNOWN };

/* Fewer processes tell nothing; nor do fewer pairs. */
#define LEAST_PROCESSES 3
#define LEAST_PAIRS     5
/* Rates at most. */
#define MOST_RATES 64

/* Slower is what is so by more than the share `worth` in the median, and
 *   all new rates are below all old ones, or
 *   `turns`: each new one is below the old one at its place, beside which it was measured. What else the machine does may change
 *   from turn to turn by more than what is looked for.
 * NaN: a process that has none. UNKNOWN: one side has too few. */
enum verdict judge_rates(const double *old, int n_old, const double *new_rates, int n_new, bool turns, double worth);

/* Of those that are no NaN; NaN of none. */
double median_of_known(const double *numbers, int n);

#endif
