/* SPDX-License-Identifier: Apache-2.0 */
/* Executes a mixed batch, with results as if its operations ran one after another:
 *
 *   1  histogram    Counts the operations of each code. Waits for the device.
 *   2  single keys  Answers operations on single keys, and computes the new values of changed keys.
 *   3  order        Answers seeks (apply_seek.c), counts, ranks, selections and ranges (apply_order.c).
 *   4  store        Stores the changed keys by one sorted update. Waits for the device.
 *
 * A batch that fails before step 4 changes nothing. */
#include "dict/apply.h"

#include "primitive/scan.h"
#include "shared/codes.h"

#define APPLY_FILE   "dict/apply.cl"
#define COMBINE_FILE "dict/generic/combine.cl"

/* ---- 1 histogram ------------------------------------------------------------------------------------------------- */

#define HISTOGRAM_ITEMS ((size_t) 1 << 15)

static ordo_status count_codes(const ordo_dict *dict, struct ordo_call *call, struct ordo_slice codes, size_t count,
                               cl_mem histogram, cl_mem number, cl_uint out[ORDO_HISTOGRAM_WORDS])
{
    const cl_uint    n = (cl_uint) count;
    struct ordo_args args = { .n = 0 };

    ordo_args_slice(&args, &codes);
    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(histogram), ORDO_ARG(number));
    const struct ordo_launch launch =
        ordo_dict_kernel(dict, APPLY_FILE, "apply_histogram", ordo_min_size(count, HISTOGRAM_ITEMS));
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    return ordo_call_read(call, histogram, 0, out, ORDO_HISTOGRAM_WORDS * sizeof *out);
}

ordo_status ordo_dict_histogram(const ordo_dict *dict, struct ordo_call *call, struct ordo_slice codes, size_t count,
                                cl_uint out[ORDO_HISTOGRAM_WORDS])
{
    const int mark = call->n_scratch;
    cl_mem    histogram = NULL;

    ORDO_TRY(ordo_call_scratch(call, ORDO_HISTOGRAM_WORDS * sizeof(cl_uint), &histogram));
    ORDO_TRY(ordo_call_fill(call, histogram, 0, ORDO_HISTOGRAM_WORDS * sizeof(cl_uint), 0));
    ORDO_TRY(count_codes(dict, call, codes, count, histogram, NULL, out));
    ordo_call_release(call, mark);
    return ORDO_OK;
}

ordo_status ordo_dict_check_concurrent(const ordo_dict *dict, const struct ordo_concurrent_batch *batch, size_t stores,
                                       size_t scans, size_t ranges)
{
    ORDO_REQUIRE(dict->dev, !dict->value_bytes || stores == 0 || batch->values.mem, ORDO_INVALID,
                 "values: the batch stores, but has none");
    ORDO_REQUIRE(dict->dev, scans == 0 || batch->hi.mem, ORDO_INVALID,
                 "hi: the batch has counts or ranges, but no upper bounds");
    ORDO_REQUIRE(dict->dev, ranges == 0 || batch->rooms.mem, ORDO_INVALID, "rooms: the batch has ranges, but no rooms");
    return ORDO_OK;
}

static ordo_status histogram(struct apply *a)
{
    ORDO_TRY(ordo_call_zeroed(a->call, ORDO_HISTOGRAM_WORDS * sizeof(cl_uint), &a->counted));
    ORDO_TRY(ordo_apply_scratch(a, a->n, sizeof(cl_uint), &a->number));
    return count_codes(a->dict, a->call, a->batch->codes, a->n, a->counted, a->number, a->histogram);
}

/* A larger batch with seeks, counts or ranges could overflow 32-bit sums. */
#define TIMELINE_MAX 0x7fffffffu

static cl_uint n_order(const struct apply *a)
{
    return ordo_apply_n_of(a, ORDO_SEEK_LT, ORDO_RANGE) + ordo_apply_n_of(a, ORDO_RANK_LT, ORDO_SELECT);
}

