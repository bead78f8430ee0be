/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/common/threads.h"
#include "bench/workload/baseline.h"
#include "bench/workload/inputs.h"
#include "bench/workload/keys.h"
#include "bench/workload/workload.h"
#include "host.h"

#include <gnu/libc-version.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void host_buffers_fill(const struct host_buffers *buffers, const struct spec *spec, const struct inputs *in)
{
    if (spec->workload == GATHER)
        return;
    keys_order(spec->type, in->keys, spec->count, buffers->work.keys);
    if (spec->value_bytes)
        memcpy(buffers->work.values, in->values, spec->count * spec->value_bytes);
}

/* For queries the spare arrays hold only ranks. */
#define RANKS_MAX ((size_t) 1 << 20)

bool host_buffers_open(struct host_buffers *buffers, const struct spec *spec)
{
    const size_t key = ordo_type_bytes(spec->type);
    const size_t keys = spec->count * key + 8, values = spec->count * spec->value_bytes + 8;
    const size_t out = workload_has_queries(spec->workload) && spec->count > RANKS_MAX ? RANKS_MAX : spec->count;
    const size_t spare_keys = out * key + 8, spare_values = out * spec->value_bytes + 8;
    const size_t rows = spec->workload == GATHER ? spec->count * spec_row_bytes(spec) + 8 : 8;
    *buffers = (struct host_buffers) {
        { malloc(keys), malloc(values) }, { malloc(spare_keys), malloc(spare_values) }, key, malloc(rows)
    };
    if (!buffers->rows)
        return false;
    memset(buffers->rows, 0, rows);
    if (!buffers->work.keys || !buffers->work.values || !buffers->spare.keys || !buffers->spare.values)
        return false;
    fill_bytes(buffers->spare.keys, 0, spare_keys);
    fill_bytes(buffers->spare.values, 0, spare_values);
    return true;
}

void host_buffers_close(struct host_buffers *buffers)
{
    free(buffers->work.keys);
    free(buffers->work.values);
    free(buffers->spare.keys);
    free(buffers->spare.values);
    free(buffers->rows);
}

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

/* Elements that qsort sorts in reasonable time, and the limit of the others. */
#define QSORT_MAX    ((size_t) 1 << 22)
#define ELEMENTS_MAX ((size_t) 1 << 27)

struct host_array {
    const struct host_peer *peer;
    const struct spec      *spec;
    const struct inputs    *in;
    struct host_buffers     buffers;
    struct stree            tree;
    uint32_t               *queries, *ranks; /* for searches; 4-byte queries for the S-tree */
    uint64_t                sums[MAX_PARTS];
    struct pairs            from, to; /* of the current merges */
    size_t                  runs;     /* left in a sort */
    int                     threads;
};

/* ---- who can do what ----------------------------------------------------------------------------------------- */

struct kind {
    enum workload workload;
    const char   *name, *call;
    bool          in_libc;  /* else compiled with the tool */
    bool          one, all; /* offered for one thread; for several */
};

static const struct kind kinds[] = {
    { SORT, "radix sort", "8 bits a pass; on several threads parts, then merged", false, true, true },
    { SORT, "qsort", "of records made of key and value; on several threads parts, then merged", true, true, true },
    { MERGE, "merge", "one loop; on several threads a span of the output each", false, true, true },
    { REDUCE, "sum", "one loop; on several threads a span each", false, true, true },
    { SEARCH, "sorted array", "binary search, one query after another", false, true, true },
    { SEARCH, "S-tree", "16 keys a node, AVX2, 16 queries in step", false, false, true },
};
enum { RADIX, QSORT, MERGE_LOOP, SUM_LOOP, BINARY, S_TREE };

static bool offered(const struct spec *spec, int kind, int threads)
{
    if (kinds[kind].workload != workload_on_device(spec->workload) ||
        (threads > 1 ? !kinds[kind].all : !kinds[kind].one))
        return false;
    if (kind == S_TREE && ordo_type_bytes(spec->type) != 4)
        return false;
    return spec->count > 0 && spec->count <= (kind == QSORT ? QSORT_MAX : ELEMENTS_MAX);
}

