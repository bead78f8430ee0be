/* SPDX-License-Identifier: Apache-2.0 */
/* Plain code and libraries on the host for array workloads: as a baseline on one thread, and as a peer that is timed
 * like the device and checked. */
#include "host.h"

#include "search_peer.h"
#include "sort_peer.h"

#include "bench/common/threads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif
#define TEXT_OF(x)          #x
#define GLIBC(major, minor) "glibc " TEXT_OF(major) "." TEXT_OF(minor)
#define LIBC                GLIBC(__GLIBC__, __GLIBC_MINOR__)

/* Elements that qsort sorts in reasonable time, and the limit of the others, as a peer and as a baseline. */
#define QSORT_MAX          ((size_t) 1 << 22)
#define ELEMENTS_MAX       ((size_t) 1 << 27)
#define BASELINE_QSORT_MAX ((size_t) 1 << 20)
#define BASELINE_MAX       ((size_t) 1 << 24)
#define BASELINE_QUERIES   ((size_t) 1 << 20)

enum code {
    RADIX,
    QSORT,
    PAIRS_SORT,   /* a library's, of keys and values in two arrays */
    RECORDS_SORT, /* a library's, of records made of key and value */
    MERGE_LOOP,
    SUM_LOOP,
    SCAN_LOOP,
    COMPACT_LOOP,
    BINARY,
    S_TREE,
    PGM,
    TABLE,
    HEAP,
    COPY_LOOP
};

struct kind {
    enum workload workload;
    enum code     code;
    const char   *baseline;    /* name of the baseline */
    const char   *peer, *call; /* name and text of the peer; NULL: none */
    bool          one_thread;  /* the peer runs on one thread too */
    const char   *version;     /* of the library; NULL: the compiler's */

    void (*sort_pairs)(struct pairs pairs, size_t key_bytes, size_t value_bytes, size_t count);
    bool                      keys_only; /* sort_pairs takes no values */
    const struct record_sort *sort_records;
};

static const struct kind kinds[] = {
    { SORT, RADIX, "radix", "radix sort", "8 bits a pass; on several threads parts, then merged", true },
    { SORT, QSORT, "qsort", "qsort", "of records made of key and value; on several threads parts, then merged", true,
      LIBC },
#if BENCH_PARLAY
    { SORT, RECORDS_SORT, NULL, "parlay", "integer_sort_inplace of records made of key and value", true, "parlaylib",
      .sort_records = &parlay_sort }, /* its headers have no version */
#endif
#if BENCH_IPS2RA
    { SORT, RECORDS_SORT, NULL, "ips2ra", "parallel::sort of records made of key and value", true, "ips2ra",
      .sort_records = &ips2ra_sort }, /* its headers have no version */
#endif
#if BENCH_TBB
    { SORT, RECORDS_SORT, NULL, "tbb", "parallel_sort of records made of key and value", true, tbb_version,
      .sort_records = &tbb_sort },
#endif
#if BENCH_HIGHWAY
    { SORT, PAIRS_SORT, NULL, "vqsort", "hwy::VQSort; on several threads parts, then merged", true, vqsort_version,
      .sort_pairs = vqsort_pairs, .keys_only = true },
#endif
#if BENCH_SIMDSORT
    { SORT, PAIRS_SORT, NULL, "x86-simd-sort", "qsort, keyvalue_qsort; on several threads parts, then merged", true,
      "x86-simd-sort", .sort_pairs = simdsort_pairs }, /* its header has no version */
#endif
    { MERGE, MERGE_LOOP, "merge", "merge", "one loop; on several threads a span of the output each", true },
    { MERGE_RUNS, MERGE_LOOP, .baseline = "merge" },
    { SCAN, SCAN_LOOP, .baseline = "loop" },
    { REDUCE, SUM_LOOP, "loop", "sum", "one loop; on several threads a span each", true },
    { COMPACT, COMPACT_LOOP, .baseline = "loop" },
    { SEARCH, BINARY, "binary", "sorted array", "binary search, one query after another", true },
    { SEARCH, S_TREE, "s-tree", "S-tree", "16 keys a node, AVX2, 16 queries in step", false },
#if BENCH_PGM
    { SEARCH, PGM, NULL, "PGM-index", "search with an error of at most 64, then std::lower_bound", true,
      "PGM-index" }, /* its headers have no version */
#endif
    { LOOKUP, BINARY, .baseline = "binary" },
    { EQUAL_RANGE, BINARY, .baseline = "binary" },
    { GROUPBY, TABLE, .baseline = "table" },
    { TOP, HEAP, .baseline = "heap" },
    { SELECT, RADIX, .baseline = "radix" }, /* of a sorted array */
    { GATHER, COPY_LOOP, .baseline = "loop" },
};
#define N_KINDS ((int) (sizeof kinds / sizeof *kinds))
_Static_assert(2 * N_KINDS <= HOST_PEERS_MAX, "each kind is listed for up to two numbers of threads");

