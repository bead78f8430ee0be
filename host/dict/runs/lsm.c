/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU LSM: which runs are merged, and when.
 *
 *   trigger                                            action
 *   update                                             MERGE the batch with the newest runs (`growth`)
 *   update, ORDO_MAX_RUNS runs are stored              first merge the batch and the newest run, or two neighbours
 *   update, more than ORDO_MAX_COUNT would be stored   first CLEAN
 *   update, memory is short                            CLEAN, if elements may be stale
 *   change, 8 elements are stored for each live one    GATHER the batch and all runs if one pass can, else COUNT
 *   change, cleanup_stale_percent may be stale         COUNT, then CLEAN if more are stale
 *   change, cleanup_doubled: 2 for each live one       CLEAN
 *   queries have cost as much as a merge               MERGE the newest runs, or GATHER all runs if the call waits */
#include "ordo/lsm.h"
#include "dict/runs/runs.h"

/* Runs that have fewer elements than this together are always merged, because a launch costs more. */
#define RUN_MIN_GPU ((size_t) 1 << 14)
#define RUN_MIN_CPU ((size_t) 1 << 10)

/* The default of cleanup_least: fewer live elements than this count as this many. */
#define LIVE_MIN ((size_t) 1 << 12)

struct lsm {
    struct ordo_runs       runs; /* first, so that a dictionary, a struct ordo_runs and a struct lsm have one address */
    struct ordo_lsm_config config;
    size_t                 live;     /* lower bound: elements visible at the last count, less those erased since */
    size_t                 arrived;  /* elements since the last count */
    bool                   resolved; /* a query has resolved the runs, or tried to, since the last update */
};

static struct lsm *lsm_of(ordo_dict *dict)
{
    return (struct lsm *) dict;
}

static size_t stored_from(const struct lsm *lsm, size_t first)
{
    size_t count = 0;
    for (size_t r = first; r < lsm->runs.set.n; r++)
        count += lsm->runs.set.run[r].count;
    return count;
}

static size_t stored(const struct lsm *lsm)
{
    return stored_from(lsm, 0);
}

/* ---- live elements ----------------------------------------------------------------------------------------------- */

static void note_count(struct lsm *lsm, size_t live)
{
    lsm->live = live;
    lsm->arrived = 0;
}

/* After a cleanup every stored element is live. */
static void restart(struct lsm *lsm)
{
    note_count(lsm, stored(lsm));
}

/* Erased keys may have been live. Upserted keys may have been live before. */
static void note_arrival(struct lsm *lsm, size_t count, bool erase)
{
    lsm->arrived += count;
    if (erase)
        lsm->live -= ordo_min_size(count, lsm->live);
}

/* Counts the live elements. Waits. A single run is counted without marks. A run without stale elements needs no
 * bits. */
static ordo_status count_live(struct lsm *lsm, struct ordo_call *call)
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

/* ---- plans ------------------------------------------------------------------------------------------------------- */

/* A change leaves fewer than STORED_MAX stored elements for each live one. If that many may be stored and
 * STALE_PERCENT or less are stale after all, a count has cost less than half of a cleanup. */
#define STORED_MAX    8
#define STALE_PERCENT 33
#define DOUBLED       2

enum action {
    KEEP,   /* nothing */
    MERGE,  /* the runs from `first` on become one */
    GATHER, /* the visible elements become one run, in one pass */
    COUNT,  /* the live elements are counted; CLEAN if more than `percent` of the stored ones are stale */
    CLEAN,  /* the visible elements become one run */
};

struct plan {
    enum action action;
    size_t      first;
    uint32_t    percent;
};

static bool has_grown(const struct lsm *lsm, size_t times)
{
    const size_t least = lsm->config.cleanup_least;
    return stored(lsm) / times >= (lsm->live > least ? lsm->live : least);
}

static bool is_stale(const struct lsm *lsm, uint32_t percent)
{
    return stored(lsm) - lsm->live > (size_t) ((double) stored(lsm) * percent / 100);
}

static bool fits_from(const struct lsm *lsm, size_t first)
{
    return ordo_runs_fit(&lsm->runs, stored_from(lsm, first));
}

/* The oldest run that is merged with the newest one, which is a batch. */
static size_t first_of_carry(const struct lsm *lsm)
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

/* After a batch has become the newest run. */
static struct plan plan_batch(const struct lsm *lsm)
{
    const struct ordo_run_set *set = &lsm->runs.set;
    const size_t               first = first_of_carry(lsm);

