/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/strings/string_dict.h"

struct update {
    enum { REPLACE, UPSERT, ERASE, CLEAN } kind;
    ordo_string_dict          *dict;
    const struct ordo_strings *strings;
    struct ordo_slice          values;
    struct ordo_string_runs    next; /* the runs after the update */
    bool                       cleaned;
};

/* ---- merges -------------------------------------------------------------------------------------------------- */

static bool is_stale(const struct ordo_string_runs *runs)
{
    return ordo_string_runs_stored(runs, 0) > 2 * ordo_string_runs_visible(runs, 0);
}

/* Returns the index of the oldest run to merge. The caller merges it with all newer runs. */
static cl_uint first_to_merge(const struct ordo_string_runs *runs)
{
    cl_uint from = runs->n - 1;
    size_t  merged = runs->at[from].visible;
    while (from > 0 && runs->at[from - 1].count <= ORDO_STRING_GROWTH * merged)
        merged += runs->at[--from].visible;
    return from;
}

static ordo_status clean(struct ordo_call *call, struct update *u)
{
    if (u->next.n == 0 || ordo_string_runs_plain(&u->next))
        return ORDO_OK;
    ORDO_TRY(ordo_string_merge(call, u->dict, &u->next, 0));
    u->cleaned = true;
    return ORDO_OK;
}

static ordo_status merge_newest(struct ordo_call *call, struct update *u)
{
    const cl_uint from = first_to_merge(&u->next);
    return from + 1 < u->next.n ? ordo_string_merge(call, u->dict, &u->next, from) : ORDO_OK;
}

/* A dictionary whose merges lack memory keeps its runs. */
static ordo_status merge(struct ordo_call *call, struct update *u)
{
    bool lacked = false;
    if (u->next.n == 0)
        return ORDO_OK;
    if (is_stale(&u->next))
        ORDO_CALL_TRY(call, clean(call, u), &lacked);
    else
        ORDO_CALL_TRY(call, merge_newest(call, u), &lacked);
    return ORDO_OK;
}

/* ---- the steps of an update ---------------------------------------------------------------------------------- */

static ordo_status store(struct ordo_call *call, struct update *u)
{
    ordo_string_dict *dict = u->dict;
    ORDO_REQUIRE(dict->dev, u->next.n < ORDO_STRING_RUNS_MAX, ORDO_NO_DEVICE_MEMORY,
                 "the dictionary has %u runs, which could not be merged: free memory for ordo_string_dict_cleanup",
                 u->next.n);
    ORDO_TRY(ordo_string_run_of(call, dict, u->strings, u->values, &u->next.at[u->next.n]));
    u->next.n++;
    if (u->next.n > 1)
        ORDO_TRY(ordo_string_runs_hide(call, &u->next, u->next.n - 1, u->strings, &dict->runs));
    const size_t visible = ordo_string_runs_visible(&u->next, 0);
    ORDO_REQUIRE(dict->dev, visible <= ORDO_MAX_COUNT, ORDO_TOO_LARGE, "the dictionary would have %zu strings",
                 visible);
    return merge(call, u);
}

static ordo_status erase(struct ordo_call *call, struct update *u)
{
    ORDO_TRY(ordo_call_check_strings(call, u->strings));
    if (u->next.n == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_string_runs_hide(call, &u->next, u->next.n, u->strings, &u->dict->runs));
    return is_stale(&u->next) ? merge(call, u) : ORDO_OK;
}

/* Waits for the commands that make the new runs. */
static ordo_status confirm(struct ordo_call *call, const struct ordo_string_runs *runs)
{
    if (runs->n == 0)
        return ORDO_OK;
    const struct ordo_string_run *run = &runs->at[runs->n - 1];
    const size_t                  at = 2 * (size_t) STRING_MARKS(run->count) * sizeof(cl_uint);
    cl_uint                       visible = 0;
    ORDO_TRY(ordo_call_read(call, run->marks, at, &visible, sizeof visible));
    ORDO_REQUIRE(call->dev, visible == run->visible, ORDO_DEVICE_FAILED, "%u strings are visible, but %u were stored",
                 visible, run->visible);
    return ORDO_OK;
}

static ordo_status make_next(struct ordo_call *call, struct update *u)
{
    u->next = u->dict->runs;
    switch (u->kind) {
    case REPLACE:
        u->next.n = 0;
        if (u->strings->count)
            ORDO_TRY(store(call, u));
        break;
    case UPSERT:
        if (u->strings->count)
            ORDO_TRY(store(call, u));
        break;
    case ERASE:
        if (u->strings->count)
            ORDO_TRY(erase(call, u));
        break;
    case CLEAN:
        ORDO_TRY(clean(call, u));
        break;
    }
    return confirm(call, &u->next);
}

