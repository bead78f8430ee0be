/* SPDX-License-Identifier: Apache-2.0 */
#include "workload.h"

#include "baseline.h"
#include "bench/common/threads.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names --------------------------------------------------------------------------------------------------- */

const char *workload_name(enum workload workload)
{
    static const char *const names[N_ALL_WORKLOADS] = {
#define X(id, name, text) [id] = (name),
        WORKLOAD_MAP(X) DICT_WORKLOAD_MAP(X)
#undef X
    };
    return names[workload];
}

const char *workload_text(enum workload workload)
{
    static const char *const texts[N_ALL_WORKLOADS] = {
#define X(id, name, text) [id] = (text),
        WORKLOAD_MAP(X) DICT_WORKLOAD_MAP(X)
#undef X
    };
    return texts[workload];
}

static const size_t runs_of_variant[] = { 4, 8, 16 };

const char *variant_name(enum workload workload, int variant)
{
    static const char *const runs[] = { "4-runs", "8-runs", "16-runs" };
    static const char *const queries[] = { "random", "sorted", "random+index", "sorted+index" };
    static const char *const structures[N_STRUCTURES] = { "sorted_array", "lsm", "blink" };

    if (workload_is_dict(workload))
        return variant < N_STRUCTURES ? structures[variant] : NULL;
    if (workload == MERGE_RUNS)
        return variant < 3 ? runs[variant] : NULL;
    if (workload_has_queries(workload))
        return variant < 4 ? queries[variant] : NULL;
    return variant == 0 ? "" : NULL;
}

const char *dist_name(enum dist dist)
{
    static const char *const names[N_DISTS] = {
        "uniform", "few", "sorted", "reverse", "zipf", "sequential", "clustered",
    };
    return names[dist];
}

const char *type_name(ordo_type type)
{
    static const char *const names[N_TYPES] = { "u32", "u64", "i32", "i64", "f32", "f64" };
    return names[type];
}

/* ---- what a point of the axes means -------------------------------------------------------------------------- */

bool workload_is_dict(enum workload workload)
{
    return workload >= N_WORKLOADS;
}

bool workload_cleans_up(enum workload workload)
{
    return workload == CLEANUP || workload == COMPACTALL;
}

bool workload_is_concurrent(enum workload workload)
{
    return workload == CONCURRENTREAD || workload == CONCURRENTFILL || workload == CONCURRENTINSERT ||
           workload == CONCURRENTMIX;
}

bool workload_has_values(enum workload workload)
{
    return workload != SCAN && workload != REDUCE && workload != SEARCH;
}

bool workload_has_queries(enum workload workload)
{
    return workload == SEARCH || workload == LOOKUP || (workload >= READRANDOM && workload <= CONCURRENTREAD);
}

static size_t type_bytes(ordo_type type)
{
    return type == ORDO_U32 || type == ORDO_I32 || type == ORDO_F32 ? 4 : 8;
}

size_t spec_runs(const struct spec *spec)
{
    if (spec->workload == MERGE)
        return 2;
    return spec->workload == MERGE_RUNS ? runs_of_variant[spec->variant] : 1;
}

struct ordo_run spec_run(const struct spec *spec, size_t r)
{
    const size_t runs = spec_runs(spec), each = spec->count / runs;
    return (struct ordo_run) { r * each, r + 1 == runs ? spec->count - r * each : each };
}

/* One batch is timed, of a dictionary that is there. */
static bool is_one_batch(enum workload workload)
{
    return workload == INSERTRANDOM || workload == CONCURRENTINSERT || workload == CONCURRENTMIX;
}

size_t spec_batch(const struct spec *spec)
{
    const size_t wanted = spec->workload == CONCURRENTFILL ? spec->count : spec->batch ? spec->batch : spec->count / 16;
    return wanted > spec->count ? spec->count : wanted ? wanted : 1;
}

size_t spec_table_batch(const struct spec *spec)
{
    struct spec table = *spec;
    if (is_one_batch(spec->workload))
        table.batch = 0;
    return spec_batch(&table);
}

