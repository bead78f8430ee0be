/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of dict.h over arrays and their right results (soak.h). Arrays are numbered as in tests/support/calls.c. */
#include "soak.h"

#include "tests/primitive/scan_common.h"

#include <stdlib.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static struct model *model_of(struct life *l, struct play *p)
{
    return (p->row->traits & ROW_CHANGES) ? &p->after : &l->model;
}

/* Runs operations of one code on the model. */
static void run_code(struct life *l, struct play *p, ordo_code code, struct ordo_host_batch batch)
{
    AUTO_FREE uint8_t *codes = test_alloc(p->g.count);

    memset(codes, (int) code, p->g.count);
    batch.codes = codes;
    batch.count = p->g.count;
    (void) model_apply(model_of(l, p), &batch);
}

static uint64_t form_at(const struct play *p, size_t array, size_t i)
{
    return ordo_key_bits(p->g.type, (const uint8_t *) p->want[array] + i * p->bytes[array]);
}

static void put(void *array, size_t bytes, size_t i, uint64_t word)
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
static void put_element(const struct play *p, const struct model *model, size_t at, size_t keys, size_t values,
                        size_t i)
{
    put(p->want[keys], p->bytes[keys], i, model->element[at].key);
    put(p->want[values], p->bytes[values], i, model->element[at].value);
}

static void want_number(struct play *p, size_t number, size_t capacity)
{
    p->want_number = number;
    p->counts_elements = true;
    p->want_status = number > capacity ? ORDO_TOO_SMALL : ORDO_OK;
}

/* The model's elements from lo[i] to hi[i]: first .. end - 1. */
struct interval {
    size_t first, end;
};

static struct interval interval_of(const struct model *model, const struct play *p, size_t i)
{
    const uint64_t  lo = form_at(p, 0, i), hi = form_at(p, 1, i);
    struct interval is = { model_rank(model, lo), model_rank(model, hi) };

    if (lo > hi)
        is.end = is.first;
    else if (is.end < model->count && model->element[is.end].form == hi)
        is.end++;
    return is;
}

/* ---- updates ----------------------------------------------------------------------------------------------------- */

static void model_build(struct life *l, struct play *p)
{
    model_clear(&p->after);
    run_code(l, p, ORDO_UPSERT, (struct ordo_host_batch) { .keys = p->want[0], .values = p->want[1] });
}

static void model_upsert(struct life *l, struct play *p)
{
    run_code(l, p, ORDO_UPSERT, (struct ordo_host_batch) { .keys = p->want[0], .values = p->want[1] });
}

static void model_insert(struct life *l, struct play *p)
{
    uint8_t *inserted = p->want[2];

    run_code(l, p, ORDO_INSERT,
             (struct ordo_host_batch) { .keys = p->want[0], .values = p->want[1], .found = inserted });
    for (size_t i = 0; inserted && i < p->g.count; i++)
        inserted[i] = !inserted[i];
}

static void model_combine(struct life *l, struct play *p)
{
    run_code(
        l, p, ORDO_COMBINE,
        (struct ordo_host_batch) { .keys = p->want[0], .values = p->want[1], .value = p->g.value, .combine = p->g.op });
}

