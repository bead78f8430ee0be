/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/runs/runs.h"

ordo_status ordo_runs_select(ordo_dict *dict, struct ordo_call *call, const struct ordo_selects *selects)
{
    struct ordo_run_set *set = &ordo_runs_of(dict)->set;
    const cl_uint        n = (cl_uint) selects->count;
    struct ordo_args     args = { .n = 0 };
    run_table            table;

    if (set->n == 0)
        return ordo_runs_find_none(call, dict, &selects->found, selects->count);
    ORDO_TRY(ordo_run_set_resolve(call, dict, set));
    ordo_run_set_add(&args, dict, set, true, &table);
    ordo_args_slice(&args, &selects->ranks);
    ORDO_ADD(&args, ORDO_ARG(n));
    ordo_args_slice(&args, &selects->keys_out);
    ordo_args_slice(&args, &selects->values_out);
    ordo_args_slice(&args, &selects->found);
    const struct ordo_launch launch = ordo_dict_kernel(dict, "dict/runs/runs.cl", "run_select", selects->count);
    return ordo_call_launch(call, &launch, &args);
}

#define ENDS_MAX ((size_t) 1 << 14)

static ordo_status write_ends(struct ordo_call *call, const ordo_dict *dict, const struct ordo_run_set *set,
                              const struct ordo_ends *ends, cl_mem spans, cl_mem total)
{
    const size_t             items = ordo_device_facts(call->dev)->cpu ? 1 : set->n * ends->count;
    const struct ordo_launch launch = ordo_dict_kernel_shares(dict, "dict/runs/runs.cl", "run_ends", items);
    const cl_uint            most = (cl_uint) ends->count, last = ends->last;
    struct ordo_args         args = { .n = 0 };
    run_table                table;

    ordo_run_set_add(&args, dict, set, true, &table);
    ORDO_ADD(&args, ORDO_ARG(most), ORDO_ARG(last));
    ordo_args_slice(&args, &ends->keys_out);
    ordo_args_slice(&args, &ends->values_out);
    ORDO_ADD(&args, ORDO_ARG(spans), ORDO_ARG(total));
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status no_ends(ordo_dict *dict, struct ordo_call *call, size_t *got, size_t *left)
{
    *got = *left = 0;
    return ordo_dict_before_store(dict, call);
}

ordo_status ordo_runs_ends(ordo_dict *dict, struct ordo_call *call, const struct ordo_ends *ends, size_t *got,
                           size_t *left, bool *done)
{
    struct ordo_run_set *set = &ordo_runs_of(dict)->set;
    const int            mark = call->n_scratch;
    cl_uint              all = 0;
    cl_mem               spans = NULL, total = NULL;

    *done = ends->count <= ENDS_MAX;
    if (!*done)
        return ORDO_OK;
    if (set->n == 0)
        return no_ends(dict, call, got, left);
    ORDO_TRY(ends->take ? ordo_run_set_add_bits(call, dict, set) : ordo_run_set_resolve(call, dict, set));
    ORDO_TRY(ordo_call_scratch(call, set->n * sizeof(run_interval), &spans));
    ORDO_TRY(ordo_call_scratch(call, sizeof all, &total));
    ORDO_TRY(write_ends(call, dict, set, ends, spans, total));
    ORDO_TRY(ordo_call_read(call, total, 0, &all, sizeof all));
    *got = ordo_min_size(all, ends->count);
    *left = all - *got;
    if (ends->take) {
        ORDO_TRY(ordo_dict_before_store(dict, call));
        if (*got > 0)
            ORDO_TRY(ordo_runs_hide_spans(call, dict, set, spans, *got));
    }
    ordo_call_release(call, mark);
    return ORDO_OK;
}
