/* SPDX-License-Identifier: Apache-2.0 */
/* The X-fast trie: prefixes compared with plain code, each broken invariant, keys in clusters. */
#include "tests/trie/trie_case.h"

#include "dict/trie/xfast.h"

/* ---- keys -------------------------------------------------------------------------------------------------------- */

/* Makes groups of up to `crowd` keys that differ in their low bits. */
static size_t make_keys(struct test *t, unsigned width, size_t n, unsigned crowd, uint64_t *out)
{
    const uint64_t all = width == 64 ? UINT64_MAX : UINT32_MAX;
    size_t         made = 0;
    while (made < n) {
        const uint64_t middle = test_random(t) & all;
        const unsigned low = (unsigned) test_below(t, width / 2);
        for (size_t i = 0, group = 1 + test_below(t, crowd); i < group && made < n; i++)
            out[made++] = (middle ^ (test_random(t) & ((2ull << low) - 1))) & all;
    }
    out[0] = 0;
    out[n - 1] = all;
    return n;
}

static uint64_t widen(unsigned width, const void *keys, size_t i)
{
    return width == 64 ? ((const uint64_t *) keys)[i] : ((const uint32_t *) keys)[i];
}

/* Settings of a trie. */
struct form {
    uint32_t group;
    bool     level_tables;
};

static ordo_dict *make(struct test *t, unsigned width, struct form form, const uint64_t *keys, const uint32_t *values,
                       size_t n)
{
    AUTO_FREE void *words = narrow(keys, n, width == 64);
    ordo_dict      *dict = NULL;
    test_ok(
        t, ordo_xfast_create(t->dev,
                             ordo_xfast_config(.dict = { width == 64 ? ORDO_U64 : ORDO_U32, values ? 4 : 0 },
                                               .group = form.group, .seed = t->seed, .level_tables = form.level_tables),
                             &dict));
    test_ok(t, ordo_dict_build_host(dict, words, values, n));
    return dict;
}

/* ---- keys under a prefix ----------------------------------------------------------------------------------------- */

enum { KEYS = 6000, ASKED = 3000 };

static uint64_t low_bits(unsigned width, unsigned length)
{
    return length == 0 ? (width == 64 ? UINT64_MAX : UINT32_MAX) : length >= width ? 0 : (1ull << (width - length)) - 1;
}

static uint32_t count_under(const uint64_t *keys, size_t n, unsigned width, uint64_t bits, unsigned length)
{
    const uint64_t low = low_bits(width, length);
    uint32_t       count = 0;
    for (size_t i = 0; i < n; i++)
        count += (keys[i] & ~low) == (bits & ~low);
    return count;
}

static void count_with(struct test *t, unsigned width, struct form form, unsigned crowd)
{
    static uint64_t      keys[KEYS], asked[ASKED];
    static uint8_t       lengths[ASKED];
    static uint32_t      got[ASKED], want[ASKED];
    const size_t         n = sort_distinct(keys, make_keys(t, width, KEYS, crowd, keys));
    AUTO_DICT ordo_dict *dict = make(t, width, form, keys, NULL, n);

    test_context(t, "%u bits, group %u, level tables %d, crowd %u", width, form.group, form.level_tables, crowd);
    for (size_t i = 0; i < ASKED; i++) {
        asked[i] = keys[test_below(t, n)] ^ (test_below(t, 4) ? 0 : 1ull << test_below(t, width));
        lengths[i] = (uint8_t) (i == 0 ? 255 : i == 1 ? 0 : test_below(t, width + 2));
        want[i] = count_under(keys, n, width, asked[i], lengths[i]);
    }
    AUTO_FREE void *words = narrow(asked, ASKED, width == 64);
    test_ok(t, ordo_dict_check(dict, NULL));
    test_ok(t, ordo_xfast_count_prefix_host(dict, words, lengths, ASKED, got));
    test_same(t, "counts", ORDO_U32, got, want, ASKED);
}

