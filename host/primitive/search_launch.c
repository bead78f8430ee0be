/* SPDX-License-Identifier: Apache-2.0 */
/* Launches the search kernels for queries that are already in the wanted order (search_order.c). */
#include "primitive/search.h"

#include "shared/search.h"

#include <assert.h>

static size_t floor_log2(size_t n)
{
    size_t log2 = 0;
    while (n >> log2 > 1)
        log2++;
    return log2;
}

static size_t ceil_log2(size_t n)
{
    return n > 1 ? floor_log2(n - 1) + 1 : 0;
}

/* ---- the kernels' shape -------------------------------------------------------------------------------------- */

/* If `local` is true, each work-group copies keys to local memory. It is false on CPUs. */
struct shape {
    bool   local;
    size_t group;
    size_t items;
    size_t depth_max; /* Local memory has space for 2^depth_max keys. */
    size_t tiles;
    size_t resident;
};

/* Assumed number of concurrent work-items per compute unit. */
#define RESIDENT_ITEMS 2048

static enum ordo_shape data_of(const struct ordo_search *s)
{
    return ordo_shape_of(ordo_type_bytes(s->key), s->value_bytes);
}

/* Maximum queries that a work-item of a GPU keeps in registers. */
#define GPU_ITEMS_MAX 16

static size_t search_items(const ordo_device *dev, const struct ordo_search *s)
{
    const size_t wanted = ordo_tunable(dev, ORDO_SEARCH_ITEMS, data_of(s));

    return ordo_device_facts(dev)->cpu ? wanted : ordo_min_size(wanted, GPU_ITEMS_MAX);
}

/* With 16-byte keys, an H200 finds 15.1 G keys/s in 2^24 keys through an index with groups of 64 or 128, 13.9 G with
 * 256. */
static size_t search_group(const ordo_device *dev, const struct ordo_search *s)
{
    const size_t group = ordo_group_of(dev, ORDO_SEARCH_GROUP, data_of(s));

    return s->index && ordo_type_bytes(s->key) == 16 && group >= 256 ? group / 4 : group;
}

static struct shape choose_shape(const ordo_device *dev, const struct ordo_search *s, size_t items)
{
    const struct ordo_facts *facts = ordo_device_facts(dev);
    const size_t             key_bytes = ordo_type_bytes(s->key);
    struct shape             shape = { .group = search_group(dev, s), .items = items };

    while (!facts->cpu && shape.group > 1 && 2 * SEARCH_NARROW_BYTES(shape.group) > facts->local_bytes)
        shape.group = shape.group / 2 < facts->sub_group ? 1 : shape.group / 2;
    shape.local = !facts->cpu && shape.group > 1;
    if (shape.local)
        shape.depth_max =
            floor_log2(ordo_min_size(ordo_tunable(dev, ORDO_SEARCH_LOCAL, data_of(s)),
                                     (facts->local_bytes - SEARCH_NARROW_BYTES(shape.group)) / key_bytes));
    assert(shape.group > 0 && shape.items > 0);
    shape.tiles = ordo_ceil_div(s->n_queries, shape.group * shape.items);
    shape.resident = facts->compute_units * ordo_ceil_div(RESIDENT_ITEMS, shape.group);
    shape.resident = ordo_min_size(shape.resident, shape.tiles);
    return shape;
}

#define GROUPS_PER_UNIT 256

/* Kernels add the number of groups to a tile's number. The sum must fit in 32 bits. */
#define GROUPS_MAX ((size_t) 1 << 24)

/* On GPUs, each group first copies 2^depth keys. So it should then search for at least 2^depth queries. */
static size_t groups_for(const ordo_device *dev, const struct ordo_search *s, const struct shape *shape, size_t depth)
{
    const struct ordo_facts *facts = ordo_device_facts(dev);
    const size_t             groups = s->n_queries >> depth;

    if (facts->cpu)
        return ordo_min_size(shape->tiles, (size_t) facts->compute_units * GROUPS_PER_UNIT);
    if (!shape->local || groups > shape->tiles)
        return ordo_min_size(shape->tiles, GROUPS_MAX);
    return ordo_min_size(groups < shape->resident ? shape->resident : groups, GROUPS_MAX);
}

static uint32_t packed_bytes(const struct ordo_search *s)
{
    const ordo_index *index = s->index;

    if (!index || !index->packed)
        return 0;
    return index->offsets ? PACK_MIXED : index->width;
}

/* An array of more bytes than this leaves no space in the cache for its index. */
#define ONCE_BYTES ((size_t) 64 << 20)

/* Returns true if keys and values should bypass the caches, so that the index stays there. */
static bool reads_once(const ordo_device *dev, const struct ordo_search *s)
{
    return ordo_device_reads_once(dev) && s->index && s->lookup && s->value_bytes && !s->file &&
           s->count > ONCE_BYTES / ordo_type_bytes(s->key);
}

/* ---- a launch ------------------------------------------------------------------------------------------------ */

