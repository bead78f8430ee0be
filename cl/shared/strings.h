/* SPDX-License-Identifier: Apache-2.0 */
/* Strings are sorted in rounds (cl/primitive/strings.cl). A *segment* is a group of rows that no round has separated.
 * Their strings begin with the same `depth` bytes. */

/* A round compares `window` bytes of each string. It sorts by a key with these fields, the most significant first:
 *
 *     segment     the index of the row's segment
 *     window      the `window` bytes after the first `depth`, as a big-endian number. Missing bytes are 0.
 *     length      the number of bytes after the first `depth`, at most `window` + 1.
 *
 * Rows with equal keys have equal strings, unless length is `window` + 1. */
#pragma once
#include "shared/types.h"

#define STRINGS_LENGTH_BITS 4
#define STRINGS_WINDOW_MAX  7

#define STRINGS_KEY_BITS(window) (8 * (window) + STRINGS_LENGTH_BITS)

/* A launch compares at most this many bytes of two strings, to limit its time. Must be a multiple of 8. */
#define STRINGS_PREFIX_MAX 65536u
