/* SPDX-License-Identifier: Apache-2.0 */
/* Hash tables: the kernels of sparse and dense updates make the same table. The kernels of small updates and the kernel
 * of CPUs make a table of the same content. */
#include "tests/dict/broken.h"

#include "dict/hash/hash.h"
#include "ordo/hash.h"
#include "runtime/internal.h"
#include "shared/hash_small.h"

#include <stdlib.h>

/* ---- sparse and dense updates ------------------------------------------------------------------------------------ */

/* Two tables that get the same batches. Updates of one of them are dense always. */
struct pair {
    ordo_dict *sparse, *dense;
    size_t     key_bytes;
    uint32_t   value_bytes;
};

enum { THERE = 30000, OPERATIONS = 1200 };

static ordo_dict *make_table(struct test *t, ordo_type type, uint32_t value_bytes, uint32_t load, uint32_t n)
{
    const size_t        key_bytes = ordo_type_bytes(type);
    AUTO_FREE uint64_t *keys = test_alloc((size_t) n * 2 * sizeof *keys);
    ordo_dict          *dict = NULL;

    memset(keys, 0, (size_t) n * 2 * sizeof *keys);
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t key = (uint32_t) (i * 0x9e3779b1u);
        memcpy((char *) keys + i * key_bytes, &key, key_bytes < 8 ? key_bytes : 8);
    }
    test_ok(t, ordo_hash_create(t->dev, ordo_hash_config(.dict = { type, value_bytes }, .load_percent = load), &dict));
    test_ok(t, ordo_dict_build_host(dict, keys, value_bytes ? keys : NULL, n));
    return dict;
}

static struct pair make_pair(struct test *t, ordo_type type, uint32_t value_bytes, uint32_t load, uint32_t n)
{
    struct pair p = { make_table(t, type, value_bytes, load, n), make_table(t, type, value_bytes, load, n),
                      ordo_type_bytes(type), value_bytes };

    ordo_hash_of(p.dense)->whole = true;
    return p;
}

/* A mixed batch. */
struct points {
    uint8_t  codes[OPERATIONS], found[2][OPERATIONS];
    uint64_t keys[OPERATIONS], values[OPERATIONS], out[2][OPERATIONS];
};

static void draw_points(struct test *t, struct points *b, const struct pair *p, size_t n, uint32_t of)
{
    memset(b, 0, sizeof *b);
    for (size_t i = 0; i < n; i++) {
        const uint64_t key = (uint32_t) (test_below(t, of) * 0x9e3779b1u), value = test_below(t, UINT32_MAX);
        b->codes[i] = (uint8_t) test_below(t, ORDO_ERASE + 1);
        memcpy((char *) b->keys + i * p->key_bytes, &key, p->key_bytes);
        memcpy((char *) b->values + i * p->value_bytes, &value, p->value_bytes);
    }
}

static void apply_points(struct test *t, ordo_dict *dict, struct points *b, size_t n, int which)
{
    const bool                   has_values = dict->value_bytes > 0;
    const struct ordo_host_batch batch = { .codes = b->codes,
                                           .keys = b->keys,
                                           .values = has_values ? b->values : NULL,
                                           .count = n,
                                           .found = b->found[which],
                                           .values_out = has_values ? b->out[which] : NULL };
    test_ok(t, ordo_dict_apply_host(dict, &batch, NULL));
}

/* Compares the first `bytes` of each of n pieces of two buffers. */
static bool same_pieces(struct test *t, cl_mem a, cl_mem b, size_t n, size_t piece, size_t bytes)
{
    AUTO_FREE char *x = test_alloc(n * piece), *y = test_alloc(n * piece);
    bool            same = true;

    read_bytes(t, a, 0, x, n * piece);
    read_bytes(t, b, 0, y, n * piece);
    for (size_t i = 0; i < n; i++)
        same = same && memcmp(x + i * piece, y + i * piece, bytes) == 0;
    return same;
}

