/* SPDX-License-Identifier: Apache-2.0 */
/* Maps of host_map.h on the plan of a dictionary's workload. Queries of several threads share one map; updates have a
 * map for each thread, which holds a part of the keys. */
#ifndef BENCH_DICT_PEER_H
#define BENCH_DICT_PEER_H

#include "bench/workload/dict_plan.h"
#include "host_map.h"
#include "host_peer.h"

/* What there is for the workload, on one thread and, where it can be dealt out, on `threads`; their number. */
int dict_peers(const struct spec *spec, int threads, struct host_peer peers[MOST_HOST_PEERS]);
/* On the plan as it is: all batches done, queries drawn (plan_advance). False, with the reason in out->why, if memory ran out. */
bool dict_peer_measure(const struct host_peer *peer, const struct dict_plan *plan, const struct timing_goal *goal,
                       struct host_figures *out);

/* The rate of one kind of map alone, the median of `times` goes, of at most so many queries; NaN if it is not there, or memory ran
 * out. */
double dict_peer_rate(const struct dict_plan *plan, enum host_map_kind kind, int threads, int times,
                      size_t queries_most);
bool   dict_peer_has(enum host_map_kind kind, enum workload workload);
/* False without a C++ compiler: then there are none. */
bool dict_peers_are_built(void);

#endif
