/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the programs that the library builds on a device with given facts. It makes every call of the interface with
 * every shape of data, under the shipped profile, then with each tunable at each of its choices. A line for each
 * program has, between tabs, the file of its text, "shipped" or the choice that needed it first, its kernels, and its
 * options. A line "choice" for each choice has its name and value, and the number of its programs that the shipped
 * profile does not need.
 *
 * usage: asked OUT CL-DIR WHAT NAME=VALUE...
 *
 *   OUT     an empty folder for the texts of modules
 *   CL-DIR  searched first, as ORDO_CL_DIR: kernels of tests
 *   WHAT    "shipped", or "choices" to add every choice of every tunable, one at a time
 *   NAMEs   facts: lanes atomics sub_group int64 cpu progress ballot intel local max_group units nvidia_options
 *
 * Kernels do nothing. Where a dictionary depends on their results, it gets each of a few made-up numbers. */
#include "no_driver.h"
#include "ordo/ordo.h"
#include "runtime/internal.h"
#include "runtime/self_test.h"

#include "dict/hash/hash.h"
#include "dict/ltree/ltree.h"
#include "dict/strings/string_dict.h"
#include "primitive/primitive.h"
#include "primitive/string_index.h"
#include "tests/dict/structures.h"
#include "tests/support/auto.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* ---- programs ---------------------------------------------------------------------------------------------------- */

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
static unsigned    n_choices;   /* tried so far */
static size_t      n_differing; /* programs of this choice that the shipped profile does not need */

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

static void print_programs(void)
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

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

/* Buffers of one call, each for `count` elements of 8 bytes. */
#define N_ARRAYS 16

struct arrays {
    cl_mem            mem[N_ARRAYS];
    struct ordo_slice at[N_ARRAYS];
};

static struct arrays arrays_create(size_t count)
{
    struct arrays a;
    for (size_t i = 0; i < N_ARRAYS; i++) {
        a.mem[i] = no_driver_buffer((count + 4) * 16); /* the widest keys */
        a.at[i] = ordo_at(a.mem[i], 0);
    }
    return a;
}

static void arrays_destroy(struct arrays *a)
{
    for (size_t i = 0; i < N_ARRAYS; i++)
        clReleaseMemObject(a->mem[i]);
}

/* The slice, or none without values. */
static struct ordo_slice if_bytes(struct ordo_slice slice, uint32_t bytes)
{
    return bytes ? slice : ordo_none();
}

/* ---- primitives -------------------------------------------------------------------------------------------------- */

/* Every shape of data, every type of key, both orders. */
struct pair {
    ordo_type key;
    uint32_t  value_bytes;
    bool      descending;
};
static const struct pair pairs[] = { { ORDO_U32, 0, false }, { ORDO_F32, 4, false },     { ORDO_I32, 8, true },
                                     { ORDO_I64, 0, true },  { ORDO_U64, 4, false },     { ORDO_F64, 8, false },
                                     { ORDO_U128, 0, true }, { ORDO_BYTES16, 4, false }, { ORDO_U128, 8, false } };

/* From one group to many rounds of the largest device. */
static const size_t counts[] = { 600, 3000, 1 << 14, 1 << 17, 1 << 19, 1 << 21, 1 << 25 };

/* Launches of one call. Further ones fail, because a loop that depends on a kernel's result may never end. */
#define LAUNCHES 2000

/* Most calls fail in the end on made-up results. The programs that they have built are recorded. */
static void ignore(ordo_status status)
{
    (void) status;
    no_driver.launches = LAUNCHES;
}

static void ask_folds(ordo_device *dev, const struct arrays *a, size_t count)
{
    static const struct {
        ordo_type type;
        ordo_op   op;
    } folds[] = { { ORDO_U32, ORDO_SUM }, { ORDO_U64, ORDO_SUM }, { ORDO_U32, ORDO_MAX },
                  { ORDO_F32, ORDO_MIN }, { ORDO_F64, ORDO_MAX }, { ORDO_I64, ORDO_MIN } };
    for (size_t i = 0; i < COUNT_OF(folds); i++) {
        const struct ordo_scan_params   scan = { .type = folds[i].type, .op = folds[i].op };
        const struct ordo_reduce_params reduce = { .type = folds[i].type, .op = folds[i].op };
        ignore(ordo_scan(dev, &scan, a->at[0], a->at[1], count, NULL));
        ignore(ordo_segmented_scan(dev, &scan, a->at[0], a->at[2], a->at[1], count, NULL));
        ignore(ordo_reduce(dev, &reduce, a->at[0], count, a->at[1], NULL));
    }
}

static void ask_compact(ordo_device *dev, const struct arrays *a, size_t count, const struct pair *pair)
{
    const struct ordo_compact_params params = { (uint32_t) ordo_type_bytes(pair->key), pair->value_bytes };
    ignore(ordo_compact(dev, &params, a->at[0], if_bytes(a->at[1], pair->value_bytes), a->at[2], count, a->at[3],
                        if_bytes(a->at[4], pair->value_bytes), a->at[5], NULL));
}

