/* SPDX-License-Identifier: Apache-2.0 */
/* Memory and leaves of concurrent batches: a lack of either loses nothing and ends no legal batch wrongly, and unused
 * memory is freed. */
#include "tests/ltree/tree.h"
#include "tests/support/support.h"

#include "dict/ltree/ltree.h"
#include "runtime/internal.h"

#include <stdio.h>
#include <stdlib.h>

/* Arrays of a batch, as tests need them; NULL if ordo_host_concurrent_batch allows it. */
struct batch {
    size_t    n;
    uint8_t  *codes, *found, *outcomes;
    uint32_t *keys, *hi, *values, *keys_out, *counts;
};

static struct batch make_batch(size_t n)
{
    const size_t w = n * sizeof(uint32_t);
    struct batch b = { n,
                       test_alloc(n),
                       test_alloc(n),
                       test_alloc(n),
                       test_alloc(w),
                       test_alloc(w),
                       test_alloc(w),
                       test_alloc(w),
                       test_alloc(w) };
    memset(b.outcomes, TEST_EMPTY, n);
    memset(b.hi, 0, w);
    return b;
}

static void free_batch(struct batch *b)
{
    void *const all[] = { b->codes, b->found, b->outcomes, b->keys, b->hi, b->values, b->keys_out, b->counts };
    for (size_t i = 0; i < LENGTH(all); i++)
        free(all[i]);
}

static ordo_status apply(ordo_dict *dict, struct batch *b)
{
    return ordo_dict_apply_concurrent_host(dict, &(struct ordo_host_concurrent_batch) { .codes = b->codes,
                                                                                        .keys = b->keys,
                                                                                        .hi = b->hi,
                                                                                        .values = b->values,
                                                                                        .count = b->n,
                                                                                        .found = b->found,
                                                                                        .keys_out = b->keys_out,
                                                                                        .counts = b->counts,
                                                                                        .outcomes = b->outcomes });
}

/* A tree of u32 keys and 4-byte values: keys from, from + step and so on, with themselves as values. */
static ordo_dict *make_tree(struct test *t, ordo_device *dev, size_t n, uint32_t from, uint32_t step, uint32_t fill,
                            size_t max_leaves)
{
    AUTO_FREE uint32_t *keys = test_alloc(n * sizeof *keys);
    ordo_dict          *dict = NULL;

    for (size_t i = 0; i < n; i++)
        keys[i] = from + step * (uint32_t) i;
    test_ok(t,
            create_tree(dev, ordo_blink_config(.dict = { ORDO_U32, 4 }, .fill_percent = fill, .max_leaves = max_leaves),
                        &dict));
    if (n > 0)
        test_ok(t, ordo_dict_build_host(dict, keys, keys, n));
    return dict;
}

static struct ordo_statistics statistics_of(struct test *t, ordo_dict *dict)
{
    struct ordo_statistics s;
    test_ok(t, ordo_dict_statistics(dict, NULL, &s));
    return s;
}

static size_t bytes_of(const struct ordo_statistics *s)
{
    return s->bytes_data + s->bytes_index + s->bytes_marks + s->bytes_spare;
}

static uint64_t held_bytes(struct test *t, ordo_device *dev)
{
    struct ordo_memory memory;
    test_ok(t, ordo_device_memory(dev, &memory));
    return memory.held_bytes;
}

/* ---- more than one allocation ------------------------------------------------------------------------------------ */

enum { ALLOCATION = 1200000, LARGE_STEP = 60000, LARGE_STEPS = 6 }; /* a self-test takes 1 MB on a large GPU */

/* Stores batches until the keys of all leaves exceed the largest allocation. Stored elements stay. */
static void grow_too_large(struct test *t)
{
    AUTO_FREE uint32_t  *keys = test_alloc(LARGE_STEP * sizeof *keys);
    AUTO_DICT ordo_dict *dict = make_tree(t, t->dev, 0, 0, 1, 0, 0);
    ordo_status          got = ORDO_OK;
    size_t               stored = 0;

    for (int step = 0; step < LARGE_STEPS && got == ORDO_OK; step++) {
        for (uint32_t i = 0; i < LARGE_STEP; i++)
            keys[i] = (uint32_t) step * LARGE_STEP + i;
        got = ordo_dict_upsert_host(dict, keys, keys, LARGE_STEP);
        stored += got == ORDO_OK ? LARGE_STEP : 0;
    }
    test_status(t, got, ORDO_TOO_LARGE);
    test_ok(t, ordo_dict_check(dict, NULL));
    test_true(t, stored > 0 && statistics_of(t, dict).elements == stored);
}

