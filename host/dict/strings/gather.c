/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/strings/string_dict.h"
#include "primitive/scan.h"

void ordo_string_gather_from(struct ordo_string_gather *g, const struct ordo_string_runs *runs, cl_uint from)
{
    g->n_sources = runs->n - from;
    for (cl_uint i = 0; i < g->n_sources; i++) {
        const struct ordo_string_run *run = &runs->at[from + i];
        g->source[i] = (struct ordo_string_source) { run->index->column, ordo_at(run->values, 0) };
    }
}

/* A source of n rows (struct ordo_string_gather). Its first row has the number `base`. */
struct part {
    const struct ordo_string_source *source;
    cl_uint                          base, n;
};

static struct part part_of(const struct ordo_string_gather *g, cl_uint i, cl_uint base)
{
    return (struct part) { &g->source[i], base, (cl_uint) g->source[i].column.count };
}

static ordo_status write_lengths(struct ordo_call *call, const struct ordo_string_gather *g, const struct part *p)
{
    struct ordo_string_args more;
    struct ordo_args        args = { .n = 0 };
    ordo_string_column_args(&args, &p->source->column, &more);
    ORDO_ADD(&args, ORDO_ARG(p->base), ORDO_ARG(p->n), ORDO_ARG(g->places), ORDO_ARG(g->count));
    ordo_args_slice(&args, &g->offsets);
    return ordo_string_launch(call, "string_dict_lengths", g->count, &args);
}

ordo_status ordo_string_gather_lengths(struct ordo_call *call, const struct ordo_string_gather *g, cl_ulong *total)
{
    const size_t           rows = (size_t) g->count + 1, at = g->offsets.at;
    const struct ordo_scan scan = {
        .type = ORDO_U64, .op = ORDO_SUM, .in = g->offsets, .out = g->offsets, .count = rows
    };
    ORDO_TRY(ordo_call_fill(call, g->offsets.mem, at * sizeof *total, rows * sizeof *total, 0));
    for (cl_uint i = 0, base = 0; i < g->n_sources; i++) {
        const struct part p = part_of(g, i, base);
        ORDO_TRY(write_lengths(call, g, &p));
        base += p.n;
    }
    ORDO_TRY(ordo_call_scan(call, &scan));
    return ordo_call_read(call, g->offsets.mem, (at + g->count) * sizeof *total, total, sizeof *total);
}

/* This number of work-items copy one string together, because they then access neighbouring bytes. */
enum { COPY_LANES = 8 };

static ordo_status copy_strings(struct ordo_call *call, const struct ordo_string_gather *g, const struct part *p)
{
    struct ordo_string_args more;
    struct ordo_args        args = { .n = 0 };
    struct ordo_launch      launch =
        ordo_string_kernel(call->dev, "dict/strings/string_dict.cl", "string_dict_copy", g->count);
    const size_t lanes = launch.group % COPY_LANES == 0 ? COPY_LANES : 1;
    launch.groups = ordo_ceil_div(g->count, (size_t) launch.defines[1].value / lanes);
    ordo_launch_define(&launch, "STRINGS_LANES", (long) lanes);
    ordo_string_column_args(&args, &p->source->column, &more);
    ORDO_ADD(&args, ORDO_ARG(p->base), ORDO_ARG(p->n), ORDO_ARG(g->places), ORDO_ARG(g->count));
    ordo_args_slice(&args, &g->offsets);
    ordo_args_slice(&args, &g->bytes);
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status copy_values(struct ordo_call *call, const struct ordo_string_gather *g, const struct part *p)
{
    const cl_uint    words = g->value_bytes / sizeof words;
    struct ordo_args args = { .n = 0 };
    ordo_args_slice(&args, &p->source->values);
    ORDO_ADD(&args, ORDO_ARG(words), ORDO_ARG(p->base), ORDO_ARG(p->n), ORDO_ARG(g->places), ORDO_ARG(g->count));
    ordo_args_slice(&args, &g->values);
    return ordo_string_launch(call, "string_dict_values", g->count, &args);
}

ordo_status ordo_string_gather_copy(struct ordo_call *call, const struct ordo_string_gather *g)
{
    for (cl_uint i = 0, base = 0; i < g->n_sources; i++) {
        const struct part p = part_of(g, i, base);
        if (g->bytes.mem)
            ORDO_TRY(copy_strings(call, g, &p));
        if (g->values.mem)
            ORDO_TRY(copy_values(call, g, &p));
        base += p.n;
    }
    return ORDO_OK;
}
