/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles kernels into the user's cache for the device of ORDO_DEVICE. */
#ifndef BENCH_PREPARE_PREPARE_H
#define BENCH_PREPARE_PREPARE_H

#include <stdbool.h>

/* Exits with a usage error for an unknown word. */
void prepare_check(const char *list);
/* Runs "K:N:LIST" in a child: every N-th program from number K on. Returns the exit status. */
int prepare_part(const char *share);
/* False after an error. */
bool prepare_device(const char *list);

#endif
