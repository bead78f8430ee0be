/* SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"

#include "bench/common/device.h"
#include "bench/common/terminal.h"
#include "bench/peers/host.h"
#include "bench/peers/rivals.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct dict_target {
    ordo_device            *device;
    const struct dict_plan *plan;
    ordo_dict              *dict;
    struct rival           *rival; /* used instead of `dict` */
    struct buffers          table, churn, work;
    size_t                  exported; /* elements of the last export */
    size_t                  filled;   /* table batches in the dictionary, for queries */
};

static ordo_status columns_make(struct dict_target *t, const struct column_batch *cols, struct buffers *columns,
                                char *why)
{
    size_t bytes[N_COLUMNS];
    for (int c = 0; c < N_COLUMNS; c++)
        bytes[c] = cols->rows[c] * column_width(cols, (enum column_id) c);
    buffers_free(columns);
    columns->device = t->device;
    columns->n_inputs = FIRST_OUTPUT;
    columns->n = N_COLUMNS;
    columns->on_host = columns == &t->work && workload_is_host(t->plan->spec.workload);
    columns->pinned = columns->on_host && t->plan->spec.pinned;
    return buffers_make(columns, bytes, (const void *const *) cols->at, why);
}

/* ---- steps --------------------------------------------------------------------------------------------------- */

static void *place(const struct column_batch *cols, void *const *columns, enum column_id column, size_t row)
{
    char *at = columns[column];
    return at ? at + row * column_width(cols, column) : NULL;
}

/* A call on arrays in host memory. Blocks. */
static ordo_status host_step(struct dict_target *t, const struct step *step)
{
    const struct column_batch *cols = &t->plan->work.cols;
    void *const               *out = t->work.host, *const *in = t->work.pinned ? out : cols->at;
    const void                *keys = place(cols, in, COL_KEYS, step->at);
    const void                *values = place(cols, in, COL_VALUES, step->at);
    switch (step->call) {
    case DO_BUILD:
        return ordo_dict_build_host(t->dict, keys, values, step->count);
    case DO_UPSERT:
        return ordo_dict_upsert_host(t->dict, keys, values, step->count);
    case DO_FIND:
        return ordo_dict_find_host(t->dict, keys, step->count, place(cols, out, COL_VALUES_OUT, step->at),
                                   place(cols, out, COL_FOUND, step->at));
    case DO_EXPORT:
        return ordo_dict_export_host(t->dict, out[COL_RANGE_KEYS], out[COL_RANGE_VALUES], step->range_count,
                                     &t->exported);
    default:
        return ORDO_UNSUPPORTED;
    }
}

/* A column from the step's rows on. */
#define AT(column) buffers_at(c, COL_##column, step->at)

static ordo_status apply(ordo_dict *dict, const struct buffers *c, const struct step *step,
                         const struct ordo_order *order)
{
    const struct ordo_batch batch = { .codes = AT(CODES),
                                      .keys = AT(KEYS),
                                      .hi = AT(HI),
                                      .values = AT(VALUES),
                                      .count = step->count,
                                      .found = AT(FOUND),
                                      .keys_out = AT(KEYS_OUT),
                                      .values_out = AT(VALUES_OUT),
                                      .counts = AT(COUNTS),
                                      .offsets = buffers_at(c, COL_OFFSETS, step->offsets_at),
                                      .range_keys = buffers_at(c, COL_RANGE_KEYS, step->range_at),
                                      .range_values = buffers_at(c, COL_RANGE_VALUES, step->range_at),
                                      .range_capacity = step->range_count };
    return ordo_dict_apply(dict, &batch, NULL, order);
}

