/* SPDX-License-Identifier: Apache-2.0 */
/* Implements ordo_top_k and ordo_select. Kernels select elements, which are then sorted. */
#include "primitive/host_array.h"
#include "primitive/rows.h"
#include "primitive/sort.h"

#include "shared/top.h"

#include <assert.h>

struct top {
    ordo_type         key;
    uint32_t          value_bytes;
    bool              greatest;
    bool              select; /* Finds only the k-th element, counted from 1. */
    struct ordo_slice keys, values, keys_out, values_out, indices;
    size_t            count, k;
};

static size_t key_bytes(const struct top *t)
{
    return ordo_type_bytes(t->key);
}

struct found {
    struct ordo_slice keys, indices;
    size_t            count;
    bool              ordered; /* The elements are in the order of the input. */
};

static cl_uint bits_of(size_t count)
{
    cl_uint bits = 1;
    while ((count - 1) >> bits)
        bits++;
    return bits;
}

/* ---- by digits ----------------------------------------------------------------------------------------------- */

struct passes {
    size_t  group, items, groups;
    cl_uint digit_bits, copies;
    /* A key and its index form one distinct number of number_bits bits. Kernels process it in `digits` digits. */
    cl_uint number_bits, digits;
    cl_uint room, local_bytes;
    size_t  state_words;
    cl_mem  state, list_keys, list_index;
};

enum { ITEMS_PER_UNIT = 2048, CHUNKS_PER_CORE = 16 };
enum { DIGIT_BITS = 11, COPIES = 4 };

/* Minimum number of elements per work-item, if a work-group has only one work-item. */
enum { ITEMS_ALONE = 1024 };

static cl_uint local_bytes(const struct ordo_facts *facts, const struct passes *p)
{
    return (cl_uint) TOP_LOCAL_BYTES(p->digit_bits, p->copies, p->group, p->group > 1 ? facts->sub_group : 1);
}

static struct passes plan(const ordo_device *dev, const struct top *t)
{
    const struct ordo_facts *facts = ordo_device_facts(dev);
    const enum ordo_shape    shape = ordo_shape_of(key_bytes(t), 0);
    struct passes            p = { .group = ordo_group_of(dev, ORDO_TOP_GROUP, shape),
                                   .digit_bits = DIGIT_BITS,
                                   .copies = COPIES };
    p.items = ordo_tunable(dev, ORDO_TOP_ITEMS, shape);
    p.items = p.group > 1 ? ordo_min_size(p.items, TOP_ITEMS_MAX) : p.items < ITEMS_ALONE ? ITEMS_ALONE : p.items;
    while (local_bytes(facts, &p) > facts->local_bytes / 2)
        if (p.copies > 1)
            p.copies /= 2;
        else
            p.digit_bits--;
    p.local_bytes = local_bytes(facts, &p);
    assert(p.group > 0 && p.items > 0 && p.digit_bits > 0);
    p.number_bits = (cl_uint) (8 * key_bytes(t)) + bits_of(t->count);
    p.digits = (cl_uint) ordo_ceil_div(p.number_bits, p.digit_bits);
    p.state_words = TOP_TAKEN_WORDS + (TOP_RECORD(key_bytes(t)) + ((size_t) 1 << p.digit_bits)) * (p.digits + 1);
    p.room = (cl_uint) (t->count / 4 + 1024);
    p.groups = facts->compute_units * (p.group == 1 ? CHUNKS_PER_CORE : ordo_ceil_div(ITEMS_PER_UNIT, p.group));
    p.groups = ordo_min_size(p.groups, ordo_ceil_div(t->count, p.group * p.items));
    return p;
}

/* Returns the lowest bit of a digit. Digit 0 has the highest bits. */
static cl_uint begin_of(const struct passes *p, cl_uint digit)
{
    return p->number_bits * (p->digits - 1 - digit) / p->digits;
}

static cl_uint mask_of(const struct passes *p, cl_uint digit)
{
    const cl_uint above = digit ? begin_of(p, digit - 1) : p->number_bits;
    return (1u << (above - begin_of(p, digit))) - 1;
}