static ordo_status check_histogram(const struct apply *a)
{
    const struct ordo_batch *b = a->batch;
    ordo_device             *dev = a->call->dev;
    const cl_uint            stores = ordo_apply_n_of(a, ORDO_UPSERT, ORDO_INSERT) + a->histogram[ORDO_COMBINE];
    if (a->histogram[ORDO_COMBINE])
        ORDO_TRY(ordo_dict_check_numbers(a->dict, b->value, b->combine, "ordo_dict_apply"));
    ORDO_REQUIRE(dev, a->histogram[N_CODES] == 0, ORDO_INVALID, "codes: operation %u has an unknown code",
                 a->n - a->histogram[N_CODES]);
    ORDO_REQUIRE(dev, b->values.mem || !stores || !a->dict->value_bytes, ORDO_INVALID,
                 "values is absent, and the batch has %u operations that store", stores);
    ORDO_REQUIRE(dev, b->hi.mem || !ordo_apply_n_of(a, ORDO_COUNT, ORDO_RANGE), ORDO_INVALID,
                 "hi is absent, and the batch has %u counts and ranges", ordo_apply_n_of(a, ORDO_COUNT, ORDO_RANGE));
    ORDO_REQUIRE(dev, !ordo_apply_n_of(a, ORDO_SEEK_LT, ORDO_RANGE) || a->n <= TIMELINE_MAX, ORDO_TOO_LARGE,
                 "count is %u: a batch with seeks, counts or ranges takes up to %u", a->n, TIMELINE_MAX);
    ORDO_REQUIRE(dev, b->offsets.mem || !a->histogram[ORDO_RANGE], ORDO_INVALID,
                 "offsets is absent, and the batch has %u ranges", a->histogram[ORDO_RANGE]);
    ORDO_REQUIRE(dev, a->dict->structure->seek || !n_order(a), ORDO_UNSUPPORTED,
                 "codes: the batch has %u order queries, and a dictionary of type %s has none", n_order(a),
                 a->dict->structure->name);
    return ORDO_OK;
}

/* ---- 2 point operations ------------------------------------------------------------------------------------------ */

static ordo_status find_all(struct apply *a)
{
    ORDO_TRY(ordo_apply_scratch(a, a->n, 1, &a->there));
    ORDO_TRY(ordo_apply_scratch(a, a->n, a->dict->value_bytes, &a->before));
    const struct ordo_finds finds = { ordo_at(a->sorted.keys, 0), a->n, true, ordo_at(a->before, 0),
                                      ordo_at(a->there, 0) };
    return a->dict->structure->find(a->dict, a->call, &finds);
}

static ordo_status make_values(struct apply *a, cl_mem heads)
{
    const struct ordo_batch *b = a->batch;
    struct ordo_args         brought = { .n = 0 }, made = { .n = 0 };

    ordo_args_slice(&brought, &b->codes);
    ordo_args_slice(&brought, &b->values);
    ORDO_ADD(&brought, ORDO_ARG(a->sorted.index), ORDO_ARG(a->start), ORDO_ARG(a->insert), ORDO_ARG(a->there),
             ORDO_ARG(a->n), ORDO_ARG(a->made));
    const struct ordo_launch brought_launch =
        ordo_dict_kernel_typed(a->dict, COMBINE_FILE, "combine_brought", b->value, b->combine, a->n);
    ORDO_TRY(ordo_call_launch(a->call, &brought_launch, &brought));
    const struct ordo_scan sums = { .type = b->value,
                                    .op = b->combine,
                                    .inclusive = true,
                                    .in = ordo_at(a->made, 0),
                                    .heads = ordo_at(heads, 0),
                                    .out = ordo_at(a->made, 0),
                                    .count = a->n };
    ORDO_TRY(ordo_call_scan(a->call, &sums));
    ordo_args_slice(&made, &b->codes);
    ORDO_ADD(&made, ORDO_ARG(a->sorted.index), ORDO_ARG(a->start), ORDO_ARG(a->there), ORDO_ARG(a->before),
             ORDO_ARG(a->n), ORDO_ARG(a->made));
    const struct ordo_launch made_launch =
        ordo_dict_kernel_typed(a->dict, COMBINE_FILE, "combine_made", b->value, b->combine, a->n);
    return ordo_call_launch(a->call, &made_launch, &made);
}

/* Computes exclusive prefix sums of `parts` successive arrays of `stride` words. One scan may cover all arrays. So
 * kernels subtract the first sum of an array from its other sums. */
static ordo_status sum_parts(const struct apply *a, cl_mem mem, size_t parts, size_t stride)
{
    if (stride <= ORDO_MAX_COUNT / parts)
        return ordo_apply_scan(a, ORDO_U32, ORDO_SUM, false, mem, 0, parts * stride);
    for (size_t part = 0; part < parts; part++)
        ORDO_TRY(ordo_apply_scan(a, ORDO_U32, ORDO_SUM, false, mem, part * stride, stride));
    return ORDO_OK;
}

static ordo_status make_segments(struct apply *a, cl_mem heads)
{
    struct ordo_args args = { .n = 0 };
    ORDO_ADD(&args, ORDO_ARG(a->sums), ORDO_ARG(a->number), ORDO_ARG(a->insert_at), ORDO_ARG(a->n), ORDO_ARG(a->start),
             ORDO_ARG(a->insert));
    const struct ordo_launch launch = ordo_dict_kernel(a->dict, APPLY_FILE, "apply_segments", a->n);
    ORDO_TRY(ordo_call_launch(a->call, &launch, &args));
    return make_values(a, heads);
}

