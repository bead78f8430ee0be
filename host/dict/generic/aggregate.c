/* SPDX-License-Identifier: Apache-2.0 */
/* Computes sums, minima and maxima of the values in key ranges.
 *
 *   1  Finds the ranks of each range's bounds, and the longest range. Waits.
 *   2  If all ranges are short, writes their values as a range query does, and combines them.
 *   3  Otherwise builds a table that answers each range in constant time (cl/dict/generic/aggregate.cl). */
#include "shared/aggregate.h"
#include "dict/generic/generic.h"
#include "primitive/scan.h"

#define AGGREGATE_FILE "dict/generic/aggregate.cl"

#define SHORT_MAX 128

/* Maximum total length of short ranges. */
#define SHORT_TOTAL ((cl_ulong) 1 << 27)

/* If the ranges have less than 1 / OWN_TABLE_PART of all elements, the table has only the elements in the ranges.
 * Otherwise it has all elements, and is kept until the dictionary changes. */
#define OWN_TABLE_PART 4

struct aggregation {
    ordo_dict                    *dict;
    struct ordo_call             *call;
    const struct ordo_aggregates *a;
    cl_uint                       n;
    /* ranks of each range's first element, and of the element after its last */
    cl_mem first, past;
    /* offsets[i] (uint64_t) is the number of elements in ranges 0 to i - 1 together. */
    cl_mem   offsets;
    cl_ulong total;
    cl_uint  longest;
};

static struct ordo_launch kernel(const struct aggregation *x, const char *name, size_t items)
{
    return ordo_dict_kernel_typed(x->dict, AGGREGATE_FILE, name, x->a->value, x->a->op, items);
}

/* ---- 1 intervals ------------------------------------------------------------------------------------------------- */

static ordo_status rank_bounds(struct aggregation *x, cl_mem lengths)
{
    const struct ordo_aggregates *a = x->a;
    const cl_uint                 all = UINT32_MAX, descending = 0;
    const struct ordo_slice       no_limits = ordo_none();
    struct ordo_args              args = { .n = 0 };
    cl_mem                        ends = NULL;

    const struct ordo_ranks from = { false, a->lo, a->count, ordo_at(x->first, 0) };
    const struct ordo_ranks to = { true, a->hi, a->count, ordo_at(x->past, 0) };
    ORDO_TRY(x->dict->structure->rank(x->dict, x->call, &from));
    ORDO_TRY(x->dict->structure->rank(x->dict, x->call, &to));
    const int mark = x->call->n_scratch;
    ORDO_TRY(ordo_call_scratch(x->call, a->count * sizeof(cl_uint), &ends));
    ordo_args_slice(&args, &a->lo);
    ordo_args_slice(&args, &a->hi);
    ORDO_ADD(&args, ORDO_ARG(x->n), ORDO_ARG(x->first), ORDO_ARG(x->past));
    ordo_args_slice(&args, &no_limits);
    ORDO_ADD(&args, ORDO_ARG(all), ORDO_ARG(descending), ORDO_ARG(lengths), ORDO_ARG(ends));
    const struct ordo_launch launch = ordo_dict_kernel(x->dict, "dict/generic/interval.cl", "interval_limit", a->count);
    ORDO_TRY(ordo_call_launch(x->call, &launch, &args));
    ordo_call_release(x->call, mark);
    return ORDO_OK;
}

static ordo_status measure(struct aggregation *x)
{
    const int mark = x->call->n_scratch;
    cl_mem    lengths = NULL;

    ORDO_TRY(ordo_call_scratch(x->call, (x->n + (size_t) 1) * sizeof(cl_uint), &lengths));
    ORDO_TRY(rank_bounds(x, lengths));
    ORDO_TRY(ordo_dict_offsets(x->call, x->dict, ordo_at(lengths, 0), x->n, ordo_at(x->offsets, 0)));
    if (x->a->counts.mem)
        ORDO_TRY(ordo_call_copy(x->call, lengths, 0, x->a->counts.mem, x->a->counts.at * sizeof(cl_uint),
                                x->n * sizeof(cl_uint)));
    ORDO_TRY(ordo_call_read(x->call, x->offsets, x->n * sizeof x->total, &x->total, sizeof x->total));
    const struct ordo_scan most = { .type = ORDO_U32,
                                    .op = ORDO_MAX,
                                    .inclusive = true,
                                    .in = ordo_at(lengths, 0),
                                    .out = ordo_at(lengths, 0),
                                    .count = x->n };
    ORDO_TRY(ordo_call_scan(x->call, &most));
    ORDO_TRY(ordo_call_read(x->call, lengths, (x->n - (size_t) 1) * sizeof x->longest, &x->longest, sizeof x->longest));
    ordo_call_release(x->call, mark);
    return ORDO_OK;
}

static ordo_status write_values(const struct aggregation *x, cl_mem values)
{
    const struct ordo_ranges ranges = { .lo = x->a->lo,
                                        .hi = x->a->hi,
                                        .count = x->a->count,
                                        .offsets = ordo_at(x->offsets, 0),
                                        .offsets_known = true,
                                        .values_out = ordo_at(values, 0),
                                        .capacity = (size_t) x->total };
    return x->total ? x->dict->structure->range(x->dict, x->call, &ranges) : ORDO_OK;
}

/* Launches kernel `name` for all ranges. Range i begins at index x->first[i] of `values` if `ranks` is true, else at
 * x->offsets[i]. */
