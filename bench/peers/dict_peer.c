/* SPDX-License-Identifier: Apache-2.0 */
#include "dict_peer.h"

#include "bench/common/threads.h"
#include "bench/workload/keys.h"
#include "host_map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if BENCH_MAPS

#define ELEMENTS_MOST ((size_t) 1 << 24)
/* Elements that a sorted array moves in all its batches. */
#define MOVES_MOST 0x1p31

/* ---- who can do what ----------------------------------------------------------------------------------------- */

enum ability { NOTHING, NODES, ANY, DEALT };

/* NODES: maps of nodes; ANY: the sorted array too; DEALT: on several threads as well. */
static enum ability ability_of(enum workload workload)
{
    switch (workload_on_device(workload)) {
    case FILLRANDOM:
    case FILLSEQ:
    case BUILD:
    case OVERWRITE:
    case DELETERANDOM:
    case INSERTRANDOM:
    case COMBINERANDOM:
    case CONCURRENTFILL:
    case CONCURRENTINSERT:
    case CONCURRENTREAD:
    case READRANDOM:
    case READMISSING:
    case SEEKRANDOM:
    case RANGERANDOM:
    case LONGESTPREFIX:
        return DEALT;
    case MIXED:
    case MIXEDSEEKS:
    case MIXEDPOINTS:
    case DELETERANGE:
    case QUEUE:
    case EXPIRY:
    case ORDERBOOK:
        return NODES;
    default:
        return NOTHING;
    }
}

/* Hash maps go by no order. */
static bool can(int kind, enum workload workload)
{
    const enum ability ability = ability_of(workload);
    if (kind == HOST_FLAT_HASH_MAP || kind == HOST_ROBIN_MAP)
        return ability == DEALT && !workload_needs_order(workload);
    return ability != NOTHING;
}

static const char *query_text(enum workload workload, bool array)
{
    if (workload == SEEKRANDOM)
        return array ? "std::lower_bound" : "lower_bound";
    if (workload == LONGESTPREFIX)
        return array ? "std::upper_bound among stretches" : "upper_bound among stretches, then --";
    if (workload == RANGERANDOM)
        return array ? "std::lower_bound, then onwards" : "lower_bound, then ++";
    return array ? "std::lower_bound" : "find";
}

static const char *update_text(enum workload workload)
{
    switch (workload) {
    case DELETERANDOM:
        return "erase, one by one";
    case COMBINERANDOM:
        return "operator[] and +=, one by one";
    case DELETERANGE:
        return "erase(lower_bound, upper_bound)";
    case QUEUE:
        return "erase(begin, ...), insert_or_assign";
    case EXPIRY:
        return "insert_or_assign, erase(lower_bound, upper_bound)";
    case ORDERBOOK:
        return "operator[] and +=, begin, rbegin";
    case MIXED:
    case MIXEDSEEKS:
    case MIXEDPOINTS:
        return "the call of each operation, one by one";
    default:
        return "insert_or_assign, one by one";
    }
}

static void call_text(enum workload workload, int kind, int threads, char *text, size_t bytes)
{
    const bool array = kind == HOST_SORTED_ARRAY;
    if (plan_has_fills(workload))
        snprintf(text, bytes, "%s", query_text(workload, array));
    else
        snprintf(text, bytes, "%s%s", array ? "std::stable_sort of a batch, one merge" : update_text(workload),
                 threads > 1 ? "; a map a thread" : "");
}

static bool offered(const struct spec *spec, int kind, int threads)
{
    const enum ability ability = ability_of(spec->workload);
    const double       batches = (double) spec->count / (double) spec_batch(spec);
    if (!host_map_version((enum host_map_kind) kind) || !can(kind, spec->workload) || spec->count > ELEMENTS_MOST)
        return false;
    if (threads > 1 && ability != DEALT)
        return false;
    if (kind != HOST_SORTED_ARRAY)
        return true;
    return ability == DEALT && (plan_has_fills(spec->workload) || batches * (double) spec->count <= MOVES_MOST);
}

