/* SPDX-License-Identifier: Apache-2.0 */
/* The skiplist's own: chunks that empty merge, and memory follows the content. (Histories and schedules:
 * ltree_history.c.) */
#include "tests/support/support.h"

#include "dict/ltree/ltree.h"
#include "ordo/skiplist.h"

#include <stdio.h>
#include <stdlib.h>

enum { KEYS = 1 << 13, STEP = 5 };

static const uint32_t sizes[] = { 32, 16 }; /* of chunks */
#define N_SIZES (sizeof sizes / sizeof *sizes)

/* Keys 0, STEP, 2 STEP and so on, some of them stored, with their numbers as values. */
struct content {
    ordo_dict *dict;
    bool       there[KEYS];
    size_t     n;
};

static void make_content(struct test *t, struct content *c, uint32_t chunk, uint32_t raise)
{
    uint32_t keys[KEYS], values[KEYS];

    *c = (struct content) { .dict = NULL };
    for (uint32_t i = 0; i < KEYS; i++) {
        keys[i] = STEP * i;
        values[i] = i;
        c->there[i] = true;
    }
    c->n = KEYS;
    test_ok(t, ordo_skiplist_create(
                   t->dev, ordo_skiplist_config(.dict = { ORDO_U32, 4 }, .raise_percent = raise, .chunk = chunk),
                   &c->dict));
    test_ok(t, ordo_dict_build_host(c->dict, keys, values, KEYS));
}

/* Erases or stores concurrently the keys first .. last that one of `one_in` dice selects, from either end or at
 * random. */
static void change(struct test *t, struct content *c, bool erase, uint32_t first, uint32_t last, uint32_t one_in)
{
    uint32_t keys[KEYS], values[KEYS], n = 0;
    uint8_t  codes[KEYS], outcomes[KEYS];

    for (uint32_t i = first; i <= last; i++) {
        if (test_below(t, one_in) > 0)
            continue;
        keys[n] = STEP * i;
        values[n] = i;
        codes[n++] = erase ? ORDO_ERASE : ORDO_UPSERT;
        c->n += (size_t) !erase - c->there[i];
        c->there[i] = !erase;
    }
    for (uint32_t i = n; i > 1; i--) {
        const uint32_t j = (uint32_t) test_below(t, i), key = keys[i - 1], value = values[i - 1];
        keys[i - 1] = keys[j];
        values[i - 1] = values[j];
        keys[j] = key;
        values[j] = value;
    }
    const struct ordo_host_concurrent_batch batch = {
        .codes = codes, .keys = keys, .values = values, .count = n, .outcomes = outcomes
    };
    if (n > 0)
        test_ok(t, ordo_dict_apply_concurrent_host(c->dict, &batch));
    for (uint32_t i = 0; i < n; i++)
        test_true(t, outcomes[i] == ORDO_DONE);
}

/* Checks the content, the invariants, and that few chunks are taken, as the header says. */
static void expect_content(struct test *t, const struct content *c)
{
    uint32_t keys[KEYS], values[KEYS];
    size_t   n = 0, at = 0;

    test_ok(t, ordo_dict_check(c->dict, NULL));
    test_ok(t, ordo_dict_export_host(c->dict, keys, values, KEYS, &n));
    test_true(t, n == c->n);
    for (uint32_t i = 0; i < KEYS; i++)
        if (c->there[i]) {
            test_true(t, at < n && keys[at] == STEP * i && values[at] == i);
            at++;
        }
    struct ordo_statistics s;
    test_ok(t, ordo_dict_statistics(c->dict, NULL, &s));
    test_true(t, ordo_ltree_of(c->dict)->leaves_max <= s.leaves + s.leaves * 2 / 5 + 64);
}

static size_t chunks_of(struct test *t, const struct content *c)
{
    struct ordo_statistics s;
    test_ok(t, ordo_dict_statistics(c->dict, NULL, &s));
    return s.leaves;
}

