/* SPDX-License-Identifier: Apache-2.0 */
/* Erases ranges of keys, and reads or takes the first or last elements. */
#include "dict/generic/generic.h"
#include "primitive/scan.h"
#include "primitive/sort.h"

#define INTERVAL_FILE "dict/generic/interval.cl"

struct erasure {
    ordo_dict                  *dict;
    struct ordo_call           *call;
    const struct ordo_erasures *e;
    cl_uint                     n;
    cl_mem                      first, past; /* Range i has the ranks first[i] .. past[i] - 1. */
    /* numbers[] has the indices of the ranges, sorted by `first`. Ranges may overlap, so range numbers[j] keeps only
     * its ranks from begins[j] on. offsets[] has the n + 1 prefix sums of the numbers of kept ranks. */
    cl_mem   numbers;
    cl_mem   begins;
    cl_mem   offsets;
    cl_ulong total, lengths;
};

static ordo_status scratch(const struct erasure *x, size_t count, size_t bytes, cl_mem *out)
{
    return ordo_call_scratch(x->call, count * bytes, out);
}

static ordo_status sum(const struct erasure *x, cl_mem numbers, cl_ulong *total)
{
    const struct ordo_scan scan = { .type = ORDO_U64,
                                    .op = ORDO_SUM,
                                    .in = ordo_at(numbers, 0),
                                    .out = ordo_at(numbers, 0),
                                    .count = x->n + (size_t) 1 };
    ORDO_TRY(ordo_call_scan(x->call, &scan));
    return ordo_call_read(x->call, numbers, x->n * sizeof *total, total, sizeof *total);
}

/* ---- 1 intervals ------------------------------------------------------------------------------------------------- */

static ordo_status measure(struct erasure *x)
{
    const struct ordo_erasures *e = x->e;
    const struct ordo_ranks     from = { false, e->lo, e->count, ordo_at(x->first, 0) };
    const struct ordo_ranks     to = { true, e->hi, e->count, ordo_at(x->past, 0) };
    struct ordo_args            args = { .n = 0 };

    ORDO_TRY(x->dict->structure->rank(x->dict, x->call, &from));
    ORDO_TRY(x->dict->structure->rank(x->dict, x->call, &to));
    ordo_args_slice(&args, &e->lo);
    ordo_args_slice(&args, &e->hi);
    ORDO_ADD(&args, ORDO_ARG(x->n), ORDO_ARG(x->first), ORDO_ARG(x->past), ORDO_ARG(x->numbers), ORDO_ARG(x->offsets));
    const struct ordo_launch launch = ordo_dict_kernel(x->dict, INTERVAL_FILE, "interval_measure", x->n + (size_t) 1);
    ORDO_TRY(ordo_call_launch(x->call, &launch, &args));
    return sum(x, x->offsets, &x->lengths);
}

static ordo_status clip(struct erasure *x)
{
    const struct ordo_sort_params params = { .key = ORDO_U32, .value_bytes = sizeof(cl_uint) };
    const int                     mark = x->call->n_scratch;
    struct ordo_args              gather = { .n = 0 }, args = { .n = 0 };
    cl_mem                        order = NULL, ends = NULL, covered = NULL;

    ORDO_TRY(scratch(x, x->n, sizeof(cl_uint), &order));
    ORDO_TRY(scratch(x, x->n, sizeof(cl_uint), &ends));
    ORDO_TRY(scratch(x, x->n, sizeof(cl_uint), &covered));
    ORDO_TRY(ordo_call_sort(x->call, &params, ordo_at(x->first, 0), ordo_at(x->numbers, 0), ordo_at(x->begins, 0),
                            ordo_at(order, 0), x->n));
    ORDO_TRY(ordo_call_copy(x->call, order, 0, x->numbers, 0, x->n * sizeof(cl_uint)));
    ORDO_ADD(&gather, ORDO_ARG(x->past), ORDO_ARG(x->numbers), ORDO_ARG(x->n), ORDO_ARG(ends));
    const struct ordo_launch gather_launch = ordo_dict_kernel(x->dict, INTERVAL_FILE, "interval_gather", x->n);
    ORDO_TRY(ordo_call_launch(x->call, &gather_launch, &gather));
    const struct ordo_scan most = {
        .type = ORDO_U32, .op = ORDO_MAX, .in = ordo_at(ends, 0), .out = ordo_at(covered, 0), .count = x->n
    };
    ORDO_TRY(ordo_call_scan(x->call, &most));
    ORDO_ADD(&args, ORDO_ARG(x->begins), ORDO_ARG(ends), ORDO_ARG(covered), ORDO_ARG(x->n), ORDO_ARG(x->offsets));
    const struct ordo_launch args_launch = ordo_dict_kernel(x->dict, INTERVAL_FILE, "interval_clip", x->n + (size_t) 1);
    ORDO_TRY(ordo_call_launch(x->call, &args_launch, &args));
    ORDO_TRY(sum(x, x->offsets, &x->total));
    ordo_call_release(x->call, mark);
    return ORDO_OK;
}

