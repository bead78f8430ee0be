/* SPDX-License-Identifier: Apache-2.0 */
/* Sets in the Roaring portable format: bytes made by hand, by a plain writer that chooses forms at random, and by
 * CRoaring if it is installed; bytes cut and changed at random, which a plain reader accepts or rejects. */
#include "tests/trie/roaring_plain.h"
#include "tests/trie/trie_case.h"

#include <stdio.h>

#if HAVE_CROARING
#include <roaring/roaring.h>
#endif

/* ---- a plain writer ---------------------------------------------------------------------------------------------- */

struct bytes {
    uint8_t *at;
    size_t   n, room;
};

static void put(struct bytes *b, uint64_t word, size_t n)
{
    if (b->n + n > b->room) {
        b->room = 2 * (b->n + n) + 64;
        b->at = realloc(b->at, b->room);
        if (!b->at)
            abort();
    }
    for (size_t i = 0; i < n; i++)
        b->at[b->n++] = (uint8_t) (word >> 8 * i);
}

static void put_at(struct bytes *b, size_t at, uint64_t word, size_t n)
{
    for (size_t i = 0; i < n; i++)
        b->at[at + i] = (uint8_t) (word >> 8 * i);
}

enum form { ARRAY, BITMAP, RUNS };

static size_t runs_of(const uint64_t *keys, size_t n)
{
    size_t runs = n > 0;
    for (size_t i = 1; i < n; i++)
        runs += keys[i] != keys[i - 1] + 1;
    return runs;
}

/* Chooses the shortest form or, with `any`, in one of three cases runs or not at random. */
static enum form form_of(const uint64_t *keys, size_t n, struct test *any)
{
    const size_t size = n <= 4096 ? 2 * n : 8192;
    const bool   shorter = 2 + 4 * runs_of(keys, n) < size + (n <= 4096); /* as short as an array, too */
    const bool   runs = any && test_below(any, 3) == 0 ? test_below(any, 2) : shorter;
    return runs ? RUNS : n <= 4096 ? ARRAY : BITMAP;
}

static void put_container(struct bytes *b, const uint64_t *keys, size_t n, enum form form)
{
    uint8_t bits[8192] = { 0 };

    if (form == RUNS)
        put(b, runs_of(keys, n), 2);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; form == RUNS && end < n && keys[end] == keys[end - 1] + 1;)
            end++;
        bits[(keys[i] & 0xffff) / 8] |= (uint8_t) (1 << keys[i] % 8);
        if (form != BITMAP)
            put(b, keys[i] & 0xffff, 2);
        if (form == RUNS)
            put(b, end - i - 1, 2);
    }
    for (size_t i = 0; form == BITMAP && i < sizeof bits; i++)
        put(b, bits[i], 1);
}

/* The end of the keys from i on with the same bits above the lowest `bits`. */
static size_t end_of(const uint64_t *keys, size_t n, size_t i, unsigned bits)
{
    size_t end = i + 1;
    while (end < n && keys[end] >> bits == keys[i] >> bits)
        end++;
    return end;
}

static void put_bitmap(struct bytes *b, const uint64_t *keys, size_t n, struct test *any)
{
    const size_t         begin = b->n;
    size_t               containers = 0, flags = 0, offsets = 0, c = 0;
    AUTO_FREE enum form *form = test_alloc((n + 1) * sizeof *form);
    bool                 with_runs = false;

    for (size_t i = 0, end; i < n; i = end) {
        end = end_of(keys, n, i, 16);
        form[containers] = form_of(&keys[i], end - i, any);
        with_runs = form[containers++] == RUNS || with_runs;
    }
    put(b, with_runs ? 12347 | (containers - 1) << 16 : 12346, 4);
    flags = b->n;
    for (size_t k = 0; k < (with_runs ? (containers + 7) / 8 : 4); k++)
        put(b, with_runs ? 0 : containers >> 8 * k, 1);
    for (size_t i = 0, end; i < n; i = end) {
        end = end_of(keys, n, i, 16);
        put(b, keys[i] >> 16 & 0xffff, 2);
        put(b, end - i - 1, 2);
    }
    offsets = b->n;
    for (size_t k = 0; (!with_runs || containers >= 4) && k < containers; k++)
        put(b, 0, 4);
    for (size_t i = 0, end; i < n; i = end, c++) {
        end = end_of(keys, n, i, 16);
        if (!with_runs || containers >= 4)
            put_at(b, offsets + 4 * c, b->n - begin, 4);
        if (form[c] == RUNS)
            b->at[flags + c / 8] |= (uint8_t) (1 << c % 8);
        put_container(b, &keys[i], end - i, form[c]);
    }
}

