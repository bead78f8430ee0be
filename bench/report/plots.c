/* SPDX-License-Identifier: Apache-2.0 */
#include "plots.h"

#include "bench/common/json.h"
#include "bench/common/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what an axis is ----------------------------------------------------------------------------------------- */

/* Kinds of plots: what is drawn over what. */
struct kind {
    const char *file, *x_title, *y_title;
    const char *of,
        *at; /* in the title, before what all points have in common; in the sentence, after a place on the axis */
    enum plot_unit unit;
    bool           x_linear, y_linear;
    bool           one_count; /* the points of a plot have one number of elements */
    bool           one_dist;  /* of uniformly drawn keys alone */
    bool one_split; /* ... have one number of batches in which all elements come, as what they cost goes by that */
    bool crosses;   /* who comes to lead over whom, and where */
    bool limit;
    bool (*takes)(const cJSON *row);
    double (*x_of)(const cJSON *row);
    struct plot_point (*point_of)(const struct report_point *point, double x);
};

/* The points of a plot agree in these; of a line also in its name. */
struct group {
    int         device;
    const char *workload, *key;
    double      value_bytes, count; /* count: where it is not along the axis, else 0 */
    /* 0 where it is along the axis, or says nothing: */
    double calls;   /* elements of the one batch, or queries of a small call */
    double batches; /* in which all elements come, or go */
    double fills;   /* at most so many, at which queries are timed */
    double width;   /* elements of an interval */
};

static bool is_uniform(const cJSON *row)
{
    return text_is(row, "dist", "uniform") || text_is(row, "workload", "fillseq");
}

static double count_of(const cJSON *row)
{
    return number_of(row, "count");
}

static double batch_of(const cJSON *row)
{
    return number_of(row, "batch");
}

static double share_of(const cJSON *row)
{
    return number_of(row, "update_percent");
}

static double operations_of(const cJSON *row)
{
    return number_of(row, "operations");
}

static bool takes_any(const cJSON *row)
{
    (void) row;
    return true;
}

static bool takes_stored(const cJSON *row)
{
    return number_of(cJSON_GetObjectItemCaseSensitive(row, "statistics"), "elements") > 0 &&
           !(number_of(row, "update_percent") >= 0) && strncmp(text_of(row, "workload"), "fill", 4) == 0;
}

/* Calls that can be of any size: queries, and all of one batch. */
static bool takes_call(const cJSON *row)
{
    return *text_of(row, "variant") && number_of(row, "count") > 0 &&
           (number_of(row, "most_fills") >= 0 || number_of(row, "operations") == number_of(row, "batch"));
}

static struct plot_point rate_of(const struct report_point *point, double x)
{
    const cJSON *wall = cJSON_GetObjectItemCaseSensitive(point->row, "wall_s");
    const double operations = number_of(point->row, "operations");
    return (struct plot_point) { x, point->rate, operations / number_of(wall, "p90"),
                                 operations / number_of(wall, "p10") };
}

static struct plot_point seconds_of(const struct report_point *point, double x)
{
    const cJSON *wall = cJSON_GetObjectItemCaseSensitive(point->row, "wall_s");
    return (struct plot_point) { x, number_of(wall, "median"), number_of(wall, "p10"), number_of(wall, "p90") };
}

static struct plot_point bytes_of(const struct report_point *point, double x)
{
    static const char *const parts[] = { "bytes_data", "bytes_index", "bytes_marks", "bytes_spare" };
    const cJSON             *held = cJSON_GetObjectItemCaseSensitive(point->row, "statistics");
    double                   bytes = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        bytes += number_of(held, parts[i]);
    return (struct plot_point) { x, bytes / number_of(held, "elements"), NAN, NAN };
}

static const struct kind over_size = { .file = "size",
                                       .x_title = "elements",
                                       .y_title = "operations a second",
                                       .of = "",
                                       .at = "",
                                       .one_dist = true,
                                       .one_split = true,
                                       .limit = true,
                                       .takes = takes_any,
                                       .x_of = count_of,
                                       .point_of = rate_of };
static const struct kind over_batch = { .file = "batch",
                                        .x_title = "elements of a batch",
                                        .y_title = "operations a second",
                                        .of = " into ",
                                        .at = " a batch",
                                        .one_count = true,
                                        .one_dist = true,
                                        .crosses = true,
                                        .takes = takes_any,
                                        .x_of = batch_of,
                                        .point_of = rate_of };