/* Divides the sorted operations into groups, one group per key. */
static ordo_status divide(struct apply *a)
{
    struct ordo_args args = { .n = 0 }, group_args = { .n = 0 };
    cl_mem           heads = NULL;

    ORDO_TRY(ordo_apply_scratch(a, (a->n + (size_t) 1) * SUM_PARTS, sizeof(cl_uint), &a->sums));
    ORDO_TRY(ordo_apply_scratch(a, a->n, sizeof(cl_uint), &a->insert_at));
    if (a->made)
        ORDO_TRY(ordo_apply_scratch(a, a->n, 1, &heads));
    ordo_args_slice(&args, &a->batch->codes);
    ORDO_ADD(&args, ORDO_ARG(a->sorted.keys), ORDO_ARG(a->sorted.index), ORDO_ARG(a->there), ORDO_ARG(a->n),
             ORDO_ARG(a->sums), ORDO_ARG(heads), ORDO_ARG(a->counted));
    const struct ordo_launch args_launch = ordo_dict_kernel(a->dict, APPLY_FILE, "apply_starts", a->n + (size_t) 1);
    ORDO_TRY(ordo_call_launch(a->call, &args_launch, &args));
    ORDO_TRY(sum_parts(a, a->sums, SUM_PARTS, a->n + (size_t) 1));
    ORDO_ADD(&group_args, ORDO_ARG(a->sums), ORDO_ARG(a->n), ORDO_ARG(a->group_of), ORDO_ARG(a->first_of),
             ORDO_ARG(a->there_before), ORDO_ARG(a->number), ORDO_ARG(a->insert_at));
    const struct ordo_launch group_args_launch =
        ordo_dict_kernel(a->dict, APPLY_FILE, "apply_groups", a->n + (size_t) 1);
    ORDO_TRY(ordo_call_launch(a->call, &group_args_launch, &group_args));
    return a->made ? make_segments(a, heads) : ORDO_OK;
}

static bool has_updates(const struct apply *a)
{
    return ordo_apply_n_of(a, ORDO_UPSERT, ORDO_ERASE) + a->histogram[ORDO_COMBINE] > 0;
}

static cl_uint place_parts(const struct apply *a)
{
    return ordo_apply_n_seeks(a) == 0 ? PLACE_UP : a->histogram[ORDO_ERASE] == 0 ? PLACE_GONE : PLACE_PARTS;
}

static ordo_status make_room(struct apply *a, bool timeline)
{
    ORDO_TRY(ordo_apply_scratch(a, a->n, sizeof(cl_uint), &a->start));
    ORDO_TRY(ordo_apply_scratch(a, a->n, sizeof(cl_uint), &a->insert));
    ORDO_TRY(ordo_apply_scratch(a, a->n + (size_t) 1, sizeof(cl_uint), &a->group_of));
    ORDO_TRY(ordo_apply_scratch(a, a->n + (size_t) 1, sizeof(cl_uint), &a->first_of));
    ORDO_TRY(ordo_apply_scratch(a, a->n + (size_t) 1, sizeof(cl_uint), &a->there_before));
    ORDO_TRY(ordo_apply_scratch(a, (a->n + (size_t) 2) * place_parts(a), sizeof(cl_uint), &a->places));
    ORDO_TRY(ordo_apply_scratch(a, a->n, a->histogram[ORDO_COMBINE] ? a->dict->value_bytes : 0, &a->made));
    return ordo_apply_scratch(a, a->n, timeline ? sizeof(cl_ulong) : 0, &a->entries);
}

static ordo_status enqueue_points(struct apply *a, bool no_ranges)
{
    const cl_uint           parts = place_parts(a);
    const struct ordo_slice offsets = no_ranges ? a->batch->offsets : ordo_none();
    struct ordo_args        args = { .n = 0 };

    ordo_apply_add_batch(&args, a);
    ORDO_ADD(&args, ORDO_ARG(a->sums), ORDO_ARG(a->number), ORDO_ARG(a->insert_at), ORDO_ARG(a->start),
             ORDO_ARG(a->insert), ORDO_ARG(a->group_of), ORDO_ARG(a->places), ORDO_ARG(parts), ORDO_ARG(a->entries));
    ordo_args_slice(&args, &a->batch->found);
    ordo_args_slice(&args, &a->batch->values_out);
    ordo_args_slice(&args, &offsets);
    const struct ordo_launch launch = ordo_dict_kernel(a->dict, APPLY_FILE, "apply_points", a->n + (size_t) 1);
    ORDO_TRY(ordo_call_launch(a->call, &launch, &args));
    return has_updates(a) || ordo_apply_n_seeks(a) ? sum_parts(a, a->places, parts, a->n + (size_t) 2) : ORDO_OK;
}

