/* SPDX-License-Identifier: Apache-2.0 */
/* The invariants of host/dict/sorted_run.h, and what is stored for nothing. Both mark what is stale anew, in scratch. */
#include "dict/runs/runs.h"

/* What run_check of cl/dict/runs/runs.cl finds in a run. */
enum finding { UNSORTED, REPEATED, NOT_HIDDEN, MISCOUNTED, N_STALE, N_FINDINGS };

/* Scratch for each run: bits of what is stale, then a directory. */
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

/* Looks at one run; waits. */
static ordo_status look(struct ordo_call *call, const ordo_dict *dict, const struct ordo_sorted_run *run,
                        const struct fresh *fresh, size_t r, cl_uint found[N_FINDINGS])
{
    const struct ordo_slice hidden = ordo_run_hidden(run), visible = ordo_run_visible(run);
    const cl_ulong          hidden_at = hidden.at, visible_at = visible.at;
    const cl_ulong          stale_at = fresh->stale[r].at, counted_at = fresh->visible[r].at;
    const cl_uint           count = (cl_uint) run->count, counted = run->counted && run->has_hidden;
    const int               mark = call->n_scratch;
    cl_mem                  findings = NULL;

    ORDO_TRY(ordo_call_scratch(call, N_FINDINGS * sizeof *found, &findings));
    ORDO_TRY(ordo_call_fill(call, findings, 0, N_STALE * sizeof *found, 0xffffffffu));
    ORDO_TRY(ordo_call_fill(call, findings, N_STALE * sizeof *found, sizeof *found, 0));
    if (counted)
        ORDO_TRY(ordo_run_count_visible(call, dict, run, fresh->visible[r]));
    ORDO_TRY(
        ordo_runs_launch(call, dict, "run_check", run->count,
                         ORDO_ARGS(ORDO_ARG(run->mem), ORDO_ARG(count), ORDO_ARG(hidden.mem), ORDO_ARG(hidden_at),
                                   ORDO_ARG(visible.mem), ORDO_ARG(visible_at), ORDO_ARG(fresh->stale[r].mem),
                                   ORDO_ARG(stale_at), ORDO_ARG(counted_at), ORDO_ARG(counted), ORDO_ARG(findings))));
    ORDO_TRY(ordo_call_read(call, findings, 0, found, N_FINDINGS * sizeof *found));
    ordo_call_release(call, mark);
    return ORDO_OK;
}

/* ---- invariants -------------------------------------------------------------------------------------------------- */

#define BROKEN(dev, ...) ORDO_FAIL((dev), ORDO_BROKEN, __VA_ARGS__)

static ordo_status validate(ordo_device *dev, const struct ordo_run_set *set, size_t r, const cl_uint found[N_FINDINGS])
{
    const struct ordo_sorted_run *run = &set->run[r];
    const cl_uint                 none = 0xffffffffu;

    if (found[UNSORTED] != none)
        return BROKEN(dev, "R1: run %zu: element %u is greater than the next", r, found[UNSORTED]);
    if (run->distinct && found[REPEATED] != none)
        return BROKEN(dev, "R6: run %zu: elements %u and the next have one key", r, found[REPEATED]);
    if (ordo_run_set_is_resolved(set) && found[NOT_HIDDEN] != none)
        return BROKEN(dev, "R4: run %zu: an element from %u to %u is stale and not hidden", r, found[NOT_HIDDEN],
                      found[NOT_HIDDEN] + 31);
    if (found[MISCOUNTED] != none)
        return BROKEN(dev, "R5: run %zu: entry %u of the directory is wrong", r, found[MISCOUNTED]);
    return ORDO_OK;
}

void ordo_runs_doubt(ordo_dict *dict)
{
    struct ordo_run_set *set = &ordo_runs_of(dict)->set;
    for (size_t r = 0; r < set->n; r++)
        set->run[r].indexed = set->run[r].counted = set->run[r].marked = false;
}

ordo_status ordo_runs_check(ordo_dict *dict, struct ordo_call *call)
{
    struct ordo_run_set *set = &ordo_runs_of(dict)->set;
    struct fresh         fresh;
    cl_uint              found[N_FINDINGS];

    if (set->n == 0)
        return ORDO_OK;
    ORDO_TRY(mark_afresh(call, dict, set, &fresh));
    for (size_t r = 0; r < set->n; r++) {
        if (set->run[r].count == 0)
            return BROKEN(call->dev, "run %zu is empty", r);
        ORDO_TRY(look(call, dict, &set->run[r], &fresh, r, found));
        ORDO_TRY(validate(call->dev, set, r, found));
    }
    return ORDO_OK;
}

/* ---- statistics -------------------------------------------------------------------------------------------------- */

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
    struct fresh      fresh;
    cl_uint           found[N_FINDINGS];
    size_t            stored = 0;

    memset(out, 0, sizeof *out);
    ORDO_TRY(ordo_run_set_size(call, dict, &runs->set, &out->elements));
    if (runs->set.n > 0)
        ORDO_TRY(mark_afresh(call, dict, &runs->set, &fresh));
    for (size_t r = 0; r < runs->set.n; r++) {
        ORDO_TRY(look(call, dict, &runs->set.run[r], &fresh, r, found));
        out->stale += found[N_STALE];
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