static const struct kind over_share = { .file = "share",
                                        .x_title = "updates among the operations, percent",
                                        .y_title = "operations a second",
                                        .of = " in ",
                                        .at = " % updates",
                                        .x_linear = true,
                                        .y_linear = true,
                                        .one_count = true,
                                        .takes = takes_any,
                                        .x_of = share_of,
                                        .point_of = rate_of };
static const struct kind over_call = { .file = "call",
                                       .x_title = "operations of a call",
                                       .y_title = "time of a call",
                                       .of = " in ",
                                       .at = " a call",
                                       .unit = UNIT_SECONDS,
                                       .one_count = true,
                                       .one_dist = true,
                                       .takes = takes_call,
                                       .x_of = operations_of,
                                       .point_of = seconds_of };
static const struct kind memory_over_size = { .file = "memory",
                                              .x_title = "elements",
                                              .y_title = "bytes an element, on the device",
                                              .of = ": memory",
                                              .at = "",
                                              .unit = UNIT_PLAIN,
                                              .y_linear = true,
                                              .one_dist = true,
                                              .takes = takes_stored,
                                              .x_of = count_of,
                                              .point_of = bytes_of };

/* Of dictionaries; files that are older say it by their fills alone. */
static bool is_query(const cJSON *row)
{
    return number_of(row, "most_fills") >= 0 || cJSON_GetObjectItemCaseSensitive(row, "fills");
}

/* One batch is timed, of a dictionary that is there. */
static bool is_one_batch(const cJSON *row)
{
    static const char *const workloads[] = { "insertrandom", "hostinsert", "concurrentinsert", "concurrentmix",
                                             "concurrentpoints" };
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++)
        if (text_is(row, "workload", workloads[i]))
            return true;
    return false;
}

/* Calls of fewer queries are about how long a call takes, not how many it answers a second. */
#define LARGE_CALL 65536

/* What a plot has one of, as rates of small calls and of large ones say different things. */
static double calls_of(const cJSON *row, const struct kind *kind)
{
    if (kind->x_of == operations_of)
        return 0;
    if (is_one_batch(row))
        return kind->x_of == batch_of ? 0 : batch_of(row);
    return is_query(row) && operations_of(row) < LARGE_CALL ? operations_of(row) : 0;
}

static double batches_of(const cJSON *row, const struct kind *kind)
{
    const bool updates = batch_of(row) > 0 && !is_query(row) && !is_one_batch(row);
    return kind->one_split && updates && !text_is(row, "workload", "queue") ? ceil(count_of(row) / batch_of(row)) : 0;
}

static double fills_of(const cJSON *row, const struct kind *kind)
{
    const double fills = number_of(row, "most_fills");
    const bool   along = kind->x_of == count_of && kind->one_count; /* fills are the axis */
    return along || kind->x_of == operations_of || isnan(fills) ? 0 : fills;
}

static double width_of(const cJSON *row)
{
    static const char *const workloads[] = { "countrandom", "rangerandom", "pagerandom", "sumrandom", "seekwithin" };
    const double             width = number_of(row, "width");
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++)
        if (text_is(row, "workload", workloads[i]) && width > 0)
            return width;
    return 0;
}

static bool takes(const struct kind *kind, const cJSON *row)
{
    const double x = kind->x_of(row);
    return (!kind->one_dist || is_uniform(row)) && kind->takes(row) && (kind->x_linear ? x >= 0 : x > 0);
}

static struct group group_of(const struct report_point *point, const struct kind *kind)
{
    return (struct group) { point->device,
                            point->workload,
                            point->key,
                            point->value_bytes,
                            kind->one_count ? point->count : 0,
                            calls_of(point->row, kind),
                            batches_of(point->row, kind),
                            fills_of(point->row, kind),
                            width_of(point->row) };
}

static bool same_group(const struct group *a, const struct group *b)
{
    return a->device == b->device && strcmp(a->workload, b->workload) == 0 && strcmp(a->key, b->key) == 0 &&
           a->value_bytes == b->value_bytes && a->count == b->count && a->calls == b->calls &&
           a->batches == b->batches && a->fills == b->fills && a->width == b->width;
}

/* Each point as a kind of plots sees it. */
struct place {
    struct group group;
    bool         taken, first; /* whether it is drawn; and no earlier one of its group is */
};

