/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool fill_script(const struct dict_plan *plan, struct script *script)
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

static size_t pick(const struct dict_plan *plan, size_t i, size_t count)
{
    return pick_of(plan, plan->model.count, i, count);
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

/* Draws an interval of 1 to 2 width - 1 keys, from the model's key `at` on. */
static void set_interval(const struct dict_plan *plan, struct column_batch *cols, size_t row, size_t at)
{
    const uint64_t keys = 1 + draw(stream(plan, STREAM_WIDTH), row) % (2 * (uint64_t) plan->spec.width - 1);
    const uint64_t last = at + keys - 1, end = plan->model.count - 1;
    set_stored(cols, COL_KEYS, row, model_key(&plan->model, at));
    set_stored(cols, COL_HI, row, model_key(&plan->model, (size_t) (last < end ? last : end)));
}

/* Draws the key of the i-th request, present or absent as the workload needs. */
static void point_at(void *requests_, size_t i)
{
    const struct requests  *requests = requests_;
    const struct dict_plan *plan = requests->plan;
    struct column_batch    *cols = requests->cols;
    const enum workload     w = workload_on_device(plan->spec.workload);
    const size_t            row = requests->at + i, at = pick(plan, row, requests->at + requests->count);
    const bool              has_rate = w == READRANDOM || w == CONCURRENTREAD || w == READWHILEWRITING;
    const bool              never_hits = w == READMISSING || w == SEEKRANDOM || w == PREDECESSOR;
    const uint64_t          hits = has_rate ? plan->spec.hit_percent : never_hits ? 0 : 100;
    const bool              miss = draw(stream(plan, STREAM_MISS), row) % 100 >= hits;
    const uint64_t key = miss ? absent(plan, at, draw(stream(plan, STREAM_MISS), ~row)) : model_key(&plan->model, at);
    set_stored(cols, COL_KEYS, row, key);
    if (cols->hints)
        cols->hints[row] = (uint32_t) (at + miss);
}

/* The first has length 0, the other lengths are uniform. */
static bool draw_prefixes(struct dict_plan *plan)
{
    const unsigned least = plan->spec.type == ORDO_U32 ? 8 : 16, most = plan->spec.type == ORDO_U32 ? 28 : 60;
    const size_t   count = plan->spec.count, bytes = plan->model.key_bytes;
    plan->prefixes = malloc(count * bytes + 1);
    if (!plan->prefixes)
        return false;
    keys_draw(plan->spec.type, plan->spec.dist == ZIPF ? UNIFORM : plan->spec.dist, stream(plan, STREAM_TABLE), count,
              plan->prefixes);
    for (size_t i = 0; i < count; i++) {
        const unsigned length = least + (unsigned) (draw(stream(plan, STREAM_WIDTH), i) % (most - least + 1));
        set_element(plan->prefixes, bytes, i,
                    prefix_key(plan->spec.type, element(plan->prefixes, bytes, i), i ? length : 0));
    }
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

/* The table of longestprefix. X-fast trie: the prefixes. Others: the start of each segment of addresses with one
 * longest prefix, and its value, which a predecessor search finds. */
static bool prefix_script(struct dict_plan *plan, struct script *script)
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
static void address_at(void *requests_, size_t row)
{
    const struct requests  *requests = requests_;
    const struct dict_plan *plan = requests->plan;
    const uint64_t          prefix =
        element(plan->prefixes, plan->model.key_bytes, pick_of(plan, plan->spec.count, row, requests->count));
    column_set(requests->cols, COL_KEYS, row, address_in(plan, prefix, prefix_length(plan->spec.type, prefix), row));
}

/* The first 8 to all but 8 bits. Columns that the structure does not ask by are missing. */
static void prefix_at(void *requests_, size_t row)
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

/* ---- timed updates ------------------------------------------------------------------------------------------- */

static bool draw_fill(struct dict_plan *plan, enum step_call call)
{
    (void) call; /* fill_script knows it */
    return fill_script(plan, &plan->work);
}

/* Requests of keys that are there at first. */
static bool draw_changes(struct dict_plan *plan, enum step_call call)
{
    const size_t         count = spec_changes(&plan->spec);
    struct column_batch *cols = &plan->work.cols;
    if (!columns_reserve(cols, count,
                         call == DO_ERASE        ? IN(KEYS)
                         : call == DO_CONCURRENT ? IN(CODES) | IN(KEYS) | IN(OUTCOMES)
                                                 : IN(KEYS) | IN(VALUES)))
        return false;
    request_each(plan, cols, 0, count, point_at);
    if (call == DO_CONCURRENT) /* without `found`: the first of equal keys is unknown */
        memset(cols->at[COL_CODES], ORDO_ERASE, count);
    if (cols->at[COL_VALUES])
        values_make(plan->spec.value_bytes, plan->spec.count, count, cols->at[COL_VALUES]);
    return batch_steps(&plan->work, spec_batch(&plan->spec), call, 0, count);
}

static bool draw_inserts(struct dict_plan *plan, enum step_call call)
{
    const size_t batch = spec_batch(&plan->spec);
    return draw_elements(plan, &plan->work.cols, STREAM_NEW, plan->spec.count, batch) &&
           script_one(&plan->work, (struct step) { .call = call, .count = batch });
}

/* One batch of intervals, which may overlap. */
static bool draw_erase_ranges(struct dict_plan *plan, enum step_call call)
{
    const size_t         rows = spec_batch(&plan->spec);
    struct column_batch *cols = &plan->work.cols;
    if (!columns_reserve(cols, rows, IN(KEYS) | IN(HI) | IN(COUNTS)))
        return false;
    for (size_t row = 0; row < rows; row++)
        set_interval(plan, cols, row, pick(plan, row, rows));
    return script_one(&plan->work, (struct step) { .call = call, .count = rows });
}

/* Replaces some elements, then erases as many others (spec_churn). The cleanup is timed. */
static bool draw_churn(struct dict_plan *plan, enum step_call call)
{
    const size_t   churned = spec_churn(&plan->spec), batch = spec_batch(&plan->spec);
    struct script *churn = &plan->churn;
    if (!columns_reserve(&churn->cols, 2 * churned, IN(KEYS) | IN(VALUES)))
        return false;
    request_each(plan, &churn->cols, 0, 2 * churned, point_at);
    values_make(plan->spec.value_bytes, plan->spec.count, churned, churn->cols.at[COL_VALUES]);
    return batch_steps(churn, batch, DO_UPSERT, 0, churned) && batch_steps(churn, batch, DO_ERASE, churned, churned) &&
           script_one(&plan->work, (struct step) { .call = call });
}

static bool draw_step(struct dict_plan *plan, enum step_call call)
{
    return script_one(&plan->work, (struct step) { .call = call });
}

/* ---- updates in rounds --------------------------------------------------------------------------------------- */

/* Repeats the steps of the first round. Each advances by its count. */
static bool round_steps(struct dict_plan *plan, const struct step *round, size_t n)
{
    for (size_t r = 0; r < spec_rounds(&plan->spec); r++)
        for (size_t s = 0; s < n; s++) {
            struct step step = round[s];
            step.at += r * step.count;
            step.offsets_at = r * (step.count + 1);
            if (!script_steps(&plan->work, &step, 1))
                return false;
        }
    return true;
}

/* A batch of new keys and a batch of finds, which stand after all new keys. */
static bool draw_rounds(struct dict_plan *plan, enum step_call call)
{
    const size_t         batch = spec_batch(&plan->spec), half = batch * spec_rounds(&plan->spec);
    struct column_batch *cols = &plan->work.cols;
    if (!draw_elements(plan, cols, STREAM_NEW, plan->spec.count, half) || !column_grow(cols, COL_KEYS, 2 * half) ||
        !columns_reserve(cols, 2 * half, IN(FOUND) | IN(VALUES_OUT)))
        return false;
    request_each(plan, cols, half, half, point_at);
    return round_steps(
        plan, (struct step[]) { { .call = DO_UPSERT, .count = batch }, { .call = call, .at = half, .count = batch } },
        2);
}

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

/* Keys are new at first. Half of the operations take a table key, an eighth a recent key. */
static bool draw_mix(struct dict_plan *plan, enum step_call call)
{
    const size_t         batch = spec_batch(&plan->spec), rounds = spec_rounds(&plan->spec), rows = batch * rounds;
    struct column_batch *cols = &plan->work.cols;
    if (!draw_elements(plan, cols, STREAM_NEW, plan->spec.count, rows) ||
        !columns_reserve(cols, rows, IN(CODES) | IN(HI) | IN(FOUND) | IN(KEYS_OUT) | IN(VALUES_OUT) | IN(COUNTS)) ||
        !column_reserve(cols, COL_OFFSETS, rows + rounds) ||
        !columns_reserve(cols, 1, IN(RANGE_KEYS) | IN(RANGE_VALUES)))
        return false;
    for (size_t row = 0; row < rows; row++) {
        const uint64_t  r = draw(stream(plan, STREAM_CODE), row);
        const bool      erases = r % 100 < plan->spec.erase_percent;
        const ordo_code code = plan->spec.workload != MIXEDUPDATES ? code_of(plan->spec.workload, r)
                               : erases                            ? ORDO_ERASE
                                                                   : ORDO_UPSERT;
        const size_t    at = pick(plan, row, cols->rows[COL_KEYS]);
        column_set(cols, COL_CODES, row, code);
        if (code == ORDO_COUNT || code == ORDO_RANGE)
            set_interval(plan, cols, row, at);
        else if (r >> 61 < 4)
            set_stored(cols, COL_KEYS, row, model_key(&plan->model, at));
        else if (r >> 61 == 4 && row > 0)
            column_set(cols, COL_KEYS, row, column_get(cols, COL_KEYS, row - 1 - (r >> 32) % (row < 100 ? row : 100)));
    }
    return round_steps(plan, &(struct step) { .call = call, .count = batch }, 1);
}

/* Takes the first elements, inserts as many. */
static bool draw_queue(struct dict_plan *plan, enum step_call call)
{
    const size_t         batch = spec_batch(&plan->spec), rows = batch * spec_rounds(&plan->spec);
    struct column_batch *cols = &plan->work.cols;
    return draw_elements(plan, cols, STREAM_NEW, plan->spec.count, rows) &&
           columns_reserve(cols, rows, IN(KEYS_OUT) | IN(VALUES_OUT)) &&
           round_steps(plan,
                       (struct step[]) { { .call = call, .count = batch }, { .call = DO_UPSERT, .count = batch } }, 2);
}

/* Keys are times. Inserts newer keys, erases as many of the oldest: round r the range in row rows + r. */
static bool draw_expiry(struct dict_plan *plan, enum step_call call)
{
    const size_t         batch = spec_batch(&plan->spec), rounds = spec_rounds(&plan->spec), rows = batch * rounds;
    struct column_batch *cols = &plan->work.cols;
    if (!draw_elements(plan, cols, STREAM_NEW, plan->spec.count, rows) || !column_grow(cols, COL_KEYS, rows + rounds) ||
        !columns_reserve(cols, rows + rounds, IN(HI) | IN(COUNTS)))
        return false;
    for (size_t row = 0; row < rows; row++)
        set_stored(cols, COL_KEYS, row, plan->spec.count + row);
    for (size_t r = 0; r < rounds; r++) {
        set_stored(cols, COL_KEYS, rows + r, 0);
        set_stored(cols, COL_HI, rows + r, (r + 1) * batch - 1);
    }
    return round_steps(
        plan, (struct step[]) { { .call = DO_UPSERT, .count = batch }, { .call = call, .at = rows, .count = 1 } }, 2);
}

#define PRICES   65536
#define MIDPRICE 1000000
#define QUANTITY 100

/* Adds quantities to prices, gets the least price, and after these in the columns the greatest. */
static bool draw_order_book(struct dict_plan *plan, enum step_call call)
{
    const size_t         batch = spec_batch(&plan->spec), rounds = spec_rounds(&plan->spec), rows = batch * rounds;
    struct column_batch *cols = &plan->work.cols;
    if (!columns_reserve(cols, rows, IN(KEYS) | IN(VALUES)) ||
        !columns_reserve(cols, 2 * rounds, IN(KEYS_OUT) | IN(VALUES_OUT)))
        return false;
    for (size_t row = 0; row < rows; row++) {
        const uint64_t r = draw(stream(plan, STREAM_NEW), row);
        set_stored(cols, COL_KEYS, row, MIDPRICE + r % PRICES);
        column_set(cols, COL_VALUES, row, 1 + (r >> 32) % QUANTITY);
    }
    const struct step round[] = { { .call = call, .count = batch },
                                  { .call = DO_PEEK_FIRST, .count = 1 },
                                  { .call = DO_PEEK_LAST, .at = rounds, .count = 1 } };
    return round_steps(plan, round, 3);
}

/* ---- timed queries ------------------------------------------------------------------------------------------- */

static void rank_at(void *requests_, size_t row)
{
    const struct requests *requests = requests_;
    column_set(requests->cols, COL_RANKS, row, pick(requests->plan, row, requests->count));
}

/* A page ends at the last key. */
static void interval_at(void *requests_, size_t row)
{
    const struct requests *requests = requests_;
    const size_t           at = pick(requests->plan, row, requests->count);
    set_interval(requests->plan, requests->cols, row, at);
    if (requests->plan->spec.workload == PAGERANDOM)
        set_stored(requests->cols, COL_HI, row, highest(requests->plan));
    requests->cols->hints[row] = (uint32_t) at;
}

/* Draws timed calls, plan->work, after the model has the table. False without memory. */
typedef bool (*draw_fn)(struct dict_plan *plan, enum step_call call);

/* The timed calls of a workload: updates have `draw`, queries the rest. */
struct work {
    draw_fn        draw;
    enum step_call call;
    ordo_relation  relation;
    each_fn        at; /* draws a query */
    unsigned       columns;
};

static const struct work works[N_ALL_WORKLOADS] = {
    [FILLRANDOM] = { .draw = draw_fill },
    [FILLSEQ] = { .draw = draw_fill },
    [BUILD] = { .draw = draw_fill },
    [OVERWRITE] = { .draw = draw_changes, .call = DO_UPSERT },
    [DELETERANDOM] = { .draw = draw_changes, .call = DO_ERASE },
    [COMBINERANDOM] = { .draw = draw_changes, .call = DO_COMBINE },
    [INSERTRANDOM] = { .draw = draw_inserts, .call = DO_UPSERT },
    [DELETERANGE] = { .draw = draw_erase_ranges, .call = DO_ERASE_RANGE },
    [CLEANUP] = { .draw = draw_churn, .call = DO_CLEAN_UP },
    [COMPACTALL] = { .draw = draw_churn, .call = DO_COMPACT },
    [HOSTEXPORT] = { .draw = draw_step, .call = DO_EXPORT },
    [READWHILEWRITING] = { .draw = draw_rounds, .call = DO_FIND },
    [MIXED] = { .draw = draw_mix, .call = DO_APPLY },
    [MIXEDSEEKS] = { .draw = draw_mix, .call = DO_APPLY },
    [MIXEDPOINTS] = { .draw = draw_mix, .call = DO_APPLY },
    [MIXEDUPDATES] = { .draw = draw_mix, .call = DO_APPLY },
    [QUEUE] = { .draw = draw_queue, .call = DO_TAKE_FIRST },
    [EXPIRY] = { .draw = draw_expiry, .call = DO_ERASE_RANGE },
    [ORDERBOOK] = { .draw = draw_order_book, .call = DO_COMBINE },
    [CONCURRENTFILL] = { .draw = draw_concurrent_upserts, .call = DO_CONCURRENT },
    [CONCURRENTBATCHES] = { .draw = draw_concurrent_upserts, .call = DO_CONCURRENT },
    [CONCURRENTINSERT] = { .draw = draw_concurrent_upserts, .call = DO_CONCURRENT },
    [CONCURRENTERASE] = { .draw = draw_changes, .call = DO_CONCURRENT },
    [CONCURRENTMIX] = { .draw = draw_concurrent, .call = DO_CONCURRENT },
    [CONCURRENTRANGES] = { .draw = draw_concurrent, .call = DO_CONCURRENT },
    [CONCURRENTPOINTS] = { .draw = draw_concurrent, .call = DO_CONCURRENT },
#define ELEMENT (IN(FOUND) | IN(KEYS_OUT) | IN(VALUES_OUT))
    [READRANDOM] = { NULL, DO_FIND, ORDO_GE, point_at, IN(KEYS) | IN(FOUND) | IN(VALUES_OUT) },
    [READMISSING] = { NULL, DO_FIND, ORDO_GE, point_at, IN(KEYS) | IN(FOUND) | IN(VALUES_OUT) },
    [SEEKRANDOM] = { NULL, DO_SEEK, ORDO_GE, point_at, IN(KEYS) | ELEMENT },
    [PREDECESSOR] = { NULL, DO_SEEK, ORDO_LE, point_at, IN(KEYS) | ELEMENT },
    [SEEKWITHIN] = { NULL, DO_SEEK_WITHIN, ORDO_GT, interval_at, IN(KEYS) | IN(HI) | ELEMENT },
    [SELECTRANDOM] = { NULL, DO_SELECT, ORDO_GE, rank_at, IN(RANKS) | ELEMENT },
    [RANKRANDOM] = { NULL, DO_RANK, ORDO_GE, point_at, IN(KEYS) | IN(COUNTS) },
    [COUNTRANDOM] = { NULL, DO_COUNT, ORDO_GE, interval_at, IN(KEYS) | IN(HI) | IN(COUNTS) },
    [SUMRANDOM] = { NULL, DO_AGGREGATE, ORDO_GE, interval_at, IN(KEYS) | IN(HI) | IN(VALUES_OUT) },
    [RANGERANDOM] = { NULL, DO_RANGE, ORDO_GE, interval_at, IN(KEYS) | IN(HI) | IN(OFFSETS) },
    [PAGERANDOM] = { NULL, DO_PAGE, ORDO_GE, interval_at, IN(KEYS) | IN(HI) | IN(OFFSETS) },
    [LONGESTPREFIX] = { NULL, DO_SEEK, ORDO_LE, address_at, IN(KEYS) | IN(FOUND) | IN(VALUES_OUT) },
    [COUNTPREFIX] = { NULL, DO_COUNT, ORDO_GE, prefix_at, IN(KEYS) | IN(HI) | IN(COUNTS) },
    [CONCURRENTREAD] = { NULL, DO_CONCURRENT, ORDO_GE, point_at,
                         IN(KEYS) | IN(FOUND) | IN(VALUES_OUT) | IN(CODES) | IN(OUTCOMES) },
};

static struct work work_of(const struct spec *spec)
{
    struct work work = works[workload_on_device(spec->workload)];
    if (spec->variant == XFAST && spec->workload == LONGESTPREFIX)
        work.call = DO_LONGEST_PREFIX;
    if (spec->variant == XFAST && spec->workload == COUNTPREFIX) {
        work.call = DO_COUNT_PREFIX;
        work.columns = IN(KEYS) | IN(LENGTHS) | IN(COUNTS);
    }
    return work;
}

static bool draw_queries(struct dict_plan *plan)
{
    const struct work    work = work_of(&plan->spec);
    const size_t         count = plan->spec.n_queries;
    struct column_batch *cols = &plan->work.cols;
    columns_clear(cols);
    cols->hints = malloc(count * sizeof *cols->hints + 1);
    if (!cols->hints || !columns_reserve(cols, count, work.columns) ||
        (cols->rows[COL_OFFSETS] && !column_grow(cols, COL_OFFSETS, count + 1)))
        return false;
    memset(cols->hints, 0xff, count * sizeof *cols->hints); /* no place */
    request_each(plan, cols, 0, count, work.at);
    return script_one(
        &plan->work,
        (struct step) { .call = work.call, .relation = work.relation, .limit = plan->spec.width, .count = count });
}

/* ---- queries at several fills -------------------------------------------------------------------------------- */

bool plan_has_fills(enum workload workload)
{
    return workload_is_dict(workload) && workload_has_queries(workload);
}

size_t plan_fills(const struct dict_plan *plan)
{
    const size_t batches = plan->table.n_steps, wanted = plan->spec.fills;
    return wanted == 0 ? 1 : wanted < batches ? wanted : batches;
}

/* Returns a random number from each of `fills` equal parts. Evenly spaced numbers would end in zero bits, and an LSM
 * has a run for each set bit. */
size_t plan_fill(const struct dict_plan *plan, size_t i)
{
    const size_t fills = plan_fills(plan), batches = plan->table.n_steps;
    const size_t low = batches * i / fills, high = batches * (i + 1) / fills;
    return fills == 1 ? batches : low + 1 + (size_t) (draw(99, i) % (high - low));
}

static struct script script_empty(const struct spec *spec)
{
    return (struct script) { .cols = { .type = spec->type, .value_bytes = spec->value_bytes } };
}

bool plan_advance(struct dict_plan *plan, size_t i)
{
    if (i < plan->n_asked) {
        plan->work = plan->asked[i];
        return true;
    }
    const size_t from = i ? plan_fill(plan, i - 1) : 0, to = plan_fill(plan, i);
    struct step  all = { .call = DO_UPSERT, .at = plan->table.steps[from].at };
    for (size_t s = from; s < to; s++)
        all.count += plan->table.steps[s].count;
    if (!model_do(&plan->model, &plan->table.cols, &all))
        return false;
    struct script *asked = plan->keeps ? realloc(plan->asked, (plan->n_asked + 1) * sizeof *asked) : plan->asked;
    if (plan->keeps && !asked)
        return false;
    plan->asked = asked;
    if (plan->keeps)
        plan->work = script_empty(&plan->spec);
    const bool done = draw_queries(plan) && model_run(&plan->model, &plan->work);
    if (plan->keeps)
        plan->asked[plan->n_asked++] = plan->work;
    return done;
}

/* A plan that nobody uses may take an eighth of the host's memory. */
#define KEPT_SHARE 8

static bool is_small(const struct spec *spec)
{
    const struct workload_bytes size = plan_bytes(spec);
    const uint64_t              fills = plan_has_fills(spec->workload) && spec->fills ? spec->fills : 1;
    const uint64_t              host = (uint64_t) sysconf(_SC_PHYS_PAGES) * (uint64_t) sysconf(_SC_PAGESIZE);
    return size.all * fills < host / KEPT_SHARE;
}

static bool make(struct dict_plan *plan)
{
    const struct work   work = work_of(&plan->spec);
    const enum workload workload = plan->spec.workload;
    const bool          drawn = workload_fills(workload)       ? true
                                : workload == CONCURRENTPOINTS ? draw_half_of_range(plan)
                                : workload == LONGESTPREFIX    ? prefix_script(plan, &plan->table)
                                                               : fill_script(plan, &plan->table);
    if (!drawn || !work.draw)
        return drawn;
    struct step all = { .call = DO_UPSERT, .count = plan->table.cols.rows[COL_KEYS] };
    return model_do(&plan->model, &plan->table.cols, &all) && work.draw(plan, work.call) &&
           model_run(&plan->model, &plan->churn) &&
           (plan->spec.workload == CONCURRENTPOINTS || model_run(&plan->model, &plan->work));
}

bool plan_make(const struct spec *spec, struct dict_plan *plan)
{
    const struct script empty = script_empty(spec);
    *plan = (struct dict_plan) { .spec = *spec,
                                 .table = empty,
                                 .churn = empty,
                                 .work = empty,
                                 .keeps = plan_has_fills(spec->workload) && is_small(spec),
                                 .model = model_empty(spec->type, spec->value_bytes) };
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
    for (size_t i = 0; i < plan->n_asked; i++)
        script_free(&plan->asked[i]);
    if (!plan->n_asked)
        script_free(&plan->work);
    free(plan->asked);
    free(plan->prefixes);
    plan->asked = NULL;
    plan->prefixes = NULL;
    plan->n_asked = 0;
    model_free(&plan->model);
}

static struct dict_plan kept;
static bool             is_kept;

struct dict_plan *plan_borrow(const struct spec *spec)
{
    struct spec before = kept.spec;
    before.width = spec->width ? before.width : 0; /* plan_make replaces 0 by 1 */
    const bool same = spec_asks_same(&before, spec) && (!workload_asks_prefixes(spec->workload) ||
                                                        (before.variant == XFAST) == (spec->variant == XFAST));
    if (is_kept && !same) {
        plan_free(&kept);
        is_kept = false;
    }
    if (!is_kept && !plan_make(spec, &kept))
        return NULL;
    const uint32_t width = kept.spec.width;
    is_kept = true;
    kept.spec = *spec;
    kept.spec.width = width;
    return &kept;
}

void plan_return(bool good)
{
    if (!is_kept || (good && is_small(&kept.spec)))
        return;
    plan_free(&kept);
    is_kept = false;
}

struct workload_bytes plan_bytes(const struct spec *spec)
{
    const double pair = (double) ordo_type_bytes(spec->type) + spec->value_bytes;
    const double elements = (double) spec->count * (spec->workload == LONGESTPREFIX ? 2 : 1),
                 results =
                     spec->workload == RANGERANDOM || spec->workload == PAGERANDOM || spec->workload == CONCURRENTRANGES
                         ? spec->width
                         : 2;
    const double calls = spec_operations(spec) > spec->count ? (double) spec_operations(spec) : elements;
    const double queries = plan_has_fills(spec->workload) ? (double) spec->n_queries : calls;
    const double largest = (pair - spec->value_bytes) * (elements > queries * results ? elements : queries * results);
    /* The drawn elements, two copies in the dictionary during a merge, and the queries with their results. */
    return (struct workload_bytes) { (uint64_t) (3.5 * elements * pair + queries * (results + 2) * pair),
                                     (uint64_t) largest };
}
