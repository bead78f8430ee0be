/* SPDX-License-Identifier: Apache-2.0 */
#include "host.h"

#include <math.h>

#define ELEMENTS_MAX ((size_t) 1 << 22)
#define QUERIES_MAX  ((size_t) 1 << 20)
#define TIMES        3

/* Which map it is, and as what it is in rows. */
static const struct {
    enum host_map_kind kind;
    const char        *name;
} baselines[N_DICT_BASELINES] = {
    [DICT_BTREE] = { HOST_BTREE, "btree" },
    [DICT_HASH_MAP] = { HOST_FLAT_HASH_MAP, "flat_hash_map" },
    [DICT_ROBIN_MAP] = { HOST_ROBIN_MAP, "robin_map" },
};

const char *dict_baseline_name(enum workload workload, int i)
{
    const bool there = i < N_DICT_BASELINES && dict_peer_has(baselines[i].kind, workload);
    return there ? baselines[i].name : NULL;
}

const char *baseline_name(enum workload workload, int i)
{
    return workload_is_dict(workload) ? dict_baseline_name(workload, i) : array_baseline_name(workload, i);
}

double dict_baseline_rate(const struct dict_plan *plan, int i)
{
    const bool queries = plan_has_fills(plan->spec.workload);
    if (queries && plan->work.n_steps && plan->work.steps[0].call == DO_LONGEST_PREFIX)
        return NAN; /* of prefixes as an X-fast trie has them a map knows nothing */
    if (!dict_baseline_name(plan->spec.workload, i) || plan->spec.count > ELEMENTS_MAX)
        return NAN;
    return dict_peer_rate(plan, baselines[i].kind, queries || i != DICT_BTREE ? 2 : 1, queries ? TIMES : 1,
                          QUERIES_MAX);
}

#if !BENCH_MAPS

int dict_peers(const struct spec *spec, int threads, struct host_peer peers[HOST_PEERS_MAX])
{
    (void) spec, (void) threads, (void) peers;
    return 0;
}

bool dict_peer_has(enum host_map_kind kind, enum workload workload)
{
    (void) kind, (void) workload;
    return false;
}

bool dict_peer_measure(const struct host_peer *peer, const struct dict_plan *plan, const struct timing_goal *goal,
                       struct host_figures *out)
{
    (void) peer, (void) plan, (void) goal, (void) out;
    return false; /* dict_peers offers none */
}

double dict_peer_rate(const struct dict_plan *plan, enum host_map_kind kind, int threads, int times,
                      size_t queries_most)
{
    (void) plan, (void) kind, (void) threads, (void) times, (void) queries_most;
    return NAN;
}

#endif
