/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "baseline.h"

#include "bench/common/threads.h"
#include "workload.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HAS_AVX2 1
#endif

/* One body for both key widths, inlined with a constant width, so that the compiler sees loads of fixed size. */
#define FOR_BOTH        static inline __attribute__((always_inline))
#define BOTH(body, ...) (key_bytes == 4 ? body(4, __VA_ARGS__) : body(8, __VA_ARGS__))

static inline void move(const void *from, size_t i, void *to, size_t j, size_t bytes)
{
    if (bytes)
        set_element(to, bytes, j, element(from, bytes, i));
}

#define DIGIT_BITS 8
#define DIGITS     (1 << DIGIT_BITS)
/* Fewer elements use one thread. */
#define PART_MIN 65536

struct digits {
    size_t of[DIGITS];
};

/* One pass. Parts count their digits. Then each part moves its elements behind the elements of earlier parts. */
struct pass {
    struct pairs  from, to;
    size_t        key_bytes, value_bytes, count, parts;
    int           shift;
    struct digits place[MAX_PARTS]; /* counts, then the next place of each digit */
};

FOR_BOTH void radix_part(size_t key_bytes, const struct pass *pass, size_t from, size_t to, bool moves,
                         struct digits *digits)
{
    for (size_t i = from; i < to; i++) {
        const uint64_t key = element(pass->from.keys, key_bytes, i);
        const size_t   at = digits->of[(key >> pass->shift) & (DIGITS - 1)]++;
        if (!moves)
            continue;
        set_element(pass->to.keys, key_bytes, at, key);
        move(pass->from.values, i, pass->to.values, at, pass->value_bytes);
    }
}

/* Elements of 16 bytes. */
static void wide_radix_part(const struct pass *pass, size_t from, size_t to, bool moves, struct digits *digits)
{
    const size_t word = pass->shift >= 64;
    for (size_t i = from; i < to; i++) {
        const uint64_t half = element(pass->from.keys, 8, 2 * i + word);
        const size_t   at = digits->of[(half >> pass->shift % 64) & (DIGITS - 1)]++;
        if (!moves)
            continue;
        move_element(pass->to.keys, at, pass->from.keys, i, 16);
        move(pass->from.values, i, pass->to.values, at, pass->value_bytes);
    }
}

static void run_radix_part(struct pass *pass, size_t part, bool moves)
{
    const size_t  key_bytes = pass->key_bytes, each = pass->count / pass->parts, from = each * part;
    const size_t  to = part + 1 == pass->parts ? pass->count : from + each;
    struct digits digits = moves ? pass->place[part] : (struct digits) { { 0 } };
    if (key_bytes == 16)
        wide_radix_part(pass, from, to, moves, &digits);
    else
        BOTH(radix_part, pass, from, to, moves, &digits);
    pass->place[part] = digits;
}

static void count_part(void *pass, int part)
{
    run_radix_part(pass, (size_t) part, false);
}

static void move_part(void *pass, int part)
{
    run_radix_part(pass, (size_t) part, true);
}

/* An even number of passes returns the result to `in`. */
static void radix_sort(struct pairs in, struct pairs spare, size_t key_bytes, size_t value_bytes, size_t count,
                       size_t parts)
{
    struct pass pass = { in, spare, key_bytes, value_bytes, count, parts, 0, { { { 0 } } } };
    for (; pass.shift < (int) key_bytes * 8; pass.shift += DIGIT_BITS) {
        size_t before = 0;
        run_parts((int) parts, count_part, &pass);
        for (size_t d = 0; d < DIGITS; d++)
            for (size_t p = 0; p < parts; p++) {
                const size_t here = pass.place[p].of[d];
                pass.place[p].of[d] = before;
                before += here;
            }
        run_parts((int) parts, move_part, &pass);
        const struct pairs next = pass.from;
        pass.from = pass.to;
        pass.to = next;
    }
}

void host_radix_sort(struct pairs in, struct pairs spare, size_t key_bytes, size_t value_bytes, size_t count)
{
    radix_sort(in, spare, key_bytes, value_bytes, count, 1);
}

void pairs_sort(struct pairs in, struct pairs spare, size_t key_bytes, size_t value_bytes, size_t count)
{
    const size_t most = count / PART_MIN + (count < PART_MIN), threads = (size_t) processors();
    const size_t parts = threads < most ? threads : most;
    radix_sort(in, spare, key_bytes, value_bytes, count, parts < MAX_PARTS ? parts : MAX_PARTS);
}

