/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "bench/common/threads.h"
#include "bench/peers/peers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Lines of a table: rows of structures or variants, of ordo-peer and of libraries of the host. */
#define LINES_MAX 40
struct comparison {
    struct run       *run;
    struct spec       point; /* without its variant */
    const cJSON      *lines[LINES_MAX];
    int               n;
    cJSON            *others; /* rows of peers on the device, or NULL */
    bool              open;   /* the input of the host's peers */
    struct dict_plan *plan;
    struct inputs     in;
};

static const char *name_of(const cJSON *row)
{
    const char *name = text_of(row, "name"), *variant = text_of(row, "variant");
    return *name ? name : *variant ? variant : text_of(row, "workload");
}

static void add_line(struct comparison *c, const cJSON *row)
{
    if (row && c->n < LINES_MAX)
        c->lines[c->n++] = row;
    if (*text_of(row, "why"))
        say(c->run->out, 4, "%s: %s", name_of(row), text_of(row, "why"));
}

static bool open_inputs(struct comparison *c)
{
    struct spec point = c->point;
    c->open = true;
    if (!workload_is_dict(point.workload))
        return inputs_make(&point, &c->in);
    point.variant = SORTED_ARRAY; /* is queried as maps are */
    c->plan = plan_borrow(&point);
    return c->plan && (!plan_has_fills(point.workload) || plan_advance(c->plan, plan_fills(c->plan) - 1));
}

static void measure_peer(struct comparison *c, const struct host_peer *peer, cJSON *json)
{
    row_share_time(c->run);
    const struct timing_goal goal = row_goal(c->run);
    struct host_figures      figures;
    progress_about("%s", workload_name(c->point.workload));
    progress("%s, %d thread%s", peer->name, peer->threads, peer->threads > 1 ? "s" : "");
    if (workload_is_dict(c->point.workload))
        dict_peer_measure(peer, c->plan, &goal, &figures);
    else if (workload_is_strings(c->point.workload))
        string_peer_measure(peer, &c->point, &c->in, &goal, &figures);
    else if (workload_is_roaring(c->point.workload))
        roaring_peer_measure(peer, &c->point, &c->in, &goal, &figures);
    else
        array_peer_measure(peer, &c->point, &c->in, &goal, &figures);
    json_text(json, "check", outcome_name(isnan(figures.rate) ? FAILED : figures.right ? GOOD : WRONG));
    if (figures.why[0])
        json_text(json, "why", figures.why);
    if (!isnan(figures.rate))
        json_timing(json, figures.rate, &figures.timing);
    c->run->file_failed |= !file_add(&c->run->file, "peers", c->run->device_number, json);
}

/* On one thread, and as many as the CPU device has; with a GPU on all processors. */
static int list_peers(const struct comparison *c, struct host_peer peers[HOST_PEERS_MAX])
{
    const struct ordo_facts *facts = ordo_device_facts(c->run->device);
    const int                all = facts->cpu ? (int) facts->compute_units : processors();
    const int                threads = all < 1 ? 1 : all > MAX_PARTS ? MAX_PARTS : all;
    if (c->run->options->no_host)
        return 0;
    if (workload_is_roaring(c->point.workload))
        return roaring_peers(&c->point, peers);
    return (workload_is_dict(c->point.workload)      ? dict_peers
            : workload_is_strings(c->point.workload) ? string_peers
                                                     : array_peers)(&c->point, threads, peers);
}

static void measure_peers(struct comparison *c)
{
    const struct spec *spec = &c->point;
    struct host_peer   peers[HOST_PEERS_MAX];
    const int          n = list_peers(c, peers);
    int                i = 0;
    for (; i < n && !stop_asked() && c->run->deadline > now(); i++) {
        cJSON *row = row_point(spec);
        if (!workload_is_strings(spec->workload)) /* they have other inputs */
            cJSON_DeleteItemFromObjectCaseSensitive(row, "variant");
        json_text(row, "name", peers[i].name);
        json_text(row, "version", peers[i].version);
        json_text(row, "call", peers[i].call);
        json_exact(row, "threads", peers[i].threads);
        const cJSON *there = file_find(&c->run->file, "peers", c->run->device_number, row);
        if (there) {
            cJSON_Delete(row);
        } else if (c->open || open_inputs(c)) {
            measure_peer(c, &peers[i], row);
            there = row;
        } else {
            cJSON_Delete(row);
            report_error("%s: the peers' inputs: out of memory", workload_name(spec->workload));
            c->run->failed++;
            break;
        }
        add_line(c, there);
        c->run->wrong += text_is(there, "check", outcome_name(WRONG));
    }
    if (c->open && workload_is_dict(spec->workload))
        plan_return(c->plan != NULL);
    else if (c->open)
        inputs_free(&c->in);
    if (i < n && !stop_asked())
        say(c->run->out, 4, "%d libraries of the host: skipped: the time for this table is spent (--budget)", n - i);
    if (n == 0)
        say(c->run->out, 4, "Beside it there is no library of the host: %s.",
            (workload_is_dict(spec->workload) || workload_is_strings(spec->workload)) && !BENCH_MAPS
                ? "this program was built without a C++ compiler"
                : "none offers this workload");
}