static struct ordo_launch kernel(const ordo_device *dev, const struct ordo_search *s, const struct shape *shape,
                                 const char *name, size_t groups)
{
    struct ordo_launch launch = { .file = s->file ? s->file : "primitive/search.cl",
                                  .kernel = name,
                                  .groups = groups,
                                  .group = shape->group,
                                  .defines = { { "ORDO_KEY", s->key },
                                               { "ORDO_VALUE_BYTES", s->value_bytes },
                                               { "SEARCH_LOOKUP", s->lookup },
                                               { "SEARCH_RANGES", s->ranges },
                                               { "SEARCH_UPPER", s->upper },
                                               { "SEARCH_PACKED", packed_bytes(s) },
                                               { "SEARCH_PLACES", s->places.mem != NULL },
                                               { "SEARCH_LOCAL", shape->local },
                                               { "SEARCH_GROUP", (long) shape->group },
                                               { "SEARCH_ITEMS", (long) shape->items } } };
    if (reads_once(dev, s))
        ordo_launch_define(&launch, "SEARCH_ONCE", 1);
    return launch;
}

static ordo_status launch(struct ordo_call *call, const struct ordo_search *s, struct ordo_launch launch, size_t node,
                          size_t lanes, const struct ordo_args *own)
{
    const cl_uint    count = (cl_uint) s->count, n_queries = (cl_uint) s->n_queries;
    struct ordo_args args = { .n = 0 };

    ordo_launch_define(&launch, "SEARCH_NODE", (long) node);
    ordo_launch_define(&launch, "TEAM_WIDTH", (long) lanes);
    ordo_args_slice(&args, &s->keys);
    ORDO_ADD(&args, ORDO_ARG(count));
    ordo_args_slice(&args, &s->queries);
    ORDO_ADD(&args, ORDO_ARG(n_queries));
    if (s->places.mem)
        ORDO_ADD(&args, ORDO_ARG(s->places.mem));
    if (s->file)
        ordo_args_add(&args, s->answers->arg, s->answers->n);
    else if (!s->lookup)
        ordo_args_slice(&args, &s->ranks);
    if (s->ranges)
        ordo_args_slice(&args, &s->uppers);
    if (!s->file && s->lookup && s->value_bytes) {
        ordo_args_slice(&args, &s->values);
        ordo_args_slice(&args, &s->values_out);
    }
    if (!s->file && s->lookup)
        ordo_args_slice(&args, &s->found);
    ordo_args_add(&args, own->arg, own->n);
    return ordo_call_launch(call, &launch, &args);
}

/* A tree of keys, or of separators, in local memory. */
static struct ordo_arg local_tree(size_t entry_bytes, size_t depth)
{
    return (struct ordo_arg) { entry_bytes << depth, NULL };
}

/* ---- through an index ---------------------------------------------------------------------------------------- */

/* Returns the number of work-items per query. Each must load at least 16 bytes of a node. With 16-byte keys, an earlier
 * kernel found 12.2 G queries/s with four lanes per query, and 9.2 G with two (H200). */
static size_t lanes_for(const ordo_device *dev, const struct ordo_search *s, const struct shape *shape, size_t node)
{
    const size_t key_bytes = ordo_type_bytes(s->key);
    const size_t tuned = ordo_tunable(dev, ORDO_SEARCH_LANES, data_of(s));

    if (!shape->local || tuned == 1)
        return 1;
    const size_t wanted = key_bytes == 16 ? 2 * tuned : tuned;
    return ordo_min_size(ordo_min_size(wanted, ordo_device_facts(dev)->sub_group), node * key_bytes / 16);
}

/* Chooses the lowest index level that fits in local memory. All work-groups together may copy at most four separators
 * per query. */
static cl_uint local_level(const struct ordo_search *s, const struct shape *shape)
{
    const ordo_index *index = s->index;
    cl_uint           level = index->levels;

    while (level > 0) {
        const size_t units = index_units(index->blocks, index->form.line_depth, level - 1);
        if (units > (size_t) 1 << shape->depth_max || units * shape->resident > 4 * s->n_queries)
            break;
        level--;
    }
    return level;
}

/* Maximum bytes of nodes that a work-item of a GPU loads at once. */
#define NODE_BYTES_MAX 256u

static size_t indexed_items(const ordo_device *dev, const struct ordo_search *s, size_t node)
{
    const size_t node_bytes = node * ordo_type_bytes(s->key), fitting = NODE_BYTES_MAX / node_bytes;

    return ordo_device_facts(dev)->cpu ? search_items(dev, s)
                                       : ordo_min_size(search_items(dev, s), fitting ? fitting : 1);
}

