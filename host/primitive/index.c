/* SPDX-License-Identifier: Apache-2.0 */
#include "primitive/index.h"
#include "primitive/scan.h"

#include <stdlib.h>
#include <unistd.h>

static cl_uint log2_of(size_t n)
{
    cl_uint log2 = 0;
    while (n >> log2 > 1)
        log2++;
    return log2;
}

static cl_uint least(cl_uint a, cl_uint b)
{
    return a < b ? a : b;
}

/* ---- the layout ---------------------------------------------------------------------------------------------- */

/* Assumed size of a memory page of a GPU. Drivers do not report it. */
#define GPU_PAGE_BYTES ((size_t) 2 << 20)

static cl_uint line_depth_of(const struct ordo_facts *facts, size_t key_bytes)
{
    const cl_uint depth = log2_of(facts->cache_line_bytes / key_bytes);

    return depth < 3 ? 3 : least(depth, 5);
}

static cl_uint simd_depth_of(const struct ordo_facts *facts, size_t key_bytes, cl_uint line_depth)
{
    return facts->cpu ? log2_of(facts->vector_bytes / key_bytes) : line_depth;
}

static cl_uint page_levels_of(const struct ordo_facts *facts, size_t key_bytes, cl_uint line_depth)
{
    const long   page = facts->cpu ? sysconf(_SC_PAGESIZE) : (long) GPU_PAGE_BYTES;
    const size_t room = (size_t) page / (key_bytes << line_depth), children = (size_t) 1 << line_depth;
    cl_uint      levels = 0;

    for (size_t lines = 1, all = 1; all <= room; all += lines) {
        lines *= children;
        levels++;
    }
    return levels;
}

/* Blocks of the array have at least 8 keys, and, for keys of 16 bytes, as many bytes as nodes. */
static cl_uint block_depth(cl_uint line_depth, size_t key_bytes)
{
    if (line_depth <= 3)
        return 3;
    return key_bytes == 16 ? line_depth - 1 : line_depth;
}

/* Maximum log2 of the separators per node that a vector of separators of 8 bytes can hold. */
#define WIDE_DEPTH_MAX 4u

static index_form level_order(cl_uint depth, size_t key_bytes)
{
    const cl_uint line = key_bytes == 16 ? least(depth, WIDE_DEPTH_MAX) : depth;

    return (index_form) { block_depth(line, key_bytes), line, line, 0 };
}

/* Returns the blocked layout (cl/shared/index.h). */
static index_form blocked(const ordo_device *dev, size_t key_bytes)
{
    const struct ordo_facts *facts = ordo_device_facts(dev);
    const enum ordo_shape    shape = ordo_shape_of(key_bytes, 0);
    const cl_uint            line = ordo_tunable(dev, ORDO_SEARCH_LINE_DEPTH, shape);
    const cl_uint            simd = ordo_tunable(dev, ORDO_SEARCH_SIMD_DEPTH, shape);
    const cl_uint            page = ordo_tunable(dev, ORDO_SEARCH_PAGE_DEPTH, shape);
    const size_t             separator_bytes = INDEX_SEPARATOR_BYTES(key_bytes);
    index_form               form = { .line_depth = line ? line : line_depth_of(facts, separator_bytes) };

    form.node_log2 = block_depth(line < 3 ? line_depth_of(facts, separator_bytes) : line, key_bytes);
    form.simd_depth = least(simd ? simd : simd_depth_of(facts, separator_bytes, form.line_depth), form.line_depth);
    form.page_levels = page ? page / form.line_depth : page_levels_of(facts, separator_bytes, form.line_depth);
    form.simd_depth += form.simd_depth == 0;
    form.page_levels += form.page_levels == 0;
    return form;
}

index_form ordo_index_form(const ordo_device *dev, ordo_type key)
{
    const size_t          key_bytes = ordo_type_bytes(key);
    const enum ordo_shape shape = ordo_shape_of(key_bytes, 0);

    if (ordo_tunable(dev, ORDO_SEARCH_LAYOUT, shape) == ORDO_INDEX_BLOCKED)
        return blocked(dev, key_bytes);
    return level_order(log2_of(ordo_tunable(dev, ORDO_SEARCH_NODE, shape)), key_bytes);
}

cl_uint ordo_index_page_levels(const ordo_device *dev, const struct ordo_index *index)
{
    const size_t separator_bytes = INDEX_SEPARATOR_BYTES(ordo_type_bytes(index->key));
    cl_uint      levels = index->form.page_levels;

    if (levels == 0)
        levels = page_levels_of(ordo_device_facts(dev), separator_bytes, index->form.line_depth);
    return levels ? levels : 1;
}

struct ordo_index ordo_index_of(ordo_device *dev, ordo_type key, struct ordo_slice keys, size_t count, index_form form)
{
    struct ordo_index index = { .dev = dev, .key = key, .keys = keys, .count = count, .form = form };

