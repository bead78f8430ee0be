/* SPDX-License-Identifier: Apache-2.0 */
/* Every OpenCL call and every allocation of host memory fails in turn: Ordo's call returns a suitable error, data is
 * unchanged, nothing leaks, and the same call then works. Calls fail alone, and with all later ones, as on a lost
 * device.
 *
 * A driver that refuses all commands from one on until the call returns is tried, too. Then a dictionary is sound and
 * unchanged, or changed if the call returned ORDO_OK.
 *
 * The test wraps both (fault_opencl.c, fault_run.c). By default a seeded sample of the calls fails; with
 * ORDO_TEST_FAULTS=all every call; with ORDO_TEST_FAULTS=opencl no allocation, which is no matter of the driver. */
#define _GNU_SOURCE
#include "fault_fixture.h"

#include "runtime/internal.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void begin_suite(void)
{
    fault_alone();
    test_host_code();
}

TestSuite(faults, .init = begin_suite);

/* ---- primitives -------------------------------------------------------------------------------------------------- */

static void skip_if_of_the_host(const struct fault *f)
{
    const char *set = getenv("ORDO_TEST_FAULTS");

    if (f == &fault_memory && set && strcmp(set, "opencl") == 0)
        test_skip("allocations, which do not depend on the driver (ORDO_TEST_FAULTS=opencl)");
}

static void each_primitive(struct test *t, struct fault *f)
{
    skip_if_of_the_host(f);
    for (size_t i = 0; i < n_primitive_calls; i++) {
        struct scenario is = { primitive_calls[i].name, &primitive_calls[i], .structure = NO_DICT };
        fault_sweep(t, &is, f);
        is.host = true;
        fault_sweep(t, &is, f);
    }
}

/* Builds an index, and searches with it. */
static ordo_status search_with(struct fixture *s, bool compressed)
{
    const struct ordo_slice              keys = test_slice(&s->array[0]), ranks = test_slice(&s->array[2]);
    struct ordo_search_params            params = { .key = ORDO_U32 };
    AUTO(ordo_index_destroy) ordo_index *index = NULL;

    ordo_status got = (compressed ? ordo_index_build_compressed : ordo_index_build)(s->t->dev, ORDO_U32, keys,
                                                                                    FIXTURE_N, NULL, &index);
    params.index = index;
    if (got == ORDO_OK)
        got = ordo_search(s->t->dev, &params, keys, FIXTURE_N, test_slice(&s->array[1]), FIXTURE_N, ranks, NULL);
    return got;
}

static ordo_status search_with_index(struct fixture *s)
{
    return search_with(s, false);
}

static ordo_status search_compressed(struct fixture *s)
{
    return search_with(s, true);
}

/* Builds an index in scratch memory, partitions the queries, and searches. */
static ordo_status search_buffered(struct fixture *s)
{
    const struct ordo_search_params params = { .key = ORDO_U32, .scheme = ORDO_SCHEME_BUFFERED };

    return ordo_search(s->t->dev, &params, test_slice(&s->array[0]), FIXTURE_N, test_slice(&s->array[1]), FIXTURE_N,
                       test_slice(&s->array[2]), NULL);
}

/* Builds an index of the strings, and searches for them. */
static ordo_status search_index(struct fixture *s, const struct ordo_string_index_params *params)
{
    const struct ordo_strings                          column = { test_slice(&s->array[0]), 4, test_slice(&s->array[1]),
                                                                  (size_t) CALL_STRING_BYTES * FIXTURE_N, FIXTURE_N };
    AUTO(ordo_string_index_destroy) ordo_string_index *index = NULL;

    struct ordo_string_index_statistics statistics;

    ordo_status got = ordo_string_index_build(s->t->dev, params, &column, NULL, &index);
    if (got == ORDO_OK)
        got = ordo_string_index_get_statistics(index, &statistics);
    if (got == ORDO_OK)
        got = ordo_string_index_search(index, ORDO_STRING_GE, &column, test_slice(&s->array[2]), NULL);
    return got;
}

static ordo_status search_partial_keys(struct fixture *s)
{
    return search_index(s, ordo_string_index_params(.partial = { .key_bytes = 4, .page_keys = 16 }));
}

/* The content of a dictionary of strings. */
struct string_content {
    uint64_t offsets[FIXTURE_N + 1];
    uint8_t  bytes[CALL_STRING_BYTES * FIXTURE_N];
    uint32_t values[FIXTURE_N];
    size_t   count, needed;
};

static ordo_status read_strings(ordo_string_dict *dict, struct string_content *c)
{
    const struct ordo_host_string_elements out = { c->offsets, c->bytes, sizeof c->bytes, c->values };

    memset(c, 0, sizeof *c);
    return ordo_string_dict_export_host(dict, &out, FIXTURE_N, &c->count, &c->needed);
}

/* Updates a dictionary of strings. If the update fails and changes the content, returns ORDO_BROKEN, which suits no
 * fault. */
static ordo_status update_strings(ordo_string_dict *dict, const struct ordo_strings *column,
                                  const struct ordo_slice *values)
{
    static struct string_content before, after;

    const ordo_status ready = read_strings(dict, &before);
    if (ready != ORDO_OK)
        return ready;
    const ordo_status got =
        values ? ordo_string_dict_upsert(dict, column, *values, NULL) : ordo_string_dict_erase(dict, column, NULL);
    if (got == ORDO_OK)
        return got;
    fault_opencl->armed = fault_memory.armed = false;
    const bool sound = ordo_string_dict_check(dict, NULL) == ORDO_OK && read_strings(dict, &after) == ORDO_OK;
    return sound && memcmp(&before, &after, sizeof before) == 0 ? got : ORDO_BROKEN;
}

