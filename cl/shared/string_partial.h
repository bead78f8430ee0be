/* SPDX-License-Identifier: Apache-2.0 */
/* Memory layout of an index of partial keys (cl/primitive/string_partial.cl), after section 7.1 of FAST (Kim et al.,
 * TODS 2011). */
#pragma once
#include "shared/string_index.h"

/* A *nibble* is an aligned group of 1, 2, 4 or 8 bits of a string. Bytes after the end of a string are 0. The *partial
 * key* of a string has some of its nibbles, the most significant first. Partial keys sort like their strings, but
 * different strings may have equal partial keys.
 *
 *     strings   nibbles    partial keys of 2 nibbles
 *     "a1"      6 1 3 1    1 1        All nibbles at positions 0 and 2 are equal. Partial keys leave them out: they
 *     "a7"      6 1 3 7    1 7        have the nibbles at positions 1 and 3.
 *     "c0"      6 3 3 0    3 0
 */

/* Entry i of level 0 is the string with id i. A *page* has `page_keys` neighbouring entries of a level. A level's last
 * page may have fewer. The next level has the first entry of each page. So each entry of each level is a string: entry
 * i of a level is the string with id i * stride. The last level is one page.
 *
 * The strings *below* a page begin at its first entry, and end before the next page's first entry. A page leaves out
 * nibbles that are equal in all strings below it. A search for one of these strings does not need these nibbles,
 * because they do not change the order.
 *
 * A page begins with the positions of its nibbles, in ascending order. The partial keys of its entries follow. */
#define PARTIAL_LEVELS_MAX    16
#define PARTIAL_PAGE_MIN      4
#define PARTIAL_PAGE_MAX      65536
#define PARTIAL_KEY_BYTES_MAX 128

/* A page may need fewer nibbles than it has room for. The other positions are then PARTIAL_NONE. It is the position of
 * a nibble that is 0 in all strings. */
#define PARTIAL_NONE 0xffffffffu

/* A page takes its nibbles from PARTIAL_REACH neighbouring bytes of its strings. The first 8 of these bytes contain the
 * first difference between strings below the page. Must be a multiple of 8. */
#define PARTIAL_REACH 256u

/* Values of ordo_string_prefix. */
#define PARTIAL_NONCONTIGUOUS 0
#define PARTIAL_CONTIGUOUS    1
#define PARTIAL_WHOLE         2

/* Pages begin at word `pages` of the index. With PARTIAL_WHOLE, partial keys are the first bytes of the strings, and
 * pages do not store positions of nibbles. */
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
 *  apart    a bitmap with a bit per bit of the strings: 1 if two of these strings differ there. Each 64-bit word is for
 *           8 bytes of the strings. Word 0 is for the bytes from byte PARTIAL_FROM(inside) on. Word 1 is for the next 8
 *           bytes. After the last position that a page can use, words have no value. */
typedef struct {
    ordo_u32 inside, across, longest, unused;
    ordo_u64 apart[PARTIAL_REACH / 8];
} partial_draft;

#define PARTIAL_FROM(inside) ((inside) == STRING_EQUAL ? 0 : (inside) >> 4 & ~7u)
#define PARTIAL_LONGEST_MAX  (STRING_SHARED_MAX + PARTIAL_REACH)
