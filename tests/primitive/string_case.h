/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of strings of several shapes, in host memory. */
#ifndef ORDO_TESTS_STRING_CASE_H
#define ORDO_TESTS_STRING_CASE_H

#include "tests/support/support.h"

/* A column under construction. */
struct string_case {
    size_t    count, room, n_bytes, room_bytes;
    uint64_t *offsets; /* count + 1 */
    uint8_t  *bytes;
    size_t    first; /* bytes before the first string */
};

enum string_shape {
    EMPTY,      /* all strings are empty */
    EQUAL,      /* all strings are equal */
    RANDOM,     /* 0 to 20 random bytes */
    FEW_VALUES, /* 0 to 40 bytes of two values */
    NULS,       /* 0 to 20 NULs: they differ in length only */
    HIGH,       /* 0 to 20 bytes 0xFF, and other bytes */
    DEEP,       /* one prefix of 100 bytes, then few bytes */
    PATHS,      /* one of a few prefixes, another one of a few below, and a number */
    EDGES,      /* lengths around windows and words; few strings differ, by their last byte */
    CHAIN,      /* each string is a prefix of the next longer one */
    N_SHAPES
};
extern const char *const string_shape_name[N_SHAPES];

void string_column_free(struct string_case *c);
#define AUTO_COLUMN AUTO(string_column_free)

/* Adds a string of `length` bytes, which the caller must write. */
uint8_t *string_add(struct string_case *c, size_t length);
void     string_add_text(struct string_case *c, const char *text, size_t length);
/* Adds a string of `length` bytes, all equal except the one at `at`. */
void string_add_long(struct string_case *c, size_t length, size_t at, uint8_t other);
/* Adds a string of a shape. */
void string_add_shape(struct test *t, struct string_case *c, enum string_shape shape);
/* A column of `count` strings of a shape, with bytes before the first and after the last. */
struct string_case string_make_column(struct test *t, enum string_shape shape, size_t count);

/* Writes random bytes, of n_values values unless that is 0. */
void string_fill(struct test *t, uint8_t *to, size_t length, const uint8_t *values, uint64_t n_values);

size_t string_length(const struct string_case *c, size_t row);
/* Compares two rows as memcmp does. */
int string_compare(const struct string_case *c, uint32_t a, uint32_t b);

/* Returns the offsets in the size that a call takes: malloc'd integers of `bytes` bytes. */
void *string_offsets(const struct string_case *c, uint32_t bytes);

#endif
