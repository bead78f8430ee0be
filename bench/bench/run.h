/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of ordo-bench. */
#pragma once

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
#define NAMES_MAX 96

struct options {
    int      workloads[NAMES_MAX], n_workloads;
    int      variants[NAMES_MAX], n_variants; /* indices of variant_any; none of a workload: all */
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
    const char *device, *json, *resume, *against, *beside, *tune;
    const char *compare[64];
    int         n_compare;
    uint32_t    processes; /* 0: 1, or 5 for comparisons */
    uint32_t    repetitions;
    double      budget;    /* seconds per process; 0: none */
    double      slower_by; /* percent; 0: by device */
    uint64_t    seed;
    bool        peers, no_host, no_array, no_limits, chart, no_chart, list, describe;
    bool        suite;                     /* "suite": options select how, not what */
    bool        side_by_side;              /* "compare" */
    bool        first_open, first_prepare; /* -w open,prepare */
    const char *paper;                     /* the name after "paper", or NULL */
    bool        full;                      /* the paper's own sizes */

    const char                *keys;    /* the path after --keys, or NULL */
    const struct string_lines *lines;   /* of `keys`, or NULL */
    const struct number_file  *numbers; /* of `keys`, or NULL */
};

/* Exits after --help and --version and after an error. */
struct options read_options(int argc, char **argv);
/* The options of a file that is continued. Replaces the arguments by the arguments that began it, without its output,
 * and the arguments of this process. Exits with an error after options that the file determines. */
struct options resume_options(const char *path, int *argc, char ***argv);
/* list_options of a command line without its command. */
int repeat_options(int argc, char **argv, bool how, const char *const *without, const char **out);
/* Options from the words `how` and a text. They stay valid. */
struct options options_of(const char *program, const char *const *how, int n_how, const char *text);
const char    *variant_any(int i);

#define SUITE_PARTS_MAX 64

/* Fills in the options of each part of the suite, with sizes for a CPU or a GPU. Returns their number. */
int suite_parts(int argc, char **argv, bool cpu, struct options parts[SUITE_PARTS_MAX]);

void print_list(void);
void print_description(void);

/* A measured point and its JSON (bench/results/README.md explains the fields). */

enum outcome { GOOD, WRONG, FAILED, TOO_LARGE, SKIPPED, N_OUTCOMES };
const char *outcome_name(enum outcome outcome);

/* The maker of a row frees its `dict`. */
struct row {
    struct spec         spec;
    enum outcome        outcome;
    char                why[WHY_BYTES];
    struct dict_figures dict;   /* for dictionaries */
    const cJSON        *peer;   /* NULL: none */
    double              before; /* rate in the old files; NaN: missing */
    const cJSON        *json;   /* in the file */
};

/* The fields of the point. The caller deletes it. */
cJSON *row_point(const struct spec *spec);
/* Add "rate" and timing, and figures of dictionaries; read back a spread. */
void          json_timing(cJSON *json, double rate, const struct timing *timing);
void          json_dict(cJSON *json, const struct spec *spec, const struct dict_figures *dict);
struct spread spread_from_json(const cJSON *row, const char *name);
/* Whether two rows have the same point, and are of the same peer, if any. */
bool rows_are_alike(const cJSON *a, const cJSON *b);

#define FILE_SCHEMA 1

/* The result file, saved after each row. */
struct file {
    const char *path;                                        /* NULL: no file. "-": standard output, at the end */
    cJSON      *json, *devices, *rows, *processes, *process; /* parts of `json` */
    int         process_number;
    double      began; /* by now() */
};

void file_begin(struct file *file, const char *path, int argc, char **argv);
/* Continues a file, without its failed, skipped and cut rows. Exits with an error if it is not one of this version. */
void file_resume(struct file *file, const char *path);
/* Reads a file. Exits with an error if it has no rows; `option` names it. */
cJSON *file_read(const char *option, const char *path);
/* The arguments of the process that began the file. The caller deletes them. Exits with an error likewise. */
cJSON *file_arguments(const char *path);
/* The index of the device in the file, which gets it if needed. Takes `device`. */
int file_device(struct file *file, cJSON *device);
/* The row of a point in "rows" or "peers", or NULL. */
const cJSON *file_find(const struct file *file, const char *list, int device, const cJSON *point);
const cJSON *file_row(const struct file *file, int device, const struct spec *spec);
/* Adds a row to such a list, which takes it, and saves. False after an error. */
bool file_add(struct file *file, const char *list, int device, cJSON *row);
/* Adds the process, devices and rows of another file. False on failure. */
bool file_merge(struct file *file, cJSON *other);
/* Records the end ("done", "interrupted", "time"), saves and frees. */
bool file_end(struct file *file, const char *ended);

