/* SPDX-License-Identifier: Apache-2.0 */
/* See string_model.h. */
#include "tests/primitive/string_model.h"

#include <stdlib.h>

static const struct string_case *sorted_column;

static int by_string(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;
    const int      order = string_compare(sorted_column, x, y);
    return order ? order : x < y ? -1 : x > y;
}

struct sorted_strings sort_strings_of(const struct string_case *c)
{
    struct sorted_strings s = { c, test_alloc((c->count + 1) * 4), test_alloc((c->count + 1) * 4), 0 };
    for (uint32_t i = 0; i < c->count; i++)
        s.rows[i] = i;
    sorted_column = c;
    qsort(s.rows, c->count, sizeof *s.rows, by_string);
    for (uint32_t i = 0; i < c->count; i++)
        if (i == 0 || string_compare(c, s.rows[i - 1], s.rows[i]) != 0)
            s.starts[s.ids++] = i;
    s.starts[s.ids] = (uint32_t) c->count;
    return s;
}

void sorted_strings_free(struct sorted_strings *s)
{
    free(s->rows);
    free(s->starts);
}

const uint8_t *test_string_at(const struct string_case *c, size_t row)
{
    return c->bytes + c->offsets[row];
}

/* Compares string `id` with query i. */
static int compare(const struct sorted_strings *s, uint32_t id, const struct string_case *q, size_t i)
{
    const uint32_t row = s->rows[s->starts[id]];
    const size_t   a = string_length(s->c, row), b = string_length(q, i), least = a < b ? a : b;
    const int      order = least ? memcmp(test_string_at(s->c, row), test_string_at(q, i), least) : 0;
    return order ? order : a < b ? -1 : a > b;
}

bool string_begins(const struct sorted_strings *s, uint32_t id, const struct string_case *q, size_t i, bool turned)
{
    const uint32_t row = s->rows[s->starts[id]];
    const size_t   a = string_length(s->c, row), b = string_length(q, i), least = turned ? a : b;
    return (turned ? b : a) >= least &&
           (least == 0 || memcmp(test_string_at(s->c, row), test_string_at(q, i), least) == 0);
}

uint32_t model_string_bound(const struct sorted_strings *s, const struct string_case *q, size_t i, bool upper)
{
    uint32_t from = 0, to = s->ids;
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        if (compare(s, middle, q, i) < (int) upper)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static uint32_t model_longest(const struct sorted_strings *s, const struct string_case *q, size_t i, uint32_t upper)
{
    while (upper > 0 && !string_begins(s, upper - 1, q, i, true))
        upper--;
    return upper ? upper - 1 : ORDO_NO_ID;
}

uint32_t model_string_choose(ordo_string_search search, uint32_t lower, uint32_t upper, uint32_t ids)
{
    switch (search) {
    case ORDO_STRING_FIND:
        return lower < upper ? lower : ORDO_NO_ID;
    case ORDO_STRING_LT:
        return lower ? lower - 1 : ORDO_NO_ID;
    case ORDO_STRING_LE:
        return upper ? upper - 1 : ORDO_NO_ID;
    case ORDO_STRING_GE:
        return lower < ids ? lower : ORDO_NO_ID;
    case ORDO_STRING_GT:
        return upper < ids ? upper : ORDO_NO_ID;
    case ORDO_STRING_LOWER:
        return lower;
    default:
        return upper;
    }
}

uint32_t model_string_search(const struct sorted_strings *s, ordo_string_search search, const struct string_case *q,
                             size_t i)
{
    const uint32_t lower = model_string_bound(s, q, i, false), upper = model_string_bound(s, q, i, true);
    return search == ORDO_STRING_LONGEST_PREFIX ? model_longest(s, q, i, upper)
                                                : model_string_choose(search, lower, upper, s->ids);
}

/* Returns the number of leading bytes that string `id` shares with query i. */
static uint64_t shared(const struct sorted_strings *s, uint32_t id, const struct string_case *q, size_t i)
{
    const uint32_t row = s->rows[s->starts[id]];
    const size_t   a = string_length(s->c, row), b = string_length(q, i);
    size_t         same = 0;
    while (same < a && same < b && test_string_at(s->c, row)[same] == test_string_at(q, i)[same])
        same++;
    return same;
}

/* Compares the query with each string, until one after its place shares fewer bytes. */
uint64_t model_string_common(const struct sorted_strings *s, const struct string_case *q, size_t i, uint32_t *first,
                             uint32_t *count)
{
    const uint32_t place = model_string_bound(s, q, i, false);
    uint64_t       most = 0;
    *first = s->ids ? 0 : ORDO_NO_ID;
    *count = s->ids;
    for (uint32_t id = 0; id < s->ids; id++) {
        const uint64_t same = shared(s, id, q, i);
        if (same < most && id > place)
            break;
        if (same > most) {
            most = same;
            *first = id;
            *count = 0;
        }
        *count += most > 0 && same == most;
    }
    return most;
}