Test(ltree_room, more_than_the_largest_allocation_is_too_large)
{
    char mask[32];

    (void) snprintf(mask, sizeof mask, "alloc=%d", ALLOCATION);
    test_each_device_with(mask, grow_too_large);
}

/* ---- too little memory ------------------------------------------------------------------------------------------- */

enum { OLD = 20000, OPS = 9000 };

/* Stores new keys between the old ones, erases old ones, and queries many. Changes each key at most once. */
static void make_little(struct test *t, struct batch *b)
{
    for (size_t i = 0; i < b->n; i++) {
        const uint32_t own = (uint32_t) (i * 2 + test_below(t, 2)), kind = (uint32_t) test_below(t, 100);
        b->codes[i] = kind < 70 ? ORDO_UPSERT : kind < 80 ? ORDO_ERASE : kind < 90 ? ORDO_COUNT : ORDO_SEEK_GT;
        b->keys[i] = own * 8 + (b->codes[i] == ORDO_UPSERT ? 3 : 0);
        b->hi[i] = test_below(t, 50) == 0 ? UINT32_MAX : b->keys[i] + 4000;
        b->values[i] = b->keys[i];
    }
}

/* Checks that each key that no erase names exists, and that others match their outcomes if all are known. */
static void expect_old(struct test *t, ordo_dict *dict, const struct batch *b, bool known)
{
    static uint8_t  erased[OLD], found[OLD];
    static uint32_t keys[OLD], values[OLD];

    memset(erased, 0, sizeof erased);
    for (size_t i = 0; i < b->n; i++)
        if (b->codes[i] == ORDO_ERASE)
            erased[b->keys[i] / 8] = 1;
    for (uint32_t i = 0; i < OLD; i++)
        keys[i] = i * 8;
    test_ok(t, ordo_dict_find_host(dict, keys, OLD, values, found));
    for (uint32_t i = 0; i < OLD; i++)
        if (erased[i] ? known && found[i] : !found[i] || values[i] != keys[i])
            test_fail(t, __FILE__, __LINE__, "key %u, %s: found %u, value %u", keys[i],
                      erased[i] ? "erased" : "untouched", found[i], values[i]);
    test_ok(t, ordo_dict_find_host(dict, b->keys, b->n, NULL, b->found));
    for (size_t i = 0; i < b->n && known; i++)
        if (b->codes[i] == ORDO_UPSERT && b->found[i] != (b->outcomes[i] == ORDO_DONE))
            test_fail(t, __FILE__, __LINE__, "key %u, outcome %u: found %u", b->keys[i], b->outcomes[i], b->found[i]);
}

/* True if nothing was refused. */
static bool try_little(struct test *t, ordo_device *dev, uint64_t more)
{
    ordo_dict   *dict = make_tree(t, dev, OLD, 0, 8, 100, 0);
    struct batch b = make_batch(OPS);
    bool         all = true;

    test_context(t, "a concurrent batch with %llu bytes more", (unsigned long long) more);
    make_little(t, &b);
    expect_old(t, dict, &b, false); /* so that the finds of host arrays have their memory from now on */
    ordo_ltree_of(dict)->faults =
        FAULT_NO_TRIES + FAULT_LATCHES; /* who gets no latch gives up, also before the entry of a split */
    dev->memory_limit = held_bytes(t, dev) + more;
    const ordo_status status = apply(dict, &b);
    test_true(t, status == ORDO_OK || status == ORDO_NO_DEVICE_MEMORY);
    expect_old(t, dict, &b, false);
    dev->memory_limit = UINT64_MAX;
    test_ok(t, ordo_dict_check(dict, NULL));
    expect_old(t, dict, &b, status == ORDO_OK);
    for (size_t i = 0; i < b.n; i++)
        all = all && b.outcomes[i] == ORDO_DONE;
    free_batch(&b);
    ordo_dict_destroy(&dict);
    test_ok(t, ordo_device_trim(dev));
    return status == ORDO_OK && all;
}

MASK_TEST(ltree_room, too_little_memory_loses_nothing, "group=1")
{
    AUTO_DEVICE ordo_device *dev = test_open_again(t);
    uint64_t                 more = 0;

    while (!try_little(t, dev, more) && more < (64u << 20))
        more += more / 3 + 4096;
    test_true(t, more > 0 && more < (64u << 20));
}

