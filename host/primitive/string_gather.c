/* SPDX-License-Identifier: Apache-2.0 */
#include "primitive/scan.h"
#include "primitive/string_index.h"

#define FILE_NAME "primitive/string_search.cl"

/* Names of parameters. */
struct names {
    const char *ids, *offsets, *bytes;
};

/* To gather rows of a column, `index` is an index whose ids are rows. */
struct gather {
    const ordo_string_index   *index;
    struct ordo_slice          ids, offsets, bytes;
    size_t                     count, capacity;
    size_t                    *needed;
    const struct ordo_strings *column; /* NULL: the column is checked */
    const struct names        *name;
};

static ordo_status check(ordo_device *dev, const struct gather *g)
{
    const struct ordo_strings none = { .count = 0 }, *column = g->column ? g->column : &none;
    const struct ordo_array   arrays[] = {
          ordo_strings_offsets(column),
          ordo_strings_bytes(column),
          { g->name->ids, g->ids, g->count, sizeof(cl_uint) },
          { g->name->offsets, g->offsets, g->count + 1, sizeof(cl_ulong) },
          { g->name->bytes, g->bytes, g->capacity, g->capacity || g->bytes.mem ? 1 : 0 },
    };
    ORDO_REQUIRE_COUNT(dev, "count", g->count);
    return ordo_check_arrays(dev, arrays, 5, 2);
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
    ORDO_REQUIRE(call->dev, n_ids > 0, ORDO_INVALID, "%s are given, but there are no strings", g->name->ids);
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
    return ORDO_FAIL(call->dev, ORDO_INVALID, "%s[%u] is %u: there are %u strings", g->name->ids, count - bad, id,
                     n_ids);
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
    ordo_string_share(&launch, "STRINGS_LANES", lanes, count);
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
    if (g->column && g->column->count)
        ORDO_TRY(ordo_call_check_strings(call, g->column));
    ORDO_TRY(find_lengths(call, g));
    ORDO_TRY(sum_lengths(call, g, &total));
    return total ? copy(call, g) : ORDO_OK;
}

static ordo_status run(const struct gather *g, const struct ordo_order *order)
{
    struct ordo_call call;
    ORDO_TRY(ordo_call_begin_alone(&call, g->index->dev, order, NULL, g->count > 0));
    return ordo_call_end(&call, check_and_gather(&call, g));
}

static const struct names of_index = { "ids", "offsets", "bytes" }, of_column = { "rows", "offsets_out", "bytes_out" };

ordo_status ordo_string_index_strings(const ordo_string_index *index, struct ordo_slice ids, size_t count,
                                      struct ordo_slice offsets, struct ordo_slice bytes, size_t capacity,
                                      size_t *needed, const struct ordo_order *order)
{
    const struct gather g = { index, ids, offsets, bytes, count, capacity, needed, NULL, &of_index };
    ORDO_REQUIRE_GIVEN(NULL, index);
    return run(&g, order);
}

ordo_status ordo_gather_strings(ordo_device *dev, const struct ordo_strings *column, struct ordo_slice rows,
                                size_t count, struct ordo_slice offsets_out, struct ordo_slice bytes_out,
                                size_t capacity, size_t *needed, const struct ordo_order *order)
{
    ORDO_REQUIRE_GIVEN(dev, dev);
    ORDO_TRY(ordo_strings_check(dev, column));
    const struct ordo_string_index all = { .dev = dev, .column = *column, .ids = column->count };
    const struct gather g = { &all, rows, offsets_out, bytes_out, count, capacity, needed, column, &of_column };
    return run(&g, order);
}

/* ---- host arrays --------------------------------------------------------------------------------------------- */

/* ordo_host_begin limits the number of elements, so a longer array is described as one large element. */
static size_t grain(size_t capacity)
{
    return capacity <= ORDO_MAX_COUNT ? 1 : capacity;
}

enum { IDS, OFFSETS, BYTES, N_ARRAYS };

static ordo_status describe(ordo_device *dev, const struct names *name, const uint32_t *ids, size_t count,
                            uint64_t *offsets, void *bytes, size_t capacity, struct ordo_host_array a[N_ARRAYS])
{
    const size_t element = grain(capacity);
    ORDO_REQUIRE_COUNT(dev, "count", count);
    ORDO_REQUIRE(dev, bytes || capacity == 0, ORDO_INVALID, "%s is NULL", name->bytes);
    a[IDS] = ordo_host_in(ids, count, sizeof *ids);
    a[OFFSETS] = ordo_host_out(offsets, count + 1, sizeof *offsets);
    a[BYTES] = ordo_host_out(bytes, capacity / element, bytes ? element : 0);
    return ORDO_OK;
}

static struct ordo_slice bytes_of(const struct ordo_host_array a[N_ARRAYS], size_t capacity)
{
    return ordo_at(a[BYTES].slice.mem, a[BYTES].slice.at * grain(capacity));
}

/* Downloads no more bytes than were written. */
static void limit_bytes(struct ordo_host_array a[N_ARRAYS], size_t capacity, size_t total)
{
    if (grain(capacity) == 1)
        a[BYTES].count = total < capacity ? total : capacity;
}

ordo_status ordo_string_index_strings_host(const ordo_string_index *index, const uint32_t *ids, size_t count,
                                           uint64_t *offsets, void *bytes, size_t capacity, size_t *needed)
{
    struct ordo_host_array a[N_ARRAYS];
    struct ordo_call       call;
    size_t                 total = 0;
    ORDO_REQUIRE_GIVEN(NULL, index);
    ORDO_TRY(describe(index->dev, &of_index, ids, count, offsets, bytes, capacity, a));
    ORDO_TRY(ordo_host_begin(&call, index->dev, NULL, a, N_ARRAYS));
    const ordo_status status = ordo_string_index_strings(index, a[IDS].slice, count, a[OFFSETS].slice,
                                                         bytes_of(a, capacity), capacity, &total, NULL);
    if (needed)
        *needed = total;
    limit_bytes(a, capacity, total);
    return ordo_host_end(&call, a, N_ARRAYS, status);
}

ordo_status ordo_gather_strings_host(ordo_device *dev, const struct ordo_host_strings *column, const uint32_t *rows,
                                     size_t count, uint64_t *offsets_out, void *bytes_out, size_t capacity,
                                     size_t *needed)
{
    struct ordo_host_array a[2 + N_ARRAYS], *result = a + 2;
    struct ordo_call       call;
    size_t                 total = 0;
    ORDO_REQUIRE_GIVEN(dev, dev);
    ORDO_REQUIRE_GIVEN(dev, column);
    const struct ordo_strings shape = { .offset_bytes = column->offset_bytes, .count = column->count };
    ORDO_TRY(ordo_strings_check(dev, &shape));
    ordo_strings_host(column, a);
    ORDO_TRY(describe(dev, &of_column, rows, count, offsets_out, bytes_out, capacity, result));
    ORDO_TRY(ordo_host_begin(&call, dev, NULL, a, 2 + N_ARRAYS));
    const struct ordo_strings on_device = ordo_strings_device(column, a);
    const ordo_status status = ordo_gather_strings(dev, &on_device, result[IDS].slice, count, result[OFFSETS].slice,
                                                   bytes_of(result, capacity), capacity, &total, NULL);
    if (needed)
        *needed = total;
    limit_bytes(result, capacity, total);
    return ordo_host_end(&call, a, 2 + N_ARRAYS, status);
}
