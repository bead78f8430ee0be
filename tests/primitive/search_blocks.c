/* SPDX-License-Identifier: Apache-2.0 */
/* The blocked layout of an index (cl/shared/index.h): where separators lie, against lists written in order, and
 * searches with many depths against a binary search on the host. */
#include "search_case.h"

#include "primitive/index.h"

/* ---- the layout ------------------------------------------------------------------------------------------------ */

/* Fails if the lines do not have the numbers that a walk over pages, levels and lines gives. */
static void check_lines(struct test *t, cl_uint blocks, index_form form)
{
    const cl_uint levels = index_levels(blocks, form.line_depth), height = form.page_levels ? form.page_levels : 32;
    cl_uint       number = 0;

    test_context(t, "%u blocks, lines of depth %u, %u levels per page", blocks, form.line_depth, form.page_levels);
    for (cl_uint done = 0; done < levels; done += height) {
        const cl_uint top = levels - done, pages = index_units(blocks, form.line_depth, top);
        for (cl_uint page = 0; page < pages; page++)
            for (cl_uint down = 0; down < height && down < top; down++) {
                const index_place at = index_place_of(blocks, form, top - down);
                const uint64_t    first = (uint64_t) page << (form.line_depth * down);
                const uint64_t    end = (uint64_t) (page + 1) << (form.line_depth * down);
                for (uint64_t u = first; u < end && u < index_units(blocks, form.line_depth, top - down); u++)
                    test_true(t, index_line(at, form, (cl_uint) u) == number++);
            }
    }
    test_true(t, number == index_lines(blocks, form.line_depth));
}

/* Fails if a line's separators do not lie as Kim et al. describe (section 4.2): SIMD blocks level by level, in each
 * block the separators of the levels that the block has. */
static void check_slots(struct test *t, index_form form)
{
    const cl_uint depth = form.line_depth;
    cl_uint       slot = 0;

    test_context(t, "lines of depth %u, SIMD blocks of depth %u", depth, form.simd_depth);
    for (cl_uint above = 0; above < depth; above += form.simd_depth) {
        const cl_uint levels = depth - above < form.simd_depth ? depth - above : form.simd_depth;
        const cl_uint keys = 1u << (depth - above), step = keys >> levels; /* entries per block, per child */
        for (cl_uint block = 0; block < 1u << above && form.simd_depth < depth; block++)
            for (cl_uint i = 1; i < 1u << levels; i++)
                test_true(t, index_slot(form, block * keys + i * step - 1) == slot++);
    }
    test_true(t, form.simd_depth == depth || slot == (1u << depth) - 1);
    test_true(t, index_slot(form, (1u << depth) - 1) == (1u << depth) - 1);
}

DEVICE_TEST(search_blocks, separators_lie_in_blocks_of_blocks)
{
    for (cl_uint line = 1; line <= 5; line++) {
        for (cl_uint simd = 1; simd <= line; simd++)
            check_slots(t, (index_form) { 4, line, simd, 1 });
        for (cl_uint pages = 0; pages <= 4; pages++)
            for (cl_uint level = 0, blocks = 1; blocks < 40000; level++, blocks = 1u << (line * level))
                for (cl_uint around = 0; around < 3; around++)
                    check_lines(t, blocks + around - (blocks > 1), (index_form) { 4, line, line, pages });
    }
}

/* The greatest index: 2^32 - 1 keys. The last line must lie at the end, in each level below the last page's lines. */
DEVICE_TEST(search_blocks, the_largest_index_has_no_gap)
{
    for (cl_uint line = 1; line <= 5; line++)
        for (cl_uint pages = 0; pages <= 63; pages++) {
            const cl_uint     wide = pages / 32; /* Keys of 16 bytes have blocks of half as many keys. */
            const index_form  form = { line - wide < 3 ? 3 : line - wide, line, line, pages % 32 };
            const cl_uint     blocks = index_blocks(UINT32_MAX, 0, form.node_log2);
            const index_place at = index_place_of(blocks, form, 1);
            const cl_uint     last = index_units(blocks, line, 1) - 1;
            const uint64_t    entries = (uint64_t) index_lines(blocks, line) << line;

            test_context(t, "lines of depth %u, %u levels per page, blocks of 2^%u keys", line, pages % 32,
                         form.node_log2);
            test_true(t, index_line(at, form, last) == index_lines(blocks, line) - 1);
            test_true(t, index_position(at, form, last << line) == entries - (1u << line));
            test_true(t, index_separator(UINT32_MAX, 0, form, 1, blocks - 1) == UINT32_MAX - 1);
        }
}

/* ---- searches -------------------------------------------------------------------------------------------------- */