/* ---- queries of very many leaves --------------------------------------------------------------------------------- */

/* Counts everything, and seeks over leaves that are all empty but for the last key. */
static void long_queries(struct test *t, size_t n, size_t queries, uint64_t more)
{
    AUTO_DEVICE ordo_device      *dev = test_open_again(t);
    AUTO_DICT ordo_dict          *dict = make_tree(t, dev, n, 5, 3, 100, 0);
    AUTO(free_batch) struct batch b = make_batch(queries);

    test_context(t, "%zu long queries of %zu keys, %llu bytes more", queries, n, (unsigned long long) more);
    for (size_t i = 0; i < b.n; i++) {
        b.codes[i] = i % 3 == 2 ? ORDO_SEEK_GE : ORDO_COUNT;
        b.keys[i] = i % 3 == 2 ? 5 + 3 * (uint32_t) i : 0;
        b.hi[i] = i % 3 == 1 ? 5 + 3 * (uint32_t) (n / 2) : UINT32_MAX;
    }
    test_ok(t, ordo_device_trim(dev));
    if (more)
        dev->memory_limit = held_bytes(t, dev) + more;
    test_ok(t, apply(dict, &b));
    for (size_t i = 0; i < b.n; i++) {
        test_true(t, b.outcomes[i] == ORDO_DONE);
        if (i % 3 == 2)
            test_true(t, b.found[i] == 1 && b.keys_out[i] == b.keys[i]);
        else
            test_true(t, b.counts[i] == (i % 3 == 1 ? n / 2 + 1 : n));
    }
}

/* One work-item does all: 400 counts of 9,000 and 18,000 leaves are 330 launches of all its steps. */
static void long_queries_of_one(struct test *t)
{
    long_queries(t, (size_t) 1 << 19, 600, 0);
}

/* There is no memory for the list of leaves. */
static void long_queries_without_memory(struct test *t)
{
    long_queries(t, (size_t) 1 << 19, 64, 0);
    long_queries(t, (size_t) 1 << 17, 64, 64 << 10);
}

Test(ltree_room, queries_of_many_leaves_come_to_an_end)
{
    test_each_device_with("atomics=legacy", long_queries_of_one);
    test_each_device_with("group=1", long_queries_without_memory);
}

/* Most leaves are empty, and stay because there is no memory for a rebuild. */
MASK_TEST(ltree_room, seeks_get_over_leaves_that_are_used_up, "group=1")
{
    enum { N = 1 << 16, LEFT = 1 << 15, SEEKS = 64 };
    AUTO_DEVICE ordo_device *dev = test_open_again(t);
    AUTO_DICT ordo_dict     *dict = make_tree(t, dev, N, 5, 3, 100, 0);
    struct batch             erase = make_batch(LEFT - 1), seek = make_batch(SEEKS);

    test_context(t, "seeks over used-up leaves");
    for (size_t i = 0; i < erase.n; i++) {
        erase.codes[i] = ORDO_ERASE;
        erase.keys[i] = 5 + 3 * (uint32_t) i;
    }
    test_ok(t, ordo_device_trim(dev));
    dev->memory_limit = held_bytes(t, dev) + erase.n * 64;
    test_ok(t, apply(dict, &erase));
    for (size_t i = 0; i < seek.n; i++) {
        seek.codes[i] = i % 2 ? ORDO_SEEK_GE : ORDO_SEEK_LT;
        seek.keys[i] = i % 2 ? (uint32_t) i : 5 + 3 * (LEFT - 1);
    }
    test_ok(t, apply(dict, &seek));
    dev->memory_limit = UINT64_MAX;
    test_ok(t, apply(dict, &seek));
    for (size_t i = 0; i < seek.n; i++)
        test_true(t, i % 2 ? seek.found[i] == 1 && seek.keys_out[i] == 5 + 3 * (LEFT - 1) : seek.found[i] == 0);
    test_ok(t, ordo_dict_check(dict, NULL));
    free_batch(&erase);
    free_batch(&seek);
}

static void apply_mixed(struct test *t, ordo_dict *dict, uint8_t code, const uint32_t *keys, size_t n)
{
    AUTO_FREE uint8_t *codes = test_alloc(n);

    memset(codes, code, n);
    codes[0] = ORDO_FIND;
    test_ok(t, ordo_dict_apply_host(
                   dict, &(struct ordo_host_batch) { .codes = codes, .keys = keys, .values = keys, .count = n }, NULL));
}

