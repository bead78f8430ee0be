/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "bench/common/child.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* NULL, or why a device cannot be compared: other device, driver or tunables. */
static const char *files_differ(const cJSON *files, const cJSON *device)
{
    const char  *why = "it was measured on another device";
    const cJSON *file = NULL, *theirs = NULL;
    cJSON_ArrayForEach(file, files)
        cJSON_ArrayForEach(theirs, json_at(file, "devices")) {
            if (!text_is(theirs, "name", text_of(device, "name")))
                continue;
            if (!text_is(theirs, "driver", text_of(device, "driver")))
                return "it was measured with another driver";
            if (!same_tunables(device, theirs))
                return "it was measured with other tunables";
            why = NULL;
        }
    return why;
}

static const cJSON *device_of(const cJSON *file, const cJSON *row)
{
    const double number = number_of(row, "device");
    return number >= 0 ? cJSON_GetArrayItem(json_at(file, "devices"), (int) number) : NULL;
}

/* Whether a row of a file is of this point and device, and right. */
static bool is_right(const cJSON *file, const cJSON *row, const char *device_name, const cJSON *point)
{
    return text_is(device_of(file, row), "name", device_name) && rows_are_alike(row, point) &&
           text_is(row, "check", outcome_name(GOOD));
}

int files_rates(const cJSON *files, const char *device_name, const cJSON *point, double rates[PROCESSES_MAX])
{
    const cJSON *file = NULL, *row = NULL;
    int          n = 0;
    cJSON_ArrayForEach(file, files) {
        const int processes = cJSON_GetArraySize(json_at(file, "processes"));
        for (int p = 0; p < (processes ? processes : 1) && n < PROCESSES_MAX; p++, n++) {
            rates[n] = NAN;
            cJSON_ArrayForEach(row, json_at(file, "rows")) {
                const double of = number_of(row, "process"); /* old files lack it */
                if (isnan(rates[n]) && (isnan(of) ? 0 : of) == p && is_right(file, row, device_name, point))
                    rates[n] = number_of(row, "rate");
            }
        }
    }
    return n;
}

/* Default share below which a row is not called slower. */
#define WORTH_GPU 0.05
#define WORTH_CPU 0.10
/* A process that takes longer hangs. */
#define CHILD_SECONDS 1e6

struct check {
    struct run *run;
    int         missing, failed;
};

static void measure_in_child(struct check *check, const char *program, const char *const *words, int n, cJSON *side)
{
    static const char *const last[] = { "--json", "/dev/fd/3", "--no-host", "--no-array", "--no-chart", NULL };
    const char             **all = calloc((size_t) n + 1 + sizeof last / sizeof *last, sizeof *all);
    struct child_outcome     outcome = { .problem = "out of memory" };
    if (all) {
        all[0] = "ordo-bench";
        memcpy(all + 1, words, (size_t) n * sizeof *all);
        memcpy(all + 1 + n, last, sizeof last);
        child_run(&(struct child) { program, all, NULL, CHILD_SECONDS }, &outcome);
    }
    free(all);
    if (outcome.problem[0] && !stop_asked()) {
        check->failed++;
        report_error("%s %s: %s", program ? program : "a process", outcome.problem, outcome.said);
    }
    if (outcome.answer)
        cJSON_AddItemToArray(side, outcome.answer);
}

/* Runs the other build, if any, and this one in turns. `first`: processes of this one so far. */
static void take_turns(struct check *check, const char *const *words, int n, int first, cJSON *old, cJSON *new_side)
{
    const struct options *options = check->run->options;
    for (int p = 0; p < (int) options->processes && !stop_asked(); p++) {
        progress("process %d of %d", p + 1, (int) options->processes);
        if (options->against)
            measure_in_child(check, options->against, words, n, old);
        if (p >= first && !stop_asked())
            measure_in_child(check, NULL, words, n, new_side);
    }
}

struct compared {
    const cJSON  *row; /* in the file */
    const char   *device;
    double        worth, before, after;
    enum slowdown verdict;
};

/* turns: both sides ran in turns. */
static void compare_row(const cJSON *old, const cJSON *new_side, bool turns, struct compared *compared)
{
    double    before[PROCESSES_MAX], after[PROCESSES_MAX];
    const int n_before = files_rates(old, compared->device, compared->row, before);
    const int n_after = files_rates(new_side, compared->device, compared->row, after);
    compared->verdict = judge_rates(before, n_before, after, n_after, turns, compared->worth);
    compared->before = median_of_known(before, n_before);
    compared->after = median_of_known(after, n_after);
}

#define COMMAND_BYTES 4096

/* Adds words that end with tabs. */
__attribute__((format(printf, 2, 3))) static void add_words(char command[COMMAND_BYTES], const char *format, ...)
{
    const size_t used = strlen(command);
    va_list      args;
    va_start(args, format);
    vsnprintf(command + used, COMMAND_BYTES - used, format, args);
    va_end(args);
}

