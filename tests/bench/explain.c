/* SPDX-License-Identifier: Apache-2.0 */
/* Results of concurrent operations on the same keys. explain_points accepts the results of each order and rejects
 * results that no order gives. The model joins batches, and finds differences. */
#include "bench/workload/keys.h"
#include "bench/workload/plan.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define RANGE ((size_t) 301)
#define ROWS  ((size_t) 5000)

struct returned {
    struct dict_plan plan;
    uint8_t          found[ROWS], there[RANGE];
    uint64_t         values[ROWS];
    size_t           updates[RANGE]; /* of each key */
};

static size_t place_of(const struct returned *r, size_t row)
{
    const struct column_batch *cols = &r->plan.work.cols;
    return range_place(&r->plan, key_order(cols->type, column_get(cols, COL_KEYS, row)));
}

static ordo_code code_of(const struct returned *r, size_t row)
{
    return (ordo_code) ((const uint8_t *) r->plan.work.cols.at[COL_CODES])[row];
}

static void do_row(struct returned *r, size_t row)
{
    const size_t    place = place_of(r, row);
    const ordo_code code = code_of(r, row);
    r->found[row] = r->there[place];
    if (code == ORDO_FIND)
        set_element(r->values, r->plan.spec.value_bytes, row,
                    value_by_key(column_get(&r->plan.work.cols, COL_KEYS, row)));
    else
        r->there[place] = code == ORDO_INSERT;
    r->updates[place] += code != ORDO_FIND;
}

/* The results of one order, which the seed selects. */
static struct returned *returned_by(ordo_type type, uint32_t value_bytes, uint64_t seed)
{
    const struct spec spec = { .workload = CONCURRENTPOINTS,
                               .variant = SKIPLIST,
                               .type = type,
                               .value_bytes = value_bytes,
                               .count = RANGE,
                               .batch = ROWS,
                               .update_percent = 3,
                               .seed = seed };
    struct returned  *r = calloc(1, sizeof *r);
    size_t            order[ROWS];
    cr_assert(r && plan_make(&spec, &r->plan));
    cr_assert_eq(r->plan.model.count, RANGE / 2);
    cr_assert_eq(r->plan.work.cols.rows[COL_KEYS], ROWS);
    for (size_t i = 0; i < r->plan.model.count; i++)
        r->there[range_place(&r->plan, model_key(&r->plan.model, i))] = 1;
    for (size_t i = 0; i < ROWS; i++) {
        const size_t from = (size_t) (draw(seed + 77, i) % (i + 1));
        order[i] = order[from];
        order[from] = i;
    }
    for (size_t i = 0; i < ROWS; i++)
        do_row(r, order[i]);
    return r;
}

static void forget(struct returned *r)
{
    plan_free(&r->plan);
    free(r);
}

/* Whether an order explains the results and the final content. */
static bool is_right(const struct returned *r)
{
    struct model after;
    char         why[WHY_BYTES] = "";
    const bool   explained = explain_points(&r->plan, r->found, r->values, &after, why);
    bool         same = explained;
    size_t       count = 0;
    for (size_t place = 0; place < RANGE && same; place++)
        if (r->there[place])
            same = count < after.count && model_key(&after, count++) == range_key(&r->plan, place);
    same = same && count == after.count;
    cr_assert(explained || *why);
    model_free(&after);
    return same;
}

Test(explain, any_order_is_right)
{
    static const ordo_type types[] = { ORDO_U32, ORDO_I64, ORDO_F32 };
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct returned *r = returned_by(types[seed % 3], (uint32_t) (seed % 3) * 4, seed);
        cr_assert(is_right(r), "seed %d", (int) seed);
        forget(r);
    }
}

/* Inverts the outcome of one update. Then the final content differs or no order exists. */
Test(explain, a_lost_update_is_not)
{
    struct returned *r = returned_by(ORDO_U32, 4, 5);
    size_t           tried = 0;
    for (size_t row = 0; row < ROWS; row++) {
        if (code_of(r, row) == ORDO_FIND)
            continue;
        r->found[row] ^= 1;
        cr_assert_not(is_right(r), "row %zu", row);
        r->found[row] ^= 1;
        tried++;
    }
    cr_assert_gt(tried, 50);
    forget(r);
}

Test(explain, a_find_of_what_never_was_is_not)
{
    struct returned *r = returned_by(ORDO_U32, 4, 6);
    size_t           tried = 0;
    for (size_t row = 0; row < ROWS; row++) {
        if (code_of(r, row) != ORDO_FIND || r->updates[place_of(r, row)] > 0)
            continue;
        r->found[row] ^= 1;
        cr_assert_not(is_right(r), "row %zu", row);
        r->found[row] = 0xa5; /* never written */
        cr_assert_not(is_right(r), "row %zu", row);
        r->found[row] = r->there[place_of(r, row)];
        tried++;
    }
    cr_assert_gt(tried, 50);
    forget(r);
}

Test(explain, another_keys_value_is_not)
{
    struct returned *r = returned_by(ORDO_I64, 8, 7);
    size_t           tried = 0;
    for (size_t row = 0; row < ROWS; row += 7) {
        if (code_of(r, row) != ORDO_FIND || !r->found[row])
            continue;
        r->values[row] ^= (uint64_t) 1 << row % 64;
        cr_assert_not(is_right(r), "row %zu", row);
        r->values[row] ^= (uint64_t) 1 << row % 64;
        tried++;
    }
    cr_assert_gt(tried, 50);
    forget(r);
}

/* ---- the model ----------------------------------------------------------------------------------------------- */

Test(model, batches_at_once_equal_batches_in_turn)
{
    static const enum dist dists[] = { UNIFORM, FEW, SORTED };
    for (size_t d = 0; d < sizeof dists / sizeof *dists; d++) {
        const struct spec spec = { .workload = CONCURRENTBATCHES,
                                   .variant = BLINK,
                                   .type = ORDO_U32,
                                   .value_bytes = 4,
                                   .dist = dists[d],
                                   .count = 200000,
                                   .batch = 30000,
                                   .seed = 1 };
        struct dict_plan  plan;
        struct model      model = model_empty(spec.type, spec.value_bytes);
        cr_assert(plan_make(&spec, &plan));
        cr_assert_eq(plan.work.n_steps, 7);
        for (size_t s = 0; s < plan.work.n_steps; s++)
            cr_assert(model_do(&model, &plan.work.cols, &plan.work.steps[s]));
        cr_assert_eq(model.count, plan.model.count);
        cr_assert_eq(model_differs(&plan.model, model.keys, model.values), model.count);
        model_free(&model);
        plan_free(&plan);
    }
}

Test(model, one_other_key_or_value_shows)
{
    const struct spec spec = {
        .workload = FILLRANDOM, .variant = LSM, .type = ORDO_U32, .value_bytes = 4, .count = 200000, .seed = 1
    };
    struct dict_plan plan;
    cr_assert(plan_make(&spec, &plan));
    const size_t bytes = plan.model.count * 4;
    uint32_t    *keys = malloc(bytes), *values = malloc(bytes);
    cr_assert(keys && values);
    memcpy(keys, plan.model.keys, bytes);
    memcpy(values, plan.model.values, bytes);
    for (size_t i = plan.model.count; i-- > 0; i = i > 20000 ? i - 10000 : i) {
        uint32_t *other = i % 2 ? &keys[i] : &values[i];
        ++*other;
        cr_assert_eq(model_differs(&plan.model, keys, values), i);
    }
    free(keys);
    free(values);
    plan_free(&plan);
}
