/* SPDX-License-Identifier: Apache-2.0 */
/* The sort by buckets on CPUs (cl/primitive/sort_buckets.cl). */
#include "sort_case.h"

#include "runtime/internal.h"
#include "tests/support/overlay.h"

/* More elements than one work-item sorts. The sample takes every 39th. */
enum { COUNT = 20011, SAMPLED = 39 };

struct pattern {
    const char *name;
    uint64_t    fixed, varies; /* keys are `fixed` except for the bits of `varies`, which are random */
    bool        prefixes;      /* the upper half is one of eight random words */
    bool        fools;         /* keys that the sample omits are in one bucket */
    uint32_t    parts;         /* number of about equal buckets; 0: the output is a copy */
};

/* Keys of 8 bytes; the upper half of each is a key of 4 bytes. */
static const struct pattern patterns[] = {
    { "uniform", 0, UINT64_MAX, false, false, 256 },
    { "all equal", 0x0123456789abcdef, 0, false, false, 0 },
    { "one bit", 0x0123456789abcdef, 0x0000100000000000, false, false, 2 },
    { "clustered high and low bits", 0, 0xffff00070000000f, false, false, 256 },
    { "constant top bits", 0x55aa000000000000, 0x0000ffffffffffff, false, false, 256 },
    { "many elements that differ in few bits", 0, 0xffffffff, true, false, 4 },
    { "one long bucket", 0x10, 0x0000ffff0000ffff, false, true, 1 },
};
#define N_PATTERNS (sizeof patterns / sizeof *patterns)

static uint64_t *pattern_keys(struct test *t, const struct pattern *p)
{
    uint64_t  prefix[8];
    uint64_t *keys = test_alloc(COUNT * sizeof *keys);
    for (size_t i = 0; i < 8; i++)
        prefix[i] = p->prefixes ? test_random(t) << 32 : 0;
    for (size_t i = 0; i < COUNT; i++) {
        keys[i] = p->fixed | (test_random(t) & p->varies) | prefix[test_random(t) % 8];
        if (p->fools && i % SAMPLED == 0)
            keys[i] = test_random(t);
    }
    return keys;
}

/* The upper halves. */
static void narrow(const uint64_t *keys, uint32_t *out)
{
    for (size_t i = 0; i < COUNT; i++)
        out[i] = (uint32_t) (keys[i] >> 32);
}

/* All bits, and some; in place and not. */
static void check_pattern(struct test *t, const struct pattern *p, struct ordo_sort_params params)
{
    AUTO_FREE uint64_t *keys = pattern_keys(t, p);
    if (ordo_type_bytes(params.key) == 4)
        narrow(keys, (uint32_t *) keys);
    for (uint32_t way = 0; way < 3; way++) {
        params.first_bit = way == 1 ? 3 : 0;
        params.bits = way == 1 ? 27 : 0;
        check_keys(t, &(struct job) { params, TEST_RANDOM, COUNT, way == 2 }, keys, p->name);
    }
}

static void check_patterns(struct test *t)
{
    const struct ordo_sort_params kinds[] = { { .key = ORDO_U32, .value_bytes = 4 },
                                              { .key = ORDO_U64, .value_bytes = 4 },
                                              { .key = ORDO_F64, .value_bytes = 8, .descending = true },
                                              { .key = ORDO_I32, .value_bytes = 0 },
                                              { .key = ORDO_U32, .value_bytes = 16 },
                                              { .key = ORDO_F32, .value_bytes = 8, .descending = true } };
    test_ok(t, ordo_device_set_tunable(t->dev, "sort.local", 12));
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        for (size_t i = 0; i < N_PATTERNS; i++)
            check_pattern(t, &patterns[i], kinds[kind]);
}

DEVICE_TEST(sort_buckets, keys_of_any_pattern_are_in_order)
{
    check_patterns(t);
}

/* The scatter collects full cache lines if the elements exceed the caches. */
DEVICE_TEST(sort_buckets, keys_of_any_pattern_are_in_order_past_the_caches)
{
    const uint64_t cache_bytes = t->dev->facts.cache_bytes;
    t->dev->facts.cache_bytes = 0;
    check_patterns(t);
    t->dev->facts.cache_bytes = cache_bytes;
}

/* Whether the device must sort by buckets (1), must not (0), or may (-1). */
static int uses_buckets(const struct test *t, const struct pattern *p)
{
    const uint32_t units = t->facts->compute_units;
    return p->parts >= 2 * units && p->parts > 0 ? 1 : 2 * p->parts <= units ? 0 : -1;
}

/* An injected fault: buckets are not sorted, so the output stays 0. */
static void check_use(struct test *t)
{
    AUTO_FREE uint64_t *got = test_alloc(COUNT * sizeof *got);
    if (!t->facts->cpu)
        return;
    test_ok(t, ordo_device_set_tunable(t->dev, "sort.local", 12));
    for (size_t i = 0; i < N_PATTERNS; i++) {
        AUTO_FREE uint64_t *keys = pattern_keys(t, &patterns[i]);
        size_t              descents = 0;
        memset(got, 0, COUNT * sizeof *got);
        AUTO_ARRAY struct test_array in = test_upload(t, keys, COUNT, 8, 0), out = test_upload(t, got, COUNT, 8, 0);
        test_context(t, "buckets of %s", patterns[i].name);
        test_ok(t, ordo_sort(t->dev, ordo_sort_params(.key = ORDO_U64), test_slice(&in), ordo_none(), test_slice(&out),
                             ordo_none(), COUNT, NULL));
        test_ok(t, ordo_device_finish(t->dev));
        test_download(t, &out, got);
        for (size_t k = 1; k < COUNT; k++)
            descents += got[k - 1] > got[k];
        const int buckets = uses_buckets(t, &patterns[i]);
        test_true(t, buckets < 0 || buckets == (got[COUNT - 1] == 0));
        test_true(t, descents == 0);
    }
}

/* The results do not show which kernels have sorted. */
Test(sort_buckets, buckets_are_used_unless_one_is_too_long)
{
    AUTO(overlay_end) struct overlay o = overlay_begin();
    overlay_edit(&o, "primitive/sort_buckets.cl", "            bucket_sort(spare, out, false, out, count, b);\n",
                 ";\n");
    overlay_edit(&o, "primitive/sort_buckets.cl", "            bucket_sort(spare, room, true, out, count, b);\n",
                 ";\n");
    overlay_use(&o);
    test_each_device(check_use);
}