/* keys ascend. */
static struct bytes plain_write(const uint64_t *keys, size_t n, bool wide, struct test *any)
{
    struct bytes b = { .n = 0 };
    size_t       bitmaps = 0;

    if (!wide) {
        put_bitmap(&b, keys, n, any);
        return b;
    }
    put(&b, 0, 8);
    for (size_t i = 0, end; i < n; i = end, bitmaps++) {
        end = end_of(keys, n, i, 32);
        put(&b, keys[i] >> 32, 4);
        put_bitmap(&b, &keys[i], end - i, any);
    }
    put_at(&b, 0, bitmaps, 8);
    return b;
}

/* ---- sets -------------------------------------------------------------------------------------------------------- */

static ordo_dict *make(struct test *t, struct ordo_hamt_config config)
{
    ordo_dict *dict = NULL;
    test_ok(t, ordo_hamt_create(t->dev, &config, &dict));
    return dict;
}

static ordo_dict *make_set(struct test *t, bool wide, uint32_t value_bytes)
{
    return make(t, (struct ordo_hamt_config) { .dict = { key_type(wide), value_bytes } });
}

static void expect_keys(struct test *t, ordo_dict *dict, bool wide, const uint64_t *keys, size_t n)
{
    AUTO_FREE void *want = narrow(keys, n, wide), *got = test_alloc((n + 1) * sizeof *keys);
    size_t          count = 0;

    test_ok(t, ordo_dict_export_host(dict, got, NULL, n + 1, &count));
    if (count != n)
        test_fail(t, __FILE__, __LINE__, "%zu keys, not %zu", count, n);
    test_same(t, "keys", key_type(wide), got, want, n);
    test_ok(t, ordo_dict_check(dict, NULL));
}

static void expect_bytes(struct test *t, ordo_dict *dict, const struct bytes *want)
{
    AUTO_FREE uint8_t *got = test_alloc(want->n + 1);
    size_t             size = 0;

    test_ok(t, ordo_hamt_write_roaring_host(dict, NULL, 0, &size));
    if (size != want->n)
        test_fail(t, __FILE__, __LINE__, "%zu bytes, not %zu", size, want->n);
    got[want->n] = 0x5c;
    test_ok(t, ordo_hamt_write_roaring_host(dict, got, want->n, &size));
    test_true(t, size == want->n && got[want->n] == 0x5c);
    test_same_bytes(t, "bytes", got, want->at, want->n);
}

/* ---- bytes made by hand ------------------------------------------------------------------------------------------ */

struct by_hand {
    const char *what;
    bool        wide;
    size_t      n_keys;
    uint64_t    keys[16];
    uint8_t     bytes[64];
};

