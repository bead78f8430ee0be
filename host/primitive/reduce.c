/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions: launches of cl/primitive/reduce.cl. */
#include "primitive/host_array.h"
#include "primitive/tiles.h"

struct reduction {
    const struct ordo_reduce_params *params;
    struct ordo_slice                in, out;
    size_t                           count;
};

static ordo_status find_kernel(struct ordo_call *call, const struct reduction *r, const struct ordo_tiles *t,
                               const char *name, struct ordo_kernel **out)
{
    const bool      wide = ordo_type_bytes(r->params->type) == 8;
    const ordo_type sum_type = wide ? ORDO_U64 : ORDO_U32; /* sums do not tell signed from unsigned */
    const ordo_type type = r->params->op == ORDO_SUM ? sum_type : r->params->type;

    return ordo_call_kernel(call, "primitive/reduce.cl", name,
                            (struct ordo_define[]) { { "ORDO_KEY", (long) type },
                                                     { "FOLD_OP", (long) r->params->op },
                                                     { "FOLD_GROUP", (long) t->group },
                                                     { "TILE_ITEMS", (long) t->items },
                                                     { "SCAN_LOOKBACK", t->lookback },
                                                     { NULL, 0 } },
                            out);
}

/* All in one launch. sums, ticket: of the only group none. */
static ordo_status enqueue_once(struct ordo_call *call, const struct reduction *r, const struct ordo_tiles *t,
                                cl_mem sums, cl_mem ticket)
{
    struct ordo_kernel *kernel = NULL;
    const cl_ulong      in_at = r->in.at, out_at = r->out.at;
    const cl_uint       count = (cl_uint) r->count;

    ORDO_TRY(find_kernel(call, r, t, "reduce_once", &kernel));
    return ordo_call_launch_kernel(call, kernel, t->groups, t->group,
                                   ORDO_ARGS(ORDO_ARG(r->in.mem), ORDO_ARG(in_at), ORDO_ARG(count), ORDO_ARG(t->shift),
                                             ORDO_ARG(t->tiles), ORDO_ARG(t->range), ORDO_ARG(sums),
                                             ORDO_ARG(r->out.mem), ORDO_ARG(out_at), ORDO_ARG(ticket)));
}

static ordo_status enqueue_keys(struct ordo_call *call, const struct reduction *r, const struct ordo_tiles *t,
                                cl_mem sums)
{
    struct ordo_kernel *kernel = NULL;
    const cl_ulong      in_at = r->in.at, out_at = r->out.at;
    const cl_uint       count = (cl_uint) r->count, last = t->groups == 1;

    ORDO_TRY(find_kernel(call, r, t, "reduce_keys", &kernel));
    return ordo_call_launch_kernel(call, kernel, t->groups, t->group,
                                   ORDO_ARGS(ORDO_ARG(r->in.mem), ORDO_ARG(in_at), ORDO_ARG(count), ORDO_ARG(t->shift),
                                             ORDO_ARG(t->tiles), ORDO_ARG(t->range), ORDO_ARG(sums),
                                             ORDO_ARG(r->out.mem), ORDO_ARG(out_at), ORDO_ARG(last)));
}

static ordo_status enqueue_sums(struct ordo_call *call, const struct reduction *r, const struct ordo_tiles *t,
                                cl_mem sums)
{
    struct ordo_kernel *kernel = NULL;
    const cl_ulong      out_at = r->out.at;
    const cl_uint       n_sums = (cl_uint) t->groups;

    ORDO_TRY(find_kernel(call, r, t, "reduce_sums", &kernel));
    return ordo_call_launch_kernel(call, kernel, 1, t->group,
                                   ORDO_ARGS(ORDO_ARG(sums), ORDO_ARG(n_sums), ORDO_ARG(r->out.mem), ORDO_ARG(out_at)));
}

static ordo_status enqueue(struct ordo_call *call, const struct reduction *r)
{
    const size_t      bytes = ordo_type_bytes(r->params->type);
    struct ordo_tiles t = ordo_tiles_of(call->dev, ORDO_SCAN_GROUP, ORDO_SCAN_ITEMS, bytes, r->count, r->in.at);
    cl_mem            sums = NULL, ticket = NULL;

    if (t.groups == 0)
        t.groups = 1; /* the fold of none */
    if (t.groups == 1)
        return t.lookback ? enqueue_once(call, r, &t, NULL, NULL) : enqueue_keys(call, r, &t, NULL);
    ORDO_TRY(ordo_call_scratch(call, t.groups * bytes, &sums));
    if (t.lookback) {
        ORDO_TRY(ordo_call_zeroed(call, sizeof(cl_uint), &ticket));
        return enqueue_once(call, r, &t, sums, ticket);
    }
    ORDO_TRY(enqueue_keys(call, r, &t, sums));
    return enqueue_sums(call, r, &t, sums);
}

static ordo_status check(ordo_device *dev, const struct reduction *r)
{
    const size_t bytes = ordo_type_bytes(r->params->type);

    ORDO_TRY(ordo_check_op(dev, r->params->type, r->params->op));
    ORDO_REQUIRE_COUNT(dev, "count", r->count);
    const struct ordo_array arrays[] = { { "in", r->in, r->count, bytes }, { "out", r->out, 1, bytes } };
    return ordo_check_arrays(dev, arrays, 2, 1);
}

ordo_status ordo_reduce(ordo_device *dev, const struct ordo_reduce_params *params, struct ordo_slice in, size_t count,
                        struct ordo_slice out, const struct ordo_order *order)
{
    const struct reduction r = { params, in, out, count };
    struct ordo_call       call;

    ORDO_REQUIRE_GIVEN(dev, params);
    ORDO_TRY(ordo_call_begin(&call, dev, order));
    ordo_status status = check(dev, &r);
    if (status == ORDO_OK)
        status = enqueue(&call, &r);
    return ordo_call_end(&call, status);
}

ordo_status ordo_reduce_host(ordo_device *dev, const struct ordo_reduce_params *params, const void *in, size_t count,
                             void *out)
{
    ORDO_REQUIRE_GIVEN(dev, params);
    const size_t           bytes = ordo_type_bytes(params->type);
    struct ordo_host_array a[] = { ordo_host_in(in, count, bytes), ordo_host_out(out, 1, bytes) };

    struct ordo_call call;
    ORDO_TRY(ordo_host_begin(&call, dev, NULL, a, 2));
    return ordo_host_end(&call, a, 2, ordo_reduce(dev, params, a[0].slice, count, a[1].slice, NULL));
}
