/* SPDX-License-Identifier: Apache-2.0 */
/* Mixed batches, as if their operations ran one after another: launches of cl/dict/apply.cl around the structure's own
 * queries and one update.
 *
 *   1  survey       what is in the batch; unknown codes refuse it                                  waits
 *   2  point operations: one stable sort by key, one find of all keys; one scan of four sums then says the state of a key before
 *      and after each operation, and so all results and what is left to store
 *   3  order queries: the structure answers them as it is now, before the batch. A seek takes the nearer of two, the nearest
 *      key of the batch's that is there at its time, for which it goes from key to key, and the nearest that the batch does
 *      not erase. All else that the batch changes comes from its timeline (cl/dict/timeline.cl): counts are corrected; ranges
 *      merge what the batch touches and what it does not; so do all seeks, if one would have far to go (count_changed)
 *   4  store        one update, of the keys whose state has changed, sorted                        waits
 *
 * A structure that has its own way of batches of point operations is asked first (apply_points).
 *
 * Nothing is stored before 4, so a batch that is refused, or that runs out of memory, has changed nothing.
 *
 * Cost for n operations: 2 is a sort, a find and some 5 launches. Seeks are 4 more, a seek of the structure for each, two for
 * each erasure, and a few steps. Other order queries, and seeks of which one has far to go, are about 5 launches per bit of n and 20
 * bytes of scratch per 32 operations and bit; a count takes log2(n) steps besides the structure's own, and a range as many
 * per element that lay in it before the batch or does at its time. */
#include "dict/apply.h"

#include "primitive/scan.h"
#include "shared/codes.h"

#define APPLY_FILE   "dict/apply.cl"
#define COMBINE_FILE "dict/generic/combine.cl"

/* ---- 1 survey ---------------------------------------------------------------------------------------------------- */

/* Work-items of the survey; each counts for itself. */
#define SURVEY_ITEMS ((size_t) 1 << 14)

static ordo_status count_codes(const ordo_dict *dict, struct ordo_call *call, struct ordo_slice codes, size_t count,
                               cl_mem survey, cl_mem number, cl_uint out[ORDO_SURVEY_WORDS])
{
    const cl_uint    n = (cl_uint) count;
    struct ordo_args args = { .n = 0 };

    ordo_args_slice(&args, &codes);
    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(survey), ORDO_ARG(number));
    const struct ordo_launch launch =
        ordo_dict_kernel(dict, APPLY_FILE, "apply_survey", ordo_min_size(count, SURVEY_ITEMS));
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    return ordo_call_read(call, survey, 0, out, ORDO_SURVEY_WORDS * sizeof *out);
}

ordo_status ordo_dict_survey(const ordo_dict *dict, struct ordo_call *call, struct ordo_slice codes, size_t count,
                             cl_uint out[ORDO_SURVEY_WORDS])
{
    const int mark = call->n_scratch;
    cl_mem    survey = NULL;

    ORDO_TRY(ordo_call_scratch(call, ORDO_SURVEY_WORDS * sizeof(cl_uint), &survey));
    ORDO_TRY(ordo_call_fill(call, survey, 0, ORDO_SURVEY_WORDS * sizeof(cl_uint), 0));
    ORDO_TRY(count_codes(dict, call, codes, count, survey, NULL, out));
    ordo_call_release(call, mark);
    return ORDO_OK;
}

/* The same for the batch, whose operations are numbered too. Who is next clears what was counted. */
static ordo_status survey(struct apply *a)
{
    ORDO_TRY(ordo_call_zeroed(a->call, ORDO_SURVEY_WORDS * sizeof(cl_uint), &a->counted));
    ORDO_TRY(ordo_apply_scratch(a, a->n, sizeof(cl_uint), &a->number));
    return count_codes(a->dict, a->call, a->batch->codes, a->n, a->counted, a->number, a->survey);
}

/* Operations of a batch with order queries: sums of changes in the timeline (cl/dict/timeline.cl), each block's lifted by 32,
 * then fit into 32 bits. */
#define TIMELINE_MOST 0x7fffffffu

static cl_uint n_order(const struct apply *a)
{
    return ordo_apply_n_of(a, ORDO_SEEK_LT, ORDO_RANGE) + ordo_apply_n_of(a, ORDO_RANK_LT, ORDO_SELECT);
}

