/* SPDX-License-Identifier: Apache-2.0 */
#include "primitive/string_index.h"

#include <stdlib.h>

/* ---- creation ------------------------------------------------------------------------------------------------ */

static ordo_status begin(ordo_device *dev, const struct ordo_string_index_params *params, ordo_string_index **out)
{
    ORDO_REQUIRE_GIVEN(dev, out);
    *out = NULL;
    ORDO_REQUIRE_GIVEN(dev, params);
    return ordo_check_partial(dev, &params->partial);
}

ordo_status ordo_string_index_create(ordo_device *dev, ordo_string_index **index)
{
    *index = calloc(1, sizeof **index);
    ORDO_REQUIRE_MEMORY(dev, *index);
    (*index)->dev = dev;
    ordo_device_hold(dev);
    return ORDO_OK;
}

static ordo_status finish(struct ordo_call *call, ordo_status status, ordo_string_index *index, ordo_string_index **out)
{
    status = ordo_call_end(call, status);
    if (status == ORDO_OK)
        *out = index;
    else
        ordo_string_index_destroy(&index);
    return status;
}

static ordo_status build(struct ordo_call *call, const struct ordo_string_index_params *params,
                         struct ordo_string_index *index)
{
    return params->partial.key_bytes ? ordo_call_build_partial(call, params, index)
                                     : ordo_call_build_strings(call, params, index);
}

static ordo_status check_and_build(struct ordo_call *call, const struct ordo_string_index_params *params,
                                   const struct ordo_strings *column, ordo_string_index **index)
{
    const struct ordo_array arrays[] = { ordo_strings_offsets(column), ordo_strings_bytes(column) };
    ORDO_TRY(ordo_check_arrays(call->dev, arrays, 2, 0));
    ORDO_TRY(ordo_string_index_create(call->dev, index));
    (*index)->column = *column;
    return build(call, params, *index);
}

ordo_status ordo_string_index_build(ordo_device *dev, const struct ordo_string_index_params *params,
                                    const struct ordo_strings *column, const struct ordo_order *order,
                                    ordo_string_index **out)
{
    struct ordo_call   call;
    ordo_string_index *index = NULL;
    ORDO_TRY(begin(dev, params, out));
    ORDO_TRY(ordo_strings_check(dev, column));
    ORDO_TRY(ordo_call_begin_alone(&call, dev, order, NULL, column->count > 0));
    const ordo_status status = check_and_build(&call, params, column, &index);
    return finish(&call, status, index, out);
}

static ordo_status upload(struct ordo_call *call, const void *from, size_t bytes, ordo_string_index *index, cl_mem *to)
{
    ORDO_TRY(ordo_buffer_create(call->dev, bytes, to));
    index->bytes_held += bytes;
    return bytes ? ordo_call_write(call, *to, 0, from, bytes) : ORDO_OK;
}

static ordo_status copy_and_build(struct ordo_call *call, const struct ordo_string_index_params *params,
                                  const struct ordo_host_strings *column, ordo_string_index **out)
{
    const size_t offsets_bytes = (column->count + 1) * column->offset_bytes;
    ORDO_TRY(ordo_string_index_create(call->dev, out));
    ordo_string_index *index = *out;
    index->column = (struct ordo_strings) { .offset_bytes = column->offset_bytes, .count = column->count };
    if (column->count == 0)
        return ORDO_OK;
    ORDO_TRY(upload(call, column->offsets, offsets_bytes, index, &index->offsets));
    ORDO_TRY(upload(call, column->bytes, column->n_bytes, index, &index->bytes));
    index->column.offsets = ordo_at(index->offsets, 0);
    index->column.bytes = ordo_at(index->bytes, 0);
    index->column.n_bytes = column->n_bytes;
    return build(call, params, index);
}

ordo_status ordo_string_index_build_host(ordo_device *dev, const struct ordo_string_index_params *params,
                                         const struct ordo_host_strings *column, ordo_string_index **out)
{
    struct ordo_call   call;
    ordo_string_index *index = NULL;
    ORDO_TRY(begin(dev, params, out));
    ORDO_TRY(ordo_strings_check_host(dev, column));
    ORDO_TRY(ordo_call_begin_after(&call, dev, NULL, NULL, true));
    const ordo_status status = copy_and_build(&call, params, column, &index);
    return finish(&call, status, index, out);
}

