/* SPDX-License-Identifier: Apache-2.0 */
/* Updates of the model, on all processors: sorts the rows of a step, then merges them into the elements. */
#include "model.h"

#include "baseline.h"
#include "bench/common/threads.h"
#include "keys.h"

#include <stdlib.h>
#include <string.h>

ordo_code code_of_row(const struct column_batch *cols, const struct step *step, size_t row)
{
    if (step->call == DO_CONCURRENT || step->call == DO_APPLY)
        return (ordo_code) ((const uint8_t *) cols->at[COL_CODES])[row];
    return step->call == DO_ERASE ? ORDO_ERASE : step->call == DO_COMBINE ? ORDO_COMBINE : ORDO_UPSERT;
}

bool changes_content(ordo_code code)
{
    return code == ORDO_UPSERT || code == ORDO_INSERT || code == ORDO_ERASE || code == ORDO_COMBINE;
}

struct taking {
    const struct model        *model;
    const struct column_batch *cols;
    const struct step         *step;
    struct pairs               to;
    size_t                     place[MAX_PARTS + 1]; /* of each part's first update in `to` */
};

static void count_updates(void *taking_, size_t from, size_t to, int part)
{
    struct taking *taking = taking_;
    size_t         n = 0;
    for (size_t i = from; i < to; i++)
        n += changes_content(code_of_row(taking->cols, taking->step, taking->step->at + i));
    taking->place[part + 1] = n;
}

static void take_updates(void *taking_, size_t from, size_t to, int part)
{
    const struct taking *taking = taking_;
    const struct model  *model = taking->model;
    size_t               at = taking->place[part];
    for (size_t row = taking->step->at + from; row < taking->step->at + to; row++) {
        if (!changes_content(code_of_row(taking->cols, taking->step, row)))
            continue;
        set_element(taking->to.keys, model->key_bytes, at,
                    key_order(model->type, column_get(taking->cols, COL_KEYS, row)));
        set_element(taking->to.values, 4, at++, row);
    }
}

/* Sorts the updates of a batch by key, equal keys in row order: ordered forms with 32-bit row numbers as values. */
static bool sort_rows(const struct model *model, const struct column_batch *cols, const struct step *step,
                      struct pairs *sorted, size_t *n)
{
    const size_t bytes = model->key_bytes, count = step->count;
    *sorted = (struct pairs) { malloc(count * bytes + 1), malloc(count * 4 + 1) };
    struct pairs  spare = { malloc(count * bytes + 1), malloc(count * 4 + 1) };
    struct taking taking = { .model = model, .cols = cols, .step = step, .to = *sorted };
    const bool    made = sorted->keys && sorted->values && spare.keys && spare.values;
    *n = 0;
    if (made) {
        const int parts = for_spans(count, count_updates, &taking);
        for (int p = 0; p < parts; p++)
            taking.place[p + 1] += taking.place[p];
        for_spans(count, take_updates, &taking);
        *n = taking.place[parts];
        pairs_sort(*sorted, spare, bytes, 4, *n);
    }
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
struct merging {
    const struct model        *old;
    const struct column_batch *cols;
    const struct step         *step;
    struct pairs               sorted;
    size_t                     n, parts;
    struct model               out;
    bool                      *present;
    /* The elements of a part begin at at[part] + rows[part] of `out`. */
    size_t at[MAX_PARTS + 1], rows[MAX_PARTS + 1], count[MAX_PARTS];
};

static void merge_part(void *merging_, int part)
{
    struct merging     *m = merging_;
    const struct model *old = m->old;
    const size_t        bytes = old->key_bytes, begin = m->at[part] + m->rows[part];
    const size_t        i_end = m->at[part + 1], n = m->rows[part + 1];
    size_t              to = begin;
    for (size_t i = m->at[part], j = m->rows[part], end = j; i < i_end || j < n; j = end) {
        const bool     here = i < i_end && (j == n || model_key(old, i) <= element(m->sorted.keys, bytes, j));
        const uint64_t key = here ? model_key(old, i) : element(m->sorted.keys, bytes, j);
        uint64_t       value = here ? model_value(old, i) : 0;
        i += here;
        while (end < n && element(m->sorted.keys, bytes, end) == key)
            end++;
        if (m->present)
            m->present[to] = here;
        if (m->present || end == j || update_value(m->cols, m->step, &m->sorted, j, end, &value))
            model_set(&m->out, to++, key, value);
    }
    m->count[part] = to - begin;
}

/* Fewer elements are merged by one part. */
#define PART_MIN 65536

/* Parts have about as many elements of both. A key is in one part. */
static void split_merge(struct merging *m)
{
    const struct model *old = m->old;
    const void         *rows = m->sorted.keys;
    const size_t        bytes = old->key_bytes, all = old->count + m->n, threads = (size_t) processors();
    m->parts = all < PART_MIN ? 1 : threads < MAX_PARTS ? threads : MAX_PARTS;
    for (size_t p = 1; p < m->parts; p++) {
        const size_t diagonal = all / m->parts * p;
        const size_t i = host_merge_split(old->keys, old->count, rows, m->n, bytes, diagonal);
        size_t       j = diagonal - i;
        uint64_t     last = i ? model_key(old, i - 1) : 0;
        if (j && (!i || element(rows, bytes, j - 1) > last))
            last = element(rows, bytes, j - 1);
        while (j < m->n && element(rows, bytes, j) == last)
            j++;
        m->at[p] = model_up_to(old, last, i);
        m->rows[p] = j;
    }
    m->at[m->parts] = old->count;
    m->rows[m->parts] = m->n;
}

/* Closes the gaps between the parts. */
static void join_parts(struct merging *m)
{
    struct model *out = &m->out;
    for (size_t p = 0; p < m->parts; p++) {
        const size_t from = m->at[p] + m->rows[p], n = m->count[p], key = out->key_bytes, value = out->value_bytes;
        memmove((char *) out->keys + out->count * key, (char *) out->keys + from * key, n * key);
        memmove((char *) out->values + out->count * value, (char *) out->values + from * value, n * value);
        if (m->present)
            memmove(m->present + out->count, m->present + from, n);
        out->count += n;
    }
}

bool model_update(struct model *model, const struct column_batch *cols, const struct step *step, bool **present)
{
    struct merging m = { .old = model, .cols = cols, .step = step };
    bool           made = sort_rows(model, cols, step, &m.sorted, &m.n);
    const size_t   most = model->count + m.n;
    m.out = model_empty(model->type, model->value_bytes);
    m.out.keys = malloc(most * m.out.key_bytes + 1);
    m.out.values = malloc(most * m.out.value_bytes + 1);
    if (present)
        m.present = *present = malloc(most + 1);
    made = made && m.out.keys && m.out.values && (!present || *present);
    if (made) {
        split_merge(&m);
        run_parts((int) m.parts, merge_part, &m);
        join_parts(&m);
    }
    free(m.sorted.keys);
    free(m.sorted.values);
    model_free(made ? model : &m.out);
    if (made)
        *model = m.out;
    return made;
}

bool model_erase_ranges(struct model *model, struct column_batch *cols, const struct step *step)
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
