/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the invariants of struct ordo_run_set, and counts stale (replaced) elements. */
#include "dict/runs/runs.h"

struct fresh {
    struct ordo_slice stale[ORDO_MAX_RUNS], visible[ORDO_MAX_RUNS];
};

static ordo_status mark_afresh(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set,
                               struct fresh *fresh)
{
    for (size_t r = 0; r < set->n; r++) {
        const size_t words = ordo_ceil_div(set->run[r].count, 32), entries = ordo_run_entries(set->run[r].count);
        cl_mem       mem = NULL;
        ORDO_TRY(ordo_call_scratch(call, (words + entries) * sizeof(cl_uint), &mem));
        fresh->stale[r] = ordo_at(mem, 0);
        fresh->visible[r] = ordo_at(mem, words);
    }
    return ordo_run_set_mark_stale(call, dict, set, fresh->stale);
}

static ordo_status look(struct ordo_call *call, const ordo_dict *dict, const struct ordo_sorted_run *run,
                        const struct fresh *fresh, size_t r, cl_uint found[RUN_N_FINDINGS])
{
    const struct ordo_launch launch = ordo_dict_kernel(dict, "dict/runs/check.cl", "run_check", run->count);
    const struct ordo_slice  hidden = ordo_run_hidden(run), visible = ordo_run_visible(run);
    const cl_ulong           counted_at = fresh->visible[r].at;
    const cl_uint            count = (cl_uint) run->count, counted = run->marks == ORDO_RUN_COUNTED;
    const int                mark = call->n_scratch;
    struct ordo_args         args = { .n = 0 };
    cl_mem                   findings = NULL;

    ORDO_TRY(ordo_call_scratch(call, RUN_N_FINDINGS * sizeof *found, &findings));
    ORDO_TRY(ordo_call_fill(call, findings, 0, RUN_STALE * sizeof *found, RUN_NOTHING));
    ORDO_TRY(ordo_call_fill(call, findings, RUN_STALE * sizeof *found, sizeof *found, 0));
    if (counted)
        ORDO_TRY(ordo_run_count_visible(call, dict, run, fresh->visible[r]));
    ORDO_ADD(&args, ORDO_ARG(run->mem), ORDO_ARG(count));
    ordo_args_slice(&args, &hidden);
    ordo_args_slice(&args, &visible);
    ordo_args_slice(&args, &fresh->stale[r]);
    ORDO_ADD(&args, ORDO_ARG(counted_at), ORDO_ARG(counted), ORDO_ARG(findings));
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    ORDO_TRY(ordo_call_read(call, findings, 0, found, RUN_N_FINDINGS * sizeof *found));
    ordo_call_release(call, mark);
    return ORDO_OK;
}

static ordo_status validate(ordo_device *dev, const struct ordo_run_set *set, size_t r,
                            const cl_uint found[RUN_N_FINDINGS])
{
    const struct ordo_sorted_run *run = &set->run[r];

    if (found[RUN_UNSORTED] != RUN_NOTHING)
        return ORDO_FAIL(dev, ORDO_BROKEN, "R1: run %zu: element %u is greater than the next", r, found[RUN_UNSORTED]);
    if (run->distinct && found[RUN_REPEATED] != RUN_NOTHING)
        return ORDO_FAIL(dev, ORDO_BROKEN, "R6: run %zu: elements %u and the next have one key", r,
                         found[RUN_REPEATED]);
    if (ordo_run_set_is_resolved(set) && found[RUN_NOT_HIDDEN] != RUN_NOTHING)
        return ORDO_FAIL(dev, ORDO_BROKEN, "R4: run %zu: an element from %u to %u is stale and not hidden", r,
                         found[RUN_NOT_HIDDEN], found[RUN_NOT_HIDDEN] + 31);
    if (!run->erased && found[RUN_TOMBSTONE] != RUN_NOTHING)
        return ORDO_FAIL(dev, ORDO_BROKEN, "R7: run %zu: an element from %u to %u is a tombstone, and none is erased",
                         r, found[RUN_TOMBSTONE], found[RUN_TOMBSTONE] + 31);
    if (found[RUN_MISCOUNTED] != RUN_NOTHING)
        return ORDO_FAIL(dev, ORDO_BROKEN, "R5: run %zu: entry %u of the directory is wrong", r, found[RUN_MISCOUNTED]);
    return ORDO_OK;
}

void ordo_runs_invalidate(ordo_dict *dict)
{
    struct ordo_run_set *set = &ordo_runs_of(dict)->set;
    for (size_t r = 0; r < set->n; r++) {
        set->run[r].indexed = false;
        set->run[r].marks = ORDO_RUN_UNMARKED;
    }
}

ordo_status ordo_runs_check(ordo_dict *dict, struct ordo_call *call)
{
    struct ordo_run_set *set = &ordo_runs_of(dict)->set;
    struct fresh         fresh = { .stale = { { 0 } } };
    cl_uint              found[RUN_N_FINDINGS];

    if (set->n == 0)
        return ORDO_OK;
    ORDO_TRY(mark_afresh(call, dict, set, &fresh));
    for (size_t r = 0; r < set->n; r++) {
        if (set->run[r].count == 0)
            return ORDO_FAIL(call->dev, ORDO_BROKEN, "run %zu is empty", r);
        ORDO_TRY(look(call, dict, &set->run[r], &fresh, r, found));
        ORDO_TRY(validate(call->dev, set, r, found));
        if (set->run[r].indexed)
            ORDO_TRY(ordo_call_check_index(call, &set->run[r].index));
    }
    return ORDO_OK;
}

static void add_bytes(const ordo_dict *dict, const struct ordo_sorted_run *run, struct ordo_statistics *out)
{
    out->bytes_data += run->count * (dict->key_bytes + dict->value_bytes);
    if (run->indexed)
        out->bytes_index += run->index.bytes;
    if (run->has_hidden)
        out->bytes_marks += (ordo_ceil_div(run->count, 32) + ordo_run_entries(run->count)) * sizeof(cl_uint);
}

ordo_status ordo_runs_statistics(ordo_dict *dict, struct ordo_call *call, struct ordo_statistics *out)
{
    struct ordo_runs *runs = ordo_runs_of(dict);
    struct fresh      fresh = { .stale = { { 0 } } };
    cl_uint           found[RUN_N_FINDINGS];
    size_t            stored = 0;

    memset(out, 0, sizeof *out);
    ORDO_TRY(ordo_run_set_size(call, dict, &runs->set, &out->elements));
    if (runs->set.n > 0)
        ORDO_TRY(mark_afresh(call, dict, &runs->set, &fresh));
    for (size_t r = 0; r < runs->set.n; r++) {
        ORDO_TRY(look(call, dict, &runs->set.run[r], &fresh, r, found));
        out->stale += found[RUN_STALE];
        stored += runs->set.run[r].count;
        add_bytes(dict, &runs->set.run[r], out);
    }
    out->tombstones = stored - out->elements - out->stale;
    out->runs = runs->set.n;
    out->bytes_spare = runs->bytes - out->bytes_data - out->bytes_index - out->bytes_marks;
    out->bytes_peak = runs->bytes_peak;
    out->cleanups = runs->cleanups;
    return ORDO_OK;
}