/* The i-th kind of a workload; NULL past the last. */
static const struct kind *kind_of(enum workload workload, int i)
{
    for (int k = 0; k < N_KINDS; k++)
        if (kinds[k].workload == workload_on_device(workload) && i-- == 0)
            return &kinds[k];
    return NULL;
}

struct host_array {
    const struct kind   *kind;
    const struct spec   *spec;
    const struct inputs *in;
    struct pairs         work, spare; /* a copy of the inputs with keys in ordered form; outputs */
    size_t               key_bytes;
    struct stree         tree;
    uint32_t            *queries, *ranks; /* for searches; 4-byte queries for the S-tree */
    uint64_t             sums[MAX_PARTS];
    struct pairs         from, to;     /* of the current merges; the result is in `from` */
    size_t               runs, length; /* sorted runs, and the length of all but the last */
    int                  threads;
    void                *records; /* of sort_records */
    void                *index;   /* of PGM */
};

/* Keeps results alive. */
static volatile size_t sink;

static bool sorts(const struct host_array *a)
{
    return a->kind->code <= RECORDS_SORT;
}

static bool is_stable(const struct kind *kind)
{
    return kind->code != QSORT && kind->code != PAIRS_SORT && kind->code != RECORDS_SORT;
}

static bool is_maximum(const struct host_array *a)
{
    return spec_op(a->spec) == ORDO_MAX;
}

/* ---- sorts and merges ---------------------------------------------------------------------------------------- */

static size_t begin_of(const struct host_array *a, size_t r)
{
    return r < a->runs ? r * a->length : a->spec->count;
}

static struct pairs at_element(const struct host_array *a, struct pairs pairs, size_t at)
{
    return pairs_from(pairs, a->key_bytes, a->spec->value_bytes, at);
}

static void begin_runs(struct host_array *a, size_t runs)
{
    a->runs = runs;
    a->length = a->spec->count / runs;
    a->from = a->work;
    a->to = a->spare;
}

static void sort_run(void *array_, int r)
{
    struct host_array *a = array_;
    const size_t       from = begin_of(a, (size_t) r), count = begin_of(a, (size_t) r + 1) - from;
    const size_t       value_bytes = a->spec->workload == SELECT ? 0 : a->spec->value_bytes;
    const struct pairs work = at_element(a, a->work, from), spare = at_element(a, a->spare, from);
    if (a->kind->code == RADIX)
        host_radix_sort(work, spare, a->key_bytes, value_bytes, count);
    else if (a->kind->code == PAIRS_SORT)
        a->kind->sort_pairs(work, a->key_bytes, value_bytes, count);
    else
        host_qsort(work, (char *) a->spare.keys + from * (a->key_bytes + value_bytes), a->key_bytes, value_bytes,
                   count);
}

/* Writes a span of the output of all pairwise merges. */
static void merge_span(void *array_, int p)
{
    struct host_array *a = array_;
    const size_t       threads = (size_t) a->threads, count = a->spec->count;
    const size_t       from = count * (size_t) p / threads, to = count * (size_t) (p + 1) / threads;
    for (size_t r = 0; r < a->runs; r += 2) {
        const size_t low = begin_of(a, r), mid = begin_of(a, r + 1), high = begin_of(a, r + 2);
        const size_t begin = from > low ? from : low, end = to < high ? to : high;
        if (begin < end)
            host_merge_span(at_element(a, a->from, low), mid - low, at_element(a, a->from, mid), high - mid,
                            a->key_bytes, a->spec->value_bytes, begin - low, end - low, at_element(a, a->to, low));
    }
}

