/* SPDX-License-Identifier: Apache-2.0 */
/* Assembles the source texts and compiler options of programs. */
#define _GNU_SOURCE
#include "internal.h"

#include "cl_files.h"

#include <stdio.h>
#include <stdlib.h>

static char *text_of(FILE *stream, char **text)
{
    bool whole = stream && !ferror(stream);
    whole = stream && fclose(stream) == 0 && whole;
    if (whole)
        return *text;
    free(*text);
    return NULL;
}

/* ---- source files -------------------------------------------------------------------------------------------- */

#define MAX_SOURCE_BYTES (1u << 20)

static char *read_whole(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char  *text = NULL, block[4096];
    size_t bytes = 0;
    FILE  *out = open_memstream(&text, &bytes);
    size_t got = 0, all = 0;
    while (out && all <= MAX_SOURCE_BYTES && (got = fread(block, 1, sizeof block, file)) > 0)
        all += fwrite(block, 1, got, out);
    const bool whole = !ferror(file) && all <= MAX_SOURCE_BYTES;
    fclose(file);
    char *body = text_of(out, &text);
    if (whole)
        return body;
    free(body);
    return NULL;
}

/* Reads the file in $ORDO_CL_DIR, or the embedded file if there is none. Sets *text to NULL if memory is lacking.
 * Returns false if the file does not exist. */
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

/* While `open` is true, the file is being expanded. If `certain` is true, it was expanded outside of any #if. Later
 * includes of the file are then ignored. */
struct included {
    char *path;
    bool  open, certain;
};

struct expansion {
    const ordo_device *dev;
    FILE              *out;
    bool               failed; /* no memory */
    struct included    files[MAX_INCLUDES];
    int                n_files;
    int                depth; /* open #ifs */
    char               trouble[360];
};

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
    e->failed = !e->files[e->n_files].path;
    return e->failed ? -1 : e->n_files++;
}

static bool begins_with(const char *line, const char *word)
{
    return strncmp(line, word, strlen(word)) == 0;
}

static bool included_path(const char *line, char *path, size_t size)
{
    static const char word[] = "#include \"";
    const char       *from = line + sizeof word - 1;
    if (!begins_with(line, word))
        return false;
    const size_t bytes = strcspn(from, "\"\n");
    snprintf(path, size, "%.*s", (int) bytes, from);
    return from[bytes] == '"' && bytes < size;
}

static bool find_include(struct expansion *e, const char *from, const char *path, char *full, size_t size, char **text)
{
    snprintf(full, size, "%s", path);
    if (file_text(e->dev, full, text))
        return true;
    const char *slash = strrchr(from, '/');
    const int   bytes = snprintf(full, size, "%.*s/%s", slash ? (int) (slash - from) : 0, from, path);
    return (size_t) bytes < size && file_text(e->dev, full, text);
}

static void expand(struct expansion *e, const char *path, const char *text);

static void expand_once(struct expansion *e, const char *path, const char *text)
{
    const int n = file_number(e, path);
    if (n < 0 || e->files[n].open || e->files[n].certain)
        return;
    fprintf(e->out, "#ifndef ORDO_INCLUDED_%d\n#define ORDO_INCLUDED_%d\n", n, n);
    e->files[n].open = true;
    expand(e, path, text);
    e->files[n].open = false;
    e->files[n].certain = e->depth == 0;
    fputs("\n#endif\n", e->out);
}

static void expand_include(struct expansion *e, const char *from, const char *path)
{
    char  full[160];
    char *text = NULL;
    if (!find_include(e, from, path, full, sizeof full, &text))
        snprintf(e->trouble, sizeof e->trouble, "no kernel source %s (included by %s)", path, from);
    else if (ftell(e->out) > (long) MAX_SOURCE_BYTES)
        snprintf(e->trouble, sizeof e->trouble, "at %s (included by %s) the program has more than %u bytes", full, from,
                 MAX_SOURCE_BYTES);
    else if (text)
        expand_once(e, full, text);
    else
        e->failed = true;
    free(text);
}

static void mark_line(struct expansion *e, int line, const char *path)
{
    fprintf(e->out, "#line %d \"%s\"\n", line, path);
}

