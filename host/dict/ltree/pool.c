/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/ltree/ltree.h"

ordo_status ordo_ltree_buffer(struct ordo_call *call, struct ordo_ltree *tree, size_t bytes, cl_mem *out)
{
    ORDO_TRY(ordo_buffer_create(call->dev, bytes, out));
    tree->bytes += bytes;
    if (tree->bytes_peak < tree->bytes + tree->runs.bytes)
        tree->bytes_peak = tree->bytes + tree->runs.bytes;
    return ORDO_OK;
}

void ordo_ltree_drop(struct ordo_ltree *tree, cl_mem *mem, size_t bytes)
{
    if (!*mem)
        return;
    ordo_buffer_destroy(tree->dict.dev, mem);
    tree->bytes -= bytes;
}

static size_t line_bytes(const struct ordo_ltree *tree)
{
    return (size_t) tree->config.words * tree->dict.key_bytes;
}
static size_t values_bytes(const struct ordo_ltree *tree)
{
    return ordo_ltree_slots(tree) * tree->dict.value_bytes;
}
static size_t children_bytes(const struct ordo_ltree *tree)
{
    return ordo_ltree_slots(tree) * sizeof(cl_uint);
}

static size_t dirty_bytes(const struct ordo_ltree_pools *pools)
{
    return (pools->inner + 1) * sizeof(cl_uint);
}

void ordo_ltree_drop_pools(struct ordo_ltree *tree, struct ordo_ltree_pools *pools)
{
    ordo_ltree_drop(tree, &pools->leaf_keys, pools->leaves * line_bytes(tree));
    ordo_ltree_drop(tree, &pools->leaf_values, pools->leaves * values_bytes(tree));
    ordo_ltree_drop(tree, &pools->inner_keys, pools->inner * line_bytes(tree));
    ordo_ltree_drop(tree, &pools->children, pools->inner * children_bytes(tree));
    ordo_ltree_drop(tree, &pools->counts, pools->leaves * sizeof(cl_uint));
    for (int i = 0; i < 2; i++)
        ordo_ltree_drop(tree, &pools->dirty[i], dirty_bytes(pools));
}

void ordo_ltree_use_pools(struct ordo_ltree *tree, const struct ordo_ltree_pools *pools)
{
    struct ordo_ltree_pools old = tree->pools;
    if (old.leaf_keys == pools->leaf_keys)
        return;
    tree->pools = *pools;
    ordo_ltree_drop_pools(tree, &old);
}

static ordo_status create_pools(struct ordo_call *call, struct ordo_ltree *tree, struct ordo_ltree_pools *pools)
{
    if (pools->inner > LTREE_NODE_MASK)
        return ORDO_FAIL(call->dev, ORDO_TOO_LARGE, "%zu inner nodes: the root's word has no number for such",
                         pools->inner);
    ORDO_TRY(ordo_ltree_buffer(call, tree, pools->leaves * line_bytes(tree), &pools->leaf_keys));
    if (tree->dict.value_bytes)
        ORDO_TRY(ordo_ltree_buffer(call, tree, pools->leaves * values_bytes(tree), &pools->leaf_values));
    ORDO_TRY(ordo_ltree_buffer(call, tree, pools->inner * line_bytes(tree), &pools->inner_keys));
    ORDO_TRY(ordo_ltree_buffer(call, tree, pools->leaves * sizeof(cl_uint), &pools->counts));
    for (int i = 0; i < 2; i++)
        ORDO_TRY(ordo_ltree_buffer(call, tree, dirty_bytes(pools), &pools->dirty[i]));
    return ordo_ltree_buffer(call, tree, pools->inner * children_bytes(tree), &pools->children);
}

