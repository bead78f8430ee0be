/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of hash tables that were chosen to collide. */
#ifndef ORDO_TEST_COLLIDING_H
#define ORDO_TEST_COLLIDING_H

#include "tests/support/support.h"

#include "dict/hash/hash.h"

/* The key with this mixed key under a seed: hash_unmix of cl/dict/hash/table.cl. */
static inline uint32_t unmix(uint32_t mixed, uint64_t seed)
{
    uint32_t x = (mixed ^ mixed >> 16) * 0x43021123u;
    x ^= (uint32_t) (seed >> 32);
    x = (x ^ x >> 15 ^ x >> 30) * 0x1d69e2a5u;
    return x ^ x >> 16 ^ (uint32_t) seed;
}

/* Keys with mixed keys from, from + step, ... under the first seed. */
static inline uint32_t *colliding_keys(uint32_t from, uint32_t step, size_t count)
{
    uint32_t *keys = test_alloc(count * sizeof *keys);
    for (size_t i = 0; i < count; i++)
        keys[i] = unmix(from + (uint32_t) i * step, ordo_hash_seed(0, 1));
    return keys;
}

#endif
