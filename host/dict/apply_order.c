/* SPDX-License-Identifier: Apache-2.0 */
/* Answers the counts, ranks, selections and ranges of a mixed batch. */
#include "dict/apply.h"

#define ORDER_FILE "dict/apply_order.cl"

/* ---- 3 the timeline ---------------------------------------------------------------------------------------------- */

static ordo_status build_level(struct apply *a, cl_uint level, cl_mem from, cl_mem to)
{
    struct ordo_args pack = { .n = 0 }, move = { .n = 0 };

    ORDO_ADD(&pack, ORDO_ARG(from), ORDO_ARG(a->n), ORDO_ARG(level), ORDO_ARG(a->n_blocks), ORDO_ARG(a->masks),
             ORDO_ARG(a->block_sums));
    const struct ordo_launch pack_launch = ordo_dict_kernel(a->dict, ORDER_FILE, "timeline_pack", a->n_blocks);
    ORDO_TRY(ordo_call_launch(a->call, &pack_launch, &pack));
    ORDO_TRY(ordo_apply_scan(a, ORDO_U64, ORDO_SUM, false, a->block_sums, (size_t) level * a->n_blocks, a->n_blocks));
    if (level == 0)
        return ORDO_OK;
    ORDO_ADD(&move, ORDO_ARG(from), ORDO_ARG(a->n), ORDO_ARG(level), ORDO_ARG(a->n_blocks), ORDO_ARG(a->masks),
             ORDO_ARG(a->block_sums), ORDO_ARG(to));
    const struct ordo_launch move_launch = ordo_dict_kernel(a->dict, ORDER_FILE, "timeline_move", a->n);
    return ordo_call_launch(a->call, &move_launch, &move);
}

ordo_status ordo_apply_build_timeline(struct apply *a)
{
    cl_mem from = a->entries, to = NULL;

    a->n_blocks = a->n / 32 + 1;
    for (a->n_levels = 1; a->n >> a->n_levels;)
        a->n_levels++;
    ORDO_TRY(ordo_apply_scratch(a, (size_t) a->n_levels * a->n_blocks, 3 * sizeof(cl_uint), &a->masks));
    ORDO_TRY(ordo_apply_scratch(a, (size_t) a->n_levels * a->n_blocks, sizeof(cl_ulong), &a->block_sums));
    const int mark = a->call->n_scratch;
    ORDO_TRY(ordo_apply_scratch(a, a->n, sizeof(cl_ulong), &to));
    for (cl_uint level = a->n_levels; level-- > 0;) {
        const cl_mem next = to;
        ORDO_TRY(build_level(a, level, from, next));
        to = from;
        from = next;
    }
    ordo_call_release(a->call, mark);
    return ORDO_OK;
}

/* ---- 3 order queries --------------------------------------------------------------------------------------------- */

/* Queries of the batch. ops[i] is a query's index in the batch, lo[i] its key, and hi[i] its upper bound. */
struct picked {
    cl_uint n;
    cl_mem  ops, lo, hi;
};