/* Merges pairs of runs until one is left. Their number is a power of two. */
static void merge_all(struct host_array *a)
{
    for (; a->runs > 1; a->runs /= 2, a->length *= 2) {
        run_parts(a->threads, merge_span, a);
        const struct pairs next = a->from;
        a->from = a->to;
        a->to = next;
    }
}

static void sum_span(void *array_, int p)
{
    struct host_array *a = array_;
    const size_t       parts = (size_t) a->threads, each = a->spec->count / parts, from = each * (size_t) p;
    const size_t       count = p + 1 == a->threads ? a->spec->count - from : each;
    const struct pairs in = { is_maximum(a) ? a->work.keys : a->in->keys, NULL };
    a->sums[p] = host_scan(at_element(a, in, from).keys, a->key_bytes, count, is_maximum(a), NULL);
}

/* The total in stored form. */
static uint64_t total(const struct host_array *a)
{
    uint64_t all = 0;
    for (int p = 0; p < a->threads; p++)
        all = !is_maximum(a) ? all + a->sums[p] : a->sums[p] > all ? a->sums[p] : all;
    return is_maximum(a) ? key_stored(a->spec->type, all) : all;
}

static size_t rank_of(const struct host_array *a, uint64_t query)
{
#if BENCH_PGM
    if (a->index)
        return pgm_rank(a->index, query);
#endif
    return host_lower_bound(a->work.keys, a->key_bytes, a->spec->count, query);
}

static void search_span(void *array_, int p)
{
    struct host_array *a = array_;
    const struct spec *spec = a->spec;
    const size_t       n = spec->n_queries, parts = (size_t) a->threads, bytes = a->key_bytes;
    for (size_t i = n * (size_t) p / parts; i < n * (size_t) (p + 1) / parts; i++) {
        const uint64_t query = key_order(spec->type, element(a->in->queries, bytes, i));
        const size_t   rank = rank_of(a, query);
        a->ranks[i] = (uint32_t) rank;
        if (spec->workload == EQUAL_RANGE) /* the second search begins at the first result */
            sink = rank + host_lower_bound(at_element(a, a->work, rank).keys, bytes, spec->count - rank, query + 1);
        if (spec->workload == LOOKUP && spec->value_bytes && rank < spec->count)
            sink = (size_t) element(a->work.values, spec->value_bytes, rank);
    }
}

static void do_once(struct host_array *a)
{
    const struct spec *spec = a->spec;
    size_t             runs = 1;
    switch (a->kind->code) {
    case RADIX:
    case QSORT:
    case PAIRS_SORT:
        while (runs < (size_t) a->threads && runs < MAX_PARTS)
            runs *= 2;
        begin_runs(a, runs);
        run_parts((int) runs, sort_run, a);
        merge_all(a);
        break;
    case RECORDS_SORT:
        a->kind->sort_records->sort(a->records);
        break;
    case MERGE_LOOP:
        begin_runs(a, spec_runs(spec));
        merge_all(a);
        break;
    case SUM_LOOP:
        run_parts(a->threads, sum_span, a);
        break;
    case SCAN_LOOP:
        sink = (size_t) host_scan(a->work.keys, a->key_bytes, spec->count, is_maximum(a), a->spare.keys);
        break;
    case COMPACT_LOOP:
        sink = host_compact(a->work, a->in->flags, a->key_bytes, spec->value_bytes, spec->count, a->spare);
        break;
    case BINARY:
    case PGM:
        run_parts(a->threads, search_span, a);
        break;
    case S_TREE:
        stree_ranks(&a->tree, a->queries, spec->n_queries, a->ranks);
        break;
    case TABLE:
        sink = host_group(a->work, a->key_bytes, spec->value_bytes, spec->count);
        break;
    case HEAP:
        sink = (size_t) host_top(a->work.keys, a->key_bytes, spec->count, spec_top(spec), a->spare.keys);
        break;
    case COPY_LOOP:
        sink = host_gather(a->in->rows, a->in->keys, spec_row_bytes(spec), spec->count, a->spare.keys);
        break;
    }
}

