/* SPDX-License-Identifier: Apache-2.0 */
#include "host.h"

#include <math.h>

#define ELEMENTS_MAX ((size_t) 1 << 22)
#define QUERIES_MAX  ((size_t) 1 << 20)
#define STRINGS_MAX  ((size_t) 1 << 20)
#define TIMES        3

const char *baseline_name(enum workload workload, int i)
{
    return workload_is_dict(workload)      ? dict_baseline_name(workload, i)
           : workload_is_strings(workload) ? string_baseline_name(workload, i)
                                           : array_baseline_name(workload, i);
}

double dict_baseline_rate(const struct dict_plan *plan, int i)
{
    const bool               queries = plan_has_fills(plan->spec.workload);
    const struct timing_goal goal = { .seconds = 0.5, .repetitions = queries ? TIMES : 1 };
    struct host_figures      figures;
    if (queries && plan->work.n_steps && plan->work.steps[0].call == DO_LONGEST_PREFIX)
        return NAN; /* a map cannot answer prefixes as stored in an X-fast trie */
    if (!dict_baseline_name(plan->spec.workload, i) || plan->spec.count > ELEMENTS_MAX || type_is_wide(plan->spec.type))
        return NAN;
    const struct host_peer peer = { .kind = i,
                                    .threads = queries || i != DICT_BTREE ? 2 : 1,
                                    .queries_max = QUERIES_MAX };
    return dict_peer_measure(&peer, plan, &goal, &figures) && figures.right ? figures.rate : NAN;
}

double string_baseline_rate(const struct spec *spec, const struct inputs *in, int i)
{
    const struct timing_goal goal = { .seconds = 0.1, .repetitions = TIMES };
    const bool               map_queries = i > 0 && workload_has_queries(spec->workload);
    const struct host_peer   peer = { .kind = i, .threads = map_queries ? 2 : 1 };
    struct spec              fewer = *spec;
    struct host_figures      figures;
    fewer.n_queries = spec->n_queries < QUERIES_MAX ? spec->n_queries : QUERIES_MAX;
    if (!string_baseline_name(spec->workload, i) || spec->count > STRINGS_MAX)
        return NAN;
    return string_peer_measure(&peer, &fewer, in, &goal, &figures) && figures.right ? figures.rate : NAN;
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

int string_peers(const struct spec *spec, int threads, struct host_peer peers[HOST_PEERS_MAX])
{
    (void) spec, (void) threads, (void) peers;
    return 0;
}

bool string_peer_measure(const struct host_peer *peer, const struct spec *spec, const struct inputs *in,
                         const struct timing_goal *goal, struct host_figures *out)
{
    (void) peer, (void) spec, (void) in, (void) goal, (void) out;
    return false; /* string_peers offers none */
}

const char *string_baseline_name(enum workload workload, int i)
{
    (void) workload, (void) i;
    return NULL;
}

#endif