static ordo_status pick(struct apply *a, ordo_code least, ordo_code most, bool bounds, struct picked *out)
{
    const cl_uint    first = (cl_uint) least, last = (cl_uint) most;
    struct ordo_args flag = { .n = 0 }, gather = { .n = 0 };
    cl_mem           places = NULL;

    *out = (struct picked) { .n = ordo_apply_n_of(a, least, most) };
    ORDO_TRY(ordo_apply_scratch(a, out->n, sizeof(cl_uint), &out->ops));
    ORDO_TRY(ordo_apply_scratch(a, out->n, a->dict->key_bytes, &out->lo));
    ORDO_TRY(ordo_apply_scratch(a, out->n, bounds ? a->dict->key_bytes : 0, &out->hi));
    const int mark = a->call->n_scratch;
    ORDO_TRY(ordo_apply_scratch(a, a->n + (size_t) 1, sizeof(cl_uint), &places));

    ordo_args_slice(&flag, &a->batch->codes);
    ORDO_ADD(&flag, ORDO_ARG(a->n), ORDO_ARG(first), ORDO_ARG(last), ORDO_ARG(places));
    const struct ordo_launch flag_launch = ordo_dict_kernel(a->dict, ORDER_FILE, "apply_pick", a->n + (size_t) 1);
    ORDO_TRY(ordo_call_launch(a->call, &flag_launch, &flag));
    ORDO_TRY(ordo_apply_scan(a, ORDO_U32, ORDO_SUM, false, places, 0, a->n + (size_t) 1));
    ORDO_ADD(&gather, ORDO_ARG(places), ORDO_ARG(a->n));
    ordo_args_slice(&gather, &a->batch->keys);
    ordo_args_slice(&gather, &a->batch->hi);
    ORDO_ADD(&gather, ORDO_ARG(out->ops), ORDO_ARG(out->lo), ORDO_ARG(out->hi));
    const struct ordo_launch gather_launch = ordo_dict_kernel(a->dict, ORDER_FILE, "apply_gather", a->n);
    ORDO_TRY(ordo_call_launch(a->call, &gather_launch, &gather));
    ordo_call_release(a->call, mark);
    return ORDO_OK;
}

/* Writes the results of the batch's ORDO_COUNT operations. If operation i is a range and `lengths` is not NULL,
 * lengths[i] becomes the number of elements in this range. */
static ordo_status resolve_counts(struct apply *a, cl_mem lengths)
{
    const int        mark = a->call->n_scratch;
    struct ordo_args args = { .n = 0 };
    struct picked    picked;
    cl_mem           base = NULL;

    if (ordo_apply_n_of(a, ORDO_COUNT, ORDO_RANGE) == 0)
        return ORDO_OK;
    ORDO_TRY(pick(a, ORDO_COUNT, ORDO_RANGE, true, &picked));
    ORDO_TRY(ordo_apply_scratch(a, picked.n, sizeof(cl_uint), &base));
    const struct ordo_counts counts = { ordo_at(picked.lo, 0), ordo_at(picked.hi, 0), picked.n, ordo_at(base, 0) };
    ORDO_TRY(a->dict->structure->count(a->dict, a->call, &counts));
    ORDO_ADD(&args, ORDO_ARG(a->n));
    ordo_args_slice(&args, &a->batch->codes);
    ORDO_ADD(&args, ORDO_ARG(a->sorted.keys));
    ordo_apply_add_timeline(&args, a);
    ORDO_ADD(&args, ORDO_ARG(picked.ops), ORDO_ARG(picked.lo), ORDO_ARG(picked.hi), ORDO_ARG(picked.n), ORDO_ARG(base));
    ordo_args_slice(&args, &a->batch->counts);
    ORDO_ADD(&args, ORDO_ARG(lengths));
    const struct ordo_launch launch = ordo_dict_kernel(a->dict, ORDER_FILE, "apply_count", picked.n);
    ORDO_TRY(ordo_call_launch(a->call, &launch, &args));
    ordo_call_release(a->call, mark);
    return ORDO_OK;
}

static ordo_status resolve_ranks(struct apply *a, ordo_code code)
{
    const cl_uint    upper = code == ORDO_RANK_LE;
    const int        mark = a->call->n_scratch;
    struct ordo_args args = { .n = 0 };
    struct picked    picked;
    cl_mem           base = NULL;

    if (a->histogram[code] == 0 || !a->batch->counts.mem)
        return ORDO_OK;
    ORDO_TRY(pick(a, code, code, false, &picked));
    ORDO_TRY(ordo_apply_scratch(a, picked.n, sizeof(cl_uint), &base));
    const struct ordo_ranks ranks = { upper, ordo_at(picked.lo, 0), picked.n, ordo_at(base, 0) };
    ORDO_TRY(a->dict->structure->rank(a->dict, a->call, &ranks));
    ORDO_ADD(&args, ORDO_ARG(a->n), ORDO_ARG(a->sorted.keys));
    ordo_apply_add_timeline(&args, a);
    ORDO_ADD(&args, ORDO_ARG(picked.ops), ORDO_ARG(picked.lo), ORDO_ARG(picked.n), ORDO_ARG(upper), ORDO_ARG(base));
    ordo_args_slice(&args, &a->batch->counts);
    const struct ordo_launch launch = ordo_dict_kernel(a->dict, ORDER_FILE, "apply_rank", picked.n);
    ORDO_TRY(ordo_call_launch(a->call, &launch, &args));
    ordo_call_release(a->call, mark);
    return ORDO_OK;
}

