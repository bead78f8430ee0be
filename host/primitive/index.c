/* SPDX-License-Identifier: Apache-2.0 */
/* Builds search indexes by launches of cl/primitive/index.cl. */
#include "primitive/index.h"
#include "primitive/scan.h"

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

static struct ordo_launch kernel(const ordo_device *dev, const struct ordo_index *index, const char *name, size_t items)
{
    const size_t group = ordo_min_size(64, ordo_device_facts(dev)->max_group);
    return (struct ordo_launch) { .file = "primitive/index.cl",
                                  .kernel = name,
                                  .groups = ordo_min_size(ordo_ceil_div(items, group), 1 << 16),
                                  .group = group,
                                  .defines = { { "ORDO_KEY", index->key },
                                               { "INDEX_NODE_LOG2", index->node_log2 },
                                               { "INDEX_GROUP", (long) group } } };
}

ordo_status ordo_call_index(struct ordo_call *call, const struct ordo_index *index)
{
    if (index->bytes == 0)
        return ORDO_OK;
    const cl_ulong           nodes_at = (cl_ulong) index->nodes_at << index->node_log2;
    const cl_uint            count = (cl_uint) index->count, nodes = index_nodes(index->blocks, index->node_log2);
    const struct ordo_launch launch = kernel(call->dev, index, "index_build", (size_t) nodes << index->node_log2);
    struct ordo_args         args = { .n = 0 };

    ordo_args_slice(&args, &index->keys);
    ORDO_ADD(&args, ORDO_ARG(count), ORDO_ARG(index->shift), ORDO_ARG(index->nodes), ORDO_ARG(nodes_at),
             ORDO_ARG(nodes));
    return ordo_call_launch(call, &launch, &args);
}

/* ---- compressed ---------------------------------------------------------------------------------------------- */

/* Computes the width (bytes per key) of each block, and the blocks' offsets. If all blocks get the same width, sets
 * index->width to it, otherwise to 0. Sets *units to the size of all compressed blocks in units of 16 bytes. Waits
 * for these results. */
static ordo_status measure_blocks(struct ordo_call *call, struct ordo_index *index, cl_mem offsets, cl_uint *units)
{
    const struct ordo_launch launch = kernel(call->dev, index, "index_widths", index->blocks);
    const cl_uint            count = (cl_uint) index->count, blocks = index->blocks;
    const int                mark = call->n_scratch;
    const struct ordo_scan   scan = { .type = ORDO_U32,
                                      .op = ORDO_SUM,
                                      .in = ordo_at(offsets, 0),
                                      .out = ordo_at(offsets, 0),
                                      .count = (size_t) blocks + 1 };
    struct ordo_args         args = { .n = 0 };
    cl_uint                  widest = 0;
    cl_mem                   found = NULL;

    ORDO_TRY(ordo_call_scratch(call, sizeof widest, &found));
    ORDO_TRY(ordo_call_fill(call, found, 0, sizeof widest, 0));
    ORDO_TRY(ordo_call_fill(call, offsets, blocks * sizeof(cl_uint), sizeof(cl_uint), 0));
    ordo_args_slice(&args, &index->keys);
    ORDO_ADD(&args, ORDO_ARG(count), ORDO_ARG(blocks), ORDO_ARG(offsets), ORDO_ARG(found));
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    ORDO_TRY(ordo_call_scan(call, &scan));
    ORDO_TRY(ordo_call_read(call, found, 0, &widest, sizeof widest));
    ORDO_TRY(ordo_call_read(call, offsets, blocks * sizeof *units, units, sizeof *units));
    ordo_call_release(call, mark);
    /* All blocks get the width of the widest block, unless different widths save a quarter of the memory. With
     * different widths each search must also read a block's offset. */
    if ((uint64_t) widest * blocks / 4 * 3 <= *units) {
        index->width = widest;
        *units = widest * blocks;
    }
    return ORDO_OK;
}

