/* SPDX-License-Identifier: Apache-2.0 */
#include "page.h"

#include "bench/common/json.h"
#include "bench/common/text.h"
#include "panels.h"
#include "plots.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Colours keep a contrast of 4.5:1 (text) and 3:1 (marks) to the ground, in the light and in the dark. */
static const char style[] =
    ":root{--g:#fff;--t:#1a1a1a;--q:#595959;--r:#d9d9d9;--bad:#b3001b;--badg:#fde8ea;--mid:#fff3d6;--good:#e2f4e8;"
    "--c0:#0063a5;--c1:#c04a00;--c2:#007a55;--c3:#9a3f80;--c4:#7a6200;--c5:#4d4d4d;--c6:#6b4fc9;--c7:#b3001b}\n"
    "@media(prefers-color-scheme:dark){:root{--g:#16181c;--t:#ececec;--q:#b0b0b0;--r:#43474e;--bad:#ff8a96;--badg:#"
    "4a1a20;"
    "--mid:#4a3c12;--good:#173c26;--c0:#62b5f5;--c1:#f29a4a;--c2:#3cc997;--c3:#e594ca;--c4:#e3c94b;--c5:#c4c4c4;"
    "--c6:#b09cff;--c7:#ff8a96}}\n"
    "body{background:var(--g);color:var(--t);font:15px/1.45 system-ui,sans-serif;margin:0 "
    "auto;max-width:1100px;padding:12px}\n"
    "h1{font-size:1.5em}h2{font-size:1.2em;margin-top:1.8em}h3{font-size:1em;margin:.6em 0 .2em}.q{color:var(--q)}\n"
    "table{border-collapse:collapse;font-size:13px}td,th{border-bottom:1px solid var(--r);padding:3px "
    "8px;text-align:left;"
    "vertical-align:top}td.n,th.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}\n"
    ".wide{overflow-x:auto;max-width:100%}.alarm{background:var(--badg);color:var(--bad);border:2px solid var(--bad);"
    "padding:8px "
    "12px;font-weight:bold}.bad{background:var(--badg)}.mid{background:var(--mid)}.good{background:var(--good)}\n"
    ".plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,480px),1fr));gap:12px}.plot{min-width:0}"
    "\n"
    "code{overflow-wrap:anywhere}.keep{overflow-wrap:anywhere}\n"
    "svg{width:100%;height:auto}svg text{fill:var(--t);font:13px "
    "system-ui,sans-serif}.grid{stroke:var(--r);stroke-width:1}\n"
    ".l,.w{fill:none;stroke-width:2}.w{stroke-width:1}.m{stroke-width:2}.limit{stroke-width:1.5;stroke-dasharray:2 5}\n"
    ".c0{stroke:var(--c0)}.c1{stroke:var(--c1);stroke-dasharray:9 3}.c2{stroke:var(--c2);stroke-dasharray:3 3}"
    ".c3{stroke:var(--c3);stroke-dasharray:12 3 3 3}.c4{stroke:var(--c4);stroke-dasharray:6 6}.c5{stroke:var(--c5)}"
    ".c6{stroke:var(--c6);stroke-dasharray:9 3}.c7{stroke:var(--c7);stroke-dasharray:3 3 9 3}"
    ".c8{stroke:var(--c0);stroke-dasharray:6 6}.c9{stroke:var(--c1);stroke-dasharray:1 4}"
    ".c10{stroke:var(--c2);stroke-dasharray:9 3}.c11{stroke:var(--c3)}.c12{stroke:var(--c4);stroke-dasharray:3 3}"
    ".c13{stroke:var(--c5);stroke-dasharray:9 3}\n"
    ".m,.w{stroke-dasharray:none}.m{fill:var(--g)}marker{overflow:visible}\n"
    ".c0.l{marker:url(#m0)}.c1.l{marker:url(#m1)}.c2.l{marker:url(#m2)}.c3.l{marker:url(#m3)}"
    ".c4.l{marker:url(#m4)}.c5.l{marker:url(#m5)}.c6.l{marker:url(#m6)}.c7.l{marker:url(#m7)}"
    ".c8.l{marker:url(#m8)}.c9.l{marker:url(#m9)}.c10.l{marker:url(#m10)}.c11.l{marker:url(#m11)}"
    ".c12.l{marker:url(#m12)}.c13.l{marker:url(#m13)}"
    ".l.k{marker-start:none;marker-end:none}.l.limit{marker:none}\n"
    ".rows td{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}"
    ".rows td:first-child,.rows td:last-child{text-align:left}\n"
    "@media print{:root{--g:#fff;--t:#000;--r:#ccc}details{display:none}.plot{break-inside:avoid}\n"
    "body{font-size:10px;max-width:none;padding:0}table{font-size:8px}td,th{padding:1px 4px}h2{margin-top:1em}\n"
    "h3{font-size:9px}.plots{grid-template-columns:repeat(4,1fr)}.files{display:none}}\n";