static ordo_status resolve_points(struct apply *a, bool timeline, bool no_ranges)
{
    ORDO_TRY(make_room(a, timeline));
    const int mark = a->call->n_scratch;
    ORDO_TRY(divide(a));
    ORDO_TRY(enqueue_points(a, no_ranges));
    ordo_call_release(a->call, mark);
    return ORDO_OK;
}

/* ---- 4 store ----------------------------------------------------------------------------------------------------- */

static ordo_status count_changed(struct apply *a, cl_uint *count)
{
    cl_uint last[2] = { 0, 0 };

    if (!has_updates(a) && ordo_apply_n_seeks(a) == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_call_read(a->call, a->places, a->n * sizeof *last, last, sizeof last));
    *count = last[0];
    const bool far = last[1] != last[0] || (ordo_is_dry_run(a->call->dev) && last[1]);
    return ordo_apply_n_seeks(a) > 0 && far ? ordo_apply_resolve_far(a) : ORDO_OK;
}

static ordo_status store(struct apply *a, cl_uint count)
{
    struct ordo_args args = { .n = 0 };
    cl_mem           keys = NULL, values = NULL, erased = NULL;

    if (count == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_apply_scratch(a, count, a->dict->key_bytes, &keys));
    ORDO_TRY(ordo_apply_scratch(a, count, a->dict->value_bytes, &values));
    ORDO_TRY(ordo_apply_scratch(a, count, a->histogram[ORDO_ERASE] ? 1 : 0, &erased));
    ordo_apply_add_batch(&args, a);
    ORDO_ADD(&args, ORDO_ARG(a->places), ORDO_ARG(keys), ORDO_ARG(values), ORDO_ARG(erased));
    const struct ordo_launch launch = ordo_dict_kernel(a->dict, APPLY_FILE, "apply_store", a->n);
    ORDO_TRY(ordo_call_launch(a->call, &launch, &args));
    const struct ordo_sorted_updates updates = {
        ordo_at(keys, 0), ordo_at(values, 0), ordo_at(erased, 0), count, true, true
    };
    return a->dict->structure->update_sorted(a->dict, a->call, &updates);
}

static bool needs_timeline(const struct apply *a)
{
    return ordo_apply_n_of(a, ORDO_COUNT, ORDO_RANGE) + ordo_apply_n_of(a, ORDO_RANK_LT, ORDO_SELECT) > 0;
}

/* ---- the batch --------------------------------------------------------------------------------------------------- */

ordo_status ordo_dict_no_ranges(struct ordo_call *call, const struct ordo_batch *batch)
{
    if (!batch->offsets.mem)
        return ORDO_OK;
    return ordo_call_fill(call, batch->offsets.mem, batch->offsets.at * sizeof(cl_ulong),
                          (batch->count + 1) * sizeof(cl_ulong), 0);
}

ordo_status ordo_dict_apply_enqueue(ordo_dict *dict, struct ordo_call *call, const struct ordo_batch *batch,
                                    size_t *needed)
{
    struct apply a = { .dict = dict, .call = call, .batch = batch, .n = (cl_uint) batch->count };
    cl_uint      count = 0;
    bool         done = false;

    if (dict->structure->apply_points)
        ORDO_TRY(dict->structure->apply_points(dict, call, batch, &done));
    if (done && !ordo_is_dry_run(call->dev))
        return ORDO_OK;
    ORDO_TRY(histogram(&a));
    ORDO_TRY(check_histogram(&a));
    const bool order = n_order(&a) > 0;
    ORDO_TRY(ordo_batch_sort_numbered(call, dict, batch->keys, a.number, batch->count, &a.sorted));
    ORDO_TRY(find_all(&a));
    ORDO_TRY(resolve_points(&a, order, !needs_timeline(&a)));
    const int mark = call->n_scratch;
    if (needs_timeline(&a)) {
        ORDO_TRY(ordo_apply_build_timeline(&a));
        ORDO_TRY(ordo_apply_resolve_order(&a, needed));
    }
    if (ordo_apply_n_seeks(&a) > 0)
        ORDO_TRY(ordo_apply_resolve_seeks(&a));
    ORDO_TRY(count_changed(&a, &count));
    ordo_call_release(call, mark);
    ORDO_TRY(ordo_dict_before_store(dict, call));
    return store(&a, count);
}
