/* SPDX-License-Identifier: Apache-2.0 */
/* A device's memory: its limit, and arrays that exceed its largest buffer. */
#include "device_case.h"
#include "runtime/internal.h"
#include "tests/support/support.h"

#include <stdlib.h>

/* ---- large arrays in pieces -------------------------------------------------------------------------------------- */

/* Uploads and downloads two arrays. `plain`: the driver copies one way. */
static void there_and_back(struct test *t, size_t first, size_t second, int plain)
{
    const int                helpers = t->dev->ring.helpers;
    const size_t             bytes[2] = { first, second };
    AUTO_FREE unsigned char *was = test_alloc(first + second + 1), *is = test_alloc(first + second + 1);
    cl_mem                   mem[2] = { NULL, NULL };
    struct ordo_call         call;

    test_context(t, "%zu and %zu bytes in pieces of %zu, %d", first, second, t->dev->ring.piece, plain);
    test_random_bytes(t, was, first + second);
    memset(is, 0, first + second + 1);
    for (int i = 0; i < 2; i++)
        test_ok(t, ordo_buffer_create(t->dev, bytes[i], &mem[i]));
    struct ordo_pending_transfers pending = { .n = 0 };
    struct ordo_transfer          there[] = { { .mem = mem[0], .from = was, .bytes = first },
                                              { .mem = mem[1], .from = was + first, .bytes = second } };
    struct ordo_transfer          back[] = { { .mem = mem[0], .to = is, .bytes = first },
                                             { .mem = mem[1], .to = is + first, .bytes = second } };

    test_ok(t, ordo_call_begin(&call, t->dev, NULL));
    t->dev->ring.helpers = plain == 1 ? 0 : helpers;
    test_ok(t, ordo_call_transfer(&call, true, there, 2, &pending));
    test_ok(t, ordo_call_await(&call, &pending, false));
    t->dev->ring.helpers = plain == 2 ? 0 : helpers;
    test_ok(t, ordo_call_transfer(&call, false, back, 2, &pending));
    test_ok(t, ordo_call_await(&call, &pending, false));
    t->dev->ring.helpers = helpers;
    test_ok(t, ordo_call_end(&call, ORDO_OK));
    test_true(t, memcmp(is, was, first + second) == 0 && is[first + second] == 0);
    for (int i = 0; i < 2; i++)
        ordo_buffer_destroy(t->dev, &mem[i]);
}

