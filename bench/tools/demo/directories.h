/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the directories of sorted paths on the host, and checks answers about them. Words have directories too: the
 * first letter, and the first two letters. */
#pragma once

#include "bench/workload/string_keys.h"
#include "verdict.h"

#define NO_DIRECTORY UINT32_MAX /* ORDO_NO_ID */

/* Distinct strings in ascending order: the string with id d is row rows[d] of the column. */
struct sorted_strings {
    const struct string_column *column;
    uint32_t                   *rows;
    uint32_t                   *ids; /* of all rows of the column */
    size_t                      count;
};

/* Numbers the strings of a column by its sorted rows, `order`. False without memory; the caller frees the result in any
 * case. */
bool sorted_number(const struct string_column *column, const uint32_t *order, struct sorted_strings *out);
void sorted_free(struct sorted_strings *sorted);

struct directory {
    uint32_t first;  /* id of the first string in it */
    uint32_t under;  /* strings that begin with its name */
    uint32_t length; /* its name is the begin of string `first` */
    uint32_t parent; /* NO_DIRECTORY: none */
    uint32_t kept;   /* place of itself or the nearest kept parent among kept directories; NO_DIRECTORY: none */
};

/* Directories in ascending order of their names. */
struct directories {
    const struct sorted_strings *sorted;
    size_t                       count, n_kept;
    uint32_t                     least; /* a kept directory has as many strings */
    struct directory            *directory;
    uint32_t                    *innermost; /* per id: the directory that holds it, or NO_DIRECTORY */
};

/* slashes: names of directories end with a slash. Otherwise strings are words. Keeps directories of at least `least`
 * strings. False without memory; the caller frees the result in any case. */
bool directories_find(const struct sorted_strings *sorted, bool slashes, uint32_t least, struct directories *out);
void directories_free(struct directories *directories);

struct string_view directory_name(const struct directories *directories, size_t d);

/* Lists the names of all directories, or only of kept ones. False without memory; the caller frees the column in any
 * case. */
bool directories_names(const struct directories *directories, bool kept, struct string_column *out);

/* The directories with the most strings, in order of names. Returns their number, at most `most`. */
size_t directories_largest(const struct directories *directories, size_t most, uint32_t *out);

/* Compares an answer for each string of `asked` and adds to the verdict. */
void check_words(const struct string_column *asked, const uint32_t *want, const uint32_t *got, struct verdict *verdict);
