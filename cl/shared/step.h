/* SPDX-License-Identifier: Apache-2.0 */
/* Number of queries that a work-item of a CPU runs alternately, so that the cache misses of different queries
 * overlap. */
#pragma once

#define RUN_STEP_CPU 16
