/* SPDX-License-Identifier: Apache-2.0 */
/* The text of programs: kernel sources from the embedded table (or ORDO_CL_DIR), includes expanded with #line so that a build
 * error names the real file and line, kernels that are not asked for left out; and the options of a variant. */
#include "internal.h"

#include "cl_files.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- text ---------------------------------------------------------------------------------------------------- */

/* A growing string; `failed` once memory ran out. */
struct text {
    char  *at;
    size_t bytes, room;
    bool   failed;
};

static void text_add(struct text *t, const char *from, size_t bytes)
{
    if (t->failed)
        return;
    if (!t->at || t->bytes + bytes + 1 > t->room) {
        const size_t room = 2 * (t->bytes + bytes + 1);
        char        *grown = realloc(t->at, room);
        if (!grown) {
            t->failed = true;
            return;
        }
        t->at = grown;
        t->room = room;
    }
    memcpy(t->at + t->bytes, from, bytes);
    t->bytes += bytes;
    t->at[t->bytes] = 0;
}

static void text_add_string(struct text *t, const char *from)
{
    text_add(t, from, strlen(from));
}

/* ---- source files -------------------------------------------------------------------------------------------- */

/* The most that one program comes to with its includes; the largest of the library is a tenth of it. */
#define MAX_SOURCE_BYTES (1u << 20)

/* A file as a string, or NULL: not there, a folder, or larger than any source. */
static char *read_whole(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    struct text body = { 0 };
    char        block[4096];
    for (size_t got; body.bytes <= MAX_SOURCE_BYTES && (got = fread(block, 1, sizeof block, file)) > 0;)
        text_add(&body, block, got);
    const bool whole = !ferror(file) && body.bytes <= MAX_SOURCE_BYTES && !body.failed;
    fclose(file);
    if (!whole) {
        free(body.at);
        return NULL;
    }
    return body.at ? body.at : calloc(1, 1);
}

/* The text of one file, malloc'd: from ORDO_CL_DIR if it is there, else from the library; NULL if memory ran out. false:
 * there is no such file. */
static bool file_text(const ordo_device *dev, const char *path, char **text)
{
    *text = NULL;
    if (dev->cl_dir) {
        char *full = ordo_format("%s/%s", dev->cl_dir, path);
        *text = full ? read_whole(full) : NULL;
        free(full);
        if (*text)
            return true;
    }
    for (size_t i = 0; i < ordo_n_cl_files; i++)
        if (strcmp(ordo_cl_files[i].path, path) == 0) {
            *text = ordo_format("%s", ordo_cl_files[i].text);
            return true;
        }
    return false;
}

struct ordo_digest ordo_sources_digest(const ordo_device *dev)
{
    struct ordo_digest hash = { 0, 0 };
    for (size_t i = 0; i < ordo_n_cl_files; i++) {
        char *text = NULL;
        if (file_text(dev, ordo_cl_files[i].path, &text) && text)
            hash = ORDO_DIGEST_TEXT(hash, text);
        free(text);
    }
    return hash;
}

/* ---- includes ------------------------------------------------------------------------------------------------ */

#define MAX_INCLUDES 32

/* A file that has been included: never again while it is open, nor once that was certainly compiled. What stands in an
 * #if may have been passed over, so it comes again where it is asked for again, behind an include guard. */
struct included {
    char *path;
    bool  open, certain;
};

struct expansion {
    const ordo_device *dev;
    struct text        out;
    struct included    files[MAX_INCLUDES];
    int                n_files;
    int                depth;        /* of #if, in all files that are open */
    char               trouble[360]; /* what is wrong with the sources, "" if nothing */
};

/* The number of a file, new or not; -1, without memory or with trouble, if there is no room for it. */
static int file_number(struct expansion *e, const char *path)
{
    for (int i = 0; i < e->n_files; i++)
        if (strcmp(e->files[i].path, path) == 0)
            return i;
    if (e->n_files == MAX_INCLUDES) {
        snprintf(e->trouble, sizeof e->trouble, "%s is one file more than the %d of a program", path, MAX_INCLUDES);
        return -1;
    }
    e->files[e->n_files].path = ordo_format("%s", path);
    e->out.failed = e->out.failed || !e->files[e->n_files].path;
    return e->out.failed ? -1 : e->n_files++;
}

