/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include "bench/common/threads.h"
#include "keys.h"

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
static bool value_is_right(const struct column_batch *cols, size_t row, const void *values_out)
{
    const uint32_t bytes = cols->value_bytes;
    const uint64_t value = value_by_key(column_get(cols, COL_KEYS, row));
    return bytes == 0 || element(values_out, bytes, row) == (bytes == 4 ? (uint32_t) value : value);
}

static bool take_row(const struct dict_plan *plan, size_t row, const uint8_t *found, const void *values_out,
                     struct history *histories, char *why, size_t why_bytes)
{
    const struct column_batch *cols = &plan->work.cols;
    const ordo_code            code = (ordo_code) ((const uint8_t *) cols->at[COL_CODES])[row];
    const size_t               place = range_place(plan, key_order(cols->type, column_get(cols, COL_KEYS, row)));
    struct history            *history = &histories[place];
    if (found[row] > 1)
        return wrong(plan, place, "was neither found nor not found", why, why_bytes);
    if (code == ORDO_FIND && found[row] && !value_is_right(cols, row, values_out))
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

/* What is there afterwards: how many keys of each part of the range, and their places; then themselves. */
struct settling {
    const struct dict_plan *plan;
    struct history         *histories; /* of each place of the range */
    struct model           *after;
    size_t                  at[MAX_PARTS], unexplained[MAX_PARTS];
};

static void count_settled(void *settling_, size_t from, size_t to, int part)
{
    struct settling *settling = settling_;
    size_t           n = 0;
    settling->unexplained[part] = SIZE_MAX;
    for (size_t place = to; place-- > from;) {
        bool there;
        if (!explained(&settling->histories[place], &there))
            settling->unexplained[part] = place;
        n += there;
    }
    settling->at[part] = n;
}

static void store_settled(void *settling_, size_t from, size_t to, int part)
{
    const struct settling *settling = settling_;
    const struct model    *after = settling->after;
    size_t                 at = settling->at[part];
    for (size_t place = from; place < to; place++) {
        bool           there;
        const uint64_t key = range_key(settling->plan, place);
        if (!explained(&settling->histories[place], &there) || !there)
            continue;
        set_element(after->keys, after->key_bytes, at, key);
        if (after->value_bytes)
            set_element(after->values, after->value_bytes, at, value_by_key(key_stored(after->type, key)));
        at++;
    }
}

/* Keys of the model differ, and so do their places. */
static void mark_before(void *settling_, size_t i)
{
    const struct settling *settling = settling_;
    settling->histories[range_place(settling->plan, model_key(&settling->plan->model, i))].before = true;
}

static bool settle(const struct dict_plan *plan, struct history *histories, struct model *after, char *why,
                   size_t why_bytes)
{
    struct settling settling = { plan, histories, after, { 0 }, { 0 } };
    const int       parts = for_spans(plan->spec.count, count_settled, &settling);
    for (int p = 0; p < parts; p++) {
        const size_t here = settling.at[p];
        if (settling.unexplained[p] != SIZE_MAX)
            return wrong(plan, settling.unexplained[p], "was found, or not, as no order explains", why, why_bytes);
        settling.at[p] = after->count;
        after->count += here;
    }
    for_spans(plan->spec.count, store_settled, &settling);
    return true;
}

bool explain_points(const struct dict_plan *plan, const uint8_t *found, const void *values_out, struct model *after,
                    char *why, size_t why_bytes)
{
    const size_t    range = plan->spec.count, rows = plan->work.cols.rows[COL_KEYS];
    struct history *histories = calloc(range + 1, sizeof *histories);
    *after = model_empty(plan->spec.type, plan->spec.value_bytes);
    after->keys = malloc(range * after->key_bytes + 1);
    after->values = malloc(range * after->value_bytes + 1);
    bool good = histories && after->keys && after->values;
    if (!good)
        snprintf(why, why_bytes, "no memory to check the results");
    if (good)
        for_each(plan->model.count, mark_before, &(struct settling) { .plan = plan, .histories = histories });
    for (size_t row = 0; row < rows && good; row++)
        good = take_row(plan, row, found, values_out, histories, why, why_bytes);
    good = good && settle(plan, histories, after, why, why_bytes);
    free(histories);
    return good;
}
