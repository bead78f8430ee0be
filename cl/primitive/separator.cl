/* SPDX-License-Identifier: Apache-2.0 */
/* Separators of a search index (shared/index.h, I2). Functions compare them in the form ordo_key_form. */
#pragma once
#include "shared/index.h"
#include "shared/key.h"

#if KEY_BITS <= 64

#define SEPARATOR_BITS KEY_BITS
typedef ordo_key_form separator;
typedef uint          index_window;

#define index_window_of(keys, count)   0
#define separator_of_key(window, form) ((void) (window), (form))
#define separator_form(separator)      (separator)
#define separator_query(window, query) ((void) (window), (query))

#else

#define SEPARATOR_BITS 64
typedef ulong separator;

/* All keys of the array equal `first` in their highest `shared` bits. A separator has the next 64 bits of a key. */
typedef struct {
    ordo_key_form first;
    uint          shared;
} index_window;

ORDO_FN index_window index_window_of(__global const ordo_key *keys, uint count)
{
    const ordo_key_form first = key_bits(keys[0]), last = key_bits(keys[count - 1]);
    index_window        window;

    window.first = first;
    window.shared = min(128 - key_width(first ^ last), 64u);
    return window;
}

ORDO_FN separator separator_of_key(index_window window, ordo_key_form form)
{
    return key_above(form, 64 - window.shared).x;
}

/* The form of a separator and the form of an equal query differ in the low half, so that the separator counts as
 * greater in each kind of search (search_before). */
ORDO_FN ordo_key_form separator_form(separator s)
{
    return (ordo_key_form) (~(ulong) 0, s);
}

ORDO_FN ordo_key_form separator_query(index_window window, ordo_key_form query)
{
    if (key_width(query ^ window.first) <= 128 - window.shared)
        return (ordo_key_form) (0, separator_of_key(window, query));
    return (ordo_key_form) (0, key_before(query, window.first) ? 0 : ~(ulong) 0);
}

#endif
ORDO_STATIC_ASSERT(sizeof(separator) == INDEX_SEPARATOR_BYTES(sizeof(ordo_key)), "the host has the same size");
