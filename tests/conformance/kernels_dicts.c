/* SPDX-License-Identifier: Apache-2.0 */
/* Dictionaries of numbers, in ordered batches: see kernels.c. */
#include "kernel_parts.h"
#include "tests/dict/dict_case.h"
#include "tests/dict/sequence.h"

#include "dict/hash/hash.h"
#include "runtime/internal.h"
#include "shared/hamt_node.h"

#include <stdlib.h>

static void run_sequence(struct test *t, size_t subject, ordo_type type)
{
    const struct sequence s = sequence_every(subject, type, 4, KEYS_CLUSTERED, 40);
    sequence_pass(t, &s);
}

/* Every operation of every structure, on neighbouring keys with many duplicates. */
void part_sequences(struct test *t)
{
    for (size_t subject = 0; subject < N_SUBJECTS; subject++) {
        if (!structure_is((int) subject, ORDO_SIMULATED))
            continue;
        run_sequence(t, subject, ORDO_U32);
        if (structure_takes(subject, ORDO_U128))
            run_sequence(t, subject, ORDO_U128);
    }
}

static void upsert_numbers(struct test *t, ordo_dict *dict, uint32_t from, uint32_t times)
{
    uint32_t keys[BATCH], values[BATCH];

    for (uint32_t i = 0; i < BATCH; i++) {
        keys[i] = key_of(from + i / times);
        values[i] = value_of(from + i / times);
    }
    test_ok(t, ordo_dict_upsert_host(dict, keys, values, BATCH));
}

/* More overflowing leaves than a group has teams. */
static void crowded(struct test *t)
{
    enum { HELD = 12000, STORED = 1024, BATCHES = 8 };
    AUTO_DICT ordo_dict *dict = make_dict(t, t->dev, BLINK, 0, HELD);
    uint32_t             keys[STORED], values[STORED];

    test_context(t, "leaves that overflow");
    for (uint32_t b = 0; b < BATCHES; b++) {
        for (uint32_t i = 0; i < STORED; i++) {
            keys[i] = key_of(HELD + b * STORED + i);
            values[i] = value_of(HELD + b * STORED + i);
        }
        test_ok(t, ordo_dict_upsert_host(dict, keys, values, STORED));
        test_ok(t, ordo_dict_check(dict, NULL));
    }
    expect_numbers(t, dict, 0, HELD + BATCHES * STORED);
}

/* Adds parts, `times` for each key, up to the values of elements from `from` on. The first `there` have theirs
 * already. */
static void combine_numbers(struct test *t, ordo_dict *dict, uint32_t from, uint32_t there, uint32_t times)
{
    uint32_t keys[BATCH], values[BATCH], sum = 0;

    for (uint32_t i = 0; i < BATCH; i++) {
        const uint32_t number = from + i / times, all = number < from + there ? 0 : value_of(number);
        const bool     last = i % times + 1 == times;
        keys[i] = key_of(number);
        values[i] = last ? all - sum : i + 1;
        sum = last ? 0 : sum + values[i];
    }
    test_ok(t, ordo_dict_combine_host(dict, ORDO_U32, ORDO_SUM, keys, values, BATCH));
}

/* Batches small enough for updates in place; leaves split, and the root above them. Then batches that overflow a
 * bucket. Some of both combine. */
static void batches_in(struct test *t, int structure)
{
    enum { HELD = 500, BATCHES = 8 };
    AUTO_DICT ordo_dict *dict = make_dict(t, t->dev, structure, 0, HELD);

    test_context(t, "batches in place, %s", structures[structure].word);
    for (uint32_t i = 0; i < BATCHES; i++)
        upsert_numbers(t, dict, HELD + i * BATCH, 1);
    upsert_numbers(t, dict, 7, BATCH);
    combine_numbers(t, dict, HELD + BATCHES * BATCH - BATCH / 4, BATCH / 4, 2);
    combine_numbers(t, dict, 7, 1, BATCH);
    expect_numbers(t, dict, 0, HELD + BATCHES * BATCH + BATCH / 4);
}