/* ---- 2 keys ------------------------------------------------------------------------------------------------------ */

static ordo_status export_keys(struct erasure *x, cl_mem keys)
{
    const int        mark = x->call->n_scratch;
    struct ordo_args args = { .n = 0 };
    cl_mem           at = NULL, lo = NULL, hi = NULL;

    ORDO_TRY(scratch(x, x->n, x->dict->key_bytes, &at));
    ORDO_TRY(scratch(x, x->n, x->dict->key_bytes, &lo));
    ORDO_TRY(scratch(x, x->n, x->dict->key_bytes, &hi));
    const struct ordo_selects selects = { ordo_at(x->begins, 0), x->n, ordo_at(at, 0), ordo_none(), ordo_none() };
    ORDO_TRY(x->dict->structure->select(x->dict, x->call, &selects));
    ORDO_ADD(&args, ORDO_ARG(at));
    ordo_args_slice(&args, &x->e->hi);
    ORDO_ADD(&args, ORDO_ARG(x->numbers), ORDO_ARG(x->offsets), ORDO_ARG(x->n), ORDO_ARG(lo), ORDO_ARG(hi));
    const struct ordo_launch launch = ordo_dict_kernel(x->dict, INTERVAL_FILE, "interval_erase", x->n);
    ORDO_TRY(ordo_call_launch(x->call, &launch, &args));
    const struct ordo_ranges ranges = { .lo = ordo_at(lo, 0),
                                        .hi = ordo_at(hi, 0),
                                        .count = x->n,
                                        .offsets = ordo_at(x->offsets, 0),
                                        .offsets_known = true,
                                        .keys_out = ordo_at(keys, 0),
                                        .capacity = (size_t) x->total };
    ORDO_TRY(x->dict->structure->range(x->dict, x->call, &ranges));
    ordo_call_release(x->call, mark);
    return ORDO_OK;
}

/* Erases `count` keys, which must ascend and be in the dictionary. */
static ordo_status erase_keys(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys, size_t count)
{
    cl_mem       erased = NULL;
    const size_t bytes = (count + 3) / 4 * 4;

    ORDO_TRY(ordo_call_scratch(call, bytes, &erased));
    ORDO_TRY(ordo_call_fill(call, erased, 0, bytes, 0x01010101));
    ORDO_TRY(ordo_dict_before_store(dict, call));
    const struct ordo_sorted_updates updates = { keys, ordo_none(), ordo_at(erased, 0), count, true };
    return dict->structure->update_sorted(dict, call, &updates);
}

/* ---- 3 counts ---------------------------------------------------------------------------------------------------- */

static ordo_status count_lengths(const struct erasure *x)
{
    struct ordo_args args = { .n = 0 };
    ORDO_ADD(&args, ORDO_ARG(x->first), ORDO_ARG(x->past), ORDO_ARG(x->n));
    ordo_args_slice(&args, &x->e->erased);
    const struct ordo_launch launch = ordo_dict_kernel(x->dict, INTERVAL_FILE, "interval_count", x->n);
    return ordo_call_launch(x->call, &launch, &args);
}

/* Sorts the m bounds of all ranges. The keys between two neighbouring bounds are a piece. Replaces x->first and x->past
 * by indices of pieces. */
static ordo_status cut_into_pieces(const struct erasure *x, size_t m, cl_mem *out)
{
    const struct ordo_sort_params params = { .key = ORDO_U32 };
    struct ordo_args              ends = { .n = 0 }, find = { .n = 0 };
    const cl_uint                 n_ends = (cl_uint) m;
    cl_mem                        unsorted = NULL;

    ORDO_TRY(scratch(x, m, sizeof(cl_uint), out));
    const int mark = x->call->n_scratch;
    ORDO_TRY(scratch(x, m, sizeof(cl_uint), &unsorted));
    ORDO_ADD(&ends, ORDO_ARG(x->first), ORDO_ARG(x->past), ORDO_ARG(x->n), ORDO_ARG(unsorted));
    const struct ordo_launch ends_launch = ordo_dict_kernel(x->dict, INTERVAL_FILE, "interval_ends", x->n);
    ORDO_TRY(ordo_call_launch(x->call, &ends_launch, &ends));
    ORDO_TRY(ordo_call_sort(x->call, &params, ordo_at(unsorted, 0), ordo_none(), ordo_at(*out, 0), ordo_none(), m));
    ORDO_ADD(&find, ORDO_ARG(*out), ORDO_ARG(n_ends), ORDO_ARG(x->n), ORDO_ARG(x->first), ORDO_ARG(x->past));
    const struct ordo_launch find_launch = ordo_dict_kernel(x->dict, INTERVAL_FILE, "interval_find", x->n);
    ORDO_TRY(ordo_call_launch(x->call, &find_launch, &find));
    ordo_call_release(x->call, mark);
    return ORDO_OK;
}