/* A record is the key, then the value. */
static int compare_records(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}
static int compare_records_4(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;
    return x < y ? -1 : x > y;
}

void host_qsort(struct pairs in, void *records, size_t key_bytes, size_t value_bytes, size_t count)
{
    const size_t record = key_bytes + value_bytes;
    char        *to = records;
    for (size_t i = 0; i < count; i++, to += record) {
        memcpy(to, (const char *) in.keys + i * key_bytes, key_bytes);
        if (value_bytes)
            memcpy(to + key_bytes, (const char *) in.values + i * value_bytes, value_bytes);
    }
    qsort(records, count, record, key_bytes == 4 ? compare_records_4 : compare_records);
    to = records;
    for (size_t i = 0; i < count; i++, to += record) {
        memcpy((char *) in.keys + i * key_bytes, to, key_bytes);
        if (value_bytes)
            memcpy((char *) in.values + i * value_bytes, to + key_bytes, value_bytes);
    }
}

/* The number of elements of `a` among the first `diagonal` merged ones. */
FOR_BOTH size_t merge_split(size_t key_bytes, const void *a, size_t a_count, const void *b, size_t b_count,
                            size_t diagonal)
{
    size_t low = diagonal > b_count ? diagonal - b_count : 0, high = diagonal < a_count ? diagonal : a_count;
    while (low < high) {
        const size_t half = low + (high - low) / 2;
        if (element(a, key_bytes, half) <= element(b, key_bytes, diagonal - half - 1))
            low = half + 1;
        else
            high = half;
    }
    return low;
}

size_t host_merge_split(const void *a, size_t a_count, const void *b, size_t b_count, size_t key_bytes, size_t diagonal)
{
    return BOTH(merge_split, a, a_count, b, b_count, diagonal);
}

FOR_BOTH void merge_span(size_t key_bytes, struct pairs a, size_t a_count, struct pairs b, size_t b_count,
                         size_t value_bytes, size_t from, size_t to, struct pairs out)
{
    size_t i = merge_split(key_bytes, a.keys, a_count, b.keys, b_count, from), j = from - i;
    for (size_t at = from; at < to; at++) {
        const bool from_a =
            j == b_count || (i < a_count && element(a.keys, key_bytes, i) <= element(b.keys, key_bytes, j));
        const struct pairs *in = from_a ? &a : &b;
        const size_t        of = from_a ? i++ : j++;
        move(in->keys, of, out.keys, at, key_bytes);
        move(in->values, of, out.values, at, value_bytes);
    }
}

void host_merge_span(struct pairs a, size_t a_count, struct pairs b, size_t b_count, size_t key_bytes,
                     size_t value_bytes, size_t from, size_t to, struct pairs out)
{
    BOTH(merge_span, a, a_count, b, b_count, value_bytes, from, to, out);
}

struct pairs pairs_from(struct pairs pairs, size_t key_bytes, size_t value_bytes, size_t at)
{
    return (struct pairs) { (char *) pairs.keys + at * key_bytes,
                            value_bytes ? (char *) pairs.values + at * value_bytes : NULL };
}

FOR_BOTH size_t lower_bound(size_t key_bytes, const void *keys, size_t count, uint64_t query)
{
    size_t from = 0;
    while (count > 0) {
        const size_t half = count / 2;
        if (element(keys, key_bytes, from + half) < query) {
            from += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return from;
}

size_t host_lower_bound(const void *keys, size_t key_bytes, size_t count, uint64_t query)
{
    return BOTH(lower_bound, keys, count, query);
}

FOR_BOTH uint64_t scan(size_t key_bytes, const void *in, size_t count, bool maximum, void *out)
{
    uint64_t all = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t here = element(in, key_bytes, i), sum = all + here;
        const uint64_t next = !maximum ? (key_bytes == 4 ? (uint32_t) sum : sum) : here > all ? here : all;
        if (out)
            set_element(out, key_bytes, i, maximum ? next : all);
        all = next;
    }
    return all;
}

uint64_t host_scan(const void *in, size_t key_bytes, size_t count, bool maximum, void *out)
{
    return maximum ? BOTH(scan, in, count, true, out) : BOTH(scan, in, count, false, out);
}

FOR_BOTH size_t compact(size_t key_bytes, struct pairs in, const uint8_t *flags, size_t value_bytes, size_t count,
                        struct pairs out)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (!flags[i])
            continue;
        move(in.keys, i, out.keys, kept, key_bytes);
        move(in.values, i, out.values, kept, value_bytes);
        kept++;
    }
    return kept;
}

