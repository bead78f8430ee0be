/* SPDX-License-Identifier: Apache-2.0 */
/* Scans and segmented scans: launches of cl/primitive/scan.cl. */
#include "primitive/scan.h"

#include "primitive/host_array.h"
#include "primitive/tiles.h"

/* ---- launches ------------------------------------------------------------------------------------------------ */

/* Sums do not tell signed from unsigned: one kernel serves both. */
static ordo_type kernel_type(const struct ordo_scan *scan)
{
    if (scan->op != ORDO_SUM)
        return scan->type;
    return ordo_type_bytes(scan->type) == 8 ? ORDO_U64 : ORDO_U32;
}

static ordo_status find_kernel(struct ordo_call *call, const struct ordo_scan *scan, const struct ordo_tiles *t,
                               const char *name, struct ordo_kernel **out)
{
    struct ordo_define defines[] = {
        { "ORDO_KEY", (long) kernel_type(scan) },
        { "FOLD_OP", (long) scan->op },
        { "FOLD_SEGMENTED", scan->heads.mem != NULL },
        { "FOLD_GROUP", (long) t->group },
        { "TILE_ITEMS", (long) t->items },
        { "SCAN_LOOKBACK", t->lookback },
        { "LOOKBACK_TORTURE", (long) scan->torture },
        { "LOOKBACK_POLLS", 0 },
        { NULL, 0 },
    };
    const size_t torture = sizeof defines / sizeof *defines - 3;

    if (!scan->torture)
        defines[torture] = (struct ordo_define) { NULL, 0 };
    return ordo_call_kernel(call, "primitive/scan.cl", name, defines, out);
}

/* One launch, each group at its own tile. */
static ordo_status enqueue_lookback(struct ordo_call *call, const struct ordo_scan *scan, const struct ordo_tiles *t)
{
    struct ordo_kernel  *kernel = NULL;
    const cl_ulong       in_at = scan->in.at, heads_at = scan->heads.at, out_at = scan->out.at;
    const cl_uint        count = (cl_uint) scan->count, inclusive = scan->inclusive;
    const cl_uint        in_place = scan->in.mem == scan->out.mem;
    const int            mark = call->n_scratch;
    struct ordo_lookback state;

    ORDO_TRY(find_kernel(call, scan, t, "scan_lookback", &kernel));
    ORDO_TRY(ordo_lookback_state(call, t->tiles, ordo_type_bytes(scan->type), &state));
    ORDO_TRY(ordo_call_launch_kernel(call, kernel, t->tiles, t->group,
                                     ORDO_ARGS(ORDO_ARG(scan->in.mem), ORDO_ARG(in_at), ORDO_ARG(scan->heads.mem),
                                               ORDO_ARG(heads_at), ORDO_ARG(scan->out.mem), ORDO_ARG(out_at),
                                               ORDO_ARG(count), ORDO_ARG(t->shift), ORDO_ARG(inclusive),
                                               ORDO_ARG(in_place), ORDO_ARG(state.mem), ORDO_ARG(state.stamp))));
    ordo_call_release(call, mark);
    return ORDO_OK;
}

static ordo_status enqueue_sums(struct ordo_call *call, const struct ordo_scan *scan, const struct ordo_tiles *t,
                                cl_mem sums)
{
    struct ordo_kernel *kernel = NULL;
    const cl_ulong      in_at = scan->in.at, heads_at = scan->heads.at;
    const cl_uint       count = (cl_uint) scan->count;

    ORDO_TRY(find_kernel(call, scan, t, "scan_sums", &kernel));
    return ordo_call_launch_kernel(call, kernel, t->groups, t->group,
                                   ORDO_ARGS(ORDO_ARG(scan->in.mem), ORDO_ARG(in_at), ORDO_ARG(scan->heads.mem),
                                             ORDO_ARG(heads_at), ORDO_ARG(count), ORDO_ARG(t->shift),
                                             ORDO_ARG(t->tiles), ORDO_ARG(t->range), ORDO_ARG(sums)));
}

static ordo_status enqueue_ranges(struct ordo_call *call, const struct ordo_scan *scan, const struct ordo_tiles *t,
                                  cl_mem sums)
{
    struct ordo_kernel *kernel = NULL;
    const cl_ulong      in_at = scan->in.at, heads_at = scan->heads.at, out_at = scan->out.at;
    const cl_uint       count = (cl_uint) scan->count, inclusive = scan->inclusive;

    ORDO_TRY(find_kernel(call, scan, t, "scan_ranges", &kernel));
    return ordo_call_launch_kernel(call, kernel, t->groups, t->group,
                                   ORDO_ARGS(ORDO_ARG(scan->in.mem), ORDO_ARG(in_at), ORDO_ARG(scan->heads.mem),
                                             ORDO_ARG(heads_at), ORDO_ARG(scan->out.mem), ORDO_ARG(out_at),
                                             ORDO_ARG(count), ORDO_ARG(t->shift), ORDO_ARG(inclusive),
                                             ORDO_ARG(t->tiles), ORDO_ARG(t->range), ORDO_ARG(sums)));
}

