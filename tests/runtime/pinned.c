/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of ordo_host_alloc: errors, use by every call, threads, closed devices and forks. */
#include "runtime/internal.h"
#include "tests/dict/dict_case.h"
#include "tests/support/calls.h"
#include "tests/support/support.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct ordo_sort_params u32_keys = { .key = ORDO_U32 };

static char *new_block(struct test *t, size_t bytes)
{
    void *memory = NULL;

    test_ok(t, ordo_host_alloc(t->dev, bytes, &memory));
    test_true(t, memory && (uintptr_t) memory % 64 == 0);
    return memory;
}

static void free_block(struct test *t, void *memory)
{
    test_ok(t, ordo_host_free(t->dev, memory));
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

static void refuse_alloc(struct test *t, size_t bytes, ordo_status want, const char *message)
{
    void *memory = t;

    test_status(t, ordo_host_alloc(t->dev, bytes, &memory), want);
    test_message(t, message);
    test_true(t, memory == NULL);
}

static void refuse_free(struct test *t, void *memory, const char *message)
{
    test_status(t, ordo_host_free(t->dev, memory), ORDO_INVALID);
    test_message(t, message);
}

MASK_TEST(pinned, bad_arguments_are_refused, "", "cpu=0")
{
    AUTO_DEVICE ordo_device *other = test_open_again(t);
    struct ordo_memory       memory;
    void                    *null = t, *of_other = NULL;
    AUTO_FREE char          *ordinary = test_alloc(100);

    refuse_alloc(t, 0, ORDO_INVALID, "bytes is 0");
    refuse_alloc(t, SIZE_MAX, ORDO_TOO_LARGE, "exceed the device's largest allocation");
    refuse_alloc(t, t->facts->max_alloc_bytes + 1, ORDO_TOO_LARGE, "exceed the device's largest allocation");
    test_status(t, ordo_host_alloc(t->dev, 1, NULL), ORDO_INVALID);
    test_status(t, ordo_host_alloc(NULL, 1, &null), ORDO_INVALID);
    test_true(t, null == NULL);
    test_status(t, ordo_host_free(NULL, ordinary), ORDO_INVALID);
    test_ok(t, ordo_host_free(t->dev, NULL));

    char *first = new_block(t, 100), *second = new_block(t, 1);
    test_ok(t, ordo_host_alloc(other, 100, &of_other));
    test_ok(t, ordo_device_memory(t->dev, &memory));
    test_true(t, memory.held_bytes == 0 && memory.buffers == 0);
    refuse_free(t, ordinary, "memory is not from ordo_host_alloc on this device");
    refuse_free(t, of_other, "memory is not from ordo_host_alloc on this device");
    refuse_free(t, first + 99, "memory lies 99 bytes after");
    refuse_free(t, first - 1, "memory is not from ordo_host_alloc on this device");
    memset(first, 7, 100);
    free_block(t, first);
    refuse_free(t, first, "is already free");
    free_block(t, second);
    test_ok(t, ordo_host_free(other, of_other));
    test_true(t, t->dev->n_host_blocks == 0 && other->n_host_blocks == 0);
}

/* ---- use --------------------------------------------------------------------------------------------------------- */

enum { COUNT = 70001 };

static void sort_at(struct test *t, uint32_t *keys)
{
    AUTO_FREE uint32_t *want = test_alloc(COUNT * sizeof *want);

    test_random_bytes(t, want, COUNT * sizeof *want);
    memcpy(keys, want, COUNT * sizeof *want);
    test_sort_keys(ORDO_U32, false, COUNT, want);
    test_ok(t, ordo_sort_host(t->dev, &u32_keys, keys, NULL, COUNT));
    test_same(t, "keys", ORDO_U32, keys, want, COUNT);
}

/* Large pageable arrays go through the ring. Pinned arrays never do, unless they exceed their block. */
static void expect_ring(struct test *t, uint32_t *keys, bool want)
{
    const struct ordo_ring was = t->dev->ring;

    t->dev->ring = (struct ordo_ring) { .piece = 4096, .least = 1, .helpers = 3 };
    sort_at(t, keys);
    test_true(t, (t->dev->ring.mem != NULL) == want);
    test_ok(t, ordo_device_trim(t->dev));
    t->dev->ring = was;
}

MASK_TEST(pinned, arrays_anywhere_in_a_block_need_no_ring, "cpu=0")
{
    enum { ROOM = 64 };
    const size_t        bytes = (COUNT + ROOM) * sizeof(uint32_t);
    AUTO_FREE uint32_t *pageable = test_alloc(bytes);
    char               *below = new_block(t, 5000), *block = new_block(t, bytes), *above = new_block(t, 5000);

    for (size_t at = 0; at <= ROOM; at += at < 8 ? 1 : 14) {
        test_context(t, "at element %zu of %d", at, ROOM);
        expect_ring(t, (uint32_t *) (void *) block + at, false);
    }
    expect_ring(t, pageable, true);

    size_t i = 0;
    while (t->dev->host_blocks[i].host != block)
        i++;
    t->dev->host_blocks[i].bytes -= 4; /* The last array now exceeds the block. */
    expect_ring(t, (uint32_t *) (void *) block + ROOM, true);
    expect_ring(t, (uint32_t *) (void *) block + ROOM - 1, false);
    t->dev->host_blocks[i].bytes += 4;
    free_block(t, block);
    free_block(t, below);
    free_block(t, above);
}

/* Copies between pinned and pageable arrays in one call: the keys are in a block, the values are not. */
MASK_TEST(pinned, one_call_takes_pinned_and_other_arrays, "", "cpu=0")
{
    const struct ordo_sort_params pairs = { .key = ORDO_U32, .value_bytes = 4 };
    const struct ordo_ring        was = t->dev->ring;
    AUTO_FREE uint32_t           *values = test_alloc(COUNT * sizeof *values);
    uint32_t                     *keys = (uint32_t *) (void *) new_block(t, COUNT * sizeof *keys);

    t->dev->ring = (struct ordo_ring) { .piece = 4096, .least = 1, .helpers = 3 };
    for (uint32_t i = 0; i < COUNT; i++) {
        keys[i] = i * 2654435761u;
        values[i] = keys[i] ^ 5;
    }
    test_ok(t, ordo_sort_host(t->dev, &pairs, keys, values, COUNT));
    for (uint32_t i = 0; i < COUNT; i++)
        test_true(t, values[i] == (keys[i] ^ 5) && (i == 0 || keys[i - 1] < keys[i]));
    test_ok(t, ordo_device_trim(t->dev));
    t->dev->ring = was;
    free_block(t, keys);
}

enum { HELD = 300 };

/* Makes the call on ordinary arrays, and on arrays that follow each other in one block. */
static void same_results(struct test *t, const struct array_call *call, ordo_dict *dict, size_t n)
{
    struct given                     g = call_given(t->dev, dict, n);
    AUTO_STRINGS struct call_strings strings = call_strings_of(t, call, n);
    void                            *plain[CALL_ARRAYS] = { NULL }, *pinned[CALL_ARRAYS] = { NULL };
    size_t                           bytes[CALL_ARRAYS] = { 0 }, all = 0;

    test_context(t, "%s_host of %zu", call->name, n);
    g.strings = strings;
    for (size_t i = 0; i < call_arrays(call); i++) {
        bytes[i] = call_array_count(&call->array[i], n) * call->array[i].bytes;
        plain[i] = memset(test_alloc(bytes[i] + 1), TEST_EMPTY, bytes[i]);
        all += bytes[i] + 16;
    }
    call_fill(t, call, n, dict ? HELD : n, plain);
    char *block = new_block(t, all), *at = block;
    for (size_t i = 0; i < call_arrays(call); i++) {
        pinned[i] = memcpy(at, plain[i], bytes[i]);
        at += (bytes[i] + 15) / 16 * 16;
    }
    test_ok(t, call->run_host(&g, plain));
    test_ok(t, call->run_host(&g, pinned));
    for (size_t i = 0; i < call_arrays(call); i++) {
        test_same_bytes(t, call->array[i].name, pinned[i], plain[i], bytes[i]);
        free(plain[i]);
    }
    free_block(t, block);
}

MASK_TEST(pinned, every_primitive_gives_the_same_results, "", "cpu=0")
{
    const struct ordo_ring was = t->dev->ring;

    t->dev->ring = (struct ordo_ring) { .piece = 4096, .least = 1, .helpers = 3 };
    for (size_t i = 0; i < n_primitive_calls; i++) {
        same_results(t, &primitive_calls[i], NULL, 100);
        same_results(t, &primitive_calls[i], NULL, 20000);
    }
    test_ok(t, ordo_device_trim(t->dev));
    t->dev->ring = was;
}

/* Tries numbers of queries around multiples of a piece. A piece is a power of two. */
static void same_in_pieces(struct test *t, const struct array_call *call, ordo_dict *dict)
{
    static const size_t counts[] = { 1, 3, 4, 5, 8, 9, 15, 16, 17, 31, 32, 33, 47, 49, 64, 65, 100 };
    static const size_t bytes[] = { 80, 208, 640 };

    for (size_t b = 0; b < LENGTH(bytes); b++) {
        t->dev->piece_bytes = bytes[b];
        for (size_t i = 0; i < LENGTH(counts); i++)
            same_results(t, call, dict, counts[i]);
    }
}

MASK_TEST(pinned, queries_in_pieces_give_the_same_results, "", "cpu=0")
{
    static const char *const names[] = { "ordo_search", "ordo_equal_range", "ordo_lookup" };
    static const int         which[] = { LSM, BLINK, HASH };
    const size_t             was = t->dev->piece_bytes;

    for (size_t i = 0; i < LENGTH(names); i++)
        same_in_pieces(t, call_named(names[i]), NULL);
    test_true(t, (t->dev->queue_up != NULL) == !t->facts->cpu);
    for (size_t s = 0; s < LENGTH(which); s++) {
        AUTO_DICT ordo_dict *dict = make_dict(t, t->dev, which[s], 0, HELD);
        for (size_t i = 0; i < n_dict_calls; i++)
            if (!dict_calls[i].changes && !dict_calls[i].stem && ordo_dict_can(dict, dict_calls[i].needs) &&
                strcmp(dict_calls[i].name, "ordo_dict_export") != 0)
                same_in_pieces(t, &dict_calls[i], dict);
    }
    t->dev->piece_bytes = was;
}

DEVICE_TEST(pinned, another_device_may_use_it)
{
    AUTO_DEVICE ordo_device *other = test_open_again(t);
    uint32_t                *keys = (uint32_t *) (void *) new_block(t, COUNT * sizeof *keys);

    for (uint32_t i = 0; i < COUNT; i++)
        keys[i] = i * 2654435761u;
    test_ok(t, ordo_sort_host(other, &u32_keys, keys, NULL, COUNT));
    for (uint32_t i = 1; i < COUNT; i++)
        test_true(t, keys[i - 1] < keys[i]);
    free_block(t, keys);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 20, BLOCKS = 5 };

struct worker {
    ordo_device *dev;
    uint32_t     seed;
    int          wrong;
};

static void *use_blocks(void *argument)
{
    struct worker *w = argument;
    void          *block[BLOCKS] = { NULL };

    for (uint32_t round = 0; round < ROUNDS; round++)
        for (size_t b = 0; b < BLOCKS; b++) {
            const uint32_t n = 1000 + (round * BLOCKS + (uint32_t) b) % 7 * 4000;
            w->wrong += ordo_host_free(w->dev, block[b]) != ORDO_OK;
            w->wrong += ordo_host_alloc(w->dev, n * sizeof(uint32_t), &block[b]) != ORDO_OK;
            uint32_t *keys = block[b];
            for (uint32_t i = 0; i < n; i++)
                keys[i] = (i + w->seed) * 2654435761u;
            w->wrong += ordo_sort_host(w->dev, &u32_keys, keys, NULL, n) != ORDO_OK;
            for (uint32_t i = 1; i < n; i++)
                w->wrong += keys[i - 1] >= keys[i];
        }
    for (size_t b = 0; b < BLOCKS; b++)
        w->wrong += ordo_host_free(w->dev, block[b]) != ORDO_OK;
    return NULL;
}

MASK_TEST(pinned, threads_allocate_use_and_free, "", "cpu=0")
{
    pthread_t     thread[THREADS];
    struct worker workers[THREADS];

    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker) { t->dev, 1000 * i, 0 };
        test_true(t, pthread_create(&thread[i], NULL, use_blocks, &workers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        test_true(t, pthread_join(thread[i], NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        test_true(t, workers[i].wrong == 0);
    test_true(t, t->dev->n_host_blocks == 0);
}

/* ---- closed devices and forks ------------------------------------------------------------------------------------ */

MASK_TEST(pinned, blocks_outlive_a_closed_device, "", "cpu=0")
{
    enum { BYTES = 1 << 20 };
    ordo_device *dev = test_open_again(t);
    ordo_device *copy = dev;
    void        *first = NULL, *second = NULL;

    test_ok(t, ordo_host_alloc(dev, BYTES, &first));
    test_ok(t, ordo_host_alloc(dev, BYTES, &second));
    ordo_device_close(&dev);
    test_true(t, dev == NULL);
    memset(first, 1, BYTES);
    test_ok(t, ordo_host_free(copy, first));
    memset(second, 2, BYTES);
    test_status(t, ordo_host_free(copy, first), ORDO_INVALID);
    sort_at(t, second);
    test_ok(t, ordo_host_free(copy, second));
}

/* In the child: the exit status is the failed expectation. */
static int child_of_fork(ordo_device *dev, void *block)
{
    void *fresh = dev;

    if (ordo_host_alloc(dev, 100, &fresh) != ORDO_FORKED || fresh)
        return 1;
    if (ordo_host_free(dev, block) != ORDO_OK)
        return 2;
    if (ordo_host_free(dev, block) != ORDO_INVALID)
        return 3;
    ordo_device_close(&dev);
    return 0;
}

MASK_TEST(pinned, a_forked_child_frees_only_its_own_memory, "", "cpu=0")
{
    int   status = -1;
    char *block = new_block(t, 1 << 20);

    test_ok(t, ordo_device_finish(t->dev));
    const pid_t child = fork();
    test_true(t, child >= 0);
    if (child == 0)
        _exit(child_of_fork(t->dev, block));
    test_true(t, waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    sort_at(t, (uint32_t *) (void *) block);
    free_block(t, block);
}
