/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

#include "baseline.h"
#include "bench/common/threads.h"
#include "keys.h"

#include <stdlib.h>

/* ---- updates ------------------------------------------------------------------------------------------------- */

static ordo_code code_of_row(const struct column_batch *cols, const struct step *step, size_t row)
{
    if (step->call == DO_CONCURRENT)
        return (ordo_code) ((const uint8_t *) cols->at[COL_CODES])[row];
    return step->call == DO_ERASE ? ORDO_ERASE : step->call == DO_COMBINE ? ORDO_COMBINE : ORDO_UPSERT;
}

static bool changes(ordo_code code)
{
    return code == ORDO_UPSERT || code == ORDO_ERASE || code == ORDO_COMBINE;
}

/* Updates of a step by part: first their number, then their place. */
struct rows {
    const struct model        *model;
    const struct column_batch *cols;
    const struct step         *step;
    struct pairs               to;
    size_t                     place[MAX_PARTS];
};

static void count_rows(void *rows_, size_t from, size_t to, int part)
{
    struct rows *rows = rows_;
    size_t       n = 0;
    for (size_t row = rows->step->at + from; row < rows->step->at + to; row++)
        n += changes(code_of_row(rows->cols, rows->step, row));
    rows->place[part] = n;
}

static void take_rows(void *rows_, size_t from, size_t to, int part)
{
    const struct rows  *rows = rows_;
    const struct model *model = rows->model;
    size_t              at = rows->place[part];
    for (size_t row = rows->step->at + from; row < rows->step->at + to; row++) {
        if (!changes(code_of_row(rows->cols, rows->step, row)))
            continue;
        set_element(rows->to.keys, model->key_bytes, at, key_order(model->type, column_get(rows->cols, COL_KEYS, row)));
        set_element(rows->to.values, 4, at++, row);
    }
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
    if (made) {
        struct rows rows = { model, cols, step, *sorted, { 0 } };
        const int   parts = for_spans(count, count_rows, &rows);
        for (int p = 0; p < parts; p++) {
            const size_t here = rows.place[p];
            rows.place[p] = *n;
            *n += here;
        }
        for_spans(count, take_rows, &rows);
        pairs_sort(*sorted, spare, bytes, 4, *n);
    }
    free(spare.keys);
    free(spare.values);
    return made;
}

static size_t end_of_group(const struct pairs *sorted, size_t key_bytes, size_t at, size_t n)
{
    size_t end = at + 1;
    while (end < n && element(sorted->keys, key_bytes, end) == element(sorted->keys, key_bytes, at))
        end++;
    return end;
}

static uint64_t sum_of_rows(const struct pairs *sorted, const struct column_batch *cols, size_t at, size_t end)
{
    uint64_t sum = 0;
    for (; at < end; at++)
        sum += column_get(cols, COL_VALUES, (size_t) element(sorted->values, 4, at));
    return sum;
}

/* Merges sorted updates into a model in parts of whole keys. Each part first counts its output, then writes it. */
struct merging {
    const struct model        *old;
    struct pairs               sorted;
    size_t                     n;
    const struct column_batch *cols;
    const struct step         *step;
    struct model               out;
    bool                       write;
    int                        parts;
    size_t                     old_from[MAX_PARTS + 1], new_from[MAX_PARTS + 1];
    size_t                     out_from[MAX_PARTS], given[MAX_PARTS];
};

/* The last of equal rows is stored or erases its key, or all are added up. Returns the number of resulting elements:
 * 0 or 1. */
static size_t merge_group(const struct merging *m, size_t i, bool here, size_t j, size_t end, size_t at)
{
    const size_t   bytes = m->old->key_bytes, row = (size_t) element(m->sorted.values, 4, end - 1);
    const uint64_t key = element(m->sorted.keys, bytes, j);
    if (m->step->call != DO_COMBINE && code_of_row(m->cols, m->step, row) == ORDO_ERASE)
        return 0;
    if (m->write && m->step->call == DO_COMBINE)
        model_set(&m->out, at, key, (here ? model_value(m->old, i) : 0) + sum_of_rows(&m->sorted, m->cols, j, end));
    else if (m->write)
        model_set(&m->out, at, key, m->out.value_bytes ? column_get(m->cols, COL_VALUES, row) : 0);
    return 1;
}