static void ask_by_key(ordo_device *dev, const struct arrays *a, size_t count, const struct pair *pair)
{
    static const ordo_type types[] = { ORDO_U32, ORDO_I32, ORDO_F32, ORDO_U64, ORDO_I64, ORDO_F64 };
    for (size_t i = 0; i < COUNT_OF(types); i++)
        for (int sorted = 0; sorted < 2; sorted++) {
            const bool                             is_float = types[i] == ORDO_F32 || types[i] == ORDO_F64;
            const struct ordo_reduce_by_key_params reduce = {
                pair->key, types[i], is_float ? ORDO_MIN : ORDO_SUM, !is_float && ordo_type_bytes(types[i]) == 4,
                sorted,    0
            };
            const struct ordo_unique_params unique = { pair->key, sorted, 0 };
            ignore(ordo_reduce_by_key(dev, &reduce, a->at[0], a->at[1], count, a->at[2], a->at[3], a->at[4], count,
                                      a->at[5], NULL));
            ignore(ordo_unique(dev, &unique, a->at[0], count, a->at[2], a->at[3], count, a->at[4], NULL));
            struct ordo_reduce_by_key_params few = reduce;
            few.bits = 4;
            if (dev->facts.cpu) /* by tables, without a sort */
                ignore(ordo_reduce_by_key(dev, &few, a->at[0], a->at[1], count, a->at[2], a->at[3], a->at[4], count,
                                          a->at[5], NULL));
        }
}

static void ask_top(ordo_device *dev, const struct arrays *a, size_t count, const struct pair *pair)
{
    const struct ordo_top_k_params  top = { pair->key, pair->value_bytes, pair->descending };
    const struct ordo_select_params one = { pair->key, pair->descending };
    const struct ordo_slice         values = if_bytes(a->at[1], pair->value_bytes);
    for (size_t k = 10; k <= count; k = k == count ? k + 1 : ordo_min_size(k * 20, count))
        ignore(ordo_top_k(dev, &top, a->at[0], values, count, k, a->at[2], if_bytes(a->at[3], pair->value_bytes),
                          a->at[4], NULL));
    ignore(ordo_select(dev, &one, a->at[0], count, count / 2, a->at[1], a->at[2], NULL));
}

static void ask_rows(ordo_device *dev, const struct arrays *a, size_t count)
{
    static const uint32_t bytes[] = { 1, 2, 4, 8 };
    for (size_t i = 0; i < COUNT_OF(bytes); i++) {
        const struct ordo_gather_params  gather = { bytes[i] };
        const struct ordo_scatter_params scatter = { bytes[i], false };
        ignore(ordo_gather(dev, &gather, a->at[0], count, a->at[1], count, a->at[2], NULL));
        ignore(ordo_scatter(dev, &scatter, a->at[0], a->at[1], count, a->at[2], count, NULL));
    }
    ignore(ordo_gather(dev, &(struct ordo_gather_params) { 16 }, a->at[0], count / 4, a->at[1], count / 4, a->at[2],
                       NULL));
}

static void ask_keys(ordo_device *dev, const struct arrays *a, size_t count)
{
    const struct ordo_slice     columns[] = { a->at[0], a->at[1], a->at[4] };
    const struct ordo_key_field fields[] = { { .type = ORDO_U32 }, { .type = ORDO_F32 }, { .type = ORDO_U64 } };
    for (size_t n = 1; n <= COUNT_OF(fields); n++) { /* keys of 4, 8 and 16 bytes */
        ignore(ordo_key_pack(dev, fields, n, columns, NULL, count, a->at[2], a->at[3], NULL));
        ignore(ordo_key_unpack(dev, fields, n, a->at[2], count, columns, NULL, NULL));
    }
}

/* The numbers that reads of one word return while an index of strings is built: no bad row, 20 strings, 4 tests on the
 * second level, none above it. */
static const cl_uint string_answers[] = { 0, 20, 4, 0 };
static size_t        n_string_reads;

static void make_up_strings(cl_uint *to, size_t words)
{
    memset(to, 0, words * sizeof *to);
    if (words == 2) /* the bytes of all strings */
        to[0] = 1;
    else if (words == 1 && n_string_reads < COUNT_OF(string_answers))
        to[0] = string_answers[n_string_reads++];
}

static void ask_string_searches(const struct ordo_string_index *x, const struct arrays *a,
                                const struct ordo_strings *column)
{
    static const ordo_string_search searches[] = { ORDO_STRING_FIND, ORDO_STRING_LE, ORDO_STRING_LOWER,
                                                   ORDO_STRING_LONGEST_PREFIX };
    size_t                          needed = 0;
    for (size_t i = 0; i < COUNT_OF(searches); i++)
        ignore(ordo_string_index_search(x, searches[i], column, a->at[2], NULL));
    ignore(ordo_string_index_prefix(x, column, a->at[2], a->at[3], NULL));
    ignore(ordo_string_index_range(x, column, column, a->at[2], a->at[3], NULL));
    ignore(ordo_string_index_common(x, column, a->at[2], a->at[3], a->at[5], NULL));
    ignore(ordo_string_index_rows(x, a->at[2], a->at[3], column->count, NULL));
    ignore(ordo_string_index_strings(x, a->at[2], column->count, a->at[3], a->at[5], column->count, &needed, NULL));
}

