/* SPDX-License-Identifier: Apache-2.0 */
/* Finds keys by a search in each run, newest run first. */
#include "dict/runs/runs.h"

#include "primitive/search.h"

ordo_status ordo_runs_or_scratch(struct ordo_call *call, struct ordo_slice wanted, size_t bytes, struct ordo_slice *out)
{
    *out = wanted;
    return wanted.mem ? ORDO_OK : ordo_call_scratch(call, bytes, &out->mem);
}

static struct ordo_search search_for(const ordo_dict *dict, const struct ordo_finds *finds,
                                     const struct ordo_sorted_run *run)
{
    return (struct ordo_search) { .key = dict->key,
                                  .lookup = true,
                                  .sorted = finds->sorted,
                                  .value_bytes = dict->value_bytes,
                                  .keys = ordo_run_keys(run),
                                  .count = run->count,
                                  .queries = finds->keys,
                                  .n_queries = finds->count,
                                  .values = ordo_run_values(dict, run),
                                  .values_out = finds->values_out,
                                  .found = finds->found };
}

static ordo_status search_run(struct ordo_call *call, const ordo_dict *dict, bool once, struct ordo_sorted_run *run,
                              struct ordo_search *search)
{
    if (ordo_search_by_index(search) && (run->indexed || !(once || call->n_pending > 0))) {
        ORDO_TRY(ordo_run_index(call, dict, run));
        search->index = &run->index;
    }
    return ordo_call_search(call, search);
}

static ordo_status find_clean(struct ordo_call *call, const ordo_dict *dict, const struct ordo_finds *finds,
                              struct ordo_sorted_run *run)
{
    struct ordo_search search = search_for(dict, finds, run);
    return search_run(call, dict, finds->once, run, &search);
}

/* All newer runs must have been searched before. finds->found marks the keys that were found there. */
static ordo_status find_in_run(struct ordo_call *call, const ordo_dict *dict, const struct ordo_finds *finds,
                               struct ordo_sorted_run *run, cl_uint stage)
{
    const struct ordo_slice values = ordo_run_values(dict, run);
    const struct ordo_slice hidden = run->erased ? ordo_run_hidden(run) : ordo_none();
    struct ordo_search      search = search_for(dict, finds, run);
    struct ordo_args        answers = { .n = 0 };

    if (dict->value_bytes) {
        ordo_args_slice(&answers, &values);
        ordo_args_slice(&answers, &finds->values_out);
    }
    ordo_args_slice(&answers, &finds->found);
    ordo_args_slice(&answers, &hidden);
    ORDO_ADD(&answers, ORDO_ARG(stage));
    search.upper = true;
    search.file = "dict/runs/find.cl";
    search.answers = &answers;
    return search_run(call, dict, finds->once, run, &search);
}

ordo_status ordo_runs_find_none(struct ordo_call *call, const ordo_dict *dict, const struct ordo_slice *found,
                                size_t count)
{
    const struct ordo_launch launch = ordo_dict_kernel(dict, "dict/runs/check.cl", "run_none", count);
    const cl_uint            n = (cl_uint) count;
    struct ordo_args         args = { .n = 0 };

    if (!found->mem)
        return ORDO_OK;
    ordo_args_slice(&args, found);
    ORDO_ADD(&args, ORDO_ARG(n));
    return ordo_call_launch(call, &launch, &args);
}

ordo_status ordo_runs_find(ordo_dict *dict, struct ordo_call *call, const struct ordo_finds *finds)
{
    struct ordo_run_set *set = &ordo_runs_of(dict)->set;
    struct ordo_finds    all = *finds;

    if (set->n == 0)
        return ordo_runs_find_none(call, dict, &finds->found, finds->count);
    if (ordo_run_set_is_clean(set))
        return find_clean(call, dict, finds, &set->run[0]);
    ORDO_TRY(ordo_runs_or_scratch(call, finds->found, finds->count, &all.found));
    for (size_t r = set->n; r-- > 0;)
        ORDO_TRY(find_in_run(call, dict, &all, &set->run[r],
                             (r == set->n - 1 ? RUN_FIRST_STAGE : 0) | (r == 0 ? RUN_LAST_STAGE : 0)));
    return ORDO_OK;
}
