/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include <math.h>
#include <string.h>

/* Columns that do not fit are hidden from the last rank on. */
enum rank {
    ALWAYS,
    BEFORE,
    PEER,
    ARRAY,
    HOST,
    SPREAD,
    REBUILD,
    TIME,
    DEVICE,
    COPY,
    FIRST,
    HELD,
    PEAK,
    WORST,
    BEST,
    REST
};

/* A row's columns and texts. */
struct line {
    const struct run *run;
    const struct row *row;
    struct layout     layout;
    char              text[COLUMNS_MAX][80];
};

/* Adds a column and returns its text buffer. */
static char *add(struct line *line, const char *title, int width, bool left, int rank)
{
    struct column *column = &line->layout.columns[line->layout.n];
    snprintf(column->title, sizeof column->title, "%s", title);
    column->width = width;
    column->left = left;
    column->rank = rank;
    return line->text[line->layout.n++];
}

static char *number(struct line *line, const char *title, int width, int rank)
{
    return add(line, title, width, false, rank);
}

static int data_width(const struct run *run, enum workload workload)
{
    int width = 5;
    for (int d = 0; d < run->options->n_dists; d++) {
        const enum dist dist = workload == FILLSEQ ? SEQUENTIAL : (enum dist) run->options->dists[d];
        const int       with = 6 + (int) strlen(dist_name(dist));
        width = dist != UNIFORM && with > width ? with : width;
    }
    return width;
}

static void add_point(struct line *line)
{
    const struct spec *spec = &line->row->spec;
    const bool         dict = workload_is_dict(spec->workload);
    if (variant_name(spec->workload, 1))
        snprintf(add(line, dict ? "structure" : "variant", 12, true, ALWAYS), sizeof *line->text, "%s",
                 variant_name(spec->workload, spec->variant));
    char *data = add(line, "data", data_width(line->run, spec->workload), true, ALWAYS);
    snprintf(data, sizeof *line->text, spec->value_bytes ? "%s+%u" : "%s", type_name(spec->type), spec->value_bytes);
    if (spec->dist != UNIFORM)
        snprintf(data + strlen(data), 20, " %s", dist_name(spec->dist));
    text_count(number(line, workload_has_queries(spec->workload) ? "keys" : "count", 6, ALWAYS), spec->count);
    if (dict)
        text_count(number(line, "batch", 6, ALWAYS), spec_batch(spec));
    if (workload_has_updates(spec->workload))
        text_percent(number(line, "updates", 7, ALWAYS), spec->update_percent / 100.0);
}

static void add_fills(struct line *line)
{
    const struct row *row = line->row;
    const int         n = row->dict.n_fills;
    double            low = NAN, high = NAN, first = 0;
    for (int i = 0; i < n; i++) {
        const double rate = (double) spec_operations(&row->spec) / row->dict.fills[i].seconds;
        low = fmin(low, rate);
        high = fmax(high, rate);
        first += i ? row->dict.fills[i].first_seconds / (n - 1) : 0; /* the very first builds kernels */
    }
    text_seconds(number(line, "first", 8, FIRST), n > 1 ? first : NAN);
    text_rate(number(line, "worst", 7, WORST), low);
    text_rate(number(line, "best", 7, BEST), high);
}

/* Elements of all updates, erasures included. */
static size_t put_in(const struct row *row)
{
    const struct spec *spec = &row->spec;
    switch (spec->workload) {
    case OVERWRITE:
    case DELETERANDOM:
    case MIXED:
    case MIXEDSEEKS:
    case MIXEDPOINTS:
    case COMBINERANDOM:
    case QUEUE:
    case EXPIRY:
    case INSERTRANDOM:
    case HOSTINSERT:
    case CONCURRENTINSERT:
    case CONCURRENTMIX:
    case CONCURRENTPOINTS:
        return spec->count + spec_operations(spec);
    case READWHILEWRITING:
        return spec->count + spec_operations(spec) / 2;
    case CLEANUP:
    case COMPACTALL:
        return spec_operations(spec);
    default:
        return row->dict.n_fills ? row->dict.fills[row->dict.n_fills - 1].elements : spec->count;
    }
}

