/* SPDX-License-Identifier: Apache-2.0 */
#include "terminal.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* ---- the terminal -------------------------------------------------------------------------------------------- */

static bool is_wide;

void show_wide(void)
{
    is_wide = true;
}

/* Columns of a terminal; `otherwise` if it is none. */
static int columns_of(int file, int otherwise)
{
    struct winsize size = { .ws_col = 0 };
    const char    *chosen = getenv("COLUMNS");
    const int      columns = chosen ? atoi(chosen) : 0;
    if (isatty(file) && ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col)
        return size.ws_col;
    if (columns > 0 && columns < 10000)
        return columns;
    return isatty(file) ? 80 : otherwise;
}

int out_columns(FILE *out)
{
    return is_wide ? INT_MAX : columns_of(fileno(out), 80);
}

/* ---- paragraphs ---------------------------------------------------------------------------------------------- */

/* How many bytes of the text go on a line of so many columns: up to a space or newline, or the whole first word. */
static size_t fold(const char *text, int room)
{
    const size_t line = strcspn(text, "\n");
    size_t       at = 0, end = 0;
    if (room == INT_MAX || line <= (size_t) (room > 0 ? room : 0))
        return line;
    while (at < line) {
        at += strcspn(text + at, " \n");
        if (end > 0 && at > (size_t) (room > 0 ? room : 0))
            break;
        end = at;
        at += strspn(text + at, " ");
    }
    return end;
}

void say(FILE *out, int indent, const char *format, ...)
{
    char      text[4096];
    va_list   args;
    const int columns = out_columns(out);
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);

    progress_clear();
    const char *at = text;
    for (; *at == '\n' && at[1]; at++)
        fputc('\n', out);
    for (int line = 0; line == 0 || *at; line++) {
        const int    room = columns == INT_MAX ? INT_MAX : columns - (line ? indent : 0);
        const size_t length = fold(at, room);
        fprintf(out, "%*s%.*s\n", line && length ? indent : 0, "", (int) length, at);
        at += length;
        at += *at == '\n' ? 1 : strspn(at, " ");
    }
}

/* ---- tables and charts --------------------------------------------------------------------------------------- */

static int table_width(const struct table *table)
{
    int width = -2;
    for (int c = 0; c < table->n_columns; c++)
        width += table->left_out[c] ? 0 : table->columns[c].width + 2;
    return width;
}

/* The shown (or left out) column of the highest (or lowest) rank; -1 if there is none. */
static int next_column(const struct table *table, bool left_out, bool highest, int above)
{
    int found = -1;
    for (int c = 0; c < table->n_columns; c++) {
        const int rank = table->columns[c].rank;
        if (table->left_out[c] != left_out || rank <= above)
            continue;
        if (found < 0 || (highest ? rank > table->columns[found].rank : rank < table->columns[found].rank))
            found = c;
    }
    return found;
}

void table_fit(struct table *table)
{
    const int columns = out_columns(table->out);
    for (int c = 0; c < table->n_columns; c++)
        table->left_out[c] = false;
    for (int c; table_width(table) > columns && (c = next_column(table, false, true, 0)) >= 0;)
        table->left_out[c] = true;
    /* What is narrow may fit although something of a lower rank does not. */
    for (int rank = 0, c; (c = next_column(table, true, false, rank)) >= 0; rank = table->columns[c].rank) {
        table->left_out[c] = false;
        table->left_out[c] = table_width(table) > columns;
    }

    char   names[512] = "";
    size_t used = 0;
    for (int c = 0; c < table->n_columns && used < sizeof names; c++)
        if (table->left_out[c])
            used +=
                (size_t) snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", table->columns[c].title);
    if (used)
        say(table->out, 4, "    (not shown in %d columns: %s; --wide shows all)", columns, names);
}

/* A cell that does not fit begins a new line, indented. */
static void table_line(const struct table *table, const char *const *cells)
{
    const int columns = out_columns(table->out);
    char      line[1024] = "";
    size_t    used = 0;
    for (int c = 0, shown = 0; c < table->n_columns; c++) {
        const struct column *column = &table->columns[c];
        char                 cell[512];
        if (table->left_out[c])
            continue;
        snprintf(cell, sizeof cell, "%s%*s", shown++ ? "  " : "", column->left ? -column->width : column->width,
                 cells[c]);
        size_t length = strlen(cell);
        while (length > 0 && cell[length - 1] == ' ' && c + 1 == table->n_columns)
            length--;
        if (used > 0 && columns != INT_MAX && used + length > (size_t) columns) {
            fprintf(table->out, "%s\n", line);
            used = (size_t) snprintf(line, sizeof line, "        ");
        }
        used += (size_t) snprintf(line + used, sizeof line - used, "%.*s", (int) length, cell);
        if (used >= sizeof line)
            used = sizeof line - 1;
    }
    while (used > 0 && line[used - 1] == ' ')
        used--;
    fprintf(table->out, "%.*s\n", (int) used, line);
}

void table_head(const struct table *table)
{
    const char *titles[MOST_COLUMNS];
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
    const int room = (is_wide ? 80 : out_columns(out)) - 12 - 8; /* label and rate */
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

#define SECONDS_A_LINE 10

static bool   progress_is_shown;
static bool   has_lines;
static time_t printed_at; /* a line of progress, or something else */
static char   progress_begin[100];

void progress_about(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(progress_begin, sizeof progress_begin, format, args);
    va_end(args);
}

void progress_in_lines(void)
{
    has_lines = true;
    printed_at = time(NULL);
}

void progress(const char *format, ...)
{
    const char *terminal = getenv("TERM");
    const bool  overwrites = isatty(STDERR_FILENO) && !(terminal && strcmp(terminal, "dumb") == 0);
    if (!overwrites && (!has_lines || time(NULL) - printed_at < SECONDS_A_LINE))
        return;

    char      line[200];
    const int columns = columns_of(STDERR_FILENO, 80);
    va_list   args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    /* Carriage return, the text, and "erase to the end of the line". */
    char whole[320];
    snprintf(whole, sizeof whole, "%s%s%s", progress_begin, *progress_begin ? ": " : "", line);
    fprintf(stderr, overwrites ? "\r%.*s\033[K" : "%.*s\n", overwrites ? columns - 1 : (int) sizeof whole, whole);
    fflush(stderr);
    progress_is_shown = overwrites;
    printed_at = time(NULL);
}

void progress_clear(void)
{
    printed_at = time(NULL);
    if (!progress_is_shown)
        return;
    fprintf(stderr, "\r\033[K");
    fflush(stderr);
    progress_is_shown = false;
}
