/* SPDX-License-Identifier: Apache-2.0 */
/* On CPUs, a work-item advances this many queries in turns, so that their cache misses overlap. */
#pragma once

#define RUN_STEP_CPU 16