/* Checks before a rebuild, after it, and when nothing is left. */
MASK_TEST(skiplist_merge, chunks_that_empty_merge_and_are_reclaimed, "group=1")
{
    static const uint32_t raises[] = { 100, 1 };
    struct content        c;

    for (size_t r = 0; r < 2 * N_SIZES; r++) {
        const uint32_t raise = raises[r % 2], chunk = sizes[r / 2];
        make_content(t, &c, chunk, raise);
        const size_t chunks = chunks_of(t, &c), rebuilds = ordo_ltree_of(c.dict)->rebuilds;
        test_context(t, "a part erased, chunks of %u, raise %u", chunk, raise);
        change(t, &c, true, KEYS / 4, KEYS / 4 + KEYS / 16, 1);
        expect_content(t, &c);
        test_true(t, ordo_ltree_of(c.dict)->rebuilds == rebuilds);
        test_true(t, chunks_of(t, &c) < chunks - chunks / 50); /* a sixteenth, less those in which operations obstructed
                                                             * each other */
        test_context(t, "stored again, chunks of %u, raise %u", chunk, raise);
        change(t, &c, false, 0, KEYS - 1, 2);
        expect_content(t, &c);
        test_context(t, "most erased, chunks of %u, raise %u", chunk, raise);
        for (int round = 0; round < 4; round++) {
            change(t, &c, true, 0, KEYS - 1, 2);
            expect_content(t, &c);
        }
        test_true(t, chunks_of(t, &c) < chunks / 4);
        test_context(t, "all erased, chunks of %u, raise %u", chunk, raise);
        change(t, &c, true, 0, KEYS - 1, 1);
        expect_content(t, &c);
        /* A chunk stays empty if another group holds its neighbour at that moment. A merge on the way takes it. */
        const size_t left = chunks_of(t, &c);
        test_context(t, "all erased, chunks of %u, raise %u: %zu of %zu chunks are left", chunk, raise, left, chunks);
        test_true(t, c.n == 0 && left <= 4 + chunks / 16);
        test_ok(t, ordo_dict_compact(c.dict, NULL));
        expect_content(t, &c);
        test_true(t, chunks_of(t, &c) <= 4);
        ordo_dict_destroy(&c.dict);
    }
}

/* ---- twice at one place ------------------------------------------------------------------------------------------ */

enum { APART = 100, CHUNKS = 8, HALF_MAX = (LTREE_WORDS_USUAL - LTREE_TAIL) / 2 };

/* A batch whose operations run one after another, in one launch. */
struct script {
    uint32_t keys[256];
    uint8_t  codes[256];
    size_t   n;
};

static void add(struct script *s, uint8_t code, uint32_t first, uint32_t last, uint32_t step)
{
    for (uint32_t key = first; key <= last; key += step) {
        s->keys[s->n] = key;
        s->codes[s->n++] = code;
    }
}

/* Three chunks L, N, ... are half full. L splits at a key, which makes R. R merges into N, L into N, and N splits at
 * that key again. The old entry of R then has the key of the new chunk's entry. */
static struct script same_split(uint32_t half)
{
    const uint32_t l = 3 * half * APART, n = l + half * APART, middle = l + half - 1;
    struct script  s = { .n = 0 };

    add(&s, ORDO_INSERT, l + 1, l + half + 1, 1); /* L is full, and splits after `middle` */
    add(&s, ORDO_ERASE, n + (half - 2) * APART, n + (half - 1) * APART, APART); /* so that N has capacity */
    add(&s, ORDO_ERASE, middle + 1, middle + 2, 1);                             /* R's, most of them in N by then */
    add(&s, ORDO_ERASE, l + APART, n - APART, APART);
    for (uint32_t key = middle; key >= l + half - half / 2; key--) /* L's, until the others move to N */
        add(&s, ORDO_ERASE, key, key, 1);
    add(&s, ORDO_INSERT, l + half - half / 2, middle, 1);
    add(&s, ORDO_INSERT, n + 1, n + 3, 1); /* the last of these splits N */
    return s;
}

