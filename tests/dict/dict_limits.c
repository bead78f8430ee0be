/* SPDX-License-Identifier: Apache-2.0 */
/* Dictionaries at the limits of a device's memory and largest allocation, with endless updates of the same keys, and
 * with tunables that change between allocation and use. */
#include "device_numbers.h"
#include "dict_case.h"

#include "dict/runs/runs.h"
#include "runtime/internal.h"

/* ---- the largest allocation -------------------------------------------------------------------------------------- */

/* Stores new keys batch by batch until the structure reports its limit. An LSM takes all, whatever the total size of
 * its runs. Stored keys can be queried, replaced and cleaned up. */
static void fill_past(struct test *t, int structure)
{
    enum { BATCH = 10000, BATCHES = 9 };
    AUTO_DICT ordo_dict *dict = NULL;
    uint32_t             stored = 0;

    test_ok(t, create(t->dev, structure, ORDO_U32, 4, &dict));
    for (uint32_t b = 0; b < BATCHES; b++) {
        AUTO(arrays_free) struct arrays batch = arrays_make(t, stored, BATCH);
        const ordo_status               got = upsert(dict, &batch);
        test_context(t, "a %s of %u and %u more", structures[structure].word, stored, (unsigned) BATCH);
        if (!ordo_lacks_memory(got))
            test_ok(t, got);
        stored += got == ORDO_OK ? BATCH : 0;
    }
    test_true(t, structure_is(structure, ORDO_KEEPS_STALE) ? stored == BATCH * BATCHES : stored > 0);
    AUTO(arrays_free) struct arrays all = arrays_make(t, 0, stored);
    expect_all(t, dict, &all);
    expect_all(t, dict, &all);
    AUTO(arrays_free) struct arrays again = arrays_make(t, 0, BATCH);
    for (int i = 0; i < 3; i++)
        test_ok(t, upsert(dict, &again));
    expect_all(t, dict, &all);
    if (structure_is(structure, ORDO_KEEPS_STALE)) {
        struct ordo_statistics s;
        test_ok(t, ordo_lsm_cleanup(dict, NULL));
        test_ok(t, ordo_dict_statistics(dict, NULL, &s));
        test_true(t, s.stale == 0 && s.tombstones == 0 && s.runs > 1 && s.runs <= 5);
        test_ok(t, upsert(dict, &again));
        test_ok(t, ordo_dict_compact(dict, NULL));
        test_ok(t, ordo_dict_statistics(dict, NULL, &s));
        test_true(t, s.stale == 0 && s.runs > 1 && s.runs <= 5);
        expect_all(t, dict, &all);
    }
}

/* A device object of the test's own, whose limits it sets. */
static struct test on_its_own(const struct test *t)
{
    struct test own = *t;
    own.dev = test_open_again(t);
    own.facts = ordo_device_facts(own.dev);
    test_look_back(&own);
    return own;
}

/* With a mask, whose kernels are slow on a CPU, tests the LSM, which has no limit, and one structure selected by the
 * seed. */
static bool is_met(const struct test *t, int structure)
{
    return t->mask[0] == 0 || structure_is(structure, ORDO_KEEPS_STALE) ||
           ((uint64_t) structure + t->seed) % N_STRUCTURES == 0 || test_wants_all("ORDO_TEST_TUNABLES");
}

MASK_TEST(dict_limits, content_above_the_largest_allocation_can_be_queried, "", "cpu=0,progress=1")
{
    struct test own = on_its_own(t);

    own.dev->facts.max_alloc_bytes = 300000;
    for (int s = 0; s < N_STRUCTURES; s++)
        if (is_met(t, s))
            fill_past(&own, s);
    ordo_device_close(&own.dev);
}

/* Batches so large that no two fit into one run, until the number of runs is at its maximum. Then each batch is
 * refused. */