/* One for each point, which the caller frees; NULL without memory. */
static struct place *places_of(const struct report *report, const struct kind *kind)
{
    struct place *places = calloc(report->n_points + 1, sizeof *places);
    for (size_t i = 0; places && i < report->n_points; i++) {
        if (!takes(kind, report->points[i].row))
            continue;
        places[i] = (struct place) { group_of(&report->points[i], kind), true, true };
        for (size_t k = 0; k < i && places[i].first; k++)
            places[i].first = !places[k].first || !same_group(&places[k].group, &places[i].group);
    }
    return places;
}

/* ---- lines --------------------------------------------------------------------------------------------------- */

static size_t add_text(char *name, size_t used, size_t bytes, const char *format, const char *text)
{
    return used < bytes ? used + (size_t) snprintf(name + used, bytes - used, format, text) : used;
}

static size_t add_number(char *name, size_t used, size_t bytes, const char *format, double number)
{
    return used < bytes ? used + (size_t) snprintf(name + used, bytes - used, format, number) : used;
}

/* Parameters of the structure, or tunables, that are not as they are by default: ", load 95". */
static size_t add_parameters(const cJSON *row, char *name, size_t used, size_t bytes)
{
    static const struct {
        const char *field, *name;
    } numbers[] = { { "growth", "growth" },
                    { "load_percent", "load" },
                    { "raise_percent", "raise" },
                    { "chunk", "chunk" },
                    { "group", "group" } };
    char text[TEXT_BYTES];
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (number_of(row, numbers[i].field) > 0) {
            snprintf(text, sizeof text, "%s %.0f", numbers[i].name, number_of(row, numbers[i].field));
            used = add_text(name, used, bytes, ", %s", text);
        }
    if (*text_of(row, "tune"))
        used = add_text(name, used, bytes, ", %s", text_of(row, "tune"));
    if (is_true(row, "fixed_depth"))
        used = add_text(name, used, bytes, "%s", ", fixed depth");
    return is_true(row, "first_calls") ? add_text(name, used, bytes, "%s", ", first calls") : used;
}

static bool has_parameters(const cJSON *row)
{
    char name[TEXT_BYTES] = "";
    return add_parameters(row, name, 0, sizeof name) > 0;
}

/* What tells a line's points from others' of the variant, and is not along the axis: the mix of operations, how many of the keys are
 * there, how they are drawn, what was set. */
static void line_name(const cJSON *row, const struct kind *kind, char *name, size_t bytes)
{
    char   text[TEXT_BYTES];
    size_t used = (size_t) snprintf(name, bytes, "%s", *text_of(row, "variant") ? text_of(row, "variant") : "Ordo");
    used = add_parameters(row, name, used, bytes);
    if (kind == &memory_over_size)
        return;
    if (kind->x_of != share_of && share_of(row) >= 0) {
        snprintf(text, sizeof text, "%.0f", share_of(row));
        used = add_text(name, used, bytes, ", %s %% updates", text);
    }
    if (number_of(row, "hit_percent") < 100 &&
        (text_is(row, "workload", "readrandom") || text_is(row, "workload", "hostread"))) {
        snprintf(text, sizeof text, "%.0f", number_of(row, "hit_percent"));
        used = add_text(name, used, bytes, ", %s %% there", text);
    }
    if (!is_uniform(row) && *text_of(row, "dist"))
        add_text(name, used, bytes, ", %s keys", text_of(row, "dist"));
}

static double at_x(const struct plot_line *line, double x)
{
    for (int p = 0; p < line->n; p++)
        if (line->points[p].x == x)
            return line->points[p].y;
    return NAN;
}

static bool has_x(const struct plot *plot, const char *name, double x)
{
    for (int l = 0; l < plot->n; l++)
        if (strcmp(plot->lines[l].name, name) == 0 && !isnan(at_x(&plot->lines[l], x)))
            return true;
    return false;
}

/* The rate at which the bytes could be moved that have to be. */
static void add_limit(struct plot *plot, const struct report *report, const struct report_point *point, double x)
{
    const char  *limit = NULL;
    const double seconds = report_least_seconds(report, point->device, point->row, &limit);
    char         name[48];
    snprintf(name, sizeof name, "limit: %s", limit);
    if (isnan(seconds) || has_x(plot, name, x))
        return;
    plot_add(plot, name, (struct plot_point) { x, operations_of(point->row) / seconds, NAN, NAN });
    for (int l = 0; l < plot->n; l++)
        plot->lines[l].limit |= strcmp(plot->lines[l].name, name) == 0;
}

