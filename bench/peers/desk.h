/* SPDX-License-Identifier: Apache-2.0 */
/* Where host code works on a workload over arrays. */
#ifndef BENCH_DESK_H
#define BENCH_DESK_H

#include "bench/workload/baseline.h"
#include "bench/workload/inputs.h"

/* A copy of the inputs that host code may work on, keys in ordered form, and room for as much again. */
struct desk {
    struct pairs work, spare;
    size_t       key_bytes;
    void        *rows; /* room for what gather writes */
};

/* Also touches the spare pages, so that no timing has to. False without memory: it is closed all the same. */
bool desk_open(struct desk *desk, const struct spec *spec);
void desk_close(struct desk *desk);
/* The inputs as they were. */
void desk_lay_out(const struct desk *desk, const struct spec *spec, const struct inputs *in);

#endif
