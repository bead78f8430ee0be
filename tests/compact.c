/* SPDX-License-Identifier: Apache-2.0 */
/* Compaction against a plain host loop. */
#include "support.h"

#include "primitive/tiles.h"

#include <stdlib.h>

/* ---- the reference ------------------------------------------------------------------------------------------- */

/* The elements of `bytes` whose flag is set, then what `out` held; returns their number. */
static size_t compact_on_host(const void *in, size_t bytes, const uint8_t *flags, size_t count, void *out)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (flags[i])
            memcpy((uint8_t *) out + bytes * kept++, (const uint8_t *) in + bytes * i, bytes);
    return kept;
}

/* All, none, a few, most, long stretches; any byte but 0 is a flag. */
static void random_flags(struct test *t, uint8_t *flags, size_t count)
{
    const uint64_t of_ten = (uint64_t[]) { 0, 1, 5, 9, 10 }[test_below(t, 5)];
    const size_t   stretch = test_below(t, 2) ? 1 : 1000;
    uint8_t        flag = 0;

    for (size_t i = 0; i < count; i++) {
        if (i % stretch == 0)
            flag = test_below(t, 10) < of_ten ? (uint8_t) (1 + test_below(t, 255)) : 0;
        flags[i] = flag;
    }
}

/* ---- one compaction ------------------------------------------------------------------------------------------ */

static ordo_type raw_type(size_t bytes)
{
    return bytes == 8 ? ORDO_U64 : ORDO_U32;
}

/* What lies behind the kept elements must be untouched. */
static void expect_kept(const struct test *t, const struct test_array *out, const void *want, size_t kept)
{
    const size_t bytes = out->count * out->bytes;
    uint8_t     *got = test_alloc(bytes);

    test_download(t, out, got);
    test_same(t, out->bytes == 8 ? "8-byte outputs" : "4-byte outputs", raw_type(out->bytes), got, want, kept);
    for (size_t i = kept * out->bytes; i < bytes; i++)
        if (got[i] != ((const uint8_t *) want)[i])
            test_fail(t, __FILE__, __LINE__, "byte %zu was written, behind the %zu kept elements", i, kept);
    free(got);
}

struct arrays {
    void    *keys, *values;
    uint8_t *flags;
    void    *want_keys, *want_values;
    size_t   kept;
};

static struct arrays make_arrays(struct test *t, const struct ordo_compact_params *p, size_t count)
{
    struct arrays a = {
        .keys = test_alloc(count * p->key_bytes),
        .values = test_alloc(count * p->value_bytes),
        .flags = test_alloc(count),
        .want_keys = test_alloc(count * p->key_bytes),
        .want_values = test_alloc(count * p->value_bytes),
    };

    test_random_bytes(t, a.keys, count * p->key_bytes);
    test_random_bytes(t, a.values, count * p->value_bytes);
    random_flags(t, a.flags, count);
    memset(a.want_keys, TEST_EMPTY, count * p->key_bytes);
    memset(a.want_values, TEST_EMPTY, count * p->value_bytes);
    a.kept = compact_on_host(a.keys, p->key_bytes, a.flags, count, a.want_keys);
    (void) compact_on_host(a.values, p->value_bytes, a.flags, count, a.want_values);
    return a;
}

static void free_arrays(struct arrays *a)
{
    free(a->keys);
    free(a->values);
    free(a->flags);
    free(a->want_keys);
    free(a->want_values);
}

