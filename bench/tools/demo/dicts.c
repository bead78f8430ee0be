/* SPDX-License-Identifier: Apache-2.0 */
#include "step.h"

#include "bench/workload/keys.h"

#include <math.h>

#define WHAT       "dictionaries"
#define STREAM     5 /* of draws */
#define ROUNDS     20
#define RANGES_MIN 100

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

struct rounds {
    struct demo *demo;
    uint32_t    *rows; /* announced rows first */
    size_t       announced;
    uint32_t    *nearest; /* per row: the nearest announced row at or before it, or the number of ranges */
    uint64_t     draws;   /* so far */

    struct entrant entrants[N_STRUCTURES_HERE];
    size_t         half, per_round; /* announcements, and as many withdrawals, a round; addresses a round */
    uint32_t      *keys;            /* size: all ranges */
    cl_mem         at[N_BUFFERS];
    struct verdict verdict; /* of the current rounds */
};

static struct ordo_slice at(const struct rounds *r, int buffer)
{
    return ordo_at(r->at[buffer], 0);
}

static void swap(uint32_t *rows, size_t a, size_t b)
{
    const uint32_t row = rows[a];
    rows[a] = rows[b];
    rows[b] = row;
}

/* Moves `count` random rows of rows[from .. end - 1] to its end. */
static void choose(struct rounds *r, size_t from, size_t end, size_t count)
{
    for (; count > 0 && from < end; count--, end--)
        swap(r->rows, end - 1, from + draw(STREAM, r->draws++) % (end - from));
}

static void find_nearest(struct rounds *r)
{
    const size_t count = r->demo->geoip.count;
    for (size_t row = 0; row < count; row++)
        r->nearest[row] = (uint32_t) count;
    for (size_t i = 0; i < r->announced; i++)
        r->nearest[r->rows[i]] = r->rows[i];
    for (size_t row = 1; row < count; row++)
        if (r->nearest[row] == count)
            r->nearest[row] = r->nearest[row - 1];
}

/* Moves the first addresses of rows to a buffer. */
static void write_keys(struct rounds *r, int to, const uint32_t *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        r->keys[i] = r->demo->geoip.first[rows[i]];
    to_device(r->demo, r->at[to], r->keys, count * 4);
}

static void write_announced(struct rounds *r, const uint32_t *rows, size_t count)
{
    write_keys(r, ANNOUNCED, rows, count);
    to_device(r->demo, r->at[ANNOUNCED_ROWS], rows, count * 4);
}

/* Announces nine tenths of the ranges, the same in every run, and fills the structures: first address to row. */
static void begin(struct rounds *r)
{
    const size_t count = r->demo->geoip.count;
    r->announced = count - count / 10;
    r->draws = 0;
    for (size_t i = 0; i < count; i++)
        r->rows[i] = (uint32_t) i;
    choose(r, 0, count, count - r->announced);
    find_nearest(r);
    write_announced(r, r->rows, r->announced);
    for (struct entrant *e = r->entrants; e < r->entrants + N_STRUCTURES_HERE; e++) {
        e->update = e->resolve = e->ask = 0;
        must(r->demo, WHAT, ordo_dict_build(e->dict, at(r, ANNOUNCED), at(r, ANNOUNCED_ROWS), r->announced, NULL));
    }
    must(r->demo, WHAT, ordo_device_finish(r->demo->device));
}

/* Announces half a batch of ranges and withdraws as many others. */
static void change(struct rounds *r)
{
    const size_t all = r->demo->geoip.count, half = r->half;
    uint32_t    *withdrawn = r->rows + r->announced - half, *announced = r->rows + all - half;
    choose(r, 0, r->announced, half);
    choose(r, r->announced, all, half);
    write_keys(r, WITHDRAWN, withdrawn, half);
    write_announced(r, announced, half);
    for (size_t i = 0; i < half; i++)
        swap(withdrawn, i, (size_t) (announced - withdrawn) + i);
    find_nearest(r);
}

/* Changes, then queries twice and keeps the second answers. */
static void take_turn(const struct rounds *r, struct entrant *e)
{
    double seconds[2], since = now();
    must(r->demo, WHAT, ordo_dict_erase(e->dict, at(r, WITHDRAWN), r->half, NULL));
    must(r->demo, WHAT, ordo_dict_upsert(e->dict, at(r, ANNOUNCED), at(r, ANNOUNCED_ROWS), r->half, NULL));
    e->update += seconds_since(r->demo, WHAT, since);
    for (int time = 0; time < 2; time++) {
        since = now();
        must(r->demo, WHAT,
             ordo_dict_seek(e->dict, ORDO_LE, at(r, ADDRESSES), r->per_round, ordo_none(), at(r, ANSWERED),
                            at(r, FOUND), NULL));
        seconds[time] = seconds_since(r->demo, WHAT, since);
    }
    e->resolve += fmax(0, seconds[0] - seconds[1]);
    e->ask += seconds[1];
    from_device(r->demo, r->at[ANSWERED], e->answered, r->per_round * 4);
    from_device(r->demo, r->at[FOUND], e->found, r->per_round);
}

