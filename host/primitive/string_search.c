/* SPDX-License-Identifier: Apache-2.0 */
#include "primitive/string_index.h"

void ordo_string_index_args(struct ordo_args *args, const struct ordo_string_index *index,
                            struct ordo_string_args *more)
{
    ordo_string_column_args(args, &index->column, more);
    ORDO_ADD(args, ORDO_ARG(index->words), ORDO_ARG(index->starts), ORDO_ARG(index->rows));
}

enum { OUTPUTS = 3 };
static const size_t out_bytes[OUTPUTS] = { sizeof(cl_uint), sizeof(cl_uint), sizeof(cl_ulong) };

/* Returns the number of lanes that answer a query together. More lanes load lines together, but keep fewer queries in
 * flight: an H200 finds 2.9, 2.0, 1.5 and 0.9 G of 1,655,516 paths a second with 1, 4, 8 and 16 lanes. */
static size_t team_lanes(const struct ordo_string_index *index, size_t group)
{
    const struct ordo_facts *facts = ordo_device_facts(index->dev);
    if (facts->cpu || index->partial || group % facts->sub_group != 0)
        return 1;
    return ordo_min_size(ordo_tunable(index->dev, ORDO_STRINGS_LANES, ORDO_K8V0), facts->sub_group);
}

struct ordo_launch ordo_string_search_kernel(const struct ordo_string_index *index, const char *kernel, size_t count)
{
    struct ordo_launch launch = ordo_string_kernel(index->dev, "primitive/string_search.cl", kernel, count);
    const size_t       lanes = team_lanes(index, launch.group);
    if (lanes > 1)
        ordo_string_share(&launch, "TEAM_WIDTH", lanes, count);
    if (index->partial)
        ordo_launch_define(&launch, "STRING_PARTIAL", 1);
    return launch;
}

struct batch {
    const ordo_string_index   *index;
    const char                *kernel;
    const struct ordo_strings *queries, *uppers;
    struct ordo_slice          out[OUTPUTS];
    const char                *out_name[OUTPUTS]; /* NULL after the last output. */
    bool                       optional;
    cl_mem                     lengths;
    cl_uint                    upper, add, limit;
    bool                       bounds;
    cl_uint                    empty[OUTPUTS]; /* If the index has no strings, elements of out[i] become empty[i]. */
};

static int outputs(const struct batch *b)
{
    int n = 0;
    while (n < OUTPUTS && b->out_name[n])
        n++;
    return n;
}

/* ---- checks -------------------------------------------------------------------------------------------------- */

static struct ordo_array output(const struct batch *b, int i)
{
    const bool absent = b->optional && !b->out[i].mem;
    return (struct ordo_array) { b->out_name[i], b->out[i], b->queries->count, absent ? 0 : out_bytes[i] };
}

static ordo_status check(ordo_device *dev, const struct batch *b)
{
    struct ordo_array arrays[4 + OUTPUTS];
    const int         n_outputs = outputs(b);
    size_t            n = 0;
    arrays[n++] = ordo_strings_offsets(b->queries);
    arrays[n++] = ordo_strings_bytes(b->queries);
    if (b->uppers) {
        arrays[n++] = ordo_strings_offsets(b->uppers);
        arrays[n++] = ordo_strings_bytes(b->uppers);
    }
    for (int i = 0; i < n_outputs; i++)
        arrays[n++] = output(b, i);
    return ordo_check_arrays(dev, arrays, n, (size_t) n_outputs);
}

/* ---- launches ------------------------------------------------------------------------------------------------ */

static ordo_status fill(struct ordo_call *call, const struct batch *b)
{
    for (int i = 0; i < OUTPUTS; i++)
        if (b->out[i].mem)
            ORDO_TRY(ordo_call_fill(call, b->out[i].mem, b->out[i].at * out_bytes[i], b->queries->count * out_bytes[i],
                                    b->empty[i]));
    return ORDO_OK;
}

