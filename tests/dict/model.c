/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

#include <stdlib.h>
#include <string.h>

struct model model_empty(ordo_type type, uint32_t value_bytes)
{
    return (struct model) { .type = type, .value_bytes = value_bytes };
}

struct model model_copy(const struct model *model)
{
    struct model copy = *model;

    copy.room = model->count + 1;
    copy.element = calloc(copy.room, sizeof *copy.element);
    if (!copy.element)
        abort();
    if (model->count)
        memcpy(copy.element, model->element, model->count * sizeof *copy.element);
    return copy;
}

void model_free(struct model *model)
{
    free(model->element);
    *model = model_empty(model->type, model->value_bytes);
}

void model_clear(struct model *model)
{
    model->count = 0;
}

static void put_flag(uint8_t *array, size_t i, bool flag)
{
    if (array)
        array[i] = flag;
}

static int by_form(const void *a, const void *b)
{
    const struct model_element *x = a, *y = b;

    return x->form < y->form ? -1 : x->form > y->form;
}

void model_put_in_order(const ordo_dict *dict, ordo_type type, uint32_t value_bytes, void *keys, void *values,
                        size_t count)
{
    const size_t key_bytes = ordo_type_bytes(type);

    if (count == 0 || ordo_dict_can(dict, ORDO_CAN_ORDER))
        return;
    AUTO_FREE struct model_element *element = calloc(count, sizeof *element);
    if (!element)
        abort();
    for (size_t i = 0; i < count; i++)
        element[i] = (struct model_element) { form_of_key(type, keys, i), read_key(keys, key_bytes, i),
                                              values ? read_key(values, value_bytes, i) : 0 };
    qsort(element, count, sizeof *element, by_form);
    for (size_t i = 0; i < count; i++) {
        write_bits(keys, key_bytes, i, element[i].key);
        write_bits(values, value_bytes, i, element[i].value);
    }
}

/* ---- the sorted array -------------------------------------------------------------------------------------------- */

size_t model_rank(const struct model *model, key_form form)
{
    size_t low = 0, high = model->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (model->element[middle].form < form)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct model *model, size_t at, key_form form)
{
    return at < model->count && model->element[at].form == form;
}

static void put_in(struct model *model, size_t at, struct model_element element)
{
    if (model->count == model->room) {
        model->room = 2 * model->room + 64;
        model->element = realloc(model->element, model->room * sizeof element);
        if (!model->element)
            abort();
    }
    memmove(&model->element[at + 1], &model->element[at], (model->count - at) * sizeof element);
    model->element[at] = element;
    model->count++;
}

static void take_out(struct model *model, size_t at)
{
    model->count--;
    memmove(&model->element[at], &model->element[at + 1], (model->count - at) * sizeof *model->element);
}

/* ---- operations -------------------------------------------------------------------------------------------------- */

/* Position of the nearest key in this relation to `form`; model->count if there is none. */
static size_t neighbour(const struct model *model, ordo_code code, key_form form)
{
    const size_t at = model_rank(model, form);
    const bool   is_there = is_at(model, at, form);

    switch (code) {
    case ORDO_SEEK_LT:
        return at > 0 ? at - 1 : model->count;
    case ORDO_SEEK_LE:
        return is_there ? at : at > 0 ? at - 1 : model->count;
    case ORDO_SEEK_GE:
        return at;
    default:
        return is_there ? at + 1 : at;
    }
}

/* Writes the result of operation i: the element at `at`, or none. */
static void put_element(const struct model *model, const struct ordo_host_batch *batch, size_t i, size_t at)
{
    put_flag(batch->found, i, at < model->count);
    if (at == model->count)
        return;
    write_bits(batch->keys_out, ordo_type_bytes(model->type), i, model->element[at].key);
    write_bits(batch->values_out, model->value_bytes, i, model->element[at].value);
}

static void seek(const struct model *model, const struct ordo_host_batch *batch, size_t i, key_form form)
{
    put_element(model, batch, i, neighbour(model, (ordo_code) batch->codes[i], form));
}

