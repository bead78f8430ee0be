/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of other libraries for the same workloads, taken by ordo-peer (peer.cu: CUB and Thrust, a GPU LSM made of
 * CUB's calls, and hash tables) on the same device. */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include "bench/workload/workload.h"

#include <cjson/cJSON.h>

/* The program: $ORDO_PEER, else ordo-peer beside this program, else in PATH. NULL, with the reason in `why`, if there
 * is none. The caller frees it. */
char *peer_program(char *why, size_t why_bytes);

/* Runs it for one point of the axes and all `n` counts, on the CUDA device called `device_name`, within about `seconds`.
 * Returns an array of rows: "count", "name", "rate" (operations a second, wall clock), "device_rate", "wall_s",
 * "device_s", "check"; without a row where the peer has nothing to set against. NULL with the reason in `why` if it failed, or
 * was ended as it took far longer than that (or than $ORDO_PEER_SECONDS). The caller deletes it. */
cJSON *peer_rows(const char *program, const char *device_name, const struct spec *spec, const size_t *counts, int n,
                 double seconds, char *why, size_t why_bytes);

/* The row for `count`, of several the fastest, or NULL. */
const cJSON *peer_row(const cJSON *rows, size_t count);

#endif