/* Compresses the keys into blocks. If all blocks have the same width, frees the offsets. */
static ordo_status pack(struct ordo_call *call, struct ordo_index *index)
{
    const size_t     offsets_bytes = ((size_t) index->blocks + 1) * sizeof(cl_uint);
    const cl_uint    count = (cl_uint) index->count, blocks = index->blocks;
    struct ordo_args args = { .n = 0 };
    cl_uint          units = 0;

    ORDO_TRY(ordo_buffer_create(call->dev, offsets_bytes, &index->offsets));
    ORDO_TRY(measure_blocks(call, index, index->offsets, &units));
    if (index->width)
        ordo_buffer_destroy(call->dev, &index->offsets);
    index->packed_bytes = (size_t) units * 16 + (index->offsets ? offsets_bytes : 0);
    ORDO_TRY(ordo_buffer_create(call->dev, (size_t) units * 16, &index->packed));
    const struct ordo_launch launch = kernel(call->dev, index, "index_pack", (size_t) blocks * PACK_KEYS);
    ordo_args_slice(&args, &index->keys);
    ORDO_ADD(&args, ORDO_ARG(count), ORDO_ARG(blocks), ORDO_ARG(index->offsets), ORDO_ARG(index->width),
             ORDO_ARG(index->packed));
    return ordo_call_launch(call, &launch, &args);
}

/* ---- public -------------------------------------------------------------------------------------------------- */

/* Checks the arguments and builds *index. The caller must free the buffers of *index, even after an error. */
static ordo_status build(struct ordo_call *call, ordo_type key, struct ordo_slice keys, size_t count, bool compressed,
                         struct ordo_index *index)
{
    ordo_device *dev = call->dev;

    ORDO_TRY(ordo_check_narrow(dev, key, "ordo_index_build"));
    ORDO_REQUIRE_COUNT(dev, "count", count);
    ORDO_TRY(ordo_check_slice(dev, "keys", keys, count, ordo_type_bytes(key)));

    *index = ordo_index_of(dev, key, keys, count, compressed ? PACK_LOG2 : ordo_index_node_log2(dev, key));
    /* In a compressed index block 0 begins at keys.at, even if keys.at is not a multiple of the block size. */
    if (compressed && count > 0) {
        *index = ordo_index_of(dev, key, ordo_at(keys.mem, 0), count, PACK_LOG2);
        index->keys = keys;
        ORDO_TRY(pack(call, index));
    }
    if (index->bytes == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_buffer_create(dev, index->bytes, &index->nodes));
    return ordo_call_index(call, index);
}

static ordo_status build_index(ordo_device *dev, ordo_type key, struct ordo_slice keys, size_t count, bool compressed,
                               const struct ordo_order *order, ordo_index **out)
{
    struct ordo_call call;

    ORDO_REQUIRE_GIVEN(dev, out);
    *out = NULL;
    ORDO_TRY(ordo_call_begin_after(&call, dev, order, NULL, compressed)); /* Compression waits for sizes. */

    ordo_index *index = calloc(1, sizeof *index);
    if (index) {
        index->dev = dev;
        ordo_device_hold(dev);
    }
    ordo_status status =
        index ? build(&call, key, keys, count, compressed, index) : ORDO_FAIL(dev, ORDO_NO_HOST_MEMORY, NULL);
    status = ordo_call_end(&call, status);
    if (status == ORDO_OK)
        *out = index;
    else
        ordo_index_destroy(&index);
    return status;
}

ordo_status ordo_index_build(ordo_device *dev, ordo_type key, struct ordo_slice keys, size_t count,
                             const struct ordo_order *order, ordo_index **out)
{
    return build_index(dev, key, keys, count, false, order, out);
}

ordo_status ordo_index_build_compressed(ordo_device *dev, ordo_type key, struct ordo_slice keys, size_t count,
                                        const struct ordo_order *order, ordo_index **out)
{
    return build_index(dev, key, keys, count, true, order, out);
}

void ordo_index_destroy(ordo_index **index)
{
    if (!index || !*index)
        return;
    ordo_device  *dev = (*index)->dev;
    cl_mem *const mems[] = { &(*index)->nodes, &(*index)->packed, &(*index)->offsets };
    for (size_t i = 0; i < sizeof mems / sizeof *mems; i++)
        if (*mems[i])
            ordo_buffer_destroy(dev, mems[i]);
    free(*index);
    *index = NULL;
    ordo_device_release(dev);
}

size_t ordo_index_bytes(const ordo_index *index)
{
    return index ? index->bytes + index->packed_bytes : 0;
}
