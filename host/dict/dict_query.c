/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/generic/generic.h"
#include "dict/request.h"

static bool is_wanted(const struct ordo_request *r, size_t first)
{
    for (size_t i = first; i < ORDO_PARAMETERS_MAX; i++)
        if (r->a[i].mem)
            return true;
    return false;
}

static ordo_status find(ordo_dict *dict, struct ordo_call *call, const struct ordo_request *r)
{
    const struct ordo_finds f = { r->a[0], r->count, false, r->a[1], r->a[2] };
    return is_wanted(r, 1) ? dict->structure->find(dict, call, &f) : ORDO_OK;
}

#define KEYS_OUT                                                                                                       \
    {                                                                                                                  \
        "keys_out", KEY, OUT | OPTIONAL | SPARSE                                                                       \
    }
#define VALUES_OUT                                                                                                     \
    {                                                                                                                  \
        "values_out", VALUE, OUT | OPTIONAL | SPARSE                                                                   \
    }
#define FOUND                                                                                                          \
    {                                                                                                                  \
        "found", BYTE, OUT | OPTIONAL                                                                                  \
    }
static const struct ordo_method find_method = {
    ORDO_QUERY_PIECES, ORDO_CAN_FIND, false, NULL, find, { { "keys", KEY }, VALUES_OUT, FOUND }
};

ordo_status ordo_dict_find(ordo_dict *dict, struct ordo_slice keys, size_t count, struct ordo_slice values_out,
                           struct ordo_slice found, const struct ordo_order *order)
{
    return ORDO_REQUEST(dict, find_method, order, { keys, values_out, found }, .count = count);
}

ordo_status ordo_dict_find_host(ordo_dict *dict, const void *keys, size_t count, void *values_out, uint8_t *found)
{
    return ORDO_REQUEST_HOST(dict, find_method, .host = { { keys }, { values_out }, { found } }, .count = count);
}

ordo_status ordo_dict_contains(ordo_dict *dict, struct ordo_slice keys, size_t count, struct ordo_slice found,
                               const struct ordo_order *order)
{
    ORDO_REQUIRE(dict ? dict->dev : NULL, found.mem || count == 0, ORDO_INVALID, "found is absent");
    return ordo_dict_find(dict, keys, count, ordo_none(), found, order);
}

ordo_status ordo_dict_contains_host(ordo_dict *dict, const void *keys, size_t count, uint8_t *found)
{
    ORDO_REQUIRE(dict ? dict->dev : NULL, found || count == 0, ORDO_INVALID, "found is NULL");
    return ordo_dict_find_host(dict, keys, count, NULL, found);
}

static ordo_status count_keys(ordo_dict *dict, struct ordo_call *call, const struct ordo_request *r)
{
    const struct ordo_counts c = { r->a[0], r->a[1], r->count, r->a[2] };
    return dict->structure->count(dict, call, &c);
}

#define BOUNDS                                                                                                         \
    { "lo", KEY },                                                                                                     \
    {                                                                                                                  \
        "hi", KEY                                                                                                      \
    }
static const struct ordo_method count_method = {
    ORDO_QUERY_PIECES, ORDO_CAN_ORDER, false, NULL, count_keys, { BOUNDS, { "counts", UINT, OUT } }
};

ordo_status ordo_dict_count(ordo_dict *dict, struct ordo_slice lo, struct ordo_slice hi, size_t count,
                            struct ordo_slice counts, const struct ordo_order *order)
{
    return ORDO_REQUEST(dict, count_method, order, { lo, hi, counts }, .count = count);
}

ordo_status ordo_dict_count_host(ordo_dict *dict, const void *lo, const void *hi, size_t count, uint32_t *counts)
{
    return ORDO_REQUEST_HOST(dict, count_method, .host = { { lo }, { hi }, { counts } }, .count = count);
}

static ordo_status check_rank(const ordo_dict *dict, const struct ordo_request *r)
{
    ORDO_REQUIRE(dict->dev, r->relation == ORDO_LT || r->relation == ORDO_LE, ORDO_INVALID,
                 "relation is %d: ranks are of ORDO_LT and ORDO_LE", (int) r->relation);
    return ORDO_OK;
}

