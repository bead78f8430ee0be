/* SPDX-License-Identifier: Apache-2.0 */
/* ordo-bench: measures primitives and dictionaries, compared with copies, the host and other libraries. */
#include "bench/common/child.h"
#include "bench/peers/peers.h"
#include "bench/report/command.h"
#include "run.h"

#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void run_point(struct run *run, const struct series *list, struct series *series, int i,
                      const struct table *table)
{
    struct row *row = &series->rows[i];
    double      rates[PROCESSES_MAX];
    cJSON      *point = row_point(&row->spec);
    row->before = median_of_known(rates, files_rates(run->before, ordo_device_facts(run->device)->name, point, rates));
    cJSON_Delete(point);
    run->compared += !isnan(row->before);
    if (!file_row(&run->file, run->device_number, &row->spec)) {
        if (!series->asked)
            series->peers = ask_peer(run, &series->spec, run->sizes, run->n_sizes, run->n_sizes,
                                     0.3 * run->n_sizes / run->rows_left);
        series->asked = true;
        row->peer = peer_row(series->peers, row->spec.count);
    }
    const struct row *beside = NULL; /* the right row of a sorted array at the same point in an earlier series */
    for (const struct series *s = list; s < series && workload_is_dict(row->spec.workload) && !beside; s++)
        if (s->rows[i].outcome == GOOD && s->rows[i].spec.variant == SORTED_ARRAY &&
            spec_asks_same(&s->rows[i].spec, &row->spec))
            beside = &s->rows[i];
    row_settle(run, row, beside);
    show_row(run, table, row);
}

/* "search: lower bound of every query in a sorted array (2^20 queries)" */
static void introduce_workload(const struct run *run, enum workload workload)
{
    const struct options *o = run->options;
    char                  more[160] = "";
    size_t                used = 0;
    if (workload_has_queries(workload))
        used += (size_t) snprintf(more, sizeof more, " (%s queries", text_count(TEXT, run->n_queries));
    if (workload_on_device(workload) == READRANDOM || workload == CONCURRENTREAD || workload_asks_strings(workload))
        used += (size_t) snprintf(more + used, sizeof more - used, ", %u %% of them there", o->hit_percent);
    if (workload == COUNTRANDOM || workload == RANGERANDOM || workload == PAGERANDOM || workload == SUMRANDOM)
        used += (size_t) snprintf(more + used, sizeof more - used, ", each for %u elements in the mean", o->width);
    if (used)
        snprintf(more + used, sizeof more - used, ")");
    if (workload_erases(workload) && o->erase_percent < 100)
        snprintf(more, sizeof more, " (%u %% of the elements)", o->erase_percent);
    say(run->out, 4, "\n%s: %s%s", workload_name(workload), workload_text(workload), more);
    for (int v = 0; variant_name(workload, v); v++)
        if (workload_is_dict(workload) && variant_wanted(o, workload, v) && !variant_can(run, workload, v))
            say(run->out, 4, "    %s is passed over: it does not do this, or not with these keys",
                variant_name(workload, v));
}

static void run_workload(struct run *run, enum workload workload)
{
    int            n;
    struct series *list = make_series(run, workload, &n);
    struct column  columns[COLUMNS_MAX];
    struct table   table = { .out = run->out, .columns = columns, .n_columns = lay_out(run, workload, columns) };
    for (int s = 0; s < n; s++)
        for (int i = 0; i < run->n_sizes; i++) {
            list[s].rows[i].spec = list[s].spec;
            list[s].rows[i].spec.count = run->sizes[i];
        }
    introduce_workload(run, workload);
    if (n)
        table_fit(&table);
    else
        say(run->out, 4, "    takes none of these types, values, variants and structures");
    /* All structures run at a point before the next point, so that plan and answers are made once; for arrays one
     * series runs after another. */
    const bool dict = workload_is_dict(workload);
    for (int from = 0; from < n; from++)
        for (int i = 0; i < run->n_sizes && !(dict && series_follows(list, from)); i++)
            for (int s = from; s < (dict ? n : from + 1) && !stop_asked(); s++)
                if (s == from || spec_asks_same(&list[s].spec, &list[from].spec))
                    run_point(run, list, &list[s], i, &table);
    for (int s = 0; s < n; s++) {
        if (!run->options->no_chart && (run->options->chart || isatty(fileno(run->out))))
            draw_rows(run, list[s].rows, run->n_sizes);
        for (int i = 0; i < run->n_sizes; i++)
            dict_figures_free(&list[s].rows[i].dict);
        cJSON_Delete(list[s].peers);
    }
    free(list);
}

