/* SPDX-License-Identifier: Apache-2.0 */
/* Marks what is stale in sorted runs, and counts what is left: launches of cl/dict/sorted_run.cl. */
#include "dict/sorted_run.h"

#include "dict/batch.h"
#include "primitive/scan.h"
#include "primitive/search.h"

/* ---- marks ------------------------------------------------------------------------------------------------------- */

/* Hides what an equal element follows in the run. `fresh`: `hidden` is not yet written. */
static ordo_status mark_repeats(struct ordo_call *call, const ordo_dict *dict, const struct ordo_sorted_run *run,
                                struct ordo_slice hidden, bool fresh)
{
    const cl_ulong hidden_at = hidden.at;
    const cl_uint  count = (cl_uint) run->count, is_fresh = fresh;
    return ordo_run_launch(
        call, dict, "run_repeats", ordo_ceil_div(run->count, 32) * 4,
        ORDO_ARGS(ORDO_ARG(run->mem), ORDO_ARG(count), ORDO_ARG(hidden.mem), ORDO_ARG(hidden_at), ORDO_ARG(is_fresh)));
}

/* Hides in `older` the elements that `newer` has too; `hidden` is written. */
static ordo_status mark_replaced(struct ordo_call *call, const ordo_dict *dict, const struct ordo_sorted_run *newer,
                                 struct ordo_sorted_run *older, struct ordo_slice hidden)
{
    struct ordo_search search = { .key = dict->key,
                                  .lookup = true,
                                  .upper = true,
                                  .sorted = true,
                                  .marks = true,
                                  .keys = ordo_run_keys(older),
                                  .count = older->count,
                                  .queries = ordo_run_keys(newer),
                                  .n_queries = newer->count,
                                  .hidden = hidden };
    if (ordo_search_by_index(&search)) {
        ORDO_TRY(ordo_run_index(call, dict, older));
        search.index = &older->index;
    }
    return ordo_call_search(call, &search);
}

/* Gives a run bits that hide nothing. */
static ordo_status add_bits(struct ordo_call *call, struct ordo_sorted_run *run)
{
    if (run->has_hidden)
        return ORDO_OK;
    ORDO_TRY(ordo_call_changes(call));
    ORDO_TRY(ordo_call_fill(call, run->mem, run->layout.hidden, ordo_ceil_div(run->count, 32) * 4, 0));
    run->has_hidden = true;
    return ORDO_OK;
}

/* Bits are about to change. */
static void lose_count(struct ordo_sorted_run *run)
{
    run->counted = false;
}

/* What run r makes stale, in itself and in older runs. */
static ordo_status mark_run(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set, size_t r)
{
    struct ordo_sorted_run *run = &set->run[r];
    ORDO_TRY(ordo_call_changes(call));
    if (!run->distinct) {
        const bool fresh = !run->has_hidden;
        lose_count(run);
        ORDO_TRY(mark_repeats(call, dict, run, ordo_at(run->mem, run->layout.hidden / 4), fresh));
        run->has_hidden = true;
    }
    for (size_t older = 0; older < r; older++) {
        lose_count(&set->run[older]);
        ORDO_TRY(add_bits(call, &set->run[older]));
        ORDO_TRY(mark_replaced(call, dict, run, &set->run[older], ordo_run_hidden(&set->run[older])));
    }
    return ORDO_OK;
}

ordo_status ordo_run_set_mark_newest(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set)
{
    ORDO_TRY(mark_run(call, dict, set, set->n - 1));
    set->run[set->n - 1].marked = true;
    return ORDO_OK;
}

ordo_status ordo_run_set_mark_stale(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set,
                                    const struct ordo_slice *stale)
{
    for (size_t r = 0; r < set->n; r++) {
        ORDO_TRY(mark_repeats(call, dict, &set->run[r], stale[r], true));
        for (size_t older = 0; older < r; older++)
            ORDO_TRY(mark_replaced(call, dict, &set->run[r], &set->run[older], stale[older]));
    }
    return ORDO_OK;
}

/* ---- the directory ----------------------------------------------------------------------------------------------- */

ordo_status ordo_run_count_visible(struct ordo_call *call, const ordo_dict *dict, const struct ordo_sorted_run *run,
                                   struct ordo_slice out)
{
    const cl_ulong         hidden_at = run->layout.hidden / 4, out_at = out.at;
    const cl_uint          count = (cl_uint) run->count;
    const struct ordo_scan scan = {
        .type = ORDO_U32, .op = ORDO_SUM, .in = out, .out = out, .count = ordo_run_entries(run->count)
    };
    ORDO_TRY(ordo_run_launch(
        call, dict, "run_visible", scan.count,
        ORDO_ARGS(ORDO_ARG(run->mem), ORDO_ARG(hidden_at), ORDO_ARG(count), ORDO_ARG(out.mem), ORDO_ARG(out_at))));
    return ordo_call_scan(call, &scan);
}

