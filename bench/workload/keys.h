/* SPDX-License-Identifier: Apache-2.0 */
/* Keys and values as they are drawn: any element can be had without those before it. */
#ifndef BENCH_WORKLOAD_KEYS_H
#define BENCH_WORKLOAD_KEYS_H

#include "workload.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A well mixed word of the i-th draw from stream `seed`. */
uint64_t draw(uint64_t seed, uint64_t i);

/* The ordered form of a stored key and back: unsigned order of the forms is the order of the keys. */
uint64_t key_order(ordo_type type, uint64_t stored);
uint64_t key_stored(ordo_type type, uint64_t order);

/* The value that element i of the input carries: i itself, and in 8 bytes also a hash of i in the upper half. */
uint64_t value_of(uint32_t value_bytes, size_t i);

/* `count` keys of a distribution, in stored form. */
void keys_draw(ordo_type type, enum dist dist, uint64_t seed, size_t count, void *keys);
/* The same ones in ascending order, or others of the same distribution. False if memory ran out. */
bool keys_draw_sorted(ordo_type type, enum dist dist, uint64_t seed, size_t count, void *keys);
/* Their ordered forms. */
void keys_order(ordo_type type, const void *keys, size_t count, void *orders);
/* Values of elements first, first + 1 and so on; nothing where they have no bytes. */
void values_make(uint32_t value_bytes, size_t first, size_t count, void *values);
/* Sorts keys in stored form. False if memory ran out. */
bool keys_sort(ordo_type type, void *keys, size_t count);

#ifdef __cplusplus
}
#endif

#endif