size_t host_compact(struct pairs in, const uint8_t *flags, size_t key_bytes, size_t value_bytes, size_t count,
                    struct pairs out)
{
    return BOTH(compact, in, flags, value_bytes, count, out);
}

/* A multiplicative hash finds keys. The table doubles when it is half full. */
struct table {
    struct entry {
        uint64_t key, sum;
        bool     used;
    } * at;
    size_t log2, n;
};

static void table_add(struct table *t, uint64_t key, uint64_t value)
{
    size_t at = (size_t) ((key * 0x9e3779b97f4a7c15u) >> (64 - t->log2));
    while (t->at[at].used && t->at[at].key != key)
        at = (at + 1) & (((size_t) 1 << t->log2) - 1);
    t->n += !t->at[at].used;
    t->at[at] = (struct entry) { key, t->at[at].sum + value, true };
}

/* False without memory. */
static bool table_grow(struct table *t)
{
    const size_t room = t->at ? (size_t) 1 << t->log2 : 0;
    struct table larger = { calloc(room ? 2 * room : 4096, sizeof *t->at), room ? t->log2 + 1 : 12, 0 };
    for (size_t at = 0; larger.at && at < room; at++)
        if (t->at[at].used)
            table_add(&larger, t->at[at].key, t->at[at].sum);
    free(t->at);
    *t = larger;
    return t->at;
}

size_t host_group(struct pairs in, size_t key_bytes, size_t value_bytes, size_t count)
{
    struct table t = { NULL, 0, 0 };
    bool         good = table_grow(&t);
    for (size_t i = 0; good && i < count; i++) {
        table_add(&t, element(in.keys, key_bytes, i), value_bytes ? element(in.values, value_bytes, i) : 1);
        good = t.n < (size_t) 1 << (t.log2 - 1) || table_grow(&t);
    }
    free(t.at);
    return good ? t.n : 0;
}

/* Sifts down the element at `at` of a heap with the least key at the root. */
static void sift_down(void *heap, size_t bytes, size_t n, size_t at)
{
    const uint64_t key = element(heap, bytes, at);
    for (size_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
        child += child + 1 < n && element(heap, bytes, child + 1) < element(heap, bytes, child);
        if (element(heap, bytes, child) >= key)
            break;
        set_element(heap, bytes, at, element(heap, bytes, child));
        at = child;
    }
    set_element(heap, bytes, at, key);
}

FOR_BOTH uint64_t top(size_t key_bytes, const void *keys, size_t count, size_t k, void *out)
{
    for (size_t i = 0; i < k; i++)
        set_element(out, key_bytes, i, element(keys, key_bytes, i));
    for (size_t i = k / 2 + 1; i-- > 0 && k > 0;)
        sift_down(out, key_bytes, k, i < k ? i : k - 1);
    for (size_t i = k; i < count && k > 0; i++)
        if (element(keys, key_bytes, i) > element(out, key_bytes, 0)) {
            set_element(out, key_bytes, 0, element(keys, key_bytes, i));
            sift_down(out, key_bytes, k, 0);
        }
    return k ? element(out, key_bytes, 0) : 0;
}

uint64_t host_top(const void *keys, size_t key_bytes, size_t count, size_t k, void *out)
{
    return BOTH(top, keys, count, k, out);
}

size_t host_gather(const void *rows, const uint32_t *index, size_t row_bytes, size_t count, void *out)
{
    for (size_t i = 0; i < count; i++)
        memcpy((char *) out + i * row_bytes, (const char *) rows + index[i] * row_bytes, row_bytes);
    return count;
}

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
    /* Entry e of a level: the last key of unit e below it; past the end, the last key. */
    for (int level = tree->levels; level >= 0; level--)
        for (size_t e = 0; e < tree->units[level] * NODE; e++) {
            const size_t end = (e + 1) << (4 * level);
            tree->node[tree->at[level] + e] = keys[(end < count ? end : count) - 1];
        }
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
