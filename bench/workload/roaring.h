/* SPDX-License-Identifier: Apache-2.0 */
/* A plain writer of sets of u32 in the Roaring portable format (cl/shared/roaring.h). */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* An upper bound of the bytes of `count` keys. */
size_t roaring_bytes_max(size_t count);
/* Writes different ascending keys, as CRoaring does after run_optimize: each container takes its smallest form, and
 * runs if an array is as small. Returns the number of bytes. */
size_t roaring_write(const uint32_t *keys, size_t count, uint8_t *to);