static void add_dict(struct line *line)
{
    const struct row             *row = line->row;
    const struct ordo_statistics *s = &row->dict.statistics;
    const enum workload           workload = row->spec.workload;
    const double                  peak = s->bytes_peak ? (double) s->bytes_peak : NAN;
    const double                  pair = (double) ordo_type_bytes(row->spec.type) + row->spec.value_bytes;
    const double held = s->elements ? (double) (s->bytes_data + s->bytes_index + s->bytes_marks + s->bytes_spare) : NAN;
    if (plan_has_fills(workload))
        add_fills(line);
    if (!workload_is_concurrent(workload) || plan_has_fills(workload)) /* a sorted array can run it */
        text_ratio(number(line, "/ array", 7, ARRAY), row->rate / row->array_rate);
    if (workload_cleans_up(workload))
        text_ratio(number(line, "/ rebuild", 9, REBUILD),
                   row->rate * row->dict.rebuild_seconds / (double) row->spec.count);
    if (!plan_has_fills(workload)) {
        text_bytes(number(line, "held", 8, REST), held);
        text_ratio(number(line, "/ kept", 6, HELD), held / (pair * (double) s->elements));
    }
    text_bytes(number(line, "peak", 8, REST), peak);
    text_ratio(number(line, "/ data", 6, PEAK), peak / (pair * (double) put_in(row)));
}

static void add_baselines(struct line *line)
{
    for (int i = 0; i < BASELINES_MAX && !line->run->options->no_host; i++) {
        const char *name = baseline_name(line->row->spec.workload, i);
        char        title[16];
        if (!name)
            continue;
        snprintf(title, sizeof title, "/ %s", name);
        text_ratio(number(line, title, (int) strlen(title) < 7 ? 7 : (int) strlen(title), i ? REST : HOST),
                   line->row->rate / line->row->baseline[i]);
    }
}

static struct line line_of(const struct run *run, const struct row *row)
{
    const enum workload  workload = row->spec.workload;
    const struct spread *wall = &row->timing.wall;
    const bool           host = workload_is_host(workload);
    struct line          line = { .run = run, .row = row };
    add_point(&line);
    text_rate(number(&line, "rate /s", 7, ALWAYS), row->rate);
    text_seconds(number(&line, "time", 8, TIME), wall->median);
    /* Half of the distance from the 10th to the 90th percentile, over the median. */
    text_percent(number(&line, "+-", 5, SPREAD), (wall->high - wall->low) / 2 / wall->median);
    if (!plan_has_fills(workload) && !host) /* others have only the wall clock */
        text_seconds(number(&line, "device", 8, DEVICE), row->timing.device.median);
    if (host)
        text_percent(number(&line, "transfer", 8, ARRAY), row->transfer_share);
    if (workload_is_dict(workload)) {
        add_dict(&line);
    } else if (!host) {
        text_giga(number(&line, "GB/s", 5, REST), row->bytes_per_second);
        text_percent(number(&line, "copy", 6, COPY), row->copy_share);
    }
    add_baselines(&line);
    if (run->peer_program)
        text_ratio(number(&line, "/ peer", 7, PEER),
                   row->rate / (row->peer ? number_of(row->peer, "rate") : (double) NAN));
    if (run->before.n)
        text_ratio(number(&line, "/ before", 8, BEFORE), row->rate / row->before);
    snprintf(add(&line, "check", 5, true, ALWAYS), sizeof *line.text, "%s", outcome_name(row->outcome));
    return line;
}

struct layout lay_out(const struct run *run, enum workload workload)
{
    struct row row;
    row_empty(&row, &(struct spec) { .workload = workload, .count = 1 });
    return line_of(run, &row).layout;
}

void show_row(const struct run *run, const struct table *table, const struct row *row)
{
    const struct line line = line_of(run, row);
    const char       *cells[COLUMNS_MAX];
    for (int c = 0; c < line.layout.n; c++)
        cells[c] = line.text[c];
    table_row(table, cells);
    if (row->why[0])
        say(table->out, 4, "    %s", row->why);
}

void draw_rows(const struct run *run, const struct row *rows, int n)
{
    struct bar  bars[SIZES_MAX];
    char        title[160];
    const char *variant = variant_name(rows->spec.workload, rows->spec.variant);
    int         known = 0;
    for (int i = 0; i < n; i++) {
        text_count(bars[i].label, rows[i].spec.count);
        bars[i].value = rows[i].rate;
        known += !isnan(rows[i].rate);
    }
    if (known < 2)
        return;
    char values[32] = "";
    if (rows->spec.value_bytes)
        snprintf(values, sizeof values, " and values of %u bytes", rows->spec.value_bytes);
    char updates[32] = "";
    if (workload_has_updates(rows->spec.workload))
        snprintf(updates, sizeof updates, ", %u %% updates", rows->spec.update_percent);
    snprintf(title, sizeof title, "\n%s%s%s: %s keys%s, %s%s%s%s", workload_name(rows->spec.workload),
             *variant ? " " : "", variant, type_name(rows->spec.type), values, dist_name(rows->spec.dist),
             rows->spec.batch ? ", batches of " : "", rows->spec.batch ? text_count(TEXT, rows->spec.batch) : "",
             updates);
    chart(run->out, title, bars, n, 50);
}
