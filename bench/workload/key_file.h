/* SPDX-License-Identifier: Apache-2.0 */
/* Files of keys (--keys). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The bytes of a file, with space for one more. NULL with the reason in `why`. The caller frees it. */
char *file_bytes(const char *path, size_t *n_bytes, char *why);

/* A file of numbers: keys of one type, one behind the other, as they lie in the device's memory. */
struct number_file {
    const char *path;
    char       *bytes;
    size_t      n_bytes;
};

/* NULL with the reason in `why` if the file cannot be read or is empty. The caller frees it with numbers_free. `path`
 * must stay valid. */
struct number_file *numbers_read(const char *path, char *why);
void                numbers_free(struct number_file *numbers);

/* Writes keys first .. first + count - 1 of the file, which begins again at its end. */
void numbers_copy(const struct number_file *numbers, size_t key_bytes, size_t first, size_t count, void *keys);
