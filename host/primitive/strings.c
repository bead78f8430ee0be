/* SPDX-License-Identifier: Apache-2.0 */
#include "primitive/strings.h"

#include <inttypes.h>

struct ordo_array ordo_strings_offsets(const struct ordo_strings *column)
{
    return (struct ordo_array) { "offsets", column->offsets, column->count ? column->count + 1 : 0,
                                 column->offset_bytes };
}

struct ordo_array ordo_strings_bytes(const struct ordo_strings *column)
{
    return (struct ordo_array) { "bytes", column->bytes, column->count ? column->n_bytes : 0, 1 };
}

ordo_status ordo_strings_check(ordo_device *dev, const struct ordo_strings *column)
{
    ORDO_REQUIRE_GIVEN(dev, column);
    ORDO_REQUIRE(dev, column->offset_bytes == 4 || column->offset_bytes == 8, ORDO_INVALID,
                 "offset_bytes is %u: offsets have 4 or 8 bytes", (unsigned) column->offset_bytes);
    ORDO_REQUIRE_COUNT(dev, "count", column->count);
    return ORDO_OK;
}

static ordo_status check_ends(ordo_device *dev, size_t row, const uint64_t ends[2], size_t n_bytes)
{
    ORDO_REQUIRE(dev, ends[0] <= ends[1], ORDO_INVALID, "offsets descend at row %zu, from %" PRIu64 " to %" PRIu64, row,
                 ends[0], ends[1]);
    ORDO_REQUIRE(dev, ends[1] <= n_bytes, ORDO_INVALID,
                 "row %zu has bytes %" PRIu64 " to %" PRIu64 ": the column has %zu", row, ends[0], ends[1], n_bytes);
    return ORDO_OK;
}

static uint64_t offset_of(const struct ordo_host_strings *column, size_t i)
{
    return column->offset_bytes == 4 ? ((const uint32_t *) column->offsets)[i]
                                     : ((const uint64_t *) column->offsets)[i];
}

ordo_status ordo_strings_check_host(ordo_device *dev, const struct ordo_host_strings *column)
{
    ORDO_REQUIRE_GIVEN(dev, column);
    const struct ordo_strings shape = { .offset_bytes = column->offset_bytes, .count = column->count };
    ORDO_TRY(ordo_strings_check(dev, &shape));
    ORDO_REQUIRE(dev, column->count == 0 || column->offsets, ORDO_INVALID, "offsets is NULL");
    ORDO_REQUIRE(dev, column->count == 0 || column->n_bytes == 0 || column->bytes, ORDO_INVALID, "bytes is NULL");
    for (size_t i = 0; i < column->count; i++) {
        const uint64_t ends[] = { offset_of(column, i), offset_of(column, i + 1) };
        ORDO_TRY(check_ends(dev, i, ends, column->n_bytes));
    }
    return ORDO_OK;
}

void ordo_strings_args(struct ordo_args *args, const struct ordo_strings *column, const cl_ulong *n_bytes)
{
    ordo_args_slice(args, &column->offsets);
    ordo_args_slice(args, &column->bytes);
    ORDO_ADD(args, ORDO_ARG(*n_bytes));
}

enum { ROWS_PER_ITEM = 4, ROWS_PER_CHUNK = 4096 };

struct ordo_launch ordo_strings_launch(const ordo_device *dev, const struct ordo_strings *column, const char *kernel,
                                       size_t count)
{
    const size_t group = ordo_group_of(dev, ORDO_COMPACT_GROUP, ORDO_K8V0);
    const size_t tile = group == 1 ? ROWS_PER_CHUNK : group * ROWS_PER_ITEM;
    return (struct ordo_launch) {
        .file = "primitive/strings.cl",
        .kernel = kernel,
        .groups = ordo_ceil_div(count, tile),
        .group = group,
        .defines = { { "STRINGS_OFFSET_BYTES", column->offset_bytes },
                     { "STRINGS_GROUP", (long) group },
                     { "STRINGS_TILE", (long) tile } },
    };
}

static ordo_status read_ends(struct ordo_call *call, const struct ordo_strings *column, size_t row, uint64_t ends[2])
{
    const size_t bytes = column->offset_bytes;
    uint32_t     narrow[2];
    void        *to = bytes == 4 ? (void *) narrow : ends;
    ORDO_TRY(ordo_call_read(call, column->offsets.mem, (column->offsets.at + row) * bytes, to, 2 * bytes));
    for (int i = 0; i < 2 && bytes == 4; i++)
        ends[i] = narrow[i];
    return ORDO_OK;
}

ordo_status ordo_strings_refuse(struct ordo_call *call, const struct ordo_strings *column, size_t row)
{
    uint64_t ends[2] = { 0 };
    ORDO_TRY(read_ends(call, column, row, ends));
    ORDO_TRY(check_ends(call->dev, row, ends, column->n_bytes));
    return ORDO_FAIL(call->dev, ORDO_DEVICE_FAILED, "row %zu was found bad, but is not", row);
}

void ordo_strings_host(const struct ordo_host_strings *column, struct ordo_host_array arrays[2])
{
    const size_t n_offsets = column->count ? column->count + 1 : 0, n_bytes = column->count ? column->n_bytes : 0;
    /* If the strings have more bytes than an array may have elements, describes them as one element. */
    const size_t element = n_bytes <= ORDO_MAX_COUNT ? 1 : n_bytes;
    arrays[0] = ordo_host_in(column->offsets, n_offsets, column->offset_bytes);
    arrays[1] = ordo_host_in(column->bytes, n_bytes / element, element);
}

struct ordo_strings ordo_strings_device(const struct ordo_host_strings *column, const struct ordo_host_array arrays[2])
{
    return (struct ordo_strings) {
        .offsets = arrays[0].slice,
        .offset_bytes = column->offset_bytes,
        .bytes = ordo_at(arrays[1].slice.mem, arrays[1].slice.at * arrays[1].bytes),
        .n_bytes = column->n_bytes,
        .count = column->count,
    };
}

/* ---- queries in host memory ---------------------------------------------------------------------------------- */

static ordo_status add_column(struct ordo_string_queries *q, ordo_device *dev, const struct ordo_host_strings *column)
{
    ORDO_TRY(ordo_strings_check_host(dev, column));
    ordo_strings_host(column, q->arrays + q->n);
    q->n += 2;
    return ORDO_OK;
}

ordo_status ordo_string_queries_begin(struct ordo_string_queries *q, ordo_device *dev, struct ordo_last_call *last,
                                      const struct ordo_host_strings *lo, const struct ordo_host_strings *hi,
                                      const struct ordo_host_array *out, size_t n_out)
{
    q->n = 0;
    ORDO_TRY(add_column(q, dev, lo));
    if (hi)
        ORDO_TRY(add_column(q, dev, hi));
    const size_t columns = q->n;
    for (size_t i = 0; i < n_out; i++) {
        q->arrays[q->n] = out[i];
        q->arrays[q->n++].count = lo->count;
    }
    ORDO_TRY(ordo_host_begin(&q->call, dev, last, q->arrays, q->n));
    q->lo = ordo_strings_device(lo, q->arrays);
    if (hi)
        q->hi = ordo_strings_device(hi, q->arrays + 2);
    for (size_t i = 0; i < n_out; i++)
        q->out[i] = q->arrays[columns + i].slice;
    return ORDO_OK;
}

ordo_status ordo_string_queries_end(struct ordo_string_queries *q, ordo_status status)
{
    return ordo_host_end(&q->call, q->arrays, q->n, status);
}