DEVICE_TEST(xfast, counts_keys_under_a_prefix)
{
    for (unsigned width = 32; width <= 64; width += 32) {
        count_with(t, width, (struct form) { 0, false }, 1);
        count_with(t, width, (struct form) { 1, false }, 300);
        count_with(t, width, (struct form) { 3, false }, 2000);
        count_with(t, width, (struct form) { 8, false }, 40);
        count_with(t, width, (struct form) { 4, false }, 6000);
        count_with(t, width, (struct form) { 1, true }, 1);
        count_with(t, width, (struct form) { 5, true }, 2000);
    }
}

/* ---- longest stored prefix --------------------------------------------------------------------------------------- */

static uint64_t word_of(unsigned width, uint64_t bits, unsigned length)
{
    return width == 64 ? ordo_prefix_u64(bits, length) : ordo_prefix_u32((uint32_t) bits, length);
}

/* The prefix's place in the sorted keys; n if it is not stored. */
static size_t place_of(const uint64_t *keys, size_t n, uint64_t word)
{
    const uint64_t *at = bsearch(&word, keys, n, sizeof *keys, by_value);
    return at ? (size_t) (at - keys) : n;
}

/* Searches for each length, the longest first. */
static size_t longest(const uint64_t *keys, size_t n, unsigned width, uint64_t query)
{
    for (unsigned length = width; length-- > 0;) {
        const size_t at = place_of(keys, n, word_of(width, query, length));
        if (at < n)
            return at;
    }
    return n;
}

/* Makes deeply nested prefixes of few addresses, and random ones, of at least `shortest` bits. */
static size_t make_prefixes(struct test *t, unsigned width, size_t n, size_t addresses, unsigned shortest,
                            uint64_t *out)
{
    uint64_t of[64];
    (void) make_keys(t, width, addresses, 8, of);
    for (size_t i = 0; i < n; i++) {
        const unsigned length = shortest + (unsigned) test_below(t, width - shortest);
        const uint64_t bits = test_below(t, 3) ? of[test_below(t, addresses)] : test_random(t);
        out[i] = word_of(width, bits, length);
    }
    return sort_distinct(out, n);
}

static void match_with(struct test *t, unsigned width, struct form form, size_t addresses, unsigned shortest,
                       bool with_zero)
{
    static uint64_t prefixes[KEYS], asked[ASKED], want_words[ASKED], got_words[ASKED];
    static uint32_t values[KEYS], want[ASKED], got[ASKED];
    static uint8_t  found[ASKED], want_found[ASKED];
    size_t          n = make_prefixes(t, width, KEYS - 1, addresses, shortest, prefixes);
    if (with_zero)
        prefixes[n++] = 0; /* a key that is no prefix */
    n = sort_distinct(prefixes, n);
    for (size_t i = 0; i < n; i++)
        values[i] = (uint32_t) (i * 7 + 1);
    AUTO_DICT ordo_dict *dict = make(t, width, form, prefixes, values, n);

    test_context(t, "%u bits, group %u, level tables %d, %zu addresses, prefixes from %u bits", width, form.group,
                 form.level_tables, addresses, shortest);
    for (size_t i = 0; i < ASKED; i++) {
        asked[i] = i == 0 ? 0 : i == 1 ? UINT64_MAX : test_below(t, 4) ? prefixes[test_below(t, n)] : test_random(t);
        if (i > 1 && test_below(t, 2))
            asked[i] ^= 1ull << test_below(t, width);
        asked[i] &= width == 64 ? UINT64_MAX : UINT32_MAX;
        const size_t at = longest(prefixes, n, width, asked[i]);
        want_found[i] = at < n;
        want[i] = at < n ? values[at] : 99;
        want_words[i] = at < n ? prefixes[at] : 99;
        got[i] = 99;
    }
    AUTO_FREE void *words = narrow(asked, ASKED, width == 64), *out = test_alloc((size_t) ASKED * 8);
    for (size_t i = 0; i < ASKED; i++)
        got_words[i] = 99;
    AUTO_FREE void *before = narrow(got_words, ASKED, width == 64);
    memcpy(out, before, (size_t) ASKED * (width / 8));
    test_ok(t, ordo_xfast_longest_prefix_host(dict, words, ASKED, out, got, found));
    for (size_t i = 0; i < ASKED; i++)
        got_words[i] = widen(width, out, i);
    test_same_bytes(t, "found", found, want_found, ASKED);
    test_same(t, "prefixes", ORDO_U64, got_words, want_words, ASKED);
    test_same(t, "values", ORDO_U32, got, want, ASKED);
    test_ok(t, ordo_dict_check(dict, NULL)); /* with masks */
    test_true(t, ordo_xfast_of(dict)->masks != NULL);

    /* queries see a change: half of the prefixes are erased */
    AUTO_FREE void *gone = narrow(prefixes, n / 2, width == 64);
    test_ok(t, ordo_dict_erase_host(dict, gone, n / 2));
    for (size_t i = 0; i < ASKED; i++)
        want_found[i] = longest(prefixes + n / 2, n - n / 2, width, asked[i]) < n - n / 2;
    test_ok(t, ordo_xfast_longest_prefix_host(dict, words, ASKED, NULL, NULL, found));
    test_same_bytes(t, "found", found, want_found, ASKED);
}

