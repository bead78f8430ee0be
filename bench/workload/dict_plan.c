/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include "bench/common/threads.h"

#include <stdlib.h>
#include <unistd.h>

/* ---- queries ------------------------------------------------------------------------------------------------- */

bool plan_has_fills(enum workload workload)
{
    return workload_is_dict(workload) && workload_has_queries(workload);
}

/* A page ends at the last key. */
static bool has_intervals(enum workload workload)
{
    return workload == COUNTRANDOM || workload == RANGERANDOM || workload == SEEKWITHIN || workload == SUMRANDOM ||
           workload == PAGERANDOM;
}

static void rank_at(void *requests_, size_t row)
{
    const struct requests *requests = requests_;
    column_set(requests->cols, COL_RANKS, row, pick(requests->plan, row, requests->count));
}

static void interval_at(void *requests_, size_t row)
{
    const struct requests *requests = requests_;
    const size_t           at = pick(requests->plan, row, requests->count);
    set_interval(requests->plan, requests->cols, row, at);
    if (requests->plan->spec.workload == PAGERANDOM)
        set_stored(requests->cols, COL_HI, row, highest(requests->plan));
    requests->cols->hints[row] = (uint32_t) at;
}

static bool query_columns(const struct dict_plan *plan, struct column_batch *cols)
{
    const enum workload workload = plan->spec.workload;
    const size_t        rows = plan->spec.n_queries;
    const bool          range = workload == RANGERANDOM || workload == PAGERANDOM, select = workload == SELECTRANDOM;
    const bool          numbers = workload == COUNTRANDOM || workload == RANKRANDOM, sums = workload == SUMRANDOM;
    const bool          element = !range && !numbers && !sums; /* each query returns an element */
    const bool seek = workload == SEEKRANDOM || workload == SEEKWITHIN, concurrent = workload == CONCURRENTREAD;

    columns_clear(cols);
    cols->hints = malloc(rows * sizeof *cols->hints + 1);
    const unsigned columns = (select ? IN(RANKS) : IN(KEYS)) | (has_intervals(workload) ? IN(HI) : 0) |
                             (element ? IN(FOUND) : 0) | (element || sums ? IN(VALUES_OUT) : 0) |
                             (seek || select ? IN(KEYS_OUT) : 0) | (numbers ? IN(COUNTS) : 0) |
                             (concurrent ? IN(CODES) | IN(OUTCOMES) : 0);
    return cols->hints && columns_reserve(cols, rows, columns) &&
           column_reserve(cols, COL_OFFSETS, range ? rows + 1 : 0);
}

static enum step_call query_call(enum workload workload)
{
    static const struct {
        enum workload  workload;
        enum step_call call;
    } calls[] = { { SEEKRANDOM, DO_SEEK },        { COUNTRANDOM, DO_COUNT },   { RANGERANDOM, DO_RANGE },
                  { RANKRANDOM, DO_RANK },        { SELECTRANDOM, DO_SELECT }, { PAGERANDOM, DO_PAGE },
                  { SEEKWITHIN, DO_SEEK_WITHIN }, { SUMRANDOM, DO_AGGREGATE }, { CONCURRENTREAD, DO_CONCURRENT } };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].workload == workload)
            return calls[i].call;
    return DO_FIND;
}

static each_fn query_at(enum workload workload)
{
    return workload == SELECTRANDOM ? rank_at : has_intervals(workload) ? interval_at : point_at;
}

