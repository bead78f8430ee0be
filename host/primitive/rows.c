/* SPDX-License-Identifier: Apache-2.0 */
#include "primitive/rows.h"

#include "primitive/host_array.h"

/* ---- launches ------------------------------------------------------------------------------------------------ */

/* The result must divide the row size and the offsets. On CPUs, the caller's memory may be aligned to only 8 bytes. */
static size_t word_bytes(const ordo_device *dev, const struct ordo_rows *r)
{
    const size_t ends = r->row_bytes | r->table.at * r->row_bytes | r->list.at * r->row_bytes;
    size_t       word = ordo_device_facts(dev)->cpu ? 8 : 16;
    while (ends % word != 0)
        word /= 2;
    return word;
}

enum { WORDS_PER_ITEM = 8, ROWS_MAX = 65536, CHUNKS_PER_UNIT = 16, ROWS_MIN = 64 };

struct deal {
    size_t  group, groups, word;
    cl_uint share; /* Rows per group if `group` is 1, otherwise words per group. */
};

static struct deal deal_out(const ordo_device *dev, const struct ordo_rows *r)
{
    const size_t units = ordo_device_facts(dev)->compute_units;
    struct deal  d = { .group = ordo_group_of(dev, ORDO_COMPACT_GROUP, ORDO_K4V0), .word = word_bytes(dev, r) };
    if (d.group == 1) {
        const size_t even = ordo_ceil_div(r->count, units * CHUNKS_PER_UNIT);
        d.share = (cl_uint) ordo_min_size(even < ROWS_MIN ? ROWS_MIN : even, ROWS_MAX);
        d.groups = ordo_ceil_div(r->count, d.share);
    } else {
        d.share = (cl_uint) (d.group * WORDS_PER_ITEM);
        d.groups = ordo_ceil_div(r->count * (r->row_bytes / d.word), d.share);
    }
    return d;
}

static struct ordo_launch kernel_of(const struct ordo_rows *r, const struct deal *d, const char *kernel, size_t groups)
{
    return (struct ordo_launch) {
        .file = "primitive/rows.cl",
        .kernel = kernel,
        .groups = groups,
        .group = d->group,
        .defines = { { "ROWS_WORD", (long) d->word },
                     { "ROWS_SCATTER", r->scatter },
                     { "ROWS_GROUP", (long) d->group } },
    };
}

/* (*latest)[i] becomes k + 1, where r->index[k] is the last index that equals i, or 0 if there is none. */
static ordo_status enqueue_latest(struct ordo_call *call, const struct ordo_rows *r, const struct deal *d,
                                  cl_mem *latest)
{
    const cl_uint            count = (cl_uint) r->count, n_rows = (cl_uint) r->n_rows;
    const size_t             units = ordo_device_facts(call->dev)->compute_units;
    const size_t             groups = ordo_min_size(ordo_ceil_div(count, d->group), units * CHUNKS_PER_UNIT);
    const struct ordo_launch launch = kernel_of(r, d, "rows_latest", groups);
    struct ordo_args         args = { .n = 0 };
    ORDO_TRY(ordo_call_scratch(call, r->n_rows * sizeof(cl_uint), latest));
    ORDO_TRY(ordo_call_fill(call, *latest, 0, r->n_rows * sizeof(cl_uint), 0));
    ordo_args_slice(&args, &r->index);
    ORDO_ADD(&args, ORDO_ARG(count), ORDO_ARG(n_rows), ORDO_ARG(*latest));
    return ordo_call_launch(call, &launch, &args);
}

ordo_status ordo_call_rows(struct ordo_call *call, const struct ordo_rows *r)
{
    if (r->count == 0 || r->n_rows == 0)
        return ORDO_OK;
    const struct deal        d = deal_out(call->dev, r);
    const cl_uint            words = (cl_uint) (r->row_bytes / d.word);
    const cl_uint            count = (cl_uint) r->count, n_rows = (cl_uint) r->n_rows;
    const struct ordo_slice  table = { r->table.mem, r->table.at * words }, list = { r->list.mem, r->list.at * words };
    const struct ordo_launch launch = kernel_of(r, &d, "rows_move_all", d.groups);
    struct ordo_args         args = { .n = 0 };
    cl_mem                   latest = NULL;
    if (r->scatter && !r->distinct)
        ORDO_TRY(enqueue_latest(call, r, &d, &latest));
    ordo_args_slice(&args, &table);
    ordo_args_slice(&args, &list);
    ordo_args_slice(&args, &r->index);
    ORDO_ADD(&args, ORDO_ARG(latest), ORDO_ARG(count), ORDO_ARG(n_rows), ORDO_ARG(words), ORDO_ARG(d.share));
    return ordo_call_launch(call, &launch, &args);
}

/* ---- calls --------------------------------------------------------------------------------------------------- */

