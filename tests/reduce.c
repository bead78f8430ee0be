/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions against a plain host loop. */
#include "support.h"

#include "primitive/tiles.h"

#include <stdlib.h>

/* ---- the reference ------------------------------------------------------------------------------------------- */

static const char *const op_name[] = { "sum", "min", "max" };

/* The bits of the key that is greatest, or least, in total order. */
static const uint64_t greatest[] = { 0xffffffff, UINT64_MAX, 0x7fffffff, INT64_MAX, 0x7fffffff, INT64_MAX };
static const uint64_t least[] = { 0, 0, 0x80000000, 0x8000000000000000, 0xffffffff, UINT64_MAX };

/* Into *out, of the type's size. */
static void reduce_on_host(ordo_type type, ordo_op op, const void *keys, size_t count, void *out)
{
    const size_t bytes = ordo_type_bytes(type);
    uint64_t     bits = op == ORDO_SUM ? 0 : op == ORDO_MIN ? greatest[type] : least[type];
    uint32_t     narrow = (uint32_t) bits;

    memcpy(out, bytes == 4 ? (void *) &narrow : (void *) &bits, bytes);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *key = (const uint8_t *) keys + i * bytes;
        const uint64_t mine = ordo_key_bits(type, key), best = ordo_key_bits(type, out);

        if (op == ORDO_SUM && bytes == 4)
            *(uint32_t *) out += *(const uint32_t *) key;
        else if (op == ORDO_SUM)
            *(uint64_t *) out += *(const uint64_t *) key;
        else if (op == ORDO_MIN ? mine < best : mine > best)
            memcpy(out, key, bytes);
    }
}

static bool goes_with(ordo_type type, ordo_op op)
{
    return op != ORDO_SUM || (type != ORDO_F32 && type != ORDO_F64);
}

/* ---- one reduction ------------------------------------------------------------------------------------------- */

static void try_reduce(struct test *t, ordo_type type, ordo_op op, enum test_shape shape, size_t count)
{
    const size_t                    bytes = ordo_type_bytes(type);
    const struct ordo_reduce_params params = { type, op };
    void                           *keys = test_alloc(count * bytes);
    uint64_t                        want = 0, got = 0;

    test_keys(t, type, shape, count, keys);
    reduce_on_host(type, op, keys, count, &want);
    struct test_array in = test_upload(t, keys, count, bytes, test_below(t, 6));
    struct test_array out = test_upload(t, NULL, 1, bytes, test_below(t, 6));

    test_context(t, "%s of %zu %s %s keys, in at %zu, out at %zu", op_name[op], count, test_shape_name[shape],
                 test_type_name[type], in.at, out.at);
    test_ok(t, ordo_reduce(t->dev, &params, test_slice(&in), count, test_slice(&out), NULL));
    test_expect(t, type, &out, &want, 1);
    test_expect(t, type, &in, keys, count);
    test_ok(t, ordo_reduce_host(t->dev, &params, keys, count, &got));
    test_same(t, "out of host arrays", type, &got, &want, 1);

    test_free(&in);
    test_free(&out);
    free(keys);
}

static void try_seams(struct test *t, ordo_type type, ordo_op op)
{
    const struct ordo_tiles tiles = ordo_tiles_of(t->dev, ordo_type_bytes(type), 1, 0);
    size_t                  counts[TEST_SEAMS];
    const size_t            n = test_seams(tiles.group, tiles.group * tiles.items, counts);

    for (size_t i = 0; i < n; i++)
        try_reduce(t, type, op, (enum test_shape) test_below(t, TEST_N_SHAPES), counts[i]);
}

/* ---- tests --------------------------------------------------------------------------------------------------- */

static void seams(struct test *t)
{
    try_seams(t, ORDO_I32, ORDO_SUM);
    try_seams(t, ORDO_F64, ORDO_MAX);
    try_reduce(t, ORDO_I32, ORDO_SUM, TEST_RANDOM, 3000017);
}