/* If the batch contains the key that selection q asks for, groups[q] becomes the index of this key among the distinct
 * keys of the batch. Otherwise groups[q] becomes 0xffffffff, and entry q of *base receives the element. */
static ordo_status plan_selections(struct apply *a, const struct picked *picked, cl_mem groups, struct neighbours *base)
{
    struct ordo_args args = { .n = 0 };
    cl_mem           ranks = NULL, base_ranks = NULL;

    ORDO_TRY(ordo_apply_scratch(a, picked->n, a->dict->key_bytes, &base->keys));
    ORDO_TRY(ordo_apply_scratch(a, picked->n, a->dict->value_bytes, &base->values));
    ORDO_TRY(ordo_apply_scratch(a, picked->n, 1, &base->found));
    const int mark = a->call->n_scratch;
    ORDO_TRY(ordo_apply_scratch(a, a->n, sizeof(cl_uint), &ranks));
    ORDO_TRY(ordo_apply_scratch(a, picked->n, sizeof(cl_uint), &base_ranks));
    const struct ordo_ranks of_batch = { false, ordo_at(a->sorted.keys, 0), a->n, ordo_at(ranks, 0) };
    ORDO_TRY(a->dict->structure->rank(a->dict, a->call, &of_batch));
    ordo_apply_add_batch(&args, a);
    ordo_apply_add_timeline(&args, a);
    ORDO_ADD(&args, ORDO_ARG(a->first_of), ORDO_ARG(ranks), ORDO_ARG(picked->ops), ORDO_ARG(picked->lo),
             ORDO_ARG(picked->n), ORDO_ARG(groups), ORDO_ARG(base_ranks));
    const struct ordo_launch launch = ordo_dict_kernel(a->dict, ORDER_FILE, "apply_select_plan", picked->n);
    ORDO_TRY(ordo_call_launch(a->call, &launch, &args));
    const struct ordo_selects selects = { ordo_at(base_ranks, 0), picked->n, ordo_at(base->keys, 0),
                                          ordo_at(base->values, 0), ordo_at(base->found, 0) };
    ORDO_TRY(a->dict->structure->select(a->dict, a->call, &selects));
    ordo_call_release(a->call, mark);
    return ORDO_OK;
}

static ordo_status resolve_selections(struct apply *a)
{
    const int         mark = a->call->n_scratch;
    struct ordo_args  args = { .n = 0 };
    struct picked     picked;
    struct neighbours base = { NULL };
    cl_mem            groups = NULL;

    if (a->histogram[ORDO_SELECT] == 0)
        return ORDO_OK;
    ORDO_TRY(pick(a, ORDO_SELECT, ORDO_SELECT, false, &picked));
    ORDO_TRY(ordo_apply_scratch(a, picked.n, sizeof(cl_uint), &groups));
    ORDO_TRY(plan_selections(a, &picked, groups, &base));
    ordo_apply_add_batch(&args, a);
    ORDO_ADD(&args, ORDO_ARG(a->first_of), ORDO_ARG(picked.ops), ORDO_ARG(picked.n), ORDO_ARG(groups),
             ORDO_ARG(base.keys), ORDO_ARG(base.values), ORDO_ARG(base.found));
    ordo_args_slice(&args, &a->batch->keys_out);
    ordo_args_slice(&args, &a->batch->values_out);
    ordo_args_slice(&args, &a->batch->found);
    const struct ordo_launch launch = ordo_dict_kernel(a->dict, ORDER_FILE, "apply_select", picked.n);
    ORDO_TRY(ordo_call_launch(a->call, &launch, &args));
    ordo_call_release(a->call, mark);
    return ORDO_OK;
}

