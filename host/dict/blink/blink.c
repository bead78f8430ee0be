/* SPDX-License-Identifier: Apache-2.0 */
/* The B-link tree's pools of nodes, its bulk build, and its place behind the interface. */
#include "dict/blink/blink.h"

/* ---- launches ---------------------------------------------------------------------------------------------------- */

void ordo_blink_add_tree(struct ordo_args *args, const struct ordo_blink *tree)
{
    ORDO_ADD(args, ORDO_ARG(tree->leaf_keys), ORDO_ARG(tree->leaf_values), ORDO_ARG(tree->inner_keys),
             ORDO_ARG(tree->children), ORDO_ARG(tree->state), ORDO_ARG(tree->counts));
}

/* Work-items of a group; most work alone. */
#define GROUP 64

/* The largest group of at most `wanted` work-items, a power of two, that holds whole sub-groups; 1 if there is none. */
static size_t group_of(const struct ordo_blink *tree, size_t wanted, size_t sub_group)
{
    const size_t most = ordo_device_facts(tree->dict.dev)->max_group;
    while (wanted > most)
        wanted /= 2;
    return wanted < sub_group ? 1 : wanted;
}

struct ordo_blink_shape ordo_blink_flat(const struct ordo_blink *tree)
{
    return (struct ordo_blink_shape) { group_of(tree, GROUP, 1), 1, 0 };
}

struct ordo_blink_shape ordo_blink_teams(const struct ordo_blink *tree, size_t group)
{
    const size_t sub_group = ordo_device_facts(tree->dict.dev)->sub_group;
    group = group_of(tree, group ? group : GROUP, sub_group);
    return (struct ordo_blink_shape) { group, group < sub_group ? 1 : sub_group, 0 };
}

/* Lanes of a narrow team: each then holds 4 of a leaf's slots, 16 bytes of keys of 4 bytes. */
#define NARROW       8
#define NARROW_GROUP 128

struct ordo_blink_shape ordo_blink_narrow(const struct ordo_blink *tree)
{
    struct ordo_blink_shape shape = ordo_blink_teams(tree, NARROW_GROUP);
    shape.lanes = ordo_min_size(shape.lanes, NARROW);
    shape.items = 1;
    return shape;
}

/* More groups than this fill every device; work-items, or teams, then take several items. */
#define GROUPS_MAX ((size_t) 1 << 16)

