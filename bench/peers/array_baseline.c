/* SPDX-License-Identifier: Apache-2.0 */
#include "host.h"

#include "bench/common/timing.h"
#include "bench/workload/baseline.h"
#include "bench/workload/keys.h"
#include "bench/workload/workload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define QSORT_MAX   ((size_t) 1 << 20)
#define ARRAY_MAX   ((size_t) 1 << 24)
#define QUERIES_MAX ((size_t) 1 << 20)
#define TIMES       3
/* Seconds, after which it is not done once more. */
#define ENOUGH 0.1

const char *array_baseline_name(enum workload workload, int i)
{
    static const char *const names[N_WORKLOADS][BASELINES_MAX] = {
        [SORT] = { "radix", "qsort" },
        [MERGE] = { "merge" },
        [MERGE_RUNS] = { "merge" },
        [SCAN] = { "loop" },
        [REDUCE] = { "loop" },
        [COMPACT] = { "loop" },
        [SEARCH] = { "binary", "s-tree" },
        [LOOKUP] = { "binary" },
        [EQUAL_RANGE] = { "binary" },
        [GROUPBY] = { "table" },
        [TOP] = { "heap" },
        [SELECT] = { "radix" },
        [GATHER] = { "loop" },
    };
    return i < BASELINES_MAX ? names[workload_on_device(workload)][i] : NULL;
}

/* What a compiler must not find unused. */
static volatile size_t sink;

static void merge_all_runs(const struct spec *spec, const struct host_buffers *buffers)
{
    struct pairs from = buffers->work, to = buffers->spare;
    const size_t each = spec->count / spec_runs(spec);
    for (size_t runs = spec_runs(spec), length = each; runs > 1; runs /= 2, length *= 2) {
        for (size_t r = 0; r < runs; r += 2) {
            const size_t at = r * length, count = r + 2 == runs ? spec->count - at : 2 * length;
            char        *keys = from.keys, *values = from.values, *keys_out = to.keys, *values_out = to.values;
            host_merge((struct pairs) { keys + at * buffers->key_bytes, values + at * spec->value_bytes },
                       buffers->key_bytes, spec->value_bytes, length, count,
                       (struct pairs) { keys_out + at * buffers->key_bytes, values_out + at * spec->value_bytes });
        }
        const struct pairs next = from;
        from = to;
        to = next;
    }
}

static size_t queries_timed(const struct spec *spec)
{
    return spec->n_queries < QUERIES_MAX ? spec->n_queries : QUERIES_MAX;
}

static void search_queries(const struct spec *spec, const struct inputs *in, const struct host_buffers *buffers)
{
    uint32_t *ranks = buffers->spare.keys; /* as many as fit: stored only so that the work is not left out */
    for (size_t i = 0; i < queries_timed(spec); i++) {
        const uint64_t query = key_order(spec->type, element(in->queries, buffers->key_bytes, i));
        const size_t   rank = host_lower_bound(buffers->work.keys, buffers->key_bytes, spec->count, query);
        if (spec->workload == EQUAL_RANGE) /* the second search begins where the first one ended */
            sink = rank + host_lower_bound((const char *) buffers->work.keys + rank * buffers->key_bytes,
                                           buffers->key_bytes, spec->count - rank, query + 1);
        if (spec->workload == LOOKUP && spec->value_bytes && rank < spec->count)
            sink = (size_t) element(buffers->work.values, spec->value_bytes, rank);
        if (i < spec->count && i < QUERIES_MAX)
            ranks[i] = (uint32_t) rank;
        else
            sink = rank;
    }
}

