/* SPDX-License-Identifier: Apache-2.0 */
/* What ordo-bench is asked to do. */
#ifndef BENCH_BENCH_RUN_H
#define BENCH_BENCH_RUN_H

#include "bench/common/device.h"
#include "bench/common/json.h"
#include "bench/common/terminal.h"
#include "bench/common/timing.h"
#include "bench/measure/measure.h"
#include "bench/peers/host.h"
#include "bench/workload/workload.h"

#include "ordo/device.h"

#include <stdbool.h>
#include <stdio.h>

#define SIZES_MAX 64
#define NAMES_MAX 64

struct options {
    int      workloads[NAMES_MAX], n_workloads;
    int      variants[NAMES_MAX], n_variants; /* indices of variant_any; those of a workload: none means all */
    int      types[NAMES_MAX], n_types;
    int      dists[NAMES_MAX], n_dists;
    uint32_t value_bytes[3];
    int      n_value_bytes;
    size_t   sizes[SIZES_MAX];
    int      n_sizes;   /* 0: the device's default */
    size_t   n_queries; /* 0: the device's default */
    size_t   batches[SIZES_MAX];
    int      n_batches; /* 0: by size */
    uint32_t update_percents[NAMES_MAX];
    int      n_updates;
#define X(member, ...) uint32_t member;
    AXIS_MAP(X)
#undef X
    const char *device, *json, *resume, *against, *tune;
    const char *compare[64];
    int         n_compare;
    uint32_t    processes; /* 0: 1, or 5 where something is compared */
    uint32_t    repetitions;
    double      budget;    /* seconds, of each process; 0: none */
    double      slower_by; /* percent: less is not called slower; 0: by device */
    uint64_t    seed;
    bool        peers, no_host, no_array, no_limits, chart, no_chart, list, describe;
    bool        suite;                     /* the first word: the rest says how, not what */
    bool        side_by_side;              /* the first word was compare */
    bool        first_open, first_prepare; /* -w open,prepare */
    const char *paper;                     /* the second word after "paper"; NULL: none */
    bool        full;                      /* a paper's own sizes */
};

/* Exits after --help and --version, and with a complaint where an option is wrong. */
struct options read_options(int argc, char **argv);

/* Ends with a complaint if anything stands beside --resume that the file says. */
void only_with_resume(int argc, char **argv);

/* The options of a command line again, each as its full name and its argument, but for the command, those of the NULL-ended list
 * `without` (NULL: none), and, with `how`, those that say what is measured. Returns their number: `out` has room for 2 * argc. */
int repeat_options(int argc, char **argv, bool how, const char *const *without, const char **out);

/* The options of the words `how`, then of those in a text. What the options point into stays until the end. */
struct options options_of(const char *program, const char *const *how, int n_how, const char *text);

/* How many words the command has before its options: "suite", "compare", "paper NAME". */
int command_words(int argc, char **argv);

/* The names of all variants of all workloads. */
const char *variant_any(int i);

/* The one list that every device runs, so that what different people measured can be laid side by side. */

#define SUITE_PARTS_MAX 64

/* The options of each part: those of the command line (which say how, not what), then the part's own. Sizes are a CPU's or
 * a GPU's. Their number. */
int suite_parts(int argc, char **argv, bool cpu, struct options parts[SUITE_PARTS_MAX]);

/* What there is to measure, said by --list and --describe. */

/* Workloads, their variants, and the devices here. */
void print_list(void);
/* What each workload does, and what it can reach at most. */
void print_description(void);

/* What was measured of each point of the axes, and its form in JSON (bench/README.md says what each field means). */

enum outcome { GOOD, WRONG, FAILED, TOO_LARGE, SKIPPED, N_OUTCOMES };
const char *outcome_name(enum outcome outcome);

struct row {
    struct spec         spec;
    enum outcome        outcome;
    char                why[512];
    struct timing       timing;
    double              rate, bytes_per_second, copy_share; /* by the wall clock; NaN where nothing was measured */
    struct transfers    transfers;                          /* 0 where arrays are the device's */
    double              transfer_share;          /* of the time, what they take at the rates of the device's limits */
    double              baseline[BASELINES_MAX]; /* operations a second */
    uint64_t            scratch_bytes;
    size_t              index_bytes;
    double              index_seconds;
    struct dict_figures dict;       /* of a dictionary's workload */
    double              array_rate; /* the same by a sorted array; NaN: not known */
    const cJSON        *peer;       /* NULL: none */
    double              before;     /* rate in the file to compare with; NaN: not there */
};

/* Nothing measured yet. What row->dict holds later is the caller's to free (dict_figures_free). */
void row_empty(struct row *row, const struct spec *spec);