static void model_erase(struct life *l, struct play *p)
{
    run_code(l, p, ORDO_ERASE, (struct ordo_host_batch) { .keys = p->want[0] });
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

static void model_erase_range(struct life *l, struct play *p)
{
    struct model *model = model_of(l, p);
    size_t       *next = test_alloc((model->count + 1) * sizeof *next), left = 0;

    for (size_t at = 0; at <= model->count; at++)
        next[at] = at;
    for (size_t i = 0; i < p->g.count; i++) {
        const struct interval is = interval_of(model, p, i);
        uint64_t              n = 0;
        for (size_t at = left_from(next, is.first); at < is.end; at = left_from(next, at + 1), n++)
            next[at] = at + 1;
        put(p->want[2], 4, i, n);
    }
    for (size_t at = 0; at < model->count; at++)
        if (next[at] == at)
            model->element[left++] = model->element[at];
    model->count = left;
    free(next);
}

/* The least or the greatest elements. `remove`: erases them. */
static void model_end(struct life *l, struct play *p, bool last, bool remove)
{
    struct model *model = model_of(l, p);
    const size_t  n = p->g.count < model->count ? p->g.count : model->count;

    for (size_t i = 0; i < n; i++)
        put_element(p, model, last ? model->count - 1 - i : i, 0, 1, i);
    want_number(p, n, n);
    p->compared[0] = p->compared[1] = n;
    if (!remove)
        return;
    model->count -= n;
    if (!last)
        memmove(model->element, model->element + n, model->count * sizeof *model->element);
}

static void model_take_first(struct life *l, struct play *p)
{
    model_end(l, p, false, true);
}

static void model_take_last(struct life *l, struct play *p)
{
    model_end(l, p, true, true);
}

static void model_peek_first(struct life *l, struct play *p)
{
    model_end(l, p, false, false);
}

static void model_peek_last(struct life *l, struct play *p)
{
    model_end(l, p, true, false);
}

/* ---- queries ----------------------------------------------------------------------------------------------------- */

static void model_find(struct life *l, struct play *p)
{
    run_code(l, p, ORDO_FIND,
             (struct ordo_host_batch) { .keys = p->want[0], .values_out = p->want[1], .found = p->want[2] });
}

static void model_contains(struct life *l, struct play *p)
{
    run_code(l, p, ORDO_CONTAINS, (struct ordo_host_batch) { .keys = p->want[0], .found = p->want[1] });
}

static void model_count(struct life *l, struct play *p)
{
    for (size_t i = 0; i < p->g.count; i++) {
        const struct interval is = interval_of(&l->model, p, i);
        put(p->want[2], 4, i, is.end - is.first);
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

static void model_ranges(struct life *l, struct play *p, const uint32_t *limits, size_t limit, bool descending,
                         size_t offsets)
{
    uint64_t *const offset = p->want[offsets];
    size_t          total = 0;

    for (size_t i = 0; i < p->g.count; i++) {
        offset[i] = total;
        total += elements_given(interval_of(&l->model, p, i), limits, limit, i);
    }
    offset[p->g.count] = total;
    want_number(p, total, p->g.room);
    for (size_t i = 0; total <= p->g.room && i < p->g.count; i++) {
        const struct interval is = interval_of(&l->model, p, i);
        for (size_t e = offset[i]; e < offset[i + 1]; e++)
            put_element(p, &l->model, descending ? is.end - 1 - (e - offset[i]) : is.first + (e - offset[i]),
                        offsets + 1, offsets + 2, e);
    }
}

static void model_range(struct life *l, struct play *p)
{
    model_ranges(l, p, NULL, 0, false, 2);
}

static void model_range_limited(struct life *l, struct play *p)
{
    model_ranges(l, p, p->want[2], p->g.limit, !p->g.ascending, 3);
}

static void model_seek(struct life *l, struct play *p)
{
    run_code(l, p, (ordo_code) (ORDO_SEEK_LT + (int) p->g.relation),
             (struct ordo_host_batch) {
                 .keys = p->want[0], .keys_out = p->want[1], .values_out = p->want[2], .found = p->want[3] });
}

/* A result beyond its bound is not found. */
static void model_seek_within(struct life *l, struct play *p)
{
    const bool up = p->g.relation >= ORDO_GE;

    for (size_t i = 0; i < p->g.count; i++) {
        const uint64_t form = form_at(p, 0, i), bound = form_at(p, 1, i);
        size_t         at = model_rank(&l->model, form);
        const bool     is_there = at < l->model.count && l->model.element[at].form == form;
        at += is_there && (p->g.relation == ORDO_GT || p->g.relation == ORDO_LE);
        at -= !up; /* SIZE_MAX: none */
        const bool is_found =
            at < l->model.count && (up ? l->model.element[at].form <= bound : l->model.element[at].form >= bound);
        put_byte(p->want[4], i, is_found);
        if (is_found)
            put_element(p, &l->model, at, 2, 3, i);
    }
}

static void model_rank_call(struct life *l, struct play *p)
{
    run_code(l, p, p->g.relation == ORDO_LT ? ORDO_RANK_LT : ORDO_RANK_LE,
             (struct ordo_host_batch) { .keys = p->want[0], .counts = p->want[1] });
}

static void choose_rank(struct life *l, struct play *p)
{
    p->g.relation = soak_one_in(l, 2) ? ORDO_LT : ORDO_LE;
}

static void model_select(struct life *l, struct play *p)
{
    const uint32_t *ranks = p->want[0];

    for (size_t i = 0; i < p->g.count; i++) {
        put_byte(p->want[3], i, ranks[i] < l->model.count);
        if (ranks[i] < l->model.count)
            put_element(p, &l->model, ranks[i], 1, 2, i);
    }
}

static void model_one(struct life *l, struct play *p, size_t at)
{
    put_byte(p->want[2], 0, at < l->model.count);
    if (at < l->model.count)
        put_element(p, &l->model, at, 0, 1, 0);
}

static void model_first(struct life *l, struct play *p)
{
    model_one(l, p, 0);
}

static void model_last(struct life *l, struct play *p)
{
    model_one(l, p, l->model.count - 1);
}

static void model_export(struct life *l, struct play *p)
{
    want_number(p, l->model.count, p->g.room);
    for (size_t i = 0; p->want_status == ORDO_OK && i < l->model.count; i++)
        put_element(p, &l->model, i, 0, 1, i);
}

/* Mostly large enough. */
static void choose_export(struct life *l, struct play *p)
{
    if (soak_one_in(l, 8))
        return;
    p->g.n = l->model.count / CALL_ROOM + 1;
    p->g.room = CALL_ROOM * p->g.n;
}

static void model_aggregate(struct life *l, struct play *p)
{
    for (size_t i = 0; i < p->g.count; i++) {
        const struct interval is = interval_of(&l->model, p, i);
        uint64_t              all = identity(p->g.value, p->g.op);
        for (size_t at = is.first; at < is.end; at++)
            all = combine(p->g.value, p->g.op, all, l->model.element[at].value);
        put(p->want[2], p->bytes[2], i, all);
        put(p->want[3], 4, i, is.end - is.first);
    }
}

/* ---- mixed batches ----------------------------------------------------------------------------------------------- */

/* The model moves all elements after a new key, so batches with order are smaller, the larger the dictionary is. */
static void choose_apply(struct life *l, struct play *p)
{
    const size_t most = ((size_t) 1 << 27) / (l->model.count + l->n_forms + 1);

    if (!ordo_dict_can(l->dict, ORDO_CAN_ORDER) || p->g.n <= most)
        return;
    p->g.n = p->g.count = most;
    p->g.room = CALL_ROOM * most;
}

static void fix_apply(struct life *l, struct play *p)
{
    static const uint8_t points[] = { ORDO_FIND, ORDO_CONTAINS, ORDO_UPSERT, ORDO_INSERT, ORDO_ERASE, ORDO_COMBINE };
    const bool           order = ordo_dict_can(l->dict, ORDO_CAN_ORDER) && soak_one_in(l, 2);
    const uint8_t        most = (uint8_t) soak_below(l, ORDO_N_CODES);
    uint8_t             *codes = p->want[0];

    for (size_t i = 0; i < p->g.count; i++) {
        codes[i] = points[soak_below(l, LENGTH(points))];
        if (order)
            codes[i] = soak_one_in(l, 3) ? (uint8_t) soak_below(l, ORDO_N_CODES) : most;
        if (codes[i] == ORDO_COMBINE && l->config.value_bytes == 0)
            codes[i] = ORDO_UPSERT;
        if (codes[i] == ORDO_SELECT)
            put(p->want[1], p->bytes[1], i, soak_below(l, l->model.count + 3));
    }
}

static void model_mixed(struct life *l, struct play *p)
{
    struct ordo_host_batch batch = { .codes = p->want[0],
                                     .keys = p->want[1],
                                     .hi = p->want[2],
                                     .values = p->want[3],
                                     .count = p->g.count,
                                     .found = p->want[4],
                                     .keys_out = p->want[5],
                                     .values_out = p->want[6],
                                     .counts = p->want[7],
                                     .offsets = p->want[8],
                                     .range_keys = p->want[9],
                                     .range_values = p->want[10],
                                     .range_capacity = p->g.room,
                                     .value = p->g.value,
                                     .combine = p->g.op };
    const size_t           room = model_room(&l->model, &batch);

    want_number(p, room, p->g.room);
    if (p->want_status == ORDO_OK)
        (void) model_apply(&p->after, &batch);
    else
        memset(p->compared, 0, sizeof p->compared);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* Weights in a life that is mixed, grows, empties, queries. */
/* clang-format off */
#define OFTEN_GROWS   { 10, 20, 1, 1 }
#define OFTEN_EMPTIES { 8, 1, 24, 1 }
#define UPDATE        { 8, 6, 3, 1 }
#define SELDOM        { 2, 1, 1, 0 }
#define QUERY         { 3, 2, 1, 8 }
/* clang-format on */

const struct soak_row soak_dict_rows[] = {
    { "ordo_dict_build", SELDOM, ROW_CHANGES | ROW_STORES, .model = model_build },
    { "ordo_dict_upsert", OFTEN_GROWS, ROW_CHANGES | ROW_STORES, .model = model_upsert },
    { "ordo_dict_insert", UPDATE, ROW_CHANGES | ROW_STORES, .model = model_insert },
    { "ordo_dict_combine", OFTEN_GROWS, ROW_CHANGES | ROW_STORES | ROW_NEEDS_VALUES, .model = model_combine },
    { "ordo_dict_erase", OFTEN_EMPTIES, ROW_CHANGES, .model = model_erase },
    { "ordo_dict_erase_range", UPDATE, ROW_CHANGES, ORDO_CAN_ORDER, .model = model_erase_range },
    { "ordo_dict_take_first", SELDOM, ROW_CHANGES, ORDO_CAN_ORDER, .model = model_take_first },
    { "ordo_dict_take_last", SELDOM, ROW_CHANGES, ORDO_CAN_ORDER, .model = model_take_last },
    { "ordo_dict_apply", UPDATE, ROW_CHANGES | ROW_STORES, .choose = choose_apply, .fix = fix_apply,
      .model = model_mixed },
    { "ordo_dict_find", QUERY, .model = model_find },
    { "ordo_dict_contains", QUERY, .model = model_contains },
    { "ordo_dict_count", QUERY, 0, ORDO_CAN_ORDER, .model = model_count },
    { "ordo_dict_range", QUERY, 0, ORDO_CAN_ORDER, .model = model_range },
    { "ordo_dict_range_limited", QUERY, 0, ORDO_CAN_ORDER, .model = model_range_limited },
    { "ordo_dict_aggregate", QUERY, ROW_NEEDS_VALUES, ORDO_CAN_ORDER, .model = model_aggregate },
    { "ordo_dict_seek", QUERY, 0, ORDO_CAN_ORDER, .model = model_seek },
    { "ordo_dict_seek_within", QUERY, 0, ORDO_CAN_ORDER, .model = model_seek_within },
    { "ordo_dict_rank", QUERY, 0, ORDO_CAN_ORDER, .choose = choose_rank, .model = model_rank_call },
    { "ordo_dict_select", QUERY, 0, ORDO_CAN_ORDER, .model = model_select },
    { "ordo_dict_first", QUERY, 0, ORDO_CAN_ORDER, .model = model_first },
    { "ordo_dict_last", QUERY, 0, ORDO_CAN_ORDER, .model = model_last },
    { "ordo_dict_peek_first", QUERY, 0, ORDO_CAN_ORDER, .model = model_peek_first },
    { "ordo_dict_peek_last", QUERY, 0, ORDO_CAN_ORDER, .model = model_peek_last },
    { "ordo_dict_export", QUERY, ROW_ANY_ORDER, .choose = choose_export, .model = model_export },
};
const size_t n_soak_dict_rows = LENGTH(soak_dict_rows);