static const struct depths {
    uint32_t simd, line, page; /* 0: by the device */
} depths[] = { { 0, 0, 0 }, { 2, 4, 8 }, { 1, 1, 5 }, { 3, 5, 5 }, { 2, 3, 4 } };

static void set_depths(struct test *t, struct depths d)
{
    test_ok(t, ordo_device_set_tunable(t->dev, "search.layout", 1));
    test_ok(t, ordo_device_set_tunable(t->dev, "search.simd_depth", d.simd));
    test_ok(t, ordo_device_set_tunable(t->dev, "search.line_depth", d.line));
    test_ok(t, ordo_device_set_tunable(t->dev, "search.page_depth", d.page));
}

static ordo_status check_index(struct test *t, const ordo_index *index)
{
    struct ordo_call call;

    test_ok(t, ordo_call_begin(&call, t->dev, NULL));
    return ordo_call_end(&call, ordo_call_check_index(&call, index));
}

/* Around a block, and around the keys below one line of each level. */
static size_t sizes_of(index_form form, size_t sizes[32])
{
    size_t n = 0;

    sizes[n++] = 0;
    sizes[n++] = 1;
    for (size_t keys = (size_t) 1 << form.node_log2; keys < 70000; keys <<= form.line_depth < 3 ? 3 : form.line_depth)
        for (size_t around = 0; around < 3; around++)
            sizes[n++] = keys + around - 1;
    sizes[n++] = 66001;
    return n;
}

static void search_blocks(struct test *t, ordo_type type, struct depths d)
{
    size_t           sizes[32];
    const index_form form = ordo_index_form(t->dev, type);
    const size_t     n = sizes_of(form, sizes);

    for (size_t i = 0; i < n; i++) {
        const enum test_shape    shape = i % 3 ? TEST_RANDOM : (enum test_shape)(i / 3 % TEST_N_SHAPES);
        const struct search_case c = {
            .type = type,
            .shape = shape,
            .count = sizes[i],
            .n_queries = 1025,
            .at = i % 4 * 5,
            .index = true,
            .value_bytes = 4,
        };
        AUTO(free_search_data) struct search_data data = make_search_data(t, &c);

        test_context(t, "%zu keys of %s, depths %u, %u, %u", c.count, test_type_name[type], d.simd, d.line, d.page);
        test_true(t, memcmp(&data.index->form, &form, sizeof form) == 0);
        test_ok(t, check_index(t, data.index));
        test_true(t, check_ranks(t, &c, &data, false));
        test_true(t, check_ranks(t, &c, &data, true));
        test_true(t, check_lookup(t, &c, &data, true));
    }
}

/* The seed decides which types each depth has: two of the six, or one in code for GPUs. Each depth also has a type of
 * 16 bytes. */
MASK_TEST(search_blocks, every_depth_gives_the_ranks_of_a_binary_search, "", "cpu=0")
{
    const bool all = test_wants_all("ORDO_TEST_KINDS");

    if (!all)
        test_unoptimized(t);
    test_ok(t, ordo_device_set_tunable(t->dev, "search.items", 2));
    for (size_t i = 0; i < LENGTH(depths); i++) {
        set_depths(t, depths[i]);
        for (size_t k = 0; k < 6; k++)
            if (all || (t->mask[0] == 0 ? k % 3 : k) == (i + t->seed) % (t->mask[0] == 0 ? 3 : 6))
                search_blocks(t, test_types[k], depths[i]);
        search_blocks(t, test_wide_types[(i + t->seed) % 2], depths[i]);
    }
}

/* ---- the checker, dictionaries ----------------------------------------------------------------------------------- */

/* A separator that is one too large or in another's place must be found, wherever it lies. */
DEVICE_TEST(search_blocks, a_wrong_separator_is_found)
{
    enum { COUNT = 5000 };
    static uint32_t  keys[COUNT];
    cl_command_queue queue = test_queue(t, 0);

    set_depths(t, depths[1]);
    for (uint32_t i = 0; i < COUNT; i++)
        keys[i] = 2 * i;
    AUTO_ARRAY struct test_array         on = test_upload(t, keys, COUNT, sizeof *keys, 0);
    AUTO(ordo_index_destroy) ordo_index *index = NULL;
    test_ok(t, ordo_index_build(t->dev, ORDO_U32, test_slice(&on), COUNT, NULL, &index));
    test_ok(t, ordo_device_finish(t->dev));
    for (int trial = 0; trial < 50; trial++) {
        const size_t at = test_below(t, index->bytes / 4) * 4;
        uint32_t     right = 0, wrong = 0;
        test_context(t, "the separator at byte %zu", at);
        test_true(t, clEnqueueReadBuffer(queue, index->nodes, CL_TRUE, at, 4, &right, 0, NULL, NULL) == CL_SUCCESS);
        wrong = right + 1;
        test_true(t, clEnqueueWriteBuffer(queue, index->nodes, CL_TRUE, at, 4, &wrong, 0, NULL, NULL) == CL_SUCCESS);
        test_status(t, check_index(t, index), ORDO_BROKEN);
        test_true(t, clEnqueueWriteBuffer(queue, index->nodes, CL_TRUE, at, 4, &right, 0, NULL, NULL) == CL_SUCCESS);
        test_ok(t, check_index(t, index));
    }
    clReleaseCommandQueue(queue);
}

