/* SPDX-License-Identifier: Apache-2.0 */
/* Applies batches of updates to a HAMT, and rebuilds it after many erasures. If each leaf gets at most HAMT_UPDATES_MAX
 * updates, merges the batch leaf by leaf (hamt_merge.c). */
#include "dict/trie/hamt.h"

#include "primitive/scan.h"

#define MODULE "dict/trie/hamt_update.cl"

struct touch {
    struct ordo_hamt_touched *out;
    cl_uint                   n, most;
    cl_mem                    leaf, number, units, sums;
};

/* t->leaf[i] becomes the leaf of update i. t->number[i] becomes the number of updates before i that are the first of
 * their leaf. */
static ordo_status place(struct ordo_call *call, const struct ordo_hamt *hamt, const struct ordo_sorted_run *batch,
                         struct touch *t)
{
    struct ordo_args place = ordo_hamt_args(&hamt->trie), heads = { .n = 0 };

    ORDO_TRY(ordo_call_scratch(call, t->n * sizeof(cl_uint), &t->leaf));
    ORDO_TRY(ordo_call_scratch(call, ((size_t) t->n + 1) * sizeof(cl_uint), &t->number));
    ORDO_ADD(&place, ORDO_ARG(batch->mem), ORDO_ARG(t->n), ORDO_ARG(t->leaf));
    const struct ordo_launch launch_place = ordo_hamt_kernel(hamt, MODULE, "hamt_place", t->n);
    ORDO_TRY(ordo_call_launch(call, &launch_place, &place));
    ORDO_ADD(&heads, ORDO_ARG(t->leaf), ORDO_ARG(t->n), ORDO_ARG(t->number));
    const struct ordo_launch launch_heads = ordo_hamt_kernel(hamt, MODULE, "hamt_place_heads", (size_t) t->n + 1);
    ORDO_TRY(ordo_call_launch(call, &launch_heads, &heads));
    return ordo_call_sum_before(call, ORDO_U32, t->number, (size_t) t->n + 1);
}

static ordo_status list(struct ordo_call *call, const struct ordo_hamt *hamt, struct touch *t)
{
    const size_t     most = (size_t) t->most + 1;
    struct ordo_args args = ordo_hamt_args(&hamt->trie);

    ORDO_TRY(ordo_call_scratch(call, most * sizeof(cl_uint), &t->units));
    ORDO_ADD(&args, ORDO_ARG(t->leaf), ORDO_ARG(t->number), ORDO_ARG(t->n), ORDO_ARG(t->most), ORDO_ARG(t->out->leaves),
             ORDO_ARG(t->out->firsts), ORDO_ARG(t->out->offsets), ORDO_ARG(t->units));
    const struct ordo_launch launch = ordo_hamt_kernel(hamt, MODULE, "hamt_touched", t->n > most ? t->n : most);
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    ORDO_TRY(ordo_call_sum_before(call, ORDO_U64, t->out->offsets, most));
    return ordo_call_sum_before(call, ORDO_U32, t->units, most);
}

static ordo_status read_sums(struct ordo_call *call, const struct ordo_hamt *hamt, struct touch *t)
{
    struct ordo_args args = { .n = 0 };
    cl_uint          sums[HAMT_SUM_WORDS] = { 0 };

    ORDO_TRY(ordo_call_scratch(call, sizeof sums, &t->sums));
    ORDO_ADD(&args, ORDO_ARG(t->number), ORDO_ARG(t->n), ORDO_ARG(t->out->offsets), ORDO_ARG(t->units),
             ORDO_ARG(t->most), ORDO_ARG(t->sums));
    const struct ordo_launch launch = ordo_hamt_kernel(hamt, MODULE, "hamt_sums", 1);
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    ORDO_TRY(ordo_call_read(call, t->sums, 0, sums, sizeof sums));
    if (ordo_is_dry_run(call->dev)) {
        sums[HAMT_TOUCHED] = sums[HAMT_ELEMENTS] = 1;
        sums[HAMT_FREED] = 0;
    }
    t->out->n = sums[HAMT_TOUCHED];
    t->out->elements = sums[HAMT_ELEMENTS];
    t->out->units = sums[HAMT_FREED];
    return ORDO_OK;
}