/* Steps of updates that a made-up number would end, and all queries, on a dictionary of two made-up runs. */
static void ask_string_dict(ordo_device *dev, const struct arrays *a, struct ordo_string_index *x)
{
    const struct ordo_string_run      run = { x, a->at[6].mem, a->at[5].mem, (cl_uint) x->ids, (cl_uint) x->ids };
    ordo_string_dict                  dict = { .dev = dev, .value_bytes = 4, .runs = { { run, run }, 2 } };
    const struct ordo_string_elements out = { a->at[2], a->at[3], x->ids, a->at[5] };
    const struct ordo_string_runs     keep = dict.runs;
    struct ordo_string_run            made = { .count = run.count };
    struct ordo_call                  call;
    size_t                            count = 0, needed = 0;

    void (*const before)(cl_uint *, size_t) = no_driver.read;
    no_driver.read = make_up_strings;
    n_string_reads = 0;
    if (ordo_call_begin(&call, dev, NULL) != ORDO_OK)
        return;
    ignore(ordo_string_last_rows(&call, x, a->at[2].mem));
    ignore(ordo_string_run_show(&call, &made));
    ordo_string_run_release(dev, &made, NULL);
    ignore(ordo_call_end(&call, ORDO_OK));
    ignore(ordo_string_dict_find(&dict, &x->column, a->at[2], a->at[3], NULL));
    ignore(ordo_string_dict_search(&dict, ORDO_STRING_FIND, &x->column, a->at[2], NULL));
    ignore(ordo_string_dict_search(&dict, ORDO_STRING_LONGEST_PREFIX, &x->column, a->at[2], NULL));
    ignore(ordo_string_dict_prefix(&dict, &x->column, a->at[2], a->at[3], NULL));
    ignore(ordo_string_dict_select(&dict, a->at[0], x->ids, &out, ordo_none(), NULL, NULL));
    ignore(ordo_string_dict_export(&dict, &out, x->ids, &count, &needed, NULL));
    dict.runs.at[0].visible = dict.runs.at[1].visible = 0; /* as the counts that the checks read */
    n_string_reads = COUNT_OF(string_answers);
    ignore(ordo_string_dict_check(&dict, NULL));
    dict.runs = keep;
    if (dict.view)
        ordo_buffer_destroy(dev, &dict.view);
    if (ordo_call_begin(&call, dev, NULL) == ORDO_OK) {
        ignore(ordo_string_runs_hide(&call, &dict.runs, 2, &x->column, &keep));
        ignore(ordo_call_end(&call, ORDO_OK));
    }
    ordo_string_runs_release(dev, &dict.runs, &keep);
    ordo_last_call_forget(dev, &dict.last);
    no_driver.read = before;
}

static void ask_string_index(ordo_device *dev, const struct arrays *a, const struct ordo_strings *column,
                             const struct ordo_string_partial *partial)
{
    struct ordo_string_index            x = { .dev = dev,
                                              .column = *column,
                                              .ids = column->count,
                                              .words = a->at[4].mem,
                                              .n_rows = column->count,
                                              .partial = partial->key_bytes > 0 };
    struct ordo_string_index_statistics statistics;
    ordo_string_index                  *index = NULL;

    void (*const before)(cl_uint *, size_t) = no_driver.read;
    no_driver.read = make_up_strings;
    n_string_reads = 0;
    ignore(ordo_string_index_build(dev, ordo_string_index_params(.sorted = true, .partial = *partial), column, NULL,
                                   &index));
    ordo_string_index_destroy(&index);
    ignore(ordo_string_index_get_statistics(&x, &statistics));
    ask_string_searches(&x, a, column);
    no_driver.read = before;
    if (!x.partial)
        ask_string_dict(dev, a, &x);
}

static void ask_strings(ordo_device *dev, const struct arrays *a, size_t count)
{
    for (uint32_t bytes = 4; bytes <= 8; bytes += 4) {
        const struct ordo_sort_strings_params params = { false };
        const struct ordo_strings             column = { a->at[0], bytes, a->at[1], count, count };
        ignore(ordo_sort_strings(dev, &params, &column, a->at[2], a->at[3], NULL));
        ask_string_index(dev, a, &column, &(struct ordo_string_partial) { 0 });
        ask_string_index(dev, a, &column, &(struct ordo_string_partial) { .key_bytes = 4 });
    }
}

static void ask_sort(ordo_device *dev, const struct arrays *a, size_t count, const struct pair *pair)
{
    const struct ordo_sort_params params = { pair->key, pair->value_bytes, pair->descending, 0, 0 };
    const struct ordo_slice       values = if_bytes(a->at[1], pair->value_bytes);
    ignore(ordo_sort(dev, &params, a->at[0], values, a->at[2], if_bytes(a->at[3], pair->value_bytes), count, NULL));
    ignore(ordo_sort(dev, &params, a->at[0], values, a->at[0], values, count, NULL));
}