static void try_compact(struct test *t, uint32_t key_bytes, uint32_t value_bytes, size_t count)
{
    const struct ordo_compact_params p = { key_bytes, value_bytes };
    struct arrays                    a = make_arrays(t, &p, count);
    const uint32_t                   want_kept = (uint32_t) a.kept;
    struct test_array                values = { 0 }, values_out = { 0 };

    struct test_array keys = test_upload(t, a.keys, count, key_bytes, test_below(t, 6));
    struct test_array flags = test_upload(t, a.flags, count, 1, test_below(t, 6));
    struct test_array keys_out = test_upload(t, NULL, count, key_bytes, test_below(t, 6));
    struct test_array kept = test_upload(t, NULL, 1, 4, test_below(t, 6));
    if (value_bytes) {
        values = test_upload(t, a.values, count, value_bytes, test_below(t, 6));
        values_out = test_upload(t, NULL, count, value_bytes, test_below(t, 6));
    }

    test_context(t, "%zu of %zu keys of %u bytes, values of %u", a.kept, count, key_bytes, value_bytes);
    test_ok(t, ordo_compact(t->dev, &p, test_slice(&keys), test_slice(&values), test_slice(&flags), count,
                            test_slice(&keys_out), test_slice(&values_out), test_slice(&kept), NULL));
    test_expect(t, ORDO_U32, &kept, &want_kept, 1);
    expect_kept(t, &keys_out, a.want_keys, a.kept);
    if (value_bytes) {
        expect_kept(t, &values_out, a.want_values, a.kept);
        test_free(&values);
        test_free(&values_out);
    }
    test_free(&keys);
    test_free(&flags);
    test_free(&keys_out);
    test_free(&kept);
    free_arrays(&a);
}

/* ---- tests --------------------------------------------------------------------------------------------------- */

static void try_seams(struct test *t, uint32_t key_bytes, uint32_t value_bytes)
{
    const struct ordo_tiles tiles = ordo_tiles_of(t->dev, key_bytes, 1, 0);
    size_t                  counts[TEST_SEAMS];
    const size_t            n = test_seams(tiles.group, tiles.group * tiles.items, counts);

    for (size_t i = 0; i < n; i++)
        try_compact(t, key_bytes, value_bytes, counts[i]);
}

static void seams(struct test *t)
{
    try_seams(t, 4, 0);
    try_seams(t, 8, 4);
}

Test(compact, is_right_at_every_seam_on_every_device_and_mask)
{
    test_each_device_and_mask(seams);
}

static void sizes(struct test *t)
{
    for (uint32_t key_bytes = 4; key_bytes <= 8; key_bytes += 4)
        for (uint32_t value_bytes = 0; value_bytes <= 8; value_bytes += 4)
            for (int trial = 0; trial < 5; trial++)
                try_compact(t, key_bytes, value_bytes, test_below(t, 100000));
    try_compact(t, 4, 4, 3000017);
}

Test(compact, takes_every_size_of_key_and_value)
{
    test_each_device(sizes);
    test_each_device_with("cpu=0,progress=1", sizes);
}

static void every_tuning(struct test *t)
{
    static const uint32_t groups[] = { 1, 64, 128, 256, 512 }, items[] = { 4, 8, 12, 16, 24, 1024, 4096 };

    for (uint32_t method = 0; method < 2; method++) {
        for (size_t g = 0; g < 5; g++) {
            for (size_t i = 0; i < 7; i++) {
                test_ok(t, ordo_device_set_tunable(t->dev, "scan.method", method));
                test_ok(t, ordo_device_set_tunable(t->dev, "scan.group", groups[g]));
                test_ok(t, ordo_device_set_tunable(t->dev, "scan.items", items[i]));
                try_compact(t, 4, (g + i) % 2 ? 8 : 0, 60000 + test_below(t, 9));
            }
        }
    }
}

Test(compact, is_right_with_every_tuning)
{
    test_each_device_with("progress=1", every_tuning);
}

static void on_host_arrays(struct test *t)
{
    for (size_t count = 0; count < 40000; count = count * 3 + 1) {
        const struct ordo_compact_params p = { 8, count % 2 ? 4 : 0 };
        struct arrays                    a = make_arrays(t, &p, count);
        uint8_t                         *keys_out = test_alloc(count * 8), *values_out = test_alloc(count * 4);
        uint32_t                         kept = 77;

        memset(keys_out, TEST_EMPTY, count * 8);
        memset(values_out, TEST_EMPTY, count * 4);
        test_context(t, "host arrays of %zu", count);
        test_ok(t, ordo_compact_host(t->dev, &p, a.keys, a.values, a.flags, count, keys_out, values_out, &kept));
        test_true(t, kept == a.kept);
        test_same_bytes(t, "keys", keys_out, a.want_keys, count * 8); /* the rest untouched */
        test_same_bytes(t, "values", values_out, a.want_values, count * p.value_bytes);
        free(keys_out);
        free(values_out);
        free_arrays(&a);
    }
}

