/* SPDX-License-Identifier: Apache-2.0 */
/* How the tools speak: aligned tables, bar charts, progress on a terminal, JSON, complaints about arguments. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "ordo/ordo.h"

#include <cjson/cJSON.h>
#include <stdio.h>

/* ---- numbers as text ----------------------------------------------------------------------------------------- */

/* Room for what the functions below write. */
#define TEXT_BYTES 32

/* All return `text`. NaN gives "-". */
char *text_rate(char text[TEXT_BYTES], double per_second); /* "25.3 G", "412 M" */
char *text_seconds(char text[TEXT_BYTES], double seconds); /* "41.2 ms" */
char *text_bytes(char text[TEXT_BYTES], double bytes);     /* "8.00 MiB" */
char *text_giga(char text[TEXT_BYTES], double number);     /* in 10^9, without a unit: "2996", "0.12" */
char *text_count(char text[TEXT_BYTES], size_t count);     /* "2^20", or the number */
char *text_grouped(char text[TEXT_BYTES], size_t number);  /* "16,000,000" */
char *text_ratio(char text[TEXT_BYTES], double ratio);     /* "1.23x" */
char *text_percent(char text[TEXT_BYTES], double share);   /* "87 %" */

/* ---- tables and charts --------------------------------------------------------------------------------------- */

/* Columns of fixed width, so that a row can be printed as soon as it is known. A longer cell pushes the rest. */
struct column {
    char title[16];
    int  width;
    bool left; /* text to the left, numbers to the right */
};
struct table {
    FILE                *out;
    const struct column *columns;
    int                  n_columns;
};
void table_head(const struct table *table);
/* n_columns texts. Clears what progress shows. */
void table_row(const struct table *table, const char *const *cells);

struct bar {
    char   label[TEXT_BYTES];
    double value; /* NaN: nothing is drawn */
};
/* One line per bar, the longest of them filling the width, or what there is of it on a terminal; each with its value as a
 * rate. */
void chart(FILE *out, const char *title, const struct bar *bars, int n_bars, int width);

/* ---- progress ------------------------------------------------------------------------------------------------ */

/* What the lines of progress begin with from now on; nothing if that is empty. */
void progress_about(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* One line on stderr that the next one overwrites, cut to the terminal; nothing at all if stderr is no terminal. */
void progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
void progress_clear(void);

/* ---- JSON ---------------------------------------------------------------------------------------------------- */

/* Adds a number cut to six digits; NaN is added as null. */
void json_number(cJSON *object, const char *name, double number);
/* "tool", "version", "revision", "date", "host" (system, processors, variables that change results), "arguments". */
cJSON *json_head(const char *tool, int argc, char **argv);
cJSON *json_device(const struct ordo_device_facts *facts);
/* The argument of --json; ends the program as usage_error does if it cannot be written to: not after hours of measuring. */
const char *json_option(const char *path);
/* Both: "-" is standard input or output; on failure the reason is in `why`. json_read returns NULL then. */
bool   json_write(const char *path, const cJSON *json, char *why, size_t why_bytes);
cJSON *json_read(const char *path, char *why, size_t why_bytes);

/* ---- names of facts, the same in every tool ------------------------------------------------------------------ */

const char *lanes_name(ordo_lanes lanes);
const char *atomics_name(ordo_atomics atomics);
const char *origin_name(ordo_origin origin);

/* ---- complaints ---------------------------------------------------------------------------------------------- */

/* Exit codes of every tool. */
enum { EXIT_GOOD = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* Sets the name that complaints and the version begin with. */
void tool_name(const char *name);
/* What --help and --version print: the lines of a tool's help.txt, which ends with NULL; and its name and version. */
void print_lines(const char *const *lines);
void print_version(void);
/* "name: sentence" on stderr. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same with a hint at --help, then exits with EXIT_USAGE. */
void usage_error(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/* A number of an option; anything else, or outside low..high, is a usage error. */
double option_number(const char *option, const char *text, double low, double high);

#endif
