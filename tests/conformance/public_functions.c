/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the functions and their parameters that include/ordo declares: see bad_arguments.h. */
#include "bad_arguments.h"

#include <dirent.h>
#include <stdio.h>

struct function functions[FUNCTIONS];
size_t          n_functions;

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Copies the last word before `end`. */
static void last_word(const char *begin, const char *end, char *to, size_t room)
{
    while (end > begin && !is_letter(end[-1]))
        end--;
    const char *word = end;
    while (word > begin && is_letter(word[-1]))
        word--;
    cr_assert((size_t) (end - word) < room);
    memcpy(to, word, (size_t) (end - word));
    to[end - word] = 0;
}

/* Parses one declaration: "ordo_status ordo_scan(ordo_device *device, ..., const struct ordo_order *order)". */
static void read_declaration(const char *text, const char *end)
{
    struct function *f = &functions[n_functions++];
    const char      *open = memchr(text, '(', (size_t) (end - text));

    cr_assert(n_functions < FUNCTIONS && open != NULL);
    *f = (struct function) { .n = 0 };
    last_word(text, open, f->name, sizeof f->name);
    for (const char *at = open + 1; at < end;) {
        const char *next = memchr(at, ',', (size_t) (end - at));
        next = next ? next : end;
        cr_assert(f->n < PARAMETERS);
        last_word(at, next, f->parameter[f->n], sizeof f->parameter[f->n]);
        f->pointer[f->n] = memchr(at, '*', (size_t) (next - at)) != NULL;
        f->n += strcmp(f->parameter[f->n], "void") != 0;
        at = next + 1;
    }
}

static void read_header(const char *path)
{
    FILE *file = fopen(path, "rb");
    cr_assert(file != NULL, "%s", path);
    AUTO_FREE char *text = test_alloc(1 << 18);
    const size_t    bytes = fread(text, 1, (1 << 18) - 1, file);

    fclose(file);
    text[bytes] = 0;
    for (const char *at = text; (at = strstr(at, "ORDO_API "));) {
        const char *end = strstr(at, ");");
        if (at > text && at[-1] == '\n' && end)
            read_declaration(at, end);
        at += strlen("ORDO_API ");
    }
}

void read_headers(void)
{
    DIR *dir = opendir(TEST_SOURCE_DIR "/../include/ordo");

    cr_assert(dir != NULL);
    n_functions = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[512];
        (void) snprintf(path, sizeof path, "%s/../include/ordo/%s", TEST_SOURCE_DIR, entry->d_name);
        if (strstr(entry->d_name, ".h"))
            read_header(path);
    }
    closedir(dir);
    cr_assert(n_functions > 70, "%zu functions found", n_functions);
}

bool has_parameter(const struct function *f, const char *name)
{
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->parameter[i], name) == 0)
            return true;
    return false;
}
