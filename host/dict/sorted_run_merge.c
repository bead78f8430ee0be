/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/sorted_run.h"

#include "primitive/merge_batch.h"
#include "primitive/sort.h"

static ordo_status hide_all(struct ordo_call *call, struct ordo_sorted_run *run)
{
    run->has_hidden = run->erased = true;
    return ordo_call_fill(call, run->mem, run->layout.hidden, ordo_ceil_div(run->count, 32) * 4, 0xffffffffu);
}

static ordo_status sort_into(struct ordo_call *call, const ordo_dict *dict, bool erase, struct ordo_slice keys,
                             struct ordo_slice values, struct ordo_sorted_run *run)
{
    const struct ordo_sort_params params = { .key = dict->key, .value_bytes = erase ? 0 : dict->value_bytes };
    ORDO_TRY(ordo_call_sort(call, &params, keys, values, ordo_run_keys(run),
                            erase ? ordo_none() : ordo_run_values(dict, run), run->count));
    return erase ? hide_all(call, run) : ORDO_OK;
}

static ordo_status keep_if_ok(struct ordo_runs *runs, struct ordo_sorted_run *run, ordo_status status)
{
    if (status != ORDO_OK)
        ordo_runs_release(runs, run);
    return status;
}

ordo_status ordo_runs_sort(struct ordo_runs *runs, struct ordo_call *call, bool erase, struct ordo_slice keys,
                           struct ordo_slice values, size_t count, struct ordo_sorted_run *out)
{
    ORDO_TRY(ordo_runs_block(runs, call, count, out));
    out->distinct = count == 1;
    return keep_if_ok(runs, out, sort_into(call, &runs->dict, erase, keys, values, out));
}

ordo_status ordo_run_sort_scratch(struct ordo_call *call, const ordo_dict *dict, bool erase, struct ordo_slice keys,
                                  struct ordo_slice values, size_t count, struct ordo_sorted_run *out)
{
    ORDO_TRY(ordo_run_scratch(call, dict, count, out));
    out->distinct = count == 1;
    return sort_into(call, dict, erase, keys, values, out);
}

static ordo_status take_into(struct ordo_call *call, const ordo_dict *dict, const struct ordo_sorted_updates *u,
                             struct ordo_sorted_run *run)
{
    const struct ordo_launch launch =
        ordo_dict_kernel(dict, "dict/sorted_run.cl", "run_take", ordo_dict_pass_items(call->dev, u->count));
    const struct ordo_slice values = ordo_run_values(dict, run), hidden = ordo_at(run->mem, run->layout.hidden / 4);
    const cl_uint           count = (cl_uint) u->count;
    struct ordo_args        args = { .n = 0 };

    run->has_hidden = run->erased = u->erased.mem != NULL;
    ordo_args_slice(&args, &u->keys);
    ordo_args_slice(&args, &u->values);
    ordo_args_slice(&args, &u->erased);
    ORDO_ADD(&args, ORDO_ARG(count), ORDO_ARG(run->mem));
    ordo_args_slice(&args, &values);
    ordo_args_slice(&args, &hidden);
    return ordo_call_launch(call, &launch, &args);
}

ordo_status ordo_runs_take(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_sorted_updates *updates,
                           struct ordo_sorted_run *out)
{
    ORDO_TRY(ordo_runs_block(runs, call, updates->count, out));
    out->distinct = updates->distinct;
    return keep_if_ok(runs, out, take_into(call, &runs->dict, updates, out));
}

ordo_status ordo_run_take_scratch(struct ordo_call *call, const ordo_dict *dict,
                                  const struct ordo_sorted_updates *updates, struct ordo_sorted_run *out)
{
    ORDO_TRY(ordo_run_scratch(call, dict, updates->count, out));
    out->distinct = updates->distinct;
    return take_into(call, dict, updates, out);
}

