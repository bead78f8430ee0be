/* SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"

#include "bench/common/device.h"
#include "bench/common/threads.h"
#include "bench/peers/rivals.h"
#include "bench/workload/baseline.h"
#include "bench/workload/keys.h"
#include "bench/workload/plan.h"

#include "ordo/blink.h"
#include "ordo/hamt.h"
#include "ordo/hash.h"
#include "ordo/ordo.h"
#include "ordo/xfast.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t bytes_of(const struct column_batch *cols, int column)
{
    return cols->rows[column] * column_width(cols, (enum column_id) column);
}

void host_outputs_free(struct host_outputs *outputs)
{
    for (int c = 0; c < N_COLUMNS; c++)
        free(outputs->at[c]);
    *outputs = (struct host_outputs) { .exported = 0 };
}

void host_outputs_poison(const struct column_batch *cols, struct host_outputs *outputs)
{
    for (int c = FIRST_OUTPUT; c < N_COLUMNS; c++)
        if (outputs->at[c])
            fill_bytes(outputs->at[c], POISON_BYTE, bytes_of(cols, c));
}

bool host_outputs_make(const struct column_batch *cols, struct host_outputs *outputs)
{
    host_outputs_free(outputs);
    for (int c = FIRST_OUTPUT; c < N_COLUMNS; c++) {
        if (bytes_of(cols, c) == 0)
            continue;
        outputs->at[c] = malloc(bytes_of(cols, c));
        if (!outputs->at[c]) {
            host_outputs_free(outputs);
            return false;
        }
    }
    host_outputs_poison(cols, outputs);
    return true;
}

static void *place(const struct column_batch *cols, void *const *columns, enum column_id column, size_t row)
{
    char *at = columns[column];
    return at ? at + row * column_width(cols, column) : NULL;
}

ordo_status host_step(ordo_dict *dict, const struct column_batch *cols, struct host_outputs *outputs,
                      const struct step *step)
{
    const void *keys = place(cols, cols->at, COL_KEYS, step->at), *values = place(cols, cols->at, COL_VALUES, step->at);
    switch (step->call) {
    case DO_BUILD:
        return ordo_dict_build_host(dict, keys, values, step->count);
    case DO_UPSERT:
        return ordo_dict_upsert_host(dict, keys, values, step->count);
    case DO_FIND:
        return ordo_dict_find_host(dict, keys, step->count, place(cols, outputs->at, COL_VALUES_OUT, step->at),
                                   place(cols, outputs->at, COL_FOUND, step->at));
    case DO_EXPORT:
        return ordo_dict_export_host(dict, outputs->at[COL_RANGE_KEYS], outputs->at[COL_RANGE_VALUES],
                                     step->range_count, &outputs->exported);
    default:
        return ORDO_UNSUPPORTED;
    }
}

/* A column batch in device memory. */
struct columns {
    cl_mem at[N_COLUMNS];
};

struct dict_subject {
    ordo_device            *device;
    const struct dict_plan *plan;
    ordo_dict              *dict;
    struct rival           *rival; /* used instead of `dict` */
    struct columns          table, churn, work;
    struct host_outputs     host;   /* used instead of `work` for host arrays */
    size_t                  filled; /* table batches in the dictionary, for queries */
};

/* ---- columns ------------------------------------------------------------------------------------------------- */

static void columns_free(struct columns *columns)
{
    device_release(columns->at, N_COLUMNS);
    *columns = (struct columns) { { NULL } };
}

static size_t column_bytes(const struct column_batch *cols, int column)
{
    return cols->rows[column] * column_width(cols, (enum column_id) column);
}

static cl_int fill_poison(const struct dict_subject *subject, cl_mem mem, size_t bytes)
{
    const cl_uchar poison = POISON_BYTE;
    return clEnqueueFillBuffer(ordo_device_queue(subject->device), mem, &poison, 1, 0, bytes, 0, NULL, NULL);
}

static cl_int column_make(const struct dict_subject *subject, const struct column_batch *cols, int column, cl_mem *mem)
{
    const size_t bytes = column_bytes(cols, column);
    cl_int       code = CL_SUCCESS;
    if (bytes == 0)
        return code;
    *mem = clCreateBuffer(ordo_device_context(subject->device), CL_MEM_READ_WRITE, bytes, NULL, &code);
    if (code != CL_SUCCESS || column >= FIRST_OUTPUT)
        return code;
    return clEnqueueWriteBuffer(ordo_device_queue(subject->device), *mem, CL_TRUE, 0, bytes, cols->at[column], 0, NULL,
                                NULL);
}