Test(reduce, is_right_at_every_seam_on_every_device_and_mask)
{
    test_each_device_and_mask(seams);
}

static void types_and_shapes(struct test *t)
{
    for (size_t i = 0; i < 6; i++)
        for (int op = ORDO_SUM; op <= ORDO_MAX; op++)
            for (int shape = 0; shape < TEST_N_SHAPES && goes_with(test_types[i], (ordo_op) op); shape++)
                try_reduce(t, test_types[i], (ordo_op) op, (enum test_shape) shape, test_below(t, 50000));
}

Test(reduce, knows_every_type_operation_and_shape)
{
    test_each_device(types_and_shapes);
}

static void every_tuning(struct test *t)
{
    static const uint32_t groups[] = { 1, 64, 128, 256, 512 }, items[] = { 4, 8, 12, 16, 24, 1024, 4096 };

    for (size_t g = 0; g < 5; g++) {
        for (size_t i = 0; i < 7; i++) {
            const bool wide = (g + i) % 2;
            test_ok(t, ordo_device_set_tunable(t->dev, "scan.group", groups[g]));
            test_ok(t, ordo_device_set_tunable(t->dev, "scan.items", items[i]));
            try_reduce(t, wide ? ORDO_I64 : ORDO_U32, wide ? ORDO_MIN : ORDO_SUM, TEST_RANDOM,
                       200000 + test_below(t, 9));
        }
    }
}

Test(reduce, is_right_with_every_tuning)
{
    test_each_device(every_tuning);
}

static void bad_arguments(struct test *t)
{
    struct test_array               in = test_upload(t, NULL, 100, 4, 0), out = test_upload(t, NULL, 1, 4, 0);
    const struct ordo_slice         i = test_slice(&in), o = test_slice(&out);
    const struct ordo_reduce_params sum = { ORDO_U32, ORDO_SUM }, floats = { ORDO_F32, ORDO_SUM };
    const struct ordo_reduce_params no_type = { (ordo_type) -1, ORDO_SUM }, no_op = { ORDO_U32, (ordo_op) 7 };

    test_context(t, "bad arguments");
    test_status(t, ordo_reduce(NULL, &sum, i, 100, o, NULL), ORDO_INVALID);
    test_status(t, ordo_reduce(t->dev, NULL, i, 100, o, NULL), ORDO_INVALID);
    test_status(t, ordo_reduce(t->dev, &no_type, i, 100, o, NULL), ORDO_INVALID);
    test_status(t, ordo_reduce(t->dev, &no_op, i, 100, o, NULL), ORDO_INVALID);
    test_status(t, ordo_reduce(t->dev, &floats, i, 100, o, NULL), ORDO_UNSUPPORTED);
    test_status(t, ordo_reduce(t->dev, &sum, i, 117, o, NULL), ORDO_INVALID);
    test_status(t, ordo_reduce(t->dev, &sum, i, 100, ordo_none(), NULL), ORDO_INVALID);
    test_status(t, ordo_reduce(t->dev, &sum, i, 100, ordo_at(out.mem, 17), NULL), ORDO_INVALID);
    test_status(t, ordo_reduce(t->dev, &sum, i, 100, ordo_at(in.mem, 99), NULL), ORDO_INVALID);
    test_status(t, ordo_reduce(t->dev, &sum, i, 99, ordo_at(in.mem, 99), NULL), ORDO_OK);
    test_status(t, ordo_reduce(t->dev, &sum, i, ORDO_MAX_COUNT + 1, o, NULL), ORDO_TOO_LARGE);
    test_status(t, ordo_reduce_host(t->dev, &sum, NULL, 3, &(uint32_t) { 0 }), ORDO_INVALID);
    test_status(t, ordo_reduce_host(t->dev, &sum, NULL, 0, NULL), ORDO_INVALID);
    test_free(&in);
    test_free(&out);
}

Test(reduce, refuses_bad_arguments)
{
    test_each_device(bad_arguments);
}
