/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/trie/xfast.h"

#include "dict/batch.h"
#include "primitive/scan.h"

#define MODULE "dict/trie/xfast_build.cl"

#define GROUP_DEFAULT 4

/* Except for prefix queries, which always build it, the trie is built once per count / PAYING_SHARE operations. So a
 * build costs each operation at most the time for PAYING_SHARE keys. */
#define PAYING_SHARE 16

/* Increases `group` (key bits per level) until all levels together have at most ORDO_MAX_COUNT entries. Each level has
 * up to `most` entries. */
static cl_uint widen(cl_uint group, size_t most, size_t lengths)
{
    while (most * (lengths / group) > ORDO_MAX_COUNT)
        group++;
    return group;
}

/* Returns the number of levels with fewer than `count` possible prefixes. */
static cl_uint small_levels(const xfast_shape *shape, size_t count)
{
    cl_uint small = 0;
    while (small < shape->levels && shape->flat_bits + (small + 1) * shape->group < 32 &&
           (size_t) 1 << (shape->flat_bits + (small + 1) * shape->group) < count)
        small++;
    return small;
}

static xfast_shape shape_of(const struct ordo_xfast *xfast, size_t count)
{
    const size_t width = xfast->runs.dict.key_bytes * 8;
    const size_t most = xfast->level_tables ? count : count / (XFAST_LEAF + 1) + 1;
    xfast_shape  shape = { .count = (cl_uint) count, .flat_bits = 1 };
    while (!xfast->level_tables && shape.flat_bits < XFAST_FLAT_BITS_MAX &&
           count > (size_t) XFAST_FLAT_MEAN_MAX << shape.flat_bits)
        shape.flat_bits++;
    const size_t lengths = width - 1 - shape.flat_bits;
    shape.group = widen(xfast->group ? xfast->group : GROUP_DEFAULT, most, lengths);
    shape.levels = (cl_uint) (lengths / shape.group);
    shape.small = xfast->level_tables ? small_levels(&shape, count) : 0;
    return shape;
}

void ordo_xfast_add_table(struct ordo_args *args, const struct ordo_xfast *xfast)
{
    if (xfast->level_tables)
        ORDO_ADD(args, ORDO_ARG(xfast->slots), ORDO_ARG(xfast->seed));
    else
        ordo_hash_add_table(args, &xfast->prefixes.table);
}

struct ordo_args ordo_xfast_args(struct ordo_xfast *xfast)
{
    struct ordo_args args = { .n = 0 };

    ORDO_ADD(&args, ORDO_ARG(ordo_xfast_run(xfast)->mem), ORDO_ARG(xfast->flat), ORDO_ARG(xfast->shape));
    ordo_xfast_add_table(&args, xfast);
    return args;
}

struct ordo_launch ordo_xfast_kernel(const struct ordo_xfast *xfast, const char *file, const char *kernel, size_t items)
{
    ordo_dict kind = ordo_dict_kind(&xfast->runs.dict);
    kind.value_bytes = XFAST_ENTRY_BYTES;
    struct ordo_launch launch = ordo_dict_kernel(&kind, file, kernel, items);
    ordo_launch_define(&launch, "XFAST_LEVEL_TABLES", xfast->level_tables);
    return launch;
}

void ordo_xfast_drop(struct ordo_xfast *xfast)
{
    if (xfast->flat)
        ordo_buffer_destroy(xfast->runs.dict.dev, &xfast->flat);
    if (xfast->masks)
        ordo_buffer_destroy(xfast->runs.dict.dev, &xfast->masks);
    if (xfast->slots)
        ordo_buffer_destroy(xfast->runs.dict.dev, &xfast->slots);
    xfast->flat_bytes = xfast->mask_bytes = xfast->slot_bytes = 0;
    ordo_hash_clear(&xfast->prefixes.dict);
}

static ordo_status make_flat(struct ordo_xfast *xfast, struct ordo_call *call)
{
    const size_t     entries = XFAST_FLAT_ENTRIES(xfast->shape.flat_bits);
    struct ordo_args args = { .n = 0 };

    ORDO_TRY(ordo_buffer_create(call->dev, entries * sizeof(cl_uint), &xfast->flat));
    xfast->flat_bytes = entries * sizeof(cl_uint);
    ORDO_ADD(&args, ORDO_ARG(ordo_xfast_run(xfast)->mem), ORDO_ARG(xfast->shape), ORDO_ARG(xfast->flat));
    const struct ordo_launch launch = ordo_xfast_kernel(xfast, MODULE, "xfast_flat", entries);
    return ordo_call_launch(call, &launch, &args);
}

/* offsets[i] becomes the number of entries whose first key precedes key i. *total becomes the number of all entries.
 * Waits for the device. */
