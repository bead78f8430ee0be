/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of 4- or 8-byte elements, whatever their type. */
#ifndef BENCH_ELEMENT_H
#define BENCH_ELEMENT_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t element(const void *array, size_t bytes, size_t i)
{
    return bytes == 4 ? ((const uint32_t *) array)[i] : ((const uint64_t *) array)[i];
}
static inline void set_element(void *array, size_t bytes, size_t i, uint64_t value)
{
    if (bytes == 4)
        ((uint32_t *) array)[i] = (uint32_t) value;
    else
        ((uint64_t *) array)[i] = value;
}

/* Outputs hold this before a run, so that what is never written shows. */
#define POISON_BYTE 0xa5
#define POISON_WORD 0xa5a5a5a5a5a5a5a5u

#endif
