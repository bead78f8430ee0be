/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts strings in rounds. The first round sorts by a few bytes of each string. Each later round sorts the rows with
 * equal keys by the next bytes that differ (cl/shared/strings.h). */
#include "primitive/scan.h"
#include "primitive/sort.h"
#include "primitive/strings.h"

#include "shared/strings.h"

/* Round r reads the arrays at index r % 2, and writes the other arrays for round r + 1. */
struct sort_strings {
    struct ordo_call          *call;
    const struct ordo_strings *column;
    bool                       descending, finishes; /* If `finishes`, kernel strings_finish replaces strings_split. */
    struct ordo_slice          rows_out, equal_out;
    cl_ulong                   n_bytes;
    cl_mem                     rows, sorted_rows, place[2];
    cl_mem                     keys, sorted_keys;
    cl_mem                     segment;
    cl_mem                     depth[2], more[2], first;
    cl_mem                     bad;
};

struct round {
    cl_uint  number, count, segments;
    cl_uint  window;
    uint32_t key_bits;
    cl_ulong turn;
};

static uint32_t bits_below(cl_uint n)
{
    uint32_t bits = 0;
    while (bits < 32 && n > 1u << bits)
        bits++;
    return bits;
}

static struct round round_of(const struct sort_strings *s, cl_uint number, cl_uint count, cl_uint segments)
{
    const uint32_t segment_bits = bits_below(segments);
    const cl_uint  room = (64 - STRINGS_LENGTH_BITS - segment_bits) / 8;
    const cl_uint  window = room < STRINGS_WINDOW_MAX ? room : STRINGS_WINDOW_MAX;
    const uint32_t low_bits = STRINGS_KEY_BITS(window);
    return (struct round) {
        .number = number,
        .count = count,
        .segments = segments,
        .window = window,
        .key_bits = low_bits + segment_bits,
        .turn = s->descending ? ((cl_ulong) 1 << low_bits) - 1 : 0,
    };
}

/* ---- buffers ------------------------------------------------------------------------------------------------- */

static ordo_status take_buffers(struct sort_strings *s)
{
    const size_t n = s->column->count, segments = n / 2 + 1; /* If n > 1, each segment has at least two rows. */
    const struct {
        cl_mem *mem;
        size_t  bytes;
    } buffers[] = {
        { &s->rows, n * 4 },
        { &s->sorted_rows, n * 4 },
        { &s->place[0], n * 4 },
        { &s->place[1], n * 4 },
        { &s->keys, (n + 1) * 8 },
        { &s->sorted_keys, n * 8 },
        { &s->segment, n * 4 },
        { &s->bad, 4 },
        { &s->depth[0], segments * 8 },
        { &s->depth[1], segments * 8 },
        { &s->more[0], segments * 4 },
        { &s->more[1], segments * 4 },
        { &s->first, segments * 4 },
    };
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        ORDO_TRY(ordo_call_scratch(s->call, buffers[i].bytes, buffers[i].mem));
    return ORDO_OK;
}

/* ---- launches ------------------------------------------------------------------------------------------------ */

static ordo_status launch(const struct sort_strings *s, const char *kernel, size_t count, const struct ordo_args *args)
{
    const struct ordo_launch launch = ordo_strings_launch(s->call->dev, s->column, kernel, count);
    return ordo_call_launch(s->call, &launch, args);
}

static ordo_status begin(const struct sort_strings *s)
{
    const cl_uint    count = (cl_uint) s->column->count;
    cl_uint          bad = 0;
    struct ordo_args args = { .n = 0 };
    ORDO_TRY(ordo_call_fill(s->call, s->bad, 0, sizeof bad, 0));
    ordo_args_slice(&args, &s->column->offsets);
    ORDO_ADD(&args, ORDO_ARG(s->n_bytes), ORDO_ARG(count), ORDO_ARG(s->bad), ORDO_ARG(s->rows), ORDO_ARG(s->place[0]),
             ORDO_ARG(s->segment), ORDO_ARG(s->depth[0]), ORDO_ARG(s->first), ORDO_ARG(s->more[0]));
    ORDO_TRY(launch(s, "strings_begin", count, &args));
    ORDO_TRY(ordo_call_read(s->call, s->bad, 0, &bad, sizeof bad));
    return bad ? ordo_strings_refuse(s->call, s->column, count - bad) : ORDO_OK;
}

