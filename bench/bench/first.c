/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "bench/common/child.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define QUESTION_SECONDS 600.0

/* Also adopts the context and queue, so that only Ordo's own time remains. */
static bool answer_open(ordo_device *device, double seconds, cJSON *json)
{
    const struct ordo_facts *facts = ordo_device_facts(device);
    ordo_device             *adopted = NULL;
    json_number(json, "seconds", seconds);
    json_number(json, "waited_for_builds", facts->build_ms / 1e3);
    json_number(json, "self_test", facts->self_test_ms / 1e3);
    const double      start = now();
    const ordo_status got = ordo_device_adopt(ordo_device_context(device), ordo_device_id(device),
                                              ordo_device_queue(device), NULL, &adopted);
    json_number(json, "adopting", got == ORDO_OK ? now() - start : (double) NAN);
    ordo_device_close(&adopted);
    return true;
}

enum { N = 65536 };

/* Keys are distinct and present when they are queried. */
struct first {
    ordo_dict *dict;
    ordo_type  value;
    uint32_t   key_bytes, value_bytes;
    void      *values, *values_out; /* NULL for values of 0 bytes */
    size_t     n;                   /* result of the last call */
    uint64_t   keys[N], keys_out[2 * N], all_values[N], all_values_out[2 * N], offsets[N + 1];
    uint32_t   counts[N];
    uint8_t    codes[N], found[N], outcomes[N];
};

/* Expected results of a call. */
enum { FOUND = 1, ABSENT = 2, KEYS = 4, VALUES = 8, ONES = 16, RANKS = 32, ALL = 64, EIGHTH = 128, FIRST = 256 };

static bool is_right(const struct first *f, int want)
{
    uint64_t ranks = 0;
    bool     good = !(want & FIRST) || f->found[0] == 1;
    for (size_t i = 0; i < N; i++) {
        good = good && (!(want & (FOUND | ABSENT)) || f->found[i] == (want & FOUND ? 1 : 0)) &&
               (!(want & ONES) || f->counts[i] == 1);
        ranks += want & RANKS ? f->counts[i] : 0;
    }
    return good && (!(want & RANKS) || ranks == (uint64_t) N * (N - 1) / 2) && (!(want & ALL) || f->n == N) &&
           (!(want & EIGHTH) || f->n == N / 8) &&
           (!(want & KEYS) || memcmp(f->keys_out, f->keys, (size_t) N * f->key_bytes) == 0) &&
           (!(want & VALUES) || memcmp(f->all_values_out, f->all_values, (size_t) N * f->value_bytes) == 0);
}

#define COLUMNS(f)                                                                                                     \
    .codes = (f)->codes, .keys = (f)->keys, .values = (f)->values, .count = N, .found = (f)->found,                    \
    .keys_out = (f)->keys_out, .values_out = (f)->values_out

static ordo_status apply(struct first *f)
{
    static const uint8_t codes[] = { ORDO_FIND, ORDO_UPSERT, ORDO_SEEK_GE, ORDO_INSERT };
    for (size_t i = 0; i < N; i++)
        f->codes[i] = codes[i % 4];
    return ordo_dict_apply_host(f->dict, &(struct ordo_host_batch) { COLUMNS(f) }, &f->n);
}

static ordo_status apply_concurrent(struct first *f)
{
    const struct ordo_host_concurrent_batch batch = { COLUMNS(f), .outcomes = f->outcomes };
    return ordo_dict_apply_concurrent_host(f->dict, &batch);
}

static void add_call(cJSON *list, const char *name, ordo_status got, double seconds, bool right)
{
    cJSON *one = json_append(list);
    json_text(one, "call", name);
    if (got != ORDO_UNSUPPORTED) {
        json_number(one, "seconds", seconds);
        json_text(one, "check", got != ORDO_OK ? ordo_status_string(got) : right ? "ok" : "WRONG");
    }
}