static ordo_status apply_concurrent(ordo_dict *dict, const struct buffers *c, const struct step *step,
                                    const struct ordo_order *order)
{
    const struct ordo_concurrent_batch batch = { .codes = AT(CODES),
                                                 .keys = AT(KEYS),
                                                 .hi = AT(HI),
                                                 .values = AT(VALUES),
                                                 .count = step->count,
                                                 .found = AT(FOUND),
                                                 .keys_out = AT(KEYS_OUT),
                                                 .values_out = AT(VALUES_OUT),
                                                 .counts = AT(COUNTS),
                                                 .outcomes = AT(OUTCOMES),
                                                 .rooms = AT(ROOMS),
                                                 .range_keys = buffers_at(c, COL_RANGE_KEYS, 0),
                                                 .range_values = buffers_at(c, COL_RANGE_VALUES, 0),
                                                 .range_capacity = step->range_count };
    return ordo_dict_apply_concurrent(dict, &batch, order);
}

/* needed: NULL or the number of elements, for which the call waits. */
static ordo_status range(ordo_dict *dict, const struct buffers *c, const struct step *step, size_t *needed,
                         const struct ordo_order *order)
{
    const struct ordo_limited_ranges page = { .lo = AT(KEYS),
                                              .hi = AT(HI),
                                              .count = step->count,
                                              .limit = (uint32_t) step->limit,
                                              .offsets = buffers_at(c, COL_OFFSETS, step->offsets_at),
                                              .keys_out = buffers_at(c, COL_RANGE_KEYS, step->range_at),
                                              .values_out = buffers_at(c, COL_RANGE_VALUES, step->range_at),
                                              .capacity = step->range_count };
    if (step->call == DO_PAGE)
        return ordo_dict_range_limited(dict, &page, needed, order);
    return ordo_dict_range(dict, page.lo, page.hi, page.count, page.offsets, page.keys_out, page.values_out,
                           page.capacity, needed, order);
}

static ordo_status do_step(struct dict_target *t, const struct buffers *c, const struct step *step,
                           const struct ordo_order *order)
{
    ordo_dict      *dict = t->dict;
    const size_t    n = step->count;
    const ordo_type value = t->plan->spec.value_bytes == 8 ? ORDO_U64 : ORDO_U32; /* values are added as integers */
    size_t          needed; /* ranges that wait for the number may merge runs */
    if (c->on_host)
        return host_step(t, step);
    if (t->rival)
        return rival_step(t->rival, c->at, step, order);
    switch (step->call) {
    case DO_BUILD:
        return ordo_dict_build(dict, AT(KEYS), AT(VALUES), n, order);
    case DO_UPSERT:
        return ordo_dict_upsert(dict, AT(KEYS), AT(VALUES), n, order);
    case DO_ERASE:
        return ordo_dict_erase(dict, AT(KEYS), n, order);
    case DO_FIND:
        return ordo_dict_find(dict, AT(KEYS), n, AT(VALUES_OUT), AT(FOUND), order);
    case DO_SEEK:
        return ordo_dict_seek(dict, step->relation, AT(KEYS), n, AT(KEYS_OUT), AT(VALUES_OUT), AT(FOUND), order);
    case DO_COUNT:
        return ordo_dict_count(dict, AT(KEYS), AT(HI), n, AT(COUNTS), order);
    case DO_RANGE:
    case DO_PAGE:
        return range(dict, c, step, t->plan->spec.first_calls ? &needed : NULL, order);
    case DO_COMBINE:
        return ordo_dict_combine(dict, value, ORDO_SUM, AT(KEYS), AT(VALUES), n, order);
    case DO_ERASE_RANGE:
        return ordo_dict_erase_range(dict, AT(KEYS), AT(HI), n, AT(COUNTS), order);
    case DO_TAKE_FIRST:
        return ordo_dict_take_first(dict, n, AT(KEYS_OUT), AT(VALUES_OUT), &needed, order);
    case DO_PEEK_FIRST:
        return ordo_dict_peek_first(dict, n, AT(KEYS_OUT), AT(VALUES_OUT), &needed, order);
    case DO_PEEK_LAST:
        return ordo_dict_peek_last(dict, n, AT(KEYS_OUT), AT(VALUES_OUT), &needed, order);
    case DO_RANK:
        return ordo_dict_rank(dict, ORDO_LT, AT(KEYS), n, AT(COUNTS), order);
    case DO_SELECT:
        return ordo_dict_select(dict, AT(RANKS), n, AT(KEYS_OUT), AT(VALUES_OUT), AT(FOUND), order);
    case DO_SEEK_WITHIN:
        return ordo_dict_seek_within(dict, step->relation, AT(KEYS), AT(HI), n, AT(KEYS_OUT), AT(VALUES_OUT), AT(FOUND),
                                     order);
    case DO_AGGREGATE:
        return ordo_dict_aggregate(dict, value, ORDO_SUM, AT(KEYS), AT(HI), n, AT(VALUES_OUT), ordo_none(), order);
    case DO_LONGEST_PREFIX:
        return ordo_xfast_longest_prefix(dict, AT(KEYS), n, AT(KEYS_OUT), AT(VALUES_OUT), AT(FOUND), order);
    case DO_COUNT_PREFIX:
        return ordo_xfast_count_prefix(dict, AT(KEYS), AT(LENGTHS), n, AT(COUNTS), order);
    case DO_APPLY:
        return apply(dict, c, step, order);
    case DO_CONCURRENT:
        return apply_concurrent(dict, c, step, order);
    case DO_CLEAN_UP:
        return ordo_lsm_cleanup(dict, order);
    case DO_COMPACT:
        return ordo_dict_compact(dict, order);
    case DO_EXPORT: /* see host_step */
        break;
    }
    return ORDO_UNSUPPORTED;
}

