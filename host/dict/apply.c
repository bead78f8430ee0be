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
#include "dict/generic/generic.h"

#include "primitive/scan.h"

#define COMBINE_FILE "dict/generic/combine.cl"

enum { N_CODES = ORDO_N_CODES, FIRST_UNKNOWN = ORDO_N_CODES };

/* Neighbours in the dictionary before the batch. */
struct neighbours {
    cl_mem keys, values, found;
};

/* Seeks, those upwards first, and what the batch erases of what was there: n_erased at most, the device knows how many. */
struct seeks {
    cl_uint           n_up, n, n_erased;
    cl_mem            ops, keys, erased;
    struct neighbours base; /* of the seeks, and behind those of each direction of what is erased */
    cl_mem            end;  /* of chains of what is erased */
};

struct apply {
    ordo_dict               *dict;
    struct ordo_call        *call;
    const struct ordo_batch *batch;
    cl_uint                  n;
    cl_uint                  survey[ORDO_SURVEY_WORDS]; /* operations of each code */

    struct ordo_sorted_batch sorted;
    cl_mem                   there, before; /* of each sorted key: whether it is in the dictionary, and its value */
    cl_mem                   counted;       /* the survey */
    cl_mem                   number;        /* 0, 1, 2, ...; once sorted where stretches begin */
    cl_mem                   start, insert; /* see sorted_batch in cl/dict/apply.cl */
    cl_mem                   sums, insert_at;
    cl_mem                   group_of, first_of, there_before;
    cl_mem                   made; /* values after combines, or NULL */
    cl_mem                   places;

    cl_mem  entries, masks, block_sums; /* the timeline */
    cl_uint n_blocks, n_levels;

    struct seeks seeks;
};

/* ---- launches ---------------------------------------------------------------------------------------------------- */

/* BATCH_ARGS of cl/dict/apply.cl. */
static void add_batch(struct ordo_args *args, const struct apply *a)
{
    ordo_args_slice(args, &a->batch->codes);
    ordo_args_slice(args, &a->batch->values);
    ORDO_ADD(args, ORDO_ARG(a->sorted.keys), ORDO_ARG(a->sorted.index), ORDO_ARG(a->start), ORDO_ARG(a->insert),
             ORDO_ARG(a->there), ORDO_ARG(a->before), ORDO_ARG(a->made), ORDO_ARG(a->n));
}

/* TIMELINE_ARGS. */
static void add_timeline(struct ordo_args *args, const struct apply *a)
{
    ORDO_ADD(args, ORDO_ARG(a->masks), ORDO_ARG(a->block_sums), ORDO_ARG(a->there_before), ORDO_ARG(a->group_of),
             ORDO_ARG(a->n_blocks), ORDO_ARG(a->n_levels));
}

static ordo_status launch(const struct apply *a, const char *name, size_t items, const struct ordo_args *args)
{
    return ordo_dict_launch(a->call, a->dict, "dict/apply.cl", name, items, args->arg, args->n);
}

static ordo_status scratch(const struct apply *a, size_t count, size_t bytes, cl_mem *out)
{
    return bytes ? ordo_call_scratch(a->call, count * bytes, out) : ORDO_OK;
}

static ordo_status scan(const struct apply *a, ordo_type type, ordo_op op, bool inclusive, cl_mem mem, size_t at,
                        size_t count)
{
    const struct ordo_scan s = {
        .type = type, .op = op, .inclusive = inclusive, .in = ordo_at(mem, at), .out = ordo_at(mem, at), .count = count
    };
    return ordo_call_scan(a->call, &s);
}

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
    ORDO_TRY(ordo_dict_launch(call, dict, "dict/apply.cl", "apply_survey", ordo_min_size(count, SURVEY_ITEMS), args.arg,
                              args.n));
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
    ORDO_TRY(scratch(a, a->n, sizeof(cl_uint), &a->number));
    return count_codes(a->dict, a->call, a->batch->codes, a->n, a->counted, a->number, a->survey);
}

/* Operations of a batch with order queries: sums of changes in the timeline (cl/dict/timeline.cl), each block's lifted by 32,
 * then fit into 32 bits. */
#define TIMELINE_MOST 0x7fffffffu

/* How many operations there are from one code to another. */
static cl_uint n_of(const struct apply *a, ordo_code least, ordo_code most)
{
    cl_uint n = 0;
    for (int code = (int) least; code <= (int) most; code++)
        n += a->survey[code];
    return n;
}