/* The trie must not be empty. */
static ordo_status touch(struct ordo_call *call, const struct ordo_hamt *hamt, const struct ordo_sorted_run *batch,
                         struct ordo_hamt_touched *out)
{
    struct touch t = { .out = out, .n = (cl_uint) batch->count };

    t.most = (cl_uint) ordo_min_size(t.n, hamt->trie.n_leaves);
    ORDO_TRY(ordo_call_scratch(call, t.most * sizeof(cl_uint), &out->leaves));
    ORDO_TRY(ordo_call_scratch(call, t.most * sizeof(cl_uint), &out->firsts));
    ORDO_TRY(ordo_call_scratch(call, ((size_t) t.most + 1) * sizeof(cl_ulong), &out->offsets));
    const int mark = call->n_scratch;
    ORDO_TRY(place(call, hamt, batch, &t));
    ORDO_TRY(list(call, hamt, &t));
    ORDO_TRY(read_sums(call, hamt, &t));
    ordo_call_release(call, mark);
    return ORDO_OK;
}

ordo_status ordo_hamt_build_of(struct ordo_call *call, struct ordo_hamt *hamt, const struct ordo_sorted_run *run,
                               bool reserve)
{
    ORDO_TRY(ordo_hamt_assemble(call, hamt, NULL, run, reserve));
    ordo_hamt_note_built(hamt);
    return ORDO_OK;
}

ordo_status ordo_hamt_build(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys, struct ordo_slice values,
                            size_t count)
{
    struct ordo_hamt      *hamt = ordo_hamt_of(dict);
    struct ordo_sorted_run run;

    ORDO_TRY(ordo_runs_sort_distinct(&hamt->runs, call, keys, values, count, &run));
    ordo_hamt_drop_spare(hamt); /* They have more bytes than the new trie needs. */
    const ordo_status status = ordo_hamt_build_of(call, hamt, &run, false);
    ordo_runs_release(&hamt->runs, &run);
    ordo_runs_drop_spare(&hamt->runs);
    ordo_hamt_drop_spare(hamt);
    return status;
}

static ordo_status rebuild(struct ordo_call *call, struct ordo_hamt *hamt, bool reserve)
{
    struct ordo_sorted_run all;

    ORDO_TRY(ordo_runs_block(&hamt->runs, call, hamt->trie.n, &all));
    const struct ordo_hamt_slices s = { .count = 1,
                                        .most = hamt->trie.n,
                                        .keys_out = ordo_run_keys(&all),
                                        .values_out = ordo_run_values(&hamt->dict, &all) };
    ordo_status                   status = ordo_hamt_write(call, hamt, &s);
    if (status == ORDO_OK)
        status = ordo_hamt_build_of(call, hamt, &all, reserve);
    hamt->rebuilds += status == ORDO_OK;
    ordo_runs_release(&hamt->runs, &all);
    return status;
}

ordo_status ordo_hamt_compact(ordo_dict *dict, struct ordo_call *call)
{
    struct ordo_hamt *hamt = ordo_hamt_of(dict);

    ordo_hamt_drop_spare(hamt);
    const ordo_status status = hamt->trie.n ? rebuild(call, hamt, false) : ORDO_OK;

    ordo_runs_drop_spare(&hamt->runs);
    ordo_hamt_drop_spare(hamt);
    return status;
}

#define LEAVES_MIN 64

static bool is_due(const struct ordo_hamt *hamt)
{
    const size_t n = hamt->trie.n, leaves = hamt->trie.n_leaves;
    if (leaves <= LEAVES_MIN)
        return false;
    return n < hamt->most_elements / 4 || (double) leaves * (double) hamt->built_elements >
                                              2.0 * (double) hamt->built_leaves * (double) n + LEAVES_MIN;
}

/* If the rebuild fails, logs a warning and returns no error, because the batch is already stored. */
static void rebuild_if_due(struct ordo_call *call, struct ordo_hamt *hamt)
{
    const int mark = call->n_scratch;

    if (!is_due(hamt))
        return;
    if (rebuild(call, hamt, true) == ORDO_OK)
        return;
    ordo_call_abandon(call, mark);
    ordo_log(call->dev, ORDO_LOG_WARNING,
             "hamt: not rebuilt after erasures, so it uses more memory than its elements need");
}

