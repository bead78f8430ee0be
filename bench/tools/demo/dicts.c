/* SPDX-License-Identifier: Apache-2.0 */
#include "step.h"

#include "bench/workload/keys.h"

#include <math.h>

#define WHAT             "dictionaries"
#define STREAM           5 /* of draws */
#define ROUNDS           20
#define CROSSOVER_ROUNDS 16
#define CROSSOVER_COUNT  ((size_t) 1 << 17) /* addresses a round; on a CPU: */
#define CPU_CROSSOVER    ((size_t) 1 << 15)
#define RANGES_MIN       100

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
    size_t         n, batch, per_round; /* a batch: half announcements, half withdrawals; addresses a round */
    uint32_t      *keys;                /* size: all ranges */
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
    const size_t all = r->demo->geoip.count, half = r->batch / 2;
    uint32_t    *withdrawn = r->rows + r->announced - half, *announced = r->rows + all - half;
    choose(r, 0, r->announced, half);
    choose(r, r->announced, all, half);
    write_keys(r, WITHDRAWN, withdrawn, half);
    write_announced(r, announced, half);
    for (size_t i = 0; i < half; i++)
        swap(withdrawn, i, (size_t) (announced - withdrawn) + i);
    find_nearest(r);
}

static void update(const struct rounds *r, struct entrant *e)
{
    const double before = now();
    must(r->demo, WHAT, ordo_dict_erase(e->dict, at(r, WITHDRAWN), r->batch / 2, NULL));
    must(r->demo, WHAT, ordo_dict_upsert(e->dict, at(r, ANNOUNCED), at(r, ANNOUNCED_ROWS), r->batch / 2, NULL));
    e->update += seconds_since(r->demo, WHAT, before);
}

/* Queries twice and keeps the second answers. */
static void query(const struct rounds *r, struct entrant *e)
{
    double seconds[2];
    for (int time = 0; time < 2; time++) {
        const double before = now();
        must(r->demo, WHAT,
             ordo_dict_seek(e->dict, ORDO_LE, at(r, ADDRESSES), r->per_round, ordo_none(), at(r, ANSWERED),
                            at(r, FOUND), NULL));
        seconds[time] = seconds_since(r->demo, WHAT, before);
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
    for (size_t round = 0; round < r->n; round++) {
        const size_t    first = round * per_round;
        const uint32_t *addresses = demo->addresses + (first + per_round <= demo->count ? first : 0);
        progress("%zu of %zu", round + 1, r->n);
        change(r);
        to_device(demo, r->at[ADDRESSES], addresses, per_round * 4);
        for (struct entrant *e = r->entrants; e < r->entrants + N_STRUCTURES_HERE; e++) {
            update(r, e);
            query(r, e);
            answers[e - r->entrants] = (struct answers) { e->found, e->answered };
        }
        check_answers(&demo->geoip, ASK_NEAREST, r->nearest, addresses, per_round, answers, N_STRUCTURES_HERE,
                      &r->verdict);
    }
}

/* Runs few queries first, to build the kernels. */
static void run_twice(struct rounds *r, size_t batch, size_t n, size_t per_round)
{
    r->batch = batch;
    r->n = n;
    progress_about("batches of %s changes, building kernels", text_grouped(TEXT, batch));
    run_rounds(r, per_round < 1000 ? per_round : 1000);
    r->demo->wrong += r->verdict.wrong;
    r->verdict = (struct verdict) { 0 };
    progress_about("batches of %s changes", text_grouped(TEXT, batch));
    run_rounds(r, per_round);
    progress_about("%s", "");
}

/* Means of a round, and operations a second, the changes with and without resolving. */
struct rates {
    double update, resolve, changes, all_changes, asked;
};

static struct rates rates_of(const struct rounds *r, int structure)
{
    const struct entrant *e = &r->entrants[structure];
    const double          n = (double) r->n, changed = n * (double) r->batch;
    return (struct rates) { .update = e->update / n,
                            .resolve = e->resolve / n,
                            .changes = changed / e->update,
                            .all_changes = changed / (e->update + e->resolve),
                            .asked = n * (double) r->per_round / e->ask };
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
        const struct rates rates = rates_of(r, s);
        table_row(&table, (const char *[]) { names[s], text_seconds(TEXT, rates.update), text_rate(TEXT, rates.changes),
                                             text_seconds(TEXT, rates.resolve), text_rate(TEXT, rates.asked) });
        cJSON *entry = cJSON_AddObjectToObject(json, names[s]);
        json_number(entry, "changes_per_second", rates.changes);
        json_number(entry, "resolve_seconds", rates.resolve);
        json_number(entry, "addresses_per_second", rates.asked);
    }
}

