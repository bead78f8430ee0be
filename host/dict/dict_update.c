/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/generic/generic.h"
#include "dict/request.h"

static ordo_status build(ordo_dict *dict, struct ordo_call *call, const struct ordo_request *r)
{
    if (r->count > 0)
        return dict->structure->build(dict, call, r->a[0], r->a[1], r->count);
    dict->structure->clear(dict);
    return ORDO_OK;
}

static ordo_status upsert(ordo_dict *dict, struct ordo_call *call, const struct ordo_request *r)
{
    return dict->structure->update(dict, call, false, r->a[0], r->a[1], r->count);
}

static ordo_status erase(ordo_dict *dict, struct ordo_call *call, const struct ordo_request *r)
{
    return dict->structure->update(dict, call, true, r->a[0], ordo_none(), r->count);
}

static ordo_status insert(ordo_dict *dict, struct ordo_call *call, const struct ordo_request *r)
{
    return ordo_dict_insert_enqueue(dict, call, r->a[0], r->a[1], r->count, r->a[2]);
}

#define ELEMENTS                                                                                                       \
    { "keys", KEY },                                                                                                   \
    {                                                                                                                  \
        "values", VALUE                                                                                                \
    }
static const struct ordo_method build_method = { ORDO_REPLACE, ORDO_CAN_BUILD, true, NULL, build, { ELEMENTS } };
static const struct ordo_method upsert_method = { ORDO_UPDATE, ORDO_CAN_UPDATE, false, NULL, upsert, { ELEMENTS } };
static const struct ordo_method erase_method = {
    ORDO_UPDATE, ORDO_CAN_UPDATE, false, NULL, erase, { { "keys", KEY } }
};
static const struct ordo_method insert_method = { ORDO_UPDATE, ORDO_CAN_UPDATE,
                                                  false,       NULL,
                                                  insert,      { ELEMENTS, { "inserted", BYTE, OUT | OPTIONAL } } };

ordo_status ordo_dict_build(ordo_dict *dict, struct ordo_slice keys, struct ordo_slice values, size_t count,
                            const struct ordo_order *order)
{
    return ORDO_REQUEST(dict, build_method, order, { keys, values }, .count = count);
}

ordo_status ordo_dict_build_host(ordo_dict *dict, const void *keys, const void *values, size_t count)
{
    return ORDO_REQUEST_HOST(dict, build_method, .host = { { keys }, { values } }, .count = count);
}

ordo_status ordo_dict_upsert(ordo_dict *dict, struct ordo_slice keys, struct ordo_slice values, size_t count,
                             const struct ordo_order *order)
{
    return ORDO_REQUEST(dict, upsert_method, order, { keys, values }, .count = count);
}

ordo_status ordo_dict_upsert_host(ordo_dict *dict, const void *keys, const void *values, size_t count)
{
    return ORDO_REQUEST_HOST(dict, upsert_method, .host = { { keys }, { values } }, .count = count);
}

ordo_status ordo_dict_erase(ordo_dict *dict, struct ordo_slice keys, size_t count, const struct ordo_order *order)
{
    return ORDO_REQUEST(dict, erase_method, order, { keys }, .count = count);
}

ordo_status ordo_dict_erase_host(ordo_dict *dict, const void *keys, size_t count)
{
    return ORDO_REQUEST_HOST(dict, erase_method, .host = { { keys } }, .count = count);
}

ordo_status ordo_dict_insert(ordo_dict *dict, struct ordo_slice keys, struct ordo_slice values, size_t count,
                             struct ordo_slice inserted, const struct ordo_order *order)
{
    return ORDO_REQUEST(dict, insert_method, order, { keys, values, inserted }, .count = count);
}

ordo_status ordo_dict_insert_host(ordo_dict *dict, const void *keys, const void *values, size_t count,
                                  uint8_t *inserted)
{
    return ORDO_REQUEST_HOST(dict, insert_method, .host = { { keys }, { values }, { inserted } }, .count = count);
}

static ordo_status check_combine(const ordo_dict *dict, const struct ordo_request *r)
{
    return ordo_dict_check_numbers(dict, r->value, r->op, "ordo_dict_combine");
}