static void fill(const struct host_array *a)
{
    if (a->spec->workload == GATHER)
        return;
    keys_order(a->spec->type, a->in->keys, a->spec->count, a->work.keys);
    if (a->spec->value_bytes)
        memcpy(a->work.values, a->in->values, a->spec->count * a->spec->value_bytes);
    if (a->records)
        a->kind->sort_records->fill(a->records, a->work);
}

/* Touches the pages of outputs before any timing. NULL without memory. */
static void *touched(size_t bytes)
{
    void *memory = malloc(bytes + 8);
    if (memory)
        fill_bytes(memory, 0, bytes);
    return memory;
}

/* False without memory. Close it in any case. */
static bool open_array(struct host_array *a)
{
    const struct spec *spec = a->spec;
    const size_t       n = workload_has_queries(spec->workload) ? spec->n_queries : 0, count = spec->count;
    const size_t       bytes = spec->workload == GATHER ? spec_row_bytes(spec) : ordo_type_bytes(spec->type);
    const size_t       out = n ? 0 : count;
    a->key_bytes = ordo_type_bytes(spec->type);
    a->work = (struct pairs) { malloc(count * a->key_bytes + 8), malloc(count * spec->value_bytes + 8) };
    /* Records for qsort need both in one array. */
    a->spare = (struct pairs) { touched(out * (bytes + spec->value_bytes)), touched(out * spec->value_bytes) };
    a->ranks = calloc(n + 1, sizeof *a->ranks);
    a->queries = calloc(n + 2, sizeof *a->queries);
    if (!a->work.keys || !a->work.values || !a->spare.keys || !a->spare.values || !a->ranks || !a->queries)
        return false;
    if (a->kind->sort_records &&
        !(a->records = a->kind->sort_records->open(a->key_bytes, spec->value_bytes, count, a->threads)))
        return false;
    a->from = a->work;
    fill(a);
#if BENCH_PGM
    if (a->kind->code == PGM)
        return (a->index = pgm_open(a->work.keys, a->key_bytes, count)) != NULL;
#endif
    if (a->kind->code != S_TREE)
        return true;
    for (size_t i = 0; i < n; i++)
        a->queries[i] = (uint32_t) key_order(spec->type, element(a->in->queries, 4, i));
    return stree_make(&a->tree, a->work.keys, count); /* NOLINT(clang-analyzer-unix.Malloc): close_array frees all */
}