ordo_status ordo_blink_launch(struct ordo_call *call, const struct ordo_blink *tree, const char *file, const char *name,
                              const struct ordo_blink_shape *shape, size_t items, const struct ordo_args *args)
{
    const struct ordo_define defines[] = {
        { "ORDO_KEY", tree->dict.key },
        { "ORDO_VALUE_BYTES", tree->dict.value_bytes },
        { "RUN_GROUP", (long) shape->group },
        { "BLINK_GROUP", (long) shape->group },
        { "TEAM_WIDTH", (long) shape->lanes },
        { "BLINK_ITEMS", shape->items ? (long) shape->items : 1 },
        { NULL, 0 },
    };
    const size_t        per_group = shape->items ? shape->group * shape->items : shape->group / shape->lanes;
    struct ordo_kernel *kernel = NULL;
    ORDO_TRY(ordo_call_kernel(call, file, name, defines, &kernel));
    return ordo_call_launch(call, kernel, ordo_min_size(ordo_ceil_div(items, per_group), GROUPS_MAX), shape->group,
                            args->arg, args->n);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

ordo_status ordo_blink_buffer(struct ordo_call *call, struct ordo_blink *tree, size_t bytes, cl_mem *out)
{
    ORDO_TRY(ordo_buffer_create(call->dev, bytes, out));
    tree->bytes += bytes;
    if (tree->bytes_peak < tree->bytes + tree->runs.bytes)
        tree->bytes_peak = tree->bytes + tree->runs.bytes;
    return ORDO_OK;
}

void ordo_blink_drop(struct ordo_blink *tree, cl_mem *mem, size_t bytes)
{
    if (!*mem)
        return;
    ordo_buffer_destroy(tree->dict.dev, mem);
    tree->bytes -= bytes;
}

/* ---- pools ------------------------------------------------------------------------------------------------------- */

struct pools {
    cl_mem leaf_keys, leaf_values, inner_keys, children, counts;
    size_t leaves, inner;
};

/* Bytes per node. */
static size_t line_bytes(const struct ordo_blink *tree)
{
    return BLINK_WORDS * tree->dict.key_bytes;
}
static size_t values_bytes(const struct ordo_blink *tree)
{
    return (size_t) BLINK_SLOTS * tree->dict.value_bytes;
}
#define CHILDREN_BYTES (BLINK_SLOTS * sizeof(cl_uint))

static struct pools pools_of(const struct ordo_blink *tree)
{
    return (struct pools) { tree->leaf_keys, tree->leaf_values,   tree->inner_keys,    tree->children,
                            tree->counts,    tree->leaf_capacity, tree->inner_capacity };
}

static void drop_pools(struct ordo_blink *tree, struct pools *pools)
{
    ordo_blink_drop(tree, &pools->leaf_keys, pools->leaves * line_bytes(tree));
    ordo_blink_drop(tree, &pools->leaf_values, pools->leaves * values_bytes(tree));
    ordo_blink_drop(tree, &pools->inner_keys, pools->inner * line_bytes(tree));
    ordo_blink_drop(tree, &pools->children, pools->inner * CHILDREN_BYTES);
    ordo_blink_drop(tree, &pools->counts, pools->leaves * sizeof(cl_uint));
}

static void use_pools(struct ordo_blink *tree, const struct pools *pools)
{
    struct pools old = pools_of(tree);
    tree->leaf_keys = pools->leaf_keys;
    tree->leaf_values = pools->leaf_values;
    tree->inner_keys = pools->inner_keys;
    tree->children = pools->children;
    tree->counts = pools->counts;
    tree->leaf_capacity = pools->leaves;
    tree->inner_capacity = pools->inner;
    drop_pools(tree, &old);
}

static ordo_status create_pools(struct ordo_call *call, struct ordo_blink *tree, struct pools *pools)
{
    ORDO_TRY(ordo_blink_buffer(call, tree, pools->leaves * line_bytes(tree), &pools->leaf_keys));
    if (tree->dict.value_bytes)
        ORDO_TRY(ordo_blink_buffer(call, tree, pools->leaves * values_bytes(tree), &pools->leaf_values));
    ORDO_TRY(ordo_blink_buffer(call, tree, pools->inner * line_bytes(tree), &pools->inner_keys));
    ORDO_TRY(ordo_blink_buffer(call, tree, pools->leaves * sizeof(cl_uint), &pools->counts));
    return ordo_blink_buffer(call, tree, pools->inner * CHILDREN_BYTES, &pools->children);
}

/* Leaves least: must be; most: would be good. */
static ordo_status make_pools(struct ordo_call *call, struct ordo_blink *tree, size_t least, size_t most,
                              struct pools *out)
{
    ordo_status status = ORDO_OK;
    for (size_t leaves = most;; leaves = least) {
        *out = (struct pools) { .leaves = leaves, .inner = leaves / 12 + 64 };
        status = create_pools(call, tree, out);
        if (status == ORDO_OK)
            return ORDO_OK;
        drop_pools(tree, out);
        if (leaves == least)
            break;
    }
    return status == ORDO_TOO_LARGE ? ORDO_NO_DEVICE_MEMORY : status;
}

/* Makes nodes from `leaves` and `inner` on unborn (B6). */
static ordo_status unbear(struct ordo_call *call, const struct ordo_blink *tree, const struct pools *pools,
                          size_t leaves, size_t inner)
{
    const size_t line = line_bytes(tree);
    ORDO_TRY(ordo_call_fill(call, pools->leaf_keys, leaves * line, (pools->leaves - leaves) * line, BLINK_UNBORN));
    ORDO_TRY(ordo_call_fill(call, pools->children, inner * CHILDREN_BYTES, (pools->inner - inner) * CHILDREN_BYTES,
                            BLINK_NONE));
    return ordo_call_fill(call, pools->inner_keys, inner * line, (pools->inner - inner) * line, BLINK_UNBORN);
}

static ordo_status copy_pools(struct ordo_call *call, const struct ordo_blink *tree, const struct pools *to,
                              size_t leaves, size_t inner)
{
    const struct pools from = pools_of(tree);
    ORDO_TRY(ordo_call_copy(call, from.leaf_keys, 0, to->leaf_keys, 0, leaves * line_bytes(tree)));
    if (tree->dict.value_bytes)
        ORDO_TRY(ordo_call_copy(call, from.leaf_values, 0, to->leaf_values, 0, leaves * values_bytes(tree)));
    ORDO_TRY(ordo_call_copy(call, from.counts, 0, to->counts, 0, leaves * sizeof(cl_uint)));
    ORDO_TRY(ordo_call_copy(call, from.inner_keys, 0, to->inner_keys, 0, inner * line_bytes(tree)));
    return ordo_call_copy(call, from.children, 0, to->children, 0, inner * CHILDREN_BYTES);
}

static ordo_status too_many_leaves(const struct ordo_blink *tree, size_t leaves)
{
    return ordo_fail(tree->dict.dev, ORDO_NO_DEVICE_MEMORY, 0, __FILE__, __LINE__,
                     "the tree would need %zu leaves, and may have %zu (max_leaves)", leaves, tree->config.max_leaves);
}

static bool is_capped(const struct ordo_blink *tree, size_t leaves)
{
    return tree->config.max_leaves > 0 && leaves > tree->config.max_leaves;
}

/* Reserve beside what is needed, so that not each batch copies the tree: a sixth, so that six times as much is
 * copied as is stored. */
static size_t with_reserve(const struct ordo_blink *tree, size_t leaves)
{
    const size_t more = leaves + leaves / 6 + 64;
    return is_capped(tree, more) ? tree->config.max_leaves : more;
}

ordo_status ordo_blink_reserve(struct ordo_call *call, struct ordo_blink *tree, const cl_uint *state, size_t leaves)
{
    struct pools more;
    if (is_capped(tree, leaves))
        return too_many_leaves(tree, leaves);
    if (leaves <= tree->leaf_capacity)
        return ORDO_OK;
    if (leaves >= BLINK_NONE)
        return ordo_fail(call->dev, ORDO_TOO_LARGE, 0, __FILE__, __LINE__, "%zu leaves", leaves);
    ORDO_TRY(make_pools(call, tree, leaves, with_reserve(tree, leaves), &more));
    ordo_status status = copy_pools(call, tree, &more, state[BLINK_LEAVES], state[BLINK_INNER]);
    if (status == ORDO_OK)
        status = unbear(call, tree, &more, state[BLINK_LEAVES], state[BLINK_INNER]);
    if (status != ORDO_OK) {
        drop_pools(tree, &more);
        return status;
    }
    use_pools(tree, &more);
    return ORDO_OK;
}

ordo_status ordo_blink_read_state(struct ordo_call *call, struct ordo_blink *tree, cl_uint state[BLINK_STATE_WORDS])
{
    ORDO_TRY(ordo_call_read(call, tree->state, 0, state, BLINK_STATE_WORDS * sizeof *state));
    if (state[BLINK_LEAVES] > tree->leaf_capacity)
        state[BLINK_LEAVES] = (cl_uint) tree->leaf_capacity;
    tree->leaves_most = state[BLINK_LEAVES];
    return ORDO_OK;
}

/* ---- bulk build -------------------------------------------------------------------------------------------------- */

#define BUILD_FILE "dict/blink/build.cl"

/* Of so many entries each that they are `fill` percent full. */
static size_t nodes_over(size_t entries, unsigned fill)
{
    return entries <= BLINK_SLOTS ? 1 : ordo_ceil_div(entries, (size_t) BLINK_SLOTS * fill / 100);
}

static ordo_status build_leaves(struct ordo_call *call, const struct ordo_blink *tree, struct ordo_slice keys,
                                struct ordo_slice values, size_t count, size_t n_leaves)
{
    const struct ordo_blink_shape shape = ordo_blink_flat(tree);
    const cl_uint                 n = (cl_uint) count, leaves = (cl_uint) n_leaves;
    struct ordo_args              args = { .n = 0 };
    ordo_blink_add_tree(&args, tree);
    ordo_args_slice(&args, &keys);
    ordo_args_slice(&args, &values);
    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(leaves));
    return ordo_blink_launch(call, tree, BUILD_FILE, "build_leaves", &shape, n_leaves * BLINK_WORDS, &args);
}