/* Seeks need no list of the leaves after mixed batches that erase nothing, or empty two leaves at most. */
MASK_TEST(ltree_room, few_empty_leaves_need_no_list, "group=1", "cpu=0")
{
    enum { N = 1 << 14, FIRST = 1000 };
    const size_t         changed = 3 * tree_slots();
    uint32_t             keys[3 * LTREE_WORDS_USUAL], found_key = 0;
    uint8_t              found = 0;
    AUTO_DICT ordo_dict *dict = make_tree(t, t->dev, N, 0, 2, 100, 0);
    struct ordo_ltree   *tree = ordo_ltree_of(dict);

    test_context(t, "seeks after mixed batches");
    for (size_t i = 0; i < changed; i++)
        keys[i] = 2 * (FIRST + (uint32_t) i);
    apply_mixed(t, dict, ORDO_UPSERT, keys, changed);
    test_true(t, tree->emptied == 0);
    apply_mixed(t, dict, ORDO_ERASE, keys, changed);
    test_true(t, tree->emptied >= 2 && tree->emptied <= 4);
    test_ok(t, ordo_dict_seek_host(dict, ORDO_GT, &keys[0], 1, &found_key, NULL, &found));
    test_true(t, found && found_key == 2 * (FIRST + changed) && !tree->list.order);
    test_ok(t, ordo_dict_seek_host(dict, ORDO_LT, &keys[changed - 1], 1, &found_key, NULL, &found));
    test_true(t, found && found_key == keys[0] && !tree->list.order);
    test_ok(t, ordo_dict_check(dict, NULL));
}

/* ---- memory that is freed ---------------------------------------------------------------------------------------- */

/* At most 3 times keys and values, 3.5 times with small chunks, and 50 KB. */
static void expect_little(struct test *t, ordo_dict *dict, size_t elements)
{
    const struct ordo_statistics s = statistics_of(t, dict);
    if (s.elements != elements || bytes_of(&s) > elements * (tree_words() < 32 ? 7 : 6) * 4 + (50 << 10))
        test_fail(t, __FILE__, __LINE__, "%zu elements (should be %zu) in %zu leaves take %zu bytes", s.elements,
                  elements, s.leaves, bytes_of(&s));
}

/* Stores new keys on the right and erases old ones on the left. Nothing is refused, whatever the limit of leaves. */
static void slide(struct test *t, size_t live, size_t each, size_t batches, size_t max_leaves)
{
    AUTO_DICT ordo_dict          *dict = make_tree(t, t->dev, live, 0, 1, 0, max_leaves);
    AUTO(free_batch) struct batch b = make_batch(2 * each);

    test_context(t, "a window of %zu that slides by %zu, %zu leaves at most", live, each, max_leaves);
    for (size_t k = 0; k < batches; k++) {
        for (size_t i = 0; i < each; i++) {
            b.codes[2 * i] = ORDO_UPSERT;
            b.codes[2 * i + 1] = ORDO_ERASE;
            b.keys[2 * i] = b.values[2 * i] = (uint32_t) (live + k * each + i);
            b.keys[2 * i + 1] = (uint32_t) (k * each + i);
        }
        test_ok(t, apply(dict, &b));
        for (size_t i = 0; i < b.n; i++)
            test_true(t, b.outcomes[i] == ORDO_DONE);
        if (k > 2)
            expect_little(t, dict, live);
    }
    test_ok(t, ordo_dict_check(dict, NULL));
}

MASK_TEST(ltree_room, a_window_that_slides_takes_a_bounded_multiple_of_what_lives_in_it, "group=1")
{
    slide(t, 1 << 14, 1 << 12, 40, 0);
    slide(t, 1 << 14, 1 << 14, 12, 0);
    slide(t, 1 << 13, 1 << 12, 40, (28 << 13) / 9 / tree_slots());
}