void ordo_string_index_destroy(ordo_string_index **index)
{
    if (!index || !*index)
        return;
    ordo_string_index *x = *index;
    ordo_device       *dev = x->dev;
    cl_mem *const      mems[] = { &x->offsets, &x->bytes, &x->words, &x->starts, &x->rows };
    for (size_t i = 0; i < sizeof mems / sizeof *mems; i++)
        if (*mems[i])
            ordo_buffer_destroy(dev, mems[i]);
    free(x);
    *index = NULL;
    ordo_device_release(dev);
}

ordo_status ordo_string_index_get_statistics(const ordo_string_index *index, struct ordo_string_index_statistics *out)
{
    ORDO_REQUIRE_GIVEN(NULL, index);
    ORDO_REQUIRE_GIVEN(index->dev, out);
    const size_t copy =
        index->offsets ? (index->column.count + 1) * index->column.offset_bytes + index->column.n_bytes : 0;
    *out = (struct ordo_string_index_statistics) { .ids = index->ids,
                                                   .rows = index->column.count,
                                                   .bytes = index->bytes_held - copy,
                                                   .levels = index->levels,
                                                   .branches = index->branches,
                                                   .candidates = index->ids,
                                                   .compared = index->ids };
    return index->partial ? ordo_partial_count(index, out) : ORDO_OK;
}

/* ---- rows ---------------------------------------------------------------------------------------------------- */

/* Copies `words`, or if it is NULL, writes the numbers 0 to count - 1. */
static ordo_status copy_or_count(struct ordo_call *call, cl_mem words, size_t count, const struct ordo_slice *out)
{
    const size_t     bytes = count * sizeof(cl_uint);
    const cl_uint    n = (cl_uint) count;
    struct ordo_args args = { .n = 0 };
    if (!out->mem || count == 0)
        return ORDO_OK;
    if (words)
        return ordo_call_copy(call, words, 0, out->mem, out->at * sizeof(cl_uint), bytes);
    const struct ordo_launch launch = ordo_string_kernel(call->dev, "primitive/string_search.cl", "string_numbers", n);
    ordo_args_slice(&args, out);
    ORDO_ADD(&args, ORDO_ARG(n));
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status check_and_copy(struct ordo_call *call, const ordo_string_index *x, const struct ordo_slice *starts,
                                  const struct ordo_slice *rows, size_t capacity)
{
    const struct ordo_array arrays[] = {
        { "starts", *starts, x->ids + 1, starts->mem ? sizeof(cl_uint) : 0 },
        { "rows", *rows, rows->mem ? x->n_rows : 0, rows->mem ? sizeof(cl_uint) : 0 },
    };
    ORDO_REQUIRE(call->dev, !rows->mem || x->n_rows <= capacity, ORDO_TOO_SMALL,
                 "the index knows %zu rows, capacity is %zu", x->n_rows, capacity);
    ORDO_TRY(ordo_check_arrays(call->dev, arrays, 2, 2));
    ORDO_TRY(copy_or_count(call, x->starts, x->ids + 1, starts));
    return copy_or_count(call, x->rows, x->n_rows, rows);
}

ordo_status ordo_string_index_rows(const ordo_string_index *index, struct ordo_slice starts, struct ordo_slice rows,
                                   size_t capacity, const struct ordo_order *order)
{
    struct ordo_call call;
    ORDO_REQUIRE_GIVEN(NULL, index);
    ORDO_TRY(ordo_call_begin(&call, index->dev, order));
    return ordo_call_end(&call, check_and_copy(&call, index, &starts, &rows, capacity));
}

ordo_status ordo_string_index_rows_host(const ordo_string_index *index, uint32_t *starts, uint32_t *rows,
                                        size_t capacity)
{
    struct ordo_call call;
    ORDO_REQUIRE_GIVEN(NULL, index);
    ORDO_REQUIRE(index->dev, !rows || index->n_rows <= capacity, ORDO_TOO_SMALL,
                 "the index knows %zu rows, capacity is %zu", index->n_rows, capacity);
    struct ordo_host_array a[] = {
        ordo_host_out(starts, index->ids + 1, starts ? sizeof *starts : 0),
        ordo_host_out(rows, rows ? index->n_rows : 0, rows ? sizeof *rows : 0),
    };
    ORDO_TRY(ordo_host_begin(&call, index->dev, NULL, a, 2));
    return ordo_host_end(&call, a, 2, ordo_string_index_rows(index, a[0].slice, a[1].slice, capacity, NULL));
}