static void add_peer(struct plot *plot, const struct report_point *point, double x)
{
    const cJSON *peer = report_peer(point->row);
    char         name[96];
    if (!(number_of(peer, "rate") > 0))
        return;
    snprintf(name, sizeof name, "%s%s%s", text_of(peer, "name"), *text_of(point->row, "variant") ? ": " : "",
             text_of(point->row, "variant"));
    plot_add(plot, name, (struct plot_point) { x, number_of(peer, "rate"), NAN, NAN });
}

/* What plain code of the host does, where the device is of the same kind. */
static void add_host(struct plot *plot, const struct report *report, const struct report_point *point, double x)
{
    const cJSON *rate = NULL;
    char         name[96];
    if (!is_true(report->devices[point->device].json, "cpu"))
        return;
    cJSON_ArrayForEach(rate, cJSON_GetObjectItemCaseSensitive(point->row, "host_rates"))
    {
        snprintf(name, sizeof name, "the host's %s", rate->string);
        if (cJSON_IsNumber(rate) && rate->valuedouble > 0 && !has_x(plot, name, x))
            plot_add(plot, name, (struct plot_point) { x, rate->valuedouble, NAN, NAN });
    }
}

/* At which so many lines have a point; NaN: none. */
static double largest_x(const struct plot *plot, int lines)
{
    double largest = NAN;
    for (int l = 0; l < plot->n; l++)
        for (int p = 0; p < plot->lines[l].n && !plot->lines[l].limit; p++) {
            const double x = plot->lines[l].points[p].x;
            int          n = 0;
            for (int other = 0; other < plot->n; other++)
                n += !plot->lines[other].limit && !isnan(at_x(&plot->lines[other], x));
            if (n >= lines)
                largest = fmax(largest, x);
        }
    return largest;
}

static int lines_measured(const struct plot *plot)
{
    int n = 0;
    for (int l = 0; l < plot->n; l++)
        n += !plot->lines[l].limit;
    return n;
}

/* Two that differ by less are said to be alike. */
#define ALIKE 1.05

/* "At 2^24: lsm leads with 5.1 G a second, 2.3 times sorted_array." Of the largest x that two lines have. Of times and bytes the
 * least leads. */
static void say_who_leads(struct plot *plot, const struct kind *kind)
{
    const struct plot_line *first = NULL, *second = NULL;
    const bool              less = plot->unit != UNIT_RATE;
    const char             *unit = plot->unit == UNIT_RATE ? " a second" : plot->unit == UNIT_PLAIN ? " bytes" : "";
    double                  at, best = NAN, next = NAN;
    char                    x[TEXT_BYTES], figure[TEXT_BYTES];
    at = largest_x(plot, 2);
    if (isnan(at))
        at = largest_x(plot, 1);
    for (int l = 0; l < plot->n; l++) {
        const struct plot_line *line = &plot->lines[l];
        const double            y = line->limit ? NAN : at_x(line, at);
        if (isnan(y))
            continue;
        if (!first || (less ? y < best : y > best)) {
            second = first;
            next = best;
            first = line;
            best = y;
        } else if (!second || (less ? y < next : y > next)) {
            second = line;
            next = y;
        }
    }
    if (kind->x_linear)
        snprintf(x, sizeof x, "%g", at);
    else
        text_count(x, (size_t) at);
    plot_text(figure, plot->unit, best);
    if (first && second && fmax(next / best, best / next) < ALIKE)
        snprintf(plot->sentence, sizeof plot->sentence, "At %s%s: %s and %s are alike, %s%s.", x, kind->at, first->name,
                 second->name, figure, unit);
    else if (first && second && less)
        snprintf(plot->sentence, sizeof plot->sentence, "At %s%s: %s takes least, %s%s; %s takes %.2g times as much.",
                 x, kind->at, first->name, figure, unit, second->name, next / best);
    else if (first && second)
        snprintf(plot->sentence, sizeof plot->sentence, "At %s%s: %s leads with %s%s, %.2g times %s.", x, kind->at,
                 first->name, figure, unit, best / next, second->name);
    else if (first)
        snprintf(plot->sentence, sizeof plot->sentence, "At %s%s: %s%s.", x, kind->at, figure, unit);
}

/* "At 2^24: sorted 41.9 G, random 9.01 G a second.": of forms of one workload, which are given other inputs, or other room, and do not
 * compete. Each at its largest x. */
