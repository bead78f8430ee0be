/* SPDX-License-Identifier: Apache-2.0 */
/* Mixed batches on the model, one operation after another. The keys that the batch changes are put among the model's
 * beforehand, so that no operation has to move anything: each key is only there or not. */
#include "model.h"

#include "baseline.h"
#include "keys.h"
#include "workload.h"

#include <stdlib.h>

struct bag {
    struct model all;     /* every key that is there now or will be */
    bool        *present; /* whether all.keys[i] is there */
};

static bool changes(uint64_t code)
{
    return code == ORDO_UPSERT || code == ORDO_INSERT || code == ORDO_ERASE;
}

/* The keys that the batch changes, ascending, repeats included. */
static bool changed_keys(const struct model *model, const struct sheet *sheet, const struct step *step, void **keys,
                         size_t *count)
{
    const size_t bytes = model->key_bytes;
    void        *spare = malloc(step->count * bytes + 1);
    *keys = malloc(step->count * bytes + 1);
    *count = 0;
    if (!spare || !*keys) {
        free(spare);
        return false;
    }
    for (size_t row = step->at; row < step->at + step->count; row++)
        if (changes(((const uint8_t *) sheet->at[COL_CODES])[row]))
            set_element(*keys, bytes, (*count)++, key_order(model->type, sheet_get(sheet, COL_KEYS, row)));
    host_radix_sort((struct pairs) { *keys, NULL }, (struct pairs) { spare, NULL }, bytes, 0, *count);
    free(spare);
    return true;
}

static void put(struct bag *bag, uint64_t key, uint64_t value, bool present)
{
    struct model *all = &bag->all;
    set_element(all->keys, all->key_bytes, all->count, key);
    if (all->value_bytes)
        set_element(all->values, all->value_bytes, all->count, value);
    bag->present[all->count++] = present;
}

static void fill_bag(const struct model *model, const void *keys, size_t count, struct bag *bag)
{
    const size_t bytes = model->key_bytes;
    size_t       i = 0, j = 0;
    while (i < model->count || j < count) {
        if (j == count || (i < model->count && model_key(model, i) <= element(keys, bytes, j))) {
            put(bag, model_key(model, i), model_value(model, i), true);
            i++;
        } else {
            put(bag, element(keys, bytes, j), 0, false);
        }
        const uint64_t last = model_key(&bag->all, bag->all.count - 1);
        while (j < count && element(keys, bytes, j) == last)
            j++;
    }
}

static bool open_bag(const struct model *model, const struct sheet *sheet, const struct step *step, struct bag *bag)
{
    void  *keys = NULL;
    size_t count = 0;
    if (!changed_keys(model, sheet, step, &keys, &count)) {
        free(keys);
        return false;
    }
    const size_t most = model->count + count;
    bag->all = model_empty(model->type, model->value_bytes);
    bag->all.keys = malloc(most * model->key_bytes + 1);
    bag->all.values = malloc(most * model->value_bytes + 1);
    bag->present = calloc(most + 1, sizeof *bag->present);
    const bool made = bag->all.keys && bag->all.values && bag->present;
    if (made)
        fill_bag(model, keys, count, bag);
    free(keys);
    return made;
}

static void close_bag(struct bag *bag)
{
    model_free(&bag->all);
    free(bag->present);
}

/* Leaves in the model what is there at the end. */
static void empty_bag(struct bag *bag, struct model *model)
{
    struct model *all = &bag->all;
    size_t        kept = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (!bag->present[i])
            continue;
        set_element(all->keys, all->key_bytes, kept, model_key(all, i));
        if (all->value_bytes)
            set_element(all->values, all->value_bytes, kept, model_value(all, i));
        kept++;
    }
    all->count = kept;
    model_free(model);
    *model = *all;
    *all = model_empty(model->type, model->value_bytes);
}

/* ---- operations ---------------------------------------------------------------------------------------------- */

/* One operation: its row, its key in ordered form, and how many keys of the bag are below. */
struct operation {
    struct bag   *bag;
    struct sheet *sheet;
    struct step  *step;
    size_t        row;
    uint64_t      code, key;
    size_t        below;
    bool          here; /* the key is in the bag and there */
};

