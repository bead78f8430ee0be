/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/strings/string_dict.h"

struct selection {
    ordo_string_dict           *dict;
    struct ordo_string_elements out;
    struct ordo_slice           ranks, found;
    size_t                      count;
    cl_ulong                    bytes; /* of the strings */
};

/* Element r of *view becomes the place of the string with rank r (cl/shared/string_dict.h). If all ranks equal the
 * places, *view becomes NULL. Waits for the device. */
static ordo_status get_view(struct ordo_call *call, ordo_string_dict *dict, cl_mem *view)
{
    const size_t visible = ordo_string_runs_visible(&dict->runs, 0);
    cl_mem       made = NULL;
    cl_uint      place = 0;
    *view = dict->view;
    if (dict->view || visible == 0 || ordo_string_runs_plain(&dict->runs))
        return ORDO_OK;
    ORDO_TRY(ordo_buffer_create(dict->dev, visible * sizeof place, &made));
    ordo_status status = ordo_string_order(call, &dict->runs, 0, made);
    if (status == ORDO_OK) /* Waits for the commands that fill `made`. If one fails, `made` is not used. */
        status = ordo_call_read(call, made, 0, &place, sizeof place);
    if (status != ORDO_OK) {
        ordo_buffer_destroy(dict->dev, &made);
        return status;
    }
    *view = dict->view = made;
    return ORDO_OK;
}

static ordo_status check_arrays(const struct selection *s, size_t rows)
{
    const struct ordo_string_elements *out = &s->out;
    const struct ordo_array            arrays[] = {
                   { "ranks", s->ranks, s->count, s->ranks.mem || s->count ? sizeof(cl_uint) : 0 },
                   { "offsets", out->offsets, rows + 1, sizeof(cl_ulong) },
                   { "bytes", out->bytes, out->capacity, out->capacity || out->bytes.mem ? 1 : 0 },
                   { "values", out->values, rows, out->values.mem ? s->dict->value_bytes : 0 },
                   { "found", s->found, s->count, s->found.mem ? 1 : 0 },
    };
    return ordo_check_arrays(s->dict->dev, arrays, 5, 4);
}

static struct ordo_string_gather gather_of(const struct selection *s, size_t rows)
{
    struct ordo_string_gather g = { .count = (cl_uint) rows,
                                    .value_bytes = s->dict->value_bytes,
                                    .offsets = s->out.offsets,
                                    .bytes = s->out.bytes,
                                    .values = s->out.values };
    ordo_string_gather_from(&g, &s->dict->runs, 0);
    return g;
}

static ordo_status check_capacity(const struct selection *s)
{
    ORDO_REQUIRE(s->dict->dev, s->bytes <= s->out.capacity, ORDO_TOO_SMALL,
                 "the strings have %llu bytes, capacity is %zu", (unsigned long long) s->bytes, s->out.capacity);
    return ORDO_OK;
}

static ordo_status no_rows(struct ordo_call *call, const struct ordo_slice *offsets)
{
    return ordo_call_fill(call, offsets->mem, offsets->at * sizeof(cl_ulong), sizeof(cl_ulong), 0);
}

/* ---- selection ----------------------------------------------------------------------------------------------- */

static ordo_status find_places(struct ordo_call *call, const struct selection *s, cl_mem *places)
{
    const cl_uint    count = (cl_uint) s->count, visible = (cl_uint) ordo_string_runs_visible(&s->dict->runs, 0);
    struct ordo_args args = { .n = 0 };
    cl_mem           view = NULL;
    ORDO_TRY(get_view(call, s->dict, &view));
    ORDO_TRY(ordo_call_scratch(call, count * sizeof count, places));
    ORDO_ADD(&args, ORDO_ARG(view), ORDO_ARG(visible));
    ordo_args_slice(&args, &s->ranks);
    ORDO_ADD(&args, ORDO_ARG(count), ORDO_ARG(*places));
    ordo_args_slice(&args, &s->found);
    return ordo_string_launch(call, "string_dict_select", count, &args);
}

