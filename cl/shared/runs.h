/* SPDX-License-Identifier: Apache-2.0 */
/* Sorted runs, as kernels that look into all of them see them. host/dict/runs.h draws a run and has the invariants. */
#pragma once
#include "shared/types.h"

#define RUNS_MAX  16
#define RUN_BLOCK 512 /* elements per entry of `visible` */
