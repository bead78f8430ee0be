/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "bench/common/child.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define QUESTION_SECONDS 600.0

/* ---- child --------------------------------------------------------------------------------------------------- */

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

/* Adds a row to the file and takes it. */
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

/* ---- opening ------------------------------------------------------------------------------------------------- */

static void show_open(const struct table *table, const char *caches, const cJSON *row)
{
    table_row(table, (const char *[]) { caches, text_seconds(TEXT, number_of(row, "seconds")),
                                        text_seconds(TEXT, number_of(row, "waited_for_builds")),
                                        text_seconds(TEXT, number_of(row, "self_test")),
                                        text_seconds(TEXT, number_of(row, "adopting")) });
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
    table_head(&table);
    snprintf(question, sizeof question, "open:%s", select);
    for (int i = 0; i < 2 && !stop_asked(); i++) {
        progress("opening with %s caches", states[i]);
        cJSON *row = ask(run, &c, question);
        if (!row)
            continue;
        show_open(&table, states[i], row);
        keep(run, row, "open", states[i]);
    }
    caches_end(&c);
}

/* ---- first calls --------------------------------------------------------------------------------------------- */

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
    char                       texts[N_STATES][TEXT_BYTES];
    double                     longest[N_STATES] = { 0 };
    say(run->out, 4,
        "\nprepare: the first call of each kind, one after another, of %u operations on a %s of %s keys with values of "
        "%u bytes",
        (unsigned) FIRST_BATCH, structure, type_name(key), (unsigned) value_bytes);
    table_fit(&table);
    table_head(&table);
    for (int i = 0; call_of(rows[EMPTY], i); i++) {
        const char *check = "ok";
        if (isnan(number_of(call_of(rows[EMPTY], i), "seconds")))
            continue;
        for (int s = 0; s < N_STATES; s++) {
            const double seconds = number_of(call_of(rows[s], i), "seconds");
            text_seconds(texts[s], seconds);
            longest[s] = seconds > longest[s] ? seconds : longest[s];
            if (rows[s] && !text_is(call_of(rows[s], i), "check", "ok"))
                check = text_of(call_of(rows[s], i), "check");
        }
        run->wrong += strcmp(check, "ok") != 0;
        const char *const cells[] = {
            text_of(call_of(rows[EMPTY], i), "call"), texts[0], texts[1], texts[2], texts[3], check
        };
        table_row(&table, cells);
    }
    const char *cells[] = { "the longest", texts[0], texts[1], texts[2], texts[3], "" };
    for (int s = 0; s < N_STATES; s++)
        text_seconds(texts[s], rows[s] ? longest[s] : (double) NAN);
    table_row(&table, cells);
    for (int s = 0; s < N_STATES; s++)
        text_seconds(texts[s], number_of(json_at(rows[s], "prepared"), "seconds"));
    cells[0] = "ordo_device_prepare";
    table_row(&table, cells);
}

static void measure_calls(struct run *run, int structure, ordo_type key, uint32_t value_bytes, const char *select)
{
    cJSON        *rows[N_STATES] = { NULL };
    const char   *name = variant_name(FILLRANDOM, structure);
    struct caches c;
    for (int s = 0; s < N_STATES && !stop_asked(); s++) {
        char question[SELECT_BYTES + 64];
        snprintf(question, sizeof question, "calls:%d:%d:%d:%u:%s", s >= PREPARING, structure, (int) key,
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
            json_exact(rows[s], "batch", FIRST_BATCH);
            keep(run, rows[s], "prepare", states[s]);
        }
}

/* Whether the resumed file has it. */
static bool is_kept(const struct run *run, const char *workload)
{
    const cJSON *first = NULL;
    cJSON_ArrayForEach(first, json_at(run->file.json, "first")) {
        if (text_is(first, "workload", workload) && number_of(first, "device") == run->device_number)
            return true;
    }
    return false;
}

/* Closes the device meanwhile, because a GPU may allow one process. */
void first_measure(struct run *run, const char *select)
{
    const struct options *o = run->options;
    if (!o->first_open && !o->first_prepare)
        return;
    ordo_device_close(&run->device);
    if (o->first_open && !is_kept(run, "open"))
        measure_open(run, select);
    for (int s = 0; s < N_STRUCTURES && o->first_prepare; s++)
        for (int t = 0; t < o->n_types && variant_wanted(o, FILLRANDOM, s); t++)
            for (int v = 0; v < o->n_value_bytes && !stop_asked(); v++)
                measure_calls(run, s, (ordo_type) o->types[t], o->value_bytes[v], select);
    progress("opening the device");
    run->device = open_device(select);
    progress_clear();
}