/* Makes every call once, in an order that gives each the expected content. Sums add 0. */
static void make_calls(struct first *f, cJSON *list)
{
    static const uint64_t nothing[N];
    const bool            values = f->value_bytes > 0;
    ordo_dict            *d = f->dict;
#define CALL(name, want, call)                                                                                         \
    do {                                                                                                               \
        const double      start = now();                                                                               \
        const ordo_status got = call;                                                                                  \
        add_call(list, name, got, now() - start, is_right(f, want));                                                   \
    } while (0)
    CALL("upsert", 0, ordo_dict_upsert_host(d, f->keys, f->values, N));
    CALL("find", FOUND | VALUES, ordo_dict_find_host(d, f->keys, N, f->values_out, f->found));
    CALL("contains", FOUND, ordo_dict_contains_host(d, f->keys, N, f->found));
    CALL("insert", ABSENT, ordo_dict_insert_host(d, f->keys, f->values, N, f->found));
    CALL("seek", FOUND | KEYS | VALUES,
         ordo_dict_seek_host(d, ORDO_GE, f->keys, N, f->keys_out, f->values_out, f->found));
    CALL("first", FIRST, ordo_dict_first_host(d, f->keys_out, f->values_out, f->found));
    CALL("count", ONES, ordo_dict_count_host(d, f->keys, f->keys, N, f->counts));
    CALL("range", ALL | KEYS | VALUES,
         ordo_dict_range_host(d, f->keys, f->keys, N, f->offsets, f->keys_out, f->values_out, N, &f->n));
    CALL("rank", RANKS, ordo_dict_rank_host(d, ORDO_LT, f->keys, N, f->counts));
    CALL("select", FOUND | KEYS | VALUES, ordo_dict_select_host(d, f->counts, N, f->keys_out, f->values_out, f->found));
    CALL("aggregate", ONES | VALUES,
         values ? ordo_dict_aggregate_host(d, f->value, ORDO_SUM, f->keys, f->keys, N, f->all_values_out, f->counts)
                : ORDO_UNSUPPORTED);
    CALL("combine", 0, values ? ordo_dict_combine_host(d, f->value, ORDO_SUM, f->keys, nothing, N) : ORDO_UNSUPPORTED);
    CALL("apply", FOUND, apply(f));
    CALL("apply_concurrent", FOUND, ordo_dict_can(d, ORDO_CAN_CONCURRENT) ? apply_concurrent(f) : ORDO_UNSUPPORTED);
    CALL("take_first", EIGHTH, ordo_dict_take_first_host(d, N / 8, f->keys_out, f->values_out, &f->n));
    CALL("erase", 0, ordo_dict_erase_host(d, f->keys, N / 2));
    CALL("erase_range", 0, ordo_dict_erase_range_host(d, f->keys, f->keys, N, f->counts));
    CALL("compact", 0, ordo_dict_compact(d, NULL));
#undef CALL
}

static bool prepare(ordo_device *device, int structure, const struct ordo_dict_config *config, cJSON *json)
{
#define X(id, ...) ORDO_PREPARE_##id,
    static const uint32_t what[N_STRUCTURES] = { ORDO_STRUCTURE_MAP(X) };
#undef X
    const struct ordo_prepare_params params = { .what = structure < N_STRUCTURES ? what[structure] : 0,
                                                .keys = 1u << config->key,
                                                .value_bytes = 1u << config->value_bytes,
                                                .batch = N };
    struct ordo_prepared             prepared = { 0 };
    if (!params.what || ordo_device_prepare(device, &params, &prepared) != ORDO_OK)
        return false;
    json_number(json, "seconds", prepared.seconds);
    json_number(json, "programs", (double) prepared.programs);
    return true;
}

