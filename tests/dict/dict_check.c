/* SPDX-License-Identifier: Apache-2.0 */
/* Breaks each invariant, one at a time. ordo_dict_check must report it. */
#include "broken.h"

#include "dict/ltree/ltree.h"
#include "dict/runs/runs.h"
#include "ordo/lsm.h"
#include "ordo/sorted_array.h"
#include "shared/runs.h"
#include "tests/support/words.h"

#include <stdlib.h>

/* No device merges runs of these sizes. */
enum { OLD = 300000, NEW = 50000 };

/* An LSM of u32 keys without values: two runs. The newer has only keys of the older, some of them twice. */
static ordo_dict *make_two_runs(struct test *t)
{
    AUTO_FREE uint32_t *keys = test_alloc(OLD * sizeof *keys);
    ordo_dict          *dict = NULL;
    size_t              size = 0;

    for (uint32_t i = 0; i < OLD; i++)
        keys[i] = i * 3;
    test_ok(t, ordo_lsm_create(t->dev, ordo_lsm_config(.dict = { ORDO_U32, 0 }), &dict));
    test_ok(t, ordo_dict_build_host(dict, keys, NULL, OLD));
    for (uint32_t i = 0; i < NEW; i++)
        keys[i] = i / 2 * 6;
    test_ok(t, ordo_dict_upsert_host(dict, keys, NULL, NEW));
    test_ok(t, ordo_dict_size(dict, NULL, &size)); /* resolves */
    test_true(t, size == OLD && ordo_runs_of(dict)->set.n == 2);
    test_ok(t, ordo_dict_check(dict, NULL));
    return dict;
}

/* Changes bits of a run's word. */
static void flip(struct test *t, ordo_dict *dict, size_t r, size_t at, uint32_t change, const char *invariant)
{
    const cl_mem mem = ordo_runs_of(dict)->set.run[r].mem;

    expect_noticed(t, dict, mem, at / 4, peek(t, mem, at / 4) ^ change, invariant);
}

DEVICE_TEST(dict_check, a_wrong_word_is_reported)
{
    AUTO_DICT ordo_dict          *dict = make_two_runs(t);
    const struct ordo_sorted_run *old = &ordo_runs_of(dict)->set.run[0], *new = &ordo_runs_of(dict)->set.run[1];
    const size_t                  blocks = ordo_ceil_div(old->count, RUN_BLOCK);

    test_true(t, old->has_hidden && old->marks == ORDO_RUN_COUNTED && old->distinct && !old->erased);
    test_true(t, new->has_hidden &&new->marks == ORDO_RUN_COUNTED && !new->distinct && !new->erased);
    /* the order of keys: at the ends, and inside */
    flip(t, dict, 0, 0, 0x80000000u, "R1");
    flip(t, dict, 0, 4 * (size_t) (OLD - 1), 0x00080000u, "R1");
    flip(t, dict, 0, 4 * (size_t) 31, 0x40000000u, "R1");
    flip(t, dict, 1, 4 * (size_t) (NEW / 2), 0x80000000u, "R1");
    /* bits: run 1 replaces keys 0, 6, 12, ..., the first of two replaces itself */
    flip(t, dict, 0, old->layout.hidden, 1u << 0, "R4");
    flip(t, dict, 0, old->layout.hidden + 4 * (size_t) 100, 1u << 30, "R4");
    flip(t, dict, 1, new->layout.hidden + 4 * (size_t) 7, 1u << 2, "R4");
    flip(t, dict, 0, old->layout.hidden, 1u << 1, "R7");
    flip(t, dict, 1, new->layout.hidden + 4 * (size_t) 7, 1u << 3, "R7");
    /* the directory: its first entry, one inside, its last */
    flip(t, dict, 0, old->layout.visible, 1, "R5");
    flip(t, dict, 0, old->layout.visible + 4 * (size_t) 9, 4, "R5");
    flip(t, dict, 0, old->layout.visible + 4 * blocks, 1, "R5");
}