/* Finds the elements of one table in the other. */
static void expect_same_content(struct test *t, const struct pair *p)
{
    size_t n[2] = { 0 }, value_bytes = p->value_bytes;

    test_ok(t, ordo_dict_size(p->sparse, NULL, &n[0]));
    test_ok(t, ordo_dict_size(p->dense, NULL, &n[1]));
    test_true(t, n[0] == n[1]);
    AUTO_FREE char *keys = test_alloc(n[0] * p->key_bytes + 1), *values = test_alloc(n[0] * value_bytes + 1),
                   *got = test_alloc(n[0] * value_bytes + 1);
    AUTO_FREE uint8_t *found = test_alloc(n[0] + 1);
    test_ok(t, ordo_dict_export_host(p->sparse, keys, value_bytes ? values : NULL, n[0], &n[0]));
    test_ok(t, ordo_dict_find_host(p->dense, keys, n[0], value_bytes ? got : NULL, found));
    test_true(t, memchr(found, 0, n[0]) == NULL);
    test_true(t, memcmp(values, got, n[0] * value_bytes) == 0);
}

/* Compares keys, spills and counts bit by bit. Empty slots may have any value; finds compare values. */
static void expect_same_table(struct test *t, const ordo_dict *one, const ordo_dict *other, size_t key_bytes)
{
    const struct ordo_hash_table *a = &ordo_hash_of((ordo_dict *) one)->table;
    const struct ordo_hash_table *b = &ordo_hash_of((ordo_dict *) other)->table;

    test_true(t, a->n_buckets == b->n_buckets && a->bits == b->bits && a->seed == b->seed);
    test_true(t, same_pieces(t, a->spills, b->spills, a->n_buckets, 1, 1));
    test_true(t, same_pieces(t, a->counts, b->counts, ordo_hash_partitions(a), sizeof(cl_uint), sizeof(cl_uint)));
    test_true(
        t, same_pieces(t, a->buckets, b->buckets, a->n_buckets, ordo_hash_bucket_bytes(one), HASH_SLOTS * key_bytes));
}

static void expect_same(struct test *t, const struct pair *p)
{
    test_ok(t, ordo_dict_check(p->sparse, NULL));
    if (t->dev->facts.cpu)
        expect_same_content(t, p);
    else
        expect_same_table(t, p->sparse, p->dense, p->key_bytes);
}

static void expect_same_points(struct test *t, const struct pair *p, size_t n, uint32_t of)
{
    AUTO_FREE struct points *b = test_alloc(sizeof *b);

    draw_points(t, b, p, n, of);
    apply_points(t, p->sparse, b, n, 0);
    apply_points(t, p->dense, b, n, 1);
    test_true(t, memcmp(b->found[0], b->found[1], n) == 0);
    test_true(t, memcmp(b->out[0], b->out[1], sizeof b->out[0]) == 0);
    expect_same(t, p);
}

static void expect_same_updates(struct test *t, const struct pair *p, size_t n, uint32_t of)
{
    AUTO_FREE struct points *b = test_alloc(sizeof *b);

    draw_points(t, b, p, n, of);
    test_ok(t, ordo_dict_upsert_host(p->sparse, b->keys, p->value_bytes ? b->values : NULL, n));
    test_ok(t, ordo_dict_upsert_host(p->dense, b->keys, p->value_bytes ? b->values : NULL, n));
    expect_same(t, p);
}

static void check_pair(struct test *t, ordo_type type, uint32_t value_bytes, uint32_t load)
{
    struct pair p = make_pair(t, type, value_bytes, load, THERE);

    ordo_hash_of(p.sparse)->sits_out = OPERATIONS; /* no small batches */
    test_context(t, "keys of %zu bytes, load %u", p.key_bytes, load);
    expect_same(t, &p);
    for (int round = 0; round < 2; round++) {
        expect_same_points(t, &p, OPERATIONS, 2 * THERE);
        expect_same_points(t, &p, OPERATIONS, 50);
        expect_same_updates(t, &p, OPERATIONS, 2 * THERE);
    }
    expect_same_points(t, &p, 1, 2 * THERE);
    ordo_dict_destroy(&p.sparse);
    ordo_dict_destroy(&p.dense);
}

MASK_TEST(hash_updates, sparse_and_dense_updates_make_the_same_table, "", "cpu=0")
{
    check_pair(t, ORDO_U32, 4, 80);
    check_pair(t, ORDO_U32, 4, 95); /* stashed and displaced elements */
    check_pair(t, ORDO_U64, 8, 90);
}

/* ---- small batches ----------------------------------------------------------------------------------------------- */

struct upserts {
    char  *keys, *values;
    size_t n;
};

static struct upserts draw_upserts(struct test *t, const struct pair *p, size_t n, uint32_t of)
{
    struct upserts u = { test_alloc(n * p->key_bytes), test_alloc(n * 16), n };