DEVICE_TEST(xfast, finds_the_longest_prefix)
{
    for (unsigned width = 32; width <= 64; width += 32) {
        match_with(t, width, (struct form) { 1, false }, 64, 0, false);
        match_with(t, width, (struct form) { 4, false }, 2, 0, true);
        match_with(t, width, (struct form) { 8, false }, 30, 20, false);
        match_with(t, width, (struct form) { 2, true }, 30, 0, true);
    }
}

DEVICE_TEST(xfast, prefixes_encode_and_decode)
{
    for (unsigned length = 0; length < 64; length++) {
        const uint64_t bits = test_random(t);
        const uint64_t word = ordo_prefix_u64(bits, length);
        test_true(t, ordo_prefix_u64_length(word) == length);
        test_true(t, length == 0 || word >> (64 - length) == bits >> (64 - length));
        if (length >= 32)
            continue;
        const uint32_t half = ordo_prefix_u32((uint32_t) bits, length);
        test_true(t, ordo_prefix_u32_length(half) == length);
        test_true(t, length == 0 || half >> (32 - length) == (uint32_t) bits >> (32 - length));
    }
    test_true(t, ordo_prefix_u64_length(0) == 64 && ordo_prefix_u32_length(0) == 32);
}

/* ---- few keys ---------------------------------------------------------------------------------------------------- */

DEVICE_TEST(xfast, has_no_key_or_one)
{
    const uint64_t       word = ordo_prefix_u64(5ull << 61, 3), one[] = { 0, word, UINT64_MAX };
    const uint8_t        length[] = { 0, 3, 64 };
    uint32_t             got[3] = { 7, 7, 7 };
    uint8_t              found[3] = { 7, 7, 7 };
    AUTO_DICT ordo_dict *dict = NULL;

    test_ok(t, ordo_xfast_create(t->dev, ordo_xfast_config(.dict = { ORDO_U64, 0 }), &dict));
    test_ok(t, ordo_xfast_count_prefix_host(dict, one, length, 3, got));
    test_ok(t, ordo_xfast_longest_prefix_host(dict, one, 3, NULL, NULL, found));
    test_true(t, got[0] + got[1] + got[2] == 0 && found[0] + found[1] + found[2] == 0);
    test_ok(t, ordo_dict_upsert_host(dict, &word, NULL, 1));
    test_ok(t, ordo_xfast_count_prefix_host(dict, one, length, 3, got));
    test_ok(t, ordo_xfast_longest_prefix_host(dict, one, 3, NULL, NULL, found));
    test_true(t, got[0] == 1 && got[1] == 1 && got[2] == 0);
    test_true(t, !found[0] && found[1] && !found[2]);
}

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

DEVICE_TEST(xfast, refuses_other_types_and_structures)
{
    const uint32_t key = 1;
    const uint8_t  length = 1;
    uint32_t       count = 0;
    uint8_t        found = 0;
    ordo_dict     *dict = NULL;

    test_status(t, ordo_xfast_create(t->dev, ordo_xfast_config(.dict = { ORDO_U32, 0 }, .group = 9), &dict),
                ORDO_INVALID);
    test_true(t, dict == NULL);
    test_ok(t, ordo_sorted_array_create(t->dev, ordo_sorted_array_config(.dict = { ORDO_U32, 0 }), &dict));
    test_status(t, ordo_xfast_count_prefix_host(dict, &key, &length, 1, &count), ORDO_UNSUPPORTED);
    test_status(t, ordo_xfast_longest_prefix_host(dict, &key, 1, NULL, NULL, &found), ORDO_UNSUPPORTED);
    ordo_dict_destroy(&dict);
    test_ok(t, ordo_xfast_create(t->dev, ordo_xfast_config(.dict = { ORDO_F32, 0 }), &dict));
    test_status(t, ordo_xfast_count_prefix_host(dict, &key, &length, 1, &count), ORDO_UNSUPPORTED);
    test_status(t, ordo_xfast_longest_prefix_host(dict, &key, 1, NULL, NULL, &found), ORDO_UNSUPPORTED);
    ordo_dict_destroy(&dict);
}

