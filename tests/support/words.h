/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of arrays by their bytes, and keys by their ordered form (shared/key.h). */
#ifndef ORDO_TESTS_WORDS_H
#define ORDO_TESTS_WORDS_H

#include "wide.h"

#include "ordo/ordo.h"
#include "shared/key.h"

#include <string.h>

/* An ordered form of up to 16 bytes. */
__extension__ typedef unsigned __int128 key_form;

/* Element i of `bytes` bytes, up to 8; 0 without bytes. */
static inline uint64_t read_bits(const void *array, size_t bytes, size_t i)
{
    uint64_t word = 0;

    if (bytes == 4)
        return ((const uint32_t *) array)[i];
    memcpy(&word, (const uint8_t *) array + i * bytes, bytes);
    return word;
}

/* Writes nothing without an array. */
static inline void write_bits(void *array, size_t bytes, size_t i, key_form bits)
{
    if (array && bytes == 4)
        ((uint32_t *) array)[i] = (uint32_t) bits;
    else if (array)
        memcpy((uint8_t *) array + i * bytes, &bits, bytes);
}

/* Element i of `bytes` bytes, as it is stored. */
static inline key_form read_key(const void *array, size_t bytes, size_t i)
{
    key_form key = 0;

    memcpy(&key, (const uint8_t *) array + i * bytes, bytes);
    return key;
}

/* A number that differs for different values, also for halves of different values. Values of up to 8 bytes are it. */
static inline uint64_t value_number_of(key_form value)
{
    return (uint64_t) value ^ (uint64_t) (value >> 64) * 0x9e3779b97f4a7c15u;
}

static inline uint64_t read_value(const void *array, size_t bytes, size_t i)
{
    return value_number_of(read_key(array, bytes, i));
}

static inline key_form form_mask(ordo_type type)
{
    const size_t bytes = ordo_type_bytes(type);

    return bytes == 4 ? UINT32_MAX : bytes == 8 ? UINT64_MAX : ~(key_form) 0;
}

/* Writes the key of a form. */
static inline void put_form(ordo_type type, void *keys, size_t i, key_form form)
{
    const size_t   bytes = ordo_type_bytes(type);
    const uint64_t low = (uint64_t) (form & form_mask(type)), high = (uint64_t) (form >> 64);

    if (bytes == 16)
        test_form_put(type, (struct test_form) { high, low }, (uint8_t *) keys + i * bytes);
    else
        write_bits(keys, bytes, i, key_from_bits_of((int) type, low));
}

static inline key_form form_of_key(ordo_type type, const void *keys, size_t i)
{
    const struct test_form form = test_form_of(type, (const uint8_t *) keys + i * ordo_type_bytes(type));

    return (key_form) form.high << 64 | form.low;
}

/* For qsort of key_form. */
static inline int compare_forms(const void *a, const void *b)
{
    const key_form x = *(const key_form *) a, y = *(const key_form *) b;

    return (x > y) - (x < y);
}

/* The number of ascending forms below this one. */
static inline size_t rank_of_form(const key_form *forms, size_t n, key_form form)
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