static ordo_status combine(ordo_dict *dict, struct ordo_call *call, const struct ordo_request *r)
{
    const struct ordo_combines c = { r->value, r->op, r->a[0], r->a[1], r->count };
    return ordo_dict_combine_enqueue(dict, call, &c);
}

static const struct ordo_method combine_method = { ORDO_UPDATE,   ORDO_CAN_UPDATE, false,
                                                   check_combine, combine,         { ELEMENTS } };

ordo_status ordo_dict_combine(ordo_dict *dict, ordo_type value, ordo_op op, struct ordo_slice keys,
                              struct ordo_slice values, size_t count, const struct ordo_order *order)
{
    return ORDO_REQUEST(dict, combine_method, order, { keys, values }, .count = count, .value = value, .op = op);
}

ordo_status ordo_dict_combine_host(ordo_dict *dict, ordo_type value, ordo_op op, const void *keys, const void *values,
                                   size_t count)
{
    return ORDO_REQUEST_HOST(dict, combine_method, .host = { { keys }, { values } }, .count = count, .value = value,
                             .op = op);
}

static ordo_status erase_range(ordo_dict *dict, struct ordo_call *call, const struct ordo_request *r)
{
    const struct ordo_erasures e = { r->a[0], r->a[1], r->count, r->a[2] };
    return ordo_dict_erase_range_enqueue(dict, call, &e);
}

static const struct ordo_method erase_range_method = {
    ORDO_UPDATE, ORDO_CAN_ORDER, false,
    NULL,        erase_range,    { { "lo", KEY }, { "hi", KEY }, { "erased", UINT, OUT | OPTIONAL } }
};

ordo_status ordo_dict_erase_range(ordo_dict *dict, struct ordo_slice lo, struct ordo_slice hi, size_t count,
                                  struct ordo_slice erased, const struct ordo_order *order)
{
    return ORDO_REQUEST(dict, erase_range_method, order, { lo, hi, erased }, .count = count);
}

ordo_status ordo_dict_erase_range_host(ordo_dict *dict, const void *lo, const void *hi, size_t count, uint32_t *erased)
{
    return ORDO_REQUEST_HOST(dict, erase_range_method, .host = { { lo }, { hi }, { erased } }, .count = count);
}

static ordo_status take(ordo_dict *dict, struct ordo_call *call, const struct ordo_request *r)
{
    const struct ordo_ends e = { r->last, true, r->count, r->a[0], r->a[1] };
    return ordo_dict_ends_enqueue(dict, call, &e, r->results);
}

static ordo_status peek(ordo_dict *dict, struct ordo_call *call, const struct ordo_request *r)
{
    const struct ordo_ends e = { r->last, false, r->count, r->a[0], r->a[1] };
    return ordo_dict_ends_enqueue(dict, call, &e, r->results);
}

#define ENDS                                                                                                           \
    { "keys_out", KEY, OUT | OPTIONAL | LIMITED },                                                                     \
    {                                                                                                                  \
        "values_out", VALUE, OUT | OPTIONAL | LIMITED                                                                  \
    }
static const struct ordo_method take_method = { ORDO_UPDATE, ORDO_CAN_ORDER, false, NULL, take, { ENDS } };
static const struct ordo_method peek_method = { ORDO_QUERY, ORDO_CAN_ORDER, false, NULL, peek, { ENDS } };

static ordo_status request_ends(ordo_dict *dict, const struct ordo_method *m, const struct ordo_request *r,
                                const struct ordo_order *order)
{
    size_t *const taken = r->results;
    ORDO_REQUIRE_GIVEN(dict ? dict->dev : NULL, taken);
    *taken = 0;
    return ordo_dict_request(dict, m, r, order);
}

static ordo_status request_ends_host(ordo_dict *dict, const struct ordo_method *m, bool last, size_t count,
                                     void *keys_out, void *values_out, size_t *taken)
{
    const struct ordo_request r = {
        .host = { { keys_out }, { values_out } }, .count = count, .results = taken, .last = last
    };
    ORDO_REQUIRE_GIVEN(dict ? dict->dev : NULL, taken);
    *taken = 0;
    return ordo_dict_request_host(dict, m, &r);
}

