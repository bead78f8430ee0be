/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include <math.h>

uint64_t stream(const struct dict_plan *plan, int which)
{
    return which == STREAM_TABLE ? plan->spec.seed /* equal to inputs_make */ : plan->spec.seed * 16 + (uint64_t) which;
}

/* ---- keys of the table --------------------------------------------------------------------------------------- */

/* Requests may prefer some keys. A table for queries has each about once. */
static enum dist table_dist(const struct spec *spec)
{
    if (spec->workload == EXPIRY) /* keys are times */
        return SEQUENTIAL;
    return spec->dist == ZIPF && !workload_fills(spec->workload) ? UNIFORM : spec->dist;
}

void set_stored(struct column_batch *cols, enum column_id column, size_t row, uint64_t key)
{
    column_set(cols, column, row, key_stored(cols->type, key));
}

bool draw_elements(const struct dict_plan *plan, struct column_batch *cols, int from_stream, size_t first, size_t count)
{
    if (!columns_reserve(cols, count, IN(KEYS) | IN(VALUES)))
        return false;
    values_make(plan->spec.value_bytes, first, count, cols->at[COL_VALUES]);
    keys_draw(plan->spec.type, table_dist(&plan->spec), stream(plan, from_stream), count, cols->at[COL_KEYS]);
    return true;
}

void set_value_by_key(struct column_batch *cols, size_t row)
{
    column_set(cols, COL_VALUES, row, value_by_key(column_get(cols, COL_KEYS, row)));
}

void set_values_by_key(struct column_batch *cols, size_t rows)
{
    for (size_t row = 0; row < rows; row++)
        set_value_by_key(cols, row);
}

bool batch_steps(struct script *script, size_t batch, enum step_call call, size_t at, size_t count)
{
    for (size_t done = 0; done < count; done += batch) {
        const size_t left = count - done;
        if (!script_steps(script,
                          &(struct step) { .call = call, .at = at + done, .count = left < batch ? left : batch }, 1))
            return false;
    }
    return true;
}

bool fill_script(const struct dict_plan *plan, struct script *script)
{
    const size_t count = plan->spec.count;
    if (!draw_elements(plan, &script->cols, STREAM_TABLE, 0, count))
        return false;
    /* If the last of equal keys is unknown, all bring the same value. */
    if (workload_is_concurrent(plan->spec.workload) || workload_erases(plan->spec.workload))
        set_values_by_key(&script->cols, count);
    return batch_steps(script, spec_table_batch(&plan->spec),
                       workload_on_device(plan->spec.workload) == BUILD ? DO_BUILD : DO_UPSERT, 0, count);
}

/* ---- keys of requests ---------------------------------------------------------------------------------------- */

size_t pick(const struct dict_plan *plan, size_t i, size_t count)
{
    return pick_of(plan, plan->model.count, i, count);
}

size_t pick_of(const struct dict_plan *plan, size_t keys, size_t i, size_t count)
{
    const uint64_t r = draw(stream(plan, STREAM_PICK), i);
    switch (plan->spec.dist) {
    case ZIPF: /* the logarithm of the rank is uniform; ranks are scattered over the keys */
        return (size_t) (draw(2000, (uint64_t) exp2(log2((double) keys) * (double) (r >> 11) * 0x1p-53)) % keys);
    case SEQUENTIAL:
    case SORTED:
        return (size_t) ((double) i / (double) count * (double) keys);
    case REVERSE:
        return (size_t) ((double) (count - 1 - i) / (double) count * (double) keys);
    default:
        return (size_t) (r % keys);
    }
}

uint64_t highest(const struct dict_plan *plan)
{
    return plan->model.key_bytes == 4 ? UINT32_MAX : UINT64_MAX;
}

/* An absent key slightly above model key `at`, else above the last, else that key. */
static uint64_t absent(const struct dict_plan *plan, size_t at, uint64_t r)
{
    const struct model *model = &plan->model;
    for (size_t k = at;; k = model->count - 1) {
        const uint64_t key = model_key(model, k);
        const uint64_t end = k + 1 < model->count ? model_key(model, k + 1) - 1 : highest(plan);
        if (end > key)
            return key + 1 + r % (end - key);
        if (k + 1 == model->count)
            return key;
    }
}

void set_interval(const struct dict_plan *plan, struct column_batch *cols, size_t row, size_t at)
{
    const uint64_t keys = 1 + draw(stream(plan, STREAM_WIDTH), row) % (2 * (uint64_t) plan->spec.width - 1);
    const uint64_t last = at + keys - 1, end = plan->model.count - 1;
    set_stored(cols, COL_KEYS, row, model_key(&plan->model, at));
    set_stored(cols, COL_HI, row, model_key(&plan->model, (size_t) (last < end ? last : end)));
}

static bool misses(const struct dict_plan *plan, size_t row)
{
    const enum workload workload = workload_on_device(plan->spec.workload);
    const bool          has_rate = workload == READRANDOM || workload == CONCURRENTREAD || workload == READWHILEWRITING;
    const bool          never_hits = workload == READMISSING || workload == SEEKRANDOM || workload == PREDECESSOR;
    return draw(stream(plan, STREAM_MISS), row) % 100 >= (has_rate ? plan->spec.hit_percent : never_hits ? 0 : 100);
}

void request_each(const struct dict_plan *plan, struct column_batch *cols, size_t at, size_t count, each_fn fn)
{
    for_each(count, fn, &(struct requests) { plan, cols, at, count });
}

void point_at(void *requests_, size_t i)
{
    const struct requests  *requests = requests_;
    const struct dict_plan *plan = requests->plan;
    struct column_batch    *cols = requests->cols;
    const size_t            row = requests->at + i, at = pick(plan, row, requests->at + requests->count);
    const bool              miss = misses(plan, row);
    const uint64_t key = miss ? absent(plan, at, draw(stream(plan, STREAM_MISS), ~row)) : model_key(&plan->model, at);
    set_stored(cols, COL_KEYS, row, key);
    if (cols->hints)
        cols->hints[row] = (uint32_t) (at + miss);
}