/* Returns true for #else, #elif and #endif, which end a branch. If the compiler skips a branch, it also skips a #line
 * directive in it. So the caller must write #line again after the branch. */
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
    for (const char *line = text; *line && !e->trouble[0] && !e->failed; number++) {
        const char  *end = strchr(line, '\n');
        const size_t bytes = end ? (size_t) (end - line) + 1 : strlen(line);
        char         included[120];
        if (included_path(line, included, sizeof included)) {
            expand_include(e, path, included);
            mark_line(e, number + 1, path);
            moved = true;
        } else if (begins_with(line, "#pragma once")) {
            fputs("\n", e->out);
        } else {
            fwrite(line, 1, bytes, e->out);
            e->depth += begins_with(line, "#if") - begins_with(line, "#endif");
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
    char            *text = NULL;
    size_t           bytes = 0;
    e.out = open_memstream(&text, &bytes);
    ORDO_REQUIRE_MEMORY(dev, e.out);
    expand_include(&e, "the library", file);
    for (int i = 0; i < e.n_files; i++)
        free(e.files[i].path);
    *out = text_of(e.out, &text);
    if (*out && !e.failed && !e.trouble[0])
        return ORDO_OK;
    free(*out);
    *out = NULL;
    return e.trouble[0] ? ORDO_FAIL(dev, ORDO_BUILD, "%s", e.trouble) : ORDO_FAIL(dev, ORDO_NO_HOST_MEMORY, NULL);
}

/* ---- options ------------------------------------------------------------------------------------------------- */

static void add_define(FILE *out, const char *name, long value)
{
    fprintf(out, " -D%s=%ld", name, value);
}

static void add_facts(const ordo_device *dev, FILE *out)
{
    const struct ordo_facts *f = &dev->facts;
    fputs(dev->std, out);
    add_define(out, "ORDO_LANES", f->lanes);
    add_define(out, "ORDO_ATOMICS", f->atomics);
    add_define(out, "ORDO_SUBGROUP", f->sub_group);
    add_define(out, "ORDO_INT64_ATOMICS", f->int64_atomics);
    add_define(out, "ORDO_CPU", f->cpu);
    add_define(out, "ORDO_ADDRESS_ORDER", f->address_order);
    if (f->lanes == ORDO_LANES_KHR) {
        add_define(out, "ORDO_KHR_BALLOT", dev->khr_ballot);
        add_define(out, "ORDO_KHR_SHUFFLE", 1);
        add_define(out, "ORDO_INTEL_SUB_GROUPS", dev->intel_sub_groups);
    }
}

bool ordo_device_reads_once(const ordo_device *dev)
{
    return dev->facts.lanes == ORDO_LANES_NVIDIA;
}

static const char *find_word(const char *text, const char *word)
{
    const size_t bytes = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at += bytes)
        if ((at == text || strchr(" \n", at[-1])) && strchr(" \n", at[bytes]))
            return at;
    return NULL;
}

bool ordo_device_has(const ordo_device *dev, const char *extension)
{
    return find_word(dev->extensions, extension) != NULL;
}

char *ordo_program_options(const ordo_device *dev, const struct ordo_define *defines)
{
    char  *text = NULL;
    size_t bytes = 0;
    FILE  *out = open_memstream(&text, &bytes);
    if (!out)
        return NULL;
    add_facts(dev, out);
    if (dev->changes)
        fputs(dev->changes->options(dev, defines), out);
    for (const struct ordo_define *d = defines; d && d->name; d++) {
        const bool limit = strcmp(d->name, "ORDO_MAX_REGISTERS") == 0;
        if (limit && !(d->value && ordo_device_has(dev, "cl_nv_compiler_options")))
            continue;
        if (limit)
            fprintf(out, " -cl-nv-maxrregcount=%ld", d->value);
        add_define(out, d->name, d->value);
    }
    return text_of(out, &text);
}

/* ---- some kernels of a module ------------------------------------------------------------------------------------ */

/* A kernel begins with a macro ..._KERNEL in the first column, and ends at a brace in the first column. Indented
 * kernels in macros are not recognized. */
static bool begins_kernel(const char *line)
{
    static const char end[] = "_KERNEL";
    const size_t      word = strspn(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"), tail = sizeof end - 1;
    return word > tail && memcmp(line + word - tail, end, tail) == 0 && strchr("(\n ", line[word]);
}

static bool is_one_of(const char *kernel, const char *end, const char *names)
{
    char        name[80];
    const char *word = strstr(kernel, "void ");
    if (!word || word >= end)
        return false;
    snprintf(name, sizeof name, "%.*s", (int) strcspn(word + 5, "("), word + 5);
    return find_word(names, name) != NULL;
}

/* Removes the kernels that `names` does not list. Keeps line ends, so that line numbers do not change. */
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

/* Returns the kernels that share a program with `kernel`. A call launches these kernels together, and each program
 * costs 30 ms with NVIDIA's driver. */
struct ordo_kernel_set ordo_kernel_set(const char *file, const char *kernel)
{
    for (size_t i = 0; i < ordo_n_cl_files; i++) {
        const char *sets = ordo_cl_files[i].together;
        const char *from = strcmp(ordo_cl_files[i].path, file) == 0 ? find_word(sets, kernel) : NULL;
        if (!from)
            continue;
        while (from > sets && from[-1] != '\n')
            from--;
        return (struct ordo_kernel_set) { from, strcspn(from, "\n") };
    }
    return (struct ordo_kernel_set) { kernel, strlen(kernel) };
}

/* ---- build logs ---------------------------------------------------------------------------------------------- */

static void origin_of_line(const char *text, long number, char file[120], long *line)
{
    *file = 0;
    *line = 1;
    for (long at = 1; at < number && *text; at++) {
        if (!begins_with(text, "#line ") || sscanf(text, "#line %ld \"%119[^\"]", line, file) != 2)
            ++*line;
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
}

/* NVIDIA's compiler ignores #line. It writes "<kernel>:2243", which this function replaces by file and line. */
char *ordo_log_with_files(const char *log, const char *text)
{
    static const char mark[] = "<kernel>:";
    char             *named = NULL;
    size_t            bytes = 0;
    FILE             *out = open_memstream(&named, &bytes);
    for (const char *at = NULL; out && (at = strstr(log, mark));) {
        char      *end = NULL;
        char       file[120];
        long       line = 0;
        const long number = strtol(at + sizeof mark - 1, &end, 10);
        origin_of_line(text, number, file, &line);
        fprintf(out, "%.*s%s:%ld", (int) (at - log), log, file[0] ? file : "<kernel>", line);
        log = end;
    }
    if (out)
        fputs(log, out);
    return text_of(out, &named);
}
