/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes the u32 or u64 keys of a HAMT in the Roaring portable format (shared/roaring.h), without a list of the keys.
 * Each container gets the smallest form; if an array and runs have the same size, it gets runs. All prefix sums are
 * exclusive. `leaf_max` is the largest number of keys in a leaf without a bitmap. */
#pragma once
#include "dict/each.cl"
#include "dict/trie/hamt.cl"
#include "shared/key.h"
#include "shared/roaring.h"

/* Built together: roaring_leaves roaring_shapes roaring_parts roaring_header roaring_fill */

ORDO_FN uint roaring_high(ulong key)
{
    return (uint) (key >> 32);
}

/* ---- leaves ------------------------------------------------------------------------------------------------------ */

ORDO_FN __global const uint *roaring_words(const hamt_node *node)
{
    return (__global const uint *) node->block;
}

/* Returns key number `position` of a leaf without a bitmap. */
ORDO_FN ordo_key_form roaring_key(const hamt_node *node, uint position)
{
    return node->record.place & HAMT_WIDE ? ((__global const ordo_key_form *) node->block)[position]
                                          : node->record.first + ((__global const ushort *) node->block)[position];
}

ORDO_FN ordo_key_form roaring_last(const hamt_node *node, uint leaf_max)
{
    if (node->count <= leaf_max)
        return roaring_key(node, node->count - 1);
    uint word = HAMT_WORDS - 1;
    while (word > 0 && roaring_words(node)[word] == 0)
        word--;
    return node->record.first + word * 32 + 31 - clz(roaring_words(node)[word]);
}

/* Counts the runs that begin in a bitmap. `carry` is 1 if the key before the bitmap is in the same run as bit 0. */
ORDO_FN uint roaring_runs(__global const uint *words, uint carry)
{
    uint runs = 0;
    for (uint w = 0; w < HAMT_WORDS; w++) {
        runs += popcount(words[w] & ~(words[w] << 1 | carry));
        carry = words[w] >> 31;
    }
    return runs;
}

ORDO_FN void roaring_put_head(__global roaring_head *heads, ulong sum, ordo_key_form key, uint rank)
{
    const roaring_head head = { (ulong) key >> 16 << 16, rank, (uint) sum };
    heads[sum >> 32] = head;
}

#define ROARING_HEAD ((ulong) 1 << 32)

/* A leaf, and the last key of the leaf before it. `any` is false if there is none. */
typedef struct {
    hamt_node     node;
    ordo_key_form before;
    bool          any;
} roaring_leaf;

ORDO_FN ulong roaring_begins(bool any, ordo_key_form before, ordo_key_form key)
{
    const bool head = !any || before >> 16 != key >> 16;
    return (head ? ROARING_HEAD : 0) + (head || before + 1 != key);
}

/* Returns the number of containers (upper half) and runs that begin at keys number 1 to count - 1 of a leaf without a
 * bitmap. A constant `whole` lets compilers use vectors. */
ORDO_FN ulong roaring_count_list(const hamt_node *node, bool whole)
{
    __global const ordo_key_form *keys = (__global const ordo_key_form *) node->block;
    __global const ushort        *shorts = (__global const ushort *) node->block;
    const ordo_key_form           first = whole ? 0 : node->record.first;
    uint                          heads = 0, runs = 0;
    for (uint e = 1; e < node->count; e++) {
        const ordo_key_form key = first + (whole ? keys[e] : shorts[e]);
        const ordo_key_form before = first + (whole ? keys[e - 1] : shorts[e - 1]);
        const uint          head = before >> 16 != key >> 16;
        heads += head;
        runs += head | (before + 1 != key);
    }
    return heads * ROARING_HEAD + runs;
}

/* Returns the number of containers (upper half) and of runs that begin in the leaf. */
ORDO_FN ulong roaring_count(const roaring_leaf *leaf, uint leaf_max)
{
    const hamt_node *node = &leaf->node;
    if (node->count > leaf_max) {
        const ulong first = roaring_begins(leaf->any, leaf->before, node->record.first);
        return (first & ~(ulong) 1) + roaring_runs(roaring_words(node), first == 0);
    }
    return roaring_begins(leaf->any, leaf->before, roaring_key(node, 0)) +
           (node->record.place & HAMT_WIDE ? roaring_count_list(node, true) : roaring_count_list(node, false));
}