static ordo_status enqueue(struct ordo_call *call, const struct batch *b)
{
    const cl_uint           count = (cl_uint) b->queries->count;
    struct ordo_string_args more[3];
    struct ordo_args        args = { .n = 0 };
    ORDO_TRY(check(call->dev, b));
    if (count == 0)
        return ORDO_OK;
    if (b->index->ids == 0)
        return fill(call, b);
    const struct ordo_launch launch = ordo_string_search_kernel(b->index, b->kernel, count);
    ordo_string_index_args(&args, b->index, &more[0]);
    ordo_string_column_args(&args, b->queries, &more[1]);
    if (b->uppers)
        ordo_string_column_args(&args, b->uppers, &more[2]);
    ORDO_ADD(&args, ORDO_ARG(count));
    for (int i = 0; i < outputs(b); i++)
        ordo_args_slice(&args, &b->out[i]);
    if (b->bounds)
        ORDO_ADD(&args, ORDO_ARG(b->lengths), ORDO_ARG(b->upper), ORDO_ARG(b->add), ORDO_ARG(b->limit));
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status run(const struct batch *b, const struct ordo_order *order)
{
    struct ordo_call call;
    ordo_device     *dev = b->index->dev;
    ORDO_TRY(ordo_strings_check(dev, b->queries));
    if (b->uppers) {
        ORDO_TRY(ordo_strings_check(dev, b->uppers));
        ORDO_REQUIRE(dev, b->queries->count == b->uppers->count, ORDO_INVALID, "lo has %zu strings, but hi has %zu",
                     b->queries->count, b->uppers->count);
    }
    ORDO_TRY(ordo_call_begin(&call, dev, order));
    return ordo_call_end(&call, enqueue(&call, b));
}

/* ---- calls --------------------------------------------------------------------------------------------------- */

/* Kernel string_bounds counts the strings less than a query. With b->upper, it also counts an equal string. Its result
 * is this count plus b->add, modulo 2^32. Results of b->limit or more become ORDO_NO_ID. */
static ordo_status choose(struct batch *b, ordo_string_search search)
{
    const cl_uint ids = (cl_uint) b->index->ids;
    ORDO_REQUIRE(b->index->dev, search <= ORDO_STRING_LONGEST_PREFIX, ORDO_INVALID, "search is %d: there is none such",
                 (int) search);
    const bool rank = search == ORDO_STRING_LOWER || search == ORDO_STRING_UPPER;
    const bool before = search == ORDO_STRING_LT || search == ORDO_STRING_LE;
    b->kernel = search == ORDO_STRING_FIND ? "string_find" : "string_longest";
    b->empty[0] = rank ? 0 : ORDO_NO_ID;
    b->bounds = search != ORDO_STRING_FIND && search != ORDO_STRING_LONGEST_PREFIX;
    if (!b->bounds)
        return ORDO_OK;
    b->kernel = "string_bounds";
    b->upper = search == ORDO_STRING_LE || search == ORDO_STRING_GT || search == ORDO_STRING_UPPER;
    b->add = before ? UINT32_MAX : 0;
    b->limit = ids + rank;
    return ORDO_OK;
}

static struct batch prefixes_of(const ordo_string_index *index, const struct ordo_strings *prefixes,
                                struct ordo_slice first, struct ordo_slice counts)
{
    return (struct batch) { .index = index,
                            .kernel = "string_prefixes",
                            .queries = prefixes,
                            .out = { first, counts },
                            .out_name = { "first", "counts" },
                            .optional = true };
}

static struct batch ranges_of(const ordo_string_index *index, const struct ordo_strings *lo,
                              const struct ordo_strings *hi, struct ordo_slice first, struct ordo_slice counts)
{
    return (struct batch) { .index = index,
                            .kernel = "string_ranges",
                            .queries = lo,
                            .uppers = hi,
                            .out = { first, counts },
                            .out_name = { "first", "counts" },
                            .optional = true };
}

ordo_status ordo_string_index_search(const ordo_string_index *index, ordo_string_search search,
                                     const struct ordo_strings *queries, struct ordo_slice ids,
                                     const struct ordo_order *order)
{
    struct batch b = { .index = index, .queries = queries, .out = { ids }, .out_name = { "ids" } };
    ORDO_REQUIRE_GIVEN(NULL, index);
    ORDO_TRY(choose(&b, search));
    return run(&b, order);
}

ordo_status ordo_string_index_prefix(const ordo_string_index *index, const struct ordo_strings *prefixes,
                                     struct ordo_slice first, struct ordo_slice counts, const struct ordo_order *order)
{
    const struct batch b = prefixes_of(index, prefixes, first, counts);
    ORDO_REQUIRE_GIVEN(NULL, index);
    return run(&b, order);
}

ordo_status ordo_string_index_range(const ordo_string_index *index, const struct ordo_strings *lo,
                                    const struct ordo_strings *hi, struct ordo_slice first, struct ordo_slice counts,
                                    const struct ordo_order *order)
{
    const struct batch b = ranges_of(index, lo, hi, first, counts);
    ORDO_REQUIRE_GIVEN(NULL, index);
    ORDO_REQUIRE_GIVEN(index->dev, hi);
    return run(&b, order);
}

ordo_status ordo_string_index_common(const ordo_string_index *index, const struct ordo_strings *queries,
                                     struct ordo_slice lengths, struct ordo_slice first, struct ordo_slice counts,
                                     const struct ordo_order *order)
{
    const struct batch b = { .index = index,
                             .kernel = "string_common",
                             .queries = queries,
                             .out = { first, counts, lengths },
                             .out_name = { "first", "counts", "lengths" },
                             .optional = true,
                             .empty = { ORDO_NO_ID } };
    ORDO_REQUIRE_GIVEN(NULL, index);
    return run(&b, order);
}

/* ---- within a call ------------------------------------------------------------------------------------------- */

ordo_status ordo_call_search_strings(struct ordo_call *call, const ordo_string_index *index, ordo_string_search search,
                                     const struct ordo_strings *queries, struct ordo_slice ids)
{
    return ordo_call_bound_prefixes(call, index, search, queries, NULL, ids);
}

ordo_status ordo_call_bound_prefixes(struct ordo_call *call, const ordo_string_index *index, ordo_string_search search,
                                     const struct ordo_strings *queries, cl_mem lengths, struct ordo_slice ids)
{
    struct batch b = { .index = index, .queries = queries, .out = { ids }, .out_name = { "ids" }, .lengths = lengths };
    ORDO_TRY(choose(&b, search));
    return enqueue(call, &b);
}

ordo_status ordo_call_longest_prefixes(struct ordo_call *call, const ordo_string_index *index,
                                       const struct ordo_strings *queries, cl_mem hidden, cl_mem lengths)
{
    const cl_uint            count = (cl_uint) queries->count;
    const struct ordo_launch launch = ordo_string_search_kernel(index, "string_longest_lengths", count);
    struct ordo_string_args  more[2];
    struct ordo_args         args = { .n = 0 };
    ordo_string_index_args(&args, index, &more[0]);
    ordo_string_column_args(&args, queries, &more[1]);
    ORDO_ADD(&args, ORDO_ARG(count), ORDO_ARG(hidden), ORDO_ARG(lengths));
    return ordo_call_launch(call, &launch, &args);
}

ordo_status ordo_call_prefix_strings(struct ordo_call *call, const ordo_string_index *index,
                                     const struct ordo_strings *prefixes, struct ordo_slice first,
                                     struct ordo_slice counts)
{
    const struct batch b = prefixes_of(index, prefixes, first, counts);
    return enqueue(call, &b);
}

ordo_status ordo_call_range_strings(struct ordo_call *call, const ordo_string_index *index,
                                    const struct ordo_strings *lo, const struct ordo_strings *hi,
                                    struct ordo_slice first, struct ordo_slice counts)
{
    const struct batch b = ranges_of(index, lo, hi, first, counts);
    return enqueue(call, &b);
}

/* ---- host arrays --------------------------------------------------------------------------------------------- */

ordo_status ordo_string_index_search_host(const ordo_string_index *index, ordo_string_search search,
                                          const struct ordo_host_strings *queries, uint32_t *ids)
{
    const struct ordo_host_array out[] = { ordo_host_result(ids, sizeof *ids) };
    struct ordo_string_queries   q;
    ORDO_REQUIRE_GIVEN(NULL, index);
    ORDO_TRY(ordo_string_queries_begin(&q, index->dev, NULL, queries, NULL, out, 1));
    return ordo_string_queries_end(&q, ordo_string_index_search(index, search, &q.lo, q.out[0], NULL));
}

ordo_status ordo_string_index_prefix_host(const ordo_string_index *index, const struct ordo_host_strings *prefixes,
                                          uint32_t *first, uint32_t *counts)
{
    const struct ordo_host_array out[] = { ordo_host_optional(first, sizeof *first),
                                           ordo_host_optional(counts, sizeof *counts) };
    struct ordo_string_queries   q;
    ORDO_REQUIRE_GIVEN(NULL, index);
    ORDO_TRY(ordo_string_queries_begin(&q, index->dev, NULL, prefixes, NULL, out, 2));
    return ordo_string_queries_end(&q, ordo_string_index_prefix(index, &q.lo, q.out[0], q.out[1], NULL));
}

ordo_status ordo_string_index_range_host(const ordo_string_index *index, const struct ordo_host_strings *lo,
                                         const struct ordo_host_strings *hi, uint32_t *first, uint32_t *counts)
{
    const struct ordo_host_array out[] = { ordo_host_optional(first, sizeof *first),
                                           ordo_host_optional(counts, sizeof *counts) };
    struct ordo_string_queries   q;
    ORDO_REQUIRE_GIVEN(NULL, index);
    ORDO_REQUIRE_GIVEN(index->dev, hi);
    ORDO_TRY(ordo_string_queries_begin(&q, index->dev, NULL, lo, hi, out, 2));
    return ordo_string_queries_end(&q, ordo_string_index_range(index, &q.lo, &q.hi, q.out[0], q.out[1], NULL));
}

ordo_status ordo_string_index_common_host(const ordo_string_index *index, const struct ordo_host_strings *queries,
                                          uint64_t *lengths, uint32_t *first, uint32_t *counts)
{
    const struct ordo_host_array out[] = { ordo_host_optional(lengths, sizeof *lengths),
                                           ordo_host_optional(first, sizeof *first),
                                           ordo_host_optional(counts, sizeof *counts) };
    struct ordo_string_queries   q;
    ORDO_REQUIRE_GIVEN(NULL, index);
    ORDO_TRY(ordo_string_queries_begin(&q, index->dev, NULL, queries, NULL, out, 3));
    return ordo_string_queries_end(&q, ordo_string_index_common(index, &q.lo, q.out[0], q.out[1], q.out[2], NULL));
}
