/* SPDX-License-Identifier: Apache-2.0 */
#include "primitive/scan.h"
#include "primitive/string_index.h"

#define FILE_NAME "primitive/string_search.cl"

struct gather {
    const ordo_string_index *index;
    struct ordo_slice        ids, offsets, bytes;
    size_t                   count, capacity;
    size_t                  *needed;
};

static ordo_status check(ordo_device *dev, const struct gather *g)
{
    const struct ordo_array arrays[] = {
        { "ids", g->ids, g->count, sizeof(cl_uint) },
        { "offsets", g->offsets, g->count + 1, sizeof(cl_ulong) },
        { "bytes", g->bytes, g->capacity, g->capacity || g->bytes.mem ? 1 : 0 },
    };
    ORDO_REQUIRE_COUNT(dev, "count", g->count);
    return ordo_check_arrays(dev, arrays, 3, 2);
}

static ordo_status find_lengths(struct ordo_call *call, const struct gather *g)
{
    const cl_uint            count = (cl_uint) g->count, n_ids = (cl_uint) g->index->ids;
    const int                mark = call->n_scratch;
    const struct ordo_launch launch = ordo_string_kernel(call->dev, FILE_NAME, "string_lengths", count);
    struct ordo_string_args  more;
    struct ordo_args         args = { .n = 0 };
    cl_mem                   found = NULL;
    cl_uint                  bad = 0, id = 0;
    ORDO_REQUIRE(call->dev, n_ids > 0, ORDO_INVALID, "ids are given, but the index has no strings");
    ORDO_TRY(ordo_call_scratch(call, sizeof bad, &found));
    ORDO_TRY(ordo_call_fill(call, found, 0, sizeof bad, 0));
    ordo_string_index_args(&args, g->index, &more);
    ordo_args_slice(&args, &g->ids);
    ORDO_ADD(&args, ORDO_ARG(count), ORDO_ARG(n_ids));
    ordo_args_slice(&args, &g->offsets);
    ORDO_ADD(&args, ORDO_ARG(found));
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    ORDO_TRY(ordo_call_read(call, found, 0, &bad, sizeof bad));
    ordo_call_release(call, mark);
    if (bad == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_call_read(call, g->ids.mem, (g->ids.at + count - bad) * sizeof id, &id, sizeof id));
    return ORDO_FAIL(call->dev, ORDO_INVALID, "ids[%u] is %u: the index has %u strings", count - bad, id, n_ids);
}

static ordo_status sum_lengths(struct ordo_call *call, const struct gather *g, cl_ulong *total)
{
    const struct ordo_scan scan = {
        .type = ORDO_U64, .op = ORDO_SUM, .in = g->offsets, .out = g->offsets, .count = g->count + 1
    };
    ORDO_TRY(ordo_call_scan(call, &scan));
    ORDO_TRY(ordo_call_read(call, g->offsets.mem, (g->offsets.at + g->count) * sizeof *total, total, sizeof *total));
    if (g->needed)
        *g->needed = (size_t) *total;
    ORDO_REQUIRE(call->dev, *total <= g->capacity, ORDO_TOO_SMALL, "the strings have %llu bytes, capacity is %zu",
                 (unsigned long long) *total, g->capacity);
    return ORDO_OK;
}

/* This number of work-items copy one string together, because they then access neighbouring bytes. */
enum { COPY_LANES = 8 };

static ordo_status copy(struct ordo_call *call, const struct gather *g)
{
    const cl_uint           count = (cl_uint) g->count;
    struct ordo_string_args more;
    struct ordo_args        args = { .n = 0 };
    struct ordo_launch      launch = ordo_string_kernel(call->dev, FILE_NAME, "string_copy", count);
    const size_t            lanes = launch.group % COPY_LANES == 0 ? COPY_LANES : 1;
    launch.groups = ordo_ceil_div(count, (size_t) launch.defines[1].value / lanes);
    ordo_launch_define(&launch, "STRINGS_LANES", (long) lanes);
    ordo_string_index_args(&args, g->index, &more);
    ordo_args_slice(&args, &g->ids);
    ORDO_ADD(&args, ORDO_ARG(count));
    ordo_args_slice(&args, &g->offsets);
    ordo_args_slice(&args, &g->bytes);
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status check_and_gather(struct ordo_call *call, const struct gather *g)
{
    cl_ulong total = 0;
    ORDO_TRY(check(call->dev, g));
    if (g->needed)
        *g->needed = 0;
    if (g->count == 0)
        return ordo_call_fill(call, g->offsets.mem, g->offsets.at * sizeof total, sizeof total, 0);
    ORDO_TRY(find_lengths(call, g));
    ORDO_TRY(sum_lengths(call, g, &total));
    return total ? copy(call, g) : ORDO_OK;
}

ordo_status ordo_string_index_strings(const ordo_string_index *index, struct ordo_slice ids, size_t count,
                                      struct ordo_slice offsets, struct ordo_slice bytes, size_t capacity,
                                      size_t *needed, const struct ordo_order *order)
{
    const struct gather g = { index, ids, offsets, bytes, count, capacity, needed };
    struct ordo_call    call;
    ORDO_REQUIRE_GIVEN(NULL, index);
    ORDO_TRY(ordo_call_begin_alone(&call, index->dev, order, NULL, count > 0));
    return ordo_call_end(&call, check_and_gather(&call, &g));
}

ordo_status ordo_string_index_strings_host(const ordo_string_index *index, const uint32_t *ids, size_t count,
                                           uint64_t *offsets, void *bytes, size_t capacity, size_t *needed)
{
    struct ordo_call call;
    size_t           total = 0;
    ORDO_REQUIRE_GIVEN(NULL, index);
    ORDO_REQUIRE_COUNT(index->dev, "count", count);
    /* ordo_host_begin limits the number of elements, so a longer array is described as one large element. */
    const size_t           element = capacity <= ORDO_MAX_COUNT ? 1 : capacity;
    struct ordo_host_array a[] = {
        ordo_host_in(ids, count, sizeof *ids),
        ordo_host_out(offsets, count + 1, sizeof *offsets),
        ordo_host_out(bytes, capacity / element, bytes ? element : 0),
    };
    ORDO_REQUIRE(index->dev, bytes || capacity == 0, ORDO_INVALID, "bytes is NULL");
    ORDO_TRY(ordo_host_begin(&call, index->dev, NULL, a, 3));
    const struct ordo_slice out = ordo_at(a[2].slice.mem, a[2].slice.at * element);
    const ordo_status       status =
        ordo_string_index_strings(index, a[0].slice, count, a[1].slice, out, capacity, &total, NULL);
    if (needed)
        *needed = total;
    if (element == 1)
        a[2].count = total < capacity ? total : capacity;
    return ordo_host_end(&call, a, 3, status);
}
