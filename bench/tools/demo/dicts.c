/* SPDX-License-Identifier: Apache-2.0 */
#include "parts.h"

#include "bench/common/device.h"
#include "bench/common/timing.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define ROUNDS           20
#define CROSSOVER_ROUNDS 16
#define CROSSOVER_COUNT  ((size_t) 1 << 17) /* addresses a round; on a CPU: */
#define CPU_CROSSOVER    ((size_t) 1 << 15)
#define RANGES_MIN       100

/* ---- structures ---------------------------------------------------------------------------------------------- */

enum { THE_LSM, THE_ARRAY, N_STRUCTURES_HERE };
static const char *const names[N_STRUCTURES_HERE] = { "LSM", "sorted array" };

/* A structure, its seconds in all rounds, and its answers in the current one. */
struct entrant {
    ordo_dict *dict;
    double     update;
    double     resolve; /* the first queries after an update minus the same queries again */
    double     ask;
    uint32_t  *answered;
    uint8_t   *found;
};

/* Buffers: the batch (rows are the announced ones), queries and answers. */
enum { ANNOUNCED, ANNOUNCED_ROWS, WITHDRAWN, ADDRESSES, ANSWERED, FOUND, N_BUFFERS };

struct fixture {
    ordo_device        *device;
    const struct geoip *geoip;
    const uint32_t     *addresses;
    size_t              count; /* addresses */

    struct change        change;
    struct entrant       entrants[N_STRUCTURES_HERE];
    size_t               batch;                        /* half announcements, half withdrawals */
    size_t               per_round;                    /* addresses */
    uint32_t            *announced, *withdrawn, *keys; /* size: all ranges */
    cl_mem               at[N_BUFFERS];
    struct change_result result; /* of the current rounds */
    size_t               wrong;  /* of earlier rounds */
};

static ordo_status open_fixture(struct fixture *f)
{
    const size_t ranges = f->geoip->count, asked = f->count;
    const size_t bytes[N_BUFFERS] = { ranges * 4, ranges * 4, ranges * 4, asked * 4, asked * 4, asked };
    const struct ordo_dict_config dict = { .key = ORDO_U32, .value_bytes = 4 };
    f->announced = malloc(ranges * 4);
    f->withdrawn = malloc(ranges * 4);
    f->keys = malloc(ranges * 4);
    bool made = f->announced && f->withdrawn && f->keys;
    for (struct entrant *e = f->entrants; e < f->entrants + N_STRUCTURES_HERE; e++) {
        e->answered = malloc(asked * 4);
        e->found = malloc(asked);
        made = made && e->answered && e->found;
    }
    if (!made)
        return ORDO_NO_HOST_MEMORY;
    for (int b = 0; b < N_BUFFERS; b++)
        TRY(device_buffer(f->device, bytes[b], &f->at[b]));
    TRY(ordo_lsm_create(f->device, ordo_lsm_config(.dict = dict), &f->entrants[THE_LSM].dict));
    return ordo_sorted_array_create(f->device, ordo_sorted_array_config(.dict = dict), &f->entrants[THE_ARRAY].dict);
}

static void close_fixture(struct fixture *f)
{
    for (struct entrant *e = f->entrants; e < f->entrants + N_STRUCTURES_HERE; e++) {
        ordo_dict_destroy(&e->dict);
        free(e->answered);
        free(e->found);
    }
    device_release(f->at, N_BUFFERS);
    free(f->announced);
    free(f->withdrawn);
    free(f->keys);
    change_free(&f->change);
}

static struct ordo_slice at(const struct fixture *f, int buffer)
{
    return ordo_at(f->at[buffer], 0);
}

/* ---- a round: change, then queries --------------------------------------------------------------------------- */

static ordo_status write_keys(struct fixture *f, int to, const uint32_t *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        f->keys[i] = f->geoip->first[rows[i]];
    return device_write(f->device, f->at[to], f->keys, count * 4);
}