ordo_status ordo_runs_take_batch(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_run_batch *batch,
                                 struct ordo_sorted_run *out)
{
    if (batch->sorted)
        return ordo_runs_take(runs, call, batch->sorted, out);
    return ordo_runs_sort(runs, call, batch->erase, batch->keys, batch->values, batch->count, out);
}

static void sources_of(const ordo_dict *dict, const struct ordo_sorted_run *in, size_t n,
                       struct ordo_merge_source *source)
{
    for (size_t i = 0; i < n; i++)
        source[i] = (struct ordo_merge_source) { .keys = ordo_run_keys(&in[i]),
                                                 .values = ordo_run_values(dict, &in[i]),
                                                 .count = in[i].count,
                                                 .hidden = in[i].has_hidden ? in[i].layout.hidden : SIZE_MAX,
                                                 .visible = in[i].layout.visible };
}

static struct ordo_merge_params params_of(const ordo_dict *dict)
{
    return (struct ordo_merge_params) { .key = dict->key, .value_bytes = dict->value_bytes };
}

static ordo_status merge_into(struct ordo_call *call, const ordo_dict *dict, enum ordo_merge_marks marks,
                              const struct ordo_sorted_run *in, size_t n, const struct ordo_merge_target *target)
{
    const struct ordo_merge_params params = params_of(dict);
    struct ordo_merge_source       source[ORDO_MAX_RUNS];
    sources_of(dict, in, n, source);
    return ordo_merge_runs_enqueue(call, &params, marks, source, n, target);
}

ordo_status ordo_runs_merge(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_sorted_run *in, size_t n,
                            struct ordo_sorted_run *out)
{
    size_t count = 0;
    bool   any_hidden = false, any_erased = false, all_marked = true;
    for (size_t i = 0; i < n; i++) {
        count += in[i].count;
        any_hidden = any_hidden || in[i].has_hidden;
        any_erased = any_erased || in[i].erased;
        all_marked = all_marked && in[i].marks != ORDO_RUN_UNMARKED;
    }
    ORDO_TRY(ordo_runs_block(runs, call, count, out));
    out->has_hidden = any_erased || (any_hidden && all_marked);
    out->erased = any_erased;
    out->marks = all_marked ? ORDO_RUN_MARKED : ORDO_RUN_UNMARKED;
    const struct ordo_merge_target target = { ordo_run_keys(out), ordo_run_values(&runs->dict, out),
                                              ordo_run_hidden(out) };
    const enum ordo_merge_marks    marks = out->has_hidden ? ORDO_MARKS_KEEP : ORDO_MARKS_NONE;
    return keep_if_ok(runs, out, merge_into(call, &runs->dict, marks, in, n, &target));
}

static ordo_status copy_run(struct ordo_call *call, const ordo_dict *dict, const struct ordo_sorted_run *run,
                            struct ordo_slice keys, struct ordo_slice values)
{
    const size_t kb = dict->key_bytes, vb = dict->value_bytes;
    if (keys.mem)
        ORDO_TRY(ordo_call_copy(call, run->mem, 0, keys.mem, keys.at * kb, run->count * kb));
    if (!values.mem)
        return ORDO_OK;
    return ordo_call_copy(call, run->mem, run->layout.values, values.mem, values.at * vb, run->count * vb);
}

ordo_status ordo_run_set_write(struct ordo_call *call, const ordo_dict *dict, const struct ordo_run_set *set,
                               struct ordo_slice keys, struct ordo_slice values)
{
    const struct ordo_merge_target target = { keys, values, ordo_none() };
    if (ordo_run_set_is_clean(set))
        return copy_run(call, dict, &set->run[0], keys, values);
    return merge_into(call, dict, ORDO_MARKS_FILTER, set->run, set->n, &target);
}

static ordo_status filter(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_run_set *set, size_t count,
                          struct ordo_sorted_run *out)
{
    if (count == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_runs_block(runs, call, count, out));
    out->distinct = true;
    out->marks = ORDO_RUN_MARKED;
    return keep_if_ok(
        runs, out, ordo_run_set_write(call, &runs->dict, set, ordo_run_keys(out), ordo_run_values(&runs->dict, out)));
}

