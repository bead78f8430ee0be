/* SPDX-License-Identifier: Apache-2.0 */
/* Queries that a CPU's work-item runs alternately, so that their cache misses overlap. */
#pragma once

#define RUN_STEP_CPU 16