static ordo_status answer(const struct aggregation *x, const char *name, cl_mem values, const cl_uint *count,
                          bool ranks)
{
    static const cl_mem none = NULL;
    struct ordo_args    args = { .n = 0 };

    ORDO_ADD(&args, ORDO_ARG(values));
    if (count)
        ORDO_ADD(&args, ORDO_ARG(*count));
    ORDO_ADD(&args, ORDO_ARG(*(ranks ? &none : &x->offsets)), ORDO_ARG(x->first), ORDO_ARG(x->past), ORDO_ARG(x->n));
    ordo_args_slice(&args, &x->a->results);
    const struct ordo_launch launch = kernel(x, name, x->n);
    return ordo_call_launch(x->call, &launch, &args);
}

static ordo_status answer_short(const struct aggregation *x)
{
    cl_mem values = NULL;
    ORDO_TRY(ordo_call_scratch(x->call, (size_t) x->total * x->dict->value_bytes, &values));
    ORDO_TRY(write_values(x, values));
    return answer(x, "aggregate_short", values, NULL, false);
}

static size_t table_values(ordo_op op, size_t count)
{
    size_t values = count + 1;
    if (op != ORDO_SUM)
        for (size_t size = count; size > AGGREGATE_FAN; values += size)
            size = ordo_ceil_div(size, AGGREGATE_FAN);
    return values;
}

/* Makes a table from its first `count` values. */
static ordo_status fill_table(const struct aggregation *x, cl_mem table, size_t count)
{
    if (x->a->op == ORDO_SUM) {
        const struct ordo_scan scan = {
            .type = x->a->value, .op = ORDO_SUM, .in = ordo_at(table, 0), .out = ordo_at(table, 0), .count = count + 1
        };
        ORDO_TRY(ordo_call_fill(x->call, table, count * x->dict->value_bytes, x->dict->value_bytes, 0));
        return ordo_call_scan(x->call, &scan);
    }
    cl_ulong from = 0;
    for (size_t size = count; size > AGGREGATE_FAN;) {
        const cl_uint    here = (cl_uint) size;
        const cl_ulong   to = from + size;
        struct ordo_args args = { .n = 0 };
        ORDO_ADD(&args, ORDO_ARG(table), ORDO_ARG(from), ORDO_ARG(here), ORDO_ARG(to));
        size = ordo_ceil_div(size, AGGREGATE_FAN);
        const struct ordo_launch launch = kernel(x, "aggregate_level", size);
        ORDO_TRY(ordo_call_launch(x->call, &launch, &args));
        from = to;
    }
    return ORDO_OK;
}

static ordo_status answer_by_own_table(const struct aggregation *x)
{
    const cl_uint count = (cl_uint) x->total;
    cl_mem        table = NULL;

    ORDO_TRY(ordo_call_scratch(x->call, table_values(x->a->op, count) * x->dict->value_bytes, &table));
    ORDO_TRY(write_values(x, table));
    ORDO_TRY(fill_table(x, table, count));
    return answer(x, "aggregate_long", table, &count, false);
}

static bool is_made(const struct ordo_aggregate_table *t, const struct ordo_aggregates *a)
{
    return t->mem && t->value == a->value && t->op == a->op;
}

static ordo_status make_table(const struct aggregation *x, struct ordo_aggregate_table *t, size_t size)
{
    size_t count = 0;

    ORDO_TRY(ordo_call_changes(x->call));
    ordo_dict_drop_aggregates(x->dict);
    t->bytes = table_values(x->a->op, size) * x->dict->value_bytes;
    ORDO_TRY(ordo_buffer_create(x->call->dev, t->bytes, &t->mem));
    t->value = x->a->value;
    t->op = x->a->op;
    t->count = size;
    ORDO_TRY(x->dict->structure->export_all(x->dict, x->call, ordo_none(), ordo_at(t->mem, 0), size, &count));
    return fill_table(x, t->mem, size);
}

static ordo_status answer_by_table(const struct aggregation *x, size_t size)
{
    struct ordo_aggregate_table *t = &x->dict->aggregates;
    if (!is_made(t, x->a)) {
        const ordo_status status = make_table(x, t, size);
        if (status != ORDO_OK) {
            ordo_dict_drop_aggregates(x->dict);
            return status;
        }
    }
    const cl_uint count = (cl_uint) t->count;
    return answer(x, "aggregate_long", t->mem, &count, true);
}

void ordo_dict_drop_aggregates(ordo_dict *dict)
{
    if (dict->aggregates.mem)
        ordo_buffer_destroy(dict->dev, &dict->aggregates.mem);
    dict->aggregates = (struct ordo_aggregate_table) { .mem = NULL };
}

ordo_status ordo_dict_aggregate_enqueue(ordo_dict *dict, struct ordo_call *call, const struct ordo_aggregates *a)
{
    struct aggregation x = { .dict = dict, .call = call, .a = a, .n = (cl_uint) a->count };
    size_t             size = 0;

    ORDO_TRY(ordo_call_scratch(call, a->count * sizeof(cl_uint), &x.first));
    ORDO_TRY(ordo_call_scratch(call, a->count * sizeof(cl_uint), &x.past));
    ORDO_TRY(ordo_call_scratch(call, (a->count + 1) * sizeof(cl_ulong), &x.offsets));
    ORDO_TRY(measure(&x));
    if (x.longest <= SHORT_MAX && x.total <= SHORT_TOTAL)
        return answer_short(&x);
    if (!is_made(&dict->aggregates, a))
        ORDO_TRY(dict->structure->size(dict, call, &size));
    if (!is_made(&dict->aggregates, a) && x.total < size / OWN_TABLE_PART)
        return answer_by_own_table(&x);
    return answer_by_table(&x, size);
}
