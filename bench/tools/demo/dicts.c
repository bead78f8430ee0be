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

/* ---- who takes part ------------------------------------------------------------------------------------------ */

/* Seconds of all rounds. */
struct seconds {
    double update;
    double resolve; /* first queries after an update minus the same queries again */
    double ask;
};

struct rival {
    ordo_dict     *dict;
    struct seconds seconds;
    uint32_t      *answered; /* of a round */
    uint8_t       *found;
};

enum { THE_LSM, THE_ARRAY, N_RIVALS };

struct fixture {
    ordo_device        *device;
    const struct geoip *geoip;
    const uint32_t     *addresses;
    size_t              count; /* addresses */

    struct change        change;
    struct rival         rivals[N_RIVALS];
    size_t               batch;                               /* half announcements, half withdrawals */
    size_t               per_round;                           /* addresses */
    uint32_t            *announced, *withdrawn, *keys;        /* size: all ranges */
    cl_mem               on_announced, on_rows, on_withdrawn; /* the batch on the device; rows are those announced */
    cl_mem               on_addresses, on_answered, on_found;
    struct change_result result; /* of the current rounds */
    size_t               wrong;  /* of earlier rounds */
};

static ordo_status make_room(struct fixture *fixture)
{
    const size_t ranges = fixture->geoip->count, asked = fixture->count;
    fixture->announced = malloc(ranges * 4);
    fixture->withdrawn = malloc(ranges * 4);
    fixture->keys = malloc(ranges * 4);
    bool made = fixture->announced && fixture->withdrawn && fixture->keys;
    for (int r = 0; r < N_RIVALS; r++) {
        struct rival *rival = &fixture->rivals[r];
        rival->answered = malloc(asked * 4);
        rival->found = malloc(asked);
        made = made && rival->answered && rival->found;
    }
    if (!made)
        return ORDO_NO_HOST_MEMORY;
    TRY(device_buffer(fixture->device, ranges * 4, &fixture->on_announced));
    TRY(device_buffer(fixture->device, ranges * 4, &fixture->on_rows));
    TRY(device_buffer(fixture->device, ranges * 4, &fixture->on_withdrawn));
    TRY(device_buffer(fixture->device, asked * 4, &fixture->on_addresses));
    TRY(device_buffer(fixture->device, asked * 4, &fixture->on_answered));
    return device_buffer(fixture->device, asked, &fixture->on_found);
}

static void close_fixture(struct fixture *fixture)
{
    const cl_mem all[] = { fixture->on_announced, fixture->on_rows,     fixture->on_withdrawn,
                           fixture->on_addresses, fixture->on_answered, fixture->on_found };
    for (int r = 0; r < N_RIVALS; r++) {
        ordo_dict_destroy(&fixture->rivals[r].dict);
        free(fixture->rivals[r].answered);
        free(fixture->rivals[r].found);
    }
    device_release(all, sizeof all / sizeof *all);
    free(fixture->announced);
    free(fixture->withdrawn);
    free(fixture->keys);
    change_free(&fixture->change);
}

/* ---- a round: change, then questions ------------------------------------------------------------------------- */

static ordo_status write_keys(struct fixture *fixture, cl_mem to, const uint32_t *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fixture->keys[i] = fixture->geoip->first[rows[i]];
    return device_write(fixture->device, to, fixture->keys, count * 4);
}

/* Fills both dictionaries with the announced ranges: first address to row. */
static ordo_status begin(struct fixture *fixture)
{
    change_free(&fixture->change);
    if (!change_make(fixture->geoip, &fixture->change))
        return ORDO_NO_HOST_MEMORY;
    const size_t count = fixture->change.announced;
    TRY(write_keys(fixture, fixture->on_announced, fixture->change.rows, count));
    TRY(device_write(fixture->device, fixture->on_rows, fixture->change.rows, count * 4));
    for (int r = 0; r < N_RIVALS; r++) {
        fixture->rivals[r].seconds = (struct seconds) { 0 };
        TRY(ordo_dict_build(fixture->rivals[r].dict, ordo_at(fixture->on_announced, 0), ordo_at(fixture->on_rows, 0),
                            count, NULL));
    }
    return ordo_device_finish(fixture->device);
}

