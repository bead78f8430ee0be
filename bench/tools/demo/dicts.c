/* SPDX-License-Identifier: Apache-2.0 */
#include "parts.h"

#include "bench/common/device.h"
#include "bench/common/timing.h"
#include "ranges.h"

#include "ordo/ordo.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define ROUNDS           20
#define CROSSOVER_ROUNDS 16
#define CROSSOVER_COUNT  ((size_t) 1 << 17) /* addresses a round; on a CPU: */
#define CPU_CROSSOVER    ((size_t) 1 << 15)
#define LEAST_RANGES     100

/* ---- who takes part ------------------------------------------------------------------------------------------ */

/* Seconds of all rounds together. */
struct seconds {
    double update;
    double resolve; /* what the first questions after an update take more than the same ones again */
    double ask;
};

struct rival {
    ordo_dict     *dict;
    struct seconds seconds;
    uint32_t      *answered; /* of a round */
    uint8_t       *found;
};

enum { THE_LSM, THE_ARRAY, N_RIVALS };

struct scene {
    ordo_device        *device;
    const struct geoip *geoip;
    const uint32_t     *addresses;
    size_t              count; /* addresses */

    struct change        change;
    struct rival         rivals[N_RIVALS];
    size_t               batch;                               /* changes: half announcements, half withdrawals */
    size_t               per_round;                           /* addresses */
    uint32_t            *announced, *withdrawn, *keys;        /* room for all ranges */
    cl_mem               on_announced, on_rows, on_withdrawn; /* the batch on the device; rows: of those announced */
    cl_mem               on_addresses, on_answered, on_found;
    struct change_result result; /* of the rounds being played */
    size_t               wrong;  /* answers of those played before */
};

static ordo_status make_room(struct scene *scene)
{
    const size_t ranges = scene->geoip->count, asked = scene->count;
    scene->announced = malloc(ranges * 4);
    scene->withdrawn = malloc(ranges * 4);
    scene->keys = malloc(ranges * 4);
    bool made = scene->announced && scene->withdrawn && scene->keys;
    for (int r = 0; r < N_RIVALS; r++) {
        struct rival *rival = &scene->rivals[r];
        rival->answered = malloc(asked * 4);
        rival->found = malloc(asked);
        made = made && rival->answered && rival->found;
    }
    if (!made)
        return ORDO_NO_HOST_MEMORY;
    TRY(device_buffer(scene->device, ranges * 4, &scene->on_announced));
    TRY(device_buffer(scene->device, ranges * 4, &scene->on_rows));
    TRY(device_buffer(scene->device, ranges * 4, &scene->on_withdrawn));
    TRY(device_buffer(scene->device, asked * 4, &scene->on_addresses));
    TRY(device_buffer(scene->device, asked * 4, &scene->on_answered));
    return device_buffer(scene->device, asked, &scene->on_found);
}

static void close_scene(struct scene *scene)
{
    const cl_mem all[] = { scene->on_announced, scene->on_rows,     scene->on_withdrawn,
                           scene->on_addresses, scene->on_answered, scene->on_found };
    for (int r = 0; r < N_RIVALS; r++) {
        ordo_dict_destroy(&scene->rivals[r].dict);
        free(scene->rivals[r].answered);
        free(scene->rivals[r].found);
    }
    device_release(all, sizeof all / sizeof *all);
    free(scene->announced);
    free(scene->withdrawn);
    free(scene->keys);
    change_free(&scene->change);
}

/* ---- a round: change, then questions ------------------------------------------------------------------------- */

static ordo_status write_keys(struct scene *scene, cl_mem to, const uint32_t *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        scene->keys[i] = scene->geoip->first[rows[i]];
    return device_write(scene->device, to, scene->keys, count * 4);
}

