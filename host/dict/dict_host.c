/* SPDX-License-Identifier: Apache-2.0 */
/* Dictionaries and arrays in host memory: uploads, the call on device memory, downloads. */
#include "dict/structure.h"

#define N_OF(arrays) (sizeof(arrays) / sizeof *(arrays))

/* Bytes of an element of an array that may be left out. */
static size_t if_there(const void *array, size_t bytes)
{
    return array ? bytes : 0;
}

/* Begins and ends a query. */
static ordo_status begin_query(struct ordo_call *outer, ordo_dict *dict, struct ordo_host_array *a, size_t n)
{
    return ordo_host_begin(outer, dict->dev, &dict->last, a, n);
}

/* Begins a call that stores. It takes copies of the arrays, since a wait at its end for kernels that work in the caller's
 * memory could fail. */
static ordo_status begin_copies(struct ordo_call *outer, ordo_dict *dict, struct ordo_host_array *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        a[i].copied = true;
    return begin_query(outer, dict, a, n);
}

/* The same. What is next called on the dictionary reads its results into these arrays before it stores. */
static ordo_status begin_results(struct ordo_call *outer, ordo_dict *dict, struct ordo_host_array *a, size_t n)
{
    ORDO_TRY(begin_copies(outer, dict, a, n));
    dict->results = a;
    dict->n_results = n;
    return ORDO_OK;
}

static ordo_status end_results(struct ordo_call *outer, ordo_dict *dict, struct ordo_host_array *a, size_t n,
                               ordo_status status)
{
    dict->results = NULL;
    return ordo_host_end(outer, a, n, status);
}

/* ---- updates ----------------------------------------------------------------------------------------------------- */

ordo_status ordo_dict_build_host(ordo_dict *dict, const void *keys, const void *values, size_t count)
{
    ORDO_REQUIRE_GIVEN(NULL, dict);
    struct ordo_host_array a[] = {
        ordo_host_in(keys, count, dict->key_bytes),
        ordo_host_in(values, count, dict->value_bytes),
    };
    struct ordo_call outer;
    ORDO_TRY(begin_results(&outer, dict, a, N_OF(a)));
    return end_results(&outer, dict, a, N_OF(a), ordo_dict_build(dict, a[0].slice, a[1].slice, count, NULL));
}

ordo_status ordo_dict_upsert_host(ordo_dict *dict, const void *keys, const void *values, size_t count)
{
    ORDO_REQUIRE_GIVEN(NULL, dict);
    struct ordo_host_array a[] = {
        ordo_host_in(keys, count, dict->key_bytes),
        ordo_host_in(values, count, dict->value_bytes),
    };
    struct ordo_call outer;
    ORDO_TRY(begin_results(&outer, dict, a, N_OF(a)));
    return end_results(&outer, dict, a, N_OF(a), ordo_dict_upsert(dict, a[0].slice, a[1].slice, count, NULL));
}

ordo_status ordo_dict_insert_host(ordo_dict *dict, const void *keys, const void *values, size_t count,
                                  uint8_t *inserted)
{
    ORDO_REQUIRE_GIVEN(NULL, dict);
    struct ordo_host_array a[] = {
        ordo_host_in(keys, count, dict->key_bytes),
        ordo_host_in(values, count, dict->value_bytes),
        ordo_host_out(inserted, count, if_there(inserted, 1)),
    };
    struct ordo_call outer;
    ORDO_TRY(begin_results(&outer, dict, a, N_OF(a)));
    return end_results(&outer, dict, a, N_OF(a),
                       ordo_dict_insert(dict, a[0].slice, a[1].slice, count, a[2].slice, NULL));
}

ordo_status ordo_dict_erase_host(ordo_dict *dict, const void *keys, size_t count)
{
    ORDO_REQUIRE_GIVEN(NULL, dict);
    struct ordo_host_array a[] = { ordo_host_in(keys, count, dict->key_bytes) };
    struct ordo_call       outer;
    ORDO_TRY(begin_results(&outer, dict, a, N_OF(a)));
    return end_results(&outer, dict, a, N_OF(a), ordo_dict_erase(dict, a[0].slice, count, NULL));
}

