/* SPDX-License-Identifier: Apache-2.0 */
/* Scans and segmented scans. */
#include "scan_case.h"

#include <stdio.h>

/* ---- tests --------------------------------------------------------------------------------------------------- */

/* Every boundary count, in all combinations of inclusive, in place and segmented. */
static void try_seams(struct test *t, ordo_type type, ordo_op op)
{
    size_t       counts[TEST_SEAMS];
    const size_t n = seams_of(t, type, counts);
    for (size_t i = 0; i < n; i++) {
        for (unsigned way = 0; way < 8; way++) {
            struct subject s = random_subject(t, type, op, counts[i]);
            s.inclusive = way & 1;
            s.in_place = (way & 2) != 0;
            s.segmented = (way & 4) != 0;
            try_scan(t, &s, (enum test_shape) test_below(t, TEST_N_SHAPES), 0);
        }
    }
}

EVERY_MASK_TEST(scan, is_right_at_every_seam_on_every_device_and_mask)
{
    try_seams(t, ORDO_U32, ORDO_SUM);
    try_seams(t, ORDO_F64, ORDO_MIN);
}

DEVICE_TEST(scan, knows_every_type_operation_and_shape)
{
    for (size_t i = 0; i < 6; i++) {
        for (int op = ORDO_SUM; op <= ORDO_MAX; op++) {
            for (int shape = 0; shape < TEST_N_SHAPES && goes_with(test_types[i], (ordo_op) op); shape++) {
                struct subject s = random_subject(t, test_types[i], (ordo_op) op, 1 + test_below(t, 50000));
                s.segmented = ((int) i + op + shape / 2) % 2;
                try_scan(t, &s, (enum test_shape) shape, 0);
            }
        }
    }
}

/* Offsets of 0 to 5 elements: vectors are aligned in both arrays, in one, in none. */
MASK_TEST(scan, takes_arrays_of_any_alignment, "cpu=0")
{
    for (size_t in_at = 0; in_at < 6; in_at++) {
        for (size_t out_at = 0; out_at < 6; out_at++) {
            struct subject s = random_subject(t, in_at % 2 ? ORDO_U64 : ORDO_U32, ORDO_SUM, 20000 + test_below(t, 9));
            s.in_place = false;
            s.segmented = test_below(t, 2);
            AUTO(array_case_free) struct array_case c = scan_case(t, &s, TEST_RANDOM);
            c.at[0] = in_at;
            c.at[1 + s.segmented] = out_at;
            array_case_check(&c);
        }
    }
}

EVERY_MASK_TEST(scan, takes_millions)
{
    /* a CPU with the profile of an unknown GPU is slow */
    struct subject s = { .type = ORDO_U32, .op = ORDO_SUM, .count = t->mask[0] ? 2000011 : 5000011 };
    try_scan(t, &s, TEST_RANDOM, 0);
    s.segmented = true;
    s.inclusive = true;
    try_scan(t, &s, TEST_RANDOM, 0);
}

static void tuned(struct test *t)
{
    struct subject s = random_subject(t, ORDO_U32, ORDO_SUM, 0);
    size_t         counts[TEST_SEAMS];
    const size_t   n = seams_of(t, s.type, counts);
    for (size_t i = 0; i < n; i++) {
        s.count = counts[i];
        try_scan(t, &s, TEST_RANDOM, 0);
    }
}

MASK_TEST(scan, is_right_however_it_is_tuned, "progress=1")
{
    test_unoptimized(t);
    with_some_tunings(t, tuned);
}

/* ---- look-back ----------------------------------------------------------------------------------------------- */

/* Tiles publish nothing, or late, so successors fold them from the input; in place, tiles must publish at last. Tiles
 * never publish a prefix, so successors look back to the first tile. */
static void unanswered(struct test *t)
{
    for (unsigned trial = 0; trial < 16; trial++) {
        const bool     wide = trial % 2;
        struct subject s = random_subject(t, wide ? ORDO_U64 : ORDO_I32, wide ? ORDO_MIN : ORDO_SUM, 0);
        size_t         counts[TEST_SEAMS];
        const size_t   n = seams_of(t, s.type, counts);
        s.count = counts[n - 1 - trial / 4];
        s.segmented = wide;
        s.in_place = trial % 4 > 1;
        test_true(t, ordo_tiles_of(t->dev, ORDO_SCAN_GROUP, ORDO_SCAN_ITEMS, wide ? 8 : 4, s.count, 0).lookback);
        try_scan(t, &s, TEST_RANDOM, s.in_place ? 1 : 3);
        try_scan(t, &s, TEST_RANDOM, 4);
    }
}

static void lookback(struct test *t)
{
    if (!t->facts->groups_progress)
        test_skip("ORDO_MASK=%s: groups promise no progress, so there is no look-back", t->mask);
    test_ok(t, ordo_device_set_tunable(t->dev, "scan.method", ORDO_SCAN_LOOKBACK));
    unanswered(t);
}

