/* SPDX-License-Identifier: Apache-2.0 */
/* The first k elements of an order, and the k-th. */
#include "array_case.h"

#include "primitive/primitive.h"
#include "shared/top.h"

struct top_case {
    ordo_type       type;
    enum test_shape shape;
    bool            greatest;
    uint32_t        value_bytes;
    size_t          count, k;
};

/* `too`: also the element of that rank, and from host arrays. */
static void try_top(struct test *t, const struct top_case *top, bool too)
{
    static const char *const calls[] = { "ordo_top_k", "ordo_select" };
    struct given             g = array_given(t, top->type, top->value_bytes, top->count);

    g.k = top->k;
    g.greatest = top->greatest;
    for (size_t i = 0; i < (too && g.k < g.count ? 2 : 1); i++) {
        AUTO(array_case_free) struct array_case c = array_case(t, calls[i], &g);
        test_keys(t, top->type, top->shape, top->count, c.host[0]);
        array_case_check(&c);
        if (too)
            array_case_check_host(&c);
    }
}

/* ---- tests --------------------------------------------------------------------------------------------------- */

/* None, one, few, half, all but one, all, more. */
static size_t some_k(struct test *t, size_t count)
{
    const size_t few = 1 + test_below(t, 100), some = test_below(t, count + 1);
    return (size_t[]) { 0, 1, few, some, count / 2, count ? count - 1 : 0, count, count + 5 }[test_below(t, 8)];
}

MOST_MASKS_TEST(top, is_right_at_every_seam_on_every_device_and_mask)
{
    const size_t group = ordo_group_of(t->dev, ORDO_TOP_GROUP, ORDO_K4V0);
    size_t       counts[TEST_SEAMS];
    const size_t n = test_seams(group, group * 16, counts);
    for (size_t i = 0; i < n; i++) {
        const struct top_case c = { .type = ORDO_F32,
                                    .shape = (enum test_shape) test_below(t, TEST_N_SHAPES),
                                    .greatest = true,
                                    .value_bytes = 4,
                                    .count = counts[i],
                                    .k = some_k(t, counts[i]) };
        try_top(t, &c, true);
    }
}

/* Each type has its own kernels: on a GPU's code u32, one of 4 or 8 bytes and one of 16 bytes that the seed selects, or
 * all. */
static bool type_is_tried(const struct test *t, ordo_type type)
{
    return strcmp(t->mask, "") == 0 || type == ORDO_U32 || type == 1 + (2 * t->seed) % 5 || type == 6 + t->seed % 2 ||
           test_wants_all("ORDO_TEST_KINDS");
}

MASK_TEST(top, knows_every_type_and_shape, "", "cpu=0")
{
    for (ordo_type type = ORDO_U32; type <= ORDO_BYTES16; type++)
        for (int shape = 0; shape < TEST_N_SHAPES; shape++) {
            if (!type_is_tried(t, type))
                continue;
            const size_t          count = 1 + test_below(t, 40000);
            const struct top_case c = { .type = type,
                                        .shape = (enum test_shape) shape,
                                        .greatest = type % 2,
                                        .value_bytes = (uint32_t[]) { 0, 4, 8, 16 }[(type + shape) % 4],
                                        .count = count,
                                        .k = some_k(t, count) };
            try_top(t, &c, shape % 2);
        }
}

/* Few elements of many, for a CPU's chunks; many ties, and an order in which every element displaces another. On a
 * GPU's code every second, by the seed. */
MASK_TEST(top, finds_few_of_many, "", "cpu=0")
{
    static const enum test_shape shapes[] = { TEST_RANDOM, TEST_DESCENDING, TEST_ASCENDING, TEST_EQUAL, TEST_FEW };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (t->mask[0] && (i + t->seed) % 2 && !test_wants_all("ORDO_TEST_KINDS"))
            continue;
        struct top_case c = { .type = ORDO_U32, .shape = shapes[i], .count = 400000 + test_below(t, 999), .k = 100 };
        try_top(t, &c, true);
        c.k = 1 + test_below(t, 3000);
        try_top(t, &c, false);
        c.k = c.count / 2;
        try_top(t, &c, true);
        try_top(t,
                &(struct top_case) { .type = i % 2 ? ORDO_U128 : ORDO_BYTES16,
                                     .shape = shapes[i],
                                     .count = 100000 + test_below(t, 999),
                                     .greatest = i % 2,
                                     .k = 100 },
                true);
    }
    const size_t many = t->mask[0] ? 1000017 : 3000017; /* a CPU with the profile of an unknown GPU is slow */
    try_top(t, &(struct top_case) { .type = ORDO_F32, .count = many, .k = 100, .value_bytes = 8 }, true);
}