static void ask_merges(ordo_device *dev, const struct arrays *a, size_t count, const struct pair *pair)
{
    const struct ordo_merge_params params = { pair->key, pair->value_bytes, pair->descending };
    const struct ordo_slice        values = if_bytes(a->at[1], pair->value_bytes);
    struct ordo_run                runs[ORDO_MAX_RUNS];
    ignore(ordo_merge(dev, &params, a->at[0], values, count / 2, a->at[2], if_bytes(a->at[3], pair->value_bytes),
                      count - count / 2, a->at[4], if_bytes(a->at[5], pair->value_bytes), NULL));
    for (size_t n = 2; n <= ORDO_MAX_RUNS; n += 7) {
        for (size_t i = 0; i < n; i++)
            runs[i] = (struct ordo_run) { i * (count / n), count / n };
        ignore(ordo_merge_runs(dev, &params, a->at[0], values, runs, n, a->at[4], if_bytes(a->at[5], pair->value_bytes),
                               NULL));
    }
}

static void ask_searches(ordo_device *dev, const struct arrays *a, size_t count, const struct pair *pair)
{
    const size_t                         n = count / 4;
    AUTO(ordo_index_destroy) ordo_index *index = NULL;
    ignore(ordo_index_build(dev, pair->key, a->at[0], count, NULL, &index));
    for (int i = 0; i < 8; i++) {
        const struct ordo_search_params search = { pair->key, (i & 1) != 0, (i & 2) != 0, i & 4 ? index : NULL };
        const struct ordo_lookup_params lookup = { pair->key, pair->value_bytes, (i & 2) != 0, i & 4 ? index : NULL };
        const struct ordo_equal_range_params range = { pair->key, (i & 2) != 0, i & 4 ? index : NULL };
        ignore(ordo_search(dev, &search, a->at[0], count, a->at[2], n, a->at[3], NULL));
        ignore(ordo_equal_range(dev, &range, a->at[0], count, a->at[2], n, a->at[3], a->at[4], NULL));
        ignore(ordo_lookup(dev, &lookup, a->at[0], if_bytes(a->at[1], pair->value_bytes), count, a->at[2], n,
                           if_bytes(a->at[4], pair->value_bytes), a->at[5], NULL));
    }
    for (int scheme = ORDO_SCHEME_BUFFERED; scheme <= ORDO_SCHEME_SORTED; scheme++) {
        const struct ordo_search_params in_order = { .key = pair->key, .index = index, .scheme = (ordo_scheme) scheme };
        ignore(ordo_search(dev, &in_order, a->at[0], count, a->at[2], n, a->at[3], NULL));
    }
    ordo_index_destroy(&index);
    ignore(ordo_index_build_compressed(dev, pair->key, a->at[0], count, NULL, &index));
    for (int i = 0; i < 2; i++) {
        const struct ordo_search_params search = { pair->key, i == 1, false, index };
        ignore(ordo_search(dev, &search, ordo_none(), count, a->at[2], n, a->at[3], NULL));
    }
    const struct ordo_lookup_params      lookup = { pair->key, pair->value_bytes, false, index };
    const struct ordo_equal_range_params range = { pair->key, false, index };
    ignore(ordo_equal_range(dev, &range, ordo_none(), count, a->at[2], n, a->at[3], a->at[4], NULL));
    ignore(ordo_lookup(dev, &lookup, ordo_none(), if_bytes(a->at[1], pair->value_bytes), count, a->at[2], n,
                       if_bytes(a->at[4], pair->value_bytes), a->at[5], NULL));
}

/* Whether a tunable ("sort.k4v8.items") belongs to this primitive; NULL belongs to all. */
static bool is_of(const char *tunable, const char *primitive)
{
    return !tunable || (strncmp(tunable, primitive, strlen(primitive)) == 0 && tunable[strlen(primitive)] == '.');
}

/* Whether it applies to this shape of data: "k4v8", or "k4" with any values. */
static bool is_for(const char *tunable, const struct pair *pair)
{
    const size_t key_bytes = ordo_type_bytes(pair->key);
    char         shape[16], any_values[16];
    snprintf(shape, sizeof shape, ".k%zuv%u.", key_bytes, pair->value_bytes);
    snprintf(any_values, sizeof any_values, ".k%zu.", key_bytes);
    return !tunable || strstr(tunable, shape) || strstr(tunable, any_values);
}

static void ask_pairs(ordo_device *dev, const char *tunable, const struct arrays *a, size_t count)
{
    static const struct {
        const char *name;
        void (*ask)(ordo_device *dev, const struct arrays *a, size_t count, const struct pair *pair);
    } primitives[] = { { "compact", ask_compact }, { "by_key", ask_by_key }, { "top", ask_top },
                       { "sort", ask_sort },       { "merge", ask_merges },  { "merge_runs", ask_merges },
                       { "search", ask_searches } };
    for (size_t i = 0; i < COUNT_OF(primitives); i++)
        for (size_t p = 0; p < COUNT_OF(pairs); p++)
            if (is_of(tunable, primitives[i].name) && is_for(tunable, &pairs[p]))
                primitives[i].ask(dev, a, count, &pairs[p]);
}