/* Tries numbers of pieces around the capacity of the ring. */
MASK_TEST(device, large_arrays_go_in_pieces, "cpu=0")
{
    enum { PIECE = 64, SLOTS = 16 };
    static const size_t    counts[] = { 0, 1, 3, 4, 5, SLOTS - 1, SLOTS, SLOTS + 1, 2 * SLOTS + 5 };
    const struct ordo_ring was = t->dev->ring;

    for (int helpers = 1; helpers <= 8; helpers += 7) {
        t->dev->ring = (struct ordo_ring) { .piece = PIECE, .least = 1, .helpers = helpers };
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            for (int odd = -1; odd <= 1; odd++)
                if (counts[i] > 0 || odd >= 0)
                    there_and_back(t, counts[i] * PIECE + (size_t) odd, 777, (int) i % 3);
        there_and_back(t, 100000, 0, 0);
        there_and_back(t, 0, 100000, 0);
        test_ok(t, ordo_device_trim(t->dev));
        test_true(t, t->dev->ring.mem == NULL);
    }
    t->dev->ring = was;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

EVERY_MASK_TEST(device, keeps_its_memory_limit)
{
    enum { COUNT = 400000, LIMIT = 2 << 20 };
    const struct ordo_device_config config = { .mask = t->mask, .memory_limit = LIMIT };
    const struct ordo_sort_params   params = { .key = ORDO_U32, .value_bytes = 4 };
    AUTO_DEVICE ordo_device        *dev = NULL;
    struct ordo_memory              memory;
    AUTO_FREE uint32_t             *keys = test_alloc(COUNT * sizeof *keys);

    test_random_bytes(t, keys, COUNT * sizeof *keys);
    test_ok(t, ordo_device_adopt(ordo_device_context(t->dev), ordo_device_id(t->dev), NULL, &config, &dev));
    AUTO_ARRAY struct test_array k = test_upload(t, keys, COUNT, 4, 3), v = test_upload(t, keys, COUNT, 4, 1);
    test_ok(t, ordo_device_memory(dev, &memory));
    test_true(t, memory.held_bytes == 0 && memory.buffers == 0);
    for (int round = 0; round < 3; round++) {
        test_context(t, "round %d", round);
        test_status(
            t, ordo_sort(dev, &params, test_slice(&k), test_slice(&v), test_slice(&k), test_slice(&v), COUNT, NULL),
            ORDO_NO_DEVICE_MEMORY);
        test_ok(t, ordo_device_finish(dev));
        test_expect(t, ORDO_U32, &k, keys, COUNT);
        test_expect(t, ORDO_U32, &v, keys, COUNT);
        uint32_t *held = test_alloc(COUNT * sizeof *held), *values = test_alloc(COUNT * sizeof *values);
        memcpy(held, keys, COUNT * sizeof *held);
        memcpy(values, keys, COUNT * sizeof *values);
        test_status(t, ordo_sort_host(dev, &params, held, values, COUNT), ORDO_NO_DEVICE_MEMORY);
        test_same(t, "host keys", ORDO_U32, held, keys, COUNT);
        test_same(t, "host values", ORDO_U32, values, keys, COUNT);
        free(held);
        free(values);
        test_ok(t, sort_few(dev));
        test_ok(t, ordo_device_memory(dev, &memory));
        test_true(t, memory.held_peak_bytes <= LIMIT);
    }
}

static void sort_scratch(struct test *t)
{
    const struct {
        struct ordo_sort_params params;
        size_t                  count;
    } sorts[] = { { { .key = ORDO_U32, .value_bytes = 4 }, 1 << 20 },
                  { { .key = ORDO_U32, .value_bytes = 0 }, 1 << 20 },
                  { { .key = ORDO_U64, .value_bytes = 8 }, 300001 },
                  { { .key = ORDO_U32, .value_bytes = 4 }, 3 } };
    for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++) {
        const size_t    n = sorts[i].count, kb = ordo_type_bytes(sorts[i].params.key), vb = sorts[i].params.value_bytes;
        AUTO_FREE void *keys = test_alloc(n * 8);
        struct ordo_memory memory;

        test_context(t, "scratch of sort %zu", i);
        test_random_bytes(t, keys, n * 8);
        AUTO_ARRAY struct test_array k = test_upload(t, keys, n, kb, 1), v = test_upload(t, keys, n, vb ? vb : 4, 1);
        const struct ordo_slice      vs = vb ? test_slice(&v) : ordo_none();
        test_ok(t, ordo_device_trim(t->dev));
        test_ok(t, ordo_device_memory(t->dev, &memory));
        test_true(t, memory.scratch_bytes == 0 && memory.scratch_peak_bytes == 0);
        test_true(t, memory.held_bytes == 0 && memory.held_peak_bytes == 0 && memory.buffers == 0);
        for (int round = 0; round < 3; round++)
            test_ok(t, ordo_sort(t->dev, &sorts[i].params, test_slice(&k), vs, test_slice(&k), vs, n, NULL));
        test_ok(t, ordo_device_memory(t->dev, &memory));
        const size_t bytes = n * (kb + vb);
        test_true(t, memory.scratch_peak_bytes <= bytes + bytes / 50 + (4u << 20));
        test_true(t, memory.scratch_bytes <= bytes + bytes / 50 + (4u << 20)); /* rounds reuse it */
        test_true(t, memory.held_bytes == memory.scratch_bytes);
        test_ok(t, ordo_device_trim(t->dev));
        test_ok(t, ordo_device_finish(t->dev));
    }
}

/* Treated as an unknown GPU a CPU is slow, so the quick ring tries the plain device and one mask, which the seed
 * chooses. */
Test(device, a_sort_takes_the_scratch_it_promises)
{
    static const char *const masks[] = { "cpu=0", "cpu=0,progress=1", "cpu=0,local=16384", "group=64", "local=16384" };

    if (test_wants_all("ORDO_TEST_KINDS")) {
        test_each_device_and_most_masks(sort_scratch);
        return;
    }
    test_each_device(sort_scratch);
    test_each_device_with(masks[test_seed() % (sizeof masks / sizeof *masks)], sort_scratch);
}
