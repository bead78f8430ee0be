/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU LSM: which runs a batch is merged with, and when to clean up. */
#include "ordo/lsm.h"
#include "dict/runs.h"

/* Runs of fewer elements than this together are always merged: a launch costs more. */
#define LEAST_RUN_GPU ((size_t) 1 << 14)
#define LEAST_RUN_CPU ((size_t) 1 << 10)

struct lsm {
    struct ordo_runs       runs; /* first: a dictionary is a struct ordo_runs, and that a struct lsm */
    struct ordo_lsm_config config;
    size_t                 arrived;                   /* elements since the last cleanup */
    size_t                 left;                      /* that it left */
    size_t                 known_stale, may_be_stale; /* when last counted; at most, since then */
};

static struct lsm *lsm_of(ordo_dict *dict)
{
    return (struct lsm *) dict;
}

static size_t stored(const struct ordo_runs *runs)
{
    size_t count = 0;
    for (size_t r = 0; r < runs->set.n; r++)
        count += runs->set.run[r].count;
    return count;
}

/* ---- cleanup ----------------------------------------------------------------------------------------------------- */

static void restart(struct lsm *lsm)
{
    lsm->left = stored(&lsm->runs);
    lsm->arrived = lsm->known_stale = lsm->may_be_stale = 0;
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

static ordo_status build(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys, struct ordo_slice values,
                         size_t count)
{
    ORDO_TRY(ordo_runs_build(dict, call, keys, values, count));
    restart(lsm_of(dict));
    return ORDO_OK;
}

static bool has_doubled(const struct lsm *lsm)
{
    return lsm->config.cleanup_doubled && lsm->arrived >= lsm->config.cleanup_least && lsm->arrived >= lsm->left;
}

/* What is stale is counted only when it may be enough, and not again before cleanup_least more have come. */
static ordo_status is_stale(struct lsm *lsm, struct ordo_call *call, bool *out)
{
    const size_t limit = (size_t) ((double) stored(&lsm->runs) * lsm->config.cleanup_stale_percent / 100);
    size_t       visible = 0;

    *out = false;
    if (lsm->config.cleanup_stale_percent == 0 || lsm->may_be_stale < lsm->config.cleanup_least ||
        lsm->known_stale + lsm->may_be_stale <= limit)
        return ORDO_OK;
    ORDO_TRY(ordo_runs_size(&lsm->runs.dict, call, &visible));
    lsm->known_stale = stored(&lsm->runs) - visible;
    lsm->may_be_stale = 0;
    *out = lsm->known_stale > limit;
    return ORDO_OK;
}

/* Without the memory for it, an update goes on without a cleanup. */
static ordo_status clean_up_if_due(struct lsm *lsm, struct ordo_call *call)
{
    bool        due = has_doubled(lsm);
    ordo_status status = due ? ORDO_OK : is_stale(lsm, call, &due);
    if (status == ORDO_OK && due)
        status = compact(&lsm->runs.dict, call);
    if (status != ORDO_NO_DEVICE_MEMORY)
        return status;
    ordo_log(call->dev, ORDO_LOG_WARNING, "lsm: no memory to clean up, going on without");
    return ORDO_OK;
}

/* ---- updates ----------------------------------------------------------------------------------------------------- */

/* How many of the newest runs are merged with a batch of `count`. */
static size_t runs_to_merge(const struct lsm *lsm, size_t count)
{
    const struct ordo_run_set *set = &lsm->runs.set;
    const size_t               least = ordo_device_facts(lsm->runs.dict.dev)->cpu ? LEAST_RUN_CPU : LEAST_RUN_GPU;
    size_t                     n = 0, newer = count;

    while (n < set->n && n + 1 < ORDO_MAX_RUNS) {
        const size_t older = set->run[set->n - 1 - n].count;
        const bool   full = set->n == ORDO_MAX_RUNS && n == 0;
        if (older / (lsm->config.growth - 1) > newer && older + newer > least && !full)
            break;
        newer += older;
        n++;
    }
    return n;
}

/* Adds a batch, which is the set's or goes. */
static ordo_status add(struct lsm *lsm, struct ordo_call *call, struct ordo_sorted_run *batch)
{
    struct ordo_runs      *runs = &lsm->runs;
    const size_t           n = runs_to_merge(lsm, batch->count), first = runs->set.n - n;
    struct ordo_sorted_run merged = *batch, in[ORDO_MAX_RUNS];

    memcpy(in, &runs->set.run[first], n * sizeof *in);
    in[n] = *batch;
    if (n > 0) {
        const ordo_status status = ordo_runs_merge(runs, call, in, n + 1, &merged);
        ordo_runs_release(runs, batch);
        ORDO_TRY(status);
    }
    runs->set.n = first + 1;
    runs->set.run[first] = merged;
    for (size_t i = 0; i < n; i++)
        ordo_runs_release(runs, &in[i]);
    return ORDO_OK;
}

/* Makes room for `count` more elements in what counts of elements can say. */
static ordo_status check_room(struct lsm *lsm, struct ordo_call *call, size_t count)
{
    if (count > ORDO_MAX_COUNT - stored(&lsm->runs))
        ORDO_TRY(compact(&lsm->runs.dict, call));
    ORDO_REQUIRE(call->dev, count <= ORDO_MAX_COUNT - stored(&lsm->runs), ORDO_TOO_LARGE);
    return ORDO_OK;
}

static ordo_status prepare(struct lsm *lsm, struct ordo_call *call, size_t count)
{
    ORDO_TRY(clean_up_if_due(lsm, call));
    return check_room(lsm, call, count);
}

/* An element makes one stale, itself or what it replaces; a tombstone is of no more use than what it erases. */
static void note_arrival(struct lsm *lsm, size_t count, bool erase)
{
    lsm->arrived += count;
    lsm->may_be_stale += erase ? 2 * count : count;
}

static ordo_status update(ordo_dict *dict, struct ordo_call *call, bool erase, struct ordo_slice keys,
                          struct ordo_slice values, size_t count)
{
    struct lsm            *lsm = lsm_of(dict);
    struct ordo_sorted_run batch;

    if (erase && lsm->runs.set.n == 0)
        return ORDO_OK;
    ORDO_TRY(prepare(lsm, call, count));
    ORDO_TRY(ordo_runs_sort(&lsm->runs, call, erase, keys, values, count, &batch));
    ORDO_TRY(add(lsm, call, &batch));
    note_arrival(lsm, count, erase);
    return ORDO_OK;
}

static ordo_status update_sorted(ordo_dict *dict, struct ordo_call *call, const struct ordo_sorted_updates *updates)
{
    struct lsm            *lsm = lsm_of(dict);
    struct ordo_sorted_run batch;

    ORDO_TRY(prepare(lsm, call, updates->count));
    ORDO_TRY(ordo_runs_take(&lsm->runs, call, updates, &batch));
    ORDO_TRY(add(lsm, call, &batch));
    note_arrival(lsm, updates->count, updates->erased.mem != NULL);
    return ORDO_OK;
}

/* ---- the structure ----------------------------------------------------------------------------------------------- */

static const struct ordo_structure lsm_structure = {
    .name = "lsm",
    .destroy = ordo_runs_clear,
    .clear = clear,
    .build = build,
    .update = update,
    .update_sorted = update_sorted,
    .compact = compact,
    .find = ordo_runs_find,
    .count = ordo_runs_count,
    .range = ordo_runs_range,
    .seek = ordo_runs_seek,
    .size = ordo_runs_size,
    .export_all = ordo_runs_export,
    .check = ordo_runs_check,
    .statistics = ordo_runs_statistics,
};

ordo_status ordo_lsm_create(ordo_device *device, const struct ordo_lsm_config *config, ordo_dict **out)
{
    ORDO_TRY(ordo_dict_create(device, &lsm_structure, config ? &config->dict : NULL, sizeof(struct lsm), out));
    struct lsm *lsm = lsm_of(*out);
    lsm->config = *config;
    if (config->growth == 0)
        lsm->config.growth = 4;
    if (config->cleanup_least == 0)
        lsm->config.cleanup_least = (size_t) 1 << 20;
    if (lsm->config.growth >= 2 && lsm->config.growth <= 16 && lsm->config.cleanup_stale_percent <= 100)
        return ORDO_OK;
    ordo_dict_destroy(out);
    return ordo_fail(device, ORDO_INVALID, 0, __FILE__, __LINE__, "growth %u, or cleanup_stale_percent %u: %s",
                     config->growth, config->cleanup_stale_percent, "from 2 to 16, and up to 100");
}