/* Makes the calls that a tunable affects; NULL: all calls. */
static void ask_primitives(ordo_device *dev, const char *tunable)
{
    for (size_t c = 0; c < COUNT_OF(counts); c++) {
        struct arrays a = arrays_create(counts[c]);
        if (is_of(tunable, "scan") || is_of(tunable, "compact"))
            ask_folds(dev, &a, counts[c]);
        if (is_of(tunable, "compact")) {
            ask_rows(dev, &a, counts[c]);
            ask_keys(dev, &a, counts[c]);
            ask_strings(dev, &a, counts[c]);
        }
        ask_pairs(dev, tunable, &a, counts[c]);
        arrays_destroy(&a);
    }
}

/* ---- dictionaries ------------------------------------------------------------------------------------------------ */

#define KEYS ((size_t) 20000)

/* The made-up count of kernels. */
static cl_uint answer;

/* A B-link tree of two levels, so that there is work above its leaves. */
static void make_up_state(cl_uint *state)
{
    state[LTREE_ROOT] = 1u << LTREE_LEVEL_SHIFT;
    state[LTREE_LEAVES] = answer;
    state[LTREE_INNER] = 1;
    state[LTREE_ELEMENTS] = answer;
    state[LTREE_GROUPS] = answer;
    state[LTREE_WANTED] = answer;
    state[LTREE_LARGEST] = answer == 600 ? 0 : answer;
    state[LTREE_PENDING] = answer;
    for (size_t i = 0; i < N_TALLIES; i++)
        state[LTREE_TALLY + i] = answer;
    state[LTREE_SPLITS_PENDING] = answer;
    state[LTREE_ZOMBIES] = answer;
}

/* A mixed batch has operations of every known code. An unknown code would refuse the batch, and so would a combine of a
 * dictionary without values. */
static void make_up_histogram(cl_uint *histogram)
{
    for (size_t code = 0; code < ORDO_N_CODES; code++)
        histogram[code] = code == ORDO_COMBINE && answer == 600 ? 0 : answer;
}

static void make_up(cl_uint *to, size_t words)
{
    if (words == LTREE_STATE_WORDS)
        make_up_state(to);
    else if (words == ORDO_HISTOGRAM_WORDS)
        make_up_histogram(to);
    else
        for (size_t i = 0; i < words; i++)
            to[i] = to[i] || (words == 2 && i == 1) ? to[i] : answer; /* two words are one 64-bit number */
}

static void ask_ranks(ordo_dict *dict, const struct arrays *a, struct ordo_slice values, size_t count)
{
    const struct ordo_limited_ranges limited = {
        a->at[0], a->at[1], count, 2, ordo_none(), true, a->at[6], a->at[7], values, KEYS,
    };
    size_t needed = 0;
    ignore(ordo_dict_rank(dict, ORDO_LT, a->at[0], count, a->at[5], NULL));
    ignore(ordo_dict_rank(dict, ORDO_LE, a->at[0], count, a->at[5], NULL));
    ignore(ordo_dict_select(dict, a->at[5], count, a->at[7], values, a->at[4], NULL));
    ignore(ordo_dict_seek_within(dict, ORDO_GE, a->at[0], a->at[1], count, a->at[7], values, a->at[4], NULL));
    ignore(ordo_dict_range_limited(dict, &limited, &needed, NULL));
    ignore(ordo_dict_peek_last(dict, count, a->at[7], values, &needed, NULL));
    ignore(ordo_dict_take_first(dict, count, a->at[7], values, &needed, NULL));
    ignore(ordo_dict_erase_range(dict, a->at[0], a->at[1], count, a->at[5], NULL));
}

/* Combines every type of values by every operation. */
static void ask_aggregates(ordo_dict *dict, const struct arrays *a, uint32_t value_bytes, size_t count)
{
    for (int type = ORDO_U32; type <= ORDO_F64; type++)
        for (int op = ORDO_SUM; op <= ORDO_MAX; op++) {
            if (ordo_type_bytes((ordo_type) type) != value_bytes || (op == ORDO_SUM && type >= ORDO_F32))
                continue;
            ignore(ordo_dict_combine(dict, (ordo_type) type, (ordo_op) op, a->at[0], a->at[3], count, NULL));
            ignore(ordo_dict_aggregate(dict, (ordo_type) type, (ordo_op) op, a->at[0], a->at[1], count, a->at[8],
                                       a->at[5], NULL));
        }
}

static void ask_queries(ordo_dict *dict, const struct arrays *a, uint32_t value_bytes, size_t count)
{
    const struct ordo_slice values = if_bytes(a->at[3], value_bytes);
    size_t                  needed = 0;
    ignore(ordo_dict_find(dict, a->at[0], count, values, a->at[4], NULL));
    ignore(ordo_dict_contains(dict, a->at[0], count, a->at[4], NULL));
    ignore(ordo_dict_count(dict, a->at[0], a->at[1], count, a->at[5], NULL));
    ignore(ordo_dict_range(dict, a->at[0], a->at[1], count, a->at[6], a->at[7], values, KEYS, &needed, NULL));
    for (int relation = ORDO_LT; relation <= ORDO_GT; relation++)
        ignore(ordo_dict_seek(dict, (ordo_relation) relation, a->at[0], count, a->at[7], values, a->at[4], NULL));
    ask_ranks(dict, a, values, count);
    ask_aggregates(dict, a, value_bytes, count);
    ignore(ordo_dict_size(dict, NULL, &needed));
    ignore(ordo_dict_export(dict, a->at[7], values, KEYS, &needed, NULL));
}

