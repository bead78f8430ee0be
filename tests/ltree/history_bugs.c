/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that histories find bugs: each is an edit of a kernel, and a plan whose schedules show it. */
#include "history_schedules.h"
#include "tree.h"

#include "tests/dict/history_batch.h"

#include <inttypes.h>
#include <stdio.h>

/* A bug and the plan that catches it. A schedule of two shows the bug in nearly every history, the same ones each
 * time. Accesses without order are not among these bugs: the self-test checks a device's order (device.h). */
struct bug {
    const char *name;
    struct edit edits[EDITS_MAX];
    struct plan plan;
    enum { BY_ANY_TEAM, BY_ONE_LANE, BY_SEVERAL_LANES } team; /* that has the bug */
};

/* ---- plans, and edits of several bugs ---------------------------------------------------------------------------- */

#define AT_ONE_LEAF       SCHEDULED("few keys", 4, 7, ANY_ORDER, 1000, changes)
#define AT_A_FULL_LEAF    SCHEDULED("a leaf of keys", 4, 24, ANY_ORDER, 2000, changes)
#define SEEKS_AT_ONE_LEAF SCHEDULED("few keys and their neighbours", 4, 7, ANY_ORDER, 1000, seeks_of_changes)
#define FINDS_AT_ONE_LEAF SCHEDULED("few keys and finds", 4, 7, ANY_ORDER, 1000, finds_of_changes)
#define WIDE_AT_ONE_LEAF  SCHEDULED("few keys, values of 8 bytes", 8, 7, ANY_ORDER, 1000, seeks_of_changes)
#define AT_SPLITS         SCHEDULED("splits", 4, 1200, ANY_ORDER, 4000, stores)
#define AT_MANY_SPLITS    SCHEDULED("many splits", 4, 4500, ANY_ORDER, 5000, stores)

#define MERGES    "chunks that merge"
#define AT_MERGES SCHEDULED(MERGES, 4, 1200, SLIDING, 5000, erases)

#define NO_SECOND_LOOK                                                                                                 \
    {                                                                                                                  \
        TREE_FILE, "ltree_header(line) + ltree_before_look(batch, seen)) == tail.header);",                            \
            "ltree_header(line) + ltree_before_look(batch, seen)) != 1);"                                              \
    }

#define SEEK_VALUE "    if (found)\n        value = ltree_look_at_value(batch, op, slot, &seen);\n"
#define FIND_VALUE                                                                                                     \
    "    if (found && op->code == CODE_FIND)\n        value = ltree_look_at_value(batch, op, slot, &seen);\n"

/* ---- the bugs ---------------------------------------------------------------------------------------------------- */

