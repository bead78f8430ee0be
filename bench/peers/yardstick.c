/* SPDX-License-Identifier: Apache-2.0 */
#include "host.h"

#include "bench/common/timing.h"
#include "bench/workload/baseline.h"
#include "bench/workload/keys.h"
#include "bench/workload/workload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define QSORT_MOST   ((size_t) 1 << 20)
#define ARRAY_MOST   ((size_t) 1 << 24)
#define QUERIES_MOST ((size_t) 1 << 20)
#define TIMES        3
/* Seconds, after which it is not done once more. */
#define ENOUGH 0.1

const char *array_yardstick_name(enum workload workload, int i)
{
    static const char *const names[N_WORKLOADS][MAX_YARDSTICKS] = {
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
    return i < MAX_YARDSTICKS ? names[workload_on_device(workload)][i] : NULL;
}

/* What a compiler must not find unused. */
static volatile size_t sink;

static void merge_all_runs(const struct spec *spec, const struct desk *desk)
{
    struct pairs from = desk->work, to = desk->spare;
    const size_t each = spec->count / spec_runs(spec);
    for (size_t runs = spec_runs(spec), length = each; runs > 1; runs /= 2, length *= 2) {
        for (size_t r = 0; r < runs; r += 2) {
            const size_t at = r * length, count = r + 2 == runs ? spec->count - at : 2 * length;
            char        *keys = from.keys, *values = from.values, *keys_out = to.keys, *values_out = to.values;
            host_merge((struct pairs) { keys + at * desk->key_bytes, values + at * spec->value_bytes }, desk->key_bytes,
                       spec->value_bytes, length, count,
                       (struct pairs) { keys_out + at * desk->key_bytes, values_out + at * spec->value_bytes });
        }
        const struct pairs next = from;
        from = to;
        to = next;
    }
}

static size_t queries_timed(const struct spec *spec)
{
    return spec->n_queries < QUERIES_MOST ? spec->n_queries : QUERIES_MOST;
}

static void search_queries(const struct spec *spec, const struct inputs *in, const struct desk *desk)
{
    uint32_t *ranks = desk->spare.keys; /* as many as fit: stored only so that the work is not left out */
    for (size_t i = 0; i < queries_timed(spec); i++) {
        const uint64_t query = key_order(spec->type, element(in->queries, desk->key_bytes, i));
        const size_t   rank = host_lower_bound(desk->work.keys, desk->key_bytes, spec->count, query);
        if (spec->workload == EQUAL_RANGE) /* the second search begins where the first one ended */
            sink = rank + host_lower_bound((const char *) desk->work.keys + rank * desk->key_bytes, desk->key_bytes,
                                           spec->count - rank, query + 1);
        if (spec->workload == LOOKUP && spec->value_bytes && rank < spec->count)
            sink = (size_t) element(desk->work.values, spec->value_bytes, rank);
        if (i < spec->count && i < QUERIES_MOST)
            ranks[i] = (uint32_t) rank;
        else
            sink = rank;
    }
}

static double one_run(const struct spec *spec, const struct inputs *in, int i, const struct desk *desk)
{
    if (!workload_has_queries(spec->workload))
        desk_lay_out(desk, spec, in);
    const double before = now();
    switch (workload_on_device(spec->workload)) {
    case SORT:
        if (i == 1)
            return host_qsort(desk->work, desk->key_bytes, spec->value_bytes, spec->count);
        host_radix_sort(desk->work, desk->spare, desk->key_bytes, spec->value_bytes, spec->count);
        break;
    case MERGE:
    case MERGE_RUNS:
        merge_all_runs(spec, desk);
        break;
    case SCAN:
        sink = (size_t) host_scan(desk->work.keys, desk->key_bytes, spec->count, spec_op(spec) == ORDO_MAX,
                                  desk->spare.keys);
        break;
    case REDUCE:
        sink = (size_t) host_scan(desk->work.keys, desk->key_bytes, spec->count, spec_op(spec) == ORDO_MAX, NULL);
        break;
    case COMPACT:
        sink = host_compact(desk->work, in->flags, desk->key_bytes, spec->value_bytes, spec->count, desk->spare);
        break;
    case GROUPBY:
        sink = host_group(desk->work, desk->key_bytes, spec->value_bytes, spec->count);
        break;
    case TOP:
        sink = (size_t) host_top(desk->work.keys, desk->key_bytes, spec->count, spec_top(spec), desk->spare.keys);
        break;
    case SELECT: /* of a sorted array */
        host_radix_sort((struct pairs) { desk->work.keys, NULL }, (struct pairs) { desk->spare.keys, NULL },
                        desk->key_bytes, 0, spec->count);
        break;
    case GATHER:
        sink = host_gather(in->rows, in->keys, spec_row_bytes(spec), spec->count, desk->rows);
        break;
    default:
        if (i == 1)
            return stree_seconds(spec, in, queries_timed(spec));
        search_queries(spec, in, desk);
        break;
    }
    return now() - before;
}

static double measure(const struct spec *spec, const struct inputs *in, int i)
{
    const bool   queries = workload_has_queries(spec->workload);
    const size_t most = workload_on_device(spec->workload) == SORT && i == 1 ? QSORT_MOST : ARRAY_MOST;
    struct desk  desk = { { NULL, NULL }, { NULL, NULL }, 0, NULL };
    double       seconds[TIMES];
    int          times = 0;

    if (spec->count == 0 || (!queries && spec->count > most))
        return NAN;
    const bool open = desk_open(&desk, spec);
    if (open)
        desk_lay_out(&desk, spec, in);
    if (open)
        for (double all = 0; times < TIMES && (times == 0 || all < ENOUGH); times++) {
            seconds[times] = one_run(spec, in, i, &desk);
            all += seconds[times];
        }
    desk_close(&desk);
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

double yardstick_rate(const struct spec *spec, const struct inputs *in, int i)
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
