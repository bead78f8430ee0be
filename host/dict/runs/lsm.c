/* SPDX-License-Identifier: Apache-2.0 */
/* Executes the plans of the GPU LSM (lsm_plan.h). */
#include "dict/runs/lsm_plan.h"

/* Default of config.cleanup_least. */
#define LIVE_MIN ((size_t) 1 << 12)

static struct ordo_lsm *lsm_of(ordo_dict *dict)
{
    return (struct ordo_lsm *) dict;
}

static void note_count(struct ordo_lsm *lsm, size_t live)
{
    lsm->live = live;
    lsm->arrived = 0;
}

static void restart(struct ordo_lsm *lsm)
{
    note_count(lsm, ordo_lsm_stored(lsm));
}

/* lsm->live must not exceed the number of live elements. So each erased key lowers it, although the key may be absent.
 * Upserted keys do not raise it, although they may be new. */
static void note_arrival(struct ordo_lsm *lsm, size_t count, bool erase)
{
    lsm->arrived += count;
    if (erase)
        lsm->live -= ordo_min_size(count, lsm->live);
}

static ordo_status count_live(struct ordo_lsm *lsm, struct ordo_call *call)
{
    struct ordo_run_set *set = &lsm->runs.set;
    size_t               counts[ORDO_MAX_RUNS], live = 0;

    if (set->n == 1)
        ORDO_TRY(ordo_run_count_newest(call, &lsm->runs.dict, &set->run[0], &counts[0]));
    else
        ORDO_TRY(ordo_run_set_counts(call, &lsm->runs.dict, set, counts));
    for (size_t r = 0; r < set->n; r++) {
        live += counts[r];
        if (counts[r] == set->run[r].count)
            ordo_run_note_clean(&set->run[r]);
    }
    note_count(lsm, live);
    return ORDO_OK;
}

static void clear(ordo_dict *dict)
{
    ordo_runs_clear(dict);
    restart(lsm_of(dict));
}

static ordo_status compact(ordo_dict *dict, struct ordo_call *call)
{
    ORDO_TRY(ordo_runs_compact(dict, call));
    restart(lsm_of(dict));
    return ORDO_OK;
}

static ordo_status clean_up(ordo_dict *dict, struct ordo_call *call)
{
    ORDO_TRY(ordo_runs_clean_up(dict, call));
    restart(lsm_of(dict));
    return ORDO_OK;
}

static ordo_status build(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys, struct ordo_slice values,
                         size_t count)
{
    ORDO_TRY(ordo_runs_build(dict, call, keys, values, count));
    restart(lsm_of(dict));
    return ORDO_OK;
}

static ordo_status gather(struct ordo_lsm *lsm, struct ordo_call *call)
{
    ORDO_TRY(ordo_runs_gather(&lsm->runs.dict, call));
    restart(lsm);
    return ORDO_OK;
}

static ordo_status merge_runs(struct ordo_lsm *lsm, struct ordo_call *call, size_t first, size_t n, uint64_t query_cost)
{
    struct ordo_run_set   *set = &lsm->runs.set;
    struct ordo_sorted_run in[ORDO_MAX_RUNS], merged;

    memcpy(in, &set->run[first], n * sizeof *in);
    ORDO_TRY(ordo_runs_merge(&lsm->runs, call, in, n, &merged));
    merged.query_cost = query_cost;
    set->run[first] = merged;
    memmove(&set->run[first + 1], &set->run[first + n], (set->n - first - n) * sizeof *in);
    set->n -= n - 1;
    for (size_t i = 0; i < n; i++)
        ordo_runs_release(&lsm->runs, &in[i]);
    return ORDO_OK;
}

