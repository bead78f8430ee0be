/* SPDX-License-Identifier: Apache-2.0 */
/* See schedule.h. Kernels have no recursion, so the second work-item has a copy of the functions under other names. */
#define _GNU_SOURCE
#include "tests/ltree/schedule.h"

#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>

#define FILE_OF_ONE   "dict/ltree/concurrent.cl"
#define FILE_OF_OTHER "dict/ltree/other.cl"

/* ---- names that the copy changes --------------------------------------------------------------------------- */

enum { NAMES_MAX = 200, NAME_BYTES = 64 };

struct names {
    char   name[NAMES_MAX][NAME_BYTES];
    size_t n;
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The word that ends at `end`, if it is not there yet. */
static void add_word(struct names *names, const char *begin, const char *end)
{
    const char *from = end;
    while (from > begin && is_letter(from[-1]))
        from--;
    char word[NAME_BYTES] = "";
    cr_assert(end > from && (size_t) (end - from) < NAME_BYTES);
    memcpy(word, from, (size_t) (end - from));
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->name[i], word) == 0)
            return;
    cr_assert(names->n < NAMES_MAX);
    memcpy(names->name[names->n++], word, sizeof word);
}

static bool begins(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

/* Adds functions and types that a line begins or ends. find_names lists the ones that macros make. */
static void add_names(struct names *names, const char *line, const char *end)
{
    const char *open = memchr(line, '(', (size_t) (end - line)), *stop = memchr(line, ';', (size_t) (end - line));

    if (begins(line, "ORDO_FN ") && open)
        add_word(names, line, open);
    if ((begins(line, "} ") || (begins(line, "typedef ") && !begins(line, "typedef struct"))) && stop)
        add_word(names, line, stop);
}

static void find_names(struct names *names, const char *text)
{
    static const char *const made[] = { "column_uint",
                                        "column_ulong",
                                        "column_load_uncached_uint",
                                        "column_store_uncached_uint",
                                        "column_shift_uint",
                                        "column_keep_uint",
                                        "column_load_uncached_ulong",
                                        "column_store_uncached_ulong",
                                        "column_shift_ulong",
                                        "column_keep_ulong",
                                        "column_at_uint",
                                        "column_at_ulong",
                                        "column_merge_uint",
                                        "column_merge_ulong",
                                        "column_ulong2",
                                        "column_load_uncached_ulong2",
                                        "column_store_uncached_ulong2",
                                        "column_shift_ulong2",
                                        "column_keep_ulong2",
                                        "column_at_ulong2",
                                        "column_merge_ulong2" };
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        add_word(names, made[i], made[i] + strlen(made[i]));
    for (const char *end; *text; text = end + (*end != 0)) {
        end = strchrnul(text, '\n');
        add_names(names, text, end);
    }
}

/* ---- one file ---------------------------------------------------------------------------------------------------- */

/* FILE_OF_ONE, and before it the files that it includes. */
static const char *const parts[] = { "dict/ltree/column.cl",    "dict/ltree/column_team.cl",
                                     "dict/ltree/operation.cl", "dict/ltree/read.cl",
                                     "dict/ltree/change.cl",    "dict/ltree/merge.cl",
                                     "dict/ltree/write.cl",     FILE_OF_ONE };

/* Whether a line includes one of the parts. */
static bool includes_part(const char *line)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char include[NAME_BYTES];
        (void) snprintf(include, sizeof include, "#include \"%s\"", parts[i]);
        if (strncmp(line, include, strlen(include)) == 0)
            return true;
    }
    return false;
}

void schedule_flatten(const struct overlay *o)
{
    AUTO_FREE char *made = NULL;
    size_t          bytes = 0;
    FILE           *out = open_memstream(&made, &bytes);

    cr_assert(out != NULL);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        AUTO_FREE char *const text = overlay_text(o, parts[i]);
        for (const char *line = text, *end; *line; line = end + (*end != 0)) {
            end = strchrnul(line, '\n');
            if (!includes_part(line))
                (void) fprintf(out, "%.*s\n", (int) (end - line), line);
        }
    }
    cr_assert(fclose(out) == 0);
    overlay_write(o, FILE_OF_ONE, made);
}

/* ---- the files --------------------------------------------------------------------------------------------------- */