static bool draw_queries(struct dict_plan *plan)
{
    const enum workload   workload = plan->spec.workload;
    const size_t          count = plan->spec.n_queries;
    struct script        *work = &plan->work;
    const struct requests requests = { plan, &work->cols, 0, count };
    if (!query_columns(plan, &work->cols) || !script_steps(work, 1))
        return false;
    for_each(count, query_at(workload), (void *) &requests);
    work->steps[0] = (struct step) { .call = query_call(workload),
                                     .relation = workload == SEEKWITHIN ? ORDO_GT : ORDO_GE,
                                     .limit = plan->spec.width,
                                     .count = count };
    return true;
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

/* Prepares plan->work for new queries and keeps or frees the previous queries. */
static bool empty_work(struct dict_plan *plan)
{
    if (!plan->keeps)
        return true;
    struct script *asked = realloc(plan->asked, (plan->n_asked + 1) * sizeof *asked);
    if (!asked)
        return false;
    plan->asked = asked;
    plan->work = script_empty(&plan->spec);
    return true;
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
    if (!model_do(&plan->model, &plan->table.cols, &all) || !empty_work(plan))
        return false;
    const bool prefixes = workload_asks_prefixes(plan->spec.workload);
    const bool done = (prefixes ? draw_prefix_queries : draw_queries)(plan) && model_run(&plan->model, &plan->work);
    if (plan->keeps)
        plan->asked[plan->n_asked++] = plan->work;
    return done;
}

/* ---- all together -------------------------------------------------------------------------------------------- */

static bool draw_export(struct dict_plan *plan)
{
    return script_one(&plan->work, (struct step) { .call = DO_EXPORT });
}

static bool draw_work(struct dict_plan *plan)
{
    switch (workload_on_device(plan->spec.workload)) {
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
    case CONCURRENTPOINTS:
        return draw_concurrent_points(plan);
    case READWHILEWRITING:
        return draw_rounds(plan);
    case MIXED:
    case MIXEDSEEKS:
    case MIXEDPOINTS:
        return draw_mix(plan);
    case COMBINERANDOM:
        return draw_changes(plan, DO_COMBINE);
    case DELETERANGE:
        return draw_erase_ranges(plan);
    case QUEUE:
        return draw_queue(plan);
    case EXPIRY:
        return draw_expiry(plan);
    case ORDERBOOK:
        return draw_order_book(plan);
    case CLEANUP:
    case COMPACTALL:
        return draw_churn(plan);
    case HOSTEXPORT:
        return draw_export(plan);
    default:
        return fill_script(plan, &plan->work);
    }
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

static bool table_script(struct dict_plan *plan)
{
    return (plan->spec.workload == LONGESTPREFIX ? prefix_script : fill_script)(plan, &plan->table);
}

static bool make(struct dict_plan *plan)
{
    const enum workload workload = plan->spec.workload;
    const bool          points = workload == CONCURRENTPOINTS;
    if (points ? !draw_half_of_range(plan) : !is_fill(workload) && !table_script(plan))
        return false;
    if (plan_has_fills(workload))
        return true;
    struct step all = { .call = DO_UPSERT, .count = plan->table.cols.rows[COL_KEYS] };
    return model_do(&plan->model, &plan->table.cols, &all) && draw_work(plan) &&
           model_run(&plan->model, &plan->churn) && (points || model_run(&plan->model, &plan->work));
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
    plan->asked = NULL;
    plan->n_asked = 0;
    model_free(&plan->model);
}

/* ---- one that stays ---------------------------------------------------------------------------------------------- */

static struct dict_plan kept;
static bool             is_kept;

static bool same_plan(const struct spec *a, const struct spec *b)
{
    struct spec x = *a;
    x.width = b->width ? a->width : 0; /* plan_make replaces 0 by 1 */
    return spec_asks_same(&x, b) &&
           (!workload_asks_prefixes(a->workload) || (a->variant == XFAST) == (b->variant == XFAST));
}

struct dict_plan *plan_borrow(const struct spec *spec)
{
    if (is_kept && !same_plan(&kept.spec, spec)) {
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
                 results = spec->workload == RANGERANDOM || spec->workload == PAGERANDOM ? spec->width : 2;
    const double calls = spec_operations(spec) > spec->count ? (double) spec_operations(spec) : elements;
    const double queries = plan_has_fills(spec->workload) ? (double) spec->n_queries : calls;
    const double largest = (pair - spec->value_bytes) * (elements > queries * results ? elements : queries * results);
    /* The drawn elements, two copies in the dictionary during a merge, and the queries with their results. */
    return (struct workload_bytes) { (uint64_t) (3.5 * elements * pair + queries * (results + 2) * pair),
                                     (uint64_t) largest };
}