/* The path between the quotes of an #include line, in `path`; false for any other line. */
static bool included_path(const char *line, size_t bytes, char *path, size_t room)
{
    static const char word[] = "#include \"";
    const size_t      skip = sizeof word - 1;
    if (bytes <= skip || memcmp(line, word, skip) != 0)
        return false;
    const char *quote = memchr(line + skip, '"', bytes - skip);
    if (!quote || (size_t) (quote - line - (long) skip) >= room)
        return false;
    memcpy(path, line + skip, (size_t) (quote - line) - skip);
    path[quote - line - (long) skip] = 0;
    return true;
}

/* An include is looked for from cl/ and, as in C, beside the file that asks. */
static bool find_include(struct expansion *e, const char *from, const char *path, char *full, size_t room, char **text)
{
    snprintf(full, room, "%s", path);
    if (file_text(e->dev, full, text))
        return true;
    const char *slash = strrchr(from, '/');
    const int   bytes = snprintf(full, room, "%.*s/%s", slash ? (int) (slash - from) : 0, from, path);
    return (size_t) bytes < room && file_text(e->dev, full, text);
}

static void expand(struct expansion *e, const char *path, const char *text);

/* One inclusion of a file, behind its guard. */
static void expand_once(struct expansion *e, const char *path, const char *text)
{
    char      guard[96];
    const int n = file_number(e, path);
    if (n < 0)
        return;
    if (e->files[n].open || e->files[n].certain)
        return;
    snprintf(guard, sizeof guard, "#ifndef ORDO_INCLUDED_%d\n#define ORDO_INCLUDED_%d\n", n, n);
    text_add_string(&e->out, guard);
    e->files[n].open = true;
    expand(e, path, text);
    e->files[n].open = false;
    e->files[n].certain = e->depth == 0;
    text_add_string(&e->out, "\n#endif\n");
}

static void expand_include(struct expansion *e, const char *from, const char *path)
{
    char  full[160];
    char *text = NULL;
    if (!find_include(e, from, path, full, sizeof full, &text))
        snprintf(e->trouble, sizeof e->trouble, "no kernel source %s (included by %s)", path, from);
    else if (e->out.bytes > MAX_SOURCE_BYTES)
        snprintf(e->trouble, sizeof e->trouble, "at %s (included by %s) the program has more than %u bytes", full, from,
                 MAX_SOURCE_BYTES);
    else if (text)
        expand_once(e, full, text);
    else
        e->out.failed = true;
    free(text);
}

/* Says which file and line follow. */
static void mark_line(struct expansion *e, int line, const char *path)
{
    char mark[200];
    snprintf(mark, sizeof mark, "#line %d \"%s\"\n", line, path);
    text_add_string(&e->out, mark);
}

static bool begins_with(const char *line, const char *word)
{
    return strncmp(line, word, strlen(word)) == 0;
}

/* How many an #if or #endif opens or closes. */
static int depth_change(const char *line)
{
    return begins_with(line, "#if") - begins_with(line, "#endif");
}

/* Whether a branch may end here that the compiler passed over, with the marks of what was included in it. */
static bool ends_branch(const char *line)
{
    return begins_with(line, "#el") || begins_with(line, "#endif");
}

static void expand(struct expansion *e, const char *path, const char *text)
{
    const int outer = e->depth;
    bool      moved = false;
    int       number = 1;
    mark_line(e, 1, path);
    for (const char *line = text; *line && !e->trouble[0] && !e->out.failed; number++) {
        const char  *end = strchr(line, '\n');
        const size_t bytes = end ? (size_t) (end - line) + 1 : strlen(line);
        char         included[120];
        if (included_path(line, bytes, included, sizeof included)) {
            expand_include(e, path, included);
            mark_line(e, number + 1, path);
            moved = true;
        } else if (begins_with(line, "#pragma once")) {
            text_add_string(&e->out, "\n");
        } else {
            text_add(&e->out, line, bytes);
            e->depth += depth_change(line);
            if (moved && line[bytes - 1] == '\n' && ends_branch(line))
                mark_line(e, number + 1, path);
        }
        line += bytes;
    }
    e->depth = outer;
}