static void split_one_again(struct test *t, uint32_t chunk)
{
    uint32_t             keys[CHUNKS * HALF_MAX];
    uint8_t              outcomes[256];
    const uint32_t       half = (chunk - LTREE_TAIL) / 2;
    const struct script  s = same_split(half);
    size_t               size = 0;
    AUTO_DICT ordo_dict *dict = NULL;

    test_context(t, "chunks of %u", chunk);
    for (uint32_t i = 0; i < CHUNKS * half; i++)
        keys[i] = i * APART;
    test_ok(t, ordo_skiplist_create(
                   t->dev, ordo_skiplist_config(.dict = { ORDO_U32, 4 }, .fill_percent = 50, .chunk = chunk), &dict));
    test_ok(t, ordo_dict_build_host(dict, keys, keys, (size_t) CHUNKS * half));
    ordo_ltree_of(dict)->faults = FAULT_ALONE;
    const struct ordo_host_concurrent_batch batch = {
        .codes = s.codes, .keys = s.keys, .values = s.keys, .count = s.n, .outcomes = outcomes
    };
    test_ok(t, ordo_dict_apply_concurrent_host(dict, &batch));
    ordo_ltree_of(dict)->faults = 0;
    for (size_t i = 0; i < s.n; i++)
        test_true(t, outcomes[i] == ORDO_DONE);
    test_ok(t, ordo_dict_check(dict, NULL));
    test_ok(t, ordo_dict_size(dict, NULL, &size));
    test_true(t, size == (size_t) CHUNKS * half + (half + 1) - (half - 1) - 2 - 2 + 3);
    struct ordo_statistics is;
    test_ok(t, ordo_dict_statistics(dict, NULL, &is));
    test_true(t, is.leaves == CHUNKS); /* two came, two went */
}

DEVICE_TEST(skiplist_merge, a_chunk_may_split_where_one_has_that_merged_since)
{
    for (size_t i = 0; i < N_SIZES; i++)
        split_one_again(t, sizes[i]);
}

/* ---- over many batches ------------------------------------------------------------------------------------------- */

/* Each batch erases the keys that the one before has stored, and stores the keys that it has erased. */
static void many_batches_of(struct test *t, uint32_t chunk)
{
    enum { BATCHES = 24 };
    struct content c;

    make_content(t, &c, chunk, 0);
    change(t, &c, true, 0, KEYS - 1, 2);
    for (uint32_t b = 0; b < BATCHES; b++) {
        const uint32_t first = KEYS / BATCHES * b, last = first + KEYS / 3 < KEYS ? first + KEYS / 3 : KEYS - 1;
        test_context(t, "chunks of %u, batch %u", chunk, b);
        change(t, &c, b % 2 == 0, first, last, 1 + b % 3);
        expect_content(t, &c);
        change(t, &c, b % 2 != 0, first, last, 1);
        expect_content(t, &c);
    }
    ordo_dict_destroy(&c.dict);
}

MASK_TEST(skiplist_merge, memory_follows_what_lives_over_many_batches, "group=1")
{
    for (size_t i = 0; i < N_SIZES; i++)
        many_batches_of(t, sizes[i]);
}

/* ---- dead chunks ------------------------------------------------------------------------------------------------- */

static uint32_t peek(struct test *t, cl_mem mem, size_t word)
{
    struct ordo_call call;
    cl_uint          got = 0;
    test_ok(t, ordo_call_begin(&call, t->dev, NULL));
    test_ok(t, ordo_call_end(&call, ordo_call_read(&call, mem, word * sizeof got, &got, sizeof got)));
    return got;
}

static void poke(struct test *t, cl_mem mem, size_t word, cl_uint to)
{
    struct ordo_call call;
    test_ok(t, ordo_call_begin(&call, t->dev, NULL));
    test_ok(t, ordo_call_end(&call, ordo_call_write(&call, mem, word * sizeof to, &to, sizeof to)));
}