/* Fills both dictionaries with the announced ranges: first address to row. */
static ordo_status begin(struct fixture *f)
{
    change_free(&f->change);
    if (!change_make(f->geoip, &f->change))
        return ORDO_NO_HOST_MEMORY;
    const size_t count = f->change.announced;
    TRY(write_keys(f, ANNOUNCED, f->change.rows, count));
    TRY(device_write(f->device, f->at[ANNOUNCED_ROWS], f->change.rows, count * 4));
    for (struct entrant *e = f->entrants; e < f->entrants + N_STRUCTURES_HERE; e++) {
        e->update = e->resolve = e->ask = 0;
        TRY(ordo_dict_build(e->dict, at(f, ANNOUNCED), at(f, ANNOUNCED_ROWS), count, NULL));
    }
    return ordo_device_finish(f->device);
}

static ordo_status update(const struct fixture *f, struct entrant *e)
{
    const double before = now();
    TRY(ordo_dict_erase(e->dict, at(f, WITHDRAWN), f->batch / 2, NULL));
    TRY(ordo_dict_upsert(e->dict, at(f, ANNOUNCED), at(f, ANNOUNCED_ROWS), f->batch / 2, NULL));
    TRY(ordo_device_finish(f->device));
    e->update += now() - before;
    return ORDO_OK;
}

static ordo_status query_once(const struct fixture *f, const struct entrant *e, double *seconds)
{
    const double before = now();
    TRY(ordo_dict_seek(e->dict, ORDO_LE, at(f, ADDRESSES), f->per_round, ordo_none(), at(f, ANSWERED), at(f, FOUND),
                       NULL));
    TRY(ordo_device_finish(f->device));
    *seconds = now() - before;
    return ORDO_OK;
}

/* Queries twice and keeps the second answers. */
static ordo_status query(const struct fixture *f, struct entrant *e)
{
    double first = 0, again = 0;
    TRY(query_once(f, e, &first));
    TRY(query_once(f, e, &again));
    e->resolve += first > again ? first - again : 0;
    e->ask += again;
    TRY(device_read(f->device, f->at[ANSWERED], e->answered, f->per_round * 4));
    return device_read(f->device, f->at[FOUND], e->found, f->per_round);
}

static ordo_status run_round(struct fixture *f, const uint32_t *addresses)
{
    const size_t          half = f->batch / 2;
    struct change_answers answers[N_STRUCTURES_HERE];
    change_next(&f->change, half, f->announced, f->withdrawn);
    TRY(write_keys(f, WITHDRAWN, f->withdrawn, half));
    TRY(write_keys(f, ANNOUNCED, f->announced, half));
    TRY(device_write(f->device, f->at[ANNOUNCED_ROWS], f->announced, half * 4));
    TRY(device_write(f->device, f->at[ADDRESSES], addresses, f->per_round * 4));
    for (int s = 0; s < N_STRUCTURES_HERE; s++) {
        TRY(update(f, &f->entrants[s]));
        TRY(query(f, &f->entrants[s]));
        answers[s] = (struct change_answers) { f->entrants[s].found, f->entrants[s].answered };
    }
    change_check(&f->change, addresses, f->per_round, answers, N_STRUCTURES_HERE, &f->result);
    return ORDO_OK;
}

/* Runs rounds from the same beginning, with the next `per_round` addresses each. */
static ordo_status run_rounds(struct fixture *f, size_t batch, int rounds, size_t per_round)
{
    f->batch = batch;
    f->per_round = per_round;
    f->wrong += f->result.wrong;
    f->result = (struct change_result) { 0 };
    TRY(begin(f));
    for (int round = 0; round < rounds; round++) {
        const size_t first = (size_t) round * per_round;
        progress("%d of %d", round + 1, rounds);
        TRY(run_round(f, f->addresses + (first + per_round <= f->count ? first : 0)));
    }
    return ORDO_OK;
}

