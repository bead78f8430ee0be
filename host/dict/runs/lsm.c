/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU LSM: which runs a batch is merged with, when queries charge for a merge, and when to clean up. */
#include "ordo/lsm.h"
#include "dict/runs/runs.h"

/* Runs of fewer elements than this together are always merged: a launch costs more. */
#define LEAST_RUN_GPU ((size_t) 1 << 14)
#define LEAST_RUN_CPU ((size_t) 1 << 10)

/* Fewer live elements than this count as this many (cleanup_least). */
#define LEAST_KEPT ((size_t) 1 << 12)

struct lsm {
    struct ordo_runs       runs; /* first: a dictionary is a struct ordo_runs, and that a struct lsm */
    struct ordo_lsm_config config;
    size_t                 live;     /* elements visible at the last count, less those erased since: a lower bound */
    size_t                 arrived;  /* elements since the last count */
    bool                   resolved; /* since the last update a query has, or tried to */
};

static struct lsm *lsm_of(ordo_dict *dict)
{
    return (struct lsm *) dict;
}

static size_t stored(const struct lsm *lsm)
{
    return ordo_run_set_stored(&lsm->runs.set);
}

/* ---- cleanup ----------------------------------------------------------------------------------------------------- */

static void note_count(struct lsm *lsm, size_t live)
{
    lsm->live = live;
    lsm->arrived = 0;
}

/* After a cleanup, all that is stored is live. */
static void restart(struct lsm *lsm)
{
    note_count(lsm, stored(lsm));
}

