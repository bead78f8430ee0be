/* SPDX-License-Identifier: Apache-2.0 */
/* How kernels of a linked tree are cut and launched. */
#include "dict/links/links.h"

void ordo_links_add_tree(struct ordo_args *args, const struct ordo_links *tree)
{
    ORDO_ADD(args, ORDO_ARG(tree->pools.leaf_keys), ORDO_ARG(tree->pools.leaf_values), ORDO_ARG(tree->pools.inner_keys),
             ORDO_ARG(tree->pools.children), ORDO_ARG(tree->state), ORDO_ARG(tree->pools.counts));
}

/* Work-items of a group; most work alone. */
#define GROUP 64

/* The largest group of at most `wanted` work-items, a power of two, that holds whole sub-groups; 1 if there is none. */
static size_t group_of(const struct ordo_links *tree, size_t wanted, size_t sub_group)
{
    const size_t most = ordo_device_facts(tree->dict.dev)->max_group;
    while (wanted > most)
        wanted /= 2;
    return wanted < sub_group ? 1 : wanted;
}

struct ordo_links_shape ordo_links_flat(const struct ordo_links *tree)
{
    return (struct ordo_links_shape) { group_of(tree, GROUP, 1), 1, 0 };
}

struct ordo_links_shape ordo_links_teams(const struct ordo_links *tree, size_t group)
{
    const size_t sub_group = ordo_device_facts(tree->dict.dev)->sub_group;
    group = group_of(tree, group ? group : GROUP, sub_group);
    return (struct ordo_links_shape) { group, group < sub_group ? 1 : sub_group, 0 };
}

size_t ordo_links_operations_group(const struct ordo_links *tree)
{
    const enum ordo_shape data = ordo_shape_of(tree->dict.key_bytes, tree->dict.value_bytes);
    return group_of(tree, ordo_tunable(tree->dict.dev, ORDO_LINKS_GROUP, data), 1);
}

/* A lane of a narrow team, or of a search, has so many of a node's words, 16 bytes of keys of 4 bytes. */
#define NARROW_WORDS ((size_t) 4)
#define NARROW_GROUP 128

struct ordo_links_shape ordo_links_narrow(const struct ordo_links *tree)
{
    struct ordo_links_shape shape = ordo_links_teams(tree, NARROW_GROUP);
    shape.lanes = ordo_min_size(shape.lanes, tree->config.words / NARROW_WORDS);
    shape.items = 1;
    return shape;
}

struct ordo_links_shape ordo_links_search_shape(const struct ordo_links *tree)
{
    const ordo_device      *dev = tree->dict.dev;
    const enum ordo_shape   data = ordo_shape_of(tree->dict.key_bytes, tree->dict.value_bytes);
    struct ordo_links_shape shape = { ordo_group_of(dev, ORDO_BLINK_GROUP, data), 1,
                                      ordo_tunable(dev, ORDO_BLINK_ITEMS, data) };
    if (shape.group > 1)
        shape.lanes = ordo_min_size(ordo_tunable(dev, ORDO_BLINK_LANES, data), ordo_device_facts(dev)->sub_group);
    shape.lanes = ordo_min_size(shape.lanes, tree->config.words / NARROW_WORDS);
    return shape;
}

/* More groups than this fill every device; work-items, or teams, then take several items. */
#define GROUPS_MAX ((size_t) 1 << 16)

/* Sums are the same of all integers of one size. */
static long number_type(const struct ordo_combines *c)
{
    return c->op != ORDO_SUM ? (long) c->value : ordo_type_bytes(c->value) == 8 ? ORDO_U64 : ORDO_U32;
}

ordo_status ordo_links_launch_combining(struct ordo_call *call, const struct ordo_links *tree, const char *file,
                                        const char *name, const struct ordo_combines *combines,
                                        const struct ordo_links_shape *shape, size_t items,
                                        const struct ordo_args *args)
{
    struct ordo_define defines[6 + 3 + 1] = {
        { "ORDO_KEY", tree->dict.key },        { "ORDO_VALUE_BYTES", tree->dict.value_bytes },
        { "RUN_GROUP", (long) shape->group },  { "LINKS_GROUP", (long) shape->group },
        { "TEAM_WIDTH", (long) shape->lanes }, { "LINKS_ITEMS", shape->items ? (long) shape->items : 1 },
    };
    struct ordo_define *next = defines + 6;
    if (combines) {
        *next++ = (struct ordo_define) { "COMBINE_TYPE", number_type(combines) };
        *next++ = (struct ordo_define) { "COMBINE_OP", (long) combines->op };
    }
    *next = ordo_links_words_define(tree);
    const size_t        per_group = shape->items ? shape->group * shape->items : shape->group / shape->lanes;
    struct ordo_kernel *kernel = NULL;
    ORDO_TRY(ordo_call_kernel(call, file, name, defines, &kernel));
    return ordo_call_launch_kernel(call, kernel, ordo_min_size(ordo_ceil_div(items, per_group), GROUPS_MAX),
                                   shape->group, args->arg, args->n);
}

ordo_status ordo_links_launch(struct ordo_call *call, const struct ordo_links *tree, const char *file, const char *name,
                              const struct ordo_links_shape *shape, size_t items, const struct ordo_args *args)
{
    return ordo_links_launch_combining(call, tree, file, name, NULL, shape, items, args);
}