/* Erases every other key: no leaf is free, and each is half empty. */
MASK_TEST(ltree_room, leaves_are_given_back_before_stores_are_refused, "group=1")
{
    enum { KEYS = 1 << 13, NEW = 700 };
    const size_t                  full = (KEYS + tree_slots() - 1) / tree_slots();
    AUTO_DICT ordo_dict          *dict = make_tree(t, t->dev, KEYS, 0, 1, 100, full);
    AUTO(free_batch) struct batch b = make_batch(KEYS / 2);

    test_context(t, "new leaves where all are taken and half empty");
    for (size_t i = 0; i < b.n; i++)
        b.keys[i] = (uint32_t) (2 * i);
    memset(b.codes, ORDO_ERASE, b.n);
    test_ok(t, apply(dict, &b));
    test_true(t, statistics_of(t, dict).leaves == full);
    b.n = NEW;
    memset(b.codes, ORDO_INSERT, b.n);
    for (size_t i = 0; i < b.n; i++)
        b.keys[i] = (uint32_t) (KEYS + i);
    test_ok(t, apply(dict, &b));
    for (size_t i = 0; i < b.n; i++)
        test_true(t, b.outcomes[i] == ORDO_DONE);
    test_true(t, statistics_of(t, dict).leaves <= full);
    test_ok(t, ordo_dict_check(dict, NULL));
}

/* Distinct for distinct i, in random order. */
static uint32_t scattered(uint32_t i)
{
    const uint32_t x = (i + 1) * 2654435761u;
    return (x ^ x >> 16) * 0x85ebca6bu;
}

/* Stores as many random keys as fit into the leaves. Concurrent stores alone fill leaves to two thirds. */
MASK_TEST(ltree_room, leaves_are_filled_before_stores_are_refused, "group=1", "cpu=0")
{
    enum { LEAVES = 64 };
    const size_t                  keys = LEAVES * tree_slots();
    AUTO_DICT ordo_dict          *dict = make_tree(t, t->dev, 0, 0, 1, 0, LEAVES);
    AUTO(free_batch) struct batch b = make_batch(keys);

    memset(b.codes, ORDO_INSERT, b.n);
    for (size_t i = 0; i < b.n; i++)
        b.keys[i] = b.values[i] = scattered((uint32_t) i);
    test_ok(t, apply(dict, &b));
    for (size_t i = 0; i < b.n; i++)
        test_true(t, b.outcomes[i] == ORDO_DONE && !b.found[i]);
    test_true(t, statistics_of(t, dict).elements == keys && statistics_of(t, dict).leaves == LEAVES);
    b.n = 1;
    b.keys[0] = 1;
    test_ok(t, apply(dict, &b));
    test_true(t, b.outcomes[0] == ORDO_NOT_STORED);
    test_ok(t, ordo_dict_check(dict, NULL));
}

/* Memory for the leaves of all keys, but not for a list of all operations in addition. */
MASK_TEST(ltree_room, lists_leave_memory_for_leaves, "group=1")
{
    enum { KEYS = 20000, ARRAYS = 23, ROOM = 29 }; /* bytes an operation: of the batch's arrays, and in addition */
    AUTO_DICT ordo_dict          *dict = make_tree(t, t->dev, 0, 0, 1, 0, 0);
    AUTO(free_batch) struct batch b = make_batch(KEYS);
    const uint64_t                limit = t->dev->memory_limit;

    memset(b.codes, ORDO_UPSERT, b.n);
    for (size_t i = 0; i < b.n; i++)
        b.keys[i] = b.values[i] = scattered((uint32_t) i);
    test_context(t, "%d operations with little memory", KEYS);
    test_ok(t, ordo_device_trim(t->dev));
    t->dev->memory_limit = held_bytes(t, t->dev) + (uint64_t) KEYS * (ARRAYS + (tree_words() < 32 ? ROOM + 6 : ROOM));
    test_ok(t, apply(dict, &b));
    t->dev->memory_limit = limit;
    for (size_t i = 0; i < b.n; i++)
        test_true(t, b.outcomes[i] == ORDO_DONE);
    test_ok(t, ordo_dict_check(dict, NULL));
}

/* Stores of existing keys need no leaf, and many stores of few keys keep no more leaves than these need. */
MASK_TEST(ltree_room, stores_of_keys_that_are_there_take_no_memory, "group=1")
{
    enum { KEYS = 1 << 12, STORES = 1 << 18 };
    AUTO_DICT ordo_dict          *dict = make_tree(t, t->dev, KEYS, 0, 7, 0, 0);
    AUTO(free_batch) struct batch b = make_batch(STORES);

    test_context(t, "keys that are there stored again and again");
    memset(b.codes, ORDO_UPSERT, b.n);
    for (size_t i = 0; i < b.n; i++)
        b.keys[i] = (uint32_t) (i * 2654435761u) % KEYS * 7;
    test_ok(t, apply(dict, &b));
    expect_little(t, dict, KEYS);
    test_true(t, statistics_of(t, dict).bytes_peak < (size_t) KEYS * 8 * 8 + (50 << 10));
    test_context(t, "few new keys stored again and again");
    for (size_t i = 0; i < b.n; i++)
        b.keys[i]++;
    test_ok(t, apply(dict, &b));
    expect_little(t, dict, (size_t) 2 * KEYS);
    test_ok(t, ordo_dict_check(dict, NULL));
}