ordo_status ordo_dict_combine_host(ordo_dict *dict, ordo_type value, ordo_op op, const void *keys, const void *values,
                                   size_t count)
{
    ORDO_REQUIRE_GIVEN(NULL, dict);
    struct ordo_host_array a[] = {
        ordo_host_in(keys, count, dict->key_bytes),
        ordo_host_in(values, count, dict->value_bytes),
    };
    struct ordo_call outer;
    ORDO_TRY(begin_results(&outer, dict, a, N_OF(a)));
    return end_results(&outer, dict, a, N_OF(a),
                       ordo_dict_combine(dict, value, op, a[0].slice, a[1].slice, count, NULL));
}

ordo_status ordo_dict_erase_range_host(ordo_dict *dict, const void *lo, const void *hi, size_t count, uint32_t *erased)
{
    ORDO_REQUIRE_GIVEN(NULL, dict);
    struct ordo_host_array a[] = {
        ordo_host_in(lo, count, dict->key_bytes),
        ordo_host_in(hi, count, dict->key_bytes),
        ordo_host_out(erased, count, if_there(erased, sizeof *erased)),
    };
    struct ordo_call outer;
    ORDO_TRY(begin_results(&outer, dict, a, N_OF(a)));
    return end_results(&outer, dict, a, N_OF(a),
                       ordo_dict_erase_range(dict, a[0].slice, a[1].slice, count, a[2].slice, NULL));
}

typedef ordo_status ends_call(ordo_dict *dict, size_t count, struct ordo_slice keys_out, struct ordo_slice values_out,
                              size_t *got, const struct ordo_order *order);

static ordo_status ends_host(ordo_dict *dict, ends_call *ends, size_t count, void *keys_out, void *values_out,
                             size_t *got)
{
    ORDO_REQUIRE_GIVEN(NULL, dict);
    ORDO_REQUIRE_GIVEN(dict->dev, got);
    struct ordo_host_array a[] = {
        ordo_host_out(keys_out, count, if_there(keys_out, dict->key_bytes)),
        ordo_host_out(values_out, count, if_there(values_out, dict->value_bytes)),
    };
    struct ordo_call outer;
    *got = 0;
    a[0].limit = a[1].limit = got;
    ORDO_TRY(begin_results(&outer, dict, a, N_OF(a)));
    return end_results(&outer, dict, a, N_OF(a), ends(dict, count, a[0].slice, a[1].slice, got, NULL));
}

ordo_status ordo_dict_take_first_host(ordo_dict *dict, size_t count, void *keys_out, void *values_out, size_t *taken)
{
    return ends_host(dict, ordo_dict_take_first, count, keys_out, values_out, taken);
}

ordo_status ordo_dict_take_last_host(ordo_dict *dict, size_t count, void *keys_out, void *values_out, size_t *taken)
{
    return ends_host(dict, ordo_dict_take_last, count, keys_out, values_out, taken);
}

/* ---- queries ----------------------------------------------------------------------------------------------------- */

/* What a query of elements is told besides its arrays. */
struct asked {
    ordo_relation relation;
    ordo_type     value;
    ordo_op       op;
};

/* The call on device memory, of arrays that were uploaded. */
typedef ordo_status query_call(ordo_dict *dict, const struct asked *asked, const struct ordo_host_array *a, size_t n);

static ordo_status ask_once(ordo_dict *dict, query_call *query, const struct asked *asked, struct ordo_host_array *a,
                            size_t n_arrays, size_t n)
{
    struct ordo_call outer;
    ORDO_TRY(begin_query(&outer, dict, a, n_arrays));
    return ordo_host_end(&outer, a, n_arrays, query(dict, asked, a, n));
}

/* As many go by a stage (runtime/staging.c), which takes nothing of what memory there is. */
#define PIECE_LEAST ((size_t) 1024)

/* More arrays no query of elements has. */
#define QUERY_ARRAYS 5

/* Elements `at` and so on of the arrays of a query. */
static ordo_status ask_piece(ordo_dict *dict, query_call *query, const struct asked *asked,
                             const struct ordo_host_array *a, size_t n_arrays, size_t at, size_t n)
{
    struct ordo_host_array piece[QUERY_ARRAYS];

    for (size_t i = 0; i < n_arrays; i++) {
        piece[i] = a[i];
        piece[i].count = n;
        piece[i].from = a[i].from ? (const char *) a[i].from + at * a[i].bytes : NULL;
        piece[i].to = a[i].to ? (char *) a[i].to + at * a[i].bytes : NULL;
    }
    return ask_once(dict, query, asked, piece, n_arrays, n);
}

