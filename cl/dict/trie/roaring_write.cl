/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes sorted distinct u32 or u64 keys in the Roaring portable format (shared/roaring.h). Each container gets the
 * smallest form; if an array and runs have the same size, it gets runs. All prefix sums are exclusive. */
#pragma once
#include "dict/each.cl"
#include "shared/key.h"
#include "shared/roaring.h"

/* Built together: roaring_heads roaring_starts roaring_shapes roaring_parts roaring_header roaring_fill */

ORDO_FN uint roaring_high(ordo_key key)
{
    return (uint) ((ulong) key >> 32);
}

/* ---- containers and bitmaps -------------------------------------------------------------------------------------- */

ORDO_KERNEL(RUN_GROUP)
void roaring_heads(__global const ordo_key *keys, uint n, __global uint *heads, __global uint *runs)
{
    RUN_EACH (uint, m, n + 1) {
        const ordo_key key = m < n ? keys[m] : 0, last = m > 0 ? keys[m - 1] : 0;
        const bool     head = m == 0 || key >> 16 != last >> 16;
        heads[m] = m < n && head;
        runs[m] = m < n && (head || key != last + 1);
    }
}

/* starts[c] becomes the index of container c's first key, run_starts[r] the index of run r's first key. Both lists end
 * with n. `heads` and `runs` must hold the prefix sums of roaring_heads' flags. */
ORDO_KERNEL(RUN_GROUP)
void roaring_starts(__global const uint *heads, __global const uint *runs, uint n, __global uint *starts,
                    __global uint *run_starts)
{
    RUN_EACH (uint, m, n + 1) {
        if (m == n || heads[m + 1] != heads[m])
            starts[heads[m]] = m;
        if (m == n || runs[m + 1] != runs[m])
            run_starts[runs[m]] = m;
    }
}

/* Chooses the form of each container c:
 *
 *   sizes[c]      its size in bytes
 *   has_runs[c]   1 if it is a list of runs
 *   firsts[c]     1 if it is the first container of a bitmap */
ORDO_KERNEL(RUN_GROUP)
void roaring_shapes(__global const ordo_key *keys, __global const uint *runs, __global const uint *starts,
                    uint n_containers, __global ulong *sizes, __global uint *has_runs, __global uint *firsts)
{
    RUN_EACH (uint, c, n_containers + 1) {
        ulong size = 0;
        bool  shorter = false, first = false;
        if (c < n_containers) {
            const uint count = starts[c + 1] - starts[c], its_runs = runs[starts[c + 1]] - runs[starts[c]];
            size = count <= ROARING_ARRAY_MAX ? 2 * count : 2 * ROARING_BITMAP_WORDS;
            shorter = 2 + 4 * (ulong) its_runs < size + (count <= ROARING_ARRAY_MAX);
            size = shorter ? 2 + 4 * (ulong) its_runs : size;
            first = c == 0 || roaring_high(keys[starts[c]]) != roaring_high(keys[starts[c] - 1]);
        }
        sizes[c] = size;
        has_runs[c] = shorter;
        firsts[c] = first;
    }
}

/* `sizes`, `has_runs` and `firsts` must hold prefix sums of roaring_shapes' results. */
#define ROARING_SUMS                                                                                                   \
    __global const uint *starts, __global const ulong *sizes, __global const uint *has_runs,                           \
        __global const uint *firsts, uint n_containers, uint wide
#define ROARING_SUMS_HERE                                                                                              \
    {                                                                                                                  \
        starts, sizes, has_runs, firsts, n_containers, wide                                                            \
    }
typedef struct {
    __global const uint  *starts;
    __global const ulong *sizes;
    __global const uint  *has_runs;
    __global const uint  *firsts;
    uint                  n_containers, wide;
} roaring_sums;

ORDO_FN bool roaring_with_runs(const roaring_sums *s, uint from, uint end)
{
    return s->has_runs[end] != s->has_runs[from];
}

ORDO_FN ulong roaring_header_bytes(const roaring_sums *s, uint from, uint end)
{
    const uint n = end - from;
    if (!roaring_with_runs(s, from, end))
        return 8 + 8 * (ulong) n;
    return 4 + (n + 7) / 8 + (n < ROARING_OFFSETS_FROM ? 4 : 8) * (ulong) n;
}

/* The first launch (`lists` is 1) writes the index of each bitmap's first container. The second launch writes the size
 * of each bitmap's header. */
ORDO_KERNEL(RUN_GROUP)
void roaring_parts(ROARING_SUMS, uint lists, __global uint *part_starts, __global ulong *header_bytes)
{
    const roaring_sums s = ROARING_SUMS_HERE;
    RUN_EACH (uint, c, n_containers + 1) {
        if (lists) {
            if (c == n_containers || firsts[c + 1] != firsts[c])
                part_starts[firsts[c]] = c;
        } else {
            const bool there = c < firsts[n_containers];
            header_bytes[c] = there ? (wide ? 4 : 0) + roaring_header_bytes(&s, part_starts[c], part_starts[c + 1]) : 0;
        }
    }
}

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

ORDO_FN void roaring_put_16(__global uchar *bytes, ulong at, uint word)
{
    bytes[at] = (uchar) word;
    bytes[at + 1] = (uchar) (word >> 8);
}

ORDO_FN void roaring_put_32(__global uchar *bytes, ulong at, uint word)
{
    roaring_put_16(bytes, at, word);
    roaring_put_16(bytes, at + 2, word >> 16);
}