/* Runs steps from .. to - 1. The last one signals order->done. */
static ordo_status do_steps(struct dict_target *t, const struct buffers *columns, const struct script *script,
                            size_t from, size_t to, const struct ordo_order *order)
{
    struct ordo_order within = order ? *order : (struct ordo_order) { .queue = NULL };
    for (size_t s = from; s < to; s++) {
        within.done = order && s + 1 == to ? order->done : NULL;
        TRY(do_step(t, columns, &script->steps[s], &within));
        within.n_wait = 0;
    }
    return ORDO_OK;
}

/* Extends the content from the first `from` table batches to the first `to`. Structures that are ORDO_BUILT_WHOLE are
 * rebuilt. */
static ordo_status dict_target_fill(struct dict_target *t, size_t from, size_t to)
{
    const struct script *table = &t->plan->table;
    t->filled = to;
    if (!structure_is(t->plan->spec.variant, ORDO_BUILT_WHOLE))
        return do_steps(t, &t->table, table, from, to, NULL);
    struct step build = { .call = DO_BUILD };
    for (size_t s = 0; s < to; s++)
        build.count += table->steps[s].count;
    return do_step(t, &t->table, &build, NULL);
}

/* A call_fn for `prepare`: clears, fills with the table, and runs the churn. */
static ordo_status dict_target_prepare(void *arg, const struct ordo_order *order)
{
    struct dict_target *t = arg;
    (void) order; /* untimed work uses the device's own queue; the caller waits */
    const size_t steps = plan_has_fills(t->plan->spec.workload) ? t->filled : t->plan->table.n_steps;
    TRY(t->rival ? rival_clear(t->rival) : ordo_dict_clear(t->dict));
    if (steps)
        TRY(dict_target_fill(t, 0, steps));
    return do_steps(t, &t->churn, &t->plan->churn, 0, t->plan->churn.n_steps, NULL);
}

static ordo_status dict_target_work(void *arg, const struct ordo_order *order)
{
    struct dict_target *t = arg;
    return do_steps(t, &t->work, &t->plan->work, 0, t->plan->work.n_steps, order);
}

