/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include "bench/common/threads.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The operations on one key. */
struct history {
    uint32_t stored, erased; /* inserts that found nothing, erases that found the key */
    bool     before;         /* it was there before */
    bool     seen, missed;   /* another operation found it, or did not */
};

static bool wrong(const struct dict_plan *plan, size_t place, const char *what, char *why)
{
    return because(why, "key 0x%" PRIx64 " %s", key_stored(plan->spec.type, range_key(plan, place)), what);
}

/* Whether a find returned the value of its key. */
static bool value_is_right(const struct column_batch *cols, size_t row, const void *values_out)
{
    const uint32_t bytes = cols->value_bytes;
    const uint64_t value = value_by_key(column_get(cols, COL_KEYS, row));
    return bytes == 0 || element(values_out, bytes, row) == (bytes == 4 ? (uint32_t) value : value);
}

static bool take_row(const struct dict_plan *plan, size_t row, const uint8_t *found, const void *values_out,
                     struct history *histories, char *why)
{
    const struct column_batch *cols = &plan->work.cols;
    const ordo_code            code = (ordo_code) ((const uint8_t *) cols->at[COL_CODES])[row];
    const size_t               place = range_place(plan, key_order(cols->type, column_get(cols, COL_KEYS, row)));
    struct history            *history = &histories[place];
    if (found[row] > 1)
        return wrong(plan, place, "was neither found nor not found", why);
    if (code == ORDO_FIND && found[row] && !value_is_right(cols, row, values_out))
        return wrong(plan, place, "was found with another value", why);
    history->stored += code == ORDO_INSERT && !found[row];
    history->erased += code == ORDO_ERASE && found[row];
    history->seen |= found[row];
    history->missed |= !found[row];
    return true;
}

/* All operations overlap, so an order exists if stores and erases can alternate from the state before. An operation
 * that changed nothing saw one of these states. */
static bool explained(const struct history *history, bool *after)
{
    const int64_t there = (int64_t) history->before + history->stored - history->erased;
    *after = there == 1;
    if (there < 0 || there > 1)
        return false;
    return (!history->seen || history->before || history->stored) &&
           (!history->missed || !history->before || history->erased);
}

/* The content afterwards: first the number of keys per part and the unexplained places, then the keys. */
struct settling {
    const struct dict_plan *plan;
    struct history         *histories; /* by place of the range */
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
        model_set(after, at++, key, value_by_key(key_stored(after->type, key)));
    }
}

/* Keys of the model differ, and so do their places. */
static void mark_before(void *settling_, size_t i)
{
    const struct settling *settling = settling_;
    settling->histories[range_place(settling->plan, model_key(&settling->plan->model, i))].before = true;
}

static bool settle(const struct dict_plan *plan, struct history *histories, struct model *after, char *why)
{
    struct settling settling = { plan, histories, after, { 0 }, { 0 } };
    const int       parts = for_spans(plan->spec.count, count_settled, &settling);
    for (int p = 0; p < parts; p++) {
        const size_t here = settling.at[p];
        if (settling.unexplained[p] != SIZE_MAX)
            return wrong(plan, settling.unexplained[p], "was found, or not, as no order explains", why);
        settling.at[p] = after->count;
        after->count += here;
    }
    for_spans(plan->spec.count, store_settled, &settling);
    return true;
}

bool explain_points(const struct dict_plan *plan, const uint8_t *found, const void *values_out, struct model *after,
                    char *why)
{
    const size_t    range = plan->spec.count, rows = plan->work.cols.rows[COL_KEYS];
    struct history *histories = calloc(range + 1, sizeof *histories);
    *after = model_empty(plan->spec.type, plan->spec.value_bytes);
    after->keys = malloc(range * after->key_bytes + 1);
    after->values = malloc(range * after->value_bytes + 1);
    bool good = histories && after->keys && after->values;
    if (!good)
        because(why, "no memory to check the results");
    if (good)
        for_each(plan->model.count, mark_before, &(struct settling) { .plan = plan, .histories = histories });
    for (size_t row = 0; row < rows && good; row++)
        good = take_row(plan, row, found, values_out, histories, why);
    good = good && settle(plan, histories, after, why);
    free(histories);
    return good;
}
