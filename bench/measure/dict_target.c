/* SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"

#include "bench/common/device.h"
#include "bench/peers/rivals.h"

#include <inttypes.h>
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

static size_t bytes_of(const struct column_batch *cols, int column)
{
    return cols->rows[column] * column_width(cols, (enum column_id) column);
}

static ordo_status columns_make(struct dict_target *t, const struct column_batch *cols, struct buffers *columns,
                                char *why)
{
    size_t bytes[N_COLUMNS];
    for (int c = 0; c < N_COLUMNS; c++)
        bytes[c] = bytes_of(cols, c);
    buffers_free(columns);
    columns->device = t->device;
    columns->n_inputs = FIRST_OUTPUT;
    columns->n = N_COLUMNS;
    columns->on_host = columns == &t->work && workload_is_host(t->plan->spec.workload);
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
    void *const               *out = t->work.host;
    const void                *keys = place(cols, cols->at, COL_KEYS, step->at);
    const void                *values = place(cols, cols->at, COL_VALUES, step->at);
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
                                                 .values = AT(VALUES),
                                                 .count = step->count,
                                                 .found = AT(FOUND),
                                                 .keys_out = AT(KEYS_OUT),
                                                 .values_out = AT(VALUES_OUT),
                                                 .outcomes = AT(OUTCOMES) };
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

static ordo_status do_step(const struct dict_target *t, const struct buffers *c, const struct step *step,
                           const struct ordo_order *order)
{
    ordo_dict      *dict = t->dict;
    const size_t    n = step->count;
    const ordo_type value = t->plan->spec.value_bytes == 8 ? ORDO_U64 : ORDO_U32; /* values are added as integers */
    size_t          needed; /* ranges that wait for the number may merge runs */
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
static ordo_status do_steps(const struct dict_target *t, const struct buffers *columns, const struct script *script,
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

ordo_status dict_target_fill(struct dict_target *t, size_t from, size_t to)
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

ordo_status dict_target_prepare(void *arg, const struct ordo_order *order)
{
    struct dict_target *t = arg;
    (void) order; /* untimed work uses the device's own queue; the caller waits */
    const size_t steps = plan_has_fills(t->plan->spec.workload) ? t->filled : t->plan->table.n_steps;
    TRY(t->rival ? rival_clear(t->rival) : ordo_dict_clear(t->dict));
    if (steps)
        TRY(dict_target_fill(t, 0, steps));
    return do_steps(t, &t->churn, &t->plan->churn, 0, t->plan->churn.n_steps, NULL);
}

ordo_status dict_target_work(void *arg, const struct ordo_order *order)
{
    struct dict_target *t = arg;
    if (t->work.on_host) {
        for (size_t s = 0; s < t->plan->work.n_steps; s++)
            TRY(dict_target_step(t, s));
        return ORDO_OK;
    }
    return do_steps(t, &t->work, &t->plan->work, 0, t->plan->work.n_steps, order);
}

ordo_status dict_target_step(struct dict_target *t, size_t step)
{
    const struct script *work = &t->plan->work;
    if (t->work.on_host)
        return host_step(t, &work->steps[step]);
    return do_step(t, &t->work, &work->steps[step], NULL);
}

ordo_status dict_target_rebuild(void *arg, const struct ordo_order *order)
{
    struct dict_target *t = arg;
    const struct step   build = { .call = DO_BUILD, .count = t->plan->table.cols.rows[COL_KEYS] };
    return do_step(t, &t->table, &build, order);
}

/* ---- life ---------------------------------------------------------------------------------------------------- */

/* Queries are repeated on the runs that the batches left. */
static bool keeps_runs(const struct spec *spec)
{
    return plan_has_fills(spec->workload) && !spec->first_calls;
}

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
    switch (spec->variant) {
    case LSM:
        return ordo_lsm_create(
            device, ordo_lsm_config(.dict = config, .growth = spec->growth, .keep_runs = keeps_runs(spec)), dict);
    case SKIPLIST:
        return ordo_skiplist_create(
            device, ordo_skiplist_config(.dict = config, .raise_percent = spec->raise_percent, .chunk = spec->chunk),
            dict);
    case HASH:
        return ordo_hash_create(device, ordo_hash_config(.dict = config, .load_percent = spec->load_percent), dict);
    case XFAST:
        return ordo_xfast_create(device, ordo_xfast_config(.dict = config, .group = spec->group), dict);
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

ordo_status dict_target_open(ordo_device *device, const struct dict_plan *plan, struct dict_target **out, char *why)
{
    struct dict_target *t = *out = calloc(1, sizeof *t);
    if (!t) {
        because(why, "%s", ordo_status_string(ORDO_NO_HOST_MEMORY));
        return ORDO_NO_HOST_MEMORY;
    }
    t->device = device;
    t->plan = plan;
    ordo_status made = structure_is_rival(plan->spec.variant)
                           ? rival_open(device, plan, &t->rival, why)
                           : device_why(device, create(device, &plan->spec, &t->dict), why);
    if (made == ORDO_OK)
        made = columns_make(t, &plan->table.cols, &t->table, why);
    if (made != ORDO_OK)
        dict_target_close(out);
    return made;
}

void dict_target_close(struct dict_target **target)
{
    struct dict_target *t = *target;
    if (!t)
        return;
    ordo_device_finish(t->device);
    ordo_dict_destroy(&t->dict);
    rival_close(&t->rival);
    buffers_free(&t->table);
    buffers_free(&t->churn);
    buffers_free(&t->work);
    free(t);
    *target = NULL;
}

ordo_status dict_target_load(struct dict_target *t, char *why)
{
    TRY(columns_make(t, &t->plan->churn.cols, &t->churn, why));
    TRY(columns_make(t, &t->plan->work.cols, &t->work, why));
    return device_why(t->device, buffers_poison(&t->work), why);
}

ordo_status dict_target_statistics(struct dict_target *t, struct ordo_statistics *out)
{
    return t->rival ? rival_statistics(t->rival, out) : ordo_dict_statistics(t->dict, NULL, out);
}

/* ---- checks -------------------------------------------------------------------------------------------------- */

static bool differs(const struct column_batch *cols, int column, const unsigned char *got, char *why)
{
    const size_t         width = column_width(cols, (enum column_id) column);
    const unsigned char *want = cols->at[column];
    size_t               row = 0;
    while (memcmp(got + row * width, want + row * width, width) == 0)
        row++;
    uint64_t got_word = 0, want_word = 0;
    memcpy(&got_word, got + row * width, width);
    memcpy(&want_word, want + row * width, width);
    return because(why, "%s[%zu] = 0x%" PRIx64 ", not 0x%" PRIx64, column_name((enum column_id) column), row, got_word,
                   want_word);
}

static bool check_column(const struct dict_target *t, int column, char *why)
{
    const struct column_batch *cols = &t->plan->work.cols;
    if (!t->work.bytes[column])
        return true;
    unsigned char *got = buffers_read(&t->work, column, why);
    bool           good = got;
    if (good && memcmp(got, cols->at[column], t->work.bytes[column]) != 0)
        good = differs(cols, column, got, why);
    free(got);
    return good;
}

/* Keys in stored form. */
static bool same_elements(const struct model *model, const void *keys, const void *values, size_t count, char *why)
{
    if (count != model->count)
        return because(why, "the dictionary has %zu elements, not %zu", count, model->count);
    for (size_t i = 0; i < count; i++) {
        const uint64_t key = element(keys, model->key_bytes, i), want = key_stored(model->type, model_key(model, i));
        const uint64_t value = model->value_bytes ? element(values, model->value_bytes, i) : 0;
        if (key != want || value != model_value(model, i))
            return because(why, "element %zu is 0x%" PRIx64 ": 0x%" PRIx64 ", not 0x%" PRIx64 ": 0x%" PRIx64, i, key,
                           value, want, model_value(model, i));
    }
    return true;
}

static bool check_rival(const struct dict_target *t, const struct model *model, char *why)
{
    struct model      got;
    const ordo_status read = rival_export(t->rival, &got, why);
    const bool        good = read == ORDO_OK && same_elements(model, got.keys, got.values, got.count, why);
    model_free(&got);
    return good;
}

static bool check_content(const struct dict_target *t, const struct model *model, char *why)
{
    if (t->rival)
        return check_rival(t, model, why);
    const size_t room = model->count + 1;
    void        *keys = malloc(room * model->key_bytes), *values = malloc(room * model->value_bytes + 1);
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

/* Checks an unordered export. */
static bool check_export(const struct dict_target *t, char *why)
{
    const struct model *model = &t->plan->model;
    void               *keys = buffers_read(&t->work, COL_RANGE_KEYS, why);
    void               *values = buffers_read(&t->work, COL_RANGE_VALUES, why);
    bool good = keys && values && elements_sort(model->type, keys, values, model->value_bytes, model->count);
    good = good && same_elements(model, keys, values, t->exported, why);
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

bool dict_target_check(struct dict_target *t, bool content, char *why)
{
    if (device_why(t->device, ordo_device_finish(t->device), why) != ORDO_OK)
        return false;
    if (t->plan->spec.workload == CONCURRENTPOINTS)
        return check_points(t, content, why);
    if (t->plan->spec.workload == HOSTEXPORT && t->exported != t->plan->model.count)
        return because(why, "%zu elements were exported, not %zu", t->exported, t->plan->model.count);
    if (t->plan->spec.workload == HOSTEXPORT && !ordo_dict_can(t->dict, ORDO_CAN_ORDER))
        return check_export(t, why);
    for (int c = FIRST_OUTPUT; c < N_COLUMNS; c++)
        if (!check_column(t, c, why))
            return false;
    return !content || check_content(t, &t->plan->model, why);
}
