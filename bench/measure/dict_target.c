/* SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"

#include "bench/common/device.h"
#include "bench/common/threads.h"
#include "bench/peers/rivals.h"
#include "bench/workload/baseline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A column batch in device memory. */
struct columns {
    cl_mem at[N_COLUMNS];
};

struct dict_target {
    ordo_device            *device;
    const struct dict_plan *plan;
    ordo_dict              *dict;
    struct rival           *rival; /* used instead of `dict` */
    struct columns          table, churn, work;
    void                   *host[N_COLUMNS]; /* outputs in host memory, used instead of `work` */
    size_t                  exported;        /* elements of the last export */
    size_t                  filled;          /* table batches in the dictionary, for queries */
};

static bool is_host(const struct dict_target *t)
{
    return workload_is_host(t->plan->spec.workload);
}

/* ---- columns ------------------------------------------------------------------------------------------------- */

static size_t bytes_of(const struct column_batch *cols, int column)
{
    return cols->rows[column] * column_width(cols, (enum column_id) column);
}

static void columns_free(struct columns *columns)
{
    device_release(columns->at, N_COLUMNS);
    *columns = (struct columns) { { NULL } };
}

static ordo_status columns_make(const struct dict_target *t, const struct column_batch *cols, struct columns *columns,
                                char *why)
{
    columns_free(columns);
    for (int c = 0; c < N_COLUMNS; c++) {
        const size_t bytes = bytes_of(cols, c);
        ordo_status  got = bytes ? device_buffer(t->device, bytes, &columns->at[c]) : ORDO_OK;
        if (got == ORDO_OK && c < FIRST_OUTPUT)
            got = device_write(t->device, columns->at[c], cols->at[c], bytes);
        if (got == ORDO_OK)
            continue;
        because(why, "cannot place the workload's %s: %s", column_name((enum column_id) c), ordo_status_string(got));
        return ORDO_NO_DEVICE_MEMORY;
    }
    return ORDO_OK;
}

static void host_free(struct dict_target *t)
{
    for (int c = 0; c < N_COLUMNS; c++) {
        free(t->host[c]);
        t->host[c] = NULL;
    }
}

/* False without memory. */
static bool host_make(struct dict_target *t)
{
    const struct column_batch *cols = &t->plan->work.cols;
    host_free(t);
    for (int c = FIRST_OUTPUT; c < N_COLUMNS; c++) {
        t->host[c] = bytes_of(cols, c) ? malloc(bytes_of(cols, c)) : NULL;
        if (bytes_of(cols, c) && !t->host[c])
            return false;
    }
    return true;
}

static ordo_status poison(struct dict_target *t)
{
    const struct column_batch *cols = &t->plan->work.cols;
    for (int c = FIRST_OUTPUT; c < N_COLUMNS; c++) {
        if (t->host[c])
            fill_bytes(t->host[c], POISON_BYTE, bytes_of(cols, c));
        TRY(device_fill(t->device, t->work.at[c], POISON_BYTE, bytes_of(cols, c)));
    }
    return ordo_device_finish(t->device);
}

static struct ordo_slice slice(const struct columns *columns, enum column_id column, size_t at)
{
    return columns->at[column] ? ordo_at(columns->at[column], at) : ordo_none();
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
    const void                *keys = place(cols, cols->at, COL_KEYS, step->at);
    const void                *values = place(cols, cols->at, COL_VALUES, step->at);
    switch (step->call) {
    case DO_BUILD:
        return ordo_dict_build_host(t->dict, keys, values, step->count);
    case DO_UPSERT:
        return ordo_dict_upsert_host(t->dict, keys, values, step->count);
    case DO_FIND:
        return ordo_dict_find_host(t->dict, keys, step->count, place(cols, t->host, COL_VALUES_OUT, step->at),
                                   place(cols, t->host, COL_FOUND, step->at));
    case DO_EXPORT:
        return ordo_dict_export_host(t->dict, t->host[COL_RANGE_KEYS], t->host[COL_RANGE_VALUES], step->range_count,
                                     &t->exported);
    default:
        return ORDO_UNSUPPORTED;
    }
}

static ordo_status apply(ordo_dict *dict, const struct columns *c, const struct step *step,
                         const struct ordo_order *order)
{
    const struct ordo_batch batch = {
        .codes = slice(c, COL_CODES, step->at),
        .keys = slice(c, COL_KEYS, step->at),
        .hi = slice(c, COL_HI, step->at),
        .values = slice(c, COL_VALUES, step->at),
        .count = step->count,
        .found = slice(c, COL_FOUND, step->at),
        .keys_out = slice(c, COL_KEYS_OUT, step->at),
        .values_out = slice(c, COL_VALUES_OUT, step->at),
        .counts = slice(c, COL_COUNTS, step->at),
        .offsets = slice(c, COL_OFFSETS, step->offsets_at),
        .range_keys = slice(c, COL_RANGE_KEYS, step->range_at),
        .range_values = slice(c, COL_RANGE_VALUES, step->range_at),
        .range_capacity = step->range_count,
    };
    return ordo_dict_apply(dict, &batch, NULL, order);
}

