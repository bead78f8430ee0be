/* SPDX-License-Identifier: Apache-2.0 */
/* Searches and lookups in sorted arrays against a binary search on the host. */
#include "search_case.h"

/* The calls on one case: the upper bound and the lookup, which finds the lower; with `both`, the lower bound too. */
static bool check_case(struct test *t, const struct search_case *c, bool both)
{
    AUTO(free_search_data) struct search_data d = make_search_data(t, c);
    const bool ran = (!both || (check_ranks(t, c, &d, false) && check_ranges(t, c, &d))) &&
                     check_ranks(t, c, &d, true) && check_lookup(t, c, &d, true) &&
                     (c->value_bytes == 0 || check_lookup(t, c, &d, false));

    return ran;
}

/* ---- sizes, types, shapes ------------------------------------------------------------------------------------ */

/* Around a node, its square and its cube, for the nodes that are tuned; what fits in local memory and what does not. */
static const size_t counts[] = { 0,  1,  2,   3,   7,   8,   9,   15,   16,   17,   31,   32,   33,
                                 63, 64, 255, 256, 257, 511, 513, 1023, 1025, 4095, 4096, 4097, 100003 };
static const size_t query_counts[] = { 1, 2, 1023, 1024, 1025, 3000, 0 };
static const size_t offsets[] = { 0, 1, 3, 13, 16, 31 };
/* All ways to say and have the queries' order, with and without an index; then the schemes, and compressed indices. */
enum { WAYS = 8 + 2 + 2 };

static void check_way(struct test *t, struct search_case c, int way)
{
    if (way < 8) {
        c.sorted = way & 1;
        c.hint = way >> 1 & 1;
        c.index = way >> 2 & 1;
        test_true(t, check_case(t, &c, c.type == ORDO_U32));
        return;
    }
    c.scheme = way % 4 == 0 ? ORDO_SCHEME_BUFFERED : way == 11 ? ORDO_SCHEME_PLAIN : ORDO_SCHEME_SORTED;
    c.index = c.compressed = way >= 10;
    if (c.compressed && strcmp(t->mask, "cpu=0") == 0 && test_compiler_ends_processes(t))
        return;
    test_true(t, check_case(t, &c, way >= 10));
}

/* Each type and each way are kernels of their own. On the device as it is u32 has every way at every size, each
 * other type a quarter of the ways; with masks each size has half of the ways, of another type than u32 half of a
 * third, which the seed decides. The suite slow has all (ORDO_TEST_KINDS=all). */
static bool way_is_tried(const struct test *t, ordo_type type, int way, size_t size)
{
    if (test_wants_all("ORDO_TEST_KINDS") || (type == ORDO_U32 && t->mask[0] == 0))
        return true;
    if (type == ORDO_U32)
        return ((size_t) way + size) % 2 == 0;
    return t->mask[0] ? ((size_t) way + size) % 2 == 0 && (uint64_t) way % 3 == t->seed % 3 : way % 4 == (int) type % 4;
}

static void check_type(struct test *t, ordo_type type, uint32_t value_bytes)
{
    for (size_t i = 0; i < LENGTH(counts); i++)
        for (int way = 0; way < WAYS; way++) {
            const struct search_case c = {
                .type = type,
                .shape = (enum test_shape)((i + (size_t) type) % TEST_N_SHAPES),
                .count = counts[i],
                .n_queries = query_counts[i % LENGTH(query_counts)],
                .at = offsets[(i + (size_t) type) % LENGTH(offsets)],
                .value_bytes = value_bytes,
            };
            if (way_is_tried(t, type, way, i))
                check_way(t, c, way);
        }
}

/* The masks that give a search other kernels than the device's own; progress and 64-bit atomics are nothing to it. */
static bool mask_matters(const struct test *t)
{
    return !strstr(t->mask, "progress") && !strstr(t->mask, "int64");
}

static bool is_own_or_gpu(const struct test *t)
{
    return strcmp(t->mask, "") == 0 || strcmp(t->mask, "cpu=0") == 0;
}