static void merge_part(void *merging_, int part)
{
    struct merging     *m = merging_;
    const struct model *old = m->old;
    const size_t        bytes = old->key_bytes, old_end = m->old_from[part + 1], new_end = m->new_from[part + 1];
    size_t              i = m->old_from[part], j = m->new_from[part], at = m->out_from[part];
    while (i < old_end || j < new_end) {
        if (j == new_end || (i < old_end && model_key(old, i) < element(m->sorted.keys, bytes, j))) {
            if (m->write)
                model_set(&m->out, at, model_key(old, i), model_value(old, i));
            at++;
            i++;
            continue;
        }
        const bool   here = i < old_end && model_key(old, i) == element(m->sorted.keys, bytes, j);
        const size_t end = end_of_group(&m->sorted, bytes, j, m->n);
        at += merge_group(m, i, here, j, end, at);
        i += here;
        j = end;
    }
    m->given[part] = at - m->out_from[part];
}

#define MERGE_MIN 65536

/* Cuts by keys of the longer side. */
static void cut_parts(struct merging *m)
{
    const size_t      bytes = m->old->key_bytes, longer = m->old->count > m->n ? m->old->count : m->n;
    const void *const keys = m->old->count > m->n ? m->old->keys : m->sorted.keys;
    const size_t      bearable = longer / MERGE_MIN + 1;
    m->parts = processors() < MAX_PARTS ? processors() : MAX_PARTS;
    m->parts = (size_t) m->parts > bearable ? (int) bearable : m->parts;
    for (int p = 1; p < m->parts; p++) {
        const uint64_t key = element(keys, bytes, longer / (size_t) m->parts * (size_t) p);
        m->old_from[p] = host_lower_bound(m->old->keys, bytes, m->old->count, key);
        m->new_from[p] = host_lower_bound(m->sorted.keys, bytes, m->n, key);
    }
    m->old_from[0] = m->new_from[0] = 0;
    m->old_from[m->parts] = m->old->count;
    m->new_from[m->parts] = m->n;
}

static void merge_rows(struct merging *m)
{
    cut_parts(m);
    run_parts(m->parts, merge_part, m);
    for (int p = 0; p < m->parts; p++) {
        m->out_from[p] = m->out.count;
        m->out.count += m->given[p];
    }
    m->write = true;
    run_parts(m->parts, merge_part, m);
}

static bool update(struct model *model, const struct column_batch *cols, const struct step *step)
{
    const size_t   most = model->count + step->count;
    struct merging m = { .old = model, .cols = cols, .step = step };
    m.out = model_empty(model->type, model->value_bytes);
    m.out.keys = malloc(most * m.out.key_bytes + 1);
    m.out.values = malloc(most * m.out.value_bytes + 1);
    const bool made = m.out.keys && m.out.values && sort_rows(model, cols, step, &m.sorted, &m.n);
    if (made)
        merge_rows(&m);
    free(m.sorted.keys);
    free(m.sorted.values);
    if (!made) {
        model_free(&m.out);
        return false;
    }
    model_free(model);
    model->keys = m.out.keys;
    model->values = m.out.values;
    model->count = m.out.count;
    return true;
}

/* ---- queries ------------------------------------------------------------------------------------------------- */

struct query {
    const struct model  *model;
    struct column_batch *cols;
    const struct step   *step;
    uint64_t             lengths; /* bit set of the model's prefix lengths */
};

static uint64_t key_of_row(const struct query *query, enum column_id column, size_t row)
{
    return key_order(query->model->type, column_get(query->cols, column, row));
}

static size_t below_row(const struct query *query, size_t row)
{
    const uint32_t *hints = query->cols->hints;
    return model_below(query->model, key_of_row(query, COL_KEYS, row), hints ? hints[row] : SIZE_MAX);
}

