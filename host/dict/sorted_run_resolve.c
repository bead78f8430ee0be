/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/sorted_run.h"

#include "primitive/scan.h"
#include "primitive/search.h"

static struct ordo_launch kernel(const ordo_dict *dict, const char *name, size_t items)
{
    return ordo_dict_kernel(dict, "dict/sorted_run.cl", name, items);
}

/* Hides each element whose next element has an equal key. If `fresh` is true, also clears all other hidden bits. */
static ordo_status mark_repeats(struct ordo_call *call, const ordo_dict *dict, const struct ordo_sorted_run *run,
                                struct ordo_slice hidden, bool fresh)
{
    const struct ordo_launch launch = kernel(dict, "run_repeats", ordo_ceil_div(run->count, 32) * 4);
    const cl_uint            count = (cl_uint) run->count, is_fresh = fresh;
    struct ordo_args         args = { .n = 0 };

    ORDO_ADD(&args, ORDO_ARG(run->mem), ORDO_ARG(count));
    ordo_args_slice(&args, &hidden);
    ORDO_ADD(&args, ORDO_ARG(is_fresh));
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status mark_replaced(struct ordo_call *call, const ordo_dict *dict, const struct ordo_sorted_run *newer,
                                 struct ordo_sorted_run *older, struct ordo_slice hidden)
{
    struct ordo_args   answers = { .n = 0 };
    struct ordo_search search = { .key = dict->key,
                                  .lookup = true,
                                  .upper = true,
                                  .sorted = true,
                                  .keys = ordo_run_keys(older),
                                  .count = older->count,
                                  .queries = ordo_run_keys(newer),
                                  .n_queries = newer->count,
                                  .file = "dict/runs/mark.cl",
                                  .answers = &answers };

    ordo_args_slice(&answers, &hidden);
    if (ordo_search_by_index(&search)) {
        ORDO_TRY(ordo_run_index(call, dict, older));
        search.index = &older->index;
    }
    return ordo_call_search(call, &search);
}

static ordo_status add_bits(struct ordo_call *call, struct ordo_sorted_run *run)
{
    if (run->has_hidden)
        return ORDO_OK;
    ORDO_TRY(ordo_call_changes(call));
    ORDO_TRY(ordo_call_fill(call, run->mem, run->layout.hidden, ordo_ceil_div(run->count, 32) * 4, 0));
    run->has_hidden = true;
    return ORDO_OK;
}

static void lose_count(struct ordo_sorted_run *run)
{
    if (run->marks == ORDO_RUN_COUNTED)
        run->marks = ORDO_RUN_MARKED;
}

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
    set->run[set->n - 1].marks = ORDO_RUN_MARKED;
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

ordo_status ordo_run_count_visible(struct ordo_call *call, const ordo_dict *dict, const struct ordo_sorted_run *run,
                                   struct ordo_slice out)
{
    const struct ordo_launch launch = kernel(dict, "run_visible", ordo_run_entries(run->count));
    const struct ordo_slice  hidden = ordo_run_hidden(run);
    const cl_uint            count = (cl_uint) run->count;
    const struct ordo_scan   scan = {
          .type = ORDO_U32, .op = ORDO_SUM, .in = out, .out = out, .count = ordo_run_entries(run->count)
    };
    struct ordo_args args = { .n = 0 };

