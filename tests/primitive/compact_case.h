/* SPDX-License-Identifier: Apache-2.0 */
/* Compactions against a plain host loop: the cases of compact.c and scan_tunings.c. */
#ifndef ORDO_TESTS_COMPACT_CASE_H
#define ORDO_TESTS_COMPACT_CASE_H

#include "scan_common.h"

/* ---- the reference ------------------------------------------------------------------------------------------- */

/* Collects the flagged elements of `bytes`, then the old content of `out`; returns their number. */
static inline size_t compact_on_host(const void *in, size_t bytes, const uint8_t *flags, size_t count, void *out)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (flags[i])
            memcpy((uint8_t *) out + bytes * kept++, (const uint8_t *) in + bytes * i, bytes);
    return kept;
}

/* All, none, a few, most, long runs. Any byte but 0 is a flag. */
static inline void random_flags(struct test *t, uint8_t *flags, size_t count)
{
    const uint64_t of_ten = (uint64_t[]) { 0, 1, 5, 9, 10 }[test_below(t, 5)];
    const size_t   segment = test_below(t, 2) ? 1 : 1000;
    uint8_t        flag = 0;
    for (size_t i = 0; i < count; i++) {
        if (i % segment == 0)
            flag = test_below(t, 10) < of_ten ? (uint8_t) (1 + test_below(t, 255)) : 0;
        flags[i] = flag;
    }
}

/* ---- one compaction ------------------------------------------------------------------------------------------ */

static inline ordo_type raw_type(size_t bytes)
{
    return bytes == 8 ? ORDO_U64 : ORDO_U32;
}

/* elements after the kept ones must be unchanged */
static inline void expect_kept(const struct test *t, const struct test_array *out, const void *want, size_t kept)
{
    const size_t       bytes = out->count * out->bytes;
    AUTO_FREE uint8_t *got = test_alloc(bytes);
    test_download(t, out, got);
    test_same(t, out->bytes == 8 ? "8-byte outputs" : "4-byte outputs", raw_type(out->bytes), got, want, kept);
    for (size_t i = kept * out->bytes; i < bytes; i++)
        if (got[i] != ((const uint8_t *) want)[i])
            test_fail(t, __FILE__, __LINE__, "byte %zu was written, behind the %zu kept elements", i, kept);
}

struct arrays {
    void    *keys, *values;
    uint8_t *flags;
    void    *want_keys, *want_values;
    size_t   kept;
};

static inline struct arrays make_arrays(struct test *t, const struct ordo_compact_params *p, size_t count)
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

static inline void free_arrays(struct arrays *a)
{
    free(a->keys);
    free(a->values);
    free(a->flags);
    free(a->want_keys);
    free(a->want_values);
}

static inline void try_compact(struct test *t, uint32_t key_bytes, uint32_t value_bytes, size_t count)
{
    const struct ordo_compact_params p = { key_bytes, value_bytes };
    struct arrays                    a = make_arrays(t, &p, count);
    const uint32_t                   want_kept = (uint32_t) a.kept;
    struct test_array                values = { 0 }, values_out = { 0 };
    struct test_array                keys = test_upload(t, a.keys, count, key_bytes, test_below(t, 6));
    struct test_array                flags = test_upload(t, a.flags, count, 1, test_below(t, 6));
    struct test_array                keys_out = test_upload(t, NULL, count, key_bytes, test_below(t, 6));
    struct test_array                kept = test_upload(t, NULL, 1, 4, test_below(t, 6));
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

#endif
