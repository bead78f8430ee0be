/* SPDX-License-Identifier: Apache-2.0 */
#include "panels.h"

#include "bench/common/json.h"
#include "bench/common/text.h"

#include <math.h>
#include <string.h>

/* The beginning of a row of a table: what was measured, of how many elements, on what. */
static void put_point(FILE *out, const struct report *report, const struct report_point *point)
{
    char label[160], count[TEXT_BYTES];
    report_label(point->row, label, sizeof label);
    fprintf(out, "<tr>");
    put_cell(out, "", label);
    put_cell(out, " class=\"n\"", text_count(count, (size_t) number_of(point->row, "count")));
    put_cell(out, "", text_of(report->devices[point->device].json, "name"));
}

/* ---- against the limits -------------------------------------------------------------------------------------- */

static double gathers_of(const struct report *report, int device)
{
    const cJSON *limits =
        cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(report->devices[device].json, "limits"), 0);
    return number_of(limits, "gathers_32_per_s");
}

/* A point's share of its limit, which `limit` names: of arrays the copy rate, from and to host memory the rates to the device and back,
 * of finds of 4-byte keys and values random reads of 32 bytes. NaN: none is known. */
static double share_of_limit(const struct report *report, const struct report_point *point, const char **limit)
{
    const cJSON *row = point->row;
    const double seconds = report_least_seconds(report, point->device, row, limit);
    const double gathers = gathers_of(report, point->device);
    const bool   find = text_is(row, "workload", "readrandom") || text_is(row, "workload", "lookup");
    if (seconds > 0)
        return point->rate * seconds / number_of(row, "operations");
    if (find && gathers > 0 && text_is(row, "dist", "uniform") && text_is(row, "key", "u32")) {
        *limit = "reads of 32 bytes at random";
        return point->rate / gathers;
    }
    return NAN;
}

/* Whether another size of the same is larger: the largest is shown. */
static bool is_largest(const struct report *report, const struct report_point *point)
{
    char label[160], other[160];
    report_label(point->row, label, sizeof label);
    for (size_t i = 0; i < report->n_points; i++) {
        const struct report_point *p = &report->points[i];
        if (p->device != point->device || !(number_of(p->row, "count") > number_of(point->row, "count")))
            continue;
        report_label(p->row, other, sizeof other);
        if (strcmp(label, other) == 0)
            return false;
    }
    return true;
}

void put_limits(FILE *out, const struct report *report)
{
    static const char *const titles[] = { "point", "size", "device", "limit", "share" };
    int                      rows = 0;
    fprintf(out, "<h2>Against the limits</h2>\n");
    for (size_t i = 0; i < report->n_points; i++) {
        const struct report_point *point = &report->points[i];
        const char                *limit = "";
        const double               share = share_of_limit(report, point, &limit);
        char                       text[TEXT_BYTES];
        if (isnan(share) || !is_largest(report, point))
            continue;
        if (rows++ == 0) {
            fprintf(out,
                    "<p class=\"q\">The bytes that must move at least, at the rate at which the device copies its "
                    "memory, are 100 %%; from and to host memory at the rates to the device and back, one after the "
                    "other; of searches a read of 32 bytes at a random place for each. What a cache "
                    "holds can be above, and so can a CPU that works in the host's arrays.</p>\n");
            put_head(out, titles, 5);
        }
        put_point(out, report, point);
        put_cell(out, "", limit);
        put_cell(out, " class=\"n\"", text_percent(text, share));
        fprintf(out, "</tr>\n");
    }
    fprintf(out, rows ? "</table></div>\n" : "<p class=\"q\">No file has limits of its device.</p>\n");
}

/* ---- the host's libraries ------------------------------------------------------------------------------------ */

/* Whether a row is of a peer's point, whatever its variant. */
static bool beside_peer(const cJSON *row, const cJSON *peer)
{
    static const char *const texts[] = { "workload", "key", "dist" };
    static const char *const numbers[] = { "device", "value_bytes", "count", "operations", "batch" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!text_is(row, texts[i], text_of(peer, texts[i])))
            return false;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const double x = number_of(row, numbers[i]), y = number_of(peer, numbers[i]);
        if (x != y && !(isnan(x) && isnan(y)))
            return false;
    }
    return text_is(row, "check", "ok");
}

/* The fastest of the file's rows beside a peer; NULL if there is none. */
static const cJSON *best_beside(const cJSON *file, const cJSON *peer)
{
    const cJSON *row = NULL, *best = NULL;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(file, "rows"))
    {
        if (beside_peer(row, peer) && (!best || number_of(row, "rate") > number_of(best, "rate")))
            best = row;
    }
    return best;
}

