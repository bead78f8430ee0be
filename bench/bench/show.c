/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include <math.h>
#include <string.h>

/* Columns that do not fit are hidden from the last rank on. */
enum { ALWAYS, BEFORE, PEER, ARRAY, HOST, SPREAD, REBUILD, TIME, DEVICE, COPY, FIRST, HELD, PEAK, WORST, BEST, REST };

struct line {
    const struct run  *run;
    const struct spec *spec;
    const cJSON       *row; /* NULL: only the columns */
    struct column      columns[COLUMNS_MAX];
    int                n;
    char               text[COLUMNS_MAX][80];
};

/* Adds a column and returns its text buffer. */
static char *add(struct line *line, const char *title, int width, bool left, int rank)
{
    struct column *column = &line->columns[line->n];
    snprintf(column->title, sizeof column->title, "%s", title);
    column->width = width;
    column->left = left;
    column->rank = rank;
    return line->text[line->n++];
}

static char *number(struct line *line, const char *title, int width, int rank)
{
    return add(line, title, width, false, rank);
}

static void add_point(struct line *line)
{
    const struct spec *spec = line->spec;
    const bool         dict = workload_is_dict(spec->workload);
    if (variant_name(spec->workload, 1))
        snprintf(add(line, dict ? "structure" : "variant", 12, true, ALWAYS), sizeof *line->text, "%s",
                 variant_name(spec->workload, spec->variant));
    int width = workload_is_strings(spec->workload) ? 6 : 5;
    for (int d = 0; d < line->run->options->n_dists; d++) {
        const enum dist dist = spec->workload == FILLSEQ ? SEQUENTIAL : (enum dist) line->run->options->dists[d];
        const int       with = 6 + (int) strlen(dist_name(dist));
        width = dist != UNIFORM && with > width ? with : width;
    }
    char *data = add(line, "data", width, true, ALWAYS);
    snprintf(data, sizeof *line->text, spec->value_bytes ? "%s+%u" : "%s", spec_key_name(spec), spec->value_bytes);
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
    const cJSON *fills = json_at(line->row, "fills"), *fill = NULL;
    const int    n = cJSON_GetArraySize(fills);
    double       low = NAN, high = NAN, first = 0;
    cJSON_ArrayForEach(fill, fills) {
        low = fmin(low, number_of(fill, "rate"));
        high = fmax(high, number_of(fill, "rate"));
        first +=
            fill != fills->child ? number_of(fill, "first_call_s") / (n - 1) : 0; /* the very first builds kernels */
    }
    text_seconds(number(line, "first", 8, FIRST), n > 1 ? first : NAN);
    text_rate(number(line, "worst", 7, WORST), low);
    text_rate(number(line, "best", 7, BEST), high);
}

/* Elements of all updates, erasures included. */
static double put_in(const struct line *line)
{
    const enum workload w = line->spec->workload;
    const double        count = (double) line->spec->count, operations = (double) spec_operations(line->spec);
    const cJSON        *fills = json_at(line->row, "fills");
    if (fills)
        return number_of(cJSON_GetArrayItem(fills, cJSON_GetArraySize(fills) - 1), "elements");
    if (workload_cleans_up(w))
        return operations;
    if (workload_fills(w) || w == DELETERANGE || w == HOSTEXPORT)
        return count;
    return count + (w == READWHILEWRITING ? operations / 2 : operations);
}

static void add_dict(struct line *line)
{
    const struct spec *spec = line->spec;
    const bool         fills = plan_has_fills(spec->workload);
    const cJSON       *row = line->row, *s = json_at(row, "statistics");
    const double       rate = number_of(row, "rate"), pair = (double) ordo_type_bytes(spec->type) + spec->value_bytes;
    const double       elements = number_of(s, "elements"), peak = number_of(s, "bytes_peak");
    const double       all = number_of(s, "bytes_data") + number_of(s, "bytes_index") + number_of(s, "bytes_marks") +
                       number_of(s, "bytes_spare");
    const double held = elements > 0 ? all : (double) NAN;
    if (fills)
        add_fills(line);
    if (!workload_is_concurrent(spec->workload) || fills) /* a sorted array can run it */
        text_ratio(number(line, "/ array", 7, ARRAY), rate / number_of(row, "rate_of_sorted_array"));
    if (workload_cleans_up(spec->workload))
        text_ratio(number(line, "/ rebuild", 9, REBUILD), rate * number_of(row, "rebuild_s") / (double) spec->count);
    if (!fills) {
        text_bytes(number(line, "held", 8, REST), held);
        text_ratio(number(line, "/ kept", 6, HELD), held / (pair * elements));
    }
    text_bytes(number(line, "peak", 8, REST), peak > 0 ? peak : (double) NAN);
    text_ratio(number(line, "/ data", 6, PEAK), peak > 0 ? peak / (pair * put_in(line)) : (double) NAN);
}