/* In pieces half as large as what had no room, and half of these. No other thread's update comes between them. */
static ordo_status ask_in_pieces(ordo_dict *dict, query_call *query, const struct asked *asked,
                                 const struct ordo_host_array *a, size_t n_arrays, size_t n)
{
    struct ordo_call outer;
    ordo_status      status = ORDO_OK;

    ORDO_TRY(ordo_call_begin_after(&outer, dict->dev, NULL, &dict->last, true));
    for (size_t at = 0, most = n / 2; at < n && status == ORDO_OK;) {
        const size_t piece = n - at < most ? n - at : most;
        status = ask_piece(dict, query, asked, a, n_arrays, at, piece);
        if (status == ORDO_OK) {
            at += piece;
        } else if (ordo_lacks_memory(status) && piece > PIECE_LEAST) {
            most = piece / 2;
            status = ORDO_OK;
        }
    }
    return ordo_call_end(&outer, status);
}

/* Where arrays of host memory, or what the query takes besides, have no room on the device, it is asked in pieces: what is
 * stored can be read with room for the least of them. */
static ordo_status ask(ordo_dict *dict, query_call *query, const struct asked *asked, struct ordo_host_array *a,
                       size_t n_arrays, size_t n)
{
    const ordo_status status = ask_once(dict, query, asked, a, n_arrays, n);

    if (!ordo_lacks_memory(status) || n <= PIECE_LEAST || n > ORDO_MAX_COUNT)
        return status;
    return ask_in_pieces(dict, query, asked, a, n_arrays, n);
}

static ordo_status find_call(ordo_dict *dict, const struct asked *asked, const struct ordo_host_array *a, size_t n)
{
    (void) asked;
    return ordo_dict_find(dict, a[0].slice, n, a[1].slice, a[2].slice, NULL);
}

ordo_status ordo_dict_find_host(ordo_dict *dict, const void *keys, size_t count, void *values_out, uint8_t *found)
{
    ORDO_REQUIRE_GIVEN(NULL, dict);
    struct ordo_host_array a[] = {
        ordo_host_in(keys, count, dict->key_bytes),
        ordo_host_inout(values_out, count, if_there(values_out, dict->value_bytes)), /* what is not found: left alone */
        ordo_host_out(found, count, if_there(found, 1)),
    };
    return ask(dict, find_call, NULL, a, N_OF(a), count);
}

ordo_status ordo_dict_contains_host(ordo_dict *dict, const void *keys, size_t count, uint8_t *found)
{
    ORDO_REQUIRE_GIVEN(NULL, dict);
    ORDO_REQUIRE(dict->dev, found != NULL || count == 0, ORDO_INVALID, "found is NULL");
    return ordo_dict_find_host(dict, keys, count, NULL, found);
}

static ordo_status count_call(ordo_dict *dict, const struct asked *asked, const struct ordo_host_array *a, size_t n)
{
    (void) asked;
    return ordo_dict_count(dict, a[0].slice, a[1].slice, n, a[2].slice, NULL);
}

ordo_status ordo_dict_count_host(ordo_dict *dict, const void *lo, const void *hi, size_t count, uint32_t *counts)
{
    ORDO_REQUIRE_GIVEN(NULL, dict);
    struct ordo_host_array a[] = {
        ordo_host_in(lo, count, dict->key_bytes),
        ordo_host_in(hi, count, dict->key_bytes),
        ordo_host_out(counts, count, sizeof *counts),
    };
    return ask(dict, count_call, NULL, a, N_OF(a), count);
}

/* Ends a call of ranges. If there was no room for their elements, the offsets are right and are read. */
static ordo_status end_ranges(struct ordo_call *outer, struct ordo_host_array *a, size_t n,
                              const struct ordo_host_array *offsets, ordo_status status)
{
    if (status == ORDO_TOO_SMALL)
        status = ordo_host_read(outer, offsets, ORDO_OK) == ORDO_OK ? ORDO_TOO_SMALL : ORDO_OPENCL;
    return ordo_host_end(outer, a, n, status);
}

