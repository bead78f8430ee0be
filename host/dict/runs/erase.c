/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/runs/runs.h"

static ordo_status find_spans(struct ordo_call *call, const ordo_dict *dict, const struct ordo_run_set *set,
                              const struct ordo_interval_erasure *e, cl_mem *spans)
{
    const struct ordo_launch launch = ordo_dict_kernel(dict, "dict/runs/runs.cl", "run_span", set->n);
    struct ordo_args         args = { .n = 0 };
    run_table                table;
    cl_mem                   lows = NULL, highs = NULL;

    ORDO_TRY(ordo_call_scratch(call, set->n * sizeof(run_interval), spans));
    const int mark = call->n_scratch;
    ORDO_TRY(ordo_call_scratch(call, set->n * sizeof(cl_uint), &lows));
    ORDO_TRY(ordo_call_scratch(call, set->n * sizeof(cl_uint), &highs));
    ORDO_TRY(ordo_runs_rank_bounds(call, dict, set, &e->lo, &e->hi, 1, lows, highs));
    ordo_run_set_add(&args, dict, set, false, &table);
    ORDO_ADD(&args, ORDO_ARG(lows), ORDO_ARG(highs), ORDO_ARG(*spans));
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    ordo_call_release(call, mark);
    return ORDO_OK;
}

static ordo_status count_gone(struct ordo_call *call, const ordo_dict *dict, const struct ordo_run_set *set,
                              const struct ordo_interval_erasure *e, cl_mem spans, size_t *gone, size_t *left)
{
    const struct ordo_launch launch = ordo_dict_kernel(dict, "dict/runs/runs.cl", "run_gone", 2);
    struct ordo_args         args = { .n = 0 };
    run_table                table;
    cl_uint                  total[2] = { 0, 0 };
    cl_mem                   totals = NULL;

    ORDO_TRY(ordo_call_scratch(call, sizeof total, &totals));
    ordo_run_set_add(&args, dict, set, false, &table);
    ORDO_ADD(&args, ORDO_ARG(spans));
    ordo_args_slice(&args, &e->erased);
    ORDO_ADD(&args, ORDO_ARG(totals));
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    ORDO_TRY(ordo_call_read(call, totals, 0, total, sizeof total));
    *gone = total[0];
    *left = total[1] - total[0];
    return ORDO_OK;
}

/* On CPUs, each work-item of kernel run_hide handles this number of 4-byte words. */
#define HIDE_SHARE 1024

ordo_status ordo_runs_hide_spans(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set, cl_mem spans,
                                 size_t gone)
{
    /* Kernel run_hide sets the hidden bits of `gone` elements. It may also change all visible counts, because each of
     * them counts all earlier elements of its run. */
    const size_t             words = ordo_ceil_div(gone, 32) + ordo_run_entries(ordo_run_set_stored(set));
    const size_t             items = ordo_device_facts(call->dev)->cpu ? ordo_ceil_div(words, HIDE_SHARE) : words;
    const struct ordo_launch launch = ordo_dict_kernel_shares(dict, "dict/runs/runs.cl", "run_hide", items);
    struct ordo_args         args = { .n = 0 };
    run_table                table;

    for (size_t r = 0; r < set->n; r++)
        set->run[r].erased = true;
    ordo_run_set_add(&args, dict, set, false, &table);
    ORDO_ADD(&args, ORDO_ARG(spans));
    return ordo_call_launch(call, &launch, &args);
}

ordo_status ordo_runs_hide(ordo_dict *dict, struct ordo_call *call, const struct ordo_interval_erasure *e, size_t *gone,
                           size_t *left)
{
    struct ordo_run_set *set = &ordo_runs_of(dict)->set;
    const int            mark = call->n_scratch;
    cl_mem               spans = NULL;

    ORDO_TRY(ordo_run_set_add_bits(call, dict, set));
    ORDO_TRY(find_spans(call, dict, set, e, &spans));
    *gone = e->gone;
    *left = e->left;
    if (!e->counted)
        ORDO_TRY(count_gone(call, dict, set, e, spans, gone, left));
    ORDO_TRY(ordo_dict_before_store(dict, call));
    ORDO_TRY(ordo_runs_hide_spans(call, dict, set, spans, *gone));
    ordo_call_release(call, mark);
    return ORDO_OK;
}
