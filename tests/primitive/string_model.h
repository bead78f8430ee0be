/* SPDX-License-Identifier: Apache-2.0 */
/* The results of an index of strings, from a sorted list on the host. */
#ifndef ORDO_TESTS_STRING_MODEL_H
#define ORDO_TESTS_STRING_MODEL_H

#include "tests/primitive/string_case.h"

/* The rows of a column in the order of their strings. String `id` has rows[starts[id]] to rows[starts[id + 1] - 1]. */
struct sorted_strings {
    const struct string_case *c;
    uint32_t                 *rows, *starts, ids;
};

struct sorted_strings sort_strings_of(const struct string_case *c);
void                  sorted_strings_free(struct sorted_strings *s);
#define AUTO_SORTED AUTO(sorted_strings_free)

const uint8_t *test_string_at(const struct string_case *c, size_t row);

/* Returns whether string `id` begins with query i, or if `turned`, the query with the string. */
bool string_begins(const struct sorted_strings *s, uint32_t id, const struct string_case *q, size_t i, bool turned);

/* Returns the number of strings less than query i, or if `upper`, less or equal. */
uint32_t model_string_bound(const struct sorted_strings *s, const struct string_case *q, size_t i, bool upper);
/* Returns the result of any search but ORDO_STRING_LONGEST_PREFIX among `ids` strings. `lower` strings are less than
 * the query, `upper` strings are less or equal. */
uint32_t model_string_choose(ordo_string_search search, uint32_t lower, uint32_t upper, uint32_t ids);
uint32_t model_string_search(const struct sorted_strings *s, ordo_string_search search, const struct string_case *q,
                             size_t i);
/* Returns the most bytes that a string shares with query i. Also returns the first such string, and their number. */
uint64_t model_string_common(const struct sorted_strings *s, const struct string_case *q, size_t i, uint32_t *first,
                             uint32_t *count);

#endif