int dict_peers(const struct spec *spec, int threads, struct host_peer peers[MOST_HOST_PEERS])
{
    int n = 0;
    for (int kind = 0; kind < N_HOST_MAPS; kind++)
        for (int t = 1; t <= threads; t += threads > 1 ? threads - 1 : 1) {
            struct host_peer *peer = &peers[n];
            if (!offered(spec, kind, t))
                continue;
            *peer = (struct host_peer) { .kind = kind, .threads = t };
            snprintf(peer->name, sizeof peer->name, "%s", host_map_name((enum host_map_kind) kind));
            snprintf(peer->version, sizeof peer->version, "%s", host_map_version((enum host_map_kind) kind));
            call_text(spec->workload, kind, t, peer->call, sizeof peer->call);
            n++;
        }
    return n;
}

bool dict_peer_has(enum host_map_kind kind, enum workload workload)
{
    return host_map_version(kind) && can((int) kind, workload);
}

/* ---- its inputs ---------------------------------------------------------------------------------------------- */

/* The columns of a script's inputs, in ordered form. */
struct inputs_of {
    char          *keys, *his; /* NULL: none */
    const char    *values;
    const uint8_t *codes;
    size_t         key_bytes, value_bytes, rows;
};

struct host_dict {
    const struct dict_plan *plan;
    enum host_map_kind      kind;
    int                     threads, n_maps;
    struct inputs_of        table, work;
    struct host_map        *maps[MAX_PARTS];
    struct host_part        parts[MAX_PARTS];
    uint64_t                sums[MAX_PARTS]; /* what each thread's queries found */
    size_t                  rows;            /* of the queries, that are asked */
};

/* A column of keys in ordered form, which the caller frees; NULL without memory, or if there is none. */
static char *ordered(const struct sheet *sheet, enum column_id column)
{
    const size_t bytes = ordo_type_bytes(sheet->type), count = sheet->rows[column];
    char        *keys = count ? malloc(count * bytes + 1) : NULL;
    for (size_t i = 0; keys && i < count; i++)
        set_element(keys, bytes, i, key_order(sheet->type, sheet_get(sheet, column, i)));
    return keys;
}

static bool take_inputs(const struct sheet *sheet, struct inputs_of *in)
{
    *in = (struct inputs_of) { .keys = ordered(sheet, COL_KEYS),
                               .his = ordered(sheet, COL_HIS),
                               .values = sheet->value_bytes ? sheet->at[COL_VALUES] : NULL,
                               .codes = sheet->at[COL_CODES],
                               .key_bytes = ordo_type_bytes(sheet->type),
                               .value_bytes = sheet->value_bytes,
                               .rows = sheet->rows[COL_KEYS] };
    return (in->keys || !in->rows) && (in->his || !sheet->rows[COL_HIS]);
}

static const char *row_of(const char *column, size_t width, size_t row)
{
    return column ? column + width * row : NULL;
}

static int ascending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;
    return x < y ? -1 : x > y;
}

#define SAMPLE 1024

/* Parts with about as many of the keys each, by a sample of them. */
static void cut_parts(struct host_dict *d)
{
    const struct inputs_of *from = d->table.rows ? &d->table : &d->work;
    uint64_t                sample[SAMPLE];
    const size_t            n = from->rows < SAMPLE ? from->rows : SAMPLE;
    for (size_t i = 0; i < n; i++)
        sample[i] = element(from->keys, from->key_bytes, i * (from->rows / n));
    qsort(sample, n, sizeof *sample, ascending);
    uint64_t lo = 0;
    for (int p = 0; p < d->n_maps; p++) {
        const bool last = p + 1 == d->n_maps || n == 0;
        uint64_t   hi = last ? UINT64_MAX : sample[n * (size_t) (p + 1) / (size_t) d->n_maps];
        if (hi == UINT64_MAX && !last)
            hi--; /* something has to be left for the last */
        d->parts[p] = (struct host_part) { lo, hi };
        lo = hi >= lo && hi < UINT64_MAX ? hi + 1 : lo; /* of few different keys a part has none */
    }
}

static void close_maps(struct host_dict *d)
{
    for (int p = 0; p < d->n_maps; p++)
        host_map_close(d->maps[p]);
    memset(d->maps, 0, sizeof d->maps);
}

static void close_dict(struct host_dict *d)
{
    close_maps(d);
    free(d->table.keys);
    free(d->table.his);
    free(d->work.keys);
    free(d->work.his);
}

/* An empty map for the part, with the table. */
static void fill_part(void *dict_, int p)
{
    struct host_dict       *d = dict_;
    const struct inputs_of *in = &d->table;
    d->maps[p] = host_map_open(d->kind, d->work.key_bytes, d->work.value_bytes);
    if (d->maps[p] && in->rows)
        host_map_put(d->maps[p], d->parts[p], in->keys, in->values, in->rows);
}

