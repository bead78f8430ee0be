/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of a linked tree at rest: launches of cl/dict/links/query.cl and of the list of leaves. */
#include "dict/links/links.h"

#include "dict/batch.h"
#include "primitive/scan.h"

#define BUILD_FILE "dict/links/build.cl"
#define QUERY_FILE "dict/links/query.cl"

/* ---- keys -------------------------------------------------------------------------------------------------------- */

ordo_status ordo_links_find(ordo_dict *dict, struct ordo_call *call, const struct ordo_finds *finds)
{
    struct ordo_links            *tree = ordo_links_of(dict);
    const struct ordo_links_shape shape = ordo_links_search_shape(tree);
    const cl_uint                 n = (cl_uint) finds->count;
    struct ordo_args              args = { .n = 0 };

    ORDO_TRY(ordo_links_begin(call, tree));
    ordo_links_add_tree(&args, tree);
    ordo_args_slice(&args, &finds->keys);
    ORDO_ADD(&args, ORDO_ARG(n));
    ordo_args_slice(&args, &finds->values_out);
    ordo_args_slice(&args, &finds->found);
    return ordo_links_launch(call, tree, QUERY_FILE, "links_find", &shape, finds->count, &args);
}

ordo_status ordo_links_find_in_batch(struct ordo_call *call, const struct ordo_links *tree,
                                     const struct ordo_concurrent_batch *batch)
{
    const struct ordo_links_shape shape = ordo_links_search_shape(tree);
    const cl_uint                 n = (cl_uint) batch->count;
    struct ordo_args              args = { .n = 0 };

    ordo_links_add_tree(&args, tree);
    ordo_args_slice(&args, &batch->codes);
    ordo_args_slice(&args, &batch->keys);
    ORDO_ADD(&args, ORDO_ARG(n));
    ordo_args_slice(&args, &batch->values_out);
    ordo_args_slice(&args, &batch->found);
    ordo_args_slice(&args, &batch->outcomes);
    ORDO_ADD(&args, ORDO_ARG(tree->history));
    return ordo_links_launch(call, tree, QUERY_FILE, "links_find_in_batch", &shape, batch->count, &args);
}

ordo_status ordo_links_count_absent(struct ordo_call *call, const struct ordo_links *tree,
                                    const struct ordo_concurrent_batch *batch, uint32_t step, cl_mem absent)
{
    const struct ordo_links_shape shape = ordo_links_search_shape(tree);
    const cl_uint                 n = (cl_uint) batch->count;
    struct ordo_args              args = { .n = 0 };

    ordo_links_add_tree(&args, tree);
    ordo_args_slice(&args, &batch->codes);
    ordo_args_slice(&args, &batch->keys);
    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(step), ORDO_ARG(absent));
    return ordo_links_launch(call, tree, QUERY_FILE, "links_absent", &shape, ordo_ceil_div(batch->count, step), &args);
}

ordo_status ordo_links_locate(struct ordo_call *call, const struct ordo_links *tree, struct ordo_slice keys,
                              size_t count, cl_mem leaves, cl_mem positions, cl_mem parents)
{
    const struct ordo_links_shape shape = ordo_links_search_shape(tree);
    const cl_uint                 n = (cl_uint) count;
    struct ordo_args              args = { .n = 0 };

    ordo_links_add_tree(&args, tree);
    ordo_args_slice(&args, &keys);
    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(leaves), ORDO_ARG(positions), ORDO_ARG(parents));
    return ordo_links_launch(call, tree, QUERY_FILE, "links_locate", &shape, count, &args);
}

/* Begins every query by order. */
static ordo_status begin_order(struct ordo_call *call, struct ordo_links *tree)
{
    ORDO_TRY(ordo_links_begin(call, tree));
    return ordo_links_list_leaves(call, tree);
}

/* Queries of which something is in scratch at once. */
#define QUERIES_MAX ((size_t) 1 << 26)

static struct ordo_slice from(struct ordo_slice slice, size_t at)
{
    return slice.mem ? ordo_at(slice.mem, slice.at + at) : slice;
}

/* ---- counts ------------------------------------------------------------------------------------------------------ */