static ordo_status apply_concurrent(ordo_dict *dict, const struct columns *c, const struct step *step,
                                    const struct ordo_order *order)
{
    const struct ordo_concurrent_batch batch = {
        .codes = slice(c, COL_CODES, step->at),
        .keys = slice(c, COL_KEYS, step->at),
        .values = slice(c, COL_VALUES, step->at),
        .count = step->count,
        .found = slice(c, COL_FOUND, step->at),
        .keys_out = slice(c, COL_KEYS_OUT, step->at),
        .values_out = slice(c, COL_VALUES_OUT, step->at),
        .outcomes = slice(c, COL_OUTCOMES, step->at),
    };
    return ordo_dict_apply_concurrent(dict, &batch, order);
}

static ordo_status range_limited(ordo_dict *dict, const struct columns *c, const struct step *step, size_t *needed,
                                 const struct ordo_order *order)
{
    const struct ordo_limited_ranges ranges = {
        .lo = slice(c, COL_KEYS, step->at),
        .hi = slice(c, COL_HI, step->at),
        .count = step->count,
        .limit = (uint32_t) step->limit,
        .offsets = slice(c, COL_OFFSETS, step->offsets_at),
        .keys_out = slice(c, COL_RANGE_KEYS, step->range_at),
        .values_out = slice(c, COL_RANGE_VALUES, step->range_at),
        .capacity = step->range_count,
    };
    return ordo_dict_range_limited(dict, &ranges, needed, order);
}

/* Values are added as integers. */
static ordo_type value_type(const struct dict_target *t)
{
    return t->plan->spec.value_bytes == 8 ? ORDO_U64 : ORDO_U32;
}

