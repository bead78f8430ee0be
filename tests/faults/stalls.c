/* SPDX-License-Identifier: Apache-2.0 */
/* Stalls: kernels in which some work-groups never do their share of the work that others wait for, or are very late.
 * Each call must end within its bound, with right results by its fallback or with an error that says so. The test
 * prints the times.
 *
 * The stalls are put in through ORDO_CL_DIR. A group that stalls still does its other work, because a group that stops
 * would keep any launch from ending. These wait:
 *   look-back      of scan, of compact, of merges that leave out stale values (group/lookback.cl), and of the sort
 *                  (primitive/sort_onesweep.cl): for values that tiles publish. A tile that is silent for
 *                  LOOKBACK_POLLS or SORT_LOOKS polls is folded or counted again
 *   the self-test  for the turn of the group before: after CHAIN_PATIENCE polls the device is used without look-back
 *   B-link tree    for latches of leaves and of the root: after LTREE_TRIES steps another launch, then the tree is
 *                  checked, and that is an error; the host repairs the level below the root's latch
 * Reduce, merge and the others wait for nothing.
 *
 * ORDO_TEST_STALLS=all tries more masks. */
#include "tests/ltree/schedule.h"
#include "tests/support/overlay.h"
#include "tests/support/support.h"

#include "ordo/lsm.h"
#include "runtime/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ms(void)
{
    struct timespec t;
    (void) clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double) t.tv_sec + 1e-6 * (double) t.tv_nsec;
}

/* Each mask compiles kernels, so only the first one is tried unless ORDO_TEST_STALLS=all. */
static size_t n_masks(size_t all)
{
    return test_wants_all("ORDO_TEST_STALLS") ? all : 1;
}

/* ---- devices with stalls ----------------------------------------------------------------------------------------- */

/* Opens the same device with the kernels in ORDO_CL_DIR, without the self-test, which might disable the tested
 * variant. */
static struct test open_stalled(const struct test *t)
{
    const struct ordo_device_config config = { .mask = t->mask, .no_self_test = true };
    struct test                     stalled = *t;

    test_ok(t, ordo_device_adopt(ordo_device_context(t->dev), ordo_device_id(t->dev), NULL, &config, &stalled.dev));
    stalled.facts = ordo_device_facts(stalled.dev);
    return stalled;
}

/* Limit of a call in ms; the test prints its time. */
enum { MOST_MS = 120000 };

static void ended(struct test *t, const char *what, double begin)
{
    const double ms = now_ms() - begin;

    (void) fprintf(stderr, "    %s, mask '%s': %.1f ms\n", what, t->mask, ms);
    test_true(t, ms < MOST_MS);
}

/* ---- look-back --------------------------------------------------------------------------------------------------- */

#define COUNT ((size_t) 300007)

struct arrays {
    uint32_t *keys, *out, *values;
    uint8_t  *flags;
};

static struct arrays make_arrays(struct test *t)
{
    struct arrays a = { test_alloc(COUNT * 4), test_alloc(COUNT * 4), test_alloc(COUNT * 4), test_alloc(COUNT) };

    test_random_bytes(t, a.keys, COUNT * 4);
    for (size_t i = 0; i < COUNT; i++)
        a.flags[i] = (uint8_t) test_below(t, 2);
    return a;
}

static void free_arrays(struct arrays *a)
{
    free(a->keys);
    free(a->out);
    free(a->values);
    free(a->flags);
}

static void try_scan(struct test *t, struct arrays *a, bool in_place, const char *what)
{
    const struct ordo_scan_params sums = { ORDO_U32, ORDO_SUM, true };
    AUTO_ARRAY struct test_array  in = test_upload(t, a->keys, COUNT, 4, 1), out = test_upload(t, NULL, COUNT, 4, 2);
    uint32_t                      sum = 0;

    test_context(t, "%s: scan%s", what, in_place ? " in place" : "");
    const double begin = now_ms();
    test_ok(t, ordo_scan(t->dev, &sums, test_slice(&in), test_slice(in_place ? &in : &out), COUNT, NULL));
    test_ok(t, ordo_device_finish(t->dev));
    ended(t, t->context, begin);
    for (size_t i = 0; i < COUNT; i++)
        a->out[i] = sum += a->keys[i];
    test_expect(t, ORDO_U32, in_place ? &in : &out, a->out, COUNT);
}

