/* SPDX-License-Identifier: Apache-2.0 */
/* See call_model.h. Arrays are numbered as in tests/support/calls.c. */
#include "call_model.h"

#include "tests/primitive/scan_common.h"

struct modelled {
    const char         *name;
    struct model       *model;
    const struct given *g;
    void *const        *a;
    size_t              bytes[CALL_ARRAYS]; /* of an element */
    struct call_outcome out;
};

/* Runs operations of one code on the model. */
static void run_code(struct modelled *m, ordo_code code, struct ordo_host_batch batch)
{
    AUTO_FREE uint8_t *codes = test_alloc(m->g->count);

    memset(codes, (int) code, m->g->count);
    batch.codes = codes;
    batch.count = m->g->count;
    (void) model_apply(m->model, &batch);
}

static key_form form_at(const struct modelled *m, size_t array, size_t i)
{
    return form_of_key(m->g->type, m->a[array], i);
}

static void put(void *array, size_t bytes, size_t i, key_form word)
{
    if (array && bytes)
        write_bits(array, bytes, i, word);
}

static void put_byte(uint8_t *array, size_t i, bool flag)
{
    if (array)
        array[i] = flag;
}

/* Writes element `at` of the model as element i of two outputs. */
static void put_element(const struct modelled *m, size_t at, size_t keys, size_t values, size_t i)
{
    put(m->a[keys], m->bytes[keys], i, m->model->element[at].key);
    put(m->a[values], m->bytes[values], i, m->model->element[at].value);
}

static void want_number(struct modelled *m, size_t number, size_t capacity)
{
    m->out.number = number;
    m->out.has_number = true;
    m->out.status = number > capacity ? ORDO_TOO_SMALL : ORDO_OK;
}

/* The model's elements from lo[i] to hi[i]: first .. end - 1. */
struct interval {
    size_t first, end;
};

static struct interval interval_of(const struct modelled *m, size_t i)
{
    const struct model *model = m->model;
    const key_form      lo = form_at(m, 0, i), hi = form_at(m, 1, i);
    struct interval     is = { model_rank(model, lo), model_rank(model, hi) };

    if (lo > hi)
        is.end = is.first;
    else if (is.end < model->count && model->element[is.end].form == hi)
        is.end++;
    return is;
}

/* ---- updates ----------------------------------------------------------------------------------------------------- */

static void model_upsert(struct modelled *m)
{
    if (strstr(m->name, "build"))
        model_clear(m->model);
    run_code(m, ORDO_UPSERT, (struct ordo_host_batch) { .keys = m->a[0], .values = m->a[1] });
}

static void model_insert(struct modelled *m)
{
    uint8_t *inserted = m->a[2];

    run_code(m, ORDO_INSERT, (struct ordo_host_batch) { .keys = m->a[0], .values = m->a[1], .found = inserted });
    for (size_t i = 0; inserted && i < m->g->count; i++)
        inserted[i] = !inserted[i];
}

static void model_combine(struct modelled *m)
{
    run_code(
        m, ORDO_COMBINE,
        (struct ordo_host_batch) { .keys = m->a[0], .values = m->a[1], .value = m->g->value, .combine = m->g->op });
}

static void model_erase(struct modelled *m)
{
    run_code(m, ORDO_ERASE, (struct ordo_host_batch) { .keys = m->a[0] });
}

/* Marks the elements that each range removes, then closes the gaps. next[at]: the first element from `at` on that is
 * left. */
static size_t left_from(size_t *next, size_t at)
{
    size_t end = at;

    while (next[end] != end)
        end = next[end];
    while (next[at] != end) {
        const size_t after = next[at];
        next[at] = end;
        at = after;
    }
    return end;
}

static void model_erase_range(struct modelled *m)
{
    struct model *model = m->model;
    size_t       *next = test_alloc((model->count + 1) * sizeof *next), left = 0;

    for (size_t at = 0; at <= model->count; at++)
        next[at] = at;
    for (size_t i = 0; i < m->g->count; i++) {
        const struct interval is = interval_of(m, i);
        uint64_t              n = 0;
        for (size_t at = left_from(next, is.first); at < is.end; at = left_from(next, at + 1), n++)
            next[at] = at + 1;
        put(m->a[2], 4, i, n);
    }
    for (size_t at = 0; at < model->count; at++)
        if (next[at] == at)
            model->element[left++] = model->element[at];
    model->count = left;
    free(next);
}

