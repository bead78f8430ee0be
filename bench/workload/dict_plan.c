/* SPDX-License-Identifier: Apache-2.0 */
#include "dict_plan.h"

#include "bench/common/threads.h"
#include "bench/measure/subject.h"

#include <math.h>
#include <stdlib.h>

/* Streams of draws that have nothing to do with each other. */
enum { STREAM_TABLE, STREAM_NEW, STREAM_PICK, STREAM_MISS, STREAM_WIDTH, STREAM_CODE, STREAM_ERASE };

static uint64_t stream(const struct dict_plan *plan, int which)
{
    return which == STREAM_TABLE ? plan->spec.seed /* as inputs_make */ : plan->spec.seed * 16 + (uint64_t) which;
}

/* ---- keys of the table --------------------------------------------------------------------------------------- */

static bool is_fill(enum workload workload)
{
    return workload == FILLRANDOM || workload == FILLSEQ || workload == CONCURRENTFILL;
}

/* Requests may favour some keys; a table that is filled to be asked has each about once. */
static enum dist table_dist(const struct spec *spec)
{
    return spec->dist == ZIPF && !is_fill(spec->workload) ? UNIFORM : spec->dist;
}

static void set_stored(struct sheet *sheet, enum column_id column, size_t row, uint64_t key)
{
    sheet_set(sheet, column, row, key_stored(sheet->type, key));
}

/* Keys and values that upserts will store: values say which of the workload's elements they are, from `first` on. */
static bool draw_elements(const struct dict_plan *plan, struct sheet *sheet, int from_stream, size_t first,
                          size_t count)
{
    if (!sheet_column(sheet, COL_KEYS, count) || !sheet_column(sheet, COL_VALUES, count))
        return false;
    for (size_t i = 0; i < count; i++)
        sheet_set(sheet, COL_VALUES, i, value_of(plan->spec.value_bytes, first + i));
    return count == 0 ||
           keys_draw(plan->spec.type, table_dist(&plan->spec), stream(plan, from_stream), count, sheet->at[COL_KEYS]);
}

/* Steps of one batch each, over `count` rows from `at` on. */
static void batch_steps(size_t batch, struct step *steps, enum step_call call, size_t at, size_t count)
{
    for (size_t done = 0; done < count; done += batch)
        *steps++ =
            (struct step) { .call = call, .at = at + done, .count = count - done < batch ? count - done : batch };
}

static size_t batches_of(size_t batch, size_t count)
{
    return (count + batch - 1) / batch;
}

static bool fill_script(const struct dict_plan *plan, struct script *script)
{
    const size_t count = plan->spec.count, batch = spec_table_batch(&plan->spec);
    if (!draw_elements(plan, &script->sheet, STREAM_TABLE, 0, count) || !script_steps(script, batches_of(batch, count)))
        return false;
    batch_steps(batch, script->steps, DO_UPSERT, 0, count);
    return true;
}

/* ---- keys of requests ---------------------------------------------------------------------------------------- */