/* ---- words --------------------------------------------------------------------------------------------------- */

static const char *device_name(const struct report *report, int device)
{
    return text_of(report->devices[device].json, "name");
}

/* ---- the first screen ---------------------------------------------------------------------------------------- */

/* The row's rate over its peer's; NaN without one. *name: the peer. */
static double peer_ratio(const struct report_point *point, const char **name)
{
    static const char *const hosts[] = { "flat_hash_map", "robin_map", "btree",  "radix", "merge",
                                         "loop",          "binary",    "s-tree", "table", "heap" };
    const cJSON             *peer = report_peer(point->row);
    const cJSON             *host = cJSON_GetObjectItemCaseSensitive(point->row, "host_rates");
    *name = text_of(peer, "name");
    if (number_of(peer, "rate") > 0)
        return point->rate / number_of(peer, "rate");
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        if (number_of(host, hosts[i]) > 0) {
            *name = hosts[i];
            return point->rate / number_of(host, hosts[i]);
        }
    return NAN;
}

static void put_peers_sentence(FILE *out, const struct report *report)
{
    size_t                     with = 0, behind = 0;
    const struct report_point *worst = NULL;
    const char                *name = "", *worst_name = "";
    double                     least = INFINITY;
    char                       label[160], count[TEXT_BYTES];
    for (size_t i = 0; i < report->n_points; i++) {
        const double ratio = peer_ratio(&report->points[i], &name);
        with += !isnan(ratio);
        behind += ratio < 1;
        if (ratio < least) {
            least = ratio;
            worst = &report->points[i];
            worst_name = name;
        }
    }
    if (!worst) {
        fprintf(out, "<p>Nothing was measured beside a peer.</p>\n");
        return;
    }
    report_label(worst->row, label, sizeof label);
    fprintf(out,
            "<p>Of %zu points with a peer (another library on the device, or plain code on one thread of the host) the "
            "peer "
            "is ahead in %zu. Farthest behind: %.2g of %s in ",
            with, behind, least, worst_name);
    put_text(out, label);
    fprintf(out, " of %s on ", text_count(count, (size_t) number_of(worst->row, "count")));
    put_text(out, device_name(report, worst->device));
    fprintf(out, ".</p>\n");
}

static void put_alarms(FILE *out, const struct report *report)
{
    if (report->wrong)
        fprintf(out, "<p class=\"alarm\">WRONG: %zu rows gave a wrong result.</p>\n", report->wrong);
    if (report->failed)
        fprintf(out, "<p class=\"alarm\">%zu rows failed.</p>\n", report->failed);
}

static void put_devices(FILE *out, const struct report *report)
{
    static const char *const titles[] = { "device", "platform", "driver", "copies, GB/s", "points" };
    char                     copy[TEXT_BYTES];
    fprintf(out, "<h2>Devices</h2>\n");
    put_head(out, titles, 5);
    for (int d = 0; d < report->n_devices; d++) {
        const cJSON *json = report->devices[d].json;
        fprintf(out, "<tr>");
        put_cell(out, "", text_of(json, "name"));
        put_cell(out, "", text_of(json, "platform"));
        put_cell(out, "", text_of(json, "driver"));
        put_cell(out, " class=\"n\"",
                 isnan(report->devices[d].copy) ? "not measured" : text_giga(copy, report->devices[d].copy));
        fprintf(out, "<td class=\"n\">%d</td></tr>\n", report->devices[d].points);
    }
    fprintf(out, "</table></div>\n");
}

/* ---- side by side -------------------------------------------------------------------------------------------- */

struct task {
    const char *text, *workload, *variant;
    double      value_bytes;
};
static const struct task tasks[] = {
    { "sort", "sort", "", 4 },
    { "merge", "merge", "", 4 },
    { "prefix sums", "scan", "", 0 },
    { "lower bound, by an index", "search", "random+index", 0 },
    { "find in an array, by an index", "lookup", "random+index", 4 },
    { "fill an LSM", "fillrandom", "lsm", 4 },
    { "fill a B-link tree", "fillrandom", "blink", 4 },
    { "find by an LSM", "readrandom", "lsm", 4 },
    { "find by a B-link tree", "readrandom", "blink", 4 },
    { "ranges by an LSM", "rangerandom", "lsm", 4 },
    { "fill a B-link tree concurrently", "concurrentfill", "blink", 4 },
};

