/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/runs/lsm_plan.h"

/* Neighbouring runs that have at most this number of elements together are always merged. */
#define RUN_MIN_GPU ((size_t) 1 << 14)
#define RUN_MIN_CPU ((size_t) 1 << 10)

size_t ordo_lsm_stored_from(const struct ordo_lsm *lsm, size_t first)
{
    size_t count = 0;
    for (size_t r = first; r < lsm->runs.set.n; r++)
        count += lsm->runs.set.run[r].count;
    return count;
}

size_t ordo_lsm_stored(const struct ordo_lsm *lsm)
{
    return ordo_lsm_stored_from(lsm, 0);
}

/* ---- updates ---------------------------------------------------------------------------------------------------- */

/* If at least STORED_MAX * lsm->live elements are stored, the live elements are counted. If more than STALE_PERCENT
 * percent are stale (replaced or erased), a cleanup removes the stale elements. */
#define STORED_MAX    8
#define STALE_PERCENT 33
/* With config.cleanup_doubled, a cleanup follows if at least DOUBLED * lsm->live elements are stored. */
#define DOUBLED 2

static bool has_grown(const struct ordo_lsm *lsm, size_t times)
{
    const size_t least = lsm->config.cleanup_least;
    return ordo_lsm_stored(lsm) / times >= (lsm->live > least ? lsm->live : least);
}

bool ordo_lsm_is_stale(const struct ordo_lsm *lsm, uint32_t percent)
{
    return ordo_lsm_stored(lsm) - lsm->live > (size_t) ((double) ordo_lsm_stored(lsm) * percent / 100);
}

static bool fits_from(const struct ordo_lsm *lsm, size_t first)
{
    return ordo_runs_fit(&lsm->runs, ordo_lsm_stored_from(lsm, first));
}

/* Returns the index of the oldest run to merge with the newest run, which is the last batch. */
static size_t first_of_carry(const struct ordo_lsm *lsm)
{
    const struct ordo_run_set *set = &lsm->runs.set;
    const size_t               least = ordo_device_facts(lsm->runs.dict.dev)->cpu ? RUN_MIN_CPU : RUN_MIN_GPU;
    size_t                     first = set->n - 1, newer = set->run[first].count;

    for (; first > 0; first--) {
        const size_t older = set->run[first - 1].count;
        if ((older / (lsm->config.growth - 1) > newer && older + newer > least) ||
            !ordo_runs_fit(&lsm->runs, older + newer))
            break;
        newer += older;
    }
    return first;
}

struct ordo_lsm_plan ordo_lsm_plan_batch(const struct ordo_lsm *lsm)
{
    const struct ordo_run_set *set = &lsm->runs.set;
    const size_t               first = first_of_carry(lsm);

    if (set->n > 1 && has_grown(lsm, STORED_MAX) && ordo_runs_can_dedup(&lsm->runs, set) && fits_from(lsm, 0))
        return (struct ordo_lsm_plan) { .action = LSM_GATHER };
    return (struct ordo_lsm_plan) { .action = first + 1 < set->n ? LSM_MERGE : LSM_KEEP, .first = first };
}

struct ordo_lsm_plan ordo_lsm_plan_change(const struct ordo_lsm *lsm)
{
    const uint32_t percent = lsm->config.cleanup_stale_percent;

    if (lsm->config.cleanup_doubled && has_grown(lsm, DOUBLED))
        return (struct ordo_lsm_plan) { .action = LSM_CLEAN };
    if (has_grown(lsm, STORED_MAX) && ordo_lsm_is_stale(lsm, STALE_PERCENT))
        return (struct ordo_lsm_plan) { .action = LSM_COUNT, .percent = STALE_PERCENT };
    if (percent > 0 && lsm->arrived >= lsm->config.cleanup_least && ordo_lsm_is_stale(lsm, percent))
        return (struct ordo_lsm_plan) { .action = LSM_COUNT, .percent = percent };
    return (struct ordo_lsm_plan) { .action = LSM_KEEP };
}

/* ---- queries ----------------------------------------------------------------------------------------------------- */

/* The unit of all costs is the cost of merging one element. */
#define LAUNCH_MOVES_GPU ((uint64_t) 1 << 18)
#define LAUNCH_MOVES_CPU ((uint64_t) 1 << 12)
#define MERGE_LAUNCHES   64
#define MERGE_MOVES      3

uint64_t ordo_lsm_query_cost(const struct ordo_run_set *set, size_t first, size_t n)
{
    uint64_t query_cost = 0;
    for (size_t r = first; r < first + n; r++)
        query_cost += set->run[r].query_cost;
    return query_cost;
}

uint64_t ordo_lsm_launch_moves(const struct ordo_lsm *lsm)
{
    return ordo_device_facts(lsm->runs.dict.dev)->cpu ? LAUNCH_MOVES_CPU : LAUNCH_MOVES_GPU;
}

static uint64_t cost_of_merge(const struct ordo_lsm *lsm, size_t first)
{
    return MERGE_LAUNCHES * ordo_lsm_launch_moves(lsm) + MERGE_MOVES * (uint64_t) ordo_lsm_stored_from(lsm, first);
}

size_t ordo_lsm_first_paid(const struct ordo_lsm *lsm, uint64_t more)
{
    const struct ordo_run_set *set = &lsm->runs.set;

    for (size_t first = 0; first + 1 < set->n; first++) {
        const size_t   n = set->n - first - 1;
        const uint64_t paid = ordo_lsm_query_cost(set, first + 1, n) + n * more;
        if (paid >= cost_of_merge(lsm, first) && fits_from(lsm, first))
            return first;
    }
    return set->n - 1;
}

struct ordo_lsm_plan ordo_lsm_plan_query(const struct ordo_lsm *lsm, uint64_t more, bool waits)
{
    const struct ordo_run_set *set = &lsm->runs.set;
    const size_t               first = ordo_lsm_first_paid(lsm, more);

    if (first + 1 == set->n)
        return (struct ordo_lsm_plan) { .action = LSM_KEEP };
    if (first == 0 && waits && ordo_runs_can_dedup(&lsm->runs, set))
        return (struct ordo_lsm_plan) { .action = LSM_GATHER };
    return (struct ordo_lsm_plan) { .action = LSM_MERGE, .first = first };
}