/* Both dictionaries hold what is announced at the beginning: first address to row. */
static ordo_status begin(struct scene *scene)
{
    change_free(&scene->change);
    if (!change_make(scene->geoip, &scene->change))
        return ORDO_NO_HOST_MEMORY;
    const size_t count = scene->change.announced;
    TRY(write_keys(scene, scene->on_announced, scene->change.rows, count));
    TRY(device_write(scene->device, scene->on_rows, scene->change.rows, count * 4));
    for (int r = 0; r < N_RIVALS; r++) {
        scene->rivals[r].seconds = (struct seconds) { 0 };
        TRY(ordo_dict_build(scene->rivals[r].dict, ordo_at(scene->on_announced, 0), ordo_at(scene->on_rows, 0), count,
                            NULL));
    }
    return ordo_device_finish(scene->device);
}

static ordo_status update(struct scene *scene, struct rival *rival)
{
    const double before = now();
    TRY(ordo_dict_erase(rival->dict, ordo_at(scene->on_withdrawn, 0), scene->batch / 2, NULL));
    TRY(ordo_dict_upsert(rival->dict, ordo_at(scene->on_announced, 0), ordo_at(scene->on_rows, 0), scene->batch / 2,
                         NULL));
    TRY(ordo_device_finish(scene->device));
    rival->seconds.update += now() - before;
    return ORDO_OK;
}

static ordo_status ask(struct scene *scene, struct rival *rival, double *seconds)
{
    const double before = now();
    TRY(ordo_dict_seek(rival->dict, ORDO_LE, ordo_at(scene->on_addresses, 0), scene->per_round, ordo_none(),
                       ordo_at(scene->on_answered, 0), ordo_at(scene->on_found, 0), NULL));
    TRY(ordo_device_finish(scene->device));
    *seconds = now() - before;
    return ORDO_OK;
}

/* Asks twice; the answers of the second time are the round's. */
static ordo_status question(struct scene *scene, struct rival *rival)
{
    double first = 0, again = 0;
    TRY(ask(scene, rival, &first));
    TRY(ask(scene, rival, &again));
    rival->seconds.resolve += first > again ? first - again : 0;
    rival->seconds.ask += again;
    TRY(device_read(scene->device, scene->on_answered, rival->answered, scene->per_round * 4));
    return device_read(scene->device, scene->on_found, rival->found, scene->per_round);
}

static void check(struct scene *scene, const uint32_t *addresses)
{
    struct change_answers answers[N_RIVALS];
    for (int r = 0; r < N_RIVALS; r++)
        answers[r] = (struct change_answers) { scene->rivals[r].found, scene->rivals[r].answered };
    change_check(&scene->change, addresses, scene->per_round, answers, N_RIVALS, &scene->result);
}

static ordo_status play_round(struct scene *scene, const uint32_t *addresses)
{
    const size_t half = scene->batch / 2;
    change_next(&scene->change, half, scene->announced, scene->withdrawn);
    TRY(write_keys(scene, scene->on_withdrawn, scene->withdrawn, half));
    TRY(write_keys(scene, scene->on_announced, scene->announced, half));
    TRY(device_write(scene->device, scene->on_rows, scene->announced, half * 4));
    TRY(device_write(scene->device, scene->on_addresses, addresses, scene->per_round * 4));
    for (int r = 0; r < N_RIVALS; r++) {
        TRY(update(scene, &scene->rivals[r]));
        TRY(question(scene, &scene->rivals[r]));
    }
    check(scene, addresses);
    return ORDO_OK;
}

/* Rounds from the same beginning; each asks for the next `per_round` addresses. */
static ordo_status play(struct scene *scene, size_t batch, int rounds, size_t per_round)
{
    scene->batch = batch;
    scene->per_round = per_round;
    scene->wrong += scene->result.wrong;
    scene->result = (struct change_result) { 0 };
    TRY(begin(scene));
    for (int round = 0; round < rounds; round++) {
        const size_t at = (size_t) round * per_round;
        progress("%d of %d", round + 1, rounds);
        TRY(play_round(scene, scene->addresses + (at + per_round <= scene->count ? at : 0)));
    }
    return ORDO_OK;
}