static struct ordo_launch kernel_of(const struct top *t, const struct passes *p, const char *kernel, size_t groups)
{
    return (struct ordo_launch) {
        .file = "primitive/top.cl",
        .kernel = kernel,
        .groups = groups,
        .group = p->group,
        .defines = { { "ORDO_KEY", (long) t->key },
                     { "ORDO_DESCENDING", t->greatest },
                     { "TOP_SELECT", t->select },
                     { "TOP_GROUP", (long) p->group },
                     { "TOP_ITEMS", (long) p->items },
                     { "TOP_BITS", (long) p->digit_bits },
                     { "TOP_COPIES", (long) p->copies },
                     { "LOCAL_BYTES", (long) p->local_bytes } },
    };
}

static struct top_pass pass_of(const struct top *t, const struct passes *p, cl_uint pass, const struct found *to)
{
    struct top_pass a = { .keys_at = t->keys.at,
                          .keys_out_at = to->keys.at,
                          .index_out_at = to->indices.at,
                          .count = (cl_uint) t->count,
                          .needed = (cl_uint) t->k,
                          .room = p->room,
                          .pass = pass,
                          .index_bits = bits_of(t->count) };
    if (pass > 0) {
        a.digit_shift = begin_of(p, pass - 1);
        a.digit_mask = mask_of(p, pass - 1);
        a.digit_above = pass > 1 ? begin_of(p, pass - 2) : p->number_bits;
    }
    if (pass < p->digits) {
        a.next_shift = begin_of(p, pass);
        a.next_mask = mask_of(p, pass);
    }
    return a;
}

static bool orders_itself(const ordo_device *dev, const struct top *t, const struct passes *p)
{
    return p->group > 1 && !t->select && t->k <= TOP_ORDERED &&
           TOP_ORDERED_LOCAL_BYTES(key_bytes(t)) <= ordo_device_facts(dev)->local_bytes;
}

static ordo_status make_room(struct ordo_call *call, const struct top *t, struct passes *p)
{
    const size_t bytes = 4 * p->state_words;
    ORDO_TRY(ordo_call_scratch(call, 2 * key_bytes(t) * p->room, &p->list_keys));
    ORDO_TRY(ordo_call_scratch(call, (size_t) 2 * 4 * p->room, &p->list_index));
    if (orders_itself(call->dev, t, p)) /* Kernel top_order zeroes the state again after use. */
        return ordo_call_zeroed(call, bytes, &p->state);
    ORDO_TRY(ordo_call_scratch(call, bytes, &p->state));
    return ordo_call_fill(call, p->state, 0, bytes, 0);
}

/* Writes the k elements that come first in sorted order, unsorted, or only the k-th if t->select. k must be 1 to
 * `count`. */
static ordo_status find_by_digits(struct ordo_call *call, const struct top *t, struct passes *p, const struct found *to)
{
    const struct ordo_launch count = kernel_of(t, p, "top_count", p->groups);
    const struct ordo_launch narrow = kernel_of(t, p, "top_narrow", p->groups);
    ORDO_TRY(make_room(call, t, p));
    for (cl_uint pass = 0; pass <= p->digits; pass++) {
        const struct top_pass a = pass_of(t, p, pass, to);
        struct ordo_args      args = { .n = 0 };
        ORDO_ADD(&args, ORDO_ARG(t->keys.mem));
        if (pass > 0)
            ORDO_ADD(&args, ORDO_ARG(p->list_keys), ORDO_ARG(p->list_index), ORDO_ARG(to->keys.mem),
                     ORDO_ARG(to->indices.mem));
        ORDO_ADD(&args, ORDO_ARG(p->state), ORDO_ARG(a));
        ORDO_TRY(ordo_call_launch(call, pass > 0 ? &narrow : &count, &args));
    }
    return ORDO_OK;
}

enum { ZEROS = 8 };

