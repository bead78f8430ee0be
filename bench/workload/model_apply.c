/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a mixed batch in order. All keys that the batch changes are inserted first, with a flag for presence, so that
 * no operation moves elements. */
#include "model.h"

#include "baseline.h"
#include "keys.h"

#include <stdlib.h>

struct present_map {
    struct model all;     /* every key that is or will be present */
    bool        *present; /* whether all.keys[i] is present */
};

static bool changes(uint64_t code)
{
    return code == ORDO_UPSERT || code == ORDO_INSERT || code == ORDO_ERASE;
}

/* The changed keys, ascending, with repeats. */
static bool changed_keys(const struct model *model, const struct column_batch *cols, const struct step *step,
                         void **keys, size_t *count)
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
        if (changes(((const uint8_t *) cols->at[COL_CODES])[row]))
            set_element(*keys, bytes, (*count)++, key_order(model->type, column_get(cols, COL_KEYS, row)));
    host_radix_sort((struct pairs) { *keys, NULL }, (struct pairs) { spare, NULL }, bytes, 0, *count);
    free(spare);
    return true;
}

static void put(struct present_map *map, uint64_t key, uint64_t value, bool present)
{
    struct model *all = &map->all;
    model_set(all, all->count, key, value);
    map->present[all->count++] = present;
}

static void fill_map(const struct model *model, const void *keys, size_t count, struct present_map *map)
{
    const size_t bytes = model->key_bytes;
    size_t       i = 0, j = 0;
    while (i < model->count || j < count) {
        if (j == count || (i < model->count && model_key(model, i) <= element(keys, bytes, j))) {
            put(map, model_key(model, i), model_value(model, i), true);
            i++;
        } else {
            put(map, element(keys, bytes, j), 0, false);
        }
        const uint64_t last = model_key(&map->all, map->all.count - 1);
        while (j < count && element(keys, bytes, j) == last)
            j++;
    }
}

static bool open_map(const struct model *model, const struct column_batch *cols, const struct step *step,
                     struct present_map *map)
{
    void  *keys = NULL;
    size_t count = 0;
    if (!changed_keys(model, cols, step, &keys, &count)) {
        free(keys);
        return false;
    }
    const size_t most = model->count + count;
    map->all = model_empty(model->type, model->value_bytes);
    map->all.keys = malloc(most * model->key_bytes + 1);
    map->all.values = malloc(most * model->value_bytes + 1);
    map->present = calloc(most + 1, sizeof *map->present);
    const bool made = map->all.keys && map->all.values && map->present;
    if (made)
        fill_map(model, keys, count, map);
    free(keys);
    return made;
}

static void close_map(struct present_map *map)
{
    model_free(&map->all);
    free(map->present);
}

/* Moves the present elements to the model. */
static void keep_present(struct present_map *map, struct model *model)
{
    model_keep(&map->all, map->present, true);
    model_free(model);
    *model = map->all;
    map->all = model_empty(model->type, model->value_bytes);
}

/* ---- operations ---------------------------------------------------------------------------------------------- */

/* One operation: its row, its key in ordered form, and the number of smaller keys in the map. */
struct operation {
    struct present_map  *map;
    struct column_batch *cols;
    struct step         *step;
    size_t               row;
    uint64_t             code, key;
    size_t               below;
    bool                 here; /* the key is present */
};

static void point(const struct operation *op)
{
    const struct model *all = &op->map->all;
    column_set(op->cols, COL_FOUND, op->row, op->here);
    if (op->code == ORDO_FIND && op->here)
        column_set(op->cols, COL_VALUES_OUT, op->row, model_value(all, op->below));
    if (!changes(op->code))
        return;
    op->map->present[op->below] = op->code != ORDO_ERASE;
    const bool stores = op->code == ORDO_UPSERT || (op->code == ORDO_INSERT && !op->here);
    if (stores && all->value_bytes)
        set_element(all->values, all->value_bytes, op->below, column_get(op->cols, COL_VALUES, op->row));
}

/* The nearest present key from `at` upwards; count if there is none. */
static size_t next_there(const struct present_map *map, size_t at)
{
    while (at < map->all.count && !map->present[at])
        at++;
    return at;
}
/* The nearest present key below `at`. */
static size_t last_there(const struct present_map *map, size_t at)
{
    while (at > 0 && !map->present[at - 1])
        at--;
    return at ? at - 1 : map->all.count;
}

static void seek(const struct operation *op)
{
    const struct model *all = &op->map->all;
    const bool          in_map = op->below < all->count && model_key(all, op->below) == op->key;
    size_t              at;
    if (op->code == ORDO_SEEK_GE || op->code == ORDO_SEEK_GT)
        at = next_there(op->map, op->below + (in_map && op->code == ORDO_SEEK_GT));
    else
        at = last_there(op->map, op->below + (in_map && op->code == ORDO_SEEK_LE));
    column_set(op->cols, COL_FOUND, op->row, at < all->count);
    if (at == all->count)
        return;
    column_set(op->cols, COL_KEYS_OUT, op->row, key_stored(all->type, model_key(all, at)));
    column_set(op->cols, COL_VALUES_OUT, op->row, model_value(all, at));
}

/* Makes space for one more result, doubling. */
static bool room_for_result(struct column_batch *cols, size_t rows)
{
    if (rows <= cols->rows[COL_RANGE_KEYS])
        return true;
    return column_grow(cols, COL_RANGE_KEYS, rows * 2) && column_grow(cols, COL_RANGE_VALUES, rows * 2);
}

static bool interval(const struct operation *op)
{
    const struct model *all = &op->map->all;
    const uint64_t      hi = key_order(all->type, column_get(op->cols, COL_HI, op->row));
    size_t              count = 0;
    for (size_t at = op->below; at < all->count && model_key(all, at) <= hi; at++) {
        if (!op->map->present[at])
            continue;
        count++;
        if (op->code != ORDO_RANGE)
            continue;
        const size_t place = op->step->range_at + op->step->range_count++;
        if (!room_for_result(op->cols, place + 1))
            return false;
        column_set(op->cols, COL_RANGE_KEYS, place, key_stored(all->type, model_key(all, at)));
        column_set(op->cols, COL_RANGE_VALUES, place, model_value(all, at));
    }
    column_set(op->cols, COL_COUNTS, op->row, count);
    return true;
}

static bool operate(struct present_map *map, struct column_batch *cols, struct step *step, size_t row)
{
    struct operation op = { map, cols, step, row, ((const uint8_t *) cols->at[COL_CODES])[row], 0, 0, false };
    op.key = key_order(map->all.type, column_get(cols, COL_KEYS, row));
    op.below = model_below(&map->all, op.key, SIZE_MAX);
    op.here = op.below < map->all.count && model_key(&map->all, op.below) == op.key && map->present[op.below];
    if (op.code >= ORDO_COUNT)
        return interval(&op);
    if (op.code >= ORDO_SEEK_LT)
        seek(&op);
    else
        point(&op);
    return true;
}

bool model_apply(struct model *model, struct column_batch *cols, struct step *step)
{
    struct present_map map = { .present = NULL };
    uint64_t          *offsets = (uint64_t *) cols->at[COL_OFFSETS] + step->offsets_at;
    bool               done = open_map(model, cols, step, &map);

    step->range_count = 0;
    offsets[0] = 0;
    for (size_t i = 0; i < step->count && done; i++) {
        done = operate(&map, cols, step, step->at + i);
        offsets[i + 1] = step->range_count;
    }
    if (done)
        keep_present(&map, model);
    close_map(&map);
    return done;
}