ordo_status ordo_dict_take_first(ordo_dict *dict, size_t count, struct ordo_slice keys_out,
                                 struct ordo_slice values_out, size_t *taken, const struct ordo_order *order)
{
    const struct ordo_request r = { { keys_out, values_out }, .count = count, .results = taken };
    return request_ends(dict, &take_method, &r, order);
}

ordo_status ordo_dict_take_last(ordo_dict *dict, size_t count, struct ordo_slice keys_out, struct ordo_slice values_out,
                                size_t *taken, const struct ordo_order *order)
{
    const struct ordo_request r = { { keys_out, values_out }, .count = count, .results = taken, .last = true };
    return request_ends(dict, &take_method, &r, order);
}

ordo_status ordo_dict_peek_first(ordo_dict *dict, size_t count, struct ordo_slice keys_out,
                                 struct ordo_slice values_out, size_t *got, const struct ordo_order *order)
{
    const struct ordo_request r = { { keys_out, values_out }, .count = count, .results = got };
    return request_ends(dict, &peek_method, &r, order);
}

ordo_status ordo_dict_peek_last(ordo_dict *dict, size_t count, struct ordo_slice keys_out, struct ordo_slice values_out,
                                size_t *got, const struct ordo_order *order)
{
    const struct ordo_request r = { { keys_out, values_out }, .count = count, .results = got, .last = true };
    return request_ends(dict, &peek_method, &r, order);
}

ordo_status ordo_dict_take_first_host(ordo_dict *dict, size_t count, void *keys_out, void *values_out, size_t *taken)
{
    return request_ends_host(dict, &take_method, false, count, keys_out, values_out, taken);
}

ordo_status ordo_dict_take_last_host(ordo_dict *dict, size_t count, void *keys_out, void *values_out, size_t *taken)
{
    return request_ends_host(dict, &take_method, true, count, keys_out, values_out, taken);
}

ordo_status ordo_dict_peek_first_host(ordo_dict *dict, size_t count, void *keys_out, void *values_out, size_t *got)
{
    return request_ends_host(dict, &peek_method, false, count, keys_out, values_out, got);
}

ordo_status ordo_dict_peek_last_host(ordo_dict *dict, size_t count, void *keys_out, void *values_out, size_t *got)
{
    return request_ends_host(dict, &peek_method, true, count, keys_out, values_out, got);
}

static ordo_status apply(ordo_dict *dict, struct ordo_call *call, const struct ordo_request *r)
{
    const struct ordo_slice *a = r->a;
    const struct ordo_batch  b = { a[0], a[1], a[2], a[3],  r->count,    a[4],     a[5], a[6],
                                   a[7], a[8], a[9], a[10], r->capacity, r->value, r->op };
    return b.count ? ordo_dict_apply_enqueue(dict, call, &b, r->results) : ordo_dict_no_ranges(call, &b);
}

#define INPUTS                                                                                                         \
    { "codes", BYTE }, { "keys", KEY }, { "hi", KEY, OPTIONAL },                                                       \
    {                                                                                                                  \
        "values", VALUE, OPTIONAL                                                                                      \
    }
#define RESULTS                                                                                                        \
    { "found", BYTE, OUT | OPTIONAL | SPARSE }, { "keys_out", KEY, OUT | OPTIONAL | SPARSE },                          \
        { "values_out", VALUE, OUT | OPTIONAL | SPARSE },                                                              \
    {                                                                                                                  \
        "counts", UINT, OUT | OPTIONAL | SPARSE                                                                        \
    }
static const struct ordo_method apply_method = { ORDO_UPDATE,
                                                 ORDO_CAN_APPLY,
                                                 true,
                                                 NULL,
                                                 apply,
                                                 { INPUTS,
                                                   RESULTS,
                                                   { "offsets", ULONG, OUT | OPTIONAL | ONE_MORE },
                                                   { "range_keys", KEY, OUT | OPTIONAL | CAPACITY | LIMITED },
                                                   { "range_values", VALUE, OUT | OPTIONAL | CAPACITY | LIMITED } } };