/* The levels above the leaves, up to one node. order: the leaves in order; NULL: as they are numbered. *root and
 * *inner: the root word, and how many inner nodes there are. */
static ordo_status build_above(struct ordo_call *call, const struct ordo_blink *tree, cl_mem order, size_t leaves,
                               unsigned fill, cl_uint *root, cl_uint *inner)
{
    static const cl_mem           as_numbered = NULL;
    const struct ordo_blink_shape shape = ordo_blink_flat(tree);
    cl_uint                       level = 0, first_child = 0, n = (cl_uint) leaves, first = 0;

    while (n > 1) {
        struct ordo_args args = { .n = 0 };
        const cl_uint    nodes = (cl_uint) nodes_over(n, fill);
        level++;
        ordo_blink_add_tree(&args, tree);
        ORDO_ADD(&args, ORDO_ARG(level), level == 1 ? ORDO_ARG(order) : ORDO_ARG(as_numbered), ORDO_ARG(first_child),
                 ORDO_ARG(n), ORDO_ARG(first), ORDO_ARG(nodes));
        ORDO_TRY(ordo_blink_launch(call, tree, BUILD_FILE, "build_inner", &shape, (size_t) nodes * BLINK_WORDS, &args));
        first_child = first;
        first += nodes;
        n = nodes;
    }
    *root = level << BLINK_LEVEL_SHIFT | first_child;
    *inner = first;
    return ORDO_OK;
}