static void put_host_peer(FILE *out, const cJSON *file, const cJSON *peer)
{
    const cJSON *best = best_beside(file, peer);
    const double ratio = number_of(best, "rate") / number_of(peer, "rate");
    char         text[TEXT_BYTES];
    fprintf(out, "<tr>");
    put_cell(out, "", text_of(peer, "workload"));
    put_cell(out, " class=\"n\"", text_count(text, (size_t) number_of(peer, "count")));
    put_cell(out, "", text_of(peer, "name"));
    put_cell(out, "", text_of(peer, "version"));
    put_cell(out, "", text_of(peer, "call"));
    snprintf(text, sizeof text, "%.0f", number_of(peer, "threads"));
    put_cell(out, " class=\"n\"", text);
    put_cell(out, text_is(peer, "check", "ok") ? " class=\"n\"" : " class=\"n bad\"",
             text_is(peer, "check", "ok") ? text_rate(text, number_of(peer, "rate")) : text_of(peer, "check"));
    put_cell(out, "", text_of(best, "variant"));
    put_cell(out, " class=\"n\"", text_rate(text, number_of(best, "rate")));
    put_cell(out, ratio < 1 ? " class=\"n bad\"" : " class=\"n\"", text_ratio(text, ratio));
    fprintf(out, "</tr>\n");
}

void put_host_peers(FILE *out, const struct report *report)
{
    static const char *const titles[] = { "workload", "size",     "peer", "version", "its call",
                                          "threads",  "its rate", "ours", "rate",    "ours over it" };
    int                      rows = 0;
    for (int f = 0; f < report->n_files; f++) {
        const cJSON *peer = NULL;
        cJSON_ArrayForEach(peer, cJSON_GetObjectItemCaseSensitive(report->files[f], "peers"))
        {
            if (rows++ == 0) {
                fprintf(out, "<h2>Beside the host's libraries</h2>\n<p class=\"q\">On the processors of the same "
                             "machine, by <code>ordo-bench compare</code>; ours is the fastest on the device.</p>\n");
                put_head(out, titles, 10);
            }
            put_host_peer(out, report->files[f], peer);
        }
    }
    if (rows)
        fprintf(out, "</table></div>\n");
}

/* ---- old against new ----------------------------------------------------------------------------------------- */

static const char *revision_of(const struct report *report, int file)
{
    const char *revision = text_of(report->files[file], "revision");
    return *revision ? revision : "not recorded";
}

void put_changes(FILE *out, const struct report *report)
{
    static const char *const titles[] = { "point", "size", "device", "before", "now", "revisions", "new over old" };
    int                      rows = 0;
    fprintf(out, "<h2>Old against new</h2>\n");
    for (size_t i = 0; i < report->n_points; i++) {
        const struct report_point *point = &report->points[i];
        const double               ratio = point->rate / point->rate_before;
        char                       text[TEXT_BYTES];
        if (isnan(ratio) || strcmp(revision_of(report, point->file), revision_of(report, point->file_before)) == 0)
            continue;
        if (rows++ == 0) {
            fprintf(out, "<p class=\"q\">Points that files of two revisions have, the newest beside the one before it. "
                         "Machines and days differ too: <code>ordo-bench --against</code> compares two builds in "
                         "one.</p>\n<details><summary>all of them</summary>\n");
            put_head(out, titles, 7);
        }
        put_point(out, report, point);
        put_cell(out, " class=\"n\"", text_rate(text, point->rate_before));
        put_cell(out, " class=\"n\"", text_rate(text, point->rate));
        fprintf(out, "<td class=\"keep\">");
        put_text(out, revision_of(report, point->file_before));
        fprintf(out, ", ");
        put_text(out, revision_of(report, point->file));
        fprintf(out, "</td><td class=\"n %s\">%.2f</td></tr>\n",
                ratio < 0.8    ? "bad"
                : ratio < 0.95 ? "mid"
                               : "good",
                ratio);
    }
    fprintf(out, rows ? "</table></div></details>\n" : "<p class=\"q\">No point is in files of two revisions.</p>\n");
}

/* ---- the papers ---------------------------------------------------------------------------------------------- */