static ordo_status make_keys(const struct sort_strings *s, const struct round *r)
{
    const int        now = r->number % 2;
    struct ordo_args share = { .n = 0 }, keys = { .n = 0 };
    ordo_strings_args(&share, s->column, &s->n_bytes);
    ORDO_ADD(&share, ORDO_ARG(s->rows), ORDO_ARG(s->segment), ORDO_ARG(s->first), ORDO_ARG(s->depth[now]),
             ORDO_ARG(s->more[now]), ORDO_ARG(r->count));
    ORDO_TRY(launch(s, "strings_share", r->count, &share));
    ordo_strings_args(&keys, s->column, &s->n_bytes);
    ORDO_ADD(&keys, ORDO_ARG(s->rows), ORDO_ARG(s->segment), ORDO_ARG(s->depth[now]), ORDO_ARG(s->more[now]),
             ORDO_ARG(r->count), ORDO_ARG(r->window), ORDO_ARG(r->turn), ORDO_ARG(s->keys));
    return launch(s, "strings_keys", r->count, &keys);
}

/* The top bits of a key are the index of its segment, so rows stay in their segments. */
static ordo_status sort_keys(const struct sort_strings *s, const struct round *r)
{
    const struct ordo_sort_params params = { .key = ORDO_U64, .value_bytes = sizeof(cl_uint), .bits = r->key_bits };
    const int                     mark = s->call->n_scratch;
    ORDO_TRY(ordo_call_sort(s->call, &params, ordo_at(s->keys, 0), ordo_at(s->rows, 0), ordo_at(s->sorted_keys, 0),
                            ordo_at(s->sorted_rows, 0), r->count));
    ordo_call_release(s->call, mark);
    return ORDO_OK;
}

static ordo_status split(const struct sort_strings *s, const struct round *r)
{
    struct ordo_args args = { .n = 0 };
    ORDO_ADD(&args, ORDO_ARG(s->sorted_keys), ORDO_ARG(s->sorted_rows), ORDO_ARG(s->place[r->number % 2]),
             ORDO_ARG(r->count), ORDO_ARG(r->window), ORDO_ARG(r->turn), ORDO_ARG(s->keys));
    ordo_args_slice(&args, &s->rows_out);
    ordo_args_slice(&args, &s->equal_out);
    return launch(s, "strings_split", r->count, &args);
}

/* strings_finish needs groups of one work-item. */
static bool finishes(const struct sort_strings *s)
{
    const struct ordo_launch launch = ordo_strings_launch(s->call->dev, s->column, "strings_finish", 1);
    return ordo_device_facts(s->call->dev)->cpu && launch.group == 1;
}

enum { SEGMENTS_PER_UNIT = 4, FINISHED_MIN = 256 };

/* Kernel strings_finish sorts segments of up to this number of rows. */
static cl_uint finished_rows(const struct sort_strings *s)
{
    const size_t rows =
        s->column->count / ((size_t) SEGMENTS_PER_UNIT * ordo_device_facts(s->call->dev)->compute_units);
    return rows < FINISHED_MIN ? FINISHED_MIN : (cl_uint) rows;
}

static ordo_status finish(const struct sort_strings *s, const struct round *r)
{
    const int        now = r->number % 2, mark = s->call->n_scratch;
    const cl_uint    most = finished_rows(s);
    cl_mem           spare_keys = NULL, spare_rows = NULL;
    struct ordo_args args = { .n = 0 };
    ORDO_TRY(ordo_call_scratch(s->call, (size_t) r->count * sizeof(cl_ulong), &spare_keys));
    ORDO_TRY(ordo_call_scratch(s->call, (size_t) r->count * sizeof(cl_uint), &spare_rows));
    ordo_strings_args(&args, s->column, &s->n_bytes);
    ORDO_ADD(&args, ORDO_ARG(s->sorted_keys), ORDO_ARG(s->sorted_rows), ORDO_ARG(s->place[now]),
             ORDO_ARG(s->depth[now]), ORDO_ARG(s->more[now]), ORDO_ARG(r->count), ORDO_ARG(r->window),
             ORDO_ARG(r->turn), ORDO_ARG(most), ORDO_ARG(spare_keys), ORDO_ARG(spare_rows), ORDO_ARG(s->keys));
    ordo_args_slice(&args, &s->rows_out);
    ordo_args_slice(&args, &s->equal_out);
    ORDO_TRY(launch(s, "strings_finish", r->count, &args));
    ordo_call_release(s->call, mark);
    return ORDO_OK;
}

/* Writes the rows to the output in order. Then copies the rows that need another round to the arrays of that round. The
 * lower 32 bits of marks[r->count] become the number of these rows, and its upper 32 bits the number of their segments
 * (groups of rows with equal keys). */