/* Measures the limits of the device and adds them to the file, as of the "begin" or "end". */
static void take_limits(struct run *run, struct limits *limits, const char *when)
{
    const struct ordo_facts *facts = ordo_device_facts(run->device);
    progress_about("%s", "");
    progress("measuring the limits of %s", facts->name);
    const ordo_status got = measure_limits(run->device, limits);
    if (got != ORDO_OK)
        report_error("the limits of %s cannot be measured: %s", facts->name, ordo_status_string(got));
    run->failed += got == ORDO_BROKEN;
    cJSON *json = limits_to_json(limits);
    json_exact(json, "process", run->file.process_number);
    json_text(json, "when", when);
    cJSON_AddItemToArray(json_at(cJSON_GetArrayItem(run->file.devices, run->device_number), "limits"), json);
}

/* Limits of an undisturbed device differ by less. */
#define QUIET_GPU 0.1
#define QUIET_CPU 0.3

/* Measures the limits again. Other limits make the rows doubtful. */
static void check_limits(struct run *run)
{
    const bool    cpu = ordo_device_facts(run->device)->cpu;
    struct limits limits;
    char          names[160];
    take_limits(run, &limits, "end");
    limits_differ(&run->limits, &limits, cpu ? QUIET_CPU : QUIET_GPU, names, sizeof names);
    json_text(run->file.process, "disturbed", names);
    if (*names)
        say(run->out, 4,
            "\nDisturbed: at the end the device's limits differed by more than %.0f %% from those at the "
            "beginning (%s). Something else used it, or its clocks changed: measure again.",
            100 * (cpu ? QUIET_CPU : QUIET_GPU), names);
}

static void begin_device(struct run *run)
{
    const struct ordo_facts *facts = ordo_device_facts(run->device);
    cJSON                   *device = json_device(facts), *tunables = cJSON_AddObjectToObject(device, "tunables");
    cJSON                   *origins = cJSON_AddObjectToObject(device, "origins");
    struct ordo_tunable_info info;
    for (size_t i = 0; ordo_device_tunable(run->device, i, &info) == ORDO_OK; i++) {
        if (info.origin == ORDO_ORIGIN_DEFAULT)
            continue;
        json_exact(tunables, info.name, info.value);
        json_text(origins, info.name, origin_name(info.origin));
    }
    cJSON_AddArrayToObject(device, "limits");
    run->rows = 0;
    run->kept = 0;
    for (int p = 0; p < run->n_parts; p++)
        run->rows += begin_part(run, &run->parts[p]);
    run->rows_left = run->rows;
    run->device_number = file_device(&run->file, device);
    run->limits = limits_from_json(NULL); /* all unknown */
    if (!run->options->no_limits)
        take_limits(run, &run->limits, "begin");
    say(run->out, 4, "%s (%s, driver %s)", facts->name, facts->platform, facts->driver);
    if (!run->options->no_limits)
        say_limits(run->out, 0, &run->limits);
}

static void run_parts_of(struct run *run)
{
    if (run->paper)
        paper_measure(run);
    for (int p = 0; p < run->n_parts && !stop_asked() && !run->paper; p++) {
        begin_part(run, &run->parts[p]);
        for (int w = 0; w < run->options->n_workloads && !stop_asked(); w++)
            (run->options->side_by_side ? compare_workload : run_workload)(run,
                                                                           (enum workload) run->options->workloads[w]);
    }
    if (!run->options->no_limits && !stop_asked())
        check_limits(run);
}

/* Whether a table of this run has the column. */
static bool has_column(const struct run *run, const char *title)
{
    struct column columns[COLUMNS_MAX];
    bool          has = run->options->side_by_side && strstr("rate /s, +-, / best, check", title);
    for (int p = 0; p < run->n_parts && run->rows && !run->options->side_by_side; p++)
        for (int w = 0; w < run->parts[p].n_workloads; w++)
            for (int c = lay_out(run, (enum workload) run->parts[p].workloads[w], columns) - 1; c >= 0; c--)
                has |= strcmp(columns[c].title, title) == 0;
    return has;
}

