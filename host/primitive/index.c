/* SPDX-License-Identifier: Apache-2.0 */
/* Building a static search index: one launch of cl/primitive/index.cl. */
#include "primitive/index.h"

#include "shared/index.h"

#include <stdlib.h>

static cl_uint log2_of(size_t power_of_two)
{
    cl_uint log2 = 0;
    while (power_of_two >> log2 > 1)
        log2++;
    return log2;
}

cl_uint ordo_index_node_log2(const ordo_device *dev, ordo_type key)
{
    return log2_of(ordo_tunable(dev, ORDO_SEARCH_NODE, ordo_shape_of(ordo_type_bytes(key), 0)));
}

struct ordo_index ordo_index_of(ordo_device *dev, ordo_type key, struct ordo_slice keys, size_t count,
                                cl_uint node_log2)
{
    const size_t      key_bytes = ordo_type_bytes(key), node = (size_t) 1 << node_log2;
    struct ordo_index index = { .dev = dev, .key = key, .keys = keys, .count = count, .node_log2 = node_log2 };

    if (count == 0)
        return index;
    index.shift = (cl_uint) (keys.at % node);
    index.blocks = index_blocks((cl_uint) count, index.shift, index.node_log2);
    index.levels = index_levels(index.blocks, index.node_log2);
    index.bytes = (size_t) index_nodes(index.blocks, index.node_log2) * node * key_bytes;
    return index;
}

ordo_status ordo_call_index(struct ordo_call *call, const struct ordo_index *index)
{
    if (index->bytes == 0)
        return ORDO_OK;
    const size_t             group = ordo_min_size(64, ordo_device_facts(call->dev)->max_group);
    const struct ordo_define defines[] = {
        { "ORDO_KEY", index->key },
        { "INDEX_NODE_LOG2", index->node_log2 },
        { "INDEX_GROUP", (uint32_t) group },
        { NULL, 0 },
    };
    struct ordo_kernel *kernel = NULL;
    ORDO_TRY(ordo_call_kernel(call, "primitive/index.cl", "index_build", defines, &kernel));

    const cl_ulong at = index->keys.at, nodes_at = (cl_ulong) index->nodes_at << index->node_log2;
    const cl_uint  count = (cl_uint) index->count, nodes = index_nodes(index->blocks, index->node_log2);
    const size_t   groups = ordo_min_size(ordo_ceil_div((size_t) nodes << index->node_log2, group), 1 << 16);
    return ordo_call_launch(call, kernel, groups, group,
                            ORDO_ARGS(ORDO_ARG(index->keys.mem), ORDO_ARG(at), ORDO_ARG(count), ORDO_ARG(index->shift),
                                      ORDO_ARG(index->nodes), ORDO_ARG(nodes_at), ORDO_ARG(nodes)));
}

/* Checks the arguments and makes *index, whose memory is the caller's to free, also after an error. */
static ordo_status build(struct ordo_call *call, ordo_type key, struct ordo_slice keys, size_t count,
                         struct ordo_index *index)
{
    ordo_device *dev = call->dev;

    ORDO_TRY(ordo_check_type(dev, key));
    ORDO_REQUIRE_COUNT(dev, "count", count);
    ORDO_TRY(ordo_check_slice(dev, "keys", keys, count, ordo_type_bytes(key)));

    *index = ordo_index_of(dev, key, keys, count, ordo_index_node_log2(dev, key));
    if (index->bytes == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_buffer_create(dev, index->bytes, &index->nodes));
    return ordo_call_index(call, index);
}

ordo_status ordo_index_build(ordo_device *dev, ordo_type key, struct ordo_slice keys, size_t count,
                             const struct ordo_order *order, ordo_index **out)
{
    struct ordo_call call;

    ORDO_REQUIRE_GIVEN(dev, out);
    *out = NULL;
    ORDO_TRY(ordo_call_begin(&call, dev, order));

    ordo_index *index = calloc(1, sizeof *index);
    ordo_status status = index ? build(&call, key, keys, count, index)
                               : ordo_fail(dev, ORDO_NO_HOST_MEMORY, 0, __FILE__, __LINE__, NULL);
    status = ordo_call_end(&call, status);
    if (status == ORDO_OK)
        *out = index;
    else
        ordo_index_destroy(&index);
    return status;
}

void ordo_index_destroy(ordo_index **index)
{
    if (!index || !*index)
        return;
    if ((*index)->nodes)
        ordo_buffer_destroy((*index)->dev, &(*index)->nodes);
    free(*index);
    *index = NULL;
}

size_t ordo_index_bytes(const ordo_index *index)
{
    return index ? index->bytes : 0;
}