/* clang-format off */
static const struct by_hand by_hand[] = {
    { "the empty set", false, 0, { 0 }, { 0x3a, 0x30 } },
    { "the empty set of u64", true, 0, { 0 }, { 0 } },
    { "two arrays", false, 4, { 1, 3, 5, 100000 },
      { 0x3a, 0x30, 0, 0,  2, 0, 0, 0,             /* cookie, containers */
        0, 0, 2, 0,  1, 0, 0, 0,                   /* descriptors */
        24, 0, 0, 0,  30, 0, 0, 0,                 /* offsets */
        1, 0, 3, 0, 5, 0,  0xa0, 0x86 } },
    { "a run", false, 10, { 10, 11, 12, 13, 14, 15, 16, 17, 18, 19 },
      { 0x3b, 0x30, 0, 0,  1,  0, 0, 9, 0,  1, 0,  10, 0, 9, 0 } },
    { "runs and an array of four containers, which have offsets", false, 13,
      { 5, 6, 7, 8, 65536, 131072, 131073, 131074, 131075, 0xfffffffc, 0xfffffffd, 0xfffffffe, 0xffffffff },
      { 0x3b, 0x30, 3, 0,  0x0d,
        0, 0, 3, 0,  1, 0, 0, 0,  2, 0, 3, 0,  0xff, 0xff, 3, 0,
        37, 0, 0, 0,  43, 0, 0, 0,  45, 0, 0, 0,  51, 0, 0, 0,
        1, 0, 5, 0, 3, 0,  0, 0,  1, 0, 0, 0, 3, 0,  1, 0, 0xfc, 0xff, 3, 0 } },
    { "two bitmaps of u64", true, 2, { 5, (uint64_t) 9 << 32 | 7 },
      { 2, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0,  0x3a, 0x30, 0, 0,  1, 0, 0, 0,  0, 0, 0, 0,  16, 0, 0, 0,  5, 0,
        9, 0, 0, 0,  0x3a, 0x30, 0, 0,  1, 0, 0, 0,  0, 0, 0, 0,  16, 0, 0, 0,  7, 0 } },
};
/* clang-format on */

static size_t size_of(const struct by_hand *h)
{
    const struct bytes plain = plain_write(h->keys, h->n_keys, h->wide, NULL);
    free(plain.at);
    return plain.n;
}

DEVICE_TEST(roaring, bytes_made_by_hand)
{
    for (size_t i = 0; i < LENGTH(by_hand); i++) {
        const struct by_hand *h = &by_hand[i];
        AUTO_DICT ordo_dict  *dict = make_set(t, h->wide, 0);
        struct bytes          bytes = { test_alloc(sizeof h->bytes), size_of(h), sizeof h->bytes };
        const uint32_t        some[2] = { 3, 4 };

        test_context(t, "%s", h->what);
        memcpy(bytes.at, h->bytes, sizeof h->bytes);
        if (!h->wide)
            test_ok(t, ordo_dict_upsert_host(dict, some, NULL, 2));
        test_ok(t, ordo_hamt_read_roaring_host(dict, bytes.at, bytes.n));
        expect_keys(t, dict, h->wide, h->keys, h->n_keys);
        expect_bytes(t, dict, &bytes);
        free(bytes.at);
    }
}

/* ---- random sets ------------------------------------------------------------------------------------------------- */

/* Draws groups of keys that give containers of each form: successive, each second or random keys, in sizes around
 * the limits of forms and in others. Returns the number of keys. */
static size_t random_set(struct test *t, bool wide, size_t most, uint64_t *keys)
{
    static const uint32_t sizes[] = { 1, 2, 3, 63, 64, 65, 1000, 4095, 4096, 4097, 5000, 65536 };
    size_t                n = 0;

    while (n < most) {
        const uint64_t high = wide && test_below(t, 3) ? test_below(t, 4) << 32 | test_below(t, 2) << 63 : 0;
        const uint64_t base = high | (test_below(t, 4) ? test_below(t, 12) : test_below(t, 65536)) << 16;
        const uint64_t kind = test_below(t, 4), first = test_below(t, 3) ? 0 : test_below(t, 65536);
        const size_t   count = test_below(t, 2) ? sizes[test_below(t, LENGTH(sizes))] : test_below(t, 300);
        for (size_t i = 0; i < count && n < most; i++)
            keys[n++] = base | ((kind == 0 ? test_random(t) : first + i * kind) & 0xffff);
    }
    return sort_distinct(keys, n);
}

static size_t leaves_of(struct test *t, ordo_dict *dict)
{
    struct ordo_statistics statistics;
    test_ok(t, ordo_dict_statistics(dict, NULL, &statistics));
    return statistics.leaves;
}

