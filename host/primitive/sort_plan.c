/* SPDX-License-Identifier: Apache-2.0 */
#include "primitive/sort_plan.h"

#include "shared/sort.h"

#include <assert.h>

static void measure(const struct ordo_facts *facts, struct ordo_sort_plan *p)
{
    assert(facts->sub_group > 0);
    p->local_bytes =
        SORT_LOCAL_BYTES(p->group, facts->sub_group, p->items, p->digit_bits, SHARED_MAX(p->key_bytes, p->value_bytes));
    p->histogram_bytes = HISTOGRAM_LOCAL_BYTES(8 * p->key_bytes, p->digit_bits, p->copies, p->group, facts->sub_group);
}

/* Reduces group size, items per work-item and digit bits until a tile fits in local memory. If `histogram` is true, the
 * histogram must fit, too. */
static void fit(const struct ordo_facts *facts, struct ordo_sort_plan *p, bool histogram)
{
    assert(p->group > 0 && p->items > 0);
    p->copies = 1;
    for (measure(facts, p); p->group > 1 && p->local_bytes > facts->local_bytes; measure(facts, p)) {
        const uint32_t counts = SORT_COUNT_BYTES(p->group, facts->sub_group, p->digit_bits);
        if (counts > facts->local_bytes / 2 && p->digit_bits > 4)
            p->digit_bits--;
        else if (p->items > 4)
            p->items--;
        else
            p->group = p->group / 2 < facts->sub_group ? 1 : p->group / 2;
    }
    for (; histogram && p->digit_bits > 4 && p->histogram_bytes > facts->local_bytes; measure(facts, p))
        p->digit_bits--;
    p->copies = 4;
    for (measure(facts, p); p->copies > 1 && p->histogram_bytes > facts->local_bytes; measure(facts, p))
        p->copies /= 2;
    p->tile = p->group * p->items;
    p->tiles = (uint32_t) SHARED_CEIL_DIV(p->count, p->tile);
    p->passes = SHARED_CEIL_DIV(p->bits, p->digit_bits);
}

/* Small arrays get small tiles, so that no compute unit is idle. 2^18 pairs take 46 us with 2048 elements per tile, 68
 * us with 10752 (H100). */
static uint32_t items_for(const struct ordo_facts *facts, size_t count, uint32_t group, uint32_t items_max)
{
    const size_t round = (size_t) group * facts->compute_units;
    for (uint32_t items = group < 1024 ? 2048 / group : 2; items < items_max; items *= 2)
        if (round * items >= count)
            return items;
    return items_max;
}

_Static_assert(ORDO_SORT_LOCAL_ITEMS - ORDO_SORT_METHOD == 10, "the tunables of a sort are neighbours");

struct basis {
    const ordo_device       *dev;
    const struct ordo_facts *facts;
    enum ordo_shape          shape;
    uint32_t                 tuned[ORDO_SORT_LOCAL_ITEMS + 1];
};

/* Arrays of at most this number of small tiles are not sorted in full tiles. */
enum { QUARTERS_MAX = 16 };

/* Plans a sort with tiles of small_group * small_items elements, or of a quarter. If there are several tiles, a second
 * launch merges them. 2^14 elements with 8-byte keys and 4-byte values take 27 us, and 60 us with the other methods
 * (H200). Quarters are faster for keys of more than 4 bytes: 4096 keys of 8 bytes take 26 us in one full tile, 2^13
 * take 21 us in quarters. */
static bool plan_small(const struct basis *b, struct ordo_sort_plan *p)
{
    const uint32_t        merged = b->tuned[ORDO_SORT_MERGED];
    struct ordo_sort_plan small = *p;
    small.group = (uint32_t) ordo_group_of(b->dev, ORDO_SORT_SMALL_GROUP, b->shape);
    small.items = b->tuned[ORDO_SORT_SMALL_ITEMS];
    small.registers = 0;
    if (small.group == 1)
        return false;
    const size_t   tile = (size_t) small.group * small.items, quarters = ordo_ceil_div(4 * p->count, tile);
    const uint32_t quarters_max = merged < QUARTERS_MAX ? merged : QUARTERS_MAX;
    const bool     one_tile = p->count <= tile && p->key_bytes <= 4;
    if ((quarters <= 1 || (!one_tile && quarters <= quarters_max)) && small.group >= 256 && small.items >= 4) {
        small.group /= 2;
        small.items /= 2;
    }
    fit(b->facts, &small, false);
    if (small.group == 1 || (small.tiles > 1 && small.tiles > merged))
        return false;
    small.way = small.tiles > 1 ? ORDO_SORT_BY_MERGE : ORDO_SORT_BY_SMALL;
    *p = small;
    return true;
}

