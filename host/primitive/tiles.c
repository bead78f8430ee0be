/* SPDX-License-Identifier: Apache-2.0 */
/* How scan, reduce and compact cut an array: see tiles.h. */
#include "primitive/tiles.h"

/* Limits of group/tile.cl, where a tile lies in registers, and of the group that works alone. */
enum { ITEMS_IN_REGISTERS = 24, ITEMS_ALONE = 1024 };

/* A call of so few tiles is one group's work: a second launch would cost more. */
enum { TILES_OF_ONE_GROUP = 4 };

/* Most groups of a launch per phase: their results, of at most 16 bytes each, then fit 64 KiB. */
enum { GROUPS_MAX = 4096 };

/* Work-items per compute unit that hide the memory's latency, and chunks per core that even out the load. */
enum { ITEMS_PER_UNIT = 2048, CHUNKS_PER_CORE = 4 };

static size_t items_of(size_t group, size_t items)
{
    if (group == 1)
        return items < ITEMS_ALONE ? ITEMS_ALONE : items;
    return ordo_min_size(items, ITEMS_IN_REGISTERS);
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
    const struct ordo_facts *facts = ordo_device_facts(dev);
    const enum ordo_shape    shape = ordo_shape_of(key_bytes, 0);
    struct ordo_tiles        t = { .group = ordo_group_of(dev, group, shape) };

    t.items = items_of(t.group, ordo_tunable(dev, items, shape));
    t.lookback = ordo_looks_back(dev, shape);
    t.shift = t.group == 1 ? 0 : (cl_uint) (at % (16 / key_bytes));
    t.tiles = (cl_uint) ordo_ceil_div(count + t.shift, t.group * t.items);
    t.range =
        t.tiles <= TILES_OF_ONE_GROUP ? t.tiles : (cl_uint) ordo_ceil_div(t.tiles, groups_at_once(facts, t.group));
    t.groups = t.tiles ? ordo_ceil_div(t.tiles, t.range) : 0;
    return t;
}

/* LOOKBACK_STAMP_BITS of group/lookback.cl. */
enum { LOOKBACK_STAMPS = (1 << 13) - 1 };

/* LOOKBACK_TICKET_BYTES and LOOKBACK_WORDS of group/lookback.cl: half of a word is payload. */
static size_t lookback_bytes(size_t tiles, size_t item_bytes)
{
    return 64 + tiles * 2 * item_bytes;
}

ordo_status ordo_lookback_state(struct ordo_call *call, size_t tiles, size_t item_bytes, struct ordo_lookback *out)
{
    return ordo_call_stamped(call, lookback_bytes(tiles, item_bytes), LOOKBACK_STAMPS, &out->mem, &out->stamp);
}