static void ask_batches(ordo_dict *dict, const struct arrays *a, uint32_t value_bytes, size_t count)
{
    const struct ordo_slice values = if_bytes(a->at[3], value_bytes), values_out = if_bytes(a->at[8], value_bytes);
    const struct ordo_slice range_values = if_bytes(a->at[9], value_bytes);
    size_t                  needed = 0;
    const struct ordo_batch batch = {
        a->at[0],   a->at[1], a->at[2], values,    count,        a->at[4], a->at[5],
        values_out, a->at[6], a->at[7], a->at[10], range_values, KEYS,     value_bytes == 8 ? ORDO_U64 : ORDO_U32,
        ORDO_SUM,
    };
    const struct ordo_concurrent_batch concurrent = {
        a->at[0],   a->at[1], a->at[2],  values,   count,     a->at[4],     a->at[5],
        values_out, a->at[6], a->at[11], a->at[7], a->at[10], range_values, KEYS,
    };
    ignore(ordo_dict_apply(dict, &batch, &needed, NULL));
    for (uint32_t finds = 1; finds <= 2; finds++) { /* finds first, then by the number of operations */
        ignore(ordo_device_set_tunable(dict->dev, "links.finds", finds));
        ignore(ordo_dict_apply_concurrent(dict, &concurrent, NULL));
    }
}

static void ask_dict(ordo_dict *dict, uint32_t value_bytes)
{
    static const size_t     batches[] = { 100, 3000, KEYS };
    struct arrays           a = arrays_create(2 * KEYS);
    const struct ordo_slice values = if_bytes(a.at[1], value_bytes);
    struct ordo_statistics  statistics;

    ignore(ordo_dict_build(dict, a.at[0], values, KEYS, NULL));
    for (size_t i = 0; i < COUNT_OF(batches); i++) {
        ask_queries(dict, &a, value_bytes, batches[i]);
        ignore(ordo_dict_upsert(dict, a.at[0], values, batches[i], NULL));
        ignore(ordo_dict_insert(dict, a.at[0], values, batches[i], a.at[2], NULL));
        ignore(ordo_dict_erase(dict, a.at[0], batches[i], NULL));
        ask_batches(dict, &a, value_bytes, batches[i]);
    }
    ignore(ordo_dict_upsert(dict, a.at[0], values, KEYS, NULL));
    ignore(ordo_lsm_cleanup(dict, NULL));
    ignore(ordo_dict_check(dict, NULL));
    ignore(ordo_dict_statistics(dict, NULL, &statistics));
    ignore(ordo_dict_compact(dict, NULL));
    ask_queries(dict, &a, value_bytes, KEYS);
    arrays_destroy(&a);
}

/* Queries of prefixes of an X-fast trie. */
static void ask_prefixes(ordo_dict *dict, uint32_t value_bytes)
{
    struct arrays           a = arrays_create(2 * KEYS);
    const struct ordo_slice values = if_bytes(a.at[4], value_bytes);

    ignore(ordo_dict_build(dict, a.at[0], if_bytes(a.at[1], value_bytes), KEYS, NULL));
    ignore(ordo_xfast_count_prefix(dict, a.at[0], a.at[2], KEYS, a.at[3], NULL));
    ignore(ordo_xfast_longest_prefix(dict, a.at[0], KEYS, a.at[3], values, a.at[2], NULL));
    arrays_destroy(&a);
}

/* Roaring sets of a HAMT, with keys of both widths. */
static void ask_roaring(ordo_device *dev)
{
    struct arrays a = arrays_create(2 * KEYS);
    size_t        size = 0;

    for (int wide = 0; wide < 2; wide++) {
        AUTO_DICT ordo_dict *dict = NULL;
        if (create(dev, HAMT, wide ? ORDO_U64 : ORDO_U32, 0, &dict) != ORDO_OK)
            abort();
        ignore(ordo_dict_build(dict, a.at[0], ordo_none(), KEYS, NULL));
        ignore(ordo_hamt_write_roaring(dict, a.at[1], KEYS, &size, NULL));
        ignore(ordo_hamt_read_roaring(dict, a.at[1], KEYS, NULL));
    }
    arrays_destroy(&a);
}

/* A tree with the histories and delays of tests in its concurrent kernels. */
static void ask_tested_tree(ordo_dict *dict, uint32_t value_bytes)
{
    struct ordo_ltree *tree = ordo_ltree_of(dict);
    tree->history = no_driver_buffer(16 * KEYS);
    tree->faults = FAULT_LATCHES;
    ask_dict(dict, value_bytes);
    clReleaseMemObject(tree->history);
}

/* A small batch for a hash table that seems to have many buckets. */
static void ask_small_batch(ordo_dict *dict, uint32_t value_bytes)
{
    struct arrays     a = arrays_create(2 * KEYS);
    struct ordo_hash *hash = ordo_hash_of(dict);

    ignore(ordo_dict_build(dict, a.at[0], if_bytes(a.at[1], value_bytes), KEYS, NULL));
    const size_t n_buckets = hash->table.n_buckets;
    hash->table.n_buckets = hash->elements_min = KEYS;
    hash->scan_max = 0;
    ignore(ordo_dict_upsert(dict, a.at[0], if_bytes(a.at[1], value_bytes), 100, NULL));
    hash->table.n_buckets = n_buckets;
    arrays_destroy(&a);
}