/* Returns the byte offset of bitmap p. header_bytes[p] must be the total size of the headers of bitmaps 0 to p - 1. */
ORDO_FN ulong roaring_part_at(const roaring_sums *s, __global const uint *part_starts,
                              __global const ulong *header_bytes, uint p)
{
    return (s->wide ? 8 : 0) + header_bytes[p] + s->sizes[part_starts[p]];
}

ORDO_FN ulong roaring_container_at(const roaring_sums *s, __global const ulong *header_bytes, uint p, uint c)
{
    return (s->wide ? 8 : 0) + header_bytes[p + 1] + s->sizes[c];
}

ORDO_FN uint roaring_run_bits(const roaring_sums *s, uint c, uint end)
{
    uint bits = 0;
    for (uint k = 0; k < 8 && c + k < end; k++)
        bits |= (s->has_runs[c + k + 1] - s->has_runs[c + k]) << k;
    return bits;
}

ORDO_KERNEL(RUN_GROUP)
void roaring_header(ROARING_SUMS, __global const ordo_key *keys, __global const uint *part_starts,
                    __global const ulong *header_bytes, __global uchar *out, ulong out_at)
{
    const roaring_sums s = ROARING_SUMS_HERE;
    __global uchar    *bytes = out + out_at;
    RUN_EACH (uint, c, n_containers) {
        const uint p = firsts[c + 1] - 1, from = part_starts[p], end = part_starts[p + 1], n = end - from, i = c - from;
        const bool with_runs = roaring_with_runs(&s, from, end);
        const ulong at = roaring_part_at(&s, part_starts, header_bytes, p), cookie = at + (wide ? 4 : 0);
        const ulong descriptors = cookie + (with_runs ? 4 + (n + 7) / 8 : 8);
        if (c == 0 && wide) {
            roaring_put_32(bytes, 0, firsts[n_containers]);
            roaring_put_32(bytes, 4, 0);
        }
        if (i == 0) {
            if (wide)
                roaring_put_32(bytes, at, roaring_high(keys[starts[c]]));
            roaring_put_32(bytes, cookie, with_runs ? ROARING_WITH_RUNS | (n - 1) << 16 : ROARING_PLAIN);
            if (!with_runs)
                roaring_put_32(bytes, cookie + 4, n);
        }
        if (with_runs && i % 8 == 0)
            bytes[cookie + 4 + i / 8] = (uchar) roaring_run_bits(&s, c, end);
        roaring_put_16(bytes, descriptors + 4 * (ulong) i, (uint) (keys[starts[c]] >> 16) & 0xffff);
        roaring_put_16(bytes, descriptors + 4 * (ulong) i + 2, starts[c + 1] - starts[c] - 1);
        if (!with_runs || n >= ROARING_OFFSETS_FROM)
            roaring_put_32(bytes, descriptors + 4 * ((ulong) n + i),
                           (uint) (roaring_container_at(&s, header_bytes, p, c) - cookie));
    }
}

ORDO_FN void roaring_fill_word(__global const ordo_key *keys, uint begin, uint end, uint m, __global uchar *words)
{
    const uint word = (uint) (keys[m] & 0xffff) / 16, before = m > begin ? (uint) (keys[m - 1] & 0xffff) / 16 : 0;
    if (m == end - 1)
        for (uint w = word + 1; w < ROARING_BITMAP_WORDS; w++)
            roaring_put_16(words, 2 * (ulong) w, 0);
    if (m > begin && before == word)
        return;
    for (uint w = m > begin ? before + 1 : 0; w < word; w++)
        roaring_put_16(words, 2 * (ulong) w, 0);
    uint bits = 0;
    for (uint e = m; e < end && (uint) (keys[e] & 0xffff) / 16 == word; e++)
        bits |= 1u << (uint) (keys[e] & 15);
    roaring_put_16(words, 2 * (ulong) word, bits);
}

ORDO_FN void roaring_fill_run(__global const ordo_key *keys, __global const uint *runs, __global const uint *run_starts,
                              uint begin, uint end, uint m, __global uchar *bytes)
{
    const uint r = runs[m];
    if (m == begin)
        roaring_put_16(bytes, 0, runs[end] - r);
    const ulong at = 2 + 4 * (ulong) (r - runs[begin]);
    roaring_put_16(bytes, at, (uint) (keys[m] & 0xffff));
    roaring_put_16(bytes, at + 2, run_starts[r + 1] - m - 1);
}

/* `heads` and `runs` must hold the prefix sums of roaring_heads' flags. */
ORDO_KERNEL(RUN_GROUP)
void roaring_fill(ROARING_SUMS, __global const ordo_key *keys, __global const uint *heads, __global const uint *runs,
                  __global const uint *run_starts, uint n, __global const ulong *header_bytes, __global uchar *out,
                  ulong out_at)
{
    const roaring_sums s = ROARING_SUMS_HERE;
    RUN_EACH (uint, m, n) {
        const uint      c = heads[m + 1] - 1, begin = starts[c], end = starts[c + 1];
        __global uchar *bytes = out + out_at + roaring_container_at(&s, header_bytes, firsts[c + 1] - 1, c);
        if (has_runs[c + 1] != has_runs[c]) {
            if (runs[m + 1] != runs[m])
                roaring_fill_run(keys, runs, run_starts, begin, end, m, bytes);
        } else if (end - begin > ROARING_ARRAY_MAX) {
            roaring_fill_word(keys, begin, end, m, bytes);
        } else {
            roaring_put_16(bytes, 2 * (ulong) (m - begin), (uint) (keys[m] & 0xffff));
        }
    }
}
