/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the checker of histories (history.h), by histories of one key that are known to be right or wrong. */
#include "history.h"

#include "tests/support/support.h"

/* The key of all operations, and its value before them. */
enum { KEY = 5, VALUE_BEFORE = 1000 };

/* Whether the key is present before and after the operations. */
struct ends {
    bool     before, after;
    uint64_t value_after;
};

static struct model one_element(bool there, uint64_t value)
{
    struct model model = model_empty(ORDO_U64, 8);
    model.element = test_alloc(sizeof *model.element);
    model.element[0] = (struct model_element) { KEY, KEY, value };
    model.count = there;
    model.room = 1;
    return model;
}

/* The verdict of the checker on operations on the key. */
static enum history_verdict verdict_on(const struct history_op *op, size_t n, struct ends ends, char *text,
                                       size_t text_bytes)
{
    AUTO_MODEL struct model           before = one_element(ends.before, VALUE_BEFORE);
    AUTO_MODEL struct model           after = one_element(ends.after, ends.value_after);
    AUTO(history_free) struct history h = history_begin(&before, true);

    for (size_t i = 0; i < n; i++)
        history_add(&h, op[i]);
    return history_explain(&h, &after, text, text_bytes);
}

/* ---- known histories --------------------------------------------------------------------------------------------- */

struct known {
    const char       *what;
    struct ends       ends;
    bool              explained;
    struct history_op op[6];
};

#define FIND(b, e, ...)                                                                                                \
    {                                                                                                                  \
        .key = KEY, .begin = (b), .end = (e), .code = ORDO_FIND, __VA_ARGS__                                           \
    }
#define CONTAINS(b, e, f)                                                                                              \
    {                                                                                                                  \
        .key = KEY, .begin = (b), .end = (e), .code = ORDO_CONTAINS, .found = (f)                                      \
    }
#define UPSERT(b, e, v, f)                                                                                             \
    {                                                                                                                  \
        .key = KEY, .begin = (b), .end = (e), .code = ORDO_UPSERT, .wrote = (v), .found = (f)                          \
    }
#define INSERT(b, e, v, f)                                                                                             \
    {                                                                                                                  \
        .key = KEY, .begin = (b), .end = (e), .code = ORDO_INSERT, .wrote = (v), .found = (f)                          \
    }
#define ERASE(b, e, f)                                                                                                 \
    {                                                                                                                  \
        .key = KEY, .begin = (b), .end = (e), .code = ORDO_ERASE, .found = (f)                                         \
    }
#define SAW(v) .found = true, .saw = (v)

static const struct known knowns[] = {
    { "nothing", { true, true, 1000 }, true, { { 0 } } },
    { "content that changes by itself", { true, false, 0 }, false, { { 0 } } },
    { "one after the other",
      { false, true, 2 },
      true,
      { UPSERT(1, 2, 1, 0), FIND(3, 4, SAW(1)), UPSERT(5, 6, 2, 1), FIND(7, 8, SAW(2)) } },
    { "a find of what is replaced",
      { false, true, 2 },
      false,
      { UPSERT(1, 2, 1, 0), UPSERT(3, 4, 2, 1), FIND(5, 6, SAW(1)) } },
    { "a find beside a store: before it", { true, true, 2 }, true, { UPSERT(1, 9, 2, 1), FIND(3, 4, SAW(1000)) } },
    { "a find beside a store: after it", { true, true, 2 }, true, { UPSERT(1, 9, 2, 1), FIND(3, 4, SAW(2)) } },
    { "new, then old", { true, true, 2 }, false, { UPSERT(1, 9, 2, 1), FIND(2, 3, SAW(2)), FIND(4, 5, SAW(1000)) } },
    { "old, then new", { true, true, 2 }, true, { UPSERT(1, 9, 2, 1), FIND(2, 3, SAW(1000)), FIND(4, 5, SAW(2)) } },
    { "a value that nobody wrote", { true, true, 1000 }, false, { FIND(1, 2, SAW(7)) } },
    { "a find from the future", { true, true, 2 }, false, { FIND(1, 2, SAW(2)), UPSERT(3, 4, 2, 1) } },
    { "two that both store the key first", { false, true, 2 }, false, { INSERT(1, 6, 1, 0), INSERT(2, 7, 2, 0) } },
    { "the same, and an erase between",
      { false, true, 2 },
      true,
      { INSERT(1, 6, 1, 0), INSERT(2, 7, 2, 0), ERASE(3, 5, 1) } },
    { "two that both erase it", { true, false, 0 }, false, { ERASE(1, 6, 1), ERASE(2, 7, 1) } },
    { "an erase that misses it", { true, true, 1000 }, false, { ERASE(1, 2, 0) } },
    { "a store that is lost", { true, true, 1000 }, false, { UPSERT(1, 2, 2, 1) } },
    { "an insert over it changes nothing", { true, true, 1000 }, true, { INSERT(1, 2, 2, 1), CONTAINS(3, 4, 1) } },
    { "absent while it is there", { true, true, 1000 }, false, { CONTAINS(1, 2, 0) } },
    { "a find of what was erased before", { true, false, 0 }, false, { ERASE(1, 2, 1), FIND(3, 4, SAW(1000)) } },
    { "an order that is not that of the beginnings",
      { false, false, 0 },
      true,
      { ERASE(1, 20, 1), UPSERT(2, 19, 1, 1), FIND(3, 4, .found = false), UPSERT(5, 18, 2, 0), FIND(6, 7, SAW(2)),
        FIND(8, 9, SAW(1)) } },
};