    if (count == 0)
        return index;
    index.shift = (cl_uint) (keys.at % ((size_t) 1 << form.node_log2));
    index.blocks = index_blocks((cl_uint) count, index.shift, form.node_log2);
    index.levels = index_levels(index.blocks, form.line_depth);
    index.bytes = ((size_t) index_lines(index.blocks, form.line_depth) << form.line_depth) *
                  INDEX_SEPARATOR_BYTES(ordo_type_bytes(key));
    return index;
}

/* ---- launches ------------------------------------------------------------------------------------------------ */

static struct ordo_launch kernel(const ordo_device *dev, const struct ordo_index *index, const char *name, size_t items)
{
    const size_t group = ordo_min_size(64, ordo_device_facts(dev)->max_group);
    return (struct ordo_launch) { .file = "primitive/index.cl",
                                  .kernel = name,
                                  .groups = ordo_min_size(ordo_ceil_div(items, group), 1 << 16),
                                  .group = group,
                                  .defines = { { "ORDO_KEY", index->key },
                                               { "INDEX_NODE_LOG2", index->form.node_log2 },
                                               { "INDEX_LINE", index->form.line_depth },
                                               { "INDEX_SIMD", index->form.simd_depth },
                                               { "INDEX_PAGE", index->form.page_levels },
                                               { "INDEX_GROUP", (long) group } } };
}

static ordo_status for_separators(struct ordo_call *call, const struct ordo_index *index, const char *name,
                                  const cl_mem *wrong)
{
    const cl_uint            count = (cl_uint) index->count;
    const cl_ulong           nodes_at = index->nodes_at;
    const cl_uint            entries = index_lines(index->blocks, index->form.line_depth) << index->form.line_depth;
    const struct ordo_launch launch = kernel(call->dev, index, name, entries);
    struct ordo_args         args = { .n = 0 };

    ordo_args_slice(&args, &index->keys);
    ORDO_ADD(&args, ORDO_ARG(count), ORDO_ARG(index->shift), ORDO_ARG(index->nodes), ORDO_ARG(nodes_at),
             ORDO_ARG(entries));
    if (wrong)
        ORDO_ADD(&args, ORDO_ARG(*wrong));
    return ordo_call_launch(call, &launch, &args);
}

ordo_status ordo_call_index(struct ordo_call *call, const struct ordo_index *index)
{
    return index->bytes ? for_separators(call, index, "index_build", NULL) : ORDO_OK;
}

ordo_status ordo_call_check_index(struct ordo_call *call, const struct ordo_index *index)
{
    const int     mark = call->n_scratch;
    const cl_uint none = UINT32_MAX;
    cl_uint       found = none;
    cl_mem        wrong = NULL;

    if (index->bytes == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_call_scratch(call, sizeof found, &wrong));
    ORDO_TRY(ordo_call_fill(call, wrong, 0, sizeof found, none));
    ORDO_TRY(for_separators(call, index, "index_check", &wrong));
    ORDO_TRY(ordo_call_read(call, wrong, 0, &found, sizeof found));
    ordo_call_release(call, mark);
    if (found != none)
        return ORDO_FAIL(call->dev, ORDO_BROKEN, "I2: separator %u of an index of %zu keys is not its unit's last key",
                         found, index->count);
    return ORDO_OK;
}

/* ---- compressed ---------------------------------------------------------------------------------------------- */

/* Sets *units to the size of all compressed blocks, in units of 16 bytes. Waits for the device. */
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
    /* If blocks have different sizes, each search also loads an offset. So blocks get different sizes only if this
     * saves more than a quarter of the memory. */
    if ((uint64_t) widest * blocks / 4 * 3 <= *units) {
        index->width = widest;
        *units = widest * blocks;
    }
    return ORDO_OK;
}

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

/* The caller must free the buffers of *index, even after an error. */
static ordo_status build(struct ordo_call *call, ordo_type key, struct ordo_slice keys, size_t count, bool compressed,
                         struct ordo_index *index)
{
    ordo_device *dev = call->dev;

    const struct ordo_array array = { "keys", keys, count, ordo_type_bytes(key), ordo_type_bytes(key) };
    ORDO_TRY(compressed ? ordo_check_narrow(dev, key, "ordo_index_build_compressed") : ordo_check_type(dev, key));
    ORDO_REQUIRE_COUNT(dev, "count", count);
    ORDO_TRY(ordo_check_arrays(dev, &array, 1, 0));

    *index = ordo_index_of(dev, key, keys, count,
                           compressed ? level_order(PACK_LOG2, ordo_type_bytes(key)) : ordo_index_form(dev, key));
    /* In a compressed index, the first block begins at the first key. In other indexes, blocks begin at multiples of
     * the block size from the start of the buffer. */
    if (compressed && count > 0) {
        *index = ordo_index_of(dev, key, ordo_at(keys.mem, 0), count, level_order(PACK_LOG2, ordo_type_bytes(key)));
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
    ORDO_TRY(ordo_call_begin_alone(&call, dev, order, NULL, compressed));

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
