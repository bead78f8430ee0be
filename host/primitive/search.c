/* SPDX-License-Identifier: Apache-2.0 */
/* Implements ordo_search, ordo_equal_range and ordo_lookup. */
#include "primitive/search.h"
#include "primitive/host_array.h"

/* ---- checks -------------------------------------------------------------------------------------------------- */

static ordo_status check_index(ordo_device *dev, const struct ordo_search *s)
{
    const ordo_index *index = s->index;

    if (!index)
        return ORDO_OK;
    if (index->dev != dev)
        return ORDO_FAIL(dev, ORDO_INVALID, "the index was built on another device object");
    if (index->key != s->key)
        return ORDO_FAIL(dev, ORDO_INVALID, "the index is for keys of another type");
    if (index->count != s->count)
        return ORDO_FAIL(dev, ORDO_INVALID, "the index is over %zu keys, not %zu", index->count, s->count);
    if (index->count && !index->packed && (index->keys.mem != s->keys.mem || index->keys.at != s->keys.at))
        return ORDO_FAIL(dev, ORDO_INVALID, "the index is over another array");
    return ORDO_OK;
}

static ordo_status check_and_enqueue(struct ordo_call *call, struct ordo_search *s)
{
    ordo_device *dev = call->dev;

    ORDO_TRY(ordo_check_pair(dev, s->key, s->value_bytes));
    ORDO_REQUIRE(dev, s->scheme >= ORDO_SCHEME_AUTO && s->scheme <= ORDO_SCHEME_SORTED, ORDO_INVALID,
                 "scheme is %d: no ordo_scheme", (int) s->scheme);
    ORDO_REQUIRE_COUNT(dev, "count", s->count);
    ORDO_REQUIRE_COUNT(dev, "n_queries", s->n_queries);

    const size_t            key_bytes = ordo_type_bytes(s->key), value_bytes = s->value_bytes;
    const struct ordo_array arrays[] = {
        { "keys", ordo_search_is_packed(s) ? ordo_none() : s->keys, s->count, ordo_search_is_packed(s) ? 0 : key_bytes,
          key_bytes },
        { "queries", s->queries, s->n_queries, key_bytes, key_bytes },
        { "values", s->values, s->count, value_bytes, value_bytes },
        { "values_out", s->values_out, s->n_queries, value_bytes, value_bytes },
        { "found", s->found, s->n_queries, s->found.mem ? 1 : 0 },
        { s->ranges ? "lower" : "ranks", s->ranks, s->n_queries, s->lookup ? 0 : sizeof(cl_uint) },
        { "upper", s->uppers, s->n_queries, s->ranges ? sizeof(cl_uint) : 0 },
    };
    ORDO_TRY(ordo_check_arrays(dev, arrays, sizeof arrays / sizeof *arrays, 4));
    ORDO_TRY(check_index(dev, s));
    return ordo_call_search(call, s);
}

/* ---- device arrays ------------------------------------------------------------------------------------------- */

static ordo_status run(ordo_device *dev, struct ordo_search *s, const struct ordo_order *order)
{
    struct ordo_call call;

    ORDO_TRY(ordo_call_begin(&call, dev, order));
    return ordo_call_end(&call, check_and_enqueue(&call, s));
}

ordo_status ordo_search(ordo_device *dev, const struct ordo_search_params *params, struct ordo_slice keys, size_t count,
                        struct ordo_slice queries, size_t n_queries, struct ordo_slice ranks,
                        const struct ordo_order *order)
{
    ORDO_REQUIRE_GIVEN(dev, params);
    struct ordo_search s = { .key = params->key,
                             .upper = params->upper,
                             .scheme = params->scheme,
                             .sorted = params->sorted_queries,
                             .index = params->index,
                             .keys = keys,
                             .count = count,
                             .queries = queries,
                             .n_queries = n_queries,
                             .ranks = ranks };
    return run(dev, &s, order);
}

ordo_status ordo_equal_range(ordo_device *dev, const struct ordo_equal_range_params *params, struct ordo_slice keys,
                             size_t count, struct ordo_slice queries, size_t n_queries, struct ordo_slice lower,
                             struct ordo_slice upper, const struct ordo_order *order)
{
    ORDO_REQUIRE_GIVEN(dev, params);
    struct ordo_search s = { .key = params->key,
                             .sorted = params->sorted_queries,
                             .index = params->index,
                             .keys = keys,
                             .count = count,
                             .queries = queries,
                             .n_queries = n_queries,
                             .ranges = true,
                             .ranks = lower,
                             .uppers = upper };
    return run(dev, &s, order);
}

ordo_status ordo_lookup(ordo_device *dev, const struct ordo_lookup_params *params, struct ordo_slice keys,
                        struct ordo_slice values, size_t count, struct ordo_slice queries, size_t n_queries,
                        struct ordo_slice values_out, struct ordo_slice found, const struct ordo_order *order)
{
    ORDO_REQUIRE_GIVEN(dev, params);
    struct ordo_search s = { .key = params->key,
                             .lookup = true,
                             .scheme = params->scheme,
                             .sorted = params->sorted_queries,
                             .value_bytes = params->value_bytes,
                             .index = params->index,
                             .keys = keys,
                             .count = count,
                             .queries = queries,
                             .n_queries = n_queries,
                             .values = values,
                             .values_out = values_out,
                             .found = found };
    return run(dev, &s, order);
}