static void lookback_of_groups(struct test *t)
{
    test_ok(t, ordo_device_set_tunable(t->dev, "scan.group", 64));
    test_ok(t, ordo_device_set_tunable(t->dev, "scan.items", 4));
    lookback(t);
}

Test(scan, does_without_tiles_that_never_answer)
{
    test_each_device_with("progress=1", lookback);
    test_each_device_with("progress=1", lookback_of_groups);
    test_each_device_with("progress=1,int64_atomics=0", lookback);
    test_each_device_with("progress=1,int64_atomics=0", lookback_of_groups);
}

/* More launches on one block of state than there are stamps, each of other keys. Words of earlier launches must not
 * count. */
MASK_TEST(scan, is_right_when_stamps_begin_anew, "progress=1", "progress=1,int64_atomics=0")
{
    enum { STAMPS = 1 << 13, TILES = 8 };
    struct subject s = random_subject(t, ORDO_U32, ORDO_SUM, 0);
    if (!t->facts->groups_progress)
        test_skip("ORDO_MASK=%s: groups promise no progress, so there is no look-back", t->mask);
    test_ok(t, ordo_device_set_tunable(t->dev, "scan.method", ORDO_SCAN_LOOKBACK));
    test_ok(t, ordo_device_set_tunable(t->dev, "scan.group", 1));
    test_ok(t, ordo_device_set_tunable(t->dev, "scan.items", 8));
    s.count = (size_t) TILES * 1024;
    s.segmented = false;
    test_true(t, ordo_tiles_of(t->dev, ORDO_SCAN_GROUP, ORDO_SCAN_ITEMS, 4, s.count, 0).tiles == TILES);
    AUTO_ARRAY struct test_array  a = test_upload(t, NULL, s.count, 4, 0);
    const struct ordo_scan_params params = { s.type, s.op, s.inclusive };
    for (unsigned i = 0; i < STAMPS - 8; i++)
        test_ok(t, ordo_scan(t->dev, &params, test_slice(&a), test_slice(&a), s.count, NULL));
    for (unsigned i = 0; i < 16; i++)
        try_scan(t, &s, TEST_RANDOM, 0);
}

/* ---- host arrays, order, errors ------------------------------------------------------------------------------ */

DEVICE_TEST(scan, takes_host_arrays)
{
    for (size_t count = 0; count < 40000; count = count * 3 + 1) {
        struct subject s = random_subject(t, ORDO_F32, ORDO_MAX, count);
        for (s.segmented = false;; s.segmented = true) {
            AUTO(array_case_free) struct array_case c = scan_case(t, &s, TEST_EXTREMES);
            array_case_check_host(&c);
            if (!s.segmented)
                continue;
            void *const in_itself[CALL_ARRAYS] = { c.host[0], c.host[1], c.host[0] };
            test_ok(t, c.call->run_host(&c.g, in_itself));
            test_same(t, "out", s.type, c.host[0], c.host[2], count);
            break;
        }
    }
    const struct ordo_scan_params params = { ORDO_U32, ORDO_SUM, false };
    test_ok(t, ordo_scan_host(t->dev, &params, NULL, NULL, 0));
}

/* Any place in memory, for elements and for bytes. */
DEVICE_TEST(scan, takes_host_arrays_wherever_they_lie)
{
    enum { COUNT = 5003 };
    const struct ordo_scan_params params = { ORDO_U64, ORDO_SUM, true };
    static uint64_t               keys[COUNT], want[COUNT];
    static char                   in[COUNT * 8 + 8], out[COUNT * 8 + 8];
    for (size_t off = 0; off < 8; off++) {
        test_random_bytes(t, keys, sizeof keys);
        memcpy(in + off, keys, sizeof keys);
        memset(out, TEST_EMPTY, sizeof out);
        for (size_t i = 0; i < COUNT; i++)
            want[i] = keys[i] + (i ? want[i - 1] : 0);
        test_context(t, "host arrays at byte %zu and %zu", off, 7 - off);
        test_ok(t, ordo_scan_host(t->dev, &params, in + off, out + 7 - off, COUNT));
        test_true(t, memcmp(out + 7 - off, want, sizeof want) == 0 && memcmp(in + off, keys, sizeof keys) == 0);
        for (size_t i = 0; i < sizeof out; i++)
            test_true(t, (i >= 7 - off && i < 7 - off + sizeof want) || out[i] == TEST_EMPTY);
    }
}

