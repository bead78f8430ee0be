/* SPDX-License-Identifier: Apache-2.0 */
/* Options of a tool as a table. --help and --version are in each tool. */
#ifndef BENCH_COMMON_OPTIONS_H
#define BENCH_COMMON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct option_row {
    const char *name;     /* with its dashes */
    char        letter;   /* 0: none */
    bool        argument; /* whether it has one */
    void (*take)(void *options, const struct option_row *row, const char *text);
    bool   what; /* it says what is measured, not how */
    size_t at;   /* of the member that it sets, unless `take` knows */
    double low, high;
};
struct option_table {
    const struct option_row *rows;
    int                      n;
    const char *const       *help; /* lines up to NULL */
};

/* Ways to take one: sets true; sets 1; the text; the text, if JSON can be written there; a number from low to high, whole if the
 * member is. */
void take_flag(void *options, const struct option_row *row, const char *text);
void take_one(void *options, const struct option_row *row, const char *text);
void take_text(void *options, const struct option_row *row, const char *text);
void take_json(void *options, const struct option_row *row, const char *text);
void take_double(void *options, const struct option_row *row, const char *text);
void take_uint32(void *options, const struct option_row *row, const char *text);
void take_uint64(void *options, const struct option_row *row, const char *text);
void take_size(void *options, const struct option_row *row, const char *text);

/* Takes all; returns the place of the first other argument. Exits after --help and --version, and with a usage error. */
int take_options(const struct option_table *table, int argc, char **argv, void *options);
/* The same, without other arguments. */
void take_all_options(const struct option_table *table, int argc, char **argv, void *options);

/* The options of a command line again, each as its full name and its argument, but for those of the NULL-ended list `without`
 * (NULL: none), and, with `how`, those that say what is measured. Returns their number: `out` has room for 2 * argc. */
int list_options(const struct option_table *table, int argc, char **argv, bool how, const char *const *without,
                 const char **out);

#endif
