/* SPDX-License-Identifier: Apache-2.0 */
#include "step.h"

#include "directories.h"

#include <string.h>

#define WHAT      "paths"
#define LARGEST   12   /* directories in the picture */
#define TREE_BAR  34   /* its widest bar */
#define KEPT_PART 1000 /* directories with a larger share than 1 / KEPT_PART are searched as prefixes */

/* Names by struct paths.slashes. */
static const struct {
    const char *strings, *prefixes, *sort, *find, *count, *longest;
} texts[2] = { { "words", "beginnings of words", "sort the shuffled words", "look up every word",
                 "count by first letters", "find the longest beginnings" },
               { "paths", "directories", "sort the shuffled paths", "look up every path", "count in each directory",
                 "find the nearest large ones" } };

/* A column in device memory, with its buffers. */
struct on_device {
    cl_mem              offsets, bytes;
    struct ordo_strings strings;
};

struct paths {
    struct demo          *demo;
    struct steps          steps;
    struct string_lines  *lines;
    bool                  slashes;
    struct string_column  column; /* shuffled lines */
    struct on_device      strings, names;
    cl_mem                answers[2]; /* a word for each string, and for each directory */
    uint32_t             *host[2], *want;
    struct sorted_strings sorted;
    struct directories    directories;
    struct string_column  all_names;
    ordo_string_index    *index, *large; /* of the strings, and of names of large directories */
};

static struct on_device column_on_device(const struct demo *demo, const struct string_column *column)
{
    const struct on_device on = { .offsets =
                                      on_device(demo, (column->count + 1) * column->offset_bytes, column->offsets),
                                  .bytes = on_device(demo, column->n_bytes, column->n_bytes ? column->bytes : NULL) };
    return (struct on_device) { on.offsets,
                                on.bytes,
                                { ordo_at(on.offsets, 0), column->offset_bytes, ordo_at(on.bytes, 0), column->n_bytes,
                                  column->count } };
}

static struct ordo_slice answers(const struct paths *p, int a)
{
    return ordo_at(p->answers[a], 0);
}

/* ---- steps --------------------------------------------------------------------------------------------------- */

static ordo_status sort_strings(void *p_)
{
    struct paths *p = p_;
    return ordo_sort_strings(p->demo->device, ordo_sort_strings_params(.descending = false), &p->strings.strings,
                             answers(p, 0), ordo_none(), NULL);
}

static void fetch_words(void *p_)
{
    struct paths *p = p_;
    from_device(p->demo, p->answers[0], p->host[0], p->column.count * 4);
}

static void check_sorted(void *p_, struct verdict *verdict)
{
    struct paths              *p = p_;
    const struct spec          spec = { .workload = SORTSTRINGS, .count = p->column.count };
    const struct string_answer answer = { .rows = p->host[0] };
    verdict->wrong += !strings_check(&spec, &p->column, NULL, &answer, verdict->example);
    verdict->checked += p->column.count;
}

static ordo_status build_index(void *p_)
{
    struct paths *p = p_;
    ordo_string_index_destroy(&p->index);
    return ordo_string_index_build(p->demo->device, ordo_string_index_params(.sorted = false), &p->strings.strings,
                                   NULL, &p->index);
}

static void check_index(void *p_, struct verdict *verdict)
{
    struct paths                       *p = p_;
    struct ordo_string_index_statistics statistics;
    must(p->demo, WHAT, ordo_string_index_get_statistics(p->index, &statistics));
    if (statistics.ids != p->sorted.count) {
        because(verdict->example, "%zu distinct strings instead of %zu", statistics.ids, p->sorted.count);
        verdict->wrong++;
    }
    verdict->checked++;
}

static ordo_status find_strings(void *p_)
{
    struct paths *p = p_;
    return ordo_string_index_search(p->index, ORDO_STRING_FIND, &p->strings.strings, answers(p, 0), NULL);
}

static void check_found(void *p_, struct verdict *verdict)
{
    struct paths *p = p_;
    check_words(&p->column, p->sorted.ids, p->host[0], verdict);
}

static ordo_status count_prefixes(void *p_)
{
    struct paths *p = p_;
    return ordo_string_index_prefix(p->index, &p->names.strings, answers(p, 0), answers(p, 1), NULL);
}

static void fetch_counts(void *p_)
{
    struct paths *p = p_;
    from_device(p->demo, p->answers[0], p->host[0], p->directories.count * 4);
    from_device(p->demo, p->answers[1], p->host[1], p->directories.count * 4);
}