/* The point of the largest size; of these the fastest, as over batches. NULL: not measured. */
static const struct report_point *point_of_task(const struct report *report, const struct task *task, int device)
{
    const struct report_point *best = NULL;
    for (size_t i = 0; i < report->n_points; i++) {
        const struct report_point *point = &report->points[i];
        if (point->device != device || !text_is(point->row, "workload", task->workload) ||
            !text_is(point->row, "variant", task->variant) || !text_is(point->row, "key", "u32") ||
            !text_is(point->row, "dist", "uniform") || number_of(point->row, "value_bytes") != task->value_bytes)
            continue;
        const double here = number_of(point->row, "count"), there = best ? number_of(best->row, "count") : 0;
        if (here > there || (here == there && point->rate > best->rate))
            best = point;
    }
    return best;
}

static void put_task_cell(FILE *out, const struct report *report, const struct task *task, int device)
{
    const struct report_point *point = point_of_task(report, task, device);
    const double               copy = report->devices[device].copy;
    char                       rate[TEXT_BYTES], count[TEXT_BYTES], each[TEXT_BYTES];
    if (!point) {
        fprintf(out, "<td class=\"q\">not measured</td>");
        return;
    }
    fprintf(out, "<td>%s <span class=\"q\">at %s", text_rate(rate, point->rate),
            text_count(count, (size_t) number_of(point->row, "count")));
    if (copy > 0)
        fprintf(out, "; %s per GB/s", text_rate(each, point->rate / (copy * 1e-9)));
    fprintf(out, "</span></td>");
}

static void put_side_by_side(FILE *out, const struct report *report)
{
    fprintf(out, "<h2>Side by side</h2>\n<p class=\"q\">Operations a second, u32 keys with u32 values where there are "
                 "any, uniformly "
                 "drawn, at the largest size measured; and over the rate at which the device copies its memory.</p>\n"
                 "<div class=\"wide\"><table>\n<tr><th>task</th>");
    for (int d = 0; d < report->n_devices; d++) {
        fprintf(out, "<th>");
        put_text(out, device_name(report, d));
        fprintf(out, "</th>");
    }
    fprintf(out, "</tr>\n");
    for (size_t t = 0; t < sizeof tasks / sizeof *tasks; t++) {
        fprintf(out, "<tr><td>%s</td>", tasks[t].text);
        for (int d = 0; d < report->n_devices; d++)
            put_task_cell(out, report, &tasks[t], d);
        fprintf(out, "</tr>\n");
    }
    fprintf(out, "</table></div>\n");
}

/* ---- against peers ------------------------------------------------------------------------------------------- */

static void put_peers(FILE *out, const struct report *report)
{
    static const char *const titles[] = { "point", "size", "device", "peer", "rate over the peer's" };
    fprintf(out, "<h2>Against peers</h2>\n<p class=\"q\">btree is absl::btree_map, flat_hash_map Abseil's too, "
                 "robin_map tsl::robin_map; radix, "
                 "merge, loop and binary are "
                 "plain host code; "
                 "both on the machine that ran the tool.</p>\n<details><summary>all points with a peer</summary>\n");
    put_head(out, titles, 5);
    for (size_t i = 0; i < report->n_points; i++) {
        const struct report_point *point = &report->points[i];
        const char                *name;
        const double               ratio = peer_ratio(point, &name);
        char                       label[160], count[TEXT_BYTES];
        if (isnan(ratio))
            continue;
        report_label(point->row, label, sizeof label);
        fprintf(out, "<tr>");
        put_cell(out, "", label);
        put_cell(out, " class=\"n\"", text_count(count, (size_t) number_of(point->row, "count")));
        put_cell(out, "", device_name(report, point->device));
        put_cell(out, "", name);
        fprintf(out, "<td class=\"n %s\">%.2f</td></tr>\n", ratio < 0.8 ? "bad" : ratio < 1 ? "mid" : "good", ratio);
    }
    fprintf(out, "</table></div></details>\n");
}

/* ---- plots --------------------------------------------------------------------------------------------------- */

struct page {
    FILE *out;
    int   plots;
};