static ordo_dict *make_structure(ordo_device *dev, int structure, const struct pair *pair)
{
    ordo_dict *dict = NULL;
    if (create(dev, structure, pair->key, pair->value_bytes, &dict) != ORDO_OK)
        abort();
    return dict;
}

static void ask_structures(ordo_device *dev, const struct pair *pair)
{
    for (int s = 0; s < N_STRUCTURES; s++) {
        if (!structure_takes((size_t) s, pair->key))
            continue;
        AUTO_DICT ordo_dict *dict = make_structure(dev, s, pair);
        ask_dict(dict, pair->value_bytes);
        if (s == XFAST)
            ask_prefixes(dict, pair->value_bytes);
        if (s == HASH)
            ask_small_batch(dict, pair->value_bytes);
    }
    if (pair->value_bytes != 4)
        return;
    ordo_dict *tree = make_structure(dev, BLINK, pair);
    ask_tested_tree(tree, pair->value_bytes);
    ordo_dict_destroy(&tree);
    static const int variants[] = { HAMT_FIXED, SKIPLIST_16, XFAST_LEVELS };
    for (size_t v = 0; v < COUNT_OF(variants); v++) {
        if (!structure_takes((size_t) variants[v], pair->key))
            continue;
        AUTO_DICT ordo_dict *other = make_structure(dev, variants[v], pair);
        ask_dict(other, pair->value_bytes);
        if (variants[v] == XFAST_LEVELS)
            ask_prefixes(other, pair->value_bytes);
    }
}

static void ask_dicts(ordo_device *dev)
{
    static const unsigned answers[] = { 0, 1, 600, 5000 };
    for (size_t i = 0; i < COUNT_OF(answers); i++)
        for (size_t p = 0; p < COUNT_OF(pairs); p++) {
            answer = answers[i];
            ask_structures(dev, &pairs[p]);
            ask_roaring(dev);
        }
}

/* ---- self-tests, and kernels of tests ---------------------------------------------------------------------------- */

static void ask_self_test(ordo_device *dev)
{
    const uint32_t lanes = dev->facts.sub_group, group = lanes > 1 ? 2 * lanes : 64;
    const uint32_t widths[] = { lanes, 4, 1 };
    for (size_t i = 0; i < COUNT_OF(widths); i++) {
        const struct ordo_lanes_case c = { widths[i], group, 8, 1 };
        if (widths[i] <= lanes)
            ignore(ordo_self_test_lanes_case(dev, &c));
    }
    ignore(ordo_self_test_lanes(dev));
    ignore(ordo_self_test_atomics(dev));
}

/* As tests/primitive/group.c. */
static void ask_group(ordo_device *dev)
{
    static const long   widths[] = { 1, 4, 0 };
    struct ordo_call    call;
    struct ordo_kernel *kernel = NULL;
    for (size_t i = 0; i < COUNT_OF(widths); i++) {
        const long               width = widths[i] ? widths[i] : (long) dev->facts.sub_group;
        const struct ordo_define defines[] = { { "GROUP_SIZE", dev->facts.cpu ? 4 : 128 },
                                               { "TEAM_WIDTH", width },
                                               { NULL, 0 } };
        if (width > (long) dev->facts.sub_group || ordo_call_begin(&call, dev, NULL) != ORDO_OK)
            continue;
        ignore(ordo_call_end(&call, ordo_call_kernel(&call, "group.cl", "scan_add", defines, &kernel)));
    }
}

/* ---- choices ----------------------------------------------------------------------------------------------------- */

static void set_tunable(ordo_device *dev, const struct ordo_tunable_info *info, uint32_t value)
{
    if (ordo_device_set_tunable(dev, info->name, value) == ORDO_OK)
        return;
    (void) fprintf(stderr, "tunable %s: the shipped profile has %u, which is none of its choices\n", info->name, value);
    exit(1);
}

static bool ends_in(const char *text, const char *end)
{
    const size_t length = strlen(text), part = strlen(end);
    return length >= part && strcmp(text + length - part, end) == 0;
}

/* Sets the layout of an index to the one that uses a tunable. Returns the layout before. Other tunables keep theirs. */
static uint32_t set_layout(ordo_device *dev, const struct ordo_tunable_info *info, bool back, uint32_t was)
{
    const bool               depth = ends_in(info->name, "_depth"), nodes = ends_in(info->name, "node_keys");
    struct ordo_tunable_info layout;
    char                     name[64];
    if (!depth && !nodes)
        return 0;
    snprintf(name, sizeof name, "%.*s.layout", (int) (strrchr(info->name, '.') - info->name), info->name);
    for (size_t i = 0; ordo_device_tunable(dev, i, &layout) == ORDO_OK; i++)
        if (strcmp(layout.name, name) == 0) {
            if (ordo_device_set_tunable(dev, name, back ? was : depth) != ORDO_OK)
                abort();
            return layout.value;
        }
    abort();
}