static void check_counts(void *p_, struct verdict *verdict)
{
    struct paths *p = p_;
    for (size_t d = 0; d < p->directories.count; d++)
        p->want[d] = p->directories.directory[d].first;
    check_words(&p->all_names, p->want, p->host[0], verdict);
    for (size_t d = 0; d < p->directories.count; d++)
        p->want[d] = p->directories.directory[d].under;
    check_words(&p->all_names, p->want, p->host[1], verdict);
}

static ordo_status find_longest(void *p_)
{
    struct paths *p = p_;
    return ordo_string_index_search(p->large, ORDO_STRING_LONGEST_PREFIX, &p->strings.strings, answers(p, 0), NULL);
}

static void check_longest(void *p_, struct verdict *verdict)
{
    struct paths *p = p_;
    for (size_t row = 0; row < p->column.count; row++) {
        const uint32_t inner = p->directories.innermost[p->sorted.ids[row]];
        p->want[row] = inner == NO_DIRECTORY ? ORDO_NO_ID : p->directories.directory[inner].kept;
    }
    check_words(&p->column, p->want, p->host[0], verdict);
}

/* ---- the act ------------------------------------------------------------------------------------------------- */

/* Takes the first lines of all in random order. */
static void open_paths(struct paths *p, struct demo *demo)
{
    char why[WHY_BYTES];
    progress("reading %s", demo->paths);
    p->demo = demo;
    p->lines = lines_read(demo->paths, why);
    if (!p->lines)
        give_up(WHAT, why);
    const size_t      all = p->lines->count;
    const struct spec spec = { .workload = SORTSTRINGS,
                               .variant = STRINGS_FILE,
                               .lines = p->lines,
                               .seed = 1,
                               .count = demo->lines && demo->lines < all ? demo->lines : all };
    must_have(strings_make(&spec, &p->column, &(struct string_column) { 0 }) ? p : NULL);
    p->slashes = p->column.n_bytes && memchr(p->column.bytes, '/', p->column.n_bytes);
    p->strings = column_on_device(demo, &p->column);
}

static void say_paths(const struct paths *p, cJSON *json)
{
    const struct demo *demo = p->demo;
    const size_t       count = p->column.count, all = p->lines->count;
    char               part[80] = "";
    if (count < all)
        snprintf(part, sizeof part, ", a random part of its %s", text_grouped(TEXT, all));
    say(demo->out, 9, "%s    %s from %s%s; %s\n\n", texts[p->slashes].strings, text_grouped(TEXT, count), demo->paths,
        part, text_bytes(TEXT, (double) p->column.n_bytes));
    json_text(json, "file", demo->paths);
    json_exact(json, "lines", (double) all);
    json_exact(json, "strings", (double) count);
}

/* Returns whether the order is right. */
static bool sort_and_number(struct paths *p)
{
    const size_t count = p->column.count;
    p->host[0] = room(count * 4);
    p->answers[0] = on_device(p->demo, count * 4, NULL);
    take_step(&p->steps, &(struct demo_step) { texts[p->slashes].sort, count, sort_strings, fetch_words, check_sorted },
              p);
    if (p->steps.verdict.wrong)
        return false;
    must_have(sorted_number(&p->column, p->host[0], &p->sorted) ? p : NULL);
    return true;
}

/* Replaces the arrays of answers by larger ones if there are more directories than strings. */
static void find_directories(struct paths *p)
{
    const uint32_t least = (uint32_t) (p->sorted.count / KEPT_PART + 1);
    progress("finding directories");
    must_have(directories_find(&p->sorted, p->slashes, least, &p->directories) ? p : NULL);
    must_have(directories_names(&p->directories, false, &p->all_names) ? p : NULL);
    const size_t most = p->directories.count > p->column.count ? p->directories.count : p->column.count;
    device_release(p->answers, 1);
    free(p->host[0]);
    p->want = room(most * 4);
    for (int a = 0; a < 2; a++) {
        p->answers[a] = on_device(p->demo, most * 4, NULL);
        p->host[a] = room(most * 4);
    }
    p->names = column_on_device(p->demo, &p->all_names);
}

static void index_large(struct paths *p)
{
    struct string_column names;
    must_have(directories_names(&p->directories, true, &names) ? p : NULL);
    const struct ordo_host_strings column = { names.offsets, names.offset_bytes, names.bytes, names.n_bytes,
                                              names.count };
    must(p->demo, WHAT,
         ordo_string_index_build_host(p->demo->device, ordo_string_index_params(.sorted = true), &column, &p->large));
    strings_free(&names);
}