/* A call_fn: rebuilds the dictionary from the table. */
static ordo_status dict_target_rebuild(void *arg, const struct ordo_order *order)
{
    struct dict_target *t = arg;
    const struct step   build = { .call = DO_BUILD, .count = t->plan->table.cols.rows[COL_KEYS] };
    return do_step(t, &t->table, &build, order);
}

/* ---- life ---------------------------------------------------------------------------------------------------- */

ordo_status structure_create(ordo_device *device, int structure, const struct ordo_dict_config *config,
                             ordo_dict **dict)
{
    switch (structure) {
#define X(id, stem, ...)                                                                                               \
    case id:                                                                                                           \
        return ordo_##stem##_create(device, ordo_##stem##_config(.dict = *config), dict);
        ORDO_STRUCTURE_MAP(X)
#undef X
    default:
        return ORDO_UNSUPPORTED;
    }
}

static ordo_status create(ordo_device *device, const struct spec *spec, ordo_dict **dict)
{
    const struct ordo_dict_config config = { .key = spec->type, .value_bytes = spec->value_bytes };
    /* Queries are repeated on the runs that the batches left. */
    const bool keep = plan_has_fills(spec->workload) && !spec->first_calls;
    switch (spec->variant) {
    case LSM:
        return ordo_lsm_create(device, ordo_lsm_config(.dict = config, .growth = spec->growth, .keep_runs = keep),
                               dict);
    case SKIPLIST:
        return ordo_skiplist_create(
            device, ordo_skiplist_config(.dict = config, .raise_percent = spec->raise_percent, .chunk = spec->chunk),
            dict);
    case HASH:
        return ordo_hash_create(device, ordo_hash_config(.dict = config, .load_percent = spec->load_percent), dict);
    case XFAST:
        return ordo_xfast_create(
            device, ordo_xfast_config(.dict = config, .group = spec->group, .level_tables = spec->level_tables), dict);
    case HAMT:
        return ordo_hamt_create(device, ordo_hamt_config(.dict = config, .fixed_depth = spec->fixed_depth), dict);
    default:
        return structure_create(device, spec->variant, &config, dict);
    }
}

bool dict_target_can(ordo_device *device, const struct spec *spec)
{
    ordo_dict *dict = NULL;
    if (structure_is_rival(spec->variant))
        return rival_can(device, spec);
    if (!workload_is_concurrent(spec->workload) || create(device, spec, &dict) != ORDO_OK)
        return true;
    const bool can = ordo_dict_can(dict, ORDO_CAN_CONCURRENT);
    ordo_dict_destroy(&dict);
    return can;
}

/* Moves the plan's current work and churn to the device. */
static ordo_status dict_target_load(struct dict_target *t, char *why)
{
    TRY(columns_make(t, &t->plan->churn.cols, &t->churn, why));
    TRY(columns_make(t, &t->plan->work.cols, &t->work, why));
    return device_why(t->device, buffers_poison(&t->work), why);
}

/* ---- checks -------------------------------------------------------------------------------------------------- */

static bool check_column(const struct dict_target *t, int column, char *why)
{
    const struct column_batch *cols = &t->plan->work.cols;
    const size_t               width = column_width(cols, (enum column_id) column), bytes = t->work.bytes[column];
    const char                *want = cols->at[column];
    char                      *got = bytes ? buffers_read(&t->work, column, why) : NULL;
    uint64_t                   got_word = 0, want_word = 0;
    size_t                     at = got && memcmp(got, want, bytes) == 0 ? bytes : 0;
    while (got && at < bytes && memcmp(got + at, want + at, width) == 0)
        at += width;
    if (got && at < bytes) {
        const size_t bytes_shown = width < sizeof got_word ? width : sizeof got_word;
        memcpy(&got_word, got + at, bytes_shown);
        memcpy(&want_word, want + at, bytes_shown);
        because(why, "%s[%zu] = 0x%" PRIx64 ", not 0x%" PRIx64, column_name((enum column_id) column), at / width,
                got_word, want_word);
    }
    const bool good = at == bytes;
    free(got);
    return good;
}