static ordo_status take(struct ordo_lsm *lsm, struct ordo_call *call, const struct ordo_lsm_plan *plan)
{
    const size_t n = lsm->runs.set.n - plan->first, before = ordo_lsm_stored(lsm);

    switch (plan->action) {
    case LSM_KEEP:
        return ORDO_OK;
    case LSM_MERGE:
        return merge_runs(lsm, call, plan->first, n, ordo_lsm_query_cost(&lsm->runs.set, plan->first, n));
    case LSM_GATHER:
        ORDO_TRY(gather(lsm, call));
        lsm->runs.cleanups += ordo_lsm_stored(lsm) < before;
        return ORDO_OK;
    case LSM_COUNT:
        ORDO_TRY(count_live(lsm, call));
        return ordo_lsm_is_stale(lsm, plan->percent) ? clean_up(&lsm->runs.dict, call) : ORDO_OK;
    case LSM_CLEAN:
        break;
    }
    return clean_up(&lsm->runs.dict, call);
}

/* Only logs an error, because the change is already stored. */
static void clean_up_if_due(struct ordo_lsm *lsm, struct ordo_call *call)
{
    const struct ordo_lsm_plan plan = ordo_lsm_plan_change(lsm);
    const int                  mark = call->n_scratch;

    if (take(lsm, call, &plan) == ORDO_OK)
        return;
    ordo_call_abandon(call, mark);
    restart(lsm); /* Otherwise each later update would try again. */
    ordo_log(call->dev, ORDO_LOG_WARNING, "lsm: a cleanup failed, going on without");
}

/* ---- updates ----------------------------------------------------------------------------------------------------- */

/* Cleans up to free memory, if elements may be stale (replaced or erased). Returns true after a cleanup. */
static bool frees_memory(struct ordo_lsm *lsm, struct ordo_call *call, int mark)
{
    ordo_call_abandon(call, mark);
    if (lsm->live == ordo_lsm_stored(lsm))
        return false;
    ordo_log(call->dev, ORDO_LOG_INFO, "lsm: memory is short: cleaning up");
    return clean_up(&lsm->runs.dict, call) == ORDO_OK;
}

static ordo_status check_count(struct ordo_lsm *lsm, struct ordo_call *call, size_t count)
{
    if (count > ORDO_MAX_COUNT - ordo_lsm_stored(lsm))
        ORDO_TRY(clean_up(&lsm->runs.dict, call));
    ORDO_REQUIRE(call->dev, count <= ORDO_MAX_COUNT - ordo_lsm_stored(lsm), ORDO_TOO_LARGE,
                 "count is %zu, and %zu elements are stored: a dictionary holds up to %zu (ORDO_MAX_COUNT)", count,
                 ordo_lsm_stored(lsm), ORDO_MAX_COUNT);
    return ORDO_OK;
}

static ordo_status take_batch(struct ordo_lsm *lsm, struct ordo_call *call, const struct ordo_run_batch *b,
                              struct ordo_sorted_run *out)
{
    const int         mark = call->n_scratch;
    const ordo_status status = ordo_runs_take_batch(&lsm->runs, call, b, out);
    if (!ordo_lacks_memory(status) || !frees_memory(lsm, call, mark))
        return status;
    return ordo_runs_take_batch(&lsm->runs, call, b, out);
}

static ordo_status absorb_newest(struct ordo_lsm *lsm, struct ordo_call *call, struct ordo_sorted_run *batch)
{
    struct ordo_run_set   *set = &lsm->runs.set;
    struct ordo_sorted_run in[] = { set->run[set->n - 1], *batch }, merged;

    ORDO_TRY(ordo_runs_merge(&lsm->runs, call, in, 2, &merged));
    merged.query_cost = in[0].query_cost;
    *batch = merged;
    set->n--;
    ordo_runs_release(&lsm->runs, &in[0]);
    ordo_runs_release(&lsm->runs, &in[1]);
    return ORDO_OK;
}

