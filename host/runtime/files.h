/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ORDO_FILES_H
#define ORDO_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Opens a regular file of this user or of root with at most `max` bytes. Follows no link at the end of the path, and
 * never waits for a writer. After NULL, *why is the reason, and errno is ENOENT only if there is no such file. */
FILE *ordo_file_open(const char *path, uint64_t max, const char **why);

/* Creates the missing directories above a path. Sets errno and returns false on failure. */
bool ordo_file_make_parents(char *path);

/* Writes a file under a temporary name that no other process has, then renames it to `target`, so that a reader sees
 * the whole file or none. `temporary` is in the same directory and ends in XXXXXX. `write` writes the content. Both
 * functions set errno and return false on failure, which leaves no temporary file. */
typedef bool ordo_file_writer(FILE *file, const void *content);
bool         ordo_file_replace(const char *target, char *temporary, ordo_file_writer *write, const void *content);

#endif