/* Measures a suspect again, alone, and judges by that. */
static void suspect_again(struct check *check, struct compared *suspect)
{
    const struct options *options = check->run->options;
    const cJSON          *row = suspect->row;
    const bool            dict = !isnan(number_of(row, "batch"));
    char                  command[COMMAND_BYTES] = "";
    const char           *words[COMMAND_BYTES / 2];
    cJSON                *old = cJSON_CreateArray(), *new_side = cJSON_CreateArray();
    int                   n = 0, w = 0;
    while (w + 1 < N_ALL_WORKLOADS && !text_is(row, "workload", workload_name((enum workload) w)))
        w++;
    const bool strings = workload_is_strings((enum workload) w);
    add_words(command, "-w\t%s\t-n\t=%.0f\t", text_of(row, "workload"), number_of(row, "count"));
    if (!strings)
        add_words(command, "-t\t%s\t-v\t%.0f\t", text_of(row, "key"), number_of(row, "value_bytes"));
    if (*text_of(row, "keys"))
        add_words(command, "--keys\t%s\t", text_of(row, "keys"));
    if (*text_of(row, "variant"))
        add_words(command, "%s\t%s\t", dict ? "-s" : "--variant", text_of(row, "variant"));
    if (w != FILLSEQ && !strings && !*text_of(row, "keys"))
        add_words(command, "-D\t%s\t", text_of(row, "dist"));
    if (*text_of(row, "tune"))
        add_words(command, "--tune\t%s\t", text_of(row, "tune"));
    if (workload_has_queries((enum workload) w))
        add_words(command, "-q\t=%.0f\t", number_of(row, "operations"));
    if (dict && w != CONCURRENTFILL && w != BUILD && w != HOSTBUILD)
        add_words(command, "--batch\t=%.0f\t", number_of(row, "batch"));
    for (int axis = 0; axis < N_AXES && (dict || strings); axis++)
        if (is_true(row, axes[axis].key))
            add_words(command, "%s\t", axes[axis].option);
        else if (number_of(row, axes[axis].key) >= axes[axis].low)
            add_words(command, "%s\t%.0f\t", axes[axis].option, number_of(row, axes[axis].key));
    add_words(command, "--seed\t%llu\t--reps\t%u\t--no-limits\t--device\t%.*s", (unsigned long long) options->seed,
              options->repetitions, (int) strcspn(suspect->device, ","), suspect->device); /* part of a name */
    for (char *rest = NULL, *word = strtok_r(command, "\t", &rest); word; word = strtok_r(NULL, "\t", &rest))
        words[n++] = word;
    take_turns(check, words, n, 0, old, new_side);
    if (!stop_asked())
        compare_row(options->against ? old : check->run->before, new_side, options->against, suspect);
    cJSON_Delete(old);
    cJSON_Delete(new_side);
}

#define DESCRIPTION_BYTES 160

/* "fillrandom lsm u32+4 2^20/2^16" */
static const char *describe(const cJSON *row, char text[DESCRIPTION_BYTES])
{
    const double batch = number_of(row, "batch");
    const char  *dist = text_of(row, "dist"), *variant = text_of(row, "variant");
    const bool   uniform = strcmp(dist, "uniform") == 0;
    snprintf(text, DESCRIPTION_BYTES, "%s%s%s %s+%.0f%s%s %s%s%s", text_of(row, "workload"), *variant ? " " : "",
             variant, text_of(row, "key"), number_of(row, "value_bytes"), uniform ? "" : " ", uniform ? "" : dist,
             text_count(TEXT, (size_t) number_of(row, "count")), batch > 0 ? "/" : "",
             batch > 0 ? text_count(TEXT, (size_t) batch) : "");
    return text;
}

/* Lists the rows of this process that can be compared. Returns their number. */
static int rows_to_compare(const struct run *run, const cJSON *old, struct compared *out)
{
    const cJSON *row = NULL, *said = NULL;
    int          n = 0;
    cJSON_ArrayForEach(row, run->file.rows) {
        const cJSON *device = device_of(run->file.json, row);
        const char  *why = files_differ(old, device), *name = text_of(device, "name");
        if (number_of(row, "process") != run->file.process_number || !text_is(row, "check", "ok"))
            continue;
        if (!why)
            out[n++] = (struct compared) { .row = row,
                                           .device = name,
                                           .worth = run->options->slower_by > 0 ? run->options->slower_by / 100
                                                    : is_true(device, "cpu")    ? WORTH_CPU
                                                                                : WORTH_GPU };
        else if (said != device)
            say(run->out, 4, "Nothing of %s is compared: %s.", name, why);
        said = why ? device : said;
    }
    return n;
}