static void explain_columns(const struct run *run)
{
    static const struct {
        const char *title, *text;
    } all[] = {
        { "rate /s",
          "elements (of searches: queries; of dictionaries: operations) a second by the wall clock, the median of the "
          "repetitions; of updates over all batches; of a dictionary's queries the harmonic mean over fills of --fills "
          "numbers of batches at most, from the first to the last" },
        { "+-", "half the way from the 10th to the 90th percentile of the repetitions" },
        { "worst", "the extremes of the fills; best likewise" },
        { "device", "the time of a call on the device's own clock" },
        { "check", "whether all that came out was right" },
        { "/ best", "the rate over that of the fastest on the device" },
        { "/ peer", "this rate over that of the fastest other library on this device" },
        { "transfer", "of the time, what the bytes that have to come and go take at the rates to the device and back" },
        { "GB/s", "10^9 bytes a second, counting those that have to move at least" },
        { "copy", "the same as a share of the copy rate" },
        { "B/key", "bytes of the index for each different string, without the strings" },
        { "/ x", "this rate over that of x on one thread of the host" },
        { "first",
          "the first call after updates, which may have to resolve what is new; rates are of the calls after it" },
        { "/ array", "this rate over that of a sorted array with the same elements" },
        { "/ rebuild", "over building one anew, each per element that goes in" },
        { "held", "device memory at the end; / kept: over that of the keys and values that are there" },
        { "peak", "device memory held at most; / data: over that of the keys and values that were put in" },
        { "/ btree",
          "absl::btree_map on the host: updates on 1 thread, queries on 2; up to 2^22 elements, 2^20 strings" },
        { "/ flat_hash_map", "absl::flat_hash_map on the host, beside the hash table and an index of strings: on 2 "
                             "threads, of updates a map "
                             "each; up to 2^22 elements, 2^20 strings" },
        { "/ robin_map", "tsl::robin_map, likewise" },
        { "/ unordered_flat_map", "boost::unordered_flat_map, likewise" },
    };
    const bool host = !run->options->no_host;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (has_column(run, all[i].title) ||
            (host && all[i].title[2] == 'x' &&
             (has_column(run, "GB/s") || has_column(run, "/ sort") || has_column(run, "/ binary"))))
            say(run->out, 11, "%-9s  %s", all[i].title, all[i].text);
    if (host && !dict_baseline_name(FILLRANDOM, DICT_BTREE) && has_column(run, "batch"))
        say(run->out, 4, "No maps of Abseil to compare with: it was not there at build time (Debian: libabsl-dev).");
}

static void conclude(const struct run *run)
{
    const bool stopped = stop_asked();
    const struct {
        const char *rows;
        int         n;
    } counts[] = { { "that were there already",
                     run->paper ? 0 : run->kept }, /* a paper queries some points several times */
                   { "skipped, as the budget was spent", run->skipped },
                   { "not reached before the interruption", stopped ? run->rows_left : 0 },
                   { "WRONG", run->wrong },
                   { "that failed", run->failed } };
    fprintf(run->out, "\n");
    if (!run->paper)
        explain_columns(run);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i].n)
            say(run->out, 4, "Rows %s: %d.", counts[i].rows, counts[i].n);
    if ((stopped || run->skipped) && run->options->json && strcmp(run->options->json, "-") != 0)
        say(run->out, 4, "To go on: ordo-bench --resume %s", run->options->json);
}

#define SUITE_ON_CPU 300
#define SUITE_ON_GPU 480

static bool run_device(struct run *run, const char *select, double seconds)
{
    progress_about("%s", "");
    progress("opening the device");
    run->device = open_device(select);
    if (!run->device)
        return false;
    const bool cpu = ordo_device_facts(run->device)->cpu;
    if (run->suite && seconds <= 0)
        seconds = cpu ? SUITE_ON_CPU : SUITE_ON_GPU;
    run->deadline = seconds > 0 ? now() + seconds : (double) INFINITY;
    if (run->devices++)
        fprintf(run->out, "\n");
    if (run->suite)
        run->n_parts = suite_parts(run->argc, run->argv, cpu, run->suite);
    if (run->paper)
        run->n_parts = paper_parts(run, &run->parts);
    begin_device(run);
    first_measure(run, select);
    if (run->device)
        run_parts_of(run);
    else
        run->failed++;
    ordo_device_close(&run->device);
    if (run->rows || run->options->first_open || run->options->first_prepare || run->paper)
        return true;
    report_error("nothing was measured: no workload, structure, type and distribution of these options go together");
    return false;
}