static ordo_status do_step(const struct dict_target *t, const struct columns *c, const struct step *step,
                           const struct ordo_order *order)
{
    ordo_dict              *dict = t->dict;
    const struct ordo_slice keys = slice(c, COL_KEYS, step->at), values = slice(c, COL_VALUES, step->at);
    const struct ordo_slice hi = slice(c, COL_HI, step->at), found = slice(c, COL_FOUND, step->at);
    const struct ordo_slice values_out = slice(c, COL_VALUES_OUT, step->at);
    const struct ordo_slice keys_out = slice(c, COL_KEYS_OUT, step->at), counts = slice(c, COL_COUNTS, step->at);
    size_t                  needed; /* ranges that wait for the number may merge runs */
    if (t->rival)
        return rival_step(t->rival, c->at, step, order);
    switch (step->call) {
    case DO_BUILD:
        return ordo_dict_build(dict, keys, values, step->count, order);
    case DO_UPSERT:
        return ordo_dict_upsert(dict, keys, values, step->count, order);
    case DO_ERASE:
        return ordo_dict_erase(dict, keys, step->count, order);
    case DO_FIND:
        return ordo_dict_find(dict, keys, step->count, values_out, found, order);
    case DO_SEEK:
        return ordo_dict_seek(dict, step->relation, keys, step->count, keys_out, values_out, found, order);
    case DO_COUNT:
        return ordo_dict_count(dict, keys, hi, step->count, counts, order);
    case DO_RANGE:
        return ordo_dict_range(dict, keys, hi, step->count, slice(c, COL_OFFSETS, step->offsets_at),
                               slice(c, COL_RANGE_KEYS, step->range_at), slice(c, COL_RANGE_VALUES, step->range_at),
                               step->range_count, t->plan->spec.first_calls ? &needed : NULL, order);
    case DO_COMBINE:
        return ordo_dict_combine(dict, value_type(t), ORDO_SUM, keys, values, step->count, order);
    case DO_ERASE_RANGE:
        return ordo_dict_erase_range(dict, keys, hi, step->count, counts, order);
    case DO_TAKE_FIRST:
        return ordo_dict_take_first(dict, step->count, keys_out, values_out, &needed, order);
    case DO_PEEK_FIRST:
        return ordo_dict_peek_first(dict, step->count, keys_out, values_out, &needed, order);
    case DO_PEEK_LAST:
        return ordo_dict_peek_last(dict, step->count, keys_out, values_out, &needed, order);
    case DO_RANK:
        return ordo_dict_rank(dict, ORDO_LT, keys, step->count, counts, order);
    case DO_SELECT:
        return ordo_dict_select(dict, slice(c, COL_RANKS, step->at), step->count, keys_out, values_out, found, order);
    case DO_SEEK_WITHIN:
        return ordo_dict_seek_within(dict, step->relation, keys, hi, step->count, keys_out, values_out, found, order);
    case DO_PAGE:
        return range_limited(dict, c, step, t->plan->spec.first_calls ? &needed : NULL, order);
    case DO_AGGREGATE:
        return ordo_dict_aggregate(dict, value_type(t), ORDO_SUM, keys, hi, step->count, values_out, ordo_none(),
                                   order);
    case DO_LONGEST_PREFIX:
        return ordo_xfast_longest_prefix(dict, keys, step->count, keys_out, values_out, found, order);
    case DO_COUNT_PREFIX:
        return ordo_xfast_count_prefix(dict, keys, slice(c, COL_LENGTHS, step->at), step->count, counts, order);
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
static ordo_status do_steps(const struct dict_target *t, const struct columns *columns, const struct script *script,
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
    if (is_host(t)) {
        for (size_t s = 0; s < t->plan->work.n_steps; s++)
            TRY(dict_target_step(t, s));
        return ORDO_OK;
    }
    return do_steps(t, &t->work, &t->plan->work, 0, t->plan->work.n_steps, order);
}

ordo_status dict_target_step(struct dict_target *t, size_t step)
{
    const struct script *work = &t->plan->work;
    if (is_host(t))
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
    columns_free(&t->table);
    columns_free(&t->churn);
    columns_free(&t->work);
    host_free(t);
    free(t);
    *target = NULL;
}

ordo_status dict_target_load(struct dict_target *t, char *why)
{
    TRY(columns_make(t, &t->plan->churn.cols, &t->churn, why));
    if (!is_host(t))
        TRY(columns_make(t, &t->plan->work.cols, &t->work, why));
    else if (!host_make(t))
        return device_why(t->device, ORDO_NO_HOST_MEMORY, why);
    return device_why(t->device, poison(t), why);
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

/* Reads an output column. The caller frees it; NULL on failure. */
static unsigned char *read_column(const struct dict_target *t, int column, char *why)
{
    const size_t   bytes = bytes_of(&t->plan->work.cols, column);
    unsigned char *got = malloc(bytes);
    if (got && t->host[column])
        return memcpy(got, t->host[column], bytes);
    if (got && device_read(t->device, t->work.at[column], got, bytes) == ORDO_OK)
        return got;
    free(got);
    because(why, "cannot read the results");
    return NULL;
}

static bool check_column(const struct dict_target *t, int column, char *why)
{
    const struct column_batch *cols = &t->plan->work.cols;
    if (!t->work.at[column] && !t->host[column])
        return true;
    unsigned char *got = read_column(t, column, why);
    bool           good = got;
    if (good && memcmp(got, cols->at[column], bytes_of(cols, column)) != 0)
        good = differs(cols, column, got, why);
    free(got);
    return good;
}

/* Elements to compare with the model's. */
struct beside {
    const struct model *model;
    const void         *keys, *values;
    size_t              first_other[MAX_PARTS];
};

static uint64_t value_beside(const struct beside *beside, size_t i)
{
    return beside->model->value_bytes ? element(beside->values, beside->model->value_bytes, i) : 0;
}

static void compare_span(void *beside_, size_t from, size_t to, int part)
{
    struct beside      *beside = beside_;
    const struct model *model = beside->model;
    beside->first_other[part] = SIZE_MAX;
    for (size_t i = from; i < to; i++) {
        const uint64_t key = element(beside->keys, model->key_bytes, i);
        if (key_order(model->type, key) == model_key(model, i) && value_beside(beside, i) == model_value(model, i))
            continue;
        beside->first_other[part] = i;
        return;
    }
}

static bool tell_other(const struct beside *beside, size_t i, char *why)
{
    const struct model *model = beside->model;
    return because(why, "element %zu is 0x%" PRIx64 ": 0x%" PRIx64 ", not 0x%" PRIx64 ": 0x%" PRIx64, i,
                   element(beside->keys, model->key_bytes, i), value_beside(beside, i),
                   key_stored(model->type, model_key(model, i)), model_value(model, i));
}

static bool same_elements(const struct model *model, const void *keys, const void *values, size_t count, char *why)
{
    if (count != model->count)
        return because(why, "the dictionary has %zu elements, not %zu", count, model->count);
    struct beside beside = { model, keys, values, { 0 } };
    const int     parts = for_spans(count, compare_span, &beside);
    for (int p = 0; p < parts; p++)
        if (beside.first_other[p] != SIZE_MAX)
            return tell_other(&beside, beside.first_other[p], why);
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
    void               *keys = read_column(t, COL_RANGE_KEYS, why);
    void               *values = model->value_bytes ? read_column(t, COL_RANGE_VALUES, why) : malloc(1);
    bool good = keys && values && elements_sort(model->type, keys, values, model->value_bytes, model->count);
    good = good && same_elements(model, keys, values, t->exported, why);
    free(keys);
    free(values);
    return good;
}

/* Checks results that depend on the order of operations. */
static bool check_points(const struct dict_target *t, bool content, char *why)
{
    const bool     values = t->plan->spec.value_bytes > 0;
    struct model   after = model_empty(t->plan->spec.type, t->plan->spec.value_bytes);
    unsigned char *found = read_column(t, COL_FOUND, why);
    unsigned char *values_out = values ? read_column(t, COL_VALUES_OUT, why) : NULL;
    const bool     good = found && (values_out || !values) && check_column(t, COL_OUTCOMES, why) &&
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