Test(compact, takes_host_arrays)
{
    test_each_device(on_host_arrays);
}

static void bad_arguments(struct test *t)
{
    const struct ordo_compact_params p = { 4, 4 }, keys_alone = { 4, 0 }, odd_key = { 3, 4 }, odd_value = { 4, 2 };
    struct test_array                array[6];
    struct ordo_slice                k, v, f, ko, vo, n;
    uint32_t                         kept = 0;

    for (size_t i = 0; i < 6; i++)
        array[i] = test_upload(t, NULL, 100, 4, 0);
    k = test_slice(&array[0]), v = test_slice(&array[1]), f = test_slice(&array[2]);
    ko = test_slice(&array[3]), vo = test_slice(&array[4]), n = test_slice(&array[5]);

    test_context(t, "bad arguments");
    test_status(t, ordo_compact(NULL, &p, k, v, f, 100, ko, vo, n, NULL), ORDO_INVALID);
    test_status(t, ordo_compact(t->dev, NULL, k, v, f, 100, ko, vo, n, NULL), ORDO_INVALID);
    test_status(t, ordo_compact(t->dev, &odd_key, k, v, f, 100, ko, vo, n, NULL), ORDO_INVALID);
    test_status(t, ordo_compact(t->dev, &odd_value, k, v, f, 100, ko, vo, n, NULL), ORDO_INVALID);
    test_status(t, ordo_compact(t->dev, &keys_alone, k, v, f, 100, ko, ordo_none(), n, NULL), ORDO_INVALID);
    test_status(t, ordo_compact(t->dev, &p, k, ordo_none(), f, 100, ko, vo, n, NULL), ORDO_INVALID);
    test_status(t, ordo_compact(t->dev, &p, k, v, ordo_none(), 100, ko, vo, n, NULL), ORDO_INVALID);
    test_status(t, ordo_compact(t->dev, &p, k, v, f, 100, ko, ordo_at(vo.mem, 17), n, NULL), ORDO_INVALID);
    test_status(t, ordo_compact(t->dev, &p, k, v, f, 117, ko, vo, n, NULL), ORDO_INVALID);
    test_status(t, ordo_compact(t->dev, &p, k, v, f, 100, k, vo, n, NULL), ORDO_INVALID);
    test_status(t, ordo_compact(t->dev, &p, k, v, f, 100, ko, ko, n, NULL), ORDO_INVALID);
    test_status(t, ordo_compact(t->dev, &p, k, v, f, 100, ko, f, n, NULL), ORDO_INVALID);
    test_status(t, ordo_compact(t->dev, &p, k, v, f, 50, ko, vo, ordo_at(ko.mem, 49), NULL), ORDO_INVALID);
    test_status(t, ordo_compact(t->dev, &p, k, v, f, 50, ko, vo, ordo_at(ko.mem, 50), NULL), ORDO_OK);
    test_status(t, ordo_compact(t->dev, &p, k, v, f, 100, ko, vo, ordo_none(), NULL), ORDO_INVALID);
    test_status(t, ordo_compact(t->dev, &p, k, v, f, ORDO_MAX_COUNT + 1, ko, vo, n, NULL), ORDO_TOO_LARGE);
    test_status(t, ordo_compact_host(t->dev, &keys_alone, NULL, NULL, NULL, 1, NULL, NULL, &kept), ORDO_INVALID);
    test_status(t, ordo_compact_host(t->dev, &keys_alone, NULL, NULL, NULL, 0, NULL, NULL, NULL), ORDO_INVALID);
    for (size_t i = 0; i < 6; i++)
        test_free(&array[i]);
}

Test(compact, refuses_bad_arguments)
{
    test_each_device(bad_arguments);
}