/* A tree keeps the layout with which its index was built, and gives the same ranks with both. */
DEVICE_TEST(search_blocks, fast_has_the_same_ranks_with_both_layouts)
{
    enum { COUNT = 50000, QUERIES = 3000 };
    static uint32_t keys[COUNT], values[COUNT], queries[QUERIES], ranks[2][2][QUERIES];

    test_keys(t, ORDO_U32, TEST_RANDOM, COUNT, keys);
    test_random_bytes(t, values, sizeof values);
    test_keys(t, ORDO_U32, TEST_RANDOM, QUERIES, queries);
    memcpy(queries, keys, sizeof queries / 2);
    for (uint32_t layout = 0; layout < 2; layout++) {
        AUTO_DICT ordo_dict *tree = NULL;
        test_ok(t, ordo_device_set_tunable(t->dev, "search.layout", layout));
        test_ok(t, ordo_fast_create(t->dev, ordo_fast_config(.dict = { .key = ORDO_U32, .value_bytes = 4 }), &tree));
        test_ok(t, ordo_dict_build_host(tree, keys, values, COUNT - 100));
        test_ok(t, ordo_dict_rank_host(tree, ORDO_LT, queries, QUERIES, ranks[layout][0]));
        test_ok(t, ordo_device_set_tunable(t->dev, "search.layout", 1 - layout));
        test_ok(t, ordo_dict_upsert_host(tree, keys + COUNT - 100, values, 100));
        test_ok(t, ordo_dict_rank_host(tree, ORDO_LT, queries, QUERIES, ranks[layout][1]));
        test_ok(t, ordo_dict_check(tree, NULL));
    }
    for (int when = 0; when < 2; when++)
        test_same(t, "ranks", ORDO_U32, ranks[1][when], ranks[0][when], QUERIES);
}

/* ---- queries partitioned at the first page ----------------------------------------------------------------------- */

/* Several batches of queries. The last batch is not full. Keys share their highest bits, so that only the index can
 * tell queries apart. */
DEVICE_TEST(search_blocks, buffered_queries_get_their_ranks)
{
    enum { COUNT = 100003, QUERIES = 1300001 };
    AUTO_FREE uint32_t *keys = test_alloc(COUNT * sizeof *keys), *queries = test_alloc(QUERIES * sizeof *queries);
    AUTO_FREE uint32_t *want = test_alloc(QUERIES * sizeof *want);

    for (uint32_t i = 0; i < COUNT; i++)
        keys[i] = 0x12000000u + 3 * i;
    for (uint32_t i = 0; i < QUERIES; i++) {
        queries[i] = 0x12000000u + (uint32_t) test_below(t, (uint64_t) 3 * COUNT);
        want[i] = (queries[i] - 0x12000000u + 2) / 3;
    }
    AUTO_ARRAY struct test_array keys_on = test_upload(t, keys, COUNT, sizeof *keys, 3);
    AUTO_ARRAY struct test_array queries_on = test_upload(t, queries, QUERIES, sizeof *queries, 1);
    for (uint32_t way = 0; way < 4; way++) {
        AUTO(ordo_index_destroy) ordo_index *index = NULL;
        AUTO_ARRAY struct test_array         ranks = test_upload(t, NULL, QUERIES, sizeof(uint32_t), 1);
        test_context(t, "layout %u, %s index", way & 1, way & 2 ? "with an" : "without");
        test_ok(t, ordo_device_set_tunable(t->dev, "search.layout", way & 1));
        if (way & 2)
            test_ok(t, ordo_index_build(t->dev, ORDO_U32, test_slice(&keys_on), COUNT, NULL, &index));
        test_ok(t,
                ordo_search(t->dev, ordo_search_params(.key = ORDO_U32, .index = index, .scheme = ORDO_SCHEME_BUFFERED),
                            test_slice(&keys_on), COUNT, test_slice(&queries_on), QUERIES, test_slice(&ranks), NULL));
        test_expect(t, ORDO_U32, &ranks, want, QUERIES);
    }
}
