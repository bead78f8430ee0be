/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/ltree/ltree.h"

struct ordo_args ordo_ltree_args(const struct ordo_ltree *tree)
{
    struct ordo_args args = { .n = 0 };
    ORDO_ADD(&args, ORDO_ARG(tree->pools.leaf_keys), ORDO_ARG(tree->pools.leaf_values),
             ORDO_ARG(tree->pools.inner_keys), ORDO_ARG(tree->pools.children), ORDO_ARG(tree->state),
             ORDO_ARG(tree->pools.counts));
    return args;
}

#define GROUP 64

static size_t group_of(const struct ordo_ltree *tree, size_t wanted, size_t sub_group)
{
    const size_t most = ordo_device_facts(tree->dict.dev)->max_group;
    while (wanted > most)
        wanted /= 2;
    return wanted < sub_group ? 1 : wanted;
}

struct ordo_ltree_shape ordo_ltree_flat(const struct ordo_ltree *tree)
{
    return (struct ordo_ltree_shape) { group_of(tree, GROUP, 1), 1, 0 };
}

struct ordo_ltree_shape ordo_ltree_teams(const struct ordo_ltree *tree, size_t group)
{
    const size_t sub_group = ordo_device_facts(tree->dict.dev)->sub_group;
    group = group_of(tree, group ? group : GROUP, sub_group);
    return (struct ordo_ltree_shape) { group, group < sub_group ? 1 : sub_group, 0 };
}

/* Returns the number of lanes in a team. Teams take different branches. But Khronos sub-group functions require that
 * all lanes of a sub-group take the same branch. With these functions, a team of several lanes is a whole sub-group. */
static size_t operation_lanes(const struct ordo_ltree *tree, size_t group)
{
    const struct ordo_facts *facts = ordo_device_facts(tree->dict.dev);
    const enum ordo_shape    data = ordo_shape_of(tree->dict.key_bytes, tree->dict.value_bytes);
    const size_t             lanes = ordo_tunable(tree->dict.dev, ORDO_LTREE_LANES, data);

    if (lanes == 1 || group < facts->sub_group)
        return 1;
    return facts->lanes == ORDO_LANES_KHR ? facts->sub_group : ordo_min_size(lanes, facts->sub_group);
}

struct ordo_ltree_shape ordo_ltree_operations(const struct ordo_ltree *tree)
{
    const enum ordo_shape data = ordo_shape_of(tree->dict.key_bytes, tree->dict.value_bytes);
    const size_t          group = group_of(tree, ordo_tunable(tree->dict.dev, ORDO_LTREE_GROUP, data), 1);
    return (struct ordo_ltree_shape) { group, operation_lanes(tree, group), 0 };
}

struct ordo_ltree_shape ordo_ltree_operations_alone(const struct ordo_ltree *tree)
{
    const struct ordo_facts *facts = ordo_device_facts(tree->dict.dev);
    const size_t             lanes = ordo_ltree_operations(tree).lanes;
    const bool               is_team = lanes == facts->sub_group && facts->atomics != ORDO_ATOMICS_LEGACY;
    return (struct ordo_ltree_shape) { is_team ? lanes : 1, is_team ? lanes : 1, 0 };
}

#define NARROW_WORDS ((size_t) 4)

struct ordo_ltree_shape ordo_ltree_narrow(const struct ordo_ltree *tree, size_t group)
{
    struct ordo_ltree_shape shape = ordo_ltree_teams(tree, group);
    shape.lanes = ordo_min_size(shape.lanes, tree->config.words / NARROW_WORDS);
    shape.items = 1;
    return shape;
}

struct ordo_ltree_shape ordo_ltree_search_shape(const struct ordo_ltree *tree)
{
    const ordo_device      *dev = tree->dict.dev;
    const enum ordo_shape   data = ordo_shape_of(tree->dict.key_bytes, tree->dict.value_bytes);
    struct ordo_ltree_shape shape = { ordo_group_of(dev, ORDO_BLINK_GROUP, data), 1,
                                      ordo_tunable(dev, ORDO_BLINK_ITEMS, data) };
    if (shape.group > 1)
        shape.lanes = ordo_min_size(ordo_tunable(dev, ORDO_BLINK_LANES, data), ordo_device_facts(dev)->sub_group);
    shape.lanes = ordo_min_size(shape.lanes, tree->config.words / NARROW_WORDS);
    return shape;
}

#define GROUPS_MAX ((size_t) 1 << 16)

struct ordo_launch ordo_ltree_kernel(const struct ordo_ltree *tree, const char *file, const char *kernel,
                                     struct ordo_ltree_shape shape, size_t items)
{
    const size_t       per_group = shape.items ? shape.group * shape.items : shape.group / shape.lanes;
    struct ordo_launch launch = {
        .file = file,
        .kernel = kernel,
        .groups = ordo_min_size(ordo_ceil_div(items, per_group), GROUPS_MAX),
        .group = shape.group,
        .defines = { { "ORDO_KEY", tree->dict.key },
                     { "ORDO_VALUE_BYTES", tree->dict.value_bytes },
                     { "RUN_GROUP", (long) shape.group },
                     { "LTREE_GROUP", (long) shape.group },
                     { "TEAM_WIDTH", (long) shape.lanes },
                     { "LTREE_ITEMS", shape.items ? (long) shape.items : 1 } },
    };
    if (tree->config.words != LTREE_WORDS_USUAL)
        ordo_launch_define(&launch, "LTREE_WORDS", (long) tree->config.words);
    return launch;
}

void ordo_ltree_define_combines(struct ordo_launch *launch, const struct ordo_combines *c)
{
    if (!c)
        return;
    /* Signed and unsigned sums have the same bits. One kernel thus computes both. */
    const ordo_type sum = ordo_type_bytes(c->value) == 8 ? ORDO_U64 : ORDO_U32;
    ordo_launch_define(launch, "COMBINE_TYPE", (long) (c->op == ORDO_SUM ? sum : c->value));
    ordo_launch_define(launch, "COMBINE_OP", (long) c->op);
}