    ordo_args_slice(&args, &hidden);
    ORDO_ADD(&args, ORDO_ARG(count));
    ordo_args_slice(&args, &out);
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    return ordo_call_scan(call, &scan);
}

/* Maximum number of elements of a short run. One launch counts the visible elements of all short runs, with a
 * work-group per run. */
#define SHORT_GPU       ((size_t) 1 << 17)
#define SHORT_CPU       ((size_t) 1 << 21)
#define DIRECTORY_GROUP 64 /* work-items */

static bool needs_directory(const struct ordo_sorted_run *run)
{
    return run->has_hidden && run->marks != ORDO_RUN_COUNTED;
}

static ordo_status count_short(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set)
{
    const bool          cpu = ordo_device_facts(call->dev)->cpu;
    const size_t        most = cpu ? SHORT_CPU : SHORT_GPU;
    struct ordo_run_set some = { .n = 0 };
    struct ordo_args    args = { .n = 0 };
    run_table           table;

    for (size_t r = 0; r < set->n; r++)
        if (needs_directory(&set->run[r]) && set->run[r].count <= most)
            some.run[some.n++] = set->run[r];
    if (some.n == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_call_changes(call));
    ordo_run_set_add(&args, dict, &some, false, &table);
    const struct ordo_launch launch =
        cpu ? ordo_dict_kernel_shares(dict, "dict/sorted_run.cl", "run_directories", some.n)
            : kernel(dict, "run_directories", some.n * DIRECTORY_GROUP);
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    for (size_t r = 0; r < set->n; r++)
        if (set->run[r].has_hidden && set->run[r].count <= most)
            set->run[r].marks = ORDO_RUN_COUNTED;
    return ORDO_OK;
}

static ordo_status count_run(struct ordo_call *call, const ordo_dict *dict, struct ordo_sorted_run *run)
{
    if (!needs_directory(run))
        return ORDO_OK;
    ORDO_TRY(ordo_call_changes(call));
    ORDO_TRY(ordo_run_count_visible(call, dict, run, ordo_run_visible(run)));
    run->marks = ORDO_RUN_COUNTED;
    return ORDO_OK;
}

ordo_status ordo_run_set_resolve(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set)
{
    for (size_t r = 0; r < set->n; r++)
        if (set->run[r].marks == ORDO_RUN_UNMARKED)
            ORDO_TRY(mark_run(call, dict, set, r));
    for (size_t r = 0; r < set->n; r++)
        if (set->run[r].marks == ORDO_RUN_UNMARKED)
            set->run[r].marks = ORDO_RUN_MARKED;
    ORDO_TRY(count_short(call, dict, set));
    for (size_t r = 0; r < set->n; r++)
        ORDO_TRY(count_run(call, dict, &set->run[r]));
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

static ordo_status write_totals(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set, cl_mem out)
{
    const struct ordo_launch launch = kernel(dict, "run_totals", set->n);
    struct ordo_args         args = { .n = 0 };
    run_table                table;

    ordo_run_set_add(&args, dict, set, false, &table);
    ORDO_ADD(&args, ORDO_ARG(out));
    return ordo_call_launch(call, &launch, &args);
}

/* Number of elements per work-item of kernel run_newest. */
#define NEWEST_SHARE 8

ordo_status ordo_run_count_newest(struct ordo_call *call, const ordo_dict *dict, const struct ordo_sorted_run *run,
                                  size_t *out)
{
    const struct ordo_slice keys = ordo_run_keys(run), hidden = ordo_run_hidden(run);
    const cl_uint           count = (cl_uint) run->count;
    const int               mark = call->n_scratch;
    struct ordo_args        args = { .n = 0 };
    cl_uint                 newest = 0;
    cl_mem                  total = NULL;

    ORDO_TRY(ordo_call_scratch(call, sizeof newest, &total));
    ORDO_TRY(ordo_call_fill(call, total, 0, sizeof newest, 0));
    ORDO_ADD(&args, ORDO_ARG(keys.mem), ORDO_ARG(count));
    ordo_args_slice(&args, &hidden);
    ORDO_ADD(&args, ORDO_ARG(total));
    const struct ordo_launch launch = kernel(dict, "run_newest", ordo_ceil_div(run->count, NEWEST_SHARE));
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    ORDO_TRY(ordo_call_read(call, total, 0, &newest, sizeof newest));
    ordo_call_release(call, mark);
    *out = newest;
    return ORDO_OK;
}

static bool has_bits(const struct ordo_run_set *set)
{
    for (size_t r = 0; r < set->n; r++)
        if (set->run[r].has_hidden)
            return true;
    return false;
}

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
