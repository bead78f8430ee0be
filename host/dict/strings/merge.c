/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/strings/string_dict.h"

/* ---- the order of several runs ------------------------------------------------------------------------------- */

/* A run, and the ranks of its strings. One buffer has the ranks of all runs. ranks.at is the index of this run's first
 * rank. */
struct ranked {
    const struct ordo_string_run *run;
    struct ordo_slice             ranks;
};

/* For each string of two runs, adds to its rank the number of lesser visible strings of the other run. */
static ordo_status rank_pair(struct ordo_call *call, const struct ranked *a, const struct ranked *b, cl_mem lower)
{
    const struct ranked *few = a->run->count < b->run->count ? a : b, *many = few == a ? b : a;
    const cl_uint        words = STRING_MARKS(few->run->count);
    struct ordo_args     args = { .n = 0 };
    ORDO_TRY(ordo_call_search_strings(call, many->run->index, ORDO_STRING_LOWER, &few->run->index->column,
                                      ordo_at(lower, 0)));
    ORDO_TRY(ordo_string_run_add(call, many->run, lower, few->run->count, &few->ranks));
    ORDO_ADD(&args, ORDO_ARG(lower), ORDO_ARG(few->run->count), ORDO_ARG(few->run->marks), ORDO_ARG(words),
             ORDO_ARG(many->run->count));
    ordo_args_slice(&args, &many->ranks);
    return ordo_string_launch(call, "string_dict_add_smaller", many->run->count, &args);
}

static ordo_status write_places(struct ordo_call *call, const struct ranked *r, cl_mem places)
{
    const cl_uint    base = (cl_uint) r->ranks.at;
    struct ordo_args args = { .n = 0 };
    ordo_args_slice(&args, &r->ranks);
    ORDO_ADD(&args, ORDO_ARG(r->run->count), ORDO_ARG(r->run->marks), ORDO_ARG(base), ORDO_ARG(places));
    return ordo_string_launch(call, "string_dict_place", r->run->count, &args);
}

static ordo_status rank_all(struct ordo_call *call, const struct ranked *r, cl_uint n, cl_mem lower)
{
    for (cl_uint i = 0; i < n; i++) {
        ORDO_TRY(ordo_string_run_add(call, r[i].run, NULL, r[i].run->count, &r[i].ranks));
        for (cl_uint k = 0; k < i; k++)
            ORDO_TRY(rank_pair(call, &r[k], &r[i], lower));
    }
    return ORDO_OK;
}

ordo_status ordo_string_order(struct ordo_call *call, const struct ordo_string_runs *runs, cl_uint from, cl_mem places)
{
    const size_t  stored = ordo_string_runs_stored(runs, from), bytes = stored * sizeof(cl_uint);
    const int     mark = call->n_scratch;
    const cl_uint n = runs->n - from;
    struct ranked r[ORDO_STRING_RUNS_MAX];
    cl_mem        ranks = NULL, lower = NULL;
    ORDO_REQUIRE(call->dev, stored < UINT32_MAX, ORDO_TOO_LARGE, "the runs have %zu strings, also stale ones", stored);
    ORDO_TRY(ordo_call_scratch(call, bytes, &ranks));
    ORDO_TRY(ordo_call_scratch(call, bytes, &lower));
    ORDO_TRY(ordo_call_fill(call, ranks, 0, bytes, 0));
    for (size_t i = 0, base = 0; i < n; base += runs->at[from + i++].count)
        r[i] = (struct ranked) { &runs->at[from + i], ordo_at(ranks, base) };
    ORDO_TRY(rank_all(call, r, n, lower));
    for (cl_uint i = 0; i < n; i++)
        ORDO_TRY(write_places(call, &r[i], places));
    ordo_call_release(call, mark);
    return ORDO_OK;
}

/* ---- new runs ------------------------------------------------------------------------------------------------ */

static ordo_status hold(ordo_string_index *index, size_t bytes, cl_mem *mem)
{
    ORDO_TRY(ordo_buffer_create(index->dev, bytes, mem));
    index->bytes_held += bytes;
    return ORDO_OK;
}

static ordo_status fill_run(struct ordo_call *call, struct ordo_string_gather *g, struct ordo_string_run *run)
{
    cl_ulong total = 0;
    ORDO_TRY(ordo_string_index_create(call->dev, &run->index));
    ordo_string_index *x = run->index;
    ORDO_TRY(hold(x, ((size_t) g->count + 1) * sizeof total, &x->offsets));
    g->offsets = ordo_at(x->offsets, 0);
    ORDO_TRY(ordo_string_gather_lengths(call, g, &total));
    ORDO_TRY(hold(x, (size_t) total, &x->bytes));
    g->bytes = total ? ordo_at(x->bytes, 0) : ordo_none();
    if (g->value_bytes) {
        ORDO_TRY(ordo_buffer_create(call->dev, (size_t) g->count * g->value_bytes, &run->values));
        g->values = ordo_at(run->values, 0);
    }
    ORDO_TRY(ordo_string_gather_copy(call, g));
    x->column = (struct ordo_strings) { g->offsets, sizeof total, ordo_at(x->bytes, 0), (size_t) total, g->count };
    run->count = g->count;
    return ordo_string_run_show(call, run);
}

