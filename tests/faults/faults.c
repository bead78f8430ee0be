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
#include "fault_fixture.h"

#include "runtime/internal.h"
#include "shared/faults.h"

#include <stdio.h>
#include <stdlib.h>

static void begin_suite(void)
{
    fault_alone();
    test_host_code();
}

TestSuite(faults, .init = begin_suite);

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
    fault_skip_if_of_the_host(f);
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

/* All memory counts as pinned. The arrays pass in some four pieces. */
MASK_TEST(faults, calls_in_pieces_survive_every_opencl_call, "cpu=0")
{
    const struct scenario all[] = {
        { "find", call_named("ordo_dict_find"), .host = true, .structure = LSM, .held = FIXTURE_HELD },
        { "count", call_named("ordo_dict_count"), .host = true, .structure = LSM, .held = FIXTURE_HELD },
        { "lookup", call_named("ordo_lookup"), .host = true, .structure = NO_DICT },
    };
    struct ordo_host_block all_memory = { .bytes = SIZE_MAX };
    const size_t           was = t->dev->piece_bytes;

    t->dev->host_blocks = &all_memory;
    t->dev->n_host_blocks = 1;
    t->dev->piece_bytes = (size_t) 512 * 13;
    t->dev->stage_most = 0;
    for (size_t i = 0; i < LENGTH(all); i++)
        fault_sweep(t, &all[i], fault_opencl);
    test_true(t, t->dev->queue_up != NULL);
    t->dev->host_blocks = NULL;
    t->dev->n_host_blocks = 0;
    t->dev->piece_bytes = was;
    t->dev->stage_most = ORDO_STAGE_BYTES;
    fault_show(t, "OpenCL, arrays of pinned memory in pieces");
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
        plan.at = fault_last_of(seen, "clCreateBuffer");
        seen->calls = plan.at - 1;
        test_ok(t, fixture_run_with(&c, t, &is, &e, fault_opencl, &plan));
        test_true(t, fault_opencl->struck == 1 && c.text[0] == 0);
    }
    free(seen);
    fixture_forget(&e);
}

/* Stores a few new keys so often that the pools grow, and shrink at the end. */
static ordo_status store_again(struct fixture *s)
{
    static uint32_t keys[FIXTURE_MAX], values[FIXTURE_MAX];
    static uint8_t  codes[FIXTURE_MAX];

    for (uint32_t i = 0; i < FIXTURE_MAX; i++) {
        keys[i] = key_of(TREE_HELD + i % FEW);
        values[i] = i;
    }
    memset(codes, ORDO_UPSERT, sizeof codes);
    return ordo_dict_apply_concurrent_host(
        s->dict,
        &(struct ordo_host_concurrent_batch) { .codes = codes, .keys = keys, .values = values, .count = FIXTURE_MAX });
}

/* Splits one leaf so often that the level above lacks entries at the end, if no inner node is free. */
static ordo_status store_between(struct fixture *s)
{
    uint32_t keys[OVER_A_SHARE];
    uint8_t  codes[OVER_A_SHARE];

    for (uint32_t i = 0; i < OVER_A_SHARE; i++)
        keys[i] = key_of(1) + 1 + i;
    memset(codes, ORDO_UPSERT, sizeof codes);
    return ordo_dict_apply_concurrent_host(
        s->dict,
        &(struct ordo_host_concurrent_batch) { .codes = codes, .keys = keys, .values = keys, .count = OVER_A_SHARE });
}

/* Rebuilds, shrinks pools, reclaims chunks and adds entries to the levels above after all operations are done. */
MASK_TEST(faults, concurrent_batches_that_are_done_return_no_error, "", "cpu=0")
{
    static const struct scenario all[] = {
        { "erase of most", .run = erase_most, .structure = BLINK, .device_faults = FAULT_ALONE },
        { "erase of most", .run = erase_most, .structure = SKIPLIST, .device_faults = FAULT_ALONE },
        { "stores of few keys", .run = store_again, .structure = BLINK, .device_faults = FAULT_ALONE },
        { "stores between two keys", .run = store_between, .structure = BLINK,
          .device_faults = FAULT_ALONE + FAULT_NO_INNER },
    };

    for (size_t i = 0; i < 2 * LENGTH(all); i++) {
        struct scenario is = all[i / 2];
        is.call = call_named("ordo_dict_apply_concurrent");
        is.held = TREE_HELD;
        is.in_part = true;
        is.last_calls = t->facts->cpu ? 60 : 0;
        fault_opencl->only = i % 2 ? "clEnqueue" : NULL;
        fault_sweep(t, &is, fault_opencl);
    }
    fault_opencl->only = NULL;
    fault_show(t, "OpenCL, concurrent batches that are done");
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
