/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of sorted runs, and runs made from batches and from other runs. */
#include "dict/runs/runs.h"

#include "primitive/sort.h"

#include <stdlib.h>

/* ---- blocks --------------------------------------------------------------------------------------------------- */

static size_t round_up(size_t bytes)
{
    return ordo_ceil_div(bytes, 256) * 256;
}

static struct ordo_run_layout layout_of(const ordo_dict *dict, size_t count)
{
    const struct ordo_index index = ordo_index_of(dict->dev, dict->key, ordo_none(), count);
    struct ordo_run_layout  l;
    l.values = round_up(count * dict->key_bytes);
    l.hidden = l.values + round_up(count * dict->value_bytes);
    l.visible = l.hidden + round_up(ordo_ceil_div(count, 32) * 4);
    l.nodes = l.visible + round_up(ordo_run_entries(count) * 4);
    l.bytes = l.nodes + round_up(index.bytes);
    return l;
}

/* A spare block that wastes at most a sixteenth: what is wasted counts as held, of which there is to be little. */
static bool take_spare(struct ordo_runs *runs, size_t bytes, struct ordo_sorted_run *out)
{
    size_t best = runs->n_spare;
    for (size_t i = 0; i < runs->n_spare; i++)
        if (runs->spare[i].bytes >= bytes && runs->spare[i].bytes <= bytes + bytes / 16 + 4096 &&
            (best == runs->n_spare || runs->spare[i].bytes < runs->spare[best].bytes))
            best = i;
    if (best == runs->n_spare)
        return false;
    out->mem = runs->spare[best].mem;
    out->mem_bytes = runs->spare[best].bytes;
    runs->spare_bytes -= out->mem_bytes;
    runs->spare[best] = runs->spare[--runs->n_spare];
    return true;
}

static void destroy_block(struct ordo_runs *runs, cl_mem *mem, size_t bytes)
{
    ordo_buffer_destroy(runs->dict.dev, mem);
    runs->bytes -= bytes;
}

static void drop_spare(struct ordo_runs *runs, size_t i)
{
    runs->spare_bytes -= runs->spare[i].bytes;
    destroy_block(runs, &runs->spare[i].mem, runs->spare[i].bytes);
    runs->spare[i] = runs->spare[--runs->n_spare];
}

void ordo_runs_drop_spare(struct ordo_runs *runs)
{
    while (runs->n_spare > 0)
        drop_spare(runs, 0);
}

/* Drops spare blocks, the largest first, until they take no more than `most` bytes. */
static void limit_spare(struct ordo_runs *runs, size_t most)
{
    while (runs->spare_bytes > most) {
        size_t largest = 0;
        for (size_t i = 1; i < runs->n_spare; i++)
            if (runs->spare[i].bytes > runs->spare[largest].bytes)
                largest = i;
        drop_spare(runs, largest);
    }
}

static size_t live_bytes(const struct ordo_runs *runs)
{
    return runs->bytes - runs->spare_bytes;
}

/* Spare blocks of so much in all, and of such a share of what is live, are not worth letting go of: for each, however small,
 * that takes drivers 25 us, in which the device does nothing. */
#define SPARE_LEAST ((size_t) 4 << 20)
#define SPARE_SHARE 32

/* How much spare blocks may take when `bytes` more are to be had: all that is held is then at most twice what is live, and
 * the little that is not worth letting go of. */
static size_t spare_most(const struct ordo_runs *runs, size_t bytes)
{
    const size_t live = live_bytes(runs);
    return SPARE_LEAST + live / SPARE_SHARE + (live > bytes ? live - bytes : 0);
}

/* Blocks are a little larger than asked for, so that a later run that is a little longer may have one again: drivers
 * take 0.1 ms and more to make a large buffer and to let go of one. */
static size_t roomy(size_t bytes)
{
    size_t step = 256;
    while (step * 64 < bytes)
        step *= 2;
    return ordo_ceil_div(bytes, step) * step;
}