/* A first time with few questions builds the kernels. */
static ordo_status play_twice(struct scene *scene, size_t batch, int rounds, size_t per_round)
{
    char changes[TEXT_BYTES];
    text_grouped(changes, batch);

    progress_about("batches of %s changes, building kernels", changes);
    TRY(play(scene, batch, rounds, per_round < 1000 ? per_round : 1000));
    progress_about("batches of %s changes", changes);
    const ordo_status got = play(scene, batch, rounds, per_round);
    progress_about("%s", "");
    return got;
}

/* ---- what came out ------------------------------------------------------------------------------------------- */

static const char *const names[N_RIVALS] = { "LSM", "sorted array" };

static void show_rivals(const struct scene *scene, FILE *out, cJSON *json)
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
        const struct seconds *seconds = &scene->rivals[r].seconds;
        char                  batch[TEXT_BYTES], changes[TEXT_BYTES], resolve[TEXT_BYTES], rate[TEXT_BYTES];
        const double          per_second = rounds * (double) scene->batch / seconds->update;
        const double          asked = rounds * (double) scene->per_round / seconds->ask;
        table_row(&table, (const char *[]) {
                              names[r], text_seconds(batch, seconds->update / rounds), text_rate(changes, per_second),
                              text_seconds(resolve, seconds->resolve / rounds), text_rate(rate, asked) });
        cJSON *entry = cJSON_AddObjectToObject(json, names[r]);
        json_number(entry, "changes_per_second", per_second);
        json_number(entry, "resolve_seconds", seconds->resolve / rounds);
        json_number(entry, "addresses_per_second", asked);
    }
}

