/* SPDX-License-Identifier: Apache-2.0 */
/* Concurrent batches, and trees with keys of 16 bytes: see kernels.c. */
#include "kernel_parts.h"
#include "tests/dict/dict_case.h"
#include "tests/support/words.h"

#include "dict/hash/hash.h"
#include "dict/ltree/ltree.h"
#include "dict/trie/hamt.h"
#include "dict/trie/xfast.h"
#include "runtime/internal.h"

/* Erases most of a skiplist of several levels concurrently. */
static void merging_in(struct test *t, int skiplist)
{
    enum { HELD = 310, LEFT = 40 };
    AUTO_DICT ordo_dict *dict = make_dict(t, t->dev, skiplist, 0, HELD);
    uint32_t             keys[HELD - LEFT];
    uint8_t              codes[HELD - LEFT];

    test_context(t, "chunks that merge, %s", structures[skiplist].word);
    for (uint32_t i = 0; i < HELD - LEFT; i++) {
        keys[i] = key_of(LEFT + i);
        codes[i] = ORDO_ERASE;
    }
    const struct ordo_host_concurrent_batch batch = { .codes = codes, .keys = keys, .count = HELD - LEFT };
    test_ok(t, ordo_dict_apply_concurrent_host(dict, &batch));
    test_ok(t, ordo_dict_check(dict, NULL));
    expect_numbers(t, dict, 0, LEFT);
}

static void merging(struct test *t)
{
    merging_in(t, SKIPLIST);
    merging_in(t, SKIPLIST_16);
}

/* Finds present keys concurrently with updates of other keys. */
static void find_beside(struct test *t, ordo_dict *dict, uint32_t held)
{
    static const uint8_t kinds[] = { ORDO_FIND, ORDO_CONTAINS, ORDO_UPSERT, ORDO_ERASE, ORDO_INSERT };
    uint8_t              codes[310], found[310];
    uint32_t             keys[310], values[310];

    for (uint32_t i = 0; i < held; i++) {
        codes[i] = kinds[i % LENGTH(kinds)];
        keys[i] = key_of(i);
        values[i] = value_of(i);
    }
    const struct ordo_host_concurrent_batch batch = {
        .codes = codes, .keys = keys, .values = values, .count = held, .found = found
    };
    test_ok(t, ordo_dict_apply_concurrent_host(dict, &batch));
    for (uint32_t i = 0; i < held; i++)
        test_true(t, i % LENGTH(kinds) > 1 || found[i] == 1);
}

/* Hash tables; the smaller one lacks capacity, so some operations are applied afterwards. */
static void beside_in_hash(struct test *t, const struct array_call *call)
{
    for (uint32_t held = 10; held <= 310; held += 300) {
        AUTO_DICT ordo_dict *dict = make_dict(t, t->dev, HASH, 0, held);
        find_beside(t, dict, held);
        run_call(t, call, dict, 100, held);
        test_ok(t, ordo_dict_check(dict, NULL));
    }
}

/* A HAMT or an X-fast trie; in the end some updates give up. */
static void beside_in_trie(struct test *t, int structure)
{
    struct array_call    call = *call_named("ordo_dict_apply_concurrent");
    AUTO_DICT ordo_dict *dict = make_dict(t, t->dev, structure, 0, 310);
    struct ordo_drafts  *drafts = structure == HAMT ? &ordo_hamt_of(dict)->drafts : &ordo_xfast_of(dict)->drafts;

    find_beside(t, dict, 310);
    call.array[0].input = INPUT_CODES;
    call.array[1].input = INPUT_RANDOM;
    run_call(t, &call, dict, 220, 310);
    drafts->faults = FAULT_LATCHES + FAULT_NO_TRIES;
    run_call(t, &call, dict, 220, 310);
    test_ok(t, ordo_dict_check(dict, NULL));
}

/* A tree of one leaf, and every operation on a tree of several levels, by many work-items, with finds before and beside
 * the updates. Oclgrind's atomics are ordered, although it does not report it. */
void part_concurrent(struct test *t)
{
    struct array_call  call = *call_named("ordo_dict_apply_concurrent");
    const ordo_atomics was = t->dev->facts.atomics;

    if (was == ORDO_ATOMICS_LEGACY)
        t->dev->facts.atomics = ORDO_ATOMICS_C11; /* ORDO_CHECKED spells it otherwise */

    for (uint32_t held = 10; held <= 310; held += 300) {
        AUTO_DICT ordo_dict *dict = make_dict(t, t->dev, BLINK, 0, held);
        set_tunables(t, "links.finds=1");
        run_call(t, &call, dict, 100, held);
        test_ok(t, ordo_dict_check(dict, NULL));
        set_tunables(t, "links.finds=0");
        call.array[0].input = INPUT_CODES;
        call.array[1].input = INPUT_RANDOM;
        run_call(t, &call, dict, 220, held);
        test_ok(t, ordo_dict_check(dict, NULL));
        set_tunables(t, "links.coupled=1 links.retry=1");
        run_call(t, &call, dict, 220, held);
        set_tunables(t, "links.coupled=0 links.retry=2 links.fences=1 links.uncached=1");
        run_call(t, &call, dict, 220, held);
        set_tunables(t, "links.retry=0 links.fences=0 links.uncached=0");
        test_ok(t, ordo_dict_check(dict, NULL));
        ordo_ltree_of(dict)->faults = FAULT_LATCHES + FAULT_NO_TRIES; /* some operations give up in each launch */
        run_call(t, &call, dict, 220, held);
        test_ok(t, ordo_dict_check(dict, NULL));
    }
    merging(t);
    beside_in_hash(t, call_named("ordo_dict_apply_concurrent"));
    beside_in_trie(t, HAMT);
    beside_in_trie(t, XFAST);
    t->dev->facts.atomics = was;
}

