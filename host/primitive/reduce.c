/* SPDX-License-Identifier: Apache-2.0 */
#include "primitive/host_array.h"
#include "primitive/tiles.h"

struct reduction {
    const struct ordo_reduce_params *params;
    struct ordo_slice                in, out;
    size_t                           count;
};

static struct ordo_launch kernel_of(const struct reduction *r, const struct ordo_tiles *t, const char *kernel)
{
    struct ordo_launch launch = ordo_tiles_launch(t, "primitive/reduce.cl");
    launch.kernel = kernel;
    ordo_launch_define(&launch, "ORDO_KEY", (long) ordo_fold_type(r->params->type, r->params->op));
    ordo_launch_define(&launch, "FOLD_OP", (long) r->params->op);
    return launch;
}

/* If there is only one work-group, it writes its result to r->out. Otherwise each writes to `sums`. With `ticket`, the
 * group that finishes last reduces `sums` to r->out. */
static ordo_status enqueue_keys(struct ordo_call *call, const struct reduction *r, const struct ordo_tiles *t,
                                cl_mem sums, const cl_mem *ticket)
{
    const struct ordo_launch launch = kernel_of(r, t, ticket ? "reduce_once" : "reduce_keys");
    const cl_uint            count = (cl_uint) r->count, last = t->groups == 1;
    struct ordo_args         args = { .n = 0 };
    ordo_args_slice(&args, &r->in);
    ORDO_ADD(&args, ORDO_ARG(count), ORDO_ARG(t->shift), ORDO_ARG(t->tiles), ORDO_ARG(t->range), ORDO_ARG(sums));
    ordo_args_slice(&args, &r->out);
    if (ticket)
        ORDO_ADD(&args, ORDO_ARG(*ticket));
    else
        ORDO_ADD(&args, ORDO_ARG(last));
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status enqueue_sums(struct ordo_call *call, const struct reduction *r, const struct ordo_tiles *t,
                                cl_mem sums)
{
    struct ordo_launch launch = kernel_of(r, t, "reduce_sums");
    const cl_uint      n_sums = (cl_uint) t->groups;
    struct ordo_args   args = { .n = 0 };
    launch.groups = 1;
    ORDO_ADD(&args, ORDO_ARG(sums), ORDO_ARG(n_sums));
    ordo_args_slice(&args, &r->out);
    return ordo_call_launch(call, &launch, &args);
}

/* A work-item of a GPU loads at most this number of keys at once. 2^27 keys of 4 bytes take 123 us with 16, and 126 us
 * with the 24 that are best for scans (H200). */
#define GPU_ITEMS_MAX 16

static struct ordo_tiles tiles_of(const ordo_device *dev, const struct reduction *r, size_t bytes)
{
    const size_t tuned = ordo_tunable(dev, ORDO_SCAN_ITEMS, ordo_shape_of(bytes, 0));
    const size_t items = ordo_device_facts(dev)->cpu ? tuned : ordo_min_size(tuned, GPU_ITEMS_MAX);

    return ordo_tiles_with(dev, ORDO_SCAN_GROUP, items, bytes, r->count, r->in.at);
}

static ordo_status enqueue(struct ordo_call *call, const struct reduction *r)
{
    const size_t      bytes = ordo_type_bytes(r->params->type);
    struct ordo_tiles t = tiles_of(call->dev, r, bytes);
    cl_mem            sums = NULL, ticket = NULL;
    if (t.groups == 0)
        t.groups = 1; /* One group writes the result of an empty array. */
    if (t.groups == 1)
        return enqueue_keys(call, r, &t, NULL, t.lookback ? &ticket : NULL);
    ORDO_TRY(ordo_call_scratch(call, t.groups * bytes, &sums));
    if (t.lookback) {
        ORDO_TRY(ordo_call_zeroed(call, sizeof(cl_uint), &ticket));
        return enqueue_keys(call, r, &t, sums, &ticket);
    }
    ORDO_TRY(enqueue_keys(call, r, &t, sums, NULL));
    return enqueue_sums(call, r, &t, sums);
}

static ordo_status check(ordo_device *dev, const struct reduction *r)
{
    const size_t bytes = ordo_type_bytes(r->params->type);
    ORDO_TRY(ordo_check_op(dev, r->params->type, r->params->op, "ordo_reduce"));
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
    struct ordo_call       call;
    ORDO_TRY(ordo_host_begin(&call, dev, NULL, a, 2));
    return ordo_host_end(&call, a, 2, ordo_reduce(dev, params, a[0].slice, count, a[1].slice, NULL));
}