/* That the arrays are there which the operations need. */
static ordo_status check_survey(const struct apply *a)
{
    const struct ordo_batch *b = a->batch;
    ordo_device             *dev = a->call->dev;
    if (a->survey[ORDO_COMBINE])
        ORDO_TRY(ordo_dict_check_numbers(a->dict, b->value, b->combine));
    if (a->survey[N_CODES] != 0)
        return ORDO_FAIL(dev, ORDO_INVALID, "operation %u of the batch has an unknown code", a->n - a->survey[N_CODES]);
    if (a->dict->value_bytes && (ordo_apply_n_of(a, ORDO_UPSERT, ORDO_INSERT) || a->survey[ORDO_COMBINE]) &&
        !b->values.mem)
        return ORDO_FAIL(dev, ORDO_INVALID, "the batch stores, but has no values");
    if (ordo_apply_n_of(a, ORDO_COUNT, ORDO_RANGE) && !b->his.mem)
        return ORDO_FAIL(dev, ORDO_INVALID, "the batch has counts or ranges, but no upper bounds");
    if (ordo_apply_n_of(a, ORDO_SEEK_LT, ORDO_RANGE) && a->n > TIMELINE_MOST)
        return ORDO_FAIL(dev, ORDO_TOO_LARGE, "%u operations, among them seeks, counts or ranges: there may be %u",
                         a->n, TIMELINE_MOST);
    if (a->survey[ORDO_RANGE] && !b->offsets.mem)
        return ORDO_FAIL(dev, ORDO_INVALID, "the batch has ranges, but no room for their offsets");
    if (n_order(a) && !a->dict->structure->seek)
        return ORDO_FAIL(dev, ORDO_UNSUPPORTED,
                         "the batch has operations that go by the order of keys, and a %s has none",
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

/* made: what each stretch brings is summed up, and combined with what was there before. */
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

/* In each of so many parts, one after another, of each element the sum of all before it in its part and of what came before that
 * in the same scan: sum_at of cl/dict/apply.cl. */
static ordo_status sum_parts(const struct apply *a, cl_mem mem, size_t parts, size_t stride)
{
    if (stride <= ORDO_MAX_COUNT / parts)
        return ordo_apply_scan(a, ORDO_U32, ORDO_SUM, false, mem, 0, parts * stride);
    for (size_t part = 0; part < parts; part++)
        ORDO_TRY(ordo_apply_scan(a, ORDO_U32, ORDO_SUM, false, mem, part * stride, stride));
    return ORDO_OK;
}

static ordo_status make_stretches(struct apply *a, cl_mem heads)
{
    struct ordo_args args = { .n = 0 };
    ORDO_ADD(&args, ORDO_ARG(a->sums), ORDO_ARG(a->number), ORDO_ARG(a->insert_at), ORDO_ARG(a->n), ORDO_ARG(a->start),
             ORDO_ARG(a->insert));
    const struct ordo_launch launch = ordo_dict_kernel(a->dict, APPLY_FILE, "apply_stretches", a->n);
    ORDO_TRY(ordo_call_launch(a->call, &launch, &args));
    return make_values(a, heads);
}

/* What start, insert and the groups are made of; made, if there are combines. */
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
    return a->made ? make_stretches(a, heads) : ORDO_OK;
}

static bool has_updates(const struct apply *a)
{
    return ordo_apply_n_of(a, ORDO_UPSERT, ORDO_ERASE) + a->survey[ORDO_COMBINE] > 0;
}

/* Parts of `places`: see cl/shared/apply.h. */
static cl_uint place_parts(const struct apply *a)
{
    return ordo_apply_n_seeks(a) == 0 ? PLACE_UP : a->survey[ORDO_ERASE] == 0 ? PLACE_GONE : PLACE_PARTS;
}

static ordo_status make_room(struct apply *a, bool timeline)
{
    ORDO_TRY(ordo_apply_scratch(a, a->n, sizeof(cl_uint), &a->start));
    ORDO_TRY(ordo_apply_scratch(a, a->n, sizeof(cl_uint), &a->insert));
    ORDO_TRY(ordo_apply_scratch(a, a->n + (size_t) 1, sizeof(cl_uint), &a->group_of));
    ORDO_TRY(ordo_apply_scratch(a, a->n + (size_t) 1, sizeof(cl_uint), &a->first_of));
    ORDO_TRY(ordo_apply_scratch(a, a->n + (size_t) 1, sizeof(cl_uint), &a->there_before));
    ORDO_TRY(ordo_apply_scratch(a, (a->n + (size_t) 2) * place_parts(a), sizeof(cl_uint), &a->places));
    ORDO_TRY(ordo_apply_scratch(a, a->n, a->survey[ORDO_COMBINE] ? a->dict->value_bytes : 0, &a->made));
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

/* How many keys are to be stored; and whether some seek has far to go: then all are done again. Waits. */
static ordo_status count_changed(struct apply *a, cl_uint *count)
{
    cl_uint last[2] = { 0, 0 };

    if (!has_updates(a) && ordo_apply_n_seeks(a) == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_call_read(a->call, a->places, a->n * sizeof *last, last, sizeof last));
    *count = last[0];
    const bool far = last[1] != last[0] || (ordo_rehearses(a->call->dev) && last[1]);
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
    ORDO_TRY(ordo_apply_scratch(a, count, 1, &erased));
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

/* ---- the batch ------------------------------------------------------------------------------------------------ */

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
    if (done && !ordo_rehearses(call->dev))
        return ORDO_OK;
    ORDO_TRY(survey(&a));
    ORDO_TRY(check_survey(&a));
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
