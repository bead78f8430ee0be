/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

#include "baseline.h"
#include "bench/common/threads.h"
#include "keys.h"

#include <stdlib.h>
#include <string.h>

size_t column_width(const struct column_batch *cols, enum column_id column)
{
    const size_t key = ordo_type_bytes(cols->type), value = cols->value_bytes;
#define X(id, name, width) width,
    const size_t widths[N_COLUMNS] = { COLUMN_MAP(X) };
#undef X
    return widths[column];
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

/* Drops the elements that do not stay. */
static void model_keep(struct model *model, const bool *stays)
{
    size_t kept = 0;
    for (size_t i = 0; i < model->count; i++)
        if (stays[i])
            model_set(model, kept++, model_key(model, i), model_value(model, i));
    model->count = kept;
}

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

/* Writes the model's element `at` to a column of keys and to the column of values after it. */
static void put_element(struct column_batch *cols, enum column_id keys, size_t row, const struct model *model,
                        size_t at)
{
    column_set(cols, keys, row, key_stored(model->type, model_key(model, at)));
    column_set(cols, (enum column_id)(keys + 1), row, model_value(model, at));
}

/* ---- updates ------------------------------------------------------------------------------------------------- */

static ordo_code code_of_row(const struct column_batch *cols, const struct step *step, size_t row)
{
    if (step->call == DO_CONCURRENT || step->call == DO_APPLY)
        return (ordo_code) ((const uint8_t *) cols->at[COL_CODES])[row];
    return step->call == DO_ERASE ? ORDO_ERASE : step->call == DO_COMBINE ? ORDO_COMBINE : ORDO_UPSERT;
}

static bool changes(ordo_code code)
{
    return code == ORDO_UPSERT || code == ORDO_INSERT || code == ORDO_ERASE || code == ORDO_COMBINE;
}

/* Sorts the updates of a batch by key, equal keys in row order: ordered forms with 32-bit row numbers as values. */
static bool sort_rows(const struct model *model, const struct column_batch *cols, const struct step *step,
                      struct pairs *sorted, size_t *n)
{
    const size_t bytes = model->key_bytes, count = step->count;
    *n = 0;
    *sorted = (struct pairs) { malloc(count * bytes + 1), malloc(count * 4 + 1) };
    struct pairs spare = { malloc(count * bytes + 1), malloc(count * 4 + 1) };
    const bool   made = sorted->keys && sorted->values && spare.keys && spare.values;
    for (size_t row = step->at; row < step->at + count && made; row++) {
        if (!changes(code_of_row(cols, step, row)))
            continue;
        set_element(sorted->keys, bytes, *n, key_order(model->type, column_get(cols, COL_KEYS, row)));
        set_element(sorted->values, 4, (*n)++, row);
    }
    if (made)
        pairs_sort(*sorted, spare, bytes, 4, *n);
    free(spare.keys);
    free(spare.values);
    return made;
}

/* Applies sorted rows of one key to its value: the last one counts, or all are added up. False: erases the key. */
static bool update_value(const struct column_batch *cols, const struct step *step, const struct pairs *sorted,
                         size_t from, size_t end, uint64_t *value)
{
    const size_t last = (size_t) element(sorted->values, 4, end - 1);
    for (size_t i = from; i < end && step->call == DO_COMBINE; i++)
        *value += column_get(cols, COL_VALUES, (size_t) element(sorted->values, 4, i));
    if (step->call != DO_COMBINE && cols->at[COL_VALUES])
        *value = column_get(cols, COL_VALUES, last);
    return code_of_row(cols, step, last) != ORDO_ERASE;
}

/* Merges sorted rows into a model. DO_APPLY: adds their keys alone and sets present[i] of each key that was there. */
static void merge_rows(const struct model *old, const struct column_batch *cols, const struct step *step,
                       const struct pairs *sorted, size_t n, struct model *out, bool *present)
{
    const size_t bytes = old->key_bytes;
    for (size_t i = 0, j = 0, end = 0; i < old->count || j < n; j = end) {
        const bool     here = i < old->count && (j == n || model_key(old, i) <= element(sorted->keys, bytes, j));
        const uint64_t key = here ? model_key(old, i) : element(sorted->keys, bytes, j);
        uint64_t       value = here ? model_value(old, i) : 0;
        i += here;
        while (end < n && element(sorted->keys, bytes, end) == key)
            end++;
        if (present)
            present[out->count] = here;
        if (present || end == j || update_value(cols, step, sorted, j, end, &value))
            model_set(out, out->count++, key, value);
    }
}

/* Replaces the model by its merge with the updates of a step. */
static bool update(struct model *model, const struct column_batch *cols, const struct step *step, bool **present)
{
    struct pairs sorted = { NULL, NULL };
    size_t       n = 0;
    struct model out = model_empty(model->type, model->value_bytes);
    bool         made = sort_rows(model, cols, step, &sorted, &n);
    out.keys = malloc((model->count + n) * out.key_bytes + 1);
    out.values = malloc((model->count + n) * out.value_bytes + 1);
    if (present)
        *present = malloc(model->count + n + 1);
    made = made && out.keys && out.values && (!present || *present);
    if (made)
        merge_rows(model, cols, step, &sorted, n, &out, present ? *present : NULL);
    free(sorted.keys);
    free(sorted.values);
    model_free(made ? model : &out);
    if (made)
        *model = out;
    return made;
}

/* Counts for each row the elements that it erases first. */
static bool erase_ranges(struct model *model, struct column_batch *cols, const struct step *step)
{
    bool *stays = malloc(model->count + 1);
    if (!stays)
        return false;
    memset(stays, true, model->count);
    for (size_t row = step->at; row < step->at + step->count; row++) {
        const uint64_t lo = key_order(model->type, column_get(cols, COL_KEYS, row));
        const uint64_t hi = key_order(model->type, column_get(cols, COL_HI, row));
        size_t         n = 0;
        for (size_t i = model_below(model, lo, SIZE_MAX); i < model->count && model_key(model, i) <= hi; i++) {
            n += stays[i];
            stays[i] = false;
        }
        column_set(cols, COL_COUNTS, row, n);
    }
    model_keep(model, stays);
    free(stays);
    return true;
}

static size_t peek(const struct model *model, struct column_batch *cols, const struct step *step)
{
    const size_t n = step->count < model->count ? step->count : model->count;
    for (size_t i = 0; i < n; i++)
        put_element(cols, COL_KEYS_OUT, step->at + i, model, step->call == DO_PEEK_LAST ? model->count - 1 - i : i);
    return n;
}

/* ---- queries ------------------------------------------------------------------------------------------------- */

struct query {
    struct model        *model;
    bool                *present; /* whether key i is there; NULL: all are */
    struct column_batch *cols;
    struct step         *step;
    uint64_t             lengths; /* bit set of the model's prefix lengths */
};

static bool is_present(const struct query *query, size_t at)
{
    return !query->present || query->present[at];
}

static uint64_t key_of_row(const struct query *query, enum column_id column, size_t row)
{
    return key_order(query->model->type, column_get(query->cols, column, row));
}

/* The number of smaller keys. Sets *known if the model has the row's key. */
static size_t below_row(const struct query *query, size_t row, bool *known)
{
    const uint32_t *hints = query->cols->hints;
    const uint64_t  key = key_of_row(query, COL_KEYS, row);
    const size_t    below = model_below(query->model, key, hints ? hints[row] : SIZE_MAX);
    *known = below < query->model->count && model_key(query->model, below) == key;
    return below;
}

/* The place in `relation` to a row's key; count if there is none. */
static size_t sought(const struct query *query, ordo_relation relation, size_t row)
{
    const bool   upwards = relation == ORDO_GE || relation == ORDO_GT;
    const size_t count = query->model->count;
    bool         known;
    size_t       at = below_row(query, row, &known);
    if (upwards)
        at += known && relation == ORDO_GT;
    else if (!known || relation == ORDO_LT)
        at = at ? at - 1 : count;
    while (at < count && !is_present(query, at))
        at = upwards ? at + 1 : at ? at - 1 : count;
    return at;
}

/* values: writes the value too. */
static void find_row(const struct query *query, size_t row, bool values)
{
    bool         known;
    const size_t at = below_row(query, row, &known);
    const bool   here = known && is_present(query, at);
    column_set(query->cols, COL_FOUND, row, here);
    if (here && values)
        column_set(query->cols, COL_VALUES_OUT, row, model_value(query->model, at));
}

/* Writes the model's element `at`; count means not found. */
static void put_found(const struct query *query, size_t row, size_t at)
{
    column_set(query->cols, COL_FOUND, row, at < query->model->count);
    if (at < query->model->count)
        put_element(query->cols, COL_KEYS_OUT, row, query->model, at);
}

/* Answers an operation of a mixed or concurrent batch as before it. */
static void answer_code(const struct query *query, size_t row, ordo_code code)
{
    static const ordo_relation relations[] = { ORDO_LT, ORDO_LE, ORDO_GE, ORDO_GT };
    if (code >= ORDO_SEEK_LT && code <= ORDO_SEEK_GT)
        put_found(query, row, sought(query, relations[code - ORDO_SEEK_LT], row));
    else
        find_row(query, row, code == ORDO_FIND);
}

/* The number of keys in a row's interval, from *at on. */
static size_t within_row(const struct query *query, size_t row, size_t *at)
{
    const uint64_t lo = key_of_row(query, COL_KEYS, row), hi = key_of_row(query, COL_HI, row);
    bool           known;
    *at = below_row(query, row, &known);
    const size_t n = lo > hi ? 0 : model_up_to(query->model, hi, *at) - *at;
    return query->step->call == DO_PAGE && n > query->step->limit ? query->step->limit : n;
}

/* Tries each prefix length of the model, longest first. Returns count if none matches. */
static size_t longest_prefix(const struct query *query, size_t row)
{
    const struct model *model = query->model;
    const uint64_t      key = column_get(query->cols, COL_KEYS, row);
    for (unsigned length = 8 * model->key_bytes; length-- > 0;) {
        const uint64_t prefix = prefix_key(model->type, key, length);
        const size_t   at = query->lengths >> length & 1 ? model_below(model, prefix, SIZE_MAX) : model->count;
        if (at < model->count && model_key(model, at) == prefix)
            return at;
    }
    return model->count;
}

/* A range of a concurrent batch, which has room for all its elements. */
static void put_range(const struct query *query, size_t row)
{
    const size_t room = (size_t) column_get(query->cols, COL_ROOMS, row);
    size_t       at;
    const size_t n = within_row(query, row, &at);
    column_set(query->cols, COL_COUNTS, row, n);
    for (size_t k = 0; k < n; k++)
        put_element(query->cols, COL_RANGE_KEYS, room + k, query->model, at + k);
}

static void query_at(void *query_, size_t i)
{
    const struct query *query = query_;
    const size_t        row = query->step->at + i, none = query->model->count;
    size_t              at = 0;
    uint64_t            sum = 0, key;
    unsigned            length;
    switch (query->step->call) {
    case DO_FIND:
        find_row(query, row, true);
        break;
    case DO_SEEK:
        put_found(query, row, sought(query, query->step->relation, row));
        break;
    case DO_SEEK_WITHIN: /* upwards */
        at = sought(query, query->step->relation, row);
        put_found(query, row, at < none && model_key(query->model, at) <= key_of_row(query, COL_HI, row) ? at : none);
        break;
    case DO_SELECT:
        put_found(query, row, (size_t) column_get(query->cols, COL_RANKS, row));
        break;
    case DO_LONGEST_PREFIX:
        put_found(query, row, longest_prefix(query, row));
        break;
    case DO_RANK:
        column_set(query->cols, COL_COUNTS, row, sought(query, ORDO_GE, row)); /* as many keys are less */
        break;
    case DO_COUNT:
        column_set(query->cols, COL_COUNTS, row, within_row(query, row, &at));
        break;
    case DO_COUNT_PREFIX:
        key = column_get(query->cols, COL_KEYS, row);
        length = ((const uint8_t *) query->cols->at[COL_LENGTHS])[row];
        at = model_below(query->model, prefix_least(query->model->type, key, length), SIZE_MAX);
        column_set(query->cols, COL_COUNTS, row,
                   model_up_to(query->model, prefix_greatest(query->model->type, key, length), at) - at);
        break;
    case DO_AGGREGATE:
        for (size_t n = within_row(query, row, &at); n > 0; n--)
            sum += model_value(query->model, at++);
        column_set(query->cols, COL_VALUES_OUT, row, sum);
        break;
    default:
        column_set(query->cols, COL_OUTCOMES, row, ORDO_DONE);
        if (query->step->call == DO_CONCURRENT && code_of_row(query->cols, query->step, row) == ORDO_RANGE)
            put_range(query, row);
        else if (query->cols->at[COL_FOUND])
            answer_code(query, row, code_of_row(query->cols, query->step, row));
        break;
    }
}

static void range_count_at(void *query_, size_t i)
{
    const struct query *query = query_;
    uint64_t           *offsets = (uint64_t *) query->cols->at[COL_OFFSETS] + query->step->offsets_at;
    size_t              at;
    offsets[i + 1] = within_row(query, query->step->at + i, &at);
}

static void range_copy_at(void *query_, size_t i)
{
    const struct query *query = query_;
    const uint64_t     *offsets = (const uint64_t *) query->cols->at[COL_OFFSETS] + query->step->offsets_at;
    size_t              at = sought(query, ORDO_GE, query->step->at + i);
    for (uint64_t k = offsets[i]; k < offsets[i + 1]; k++)
        put_element(query->cols, COL_RANGE_KEYS, query->step->range_at + (size_t) k, query->model, at++);
}

static bool range_room(struct column_batch *cols, size_t rows)
{
    return column_grow(cols, COL_RANGE_KEYS, rows) && column_grow(cols, COL_RANGE_VALUES, rows);
}

static bool do_range(struct model *model, struct column_batch *cols, struct step *step)
{
    struct query query = { .model = model, .cols = cols, .step = step };
    uint64_t    *offsets = (uint64_t *) cols->at[COL_OFFSETS] + step->offsets_at;
    for_each(step->count, range_count_at, &query);
    offsets[0] = 0;
    for (size_t i = 0; i < step->count; i++)
        offsets[i + 1] += offsets[i];
    step->range_count = (size_t) offsets[step->count];
    if (!range_room(cols, step->range_at + step->range_count))
        return false;
    for_each(step->count, range_copy_at, &query);
    return true;
}

/* ---- mixed batches, in order --------------------------------------------------------------------------------- */

static bool interval(const struct query *query, size_t row, bool range)
{
    const struct model *model = query->model;
    const uint64_t      hi = key_of_row(query, COL_HI, row);
    size_t              count = 0;
    for (size_t at = sought(query, ORDO_GE, row); at < model->count && model_key(model, at) <= hi; at++) {
        if (!is_present(query, at))
            continue;
        count++;
        if (!range)
            continue;
        const size_t place = query->step->range_at + query->step->range_count++;
        if (place >= query->cols->rows[COL_RANGE_KEYS] && !range_room(query->cols, 2 * place + 1))
            return false;
        put_element(query->cols, COL_RANGE_KEYS, place, model, at);
    }
    column_set(query->cols, COL_COUNTS, row, count);
    return true;
}

static void change(const struct query *query, size_t row, ordo_code code)
{
    const uint32_t bytes = query->model->value_bytes;
    bool           known;
    const size_t   at = below_row(query, row, &known);
    if (bytes && (code == ORDO_UPSERT || (code == ORDO_INSERT && !query->present[at])))
        set_element(query->model->values, bytes, at, column_get(query->cols, COL_VALUES, row));
    query->present[at] = code != ORDO_ERASE;
}

/* All keys that the batch changes are inserted first, with a flag for presence, so that no operation moves elements. */
static bool do_apply(struct model *model, struct column_batch *cols, struct step *step)
{
    struct query query = { .model = model, .cols = cols, .step = step };
    uint64_t    *offsets = (uint64_t *) cols->at[COL_OFFSETS] + step->offsets_at;
    bool         done = update(model, cols, step, &query.present);
    step->range_count = 0;
    offsets[0] = 0;
    for (size_t i = 0; i < step->count && done; i++) {
        const size_t    row = step->at + i;
        const ordo_code code = code_of_row(cols, step, row);
        if (code == ORDO_COUNT || code == ORDO_RANGE)
            done = interval(&query, row, code == ORDO_RANGE);
        else
            answer_code(&query, row, code);
        if (changes(code))
            change(&query, row, code);
        offsets[i + 1] = step->range_count;
    }
    if (done)
        model_keep(model, query.present);
    free(query.present);
    return done;
}

bool model_do(struct model *model, struct column_batch *cols, struct step *step)
{
    struct query query = { model, NULL, cols, step, 0 };
    size_t       n;
    for (size_t i = 0; i < model->count && step->call == DO_LONGEST_PREFIX; i++)
        query.lengths |= UINT64_C(1) << prefix_length(model->type, model_key(model, i)) % 64;
    switch (step->call) {
    case DO_BUILD:
        model->count = 0;
        return update(model, cols, step, NULL);
    case DO_UPSERT:
    case DO_ERASE:
    case DO_COMBINE:
        return update(model, cols, step, NULL);
    case DO_RANGE:
    case DO_PAGE:
        return do_range(model, cols, step);
    case DO_ERASE_RANGE:
        return erase_ranges(model, cols, step);
    case DO_TAKE_FIRST:
        n = peek(model, cols, step);
        model->count -= n;
        memmove(model->keys, (char *) model->keys + n * model->key_bytes, model->count * model->key_bytes);
        memmove(model->values, (char *) model->values + n * model->value_bytes, model->count * model->value_bytes);
        return true;
    case DO_PEEK_FIRST:
    case DO_PEEK_LAST:
        peek(model, cols, step);
        return true;
    case DO_APPLY:
        return do_apply(model, cols, step);
    case DO_EXPORT:
        step->range_count = model->count;
        if (!range_room(cols, model->count))
            return false;
        for (size_t i = 0; i < model->count; i++)
            put_element(cols, COL_RANGE_KEYS, i, model, i);
        return true;
    case DO_CLEAN_UP:
    case DO_COMPACT: /* no visible change */
        return true;
    default:
        for_each(step->count, query_at, &query);
        return step->call != DO_CONCURRENT || update(model, cols, step, NULL);
    }
}

/* Consecutive batches equal one large batch, because the last of equal keys wins. */
static size_t updates_from(const struct script *script, size_t s, struct step *all)
{
    size_t               n = 1;
    const enum step_call call = script->steps[s].call;
    *all = script->steps[s];
    for (; s + n < script->n_steps && (call == DO_UPSERT || call == DO_ERASE || call == DO_COMBINE); n++) {
        const struct step *next = &script->steps[s + n];
        if (next->call != all->call || next->at != all->at + all->count)
            break;
        all->count += next->count;
    }
    return n;
}

bool model_run(struct model *model, struct script *script)
{
    bool   done = true;
    size_t range_at = 0;
    for (size_t s = 0; s < script->n_steps && done;) {
        struct step *step = &script->steps[s], all;
        step->range_at = range_at;
        const size_t n = updates_from(script, s, &all);
        done = model_do(model, &script->cols, n > 1 ? &all : step);
        range_at += step->range_count;
        s += n;
    }
    return done;
}