/* Keys in stored form. */
static bool same_elements(const struct model *model, const void *keys, const void *values, size_t count, char *why)
{
    if (count != model->count)
        return because(why, "the dictionary has %zu elements, not %zu", count, model->count);
    const size_t   i = model_differs(model, keys, values);
    const uint32_t bytes = model->value_bytes;
    return i == count || because(why, "element %zu is 0x%" PRIx64 ": 0x%" PRIx64 ", not 0x%" PRIx64 ": 0x%" PRIx64, i,
                                 key_form_at(model->type, keys, i).low, bytes ? element(values, bytes, i) : 0,
                                 model_key(model, i), model_value(model, i));
}

static bool check_content(const struct dict_target *t, const struct model *model, char *why)
{
    if (t->rival) {
        struct model theirs;
        const bool   good = rival_export(t->rival, &theirs, why) == ORDO_OK &&
                          same_elements(model, theirs.keys, theirs.values, theirs.count, why);
        model_free(&theirs);
        return good;
    }
    const size_t room = model->count + 1;
    void        *keys = malloc(room * type_bytes(model->type)), *values = malloc(room * model->value_bytes + 1);
    size_t       count = 0;
    ordo_status  got = keys && values ? ordo_dict_check(t->dict, NULL) : ORDO_NO_HOST_MEMORY;
    if (got == ORDO_OK)
        got = ordo_dict_export_host(t->dict, keys, model->value_bytes ? values : NULL, room, &count);
    if (got == ORDO_OK && !ordo_dict_can(t->dict, ORDO_CAN_ORDER) &&
        !elements_sort(model->type, keys, values, model->value_bytes, count))
        got = ORDO_NO_HOST_MEMORY;
    const bool too_many = got == ORDO_TOO_SMALL;
    const bool good = (got == ORDO_OK || too_many) && same_elements(model, keys, values, count, why);
    if (got != ORDO_OK && !too_many)
        device_why(t->device, got, why);
    free(keys);
    free(values);
    return good;
}

/* Checks results that depend on the order of operations. */
static bool check_points(const struct dict_target *t, bool content, char *why)
{
    struct model   after = model_empty(t->plan->spec.type, t->plan->spec.value_bytes);
    unsigned char *found = buffers_read(&t->work, COL_FOUND, why);
    unsigned char *values_out = buffers_read(&t->work, COL_VALUES_OUT, why);
    const bool     good = found && values_out && check_column(t, COL_OUTCOMES, why) &&
                      explain_points(t->plan, found, values_out, &after, why) &&
                      (!content || check_content(t, &after, why));
    model_free(&after);
    free(found);
    free(values_out);
    return good;
}

/* Checks the outputs and, with `content`, all elements and the invariants. */
static bool dict_target_check(struct dict_target *t, bool content, char *why)
{
    if (device_why(t->device, ordo_device_finish(t->device), why) != ORDO_OK)
        return false;
    if (t->plan->spec.workload == CONCURRENTPOINTS)
        return check_points(t, content, why);
    if (t->plan->spec.workload == HOSTEXPORT && t->exported != t->plan->model.count)
        return because(why, "%zu elements were exported, not %zu", t->exported, t->plan->model.count);
    if (t->plan->spec.workload == HOSTEXPORT && !ordo_dict_can(t->dict, ORDO_CAN_ORDER) &&
        !elements_sort(t->plan->spec.type, t->work.host[COL_RANGE_KEYS], t->work.host[COL_RANGE_VALUES],
                       t->plan->spec.value_bytes, t->exported))
        return because(why, "no memory to sort an unordered export");
    for (int c = FIRST_OUTPUT; c < N_COLUMNS; c++)
        if (!check_column(t, c, why))
            return false;
    return !content || check_content(t, &t->plan->model, why);
}