static void close_array(struct host_array *a)
{
    if (a->records)
        a->kind->sort_records->close(a->records);
#if BENCH_PGM
    pgm_close(a->index);
#endif
    stree_free(&a->tree);
    void *const all[] = { a->queries, a->work.keys, a->work.values, a->spare.keys, a->spare.values, a->ranks };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static struct elapsed run(void *array_, int calls)
{
    struct host_array *a = array_;
    if (!workload_has_queries(a->spec->workload)) /* the last run may have changed them */
        fill(a);
    const struct elapsed before = elapsed_now();
    for (int i = 0; i < calls; i++)
        do_once(a);
    return elapsed_since(before);
}

/* ---- peers --------------------------------------------------------------------------------------------------- */

int array_peers(const struct spec *spec, int threads, struct host_peer peers[HOST_PEERS_MAX])
{
    const struct kind *kind;
    int                n = 0;
    for (int i = 0; (kind = kind_of(spec->workload, i)); i++)
        for (int t = 1; t <= threads; t += threads > 1 ? threads - 1 : 1)
            if (kind->peer && !type_is_wide(spec->type) && (t > 1 || kind->one_thread) && spec->count > 0 &&
                !(kind->keys_only && spec->value_bytes) &&
                spec->count <= (kind->code == QSORT ? QSORT_MAX : ELEMENTS_MAX) &&
                (kind->code != S_TREE || ordo_type_bytes(spec->type) == 4))
                peers[n++] =
                    (struct host_peer) { kind->peer, kind->version ? kind->version : COMPILER, kind->call, i, t, 0 };
    return n;
}

/* On a->threads threads. `once`: no call is repeated to fill a batch. False without memory. */
static bool measure(struct host_array *a, bool once, const struct timing_goal *goal, struct host_figures *out)
{
    *out = (struct host_figures) { .rate = NAN };
    const bool good = open_array(a) && time_host(run, a, once, goal, &out->timing);
    if (good) {
        const uint64_t all = total(a);
        if (a->records)
            a->kind->sort_records->read(a->records, a->from);
        struct answer answer = { .keys = a->from.keys, .ranks = a->ranks, .total = &all };
        answer.values = a->spec->value_bytes ? a->from.values : NULL;
        for (size_t i = 0; (sorts(a) || a->kind->code == MERGE_LOOP) && a->kind->peer && i < a->spec->count; i++)
            set_element(a->from.keys, a->key_bytes, i,
                        key_stored(a->spec->type, element(a->from.keys, a->key_bytes, i)));
        out->rate = (double) spec_operations(a->spec) / out->timing.wall.median;
        out->right = !a->kind->peer || answer_check(a->spec, a->in, &answer, !is_stable(a->kind), out->why);
    } else {
        because(out->why, "out of memory");
    }
    close_array(a);
    return good;
}

bool array_peer_measure(const struct host_peer *peer, const struct spec *spec, const struct inputs *in,
                        const struct timing_goal *goal, struct host_figures *out)
{
    struct host_array a = { .kind = kind_of(spec->workload, peer->kind), .spec = spec, .in = in };
    a.threads = peer->threads > MAX_PARTS ? MAX_PARTS : peer->threads;
    return measure(&a, sorts(&a), goal, out);
}

/* ---- baselines ----------------------------------------------------------------------------------------------- */

#define TIMES 3
/* Seconds after which it is not repeated. */
#define ENOUGH 0.1

const char *array_baseline_name(enum workload workload, int i)
{
    const struct kind *kind = kind_of(workload, i);
    return kind ? kind->baseline : NULL;
}

/* NaN for too many elements, without memory, and if the result is wrong. */
static double rate_of(const struct spec *spec, const struct inputs *in, const struct kind *kind)
{
    const struct timing_goal goal = { .seconds = ENOUGH, .repetitions = TIMES };
    const bool               queries = workload_has_queries(spec->workload);
    const size_t             most = kind->code == QSORT ? BASELINE_QSORT_MAX : BASELINE_MAX;
    struct spec              fewer = *spec;
    struct host_array        a = { .kind = kind, .spec = &fewer, .in = in, .threads = 1 };
    struct host_figures      figures;
    fewer.n_queries = spec->n_queries < BASELINE_QUERIES ? spec->n_queries : BASELINE_QUERIES;
    if (spec->count == 0 || type_is_wide(spec->type) || (!queries && spec->count > most) ||
        (kind->code == S_TREE && ordo_type_bytes(spec->type) != 4))
        return NAN;
    return measure(&a, true, &goal, &figures) && figures.right ? figures.rate : NAN;
}

/* The most recent results, because forms of a workload on the same data have the same baselines. */
#define KNOWN 32
static struct {
    struct spec        spec;
    const struct kind *kind;
    double             rate;
} known[KNOWN];
static size_t n_known;

/* The host cares only for the order of queries, not for their other forms. */
double baseline_rate(const struct spec *spec, const struct inputs *in, int i)
{
    const struct kind *kind = kind_of(spec->workload, i);
    for (size_t k = 0; k < n_known && k < KNOWN; k++) {
        const int  form = known[k].spec.variant;
        const bool same = workload_has_queries(spec->workload)
                              ? variant_is_sorted(form) == variant_is_sorted(spec->variant)
                              : form == spec->variant;
        if (known[k].kind == kind && same && spec_asks_same(&known[k].spec, spec))
            return known[k].rate;
    }
    const size_t at = n_known++ % KNOWN;
    known[at].spec = *spec;
    known[at].kind = kind;
    return known[at].rate = rate_of(spec, in, kind);
}