DEVICE_TEST(xfast, refuses_unaligned_values_of_16_bytes)
{
    AUTO_UNALIGNED struct test_unaligned buffer = test_unaligned_buffer(t, 1600);
    AUTO_ARRAY struct test_array         keys = test_upload(t, NULL, 50, 4, 0);
    const struct ordo_slice              k = test_slice(&keys), odd = ordo_at(buffer.mem, 1), none = ordo_none();
    AUTO_DICT ordo_dict                 *dict = NULL;

    if (!buffer.mem)
        return;
    test_ok(t, ordo_xfast_create(t->dev, ordo_xfast_config(.dict = { ORDO_U32, 16 }), &dict));
    test_unaligned_refused(t, ordo_xfast_longest_prefix(dict, k, 50, none, odd, none, NULL), "values_out");
}

/* ---- invariants -------------------------------------------------------------------------------------------------- */

static void expect_broken_by(struct test *t, ordo_dict *dict, cl_mem mem, size_t word, uint32_t bits,
                             const char *invariant)
{
    expect_broken(t, dict, mem, word, read_word(t, mem, word) ^ bits, invariant);
}

static uint32_t mixed_key(const uint32_t *table, size_t bucket_bytes, size_t slot)
{
    return table[slot / 8 * bucket_bytes / 4 + slot % 8];
}

DEVICE_TEST(xfast, check_names_each_broken_invariant)
{
    static uint64_t keys[KEYS];
    static uint8_t  found[KEYS];
    for (uint32_t i = 0; i < KEYS; i++)
        keys[i] = 0x55550000u + i; /* one range of flat, so the table has all prefixes */
    AUTO_DICT ordo_dict *dict = make(t, 32, (struct form) { 1, false }, keys, NULL, KEYS);
    struct ordo_xfast   *xfast = ordo_xfast_of(dict);
    AUTO_FREE void      *words = narrow(keys, KEYS, false);
    const size_t         flat_end = (size_t) 1 << xfast->shape.flat_bits, bucket = (size_t) 8 * (4 + XFAST_ENTRY_BYTES);

    test_ok(t, ordo_xfast_longest_prefix_host(dict, words, KEYS, NULL, NULL, found));
    test_ok(t, ordo_dict_check(dict, NULL));
    expect_broken_by(t, dict, xfast->flat, 0, 1, "X1");
    expect_broken_by(t, dict, xfast->flat, flat_end, 1, "X1");
    expect_broken_by(t, dict, xfast->masks, 77, 1u << 3, "X4");
    expect_broken_by(t, dict, xfast->masks, KEYS - 1, 1u << 31, "X4");
    /* changes the first leaf and the end of an entry */
    const size_t        slots = 8 * (size_t) xfast->prefixes.table.n_buckets;
    AUTO_FREE uint32_t *table = read_words(t, xfast->prefixes.table.buckets, slots / 8 * bucket / 4);
    size_t              used = SIZE_MAX;
    for (size_t s = 0; s < slots && used == SIZE_MAX; s++) {
        bool unique = true; /* empty slots are equal */
        for (size_t other = 0; other < slots; other++)
            unique = unique && (other == s || mixed_key(table, bucket, other) != mixed_key(table, bucket, s));
        used = unique ? s : used;
    }
    test_true(t, used != SIZE_MAX);
    const size_t entry = used / 8 * bucket + 32 + used % 8 * XFAST_ENTRY_BYTES;
    expect_broken_by(t, dict, xfast->prefixes.table.buckets, entry / 4, 1, "X2");
    expect_broken_by(t, dict, xfast->prefixes.table.buckets, entry / 4 + 1, 1, "X2");
    /* fewer levels than the entries have */
    xfast->shape.levels--;
    test_status(t, ordo_dict_check(dict, NULL), ORDO_OK); /* the last level has no entry */
    xfast->shape.levels = 3;
    test_status(t, ordo_dict_check(dict, NULL), ORDO_BROKEN);
}