/* If there are already ORDO_MAX_RUNS runs, merges the newest one into the batch. */
static ordo_status make_place(struct ordo_lsm *lsm, struct ordo_call *call, struct ordo_sorted_run *batch)
{
    const struct ordo_run_set *set = &lsm->runs.set;
    size_t                     best = 0;

    if (set->n < ORDO_MAX_RUNS)
        return ORDO_OK;
    if (ordo_runs_fit(&lsm->runs, set->run[set->n - 1].count + batch->count))
        return absorb_newest(lsm, call, batch);
    for (size_t r = 1; r + 1 < set->n; r++)
        if (set->run[r].count + set->run[r + 1].count < set->run[best].count + set->run[best + 1].count)
            best = r;
    return merge_runs(lsm, call, best, 2, ordo_lsm_query_cost(set, best, 2));
}

static ordo_status put(struct ordo_lsm *lsm, struct ordo_call *call, struct ordo_sorted_run *batch)
{
    struct ordo_run_set *set = &lsm->runs.set;
    const int            mark = call->n_scratch;
    ordo_status          status = make_place(lsm, call, batch);

    if (ordo_lacks_memory(status) && frees_memory(lsm, call, mark))
        status = make_place(lsm, call, batch);
    if (status == ORDO_OK)
        set->run[set->n++] = *batch;
    else
        ordo_runs_release(&lsm->runs, batch);
    return status;
}

/* Executes the merge that is due after a batch, if any. Only logs an error, because the batch is already stored. If
 * `marks` is true, first hides the elements that the batch replaces. */
static void settle(struct ordo_lsm *lsm, struct ordo_call *call, bool marks)
{
    const struct ordo_lsm_plan plan = ordo_lsm_plan_batch(lsm);
    const int                  mark = call->n_scratch;
    ordo_status                status = ORDO_OK;

    if (marks && plan.action != LSM_GATHER)
        status = ordo_run_set_mark_newest(call, &lsm->runs.dict, &lsm->runs.set);
    if (status == ORDO_OK)
        status = take(lsm, call, &plan);
    if (status != ORDO_OK && !(ordo_lacks_memory(status) && frees_memory(lsm, call, mark))) {
        ordo_call_abandon(call, mark);
        ordo_log(call->dev, ORDO_LOG_WARNING, "lsm: a batch stays a run of its own");
    }
    ordo_runs_trim_spare(&lsm->runs);
}

static ordo_status store(struct ordo_lsm *lsm, struct ordo_call *call, const struct ordo_run_batch *b)
{
    struct ordo_run_set   *set = &lsm->runs.set;
    struct ordo_sorted_run run;

    ORDO_TRY(check_count(lsm, call, b->count));
    ORDO_TRY(take_batch(lsm, call, b, &run));
    const bool marks = lsm->resolved && set->n > 0 && ordo_run_set_is_resolved(set);
    ORDO_TRY(put(lsm, call, &run));
    note_arrival(lsm, b->count, b->sorted ? b->sorted->erased.mem != NULL : b->erase);
    settle(lsm, call, marks);
    lsm->resolved = false;
    clean_up_if_due(lsm, call);
    return ORDO_OK;
}

static ordo_status update(ordo_dict *dict, struct ordo_call *call, bool erase, struct ordo_slice keys,
                          struct ordo_slice values, size_t count)
{
    const struct ordo_run_batch batch = { NULL, erase, keys, values, count };

    if (erase && lsm_of(dict)->runs.set.n == 0)
        return ORDO_OK;
    return store(lsm_of(dict), call, &batch);
}

static ordo_status update_sorted(ordo_dict *dict, struct ordo_call *call, const struct ordo_sorted_updates *updates)
{
    const struct ordo_run_batch batch = { .sorted = updates, .count = updates->count };
    return store(lsm_of(dict), call, &batch);
}

