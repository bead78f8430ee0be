/* SPDX-License-Identifier: Apache-2.0 */
/* Records each program once: see programs.h. */
#include "programs.h"

#include "no_driver.h"
#include "runtime/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *out_dir;

/* "primitive/sort_onesweep.cl", from the text's first #line. */
static void module_of(const char *text, char *name, size_t room)
{
    const char *quote = strchr(text, '"');
    snprintf(name, room, "%.*s", (int) strcspn(quote + 1, "\""), quote + 1);
}

/* Writes each text once. */
static void write_text(const char *path, const char *text)
{
    FILE *file = access(path, R_OK) == 0 ? NULL : fopen(path, "w");
    if (!file)
        return;
    (void) fputs(text, file);
    (void) fclose(file);
}

#define PROGRAMS_MAX 16384

static struct program {
    char              *path, *choice, *options, *kernels;
    struct ordo_digest hash;
    unsigned           last_choice; /* that needed it */
} programs[PROGRAMS_MAX];
static size_t      n_programs;
static const char  shipped[] = "shipped";
static const char *choice = shipped;
static unsigned    n_choices; /* tried so far */
static size_t      n_differing;

static char *copy_of(const char *text)
{
    char *copy = ordo_format("%s", text);
    if (!copy)
        abort();
    return copy;
}

/* The number of a program, which it adds if it is new. */
static size_t number_of(const char *path, const char *options)
{
    const struct ordo_digest hash = ORDO_DIGEST_TEXT(ORDO_DIGEST_TEXT(((struct ordo_digest) { 0, 0 }), path), options);
    for (size_t i = 0; i < n_programs; i++)
        if (programs[i].hash.low == hash.low && programs[i].hash.high == hash.high)
            return i;
    if (n_programs == PROGRAMS_MAX)
        abort();
    programs[n_programs] = (struct program) { copy_of(path), copy_of(choice), copy_of(options), copy_of(""), hash, 0 };
    return n_programs++;
}

static size_t built(const char *text, const char *options)
{
    char name[128], path[4096];
    module_of(text, name, sizeof name);
    for (char *at = name; *at; at++)
        *at = *at == '/' ? '-' : *at;
    snprintf(path, sizeof path, "%s/%s", out_dir, name);
    write_text(path, text);
    const size_t number = number_of(path, options);
    if (programs[number].last_choice != n_choices && strcmp(programs[number].choice, shipped) != 0)
        n_differing++;
    programs[number].last_choice = n_choices;
    return number;
}

static bool has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

static void created(size_t number, const char *kernel)
{
    struct program *p = &programs[number];
    if (has_word(p->kernels, kernel))
        return;
    char *more = ordo_format("%s%s%s", p->kernels, *p->kernels ? " " : "", kernel);
    free(p->kernels);
    p->kernels = more;
}

void programs_record(const char *dir)
{
    out_dir = dir;
    no_driver.built = built;
    no_driver.created = created;
}

void programs_choose(const char *name)
{
    choice = name;
    n_choices++;
    n_differing = 0;
}

size_t programs_differing(void)
{
    return n_differing;
}

void programs_print(void)
{
    for (size_t i = 0; i < n_programs; i++) {
        struct program *p = &programs[i];
        printf("%s\t%s\t%s\t%s\n", p->path, p->choice, p->kernels, p->options);
        free(p->path);
        free(p->choice);
        free(p->options);
        free(p->kernels);
    }
}
