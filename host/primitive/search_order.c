/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts queries before a search, or groups them by subtree of the index. Results keep the original order. */
#include "primitive/search.h"
#include "primitive/sort.h"

/* ORDO_SCHEME_AUTO reorders only this number of queries or more. */
#define SCHEME_MIN ((size_t) 1 << 16)

static ordo_scheme scheme_of(const ordo_device *dev, const struct ordo_search *s)
{
    const enum ordo_shape data = ordo_shape_of(ordo_type_bytes(s->key), s->value_bytes);
    const uint32_t        buffered = ordo_tunable(dev, ORDO_SEARCH_BUFFERED, data);
    const uint32_t        sorted = ordo_tunable(dev, ORDO_SEARCH_SORTED, data);

    if (s->sorted || s->file || s->count == 0)
        return ORDO_SCHEME_PLAIN;
    if (s->scheme != ORDO_SCHEME_AUTO)
        return s->scheme;
    if (s->n_queries < SCHEME_MIN)
        return ORDO_SCHEME_PLAIN;
    if (sorted && s->count / sorted <= s->n_queries && !ordo_search_is_packed(s))
        return ORDO_SCHEME_SORTED;
    return buffered && s->count >> buffered ? ORDO_SCHEME_BUFFERED : ORDO_SCHEME_PLAIN;
}

bool ordo_search_may_build_index(const ordo_device *dev, const struct ordo_search *s)
{
    const enum ordo_shape data = ordo_shape_of(ordo_type_bytes(s->key), s->value_bytes);

    return s->scheme == ORDO_SCHEME_BUFFERED ||
           (s->scheme == ORDO_SCHEME_AUTO && ordo_tunable(dev, ORDO_SEARCH_BUFFERED, data));
}

static size_t group_of(const ordo_device *dev)
{
    return ordo_min_size(64, ordo_device_facts(dev)->max_group);
}

static size_t groups_of(const ordo_device *dev, size_t items)
{
    return ordo_min_size(ordo_ceil_div(items, group_of(dev)), 1 << 14);
}

/* ---- sorted ---------------------------------------------------------------------------------------------------- */