/* The least or the greatest elements; `take` erases them. */
static void model_ends(struct modelled *m)
{
    const bool    last = strstr(m->name, "last") != NULL;
    struct model *model = m->model;
    const size_t  n = m->g->count < model->count ? m->g->count : model->count;

    for (size_t i = 0; i < n; i++)
        put_element(m, last ? model->count - 1 - i : i, 0, 1, i);
    want_number(m, n, n);
    m->out.defined[0] = m->out.defined[1] = n;
    if (!strstr(m->name, "take"))
        return;
    model->count -= n;
    if (!last)
        memmove(model->element, model->element + n, model->count * sizeof *model->element);
}

/* ---- queries ----------------------------------------------------------------------------------------------------- */

static void model_find(struct modelled *m)
{
    run_code(m, ORDO_FIND, (struct ordo_host_batch) { .keys = m->a[0], .values_out = m->a[1], .found = m->a[2] });
}

static void model_contains(struct modelled *m)
{
    run_code(m, ORDO_CONTAINS, (struct ordo_host_batch) { .keys = m->a[0], .found = m->a[1] });
}

static void model_count(struct modelled *m)
{
    for (size_t i = 0; i < m->g->count; i++) {
        const struct interval is = interval_of(m, i);
        put(m->a[2], 4, i, is.end - is.first);
    }
}

/* Elements of range i: all, or as many as its limits allow. */
static size_t elements_given(struct interval is, const uint32_t *limits, size_t limit, size_t i)
{
    size_t n = is.end - is.first;

    if (limit && n > limit)
        n = limit;
    return limits && n > limits[i] ? limits[i] : n;
}

static void model_ranges(struct modelled *m)
{
    const bool      limited = strstr(m->name, "limited") != NULL, descending = limited && !m->g->ascending;
    const size_t    offsets = limited ? 3 : 2;
    uint64_t *const offset = m->a[offsets];
    size_t          total = 0;

    for (size_t i = 0; i < m->g->count; i++) {
        offset[i] = total;
        total += elements_given(interval_of(m, i), limited ? m->a[2] : NULL, limited ? m->g->limit : 0, i);
    }
    offset[m->g->count] = total;
    want_number(m, total, m->g->room);
    for (size_t i = 0; total <= m->g->room && i < m->g->count; i++) {
        const struct interval is = interval_of(m, i);
        for (size_t e = offset[i]; e < offset[i + 1]; e++)
            put_element(m, descending ? is.end - 1 - (e - offset[i]) : is.first + (e - offset[i]), offsets + 1,
                        offsets + 2, e);
    }
}

static void model_seek(struct modelled *m)
{
    run_code(
        m, (ordo_code) (ORDO_SEEK_LT + (int) m->g->relation),
        (struct ordo_host_batch) { .keys = m->a[0], .keys_out = m->a[1], .values_out = m->a[2], .found = m->a[3] });
}

/* A result beyond its bound is not found. */
static void model_seek_within(struct modelled *m)
{
    const bool up = m->g->relation >= ORDO_GE;

    for (size_t i = 0; i < m->g->count; i++) {
        const key_form form = form_at(m, 0, i), bound = form_at(m, 1, i);
        size_t         at = model_rank(m->model, form);
        const bool     is_there = at < m->model->count && m->model->element[at].form == form;
        at += is_there && (m->g->relation == ORDO_GT || m->g->relation == ORDO_LE);
        at -= !up; /* SIZE_MAX: none */
        const bool is_found =
            at < m->model->count && (up ? m->model->element[at].form <= bound : m->model->element[at].form >= bound);
        put_byte(m->a[4], i, is_found);
        if (is_found)
            put_element(m, at, 2, 3, i);
    }
}