/* ---- the trie after small updates -------------------------------------------------------------------------------- */

static void expect_found(struct test *t, ordo_dict *dict, const uint32_t *keys, const uint32_t *values, size_t n)
{
    static uint32_t got[KEYS];
    test_ok(t, ordo_dict_find_host(dict, keys, n, got, NULL));
    test_same(t, "values", ORDO_U32, got, values, n);
}

static void list_thousands(uint64_t keys[KEYS], uint32_t values[KEYS])
{
    for (uint32_t i = 0; i < KEYS; i++) {
        keys[i] = 1000ul * i;
        values[i] = i;
    }
}

/* One upsert and `reads` finds. */
static void apply_concurrent(struct test *t, ordo_dict *dict, const uint32_t *keys, const uint32_t *values,
                             uint32_t reads)
{
    static uint8_t  codes[KEYS], found[KEYS];
    static uint32_t values_out[KEYS];
    memset(codes, ORDO_FIND, sizeof codes);
    codes[0] = ORDO_UPSERT;
    const struct ordo_host_concurrent_batch batch = {
        .codes = codes, .keys = keys, .values = values, .count = 1 + reads, .found = found, .values_out = values_out
    };
    test_ok(t, ordo_dict_apply_concurrent_host(dict, &batch));
    for (uint32_t i = 1; i <= reads; i++)
        test_true(t, found[i] && values_out[i] == values[i]);
}

/* A batch's update drops the trie. So earlier queries are no reason to build it for the batch. */
DEVICE_TEST(xfast, a_concurrent_batch_with_updates_builds_the_trie_for_its_own_reads)
{
    static uint64_t keys[KEYS];
    static uint32_t values[KEYS];
    list_thousands(keys, values);
    AUTO_DICT ordo_dict     *dict = make(t, 32, (struct form) { 4, false }, keys, values, KEYS);
    const struct ordo_xfast *xfast = ordo_xfast_of(dict);
    AUTO_FREE uint32_t      *words = narrow(keys, KEYS, false);
    const uint32_t           few = KEYS / 32 + 1, many = KEYS / 16;

    test_true(t, xfast->flat);
    apply_concurrent(t, dict, words, values, many); /* The trie is there. */
    test_true(t, !xfast->flat && xfast->searched == 0);
    expect_found(t, dict, words, values, few);
    apply_concurrent(t, dict, words, values, few);
    test_true(t, !xfast->flat && xfast->searched == (size_t) 2 * few); /* A build would set it to 0. */
    apply_concurrent(t, dict, words, values, many);
    test_true(t, !xfast->flat && xfast->searched == 0);
    expect_found(t, dict, words, values, few);
    test_true(t, !xfast->flat);
    expect_found(t, dict, words, values, few);
    test_true(t, xfast->flat);
}

DEVICE_TEST(xfast, queries_build_the_trie_after_a_small_update)
{
    static uint64_t keys[KEYS];
    static uint32_t values[KEYS];
    list_thousands(keys, values);
    AUTO_DICT ordo_dict     *dict = make(t, 32, (struct form) { 4, false }, keys, values, KEYS);
    const struct ordo_xfast *xfast = ordo_xfast_of(dict);
    AUTO_FREE uint32_t      *words = narrow(keys, KEYS, false);
    const uint32_t           none = 1, few = KEYS / 32 + 1, many = KEYS / 16;

    test_true(t, xfast->flat);
    values[7] = 12345;
    test_ok(t, ordo_dict_upsert_host(dict, words + 7, values + 7, 1));
    test_true(t, !xfast->flat);
    test_ok(t, ordo_dict_check(dict, NULL));
    expect_found(t, dict, words, values, few);
    test_true(t, !xfast->flat);
    expect_found(t, dict, words, values, few);
    test_true(t, xfast->flat);
    test_ok(t, ordo_dict_check(dict, NULL));
    expect_found(t, dict, words, values, KEYS);
    test_ok(t, ordo_dict_erase_host(dict, &none, 1));
    test_true(t, !xfast->flat);
    test_ok(t, ordo_dict_upsert_host(dict, words, values, many));
    test_true(t, xfast->flat);
    expect_found(t, dict, words, values, KEYS);
}

