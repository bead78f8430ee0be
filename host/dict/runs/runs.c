/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/runs/runs.h"

ordo_status ordo_runs_build(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys, struct ordo_slice values,
                            size_t count)
{
    struct ordo_sorted_run run;
    ORDO_TRY(ordo_runs_sort_distinct(ordo_runs_of(dict), call, keys, values, count, &run));
    ordo_runs_replace(ordo_runs_of(dict), &run);
    return ORDO_OK;
}

/* Returns true if a new run of the same size would get a smaller block. */
static bool wastes(const struct ordo_sorted_run *run)
{
    return run->mem_bytes > run->layout.bytes + run->layout.bytes / 16 + 4096;
}

/* A compaction leaves at most a sixteenth of the run's size unused. This includes the unused end of the run's own
 * block. Returns the maximum total size of the other unused blocks. */
static size_t little_spare(const struct ordo_runs *runs)
{
    const struct ordo_sorted_run *run = &runs->set.run[0];
    const size_t                  left_over = runs->set.n ? run->mem_bytes - run->layout.bytes : 0;
    const size_t                  little = runs->set.n ? run->layout.bytes / 16 : 0;
    return little > left_over ? little - left_over : 0;
}

static ordo_status gather_tightly(struct ordo_runs *runs, struct ordo_call *call)
{
    struct ordo_sorted_run run;
    ORDO_TRY(ordo_runs_filter(runs, call, &runs->set, &run));
    ordo_runs_replace(runs, &run);
    return ORDO_OK;
}

static void tighten(struct ordo_runs *runs, struct ordo_call *call)
{
    const struct ordo_sorted_run *run = &runs->set.run[0];
    const int                     mark = call->n_scratch;
    if (runs->set.n == 0 || run->mem_bytes / 2 <= run->layout.bytes || gather_tightly(runs, call) == ORDO_OK)
        return;
    ordo_call_abandon(call, mark);
    ordo_log(call->dev, ORDO_LOG_WARNING, "a run stays in a block more than twice as large as it needs");
}

void ordo_runs_become(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_sorted_run *run)
{
    ordo_runs_replace(runs, run);
    tighten(runs, call);
}

void ordo_runs_cut(struct ordo_runs *runs, struct ordo_call *call, size_t count)
{
    struct ordo_sorted_run *run = &runs->set.run[0];

    if (count == 0) {
        ordo_runs_replace(runs, &(struct ordo_sorted_run) { .mem = NULL });
        return;
    }
    run->count = count;
    run->indexed = false;
    run->layout.bytes = ordo_run_layout_of(&runs->dict, count, run->layout.form).bytes;
    tighten(runs, call);
}

ordo_status ordo_runs_gather(ordo_dict *dict, struct ordo_call *call)
{
    struct ordo_runs      *runs = ordo_runs_of(dict);
    struct ordo_sorted_run run;

    ORDO_TRY(ordo_runs_visible(runs, call, &runs->set, &run));
    ordo_runs_become(runs, call, &run);
    return ORDO_OK;
}

/* ---- with little memory ------------------------------------------------------------------------------------------ */

static size_t segment_from(const struct ordo_runs *runs, const size_t *counts, size_t first)
{
    size_t n = 1, count = counts[first];
    while (first + n < runs->set.n && ordo_runs_fit(runs, count + counts[first + n]))
        count += counts[first + n++];
    return n;
}

static void replace_segment(struct ordo_runs *runs, size_t *counts, size_t first, size_t n,
                            const struct ordo_sorted_run *run)
{
    struct ordo_run_set   *set = &runs->set;
    const size_t           kept = run->mem != NULL, rest = set->n - first - n;
    struct ordo_sorted_run gone[ORDO_MAX_RUNS];

    memcpy(gone, &set->run[first], n * sizeof *gone);
    /* Older runs may still have elements of erased keys, whose hidden bits are 1. Finds read a run's hidden bits only
     * if its `erased` is set. */
    for (size_t r = 0; r < first; r++)
        set->run[r].erased = set->run[r].has_hidden;
    memmove(&set->run[first + kept], &set->run[first + n], rest * sizeof *gone);
    memmove(&counts[first + kept], &counts[first + n], rest * sizeof *counts);
    if (kept) {
        set->run[first] = *run;
        counts[first] = run->count;
    }
    set->n = first + kept + rest;
    for (size_t i = 0; i < n; i++)
        ordo_runs_release(runs, &gone[i]);
}