static cl_uint n_order(const struct apply *a)
{
    return n_of(a, ORDO_SEEK_LT, ORDO_RANGE) + n_of(a, ORDO_RANK_LT, ORDO_SELECT);
}

/* That the arrays are there which the operations need. */
static ordo_status check_survey(const struct apply *a)
{
    const struct ordo_batch *b = a->batch;
    ordo_device             *dev = a->call->dev;
    if (a->survey[ORDO_COMBINE])
        ORDO_TRY(ordo_dict_check_numbers(a->dict, b->value, b->combine));
    if (a->survey[FIRST_UNKNOWN] != 0)
        return ORDO_FAIL(dev, ORDO_INVALID, "operation %u of the batch has an unknown code",
                         a->n - a->survey[FIRST_UNKNOWN]);
    if (a->dict->value_bytes && (n_of(a, ORDO_UPSERT, ORDO_INSERT) || a->survey[ORDO_COMBINE]) && !b->values.mem)
        return ORDO_FAIL(dev, ORDO_INVALID, "the batch stores, but has no values");
    if (n_of(a, ORDO_COUNT, ORDO_RANGE) && !b->his.mem)
        return ORDO_FAIL(dev, ORDO_INVALID, "the batch has counts or ranges, but no upper bounds");
    if (n_of(a, ORDO_SEEK_LT, ORDO_RANGE) && a->n > TIMELINE_MOST)
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
    ORDO_TRY(scratch(a, a->n, 1, &a->there));
    ORDO_TRY(scratch(a, a->n, a->dict->value_bytes, &a->before));
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
    ORDO_TRY(ordo_dict_launch_typed(a->call, a->dict, COMBINE_FILE, "combine_brought", b->value, b->combine, a->n,
                                    &brought));
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
    return ordo_dict_launch_typed(a->call, a->dict, COMBINE_FILE, "combine_made", b->value, b->combine, a->n, &made);
}

/* In each of so many parts, one after another, of each element the sum of all before it in its part and of what came before that
 * in the same scan: sum_at of cl/dict/apply.cl. */
static ordo_status sum_parts(const struct apply *a, cl_mem mem, size_t parts, size_t stride)
{
    if (stride <= ORDO_MAX_COUNT / parts)
        return scan(a, ORDO_U32, ORDO_SUM, false, mem, 0, parts * stride);
    for (size_t part = 0; part < parts; part++)
        ORDO_TRY(scan(a, ORDO_U32, ORDO_SUM, false, mem, part * stride, stride));
    return ORDO_OK;
}

enum { SUM_PARTS = 4 }; /* SUM_... of cl/dict/apply.cl */

static ordo_status make_stretches(struct apply *a, cl_mem heads)
{
    struct ordo_args args = { .n = 0 };
    ORDO_ADD(&args, ORDO_ARG(a->sums), ORDO_ARG(a->number), ORDO_ARG(a->insert_at), ORDO_ARG(a->n), ORDO_ARG(a->start),
             ORDO_ARG(a->insert));
    ORDO_TRY(launch(a, "apply_stretches", a->n, &args));
    return make_values(a, heads);
}

/* What start, insert and the groups are made of; made, if there are combines. */
static ordo_status divide(struct apply *a)
{
    struct ordo_args args = { .n = 0 }, group_args = { .n = 0 };
    cl_mem           heads = NULL;

    ORDO_TRY(scratch(a, (a->n + (size_t) 1) * SUM_PARTS, sizeof(cl_uint), &a->sums));
    ORDO_TRY(scratch(a, a->n, sizeof(cl_uint), &a->insert_at));
    if (a->made)
        ORDO_TRY(scratch(a, a->n, 1, &heads));
    ordo_args_slice(&args, &a->batch->codes);
    ORDO_ADD(&args, ORDO_ARG(a->sorted.keys), ORDO_ARG(a->sorted.index), ORDO_ARG(a->there), ORDO_ARG(a->n),
             ORDO_ARG(a->sums), ORDO_ARG(heads), ORDO_ARG(a->counted));
    ORDO_TRY(launch(a, "apply_starts", a->n + (size_t) 1, &args));
    ORDO_TRY(sum_parts(a, a->sums, SUM_PARTS, a->n + (size_t) 1));
    ORDO_ADD(&group_args, ORDO_ARG(a->sums), ORDO_ARG(a->n), ORDO_ARG(a->group_of), ORDO_ARG(a->first_of),
             ORDO_ARG(a->there_before), ORDO_ARG(a->number), ORDO_ARG(a->insert_at));
    ORDO_TRY(launch(a, "apply_groups", a->n + (size_t) 1, &group_args));
    return a->made ? make_stretches(a, heads) : ORDO_OK;
}