/* `sum` is the sum of the results of roaring_count for all earlier leaves. */
ORDO_FN void roaring_list(const roaring_leaf *leaf, uint leaf_max, ulong sum, __global roaring_head *heads)
{
    const hamt_node *node = &leaf->node;
    ordo_key_form    before = leaf->before;
    if (node->count > leaf_max) {
        if (roaring_begins(leaf->any, before, node->record.first) >> 32)
            roaring_put_head(heads, sum, node->record.first, node->record.before);
        return;
    }
    for (uint e = 0; e < node->count; e++) {
        const ordo_key_form key = roaring_key(node, e);
        const ulong         begins = roaring_begins(leaf->any || e > 0, before, key);
        if (begins >> 32)
            roaring_put_head(heads, sum, key, node->record.before + e);
        sum += begins;
        before = key;
    }
}

/* The first launch (`heads` is NULL) counts containers and runs that begin in each leaf. The second launch, with the
 * prefix sums of these counts, lists the containers. The list ends with the numbers of all keys and runs. */
ORDO_KERNEL(RUN_GROUP)
void roaring_leaves(HAMT_TRIE, uint leaf_max, __global ulong *sums, __global roaring_head *heads)
{
    const hamt_trie t = HAMT_TRIE_HERE;
    RUN_EACH (uint, i, t.n_leaves + 1) {
        if (i == t.n_leaves) {
            if (heads)
                roaring_put_head(heads, sums[i], 0, t.n);
            else
                sums[i] = 0;
            continue;
        }
        roaring_leaf leaf = { .node = hamt_load(&t, i), .any = i > 0 };
        if (leaf.any) {
            const hamt_node earlier = hamt_load(&t, i - 1);
            leaf.before = roaring_last(&earlier, leaf_max);
        }
        if (heads)
            roaring_list(&leaf, leaf_max, sums[i], heads);
        else
            sums[i] = roaring_count(&leaf, leaf_max);
    }
}

/* ---- containers and bitmaps -------------------------------------------------------------------------------------- */

/* Chooses the form of each container c:
 *
 *   sizes[c]      its size in bytes
 *   has_runs[c]   1 if it is a list of runs
 *   firsts[c]     1 if it is the first container of a bitmap */
ORDO_KERNEL(RUN_GROUP)
void roaring_shapes(__global const roaring_head *heads, uint n_containers, __global ulong *sizes,
                    __global uint *has_runs, __global uint *firsts)
{
    RUN_EACH (uint, c, n_containers + 1) {
        ulong size = 0;
        bool  shorter = false, first = false;
        if (c < n_containers) {
            const uint count = heads[c + 1].first - heads[c].first, its_runs = heads[c + 1].runs - heads[c].runs;
            size = count <= ROARING_ARRAY_MAX ? 2 * count : 2 * ROARING_BITMAP_WORDS;
            shorter = 2 + 4 * (ulong) its_runs < size + (count <= ROARING_ARRAY_MAX);
            size = shorter ? 2 + 4 * (ulong) its_runs : size;
            first = c == 0 || roaring_high(heads[c].key) != roaring_high(heads[c - 1].key);
        }
        sizes[c] = size;
        has_runs[c] = shorter;
        firsts[c] = first;
    }
}

/* `sizes`, `has_runs` and `firsts` must hold prefix sums of roaring_shapes' results. */
#define ROARING_SUMS                                                                                                   \
    __global const roaring_head *heads, __global const ulong *sizes, __global const uint *has_runs,                    \
        __global const uint *firsts, uint n_containers, uint wide
#define ROARING_SUMS_HERE                                                                                              \
    {                                                                                                                  \
        heads, sizes, has_runs, firsts, n_containers, wide                                                             \
    }
typedef struct {
    __global const roaring_head *heads;
    __global const ulong        *sizes;
    __global const uint         *has_runs;
    __global const uint         *firsts;
    uint                         n_containers, wide;
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
    const uchar4 four = { (uchar) word, (uchar) (word >> 8), (uchar) (word >> 16), (uchar) (word >> 24) };
    vstore4(four, 0, bytes + at);
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
void roaring_header(ROARING_SUMS, __global const uint *part_starts, __global const ulong *header_bytes,
                    __global uchar *out, ulong out_at)
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
                roaring_put_32(bytes, at, roaring_high(heads[c].key));
            roaring_put_32(bytes, cookie, with_runs ? ROARING_WITH_RUNS | (n - 1) << 16 : ROARING_PLAIN);
            if (!with_runs)
                roaring_put_32(bytes, cookie + 4, n);
        }
        if (with_runs && i % 8 == 0)
            bytes[cookie + 4 + i / 8] = (uchar) roaring_run_bits(&s, c, end);
        roaring_put_16(bytes, descriptors + 4 * (ulong) i, (uint) (heads[c].key >> 16) & 0xffff);
        roaring_put_16(bytes, descriptors + 4 * (ulong) i + 2, heads[c + 1].first - heads[c].first - 1);
        if (!with_runs || n >= ROARING_OFFSETS_FROM)
            roaring_put_32(bytes, descriptors + 4 * ((ulong) n + i),
                           (uint) (roaring_container_at(&s, header_bytes, p, c) - cookie));
    }
}