static ordo_status collect(const struct sort_strings *s, const struct round *r)
{
    const cl_mem     marks = s->keys;
    const int        now = r->number % 2, then = !now, mark = s->call->n_scratch;
    struct ordo_args keep = { .n = 0 };
    ORDO_TRY(s->finishes ? finish(s, r) : split(s, r));
    ORDO_TRY(ordo_call_sum_before(s->call, ORDO_U64, marks, (size_t) r->count + 1));
    ordo_call_release(s->call, mark);
    ORDO_ADD(&keep, ORDO_ARG(marks), ORDO_ARG(s->sorted_keys), ORDO_ARG(s->sorted_rows), ORDO_ARG(s->place[now]),
             ORDO_ARG(s->depth[now]), ORDO_ARG(r->count), ORDO_ARG(r->window), ORDO_ARG(s->rows),
             ORDO_ARG(s->place[then]), ORDO_ARG(s->segment), ORDO_ARG(s->depth[then]), ORDO_ARG(s->first),
             ORDO_ARG(s->more[now]), ORDO_ARG(s->more[then]));
    return launch(s, "strings_keep", r->count, &keep);
}

static ordo_status sort_round(const struct sort_strings *s, const struct round *r, struct round *next)
{
    cl_uint left[2] = { 0 };
    ORDO_TRY(make_keys(s, r));
    ORDO_TRY(sort_keys(s, r));
    ORDO_TRY(collect(s, r));
    ORDO_TRY(ordo_call_read(s->call, s->keys, r->count * sizeof(cl_ulong), left, sizeof left));
    ORDO_REQUIRE(s->call->dev, left[0] <= r->count && left[1] <= left[0] / 2, ORDO_DEVICE_FAILED,
                 "%u rows in %u segments remain of %u", left[0], left[1], r->count);
    *next = round_of(s, r->number + 1, left[0], left[1]);
    return ORDO_OK;
}

/* ---- calls --------------------------------------------------------------------------------------------------- */

static ordo_status check(ordo_device *dev, const struct sort_strings *s)
{
    const size_t            count = s->column->count;
    const struct ordo_array arrays[] = {
        ordo_strings_offsets(s->column),
        ordo_strings_bytes(s->column),
        { "rows_out", s->rows_out, count, sizeof(cl_uint) },
        { "equal_out", s->equal_out, count, s->equal_out.mem ? 1 : 0 },
    };
    return ordo_check_arrays(dev, arrays, sizeof arrays / sizeof *arrays, 2);
}

static ordo_status check_and_sort(struct sort_strings *s)
{
    ORDO_TRY(check(s->call->dev, s));
    if (s->column->count == 0)
        return ORDO_OK;
    s->finishes = finishes(s);
    ORDO_TRY(take_buffers(s));
    ORDO_TRY(begin(s));
    struct round r = round_of(s, 0, (cl_uint) s->column->count, 1);
    while (r.count > 0) {
        const struct round now = r;
        ORDO_TRY(sort_round(s, &now, &r));
    }
    return ORDO_OK;
}

ordo_status ordo_call_sort_strings(struct ordo_call *call, const struct ordo_strings *column, struct ordo_slice rows)
{
    const int           mark = call->n_scratch;
    struct sort_strings s = { .call = call, .column = column, .rows_out = rows, .n_bytes = column->n_bytes };
    ORDO_TRY(check_and_sort(&s));
    ordo_call_release(call, mark);
    return ORDO_OK;
}

ordo_status ordo_sort_strings(ordo_device *dev, const struct ordo_sort_strings_params *params,
                              const struct ordo_strings *column, struct ordo_slice rows_out,
                              struct ordo_slice equal_out, const struct ordo_order *order)
{
    struct ordo_call call;
    ORDO_REQUIRE_GIVEN(dev, params);
    ORDO_TRY(ordo_strings_check(dev, column));
    struct sort_strings s = { .call = &call,
                              .column = column,
                              .descending = params->descending,
                              .rows_out = rows_out,
                              .equal_out = equal_out,
                              .n_bytes = column->n_bytes };
    ORDO_TRY(ordo_call_begin_alone(&call, dev, order, NULL, column->count > 0));
    return ordo_call_end(&call, check_and_sort(&s));
}

ordo_status ordo_sort_strings_host(ordo_device *dev, const struct ordo_sort_strings_params *params,
                                   const struct ordo_host_strings *column, uint32_t *rows_out, uint8_t *equal_out)
{
    ORDO_REQUIRE_GIVEN(dev, params);
    ORDO_REQUIRE_GIVEN(dev, column);
    const struct ordo_strings shape = { .offset_bytes = column->offset_bytes, .count = column->count };
    struct ordo_host_array    a[4];
    struct ordo_call          call;
    ORDO_TRY(ordo_strings_check(dev, &shape));
    ordo_strings_host(column, a);
    a[2] = ordo_host_out(rows_out, column->count, sizeof *rows_out);
    a[3] = ordo_host_out(equal_out, column->count, equal_out ? sizeof *equal_out : 0);
    ORDO_TRY(ordo_host_begin(&call, dev, NULL, a, 4));
    const struct ordo_strings on_device = ordo_strings_device(column, a);
    return ordo_host_end(&call, a, 4, ordo_sort_strings(dev, params, &on_device, a[2].slice, a[3].slice, NULL));
}
