/* SPDX-License-Identifier: Apache-2.0 */
/* The slots of inner nodes that hold no entry. */
#include "history_run.h"

#include "dict/ltree/ltree.h"

/* Inner nodes, read from the device. */
struct inner_nodes {
    size_t    line_bytes, slots;
    cl_uint   state[LTREE_STATE_WORDS];
    uint8_t  *lines, *level; /* level of each node; 0: none */
    uint32_t *children;
};

static ordo_status read_inner(const struct run *r, struct ordo_call *call, struct inner_nodes *in)
{
    const struct ordo_ltree *tree = ordo_ltree_of(r->dict);

    ORDO_TRY(ordo_call_read(call, tree->state, 0, in->state, sizeof in->state));
    const size_t n = in->state[LTREE_INNER];
    in->slots = ordo_ltree_slots(tree);
    in->line_bytes = tree->config.words * r->key_bytes;
    in->lines = test_alloc(n * in->line_bytes);
    in->children = test_alloc(n * in->slots * sizeof(uint32_t));
    in->level = test_alloc(n);
    memset(in->level, 0, n);
    ORDO_TRY(ordo_call_read(call, tree->pools.inner_keys, 0, in->lines, n * in->line_bytes));
    return ordo_call_read(call, tree->pools.children, 0, in->children, n * in->slots * sizeof(uint32_t));
}

static uint32_t entries_of(const struct run *r, const struct inner_nodes *in, size_t node)
{
    return (uint32_t) read_key(in->lines + node * in->line_bytes, r->key_bytes, in->slots + LTREE_AT_HEADER) &
           LTREE_COUNT_MASK;
}

/* Finds the level of each node that the root reaches. */
static void find_levels(const struct run *r, struct inner_nodes *in)
{
    const uint32_t n = in->state[LTREE_INNER], root = in->state[LTREE_ROOT] & LTREE_NODE_MASK;
    const uint32_t levels = in->state[LTREE_ROOT] >> LTREE_LEVEL_SHIFT;

    if (levels > 0)
        in->level[root] = (uint8_t) levels;
    for (uint32_t level = levels; level > 1; level--)
        for (uint32_t node = 0; node < n; node++)
            for (uint32_t s = 0; in->level[node] == level && s < entries_of(r, in, node); s++)
                in->level[in->children[node * in->slots + s]] = (uint8_t) (level - 1);
}

static bool is_of_level_below(const struct inner_nodes *in, uint32_t child, uint32_t level)
{
    if (level == 1)
        return child < in->state[LTREE_LEAVES];
    return child < in->state[LTREE_INNER] && in->level[child] == level - 1;
}

static bool check_slots(struct run *r, const struct inner_nodes *in)
{
    for (uint32_t node = 0; node < in->state[LTREE_INNER]; node++)
        for (uint32_t s = entries_of(r, in, node); in->level[node] > 0 && s < in->slots; s++) {
            const uint32_t child = in->children[node * in->slots + s], level = in->level[node];
            if (child != LTREE_NONE && !is_of_level_below(in, child, level))
                return is_wrong(r, "inner node %u of level %u has %u in slot %u, which is not used", node, level, child,
                                s);
        }
    return true;
}

bool check_unused_slots(struct run *r)
{
    struct inner_nodes in = { .lines = NULL };
    struct ordo_call   call;

    test_ok(r->t, ordo_call_begin(&call, r->t->dev, NULL));
    test_ok(r->t, ordo_call_end(&call, read_inner(r, &call, &in)));
    find_levels(r, &in);
    const bool good = check_slots(r, &in);
    free(in.lines);
    free(in.children);
    free(in.level);
    return good;
}