/* Waits for a user event, on an in-order and an out-of-order queue, and returns an event, also without elements. */
DEVICE_TEST(scan, keeps_the_order_it_is_given)
{
    const cl_command_queue_properties out_of_order = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    const cl_queue_properties         list[] = { CL_QUEUE_PROPERTIES, out_of_order, 0 };
    cl_int                            code = CL_SUCCESS;
    cl_command_queue                  queue =
        clCreateCommandQueueWithProperties(ordo_device_context(t->dev), ordo_device_id(t->dev), list, &code);
    for (size_t count = 0; count <= 100000; count += 100000) {
        for (int own = 0; own < 2; own++) {
            AUTO_FREE uint32_t *keys = test_alloc(count * 4);
            AUTO_FREE uint32_t *want = test_alloc(count * 4);
            cl_event            go = clCreateUserEvent(ordo_device_context(t->dev), &code), done = NULL;
            struct ordo_order   order = { .queue = own ? NULL : queue, .n_wait = 1, .wait = &go, .done = &done };

            if (!own && !queue)
                order.queue = NULL; /* the device has no such queues */
            test_context(t, "%zu elements after an event, %s queue", count, order.queue ? "out-of-order" : "own");
            test_keys(t, ORDO_U32, TEST_RANDOM, count, keys);
            for (size_t i = 0; i < count; i++)
                want[i] = keys[i] + (i ? want[i - 1] : 0);
            AUTO_ARRAY struct test_array in = test_upload(t, NULL, count, 4, 1),
                                         out = test_upload(t, NULL, count, 4, 1);
            test_ok(t, ordo_scan(t->dev, ordo_scan_params(.type = ORDO_U32, .inclusive = true), test_slice(&in),
                                 test_slice(&out), count, &order));
            test_true(t, done != NULL);
            /* the call waits for `go`, so another queue can still write its input */
            cl_command_queue other =
                clCreateCommandQueueWithProperties(ordo_device_context(t->dev), ordo_device_id(t->dev), NULL, &code);
            test_true(t,
                      !count || clEnqueueWriteBuffer(other, in.mem, CL_TRUE, 4, count * 4, keys, 0, NULL, NULL) == 0);
            test_true(t, clSetUserEventStatus(go, CL_COMPLETE) == 0 && clWaitForEvents(1, &done) == 0);
            test_expect(t, ORDO_U32, &out, want, count);
            clReleaseCommandQueue(other);
            clReleaseEvent(go);
            clReleaseEvent(done);
        }
    }
    if (queue)
        clReleaseCommandQueue(queue);
}

DEVICE_TEST(scan, refuses_bad_arguments)
{
    AUTO_ARRAY struct test_array  in = test_upload(t, NULL, 100, 4, 0), out = test_upload(t, NULL, 100, 4, 0);
    const struct ordo_slice       i = test_slice(&in), o = test_slice(&out);
    const struct ordo_scan_params sum = { ORDO_U32, ORDO_SUM, false };
    const struct ordo_scan_params no_op = { ORDO_U32, (ordo_op) 3, false };
    const struct ordo_scan_params floats = { ORDO_F64, ORDO_SUM, false };
    char                          text[512];
    test_context(t, "bad arguments");
    test_status(t, ordo_scan(t->dev, &no_op, i, o, 100, NULL), ORDO_INVALID);
    test_status(t, ordo_scan(t->dev, &sum, i, ordo_at(in.mem, 1), 99, NULL), ORDO_INVALID);
    test_status(t, ordo_segmented_scan(t->dev, &sum, i, ordo_at(out.mem, 399), o, 10, NULL), ORDO_OK);
    test_status(t, ordo_segmented_scan(t->dev, &sum, i, ordo_at(out.mem, 30), o, 10, NULL), ORDO_INVALID);

    test_status(t, ordo_scan(t->dev, &floats, i, o, 10, NULL), ORDO_UNSUPPORTED);
    (void) ordo_device_last_error(t->dev, text, sizeof text);
    test_true(t, strstr(text, "sum of floats") != NULL);

    AUTO_DEVICE ordo_device *stranger = test_open_again(t);
    test_status(t, ordo_scan(stranger, &sum, i, o, 100, NULL), ORDO_OK); /* the same context */
}

/* The header's promise: 1 % of the input and 64 KiB. */
MASK_TEST(scan, takes_little_scratch, "progress=1")
{
    for (int method = 0; method < 2; method++) {
        const size_t                  count = 3000000;
        AUTO_ARRAY struct test_array  in = test_upload(t, NULL, count, 4, 0);
        const struct ordo_scan_params params = { ORDO_U32, ORDO_SUM, false };
        struct ordo_memory            memory;
        test_context(t, "scratch of method %d", method);
        test_ok(t, ordo_device_set_tunable(t->dev, "scan.method", (uint32_t) method));
        test_ok(t, ordo_device_trim(t->dev));
        test_ok(t, ordo_scan(t->dev, &params, test_slice(&in), test_slice(&in), count, NULL));
        test_ok(t, ordo_device_memory(t->dev, &memory));
        test_true(t, memory.scratch_peak_bytes > 0);
        test_true(t, memory.scratch_peak_bytes <= count * 4 / 100 + 65536);
    }
}