/* Updates a dictionary of strings: runs that stay apart, that are merged, and that are cleaned up. */
static ordo_status change_strings(struct fixture *s, ordo_string_dict *dict)
{
    const struct ordo_slice   values = test_slice(&s->array[0]);
    const struct ordo_strings all = { test_slice(&s->array[0]), 4, test_slice(&s->array[1]),
                                      (size_t) CALL_STRING_BYTES * FIXTURE_N, FIXTURE_N };
    const size_t              counts[] = { FIXTURE_N, 9, 2, 800, FIXTURE_N - 1 };
    ordo_status               got = ORDO_OK;

    for (size_t i = 0; i < LENGTH(counts) && got == ORDO_OK; i++) {
        struct ordo_strings part = all;
        part.count = counts[i];
        got = update_strings(dict, &part, i + 1 < LENGTH(counts) ? &values : NULL);
    }
    const struct ordo_strings some = { all.offsets, 4, all.bytes, all.n_bytes, FIXTURE_N / 2 };
    if (got == ORDO_OK)
        got = update_strings(dict, &some, &values);
    if (got == ORDO_OK)
        got = ordo_string_dict_cleanup(dict, NULL);
    return got == ORDO_OK
               ? ordo_string_dict_search(dict, ORDO_STRING_LONGEST_PREFIX, &all, test_slice(&s->array[2]), NULL)
               : got;
}

static ordo_status keep_strings(struct fixture *s)
{
    AUTO(ordo_string_dict_destroy) ordo_string_dict *dict = NULL;

    const ordo_status got = ordo_string_dict_create(s->t->dev, ordo_string_dict_config(.value_bytes = 4), &dict);
    return got == ORDO_OK ? change_strings(s, dict) : got;
}

static ordo_status trim(struct fixture *s)
{
    return ordo_device_trim(s->t->dev);
}

static ordo_status finish(struct fixture *s)
{
    return ordo_device_finish(s->t->dev);
}

static ordo_status self_test(struct fixture *s)
{
    return ordo_device_self_test(s->t->dev);
}

static void device_calls(struct test *t, struct fault *f)
{
    const struct array_call *sort = call_named("ordo_sort");
    const struct scenario    all[] = {
           { "trim", .run = trim, .structure = NO_DICT },
           { "finish", .run = finish, .structure = NO_DICT },
           { "the self-test", .run = self_test, .structure = NO_DICT },
           { "an index", call_named("ordo_search"), .run = search_with_index, .structure = NO_DICT },
           { "a compressed index", call_named("ordo_search"), .run = search_compressed, .structure = NO_DICT },
           { "a dictionary of strings", call_named("ordo_sort_strings"), .run = keep_strings, .structure = NO_DICT },
           { "partial keys", call_named("ordo_sort_strings"), .run = search_partial_keys, .structure = NO_DICT },
           { "buffered queries", call_named("ordo_search"), .run = search_buffered, .structure = NO_DICT },
           { "ordo_sort", sort, .structure = NO_DICT, .order = IN_ORDER },
           { "ordo_sort", sort, .structure = NO_DICT, .order = OUT_OF_ORDER },
           { "ordo_sort", sort, .structure = NO_DICT, .cold = true },
    };

    for (size_t i = 0; i < LENGTH(all); i++)
        fault_sweep(t, &all[i], f);
}

/* Kernels from and to the disk cache, even if the driver has its own. */
static void cached_programs(struct test *t, struct fault *f)
{
    char                     dir[] = "/tmp/ordo-faults-XXXXXX";
    char *const              cache = t->dev->cache_dir;
    const bool               own = t->dev->facts.own_binary_cache;
    const struct array_call *sort = call_named("ordo_sort");

    cr_assert(mkdtemp(dir) != NULL);
    t->dev->cache_dir = dir;
    t->dev->facts.own_binary_cache = false;
    fault_sweep(t, &(struct scenario) { "ordo_sort, from the cache,", sort, .structure = NO_DICT, .cold = true }, f);
    fault_sweep(
        t, &(struct scenario) { "ordo_sort, to the cache,", sort, .structure = NO_DICT, .cold = true, .fresh = dir },
        f);
    t->dev->cache_dir = cache;
    t->dev->facts.own_binary_cache = own;
    fault_empty(dir);
    cr_assert(rmdir(dir) == 0);
}

static ordo_status save_profile(struct fixture *s)
{
    return ordo_device_save_profile(s->t->dev, NULL, 0);
}

static void profiles(struct test *t, struct fault *f)
{
    char dir[] = "/tmp/ordo-faults-XXXXXX", path[64];

    cr_assert(mkdtemp(dir) != NULL);
    (void) snprintf(path, sizeof path, "%s/profile", dir);
    cr_assert(setenv("ORDO_PROFILE", path, 1) == 0);
    fault_sweep(t, &(struct scenario) { "saving a profile", .run = save_profile, .structure = NO_DICT, .fresh = dir },
                f);
    cr_assert(unsetenv("ORDO_PROFILE") == 0);
    fault_empty(dir);
    cr_assert(rmdir(dir) == 0);
}

DEVICE_TEST(faults, primitives_survive_every_opencl_call)
{
    each_primitive(t, fault_opencl);
    device_calls(t, fault_opencl);
    cached_programs(t, fault_opencl);
    fault_show(t, "OpenCL, primitives");
}

DEVICE_TEST(faults, primitives_survive_every_allocation)
{
    each_primitive(t, &fault_memory);
    device_calls(t, &fault_memory);
    cached_programs(t, &fault_memory);
    profiles(t, &fault_memory);
    fault_show(t, "host memory, primitives");
}

/* ---- dictionaries ------------------------------------------------------------------------------------------------ */

static ordo_status create_another(struct fixture *s)
{
    AUTO_DICT ordo_dict *made = NULL;

    const ordo_status got = create(s->t->dev, s->is->structure, ORDO_U64, 8, &made);
    s->numbers[0] = ordo_dict_can(made, ORDO_CAN_FIND);
    return got;
}

static ordo_status destroy(struct fixture *s)
{
    ordo_dict_destroy(&s->dict);
    return ORDO_OK;
}

static ordo_status compact(struct fixture *s)
{
    return ordo_dict_compact(s->dict, NULL);
}

