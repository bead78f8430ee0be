/* SPDX-License-Identifier: Apache-2.0 */
/* FAST stores sorted runs. The oldest run is the tree. Newer runs, usually one, buffer recent updates. */
#include "ordo/fast.h"
#include "dict/runs/runs.h"

#define ONE_IN_DEFAULT 128
#define ONE_IN_MAX     65536

struct fast {
    struct ordo_runs runs; /* must be first */
    size_t           one_in;
    size_t           built;
    size_t           arrived;
    uint64_t         asked; /* cost of searches in all runs but the oldest, since the last update or merge */
};

static struct fast *fast_of(ordo_dict *dict)
{
    return (struct fast *) dict;
}

static size_t stored(const struct fast *fast)
{
    return ordo_run_set_stored(&fast->runs.set);
}

static void restart(struct fast *fast)
{
    fast->built = stored(fast);
    fast->arrived = 0;
    fast->asked = 0;
}

static void clear(ordo_dict *dict)
{
    ordo_runs_clear(dict);
    restart(fast_of(dict));
}

static ordo_status build(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys, struct ordo_slice values,
                         size_t count)
{
    ORDO_TRY(ordo_runs_build(dict, call, keys, values, count));
    restart(fast_of(dict));
    return ORDO_OK;
}

static ordo_status compact(ordo_dict *dict, struct ordo_call *call)
{
    ORDO_TRY(ordo_runs_compact(dict, call));
    restart(fast_of(dict));
    return ORDO_OK;
}

static ordo_status rebuild(struct fast *fast, struct ordo_call *call)
{
    ORDO_TRY(ordo_runs_clean_up(&fast->runs.dict, call));
    restart(fast);
    return ORDO_OK;
}

static bool is_due(const struct fast *fast)
{
    return fast->arrived > fast->built / fast->one_in;
}

static ordo_status merge_from(struct fast *fast, struct ordo_call *call, size_t first)
{
    struct ordo_run_set   *set = &fast->runs.set;
    struct ordo_sorted_run in[ORDO_MAX_RUNS], merged;
    const size_t           n = set->n > first ? set->n - first : 0;
    size_t                 count = 0;

    for (size_t r = first; r < set->n; r++)
        count += set->run[r].count;
    if (n < 2 || !ordo_runs_fit(&fast->runs, count))
        return ORDO_OK;
    memcpy(in, &set->run[first], n * sizeof *in);
    ORDO_TRY(ordo_runs_merge(&fast->runs, call, in, n, &merged));
    set->run[first] = merged;
    set->n = first + 1;
    for (size_t i = 0; i < n; i++)
        ordo_runs_release(&fast->runs, &in[i]);
    return ORDO_OK;
}

/* Rebuilds the tree if this is due. Otherwise merges the newer runs. Only logs an error, because the batch is already
 * stored. */
static void settle(struct fast *fast, struct ordo_call *call)
{
    const int         mark = call->n_scratch;
    const ordo_status status = is_due(fast) ? rebuild(fast, call) : merge_from(fast, call, 1);

    if (status == ORDO_OK)
        return;
    ordo_call_abandon(call, mark);
    ordo_log(call->dev, ORDO_LOG_WARNING, "fast: the buffer was not merged, going on without");
}

static ordo_status reserve_run(struct fast *fast, struct ordo_call *call, size_t count)
{
    if (fast->runs.set.n == ORDO_MAX_RUNS || count > ORDO_MAX_COUNT - stored(fast))
        ORDO_TRY(rebuild(fast, call));
    ORDO_REQUIRE(call->dev, fast->runs.set.n < ORDO_MAX_RUNS, ORDO_TOO_LARGE,
                 "%zu elements beside %zu stored: these fill %d runs, of which no two fit into one allocation", count,
                 stored(fast), ORDO_MAX_RUNS);
    ORDO_REQUIRE(call->dev, count <= ORDO_MAX_COUNT - stored(fast), ORDO_TOO_LARGE,
                 "%zu elements beside %zu stored: there may be %zu (ORDO_MAX_COUNT)", count, stored(fast),
                 ORDO_MAX_COUNT);
    return ORDO_OK;
}

static ordo_status store(struct fast *fast, struct ordo_call *call, const struct ordo_run_batch *b)
{
    struct ordo_run_set   *set = &fast->runs.set;
    struct ordo_sorted_run run;

    ORDO_TRY(reserve_run(fast, call, b->count));
    const int   mark = call->n_scratch;
    ordo_status status = ordo_runs_take_batch(&fast->runs, call, b, &run);
    if (ordo_lacks_memory(status) && fast->arrived > 0) {
        ordo_call_abandon(call, mark);
        if (rebuild(fast, call) == ORDO_OK)
            status = ordo_runs_take_batch(&fast->runs, call, b, &run);
    }
    ORDO_TRY(status);
    set->run[set->n++] = run;
    fast->arrived += b->count;
    fast->asked = 0;
    settle(fast, call);
    return ORDO_OK;
}

