/* SPDX-License-Identifier: Apache-2.0 */
#include "papers.h"

#include "bench/common/json.h"
#include "bench/common/timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a row's samples say -------------------------------------------------------------------------------- */

struct rates {
    double least, most, mean;
};

/* The median of a list of seconds; NaN if it is empty, or without memory. */
static double median_of_samples(const cJSON *samples)
{
    double      *seconds = malloc(((size_t) cJSON_GetArraySize(samples) + 1) * sizeof *seconds);
    const cJSON *sample = NULL;
    int          n = 0;
    if (!seconds)
        return NAN;
    cJSON_ArrayForEach(sample, samples)
        seconds[n++] = sample->valuedouble;
    const double median = spread_of(seconds, n).median;
    free(seconds);
    return median;
}

static void add_rate(struct rates *rates, double operations, double seconds, double *all_operations,
                     double *all_seconds)
{
    const double rate = operations / seconds;
    rates->least = isnan(rates->least) ? rate : fmin(rates->least, rate);
    rates->most = isnan(rates->most) ? rate : fmax(rates->most, rate);
    *all_operations += operations;
    *all_seconds += seconds;
}

/* Rates of each batch, else each fill, else the row. All have equal numbers of operations (but for a last batch), so
 * the total is the harmonic mean. */
static struct rates rates_of(const cJSON *row)
{
    const cJSON *batches = json_at(row, "batches_s"), *item = NULL;
    const double batch = number_of(row, "batch"), all = number_of(row, "operations");
    struct rates rates = { NAN, NAN, NAN };
    double       operations = 0, seconds = 0;
    cJSON_ArrayForEach(item, batches)
        add_rate(&rates, fmin(batch, all - operations), item->valuedouble, &operations, &seconds);
    if (!batches)
        cJSON_ArrayForEach(item, json_at(row, "fills"))
            add_rate(&rates, all, median_of_samples(json_at(item, "samples_s")), &operations, &seconds);
    if (seconds == 0)
        add_rate(&rates, all, median_of_samples(json_at(row, "samples_s")), &operations, &seconds);
    rates.mean = operations / seconds;
    return rates;
}

/* ---- cells --------------------------------------------------------------------------------------------------- */

/* Columns of figures: the field of rows, the list of the run without which there is no such column, and a factor. */
static const struct {
    const char *column, *field, *list;
    double      factor;
} columns[] = {
    { "batch", "batch", "batches", 1 },
    { "n", "count", "", 1 },
    { "alpha", "update_percent", "", 0.01 },
    { "percent", "erase_percent", "", 1 },
    { "width", "width", "", 1 },
    { "stale_percent", "stale_percent", "", 1 },
    { "group", "group", "", 1 },
    { "queries", "operations", "queries", 1 },
};

/* The cells of a row except "stat" and "r". */
static cJSON *cells_of(const struct measured_run *measured, const cJSON *row)
{
    const cJSON *given = json_at(measured->run, "cells"), *cell = NULL;
    cJSON       *cells = cJSON_CreateObject();
    const char  *structure = paper_name_of(measured->paper, text_of(row, "variant"));
    const cJSON *schemes = json_at(measured->run, "schemes");
    if (*structure && !json_at(given, "structure"))
        json_text(cells, "structure", structure);
    if (schemes)
        json_text(cells, "scheme", text_of(schemes, text_of(row, "variant")));
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        const double number = number_of(row, columns[c].field) * columns[c].factor;
        const bool   varies = !*columns[c].list || cJSON_IsArray(json_at(measured->run, columns[c].list));
        if (!isnan(number) && varies && !json_at(given, columns[c].column))
            json_exact(cells, columns[c].column, number);
    }
    if (measured->scale > 1)
        json_exact(cells, "scale", measured->scale);
    cJSON_ArrayForEach(cell, given) {
        if (!cJSON_IsNull(cell))
            cJSON_AddItemToObject(cells, cell->string, cJSON_Duplicate(cell, true));
    }
    return cells;
}