/* Reports rows that only the other build has: here they are neither right nor skipped. */
static void find_missing(struct check *check, const cJSON *old)
{
    const struct run *run = check->run;
    const cJSON      *file = run->options->against ? cJSON_GetArrayItem(old, 0) : NULL, *theirs = NULL, *row = NULL;
    char              what[DESCRIPTION_BYTES];
    cJSON_ArrayForEach(theirs, json_at(file, "rows")) {
        bool here = !text_is(theirs, "check", outcome_name(GOOD));
        cJSON_ArrayForEach(row, run->file.rows)
            here |= is_right(run->file.json, row, text_of(device_of(file, theirs), "name"), theirs) ||
                    (rows_are_alike(row, theirs) && text_is(row, "check", outcome_name(SKIPPED)));
        if (!here)
            say(run->out, 4, "missing: %s, which the other build measures", describe(theirs, what));
        check->missing += !here;
    }
}

static int compare(struct check *check, const cJSON *old, const cJSON *new_side)
{
    static const struct column columns[] = {
        { "slower", 42, true, 0 }, { "before /s", 9, false, 0 }, { "now /s", 9, false, 0 }, { "ratio", 6, false, 0 }
    };
    const struct run  *run = check->run;
    const struct table table = { .out = run->out, .columns = columns, .n_columns = 4 };
    struct compared   *rows = calloc((size_t) cJSON_GetArraySize(run->file.rows) + 1, sizeof *rows);
    const int          n = rows ? rows_to_compare(run, old, rows) : 0;
    int                suspects = 0, verdicts[] = { [NOT_SLOWER] = 0, [SLOWER] = 0, [UNKNOWN] = 0 };
    for (int i = 0; i < n && !stop_asked(); i++) {
        compare_row(old, new_side, run->options->against, &rows[i]);
        if (rows[i].verdict == SLOWER) {
            progress_about("suspect %d", ++suspects);
            suspect_again(check, &rows[i]);
        }
        verdicts[rows[i].verdict]++;
    }
    progress_clear();
    find_missing(check, old);
    if (!stop_asked()) {
        say(run->out, 4, "\nCompared: %d rows, in %u processes. %d looked slower at first, %d did again.",
            n - verdicts[UNKNOWN], run->options->processes, suspects, verdicts[SLOWER]);
        if (verdicts[UNKNOWN])
            say(run->out, 4, "%d rows cannot be compared: one side has them from none or from fewer than %d processes.",
                verdicts[UNKNOWN], PROCESSES_MIN);
        if (n == verdicts[UNKNOWN])
            report_error("nothing was compared: %s",
                         n ? "write the file by the same command with --processes 5 and --json, instead of --compare"
                           : "this run has no right row of a device that the file has");
        if (verdicts[SLOWER])
            table_head(&table);
        for (int i = 0; i < n; i++) {
            char what[DESCRIPTION_BYTES];
            if (rows[i].verdict == SLOWER)
                table_row(&table, (const char *[]) { describe(rows[i].row, what), text_rate(TEXT, rows[i].before),
                                                     text_rate(TEXT, rows[i].after),
                                                     text_ratio(TEXT, rows[i].after / rows[i].before) });
        }
    }
    free(rows);
    return stop_asked()                                                ? EXIT_INTERRUPTED
           : check->missing || check->failed || n == verdicts[UNKNOWN] ? EXIT_FAILED
           : verdicts[SLOWER]                                          ? EXIT_SLOWER
                                                                       : EXIT_GOOD;
}

int check(struct run *run, int argc, char **argv)
{
    static const char *const without[] = { "--json",      "--resume",   "--compare", "--against", "--processes",
                                           "--slower-by", "--peers",    "--budget",  "--no-host", "--no-array",
                                           "--chart",     "--no-chart", NULL };
    struct check             check = { .run = run };
    cJSON *theirs = cJSON_CreateArray(), *others = cJSON_CreateArray(), *ours = cJSON_CreateArray(), *other = NULL;
    const char **words = calloc((size_t) argc * 2 + 3, sizeof *words);
    int          code = EXIT_GOOD, n = 0;
    char         budget[32];
    if (!words)
        return EXIT_FAILED;
    if (run->suite)
        words[n++] = "suite";
    n += repeat_options(argc, argv, false, without, words + n);
    if (run->options->budget > 0) {
        snprintf(budget, sizeof budget, "%g", run->options->budget);
        words[n++] = "--budget";
        words[n++] = budget;
    }
    progress_about("%s", "all rows again");
    take_turns(&check, words, n, 1, theirs, others);
    cJSON_ArrayForEach(other, others)
        run->file_failed |= !file_merge(&run->file, other);
    cJSON_AddItemReferenceToArray(ours, run->file.json);
    if (!stop_asked() && (run->before || run->options->against))
        code = compare(&check, run->options->against ? theirs : run->before, ours);
    else if (check.failed || run->file_failed)
        code = EXIT_FAILED;
    progress_about("%s", "");
    progress_clear();
    cJSON_Delete(theirs);
    cJSON_Delete(others);
    cJSON_Delete(ours);
    free(words);
    return code;
}