static void ask_choice(ordo_device *dev, const struct ordo_tunable_info *info, uint32_t value)
{
    AUTO_FREE char *name = ordo_format("%s=%u", info->name, value);
    if (!name)
        abort();
    set_tunable(dev, info, value);
    const uint32_t layout = set_layout(dev, info, false, 0);
    choice = name;
    n_choices++;
    n_differing = 0;
    ordo_programs_destroy(dev); /* so that each program is built again */
    ordo_profile_lower(dev);
    ask_primitives(dev, info->name);
    answer = 600;
    for (size_t p = 0; p < COUNT_OF(pairs); p++)
        if ((is_of(info->name, "blink") || is_of(info->name, "links") || is_of(info->name, "xfast")) &&
            is_for(info->name, &pairs[p]))
            ask_structures(dev, &pairs[p]);
    set_layout(dev, info, true, layout);
    printf("choice\t%s\t%zu\n", name, n_differing);
}

static void ask_choices(ordo_device *dev)
{
    struct ordo_tunable_info info;
    for (size_t i = 0; ordo_device_tunable(dev, i, &info) == ORDO_OK; i++) {
        for (uint32_t c = 0; c < info.n_choices; c++)
            if (info.choice[c] != info.value)
                ask_choice(dev, &info, info.choice[c]);
        set_tunable(dev, &info, info.value);
    }
}

/* ---- main -------------------------------------------------------------------------------------------------------- */

struct facts {
    unsigned lanes, atomics, sub_group, int64, cpu, progress, ballot, intel, local, max_group, units, nvidia_options;
};

static bool take_fact(struct facts *f, const char *word)
{
    const struct {
        const char *name;
        unsigned   *at;
    } names[] = {
        { "lanes=", &f->lanes },         { "atomics=", &f->atomics }, { "sub_group=", &f->sub_group },
        { "int64=", &f->int64 },         { "cpu=", &f->cpu },         { "progress=", &f->progress },
        { "ballot=", &f->ballot },       { "intel=", &f->intel },     { "local=", &f->local },
        { "max_group=", &f->max_group }, { "units=", &f->units },     { "nvidia_options=", &f->nvidia_options }
    };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strncmp(word, names[i].name, strlen(names[i].name)) == 0) {
            *names[i].at = (unsigned) strtoul(word + strlen(names[i].name), NULL, 10);
            return true;
        }
    return false;
}

/* Gives a device these facts, without a probe. */
static void make_device(ordo_device *dev, const struct facts *f, const char *cl_dir)
{
    static char extensions[] = " cl_nv_compiler_options ";
    static char own_dir[4096];

    pthread_mutexattr_t recursive;
    dev->facts.lanes = (ordo_lanes) f->lanes;
    dev->facts.atomics = (ordo_atomics) f->atomics;
    dev->facts.sub_group = f->sub_group;
    dev->facts.int64_atomics = f->int64 != 0;
    dev->facts.cpu = f->cpu != 0;
    dev->facts.groups_progress = f->progress != 0;
    dev->facts.address_order = dev->facts.atomics == ORDO_ATOMICS_NVIDIA;
    dev->facts.local_bytes = f->local;
    dev->facts.max_group = f->max_group;
    dev->facts.compute_units = f->units;
    dev->facts.cache_line_bytes = 128;
    dev->facts.vector_bytes = 16;
    dev->facts.max_alloc_bytes = dev->memory_limit = (uint64_t) 1 << 40;
    dev->khr_ballot = f->ballot != 0;
    dev->intel_sub_groups = f->intel != 0;
    dev->extensions = f->nvidia_options ? extensions : extensions + sizeof extensions - 2;
    dev->pid = getpid();
    snprintf(own_dir, sizeof own_dir, "%s", cl_dir);
    dev->cl_dir = own_dir;
    no_driver.max_group = f->max_group;
    (void) pthread_mutexattr_init(&recursive);
    (void) pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    (void) pthread_mutex_init(&dev->lock, &recursive);
    ordo_profile_load(dev);
}

int main(int argc, char **argv)
{
    static ordo_device        dev;
    struct ordo_device_config config = { .mask = NULL };
    struct facts              facts = { 0 };

    for (int i = 4; i < argc; i++)
        if (!take_fact(&facts, argv[i]))
            argc = 0;
    if (argc < 5) {
        (void) fprintf(stderr, "usage: asked OUT CL-DIR shipped|choices FACT=VALUE...\n");
        return 2;
    }
    (void) setenv("ORDO_PROFILE", "off", 1);
    ordo_device_hold(&dev); /* so that destroying an object never closes it */
    ordo_errors_open(&dev, &config);
    ordo_builds_open(&dev);
    out_dir = argv[1];
    no_driver.built = built;
    no_driver.created = created;
    no_driver.read = make_up;
    no_driver.launches = LAUNCHES;
    make_device(&dev, &facts, argv[2]);
    ask_self_test(&dev);
    ask_group(&dev);
    ask_primitives(&dev, NULL);
    ask_dicts(&dev);
    if (strcmp(argv[3], "choices") == 0)
        ask_choices(&dev);
    print_programs();
    return 0;
}