/* From one number to another, of which one may be left open. */
static void put_range(FILE *out, const cJSON *range)
{
    const cJSON *low = cJSON_GetArrayItem(range, 0), *high = cJSON_GetArrayItem(range, 1);
    if (cJSON_IsNumber(low) && cJSON_IsNumber(high))
        fprintf(out, "%.4g to %.4g", low->valuedouble, high->valuedouble);
    else if (cJSON_IsNumber(low))
        fprintf(out, "%.4g at least", low->valuedouble);
    else if (cJSON_IsNumber(high))
        fprintf(out, "%.4g at most", high->valuedouble);
    else
        fprintf(out, "-");
}

static void put_figure(FILE *out, const cJSON *figure)
{
    fprintf(out, "<td class=\"n\">");
    if (cJSON_IsNumber(figure))
        fprintf(out, "%.4g", figure->valuedouble);
    else if (cJSON_IsString(figure))
        put_text(out, figure->valuestring);
    else if (cJSON_IsArray(figure))
        put_range(out, figure);
    else
        fprintf(out, "-");
    fprintf(out, "</td>");
}

static const char *class_of(const char *verdict)
{
    return strcmp(verdict, "holds") == 0      ? " class=\"good\""
           : strcmp(verdict, "by less") == 0  ? " class=\"mid\""
           : strcmp(verdict, "does not") == 0 ? " class=\"bad\""
                                              : " class=\"q\"";
}

static void put_claims(FILE *out, const cJSON *paper)
{
    static const char *const titles[] = { "claim", "where", "verdict", "paper", "here", "why" };
    const cJSON             *claim = NULL;
    put_head(out, titles, 6);
    cJSON_ArrayForEach(claim, cJSON_GetObjectItemCaseSensitive(paper, "claims"))
    {
        fprintf(out, "<tr>");
        put_cell(out, "", text_of(claim, "says"));
        put_cell(out, "", text_of(claim, "where"));
        put_cell(out, class_of(text_of(claim, "verdict")), text_of(claim, "verdict"));
        put_figure(out, cJSON_GetObjectItemCaseSensitive(claim, "paper"));
        put_figure(out, cJSON_GetObjectItemCaseSensitive(claim, "here"));
        put_cell(out, "", text_of(claim, "why"));
        fprintf(out, "</tr>\n");
    }
    fprintf(out, "</table></div>\n");
}

static void put_experiment(FILE *out, const cJSON *experiment)
{
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(experiment, "rows"), *row = NULL, *cell = NULL;
    if (!cJSON_IsArray(rows) || !rows->child)
        return;
    fprintf(out, "<details><summary>");
    put_text(out, text_of(experiment, "title"));
    fprintf(out, ", ");
    put_text(out, text_of(experiment, "unit"));
    fprintf(out, " (");
    put_text(out, text_of(experiment, "where"));
    fprintf(out, "; sizes over %.0f)</summary><div class=\"wide\"><table><tr>", number_of(experiment, "scale"));
    cJSON_ArrayForEach(cell, rows->child)
    {
        fprintf(out, "<th>");
        put_text(out, cell->string);
        fprintf(out, "</th>");
    }
    fprintf(out, "</tr>\n");
    cJSON_ArrayForEach(row, rows)
    {
        fprintf(out, "<tr>");
        cJSON_ArrayForEach(cell, row) put_figure(out, cell);
        fprintf(out, "</tr>\n");
    }
    fprintf(out, "</table></div></details>\n");
}

static int claims_with(const cJSON *paper, const char *verdict)
{
    const cJSON *claim = NULL;
    int          n = 0;
    cJSON_ArrayForEach(claim, cJSON_GetObjectItemCaseSensitive(paper, "claims")) n +=
        text_is(claim, "verdict", verdict);
    return n;
}

static void put_paper(FILE *out, const cJSON *file, const cJSON *paper)
{
    const cJSON *device = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(file, "devices"),
                                             (int) fmax(0, number_of(paper, "device")));
    const cJSON *experiment = NULL;
    fprintf(out, "<h3>");
    put_text(out, text_of(paper, "paper"));
    fprintf(out, "</h3>\n<p>Published of ");
    put_text(out, text_of(paper, "measured_on"));
    fprintf(out, "; here: ");
    put_text(out, text_of(device, "name"));
    fprintf(out,
            ", %s. Of its claims %d hold, %d by less, %d do not, %d cannot be asked. A claim that does not hold is a "
            "finding, not a failure.</p>\n",
            is_true(paper, "full") ? "the paper's sizes" : "sizes and batches divided alike",
            claims_with(paper, "holds"), claims_with(paper, "by less"), claims_with(paper, "does not"),
            claims_with(paper, "cannot be asked"));
    put_claims(out, paper);
    cJSON_ArrayForEach(experiment, cJSON_GetObjectItemCaseSensitive(paper, "experiments"))
        put_experiment(out, experiment);
}

