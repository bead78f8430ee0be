/* SPDX-License-Identifier: Apache-2.0 */
/* ordo-bench paper NAME: measures a paper's experiments again and judges its claims. */
#ifndef BENCH_BENCH_PAPER_H
#define BENCH_BENCH_PAPER_H

#include "run.h"

/* What of it is known before a device is: the paper, and what the command line says beside. Ends the program if that is wrong. */
struct paper_run *paper_begin(int argc, char **argv, const struct options *options);
void              paper_end(struct paper_run **paper);

/* The options of all that is to be measured on run->device, scaled to it; their number. They stay until the next call. */
int paper_parts(struct run *run, const struct options **parts);
/* Measures these, prints figures beside the paper's, judges, and puts all of it into the file. */
void paper_measure(struct run *run);

#endif