static void try_compact(struct test *t, struct arrays *a, const char *what)
{
    uint32_t count = 0, want = 0;

    test_context(t, "%s: compact", what);
    const double begin = now_ms();
    test_ok(t, ordo_compact_host(t->dev, &(struct ordo_compact_params) { .key_bytes = 4 }, a->keys, NULL, a->flags,
                                 COUNT, a->out, NULL, &count));
    ended(t, t->context, begin);
    for (size_t i = 0; i < COUNT; i++)
        if (a->flags[i])
            a->values[want++] = a->keys[i];
    test_true(t, count == want);
    test_same(t, "out", ORDO_U32, a->out, a->values, want);
}

static void try_sort(struct test *t, struct arrays *a, const char *what)
{
    for (uint32_t i = 0; i < COUNT; i++) {
        a->out[i] = a->keys[i];
        a->values[i] = i;
    }
    test_context(t, "%s: sort", what);
    const double begin = now_ms();
    test_ok(t, ordo_sort_host(t->dev, &(struct ordo_sort_params) { .key = ORDO_U32, .value_bytes = 4 }, a->out,
                              a->values, COUNT));
    ended(t, t->context, begin);
    for (size_t i = 0; i < COUNT; i++) {
        test_true(t, a->values[i] < COUNT && a->keys[a->values[i]] == a->out[i]);
        test_true(t, i == 0 || a->out[i - 1] < a->out[i] ||
                         (a->out[i - 1] == a->out[i] && a->values[i - 1] < a->values[i]));
    }
}

/* Cleans up unresolved runs: a few values for each key, and every seventh key erased. */
static void try_cleanup(struct test *t, struct arrays *a, const char *what)
{
    enum { KEPT = 40000, AGAIN = 12000 };
    AUTO_DICT ordo_dict *dict = NULL;
    size_t               size = 0, next = 0;

    for (uint32_t i = 0; i < KEPT; i++) {
        a->keys[i] = 2 * i;
        a->values[i] = i;
    }
    test_ok(t, ordo_lsm_create(t->dev, ordo_lsm_config(.dict = { ORDO_U32, 4 }, .growth = 2), &dict));
    test_ok(t, ordo_dict_upsert_host(dict, a->keys, a->values, KEPT));
    for (uint32_t i = 0; i < AGAIN; i++)
        a->values[i] = i + 7;
    test_ok(t, ordo_dict_upsert_host(dict, a->keys, a->values, AGAIN));
    for (uint32_t i = 0; 7 * i < KEPT; i++)
        a->out[i] = 14 * i;
    test_ok(t, ordo_dict_erase_host(dict, a->out, (KEPT + 6) / 7));

    test_context(t, "%s: cleanup", what);
    const double begin = now_ms();
    test_ok(t, ordo_lsm_cleanup(dict, NULL));
    ended(t, t->context, begin);
    test_ok(t, ordo_dict_check(dict, NULL));
    test_ok(t, ordo_dict_export_host(dict, a->out, a->values, COUNT, &size));
    for (uint32_t i = 0; i < KEPT; i++) {
        if (i % 7 == 0)
            continue;
        test_true(t, next < size && a->out[next] == 2 * i && a->values[next] == (i < AGAIN ? i + 7 : i));
        next++;
    }
    test_true(t, next == size);
}

static void set_look_back(struct test *t, bool sort)
{
    test_true(t, t->facts->groups_progress);
    if (sort) {
        test_ok(t, ordo_device_set_tunable(t->dev, "sort.method", ORDO_SORT_ONESWEEP));
        test_ok(t, ordo_device_set_tunable(t->dev, "sort.merged", 0));
        return;
    }
    test_ok(t, ordo_device_set_tunable(t->dev, "scan.method", ORDO_SCAN_LOOKBACK));
    if (!t->facts->cpu) {
        test_ok(t, ordo_device_set_tunable(t->dev, "scan.group", 64));
        test_ok(t, ordo_device_set_tunable(t->dev, "scan.items", 4));
        test_ok(t, ordo_device_set_tunable(t->dev, "compact.group", 64));
        test_ok(t, ordo_device_set_tunable(t->dev, "compact.items", 4));
        test_ok(t, ordo_device_set_tunable(t->dev, "merge_runs.group", 64));
    }
}

#define LOOKBACK    "group/lookback.cl"
#define SAYS_OWN    "    if (tile & LOOKBACK_FAULTS & 1)\n        return;"
#define SAYS_PREFIX "    if ((tile << 1 & LOOKBACK_FAULTS & 2) | (LOOKBACK_FAULTS & 4))\n        return;"
#define SAYS_COUNTS "ORDO_FN void sort_publish(__global uint *status, uint tile, const uint *count, uint code)\n{\n"