static ordo_status erase_interval(ordo_dict *dict, struct ordo_call *call, const struct ordo_interval_erasure *e,
                                  bool *done)
{
    struct ordo_lsm *lsm = lsm_of(dict);
    size_t           gone = 0, left = 0;

    if (lsm->runs.set.n == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_runs_hide(dict, call, e, &gone, &left));
    *done = lsm->resolved = true;
    note_count(lsm, left);
    clean_up_if_due(lsm, call);
    return ORDO_OK;
}

/* ---- queries ----------------------------------------------------------------------------------------------------- */

/* Costs of a query in one run. The unit is the cost of merging one element. RANGE_MOVES does not include reads of
 * elements. */
#define FIND_MOVES   2
#define RANK_MOVES   3
#define SELECT_MOVES 32
#define RANGE_MOVES  8

/* Merges the runs that `plan` selects. If memory is short, leaves them unmerged and sets their query costs to 0. */
static ordo_status merge_paid(struct ordo_lsm *lsm, struct ordo_call *call, const struct ordo_lsm_plan *plan)
{
    struct ordo_run_set *set = &lsm->runs.set;
    const int            mark = call->n_scratch;

    ORDO_TRY(ordo_call_changes(call));
    const ordo_status status = plan->action == LSM_GATHER ? gather(lsm, call)
                                                          : merge_runs(lsm, call, plan->first, set->n - plan->first,
                                                                       set->run[plan->first].query_cost);
    if (!ordo_lacks_memory(status))
        return status;
    ordo_call_abandon(call, mark);
    for (size_t r = plan->first; r < set->n; r++)
        set->run[r].query_cost = 0;
    ordo_log(call->dev, ORDO_LOG_WARNING, "lsm: no memory to merge the runs that queries look into, going on without");
    return ORDO_OK;
}

/* Adds `more` to the query cost of each run. Merges runs when this cost reaches the cost of a merge. Does nothing while
 * the call waits for unfinished events. */
static ordo_status pay(struct ordo_lsm *lsm, struct ordo_call *call, uint64_t more, bool waits)
{
    struct ordo_run_set *set = &lsm->runs.set;

    if (lsm->config.keep_runs || set->n < 2 || call->n_pending > 0)
        return ORDO_OK;
    const struct ordo_lsm_plan plan = ordo_lsm_plan_query(lsm, more, waits);
    for (size_t r = 0; r < set->n; r++)
        set->run[r].query_cost += more;
    return plan.action == LSM_KEEP ? ORDO_OK : merge_paid(lsm, call, &plan);
}

static ordo_status pay_queries(struct ordo_lsm *lsm, struct ordo_call *call, size_t queries, uint64_t moves, bool waits)
{
    return pay(lsm, call, ordo_lsm_launch_moves(lsm) + moves * queries, waits);
}

static ordo_status pay_ordered(struct ordo_lsm *lsm, struct ordo_call *call, size_t queries, uint64_t moves, bool waits)
{
    lsm->resolved = true;
    return pay_queries(lsm, call, queries, moves, waits);
}

static ordo_status find(ordo_dict *dict, struct ordo_call *call, const struct ordo_finds *finds)
{
    ORDO_TRY(pay_queries(lsm_of(dict), call, finds->count, FIND_MOVES, false));
    return ordo_runs_find(dict, call, finds);
}

#define ORDERED_QUERY(query, queries, moves)                                                                           \
    static ordo_status paid_##query(ordo_dict *dict, struct ordo_call *call, const struct queries *q)                  \
    {                                                                                                                  \
        ORDO_TRY(pay_ordered(lsm_of(dict), call, q->count, (moves), false));                                           \
        return ordo_runs_##query(dict, call, q);                                                                       \
    }
ORDERED_QUERY(count, ordo_counts, UINT64_C(2) * RANK_MOVES)
ORDERED_QUERY(seek, ordo_seeks, RANK_MOVES)
ORDERED_QUERY(rank, ordo_ranks, RANK_MOVES)
ORDERED_QUERY(select, ordo_selects, SELECT_MOVES)