/* values: writes the value too. */
static void find_row(const struct query *query, size_t row, bool values)
{
    const struct model *model = query->model;
    const size_t        at = below_row(query, row);
    const bool          here = at < model->count && model_key(model, at) == key_of_row(query, COL_KEYS, row);
    column_set(query->cols, COL_FOUND, row, here);
    if (here && values)
        column_set(query->cols, COL_VALUES_OUT, row, model_value(model, at));
}

/* The place in `relation` to a row's key; count if there is none. */
static size_t sought(const struct query *query, ordo_relation relation, size_t row)
{
    const struct model *model = query->model;
    const size_t        below = below_row(query, row);
    const bool          here = below < model->count && model_key(model, below) == key_of_row(query, COL_KEYS, row);
    const bool          equal_too = relation == ORDO_LE || relation == ORDO_GE;
    if (here && equal_too)
        return below;
    if (relation == ORDO_GE || relation == ORDO_GT)
        return below + here;
    return below ? below - 1 : model->count;
}

/* Writes the model's element `at`; count means not found. */
static void put_found(const struct query *query, size_t row, size_t at)
{
    const struct model *model = query->model;
    const bool          found = at < model->count;
    column_set(query->cols, COL_FOUND, row, found);
    if (!found)
        return;
    column_set(query->cols, COL_KEYS_OUT, row, key_stored(model->type, model_key(model, at)));
    column_set(query->cols, COL_VALUES_OUT, row, model_value(model, at));
}

/* The number of keys in a row's interval, from *at on. */
static size_t within_row(const struct query *query, size_t row, size_t *at)
{
    const uint64_t lo = key_of_row(query, COL_KEYS, row), hi = key_of_row(query, COL_HI, row);
    *at = below_row(query, row);
    const size_t n = lo > hi ? 0 : model_up_to(query->model, hi, *at) - *at;
    return query->step->call == DO_PAGE && n > query->step->limit ? query->step->limit : n;
}

static uint64_t sum_of_row(const struct query *query, size_t row)
{
    size_t       at;
    const size_t n = within_row(query, row, &at);
    uint64_t     sum = 0;
    for (size_t k = at; k < at + n; k++)
        sum += model_value(query->model, k);
    return sum;
}

static size_t count_prefix(const struct query *query, size_t row)
{
    const ordo_type type = query->model->type;
    const uint64_t  key = column_get(query->cols, COL_KEYS, row);
    const unsigned  length = ((const uint8_t *) query->cols->at[COL_LENGTHS])[row];
    const size_t    below = model_below(query->model, prefix_least(type, key, length), SIZE_MAX);
    return model_up_to(query->model, prefix_greatest(type, key, length), below) - below;
}

/* The bit set of the prefix lengths in the model. */
static uint64_t prefix_lengths(const struct model *model)
{
    uint64_t lengths = 0;
    for (size_t i = 0; i < model->count; i++)
        lengths |= UINT64_C(1) << prefix_length(model->type, model_key(model, i)) % 64;
    return lengths;
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

/* Answers an operation of a concurrent batch as before the batch. */
static void concurrent_row(const struct query *query, size_t row)
{
    const ordo_code code = code_of_row(query->cols, query->step, row);
    column_set(query->cols, COL_OUTCOMES, row, ORDO_DONE);
    if (query->cols->at[COL_FOUND] && code == ORDO_SEEK_GE)
        put_found(query, row, sought(query, ORDO_GE, row));
    else if (query->cols->at[COL_FOUND])
        find_row(query, row, code == ORDO_FIND);
}

static void query_at(void *query_, size_t i)
{
    const struct query *query = query_;
    const size_t        row = query->step->at + i, none = query->model->count;
    size_t              at = 0;
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
        column_set(query->cols, COL_COUNTS, row, below_row(query, row));
        break;
    case DO_COUNT:
        column_set(query->cols, COL_COUNTS, row, within_row(query, row, &at));
        break;
    case DO_COUNT_PREFIX:
        column_set(query->cols, COL_COUNTS, row, count_prefix(query, row));
        break;
    case DO_AGGREGATE:
        column_set(query->cols, COL_VALUES_OUT, row, sum_of_row(query, row));
        break;
    default:
        concurrent_row(query, row);
        break;
    }
}