static void point(const struct operation *op)
{
    const struct model *all = &op->bag->all;
    sheet_set(op->sheet, COL_FOUND, op->row, op->here);
    if (op->code == ORDO_FIND && op->here)
        sheet_set(op->sheet, COL_VALUES_OUT, op->row, model_value(all, op->below));
    if (!changes(op->code))
        return;
    op->bag->present[op->below] = op->code != ORDO_ERASE;
    const bool stores = op->code == ORDO_UPSERT || (op->code == ORDO_INSERT && !op->here);
    if (stores && all->value_bytes)
        set_element(all->values, all->value_bytes, op->below, sheet_get(op->sheet, COL_VALUES, op->row));
}

/* The nearest that is there, from `at` on upwards; count if there is none. */
static size_t next_there(const struct bag *bag, size_t at)
{
    while (at < bag->all.count && !bag->present[at])
        at++;
    return at;
}
/* The nearest that is there below `at`. */
static size_t last_there(const struct bag *bag, size_t at)
{
    while (at > 0 && !bag->present[at - 1])
        at--;
    return at ? at - 1 : bag->all.count;
}

static void seek(const struct operation *op)
{
    const struct model *all = &op->bag->all;
    const bool          in_bag = op->below < all->count && model_key(all, op->below) == op->key;
    size_t              at;
    if (op->code == ORDO_SEEK_GE || op->code == ORDO_SEEK_GT)
        at = next_there(op->bag, op->below + (in_bag && op->code == ORDO_SEEK_GT));
    else
        at = last_there(op->bag, op->below + (in_bag && op->code == ORDO_SEEK_LE));
    sheet_set(op->sheet, COL_FOUND, op->row, at < all->count);
    if (at == all->count)
        return;
    sheet_set(op->sheet, COL_KEYS_OUT, op->row, key_stored(all->type, model_key(all, at)));
    sheet_set(op->sheet, COL_VALUES_OUT, op->row, model_value(all, at));
}

/* Room for one more result, doubling. */
static bool room_for_result(struct sheet *sheet, size_t rows)
{
    if (rows <= sheet->rows[COL_RANGE_KEYS])
        return true;
    return sheet_grow(sheet, COL_RANGE_KEYS, rows * 2) && sheet_grow(sheet, COL_RANGE_VALUES, rows * 2);
}

static bool interval(const struct operation *op)
{
    const struct model *all = &op->bag->all;
    const uint64_t      hi = key_order(all->type, sheet_get(op->sheet, COL_HIS, op->row));
    size_t              count = 0;
    for (size_t at = op->below; at < all->count && model_key(all, at) <= hi; at++) {
        if (!op->bag->present[at])
            continue;
        count++;
        if (op->code != ORDO_RANGE)
            continue;
        const size_t place = op->step->range_at + op->step->range_count++;
        if (!room_for_result(op->sheet, place + 1))
            return false;
        sheet_set(op->sheet, COL_RANGE_KEYS, place, key_stored(all->type, model_key(all, at)));
        sheet_set(op->sheet, COL_RANGE_VALUES, place, model_value(all, at));
    }
    sheet_set(op->sheet, COL_COUNTS, op->row, count);
    return true;
}

static bool operate(struct bag *bag, struct sheet *sheet, struct step *step, size_t row)
{
    struct operation op = { bag, sheet, step, row, ((const uint8_t *) sheet->at[COL_CODES])[row], 0, 0, false };
    op.key = key_order(bag->all.type, sheet_get(sheet, COL_KEYS, row));
    op.below = model_below(&bag->all, op.key, SIZE_MAX);
    op.here = op.below < bag->all.count && model_key(&bag->all, op.below) == op.key && bag->present[op.below];
    if (op.code >= ORDO_COUNT)
        return interval(&op);
    if (op.code >= ORDO_SEEK_LT)
        seek(&op);
    else
        point(&op);
    return true;
}

bool model_apply(struct model *model, struct sheet *sheet, struct step *step)
{
    struct bag bag = { .present = NULL };
    uint64_t  *offsets = (uint64_t *) sheet->at[COL_OFFSETS] + step->offsets_at;
    bool       done = open_bag(model, sheet, step, &bag);

    step->range_count = 0;
    offsets[0] = 0;
    for (size_t i = 0; i < step->count && done; i++) {
        done = operate(&bag, sheet, step, step->at + i);
        offsets[i + 1] = step->range_count;
    }
    if (done)
        empty_bag(&bag, model);
    close_bag(&bag);
    return done;
}