/* A fold_item of cl/group/fold.cl: a key, and in a segmented scan a flag. */
static size_t item_bytes(const struct ordo_scan *scan)
{
    return ordo_type_bytes(scan->type) * (scan->heads.mem ? 2 : 1);
}

ordo_status ordo_call_scan(struct ordo_call *call, const struct ordo_scan *scan)
{
    const struct ordo_tiles t = ordo_tiles_of(call->dev, ORDO_SCAN_GROUP, ORDO_SCAN_ITEMS, ordo_type_bytes(scan->type),
                                              scan->count, scan->out.at);
    cl_mem                  sums = NULL;

    if (scan->count == 0)
        return ORDO_OK;
    if (t.groups == 1)
        return enqueue_ranges(call, scan, &t, NULL);
    if (t.lookback)
        return enqueue_lookback(call, scan, &t);
    ORDO_TRY(ordo_call_scratch(call, t.groups * item_bytes(scan), &sums));
    ORDO_TRY(enqueue_sums(call, scan, &t, sums));
    return enqueue_ranges(call, scan, &t, sums);
}

ordo_status ordo_call_sum_before(struct ordo_call *call, ordo_type type, cl_mem words, size_t n)
{
    const struct ordo_scan scan = {
        .type = type, .op = ORDO_SUM, .in = ordo_at(words, 0), .out = ordo_at(words, 0), .count = n
    };
    return ordo_call_scan(call, &scan);
}

/* ---- calls --------------------------------------------------------------------------------------------------- */

/* `segmented`: heads must be there. */
static ordo_status check(ordo_device *dev, const struct ordo_scan *scan, bool segmented)
{
    const size_t bytes = ordo_type_bytes(scan->type);
    const bool   in_place = scan->in.mem == scan->out.mem && scan->in.at == scan->out.at;

    ORDO_TRY(ordo_check_op(dev, scan->type, scan->op));
    ORDO_REQUIRE_COUNT(dev, "count", scan->count);
    const struct ordo_array arrays[] = {
        { "in", scan->in, scan->count, bytes },
        { "heads", scan->heads, scan->count, segmented },
        { "out", scan->out, scan->count, bytes },
    };
    return ordo_check_arrays(dev, arrays + in_place, 3U - in_place, 1);
}

static ordo_status run(ordo_device *dev, const struct ordo_scan_params *params, struct ordo_slice in,
                       struct ordo_slice heads, bool segmented, struct ordo_slice out, size_t count,
                       const struct ordo_order *order)
{
    struct ordo_call call;

    ORDO_REQUIRE_GIVEN(dev, params);
    const struct ordo_scan scan = { params->type, params->op, params->inclusive, in, heads, out, count, 0 };

    ORDO_TRY(ordo_call_begin(&call, dev, order));
    ordo_status status = check(dev, &scan, segmented);
    if (status == ORDO_OK)
        status = ordo_call_scan(&call, &scan);
    return ordo_call_end(&call, status);
}

ordo_status ordo_scan(ordo_device *dev, const struct ordo_scan_params *params, struct ordo_slice in,
                      struct ordo_slice out, size_t count, const struct ordo_order *order)
{
    return run(dev, params, in, ordo_none(), false, out, count, order);
}

ordo_status ordo_segmented_scan(ordo_device *dev, const struct ordo_scan_params *params, struct ordo_slice in,
                                struct ordo_slice heads, struct ordo_slice out, size_t count,
                                const struct ordo_order *order)
{
    return run(dev, params, in, heads, true, out, count, order);
}

/* The input, which the output may be. */
static struct ordo_host_array in_or_both(const void *in, void *out, size_t count, size_t bytes)
{
    return in == out ? ordo_host_inout(out, count, bytes) : ordo_host_in(in, count, bytes);
}

ordo_status ordo_scan_host(ordo_device *dev, const struct ordo_scan_params *params, const void *in, void *out,
                           size_t count)
{
    ORDO_REQUIRE_GIVEN(dev, params);
    const bool             in_place = in == out;
    const size_t           bytes = ordo_type_bytes(params->type);
    struct ordo_host_array a[] = { in_or_both(in, out, count, bytes), ordo_host_out(out, in_place ? 0 : count, bytes) };

    struct ordo_call call;
    ORDO_TRY(ordo_host_begin(&call, dev, NULL, a, 2));
    return ordo_host_end(&call, a, 2, ordo_scan(dev, params, a[0].slice, a[!in_place].slice, count, NULL));
}

ordo_status ordo_segmented_scan_host(ordo_device *dev, const struct ordo_scan_params *params, const void *in,
                                     const uint8_t *heads, void *out, size_t count)
{
    ORDO_REQUIRE_GIVEN(dev, params);
    const bool             in_place = in == out;
    const size_t           bytes = ordo_type_bytes(params->type);
    struct ordo_host_array a[] = { in_or_both(in, out, count, bytes), ordo_host_out(out, in_place ? 0 : count, bytes),
                                   ordo_host_in(heads, count, 1) };

    struct ordo_call call;
    ORDO_TRY(ordo_host_begin(&call, dev, NULL, a, 3));
    return ordo_host_end(&call, a, 3,
                         ordo_segmented_scan(dev, params, a[0].slice, a[2].slice, a[!in_place].slice, count, NULL));
}