static void never_answering(struct test *outer)
{
    struct test   t = open_stalled(outer);
    struct arrays a = make_arrays(&t);

    set_look_back(&t, false);
    for (int again = 0; again < 2; again++) { /* the first time includes building */
        try_scan(&t, &a, false, "tiles that never answer");
        try_compact(&t, &a, "tiles that never answer");
        try_cleanup(&t, &a, "tiles that never answer");
    }
    free_arrays(&a);
    ordo_device_close(&t.dev);
}

static const char *const look_back_masks[] = { "cpu=0,progress=1", "progress=1", "cpu=0,progress=1,int64_atomics=0" };

/* One tile in five, beginning with the third. */
Test(stalls, of_tiles_that_never_answer_end_in_the_fallback)
{
    for (size_t m = 0; m < n_masks(LENGTH(look_back_masks)); m++) {
        AUTO(overlay_end) struct overlay o = overlay_begin();
        overlay_edit(&o, LOOKBACK, SAYS_OWN, "    if (tile % 5 == 2)\n        return;");
        overlay_edit(&o, LOOKBACK, SAYS_PREFIX, "    if (tile % 5 == 2)\n        return;");
        overlay_use(&o);
        test_each_device_with(look_back_masks[m], never_answering);
    }
}

static void answering_late(struct test *outer)
{
    struct test   t = open_stalled(outer);
    struct arrays a = make_arrays(&t);

    set_look_back(&t, false);
    try_scan(&t, &a, true, "tiles that answer late");
    try_scan(&t, &a, false, "tiles that answer late");
    free_arrays(&a);
    ordo_device_close(&t.dev);
}

/* Tiles that are later than others wait. The others may read, in place, elements that the late tiles overwrite. */
Test(stalls, of_tiles_that_answer_late_end_in_the_fallback)
{
    for (size_t m = 0; m < n_masks(LENGTH(look_back_masks)); m++) {
        AUTO(overlay_end) struct overlay o = overlay_begin();
        overlay_edit(&o, LOOKBACK, SAYS_OWN,
                     "    if (tile % 31 == 2)\n        for (uint look = 0; look < 1000000; look++)\n"
                     "            (void) ordo_load_relaxed(s.ticket);");
        overlay_use(&o);
        test_each_device_with(look_back_masks[m], answering_late);
    }
}

static void sorting(struct test *outer)
{
    struct test   t = open_stalled(outer);
    struct arrays a = make_arrays(&t);

    set_look_back(&t, true);
    try_sort(&t, &a, "tiles that never answer");
    try_sort(&t, &a, "tiles that never answer");
    free_arrays(&a);
    ordo_device_close(&t.dev);
}

Test(stalls, of_tiles_of_a_sort_end_in_the_fallback)
{
    AUTO(overlay_end) struct overlay o = overlay_begin();
    overlay_edit(&o, "primitive/sort_onesweep.cl", SAYS_COUNTS,
                 SAYS_COUNTS "    if (tile % 5 == 2)\n        return;\n");
    overlay_use(&o);
    test_each_device_with("cpu=0,progress=1", sorting);
}

/* ---- the self-test's chain --------------------------------------------------------------------------------------- */

static void opening(struct test *outer)
{
    char                            message[512] = "";
    const struct ordo_device_config config = { .mask = outer->mask,
                                               .message = message,
                                               .message_bytes = sizeof message };
    AUTO_DEVICE ordo_device        *dev = NULL;
    const double                    begin = now_ms();

    test_context(outer, "opening where a group never has its turn");
    test_ok(outer, ordo_device_adopt(ordo_device_context(outer->dev), ordo_device_id(outer->dev), NULL, &config, &dev));
    ended(outer, "opening where a group never has its turn", begin);
    test_true(outer, !ordo_device_facts(dev)->groups_progress);
    test_true(outer, strstr(ordo_device_facts(dev)->dropped, "look-back") != NULL);
}