ordo_status ordo_links_count(ordo_dict *dict, struct ordo_call *call, const struct ordo_counts *counts)
{
    struct ordo_links            *tree = ordo_links_of(dict);
    const struct ordo_links_shape shape = ordo_links_search_shape(tree);
    const cl_uint                 n = (cl_uint) counts->count;
    struct ordo_args              args = { .n = 0 };

    ORDO_TRY(begin_order(call, tree));
    ordo_links_add_tree(&args, tree);
    ORDO_ADD(&args, ORDO_ARG(tree->list.place), ORDO_ARG(tree->list.before));
    ordo_args_slice(&args, &counts->lo);
    ordo_args_slice(&args, &counts->hi);
    ORDO_ADD(&args, ORDO_ARG(n));
    ordo_args_slice(&args, &counts->counts);
    return ordo_links_launch(call, tree, QUERY_FILE, "links_counts", &shape, counts->count, &args);
}

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

/* Of a stretch of ranges, in scratch: where each begins, and its pieces if it is long. */
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

/* Starts of one stretch of ranges; the numbers of elements in the place of offsets, too, if wanted. */
static ordo_status measure(struct ordo_call *call, const struct ordo_links *tree, const struct ordo_ranges *r,
                           bool offsets, const struct starts *s)
{
    const struct ordo_links_shape shape = ordo_links_search_shape(tree);
    const cl_uint                 n = (cl_uint) r->count, places = (cl_uint) tree->list.places;
    const struct ordo_slice       counts = offsets ? r->offsets : ordo_none();
    struct ordo_args              args = { .n = 0 };

    ordo_links_add_tree(&args, tree);
    ORDO_ADD(&args, ORDO_ARG(places), ORDO_ARG(tree->list.place), ORDO_ARG(tree->list.before));
    ordo_args_slice(&args, &r->lo);
    ordo_args_slice(&args, &r->hi);
    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(s->leaves), ORDO_ARG(s->nexts), ORDO_ARG(s->at), ORDO_ARG(s->pieces));
    ordo_args_slice(&args, &counts);
    return ordo_links_launch(call, tree, QUERY_FILE, "links_measure", &shape, r->count, &args);
}

static ordo_status scan_sums(struct ordo_call *call, struct ordo_slice sums, size_t count)
{
    const struct ordo_scan scan = { .type = ORDO_U64, .op = ORDO_SUM, .in = sums, .out = sums, .count = count };
    return ordo_call_scan(call, &scan);
}

/* How many pieces there are is known on the device alone: work-items for as many as there may be, within reason. */
#define PIECE_ITEMS     ((size_t) 1 << 19)
#define PIECE_ITEMS_CPU ((size_t) 1 << 12)

/* A group takes as many short ranges at a time as it has work-items, but fewer where there would be less than so many
 * tiles. */
#define RANGE_TILES ((size_t) 4096)

static void add_results(struct ordo_args *args, const struct ordo_ranges *r, const cl_ulong *last,
                        const cl_ulong *capacity)
{
    ordo_args_slice(args, &r->offsets);
    ORDO_ADD(args, ORDO_ARG(*last), ORDO_ARG(*capacity));
    ordo_args_slice(args, &r->keys_out);
    ordo_args_slice(args, &r->values_out);
}

/* `all`: of which these ranges are a stretch, so that all say whether there is room. */
static ordo_status write_ranges(struct ordo_call *call, const struct ordo_links *tree, const struct ordo_ranges *r,
                                const struct ordo_ranges *all, const struct starts *s)
{
    const struct ordo_links_shape shape = ordo_links_flat(tree);
    const bool                    cpu = ordo_device_facts(call->dev)->cpu;
    const cl_uint                 n = (cl_uint) r->count;
    const cl_uint                 most = (cl_uint) ordo_min_size(shape.group, ordo_ceil_div(r->count, RANGE_TILES));
    const cl_ulong                last = all->offsets.at + all->count, capacity = all->capacity;
    struct ordo_args              brief = { .n = 0 }, lengthy = { .n = 0 };

    ordo_links_add_tree(&brief, tree);
    ORDO_ADD(&brief, ORDO_ARG(n), ORDO_ARG(most), ORDO_ARG(s->leaves), ORDO_ARG(s->nexts), ORDO_ARG(s->at));
    add_results(&brief, r, &last, &capacity);
    ORDO_TRY(ordo_links_launch(call, tree, QUERY_FILE, "links_range_short", &shape,
                               cpu ? r->count : ordo_ceil_div(r->count, most) * shape.group, &brief));
    ORDO_TRY(scan_sums(call, ordo_at(s->pieces, 0), r->count + 1));
    ordo_links_add_tree(&lengthy, tree);
    ORDO_ADD(&lengthy, ORDO_ARG(tree->list.order), ORDO_ARG(tree->list.place), ORDO_ARG(tree->list.before), ORDO_ARG(n),
             ORDO_ARG(s->leaves), ORDO_ARG(s->at), ORDO_ARG(s->pieces));
    add_results(&lengthy, r, &last, &capacity);
    return ordo_links_launch(call, tree, QUERY_FILE, "links_range_long", &shape,
                             cpu ? PIECE_ITEMS_CPU : ordo_min_size(all->capacity, PIECE_ITEMS), &lengthy);
}