size_t spec_changes(const struct spec *spec)
{
    if (spec->workload != DELETERANDOM || spec->erase_percent == 0)
        return spec->count;
    const size_t changes = (size_t) ((double) spec->count * spec->erase_percent / 100);
    return changes ? changes : 1;
}

#define MOST_ROUNDS 8

size_t spec_rounds(const struct spec *spec)
{
    const size_t batches = spec->count / spec_batch(spec);
    return batches < MOST_ROUNDS ? batches : MOST_ROUNDS;
}

size_t spec_tenth(const struct spec *spec)
{
    return (spec->count + 9) / 10;
}

size_t spec_operations(const struct spec *spec)
{
    if (spec->workload == READWHILEWRITING)
        return 2 * spec_rounds(spec) * spec_batch(spec);
    if (spec->workload == MIXED)
        return spec_rounds(spec) * spec_batch(spec);
    if (workload_cleans_up(spec->workload))
        return spec->count + 2 * spec_tenth(spec);
    if (is_one_batch(spec->workload))
        return spec_batch(spec);
    return workload_has_queries(spec->workload) ? spec->n_queries : spec_changes(spec);
}

double spec_bytes(const struct spec *spec)
{
    const double key = (double) type_bytes(spec->type), pair = key + spec->value_bytes;
    const double count = (double) spec->count, queries = (double) spec->n_queries;
    const double touched = queries < count ? queries : count;

    if (workload_is_dict(spec->workload))
        return 0;
    switch (spec->workload) {
    case SCAN:
        return 2 * count * key;
    case REDUCE:
        return count * key;
    case COMPACT: /* half is kept */
        return count * (1 + pair * 1.5);
    case SEARCH:
        return queries * (key + 4) + touched * key;
    case LOOKUP:
        return queries * (pair + 1) + touched * pair;
    default:
        return 2 * count * pair;
    }
}

static bool is_float(ordo_type type)
{
    return type == ORDO_F32 || type == ORDO_F64;
}

ordo_op spec_op(const struct spec *spec)
{
    return is_float(spec->type) ? ORDO_MAX : ORDO_SUM;
}

/* ---- keys and values ----------------------------------------------------------------------------------------- */

/* A counter through the finalizer of splitmix64 (Steele, Lea, Flood 2014): any element can be had without the ones
 * before it, so that inputs do not depend on the number of threads. */