/* All types on the device as it is, one of each width on a GPU's code, else one. */
static bool type_is_tried(const struct test *t, ordo_type type)
{
    if (strcmp(t->mask, "") == 0 || type == ORDO_U32)
        return true;
    return strcmp(t->mask, "cpu=0") == 0 && type == ORDO_F64;
}

EVERY_MASK_TEST(search, ranks_and_values_are_those_of_a_binary_search)
{
    static const uint32_t value_bytes[6] = { 4, 0, 8, 4, 0, 8 };

    /* Fewer than by default: a CPU's compiler takes long for many. check_shapes has the default. */
    test_ok(t, ordo_device_set_tunable(t->dev, "search.items", 2));
    for (int i = 0; i < 6; i++)
        if (mask_matters(t) && type_is_tried(t, test_types[i]))
            check_type(t, test_types[i], value_bytes[i]);
}

/* Every shape at sizes where duplicates cross blocks, nodes and tiles; as many queries of a work-item as by default.
 * For GPU code, and for ways that the seed leaves out, uses the kernels of check_types, because others take long to
 * compile. ORDO_TEST_KINDS=all takes all. */
EVERY_MASK_TEST(search, every_shape_of_keys_is_searched)
{
    const bool all = test_wants_all("ORDO_TEST_KINDS"), gpu = t->mask[0] != 0;

    if (!is_own_or_gpu(t))
        return;
    if (gpu && !all)
        test_ok(t, ordo_device_set_tunable(t->dev, "search.items", 2));
    for (int shape = 0; shape < TEST_N_SHAPES; shape++) {
        const struct search_case c = { .type = gpu && !all ? ORDO_U32 : ORDO_F32,
                                       .shape = (enum test_shape) shape,
                                       .count = 20011,
                                       .n_queries = 7013,
                                       .at = 5,
                                       .value_bytes = 4 };
        for (int way = 0; way < WAYS; way++)
            if (all || ((uint64_t) way + t->seed) % (gpu ? 3 : 2) == 0)
                check_way(t, c, way);
    }
}

/* Both bounds of keys of every type, of u32 by every way, of the others by half of them. */
DEVICE_TEST(search, both_bounds_are_those_of_two_searches)
{
    for (int i = 0; i < 6; i++)
        for (int way = 0; way < 4; way++) {
            if (test_types[i] != ORDO_U32 && ((uint64_t) (i + way) + t->seed) % 2 && !test_wants_all("ORDO_TEST_KINDS"))
                continue;
            const struct search_case                  c = { .type = test_types[i],
                                                            .shape = (enum test_shape)((i + way) % TEST_N_SHAPES),
                                                            .count = 3000 + test_below(t, 5000),
                                                            .n_queries = 2000,
                                                            .at = test_below(t, 20),
                                                            .sorted = way & 1,
                                                            .hint = way & 1,
                                                            .index = way >> 1 };
            AUTO(free_search_data) struct search_data d = make_search_data(t, &c);
            test_true(t, check_ranges(t, &c, &d));
        }
}

/* ---- keys that are not sorted -------------------------------------------------------------------------------- */

