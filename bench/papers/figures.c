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

/* The paper's number for a scaled one: from the list, or times the scale. */
static double of_paper(const cJSON *list, double number, double scale)
{
    const cJSON *item = NULL;
    cJSON_ArrayForEach(item, list) {
        if (llround(fmax(1, item->valuedouble / scale)) == llround(number))
            return item->valuedouble;
    }
    return number * scale;
}

/* NaN: none. */
static double number_cell(const struct measured_run *measured, const cJSON *row, const char *column)
{
    const cJSON *run = measured->run;
    if (strcmp(column, "batch") == 0)
        return of_paper(json_at(run, "batches"), number_of(row, "batch"), measured->scale);
    if (strcmp(column, "n") == 0)
        return of_paper(json_at(run, "n"), number_of(row, "count"), measured->scale);
    if (strcmp(column, "queries") == 0) /* if runs vary the number */
        return cJSON_IsArray(json_at(run, "queries"))
                   ? of_paper(json_at(run, "queries"), number_of(row, "operations"), measured->scale)
                   : NAN;
    if (strcmp(column, "alpha") == 0)
        return number_of(row, "update_percent") / 100;
    return number_of(row, strcmp(column, "percent") == 0 ? "erase_percent" : column);
}

/* The cells of a row except "stat" and "r". */
static cJSON *cells_of(const struct measured_run *measured, const cJSON *row)
{
    static const char *const columns[] = { "batch",         "n",     "alpha",  "percent", "width",
                                           "stale_percent", "group", "queries" };
    const cJSON             *given = json_at(measured->run, "cells"), *cell = NULL;
    cJSON                   *cells = cJSON_CreateObject();
    const char              *structure = paper_name_of(measured->paper, text_of(row, "variant"));
    const cJSON             *schemes = json_at(measured->run, "schemes");
    if (*structure && !json_at(given, "structure"))
        json_text(cells, "structure", structure);
    if (schemes)
        json_text(cells, "scheme", text_of(schemes, text_of(row, "variant")));
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        const double number = number_cell(measured, row, columns[c]);
        if (!isnan(number) && !json_at(given, columns[c]))
            json_exact(cells, columns[c], number);
    }
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

/* One figure per batch: "time" in ms, else elements over total time, in millions a second. */
static void add_each_batch(const char *each, const cJSON *cells, const cJSON *row, cJSON *figures)
{
    const cJSON *batch = NULL;
    double       seconds = 0;
    int          r = 0;
    cJSON_ArrayForEach(batch, json_at(row, "batches_s")) {
        cJSON *of = cJSON_Duplicate(cells, true);
        seconds += batch->valuedouble;
        json_exact(of, "r", ++r);
        add_figure(figures, of,
                   strcmp(each, "time") == 0 ? batch->valuedouble * 1e3 : number_of(row, "batch") * r / seconds * 1e-6);
        cJSON_Delete(of);
    }
}

