/* SPDX-License-Identifier: Apache-2.0 */
/* Output for people: numbers, paragraphs, tables, bar charts, progress, errors. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TEXT_BYTES 32

/* A text that lives until the end of the block. */
#define TEXT ((char[TEXT_BYTES]) { 0 })

/* Return `text`. NaN becomes "-". */
char *text_rate(char text[TEXT_BYTES], double per_second); /* "25.3 G", "412 M" */
char *text_seconds(char text[TEXT_BYTES], double seconds); /* "41.2 ms" */
char *text_bytes(char text[TEXT_BYTES], double bytes);     /* "8.00 MiB" */
char *text_giga(char text[TEXT_BYTES], double number);     /* in 10^9, no unit: "2996", "0.12" */
char *text_count(char text[TEXT_BYTES], size_t count);     /* "2^20", or "1000" */
char *text_grouped(char text[TEXT_BYTES], size_t number);  /* "16,000,000" */
char *text_ratio(char text[TEXT_BYTES], double ratio);     /* "1.23x" */
char *text_percent(char text[TEXT_BYTES], double share);   /* "87 %" */

/* Joins lines that end with NULL. The caller frees it; NULL without memory. */
char *text_of_lines(const char *const *lines);

/* Lines fit the terminal, else $COLUMNS, else 80 columns. This disables folding and hiding of columns. */
void show_wide(void);

/* Prints a folded paragraph. Later lines are indented; newlines at the start print empty lines; one newline is added
 * at the end. Clears progress. */
void say(FILE *out, int indent, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Columns of fixed width, so that rows print immediately. A longer cell pushes the rest, to a new line if needed. */
struct column {
    char title[24];
    int  width;
    bool left; /* left-aligned text, else right-aligned */
    int  rank; /* the highest ranks are hidden first; 0: never hidden */
};
#define COLUMNS_MAX 24
struct table {
    FILE                *out;
    const struct column *columns;
    int                  n_columns;
    bool                 left_out[COLUMNS_MAX]; /* set by table_fit */
};
/* Hides columns that do not fit, and prints their names and the head. */
void table_fit(struct table *table);
void table_head(const struct table *table);
/* Prints n_columns texts. Clears progress. */
void table_row(const struct table *table, const char *const *cells);

/* Prints a line of a chart, with the share of the longest bar (NaN: no bar) and the rate. */
#define BAR_MAX 50
void bar(FILE *out, const char *label, double rate, double share);

/* Sets the prefix of progress lines ("" for none). */
void progress_about(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints progress every ten seconds if stderr is no terminal. */
void progress_in_lines(void);
/* Overwrites one line on stderr, cut to the terminal. Without a terminal: nothing, or see progress_in_lines. */
void progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
void progress_clear(void);

enum { EXIT_GOOD = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_SLOWER = 3, EXIT_INTERRUPTED = 130 };

/* Sets the name in errors and --version, and makes standard output line-buffered. */
void tool_name(const char *name);
void print_version(void);
/* Prints "name: sentence" on stderr. */
void report_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints the error (NULL: none) and a hint at --help. Exits with EXIT_USAGE. */
void usage_error(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Makes the first SIGINT or SIGTERM set stop_asked and print a note; the second ends the program. */
void stop_on_signal(void);
bool stop_asked(void);
