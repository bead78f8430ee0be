/* SPDX-License-Identifier: Apache-2.0 */
#include "explain.h"

#include "keys.h"
#include "plan_concurrent.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* What happened to one key, in any order. */
struct history {
    uint32_t stored, erased; /* inserts that found nothing, erases that found it */
    bool     before;         /* whether it was there */
    bool     seen, missed;   /* others found it, or did not */
};

static bool wrong(const struct dict_plan *plan, size_t place, const char *what, char *why, size_t why_bytes)
{
    snprintf(why, why_bytes, "key 0x%" PRIx64 " %s", key_stored(plan->spec.type, range_key(plan, place)), what);
    return false;
}

/* Whether what a find returned is the key's value. */
static bool value_is_right(const struct sheet *sheet, size_t row, const void *values_out)
{
    const uint32_t bytes = sheet->value_bytes;
    const uint64_t value = value_by_key(sheet_get(sheet, COL_KEYS, row));
    return bytes == 0 || element(values_out, bytes, row) == (bytes == 4 ? (uint32_t) value : value);
}

static bool take_row(const struct dict_plan *plan, size_t row, const uint8_t *found, const void *values_out,
                     struct history *histories, char *why, size_t why_bytes)
{
    const struct sheet *sheet = &plan->work.sheet;
    const ordo_code     code = (ordo_code) ((const uint8_t *) sheet->at[COL_CODES])[row];
    const size_t        place = range_place(plan, key_order(sheet->type, sheet_get(sheet, COL_KEYS, row)));
    struct history     *history = &histories[place];
    if (found[row] > 1)
        return wrong(plan, place, "was neither found nor not found", why, why_bytes);
    if (code == ORDO_FIND && found[row] && !value_is_right(sheet, row, values_out))
        return wrong(plan, place, "was found with another value", why, why_bytes);
    history->stored += code == ORDO_INSERT && !found[row];
    history->erased += code == ORDO_ERASE && found[row];
    history->seen |= found[row];
    history->missed |= !found[row];
    return true;
}

/* Stores and erasures take turns, and the first is what the key's state before allows: then there is an order, for all overlap.
 * Whoever changed nothing saw one of the states in between. */
static bool explained(const struct history *history, bool *after)
{
    const int64_t there = (int64_t) history->before + history->stored - history->erased;
    *after = there == 1;
    if (there < 0 || there > 1)
        return false;
    return (!history->seen || history->before || history->stored) &&
           (!history->missed || !history->before || history->erased);
}

static bool settle(const struct dict_plan *plan, const struct history *histories, struct model *after, char *why,
                   size_t why_bytes)
{
    for (size_t place = 0; place < plan->spec.count; place++) {
        bool           there;
        const uint64_t key = range_key(plan, place);
        if (!explained(&histories[place], &there))
            return wrong(plan, place, "was found, or not, as no order explains", why, why_bytes);
        if (!there)
            continue;
        set_element(after->keys, after->key_bytes, after->count, key);
        if (after->value_bytes)
            set_element(after->values, after->value_bytes, after->count, value_by_key(key_stored(after->type, key)));
        after->count++;
    }
    return true;
}

bool explain_points(const struct dict_plan *plan, const uint8_t *found, const void *values_out, struct model *after,
                    char *why, size_t why_bytes)
{
    const size_t    range = plan->spec.count, rows = plan->work.sheet.rows[COL_KEYS];
    struct history *histories = calloc(range + 1, sizeof *histories);
    *after = model_empty(plan->spec.type, plan->spec.value_bytes);
    after->keys = malloc(range * after->key_bytes + 1);
    after->values = malloc(range * after->value_bytes + 1);
    bool good = histories && after->keys && after->values;
    if (!good)
        snprintf(why, why_bytes, "no memory to check the results");
    for (size_t i = 0; i < plan->model.count && good; i++)
        histories[range_place(plan, model_key(&plan->model, i))].before = true;
    for (size_t row = 0; row < rows && good; row++)
        good = take_row(plan, row, found, values_out, histories, why, why_bytes);
    good = good && settle(plan, histories, after, why, why_bytes);
    free(histories);
    return good;
}