static void plan_local(const struct basis *b, struct ordo_sort_plan *p)
{
    const uint32_t         log2_min = b->tuned[ORDO_SORT_LOCAL];
    struct ordo_sort_local l = { .group = (uint32_t) ordo_group_of(b->dev, ORDO_SORT_LOCAL_GROUP, b->shape),
                                 .items = b->tuned[ORDO_SORT_LOCAL_ITEMS] };
    if (SHARED_MAX(p->key_bytes, p->value_bytes) > 8 && l.group > b->facts->sub_group)
        l.group /= 2; /* 16-byte keys take twice as many registers as 8-byte keys. So do values. */
    l.local_bytes = SORT_RANGE_LOCAL_BYTES(l.group, b->facts->sub_group, l.items);
    if (p->key_bytes < 8 || p->first_bit + p->bits != 8 * p->key_bytes || p->digit_bits != 8 ||
        p->passes < SORT_LOCAL_DIGITS || log2_min == 0 || l.group == 1 || p->count >> log2_min == 0 ||
        l.local_bytes > b->facts->local_bytes)
        return;
    /* A segment is all elements with equal top digits. A work-group sorts `step` elements, and up to `room` more to
     * complete its last segment. */
    const uint32_t range = l.group * l.items;
    const size_t   segment = SHARED_MAX(256, 2 * SHARED_CEIL_DIV(p->count, 65536));
    const uint32_t room = segment < range / 2 ? (uint32_t) segment : range / 2;
    l.step = range - room;
    l.segment_limit = room * 3 / 4;
    l.ranges = (uint32_t) SHARED_CEIL_DIV(p->count, l.step);
    p->local = l;
}

/* Maximum chunks per compute unit. More would slow down sort_chunk_scan. Fewer would leave some cores idle, because
 * some drivers give a thread 32 groups at a time. */
enum { CHUNKS_PER_UNIT = 128 };

/* With at most this number of chunks, one work-item sorts all elements. For 1024 keys of 8 bytes,
 * ORDO_SORT_BY_MANY_CHUNKS would take ten times as long (PoCL, two cores). */
enum { FEW_CHUNKS = 4 };

static void plan_chunks(const struct ordo_facts *facts, struct ordo_sort_plan *p)
{
    const size_t chunk = (size_t) p->items * 1024;
    p->way = p->count <= FEW_CHUNKS * chunk ? ORDO_SORT_BY_FEW_CHUNKS : ORDO_SORT_BY_MANY_CHUNKS;
    p->chunk = (uint32_t) SHARED_MAX(chunk, ordo_ceil_div(p->count, (size_t) CHUNKS_PER_UNIT * facts->compute_units));
    p->chunks = (uint32_t) ordo_ceil_div(p->count, p->chunk);
    p->group = 1;
}

/* A bucket should have less than 2^BUCKET_ELEMENTS_LOG2 elements on average, to fit in the L2 cache. */
#define BUCKET_ELEMENTS_LOG2 14

/* A chunk should have this number of elements per bucket. */
#define BUCKET_SHARE 256

/* Maximum bytes for sort_buckets.room. They are part of the memory that ordo_sort documents. */
#define ROOM_BYTES(pair_bytes_all) (((size_t) 2 << 20) + (pair_bytes_all) / 100)