static ordo_status update(struct fixture *fixture, struct rival *rival)
{
    const double before = now();
    TRY(ordo_dict_erase(rival->dict, ordo_at(fixture->on_withdrawn, 0), fixture->batch / 2, NULL));
    TRY(ordo_dict_upsert(rival->dict, ordo_at(fixture->on_announced, 0), ordo_at(fixture->on_rows, 0),
                         fixture->batch / 2, NULL));
    TRY(ordo_device_finish(fixture->device));
    rival->seconds.update += now() - before;
    return ORDO_OK;
}

static ordo_status ask(struct fixture *fixture, struct rival *rival, double *seconds)
{
    const double before = now();
    TRY(ordo_dict_seek(rival->dict, ORDO_LE, ordo_at(fixture->on_addresses, 0), fixture->per_round, ordo_none(),
                       ordo_at(fixture->on_answered, 0), ordo_at(fixture->on_found, 0), NULL));
    TRY(ordo_device_finish(fixture->device));
    *seconds = now() - before;
    return ORDO_OK;
}

/* Queries twice and keeps the second answers. */
static ordo_status question(struct fixture *fixture, struct rival *rival)
{
    double first = 0, again = 0;
    TRY(ask(fixture, rival, &first));
    TRY(ask(fixture, rival, &again));
    rival->seconds.resolve += first > again ? first - again : 0;
    rival->seconds.ask += again;
    TRY(device_read(fixture->device, fixture->on_answered, rival->answered, fixture->per_round * 4));
    return device_read(fixture->device, fixture->on_found, rival->found, fixture->per_round);
}

static void check(struct fixture *fixture, const uint32_t *addresses)
{
    struct change_answers answers[N_RIVALS];
    for (int r = 0; r < N_RIVALS; r++)
        answers[r] = (struct change_answers) { fixture->rivals[r].found, fixture->rivals[r].answered };
    change_check(&fixture->change, addresses, fixture->per_round, answers, N_RIVALS, &fixture->result);
}

static ordo_status play_round(struct fixture *fixture, const uint32_t *addresses)
{
    const size_t half = fixture->batch / 2;
    change_next(&fixture->change, half, fixture->announced, fixture->withdrawn);
    TRY(write_keys(fixture, fixture->on_withdrawn, fixture->withdrawn, half));
    TRY(write_keys(fixture, fixture->on_announced, fixture->announced, half));
    TRY(device_write(fixture->device, fixture->on_rows, fixture->announced, half * 4));
    TRY(device_write(fixture->device, fixture->on_addresses, addresses, fixture->per_round * 4));
    for (int r = 0; r < N_RIVALS; r++) {
        TRY(update(fixture, &fixture->rivals[r]));
        TRY(question(fixture, &fixture->rivals[r]));
    }
    check(fixture, addresses);
    return ORDO_OK;
}

/* Plays rounds from the same beginning, with the next `per_round` addresses each. */
static ordo_status play(struct fixture *fixture, size_t batch, int rounds, size_t per_round)
{
    fixture->batch = batch;
    fixture->per_round = per_round;
    fixture->wrong += fixture->result.wrong;
    fixture->result = (struct change_result) { 0 };
    TRY(begin(fixture));
    for (int round = 0; round < rounds; round++) {
        const size_t at = (size_t) round * per_round;
        progress("%d of %d", round + 1, rounds);
        TRY(play_round(fixture, fixture->addresses + (at + per_round <= fixture->count ? at : 0)));
    }
    return ORDO_OK;
}

/* Plays few queries first, to build the kernels. */
static ordo_status play_twice(struct fixture *fixture, size_t batch, int rounds, size_t per_round)
{
    char changes[TEXT_BYTES];
    text_grouped(changes, batch);

    progress_about("batches of %s changes, building kernels", changes);
    TRY(play(fixture, batch, rounds, per_round < 1000 ? per_round : 1000));
    progress_about("batches of %s changes", changes);
    const ordo_status got = play(fixture, batch, rounds, per_round);
    progress_about("%s", "");
    return got;
}

/* ---- what came out ------------------------------------------------------------------------------------------- */

static const char *const names[N_RIVALS] = { "LSM", "sorted array" };

