/* SPDX-License-Identifier: Apache-2.0 */
/* Runs every kernel on input as small as possible, because oclgrind.sh runs this under a simulator that checks each
 * memory access and is some thousand times slower.
 *
 * The sources name all kernels; the log names each launched kernel. Uses the one device that ORDO_DEVICE selects. */
#include "kernel_parts.h"

#include "runtime/cl_files.h"
#include "runtime/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* ---- list of kernels --------------------------------------------------------------------------------------------- */

enum { KERNELS_MAX = 512 };

struct kernels {
    size_t n;
    struct {
        char name[48];
        bool ran;
    } of[KERNELS_MAX];
};

static void add_kernel(struct kernels *k, const char *name, size_t length)
{
    cr_assert(k->n < KERNELS_MAX && length < sizeof k->of[0].name, "%.*s", (int) length, name);
    memcpy(k->of[k->n].name, name, length);
    k->of[k->n++].name[length] = '\0';
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* The name and its length of a kernel that begins on this line; 0 if there is none. __kernel or a macro that ends in
 * KERNEL(...) is on this line or the one before. (Skips kernels of the self-test made by macros.) */
static size_t kernel_on(const char *line, size_t bytes, const char **name)
{
    const char *void_at = strstr(line, "void ");

    if (!void_at || void_at > line + bytes || line[bytes - 1] == '\\')
        return 0;
    *name = void_at + strlen("void ");
    size_t length = 0;
    while (is_name((*name)[length]))
        length++;
    return (*name)[length] == '(' ? length : 0;
}

static bool announces(const char *line, size_t length)
{
    const char *word = strstr(line, "KERNEL"), *plain = strstr(line, "__kernel");

    return line[0] != '#' && ((word && word < line + length) || (plain && plain < line + length));
}

static void find_kernels(struct kernels *k)
{
    for (size_t i = 0; i < ordo_n_cl_files; i++) {
        bool announced = false;
        if (strncmp(ordo_cl_files[i].path, "primitive/", 10) != 0 && strncmp(ordo_cl_files[i].path, "dict/", 5) != 0)
            continue; /* only examples in comments */
        for (const char *line = ordo_cl_files[i].text; line && *line;) {
            const char  *end = strchr(line, '\n'), *name = NULL;
            const size_t bytes = end ? (size_t) (end - line) : strlen(line);
            const bool   here = announces(line, bytes);
            const size_t length = announced || here ? kernel_on(line, bytes, &name) : 0;
            if (length)
                add_kernel(k, name, length);
            announced = here && !length;
            line = end ? end + 1 : NULL;
        }
    }
}

/* Kernels that do not run here. Some need several compute units, and a simulator has one. Others need a concurrent
 * batch that leaves much undone (ltree_room runs these). */
static const char *const elsewhere[] = { "self_test_contend", "self_test_optimistic", "ltree_gather", "ltree_scatter" };

static bool has_run(const struct kernels *k, const char *name)
{
    for (size_t i = 0; i < k->n; i++)
        if (strcmp(k->of[i].name, name) == 0 && k->of[i].ran)
            return true;
    for (size_t i = 0; i < LENGTH(elsewhere); i++)
        if (strcmp(elsewhere[i], name) == 0)
            return true;
    return false;
}

/* "launch NAME: ..." */
static void note_launch(void *user, ordo_log_level level, const char *message)
{
    struct kernels *k = user;
    size_t          length = 0;

    if (level != ORDO_LOG_DEBUG || strncmp(message, "launch ", 7) != 0)
        return;
    if (getenv("ORDO_TEST_TRACE"))
        (void) fprintf(stderr, "%s\n", message);
    while (is_name(message[7 + length]))
        length++;
    for (size_t i = 0; i < k->n; i++)
        if (strlen(k->of[i].name) == length && memcmp(k->of[i].name, message + 7, length) == 0)
            k->of[i].ran = true;
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

/* Whether a part is selected: by its name, by another's name after a minus, or by NULL. */
static bool is_asked_for(const char *only, const char *part)
{
    return !only || (only[0] == '-' ? strcmp(only + 1, part) != 0 : strcmp(only, part) == 0);
}

static void run_all(struct kernels *k, const char *mask, const char *only)
{
    char                            message[512] = "";
    const struct ordo_device_config config = { .log = note_launch,
                                               .user = k,
                                               .mask = mask,
                                               .no_self_test = true,
                                               .message = message,
                                               .message_bytes = sizeof message };
    struct test                     t = { .mask = mask, .seed = 1, .random = 1 };

    cr_assert(ordo_device_open(&config, &t.dev) == ORDO_OK, "%s: %s", mask, message);
    t.facts = ordo_device_facts(t.dev);
    const struct {
        const char *name;
        void (*run)(struct test *t);
    } parts[] = { { "self-test", part_self_test },
                  { "primitives", part_primitives },
                  { "sequences", part_sequences },
                  { "batches", part_batches },
                  { "one_leaf", part_one_leaf },
                  { "concurrent", part_concurrent },
                  { "levels", part_levels },
                  { "cleanup", part_cleanup },
                  { "merge_combining", part_merge_combining },
                  { "merge_few", part_merge_few },
                  { "generic", part_generic },
                  { "prefixes", part_prefixes },
                  { "leaves", part_leaves },
                  { "roaring", part_roaring },
                  { "seldom", part_seldom },
                  { "combined", part_combined },
                  { "small_batches", part_small_batches },
                  { "strings", part_strings },
                  { "wide_trees", part_wide_trees } };
    for (size_t i = 0; i < LENGTH(parts); i++) {
        const clock_t since = clock();
        if (!is_asked_for(only, parts[i].name))
            continue;
        parts[i].run(&t);
        (void) fprintf(stderr, "%s%s%s in %.1f s\n", parts[i].name, *mask ? ", mask " : "", mask,
                       (double) (clock() - since) / CLOCKS_PER_SEC);
    }
    ordo_device_close(&t.dev);
}

/* The device as a CPU, and with the kernels of a GPU. ORDO_TEST_PART and ORDO_MASK select one part, or with a minus all
 * but one. */
Test(kernels, each_runs)
{
    static const char *const masks[] = { "", "cpu=0,group=32,progress=1" };
    const char *const part = getenv("ORDO_TEST_PART"), *const mask = getenv("ORDO_MASK");
    struct kernels k = { 0 };
    size_t         missing = 0;

    if (part) {
        run_all(&k, mask ? mask : "", part);
        return;
    }
    find_kernels(&k);
    cr_assert(setenv("ORDO_LOG", "debug", 1) == 0);
    for (size_t i = 0; i < LENGTH(masks); i++)
        run_all(&k, masks[i], NULL);
    for (size_t i = 0; i < k.n; i++)
        if (!has_run(&k, k.of[i].name)) {
            (void) fprintf(stderr, "%s did not run\n", k.of[i].name);
            missing++;
        }
    cr_assert(k.n > 60 && missing == 0, "%zu of %zu kernels did not run", missing, k.n);
}
