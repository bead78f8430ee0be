/* SPDX-License-Identifier: Apache-2.0 */
#include "wide.h"

const ordo_type   test_wide_types[2] = { ORDO_U128, ORDO_BYTES16 };
const char *const wide_shape_name[WIDE_N_SHAPES] = {
    "ipv6", "uuid4", "uuid7", "a constant high word", "packed", "close"
};

static uint64_t big_endian(const uint8_t *bytes)
{
    uint64_t word = 0;
    for (int i = 0; i < 8; i++)
        word = word << 8 | bytes[i];
    return word;
}

static uint64_t little_endian(const uint8_t *bytes)
{
    uint64_t word = 0;
    for (int i = 8; i-- > 0;)
        word = word << 8 | bytes[i];
    return word;
}

struct test_form test_form_of(ordo_type type, const void *key)
{
    const uint8_t *bytes = key;
    if (type == ORDO_U128)
        return (struct test_form) { little_endian(bytes + 8), little_endian(bytes) };
    if (type == ORDO_BYTES16)
        return (struct test_form) { big_endian(bytes), big_endian(bytes + 8) };
    return (struct test_form) { 0, ordo_key_bits(type, key) };
}

void test_form_put(ordo_type type, struct test_form form, void *key)
{
    uint8_t *bytes = key;
    for (int i = 0; i < 16; i++) {
        const uint64_t word = i < 8 ? form.low : form.high;
        bytes[type == ORDO_U128 ? i : 15 - i] = (uint8_t) (word >> 8 * (i % 8));
    }
}

int test_form_compare(struct test_form a, struct test_form b)
{
    if (a.high != b.high)
        return a.high < b.high ? -1 : 1;
    return a.low < b.low ? -1 : a.low > b.low;
}

static uint64_t low_mask(uint32_t bits)
{
    return bits >= 64 ? UINT64_MAX : ((uint64_t) 1 << bits) - 1;
}

struct test_form test_form_bits(struct test_form form, bool complement, uint32_t first, uint32_t bits)
{
    struct test_form f = complement ? (struct test_form) { ~form.high, ~form.low } : form;
    if (first >= 64)
        f = (struct test_form) { 0, f.high >> (first - 64) };
    else if (first > 0)
        f = (struct test_form) { f.high >> first, f.low >> first | f.high << (64 - first) };
    return (struct test_form) { f.high & low_mask(bits > 64 ? bits - 64 : 0), f.low & low_mask(bits) };
}

static struct test_form address(struct test *t)
{
    static const uint32_t networks[] = { 0x20010db8, 0x20010470, 0x2a0104f8, 0x2a0104f9, 0x26000000, 0xfd123456 };
    const uint64_t        subnet = test_below(t, 4) == 0 ? test_random(t) & UINT32_MAX : test_below(t, 300) << 8;
    const uint64_t        host = test_below(t, 3) == 0 ? test_random(t) : 1 + test_below(t, 20);
    return (struct test_form) { (uint64_t) networks[test_below(t, LENGTH(networks))] << 32 | subnet, host };
}

static struct test_form form_of_shape(struct test *t, enum wide_shape shape, size_t i, uint64_t fixed)
{
    const uint64_t a = test_random(t), b = test_random(t), variant = (uint64_t) 1 << 63 | b >> 2;
    switch (shape) {
    case WIDE_IPV6:
        return address(t);
    case WIDE_UUID4:
        return (struct test_form) { (a & ~(uint64_t) 0xf000) | 0x4000, variant };
    case WIDE_UUID7:
        return (struct test_form) { (0x018f00000000 + i / 3) << 16 | 0x7000 | (a & 0xfff), variant };
    case WIDE_LOW_WORD:
        return (struct test_form) { fixed, b };
    case WIDE_PACKED:
        return (struct test_form) { (a % 50) << 32 | (0x65000000 + b % 1000), b << 32 };
    default:
        return (struct test_form) { (fixed & ~(uint64_t) 7) | a % 5, b % 8 << 61 };
    }
}

void test_wide_keys(struct test *t, ordo_type type, enum wide_shape shape, size_t count, void *keys)
{
    const uint64_t fixed = test_random(t);
    for (size_t i = 0; i < count; i++)
        test_form_put(type, form_of_shape(t, shape, i, fixed), (char *) keys + 16 * i);
}