/* The caller deletes it. */
cJSON *row_to_json(const struct row *row);
/* The fields that say where a row lies. The caller deletes it. */
cJSON *row_point(const struct spec *spec);
/* "rate" and all of the timing into an object; and one of its spreads back. */
void          json_timing(cJSON *json, double rate, const struct timing *timing);
struct spread spread_from_json(const cJSON *row, const char *name);
/* Whether two rows, or points, are of the same point. */
bool rows_are_alike(const cJSON *a, const cJSON *b);

/* Options of ordo-bench that measure this row alone, but for the seed, repetitions and device. */
#define WORDS_MAX  40
#define WORD_BYTES 128
struct command {
    char words[WORDS_MAX][WORD_BYTES];
    int  n;
};
void row_command(const cJSON *row, struct command *command);
/* What tables show of a row, into an empty one. row->peer points into the JSON. */
void row_from_json(struct row *row, const cJSON *json);

/* The file that a run leaves: all that --json says, with each row from the moment that it is done. */

/* The number of the form in which files are written; files without it are of the form before the first. */
#define FILE_SCHEMA 1

struct file {
    const char *path; /* NULL: none is written. "-": standard output, when all is done */
    cJSON      *json, *devices, *rows, *processes, *process; /* parts of `json` but the first */
    int         process_number;
    double      began; /* by now(); rows say when they began after it */
};

/* A new one. */
void file_begin(struct file *file, const char *path, int argc, char **argv);
/* Goes on with one that an earlier process left: with its rows but for those that failed, were skipped or cut short. Ends the program with
 * a complaint if it is none, or another version of the tool wrote it. */
void file_resume(struct file *file, const char *path);
/* The arguments of the process that began the file at `path`; ends the program likewise. Text of the file's, which the caller
 * deletes. */
cJSON *file_arguments(const char *path);

/* The place of a device that is described like this in the file, where it is put if it is not there. Takes `device`. */
int file_device(struct file *file, cJSON *device);
/* Adds limits of a device, taken at the "begin" or "end" of the process. Takes `limits`. */
void file_limits(struct file *file, int device, cJSON *limits, const char *when);
/* Which limits were others at the end: of the process. */
void file_disturbed(struct file *file, const char *names);
/* The row of a point that is there already; NULL if there is none. */
const cJSON *file_row(const struct file *file, int device, const struct spec *spec);

/* Adds a row and saves. False, with a complaint, if that failed. */
bool file_add(struct file *file, int device, const struct row *row);
/* The row of a peer of the host at a point, by its name and threads; NULL if there is none. */
const cJSON *file_peer(const struct file *file, int device, const cJSON *point, const char *name, int threads);
/* Adds one, which has these, and saves; takes it. False, with a complaint, if that failed. */
bool file_add_peer(struct file *file, int device, cJSON *peer);
/* Takes over the process, devices and rows of another file, of one process. False if it is none, or saving failed. */
bool file_merge(struct file *file, cJSON *other);
/* Says how the process ended ("done", "interrupted", "time"), saves and frees. */
bool file_end(struct file *file, const char *ended);

/* Rows of files, to compare with: of one point, what each process measured. */

#define FILES_MAX     64
#define PROCESSES_MAX 64
struct old_files {
    cJSON *files[FILES_MAX];
    int    n;
};

/* Ends the program if the file is none of ordo-bench. */
void old_files_read(struct old_files *old_files, const char *path);
void old_files_free(struct old_files *old_files);

/* NULL if what it has of a device can be compared with this one; else why not: another device, driver, or tunables. */
const char *old_files_differ(const struct old_files *old_files, const cJSON *device);

/* The rate of a point on a device of that name in each process, NaN in those that lack it; the number of processes. */
int old_files_each(const struct old_files *old_files, const char *device_name, const cJSON *point,
                   double rates[PROCESSES_MAX]);

/* What the parts of ordo-bench share of one run. */

/* What is common to the rows of one device. */
struct run {
    const struct options *options; /* of the part at hand */
    const struct options *parts;   /* of all: one, but for the suite */
    int                   n_parts;
    struct options       *suite; /* room for the suite's parts, which depend on the device; NULL: it is not asked for */
    int                   argc;
    char                **argv;
    FILE                 *out;
    struct file           file;
    struct old_files      before;       /* what is compared with; n 0: nothing */
    char                 *peer_program; /* NULL: none */
    struct paper_run     *paper;        /* NULL: none is measured again */

    ordo_device  *device;
    int           device_number; /* in the file */
    struct limits limits;        /* of its beginning; NaN with --no-limits */
    const size_t *sizes;
    int           n_sizes;
    size_t        n_queries;

