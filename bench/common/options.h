/* SPDX-License-Identifier: Apache-2.0 */
/* Command-line options as a table. --help and --version are built in. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct option_row {
    const char *name;     /* with dashes */
    char        letter;   /* 0: none */
    bool        argument; /* it has an argument */
    void (*take)(void *options, const struct option_row *row, const char *text);
    bool   what; /* it selects the measurement */
    size_t at;   /* offset of its member, 0 if `take` knows it */
    double low, high;
};
struct option_table {
    const struct option_row *rows;
    int                      n;
    const char *const       *help; /* ends with NULL */
};

/* Setters: true, 1, the text, the text of a writable JSON path, a number from low to high (whole for integer
 * members). */
void take_flag(void *options, const struct option_row *row, const char *text);
void take_one(void *options, const struct option_row *row, const char *text);
void take_text(void *options, const struct option_row *row, const char *text);
void take_json(void *options, const struct option_row *row, const char *text);
void take_double(void *options, const struct option_row *row, const char *text);
void take_uint32(void *options, const struct option_row *row, const char *text);
void take_uint64(void *options, const struct option_row *row, const char *text);
void take_size(void *options, const struct option_row *row, const char *text);

/* Takes all options. Returns the index of the first other argument. Exits after --help and --version and after an
 * error. */
int take_options(const struct option_table *table, int argc, char **argv, void *options);
/* Takes all options and rejects other arguments. */
void take_all_options(const struct option_table *table, int argc, char **argv, void *options);

/* Lists the options of a command line by full name and argument. Leaves out the NULL-ended list `without` (NULL:
 * nothing) and, with `how`, all options that select the measurement. Returns the number of words; `out` has
 * space for 2 * argc. */
int list_options(const struct option_table *table, int argc, char **argv, bool how, const char *const *without,
                 const char **out);