static void show_rivals(const struct fixture *fixture, FILE *out, cJSON *json)
{
    static const struct column columns[] = { { "", 12, true },
                                             { "a batch", 10, false },
                                             { "changes /s", 10, false },
                                             { "resolving", 10, false },
                                             { "addresses /s", 12, false } };
    const struct table         table = { out, columns, sizeof columns / sizeof *columns };
    const double               rounds = ROUNDS;
    table_head(&table);
    for (int r = 0; r < N_RIVALS; r++) {
        const struct seconds *seconds = &fixture->rivals[r].seconds;
        char                  batch[TEXT_BYTES], changes[TEXT_BYTES], resolve[TEXT_BYTES];
        const double          per_second = rounds * (double) fixture->batch / seconds->update;
        const double          asked = rounds * (double) fixture->per_round / seconds->ask;
        table_row(&table, (const char *[]) {
                              names[r], text_seconds(batch, seconds->update / rounds), text_rate(changes, per_second),
                              text_seconds(resolve, seconds->resolve / rounds), text_rate(TEXT, asked) });
        cJSON *entry = cJSON_AddObjectToObject(json, names[r]);
        json_number(entry, "changes_per_second", per_second);
        json_number(entry, "resolve_seconds", seconds->resolve / rounds);
        json_number(entry, "addresses_per_second", asked);
    }
}

/* The LSM is faster up to this number of queries per change. Infinity: always. Negative: never. */
static double crossover(const struct fixture *fixture, int rounds)
{
    double change[N_RIVALS], question_[N_RIVALS];
    for (int r = 0; r < N_RIVALS; r++) {
        const struct seconds *seconds = &fixture->rivals[r].seconds;
        change[r] = (seconds->update + seconds->resolve) / rounds / (double) fixture->batch;
        question_[r] = seconds->ask / rounds / (double) fixture->per_round;
    }
    const double saved = change[THE_ARRAY] - change[THE_LSM], lost = question_[THE_LSM] - question_[THE_ARRAY];
    if (lost <= 0)
        return saved >= 0 ? (double) INFINITY : -1;
    return saved / lost;
}

static char *text_crossover(char text[TEXT_BYTES], double questions)
{
    if (isinf(questions))
        snprintf(text, TEXT_BYTES, "any number");
    else if (questions < 0)
        snprintf(text, TEXT_BYTES, "none");
    else
        snprintf(text, TEXT_BYTES, questions < 10 ? "%.1f" : "%.0f", questions);
    return text;
}

/* Prints one batch size. */
static void show_crossover_row(const struct fixture *fixture, const struct table *table, cJSON *list)
{
    const double questions = crossover(fixture, CROSSOVER_ROUNDS);
    double       changes[N_RIVALS], asked[N_RIVALS];
    char         text[6][TEXT_BYTES];
    for (int r = 0; r < N_RIVALS; r++) {
        const struct seconds *seconds = &fixture->rivals[r].seconds;
        changes[r] = CROSSOVER_ROUNDS * (double) fixture->batch / (seconds->update + seconds->resolve);
        asked[r] = CROSSOVER_ROUNDS * (double) fixture->per_round / seconds->ask;
        text_rate(text[1 + r], changes[r]);
        text_rate(text[1 + N_RIVALS + r], asked[r]);
    }
    text_grouped(text[0], fixture->batch);
    text_crossover(text[5], questions);
    table_row(table, (const char *[]) { text[0], text[1], text[2], text[3], text[4], text[5] });

    cJSON *entry = json_append(list);
    json_exact(entry, "batch", (double) fixture->batch);
    json_number(entry, "lsm_changes_per_second", changes[THE_LSM]);
    json_number(entry, "array_changes_per_second", changes[THE_ARRAY]);
    json_number(entry, "lsm_addresses_per_second", asked[THE_LSM]);
    json_number(entry, "array_addresses_per_second", asked[THE_ARRAY]);
    json_number(entry, "lsm_ahead_to_addresses_per_change", questions);
}

/* Batches of a tenth of the table, and smaller by factors of four. */
static ordo_status show_crossover(struct fixture *fixture, FILE *out, cJSON *json)
{
    static const struct column columns[] = { { "changes a batch", 15, false }, { "LSM /s", 8, false },
                                             { "array /s", 8, false },         { "LSM asked /s", 12, false },
                                             { "array asked /s", 14, false },  { "LSM is faster", 13, false } };
    const struct table         table = { out, columns, sizeof columns / sizeof *columns };
    cJSON                     *list = cJSON_AddArrayToObject(json, "crossover");
    const size_t               most = ordo_device_facts(fixture->device)->cpu ? CPU_CROSSOVER : CROSSOVER_COUNT;
    const size_t               per_round = fixture->count < most ? fixture->count : most;

    table_head(&table);
    for (size_t batch = fixture->geoip->count / 10; batch >= 100; batch /= 4) {
        TRY(play_twice(fixture, batch / 2 * 2, CROSSOVER_ROUNDS, per_round));
        show_crossover_row(fixture, &table, list);
    }
    return ORDO_OK;
}

