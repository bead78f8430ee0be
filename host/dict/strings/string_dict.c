/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/strings/string_dict.h"

#include <stdlib.h>

ordo_status ordo_string_dict_begin(struct ordo_call *call, ordo_string_dict *dict, const struct ordo_order *order,
                                   bool waits)
{
    return ordo_call_begin_alone(call, dict->dev, order, &dict->last, waits);
}

/* Must follow each successful ordo_string_dict_begin, even after an error, because commands may be enqueued. */
ordo_status ordo_string_dict_end(struct ordo_call *call, ordo_string_dict *dict, ordo_status status)
{
    ordo_call_remember(call, &dict->last);
    return ordo_call_end(call, status);
}

/* ---- creation ------------------------------------------------------------------------------------------------ */

ordo_status ordo_string_dict_create(ordo_device *dev, const struct ordo_string_dict_config *config,
                                    ordo_string_dict **out)
{
    ORDO_REQUIRE_GIVEN(dev, out);
    *out = NULL;
    ORDO_REQUIRE_GIVEN(dev, dev);
    ORDO_TRY(ordo_device_check_fork(dev));
    ORDO_REQUIRE_GIVEN(dev, config);
    ORDO_TRY(ordo_check_value_bytes(dev, config->value_bytes));
    ordo_string_dict *dict = calloc(1, sizeof *dict);
    ORDO_REQUIRE_MEMORY(dev, dict);
    ordo_device_hold(dev);
    dict->dev = dev;
    dict->value_bytes = config->value_bytes;
    *out = dict;
    return ORDO_OK;
}

static void release_content(ordo_string_dict *dict)
{
    ordo_string_runs_release(dict->dev, &dict->runs, NULL);
    if (dict->view)
        ordo_buffer_destroy(dict->dev, &dict->view);
}

void ordo_string_dict_destroy(ordo_string_dict **dict)
{
    if (!dict || !*dict)
        return;
    ordo_device *dev = (*dict)->dev;
    release_content(*dict);
    ordo_last_call_forget(dev, &(*dict)->last);
    free(*dict);
    *dict = NULL;
    ordo_device_release(dev);
}

ordo_status ordo_string_dict_clear(ordo_string_dict *dict)
{
    struct ordo_call call;
    ORDO_REQUIRE_GIVEN(NULL, dict);
    ORDO_TRY(ordo_call_begin(&call, dict->dev, NULL));
    release_content(dict);
    return ordo_call_end(&call, ORDO_OK);
}

ordo_status ordo_string_dict_size(ordo_string_dict *dict, size_t *out)
{
    struct ordo_call call;
    ORDO_REQUIRE_GIVEN(NULL, dict);
    ORDO_REQUIRE_GIVEN(dict->dev, out);
    ORDO_TRY(ordo_call_begin(&call, dict->dev, NULL));
    *out = ordo_string_runs_visible(&dict->runs, 0);
    return ordo_call_end(&call, ORDO_OK);
}

/* ---- statistics ---------------------------------------------------------------------------------------------- */

static void add_run(const ordo_string_dict *dict, const struct ordo_string_run *run,
                    struct ordo_string_dict_statistics *out)
{
    const struct ordo_strings *column = &run->index->column;
    const size_t               strings = (column->count + 1) * column->offset_bytes + column->n_bytes;
    out->bytes_strings += strings;
    out->bytes_index += run->index->bytes_held - strings;
    out->bytes_values += (size_t) run->count * dict->value_bytes;
    out->bytes_marks += ordo_string_marks_bytes(run->count);
}

ordo_status ordo_string_dict_get_statistics(ordo_string_dict *dict, struct ordo_string_dict_statistics *out)
{
    struct ordo_call call;
    ORDO_REQUIRE_GIVEN(NULL, dict);
    ORDO_REQUIRE_GIVEN(dict->dev, out);
    ORDO_TRY(ordo_call_begin(&call, dict->dev, NULL));
    const struct ordo_string_runs *runs = &dict->runs;
    const size_t                   visible = ordo_string_runs_visible(runs, 0);
    *out = (struct ordo_string_dict_statistics) { .strings = visible,
                                                  .stale = ordo_string_runs_stored(runs, 0) - visible,
                                                  .runs = runs->n,
                                                  .cleanups = dict->cleanups };
    for (cl_uint i = 0; i < runs->n; i++)
        add_run(dict, &runs->at[i], out);
    out->bytes_marks += dict->view ? visible * sizeof(cl_uint) : 0;
    return ordo_call_end(&call, ORDO_OK);
}