static ordo_status rank(ordo_dict *dict, struct ordo_call *call, const struct ordo_request *r)
{
    const struct ordo_ranks ranks = { r->relation == ORDO_LE, r->a[0], r->count, r->a[1] };
    return dict->structure->rank(dict, call, &ranks);
}

static const struct ordo_method rank_method = {
    ORDO_QUERY_PIECES, ORDO_CAN_ORDER, false, check_rank, rank, { { "keys", KEY }, { "ranks", UINT, OUT } }
};

ordo_status ordo_dict_rank(ordo_dict *dict, ordo_relation relation, struct ordo_slice keys, size_t count,
                           struct ordo_slice ranks, const struct ordo_order *order)
{
    return ORDO_REQUEST(dict, rank_method, order, { keys, ranks }, .count = count, .relation = relation);
}

ordo_status ordo_dict_rank_host(ordo_dict *dict, ordo_relation relation, const void *keys, size_t count,
                                uint32_t *ranks)
{
    return ORDO_REQUEST_HOST(dict, rank_method, .host = { { keys }, { ranks } }, .count = count, .relation = relation);
}

static ordo_status select_ranks(ordo_dict *dict, struct ordo_call *call, const struct ordo_request *r)
{
    const struct ordo_selects s = { r->a[0], r->count, r->a[1], r->a[2], r->a[3] };
    return is_wanted(r, 1) ? dict->structure->select(dict, call, &s) : ORDO_OK;
}

static const struct ordo_method select_method = {
    ORDO_QUERY_PIECES, ORDO_CAN_ORDER, false, NULL, select_ranks, { { "ranks", UINT }, KEYS_OUT, VALUES_OUT, FOUND }
};

ordo_status ordo_dict_select(ordo_dict *dict, struct ordo_slice ranks, size_t count, struct ordo_slice keys_out,
                             struct ordo_slice values_out, struct ordo_slice found, const struct ordo_order *order)
{
    return ORDO_REQUEST(dict, select_method, order, { ranks, keys_out, values_out, found }, .count = count);
}

ordo_status ordo_dict_select_host(ordo_dict *dict, const uint32_t *ranks, size_t count, void *keys_out,
                                  void *values_out, uint8_t *found)
{
    return ORDO_REQUEST_HOST(dict, select_method, .host = { { ranks }, { keys_out }, { values_out }, { found } },
                             .count = count);
}

static ordo_status read_needed(struct ordo_call *call, const struct ordo_request *r, struct ordo_slice offsets)
{
    cl_ulong total = 0;
    if (!r->results)
        return ORDO_OK;
    ORDO_TRY(ordo_call_read(call, offsets.mem, (offsets.at + r->count) * sizeof total, &total, sizeof total));
    *r->results = (size_t) total;
    ORDO_REQUIRE(call->dev, total <= r->capacity, ORDO_TOO_SMALL, "the ranges hold %llu elements, capacity is %zu",
                 (unsigned long long) total, r->capacity);
    return ORDO_OK;
}

static ordo_status no_ranges(struct ordo_call *call, struct ordo_slice offsets)
{
    return ordo_call_fill(call, offsets.mem, offsets.at * sizeof(cl_ulong), sizeof(cl_ulong), 0);
}

static ordo_status range(ordo_dict *dict, struct ordo_call *call, const struct ordo_request *r)
{
    const struct ordo_ranges ranges = { r->a[0], r->a[1], r->count,    r->a[2],           false,
                                        r->a[3], r->a[4], r->capacity, r->results != NULL };
    ORDO_TRY(r->count ? dict->structure->range(dict, call, &ranges) : no_ranges(call, r->a[2]));
    return read_needed(call, r, r->a[2]);
}

static ordo_status range_limited(ordo_dict *dict, struct ordo_call *call, const struct ordo_request *r)
{
    const struct ordo_limited_ranges ranges = { r->a[0],       r->a[1], r->count, r->limit, r->a[2],
                                                r->descending, r->a[3], r->a[4],  r->a[5],  r->capacity };
    ORDO_TRY(r->count ? ordo_dict_limited_enqueue(dict, call, &ranges, r->results != NULL) : no_ranges(call, r->a[3]));
    return read_needed(call, r, r->a[3]);
}