static void put_plot(void *page_, const struct plot *plot, const char *file)
{
    struct page *page = page_;
    (void) file;
    fprintf(page->out, "<div class=\"plot\"><h3>");
    put_text(page->out, plot->title);
    fprintf(page->out, "</h3>\n");
    plot_draw(page->out, plot, page->plots, page->plots == 0);
    page->plots++;
    fprintf(page->out, "<p>");
    put_text(page->out, plot->sentence);
    fprintf(page->out, "</p>");
    plot_table(page->out, plot);
    fprintf(page->out, "</div>\n");
}

typedef void (*plots_fn)(const struct report *report, plot_fn fn, void *arg);

static const struct section {
    const char *title, *text;
    plots_fn    plots;
} sections[] = {
    { "Rates over size",
      "Whiskers go from the 10th to the 90th percentile of repetitions. Points of one plot are of calls of one kind: "
      "as "
      "many batches, or as many queries at a time.",
      plots_over_size },
    { "Updates over the batch", "Larger batches cost less an element; structures come to lead at different ones.",
      plots_over_batch },
    { "Operations side by side, over the share of updates", "Queries are the rest.", plots_over_share },
    { "Queries, over how often was stored before",
      "Queries look into each run of an LSM, and batches make and merge runs.", plots_over_fills },
    { "The time of a call", "By the host's clock until the device is idle, calls one after another.", plots_over_call },
    { "Memory", "Device memory that a dictionary holds when it is filled: keys, values, index and spare.",
      plots_of_memory },
    { "Papers' figures beside those here", "The same axes; a device of today beside one of then, so the shape counts.",
      plots_of_papers },
};

static void count_plot(void *count, const struct plot *plot, const char *file)
{
    (void) plot;
    (void) file;
    ++*(int *) count;
}

static void put_plots(FILE *out, const struct report *report)
{
    struct page page = { out, 0 };
    for (size_t s = 0; s < sizeof sections / sizeof *sections; s++) {
        int count = 0;
        sections[s].plots(report, count_plot, &count);
        fprintf(out, "<h2>%s</h2>\n<p class=\"q\">%s</p>\n", sections[s].title,
                count ? sections[s].text : "Not measured at two places or more.");
        if (count) {
            fprintf(out, "<div class=\"plots\">\n");
            sections[s].plots(report, put_plot, &page);
            fprintf(out, "</div>\n");
        }
    }
}

/* ---- how it was measured ------------------------------------------------------------------------------------- */

static void put_files(FILE *out, const struct report *report)
{
    static const char *const titles[] = {
        "file", "date", "revision", "compiler, build", "host", "disturbed", "command"
    };
    fprintf(
        out,
        "<h2>How it was measured</h2>\n<p class=\"q\">Every result was checked. A rate is of the median of repetitions "
        "by the "
        "host's clock; a point that several processes measured shows the one in the middle, one in several files the "
        "newest.</p>\n<div class=\"files\">");
    put_head(out, titles, 7);
    for (int f = 0; f < report->n_files; f++) {
        const cJSON *file = report->files[f], *host = cJSON_GetObjectItemCaseSensitive(file, "host"), *item = NULL;
        const cJSON *build = cJSON_GetObjectItemCaseSensitive(file, "build");
        const cJSON *clean = cJSON_GetObjectItemCaseSensitive(file, "clean");
        const char  *slash = strrchr(report->names[f], '/');
        fprintf(out, "<tr>");
        put_cell(out, " class=\"keep\"", slash ? slash + 1 : report->names[f]);
        put_cell(out, "", text_of(file, "date"));
        fprintf(out, "<td class=\"keep\">");
        put_text(out, *text_of(file, "revision") ? text_of(file, "revision") : "not recorded");
        fprintf(out, "%s</td><td>", cJSON_IsFalse(clean) ? " (changed)" : "");
        put_text(out, build ? text_of(build, "compiler") : "not recorded");
        fprintf(out, "%s", build ? ", " : "");
        put_text(out, text_of(build, "type"));
        fprintf(out, "</td>");
        put_cell(out, "", text_of(host, "processor"));
        fprintf(out, "<td>");
        cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(file, "processes"))
            put_text(out, text_of(item, "disturbed"));
        fprintf(out, "</td><td><code>ordo-bench");
        cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(file, "arguments"))
        {
            fputc(' ', out);
            put_text(out, cJSON_IsString(item) ? item->valuestring : "");
        }
        fprintf(out, "</code></td></tr>\n");
    }
    fprintf(out, "</table></div></div>\n<p>%zu rows in all, %zu of them too large for the device or out of time.</p>\n",
            report->rows, report->left_out);
}

