/* SPDX-License-Identifier: Apache-2.0 */
/* One question to the drivers, answered in a process of its own. */
#ifndef BENCH_INFO_ANSWER_H
#define BENCH_INFO_ANSWER_H

#include <stddef.h>

#define MOST_PLATFORMS 16
#define MOST_DEVICES   64

/* "driver:FILE", "platforms", "devices:P", "device:P:D", "quiet-device:P:D" (no self-test), "prepare:K:N:LIST": writes the answer as
 * child_run (child.h) wants it, and returns the exit status. */
int answer_question(const char *question);

/* Where the loader finds drivers: a file each, which names the library. OCL_ICD_VENDORS may also be one such file. */
const char *vendors(void);
/* The path of a driver's file. */
void vendor_path(const char *file, char *path, size_t bytes);

#endif
