/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/ltree/ltree.h"

#include "dict/batch.h"
#include "primitive/scan.h"

#define RANGE_FILE "dict/ltree/range.cl"

static struct ordo_slice from(struct ordo_slice slice, size_t at)
{
    return slice.mem ? ordo_at(slice.mem, slice.at + at) : slice;
}

/* Scratch memory for a segment (some consecutive ranges) of the batch:
 *
 *   leaves[i]   leaf in which range i starts
 *   nexts[i]    right neighbour of this leaf
 *   at[i]       slot in which range i starts
 *   pieces[i]   number of leaves of range i if it is long, else 0 */
struct starts {
    cl_mem leaves, nexts, at, pieces;
};

static ordo_status take_starts(struct ordo_call *call, size_t count, struct starts *out)
{
    ORDO_TRY(ordo_call_scratch(call, count * sizeof(cl_uint), &out->leaves));
    ORDO_TRY(ordo_call_scratch(call, count * sizeof(cl_uint), &out->nexts));
    ORDO_TRY(ordo_call_scratch(call, count * sizeof(cl_uint), &out->at));
    return ordo_call_scratch(call, (count + 1) * sizeof(cl_ulong), &out->pieces);
}

static ordo_status measure(struct ordo_call *call, const struct ordo_ltree *tree, const struct ordo_ranges *r,
                           bool offsets, const struct starts *s)
{
    const struct ordo_slice counts = offsets ? r->offsets : ordo_none();
    struct ordo_args        args = ordo_ltree_args(tree);

    ORDO_ADD(&args, ORDO_ARG_UINT(tree->list.places), ORDO_ARG(tree->list.place), ORDO_ARG(tree->list.before));
    ordo_args_slice(&args, &r->lo);
    ordo_args_slice(&args, &r->hi);
    ORDO_ADD(&args, ORDO_ARG_UINT(r->count), ORDO_ARG(s->leaves), ORDO_ARG(s->nexts), ORDO_ARG(s->at),
             ORDO_ARG(s->pieces));
    ordo_args_slice(&args, &counts);
    const struct ordo_launch launch =
        ordo_ltree_kernel(tree, RANGE_FILE, "ltree_measure", ordo_ltree_search_shape(tree), r->count);
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status scan_sums(struct ordo_call *call, struct ordo_slice sums, size_t count)
{
    const struct ordo_scan scan = { .type = ORDO_U64, .op = ORDO_SUM, .in = sums, .out = sums, .count = count };
    return ordo_call_scan(call, &scan);
}

#define PIECE_ITEMS     ((size_t) 1 << 19)
#define PIECE_ITEMS_CPU ((size_t) 1 << 12)

/* The ranges are divided into about RANGE_TILES tiles. A work-group copies one tile at a time. */
#define RANGE_TILES ((size_t) 4096)

struct limit {
    cl_ulong last, capacity;
};

static void add_results(struct ordo_args *args, const struct ordo_ranges *r, const struct limit *limit)
{
    ordo_args_slice(args, &r->offsets);
    ORDO_ADD(args, ORDO_ARG(limit->last), ORDO_ARG(limit->capacity));
    ordo_args_slice(args, &r->keys_out);
    ordo_args_slice(args, &r->values_out);
}

static ordo_status write_short(struct ordo_call *call, const struct ordo_ltree *tree, const struct ordo_ranges *r,
                               const struct limit *limit, const struct starts *s)
{
    const struct ordo_ltree_shape shape = ordo_ltree_flat(tree);
    const size_t                  most = ordo_min_size(shape.group, ordo_ceil_div(r->count, RANGE_TILES));
    const bool                    cpu = ordo_device_facts(call->dev)->cpu;
    const struct ordo_launch      launch = ordo_ltree_kernel(tree, RANGE_FILE, "ltree_range_short", shape,
                                                        cpu ? r->count : ordo_ceil_div(r->count, most) * shape.group);
    struct ordo_args              args = ordo_ltree_args(tree);

    ORDO_ADD(&args, ORDO_ARG_UINT(r->count), ORDO_ARG_UINT(most), ORDO_ARG(s->leaves), ORDO_ARG(s->nexts),
             ORDO_ARG(s->at));
    add_results(&args, r, limit);
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status write_long(struct ordo_call *call, const struct ordo_ltree *tree, const struct ordo_ranges *r,
                              const struct limit *limit, const struct starts *s)
{
    const bool               cpu = ordo_device_facts(call->dev)->cpu;
    const struct ordo_launch launch =
        ordo_ltree_kernel(tree, RANGE_FILE, "ltree_range_long", ordo_ltree_flat(tree),
                          cpu ? PIECE_ITEMS_CPU : ordo_min_size(limit->capacity, PIECE_ITEMS));
    struct ordo_args args = ordo_ltree_args(tree);

    ORDO_TRY(scan_sums(call, ordo_at(s->pieces, 0), r->count + 1));
    ORDO_ADD(&args, ORDO_ARG(tree->list.order), ORDO_ARG(tree->list.place), ORDO_ARG(tree->list.before),
             ORDO_ARG_UINT(r->count), ORDO_ARG(s->leaves), ORDO_ARG(s->at), ORDO_ARG(s->pieces));
    add_results(&args, r, limit);
    return ordo_call_launch(call, &launch, &args);
}

static struct ordo_ranges segment_of(const struct ordo_ranges *ranges, size_t at, size_t most)
{
    struct ordo_ranges part = *ranges;
    part.lo = from(ranges->lo, at);
    part.hi = from(ranges->hi, at);
    part.offsets = from(ranges->offsets, at);
    part.count = ordo_min_size(ranges->count - at, most);
    return part;
}

/* Measures each segment twice, first for the offsets, then for the elements, because scratch memory has room for only
 * one segment. */
static ordo_status range_in_segments(struct ordo_call *call, const struct ordo_ltree *tree,
                                     const struct ordo_ranges *ranges, size_t most, const struct starts *s)
{
    const bool         wanted = ranges->capacity > 0 && (ranges->keys_out.mem || ranges->values_out.mem);
    const struct limit limit = { ranges->offsets.at + ranges->count, ranges->capacity };

    for (size_t at = 0; at < ranges->count && !ranges->offsets_known; at += most) {
        const struct ordo_ranges part = segment_of(ranges, at, most);
        ORDO_TRY(measure(call, tree, &part, true, s));
    }
    if (!ranges->offsets_known)
        ORDO_TRY(scan_sums(call, ranges->offsets, ranges->count + 1));
    for (size_t at = 0; at < ranges->count && wanted; at += most) {
        const struct ordo_ranges part = segment_of(ranges, at, most);
        if (ranges->offsets_known || most < ranges->count)
            ORDO_TRY(measure(call, tree, &part, false, s));
        ORDO_TRY(write_short(call, tree, &part, &limit, s));
        ORDO_TRY(write_long(call, tree, &part, &limit, s));
    }
    return ORDO_OK;
}

ordo_status ordo_ltree_range(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranges *ranges)
{
    struct ordo_ltree *tree = ordo_ltree_of(dict);
    const int          mark = call->n_scratch;
    const size_t       most = ordo_min_size(ranges->count, ORDO_LTREE_QUERIES_MAX);
    struct starts      starts;

    ORDO_TRY(ordo_ltree_begin_order(call, tree));
    ORDO_TRY(take_starts(call, most, &starts));
    ORDO_TRY(range_in_segments(call, tree, ranges, most, &starts));
    ordo_call_release(call, mark);
    return ORDO_OK;
}
