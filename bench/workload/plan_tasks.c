/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_tasks.h"

#include "keys.h"

bool draw_erase_ranges(struct dict_plan *plan)
{
    const size_t  rows = spec_batch(&plan->spec);
    struct sheet *sheet = &plan->work.sheet;
    if (!sheet_column(sheet, COL_KEYS, rows) || !sheet_column(sheet, COL_HIS, rows) ||
        !sheet_column(sheet, COL_COUNTS, rows) || !script_steps(&plan->work, 1))
        return false;
    for (size_t row = 0; row < rows; row++)
        set_interval(plan, sheet, row, pick(plan, row, rows));
    plan->work.steps[0] = (struct step) { .call = DO_ERASE_RANGE, .count = rows };
    return true;
}

bool draw_queue(struct dict_plan *plan)
{
    const size_t  batch = spec_batch(&plan->spec), rounds = spec_rounds(&plan->spec), rows = batch * rounds;
    struct sheet *sheet = &plan->work.sheet;
    if (!draw_elements(plan, sheet, STREAM_NEW, plan->spec.count, rows) || !sheet_column(sheet, COL_KEYS_OUT, rows) ||
        !sheet_column(sheet, COL_VALUES_OUT, rows) || !script_steps(&plan->work, 2 * rounds))
        return false;
    for (size_t r = 0; r < rounds; r++) {
        plan->work.steps[2 * r] = (struct step) { .call = DO_TAKE_FIRST, .at = r * batch, .count = batch };
        plan->work.steps[2 * r + 1] = (struct step) { .call = DO_UPSERT, .at = r * batch, .count = batch };
    }
    return true;
}

/* The range that round r erases is row rows + r. */
bool draw_expiry(struct dict_plan *plan)
{
    const size_t  batch = spec_batch(&plan->spec), rounds = spec_rounds(&plan->spec), rows = batch * rounds;
    struct sheet *sheet = &plan->work.sheet;
    if (!draw_elements(plan, sheet, STREAM_NEW, plan->spec.count, rows) ||
        !sheet_grow(sheet, COL_KEYS, rows + rounds) || !sheet_column(sheet, COL_HIS, rows + rounds) ||
        !sheet_column(sheet, COL_COUNTS, rows + rounds) || !script_steps(&plan->work, 2 * rounds))
        return false;
    for (size_t row = 0; row < rows; row++)
        set_stored(sheet, COL_KEYS, row, plan->spec.count + row);
    for (size_t r = 0; r < rounds; r++) {
        set_stored(sheet, COL_KEYS, rows + r, 0);
        set_stored(sheet, COL_HIS, rows + r, (r + 1) * batch - 1);
        plan->work.steps[2 * r] = (struct step) { .call = DO_UPSERT, .at = r * batch, .count = batch };
        plan->work.steps[2 * r + 1] = (struct step) { .call = DO_ERASE_RANGE, .at = rows + r, .count = 1 };
    }
    return true;
}

#define PRICES   65536
#define MIDPRICE 1000000
#define QUANTITY 100

bool draw_order_book(struct dict_plan *plan)
{
    const size_t  batch = spec_batch(&plan->spec), rounds = spec_rounds(&plan->spec), rows = batch * rounds;
    struct sheet *sheet = &plan->work.sheet;
    if (!sheet_column(sheet, COL_KEYS, rows) || !sheet_column(sheet, COL_VALUES, rows) ||
        !sheet_column(sheet, COL_KEYS_OUT, 2 * rounds) || !sheet_column(sheet, COL_VALUES_OUT, 2 * rounds) ||
        !script_steps(&plan->work, 3 * rounds))
        return false;
    for (size_t row = 0; row < rows; row++) {
        const uint64_t r = draw(stream(plan, STREAM_NEW), row);
        set_stored(sheet, COL_KEYS, row, MIDPRICE + r % PRICES);
        sheet_set(sheet, COL_VALUES, row, 1 + (r >> 32) % QUANTITY);
    }
    for (size_t r = 0; r < rounds; r++) {
        struct step *round = &plan->work.steps[3 * r];
        round[0] = (struct step) { .call = DO_COMBINE, .at = r * batch, .count = batch };
        round[1] = (struct step) { .call = DO_PEEK_FIRST, .at = 2 * r, .count = 1 };
        round[2] = (struct step) { .call = DO_PEEK_LAST, .at = 2 * r + 1, .count = 1 };
    }
    return true;
}
