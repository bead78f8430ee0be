/* SPDX-License-Identifier: Apache-2.0 */
/* The file that a run leaves: all that --json says, with each row from the moment that it is done. */
#ifndef BENCH_BENCH_FILE_H
#define BENCH_BENCH_FILE_H

#include "rows.h"

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

#endif