static bool answer_calls(ordo_device *device, const char *question, cJSON *json)
{
    int           ahead = 0, structure = 0, key = 0;
    unsigned      bytes = 0;
    struct first *f = calloc(1, sizeof *f);
    bool          good = f && sscanf(question, "%d:%d:%d:%u", &ahead, &structure, &key, &bytes) == 4;
    if (good) {
        const struct ordo_dict_config config = { .key = (ordo_type) key, .value_bytes = bytes };
        f->value = bytes == 8 ? ORDO_U64 : ORDO_U32;
        f->value_bytes = bytes;
        f->key_bytes = (uint32_t) type_bytes(config.key);
        f->values = bytes ? f->all_values : NULL;
        f->values_out = bytes ? f->all_values_out : NULL;
        for (uint32_t i = 0; i < N; i++) {
            const uint64_t number = (uint64_t) (i + 1) * (f->key_bytes == 8 ? 0x9e3779b97f4a7c15ULL : 0x9e3779b1ULL);
            set_element(f->keys, f->key_bytes, i, number);
            memset((char *) f->all_values + (size_t) i * bytes, (int) (i % 251), bytes);
        }
        good = !ahead || prepare(device, structure, &config, cJSON_AddObjectToObject(json, "prepared"));
        good = good && structure_create(device, structure, &config, &f->dict) == ORDO_OK;
    }
    if (good)
        make_calls(f, cJSON_AddArrayToObject(json, "calls"));
    if (f)
        ordo_dict_destroy(&f->dict);
    free(f);
    return good;
}

int first_answer(const char *question)
{
    const char  *select = strchr(question, '@');
    cJSON       *json = cJSON_CreateObject();
    const double start = now();
    ordo_device *device = select ? open_device(select + 1) : NULL;
    const double seconds = now() - start;
    const bool   good =
        device && (*question == '@' ? answer_open(device, seconds, json) : answer_calls(device, question, json));
    ordo_device_close(&device);
    if (good)
        return child_answer(json);
    cJSON_Delete(json);
    return EXIT_FAILED;
}

/* Runs a child. Returns its answer, which the caller deletes, or NULL after an error. */
static cJSON *ask(struct run *run, const struct caches *c, const char *question)
{
    const char *const    arguments[] = { "ordo-bench", "--child", question, NULL };
    const struct child   child = { NULL, arguments, c->environment, QUESTION_SECONDS };
    struct child_outcome outcome;
    child_run(&child, &outcome);
    if (!outcome.problem[0])
        return outcome.answer;
    cJSON_Delete(outcome.answer);
    run->failed++;
    report_error("%s: %s %s", question, outcome.problem, outcome.said);
    return NULL;
}

static void keep(struct run *run, cJSON *row, const char *workload, const char *caches)
{
    cJSON *list = json_at(run->file.json, "first");
    if (!list)
        list = cJSON_AddArrayToObject(run->file.json, "first");
    json_text(row, "workload", workload);
    json_text(row, "caches", caches);
    json_exact(row, "device", run->device_number);
    cJSON_AddItemToArray(list, row);
}

static void measure_open(struct run *run, const char *select)
{
    static const struct column columns[] = {
        { "caches", 8, true, 0 },     { "open", 9, false, 0 },  { "builds", 9, false, 0 },
        { "self-test", 9, false, 0 }, { "adopt", 9, false, 0 },
    };
    static const char *const states[] = { "empty", "filled" };
    struct table             table = { .out = run->out, .columns = columns, .n_columns = 5 };
    struct caches            c;
    char                     question[SELECT_BYTES + 16];
    if (!caches_begin(&c))
        return;
    say(run->out, 4,
        "\nopen: opening a device; adopt: the same in a context and with a queue that are there, caches filled");
    table_fit(&table);
    snprintf(question, sizeof question, "@%s", select);
    for (int i = 0; i < 2 && !stop_asked(); i++) {
        progress("opening with %s caches", states[i]);
        cJSON *row = ask(run, &c, question);
        if (!row)
            continue;
        table_row(&table, (const char *[]) { states[i], text_seconds(TEXT, number_of(row, "seconds")),
                                             text_seconds(TEXT, number_of(row, "waited_for_builds")),
                                             text_seconds(TEXT, number_of(row, "self_test")),
                                             text_seconds(TEXT, number_of(row, "adopting")) });
        keep(run, row, "open", states[i]);
    }
    caches_end(&c);
}

enum { EMPTY, FILLED, PREPARING, PREPARED, N_STATES };
static const char *const states[N_STATES] = { "empty", "filled", "empty, prepared", "filled, prepared" };

static const cJSON *call_of(const cJSON *row, int i)
{
    return cJSON_GetArrayItem(json_at(row, "calls"), i);
}