EVERY_MASK_TEST(search, unsorted_keys_give_ranks_within_the_array)
{
    enum { COUNT = 3001, QUERIES = 2000 };
    struct search_case c = { .type = ORDO_U32, .count = COUNT, .n_queries = QUERIES, .at = 1 };
    static uint32_t    keys[COUNT], ranks[QUERIES], uppers[QUERIES];

    if (!is_own_or_gpu(t))
        return;
    for (int way = 0; way < 4; way++) {
        c.hint = c.sorted = way & 1;
        c.index = false;
        AUTO(free_search_data) struct search_data d = make_search_data(t, &c);
        AUTO_ARRAY struct test_array              ranks_on = test_upload(t, NULL, QUERIES, sizeof(uint32_t), 1);

        test_keys(t, ORDO_U32, TEST_RANDOM, COUNT, keys);
        test_free(&d.keys_on);
        d.keys_on = test_upload(t, keys, COUNT, sizeof *keys, c.at);
        if (way & 2)
            test_ok(t, ordo_index_build(t->dev, ORDO_U32, test_slice(&d.keys_on), COUNT, NULL, &d.index));
        test_context(t, "ordo_search of unsorted keys, way %d", way);
        test_ok(t, ordo_search(t->dev, ordo_search_params(.key = ORDO_U32, .sorted_queries = c.hint, .index = d.index),
                               test_slice(&d.keys_on), COUNT, test_slice(&d.queries_on), QUERIES, test_slice(&ranks_on),
                               NULL));
        test_download(t, &ranks_on, ranks);
        for (size_t i = 0; i < QUERIES; i++)
            if (ranks[i] > COUNT)
                test_fail(t, __FILE__, __LINE__, "ranks[%zu] is %u of %d", i, ranks[i], COUNT);
        AUTO_ARRAY struct test_array upper_on = test_upload(t, NULL, QUERIES, sizeof(uint32_t), 1);
        test_context(t, "ordo_equal_range of unsorted keys, way %d", way);
        test_ok(t, ordo_equal_range(
                       t->dev, ordo_equal_range_params(.key = ORDO_U32, .sorted_queries = c.hint, .index = d.index),
                       test_slice(&d.keys_on), COUNT, test_slice(&d.queries_on), QUERIES, test_slice(&ranks_on),
                       test_slice(&upper_on), NULL));
        test_download(t, &ranks_on, ranks);
        test_download(t, &upper_on, uppers);
        for (size_t i = 0; i < QUERIES; i++)
            if (ranks[i] > uppers[i] || uppers[i] > COUNT)
                test_fail(t, __FILE__, __LINE__, "bounds[%zu] are %u and %u of %d", i, ranks[i], uppers[i], COUNT);
    }
}

/* ---- memory of the caller's ---------------------------------------------------------------------------------- */

/* A buffer over host memory that is aligned to the element only. */
EVERY_MASK_TEST(search, keys_may_lie_in_memory_that_is_aligned_to_elements_only)
{
    enum { COUNT = 5003 };
    struct search_case  c = { .type = ORDO_U32, .count = COUNT, .n_queries = 1000, .value_bytes = 4 };
    AUTO_FREE uint32_t *memory = test_alloc((COUNT + 16) * sizeof *memory);
    cl_int              code = CL_SUCCESS;

    for (size_t off = 0; off < 4 && is_own_or_gpu(t); off++) {
        AUTO(free_search_data) struct search_data d = make_search_data(t, &c);

        memcpy(memory + off, d.keys, COUNT * sizeof *memory);
        test_free(&d.keys_on);
        d.keys_on.mem = clCreateBuffer(ordo_device_context(t->dev), CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR,
                                       COUNT * sizeof *memory, memory + off, &code);
        if (code != CL_SUCCESS) /* a driver may want more alignment */
            test_fail(t, __FILE__, __LINE__, "clCreateBuffer: %s", ordo_cl_error_string(code));
        test_ok(t, ordo_index_build(t->dev, ORDO_U32, test_slice(&d.keys_on), COUNT, NULL, &d.index));
        test_true(t, check_ranks(t, &c, &d, false));
        test_true(t, check_lookup(t, &c, &d, true));
    }
}

/* ---- host arrays --------------------------------------------------------------------------------------------- */

DEVICE_TEST(search, host_arrays_are_searched)
{
    const struct search_case c = {
        .type = ORDO_I32, .shape = TEST_FEW, .count = 1001, .n_queries = 500, .value_bytes = 4
    };
    static const char *const                  calls[] = { "ordo_search", "ordo_equal_range", "ordo_lookup" };
    AUTO(free_search_data) struct search_data d = make_search_data(t, &c);
    static uint32_t                           values[500];

    for (size_t i = 0; i < LENGTH(calls); i++) {
        AUTO(array_case_free) struct array_case a = search_arrays(t, calls[i], &c, &d, false);
        if (i == 2)
            array_case_want(&a, 4, true);
        array_case_check_host(&a);
    }
    test_ok(t, ordo_lookup_host(t->dev, ordo_lookup_params(.key = c.type, .value_bytes = 4), NULL, NULL, 0, d.queries,
                                c.n_queries, values, NULL));
    for (size_t i = 0; i < c.n_queries; i++)
        test_true(t, values[i] == 0);
    test_ok(t, ordo_search_host(t->dev, ordo_search_params(.key = c.type), d.keys, c.count, NULL, 0, NULL));
}