static ordo_status make_pools(struct ordo_call *call, struct ordo_ltree *tree, size_t least, size_t most,
                              struct ordo_ltree_pools *out)
{
    ordo_status status = ORDO_OK;
    for (size_t leaves = most;; leaves = least) {
        *out = (struct ordo_ltree_pools) { .leaves = leaves, .inner = leaves / ordo_ltree_share(tree) + 64 };
        status = create_pools(call, tree, out);
        if (status == ORDO_OK)
            return ORDO_OK;
        ordo_ltree_drop_pools(tree, out);
        if (leaves == least)
            break;
    }
    return status;
}

static ordo_status mark_free(struct ordo_call *call, const struct ordo_ltree *tree,
                             const struct ordo_ltree_pools *pools, size_t leaves, size_t inner)
{
    const size_t line = line_bytes(tree), children = children_bytes(tree);
    ORDO_TRY(ordo_call_fill(call, pools->leaf_keys, leaves * line, (pools->leaves - leaves) * line, LTREE_FREE));
    ORDO_TRY(ordo_call_fill(call, pools->children, inner * children, (pools->inner - inner) * children, LTREE_NONE));
    return ordo_call_fill(call, pools->inner_keys, inner * line, (pools->inner - inner) * line, LTREE_FREE);
}

static ordo_status copy_pools(struct ordo_call *call, const struct ordo_ltree *tree, const struct ordo_ltree_pools *to,
                              size_t leaves, size_t inner)
{
    const struct ordo_ltree_pools from = tree->pools;
    ORDO_TRY(ordo_call_copy(call, from.leaf_keys, 0, to->leaf_keys, 0, leaves * line_bytes(tree)));
    if (tree->dict.value_bytes)
        ORDO_TRY(ordo_call_copy(call, from.leaf_values, 0, to->leaf_values, 0, leaves * values_bytes(tree)));
    ORDO_TRY(ordo_call_copy(call, from.counts, 0, to->counts, 0, leaves * sizeof(cl_uint)));
    ORDO_TRY(ordo_call_copy(call, from.inner_keys, 0, to->inner_keys, 0, inner * line_bytes(tree)));
    return ordo_call_copy(call, from.children, 0, to->children, 0, inner * children_bytes(tree));
}

static ordo_status too_many_leaves(const struct ordo_ltree *tree, size_t leaves)
{
    const char *what = tree->config.merges ? "chunks" : "leaves";

    return ORDO_FAIL(tree->dict.dev, ORDO_NO_DEVICE_MEMORY, "the %s would need %zu %s, and may have %zu (max_%s)",
                     ordo_dict_name(&tree->dict), leaves, what, tree->config.max_leaves, what);
}

size_t ordo_ltree_leaves_allowed(const struct ordo_ltree *tree, size_t dead)
{
    return tree->config.max_leaves > 0 ? tree->config.max_leaves + dead : LTREE_NONE;
}

size_t ordo_ltree_room(const struct ordo_ltree *tree)
{
    const size_t leaves = ordo_min_size(tree->pools.leaves, ordo_ltree_leaves_allowed(tree, 0));
    return leaves - ordo_min_size(leaves, tree->leaves_max);
}

/* Without a reserve, each batch that adds leaves would move the tree to larger buffers. */
static size_t with_reserve(size_t leaves, size_t most)
{
    return ordo_min_size(leaves + leaves / 6 + 64, most);
}

static ordo_status move_to(struct ordo_call *call, struct ordo_ltree *tree, const cl_uint *state, size_t leaves,
                           size_t wanted)
{
    struct ordo_ltree_pools pools;
    ORDO_TRY(make_pools(call, tree, leaves, wanted, &pools));
    ordo_status status = copy_pools(call, tree, &pools, state[LTREE_LEAVES], state[LTREE_INNER]);
    if (status == ORDO_OK)
        status = mark_free(call, tree, &pools, state[LTREE_LEAVES], state[LTREE_INNER]);
    if (status != ORDO_OK) {
        ordo_ltree_drop_pools(tree, &pools);
        return status;
    }
    ordo_ltree_use_pools(tree, &pools);
    return ORDO_OK;
}