/* The turn after ticket 3 never comes; the sum of ticket 3 is never passed on. */
Test(stalls, of_the_self_test_end_in_a_device_without_look_back)
{
    static const char *const from[] = { "        publish_turn(report, turn.ticket + 1);",
                                        "        ordo_store_relaxed##suffix(sums + ticket, before + ticket + 1);" };
    static const char *const to[] = {
        "        if (turn.ticket != 3)\n            publish_turn(report, turn.ticket + 1);",
        "        if (ticket != 3) ordo_store_relaxed##suffix(sums + ticket, before + ticket + 1);"
    };

    cr_assert(setenv("ORDO_CACHE", "off", 1) == 0);
    for (size_t i = 0; i < LENGTH(from); i++) {
        AUTO(overlay_end) struct overlay o = overlay_begin();
        overlay_edit(&o, "primitive/self_test_atomics.cl", from[i], to[i]);
        overlay_use(&o);
        test_each_device_with("progress=1", opening);
    }
}

/* ---- latches ----------------------------------------------------------------------------------------------------- */

#define CONCURRENT "dict/ltree/concurrent.cl"
/* The key whose operation stalls. */
#define STALLED_KEY 0x01234568u
#define KEYS        ((size_t) 20000)
#define BATCH       ((size_t) 3000)
#define KEY_STEP    0x10000u /* between the tree's keys, far beyond the stalled one */

static const char keeps_from[] =
    "    ordo_store_release(header, ((was + LTREE_VERSION_ONE) & LTREE_VERSION_MASK) | count);";
static const char keeps_to[] =
    "    ordo_store_release(header, ((was + LTREE_VERSION_ONE) & LTREE_VERSION_MASK) | count |\n"
    "                                   (batch->keys[op->i] == 0x01234568u ? LTREE_LATCHED : 0));";
static const char dies_from[] = "    if (ltree_cas(header + after, was, was | LTREE_LATCHED) != was)\n";
static const char dies_to[] = "    if (ltree_cas(header + after, was, was | LTREE_LATCHED) != was ||\n"
                              "        batch->keys[op->i] == 0x01234568u)\n";
static const char root_from[] = "    const uint node = ltree_new_node(batch, op, op->level);\n";
static const char root_to[] = "    if (op->level == 1)\n        return STEP_AGAIN;\n"
                              "    const uint node = ltree_new_node(batch, op, op->level);\n";

/* Upserts keys first, first + step ..., and the stalled key in their middle if `stalled`; values are the keys. */
static ordo_status upsert(struct test *t, ordo_dict *dict, uint32_t first, uint32_t step, bool stalled,
                          const char *what)
{
    AUTO_FREE uint8_t  *codes = test_alloc(BATCH);
    AUTO_FREE uint32_t *keys = test_alloc(BATCH * 4);

    memset(codes, ORDO_UPSERT, BATCH);
    for (uint32_t i = 0; i < BATCH; i++)
        keys[i] = stalled && i == BATCH / 2 ? STALLED_KEY : first + i * step;
    test_context(t, "%s", what);
    const double      begin = now_ms();
    const ordo_status got = ordo_dict_apply_concurrent_host(
        dict, &(struct ordo_host_concurrent_batch) { .codes = codes, .keys = keys, .values = keys, .count = BATCH });
    ended(t, what, begin);
    return got;
}

static ordo_dict *make_tree(struct test *t)
{
    ordo_dict *dict = NULL;
    uint32_t  *keys = test_alloc(KEYS * 4);

    for (uint32_t i = 0; i < KEYS; i++)
        keys[i] = i * KEY_STEP;
    test_ok(t, ordo_blink_create(t->dev, ordo_blink_config(.dict = { ORDO_U32, 4 }), &dict));
    test_ok(t, ordo_dict_build_host(dict, keys, keys, KEYS));
    free(keys);
    test_ok(t, upsert(t, dict, 3, KEY_STEP, false, "without a stall, and building the kernels"));
    test_ok(t, upsert(t, dict, 3, KEY_STEP, false, "without a stall"));
    return dict;
}

/* Returns how many keys of such a batch are present. Those must have their values. */
static size_t look_up(struct test *t, ordo_dict *dict, uint32_t first, uint32_t step)
{
    AUTO_FREE uint32_t *keys = test_alloc(BATCH * 4), *values = test_alloc(BATCH * 4);
    AUTO_FREE uint8_t  *found = test_alloc(BATCH);
    size_t              n = 0;

    for (uint32_t i = 0; i < BATCH; i++)
        keys[i] = first + i * step;
    test_ok(t, ordo_dict_find_host(dict, keys, BATCH, values, found));
    for (uint32_t i = 0; i < BATCH; i++) {
        n += found[i];
        test_true(t, !found[i] || values[i] == keys[i]);
    }
    return n;
}

