/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of kernels by the kernels of tests/primitive/cl: group-wide functions (cl/group/scan.cl) by group.cl, the
 * group that finishes last (cl/group/last_group.cl) by last_group.cl, teams in different branches (cl/device/apart.cl)
 * by apart.cl, and loops over elements (cl/dict/each.cl) by each.cl. */
#include "tests/support/support.h"
#include "tests/support/words.h"

#include "runtime/runtime.h"

#include <stdio.h>
#include <stdlib.h>

enum { N_GROUPS = 3 };

/* One operation of group.cl, on the host. */
struct op {
    const char *name;
    ordo_type   type;
    bool        max;
};
static const struct op ops[] = {
    { "add", ORDO_U32, false }, { "add64", ORDO_U64, false }, { "max", ORDO_U32, true }, { "max64", ORDO_U64, true }
};

static uint64_t combine(const struct op *op, uint64_t a, uint64_t b)
{
    if (op->max)
        return a > b ? a : b;
    return op->type == ORDO_U32 ? (uint32_t) (a + b) : a + b;
}

/* One group's scan: below[i] from x[0] .. x[i - 1]; the total. */
static uint64_t scan_group(const struct op *op, const uint64_t *x, uint32_t group, uint64_t *below)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < group; i++) {
        below[i] = sum;
        sum = combine(op, sum, x[i]);
    }
    return sum;
}

/* Results of scan_NAME and reduce_NAME for one group: see group.cl. */
static void want_group(const struct op *op, const uint64_t *x, uint32_t group, uint64_t *scanned, uint64_t totals[2],
                       uint64_t reduced[2])
{
    AUTO_FREE uint64_t *again = test_alloc(group * sizeof *again);
    totals[0] = scan_group(op, x, group, scanned);
    for (uint32_t i = 0; i < group; i++)
        again[i] = scanned[i] ^ x[i];
    totals[1] = scan_group(op, again, group, scanned);

    reduced[0] = totals[0];
    reduced[1] = 0;
    for (uint32_t i = 0; i < group; i++)
        reduced[1] = combine(op, reduced[1], reduced[0] ^ x[i]);
}

/* The arrays of one run, with the expected out, totals and sums. */
struct wanted {
    void *in, *out, *totals, *sums;
};

static struct wanted want_all(struct test *t, const struct op *op, uint32_t group)
{
    const size_t        bytes = ordo_type_bytes(op->type), n = (size_t) N_GROUPS * group;
    struct wanted       w = { test_alloc(n * bytes), test_alloc(n * bytes), test_alloc(2 * n * bytes),
                              test_alloc(2 * n * bytes) };
    AUTO_FREE uint64_t *x = test_alloc(group * sizeof *x), *scanned = test_alloc(group * sizeof *scanned);
    test_random_bytes(t, w.in, n * bytes);
    for (uint32_t g = 0; g < N_GROUPS; g++) {
        uint64_t totals[2], reduced[2];
        for (uint32_t i = 0; i < group; i++)
            x[i] = read_bits(w.in, bytes, (size_t) g * group + i);
        want_group(op, x, group, scanned, totals, reduced);
        for (uint32_t i = 0; i < group; i++) {
            const size_t at = (size_t) g * group + i;
            write_bits(w.out, bytes, at, scanned[i]);
            for (int k = 0; k < 2; k++) {
                write_bits(w.totals, bytes, 2 * at + (size_t) k, totals[k]);
                write_bits(w.sums, bytes, 2 * at + (size_t) k, reduced[k]);
            }
        }
    }
    return w;
}

static ordo_status launch(struct ordo_call *call, const char *verb, const struct op *op, uint32_t group, uint32_t width,
                          const struct ordo_args *args)
{
    char                     name[32];
    const struct ordo_launch launch = { .file = "group.cl",
                                        .kernel = name,
                                        .groups = N_GROUPS,
                                        .group = group,
                                        .defines = { { "GROUP_SIZE", group }, { "TEAM_WIDTH", width } } };
    (void) snprintf(name, sizeof name, "%s_%s", verb, op->name);
    return ordo_call_launch(call, &launch, args);
}