#define RANGES_OUT                                                                                                     \
    { "offsets", ULONG, OUT | ONE_MORE }, { "keys_out", KEY, OUT | OPTIONAL | CAPACITY | LIMITED },                    \
    {                                                                                                                  \
        "values_out", VALUE, OUT | OPTIONAL | CAPACITY | LIMITED                                                       \
    }
static const struct ordo_method range_method = {
    ORDO_QUERY, ORDO_CAN_ORDER, true, NULL, range, { BOUNDS, RANGES_OUT }
};
static const struct ordo_method limited_method = {
    ORDO_QUERY, ORDO_CAN_ORDER, true, NULL, range_limited, { BOUNDS, { "limits", UINT, OPTIONAL }, RANGES_OUT }
};

static ordo_status ranges_host(ordo_dict *dict, const struct ordo_method *m, struct ordo_request *r, size_t *needed)
{
    size_t total = 0;
    r->results = &total;
    const ordo_status status = ordo_dict_request_host(dict, m, r);
    if (needed)
        *needed = total;
    return status;
}

ordo_status ordo_dict_range(ordo_dict *dict, struct ordo_slice lo, struct ordo_slice hi, size_t count,
                            struct ordo_slice offsets, struct ordo_slice keys_out, struct ordo_slice values_out,
                            size_t capacity, size_t *needed, const struct ordo_order *order)
{
    return ORDO_REQUEST(dict, range_method, order, { lo, hi, offsets, keys_out, values_out }, .count = count,
                        .capacity = capacity, .results = needed);
}

ordo_status ordo_dict_range_host(ordo_dict *dict, const void *lo, const void *hi, size_t count, uint64_t *offsets,
                                 void *keys_out, void *values_out, size_t capacity, size_t *needed)
{
    struct ordo_request r = { .host = { { lo }, { hi }, { offsets }, { keys_out }, { values_out } },
                              .count = count,
                              .capacity = capacity };
    return ranges_host(dict, &range_method, &r, needed);
}

ordo_status ordo_dict_range_limited(ordo_dict *dict, const struct ordo_limited_ranges *ranges, size_t *needed,
                                    const struct ordo_order *order)
{
    ORDO_REQUIRE_GIVEN(dict ? dict->dev : NULL, ranges);
    const struct ordo_limited_ranges *l = ranges;
    const struct ordo_request         r = { { l->lo, l->hi, l->limits, l->offsets, l->keys_out, l->values_out },
                                            .count = l->count,
                                            .capacity = l->capacity,
                                            .results = needed,
                                            .limit = l->limit,
                                            .descending = l->descending };
    return ordo_dict_request(dict, &limited_method, &r, order);
}

ordo_status ordo_dict_range_limited_host(ordo_dict *dict, const struct ordo_host_limited_ranges *ranges, size_t *needed)
{
    ORDO_REQUIRE_GIVEN(dict ? dict->dev : NULL, ranges);
    const struct ordo_host_limited_ranges *l = ranges;
    struct ordo_request                    r = {
                            .host = { { l->lo }, { l->hi }, { l->limits }, { l->offsets },
                                      { l->keys_out }, { l->values_out }, },
                           .count = l->count,
                           .capacity = l->capacity,
                           .limit = l->limit,
                           .descending = l->descending
    };
    return ranges_host(dict, &limited_method, &r, needed);
}

static ordo_status check_aggregate(const ordo_dict *dict, const struct ordo_request *r)
{
    return ordo_dict_check_numbers(dict, r->value, r->op, "ordo_dict_aggregate");
}

static ordo_status aggregate(ordo_dict *dict, struct ordo_call *call, const struct ordo_request *r)
{
    const struct ordo_aggregates a = { r->value, r->op, r->a[0], r->a[1], r->count, r->a[2], r->a[3] };
    return ordo_dict_aggregate_enqueue(dict, call, &a);
}