/* The error names the fault, as does each later call. The tree can be rebuilt, and is then sound. */
static void expect_broken(struct test *t, ordo_dict *dict)
{
    char     text[512] = "";
    uint32_t key = 0, value = 0;
    uint8_t  found = 0;

    (void) ordo_device_last_error(t->dev, text, sizeof text);
    (void) fprintf(stderr, "    %s\n", text);
    test_true(t, strstr(text, "latched"));
    test_context(t, "a call after that");
    const double begin = now_ms();
    test_status(t, ordo_dict_find_host(dict, &key, 1, &value, &found), ORDO_BROKEN);
    ended(t, "the next call", begin);
    (void) ordo_device_last_error(t->dev, text, sizeof text);
    (void) fprintf(stderr, "    %s\n", text);
    test_status(t, ordo_dict_upsert_host(dict, &key, &value, 1), ORDO_BROKEN);

    test_context(t, "built anew");
    test_ok(t, ordo_dict_build_host(dict, &key, &value, 1));
    test_ok(t, upsert(t, dict, KEY_STEP, KEY_STEP, false, "a batch after building anew"));
    test_true(t, look_up(t, dict, KEY_STEP, KEY_STEP) == BATCH);
    test_ok(t, ordo_dict_check(dict, NULL));
}

/* An operation changed the leaf and did not release its latch. If no other operation needs the leaf, all are served.
 * Then one does. */
static void kept(struct test *outer)
{
    struct test    t = open_stalled(outer);
    ordo_dict     *dict = make_tree(&t);
    const uint32_t far = KEYS / 2 * KEY_STEP + 1, near = (STALLED_KEY & ~(KEY_STEP - 1)) + 1;

    test_ok(&t, upsert(&t, dict, far, KEY_STEP, true, "a latch that is kept, and not needed"));
    test_true(&t, look_up(&t, dict, far, KEY_STEP) == BATCH - 1);
    test_status(&t, ordo_dict_check(dict, NULL), ORDO_BROKEN); /* B7 */
    test_ok(&t, upsert(&t, dict, far + 1, KEY_STEP, false, "a batch elsewhere"));
    test_true(&t, look_up(&t, dict, far + 1, KEY_STEP) == BATCH);
    test_status(&t, upsert(&t, dict, near, 1, false, "a latch that is kept, and needed"), ORDO_BROKEN);
    expect_broken(&t, dict);
    ordo_dict_destroy(&dict);
    ordo_device_close(&t.dev);
}

/* An operation latched the leaf without changing it, and still has to be served. */
static void lost(struct test *outer)
{
    struct test t = open_stalled(outer);
    ordo_dict  *dict = make_tree(&t);

    test_status(&t, upsert(&t, dict, 7, KEY_STEP, true, "a latch that is lost"), ORDO_BROKEN);
    expect_broken(&t, dict);
    ordo_dict_destroy(&dict);
    ordo_device_close(&t.dev);
}

/* The root never grows: leaves that split are unknown to the level above until the host rebuilds it. */
static void rootless(struct test *outer)
{
    struct test t = open_stalled(outer);
    ordo_dict  *dict = NULL;

    test_ok(&t, ordo_blink_create(t.dev, ordo_blink_config(.dict = { ORDO_U32, 4 }), &dict));
    for (uint32_t round = 0; round < 3; round++) {
        test_ok(&t, upsert(&t, dict, round, KEY_STEP, false, "the root's latch is kept"));
        test_true(&t, look_up(&t, dict, round, KEY_STEP) == BATCH);
        test_ok(&t, ordo_dict_check(dict, NULL));
    }
    ordo_dict_destroy(&dict);
    ordo_device_close(&t.dev);
}

static void with_latches(const char *from, const char *to, test_body body)
{
    static const char *const masks[] = { "", "atomics=legacy", "cpu=0" };

    for (size_t m = 0; m < n_masks(LENGTH(masks)); m++) {
        AUTO(overlay_end) struct overlay o = overlay_begin();
        schedule_flatten(&o);
        overlay_edit(&o, CONCURRENT, from, to);
        overlay_use(&o);
        test_each_device_with(masks[m], body);
    }
}

Test(stalls, of_a_latch_that_is_kept_end_in_an_error_for_those_who_need_it)
{
    with_latches(keeps_from, keeps_to, kept);
}

Test(stalls, of_a_latch_that_is_lost_end_in_an_error)
{
    with_latches(dies_from, dies_to, lost);
}

Test(stalls, of_the_roots_latch_end_in_a_root_made_anew)
{
    with_latches(root_from, root_to, rootless);
}