static ordo_status take_out(struct ordo_call *call, struct ordo_hamt *hamt, const struct ordo_hamt_touched *touched,
                            struct ordo_sorted_run *out)
{
    ORDO_TRY(ordo_run_scratch(call, &hamt->dict, touched->elements, out));
    out->distinct = true;
    const struct ordo_hamt_slices s = { .offsets = ordo_at(touched->offsets, 0),
                                        .firsts = touched->firsts,
                                        .count = touched->n,
                                        .most = touched->elements,
                                        .keys_out = ordo_run_keys(out),
                                        .values_out = ordo_run_values(&hamt->dict, out) };
    return ordo_hamt_write(call, hamt, &s);
}

static ordo_status merge(struct ordo_call *call, struct ordo_hamt *hamt, const struct ordo_hamt_touched *touched,
                         const struct ordo_sorted_run *batch, struct ordo_sorted_run *out)
{
    const int           mark = call->n_scratch;
    struct ordo_run_set set = { .n = 0 };
    ordo_status         status = ORDO_OK;

    if (touched) {
        status = take_out(call, hamt, touched, &set.run[set.n++]);
    }
    set.run[set.n++] = *batch;
    if (status == ORDO_OK)
        status = ordo_runs_visible(&hamt->runs, call, &set, out);
    if (status != ORDO_OK)
        return status;
    ordo_call_release(call, mark);
    const size_t stays = touched ? hamt->trie.n - touched->elements : 0;
    if (stays + out->count <= ORDO_MAX_COUNT)
        return ORDO_OK;
    ordo_runs_release(&hamt->runs, out);
    return ORDO_FAIL(call->dev, ORDO_TOO_LARGE, "%zu elements: a dictionary may have %zu (ORDO_MAX_COUNT)",
                     stays + out->count, ORDO_MAX_COUNT);
}

static ordo_status store_by_elements(struct ordo_call *call, struct ordo_hamt *hamt,
                                     const struct ordo_sorted_run *batch)
{
    struct ordo_hamt_touched touched = { .n = 0 };
    struct ordo_sorted_run   run = { .mem = NULL };
    const bool               empty = hamt->trie.n_leaves == 0;

    if (!empty)
        ORDO_TRY(touch(call, hamt, batch, &touched));
    ORDO_TRY(merge(call, hamt, empty ? NULL : &touched, batch, &run));
    const ordo_status status =
        empty ? ordo_hamt_build_of(call, hamt, &run, true) : ordo_hamt_assemble(call, hamt, &touched, &run, true);
    ordo_runs_release(&hamt->runs, &run);
    return status;
}

static ordo_status store(struct ordo_call *call, struct ordo_hamt *hamt, const struct ordo_sorted_run *batch)
{
    bool done = false;

    if (hamt->trie.n_leaves > 0)
        ORDO_TRY(ordo_hamt_merge(call, hamt, batch, &done));
    return done && !ordo_is_dry_run(call->dev) ? ORDO_OK : store_by_elements(call, hamt, batch);
}

/* Unused blocks of runs take at most 1 / SPARE_ONE_IN of the pool's bytes. */
#define SPARE_ONE_IN 8

static ordo_status store_run(struct ordo_call *call, struct ordo_hamt *hamt, const struct ordo_sorted_run *batch)
{
    const ordo_status status = store(call, hamt, batch);

    if (status == ORDO_OK)
        rebuild_if_due(call, hamt);
    ordo_runs_limit_spare(&hamt->runs, hamt->trie.pool.bytes / SPARE_ONE_IN);
    return status;
}

ordo_status ordo_hamt_update(ordo_dict *dict, struct ordo_call *call, bool erase, struct ordo_slice keys,
                             struct ordo_slice values, size_t count)
{
    struct ordo_hamt      *hamt = ordo_hamt_of(dict);
    struct ordo_sorted_run batch;

    if (erase && hamt->trie.n_leaves == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_run_sort_scratch(call, dict, erase, keys, values, count, &batch));
    return store_run(call, hamt, &batch);
}

ordo_status ordo_hamt_update_sorted(ordo_dict *dict, struct ordo_call *call, const struct ordo_sorted_updates *updates)
{
    struct ordo_hamt      *hamt = ordo_hamt_of(dict);
    struct ordo_sorted_run batch;

    ORDO_TRY(ordo_run_take_scratch(call, dict, updates, &batch));
    return store_run(call, hamt, &batch);
}