static ordo_status build_state(struct ordo_call *call, const struct ordo_blink *tree, cl_uint root, size_t n_leaves,
                               cl_uint inner, size_t count)
{
    const struct ordo_blink_shape shape = { 1, 1, 0 };
    const cl_uint                 leaves = (cl_uint) n_leaves, elements = (cl_uint) count;
    struct ordo_args              args = { .n = 0 };
    ORDO_ADD(&args, ORDO_ARG(tree->state), ORDO_ARG(root), ORDO_ARG(leaves), ORDO_ARG(inner), ORDO_ARG(elements));
    return ordo_blink_launch(call, tree, BUILD_FILE, "build_state", &shape, 1, &args);
}

static ordo_status build_all(struct ordo_call *call, struct ordo_blink *tree, struct ordo_slice keys,
                             struct ordo_slice values, size_t count, size_t leaves, unsigned fill)
{
    const struct pools pools = pools_of(tree);
    cl_uint            root = 0, inner = 0;
    ORDO_TRY(build_leaves(call, tree, keys, values, count, leaves));
    ORDO_TRY(build_above(call, tree, NULL, leaves, fill, &root, &inner));
    ORDO_TRY(unbear(call, tree, &pools, leaves, inner));
    return build_state(call, tree, root, leaves, inner, count);
}

ordo_status ordo_blink_bulk_build(struct ordo_call *call, struct ordo_blink *tree, struct ordo_slice keys,
                                  struct ordo_slice values, size_t count, unsigned fill)
{
    const size_t leaves = nodes_over(count, fill);
    const size_t wanted = fill < tree->config.fill_percent ? with_reserve(tree, leaves) : leaves + leaves / 64;
    struct pools pools;

    if (is_capped(tree, leaves))
        return too_many_leaves(tree, leaves);
    if (!tree->state)
        ORDO_TRY(ordo_blink_buffer(call, tree, BLINK_STATE_WORDS * sizeof(cl_uint), &tree->state));
    /* The pools that are there serve if they are large enough, and not much too large. */
    if (leaves > tree->leaf_capacity || tree->leaf_capacity > with_reserve(tree, wanted)) {
        ORDO_TRY(make_pools(call, tree, leaves, is_capped(tree, wanted) ? leaves : wanted, &pools));
        use_pools(tree, &pools);
    }
    tree->in_doubt = true;
    ORDO_TRY(build_all(call, tree, keys, values, count, leaves, fill));
    tree->in_doubt = tree->broken = tree->list.fresh = tree->counted = tree->planned = tree->hollow = false;
    tree->in_order = true;
    tree->leaves_most = leaves;
    return ORDO_OK;
}