/* ---- making figures ------------------------------------------------------------------------------------------ */

static void add_figure(cJSON *figures, const cJSON *cells, double value)
{
    cJSON *figure = cJSON_Duplicate(cells, true);
    cJSON_AddItemToObject(figure, "value", json_cut(value));
    cJSON_AddItemToArray(figures, figure);
}

cJSON *with_cell(const cJSON *cells, const char *column, double number)
{
    cJSON *more = cJSON_Duplicate(cells, true);
    json_exact(more, column, number);
    return more;
}

/* One figure per batch: "time" in ms at r batches before it, else elements over total time, in millions a second, at r
 * batches so far. */
static void add_each_batch(const char *each, const cJSON *cells, const cJSON *row, cJSON *figures)
{
    const bool   time = strcmp(each, "time") == 0;
    const cJSON *batch = NULL;
    double       seconds = 0;
    int          r = 0;
    cJSON_ArrayForEach(batch, json_at(row, "batches_s")) {
        cJSON *of = with_cell(cells, "r", time ? r : r + 1);
        r++;
        seconds += batch->valuedouble;
        add_figure(figures, of, time ? batch->valuedouble * 1e3 : number_of(row, "batch") * r / seconds * 1e-6);
        cJSON_Delete(of);
    }
}

static double value_of_row(const struct measured_run *measured, const struct rates *rates, const cJSON *row)
{
    const cJSON *statistics = json_at(row, "statistics");
    const char  *what = text_of(measured->run, "value");
    if (strcmp(what, "ms") == 0)
        return number_of(row, "operations") / rates->mean * 1e3;
    if (strcmp(what, "index") == 0) /* ms to lay out the index */
        return number_of(row, "index_build_s") * 1e3;
    if (strcmp(what, "rebuild") == 0)
        return number_of(row, "count") / number_of(row, "rebuild_s") * 1e-6;
    if (strcmp(what, "entries") == 0)
        return number_of(statistics, "elements") / number_of(statistics, "leaves");
    if (strcmp(what, "raised") == 0)
        return number_of(statistics, "leaves") / number_of(statistics, "elements");
    if (strcmp(what, "fits") == 0) /* elements that fit, at the peak of these */
        return number_of(measured->run, "memory") / (number_of(statistics, "bytes_peak") / number_of(row, "count"));
    if (strcmp(what, "candidates") == 0 || strcmp(what, "compared") == 0) /* strings, by a search with partial keys */
        return number_of(row, what);
    if (strcmp(what, "size") == 0) /* of a compressed index, relative to 4-byte keys */
        return number_of(row, "index_bytes") / (number_of(row, "count") * 4);
    if (strcmp(what, "levels") == 0)
        return rates->mean * number_of(statistics, "levels") * 1e-6;
    return !*what || strcmp(what, "rate") == 0 ? rates->mean * 1e-6 : NAN;
}

static void add_statistics(const cJSON *stats, const cJSON *cells, const struct rates *rates, cJSON *figures)
{
    const cJSON *stat = NULL;
    cJSON_ArrayForEach(stat, stats) {
        cJSON       *of = cJSON_Duplicate(cells, true);
        const char  *name = cJSON_IsString(stat) ? stat->valuestring : "";
        const double rate = strcmp(name, "min") == 0   ? rates->least
                            : strcmp(name, "max") == 0 ? rates->most
                                                       : rates->mean;
        json_text(of, "stat", name);
        add_figure(figures, of, rate * 1e-6);
        cJSON_Delete(of);
    }
}

void figures_add(const struct measured_run *measured, const cJSON *row, cJSON *figures)
{
    const cJSON *run = measured->run, *stats = json_at(run, "stats");
    if (!text_is(row, "check", "ok"))
        return;
    const struct rates rates = rates_of(row);
    cJSON             *cells = cells_of(measured, row);
    if (*text_of(run, "each"))
        add_each_batch(text_of(run, "each"), cells, row, figures);
    else if (stats)
        add_statistics(stats, cells, &rates, figures);
    else
        add_figure(figures, cells, value_of_row(measured, &rates, row));
    cJSON_Delete(cells);
}