static const struct bug bugs[] = {
    { "no latch",
      { { TREE_FILE, "if (ltree_cas(header + after, was, was | LTREE_LATCHED) != was)", "if (false)" } },
      AT_ONE_LEAF },
    { "given back before it is changed",
      { { TREE_FILE, "    if (change != CHANGE_VALUE) {\n",
          "    ordo_store_release(ltree_header(home), ((tail.header + LTREE_VERSION_ONE) & LTREE_VERSION_MASK) | "
          "site->count);\n"
          "    if (change != CHANGE_VALUE) {\n" } },
      AT_ONE_LEAF },
    { "no second look", { NO_SECOND_LOOK }, SEEKS_AT_ONE_LEAF },
    { "no second look, where addresses give order", { NO_SECOND_LOOK, BY_ADDRESS }, SEEKS_AT_ONE_LEAF },
    { "no second look of a find",
      { { TREE_FILE, FIND_VALUE "    if (!ltree_unchanged(batch, line, tail, seen))\n",
          FIND_VALUE "    if (false)\n" } },
      FINDS_AT_ONE_LEAF },
    { "a find before the first look",
      { { TREE_FILE, "    const bool found = slot < count && key_same(key, op->query);\n",
          "    tail.header = ordo_load_relaxed(ltree_header(line));\n"
          "    const bool found = slot < count && key_same(key, op->query);\n" },
        BY_ADDRESS },
      FINDS_AT_ONE_LEAF },
    { "no second look at a value of 8 bytes",
      { { TREE_FILE, SEEK_VALUE "    if (!ltree_unchanged(batch, line, tail, seen))\n", SEEK_VALUE "    if (false)\n" },
        TORN_READS },
      WIDE_AT_ONE_LEAF },
    { "the second look before the value is read",
      { { TREE_FILE, "    if (found || (forward ? tail.right == LTREE_NONE : op->at == 0))\n",
          "    ltree_delay(batch, op, 8);\n"
          "#if ORDO_VALUE_BYTES\n"
          "    if (found)\n"
          "        value = ltree_load_uncached_value(ltree_values(&batch->tree, op->at) + slot);\n"
          "#endif\n"
          "    if (found || (forward ? tail.right == LTREE_NONE : op->at == 0))\n" },
        BY_ADDRESS },
      SEEKS_AT_ONE_LEAF },
    { "the first look after the keys are read",
      { { TREE_FILE, "    bool found = slot < count && (forward || key_same(key, op->query));\n",
          "    tail.header = ordo_load_relaxed(ltree_header(line));\n"
          "    bool found = slot < count && (forward || key_same(key, op->query));\n" },
        BY_ADDRESS },
      SEEKS_AT_ONE_LEAF },
    { "one version for ever",
      { { TREE_FILE, "((was + LTREE_VERSION_ONE) & LTREE_VERSION_MASK)", "(was & LTREE_VERSION_MASK)" } },
      AT_A_FULL_LEAF },
    { "the level above is not told", { { TREE_FILE, "    op->level++;\n", "    return STEP_DONE;\n" } }, AT_SPLITS },
    { "a number in a slot that is not used",
      { { TREE_FILE, "        column_load_uncached_uint(&c, words, slot, count + open);\n",
          "        column_load_uncached_uint(&c, words, slot, count);\n"
          "        for (uint s = 0; s < LTREE_SLOTS; s++)\n"
          "            c.at[s] = s < count ? c.at[s] : 77777 + s;\n" } },
      AT_MANY_SPLITS,
      BY_ONE_LANE },
    { "a team runs the operation of lane 0 for every lane",
      { { TREE_FILE, "    const uint lane = first_lane(turn->left);\n", "    const uint lane = 0;\n" } },
      AT_ONE_LEAF,
      BY_SEVERAL_LANES },
    { "a lane writes a range's element where lane 0 writes",
      { { TREE_FILE, " + mask_count(lanes & team_lanes_below());\n", ";\n" } },
      SCHEDULED("scans", 4, 600, ANY_ORDER, 4000, scans),
      BY_SEVERAL_LANES },
    { "no way to the right",
      { { TREE_FILE, "    if (key_before(tail.high, op->query)) {\n", "    if (false) {\n" } },
      AT_SPLITS },
    { "a new node is open before all of it is there",
      { { TREE_FILE, "    ltree_store_uncached_key(left + LTREE_HIGH, middle);\n",
          "    ltree_store_uncached_key(left + LTREE_HIGH, middle);\n"
          "    ordo_store_relaxed(ltree_header(right), LTREE_HALF);\n"
          "    ltree_delay(batch, op, 4);\n" },
        SEEN_BEFORE },
      AT_MANY_SPLITS },
#if TEST_SKIPLIST
    { "the neighbour of a chunk that merges is not locked",
      { { TREE_FILE,
          "        ltree_cas(ltree_header(right), tail.header, tail.header | LTREE_LATCHED) != tail.header)\n",
          "        false)\n" } },
      AT_MERGES },
    { "the neighbour covers no more than before",
      { { TREE_FILE, "    ltree_store_uncached_key(right + LTREE_LOW, tail.low);\n", "" } },
      AT_MERGES },
    { "a chunk that has merged covers what it did",
      { { TREE_FILE, "    ltree_store_uncached_key(line + LTREE_HIGH, tail.low);\n", "" } },
      AT_MERGES },
    { "the neighbour is given back before all is in it",
      { { TREE_FILE, "    ltree_move_all(batch, op, site, into, count);\n",
          "    ordo_store_relaxed(ltree_header(right), of_right.header);\n"
          "    ltree_move_all(batch, op, site, into, count);\n" } },
      AT_MERGES },
#endif
};

/* ---- the test ---------------------------------------------------------------------------------------------------- */

static const struct bug *bug_under_test;

/* Histories tried, from the seed on. The rarest bug, a new node that is open too soon, shows in every twelfth. */
enum { TRIES_MAX = 200 };

/* Lets a team that has the bug execute the operations: on devices with teams, one lane or a sub-group by the seed. */
static bool has_team_for(const struct test *t, const struct bug *bug)
{
    const bool several = bug->team == BY_SEVERAL_LANES || (bug->team == BY_ANY_TEAM && t->seed % 2 == 0);
    const bool can = several && t->facts->sub_group > 1 && tree_uses_team(t->dev, t->facts->sub_group);
    return can || (bug->team != BY_SEVERAL_LANES && tree_uses_team(t->dev, 1));
}

static void expect_caught(struct test *t)
{
    char     wrong[WRONG_BYTES] = "";
    uint64_t k = 0;

    if (!has_team_for(t, bug_under_test))
        return;
    test_unoptimized(t);
    test_context(t, "bug '%s'", bug_under_test->name);
    while (k < TRIES_MAX &&
           (run_history(t, &bug_under_test->plan, t->seed * 1000 + k, wrong) || strcmp(wrong, UNDECIDED) == 0))
        k++;
    (void) fprintf(stderr, "%s: history %" PRIu64 ": %.*s\n", bug_under_test->name, k + 1, (int) strcspn(wrong, "\n"),
                   wrong);
    test_true(t, k < TRIES_MAX);
}

/* Each bug compiles kernels. By default a B-link tree tries every third bug, by the seed, and a skiplist every second.
 * ORDO_TEST_BUGS: all, or a part of the names. */
static bool bug_is_tried(size_t b)
{
    const char *const which = getenv("ORDO_TEST_BUGS");

    if (which)
        return test_wants_all("ORDO_TEST_BUGS") || strstr(bugs[b].name, which);
    if (TEST_SKIPLIST)
        return strcmp(bugs[b].plan.name, MERGES) == 0 && b % 2 == test_seed() % 2;
    return b % 3 == (test_seed() - 1) % 3;
}

static void expect_bug(const struct bug *bug)
{
    AUTO(overlay_end) struct overlay o = begin_schedules(bug->edits);

    bug_under_test = bug;
    test_each_device_with("group=1", expect_caught);
}

Test(ltree_history, catches_bugs_put_in)
{
    for (size_t b = 0; b < LENGTH(bugs); b++)
        if (bug_is_tried(b))
            expect_bug(&bugs[b]);
}