    if (set->n > 1 && has_grown(lsm, STORED_MAX) && ordo_runs_can_dedup(&lsm->runs, set) && fits_from(lsm, 0))
        return (struct plan) { .action = GATHER };
    return (struct plan) { .action = first + 1 < set->n ? MERGE : KEEP, .first = first };
}

/* After a change, and after what plan_batch called for. */
static struct plan plan_change(const struct lsm *lsm)
{
    const uint32_t percent = lsm->config.cleanup_stale_percent;

    if (lsm->config.cleanup_doubled && has_grown(lsm, DOUBLED))
        return (struct plan) { .action = CLEAN };
    if (has_grown(lsm, STORED_MAX) && is_stale(lsm, STALE_PERCENT))
        return (struct plan) { .action = COUNT, .percent = STALE_PERCENT };
    if (percent > 0 && lsm->arrived >= lsm->config.cleanup_least && is_stale(lsm, percent))
        return (struct plan) { .action = COUNT, .percent = percent };
    return (struct plan) { .action = KEEP };
}

/* ---- actions ----------------------------------------------------------------------------------------------------- */

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

/* Keeps the cached blocks, because the next updates need memory. */
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

/* Waits. */
static ordo_status gather(struct lsm *lsm, struct ordo_call *call)
{
    ORDO_TRY(ordo_runs_gather(&lsm->runs.dict, call));
    restart(lsm);
    return ORDO_OK;
}

/* Merges the runs first .. first + n - 1 into one. That one inherits the query cost of the runs that queries have
 * looked into. */
static ordo_status merge_runs(struct lsm *lsm, struct ordo_call *call, size_t first, size_t n, uint64_t query_cost)
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

static uint64_t query_cost_of(const struct ordo_run_set *set, size_t first, size_t n)
{
    uint64_t query_cost = 0;
    for (size_t r = first; r < first + n; r++)
        query_cost += set->run[r].query_cost;
    return query_cost;
}

static ordo_status take(struct lsm *lsm, struct ordo_call *call, const struct plan *plan)
{
    const size_t n = lsm->runs.set.n - plan->first, before = stored(lsm);

    switch (plan->action) {
    case KEEP:
        return ORDO_OK;
    case MERGE:
        return merge_runs(lsm, call, plan->first, n, query_cost_of(&lsm->runs.set, plan->first, n));
    case GATHER:
        ORDO_TRY(gather(lsm, call));
        lsm->runs.cleanups += stored(lsm) < before;
        return ORDO_OK;
    case COUNT:
        ORDO_TRY(count_live(lsm, call));
        return is_stale(lsm, plan->percent) ? clean_up(&lsm->runs.dict, call) : ORDO_OK;
    case CLEAN:
        break;
    }
    return clean_up(&lsm->runs.dict, call);
}

/* The change is stored, so an error here is only logged. */
static void clean_up_if_due(struct lsm *lsm, struct ordo_call *call)
{
    const struct plan plan = plan_change(lsm);
    const int         mark = call->n_scratch;

    if (take(lsm, call, &plan) == ORDO_OK)
        return;
    ordo_call_abandon(call, mark);
    restart(lsm); /* the next updates do not try again */
    ordo_log(call->dev, ORDO_LOG_WARNING, "lsm: a cleanup failed, going on without");
}

/* ---- updates ----------------------------------------------------------------------------------------------------- */

/* Cleans up if elements may be stale. Returns whether it has. Waits. */
static bool makes_room(struct lsm *lsm, struct ordo_call *call, int mark)
{
    ordo_call_abandon(call, mark);
    if (lsm->live == stored(lsm))
        return false;
    ordo_log(call->dev, ORDO_LOG_INFO, "lsm: memory is short: cleaning up");
    return clean_up(&lsm->runs.dict, call) == ORDO_OK;
}

static ordo_status check_count(struct lsm *lsm, struct ordo_call *call, size_t count)
{
    if (count > ORDO_MAX_COUNT - stored(lsm))
        ORDO_TRY(clean_up(&lsm->runs.dict, call));
    ORDO_REQUIRE(call->dev, count <= ORDO_MAX_COUNT - stored(lsm), ORDO_TOO_LARGE,
                 "count is %zu, and %zu elements are stored: a dictionary holds up to %zu (ORDO_MAX_COUNT)", count,
                 stored(lsm), ORDO_MAX_COUNT);
    return ORDO_OK;
}

static ordo_status take_batch(struct lsm *lsm, struct ordo_call *call, const struct ordo_run_batch *b,
                              struct ordo_sorted_run *out)
{
    const int         mark = call->n_scratch;
    const ordo_status status = ordo_runs_take_batch(&lsm->runs, call, b, out);
    if (!ordo_lacks_memory(status) || !makes_room(lsm, call, mark))
        return status;
    return ordo_runs_take_batch(&lsm->runs, call, b, out);
}

