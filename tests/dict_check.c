/* SPDX-License-Identifier: Apache-2.0 */
/* That ordo_dict_check notices each broken invariant: this breaks them, one at a time. */
#include "support.h"

#include "dict/runs.h"
#include "ordo/lsm.h"
#include "ordo/sorted_array.h"
#include "shared/runs.h"

#include <stdlib.h>

/* Sizes of which none is merged with another, on any device. */
enum { OLD = 300000, NEW = 50000 };

/* An LSM of u32 keys without values: two runs, the newer one of keys that the older one has too, and some twice. */
static ordo_dict *make_two_runs(struct test *t)
{
    uint32_t  *keys = test_alloc(OLD * sizeof *keys);
    ordo_dict *dict = NULL;
    size_t     size = 0;

    for (uint32_t i = 0; i < OLD; i++)
        keys[i] = i * 3;
    test_ok(t, ordo_lsm_create(t->dev, ordo_lsm_config(.dict = { ORDO_U32, 0 }), &dict));
    test_ok(t, ordo_dict_build_host(dict, keys, NULL, OLD));
    for (uint32_t i = 0; i < NEW; i++)
        keys[i] = i / 2 * 6;
    test_ok(t, ordo_dict_upsert_host(dict, keys, NULL, NEW));
    test_ok(t, ordo_dict_size(dict, NULL, &size)); /* settles */
    test_true(t, size == OLD && ordo_runs_of(dict)->set.n == 2);
    test_ok(t, ordo_dict_check(dict, NULL));
    free(keys);
    return dict;
}

static void poke(struct test *t, cl_mem mem, size_t at, uint32_t word)
{
    test_true(t, clEnqueueWriteBuffer(ordo_device_queue(t->dev), mem, CL_TRUE, at, sizeof word, &word, 0, NULL, NULL) ==
                     CL_SUCCESS);
}

static uint32_t peek(struct test *t, cl_mem mem, size_t at)
{
    uint32_t word = 0;

    test_true(t, clEnqueueReadBuffer(ordo_device_queue(t->dev), mem, CL_TRUE, at, sizeof word, &word, 0, NULL, NULL) ==
                     CL_SUCCESS);
    return word;
}

static void expect_broken(struct test *t, ordo_dict *dict, const char *invariant)
{
    char text[512] = "";

    test_status(t, ordo_dict_check(dict, NULL), ORDO_BROKEN);
    (void) ordo_device_last_error(t->dev, text, sizeof text);
    if (!strstr(text, invariant))
        test_fail(t, __FILE__, __LINE__, "the message names another invariant than %s: %s", invariant, text);
}

/* Changes a word of a run, sees that it is noticed, and changes it back. */
static void expect_noticed(struct test *t, ordo_dict *dict, size_t r, size_t at, uint32_t change, const char *invariant)
{
    const cl_mem   mem = ordo_runs_of(dict)->set.run[r].mem;
    const uint32_t was = peek(t, mem, at);

    test_context(t, "%s: byte %zu of run %zu", invariant, at, r);
    poke(t, mem, at, was ^ change);
    expect_broken(t, dict, invariant);
    poke(t, mem, at, was);
    test_ok(t, ordo_dict_check(dict, NULL));
}

static void check_words(struct test *t)
{
    ordo_dict                    *dict = make_two_runs(t);
    const struct ordo_sorted_run *old = &ordo_runs_of(dict)->set.run[0], *new = &ordo_runs_of(dict)->set.run[1];
    const size_t                  blocks = ordo_ceil_div(old->count, RUN_BLOCK);

    test_true(t, old->has_hidden && old->counted && old->marked && old->distinct);
    test_true(t, new->has_hidden &&new->counted &&new->marked && !new->distinct);
    /* the order of keys: at the ends, and inside */
    expect_noticed(t, dict, 0, 0, 0x80000000u, "R1");
    expect_noticed(t, dict, 0, 4 * (size_t) (OLD - 1), 0x00080000u, "R1");
    expect_noticed(t, dict, 0, 4 * (size_t) 31, 0x40000000u, "R1");
    expect_noticed(t, dict, 1, 4 * (size_t) (NEW / 2), 0x80000000u, "R1");
    /* bits: run 1 replaces keys 0, 6, 12, ..., the first of two itself */
    expect_noticed(t, dict, 0, old->layout.hidden, 1u << 0, "R4");
    expect_noticed(t, dict, 0, old->layout.hidden + 4 * (size_t) 100, 1u << 30, "R4");
    expect_noticed(t, dict, 1, new->layout.hidden + 4 * (size_t) 7, 1u << 2, "R4");
    /* the directory: its first entry, one inside, its last */
    expect_noticed(t, dict, 0, old->layout.visible, 1, "R5");
    expect_noticed(t, dict, 0, old->layout.visible + 4 * (size_t) 9, 4, "R5");
    expect_noticed(t, dict, 0, old->layout.visible + 4 * blocks, 1, "R5");
    ordo_dict_destroy(&dict);
}

Test(dict_check, a_wrong_word_is_noticed)
{
    test_each_device(check_words);
}

/* Two equal keys where none should be. */
static void check_repeats(struct test *t)
{
    uint32_t   keys[1000];
    ordo_dict *dict = NULL;

    for (uint32_t i = 0; i < 1000; i++)
        keys[i] = 8 * i;
    test_ok(t, ordo_sorted_array_create(t->dev, ordo_sorted_array_config(.dict = { ORDO_U32, 0 }), &dict));
    test_ok(t, ordo_dict_build_host(dict, keys, NULL, 1000));
    test_ok(t, ordo_dict_check(dict, NULL));
    poke(t, ordo_runs_of(dict)->set.run[0].mem, 4 * (size_t) 511, 8 * 512);
    expect_broken(t, dict, "R6");
    test_ok(t, ordo_dict_clear(dict));
    test_ok(t, ordo_dict_check(dict, NULL));
    ordo_dict_destroy(&dict);
}

Test(dict_check, a_repeated_key_is_noticed)
{
    test_each_device(check_repeats);
}
