/* SPDX-License-Identifier: Apache-2.0 */
#include "key_file.h"

#include "bench/common/why.h"
#include "workload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *file_bytes(const char *path, size_t *n_bytes, char *why)
{
    FILE  *file = fopen(path, "rb");
    char  *bytes = NULL;
    size_t room = 0;
    *n_bytes = 0;
    while (file && !ferror(file) && !feof(file)) {
        if (*n_bytes + 1 >= room) {
            char *more = realloc(bytes, room = room ? 2 * room : 1 << 16);
            if (!more) {
                errno = ENOMEM;
                break;
            }
            bytes = more;
        }
        *n_bytes += fread(bytes + *n_bytes, 1, room - 1 - *n_bytes, file);
    }
    const bool whole = file && feof(file);
    if (!whole) {
        because(why, "cannot read %.300s: %s", path, strerror(errno));
        free(bytes);
    }
    if (file)
        (void) fclose(file);
    return whole ? bytes : NULL;
}

static bool fill_numbers(struct number_file *numbers, char *why)
{
    numbers->bytes = file_bytes(numbers->path, &numbers->n_bytes, why);
    return numbers->bytes && (numbers->n_bytes > 0 || because(why, "%.300s is empty", numbers->path));
}

struct number_file *numbers_read(const char *path, char *why)
{
    struct number_file *numbers = calloc(1, sizeof *numbers);
    if (!numbers) {
        because(why, "out of memory");
        return NULL;
    }
    numbers->path = path;
    if (fill_numbers(numbers, why))
        return numbers;
    numbers_free(numbers);
    return NULL;
}

void numbers_free(struct number_file *numbers)
{
    free(numbers->bytes);
    free(numbers);
}

void numbers_copy(const struct number_file *numbers, size_t key_bytes, size_t first, size_t count, void *keys)
{
    const size_t n = numbers->n_bytes / key_bytes;
    for (size_t i = 0; i < count; i++)
        move_element(keys, i, numbers->bytes, (first + i) % n, key_bytes);
}