/* Erased keys may have been live; upserted keys may have been live before. */
static void note_arrival(struct lsm *lsm, size_t count, bool erase)
{
    lsm->arrived += count;
    if (erase)
        lsm->live -= count < lsm->live ? count : lsm->live;
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

/* Between updates, which will want memory again: keeps what is spare. */
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

/* Changes leave fewer stored elements than STORED_MOST for each live one. Where that many are stored, and no more than
 * STALE_PERCENT are stale after all, a count has cost less than half of a cleanup. */
#define STORED_MOST   8
#define STALE_PERCENT 33
#define DOUBLED_MOST  2

static bool has_grown(const struct lsm *lsm, size_t most)
{
    const size_t least = lsm->config.cleanup_least;
    return stored(lsm) / most >= (lsm->live > least ? lsm->live : least);
}

/* Counts the live elements. A run whose elements are all live needs no bits. */
static ordo_status count_live(struct lsm *lsm, struct ordo_call *call)
{
    struct ordo_run_set *set = &lsm->runs.set;
    size_t               counts[ORDO_MAX_RUNS], live = 0;

    ORDO_TRY(ordo_run_set_counts(call, &lsm->runs.dict, set, counts));
    for (size_t r = 0; r < set->n; r++) {
        live += counts[r];
        if (counts[r] < set->run[r].count)
            continue;
        set->run[r].has_hidden = set->run[r].counted = false;
        set->run[r].distinct = true;
    }
    note_count(lsm, live);
    return ORDO_OK;
}

/* Whether more than `percent` of the stored elements are stale. Counts them only if so many may be. */
static ordo_status is_stale(struct lsm *lsm, struct ordo_call *call, uint32_t percent, bool *out)
{
    const size_t limit = (size_t) ((double) stored(lsm) * percent / 100);

    *out = false;
    if (stored(lsm) - lsm->live <= limit)
        return ORDO_OK;
    ORDO_TRY(count_live(lsm, call));
    *out = stored(lsm) - lsm->live > limit;
    return ORDO_OK;
}

static ordo_status is_due(struct lsm *lsm, struct ordo_call *call, bool *out)
{
    const uint32_t percent = lsm->config.cleanup_stale_percent;

    *out = lsm->config.cleanup_doubled && has_grown(lsm, DOUBLED_MOST);
    if (!*out && has_grown(lsm, STORED_MOST))
        ORDO_TRY(is_stale(lsm, call, STALE_PERCENT, out));
    if (!*out && percent > 0 && lsm->arrived >= lsm->config.cleanup_least)
        ORDO_TRY(is_stale(lsm, call, percent, out));
    return ORDO_OK;
}

/* After a change, which stands whatever happens here. */
static void clean_up_if_due(struct lsm *lsm, struct ordo_call *call)
{
    const int   mark = call->n_scratch;
    bool        due = false;
    ordo_status status = is_due(lsm, call, &due);
    if (status == ORDO_OK && due)
        status = clean_up(&lsm->runs.dict, call);
    if (status == ORDO_OK)
        return;
    ordo_call_abandon(call, mark);
    restart(lsm); /* the next updates do not try again */
    ordo_log(call->dev, ORDO_LOG_WARNING, "lsm: a cleanup failed, going on without");
}

/* ---- updates ----------------------------------------------------------------------------------------------------- */

static size_t least_run(const struct lsm *lsm)
{
    return ordo_device_facts(lsm->runs.dict.dev)->cpu ? LEAST_RUN_CPU : LEAST_RUN_GPU;
}

/* How many of the newest runs are merged with a batch of `count`. */
static size_t runs_to_merge(const struct lsm *lsm, size_t count)
{
    const struct ordo_run_set *set = &lsm->runs.set;
    size_t                     n = 0, newer = count;

    while (n < set->n && n + 1 < ORDO_MAX_RUNS) {
        const size_t older = set->run[set->n - 1 - n].count;
        const bool   full = set->n == ORDO_MAX_RUNS && n == 0;
        if (older / (lsm->config.growth - 1) > newer && older + newer > least_run(lsm) && !full)
            break;
        if (!ordo_runs_fit(&lsm->runs, older + newer))
            break;
        newer += older;
        n++;
    }
    return n;
}

/* Merges n runs of the set's, from `first` on, into one in their place, for which queries have cost so much. */
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

static uint64_t paid_by(const struct ordo_run_set *set, size_t first, size_t n)
{
    uint64_t query_cost = 0;
    for (size_t r = first; r < first + n; r++)
        query_cost += set->run[r].query_cost;
    return query_cost;
}

/* Where there may be no more runs: merges those two neighbours that are smallest together. */
static ordo_status make_place(struct lsm *lsm, struct ordo_call *call)
{
    const struct ordo_run_set *set = &lsm->runs.set;
    size_t                     best = 0;

    if (set->n < ORDO_MAX_RUNS)
        return ORDO_OK;
    for (size_t r = 1; r + 1 < set->n; r++)
        if (set->run[r].count + set->run[r + 1].count < set->run[best].count + set->run[best + 1].count)
            best = r;
    return merge_runs(lsm, call, best, 2, paid_by(set, best, 2));
}

/* The carry: merges the newest n runs, and the batch, which is one more of the set's then. Without the memory for it they stay
 * as they are. */
static ordo_status carry(struct lsm *lsm, struct ordo_call *call, size_t n, const struct ordo_sorted_run *batch)
{
    struct ordo_run_set   *set = &lsm->runs.set;
    const size_t           first = set->n - n;
    const int              mark = call->n_scratch;
    struct ordo_sorted_run in[ORDO_MAX_RUNS], merged;
    ordo_status            status = ORDO_OK;

    memcpy(in, &set->run[first], n * sizeof *in);
    in[n] = *batch;
    status = ordo_runs_merge(&lsm->runs, call, in, n + 1, &merged);
    if (status != ORDO_OK) {
        ordo_call_abandon(call, mark);
        return status;
    }
    merged.query_cost = paid_by(set, first, n);
    set->n = first + 1;
    set->run[first] = merged;
    for (size_t i = 0; i <= n; i++)
        ordo_runs_release(&lsm->runs, &in[i]);
    return ORDO_OK;
}

/* Makes room for `count` more elements in what counts of elements can say. */
static ordo_status check_room(struct lsm *lsm, struct ordo_call *call, size_t count)
{
    if (count > ORDO_MAX_COUNT - stored(lsm))
        ORDO_TRY(clean_up(&lsm->runs.dict, call));
    ORDO_REQUIRE(call->dev, count <= ORDO_MAX_COUNT - stored(lsm), ORDO_TOO_LARGE,
                 "%zu elements beside %zu stored: there may be %zu (ORDO_MAX_COUNT)", count, stored(lsm),
                 ORDO_MAX_COUNT);
    return ORDO_OK;
}

/* Where memory is short: cleans up, if anything may be stale. Returns whether it has. Waits. */
static bool makes_room(struct lsm *lsm, struct ordo_call *call, int mark)
{
    ordo_call_abandon(call, mark);
    if (lsm->live == stored(lsm))
        return false;
    ordo_log(call->dev, ORDO_LOG_INFO, "lsm: memory is short: cleaning up");
    return clean_up(&lsm->runs.dict, call) == ORDO_OK;
}

static ordo_status make_run_or_room(struct lsm *lsm, struct ordo_call *call, const struct ordo_run_batch *b,
                                    struct ordo_sorted_run *out)
{
    const int         mark = call->n_scratch;
    const ordo_status status = ordo_runs_take_batch(&lsm->runs, call, b, out);
    if (!ordo_lacks_memory(status) || !makes_room(lsm, call, mark))
        return status;
    return ordo_runs_take_batch(&lsm->runs, call, b, out);
}

/* Merges the batch with the runs that it is to be merged with, or makes it a run of its own. */
static ordo_status merge_or_put(struct lsm *lsm, struct ordo_call *call, const struct ordo_sorted_run *batch)
{
    struct ordo_run_set *set = &lsm->runs.set;
    const size_t         n = runs_to_merge(lsm, batch->count);
    if (n > 0)
        return carry(lsm, call, n, batch);
    ORDO_TRY(make_place(lsm, call));
    set->run[set->n++] = *batch;
    return ORDO_OK;
}

/* Adds a batch, which is the set's or goes. Where a carry finds no memory, not even after a cleanup, it becomes a run of its
 * own. */
static ordo_status add(struct lsm *lsm, struct ordo_call *call, struct ordo_sorted_run *batch)
{
    struct ordo_run_set *set = &lsm->runs.set;
    const int            mark = call->n_scratch;
    ordo_status          status = merge_or_put(lsm, call, batch);

    if (ordo_lacks_memory(status) && makes_room(lsm, call, mark))
        status = merge_or_put(lsm, call, batch);
    if (ordo_lacks_memory(status) && set->n < ORDO_MAX_RUNS) {
        ordo_call_abandon(call, mark);
        set->run[set->n++] = *batch;
        status = ORDO_OK;
    }
    if (status != ORDO_OK)
        ordo_runs_release(&lsm->runs, batch);
    ordo_runs_trim_spare(&lsm->runs);
    return status;
}

/* Queries come between updates: the batch is marked by itself, before it is merged, so that all that it is merged with need not be
 * looked for in older runs again. */
static bool is_marked_first(const struct lsm *lsm)
{
    const struct ordo_run_set *set = &lsm->runs.set;
    return lsm->resolved && set->n > 0 && set->n < ORDO_MAX_RUNS && ordo_run_set_is_resolved(set);
}

/* Puts a batch beside the runs, marks it, and merges it with those that it is to be merged with. It is stored at once, so what cannot
 * be had afterwards is no error. */
static void put_marked(struct lsm *lsm, struct ordo_call *call, const struct ordo_sorted_run *batch)
{
    struct ordo_run_set *set = &lsm->runs.set;
    const size_t         n = runs_to_merge(lsm, batch->count), first = set->n - n;
    const int            mark = call->n_scratch;

    set->run[set->n++] = *batch;
    ordo_status status = ordo_run_set_mark_newest(call, &lsm->runs.dict, set);
    if (status == ORDO_OK && n > 0)
        status = merge_runs(lsm, call, first, n + 1, paid_by(set, first, n));
    if (status != ORDO_OK) {
        ordo_call_abandon(call, mark);
        ordo_log(call->dev, ORDO_LOG_WARNING, "lsm: a batch stays a run of its own");
    }
    ordo_runs_trim_spare(&lsm->runs);
}

static ordo_status store(struct lsm *lsm, struct ordo_call *call, const struct ordo_run_batch *b)
{
    struct ordo_sorted_run run;
    ORDO_TRY(check_room(lsm, call, b->count));
    ORDO_TRY(make_run_or_room(lsm, call, b, &run));
    if (is_marked_first(lsm))
        put_marked(lsm, call, &run);
    else
        ORDO_TRY(add(lsm, call, &run));
    lsm->resolved = false;
    note_arrival(lsm, b->count, b->sorted ? b->sorted->erased.mem != NULL : b->erase);
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

/* The elements of the interval are hidden where they stand. */
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

/* Of k runs a query looks into k - 1 that it need not if they were one. Each run remembers what queries have cost by
 * looking into it; as soon as they have cost for some of the newest runs what it costs to merge these with the one before,
 * this is done: so nobody pays more than twice what the better of the two would have cost, whatever comes next, as who
 * rents skis until the rent has come to their price. All is counted in elements that a merge moves in the time. */
#define FIND_MOVES       2
#define RANK_MOVES       3  /* a search for a rank; a count takes two */
#define SELECT_MOVES     32 /* a search for a key bit by bit */
#define RANGE_MOVES      8  /* a range without its elements, each of which takes one */
#define LAUNCH_MOVES_GPU ((uint64_t) 1 << 18)
#define LAUNCH_MOVES_CPU ((uint64_t) 1 << 12)
#define MERGE_LAUNCHES   64 /* buffers that are made and let go of, above all */
#define MERGE_MOVES      3

static uint64_t launch_moves(const struct lsm *lsm)
{
    return ordo_device_facts(lsm->runs.dict.dev)->cpu ? LAUNCH_MOVES_CPU : LAUNCH_MOVES_GPU;
}

/* What merging runs `first` and on costs, with the new run's memory, index and marks. */
static uint64_t cost_of_merge(const struct lsm *lsm, size_t first)
{
    uint64_t moved = 0;
    for (size_t r = first; r < lsm->runs.set.n; r++)
        moved += lsm->runs.set.run[r].count;
    return MERGE_LAUNCHES * launch_moves(lsm) + MERGE_MOVES * moved;
}

/* What queries have cost for the runs after `first`, with `visit` more for each. */
static uint64_t cost_since(const struct lsm *lsm, size_t first, uint64_t visit)
{
    uint64_t query_cost = 0;
    for (size_t r = first + 1; r < lsm->runs.set.n; r++)
        query_cost += lsm->runs.set.run[r].query_cost + visit;
    return query_cost;
}

static bool fits_from(const struct lsm *lsm, size_t first)
{
    size_t count = 0;
    for (size_t r = first; r < lsm->runs.set.n; r++)
        count += lsm->runs.set.run[r].count;
    return ordo_runs_fit(&lsm->runs, count);
}

/* Where the most runs begin that queries have cost for, with `visit` more for each run, and that fit into one; the last if
 * for none. */
static size_t first_due(const struct lsm *lsm, uint64_t visit)
{
    size_t first = 0;
    while (first + 1 < lsm->runs.set.n &&
           (cost_since(lsm, first, visit) < cost_of_merge(lsm, first) || !fits_from(lsm, first)))
        first++;
    return first;
}

/* Merges the runs from `first` on. Where that is all, and the call may wait, what is stale is left out, which takes no longer
 * and saves every query from now on looking for it. */
static ordo_status merge_due(struct lsm *lsm, struct ordo_call *call, size_t first, bool waits)
{
    const struct ordo_run_set *set = &lsm->runs.set;

    if (first == 0 && waits && ordo_runs_can_dedup(&lsm->runs, set)) {
        ORDO_TRY(ordo_runs_gather(&lsm->runs.dict, call));
        restart(lsm);
        return ORDO_OK;
    }
    return merge_runs(lsm, call, first, set->n - first, set->run[first].query_cost);
}

/* Queries are about to charge `visit` for each run: merges what they have then query_cost for. Without the memory for it they
 * go on without, and charge anew. */
static ordo_status charge(struct lsm *lsm, struct ordo_call *call, uint64_t visit, bool waits)
{
    struct ordo_run_set *set = &lsm->runs.set;
    const size_t         first = first_due(lsm, visit);

    if (lsm->config.keep_runs || set->n < 2 || call->n_pending > 0) /* no merge while events are pending */
        return ORDO_OK;
    for (size_t r = 0; r < set->n; r++)
        set->run[r].query_cost += visit;
    if (first + 1 == set->n)
        return ORDO_OK;
    ORDO_TRY(ordo_call_changes(call));
    const int         mark = call->n_scratch;
    const ordo_status status = merge_due(lsm, call, first, waits);
    if (!ordo_lacks_memory(status))
        return status;
    ordo_call_abandon(call, mark);
    for (size_t r = first; r < set->n; r++)
        set->run[r].query_cost = 0;
    ordo_log(call->dev, ORDO_LOG_WARNING, "lsm: no memory to merge what queries look into, going on without");
    return ORDO_OK;
}

static ordo_status charge_queries(struct lsm *lsm, struct ordo_call *call, size_t queries, uint64_t moves, bool waits)
{
    return charge(lsm, call, launch_moves(lsm) + moves * queries, waits);
}

/* Of those that resolve. */
static ordo_status charge_ordered(struct lsm *lsm, struct ordo_call *call, size_t queries, uint64_t moves, bool waits)
{
    lsm->resolved = true;
    return charge_queries(lsm, call, queries, moves, waits);
}

static ordo_status find(ordo_dict *dict, struct ordo_call *call, const struct ordo_finds *finds)
{
    ORDO_TRY(charge_queries(lsm_of(dict), call, finds->count, FIND_MOVES, false));
    return ordo_runs_find(dict, call, finds);
}

static ordo_status count(ordo_dict *dict, struct ordo_call *call, const struct ordo_counts *counts)
{
    ORDO_TRY(charge_ordered(lsm_of(dict), call, counts->count, (uint64_t) 2 * RANK_MOVES, false));
    return ordo_runs_count(dict, call, counts);
}

static ordo_status seek(ordo_dict *dict, struct ordo_call *call, const struct ordo_seeks *seeks)
{
    ORDO_TRY(charge_ordered(lsm_of(dict), call, seeks->count, RANK_MOVES, false));
    return ordo_runs_seek(dict, call, seeks);
}

static ordo_status rank(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranks *ranks)
{
    ORDO_TRY(charge_ordered(lsm_of(dict), call, ranks->count, RANK_MOVES, false));
    return ordo_runs_rank(dict, call, ranks);
}

static ordo_status select_ranks(ordo_dict *dict, struct ordo_call *call, const struct ordo_selects *selects)
{
    ORDO_TRY(charge_ordered(lsm_of(dict), call, selects->count, SELECT_MOVES, false));
    return ordo_runs_select(dict, call, selects);
}

/* Whether ranges with so many results would charge for a merge. */
static bool results_are_due(const struct lsm *lsm, size_t results)
{
    return !lsm->config.keep_runs && first_due(lsm, results) + 1 < lsm->runs.set.n;
}

/* A call that waits for the number of results anyway first asks about how many there are, if there is room for so many
 * that they may charge for a merge. */
static ordo_status charge_results(struct lsm *lsm, struct ordo_call *call, const struct ordo_ranges *ranges)
{
    const bool wanted = ranges->keys_out.mem || ranges->values_out.mem;
    double     results = 0;
    if (!ranges->waits || !wanted || !results_are_due(lsm, ranges->capacity))
        return ORDO_OK;
    ORDO_TRY(ordo_runs_estimate(&lsm->runs.dict, call, ranges, &results));
    return results > (double) ranges->capacity ? ORDO_OK : charge(lsm, call, (uint64_t) results, true);
}

static ordo_status range(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranges *ranges)
{
    ORDO_TRY(charge_ordered(lsm_of(dict), call, ranges->count, RANGE_MOVES, ranges->waits));
    ORDO_TRY(charge_results(lsm_of(dict), call, ranges));
    return ordo_runs_range(dict, call, ranges);
}

/* The caller waits for the number of elements anyway. */
static ordo_status ends(ordo_dict *dict, struct ordo_call *call, const struct ordo_ends *e, size_t *got, bool *done)
{
    struct lsm *lsm = lsm_of(dict);
    size_t      left = 0;

    ORDO_TRY(charge_ordered(lsm, call, e->count, (uint64_t) 2 * RANK_MOVES, true));
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
        lsm->config.cleanup_least = LEAST_KEPT;
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
    .give_spare = ordo_runs_give_spare,
    .clean_up = clean_up,
    .compact = compact,
    .find = find,
    .count = count,
    .range = range,
    .seek = seek,
    .seeks_both = true,
    .rank = rank,
    .select = select_ranks,
    .size = ordo_runs_size,
    .export_all = ordo_runs_export,
    .check = ordo_runs_check,
    .doubt = ordo_runs_doubt,
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
