/* SPDX-License-Identifier: Apache-2.0 */
#include "baseline.h"

#include "element.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Each loop is one body for both widths of keys, inlined where the width is a constant, so that the compiler sees loads of
 * a fixed size. */
#define FOR_BOTH static inline __attribute__((always_inline))

static inline void move(const void *from, size_t i, void *to, size_t j, size_t bytes)
{
    if (bytes)
        set_element(to, bytes, j, element(from, bytes, i));
}

/* ---- radix sort ---------------------------------------------------------------------------------------------- */

#define DIGIT_BITS 8
#define DIGITS     (1 << DIGIT_BITS)

FOR_BOTH void radix_pass(size_t key_bytes, struct pairs from, struct pairs to, size_t value_bytes, size_t count,
                         int shift)
{
    size_t start[DIGITS] = { 0 };
    for (size_t i = 0; i < count; i++)
        start[(element(from.keys, key_bytes, i) >> shift) & (DIGITS - 1)]++;
    size_t before = 0;
    for (int d = 0; d < DIGITS; d++) {
        const size_t here = start[d];
        start[d] = before;
        before += here;
    }
    for (size_t i = 0; i < count; i++) {
        const uint64_t key = element(from.keys, key_bytes, i);
        const size_t   at = start[(key >> shift) & (DIGITS - 1)]++;
        set_element(to.keys, key_bytes, at, key);
        move(from.values, i, to.values, at, value_bytes);
    }
}

void host_radix_sort(struct pairs in, struct pairs spare, size_t key_bytes, size_t value_bytes, size_t count)
{
    /* An even number of passes, so the result ends where it began. */
    struct pairs from = in, to = spare;
    for (int shift = 0; shift < (int) key_bytes * 8; shift += DIGIT_BITS) {
        if (key_bytes == 4)
            radix_pass(4, from, to, value_bytes, count, shift);
        else
            radix_pass(8, from, to, value_bytes, count, shift);
        const struct pairs next = from;
        from = to;
        to = next;
    }
}

/* ---- qsort --------------------------------------------------------------------------------------------------- */

/* A record is the key, then the value. */
static int compare_records(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}
static int compare_records_4(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;
    return x < y ? -1 : x > y;
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

double host_qsort(struct pairs in, size_t key_bytes, size_t value_bytes, size_t count)
{
    const size_t   record = key_bytes + value_bytes;
    unsigned char *records = malloc(count * record + 1);
    if (!records)
        return -1;
    for (size_t i = 0; i < count; i++) {
        memcpy(records + i * record, (const char *) in.keys + i * key_bytes, key_bytes);
        if (value_bytes)
            memcpy(records + i * record + key_bytes, (const char *) in.values + i * value_bytes, value_bytes);
    }

    const double before = seconds_now();
    qsort(records, count, record, key_bytes == 4 ? compare_records_4 : compare_records);
    const double took = seconds_now() - before;

    for (size_t i = 0; i < count; i++) {
        memcpy((char *) in.keys + i * key_bytes, records + i * record, key_bytes);
        if (value_bytes)
            memcpy((char *) in.values + i * value_bytes, records + i * record + key_bytes, value_bytes);
    }
    free(records);
    return took;
}

/* ---- merge --------------------------------------------------------------------------------------------------- */

FOR_BOTH void merge(size_t key_bytes, struct pairs in, size_t value_bytes, size_t a_count, size_t count,
                    struct pairs out)
{
    size_t a = 0, b = a_count;
    for (size_t i = 0; i < count; i++) {
        const bool from_a =
            b == count || (a < a_count && element(in.keys, key_bytes, a) <= element(in.keys, key_bytes, b));
        const size_t from = from_a ? a++ : b++;
        move(in.keys, from, out.keys, i, key_bytes);
        move(in.values, from, out.values, i, value_bytes);
    }
}

void host_merge(struct pairs in, size_t key_bytes, size_t value_bytes, size_t a_count, size_t count, struct pairs out)
{
    if (key_bytes == 4)
        merge(4, in, value_bytes, a_count, count, out);
    else
        merge(8, in, value_bytes, a_count, count, out);
}

/* ---- search -------------------------------------------------------------------------------------------------- */

FOR_BOTH size_t lower_bound(size_t key_bytes, const void *keys, size_t count, uint64_t query)
{
    size_t from = 0;
    while (count > 0) {
        const size_t half = count / 2;
        if (element(keys, key_bytes, from + half) < query) {
            from += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return from;
}

size_t host_lower_bound(const void *keys, size_t key_bytes, size_t count, uint64_t query)
{
    return key_bytes == 4 ? lower_bound(4, keys, count, query) : lower_bound(8, keys, count, query);
}

/* ---- scan, compact ------------------------------------------------------------------------------------------- */

FOR_BOTH uint64_t sums(size_t key_bytes, const void *in, size_t count, void *out)
{
    const uint64_t mask = key_bytes == 4 ? UINT32_MAX : UINT64_MAX;
    uint64_t       all = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t here = element(in, key_bytes, i);
        if (out)
            set_element(out, key_bytes, i, all);
        all = (all + here) & mask;
    }
    return all;
}

FOR_BOTH uint64_t maxima(size_t key_bytes, const void *in, size_t count, void *out)
{
    uint64_t all = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t here = element(in, key_bytes, i);
        all = here > all ? here : all;
        if (out)
            set_element(out, key_bytes, i, all);
    }
    return all;
}

uint64_t host_scan(const void *in, size_t key_bytes, size_t count, bool maximum, void *out)
{
    if (maximum)
        return key_bytes == 4 ? maxima(4, in, count, out) : maxima(8, in, count, out);
    return key_bytes == 4 ? sums(4, in, count, out) : sums(8, in, count, out);
}

FOR_BOTH size_t compact(size_t key_bytes, struct pairs in, const uint8_t *flags, size_t value_bytes, size_t count,
                        struct pairs out)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (!flags[i])
            continue;
        move(in.keys, i, out.keys, kept, key_bytes);
        move(in.values, i, out.values, kept, value_bytes);
        kept++;
    }
    return kept;
}

size_t host_compact(struct pairs in, const uint8_t *flags, size_t key_bytes, size_t value_bytes, size_t count,
                    struct pairs out)
{
    return key_bytes == 4 ? compact(4, in, flags, value_bytes, count, out)
                          : compact(8, in, flags, value_bytes, count, out);
}