static ordo_status update(ordo_dict *dict, struct ordo_call *call, bool erase, struct ordo_slice keys,
                          struct ordo_slice values, size_t count)
{
    const struct ordo_run_batch batch = { NULL, erase, keys, values, count };

    if (fast_of(dict)->runs.set.n == 0)
        return erase ? ORDO_OK : build(dict, call, keys, values, count);
    return store(fast_of(dict), call, &batch);
}

static ordo_status update_sorted(ordo_dict *dict, struct ordo_call *call, const struct ordo_sorted_updates *updates)
{
    const struct ordo_run_batch batch = { .sorted = updates, .count = updates->count };

    return store(fast_of(dict), call, &batch);
}

/* The unit of costs is the cost of merging one element. When queries of the buffer have cost as much as a merge,
 * `charge` merges buffer and tree. */
#define QUERY_MOVES      4
#define LAUNCH_MOVES_GPU ((uint64_t) 1 << 18)
#define LAUNCH_MOVES_CPU ((uint64_t) 1 << 12)
#define MERGE_LAUNCHES   64
#define MERGE_MOVES      3

static ordo_status charge(ordo_dict *dict, struct ordo_call *call, size_t queries)
{
    struct fast   *fast = fast_of(dict);
    const uint64_t launch = ordo_device_facts(call->dev)->cpu ? LAUNCH_MOVES_CPU : LAUNCH_MOVES_GPU;
    const int      mark = call->n_scratch;

    if (fast->runs.set.n < 2 || call->n_pending > 0)
        return ORDO_OK;
    fast->asked += launch + (uint64_t) QUERY_MOVES * queries;
    if (fast->asked < MERGE_LAUNCHES * launch + (uint64_t) MERGE_MOVES * stored(fast))
        return ORDO_OK;
    fast->asked = 0;
    ORDO_TRY(ordo_call_changes(call));
    const ordo_status status = merge_from(fast, call, 0);
    if (!ordo_lacks_memory(status))
        return status;
    ordo_call_abandon(call, mark);
    ordo_log(call->dev, ORDO_LOG_INFO, "fast: no memory to merge what queries look into, going on without");
    return ORDO_OK;
}

#define FAST_QUERY(query, queries)                                                                                     \
    static ordo_status charged_##query(ordo_dict *dict, struct ordo_call *call, const struct queries *asked)           \
    {                                                                                                                  \
        ORDO_TRY(charge(dict, call, asked->count));                                                                    \
        return ordo_runs_##query(dict, call, asked);                                                                   \
    }
FAST_QUERY(find, ordo_finds)
FAST_QUERY(count, ordo_counts)
FAST_QUERY(range, ordo_ranges)
FAST_QUERY(seek, ordo_seeks)
FAST_QUERY(rank, ordo_ranks)
FAST_QUERY(select, ordo_selects)

static ordo_status configure(ordo_dict *dict, const void *config)
{
    const uint32_t one_in = ((const struct ordo_fast_config *) config)->rebuild_one_in;
    ORDO_REQUIRE(dict->dev, one_in <= ONE_IN_MAX, ORDO_INVALID, "rebuild_one_in is %u: it may be 0 to %d",
                 (unsigned) one_in, ONE_IN_MAX);
    fast_of(dict)->one_in = one_in ? one_in : ONE_IN_DEFAULT;
    return ORDO_OK;
}

const struct ordo_structure ordo_fast_structure = {
    .name = "fast",
    .bytes = sizeof(struct fast),
    .config_bytes = sizeof(struct ordo_fast_config),
    .configure = configure,
    .destroy = ordo_runs_clear,
    .clear = clear,
    .build = build,
    .update = update,
    .update_sorted = update_sorted,
    .release_spare = ordo_runs_release_spare,
    .compact = compact,
    .find = charged_find,
    .count = charged_count,
    .range = charged_range,
    .seek = charged_seek,
    .seeks_both = true,
    .rank = charged_rank,
    .select = charged_select,
    .size = ordo_runs_size,
    .export_all = ordo_runs_export,
    .check = ordo_runs_check,
    .invalidate = ordo_runs_invalidate,
    .statistics = ordo_runs_statistics,
};

ordo_status ordo_fast_create(ordo_device *device, const struct ordo_fast_config *config, ordo_dict **out)
{
    return ordo_dict_create(device, &ordo_fast_structure, config, out);
}
