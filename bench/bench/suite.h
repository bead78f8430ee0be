/* SPDX-License-Identifier: Apache-2.0 */
/* The one list that every device runs, so that what different people measured can be laid side by side. */
#ifndef BENCH_BENCH_SUITE_H
#define BENCH_BENCH_SUITE_H

#include "options.h"

#define MOST_PARTS 64

/* The options of each part: those of the command line (which say how, not what), then the part's own. Sizes are a CPU's or
 * a GPU's. Their number. */
int suite_parts(int argc, char **argv, bool cpu, struct options parts[MOST_PARTS]);

#endif