static ordo_status columns_make(const struct dict_subject *subject, const struct column_batch *cols,
                                struct columns *columns, char *why)
{
    columns_free(columns);
    for (int c = 0; c < N_COLUMNS; c++) {
        const cl_int code = column_make(subject, cols, c, &columns->at[c]);
        if (code == CL_SUCCESS)
            continue;
        because(why, "cannot place the workload's %s: %s", column_name((enum column_id) c), ordo_cl_error_string(code));
        return ORDO_NO_DEVICE_MEMORY;
    }
    return ORDO_OK;
}

static struct ordo_slice slice(const struct columns *columns, enum column_id column, size_t at)
{
    return columns->at[column] ? ordo_at(columns->at[column], at) : ordo_none();
}

/* ---- steps --------------------------------------------------------------------------------------------------- */

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
static ordo_type value_type(const struct dict_subject *subject)
{
    return subject->plan->spec.value_bytes == 8 ? ORDO_U64 : ORDO_U32;
}

static ordo_status do_step(const struct dict_subject *subject, const struct columns *c, const struct step *step,
                           const struct ordo_order *order)
{
    ordo_dict              *dict = subject->dict;
    const struct ordo_slice keys = slice(c, COL_KEYS, step->at), values = slice(c, COL_VALUES, step->at);
    const struct ordo_slice hi = slice(c, COL_HI, step->at), found = slice(c, COL_FOUND, step->at);
    const struct ordo_slice values_out = slice(c, COL_VALUES_OUT, step->at);
    const struct ordo_slice keys_out = slice(c, COL_KEYS_OUT, step->at), counts = slice(c, COL_COUNTS, step->at);
    size_t                  needed; /* ranges that wait for the number may merge runs */
    if (subject->rival)
        return rival_step(subject->rival, c->at, step, order);
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
                               step->range_count, subject->plan->spec.first_calls ? &needed : NULL, order);
    case DO_COMBINE:
        return ordo_dict_combine(dict, value_type(subject), ORDO_SUM, keys, values, step->count, order);
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
        return range_limited(dict, c, step, subject->plan->spec.first_calls ? &needed : NULL, order);
    case DO_AGGREGATE:
        return ordo_dict_aggregate(dict, value_type(subject), ORDO_SUM, keys, hi, step->count, values_out, ordo_none(),
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
static ordo_status do_steps(const struct dict_subject *subject, const struct columns *columns,
                            const struct script *script, size_t from, size_t to, const struct ordo_order *order)
{
    struct ordo_order within = order ? *order : (struct ordo_order) { .queue = NULL };
    for (size_t s = from; s < to; s++) {
        within.done = order && s + 1 == to ? order->done : NULL;
        TRY(do_step(subject, columns, &script->steps[s], &within));
        within.n_wait = 0;
    }
    return ORDO_OK;
}

ordo_status dict_subject_fill(struct dict_subject *subject, size_t from, size_t to)
{
    const struct script *table = &subject->plan->table;
    subject->filled = to;
    if (!structure_is(subject->plan->spec.variant, ORDO_BUILT_WHOLE))
        return do_steps(subject, &subject->table, table, from, to, NULL);
    struct step build = { .call = DO_BUILD };
    for (size_t s = 0; s < to; s++)
        build.count += table->steps[s].count;
    return do_step(subject, &subject->table, &build, NULL);
}

ordo_status dict_subject_prepare(void *arg, const struct ordo_order *order)
{
    struct dict_subject *subject = arg;
    (void) order; /* untimed work uses the device's own queue; the caller waits */
    const size_t steps = plan_has_fills(subject->plan->spec.workload) ? subject->filled : subject->plan->table.n_steps;
    TRY(subject->rival ? rival_clear(subject->rival) : ordo_dict_clear(subject->dict));
    if (steps)
        TRY(dict_subject_fill(subject, 0, steps));
    return do_steps(subject, &subject->churn, &subject->plan->churn, 0, subject->plan->churn.n_steps, NULL);
}

static bool is_host(const struct dict_subject *subject)
{
    return workload_is_host(subject->plan->spec.workload);
}

ordo_status dict_subject_work(void *arg, const struct ordo_order *order)
{
    struct dict_subject *subject = arg;
    if (is_host(subject)) {
        for (size_t s = 0; s < subject->plan->work.n_steps; s++)
            TRY(dict_subject_step(subject, s));
        return ORDO_OK;
    }
    return do_steps(subject, &subject->work, &subject->plan->work, 0, subject->plan->work.n_steps, order);
}

ordo_status dict_subject_step(struct dict_subject *subject, size_t step)
{
    const struct script *work = &subject->plan->work;
    if (is_host(subject))
        return host_step(subject->dict, &work->cols, &subject->host, &work->steps[step]);
    return do_step(subject, &subject->work, &work->steps[step], NULL);
}

ordo_status dict_subject_rebuild(void *arg, const struct ordo_order *order)
{
    struct dict_subject *subject = arg;
    const struct step    build = { .call = DO_BUILD, .count = subject->plan->table.cols.rows[COL_KEYS] };
    return do_step(subject, &subject->table, &build, order);
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

bool dict_subject_can(ordo_device *device, const struct spec *spec)
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

ordo_status dict_subject_open(ordo_device *device, const struct dict_plan *plan, struct dict_subject **out, char *why)
{
    *out = NULL;
    struct dict_subject *subject = calloc(1, sizeof *subject);
    if (!subject) {
        because(why, "%s", ordo_status_string(ORDO_NO_HOST_MEMORY));
        return ORDO_NO_HOST_MEMORY;
    }
    subject->device = device;
    subject->plan = plan;
    ordo_status made = structure_is_rival(plan->spec.variant)
                           ? rival_open(device, plan, &subject->rival, why)
                           : device_why(subject->device, create(device, &plan->spec, &subject->dict), why);
    if (made == ORDO_OK)
        made = columns_make(subject, &plan->table.cols, &subject->table, why);
    if (made != ORDO_OK)
        dict_subject_close(&subject);
    *out = subject;
    return made;
}

void dict_subject_close(struct dict_subject **subject)
{
    if (!*subject)
        return;
    ordo_device_finish((*subject)->device);
    ordo_dict_destroy(&(*subject)->dict);
    rival_close(&(*subject)->rival);
    columns_free(&(*subject)->table);
    columns_free(&(*subject)->churn);
    columns_free(&(*subject)->work);
    host_outputs_free(&(*subject)->host);
    free(*subject);
    *subject = NULL;
}

ordo_status dict_subject_load(struct dict_subject *subject, char *why)
{
    TRY(columns_make(subject, &subject->plan->churn.cols, &subject->churn, why));
    if (is_host(subject)) {
        const bool made = host_outputs_make(&subject->plan->work.cols, &subject->host);
        return device_why(subject->device, made ? ORDO_OK : ORDO_NO_HOST_MEMORY, why);
    }
    TRY(columns_make(subject, &subject->plan->work.cols, &subject->work, why));
    return device_why(subject->device, dict_subject_poison(subject), why);
}

ordo_status dict_subject_poison(struct dict_subject *subject)
{
    const struct column_batch *cols = &subject->plan->work.cols;
    host_outputs_poison(cols, &subject->host);
    for (int c = FIRST_OUTPUT; c < N_COLUMNS; c++)
        if (subject->work.at[c] && fill_poison(subject, subject->work.at[c], column_bytes(cols, c)) != CL_SUCCESS)
            return ORDO_OPENCL;
    return ordo_device_finish(subject->device);
}

ordo_status dict_subject_statistics(struct dict_subject *subject, struct ordo_statistics *out)
{
    return subject->rival ? rival_statistics(subject->rival, out) : ordo_dict_statistics(subject->dict, NULL, out);
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

static bool has_column(const struct dict_subject *subject, int column)
{
    return subject->work.at[column] || subject->host.at[column];
}

/* Reads an output column. The caller frees it; NULL on failure. */
static unsigned char *read_column(const struct dict_subject *subject, int column, char *why)
{
    const size_t   bytes = column_bytes(&subject->plan->work.cols, column);
    unsigned char *got = malloc(bytes);
    if (got && subject->host.at[column])
        return memcpy(got, subject->host.at[column], bytes);
    if (got && device_read(subject->device, subject->work.at[column], got, bytes) == ORDO_OK)
        return got;
    free(got);
    because(why, "cannot read the results");
    return NULL;
}

static bool check_column(const struct dict_subject *subject, int column, char *why)
{
    const struct column_batch *cols = &subject->plan->work.cols;
    const size_t               bytes = column_bytes(cols, column);
    if (!has_column(subject, column))
        return true;
    unsigned char *got = read_column(subject, column, why);
    bool           good = got;
    if (good && memcmp(got, cols->at[column], bytes) != 0)
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

/* Sorts the exported elements of an unordered dictionary: element numbers sorted by key. */
struct exported {
    const struct model *model;
    struct pairs        stored;  /* in the exported order */
    struct pairs        numbers; /* by place in the order; keys in ordered form */
    void               *keys, *values;
};

static void number_at(void *exported_, size_t i)
{
    const struct exported *exported = exported_;
    set_element(exported->numbers.values, 4, i, i);
}

static void place_at(void *exported_, size_t i)
{
    const struct exported *exported = exported_;
    const struct model    *model = exported->model;
    const size_t           number = (size_t) element(exported->numbers.values, 4, i);
    set_element(exported->keys, model->key_bytes, i, element(exported->stored.keys, model->key_bytes, number));
    if (model->value_bytes)
        set_element(exported->values, model->value_bytes, i,
                    element(exported->stored.values, model->value_bytes, number));
}

static bool put_in_order(const struct model *model, void **keys, void **values, size_t count)
{
    const size_t    key = model->key_bytes, room = count * (key > 4 ? key : 4) + 1;
    struct pairs    spare = { malloc(room), malloc(count * 4 + 1) };
    struct exported e = { .model = model,
                          .stored = { *keys, *values },
                          .numbers = { malloc(room), malloc(count * 4 + 1) },
                          .keys = malloc(count * key + 1),
                          .values = malloc(count * model->value_bytes + 1) };
    const bool      made = spare.keys && spare.values && e.numbers.keys && e.numbers.values && e.keys && e.values;
    if (made) {
        keys_order(model->type, *keys, count, e.numbers.keys);
        for_each(count, number_at, &e);
        pairs_sort(e.numbers, spare, key, 4, count);
        for_each(count, place_at, &e);
        *keys = e.keys;
        *values = e.values;
    }
    free(made ? e.stored.keys : e.keys);
    free(made ? e.stored.values : e.values);
    free(e.numbers.keys);
    free(e.numbers.values);
    free(spare.keys);
    free(spare.values);
    return made;
}

static bool check_rival(const struct dict_subject *subject, const struct model *model, char *why)
{
    struct model      got;
    const ordo_status read = rival_export(subject->rival, &got, why);
    const bool        good = read == ORDO_OK && same_elements(model, got.keys, got.values, got.count, why);
    model_free(&got);
    return good;
}

static bool check_content(const struct dict_subject *subject, const struct model *model, char *why)
{
    if (subject->rival)
        return check_rival(subject, model, why);
    const size_t room = model->count + 1;
    void        *keys = malloc(room * model->key_bytes), *values = malloc(room * model->value_bytes + 1);
    size_t       count = 0;
    ordo_status  got = keys && values ? ordo_dict_check(subject->dict, NULL) : ORDO_NO_HOST_MEMORY;
    if (got == ORDO_OK)
        got = ordo_dict_export_host(subject->dict, keys, model->value_bytes ? values : NULL, room, &count);
    if (got == ORDO_OK && !ordo_dict_can(subject->dict, ORDO_CAN_ORDER) && !put_in_order(model, &keys, &values, count))
        got = ORDO_NO_HOST_MEMORY;
    const bool too_many = got == ORDO_TOO_SMALL;
    const bool good = (got == ORDO_OK || too_many) && same_elements(model, keys, values, count, why);
    if (got != ORDO_OK && !too_many)
        device_why(subject->device, got, why);
    free(keys);
    free(values);
    return good;
}

/* Checks an unordered export. */
static bool check_export(const struct dict_subject *subject, char *why)
{
    const struct model *model = &subject->plan->model;
    void               *keys = read_column(subject, COL_RANGE_KEYS, why);
    void               *values = model->value_bytes ? read_column(subject, COL_RANGE_VALUES, why) : malloc(1);
    bool                good = keys && values && put_in_order(model, &keys, &values, model->count);
    good = good && same_elements(model, keys, values, subject->host.exported, why);
    free(keys);
    free(values);
    return good;
}

/* Checks results that depend on the order of operations. */
static bool check_points(const struct dict_subject *subject, bool content, char *why)
{
    const bool     values = subject->plan->spec.value_bytes > 0;
    struct model   after = model_empty(subject->plan->spec.type, subject->plan->spec.value_bytes);
    unsigned char *found = read_column(subject, COL_FOUND, why);
    unsigned char *values_out = values ? read_column(subject, COL_VALUES_OUT, why) : NULL;
    const bool     good = found && (values_out || !values) && check_column(subject, COL_OUTCOMES, why) &&
                      explain_points(subject->plan, found, values_out, &after, why) &&
                      (!content || check_content(subject, &after, why));
    model_free(&after);
    free(found);
    free(values_out);
    return good;
}

bool dict_subject_check(struct dict_subject *subject, bool content, char *why)
{
    if (device_why(subject->device, ordo_device_finish(subject->device), why) != ORDO_OK)
        return false;
    if (subject->plan->spec.workload == CONCURRENTPOINTS)
        return check_points(subject, content, why);
    if (subject->plan->spec.workload == HOSTEXPORT && subject->host.exported != subject->plan->model.count)
        return because(why, "%zu elements were exported, not %zu", subject->host.exported, subject->plan->model.count);
    if (subject->plan->spec.workload == HOSTEXPORT && !ordo_dict_can(subject->dict, ORDO_CAN_ORDER))
        return check_export(subject, why);
    for (int c = FIRST_OUTPUT; c < N_COLUMNS; c++)
        if (!check_column(subject, c, why))
            return false;
    return !content || check_content(subject, &subject->plan->model, why);
}
