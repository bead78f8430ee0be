/* SPDX-License-Identifier: Apache-2.0 */
/* What the tools print for people: aligned tables, bar charts, progress on a terminal. */
#ifndef BENCH_TERMINAL_H
#define BENCH_TERMINAL_H

#include "text.h"

#include <stdbool.h>
#include <stdio.h>

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

#endif