/* Keys number `begin` to `end` - 1 of a leaf are in container `c`. `runs` is the number of runs that begin before
 * them. */
typedef struct {
    const hamt_trie *trie;
    uint             leaf_max, leaf;
    hamt_node        node;
    uint             begin, end;
    uint             c, runs;
    uint             first, stop; /* Ranks of the first key of the container, and of the next one. */
    bool             is_bitmap;
    __global uchar  *bytes;
} roaring_piece;

/* Returns the position of the first bit from `from` on that equals `bit`, or 1024. */
ORDO_FN uint roaring_next_bit(__global const uint *words, uint from, bool bit)
{
    const uint flip = bit ? 0 : 0xffffffff;
    for (uint w = from / 32, mask = 0xffffffff << from % 32; w < HAMT_WORDS; w++, mask = 0xffffffff) {
        const uint bits = (words[w] ^ flip) & mask;
        if (bits)
            return w * 32 + 31 - clz(bits & (0 - bits));
    }
    return 1u << HAMT_BITS;
}

/* Returns how many keys from `next` on follow each other in the leaf that begins at or before `next`. */
ORDO_FN uint roaring_follow(const hamt_node *node, uint leaf_max, ordo_key_form next)
{
    uint e = 0;
    if (node->count > leaf_max)
        return node->record.first == next ? roaring_next_bit(roaring_words(node), 0, false) : 0;
    while (e < node->count && roaring_key(node, e) == next + e)
        e++;
    return e;
}

/* Returns the number of keys of the run of `key`, which is the last key of its leaf, in later leaves. */
ORDO_FN uint roaring_beyond(const roaring_piece *p, ordo_key_form key)
{
    uint keys = 0, leaf = p->leaf + 1;
    while (p->trie->leaves[leaf].before < p->stop) {
        const hamt_node node = hamt_load(p->trie, leaf++);
        const uint      more = roaring_follow(&node, p->leaf_max, key + 1 + keys);
        keys += more;
        if (more < node.count)
            break;
    }
    return min(keys, 0xffff - (uint) (key & 0xffff));
}

ORDO_FN void roaring_put_run(roaring_piece *p, uint first_run, ordo_key_form key, uint more)
{
    const ulong at = 2 + 4 * (ulong) (p->runs++ - first_run);
    roaring_put_16(p->bytes, at, (uint) (key & 0xffff));
    roaring_put_16(p->bytes, at + 2, more);
}

ORDO_FN void roaring_runs_of_bitmap(roaring_piece *p, uint first_run, bool goes_on)
{
    __global const uint *words = roaring_words(&p->node);
    const ordo_key_form  first = p->node.record.first;
    const uint           all = 1u << HAMT_BITS;
    uint                 at = roaring_next_bit(words, 0, true);
    if (goes_on && at == 0)
        at = roaring_next_bit(words, roaring_next_bit(words, 0, false), true);
    while (at < all) {
        const uint end = roaring_next_bit(words, at, false);
        const uint more = end - at - 1 + (end == all ? roaring_beyond(p, first + (all - 1)) : 0);
        roaring_put_run(p, first_run, first + at, more);
        at = roaring_next_bit(words, end, true);
    }
}

ORDO_FN void roaring_runs_of_list(roaring_piece *p, uint first_run, bool goes_on, ordo_key_form before)
{
    uint e = p->begin;
    while (e < p->end) {
        const ordo_key_form key = roaring_key(&p->node, e);
        const bool          begins = !goes_on || e > p->begin || key != before + 1;
        uint                more = 0;
        while (more < p->end - e - 1 && roaring_key(&p->node, e + more + 1) == key + more + 1)
            more++;
        e += more + 1;
        if (begins)
            roaring_put_run(p, first_run, key, more + (e == p->node.count ? roaring_beyond(p, key + more) : 0));
    }
}

