/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include <stdlib.h>

/* The length of prefix i: 0 for the first, else uniform. */
static unsigned length_of(const struct dict_plan *plan, size_t i)
{
    const unsigned least = plan->spec.type == ORDO_U32 ? 8 : 16, most = plan->spec.type == ORDO_U32 ? 28 : 60;
    return i == 0 ? 0 : least + (unsigned) (draw(stream(plan, STREAM_WIDTH), i) % (most - least + 1));
}

static bool draw_prefixes(struct dict_plan *plan)
{
    const size_t count = plan->spec.count, bytes = plan->model.key_bytes;
    plan->prefixes = malloc(count * bytes + 1);
    if (!plan->prefixes)
        return false;
    keys_draw(plan->spec.type, plan->spec.dist == ZIPF ? UNIFORM : plan->spec.dist, stream(plan, STREAM_TABLE), count,
              plan->prefixes);
    for (size_t i = 0; i < count; i++)
        set_element(plan->prefixes, bytes, i,
                    prefix_key(plan->spec.type, element(plan->prefixes, bytes, i), length_of(plan, i)));
    return true;
}

/* Replaces prefixes by the places at which their addresses begin, and those after their last addresses, with the
 * value of the longest prefix there. After the greatest address follows 0. */
static bool put_segments(const struct dict_plan *plan, struct column_batch *cols)
{
    const ordo_type     type = plan->spec.type;
    const size_t        count = plan->spec.count;
    struct model        model = model_empty(type, plan->spec.value_bytes);
    struct column_batch places = { .type = type, .value_bytes = plan->spec.value_bytes };
    struct step         put = { .call = DO_UPSERT, .count = count };
    struct step         find = { .call = DO_LONGEST_PREFIX, .count = 2 * count };
    bool                made = columns_reserve(&places, 2 * count, IN(KEYS) | IN(VALUES) | IN(VALUES_OUT));
    for (size_t i = 0; i < count && made; i++) {
        const uint64_t prefix = column_get(cols, COL_KEYS, i);
        const unsigned length = prefix_length(type, prefix);
        column_set(&places, COL_KEYS, 2 * i, prefix_least(type, prefix, length));
        column_set(&places, COL_KEYS, 2 * i + 1, prefix_greatest(type, prefix, length) + 1);
    }
    made = made && model_do(&model, cols, &put) && model_do(&model, &places, &find);
    for (size_t i = 0; i < 2 * count && made; i++)
        column_set(&places, COL_VALUES, i, column_get(&places, COL_VALUES_OUT, i));
    model_free(&model);
    columns_clear(made ? cols : &places);
    if (made) {
        *cols = places;
        column_reserve(cols, COL_VALUES_OUT, 0);
    }
    return made;
}

bool prefix_script(struct dict_plan *plan, struct script *script)
{
    const size_t         count = plan->spec.count;
    struct column_batch *cols = &script->cols;
    if (!draw_prefixes(plan) || !columns_reserve(cols, count, IN(KEYS) | IN(VALUES)))
        return false;
    for (size_t i = 0; i < count; i++)
        column_set(cols, COL_KEYS, i, element(plan->prefixes, plan->model.key_bytes, i));
    set_values_by_key(cols, count);
    if (plan->spec.variant != XFAST && !put_segments(plan, cols))
        return false;
    return script_one(script, (struct step) { .call = DO_UPSERT, .count = cols->rows[COL_KEYS] });
}

/* A random address with the first `length` bits. */
static uint64_t address_in(const struct dict_plan *plan, uint64_t bits, unsigned length, size_t row)
{
    const uint64_t least = prefix_least(plan->spec.type, bits, length);
    const uint64_t most = prefix_greatest(plan->spec.type, bits, length);
    return least | (draw(stream(plan, STREAM_MISS), row) & (most ^ least));
}

/* The address lies in a uniform prefix. */
void address_at(void *requests_, size_t row)
{
    const struct requests  *requests = requests_;
    const struct dict_plan *plan = requests->plan;
    const uint64_t          prefix =
        element(plan->prefixes, plan->model.key_bytes, pick_of(plan, plan->spec.count, row, requests->count));
    column_set(requests->cols, COL_KEYS, row, address_in(plan, prefix, prefix_length(plan->spec.type, prefix), row));
}

/* The first 8 to all but 8 bits. Columns that the structure does not ask by are missing. */
void prefix_at(void *requests_, size_t row)
{
    const struct requests  *requests = requests_;
    const struct dict_plan *plan = requests->plan;
    const uint64_t          key = model_key(&plan->model, pick(plan, row, requests->count));
    const unsigned length = 8 + (unsigned) (draw(stream(plan, STREAM_WIDTH), row) % (8 * plan->model.key_bytes - 15));
    column_set(requests->cols, COL_KEYS, row,
               requests->cols->at[COL_LENGTHS] ? address_in(plan, key, length, row)
                                               : prefix_least(plan->spec.type, key, length));
    column_set(requests->cols, COL_HI, row, prefix_greatest(plan->spec.type, key, length));
    column_set(requests->cols, COL_LENGTHS, row, length);
}