/* Runs few queries first, to build the kernels. */
static ordo_status run_twice(struct fixture *f, size_t batch, int rounds, size_t per_round)
{
    progress_about("batches of %s changes, building kernels", text_grouped(TEXT, batch));
    TRY(run_rounds(f, batch, rounds, per_round < 1000 ? per_round : 1000));
    progress_about("batches of %s changes", text_grouped(TEXT, batch));
    const ordo_status got = run_rounds(f, batch, rounds, per_round);
    progress_about("%s", "");
    return got;
}

/* ---- results ------------------------------------------------------------------------------------------------- */

static double asked_per_second(const struct fixture *f, const struct entrant *e, int rounds)
{
    return rounds * (double) f->per_round / e->ask;
}

static void show_structures(const struct fixture *f, FILE *out, cJSON *json)
{
    static const struct column columns[] = { { "", 12, true },
                                             { "a batch", 10, false },
                                             { "changes /s", 10, false },
                                             { "resolving", 10, false },
                                             { "addresses /s", 12, false } };
    const struct table         table = { out, columns, sizeof columns / sizeof *columns };
    table_head(&table);
    for (int s = 0; s < N_STRUCTURES_HERE; s++) {
        const struct entrant *e = &f->entrants[s];
        const double          changes = ROUNDS * (double) f->batch / e->update, asked = asked_per_second(f, e, ROUNDS);
        table_row(&table, (const char *[]) { names[s], text_seconds(TEXT, e->update / ROUNDS), text_rate(TEXT, changes),
                                             text_seconds(TEXT, e->resolve / ROUNDS), text_rate(TEXT, asked) });
        cJSON *entry = cJSON_AddObjectToObject(json, names[s]);
        json_number(entry, "changes_per_second", changes);
        json_number(entry, "resolve_seconds", e->resolve / ROUNDS);
        json_number(entry, "addresses_per_second", asked);
    }
}

/* The LSM is faster up to this number of queries per change. Infinity: always. Negative: never. */
static double crossover(const struct fixture *f, int rounds)
{
    double change[N_STRUCTURES_HERE], query_[N_STRUCTURES_HERE];
    for (int s = 0; s < N_STRUCTURES_HERE; s++) {
        const struct entrant *e = &f->entrants[s];
        change[s] = (e->update + e->resolve) / rounds / (double) f->batch;
        query_[s] = 1 / asked_per_second(f, e, rounds);
    }
    const double saved = change[THE_ARRAY] - change[THE_LSM], lost = query_[THE_LSM] - query_[THE_ARRAY];
    return lost > 0 ? saved / lost : saved >= 0 ? (double) INFINITY : -1;
}

static char *text_crossover(char text[TEXT_BYTES], double queries)
{
    snprintf(text, TEXT_BYTES,
             isinf(queries) ? "any number"
             : queries < 0  ? "none"
             : queries < 10 ? "%.1f"
                            : "%.0f",
             queries);
    return text;
}

/* Prints one batch size. */
static void show_crossover_row(const struct fixture *f, const struct table *table, cJSON *list)
{
    const double queries = crossover(f, CROSSOVER_ROUNDS);
    double       changes[N_STRUCTURES_HERE], asked[N_STRUCTURES_HERE];
    for (int s = 0; s < N_STRUCTURES_HERE; s++) {
        const struct entrant *e = &f->entrants[s];
        changes[s] = CROSSOVER_ROUNDS * (double) f->batch / (e->update + e->resolve);
        asked[s] = asked_per_second(f, e, CROSSOVER_ROUNDS);
    }
    table_row(table, (const char *[]) { text_grouped(TEXT, f->batch), text_rate(TEXT, changes[THE_LSM]),
                                        text_rate(TEXT, changes[THE_ARRAY]), text_rate(TEXT, asked[THE_LSM]),
                                        text_rate(TEXT, asked[THE_ARRAY]), text_crossover(TEXT, queries) });

    cJSON *entry = json_append(list);
    json_exact(entry, "batch", (double) f->batch);
    json_number(entry, "lsm_changes_per_second", changes[THE_LSM]);
    json_number(entry, "array_changes_per_second", changes[THE_ARRAY]);
    json_number(entry, "lsm_addresses_per_second", asked[THE_LSM]);
    json_number(entry, "array_addresses_per_second", asked[THE_ARRAY]);
    json_number(entry, "lsm_ahead_to_addresses_per_change", queries);
}