static bool fill(struct host_dict *d)
{
    bool good = true;
    close_maps(d);
    run_parts(d->n_maps, fill_part, d);
    for (int p = 0; p < d->n_maps; p++)
        good = good && d->maps[p];
    return good;
}

static bool open_dict(const struct dict_plan *plan, enum host_map_kind kind, int threads, struct host_dict *d)
{
    const bool queries = plan_has_fills(plan->spec.workload);
    threads = threads > MAX_PARTS ? MAX_PARTS : threads;
    *d = (struct host_dict) { .plan = plan, .kind = kind, .threads = threads, .n_maps = queries ? 1 : threads };
    if (!take_inputs(&plan->table.sheet, &d->table) || !take_inputs(&plan->work.sheet, &d->work))
        return false;
    cut_parts(d);
    d->rows = d->work.rows;
    return !queries || fill(d);
}

/* ---- updates ------------------------------------------------------------------------------------------------- */

static uint64_t do_step(struct host_map *map, struct host_part part, const struct inputs_of *in,
                        const struct step *step)
{
    const char *keys = row_of(in->keys, in->key_bytes, step->at), *his = row_of(in->his, in->key_bytes, step->at);
    const char *values = row_of(in->values, in->value_bytes, step->at);
    switch (step->call) {
    case DO_ERASE:
        host_map_erase(map, part, keys, step->count);
        return 0;
    case DO_COMBINE:
        host_map_add(map, part, keys, values, step->count);
        return 0;
    case DO_ERASE_RANGE:
        host_map_erase_range(map, keys, his, step->count);
        return 0;
    case DO_TAKE_FIRST:
        return host_map_take_first(map, step->count);
    case DO_PEEK_FIRST:
    case DO_PEEK_LAST:
        return host_map_peek(map, step->call == DO_PEEK_LAST, step->count);
    case DO_APPLY:
        return host_map_apply(map, in->codes + step->at, keys, his, values, step->count);
    default:
        host_map_put(map, part, keys, values, step->count);
        return 0;
    }
}

/* All steps, as far as they are of the part. */
static void update_part(void *dict_, int p)
{
    struct host_dict    *d = dict_;
    const struct script *script = &d->plan->work;
    d->sums[p] = 0;
    for (size_t s = 0; s < script->n_steps; s++)
        d->sums[p] += do_step(d->maps[p], d->parts[p], &d->work, &script->steps[s]);
}

/* A host_run_fn. */
static double update_once(void *dict_, int calls)
{
    struct host_dict *d = dict_;
    (void) calls;
    if (!fill(d))
        return -1;
    const double before = now();
    run_parts(d->n_maps, update_part, d);
    return now() - before;
}

/* Whether the maps hold what the model does. */
static bool updates_right(const struct host_dict *d)
{
    const struct model *model = &d->plan->model;
    uint64_t            ours = 0, theirs = 0;
    size_t              count = 0;
    for (int p = 0; p < d->n_maps; p++) {
        theirs += host_map_sum(d->maps[p], count);
        count += host_map_count(d->maps[p]);
    }
    for (size_t i = 0; i < model->count; i++)
        ours += host_map_share(model_key(model, i), model_value(model, i), i);
    return count == model->count && ours == theirs;
}

/* ---- queries ------------------------------------------------------------------------------------------------- */

static void ask_part(void *dict_, int p)
{
    struct host_dict *d = dict_;
    const size_t      rows = d->rows, threads = (size_t) d->threads;
    const size_t      from = rows * (size_t) p / threads, count = rows * (size_t) (p + 1) / threads - from;
    const char       *keys = row_of(d->work.keys, d->work.key_bytes, from);
    const char       *his = row_of(d->work.his, d->work.key_bytes, from);
    switch (d->plan->spec.workload) {
    case SEEKRANDOM:
        d->sums[p] = host_map_seek(d->maps[0], keys, count);
        break;
    case LONGESTPREFIX:
        d->sums[p] = host_map_floor(d->maps[0], keys, count);
        break;
    case RANGERANDOM:
        d->sums[p] = host_map_range(d->maps[0], keys, his, count);
        break;
    default:
        d->sums[p] = host_map_find(d->maps[0], keys, count);
        break;
    }
}

