/* SPDX-License-Identifier: Apache-2.0 */
/* Scans and segmented scans: the cases of scan.c and scan_tunings.c. */
#ifndef ORDO_TESTS_SCAN_CASE_H
#define ORDO_TESTS_SCAN_CASE_H

#include "array_case.h"

#include "primitive/scan.h"

/* One scan of a test. */
struct subject {
    ordo_type type;
    ordo_op   op;
    bool      inclusive, segmented, in_place;
    size_t    count;
};

/* Segments of all lengths: long ones, a head at every element, none, heads far apart. */
static inline void random_heads(struct test *t, uint8_t *heads, size_t count)
{
    const uint64_t often = (uint64_t[]) { 1, 3, 100, 5000, UINT32_MAX }[test_below(t, 5)];
    for (size_t i = 0; i < count; i++)
        heads[i] = test_below(t, often) == 0 ? (uint8_t) (1 + test_below(t, 255)) : 0;
}

/* The internal call, which has faults. */
static inline ordo_status call_faulty_scan(const struct array_case *c, const struct ordo_slice a[])
{
    const bool             segmented = strstr(c->call->name, "segmented") != NULL;
    const struct ordo_scan scan = {
        c->g.type,        c->g.array_op, c->g.inclusive, a[0], segmented ? a[1] : ordo_none(),
        a[1 + segmented], c->g.count,    c->faults
    };
    struct ordo_call call;

    test_ok(c->t, ordo_call_begin(&call, c->t->dev, NULL));
    return ordo_call_end(&call, ordo_call_scan(&call, &scan));
}

static inline struct array_case scan_case(struct test *t, const struct subject *s, enum test_shape shape)
{
    struct given g = array_given(t, s->type, 0, s->count);

    g.array_op = s->op;
    g.inclusive = s->inclusive;
    struct array_case c = array_case(t, s->segmented ? "ordo_segmented_scan" : "ordo_scan", &g);
    test_keys(t, s->type, shape, s->count, c.host[0]);
    if (s->segmented)
        random_heads(t, c.host[1], s->count);
    if (s->in_place)
        c.as[1 + s->segmented] = 0;
    return c;
}

static inline void try_scan(struct test *t, const struct subject *s, enum test_shape shape, uint32_t faults)
{
    AUTO(array_case_free) struct array_case c = scan_case(t, s, shape);

    c.run = faults ? call_faulty_scan : NULL;
    c.faults = faults;
    array_case_check(&c);
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
    };
}

static inline size_t seams_of(const struct test *t, ordo_type type, size_t counts[TEST_SEAMS])
{
    return array_seams(t, ORDO_SCAN_GROUP, ORDO_SCAN_ITEMS, ordo_type_bytes(type), counts);
}

#endif