/* ---- host arrays --------------------------------------------------------------------------------------------- */

static ordo_status check_host(ordo_device *dev, ordo_type key, uint32_t value_bytes, const ordo_index *index)
{
    ORDO_REQUIRE_GIVEN(dev, dev);
    ORDO_REQUIRE(dev, index == NULL, ORDO_INVALID,
                 "index is given, but indexes are over arrays in device memory, and these are the host's");
    return ordo_check_pair(dev, key, value_bytes);
}

struct host_search {
    ordo_device       *dev;
    struct ordo_search search;
};

static ordo_status search_some(const void *user, const struct ordo_host_array *arrays, size_t count,
                               const struct ordo_order *order)
{
    const struct host_search *h = user;
    struct ordo_search        s = h->search;

    s.keys = arrays[0].slice;
    s.n_queries = count;
    if (s.lookup) {
        s.values = arrays[1].slice;
        s.queries = arrays[2].slice;
        s.values_out = arrays[3].slice;
        s.found = arrays[4].slice;
    } else {
        s.queries = arrays[1].slice;
        s.ranks = arrays[2].slice;
        s.uppers = s.ranges ? arrays[3].slice : ordo_none();
    }
    return run(h->dev, &s, order);
}

static ordo_status search_host(ordo_device *dev, const struct ordo_search *s, struct ordo_host_array *arrays, size_t n)
{
    const size_t                   n_inputs = s->lookup ? 2 : 1; /* keys and values */
    const struct host_search       h = { dev, *s };
    const struct ordo_host_queries of = { .count = s->n_queries,
                                          .n_whole = ordo_search_may_build_index(dev, s) ? n : n_inputs,
                                          .run = search_some,
                                          .user = &h };
    return ordo_host_query(dev, NULL, &of, arrays, n);
}

ordo_status ordo_search_host(ordo_device *dev, const struct ordo_search_params *params, const void *keys, size_t count,
                             const void *queries, size_t n_queries, uint32_t *ranks)
{
    ORDO_REQUIRE_GIVEN(dev, params);
    ORDO_TRY(check_host(dev, params->key, 0, params->index));

    const size_t           key_bytes = ordo_type_bytes(params->key);
    struct ordo_host_array a[] = {
        ordo_host_in(keys, count, key_bytes),
        ordo_host_in(queries, n_queries, key_bytes),
        ordo_host_out(ranks, n_queries, sizeof *ranks),
    };
    const struct ordo_search s = { .key = params->key,
                                   .upper = params->upper,
                                   .scheme = params->scheme,
                                   .sorted = params->sorted_queries,
                                   .count = count,
                                   .n_queries = n_queries };
    return search_host(dev, &s, a, sizeof a / sizeof *a);
}

ordo_status ordo_equal_range_host(ordo_device *dev, const struct ordo_equal_range_params *params, const void *keys,
                                  size_t count, const void *queries, size_t n_queries, uint32_t *lower, uint32_t *upper)
{
    ORDO_REQUIRE_GIVEN(dev, params);
    ORDO_TRY(check_host(dev, params->key, 0, params->index));

    const size_t           key_bytes = ordo_type_bytes(params->key);
    struct ordo_host_array a[] = {
        ordo_host_in(keys, count, key_bytes),
        ordo_host_in(queries, n_queries, key_bytes),
        ordo_host_out(lower, n_queries, sizeof *lower),
        ordo_host_out(upper, n_queries, sizeof *upper),
    };
    const struct ordo_search s = {
        .key = params->key, .sorted = params->sorted_queries, .count = count, .n_queries = n_queries, .ranges = true
    };
    return search_host(dev, &s, a, sizeof a / sizeof *a);
}

ordo_status ordo_lookup_host(ordo_device *dev, const struct ordo_lookup_params *params, const void *keys,
                             const void *values, size_t count, const void *queries, size_t n_queries, void *values_out,
                             uint8_t *found)
{
    ORDO_REQUIRE_GIVEN(dev, params);
    ORDO_TRY(check_host(dev, params->key, params->value_bytes, params->index));

    const size_t           key_bytes = ordo_type_bytes(params->key), value_bytes = params->value_bytes;
    struct ordo_host_array a[] = {
        ordo_host_in(keys, count, key_bytes),
        ordo_host_in(values, count, value_bytes),
        ordo_host_in(queries, n_queries, key_bytes),
        ordo_host_inout(values_out, n_queries, value_bytes), /* Values of absent keys must stay unchanged. */
        ordo_host_out(found, n_queries, found ? 1 : 0),
    };
    const struct ordo_search s = { .key = params->key,
                                   .lookup = true,
                                   .scheme = params->scheme,
                                   .sorted = params->sorted_queries,
                                   .value_bytes = params->value_bytes,
                                   .count = count,
                                   .n_queries = n_queries };
    return search_host(dev, &s, a, sizeof a / sizeof *a);
}
