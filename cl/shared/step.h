/* SPDX-License-Identifier: Apache-2.0 */
/* Queries that a work-item of a CPU has in flight: some loads proceed while it waits for others. */
#pragma once

#define RUN_STEP_CPU 16
