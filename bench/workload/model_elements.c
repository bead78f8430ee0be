/* SPDX-License-Identifier: Apache-2.0 */
/* Columns, scripts, and the model's elements. */
#include "model.h"

#include "baseline.h"
#include "bench/common/threads.h"
#include "keys.h"

#include <stdlib.h>
#include <string.h>

size_t column_width(const struct column_batch *cols, enum column_id column)
{
    enum { value = 0, key = UINT8_MAX };
#define X(id, name, width) width,
    static const uint8_t widths[N_COLUMNS] = { COLUMN_MAP(X) };
#undef X
    const size_t width = widths[column];
    return width == key ? type_bytes(cols->type) : width == value ? cols->value_bytes : width;
}

const char *column_name(enum column_id column)
{
#define X(id, name, width) name,
    static const char *const names[N_COLUMNS] = { COLUMN_MAP(X) };
#undef X
    return names[column];
}

bool column_reserve(struct column_batch *cols, enum column_id column, size_t rows)
{
    free(cols->at[column]);
    cols->at[column] = NULL;
    cols->rows[column] = 0;
    return column_grow(cols, column, rows);
}

bool columns_reserve(struct column_batch *cols, size_t rows, unsigned columns)
{
    bool made = true;
    for (int c = 0; c < N_COLUMNS && made; c++)
        made = !(columns >> c & 1) || column_reserve(cols, (enum column_id) c, rows);
    return made;
}

bool column_grow(struct column_batch *cols, enum column_id column, size_t rows)
{
    const size_t width = column_width(cols, column), before = cols->rows[column];
    if (width == 0 || rows <= before)
        return true;
    char *more = realloc(cols->at[column], rows * width);
    if (!more)
        return false;
    cols->at[column] = more;
    cols->rows[column] = rows;
    fill_bytes(more + before * width, column >= FIRST_OUTPUT ? POISON_BYTE : 0, (rows - before) * width);
    return true;
}

void columns_clear(struct column_batch *cols)
{
    for (int c = 0; c < N_COLUMNS; c++)
        free(cols->at[c]);
    free(cols->hints);
    *cols = (struct column_batch) { .type = cols->type, .value_bytes = cols->value_bytes };
}

uint64_t column_get(const struct column_batch *cols, enum column_id column, size_t row)
{
    const size_t width = column_width(cols, column);
    return width == 16 ? key_number_at(cols->type, cols->at[column], row) : element(cols->at[column], width, row);
}

void column_set(struct column_batch *cols, enum column_id column, size_t row, uint64_t value)
{
    if (!cols->at[column])
        return;
    if (column_width(cols, column) == 1)
        ((uint8_t *) cols->at[column])[row] = (uint8_t) value;
    else if (column_width(cols, column) == 16)
        key_number_put(cols->type, cols->at[column], row, value);
    else
        set_element(cols->at[column], column_width(cols, column), row, value);
}

bool script_steps(struct script *script, const struct step *steps, size_t n)
{
    struct step *all = realloc(script->steps, (script->n_steps + n + 1) * sizeof *all);
    if (!all)
        return false;
    script->steps = all;
    for (size_t s = 0; s < n; s++)
        all[script->n_steps++] = steps[s];
    return true;
}

bool script_one(struct script *script, struct step step)
{
    script->n_steps = 0;
    return script_steps(script, &step, 1);
}

void script_free(struct script *script)
{
    columns_clear(&script->cols);
    free(script->steps);
    script->steps = NULL;
    script->n_steps = 0;
}

struct model model_empty(ordo_type type, uint32_t value_bytes)
{
    const uint32_t key_bytes = type_is_wide(type) ? sizeof(uint64_t) : (uint32_t) type_bytes(type);
    return (struct model) { .type = type, .key_bytes = key_bytes, .value_bytes = value_bytes };
}

void model_free(struct model *model)
{
    free(model->keys);
    free(model->values);
    model->keys = model->values = NULL;
    model->count = 0;
}

size_t model_below(const struct model *model, uint64_t key, size_t hint)
{
    if (hint <= model->count && (hint == 0 || model_key(model, hint - 1) < key) &&
        (hint == model->count || model_key(model, hint) >= key))
        return hint;
    return host_lower_bound(model->keys, model->key_bytes, model->count, key);
}

size_t model_up_to(const struct model *model, uint64_t key, size_t from)
{
    size_t low = from, high = from, step = 1; /* keys before low are <= `key`; the step doubles */
    while (high < model->count && model_key(model, high) <= key) {
        low = high + 1;
        high += step;
        step *= 2;
    }
    high = high < model->count ? high : model->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (model_key(model, middle) <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether key i is the one with an ordered form. */
static bool same_key(const struct model *model, const void *keys, size_t i, uint64_t order)
{
    const size_t bytes = type_bytes(model->type);
    uint64_t     want[2] = { 0 };
    if (bytes == 16)
        key_number_put(model->type, want, 0, order);
    else
        set_element(want, bytes, 0, key_stored(model->type, order));
    return memcmp((const char *) keys + i * bytes, want, bytes) == 0;
}

/* Elements with keys in stored form. */
struct comparing {
    const struct model *model;
    const void         *keys, *values;
    size_t              first[MAX_PARTS]; /* the first other element of each part; the model's count: none */
};

static uint64_t value_at(const struct comparing *c, size_t i)
{
    return c->model->value_bytes ? element(c->values, c->model->value_bytes, i) : 0;
}

static void compare_span(void *comparing_, size_t from, size_t to, int part)
{
    struct comparing   *c = comparing_;
    const struct model *model = c->model;
    size_t              i = from;
    while (i < to && same_key(model, c->keys, i, model_key(model, i)) && value_at(c, i) == model_value(model, i))
        i++;
    c->first[part] = i < to ? i : model->count;
}

size_t model_differs(const struct model *model, const void *keys, const void *values)
{
    struct comparing c = { .model = model, .keys = keys, .values = values };
    size_t           i = model->count;
    for (int p = for_spans(model->count, compare_span, &c); p-- > 0;)
        i = c.first[p] < i ? c.first[p] : i;
    return i;
}

void model_keep(struct model *model, const bool *stays)
{
    size_t kept = 0;
    for (size_t i = 0; i < model->count; i++)
        if (stays[i])
            model_set(model, kept++, model_key(model, i), model_value(model, i));
    model->count = kept;
}