/* ---- the index ----------------------------------------------------------------------------------------------- */

DEVICE_TEST(search, an_index_takes_less_than_a_twelfth_of_the_keys)
{
    for (size_t count = 1; count < 3000000; count = count * 3 + 1) {
        for (size_t i = 0; i < 6; i++) {
            const size_t                 bytes = ordo_type_bytes(test_types[i]);
            ordo_index                  *index = NULL;
            AUTO_FREE uint8_t           *zeros = calloc(count, bytes);
            AUTO_ARRAY struct test_array keys = test_upload(t, zeros, count, bytes, i);

            test_context(t, "%zu keys of %s from %zu on", count, test_type_name[i], i);
            test_ok(t, ordo_index_build(t->dev, test_types[i], test_slice(&keys), count, NULL, &index));
            test_true(t, ordo_index_bytes(index) <= count * bytes / 100 * 8 + 1024);
            test_ok(t, ordo_device_finish(t->dev));
            ordo_index_destroy(&index);
            test_true(t, index == NULL);
        }
    }
}

/* Dense keys: one, two or four bytes are enough for each. Some keys are further apart than the rest. */
DEVICE_TEST(search, a_compressed_index_takes_what_its_keys_need)
{
    enum { COUNT = 300000 };
    static const struct {
        uint32_t gap, jump; /* one in 1000 keys is so much further from the last */
        unsigned percent;   /* of the keys' bytes, at most */
    } of[] = { { 1, 0, 33 }, { 256, 0, 58 }, { 10000, 0, 109 }, { 10, 100000, 42 }, { 0, 0, 33 } };
    AUTO_FREE uint32_t *keys = test_alloc(COUNT * sizeof *keys), *ranks = test_alloc(COUNT * sizeof *ranks);

    for (size_t i = 0; i < LENGTH(of); i++) {
        uint32_t key = 0;
        for (size_t k = 0; k < COUNT; k++) {
            key += of[i].gap + (k % 1000 == 999 ? of[i].jump : 0);
            keys[k] = key;
            ranks[k] = of[i].gap ? (uint32_t) k : 0;
        }
        AUTO_ARRAY struct test_array on = test_upload(t, keys, COUNT, 4, 3), out = test_upload(t, NULL, COUNT, 4, 0);
        AUTO(ordo_index_destroy) ordo_index *index = NULL;
        test_context(t, "keys %u apart, some %u", of[i].gap, of[i].jump);
        test_ok(t, ordo_index_build_compressed(t->dev, ORDO_U32, test_slice(&on), COUNT, NULL, &index));
        test_true(t, ordo_index_bytes(index) <= COUNT * sizeof *keys / 100 * of[i].percent + 1024);
        test_ok(t, ordo_search(t->dev, ordo_search_params(.key = ORDO_U32, .index = index), ordo_none(), COUNT,
                               test_slice(&on), COUNT, test_slice(&out), NULL));
        test_expect(t, ORDO_U32, &out, ranks, COUNT);
    }
}

