/* SPDX-License-Identifier: Apache-2.0 */
/* The Roaring portable format: sets of 32-bit keys, and its extension to 64 bits. All words are little-endian, and may begin at any
 * byte.
 *
 *     64 bits   | number of bitmaps: 8 bytes | upper half of keys: 4 | bitmap | upper half: 4 | bitmap | ...      upper halves ascend
 *     bitmap    | cookie | runs | descriptors | offsets | containers |
 *
 *     cookie       4 bytes: 12346, then 4: the number of containers; or 12347, and above it the number less 1
 *     runs         after 12347: a bit for each container, whether it has runs; whole bytes
 *     descriptors  of each container 2 bytes: the upper half of its keys, ascending, and 2: how many it has, less 1
 *     offsets      of each 4 bytes: where it begins, from the cookie on; left out after 12347 of fewer than 4 containers
 *     containers   one after another, of the lower halves of keys
 *                    array    up to 4096 keys: each, ascending, 2 bytes
 *                    bitmap   more than 4096: 65536 bits
 *                    runs     2 bytes: how many; of each the first key, 2 bytes, and how many follow it, 2 bytes
 *
 * What is read must be just that: containers without a gap, nothing behind the last one. Runs may touch, but not overlap. */
#pragma once
#include "shared/types.h"

#define ROARING_PLAIN        12346u
#define ROARING_WITH_RUNS    12347u
#define ROARING_OFFSETS_FROM 4     /* containers, of a bitmap with runs */
#define ROARING_CONTAINERS   65536 /* of a bitmap, at most */
#define ROARING_ARRAY_MAX    4096
#define ROARING_BITMAP_WORDS 4096 /* of 2 bytes */

/* Forms of containers. */
enum roaring_form { ROARING_ARRAY, ROARING_BITMAP, ROARING_RUNS };

/* A bitmap of 32-bit keys in the bytes that are read. */
typedef struct {
    ordo_u64 begin, end; /* of its cookie, of all */
    ordo_u32 high;       /* half of its keys */
    ordo_u32 first;      /* containers of the bitmaps before it */
    ordo_u32 containers;
    ordo_u32 with_runs;
} roaring_part;

/* A container: `units` keys, words or runs from byte `begin` on. */
typedef struct {
    ordo_u64 key;   /* what its keys have above 16 bits */
    ordo_u64 begin; /* behind the number of runs */
    ordo_u32 form, count, units, unused;
} roaring_container;

/* Units that are looked at together. */
#define ROARING_SLICE 64

/* Keys that a work-item of roaring_keys writes one after another. */
#define ROARING_SHARE(cpu) ((cpu) ? 256 : 8)

/* What is wrong, each a word of what a read finds: the least bitmap or container of which it is, or all ones. */
#define ROARING_FAULTS(X)                                                                                              \
    X(CUT, "bitmap", "ends beyond the bytes that there are")                                                           \
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

/* Where the walk along bitmaps stands, in words of 64 bits. */
enum roaring_walk { ROARING_AT, ROARING_FOUND, ROARING_HIGH, ROARING_WALK_WORDS };
