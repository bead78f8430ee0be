/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool draw_concurrent_upserts(struct dict_plan *plan, enum step_call call)
{
    const bool           fills = workload_fills(plan->spec.workload);
    const size_t         batch = spec_batch(&plan->spec), count = fills ? plan->spec.count : batch;
    struct column_batch *cols = &plan->work.cols;
    if (!draw_elements(plan, cols, fills ? STREAM_TABLE : STREAM_NEW, plan->spec.count, count) ||
        !columns_reserve(cols, count, IN(CODES) | IN(OUTCOMES)))
        return false;
    memset(cols->at[COL_CODES], ORDO_UPSERT, count);
    set_values_by_key(cols, count);
    return batch_steps(&plan->work, batch, call, 0, count);
}

/* The middle between model key `at` and the next. New keys lie below it, keys of seeks above. */
static uint64_t middle_after(const struct dict_plan *plan, size_t at)
{
    const struct model *model = &plan->model;
    const uint64_t      key = model_key(model, at);
    return key + ((at + 1 < model->count ? model_key(model, at + 1) : highest(plan)) - key) / 2;
}

/* `updates` and `kind` are random numbers. */
static ordo_code concurrent_code(const struct dict_plan *plan, uint64_t updates, uint64_t kind)
{
    const bool other = kind >> 63;
    if (updates % 100 < plan->spec.update_percent)
        return other ? ORDO_ERASE : ORDO_UPSERT;
    if (plan->spec.workload == CONCURRENTRANGES && (kind >> 32) % 3 == 0)
        return ORDO_RANGE;
    return other ? ORDO_SEEK_GE : ORDO_FIND;
}

/* concurrentranges: successive keys of the model that all have updates, or all queries. A range stays in its block, so
 * that no update changes it. */
#define RANGE_BLOCK 64

/* A range of 1 to 2 width - 1 keys from the model's key `at` on. Writes their number to the next row of rooms. */
static void draw_range(const struct dict_plan *plan, struct column_batch *cols, size_t row, size_t at)
{
    const size_t wanted = at + draw(stream(plan, STREAM_WIDTH), row) % (2 * (size_t) plan->spec.width - 1);
    const size_t block = at / RANGE_BLOCK * RANGE_BLOCK + RANGE_BLOCK - 1, end = plan->model.count - 1;
    const size_t last = wanted < block ? wanted : block;
    column_set(cols, COL_CODES, row, ORDO_RANGE);
    set_stored(cols, COL_KEYS, row, model_key(&plan->model, at));
    set_stored(cols, COL_HI, row, model_key(&plan->model, last < end ? last : end));
    column_set(cols, COL_ROOMS, row + 1, (last < end ? last : end) - at + 1);
    cols->hints[row] = (uint32_t) at;
}

/* Only this operation of the batch touches model key `at` and the keys up to the middles around it. Takes a new key
 * if there is one, else the old one. */
static void draw_concurrent_operation(const struct dict_plan *plan, struct column_batch *cols, size_t row, size_t at,
                                      ordo_code code)
{
    const uint64_t own = model_key(&plan->model, at), r = draw(stream(plan, STREAM_PICK), row);
    uint64_t       key = own;
    if (code == ORDO_UPSERT && middle_after(plan, at) > own)
        key = own + 1 + r % (middle_after(plan, at) - own);
    if (code == ORDO_SEEK_GE && at > 0 && r >> 61) /* else its own key */
        key = own - r % (own - middle_after(plan, at - 1));
    column_set(cols, COL_CODES, row, code);
    set_stored(cols, COL_KEYS, row, key);
    set_value_by_key(cols, row);
    cols->hints[row] = (uint32_t) (at + (key > own));
}

static void concurrent_at(void *requests_, size_t row)
{
    const struct requests  *requests = requests_;
    const struct dict_plan *plan = requests->plan;
    const size_t            keys = plan->model.count, rows = requests->count;
    const size_t            place = requests->cols->hints[row];
    const size_t            at = rows > keys ? place : place * keys / rows;
    const uint64_t          kind = draw(stream(plan, STREAM_CODE), row);
    const uint64_t          block = draw(stream(plan, STREAM_MISS), ~(uint64_t) (at / RANGE_BLOCK));
    const ordo_code         code = concurrent_code(plan, plan->spec.workload == CONCURRENTRANGES ? block : kind, kind);
    /* The first key never changes. Surplus operations are finds of it. */
    if (place == 0 || at >= keys)
        draw_concurrent_operation(plan, requests->cols, row, 0, ORDO_FIND);
    else if (code == ORDO_RANGE)
        draw_range(plan, requests->cols, row, at);
    else
        draw_concurrent_operation(plan, requests->cols, row, at, code);
}