static cl_uint n_seeks(const struct apply *a)
{
    return n_of(a, ORDO_SEEK_LT, ORDO_SEEK_GT);
}

static bool has_updates(const struct apply *a)
{
    return n_of(a, ORDO_UPSERT, ORDO_ERASE) + a->survey[ORDO_COMBINE] > 0;
}

/* PLACE_... of cl/dict/apply.cl. */
static cl_uint place_parts(const struct apply *a)
{
    return n_seeks(a) == 0 ? 1 : a->survey[ORDO_ERASE] == 0 ? 3 : 4;
}

static ordo_status make_room(struct apply *a, bool timeline)
{
    ORDO_TRY(scratch(a, a->n, sizeof(cl_uint), &a->start));
    ORDO_TRY(scratch(a, a->n, sizeof(cl_uint), &a->insert));
    ORDO_TRY(scratch(a, a->n + (size_t) 1, sizeof(cl_uint), &a->group_of));
    ORDO_TRY(scratch(a, a->n + (size_t) 1, sizeof(cl_uint), &a->first_of));
    ORDO_TRY(scratch(a, a->n + (size_t) 1, sizeof(cl_uint), &a->there_before));
    ORDO_TRY(scratch(a, (a->n + (size_t) 2) * place_parts(a), sizeof(cl_uint), &a->places));
    ORDO_TRY(scratch(a, a->n, a->survey[ORDO_COMBINE] ? a->dict->value_bytes : 0, &a->made));
    return scratch(a, a->n, timeline ? sizeof(cl_ulong) : 0, &a->entries);
}