/* A host_run_fn. */
static double ask(void *dict_, int calls)
{
    struct host_dict *d = dict_;
    const double      before = now();
    for (int i = 0; i < calls; i++)
        run_parts(d->threads, ask_part, d);
    return now() - before;
}

/* What the model's answers sum up to, as host_map.h says. */
static uint64_t sum_of_answers(const struct dict_plan *plan)
{
    const struct sheet *sheet = &plan->work.sheet;
    const bool          range = plan->spec.workload == RANGERANDOM, seek = plan->spec.workload == SEEKRANDOM;
    const size_t        rows = range ? sheet->rows[COL_RANGE_KEYS] : sheet->rows[COL_KEYS];
    const uint8_t      *found = sheet->at[COL_FOUND];
    uint64_t            sum = 0;
    for (size_t row = 0; row < rows; row++) {
        const enum column_id column = range ? COL_RANGE_VALUES : COL_VALUES_OUT;
        const uint64_t       value = sheet->value_bytes ? sheet_get(sheet, column, row) : 0;
        if (range)
            sum += key_order(sheet->type, sheet_get(sheet, COL_RANGE_KEYS, row)) + value;
        else if (found[row])
            sum += value + (seek ? key_order(sheet->type, sheet_get(sheet, COL_KEYS_OUT, row)) : 1);
    }
    return sum;
}

static bool queries_right(const struct host_dict *d)
{
    uint64_t sum = 0;
    for (int p = 0; p < d->threads; p++)
        sum += d->sums[p];
    return sum == sum_of_answers(d->plan);
}

/* ---- both ---------------------------------------------------------------------------------------------------- */

bool dict_peer_measure(const struct host_peer *peer, const struct dict_plan *plan, const struct timing_goal *goal,
                       struct host_figures *out)
{
    const bool       queries = plan_has_fills(plan->spec.workload);
    struct host_dict d;
    *out = (struct host_figures) { .rate = NAN };
    bool good = open_dict(plan, (enum host_map_kind) peer->kind, peer->threads, &d);
    good = good && time_host(queries ? ask : update_once, &d, !queries, goal, &out->timing);
    if (good) {
        out->rate = (double) spec_operations(&plan->spec) / out->timing.wall.median;
        out->right = queries ? queries_right(&d) : updates_right(&d);
    }
    if (!good || !out->right)
        snprintf(out->why, sizeof out->why, "%s", good ? "its answers differ from the model's" : "out of memory");
    close_dict(&d);
    return good;
}

static double median_rate(struct host_dict *d, int times)
{
    const bool queries = plan_has_fills(d->plan->spec.workload);
    double     seconds[MOST_REPETITIONS];
    for (int i = 0; i < times; i++) {
        seconds[i] = queries ? ask(d, 1) : update_once(d, 1);
        if (seconds[i] < 0)
            return NAN;
    }
    return (double) (queries ? d->rows : spec_operations(&d->plan->spec)) / spread_of(seconds, times).median;
}

double dict_peer_rate(const struct dict_plan *plan, enum host_map_kind kind, int threads, int times,
                      size_t queries_most)
{
    struct host_dict d;
    double           rate = NAN;
    if (!dict_peer_has(kind, plan->spec.workload))
        return NAN;
    const bool good = open_dict(plan, kind, threads, &d);
    d.rows = d.rows < queries_most ? d.rows : queries_most;
    if (good)
        rate = median_rate(&d, times);
    close_dict(&d);
    return rate;
}

bool dict_peers_are_built(void)
{
    return true;
}

#else

int dict_peers(const struct spec *spec, int threads, struct host_peer peers[MOST_HOST_PEERS])
{
    (void) spec, (void) threads, (void) peers;
    return 0;
}

bool dict_peer_measure(const struct host_peer *peer, const struct dict_plan *plan, const struct timing_goal *goal,
                       struct host_figures *out)
{
    (void) peer, (void) plan, (void) goal;
    *out = (struct host_figures) { .rate = NAN, .why = "built without C++" };
    return false;
}

double dict_peer_rate(const struct dict_plan *plan, enum host_map_kind kind, int threads, int times,
                      size_t queries_most)
{
    (void) plan, (void) kind, (void) threads, (void) times, (void) queries_most;
    return NAN;
}

bool dict_peer_has(enum host_map_kind kind, enum workload workload)
{
    (void) kind, (void) workload;
    return false;
}

bool dict_peers_are_built(void)
{
    return false;
}

#endif