static void say_each(struct plot *plot, const struct kind *kind)
{
    size_t used = 0;
    char   x[TEXT_BYTES], figure[TEXT_BYTES];
    for (int l = 0; l < plot->n && used < sizeof plot->sentence; l++) {
        const struct plot_line *line = &plot->lines[l];
        if (line->limit || !line->n)
            continue;
        used +=
            (size_t) snprintf(plot->sentence + used, sizeof plot->sentence - used, "%s%s %s at %s%s", used ? ", " : "",
                              line->name, plot_text(figure, plot->unit, line->points[line->n - 1].y),
                              text_count(x, (size_t) line->points[line->n - 1].x), kind->at);
    }
    if (used < sizeof plot->sentence)
        snprintf(plot->sentence + used, sizeof plot->sentence - used, ", a second.");
}

/* Between which batches a leads first and b after it, or the other way round; of each two lines. */
static void say_crossovers(struct plot *plot)
{
    size_t used = strlen(plot->sentence);
    for (int a = 0; a < plot->n; a++)
        for (int b = a + 1; b < plot->n; b++) {
            double before = NAN, before_x = 0;
            bool   crossed = false;
            for (int p = 0; p < plot->lines[a].n; p++) {
                const double x = plot->lines[a].points[p].x;
                const double lead = log(plot->lines[a].points[p].y / at_x(&plot->lines[b], x));
                char         from[TEXT_BYTES], to[TEXT_BYTES];
                if (isnan(lead))
                    continue;
                if (!isnan(before) && lead * before < 0 && used < sizeof plot->sentence) {
                    crossed = true;
                    used += (size_t) snprintf(plot->sentence + used, sizeof plot->sentence - used,
                                              " Between %s and %s %s comes to lead over %s.",
                                              text_count(from, (size_t) before_x), text_count(to, (size_t) x),
                                              plot->lines[lead > 0 ? a : b].name, plot->lines[lead > 0 ? b : a].name);
                }
                before = lead;
                before_x = x;
            }
            if (!crossed && !isnan(before) && used < sizeof plot->sentence)
                used += (size_t) snprintf(plot->sentence + used, sizeof plot->sentence - used,
                                          " %s leads over %s throughout.", plot->lines[before > 0 ? a : b].name,
                                          plot->lines[before > 0 ? b : a].name);
        }
}

static int distinct_x(const struct plot *plot)
{
    int most = 0;
    for (int l = 0; l < plot->n; l++)
        if (!plot->lines[l].limit && plot->lines[l].n > most)
            most = plot->lines[l].n;
    return most;
}

static void say_if_full(struct plot *plot)
{
    const size_t used = strlen(plot->sentence);
    if (plot->full)
        snprintf(plot->sentence + used, sizeof plot->sentence - used, " Others have no room here: all rows are below.");
}

/* ---- plots --------------------------------------------------------------------------------------------------- */

static void name_plot(const struct report *report, const struct group *group, const struct kind *kind,
                      struct plot *plot)
{
    const char *device = text_of(report->devices[group->device].json, "name");
    char        count[TEXT_BYTES], calls[120] = "";
    size_t      used = 0;
    if (group->width > 0)
        used = add_number(calls, used, sizeof calls, ", %.0f elements each", group->width);
    if (group->calls > 0)
        used = add_text(calls, used, sizeof calls, ", %s at a time", text_count(count, (size_t) group->calls));
    if (group->batches > 1)
        used = add_number(calls, used, sizeof calls, ", in %.0f batches", group->batches);
    if (group->fills > 1)
        add_number(calls, used, sizeof calls, ", mean of %.0f fills", group->fills);
    *plot = (struct plot) { .unit = kind->unit, .x_linear = kind->x_linear, .y_linear = kind->y_linear };
    snprintf(plot->title, sizeof plot->title, "%s %s+%.0f%s%s%s, %.80s", group->workload, group->key,
             group->value_bytes, kind->of, kind->one_count ? text_count(count, (size_t) group->count) : "", calls,
             device);
    snprintf(plot->x_title, sizeof plot->x_title, "%s", kind->x_title);
    snprintf(plot->y_title, sizeof plot->y_title, "%s", kind->y_title);
}

/* All points of the group that point i begins, those with parameters set or those without. Where other axes differ, such as the number
 * of queries, the first is shown. */
