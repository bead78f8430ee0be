/* SPDX-License-Identifier: Apache-2.0 */
/* The sort of strings (cl/primitive/strings.cl) works in rounds. A *segment* is a group of rows that no round has told
 * apart yet. All their strings begin with the same bytes, whose number is the segment's depth. */

/* A round sorts each segment (rows whose first `depth` bytes are equal) by a key. The most significant field is first:
 *
 *     segment     the segment's number, so that one sort orders all segments
 *     window      the `window` bytes after the first `depth`, the first most significant. Missing bytes are 0.
 *     length      the number of bytes after the first `depth`, at most `window` + 1
 *
 * The length orders "a" before "a\0". Rows with equal keys have equal strings, unless length is `window` + 1. */
#pragma once
#include "shared/types.h"

#define STRINGS_LENGTH_BITS 4
#define STRINGS_WINDOW_MAX  7

/* Number of key bits below the segment's number. */
#define STRINGS_KEY_BITS(window) (8 * (window) + STRINGS_LENGTH_BITS)

/* Maximum number of bytes of two strings that a launch compares, so that a launch with long strings ends soon. Must be
 * a multiple of 8. */
#define STRINGS_PREFIX_MAX 65536u