static void check_op(struct test *t, const struct op *op, uint32_t group, uint32_t width)
{
    const size_t                 bytes = ordo_type_bytes(op->type), n = (size_t) N_GROUPS * group;
    struct wanted                want = want_all(t, op, group);
    AUTO_ARRAY struct test_array in = test_upload(t, want.in, n, bytes, 0), out = test_upload(t, NULL, n, bytes, 0);
    AUTO_ARRAY struct test_array totals = test_upload(t, NULL, 2 * n, bytes, 0),
                                 sums = test_upload(t, NULL, 2 * n, bytes, 0);
    struct ordo_args scan = { .n = 0 }, reduce = { .n = 0 };
    struct ordo_call call;
    test_context(t, "%s, groups of %u, teams of %u", op->name, group, width);
    test_ok(t, ordo_call_begin(&call, t->dev, NULL));
    ORDO_ADD(&scan, ORDO_ARG(in.mem), ORDO_ARG(out.mem), ORDO_ARG(totals.mem));
    ORDO_ADD(&reduce, ORDO_ARG(in.mem), ORDO_ARG(sums.mem));
    ordo_status got = launch(&call, "scan", op, group, width, &scan);
    if (got == ORDO_OK)
        got = launch(&call, "reduce", op, group, width, &reduce);
    test_ok(t, ordo_call_end(&call, got));

    test_expect(t, op->type, &out, want.out, n);
    test_expect(t, op->type, &totals, want.totals, 2 * n);
    test_expect(t, op->type, &sums, want.sums, 2 * n);
    free(want.in);
    free(want.out);
    free(want.totals);
    free(want.sums);
}

/* Groups of few and many sub-groups, teams of every width. Without lanes, groups of any size. */
static void check_group_scan(struct test *t)
{
    static const uint32_t sub_groups[] = { 1, 2, 3, 7, 32 }, sizes[] = { 1, 2, 5, 64, 100 };
    const uint32_t        lanes = t->facts->sub_group;
    for (size_t i = 0; i < 5; i++) {
        const uint32_t group = lanes > 1 ? sub_groups[i] * lanes : sizes[i];
        if (group > t->facts->max_group)
            continue;
        for (uint32_t width = 1; width <= lanes; width *= 2)
            for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
                check_op(t, &ops[o], group, width);
    }
}

Test(group, scans_and_reductions_cover_the_whole_group)
{
    (void) setenv("ORDO_CL_DIR", TEST_CL_DIR, 1);
    test_each_device(check_group_scan);
}

/* ---- the group that finishes last -------------------------------------------------------------------------------- */

/* Several launches with the same counter. The last group of each must find what all groups stored in this launch. */
static void check_last_group_of(struct test *t, uint32_t groups, uint32_t group)
{
    enum { LAUNCHES = 20 };
    const struct ordo_launch launch = { .file = "last_group.cl",
                                        .kernel = "last_sees",
                                        .groups = groups,
                                        .group = group,
                                        .defines = { { "GROUP_SIZE", group } } };
    const uint32_t           want[] = { 0, LAUNCHES, 0 };
    AUTO_FREE uint32_t      *zeros = test_alloc((group + 3) * sizeof *zeros);
    struct ordo_call         call;
    memset(zeros, 0, (group + 3) * sizeof *zeros);
    AUTO_ARRAY struct test_array stored = test_upload(t, NULL, (size_t) groups * group, 4, 0),
                                 added = test_upload(t, zeros, group, 4, 0), found = test_upload(t, zeros, 3, 4, 0);
    test_context(t, "%u groups of %u", groups, group);
    test_ok(t, ordo_call_begin(&call, t->dev, NULL));
    ordo_status status = ORDO_OK;
    for (uint32_t mark = 1; mark <= LAUNCHES && status == ORDO_OK; mark++) {
        struct ordo_args args = { .n = 0 };
        ORDO_ADD(&args, ORDO_ARG(stored.mem), ORDO_ARG(added.mem), ORDO_ARG(mark), ORDO_ARG(found.mem));
        status = ordo_call_launch(&call, &launch, &args);
    }
    test_ok(t, ordo_call_end(&call, status));
    test_expect(t, ORDO_U32, &found, want, 3);
}

static void check_last_group(struct test *t)
{
    static const uint32_t groups[] = { 1, 2, 3, 64, 1000 }, sizes[] = { 1, 2, 8, 32 };
    const uint32_t        lanes = t->facts->sub_group;
    for (size_t g = 0; g < 5; g++)
        for (size_t i = 0; i < 4; i++)
            if (sizes[i] * lanes <= t->facts->max_group)
                check_last_group_of(t, groups[g], sizes[i] * lanes);
}

Test(group, the_last_group_sees_what_all_groups_stored)
{
    (void) setenv("ORDO_CL_DIR", TEST_CL_DIR, 1);
    test_each_device(check_last_group);
}

/* ---- teams in different branches --------------------------------------------------------------------------------- */

enum { LANES_MAX = 64, APART_ITEMS = 1024 };

/* One turn of a team, as in apart.cl. */
static void take_turn(uint32_t x[LANES_MAX], uint32_t width, uint32_t team, uint32_t turn)
{
    uint32_t next[LANES_MAX], odd = 0, all = 1;
    for (uint32_t l = 0; l < width; l++) {
        odd += x[l] & 1;
        all = all && x[l] % 8 > 0;
    }
    for (uint32_t l = 0; l < width; l++)
        next[l] = team % 2 ? x[(l + 1) % width] + odd : 3 * x[(l + turn) % width] + x[0] + all;
    for (uint32_t l = 0; l < width; l++)
        x[l] = next[l] ^ 5 * next[width - 1 - l];
}