DEVICE_TEST(search, wrong_arguments_are_refused)
{
    const struct search_case                  c = { .type = ORDO_U32, .count = 100, .n_queries = 10, .index = true };
    AUTO(free_search_data) struct search_data d = make_search_data(t, &c);
    const struct ordo_slice                   keys = test_slice(&d.keys_on), queries = test_slice(&d.queries_on);
    AUTO_ARRAY struct test_array              ranks_on = test_upload(t, NULL, 100, sizeof(uint32_t), 0);
    AUTO_ARRAY struct test_array              other_keys = test_upload(t, d.keys, 100, sizeof(uint32_t), 0);
    const struct ordo_slice                   ranks = test_slice(&ranks_on);
    AUTO_DEVICE ordo_device                  *other = test_open_again(t);

    /* An index fits its own device object, type, array and count only. */
#define WITH_INDEX(type) ordo_search_params(.key = (type), .index = d.index)
    test_ok(t, ordo_search(t->dev, WITH_INDEX(ORDO_U32), keys, 100, queries, 10, ranks, NULL));
    test_status(t, ordo_search(other, WITH_INDEX(ORDO_U32), keys, 100, queries, 10, ranks, NULL), ORDO_INVALID);
    test_status(t, ordo_search(t->dev, WITH_INDEX(ORDO_F32), keys, 100, queries, 10, ranks, NULL), ORDO_INVALID);
    test_status(t, ordo_search(t->dev, WITH_INDEX(ORDO_U32), keys, 99, queries, 10, ranks, NULL), ORDO_INVALID);
    test_status(t, ordo_search(t->dev, WITH_INDEX(ORDO_U32), ordo_at(keys.mem, 1), 100, queries, 10, ranks, NULL),
                ORDO_INVALID);
    test_status(t, ordo_search(t->dev, WITH_INDEX(ORDO_U32), test_slice(&other_keys), 100, queries, 10, ranks, NULL),
                ORDO_INVALID);
    test_status(t, ordo_search_host(t->dev, WITH_INDEX(ORDO_U32), d.keys, 100, d.queries, 10, (uint32_t[10]) { 0 }),
                ORDO_INVALID);
    test_status(t,
                ordo_lookup(t->dev, ordo_lookup_params(.key = ORDO_I32, .index = d.index), keys, ordo_none(), 100,
                            queries, 10, ordo_none(), ordo_none(), NULL),
                ORDO_INVALID);

    /* Nothing above was enqueued, and the index still serves. */
    test_true(t, check_ranks(t, &c, &d, false));
}

/* ---- tunables, one at a time; search_tunings.c has all combinations ------------------------------------------ */

/* The three kinds of search, and the tunables that each looks at. */
static const struct {
    bool        sorted, index;
    const char *tunables;
} kinds[] = {
    { .index = true, .tunables = "node_keys lanes group items local_keys" },
    { .tunables = "group items local_keys" },
    { .sorted = true, .tunables = "group tile local_keys" },
};

static void check_value(struct test *t, const struct ordo_tunable_info *info, bool wide)
{
    for (size_t k = 0; k < LENGTH(kinds); k++) {
        if (!strstr(kinds[k].tunables, info->name + strlen("search.k4.")))
            continue;
        const struct search_case                  c = { .type = wide ? ORDO_U64 : ORDO_U32,
                                                        .shape = TEST_RANDOM,
                                                        .count = 20000,
                                                        .n_queries = 3001,
                                                        .at = 1,
                                                        .sorted = kinds[k].sorted,
                                                        .hint = kinds[k].sorted,
                                                        .index = kinds[k].index,
                                                        .value_bytes = 4 };
        AUTO(free_search_data) struct search_data d = make_search_data(t, &c);

        (void) check_lookup(t, &c, &d, true); /* or the device refuses: only the defaults must run everywhere */
    }
}

/* On a GPU's code one of the two, by the seed; search_tunings has all values. */
EVERY_MASK_TEST(search, the_least_and_the_greatest_tunables_give_the_same_answers)
{
    struct ordo_tunable_info info;
    size_t                   tried = 0;
    const bool               both = t->mask[0] == 0 || test_wants_all("ORDO_TEST_KINDS");

    if (!is_own_or_gpu(t))
        return;
    test_unoptimized(t);
    test_ok(t, ordo_device_set_tunable(t->dev, "search.items", 2)); /* see check_types */
    for (size_t i = 0; ordo_device_tunable(t->dev, i, &info) == ORDO_OK; i++) {
        const bool wide = strncmp(info.name, "search.k8.", 10) == 0;

        if (!wide && strncmp(info.name, "search.k4.", 10) != 0)
            continue;
        for (int last = 0; last < 2 && (t->mask[0] == 0 || !wide); last++) {
            if (!both && (i + t->seed) % 2 != (size_t) last)
                continue;
            test_ok(t, ordo_device_set_tunable(t->dev, info.name, info.choice[last ? info.n_choices - 1 : 0]));
            check_value(t, &info, wide);
            tried++;
        }
        test_ok(t, ordo_device_set_tunable(t->dev, info.name, info.value));
    }
    test_true(t, tried > 0);
}