/* Runs rounds from the same beginning, with the next `per_round` addresses each. */
static void run_rounds(struct rounds *r, size_t per_round)
{
    const struct demo *demo = r->demo;
    struct answers     answers[N_STRUCTURES_HERE];
    r->per_round = per_round;
    begin(r);
    for (size_t round = 0; round < ROUNDS; round++) {
        const size_t    first = round * per_round;
        const uint32_t *addresses = demo->addresses + (first + per_round <= demo->count ? first : 0);
        progress("%zu of %d", round + 1, ROUNDS);
        change(r);
        to_device(demo, r->at[ADDRESSES], addresses, per_round * 4);
        for (struct entrant *e = r->entrants; e < r->entrants + N_STRUCTURES_HERE; e++) {
            take_turn(r, e);
            answers[e - r->entrants] = (struct answers) { e->found, e->answered };
        }
        check_answers(&demo->geoip, ASK_NEAREST, r->nearest, addresses, per_round, answers, N_STRUCTURES_HERE,
                      &r->verdict);
    }
}

static void show_structures(const struct rounds *r, cJSON *json)
{
    static const struct column columns[] = { { "", 12, true },
                                             { "a batch", 10, false },
                                             { "changes /s", 10, false },
                                             { "resolving", 10, false },
                                             { "addresses /s", 12, false } };
    const struct table         table = { r->demo->out, columns, sizeof columns / sizeof *columns };
    table_head(&table);
    for (int s = 0; s < N_STRUCTURES_HERE; s++) {
        const struct entrant *e = &r->entrants[s];
        const double          changes = 2.0 * ROUNDS * (double) r->half / e->update;
        const double          asked = ROUNDS * (double) r->per_round / e->ask;
        table_row(&table, (const char *[]) { names[s], text_seconds(TEXT, e->update / ROUNDS), text_rate(TEXT, changes),
                                             text_seconds(TEXT, e->resolve / ROUNDS), text_rate(TEXT, asked) });
        cJSON *entry = cJSON_AddObjectToObject(json, names[s]);
        json_number(entry, "changes_per_second", changes);
        json_number(entry, "resolve_seconds", e->resolve / ROUNDS);
        json_number(entry, "addresses_per_second", asked);
    }
}

/* Runs few queries first, to build the kernels. */
static void show_all(struct rounds *r, cJSON *json)
{
    struct demo *demo = r->demo;
    const size_t per_round = demo->count < ROUNDS ? 1 : demo->count / ROUNDS;
    r->half = demo->geoip.count / 20;
    progress_about("%s", "ranges that change, building kernels");
    run_rounds(r, per_round < 1000 ? per_round : 1000);
    demo->wrong += r->verdict.wrong;
    r->verdict = (struct verdict) { 0 };
    progress_about("%s", "ranges that change");
    run_rounds(r, per_round);
    progress_about("%s", "");
    say(demo->out, 0,
        "ranges that change: %d batches, each announces %s ranges and withdraws as many. After each, %s addresses ask, "
        "twice, for the last range that begins at or before them; resolving is what takes longer the first time\n\n",
        ROUNDS, text_grouped(TEXT, r->half), text_grouped(TEXT, per_round));
    show_structures(r, json);
    fprintf(demo->out, "\n");
    if (keep_verdict(demo, &r->verdict, json))
        say(demo->out, 0, "ok: all %s answers agree with the host's; %s addresses lay in a range just then withdrawn\n",
            text_grouped(TEXT, r->verdict.checked), text_grouped(TEXT, r->verdict.withdrawn));
    json_exact(json, "withdrawn", (double) r->verdict.withdrawn);
}

void demo_dicts(struct demo *demo)
{
    const size_t ranges = demo->geoip.count, asked = demo->count;
    const size_t bytes[N_BUFFERS] = { ranges * 4, ranges * 4, ranges * 4, asked * 4, asked * 4, asked };
    const struct ordo_dict_config dict = { .key = ORDO_U32, .value_bytes = 4 };
    if (ranges < RANGES_MIN) {
        fprintf(demo->out, "%zu ranges are too few to watch them change\n", ranges);
        return;
    }
    struct rounds r = { .demo = demo, .rows = room(ranges * 4), .nearest = room(ranges * 4), .keys = room(ranges * 4) };
    for (int b = 0; b < N_BUFFERS; b++)
        r.at[b] = on_device(demo, bytes[b], NULL);
    must(demo, WHAT, ordo_lsm_create(demo->device, ordo_lsm_config(.dict = dict), &r.entrants[THE_LSM].dict));
    must(demo, WHAT,
         ordo_sorted_array_create(demo->device, ordo_sorted_array_config(.dict = dict), &r.entrants[THE_ARRAY].dict));
    for (struct entrant *e = r.entrants; e < r.entrants + N_STRUCTURES_HERE; e++) {
        e->answered = room(asked * 4);
        e->found = room(asked);
    }
    show_all(&r, cJSON_AddObjectToObject(demo->json, "dictionaries"));
    for (struct entrant *e = r.entrants; e < r.entrants + N_STRUCTURES_HERE; e++) {
        ordo_dict_destroy(&e->dict);
        free(e->answered);
        free(e->found);
    }
    device_release(r.at, N_BUFFERS);
    free(r.rows);
    free(r.nearest);
    free(r.keys);
}