ordo_status ordo_dict_range_host(ordo_dict *dict, const void *lo, const void *hi, size_t count, uint64_t *offsets,
                                 void *keys_out, void *values_out, size_t capacity, size_t *needed)
{
    ORDO_REQUIRE_GIVEN(NULL, dict);
    ORDO_REQUIRE_COUNT(dict->dev, "count", count);
    enum { LO, HI, OFFSETS, KEYS, VALUES, N };
    struct ordo_host_array a[N] = {
        [LO] = ordo_host_in(lo, count, dict->key_bytes),
        [HI] = ordo_host_in(hi, count, dict->key_bytes),
        [OFFSETS] = ordo_host_out(offsets, count + 1, sizeof *offsets),
        [KEYS] = ordo_host_out(keys_out, capacity, if_there(keys_out, dict->key_bytes)),
        [VALUES] = ordo_host_out(values_out, capacity, if_there(values_out, dict->value_bytes)),
    };
    struct ordo_call outer;
    size_t           total = 0;

    ORDO_TRY(begin_query(&outer, dict, a, N));
    const ordo_status status = ordo_dict_range(dict, a[LO].slice, a[HI].slice, count, a[OFFSETS].slice, a[KEYS].slice,
                                               a[VALUES].slice, capacity, &total, NULL);
    if (needed)
        *needed = total;
    a[KEYS].limit = a[VALUES].limit = &total;
    return end_ranges(&outer, a, N, &a[OFFSETS], status);
}

static ordo_status seek_call(ordo_dict *dict, const struct asked *asked, const struct ordo_host_array *a, size_t n)
{
    return ordo_dict_seek(dict, asked->relation, a[0].slice, n, a[1].slice, a[2].slice, a[3].slice, NULL);
}

ordo_status ordo_dict_seek_host(ordo_dict *dict, ordo_relation relation, const void *keys, size_t count, void *keys_out,
                                void *values_out, uint8_t *found)
{
    ORDO_REQUIRE_GIVEN(NULL, dict);
    struct ordo_host_array a[] = {
        ordo_host_in(keys, count, dict->key_bytes),
        ordo_host_inout(keys_out, count, if_there(keys_out, dict->key_bytes)),
        ordo_host_inout(values_out, count, if_there(values_out, dict->value_bytes)),
        ordo_host_out(found, count, if_there(found, 1)),
    };
    return ask(dict, seek_call, &(struct asked) { .relation = relation }, a, N_OF(a), count);
}

static ordo_status seek_within_call(ordo_dict *dict, const struct asked *asked, const struct ordo_host_array *a,
                                    size_t n)
{
    return ordo_dict_seek_within(dict, asked->relation, a[0].slice, a[1].slice, n, a[2].slice, a[3].slice, a[4].slice,
                                 NULL);
}

ordo_status ordo_dict_seek_within_host(ordo_dict *dict, ordo_relation relation, const void *keys, const void *bounds,
                                       size_t count, void *keys_out, void *values_out, uint8_t *found)
{
    ORDO_REQUIRE_GIVEN(NULL, dict);
    struct ordo_host_array a[] = {
        ordo_host_in(keys, count, dict->key_bytes),
        ordo_host_in(bounds, count, dict->key_bytes),
        ordo_host_inout(keys_out, count, if_there(keys_out, dict->key_bytes)),
        ordo_host_inout(values_out, count, if_there(values_out, dict->value_bytes)),
        ordo_host_out(found, count, if_there(found, 1)),
    };
    return ask(dict, seek_within_call, &(struct asked) { .relation = relation }, a, N_OF(a), count);
}

static ordo_status rank_call(ordo_dict *dict, const struct asked *asked, const struct ordo_host_array *a, size_t n)
{
    return ordo_dict_rank(dict, asked->relation, a[0].slice, n, a[1].slice, NULL);
}

ordo_status ordo_dict_rank_host(ordo_dict *dict, ordo_relation relation, const void *keys, size_t count,
                                uint32_t *ranks)
{
    ORDO_REQUIRE_GIVEN(NULL, dict);
    struct ordo_host_array a[] = {
        ordo_host_in(keys, count, dict->key_bytes),
        ordo_host_out(ranks, count, sizeof *ranks),
    };
    return ask(dict, rank_call, &(struct asked) { .relation = relation }, a, N_OF(a), count);
}