static int run_all(struct run *run)
{
    char      selected[SELECTED_MAX][SELECT_BYTES];
    const int n = select_devices(run->options->device, selected);
    bool      good = n > 0;
    if (n == 0)
        report_error("there is no OpenCL device; ordo-info tells which package has one");
    for (int i = 0; i < n && !stop_asked(); i++)
        good &= run_device(run, selected[i], run->options->budget / n);
    progress_clear();
    if (run->devices)
        conclude(run);
    good = good && !run->wrong && !run->failed && !run->file_failed;
    return stop_asked() ? EXIT_INTERRUPTED : good ? EXIT_GOOD : EXIT_FAILED;
}

/* Rows allocate and free gigabytes. With enough memory the process keeps freed pages, because untouched pages cost
 * more than the work. */
#define MUCH_MEMORY ((uint64_t) 16 << 30)

static void keep_memory(void)
{
#ifdef M_MMAP_MAX
    if ((uint64_t) sysconf(_SC_PHYS_PAGES) * (uint64_t) sysconf(_SC_PAGESIZE) >= MUCH_MEMORY) {
        mallopt(M_MMAP_MAX, 0);
        mallopt(M_TRIM_THRESHOLD, -1);
    }
#endif
}

int main(int argc, char **argv)
{
    keep_memory();
    tool_name("ordo-bench");
    child_keep_environment();
    if (argc > 1 && strcmp(argv[1], "report") == 0)
        return report_command(argc - 1, argv + 1);
    if (argc == 3 && strcmp(argv[1], "--child") == 0)
        return first_answer(argv[2]);
    struct options options = read_options(argc, argv);
    if (options.list || options.describe) {
        (options.list ? print_list : print_description)();
        return EXIT_GOOD;
    }
    if (options.resume) {
        options = resume_options(options.resume, &argc, &argv);
        options.json = options.resume;
        if (options.processes > 1)
            usage_error("--resume: %s has several processes, for --compare: start a new file", options.json);
    }
    struct options suite[SUITE_PARTS_MAX];
    struct run     run = { .options = &options,
                           .parts = options.suite ? suite : &options,
                           .n_parts = 1,
                           .suite = options.suite ? suite : NULL,
                           .argc = argc,
                           .argv = argv,
                           .out = options.json && strcmp(options.json, "-") == 0 ? stderr : stdout };
    char           why[WHY_BYTES] = "";
    run.before = options.n_compare ? cJSON_CreateArray() : NULL;
    for (int f = 0; f < options.n_compare; f++)
        cJSON_AddItemToArray(run.before, file_read("--compare", options.compare[f]));
    if (options.peers && !(run.peer_programs = peer_programs(why)))
        usage_error("--peers: %s", why);
    if (options.side_by_side && !run.peer_programs)
        run.peer_programs = peer_programs(why); /* optional */
    if (options.paper)
        run.paper = paper_begin(argc, argv, &options);
    stop_on_signal();
    if (options.resume)
        file_resume(&run.file, options.resume);
    else
        file_begin(&run.file, options.json, argc, argv);
    int code = run_all(&run);
    if (options.processes > 1 && !stop_asked() && cJSON_GetArraySize(run.file.rows)) {
        const int checked = check(&run, argc, argv);
        code = code == EXIT_GOOD ? checked : code;
    }
    if (options.n_compare && options.processes == 1 && run.compared == 0 && code == EXIT_GOOD) {
        report_error("nothing was compared: the files have no row of this run");
        code = EXIT_FAILED;
    }
    if (!file_end(&run.file, stop_asked() ? "interrupted" : run.skipped ? "time" : "done") && code == EXIT_GOOD)
        code = EXIT_FAILED;
    cJSON_Delete(run.before);
    paper_end(&run.paper);
    free(run.peer_programs);
    return code;
}
