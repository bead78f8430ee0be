/* SPDX-License-Identifier: Apache-2.0 */
/* How many queries a work-item of a CPU runs in turns, so that their loads from memory overlap. */
#pragma once

#define RUN_STEP_CPU 16
