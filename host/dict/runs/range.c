/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/runs/runs.h"

#include "primitive/scan.h"

static struct ordo_launch kernel(const ordo_dict *dict, const char *name, size_t items)
{
    return ordo_dict_kernel(dict, "dict/runs/runs.cl", name, items);
}

/* Scratch memory for `count` ranges:
 *
 *   lows[r * count + i]    rank in run r of the lower bound of range i
 *   highs[r * count + i]   rank in run r of the upper bound of range i
 *   candidates[i]          number of stored elements in the ranges before range i
 *   before[i]              number of visible elements below range i */
struct range_scratch {
    cl_mem lows, highs, candidates, before;
};

/* For at most FEW_BOUNDS bounds, one launch searches all runs, without search indexes. */
#define FEW_BOUNDS 1024

ordo_status ordo_runs_rank_bounds(struct ordo_call *call, const ordo_dict *dict, const struct ordo_run_set *set,
                                  const struct ordo_slice *lo, const struct ordo_slice *hi, size_t count, cl_mem lows,
                                  cl_mem highs)
{
    const struct ordo_launch launch = kernel(dict, "run_bounds", 2 * set->n * count);
    const cl_uint            n = (cl_uint) count;
    struct ordo_args         args = { .n = 0 };
    run_table                table;

    ordo_run_set_add(&args, dict, set, false, &table);
    ordo_args_slice(&args, lo);
    ordo_args_slice(&args, hi);
    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(lows), ORDO_ARG(highs));
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status rank_ranges(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set,
                               const struct ordo_ranges *ranges, const struct range_scratch *s)
{
    if (2 * set->n * ranges->count <= FEW_BOUNDS)
        return ordo_runs_rank_bounds(call, dict, set, &ranges->lo, &ranges->hi, ranges->count, s->lows, s->highs);
    for (size_t r = 0; r < set->n; r++) {
        ORDO_TRY(ordo_runs_rank_in_run(call, dict, &set->run[r], ranges->lo, ranges->count, false,
                                       ordo_at(s->lows, r * ranges->count)));
        ORDO_TRY(ordo_runs_rank_in_run(call, dict, &set->run[r], ranges->hi, ranges->count, true,
                                       ordo_at(s->highs, r * ranges->count)));
    }
    return ORDO_OK;
}

/* Fills the arrays of *s. If `offsets` is true, also writes each range's number of elements to ranges->offsets. */
static ordo_status measure_ranges(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set,
                                  const struct ordo_ranges *ranges, bool offsets, const struct range_scratch *s)
{
    const struct ordo_launch launch = kernel(dict, "run_measure", ranges->count + 1);
    const struct ordo_slice  sums = { offsets ? ranges->offsets.mem : NULL, ranges->offsets.at };
    const cl_uint            n = (cl_uint) ranges->count;
    struct ordo_args         args = { .n = 0 };
    run_table                table;

    ORDO_TRY(rank_ranges(call, dict, set, ranges, s));
    ordo_run_set_add(&args, dict, set, false, &table);
    ordo_args_slice(&args, &ranges->lo);
    ordo_args_slice(&args, &ranges->hi);
    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(s->lows), ORDO_ARG(s->highs), ORDO_ARG(s->candidates), ORDO_ARG(s->before));
    ordo_args_slice(&args, &sums);
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status scan_sums(struct ordo_call *call, struct ordo_slice sums, size_t count)
{
    const struct ordo_scan scan = { .type = ORDO_U64, .op = ORDO_SUM, .in = sums, .out = sums, .count = count };
    return ordo_call_scan(call, &scan);
}

static ordo_status write_ranges(struct ordo_call *call, const ordo_dict *dict, const struct ordo_run_set *set,
                                const struct ordo_ranges *ranges, const struct ordo_ranges *all,
                                const struct range_scratch *s)
{
    const cl_uint    n = (cl_uint) ranges->count;
    const cl_ulong   last = all->offsets.at + all->count, capacity = all->capacity;
    struct ordo_args args = { .n = 0 };
    run_table        table;

    ordo_run_set_add(&args, dict, set, true, &table);
    ORDO_ADD(&args, ORDO_ARG(s->lows), ORDO_ARG(s->highs), ORDO_ARG(n), ORDO_ARG(s->candidates), ORDO_ARG(s->before));
    ordo_args_slice(&args, &ranges->offsets);
    ORDO_ADD(&args, ORDO_ARG(last), ORDO_ARG(capacity));
    ordo_args_slice(&args, &ranges->keys_out);
    ordo_args_slice(&args, &ranges->values_out);
    const size_t             items = ordo_min_size(all->capacity, (size_t) 1 << 20);
    const struct ordo_launch launch =
        ordo_dict_kernel_shares(dict, "dict/runs/runs.cl", "run_range", items > ranges->count ? items : ranges->count);
    return ordo_call_launch(call, &launch, &args);
}

