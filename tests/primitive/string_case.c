/* SPDX-License-Identifier: Apache-2.0 */
/* See string_case.h. */
#include "tests/primitive/string_case.h"

#include <stdio.h>
#include <stdlib.h>

void string_column_free(struct string_case *c)
{
    free(c->offsets);
    free(c->bytes);
}

static void grow(void **memory, size_t *room, size_t need, size_t element)
{
    if (need <= *room)
        return;
    *room = 2 * need;
    *memory = realloc(*memory, *room * element);
    cr_assert(*memory != NULL);
}

uint8_t *string_add(struct string_case *c, size_t length)
{
    grow((void **) &c->offsets, &c->room, c->count + 2, sizeof *c->offsets);
    grow((void **) &c->bytes, &c->room_bytes, c->n_bytes + length + 1, 1);
    uint8_t *string = c->bytes + c->n_bytes;
    if (c->count == 0)
        c->offsets[0] = c->first = c->n_bytes;
    c->n_bytes += length;
    c->offsets[++c->count] = c->n_bytes;
    return string;
}

void string_add_text(struct string_case *c, const char *text, size_t length)
{
    memcpy(string_add(c, length), text, length);
}

size_t string_length(const struct string_case *c, size_t row)
{
    return c->offsets[row + 1] - c->offsets[row];
}

int string_compare(const struct string_case *c, uint32_t a, uint32_t b)
{
    const size_t a_length = string_length(c, a), b_length = string_length(c, b);
    const size_t least = a_length < b_length ? a_length : b_length;
    const int    order = least ? memcmp(c->bytes + c->offsets[a], c->bytes + c->offsets[b], least) : 0;
    return order ? order : a_length < b_length ? -1 : a_length > b_length;
}

/* Converts the offsets to the size that a call takes. */
void *string_offsets(const struct string_case *c, uint32_t bytes)
{
    uint8_t *offsets = test_alloc((c->count + 1) * bytes);
    for (size_t i = 0; i <= c->count; i++) {
        const uint32_t narrow = (uint32_t) c->offsets[i];
        memcpy(offsets + i * bytes, bytes == 4 ? (const void *) &narrow : &c->offsets[i], bytes);
    }
    return offsets;
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

const char *const string_shape_name[N_SHAPES] = { "empty", "equal", "random", "few_values", "NULs",
                                                  "0xFF",  "deep",  "paths",  "edges",      "chain" };

void string_fill(struct test *t, uint8_t *to, size_t length, const uint8_t *values, uint64_t n_values)
{
    for (size_t i = 0; i < length; i++)
        to[i] = n_values ? values[test_below(t, n_values)] : (uint8_t) test_below(t, 256);
}

static void add_path(struct test *t, struct string_case *c)
{
    static const char *const top[] = { "usr/share/doc/", "usr/lib/x86_64-linux-gnu/", "usr/share/doc-base/", "" };
    char                     path[128];
    const int                length =
        snprintf(path, sizeof path, "%spackage-%u/%s.%u", top[test_below(t, 4)], (unsigned) test_below(t, 50),
                 test_below(t, 2) ? "changelog.Debian" : "copyright", (unsigned) test_below(t, 400));
    string_add_text(c, path, (size_t) length);
}

static void add_edge(struct test *t, struct string_case *c)
{
    static const size_t lengths[] = { 0, 1, 2, 3, 6, 7, 8, 9, 13, 14, 15, 16, 17, 21, 22, 24, 31, 32, 33, 63, 64, 65 };
    const size_t        length = lengths[test_below(t, LENGTH(lengths))];
    uint8_t            *string = string_add(c, length);
    memset(string, 'x', length);
    if (length && test_below(t, 2))
        string[length - 1] = (uint8_t) (test_below(t, 2) ? 0 : 'x' + test_below(t, 3));
}

void string_add_shape(struct test *t, struct string_case *c, enum string_shape shape)
{
    static const uint8_t two[] = { 'a', 'b' }, high[] = { 0xff, 0xff, 0xff, 0xfe, 0, 0x80 };
    const size_t         length = test_below(t, 21);
    switch (shape) {
    case EMPTY:
        string_add(c, 0);
        break;
    case EQUAL:
        string_add_text(c, "the same string in each row", 27);
        break;
    case RANDOM:
        string_fill(t, string_add(c, length), length, NULL, 0);
        break;
    case FEW_VALUES:
        string_fill(t, string_add(c, 2 * length), 2 * length, two, 2);
        break;
    case NULS:
        memset(string_add(c, length), 0, length);
        break;
    case HIGH:
        string_fill(t, string_add(c, length), length, high, length % 2 ? 1 : 6);
        break;
    case DEEP: {
        uint8_t *string = string_add(c, 100 + length % 4);
        memset(string, 0xc3, 100);
        string_fill(t, string + 100, length % 4, two, 2);
        break;
    }
    case PATHS:
        add_path(t, c);
        break;
    case EDGES:
        add_edge(t, c);
        break;
    default:
        memset(string_add(c, c->count % 300), 'a', c->count % 300);
        break;
    }
}

struct string_case string_make_column(struct test *t, enum string_shape shape, size_t count)
{
    struct string_case c = { .count = 0 };
    grow((void **) &c.offsets, &c.room, 2, sizeof *c.offsets);
    grow((void **) &c.bytes, &c.room_bytes, 8, 1);
    c.offsets[0] = c.n_bytes = test_below(t, 4);
    memset(c.bytes, 0x55, 8);
    for (size_t i = 0; i < count; i++)
        string_add_shape(t, &c, shape);
    c.n_bytes += count % 2; /* a byte after the last string */
    return c;
}

void string_add_long(struct string_case *c, size_t length, size_t at, uint8_t other)
{
    uint8_t *string = string_add(c, length);
    memset(string, 'l', length);
    if (at < length)
        string[at] = other;
}