int array_peers(const struct spec *spec, int threads, struct host_peer peers[HOST_PEERS_MAX])
{
    int n = 0;
    for (int kind = 0; kind < (int) (sizeof kinds / sizeof *kinds); kind++)
        for (int t = 1; t <= threads; t += threads > 1 ? threads - 1 : 1) {
            if (!offered(spec, kind, t))
                continue;
            peers[n] = (struct host_peer) { .kind = kind, .threads = t };
            snprintf(peers[n].name, sizeof peers[n].name, "%s", kinds[kind].name);
            snprintf(peers[n].call, sizeof peers[n].call, "%s", kinds[kind].call);
            snprintf(peers[n].version, sizeof peers[n].version, "%s%.60s", kinds[kind].in_libc ? "glibc " : "",
                     kinds[kind].in_libc ? gnu_get_libc_version() : COMPILER);
            n++;
        }
    return n;
}

/* ---- sorts --------------------------------------------------------------------------------------------------- */

/* The first element of part p. */
static size_t begin_of(const struct host_array *a, size_t parts, size_t p)
{
    return a->spec->count / parts * p + (p == parts ? a->spec->count % parts : 0);
}

static struct pairs at_element(const struct host_array *a, struct pairs pairs, size_t at)
{
    return pairs_from(pairs, a->buffers.key_bytes, a->spec->value_bytes, at);
}

static void sort_part(void *array_, int p)
{
    struct host_array *a = array_;
    const size_t       from = begin_of(a, a->runs, (size_t) p), count = begin_of(a, a->runs, (size_t) p + 1) - from;
    const struct pairs work = at_element(a, a->buffers.work, from), spare = at_element(a, a->buffers.spare, from);
    if (a->peer->kind == RADIX)
        host_radix_sort(work, spare, a->buffers.key_bytes, a->spec->value_bytes, count);
    else
        a->sums[p] = host_qsort(work, a->buffers.key_bytes, a->spec->value_bytes, count) < 0;
}

/* Writes a span of the output of all pairwise merges. */
static void merge_part(void *array_, int p)
{
    struct host_array *a = array_;
    const size_t       threads = (size_t) a->threads, count = a->spec->count;
    const size_t       from = count * (size_t) p / threads, to = count * (size_t) (p + 1) / threads;
    for (size_t r = 0; r < a->runs; r += 2) {
        const size_t low = begin_of(a, a->runs, r), mid = begin_of(a, a->runs, r + 1),
                     high = r + 1 < a->runs ? begin_of(a, a->runs, r + 2) : mid;
        const size_t begin = from > low ? from : low, end = to < high ? to : high;
        if (begin < end)
            host_merge_span(at_element(a, a->from, low), mid - low, at_element(a, a->from, mid), high - mid,
                            a->buffers.key_bytes, a->spec->value_bytes, begin - low, end - low,
                            at_element(a, a->to, low));
    }
}

static size_t power_of_two_from(size_t n)
{
    size_t power = 1;
    while (power < n)
        power *= 2;
    return power;
}

static void merge_runs(struct host_array *a)
{
    run_parts(a->threads, merge_part, a);
    const struct pairs next = a->from;
    a->from = a->to;
    a->to = next;
}

/* Leaves the result in a->from. */
static void sort_all(struct host_array *a)
{
    a->runs = power_of_two_from((size_t) a->threads);
    a->runs = a->runs > MAX_PARTS ? MAX_PARTS : a->runs;
    run_parts((int) a->runs, sort_part, a);
    a->from = a->buffers.work;
    a->to = a->buffers.spare;
    for (; a->runs > 1; a->runs /= 2)
        merge_runs(a);
}

/* ---- sums and searches --------------------------------------------------------------------------------------- */

static void sum_part(void *array_, int p)
{
    struct host_array *a = array_;
    const size_t       parts = (size_t) a->threads, from = begin_of(a, parts, (size_t) p);
    const struct pairs in = { spec_op(a->spec) == ORDO_MAX ? a->buffers.work.keys : a->in->keys, NULL };
    a->sums[p] = host_scan(at_element(a, in, from).keys, a->buffers.key_bytes,
                           begin_of(a, parts, (size_t) p + 1) - from, spec_op(a->spec) == ORDO_MAX, NULL);
}

static void search_part(void *array_, int p)
{
    struct host_array *a = array_;
    const size_t       n = a->spec->n_queries, parts = (size_t) a->threads, bytes = a->buffers.key_bytes;
    for (size_t i = n * (size_t) p / parts; i < n * (size_t) (p + 1) / parts; i++)
        a->ranks[i] = (uint32_t) host_lower_bound(a->buffers.work.keys, bytes, a->spec->count,
                                                  key_order(a->spec->type, element(a->in->queries, bytes, i)));
}

