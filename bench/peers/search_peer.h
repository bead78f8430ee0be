/* SPDX-License-Identifier: Apache-2.0 */
/* pgm::PGMIndex, a learned index of sorted unsigned keys (P. Ferragina and G. Vinciguerra, "The PGM-index", VLDB 2020).
 * Exists if BENCH_PGM is 1. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Keys have 4 or 8 bytes, ascend, and must outlive the index. Returns NULL without memory, and if the last key is the
 * greatest of its type: the library reserves it. */
void *pgm_open(const void *keys, size_t key_bytes, size_t count);
void  pgm_close(void *index);

/* Returns the number of keys less than `query`. */
size_t pgm_rank(const void *index, uint64_t query);