/* Compacts twice, because the second time there are nodes to overwrite. */
static ordo_status compact_again(struct fixture *s)
{
    const ordo_status got = compact(s);
    return got == ORDO_OK ? compact(s) : got;
}

enum { FEW = 40 };

/* Few keys, so that a structure may visit single places instead of all. */
static ordo_status upsert_few(struct fixture *s)
{
    uint32_t keys[FEW], values[FEW];

    for (uint32_t i = 0; i < FEW; i++) {
        keys[i] = key_of(i * 31);
        values[i] = i;
    }
    return ordo_dict_upsert_host(s->dict, keys, values, FEW);
}

/* Sums, because they show a value that is combined twice. */
static ordo_status combine(struct fixture *s, uint32_t count)
{
    uint32_t keys[FIXTURE_N], values[FIXTURE_N];

    for (uint32_t i = 0; i < count; i++) {
        keys[i] = key_of(i * 31 % (2 * count));
        values[i] = i + 1;
    }
    keys[count - 1] = keys[0];
    return ordo_dict_combine_host(s->dict, ORDO_U32, ORDO_SUM, keys, values, count);
}

static ordo_status combine_few(struct fixture *s)
{
    return combine(s, FEW);
}

static ordo_status combine_many(struct fixture *s)
{
    return combine(s, FIXTURE_N);
}

static ordo_status cleanup(struct fixture *s)
{
    return ordo_lsm_cleanup(s->dict, NULL);
}

/* An interval of keys, which a structure need not erase one by one. */
static ordo_status erase_interval(struct fixture *s)
{
    const uint32_t lo = UINT32_MAX / 4, hi = UINT32_MAX / 2;
    uint32_t       erased = 0;

    const ordo_status got = ordo_dict_erase_range_host(s->dict, &lo, &hi, 1, &erased);
    s->numbers[0] = got == ORDO_OK ? erased : 0;
    return got;
}

static ordo_status statistics(struct fixture *s)
{
    struct ordo_statistics is = { 0 };

    const ordo_status got = ordo_dict_statistics(s->dict, NULL, &is);
    if (got != ORDO_OK)
        return got;
    s->numbers[0] = is.elements;
    s->numbers[1] = is.stale;
    s->numbers[2] = is.tombstones;
    s->numbers[3] = is.bytes_data;
    return got;
}

static bool can(struct test *t, int structure, ordo_dict_op op)
{
    AUTO_DICT ordo_dict *dict = NULL;

    test_ok(t, create(t->dev, structure, ORDO_U32, 4, &dict));
    const bool is = ordo_dict_can(dict, op);
    return is;
}

static struct array_call call_of(const struct array_call *call, int structure)
{
    return structure_is(structure, ORDO_NO_ORDER) ? call_without_order(call) : *call;
}

/* If faults last, the seed chooses a few scenarios; ORDO_TEST_FAULTS=all takes every one. */
static void sweep(struct test *t, const struct scenario *is, struct fault *f)
{
    if (!f->only || fault_every_call() || test_below(t, t->facts->cpu ? 24 : 64) == 0)
        fault_sweep(t, is, f);
}

/* Keys of 16 bytes for an eighth of the calls, which the seed chooses, or for all. */
static bool takes_wide(const struct test *t, int structure, size_t call, uint64_t host)
{
    return structure_is(structure, ORDO_WIDE_KEYS) &&
           (fault_every_call() || (call + (size_t) structure + t->seed) % 16 == host);
}

/* For each structure the seed assigns half of the calls to device arrays and half to host arrays, and faults of memory
 * to one half and of OpenCL to the other. ORDO_TEST_FAULTS=all takes all. */
static void array_calls_of(struct test *t, struct fault *f, int structure)
{
    for (size_t i = 0; i < n_dict_calls; i++) {
        if (!can(t, structure, dict_calls[i].needs))
            continue;
        const struct array_call call = call_of(&dict_calls[i], structure);
        for (uint64_t host = 0; host < 2; host++) {
            struct scenario is = { call.name, &call, .host = host != 0, .structure = structure, .held = FIXTURE_HELD };
            if (fault_every_call() || (i + (size_t) structure + t->seed + (f == &fault_memory)) % 2 == host)
                sweep(t, &is, f);
            is.key = test_wide_types[i % LENGTH(test_wide_types)];
            if (takes_wide(t, structure, i, host))
                sweep(t, &is, f);
        }
    }
}

/* Updates of empty structures, on other queues, and with kernels that have yet to be built. */
static void special_calls_of(struct test *t, struct fault *f, int structure)
{
    static const char *const names[] = { "ordo_dict_upsert", "ordo_dict_insert", "ordo_dict_apply", "ordo_dict_find",
                                         "ordo_dict_range" };

    for (size_t i = 0; i < n_dict_calls; i++)
        for (size_t name = 0; name < LENGTH(names); name++)
            if (strcmp(dict_calls[i].name, names[name]) == 0 && can(t, structure, dict_calls[i].needs)) {
                const struct array_call call = call_of(&dict_calls[i], structure);
                struct scenario         is = { call.name, &call, .structure = structure };
                if (name < 3)
                    sweep(t, &is, f);
                is.held = FIXTURE_HELD;
                is.order = name % 2 ? OUT_OF_ORDER : IN_ORDER;
                sweep(t, &is, f);
            }
}

/* Operations that give up immediately or in part, and are then done in order. The last calls copy the results of
 * updates that have changed the dictionary, so that a repeated update would find its own key. */
static void give_up(struct test *t, struct fault *f)
{
    static const int kinds[] = { BLINK, HASH, HAMT, XFAST };

    for (size_t i = 0; i < n_dict_calls; i++)
        for (size_t kind = 0; kind < LENGTH(kinds); kind++)
            if (dict_calls[i].needs == ORDO_CAN_CONCURRENT)
                fault_sweep(t,
                            &(struct scenario) { "ordo_dict_apply_concurrent, some give up,", &dict_calls[i],
                                                 .structure = kinds[kind], .held = FIXTURE_HELD,
                                                 .last_calls = t->facts->cpu ? 24 : 0, .device_faults = 1 + 64 },
                            f);
}