static ordo_status number_queries(struct ordo_call *call, struct ordo_slice places, size_t n_queries)
{
    const struct ordo_launch launch = {
        .file = "primitive/search.cl",
        .kernel = "search_number",
        .groups = groups_of(call->dev, n_queries),
        .group = group_of(call->dev),
        .defines = { { "SEARCH_GROUP", (long) group_of(call->dev) }, { "SEARCH_LOCAL", 0 }, { "TEAM_WIDTH", 1 } },
    };
    const cl_uint    n = (cl_uint) n_queries;
    struct ordo_args args = { .n = 0 };

    ordo_args_slice(&args, &places);
    ORDO_ADD(&args, ORDO_ARG(n));
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status search_sorted(struct ordo_call *call, const struct ordo_search *s)
{
    const size_t                  key_bytes = ordo_type_bytes(s->key), n = s->n_queries;
    const struct ordo_sort_params params = { .key = s->key, .value_bytes = sizeof(cl_uint) };
    struct ordo_search            in_order = *s;
    struct ordo_slice             numbers = ordo_none();

    ORDO_TRY(ordo_call_scratch(call, n * sizeof(cl_uint), &numbers.mem));
    ORDO_TRY(ordo_call_scratch(call, n * sizeof(cl_uint), &in_order.places.mem));
    ORDO_TRY(ordo_call_scratch(call, n * key_bytes, &in_order.queries.mem));
    in_order.queries.at = in_order.places.at = 0;
    ORDO_TRY(number_queries(call, numbers, n));
    ORDO_TRY(ordo_call_sort(call, &params, s->queries, numbers, in_order.queries, in_order.places, n));
    in_order.sorted = true;
    return ordo_search_in_order(call, &in_order);
}

/* ---- buffered -------------------------------------------------------------------------------------------------- */

/* A buffer has the queries that reach one subtree of the index (Kim et al., FAST, 2011). A batch has BUFFER_QUERIES
 * queries per buffer on average, but at least BATCH_MIN in total. */
#define BUFFER_QUERIES 128
#define BATCH_MIN      ((size_t) 640000)

struct buffers {
    const ordo_index *index;
    cl_uint           levels;
    cl_uint           bits;
    size_t            batch;
    cl_mem            number, number_sorted, places, places_sorted, queries;
};

static struct buffers buffers_of(const ordo_device *dev, const ordo_index *index)
{
    const cl_uint  page = ordo_index_page_levels(dev, index);
    struct buffers b = { .index = index, .levels = index->levels < page ? index->levels : page };
    const size_t   n = index_units(index->blocks, index->form.line_depth, index->levels - b.levels);

    while ((n - 1) >> b.bits)
        b.bits++;
    b.batch = n * BUFFER_QUERIES > BATCH_MIN ? n * BUFFER_QUERIES : BATCH_MIN;
    return b;
}

static ordo_status take_memory(struct ordo_call *call, size_t key_bytes, struct buffers *b)
{
    cl_mem *const mems[] = { &b->number, &b->number_sorted, &b->places, &b->places_sorted };

    for (size_t i = 0; i < sizeof mems / sizeof *mems; i++)
        ORDO_TRY(ordo_call_scratch(call, b->batch * sizeof(cl_uint), mems[i]));
    return ordo_call_scratch(call, b->batch * key_bytes, &b->queries);
}

static struct ordo_launch page_kernel(const ordo_device *dev, const struct buffers *b, const char *name, size_t n)
{
    const index_form form = b->index->form;

    return (struct ordo_launch) { .file = "primitive/search_pages.cl",
                                  .kernel = name,
                                  .groups = groups_of(dev, n),
                                  .group = group_of(dev),
                                  .defines = { { "ORDO_KEY", b->index->key },
                                               { "SEARCH_GROUP", (long) group_of(dev) },
                                               { "SEARCH_NODE", 1l << form.node_log2 },
                                               { "SEARCH_LINE", form.line_depth },
                                               { "SEARCH_SIMD", form.simd_depth },
                                               { "SEARCH_PAGE", form.page_levels },
                                               { "TEAM_WIDTH", 1 } } };
}

static ordo_status fill_buffers(struct ordo_call *call, const struct ordo_search *s, const struct buffers *b,
                                size_t first_query, size_t n)
{
    const ordo_index        *index = b->index;
    const cl_uint            first = (cl_uint) first_query, count = (cl_uint) n, keys_count = (cl_uint) index->count;
    const cl_ulong           nodes_at = index->nodes_at;
    const index_place        root = index_root(index->blocks, index->form);
    const struct ordo_launch page = page_kernel(call->dev, b, "search_page", n);
    const struct ordo_launch take = page_kernel(call->dev, b, "search_take", n);
    const struct ordo_sort_params by_buffer = { .key = ORDO_U32, .value_bytes = sizeof(cl_uint), .bits = b->bits };
    struct ordo_args              args = { .n = 0 }, taken = { .n = 0 };

    ordo_args_slice(&args, &index->keys);
    ORDO_ADD(&args, ORDO_ARG(keys_count));
    ordo_args_slice(&args, &s->queries);
    ORDO_ADD(&args, ORDO_ARG(first), ORDO_ARG(count), ORDO_ARG(index->nodes), ORDO_ARG(nodes_at),
             ORDO_ARG(index->blocks), ORDO_ARG(root), ORDO_ARG(b->levels), ORDO_ARG(b->number), ORDO_ARG(b->places));
    ORDO_TRY(ordo_call_launch(call, &page, &args));
    ORDO_TRY(ordo_call_sort(call, &by_buffer, ordo_at(b->number, 0), ordo_at(b->places, 0),
                            ordo_at(b->number_sorted, 0), ordo_at(b->places_sorted, 0), n));
    ordo_args_slice(&taken, &s->queries);
    ORDO_ADD(&taken, ORDO_ARG(count), ORDO_ARG(b->places_sorted), ORDO_ARG(b->queries));
    return ordo_call_launch(call, &take, &taken);
}

static ordo_status index_for(struct ordo_call *call, const struct ordo_search *s, struct ordo_index *own)
{
    *own = ordo_index_of(call->dev, s->key, s->keys, s->count, ordo_index_form(call->dev, s->key));
    if (own->bytes == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_call_scratch(call, own->bytes, &own->nodes));
    return ordo_call_index(call, own);
}

static ordo_status search_buffered(struct ordo_call *call, const struct ordo_search *s)
{
    struct ordo_search in_order = *s;
    struct ordo_index  own;

    if (!s->index) {
        ORDO_TRY(index_for(call, s, &own));
        in_order.index = &own;
    }
    if (in_order.index->levels == 0)
        return ordo_search_in_order(call, &in_order);

    struct buffers b = buffers_of(call->dev, in_order.index);
    b.batch = ordo_min_size(b.batch, s->n_queries);
    ORDO_TRY(take_memory(call, ordo_type_bytes(s->key), &b));
    in_order.queries = ordo_at(b.queries, 0);
    in_order.places = ordo_at(b.places_sorted, 0);
    for (size_t first = 0; first < s->n_queries; first += b.batch) {
        const int mark = call->n_scratch;
        in_order.n_queries = ordo_min_size(b.batch, s->n_queries - first);
        ORDO_TRY(fill_buffers(call, s, &b, first, in_order.n_queries));
        ORDO_TRY(ordo_search_in_order(call, &in_order));
        ordo_call_release(call, mark);
    }
    return ORDO_OK;
}

/* ---- any order ------------------------------------------------------------------------------------------------- */

ordo_status ordo_call_search(struct ordo_call *call, struct ordo_search *s)
{
    const ordo_scheme scheme = scheme_of(call->dev, s);
    const bool        sorted = scheme == ORDO_SCHEME_SORTED;

    if (s->n_queries == 0)
        return ORDO_OK;
    if (scheme == ORDO_SCHEME_PLAIN)
        return ordo_search_in_order(call, s);
    ordo_log(call->dev, ORDO_LOG_DEBUG, "search: %zu queries of %zu keys are %s first", s->n_queries, s->count,
             sorted ? "sorted" : "partitioned");
    const int         mark = call->n_scratch;
    const ordo_status status = sorted ? search_sorted(call, s) : search_buffered(call, s);
    if (s->scheme != ORDO_SCHEME_AUTO || !ordo_lacks_memory(status))
        return status;
    ordo_call_abandon(call, mark);
    return ordo_search_in_order(call, s);
}