static struct ordo_ranges stretch_of(const struct ordo_ranges *ranges, size_t at, size_t most)
{
    struct ordo_ranges part = *ranges;
    part.lo = from(ranges->lo, at);
    part.hi = from(ranges->hi, at);
    part.offsets = from(ranges->offsets, at);
    part.count = ordo_min_size(ranges->count - at, most);
    return part;
}

/* The starts of one stretch stay for the second half; those of more are found again. */
static ordo_status range_in_stretches(struct ordo_call *call, const struct ordo_links *tree,
                                      const struct ordo_ranges *ranges, size_t most, const struct starts *s)
{
    const bool wanted = ranges->capacity > 0 && (ranges->keys_out.mem || ranges->values_out.mem);

    for (size_t at = 0; at < ranges->count && !ranges->offsets_known; at += most) {
        const struct ordo_ranges part = stretch_of(ranges, at, most);
        ORDO_TRY(measure(call, tree, &part, true, s));
    }
    if (!ranges->offsets_known)
        ORDO_TRY(scan_sums(call, ranges->offsets, ranges->count + 1));
    for (size_t at = 0; at < ranges->count && wanted; at += most) {
        const struct ordo_ranges part = stretch_of(ranges, at, most);
        if (ranges->offsets_known || most < ranges->count)
            ORDO_TRY(measure(call, tree, &part, false, s));
        ORDO_TRY(write_ranges(call, tree, &part, ranges, s));
    }
    return ORDO_OK;
}

ordo_status ordo_links_range(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranges *ranges)
{
    struct ordo_links *tree = ordo_links_of(dict);
    const int          mark = call->n_scratch;
    const size_t       most = ordo_min_size(ranges->count, QUERIES_MAX);
    struct starts      starts;

    ORDO_TRY(begin_order(call, tree));
    ORDO_TRY(take_starts(call, most, &starts));
    ORDO_TRY(range_in_stretches(call, tree, ranges, most, &starts));
    ordo_call_release(call, mark);
    return ORDO_OK;
}

/* ---- neighbours -------------------------------------------------------------------------------------------------- */

static ordo_status seek_some(struct ordo_call *call, const struct ordo_links *tree, const struct ordo_seeks *s,
                             cl_mem leaves, cl_mem positions)
{
    const struct ordo_links_shape shape = ordo_links_flat(tree);
    const cl_uint                 n = (cl_uint) s->count, places = (cl_uint) tree->list.places;
    const cl_uint                 n_forward = ordo_seeks_forward(s);
    const cl_uint                 upper = s->relation == ORDO_LE || s->relation == ORDO_GT;
    struct ordo_args              args = { .n = 0 };

    ORDO_TRY(ordo_links_locate(call, tree, s->keys, s->count, leaves, positions, NULL));
    ordo_links_add_tree(&args, tree);
    ORDO_ADD(&args, ORDO_ARG(places), ORDO_ARG(tree->list.order), ORDO_ARG(tree->list.place),
             ORDO_ARG(tree->list.before), ORDO_ARG(n), ORDO_ARG(leaves), ORDO_ARG(positions), ORDO_ARG(n_forward),
             ORDO_ARG(upper));
    ordo_args_slice(&args, &s->keys_out);
    ordo_args_slice(&args, &s->values_out);
    ordo_args_slice(&args, &s->found);
    return ordo_links_launch(call, tree, QUERY_FILE, "links_seek", &shape, s->count, &args);
}

