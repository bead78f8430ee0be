/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/ltree/ltree.h"

#include <stdio.h>

#define CHECK_FILE "dict/ltree/check.cl"

static const char *const finding[N_FINDINGS] = {
    [WRONG_LEAF_ORDER] = "B1: keys of leaf %u do not ascend, or an unused slot is not marked",
    [WRONG_LEAF_BOUNDS] = "B2: a key of leaf %u lies outside of its bounds",
    [WRONG_LEAF_LINK] = "B3: the right neighbour of leaf %u does not begin where it ends",
    [WRONG_LEAF_LATCH] = "B7: leaf %u is latched",
    [WRONG_LEAF_COVER] = "B4: leaf %u has no entry above it",
    [WRONG_LEAF_FREE] = "B6: leaf %u is not taken, and looks so",
    [WRONG_INNER_ORDER] = "B1: keys of inner node %u do not ascend, or an unused slot is not marked",
    [WRONG_INNER_BOUNDS] = "B2: a key of inner node %u lies outside of its bounds",
    [WRONG_INNER_LINK] = "B3: the right neighbour of inner node %u does not begin where it ends",
    [WRONG_INNER_LATCH] = "B7: inner node %u is latched",
    [WRONG_INNER_COVER] = "B4: inner node %u has no entry above it",
    [WRONG_INNER_FREE] = "B6: inner node %u is not taken, and looks so",
    [WRONG_ENTRY] = "B4: an entry of inner node %u has a wrong low key or child, or its slot is unused",
    [WRONG_COUNT] = "B8: of leaf %u another count is kept than its own",
    [WRONG_NEXT] = "B4: the children of inner node %u do not follow each other",
    [WRONG_DIRTY] = "B7: node %u is marked as one that has entries to take in",
    [WRONG_DEAD] = "B9: node %u covers nothing, and has an entry above it",
};

/* Returns true if error `f` may only mean that a new node still lacks its entry in the level above. */
static bool is_lag(int f)
{
    return f == WRONG_LEAF_COVER || f == WRONG_INNER_COVER || f == WRONG_NEXT || f == WRONG_DIRTY;
}

/* Kernel check_down visits the nodes from the root down. levels[i] becomes the level of inner node i, and leaves[i]
 * becomes 0. If the kernel does not reach a node, its value stays LTREE_NONE. */
struct look {
    cl_mem levels, leaves, wrong;
};

static ordo_status prepare(struct ordo_call *call, const struct ordo_ltree *tree, cl_uint root, struct look *look)
{
    const cl_uint level = root >> LTREE_LEVEL_SHIFT, node = root & LTREE_NODE_MASK;
    const size_t  levels = tree->pools.inner * sizeof(cl_uint), leaves = tree->pools.leaves * sizeof(cl_uint);
    ORDO_TRY(ordo_call_scratch(call, levels, &look->levels));
    ORDO_TRY(ordo_call_scratch(call, leaves, &look->leaves));
    ORDO_TRY(ordo_call_scratch(call, N_CHECKED * sizeof(cl_uint), &look->wrong));
    ORDO_TRY(ordo_call_fill(call, look->levels, 0, levels, LTREE_NONE));
    ORDO_TRY(ordo_call_fill(call, look->leaves, 0, leaves, LTREE_NONE));
    ORDO_TRY(ordo_call_fill(call, look->wrong, 0, N_FINDINGS * sizeof(cl_uint), LTREE_NONE));
    ORDO_TRY(ordo_call_fill(call, look->wrong, N_FINDINGS * sizeof(cl_uint), 2 * sizeof(cl_uint), 0));
    return ordo_call_fill(call, level > 0 ? look->levels : look->leaves, node * sizeof(cl_uint), sizeof(cl_uint),
                          level);
}