/* Batches of keys of 16 bytes in place: upserts in descending order, then erases. */
static void wide_batches(struct test *t, ordo_dict *dict)
{
    enum { HELD = 500, BATCHES = 4, ALL = HELD + BATCHES * BATCH };
    uint8_t  keys[ALL * 16], found[ALL];
    uint32_t values[ALL], got[ALL];

    for (uint32_t i = 0; i < ALL; i++) {
        values[i] = ALL - i;
        put_form(ORDO_BYTES16, keys, i, (key_form) (values[i] / 7) << 64 | values[i]);
    }
    test_ok(t, ordo_dict_build_host(dict, keys, values, HELD));
    for (size_t from = HELD; from < ALL; from += BATCH)
        test_ok(t, ordo_dict_upsert_host(dict, keys + 16 * from, values + from, BATCH));
    test_ok(t, ordo_dict_check(dict, NULL));
    test_ok(t, ordo_dict_find_host(dict, keys, ALL, got, found));
    test_same(t, "values", ORDO_U32, got, values, ALL);
    for (size_t from = 0; from < HELD; from += (size_t) 2 * BATCH)
        test_ok(t, ordo_dict_erase_host(dict, keys + 16 * from, BATCH));
    test_ok(t, ordo_dict_check(dict, NULL));
    test_ok(t, ordo_dict_contains_host(dict, keys, ALL, found));
    for (size_t i = 0; i < ALL; i++)
        test_true(t, found[i] == (i >= HELD + BATCH || i / BATCH % 2 == 1));
}

/* Every concurrent operation on keys of 16 bytes. Some operations give up. */
static void wide_concurrent(struct test *t, ordo_dict *dict)
{
    enum { N = 110, ROOM = 4 };
    uint8_t  keys[N * 16], hi[N * 16], codes[N], outcomes[N], range_keys[N * ROOM * 16];
    uint32_t values[N], counts[N];
    uint64_t rooms[N + 1] = { 0 };

    for (uint32_t i = 0; i < N; i++) {
        const uint32_t number = 97 * i % 660;
        codes[i] = (uint8_t) (i % ORDO_N_CONCURRENT_CODES);
        values[i] = i;
        put_form(ORDO_BYTES16, keys, i, (key_form) (number / 7) << 64 | number);
        put_form(ORDO_BYTES16, hi, i, (key_form) (number / 7 + 1) << 64);
        rooms[i + 1] = (uint64_t) (i + 1) * ROOM;
    }
    ordo_ltree_of(dict)->faults = FAULT_LATCHES + FAULT_NO_TRIES;
    test_ok(t, ordo_dict_apply_concurrent_host(
                   dict, &(struct ordo_host_concurrent_batch) { .codes = codes,
                                                                .keys = keys,
                                                                .hi = hi,
                                                                .values = values,
                                                                .count = N,
                                                                .counts = counts,
                                                                .outcomes = outcomes,
                                                                .rooms = rooms,
                                                                .range_keys = range_keys,
                                                                .range_capacity = (size_t) N * ROOM }));
    ordo_ltree_of(dict)->faults = 0;
    test_ok(t, ordo_dict_check(dict, NULL));
    for (uint32_t i = 0; i < N; i++)
        test_true(t, outcomes[i] == ORDO_DONE || (codes[i] == ORDO_RANGE && outcomes[i] == ORDO_CUT_SHORT));
}

void part_wide_trees(struct test *t)
{
    static const int              in[] = { BLINK, SKIPLIST_16 };
    const struct ordo_dict_config config = { ORDO_BYTES16, 4 };
    const ordo_atomics            was = t->dev->facts.atomics;

    for (size_t i = 0; i < LENGTH(in); i++) {
        AUTO_DICT ordo_dict *dict = NULL;
        test_context(t, "keys of 16 bytes in a %s", structures[in[i]].word);
        test_ok(t, structures[in[i]].create(t->dev, &config, &dict));
        wide_batches(t, dict);
        if (was == ORDO_ATOMICS_LEGACY)
            t->dev->facts.atomics = ORDO_ATOMICS_C11; /* as in concurrent() */
        wide_concurrent(t, dict);
        t->dev->facts.atomics = was;
    }
}

/* Leaves split while there are no nodes for the upper levels, which are repaired at the end. */
void part_levels(struct test *t)
{
    enum { HELD = 1200, STORED = 100 };
    uint8_t              codes[STORED], found[STORED], outcomes[STORED];
    uint32_t             keys[STORED];
    AUTO_DICT ordo_dict *dict = make_dict(t, t->dev, BLINK, 0, HELD);
    struct ordo_ltree   *tree = ordo_ltree_of(dict);

    test_context(t, "levels that lag behind");
    memset(codes, ORDO_UPSERT, STORED);
    for (uint32_t i = 0; i < STORED; i++)
        keys[i] = 3 * i + 1;
    tree->faults = FAULT_NO_INNER;
    test_ok(t, ordo_dict_apply_concurrent_host(
                   dict, &(struct ordo_host_concurrent_batch) {
                             .codes = codes, .keys = keys, .values = keys, .count = STORED, .outcomes = outcomes }));
    tree->faults = 0;
    test_ok(t, ordo_dict_check(dict, NULL));
    test_ok(t, ordo_dict_contains_host(dict, keys, STORED, found));
    for (uint32_t i = 0; i < STORED; i++)
        test_true(t, found[i] == 1 && outcomes[i] == ORDO_DONE);
}
