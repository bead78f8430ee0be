/* SPDX-License-Identifier: Apache-2.0 */
#include "keys.h"

#include "baseline.h"
#include "bench/common/threads.h"

#include <math.h>
#include <stdlib.h>

/* A counter through the finalizer of splitmix64 (Steele, Lea, Flood 2014). Elements do not depend on each other, so
 * inputs do not depend on the number of threads. */
uint64_t draw(uint64_t seed, uint64_t i)
{
    uint64_t x = seed * 0xd1342543de82ef95u + (i + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

void numbers_shuffle(uint64_t seed, size_t count, uint32_t *to)
{
    for (size_t i = 0; i < count; i++) {
        const size_t k = (size_t) (draw(seed, i) % (i + 1));
        to[i] = (uint32_t) i;
        to[i] = to[k];
        to[k] = (uint32_t) i;
    }
}

uint64_t key_order(ordo_type type, uint64_t stored)
{
    const uint64_t sign = type_bytes(type) == 4 ? 0x80000000u : 0x8000000000000000u;
    const uint64_t all = sign | (sign - 1);
    if (type == ORDO_U32 || type == ORDO_U64 || type_is_wide(type))
        return stored;
    if (type_is_float(type) && (stored & sign))
        return ~stored & all;
    return stored ^ sign;
}

uint64_t key_stored(ordo_type type, uint64_t order)
{
    const uint64_t sign = type_bytes(type) == 4 ? 0x80000000u : 0x8000000000000000u;
    const uint64_t all = sign | (sign - 1);
    if (type == ORDO_U32 || type == ORDO_U64 || type_is_wide(type))
        return order;
    if (type_is_float(type) && !(order & sign))
        return ~order & all;
    return order ^ sign;
}

static uint64_t reversed(uint64_t word)
{
    uint64_t out = 0;
    for (int i = 0; i < 8; i++, word >>= 8)
        out = out << 8 | (word & 0xff);
    return out;
}

struct key_form key_form_at(ordo_type type, const void *keys, size_t i)
{
    const size_t bytes = type_bytes(type);
    if (bytes < 16)
        return (struct key_form) { 0, key_order(type, element(keys, bytes, i)) };
    const uint64_t first = element(keys, 8, 2 * i), second = element(keys, 8, 2 * i + 1);
    return type == ORDO_U128 ? (struct key_form) { second, first }
                             : (struct key_form) { reversed(first), reversed(second) };
}

int key_form_compare(struct key_form a, struct key_form b)
{
    if (a.high != b.high)
        return a.high < b.high ? -1 : 1;
    return a.low < b.low ? -1 : a.low > b.low;
}

void key_form_put(ordo_type type, void *keys, size_t i, struct key_form form)
{
    const bool swaps = type == ORDO_BYTES16;
    set_element(keys, 8, 2 * i, swaps ? reversed(form.high) : form.low);
    set_element(keys, 8, 2 * i + 1, swaps ? reversed(form.low) : form.high);
}

#define SECOND_WORD_BITS 16

uint64_t key_number_at(ordo_type type, const void *keys, size_t i)
{
    const struct key_form form = key_form_at(type, keys, i);
    return form.high >> SECOND_WORD_BITS << SECOND_WORD_BITS | form.low >> (64 - SECOND_WORD_BITS);
}

void key_number_put(ordo_type type, void *keys, size_t i, uint64_t number)
{
    const uint64_t first = number >> SECOND_WORD_BITS;
    key_form_put(type, keys, i,
                 (struct key_form) { first << SECOND_WORD_BITS | draw(5000, first) >> (64 - SECOND_WORD_BITS),
                                     number << (64 - SECOND_WORD_BITS) | draw(5000, number) >> SECOND_WORD_BITS });
}

uint64_t value_of(uint32_t value_bytes, size_t i)
{
    return value_bytes == 8 ? (uint32_t) i | draw(77, i) << 32 : (uint32_t) i;
}

struct fill {
    void     *to;
    ordo_type type;
    enum dist dist;
    uint64_t  seed;
    size_t    count;
};

#define FEW_KEYS       16
#define ZIPF_KEYS_LOG2 20
#define CLUSTER_KEYS   256
#define CLUSTER_SPAN   4096
#define RUN_KEYS       1000
#define FIRST_MS       UINT64_C(1700000000000) /* a time in milliseconds since 1970 */
#define SENSORS        1000                    /* each sends a sample about once a second */
#define UUIDS_PER_MS   16

/* Bases have two bits. The genome is made up in words of 32 bases. As in a real one, parts repeat: every second block
 * of GENOME_BLOCK words is one of GENOME_REPEATS. */
#define GENOME_BLOCK   128
#define GENOME_REPEATS 64

static uint64_t genome_word(uint64_t seed, size_t w)
{
    const size_t block = w / GENOME_BLOCK;
    return block % 2 ? draw(seed + 6000 + draw(seed + 3003, block) % GENOME_REPEATS, w % GENOME_BLOCK)
                     : draw(seed + 3004, w);
}

/* 32 bases from base i on. */
static uint64_t bases_from(uint64_t seed, size_t i)
{
    const size_t   at = 2 * (i % 32);
    const uint64_t first = genome_word(seed, i / 32);
    return at ? first << at | genome_word(seed, i / 32 + 1) >> (64 - at) : first;
}

/* The key that equal keys have. */
static uint64_t constant_key(void)
{
    return draw(1000, 0);
}

/* Takes the bits of `mask` from a, and the others from b. */
static uint64_t mixed(uint64_t mask, uint64_t a, uint64_t b)
{
    return (a & mask) | (b & ~mask);
}

/* The upper half of a key of 4 or 8 bytes, where key_at has it. */
static uint64_t upper_half(ordo_type type)
{
    return type_bytes(type) == 4 ? UINT64_MAX << 48 : UINT64_MAX << 32;
}

/* The ordered form of element i as 64 bits. Keys of 4 bytes take the upper half. */
static uint64_t key_at(const struct fill *fill, size_t i)
{
    const uint64_t step = fill->count ? UINT64_MAX / fill->count : 0;
    const uint64_t unit = type_bytes(fill->type) == 4 ? (uint64_t) 1 << 32 : 1, r = draw(fill->seed, i);
    switch (fill->dist) {
    case FEW:
        return draw(1000, r % FEW_KEYS);
    case SORTED:
        return i * step;
    case REVERSE:
        return (fill->count - 1 - i) * step;
    case ZIPF: /* the logarithm of the rank is uniform: a number above 0, at most 1, as an exponent */
        return draw(2000, (uint64_t) exp2(ZIPF_KEYS_LOG2 * (((double) (r >> 11) + 1) * 0x1p-53)));
    case SEQUENTIAL:
        return i * unit;
    case CLUSTERED: /* a random cluster, and a random place in it */
        return draw(3000, (r >> 32) % (fill->count / CLUSTER_KEYS + 1)) + r % CLUSTER_SPAN * unit;
    case DENSE:
        return (i + i / 7) * unit;
    case RUNS: /* begins in the first half of its span */
        return (i / RUN_KEYS * 2 * RUN_KEYS + draw(3002, i / RUN_KEYS) % RUN_KEYS + i % RUN_KEYS) * unit;
    case EQUAL:
        return constant_key();
    case ALTERNATING:
        return i % 2 ? constant_key() : r;
    case LOW_CONSTANT:
        return mixed(upper_half(fill->type), r, constant_key());
    case HIGH_CONSTANT:
        return mixed(upper_half(fill->type), constant_key(), r);
    case SENSOR_TIMES:
        return (r % SENSORS) << 48 | (FIRST_MS + i);
    case UUID4: /* the first word: four bits are the version (RFC 9562) */
        return mixed(0xf000, 0x4000, r);
    case UUID7:
        return (FIRST_MS + i / UUIDS_PER_MS) << 16 | 0x7000 | (r & 0xfff);
    case KMERS:
        return bases_from(fill->seed, i) >> 2;
    default:
        return r;
    }
}

#define NETWORKS 300

/* An address as in IPv6: few networks of 32 bits, random subnets of 24 bits. Half of the hosts have small numbers. */
static struct key_form address(const struct fill *fill, size_t i)
{
    const uint64_t r = draw(fill->seed, i), subnet = (r >> 32) % (fill->count / CLUSTER_KEYS + 1);
    const uint64_t network = (uint64_t) 0x2000 << 16 | draw(3001, subnet % NETWORKS) >> 36;
    return (struct key_form) { network << 32 | draw(3000, subnet) >> 40 << 8,
                               r & 1 ? draw(fill->seed + 5000, i) : r % CLUSTER_SPAN };
}

static struct key_form wide_key_at(const struct fill *fill, size_t i)
{
    const uint64_t high = fill->dist == CLUSTERED ? 0 : key_at(fill, i);
    switch (fill->dist) {
    case CLUSTERED:
        return address(fill, i);
    case LOW_CONSTANT:
        return (struct key_form) { draw(fill->seed, i), constant_key() };
    case HIGH_CONSTANT:
        return (struct key_form) { constant_key(), draw(fill->seed, i) };
    case UUID4:
    case UUID7: /* two bits are the variant */
        return (struct key_form) { high, (uint64_t) 1 << 63 | draw(fill->seed + 5000, i) >> 2 };
    case SEQUENTIAL:
    case DENSE:
    case RUNS:
        return (struct key_form) { 0, high };
    case KMERS:
        return (struct key_form) { high, bases_from(fill->seed, i + 31) };
    case UNIFORM:
        return (struct key_form) { high, draw(fill->seed + 5000, i) };
    default:
        return (struct key_form) { high, draw(5000, high) };
    }
}

static void fill_at(void *arg, size_t i)
{
    const struct fill *fill = arg;
    const size_t       bytes = type_bytes(fill->type);
    if (type_is_wide(fill->type)) {
        key_form_put(fill->type, fill->to, i, wide_key_at(fill, i));
        return;
    }
    const uint64_t order = key_at(fill, i);
    set_element(fill->to, bytes, i, key_stored(fill->type, bytes == 4 ? order >> 32 : order));
}

struct forms {
    const void *from;
    void       *to;
    ordo_type   type;
    uint64_t (*form)(ordo_type type, uint64_t key);
};

static void forms_of(void *forms_, size_t i)
{
    const struct forms *forms = forms_;
    const size_t        bytes = type_bytes(forms->type);
    set_element(forms->to, bytes, i, forms->form(forms->type, element(forms->from, bytes, i)));
}

static void swap_of(void *forms_, size_t i)
{
    const struct forms *forms = forms_;
    key_form_put(ORDO_U128, forms->to, i, key_form_at(ORDO_BYTES16, forms->from, i));
}

/* Converts keys to unsigned integers of the same order, or back. */
static void convert_all(struct forms *forms, size_t count)
{
    if (!type_is_wide(forms->type))
        for_each(count, forms_of, forms);
    else if (forms->type == ORDO_BYTES16)
        for_each(count, swap_of, forms);
}

bool elements_sort(ordo_type type, void *keys, void *values, uint32_t value_bytes, size_t count)
{
    const size_t       bytes = type_bytes(type);
    const struct pairs spare = { malloc(count * bytes + 1), malloc(count * value_bytes + 1) };
    struct forms       forms = { keys, keys, type, key_order };
    const bool         made = spare.keys && spare.values;
    if (made) {
        convert_all(&forms, count);
        pairs_sort((struct pairs) { keys, values }, spare, bytes, value_bytes, count);
        forms.form = key_stored;
        convert_all(&forms, count);
    }
    free(spare.keys);
    free(spare.values);
    return made;
}

void keys_order(ordo_type type, const void *keys, size_t count, void *orders)
{
    for_each(count, forms_of, &(struct forms) { keys, orders, type, key_order });
}

struct values {
    void    *to;
    uint32_t bytes;
    size_t   first;
};

static void values_of(void *values_, size_t i)
{
    const struct values *values = values_;
    set_element(values->to, values->bytes, i, value_of(values->bytes, values->first + i));
}

void values_make(uint32_t value_bytes, size_t first, size_t count, void *values)
{
    if (value_bytes)
        for_each(count, values_of, &(struct values) { values, value_bytes, first });
}

void keys_draw(ordo_type type, enum dist dist, uint64_t seed, size_t count, void *keys)
{
    struct fill fill = { keys, type, dist, seed, count };
    for_each(count, fill_at, &fill);
}

bool keys_draw_sorted(ordo_type type, enum dist dist, uint64_t seed, size_t count, void *keys)
{
    keys_draw(type, dist == REVERSE ? SORTED : dist, seed, count, keys);
    return dist_is_in_order(dist) || elements_sort(type, keys, NULL, 0, count);
}