static void put_row(FILE *out, const cJSON *row)
{
    const cJSON *wall = cJSON_GetObjectItemCaseSensitive(row, "wall_s");
    const bool   wrong = text_is(row, "check", "WRONG");
    char         label[160], count[TEXT_BYTES], batch[TEXT_BYTES] = "", times[4][TEXT_BYTES];
    report_label(row, label, sizeof label);
    if (number_of(row, "batch") > 0)
        text_count(batch, (size_t) number_of(row, "batch"));
    /* Without the end tags that HTML can do without, and with the columns' alignment in the style: there are thousands of rows. */
    fprintf(out, "<tr%s><td>", wrong ? " class=\"bad\"" : "");
    put_text(out, label);
    fprintf(out, "<td>%s<td>%s<td>%s<td>%s<td>%s<td>%s<td>",
            text_count(count, (size_t) fmax(0, number_of(row, "count"))), batch,
            text_rate(times[0], number_of(row, "rate")), text_seconds(times[1], number_of(wall, "median")),
            text_seconds(times[2], number_of(wall, "p10")), text_seconds(times[3], number_of(wall, "p90")));
    put_text(out, text_of(row, "check"));
    fprintf(out, "\n");
}

static void put_rows(FILE *out, const struct report *report)
{
    static const char *const titles[] = { "point", "count", "batch", "rate /s", "time", "p10", "p90", "check" };
    fprintf(out, "<h2>Every row</h2>\n");
    for (int f = 0; f < report->n_files; f++) {
        const cJSON *row = NULL;
        const char  *slash = strrchr(report->names[f], '/');
        fprintf(out, "<details><summary>");
        put_text(out, slash ? slash + 1 : report->names[f]);
        fprintf(out, "</summary>\n");
        fprintf(out, "<div class=\"wide\"><table class=\"rows\">\n<tr>");
        for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
            fprintf(out, "<th>%s", titles[i]);
        fprintf(out, "\n");
        cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(report->files[f], "rows")) put_row(out, row);
        fprintf(out, "</table></div></details>\n");
    }
}

/* ---- all together -------------------------------------------------------------------------------------------- */

bool page_write(FILE *out, const struct report *report)
{
    fprintf(out,
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
            "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
            "<title>Ordo: what was measured</title>\n<style>\n%s</style></head>\n<body>\n<h1>Ordo: what was "
            "measured</h1>\n",
            style);
    put_alarms(out, report);
    put_peers_sentence(out, report);
    put_devices(out, report);
    put_side_by_side(out, report);
    put_peers(out, report);
    put_host_peers(out, report);
    put_plots(out, report);
    put_limits(out, report);
    put_papers(out, report);
    put_changes(out, report);
    put_files(out, report);
    put_rows(out, report);
    fprintf(out, "</body></html>\n");
    return fflush(out) == 0 && !ferror(out);
}

struct svg_files {
    const char *directory;
    char       *why;
    size_t      why_bytes;
    int         plots;
    bool        failed;
};

static void write_svg(void *files_, const struct plot *plot, const char *file)
{
    struct svg_files *files = files_;
    char              path[4096];
    snprintf(path, sizeof path, "%s/%s.svg", files->directory, file);
    FILE *out = files->failed ? NULL : fopen(path, "w");
    if (out) {
        char  *drawing = NULL;
        size_t bytes = 0;
        FILE  *memory = open_memstream(&drawing, &bytes);
        if (memory) {
            plot_draw(memory, plot, files->plots++, true);
            fclose(memory);
        }
        /* What stands alone names its kind and brings its style. */
        const char *rest = drawing ? strstr(drawing, "<svg ") : NULL;
        if (rest)
            fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" %.*s<style>%ssvg{background:var(--g)}</style>%s",
                    (int) (strchr(rest, '\n') - rest - 4), rest + 5, style, strchr(rest, '\n'));
        files->failed = !rest || ferror(out);
        if (drawing)
            free(drawing);
        files->failed |= fclose(out) != 0;
    } else {
        files->failed = true;
    }
    if (files->failed && !*files->why)
        snprintf(files->why, files->why_bytes, "cannot write %s: %s", path, strerror(errno));
}

bool page_write_svgs(const char *directory, const struct report *report, char *why, size_t why_bytes)
{
    struct svg_files files = { directory, why, why_bytes, 0, false };
    *why = 0;
    for (size_t s = 0; s < sizeof sections / sizeof *sections; s++)
        sections[s].plots(report, write_svg, &files);
    return !files.failed;
}