static ordo_status paint(const struct erasure *x, cl_uint level, cl_mem owners)
{
    struct ordo_args args = { .n = 0 };
    ORDO_ADD(&args, ORDO_ARG(x->first), ORDO_ARG(x->past), ORDO_ARG(x->n), ORDO_ARG(level), ORDO_ARG(owners));
    const struct ordo_launch launch = ordo_dict_kernel(x->dict, INTERVAL_FILE, "interval_paint", x->n);
    return ordo_call_launch(x->call, &launch, &args);
}

/* Counts each erased key only for the first range that contains it, because ranges may overlap. */
static ordo_status count_owned(const struct erasure *x)
{
    const struct ordo_slice erased = x->e->erased;
    const size_t            m = (size_t) 2 * x->n;
    const cl_uint           n_ends = (cl_uint) m;
    struct ordo_args        tally = { .n = 0 };
    cl_uint                 level = 0;
    cl_mem                  ends = NULL, owners = NULL, next = NULL;

    ORDO_TRY(cut_into_pieces(x, m, &ends));
    ORDO_TRY(scratch(x, m, sizeof(cl_uint), &owners));
    ORDO_TRY(scratch(x, m, sizeof(cl_uint), &next));
    ORDO_TRY(ordo_call_fill(x->call, owners, 0, m * sizeof(cl_uint), UINT32_MAX));
    while (level < 31 && (size_t) 2 << level <= m)
        level++;
    ORDO_TRY(paint(x, level, owners));
    while (level-- > 0) {
        struct ordo_args push = { .n = 0 };
        const cl_mem     from = owners;
        ORDO_ADD(&push, ORDO_ARG(from), ORDO_ARG(n_ends), ORDO_ARG(level), ORDO_ARG(next));
        const struct ordo_launch push_launch = ordo_dict_kernel(x->dict, INTERVAL_FILE, "interval_push", m);
        ORDO_TRY(ordo_call_launch(x->call, &push_launch, &push));
        owners = next;
        next = from;
        ORDO_TRY(paint(x, level, owners));
    }
    ORDO_TRY(ordo_call_fill(x->call, erased.mem, erased.at * sizeof(cl_uint), x->n * sizeof(cl_uint), 0));
    ORDO_ADD(&tally, ORDO_ARG(owners), ORDO_ARG(ends), ORDO_ARG(n_ends));
    ordo_args_slice(&tally, &erased);
    const struct ordo_launch tally_launch = ordo_dict_kernel(x->dict, INTERVAL_FILE, "interval_tally", m);
    return ordo_call_launch(x->call, &tally_launch, &tally);
}

static ordo_status count_erased(const struct erasure *x)
{
    if (!x->e->erased.mem)
        return ORDO_OK;
    const int         mark = x->call->n_scratch;
    const ordo_status status = x->total == x->lengths ? count_lengths(x) : count_owned(x);
    ordo_call_release(x->call, mark);
    return status;
}

static ordo_status erase_interval(ordo_dict *dict, struct ordo_call *call, const struct ordo_interval_erasure *e,
                                  bool *done)
{
    *done = false;
    return dict->structure->erase_interval ? dict->structure->erase_interval(dict, call, e, done) : ORDO_OK;
}

static ordo_status erase_ranges(ordo_dict *dict, struct ordo_call *call, const struct ordo_erasures *e)
{
    struct erasure x = { .dict = dict, .call = call, .e = e, .n = (cl_uint) e->count };
    cl_mem         keys = NULL;

    ORDO_TRY(scratch(&x, e->count, sizeof(cl_uint), &x.first));
    ORDO_TRY(scratch(&x, e->count, sizeof(cl_uint), &x.past));
    ORDO_TRY(scratch(&x, e->count, sizeof(cl_uint), &x.numbers));
    ORDO_TRY(scratch(&x, e->count, sizeof(cl_uint), &x.begins));
    ORDO_TRY(scratch(&x, e->count + 1, sizeof(cl_ulong), &x.offsets));
    ORDO_TRY(measure(&x));
    ORDO_TRY(clip(&x));
    if (x.total == 0) {
        ORDO_TRY(count_erased(&x));
        return ordo_dict_before_store(dict, call);
    }
    ORDO_TRY(scratch(&x, (size_t) x.total, dict->key_bytes, &keys));
    ORDO_TRY(export_keys(&x, keys));
    ORDO_TRY(count_erased(&x));
    return erase_keys(dict, call, ordo_at(keys, 0), (size_t) x.total);
}