ordo_status ordo_ltree_reserve(struct ordo_call *call, struct ordo_ltree *tree, const cl_uint *state, size_t leaves)
{
    const size_t most = ordo_ltree_leaves_allowed(tree, state[LTREE_DEAD]);

    if (leaves <= tree->pools.leaves)
        return ORDO_OK;
    if (leaves > most && tree->config.max_leaves > 0)
        return too_many_leaves(tree, leaves - state[LTREE_DEAD]);
    if (leaves >= LTREE_NONE)
        return ORDO_FAIL(call->dev, ORDO_TOO_LARGE, "%zu leaves", leaves);
    return move_to(call, tree, state, leaves, with_reserve(leaves, most));
}

ordo_status ordo_ltree_shrink(struct ordo_call *call, struct ordo_ltree *tree, const cl_uint *state)
{
    const size_t leaves = ordo_min_size(state[LTREE_LEAVES] + (size_t) state[LTREE_LEAVES] / 16,
                                        ordo_ltree_leaves_allowed(tree, state[LTREE_DEAD]));

    return leaves < tree->pools.leaves ? move_to(call, tree, state, leaves, leaves) : ORDO_OK;
}

ordo_status ordo_ltree_mark_free(struct ordo_call *call, const struct ordo_ltree *tree, size_t leaves, size_t inner)
{
    return mark_free(call, tree, &tree->pools, leaves, inner);
}

ordo_status ordo_ltree_renew_pools(struct ordo_call *call, struct ordo_ltree *tree, size_t leaves, bool reserve)
{
    const size_t            most = ordo_ltree_leaves_allowed(tree, 0);
    const size_t            wanted = reserve ? with_reserve(leaves, most) : ordo_min_size(leaves + leaves / 64, most);
    struct ordo_ltree_pools pools;

    if (leaves > most)
        return too_many_leaves(tree, leaves);
    if (!tree->state)
        ORDO_TRY(ordo_ltree_buffer(call, tree, LTREE_STATE_WORDS * sizeof(cl_uint), &tree->state));
    if (leaves <= tree->pools.leaves && tree->pools.leaves <= with_reserve(wanted, most))
        return ORDO_OK;
    ORDO_TRY(make_pools(call, tree, leaves, wanted, &pools));
    tree->pools = pools;
    return ORDO_OK;
}

/* A dry run assumes a tree of two levels, to list the kernels of inner nodes too. */
static void assume_levels(const struct ordo_call *call, cl_uint state[LTREE_STATE_WORDS])
{
    if (!ordo_is_dry_run(call->dev))
        return;
    state[LTREE_ROOT] = 1u << LTREE_LEVEL_SHIFT;
    state[LTREE_INNER] = 1;
}

ordo_status ordo_ltree_read_state(struct ordo_call *call, struct ordo_ltree *tree, cl_uint state[LTREE_STATE_WORDS])
{
    ORDO_TRY(ordo_call_read_after_change(call, tree->state, 0, state, LTREE_STATE_WORDS * sizeof *state));
    assume_levels(call, state);
    tree->leaves_max = state[LTREE_LEAVES];
    tree->elements_max = state[LTREE_ELEMENTS];
    if (tree->emptied < state[LTREE_EMPTIED])
        tree->emptied = state[LTREE_EMPTIED];
    return ORDO_OK;
}

ordo_status ordo_ltree_check_count(struct ordo_call *call, struct ordo_ltree *tree, size_t stores)
{
    cl_uint state[LTREE_STATE_WORDS];

    if (tree->elements_max + stores > ORDO_MAX_COUNT)
        ORDO_TRY(ordo_ltree_read_state(call, tree, state));
    if (tree->elements_max + stores > ORDO_MAX_COUNT)
        return ORDO_FAIL(call->dev, ORDO_TOO_LARGE,
                         "the tree has %zu elements: %zu more, if all are new, are more than it can count",
                         tree->elements_max, stores);
    return ORDO_OK;
}
