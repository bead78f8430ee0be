/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

#include "baseline.h"
#include "bench/common/threads.h"
#include "keys.h"

#include <stdlib.h>
#include <string.h>

size_t column_width(const struct column_batch *cols, enum column_id column)
{
    switch (column) {
    case COL_CODES:
    case COL_LENGTHS:
    case COL_FOUND:
    case COL_OUTCOMES:
        return 1;
    case COL_VALUES:
    case COL_VALUES_OUT:
    case COL_RANGE_VALUES:
        return cols->value_bytes;
    case COL_COUNTS:
    case COL_RANKS:
        return 4;
    case COL_OFFSETS:
        return 8;
    default:
        return ordo_type_bytes(cols->type);
    }
}

const char *column_name(enum column_id column)
{
    static const char *const names[N_COLUMNS] = { "codes",   "keys",       "hi",           "values",     "ranks",
                                                  "lengths", "found",      "keys_out",     "values_out", "counts",
                                                  "offsets", "range_keys", "range_values", "outcomes" };
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

void column_set(struct column_batch *cols, enum column_id column, size_t row, uint64_t value)
{
    if (!cols->at[column])
        return;
    if (column_width(cols, column) == 1)
        ((uint8_t *) cols->at[column])[row] = (uint8_t) value;
    else
        set_element(cols->at[column], column_width(cols, column), row, value);
}

bool script_steps(struct script *script, size_t n)
{
    free(script->steps);
    script->steps = calloc(n + 1, sizeof *script->steps);
    script->n_steps = script->steps ? n : 0;
    return script->steps;
}

bool script_one(struct script *script, struct step step)
{
    if (!script_steps(script, 1))
        return false;
    script->steps[0] = step;
    return true;
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
    return (struct model) { .type = type, .key_bytes = (uint32_t) ordo_type_bytes(type), .value_bytes = value_bytes };
}

void model_free(struct model *model)
{
    free(model->keys);
    free(model->values);
    model->keys = model->values = NULL;
    model->count = 0;
}

/* ---- places -------------------------------------------------------------------------------------------------- */

static bool is_below(const struct model *model, uint64_t key, size_t at)
{
    return at <= model->count && (at == 0 || model_key(model, at - 1) < key) &&
           (at == model->count || model_key(model, at) >= key);
}

size_t model_below(const struct model *model, uint64_t key, size_t hint)
{
    return is_below(model, key, hint) ? hint : host_lower_bound(model->keys, model->key_bytes, model->count, key);
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

void model_keep(struct model *model, const bool *flags, bool value)
{
    size_t kept = 0;
    for (size_t i = 0; i < model->count; i++)
        if (flags[i] == value)
            model_set(model, kept++, model_key(model, i), model_value(model, i));
    model->count = kept;
}

/* ---- erased ranges ------------------------------------------------------------------------------------------- */

/* Counts for each row the elements that it erases first. */
static void mark_ranges(const struct model *model, struct column_batch *cols, const struct step *step, bool *erased)
{
    for (size_t row = step->at; row < step->at + step->count; row++) {
        const uint64_t lo = key_order(model->type, column_get(cols, COL_KEYS, row));
        const uint64_t hi = key_order(model->type, column_get(cols, COL_HI, row));
        size_t         n = 0;
        for (size_t i = model_below(model, lo, SIZE_MAX); i < model->count && model_key(model, i) <= hi; i++) {
            n += !erased[i];
            erased[i] = true;
        }
        column_set(cols, COL_COUNTS, row, n);
    }
}

bool model_erase_ranges(struct model *model, struct column_batch *cols, const struct step *step)
{
    bool *erased = calloc(model->count + 1, sizeof *erased);
    if (!erased)
        return false;
    mark_ranges(model, cols, step, erased);
    model_keep(model, erased, false);
    free(erased);
    return true;
}

/* ---- both ends ----------------------------------------------------------------------------------------------- */

static size_t at_most(const struct model *model, const struct step *step)
{
    return step->count < model->count ? step->count : model->count;
}

void model_peek(const struct model *model, struct column_batch *cols, const struct step *step)
{
    const size_t n = at_most(model, step);
    for (size_t i = 0; i < n; i++) {
        const size_t at = step->call == DO_PEEK_LAST ? model->count - 1 - i : i;
        column_set(cols, COL_KEYS_OUT, step->at + i, key_stored(model->type, model_key(model, at)));
        column_set(cols, COL_VALUES_OUT, step->at + i, model_value(model, at));
    }
}

void model_take_first(struct model *model, struct column_batch *cols, const struct step *step)
{
    const size_t n = at_most(model, step);
    model_peek(model, cols, step);
    model->count -= n;
    memmove(model->keys, (char *) model->keys + n * model->key_bytes, model->count * model->key_bytes);
    if (model->value_bytes)
        memmove(model->values, (char *) model->values + n * model->value_bytes, model->count * model->value_bytes);
}

/* ---- prefixes ------------------------------------------------------------------------------------------------ */

uint64_t prefix_key(ordo_type type, uint64_t bits, unsigned length)
{
    return type == ORDO_U32 ? ordo_prefix_u32((uint32_t) bits, length) : ordo_prefix_u64(bits, length);
}

unsigned prefix_length(ordo_type type, uint64_t prefix)
{
    return type == ORDO_U32 ? ordo_prefix_u32_length((uint32_t) prefix) : ordo_prefix_u64_length(prefix);
}

/* The bits of a key after the first `length`, fewer than all. */
static uint64_t rest(ordo_type type, unsigned length)
{
    return (type == ORDO_U32 ? UINT32_MAX : UINT64_MAX) >> length;
}

uint64_t prefix_least(ordo_type type, uint64_t bits, unsigned length)
{
    return bits & ~rest(type, length);
}

uint64_t prefix_greatest(ordo_type type, uint64_t bits, unsigned length)
{
    return bits | rest(type, length);
}