/* Concurrent batches whose finds run first, and whose other operations are listed. */
static void finds_first(struct test *t, struct fault *f)
{
    test_ok(t, ordo_device_set_tunable(t->dev, "links.finds", 1));
    for (size_t i = 0; i < n_dict_calls; i++)
        if (dict_calls[i].needs == ORDO_CAN_CONCURRENT)
            fault_sweep(t,
                        &(struct scenario) { "ordo_dict_apply_concurrent, finds first,", &dict_calls[i],
                                             .structure = BLINK, .held = FIXTURE_HELD },
                        f);
    test_ok(t, ordo_device_set_tunable(t->dev, "links.finds", 2));
}

static void plain_calls_of(struct test *t, struct fault *f, int structure)
{
    const struct array_call *combines = call_named("ordo_dict_combine");
    const struct scenario    all[] = {
           { "create", .run = create_another, .structure = structure },
           { "destroy", .run = destroy, .structure = structure, .held = FIXTURE_HELD },
           { "clear", call_named("ordo_dict_clear"), .structure = structure, .held = FIXTURE_HELD },
           { "compact", .run = compact, .structure = structure, .held = FIXTURE_HELD },
           { "cleanup", .run = cleanup, .structure = structure, .held = FIXTURE_HELD },
           { "erase of an interval", .run = erase_interval, .structure = structure, .held = FIXTURE_HELD },
           { "upsert of few", .run = upsert_few, .structure = structure, .held = FIXTURE_HELD },
           { "combine of few", combines, .run = combine_few, .structure = structure, .held = FIXTURE_HELD },
           { "combine of many", combines, .run = combine_many, .structure = structure, .held = FIXTURE_HELD },
           { "combine into nothing", combines, .run = combine_few, .structure = structure },
           { "check", call_named("ordo_dict_check"), .structure = structure, .held = FIXTURE_HELD },
           { "size", call_named("ordo_dict_size"), .structure = structure, .held = FIXTURE_HELD },
           { "statistics", .run = statistics, .structure = structure, .held = FIXTURE_HELD },
    };

    for (size_t i = 0; i < LENGTH(all); i++)
        if ((all[i].run != cleanup && all[i].run != erase_interval) || structure_is(structure, ORDO_KEEPS_STALE))
            sweep(t, &all[i], f);
}

/* Structures with other configurations, whose calls are mostly the same. The seed assigns OpenCL faults to one half
 * and memory faults to the other. If a run waits for a driver that other tests use too (0.14 s, and 0.02 s on a CPU),
 * a third has OpenCL faults and a sixth memory faults, which do not depend on the device. ORDO_TEST_FAULTS=all takes
 * both for all. */
static bool is_swept(const struct test *t, const struct fault *f, int structure)
{
    const uint64_t ways = t->facts->cpu ? 2 : f == &fault_memory ? 6 : 3;
    return (structure < N_STRUCTURES && t->facts->cpu) || fault_every_call() ||
           ((uint64_t) structure / 2 + t->seed) % ways == (f == &fault_memory ? 1 : 0);
}

/* Every second one, from `first` on, so that two tests run concurrently. */
static void every_second(struct test *t, struct fault *f, int first)
{
    skip_if_of_the_host(f);
    for (int s = first; s < N_CONFIGURED; s += 2) {
        if (!is_swept(t, f, s))
            continue;
        array_calls_of(t, f, s);
        special_calls_of(t, f, s);
        plain_calls_of(t, f, s);
    }
    if (first == 0) {
        give_up(t, f);
        finds_first(t, f);
    }
}

DEVICE_TEST(faults, dictionaries_survive_every_opencl_call)
{
    every_second(t, fault_opencl, 0);
    fault_show(t, "OpenCL, dictionaries");
}

DEVICE_TEST(faults, other_dictionaries_survive_every_opencl_call)
{
    every_second(t, fault_opencl, 1);
    fault_show(t, "OpenCL, other dictionaries");
}

DEVICE_TEST(faults, dictionaries_survive_every_allocation)
{
    every_second(t, &fault_memory, 0);
    fault_show(t, "host memory, dictionaries");
}

DEVICE_TEST(faults, other_dictionaries_survive_every_allocation)
{
    every_second(t, &fault_memory, 1);
    fault_show(t, "host memory, other dictionaries");
}

/* Arrays of host memory that pass through pinned memory, which the first call creates. */
static void host_calls(struct test *t)
{
    static const char *const names[] = { "ordo_dict_find", "ordo_dict_insert", "ordo_dict_range", "ordo_dict_upsert" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct scenario is = { names[i], call_named(names[i]), .host = true, .structure = LSM,
                                     .held = FIXTURE_HELD };
        fault_sweep(t, &is, fault_opencl);
    }
}

static void small_host_calls(struct test *t)
{
    host_calls(t);
    fault_show(t, "OpenCL, small arrays of host memory that is apart");
}

static void large_host_calls(struct test *t)
{
    const struct ordo_ring was = t->dev->ring;

    t->dev->ring = (struct ordo_ring) { .piece = 256, .least = 1, .helpers = 3 };
    t->dev->stage_most = 0;
    host_calls(t);
    fault_show(t, "OpenCL, large arrays of host memory that is apart");
    test_ok(t, ordo_device_trim(t->dev));
    t->dev->ring = was;
    t->dev->stage_most = ORDO_STAGE_BYTES;
}

Test(faults, calls_over_host_memory_survive_every_opencl_call)
{
    test_each_device_with("cpu=0", small_host_calls);
    test_each_device_with("cpu=0", large_host_calls);
}