static void add_baselines(struct line *line)
{
    for (int i = 0; i < BASELINES_MAX && !line->run->options->no_host; i++) {
        const char *name = baseline_name(line->spec->workload, i);
        char        title[24];
        if (!name)
            continue;
        snprintf(title, sizeof title, "/ %s", name);
        text_ratio(number(line, title, (int) strlen(title) < 7 ? 7 : (int) strlen(title), i ? REST : HOST),
                   number_of(line->row, "rate") / number_of(json_at(line->row, "host_rates"), name));
    }
}

/* `before`: the rate in old files. */
static struct line line_of(const struct run *run, const struct spec *spec, const cJSON *row, double before)
{
    const double        rate = number_of(row, "rate");
    const struct spread wall = spread_from_json(row, "wall_s");
    const bool          host = workload_is_host(spec->workload);
    struct line         line = { .run = run, .spec = spec, .row = row };
    add_point(&line);
    text_rate(number(&line, "rate /s", 7, ALWAYS), rate);
    text_seconds(number(&line, "time", 8, TIME), wall.median);
    /* Half of the distance from the 10th to the 90th percentile, over the median. */
    text_percent(number(&line, "+-", 5, SPREAD), (wall.high - wall.low) / 2 / wall.median);
    if (!plan_has_fills(spec->workload) && !host) /* others have only the wall clock */
        text_seconds(number(&line, "device", 8, DEVICE), spread_from_json(row, "device_s").median);
    if (host)
        text_percent(number(&line, "transfer", 8, ARRAY), number_of(row, "share_of_transfer_rate"));
    if (workload_is_dict(spec->workload)) {
        add_dict(&line);
    } else if (workload_is_strings(spec->workload)) {
        const double bytes = number_of(row, "index_bytes_per_key");
        if (spec->workload != SORTSTRINGS)
            snprintf(number(&line, "B/key", 6, ARRAY), sizeof *line.text, isnan(bytes) ? "-" : "%.1f", bytes);
    } else if (!host) {
        text_giga(number(&line, "GB/s", 5, REST), number_of(row, "bytes_per_s"));
        text_percent(number(&line, "copy", 6, COPY), number_of(row, "share_of_copy_rate"));
    }
    add_baselines(&line);
    if (run->peer_programs)
        text_ratio(number(&line, "/ peer", 7, PEER), rate / number_of(json_at(row, "peer"), "rate"));
    if (run->before)
        text_ratio(number(&line, "/ before", 8, BEFORE), rate / before);
    snprintf(add(&line, "check", 5, true, ALWAYS), sizeof *line.text, "%s", text_of(row, "check"));
    return line;
}

int lay_out(const struct run *run, enum workload workload, struct column columns[COLUMNS_MAX])
{
    const struct spec spec = { .workload = workload, .count = 1 };
    const struct line line = line_of(run, &spec, NULL, NAN);
    memcpy(columns, line.columns, sizeof line.columns);
    return line.n;
}

void show_row(const struct run *run, const struct table *table, const struct row *row)
{
    const struct line line = line_of(run, &row->spec, row->json, row->before);
    const char       *cells[COLUMNS_MAX];
    for (int c = 0; c < line.n; c++)
        cells[c] = line.text[c];
    table_row(table, cells);
    if (row->why[0])
        say(table->out, 4, "    %s", row->why);
}

void draw_rows(const struct run *run, const struct row *rows, int n)
{
    const struct spec *spec = &rows->spec;
    const char        *variant = variant_name(spec->workload, spec->variant);
    char               values[32] = "", batches[32] = "", updates[32] = "";
    double             most = 0;
    int                known = 0;
    for (int i = 0; i < n; i++) {
        most = fmax(most, number_of(rows[i].json, "rate"));
        known += !isnan(number_of(rows[i].json, "rate"));
    }
    if (known < 2)
        return;
    if (spec->value_bytes)
        snprintf(values, sizeof values, " and values of %u bytes", spec->value_bytes);
    if (spec->batch)
        snprintf(batches, sizeof batches, ", batches of %s", text_count(TEXT, spec->batch));
    if (workload_has_updates(spec->workload))
        snprintf(updates, sizeof updates, ", %u %% updates", spec->update_percent);
    progress_clear();
    fprintf(run->out, "\n%s%s%s: %s keys%s, %s%s%s\n", workload_name(spec->workload), *variant ? " " : "", variant,
            spec_key_name(spec), values, dist_name(spec->dist), batches, updates);
    for (int i = 0; i < n; i++)
        bar(run->out, text_count(TEXT, rows[i].spec.count), number_of(rows[i].json, "rate"),
            number_of(rows[i].json, "rate") / most);
}