static ordo_status put_in_order(struct ordo_call *call, const struct top *t, const struct passes *p,
                                const struct found *f)
{
    const struct top_order   o = { .keys_out_at = t->keys_out.at,
                                   .index_out_at = t->indices.at,
                                   .values_at = t->values.at,
                                   .values_out_at = t->values_out.at,
                                   .count = (cl_uint) t->k,
                                   .state_words = (cl_uint) p->state_words,
                                   .value_words = t->value_bytes / 4 };
    const struct ordo_launch launch = kernel_of(t, p, "top_order", 1 + ordo_ceil_div(p->state_words, p->group * ZEROS));
    struct ordo_args         args = { .n = 0 };
    ORDO_ADD(&args, ORDO_ARG(f->keys.mem), ORDO_ARG(f->indices.mem), ORDO_ARG(t->values.mem), ORDO_ARG(t->keys_out.mem),
             ORDO_ARG(t->indices.mem), ORDO_ARG(t->values_out.mem), ORDO_ARG(p->state), ORDO_ARG(o));
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status find_all(struct ordo_call *call, const struct top *t, const struct found *to)
{
    const struct passes      p = plan(call->dev, t);
    const cl_uint            count = (cl_uint) t->count;
    const struct ordo_launch launch = kernel_of(t, &p, "top_all", p.groups);
    struct ordo_args         args = { .n = 0 };
    ordo_args_slice(&args, &t->keys);
    ORDO_ADD(&args, ORDO_ARG(count), ORDO_ARG(to->keys.mem), ORDO_ARG(to->indices.mem));
    return ordo_call_launch(call, &launch, &args);
}

/* ---- by chunks (CPUs) ---------------------------------------------------------------------------------------- */

/* A chunk has at least CHUNK_MIN elements, and at least WORTH * k. */
enum { PARTS_PER_CORE = 4, WORTH = 16, CHUNK_MIN = 4096 };
/* The list of a chunk has space for at least k + ROOM_MIN elements. */
enum { ROOM_MIN = 256 };

/* Sets *chunks to 0 if selection by digits is faster. */
static struct top_chunks cut(const ordo_device *dev, const struct top *t, size_t *chunks)
{
    const struct ordo_facts *facts = ordo_device_facts(dev);
    const size_t             parts = ordo_min_size((size_t) facts->compute_units * PARTS_PER_CORE, 1024);
    const size_t             chunk = ordo_ceil_div(t->count, parts);
    struct top_chunks        c = { .keys_at = t->keys.at, .count = (cl_uint) t->count, .needed = (cl_uint) t->k };
    c.chunk = (cl_uint) (chunk < CHUNK_MIN ? CHUNK_MIN : chunk);
    *chunks = facts->cpu && t->k <= c.chunk / WORTH ? ordo_ceil_div(t->count, c.chunk) : 0;
    if (*chunks > 1 && t->count - (*chunks - 1) * c.chunk < t->k)
        *chunks = 0;
    c.room = c.needed + (c.needed < ROOM_MIN ? ROOM_MIN : c.needed);
    return c;
}

static ordo_status find_by_chunks(struct ordo_call *call, const struct top *t, struct top_chunks c, size_t chunks,
                                  struct found *to)
{
    struct ordo_launch launch = { .file = "primitive/top_chunked.cl",
                                  .kernel = "top_chunk",
                                  .groups = chunks,
                                  .group = 1,
                                  .defines = { { "ORDO_KEY", (long) t->key }, { "ORDO_DESCENDING", t->greatest } } };
    struct ordo_args   find = { .n = 0 }, join = { .n = 0 };
    cl_mem             lists = NULL, indices = NULL;
    ORDO_TRY(ordo_call_scratch(call, chunks * c.room * key_bytes(t), &lists));
    ORDO_TRY(ordo_call_scratch(call, chunks * c.room * 4, &indices));
    ORDO_ADD(&find, ORDO_ARG(t->keys.mem), ORDO_ARG(lists), ORDO_ARG(indices), ORDO_ARG(c));
    ORDO_TRY(ordo_call_launch(call, &launch, &find));
    launch.kernel = "top_join";
    ORDO_ADD(&join, ORDO_ARG(lists), ORDO_ARG(indices), ORDO_ARG(to->keys.mem), ORDO_ARG(to->indices.mem), ORDO_ARG(c));
    return ordo_call_launch(call, &launch, &join);
}

/* ---- in order ------------------------------------------------------------------------------------------------ */

static ordo_status find(struct ordo_call *call, const struct top *t, struct passes *p, struct found *to)
{
    size_t                  chunks = 0;
    const struct top_chunks c = cut(call->dev, t, &chunks);
    to->count = chunks ? chunks * t->k : t->k;
    to->ordered = chunks || t->k == t->count;
    ORDO_TRY(ordo_call_scratch(call, to->count * key_bytes(t), &to->keys.mem));
    ORDO_TRY(ordo_call_scratch(call, to->count * 4, &to->indices.mem));
    if (chunks)
        return find_by_chunks(call, t, c, chunks, to);
    return to->ordered ? find_all(call, t, to) : find_by_digits(call, t, p, to);
}

static ordo_status place_out(struct ordo_call *call, const struct top *t, struct found *out)
{
    *out = (struct found) { .keys = t->keys_out, .indices = t->indices, .count = t->k };
    return out->indices.mem ? ORDO_OK : ordo_call_scratch(call, t->k * 4, &out->indices.mem);
}

static ordo_status sort_by_index(struct ordo_call *call, const struct top *t, const struct found *f)
{
    const bool                    moves_keys = key_bytes(t) <= 8;
    const struct ordo_slice       keys = moves_keys ? f->keys : ordo_none();
    const struct ordo_sort_params by_index = { .key = ORDO_U32,
                                               .value_bytes = moves_keys ? (uint32_t) key_bytes(t) : 0,
                                               .bits = bits_of(t->count) };
    const struct ordo_rows        again = { .table = t->keys,
                                            .list = f->keys,
                                            .index = f->indices,
                                            .n_rows = t->count,
                                            .count = f->count,
                                            .row_bytes = (uint32_t) key_bytes(t) };
    ORDO_TRY(ordo_call_sort(call, &by_index, f->indices, keys, f->indices, keys, f->count));
    return moves_keys ? ORDO_OK : ordo_call_rows(call, &again);
}

static ordo_status sort_found(struct ordo_call *call, const struct top *t, const struct found *f,
                              const struct found *out)
{
    const struct ordo_sort_params by_key = { .key = t->key, .value_bytes = 4, .descending = t->greatest };
    const size_t                  bytes = key_bytes(t);
    if (!f->ordered)
        ORDO_TRY(sort_by_index(call, t, f));
    if (f->count == out->count)
        return ordo_call_sort(call, &by_key, f->keys, f->indices, out->keys, out->indices, f->count);
    ORDO_TRY(ordo_call_sort(call, &by_key, f->keys, f->indices, f->keys, f->indices, f->count));
    ORDO_TRY(ordo_call_copy(call, f->keys.mem, 0, out->keys.mem, out->keys.at * bytes, t->k * bytes));
    return ordo_call_copy(call, f->indices.mem, 0, out->indices.mem, out->indices.at * 4, t->k * 4);
}

static ordo_status fetch_values(struct ordo_call *call, const struct top *t, const struct found *out)
{
    const struct ordo_rows values = { .table = t->values,
                                      .list = t->values_out,
                                      .index = out->indices,
                                      .n_rows = t->count,
                                      .count = t->k,
                                      .row_bytes = t->value_bytes };
    return t->value_bytes ? ordo_call_rows(call, &values) : ORDO_OK;
}

static ordo_status enqueue(struct ordo_call *call, const struct top *t)
{
    struct passes p;
    struct found  f = { .count = 0 }, out;
    if (t->k == 0)
        return ORDO_OK;
    p = plan(call->dev, t);
    if (t->select) {
        f.keys = t->keys_out;
        f.indices = t->indices;
        return find_by_digits(call, t, &p, &f);
    }
    ORDO_TRY(find(call, t, &p, &f));
    if (!f.ordered && orders_itself(call->dev, t, &p))
        return put_in_order(call, t, &p, &f);
    ORDO_TRY(place_out(call, t, &out));
    ORDO_TRY(sort_found(call, t, &f, &out));
    return fetch_values(call, t, &out);
}

/* ---- calls --------------------------------------------------------------------------------------------------- */

static ordo_status check_params(ordo_device *dev, const struct top *t)
{
    ORDO_TRY(ordo_check_pair(dev, t->key, t->value_bytes));
    ORDO_REQUIRE_COUNT(dev, "count", t->count);
    return ORDO_OK;
}

static size_t out_count(const struct top *t)
{
    return t->select ? 1 : t->k;
}

static ordo_status check_and_enqueue(struct ordo_call *call, const struct top *t)
{
    const size_t            out = out_count(t);
    const struct ordo_array arrays[] = {
        { "keys", t->keys, t->count, key_bytes(t), key_bytes(t) },
        { "values", t->values, t->count, t->value_bytes, t->value_bytes },
        { t->select ? "key_out" : "keys_out", t->keys_out, out, key_bytes(t), key_bytes(t) },
        { "values_out", t->values_out, out, t->value_bytes, t->value_bytes },
        { t->select ? "index_out" : "indices", t->indices, out, t->indices.mem ? 4 : 0 },
    };
    ORDO_TRY(check_params(call->dev, t));
    ORDO_TRY(ordo_check_arrays(call->dev, arrays, sizeof arrays / sizeof *arrays, 3));
    return enqueue(call, t);
}

static ordo_status run(ordo_device *dev, const struct top *t, const struct ordo_order *order)
{
    struct ordo_call call;
    ORDO_TRY(ordo_call_begin(&call, dev, order));
    return ordo_call_end(&call, check_and_enqueue(&call, t));
}

static struct top top_of(const struct ordo_top_k_params *params, size_t count, size_t k)
{
    return (struct top) { .key = params->key,
                          .value_bytes = params->value_bytes,
                          .greatest = params->greatest,
                          .count = count,
                          .k = ordo_min_size(k, count) };
}

ordo_status ordo_top_k(ordo_device *dev, const struct ordo_top_k_params *params, struct ordo_slice keys,
                       struct ordo_slice values, size_t count, size_t k, struct ordo_slice keys_out,
                       struct ordo_slice values_out, struct ordo_slice indices, const struct ordo_order *order)
{
    ORDO_REQUIRE_GIVEN(dev, params);
    struct top t = top_of(params, count, k);
    t.keys = keys;
    t.values = values;
    t.keys_out = keys_out;
    t.values_out = values_out;
    t.indices = indices;
    return run(dev, &t, order);
}

static ordo_status selection(ordo_device *dev, const struct ordo_select_params *params, size_t count, size_t k,
                             struct top *t)
{
    ORDO_REQUIRE_GIVEN(dev, params);
    *t = (struct top) { .key = params->key, .greatest = params->greatest, .select = true, .count = count, .k = k + 1 };
    ORDO_TRY(check_params(dev, t));
    if (k >= count)
        return ORDO_FAIL(dev, ORDO_INVALID, "k is %zu: there are %zu keys, numbered from 0", k, count);
    return ORDO_OK;
}

ordo_status ordo_select(ordo_device *dev, const struct ordo_select_params *params, struct ordo_slice keys, size_t count,
                        size_t k, struct ordo_slice key_out, struct ordo_slice index_out,
                        const struct ordo_order *order)
{
    struct top t = { .count = 0 };
    ORDO_TRY(selection(dev, params, count, k, &t));
    t.keys = keys;
    t.keys_out = key_out;
    t.indices = index_out;
    return run(dev, &t, order);
}

ordo_status ordo_top_k_host(ordo_device *dev, const struct ordo_top_k_params *params, const void *keys,
                            const void *values, size_t count, size_t k, void *keys_out, void *values_out,
                            uint32_t *indices)
{
    ORDO_REQUIRE_GIVEN(dev, params);
    const struct top t = top_of(params, count, k);
    ORDO_TRY(check_params(dev, &t));
    const size_t           bytes = key_bytes(&t);
    struct ordo_host_array a[] = {
        ordo_host_in(keys, count, bytes),
        ordo_host_in(values, count, t.value_bytes),
        ordo_host_out(keys_out, t.k, bytes),
        ordo_host_out(values_out, t.k, t.value_bytes),
        ordo_host_out(indices, t.k, indices ? 4 : 0),
    };
    const size_t n = sizeof a / sizeof *a;

    struct ordo_call call;
    ORDO_TRY(ordo_host_begin(&call, dev, NULL, a, n));
    return ordo_host_end(
        &call, a, n,
        ordo_top_k(dev, params, a[0].slice, a[1].slice, count, k, a[2].slice, a[3].slice, a[4].slice, NULL));
}

ordo_status ordo_select_host(ordo_device *dev, const struct ordo_select_params *params, const void *keys, size_t count,
                             size_t k, void *key_out, uint32_t *index_out)
{
    struct top t = { .count = 0 };
    ORDO_TRY(selection(dev, params, count, k, &t));
    const size_t           bytes = key_bytes(&t);
    struct ordo_host_array a[] = {
        ordo_host_in(keys, count, bytes),
        ordo_host_out(key_out, 1, bytes),
        ordo_host_out(index_out, 1, index_out ? 4 : 0),
    };
    const size_t n = sizeof a / sizeof *a;

    struct ordo_call call;
    ORDO_TRY(ordo_host_begin(&call, dev, NULL, a, n));
    return ordo_host_end(&call, a, n, ordo_select(dev, params, a[0].slice, count, k, a[1].slice, a[2].slice, NULL));
}