/* ---- measuring ------------------------------------------------------------------------------------------------ */

struct measuring {
    const struct timing_goal *goal;
    struct dict_plan         *plan;
    struct dict_target        target;
    struct dict_figures      *out;
    char                     *why;
};

static ordo_status no_memory(const struct measuring *m)
{
    because(m->why, "%s", ordo_status_string(ORDO_NO_HOST_MEMORY));
    return ORDO_NO_HOST_MEMORY;
}

/* Updates of more batches, or of this many times the seconds of all repetitions, are not repeated batch by batch. */
#define BATCHES_MAX 4096
#define TIMES_MAX   10

/* Repeats the updates and waits for each batch. */
static ordo_status measure_batches(struct measuring *m)
{
    const size_t steps = m->plan->work.n_steps;
    if (steps < 2 || steps > BATCHES_MAX || m->out->timing.wall.median > TIMES_MAX * m->goal->seconds || stop_asked())
        return ORDO_OK;
    m->out->batch_seconds = calloc(steps, sizeof *m->out->batch_seconds);
    if (!m->out->batch_seconds)
        return no_memory(m);
    TRY(dict_target_prepare(&m->target, NULL));
    TRY(ordo_device_finish(m->target.device));
    for (size_t s = 0; s < steps; s++) {
        const double before = now();
        TRY(do_step(&m->target, &m->target.work, &m->plan->work.steps[s], NULL));
        TRY(ordo_device_finish(m->target.device));
        m->out->batch_seconds[m->out->n_batches++] = now() - before;
    }
    return ORDO_OK;
}

static ordo_status measure_once(struct measuring *m)
{
    struct timing_goal goal = *m->goal;
    const bool         changes = m->plan->spec.workload != HOSTEXPORT;
    goal.prepare = changes ? dict_target_prepare : NULL;
    goal.device_too = goal.device_too && !workload_is_host(m->plan->spec.workload);
    TRY(dict_target_load(&m->target, m->why));
    if (!changes)
        TRY(dict_target_prepare(&m->target, NULL));
    TRY(time_calls(m->target.device, dict_target_work, &m->target, &goal, &m->out->timing));
    progress("checking");
    m->out->right = dict_target_check(&m->target, true, m->why);
    return m->out->right ? measure_batches(m) : ORDO_OK;
}

static void add_timing(struct timing *sum, const struct timing *part, double share)
{
    sum->wall.median += part->wall.median * share;
    sum->wall.low += part->wall.low * share;
    sum->wall.high += part->wall.high * share;
    sum->cpu += part->cpu * share;
    sum->interval[0] += part->interval[0] * share;
    sum->interval[1] += part->interval[1] * share;
    if (sum->repetitions == 0) {
        sum->first_call = part->first_call;
        sum->began = part->began;
    }
    if (sum->repetitions == 0 || part->repetitions < sum->repetitions)
        sum->repetitions = part->repetitions;
    for (int r = 0; r < sum->repetitions; r++)
        sum->sample[r] += part->sample[r] * share;
    sum->batch = part->batch;
    sum->end = part->end;
}

static ordo_status measure_fill(struct measuring *m, const struct timing_goal *goal, size_t i)
{
    const size_t       from = i ? plan_fill(m->plan, i - 1) : 0, to = plan_fill(m->plan, i);
    const struct step *last = to ? &m->plan->table.steps[to - 1] : &(struct step) { .at = 0 };
    struct timing      timing;
    if (!plan_advance(m->plan, i))
        return no_memory(m);
    TRY(dict_target_fill(&m->target, from, to));
    TRY(dict_target_load(&m->target, m->why));
    TRY(time_calls(m->target.device, dict_target_work, &m->target, goal, &timing));
    add_timing(&m->out->timing, &timing, 1 / (double) plan_fills(m->plan));
    struct dict_fill *fill = &m->out->fills[m->out->n_fills++];
    *fill = (struct dict_fill) { .batches = to,
                                 .elements = last->at + last->count,
                                 .seconds = timing.wall.median,
                                 .first_seconds = timing.first_call,
                                 .repetitions = timing.repetitions };
    memcpy(fill->sample, timing.sample, sizeof fill->sample);
    m->out->right = dict_target_check(&m->target, to == plan_fill(m->plan, plan_fills(m->plan) - 1), m->why);
    return ORDO_OK;
}