static void expect_noticed(struct test *t, ordo_dict *dict, cl_mem mem, size_t word, cl_uint to, const char *invariant)
{
    char          text[512] = "";
    const cl_uint was = peek(t, mem, word);

    test_context(t, "%s: word %zu, %#x for %#x", invariant, word, to, was);
    test_true(t, was != to);
    poke(t, mem, word, to);
    test_true(t, ordo_dict_check(dict, NULL) == ORDO_BROKEN);
    (void) ordo_device_last_error(t->dev, text, sizeof text);
    test_true(t, strstr(text, invariant) != NULL);
    poke(t, mem, word, was);
    test_ok(t, ordo_dict_check(dict, NULL));
}

/* A dead chunk with elements, with a wrong count, or with an entry; and a live one that is counted as dead. */
static void broken_of(struct test *t, uint32_t chunk)
{
    struct content c;

    make_content(t, &c, chunk, 0);
    change(t, &c, true, KEYS / 4, KEYS / 4 + KEYS / 16, 1);
    expect_content(t, &c);
    const struct ordo_ltree *tree = ordo_ltree_of(c.dict);
    const size_t             leaves = peek(t, tree->state, LTREE_LEAVES), tail = chunk - LTREE_TAIL;
    size_t                   dead = 0;
    for (size_t leaf = 1; leaf < leaves && dead == 0; leaf++)
        if (peek(t, tree->pools.leaf_keys, leaf * chunk + tail + LTREE_AT_LOW) ==
            peek(t, tree->pools.leaf_keys, leaf * chunk + tail + LTREE_AT_HIGH))
            dead = leaf;
    test_true(t, dead > 0);
    const size_t header = dead * chunk + tail + LTREE_AT_HEADER, low = dead * chunk + tail + LTREE_AT_LOW;
    expect_noticed(t, c.dict, tree->pools.leaf_keys, header, 1, "B2");
    expect_noticed(t, c.dict, tree->pools.leaf_keys, header, LTREE_LATCHED, "B7");
    expect_noticed(t, c.dict, tree->pools.leaf_keys, low, 1, "B");
    expect_noticed(t, c.dict, tree->state, LTREE_DEAD, 0, "B9");
    expect_noticed(t, c.dict, tree->pools.children, 1, (cl_uint) dead, "B");
    expect_noticed(t, c.dict, tree->pools.leaf_keys, chunk + tail + LTREE_AT_HIGH,
                   peek(t, tree->pools.leaf_keys, chunk + tail + LTREE_AT_LOW), "B");
    ordo_dict_destroy(&c.dict);
}

DEVICE_TEST(skiplist_merge, dead_chunks_that_are_not_are_noticed)
{
    for (size_t i = 0; i < N_SIZES; i++)
        broken_of(t, sizes[i]);
}

/* ---- a limit of chunks ------------------------------------------------------------------------------------------- */

enum { CAP = 100, MOST = CAP * 28, FEW = 10 };

/* A skiplist of CAP full chunks that may have no more, with keys 0, STEP, 2 STEP and so on. */
static ordo_dict *make_capped(struct test *t, uint32_t chunk)
{
    const uint32_t n = CAP * (chunk - LTREE_TAIL);
    uint32_t       keys[MOST];
    ordo_dict     *dict = NULL;

    for (uint32_t i = 0; i < n; i++)
        keys[i] = STEP * i;
    test_ok(t, ordo_skiplist_create(t->dev,
                                    ordo_skiplist_config(.dict = { ORDO_U32, 4 }, .fill_percent = 100,
                                                         .max_chunks = CAP, .chunk = chunk),
                                    &dict));
    test_ok(t, ordo_dict_build_host(dict, keys, keys, n));
    return dict;
}

/* Applies n operations concurrently, `each` on each of the chunks first, first + 4 and so on. Their keys lie `past`
 * keys of the chunk. */
static void apply_capped(struct test *t, ordo_dict *dict, ordo_code code, uint32_t slots, uint32_t first, uint32_t past,
                         uint32_t each, uint32_t n)
{
    uint32_t keys[MOST];
    uint8_t  codes[MOST], outcomes[MOST];

    for (uint32_t i = 0; i < n; i++) {
        keys[i] = STEP * ((first + 4 * (i / each)) * slots + i % each) + past;
        codes[i] = (uint8_t) code;
    }
    test_ok(t, ordo_dict_apply_concurrent_host(
                   dict, &(struct ordo_host_concurrent_batch) {
                             .codes = codes, .keys = keys, .values = keys, .count = n, .outcomes = outcomes }));
    for (uint32_t i = 0; i < n; i++)
        test_true(t, outcomes[i] == ORDO_DONE);
}