static double one_run(const struct spec *spec, const struct inputs *in, int i, const struct host_buffers *buffers)
{
    if (!workload_has_queries(spec->workload))
        host_buffers_fill(buffers, spec, in);
    const double before = now();
    switch (workload_on_device(spec->workload)) {
    case SORT:
        if (i == 1)
            return host_qsort(buffers->work, buffers->key_bytes, spec->value_bytes, spec->count);
        host_radix_sort(buffers->work, buffers->spare, buffers->key_bytes, spec->value_bytes, spec->count);
        break;
    case MERGE:
    case MERGE_RUNS:
        merge_all_runs(spec, buffers);
        break;
    case SCAN:
        sink = (size_t) host_scan(buffers->work.keys, buffers->key_bytes, spec->count, spec_op(spec) == ORDO_MAX,
                                  buffers->spare.keys);
        break;
    case REDUCE:
        sink = (size_t) host_scan(buffers->work.keys, buffers->key_bytes, spec->count, spec_op(spec) == ORDO_MAX, NULL);
        break;
    case COMPACT:
        sink =
            host_compact(buffers->work, in->flags, buffers->key_bytes, spec->value_bytes, spec->count, buffers->spare);
        break;
    case GROUPBY:
        sink = host_group(buffers->work, buffers->key_bytes, spec->value_bytes, spec->count);
        break;
    case TOP:
        sink =
            (size_t) host_top(buffers->work.keys, buffers->key_bytes, spec->count, spec_top(spec), buffers->spare.keys);
        break;
    case SELECT: /* of a sorted array */
        host_radix_sort((struct pairs) { buffers->work.keys, NULL }, (struct pairs) { buffers->spare.keys, NULL },
                        buffers->key_bytes, 0, spec->count);
        break;
    case GATHER:
        sink = host_gather(in->rows, in->keys, spec_row_bytes(spec), spec->count, buffers->rows);
        break;
    default:
        if (i == 1)
            return stree_seconds(spec, in, queries_timed(spec));
        search_queries(spec, in, buffers);
        break;
    }
    return now() - before;
}

static double measure(const struct spec *spec, const struct inputs *in, int i)
{
    const bool          queries = workload_has_queries(spec->workload);
    const size_t        most = workload_on_device(spec->workload) == SORT && i == 1 ? QSORT_MAX : ARRAY_MAX;
    struct host_buffers buffers = { { NULL, NULL }, { NULL, NULL }, 0, NULL };
    double              seconds[TIMES];
    int                 times = 0;

    if (spec->count == 0 || (!queries && spec->count > most))
        return NAN;
    const bool open = host_buffers_open(&buffers, spec);
    if (open)
        host_buffers_fill(&buffers, spec, in);
    if (open)
        for (double all = 0; times < TIMES && (times == 0 || all < ENOUGH); times++) {
            seconds[times] = one_run(spec, in, i, &buffers);
            all += seconds[times];
        }
    host_buffers_close(&buffers);
    if (times == 0 || seconds[0] < 0)
        return NAN;
    return (double) (queries ? queries_timed(spec) : spec->count) / spread_of(seconds, times).median;
}

/* ---- once for all forms of a workload on the same data ----------------------------------------------------------- */

/* Those measured last; the oldest makes room. */
#define KNOWN 32
static struct {
    struct spec spec;
    int         i;
    double      rate;
} known[KNOWN];
static size_t n_known;

/* What code of the host goes by: of searches whether queries are sorted, not how the device finds. */
static bool same_work(const struct spec *a, const struct spec *b)
{
    const bool queries = workload_has_queries(a->workload);
    const bool same =
        queries ? variant_is_sorted(a->variant) == variant_is_sorted(b->variant) : a->variant == b->variant;
    return same && a->workload == b->workload && a->type == b->type && a->value_bytes == b->value_bytes &&
           a->dist == b->dist && a->count == b->count && a->n_queries == b->n_queries && a->seed == b->seed;
}

double baseline_rate(const struct spec *spec, const struct inputs *in, int i)
{
    for (size_t k = 0; k < n_known && k < KNOWN; k++)
        if (known[k].i == i && same_work(&known[k].spec, spec))
            return known[k].rate;
    const size_t at = n_known++ % KNOWN;
    known[at].spec = *spec;
    known[at].i = i;
    known[at].rate = measure(spec, in, i);
    return known[at].rate;
}