static void fill_all_runs(struct test *t, int structure)
{
    enum { BATCH = 20000, REFUSED = 2 };
    AUTO_DICT ordo_dict *dict = NULL;
    size_t               size = 0;

    test_ok(t, create(t->dev, structure, ORDO_U32, 4, &dict));
    test_context(t, "all runs of a %s", structures[structure].word);
    for (uint32_t b = 0; b < ORDO_MAX_RUNS + REFUSED; b++) {
        AUTO(arrays_free) struct arrays batch = arrays_make(t, b * BATCH, BATCH);
        test_status(t, upsert(dict, &batch), b < ORDO_MAX_RUNS ? ORDO_OK : ORDO_TOO_LARGE);
        test_ok(t, ordo_dict_contains(dict, test_slice(&batch.keys), BATCH, test_slice(&batch.found), NULL));
        test_ok(t, ordo_dict_size(dict, NULL, &size));
        test_true(t, size == (b < ORDO_MAX_RUNS ? b + 1 : ORDO_MAX_RUNS) * (size_t) BATCH);
    }
    test_ok(t, ordo_dict_check(dict, NULL));
}

DEVICE_TEST(dict_limits, the_maximum_number_of_large_runs)
{
    static const int with_buffers[] = { LSM, FAST };
    struct test      own = on_its_own(t);

    own.dev->facts.max_alloc_bytes = 300000;
    for (size_t i = 0; i < sizeof with_buffers / sizeof *with_buffers; i++)
        fill_all_runs(&own, with_buffers[i]);
    ordo_device_close(&own.dev);
}

/* ---- the same keys for ever -------------------------------------------------------------------------------------- */

static uint64_t held_by(struct test *t)
{
    struct ordo_memory memory;

    test_ok(t, ordo_device_finish(t->dev));
    test_ok(t, ordo_device_trim(t->dev));
    test_ok(t, ordo_device_memory(t->dev, &memory));
    return memory.held_bytes;
}