static void show_calls(struct run *run, cJSON *const rows[N_STATES], const char *structure, ordo_type key,
                       uint32_t value_bytes)
{
    static const struct column columns[] = { { "call", 16, true, 0 },        { "empty", 9, false, 0 },
                                             { "filled", 9, false, 0 },      { "prepared", 9, false, 0 },
                                             { "and filled", 10, false, 0 }, { "check", 5, true, 0 } };
    struct table               table = { .out = run->out, .columns = columns, .n_columns = 6 };
    const int                  n = cJSON_GetArraySize(json_at(rows[EMPTY], "calls"));
    double                     longest[N_STATES] = { 0 };
    say(run->out, 4,
        "\nprepare: the first call of each kind, one after another, of %u operations on a %s of %s keys with values of "
        "%u bytes",
        (unsigned) N, structure, type_name(key), (unsigned) value_bytes);
    table_fit(&table);
    for (int i = 0; i < n + 2; i++) {
        char        texts[N_STATES][TEXT_BYTES];
        const char *name = i < n    ? text_of(call_of(rows[EMPTY], i), "call")
                           : i == n ? "the longest"
                                    : "ordo_device_prepare";
        const char *check = i < n ? "ok" : "";
        if (i < n && isnan(number_of(call_of(rows[EMPTY], i), "seconds")))
            continue;
        for (int s = 0; s < N_STATES; s++) {
            const cJSON *from = i < n ? call_of(rows[s], i) : json_at(rows[s], "prepared");
            const double seconds = i == n && rows[s] ? longest[s] : number_of(i == n ? NULL : from, "seconds");
            text_seconds(texts[s], seconds);
            longest[s] = fmax(longest[s], seconds);
            if (i < n && rows[s] && !text_is(from, "check", "ok"))
                check = text_of(from, "check");
        }
        run->wrong += i < n && strcmp(check, "ok") != 0;
        table_row(&table, (const char *[]) { name, texts[0], texts[1], texts[2], texts[3], check });
    }
}

static void measure_calls(struct run *run, int structure, ordo_type key, uint32_t value_bytes, const char *select)
{
    cJSON        *rows[N_STATES] = { NULL };
    const char   *name = variant_name(FILLRANDOM, structure);
    struct caches c;
    for (int s = 0; s < N_STATES && !stop_asked(); s++) {
        char question[SELECT_BYTES + 64];
        snprintf(question, sizeof question, "%d:%d:%d:%u@%s", s >= PREPARING, structure, (int) key,
                 (unsigned) value_bytes, select);
        progress("first calls of %s, caches %s", name, states[s]);
        if ((s == EMPTY || s == PREPARING) && !caches_begin(&c))
            break;
        rows[s] = ask(run, &c, question);
        if (s == FILLED || s == PREPARED || stop_asked())
            caches_end(&c);
    }
    if (rows[EMPTY])
        show_calls(run, rows, name, key, value_bytes);
    for (int s = 0; s < N_STATES; s++)
        if (rows[s]) {
            json_text(rows[s], "structure", name);
            json_text(rows[s], "type", type_name(key));
            json_exact(rows[s], "value_bytes", value_bytes);
            json_exact(rows[s], "batch", N);
            keep(run, rows[s], "prepare", states[s]);
        }
}

/* Closes the device meanwhile, because a GPU may allow one process. */
void first_measure(struct run *run, const char *select)
{
    const struct options *o = run->options;
    const cJSON          *first = NULL;
    bool                  kept = false; /* in a file that is resumed */
    if (!o->first_open && !o->first_prepare)
        return;
    cJSON_ArrayForEach(first, json_at(run->file.json, "first"))
        kept |= text_is(first, "workload", "open") && number_of(first, "device") == run->device_number;
    ordo_device_close(&run->device);
    if (o->first_open && !kept)
        measure_open(run, select);
    for (int s = 0; s < N_STRUCTURES && o->first_prepare; s++)
        for (int t = 0; t < o->n_types && variant_wanted(o, FILLRANDOM, s); t++)
            for (int v = 0; v < o->n_value_bytes && !stop_asked(); v++)
                measure_calls(run, s, (ordo_type) o->types[t], o->value_bytes[v], select);
    progress("opening the device");
    run->device = open_device(select);
    progress_clear();
}