static ordo_status select_call(ordo_dict *dict, const struct asked *asked, const struct ordo_host_array *a, size_t n)
{
    (void) asked;
    return ordo_dict_select(dict, a[0].slice, n, a[1].slice, a[2].slice, a[3].slice, NULL);
}

ordo_status ordo_dict_select_host(ordo_dict *dict, const uint32_t *ranks, size_t count, void *keys_out,
                                  void *values_out, uint8_t *found)
{
    ORDO_REQUIRE_GIVEN(NULL, dict);
    struct ordo_host_array a[] = {
        ordo_host_in(ranks, count, sizeof *ranks),
        ordo_host_inout(keys_out, count, if_there(keys_out, dict->key_bytes)),
        ordo_host_inout(values_out, count, if_there(values_out, dict->value_bytes)),
        ordo_host_out(found, count, if_there(found, 1)),
    };
    return ask(dict, select_call, NULL, a, N_OF(a), count);
}

ordo_status ordo_dict_peek_first_host(ordo_dict *dict, size_t count, void *keys_out, void *values_out, size_t *got)
{
    return ends_host(dict, ordo_dict_peek_first, count, keys_out, values_out, got);
}

ordo_status ordo_dict_peek_last_host(ordo_dict *dict, size_t count, void *keys_out, void *values_out, size_t *got)
{
    return ends_host(dict, ordo_dict_peek_last, count, keys_out, values_out, got);
}

static ordo_status aggregate_call(ordo_dict *dict, const struct asked *asked, const struct ordo_host_array *a, size_t n)
{
    return ordo_dict_aggregate(dict, asked->value, asked->op, a[0].slice, a[1].slice, n, a[2].slice, a[3].slice, NULL);
}

ordo_status ordo_dict_aggregate_host(ordo_dict *dict, ordo_type value, ordo_op op, const void *lo, const void *hi,
                                     size_t count, void *results, uint32_t *counts)
{
    ORDO_REQUIRE_GIVEN(NULL, dict);
    struct ordo_host_array a[] = {
        ordo_host_in(lo, count, dict->key_bytes),
        ordo_host_in(hi, count, dict->key_bytes),
        ordo_host_out(results, count, dict->value_bytes),
        ordo_host_out(counts, count, if_there(counts, sizeof *counts)),
    };
    return ask(dict, aggregate_call, &(struct asked) { .value = value, .op = op }, a, N_OF(a), count);
}

ordo_status ordo_dict_range_limited_host(ordo_dict *dict, const struct ordo_host_limited_ranges *r, size_t *needed)
{
    ORDO_REQUIRE_GIVEN(NULL, dict);
    ORDO_REQUIRE(dict->dev, r, ORDO_INVALID, "ranges is NULL");
    ORDO_REQUIRE_COUNT(dict->dev, "count", r->count);
    enum { LO, HI, LIMITS, OFFSETS, KEYS, VALUES, N };
    struct ordo_host_array a[N] = {
        [LO] = ordo_host_in(r->lo, r->count, dict->key_bytes),
        [HI] = ordo_host_in(r->hi, r->count, dict->key_bytes),
        [LIMITS] = ordo_host_in(r->limits, r->count, if_there(r->limits, sizeof *r->limits)),
        [OFFSETS] = ordo_host_out(r->offsets, r->count + 1, sizeof *r->offsets),
        [KEYS] = ordo_host_out(r->keys_out, r->capacity, if_there(r->keys_out, dict->key_bytes)),
        [VALUES] = ordo_host_out(r->values_out, r->capacity, if_there(r->values_out, dict->value_bytes)),
    };
    struct ordo_call outer;
    size_t           total = 0;

    ORDO_TRY(begin_query(&outer, dict, a, N));
    const struct ordo_limited_ranges ranges = {
        .lo = a[LO].slice,
        .hi = a[HI].slice,
        .count = r->count,
        .limit = r->limit,
        .limits = a[LIMITS].slice,
        .descending = r->descending,
        .offsets = a[OFFSETS].slice,
        .keys_out = a[KEYS].slice,
        .values_out = a[VALUES].slice,
        .capacity = r->capacity,
    };
    const ordo_status status = ordo_dict_range_limited(dict, &ranges, &total, NULL);
    if (needed)
        *needed = total;
    a[KEYS].limit = a[VALUES].limit = &total;
    return end_ranges(&outer, a, N, &a[OFFSETS], status);
}