/* The repetitions per fill, and the least length of one: 200 times the final wait. */
#define BATCHES   8
#define BATCH_MIN 0.003

static ordo_status measure_fills(struct measuring *m)
{
    const size_t       fills = plan_fills(m->plan);
    struct timing_goal goal = *m->goal;
    goal.seconds /= (double) fills;
    goal.batch_seconds = fmin(goal.batch_seconds, fmax(BATCH_MIN, goal.seconds / BATCHES));
    goal.device_too = false;
    goal.prepare = m->plan->spec.first_calls ? dict_target_prepare : NULL;
    m->out->timing = (struct timing) { .device = spread_of(NULL, 0) };
    m->out->right = true;
    m->out->fills = calloc(fills, sizeof *m->out->fills);
    if (!m->out->fills)
        return no_memory(m);
    for (size_t i = 0; i < fills && m->out->right; i++) {
        progress("fill %zu of %zu", i + 1, fills);
        TRY(measure_fill(m, &goal, i));
    }
    return ORDO_OK;
}

/* Makes an empty structure, moves the table to the device, and measures. */
static ordo_status measure(struct measuring *m)
{
    struct dict_target *t = &m->target;
    const struct spec  *spec = &m->plan->spec;
    struct timing       rebuild;
    TRY(structure_is_rival(spec->variant) ? rival_open(t->device, m->plan, &t->rival, m->why)
                                          : device_why(t->device, create(t->device, spec, &t->dict), m->why));
    TRY(columns_make(t, &m->plan->table.cols, &t->table, m->why));
    TRY(plan_has_fills(spec->workload) ? measure_fills(m) : measure_once(m));
    TRY(t->rival ? rival_statistics(t->rival, &m->out->statistics)
                 : ordo_dict_statistics(t->dict, NULL, &m->out->statistics));
    if (!workload_cleans_up(spec->workload))
        return ORDO_OK;
    TRY(time_calls(t->device, dict_target_rebuild, t, m->goal, &rebuild));
    m->out->rebuild_seconds = rebuild.wall.median;
    return ORDO_OK;
}

ordo_status dict_measure(ordo_device *device, const struct spec *spec, const struct timing_goal *goal, unsigned host,
                         struct dict_figures *out, char *why)
{
    struct measuring m = { .goal = goal, .plan = plan_borrow(spec), .out = out, .why = why };
    *out = (struct dict_figures) { .rebuild_seconds = NAN };
    for (int i = 0; i < N_DICT_BASELINES; i++)
        out->baseline[i] = NAN;
    if (!m.plan)
        return no_memory(&m);
    m.target = (struct dict_target) { .device = device, .plan = m.plan };
    const ordo_status got = measure(&m);
    ordo_device_finish(device);
    ordo_dict_destroy(&m.target.dict);
    rival_close(&m.target.rival);
    buffers_free(&m.target.table);
    buffers_free(&m.target.churn);
    buffers_free(&m.target.work);
    for (int i = 0; i < N_DICT_BASELINES && got == ORDO_OK; i++)
        if (host >> i & 1) {
            progress("the host's turn");
            out->baseline[i] = dict_baseline_rate(m.plan, i);
        }
    plan_return(got == ORDO_OK);
    return got;
}

void dict_figures_free(struct dict_figures *figures)
{
    free(figures->fills);
    free(figures->batch_seconds);
    figures->fills = NULL;
    figures->batch_seconds = NULL;
}
