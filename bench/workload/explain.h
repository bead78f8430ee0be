/* SPDX-License-Identifier: Apache-2.0 */
/* Whether there is an order of a concurrent batch's operations that explains what they returned, where several are about one key:
 * of inserts, erases and finds all of which overlap. */
#ifndef BENCH_EXPLAIN_H
#define BENCH_EXPLAIN_H

#include "dict_plan.h"

/* found, values_out: what the work of a plan of concurrentpoints returned. *after: what the dictionary then holds, which the
 * caller frees with model_free. False, with the reason in `why`, if nothing explains it, or without memory. */
bool explain_points(const struct dict_plan *plan, const uint8_t *found, const void *values_out, struct model *after,
                    char *why, size_t why_bytes);

#endif
