/* SPDX-License-Identifier: Apache-2.0 */
/* Keys and values. Each element can be drawn alone. */
#pragma once

#include "workload.h"

/* The i-th pseudorandom word of stream `seed`. */
uint64_t draw(uint64_t seed, uint64_t i);

/* The ordered form of a key of any type, for comparisons. */
struct key_form {
    uint64_t high, low; /* high: 0 for keys of 4 and 8 bytes */
};
struct key_form key_form_at(ordo_type type, const void *keys, size_t i);
int             key_form_compare(struct key_form a, struct key_form b);
/* Writes key i of 16 bytes. */
void key_form_put(ordo_type type, void *keys, size_t i, struct key_form form);

/* The ordered form of a stored key of 4 or 8 bytes, and back. Its unsigned order is the order of keys. The ordered form
 * of a key's number is the number. */
uint64_t key_order(ordo_type type, uint64_t stored);
uint64_t key_stored(ordo_type type, uint64_t order);

/* Dictionaries have a number of 64 bits for each key of 16 bytes, in the order of keys. The upper 48 bits of the number
 * begin the first word of the key, the others the second word. Hashes of the bits before fill both words. */
uint64_t key_number_at(ordo_type type, const void *keys, size_t i);
void     key_number_put(ordo_type type, void *keys, size_t i, uint64_t number);

/* The numbers below `count` in random order. */
void numbers_shuffle(uint64_t seed, size_t count, uint32_t *to);

/* The value of input element i: i, and in 8 bytes a hash of i in the upper half. */
uint64_t value_of(uint32_t value_bytes, size_t i);

/* Draws `count` keys of a distribution, in stored form. */
void keys_draw(ordo_type type, enum dist dist, uint64_t seed, size_t count, void *keys);
/* Draws the same keys in ascending order. False without memory. */
bool keys_draw_sorted(ordo_type type, enum dist dist, uint64_t seed, size_t count, void *keys);
/* Converts keys of 4 or 8 bytes to ordered form. */
void keys_order(ordo_type type, const void *keys, size_t count, void *orders);
/* Makes values of elements first, first + 1, ...; nothing if they have 0 bytes. */
void values_make(uint32_t value_bytes, size_t first, size_t count, void *values);
/* Sorts elements by keys in stored form. value_bytes 0: keys alone. False without memory. */
bool elements_sort(ordo_type type, void *keys, void *values, uint32_t value_bytes, size_t count);