/* Moves the trie of a batch's index to the index of a run with the same strings. */
static void take_words(ordo_string_index *from, ordo_string_index *to)
{
    const size_t rows = from->n_rows + (from->starts ? from->ids + 1 : 0);
    to->words = from->words;
    to->ids = to->n_rows = from->ids;
    to->levels = from->levels;
    to->branches = from->branches;
    to->bytes_held += from->bytes_held - rows * sizeof(cl_uint);
    from->words = NULL;
}

ordo_status ordo_string_last_rows(struct ordo_call *call, const ordo_string_index *batch, cl_mem places)
{
    const cl_uint    n = (cl_uint) batch->ids;
    struct ordo_args args = { .n = 0 };
    ORDO_ADD(&args, ORDO_ARG(batch->starts), ORDO_ARG(batch->rows), ORDO_ARG(n), ORDO_ARG(places));
    return ordo_string_launch(call, "string_dict_last", n, &args);
}

static ordo_status copy_batch(struct ordo_call *call, const ordo_string_dict *dict, ordo_string_index *batch,
                              struct ordo_slice values, struct ordo_string_run *out)
{
    struct ordo_string_gather g = { .n_sources = 1, .count = (cl_uint) batch->ids, .value_bytes = dict->value_bytes };
    const int                 mark = call->n_scratch;
    g.source[0] = (struct ordo_string_source) { batch->column, values };
    ORDO_TRY(ordo_call_scratch(call, g.count * sizeof g.count, &g.places));
    ORDO_TRY(ordo_string_last_rows(call, batch, g.places));
    ORDO_TRY(fill_run(call, &g, out));
    ordo_call_release(call, mark);
    take_words(batch, out->index);
    return ORDO_OK;
}

ordo_status ordo_string_run_of(struct ordo_call *call, const ordo_string_dict *dict, const struct ordo_strings *batch,
                               struct ordo_slice values, struct ordo_string_run *out)
{
    const struct ordo_string_index_params params = { .keep_rows = true };
    ordo_string_index                    *index = NULL;
    const int                             mark = call->n_scratch;
    *out = (struct ordo_string_run) { .index = NULL };
    ORDO_TRY(ordo_string_index_create(call->dev, &index));
    index->column = *batch;
    ordo_status status = ordo_call_build_strings(call, &params, index);
    if (status == ORDO_OK) {
        ordo_call_release(call, mark);
        status = copy_batch(call, dict, index, values, out);
    }
    ordo_string_index_destroy(&index);
    if (status != ORDO_OK)
        ordo_string_run_release(call->dev, out, NULL);
    return status;
}

static ordo_status merge(struct ordo_call *call, const ordo_string_dict *dict, const struct ordo_string_runs *runs,
                         cl_uint from, struct ordo_string_run *out)
{
    const struct ordo_string_index_params params = { .sorted = true };
    struct ordo_string_gather             g = { .value_bytes = dict->value_bytes };
    const int                             mark = call->n_scratch;
    ordo_string_gather_from(&g, runs, from);
    g.count = (cl_uint) ordo_string_runs_visible(runs, from);
    ORDO_TRY(ordo_call_scratch(call, g.count * sizeof g.count, &g.places));
    ORDO_TRY(ordo_string_order(call, runs, from, g.places));
    ORDO_TRY(fill_run(call, &g, out));
    ordo_call_release(call, mark);
    ORDO_TRY(ordo_call_build_strings(call, &params, out->index));
    ORDO_REQUIRE(call->dev, out->index->ids == g.count, ORDO_DEVICE_FAILED, "%zu of %u merged strings are distinct",
                 out->index->ids, g.count);
    ordo_call_release(call, mark);
    return ORDO_OK;
}

ordo_status ordo_string_merge(struct ordo_call *call, const ordo_string_dict *dict, struct ordo_string_runs *runs,
                              cl_uint from)
{
    struct ordo_string_run merged = { .index = NULL };
    const bool             any = ordo_string_runs_visible(runs, from) > 0;
    const ordo_status      status = any ? merge(call, dict, runs, from, &merged) : ORDO_OK;
    if (status != ORDO_OK) {
        ordo_string_run_release(call->dev, &merged, NULL);
        return status;
    }
    for (cl_uint i = from; i < runs->n; i++)
        ordo_string_run_release(call->dev, &runs->at[i], &dict->runs);
    runs->n = from;
    if (any)
        runs->at[runs->n++] = merged;
    return ORDO_OK;
}
