/* SPDX-License-Identifier: Apache-2.0 */
#include "terminal.h"

#include "ordo/ordo.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* Three significant digits and the unit. */
static char *digits(char text[TEXT_BYTES], double number, const char *unit)
{
    if (isnan(number))
        snprintf(text, TEXT_BYTES, "-");
    else
        snprintf(text, TEXT_BYTES, "%.*f%s", number < 9.995 ? 2 : number < 99.95 ? 1 : 0, number, unit);
    return text;
}

static char *scaled(char text[TEXT_BYTES], double number, double base, const char *const *units, int n_units)
{
    int unit = 0;
    for (; unit + 1 < n_units && number >= base * 0.9995; unit++)
        number /= base;
    return digits(text, number, units[unit]);
}

char *text_rate(char text[TEXT_BYTES], double per_second)
{
    return scaled(text, per_second, 1000, (const char *[]) { " ", " k", " M", " G", " T" }, 5);
}

char *text_seconds(char text[TEXT_BYTES], double seconds)
{
    if (seconds >= 0.9995)
        return digits(text, seconds, " s");
    return scaled(text, seconds * 1e9, 1000, (const char *[]) { " ns", " us", " ms" }, 3);
}

char *text_bytes(char text[TEXT_BYTES], double bytes)
{
    return scaled(text, bytes, 1024, (const char *[]) { " B", " KiB", " MiB", " GiB", " TiB" }, 5);
}

char *text_giga(char text[TEXT_BYTES], double number)
{
    return digits(text, number * 1e-9, "");
}

char *text_ratio(char text[TEXT_BYTES], double ratio)
{
    return digits(text, ratio, "x");
}

char *text_percent(char text[TEXT_BYTES], double share)
{
    if (isnan(share))
        return digits(text, share, "");
    snprintf(text, TEXT_BYTES, share < 0.0995 ? "%.1f %%" : "%.0f %%", share * 100);
    return text;
}

char *text_count(char text[TEXT_BYTES], size_t count)
{
    if (count >= 16 && (count & (count - 1)) == 0)
        snprintf(text, TEXT_BYTES, "2^%.0f", log2((double) count));
    else
        snprintf(text, TEXT_BYTES, "%zu", count);
    return text;
}

char *text_grouped(char text[TEXT_BYTES], size_t number)
{
    char digits[TEXT_BYTES];
    int  used = 0;
    snprintf(digits, sizeof digits, "%zu", number);
    for (size_t left = strlen(digits), at = 0; left > 0; left--, at++) {
        text[used++] = digits[at];
        if (left > 1 && left % 3 == 1)
            text[used++] = ',';
    }
    text[used] = 0;
    return text;
}

char *text_of_lines(const char *const *lines)
{
    size_t bytes = 1, used = 0;
    for (size_t i = 0; lines[i]; i++)
        bytes += strlen(lines[i]) + 1;
    char *text = malloc(bytes);
    for (size_t i = 0; text && lines[i]; i++)
        used += (size_t) snprintf(text + used, bytes - used, "%s\n", lines[i]);
    return text;
}

/* ---- the terminal -------------------------------------------------------------------------------------------- */

/* Columns after show_wide. */
#define WIDE 10000
static bool is_wide;

void show_wide(void)
{
    is_wide = true;
}

static int columns_of(int file)
{
    struct winsize size = { .ws_col = 0 };
    const char    *chosen = getenv("COLUMNS");
    const int      columns = chosen ? atoi(chosen) : 0;
    if (isatty(file) && ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col)
        return size.ws_col;
    return columns > 0 && columns < WIDE ? columns : 80;
}

static int out_columns(FILE *out)
{
    return is_wide ? WIDE : columns_of(fileno(out));
}

/* ---- paragraphs ---------------------------------------------------------------------------------------------- */

/* The number of bytes that fit on a line: up to a space or newline, or the first word. */
static size_t fold(const char *text, size_t room)
{
    const size_t line = strcspn(text, "\n");
    size_t       end = line > room ? 0 : line;
    for (size_t at = 0; line > room && at < line; at += strspn(text + at, " ")) {
        at += strcspn(text + at, " \n");
        if (end > 0 && at > room)
            break;
        end = at;
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
        const int    room = columns - (line ? indent : 0);
        const size_t length = fold(at, (size_t) (room > 0 ? room : 0));
        fprintf(out, "%*s%.*s\n", line && length ? indent : 0, "", (int) length, at);
        at += length;
        at += *at == '\n' ? 1 : strspn(at, " ");
    }
}

/* ---- tables and charts --------------------------------------------------------------------------------------- */

