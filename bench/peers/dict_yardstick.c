/* SPDX-License-Identifier: Apache-2.0 */
#include "dict_yardstick.h"

#include "dict_peer.h"

#include <math.h>

#define ELEMENTS_MOST ((size_t) 1 << 22)
#define QUERIES_MOST  ((size_t) 1 << 20)
#define TIMES         3

const char *dict_yardstick_name(enum workload workload)
{
    return dict_peer_has_btree(workload) ? "btree" : NULL;
}

double dict_yardstick_rate(const struct dict_plan *plan)
{
    const bool queries = plan_has_fills(plan->spec.workload);
    if (!dict_yardstick_name(plan->spec.workload) || plan->spec.count > ELEMENTS_MOST)
        return NAN;
    return dict_peer_btree_rate(plan, queries ? 2 : 1, queries ? TIMES : 1, QUERIES_MOST);
}