static double value_of_row(const struct measured_run *measured, const struct rates *rates, const cJSON *row)
{
    const cJSON *statistics = json_at(row, "statistics");
    const char  *what = text_of(measured->run, "value");
    const double queries = number_of(measured->run, "queries");
    if (strcmp(what, "ms") == 0) /* for the paper's number of queries */
        return (queries > 0 ? queries : number_of(row, "operations") * measured->scale) / rates->mean * 1e3;
    if (strcmp(what, "rebuild") == 0)
        return number_of(row, "count") / number_of(row, "rebuild_s") * 1e-6;
    if (strcmp(what, "entries") == 0)
        return number_of(statistics, "elements") / number_of(statistics, "leaves");
    if (strcmp(what, "raised") == 0)
        return number_of(statistics, "leaves") / number_of(statistics, "elements");
    if (strcmp(what, "fits") == 0) /* elements that fit, at the peak of these */
        return number_of(measured->run, "memory") / (number_of(statistics, "bytes_peak") / number_of(row, "count"));
    if (strcmp(what, "size") == 0) /* of a compressed index, relative to 4-byte keys */
        return number_of(row, "index_bytes") / (number_of(row, "count") * 4);
    if (strcmp(what, "restarts") == 0) /* an upper bound: restarts of all repetitions over operations of one */
        return 100 * number_of(statistics, "restarts") / number_of(row, "operations");
    if (strcmp(what, "levels") == 0)
        return rates->mean * number_of(statistics, "levels") * 1e-6;
    return rates->mean * 1e-6;
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

/* ---- crossovers ---------------------------------------------------------------------------------------------- */

/* The index of x; -1 if missing. */
static int place_of(const struct figure_point *points, int n, double x)
{
    for (int i = 0; i < n; i++)
        if (points[i].x == x)
            return i;
    return -1;
}

/* Where line a falls below b as x rises; NaN if it does not. */
static double first_below(const struct figure_point *a, int n_a, const struct figure_point *b, int n_b)
{
    double before = NAN, before_x = NAN;
    for (int i = 0; i < n_a; i++) {
        const int at = place_of(b, n_b, a[i].x);
        if (at < 0)
            continue;
        const double lead = log(a[i].y / b[at].y);
        if (lead < 0 && before >= 0)
            return before_x * exp(log(a[i].x / before_x) * before / (before - lead));
        before = lead;
        before_x = a[i].x;
    }
    return NAN;
}

void figures_add_crossovers(const cJSON *crossover, cJSON *figures)
{
    const char          *along = text_of(crossover, "along"), *each = text_of(crossover, "for");
    const cJSON         *left = json_at(crossover, "left");
    struct figure_point *cases = NULL, *a = NULL, *b = NULL;
    const int            n_b = figures_select(figures, json_at(crossover, "right"), along, false, &b);
    const int            n_cases = figures_select(figures, left, each, false, &cases);
    for (int i = 0; i < n_cases; i++) {
        cJSON *cells = cJSON_Duplicate(left, true);
        json_exact(cells, each, cases[i].x);
        const int    n_a = figures_select(figures, cells, along, false, &a);
        const double at = first_below(a, n_a, b, n_b);
        free(a);
        cJSON_Delete(cells);
        cells = cJSON_Duplicate(json_at(crossover, "gives"), true);
        json_exact(cells, each, cases[i].x);
        if (!isnan(at))
            add_figure(figures, cells, at);
        cJSON_Delete(cells);
    }
    free(cases);
    free(b);
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

double figures_mean(const struct figure_point *points, int n, bool rates)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += rates ? 1 / points[i].y : points[i].y;
    return n == 0 ? NAN : rates ? n / sum : sum / n;
}

/* Averages points of equal x. */
static int join(struct figure_point *points, int n, bool rates)
{
    int joined = 0;
    for (int from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && points[to].x == points[from].x;)
            to++;
        points[joined++] = (struct figure_point) { points[from].x, figures_mean(points + from, to - from, rates) };
    }
    return joined;
}

int figures_select(const cJSON *figures, const cJSON *cells, const char *along, bool rates,
                   struct figure_point **points)
{
    const cJSON *figure = NULL;
    int          n = 0;
    *points = malloc(((size_t) cJSON_GetArraySize(figures) + 1) * sizeof **points);
    if (!*points)
        return 0;
    cJSON_ArrayForEach(figure, figures) {
        const double x = along ? number_of(figure, along) : 0, y = number_of(figure, "value");
        if (!isnan(x) && !isnan(y) && has_cells(figure, cells))
            (*points)[n++] = (struct figure_point) { x, y };
    }
    qsort(*points, (size_t) n, sizeof **points, by_x);
    return join(*points, n, rates);
}

/* ---- ratios -------------------------------------------------------------------------------------------------- */

static cJSON *with_cell(const cJSON *cells, const char *column, double number)
{
    cJSON *more = cJSON_Duplicate(cells, true);
    json_exact(more, column, number);
    return more;
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

static void add_ratios_at(const cJSON *ratios, const cJSON *of, double x, cJSON *figures)
{
    const char          *along = text_of(ratios, "along"), *each = text_of(ratios, "for");
    cJSON               *left = with_cell(json_at(ratios, "left"), along, x);
    cJSON               *right = with_cell(json_at(ratios, "right"), along, x);
    struct figure_point *a = NULL, *b = NULL;
    const int n_a = figures_select(of, left, each, false, &a), n_b = figures_select(of, right, each, false, &b);
    double    least = INFINITY, most = -INFINITY;
    for (int i = 0; i < n_a; i++) {
        const int at = place_of(b, n_b, a[i].x);
        if (at >= 0) {
            least = fmin(least, a[i].y / b[at].y);
            most = fmax(most, a[i].y / b[at].y);
        }
    }
    add_ratio(ratios, x, "worst", least, figures);
    add_ratio(ratios, x, "best", most, figures);
    free(a);
    free(b);
    cJSON_Delete(left);
    cJSON_Delete(right);
}

void figures_add_ratios(const cJSON *ratios, const cJSON *of, cJSON *figures)
{
    struct figure_point *places = NULL;
    const int            n = figures_select(of, json_at(ratios, "left"), text_of(ratios, "along"), false, &places);
    for (int i = 0; i < n; i++)
        add_ratios_at(ratios, of, places[i].x, figures);
    free(places);
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

bool figures_are_rates(const cJSON *experiment)
{
    return strncmp(text_of(experiment, "unit"), "M ", 2) == 0;
}