static ordo_status offset_ranges(struct apply *a, cl_mem lengths, size_t *needed)
{
    const struct ordo_batch *b = a->batch;
    cl_ulong                 total = 0;

    ORDO_TRY(ordo_dict_offsets(a->call, a->dict, ordo_at(lengths, 0), a->n, b->offsets));
    if (a->histogram[ORDO_RANGE] == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_call_read(a->call, b->offsets.mem, (b->offsets.at + a->n) * sizeof total, &total, sizeof total));
    if (needed)
        *needed = (size_t) total;
    ORDO_REQUIRE(a->call->dev, total <= b->range_capacity, ORDO_TOO_SMALL,
                 "the ranges hold %llu elements, range_capacity is %zu", (unsigned long long) total, b->range_capacity);
    return ORDO_OK;
}

/* ---- 3 ranges ---------------------------------------------------------------------------------------------------- */

struct range_base {
    cl_mem   first; /* uint64_t index of each range's first element, then the total */
    cl_ulong total;
    cl_mem   keys, values;
};

static ordo_status read_ranges_now(struct apply *a, const struct picked *picked, struct range_base *out)
{
    *out = (struct range_base) { NULL };
    ORDO_TRY(ordo_apply_scratch(a, picked->n + (size_t) 1, sizeof(cl_ulong), &out->first));
    struct ordo_ranges ranges = { .lo = ordo_at(picked->lo, 0),
                                  .hi = ordo_at(picked->hi, 0),
                                  .count = picked->n,
                                  .offsets = ordo_at(out->first, 0) };
    ORDO_TRY(a->dict->structure->range(a->dict, a->call, &ranges));
    ORDO_TRY(ordo_call_read(a->call, out->first, picked->n * sizeof out->total, &out->total, sizeof out->total));
    ORDO_REQUIRE(a->call->dev, out->total <= SIZE_MAX / 16, ORDO_TOO_LARGE, "the ranges hold %llu elements",
                 (unsigned long long) out->total);
    ORDO_TRY(ordo_apply_scratch(a, (size_t) out->total, a->dict->key_bytes, &out->keys));
    ORDO_TRY(ordo_apply_scratch(a, (size_t) out->total, a->dict->value_bytes, &out->values));
    ranges.offsets_known = true;
    ranges.keys_out = ordo_at(out->keys, 0);
    ranges.values_out = ordo_at(out->values, 0);
    ranges.capacity = (size_t) out->total;
    return out->total ? a->dict->structure->range(a->dict, a->call, &ranges) : ORDO_OK;
}

struct range_plan {
    cl_mem group, changes, touched;
};

static ordo_status plan_ranges(struct apply *a, const struct picked *picked, struct range_plan *out)
{
    struct ordo_args args = { .n = 0 };
    ORDO_TRY(ordo_apply_scratch(a, picked->n, sizeof(cl_uint), &out->group));
    ORDO_TRY(ordo_apply_scratch(a, picked->n, sizeof(cl_int), &out->changes));
    ORDO_TRY(ordo_apply_scratch(a, picked->n + (size_t) 1, sizeof(cl_ulong), &out->touched));
    ORDO_ADD(&args, ORDO_ARG(a->n), ORDO_ARG(a->sorted.keys));
    ordo_apply_add_timeline(&args, a);
    ORDO_ADD(&args, ORDO_ARG(picked->ops), ORDO_ARG(picked->lo), ORDO_ARG(picked->hi), ORDO_ARG(picked->n),
             ORDO_ARG(out->group), ORDO_ARG(out->changes), ORDO_ARG(out->touched));
    const struct ordo_launch launch = ordo_dict_kernel(a->dict, ORDER_FILE, "apply_range_plan", picked->n + (size_t) 1);
    ORDO_TRY(ordo_call_launch(a->call, &launch, &args));
    return ordo_apply_scan(a, ORDO_U64, ORDO_SUM, false, out->touched, 0, picked->n + (size_t) 1);
}