static void sum_between(struct test *t)
{
    const struct given                      g = array_given(t, ORDO_U32, 0, 20000);
    AUTO(array_case_free) struct array_case c = array_case(t, "ordo_reduce", &g);

    test_look_back(t);
    array_case_check_host(&c);
}

/* The largest number that one group sorts, one less and one more, in consecutive calls on the same counters, with a sum
 * between that has its own. */
MASK_TEST(top, brings_little_into_order, "cpu=0", "cpu=0,progress=1,local=16384")
{
    static const size_t          some[] = { 1, 2, 100, TOP_ORDERED - 1, TOP_ORDERED, TOP_ORDERED + 1 };
    static const enum test_shape shapes[] = { TEST_EQUAL, TEST_FEW, TEST_RANDOM, TEST_EXTREMES };
    const size_t                 n = sizeof some / sizeof *some;
    for (size_t i = 0; i < 4 * n; i++) {
        const struct top_case c = { .type = (ordo_type[]) { ORDO_F32, ORDO_U64, ORDO_U128 }[i % 3],
                                    .shape = shapes[i / n],
                                    .greatest = i % 2,
                                    .value_bytes = 4 * (uint32_t) ((i + i / n) % 3),
                                    .count = TOP_ORDERED + 2 + test_below(t, 30000),
                                    .k = some[i % n] };
        try_top(t, &c, i % 3);
        if (i % 4 == 0)
            sum_between(t);
    }
}

MASK_TEST(top, is_right_however_it_is_tuned, "cpu=0")
{
    static const uint32_t groups[] = { 1, 64, 512 }, items[] = { 4096, 4, 64 };
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        test_ok(t, ordo_device_set_tunable(t->dev, "top.group", groups[i]));
        test_ok(t, ordo_device_set_tunable(t->dev, "top.items", items[i]));
        try_top(t, &(struct top_case) { .type = ORDO_I32, .count = 100003, .k = 5000 }, true);
    }
}

/* The header's promise: half of the keys' bytes, 2 bytes per key, two buffers of the output, 256 KiB. */
MASK_TEST(top, takes_no_more_scratch_than_promised, "", "cpu=0")
{
    enum { COUNT = 1000000 };
    AUTO_ARRAY struct test_array keys = test_upload(t, NULL, COUNT, 4, 0), out = test_upload(t, NULL, COUNT, 4, 0);
    struct ordo_memory           memory;
    for (size_t k = 1; k <= COUNT; k *= 100) {
        test_context(t, "scratch of the first %zu", k);
        test_ok(t, ordo_device_trim(t->dev));
        test_ok(t, ordo_top_k(t->dev, ordo_top_k_params(.key = ORDO_U32), test_slice(&keys), ordo_none(), COUNT, k,
                              test_slice(&out), ordo_none(), ordo_none(), NULL));
        test_ok(t, ordo_device_memory(t->dev, &memory));
        if (memory.scratch_peak_bytes > (size_t) COUNT * 4 + 3 * k * 8 + (256 << 10))
            test_fail(t, __FILE__, __LINE__, "scratch of %llu bytes", (unsigned long long) memory.scratch_peak_bytes);
    }
}

DEVICE_TEST(top, refuses_bad_arguments)
{
    const struct ordo_top_k_params  top = { ORDO_U32, 0, false };
    const struct ordo_select_params least = { ORDO_U32, false };
    AUTO_ARRAY struct test_array    in = test_upload(t, NULL, 100, 4, 0), out = test_upload(t, NULL, 100, 4, 0);
    AUTO_ARRAY struct test_array    index = test_upload(t, NULL, 100, 4, 0);
    const struct ordo_slice         i = test_slice(&in), o = test_slice(&out), x = test_slice(&index);
    const struct ordo_slice         none = ordo_none();
    test_context(t, "bad arguments");
    test_status(t, ordo_top_k(t->dev, &top, i, none, 100, SIZE_MAX, o, none, none, NULL), ORDO_OK);
    test_status(t, ordo_top_k(t->dev, &top, i, none, 100, 100, ordo_at(out.mem, 17), none, none, NULL), ORDO_INVALID);
    test_status(t, ordo_top_k(t->dev, &top, i, none, 100, 99, ordo_at(out.mem, 17), none, none, NULL), ORDO_OK);
    test_status(t, ordo_top_k(t->dev, &top, i, none, 100, 0, none, none, none, NULL), ORDO_OK);
    test_status(t, ordo_top_k(t->dev, &top, i, x, 100, 5, o, none, none, NULL), ORDO_INVALID);
    test_status(t, ordo_select(t->dev, &least, i, 0, 0, o, x, NULL), ORDO_INVALID);
    test_status(t, ordo_select(t->dev, &least, i, 100, 99, o, ordo_none(), NULL), ORDO_OK);
}