void part_batches(struct test *t)
{
    batches_in(t, BLINK);
    batches_in(t, SKIPLIST_16);
    if (getenv("ORDO_TEST_PART")) /* too slow for a simulator */
        crowded(t);
}

/* Unresolved runs with replaced and erased elements, if groups make progress. */
void part_cleanup(struct test *t)
{
    enum { HELD = 500, ERASED = 20 };
    AUTO_DICT ordo_dict *dict = NULL;
    uint32_t             keys[ERASED];

    if (t->facts->cpu)
        return;
    dict = make_dict(t, t->dev, LSM, 0, HELD + ERASED);
    test_look_back(t);
    set_tunables(t, "merge_runs.items=5");
    test_context(t, "cleanup");
    upsert_numbers(t, dict, HELD - BATCH, 1);
    for (uint32_t i = 0; i < ERASED; i++)
        keys[i] = key_of(HELD + i);
    test_ok(t, ordo_dict_erase_host(dict, keys, ERASED));
    test_ok(t, ordo_lsm_cleanup(dict, NULL));
    expect_numbers(t, dict, 0, HELD);
    ordo_dict_destroy(&dict);
    /* the first batch of an LSM that bounds stale elements from 1 live element on is counted */
    test_ok(t, ordo_lsm_create(t->dev, ordo_lsm_config(.dict = { ORDO_U32, 4 }, .cleanup_least = 1), &dict));
    test_ok(t, ordo_dict_upsert_host(dict, keys, keys, ERASED));
}

/* Combines into a sorted array, if groups make progress: present and absent keys, each in parts. */
void part_merge_combining(struct test *t)
{
    enum { HELD = 500, THERE = 8 };
    AUTO_DICT ordo_dict *dict = NULL;

    if (t->facts->cpu)
        return;
    dict = make_dict(t, t->dev, SORTED_ARRAY, 0, HELD);
    test_look_back(t);
    set_tunables(t, "merge_runs.items=5");
    test_context(t, "combines that are merged");
    combine_numbers(t, dict, HELD - THERE, THERE, 2);
    expect_numbers(t, dict, 0, HELD - THERE + BATCH / 2);
}

/* Merges a batch that is small for a sorted array, of present and absent keys. */
void part_merge_few(struct test *t)
{
    enum { HELD = 64 * BATCH };
    AUTO_DICT ordo_dict *dict = make_dict(t, t->dev, SORTED_ARRAY, 0, HELD);

    test_context(t, "a small batch");
    upsert_numbers(t, dict, HELD - BATCH / 2, 1);
    expect_numbers(t, dict, 0, HELD + BATCH / 2);
}

/* Calls that no step of a sequence makes, on a tree and on several runs. */
void part_generic(struct test *t)
{
    static const int in[] = { BLINK, LSM_GROWTH_2 };
    const uint32_t   least = 0, greatest = UINT32_MAX;
    uint32_t         result = 0;

    if (!t->facts->cpu && !getenv("ORDO_TEST_PART")) /* the kernels are the same */
        return;
    for (size_t s = 0; s < LENGTH(in); s++) {
        AUTO_DICT ordo_dict *dict = make_dict(t, t->dev, in[s], 0, 310);
        upsert_numbers(t, dict, 300, 20);
        test_ok(t, ordo_dict_aggregate_host(dict, ORDO_U32, ORDO_MIN, &least, &greatest, 1, &result, NULL));
        for (size_t i = 0; i < n_dict_calls; i++)
            if (!step_makes(dict_calls[i].name) && dict_calls[i].needs != ORDO_CAN_CONCURRENT)
                run_call(t, &dict_calls[i], dict, 60, 310);
        test_ok(t, ordo_dict_erase_range_host(dict, &least, &least, 1, &result));
        test_ok(t, ordo_dict_check(dict, NULL));
    }
}

