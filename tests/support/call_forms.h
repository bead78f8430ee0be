/* SPDX-License-Identifier: Apache-2.0 */
/* How the tables of calls (calls.h) write a call and its arrays. */
#ifndef ORDO_TESTS_CALL_FORMS_H
#define ORDO_TESTS_CALL_FORMS_H

#include "calls.h"

#define LENGTH(array)      (sizeof(array) / sizeof *(array))
#define OR_NULL(g, params) ((g)->no_params ? NULL : (params))

/* Defines functions that call ordo_NAME and ordo_NAME_host with these arguments. ordo_NAME also gets the order. */
#define CALL(name, ...)                                                                                                \
    static ordo_status call_##name(const struct given *g, const struct ordo_slice a[])                                 \
    {                                                                                                                  \
        return ordo_##name(__VA_ARGS__, g->order);                                                                     \
    }                                                                                                                  \
    static ordo_status call_##name##_host(const struct given *g, void *const a[])                                      \
    {                                                                                                                  \
        return ordo_##name##_host(__VA_ARGS__);                                                                        \
    }

/* Names the two forms of a call. */
#define ARRAY(name) "ordo_" #name, call_##name, call_##name##_host

#define IN(name, bytes, of)                                                                                            \
    {                                                                                                                  \
        name, bytes, 1, 0, INPUT_##of                                                                                  \
    }
#define VALUES(name)                                                                                                   \
    {                                                                                                                  \
        name, 4, 1, 0, INPUT_RANDOM, .value = true                                                                     \
    }
/* Elements of another number: see enum call_extent. */
#define SIZED(name, of, size)                                                                                          \
    {                                                                                                                  \
        name, 4, 1, 0, INPUT_##of, .extent = EXTENT_##size                                                             \
    }
#define VALUES_SIZED(name, size)                                                                                       \
    {                                                                                                                  \
        name, 4, 1, 0, INPUT_RANDOM, .value = true, .extent = EXTENT_##size                                            \
    }
#define OUT_SIZED(name, times, is_value, size)                                                                         \
    {                                                                                                                  \
        name, 4, times, 0, .output = true, .value = (is_value), .extent = EXTENT_##size                                \
    }
#define OUT(name, bytes, times, more)                                                                                  \
    {                                                                                                                  \
        name, bytes, times, more, .output = true                                                                       \
    }
#define OUT_VALUES(name, times)                                                                                        \
    {                                                                                                                  \
        name, 4, times, 0, .output = true, .value = true                                                               \
    }
#define MAY(name, bytes, times, more)                                                                                  \
    {                                                                                                                  \
        name, bytes, times, more, .output = true, .optional = true                                                     \
    }
/* A column of strings. */
#define STRINGS(offsets, bytes, of) { offsets, 4, 1, 1, INPUT_OFFSETS }, IN_BYTES(bytes, of)
#define IN_BYTES(name, of)                                                                                             \
    {                                                                                                                  \
        name, 1, CALL_STRING_BYTES, 0, INPUT_##of                                                                      \
    }

static inline uint32_t call_row_bytes(const struct given *g)
{
    return g->row_bytes ? g->row_bytes : 4;
}

#endif