/* Runs that are so short have their directories made together, each by one group: two launches for each take longer. */
#define SHORT_GPU       ((size_t) 1 << 17)
#define SHORT_CPU       ((size_t) 1 << 21)
#define DIRECTORY_GROUP 64 /* at most */

static ordo_status count_short(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set)
{
    const bool          cpu = ordo_device_facts(call->dev)->cpu;
    struct ordo_run_set some = { .n = 0 };
    struct ordo_args    args = { .n = 0 };

    for (size_t r = 0; r < set->n; r++)
        if (!set->run[r].counted && set->run[r].has_hidden && set->run[r].count <= (cpu ? SHORT_CPU : SHORT_GPU))
            some.run[some.n++] = set->run[r];
    if (some.n == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_call_changes(call));
    const run_table table = ordo_run_set_table(dict, &some);
    ordo_run_set_add(&args, &some, true);
    ORDO_ADD(&args, ORDO_ARG(table));
    ORDO_TRY(
        cpu ? ordo_dict_launch_shares(call, dict, "dict/sorted_run.cl", "run_directories", some.n, args.arg, args.n)
            : ordo_run_launch(call, dict, "run_directories", some.n * DIRECTORY_GROUP, args.arg, args.n));
    for (size_t r = 0; r < set->n; r++)
        if (set->run[r].has_hidden && set->run[r].count <= (cpu ? SHORT_CPU : SHORT_GPU))
            set->run[r].counted = true;
    return ORDO_OK;
}

static ordo_status count_run(struct ordo_call *call, const ordo_dict *dict, struct ordo_sorted_run *run)
{
    if (run->counted || !run->has_hidden)
        return ORDO_OK;
    ORDO_TRY(ordo_call_changes(call));
    ORDO_TRY(ordo_run_count_visible(call, dict, run, ordo_run_visible(run)));
    run->counted = true;
    return ORDO_OK;
}

ordo_status ordo_run_set_resolve(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set)
{
    for (size_t r = 0; r < set->n; r++)
        if (!set->run[r].marked)
            ORDO_TRY(mark_run(call, dict, set, r));
    ORDO_TRY(count_short(call, dict, set));
    for (size_t r = 0; r < set->n; r++)
        ORDO_TRY(count_run(call, dict, &set->run[r]));
    for (size_t r = 0; r < set->n; r++)
        set->run[r].marked = true;
    return ORDO_OK;
}

ordo_status ordo_run_set_add_bits(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set)
{
    ORDO_TRY(ordo_run_set_resolve(call, dict, set));
    for (size_t r = 0; r < set->n; r++) {
        ORDO_TRY(add_bits(call, &set->run[r]));
        ORDO_TRY(count_run(call, dict, &set->run[r]));
    }
    return ORDO_OK;
}

/* Writes the number of visible elements of each run to `out`. The set is resolved. */
static ordo_status write_totals(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set, cl_mem out)
{
    struct ordo_args args = { .n = 0 };
    const run_table  table = ordo_run_set_table(dict, set);
    ordo_run_set_add(&args, set, true);
    ORDO_ADD(&args, ORDO_ARG(table), ORDO_ARG(out));
    return ordo_run_launch(call, dict, "run_totals", set->n, args.arg, args.n);
}

static bool has_bits(const struct ordo_run_set *set)
{
    for (size_t r = 0; r < set->n; r++)
        if (set->run[r].has_hidden)
            return true;
    return false;
}

/* Waits once, however many runs there are. (Reads that do not wait stop an H200's queue for 0.14 ms.) */
ordo_status ordo_run_set_counts(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set,
                                size_t counts[ORDO_MAX_RUNS])
{
    const int mark = call->n_scratch;
    cl_mem    totals = NULL;
    cl_uint   total[ORDO_MAX_RUNS];

    ORDO_TRY(ordo_run_set_resolve(call, dict, set));
    for (size_t r = 0; r < set->n; r++)
        counts[r] = set->run[r].count;
    if (!has_bits(set))
        return ORDO_OK;
    ORDO_TRY(ordo_call_scratch(call, sizeof total, &totals));
    ORDO_TRY(write_totals(call, dict, set, totals));
    ORDO_TRY(ordo_call_read(call, totals, 0, total, set->n * sizeof(cl_uint)));
    for (size_t r = 0; r < set->n; r++)
        counts[r] = total[r];
    ordo_call_release(call, mark);
    return ORDO_OK;
}

ordo_status ordo_run_set_size(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set, size_t *out)
{
    size_t counts[ORDO_MAX_RUNS];

    *out = 0;
    ORDO_TRY(ordo_run_set_counts(call, dict, set, counts));
    for (size_t r = 0; r < set->n; r++)
        *out += counts[r];
    return ORDO_OK;
}