static ordo_status enqueue_points(struct apply *a, bool no_ranges)
{
    const cl_uint           parts = place_parts(a);
    const struct ordo_slice offsets = no_ranges ? a->batch->offsets : ordo_none();
    struct ordo_args        args = { .n = 0 };

    add_batch(&args, a);
    ORDO_ADD(&args, ORDO_ARG(a->sums), ORDO_ARG(a->number), ORDO_ARG(a->insert_at), ORDO_ARG(a->start),
             ORDO_ARG(a->insert), ORDO_ARG(a->group_of), ORDO_ARG(a->places), ORDO_ARG(parts), ORDO_ARG(a->entries));
    ordo_args_slice(&args, &a->batch->found);
    ordo_args_slice(&args, &a->batch->values_out);
    ordo_args_slice(&args, &offsets);
    ORDO_TRY(launch(a, "apply_points", a->n + (size_t) 1, &args));
    return has_updates(a) || n_seeks(a) ? sum_parts(a, a->places, parts, a->n + (size_t) 2) : ORDO_OK;
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

/* ---- 3 the timeline ---------------------------------------------------------------------------------------------- */

static ordo_status build_level(struct apply *a, cl_uint level, cl_mem from, cl_mem to)
{
    struct ordo_args pack = { .n = 0 }, move = { .n = 0 };

    ORDO_ADD(&pack, ORDO_ARG(from), ORDO_ARG(a->n), ORDO_ARG(level), ORDO_ARG(a->n_blocks), ORDO_ARG(a->masks),
             ORDO_ARG(a->block_sums));
    ORDO_TRY(launch(a, "timeline_pack", a->n_blocks, &pack));
    ORDO_TRY(scan(a, ORDO_U64, ORDO_SUM, false, a->block_sums, (size_t) level * a->n_blocks, a->n_blocks));
    if (level == 0)
        return ORDO_OK;
    ORDO_ADD(&move, ORDO_ARG(from), ORDO_ARG(a->n), ORDO_ARG(level), ORDO_ARG(a->n_blocks), ORDO_ARG(a->masks),
             ORDO_ARG(a->block_sums), ORDO_ARG(to));
    return launch(a, "timeline_move", a->n, &move);
}

static ordo_status build_timeline(struct apply *a)
{
    cl_mem from = a->entries, to = NULL;

    a->n_blocks = a->n / 32 + 1;
    for (a->n_levels = 1; a->n >> a->n_levels;)
        a->n_levels++;
    ORDO_TRY(scratch(a, (size_t) a->n_levels * a->n_blocks, 3 * sizeof(cl_uint), &a->masks));
    ORDO_TRY(scratch(a, (size_t) a->n_levels * a->n_blocks, sizeof(cl_ulong), &a->block_sums));
    const int mark = a->call->n_scratch;
    ORDO_TRY(scratch(a, a->n, sizeof(cl_ulong), &to));
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

/* The operations of some codes, in the order of the batch. */
struct picked {
    cl_uint n;
    cl_mem  ops, lo, hi;
};

static ordo_status pick(struct apply *a, ordo_code least, ordo_code most, bool bounds, struct picked *out)
{
    const cl_uint    first = (cl_uint) least, last = (cl_uint) most;
    struct ordo_args flag = { .n = 0 }, gather = { .n = 0 };
    cl_mem           places = NULL;

    *out = (struct picked) { .n = n_of(a, least, most) };
    ORDO_TRY(scratch(a, out->n, sizeof(cl_uint), &out->ops));
    ORDO_TRY(scratch(a, out->n, a->dict->key_bytes, &out->lo));
    ORDO_TRY(scratch(a, out->n, bounds ? a->dict->key_bytes : 0, &out->hi));
    const int mark = a->call->n_scratch;
    ORDO_TRY(scratch(a, a->n + (size_t) 1, sizeof(cl_uint), &places));

    ordo_args_slice(&flag, &a->batch->codes);
    ORDO_ADD(&flag, ORDO_ARG(a->n), ORDO_ARG(first), ORDO_ARG(last), ORDO_ARG(places));
    ORDO_TRY(launch(a, "apply_pick", a->n + (size_t) 1, &flag));
    ORDO_TRY(scan(a, ORDO_U32, ORDO_SUM, false, places, 0, a->n + (size_t) 1));
    ORDO_ADD(&gather, ORDO_ARG(places), ORDO_ARG(a->n));
    ordo_args_slice(&gather, &a->batch->keys);
    ordo_args_slice(&gather, &a->batch->his);
    ORDO_ADD(&gather, ORDO_ARG(out->ops), ORDO_ARG(out->lo), ORDO_ARG(out->hi));
    ORDO_TRY(launch(a, "apply_gather", a->n, &gather));
    ordo_call_release(a->call, mark);
    return ORDO_OK;
}

/* lengths, if wanted: of each operation the number of elements in its range. */
static ordo_status resolve_counts(struct apply *a, cl_mem lengths)
{
    const int        mark = a->call->n_scratch;
    struct ordo_args args = { .n = 0 };
    struct picked    picked;
    cl_mem           base = NULL;

    if (n_of(a, ORDO_COUNT, ORDO_RANGE) == 0)
        return ORDO_OK;
    ORDO_TRY(pick(a, ORDO_COUNT, ORDO_RANGE, true, &picked));
    ORDO_TRY(scratch(a, picked.n, sizeof(cl_uint), &base));
    const struct ordo_counts counts = { ordo_at(picked.lo, 0), ordo_at(picked.hi, 0), picked.n, ordo_at(base, 0) };
    ORDO_TRY(a->dict->structure->count(a->dict, a->call, &counts));
    ORDO_ADD(&args, ORDO_ARG(a->n));
    ordo_args_slice(&args, &a->batch->codes);
    ORDO_ADD(&args, ORDO_ARG(a->sorted.keys));
    add_timeline(&args, a);
    ORDO_ADD(&args, ORDO_ARG(picked.ops), ORDO_ARG(picked.lo), ORDO_ARG(picked.hi), ORDO_ARG(picked.n), ORDO_ARG(base));
    ordo_args_slice(&args, &a->batch->counts);
    ORDO_ADD(&args, ORDO_ARG(lengths));
    ORDO_TRY(launch(a, "apply_count", picked.n, &args));
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

    if (a->survey[code] == 0 || !a->batch->counts.mem)
        return ORDO_OK;
    ORDO_TRY(pick(a, code, code, false, &picked));
    ORDO_TRY(scratch(a, picked.n, sizeof(cl_uint), &base));
    const struct ordo_ranks ranks = { upper, ordo_at(picked.lo, 0), picked.n, ordo_at(base, 0) };
    ORDO_TRY(a->dict->structure->rank(a->dict, a->call, &ranks));
    ORDO_ADD(&args, ORDO_ARG(a->n), ORDO_ARG(a->sorted.keys));
    add_timeline(&args, a);
    ORDO_ADD(&args, ORDO_ARG(picked.ops), ORDO_ARG(picked.lo), ORDO_ARG(picked.n), ORDO_ARG(upper), ORDO_ARG(base));
    ordo_args_slice(&args, &a->batch->counts);
    ORDO_TRY(launch(a, "apply_rank", picked.n, &args));
    ordo_call_release(a->call, mark);
    return ORDO_OK;
}

/* groups and, in base, what is found of what the batch does not touch: see apply_select_plan. */
static ordo_status plan_selections(struct apply *a, const struct picked *picked, cl_mem groups, struct neighbours *base)
{
    struct ordo_args args = { .n = 0 };
    cl_mem           ranks = NULL, base_ranks = NULL;

    ORDO_TRY(scratch(a, picked->n, a->dict->key_bytes, &base->keys));
    ORDO_TRY(scratch(a, picked->n, a->dict->value_bytes, &base->values));
    ORDO_TRY(scratch(a, picked->n, 1, &base->found));
    const int mark = a->call->n_scratch;
    ORDO_TRY(scratch(a, a->n, sizeof(cl_uint), &ranks));
    ORDO_TRY(scratch(a, picked->n, sizeof(cl_uint), &base_ranks));
    const struct ordo_ranks of_batch = { false, ordo_at(a->sorted.keys, 0), a->n, ordo_at(ranks, 0) };
    ORDO_TRY(a->dict->structure->rank(a->dict, a->call, &of_batch));
    add_batch(&args, a);
    add_timeline(&args, a);
    ORDO_ADD(&args, ORDO_ARG(a->first_of), ORDO_ARG(ranks), ORDO_ARG(picked->ops), ORDO_ARG(picked->lo),
             ORDO_ARG(picked->n), ORDO_ARG(groups), ORDO_ARG(base_ranks));
    ORDO_TRY(launch(a, "apply_select_plan", picked->n, &args));
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

    if (a->survey[ORDO_SELECT] == 0)
        return ORDO_OK;
    ORDO_TRY(pick(a, ORDO_SELECT, ORDO_SELECT, false, &picked));
    ORDO_TRY(scratch(a, picked.n, sizeof(cl_uint), &groups));
    ORDO_TRY(plan_selections(a, &picked, groups, &base));
    add_batch(&args, a);
    ORDO_ADD(&args, ORDO_ARG(a->first_of), ORDO_ARG(picked.ops), ORDO_ARG(picked.n), ORDO_ARG(groups),
             ORDO_ARG(base.keys), ORDO_ARG(base.values), ORDO_ARG(base.found));
    ordo_args_slice(&args, &a->batch->keys_out);
    ordo_args_slice(&args, &a->batch->values_out);
    ordo_args_slice(&args, &a->batch->found);
    ORDO_TRY(launch(a, "apply_select", picked.n, &args));
    ordo_call_release(a->call, mark);
    return ORDO_OK;
}

/* Offsets of all operations, and that there is room; waits if there are ranges. */
static ordo_status offset_ranges(struct apply *a, cl_mem lengths, size_t *needed)
{
    const struct ordo_batch *b = a->batch;
    cl_ulong                 total = 0;

    ORDO_TRY(ordo_dict_offsets(a->call, a->dict, ordo_at(lengths, 0), a->n, b->offsets));
    if (a->survey[ORDO_RANGE] == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_call_read(a->call, b->offsets.mem, (b->offsets.at + a->n) * sizeof total, &total, sizeof total));
    if (needed)
        *needed = (size_t) total;
    if (total > b->range_capacity)
        return ORDO_FAIL(a->call->dev, ORDO_TOO_SMALL, "the batch's ranges hold %llu elements, room is for %zu",
                         (unsigned long long) total, b->range_capacity);
    return ORDO_OK;
}

/* ---- 3 ranges ---------------------------------------------------------------------------------------------------- */

/* The elements of the ranges as the dictionary has them now. */
struct range_base {
    cl_mem   first; /* of each range, uint64_t, and their number */
    cl_ulong total;
    cl_mem   keys, values;
};

/* Waits for the total. */
static ordo_status read_ranges_now(struct apply *a, const struct picked *picked, struct range_base *out)
{
    *out = (struct range_base) { NULL };
    ORDO_TRY(scratch(a, picked->n + (size_t) 1, sizeof(cl_ulong), &out->first));
    struct ordo_ranges ranges = { .lo = ordo_at(picked->lo, 0),
                                  .hi = ordo_at(picked->hi, 0),
                                  .count = picked->n,
                                  .offsets = ordo_at(out->first, 0) };
    ORDO_TRY(a->dict->structure->range(a->dict, a->call, &ranges));
    ORDO_TRY(ordo_call_read(a->call, out->first, picked->n * sizeof out->total, &out->total, sizeof out->total));
    ORDO_REQUIRE(a->call->dev, out->total <= SIZE_MAX / 16, ORDO_TOO_LARGE, "the ranges hold %llu elements",
                 (unsigned long long) out->total);
    ORDO_TRY(scratch(a, (size_t) out->total, a->dict->key_bytes, &out->keys));
    ORDO_TRY(scratch(a, (size_t) out->total, a->dict->value_bytes, &out->values));
    ranges.offsets_known = true;
    ranges.keys_out = ordo_at(out->keys, 0);
    ranges.values_out = ordo_at(out->values, 0);
    ranges.capacity = (size_t) out->total;
    return out->total ? a->dict->structure->range(a->dict, a->call, &ranges) : ORDO_OK;
}

/* Per range: see apply_range_plan in cl/dict/apply.cl. */
struct range_plan {
    cl_mem group, changes, touched;
};

static ordo_status plan_ranges(struct apply *a, const struct picked *picked, struct range_plan *out)
{
    struct ordo_args args = { .n = 0 };
    ORDO_TRY(scratch(a, picked->n, sizeof(cl_uint), &out->group));
    ORDO_TRY(scratch(a, picked->n, sizeof(cl_int), &out->changes));
    ORDO_TRY(scratch(a, picked->n + (size_t) 1, sizeof(cl_ulong), &out->touched));
    ORDO_ADD(&args, ORDO_ARG(a->n), ORDO_ARG(a->sorted.keys));
    add_timeline(&args, a);
    ORDO_ADD(&args, ORDO_ARG(picked->ops), ORDO_ARG(picked->lo), ORDO_ARG(picked->hi), ORDO_ARG(picked->n),
             ORDO_ARG(out->group), ORDO_ARG(out->changes), ORDO_ARG(out->touched));
    ORDO_TRY(launch(a, "apply_range_plan", picked->n + (size_t) 1, &args));
    return scan(a, ORDO_U64, ORDO_SUM, false, out->touched, 0, picked->n + (size_t) 1);
}

/* RANGE_OUT of cl/dict/apply.cl. */
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
    add_timeline(&args, a);
    ORDO_ADD(&args, ORDO_ARG(picked->ops), ORDO_ARG(picked->n), ORDO_ARG(plan->changes), ORDO_ARG(base->first),
             ORDO_ARG(base->keys), ORDO_ARG(base->values));
    add_range_out(&args, a);
    return launch(a, "apply_range_kept", (size_t) base->total, &args);
}

/* Work-items that write what the batch touches: how much that is, the device alone knows. */
#define TOUCHED_ITEMS ((size_t) 1 << 18)

static ordo_status write_touched(struct apply *a, const struct picked *picked, const struct range_plan *plan,
                                 const struct range_base *base)
{
    struct ordo_args args = { .n = 0 };
    add_batch(&args, a);
    add_timeline(&args, a);
    ORDO_ADD(&args, ORDO_ARG(a->first_of), ORDO_ARG(picked->ops), ORDO_ARG(picked->n), ORDO_ARG(plan->group),
             ORDO_ARG(plan->touched), ORDO_ARG(base->first), ORDO_ARG(base->keys));
    add_range_out(&args, a);
    return launch(a, "apply_range_touched", ordo_min_size(a->batch->range_capacity, TOUCHED_ITEMS), &args);
}

static ordo_status resolve_ranges(struct apply *a)
{
    const int         mark = a->call->n_scratch;
    struct picked     picked;
    struct range_base base;
    struct range_plan plan;

    if (a->survey[ORDO_RANGE] == 0 || (!a->batch->range_keys.mem && !a->batch->range_values.mem))
        return ORDO_OK;
    ORDO_TRY(pick(a, ORDO_RANGE, ORDO_RANGE, true, &picked));
    ORDO_TRY(read_ranges_now(a, &picked, &base));
    ORDO_TRY(plan_ranges(a, &picked, &plan));
    ORDO_TRY(write_kept(a, &picked, &plan, &base));
    ORDO_TRY(write_touched(a, &picked, &plan, &base));
    ordo_call_release(a->call, mark);
    return ORDO_OK;
}

/* ---- 3 seeks ----------------------------------------------------------------------------------------------------- */

/* Which they are, at what keys they begin, and what is erased. */
static ordo_status list_seeks(struct apply *a)
{
    struct seeks    *s = &a->seeks;
    struct ordo_args args = { .n = 0 };

    *s = (struct seeks) { .n_up = n_of(a, ORDO_SEEK_GE, ORDO_SEEK_GT),
                          .n = n_seeks(a),
                          .n_erased = a->survey[ORDO_ERASE] };
    ORDO_TRY(scratch(a, s->n, sizeof(cl_uint), &s->ops));
    ORDO_TRY(scratch(a, s->n + (size_t) 2 * s->n_erased, a->dict->key_bytes, &s->keys));
    if (s->n_erased)
        ORDO_TRY(scratch(a, s->n_erased, a->dict->key_bytes, &s->erased));
    ordo_args_slice(&args, &a->batch->codes);
    ORDO_ADD(&args, ORDO_ARG(a->sorted.keys), ORDO_ARG(a->sorted.index), ORDO_ARG(a->n), ORDO_ARG(a->places),
             ORDO_ARG(s->n_up), ORDO_ARG(s->n), ORDO_ARG(s->n_erased), ORDO_ARG(s->ops), ORDO_ARG(s->keys),
             ORDO_ARG(s->erased));
    return launch(a, "apply_ask", a->n, &args);
}

/* Queries from `first` on, the first n_ge of them upwards. */
static ordo_status seek_neighbours(struct apply *a, ordo_relation relation, size_t first, size_t count, size_t n_ge)
{
    const struct seeks     *s = &a->seeks;
    const struct ordo_slice values = s->base.values ? ordo_at(s->base.values, first) : ordo_none();
    const struct ordo_seeks seeks = { .relation = relation,
                                      .keys = ordo_at(s->keys, first),
                                      .count = count,
                                      .keys_out = ordo_at(s->base.keys, first),
                                      .values_out = values,
                                      .found = ordo_at(s->base.found, first),
                                      .n_ge = n_ge };
    return a->dict->structure->seek(a->dict, a->call, &seeks);
}

/* Both directions at once, where the structure can; nothing of one to which nothing seeks. */
static ordo_status find_neighbours(struct apply *a)
{
    struct seeks *s = &a->seeks;
    const cl_uint n_down = s->n - s->n_up;
    const size_t  up = (size_t) s->n_up + s->n_erased, down = (size_t) n_down + s->n_erased;
    ORDO_TRY(scratch(a, up + down, a->dict->key_bytes, &s->base.keys));
    ORDO_TRY(scratch(a, up + down, a->dict->value_bytes, &s->base.values));
    ORDO_TRY(scratch(a, up + down, 1, &s->base.found));
    if (s->n_up && n_down && a->dict->structure->seeks_both)
        return seek_neighbours(a, ORDO_LT, 0, up + down, up);
    if (s->n_up)
        ORDO_TRY(seek_neighbours(a, ORDO_GE, 0, up, 0));
    return n_down ? seek_neighbours(a, ORDO_LT, up, down, 0) : ORDO_OK;
}

/* QUERY_ARGS of cl/dict/apply.cl. */
static void add_queries(struct ordo_args *args, const struct apply *a)
{
    const struct seeks *s = &a->seeks;
    ORDO_ADD(args, ORDO_ARG(s->ops), ORDO_ARG(s->base.keys), ORDO_ARG(s->base.values), ORDO_ARG(s->base.found),
             ORDO_ARG(s->erased), ORDO_ARG(s->end), ORDO_ARG(s->n_up), ORDO_ARG(s->n), ORDO_ARG(s->n_erased),
             ORDO_ARG(a->places));
}

/* Where chains of erased keys end, on the sides to which the seeks go. */
static ordo_status find_chains(struct apply *a)
{
    struct seeks    *s = &a->seeks;
    const cl_uint    first = s->n_up ? 0 : s->n_erased, last = s->n_erased * (s->n > s->n_up ? 2 : 1);
    struct ordo_args args = { .n = 0 };

    if (s->n_erased == 0)
        return ORDO_OK;
    ORDO_TRY(scratch(a, (size_t) 2 * s->n_erased, sizeof(cl_uint), &s->end));
    ORDO_ADD(&args, ORDO_ARG(a->n));
    add_queries(&args, a);
    ORDO_ADD(&args, ORDO_ARG(s->end), ORDO_ARG(first), ORDO_ARG(last));
    ORDO_TRY(launch(a, "apply_chain", last - first, &args));
    if (last - first <= ORDO_MAX_COUNT)
        return scan(a, ORDO_U32, ORDO_MAX, true, s->end, first, last - first);
    ORDO_TRY(scan(a, ORDO_U32, ORDO_MAX, true, s->end, 0, s->n_erased));
    return scan(a, ORDO_U32, ORDO_MAX, true, s->end, s->n_erased, s->n_erased);
}

/* SEEK_OUT. */
static void add_seek_out(struct ordo_args *args, const struct apply *a)
{
    ordo_args_slice(args, &a->batch->keys_out);
    ordo_args_slice(args, &a->batch->values_out);
    ordo_args_slice(args, &a->batch->found);
}

static bool needs_timeline(const struct apply *a)
{
    return n_of(a, ORDO_COUNT, ORDO_RANGE) + n_of(a, ORDO_RANK_LT, ORDO_SELECT) > 0;
}

/* All but those that have far to go: see count_changed. */
static ordo_status resolve_seeks(struct apply *a)
{
    struct ordo_args args = { .n = 0 };

    ORDO_TRY(list_seeks(a));
    ORDO_TRY(find_neighbours(a));
    ORDO_TRY(find_chains(a));
    add_batch(&args, a);
    ORDO_ADD(&args, ORDO_ARG(a->group_of), ORDO_ARG(a->first_of));
    add_queries(&args, a);
    add_seek_out(&args, a);
    ORDO_ADD(&args, ORDO_ARG(a->places));
    return launch(a, "apply_seek", a->seeks.n, &args);
}

static ordo_status resolve_far(struct apply *a)
{
    struct ordo_args args = { .n = 0 };

    if (!a->masks)
        ORDO_TRY(build_timeline(a));
    add_batch(&args, a);
    add_timeline(&args, a);
    ORDO_ADD(&args, ORDO_ARG(a->first_of));
    add_queries(&args, a);
    add_seek_out(&args, a);
    return launch(a, "apply_seek_far", a->seeks.n, &args);
}

/* ---- 4 store ----------------------------------------------------------------------------------------------------- */

/* How many keys are to be stored; and whether some seek has far to go: then all are done again. Waits. */
static ordo_status count_changed(struct apply *a, cl_uint *count)
{
    cl_uint last[2] = { 0, 0 };

    if (!has_updates(a) && n_seeks(a) == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_call_read(a->call, a->places, a->n * sizeof *last, last, sizeof last));
    *count = last[0];
    const bool far = last[1] != last[0] || (ordo_rehearses(a->call->dev) && last[1]);
    return n_seeks(a) > 0 && far ? resolve_far(a) : ORDO_OK;
}

static ordo_status store(struct apply *a, cl_uint count)
{
    struct ordo_args args = { .n = 0 };
    cl_mem           keys = NULL, values = NULL, erased = NULL;

    if (count == 0)
        return ORDO_OK;
    ORDO_TRY(scratch(a, count, a->dict->key_bytes, &keys));
    ORDO_TRY(scratch(a, count, a->dict->value_bytes, &values));
    ORDO_TRY(scratch(a, count, 1, &erased));
    add_batch(&args, a);
    ORDO_ADD(&args, ORDO_ARG(a->places), ORDO_ARG(keys), ORDO_ARG(values), ORDO_ARG(erased));
    ORDO_TRY(launch(a, "apply_store", a->n, &args));
    const struct ordo_sorted_updates updates = {
        ordo_at(keys, 0), ordo_at(values, 0), ordo_at(erased, 0), count, true, true
    };
    return a->dict->structure->update_sorted(a->dict, a->call, &updates);
}

/* ---- the batch --------------------------------------------------------------------------------------------------- */

static ordo_status resolve_order(struct apply *a, size_t *needed)
{
    const int mark = a->call->n_scratch;
    cl_mem    lengths = NULL;

    if (a->batch->offsets.mem) {
        ORDO_TRY(scratch(a, a->n, sizeof(cl_uint), &lengths));
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
        ORDO_TRY(build_timeline(&a));
        ORDO_TRY(resolve_order(&a, needed));
    }
    if (n_seeks(&a) > 0)
        ORDO_TRY(resolve_seeks(&a));
    ORDO_TRY(count_changed(&a, &count));
    ordo_call_release(call, mark);
    ORDO_TRY(ordo_dict_before_store(dict, call));
    return store(&a, count);
}