static void search_strings(struct paths *p)
{
    const size_t count = p->column.count;
    find_directories(p);
    take_step(&p->steps, &(struct demo_step) { "build the string index", count, build_index, NULL, check_index }, p);
    take_step(&p->steps, &(struct demo_step) { texts[p->slashes].find, count, find_strings, fetch_words, check_found },
              p);
    if (p->directories.count == 0)
        return;
    take_step(&p->steps,
              &(struct demo_step) { texts[p->slashes].count, p->directories.count, count_prefixes, fetch_counts,
                                    check_counts },
              p);
    if (p->directories.n_kept == 0)
        return;
    index_large(p);
    take_step(&p->steps,
              &(struct demo_step) { texts[p->slashes].longest, count, find_longest, fetch_words, check_longest }, p);
}

/* Whether a directory lies in another one. */
static bool is_in(const struct directories *directories, uint32_t d, uint32_t other)
{
    while (d > other && d != NO_DIRECTORY)
        d = directories->directory[d].parent;
    return d == other;
}

/* Prints the largest directories as a tree. */
static void show_directories(const struct paths *p, cJSON *json)
{
    static const struct column columns[2][4] = {
        { { "beginning", 26, true }, { "words", 9, false }, { "share", 5, false }, { "", TREE_BAR, true } },
        { { "directory", 26, true }, { "paths", 9, false }, { "share", 5, false }, { "", TREE_BAR, true } }
    };
    const struct table table = { p->demo->out, columns[p->slashes], 4 };
    uint32_t           largest[LARGEST], around[LARGEST];
    uint32_t           most = 1;
    size_t             depth = 0;
    cJSON             *list = cJSON_AddArrayToObject(json, "largest");
    const size_t       n = directories_largest(&p->directories, LARGEST, largest);
    for (size_t i = 0; i < n; i++)
        most = p->directories.directory[largest[i]].under > most ? p->directories.directory[largest[i]].under : most;
    table_head(&table);
    for (size_t i = 0; i < n; i++) {
        const uint32_t           d = largest[i], under = p->directories.directory[d].under;
        const struct string_view name = directory_name(&p->directories, d);
        const double             share = (double) under / (double) p->sorted.count;
        char                     label[200], whole[4096], bar[BAR_WIDTH + 1];
        while (depth > 0 && !is_in(&p->directories, d, around[depth - 1]))
            depth--;
        const size_t known = depth && p->slashes ? directory_name(&p->directories, around[depth - 1]).bytes : 0;
        snprintf(label, sizeof label, "%*s%.*s", (int) (2 * depth), "", (int) (name.bytes - known), name.at + known);
        snprintf(whole, sizeof whole, "%.*s", (int) name.bytes, name.at);
        around[depth++] = d;
        table_row(&table, (const char *[]) { label, text_grouped(TEXT, under), text_percent(TEXT, share),
                                             bar_text(bar, TREE_BAR, (double) under / most) });
        cJSON *entry = json_append(list);
        json_text(entry, "name", whole);
        json_exact(entry, "strings", under);
    }
    say(p->demo->out, 0, "%s %s; %s of them have more than 1/%d of the %s and are large\n\n",
        text_grouped(TEXT, p->directories.count), texts[p->slashes].prefixes, text_grouped(TEXT, p->directories.n_kept),
        KEPT_PART, texts[p->slashes].strings);
}

static void show_result(const struct paths *p, cJSON *json)
{
    struct demo *demo = p->demo;
    steps_end(&p->steps);
    fprintf(demo->out, "\n");
    if (p->directories.count)
        show_directories(p, json);
    json_exact(json, "distinct", (double) p->sorted.count);
    json_exact(json, "directories", (double) p->directories.count);
    json_exact(json, "large_directories", (double) p->directories.n_kept);
    if (keep_verdict(demo, &p->steps.verdict, json))
        say(demo->out, 4, "ok: all %s answers agree with the host's\n", text_grouped(TEXT, p->steps.verdict.checked));
}

static void close_paths(struct paths *p)
{
    ordo_string_index_destroy(&p->index);
    ordo_string_index_destroy(&p->large);
    device_release((const cl_mem[]) { p->strings.offsets, p->strings.bytes, p->names.offsets, p->names.bytes,
                                      p->answers[0], p->answers[1] },
                   6);
    free(p->host[0]);
    free(p->host[1]);
    free(p->want);
    strings_free(&p->all_names);
    strings_free(&p->column);
    directories_free(&p->directories);
    sorted_free(&p->sorted);
    lines_free(p->lines);
}

void demo_paths(struct demo *demo)
{
    struct paths *p = must_have(calloc(1, sizeof *p));
    cJSON        *json = cJSON_AddObjectToObject(demo->json, "paths");
    open_paths(p, demo);
    say_paths(p, json);
    steps_begin(&p->steps, demo, json);
    if (sort_and_number(p))
        search_strings(p);
    show_result(p, json);
    close_paths(p);
    free(p);
}