/* Merges that leave out stale values, by groups that wait for each other. */
MASK_TEST(faults, merges_that_leave_out_what_is_stale_survive_every_opencl_call, "cpu=0,progress=1")
{
    const struct scenario all[] = {
        { "cleanup", .run = cleanup, .structure = LSM, .held = FIXTURE_HELD },
        { "upsert", call_named("ordo_dict_upsert"), .structure = SORTED_ARRAY, .held = FIXTURE_HELD },
        { "erase", call_named("ordo_dict_erase"), .structure = SORTED_ARRAY, .held = FIXTURE_HELD },
        { "combine", call_named("ordo_dict_combine"), .run = combine_many, .structure = SORTED_ARRAY,
          .held = FIXTURE_HELD },
    };

    test_look_back(t);
    for (size_t i = 0; i < LENGTH(all); i++)
        fault_sweep(t, &all[i], fault_opencl);
    fault_show(t, "OpenCL, merges that leave out what is stale");
}

/* A tree of 180 leaves of 25 elements, which batches of up to 1000 combined values change in place. */
enum { TREE_HELD = 4450, TREE_MAX = 1000, OVER_A_SHARE = 1030 };

static ordo_status combine_one_key(struct fixture *s, uint32_t count)
{
    uint32_t keys[OVER_A_SHARE], values[OVER_A_SHARE];

    for (uint32_t i = 0; i < count; i++) {
        keys[i] = key_of(1);
        values[i] = i + 1;
    }
    return ordo_dict_combine_host(s->dict, ORDO_U32, ORDO_SUM, keys, values, count);
}

/* Combines more values of one leaf than it takes directly. */
static ordo_status combine_one(struct fixture *s)
{
    return combine_one_key(s, FEW);
}

/* Combines into one leaf more values than a team takes one after another. */
static ordo_status combine_over_a_share(struct fixture *s)
{
    return combine_one_key(s, OVER_A_SHARE);
}

/* Combines new keys, eight in each of a few leaves, which split. */
static ordo_status combine_new(struct fixture *s)
{
    uint32_t key[FEW], value[FEW];

    for (uint32_t i = 0; i < FEW; i++) {
        key[i] = key_of(1 + i % 5 * 50) + 1 + i / 5;
        value[i] = i + 1;
    }
    return ordo_dict_combine_host(s->dict, ORDO_U32, ORDO_SUM, key, value, FEW);
}

/* Combines enough new keys to make the pools grow; each key twice. */
static ordo_status combine_beyond_pools(struct fixture *s)
{
    uint32_t key[TREE_MAX], value[TREE_MAX];

    for (uint32_t i = 0; i < TREE_MAX; i++) {
        key[i] = key_of(TREE_HELD + i / 2);
        value[i] = i + 1;
    }
    return ordo_dict_combine_host(s->dict, ORDO_U32, ORDO_SUM, key, value, TREE_MAX);
}

MASK_TEST(faults, combines_survive_every_opencl_call, "", "cpu=0")
{
    static const struct scenario all[] = {
        { "combine of few", .run = combine_few },
        { "combine of one", .run = combine_one },
        { "combine of new ones", .run = combine_new },
        { "combine over a share", .run = combine_over_a_share },
        { "combine beyond pools", .run = combine_beyond_pools },
    };
    static const int trees[] = { BLINK, SKIPLIST };

    for (size_t s = 0; s < (fault_every_call() ? LENGTH(trees) : 1); s++)
        for (size_t i = 0; i < LENGTH(all); i++) {
            struct scenario is = all[i];
            is.call = call_named("ordo_dict_combine");
            is.structure = trees[s];
            is.held = TREE_HELD;
            fault_sweep(t, &is, fault_opencl);
        }
    fault_show(t, "OpenCL, combines in place");
}

/* Stores enough new keys to make the tree rebuild itself. */
static ordo_status upsert_many(struct fixture *s)
{
    uint32_t keys[FIXTURE_N];

    for (uint32_t i = 0; i < FIXTURE_N; i++)
        keys[i] = i * (UINT32_MAX / FIXTURE_N) + 1;
    return ordo_dict_upsert_host(s->dict, keys, keys, FIXTURE_N);
}

/* Stores enough new keys in one leaf to make a GPU split the leaf before it stores them. */
static ordo_status upsert_between(struct fixture *s)
{
    uint32_t keys[OVER_A_SHARE];

    for (uint32_t i = 0; i < OVER_A_SHARE; i++)
        keys[i] = key_of(1) + 1 + i;
    return ordo_dict_upsert_host(s->dict, keys, keys, OVER_A_SHARE);
}

/* Rebuilds trees in new memory and in place, with a batch and without. */
MASK_TEST(faults, trees_survive_a_driver_that_refuses_all_commands, "", "cpu=0")
{
    static const struct scenario all[] = {
        { "compact", .run = compact, .structure = BLINK, .held = FIXTURE_HELD },
        { "compact, again,", .run = compact_again, .structure = SKIPLIST, .held = FIXTURE_HELD },
        { "upsert of many", .run = upsert_many, .structure = BLINK, .held = FIXTURE_HELD },
        { "upsert between two keys", .run = upsert_between, .structure = SKIPLIST, .held = TREE_HELD },
    };

    fault_opencl->only = "clEnqueue";
    for (size_t i = 0; i < LENGTH(all); i++)
        fault_sweep(t, &all[i], fault_opencl);
    fault_opencl->only = NULL;
    fault_show(t, "OpenCL, trees built anew, commands refused");
}

/* The number of the last call with this name. */
static unsigned long last_of(const struct fault *f, const char *name)
{
    for (unsigned long n = f->calls; n > 0; n--)
        if (strcmp(f->log[n - 1], name) == 0)
            return n;
    cr_assert_fail("there is no %s", name);
    abort();
}

/* Leaves so few elements that the tree is rebuilt at the end. */
static ordo_status erase_most(struct fixture *s)
{
    static uint32_t keys[TREE_HELD];
    static uint8_t  codes[TREE_HELD];

    for (uint32_t i = 0; i < TREE_HELD; i++)
        keys[i] = key_of(i);
    memset(codes, ORDO_ERASE, sizeof codes);
    return ordo_dict_apply_concurrent_host(
        s->dict, &(struct ordo_host_concurrent_batch) { .codes = codes, .keys = keys, .count = TREE_HELD - FEW });
}