/* Moves the visible elements of n runs into a new one. Changes nothing if memory is short. Sets *less to true if the
 * set shrank. */
static ordo_status shrink_segment(struct ordo_runs *runs, struct ordo_call *call, size_t *counts, size_t first,
                                  size_t n, bool *less)
{
    const struct ordo_sorted_run *in = &runs->set.run[first];
    const int                     mark = call->n_scratch;
    struct ordo_sorted_run        run;

    if (n == 1 && counts[first] == in->count)
        return ORDO_OK;
    const ordo_status status = ordo_runs_filter_segment(runs, call, in, &counts[first], n, &run);
    if (status != ORDO_OK) {
        ordo_call_abandon(call, mark);
        return status;
    }
    replace_segment(runs, counts, first, n, &run);
    *less = true;
    return ORDO_OK;
}

/* Shrinks each segment, a sequence of neighbouring runs that fit into one run. If memory is short, sets
 * *lacks to the error and continues. */
static ordo_status shrink_all(struct ordo_runs *runs, struct ordo_call *call, size_t *counts, bool *less,
                              ordo_status *lacks)
{
    for (size_t first = 0; first < runs->set.n;) {
        const size_t before = runs->set.n;
        size_t       length = segment_from(runs, counts, first);
        ordo_status  status = shrink_segment(runs, call, counts, first, length, less);
        if (ordo_lacks_memory(status) && length > 1) {
            length = 1;
            status = shrink_segment(runs, call, counts, first, length, less);
        }
        if (ordo_lacks_memory(status))
            *lacks = status;
        else
            ORDO_TRY(status);
        first += runs->set.n + length > before;
    }
    return ORDO_OK;
}

/* Merges a few neighbouring runs at a time, which needs less memory than one merge. */
static ordo_status gather_in_segments(struct ordo_runs *runs, struct ordo_call *call)
{
    size_t      counts[ORDO_MAX_RUNS];
    bool        less = true, any = false;
    ordo_status lacks = ORDO_NO_DEVICE_MEMORY;

    ORDO_TRY(ordo_run_set_counts(call, &runs->dict, &runs->set, counts));
    while (lacks != ORDO_OK && less) {
        lacks = ORDO_OK;
        less = false;
        ORDO_TRY(shrink_all(runs, call, counts, &less, &lacks));
        any = any || less;
    }
    return any ? ORDO_OK : lacks;
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
    const int   mark = call->n_scratch;
    ordo_status status = ordo_runs_gather(dict, call);
    if (ordo_lacks_memory(status)) {
        ordo_call_abandon(call, mark);
        status = gather_in_segments(runs, call);
    }
    runs->cleanups += status == ORDO_OK;
    return status;
}

ordo_status ordo_runs_compact(ordo_dict *dict, struct ordo_call *call)
{
    struct ordo_runs *runs = ordo_runs_of(dict);
    const bool        clean = is_clean(runs);

    if (!clean || (runs->set.n > 0 && wastes(&runs->set.run[0]))) {
        const int   mark = call->n_scratch;
        ordo_status status = gather_tightly(runs, call);
        if (ordo_lacks_memory(status) && !clean) {
            ordo_call_abandon(call, mark);
            status = gather_in_segments(runs, call);
        }
        ORDO_TRY(status);
    }
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
        return ORDO_FAIL(call->dev, ORDO_TOO_SMALL, "%zu elements, and room for %zu", *count, capacity);
    return *count ? ordo_run_set_write(call, dict, &runs->set, keys_out, values_out) : ORDO_OK;
}
