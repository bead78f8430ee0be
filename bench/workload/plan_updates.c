/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include "bench/common/threads.h"

bool draw_changes(struct dict_plan *plan, enum step_call call)
{
    const size_t          count = spec_changes(&plan->spec), batch = spec_batch(&plan->spec);
    struct script        *work = &plan->work;
    const struct requests requests = { plan, &work->cols, 0, count };
    if (!column_reserve(&work->cols, COL_KEYS, count) ||
        !column_reserve(&work->cols, COL_VALUES, call == DO_ERASE ? 0 : count) ||
        !script_steps(work, batches_of(batch, count)))
        return false;
    for_each(count, point_at, (void *) &requests);
    if (work->cols.at[COL_VALUES])
        values_make(plan->spec.value_bytes, plan->spec.count, count, work->cols.at[COL_VALUES]);
    batch_steps(batch, work->steps, call, 0, count);
    return true;
}

bool draw_inserts(struct dict_plan *plan)
{
    const size_t batch = spec_batch(&plan->spec);
    if (!draw_elements(plan, &plan->work.cols, STREAM_NEW, plan->spec.count, batch))
        return false;
    return script_one(&plan->work, (struct step) { .call = DO_UPSERT, .count = batch });
}

/* Upserts come first in the columns. */
bool draw_rounds(struct dict_plan *plan)
{
    const size_t          batch = spec_batch(&plan->spec), rounds = spec_rounds(&plan->spec), half = batch * rounds;
    struct column_batch  *cols = &plan->work.cols;
    const struct requests finds = { plan, cols, half, half };
    if (!draw_elements(plan, cols, STREAM_NEW, plan->spec.count, half) || !column_grow(cols, COL_KEYS, 2 * half) ||
        !columns_reserve(cols, 2 * half, IN(FOUND) | IN(VALUES_OUT)) || !script_steps(&plan->work, 2 * rounds))
        return false;
    for_each(half, point_at, (void *) &finds);
    for (size_t r = 0; r < rounds; r++) {
        plan->work.steps[2 * r] = (struct step) { .call = DO_UPSERT, .at = r * batch, .count = batch };
        plan->work.steps[2 * r + 1] = (struct step) { .call = DO_FIND, .at = half + r * batch, .count = batch };
    }
    return true;
}

/* ---- mixed batches ------------------------------------------------------------------------------------------- */

/* Operations in 32. mixed: 12 finds, 2 contains, 5 upserts, 3 inserts, 4 erases, 4 seeks, 1 count, 1 range.
 * mixedseeks: 10, 2, 5, 3, 4, 8 seeks. mixedpoints: 15, 2, 6, 4, 5. */
static ordo_code code_of(enum workload workload, uint64_t r)
{
    static const uint8_t mixed[ORDO_N_CODES] = { 12, 2, 5, 3, 4, 1, 1, 1, 1, 1, 1 };
    static const uint8_t seeks[ORDO_N_CODES] = { 10, 2, 5, 3, 4, 2, 2, 2, 2 };
    static const uint8_t points[ORDO_N_CODES] = { 15, 2, 6, 4, 5 };
    const uint8_t       *share = workload == MIXEDSEEKS ? seeks : workload == MIXEDPOINTS ? points : mixed;
    unsigned             left = (unsigned) (r % 32);
    int                  code = 0;
    while (left >= share[code])
        left -= share[code++];
    return (ordo_code) code;
}

/* Keys are new so far. Half of the operations take a table key, an eighth a recent key. */
static void draw_operation(const struct dict_plan *plan, struct column_batch *cols, size_t row)
{
    const uint64_t  r = draw(stream(plan, STREAM_CODE), row);
    const ordo_code code = code_of(plan->spec.workload, r);
    const size_t    at = pick(plan, row, cols->rows[COL_KEYS]);
    column_set(cols, COL_CODES, row, code);
    if (code == ORDO_COUNT || code == ORDO_RANGE)
        set_interval(plan, cols, row, at);
    else if (r >> 61 < 4)
        set_stored(cols, COL_KEYS, row, model_key(&plan->model, at));
    else if (r >> 61 == 4 && row > 0)
        column_set(cols, COL_KEYS, row, column_get(cols, COL_KEYS, row - 1 - (r >> 32) % (row < 100 ? row : 100)));
}

static bool mixed_columns(struct column_batch *cols, size_t rows, size_t rounds)
{
    return columns_reserve(cols, rows, IN(CODES) | IN(HI) | IN(FOUND) | IN(KEYS_OUT) | IN(VALUES_OUT) | IN(COUNTS)) &&
           column_reserve(cols, COL_OFFSETS, rows + rounds) &&
           columns_reserve(cols, 1, IN(RANGE_KEYS) | IN(RANGE_VALUES));
}