static struct ordo_ranges part_of(const struct ordo_ranges *ranges, size_t at, size_t most)
{
    struct ordo_ranges part = *ranges;
    part.lo = ordo_slice_from(ranges->lo, at);
    part.hi = ordo_slice_from(ranges->hi, at);
    part.offsets = ordo_slice_from(ranges->offsets, at);
    part.count = ordo_min_size(ranges->count - at, most);
    return part;
}

/* Handles `most` ranges at a time, because `s` has space for only `most` ranges. */
static ordo_status range_in_parts(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set,
                                  const struct ordo_ranges *ranges, size_t most, const struct range_scratch *s)
{
    const bool wanted = ranges->capacity > 0 && (ranges->keys_out.mem || ranges->values_out.mem);

    for (size_t at = 0; at < ranges->count && !ranges->offsets_known; at += most) {
        const struct ordo_ranges part = part_of(ranges, at, most);
        ORDO_TRY(measure_ranges(call, dict, set, &part, true, s));
    }
    if (!ranges->offsets_known)
        ORDO_TRY(scan_sums(call, ranges->offsets, ranges->count + 1));
    for (size_t at = 0; at < ranges->count && wanted; at += most) {
        const struct ordo_ranges part = part_of(ranges, at, most);
        if (ranges->offsets_known || most < ranges->count)
            ORDO_TRY(measure_ranges(call, dict, set, &part, false, s));
        ORDO_TRY(scan_sums(call, ordo_at(s->candidates, 0), part.count + 1));
        ORDO_TRY(write_ranges(call, dict, set, &part, ranges, s));
    }
    return ORDO_OK;
}

static ordo_status take_range_scratch(struct ordo_call *call, const void *what, size_t most, void *scratch)
{
    const size_t          bytes = *(const size_t *) what * most * sizeof(cl_uint);
    struct range_scratch *s = scratch;

    ORDO_TRY(ordo_call_scratch(call, bytes, &s->lows));
    ORDO_TRY(ordo_call_scratch(call, bytes, &s->highs));
    ORDO_TRY(ordo_call_scratch(call, most * sizeof(cl_uint), &s->before));
    return ordo_call_scratch(call, (most + 1) * sizeof(cl_ulong), &s->candidates);
}

#define RANGES_MAX ((size_t) 1 << 25) /* maximum length of `lows` and `highs` */

ordo_status ordo_runs_range(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranges *ranges)
{
    struct ordo_run_set *set = &ordo_runs_of(dict)->set;
    const int            mark = call->n_scratch;
    struct range_scratch s;

    if (set->n == 0)
        return ordo_call_fill(call, ranges->offsets.mem, ranges->offsets.at * sizeof(cl_ulong),
                              (ranges->count + 1) * sizeof(cl_ulong), 0);
    size_t most = ordo_runs_part(call, ranges->count, set->n * sizeof(cl_uint) + sizeof(cl_ulong));
    most = ordo_min_size(most, RANGES_MAX / set->n);
    ORDO_TRY(ordo_run_set_resolve(call, dict, set));
    ORDO_TRY(ordo_runs_take_scratch(call, take_range_scratch, &set->n, &most, &s));
    ORDO_TRY(range_in_parts(call, dict, set, ranges, most, &s));
    ordo_call_release(call, mark);
    return ORDO_OK;
}

#define SAMPLE_MAX ((size_t) 1 << 14)

ordo_status ordo_runs_estimate(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranges *ranges, double *out)
{
    struct ordo_run_set *set = &ordo_runs_of(dict)->set;
    const int            mark = call->n_scratch;
    size_t               most = ordo_min_size(ranges->count, SAMPLE_MAX);
    struct range_scratch s;
    cl_ulong             candidates = 0;

    *out = 0;
    if (set->n == 0 || most == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_run_index(call, dict, &set->run[0]));
    struct ordo_run_set oldest = { .run = { set->run[0] }, .n = 1 };
    ORDO_TRY(ordo_runs_take_scratch(call, take_range_scratch, &oldest.n, &most, &s));
    const struct ordo_ranges part = part_of(ranges, 0, most);
    ORDO_TRY(measure_ranges(call, dict, &oldest, &part, false, &s));
    ORDO_TRY(scan_sums(call, ordo_at(s.candidates, 0), part.count + 1));
    ORDO_TRY(ordo_call_read(call, s.candidates, part.count * sizeof candidates, &candidates, sizeof candidates));
    *out = (double) candidates * ((double) ranges->count / (double) part.count);
    ordo_call_release(call, mark);
    return ORDO_OK;
}