ordo_status ordo_links_seek(ordo_dict *dict, struct ordo_call *call, const struct ordo_seeks *seeks)
{
    struct ordo_links *tree = ordo_links_of(dict);
    const int          mark = call->n_scratch;
    const size_t       most = ordo_min_size(seeks->count, QUERIES_MAX);
    cl_mem             leaves = NULL, positions = NULL;

    ORDO_TRY(begin_order(call, tree));
    ORDO_TRY(ordo_call_scratch(call, most * sizeof(cl_uint), &leaves));
    ORDO_TRY(ordo_call_scratch(call, most * sizeof(cl_uint), &positions));
    for (size_t at = 0; at < seeks->count; at += most) {
        const struct ordo_seeks part = ordo_seeks_from(seeks, at, most);
        ORDO_TRY(seek_some(call, tree, &part, leaves, positions));
    }
    ordo_call_release(call, mark);
    return ORDO_OK;
}

/* ---- ranks of keys, elements of ranks ---------------------------------------------------------------------------- */

ordo_status ordo_links_rank(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranks *ranks)
{
    struct ordo_links            *tree = ordo_links_of(dict);
    const struct ordo_links_shape shape = ordo_links_search_shape(tree);
    const cl_uint                 n = (cl_uint) ranks->count, upper = ranks->upper;
    struct ordo_args              args = { .n = 0 };

    ORDO_TRY(begin_order(call, tree));
    ordo_links_add_tree(&args, tree);
    ORDO_ADD(&args, ORDO_ARG(tree->list.place), ORDO_ARG(tree->list.before));
    ordo_args_slice(&args, &ranks->keys);
    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(upper));
    ordo_args_slice(&args, &ranks->ranks);
    return ordo_links_launch(call, tree, QUERY_FILE, "links_ranks", &shape, ranks->count, &args);
}

ordo_status ordo_links_select(ordo_dict *dict, struct ordo_call *call, const struct ordo_selects *selects)
{
    struct ordo_links            *tree = ordo_links_of(dict);
    const struct ordo_links_shape shape = ordo_links_flat(tree);
    const cl_uint                 n = (cl_uint) selects->count;
    struct ordo_args              args = { .n = 0 };

    ORDO_TRY(begin_order(call, tree));
    const cl_uint places = (cl_uint) tree->list.places;
    ordo_links_add_tree(&args, tree);
    ORDO_ADD(&args, ORDO_ARG(places), ORDO_ARG(tree->list.order), ORDO_ARG(tree->list.before));
    ordo_args_slice(&args, &selects->ranks);
    ORDO_ADD(&args, ORDO_ARG(n));
    ordo_args_slice(&args, &selects->keys_out);
    ordo_args_slice(&args, &selects->values_out);
    ordo_args_slice(&args, &selects->found);
    return ordo_links_launch(call, tree, QUERY_FILE, "links_select", &shape, selects->count, &args);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

ordo_status ordo_links_size(ordo_dict *dict, struct ordo_call *call, size_t *out)
{
    struct ordo_links *tree = ordo_links_of(dict);
    cl_uint            state[LINKS_STATE_WORDS];
    ORDO_TRY(ordo_links_begin(call, tree));
    ORDO_TRY(ordo_links_read_state(call, tree, state));
    *out = state[LINKS_ELEMENTS];
    return ORDO_OK;
}

ordo_status ordo_links_export(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys_out,
                              struct ordo_slice values_out, size_t capacity, size_t *count)
{
    struct ordo_links            *tree = ordo_links_of(dict);
    const struct ordo_links_shape shape = ordo_links_flat(tree);
    struct ordo_args              args = { .n = 0 };

    ORDO_TRY(ordo_links_size(dict, call, count));
    if (*count > capacity)
        return ORDO_FAIL(call->dev, ORDO_TOO_SMALL, "%zu elements, and room for %zu", *count, capacity);
    ORDO_TRY(ordo_links_list_leaves(call, tree));
    const cl_uint places = (cl_uint) tree->list.places;
    ordo_links_add_tree(&args, tree);
    ORDO_ADD(&args, ORDO_ARG(places), ORDO_ARG(tree->list.order), ORDO_ARG(tree->list.before));
    ordo_args_slice(&args, &keys_out);
    ordo_args_slice(&args, &values_out);
    return ordo_links_launch(call, tree, BUILD_FILE, "list_export", &shape, tree->list.places * tree->config.words,
                             &args);
}