/* A rebuild creates a buffer for all elements, and then one for each pool. */
enum { BUFFERS_OF_A_REBUILD = 8 };

/* A batch succeeds although its last buffers are refused. A later batch frees its memory. */
DEVICE_TEST(faults, concurrent_batches_do_without_memory_that_is_reported_as_the_hosts)
{
    const struct scenario is = { "erase of most", .run = erase_most, .structure = BLINK, .held = TREE_HELD,
                                 .device_faults = 128 }; /* one work-item does all: each run makes the same calls */
    struct expected       e = fixture_expected();
    struct complaint      c = { "" };
    struct fault          plan = { .code = CL_OUT_OF_HOST_MEMORY };

    test_context(t, "a lack of memory, reported as one of host memory");
    fixture_run_without(t, &is, fault_opencl, &e); /* builds kernels */
    fixture_run_without(t, &is, fault_opencl, &e);
    struct fault *seen = test_alloc(sizeof *seen);
    *seen = *fault_opencl;
    for (int i = 0; i < BUFFERS_OF_A_REBUILD; i++) {
        plan.at = last_of(seen, "clCreateBuffer");
        seen->calls = plan.at - 1;
        test_ok(t, fixture_run_with(&c, t, &is, &e, fault_opencl, &plan));
        test_true(t, fault_opencl->struck == 1 && c.text[0] == 0);
    }
    free(seen);
    fixture_forget(&e);
}

/* A batch for which all buffers are refused from one on may leave out operations, and says which. */
MASK_TEST(faults, concurrent_batches_survive_a_driver_that_refuses_all_buffers, "", "cpu=0")
{
    static const int kinds[] = { BLINK, HASH, HAMT, XFAST };

    fault_opencl->only = "clCreateBuffer";
    for (size_t i = 0; i < LENGTH(kinds); i++) {
        const struct scenario is = { "ordo_dict_apply_concurrent", call_named("ordo_dict_apply_concurrent"),
                                     .host = i % 2 != 0, .structure = kinds[i], .held = FIXTURE_HELD };
        fault_sweep(t, &is, fault_opencl);
    }
    fault_opencl->only = NULL;
    test_true(t, fixture_not_stored > 0);
    fault_show(t, "OpenCL, concurrent batches, buffers refused");
}

MASK_TEST(faults, dictionaries_survive_a_driver_that_refuses_all_commands, "", "cpu=0")
{
    fault_opencl->only = "clEnqueue";
    for (int s = 0; s < N_CONFIGURED; s++) {
        array_calls_of(t, fault_opencl, s);
        plain_calls_of(t, fault_opencl, s);
    }
    fault_opencl->only = NULL;
    fault_show(t, "OpenCL, dictionaries, commands refused");
}

MASK_TEST(faults, dictionaries_of_strings_survive_a_driver_that_refuses_all_commands, "", "cpu=0")
{
    const struct scenario is = { "a dictionary of strings", call_named("ordo_sort_strings"), .run = keep_strings,
                                 .structure = NO_DICT };

    fault_opencl->only = "clEnqueue";
    fault_sweep(t, &is, fault_opencl);
    fault_opencl->only = NULL;
    fault_show(t, "OpenCL, dictionaries of strings, commands refused");
}

/* ---- a refused barrier ------------------------------------------------------------------------------------------- */

/* Enqueues sums of 100 numbers. */
static ordo_status scan_on(ordo_device *dev, const struct test_array *on, cl_command_queue queue)
{
    const struct ordo_order order = { .queue = queue };
    return ordo_scan(dev, ordo_scan_params(.type = ORDO_U32), test_slice(on), test_slice(on), 100, &order);
}