static void expect_capped(struct test *t, ordo_dict *dict, size_t elements)
{
    struct ordo_statistics s;

    test_ok(t, ordo_dict_check(dict, NULL));
    test_ok(t, ordo_dict_statistics(dict, NULL, &s));
    test_true(t, s.leaves <= CAP && s.elements == elements);
}

/* Merged chunks do not count, and an update is refused only if all chunks are full. */
static void capped_of(struct test *t, uint32_t chunk)
{
    const uint32_t       slots = chunk - LTREE_TAIL, gone = (CAP / 4 - 1) * slots;
    AUTO_DICT ordo_dict *dict = make_capped(t, chunk);
    size_t               elements = (size_t) CAP * slots;
    uint32_t             keys[MOST];

    test_context(t, "at most %d chunks of %u", CAP, chunk);
    apply_capped(t, dict, ORDO_ERASE, slots, 1, 0, slots, gone);
    expect_capped(t, dict, elements -= gone);
    for (uint32_t i = 0; i < FEW; i++)
        keys[i] = STEP * (2 + 4 * i) * slots + 1;
    test_ok(t, ordo_dict_upsert_host(dict, keys, keys, FEW));
    expect_capped(t, dict, elements += FEW);
    apply_capped(t, dict, ORDO_UPSERT, slots, 3, 1, 1, FEW);
    expect_capped(t, dict, elements + FEW);

    const uint32_t room = gone - 2 * FEW;
    for (uint32_t i = 0; i < room; i++)
        keys[i] = STEP * i + 2;
    test_ok(t, ordo_dict_upsert_host(dict, keys, keys, room));
    expect_capped(t, dict, (size_t) CAP * slots);
    keys[0] = 3;
    test_true(t, ordo_dict_upsert_host(dict, keys, keys, 1) == ORDO_NO_DEVICE_MEMORY);
    expect_capped(t, dict, (size_t) CAP * slots);
}

MASK_TEST(skiplist_merge, dead_chunks_do_not_count_against_the_most_chunks, "group=1", "cpu=0,group=1")
{
    for (size_t i = 0; i < N_SIZES; i++)
        capped_of(t, sizes[i]);
}

DEVICE_TEST(skiplist_merge, bad_configurations_are_refused)
{
    static const uint32_t chunks[] = { 1, 12, 15, 17, 28, 31, 33, 64, UINT32_MAX };
    ordo_dict            *dict = NULL;
    char                  text[512] = "", said[64];

    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
        test_true(t, ordo_skiplist_create(t->dev, ordo_skiplist_config(.dict = { ORDO_U32, 4 }, .chunk = chunks[i]),
                                          &dict) == ORDO_INVALID);
        (void) ordo_device_last_error(t->dev, text, sizeof text);
        (void) snprintf(said, sizeof said, "chunk is %u:", chunks[i]);
        test_true(t, dict == NULL && strstr(text, said) != NULL);
    }

    test_true(t, ordo_skiplist_create(t->dev, ordo_skiplist_config(.dict = { ORDO_U32, 4 }, .raise_percent = 101),
                                      &dict) == ORDO_INVALID);
    (void) ordo_device_last_error(t->dev, text, sizeof text);
    test_true(t, dict == NULL && strstr(text, "raise_percent is 101") != NULL);
    test_true(t, ordo_skiplist_create(t->dev, ordo_skiplist_config(.dict = { ORDO_U32, 4 }, .fill_percent = 49),
                                      &dict) == ORDO_INVALID);
    test_true(t, dict == NULL);
    test_true(t, ordo_skiplist_create(t->dev, NULL, &dict) == ORDO_INVALID);
}
