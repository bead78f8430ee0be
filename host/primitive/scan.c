/* SPDX-License-Identifier: Apache-2.0 */
#include "primitive/scan.h"

#include "primitive/host_array.h"
#include "primitive/tiles.h"

#include "shared/group.h"

/* ---- launches ------------------------------------------------------------------------------------------------ */

ordo_status ordo_call_scan(struct ordo_call *call, const struct ordo_scan *scan)
{
    const size_t            bytes = ordo_type_bytes(scan->type);
    const bool              segmented = scan->heads.mem != NULL;
    const cl_uint           count = (cl_uint) scan->count, inclusive = scan->inclusive;
    const cl_uint           in_place = scan->in.mem == scan->out.mem;
    const struct ordo_tiles t =
        ordo_tiles_of(call->dev, ORDO_SCAN_GROUP, ORDO_SCAN_ITEMS, bytes, scan->count, scan->out.at);
    const struct ordo_tile_kernels kernels = { "scan_lookback", "scan_sums", "scan_ranges",
                                               LOOKBACK_PAYLOAD_BYTES(bytes, false),
                                               FOLD_ITEM_BYTES(bytes, segmented, false) };
    struct ordo_launch             launch = ordo_tiles_launch(&t, "primitive/scan.cl");
    struct ordo_args               args = { .n = 0 };
    if (scan->count == 0)
        return ORDO_OK;
    ordo_launch_define(&launch, "ORDO_KEY", (long) ordo_fold_type(scan->type, scan->op));
    ordo_launch_define(&launch, "FOLD_OP", (long) scan->op);
    ordo_launch_define(&launch, "FOLD_SEGMENTED", segmented);
    if (scan->faults) {
        ordo_launch_define(&launch, "LOOKBACK_FAULTS", (long) scan->faults);
        ordo_launch_define(&launch, "LOOKBACK_POLLS", 0);
    }
    ordo_args_slice(&args, &scan->in);
    ordo_args_slice(&args, &scan->heads);
    ordo_args_slice(&args, &scan->out);
    ORDO_ADD(&args, ORDO_ARG(count), ORDO_ARG(t.shift), ORDO_ARG(inclusive), ORDO_ARG(in_place));
    return ordo_call_tiles(call, &t, &kernels, launch, &args);
}

ordo_status ordo_call_sum_before(struct ordo_call *call, ordo_type type, cl_mem words, size_t n)
{
    const struct ordo_scan scan = {
        .type = type, .op = ORDO_SUM, .in = ordo_at(words, 0), .out = ordo_at(words, 0), .count = n
    };
    return ordo_call_scan(call, &scan);
}

/* ---- calls --------------------------------------------------------------------------------------------------- */

static ordo_status check(ordo_device *dev, const struct ordo_scan *scan, bool segmented)
{
    const size_t bytes = ordo_type_bytes(scan->type);
    const bool   in_place = scan->in.mem == scan->out.mem && scan->in.at == scan->out.at;
    ORDO_TRY(ordo_check_op(dev, scan->type, scan->op, segmented ? "ordo_segmented_scan" : "ordo_scan"));
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
    struct ordo_call       call;
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
    struct ordo_call       call;
    ORDO_TRY(ordo_host_begin(&call, dev, NULL, a, 3));
    return ordo_host_end(&call, a, 3,
                         ordo_segmented_scan(dev, params, a[0].slice, a[2].slice, a[!in_place].slice, count, NULL));
}