void put_papers(FILE *out, const struct report *report)
{
    bool any = false;
    fprintf(out, "<h2>The papers, measured again</h2>\n");
    for (int f = 0; f < report->n_files; f++) {
        const cJSON *paper = NULL;
        cJSON_ArrayForEach(paper, cJSON_GetObjectItemCaseSensitive(report->files[f], "papers"))
        {
            put_paper(out, report->files[f], paper);
            any = true;
        }
    }
    if (!any)
        fprintf(out, "<p class=\"q\">No file is of <code>ordo-bench paper</code>.</p>\n");
}

/* What a row of an experiment lies along: its largest axis of numbers. */
static const char *axis_of(const cJSON *row)
{
    static const char *const axes[] = { "n", "batch", "r", "key_range", "width", "levels" };
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++)
        if (number_of(row, axes[i]) > 0)
            return axes[i];
    return NULL;
}

/* "lsm, 50 hit_percent, max": the cells that are not along the axis. */
static void name_line(const cJSON *row, const char *axis, const char *whose, char *name, size_t bytes)
{
    const cJSON *cell = NULL;
    size_t       used = 0;
    *name = 0;
    cJSON_ArrayForEach(cell, row)
    {
        if (used >= bytes || strcmp(cell->string, axis) == 0 || strcmp(cell->string, "paper") == 0 ||
            strcmp(cell->string, "here") == 0)
            continue;
        if (cJSON_IsString(cell))
            used += (size_t) snprintf(name + used, bytes - used, "%s%.40s", used ? ", " : "", cell->valuestring);
        else if (cJSON_IsNumber(cell))
            used += (size_t) snprintf(name + used, bytes - used, "%s%g %.24s", used ? ", " : "", cell->valuedouble,
                                      cell->string);
    }
    if (used < bytes)
        snprintf(name + used, bytes - used, ": %s", whose);
}

static void plot_experiment(const cJSON *paper, const cJSON *experiment, struct plot *plot)
{
    static const char *const whose[] = { "paper", "here" };
    const cJSON             *row = NULL;
    *plot = (struct plot) { .unit = UNIT_PLAIN };
    snprintf(plot->title, sizeof plot->title, "%s: %.100s", text_of(paper, "id"), text_of(experiment, "title"));
    snprintf(plot->y_title, sizeof plot->y_title, "%s", text_of(experiment, "unit"));
    snprintf(plot->sentence, sizeof plot->sentence, "%s; sizes here are those of the paper over %.0f.",
             text_of(experiment, "where"), number_of(experiment, "scale"));
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(experiment, "rows"))
    {
        const char *axis = axis_of(row);
        char        name[96];
        if (!axis)
            continue;
        snprintf(plot->x_title, sizeof plot->x_title, "%s", axis);
        for (int w = 0; w < 2; w++) {
            name_line(row, axis, whose[w], name, sizeof name);
            if (number_of(row, whose[w]) > 0)
                plot_add(plot, name, (struct plot_point) { number_of(row, axis), number_of(row, whose[w]), NAN, NAN });
        }
    }
}

/* Worth drawing: a line of the paper and one measured, of two points or more. */
static bool has_both(const struct plot *plot)
{
    int of_paper = 0, here = 0;
    for (int l = 0; l < plot->n; l++) {
        const char  *name = plot->lines[l].name;
        const size_t length = strlen(name);
        if (plot->lines[l].n < 2)
            continue;
        of_paper += length > 5 && strcmp(name + length - 5, "paper") == 0;
        here += length > 4 && strcmp(name + length - 4, "here") == 0;
    }
    return of_paper && here;
}

void plots_of_papers(const struct report *report, plot_fn fn, void *arg)
{
    int number = 0;
    for (int f = 0; f < report->n_files; f++) {
        const cJSON *paper = NULL, *experiment = NULL;
        cJSON_ArrayForEach(paper, cJSON_GetObjectItemCaseSensitive(report->files[f], "papers"))
        {
            cJSON_ArrayForEach(experiment, cJSON_GetObjectItemCaseSensitive(paper, "experiments"))
            {
                struct plot plot;
                char        file[64];
                plot_experiment(paper, experiment, &plot);
                if (!has_both(&plot))
                    continue;
                snprintf(file, sizeof file, "paper-%02d-%.32s", ++number, text_of(experiment, "id"));
                fn(arg, &plot, file);
            }
        }
    }
}