/* A cell that does not fit begins a new, indented line. */
void table_row(const struct table *table, const char *const *cells)
{
    const int columns = out_columns(table->out);
    int       used = 0, last = table->n_columns - 1;
    progress_clear();
    while (last > 0 && table->left_out[last])
        last--;
    for (int c = 0; c <= last; c++) {
        const struct column *column = &table->columns[c];
        char                 cell[512];
        if (table->left_out[c])
            continue;
        snprintf(cell, sizeof cell, "%s%*s", used ? "  " : "", column->left ? -column->width : column->width, cells[c]);
        int length = (int) strlen(cell);
        while (length > 0 && cell[length - 1] == ' ' && c == last)
            length--;
        if (used > 0 && used + length > columns)
            used = fprintf(table->out, "\n        ") - 1;
        used += fprintf(table->out, "%.*s", length, cell);
    }
    fputc('\n', table->out);
    fflush(table->out);
}

void table_head(const struct table *table)
{
    const char *titles[COLUMNS_MAX] = { "" };
    for (int c = 0; c < table->n_columns; c++)
        titles[c] = table->columns[c].title;
    table_row(table, titles);
}

void table_fit(struct table *table)
{
    const int columns = out_columns(table->out);
    int       left = columns + 2, highest = 0;
    for (int c = 0; c < table->n_columns; c++)
        highest = table->columns[c].rank > highest ? table->columns[c].rank : highest;
    /* A narrow column may fit although one of lower rank does not. */
    for (int rank = 0; rank <= highest && !is_wide; rank++)
        for (int c = table->n_columns - 1; c >= 0; c--)
            if (table->columns[c].rank == rank) {
                table->left_out[c] = rank > 0 && table->columns[c].width + 2 > left;
                left -= table->left_out[c] ? 0 : table->columns[c].width + 2;
            }
    char   names[512] = "";
    size_t used = 0;
    for (int c = 0; c < table->n_columns && used < sizeof names; c++)
        if (table->left_out[c])
            used +=
                (size_t) snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", table->columns[c].title);
    if (used)
        say(table->out, 4, "    (not shown in %d columns: %s; --wide shows all)", columns, names);
    table_head(table);
}

void bar(FILE *out, const char *label, double rate, double share)
{
    const int room = (is_wide ? 80 : out_columns(out)) - 12 - 8; /* label and rate */
    const int length = isnan(share) ? 0 : (int) lround(share * (room > BAR_MAX ? BAR_MAX : room > 1 ? room : 1));
    progress_clear();
    fprintf(out, "%10s |", label);
    for (int i = 0; i < length; i++)
        fputc('#', out);
    fprintf(out, " %s\n", text_rate(TEXT, rate));
}

/* ---- progress ------------------------------------------------------------------------------------------------ */

#define SECONDS_A_LINE 10

static bool   progress_is_shown;
static bool   has_lines;
static time_t printed_at; /* when anything was last printed */
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
    const int columns = columns_of(STDERR_FILENO);
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

static const char *name_of_tool = "ordo";

void tool_name(const char *name)
{
    name_of_tool = name;
    setvbuf(stdout, NULL, _IOLBF, 0);
}

void print_version(void)
{
    printf("%s %s\n", name_of_tool, ordo_version());
}

/* Folds only on a terminal: elsewhere an error is one line. */
void report_error(const char *format, ...)
{
    char    text[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    progress_clear();
    fflush(stdout);
    if (isatty(STDERR_FILENO))
        say(stderr, 4, "%s: %s", name_of_tool, text);
    else
        fprintf(stderr, "%s: %s\n", name_of_tool, text);
}

void usage_error(const char *format, ...)
{
    char    text[4096];
    va_list args;
    va_start(args, format);
    if (format) {
        vsnprintf(text, sizeof text, format, args);
        report_error("%s", text);
    }
    va_end(args);
    fprintf(stderr, "Try '%s --help'.\n", name_of_tool);
    exit(EXIT_USAGE);
}

static volatile sig_atomic_t asked;

static void ask(int signal_)
{
    static const char text[] = "\ninterrupted: ends after the row at hand; at once if interrupted again\n";
    const int         error = errno;
    (void) signal_;
    asked = 1;
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        asked = 1; /* the reader is gone */
    errno = error;
}

void stop_on_signal(void)
{
    /* SA_RESETHAND: a second signal has the default action. */
    struct sigaction action = { .sa_handler = ask, .sa_flags = SA_RESTART };
    action.sa_flags |= (int) SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool stop_asked(void)
{
    return asked;
}