/* The LSM is faster up to this number of queries per change. Infinity: always. Negative: never. */
static double crossover(struct rates lsm, struct rates array)
{
    const double saved = 1 / array.all_changes - 1 / lsm.all_changes, lost = 1 / lsm.asked - 1 / array.asked;
    return lost > 0 ? saved / lost : saved >= 0 ? (double) INFINITY : -1;
}

/* Batches of a tenth of the table, and smaller by factors of four. */
static void show_crossover(struct rounds *r, cJSON *json)
{
    static const struct column columns[] = { { "changes a batch", 15, false }, { "LSM /s", 8, false },
                                             { "array /s", 8, false },         { "LSM asked /s", 12, false },
                                             { "array asked /s", 14, false },  { "LSM is faster", 13, false } };
    const struct table         table = { r->demo->out, columns, sizeof columns / sizeof *columns };
    cJSON                     *list = cJSON_AddArrayToObject(json, "crossover");
    const size_t               most = r->demo->facts->cpu ? CPU_CROSSOVER : CROSSOVER_COUNT;
    table_head(&table);
    for (size_t batch = r->demo->geoip.count / 10; batch >= 100; batch /= 4) {
        run_twice(r, batch / 2 * 2, CROSSOVER_ROUNDS, r->demo->count < most ? r->demo->count : most);
        const struct rates lsm = rates_of(r, THE_LSM), array = rates_of(r, THE_ARRAY);
        const double       queries = crossover(lsm, array);
        char               ahead[TEXT_BYTES];
        snprintf(ahead, sizeof ahead, queries < 10 ? "%.1f" : "%.0f", queries);
        table_row(&table, (const char *[]) { text_grouped(TEXT, r->batch), text_rate(TEXT, lsm.all_changes),
                                             text_rate(TEXT, array.all_changes), text_rate(TEXT, lsm.asked),
                                             text_rate(TEXT, array.asked),
                                             isinf(queries) ? "any number"
                                             : queries < 0  ? "none"
                                                            : ahead });
        cJSON *entry = json_append(list);
        json_exact(entry, "batch", (double) r->batch);
        json_number(entry, "lsm_changes_per_second", lsm.all_changes);
        json_number(entry, "array_changes_per_second", array.all_changes);
        json_number(entry, "lsm_addresses_per_second", lsm.asked);
        json_number(entry, "array_addresses_per_second", array.asked);
        json_number(entry, "lsm_ahead_to_addresses_per_change", queries);
    }
}

static void show_all(struct rounds *r, cJSON *json)
{
    const struct demo *demo = r->demo;
    const size_t       half = demo->geoip.count / 20, wrong = demo->wrong;
    const size_t       per_round = demo->count < ROUNDS ? 1 : demo->count / ROUNDS;
    run_twice(r, 2 * half, ROUNDS, per_round);
    say(demo->out, 0,
        "ranges that change: %d batches, each announces %s ranges and withdraws as many. After each, %s addresses ask, "
        "twice, for the last range that begins at or before them; resolving is what takes longer the first time\n\n",
        ROUNDS, text_grouped(TEXT, half), text_grouped(TEXT, per_round));
    show_structures(r, json);
    fprintf(demo->out, "\n");
    if (keep_verdict(r->demo, &r->verdict, json))
        say(demo->out, 0,
            "ok: all %s answers agree with the host's; %s addresses lay in a range just then withdrawn\n\n",
            text_grouped(TEXT, r->verdict.checked), text_grouped(TEXT, r->verdict.withdrawn));
    json_exact(json, "withdrawn", (double) r->verdict.withdrawn);
    say(demo->out, 0,
        "changes and queries a second, by the changes in a batch (resolving counts as part of them). The sorted array "
        "answers queries faster, and the LSM often takes changes faster. The last column: up to so many queries per "
        "change the LSM needs less time in all; none: the array takes these changes faster too\n\n");
    r->verdict.wrong = 0; /* counted */
    show_crossover(r, json);
    r->demo->wrong += r->verdict.wrong;
    if (demo->wrong > wrong)
        say(demo->out, 0, "\nWRONG: %zu answers differ from the host's", demo->wrong - wrong);
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