static void check_apart_of(struct test *t, uint32_t group, uint32_t width)
{
    const struct ordo_launch launch = { .file = "apart.cl",
                                        .kernel = "apart_turns",
                                        .groups = APART_ITEMS / group,
                                        .group = group,
                                        .defines = { { "GROUP_SIZE", group }, { "TEAM_WIDTH", width } } };
    uint32_t                 in[APART_ITEMS], want[APART_ITEMS];
    struct ordo_args         args = { .n = 0 };
    struct ordo_call         call;

    test_context(t, "groups of %u, teams of %u", group, width);
    test_random_bytes(t, in, sizeof in);
    memcpy(want, in, sizeof in);
    for (uint32_t team = 0; team < APART_ITEMS / width; team++) {
        uint32_t *const lanes = want + (size_t) team * width;
        for (uint32_t turn = 0; turn <= team % 4; turn++)
            take_turn(lanes, width, team, turn);
        for (uint32_t l = 1; l < width; l++)
            lanes[l]++;
    }
    AUTO_ARRAY struct test_array from = test_upload(t, in, APART_ITEMS, 4, 0),
                                 out = test_upload(t, NULL, APART_ITEMS, 4, 0),
                                 shared = test_upload(t, NULL, APART_ITEMS, 4, 0);
    test_ok(t, ordo_call_begin(&call, t->dev, NULL));
    ORDO_ADD(&args, ORDO_ARG(from.mem), ORDO_ARG(out.mem), ORDO_ARG(shared.mem));
    const ordo_status got = ordo_call_launch(&call, &launch, &args);
    test_ok(t, ordo_call_end(&call, got));
    test_expect(t, ORDO_U32, &out, want, APART_ITEMS);
}

/* A part of a Khronos sub-group cannot take another branch than the rest. */
static void check_apart(struct test *t)
{
    const uint32_t lanes = t->facts->sub_group, group = lanes < 64 ? 64 : lanes;
    for (uint32_t width = 1; width <= lanes && group <= t->facts->max_group; width *= 2)
        if (width == 1 || width == lanes || t->facts->lanes != ORDO_LANES_KHR)
            check_apart_of(t, group, width);
}

Test(group, teams_answer_right_in_different_branches)
{
    (void) setenv("ORDO_CL_DIR", TEST_CL_DIR, 1);
    test_each_device(check_apart);
}

/* ---- loops over elements ----------------------------------------------------------------------------------------- */

static void run_each(struct test *t, uint32_t n, uint32_t first, uint32_t size)
{
    enum { ITEMS = 8, STEPS = 400 };
    const struct ordo_launch     launch = { .file = "each.cl", .kernel = "each_stride", .groups = ITEMS, .group = 1 };
    AUTO_ARRAY struct test_array steps = test_upload(t, NULL, ITEMS, 4, 0), wrong = test_upload(t, NULL, ITEMS, 4, 0);
    uint32_t                     got[ITEMS], bad[ITEMS];
    struct ordo_args             args = { .n = 0 };
    struct ordo_call             call;
    test_context(t, "%u elements, work-items from %u on of %u", n, first, size);
    test_ok(t, ordo_call_begin(&call, t->dev, NULL));
    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(first), ORDO_ARG(size), ORDO_ARG(steps.mem), ORDO_ARG(wrong.mem));
    const ordo_status status = ordo_call_launch(&call, &launch, &args);
    test_ok(t, ordo_call_end(&call, status));
    test_download(t, &steps, got);
    test_download(t, &wrong, bad);
    for (uint32_t w = 0; w < ITEMS; w++) {
        const uint64_t at = (uint64_t) first + w, turns = at < n ? (n - 1 - at) / size + 1 : 0;
        if (got[w] != turns || bad[w])
            test_fail(t, __FILE__, __LINE__, "work-item %u takes %u turns, not %u; %u of them wrong", (unsigned) at,
                      got[w], (unsigned) turns, bad[w]);
    }
}

/* The largest launch (host/dict/batch.c) and count. */
static void check_each(struct test *t)
{
    static const uint32_t counts[] = { 0,           1,           7,           1u << 24,    0x7fffffffu, 0x80000000u,
                                       0xff000000u, 0xff000001u, 0xff000004u, 0xffe00001u, 0xfff00000u };
    static const uint32_t sizes[] = { 1u << 24, (1u << 24) - 64 };
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            run_each(t, counts[c], 0, sizes[s]);
            run_each(t, counts[c], sizes[s] - 8, sizes[s]);
            run_each(t, counts[c], (uint32_t) (counts[c] % sizes[s]), sizes[s]);
        }
}

Test(group, loops_over_elements_end_near_the_most_that_there_may_be)
{
    (void) setenv("ORDO_CL_DIR", TEST_CL_DIR, 1);
    test_each_device(check_each);
}
