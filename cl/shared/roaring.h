/* SPDX-License-Identifier: Apache-2.0 */
/* The Roaring portable format, a file format for sets of 32-bit keys, and its 64-bit extension. Integers are
 * little-endian and unaligned. */

/* A *container* has the keys with the same upper half. A set of 32-bit keys is stored as a *Roaring bitmap* with
 * these fields:
 *
 *     cookie       without run flags: 12346 (4 bytes), number of containers (4 bytes)
 *                  with run flags: 12347 (2 bytes), number of containers minus 1 (2 bytes)
 *     run flags    one bit per container: 1 if its form is `runs`. Absent if all bits would be 0
 *     descriptors  per container: upper half of its keys (2 bytes), number of its keys minus 1 (2 bytes)
 *     offsets      per container: its distance from the cookie in bytes (4 bytes). Absent if there are run flags and
 *                  fewer than 4 containers
 *     containers   lower halves of keys, in one of three forms
 *                    array    up to 4096 ascending keys of 2 bytes
 *                    bits     65536 bits, for more than 4096 keys (ROARING_BITMAP)
 *                    runs     2 bytes: number of runs. Then per run its first key, and the number of keys that follow.
 *                             Runs do not overlap
 *
 * A set of 64-bit keys begins with the number of its Roaring bitmaps (8 bytes). They follow in ascending order.
 * Before each is the upper half of its keys (4 bytes). */
#pragma once
#include "shared/types.h"

#define ROARING_PLAIN        12346u
#define ROARING_WITH_RUNS    12347u
#define ROARING_OFFSETS_FROM 4
#define ROARING_CONTAINERS   65536
#define ROARING_ARRAY_MAX    4096
#define ROARING_BITMAP_WORDS 4096

enum roaring_form { ROARING_ARRAY, ROARING_BITMAP, ROARING_RUNS };

/* A bitmap of a set of 64-bit keys. */
typedef struct {
    ordo_u64 begin, end; /* Byte offsets of the bitmap's first byte, and of the byte after its last one. */
    ordo_u32 high;
    ordo_u32 first; /* Number of containers in all earlier bitmaps. */
    ordo_u32 containers;
    ordo_u32 with_runs;
} roaring_part;

/* A container. `begin` is its byte offset. `units` counts its keys, bitmap words or runs, as `form` says. */
typedef struct {
    ordo_u64 key; /* Upper bits of the keys. The lower 16 bits are 0. */
    ordo_u64 begin;
    ordo_u32 form, count, units, unused;
} roaring_container;

/* A container that is to be written. `first` is the rank of its first key, `runs` the number of runs in earlier
 * containers. */
typedef struct {
    ordo_u64 key; /* Upper bits of the keys. The lower 16 bits are 0. */
    ordo_u32 first, runs;
} roaring_head;

#define ROARING_SLICE 64

/* Slices per work-item. */
#define ROARING_SHARE(cpu) ((cpu) ? 64 : 1)

#define ROARING_BLOCKS 64 /* A container has 64 blocks of 1024 successive integers, one slice of a bitmap each. */

/* A leaf of the trie that a set becomes: the rank of its first key, and the index of this key's container. */
typedef struct {
    ordo_u32 rank, container;
} roaring_start;

/* Errors of a stored set, with messages. For each, kernels report the first wrong bitmap or container, or
 * 0xffffffff. */
#define ROARING_FAULTS(X)                                                                                              \
    X(CUT, "bitmap", "ends after the end of the bytes")                                                                \
    X(COOKIE, "bitmap", "begins with no cookie of the format")                                                         \
    X(MANY, "bitmap", "has more than 65536 containers")                                                                \
    X(HIGH, "bitmap", "has an upper half of keys that is not greater than that of the one before")                     \
    X(LEFT, "bitmap", "is the last, and bytes are left over behind it")                                                \
    X(KEY, "container", "has an upper half of keys that is not greater than that of the one before")                   \
    X(PLACE, "container", "does not begin where the one before it ends, or its end is not where the next one begins")  \
    X(ORDER, "container", "has keys or runs that do not ascend, or overlap, or end above 65535")                       \
    X(COUNT, "container", "does not have as many keys as its descriptor says")
enum roaring_fault {
#define X(id, of, text) ROARING_FAULT_##id,
    ROARING_FAULTS(X)
#undef X
        ROARING_FAULT_WORDS
};

/* Results of the kernel that finds containers. ROARING_AT counts the bytes read. ROARING_HIGH is the upper 32 bits of
 * the keys in the last bitmap. */
enum roaring_walk { ROARING_AT, ROARING_FOUND, ROARING_HIGH, ROARING_WALK_WORDS };
