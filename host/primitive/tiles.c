/* SPDX-License-Identifier: Apache-2.0 */
#include "primitive/tiles.h"

#include "shared/group.h"

/* If a work-group has only one work-item, a tile has at least this number of elements. */
enum { ITEMS_ALONE = 1024 };

/* One group handles up to this number of tiles, because a second launch would take longer. */
enum { TILES_OF_ONE_GROUP = 4 };

/* Limits the results of all groups to 64 KiB. */
enum { GROUPS_MAX = 4096 };

/* Concurrent work-items per compute unit of a GPU, and work-groups per core of a CPU. */
enum { ITEMS_PER_UNIT = 2048, CHUNKS_PER_CORE = 4 };

/* The registers of a GPU hold half as many 16-byte keys as 8-byte keys. The result must be a multiple of 4, because
 * kernels load vectors of up to 4 keys. */
static size_t items_of(size_t group, size_t items, size_t key_bytes)
{
    if (group == 1)
        return items < ITEMS_ALONE ? ITEMS_ALONE : items;
    items = ordo_min_size(items, TILE_ITEMS_MAX);
    return key_bytes == 16 && items > 4 ? items / 8 * 4 : items;
}

static size_t groups_at_once(const struct ordo_facts *facts, size_t group)
{
    const size_t per_unit = group == 1 ? CHUNKS_PER_CORE : ordo_ceil_div(ITEMS_PER_UNIT, group);
    return ordo_min_size(facts->compute_units * per_unit, GROUPS_MAX);
}

bool ordo_looks_back(const ordo_device *dev, enum ordo_shape shape)
{
    return ordo_tunable(dev, ORDO_SCAN_METHOD, shape) == ORDO_SCAN_LOOKBACK && ordo_device_facts(dev)->groups_progress;
}

struct ordo_tiles ordo_tiles_of(const ordo_device *dev, enum ordo_tunable group, enum ordo_tunable items,
                                size_t key_bytes, size_t count, size_t at)
{
    return ordo_tiles_with(dev, group, ordo_tunable(dev, items, ordo_shape_of(key_bytes, 0)), key_bytes, count, at);
}

struct ordo_tiles ordo_tiles_with(const ordo_device *dev, enum ordo_tunable group, size_t items, size_t key_bytes,
                                  size_t count, size_t at)
{
    const struct ordo_facts *facts = ordo_device_facts(dev);
    const enum ordo_shape    shape = ordo_shape_of(key_bytes, 0);
    struct ordo_tiles        t = { .group = ordo_group_of(dev, group, shape) };
    t.items = items_of(t.group, items, key_bytes);
    t.lookback = ordo_looks_back(dev, shape);
    t.shift = t.group == 1 ? 0 : (cl_uint) (at % (16 / key_bytes));
    t.tiles = (cl_uint) ordo_ceil_div(count + t.shift, t.group * t.items);
    t.range =
        t.tiles <= TILES_OF_ONE_GROUP ? t.tiles : (cl_uint) ordo_ceil_div(t.tiles, groups_at_once(facts, t.group));
    t.groups = t.tiles ? ordo_ceil_div(t.tiles, t.range) : 0;
    return t;
}

ordo_status ordo_lookback_state(struct ordo_call *call, size_t tiles, size_t item_bytes, struct ordo_lookback *out)
{
    return ordo_call_stamped(call, LOOKBACK_TICKET_BYTES + tiles * LOOKBACK_TILE_BYTES(item_bytes), LOOKBACK_STAMP_MAX,
                             &out->mem, &out->stamp);
}

struct ordo_launch ordo_tiles_launch(const struct ordo_tiles *t, const char *file)
{
    return (struct ordo_launch) {
        .file = file,
        .groups = t->groups,
        .group = t->group,
        .defines = { { "FOLD_GROUP", (long) t->group },
                     { "TILE_ITEMS", (long) t->items },
                     { "SCAN_LOOKBACK", t->lookback } },
    };
}

static ordo_status launch_look_back(struct ordo_call *call, const struct ordo_tiles *t, size_t payload_bytes,
                                    struct ordo_launch *launch, struct ordo_args *args)
{
    const int            mark = call->n_scratch;
    struct ordo_lookback state;
    ORDO_TRY(ordo_lookback_state(call, t->tiles, payload_bytes, &state));
    ORDO_ADD(args, ORDO_ARG(state.mem), ORDO_ARG(state.stamp));
    launch->groups = t->tiles;
    ORDO_TRY(ordo_call_launch(call, launch, args));
    ordo_call_release(call, mark);
    return ORDO_OK;
}

/* The first kernel skips the last range, and the second kernel skips the first range. So there is one more range than
 * cores. */
static void divide_for_cores(const ordo_device *dev, struct ordo_tiles *t)
{
    t->range = (cl_uint) ordo_ceil_div(t->tiles, (size_t) ordo_device_facts(dev)->compute_units + 1);
    t->groups = ordo_ceil_div(t->tiles, t->range);
}

static ordo_status launch_sums_and_ranges(struct ordo_call *call, struct ordo_tiles t,
                                          const struct ordo_tile_kernels *kernels, struct ordo_launch *launch,
                                          struct ordo_args *args)
{
    cl_mem sums = NULL;
    if (t.group == 1)
        divide_for_cores(call->dev, &t);
    launch->groups = t.group == 1 ? t.groups - 1 : t.groups;
    ORDO_TRY(ordo_call_scratch(call, t.groups * kernels->item_bytes, &sums));
    ORDO_ADD(args, ORDO_ARG(t.tiles), ORDO_ARG(t.range), ORDO_ARG(sums));
    launch->kernel = kernels->sums;
    ORDO_TRY(ordo_call_launch(call, launch, args));
    launch->kernel = kernels->ranges;
    return ordo_call_launch(call, launch, args);
}

ordo_status ordo_call_tiles(struct ordo_call *call, const struct ordo_tiles *t, const struct ordo_tile_kernels *kernels,
                            struct ordo_launch launch, struct ordo_args *args)
{
    const cl_mem no_sums = NULL;
    if (t->groups > 1 && t->lookback) {
        launch.kernel = kernels->look_back;
        return launch_look_back(call, t, kernels->payload_bytes, &launch, args);
    }
    if (t->groups > 1)
        return launch_sums_and_ranges(call, *t, kernels, &launch, args);
    ORDO_ADD(args, ORDO_ARG(t->tiles), ORDO_ARG(t->range), ORDO_ARG(no_sums));
    launch.kernel = kernels->ranges;
    return ordo_call_launch(call, &launch, args);
}

ordo_type ordo_fold_type(ordo_type type, ordo_op op)
{
    if (op != ORDO_SUM)
        return type;
    return ordo_type_bytes(type) == 8 ? ORDO_U64 : ORDO_U32;
}