/* ---- checks -------------------------------------------------------------------------------------------------- */

struct checks {
    struct ordo_call              *call;
    const struct ordo_string_runs *runs;
    cl_mem                         ids, bad;
};

/* Launches a kernel that looks for violations among n items. Its last argument becomes c->bad. */
static ordo_status look(const struct checks *c, const char *kernel, cl_uint n, struct ordo_args *args,
                        const char *violation, cl_uint run)
{
    cl_uint bad = 0;
    ORDO_TRY(ordo_call_fill(c->call, c->bad, 0, sizeof bad, 0));
    ORDO_ADD(args, ORDO_ARG(c->bad));
    ORDO_TRY(ordo_string_launch(c->call, kernel, n, args));
    ORDO_TRY(ordo_call_read(c->call, c->bad, 0, &bad, sizeof bad));
    ORDO_REQUIRE(c->call->dev, bad == 0, ORDO_BROKEN, "run %u: %s %u", run, violation, n - bad);
    return ORDO_OK;
}

static ordo_status check_index(const struct checks *c, cl_uint i)
{
    const struct ordo_string_run *run = &c->runs->at[i];
    struct ordo_args              args = { .n = 0 };
    ORDO_TRY(ordo_call_search_strings(c->call, run->index, ORDO_STRING_FIND, &run->index->column, ordo_at(c->ids, 0)));
    ORDO_ADD(&args, ORDO_ARG(c->ids), ORDO_ARG(run->count));
    return look(c, "string_dict_check_ids", run->count, &args, "D1: the index does not find string", i);
}

static ordo_status check_marks(const struct checks *c, cl_uint i)
{
    const struct ordo_string_run *run = &c->runs->at[i];
    const cl_uint                 words = STRING_MARKS(run->count);
    struct ordo_args              args = { .n = 0 };
    cl_uint                       visible = 0;
    ORDO_ADD(&args, ORDO_ARG(run->marks), ORDO_ARG(words), ORDO_ARG(run->count));
    ORDO_TRY(look(c, "string_dict_check_marks", words, &args, "D2: bad marks in word", i));
    ORDO_TRY(ordo_call_read(c->call, run->marks, 2 * (size_t) words * sizeof visible, &visible, sizeof visible));
    ORDO_REQUIRE(c->call->dev, visible == run->visible, ORDO_BROKEN, "run %u: D2: %u visible strings, not %u", i,
                 visible, run->visible);
    return ORDO_OK;
}

/* Searches the strings of run i in run k. */
static ordo_status check_apart(const struct checks *c, cl_uint i, cl_uint k)
{
    const struct ordo_string_run *run = &c->runs->at[i], *other = &c->runs->at[k];
    struct ordo_args              args = { .n = 0 };
    ORDO_TRY(
        ordo_call_search_strings(c->call, other->index, ORDO_STRING_FIND, &run->index->column, ordo_at(c->ids, 0)));
    ORDO_ADD(&args, ORDO_ARG(c->ids), ORDO_ARG(run->count), ORDO_ARG(run->marks), ORDO_ARG(other->marks));
    return look(c, "string_dict_check_apart", run->count, &args, "D3: an older run also has string", i);
}

static ordo_status check_all(struct ordo_call *call, const struct ordo_string_runs *runs)
{
    struct checks c = { .call = call, .runs = runs };
    if (runs->n == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_call_scratch(call, ordo_string_runs_stored(runs, 0) * sizeof(cl_uint), &c.ids));
    ORDO_TRY(ordo_call_scratch(call, sizeof(cl_uint), &c.bad));
    for (cl_uint i = 0; i < runs->n; i++) {
        ORDO_TRY(check_index(&c, i));
        ORDO_TRY(check_marks(&c, i));
        for (cl_uint k = 0; k < i; k++)
            ORDO_TRY(check_apart(&c, i, k));
    }
    return ORDO_OK;
}

ordo_status ordo_string_dict_check(ordo_string_dict *dict, const struct ordo_order *order)
{
    struct ordo_call call;
    ORDO_REQUIRE_GIVEN(NULL, dict);
    ORDO_TRY(ordo_string_dict_begin(&call, dict, order, true));
    return ordo_string_dict_end(&call, dict, check_all(&call, &dict->runs));
}