static ordo_status end_host(ordo_dict *dict, bool last, void *key_out, void *value_out, uint8_t *found)
{
    ORDO_REQUIRE_GIVEN(NULL, dict);
    struct ordo_host_array a[] = {
        ordo_host_inout(key_out, 1, if_there(key_out, dict->key_bytes)),
        ordo_host_inout(value_out, 1, if_there(value_out, dict->value_bytes)),
        ordo_host_out(found, 1, if_there(found, 1)),
    };
    struct ordo_call outer;
    ORDO_TRY(begin_query(&outer, dict, a, N_OF(a)));
    return ordo_host_end(&outer, a, N_OF(a),
                         last ? ordo_dict_last(dict, a[0].slice, a[1].slice, a[2].slice, NULL)
                              : ordo_dict_first(dict, a[0].slice, a[1].slice, a[2].slice, NULL));
}

ordo_status ordo_dict_first_host(ordo_dict *dict, void *key_out, void *value_out, uint8_t *found)
{
    return end_host(dict, false, key_out, value_out, found);
}

ordo_status ordo_dict_last_host(ordo_dict *dict, void *key_out, void *value_out, uint8_t *found)
{
    return end_host(dict, true, key_out, value_out, found);
}

ordo_status ordo_dict_export_host(ordo_dict *dict, void *keys_out, void *values_out, size_t capacity, size_t *count)
{
    ORDO_REQUIRE_GIVEN(NULL, dict);
    ORDO_REQUIRE_GIVEN(dict->dev, count);
    struct ordo_host_array a[] = {
        ordo_host_out(keys_out, capacity, dict->key_bytes),
        ordo_host_out(values_out, capacity, if_there(values_out, dict->value_bytes)),
    };
    struct ordo_call outer;
    ORDO_TRY(begin_query(&outer, dict, a, N_OF(a)));
    const ordo_status status = ordo_dict_export(dict, a[0].slice, a[1].slice, capacity, count, NULL);
    a[0].limit = a[1].limit = count;
    return ordo_host_end(&outer, a, N_OF(a), status);
}

/* ---- mixed batches ----------------------------------------------------------------------------------------------- */

ordo_status ordo_dict_apply_host(ordo_dict *dict, const struct ordo_host_batch *b, size_t *needed)
{
    ORDO_REQUIRE_GIVEN(NULL, dict);
    ORDO_REQUIRE(dict->dev, b, ORDO_INVALID, "batch is NULL");
    ORDO_REQUIRE_COUNT(dict->dev, "count", b->count);
    const size_t n = b->count, room = b->range_capacity, kb = dict->key_bytes, vb = dict->value_bytes;
    enum { CODES, KEYS, HIS, VALUES, FOUND, KEYS_OUT, VALUES_OUT, COUNTS, OFFSETS, RANGE_KEYS, RANGE_VALUES, N };
    struct ordo_host_array a[N] = {
        [CODES] = ordo_host_in(b->codes, n, 1),
        [KEYS] = ordo_host_in(b->keys, n, kb),
        [HIS] = ordo_host_in(b->his, n, if_there(b->his, kb)),
        [VALUES] = ordo_host_in(b->values, n, if_there(b->values, vb)),
        [FOUND] = ordo_host_inout(b->found, n, if_there(b->found, 1)),
        [KEYS_OUT] = ordo_host_inout(b->keys_out, n, if_there(b->keys_out, kb)),
        [VALUES_OUT] = ordo_host_inout(b->values_out, n, if_there(b->values_out, vb)),
        [COUNTS] = ordo_host_inout(b->counts, n, if_there(b->counts, sizeof *b->counts)),
        [OFFSETS] = ordo_host_out(b->offsets, n + 1, if_there(b->offsets, sizeof *b->offsets)),
        [RANGE_KEYS] = ordo_host_out(b->range_keys, room, if_there(b->range_keys, kb)),
        [RANGE_VALUES] = ordo_host_out(b->range_values, room, if_there(b->range_values, vb)),
    };
    struct ordo_call outer;
    size_t           total = 0;

    a[RANGE_KEYS].limit = a[RANGE_VALUES].limit = &total;
    ORDO_TRY(begin_results(&outer, dict, a, N));
    const struct ordo_batch batch = {
        .codes = a[CODES].slice,
        .keys = a[KEYS].slice,
        .his = a[HIS].slice,
        .values = a[VALUES].slice,
        .count = n,
        .value = b->value,
        .combine = b->combine,
        .found = a[FOUND].slice,
        .keys_out = a[KEYS_OUT].slice,
        .values_out = a[VALUES_OUT].slice,
        .counts = a[COUNTS].slice,
        .offsets = a[OFFSETS].slice,
        .range_keys = a[RANGE_KEYS].slice,
        .range_values = a[RANGE_VALUES].slice,
        .range_capacity = room,
    };
    const ordo_status status = end_results(&outer, dict, a, N, ordo_dict_apply(dict, &batch, &total, NULL));
    if (needed)
        *needed = total;
    return status;
}