static ordo_status expand_file(ordo_device *dev, const char *file, char **out)
{
    struct expansion e = { .dev = dev };
    *out = NULL;
    expand_include(&e, "the library", file);
    for (int i = 0; i < e.n_files; i++)
        free(e.files[i].path);
    if (e.trouble[0] || e.out.failed || !e.out.at) {
        free(e.out.at);
        return e.trouble[0] ? ORDO_FAIL(dev, ORDO_BUILD, "%s", e.trouble) : ORDO_FAIL(dev, ORDO_NO_HOST_MEMORY, NULL);
    }
    *out = e.out.at;
    return ORDO_OK;
}

/* ---- options ------------------------------------------------------------------------------------------------- */

static void add_define(struct text *t, const char *name, long value)
{
    char one[96];
    snprintf(one, sizeof one, " -D%s=%ld", name, value);
    text_add_string(t, one);
}

/* What every kernel is told of the device; cl/device/compiler.cl explains them. */
static void add_facts(const ordo_device *dev, struct text *t)
{
    const struct ordo_facts *f = &dev->facts;
    text_add_string(t, dev->std);
    add_define(t, "ORDO_LANES", f->lanes);
    add_define(t, "ORDO_ATOMICS", f->atomics);
    add_define(t, "ORDO_SUBGROUP", f->sub_group);
    add_define(t, "ORDO_INT64_ATOMICS", f->int64_atomics);
    add_define(t, "ORDO_CPU", f->cpu);
    add_define(t, "ORDO_ADDRESS_ORDER", f->address_order);
    if (f->lanes == ORDO_LANES_KHR) {
        add_define(t, "ORDO_KHR_BALLOT", dev->khr_ballot);
        add_define(t, "ORDO_KHR_SHUFFLE", 1);
        add_define(t, "ORDO_INTEL_SUB_GROUPS", dev->intel_sub_groups);
    }
}

bool ordo_device_reads_once(const ordo_device *dev)
{
    return dev->facts.lanes == ORDO_LANES_NVIDIA;
}

bool ordo_device_has(const ordo_device *dev, const char *extension)
{
    const size_t length = strlen(extension);
    for (const char *at = dev->extensions; (at = strstr(at, extension)); at += length)
        if (at[-1] == ' ' && (at[length] == ' ' || at[length] == 0))
            return true;
    return false;
}

ordo_status ordo_program_options(ordo_device *dev, const struct ordo_define *defines, char **out)
{
    struct text t = { 0 };
    add_facts(dev, &t);
    if (dev->changes)
        text_add_string(&t, dev->changes->options(dev, defines));
    for (const struct ordo_define *d = defines; d && d->name; d++)
        if (strcmp(d->name, "ORDO_MAX_REGISTERS") != 0)
            add_define(&t, d->name, d->value);
        else if (d->value && ordo_device_has(dev, "cl_nv_compiler_options")) {
            char limit[64];
            snprintf(limit, sizeof limit, " -cl-nv-maxrregcount=%ld", d->value);
            text_add_string(&t, limit);
            add_define(&t, d->name, d->value);
        }
    if (t.failed) {
        free(t.at);
        return ORDO_FAIL(dev, ORDO_NO_HOST_MEMORY, NULL);
    }
    *out = t.at;
    return ORDO_OK;
}

/* ---- some kernels of a module ------------------------------------------------------------------------------------- */

/* A kernel begins with a line whose first word, in its first column, ends in _KERNEL (ORDO_KERNEL of device/compiler.cl, or a
 * word that stands for it), and ends with a brace in the first column. Those that a macro makes begin further right: they stay. */
