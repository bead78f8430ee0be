/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of 16 bytes: their order as a pair of words, and input that looks like addresses and UUIDs. */
#ifndef ORDO_TESTS_WIDE_H
#define ORDO_TESTS_WIDE_H

#include "support.h"

extern const ordo_type test_wide_types[2];

/* The ordered form of a key of any type; `high` is 0 for keys of 4 and 8 bytes. */
struct test_form {
    uint64_t high, low;
};
struct test_form test_form_of(ordo_type type, const void *key);
int              test_form_compare(struct test_form a, struct test_form b);
/* `bits` bits of the form from bit number `first` up, or of its complement. */
struct test_form test_form_bits(struct test_form form, bool complement, uint32_t first, uint32_t bits);
/* Writes the key of a wide type that has this form. */
void test_form_put(ordo_type type, struct test_form form, void *key);

enum wide_shape {
    WIDE_IPV6,     /* addresses of some networks: few prefixes of 32 bits, clustered subnets, small or random hosts */
    WIDE_UUID4,    /* random but for six fixed bits */
    WIDE_UUID7,    /* an ascending time of 48 bits, then random bits */
    WIDE_LOW_WORD, /* a constant high word */
    WIDE_PACKED,   /* a sensor's number of 32 bits, then a time of 64 bits, then zeros */
    WIDE_CLOSE,    /* 40 distinct keys whose words differ in few bits, across the border of the words */
    WIDE_N_SHAPES
};
extern const char *const wide_shape_name[WIDE_N_SHAPES];
void test_wide_keys(struct test *t, ordo_type type, enum wide_shape shape, size_t count, void *keys);

#endif
