/* SPDX-License-Identifier: Apache-2.0 */
/* The arrays of a step in host memory, with guard bytes around them. */
#include "sequence_run.h"

#include <stdio.h>
#include <stdlib.h>

enum { HOST_GUARD_BYTES = 64, HOST_GUARD = 0x3b };

static size_t bytes_of_element(const struct sequence *s, enum column column)
{
    switch (column) {
    case COL_CODES:
    case COL_FOUND:
        return 1;
    case COL_KEYS:
    case COL_HI:
    case COL_KEYS_OUT:
    case COL_RANGE_KEYS:
        return ordo_type_bytes(s->type);
    case COL_COUNTS:
        return sizeof(uint32_t);
    case COL_OFFSETS:
        return sizeof(uint64_t);
    default:
        return s->value_bytes;
    }
}

static void add_column(struct columns *c, const struct sequence *s, enum column column)
{
    const bool   in_ranges = column == COL_RANGE_KEYS || column == COL_RANGE_VALUES;
    const size_t elements = in_ranges ? c->room : c->count + (column == COL_OFFSETS);
    const size_t bytes = bytes_of_element(s, column), all = elements * bytes;
    uint8_t     *made = test_alloc(all + 2 * (size_t) HOST_GUARD_BYTES);

    memset(made, HOST_GUARD, all + 2 * (size_t) HOST_GUARD_BYTES);
    memset(made + HOST_GUARD_BYTES, TEST_EMPTY, all);
    c->of[column] = made + HOST_GUARD_BYTES;
    c->elements[column] = elements;
    c->bytes[column] = bytes;
}

void columns_add(struct columns *c, const struct sequence *s, unsigned columns)
{
    for (int i = 0; i < N_COLUMNS; i++)
        if (columns & BIT(i))
            add_column(c, s, (enum column) i);
}

void columns_free(struct columns *c)
{
    for (int i = 0; i < N_COLUMNS; i++)
        if (c->of[i])
            free((uint8_t *) c->of[i] - HOST_GUARD_BYTES);
}

struct ordo_host_batch columns_batch(const struct columns *c)
{
    return (struct ordo_host_batch) { .codes = c->of[COL_CODES],
                                      .keys = c->of[COL_KEYS],
                                      .hi = c->of[COL_HI],
                                      .values = c->of[COL_VALUES],
                                      .count = c->count,
                                      .value = c->value,
                                      .combine = c->combine,
                                      .found = c->of[COL_FOUND],
                                      .keys_out = c->of[COL_KEYS_OUT],
                                      .values_out = c->of[COL_VALUES_OUT],
                                      .counts = c->of[COL_COUNTS],
                                      .offsets = c->of[COL_OFFSETS],
                                      .range_keys = c->of[COL_RANGE_KEYS],
                                      .range_values = c->of[COL_RANGE_VALUES],
                                      .range_capacity = c->room };
}

void columns_take_element(struct columns *to, const struct columns *from, enum column column, size_t i)
{
    const size_t bytes = to->bytes[column];

    if (to->of[column])
        memcpy((uint8_t *) to->of[column] + i * bytes, (const uint8_t *) from->of[column] + i * bytes, bytes);
}

void columns_take(struct columns *to, const struct columns *from, enum column column)
{
    for (size_t i = 0; to->of[column] && i < to->elements[column]; i++)
        columns_take_element(to, from, column, i);
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

void columns_check_guards(struct run *run, const struct columns *c)
{
    for (int i = 0; i < N_COLUMNS; i++)
        for (size_t g = 0; c->of[i] && g < HOST_GUARD_BYTES; g++)
            if (((const uint8_t *) c->of[i])[-1 - (ptrdiff_t) g] != HOST_GUARD ||
                ((const uint8_t *) c->of[i])[c->elements[i] * c->bytes[i] + g] != HOST_GUARD)
                run_complain(run, "bytes beside %s were written", column_name[i]);
}

/* Prints element i as a hexadecimal number. */
static const char *hex_of(char text[33], const void *array, size_t bytes, size_t i)
{
    for (size_t b = 0; b < bytes; b++)
        (void) snprintf(text + 2 * b, 3, "%02x", ((const uint8_t *) array)[(i + 1) * bytes - 1 - b]);
    return text;
}

void columns_compare(struct run *run, enum column column, const struct columns *in, const struct columns *got,
                     const struct columns *want)
{
    const size_t bytes = got->bytes[column];
    size_t       differ = 0, first = 0;

    for (size_t i = got->elements[column]; i-- > 0;)
        if (memcmp((uint8_t *) got->of[column] + i * bytes, (uint8_t *) want->of[column] + i * bytes, bytes) != 0) {
            differ++;
            first = i;
        }
    if (differ == 0)
        return;
    const size_t operation = first < in->count ? first : 0;
    char         is[33], not [33], key[33];
    run_complain(run,
                 "%s[%zu] is 0x%s, not 0x%s; %zu of %zu differ (0x5c: left alone). Operation %zu: code %u, key 0x%s",
                 column_name[column], first, hex_of(is, got->of[column], bytes, first),
                 hex_of(not, want->of[column], bytes, first), differ, got->elements[column], operation,
                 ((const uint8_t *) in->of[COL_CODES])[operation],
                 hex_of(key, in->of[COL_KEYS], in->bytes[COL_KEYS], operation));
}