/* ---- level tables ------------------------------------------------------------------------------------------------ */

/* Makes n keys: random ones, or successive ones up to the largest key. */
static size_t make_some(struct test *t, unsigned width, size_t n, bool dense, uint64_t *out)
{
    const uint64_t all = width == 64 ? UINT64_MAX : UINT32_MAX;
    for (size_t i = 0; i < n; i++)
        out[i] = dense ? all - i : test_random(t) & all;
    return sort_distinct(out, n);
}

static size_t count_below(const uint64_t *keys, size_t n, uint64_t key)
{
    size_t below = 0;
    while (below < n && keys[below] < key)
        below++;
    return below;
}

static void rank_with(struct test *t, unsigned width, uint32_t group, size_t n, bool dense)
{
    enum { RANKED = 400 };
    static uint64_t      keys[KEYS], asked[RANKED];
    static uint32_t      got[RANKED], want[RANKED];
    const size_t         some = make_some(t, width, n, dense, keys);
    AUTO_DICT ordo_dict *dict = make(t, width, (struct form) { group, true }, keys, NULL, some);

    test_context(t, "%u bits, group %u, %zu keys, dense %d", width, group, some, dense);
    for (size_t i = 0; i < RANKED; i++) {
        const uint64_t flip = 1ull << test_below(t, width);
        asked[i] = i == 0 ? 0 : keys[test_below(t, some)] ^ (i % 3 ? flip : 0);
        want[i] = (uint32_t) count_below(keys, some, asked[i]);
    }
    AUTO_FREE void *words = narrow(asked, RANKED, width == 64);
    test_ok(t, ordo_dict_check(dict, NULL));
    test_ok(t, ordo_dict_rank_host(dict, ORDO_LT, words, RANKED, got));
    test_same(t, "ranks", ORDO_U32, got, want, RANKED);
}

/* Sizes around powers of two: levels with fewer prefixes than leaves have as many slots as they need. */
DEVICE_TEST(xfast, level_tables_of_any_size)
{
    static const size_t sizes[] = { 1, 2, 3, 4, 5, 31, 32, 33, 127, 1000, 1024, 1025, KEYS };

    for (size_t i = 0; i < LENGTH(sizes); i++)
        for (unsigned width = 32; width <= 64; width += 32) {
            rank_with(t, width, 1 + (uint32_t) (i % 8), sizes[i], i % 2);
            rank_with(t, width, 1, sizes[i], !(i % 2));
        }
}

/* ---- teams ------------------------------------------------------------------------------------------------------- */