static void add_range_out(struct ordo_args *args, const struct apply *a)
{
    ordo_args_slice(args, &a->batch->offsets);
    ordo_args_slice(args, &a->batch->range_keys);
    ordo_args_slice(args, &a->batch->range_values);
}

static ordo_status write_kept(struct apply *a, const struct picked *picked, const struct range_plan *plan,
                              const struct range_base *base)
{
    struct ordo_args args = { .n = 0 };
    ORDO_ADD(&args, ORDO_ARG(a->n), ORDO_ARG(a->sorted.keys));
    ordo_apply_add_timeline(&args, a);
    ORDO_ADD(&args, ORDO_ARG(picked->ops), ORDO_ARG(picked->n), ORDO_ARG(plan->changes), ORDO_ARG(base->first),
             ORDO_ARG(base->keys), ORDO_ARG(base->values));
    add_range_out(&args, a);
    const struct ordo_launch launch = ordo_dict_kernel(a->dict, ORDER_FILE, "apply_range_kept", (size_t) base->total);
    return ordo_call_launch(a->call, &launch, &args);
}

#define TOUCHED_ITEMS ((size_t) 1 << 18)

static ordo_status write_touched(struct apply *a, const struct picked *picked, const struct range_plan *plan,
                                 const struct range_base *base)
{
    struct ordo_args args = { .n = 0 };
    ordo_apply_add_batch(&args, a);
    ordo_apply_add_timeline(&args, a);
    ORDO_ADD(&args, ORDO_ARG(a->first_of), ORDO_ARG(picked->ops), ORDO_ARG(picked->n), ORDO_ARG(plan->group),
             ORDO_ARG(plan->touched), ORDO_ARG(base->first), ORDO_ARG(base->keys));
    add_range_out(&args, a);
    const struct ordo_launch launch = ordo_dict_kernel(a->dict, ORDER_FILE, "apply_range_touched",
                                                       ordo_min_size(a->batch->range_capacity, TOUCHED_ITEMS));
    return ordo_call_launch(a->call, &launch, &args);
}

static ordo_status resolve_ranges(struct apply *a)
{
    const int         mark = a->call->n_scratch;
    struct picked     picked;
    struct range_base base;
    struct range_plan plan;

    if (a->histogram[ORDO_RANGE] == 0 || (!a->batch->range_keys.mem && !a->batch->range_values.mem))
        return ORDO_OK;
    ORDO_TRY(pick(a, ORDO_RANGE, ORDO_RANGE, true, &picked));
    ORDO_TRY(read_ranges_now(a, &picked, &base));
    ORDO_TRY(plan_ranges(a, &picked, &plan));
    ORDO_TRY(write_kept(a, &picked, &plan, &base));
    ORDO_TRY(write_touched(a, &picked, &plan, &base));
    ordo_call_release(a->call, mark);
    return ORDO_OK;
}

ordo_status ordo_apply_resolve_order(struct apply *a, size_t *needed)
{
    const int mark = a->call->n_scratch;
    cl_mem    lengths = NULL;

    if (a->batch->offsets.mem) {
        ORDO_TRY(ordo_apply_scratch(a, a->n, sizeof(cl_uint), &lengths));
        ORDO_TRY(ordo_call_fill(a->call, lengths, 0, a->n * sizeof(cl_uint), 0));
    }
    ORDO_TRY(resolve_counts(a, lengths));
    if (lengths)
        ORDO_TRY(offset_ranges(a, lengths, needed));
    ORDO_TRY(resolve_ranks(a, ORDO_RANK_LT));
    ORDO_TRY(resolve_ranks(a, ORDO_RANK_LE));
    ORDO_TRY(resolve_selections(a));
    ORDO_TRY(resolve_ranges(a));
    ordo_call_release(a->call, mark);
    return ORDO_OK;
}
