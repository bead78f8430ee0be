/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of strings: inputs of workloads of strings, and checks of their answers. */
#pragma once

#include "workload.h"

/* A column in the layout of ordo/strings.h. The first offset is 0, the last is n_bytes. */
struct string_column {
    void    *offsets;
    uint32_t offset_bytes;
    char    *bytes;
    size_t   n_bytes, count;
};

struct string_view {
    const char *at;
    size_t      bytes;
};
struct string_view string_at(const struct string_column *column, size_t i);
/* The order of memcmp. A string comes after its prefixes. */
int string_order(struct string_view a, struct string_view b);

/* The lines of a file. */
struct string_lines {
    const char *path;
    char       *text;
    size_t     *starts; /* of `count` lines, and the end; each line includes its end of line */
    size_t      count, longest, bytes;
};
/* NULL with the reason in `why` if the file cannot be read or has no line. The caller frees it with lines_free. `path`
 * must stay valid. */
struct string_lines *lines_read(const char *path, char *why);
void                 lines_free(struct string_lines *lines);

/* Upper bounds of the bytes of all strings of the column, and of all queries. */
size_t strings_bytes(const struct spec *spec);
size_t queries_bytes(const struct spec *spec);

/* Draws the column, in order for STRINGS_VALUES only, and the queries. Workloads that ask for whole strings get strings
 * of the column, and such strings with a changed byte. Others get prefixes of strings of the column. False without
 * memory; the caller frees both in any case. */
bool strings_make(const struct spec *spec, struct string_column *column, struct string_column *asked);
void strings_free(struct string_column *column);

/* Results in host memory. A workload uses some of them. An index or a dictionary proves its content with rows_of_ids
 * and ids_of_rows. The value of a string in a dictionary is the last row with this string. */
struct string_answer {
    const uint32_t *rows;        /* sortstrings: count rows */
    size_t          ids;         /* number of distinct strings */
    const uint32_t *rows_of_ids; /* ids rows: the first with each string, in order; of a dictionary its value */
    const uint32_t *ids_of_rows; /* count ids, or ORDO_NO_ID for erased strings */
    const uint32_t *found;       /* n_queries ids; of prefixes the first id, or the number of lesser strings; of
                                  * getstrings values, or POISON_WORD's low half; of rankstrings ranks */
    const uint32_t *counts;      /* of prefixes: n_queries */
};

/* Checks an answer completely. `why` gets the first error. */
bool strings_check(const struct spec *spec, const struct string_column *column, const struct string_column *asked,
                   const struct string_answer *answer, char *why);
