/* SPDX-License-Identifier: Apache-2.0 */
/* Dictionaries at the limits of a device: of its memory and of its largest allocation, with the same keys stored for ever;
 * and tunables that change between a structure's memory and its use. */
#include "dict_case.h"

#include "dict/runs/runs.h"
#include "runtime/device_private.h"

/* ---- calls on device memory ---------------------------------------------------------------------------------- */

/* Keys and values of the numbers from `from` on, and room for answers, none of it counted as the device's. */
struct arrays {
    size_t            count;
    struct test_array keys, his, values, out_keys, out_values, found, counts, offsets;
};

static struct arrays arrays_make(struct test *t, uint32_t from, uint32_t count)
{
    uint32_t     *keys = test_alloc(count * sizeof *keys), *values = test_alloc(count * sizeof *values);
    struct arrays a = { .count = count };

    for (uint32_t i = 0; i < count; i++) {
        keys[i] = key_of(from + i);
        values[i] = value_of(from + i);
    }
    a.keys = test_upload(t, keys, count, 4, 0);
    a.his = test_upload(t, keys, count, 4, 0);
    a.values = test_upload(t, values, count, 4, 0);
    a.out_keys = test_upload(t, NULL, count, 4, 0);
    a.out_values = test_upload(t, NULL, count, 4, 0);
    a.found = test_upload(t, NULL, count, 1, 0);
    a.counts = test_upload(t, NULL, count, 4, 0);
    a.offsets = test_upload(t, NULL, (size_t) count + 1, 8, 0);
    free(keys);
    free(values);
    return a;
}

static void arrays_free(struct arrays *a)
{
    test_free(&a->keys);
    test_free(&a->his);
    test_free(&a->values);
    test_free(&a->out_keys);
    test_free(&a->out_values);
    test_free(&a->found);
    test_free(&a->counts);
    test_free(&a->offsets);
}

static ordo_status upsert(ordo_dict *dict, const struct arrays *a)
{
    return ordo_dict_upsert(dict, test_slice(&a->keys), test_slice(&a->values), a->count, NULL);
}

static void expect_words(struct test *t, const struct test_array *array, size_t count, uint32_t word, const char *what)
{
    uint32_t *words = test_alloc(array->count * sizeof *words);

    test_download(t, array, words);
    for (size_t i = 0; i < count; i++)
        if (words[i] != word)
            test_fail(t, __FILE__, __LINE__, "%s %zu is %u, not %u", what, i, words[i], word);
    free(words);
}

/* That each key of the arrays is there, by every kind of query, and nothing else. */
static void expect_all(struct test *t, ordo_dict *dict, const struct arrays *a)
{
    const struct ordo_slice keys = test_slice(&a->keys), his = test_slice(&a->his);
    uint32_t               *want = test_alloc(a->count * sizeof *want);
    size_t                  size = 0, count = 0;

    test_download(t, &a->values, want);
    test_ok(t, ordo_dict_find(dict, keys, a->count, test_slice(&a->out_values), test_slice(&a->found), NULL));
    test_expect(t, ORDO_U32, &a->out_values, want, a->count);
    test_ok(t, ordo_dict_count(dict, keys, his, a->count, test_slice(&a->counts), NULL));
    expect_words(t, &a->counts, a->count, 1, "count");
    test_ok(t, ordo_dict_range(dict, keys, his, a->count, test_slice(&a->offsets), test_slice(&a->out_keys),
                               test_slice(&a->out_values), a->count, &count, NULL));
    test_true(t, count == a->count);
    test_expect(t, ORDO_U32, &a->out_values, want, a->count);
    test_download(t, &a->keys, want);
    test_expect(t, ORDO_U32, &a->out_keys, want, a->count);
    test_ok(t, ordo_dict_seek(dict, ORDO_GE, keys, a->count, test_slice(&a->out_keys), ordo_none(), ordo_none(), NULL));
    test_expect(t, ORDO_U32, &a->out_keys, want, a->count);
    test_ok(t, ordo_dict_size(dict, NULL, &size));
    test_true(t, size == a->count);
    test_ok(t, ordo_dict_export(dict, test_slice(&a->out_keys), test_slice(&a->out_values), a->count, &count, NULL));
    test_true(t, count == a->count);
    test_ok(t, ordo_dict_check(dict, NULL));
    free(want);
}

/* ---- the largest allocation ---------------------------------------------------------------------------------- */