/* The total in stored form. */
static uint64_t total(const struct host_array *a)
{
    const bool maximum = spec_op(a->spec) == ORDO_MAX;
    uint64_t   all = 0;
    for (int p = 0; p < a->threads; p++)
        all = !maximum ? all + a->sums[p] : a->sums[p] > all ? a->sums[p] : all;
    return maximum ? key_stored(a->spec->type, all) : all;
}

/* ---- all ----------------------------------------------------------------------------------------------------- */

static void do_once(struct host_array *a)
{
    switch (a->peer->kind) {
    case RADIX:
    case QSORT:
        sort_all(a);
        break;
    case MERGE_LOOP:
        a->runs = 2;
        a->from = a->buffers.work;
        a->to = a->buffers.spare;
        merge_runs(a);
        break;
    case SUM_LOOP:
        run_parts(a->threads, sum_part, a);
        break;
    case BINARY:
        run_parts(a->threads, search_part, a);
        break;
    default:
        stree_ranks(&a->tree, a->queries, a->spec->n_queries, a->ranks);
        break;
    }
}

static bool sorts(const struct host_array *a)
{
    return a->peer->kind == RADIX || a->peer->kind == QSORT;
}

/* A host_run_fn. */
static double run(void *array_, int calls)
{
    struct host_array *a = array_;
    if (sorts(a))
        host_buffers_fill(&a->buffers, a->spec, a->in);
    const double before = now();
    for (int i = 0; i < calls; i++)
        do_once(a);
    const double took = now() - before;
    for (int p = 0; p < MAX_PARTS && a->peer->kind == QSORT; p++)
        if (a->sums[p]) /* out of memory */
            return -1;
    return took;
}

static bool array_right(const struct host_array *a, char *why)
{
    const uint64_t all = total(a);
    struct answer  answer = {
         .keys = a->from.keys, .values = a->spec->value_bytes ? a->from.values : NULL, .ranks = a->ranks, .total = &all
    };
    for (size_t i = 0; (sorts(a) || a->peer->kind == MERGE_LOOP) && i < a->spec->count; i++)
        set_element(a->from.keys, a->buffers.key_bytes, i,
                    key_stored(a->spec->type, element(a->from.keys, a->buffers.key_bytes, i)));
    return answer_check(a->spec, a->in, &answer, a->peer->kind == QSORT, why);
}

static bool open_array(struct host_array *a)
{
    const size_t n = a->spec->n_queries;
    if (!host_buffers_open(&a->buffers, a->spec))
        return false;
    host_buffers_fill(&a->buffers, a->spec, a->in);
    if (a->spec->workload != SEARCH)
        return true;
    a->ranks = calloc(n + 1, sizeof *a->ranks);
    if (!a->ranks || a->peer->kind != S_TREE)
        return a->ranks;
    a->queries = malloc(n * sizeof *a->queries + 8);
    for (size_t i = 0; a->queries && i < n; i++)
        a->queries[i] = (uint32_t) key_order(a->spec->type, element(a->in->queries, 4, i));
    return a->queries && stree_make(&a->tree, a->buffers.work.keys, a->spec->count);
}

static void close_array(struct host_array *a)
{
    stree_free(&a->tree);
    free(a->queries);
    free(a->ranks);
    host_buffers_close(&a->buffers);
}

double stree_seconds(const struct spec *spec, const struct inputs *in, size_t queries)
{
    const struct host_peer peer = { .kind = S_TREE };
    struct spec            fewer = *spec;
    struct host_array      a = { .peer = &peer, .spec = &fewer, .in = in, .threads = 1 };
    char                   why[WHY_BYTES];
    fewer.n_queries = queries;
    double seconds = ordo_type_bytes(spec->type) == 4 && open_array(&a) ? run(&a, 1) : -1;
    if (seconds >= 0 && !array_right(&a, why))
        seconds = -1;
    close_array(&a);
    return seconds;
}

bool array_peer_measure(const struct host_peer *peer, const struct spec *spec, const struct inputs *in,
                        const struct timing_goal *goal, struct host_figures *out)
{
    struct host_array a = { .peer = peer, .spec = spec, .in = in, .threads = peer->threads };
    *out = (struct host_figures) { .rate = NAN };
    a.threads = a.threads > MAX_PARTS ? MAX_PARTS : a.threads;
    const bool good = open_array(&a) && time_host(run, &a, sorts(&a), goal, &out->timing);
    if (good) {
        out->rate = (double) spec_operations(spec) / out->timing.wall.median;
        out->right = array_right(&a, out->why);
    } else {
        because(out->why, "out of memory");
    }
    close_array(&a);
    return good;
}
