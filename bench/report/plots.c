/* SPDX-License-Identifier: Apache-2.0 */
#include "plots.h"

#include "bench/common/json.h"
#include "bench/common/text.h"

#include <math.h>
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
    bool           crosses;   /* who comes to lead over whom, and where */
    bool           limit;
    bool (*takes)(const cJSON *row);
    double (*x_of)(const cJSON *row);
    struct plot_point (*point_of)(const struct report_point *point, double x);
};

/* The points of a plot agree in these; of a line also in its name. */
struct group {
    int         device;
    const char *workload, *key;
    double      value_bytes, count; /* count: where it is not along the axis, else 0 */
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

static bool takes(const struct kind *kind, const cJSON *row)
{
    const double x = kind->x_of(row);
    return (!kind->one_dist || is_uniform(row)) && kind->takes(row) && (kind->x_linear ? x >= 0 : x > 0);
}

static struct group group_of(const struct report_point *point, const struct kind *kind)
{
    return (struct group) { point->device, point->workload, point->key, point->value_bytes,
                            kind->one_count ? point->count : 0 };
}

static bool same_group(const struct group *a, const struct group *b)
{
    return a->device == b->device && strcmp(a->workload, b->workload) == 0 && strcmp(a->key, b->key) == 0 &&
           a->value_bytes == b->value_bytes && a->count == b->count;
}

/* Whether an earlier point began the group. */
static bool is_first(const struct report *report, size_t i, const struct kind *kind)
{
    const struct group group = group_of(&report->points[i], kind);
    for (size_t k = 0; k < i; k++) {
        const struct group other = group_of(&report->points[k], kind);
        if (same_group(&group, &other) && takes(kind, report->points[k].row))
            return false;
    }
    return true;
}

/* ---- lines --------------------------------------------------------------------------------------------------- */

static size_t add_text(char *name, size_t used, size_t bytes, const char *format, const char *text)
{
    return used < bytes ? used + (size_t) snprintf(name + used, bytes - used, format, text) : used;
}

/* What tells a line's points from others' of the variant, and is not along the axis: how many operations a batch or call has, their
 * mix, how many keys are there, how they are drawn. */
static void line_name(const cJSON *row, const struct kind *kind, char *name, size_t bytes)
{
    static const char *const of_a_batch[] = { "insertrandom", "concurrentinsert", "concurrentmix", NULL };
    char                     text[TEXT_BYTES];
    bool                     one_batch = false;
    for (int i = 0; of_a_batch[i]; i++)
        one_batch |= text_is(row, "workload", of_a_batch[i]);
    size_t used = (size_t) snprintf(name, bytes, "%s", *text_of(row, "variant") ? text_of(row, "variant") : "Ordo");
    if (kind == &memory_over_size)
        return;
    if (kind->x_of == count_of || kind->x_of == share_of)
        if (one_batch)
            used = add_text(name, used, bytes, ", %s", text_count(text, (size_t) batch_of(row)));
    if (kind->x_of != operations_of && number_of(row, "most_fills") >= 0 && operations_of(row) < 65536)
        used = add_text(name, used, bytes, ", calls of %s", text_count(text, (size_t) operations_of(row)));
    if (kind->x_of != share_of && share_of(row) >= 0) {
        snprintf(text, sizeof text, "%.0f", share_of(row));
        used = add_text(name, used, bytes, ", %s %% updates", text);
    }
    if (kind->x_of == operations_of && number_of(row, "hit_percent") >= 0) {
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

/* The copy rate, over the bytes that an operation must move. */
static void add_limit(struct plot *plot, const struct report_point *point, double x, double copy)
{
    static const char name[] = "copy rate";
    const double      bytes = number_of(point->row, "bytes_counted"), operations = number_of(point->row, "operations");
    if (!(bytes > 0) || !(copy > 0) || has_x(plot, name, x))
        return;
    plot_add(plot, name, (struct plot_point) { x, copy * operations / bytes, NAN, NAN });
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

/* "At 2^24: lsm leads with 5.1 G a second, 2.3 times sorted_array." Of the largest x that two lines have. Of times and bytes the
 * least leads. */
static void say_who_leads(struct plot *plot, const struct kind *kind)
{
    const struct plot_line *first = NULL, *second = NULL;
    const bool              less = plot->unit != UNIT_RATE;
    const char             *unit = plot->unit == UNIT_RATE ? " a second" : plot->unit == UNIT_PLAIN ? " bytes" : "";
    double                  at = 0, best = NAN, next = NAN;
    char                    x[TEXT_BYTES], figure[TEXT_BYTES];
    for (int l = 0; l < plot->n; l++)
        if (!plot->lines[l].limit && plot->lines[l].n)
            at = fmax(at, plot->lines[l].points[plot->lines[l].n - 1].x);
    for (int l = 0; l < plot->n; l++) {
        const struct plot_line *line = &plot->lines[l];
        if (line->limit || !line->n || line->points[line->n - 1].x != at)
            continue;
        const double y = line->points[line->n - 1].y;
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
    if (first && second && less)
        snprintf(plot->sentence, sizeof plot->sentence, "At %s%s: %s takes least, %s%s; %s takes %.2g times as much.",
                 x, kind->at, first->name, figure, unit, second->name, next / best);
    else if (first && second)
        snprintf(plot->sentence, sizeof plot->sentence, "At %s%s: %s leads with %s%s, %.2g times %s.", x, kind->at,
                 first->name, figure, unit, best / next, second->name);
    else if (first)
        snprintf(plot->sentence, sizeof plot->sentence, "At %s%s: %s%s.", x, kind->at, figure, unit);
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

/* ---- plots --------------------------------------------------------------------------------------------------- */

static void name_plot(const struct report *report, const struct group *group, const struct kind *kind,
                      struct plot *plot)
{
    const char *device = text_of(report->devices[group->device].json, "name");
    char        count[TEXT_BYTES];
    *plot = (struct plot) { .unit = kind->unit, .x_linear = kind->x_linear, .y_linear = kind->y_linear };
    snprintf(plot->title, sizeof plot->title, "%s %s+%.0f%s%s, %.80s", group->workload, group->key, group->value_bytes,
             kind->of, kind->one_count ? text_count(count, (size_t) group->count) : "", device);
    snprintf(plot->x_title, sizeof plot->x_title, "%s", kind->x_title);
    snprintf(plot->y_title, sizeof plot->y_title, "%s", kind->y_title);
}

/* All points of the group that point i begins. Where other axes differ, such as the batch, the first is shown. */
static void gather(const struct report *report, size_t i, const struct kind *kind, struct plot *plot)
{
    const struct group group = group_of(&report->points[i], kind);
    name_plot(report, &group, kind, plot);
    for (size_t k = i; k < report->n_points; k++) {
        const struct report_point *point = &report->points[k];
        const struct group         other = group_of(point, kind);
        char                       name[96];
        if (!same_group(&group, &other) || !takes(kind, point->row))
            continue;
        const double            x = kind->x_of(point->row);
        const struct plot_point place = kind->point_of(point, x);
        line_name(point->row, kind, name, sizeof name);
        if (has_x(plot, name, x) || !(place.y > 0))
            continue;
        plot_add(plot, name, place);
        if (kind->unit == UNIT_RATE && !kind->x_linear)
            add_peer(plot, point, x);
        if (kind->unit == UNIT_RATE && !kind->x_linear)
            add_host(plot, report, point, x);
        if (kind->limit)
            add_limit(plot, point, x, report->devices[group.device].copy);
    }
}

static void all_plots(const struct report *report, const struct kind *kind, plot_fn fn, void *arg)
{
    int number = 0;
    for (size_t i = 0; i < report->n_points; i++) {
        const cJSON *row = report->points[i].row;
        struct plot  plot;
        char         file[64];
        if (!takes(kind, row) || !is_first(report, i, kind))
            continue;
        gather(report, i, kind, &plot);
        if (distinct_x(&plot) < 2)
            continue;
        say_who_leads(&plot, kind);
        if (kind->crosses)
            say_crossovers(&plot);
        snprintf(file, sizeof file, "%s-%02d-%.32s", kind->file, ++number, text_of(row, "workload"));
        fn(arg, &plot, file);
    }
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
    int                      number = 0;
    for (size_t i = 0; i < report->n_points; i++) {
        const struct group group = group_of(&report->points[i], &kind);
        struct plot        plot;
        char               file[64];
        if (!takes(&kind, report->points[i].row) || !is_first(report, i, &kind))
            continue;
        name_plot(report, &group, &kind, &plot);
        for (size_t k = i; k < report->n_points; k++) {
            const struct group other = group_of(&report->points[k], &kind);
            if (same_group(&group, &other) && takes(&kind, report->points[k].row))
                add_fills(&plot, report->points[k].row);
        }
        if (distinct_x(&plot) < 3)
            continue;
        say_who_leads(&plot, &kind);
        snprintf(file, sizeof file, "%s-%02d-%.32s", kind.file, ++number, group.workload);
        fn(arg, &plot, file);
    }
}