static ordo_status enqueue_indexed(struct ordo_call *call, const struct ordo_search *s)
{
    const ordo_index  *index = s->index;
    const index_form   form = index->form;
    const size_t       node = (size_t) 1 << form.node_log2;
    const struct shape shape = choose_shape(call->dev, s, indexed_items(call->dev, s, node));

    const cl_uint     level = shape.local ? local_level(s, &shape) : index->levels;
    const cl_uint     depth = (cl_uint) ceil_log2(index_units(index->blocks, form.line_depth, level));
    const cl_ulong    nodes_at = index->nodes_at;
    const index_place start = index_place_of(index->blocks, form, level);
    const index_place above = index_place_of(index->blocks, form, level + 1);
    const cl_uint     level_1 = index_place_of(index->blocks, form, 1).first;
    struct ordo_args  own = { .n = 0 };

    ORDO_ADD(&own, ORDO_ARG(index->nodes), ORDO_ARG(nodes_at), ORDO_ARG(index->shift), ORDO_ARG(start), ORDO_ARG(above),
             ORDO_ARG(depth), local_tree(INDEX_SEPARATOR_BYTES(ordo_type_bytes(s->key)), depth));
    if (ordo_search_is_packed(s))
        ORDO_ADD(&own, ORDO_ARG(index->packed), ORDO_ARG(index->offsets), ORDO_ARG(level_1));
    struct ordo_launch search = kernel(call->dev, s, &shape, "search_indexed", groups_for(call->dev, s, &shape, depth));
    ordo_launch_define(&search, "SEARCH_LINE", form.line_depth);
    ordo_launch_define(&search, "SEARCH_SIMD", form.simd_depth);
    ordo_launch_define(&search, "SEARCH_PAGE", form.page_levels);
    return launch(call, s, search, node, lanes_for(call->dev, s, &shape, node), &own);
}

/* ---- without one --------------------------------------------------------------------------------------------- */

/* Kernels that search without an index ignore these values. */
#define ANY_NODE 16
#define ONE_LANE 1

static ordo_status enqueue_array(struct ordo_call *call, const struct ordo_search *s)
{
    const struct shape shape = choose_shape(call->dev, s, search_items(call->dev, s));
    size_t             depth = 0;

    if (shape.local)
        depth = ordo_min_size(ordo_min_size(shape.depth_max, floor_log2(s->n_queries / shape.resident)),
                              ceil_log2(s->count + 1));
    const cl_uint    tree_depth = (cl_uint) depth;
    struct ordo_args own = { .n = 0 };
    ORDO_ADD(&own, ORDO_ARG(tree_depth), local_tree(ordo_type_bytes(s->key), depth));
    return launch(call, s, kernel(call->dev, s, &shape, "search_array", groups_for(call->dev, s, &shape, depth)),
                  ANY_NODE, ONE_LANE, &own);
}

/* Preferred maximum number of keys between the first and last query of a work-group. 2^20 ascending queries in 2^24
 * keys take 45 us with 8192 keys, and 71 us with 32768 keys (H200). */
#define TILE_SPAN 8192

static size_t sorted_items(const ordo_device *dev, const struct ordo_search *s)
{
    const size_t group = ordo_group_of(dev, ORDO_SEARCH_GROUP, data_of(s)), keys = s->count / s->n_queries;
    size_t       items = ordo_tunable(dev, ORDO_SEARCH_TILE, data_of(s));

    while (items > 1 && group * items * keys > TILE_SPAN)
        items /= 2;
    return items;
}

/* The queries must ascend. */
static ordo_status enqueue_sorted(struct ordo_call *call, const struct ordo_search *s)
{
    const struct shape shape = choose_shape(call->dev, s, sorted_items(call->dev, s));
    const cl_uint      depth_max = (cl_uint) ordo_min_size(shape.depth_max, ceil_log2(2 * shape.group * shape.items));
    struct ordo_args   own = { .n = 0 };

    ORDO_ADD(&own, ORDO_ARG(depth_max), local_tree(ordo_type_bytes(s->key), depth_max));
    return launch(call, s, kernel(call->dev, s, &shape, "search_sorted", shape.tiles), ANY_NODE, ONE_LANE, &own);
}

#define CHUNK_MIN       64
#define CHUNK_MAX       4096
#define CHUNKS_PER_UNIT 16

static ordo_status enqueue_gallop(struct ordo_call *call, const struct ordo_search *s)
{
    const struct shape shape = { .group = 1, .items = 1 };
    const size_t       chunks = (size_t) ordo_device_facts(call->dev)->compute_units * CHUNKS_PER_UNIT;
    const size_t       even = ordo_ceil_div(s->n_queries, chunks);
    const cl_uint      chunk = even < CHUNK_MIN ? CHUNK_MIN : (cl_uint) ordo_min_size(even, CHUNK_MAX);
    struct ordo_args   own = { .n = 0 };

    ORDO_ADD(&own, ORDO_ARG(chunk));
    return launch(call, s, kernel(call->dev, s, &shape, "search_gallop", ordo_ceil_div(s->n_queries, chunk)), ANY_NODE,
                  ONE_LANE, &own);
}

/* Ascending queries use an index only if it is compressed, or if there are more than SPARSE keys per query. */
#define SPARSE 16

bool ordo_search_by_index(const struct ordo_search *s)
{
    return s->count > 0 && (!s->sorted || ordo_search_is_packed(s) || s->count / SPARSE > s->n_queries);
}

ordo_status ordo_search_in_order(struct ordo_call *call, const struct ordo_search *s)
{
    if (s->index && ordo_search_by_index(s))
        return enqueue_indexed(call, s);
    if (!s->sorted)
        return enqueue_array(call, s);
    return choose_shape(call->dev, s, 1).local ? enqueue_sorted(call, s) : enqueue_gallop(call, s);
}