/* The numbers below `count` in random order. NULL without memory. */
static uint32_t *shuffled(const struct dict_plan *plan, size_t count)
{
    uint32_t *to = malloc(count * sizeof *to + 1);
    if (to)
        numbers_shuffle(stream(plan, STREAM_MISS), count, to);
    return to;
}

/* The distance between keys of a range of spec.count over the whole key space. */
static uint64_t range_step(const struct dict_plan *plan)
{
    return highest(plan) / plan->spec.count;
}

uint64_t range_key(const struct dict_plan *plan, size_t i)
{
    return range_step(plan) * i;
}

size_t range_place(const struct dict_plan *plan, uint64_t key)
{
    return (size_t) (key / range_step(plan));
}

static void half_at(void *requests_, size_t row)
{
    const struct requests  *requests = requests_;
    const struct dict_plan *plan = requests->plan;
    const size_t            pair = requests->cols->hints[row];
    set_stored(requests->cols, COL_KEYS, row, range_key(plan, 2 * pair + (draw(stream(plan, STREAM_TABLE), pair) & 1)));
    set_value_by_key(requests->cols, row);
}

/* One key of each pair, in random order. */
bool draw_half_of_range(struct dict_plan *plan)
{
    const size_t         half = plan->spec.count / 2;
    struct column_batch *cols = &plan->table.cols;
    cols->hints = shuffled(plan, half);
    if (!cols->hints || !columns_reserve(cols, half, IN(KEYS) | IN(VALUES)))
        return false;
    request_each(plan, cols, 0, half, half_at);
    return batch_steps(&plan->table, spec_table_batch(&plan->spec), DO_UPSERT, 0, half);
}

static void range_at(void *requests_, size_t row)
{
    const struct requests  *requests = requests_;
    const struct dict_plan *plan = requests->plan;
    struct column_batch    *cols = requests->cols;
    const uint64_t          kind = draw(stream(plan, STREAM_CODE), row);
    const ordo_code         code = concurrent_code(plan, kind, kind);
    column_set(cols, COL_CODES, row, code == ORDO_UPSERT ? ORDO_INSERT : code == ORDO_SEEK_GE ? ORDO_FIND : code);
    set_stored(cols, COL_KEYS, row, range_key(plan, pick_of(plan, plan->spec.count, row, requests->count)));
    set_value_by_key(cols, row);
    column_set(cols, COL_OUTCOMES, row, ORDO_DONE);
}

/* Makes places of the numbers of elements. False without memory. */
static bool make_rooms(struct column_batch *cols, size_t rows, size_t *elements)
{
    uint64_t *rooms = cols->at[COL_ROOMS];
    for (size_t row = 0; row < rows; row++)
        rooms[row + 1] += rooms[row];
    *elements = (size_t) rooms[rows];
    return columns_reserve(cols, *elements + 1, IN(RANGE_KEYS) | IN(RANGE_VALUES));
}

bool draw_concurrent(struct dict_plan *plan, enum step_call call)
{
    const bool           points = plan->spec.workload == CONCURRENTPOINTS;
    const bool           ranges = plan->spec.workload == CONCURRENTRANGES;
    size_t               elements = 0;
    const size_t         rows = spec_batch(&plan->spec);
    const unsigned       columns = IN(CODES) | IN(KEYS) | IN(VALUES) | IN(FOUND) | IN(VALUES_OUT) | IN(OUTCOMES);
    struct column_batch *cols = &plan->work.cols;
    cols->hints = points ? NULL : shuffled(plan, rows);
    if ((!points && !cols->hints) || !columns_reserve(cols, rows, points ? columns : columns | IN(KEYS_OUT)))
        return false;
    if (ranges && (!columns_reserve(cols, rows, IN(HI) | IN(COUNTS)) || !columns_reserve(cols, rows + 1, IN(ROOMS))))
        return false;
    if (ranges)
        memset(cols->at[COL_ROOMS], 0, (rows + 1) * sizeof(uint64_t));
    request_each(plan, cols, 0, rows, points ? range_at : concurrent_at);
    return (!ranges || make_rooms(cols, rows, &elements)) &&
           script_one(&plan->work, (struct step) { .call = call, .count = rows, .range_count = elements });
}