static void show_verdict(const struct fixture *fixture, FILE *out, cJSON *json)
{
    const struct change_result *result = &fixture->result;
    char                        checked[TEXT_BYTES], wrong[TEXT_BYTES], withdrawn[TEXT_BYTES];
    text_grouped(checked, result->checked);
    if (result->wrong)
        say(out, 0, "\nWRONG: %s of %s answers differ from the host's, such as that for address %" PRIu32 "\n\n",
            text_grouped(wrong, result->wrong), checked, result->example);
    else
        say(out, 0, "\nok: all %s answers agree with the host's; %s addresses lay in a range just then withdrawn\n\n",
            checked, text_grouped(withdrawn, result->withdrawn));
    json_exact(json, "checked", (double) result->checked);
    json_exact(json, "wrong", (double) result->wrong);
    json_exact(json, "withdrawn", (double) result->withdrawn);
}

static ordo_status report_change(struct fixture *fixture, FILE *out, cJSON *json)
{
    const size_t half = fixture->geoip->count / 20, per_round = fixture->count < ROUNDS ? 1 : fixture->count / ROUNDS;
    TRY(play_twice(fixture, 2 * half, ROUNDS, per_round));
    say(out, 0,
        "ranges that change: %d batches, each announces %s ranges and withdraws as many. After each, %s addresses ask, "
        "twice, for the last range that begins at or before them; resolving is what takes longer the first time\n\n",
        ROUNDS, text_grouped(TEXT, half), text_grouped(TEXT, per_round));
    show_rivals(fixture, out, json);
    show_verdict(fixture, out, json);
    return ORDO_OK;
}

static ordo_status report_crossover(struct fixture *fixture, FILE *out, cJSON *json)
{
    say(out, 0,
        "changes and queries a second, by the changes in a batch (resolving counts as part of them). The sorted array "
        "answers queries faster, and the LSM often takes changes faster. The last column: up to so many queries per "
        "change the LSM needs less time in all; none: the array takes these changes faster too\n\n");
    TRY(show_crossover(fixture, out, json));
    fixture->wrong += fixture->result.wrong;
    fixture->result.wrong = 0;
    if (fixture->wrong)
        say(out, 0, "\nWRONG: %zu answers differ from the host's", fixture->wrong);
    return ORDO_OK;
}

static ordo_status report_dicts(struct fixture *fixture, FILE *out, cJSON *json)
{
    TRY(report_change(fixture, out, json));
    return report_crossover(fixture, out, json);
}

static ordo_status open_rivals(struct fixture *fixture)
{
    const struct ordo_dict_config dict = { .key = ORDO_U32, .value_bytes = 4 };
    TRY(ordo_lsm_create(fixture->device, ordo_lsm_config(.dict = dict), &fixture->rivals[THE_LSM].dict));
    return ordo_sorted_array_create(fixture->device, ordo_sorted_array_config(.dict = dict),
                                    &fixture->rivals[THE_ARRAY].dict);
}

ordo_status demo_dict(ordo_device *device, const struct geoip *geoip, const uint32_t *addresses, size_t count,
                      FILE *out, cJSON *json, size_t *wrong, char *why)
{
    struct fixture fixture = { .device = device, .geoip = geoip, .addresses = addresses, .count = count };
    if (geoip->count < RANGES_MIN) {
        fprintf(out, "%zu ranges are too few to watch them change\n", geoip->count);
        return ORDO_OK;
    }
    ordo_status got = make_room(&fixture);
    if (got == ORDO_OK)
        got = open_rivals(&fixture);
    if (got == ORDO_OK)
        got = report_dicts(&fixture, out, cJSON_AddObjectToObject(json, "dictionaries"));
    device_why(device, got, why);
    *wrong += fixture.wrong;
    close_fixture(&fixture);
    return got;
}
