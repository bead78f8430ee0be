/* SPDX-License-Identifier: Apache-2.0 */
#include "dict_yardstick.h"

#include "dict_peer.h"
#include "host_map.h"

#include <math.h>

#define ELEMENTS_MOST ((size_t) 1 << 22)
#define QUERIES_MOST  ((size_t) 1 << 20)
#define TIMES         3

/* Which map it is, and as what it is in rows. */
static const struct {
    enum host_map_kind kind;
    const char        *name;
} yardsticks[N_DICT_YARDSTICKS] = {
    [DICT_BTREE] = { HOST_BTREE, "btree" },
    [DICT_HASH_MAP] = { HOST_FLAT_HASH_MAP, "flat_hash_map" },
    [DICT_ROBIN_MAP] = { HOST_ROBIN_MAP, "robin_map" },
};

const char *dict_yardstick_name(enum workload workload, int i)
{
    const bool there = i < N_DICT_YARDSTICKS && dict_peer_has(yardsticks[i].kind, workload);
    return there ? yardsticks[i].name : NULL;
}

const char *yardstick_name(enum workload workload, int i)
{
    return workload_is_dict(workload) ? dict_yardstick_name(workload, i) : array_yardstick_name(workload, i);
}

double dict_yardstick_rate(const struct dict_plan *plan, int i)
{
    const bool queries = plan_has_fills(plan->spec.workload);
    if (queries && plan->work.n_steps && plan->work.steps[0].call == DO_LONGEST_PREFIX)
        return NAN; /* of prefixes as an X-fast trie has them a map knows nothing */
    if (!dict_yardstick_name(plan->spec.workload, i) || plan->spec.count > ELEMENTS_MOST)
        return NAN;
    return dict_peer_rate(plan, yardsticks[i].kind, queries || i != DICT_BTREE ? 2 : 1, queries ? TIMES : 1,
                          QUERIES_MOST);
}
