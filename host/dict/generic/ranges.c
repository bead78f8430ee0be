/* SPDX-License-Identifier: Apache-2.0 */
/* Implements range queries with a limit or in descending order, and seek queries with bounds. */
#include "dict/generic/generic.h"

#define INTERVAL_FILE "dict/generic/interval.cl"

/* Sets lengths[i] to range i's number of elements, at most its limit. Sets lo[i] and hi[i] to the bounds of these
 * elements. */
static ordo_status cut(ordo_dict *dict, struct ordo_call *call, const struct ordo_limited_ranges *r, cl_mem lengths,
                       cl_mem lo, cl_mem hi)
{
    const cl_uint    n = (cl_uint) r->count, limit = r->limit ? r->limit : UINT32_MAX, descending = r->descending;
    const int        mark = call->n_scratch;
    struct ordo_args limits = { .n = 0 }, bounds = { .n = 0 };
    cl_mem           first = NULL, past = NULL, ends = NULL, keys = NULL;

    ORDO_TRY(ordo_call_scratch(call, r->count * sizeof(cl_uint), &first));
    ORDO_TRY(ordo_call_scratch(call, r->count * sizeof(cl_uint), &past));
    ORDO_TRY(ordo_call_scratch(call, r->count * sizeof(cl_uint), &ends));
    ORDO_TRY(ordo_call_scratch(call, r->count * dict->key_bytes, &keys));
    const struct ordo_ranks from = { false, r->lo, r->count, ordo_at(first, 0) };
    const struct ordo_ranks to = { true, r->hi, r->count, ordo_at(past, 0) };
    ORDO_TRY(dict->structure->rank(dict, call, &from));
    ORDO_TRY(dict->structure->rank(dict, call, &to));

    ordo_args_slice(&limits, &r->lo);
    ordo_args_slice(&limits, &r->hi);
    ORDO_ADD(&limits, ORDO_ARG(n), ORDO_ARG(first), ORDO_ARG(past));
    ordo_args_slice(&limits, &r->limits);
    ORDO_ADD(&limits, ORDO_ARG(limit), ORDO_ARG(descending), ORDO_ARG(lengths), ORDO_ARG(ends));
    const struct ordo_launch limits_launch = ordo_dict_kernel(dict, INTERVAL_FILE, "interval_limit", r->count);
    ORDO_TRY(ordo_call_launch(call, &limits_launch, &limits));

    const struct ordo_selects selects = { ordo_at(ends, 0), r->count, ordo_at(keys, 0), ordo_none(), ordo_none() };
    ORDO_TRY(dict->structure->select(dict, call, &selects));
    ordo_args_slice(&bounds, &r->lo);
    ordo_args_slice(&bounds, &r->hi);
    ORDO_ADD(&bounds, ORDO_ARG(n), ORDO_ARG(lengths), ORDO_ARG(keys), ORDO_ARG(descending), ORDO_ARG(lo), ORDO_ARG(hi));
    const struct ordo_launch bounds_launch = ordo_dict_kernel(dict, INTERVAL_FILE, "interval_bound", r->count);
    ORDO_TRY(ordo_call_launch(call, &bounds_launch, &bounds));
    ordo_call_release(call, mark);
    return ORDO_OK;
}

ordo_status ordo_dict_reverse(struct ordo_call *call, const ordo_dict *dict, struct ordo_slice offsets, size_t count,
                              size_t capacity, struct ordo_slice keys_out, struct ordo_slice values_out)
{
    const cl_uint    n = (cl_uint) count;
    const cl_ulong   most = capacity;
    struct ordo_args args = { .n = 0 };

    if (capacity == 0)
        return ORDO_OK;
    ordo_args_slice(&args, &offsets);
    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(most));
    ordo_args_slice(&args, &keys_out);
    ordo_args_slice(&args, &values_out);
    const struct ordo_launch launch = ordo_dict_kernel(dict, INTERVAL_FILE, "interval_reverse", capacity);
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status range_cut(ordo_dict *dict, struct ordo_call *call, const struct ordo_limited_ranges *r, bool waits)
{
    cl_mem lengths = NULL, lo = NULL, hi = NULL;

    ORDO_TRY(ordo_call_scratch(call, r->count * dict->key_bytes, &lo));
    ORDO_TRY(ordo_call_scratch(call, r->count * dict->key_bytes, &hi));
    ORDO_TRY(ordo_call_scratch(call, r->count * sizeof(cl_uint), &lengths));
    ORDO_TRY(cut(dict, call, r, lengths, lo, hi));
    ORDO_TRY(ordo_dict_offsets(call, dict, ordo_at(lengths, 0), r->count, r->offsets));
    const struct ordo_ranges ranges = { ordo_at(lo, 0), ordo_at(hi, 0), r->count,    r->offsets, true,
                                        r->keys_out,    r->values_out,  r->capacity, waits };
    return dict->structure->range(dict, call, &ranges);
}

ordo_status ordo_dict_limited_enqueue(ordo_dict *dict, struct ordo_call *call, const struct ordo_limited_ranges *r,
                                      bool waits)
{
    if (r->limit || r->limits.mem) {
        ORDO_TRY(range_cut(dict, call, r, waits));
    } else {
        const struct ordo_ranges all = { r->lo,       r->hi,         r->count,    r->offsets, false,
                                         r->keys_out, r->values_out, r->capacity, waits };
        ORDO_TRY(dict->structure->range(dict, call, &all));
    }
    if (!r->descending || (!r->keys_out.mem && !r->values_out.mem))
        return ORDO_OK;
    return ordo_dict_reverse(call, dict, r->offsets, r->count, r->capacity, r->keys_out, r->values_out);
}

ordo_status ordo_dict_seek_within_enqueue(ordo_dict *dict, struct ordo_call *call, const struct ordo_seeks *s,
                                          struct ordo_slice bounds)
{
    const cl_uint     n = (cl_uint) s->count, forward = s->relation == ORDO_GE || s->relation == ORDO_GT;
    struct ordo_args  args = { .n = 0 };
    struct ordo_seeks all = *s;

    all.keys_out = all.values_out = all.found = ordo_none();
    ORDO_TRY(ordo_call_scratch(call, s->count * dict->key_bytes, &all.keys_out.mem));
    ORDO_TRY(ordo_call_scratch(call, s->count, &all.found.mem));
    if (s->values_out.mem)
        ORDO_TRY(ordo_call_scratch(call, s->count * dict->value_bytes, &all.values_out.mem));
    ORDO_TRY(dict->structure->seek(dict, call, &all));
    ORDO_ADD(&args, ORDO_ARG(all.keys_out.mem), ORDO_ARG(all.values_out.mem), ORDO_ARG(all.found.mem), ORDO_ARG(n));
    ordo_args_slice(&args, &bounds);
    ORDO_ADD(&args, ORDO_ARG(forward));
    ordo_args_slice(&args, &s->keys_out);
    ordo_args_slice(&args, &s->values_out);
    ordo_args_slice(&args, &s->found);
    const struct ordo_launch launch = ordo_dict_kernel(dict, INTERVAL_FILE, "interval_within", s->count);
    return ordo_call_launch(call, &launch, &args);
}