static void gather(const struct report *report, const struct place *places, size_t i, const struct kind *kind,
                   bool parameters, struct plot *plot)
{
    for (size_t k = i; k < report->n_points; k++) {
        const struct report_point *point = &report->points[k];
        char                       name[96];
        if (!places[k].taken || !same_group(&places[i].group, &places[k].group) ||
            has_parameters(point->row) != parameters)
            continue;
        const double            x = kind->x_of(point->row);
        const struct plot_point at = kind->point_of(point, x);
        line_name(point->row, kind, name, sizeof name);
        if (has_x(plot, name, x) || !(at.y > 0))
            continue;
        plot_add(plot, name, at);
        if (kind->unit == UNIT_RATE && !kind->x_linear)
            add_peer(plot, point, x);
        if (kind->unit == UNIT_RATE && !kind->x_linear)
            add_host(plot, report, point, x);
        if (kind->limit)
            add_limit(plot, report, point, x);
    }
}

static void say_sentence(struct plot *plot, const struct kind *kind, const cJSON *row)
{
    if (isnan(batch_of(row)) && *text_of(row, "variant") && lines_measured(plot) > 1)
        say_each(plot, kind);
    else
        say_who_leads(plot, kind);
    if (kind->crosses)
        say_crossovers(plot);
    say_if_full(plot);
}

static void all_plots(const struct report *report, const struct kind *kind, plot_fn fn, void *arg)
{
    struct place *places = places_of(report, kind);
    int           number = 0;
    for (size_t i = 0; places && i < report->n_points; i++) {
        struct plot plot;
        char        file[64];
        if (!places[i].first)
            continue;
        name_plot(report, &places[i].group, kind, &plot);
        gather(report, places, i, kind, false, &plot); /* first, should there be no room for all */
        gather(report, places, i, kind, true, &plot);
        if (distinct_x(&plot) < 2)
            continue;
        say_sentence(&plot, kind, report->points[i].row);
        snprintf(file, sizeof file, "%s-%02d-%.32s", kind->file, ++number, places[i].group.workload);
        fn(arg, &plot, file);
    }
    free(places);
}

void plots_over_size(const struct report *report, plot_fn fn, void *arg)
{
    all_plots(report, &over_size, fn, arg);
}

void plots_over_batch(const struct report *report, plot_fn fn, void *arg)
{
    all_plots(report, &over_batch, fn, arg);
}

void plots_over_share(const struct report *report, plot_fn fn, void *arg)
{
    all_plots(report, &over_share, fn, arg);
}

void plots_over_call(const struct report *report, plot_fn fn, void *arg)
{
    all_plots(report, &over_call, fn, arg);
}

void plots_of_memory(const struct report *report, plot_fn fn, void *arg)
{
    all_plots(report, &memory_over_size, fn, arg);
}

/* ---- over the number of fills -------------------------------------------------------------------------------- */

/* A row's fills are a line: how queries go as updates make runs and a policy merges them. */
static void add_fills(struct plot *plot, const cJSON *row)
{
    const cJSON *fill = NULL;
    char         name[96];
    line_name(row, &over_batch, name, sizeof name);
    cJSON_ArrayForEach(fill, cJSON_GetObjectItemCaseSensitive(row, "fills"))
    {
        const double x = number_of(fill, "batches"), rate = number_of(fill, "rate");
        if (x > 0 && rate > 0 && !has_x(plot, name, x))
            plot_add(plot, name, (struct plot_point) { x, rate, NAN, NAN });
    }
}

static bool has_fills(const cJSON *row)
{
    return cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(row, "fills")) > 2;
}

void plots_over_fills(const struct report *report, plot_fn fn, void *arg)
{
    static const struct kind kind = { .file = "fills",
                                      .x_title = "batches stored before",
                                      .y_title = "operations a second",
                                      .of = " in ",
                                      .at = " batches",
                                      .one_count = true,
                                      .one_dist = true,
                                      .takes = has_fills,
                                      .x_of = count_of };
    struct place            *places = places_of(report, &kind);
    int                      number = 0;
    for (size_t i = 0; places && i < report->n_points; i++) {
        struct plot plot;
        char        file[64];
        if (!places[i].first)
            continue;
        name_plot(report, &places[i].group, &kind, &plot);
        for (size_t k = i; k < report->n_points; k++)
            if (places[k].taken && same_group(&places[i].group, &places[k].group))
                add_fills(&plot, report->points[k].row);
        if (distinct_x(&plot) < 3)
            continue;
        say_who_leads(&plot, &kind);
        say_if_full(&plot);
        snprintf(file, sizeof file, "%s-%02d-%.32s", kind.file, ++number, places[i].group.workload);
        fn(arg, &plot, file);
    }
    free(places);
}
