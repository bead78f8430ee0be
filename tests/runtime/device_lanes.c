/* SPDX-License-Identifier: Apache-2.0 */
/* The device layer: lanes of a team and atomics between groups, by the kernels of the self-test at every width; errors
 * that the self-test must notice; and the variants that opening then chooses. */
#include "tests/support/overlay.h"
#include "tests/support/support.h"

#include "runtime/self_test.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- right answers ----------------------------------------------------------------------------------------------- */

/* Tries groups of 1, 3 and more sub-groups, up to the largest. */
static void check_lanes(struct test *t)
{
    static const uint32_t sub_groups[] = { 1, 2, 3, 8, 32 };
    const uint32_t        lanes = t->facts->sub_group;

    for (uint32_t width = 1; width <= lanes; width *= 2)
        for (size_t i = 0; i < sizeof sub_groups / sizeof *sub_groups; i++) {
            const struct ordo_lanes_case c = { width, sub_groups[i] * lanes, 13, test_random(t) };

            if (c.group > t->facts->max_group)
                continue;
            test_context(t, "teams of %u, groups of %u", width, c.group);
            test_ok(t, ordo_self_test_lanes_case(t->dev, &c));
        }
}

Test(device_lanes, teams_of_every_width_answer_right)
{
    test_each_device(check_lanes);
}

Test(device_lanes, a_team_of_one_answers_right_on_every_device)
{
    test_each_device_with("lanes=one,cpu=0", check_lanes);
}

/* Whether the device promises forward progress between groups, whatever the mask sets. */
static bool promises_progress(const struct test *t)
{
    const struct ordo_device_config config = { .mask = "", .no_self_test = true };
    AUTO_DEVICE ordo_device        *dev = NULL;

    cr_assert(ordo_device_adopt(ordo_device_context(t->dev), ordo_device_id(t->dev), NULL, &config, &dev) == ORDO_OK);
    const bool promises = ordo_device_facts(dev)->groups_progress;
    return promises;
}

static bool waited_in_vain(const struct test *t)
{
    char message[1024] = "";

    (void) ordo_device_last_error(t->dev, message, sizeof message);
    return strstr(message, "waited in vain") != NULL;
}

/* Each runs until groups have collided. */
enum { ROUNDS = 4, ROUNDS_WITH_MASK = 2 };

/* A group waits for a bounded time. On a busy CPU the thread of the group before it may not run for so long. Such a
 * round proves nothing. */
static void check_atomics(struct test *t)
{
    const bool promised = promises_progress(t);
    const int  rounds = t->mask[0] ? ROUNDS_WITH_MASK : ROUNDS;
    int        in_vain = 0;

    for (int round = 0; round < rounds; round++) {
        test_context(t, "round %d", round);
        const ordo_status self_test = ordo_self_test_atomics(t->dev);
        if (self_test == ORDO_SELF_TEST && !promised && waited_in_vain(t))
            in_vain++;
        else
            test_ok(t, self_test);
    }
    if (in_vain)
        (void) fprintf(stderr,
                       "%s, mask '%s': %d of %d rounds skipped, as a group waited in vain: the device is busy\n",
                       t->facts->name, t->mask, in_vain, rounds);
}

Test(device_atomics, groups_agree_on_shared_words)
{
    test_each_device_and_mask(check_atomics);
}

Test(device_atomics, groups_agree_on_shared_words_with_legacy_atomics)
{
    test_each_device_with("atomics=legacy", check_atomics);
}

Test(device_atomics, groups_pass_words_on_where_progress_is_trusted)
{
    test_each_device_with("progress=1", check_atomics);
}

/* ---- wrong answers ----------------------------------------------------------------------------------------------- */

/* Breaks `path`. The part of the self-test must fail and name `function`. */
static void expect_noticed(const char *mask, ordo_status (*part)(ordo_device *), const char *path, const char *from,
                           const char *to, const char *function)
{
    const struct ordo_device_config  config = { .mask = mask, .no_self_test = true };
    ordo_device                     *dev = NULL;
    AUTO(overlay_end) struct overlay o = overlay_begin();
    char                             message[1024] = "";

    overlay_edit(&o, path, from, to);
    overlay_use(&o);
    cr_assert(ordo_device_open(&config, &dev) == ORDO_OK);
    const ordo_status got = part(dev);
    (void) ordo_device_last_error(dev, message, sizeof message);
    cr_expect(got == ORDO_SELF_TEST, "%s with \"%s\" gave '%s': %s", path, to, ordo_status_string(got), message);
    cr_expect(strstr(message, function), "the message does not name %s: %s", function, message);
    ordo_device_close(&dev);
}