    memset(u.keys, 0, n * p->key_bytes);
    for (size_t i = 0; i < n; i++) {
        const uint64_t key = (uint32_t) (test_below(t, of) * 0x9e3779b1u), value[2] = { test_below(t, UINT32_MAX), i };
        memcpy(u.keys + i * p->key_bytes, &key, p->key_bytes < 8 ? p->key_bytes : 8);
        memcpy(u.values + i * p->value_bytes, value, p->value_bytes);
    }
    return u;
}

/* Stores n upserts with keys below `of`. Equal tables stay equal. Returns whether the first table stored them without a
 * sort. */
static bool store_small(struct test *t, const struct pair *p, ordo_dict *twin, size_t n, uint32_t of)
{
    struct upserts    u = draw_upserts(t, p, n, of);
    struct ordo_hash *hash = ordo_hash_of(p->sparse);
    const size_t      before = hash->small_batches;
    ordo_dict *const  all[] = { p->sparse, p->dense, twin };

    test_context(t, "keys of %zu bytes, values of %u, %zu upserts below %u", p->key_bytes, p->value_bytes, n, of);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        ordo_hash_of(all[i])->sits_out = 0;
        test_ok(t, ordo_dict_upsert_host(all[i], u.keys, p->value_bytes ? u.values : NULL, n));
    }
    test_ok(t, ordo_dict_check(p->sparse, NULL));
    expect_same_content(t, p);
    expect_same_table(t, p->sparse, twin, p->key_bytes);
    free(u.keys);
    free(u.values);
    return hash->small_batches > before;
}

/* Group sizes, the limit of scans of the whole batch, batches with many equal keys, and with present keys alone. */
static void check_small(struct test *t, ordo_type type, uint32_t value_bytes, uint32_t load, uint32_t n, bool bins)
{
    static const uint32_t sizes[] = { 1, 63, 64, 65, 129, 1000, HASH_SMALL_SCAN, HASH_SMALL_SCAN + 1 };
    struct pair           p = make_pair(t, type, value_bytes, load, n);
    AUTO_DICT ordo_dict  *twin = make_table(t, type, value_bytes, load, n);
    const size_t          most = HASH_SMALL_MEAN * ordo_hash_partitions(&ordo_hash_of(p.sparse)->table);

    if (bins)
        ordo_hash_of(p.sparse)->scan_max = ordo_hash_of(twin)->scan_max = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && sizes[i] <= most; i++) {
        const bool small = store_small(t, &p, twin, sizes[i], 2 * n);
        test_true(t, small || load > 80);
        (void) store_small(t, &p, twin, sizes[i], n);
        (void) store_small(t, &p, twin, sizes[i], 40);
    }
    ordo_dict_destroy(&p.sparse);
    ordo_dict_destroy(&p.dense);
}

enum { BINNED = 300000 };

MASK_TEST(hash_updates, small_batches_make_the_same_table, "cpu=0", "cpu=0,group=64", "cpu=0,group=1")
{
    check_small(t, ORDO_U32, 4, 70, THERE, false);
    check_small(t, ORDO_U32, 4, 70, THERE, true);
    check_small(t, ORDO_U32, 0, 95, THERE, false);
    check_small(t, ORDO_U64, 8, 70, THERE, true);
    check_small(t, ORDO_U128, 4, 70, THERE, false);
    check_small(t, ORDO_U128, 16, 70, THERE, true);
}

MASK_TEST(hash_updates, large_tables_get_bins_by_themselves, "cpu=0")
{
    check_small(t, ORDO_U32, 4, 70, BINNED, false);
    check_small(t, ORDO_U64, 8, 70, BINNED, false);
}

/* After a batch that the kernels decline, SIT_OUT batches are sorted at once. A declined batch changes nothing but is
 * stored in another way. */
MASK_TEST(hash_updates, a_declined_batch_is_stored, "cpu=0")
{
    struct pair          p = make_pair(t, ORDO_U32, 4, 80, THERE);
    struct ordo_hash    *hash = ordo_hash_of(p.sparse);
    AUTO_DICT ordo_dict *twin = make_table(t, ORDO_U32, 4, 80, THERE);

    for (int bins = 0; bins < 2; bins++) {
        if (bins)
            hash->scan_max = ordo_hash_of(twin)->scan_max = 0;
        test_true(t, !store_small(t, &p, twin, 1000, 10));
        test_true(t, hash->sits_out > 0);
        test_true(t, store_small(t, &p, twin, 1000, 2 * THERE));
    }
    ordo_dict_destroy(&p.sparse);
    ordo_dict_destroy(&p.dense);
}