static ordo_status create_block(struct ordo_runs *runs, struct ordo_call *call, size_t least,
                                struct ordo_sorted_run *out)
{
    const size_t bytes = roomy(least);
    limit_spare(runs, spare_most(runs, bytes));
    ordo_status made = ordo_buffer_create(call->dev, bytes, &out->mem);
    if (made == ORDO_NO_DEVICE_MEMORY && runs->n_spare > 0) {
        ordo_runs_drop_spare(runs);
        made = ordo_buffer_create(call->dev, bytes, &out->mem);
    }
    ORDO_TRY(made);
    out->mem_bytes = bytes;
    runs->bytes += bytes;
    if (runs->bytes_peak < runs->bytes)
        runs->bytes_peak = runs->bytes;
    return ORDO_OK;
}

ordo_status ordo_runs_block(struct ordo_runs *runs, struct ordo_call *call, size_t count, struct ordo_sorted_run *out)
{
    *out = (struct ordo_sorted_run) { .count = count, .layout = layout_of(&runs->dict, count) };
    if (take_spare(runs, out->layout.bytes, out))
        return ORDO_OK;
    return create_block(runs, call, out->layout.bytes, out);
}

void ordo_runs_release(struct ordo_runs *runs, struct ordo_sorted_run *run)
{
    if (!run->mem)
        return;
    if (runs->n_spare == ORDO_MAX_RUNS) {
        destroy_block(runs, &run->mem, run->mem_bytes);
        return;
    }
    runs->spare[runs->n_spare].mem = run->mem;
    runs->spare[runs->n_spare++].bytes = run->mem_bytes;
    runs->spare_bytes += run->mem_bytes;
    run->mem = NULL;
    limit_spare(runs, spare_most(runs, 0));
}

void ordo_runs_trim_spare(struct ordo_runs *runs)
{
    limit_spare(runs, live_bytes(runs) > SPARE_LEAST ? live_bytes(runs) : SPARE_LEAST);
}

/* Puts one run in the place of all; none if `run` has none. */
static void replace(struct ordo_runs *runs, const struct ordo_sorted_run *run)
{
    const struct ordo_run_set old = runs->set;
    runs->set.n = run->mem != NULL;
    runs->set.run[0] = *run;
    for (size_t i = 0; i < old.n; i++) {
        struct ordo_sorted_run gone = old.run[i];
        ordo_runs_release(runs, &gone);
    }
}

void ordo_runs_clear(ordo_dict *dict)
{
    struct ordo_runs *runs = ordo_runs_of(dict);
    replace(runs, &(struct ordo_sorted_run) { .mem = NULL });
    ordo_runs_drop_spare(runs);
}

/* ---- runs from batches ------------------------------------------------------------------------------------------ */

ordo_status ordo_run_index(struct ordo_call *call, const ordo_dict *dict, struct ordo_sorted_run *run)
{
    if (run->indexed)
        return ORDO_OK;
    run->index = ordo_index_of(dict->dev, dict->key, ordo_run_keys(run), run->count);
    if (run->index.bytes) {
        run->index.nodes = run->mem;
        run->index.nodes_at = (run->layout.nodes / dict->key_bytes) >> run->index.node_log2;
    }
    ORDO_TRY(ordo_call_index(call, &run->index));
    run->indexed = true;
    return ORDO_OK;
}