static ordo_status count_entries(struct ordo_xfast *xfast, struct ordo_call *call, cl_mem *offsets, size_t *total)
{
    const size_t     n = (size_t) xfast->shape.count + 1;
    struct ordo_args args = { .n = 0 };
    cl_uint          all = 0;

    ORDO_TRY(ordo_call_scratch(call, n * sizeof(cl_uint), offsets));
    ORDO_ADD(&args, ORDO_ARG(ordo_xfast_run(xfast)->mem), ORDO_ARG(xfast->shape), ORDO_ARG(*offsets));
    const struct ordo_launch launch =
        ordo_xfast_kernel(xfast, MODULE, "xfast_count", ordo_dict_pass_items(call->dev, n));
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    ORDO_TRY(ordo_call_sum_before(call, ORDO_U32, *offsets, n));
    ORDO_TRY(ordo_call_read(call, *offsets, (n - 1) * sizeof all, &all, sizeof all));
    *total = all;
    return ORDO_OK;
}

static ordo_status make_table(struct ordo_xfast *xfast, struct ordo_call *call)
{
    struct ordo_args args = { .n = 0 };
    cl_mem           offsets = NULL, words = NULL, entries = NULL;
    size_t           total = 0;

    if (xfast->shape.levels == 0 || xfast->shape.count <= XFAST_LEAF)
        return ORDO_OK;
    ORDO_TRY(count_entries(xfast, call, &offsets, &total));
    if (total == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_call_scratch(call, total * xfast->runs.dict.key_bytes, &words));
    ORDO_TRY(ordo_call_scratch(call, total * XFAST_ENTRY_BYTES, &entries));
    ORDO_ADD(&args, ORDO_ARG(ordo_xfast_run(xfast)->mem), ORDO_ARG(xfast->shape), ORDO_ARG(offsets), ORDO_ARG(words),
             ORDO_ARG(entries));
    const struct ordo_launch launch = ordo_xfast_kernel(xfast, MODULE, "xfast_entries", xfast->shape.count);
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    return ordo_hash_build(&xfast->prefixes.dict, call, ordo_at(words, 0), ordo_at(entries, 0), total);
}

static ordo_status make_level_tables(struct ordo_xfast *xfast, struct ordo_call *call)
{
    const size_t     bytes = XFAST_SLOTS(xfast->shape) * XFAST_SLOT_BYTES(xfast->runs.dict.key_bytes);
    struct ordo_args args = { .n = 0 };

    ORDO_TRY(ordo_buffer_create(call->dev, bytes, &xfast->slots));
    xfast->slot_bytes = bytes;
    ORDO_TRY(ordo_call_fill(call, xfast->slots, 0, bytes, 0));
    ORDO_ADD(&args, ORDO_ARG(ordo_xfast_run(xfast)->mem), ORDO_ARG(xfast->shape));
    ordo_xfast_add_table(&args, xfast);
    const struct ordo_launch launch = ordo_xfast_kernel(xfast, MODULE, "xfast_fill_levels", xfast->shape.count);
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status make_trie(struct ordo_xfast *xfast, struct ordo_call *call)
{
    xfast->shape = shape_of(xfast, ordo_xfast_run(xfast)->count);
    ORDO_TRY(make_flat(xfast, call));
    return xfast->level_tables ? make_level_tables(xfast, call) : make_table(xfast, call);
}

void ordo_xfast_note_peak(struct ordo_xfast *xfast)
{
    const size_t bytes = xfast->flat_bytes + xfast->mask_bytes + xfast->slot_bytes + xfast->prefixes.bytes_peak;
    if (xfast->bytes_peak < bytes)
        xfast->bytes_peak = bytes;
}

ordo_status ordo_xfast_raise(struct ordo_xfast *xfast, struct ordo_call *call)
{
    const int mark = call->n_scratch;

    if (xfast->runs.set.n == 0 || xfast->flat)
        return ORDO_OK;
    ORDO_TRY(ordo_call_changes(call));
    const ordo_status status = make_trie(xfast, call);
    ordo_xfast_note_peak(xfast);
    if (status == ORDO_OK) {
        ordo_call_release(call, mark);
        return ORDO_OK;
    }
    ordo_call_abandon(call, mark);
    ordo_xfast_drop(xfast);
    return status;
}

void ordo_xfast_raise_if_possible(struct ordo_xfast *xfast, struct ordo_call *call)
{
    xfast->searched = 0;
    if (ordo_xfast_raise(xfast, call) != ORDO_OK)
        ordo_log(call->dev, ORDO_LOG_WARNING, "xfast: trie not built; queries search the sorted run");
}

bool ordo_xfast_pays(const struct ordo_xfast *xfast, size_t operations)
{
    return xfast->runs.set.n > 0 && operations >= xfast->runs.set.run[0].count / PAYING_SHARE;
}

ordo_status ordo_xfast_prepare(struct ordo_xfast *xfast, struct ordo_call *call, size_t queries)
{
    if (xfast->flat)
        return ORDO_OK;
    if (!ordo_xfast_pays(xfast, xfast->searched + queries)) {
        xfast->searched += queries;
        return ORDO_OK;
    }
    ORDO_TRY(ordo_call_changes(call));
    ordo_xfast_raise_if_possible(xfast, call);
    return ORDO_OK;
}