static ordo_status check(const struct update *u)
{
    if (u->kind == CLEAN)
        return ORDO_OK;
    const size_t            value_bytes = u->kind == ERASE ? 0 : u->dict->value_bytes;
    const struct ordo_array arrays[] = { ordo_strings_offsets(u->strings),
                                         ordo_strings_bytes(u->strings),
                                         { "values", u->values, u->strings->count, value_bytes } };
    return ordo_check_arrays(u->dict->dev, arrays, 3, 0);
}

static void replace(struct update *u)
{
    ordo_string_dict       *dict = u->dict;
    struct ordo_string_runs old = dict->runs;
    dict->runs = u->next;
    dict->cleanups += u->cleaned;
    if (dict->view)
        ordo_buffer_destroy(dict->dev, &dict->view);
    ordo_string_runs_release(dict->dev, &old, &dict->runs);
}

static ordo_status run(struct update *u, const struct ordo_order *order)
{
    struct ordo_call call;
    ORDO_REQUIRE_GIVEN(NULL, u->dict);
    if (u->kind != CLEAN)
        ORDO_TRY(ordo_strings_check(u->dict->dev, u->strings));
    ORDO_TRY(ordo_string_dict_begin(&call, u->dict, order, true));
    ordo_status status = check(u);
    if (status == ORDO_OK) {
        status = make_next(&call, u);
        if (status == ORDO_OK)
            replace(u);
        else
            ordo_string_runs_release(u->dict->dev, &u->next, &u->dict->runs);
    }
    return ordo_string_dict_end(&call, u->dict, status);
}

/* Sets `copied`, so that kernels read copies of the caller's arrays. */
static ordo_status run_host(const struct update *u, const struct ordo_host_strings *strings, const void *values)
{
    struct ordo_host_array a[3];
    struct ordo_call       call;
    ORDO_REQUIRE_GIVEN(NULL, u->dict);
    ordo_device *dev = u->dict->dev;
    ORDO_TRY(ordo_strings_check_host(dev, strings));
    ordo_strings_host(strings, a);
    a[2] = ordo_host_in(values, strings->count, u->kind == ERASE ? 0 : u->dict->value_bytes);
    for (int i = 0; i < 3; i++)
        a[i].copied = true;
    ORDO_TRY(ordo_host_begin(&call, dev, &u->dict->last, a, 3));
    const struct ordo_strings on_device = ordo_strings_device(strings, a);
    struct update             inner = { .kind = u->kind, .dict = u->dict, .strings = &on_device, .values = a[2].slice };
    return ordo_host_end(&call, a, 3, run(&inner, NULL));
}

/* ---- calls --------------------------------------------------------------------------------------------------- */

ordo_status ordo_string_dict_build(ordo_string_dict *dict, const struct ordo_strings *strings, struct ordo_slice values,
                                   const struct ordo_order *order)
{
    struct update u = { .kind = REPLACE, .dict = dict, .strings = strings, .values = values };
    return run(&u, order);
}

ordo_status ordo_string_dict_build_host(ordo_string_dict *dict, const struct ordo_host_strings *strings,
                                        const void *values)
{
    const struct update u = { .kind = REPLACE, .dict = dict };
    return run_host(&u, strings, values);
}

ordo_status ordo_string_dict_upsert(ordo_string_dict *dict, const struct ordo_strings *strings,
                                    struct ordo_slice values, const struct ordo_order *order)
{
    struct update u = { .kind = UPSERT, .dict = dict, .strings = strings, .values = values };
    return run(&u, order);
}

ordo_status ordo_string_dict_upsert_host(ordo_string_dict *dict, const struct ordo_host_strings *strings,
                                         const void *values)
{
    const struct update u = { .kind = UPSERT, .dict = dict };
    return run_host(&u, strings, values);
}

ordo_status ordo_string_dict_erase(ordo_string_dict *dict, const struct ordo_strings *strings,
                                   const struct ordo_order *order)
{
    struct update u = { .kind = ERASE, .dict = dict, .strings = strings };
    return run(&u, order);
}

ordo_status ordo_string_dict_erase_host(ordo_string_dict *dict, const struct ordo_host_strings *strings)
{
    const struct update u = { .kind = ERASE, .dict = dict };
    return run_host(&u, strings, NULL);
}

ordo_status ordo_string_dict_cleanup(ordo_string_dict *dict, const struct ordo_order *order)
{
    struct update u = { .kind = CLEAN, .dict = dict };
    return run(&u, order);
}