static uint64_t combined(const struct ordo_host_batch *batch, uint64_t old, uint64_t with)
{
    const bool     narrow = ordo_type_bytes(batch->value) == 4;
    const uint32_t words[] = { (uint32_t) old, (uint32_t) with };
    const uint64_t wide[] = { old, with };
    const void    *a = narrow ? (const void *) &words[0] : &wide[0], *b = narrow ? (const void *) &words[1] : &wide[1];

    if (batch->combine == ORDO_SUM)
        return narrow ? (uint32_t) (old + with) : old + with;
    return (ordo_key_bits(batch->value, a) < ordo_key_bits(batch->value, b)) == (batch->combine == ORDO_MIN) ? old
                                                                                                             : with;
}

/* Counts the elements between two keys. For a range, writes them from `offset` on. */
static size_t enumerate(const struct model *model, const struct ordo_host_batch *batch, size_t i, key_form low,
                        size_t offset)
{
    const size_t   key_bytes = ordo_type_bytes(model->type);
    const key_form high = form_of_key(model->type, batch->hi, i);
    size_t         n = 0;

    for (size_t at = model_rank(model, low); at < model->count && model->element[at].form <= high; at++, n++) {
        if (batch->codes[i] != ORDO_RANGE || offset + n >= batch->range_capacity)
            continue;
        write_bits(batch->range_keys, key_bytes, offset + n, model->element[at].key);
        write_bits(batch->range_values, model->value_bytes, offset + n, model->element[at].value);
    }
    if (batch->counts)
        batch->counts[i] = (uint32_t) n;
    return batch->codes[i] == ORDO_RANGE ? n : 0;
}

/* A key of the batch and its position, with the key's element while its operations run. */
struct point {
    bool                 is_there;
    struct model_element element;
};

static bool is_point(uint8_t code)
{
    return code <= ORDO_ERASE || code == ORDO_COMBINE;
}

/* Runs operation i, which is on a single key, on the key's element. */
static void apply_point(const struct model *model, const struct ordo_host_batch *batch, size_t i, struct point *point)
{
    const size_t   key_bytes = ordo_type_bytes(model->type);
    const key_form value = batch->values ? read_key(batch->values, model->value_bytes, i) : 0;
    const bool     was_there = point->is_there;

    put_flag(batch->found, i, was_there);
    if (batch->codes[i] == ORDO_FIND && was_there)
        write_bits(batch->values_out, model->value_bytes, i, point->element.value);
    if (batch->codes[i] == ORDO_ERASE)
        point->is_there = false;
    if (batch->codes[i] <= ORDO_CONTAINS || batch->codes[i] == ORDO_ERASE)
        return;
    if (!was_there)
        point->element.key = read_key(batch->keys, key_bytes, i);
    if (was_there && batch->codes[i] == ORDO_COMBINE)
        point->element.value = combined(batch, (uint64_t) point->element.value, (uint64_t) value);
    else if (!was_there || batch->codes[i] == ORDO_UPSERT)
        point->element.value = value;
    point->is_there = true;
}

static key_form form_of(const struct model *model, const struct ordo_host_batch *batch, size_t i)
{
    return form_of_key(model->type, batch->keys, i);
}

/* Returns the number of elements that the operation adds to the ranges. */
static size_t apply_one(struct model *model, const struct ordo_host_batch *batch, size_t i, size_t offset)
{
    const key_form form = form_of(model, batch, i);
    const size_t   at = model_rank(model, form);
    const bool     is_there = is_at(model, at, form);
    struct point   point = { is_there, is_there ? model->element[at] : (struct model_element) { .form = form } };

    if (is_point(batch->codes[i])) {
        apply_point(model, batch, i, &point);
        if (is_there && point.is_there)
            model->element[at] = point.element;
        else if (is_there)
            take_out(model, at);
        else if (point.is_there)
            put_in(model, at, point.element);
        return 0;
    }
    switch ((ordo_code) batch->codes[i]) {
    case ORDO_RANK_LT:
    case ORDO_RANK_LE:
        if (batch->counts)
            batch->counts[i] = (uint32_t) (at + (is_there && batch->codes[i] == ORDO_RANK_LE));
        return 0;
    case ORDO_SELECT: {
        const key_form rank = read_key(batch->keys, ordo_type_bytes(model->type), i);
        put_element(model, batch, i, rank < model->count ? (size_t) rank : model->count);
        return 0;
    }
    case ORDO_COUNT:
    case ORDO_RANGE:
        return enumerate(model, batch, i, form, offset);
    default:
        seek(model, batch, i, form);
        return 0;
    }
}