/* A copy of a text with functions and types as other_..., then `tail`. */
static char *rename_all(const char *text, const char *tail)
{
    struct names names = { .n = 0 };
    char        *made = NULL;
    size_t       bytes = 0;
    FILE        *out = open_memstream(&made, &bytes);

    cr_assert(out != NULL);
    find_names(&names, text);
    for (size_t i = 0; i < names.n; i++)
        (void) fprintf(out, "#define %s other_%s\n", names.name[i], names.name[i]);
    (void) fputs(text, out);
    for (size_t i = 0; i < names.n; i++)
        (void) fprintf(out, "#undef %s\n", names.name[i]);
    (void) fputs(tail, out);
    cr_assert(fclose(out) == 0);
    return made;
}

void schedule_write_other(const struct overlay *o, const struct schedule_copy *copy, const char *other_file)
{
    AUTO_FREE char *text = overlay_text(o, copy->file);
    char *const     kernels = strstr(text, copy->kernels);

    cr_assert(kernels != NULL);
    *kernels = 0;
    AUTO_FREE char *other = rename_all(text, copy->plays);
    overlay_write(o, other_file, other);
    overlay_edit(o, other_file, copy->waits, "        ;\n");
}

static const char plays[] =
    "\ntypedef struct {\n"
    "    other_ltree_turn       turn;\n"
    "    __global const ltree_pended *again;\n"
    "    uint                   first, n;\n"
    "    bool                   more;\n"
    "} other_one;\n"
    "\nORDO_FN void other_plays(const other_ltree_batch *batch, __private other_one *other, uint steps)\n"
    "{\n"
    "    for (uint k = 0; k < steps && other->more; k++)\n"
    "        other->more = other_ltree_take_turn(batch, &other->turn, other->first, other->n, other->again);\n"
    "}\n";

#define WAITS                                                                                                          \
    "        concurrent_wait(batch->tree.state + LTREE_TICK, CONCURRENT_PAUSE_TICKS, CONCURRENT_PAUSE_LOOKS);\n"
#define STRIDE  "    turn->next += get_global_size(0);\n"
#define MEMBERS "    __global uint              *history;\n} ltree_batch;"

static const struct schedule_copy copy = { FILE_OF_ONE, "#if SUBGROUP_MAY_PART", WAITS, plays };

void schedule_put(const struct overlay *o)
{
    static const struct {
        const char *from, *to;
    } edits[] = {
        { "#include \"dict/concurrent.cl\"\n", "#include \"dict/concurrent.cl\"\n#include \"" FILE_OF_OTHER "\"\n" },
        { MEMBERS, "    __global uint              *history;\n    __private other_one        *other;\n} ltree_batch;" },
        { WAITS,
          "        other_plays((const other_ltree_batch *) batch, batch->other, 1 + (op->faults.dice >> 5) % 40);\n" },
        { "#define AT(array) (array ? array + array##_at : array)\n",
          "    other_one other;\n"
          "    other.turn.next = TEAM_WIDTH + team_lane();\n"
          "#if TEAM_WIDTH > 1\n"
          "    other.turn.left = 0;\n"
          "#endif\n"
          "    other.turn.idle = true;\n"
          "    other.turn.steps = 0;\n"
          "    other.turn.op.elements = 0;\n"
          "    other.turn.op.faults.dice = first;\n"
          "    other.turn.op.faults.kinds = faults;\n"
          "    other.again = again;\n"
          "    other.first = first;\n"
          "    other.n = n;\n"
          "    other.more = true;\n"
          "#define AT(array) (array ? array + array##_at : array)\n" },
        { "        .history = history,\n", "        .history = history,\n        .other = &other,\n" },
        { "    if (turn.op.elements && apart_leads())\n",
          "    while (other.more)\n"
          "        other_plays((const other_ltree_batch *) &batch, &other, 1);\n"
          "    turn.op.elements += other.turn.op.elements;\n"
          "    if (turn.op.elements && apart_leads())\n" },
    };

    overlay_edit(o, FILE_OF_ONE, STRIDE, "    turn->next += 2 * TEAM_WIDTH;\n");
    overlay_edit(o, FILE_OF_ONE, "kind == FAULT_SLOW_RAISE ? 1 : 16", "kind == FAULT_SLOW_RAISE ? 1 : 3");
    schedule_write_other(o, &copy, FILE_OF_OTHER);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++)
        overlay_edit(o, FILE_OF_ONE, edits[i].from, edits[i].to);
}