ordo_status ordo_dict_apply(ordo_dict *dict, const struct ordo_batch *batch, size_t *needed,
                            const struct ordo_order *order)
{
    ORDO_REQUIRE_GIVEN(dict ? dict->dev : NULL, batch);
    const struct ordo_batch  *b = batch;
    const struct ordo_request r = { { b->codes, b->keys, b->hi, b->values, b->found, b->keys_out, b->values_out,
                                      b->counts, b->offsets, b->range_keys, b->range_values },
                                    .count = b->count,
                                    .capacity = b->range_capacity,
                                    .results = needed,
                                    .value = b->value,
                                    .op = b->combine };
    if (needed)
        *needed = 0;
    return ordo_dict_request(dict, &apply_method, &r, order);
}

ordo_status ordo_dict_apply_host(ordo_dict *dict, const struct ordo_host_batch *batch, size_t *needed)
{
    ORDO_REQUIRE_GIVEN(dict ? dict->dev : NULL, batch);
    const struct ordo_host_batch *b = batch;
    size_t                        total = 0;
    const struct ordo_request     r = { .host = { { b->codes },
                                                  { b->keys },
                                                  { b->hi },
                                                  { b->values },
                                                  { b->found },
                                                  { b->keys_out },
                                                  { b->values_out },
                                                  { b->counts },
                                                  { b->offsets },
                                                  { b->range_keys },
                                                  { b->range_values } },
                                        .count = b->count,
                                        .capacity = b->range_capacity,
                                        .results = &total,
                                        .value = b->value,
                                        .op = b->combine };
    const ordo_status             status = ordo_dict_request_host(dict, &apply_method, &r);
    if (needed)
        *needed = total;
    return status;
}

static ordo_status apply_concurrent(ordo_dict *dict, struct ordo_call *call, const struct ordo_request *r)
{
    const struct ordo_slice           *a = r->a;
    const struct ordo_concurrent_batch b = { a[0], a[1], a[2], a[3], r->count, a[5],  a[6],
                                             a[7], a[8], a[9], a[4], a[10],    a[11], r->capacity };
    return dict->structure->apply_concurrent(dict, call, &b);
}

static const struct ordo_method concurrent_method = { ORDO_CONCURRENT,
                                                      ORDO_CAN_CONCURRENT,
                                                      false,
                                                      NULL,
                                                      apply_concurrent,
                                                      { INPUTS,
                                                        { "rooms", ULONG, OPTIONAL | ONE_MORE },
                                                        RESULTS,
                                                        { "outcomes", BYTE, OUT | OPTIONAL },
                                                        { "range_keys", KEY, OUT | OPTIONAL | CAPACITY | SPARSE },
                                                        { "range_values", VALUE,
                                                          OUT | OPTIONAL | CAPACITY | SPARSE } } };

ordo_status ordo_dict_apply_concurrent(ordo_dict *dict, const struct ordo_concurrent_batch *batch,
                                       const struct ordo_order *order)
{
    ORDO_REQUIRE_GIVEN(dict ? dict->dev : NULL, batch);
    const struct ordo_concurrent_batch *b = batch;
    const struct ordo_request           r = { { b->codes, b->keys, b->hi, b->values, b->rooms, b->found, b->keys_out,
                                                b->values_out, b->counts, b->outcomes, b->range_keys, b->range_values },
                                              .count = b->count,
                                              .capacity = b->range_capacity };
    return ordo_dict_request(dict, &concurrent_method, &r, order);
}

ordo_status ordo_dict_apply_concurrent_host(ordo_dict *dict, const struct ordo_host_concurrent_batch *batch)
{
    ORDO_REQUIRE_GIVEN(dict ? dict->dev : NULL, batch);
    const struct ordo_host_concurrent_batch *b = batch;
    const struct ordo_request                r = { .host = { { b->codes },
                                                             { b->keys },
                                                             { b->hi },
                                                             { b->values },
                                                             { b->rooms },
                                                             { b->found },
                                                             { b->keys_out },
                                                             { b->values_out },
                                                             { b->counts },
                                                             { b->outcomes },
                                                             { b->range_keys },
                                                             { b->range_values } },
                                                   .count = b->count,
                                                   .capacity = b->range_capacity };
    return ordo_dict_request_host(dict, &concurrent_method, &r);
}