/* Questions per change up to which the LSM is ahead; infinity if it always is, negative if it never is. */
static double crossover(const struct scene *scene, int rounds)
{
    double change[N_RIVALS], question_[N_RIVALS];
    for (int r = 0; r < N_RIVALS; r++) {
        const struct seconds *seconds = &scene->rivals[r].seconds;
        change[r] = (seconds->update + seconds->resolve) / rounds / (double) scene->batch;
        question_[r] = seconds->ask / rounds / (double) scene->per_round;
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

/* One batch size: changes and addresses a second of each, and the crossover. */
static void show_crossover_row(const struct scene *scene, const struct table *table, cJSON *list)
{
    const double questions = crossover(scene, CROSSOVER_ROUNDS);
    double       changes[N_RIVALS], asked[N_RIVALS];
    char         text[6][TEXT_BYTES];
    for (int r = 0; r < N_RIVALS; r++) {
        const struct seconds *seconds = &scene->rivals[r].seconds;
        changes[r] = CROSSOVER_ROUNDS * (double) scene->batch / (seconds->update + seconds->resolve);
        asked[r] = CROSSOVER_ROUNDS * (double) scene->per_round / seconds->ask;
        text_rate(text[1 + r], changes[r]);
        text_rate(text[1 + N_RIVALS + r], asked[r]);
    }
    text_grouped(text[0], scene->batch);
    text_crossover(text[5], questions);
    table_row(table, (const char *[]) { text[0], text[1], text[2], text[3], text[4], text[5] });

    cJSON *entry = cJSON_CreateObject();
    json_exact(entry, "batch", (double) scene->batch);
    json_number(entry, "lsm_changes_per_second", changes[THE_LSM]);
    json_number(entry, "array_changes_per_second", changes[THE_ARRAY]);
    json_number(entry, "lsm_addresses_per_second", asked[THE_LSM]);
    json_number(entry, "array_addresses_per_second", asked[THE_ARRAY]);
    json_number(entry, "lsm_ahead_to_addresses_per_change", questions);
    cJSON_AddItemToArray(list, entry);
}

/* A tenth of the table, and less by factors of four. */
static ordo_status show_crossover(struct scene *scene, FILE *out, cJSON *json)
{
    static const struct column columns[] = { { "changes a batch", 15, false }, { "LSM /s", 8, false },
                                             { "array /s", 8, false },         { "LSM asked /s", 12, false },
                                             { "array asked /s", 14, false },  { "LSM is faster", 13, false } };
    const struct table         table = { out, columns, sizeof columns / sizeof *columns };
    cJSON                     *list = cJSON_AddArrayToObject(json, "crossover");
    const size_t               most = ordo_device_facts(scene->device)->cpu ? CPU_CROSSOVER : CROSSOVER_COUNT;
    const size_t               per_round = scene->count < most ? scene->count : most;

    table_head(&table);
    for (size_t batch = scene->geoip->count / 10; batch >= 100; batch /= 4) {
        TRY(play_twice(scene, batch / 2 * 2, CROSSOVER_ROUNDS, per_round));
        show_crossover_row(scene, &table, list);
    }
    return ORDO_OK;
}

/* Of the rounds played last. */
static void show_verdict(const struct scene *scene, FILE *out, cJSON *json)
{
    const struct change_result *result = &scene->result;
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

static ordo_status report_change(struct scene *scene, FILE *out, cJSON *json)
{
    const size_t half = scene->geoip->count / 20, per_round = scene->count < ROUNDS ? 1 : scene->count / ROUNDS;
    char         changes[TEXT_BYTES], asked[TEXT_BYTES];
    TRY(play_twice(scene, 2 * half, ROUNDS, per_round));
    say(out, 0,
        "ranges that change: %d batches, each announces %s ranges and withdraws as many. After each, %s addresses ask, "
        "twice, for the last range that begins at or before them; resolving is what takes longer the first time\n\n",
        ROUNDS, text_grouped(changes, half), text_grouped(asked, per_round));
    show_rivals(scene, out, json);
    show_verdict(scene, out, json);
    return ORDO_OK;
}

static ordo_status report_crossover(struct scene *scene, FILE *out, cJSON *json)
{
    say(out, 0,
        "changes and queries a second, by the changes in a batch (resolving counts as part of them). The sorted array "
        "answers queries faster, and the LSM often takes changes faster. The last column: up to so many queries per "
        "change the LSM needs less time in all; none: the array takes these changes faster too\n\n");
    TRY(show_crossover(scene, out, json));
    scene->wrong += scene->result.wrong;
    scene->result.wrong = 0;
    if (scene->wrong)
        say(out, 0, "\nWRONG: %zu answers differ from the host's", scene->wrong);
    return ORDO_OK;
}

static ordo_status report_dicts(struct scene *scene, FILE *out, cJSON *json)
{
    TRY(report_change(scene, out, json));
    return report_crossover(scene, out, json);
}

static ordo_status open_rivals(struct scene *scene)
{
    const struct ordo_dict_config dict = { .key = ORDO_U32, .value_bytes = 4 };
    TRY(ordo_lsm_create(scene->device, ordo_lsm_config(.dict = dict), &scene->rivals[THE_LSM].dict));
    return ordo_sorted_array_create(scene->device, ordo_sorted_array_config(.dict = dict),
                                    &scene->rivals[THE_ARRAY].dict);
}

ordo_status demo_dict(ordo_device *device, const struct geoip *geoip, const uint32_t *addresses, size_t count,
                      FILE *out, cJSON *json, size_t *wrong, char *why, size_t why_bytes)
{
    struct scene scene = { .device = device, .geoip = geoip, .addresses = addresses, .count = count };
    if (geoip->count < LEAST_RANGES) {
        fprintf(out, "%zu ranges are too few to watch them change\n", geoip->count);
        return ORDO_OK;
    }
    ordo_status got = make_room(&scene);
    if (got == ORDO_OK)
        got = open_rivals(&scene);
    if (got == ORDO_OK)
        got = report_dicts(&scene, out, cJSON_AddObjectToObject(json, "dictionaries"));
    if (got != ORDO_OK && ordo_device_last_error(device, why, why_bytes) <= 1)
        snprintf(why, why_bytes, "%s", ordo_status_string(got));
    *wrong += scene.wrong;
    close_scene(&scene);
    return got;
}