Test(ltree_history, the_checker_knows_good_from_bad)
{
    for (size_t k = 0; k < LENGTH(knowns); k++) {
        const struct known *known = &knowns[k];
        char                text[1024] = "";
        size_t              n = 0;
        while (n < LENGTH(known->op) && known->op[n].end)
            n++;
        const enum history_verdict verdict = verdict_on(known->op, n, known->ends, text, sizeof text);
        cr_assert(verdict == (known->explained ? HISTORY_EXPLAINED : HISTORY_WRONG), "%s: %s", known->what, text);
    }
}

/* ---- random histories -------------------------------------------------------------------------------------------- */

enum { OPERATIONS_MAX = 7 };

/* Replays operations on one key in a given order. False if one would have returned something else. */
static bool replay(const struct history_op *op, const size_t *order, size_t n, struct ends ends)
{
    bool     present = ends.before;
    uint64_t value = VALUE_BEFORE;

    for (size_t i = 0; i < n; i++) {
        const struct history_op *o = &op[order[i]];
        if (o->found != present || (o->code == ORDO_FIND && present && o->saw != value))
            return false;
        if (o->code == ORDO_UPSERT || (o->code == ORDO_INSERT && !present)) {
            present = true;
            value = o->wrote;
        } else if (o->code == ORDO_ERASE) {
            present = false;
        }
    }
    return present == ends.after && (!present || value == ends.value_after);
}

/* Tries every order of the operations; `done` of them are fixed. */
static bool some_order(const struct history_op *op, size_t *order, size_t done, size_t n, struct ends ends)
{
    if (done == n)
        return replay(op, order, n, ends);
    for (size_t i = done; i < n; i++) {
        bool next = true; /* no other operation has ended before it begins */
        for (size_t j = done; j < n; j++)
            next = next && op[order[j]].end >= op[order[i]].begin;
        const size_t picked = order[i];
        order[i] = order[done];
        order[done] = picked;
        const bool good = next && some_order(op, order, done + 1, n, ends);
        order[done] = order[i];
        order[i] = picked;
        if (good)
            return true;
    }
    return false;
}

/* Gives each of n operations two of the ticks 1 to 2 n, mostly near each other. */
static void random_ticks(struct test *t, uint32_t *ticks, size_t n)
{
    for (uint32_t i = 0; i < 2 * n; i++)
        ticks[i] = i + 1;
    for (size_t i = 2 * n - 1; i > 0; i--) {
        const size_t   other = test_below(t, i + 1 < 6 ? i + 1 : 6) + (i + 1 < 6 ? 0 : i - 5);
        const uint32_t held = ticks[i];
        ticks[i] = ticks[other];
        ticks[other] = held;
    }
}

/* A few operations at random moments, with results that are right, or nearly. */
static size_t random_operations(struct test *t, struct history_op op[OPERATIONS_MAX])
{
    const size_t n = 1 + test_below(t, OPERATIONS_MAX);
    uint32_t     ticks[2 * OPERATIONS_MAX] = { 0 };

    random_ticks(t, ticks, n);
    for (size_t i = 0; i < n; i++) {
        const uint32_t a = ticks[2 * i], b = ticks[2 * i + 1];
        op[i] = (struct history_op) { .key = KEY,
                                      .wrote = i + 1,
                                      .begin = a < b ? a : b,
                                      .end = a < b ? b : a,
                                      .code = (uint8_t) test_below(t, ORDO_ERASE + 1),
                                      .found = test_below(t, 2) };
        op[i].saw = test_below(t, 4) == 0 ? VALUE_BEFORE : 1 + test_below(t, n);
    }
    return n;
}

Test(ltree_history, the_checker_agrees_with_trying_every_order)
{
    struct test t = { .random = 1, .mask = "" };
    size_t      explained = 0, tried = 60000;

    for (size_t k = 0; k < tried; k++) {
        struct history_op op[OPERATIONS_MAX];
        struct ends       ends;
        size_t            order[OPERATIONS_MAX] = { 0, 1, 2, 3, 4, 5, 6 };
        char              text[1024] = "";
        const size_t      n = random_operations(&t, op);

        ends.after = test_below(&t, 2);
        ends.before = test_below(&t, 2);
        ends.value_after = test_below(&t, 3) == 0 ? VALUE_BEFORE : 1 + test_below(&t, n);
        const bool good = verdict_on(op, n, ends, text, sizeof text) == HISTORY_EXPLAINED;
        cr_assert(good == some_order(op, order, 0, n, ends), "try %zu: the checker says %d: %s", k, good, text);
        explained += good;
    }
    cr_assert(explained > tried / 100, "only %zu of %zu had an order", explained, tried);
}
