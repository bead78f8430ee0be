/* SPDX-License-Identifier: Apache-2.0 */
/* Dictionaries of sorted runs as a whole: built, gathered into one run, exported. */
#include "dict/runs/runs.h"

ordo_status ordo_runs_build(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys, struct ordo_slice values,
                            size_t count)
{
    struct ordo_sorted_run run;
    ORDO_TRY(ordo_runs_sort_distinct(ordo_runs_of(dict), call, keys, values, count, &run));
    ordo_runs_replace(ordo_runs_of(dict), &run);
    return ORDO_OK;
}

/* Whether a run's block has more than it needs and a little (roomy, take_spare). */
static bool wastes(const struct ordo_sorted_run *run)
{
    return run->mem_bytes > run->layout.bytes + run->layout.bytes / 16 + 4096;
}

/* Of a run by itself: with what its block has left over, a sixteenth of what it takes. */
static size_t little_spare(const struct ordo_runs *runs)
{
    const struct ordo_sorted_run *run = &runs->set.run[0];
    const size_t                  left_over = runs->set.n ? run->mem_bytes - run->layout.bytes : 0;
    const size_t                  little = runs->set.n ? run->layout.bytes / 16 : 0;
    return little > left_over ? little - left_over : 0;
}

/* Puts what is visible into one run in a block of the size that it needs. */
static ordo_status gather_tightly(struct ordo_runs *runs, struct ordo_call *call)
{
    struct ordo_sorted_run run;
    ORDO_TRY(ordo_runs_filter(runs, call, &runs->set, &run));
    ordo_runs_replace(runs, &run);
    return ORDO_OK;
}

/* What the caller wants is done by then, so a smaller block that is not to be had is no error. */
void ordo_runs_become(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_sorted_run *run)
{
    ordo_runs_replace(runs, run);
    if (run->mem && run->mem_bytes / 2 > run->layout.bytes && gather_tightly(runs, call) != ORDO_OK)
        ordo_log(call->dev, ORDO_LOG_WARNING, "a run stays in a block more than twice as large as it needs");
}

ordo_status ordo_runs_gather(ordo_dict *dict, struct ordo_call *call)
{
    struct ordo_runs      *runs = ordo_runs_of(dict);
    struct ordo_sorted_run run;

    ORDO_TRY(ordo_runs_visible(runs, call, &runs->set, &run));
    ordo_runs_become(runs, call, &run);
    return ORDO_OK;
}

static bool is_clean(const struct ordo_runs *runs)
{
    return runs->set.n == 0 || ordo_run_set_is_clean(&runs->set);
}

ordo_status ordo_runs_clean_up(ordo_dict *dict, struct ordo_call *call)
{
    struct ordo_runs *runs = ordo_runs_of(dict);

    if (is_clean(runs))
        return ORDO_OK;
    ORDO_TRY(ordo_runs_gather(dict, call));
    runs->cleanups++;
    return ORDO_OK;
}

ordo_status ordo_runs_compact(ordo_dict *dict, struct ordo_call *call)
{
    struct ordo_runs *runs = ordo_runs_of(dict);
    const bool        clean = is_clean(runs);

    if (!clean || (runs->set.n > 0 && wastes(&runs->set.run[0])))
        ORDO_TRY(gather_tightly(runs, call));
    runs->cleanups += !clean;
    ordo_runs_limit_spare(runs, little_spare(runs));
    return ORDO_OK;
}

ordo_status ordo_runs_export(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys_out,
                             struct ordo_slice values_out, size_t capacity, size_t *count)
{
    struct ordo_runs *runs = ordo_runs_of(dict);
    ORDO_TRY(ordo_run_set_size(call, dict, &runs->set, count));
    if (*count > capacity)
        return ordo_fail(call->dev, ORDO_TOO_SMALL, 0, __FILE__, __LINE__, "%zu elements, and room for %zu", *count,
                         capacity);
    return *count ? ordo_run_set_write(call, dict, &runs->set, keys_out, values_out) : ORDO_OK;
}