/* Merges the newest run into the batch. */
static ordo_status absorb_newest(struct lsm *lsm, struct ordo_call *call, struct ordo_sorted_run *batch)
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

/* Makes a place for a batch if there may be no more runs. */
static ordo_status make_place(struct lsm *lsm, struct ordo_call *call, struct ordo_sorted_run *batch)
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
    return merge_runs(lsm, call, best, 2, query_cost_of(set, best, 2));
}

/* Makes the batch the newest run. After an error the batch's block is released. */
static ordo_status put(struct lsm *lsm, struct ordo_call *call, struct ordo_sorted_run *batch)
{
    struct ordo_run_set *set = &lsm->runs.set;
    const int            mark = call->n_scratch;
    ordo_status          status = make_place(lsm, call, batch);

    if (ordo_lacks_memory(status) && makes_room(lsm, call, mark))
        status = make_place(lsm, call, batch);
    if (status == ORDO_OK)
        set->run[set->n++] = *batch;
    else
        ordo_runs_release(&lsm->runs, batch);
    return status;
}

/* Carries out a plan for the newest run, which is stored, so an error is only logged. `marks`: queries of order come
 * between updates, so the batch is marked by itself before it is merged: then nothing is searched for again in older
 * runs. */
static void settle(struct lsm *lsm, struct ordo_call *call, bool marks)
{
    const struct plan plan = plan_batch(lsm);
    const int         mark = call->n_scratch;
    ordo_status       status = ORDO_OK;

    if (marks && plan.action != GATHER)
        status = ordo_run_set_mark_newest(call, &lsm->runs.dict, &lsm->runs.set);
    if (status == ORDO_OK)
        status = take(lsm, call, &plan);
    if (status != ORDO_OK && !(ordo_lacks_memory(status) && makes_room(lsm, call, mark))) {
        ordo_call_abandon(call, mark);
        ordo_log(call->dev, ORDO_LOG_WARNING, "lsm: a batch stays a run of its own");
    }
    ordo_runs_trim_spare(&lsm->runs);
}

static ordo_status store(struct lsm *lsm, struct ordo_call *call, const struct ordo_run_batch *b)
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

/* Hides the elements of the interval where they lie. */
static ordo_status erase_interval(ordo_dict *dict, struct ordo_call *call, const struct ordo_interval_erasure *e,
                                  bool *done)
{
    struct lsm *lsm = lsm_of(dict);
    size_t      gone = 0, left = 0;

    if (lsm->runs.set.n == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_runs_hide(dict, call, e, &gone, &left));
    *done = lsm->resolved = true;
    note_count(lsm, left);
    clean_up_if_due(lsm, call);
    return ORDO_OK;
}

/* ---- queries ----------------------------------------------------------------------------------------------------- */

/* A query looks into every run. It would cost less if all runs were one. Each run remembers the cost of the queries
 * that looked into it. When that cost, of some of the newest runs, reaches the cost of a merge of these runs and the
 * one before, they are merged. So no sequence of queries costs more than twice the better of the two ways, like the
 * rent in the ski rental problem. The unit is the time in which a merge moves one element. */
#define FIND_MOVES       2
#define RANK_MOVES       3  /* a search for a rank; a count takes two */
#define SELECT_MOVES     32 /* a search for a key bit by bit */
#define RANGE_MOVES      8  /* a range, without its elements: each of these costs 1 */
#define LAUNCH_MOVES_GPU ((uint64_t) 1 << 18)
#define LAUNCH_MOVES_CPU ((uint64_t) 1 << 12)
#define MERGE_LAUNCHES   64 /* mostly for buffers that are created and destroyed */
#define MERGE_MOVES      3

static uint64_t launch_moves(const struct lsm *lsm)
{
    return ordo_device_facts(lsm->runs.dict.dev)->cpu ? LAUNCH_MOVES_CPU : LAUNCH_MOVES_GPU;
}

/* The cost of a merge of the runs from `first` on, with memory, index and marks of the new run. */
static uint64_t cost_of_merge(const struct lsm *lsm, size_t first)
{
    return MERGE_LAUNCHES * launch_moves(lsm) + MERGE_MOVES * (uint64_t) stored_from(lsm, first);
}

/* The oldest of the newest runs for whose merge queries have paid, if they pay `more` for each run, and that fit
 * into one run; else the newest run. */
