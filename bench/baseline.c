/* SPDX-License-Identifier: Apache-2.0 */
#include "baseline.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* One body per key width, so that the compiler sees fixed-size loads in the inner loops. */
#define FOR_KEY_BYTES(key_bytes, call4, call8)                                                                         \
    do {                                                                                                               \
        if ((key_bytes) == 4)                                                                                          \
            call4;                                                                                                     \
        else                                                                                                           \
            call8;                                                                                                     \
    } while (0)

static void move_value(const void *from, size_t i, void *to, size_t j, size_t value_bytes)
{
    if (value_bytes == 4)
        ((uint32_t *) to)[j] = ((const uint32_t *) from)[i];
    else if (value_bytes == 8)
        ((uint64_t *) to)[j] = ((const uint64_t *) from)[i];
}

/* ---- radix sort ---------------------------------------------------------------------------------------------- */

#define DIGIT_BITS 8
#define DIGITS     (1 << DIGIT_BITS)

#define DEFINE_RADIX_PASS(name, key_t)                                                                                 \
    static void name(struct pairs from, struct pairs to, size_t value_bytes, size_t count, int shift)                  \
    {                                                                                                                  \
        const key_t *keys = from.keys;                                                                                 \
        key_t       *out = to.keys;                                                                                    \
        size_t       start[DIGITS] = { 0 };                                                                            \
        for (size_t i = 0; i < count; i++)                                                                             \
            start[(keys[i] >> shift) & (DIGITS - 1)]++;                                                                \
        size_t before = 0;                                                                                             \
        for (int d = 0; d < DIGITS; d++) {                                                                             \
            const size_t here = start[d];                                                                              \
            start[d] = before;                                                                                         \
            before += here;                                                                                            \
        }                                                                                                              \
        for (size_t i = 0; i < count; i++) {                                                                           \
            const size_t at = start[(keys[i] >> shift) & (DIGITS - 1)]++;                                              \
            out[at] = keys[i];                                                                                         \
            move_value(from.values, i, to.values, at, value_bytes);                                                    \
        }                                                                                                              \
    }
DEFINE_RADIX_PASS(radix_pass_4, uint32_t)
DEFINE_RADIX_PASS(radix_pass_8, uint64_t)

void host_radix_sort(struct pairs in, struct pairs spare, size_t key_bytes, size_t value_bytes, size_t count)
{
    /* An even number of passes, so the result ends where it began. */
    struct pairs from = in, to = spare;
    for (int shift = 0; shift < (int) key_bytes * 8; shift += DIGIT_BITS) {
        FOR_KEY_BYTES(key_bytes, radix_pass_4(from, to, value_bytes, count, shift),
                      radix_pass_8(from, to, value_bytes, count, shift));
        const struct pairs next = from;
        from = to;
        to = next;
    }
}

/* ---- qsort --------------------------------------------------------------------------------------------------- */

/* A record is the key in its first 8 bytes (extended), then the value. */
static int compare_records(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}
static int compare_keys_4(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;
    return x < y ? -1 : x > y;
}
static int compare_records_4(const void *a, const void *b)
{
    return compare_keys_4(a, b);
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

#define DEFINE_MERGE(name, key_t)                                                                                      \
    static void name(struct pairs in, size_t value_bytes, size_t a_count, size_t count, struct pairs to)               \
    {                                                                                                                  \
        const key_t *keys = in.keys;                                                                                   \
        key_t       *out = to.keys;                                                                                    \
        size_t       a = 0, b = a_count;                                                                               \
        for (size_t i = 0; i < count; i++) {                                                                           \
            const size_t from = b == count || (a < a_count && keys[a] <= keys[b]) ? a++ : b++;                         \
            out[i] = keys[from];                                                                                       \
            move_value(in.values, from, to.values, i, value_bytes);                                                    \
        }                                                                                                              \
    }
DEFINE_MERGE(merge_4, uint32_t)
DEFINE_MERGE(merge_8, uint64_t)

void host_merge(struct pairs in, size_t key_bytes, size_t value_bytes, size_t a_count, size_t count, struct pairs out)
{
    FOR_KEY_BYTES(key_bytes, merge_4(in, value_bytes, a_count, count, out),
                  merge_8(in, value_bytes, a_count, count, out));
}

/* ---- search -------------------------------------------------------------------------------------------------- */

#define DEFINE_LOWER_BOUND(name, key_t)                                                                                \
    static size_t name(const key_t *keys, size_t count, key_t query)                                                   \
    {                                                                                                                  \
        size_t from = 0;                                                                                               \
        while (count > 0) {                                                                                            \
            const size_t half = count / 2;                                                                             \
            if (keys[from + half] < query) {                                                                           \
                from += half + 1;                                                                                      \
                count -= half + 1;                                                                                     \
            } else {                                                                                                   \
                count = half;                                                                                          \
            }                                                                                                          \
        }                                                                                                              \
        return from;                                                                                                   \
    }
DEFINE_LOWER_BOUND(lower_bound_4, uint32_t)
DEFINE_LOWER_BOUND(lower_bound_8, uint64_t)

size_t host_lower_bound(const void *keys, size_t key_bytes, size_t count, uint64_t query)
{
    return key_bytes == 4 ? lower_bound_4(keys, count, (uint32_t) query) : lower_bound_8(keys, count, query);
}

/* ---- scan, compact ------------------------------------------------------------------------------------------- */

#define DEFINE_SCAN(name, key_t)                                                                                       \
    static uint64_t name(const key_t *in, size_t count, bool maximum, key_t *out)                                      \
    {                                                                                                                  \
        key_t all = 0;                                                                                                 \
        for (size_t i = 0; i < count; i++) {                                                                           \
            if (out && !maximum)                                                                                       \
                out[i] = all;                                                                                          \
            all = maximum ? (in[i] > all ? in[i] : all) : (key_t) (all + in[i]);                                       \
            if (out && maximum)                                                                                        \
                out[i] = all;                                                                                          \
        }                                                                                                              \
        return all;                                                                                                    \
    }
DEFINE_SCAN(scan_4, uint32_t)
DEFINE_SCAN(scan_8, uint64_t)

uint64_t host_scan(const void *in, size_t key_bytes, size_t count, bool maximum, void *out)
{
    return key_bytes == 4 ? scan_4(in, count, maximum, out) : scan_8(in, count, maximum, out);
}

size_t host_compact(struct pairs in, const uint8_t *flags, size_t key_bytes, size_t value_bytes, size_t count,
                    struct pairs out)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (!flags[i])
            continue;
        move_value(in.keys, i, out.keys, kept, key_bytes);
        move_value(in.values, i, out.values, kept, value_bytes);
        kept++;
    }
    return kept;
}
