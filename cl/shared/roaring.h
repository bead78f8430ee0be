/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the Roaring portable format for sets of 32-bit keys, and its extension to 64 bits. Words are little-endian
 * and unaligned.
 *
 *     64 bits   number of bitmaps: 8 bytes | upper half of keys: 4 | bitmap | greater upper half: 4 | bitmap | ...
 *     bitmap    cookie | runs | descriptors | offsets | containers
 *
 *     cookie       a 4-byte word: 12346; then a word: the number of containers. Or one word: its lower half is 12347,
 *                  its upper half the number of containers less 1
 *     runs         only after 12347: whole bytes with a bit for each container, 1 if its form is "runs"
 *     descriptors  4 bytes per container: the upper half of its keys (ascending), and their number less 1
 *     offsets      4 bytes per container: its distance from the cookie. Absent after 12347 if there are fewer than 4
 *                  containers
 *     containers   the lower halves of keys, in one of three forms
 *                    array    up to 4096 ascending keys of 2 bytes
 *                    bitmap   65536 bits, for more than 4096 keys
 *                    runs     in words of 2 bytes: the number of runs; then each run's first key, and the number of
 *                             keys after it
 *
 * Nothing comes between containers or after the last. Runs may touch but not overlap. */
#pragma once
#include "shared/types.h"

#define ROARING_PLAIN        12346u
#define ROARING_WITH_RUNS    12347u
#define ROARING_OFFSETS_FROM 4     /* minimum containers for which a bitmap with runs has offsets */
#define ROARING_CONTAINERS   65536 /* maximum per bitmap */
#define ROARING_ARRAY_MAX    4096
#define ROARING_BITMAP_WORDS 4096 /* words of 2 bytes */

enum roaring_form { ROARING_ARRAY, ROARING_BITMAP, ROARING_RUNS };

/* A bitmap of 32-bit keys in the bytes of a set. */
typedef struct {
    ordo_u64 begin, end; /* byte offsets of its cookie and of its end */
    ordo_u32 high;
    ordo_u32 first; /* number of containers in earlier bitmaps */
    ordo_u32 containers;
    ordo_u32 with_runs;
} roaring_part;

/* A container has `units` keys, words or runs (by its form), from byte `begin` on. */
typedef struct {
    ordo_u64 key;   /* the upper bits of its keys; the lower 16 are 0 */
    ordo_u64 begin; /* if it has runs: after their number */
    ordo_u32 form, count, units, unused;
} roaring_container;

#define ROARING_SLICE 64

#define ROARING_SHARE(cpu) ((cpu) ? 256 : 8)

/* Faults. For each, the kernels report the least bitmap or container that has it, or all ones. */
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

/* The 64-bit words that roaring_walk keeps: bytes passed, containers found, and `high` of the last bitmap. */
enum roaring_walk { ROARING_AT, ROARING_FOUND, ROARING_HIGH, ROARING_WALK_WORDS };