static ordo_status select_ranks(struct ordo_call *call, struct selection *s)
{
    ORDO_TRY(check_arrays(s, s->count));
    if (s->count == 0)
        return no_rows(call, &s->out.offsets);
    struct ordo_string_gather g = gather_of(s, s->count);
    ORDO_TRY(find_places(call, s, &g.places));
    ORDO_TRY(ordo_string_gather_lengths(call, &g, &s->bytes));
    ORDO_TRY(check_capacity(s));
    return ordo_string_gather_copy(call, &g);
}

ordo_status ordo_string_dict_select(ordo_string_dict *dict, struct ordo_slice ranks, size_t count,
                                    const struct ordo_string_elements *out, struct ordo_slice found, size_t *needed,
                                    const struct ordo_order *order)
{
    struct ordo_call call;
    ORDO_REQUIRE_GIVEN(NULL, dict);
    ORDO_REQUIRE_GIVEN(dict->dev, out);
    ORDO_REQUIRE_COUNT(dict->dev, "count", count);
    struct selection s = { .dict = dict, .out = *out, .ranks = ranks, .found = found, .count = count };
    ORDO_TRY(ordo_string_dict_begin(&call, dict, order, true));
    const ordo_status status = ordo_string_dict_end(&call, dict, select_ranks(&call, &s));
    if (needed)
        *needed = (size_t) s.bytes;
    return status;
}

/* ---- export -------------------------------------------------------------------------------------------------- */

/* Sets s->bytes to the total size of all strings. Writes their offsets to scratch memory, because the caller's array is
 * too short. */
static ordo_status measure(struct ordo_call *call, struct selection *s, struct ordo_string_gather *g)
{
    cl_mem offsets = NULL;
    ORDO_TRY(ordo_call_scratch(call, ((size_t) g->count + 1) * sizeof(cl_ulong), &offsets));
    g->offsets = ordo_at(offsets, 0);
    return ordo_string_gather_lengths(call, g, &s->bytes);
}

static ordo_status export_all(struct ordo_call *call, struct selection *s, size_t max_count, size_t *count)
{
    ordo_device *dev = s->dict->dev;
    *count = ordo_string_runs_visible(&s->dict->runs, 0);
    ORDO_TRY(check_arrays(s, max_count));
    if (*count == 0)
        return no_rows(call, &s->out.offsets);
    struct ordo_string_gather g = gather_of(s, *count);
    ORDO_TRY(get_view(call, s->dict, &g.places));
    if (*count > max_count)
        ORDO_TRY(measure(call, s, &g));
    ORDO_REQUIRE(dev, *count <= max_count, ORDO_TOO_SMALL, "the dictionary has %zu strings, max_count is %zu", *count,
                 max_count);
    ORDO_TRY(ordo_string_gather_lengths(call, &g, &s->bytes));
    ORDO_TRY(check_capacity(s));
    return ordo_string_gather_copy(call, &g);
}

ordo_status ordo_string_dict_export(ordo_string_dict *dict, const struct ordo_string_elements *out, size_t max_count,
                                    size_t *count, size_t *needed, const struct ordo_order *order)
{
    struct ordo_call call;
    ORDO_REQUIRE_GIVEN(NULL, dict);
    ORDO_REQUIRE_GIVEN(dict->dev, out);
    ORDO_REQUIRE_GIVEN(dict->dev, count);
    ORDO_REQUIRE_GIVEN(dict->dev, needed);
    ORDO_REQUIRE_COUNT(dict->dev, "max_count", max_count);
    struct selection s = { .dict = dict, .out = *out };
    *count = *needed = 0;
    ORDO_TRY(ordo_string_dict_begin(&call, dict, order, true));
    const ordo_status status = ordo_string_dict_end(&call, dict, export_all(&call, &s, max_count, count));
    *needed = (size_t) s.bytes;
    return status;
}

/* ---- host arrays --------------------------------------------------------------------------------------------- */