bool draw_mix(struct dict_plan *plan)
{
    const size_t         batch = spec_batch(&plan->spec), rounds = spec_rounds(&plan->spec), rows = batch * rounds;
    struct column_batch *cols = &plan->work.cols;
    if (!draw_elements(plan, cols, STREAM_NEW, plan->spec.count, rows) || !mixed_columns(cols, rows, rounds) ||
        !script_steps(&plan->work, rounds))
        return false;
    for (size_t row = 0; row < rows; row++)
        draw_operation(plan, cols, row);
    for (size_t r = 0; r < rounds; r++)
        plan->work.steps[r] =
            (struct step) { .call = DO_APPLY, .at = r * batch, .count = batch, .offsets_at = r * (batch + 1) };
    return true;
}

/* ---- cleanup ------------------------------------------------------------------------------------------------- */

bool draw_churn(struct dict_plan *plan)
{
    const size_t          churned = spec_churn(&plan->spec), batch = spec_batch(&plan->spec);
    struct script        *churn = &plan->churn;
    const struct requests requests = { plan, &churn->cols, 0, 2 * churned };
    if (!columns_reserve(&churn->cols, 2 * churned, IN(KEYS) | IN(VALUES)) ||
        !script_steps(churn, 2 * batches_of(batch, churned)))
        return false;
    for_each(2 * churned, point_at, (void *) &requests);
    values_make(plan->spec.value_bytes, plan->spec.count, churned, churn->cols.at[COL_VALUES]);
    batch_steps(batch, churn->steps, DO_UPSERT, 0, churned);
    batch_steps(batch, churn->steps + batches_of(batch, churned), DO_ERASE, churned, churned);
    return script_one(&plan->work, (struct step) { .call = plan->spec.workload == CLEANUP ? DO_CLEAN_UP : DO_COMPACT });
}

bool draw_erase_ranges(struct dict_plan *plan)
{
    const size_t         rows = spec_batch(&plan->spec);
    struct column_batch *cols = &plan->work.cols;
    if (!columns_reserve(cols, rows, IN(KEYS) | IN(HI) | IN(COUNTS)))
        return false;
    for (size_t row = 0; row < rows; row++)
        set_interval(plan, cols, row, pick(plan, row, rows));
    return script_one(&plan->work, (struct step) { .call = DO_ERASE_RANGE, .count = rows });
}

bool draw_queue(struct dict_plan *plan)
{
    const size_t         batch = spec_batch(&plan->spec), rounds = spec_rounds(&plan->spec), rows = batch * rounds;
    struct column_batch *cols = &plan->work.cols;
    if (!draw_elements(plan, cols, STREAM_NEW, plan->spec.count, rows) ||
        !columns_reserve(cols, rows, IN(KEYS_OUT) | IN(VALUES_OUT)) || !script_steps(&plan->work, 2 * rounds))
        return false;
    for (size_t r = 0; r < rounds; r++) {
        plan->work.steps[2 * r] = (struct step) { .call = DO_TAKE_FIRST, .at = r * batch, .count = batch };
        plan->work.steps[2 * r + 1] = (struct step) { .call = DO_UPSERT, .at = r * batch, .count = batch };
    }
    return true;
}

/* Round r erases the range in row rows + r. */
bool draw_expiry(struct dict_plan *plan)
{
    const size_t         batch = spec_batch(&plan->spec), rounds = spec_rounds(&plan->spec), rows = batch * rounds;
    struct column_batch *cols = &plan->work.cols;
    if (!draw_elements(plan, cols, STREAM_NEW, plan->spec.count, rows) || !column_grow(cols, COL_KEYS, rows + rounds) ||
        !columns_reserve(cols, rows + rounds, IN(HI) | IN(COUNTS)) || !script_steps(&plan->work, 2 * rounds))
        return false;
    for (size_t row = 0; row < rows; row++)
        set_stored(cols, COL_KEYS, row, plan->spec.count + row);
    for (size_t r = 0; r < rounds; r++) {
        set_stored(cols, COL_KEYS, rows + r, 0);
        set_stored(cols, COL_HI, rows + r, (r + 1) * batch - 1);
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
    const size_t         batch = spec_batch(&plan->spec), rounds = spec_rounds(&plan->spec), rows = batch * rounds;
    struct column_batch *cols = &plan->work.cols;
    if (!columns_reserve(cols, rows, IN(KEYS) | IN(VALUES)) ||
        !columns_reserve(cols, 2 * rounds, IN(KEYS_OUT) | IN(VALUES_OUT)) || !script_steps(&plan->work, 3 * rounds))
        return false;
    for (size_t row = 0; row < rows; row++) {
        const uint64_t r = draw(stream(plan, STREAM_NEW), row);
        set_stored(cols, COL_KEYS, row, MIDPRICE + r % PRICES);
        column_set(cols, COL_VALUES, row, 1 + (r >> 32) % QUANTITY);
    }
    for (size_t r = 0; r < rounds; r++) {
        struct step *round = &plan->work.steps[3 * r];
        round[0] = (struct step) { .call = DO_COMBINE, .at = r * batch, .count = batch };
        round[1] = (struct step) { .call = DO_PEEK_FIRST, .at = 2 * r, .count = 1 };
        round[2] = (struct step) { .call = DO_PEEK_LAST, .at = 2 * r + 1, .count = 1 };
    }
    return true;
}