/* New keys, batch after batch, until a structure can take no more, which it has to say; an LSM takes all, however large its
 * runs are together. What is stored can be asked for and replaced, and cleaned up. */
static void fill_past(struct test *t, int structure)
{
    enum { BATCH = 20000, BATCHES = 9 };
    ordo_dict *dict = NULL;
    uint32_t   stored = 0;

    test_ok(t, create(t->dev, structure, ORDO_U32, 4, &dict));
    for (uint32_t b = 0; b < BATCHES; b++) {
        struct arrays     batch = arrays_make(t, stored, BATCH);
        const ordo_status got = upsert(dict, &batch);
        test_context(t, "a %s of %u and %u more", structures[structure].word, stored, (unsigned) BATCH);
        if (!ordo_lacks_memory(got))
            test_ok(t, got);
        stored += got == ORDO_OK ? BATCH : 0;
        arrays_free(&batch);
    }
    test_true(t, structure_is(structure, KEEPS_STALE) ? stored == BATCH * BATCHES : stored > 0);
    struct arrays all = arrays_make(t, 0, stored);
    expect_all(t, dict, &all);
    expect_all(t, dict, &all);
    struct arrays again = arrays_make(t, 0, BATCH);
    for (int i = 0; i < 3; i++)
        test_ok(t, upsert(dict, &again));
    expect_all(t, dict, &all);
    if (structure_is(structure, KEEPS_STALE)) {
        struct ordo_dict_statistics s;
        test_ok(t, ordo_lsm_cleanup(dict, NULL));
        test_ok(t, ordo_dict_statistics(dict, NULL, &s));
        test_true(t, s.stale == 0 && s.tombstones == 0 && s.runs > 1 && s.runs <= 5);
        test_ok(t, upsert(dict, &again));
        test_ok(t, ordo_dict_compact(dict, NULL));
        test_ok(t, ordo_dict_statistics(dict, NULL, &s));
        test_true(t, s.stale == 0 && s.runs > 1 && s.runs <= 5);
        expect_all(t, dict, &all);
    }
    arrays_free(&again);
    arrays_free(&all);
    ordo_dict_destroy(&dict);
}

/* A device object of the test's own, to take from. */
static struct test on_its_own(const struct test *t)
{
    struct test own = *t;
    own.dev = test_open_again(t);
    own.facts = ordo_device_facts(own.dev);
    test_look_back(&own);
    return own;
}

static void past_the_largest(struct test *t)
{
    struct test own = on_its_own(t);

    own.dev->facts.max_alloc_bytes = 600000;
    for (int s = 0; s < N_STRUCTURES; s++)
        fill_past(&own, s);
    ordo_device_close(&own.dev);
}

Test(dict_limits, what_is_more_than_the_largest_allocation_can_be_asked_for)
{
    test_each_device(past_the_largest);
    test_each_device_with("cpu=0,progress=1", past_the_largest);
}

/* ---- the same keys for ever ---------------------------------------------------------------------------------- */

static uint64_t held_by(struct test *t)
{
    struct ordo_memory memory;

    test_ok(t, ordo_device_finish(t->dev));
    test_ok(t, ordo_device_trim(t->dev));
    test_ok(t, ordo_device_memory(t->dev, &memory));
    return memory.held_bytes;
}

/* `count` keys, batch by batch, again and again, with so many bytes in all and so many at once. */
static void overwrite(struct test *t, int structure, uint32_t count, uint64_t in_all, uint64_t at_once)
{
    enum { BATCHES = 80 };
    const uint32_t batch = count < 20000 ? count : 20000;
    ordo_device   *dev = t->dev;
    const uint64_t unlimited = dev->memory_limit, largest = dev->facts.max_alloc_bytes;
    struct arrays  all = arrays_make(t, 0, count), part[3];
    ordo_dict     *dict = NULL;

    for (uint32_t p = 0; p < count / batch; p++)
        part[p] = arrays_make(t, p * batch, batch);
    dev->memory_limit = held_by(t) + in_all;
    dev->facts.max_alloc_bytes = at_once;
    test_ok(t, create(t->dev, structure, ORDO_U32, 4, &dict));
    for (uint32_t b = 0; b < BATCHES; b++) {
        test_context(t, "a %s of %u: batch %u", structures[structure].word, count, b);
        test_ok(t, upsert(dict, &part[b % (count / batch)]));
        if (b % 40 == 39)
            expect_all(t, dict, &all);
    }
    ordo_dict_destroy(&dict);
    dev->memory_limit = unlimited;
    dev->facts.max_alloc_bytes = largest;
    for (uint32_t p = 0; p < count / batch; p++)
        arrays_free(&part[p]);
    arrays_free(&all);
}