/* Adds the number of results to each run's query cost, which can cause a merge. */
static ordo_status pay_results(struct ordo_lsm *lsm, struct ordo_call *call, const struct ordo_ranges *ranges)
{
    const bool wanted = ranges->keys_out.mem || ranges->values_out.mem;
    double     results = 0;

    if (!ranges->waits || !wanted || lsm->config.keep_runs || lsm->runs.set.n < 2 ||
        ordo_lsm_first_paid(lsm, ranges->capacity) + 1 == lsm->runs.set.n)
        return ORDO_OK;
    ORDO_TRY(ordo_runs_estimate(&lsm->runs.dict, call, ranges, &results));
    return results > (double) ranges->capacity ? ORDO_OK : pay(lsm, call, (uint64_t) results, true);
}

static ordo_status range(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranges *ranges)
{
    ORDO_TRY(pay_ordered(lsm_of(dict), call, ranges->count, RANGE_MOVES, ranges->waits));
    ORDO_TRY(pay_results(lsm_of(dict), call, ranges));
    return ordo_runs_range(dict, call, ranges);
}

static ordo_status ends(ordo_dict *dict, struct ordo_call *call, const struct ordo_ends *e, size_t *got, bool *done)
{
    struct ordo_lsm *lsm = lsm_of(dict);
    size_t           left = 0;

    ORDO_TRY(pay_ordered(lsm, call, e->count, (uint64_t) 2 * RANK_MOVES, true));
    ORDO_TRY(ordo_runs_ends(dict, call, e, got, &left, done));
    if (*done && e->take) {
        note_count(lsm, left);
        clean_up_if_due(lsm, call);
    }
    return ORDO_OK;
}

static ordo_status check_config(ordo_device *dev, const struct ordo_lsm_config *config)
{
    ORDO_REQUIRE(dev, config->growth >= 2 && config->growth <= 16, ORDO_INVALID, "growth is %u: it may be 2 to 16",
                 (unsigned) config->growth);
    ORDO_REQUIRE(dev, config->cleanup_stale_percent <= 100, ORDO_INVALID,
                 "cleanup_stale_percent is %u: it may be 0 to 100", (unsigned) config->cleanup_stale_percent);
    return ORDO_OK;
}

static ordo_status configure(ordo_dict *dict, const void *config)
{
    struct ordo_lsm *lsm = lsm_of(dict);
    lsm->config = *(const struct ordo_lsm_config *) config;
    if (lsm->config.growth == 0)
        lsm->config.growth = 4;
    if (lsm->config.cleanup_least == 0)
        lsm->config.cleanup_least = LIVE_MIN;
    return check_config(dict->dev, &lsm->config);
}

const struct ordo_structure ordo_lsm_structure = {
    .name = "lsm",
    .bytes = sizeof(struct ordo_lsm),
    .config_bytes = sizeof(struct ordo_lsm_config),
    .configure = configure,
    .destroy = clear,
    .clear = clear,
    .build = build,
    .update = update,
    .update_sorted = update_sorted,
    .erase_interval = erase_interval,
    .ends = ends,
    .release_spare = ordo_runs_release_spare,
    .clean_up = clean_up,
    .compact = compact,
    .find = find,
    .count = paid_count,
    .range = range,
    .seek = paid_seek,
    .seeks_both = true,
    .rank = paid_rank,
    .select = paid_select,
    .size = ordo_runs_size,
    .export_all = ordo_runs_export,
    .check = ordo_runs_check,
    .invalidate = ordo_runs_invalidate,
    .statistics = ordo_runs_statistics,
};

ordo_status ordo_lsm_create(ordo_device *device, const struct ordo_lsm_config *config, ordo_dict **out)
{
    return ordo_dict_create(device, &ordo_lsm_structure, config, out);
}

ordo_status ordo_lsm_cleanup(ordo_dict *dict, const struct ordo_order *order)
{
    return ordo_dict_clean_up(dict, order);
}