static const struct ordo_method aggregate_method = {
    ORDO_QUERY_PIECES, ORDO_CAN_ORDER, false,
    check_aggregate,   aggregate,      { BOUNDS, { "results", VALUE, OUT }, { "counts", UINT, OUT | OPTIONAL } }
};

ordo_status ordo_dict_aggregate(ordo_dict *dict, ordo_type value, ordo_op op, struct ordo_slice lo,
                                struct ordo_slice hi, size_t count, struct ordo_slice results, struct ordo_slice counts,
                                const struct ordo_order *order)
{
    return ORDO_REQUEST(dict, aggregate_method, order, { lo, hi, results, counts }, .count = count, .value = value,
                        .op = op);
}

ordo_status ordo_dict_aggregate_host(ordo_dict *dict, ordo_type value, ordo_op op, const void *lo, const void *hi,
                                     size_t count, void *results, uint32_t *counts)
{
    return ORDO_REQUEST_HOST(dict, aggregate_method, .host = { { lo }, { hi }, { results }, { counts } },
                             .count = count, .value = value, .op = op);
}

static ordo_status check_seek(const ordo_dict *dict, const struct ordo_request *r)
{
    ORDO_REQUIRE(dict->dev, r->relation >= ORDO_LT && r->relation <= ORDO_GT, ORDO_INVALID,
                 "relation is %d: no ordo_relation", (int) r->relation);
    return ORDO_OK;
}

static ordo_status seek(ordo_dict *dict, struct ordo_call *call, const struct ordo_request *r)
{
    const struct ordo_seeks s = { r->relation, r->a[0], r->count, r->a[1], r->a[2], r->a[3], 0 };
    return is_wanted(r, 1) ? dict->structure->seek(dict, call, &s) : ORDO_OK;
}

static ordo_status seek_within(ordo_dict *dict, struct ordo_call *call, const struct ordo_request *r)
{
    const struct ordo_seeks s = { r->relation, r->a[0], r->count, r->a[2], r->a[3], r->a[4], 0 };
    return is_wanted(r, 2) ? ordo_dict_seek_within_enqueue(dict, call, &s, r->a[1]) : ORDO_OK;
}

static ordo_status seek_end(ordo_dict *dict, struct ordo_call *call, const struct ordo_request *r)
{
    const uint64_t    key = ordo_dict_end_key(dict, r->relation != ORDO_GE);
    struct ordo_seeks s = { r->relation, ordo_none(), 1, r->a[0], r->a[1], r->a[2], 0 };
    if (!is_wanted(r, 0))
        return ORDO_OK;
    ORDO_TRY(ordo_call_scratch(call, dict->key_bytes, &s.keys.mem));
    for (size_t at = 0; at < dict->key_bytes; at += 4)
        ORDO_TRY(ordo_call_fill(call, s.keys.mem, at, 4, (uint32_t) (key >> 8 * (at % 8))));
    return dict->structure->seek(dict, call, &s);
}

static const struct ordo_method seek_method = {
    ORDO_QUERY_PIECES, ORDO_CAN_ORDER, false, check_seek, seek, { { "keys", KEY }, KEYS_OUT, VALUES_OUT, FOUND }
};
static const struct ordo_method within_method = {
    ORDO_QUERY_PIECES, ORDO_CAN_ORDER, false,
    check_seek,        seek_within,    { { "keys", KEY }, { "bounds", KEY }, KEYS_OUT, VALUES_OUT, FOUND }
};
static const struct ordo_method end_method = {
    ORDO_QUERY, ORDO_CAN_ORDER,
    false,      NULL,
    seek_end,   { { "key_out", KEY, OUT | OPTIONAL | SPARSE }, { "value_out", VALUE, OUT | OPTIONAL | SPARSE }, FOUND }
};

ordo_status ordo_dict_seek(ordo_dict *dict, ordo_relation relation, struct ordo_slice keys, size_t count,
                           struct ordo_slice keys_out, struct ordo_slice values_out, struct ordo_slice found,
                           const struct ordo_order *order)
{
    return ORDO_REQUEST(dict, seek_method, order, { keys, keys_out, values_out, found }, .count = count,
                        .relation = relation);
}

