/* SPDX-License-Identifier: Apache-2.0 */
/* Queries that a work-item of a CPU has in flight: the loads of some are under way while it waits for those of others. */
#pragma once

#define RUN_STEP_CPU 16