static ordo_status look_down(struct ordo_call *call, const struct ordo_ltree *tree, cl_uint level, size_t inner,
                             const struct look *look)
{
    struct ordo_args args = ordo_ltree_args(tree);
    ORDO_ADD(&args, ORDO_ARG(level), ORDO_ARG(look->levels), ORDO_ARG(look->leaves), ORDO_ARG(look->wrong));
    const struct ordo_launch launch =
        ordo_ltree_kernel(tree, CHECK_FILE, "check_down", ordo_ltree_flat(tree), inner * ordo_ltree_slots(tree));
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status look_at_nodes(struct ordo_call *call, const struct ordo_ltree *tree, bool leaves, cl_mem reached,
                                 cl_mem wrong)
{
    const size_t     n_nodes = leaves ? tree->pools.leaves : tree->pools.inner;
    const cl_uint    counted = tree->counted;
    struct ordo_args args = ordo_ltree_args(tree);
    ORDO_ADD(&args, ORDO_ARG_UINT(n_nodes), ORDO_ARG(reached), ORDO_ARG(wrong));
    if (leaves)
        ORDO_ADD(&args, ORDO_ARG(counted));
    const struct ordo_launch launch =
        ordo_ltree_kernel(tree, CHECK_FILE, leaves ? "check_leaves" : "check_inner", ordo_ltree_flat(tree), n_nodes);
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status look_at_all(struct ordo_call *call, const struct ordo_ltree *tree,
                               const cl_uint state[LTREE_STATE_WORDS], cl_uint found[N_CHECKED])
{
    const int   mark = call->n_scratch;
    struct look look;

    ORDO_TRY(prepare(call, tree, state[LTREE_ROOT], &look));
    for (cl_uint level = state[LTREE_ROOT] >> LTREE_LEVEL_SHIFT; level > 0; level--)
        ORDO_TRY(look_down(call, tree, level, state[LTREE_INNER], &look));
    ORDO_TRY(look_at_nodes(call, tree, true, look.leaves, look.wrong));
    ORDO_TRY(look_at_nodes(call, tree, false, look.levels, look.wrong));
    ORDO_TRY(ordo_call_read(call, look.wrong, 0, found, N_CHECKED * sizeof *found));
    ordo_call_release(call, mark);
    return ORDO_OK;
}

#define BROKEN(dev, ...) ORDO_FAIL((dev), ORDO_BROKEN, __VA_ARGS__)

static ordo_status validate_state(const struct ordo_ltree *tree, const cl_uint state[LTREE_STATE_WORDS])
{
    ordo_device  *dev = tree->dict.dev;
    const cl_uint root = state[LTREE_ROOT], level = root >> LTREE_LEVEL_SHIFT & 15, node = root & LTREE_NODE_MASK;
    if (root & LTREE_ROOT_LATCHED)
        return BROKEN(dev, "B7: the root is latched");
    if (level > LTREE_LEVELS_MAX || node >= state[level > 0 ? LTREE_INNER : LTREE_LEAVES])
        return BROKEN(dev, "B5: the root, of level %u, is node %u, of which there is none", level, node);
    if (state[LTREE_LEAVES] > tree->pools.leaves)
        return BROKEN(dev, "B6: %u leaves are taken, of %zu", state[LTREE_LEAVES], tree->pools.leaves);
    if (state[LTREE_INNER] > tree->pools.inner)
        return BROKEN(dev, "B6: %u inner nodes are taken, of %zu", state[LTREE_INNER], tree->pools.inner);
    return ORDO_OK;
}

static ordo_status validate_lists(const struct ordo_ltree *tree, const cl_uint state[LTREE_STATE_WORDS])
{
    for (int l = 0; l <= LTREE_LEVELS_MAX; l++)
        if (state[LTREE_DIRTY_NODES + l])
            return BROKEN(tree->dict.dev, "B7: level %d has a list of %u nodes", l, state[LTREE_DIRTY_NODES + l]);
    return ORDO_OK;
}

static ordo_status validate_nodes(const struct ordo_ltree *tree, const cl_uint found[N_CHECKED], bool lags)
{
    for (int f = 0; f < N_FINDINGS; f++)
        if (found[f] != LTREE_NONE && !(lags && is_lag(f))) {
            char text[256];
            snprintf(text, sizeof text, finding[f], found[f]);
            return BROKEN(tree->dict.dev, "%s", text);
        }
    return ORDO_OK;
}

static ordo_status validate_count(const struct ordo_ltree *tree, const cl_uint state[LTREE_STATE_WORDS],
                                  const cl_uint found[N_CHECKED])
{
    if (found[CHECKED_ELEMENTS] != state[LTREE_ELEMENTS])
        return BROKEN(tree->dict.dev, "leaves hold %u elements, %u are counted", found[CHECKED_ELEMENTS],
                      state[LTREE_ELEMENTS]);
    if (found[CHECKED_DEAD] != state[LTREE_DEAD])
        return BROKEN(tree->dict.dev, "B9: %u leaves are in no level, %u are counted", found[CHECKED_DEAD],
                      state[LTREE_DEAD]);
    return ORDO_OK;
}

static ordo_status look(struct ordo_call *call, struct ordo_ltree *tree, cl_uint state[LTREE_STATE_WORDS],
                        cl_uint found[N_CHECKED])
{
    ORDO_TRY(ordo_ltree_read_state(call, tree, state));
    ORDO_TRY(validate_state(tree, state));
    return look_at_all(call, tree, state, found);
}

static ordo_status check(struct ordo_call *call, struct ordo_ltree *tree)
{
    cl_uint state[LTREE_STATE_WORDS], found[N_CHECKED];
    ORDO_TRY(look(call, tree, state, found));
    ORDO_TRY(validate_lists(tree, state));
    ORDO_TRY(validate_nodes(tree, found, false));
    return validate_count(tree, state, found);
}

static bool lags(const cl_uint state[LTREE_STATE_WORDS], const cl_uint found[N_CHECKED])
{
    bool any = state[LTREE_SPLITS_PENDING] != 0 || found[CHECKED_ELEMENTS] != state[LTREE_ELEMENTS];
    for (int f = 0; f < N_FINDINGS; f++)
        any = any || (is_lag(f) && found[f] != LTREE_NONE);
    for (int l = 0; l <= LTREE_LEVELS_MAX; l++)
        any = any || state[LTREE_DIRTY_NODES + l];
    return any;
}

/* Completes an interrupted change: if all nodes are valid and linked, adds missing entries and recounts the elements.
 * Otherwise returns ORDO_BROKEN. */
static ordo_status see_through(struct ordo_call *call, struct ordo_ltree *tree)
{
    cl_uint state[LTREE_STATE_WORDS], found[N_CHECKED];

    ORDO_TRY(ordo_ltree_read_state(call, tree, state));
    ORDO_TRY(validate_state(tree, state));
    ORDO_TRY(ordo_ltree_reclaim(call, tree, state));
    ORDO_TRY(look(call, tree, state, found));
    ORDO_TRY(validate_nodes(tree, found, true));
    if (!lags(state, found))
        return ORDO_OK;
    ORDO_TRY(ordo_ltree_rebuild_levels(call, tree, state));
    ORDO_TRY(
        ordo_call_fill(call, tree->state, LTREE_ELEMENTS * sizeof(cl_uint), sizeof(cl_uint), found[CHECKED_ELEMENTS]));
    return check(call, tree);
}

ordo_status ordo_ltree_validate(struct ordo_call *call, struct ordo_ltree *tree)
{
    if (tree->rescue.mem) {
        ORDO_TRY(ordo_call_changes(call));
        ORDO_TRY(ordo_ltree_bulk_build(call, tree, &tree->rescue, tree->config.fill_percent));
        ordo_runs_drop_spare(&tree->runs);
    }
    if (tree->unchecked && !tree->broken) {
        ORDO_TRY(ordo_call_changes(call));
        tree->in_order = tree->list.fresh = tree->counted = tree->underfull = false;
        tree->emptied = SIZE_MAX;
        tree->planned = true;
        const ordo_status status = see_through(call, tree);
        tree->broken = status == ORDO_BROKEN;
        tree->unchecked = status != ORDO_OK;
        ORDO_TRY(status);
    }
    if (tree->broken)
        return BROKEN(call->dev, "the tree was broken by a call that failed half way; build or clear it");
    return ORDO_OK;
}

ordo_status ordo_ltree_begin(struct ordo_call *call, struct ordo_ltree *tree)
{
    if (ordo_ltree_has_nodes(tree))
        return ordo_ltree_validate(call, tree);
    struct ordo_sorted_run empty = { .mem = NULL };
    ORDO_TRY(ordo_call_changes(call));
    return ordo_ltree_bulk_build(call, tree, &empty, tree->config.fill_percent);
}

void ordo_ltree_invalidate(ordo_dict *dict)
{
    ordo_ltree_of(dict)->unchecked = ordo_ltree_has_nodes(ordo_ltree_of(dict));
}

ordo_status ordo_ltree_check(ordo_dict *dict, struct ordo_call *call)
{
    struct ordo_ltree *tree = ordo_ltree_of(dict);
    ORDO_TRY(ordo_ltree_begin(call, tree));
    return check(call, tree);
}

ordo_status ordo_ltree_statistics(ordo_dict *dict, struct ordo_call *call, struct ordo_statistics *out)
{
    struct ordo_ltree *tree = ordo_ltree_of(dict);
    const size_t       kb = dict->key_bytes, vb = dict->value_bytes;
    cl_uint            state[LTREE_STATE_WORDS];

    *out = (struct ordo_statistics) { .bytes_peak = tree->bytes_peak,
                                      .cleanups = tree->rebuilds,
                                      .restarts = tree->restarts };
    if (!ordo_ltree_has_nodes(tree))
        return ORDO_OK;
    ORDO_TRY(ordo_ltree_validate(call, tree));
    ORDO_TRY(ordo_ltree_read_state(call, tree, state));
    const size_t words = tree->config.words, slots = ordo_ltree_slots(tree);
    const size_t leaf_bytes = words * kb + slots * vb, inner_bytes = words * kb + slots * sizeof(cl_uint);
    out->elements = state[LTREE_ELEMENTS];
    out->leaves = state[LTREE_LEAVES] - state[LTREE_DEAD];
    out->levels = (state[LTREE_ROOT] >> LTREE_LEVEL_SHIFT) + (size_t) 1;
    out->bytes_data = out->elements * (kb + vb);
    out->bytes_index = state[LTREE_INNER] * inner_bytes + (tree->list.capacity * 3 + 1) * sizeof(cl_uint);
    out->bytes_marks = out->leaves * leaf_bytes - out->bytes_data;
    out->bytes_spare = tree->bytes - out->bytes_data - out->bytes_index - out->bytes_marks;
    return ORDO_OK;
}