#define PROCESSES_MAX 64
/* The rates of a point in each process of a list of files, NaN if missing. Returns the number of processes. */
int files_rates(const cJSON *files, const char *device_name, const cJSON *point, double rates[PROCESSES_MAX]);

/* Shared by the rows of a device. */
struct run {
    const struct options *options; /* of the current part */
    const struct options *parts;   /* of all parts */
    int                   n_parts;
    struct options       *suite; /* space for the suite's parts; NULL: no suite */
    int                   argc;
    char                **argv;
    FILE                 *out;
    struct file           file;
    cJSON                *before;        /* files to compare with; NULL: none */
    char                 *peer_programs; /* NULL: none */
    struct paper_run     *paper;         /* NULL: none */

    ordo_device  *device;
    int           device_number; /* index in the file */
    struct limits limits;        /* at the beginning; NaN with --no-limits */
    const size_t *sizes;
    int           n_sizes;
    size_t        n_queries;

    bool   file_failed; /* the file could not be written */
    double deadline;    /* INFINITY: none */
    int    devices;     /* measured so far */
    int    rows, rows_left, kept, wrong, failed, skipped;
    int    measured;    /* rows of this process */
    int    compared;    /* rows with an old rate */
    int    sharing;     /* rows and peers left that share the deadline; 0: rows_left */
    double row_seconds; /* seconds for timing the next row */
};

struct series {
    struct spec spec;
    struct row  rows[SIZES_MAX];
    cJSON      *peers;
    bool        asked; /* of the peer */
};

/* Whether the options name the variant, or none of the workload. */
bool variant_wanted(const struct options *options, enum workload workload, int variant);
bool variant_can(const struct run *run, enum workload workload, int variant);
/* Selects a part. Returns its number of rows. */
int begin_part(struct run *run, const struct options *part);
/* The series of a workload. The caller frees the list. Ends the program without memory. */
struct series *make_series(const struct run *run, enum workload workload, int *n);
/* Whether an earlier series has the same points, so that one plan serves both. */
bool series_follows(const struct series *list, int s);

/* Sets the time of the next row or peer. */
void row_share_time(struct run *run);
/* Runs ordo-peer, if there is one, for `seconds`, or a share of the time that is left. Returns its rows, or NULL. */
cJSON             *ask_peer(const struct run *run, const struct spec *spec, const size_t *counts, int n, double seconds,
                            double share);
struct timing_goal row_goal(const struct run *run);
/* Takes the row from the file, or measures and adds it. Counts it. `beside`: the row of a sorted array at the point,
 * or NULL. */
void row_settle(struct run *run, struct row *row, const struct row *beside);

/* The columns of a workload. Returns their number. */
int  lay_out(const struct run *run, enum workload workload, struct column columns[COLUMNS_MAX]);
void show_row(const struct run *run, const struct table *table, const struct row *row);
/* Draws a chart of `n` rates by size if at least two are known. */
void draw_rows(const struct run *run, const struct row *rows, int n);

/* ordo-bench compare: prints a table per point and adds rows and peers to the file. */
void compare_workload(struct run *run, enum workload workload);

/* Runs the remaining processes, adds them to the file and, with --compare or --against, lists slower rows. Returns
 * EXIT_SLOWER, or EXIT_FAILED for missing rows or failed processes. */
int check(struct run *run, int argc, char **argv);

/* -w open,prepare: opens a device, "@SELECT", or makes first calls, "AHEAD:STRUCTURE:TYPE:VALUE_BYTES@SELECT" (AHEAD 1:
 * after ordo_device_prepare), in a child. Writes the answer and returns the exit status. */
int first_answer(const char *question);
/* Measures them on the run's device with empty and filled caches, and adds rows to "first". `select` opened the
 * device. */
void first_measure(struct run *run, const char *select);

/* ordo-bench paper NAME: loads the paper and reads the options. Exits after an error. */
struct paper_run *paper_begin(int argc, char **argv, const struct options *options);
void              paper_end(struct paper_run **paper);
/* The options of all parts for run->device, valid until the next call. Returns their number. */
int paper_parts(struct run *run, const struct options **parts);
/* Measures, prints, judges, and adds everything to the file. */
void paper_measure(struct run *run);
/* Rows { column: value, ..., "paper": number, "here": number }: the paper's, then other measured ones. */
cJSON *paper_rows_beside(const cJSON *experiment, const cJSON *figures);
void   paper_print_rows(FILE *out, const cJSON *experiment, const cJSON *rows);