static void show(const struct comparison *c)
{
    static const struct column columns[] = { { "", 16, true, 0 },     { "on", 10, true, 0 }, { "rate /s", 7, false, 0 },
                                             { "time", 8, false, 0 }, { "+-", 5, false, 0 }, { "/ best", 7, false, 0 },
                                             { "check", 5, true, 0 } };
    const struct table         table = { .out = c->run->out, .columns = columns, .n_columns = 7 };
    double                     best = NAN;
    for (int i = 0; i < c->n; i++)
        if (!*text_of(c->lines[i], "name"))
            best = fmax(best, number_of(c->lines[i], "rate"));
    table_head(&table);
    for (int i = 0; i < c->n; i++) {
        const cJSON        *row = c->lines[i];
        const double        rate = number_of(row, "rate"), threads = number_of(row, "threads");
        const struct spread wall = spread_from_json(row, "wall_s");
        char                on[TEXT_BYTES] = "device";
        if (threads >= 1)
            snprintf(on, sizeof on, threads > 1 ? "%.0f threads" : "1 thread", threads);
        table_row(&table, (const char *[]) { name_of(row), on, text_rate(TEXT, rate), text_seconds(TEXT, wall.median),
                                             text_percent(TEXT, (wall.high - wall.low) / 2 / wall.median),
                                             text_ratio(TEXT, rate / best), text_of(row, "check") });
    }
    for (int i = 0; i < c->n; i++)
        if (*text_of(c->lines[i], "call") && (i == 0 || strcmp(name_of(c->lines[i - 1]), name_of(c->lines[i])) != 0))
            say(c->run->out, 4, "%s (%s): %s", name_of(c->lines[i]), text_of(c->lines[i], "version"),
                text_of(c->lines[i], "call"));
}

/* Gives the point its share of the remaining time. */
static void compare_point(struct run *run, const struct series *list, int n, const struct spec *point)
{
    struct comparison c = { .run = run, .point = *point };
    struct host_peer  peers[HOST_PEERS_MAX];
    const double      deadline = run->deadline;
    const cJSON      *other = NULL;
    char              data[32], more[80] = "";
    int               rows = 0;
    for (int s = 0; s < n; s++)
        rows += spec_asks_same(&list[s].spec, point);
    if (!isinf(deadline))
        run->deadline = now() + (deadline - now()) * rows / run->rows_left;
    run->sharing = rows + list_peers(&c, peers);
    snprintf(data, sizeof data, point->value_bytes ? "%s+%u" : "%s", spec_key_name(point), point->value_bytes);
    if (workload_has_queries(point->workload))
        snprintf(more, sizeof more, ", %s queries", text_count(TEXT, point->n_queries));
    else if (workload_is_dict(point->workload))
        snprintf(more, sizeof more, ", batches of %s", text_count(TEXT, spec_batch(point)));
    say(run->out, 4, "\n%s: %s; %s %s elements, %s%s", workload_name(point->workload), workload_text(point->workload),
        text_count(TEXT, point->count), data,
        workload_is_strings(point->workload) ? variant_name(point->workload, point->variant) : dist_name(point->dist),
        more);
    c.others = ask_peer(run, point, &point->count, 1, 10, 0.25);
    for (int s = 0; s < n && !stop_asked(); s++) {
        struct row row = { .spec = list[s].spec, .before = NAN, .peer = peer_row(c.others, point->count) };
        if (!spec_asks_same(&row.spec, point))
            continue;
        row_settle(run, &row, NULL);
        add_line(&c, row.json);
        dict_figures_free(&row.dict);
    }
    if (!workload_is_strings(point->workload))
        c.point.variant = 0;
    c.point.load_percent = 0;
    cJSON_ArrayForEach(other, c.others) {
        add_line(&c, other);
    }
    if (!run->options->no_host)
        measure_peers(&c);
    run->sharing = 0;
    run->deadline = deadline;
    progress_clear();
    show(&c);
    cJSON_Delete(c.others);
}

void compare_workload(struct run *run, enum workload workload)
{
    int            n;
    struct series *list = make_series(run, workload, &n);
    for (int i = 0; i < run->n_sizes && !stop_asked(); i++) {
        for (int s = 0; s < n; s++)
            list[s].spec.count = run->sizes[i];
        for (int s = 0; s < n && !stop_asked(); s++)
            if (!series_follows(list, s))
                compare_point(run, list, n, &list[s].spec);
    }
    free(list);
}