void figures_add_limit(const struct measured_run *measured, cJSON *figures)
{
    const double limit = number_of(measured->limits, text_of(measured->run, "limit"));
    if (!isnan(limit))
        add_figure(figures, json_at(measured->run, "cells"), limit / number_of(measured->run, "over") * 1e-6);
}

/* ---- selecting ----------------------------------------------------------------------------------------------- */

static bool same_cell(const cJSON *a, const cJSON *b)
{
    if (cJSON_IsString(a) && cJSON_IsString(b))
        return strcmp(a->valuestring, b->valuestring) == 0;
    return cJSON_IsNumber(a) && cJSON_IsNumber(b) &&
           fabs(a->valuedouble - b->valuedouble) <= 1e-9 * fabs(a->valuedouble);
}

static bool has_cells(const cJSON *figure, const cJSON *cells)
{
    const cJSON *cell = NULL;
    cJSON_ArrayForEach(cell, cells) {
        if (!cJSON_IsNull(cell) && strcmp(cell->string, "experiment") != 0 &&
            !same_cell(json_at(figure, cell->string), cell))
            return false;
    }
    return true;
}

static int by_x(const void *a, const void *b)
{
    const double x = ((const struct figure_point *) a)->x, y = ((const struct figure_point *) b)->x;
    return x < y ? -1 : x > y;
}

/* Averages points of equal x. */
static void join(struct line *line)
{
    int n = 0;
    for (int from = 0, to; from < line->n; from = to) {
        for (to = from + 1; to < line->n && line->points[to].x == line->points[from].x;)
            to++;
        const struct line same = { line->points + from, to - from, line->rates };
        line->points[n++] = (struct figure_point) { line->points[from].x, line_mean(&same) };
    }
    line->n = n;
}

struct figure_set figures_with(const cJSON *figures, const cJSON *cells)
{
    const cJSON      *figure = NULL;
    struct figure_set set = { malloc(((size_t) cJSON_GetArraySize(figures) + 1) * sizeof *set.all), 0 };
    cJSON_ArrayForEach(figure, figures) {
        if (set.all && has_cells(figure, cells) && !isnan(number_of(figure, "value")))
            set.all[set.n++] = figure;
    }
    return set;
}

struct line set_line(const struct figure_set *set, const char *along, bool rates)
{
    struct line line = { malloc(((size_t) set->n + 1) * sizeof *line.points), 0, rates };
    for (int i = 0; i < set->n && line.points; i++) {
        const double x = along ? number_of(set->all[i], along) : 0;
        if (!isnan(x))
            line.points[line.n++] = (struct figure_point) { x, number_of(set->all[i], "value") };
    }
    if (line.points)
        qsort(line.points, (size_t) line.n, sizeof *line.points, by_x);
    join(&line);
    return line;
}

struct line figures_select(const cJSON *figures, const cJSON *cells, const char *along, bool rates)
{
    struct figure_set set = figures_with(figures, cells);
    const struct line line = set_line(&set, along, rates);
    free(set.all);
    return line;
}

/* ---- equal cells --------------------------------------------------------------------------------------------- */

/* Whether two figures have the same cells, but for "value", the column `along` (NULL: none) and the columns of `apart`.
 * A column that one lacks, or in which it is null, is not compared. */
static bool agree(const cJSON *a, const cJSON *b, const char *along, const cJSON *const apart[2])
{
    const cJSON *cell = NULL;
    cJSON_ArrayForEach(cell, a) {
        const char  *name = cell->string;
        const cJSON *other = json_at(b, name);
        const bool   free_column = strcmp(name, "value") == 0 || (along && strcmp(name, along) == 0) ||
                                 json_at(apart[0], name) || json_at(apart[1], name);
        if (!free_column && other && !cJSON_IsNull(other) && !cJSON_IsNull(cell) && !same_cell(cell, other))
            return false;
    }
    return true;
}