/* ---- levels that lag at the end ---------------------------------------------------------------------------------- */

/* The operations of a batch starve, so the host grows the pools. The next batch splits leaves, whose entries wait for
 * inner nodes until its end; then the pools shrink. The levels' new nodes, the root among them, move with the rest. */
MASK_TEST(ltree_room, levels_that_lag_at_the_end_of_a_batch_move_with_the_rest, "group=1")
{
    enum { KEYS = 32000, NEW = 2000, STORED = 15500 };
    AUTO_DICT ordo_dict          *dict = make_tree(t, t->dev, KEYS, 0, 100, 50, 0);
    struct ordo_ltree            *tree = ordo_ltree_of(dict);
    AUTO(free_batch) struct batch b = make_batch(STORED + NEW);

    test_context(t, "levels that lag when the pools shrink");
    memset(b.codes, ORDO_UPSERT, b.n);
    for (uint32_t i = 0; i < NEW; i++)
        b.keys[i] = i % 2 * 1600000 + 17 * i + (17 * i % 100 == 0); /* in two places, one for each batch */
    for (uint32_t i = 0; i < STORED; i++)
        b.keys[NEW + i] = 100 * (i * 7919 % KEYS);
    for (size_t i = 0; i < b.n; i++)
        b.values[i] = b.keys[i];
    struct batch first = b;
    first.n = NEW;
    for (uint32_t i = 0; i < NEW; i++)
        first.codes[i] = i % 2 ? ORDO_UPSERT : ORDO_FIND;
    tree->faults = FAULT_NODES;
    test_ok(t, apply(dict, &first));
    const size_t room = tree->pools.leaves;
    memset(b.codes, ORDO_UPSERT, NEW);
    tree->faults = FAULT_NO_INNER;
    test_ok(t, apply(dict, &b));
    tree->faults = 0;
    test_true(t, tree->pools.leaves < room); /* else nothing moved */
    test_ok(t, ordo_dict_check(dict, NULL));
    memset(b.codes, ORDO_FIND, b.n);
    test_ok(t, apply(dict, &b));
    for (size_t i = 0; i < b.n; i++)
        test_true(t, b.found[i] == 1);
}

/* ---- more elements than can be counted --------------------------------------------------------------------------- */

static void set_elements(struct test *t, ordo_dict *dict, uint32_t elements)
{
    struct ordo_ltree *tree = ordo_ltree_of(dict);
    struct ordo_call   call;

    test_ok(t, ordo_call_begin(&call, t->dev, NULL));
    test_ok(t, ordo_call_end(&call, ordo_call_fill(&call, tree->state, LTREE_ELEMENTS * sizeof(cl_uint),
                                                   sizeof(cl_uint), elements)));
    tree->elements_max = elements;
}

/* Pretends that the tree has more elements than fit in a test. */
MASK_TEST(ltree_room, more_elements_than_can_be_counted_are_refused, "group=1")
{
    enum { N = 100 };
    AUTO_DICT ordo_dict          *dict = make_tree(t, t->dev, N, 0, 2, 0, 0);
    AUTO(free_batch) struct batch b = make_batch(N);

    test_context(t, "a full tree");
    memset(b.codes, ORDO_INSERT, N);
    for (uint32_t i = 0; i < N; i++)
        b.keys[i] = 2 * i + 1;
    set_elements(t, dict, (uint32_t) (ORDO_MAX_COUNT - N + 1));
    test_status(t, apply(dict, &b), ORDO_TOO_LARGE);
    test_status(t, ordo_dict_upsert_host(dict, b.keys, b.values, N), ORDO_TOO_LARGE);
    test_status(t, ordo_dict_insert_host(dict, b.keys, b.values, N, NULL), ORDO_TOO_LARGE);
    set_elements(t, dict, N);
    test_ok(t, ordo_dict_check(dict, NULL));
    test_ok(t, apply(dict, &b));
    test_true(t, statistics_of(t, dict).elements == (size_t) 2 * N);
    test_ok(t, ordo_dict_check(dict, NULL));
}
