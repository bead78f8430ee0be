/* SPDX-License-Identifier: Apache-2.0 */
/* Whether anything became slower, in several processes of each side. */
#ifndef BENCH_BENCH_CHECK_H
#define BENCH_BENCH_CHECK_H

#include "run.h"

/* Measures what the arguments ask for in the processes that remain, and with --compare or --against says what is slower:
 * EXIT_SLOWER; EXIT_FAILED if rows are missing or a process failed. All that this build measured is added to the file. */
int check(struct run *run, int argc, char **argv);

#endif
