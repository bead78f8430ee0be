/* SPDX-License-Identifier: Apache-2.0 */
/* What there is to measure, said by --list and --describe. */
#ifndef BENCH_BENCH_DESCRIBE_H
#define BENCH_BENCH_DESCRIBE_H

/* Workloads, their variants, and the devices here. */
void print_list(void);
/* What each workload does, and what it can reach at most. */
void print_description(void);

#endif
