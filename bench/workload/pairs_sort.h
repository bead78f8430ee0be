/* SPDX-License-Identifier: Apache-2.0 */
/* The sort of inputs and of what is expected, on all processors: not timed. */
#ifndef BENCH_PAIRS_SORT_H
#define BENCH_PAIRS_SORT_H

#include "baseline.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As host_radix_sort: stable; `spare` has room for as much; the result is in `in`. */
void pairs_sort(struct pairs in, struct pairs spare, size_t key_bytes, size_t value_bytes, size_t count);

#ifdef __cplusplus
}
#endif

#endif
