/* SPDX-License-Identifier: Apache-2.0 */
/* Modified kernel sources: see overlay.h. */
#define _GNU_SOURCE
#include "overlay.h"

#include "runtime/cl_files.h"
#include "support.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 256 };

static void path_of(const struct overlay *o, const char *file, char path[PATH_BYTES])
{
    const int bytes = snprintf(path, PATH_BYTES, "%s/%s", o->dir, file);
    cr_assert(bytes > 0 && bytes < PATH_BYTES, "%s", file);
}

struct overlay overlay_begin(void)
{
    struct overlay o = { "/tmp/ordo-overlay-XXXXXX" };
    cr_assert(mkdtemp(o.dir) != NULL, "%s", o.dir);
    return o;
}

void overlay_write(const struct overlay *o, const char *file, const char *text)
{
    char path[PATH_BYTES];

    path_of(o, file, path);
    for (char *at = path + strlen(o->dir) + 1; *at; at++)
        if (*at == '/') {
            *at = 0;
            cr_assert(mkdir(path, 0700) == 0 || errno == EEXIST, "%s", path);
            *at = '/';
        }
    FILE *out = fopen(path, "wb");
    cr_assert(out != NULL, "%s", path);
    cr_assert(fputs(text, out) >= 0 && fclose(out) == 0, "%s", path);
}

static char *copy_of(const char *text, size_t bytes)
{
    char *made = test_alloc(bytes + 1);
    memcpy(made, text, bytes);
    made[bytes] = 0;
    return made;
}

static const char *library_text(const char *file)
{
    for (size_t i = 0; i < ordo_n_cl_files; i++)
        if (strcmp(ordo_cl_files[i].path, file) == 0)
            return ordo_cl_files[i].text;
    cr_assert_fail("the library has no %s", file);
    return NULL;
}

char *overlay_text(const struct overlay *o, const char *file)
{
    char path[PATH_BYTES], text[1 << 17];

    path_of(o, file, path);
    FILE *in = fopen(path, "rb");
    if (in) {
        const size_t bytes = fread(text, 1, sizeof text, in);
        cr_assert(bytes < sizeof text && fclose(in) == 0, "%s", path);
        return copy_of(text, bytes);
    }
    const char *library = library_text(file);
    return copy_of(library, strlen(library));
}

void overlay_edit(const struct overlay *o, const char *file, const char *from, const char *to)
{
    AUTO_FREE char *text = overlay_text(o, file);
    const char     *at = strstr(text, from);
    const size_t    bytes = strlen(text) + strlen(to) + 1;
    AUTO_FREE char *made = test_alloc(bytes);

    cr_assert(at != NULL, "%s has no \"%s\"", file, from);
    (void) snprintf(made, bytes, "%.*s%s%s", (int) (at - text), text, to, at + strlen(from));
    overlay_write(o, file, made);
}

int overlay_add_line(const struct overlay *o, const char *file, const char *from, const char *line)
{
    const char  *library = library_text(from);
    const size_t bytes = strlen(library) + strlen(line) + 2;
    char        *made = test_alloc(bytes);
    int          number = 1;

    (void) snprintf(made, bytes, "%s%s\n", library, line);
    overlay_write(o, file, made);
    free(made);
    for (const char *at = library; (at = strchr(at, '\n')) != NULL; at++)
        number++;
    return number;
}

size_t overlay_count(const struct overlay *o, const char *file, const char *text)
{
    AUTO_FREE char *in = overlay_text(o, file);
    size_t          n = 0;

    for (const char *at = in; (at = strstr(at, text)) != NULL; at++)
        n++;
    return n;
}

void overlay_use(const struct overlay *o)
{
    cr_assert(setenv("ORDO_CL_DIR", o->dir, 1) == 0);
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void) info;
    (void) kind;
    (void) where;
    return remove(path);
}

void overlay_end(const struct overlay *o)
{
    (void) unsetenv("ORDO_CL_DIR");
    cr_assert(nftw(o->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0, "%s", o->dir);
}