/* The operations on one key. */
struct history {
    uint32_t stored, erased; /* inserts that found nothing, erases that found the key */
    bool     before;         /* it was there before */
    bool     seen, missed;   /* another operation found it, or did not */
};

static bool wrong(const struct dict_plan *plan, size_t place, const char *what, char *why)
{
    return because(why, "key 0x%" PRIx64 " %s", key_stored(plan->spec.type, range_key(plan, place)), what);
}

static bool take_row(const struct dict_plan *plan, size_t row, const uint8_t *found, const void *values_out,
                     struct history *histories, char *why)
{
    const struct column_batch *cols = &plan->work.cols;
    const ordo_code            code = (ordo_code) ((const uint8_t *) cols->at[COL_CODES])[row];
    const uint64_t             key = column_get(cols, COL_KEYS, row), value = value_by_key(key);
    const size_t               place = range_place(plan, key_order(cols->type, key));
    const uint32_t             bytes = cols->value_bytes;
    struct history            *history = &histories[place];
    if (found[row] > 1)
        return wrong(plan, place, "was neither found nor not found", why);
    if (code == ORDO_FIND && found[row] && bytes &&
        element(values_out, bytes, row) != (bytes == 4 ? (uint32_t) value : value))
        return wrong(plan, place, "was found with another value", why);
    history->stored += code == ORDO_INSERT && !found[row];
    history->erased += code == ORDO_ERASE && found[row];
    history->seen |= found[row];
    history->missed |= !found[row];
    return true;
}

struct settling {
    const struct dict_plan *plan;
    const struct history   *histories;
    struct model           *after;
    size_t                  count[MAX_PARTS]; /* elements of each part; then its first place in `after` */
    size_t                  wrong[MAX_PARTS]; /* the first place without an order; SIZE_MAX: none */
};

static int64_t there_after(const struct history *history)
{
    return (int64_t) history->before + history->stored - history->erased;
}

static void settle_span(void *settling_, size_t from, size_t to, int part)
{
    struct settling *s = settling_;
    s->count[part] = 0;
    s->wrong[part] = SIZE_MAX;
    for (size_t place = from; place < to && s->wrong[part] == SIZE_MAX; place++) {
        const struct history *history = &s->histories[place];
        const int64_t         there = there_after(history);
        if (there < 0 || there > 1 || (history->seen && !history->before && !history->stored) ||
            (history->missed && history->before && !history->erased))
            s->wrong[part] = place;
        s->count[part] += there == 1;
    }
}

static void write_span(void *settling_, size_t from, size_t to, int part)
{
    const struct settling *s = settling_;
    size_t                 at = s->count[part];
    for (size_t place = from; place < to; place++) {
        const uint64_t key = range_key(s->plan, place);
        if (there_after(&s->histories[place]))
            model_set(s->after, at++, key, value_by_key(key_stored(s->after->type, key)));
    }
}

/* Writes the content afterwards. All operations overlap, so an order exists if stores and erases can alternate from the
 * state before. An operation that changed nothing saw one of these states. */
static bool settle(const struct dict_plan *plan, const struct history *histories, struct model *after, char *why)
{
    struct settling s = { .plan = plan, .histories = histories, .after = after };
    const int       parts = for_spans(plan->spec.count, settle_span, &s);
    for (int p = 0; p < parts; p++) {
        const size_t count = s.count[p];
        if (s.wrong[p] != SIZE_MAX)
            return wrong(plan, s.wrong[p], "was found, or not, as no order explains", why);
        s.count[p] = after->count;
        after->count += count;
    }
    for_spans(plan->spec.count, write_span, &s);
    return true;
}

bool explain_points(const struct dict_plan *plan, const uint8_t *found, const void *values_out, struct model *after,
                    char *why)
{
    const size_t    range = plan->spec.count, rows = plan->work.cols.rows[COL_KEYS];
    struct history *histories = calloc(range + 1, sizeof *histories);
    *after = model_empty(plan->spec.type, plan->spec.value_bytes);
    after->keys = malloc(range * after->key_bytes + 1);
    after->values = malloc(range * after->value_bytes + 1);
    bool good = histories && after->keys && after->values;
    if (!good)
        because(why, "no memory to check the results");
    for (size_t i = 0; i < plan->model.count && good; i++)
        histories[range_place(plan, model_key(&plan->model, i))].before = true;
    for (size_t row = 0; row < rows && good; row++)
        good = take_row(plan, row, found, values_out, histories, why);
    good = good && settle(plan, histories, after, why);
    free(histories);
    return good;
}