ordo_status ordo_dict_seek_host(ordo_dict *dict, ordo_relation relation, const void *keys, size_t count, void *keys_out,
                                void *values_out, uint8_t *found)
{
    return ORDO_REQUEST_HOST(dict, seek_method, .host = { { keys }, { keys_out }, { values_out }, { found } },
                             .count = count, .relation = relation);
}

ordo_status ordo_dict_seek_within(ordo_dict *dict, ordo_relation relation, struct ordo_slice keys,
                                  struct ordo_slice bounds, size_t count, struct ordo_slice keys_out,
                                  struct ordo_slice values_out, struct ordo_slice found, const struct ordo_order *order)
{
    return ORDO_REQUEST(dict, within_method, order, { keys, bounds, keys_out, values_out, found }, .count = count,
                        .relation = relation);
}

ordo_status ordo_dict_seek_within_host(ordo_dict *dict, ordo_relation relation, const void *keys, const void *bounds,
                                       size_t count, void *keys_out, void *values_out, uint8_t *found)
{
    return ORDO_REQUEST_HOST(dict, within_method,
                             .host = { { keys }, { bounds }, { keys_out }, { values_out }, { found } }, .count = count,
                             .relation = relation);
}

ordo_status ordo_dict_first(ordo_dict *dict, struct ordo_slice key_out, struct ordo_slice value_out,
                            struct ordo_slice found, const struct ordo_order *order)
{
    return ORDO_REQUEST(dict, end_method, order, { key_out, value_out, found }, .count = 1, .relation = ORDO_GE);
}

ordo_status ordo_dict_last(ordo_dict *dict, struct ordo_slice key_out, struct ordo_slice value_out,
                           struct ordo_slice found, const struct ordo_order *order)
{
    return ORDO_REQUEST(dict, end_method, order, { key_out, value_out, found }, .count = 1, .relation = ORDO_LE);
}

ordo_status ordo_dict_first_host(ordo_dict *dict, void *key_out, void *value_out, uint8_t *found)
{
    return ORDO_REQUEST_HOST(dict, end_method, .host = { { key_out }, { value_out }, { found } }, .count = 1,
                             .relation = ORDO_GE);
}

ordo_status ordo_dict_last_host(ordo_dict *dict, void *key_out, void *value_out, uint8_t *found)
{
    return ORDO_REQUEST_HOST(dict, end_method, .host = { { key_out }, { value_out }, { found } }, .count = 1,
                             .relation = ORDO_LE);
}

static ordo_status export_all(ordo_dict *dict, struct ordo_call *call, const struct ordo_request *r)
{
    return dict->structure->export_all(dict, call, r->a[0], r->a[1], r->capacity, r->results);
}

static const struct ordo_method export_method = { ORDO_QUERY,
                                                  ORDO_CAN_FIND,
                                                  true,
                                                  NULL,
                                                  export_all,
                                                  { { "keys_out", KEY, OUT | CAPACITY | LIMITED },
                                                    { "values_out", VALUE, OUT | OPTIONAL | CAPACITY | LIMITED } } };

ordo_status ordo_dict_export(ordo_dict *dict, struct ordo_slice keys_out, struct ordo_slice values_out, size_t capacity,
                             size_t *count, const struct ordo_order *order)
{
    const struct ordo_request r = { { keys_out, values_out }, .capacity = capacity, .results = count };
    ORDO_REQUIRE_GIVEN(dict ? dict->dev : NULL, count);
    return ordo_dict_request(dict, &export_method, &r, order);
}

ordo_status ordo_dict_export_host(ordo_dict *dict, void *keys_out, void *values_out, size_t capacity, size_t *count)
{
    const struct ordo_request r = { .host = { { keys_out }, { values_out } }, .capacity = capacity, .results = count };
    ORDO_REQUIRE_GIVEN(dict ? dict->dev : NULL, count);
    return ordo_dict_request_host(dict, &export_method, &r);
}