/* Compares each query that uses the levels with plain code. The last team of the sub-group has fewer queries. */
static void ask_by_team(struct test *t, unsigned width, struct form form, size_t n, unsigned crowd)
{
    enum { QUERIES = 333 };
    static uint64_t keys[KEYS], asked[QUERIES], upper[QUERIES];
    static uint32_t values[KEYS], below[QUERIES], up_to[QUERIES], counts[QUERIES], got[QUERIES];
    static uint8_t  found[QUERIES];
    const size_t    some = sort_distinct(keys, make_keys(t, width, n, crowd, keys));

    for (size_t i = 0; i < some; i++)
        values[i] = (uint32_t) (i * 3 + 1);
    AUTO_DICT ordo_dict *dict = make(t, width, form, keys, values, some);
    for (size_t i = 0; i < QUERIES; i++) {
        asked[i] = keys[test_below(t, some)] ^ (i % 3 ? 1ull << test_below(t, width) : 0);
        upper[i] = keys[test_below(t, some)];
        below[i] = (uint32_t) count_below(keys, some, asked[i]);
        up_to[i] = below[i] + (below[i] < some && keys[below[i]] == asked[i]);
        const size_t end = count_below(keys, some, upper[i]) + 1; /* `upper` has only keys */
        counts[i] = upper[i] < asked[i] ? 0 : (uint32_t) end - below[i];
    }
    AUTO_FREE void *words = narrow(asked, QUERIES, width == 64), *ends = narrow(upper, QUERIES, width == 64);
    AUTO_FREE char *out = test_alloc((size_t) QUERIES * 8);
    test_ok(t, ordo_dict_rank_host(dict, ORDO_LT, words, QUERIES, got));
    test_same(t, "ranks below", ORDO_U32, got, below, QUERIES);
    test_ok(t, ordo_dict_rank_host(dict, ORDO_LE, words, QUERIES, got));
    test_same(t, "ranks up to", ORDO_U32, got, up_to, QUERIES);
    test_ok(t, ordo_dict_count_host(dict, words, ends, QUERIES, got));
    test_same(t, "counts", ORDO_U32, got, counts, QUERIES);
    test_ok(t, ordo_dict_find_host(dict, words, QUERIES, got, found));
    for (size_t i = 0; i < QUERIES; i++)
        test_true(t, found[i] == (up_to[i] > below[i]) && (!found[i] || got[i] == values[below[i]]));
    test_ok(t, ordo_dict_seek_host(dict, ORDO_LE, words, QUERIES, out, got, found));
    for (size_t i = 0; i < QUERIES; i++)
        test_true(t, found[i] == (up_to[i] > 0) &&
                         (!found[i] || (got[i] == values[up_to[i] - 1] && widen(width, out, i) == keys[up_to[i] - 1])));
}

/* A binary search over levels, and teams that look up all levels, with fewer and with more lanes than levels. */
DEVICE_TEST(xfast, teams_find_what_a_binary_search_finds)
{
    static const uint32_t    lanes[] = { 1, 8, 16, 32 };
    static const struct form forms[] = { { 1, false }, { 4, false }, { 1, true }, { 3, true } };

    for (size_t l = 0; l < LENGTH(lanes); l++) {
        test_ok(t, ordo_device_set_tunable(t->dev, "xfast.lanes", lanes[l]));
        for (size_t f = 0; f < LENGTH(forms); f++)
            for (unsigned width = 32; width <= 64; width += 32) {
                test_context(t, "%u lanes, %u bits, group %u, level tables %d", lanes[l], width, forms[f].group,
                             forms[f].level_tables);
                ask_by_team(t, width, forms[f], KEYS / 2, 2000);
                ask_by_team(t, width, forms[f], 3, 1);
            }
    }
    test_ok(t, ordo_device_set_tunable(t->dev, "xfast.lanes", 1));
}

DEVICE_TEST(xfast, check_names_each_broken_level)
{
    enum { SLOT_WORDS = XFAST_SLOT_BYTES(4) / 4, WORD = 0, FIRST = 1, END = 2 };
    static uint64_t      keys[KEYS];
    const size_t         n = make_some(t, 32, KEYS, false, keys);
    AUTO_DICT ordo_dict *dict = make(t, 32, (struct form) { 1, true }, keys, NULL, n);
    struct ordo_xfast   *xfast = ordo_xfast_of(dict);
    const size_t         slots = (size_t) XFAST_SLOTS(xfast->shape);
    AUTO_FREE uint32_t  *table = read_words(t, xfast->slots, slots * SLOT_WORDS);
    size_t               used = slots, empty = 0; /* the last used slot, and the first empty one */

    while (used > 0 && table[--used * SLOT_WORDS + END] == 0)
        ;
    while (empty < slots && table[empty * SLOT_WORDS + END] != 0)
        empty++;
    test_true(t, used > 0 && empty < slots);
    test_ok(t, ordo_dict_check(dict, NULL));
    expect_broken_by(t, dict, xfast->flat, 1, 1, "X1");
    expect_broken_by(t, dict, xfast->slots, used * SLOT_WORDS + WORD, 1u << 31, "X2");
    expect_broken_by(t, dict, xfast->slots, used * SLOT_WORDS + FIRST, 1, "X2");
    expect_broken_by(t, dict, xfast->slots, used * SLOT_WORDS + END, 1, "X2");
    expect_broken_by(t, dict, xfast->slots, empty * SLOT_WORDS + END, 1, "X3");
}