/* Two equal keys in a run without duplicates. */
DEVICE_TEST(dict_check, a_repeated_key_is_reported)
{
    uint32_t             keys[1000];
    AUTO_DICT ordo_dict *dict = NULL;

    for (uint32_t i = 0; i < 1000; i++)
        keys[i] = 8 * i;
    test_ok(t, ordo_sorted_array_create(t->dev, ordo_sorted_array_config(.dict = { ORDO_U32, 0 }), &dict));
    test_ok(t, ordo_dict_build_host(dict, keys, NULL, 1000));
    test_ok(t, ordo_dict_check(dict, NULL));
    write_bytes(t, ordo_runs_of(dict)->set.run[0].mem, 4 * (size_t) 511, &(uint32_t) { 8 * 512 }, 4);
    expect_broken(t, dict, "R6");
    test_ok(t, ordo_dict_clear(dict));
    test_ok(t, ordo_dict_check(dict, NULL));
}

/* ---- the B-link tree --------------------------------------------------------------------------------------------- */

/* A tree of three levels in which some nodes have split. */
static ordo_dict *make_tree(struct test *t, ordo_type type)
{
    enum { BUILT = 20000, MORE = 3000 };
    const size_t    kb = ordo_type_bytes(type);
    AUTO_FREE void *keys = test_alloc(BUILT * kb);
    ordo_dict      *dict = NULL;

    for (uint32_t i = 0; i < BUILT; i++)
        put_form(type, keys, i, (key_form) 16 * i);
    test_ok(t, ordo_blink_create(t->dev, ordo_blink_config(.dict = { type, 4 }), &dict));
    test_ok(t, ordo_dict_build_host(dict, keys, keys, BUILT));
    for (uint32_t i = 0; i < MORE; i++)
        put_form(type, keys, i, (key_form) 32 * i + 1);
    test_ok(t, ordo_dict_upsert_host(dict, keys, keys, MORE));
    test_ok(t, ordo_dict_check(dict, NULL));
    return dict;
}

/* Index of the low 32 bits of a node's word among all lines. LTREE_AT_...: one past its slots. */
static size_t word_of(const struct ordo_ltree *tree, size_t node, size_t word)
{
    return (node * tree->config.words + word) * (tree->dict.key_bytes / 4);
}
static size_t tail_of(const struct ordo_ltree *tree, size_t node, size_t word)
{
    return word_of(tree, node, ordo_ltree_slots(tree) + word);
}

static void check_leaf_words(struct test *t, ordo_dict *dict, size_t leaf)
{
    const struct ordo_ltree *tree = ordo_ltree_of(dict);
    const cl_mem             keys = tree->pools.leaf_keys;
    const uint32_t           first = peek(t, keys, word_of(tree, leaf, 0)),
                   low = peek(t, keys, tail_of(tree, leaf, LTREE_AT_LOW));
    const uint32_t count = peek(t, keys, tail_of(tree, leaf, LTREE_AT_HEADER)) & LTREE_COUNT_MASK;

    test_true(t, count > 2 && count < ordo_ltree_slots(tree));
    expect_noticed(t, dict, keys, word_of(tree, leaf, 1), first, "B1");
    expect_noticed(t, dict, keys, word_of(tree, leaf, count), first, "B1");
    expect_noticed(t, dict, keys, word_of(tree, leaf, 0), low, "B2");
    expect_noticed(t, dict, keys, tail_of(tree, leaf, LTREE_AT_HIGH), first, "B2");
    expect_noticed(t, dict, keys, tail_of(tree, leaf, LTREE_AT_RIGHT), (uint32_t) leaf, "B3");
    expect_noticed(t, dict, keys, tail_of(tree, leaf, LTREE_AT_RIGHT), LTREE_NONE, "B3");
    expect_noticed(t, dict, keys, tail_of(tree, leaf, LTREE_AT_LOW), low - 1, "B3");
    expect_noticed(t, dict, keys, tail_of(tree, leaf, LTREE_AT_HEADER), count | LTREE_LATCHED, "B7");
    expect_noticed(t, dict, keys, tail_of(tree, leaf, LTREE_AT_HEADER), count - 1, "B1");
}