/* A build and reads must give the same number of leaves. */
static void check_set(struct test *t, ordo_dict *dict, bool wide, const uint64_t *keys, size_t n)
{
    struct bytes    best = plain_write(keys, n, wide, NULL), any = plain_write(keys, n, wide, t);
    AUTO_FREE void *elements = narrow(keys, n, wide);

    test_ok(t, ordo_dict_build_host(dict, elements, NULL, n));
    const size_t leaves = leaves_of(t, dict);
    expect_bytes(t, dict, &best);
    test_ok(t, ordo_dict_clear(dict));
    test_ok(t, ordo_hamt_read_roaring_host(dict, best.at, best.n));
    expect_keys(t, dict, wide, keys, n);
    test_true(t, leaves_of(t, dict) == leaves);
    test_ok(t, ordo_hamt_read_roaring_host(dict, any.at, any.n));
    expect_keys(t, dict, wide, keys, n);
    test_true(t, leaves_of(t, dict) == leaves);
    free(best.at);
    free(any.at);
}

enum { SETS = 6, KEYS = 150000 };

MASK_TEST(roaring, random_sets_survive_write_and_read, "", "cpu=0")
{
    AUTO_FREE uint64_t *keys = test_alloc(KEYS * sizeof *keys);

    for (unsigned s = 0; s < SETS; s++) {
        const bool           wide = s % 2;
        const size_t         n = random_set(t, wide, s < 2 ? KEYS : 1 + test_below(t, 9000), keys);
        AUTO_DICT ordo_dict *dict =
            make(t, (struct ordo_hamt_config) { { key_type(wide), 0 }, .fixed_depth = s % 3 == 2 });
        test_context(t, "set %u of %zu keys", s, n);
        check_set(t, dict, wide, keys, n);
    }
}

/* ---- wrong bytes ------------------------------------------------------------------------------------------------- */

static const uint32_t held[] = { 7, 70000, 0xffffffff };

static void expect_refused(struct test *t, ordo_dict *dict, const uint8_t *bytes, size_t n, const char *sentence)
{
    const uint64_t kept[] = { held[0], held[1], held[2] };
    char           text[512] = "";

    test_context(t, "%s", sentence);
    test_ok(t, ordo_dict_build_host(dict, held, NULL, LENGTH(held)));
    test_status(t, ordo_hamt_read_roaring_host(dict, bytes, n), ORDO_INVALID);
    (void) ordo_device_last_error(t->dev, text, sizeof text);
    if (!strstr(text, sentence))
        test_fail(t, __FILE__, __LINE__, "the message is: %s", text);
    expect_keys(t, dict, false, kept, LENGTH(held));
}

static void each_fault(struct test *t)
{
    static const struct {
        size_t      hand, n;
        int         at;
        uint8_t     to;
        const char *sentence;
    } faults[] = {
        { 0, 7, 0, 0x3a, "has at least 8 bytes" },
        { 2, 31, 0, 0x3a, "ends after" },
        { 2, 33, 0, 0x3a, "bytes are left over" },
        { 2, 32, 0, 0x39, "no cookie" },
        { 2, 32, 2, 1, "no cookie" },
        { 2, 32, 6, 2, "more than 65536 containers" },
        { 2, 32, 4, 3, "bitmap 0 ends after" },
        { 2, 32, 12, 0, "container 1 has an upper half" },
        { 2, 32, 16, 23, "container 0 does not begin" },
        { 2, 32, 20, 28, "bytes are left over" },
        { 2, 32, 26, 1, "container 0 has keys or runs that do not ascend" },
        { 2, 32, 10, 1, "container 0 does not begin" },
        { 3, 15, 7, 8, "container 0 does not have as many keys" },
        { 4, 57, 55, 4, "container 3 has keys or runs that do not ascend, or overlap, or end above 65535" },
        { 3, 15, 9, 2, "ends after" },
        { 3, 15, 9, 0, "bytes are left over" },
    };
    AUTO_DICT ordo_dict *dict = make_set(t, false, 0);

    for (size_t i = 0; i < LENGTH(faults); i++) {
        uint8_t bytes[65] = { 0 };
        memcpy(bytes, by_hand[faults[i].hand].bytes, sizeof by_hand[0].bytes);
        bytes[faults[i].at] = faults[i].to;
        expect_refused(t, dict, bytes, faults[i].n, faults[i].sentence);
    }
}

