/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/trie/xfast.h"

#include "dict/generic/generic.h"

#define GROUP_MAX 8

static void clear(ordo_dict *dict)
{
    ordo_xfast_drop(ordo_xfast_of(dict));
    ordo_runs_clear(dict);
}

static void invalidate(ordo_dict *dict)
{
    ordo_xfast_drop(ordo_xfast_of(dict));
    ordo_runs_invalidate(dict);
}

/* If `combine` is NULL, the batch's values replace stored values. */
static ordo_status merge(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_run_batch *b,
                         const struct ordo_merge_combine *combine, struct ordo_sorted_run *merged)
{
    struct ordo_run_set    set = runs->set;
    struct ordo_sorted_run run;

    ORDO_TRY(ordo_runs_take_batch(runs, call, b, &run));
    set.run[set.n++] = run;
    const ordo_status status =
        combine ? ordo_runs_combine(runs, call, &set, combine, merged) : ordo_runs_visible(runs, call, &set, merged);
    ordo_runs_release(runs, &run);
    return status;
}

static ordo_status store(struct ordo_xfast *xfast, struct ordo_call *call, const struct ordo_run_batch *b,
                         const struct ordo_merge_combine *combine)
{
    const int              mark = call->n_scratch;
    struct ordo_sorted_run merged;
    ordo_status            status = merge(&xfast->runs, call, b, combine, &merged);

    if (ordo_lacks_memory(status) && xfast->flat) {
        ordo_call_abandon(call, mark);
        ordo_xfast_drop(xfast);
        status = merge(&xfast->runs, call, b, combine, &merged);
    }
    if (status == ORDO_OK) {
        ordo_xfast_drop(xfast);
        ordo_runs_become(&xfast->runs, call, &merged);
    } else {
        ordo_call_abandon(call, mark);
    }
    if (ordo_xfast_pays(xfast, b->count) || ordo_is_dry_run(call->dev))
        ordo_xfast_raise_if_possible(xfast, call);
    return status;
}

static ordo_status build(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys, struct ordo_slice values,
                         size_t count)
{
    struct ordo_xfast     *xfast = ordo_xfast_of(dict);
    struct ordo_sorted_run run;

    ORDO_TRY(ordo_runs_sort_distinct(&xfast->runs, call, keys, values, count, &run));
    ordo_xfast_drop(xfast);
    ordo_runs_replace(&xfast->runs, &run);
    ordo_xfast_raise_if_possible(xfast, call);
    return ORDO_OK;
}

static ordo_status update(ordo_dict *dict, struct ordo_call *call, bool erase, struct ordo_slice keys,
                          struct ordo_slice values, size_t count)
{
    const struct ordo_run_batch batch = { NULL, erase, keys, values, count };

    if (ordo_xfast_of(dict)->runs.set.n == 0)
        return erase ? ORDO_OK : build(dict, call, keys, values, count);
    return store(ordo_xfast_of(dict), call, &batch, NULL);
}

static ordo_status update_sorted(ordo_dict *dict, struct ordo_call *call, const struct ordo_sorted_updates *updates)
{
    const struct ordo_run_batch batch = { .sorted = updates, .count = updates->count };

    return store(ordo_xfast_of(dict), call, &batch, NULL);
}

static ordo_status combine(ordo_dict *dict, struct ordo_call *call, const struct ordo_combines *c)
{
    const struct ordo_run_batch     batch = { NULL, false, c->keys, c->values, c->count };
    const struct ordo_merge_combine how = { c->value, c->op };
    const int                       mark = call->n_scratch;

    if (ordo_runs_can_combine(&ordo_xfast_of(dict)->runs, c->count)) {
        const ordo_status status = store(ordo_xfast_of(dict), call, &batch, &how);
        if (!ordo_lacks_memory(status))
            return status;
        ordo_call_abandon(call, mark);
    }
    return ordo_dict_combine_generic(dict, call, c);
}

static ordo_status compact(ordo_dict *dict, struct ordo_call *call)
{
    ORDO_TRY(ordo_runs_compact(dict, call));
    ordo_xfast_raise_if_possible(ordo_xfast_of(dict), call);
    return ORDO_OK;
}

static void begin_prefixes(struct ordo_xfast *xfast, uint64_t seed)
{
    struct ordo_hash *prefixes = &xfast->prefixes;

    prefixes->dict = ordo_dict_kind(&xfast->runs.dict);
    prefixes->dict.key = xfast->runs.dict.key_bytes == 8 ? ORDO_U64 : ORDO_U32;
    prefixes->dict.value_bytes = XFAST_ENTRY_BYTES;
    prefixes->config = (struct ordo_hash_config) { { prefixes->dict.key, XFAST_ENTRY_BYTES }, 80, seed };
    prefixes->runs.dict = prefixes->dict;
}

static ordo_status configure(ordo_dict *dict, const void *configuration)
{
    const struct ordo_xfast_config *config = configuration;

    /* The hash table must exist before the check. If the check fails, the dictionary's destruction clears the table. */
    begin_prefixes(ordo_xfast_of(dict), config->seed);
    ORDO_REQUIRE(dict->dev, config->group <= GROUP_MAX, ORDO_INVALID, "group is %u: it may be 0 to %d",
                 (unsigned) config->group, GROUP_MAX);
    ordo_xfast_of(dict)->group = config->group;
    ordo_xfast_of(dict)->level_tables = config->level_tables;
    ordo_xfast_of(dict)->seed = config->seed;
    return ORDO_OK;
}

const struct ordo_structure ordo_xfast_structure = {
    .name = "xfast",
    .bytes = sizeof(struct ordo_xfast),
    .config_bytes = sizeof(struct ordo_xfast_config),
    .configure = configure,
    .destroy = clear,
    .clear = clear,
    .build = build,
    .update = update,
    .update_sorted = update_sorted,
    .combine = combine,
    .apply_concurrent = ordo_xfast_apply_concurrent,
    .release_spare = ordo_runs_release_spare,
    .compact = compact,
    .find = ordo_xfast_find,
    .count = ordo_xfast_count,
    .range = ordo_runs_range,
    .seek = ordo_xfast_seek,
    .rank = ordo_xfast_rank,
    .select = ordo_runs_select,
    .size = ordo_runs_size,
    .export_all = ordo_runs_export,
    .check = ordo_xfast_check,
    .invalidate = invalidate,
    .statistics = ordo_xfast_statistics,
};

ordo_status ordo_xfast_create(ordo_device *device, const struct ordo_xfast_config *config, ordo_dict **out)
{
    return ordo_dict_create(device, &ordo_xfast_structure, config, out);
}
