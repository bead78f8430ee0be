/* SPDX-License-Identifier: Apache-2.0 */
#include "plots.h"

#include "bench/common/json.h"
#include "bench/common/text.h"

#include <math.h>
#include <string.h>

/* The points of a plot agree in these; of a line also in the variant. */
struct group {
    int         device;
    const char *workload, *key;
    double      value_bytes, count; /* count: over the batch only, else 0 */
};

static bool is_uniform(const cJSON *row)
{
    return text_is(row, "dist", "uniform") || text_is(row, "workload", "fillseq");
}

static struct group group_of(const struct report_point *point, bool over_batch)
{
    return (struct group) { point->device, text_of(point->row, "workload"), text_of(point->row, "key"),
                            number_of(point->row, "value_bytes"), over_batch ? number_of(point->row, "count") : 0 };
}

static bool same_group(const struct group *a, const struct group *b)
{
    return a->device == b->device && strcmp(a->workload, b->workload) == 0 && strcmp(a->key, b->key) == 0 &&
           a->value_bytes == b->value_bytes && a->count == b->count;
}

/* Whether an earlier point began the group. */
static bool is_first(const struct report *report, size_t i, bool over_batch)
{
    const struct group group = group_of(&report->points[i], over_batch);
    for (size_t k = 0; k < i; k++) {
        const struct group other = group_of(&report->points[k], over_batch);
        if (is_uniform(report->points[k].row) && same_group(&group, &other))
            return false;
    }
    return true;
}

static struct plot_point place_of(const struct report_point *point, double x)
{
    const cJSON *wall = cJSON_GetObjectItemCaseSensitive(point->row, "wall_s");
    const double operations = number_of(point->row, "operations");
    return (struct plot_point) { x, point->rate, operations / number_of(wall, "p90"),
                                 operations / number_of(wall, "p10") };
}

/* What tells a line's points from others' of the variant: how many operations a batch or call has, and their mix. */
static void line_name(const cJSON *row, bool over_batch, char *name, size_t bytes)
{
    char         text[TEXT_BYTES];
    const double batch = number_of(row, "batch"), updates = number_of(row, "update_percent");
    size_t     used = (size_t) snprintf(name, bytes, "%s", *text_of(row, "variant") ? text_of(row, "variant") : "Ordo");
    const bool one_batch = text_is(row, "workload", "insertrandom") || text_is(row, "workload", "concurrentinsert") ||
                           text_is(row, "workload", "concurrentmix");
    if (!over_batch && one_batch && used < bytes)
        used += (size_t) snprintf(name + used, bytes - used, ", 2^%.0f", log2(batch));
    if (number_of(row, "most_fills") >= 0 && number_of(row, "operations") < 65536 && used < bytes)
        used += (size_t) snprintf(name + used, bytes - used, ", calls of %s",
                                  text_count(text, (size_t) number_of(row, "operations")));
    if (updates >= 0 && used < bytes)
        snprintf(name + used, bytes - used, ", %.0f %% updates", updates);
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
    const cJSON *peer = cJSON_GetObjectItemCaseSensitive(point->row, "peer");
    char         name[96];
    if (!(number_of(peer, "rate") > 0))
        return;
    snprintf(name, sizeof name, "%s%s%s", text_of(peer, "name"), *text_of(point->row, "variant") ? ": " : "",
             text_of(point->row, "variant"));
    plot_add(plot, name, (struct plot_point) { x, number_of(peer, "rate"), NAN, NAN });
}

/* "At 2^24: lsm leads with 5.1 G a second, 2.3 times sorted_array." Of the largest x that two lines have. */
static void say_who_leads(struct plot *plot, const char *unit)
{
    const struct plot_line *first = NULL, *second = NULL;
    double                  at = 0, best = 0, next = 0;
    char                    x[TEXT_BYTES], rate[TEXT_BYTES];
    for (int l = 0; l < plot->n; l++)
        if (!plot->lines[l].limit && plot->lines[l].n)
            at = fmax(at, plot->lines[l].points[plot->lines[l].n - 1].x);
    for (int l = 0; l < plot->n; l++) {
        const struct plot_line *line = &plot->lines[l];
        if (line->limit || !line->n || line->points[line->n - 1].x != at)
            continue;
        const double y = line->points[line->n - 1].y;
        if (y > best) {
            second = first;
            next = best;
            first = line;
            best = y;
        } else if (y > next) {
            second = line;
            next = y;
        }
    }
    if (first && second)
        snprintf(plot->sentence, sizeof plot->sentence, "At %s%s: %s leads with %s a second, %.2g times %s.",
                 text_count(x, (size_t) at), unit, first->name, text_rate(rate, best), best / next, second->name);
    else if (first)
        snprintf(plot->sentence, sizeof plot->sentence, "At %s%s: %s a second.", text_count(x, (size_t) at), unit,
                 text_rate(rate, best));
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

/* All points of the group that point i begins. */
static void gather(const struct report *report, size_t i, bool over_batch, struct plot *plot)
{
    const struct group group = group_of(&report->points[i], over_batch);
    const char        *device = text_of(report->devices[group.device].json, "name");
    char               count[TEXT_BYTES];
    *plot = (struct plot) { .n = 0 };
    snprintf(plot->title, sizeof plot->title, "%s %s+%.0f%s%s, %.80s", group.workload, group.key, group.value_bytes,
             over_batch ? " into " : "", over_batch ? text_count(count, (size_t) group.count) : "", device);
    snprintf(plot->x_title, sizeof plot->x_title, over_batch ? "elements of a batch" : "elements");
    snprintf(plot->y_title, sizeof plot->y_title, "operations a second");
    for (size_t k = i; k < report->n_points; k++) {
        const struct report_point *point = &report->points[k];
        const struct group         other = group_of(point, over_batch);
        const double               x = number_of(point->row, over_batch ? "batch" : "count");
        char                       name[96];
        if (!is_uniform(point->row) || !same_group(&group, &other) || !(x > 0))
            continue;
        line_name(point->row, over_batch, name, sizeof name);
        if (has_x(plot, name, x)) /* other axes differ, such as the batch: the first is shown */
            continue;
        plot_add(plot, name, place_of(point, x));
        add_peer(plot, point, x);
        if (!over_batch)
            add_limit(plot, point, x, report->devices[group.device].copy);
    }
}

static void all_plots(const struct report *report, bool over_batch, plot_fn fn, void *arg)
{
    int number = 0;
    for (size_t i = 0; i < report->n_points; i++) {
        const cJSON *row = report->points[i].row;
        struct plot  plot;
        char         file[64];
        if (!is_uniform(row) || (over_batch && isnan(number_of(row, "batch"))) || !is_first(report, i, over_batch))
            continue;
        gather(report, i, over_batch, &plot);
        if (distinct_x(&plot) < 2)
            continue;
        say_who_leads(&plot, over_batch ? " a batch" : "");
        if (over_batch)
            say_crossovers(&plot);
        snprintf(file, sizeof file, "%s-%02d-%.32s", over_batch ? "batch" : "size", ++number, text_of(row, "workload"));
        fn(arg, &plot, file);
    }
}

void plots_over_size(const struct report *report, plot_fn fn, void *arg)
{
    all_plots(report, false, fn, arg);
}

void plots_over_batch(const struct report *report, plot_fn fn, void *arg)
{
    all_plots(report, true, fn, arg);
}
