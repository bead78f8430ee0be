/* SPDX-License-Identifier: Apache-2.0 */
#include "roaring.h"

#include <stdbool.h>
#include <string.h>

#define CONTAINERS_MAX 65536
#define ARRAY_MAX      4096
#define BITMAP_BYTES   8192
#define OFFSETS_FROM   4
#define PLAIN          12346
#define WITH_RUNS      12347

struct container {
    const uint32_t *keys;
    size_t          count, runs, bytes;
    bool            in_runs;
};

/* The container of the first key. */
static struct container container_of(const uint32_t *keys, size_t left)
{
    struct container c = { .keys = keys };
    for (; c.count < left && keys[c.count] >> 16 == keys[0] >> 16; c.count++)
        c.runs += c.count == 0 || keys[c.count] != keys[c.count - 1] + 1;
    const bool   array = c.count <= ARRAY_MAX;
    const size_t plain = array ? 2 * c.count : BITMAP_BYTES, runs = 2 + 4 * c.runs;
    c.in_runs = runs < plain + array;
    c.bytes = c.in_runs ? runs : plain;
    return c;
}

static uint8_t *put(uint8_t *to, size_t word, int bytes)
{
    for (int b = 0; b < bytes; b++)
        *to++ = (uint8_t) (word >> 8 * b);
    return to;
}

static void put_container(uint8_t *to, const struct container *c)
{
    const bool bitmap = !c->in_runs && c->count > ARRAY_MAX;
    if (bitmap)
        memset(to, 0, BITMAP_BYTES);
    if (c->in_runs)
        to = put(to, c->runs, 2);
    for (size_t i = 0, end = 0; i < c->count; i = end) {
        const uint32_t low = c->keys[i] & 0xffff;
        for (end = i + 1; c->in_runs && end < c->count && c->keys[end] == c->keys[end - 1] + 1;)
            end++;
        if (bitmap)
            to[low / 8] |= (uint8_t) (1 << low % 8);
        else
            to = put(to, low, 2);
        if (c->in_runs)
            to = put(to, end - i - 1, 2);
    }
}

size_t roaring_bytes_max(size_t count)
{
    const size_t containers = count < CONTAINERS_MAX ? count : CONTAINERS_MAX;
    return 2 * count + 9 * containers + 16;
}

size_t roaring_write(const uint32_t *keys, size_t count, uint8_t *to)
{
    struct container c;
    size_t           n = 0, i = 0;
    bool             runs = false;
    for (size_t k = 0; k < count; k += c.count, n++) {
        c = container_of(keys + k, count - k);
        runs |= c.in_runs;
    }
    uint8_t *flags = put(to, runs ? WITH_RUNS | (n - 1) << 16 : PLAIN, 4);
    uint8_t *descriptor = runs ? flags + (n + 7) / 8 : put(flags, n, 4), *offset = descriptor + 4 * n;
    uint8_t *data = offset + (!runs || n >= OFFSETS_FROM ? 4 * n : 0);
    if (runs)
        memset(flags, 0, (n + 7) / 8);
    for (size_t k = 0; k < count; k += c.count, i++) {
        c = container_of(keys + k, count - k);
        if (c.in_runs)
            flags[i / 8] |= (uint8_t) (1 << i % 8);
        descriptor = put(put(descriptor, keys[k] >> 16, 2), c.count - 1, 2);
        if (!runs || n >= OFFSETS_FROM)
            offset = put(offset, (size_t) (data - to), 4);
        put_container(data, &c);
        data += c.bytes;
    }
    return (size_t) (data - to);
}
