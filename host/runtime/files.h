/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ORDO_FILES_H
#define ORDO_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Opens a regular file of at most `max` bytes that belongs to this user or to root. Refuses symbolic links, and never
 * blocks on a pipe. On failure returns NULL and sets *why. errno is ENOENT only if the file does not exist. */
FILE *ordo_file_open(const char *path, uint64_t max, const char **why);

/* Creates the missing parent directories of `path`. On failure sets errno and returns false. */
bool ordo_file_make_parents(char *path);

/* Replaces the file `target` atomically. `temporary` is a path in the same directory that ends in XXXXXX. If the
 * function `write` fails, it must set errno. On failure sets errno and returns false. */
typedef bool ordo_file_writer(FILE *file, const void *content);
bool         ordo_file_replace(const char *target, char *temporary, ordo_file_writer *write, const void *content);

#endif