/* ---- operations side by side ------------------------------------------------------------------------------------- */

ordo_status ordo_dict_apply_concurrent_host(ordo_dict *dict, const struct ordo_host_concurrent_batch *b)
{
    ORDO_REQUIRE_GIVEN(NULL, dict);
    ORDO_REQUIRE(dict->dev, b, ORDO_INVALID, "batch is NULL");
    ORDO_REQUIRE_COUNT(dict->dev, "count", b->count);
    const size_t n = b->count, room = b->range_capacity, kb = dict->key_bytes, vb = dict->value_bytes;
    enum {
        CODES,
        KEYS,
        HIS,
        VALUES,
        ROOMS,
        FOUND,
        KEYS_OUT,
        VALUES_OUT,
        COUNTS,
        OUTCOMES,
        RANGE_KEYS,
        RANGE_VALUES,
        N
    };
    struct ordo_host_array a[N] = {
        [CODES] = ordo_host_in(b->codes, n, 1),
        [KEYS] = ordo_host_in(b->keys, n, kb),
        [HIS] = ordo_host_in(b->his, n, if_there(b->his, kb)),
        [VALUES] = ordo_host_in(b->values, n, if_there(b->values, vb)),
        [ROOMS] = ordo_host_in(b->rooms, n + 1, if_there(b->rooms, sizeof *b->rooms)),
        [FOUND] = ordo_host_inout(b->found, n, if_there(b->found, 1)),
        [KEYS_OUT] = ordo_host_inout(b->keys_out, n, if_there(b->keys_out, kb)),
        [VALUES_OUT] = ordo_host_inout(b->values_out, n, if_there(b->values_out, vb)),
        [COUNTS] = ordo_host_inout(b->counts, n, if_there(b->counts, sizeof *b->counts)),
        [OUTCOMES] = ordo_host_out(b->outcomes, n, if_there(b->outcomes, 1)),
        [RANGE_KEYS] = ordo_host_inout(b->range_keys, room, if_there(b->range_keys, kb)),
        [RANGE_VALUES] = ordo_host_inout(b->range_values, room, if_there(b->range_values, vb)),
    };
    struct ordo_call outer;

    ORDO_TRY(begin_copies(&outer, dict, a, N));
    const struct ordo_concurrent_batch batch = {
        .codes = a[CODES].slice,
        .keys = a[KEYS].slice,
        .his = a[HIS].slice,
        .values = a[VALUES].slice,
        .count = n,
        .found = a[FOUND].slice,
        .keys_out = a[KEYS_OUT].slice,
        .values_out = a[VALUES_OUT].slice,
        .counts = a[COUNTS].slice,
        .outcomes = a[OUTCOMES].slice,
        .rooms = a[ROOMS].slice,
        .range_keys = a[RANGE_KEYS].slice,
        .range_values = a[RANGE_VALUES].slice,
        .range_capacity = room,
    };
    return ordo_host_end(&outer, a, N, ordo_dict_apply_concurrent(dict, &batch, NULL));
}