/* Kernels use buckets only if none has more elements than p->count divided by the number of cores. */
static void plan_buckets(const struct basis *b, struct ordo_sort_plan *p)
{
    const uint32_t log2_min = b->tuned[ORDO_SORT_LOCAL], pair_bytes = p->key_bytes + p->value_bytes;
    const size_t   units = b->facts->compute_units;
    const bool     blocks = pair_bytes <= SORT_BLOCK_PAIR_MAX && p->count * pair_bytes > b->facts->cache_bytes;
    /* One more bit makes sorts of 2^22 pairs of u32 faster (38 instead of 45 ms, PoCL, two cores), but sorts of larger
     * pairs slower. */
    const uint32_t            small_max = SORT_BUCKET_BITS_MIN + (pair_bytes <= SORT_BLOCK_PAIR_MAX);
    const uint32_t            bits_max = blocks ? SORT_BUCKET_BITS_MAX : small_max;
    struct ordo_sort_buckets *to = &p->buckets;

    if (!b->facts->cpu || p->way != ORDO_SORT_BY_MANY_CHUNKS || p->passes <= 2 || log2_min == 0 ||
        p->count >> log2_min == 0)
        return;
    *to = (struct ordo_sort_buckets) { .bits = SORT_BUCKET_BITS_MIN,
                                       .longest = (uint32_t) (p->count / units),
                                       .chunk = p->chunk,
                                       .chunks = p->chunks,
                                       .step = 1,
                                       .sort_step = CHUNKS_PER_UNIT,
                                       .blocks = blocks };
    to->room = (uint32_t) ordo_min_size(to->longest, ROOM_BYTES(p->count * pair_bytes) / pair_bytes / units);
    while (to->bits < bits_max && p->count >> (to->bits + BUCKET_ELEMENTS_LOG2) > 0)
        to->bits++;
    if (!blocks)
        return;
    const size_t chunks = SHARED_MAX(units, ordo_min_size(8 * units, p->count / BUCKET_SHARE >> to->bits));
    to->chunk = (uint32_t) ordo_ceil_div(p->count, chunks);
    to->chunks = (uint32_t) ordo_ceil_div(p->count, to->chunk);
    to->step = (uint32_t) ordo_ceil_div(CHUNKS_PER_UNIT * units, to->chunks);
}

struct ordo_sort_plan ordo_sort_plan_of(const ordo_device *dev, const struct ordo_sort_params *params, size_t key_bytes,
                                        size_t count, bool in_place)
{
    struct basis b = { dev, ordo_device_facts(dev), ordo_shape_of(key_bytes, params->value_bytes), { 0 } };
    for (enum ordo_tunable t = ORDO_SORT_METHOD; t <= ORDO_SORT_LOCAL_ITEMS; t++)
        b.tuned[t] = ordo_tunable(dev, t, b.shape);
    const uint32_t tuned = b.tuned[ORDO_SORT_METHOD];
    const uint32_t method = tuned == ORDO_SORT_ONESWEEP && !b.facts->groups_progress ? ORDO_SORT_REDUCE_SCAN : tuned;
    struct ordo_sort_plan p = {
        .count = count,
        .key = params->key,
        .key_bytes = (uint32_t) key_bytes,
        .value_bytes = params->value_bytes,
        .descending = params->descending,
        .in_place = in_place,
        .first_bit = params->first_bit,
        .bits = params->bits ? params->bits : 8 * (uint32_t) key_bytes - params->first_bit,
        .group = (uint32_t) ordo_group_of(dev, ORDO_SORT_GROUP, b.shape),
        .items = b.tuned[ORDO_SORT_ITEMS],
        .digit_bits = b.tuned[ORDO_SORT_DIGIT_BITS],
        .registers = b.tuned[ORDO_SORT_REGISTERS],
    };
    if (method != ORDO_SORT_CHUNKED)
        p.items = items_for(b.facts, count, p.group, p.items);
    fit(b.facts, &p, method == ORDO_SORT_ONESWEEP);
    const bool chunked = method == ORDO_SORT_CHUNKED || p.group == 1;
    if (!chunked && plan_small(&b, &p))
        return p;
    /* Passes write to the spare buffer and the output in turn, and end in the output. A sort in place therefore needs
     * an even number of passes. */
    p.passes += in_place && p.passes % 2 == 1;
    if (chunked) {
        plan_chunks(b.facts, &p);
        plan_buckets(&b, &p);
    } else {
        p.way = method == ORDO_SORT_ONESWEEP ? ORDO_SORT_BY_ONESWEEP : ORDO_SORT_BY_REDUCE_SCAN;
        p.launch_tiles = SORT_LAUNCH_MAX / p.tile;
        p.launches = SHARED_CEIL_DIV(p.tiles, p.launch_tiles);
        p.histogram_groups = p.tiles < 4 * b.facts->compute_units ? p.tiles : 4 * b.facts->compute_units;
        plan_local(&b, &p);
        p.planned = key_bytes >= 8 && (method == ORDO_SORT_ONESWEEP || p.local.step > 0);
    }
    return p;
}