static void model_rank_of_keys(struct modelled *m)
{
    run_code(m, m->g->relation == ORDO_LT ? ORDO_RANK_LT : ORDO_RANK_LE,
             (struct ordo_host_batch) { .keys = m->a[0], .counts = m->a[1] });
}

static void model_select(struct modelled *m)
{
    const uint32_t *ranks = m->a[0];

    for (size_t i = 0; i < m->g->count; i++) {
        put_byte(m->a[3], i, ranks[i] < m->model->count);
        if (ranks[i] < m->model->count)
            put_element(m, ranks[i], 1, 2, i);
    }
}

static void model_end(struct modelled *m)
{
    const size_t at = strstr(m->name, "last") ? m->model->count - 1 : 0;

    put_byte(m->a[2], 0, at < m->model->count);
    if (at < m->model->count)
        put_element(m, at, 0, 1, 0);
}

static void model_export(struct modelled *m)
{
    want_number(m, m->model->count, m->g->room);
    for (size_t i = 0; m->out.status == ORDO_OK && i < m->model->count; i++)
        put_element(m, i, 0, 1, i);
}

static void model_aggregate(struct modelled *m)
{
    for (size_t i = 0; i < m->g->count; i++) {
        const struct interval is = interval_of(m, i);
        uint64_t              all = identity(m->g->value, m->g->op);
        for (size_t at = is.first; at < is.end; at++)
            all = combine(m->g->value, m->g->op, all, (uint64_t) m->model->element[at].value);
        put(m->a[2], m->bytes[2], i, all);
        put(m->a[3], 4, i, is.end - is.first);
    }
}

/* ---- mixed batches ----------------------------------------------------------------------------------------------- */

static void model_mixed(struct modelled *m)
{
    struct ordo_host_batch batch = { .codes = m->a[0],
                                     .keys = m->a[1],
                                     .hi = m->a[2],
                                     .values = m->a[3],
                                     .count = m->g->count,
                                     .found = m->a[4],
                                     .keys_out = m->a[5],
                                     .values_out = m->a[6],
                                     .counts = m->a[7],
                                     .offsets = m->a[8],
                                     .range_keys = m->a[9],
                                     .range_values = m->a[10],
                                     .range_capacity = m->g->room,
                                     .value = m->g->value,
                                     .combine = m->g->op };
    const size_t           room = model_room(m->model, &batch);

    want_number(m, room, m->g->room);
    if (m->out.status == ORDO_OK)
        (void) model_apply(m->model, &batch);
    else
        memset(m->out.defined, 0, sizeof m->out.defined);
}

/* ---- the calls --------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name; /* without ordo_dict_ */
    void (*run)(struct modelled *m);
} calls[] = {
    { "build", model_upsert },
    { "upsert", model_upsert },
    { "insert", model_insert },
    { "combine", model_combine },
    { "erase", model_erase },
    { "erase_range", model_erase_range },
    { "take_first", model_ends },
    { "take_last", model_ends },
    { "peek_first", model_ends },
    { "peek_last", model_ends },
    { "apply", model_mixed },
    { "find", model_find },
    { "contains", model_contains },
    { "count", model_count },
    { "range", model_ranges },
    { "range_limited", model_ranges },
    { "aggregate", model_aggregate },
    { "seek", model_seek },
    { "seek_within", model_seek_within },
    { "rank", model_rank_of_keys },
    { "select", model_select },
    { "first", model_end },
    { "last", model_end },
    { "export", model_export },
};

struct call_outcome model_call(struct model *model, const struct array_call *call, const struct given *g,
                               void *const a[])
{
    struct modelled m = { .name = call->name + strlen("ordo_dict_"), .model = model, .g = g, .a = a };
    size_t          i = 0;

    for (size_t array = 0; array < call_arrays(call); array++) {
        m.bytes[array] = call_array_bytes(&call->array[array], g);
        m.out.defined[array] = call_array_count(&call->array[array], g->n);
    }
    while (i < sizeof calls / sizeof *calls && strcmp(calls[i].name, m.name) != 0)
        i++;
    cr_assert(i < sizeof calls / sizeof *calls, "%s has no model", call->name);
    calls[i].run(&m);
    return m.out;
}
