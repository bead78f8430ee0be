/* SPDX-License-Identifier: Apache-2.0 */
/* The Roaring portable format for sets of 32-bit keys, and its extension to 64 bits. Words are little-endian and
 * unaligned.
 *
 *     64 bits   number of bitmaps: 8 bytes | upper half of keys: 4 | bitmap | greater upper half: 4 | bitmap | ...
 *     bitmap    cookie | runs | descriptors | offsets | containers
 *
 *     cookie       4 bytes: 12346, then 4: the number of containers; or 12347, and above it the number less 1
 *     runs         after 12347: a bit for each container that has runs; whole bytes
 *     descriptors  for each container 2 bytes: the upper half of its keys, ascending, and 2: its keys less 1
 *     offsets      for each container 4 bytes: its distance from the cookie; absent after 12347 with fewer than 4
 *                  containers
 *     containers   the lower halves of keys, in one of three forms
 *                    array    up to 4096 keys: each, ascending, 2 bytes
 *                    bitmap   more than 4096: 65536 bits
 *                    runs     2 bytes: the number of runs; for each the first key, 2 bytes, and the keys after it, 2
 *                             bytes
 *
 * Nothing comes between containers or after the last. Runs may touch but not overlap. */
#pragma once
#include "shared/types.h"

#define ROARING_PLAIN        12346u
#define ROARING_WITH_RUNS    12347u
#define ROARING_OFFSETS_FROM 4     /* minimum containers of a bitmap with runs for offsets */
#define ROARING_CONTAINERS   65536 /* maximum of a bitmap */
#define ROARING_ARRAY_MAX    4096
#define ROARING_BITMAP_WORDS 4096 /* of 2 bytes */

enum roaring_form { ROARING_ARRAY, ROARING_BITMAP, ROARING_RUNS };

/* A bitmap of 32-bit keys in the bytes of a set. */
typedef struct {
    ordo_u64 begin, end; /* bytes before its cookie, and before its end */
    ordo_u32 high;       /* upper half of its keys */
    ordo_u32 first;      /* containers of earlier bitmaps */
    ordo_u32 containers;
    ordo_u32 with_runs;
} roaring_part;

/* A container: `units` keys, words or runs from byte `begin` on. */
typedef struct {
    ordo_u64 key;   /* the bits of its keys above the lower 16 */
    ordo_u64 begin; /* after the number of runs */
    ordo_u32 form, count, units, unused;
} roaring_container;

/* Units that a work-item checks. */
#define ROARING_SLICE 64

/* Successive keys that a work-item of roaring_keys writes. */
#define ROARING_SHARE(cpu) ((cpu) ? 256 : 8)

/* The least bitmap or container with each fault, or all ones. */
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

/* 64-bit words: bytes passed, containers found, upper half of the last bitmap. */
enum roaring_walk { ROARING_AT, ROARING_FOUND, ROARING_HIGH, ROARING_WALK_WORDS };
