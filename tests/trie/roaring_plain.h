/* SPDX-License-Identifier: Apache-2.0 */
/* A plain reader of the Roaring portable format. It decides whether bytes are a set. */
#ifndef ORDO_TESTS_ROARING_PLAIN_H
#define ORDO_TESTS_ROARING_PLAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct reader {
    const uint8_t *at;
    size_t         n, next;
    bool           wrong;
    size_t         most; /* limit of keys, above which bytes count as wrong; 0: none */
    uint64_t      *keys;
    size_t         n_keys, room;
};

static inline uint64_t get(struct reader *r, size_t n)
{
    uint64_t word = 0;

    if (r->n - r->next < n)
        r->wrong = true;
    for (size_t i = 0; !r->wrong && i < n; i++)
        word |= (uint64_t) r->at[r->next++] << 8 * i;
    return word;
}

static inline void take(struct reader *r, uint64_t key)
{
    if (r->n_keys > 0 && key <= r->keys[r->n_keys - 1])
        r->wrong = true;
    if (r->most > 0 && r->n_keys == r->most) {
        r->wrong = true;
        return;
    }
    if (r->n_keys == r->room) {
        r->room = 2 * r->room + 64;
        r->keys = realloc(r->keys, r->room * sizeof *r->keys);
        if (!r->keys)
            abort();
    }
    r->keys[r->n_keys++] = key;
}

static inline void get_container(struct reader *r, uint64_t high, size_t count, bool has_runs)
{
    const size_t before = r->n_keys, units = has_runs ? get(r, 2) : count <= 4096 ? count : 8192;

    for (size_t u = 0; u < units && !r->wrong; u++) {
        const uint64_t unit = get(r, has_runs || count <= 4096 ? 2 : 1), more = has_runs ? get(r, 2) : 0;
        if (!has_runs && count > 4096) {
            for (unsigned bit = 0; bit < 8; bit++)
                if (unit >> bit & 1)
                    take(r, high | (u * 8 + bit));
            continue;
        }
        r->wrong = r->wrong || unit + more > 65535;
        for (uint64_t k = 0; k <= more && !r->wrong; k++)
            take(r, high | (unit + k));
    }
    r->wrong = r->wrong || r->n_keys - before != count;
}

/* Containers must follow each other without a gap. */
static inline void get_bitmap(struct reader *r, uint64_t high)
{
    const size_t   begin = r->next;
    const uint64_t cookie = get(r, 4);
    const bool     with_runs = (cookie & 0xffff) == 12347;
    const size_t   n = with_runs ? (cookie >> 16) + 1 : get(r, 4), flags = r->next;

    r->wrong = r->wrong || (!with_runs && cookie != 12346) || n > 65536;
    for (size_t i = 0; with_runs && i < (n + 7) / 8; i++)
        (void) get(r, 1);
    const size_t descriptors = r->next;
    if (r->wrong || r->n - r->next < 4 * n) {
        r->wrong = true;
        return;
    }
    r->next += 4 * n;
    const size_t offsets = r->next;
    if (!with_runs || n >= 4)
        r->next += 4 * n;
    r->wrong = r->next > r->n;
    for (size_t c = 0; c < n && !r->wrong; c++) {
        struct reader  d = { r->at, r->n, .next = descriptors + 4 * c }, o = { r->at, r->n, .next = offsets + 4 * c };
        const uint64_t key = get(&d, 2);
        const size_t   count = get(&d, 2) + 1;
        if (!with_runs || n >= 4)
            r->wrong = get(&o, 4) != r->next - begin;
        if (!r->wrong)
            get_container(r, high | key << 16, count, with_runs && r->at[flags + c / 8] >> c % 8 & 1);
    }
}

/* Reads the keys of a set of up to `most` keys (0: any). wrong: the bytes are no such set. */
static inline struct reader plain_read(const uint8_t *bytes, size_t n, bool wide, size_t most)
{
    struct reader  r = { bytes, n, .most = most };
    const uint64_t bitmaps = wide ? get(&r, 8) : 1;
    uint64_t       before = 0;

    r.wrong = r.wrong || bitmaps > n;
    for (uint64_t b = 0; b < bitmaps && !r.wrong; b++) {
        const uint64_t high = wide ? get(&r, 4) : 0;
        r.wrong = r.wrong || (b > 0 && high <= before);
        before = high;
        if (!r.wrong)
            get_bitmap(&r, high << 32);
    }
    r.wrong = r.wrong || r.next != n;
    return r;
}

#endif
