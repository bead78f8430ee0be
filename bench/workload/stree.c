/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "baseline.h"

#include "bench/common/threads.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HAS_AVX2 1
#endif

#define NODE      16
#define IN_STEP   16
#define HUGE_PAGE ((size_t) 2 << 20)

static uint32_t *huge_pages(size_t keys)
{
    const size_t bytes = (keys * sizeof(uint32_t) + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    uint32_t    *memory = aligned_alloc(HUGE_PAGE, bytes);
#ifdef MADV_HUGEPAGE
    if (memory)
        (void) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return memory;
}

/* Entry e of a level: the last key of unit e below it; past the end, the last key. */
static void fill_level(struct stree *tree, const uint32_t *keys, int level)
{
    const size_t below = (size_t) 1 << (4 * level);
    for (size_t e = 0; e < tree->units[level] * NODE; e++) {
        const size_t end = (e + 1) * below;
        tree->node[tree->at[level] + e] = keys[(end < tree->count ? end : tree->count) - 1];
    }
}

bool stree_make(struct stree *tree, const uint32_t *keys, size_t count)
{
    size_t all = 0;

    *tree = (struct stree) { .count = count };
    tree->units[0] = count ? (count - 1) / NODE + 1 : 0;
    while (tree->units[tree->levels] > 1) {
        tree->units[tree->levels + 1] = (tree->units[tree->levels] - 1) / NODE + 1;
        tree->levels++;
    }
    for (int level = tree->levels; level >= 0; level--) {
        tree->at[level] = all;
        all += tree->units[level] * NODE;
    }
    tree->node = huge_pages(all + NODE);
    if (!tree->node || count == 0)
        return tree->node;
    for (int level = tree->levels; level > 0; level--)
        fill_level(tree, keys, level);
    memcpy(tree->node + tree->at[0], keys, count * sizeof *keys);
    for (size_t i = count; i < tree->units[0] * NODE; i++)
        tree->node[tree->at[0] + i] = keys[count - 1];
    return true;
}

void stree_free(struct stree *tree)
{
    free(tree->node);
}

struct ranks {
    const struct stree *tree;
    const uint32_t     *query;
    uint32_t           *rank;
};

/* One query at a time, for remainders and without AVX2. */
static void ranks_one_by_one(const struct ranks *r, size_t from, size_t to)
{
    const struct stree *tree = r->tree;
    for (size_t i = from; i < to; i++) {
        size_t unit = 0;
        for (int level = tree->levels; level >= 0; level--) {
            const uint32_t *node = tree->node + tree->at[level] + unit * NODE;
            uint32_t        before = 0;
            for (int k = 0; k < NODE; k++)
                before += node[k] < r->query[i];
            unit = unit * NODE + before;
            if (level > 0 && unit >= tree->units[level - 1])
                unit = tree->units[level - 1] - 1;
        }
        r->rank[i] = (uint32_t) (unit < tree->count ? unit : tree->count);
    }
}

#ifdef HAS_AVX2
__attribute__((target("avx2,popcnt"))) static inline uint32_t before_in(const uint32_t *node, __m256i query)
{
    const __m256i sign = _mm256_set1_epi32((int) 0x80000000u);
    const __m256i low = _mm256_xor_si256(_mm256_load_si256((const __m256i *) node), sign);
    const __m256i high = _mm256_xor_si256(_mm256_load_si256((const __m256i *) node + 1), sign);
    const __m256i less = _mm256_packs_epi32(_mm256_cmpgt_epi32(query, low), _mm256_cmpgt_epi32(query, high));
    return (uint32_t) __builtin_popcount((unsigned) _mm256_movemask_epi8(less)) / 2;
}

__attribute__((target("avx2,popcnt"))) static void ranks_in_step(const struct ranks *r, size_t i)
{
    const struct stree *tree = r->tree;
    __m256i             query[IN_STEP];
    uint32_t            unit[IN_STEP] = { 0 };

    for (int k = 0; k < IN_STEP; k++)
        query[k] = _mm256_set1_epi32((int) (r->query[i + (size_t) k] ^ 0x80000000u));
    for (int level = tree->levels; level > 0; level--) {
        const uint32_t *nodes = tree->node + tree->at[level], *below = tree->node + tree->at[level - 1];
        const uint32_t  last = (uint32_t) tree->units[level - 1] - 1;
#pragma GCC unroll 16
        for (int k = 0; k < IN_STEP; k++) {
            const uint32_t next = unit[k] * NODE + before_in(nodes + (size_t) unit[k] * NODE, query[k]);
            unit[k] = next < last ? next : last;
            __builtin_prefetch(below + (size_t) unit[k] * NODE);
        }
    }
    for (int k = 0; k < IN_STEP; k++) {
        const uint32_t *keys = tree->node + tree->at[0] + (size_t) unit[k] * NODE;
        const size_t    rank = (size_t) unit[k] * NODE + before_in(keys, query[k]);
        r->rank[i + (size_t) k] = (uint32_t) (rank < tree->count ? rank : tree->count);
    }
}
#endif

static void ranks_of_part(void *arg, size_t from, size_t to, int part)
{
    const struct ranks *r = arg;
    (void) part;
#ifdef HAS_AVX2
    if (__builtin_cpu_supports("avx2"))
        for (; to - from >= IN_STEP; from += IN_STEP)
            ranks_in_step(r, from);
#endif
    ranks_one_by_one(r, from, to);
}

void stree_ranks(const struct stree *tree, const uint32_t *query, size_t n, uint32_t *rank)
{
    struct ranks r = { tree, query, rank };
    for_spans(n, ranks_of_part, &r);
}
