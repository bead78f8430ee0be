/* SPDX-License-Identifier: Apache-2.0 */
/* A map of strings in host memory, which a dictionary of strings must equal. Strings are rows of columns. */
#ifndef ORDO_TESTS_STRING_MAP_H
#define ORDO_TESTS_STRING_MAP_H

#include "tests/primitive/string_case.h"

struct string_entry {
    uint8_t *bytes;
    size_t   length;
    uint64_t value;
};

/* Entries in ascending order. */
struct string_map {
    struct string_entry *at;
    size_t               n, room;
};

void string_map_clear(struct string_map *m);
void string_map_free(struct string_map *m);

/* Returns the number of entries less than row i, or if `upper`, less or equal. */
size_t string_map_bound(const struct string_map *m, const struct string_case *c, size_t i, bool upper);
/* Returns whether the map has row i. Sets *at to the number of lesser entries. */
bool string_map_has(const struct string_map *m, const struct string_case *c, size_t i, size_t *at);

void string_map_upsert(struct string_map *m, const struct string_case *c, const uint64_t *values);
void string_map_erase(struct string_map *m, const struct string_case *c);

/* Returns the rank that ordo_string_dict_search must find for row i. */
uint32_t string_map_search(const struct string_map *m, ordo_string_search search, const struct string_case *q,
                           size_t i);
/* Returns the number of entries from `first` on that begin with row i. */
uint32_t string_map_prefixes(const struct string_map *m, const struct string_case *q, size_t i, size_t first);

#endif
