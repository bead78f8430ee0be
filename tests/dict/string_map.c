/* SPDX-License-Identifier: Apache-2.0 */
/* See string_map.h. */
#include "tests/dict/string_map.h"

#include "tests/primitive/string_model.h"

#include <stdlib.h>

void string_map_clear(struct string_map *m)
{
    for (size_t i = 0; i < m->n; i++)
        free(m->at[i].bytes);
    m->n = 0;
}

void string_map_free(struct string_map *m)
{
    string_map_clear(m);
    free(m->at);
}

static int compare(const struct string_entry *e, const uint8_t *bytes, size_t length)
{
    const size_t least = e->length < length ? e->length : length;
    const int    order = least ? memcmp(e->bytes, bytes, least) : 0;
    return order ? order : e->length < length ? -1 : e->length > length;
}

size_t string_map_bound(const struct string_map *m, const struct string_case *c, size_t i, bool upper)
{
    size_t from = 0, to = m->n;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (compare(&m->at[middle], test_string_at(c, i), string_length(c, i)) < (int) upper)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

bool string_map_has(const struct string_map *m, const struct string_case *c, size_t i, size_t *at)
{
    *at = string_map_bound(m, c, i, false);
    return *at < m->n && compare(&m->at[*at], test_string_at(c, i), string_length(c, i)) == 0;
}

void string_map_upsert(struct string_map *m, const struct string_case *c, const uint64_t *values)
{
    for (size_t i = 0; i < c->count; i++) {
        size_t at = 0;
        if (!string_map_has(m, c, i, &at)) {
            if (m->n == m->room) {
                m->room = 2 * m->room + 64;
                m->at = realloc(m->at, m->room * sizeof *m->at);
                cr_assert(m->at != NULL);
            }
            memmove(m->at + at + 1, m->at + at, (m->n++ - at) * sizeof *m->at);
            m->at[at] = (struct string_entry) { test_alloc(string_length(c, i)), string_length(c, i), 0 };
            memcpy(m->at[at].bytes, test_string_at(c, i), string_length(c, i));
        }
        m->at[at].value = values[i];
    }
}

void string_map_erase(struct string_map *m, const struct string_case *c)
{
    for (size_t i = 0, at = 0; i < c->count; i++)
        if (string_map_has(m, c, i, &at)) {
            free(m->at[at].bytes);
            memmove(m->at + at, m->at + at + 1, (--m->n - at) * sizeof *m->at);
        }
}

static bool begins(const struct string_entry *e, const struct string_case *q, size_t i, bool turned)
{
    const size_t length = string_length(q, i), least = turned ? e->length : length;
    return (turned ? length : e->length) >= least && (least == 0 || memcmp(e->bytes, test_string_at(q, i), least) == 0);
}

uint32_t string_map_search(const struct string_map *m, ordo_string_search search, const struct string_case *q, size_t i)
{
    const uint32_t lower = (uint32_t) string_map_bound(m, q, i, false), n = (uint32_t) m->n;
    uint32_t       upper = (uint32_t) string_map_bound(m, q, i, true);
    if (search != ORDO_STRING_LONGEST_PREFIX)
        return model_string_choose(search, lower, upper, n);
    while (upper > 0 && !begins(&m->at[upper - 1], q, i, true))
        upper--;
    return upper ? upper - 1 : ORDO_NO_ID;
}

uint32_t string_map_prefixes(const struct string_map *m, const struct string_case *q, size_t i, size_t first)
{
    size_t n = first;
    while (n < m->n && begins(&m->at[n], q, i, false))
        n++;
    return (uint32_t) (n - first);
}
