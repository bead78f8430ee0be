/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments of the functions on strings: see bad_arguments.h. */
#include "bad_arguments.h"

/* Builds of an index of three strings. Its bad offsets: tests/primitive/string_index.c. */
struct string_trial {
    struct test             *t;
    struct ordo_strings      column, no_offsets, bad_width, too_many, foreign;
    struct ordo_host_strings host;
    struct ordo_slice        out, small;
};

static void bad_string_builds(const struct string_trial *r)
{
    struct test                           *t = r->t;
    const struct ordo_string_index_params *params = ordo_string_index_params(0);
    const struct ordo_strings *const       bad[] = { NULL, &r->no_offsets, &r->bad_width, &r->foreign, &r->too_many };
    ordo_string_index                     *index = NULL;
    for (size_t i = 0; i < LENGTH(bad); i++) {
        index = (ordo_string_index *) t;
        test_status(t, ordo_string_index_build(t->dev, params, bad[i], NULL, &index),
                    bad[i] == &r->too_many ? ORDO_TOO_LARGE : ORDO_INVALID);
        test_true(t, index == NULL);
    }
    test_status(t, ordo_string_index_build(NULL, params, &r->column, NULL, &index), ORDO_INVALID);
    test_status(t, ordo_string_index_build(t->dev, NULL, &r->column, NULL, &index), ORDO_INVALID);
    test_status(t, ordo_string_index_build(t->dev, params, &r->column, NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_string_index_build_host(NULL, params, &r->host, &index), ORDO_INVALID);
    test_status(t, ordo_string_index_build_host(t->dev, NULL, &r->host, &index), ORDO_INVALID);
    test_status(t, ordo_string_index_build_host(t->dev, params, NULL, &index), ORDO_INVALID);
    test_status(t, ordo_string_index_build_host(t->dev, params, &r->host, NULL), ORDO_INVALID);
    ordo_string_index_destroy(NULL);
    ordo_string_index_destroy(&index);
}

static void bad_partial_keys(const struct string_trial *r)
{
    const struct ordo_string_partial bad[] = { { .key_bytes = 6 },
                                               { .key_bytes = 132 },
                                               { .key_bytes = 4, .page_keys = 3 },
                                               { .key_bytes = 4, .page_keys = 65537 },
                                               { .key_bytes = 4, .nibble_bits = 3 },
                                               { .key_bytes = 4, .nibble_bits = 16 },
                                               { .key_bytes = 4, .prefix = (ordo_string_prefix) 3 },
                                               { .page_keys = 16 },
                                               { .nibble_bits = 4 },
                                               { .prefix = ORDO_CONTIGUOUS_PREFIX } };
    for (size_t i = 0; i < LENGTH(bad); i++) {
        const struct ordo_string_index_params params = { .partial = bad[i] };
        ordo_string_index                    *index = (ordo_string_index *) r->t;
        test_status(r->t, ordo_string_index_build(r->t->dev, &params, &r->column, NULL, &index), ORDO_INVALID);
        test_true(r->t, index == NULL);
        test_status(r->t, ordo_string_index_build_host(r->t->dev, &params, &r->host, &index), ORDO_INVALID);
    }
}

static void bad_string_statistics(const struct string_trial *r)
{
    struct test                                       *t = r->t;
    struct ordo_string_index_statistics                stats;
    AUTO(ordo_string_index_destroy) ordo_string_index *index = NULL;
    test_ok(t, ordo_string_index_build(t->dev, ordo_string_index_params(0), &r->column, NULL, &index));
    test_status(t, ordo_string_index_get_statistics(NULL, &stats), ORDO_INVALID);
    test_status(t, ordo_string_index_get_statistics(index, NULL), ORDO_INVALID);
}

void try_string_indexes(struct test *t)
{
    static const uint32_t        offsets[] = { 0, 1, 2, 4 };
    struct function              function = { .name = "ordo_string_index_build" };
    struct trial                 foreign = { .t = t, .function = &function };
    AUTO_ARRAY struct test_array on_offsets = test_upload(t, offsets, 4, 4, 1),
                                 on_bytes = test_upload(t, "abcd", 4, 1, 1);
    struct bad_order bad[BAD_ORDERS];
    make_foreign(&foreign);
    const struct ordo_strings column = { test_slice(&on_offsets), 4, test_slice(&on_bytes), 4, 3 };
    const struct string_trial r = { .t = t,
                                    .column = column,
                                    .no_offsets = { ordo_none(), 4, column.bytes, 4, 3 },
                                    .bad_width = { column.offsets, 2, column.bytes, 4, 3 },
                                    .too_many = { column.offsets, 4, column.bytes, 4, SIZE_MAX },
                                    .foreign = { column.offsets, 4, ordo_at(foreign.foreign_mem, 0), 4, 3 },
                                    .host = { offsets, 4, "abcd", 4, 3 } };
    bad_string_builds(&r);
    bad_partial_keys(&r);
    bad_string_statistics(&r);
    list_bad_orders(&foreign, bad);
    for (size_t i = 0; i < LENGTH(bad); i++) {
        ordo_string_index *index = NULL;
        test_status(t, ordo_string_index_build(t->dev, ordo_string_index_params(0), &column, &bad[i].order, &index),
                    bad[i].want);
        test_true(t, index == NULL);
    }
    release_foreign(&foreign);
}

/* Arguments of the calls on dictionaries of strings: those on indexes, and a dictionary with values of 4 bytes. */
struct string_dict_trial {
    struct string_trial                on;
    ordo_string_dict                  *dict;
    struct ordo_slice                  values;
    const struct ordo_string_elements *elements;
};

static void bad_string_dicts(struct test *t)
{
    static const uint32_t bad_bytes[] = { 1, 2, 3, 5, 7, 12, 24, UINT32_MAX };
    ordo_string_dict     *dict = (ordo_string_dict *) t;
    test_status(t, ordo_string_dict_create(NULL, ordo_string_dict_config(0), &dict), ORDO_INVALID);
    test_true(t, dict == NULL);
    test_status(t, ordo_string_dict_create(t->dev, NULL, &dict), ORDO_INVALID);
    test_status(t, ordo_string_dict_create(t->dev, ordo_string_dict_config(0), NULL), ORDO_INVALID);
    for (size_t i = 0; i < LENGTH(bad_bytes); i++)
        test_status(t, ordo_string_dict_create(t->dev, ordo_string_dict_config(bad_bytes[i]), &dict), ORDO_INVALID);
    ordo_string_dict_destroy(NULL);
    ordo_string_dict_destroy(&dict);
}

static void bad_string_updates(const struct string_dict_trial *r)
{
    struct test                     *t = r->on.t;
    const struct ordo_strings *const bad[] = { NULL, &r->on.no_offsets, &r->on.bad_width, &r->on.too_many };
    const ordo_status                want[] = { ORDO_INVALID, ORDO_INVALID, ORDO_INVALID, ORDO_TOO_LARGE };
    const struct ordo_strings       *q = &r->on.column;
    const struct ordo_slice          bad_values[] = { ordo_none(), r->on.small };
    for (size_t i = 0; i < LENGTH(bad); i++) {
        test_status(t, ordo_string_dict_build(r->dict, bad[i], r->values, NULL), want[i]);
        test_status(t, ordo_string_dict_upsert(r->dict, bad[i], r->values, NULL), want[i]);
        test_status(t, ordo_string_dict_erase(r->dict, bad[i], NULL), want[i]);
    }
    for (size_t i = 0; i < LENGTH(bad_values); i++) {
        test_status(t, ordo_string_dict_build(r->dict, q, bad_values[i], NULL), ORDO_INVALID);
        test_status(t, ordo_string_dict_upsert(r->dict, q, bad_values[i], NULL), ORDO_INVALID);
    }
    test_status(t, ordo_string_dict_build(NULL, q, r->values, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_upsert(NULL, q, r->values, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_erase(NULL, q, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_clear(NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_cleanup(NULL, NULL), ORDO_INVALID);
}

static void bad_string_elements(const struct string_dict_trial *r)
{
    struct test                       *t = r->on.t;
    const struct ordo_string_elements *good = r->elements;
    const struct ordo_slice            ranks = r->on.column.offsets, none = ordo_none(), small = r->on.small;
    const struct ordo_string_elements  bad[] = { { none, good->bytes, 4, none },
                                                 { small, good->bytes, 4, none },
                                                 { good->offsets, none, 4, none },
                                                 { good->offsets, good->bytes, 4, small },
                                                 { good->offsets, good->offsets, 4, none } };
    struct ordo_string_dict_statistics stats;
    size_t                             count = 0, needed = 0;
    for (size_t i = 0; i < LENGTH(bad); i++) {
        test_status(t, ordo_string_dict_select(r->dict, ranks, 2, &bad[i], none, NULL, NULL), ORDO_INVALID);
        test_status(t, ordo_string_dict_export(r->dict, &bad[i], 3, &count, &needed, NULL), ORDO_INVALID);
    }
    test_status(t, ordo_string_dict_select(NULL, ranks, 2, good, none, NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_select(r->dict, none, 2, good, none, NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_select(r->dict, small, 2, good, none, NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_select(r->dict, ranks, SIZE_MAX, good, none, NULL, NULL), ORDO_TOO_LARGE);
    test_status(t, ordo_string_dict_select(r->dict, ranks, 2, NULL, none, NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_select(r->dict, ranks, 2, good, small, NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_export(NULL, good, 3, &count, &needed, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_export(r->dict, NULL, 3, &count, &needed, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_export(r->dict, good, SIZE_MAX, &count, &needed, NULL), ORDO_TOO_LARGE);
    test_status(t, ordo_string_dict_export(r->dict, good, 3, NULL, &needed, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_export(r->dict, good, 3, &count, NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_size(NULL, &count), ORDO_INVALID);
    test_status(t, ordo_string_dict_size(r->dict, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_check(NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_get_statistics(NULL, &stats), ORDO_INVALID);
    test_status(t, ordo_string_dict_get_statistics(r->dict, NULL), ORDO_INVALID);
}

static void bad_string_dict_hosts(const struct string_dict_trial *r)
{
    struct test                           *t = r->on.t;
    const struct ordo_host_strings         no_offsets = { NULL, 4, "abcd", 4, 3 }, *q = &r->on.host;
    const struct ordo_host_strings *const  bad[] = { NULL, &no_offsets };
    uint32_t                               out[4] = { 0 };
    uint64_t                               offsets[4];
    uint8_t                                bytes[4];
    size_t                                 count = 0, needed = 0;
    const struct ordo_host_string_elements good = { offsets, bytes, 4, NULL };
    const struct ordo_host_string_elements bad_out[] = { { NULL, bytes, 4, NULL }, { offsets, NULL, 4, NULL } };
    for (size_t i = 0; i < LENGTH(bad); i++) {
        test_status(t, ordo_string_dict_build_host(r->dict, bad[i], out), ORDO_INVALID);
        test_status(t, ordo_string_dict_upsert_host(r->dict, bad[i], out), ORDO_INVALID);
        test_status(t, ordo_string_dict_erase_host(r->dict, bad[i]), ORDO_INVALID);
        test_status(t, ordo_string_dict_select_host(r->dict, out, 2, &bad_out[i], NULL, NULL), ORDO_INVALID);
        test_status(t, ordo_string_dict_export_host(r->dict, &bad_out[i], 3, &count, &needed), ORDO_INVALID);
    }
    test_status(t, ordo_string_dict_build_host(r->dict, q, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_build_host(NULL, q, out), ORDO_INVALID);
    test_status(t, ordo_string_dict_upsert_host(r->dict, q, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_upsert_host(NULL, q, out), ORDO_INVALID);
    test_status(t, ordo_string_dict_erase_host(NULL, q), ORDO_INVALID);
    test_status(t, ordo_string_dict_select_host(NULL, out, 2, &good, NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_select_host(r->dict, NULL, 2, &good, NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_select_host(r->dict, out, 2, NULL, NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_export_host(NULL, &good, 3, &count, &needed), ORDO_INVALID);
    test_status(t, ordo_string_dict_export_host(r->dict, NULL, 3, &count, &needed), ORDO_INVALID);
    test_status(t, ordo_string_dict_export_host(r->dict, &good, 3, NULL, &needed), ORDO_INVALID);
    test_status(t, ordo_string_dict_export_host(r->dict, &good, 3, &count, NULL), ORDO_INVALID);
}

static void bad_string_dict_orders(const struct string_dict_trial *r, const struct bad_order *bad)
{
    struct test               *t = r->on.t;
    const struct ordo_strings *q = &r->on.column;
    const struct ordo_order   *on = &bad->order;
    size_t                     count = 0, needed = 0;
    test_status(t, ordo_string_dict_build(r->dict, q, r->values, on), bad->want);
    test_status(t, ordo_string_dict_upsert(r->dict, q, r->values, on), bad->want);
    test_status(t, ordo_string_dict_erase(r->dict, q, on), bad->want);
    test_status(t, ordo_string_dict_cleanup(r->dict, on), bad->want);
    test_status(t, ordo_string_dict_select(r->dict, q->offsets, 1, r->elements, ordo_none(), NULL, on), bad->want);
    test_status(t, ordo_string_dict_export(r->dict, r->elements, 3, &count, &needed, on), bad->want);
    test_status(t, ordo_string_dict_check(r->dict, on), bad->want);
}

static void expect_strings(struct test *t, ordo_string_dict *dict)
{
    uint64_t offsets[4];
    uint8_t  bytes[4];
    uint32_t values[3];
    size_t   count = 0, needed = 0;
    test_ok(t, ordo_string_dict_check(dict, NULL));
    test_ok(t, ordo_string_dict_export_host(dict, &(struct ordo_host_string_elements) { offsets, bytes, 4, values }, 3,
                                            &count, &needed));
    test_true(t, count == 3 && needed == 4 && memcmp(bytes, "abcd", 4) == 0);
    test_same(t, "values", ORDO_U32, values, ((const uint32_t[]) { 0, 1, 2 }), 3);
}

/* Bad offsets and capacities: tests/dict/string_dict.c. */
void try_string_dicts(struct test *t)
{
    static const uint32_t        offsets[] = { 0, 1, 2, 4 };
    struct function              function = { .name = "ordo_string_dict_create" };
    struct trial                 foreign = { .t = t, .function = &function };
    AUTO_ARRAY struct test_array on_offsets = test_upload(t, offsets, 4, 4, 1),
                                 on_bytes = test_upload(t, "abcd", 4, 1, 1);
    AUTO_ARRAY struct test_array      values = test_upload(t, ((const uint32_t[]) { 0, 1, 2 }), 3, 4, 0);
    AUTO_ARRAY struct test_array      out = test_upload(t, NULL, 8, 4, 0), bytes_out = test_upload(t, NULL, 4, 1, 0);
    AUTO_ARRAY struct test_array      offsets_out = test_upload(t, NULL, 4, 8, 0);
    const struct ordo_string_elements elements = { test_slice(&offsets_out), test_slice(&bytes_out), 4, ordo_none() };
    const struct ordo_strings         column = { test_slice(&on_offsets), 4, test_slice(&on_bytes), 4, 3 };
    struct string_dict_trial          r = { .on = { .t = t,
                                                    .column = column,
                                                    .host = { offsets, 4, "abcd", 4, 3 },
                                                    .out = test_slice(&out),
                                                    .small = ordo_at(out.mem, SIZE_MAX / 8),
                                                    .no_offsets = { ordo_none(), 4, column.bytes, 4, 3 },
                                                    .bad_width = { column.offsets, 2, column.bytes, 4, 3 },
                                                    .too_many = { column.offsets, 4, column.bytes, 4, SIZE_MAX } },
                                            .values = test_slice(&values),
                                            .elements = &elements };
    struct bad_order                  bad[BAD_ORDERS];
    bad_string_dicts(t);
    test_ok(t, ordo_string_dict_create(t->dev, ordo_string_dict_config(.value_bytes = 4), &r.dict));
    test_ok(t, ordo_string_dict_upsert(r.dict, &column, r.values, NULL));
    bad_string_updates(&r);
    bad_string_elements(&r);
    bad_string_dict_hosts(&r);
    make_foreign(&foreign);
    list_bad_orders(&foreign, bad);
    for (size_t i = 0; i < LENGTH(bad); i++)
        bad_string_dict_orders(&r, &bad[i]);
    release_foreign(&foreign);
    expect_strings(t, r.dict);
    ordo_string_dict_destroy(&r.dict);
}
