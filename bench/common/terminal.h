/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as people read them. */
#ifndef BENCH_COMMON_TERMINAL_H
#define BENCH_COMMON_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

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

/* Lines, the last of which NULL follows, as one text; the caller frees it. NULL without memory. */
char *text_of_lines(const char *const *lines);

/* What the tools print for people: paragraphs, aligned tables, bar charts, progress on a terminal. Lines fit the terminal;
 * where there is none, $COLUMNS, else 80. */

/* Columns that a line may have; of a terminal what it has. INT_MAX after show_wide. */
int out_columns(FILE *out);
/* From now on tables have all their columns, and nothing is folded. */
void show_wide(void);

/* ---- paragraphs ---------------------------------------------------------------------------------------------- */

/* A paragraph, folded between words; its later lines are indented by so many spaces. A newline within begins such a line
 * too (at the beginning: empty lines), and one at the end is added. Clears what progress shows. */
void say(FILE *out, int indent, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* ---- tables and charts --------------------------------------------------------------------------------------- */

/* Columns of fixed width, so that a row can be printed as soon as it is known. A longer cell pushes the rest, on to a line
 * of its own if need be. */
struct column {
    char title[16];
    int  width;
    bool left; /* text to the left, numbers to the right */
    int  rank; /* of those that do not fit, the highest are left out; 0: never */
};
#define COLUMNS_MAX 24
struct table {
    FILE                *out;
    const struct column *columns;
    int                  n_columns;
    bool                 left_out[COLUMNS_MAX]; /* found by table_fit */
};
/* Decides which columns there is room for, and names the others in a line. */
void table_fit(struct table *table);
void table_head(const struct table *table);
/* n_columns texts. Clears what progress shows. */
void table_row(const struct table *table, const char *const *cells);

struct bar {
    char   label[TEXT_BYTES];
    double value; /* NaN: nothing is drawn */
};
/* One line per bar, the longest of them filling the width, or what there is of it; each with its value as a rate. */
void chart(FILE *out, const char *title, const struct bar *bars, int n_bars, int width);

/* ---- progress ------------------------------------------------------------------------------------------------ */

/* What the lines of progress begin with from now on; nothing if that is empty. */
void progress_about(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* From now on progress is told where stderr is no terminal too: by a line every ten seconds. */
void progress_in_lines(void);
/* One line on stderr that the next one overwrites, cut to the terminal. Where stderr is no terminal: nothing, or a line if
 * nothing was printed for ten seconds (progress_in_lines). */
void progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
void progress_clear(void);

/* Complaints, and how a tool ends. */

/* Exit codes of every tool. */
enum { EXIT_GOOD = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_SLOWER = 3, EXIT_INTERRUPTED = 130 };

/* Sets the name that complaints and the version begin with, and lets standard output go out line by line, also into a
 * pipe. */
void tool_name(const char *name);
/* What --help and --version print: the lines of a tool's help.txt, which ends with NULL; and its name and version. */
void print_lines(const char *const *lines);
void print_version(void);
/* "name: sentence" on stderr. */
void report_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same (NULL: nothing) with a hint at --help, then exits with EXIT_USAGE. */
void usage_error(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/* A number of an option; anything else, or outside low..high, is a usage error. */
double option_number(const char *option, const char *text, double low, double high);

/* An end that was asked for: by Ctrl-C, or by the signal that timeout(1) sends. */

/* From now on the first SIGINT or SIGTERM only asks for the end, and says so; the second ends the program at once. */
void stop_on_signal(void);
/* Whether it was asked for. */
bool stop_asked(void);

#endif