/* Which key of the model the i-th of `count` requests is about. */
static size_t pick(const struct dict_plan *plan, size_t i, size_t count)
{
    const size_t   keys = plan->model.count;
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

static uint64_t highest(const struct dict_plan *plan)
{
    return plan->model.key_bytes == 4 ? UINT32_MAX : UINT64_MAX;
}

/* A key that is not there, a little above the model's key `at`; where there is none, above the last, or that key. */
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

/* The interval of row `row`, from the model's key `at` on: of 1 to 2 width - 1 keys. */
static void set_interval(const struct dict_plan *plan, struct sheet *sheet, size_t row, size_t at)
{
    const uint64_t keys = 1 + draw(stream(plan, STREAM_WIDTH), row) % (2 * (uint64_t) plan->spec.width - 1);
    const uint64_t last = at + keys - 1, end = plan->model.count - 1;
    set_stored(sheet, COL_KEYS, row, model_key(&plan->model, at));
    set_stored(sheet, COL_HIS, row, model_key(&plan->model, (size_t) (last < end ? last : end)));
}

/* Of 100 requests, how many are for keys that are there. */
static uint32_t hits(const struct spec *spec)
{
    switch (spec->workload) {
    case READRANDOM:
    case CONCURRENTREAD:
    case READWHILEWRITING:
        return spec->hit_percent;
    case READMISSING:
    case SEEKRANDOM:
        return 0;
    default:
        return 100;
    }
}

static bool misses(const struct dict_plan *plan, size_t row)
{
    return draw(stream(plan, STREAM_MISS), row) % 100 >= hits(&plan->spec);
}

struct requests {
    const struct dict_plan *plan;
    struct sheet           *sheet;
    size_t                  at; /* row of the first */
    size_t                  count;
};

static void point_span(void *requests_, size_t from, size_t to, int part)
{
    const struct requests  *requests = requests_;
    const struct dict_plan *plan = requests->plan;
    struct sheet           *sheet = requests->sheet;
    (void) part;
    for (size_t i = from; i < to; i++) {
        const size_t   row = requests->at + i, at = pick(plan, row, requests->at + requests->count);
        const bool     miss = misses(plan, row);
        const uint64_t key =
            miss ? absent(plan, at, draw(stream(plan, STREAM_MISS), ~row)) : model_key(&plan->model, at);
        set_stored(sheet, COL_KEYS, row, key);
        if (sheet->hints)
            sheet->hints[row] = (uint32_t) (at + miss);
    }
}

static void interval_span(void *requests_, size_t from, size_t to, int part)
{
    const struct requests *requests = requests_;
    (void) part;
    for (size_t row = from; row < to; row++) {
        const size_t at = pick(requests->plan, row, requests->count);
        set_interval(requests->plan, requests->sheet, row, at);
        requests->sheet->hints[row] = (uint32_t) at;
    }
}

/* ---- queries ------------------------------------------------------------------------------------------------- */

bool plan_has_fills(enum workload workload)
{
    return workload >= READRANDOM && workload <= CONCURRENTREAD;
}

static bool query_columns(const struct dict_plan *plan, struct sheet *sheet)
{
    const enum workload workload = plan->spec.workload;
    const size_t        rows = plan->spec.n_queries;
    const bool          range = workload == RANGERANDOM, interval = range || workload == COUNTRANDOM;
    const bool          seek = workload == SEEKRANDOM, concurrent = workload == CONCURRENTREAD;

    sheet_free(sheet);
    sheet->hints = malloc(rows * sizeof *sheet->hints + 1);
    return sheet->hints && sheet_column(sheet, COL_KEYS, rows) && sheet_column(sheet, COL_HIS, interval ? rows : 0) &&
           sheet_column(sheet, COL_FOUND, interval ? 0 : rows) &&
           sheet_column(sheet, COL_VALUES_OUT, interval ? 0 : rows) &&
           sheet_column(sheet, COL_KEYS_OUT, seek ? rows : 0) &&
           sheet_column(sheet, COL_COUNTS, interval && !range ? rows : 0) &&
           sheet_column(sheet, COL_OFFSETS, range ? rows + 1 : 0) &&
           sheet_column(sheet, COL_CODES, concurrent ? rows : 0) /* zeros: ORDO_FIND */ &&
           sheet_column(sheet, COL_OUTCOMES, concurrent ? rows : 0);
}

static bool draw_queries(struct dict_plan *plan)
{
    const enum workload   workload = plan->spec.workload;
    const size_t          count = plan->spec.n_queries;
    struct script        *work = &plan->work;
    const struct requests requests = { plan, &work->sheet, 0, count };
    const bool            interval = workload == RANGERANDOM || workload == COUNTRANDOM;
    const enum step_call  call = workload == SEEKRANDOM       ? DO_SEEK
                                 : workload == COUNTRANDOM    ? DO_COUNT
                                 : workload == RANGERANDOM    ? DO_RANGE
                                 : workload == CONCURRENTREAD ? DO_CONCURRENT
                                                              : DO_FIND;
    if (!query_columns(plan, &work->sheet) || !script_steps(work, 1))
        return false;
    for_spans(count, interval ? interval_span : point_span, (void *) &requests);
    work->steps[0] = (struct step) { .call = call, .relation = ORDO_GE, .count = count };
    return true;
}

size_t plan_fills(const struct dict_plan *plan)
{
    const size_t batches = plan->table.n_steps, wanted = plan->spec.fills;
    return wanted == 0 ? 1 : wanted < batches ? wanted : batches;
}

/* One number out of each of as many equal parts, at random: evenly spaced ones would have zeros at their end in binary,
 * and an LSM has a run for each bit that is set. */
size_t plan_fill(const struct dict_plan *plan, size_t i)
{
    const size_t fills = plan_fills(plan), batches = plan->table.n_steps;
    const size_t low = batches * i / fills, high = batches * (i + 1) / fills;
    return fills == 1 ? batches : low + 1 + (size_t) (draw(99, i) % (high - low));
}

bool plan_advance(struct dict_plan *plan, size_t from, size_t to)
{
    struct step all = { .call = DO_UPSERT, .at = plan->table.steps[from].at };
    for (size_t s = from; s < to; s++)
        all.count += plan->table.steps[s].count;
    return model_do(&plan->model, &plan->table.sheet, &all) && draw_queries(plan) &&
           model_run(&plan->model, &plan->work);
}

/* ---- updates ------------------------------------------------------------------------------------------------- */

/* Requests, each for a key that was there at first. */
static bool draw_changes(struct dict_plan *plan, enum step_call call)
{
    const size_t          count = spec_changes(&plan->spec), batch = spec_batch(&plan->spec);
    struct script        *work = &plan->work;
    const struct requests requests = { plan, &work->sheet, 0, count };
    if (!sheet_column(&work->sheet, COL_KEYS, count) ||
        !sheet_column(&work->sheet, COL_VALUES, call == DO_UPSERT ? count : 0) ||
        !script_steps(work, batches_of(batch, count)))
        return false;
    for_spans(count, point_span, (void *) &requests);
    for (size_t i = 0; i < count; i++)
        sheet_set(&work->sheet, COL_VALUES, i, value_of(plan->spec.value_bytes, plan->spec.count + i));
    batch_steps(batch, work->steps, call, 0, count);
    return true;
}

/* One batch of new keys. */
static bool draw_inserts(struct dict_plan *plan)
{
    const size_t batch = spec_batch(&plan->spec);
    if (!draw_elements(plan, &plan->work.sheet, STREAM_NEW, plan->spec.count, batch) || !script_steps(&plan->work, 1))
        return false;
    plan->work.steps[0] = (struct step) { .call = DO_UPSERT, .count = batch };
    return true;
}

/* Rounds of a batch of upserts of new keys, and a batch of finds. In the sheet upserts come first. */
static bool draw_rounds(struct dict_plan *plan)
{
    const size_t          batch = spec_batch(&plan->spec), rounds = spec_rounds(&plan->spec), half = batch * rounds;
    struct sheet         *sheet = &plan->work.sheet;
    const struct requests finds = { plan, sheet, half, half };
    if (!draw_elements(plan, sheet, STREAM_NEW, plan->spec.count, half) || !sheet_grow(sheet, COL_KEYS, 2 * half) ||
        !sheet_column(sheet, COL_FOUND, 2 * half) || !sheet_column(sheet, COL_VALUES_OUT, 2 * half) ||
        !script_steps(&plan->work, 2 * rounds))
        return false;
    for_spans(half, point_span, (void *) &finds);
    for (size_t r = 0; r < rounds; r++) {
        plan->work.steps[2 * r] = (struct step) { .call = DO_UPSERT, .at = r * batch, .count = batch };
        plan->work.steps[2 * r + 1] = (struct step) { .call = DO_FIND, .at = half + r * batch, .count = batch };
    }
    return true;
}

/* ---- mixed batches ------------------------------------------------------------------------------------------- */

/* Of 32 operations: 12 finds, 2 contains, 5 upserts, 3 inserts, 4 erases, 4 seeks, 1 count, 1 range. */
static ordo_code code_of(uint64_t r)
{
    static const uint8_t share[ORDO_N_CODES] = { 12, 2, 5, 3, 4, 1, 1, 1, 1, 1, 1 };
    unsigned             left = (unsigned) (r % 32);
    int                  code = 0;
    while (left >= share[code])
        left -= share[code++];
    return (ordo_code) code;
}

/* The keys are new already. Half of the operations take one of the table's, an eighth one from a little before. */
static void draw_operation(const struct dict_plan *plan, struct sheet *sheet, size_t row)
{
    const uint64_t  r = draw(stream(plan, STREAM_CODE), row);
    const ordo_code code = code_of(r);
    const size_t    at = pick(plan, row, sheet->rows[COL_KEYS]);
    sheet_set(sheet, COL_CODES, row, code);
    if (code == ORDO_COUNT || code == ORDO_RANGE)
        set_interval(plan, sheet, row, at);
    else if (r >> 61 < 4)
        set_stored(sheet, COL_KEYS, row, model_key(&plan->model, at));
    else if (r >> 61 == 4 && row > 0)
        sheet_set(sheet, COL_KEYS, row, sheet_get(sheet, COL_KEYS, row - 1 - (r >> 32) % (row < 100 ? row : 100)));
}

static bool mixed_columns(struct sheet *sheet, size_t rows, size_t rounds)
{
    return sheet_column(sheet, COL_CODES, rows) && sheet_column(sheet, COL_HIS, rows) &&
           sheet_column(sheet, COL_FOUND, rows) && sheet_column(sheet, COL_KEYS_OUT, rows) &&
           sheet_column(sheet, COL_VALUES_OUT, rows) && sheet_column(sheet, COL_COUNTS, rows) &&
           sheet_column(sheet, COL_OFFSETS, rows + rounds) && sheet_column(sheet, COL_RANGE_KEYS, 1) &&
           sheet_column(sheet, COL_RANGE_VALUES, 1);
}

static bool draw_mix(struct dict_plan *plan)
{
    const size_t  batch = spec_batch(&plan->spec), rounds = spec_rounds(&plan->spec), rows = batch * rounds;
    struct sheet *sheet = &plan->work.sheet;
    if (!draw_elements(plan, sheet, STREAM_NEW, plan->spec.count, rows) || !mixed_columns(sheet, rows, rounds) ||
        !script_steps(&plan->work, rounds))
        return false;
    for (size_t row = 0; row < rows; row++)
        draw_operation(plan, sheet, row);
    for (size_t r = 0; r < rounds; r++)
        plan->work.steps[r] =
            (struct step) { .call = DO_APPLY, .at = r * batch, .count = batch, .offsets_at = r * (batch + 1) };
    return true;
}

/* ---- concurrent batches -------------------------------------------------------------------------------------- */

/* What a row's operation stores, whichever of those with its key is the last. */
static void set_value_by_key(struct sheet *sheet, size_t row)
{
    sheet_set(sheet, COL_VALUES, row, draw(STREAM_NEW, sheet_get(sheet, COL_KEYS, row)));
}

/* One batch of upserts. Which of equal keys is the first there is no telling: nobody asks what was found. */
static bool draw_concurrent_upserts(struct dict_plan *plan, int from_stream)
{
    const size_t  count = spec_batch(&plan->spec);
    struct sheet *sheet = &plan->work.sheet;
    if (!draw_elements(plan, sheet, from_stream, plan->spec.count, count) || !sheet_column(sheet, COL_CODES, count) ||
        !sheet_column(sheet, COL_OUTCOMES, count) || !script_steps(&plan->work, 1))
        return false;
    for (size_t row = 0; row < count; row++) {
        sheet_set(sheet, COL_CODES, row, ORDO_UPSERT);
        set_value_by_key(sheet, row);
    }
    plan->work.steps[0] = (struct step) { .call = DO_CONCURRENT, .count = count };
    return true;
}

/* The middle between the model's key `at` and what follows it: new keys go up to there, successors are asked for above. */
static uint64_t middle_after(const struct dict_plan *plan, size_t at)
{
    const struct model *model = &plan->model;
    const uint64_t      key = model_key(model, at);
    return key + ((at + 1 < model->count ? model_key(model, at + 1) : highest(plan)) - key) / 2;
}

static ordo_code concurrent_code(const struct dict_plan *plan, uint64_t r)
{
    const bool other = r >> 63;
    if (r % 100 < plan->spec.update_percent)
        return other ? ORDO_ERASE : ORDO_UPSERT;
    return other ? ORDO_SEEK_GE : ORDO_FIND;
}

/* The operation that has the model's key `at` for itself: nothing else of the batch is about this key, nor between the
 * middle before it and the middle after it. A new key where there is room for one, else the old one. */
static void draw_concurrent_operation(const struct dict_plan *plan, struct sheet *sheet, size_t row, size_t at,
                                      ordo_code code)
{
    const uint64_t own = model_key(&plan->model, at), r = draw(stream(plan, STREAM_PICK), row);
    uint64_t       key = own;
    if (code == ORDO_UPSERT && middle_after(plan, at) > own)
        key = own + 1 + r % (middle_after(plan, at) - own);
    if (code == ORDO_SEEK_GE && at > 0 && r >> 61) /* else exactly its own */
        key = own - r % (own - middle_after(plan, at - 1));
    sheet_set(sheet, COL_CODES, row, code);
    set_stored(sheet, COL_KEYS, row, key);
    set_value_by_key(sheet, row);
    sheet->hints[row] = (uint32_t) (at + (key > own));
}

static void concurrent_span(void *requests_, size_t from, size_t to, int part)
{
    const struct requests  *requests = requests_;
    const struct dict_plan *plan = requests->plan;
    const size_t            keys = plan->model.count, rows = requests->count;
    (void) part;
    for (size_t row = from; row < to; row++) {
        const size_t    place = requests->sheet->hints[row];
        const size_t    at = rows > keys ? place : place * keys / rows;
        const ordo_code code = concurrent_code(plan, draw(stream(plan, STREAM_CODE), row));
        /* Nothing happens to the first key: finds of it are those of more operations than keys. */
        if (place == 0 || at >= keys)
            draw_concurrent_operation(plan, requests->sheet, row, 0, ORDO_FIND);
        else
            draw_concurrent_operation(plan, requests->sheet, row, at, code);
    }
}

/* Numbers 0 .. count - 1 in any order. */
static uint32_t *shuffled(const struct dict_plan *plan, size_t count)
{
    uint32_t *numbers = calloc(count + 1, sizeof *numbers);
    for (size_t i = 0; numbers && i < count; i++) {
        const size_t from = (size_t) (draw(stream(plan, STREAM_MISS), i) % (i + 1));
        numbers[i] = numbers[from];
        numbers[from] = (uint32_t) i;
    }
    return numbers;
}

static bool draw_concurrent_mix(struct dict_plan *plan)
{
    const size_t          rows = spec_batch(&plan->spec);
    struct sheet         *sheet = &plan->work.sheet;
    const struct requests requests = { plan, sheet, 0, rows };
    sheet->hints = shuffled(plan, rows);
    if (!sheet->hints || !sheet_column(sheet, COL_CODES, rows) || !sheet_column(sheet, COL_KEYS, rows) ||
        !sheet_column(sheet, COL_VALUES, rows) || !sheet_column(sheet, COL_FOUND, rows) ||
        !sheet_column(sheet, COL_KEYS_OUT, rows) || !sheet_column(sheet, COL_VALUES_OUT, rows) ||
        !sheet_column(sheet, COL_OUTCOMES, rows) || !script_steps(&plan->work, 1))
        return false;
    for_spans(rows, concurrent_span, (void *) &requests);
    plan->work.steps[0] = (struct step) { .call = DO_CONCURRENT, .count = rows };
    return true;
}

/* ---- cleanup ------------------------------------------------------------------------------------------------- */

/* A tenth is replaced, then a tenth erased. */
static bool draw_churn(struct dict_plan *plan)
{
    const size_t          tenth = spec_tenth(&plan->spec), batch = spec_batch(&plan->spec);
    struct script        *churn = &plan->churn;
    const struct requests requests = { plan, &churn->sheet, 0, 2 * tenth };
    if (!sheet_column(&churn->sheet, COL_KEYS, 2 * tenth) || !sheet_column(&churn->sheet, COL_VALUES, 2 * tenth) ||
        !script_steps(churn, 2 * batches_of(batch, tenth)))
        return false;
    for_spans(2 * tenth, point_span, (void *) &requests);
    for (size_t i = 0; i < tenth; i++)
        sheet_set(&churn->sheet, COL_VALUES, i, value_of(plan->spec.value_bytes, plan->spec.count + i));
    batch_steps(batch, churn->steps, DO_UPSERT, 0, tenth);
    batch_steps(batch, churn->steps + batches_of(batch, tenth), DO_ERASE, tenth, tenth);
    if (!script_steps(&plan->work, 1))
        return false;
    plan->work.steps[0] = (struct step) { .call = plan->spec.workload == CLEANUP ? DO_CLEAN_UP : DO_COMPACT };
    return true;
}

/* ---- all together -------------------------------------------------------------------------------------------- */

static bool draw_work(struct dict_plan *plan)
{
    switch (plan->spec.workload) {
    case OVERWRITE:
        return draw_changes(plan, DO_UPSERT);
    case DELETERANDOM:
        return draw_changes(plan, DO_ERASE);
    case INSERTRANDOM:
        return draw_inserts(plan);
    case CONCURRENTFILL:
        return draw_concurrent_upserts(plan, STREAM_TABLE);
    case CONCURRENTINSERT:
        return draw_concurrent_upserts(plan, STREAM_NEW);
    case CONCURRENTMIX:
        return draw_concurrent_mix(plan);
    case READWHILEWRITING:
        return draw_rounds(plan);
    case MIXED:
        return draw_mix(plan);
    case CLEANUP:
    case COMPACTALL:
        return draw_churn(plan);
    default:
        return fill_script(plan, &plan->work);
    }
}

static bool make(struct dict_plan *plan)
{
    const enum workload workload = plan->spec.workload;
    if (!is_fill(workload) && !fill_script(plan, &plan->table))
        return false;
    if (plan_has_fills(workload))
        return true;
    struct step all = { .call = DO_UPSERT, .count = plan->table.sheet.rows[COL_KEYS] };
    return model_do(&plan->model, &plan->table.sheet, &all) && draw_work(plan) &&
           model_run(&plan->model, &plan->churn) && model_run(&plan->model, &plan->work);
}

bool plan_make(const struct spec *spec, struct dict_plan *plan)
{
    const struct script empty = { .sheet = { .type = spec->type, .value_bytes = spec->value_bytes } };
    *plan = (struct dict_plan) { *spec, empty, empty, empty, model_empty(spec->type, spec->value_bytes) };
    if (plan->spec.width == 0)
        plan->spec.width = 1;
    if (make(plan))
        return true;
    plan_free(plan);
    return false;
}

void plan_free(struct dict_plan *plan)
{
    script_free(&plan->table);
    script_free(&plan->churn);
    script_free(&plan->work);
    model_free(&plan->model);
}

struct subject_size plan_size(const struct spec *spec)
{
    const double pair = (double) ordo_type_bytes(spec->type) + spec->value_bytes;
    const double elements = (double) spec->count, results = spec->workload == RANGERANDOM ? spec->width : 2;
    const double calls = spec_operations(spec) > spec->count ? (double) spec_operations(spec) : elements;
    const double queries = plan_has_fills(spec->workload) ? (double) spec->n_queries : calls;
    const double largest = (pair - spec->value_bytes) * (elements > queries * results ? elements : queries * results);
    /* The elements as drawn, and in the dictionary twice during a merge; queries with what they give. */
    return (struct subject_size) { (uint64_t) (3.5 * elements * pair + queries * (results + 2) * pair),
                                   (uint64_t) largest };
}
