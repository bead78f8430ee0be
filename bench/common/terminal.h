/* SPDX-License-Identifier: Apache-2.0 */
/* What the tools print for people: paragraphs, aligned tables, bar charts, progress on a terminal. Lines fit the terminal;
 * where there is none, $COLUMNS, else 80. */
#ifndef BENCH_TERMINAL_H
#define BENCH_TERMINAL_H

#include "text.h"

#include <stdbool.h>
#include <stdio.h>

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
#define MOST_COLUMNS 24
struct table {
    FILE                *out;
    const struct column *columns;
    int                  n_columns;
    bool                 left_out[MOST_COLUMNS]; /* found by table_fit */
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

#endif
