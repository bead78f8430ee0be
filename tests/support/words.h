/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of arrays by their bytes, and keys by their ordered form (ordo_key_bits). */
#ifndef ORDO_TESTS_WORDS_H
#define ORDO_TESTS_WORDS_H

#include "ordo/ordo.h"
#include "shared/key.h"

#include <string.h>

/* Element i of `bytes` bytes; 0 without bytes. */
static inline uint64_t read_bits(const void *array, size_t bytes, size_t i)
{
    uint64_t word = 0;

    if (bytes == 4)
        return ((const uint32_t *) array)[i];
    memcpy(&word, (const uint8_t *) array + i * bytes, bytes);
    return word;
}

/* Writes nothing without an array. */
static inline void write_bits(void *array, size_t bytes, size_t i, uint64_t bits)
{
    if (array && bytes == 4)
        ((uint32_t *) array)[i] = (uint32_t) bits;
    else if (array)
        memcpy((uint8_t *) array + i * bytes, &bits, bytes);
}

static inline uint64_t form_mask(ordo_type type)
{
    return ordo_type_bytes(type) == 4 ? UINT32_MAX : UINT64_MAX;
}

/* Writes the key of a form. */
static inline void put_form(ordo_type type, void *keys, size_t i, uint64_t form)
{
    write_bits(keys, ordo_type_bytes(type), i, key_from_bits_of((int) type, form & form_mask(type)));
}

static inline uint64_t form_of_key(ordo_type type, const void *keys, size_t i)
{
    return ordo_key_bits(type, (const uint8_t *) keys + i * ordo_type_bytes(type));
}

/* For qsort of uint64_t. */
static inline int compare_forms(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;

    return (x > y) - (x < y);
}

/* The number of ascending forms below this one. */
static inline size_t rank_of_form(const uint64_t *forms, size_t n, uint64_t form)
{
    size_t low = 0, high = n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (forms[middle] < form)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
