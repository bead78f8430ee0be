/* SPDX-License-Identifier: Apache-2.0 */
/* What a process waits for when it opens a device, and when it makes each kind of call for the first time: asked in a process of
 * its own. */
#ifndef BENCH_BENCH_FIRST_CALLS_H
#define BENCH_BENCH_FIRST_CALLS_H

/* Operations of each of these calls. */
#define FIRST_BATCH 65536

/* "open:SELECT", or "calls:AHEAD:STRUCTURE:TYPE:VALUE_BYTES:SELECT" with numbers, AHEAD 1 if ordo_device_prepare comes before the
 * calls: writes the answer as child_run (child.h) wants it, and returns the exit status. */
int first_answer(const char *question);

#endif
