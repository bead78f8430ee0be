/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions against a plain host loop: the cases of reduce.c and scan_tunings.c. */
#ifndef ORDO_TESTS_REDUCE_CASE_H
#define ORDO_TESTS_REDUCE_CASE_H

#include "scan_common.h"

/* ---- the reference ------------------------------------------------------------------------------------------- */

/* Writes *out in the type's size. */
static inline void reduce_on_host(ordo_type type, ordo_op op, const void *keys, size_t count, void *out)
{
    const size_t bytes = ordo_type_bytes(type);
    uint64_t     sum = identity(type, op);
    for (size_t i = 0; i < count; i++)
        sum = combine(type, op, sum, read_bits(keys, bytes, i));
    write_bits(out, bytes, 0, sum);
}

/* ---- one reduction ------------------------------------------------------------------------------------------- */

static inline void try_reduce(struct test *t, ordo_type type, ordo_op op, enum test_shape shape, size_t count)
{
    const size_t                    bytes = ordo_type_bytes(type);
    const struct ordo_reduce_params params = { type, op };
    AUTO_FREE void                 *keys = test_alloc(count * bytes);
    uint64_t                        want = 0, got = 0;
    test_keys(t, type, shape, count, keys);
    reduce_on_host(type, op, keys, count, &want);
    AUTO_ARRAY struct test_array in = test_upload(t, keys, count, bytes, test_below(t, 6));
    AUTO_ARRAY struct test_array out = test_upload(t, NULL, 1, bytes, test_below(t, 6));

    test_context(t, "%s of %zu %s %s keys, in at %zu, out at %zu", op_name[op], count, test_shape_name[shape],
                 test_type_name[type], in.at, out.at);
    test_ok(t, ordo_reduce(t->dev, &params, test_slice(&in), count, test_slice(&out), NULL));
    test_expect(t, type, &out, &want, 1);
    test_expect(t, type, &in, keys, count);
    test_ok(t, ordo_reduce_host(t->dev, &params, keys, count, &got));
    test_same(t, "out of host arrays", type, &got, &want, 1);
}

static inline void try_seams(struct test *t, ordo_type type, ordo_op op)
{
    const struct ordo_tiles tiles =
        ordo_tiles_of(t->dev, ORDO_SCAN_GROUP, ORDO_SCAN_ITEMS, ordo_type_bytes(type), 1, 0);
    size_t       counts[TEST_SEAMS];
    const size_t n = test_seams(tiles.group, tiles.group * tiles.items, counts);
    for (size_t i = 0; i < n; i++)
        try_reduce(t, type, op, (enum test_shape) test_below(t, TEST_N_SHAPES), counts[i]);
}

#endif
