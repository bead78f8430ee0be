/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of sorts, indices and dictionaries of strings: see ask.h. */
#include "ask.h"

#include "dict/strings/string_dict.h"
#include "primitive/string_index.h"
#include "runtime/internal.h"

/* The numbers that reads of one word return while an index of strings is built: no bad row, 20 strings, 4 tests on the
 * second level, none above it. */
static const cl_uint string_answers[] = { 0, 20, 4, 0 };
static size_t        n_string_reads;

static void make_up_strings(cl_uint *to, size_t words)
{
    memset(to, 0, words * sizeof *to);
    if (words == 2) /* the bytes of all strings */
        to[0] = 1;
    else if (words == 1 && n_string_reads < COUNT_OF(string_answers))
        to[0] = string_answers[n_string_reads++];
}

static void ask_string_searches(const struct ordo_string_index *x, const struct arrays *a,
                                const struct ordo_strings *column)
{
    static const ordo_string_search searches[] = { ORDO_STRING_FIND, ORDO_STRING_LE, ORDO_STRING_LOWER,
                                                   ORDO_STRING_LONGEST_PREFIX };
    size_t                          needed = 0;
    for (size_t i = 0; i < COUNT_OF(searches); i++)
        ignore(ordo_string_index_search(x, searches[i], column, a->at[2], NULL));
    ignore(ordo_string_index_prefix(x, column, a->at[2], a->at[3], NULL));
    ignore(ordo_string_index_range(x, column, column, a->at[2], a->at[3], NULL));
    ignore(ordo_string_index_common(x, column, a->at[2], a->at[3], a->at[5], NULL));
    ignore(ordo_string_index_rows(x, a->at[2], a->at[3], column->count, NULL));
    ignore(ordo_string_index_strings(x, a->at[2], column->count, a->at[3], a->at[5], column->count, &needed, NULL));
}

/* Steps of updates that a made-up number would end, and all queries, on a dictionary of two made-up runs. */
static void ask_string_dict(ordo_device *dev, const struct arrays *a, struct ordo_string_index *x)
{
    const struct ordo_string_run      run = { x, a->at[6].mem, a->at[5].mem, (cl_uint) x->ids, (cl_uint) x->ids };
    ordo_string_dict                  dict = { .dev = dev, .value_bytes = 4, .runs = { { run, run }, 2 } };
    const struct ordo_string_elements out = { a->at[2], a->at[3], x->ids, a->at[5] };
    const struct ordo_string_runs     keep = dict.runs;
    struct ordo_string_run            made = { .count = run.count };
    struct ordo_call                  call;
    size_t                            count = 0, needed = 0;

    void (*const before)(cl_uint *, size_t) = no_driver.read;
    no_driver.read = make_up_strings;
    n_string_reads = 0;
    if (ordo_call_begin(&call, dev, NULL) != ORDO_OK)
        return;
    ignore(ordo_string_last_rows(&call, x, a->at[2].mem));
    ignore(ordo_string_run_show(&call, &made));
    ordo_string_run_release(dev, &made, NULL);
    ignore(ordo_call_end(&call, ORDO_OK));
    ignore(ordo_string_dict_find(&dict, &x->column, a->at[2], a->at[3], NULL));
    ignore(ordo_string_dict_search(&dict, ORDO_STRING_FIND, &x->column, a->at[2], NULL));
    ignore(ordo_string_dict_search(&dict, ORDO_STRING_LONGEST_PREFIX, &x->column, a->at[2], NULL));
    ignore(ordo_string_dict_prefix(&dict, &x->column, a->at[2], a->at[3], NULL));
    ignore(ordo_string_dict_select(&dict, a->at[0], x->ids, &out, ordo_none(), NULL, NULL));
    ignore(ordo_string_dict_export(&dict, &out, x->ids, &count, &needed, NULL));
    dict.runs.at[0].visible = dict.runs.at[1].visible = 0; /* as the counts that the checks read */
    n_string_reads = COUNT_OF(string_answers);
    ignore(ordo_string_dict_check(&dict, NULL));
    dict.runs = keep;
    if (dict.view)
        ordo_buffer_destroy(dev, &dict.view);
    if (ordo_call_begin(&call, dev, NULL) == ORDO_OK) {
        ignore(ordo_string_runs_hide(&call, &dict.runs, 2, &x->column, &keep));
        ignore(ordo_call_end(&call, ORDO_OK));
    }
    ordo_string_runs_release(dev, &dict.runs, &keep);
    ordo_last_call_forget(dev, &dict.last);
    no_driver.read = before;
}

static void ask_string_index(ordo_device *dev, const struct arrays *a, const struct ordo_strings *column,
                             const struct ordo_string_partial *partial)
{
    struct ordo_string_index            x = { .dev = dev,
                                              .column = *column,
                                              .ids = column->count,
                                              .words = a->at[4].mem,
                                              .n_rows = column->count,
                                              .partial = partial->key_bytes > 0 };
    struct ordo_string_index_statistics statistics;
    ordo_string_index                  *index = NULL;

    void (*const before)(cl_uint *, size_t) = no_driver.read;
    no_driver.read = make_up_strings;
    n_string_reads = 0;
    ignore(ordo_string_index_build(dev, ordo_string_index_params(.sorted = true, .partial = *partial), column, NULL,
                                   &index));
    ordo_string_index_destroy(&index);
    ignore(ordo_string_index_get_statistics(&x, &statistics));
    ask_string_searches(&x, a, column);
    no_driver.read = before;
    if (!x.partial)
        ask_string_dict(dev, a, &x);
}

void ask_strings(ordo_device *dev, const struct arrays *a, size_t count)
{
    for (uint32_t bytes = 4; bytes <= 8; bytes += 4) {
        const struct ordo_sort_strings_params params = { false };
        const struct ordo_strings             column = { a->at[0], bytes, a->at[1], count, count };
        ignore(ordo_sort_strings(dev, &params, &column, a->at[2], a->at[3], NULL));
        ask_string_index(dev, a, &column, &(struct ordo_string_partial) { 0 });
        ask_string_index(dev, a, &column, &(struct ordo_string_partial) { .key_bytes = 4 });
    }
}
