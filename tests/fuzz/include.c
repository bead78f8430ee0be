/* SPDX-License-Identifier: Apache-2.0 */
/* Includes of a user's kernel sources (ORDO_CL_DIR). An input is several files: after a line "@x" comes x.cl for x from
 * a to d, and d/x.cl for x from e to h. a.cl is expanded. */
#include "fuzz.h"

#include "runtime/internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { FILES = 8 };

struct source {
    char        name[16];
    const char *text; /* NULL: no such file */
};

static void name_sources(struct source sources[FILES])
{
    for (int i = 0; i < FILES; i++)
        (void) snprintf(sources[i].name, sizeof sources[i].name, "%s%c.cl", i < FILES / 2 ? "" : "d/",
                        (char) ('a' + i));
}

/* Cuts a text at its lines "@x". */
static void cut(char *text, struct source sources[FILES])
{
    sources[0].text = text;
    for (char *line = text; line && *line;) {
        char *end = strchr(line, '\n');
        if (line[0] == '@' && line[1] >= 'a' && line[1] < 'a' + FILES && line[2] == '\n') {
            sources[line[1] - 'a'].text = line + 3;
            *line = 0;
        }
        line = end ? end + 1 : NULL;
    }
}

static const struct source *source_called(const struct source sources[FILES], const char *name, size_t bytes)
{
    for (int i = 0; i < FILES; i++)
        if (sources[i].text && strlen(sources[i].name) == bytes && memcmp(sources[i].name, name, bytes) == 0)
            return &sources[i];
    return NULL;
}

/* Line `number` of a source, from 1; NULL after its end. */
static const char *line_of(const struct source *source, long number, size_t *bytes)
{
    const char *line = source->text;
    while (--number > 0 && *line) {
        const char *end = strchr(line, '\n');
        line = end ? end + 1 : line + strlen(line);
    }
    *bytes = strcspn(line, "\n");
    return *line ? line : NULL;
}

static bool begins(const char *line, const char *word)
{
    return strncmp(line, word, strlen(word)) == 0;
}

/* Whether every expanded line is the source line that the line marks name. */
static void check_lines(const char *text, const struct source sources[FILES])
{
    const struct source *in = NULL;
    long                 number = 0;
    for (const char *line = text; *line;) {
        const size_t bytes = strcspn(line, "\n");
        if (begins(line, "#line ")) {
            char       *quote = NULL;
            const long  marked = strtol(line + 6, &quote, 10);
            const char *name = quote + 2;
            in = source_called(sources, name, strcspn(name, "\""));
            number = marked;
        } else if (begins(line, "#ifndef ORDO_INCLUDED_")) {
            in = NULL; /* until the next mark */
        } else if (in) {
            size_t      want_bytes = 0;
            const char *want = line_of(in, number++, &want_bytes);
            const bool  dropped = want && begins(want, "#pragma once") && bytes == 0;
            if (want)
                FUZZ_EXPECT(dropped || (bytes == want_bytes && memcmp(line, want, bytes) == 0));
            else
                FUZZ_EXPECT(bytes == 0 || (bytes == 6 && begins(line, "#endif")));
        }
        line += bytes + (line[bytes] == '\n');
    }
}

static void write_sources(const struct source sources[FILES])
{
    char path[FUZZ_PATH];
    for (int i = 0; i < FILES; i++)
        if (sources[i].text)
            fuzz_write(sources[i].name, sources[i].text, strlen(sources[i].text), path);
        else
            fuzz_remove(sources[i].name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct source sources[FILES] = { 0 };
    char         *input = fuzz_text(data, bytes), *text = NULL;
    ordo_device  *dev = fuzz_device();

    FUZZ_EXPECT((dev->cl_dir = ordo_format("%s", fuzz_dir())) != NULL);
    const bool has_marks = strstr(input, "#line") || strstr(input, "ORDO_INCLUDED_");
    name_sources(sources);
    cut(input, sources);
    write_sources(sources);
    const ordo_status got = ordo_program_text(dev, "a.cl", NULL, &text);
    FUZZ_EXPECT(got == ORDO_OK || got == ORDO_BUILD);
    if (got == ORDO_OK) {
        if (!has_marks)
            check_lines(text, sources);
        free(text);
    }
    ordo_device_close(&dev);
    free(input);
    return 0;
}