/* Stores the same `count` keys batch by batch, with limits for all memory and for one allocation. */
static void overwrite(struct test *t, int structure, uint32_t count, uint64_t in_all, uint64_t at_once)
{
    const uint32_t batches = t->mask[0] ? 40 : 80; /* this number of batches would exceed the memory */
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
    for (uint32_t b = 0; b < batches; b++) {
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

MASK_TEST(dict_limits, endless_updates_of_the_same_keys_keep_memory, "", "cpu=0,progress=1")
{
    struct test own = on_its_own(t);

    for (int s = 0; s < N_STRUCTURES; s++)
        if (is_met(t, s))
            overwrite(&own, s, 16384, 4u << 20, own.facts->max_alloc_bytes);
    /* more than fits into one run, so a cleanup makes several */
    overwrite(&own, LSM, 60000, 6u << 20, 300000);
    ordo_device_close(&own.dev);
}

/* Cached blocks of a dictionary are freed for its own queries and for other dictionaries if memory is short. */
static bool shares_spare(struct test *t, int structure)
{
    enum { HELD = 100000, BATCH = 4096, OTHERS = 10000, SPARE_LEAST_BYTES = 300000 };
    const uint64_t unlimited = t->dev->memory_limit;
    AUTO(arrays_free)
    struct arrays all = arrays_make(t, 0, HELD), some = arrays_make(t, 100, BATCH), others = arrays_make(t, 7, OTHERS);
    ordo_dict    *dict = make_dict(t, t->dev, structure, 0, HELD), *other = NULL;
    struct ordo_statistics is;
    size_t                 count = 0;

    test_context(t, "cached blocks of a %s", structures[structure].word);
    for (int i = 0; i < 3; i++)
        test_ok(t, upsert(dict, &some));
    test_ok(t, ordo_dict_statistics(dict, NULL, &is));
    const bool has_spare = is.bytes_spare >= SPARE_LEAST_BYTES && ordo_dict_can(dict, ORDO_CAN_ORDER);
    if (has_spare) {
        t->dev->memory_limit = held_by(t);
        test_ok(t, ordo_dict_range(dict, test_slice(&some.keys), test_slice(&some.hi), BATCH, test_slice(&some.offsets),
                                   test_slice(&some.out_keys), test_slice(&some.out_values), BATCH, &count, NULL));
        test_true(t, count == BATCH);
        t->dev->memory_limit = unlimited;
        test_ok(t, upsert(dict, &some));
        t->dev->memory_limit = held_by(t);
        test_ok(t, create(t->dev, LSM, ORDO_U32, 4, &other));
        test_ok(t, upsert(other, &others));
        t->dev->memory_limit = unlimited;
        expect_all(t, dict, &all);
        expect_all(t, other, &others);
        ordo_dict_destroy(&other);
    }
    ordo_dict_destroy(&dict);
    return has_spare;
}

DEVICE_TEST(dict_limits, cached_blocks_serve_all_dictionaries)
{
    struct test own = on_its_own(t);
    int         met = 0;

    for (int s = 0; s < N_STRUCTURES; s++)
        met += shares_spare(&own, s);
    test_true(t, met >= 2);
    ordo_device_close(&own.dev);
}

/* Memory is short after a query that waits for an event, which this thread sets later. A sort does not wait for the
 * queue. */
DEVICE_TEST(dict_limits, independent_calls_do_not_wait_for_memory)
{
    enum { HELD = 100000, BATCH = 4096 };
    struct test                   own = on_its_own(t);
    const uint64_t                unlimited = own.dev->memory_limit;
    struct arrays                 all = arrays_make(&own, 0, HELD), some = arrays_make(&own, 100, BATCH);
    ordo_dict                    *lsm = make_dict(&own, own.dev, LSM, 100, BATCH);
    ordo_dict                    *other = make_dict(&own, own.dev, SORTED_ARRAY, 0, HELD);
    cl_int                        code = CL_SUCCESS;
    cl_event                      until = clCreateUserEvent(ordo_device_context(own.dev), &code);
    const struct ordo_order       behind = { .n_wait = 1, .wait = &until };
    const struct ordo_sort_params params = { .key = ORDO_U32, .value_bytes = 4 };

    test_context(&own, "memory is short behind an event");
    test_true(&own, code == CL_SUCCESS);
    for (int i = 0; i < 3; i++)
        test_ok(&own, upsert(other, &some));
    test_ok(&own, upsert(lsm, &some));
    test_ok(&own, ordo_device_trim(own.dev));
    test_ok(&own,
            ordo_dict_find(lsm, test_slice(&some.keys), BATCH, test_slice(&some.out_values), ordo_none(), &behind));
    own.dev->memory_limit = own.dev->memory.held_bytes;
    const ordo_status got = ordo_sort(own.dev, &params, test_slice(&all.keys), test_slice(&all.values),
                                      test_slice(&all.out_keys), test_slice(&all.out_values), HELD, NULL);
    own.dev->memory_limit = unlimited;
    test_true(&own, clSetUserEventStatus(until, CL_COMPLETE) == CL_SUCCESS);
    test_true(&own, got == ORDO_OK || got == ORDO_NO_DEVICE_MEMORY);
    expect_all(&own, lsm, &some);
    expect_all(&own, other, &all);
    (void) clReleaseEvent(until);
    ordo_dict_destroy(&lsm);
    ordo_dict_destroy(&other);
    arrays_free(&all);
    arrays_free(&some);
    ordo_device_close(&own.dev);
}

/* Stores batches of the same `count` keys. After each batch at most 8 times the live elements are stored. */
enum waiting { NOBODY_WAITS, THE_CALLER_WAITS, CALLS_WAIT, QUERIES_OF_ORDER_BETWEEN };
enum { STORED_MAX = 8 };

struct constant {
    uint32_t     growth;
    ordo_type    key;
    uint32_t     value_bytes;
    enum waiting waiting;
    size_t       count, batch;
};

/* Keys and their values, numbers from 0 on, in host and device memory. */
struct numbers {
    char             *keys, *values;
    struct test_array keys_in, values_in, ranks;
};

static struct numbers numbers_make(struct test *t, const struct constant *c)
{
    const size_t   kb = ordo_type_bytes(c->key), vb = c->value_bytes;
    struct numbers n = { .keys = test_alloc(c->count * kb), .values = test_alloc(c->count * vb) };

    for (uint64_t i = 0; i < c->count; i++) {
        memcpy(n.keys + i * kb, &i, kb);
        memcpy(n.values + i * vb, &i, vb);
    }
    n.keys_in = test_upload(t, n.keys, c->count, kb, 1);
    n.values_in = test_upload(t, n.values, c->count, vb, 1);
    n.ranks = test_upload(t, NULL, 1, 4, 0);
    return n;
}

static void numbers_free(struct numbers *n)
{
    test_free(&n->keys_in);
    test_free(&n->values_in);
    test_free(&n->ranks);
    free(n->keys);
    free(n->values);
}

/* Stores the next batch, after erasing one in ten. */
static void store_part(struct test *t, const struct constant *c, ordo_dict *dict, const struct numbers *n, size_t round)
{
    const size_t            at = round % (c->count / c->batch) * c->batch;
    const struct ordo_slice keys = ordo_at(n->keys_in.mem, n->keys_in.at + at),
                            values = ordo_at(n->values_in.mem, n->values_in.at + at);

    if (round % 10 == 9)
        test_ok(t, ordo_dict_erase(dict, keys, c->batch, NULL));
    if (c->waiting == CALLS_WAIT)
        test_ok(t, ordo_dict_upsert_host(dict, n->keys + at * ordo_type_bytes(c->key), n->values + at * c->value_bytes,
                                         c->batch));
    else
        test_ok(t, ordo_dict_upsert(dict, keys, values, c->batch, NULL));
    if (c->waiting == QUERIES_OF_ORDER_BETWEEN)
        test_ok(t, ordo_dict_rank(dict, ORDO_LT, keys, 1, test_slice(&n->ranks), NULL));
    if (c->waiting == THE_CALLER_WAITS)
        test_ok(t, ordo_device_finish(t->dev));
}

static void expect_same(struct test *t, const struct constant *c, ordo_dict *dict, const struct numbers *n)
{
    const size_t    kb = ordo_type_bytes(c->key), vb = c->value_bytes;
    AUTO_FREE char *keys = test_alloc(c->count * kb), *values = test_alloc(c->count * vb);
    size_t          size = 0;

    test_ok(t, ordo_dict_export_host(dict, keys, values, c->count, &size));
    test_true(t, size == c->count);
    test_same_bytes(t, "keys", keys, n->keys, c->count * kb);
    test_same_bytes(t, "values", values, n->values, c->count * vb);
    test_ok(t, ordo_dict_check(dict, NULL));
}

/* Fewer cached bytes are not freed (sorted_run.c). */
#define SPARE_MIN (4u << 20)

static void constant(struct test *t, const struct constant *c)
{
    const size_t   rounds = 60 * (c->count / c->batch), bytes = ordo_type_bytes(c->key) + c->value_bytes;
    struct numbers n = numbers_make(t, c);
    ordo_dict     *dict = NULL;

    test_ok(t, ordo_lsm_create(t->dev,
                               ordo_lsm_config(.dict = { c->key, c->value_bytes }, .growth = c->growth,
                                               .cleanup_least = c->count / 2),
                               &dict));
    for (size_t round = 0; round < rounds; round++) {
        test_context(t, "growth %u, %zu keys of %zu bytes, %zu at a time, way %d: batch %zu", c->growth, c->count,
                     ordo_type_bytes(c->key), c->batch, c->waiting, round);
        store_part(t, c, dict, &n, round);
        const struct ordo_runs *runs = ordo_runs_of(dict);
        const size_t            most = STORED_MAX * c->count;
        test_true(t, ordo_run_set_stored(&runs->set) <= most);
        test_true(t, runs->bytes <= 5 * most * bytes / 2 + SPARE_MIN);
    }
    expect_same(t, c, dict, &n);
    ordo_dict_destroy(&dict);
    numbers_free(&n);
}

static const struct constant constants[] = {
    { 4, ORDO_U32, 4, THE_CALLER_WAITS, 6000, 6000 },  { 4, ORDO_U32, 4, NOBODY_WAITS, 6000, 1000 },
    { 2, ORDO_U32, 4, THE_CALLER_WAITS, 6000, 3000 },  { 2, ORDO_U32, 4, NOBODY_WAITS, 6000, 1000 },
    { 4, ORDO_U32, 4, CALLS_WAIT, 6000, 1000 },        { 4, ORDO_U32, 4, QUERIES_OF_ORDER_BETWEEN, 6000, 1000 },
    { 16, ORDO_U64, 8, THE_CALLER_WAITS, 6000, 1000 },
};

static void each_constant(struct test *t)
{
    for (size_t i = 0; i < LENGTH(constants); i++)
        constant(t, &constants[i]);
}

static void some_constants(struct test *t)
{
    for (size_t i = 0; i < 2; i++)
        constant(t, &constants[i]);
}

Test(dict_limits, endless_updates_of_the_same_keys_are_bounded)
{
    test_each_device(each_constant);
    test_each_device_with("cpu=0,progress=1", some_constants);
    test_each_device_with("cpu=0,progress=0", some_constants);
}

/* By default fewer than 4096 live elements count as 4096. */
enum { SMALL = 4096, FEW = 256 };

static void expect_few_stored(struct test *t, ordo_dict *dict, size_t live)
{
    const size_t stored = ordo_run_set_stored(&ordo_runs_of(dict)->set);
    test_true(t, stored <= STORED_MAX * (live > SMALL ? live : SMALL));
}

/* A small LSM with endless updates. */
static void small(struct test *t)
{
    enum { BATCHES = 300 };
    AUTO_DICT ordo_dict            *dict = NULL;
    AUTO(arrays_free) struct arrays held = arrays_make(t, 0, SMALL);

    test_ok(t, ordo_lsm_create(t->dev, ordo_lsm_config(.dict = { ORDO_U32, 4 }), &dict));
    for (uint32_t b = 0; b < BATCHES; b++) {
        AUTO(arrays_free) struct arrays part = arrays_make(t, (uint32_t) test_below(t, SMALL - FEW), FEW);
        test_context(t, "a small LSM, batch %u", b);
        test_ok(t, b % 2 ? ordo_dict_erase(dict, test_slice(&part.keys), FEW, NULL) : upsert(dict, &part));
        expect_few_stored(t, dict, SMALL);
    }
    test_ok(t, upsert(dict, &held));
    expect_all(t, dict, &held);
}

/* An LSM emptied by a few batches of erasures, including absent keys. */
static void emptied(struct test *t)
{
    enum { HELD = 16 * SMALL, BATCH = 2 * SMALL };
    AUTO_DICT ordo_dict            *dict = NULL;
    AUTO(arrays_free) struct arrays held = arrays_make(t, 0, HELD);

    test_ok(t, ordo_lsm_create(t->dev, ordo_lsm_config(.dict = { ORDO_U32, 4 }), &dict));
    test_ok(t, upsert(dict, &held));
    for (uint32_t b = 0; b < 2 * HELD; b += BATCH) {
        AUTO(arrays_free) struct arrays part = arrays_make(t, b, BATCH);
        test_context(t, "keys up to %u are erased", b + BATCH);
        test_ok(t, ordo_dict_erase(dict, test_slice(&part.keys), BATCH, NULL));
        expect_few_stored(t, dict, b + BATCH < HELD ? HELD - b - BATCH : 0);
    }
}

DEVICE_TEST(dict_limits, a_small_or_emptied_lsm_stores_few_stale_elements)
{
    small(t);
    emptied(t);
}

/* New keys are counted and never rewritten. */
DEVICE_TEST(dict_limits, new_keys_are_counted_and_nothing_is_dropped)
{
    enum { BATCH = 1000, BATCHES = 60 };
    AUTO_DICT ordo_dict            *dict = NULL;
    AUTO(arrays_free) struct arrays all = arrays_make(t, 0, BATCH * BATCHES);
    struct ordo_statistics          s;

    test_ok(t, ordo_lsm_create(t->dev, ordo_lsm_config(.dict = { ORDO_U32, 4 }, .cleanup_least = BATCH), &dict));
    for (uint32_t b = 0; b < BATCHES; b++) {
        AUTO(arrays_free) struct arrays part = arrays_make(t, b * BATCH, BATCH);
        test_ok(t, upsert(dict, &part));
    }
    test_ok(t, ordo_dict_statistics(dict, NULL, &s));
    test_true(t, s.elements == (size_t) BATCH * BATCHES && s.stale == 0 && s.cleanups == 0);
    expect_all(t, dict, &all);
    test_ok(t, ordo_dict_check(dict, NULL));
}

/* ---- tunables that change ---------------------------------------------------------------------------------------- */

/* The space for an index is allocated with its run. The first query builds the index with the tunable's value at that
 * time. The seed selects the change of value; ORDO_TEST_TUNABLES=all tries all. */
static void change_nodes_of(struct test *t)
{
    static const uint32_t nodes[] = { 8, 16, 32 };
    enum { HELD = 20000, BATCH = 3000 };
    for (int s = 0; s < N_STRUCTURES; s++)
        for (size_t from = 0; from < LENGTH(nodes); from++)
            for (size_t to = 0; to < LENGTH(nodes); to++) {
                if (!structure_is(s, ORDO_HAS_RUNS) && (from > 0 || to + 1 < LENGTH(nodes)))
                    continue; /* no such nodes */
                if (structure_is(s, ORDO_HAS_RUNS) && to != (from + 1 + t->seed % 2) % LENGTH(nodes) &&
                    !test_wants_all("ORDO_TEST_TUNABLES"))
                    continue;
                test_context(t, "a %s, nodes of %u keys, then of %u", structures[s].word, nodes[from], nodes[to]);
                test_ok(t, ordo_device_set_tunable(t->dev, "search.node_keys", nodes[from]));
                AUTO_DICT ordo_dict *dict = make_dict(t, t->dev, s, 0, HELD);
                AUTO(arrays_free)
                struct arrays more = arrays_make(t, HELD, BATCH), all = arrays_make(t, 0, HELD + BATCH);
                test_ok(t, upsert(dict, &more));
                test_ok(t, ordo_device_set_tunable(t->dev, "search.node_keys", nodes[to]));
                expect_all(t, dict, &all);
                const struct ordo_run_set *set = &ordo_runs_of(dict)->set;
                for (size_t r = 0; structure_is(s, ORDO_HAS_RUNS) && r < set->n; r++)
                    test_true(t, set->run[r].indexed &&
                                     set->run[r].index.bytes <= set->run[r].layout.bytes - set->run[r].layout.nodes);
            }
}

DEVICE_TEST(dict_limits, an_index_stays_within_its_block_when_tunables_change)
{
    struct test own = on_its_own(t);

    change_nodes_of(&own);
    ordo_device_close(&own.dev);
}

static bool is_of_dictionaries(const struct ordo_tunable_info *info)
{
    static const char *const tuned[] = { "sort.k4v4.",       "scan.",      "compact.k4.", "merge.k4v4.",
                                         "merge_runs.k4v4.", "search.k4.", "blink.k4." };

    for (size_t i = 0; i < LENGTH(tuned); i++)
        if (strncmp(info->name, tuned[i], strlen(tuned[i])) == 0)
            return true;
    return false;
}

/* Applies one update with the tunable's new value to dictionaries with content, then checks everything. If the device
 * does not support the value, nothing is lost. */
static void update_each(struct test *t, ordo_dict *const dict[N_STRUCTURES], uint32_t end[N_STRUCTURES])
{
    enum { BATCH = 300 };

    for (int s = 0; s < N_STRUCTURES; s++) {
        AUTO(arrays_free) struct arrays more = arrays_make(t, end[s] - BATCH / 2, BATCH);
        const ordo_status               got = upsert(dict[s], &more);
        test_true(t, got == ORDO_OK || got == ORDO_UNSUPPORTED);
        end[s] += got == ORDO_OK ? BATCH / 2 : 0;
        if (got == ORDO_OK)
            expect_numbers(t, dict[s], 0, end[s]);
    }
}

/* Changes one tunable after the other. Each value needs kernels, so the seed selects three; ORDO_TEST_TUNABLES=all
 * tries all. Restores all values at the end. */
static void change_tunables_of(struct test *t)
{
    enum { HELD = 1000, STRIDE = 31 };
    const bool               all = test_wants_all("ORDO_TEST_TUNABLES");
    struct ordo_tunable_info info;
    ordo_dict               *dict[N_STRUCTURES];
    uint32_t                 end[N_STRUCTURES];
    size_t                   value = 0, tried = 0;

    for (int s = 0; s < N_STRUCTURES; s++) {
        dict[s] = make_dict(t, t->dev, s, 0, HELD);
        end[s] = HELD;
    }
    for (size_t i = 0; ordo_device_tunable(t->dev, i, &info) == ORDO_OK; i++)
        for (uint32_t c = 0; c < info.n_choices && is_of_dictionaries(&info); c++) {
            if (info.choice[c] == info.value || (value++ % STRIDE != t->seed % STRIDE && !all))
                continue;
            test_context(t, "%s = %u, was %u", info.name, info.choice[c], info.value);
            test_ok(t, ordo_device_set_tunable(t->dev, info.name, info.choice[c]));
            update_each(t, dict, end);
            test_ok(t, ordo_device_set_tunable(t->dev, info.name, info.value));
            for (int s = 0; s < N_STRUCTURES; s++)
                expect_numbers(t, dict[s], 0, end[s]);
            tried++;
        }
    test_true(t, tried > 0);
    for (int s = 0; s < N_STRUCTURES; s++)
        ordo_dict_destroy(&dict[s]);
}

DEVICE_TEST(dict_limits, content_stays_right_when_tunables_change)
{
    struct test own = on_its_own(t);

    change_tunables_of(&own);
    ordo_device_close(&own.dev);
}