ORDO_FN void roaring_fill_runs(roaring_piece *p, uint first_run, uint n_runs)
{
    const hamt_node     earlier = hamt_load(p->trie, max(p->leaf, 1u) - 1);
    const ordo_key_form before = roaring_last(&earlier, p->leaf_max);
    const bool          begins = p->node.record.before + p->begin == p->first;
    if (begins)
        roaring_put_16(p->bytes, 0, n_runs);
    if (p->is_bitmap)
        roaring_runs_of_bitmap(p, first_run, !begins && before + 1 == p->node.record.first);
    else
        roaring_runs_of_list(p, first_run, !begins, before);
}

/* Writes the words between the end of the earlier leaf of the container and the begin of the next leaf. Both are
 * multiples of 1024 bits. */
ORDO_FN void roaring_fill_bits(const roaring_piece *p)
{
    const uint before = p->node.record.before, at = (uint) p->node.record.first & 0xffff;
    const uint from = before + p->begin == p->first ? 0 : at;
    const uint to = before + p->end == p->stop ? 65536 : (uint) p->trie->leaves[p->leaf + 1].first & 0xffff;
    uint       e = p->begin;
    if (p->is_bitmap) {
        for (uint w = from / 32; w < at / 32; w++)
            roaring_put_32(p->bytes, 4 * w, 0);
        for (uint w = 0; w < HAMT_WORDS; w++)
            roaring_put_32(p->bytes, 4 * (at / 32 + w), roaring_words(&p->node)[w]);
        for (uint w = at / 32 + HAMT_WORDS; w < to / 32; w++)
            roaring_put_32(p->bytes, 4 * w, 0);
        return;
    }
    for (uint w = from / 32; w < to / 32; w++) {
        uint bits = 0;
        for (; e < p->end && (uint) (roaring_key(&p->node, e) & 0xffff) / 32 == w; e++)
            bits |= 1u << (uint) (roaring_key(&p->node, e) & 31);
        roaring_put_32(p->bytes, 4 * w, bits);
    }
}

ORDO_FN void roaring_fill_array(const roaring_piece *p)
{
    __global uchar *to = p->bytes + 2 * (ulong) (p->node.record.before + p->begin - p->first);
    if (p->is_bitmap) {
        uint done = 0;
        for (uint w = 0; w < HAMT_WORDS; w++)
            for (uint bits = roaring_words(&p->node)[w]; bits; bits &= bits - 1)
                roaring_put_16(to, 2 * (ulong) done++,
                               ((uint) p->node.record.first & 0xffff) + w * 32 + 31 - clz(bits & (0 - bits)));
        return;
    }
    for (uint e = p->begin; e < p->end; e++)
        roaring_put_16(to, 2 * (ulong) (e - p->begin), (uint) roaring_key(&p->node, e) & 0xffff);
}

ORDO_FN void roaring_fill_piece(const roaring_sums *s, roaring_piece *p)
{
    const uint c = p->c;
    if (s->has_runs[c + 1] != s->has_runs[c])
        roaring_fill_runs(p, s->heads[c].runs, s->heads[c + 1].runs - s->heads[c].runs);
    else if (p->stop - p->first > ROARING_ARRAY_MAX)
        roaring_fill_bits(p);
    else
        roaring_fill_array(p);
}

/* `leaves` must hold the prefix sums of the counts of roaring_leaves. */
ORDO_KERNEL(RUN_GROUP)
void roaring_fill(HAMT_TRIE, uint leaf_max, ROARING_SUMS, __global const ulong *leaves,
                  __global const ulong *header_bytes, __global uchar *out, ulong out_at)
{
    const hamt_trie    t = HAMT_TRIE_HERE;
    const roaring_sums s = ROARING_SUMS_HERE;
    RUN_EACH (uint, i, t.n_leaves) {
        roaring_piece p = { .trie = &t, .leaf_max = leaf_max, .leaf = i, .node = hamt_load(&t, i) };
        const uint    before = p.node.record.before, next = (uint) (leaves[i] >> 32);
        p.is_bitmap = p.node.count > leaf_max;
        p.runs = (uint) leaves[i];
        p.c = next < n_containers && heads[next].first == before ? next : next - 1;
        for (; p.begin < p.node.count; p.begin = p.end, p.c++) {
            p.first = heads[p.c].first;
            p.stop = heads[p.c + 1].first;
            p.end = min(p.stop - before, p.node.count);
            p.runs = p.begin ? heads[p.c].runs : p.runs;
            p.bytes = out + out_at + roaring_container_at(&s, header_bytes, firsts[p.c + 1] - 1, p.c);
            roaring_fill_piece(&s, &p);
        }
    }
}