ordo_status ordo_runs_filter(struct ordo_runs *runs, struct ordo_call *call, struct ordo_run_set *set,
                             struct ordo_sorted_run *out)
{
    size_t count = 0;
    *out = (struct ordo_sorted_run) { .mem = NULL };
    ORDO_TRY(ordo_run_set_size(call, &runs->dict, set, &count));
    ORDO_REQUIRE(call->dev, count <= ORDO_MAX_COUNT, ORDO_TOO_LARGE, "%zu elements: there may be %zu (ORDO_MAX_COUNT)",
                 count, ORDO_MAX_COUNT);
    return filter(runs, call, set, count, out);
}

/* Smaller batches take less time to sort than to check for ascending keys. */
#define ASK_MIN ((size_t) 1 << 16)

static ordo_status ascends(struct ordo_call *call, const ordo_dict *dict, struct ordo_slice keys, size_t count,
                           bool *out)
{
    const struct ordo_launch launch =
        ordo_dict_kernel(dict, "dict/sorted_run.cl", "run_unsorted", ordo_dict_pass_items(call->dev, count));
    const cl_uint    n = (cl_uint) count;
    const int        mark = call->n_scratch;
    struct ordo_args args = { .n = 0 };
    cl_uint          wrong = 0;
    cl_mem           found = NULL;

    *out = false;
    if (count < ASK_MIN)
        return ORDO_OK;
    ORDO_TRY(ordo_call_scratch(call, sizeof wrong, &found));
    ORDO_TRY(ordo_call_fill(call, found, 0, sizeof wrong, 0));
    ordo_args_slice(&args, &keys);
    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(found));
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    ORDO_TRY(ordo_call_read(call, found, 0, &wrong, sizeof wrong));
    ordo_call_release(call, mark);
    *out = wrong == 0;
    return ORDO_OK;
}

ordo_status ordo_runs_sort_distinct(struct ordo_runs *runs, struct ordo_call *call, struct ordo_slice keys,
                                    struct ordo_slice values, size_t count, struct ordo_sorted_run *out)
{
    struct ordo_run_set all = { .n = 1 };
    size_t              distinct = 0;
    bool                sorted = false;

    *out = (struct ordo_sorted_run) { .mem = NULL };
    ORDO_TRY(ascends(call, &runs->dict, keys, count, &sorted));
    if (sorted) {
        const struct ordo_sorted_updates all_stored = { keys, values, ordo_none(), count, .distinct = true };
        return ordo_runs_take(runs, call, &all_stored, out);
    }
    ORDO_TRY(ordo_runs_sort(runs, call, false, keys, values, count, &all.run[0]));
    ORDO_TRY(keep_if_ok(runs, &all.run[0], ordo_run_set_size(call, &runs->dict, &all, &distinct)));
    if (distinct == count) {
        *out = all.run[0];
        ordo_run_note_clean(out);
        return ORDO_OK;
    }
    const ordo_status status = filter(runs, call, &all, distinct, out);
    ordo_runs_release(runs, &all.run[0]);
    return status;
}

static bool is_batch(const ordo_dict *dict, const struct ordo_run_set *set, bool combines)
{
    const struct ordo_merge_params params = params_of(dict);
    return set->n == 2 && set->run[0].distinct && !set->run[0].has_hidden &&
           ordo_merge_by_batch(dict->dev, &params, set->run[0].count, set->run[1].count, combines);
}

static ordo_status merge_newest(struct ordo_call *call, const ordo_dict *dict, const struct ordo_run_set *set,
                                const struct ordo_merge_target *target)
{
    const struct ordo_merge_params params = params_of(dict);
    struct ordo_merge_source       source[ORDO_MAX_RUNS];
    sources_of(dict, set->run, set->n, source);
    if (is_batch(dict, set, target->combine != NULL))
        return ordo_merge_batch_enqueue(call, &params, &source[0], &source[1], target);
    return ordo_merge_runs_enqueue(call, &params, ORDO_MARKS_DEDUP, source, set->n, target);
}