/* Writes the count to offsets[i + 1]. */
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
    const struct model *model = query->model;
    const uint64_t     *offsets = (const uint64_t *) query->cols->at[COL_OFFSETS] + query->step->offsets_at;
    const size_t        first = below_row(query, query->step->at + i);
    for (uint64_t k = offsets[i]; k < offsets[i + 1]; k++) {
        const size_t at = first + (size_t) (k - offsets[i]), place = query->step->range_at + (size_t) k;
        column_set(query->cols, COL_RANGE_KEYS, place, key_stored(model->type, model_key(model, at)));
        column_set(query->cols, COL_RANGE_VALUES, place, model_value(model, at));
    }
}

static bool do_range(const struct model *model, struct column_batch *cols, struct step *step)
{
    struct query query = { model, cols, step, 0 };
    uint64_t    *offsets = (uint64_t *) cols->at[COL_OFFSETS] + step->offsets_at;
    for_each(step->count, range_count_at, &query);
    offsets[0] = 0;
    for (size_t i = 0; i < step->count; i++)
        offsets[i + 1] += offsets[i];
    step->range_count = (size_t) offsets[step->count];
    if (!column_grow(cols, COL_RANGE_KEYS, step->range_at + step->range_count) ||
        !column_grow(cols, COL_RANGE_VALUES, step->range_at + step->range_count))
        return false;
    for_each(step->count, range_copy_at, &query);
    return true;
}

static void export_at(void *query_, size_t i)
{
    const struct query *query = query_;
    column_set(query->cols, COL_RANGE_KEYS, i, key_stored(query->model->type, model_key(query->model, i)));
    column_set(query->cols, COL_RANGE_VALUES, i, model_value(query->model, i));
}

static bool do_export(const struct model *model, struct column_batch *cols, struct step *step)
{
    struct query query = { model, cols, step, 0 };
    step->range_count = model->count;
    if (!column_grow(cols, COL_RANGE_KEYS, model->count) || !column_grow(cols, COL_RANGE_VALUES, model->count))
        return false;
    for_each(model->count, export_at, &query);
    return true;
}

/* ---- any step ------------------------------------------------------------------------------------------------ */

bool model_do(struct model *model, struct column_batch *cols, struct step *step)
{
    struct query query = { model, cols, step, step->call == DO_LONGEST_PREFIX ? prefix_lengths(model) : 0 };
    switch (step->call) {
    case DO_BUILD:
        model->count = 0;
        return update(model, cols, step);
    case DO_UPSERT:
    case DO_ERASE:
    case DO_COMBINE:
        return update(model, cols, step);
    case DO_RANGE:
    case DO_PAGE:
        return do_range(model, cols, step);
    case DO_ERASE_RANGE:
        return model_erase_ranges(model, cols, step);
    case DO_TAKE_FIRST:
        model_take_first(model, cols, step);
        return true;
    case DO_PEEK_FIRST:
    case DO_PEEK_LAST:
        model_peek(model, cols, step);
        return true;
    case DO_APPLY:
        return model_apply(model, cols, step);
    case DO_EXPORT:
        return do_export(model, cols, step);
    case DO_CLEAN_UP:
    case DO_COMPACT: /* no visible change */
        return true;
    default:
        for_each(step->count, query_at, &query);
        return step->call != DO_CONCURRENT || update(model, cols, step);
    }
}

static bool is_update(enum step_call call)
{
    return call == DO_UPSERT || call == DO_ERASE || call == DO_COMBINE;
}

/* Consecutive batches equal one large batch, because the last of equal keys wins. */
static size_t updates_from(const struct script *script, size_t s, struct step *all)
{
    size_t n = 1;
    *all = script->steps[s];
    for (; s + n < script->n_steps && is_update(all->call); n++) {
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