static const cJSON *const none[2] = { NULL, NULL };

void set_meet(struct figure_set *set, const struct figure_set *other, const cJSON *cells, const cJSON *other_cells)
{
    const cJSON *const apart[] = { cells, other_cells };
    int                n = 0;
    for (int i = 0; i < set->n; i++) {
        int k = 0;
        while (k < other->n && !agree(set->all[i], other->all[k], NULL, apart))
            k++;
        if (k < other->n)
            set->all[n++] = set->all[i];
    }
    set->n = n;
}

/* Whether the set has a figure with the other cells of `figure` at each of its places. */
static bool is_everywhere(const struct figure_set *set, const char *along, const cJSON *figure)
{
    for (int i = 0; i < set->n; i++) {
        int k = 0;
        if (isnan(number_of(set->all[i], along)))
            continue;
        while (k < set->n && !(number_of(set->all[k], along) == number_of(set->all[i], along) &&
                               agree(set->all[k], figure, along, none)))
            k++;
        if (k == set->n)
            return false;
    }
    return true;
}

void set_balance(struct figure_set *set, const char *along)
{
    struct figure_set kept = { malloc(((size_t) set->n + 1) * sizeof *kept.all), 0 };
    for (int i = 0; i < set->n && kept.all; i++)
        if (is_everywhere(set, along, set->all[i]))
            kept.all[kept.n++] = set->all[i];
    free(set->all);
    *set = kept;
}

/* ---- lines --------------------------------------------------------------------------------------------------- */

double line_mean(const struct line *line)
{
    double sum = 0;
    for (int i = 0; i < line->n; i++)
        sum += line->rates ? 1 / line->points[i].y : line->points[i].y;
    return line->n == 0 ? NAN : line->rates ? line->n / sum : sum / line->n;
}

static const struct figure_point no_point = { NAN, NAN };

const struct figure_point *line_least(const struct line *line)
{
    const struct figure_point *least = line->n ? line->points : &no_point;
    for (int i = 1; i < line->n; i++)
        least = line->points[i].y < least->y ? &line->points[i] : least;
    return least;
}

const struct figure_point *line_most(const struct line *line)
{
    const struct figure_point *most = line->n ? line->points : &no_point;
    for (int i = 1; i < line->n; i++)
        most = line->points[i].y > most->y ? &line->points[i] : most;
    return most;
}

double line_at(const struct line *line, double x)
{
    for (int i = 0; i < line->n; i++)
        if (line->points[i].x == x)
            return line->points[i].y;
    return NAN;
}

void line_meet(struct line *a, struct line *b)
{
    int n = 0;
    for (int i = 0, j = 0; i < a->n && j < b->n;) {
        if (a->points[i].x < b->points[j].x) {
            i++;
        } else if (a->points[i].x > b->points[j].x) {
            j++;
        } else {
            a->points[n] = a->points[i++];
            b->points[n++] = b->points[j++];
        }
    }
    a->n = b->n = n;
}

void line_divide(struct line *a, struct line *b)
{
    if (!b->points)
        return;
    line_meet(a, b);
    for (int i = 0; i < a->n; i++)
        a->points[i].y /= b->points[i].y;
}

/* ---- figures made of others ---------------------------------------------------------------------------------- */

/* Where a ratio first passes 1 as x rises; NaN if it does not. */
static double first_passing(const struct line *ratio)
{
    for (int i = 1; i < ratio->n; i++) {
        const struct figure_point *p = &ratio->points[i - 1], *q = &ratio->points[i];
        const double               before = log(p->y), lead = log(q->y);
        if ((lead < 0) != (before < 0))
            return p->x * exp(log(q->x / p->x) * before / (before - lead));
    }
    return NAN;
}

/* The ratios of left to right along an axis. The caller frees the points. */
static struct line ratios_of(const cJSON *figures, const cJSON *left, const cJSON *right, const char *along)
{
    struct line a = figures_select(figures, left, along, false), b = figures_select(figures, right, along, false);
    line_divide(&a, &b);
    free(b.points);
    return a;
}

