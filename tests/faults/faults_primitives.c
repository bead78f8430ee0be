/* SPDX-License-Identifier: Apache-2.0 */
/* Primitives and calls on the device, for the program `faults` (faults.c). */
#define _GNU_SOURCE
#include "fault_fixture.h"

#include "runtime/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void each_primitive(struct test *t, struct fault *f)
{
    fault_skip_if_of_the_host(f);
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

static ordo_status trim(struct fixture *s)
{
    return ordo_device_trim(s->t->dev);
}

/* Sorts in memory of ordo_host_alloc. */
static ordo_status allocate_sort_and_free(struct fixture *s)
{
    ordo_device *dev = s->t->dev;
    void        *memory = NULL;
    ordo_status  got = ordo_host_alloc(dev, FIXTURE_N * sizeof(uint32_t), &memory);

    if (got != ORDO_OK)
        return got;
    memset(memory, 7, FIXTURE_N * sizeof(uint32_t));
    got = ordo_sort_host(dev, ordo_sort_params(.key = ORDO_U32), memory, NULL, FIXTURE_N);
    const ordo_status freed = ordo_host_free(dev, memory);
    return got == ORDO_OK ? freed : got;
}

static ordo_status finish(struct fixture *s)
{
    return ordo_device_finish(s->t->dev);
}

static ordo_status self_test(struct fixture *s)
{
    return ordo_device_self_test(s->t->dev);
}

static void host_memory(struct test *t, struct fault *f)
{
    const struct scenario is = { "host memory", .run = allocate_sort_and_free, .structure = NO_DICT };
    const size_t          was = t->dev->stage_most;

    fault_sweep(t, &is, f);
    t->dev->stage_most = 0;
    fault_sweep(t, &is, f);
    t->dev->stage_most = was;
    test_true(t, t->dev->n_host_blocks == 0);
    fault_show(t, "memory of ordo_host_alloc");
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

static void host_memory_over_opencl(struct test *t)
{
    host_memory(t, fault_opencl);
}

static void host_memory_over_allocations(struct test *t)
{
    host_memory(t, &fault_memory);
}

Test(faults, host_memory_survives_every_fault)
{
    test_each_device_with("cpu=0", host_memory_over_opencl);
    test_each_device_with("cpu=0", host_memory_over_allocations);
    test_each_device(host_memory_over_opencl);
    test_each_device(host_memory_over_allocations);
}

DEVICE_TEST(faults, primitives_survive_every_allocation)
{
    each_primitive(t, &fault_memory);
    device_calls(t, &fault_memory);
    cached_programs(t, &fault_memory);
    profiles(t, &fault_memory);
    fault_show(t, "host memory, primitives");
}