Test(self_test, names_the_lane_operation_that_is_wrong)
{
    static const struct {
        const char *from, *to, *function;
    } faults[] = {
        { "return popcount(lanes);", "return popcount(lanes) + 1;", "mask_count" },
        { "return team_ballot(p) == TEAM_ALL_LANES;", "return team_ballot(p) != 0 || p == 0;", "team_all" },
        { "return 31 - clz(lanes);", "return 30 - clz(lanes);", "last_lane" },
        { "return team_scan_inclusive_add(x) - x;", "return team_scan_inclusive_add(x);", "team_scan_exclusive_add" },
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        expect_noticed("lanes=one", ordo_self_test_lanes, "device/team.cl", faults[i].from, faults[i].to,
                       faults[i].function);
}

Test(self_test, names_the_atomic_operation_that_is_wrong)
{
    static const struct {
        const char *from, *to, *function;
    } faults[] = {
        { "return atomic_add(p, v);", "return atomic_add(p, v + 1);", "ordo_add" },
        { "return atomic_max(p, v);", "return *p = v;", "ordo_max" },
        { "return atomic_cmpxchg(p, expected, desired);", "return expected;", "ordo_cas" },
        { "return atomic_xchg(p, v);", "return *p;", "ordo_exchange" },
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        expect_noticed("int64_atomics=0", ordo_self_test_atomics, "device/atomic.cl", faults[i].from, faults[i].to,
                       faults[i].function);
}

Test(self_test, notices_a_driver_that_ends_loops)
{
    expect_noticed("", ordo_self_test_lanes, "primitive/self_test_lanes.cl", "round < rounds",
                   "round < min(rounds, 65535u)", "a loop of 100000 rounds");
}

/* ---- variants that opening chooses ------------------------------------------------------------------------------- */

static int n_replaced; /* replaced variants, from the log */

static void count_replaced(void *user, ordo_log_level level, const char *message)
{
    (void) user;
    n_replaced += level == ORDO_LOG_WARNING && strstr(message, "replaced by") != NULL;
}

/* Breaks the 64-bit addition. The device must open without 64-bit atomics, report that, and pass its self-test. */
static void expect_narrowed(const char *to)
{
    const struct ordo_device_config  config = { .log = count_replaced };
    ordo_device                     *dev = NULL;
    AUTO(overlay_end) struct overlay o = overlay_begin();

    n_replaced = 0;
    cr_assert(setenv("ORDO_CACHE", "off", 1) == 0); /* so that no outcome is remembered */
    overlay_edit(&o, "device/atomic.cl", "return atom_add(p, v);", to);
    overlay_use(&o);
    cr_assert(ordo_device_open(&config, &dev) == ORDO_OK, "%s", to);
    const struct ordo_facts *f = ordo_device_facts(dev);
    cr_expect(!f->int64_atomics, "%s", to);
    cr_expect(strstr(f->dropped, "64-bit atomics"), "%s: dropped is \"%s\"", to, f->dropped);
    cr_expect(n_replaced > 0, "%s", to);
    cr_expect(ordo_device_self_test(dev) == ORDO_OK, "%s", to);
    ordo_device_close(&dev);
}

static bool has_int64_atomics(void)
{
    const struct ordo_device_config config = { .no_self_test = true };
    AUTO_DEVICE ordo_device        *dev = NULL;
    cr_assert(ordo_device_open(&config, &dev) == ORDO_OK);
    const bool has = ordo_device_facts(dev)->int64_atomics;
    return has;
}

Test(self_test, replaces_variants_that_are_wrong_or_do_not_build)
{
    if (!has_int64_atomics())
        test_skip("the device has no 64-bit atomics");
    expect_narrowed("return atom_add(p, v + 1);");
    expect_narrowed("return no_such_function(p, v);");
}

/* If the self-test cannot have its buffers, opening reports that, and replaces no variant. */
Test(self_test, reports_lack_of_memory_as_itself)
{
    char                            message[1024] = "";
    ordo_device                    *dev = NULL;
    const struct ordo_device_config config = {
        .log = count_replaced, .message = message, .message_bytes = sizeof message, .mask = "progress=1,alloc=65536"
    };

    n_replaced = 0;
    cr_assert(setenv("ORDO_CACHE", "off", 1) == 0);
    cr_assert(ordo_device_open(&config, &dev) == ORDO_TOO_LARGE, "%s", message);
    cr_expect(dev == NULL && strstr(message, "largest allocation"), "%s", message);
    cr_expect(n_replaced == 0);
}