/* Stores more new keys in one leaf than a team takes, into a tree too large for a rebuild. Erases them, and stores keys
 * that split leaves. */
void part_one_leaf(struct test *t)
{
    enum { UPDATES = 1030, HELD = 29 * UPDATES / 2 };
    uint32_t             keys[UPDATES];
    AUTO_DICT ordo_dict *dict = NULL;

    if (!t->facts->cpu && !getenv("ORDO_TEST_PART")) /* the kernels are the same */
        return;
    dict = make_dict(t, t->dev, BLINK, 0, HELD);

    test_context(t, "updates of one leaf");
    for (uint32_t i = 0; i < UPDATES; i++)
        keys[i] = key_of(7) + 1 + i;
    test_ok(t, ordo_dict_upsert_host(dict, keys, keys, UPDATES));
    test_ok(t, ordo_dict_erase_host(dict, keys, UPDATES));
    upsert_numbers(t, dict, HELD, 1);
    expect_numbers(t, dict, 0, HELD + BATCH);
}

/* Combines present and absent keys, each twice: few of a table, and all of it. */
void part_combined(struct test *t)
{
    enum { HELD = 240, STORED = 60 };
    uint32_t keys[STORED * 2];
    uint64_t words[STORED * 2], got[STORED];

    for (uint32_t bytes = 4; bytes <= 8; bytes += 4) {
        AUTO_DICT ordo_dict *dict = NULL;
        test_context(t, "combines of %u bytes", bytes);
        test_ok(t, create(t->dev, HASH, ORDO_U32, bytes, &dict));
        for (uint32_t i = 0; i < HELD; i += 2 * STORED) {
            for (uint32_t k = 0; k < 2 * STORED; k++)
                keys[k] = key_of(i + k);
            memset(words, 0, sizeof words);
            test_ok(t, ordo_dict_upsert_host(dict, keys, words, (size_t) 2 * STORED));
        }
        for (uint32_t i = 0; i < 2 * STORED; i++) {
            const uint64_t value = (uint64_t) (i + 1) << (bytes == 8 ? 31 : 0);
            keys[i] = key_of(HELD - STORED / 2 + i % STORED);
            memcpy((char *) words + (size_t) i * bytes, &value, bytes);
        }
        for (int whole = 0; whole < 2; whole++) {
            ordo_hash_of(dict)->whole = whole;
            test_ok(t, ordo_dict_combine_host(dict, bytes == 8 ? ORDO_U64 : ORDO_U32, whole ? ORDO_MAX : ORDO_SUM, keys,
                                              words, (size_t) 2 * STORED));
        }
        test_ok(t, ordo_dict_find_host(dict, keys, STORED, got, NULL));
        for (uint32_t i = 0; i < STORED; i++) {
            uint64_t value = 0;
            memcpy(&value, (const char *) got + (size_t) i * bytes, bytes);
            test_true(t, value == (uint64_t) (2 * i + 2 + STORED) << (bytes == 8 ? 31 : 0));
        }
        test_ok(t, ordo_dict_check(dict, NULL));
    }
}

/* Upserts of present and absent keys without a sort: from the batch, and from bins. */
void part_small_batches(struct test *t)
{
    enum { HELD = 1500, STORED = 60 };
    AUTO_DICT ordo_dict *dict = NULL;
    uint32_t             keys[HELD + STORED], values[HELD + STORED], got[HELD + STORED];

    for (uint32_t i = 0; i < HELD + STORED; i++)
        keys[i] = values[i] = key_of(i);
    test_ok(t, create(t->dev, HASH, ORDO_U32, 4, &dict));
    test_ok(t, ordo_dict_build_host(dict, keys, values, HELD));
    for (int bins = 0; bins < 2; bins++) {
        struct ordo_hash *hash = ordo_hash_of(dict);
        hash->scan_max = bins ? 0 : STORED;
        const size_t first = HELD - (bins ? 0 : STORED / 2);
        test_ok(t, ordo_dict_upsert_host(dict, keys + first, values + first, STORED));
        test_true(t, hash->small_batches == (size_t) bins + 1 || t->dev->facts.cpu);
        test_ok(t, ordo_dict_check(dict, NULL));
    }
    test_ok(t, ordo_dict_find_host(dict, keys, HELD + STORED, got, NULL));
    test_true(t, memcmp(values, got, sizeof got) == 0);
}

