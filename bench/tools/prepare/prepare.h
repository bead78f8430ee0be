/* SPDX-License-Identifier: Apache-2.0 */
/* Fills the user's cache with kernels for the device that ORDO_DEVICE selects. */
#ifndef BENCH_PREPARE_PREPARE_H
#define BENCH_PREPARE_PREPARE_H

#include <stdbool.h>

/* Ends the tool with a complaint if a word of the list is none. */
void prepare_check(const char *list);
/* "K:N:LIST": of the programs every N-th, from number K on, in a process of its own (child.h). Returns the exit status. */
int prepare_part(const char *share);
/* False after a complaint, if something could not be prepared. */
bool prepare_device(const char *list);

#endif