ordo_status ordo_blink_count_leaves(struct ordo_call *call, const struct ordo_blink *tree)
{
    const struct ordo_blink_shape shape = ordo_blink_flat(tree);
    const cl_uint                 capacity = (cl_uint) tree->leaf_capacity;
    struct ordo_args              args = { .n = 0 };
    ordo_blink_add_tree(&args, tree);
    ORDO_ADD(&args, ORDO_ARG(capacity));
    return ordo_blink_launch(call, tree, BUILD_FILE, "count_leaves", &shape, tree->leaf_capacity, &args);
}

ordo_status ordo_blink_mend(struct ordo_call *call, struct ordo_blink *tree, const cl_uint *state)
{
    const struct pools pools = pools_of(tree);
    const size_t       leaves = state[BLINK_LEAVES];
    cl_uint            root = 0, inner = 0;
    ORDO_TRY(ordo_blink_list_leaves(call, tree));
    ORDO_TRY(build_above(call, tree, tree->list.order, leaves, tree->config.fill_percent, &root, &inner));
    ORDO_TRY(unbear(call, tree, &pools, leaves, inner));
    return build_state(call, tree, root, leaves, inner, state[BLINK_ELEMENTS]);
}

ordo_status ordo_blink_begin(struct ordo_call *call, struct ordo_blink *tree)
{
    if (ordo_blink_has_nodes(tree))
        return ordo_blink_trust(call, tree);
    return ordo_blink_bulk_build(call, tree, ordo_none(), ordo_none(), 0, tree->config.fill_percent);
}

/* ---- the structure ----------------------------------------------------------------------------------------------- */

static void clear(ordo_dict *dict)
{
    struct ordo_blink *tree = ordo_blink_of(dict);
    const struct pools none = { NULL };
    use_pools(tree, &none);
    ordo_blink_drop(tree, &tree->state, BLINK_STATE_WORDS * sizeof(cl_uint));
    ordo_blink_drop_list(tree);
    ordo_runs_clear(&tree->runs.dict);
    tree->leaves_most = 0;
    tree->in_doubt = tree->broken = tree->hollow = false;
}

static const struct ordo_structure blink = {
    .name = "blink",
    .destroy = clear,
    .clear = clear,
    .build = ordo_blink_build,
    .update = ordo_blink_update,
    .update_sorted = ordo_blink_update_sorted,
    .apply_concurrent = ordo_blink_apply_concurrent,
    .compact = ordo_blink_compact,
    .find = ordo_blink_find,
    .count = ordo_blink_count,
    .range = ordo_blink_range,
    .seek = ordo_blink_seek,
    .size = ordo_blink_size,
    .export_all = ordo_blink_export,
    .check = ordo_blink_check,
    .statistics = ordo_blink_statistics,
};

ordo_status ordo_blink_create(ordo_device *device, const struct ordo_blink_config *config, ordo_dict **out)
{
    ORDO_TRY(ordo_dict_create(device, &blink, config ? &config->dict : NULL, sizeof(struct ordo_blink), out));
    struct ordo_blink *tree = ordo_blink_of(*out);
    tree->config = *config;
    if (config->fill_percent == 0)
        tree->config.fill_percent = 90;
    /* Runs of the same kind, for rebuilding: never called by itself. */
    tree->runs.dict = tree->dict;
    if (tree->config.fill_percent >= 50 && tree->config.fill_percent <= 100)
        return ORDO_OK;
    ordo_dict_destroy(out);
    return ordo_fail(device, ORDO_INVALID, 0, __FILE__, __LINE__, "fill_percent %u: from 50 to 100",
                     config->fill_percent);
}