/* Keys with long common prefixes that are prefixes themselves. */
static void prefixes_in(struct test *t, int structure)
{
    enum { HELD = 150, ASKED = 40 };
    uint32_t             keys[HELD], counts[ASKED], ranks[ASKED];
    uint8_t              lengths[ASKED], found[ASKED];
    AUTO_DICT ordo_dict *dict = NULL;

    test_context(t, "prefixes");
    for (uint32_t i = 0; i < HELD; i++)
        keys[i] = 0x40000001u + i;
    for (uint32_t i = 0; i < ASKED; i++)
        lengths[i] = (uint8_t) (i % 33);
    test_ok(t, create(t->dev, structure, ORDO_U32, 4, &dict));
    test_ok(t, ordo_dict_build_host(dict, keys, keys, HELD));
    for (int teams = 1; teams >= 0; teams--) {
        set_tunables(t, teams ? "xfast.lanes=8" : "xfast.lanes=1");
        test_ok(t, ordo_dict_rank_host(dict, ORDO_LT, keys, ASKED, ranks));
        for (uint32_t i = 0; i < ASKED; i++)
            test_true(t, ranks[i] == i);
    }
    test_ok(t, ordo_xfast_count_prefix_host(dict, keys, lengths, ASKED, counts));
    test_ok(t, ordo_xfast_longest_prefix_host(dict, keys, ASKED, NULL, NULL, found));
    test_ok(t, ordo_dict_check(dict, NULL));
    for (uint32_t i = 0; i < ASKED; i++)
        test_true(t, counts[i] == (lengths[i] < 25 ? HELD : counts[i]) && counts[i] > 0 && found[i]);
}

void part_prefixes(struct test *t)
{
    prefixes_in(t, XFAST_EACH);
    prefixes_in(t, XFAST_LEVELS);
}

/* The first batch moves all leaves. The others are small. */
static void few_of_many_leaves(struct test *t)
{
    enum { HELD = 12000 };
    AUTO_DICT ordo_dict *dict = make_dict(t, t->dev, HAMT, 0, HELD);

    test_context(t, "few of many leaves");
    for (uint32_t b = 0; b < 3; b++)
        upsert_numbers(t, dict, HELD + b * BATCH, 1);
    test_ok(t, ordo_dict_check(dict, NULL));
    expect_numbers(t, dict, 0, HELD + 3 * BATCH);
}

/* Batches merged leaf by leaf: one changes only values, one has too many updates for a leaf. */
void part_leaves(struct test *t)
{
    enum { HELD = 300, TIMES = 14, SAME = HAMT_UPDATES_MAX + 2 };
    AUTO_DICT ordo_dict *dict = make_dict(t, t->dev, HAMT, 0, HELD);
    uint32_t             keys[SAME];

    few_of_many_leaves(t);
    test_context(t, "leaves");
    for (uint32_t b = 0; b < 3; b++)
        upsert_numbers(t, dict, HELD + b * BATCH, 1);
    upsert_numbers(t, dict, HELD, 1);
    for (uint32_t i = 0; i < SAME; i++)
        keys[i] = key_of(HELD + 3 * BATCH);
    for (uint32_t i = 0; i < TIMES; i++) { /* until blocks are moved */
        keys[0] = key_of(HELD + 3 * BATCH + 1 + i);
        test_ok(t, ordo_dict_upsert_host(dict, keys, keys, SAME));
    }
    for (uint32_t i = 0; i <= TIMES; i++)
        keys[i] = key_of(HELD + 3 * BATCH + i);
    test_ok(t, ordo_dict_erase_host(dict, keys, TIMES + 1));
    test_ok(t, ordo_dict_check(dict, NULL));
    expect_numbers(t, dict, 0, HELD + 3 * BATCH);
}

