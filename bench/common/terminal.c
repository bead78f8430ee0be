/* SPDX-License-Identifier: Apache-2.0 */
#include "terminal.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ---- the terminal -------------------------------------------------------------------------------------------- */

/* Columns of a terminal, 80 if it does not say; INT_MAX if it is none. */
static int columns_of(int file)
{
    struct winsize size = { .ws_col = 0 };
    if (!isatty(file))
        return INT_MAX;
    return ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

/* ---- tables and charts --------------------------------------------------------------------------------------- */

static void table_line(const struct table *table, const char *const *cells)
{
    char   line[512];
    size_t used = 0;
    for (int c = 0; c < table->n_columns && used < sizeof line; c++) {
        const struct column *column = &table->columns[c];
        used += (size_t) snprintf(line + used, sizeof line - used, "%s%*s", c ? "  " : "",
                                  column->left ? -column->width : column->width, cells[c]);
    }
    if (used >= sizeof line)
        used = sizeof line - 1;
    while (used > 0 && line[used - 1] == ' ')
        used--;
    fprintf(table->out, "%.*s\n", (int) used, line);
}

void table_head(const struct table *table)
{
    const char *titles[32];
    for (int c = 0; c < table->n_columns; c++)
        titles[c] = table->columns[c].title;
    progress_clear();
    table_line(table, titles);
}

void table_row(const struct table *table, const char *const *cells)
{
    progress_clear();
    table_line(table, cells);
    fflush(table->out);
}

void chart(FILE *out, const char *title, const struct bar *bars, int n_bars, int width)
{
    const int room = columns_of(fileno(out)) - 12 - 8; /* label and rate */
    double    most = 0;
    if (width > room)
        width = room > 1 ? room : 1;
    for (int b = 0; b < n_bars; b++)
        if (bars[b].value > most)
            most = bars[b].value;

    progress_clear();
    fprintf(out, "%s\n", title);
    for (int b = 0; b < n_bars; b++) {
        char      rate[TEXT_BYTES];
        const int length = most > 0 && !isnan(bars[b].value) ? (int) lround(bars[b].value / most * width) : 0;
        fprintf(out, "%10s |", bars[b].label);
        for (int i = 0; i < length; i++)
            fputc('#', out);
        fprintf(out, " %s\n", text_rate(rate, bars[b].value));
    }
}

/* ---- progress ------------------------------------------------------------------------------------------------ */

static bool progress_is_shown;
static char progress_begin[100];

void progress_about(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(progress_begin, sizeof progress_begin, format, args);
    va_end(args);
}

void progress(const char *format, ...)
{
    const char *terminal = getenv("TERM");
    if (!isatty(STDERR_FILENO) || (terminal && strcmp(terminal, "dumb") == 0))
        return;

    char      line[200];
    const int columns = columns_of(STDERR_FILENO);
    va_list   args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    /* Carriage return, the text, and "erase to the end of the line". */
    char whole[320];
    snprintf(whole, sizeof whole, "%s%s%s", progress_begin, *progress_begin ? ": " : "", line);
    fprintf(stderr, "\r%.*s\033[K", columns - 1, whole);
    fflush(stderr);
    progress_is_shown = true;
}

void progress_clear(void)
{
    if (!progress_is_shown)
        return;
    fprintf(stderr, "\r\033[K");
    fflush(stderr);
    progress_is_shown = false;
}