static void overwritten(struct test *t)
{
    struct test own = on_its_own(t);

    for (int s = 0; s < N_STRUCTURES; s++)
        overwrite(&own, s, 16384, 4u << 20, own.facts->max_alloc_bytes);
    /* which is more than fits into one run: a cleanup makes several */
    overwrite(&own, LSM, 60000, 6u << 20, 300000);
    ordo_device_close(&own.dev);
}

Test(dict_limits, the_same_keys_for_ever_do_not_use_memory_up)
{
    test_each_device(overwritten);
    test_each_device_with("cpu=0,progress=1", overwritten);
}

/* Calls that wait anyway leave out what is stale long before that. */
static void blocking(struct test *t)
{
    enum { BATCH = 2000, BATCHES = 100, LEAST = 1000 };
    static uint32_t             keys[BATCH];
    static uint8_t              codes[BATCH];
    ordo_dict                  *dict = NULL;
    struct ordo_dict_statistics s;

    for (uint32_t i = 0; i < BATCH; i++)
        keys[i] = key_of(i);
    memset(codes, ORDO_UPSERT, sizeof codes);
    test_ok(t, ordo_lsm_create(t->dev, ordo_lsm_config(.dict = { ORDO_U32, 4 }, .cleanup_least = LEAST), &dict));
    for (uint32_t b = 0; b < BATCHES; b++) {
        test_context(t, "batch %u in host memory", b);
        if (b % 2)
            test_ok(t, ordo_dict_upsert_host(dict, keys, keys, BATCH));
        else
            test_ok(t, ordo_dict_apply_host(
                           dict,
                           &(struct ordo_host_batch) { .codes = codes, .keys = keys, .values = keys, .count = BATCH },
                           NULL));
        test_ok(t, ordo_dict_statistics(dict, NULL, &s));
        test_true(t, s.elements == BATCH && s.elements + s.stale <= (size_t) 4 * BATCH);
    }
    test_true(t, s.cleanups >= BATCHES / 5);
    ordo_dict_destroy(&dict);
}

Test(dict_limits, calls_that_wait_keep_what_is_stale_in_bounds)
{
    test_each_device(blocking);
}

/* ---- tunables that change ------------------------------------------------------------------------------------ */

/* The room for an index is made with its run, the index at the first query, whatever the tunable is by then. */
static void change_nodes_of(struct test *t)
{
    static const uint32_t nodes[] = { 8, 16, 32 };
    enum { HELD = 20000, BATCH = 3000 };
    for (int s = 0; s < N_STRUCTURES; s++)
        for (size_t from = 0; from < LENGTH(nodes); from++)
            for (size_t to = 0; to < LENGTH(nodes); to++) {
                test_context(t, "a %s, nodes of %u keys, then of %u", structures[s].word, nodes[from], nodes[to]);
                test_ok(t, ordo_device_set_tunable(t->dev, "search.node_keys", nodes[from]));
                ordo_dict    *dict = make_dict(t, t->dev, s, 0, HELD);
                struct arrays more = arrays_make(t, HELD, BATCH), all = arrays_make(t, 0, HELD + BATCH);
                test_ok(t, upsert(dict, &more));
                test_ok(t, ordo_device_set_tunable(t->dev, "search.node_keys", nodes[to]));
                expect_all(t, dict, &all);
                const struct ordo_run_set *set = &ordo_runs_of(dict)->set;
                for (size_t r = 0; structure_is(s, HAS_RUNS) && r < set->n; r++)
                    test_true(t, set->run[r].indexed &&
                                     set->run[r].index.bytes <= set->run[r].layout.bytes - set->run[r].layout.nodes);
                arrays_free(&more);
                arrays_free(&all);
                ordo_dict_destroy(&dict);
            }
}

static void change_nodes(struct test *t)
{
    struct test own = on_its_own(t);

    change_nodes_of(&own);
    ordo_device_close(&own.dev);
}

Test(dict_limits, an_index_stays_within_its_block_when_tunables_change)
{
    test_each_device(change_nodes);
}