static bool begins_kernel(const char *line)
{
    static const char end[] = "_KERNEL";
    const size_t      word = strspn(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"), tail = sizeof end - 1;
    return word > tail && memcmp(line + word - tail, end, tail) == 0 && strchr("(\n ", line[word]);
}

static bool is_named(const char *kernel, const char *end, const char *name, size_t bytes)
{
    const char *word = strstr(kernel, "void ");
    return word && word < end && strncmp(word + 5, name, bytes) == 0 && word[5 + bytes] == '(';
}

static bool is_one_of(const char *kernel, const char *end, const char *names)
{
    while (*(names += strspn(names, " "))) {
        const size_t bytes = strcspn(names, " ");
        if (is_named(kernel, end, names, bytes))
            return true;
        names += bytes;
    }
    return false;
}

/* Of each kernel but those of these names only the ends of lines stay, so that what follows keeps its numbers: compilers then
 * do their work for what is asked for, and pass over functions that nobody calls. */
static void keep_kernels(char *text, const char *names)
{
    char *to = text;
    for (const char *line = text; *line;) {
        const char *end = begins_kernel(line) ? strstr(line, "\n}\n") : NULL;
        const bool  left_out = end && !is_one_of(line, end, names);
        const char *stop = left_out ? end + 2 : line + strcspn(line, "\n");
        for (; line < stop; line++)
            if (!left_out || *line == '\n')
                *to++ = *line;
        if (*line)
            *to++ = *line++;
    }
    *to = 0;
}

ordo_status ordo_program_text(ordo_device *dev, const char *file, const char *kernels, char **text)
{
    ORDO_TRY(expand_file(dev, file, text));
    if (kernels)
        keep_kernels(*text, kernels);
    return ORDO_OK;
}

/* A driver takes for each program some 30 ms (NVIDIA) besides what its kernels take, which small ones do not: those that a call
 * needs one after another make one program. */
struct ordo_kernel_set ordo_kernel_set(const char *file, const char *kernel)
{
    const size_t bytes = strlen(kernel);
    for (size_t i = 0; i < ordo_n_cl_files; i++) {
        const char *sets = ordo_cl_files[i].together;
        if (!*sets || strcmp(ordo_cl_files[i].path, file) != 0)
            continue;
        for (const char *at = sets; (at = strstr(at, kernel)); at += bytes) {
            const char *from = at;
            if (at[-1] != ' ' || at[bytes] != ' ')
                continue;
            while (from > sets && from[-1] != '\n')
                from--;
            return (struct ordo_kernel_set) { from, strcspn(from, "\n") };
        }
    }
    return (struct ordo_kernel_set) { kernel, bytes };
}

/* ---- what a build says ---------------------------------------------------------------------------------------- */

/* Where line `number` of an expanded text comes from, by its #line marks. */
static void origin_of_line(const char *text, long number, char *file, size_t room, long *line)
{
    *file = 0;
    *line = 1;
    for (long at = 1; at < number && *text; at++) {
        char       *end = NULL;
        const char *newline = strchr(text, '\n'), *quote = NULL;
        const long  marked = strncmp(text, "#line ", 6) == 0 ? strtol(text + 6, &end, 10) : 0;
        if (marked > 0 && end && end[0] == ' ' && end[1] == '"' && (quote = strchr(end + 2, '"'))) {
            snprintf(file, room, "%.*s", (int) (quote - end - 2), end + 2);
            *line = marked;
        } else {
            ++*line;
        }
        text = newline ? newline + 1 : "";
    }
}

/* NVIDIA's compiler passes over #line and says "<kernel>:2243". */
char *ordo_log_with_files(const char *log, const char *text)
{
    static const char mark[] = "<kernel>:";
    struct text       out = { 0 };
    for (const char *at = NULL; (at = strstr(log, mark));) {
        char      *end = NULL;
        char       file[120], place[160];
        long       line = 0;
        const long number = strtol(at + sizeof mark - 1, &end, 10);
        text_add(&out, log, (size_t) (at - log));
        origin_of_line(text, number, file, sizeof file, &line);
        snprintf(place, sizeof place, "%s:%ld", file[0] ? file : "<kernel>", line);
        text_add_string(&out, place);
        log = end;
    }
    text_add_string(&out, log);
    if (!out.failed)
        return out.at;
    free(out.at);
    return NULL;
}