/* All are tombstones. */
static ordo_status hide_all(struct ordo_call *call, struct ordo_sorted_run *run)
{
    run->has_hidden = true;
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

/* Gives the run's block back if `status` is an error, and returns it. */
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

static ordo_status take_into(struct ordo_call *call, const ordo_dict *dict, const struct ordo_sorted_updates *u,
                             struct ordo_sorted_run *run)
{
    const size_t   kb = dict->key_bytes, vb = dict->value_bytes;
    const cl_ulong erased_at = u->erased.at, hidden_at = run->layout.hidden / 4;
    const cl_uint  count = (cl_uint) u->count;
    ORDO_TRY(ordo_call_copy(call, u->keys.mem, u->keys.at * kb, run->mem, 0, u->count * kb));
    ORDO_TRY(ordo_call_copy(call, u->values.mem, u->values.at * vb, run->mem, run->layout.values, u->count * vb));
    if (!u->erased.mem)
        return ORDO_OK;
    run->has_hidden = true;
    return ordo_runs_launch(call, dict, "run_erased", ordo_ceil_div(u->count, 32),
                            ORDO_ARGS(ORDO_ARG(u->erased.mem), ORDO_ARG(erased_at), ORDO_ARG(count), ORDO_ARG(run->mem),
                                      ORDO_ARG(hidden_at)));
}

ordo_status ordo_runs_take(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_sorted_updates *updates,
                           struct ordo_sorted_run *out)
{
    ORDO_TRY(ordo_runs_block(runs, call, updates->count, out));
    out->distinct = updates->distinct;
    return keep_if_ok(runs, out, take_into(call, &runs->dict, updates, out));
}

/* ---- runs from runs ---------------------------------------------------------------------------------------------- */

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

static ordo_status merge_into(struct ordo_call *call, const ordo_dict *dict, enum ordo_merge_marks marks,
                              const struct ordo_sorted_run *in, size_t n, const struct ordo_merge_target *target)
{
    const struct ordo_merge_params params = { .key = dict->key, .value_bytes = dict->value_bytes };
    struct ordo_merge_source       source[ORDO_MAX_RUNS];
    sources_of(dict, in, n, source);
    return ordo_merge_runs_enqueue(call, &params, marks, source, n, target);
}

ordo_status ordo_runs_merge(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_sorted_run *in, size_t n,
                            struct ordo_sorted_run *out)
{
    size_t count = 0;
    bool   any_hidden = false, all_marked = true;
    for (size_t i = 0; i < n; i++) {
        count += in[i].count;
        any_hidden = any_hidden || in[i].has_hidden;
        all_marked = all_marked && in[i].marked;
    }
    ORDO_TRY(ordo_runs_block(runs, call, count, out));
    out->has_hidden = any_hidden;
    out->marked = all_marked;
    const struct ordo_merge_target target = { ordo_run_keys(out), ordo_run_values(&runs->dict, out),
                                              ordo_run_hidden(out) };
    return keep_if_ok(runs, out,
                      merge_into(call, &runs->dict, any_hidden ? ORDO_MARKS_KEEP : ORDO_MARKS_NONE, in, n, &target));
}

static ordo_status copy_run(struct ordo_call *call, const ordo_dict *dict, const struct ordo_sorted_run *run,
                            struct ordo_slice keys, struct ordo_slice values)
{
    const size_t kb = dict->key_bytes, vb = dict->value_bytes;
    ORDO_TRY(ordo_call_copy(call, run->mem, 0, keys.mem, keys.at * kb, run->count * kb));
    if (!values.mem)
        return ORDO_OK;
    return ordo_call_copy(call, run->mem, run->layout.values, values.mem, values.at * vb, run->count * vb);
}

/* Writes what is visible of a settled set; values may be ordo_none(). */
static ordo_status distil_into(struct ordo_call *call, const ordo_dict *dict, const struct ordo_run_set *set,
                               struct ordo_slice keys, struct ordo_slice values)
{
    const struct ordo_merge_target target = { keys, values, ordo_none() };
    if (ordo_run_set_is_clean(set))
        return copy_run(call, dict, &set->run[0], keys, values);
    return merge_into(call, dict, ORDO_MARKS_DISTIL, set->run, set->n, &target);
}

/* A new run of the `count` elements that are visible in a settled set; of none *out stays as it is. */
static ordo_status distil(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_run_set *set, size_t count,
                          struct ordo_sorted_run *out)
{
    if (count == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_runs_block(runs, call, count, out));
    out->distinct = out->marked = true;
    return keep_if_ok(runs, out,
                      distil_into(call, &runs->dict, set, ordo_run_keys(out), ordo_run_values(&runs->dict, out)));
}

ordo_status ordo_runs_distil(struct ordo_runs *runs, struct ordo_call *call, struct ordo_run_set *set,
                             struct ordo_sorted_run *out)
{
    size_t count = 0;
    *out = (struct ordo_sorted_run) { .mem = NULL };
    ORDO_TRY(ordo_run_set_size(call, &runs->dict, set, &count));
    return distil(runs, call, set, count, out);
}

static bool is_settled(const struct ordo_run_set *set)
{
    bool all = true;
    for (size_t r = 0; r < set->n; r++)
        all = all && set->run[r].marked;
    return all;
}

static ordo_status sift_into(struct ordo_call *call, const ordo_dict *dict, const struct ordo_run_set *set,
                             const struct ordo_sorted_run *run, size_t *count)
{
    const int                mark = call->n_scratch;
    struct ordo_merge_target target = { ordo_run_keys(run), ordo_run_values(dict, run), ordo_none(), NULL };
    cl_uint                  kept = 0;
    ORDO_TRY(ordo_call_scratch(call, sizeof kept, &target.kept));
    ORDO_TRY(merge_into(call, dict, ORDO_MARKS_SIFT, set->run, set->n, &target));
    ORDO_TRY(ordo_call_read(call, target.kept, 0, &kept, sizeof kept));
    ordo_call_release(call, mark);
    *count = kept;
    return ORDO_OK;
}

/* A new run of what is visible in the set, whose runs need not be settled, in a block with room for all that they have.
 * Waits. *out has no block if nothing is visible. */
static ordo_status sift(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_run_set *set,
                        struct ordo_sorted_run *out)
{
    ORDO_TRY(ordo_runs_block(runs, call, ordo_run_set_stored(set), out));
    ORDO_TRY(keep_if_ok(runs, out, sift_into(call, &runs->dict, set, out, &out->count)));
    out->distinct = out->marked = true;
    out->layout.bytes = layout_of(&runs->dict, out->count).bytes;
    if (out->count == 0)
        ordo_runs_release(runs, out);
    return ORDO_OK;
}

bool ordo_runs_can_sift(const struct ordo_runs *runs, size_t n_runs)
{
    const struct ordo_merge_params params = { .key = runs->dict.key, .value_bytes = runs->dict.value_bytes };
    return ordo_merge_can_sift(runs->dict.dev, &params, n_runs);
}

ordo_status ordo_runs_visible(struct ordo_runs *runs, struct ordo_call *call, struct ordo_run_set *set,
                              struct ordo_sorted_run *out)
{
    if (!is_settled(set) && ordo_runs_can_sift(runs, set->n)) {
        const ordo_status status = sift(runs, call, set, out);
        if (status != ORDO_NO_DEVICE_MEMORY)
            return status;
    }
    return ordo_runs_distil(runs, call, set, out);
}

ordo_status ordo_runs_export(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys_out,
                             struct ordo_slice values_out, size_t capacity, size_t *count)
{
    struct ordo_runs *runs = ordo_runs_of(dict);
    ORDO_TRY(ordo_run_set_size(call, dict, &runs->set, count));
    if (*count > capacity)
        return ordo_fail(call->dev, ORDO_TOO_SMALL, 0, __FILE__, __LINE__, "%zu elements, and room for %zu", *count,
                         capacity);
    return *count ? distil_into(call, dict, &runs->set, keys_out, values_out) : ORDO_OK;
}

/* ---- whole contents ---------------------------------------------------------------------------------------------- */

ordo_status ordo_runs_build(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys, struct ordo_slice values,
                            size_t count)
{
    struct ordo_runs      *runs = ordo_runs_of(dict);
    struct ordo_run_set    fresh = { .n = 1 };
    struct ordo_sorted_run run = { .mem = NULL };
    size_t                 distinct = 0;

    ORDO_TRY(ordo_runs_sort(runs, call, false, keys, values, count, &fresh.run[0]));
    ORDO_TRY(keep_if_ok(runs, &fresh.run[0], ordo_run_set_size(call, dict, &fresh, &distinct)));
    if (distinct == count) {
        fresh.run[0].distinct = true;
        fresh.run[0].has_hidden = false;
        replace(runs, &fresh.run[0]);
        return ORDO_OK;
    }
    const ordo_status status = distil(runs, call, &fresh, distinct, &run);
    ordo_runs_release(runs, &fresh.run[0]);
    ORDO_TRY(status);
    replace(runs, &run);
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
    ORDO_TRY(ordo_runs_distil(runs, call, &runs->set, &run));
    replace(runs, &run);
    return ORDO_OK;
}

/* What the caller wants is done by then, so a smaller block that is not to be had is no error. */
void ordo_runs_become(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_sorted_run *run)
{
    replace(runs, run);
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
    limit_spare(runs, little_spare(runs));
    return ORDO_OK;
}
