/* SPDX-License-Identifier: Apache-2.0 */
/* Scans and segmented scans against a plain host loop: the cases of scan.c and scan_tunings.c. */
#ifndef ORDO_TESTS_SCAN_CASE_H
#define ORDO_TESTS_SCAN_CASE_H

#include "scan_common.h"

#include "primitive/scan.h"

/* ---- the reference ------------------------------------------------------------------------------------------- */

/* One scan of a test, without the device. */
struct subject {
    ordo_type type;
    ordo_op   op;
    bool      inclusive, segmented, in_place;
    size_t    count;
    size_t    in_at, heads_at, out_at; /* also of out if in_place */
};

static inline void scan_on_host(const struct subject *s, const void *in, const uint8_t *heads, void *out)
{
    const size_t bytes = ordo_type_bytes(s->type);
    uint64_t     before = identity(s->type, s->op);
    for (size_t i = 0; i < s->count; i++) {
        if (s->segmented && heads[i])
            before = identity(s->type, s->op);
        const uint64_t upto = combine(s->type, s->op, before, read_bits(in, bytes, i));
        write_bits(out, bytes, i, s->inclusive ? upto : before);
        before = upto;
    }
}

/* ---- one scan ------------------------------------------------------------------------------------------------ */

/* Segments of all lengths: long ones, a head at every element, none, heads far apart. */
static inline void random_heads(struct test *t, uint8_t *heads, size_t count)
{
    const uint64_t often = (uint64_t[]) { 1, 3, 100, 5000, UINT32_MAX }[test_below(t, 5)];
    for (size_t i = 0; i < count; i++)
        heads[i] = test_below(t, often) == 0 ? (uint8_t) (1 + test_below(t, 255)) : 0;
}

/* The public call, or with faults the internal one. */
static inline ordo_status call_scan(const struct test *t, const struct subject *s, struct ordo_slice in,
                                    struct ordo_slice heads, struct ordo_slice out, uint32_t faults)
{
    const struct ordo_scan_params params = { s->type, s->op, s->inclusive };
    struct ordo_call              call;
    if (faults) {
        const struct ordo_scan scan = { s->type, s->op, s->inclusive, in, heads, out, s->count, faults };
        test_ok(t, ordo_call_begin(&call, t->dev, NULL));
        return ordo_call_end(&call, ordo_call_scan(&call, &scan));
    }
    if (s->segmented)
        return ordo_segmented_scan(t->dev, &params, in, heads, out, s->count, NULL);
    return ordo_scan(t->dev, &params, in, out, s->count, NULL);
}

static inline void try_scan(struct test *t, const struct subject *s, enum test_shape shape, uint32_t faults)
{
    const size_t       bytes = ordo_type_bytes(s->type);
    AUTO_FREE void    *keys = test_alloc(s->count * bytes);
    AUTO_FREE void    *want = test_alloc(s->count * bytes);
    AUTO_FREE uint8_t *heads = test_alloc(s->count);
    struct test_array  in, marks = { 0 }, out;
    test_keys(t, s->type, shape, s->count, keys);
    random_heads(t, heads, s->count);
    scan_on_host(s, keys, heads, want);
    in = test_upload(t, keys, s->count, bytes, s->in_at);
    out = s->in_place ? in : test_upload(t, NULL, s->count, bytes, s->out_at);
    if (s->segmented)
        marks = test_upload(t, heads, s->count, 1, s->heads_at);

    test_context(t, "%s %s %s%s%s of %zu %s keys, in at %zu, heads at %zu, out at %zu, faults %u",
                 test_type_name[s->type], s->inclusive ? "inclusive" : "exclusive", op_name[s->op],
                 s->segmented ? ", segmented" : "", s->in_place ? ", in place" : "", s->count, test_shape_name[shape],
                 s->in_at, s->heads_at, s->out_at, faults);
    test_ok(t, call_scan(t, s, test_slice(&in), test_slice(&marks), test_slice(&out), faults));
    test_expect(t, s->type, &out, want, s->count);
    if (!s->in_place)
        test_expect(t, s->type, &in, keys, s->count); /* the input must be unchanged */

    test_free(&in);
    if (!s->in_place)
        test_free(&out);
    if (s->segmented)
        test_free(&marks);
}

/* A scan of this type and op with the rest at random. */
static inline struct subject random_subject(struct test *t, ordo_type type, ordo_op op, size_t count)
{
    return (struct subject) {
        .type = type,
        .op = op,
        .inclusive = test_below(t, 2),
        .in_place = test_below(t, 3) == 0,
        .count = count,
        .in_at = test_below(t, 6),
        .heads_at = test_below(t, 6),
        .out_at = test_below(t, 6),
    };
}

static inline size_t seams_of(const struct test *t, ordo_type type, size_t counts[TEST_SEAMS])
{
    const struct ordo_tiles tiles =
        ordo_tiles_of(t->dev, ORDO_SCAN_GROUP, ORDO_SCAN_ITEMS, ordo_type_bytes(type), 1, 0);
    return test_seams(tiles.group, tiles.group * tiles.items, counts);
}

#endif