void figures_add_crossovers(const cJSON *crossover, cJSON *figures)
{
    const char  *each = text_of(crossover, "for");
    const cJSON *left = json_at(crossover, "left");
    struct line  cases = figures_select(figures, left, each, false);
    for (int i = 0; i < cases.n; i++) {
        cJSON       *cells = with_cell(left, each, cases.points[i].x);
        cJSON       *gives = with_cell(json_at(crossover, "gives"), each, cases.points[i].x);
        struct line  ratio = ratios_of(figures, cells, json_at(crossover, "right"), text_of(crossover, "along"));
        const double at = first_passing(&ratio);
        if (!isnan(at))
            add_figure(figures, gives, at);
        free(ratio.points);
        cJSON_Delete(cells);
        cJSON_Delete(gives);
    }
    free(cases.points);
}

static void add_ratio(const cJSON *ratios, double x, const char *which, double ratio, cJSON *figures)
{
    cJSON *cells = cJSON_CreateObject();
    json_exact(cells, text_of(ratios, "along"), x);
    json_text(cells, text_of(ratios, "as"), which);
    if (isfinite(ratio))
        add_figure(figures, cells, ratio);
    cJSON_Delete(cells);
}

void figures_add_ratios(const cJSON *ratios, const cJSON *of, cJSON *figures)
{
    const char *along = text_of(ratios, "along");
    struct line places = figures_select(of, json_at(ratios, "left"), along, false);
    for (int i = 0; i < places.n; i++) {
        const double x = places.points[i].x;
        cJSON       *left = with_cell(json_at(ratios, "left"), along, x);
        cJSON       *right = with_cell(json_at(ratios, "right"), along, x);
        struct line  ratio = ratios_of(of, left, right, text_of(ratios, "for"));
        add_ratio(ratios, x, "worst", line_least(&ratio)->y, figures);
        add_ratio(ratios, x, "best", line_most(&ratio)->y, figures);
        free(ratio.points);
        cJSON_Delete(left);
        cJSON_Delete(right);
    }
    free(places.points);
}

/* ---- the paper's rows ---------------------------------------------------------------------------------------- */

cJSON *figure_cells(const cJSON *experiment, const cJSON *row)
{
    const cJSON *column = NULL, *cell = row ? row->child : NULL;
    cJSON       *cells = cJSON_CreateObject();
    cJSON_ArrayForEach(column, json_at(experiment, "columns")) {
        if (cell && strcmp(column->valuestring, "value") != 0)
            cJSON_AddItemToObject(cells, column->valuestring, cJSON_Duplicate(cell, true));
        cell = cell ? cell->next : NULL;
    }
    return cells;
}

double figure_value(const cJSON *experiment, const cJSON *row)
{
    const cJSON *column = NULL, *cell = row ? row->child : NULL;
    cJSON_ArrayForEach(column, json_at(experiment, "columns")) {
        if (strcmp(column->valuestring, "value") == 0)
            return cell && cJSON_IsNumber(cell) ? cell->valuedouble : NAN;
        cell = cell ? cell->next : NULL;
    }
    return NAN;
}

cJSON *paper_figures(const cJSON *paper)
{
    cJSON       *all = cJSON_CreateObject();
    const cJSON *experiment = NULL, *row = NULL;
    cJSON_ArrayForEach(experiment, json_at(paper, "experiments")) {
        cJSON *figures = cJSON_AddArrayToObject(all, text_of(experiment, "id"));
        cJSON_ArrayForEach(row, json_at(experiment, "rows")) {
            cJSON *figure = figure_cells(experiment, row);
            json_number(figure, "value", figure_value(experiment, row));
            cJSON_AddItemToArray(figures, figure);
        }
    }
    return all;
}

bool figures_are_rates(const cJSON *experiment)
{
    return strncmp(text_of(experiment, "unit"), "M ", 2) == 0;
}