uint64_t draw(uint64_t seed, uint64_t i)
{
    uint64_t x = seed * 0xd1342543de82ef95u + (i + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static double draw_unit(uint64_t seed, uint64_t i) /* in (0, 1] */
{
    return ((double) (draw(seed, i) >> 11) + 1) * 0x1p-53;
}

uint64_t key_order(ordo_type type, uint64_t stored)
{
    const uint64_t sign = type_bytes(type) == 4 ? 0x80000000u : 0x8000000000000000u;
    const uint64_t all = sign | (sign - 1);
    if (type == ORDO_U32 || type == ORDO_U64)
        return stored;
    if (is_float(type) && (stored & sign))
        return ~stored & all;
    return stored ^ sign;
}

uint64_t key_stored(ordo_type type, uint64_t order)
{
    const uint64_t sign = type_bytes(type) == 4 ? 0x80000000u : 0x8000000000000000u;
    const uint64_t all = sign | (sign - 1);
    if (type == ORDO_U32 || type == ORDO_U64)
        return order;
    if (is_float(type) && !(order & sign))
        return ~order & all;
    return order ^ sign;
}

uint64_t value_of(uint32_t value_bytes, size_t i)
{
    return value_bytes == 8 ? (uint32_t) i | draw(77, i) << 32 : (uint32_t) i;
}

/* ---- drawing arrays of keys ---------------------------------------------------------------------------------- */

struct fill {
    void     *to;
    ordo_type type;
    enum dist dist;
    uint64_t  seed;
    size_t    count;
};

static void set_key(const struct fill *fill, size_t i, uint64_t order64)
{
    const size_t bytes = type_bytes(fill->type);
    set_element(fill->to, bytes, i, key_stored(fill->type, bytes == 4 ? order64 >> 32 : order64));
}

#define FEW_KEYS       16
#define ZIPF_KEYS_LOG2 20
#define CLUSTER_KEYS   256
#define CLUSTER_SPAN   4096

/* A random place for the cluster, and one within it. */
static uint64_t clustered_key(const struct fill *fill, size_t i, uint64_t unit)
{
    const uint64_t clusters = fill->count / CLUSTER_KEYS + 1;
    const uint64_t r = draw(fill->seed, i);
    return draw(3000, (r >> 32) % clusters) + r % CLUSTER_SPAN * unit;
}

/* The ordered form of element i as 64 bits; keys of 4 bytes take the upper half. */
static uint64_t key_at(const struct fill *fill, size_t i)
{
    const uint64_t step = fill->count ? UINT64_MAX / fill->count : 0;
    const uint64_t unit = type_bytes(fill->type) == 4 ? (uint64_t) 1 << 32 : 1;
    switch (fill->dist) {
    case FEW:
        return draw(1000, draw(fill->seed, i) % FEW_KEYS);
    case SORTED:
        return i * step;
    case REVERSE:
        return (fill->count - 1 - i) * step;
    case ZIPF: /* the logarithm of the rank is uniform */
        return draw(2000, (uint64_t) exp2(ZIPF_KEYS_LOG2 * draw_unit(fill->seed, i)));
    case SEQUENTIAL:
        return i * unit;
    case CLUSTERED:
        return clustered_key(fill, i, unit);
    default:
        return draw(fill->seed, i);
    }
}

static void fill_span(void *arg, size_t from, size_t to, int part)
{
    const struct fill *fill = arg;
    (void) part;
    for (size_t i = from; i < to; i++)
        set_key(fill, i, key_at(fill, i));
}

/* What sorting `count` uniform draws would give, without sorting: the sums of exponential gaps, divided by the sum of
 * count + 1 of them, are distributed as the ordered draws. Blocks of one size, whatever the threads, so that sums are
 * rounded alike everywhere; a block's last sum is exactly the next one's start, so the order holds across blocks. */
#define GAP_BLOCK ((size_t) 16384)

struct gaps {
    struct fill fill;
    double     *start; /* per block: the sum of its gaps, later the sum of all before it */
    double      total;
};

static double gap(const struct gaps *gaps, size_t i)
{
    return -log(draw_unit(gaps->fill.seed, i));
}

static size_t block_end(const struct gaps *gaps, size_t block)
{
    const size_t end = (block + 1) * GAP_BLOCK;
    return end < gaps->fill.count ? end : gaps->fill.count;
}

static void sum_gaps(void *arg, size_t from, size_t to, int part)
{
    const struct gaps *gaps = arg;
    (void) part;
    for (size_t block = from; block < to; block++) {
        double sum = 0;
        for (size_t i = block * GAP_BLOCK; i < block_end(gaps, block); i++)
            sum += gap(gaps, i);
        gaps->start[block] = sum;
    }
}

static void place_gaps(void *arg, size_t from, size_t to, int part)
{
    const struct gaps *gaps = arg;
    (void) part;
    for (size_t block = from; block < to; block++) {
        double sum = 0;
        for (size_t i = block * GAP_BLOCK; i < block_end(gaps, block); i++) {
            sum += gap(gaps, i);
            const double share = (gaps->start[block] + sum) / gaps->total;
            set_key(&gaps->fill, i, share < 1 ? (uint64_t) (share * 0x1p64) : UINT64_MAX);
        }
    }
}

/* for_spans cuts finely only for many elements; a block is worth a thread by itself. */
struct blocks {
    span_fn      fn;
    struct gaps *gaps;
};
static void blocks_of_span(void *arg, size_t from, size_t to, int part)
{
    const struct blocks *blocks = arg;
    blocks->fn(blocks->gaps, (from + GAP_BLOCK - 1) / GAP_BLOCK, (to + GAP_BLOCK - 1) / GAP_BLOCK, part);
}

static bool fill_ordered_draws(const struct fill *fill)
{
    const size_t blocks = (fill->count + GAP_BLOCK - 1) / GAP_BLOCK;
    struct gaps  gaps = { *fill, malloc((blocks + 1) * sizeof(double)), 0 };
    if (!gaps.start)
        return false;

    for_spans(fill->count, blocks_of_span, &(struct blocks) { sum_gaps, &gaps });
    double before = 0;
    for (size_t block = 0; block < blocks; block++) {
        const double sum = gaps.start[block];
        gaps.start[block] = before;
        before += sum;
    }
    gaps.total = before + gap(&gaps, fill->count);
    for_spans(fill->count, blocks_of_span, &(struct blocks) { place_gaps, &gaps });
    free(gaps.start);
    return true;
}

static void to_orders(const struct fill *fill)
{
    const size_t bytes = type_bytes(fill->type);
    for (size_t i = 0; i < fill->count; i++)
        set_element(fill->to, bytes, i, key_order(fill->type, element(fill->to, bytes, i)));
}
static void to_stored(const struct fill *fill)
{
    const size_t bytes = type_bytes(fill->type);
    for (size_t i = 0; i < fill->count; i++)
        set_element(fill->to, bytes, i, key_stored(fill->type, element(fill->to, bytes, i)));
}

static bool fill_by_sorting(const struct fill *fill)
{
    void *spare = malloc(fill->count * type_bytes(fill->type) + 1);
    if (!spare)
        return false;
    for_spans(fill->count, fill_span, (void *) fill);
    to_orders(fill);
    host_radix_sort((struct pairs) { fill->to, NULL }, (struct pairs) { spare, NULL }, type_bytes(fill->type), 0,
                    fill->count);
    to_stored(fill);
    free(spare);
    return true;
}

static bool fill_keys(const struct fill *fill, bool ascending)
{
    struct fill drawn = *fill;
    if (ascending && drawn.dist == REVERSE)
        drawn.dist = SORTED;
    if (ascending && drawn.dist == UNIFORM)
        return fill_ordered_draws(&drawn);
    if (ascending && drawn.dist != SORTED && drawn.dist != SEQUENTIAL)
        return fill_by_sorting(&drawn);
    for_spans(drawn.count, fill_span, &drawn);
    return true;
}

bool keys_draw(ordo_type type, enum dist dist, uint64_t seed, size_t count, void *keys)
{
    return fill_keys(&(struct fill) { keys, type, dist, seed, count }, false);
}

/* ---- inputs -------------------------------------------------------------------------------------------------- */

static bool keys_are_sorted(enum workload workload)
{
    return workload == MERGE || workload == MERGE_RUNS || workload == SEARCH || workload == LOOKUP;
}

static bool make_keys(const struct spec *spec, struct inputs *in)
{
    const size_t bytes = type_bytes(spec->type);
    for (size_t r = 0; r < spec_runs(spec); r++) {
        const struct ordo_run run = spec_run(spec, r);
        const struct fill     fill = { (char *) in->keys + run.at * bytes, spec->type, spec->dist, spec->seed + r * 100,
                                       run.count };
        if (!fill_keys(&fill, keys_are_sorted(spec->workload)))
            return false;
    }
    return true;
}

struct hits {
    const struct spec   *spec;
    const struct inputs *in;
};

static void hits_of_span(void *arg, size_t from, size_t to, int part)
{
    const struct hits *hits = arg;
    const struct spec *spec = hits->spec;
    const size_t       bytes = type_bytes(spec->type);
    (void) part;
    for (size_t i = from; i < to; i++) {
        const uint64_t r = draw(spec->seed + 8, i);
        if (r % 8 != 0)
            set_element(hits->in->queries, bytes, i, element(hits->in->keys, bytes, (size_t) (r / 8 % spec->count)));
    }
}

static bool sort_queries(const struct fill *queries)
{
    void *spare = malloc(queries->count * type_bytes(queries->type) + 1);
    if (!spare)
        return false;
    to_orders(queries);
    host_radix_sort((struct pairs) { queries->to, NULL }, (struct pairs) { spare, NULL }, type_bytes(queries->type), 0,
                    queries->count);
    to_stored(queries);
    free(spare);
    return true;
}

static bool make_queries(const struct spec *spec, const struct inputs *in)
{
    const bool        sorted = spec->variant & VARIANT_SORTED;
    const bool        in_order = spec->dist == SORTED || spec->dist == REVERSE || spec->dist == SEQUENTIAL;
    const enum dist   dist = in_order ? UNIFORM : spec->dist;
    const struct fill fill = { in->queries, spec->type, dist, spec->seed + 9, spec->n_queries };

    if (spec->workload == SEARCH)
        return fill_keys(&fill, sorted);
    if (!fill_keys(&fill, false))
        return false;
    if (spec->count > 0)
        for_spans(spec->n_queries, hits_of_span, &(struct hits) { spec, in });
    return !sorted || sort_queries(&fill);
}

static void make_values(const struct spec *spec, const struct inputs *in)
{
    for (size_t i = 0; i < spec->count; i++)
        set_element(in->values, spec->value_bytes, i, value_of(spec->value_bytes, i));
}

static void make_flags(const struct spec *spec, struct inputs *in)
{
    for (size_t i = 0; i < spec->count; i++) {
        const uint64_t r = draw(spec->seed + 7, i);
        in->flags[i] = r & 1 ? (uint8_t) (1 + (r >> 1) % 255) : 0;
        in->kept += in->flags[i] != 0;
    }
}

bool inputs_make(const struct spec *spec, struct inputs *in)
{
    const size_t bytes = type_bytes(spec->type);
    const bool   queries = spec->workload == SEARCH || spec->workload == LOOKUP;

    *in = (struct inputs) { 0 };
    in->keys = malloc(spec->count * bytes + 1);
    in->values = spec->value_bytes ? malloc(spec->count * spec->value_bytes + 1) : NULL;
    in->flags = spec->workload == COMPACT ? malloc(spec->count + 1) : NULL;
    in->queries = queries ? malloc(spec->n_queries * bytes + 1) : NULL;

    bool made = in->keys && (in->values || !spec->value_bytes) && (in->flags || spec->workload != COMPACT) &&
                (in->queries || !queries);
    made = made && make_keys(spec, in) && (!queries || make_queries(spec, in));
    if (!made) {
        inputs_free(in);
        return false;
    }
    if (in->values)
        make_values(spec, in);
    if (in->flags)
        make_flags(spec, in);
    return true;
}

void inputs_free(struct inputs *in)
{
    free(in->keys);
    free(in->values);
    free(in->flags);
    free(in->queries);
    *in = (struct inputs) { 0 };
}

/* ---- checks -------------------------------------------------------------------------------------------------- */

struct check {
    const struct spec   *spec;
    const struct inputs *in;
    const struct answer *answer;
    bool                 ties_may_swap;
    size_t               key_bytes;

    /* Says whether element i is right by itself and beside element i - 1; if not and why is not NULL, says why. */
    bool (*right_at)(const struct check *check, size_t i, char *why, size_t why_bytes);

    size_t   first_wrong[MAX_PARTS]; /* SIZE_MAX: none */
    uint64_t set_in[MAX_PARTS], set_out[MAX_PARTS];
};

static bool wrong(char *why, size_t why_bytes, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool wrong(char *why, size_t why_bytes, const char *format, ...)
{
    if (why) {
        va_list args;
        va_start(args, format);
        vsnprintf(why, why_bytes, format, args);
        va_end(args);
    }
    return false;
}

static uint64_t order_at(const struct check *check, const void *keys, size_t i)
{
    return key_order(check->spec->type, element(keys, check->key_bytes, i));
}

static uint64_t input_index(const struct check *check, uint64_t value)
{
    const uint64_t i = (uint32_t) value;
    return value == value_of(check->spec->value_bytes, (size_t) i) && i < check->spec->count ? i : UINT64_MAX;
}

/* Sorts and merges. With values: pairs (key, index of the input) ascend strictly and each key is the one that its
 * index names. So indices differ, all are there, and equal keys keep their order. */
static bool ordered_at(const struct check *check, size_t i, char *why, size_t n)
{
    const struct answer *out = check->answer;
    const uint64_t       here = order_at(check, out->keys, i), before = i ? order_at(check, out->keys, i - 1) : 0;
    if (before > here)
        return wrong(why, n, "out[%zu] is less than out[%zu]: 0x%" PRIx64 " after 0x%" PRIx64 " (ordered forms)", i,
                     i - 1, here, before);
    if (!check->spec->value_bytes)
        return true;

    const uint64_t value = element(out->values, check->spec->value_bytes, i);
    const uint64_t index = input_index(check, value);
    if (index == UINT64_MAX)
        return wrong(why, n, "values_out[%zu] = 0x%" PRIx64 " is no value of the input", i, value);
    if (element(check->in->keys, check->key_bytes, (size_t) index) != element(out->keys, check->key_bytes, i))
        return wrong(why, n, "out[%zu] has the value of in[%" PRIu64 "] but another key", i, index);
    if (i && before == here && !check->ties_may_swap) {
        const uint64_t left = input_index(check, element(out->values, check->spec->value_bytes, i - 1));
        if (left != UINT64_MAX && left >= index)
            return wrong(why, n, "out[%zu] and out[%zu] have one key but are in[%" PRIu64 "] and in[%" PRIu64 "]",
                         i - 1, i, left, index);
    }
    return true;
}

static bool rank_right_at(const struct check *check, size_t i, char *why, size_t n)
{
    const size_t   count = check->spec->count, rank = check->answer->ranks[i];
    const uint64_t query = order_at(check, check->in->queries, i);
    if (rank > count)
        return wrong(why, n, "rank[%zu] = %zu of %zu keys", i, rank, count);
    if (rank > 0 && order_at(check, check->in->keys, rank - 1) >= query)
        return wrong(why, n, "rank[%zu] = %zu is too high", i, rank);
    if (rank < count && order_at(check, check->in->keys, rank) < query)
        return wrong(why, n, "rank[%zu] = %zu is too low", i, rank);
    return true;
}

static size_t first_not_below(const struct check *check, uint64_t query)
{
    size_t from = 0, to = check->spec->count;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (order_at(check, check->in->keys, middle) < query)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Whether element `index` is the first with this key. */
static bool is_first(const struct check *check, uint64_t index, uint64_t query)
{
    return index < check->spec->count && order_at(check, check->in->keys, (size_t) index) == query &&
           (index == 0 || order_at(check, check->in->keys, (size_t) index - 1) < query);
}

static bool lookup_right_at(const struct check *check, size_t i, char *why, size_t n)
{
    const struct spec *spec = check->spec;
    const uint64_t     query = order_at(check, check->in->queries, i);
    const uint8_t      found = check->answer->found[i];
    const uint64_t     value = spec->value_bytes ? element(check->answer->values, spec->value_bytes, i) : 0;

    if (found == 1 && spec->value_bytes && is_first(check, input_index(check, value), query))
        return true; /* without a search of our own */

    const size_t rank = first_not_below(check, query);
    const bool   present = is_first(check, rank, query);
    if (found != present)
        return wrong(why, n, "found[%zu] = %u, but the key is %s", i, found, present ? "there" : "not there");
    if (!spec->value_bytes)
        return true;
    if (present)
        return wrong(why, n, "values_out[%zu] = 0x%" PRIx64 ", but in[%zu] is the first such key", i, value, rank);
    if (value != POISON_WORD >> (64 - 8 * spec->value_bytes))
        return wrong(why, n, "values_out[%zu] was written although the key is not there", i);
    return true;
}

static void check_span(void *arg, size_t from, size_t to, int part)
{
    struct check *check = arg;
    check->first_wrong[part] = SIZE_MAX;
    for (size_t i = from; i < to; i++) {
        if (check->right_at(check, i, NULL, 0))
            continue;
        check->first_wrong[part] = i;
        return;
    }
}

static bool check_all(struct check *check, size_t count, char *why, size_t why_bytes)
{
    const int parts = for_spans(count, check_span, check);
    for (int p = 0; p < parts; p++)
        if (check->first_wrong[p] != SIZE_MAX)
            return check->right_at(check, check->first_wrong[p], why, why_bytes);
    return true;
}

/* The sum of a hash of each key (or, with values, of each index) is the same for two arrays that hold the same, and
 * hardly ever else. */
static void add_sets(void *arg, size_t from, size_t to, int part)
{
    struct check      *check = arg;
    const struct spec *spec = check->spec;
    check->set_in[part] = check->set_out[part] = 0;
    for (size_t i = from; i < to; i++) {
        if (spec->value_bytes) {
            check->set_in[part] += draw(3, i);
            check->set_out[part] += draw(3, (uint32_t) element(check->answer->values, spec->value_bytes, i));
        } else {
            check->set_in[part] += draw(3, element(check->in->keys, check->key_bytes, i));
            check->set_out[part] += draw(3, element(check->answer->keys, check->key_bytes, i));
        }
    }
}

static bool check_sets(struct check *check, char *why, size_t why_bytes)
{
    const int parts = for_spans(check->spec->count, add_sets, check);
    uint64_t  in = 0, out = 0;
    for (int p = 0; p < parts; p++) {
        in += check->set_in[p];
        out += check->set_out[p];
    }
    return in == out || wrong(why, why_bytes, "the output does not hold the same elements as the input");
}

static bool check_order(struct check *check, char *why, size_t why_bytes)
{
    check->right_at = ordered_at;
    if (!check_all(check, check->spec->count, why, why_bytes))
        return false;
    const bool proven = check->spec->value_bytes && !check->ties_may_swap;
    return proven || check_sets(check, why, why_bytes);
}

/* One pass on one thread: memory is the limit, not the addition. */
static bool check_scan(const struct check *check, bool whole, char *why, size_t why_bytes)
{
    const struct spec *spec = check->spec;
    const bool         maximum = spec_op(spec) == ORDO_MAX;
    const uint64_t     mask = check->key_bytes == 4 ? UINT32_MAX : UINT64_MAX;
    uint64_t           all = 0; /* of maxima: the ordered form */

    for (size_t i = 0; i < spec->count; i++) {
        const uint64_t before = all;
        if (maximum) {
            const uint64_t order = order_at(check, check->in->keys, i);
            all = order > all ? order : all;
        } else {
            all = (all + element(check->in->keys, check->key_bytes, i)) & mask;
        }
        if (!whole)
            continue;
        const uint64_t got = element(check->answer->keys, check->key_bytes, i);
        const uint64_t want = maximum ? key_stored(spec->type, all) : before;
        if (got != want)
            return wrong(why, why_bytes, "out[%zu] = 0x%" PRIx64 ", not 0x%" PRIx64, i, got, want);
    }
    if (whole)
        return true;
    const uint64_t got = element(check->answer->total, check->key_bytes, 0);
    const uint64_t want = maximum ? key_stored(spec->type, all) : all;
    return got == want || wrong(why, why_bytes, "the result is 0x%" PRIx64 ", not 0x%" PRIx64, got, want);
}

static bool check_compact(const struct check *check, char *why, size_t why_bytes)
{
    const struct spec   *spec = check->spec;
    const struct answer *out = check->answer;
    size_t               kept = 0;

    if (out->kept != check->in->kept)
        return wrong(why, why_bytes, "%u were kept, not %zu", out->kept, check->in->kept);
    for (size_t i = 0; i < spec->count; i++) {
        if (!check->in->flags[i])
            continue;
        const bool same_key =
            element(out->keys, check->key_bytes, kept) == element(check->in->keys, check->key_bytes, i);
        const bool same_value =
            !spec->value_bytes || element(out->values, spec->value_bytes, kept) == value_of(spec->value_bytes, i);
        if (!same_key || !same_value)
            return wrong(why, why_bytes, "out[%zu] is not in[%zu]: another %s", kept, i, same_key ? "value" : "key");
        kept++;
    }
    return true;
}

bool answer_check(const struct spec *spec, const struct inputs *in, const struct answer *answer, bool ties_may_swap,
                  char *why, size_t why_bytes)
{
    struct check check = { spec, in, answer, ties_may_swap, type_bytes(spec->type), NULL, { 0 }, { 0 }, { 0 } };

    why[0] = 0;
    switch (spec->workload) {
    case SCAN:
        return check_scan(&check, true, why, why_bytes);
    case REDUCE:
        return check_scan(&check, false, why, why_bytes);
    case COMPACT:
        return check_compact(&check, why, why_bytes);
    case SEARCH:
        check.right_at = rank_right_at;
        return check_all(&check, spec->n_queries, why, why_bytes);
    case LOOKUP:
        check.right_at = lookup_right_at;
        return check_all(&check, spec->n_queries, why, why_bytes);
    default:
        return check_order(&check, why, why_bytes);
    }
}

/* ---- axes as text -------------------------------------------------------------------------------------------- */

/* Numbers up to this are powers of two. */
#define MOST_LOG2 31

static bool parse_size(const char **text, size_t *size, bool *is_log2)
{
    const bool exact = **text == '=', power = strncmp(*text, "2^", 2) == 0;
    *text += exact ? 1 : power ? 2 : 0;
    if (**text < '0' || **text > '9')
        return false;
    char                    *end = NULL;
    const unsigned long long number = strtoull(*text, &end, 10);
    *text = end;
    *is_log2 = !exact && number <= MOST_LOG2;
    if (power && !*is_log2)
        return false;
    *size = (size_t) number;
    return number <= ORDO_MAX_COUNT && (*is_log2 || number > 0);
}

int parse_sizes(const char *text, size_t *sizes, int room, char *why, size_t why_bytes)
{
    const char *at = text;
    int         n = 0;
    for (;;) {
        size_t from = 0, to = 0;
        bool   from_log2 = false, to_log2 = false;
        bool   good = parse_size(&at, &from, &from_log2);
        to = from;
        if (good && strncmp(at, "..", 2) == 0) {
            at += 2;
            good = from_log2 && parse_size(&at, &to, &to_log2) && to_log2 && to >= from;
        }
        if (!good || (*at && *at != ',')) {
            wrong(why, why_bytes,
                  "'%s' is no list of sizes: 12 means 2^12, 12..16 all powers from 2^12 to 2^16, =1000 and "
                  "numbers above %d stand for themselves (at most %zu)",
                  text, MOST_LOG2, ORDO_MAX_COUNT);
            return -1;
        }
        for (; from <= to && n < room; from++)
            sizes[n++] = from_log2 ? (size_t) 1 << from : from;
        if (!*at)
            return n;
        at++;
    }
}

int parse_names(const char *text, const char *(*name)(int), int n_names, int *chosen, int room, char *why,
                size_t why_bytes)
{
    int n = 0;
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        int          i = 0;
        while (i < n_names && (strlen(name(i)) != length || strncmp(at, name(i), length) != 0))
            i++;
        if (i == n_names) {
            int used = snprintf(why, why_bytes, "'%.*s' is none of", (int) length, at);
            for (int k = 0; k < n_names && used > 0 && (size_t) used < why_bytes; k++)
                used += snprintf(why + used, why_bytes - (size_t) used, "%s %s", k ? "," : "", name(k));
            return -1;
        }
        if (n < room)
            chosen[n++] = i;
        at += length;
        if (!*at)
            return n;
    }
}