/* Bitmaps of u64 keys out of order, and more bitmaps than the bytes can have. */
static void wide_faults(struct test *t)
{
    AUTO_DICT ordo_dict *dict = make_set(t, true, 0);
    const uint64_t       key = 5;
    uint8_t              bytes[64];

    for (unsigned i = 0; i < 4; i++) {
        memcpy(bytes, by_hand[5].bytes, sizeof bytes);
        if (i == 0)
            bytes[30] = 0; /* equal upper halves */
        else if (i == 1)
            bytes[7] = 1;
        else if (i == 2)
            bytes[0] = 1;
        else
            bytes[0] = 0;
        test_context(t, "u64, %u", i);
        test_ok(t, ordo_dict_build_host(dict, &key, NULL, 1));
        test_status(t, ordo_hamt_read_roaring_host(dict, bytes, 52), ORDO_INVALID);
        expect_keys(t, dict, true, &key, 1);
    }
}

Test(roaring, wrong_bytes_are_refused_with_the_reason)
{
    test_each_device(each_fault);
    test_each_device(wide_faults);
}

/* Cuts the bytes, adds one, or changes some, more often in headers. */
static size_t change(struct test *t, uint8_t *bytes, size_t n)
{
    const uint64_t how = test_below(t, 8);

    if (how == 0)
        return test_below(t, n);
    if (how == 1) {
        bytes[n] = (uint8_t) test_random(t);
        return n + 1;
    }
    for (uint64_t k = test_below(t, 3) + 1; k > 0; k--) {
        uint8_t *byte = &bytes[test_below(t, test_below(t, 2) && n > 80 ? 80 : n)];
        *byte = (uint8_t) (test_below(t, 2) ? *byte ^ (uint64_t) 1 << test_below(t, 8) : test_random(t));
    }
    return n;
}

static size_t n_refused, n_read;

static void read_changed(struct test *t, ordo_dict *dict, bool wide, const uint8_t *bytes, size_t n)
{
    const uint64_t  kept[] = { held[0], held[1], held[2] };
    AUTO_FREE void *elements = narrow(kept, LENGTH(held), wide);
    struct reader   plain = plain_read(bytes, n, wide, 0);

    test_ok(t, ordo_dict_build_host(dict, elements, NULL, LENGTH(held)));
    test_status(t, ordo_hamt_read_roaring_host(dict, bytes, n), plain.wrong ? ORDO_INVALID : ORDO_OK);
    if (plain.wrong)
        expect_keys(t, dict, wide, kept, LENGTH(held));
    else
        expect_keys(t, dict, wide, plain.keys, plain.n_keys);
    n_refused += plain.wrong;
    n_read += !plain.wrong;
    free(plain.keys);
}

