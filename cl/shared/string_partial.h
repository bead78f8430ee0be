/* SPDX-License-Identifier: Apache-2.0 */
/* Memory layout of an index of partial keys (cl/primitive/string_partial.cl), after section 7.1 of FAST (Kim et al.,
 * TODS 2011). */
#pragma once
#include "shared/string_index.h"

/* A *nibble* is an aligned group of 1, 2, 4 or 8 bits of a string. Bytes after the end of a string are 0. The *partial
 * key* of a string has some of its nibbles, the most significant first. Partial keys sort like their strings, but
 * different strings may have equal partial keys. */

/* Level 0 has all strings in sorted order. A *page* has `page_keys` neighbouring strings of a level. The next level has
 * the first string of each page. The last level is one page. Entry i of a level is the string with id i * stride.
 *
 * The strings *below* a page begin at its first entry, and end before the next page's first entry. A page leaves out
 * nibbles that are equal in all strings below it.
 *
 * A page begins with the positions of its nibbles, in ascending order. The partial keys of its entries follow. */
#define PARTIAL_LEVELS_MAX    16
#define PARTIAL_PAGE_MIN      4
#define PARTIAL_PAGE_MAX      65536
#define PARTIAL_KEY_BYTES_MAX 128

/* All pages of a level store the same number of positions. Unused positions are PARTIAL_NONE. Their nibbles are 0 in
 * all partial keys. */
#define PARTIAL_NONE 0xffffffffu

/* A page takes its nibbles from PARTIAL_REACH neighbouring bytes of its strings. All earlier bytes are equal in the
 * strings below the page. PARTIAL_REACH must be a multiple of 8. */
#define PARTIAL_REACH 256u

/* Values of ordo_string_prefix. */
#define PARTIAL_NONCONTIGUOUS 0
#define PARTIAL_CONTIGUOUS    1
#define PARTIAL_WHOLE         2

/* Pages begin at word `pages` of the index. A page begins with the positions of its nibbles, in `positions` words.
 * With PARTIAL_WHOLE, `positions` is 0, and partial keys are the first bytes of the strings. */
typedef struct {
    ordo_u64 pages;
    ordo_u32 count, stride, page_words, positions, key_words, unused;
} partial_level;

typedef struct {
    ordo_u32      levels, page_keys, nibble_bits, ids;
    partial_level level[PARTIAL_LEVELS_MAX];
} partial_head;

/* A summary of the strings below a page:
 *
 *  inside   first position (shared/string_index.h) where two of these strings differ, or STRING_EQUAL
 *  across   like `inside`, but also compares the first string of the next page
 *  longest  length of the longest of these strings, at most PARTIAL_LONGEST_MAX
 *  apart    apart[k] covers bytes b to b + 7 of the strings, where b = PARTIAL_FROM(inside) + 8 * k. A bit of
 *           apart[k] is 1 if two of the strings differ in this bit. The most significant bit belongs to byte b. */
typedef struct {
    ordo_u32 inside, across, longest, unused;
    ordo_u64 apart[PARTIAL_REACH / 8];
} partial_draft;

#define PARTIAL_FROM(inside) ((inside) == STRING_EQUAL ? 0 : (inside) >> 4 & ~7u)
#define PARTIAL_LONGEST_MAX  (STRING_SHARED_MAX + PARTIAL_REACH)
