/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "bench/workload/plan.h"

#include <math.h>
#include <string.h>

static void add_column(struct layout *layout, const char *title, int width, bool left, int rank)
{
    struct column *column = &layout->columns[layout->n++];
    snprintf(column->title, sizeof column->title, "%s", title);
    column->width = width;
    column->left = left;
    column->rank = rank;
}

/* Columns in the order in which they go where there is no room for all: the highest first. */
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

/* A column "/ name" for each yardstick. */
static void add_yardsticks(struct layout *layout, const struct run *run, enum workload workload)
{
    for (int i = 0; i < MAX_YARDSTICKS && !run->options->no_host; i++)
        if (yardstick_name(workload, i)) {
            char title[16];
            snprintf(title, sizeof title, "/ %s", yardstick_name(workload, i));
            add_column(layout, title, (int) strlen(title) < 7 ? 7 : (int) strlen(title), false, i ? REST : HOST);
        }
}

/* Whether a sorted array can do the same. */
static bool has_array(enum workload workload)
{
    return !workload_is_concurrent(workload) || plan_has_fills(workload);
}

static void add_dict_columns(struct layout *layout, enum workload workload)
{
    if (plan_has_fills(workload)) {
        add_column(layout, "first", 8, false, FIRST);
        add_column(layout, "worst", 7, false, WORST);
        add_column(layout, "best", 7, false, BEST);
    }
    if (has_array(workload))
        add_column(layout, "/ array", 7, false, ARRAY);
    if (workload_cleans_up(workload))
        add_column(layout, "/ rebuild", 9, false, REBUILD);
    if (!plan_has_fills(workload)) {
        add_column(layout, "held", 8, false, REST);
        add_column(layout, "/ kept", 6, false, HELD);
    }
    add_column(layout, "peak", 8, false, REST);
    add_column(layout, "/ data", 6, false, PEAK);
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

/* Of fills the host's clock alone is read, and of calls that wait for what they bring back. */
static bool has_device_time(enum workload workload)
{
    return !plan_has_fills(workload) && !workload_is_host(workload);
}

struct layout lay_out(const struct run *run, enum workload workload)
{
    const bool    dict = workload_is_dict(workload);
    struct layout layout = { .n = 0 };
    if (variant_name(workload, 1))
        add_column(&layout, dict ? "structure" : "variant", 12, true, ALWAYS);
    add_column(&layout, "data", data_width(run, workload), true, ALWAYS);
    add_column(&layout, workload_has_queries(workload) ? "keys" : "count", 6, false, ALWAYS);
    if (dict)
        add_column(&layout, "batch", 6, false, ALWAYS);
    if (workload_has_updates(workload))
        add_column(&layout, "updates", 7, false, ALWAYS);
    add_column(&layout, "rate /s", 7, false, ALWAYS);
    add_column(&layout, "time", 8, false, TIME);
    add_column(&layout, "+-", 5, false, SPREAD);
    if (has_device_time(workload))
        add_column(&layout, "device", 8, false, DEVICE);
    if (workload_is_host(workload))
        add_column(&layout, "transfer", 8, false, ARRAY);
    if (dict) {
        add_dict_columns(&layout, workload);
    } else if (!workload_is_host(workload)) {
        add_column(&layout, "GB/s", 5, false, REST);
        add_column(&layout, "copy", 6, false, COPY);
    }
    add_yardsticks(&layout, run, workload);
    if (run->peer_program)
        add_column(&layout, "/ peer", 7, false, PEER);
    if (run->before.n)
        add_column(&layout, "/ before", 8, false, BEFORE);
    add_column(&layout, "check", 5, true, ALWAYS);
    return layout;
}

static double peer_rate(const struct row *row)
{
    return row->peer ? number_of(row->peer, "rate") : NAN;
}

/* The texts of one row, in the order of lay_out. */
struct line {
    char text[MOST_COLUMNS][80];
    int  n;
};

static char *next(struct line *line)
{
    return line->text[line->n++];
}

static void put_point(struct line *line, const struct spec *spec)
{
    if (variant_name(spec->workload, 1))
        snprintf(next(line), sizeof *line->text, "%s", variant_name(spec->workload, spec->variant));
    char *data = next(line);
    snprintf(data, sizeof *line->text, spec->value_bytes ? "%s+%u" : "%s", type_name(spec->type), spec->value_bytes);
    if (spec->dist != UNIFORM)
        snprintf(data + strlen(data), 20, " %s", dist_name(spec->dist));
    text_count(next(line), spec->count);
    if (workload_is_dict(spec->workload))
        text_count(next(line), spec_batch(spec));
    if (workload_has_updates(spec->workload))
        text_percent(next(line), spec->update_percent / 100.0);
}

static void put_fills(struct line *line, const struct row *row)
{
    const int n = row->dict.n_fills;
    double    low = NAN, high = NAN, first = 0;
    for (int i = 0; i < n; i++) {
        const double rate = (double) spec_operations(&row->spec) / row->dict.fills[i].seconds;
        low = fmin(low, rate);
        high = fmax(high, rate);
        first += i ? row->dict.fills[i].first_seconds / (n - 1) : 0; /* the very first builds kernels */
    }
    text_seconds(next(line), n > 1 ? first : NAN);
    text_rate(next(line), low);
    text_rate(next(line), high);
}

/* Elements that updates brought, erasures included. */
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

/* What the dictionary holds afterwards, also as a share of the keys and values that are left. */
static void put_held(struct line *line, const struct row *row, double pair)
{
    const struct ordo_statistics *s = &row->dict.statistics;
    const double held = s->elements ? (double) (s->bytes_data + s->bytes_index + s->bytes_marks + s->bytes_spare) : NAN;
    text_bytes(next(line), held);
    text_ratio(next(line), held / (pair * (double) s->elements));
}

static void put_dict(struct line *line, const struct row *row)
{
    const struct ordo_statistics *statistics = &row->dict.statistics;
    const double                  peak = statistics->bytes_peak ? (double) statistics->bytes_peak : NAN;
    const double                  pair = (double) ordo_type_bytes(row->spec.type) + row->spec.value_bytes;
    if (plan_has_fills(row->spec.workload))
        put_fills(line, row);
    if (has_array(row->spec.workload))
        text_ratio(next(line), row->rate / row->array_rate);
    if (workload_cleans_up(row->spec.workload))
        text_ratio(next(line), row->rate * row->dict.rebuild_seconds / (double) row->spec.count);
    if (!plan_has_fills(row->spec.workload))
        put_held(line, row, pair);
    text_bytes(next(line), peak);
    text_ratio(next(line), peak / (pair * (double) put_in(row)));
}

/* Half the way from the 10th to the 90th percentile, as a share of the median. */
static double spread_share(const struct spread *s)
{
    return (s->high - s->low) / 2 / s->median;
}

void show_row(const struct run *run, const struct table *table, const struct row *row)
{
    const enum workload  workload = row->spec.workload;
    const struct timing *t = &row->timing;
    struct line          line = { .n = 0 };
    const char          *cells[MOST_COLUMNS];

    put_point(&line, &row->spec);
    text_rate(next(&line), row->rate);
    text_seconds(next(&line), t->wall.median);
    text_percent(next(&line), spread_share(&t->wall));
    if (has_device_time(workload))
        text_seconds(next(&line), t->device.median);
    if (workload_is_host(workload))
        text_percent(next(&line), row->transfer_share);
    if (workload_is_dict(workload)) {
        put_dict(&line, row);
    } else if (!workload_is_host(workload)) {
        text_giga(next(&line), row->bytes_per_second);
        text_percent(next(&line), row->copy_share);
    }
    for (int i = 0; i < MAX_YARDSTICKS && !run->options->no_host; i++)
        if (yardstick_name(workload, i))
            text_ratio(next(&line), row->rate / row->yardstick[i]);
    if (run->peer_program)
        text_ratio(next(&line), row->rate / peer_rate(row));
    if (run->before.n)
        text_ratio(next(&line), row->rate / row->before);
    snprintf(next(&line), sizeof *line.text, "%s", outcome_name(row->outcome));
    for (int c = 0; c < line.n; c++)
        cells[c] = line.text[c];
    table_row(table, cells);
    if (row->why[0])
        say(table->out, 4, "    %s", row->why);
}

void draw_rows(const struct run *run, const struct row *rows, int n)
{
    struct bar  bars[MOST_SIZES];
    char        title[160], batch[TEXT_BYTES];
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
             rows->spec.batch ? ", batches of " : "", rows->spec.batch ? text_count(batch, rows->spec.batch) : "",
             updates);
    chart(run->out, title, bars, n, 50);
}