DEVICE_TEST(roaring, changed_bytes_are_a_set_or_refused)
{
    const char         *tries = getenv("ORDO_TEST_OPS");
    const unsigned      all = tries ? (unsigned) strtoul(tries, NULL, 0) : 100;
    AUTO_FREE uint64_t *keys = test_alloc(KEYS * sizeof *keys);

    n_refused = n_read = 0;
    for (unsigned s = 0; s < all; s++) {
        const bool           wide = s % 2;
        const size_t         n = random_set(t, wide, 1 + test_below(t, test_below(t, 4) ? 60 : 6000), keys);
        struct bytes         b = plain_write(keys, n, wide, t);
        AUTO_DICT ordo_dict *dict = make_set(t, wide, 0);
        put(&b, 0, 1);
        const size_t size = change(t, b.at, b.n - 1);
        test_context(t, "changed set %u of %zu keys, %zu bytes", s, n, size);
        read_changed(t, dict, wide, b.at, size);
        free(b.at);
    }
    fprintf(stderr, "roaring: of %u changed sets %zu were refused, %zu are sets\n", all, n_refused, n_read);
    test_true(t, n_refused > all / 2 && n_read > 0);
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

DEVICE_TEST(roaring, bytes_may_begin_anywhere_and_must_fit)
{
    const struct by_hand        *h = &by_hand[2];
    AUTO_DICT ordo_dict         *set = make_set(t, false, 0), *map = make_set(t, false, 4);
    ordo_dict                   *other = NULL;
    AUTO_ARRAY struct test_array in = test_upload(t, h->bytes, 32, 1, 3), out = test_upload(t, NULL, 40, 1, 5);
    uint8_t                      got[40];
    size_t                       size = 0;

    test_ok(t, ordo_hamt_read_roaring(set, test_slice(&in), 32, NULL));
    expect_keys(t, set, false, h->keys, h->n_keys);
    test_status(t, ordo_hamt_write_roaring(set, test_slice(&out), 31, &size, NULL), ORDO_TOO_SMALL);
    test_true(t, size == 32);
    test_ok(t, ordo_hamt_write_roaring(set, test_slice(&out), 40, &size, NULL));
    test_download(t, &out, got);
    test_same_bytes(t, "bytes", got, h->bytes, 32);
    test_true(t, got[32] == TEST_EMPTY);

    test_status(t, ordo_hamt_read_roaring_host(map, h->bytes, 32), ORDO_UNSUPPORTED);
    test_ok(t, ordo_dict_build_host(map, (const uint32_t[]) { 1, 3, 5, 100000 }, (const uint32_t[4]) { 0 }, 4));
    test_ok(t, ordo_hamt_write_roaring_host(map, got, 40, &size)); /* keys alone */
    test_true(t, size == 32);
    test_same_bytes(t, "bytes", got, h->bytes, 32);
    test_ok(t, ordo_hamt_create(t->dev, ordo_hamt_config(.dict = { ORDO_I32, 0 }), &other));
    test_status(t, ordo_hamt_read_roaring_host(other, h->bytes, 32), ORDO_UNSUPPORTED);
    test_status(t, ordo_hamt_write_roaring_host(other, got, 40, &size), ORDO_UNSUPPORTED);
    ordo_dict_destroy(&other);
    test_ok(t, ordo_sorted_array_create(t->dev, ordo_sorted_array_config(.dict = { ORDO_U32, 0 }), &other));
    test_status(t, ordo_hamt_read_roaring_host(other, h->bytes, 32), ORDO_UNSUPPORTED);
    test_status(t, ordo_hamt_write_roaring_host(other, got, 40, &size), ORDO_UNSUPPORTED);
    ordo_dict_destroy(&other);
}

/* ---- CRoaring ---------------------------------------------------------------------------------------------------- */

#if HAVE_CROARING

/* Writes each bitmap of 32-bit keys by CRoaring. */
static struct bytes croaring_write(const uint64_t *keys, size_t n, bool wide)
{
    struct bytes b = { .n = 0 };
    size_t       bitmaps = 0;

    if (wide)
        put(&b, 0, 8);
    for (size_t i = 0, end; i < n; i = end, bitmaps++) {
        roaring_bitmap_t *bitmap = roaring_bitmap_create();
        end = wide ? end_of(keys, n, i, 32) : n;
        for (size_t k = i; k < end; k++)
            roaring_bitmap_add(bitmap, (uint32_t) keys[k]);
        roaring_bitmap_run_optimize(bitmap);
        if (wide)
            put(&b, keys[i] >> 32, 4);
        const size_t size = roaring_bitmap_portable_size_in_bytes(bitmap), at = b.n;
        for (size_t k = 0; k < size; k++)
            put(&b, 0, 1);
        test_true(NULL, roaring_bitmap_portable_serialize(bitmap, (char *) b.at + at) == size);
        roaring_bitmap_free(bitmap);
    }
    if (wide)
        put_at(&b, 0, bitmaps, 8);
    return b;
}

static void expect_croaring_reads(struct test *t, const struct bytes *b, const uint64_t *keys, size_t n)
{
    roaring_bitmap_t *bitmap = roaring_bitmap_portable_deserialize_safe((const char *) b->at, b->n);

    test_true(t, bitmap != NULL && roaring_bitmap_get_cardinality(bitmap) == n);
    for (size_t i = 0; i < n; i++)
        test_true(t, roaring_bitmap_contains(bitmap, (uint32_t) keys[i]));
    roaring_bitmap_free(bitmap);
}

DEVICE_TEST(roaring, reads_and_writes_the_bytes_of_croaring)
{
    AUTO_FREE uint64_t *keys = test_alloc(KEYS * sizeof *keys);

    for (unsigned s = 0; s < SETS; s++) {
        const bool           wide = s % 2;
        const size_t         n = random_set(t, wide, s < 4 ? KEYS : 1 + test_below(t, 9000), keys);
        struct bytes         theirs = croaring_write(keys, n, wide);
        AUTO_DICT ordo_dict *dict = make_set(t, wide, 0);
        test_context(t, "CRoaring, set %u of %zu keys", s, n);
        test_ok(t, ordo_hamt_read_roaring_host(dict, theirs.at, theirs.n));
        expect_keys(t, dict, wide, keys, n);
        expect_bytes(t, dict, &theirs);
        if (!wide)
            expect_croaring_reads(t, &theirs, keys, n);
        free(theirs.at);
    }
}

/* Adds runs of random lengths as ranges. CRoaring may write other bytes for them than for the same keys added one by
 * one, as for {5, 6}. Ordo reads both, and writes the latter. */
static size_t random_ranges(struct test *t, unsigned s, roaring_bitmap_t *bitmap, uint64_t *keys)
{
    size_t   n = 0;
    uint32_t at = 5;

    for (unsigned runs = s == 0 ? 1 : 1 + (unsigned) test_below(t, s % 2 ? 20 : 3000); runs > 0; runs--) {
        const uint32_t length = s == 0 ? 2 : 1 + (uint32_t) test_below(t, 3);
        roaring_bitmap_add_range(bitmap, at, at + length);
        for (uint32_t i = 0; i < length; i++)
            keys[n++] = at + i;
        at += length + 1 + (uint32_t) test_below(t, 20);
    }
    return n;
}

DEVICE_TEST(roaring, ranges_of_croaring_are_written_as_keys_added_one_by_one)
{
    AUTO_FREE uint64_t *keys = test_alloc(KEYS * sizeof *keys);
    size_t              differ = 0;

    for (unsigned s = 0; s < SETS; s++) {
        roaring_bitmap_t    *bitmap = roaring_bitmap_create();
        const size_t         n = random_ranges(t, s, bitmap, keys);
        struct bytes         one_by_one = croaring_write(keys, n, false);
        AUTO_DICT ordo_dict *dict = make_set(t, false, 0);

        test_context(t, "CRoaring, set %u of %zu keys in ranges", s, n);
        roaring_bitmap_run_optimize(bitmap);
        const size_t    size = roaring_bitmap_portable_size_in_bytes(bitmap);
        AUTO_FREE char *ranges = test_alloc(size);
        test_true(t, roaring_bitmap_portable_serialize(bitmap, ranges) == size);
        differ += size != one_by_one.n;
        if (size <= one_by_one.n) { /* otherwise it may have a bitmap of few keys, which the format forbids */
            test_ok(t, ordo_hamt_read_roaring_host(dict, ranges, size));
            expect_bytes(t, dict, &one_by_one);
        }
        test_ok(t, ordo_hamt_read_roaring_host(dict, one_by_one.at, one_by_one.n));
        expect_bytes(t, dict, &one_by_one);
        roaring_bitmap_free(bitmap);
        free(one_by_one.at);
    }
    test_true(t, differ > 0);
}

#endif