/* The command before a refused barrier may still run when the next call begins, so that call begins with a barrier. */
DEVICE_TEST(faults, a_refused_barrier_is_made_up_for)
{
    cl_command_queue             queue = test_queue(t, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    AUTO_ARRAY struct test_array on = test_upload(t, NULL, 100, 4, 0);
    if (!queue)
        return;
    test_ok(t, scan_on(t->dev, &on, queue));
    fault_opencl->only = "clEnqueueBarrier";
    fault_arm(fault_opencl, 1, 0, true);
    (void) scan_on(t->dev, &on, queue); /* ORDO_OK if only its last barrier is refused */
    test_true(t, fault_opencl->struck > 0);
    fault_opencl->only = "clEnqueue";
    fault_arm(fault_opencl, 0, 0, false);
    test_ok(t, scan_on(t->dev, &on, queue));
    fault_opencl->armed = false;
    fault_opencl->only = NULL;
    test_true(t, fault_opencl->calls > 0 && strcmp(fault_opencl->log[0], "clEnqueueBarrierWithWaitList") == 0);
    test_true(t, clFinish(queue) == CL_SUCCESS && clReleaseCommandQueue(queue) == CL_SUCCESS);
}

/* Refuses each barrier in turn, and all later ones until the call returns. The command before it runs all the same.
 * Barriers are counted apart, because the number of other calls before them is chance. */
static void refuse_barriers(struct test *t, const struct scenario *is)
{
    struct expected e = fixture_expected();

    test_context(t, "%s of a %s, barriers refused", is->name, structures[is->structure].name);
    fixture_run_without(t, is, fault_opencl, &e); /* builds kernels */
    fixture_run_without(t, is, fault_opencl, &e);
    const unsigned long barriers = fault_opencl->calls;
    test_true(t, barriers > 0);
    for (unsigned long n = 1; n <= barriers; n++) {
        const struct fault plan = { .at = n, .lasting = true };
        struct complaint   c = { "" };
        const ordo_status  got = fixture_run_with(&c, t, is, &e, fault_opencl, &plan);
        fault_note(t, fault_opencl, &plan, got, &c);
    }
    fixture_forget(&e);
}

/* A batch that rebuilds a tree overwrites its leaves in place. If the barrier after that is refused, the leaves are
 * overwritten all the same, so the elements must be kept elsewhere. */
DEVICE_TEST(faults, dictionaries_survive_a_driver_that_refuses_barriers)
{
    static const char *const names[] = { "ordo_dict_insert", "ordo_dict_erase" };

    fault_opencl->only = "clEnqueueBarrier";
    for (int s = 0; s < N_STRUCTURES; s++)
        for (size_t name = 0; name < LENGTH(names); name++) {
            const struct array_call call = call_of(call_named(names[name]), s);
            if (can(t, s, call.needs))
                refuse_barriers(t, &(struct scenario) { call.name, &call, .structure = s, .held = FIXTURE_HELD,
                                                        .order = OUT_OF_ORDER });
        }
    fault_opencl->only = NULL;
    fault_show(t, "OpenCL, barriers refused");
}

/* ---- a device that failed ---------------------------------------------------------------------------------------- */

enum { ILLEGAL_ACCESS = -9999 }; /* NVIDIA's */

/* All calls from `call` on return `code`. */
static ordo_status with_lasting(ordo_device *dev, unsigned long call, cl_int code, ordo_status (*run)(ordo_device *dev))
{
    fault_arm(fault_opencl, call, code, true);
    const ordo_status got = run(dev);
    fault_opencl->armed = false;
    return got;
}

static ordo_status scan_on_host(ordo_device *dev)
{
    uint32_t sums[100] = { 0 };
    return ordo_scan_host(dev, ordo_scan_params(.type = ORDO_U32), sums, sums, LENGTH(sums));
}

/* Whether the message of the last error has this text. */
static bool tells(ordo_device *dev, const char *want)
{
    char text[512] = "";
    (void) ordo_device_last_error(dev, text, sizeof text);
    return strstr(text, want) != NULL;
}

DEVICE_TEST(faults, a_kernel_that_failed_is_no_want_of_memory)
{
    ordo_device *dev = t->dev;

    /* The code means lack of memory until a wait fails, and again after a wait has succeeded. */
    test_ok(t, scan_on_host(dev));
    test_ok(t, ordo_device_trim(dev));
    test_status(t, with_lasting(dev, 1, CL_OUT_OF_RESOURCES, scan_on_host), ORDO_NO_DEVICE_MEMORY);
    test_status(t, with_lasting(dev, 1, CL_OUT_OF_RESOURCES, ordo_device_finish), ORDO_DEVICE_FAILED);
    test_true(t, tells(dev, "clFinish failed: CL_OUT_OF_RESOURCES (-5)"));
    test_status(t, with_lasting(dev, 1, CL_OUT_OF_RESOURCES, scan_on_host), ORDO_DEVICE_FAILED);
    test_status(t, with_lasting(dev, 1, CL_INVALID_COMMAND_QUEUE, ordo_device_finish), ORDO_DEVICE_FAILED);
    test_ok(t, ordo_device_finish(dev));
    test_status(t, with_lasting(dev, 1, CL_OUT_OF_RESOURCES, scan_on_host), ORDO_NO_DEVICE_MEMORY);

    test_status(t, with_lasting(dev, 1, ILLEGAL_ACCESS, scan_on_host), ORDO_DEVICE_FAILED);
    test_true(t, tells(dev, "NVIDIA's code for a kernel") && tells(dev, "(-9999)"));
    test_true(t, ordo_device_last_cl_error(dev) == ILLEGAL_ACCESS);
    test_status(t, with_lasting(dev, 1, -4242, scan_on_host), ORDO_OPENCL);
    test_true(t, tells(dev, "unknown OpenCL code (-4242)"));
    test_ok(t, scan_on_host(dev));
}

/* ---- forks ------------------------------------------------------------------------------------------------------- */

/* In the child: calls end without using the driver, whose locks a missing thread may hold. */
static int child_of_fork(ordo_device *dev, ordo_dict *dict, ordo_index *index)
{
    struct ordo_memory memory;
    uint32_t           word = 0;

    fault_arm(fault_opencl, 0, 0, false);
    const bool refused = ordo_dict_upsert_host(dict, &word, &word, 1) == ORDO_FORKED &&
                         scan_on_host(dev) == ORDO_FORKED && ordo_device_memory(dev, &memory) == ORDO_FORKED &&
                         ordo_device_finish(dev) == ORDO_FORKED && ordo_device_trim(dev) == ORDO_FORKED;
    ordo_dict_destroy(&dict);
    ordo_index_destroy(&index);
    ordo_device_close(&dev);
    for (unsigned long i = 0; i < fault_opencl->calls; i++)
        fprintf(stderr, "in the child of a fork: %s\n", fault_opencl->log[i]);
    return refused ? fault_opencl->calls > 0 : 2;
}

static void fork_with(struct test *t, int structure)
{
    enum { COUNT = 100 };
    AUTO_ARRAY struct test_array keys = test_upload(t, NULL, COUNT, 4, 1), found = test_upload(t, NULL, COUNT, 1, 0);
    const cl_command_queue       queue = test_queue_of(ordo_device_context(t->dev), ordo_device_id(t->dev), 0);
    const struct ordo_order      order = { .queue = queue };
    ordo_dict                   *dict = make_dict(t, t->dev, structure, 0, COUNT);
    ordo_index                  *index = NULL;
    int                          status = 0;

    test_context(t, "a child of fork with a %s", structures[structure].name);
    test_ok(t, ordo_index_build(t->dev, ORDO_U32, test_slice(&keys), COUNT, NULL, &index));
    test_ok(t, ordo_dict_contains(dict, test_slice(&keys), COUNT, test_slice(&found), &order));
    const pid_t child = fork();
    if (child == 0)
        _exit(child_of_fork(t->dev, dict, index));
    test_true(t, child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ordo_dict_destroy(&dict);
    ordo_index_destroy(&index);
    (void) clReleaseCommandQueue(queue);
}

DEVICE_TEST(faults, a_child_of_fork_asks_the_driver_nothing)
{
    for (int s = 0; s < N_STRUCTURES; s++)
        fork_with(t, s);
}

/* ---- checks of the test itself ----------------------------------------------------------------------------------- */

static struct ordo_slice slice_of(const struct fixture *s, size_t i)
{
    return test_slice(&s->array[i]);
}

static ordo_status scan_in(struct fixture *s)
{
    return ordo_scan(s->t->dev, ordo_scan_params(.type = ORDO_U32), slice_of(s, 0), slice_of(s, 1), FIXTURE_N, NULL);
}

static ordo_status pass_over_errors(struct fixture *s)
{
    (void) scan_in(s);
    return ORDO_OK;
}

static ordo_status tell_another_error(struct fixture *s)
{
    return scan_in(s) == ORDO_OK ? ORDO_OK : ORDO_INVALID;
}

static ordo_status leak_a_buffer(struct fixture *s)
{
    cl_mem mem = clCreateBuffer(ordo_device_context(s->t->dev), CL_MEM_READ_WRITE, 64, NULL, NULL);

    const ordo_status got = scan_in(s);
    if (got == ORDO_OK && mem)
        (void) clReleaseMemObject(mem);
    return got;
}

static ordo_status leak_a_block(struct fixture *s)
{
    static void *volatile block; /* volatile: else the compiler allocates nothing */

    block = malloc(64);
    const ordo_status got = scan_in(s);
    if (got == ORDO_OK)
        free(block);
    return got;
}

static ordo_status write_an_input(struct fixture *s)
{
    const ordo_status got = scan_in(s);
    const uint32_t    word = 7;

    if (got != ORDO_OK)
        (void) clEnqueueWriteBuffer(ordo_device_queue(s->t->dev), s->array[0].mem, CL_TRUE, 0, sizeof word, &word, 0,
                                    NULL, NULL);
    return got;
}

static ordo_status clear_after_an_error(struct fixture *s)
{
    size_t            count = 0;
    const ordo_status got =
        ordo_dict_export(s->dict, slice_of(s, 0), slice_of(s, 1), (size_t) 3 * FIXTURE_N, &count, NULL);

    if (got != ORDO_OK) {
        fault_opencl->armed = false;
        (void) ordo_dict_clear(s->dict);
    }
    return got;
}

static void expect_complaint(struct test *t, ordo_status (*wrong)(struct fixture *s), const char *array_call,
                             const char *want)
{
    const struct scenario is = { "a call that is wrong", call_named(array_call), .run = wrong,
                                 .structure = strncmp(array_call, "ordo_dict", 9) == 0 ? LSM : NO_DICT,
                                 .held = FIXTURE_HELD };
    struct expected       e = fixture_expected();
    struct complaint      c = { "" };

    test_context(t, "the complaint '%s'", want);
    fixture_run_without(t, &is, fault_opencl, &e); /* builds kernels */
    fixture_run_without(t, &is, fault_opencl, &e);
    (void) fixture_run_with(&c, t, &is, &e, fault_opencl,
                            &(struct fault) { .at = last_of(fault_opencl, "clEnqueueNDRangeKernel") });
    test_true(t, fault_opencl->struck == 1);
    if (!strstr(c.text, want))
        test_fail(t, __FILE__, __LINE__, "the complaint is '%s'", c.text);
    fixture_forget(&e);
}

DEVICE_TEST(faults, what_is_wrong_is_noticed)
{
    expect_complaint(t, pass_over_errors, "ordo_scan", "out differs");
    expect_complaint(t, tell_another_error, "ordo_scan", "ended as");
    expect_complaint(t, leak_a_buffer, "ordo_scan", "buffers that are left: 1");
    expect_complaint(t, leak_a_block, "ordo_scan", "blocks of host memory that are left: 1");
    expect_complaint(t, write_an_input, "ordo_scan", "an input was written");
    expect_complaint(t, clear_after_an_error, "ordo_dict_export", "the dictionary holds something else than before");
}

static char *text_of(const char *path)
{
    FILE *file = fopen(path, "rb");
    cr_assert(file != NULL, "%s", path);
    char        *text = test_alloc(1 << 20);
    const size_t bytes = fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    text[bytes] = 0;
    return text;
}

/* Fails for an OpenCL function that a file calls and the text `known` lacks. Returns the number of functions. */
static size_t find_calls(const char *path, const char *known)
{
    AUTO_FREE char *text = text_of(path);
    size_t          n = 0;

    for (const char *at = text; (at = strstr(at, "cl")); at += 2) {
        const size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
        char         name[64];
        if ((at > text && (at[-1] == '_' || at[-1] == '"' || (at[-1] >= 'a' && at[-1] <= 'z'))) || at[2] < 'A' ||
            at[2] > 'Z' || at[length] != '(' || length >= sizeof name)
            continue;
        memcpy(name, at, length);
        name[length] = 0;
        const size_t begun = strncmp(name, "clRetain", 8) == 0 ? 8 : strncmp(name, "clRelease", 9) == 0 ? 9 : 0;
        cr_assert(strstr(known, name + begun) != NULL, "%s calls %s, which fault_opencl.c does not make fail", path,
                  name);
        n++;
    }
    return n;
}

/* Each OpenCL call in host/runtime, which has all of the library's, can fail. */
Test(faults, every_call_can_fail)
{
    char          *known = text_of(TEST_SOURCE_DIR "/faults/fault_opencl.c");
    DIR           *dir = opendir(TEST_SOURCE_DIR "/../host/runtime");
    size_t         n = 0;
    struct dirent *entry = NULL;

    cr_assert(dir != NULL);
    while ((entry = readdir(dir))) {
        char path[512];
        if (!strstr(entry->d_name, ".c"))
            continue;
        (void) snprintf(path, sizeof path, "%s/../host/runtime/%s", TEST_SOURCE_DIR, entry->d_name);
        n += find_calls(path, known);
    }
    closedir(dir);
    free(known);
    cr_assert(n > 60, "%zu calls found", n);
}
