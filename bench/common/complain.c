/* SPDX-License-Identifier: Apache-2.0 */
#include "complain.h"

#include "terminal.h"

#include "ordo/ordo.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *name_of_tool = "ordo";

void tool_name(const char *name)
{
    name_of_tool = name;
    setvbuf(stdout, NULL, _IOLBF, 0);
}

void print_lines(const char *const *lines)
{
    for (; *lines; lines++)
        puts(*lines);
}

void print_version(void)
{
    printf("%s %s\n", name_of_tool, ordo_version());
}

/* Folded on a terminal only: elsewhere a complaint is a line. */
static void complain_with(const char *format, va_list args)
{
    char text[4096];
    vsnprintf(text, sizeof text, format, args);
    progress_clear();
    fflush(stdout);
    if (isatty(STDERR_FILENO))
        say(stderr, 4, "%s: %s", name_of_tool, text);
    else
        fprintf(stderr, "%s: %s\n", name_of_tool, text);
}

void complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain_with(format, args);
    va_end(args);
}

void usage_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain_with(format, args);
    va_end(args);
    fprintf(stderr, "Try '%s --help'.\n", name_of_tool);
    exit(EXIT_USAGE);
}

double option_number(const char *option, const char *text, double low, double high)
{
    char        *end = NULL;
    const double number = strtod(text, &end);
    if (end == text || *end || !(number >= low && number <= high))
        usage_error("%s: '%s' is not a number from %.16g to %.16g", option, text, low, high);
    return number;
}