enum { OFFSETS, BYTES, VALUES, RANKS, FOUND, N_ARRAYS };

/* ordo_host_begin limits the number of elements, so a longer array is described as one large element. */
static size_t grain(size_t capacity)
{
    return capacity <= ORDO_MAX_COUNT ? 1 : capacity;
}

static ordo_status describe(const ordo_string_dict *dict, const struct ordo_host_string_elements *out, size_t rows,
                            struct ordo_host_array a[N_ARRAYS])
{
    ORDO_REQUIRE_GIVEN(NULL, dict);
    ORDO_REQUIRE_GIVEN(dict->dev, out);
    ORDO_REQUIRE_COUNT(dict->dev, "count", rows);
    ORDO_REQUIRE(dict->dev, out->bytes || out->capacity == 0, ORDO_INVALID, "bytes is NULL");
    const size_t element = grain(out->capacity);
    a[OFFSETS] = ordo_host_out(out->offsets, rows + 1, sizeof *out->offsets);
    a[BYTES] = ordo_host_out(out->bytes, out->capacity / element, out->bytes ? element : 0);
    a[VALUES] = ordo_host_inout(out->values, rows, out->values ? dict->value_bytes : 0);
    return ORDO_OK;
}

static struct ordo_string_elements elements_of(const struct ordo_host_array a[N_ARRAYS], size_t capacity)
{
    const struct ordo_slice bytes = ordo_at(a[BYTES].slice.mem, a[BYTES].slice.at * grain(capacity));
    return (struct ordo_string_elements) { a[OFFSETS].slice, bytes, capacity, a[VALUES].slice };
}

/* Downloads no more bytes than were written. */
static void limit_bytes(struct ordo_host_array a[N_ARRAYS], size_t bytes)
{
    if (a[BYTES].bytes == 1 && bytes < a[BYTES].count)
        a[BYTES].count = bytes;
}

ordo_status ordo_string_dict_select_host(ordo_string_dict *dict, const uint32_t *ranks, size_t count,
                                         const struct ordo_host_string_elements *out, uint8_t *found, size_t *needed)
{
    struct ordo_host_array a[N_ARRAYS];
    struct ordo_call       call;
    size_t                 bytes = 0;
    ORDO_TRY(describe(dict, out, count, a));
    a[RANKS] = ordo_host_in(ranks, count, sizeof *ranks);
    a[FOUND] = ordo_host_out(found, count, found ? 1 : 0);
    ORDO_TRY(ordo_host_begin(&call, dict->dev, &dict->last, a, N_ARRAYS));
    const struct ordo_string_elements on_device = elements_of(a, out->capacity);
    const ordo_status                 status =
        ordo_string_dict_select(dict, a[RANKS].slice, count, &on_device, a[FOUND].slice, &bytes, NULL);
    if (needed)
        *needed = bytes;
    limit_bytes(a, bytes);
    return ordo_host_end(&call, a, N_ARRAYS, status);
}

ordo_status ordo_string_dict_export_host(ordo_string_dict *dict, const struct ordo_host_string_elements *out,
                                         size_t max_count, size_t *count, size_t *needed)
{
    struct ordo_host_array a[N_ARRAYS];
    struct ordo_call       call;
    ORDO_TRY(describe(dict, out, max_count, a));
    ORDO_REQUIRE_GIVEN(dict->dev, count);
    ORDO_REQUIRE_GIVEN(dict->dev, needed);
    ORDO_TRY(ordo_host_begin(&call, dict->dev, &dict->last, a, RANKS));
    const struct ordo_string_elements on_device = elements_of(a, out->capacity);
    const ordo_status status = ordo_string_dict_export(dict, &on_device, max_count, count, needed, NULL);
    if (status == ORDO_OK) {
        a[OFFSETS].count = *count + 1;
        a[VALUES].count = *count;
    }
    limit_bytes(a, *needed);
    return ordo_host_end(&call, a, RANKS, status);
}