/* Batches of a tenth of the table, and smaller by factors of four. */
static ordo_status show_crossover(struct fixture *f, FILE *out, cJSON *json)
{
    static const struct column columns[] = { { "changes a batch", 15, false }, { "LSM /s", 8, false },
                                             { "array /s", 8, false },         { "LSM asked /s", 12, false },
                                             { "array asked /s", 14, false },  { "LSM is faster", 13, false } };
    const struct table         table = { out, columns, sizeof columns / sizeof *columns };
    cJSON                     *list = cJSON_AddArrayToObject(json, "crossover");
    const size_t               most = ordo_device_facts(f->device)->cpu ? CPU_CROSSOVER : CROSSOVER_COUNT;
    const size_t               per_round = f->count < most ? f->count : most;
    table_head(&table);
    for (size_t batch = f->geoip->count / 10; batch >= 100; batch /= 4) {
        TRY(run_twice(f, batch / 2 * 2, CROSSOVER_ROUNDS, per_round));
        show_crossover_row(f, &table, list);
    }
    return ORDO_OK;
}

static void show_verdict(const struct change_result *result, FILE *out, cJSON *json)
{
    const char *checked = text_grouped(TEXT, result->checked);
    if (result->wrong)
        say(out, 0, "\nWRONG: %s of %s answers differ from the host's, such as that for address %" PRIu32 "\n\n",
            text_grouped(TEXT, result->wrong), checked, result->example);
    else
        say(out, 0, "\nok: all %s answers agree with the host's; %s addresses lay in a range just then withdrawn\n\n",
            checked, text_grouped(TEXT, result->withdrawn));
    json_exact(json, "checked", (double) result->checked);
    json_exact(json, "wrong", (double) result->wrong);
    json_exact(json, "withdrawn", (double) result->withdrawn);
}

static ordo_status report(struct fixture *f, FILE *out, cJSON *json)
{
    const size_t half = f->geoip->count / 20, per_round = f->count < ROUNDS ? 1 : f->count / ROUNDS;
    TRY(run_twice(f, 2 * half, ROUNDS, per_round));
    say(out, 0,
        "ranges that change: %d batches, each announces %s ranges and withdraws as many. After each, %s addresses ask, "
        "twice, for the last range that begins at or before them; resolving is what takes longer the first time\n\n",
        ROUNDS, text_grouped(TEXT, half), text_grouped(TEXT, per_round));
    show_structures(f, out, json);
    show_verdict(&f->result, out, json);
    say(out, 0,
        "changes and queries a second, by the changes in a batch (resolving counts as part of them). The sorted array "
        "answers queries faster, and the LSM often takes changes faster. The last column: up to so many queries per "
        "change the LSM needs less time in all; none: the array takes these changes faster too\n\n");
    TRY(show_crossover(f, out, json));
    f->wrong += f->result.wrong;
    f->result.wrong = 0;
    if (f->wrong)
        say(out, 0, "\nWRONG: %zu answers differ from the host's", f->wrong);
    return ORDO_OK;
}

ordo_status demo_dict(ordo_device *device, const struct geoip *geoip, const uint32_t *addresses, size_t count,
                      FILE *out, cJSON *json, size_t *wrong, char *why)
{
    struct fixture f = { .device = device, .geoip = geoip, .addresses = addresses, .count = count };
    if (geoip->count < RANGES_MIN) {
        fprintf(out, "%zu ranges are too few to watch them change\n", geoip->count);
        return ORDO_OK;
    }
    ordo_status got = open_fixture(&f);
    if (got == ORDO_OK)
        got = report(&f, out, cJSON_AddObjectToObject(json, "dictionaries"));
    device_why(device, got, why);
    *wrong += f.wrong;
    close_fixture(&f);
    return got;
}
