/* SPDX-License-Identifier: Apache-2.0 */
/* What stands beside a device's rows: libraries and plain code on the processors of the machine, on one thread and on
 * several, each timed as the device is and its answers checked. */
#ifndef BENCH_HOST_PEER_H
#define BENCH_HOST_PEER_H

#include "bench/common/timing.h"
#include "bench/workload/inputs.h"

struct host_peer {
    char name[32];    /* "absl::btree_map" */
    char version[80]; /* of the library, or of the compiler */
    char call[96];    /* what is called */
    int  kind;        /* of those that the workload has */
    int  threads;
};
#define MOST_HOST_PEERS 10

struct host_figures {
    struct timing timing;
    double        rate; /* operations a second, of the median */
    bool          right;
    char          why[160]; /* where it is not */
};

/* What there is for a workload over arrays, on one thread and on `threads`; their number. */
int array_peers(const struct spec *spec, int threads, struct host_peer peers[MOST_HOST_PEERS]);
/* False, with the reason in out->why, if memory ran out. */
bool array_peer_measure(const struct host_peer *peer, const struct spec *spec, const struct inputs *in,
                        const struct timing_goal *goal, struct host_figures *out);

#endif