    bool   file_failed; /* could not be written */
    double deadline;    /* INFINITY: none */
    int    devices;     /* measured so far */
    int    rows, rows_left, kept, wrong, failed, skipped;
    int    compared;    /* rows that a old_files file has too */
    int    sharing;     /* rows and peers left of a comparison's table, to which the deadline applies; 0: rows_left */
    double row_seconds; /* for the timing of the next row */
};

/* The points of the axes that the options ask for. */

/* All sizes of one point of the other axes. */
struct series {
    struct spec spec;
    struct row  rows[SIZES_MAX];
    cJSON      *peers;
    bool        asked; /* the peer */
};

/* Whether the options name the variant, or none of the workload's. */
bool variant_wanted(const struct options *options, enum workload workload, int variant);
/* Whether it can do the workload on this device. */
bool variant_can(const struct run *run, enum workload workload, int variant);

/* Goes over to a part's options; how many rows it has. */
int begin_part(struct run *run, const struct options *part);

/* Adds the series of one workload to `list`, or only counts them if it is NULL. */
int list_series(const struct run *run, enum workload workload, struct series *list);

/* The same axes but for the variant. What the options give once for all series is not compared. */
bool same_but_variant(const struct spec *a, const struct spec *b);
/* Whether a series before it in the list is of the same points by another structure: what they do is planned once for all. */
bool series_follows(const struct series *list, int s);

/* Tunables of a device that are set for one row. */

/* What they were before. */
struct tuned {
    struct ordo_tunable_info *was;
    size_t                    n;
};

/* Sets those of a list NAME=VALUE,...; NULL: none. False, and why, if there is no such tunable or it may not have that value; tuned_end
 * is called all the same. */
bool tuned_begin(ordo_device *device, const char *list, struct tuned *tuned, char *why, size_t why_bytes);
/* Sets all as they were. */
void tuned_end(ordo_device *device, struct tuned *tuned);

/* One row: measured, or taken from the file. */

/* Whether the file has the row's point. */
bool row_is_there(const struct run *run, const struct row *row);
/* Sets how long the next row, or peer of a comparison, is timed. */
void row_share_time(struct run *run);
/* How long a row is timed: of the last one that was settled. */
struct timing_goal row_goal(const struct run *run);
/* Takes the row from the file if it is there; else measures it and puts it there. Counts it. `beside`: the row of a sorted array
 * at the same point, or NULL. */
void row_settle(struct run *run, struct row *row, const struct row *beside);

/* Rows as tables for people. */

/* The columns of one workload: those without anything to say are left out. */
struct layout {
    struct column columns[COLUMNS_MAX];
    int           n;
};
struct layout lay_out(const struct run *run, enum workload workload);

void show_row(const struct run *run, const struct table *table, const struct row *row);

/* A chart of the rates of `n` rows that differ in size; nothing if fewer than two are known. */
void draw_rows(const struct run *run, const struct row *rows, int n);

/* ordo-bench compare: all structures at one point in one table, beside them what the host's processors do with it. */

/* A table for each point of the workload; rows and peers go to the file too. */
void compare_workload(struct run *run, enum workload workload);

/* Whether anything became slower, in several processes of each side. */

/* Measures what the arguments ask for in the processes that remain, and with --compare or --against says what is slower:
 * EXIT_SLOWER; EXIT_FAILED if rows are missing or a process failed. All that this build measured is added to the file. */
int check(struct run *run, int argc, char **argv);

/* What a process waits for when it opens a device, and when it makes each kind of call for the first time: asked in a process of
 * its own. */

/* Operations of each of these calls. */
#define FIRST_BATCH 65536

/* "open:SELECT", or "calls:AHEAD:STRUCTURE:TYPE:VALUE_BYTES:SELECT" with numbers, AHEAD 1 if ordo_device_prepare comes before the
 * calls: writes the answer as child_run (child.h) wants it, and returns the exit status. */
int first_answer(const char *question);

/* ordo-bench -w open,prepare: what opening and first calls cost, with caches that are empty and that are filled. */

/* Those of the run's options, on its device; tables, and rows of their own in the file ("first"). `select` is what the device was
 * opened by. */
void first_measure(struct run *run, const char *select);

/* ordo-bench paper NAME: measures a paper's experiments again and judges its claims. */

/* What of it is known before a device is: the paper, and what the command line says beside. Ends the program if that is wrong. */
struct paper_run *paper_begin(int argc, char **argv, const struct options *options);
void              paper_end(struct paper_run **paper);

/* The options of all that is to be measured on run->device, scaled to it; their number. They stay until the next call. */
int paper_parts(struct run *run, const struct options **parts);
/* Measures these, prints figures beside the paper's, judges, and puts all of it into the file. */
void paper_measure(struct run *run);

#endif
