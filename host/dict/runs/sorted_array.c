/* SPDX-License-Identifier: Apache-2.0 */
/* The sorted array has at most one run, without hidden elements. */
#include "ordo/sorted_array.h"
#include "dict/generic/generic.h"
#include "dict/runs/runs.h"

/* Merges a batch into the array, and releases the batch. Without `combine`, values of the batch replace stored ones. */
static ordo_status merge_batch(struct ordo_runs *runs, struct ordo_call *call, struct ordo_sorted_run *batch,
                               const struct ordo_merge_combine *combine)
{
    struct ordo_run_set    set = runs->set;
    struct ordo_sorted_run merged;

    set.run[set.n++] = *batch;
    const ordo_status status =
        combine ? ordo_runs_combine(runs, call, &set, combine, &merged) : ordo_runs_visible(runs, call, &set, &merged);
    ordo_runs_release(runs, batch);
    ORDO_TRY(status);
    ordo_runs_become(runs, call, &merged);
    return ORDO_OK;
}

static ordo_status update(ordo_dict *dict, struct ordo_call *call, bool erase, struct ordo_slice keys,
                          struct ordo_slice values, size_t count)
{
    struct ordo_runs      *runs = ordo_runs_of(dict);
    struct ordo_sorted_run batch;

    if (runs->set.n == 0)
        return erase ? ORDO_OK : ordo_runs_build(dict, call, keys, values, count);
    ORDO_TRY(ordo_runs_sort(runs, call, erase, keys, values, count, &batch));
    return merge_batch(runs, call, &batch, NULL);
}

static ordo_status update_sorted(ordo_dict *dict, struct ordo_call *call, const struct ordo_sorted_updates *updates)
{
    struct ordo_runs      *runs = ordo_runs_of(dict);
    struct ordo_sorted_run batch;

    ORDO_TRY(ordo_runs_take(runs, call, updates, &batch));
    return merge_batch(runs, call, &batch, NULL);
}

static ordo_status combine_merged(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_combines *c)
{
    const struct ordo_merge_combine how = { c->value, c->op };
    struct ordo_sorted_run          batch;

    ORDO_TRY(ordo_runs_sort(runs, call, false, c->keys, c->values, c->count, &batch));
    return merge_batch(runs, call, &batch, &how);
}

static ordo_status combine_found(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_combines *c)
{
    ordo_dict             *dict = &runs->dict;
    struct ordo_sorted_run batch;

    ORDO_TRY(ordo_runs_sort(runs, call, false, c->keys, c->values, c->count, &batch));
    const struct ordo_combines sorted = { c->value, c->op,       ordo_run_keys(&batch), ordo_run_values(dict, &batch),
                                          c->count, .once = true };
    const ordo_status          status = ordo_dict_combine_sorted(dict, call, &sorted);
    if (status != ORDO_OK) {
        ordo_runs_release(runs, &batch);
        return status;
    }
    return merge_batch(runs, call, &batch, NULL);
}

static ordo_status combine(ordo_dict *dict, struct ordo_call *call, const struct ordo_combines *c)
{
    struct ordo_runs *runs = ordo_runs_of(dict);
    const int         mark = call->n_scratch;

    if (ordo_runs_can_combine(runs, c->count)) {
        const ordo_status status = combine_merged(runs, call, c);
        if (!ordo_lacks_memory(status))
            return status;
        ordo_call_abandon(call, mark);
    }
    return combine_found(runs, call, c);
}

/* Takes the last elements by shortening the array. Does not take the first elements: *done stays false. */
static ordo_status ends(ordo_dict *dict, struct ordo_call *call, const struct ordo_ends *e, size_t *got, bool *done)
{
    struct ordo_ends look = *e;
    size_t           left = 0;

    if (e->take && !e->last)
        return ORDO_OK;
    look.take = false;
    ORDO_TRY(ordo_runs_ends(dict, call, &look, got, &left, done));
    if (!*done || !e->take)
        return ORDO_OK;
    ORDO_TRY(ordo_dict_before_store(dict, call));
    if (*got > 0)
        ordo_runs_cut(ordo_runs_of(dict), call, left);
    return ORDO_OK;
}

const struct ordo_structure ordo_sorted_array_structure = {
    .name = "sorted array",
    .bytes = sizeof(struct ordo_runs),
    .config_bytes = sizeof(struct ordo_sorted_array_config),
    .destroy = ordo_runs_clear,
    .clear = ordo_runs_clear,
    .build = ordo_runs_build,
    .update = update,
    .update_sorted = update_sorted,
    .combine = combine,
    .ends = ends,
    .release_spare = ordo_runs_release_spare,
    .compact = ordo_runs_compact,
    .find = ordo_runs_find,
    .count = ordo_runs_count,
    .range = ordo_runs_range,
    .seek = ordo_runs_seek,
    .seeks_both = true,
    .rank = ordo_runs_rank,
    .select = ordo_runs_select,
    .size = ordo_runs_size,
    .export_all = ordo_runs_export,
    .check = ordo_runs_check,
    .invalidate = ordo_runs_invalidate,
    .statistics = ordo_runs_statistics,
};

ordo_status ordo_sorted_array_create(ordo_device *device, const struct ordo_sorted_array_config *config,
                                     ordo_dict **out)
{
    return ordo_dict_create(device, &ordo_sorted_array_structure, config, out);
}
