/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include "json.h"
#include "terminal.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MEMBER(type) (*(type *) ((char *) options + row->at))

void take_flag(void *options, const struct option_row *row, const char *text)
{
    (void) text;
    MEMBER(bool) = true;
}

void take_one(void *options, const struct option_row *row, const char *text)
{
    (void) text;
    MEMBER(uint32_t) = 1;
}

void take_text(void *options, const struct option_row *row, const char *text)
{
    MEMBER(const char *) = text;
}

void take_json(void *options, const struct option_row *row, const char *text)
{
    MEMBER(const char *) = json_option(text);
}

/* Exits with a usage error outside low..high. */
static double parse(const struct option_row *row, const char *text, bool whole)
{
    char        *end = NULL;
    const double number = strtod(text, &end);
    if (end == text || *end || !(number >= row->low && number <= row->high))
        usage_error("%s: '%s' is not a number from %.16g to %.16g", row->name, text, row->low, row->high);
    if (whole && number != floor(number))
        usage_error("%s: '%s' is not a whole number", row->name, text);
    return number;
}

void take_double(void *options, const struct option_row *row, const char *text)
{
    MEMBER(double) = parse(row, text, false);
}

#define TAKE_WHOLE(name, type)                                                                                         \
    void name(void *options, const struct option_row *row, const char *text)                                           \
    {                                                                                                                  \
        MEMBER(type) = (type) parse(row, text, true);                                                                  \
    }
TAKE_WHOLE(take_uint32, uint32_t)
TAKE_WHOLE(take_uint64, uint64_t)
TAKE_WHOLE(take_size, size_t)

#define ROWS_MAX 64
enum { CODE_OF_ROW = 256, CODE_OF_VERSION = CODE_OF_ROW + ROWS_MAX };

struct getopt_names {
    struct option names[ROWS_MAX + 3];
    char          letters[2 * ROWS_MAX + 2];
};

static struct getopt_names getopt_names(const struct option_table *table)
{
    struct getopt_names g = { .letters = "h" };
    int                 at = 1, i = 0;
    for (; i < table->n; i++) {
        const struct option_row *row = &table->rows[i];
        g.names[i] = (struct option) { row->name + 2, row->argument, NULL, CODE_OF_ROW + i };
        if (row->letter)
            g.letters[at++] = row->letter;
        if (row->letter && row->argument)
            g.letters[at++] = ':';
    }
    g.names[i] = (struct option) { "help", no_argument, NULL, 'h' };
    g.names[i + 1] = (struct option) { "version", no_argument, NULL, CODE_OF_VERSION };
    optind = 0; /* restarts getopt */
    return g;
}

/* The row of a return value of getopt_long. Exits if there is none. */
static const struct option_row *row_of(const struct option_table *table, int code)
{
    for (int i = 0; i < table->n; i++)
        if (code == CODE_OF_ROW + i || code == table->rows[i].letter)
            return &table->rows[i];
    for (const char *const *line = table->help; code == 'h' && *line; line++)
        puts(*line);
    if (code == CODE_OF_VERSION)
        print_version();
    else if (code != 'h')
        usage_error(NULL); /* getopt printed the error */
    exit(EXIT_GOOD);
}

int take_options(const struct option_table *table, int argc, char **argv, void *options)
{
    const struct getopt_names g = getopt_names(table);
    for (int code; (code = getopt_long(argc, argv, g.letters, g.names, NULL)) != -1;) {
        const struct option_row *row = row_of(table, code);
        row->take(options, row, optarg);
    }
    return optind;
}

void take_all_options(const struct option_table *table, int argc, char **argv, void *options)
{
    const int next = take_options(table, argc, argv, options);
    if (next < argc)
        usage_error("unexpected argument '%s'", argv[next]);
}

int list_options(const struct option_table *table, int argc, char **argv, bool how, const char *const *without,
                 const char **out)
{
    const struct getopt_names g = getopt_names(table);
    int                       n = 0;
    for (int code; (code = getopt_long(argc, argv, g.letters, g.names, NULL)) != -1;) {
        const struct option_row *row = row_of(table, code);
        bool                     left_out = how && row->what;
        for (const char *const *name = without; name && *name; name++)
            left_out |= strcmp(*name, row->name) == 0;
        if (left_out)
            continue;
        out[n++] = row->name;
        if (row->argument)
            out[n++] = optarg;
    }
    return n;
}