static size_t first_paid(const struct lsm *lsm, uint64_t more)
{
    const struct ordo_run_set *set = &lsm->runs.set;

    for (size_t first = 0; first + 1 < set->n; first++) {
        const size_t   n = set->n - first - 1;
        const uint64_t paid = query_cost_of(set, first + 1, n) + n * more;
        if (paid >= cost_of_merge(lsm, first) && fits_from(lsm, first))
            return first;
    }
    return set->n - 1;
}

/* Before a query that costs `more` for each run. Merging all runs in a call that waits leaves out stale elements:
 * that takes no longer, and later queries need not search for them. */
static struct plan plan_query(const struct lsm *lsm, uint64_t more, bool waits)
{
    const struct ordo_run_set *set = &lsm->runs.set;
    const size_t               first = first_paid(lsm, more);

    if (first + 1 == set->n)
        return (struct plan) { .action = KEEP };
    if (first == 0 && waits && ordo_runs_can_dedup(&lsm->runs, set))
        return (struct plan) { .action = GATHER };
    return (struct plan) { .action = MERGE, .first = first };
}

/* Without memory for a merge the runs stay, and queries start to pay again. The merged run keeps the cost of its
 * oldest run. */
static ordo_status merge_paid(struct lsm *lsm, struct ordo_call *call, const struct plan *plan)
{
    struct ordo_run_set *set = &lsm->runs.set;
    const int            mark = call->n_scratch;

    ORDO_TRY(ordo_call_changes(call));
    const ordo_status status = plan->action == GATHER ? gather(lsm, call)
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

/* Before a query that costs `more` for each run. No merge while events are pending. */
static ordo_status pay(struct lsm *lsm, struct ordo_call *call, uint64_t more, bool waits)
{
    struct ordo_run_set *set = &lsm->runs.set;

    if (lsm->config.keep_runs || set->n < 2 || call->n_pending > 0)
        return ORDO_OK;
    const struct plan plan = plan_query(lsm, more, waits);
    for (size_t r = 0; r < set->n; r++)
        set->run[r].query_cost += more;
    return plan.action == KEEP ? ORDO_OK : merge_paid(lsm, call, &plan);
}

static ordo_status pay_queries(struct lsm *lsm, struct ordo_call *call, size_t queries, uint64_t moves, bool waits)
{
    return pay(lsm, call, launch_moves(lsm) + moves * queries, waits);
}

/* Before queries that resolve the runs. */
static ordo_status pay_ordered(struct lsm *lsm, struct ordo_call *call, size_t queries, uint64_t moves, bool waits)
{
    lsm->resolved = true;
    return pay_queries(lsm, call, queries, moves, waits);
}

static ordo_status find(ordo_dict *dict, struct ordo_call *call, const struct ordo_finds *finds)
{
    ORDO_TRY(pay_queries(lsm_of(dict), call, finds->count, FIND_MOVES, false));
    return ordo_runs_find(dict, call, finds);
}

/* A query of order that pays for its queries first. */
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

/* Before ranges whose caller waits for the number of results: estimates that number if `capacity` results would pay
 * for a merge. */
static ordo_status pay_results(struct lsm *lsm, struct ordo_call *call, const struct ordo_ranges *ranges)
{
    const bool wanted = ranges->keys_out.mem || ranges->values_out.mem;
    double     results = 0;

    if (!ranges->waits || !wanted || lsm->config.keep_runs || lsm->runs.set.n < 2 ||
        first_paid(lsm, ranges->capacity) + 1 == lsm->runs.set.n)
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

/* The caller waits for the number of elements. */
static ordo_status ends(ordo_dict *dict, struct ordo_call *call, const struct ordo_ends *e, size_t *got, bool *done)
{
    struct lsm *lsm = lsm_of(dict);
    size_t      left = 0;

    ORDO_TRY(pay_ordered(lsm, call, e->count, (uint64_t) 2 * RANK_MOVES, true));
    ORDO_TRY(ordo_runs_ends(dict, call, e, got, &left, done));
    if (*done && e->take) {
        note_count(lsm, left);
        clean_up_if_due(lsm, call);
    }
    return ORDO_OK;
}

/* ---- the structure ----------------------------------------------------------------------------------------------- */

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
    struct lsm *lsm = lsm_of(dict);
    lsm->config = *(const struct ordo_lsm_config *) config;
    if (lsm->config.growth == 0)
        lsm->config.growth = 4;
    if (lsm->config.cleanup_least == 0)
        lsm->config.cleanup_least = LIVE_MIN;
    return check_config(dict->dev, &lsm->config);
}

const struct ordo_structure ordo_lsm_structure = {
    .name = "lsm",
    .bytes = sizeof(struct lsm),
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