static void check_inner_words(struct test *t, ordo_dict *dict, size_t node)
{
    const struct ordo_ltree *tree = ordo_ltree_of(dict);
    const cl_mem             keys = tree->pools.inner_keys, children = tree->pools.children;
    const uint32_t           count = peek(t, keys, tail_of(tree, node, LTREE_AT_HEADER)) & LTREE_COUNT_MASK;
    const uint32_t           first = peek(t, keys, word_of(tree, node, 0));
    const size_t             child = node * ordo_ltree_slots(tree);

    test_true(t, count > 2 && count < ordo_ltree_slots(tree));
    expect_noticed(t, dict, keys, word_of(tree, node, 1), first, "B4");
    expect_noticed(t, dict, keys, word_of(tree, node, 0), first + 1, "B4");
    expect_noticed(t, dict, keys, word_of(tree, node, count), first, "B1");
    expect_noticed(t, dict, keys, tail_of(tree, node, LTREE_AT_HIGH), first, "B2");
    expect_noticed(t, dict, keys, tail_of(tree, node, LTREE_AT_RIGHT), (uint32_t) node, "B3");
    expect_noticed(t, dict, keys, tail_of(tree, node, LTREE_AT_HEADER), count | LTREE_DIRTY, "B7");
    expect_noticed(t, dict, children, child + 1, peek(t, children, child), "B4");
    expect_noticed(t, dict, children, child, 0x7fffffff, "B4");
    expect_noticed(t, dict, children, child + count, 0x7fffffff, "B4");
}

static void check_tree_words(struct test *t, ordo_type type)
{
    AUTO_DICT ordo_dict *dict = make_tree(t, type);
    struct ordo_ltree   *tree = ordo_ltree_of(dict);
    const uint32_t       leaves = peek(t, tree->state, LTREE_LEAVES);
    const uint32_t       inner = peek(t, tree->state, LTREE_INNER);
    const uint32_t       root = peek(t, tree->state, LTREE_ROOT);

    check_leaf_words(t, dict, 1);
    check_leaf_words(t, dict, leaves / 2);
    check_inner_words(t, dict, 1);
    test_true(t, leaves < tree->pools.leaves && inner < tree->pools.inner && root >> LTREE_LEVEL_SHIFT >= 2);
    /* leaves without an entry, a root that does not cover its level, pools and counters */
    expect_noticed(t, dict, tree->state, LTREE_ROOT, 1u << LTREE_LEVEL_SHIFT | 0, "B4");
    expect_noticed(t, dict, tree->state, LTREE_ROOT, root | LTREE_ROOT_LATCHED, "B7");
    expect_noticed(t, dict, tree->state, LTREE_ROOT, (root & ~LTREE_NODE_MASK) | inner, "B5");
    expect_noticed(t, dict, tree->state, LTREE_LEAVES, leaves + 1, "B");
    expect_noticed(t, dict, tree->pools.leaf_keys, tail_of(tree, leaves, LTREE_AT_HEADER), 3, "B6");
    expect_noticed(t, dict, tree->pools.inner_keys, tail_of(tree, inner, LTREE_AT_HEADER), 3, "B6");
    expect_noticed(t, dict, tree->state, LTREE_DIRTY_NODES + 1, 1, "B7");
    expect_noticed(t, dict, tree->state, LTREE_ELEMENTS, 7, "leaves hold");
    /* counts, if the tree keeps them */
    if (tree->counted)
        expect_noticed(t, dict, tree->pools.counts, 1, 63, "B8");
}

MASK_TEST(dict_check, a_wrong_word_of_a_tree_is_reported, "", "cpu=0")
{
    check_tree_words(t, ORDO_U32);
    check_tree_words(t, ORDO_U128);
}
