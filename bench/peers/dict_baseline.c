/* SPDX-License-Identifier: Apache-2.0 */
#include "host.h"

#include <math.h>

#define ELEMENTS_MAX ((size_t) 1 << 22)
#define QUERIES_MAX  ((size_t) 1 << 20)
#define TIMES        3

const char *baseline_name(enum workload workload, int i)
{
    return workload_is_dict(workload) ? dict_baseline_name(workload, i) : array_baseline_name(workload, i);
}

double dict_baseline_rate(const struct dict_plan *plan, int i)
{
    const bool               queries = plan_has_fills(plan->spec.workload);
    const struct timing_goal goal = { .seconds = 0.5, .repetitions = queries ? TIMES : 1 };
    struct host_figures      figures;
    if (queries && plan->work.n_steps && plan->work.steps[0].call == DO_LONGEST_PREFIX)
        return NAN; /* a map cannot answer prefixes as stored in an X-fast trie */
    if (!dict_baseline_name(plan->spec.workload, i) || plan->spec.count > ELEMENTS_MAX)
        return NAN;
    const struct host_peer peer = { .kind = i,
                                    .threads = queries || i != DICT_BTREE ? 2 : 1,
                                    .queries_max = QUERIES_MAX };
    return dict_peer_measure(&peer, plan, &goal, &figures) && figures.right ? figures.rate : NAN;
}

#if !BENCH_MAPS

int dict_peers(const struct spec *spec, int threads, struct host_peer peers[HOST_PEERS_MAX])
{
    (void) spec, (void) threads, (void) peers;
    return 0;
}

const char *dict_baseline_name(enum workload workload, int i)
{
    (void) workload, (void) i;
    return NULL;
}

bool dict_peer_measure(const struct host_peer *peer, const struct dict_plan *plan, const struct timing_goal *goal,
                       struct host_figures *out)
{
    (void) peer, (void) plan, (void) goal, (void) out;
    return false; /* dict_peers offers none */
}

#endif