/* Sets with containers of all kinds, to the Roaring format and back. */
void part_roaring(struct test *t)
{
    enum { SOME = 200, FULL = 4200, ALL = SOME + FULL + SOME };
    AUTO_FREE uint32_t  *keys = test_alloc(ALL * sizeof *keys), *out = test_alloc(ALL * sizeof *keys);
    uint8_t              bytes[16384];
    AUTO_DICT ordo_dict *dict = NULL;
    size_t               size = 0, count = 0;

    test_context(t, "roaring");
    for (uint32_t i = 0; i < ALL; i++)
        keys[i] = i < SOME ? 7 * i : i < SOME + FULL ? 65536 + 3 * i : 1u << 20 | i;
    test_ok(t, create(t->dev, HAMT, ORDO_U32, 0, &dict));
    test_ok(t, ordo_dict_build_host(dict, keys, NULL, ALL));
    test_ok(t, ordo_hamt_write_roaring_host(dict, bytes, sizeof bytes, &size));
    test_ok(t, ordo_dict_clear(dict));
    test_ok(t, ordo_hamt_read_roaring_host(dict, bytes, size));
    test_ok(t, ordo_dict_export_host(dict, out, NULL, ALL, &count));
    test_true(t, count == ALL);
    test_same(t, "keys", ORDO_U32, out, keys, ALL);
}

/* Queries sorted by the library, or partitioned through an index of blocks; a build that checks for ascending keys; a
 * seek past all keys that its batch erases. */
void part_seldom(struct test *t)
{
    enum { ASCENDING = 1 << 16, ERASED = 150, ASKED = 100 };
    AUTO_FREE uint32_t  *keys = test_alloc(ASCENDING * sizeof *keys);
    uint32_t             ranks[ASKED], keys_out[ERASED + 1];
    uint8_t              codes[ERASED + 1], found[ERASED + 1];
    AUTO_DICT ordo_dict *dict = NULL;

    test_context(t, "seldom");
    for (uint32_t i = 0; i < ASCENDING; i++)
        keys[i] = 3 * i;
    set_tunables(t, "search.layout=1 search.simd_depth=2");
    for (int scheme = ORDO_SCHEME_BUFFERED; scheme <= ORDO_SCHEME_SORTED; scheme++) {
        test_ok(t, ordo_search_host(t->dev, ordo_search_params(.key = ORDO_U32, .scheme = (ordo_scheme) scheme), keys,
                                    ERASED, keys, ASKED, ranks));
        for (uint32_t i = 0; i < ASKED; i++)
            test_true(t, ranks[i] == i);
    }
    set_tunables(t, "search.layout=0 search.simd_depth=0");
    test_ok(t, ordo_sorted_array_create(t->dev, ordo_sorted_array_config(.dict = { .key = ORDO_U32 }), &dict));
    test_ok(t, ordo_dict_build_host(dict, keys, NULL, ASCENDING));
    memset(codes, ORDO_ERASE, ERASED);
    codes[ERASED] = ORDO_SEEK_GE;
    keys[ERASED] = 0;
    test_ok(t, ordo_dict_apply_host(
                   dict,
                   &(struct ordo_host_batch) {
                       .codes = codes, .keys = keys, .count = ERASED + 1, .found = found, .keys_out = keys_out },
                   NULL));
    test_true(t, found[ERASED] == 1 && keys_out[ERASED] == 3 * ERASED);
}
