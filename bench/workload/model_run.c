/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

#include "baseline.h"
#include "bench/common/threads.h"
#include "keys.h"

#include <stdlib.h>
#include <string.h>

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
    bool         done = model_update(model, cols, step, &query.present);
    step->range_count = 0;
    offsets[0] = 0;
    for (size_t i = 0; i < step->count && done; i++) {
        const size_t    row = step->at + i;
        const ordo_code code = code_of_row(cols, step, row);
        if (code == ORDO_COUNT || code == ORDO_RANGE)
            done = interval(&query, row, code == ORDO_RANGE);
        else
            answer_code(&query, row, code);
        if (changes_content(code))
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
        return model_update(model, cols, step, NULL);
    case DO_UPSERT:
    case DO_ERASE:
    case DO_COMBINE:
        return model_update(model, cols, step, NULL);
    case DO_RANGE:
    case DO_PAGE:
        return do_range(model, cols, step);
    case DO_ERASE_RANGE:
        return model_erase_ranges(model, cols, step);
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
        return step->call != DO_CONCURRENT || model_update(model, cols, step, NULL);
    }
}

/* Consecutive batches without results but outcomes equal one large batch, because the last of equal keys wins. */
static size_t updates_from(const struct script *script, size_t s, struct step *all)
{
    const struct column_batch *cols = &script->cols;
    size_t                     n = 1;
    const enum step_call       call = script->steps[s].call;
    const bool                 asks = call == DO_CONCURRENT && (cols->at[COL_FOUND] || cols->at[COL_ROOMS]);
    const bool joins = call == DO_UPSERT || call == DO_ERASE || call == DO_COMBINE || call == DO_CONCURRENT;
    *all = script->steps[s];
    for (; s + n < script->n_steps && joins && !asks; n++) {
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