static ordo_status dedup_into(struct ordo_call *call, const ordo_dict *dict, const struct ordo_run_set *set,
                              const struct ordo_merge_combine *combine, const struct ordo_sorted_run *run,
                              size_t *count)
{
    const int                mark = call->n_scratch;
    struct ordo_merge_target target = { .keys = ordo_run_keys(run),
                                        .values = ordo_run_values(dict, run),
                                        .combine = combine };
    cl_uint                  kept = 0;
    ORDO_TRY(ordo_call_scratch(call, sizeof kept, &target.kept));
    ORDO_TRY(merge_newest(call, dict, set, &target));
    ORDO_TRY(ordo_call_read(call, target.kept, 0, &kept, sizeof kept));
    ordo_call_release(call, mark);
    *count = kept;
    return ORDO_OK;
}

/* Makes a new run with one element per key, and without tombstones. If none is left, *out has no block. */
static ordo_status dedup(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_run_set *set,
                         const struct ordo_merge_combine *combine, struct ordo_sorted_run *out)
{
    ORDO_TRY(ordo_runs_block(runs, call, ordo_run_set_stored(set), out));
    ORDO_TRY(keep_if_ok(runs, out, dedup_into(call, &runs->dict, set, combine, out, &out->count)));
    out->distinct = true;
    out->marks = ORDO_RUN_MARKED;
    out->layout.bytes = ordo_run_layout_of(&runs->dict, out->count, out->layout.form).bytes;
    if (out->count == 0)
        ordo_runs_release(runs, out);
    return ORDO_OK;
}

ordo_status ordo_runs_filter_segment(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_sorted_run *in,
                                     const size_t *counts, size_t n, struct ordo_sorted_run *out)
{
    struct ordo_run_set segment = { .n = n };
    size_t              count = 0;

    memcpy(segment.run, in, n * sizeof *in);
    for (size_t r = 0; r < n; r++)
        count += counts[r];
    *out = (struct ordo_sorted_run) { .mem = NULL };
    return filter(runs, call, &segment, count, out);
}

bool ordo_runs_can_dedup(const struct ordo_runs *runs, const struct ordo_run_set *set)
{
    const struct ordo_merge_params params = params_of(&runs->dict);
    return ordo_merge_can_dedup(runs->dict.dev, &params, set->n, false) || is_batch(&runs->dict, set, false);
}

ordo_status ordo_runs_visible(struct ordo_runs *runs, struct ordo_call *call, struct ordo_run_set *set,
                              struct ordo_sorted_run *out)
{
    const size_t stored = ordo_run_set_stored(set);
    if (!ordo_run_set_is_resolved(set) && ordo_runs_can_dedup(runs, set) && stored <= ORDO_MAX_COUNT &&
        ordo_runs_fit(runs, stored)) {
        const int         mark = call->n_scratch;
        const ordo_status status = dedup(runs, call, set, NULL, out);
        if (!ordo_lacks_memory(status))
            return status;
        ordo_call_abandon(call, mark);
    }
    return ordo_runs_filter(runs, call, set, out);
}

bool ordo_runs_can_combine(const struct ordo_runs *runs, size_t count)
{
    const struct ordo_merge_params params = params_of(&runs->dict);
    const size_t                   stored = ordo_run_set_stored(&runs->set);
    return ordo_run_set_is_clean(&runs->set) && ordo_runs_fit(runs, stored + count) &&
           (ordo_merge_by_batch(runs->dict.dev, &params, stored, count, true) ||
            ordo_merge_can_dedup(runs->dict.dev, &params, 2, true));
}

ordo_status ordo_runs_combine(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_run_set *set,
                              const struct ordo_merge_combine *combine, struct ordo_sorted_run *out)
{
    return dedup(runs, call, set, combine, out);
}