/* ---- batches of operations on single keys ------------------------------------------------------------------------ */

struct turn {
    key_form form;
    size_t   i;
};

static int by_turn(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;

    return x->form != y->form ? (x->form < y->form ? -1 : 1) : x->i < y->i ? -1 : x->i > y->i;
}

/* The operations sorted by key; for each key in the order of the batch. */
static struct turn *turns_of(const struct model *model, const struct ordo_host_batch *batch)
{
    struct turn *turn = calloc(batch->count, sizeof *turn);

    if (!turn)
        abort();
    for (size_t i = 0; i < batch->count; i++)
        turn[i] = (struct turn) { form_of(model, batch, i), i };
    qsort(turn, batch->count, sizeof *turn, by_turn);
    return turn;
}

/* Merges the operations into the elements in one pass. apply_one would move the rest for each new key. */
static void apply_merged(struct model *model, const struct ordo_host_batch *batch)
{
    const size_t          room = model->count + batch->count;
    struct turn          *turn = turns_of(model, batch);
    struct model_element *merged = calloc(room, sizeof *merged);
    size_t                n = 0, at = 0;

    if (!merged)
        abort();
    for (size_t i = 0; i < batch->count;) {
        const key_form form = turn[i].form;
        struct point   point = { .element.form = form };
        while (at < model->count && model->element[at].form < form)
            merged[n++] = model->element[at++];
        if (is_at(model, at, form))
            point = (struct point) { true, model->element[at++] };
        for (; i < batch->count && turn[i].form == form; i++)
            apply_point(model, batch, turn[i].i, &point);
        if (point.is_there)
            merged[n++] = point.element;
    }
    while (at < model->count)
        merged[n++] = model->element[at++];
    free(turn);
    free(model->element);
    model->element = merged;
    model->count = n;
    model->room = room;
}

static bool has_points_alone(const struct ordo_host_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        if (!is_point(batch->codes[i]))
            return false;
    return batch->count > 0;
}

size_t model_apply(struct model *model, const struct ordo_host_batch *batch)
{
    size_t offset = 0;

    if (has_points_alone(batch)) {
        apply_merged(model, batch);
        if (batch->offsets)
            memset(batch->offsets, 0, (batch->count + 1) * sizeof *batch->offsets);
        return 0;
    }
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->offsets)
            batch->offsets[i] = offset;
        offset += apply_one(model, batch, i, offset);
    }
    if (batch->offsets)
        batch->offsets[batch->count] = offset;
    return offset;
}

size_t model_room(const struct model *model, const struct ordo_host_batch *batch)
{
    const struct ordo_host_batch silent = { .codes = batch->codes,
                                            .keys = batch->keys,
                                            .hi = batch->hi,
                                            .values = batch->values,
                                            .count = batch->count,
                                            .value = batch->value,
                                            .combine = batch->combine };
    struct model                 copy = model_copy(model);
    const size_t                 room = model_apply(&copy, &silent);

    model_free(&copy);
    return room;
}

struct model model_of_arrays(ordo_type type, uint32_t value_bytes, const void *keys, const void *values, size_t count)
{
    struct model       model = model_empty(type, value_bytes);
    AUTO_FREE uint8_t *codes = malloc(count + 1);

    if (!codes)
        abort();
    memset(codes, ORDO_UPSERT, count);
    (void) model_apply(&model,
                       &(struct ordo_host_batch) { .codes = codes, .keys = keys, .values = values, .count = count });
    return model;
}
