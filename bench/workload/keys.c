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
    if (type == ORDO_U32 || type == ORDO_U64)
        return stored;
    if (type_is_float(type) && (stored & sign))
        return ~stored & all;
    return stored ^ sign;
}

uint64_t key_stored(ordo_type type, uint64_t order)
{
    const uint64_t sign = type_bytes(type) == 4 ? 0x80000000u : 0x8000000000000000u;
    const uint64_t all = sign | (sign - 1);
    if (type == ORDO_U32 || type == ORDO_U64)
        return order;
    if (type_is_float(type) && !(order & sign))
        return ~order & all;
    return order ^ sign;
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
    default:
        return r;
    }
}

static void fill_at(void *arg, size_t i)
{
    const struct fill *fill = arg;
    const size_t       bytes = type_bytes(fill->type);
    const uint64_t     order = key_at(fill, i);
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

bool elements_sort(ordo_type type, void *keys, void *values, uint32_t value_bytes, size_t count)
{
    const size_t       bytes = type_bytes(type);
    const struct pairs spare = { malloc(count * bytes + 1), malloc(count * value_bytes + 1) };
    struct forms       forms = { keys, keys, type, key_order };
    const bool         made = spare.keys && spare.values;
    if (made) {
        for_each(count, forms_of, &forms);
        pairs_sort((struct pairs) { keys, values }, spare, bytes, value_bytes, count);
        forms.form = key_stored;
        for_each(count, forms_of, &forms);
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
    return dist == SORTED || dist == REVERSE || dist == SEQUENTIAL || dist == DENSE ||
           elements_sort(type, keys, NULL, 0, count);
}