ordo_status ordo_dict_erase_range_enqueue(ordo_dict *dict, struct ordo_call *call, const struct ordo_erasures *e)
{
    const struct ordo_interval_erasure one = { .lo = e->lo, .hi = e->hi, .erased = e->erased };
    bool                               done = false;

    if (e->count == 1)
        ORDO_TRY(erase_interval(dict, call, &one, &done));
    return done ? ORDO_OK : erase_ranges(dict, call, e);
}

/* ---- ends -------------------------------------------------------------------------------------------------------- */

static ordo_status export_ends(ordo_dict *dict, struct ordo_call *call, const struct ordo_ends *ends,
                               struct ordo_interval_erasure *e, struct ordo_slice keys, struct ordo_slice offsets)
{
    const cl_uint    n = (cl_uint) e->gone, first = ends->last ? (cl_uint) e->left : 0;
    struct ordo_args args = { .n = 0 };
    cl_mem           ranks = NULL, bounds = NULL;

    ORDO_TRY(ordo_call_scratch(call, 2 * sizeof first, &ranks));
    ORDO_TRY(ordo_call_scratch(call, 2 * dict->key_bytes, &bounds));
    e->lo = ordo_at(bounds, 0);
    e->hi = ordo_at(bounds, 1);
    ORDO_ADD(&args, ORDO_ARG(first), ORDO_ARG(n), ORDO_ARG(ranks), ORDO_ARG(offsets.mem));
    const struct ordo_launch launch = ordo_dict_kernel(dict, INTERVAL_FILE, "interval_outer", 2);
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    const struct ordo_selects selects = { ordo_at(ranks, 0), 2, e->lo, ordo_none(), ordo_none() };
    ORDO_TRY(dict->structure->select(dict, call, &selects));
    const struct ordo_ranges range = { .lo = e->lo,
                                       .hi = e->hi,
                                       .count = 1,
                                       .offsets = offsets,
                                       .offsets_known = true,
                                       .keys_out = keys,
                                       .values_out = ends->values_out,
                                       .capacity = e->gone,
                                       .waits = true };
    return dict->structure->range(dict, call, &range);
}

/* Sets *out to ends->keys_out or scratch memory. */
static ordo_status place_keys(const ordo_dict *dict, struct ordo_call *call, const struct ordo_ends *ends, size_t count,
                              struct ordo_slice *out)
{
    *out = ends->keys_out;
    if (!ends->take || (ends->keys_out.mem && !ends->last))
        return ORDO_OK;
    *out = ordo_none();
    return ordo_call_scratch(call, count * dict->key_bytes, &out->mem);
}

static ordo_status ends_by_ranks(ordo_dict *dict, struct ordo_call *call, const struct ordo_ends *ends, size_t *got)
{
    struct ordo_slice            keys = ordo_none(), offsets = ordo_none();
    struct ordo_interval_erasure e = { .counted = true };
    bool                         done = false;
    size_t                       size = 0;

    ORDO_TRY(dict->structure->size(dict, call, &size));
    *got = e.gone = ordo_min_size(size, ends->count);
    e.left = size - *got;
    if (*got == 0)
        return ordo_dict_before_store(dict, call);
    ORDO_TRY(place_keys(dict, call, ends, *got, &keys));
    ORDO_TRY(ordo_call_scratch(call, 2 * sizeof(cl_ulong), &offsets.mem));
    ORDO_TRY(export_ends(dict, call, ends, &e, keys, offsets));
    if (ends->take && ends->last && ends->keys_out.mem)
        ORDO_TRY(ordo_call_copy(call, keys.mem, 0, ends->keys_out.mem, ends->keys_out.at * dict->key_bytes,
                                *got * dict->key_bytes));
    if (ends->last && (ends->keys_out.mem || ends->values_out.mem))
        ORDO_TRY(ordo_dict_reverse(call, dict, offsets, 1, *got, ends->keys_out, ends->values_out));
    if (!ends->take)
        return ORDO_OK;
    ORDO_TRY(erase_interval(dict, call, &e, &done));
    return done ? ORDO_OK : erase_keys(dict, call, keys, *got);
}

ordo_status ordo_dict_ends_enqueue(ordo_dict *dict, struct ordo_call *call, const struct ordo_ends *ends, size_t *got)
{
    bool done = false;

    if (dict->structure->ends)
        ORDO_TRY(dict->structure->ends(dict, call, ends, got, &done));
    return done ? ORDO_OK : ends_by_ranks(dict, call, ends, got);
}