static ordo_status check_params(ordo_device *dev, const struct ordo_rows *r)
{
    ORDO_REQUIRE(dev, r->row_bytes > 0 && r->row_bytes <= ORDO_MAX_ROW_BYTES, ORDO_INVALID,
                 "row_bytes is %u: rows have 1 to %u bytes", (unsigned) r->row_bytes, (unsigned) ORDO_MAX_ROW_BYTES);
    ORDO_REQUIRE_COUNT(dev, "count", r->count);
    ORDO_REQUIRE_COUNT(dev, "n_rows", r->n_rows);
    return ORDO_OK;
}

static ordo_status check_and_enqueue(struct ordo_call *call, const struct ordo_rows *r)
{
    const struct ordo_array table = { r->scatter ? "rows_out" : "rows", r->table, r->n_rows, r->row_bytes };
    const struct ordo_array list = { r->scatter ? "rows" : "rows_out", r->list, r->count, r->row_bytes };
    const struct ordo_array arrays[] = { r->scatter ? list : table,
                                         { "indices", r->index, r->count, sizeof(cl_uint) },
                                         r->scatter ? table : list };
    ORDO_TRY(check_params(call->dev, r));
    ORDO_TRY(ordo_check_arrays(call->dev, arrays, 3, 1));
    return ordo_call_rows(call, r);
}

static ordo_status run(ordo_device *dev, const struct ordo_rows *r, const struct ordo_order *order)
{
    struct ordo_call call;
    ORDO_TRY(ordo_call_begin(&call, dev, order));
    return ordo_call_end(&call, check_and_enqueue(&call, r));
}

ordo_status ordo_gather(ordo_device *dev, const struct ordo_gather_params *params, struct ordo_slice rows,
                        size_t n_rows, struct ordo_slice indices, size_t count, struct ordo_slice rows_out,
                        const struct ordo_order *order)
{
    ORDO_REQUIRE_GIVEN(dev, params);
    const struct ordo_rows r = { .table = rows,
                                 .list = rows_out,
                                 .index = indices,
                                 .n_rows = n_rows,
                                 .count = count,
                                 .row_bytes = params->row_bytes };
    return run(dev, &r, order);
}

ordo_status ordo_scatter(ordo_device *dev, const struct ordo_scatter_params *params, struct ordo_slice rows,
                         struct ordo_slice indices, size_t count, struct ordo_slice rows_out, size_t n_rows,
                         const struct ordo_order *order)
{
    ORDO_REQUIRE_GIVEN(dev, params);
    const struct ordo_rows r = { .table = rows_out,
                                 .list = rows,
                                 .index = indices,
                                 .n_rows = n_rows,
                                 .count = count,
                                 .row_bytes = params->row_bytes,
                                 .scatter = true,
                                 .distinct = params->distinct };
    return run(dev, &r, order);
}

/* rows_out is also uploaded, because rows with invalid indices must stay unchanged. */
ordo_status ordo_gather_host(ordo_device *dev, const struct ordo_gather_params *params, const void *rows, size_t n_rows,
                             const uint32_t *indices, size_t count, void *rows_out)
{
    ORDO_REQUIRE_GIVEN(dev, params);
    const struct ordo_rows r = { .n_rows = n_rows, .count = count, .row_bytes = params->row_bytes };
    struct ordo_host_array a[] = { ordo_host_in(rows, n_rows, params->row_bytes),
                                   ordo_host_in(indices, count, sizeof *indices),
                                   ordo_host_inout(rows_out, count, params->row_bytes) };
    ORDO_TRY(check_params(dev, &r));
    struct ordo_call call;
    ORDO_TRY(ordo_host_begin(&call, dev, NULL, a, 3));
    return ordo_host_end(&call, a, 3,
                         ordo_gather(dev, params, a[0].slice, n_rows, a[1].slice, count, a[2].slice, NULL));
}

ordo_status ordo_scatter_host(ordo_device *dev, const struct ordo_scatter_params *params, const void *rows,
                              const uint32_t *indices, size_t count, void *rows_out, size_t n_rows)
{
    ORDO_REQUIRE_GIVEN(dev, params);
    const struct ordo_rows r = { .n_rows = n_rows, .count = count, .row_bytes = params->row_bytes };
    struct ordo_host_array a[] = { ordo_host_in(rows, count, params->row_bytes),
                                   ordo_host_in(indices, count, sizeof *indices),
                                   ordo_host_inout(rows_out, n_rows, params->row_bytes) };
    ORDO_TRY(check_params(dev, &r));
    struct ordo_call call;
    ORDO_TRY(ordo_host_begin(&call, dev, NULL, a, 3));
    return ordo_host_end(&call, a, 3,
                         ordo_scatter(dev, params, a[0].slice, a[1].slice, count, a[2].slice, n_rows, NULL));
}
