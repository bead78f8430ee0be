/* SPDX-License-Identifier: Apache-2.0 */
#include "primitive/scan.h"
#include "primitive/string_index.h"

#include "shared/strings.h"

#include <stdlib.h>

struct level {
    cl_mem  tests, cuts;
    cl_uint count;
};

struct build {
    struct ordo_call         *call;
    struct ordo_string_index *index;
    bool                      sorted, keep_rows;
    cl_uint                   n;
    cl_mem                    position, marks; /* `position` has n words, `marks` has n + 1. */
    struct level              level[STRING_LEVELS_MAX];
    struct level              above;
    string_branch            *branch;
    string_head               head;
};

/* ---- launches ------------------------------------------------------------------------------------------------ */

void ordo_string_column_args(struct ordo_args *args, const struct ordo_strings *column, struct ordo_string_args *more)
{
    *more = (struct ordo_string_args) { column->n_bytes, column->offset_bytes == 8 };
    ordo_args_slice(args, &column->offsets);
    ORDO_ADD(args, ORDO_ARG(more->wide));
    ordo_args_slice(args, &column->bytes);
    ORDO_ADD(args, ORDO_ARG(more->n_bytes));
}

enum { ROWS_PER_CHUNK = 1024 };

struct ordo_launch ordo_string_kernel(const ordo_device *dev, const char *file, const char *kernel, size_t count)
{
    const size_t group = ordo_group_of(dev, ORDO_COMPACT_GROUP, ORDO_K8V0);
    const size_t tile = group == 1 ? ROWS_PER_CHUNK : group;
    return (struct ordo_launch) {
        .file = file,
        .kernel = kernel,
        .groups = ordo_ceil_div(count, tile),
        .group = group,
        .defines = { { "STRINGS_GROUP", (long) group }, { "STRINGS_TILE", (long) tile } },
    };
}

void ordo_string_share(struct ordo_launch *launch, const char *name, size_t lanes, size_t count)
{
    const size_t tile = (size_t) launch->defines[1].value; /* STRINGS_TILE of ordo_string_kernel */
    launch->groups = ordo_ceil_div(count, tile / lanes);
    ordo_launch_define(launch, name, (long) lanes);
}

static ordo_status launch_build(struct ordo_call *call, const char *kernel, size_t count, const struct ordo_args *args)
{
    const struct ordo_launch l = ordo_string_kernel(call->dev, "primitive/string_build.cl", kernel, count);
    return ordo_call_launch(call, &l, args);
}

static ordo_status launch(const struct build *b, const char *kernel, size_t count, const struct ordo_args *args)
{
    return launch_build(b->call, kernel, count, args);
}

/* The first n words of b->marks must be 0 or 1. Replaces the first n + 1 words by exclusive prefix sums, and sets *sum
 * to the last one. Waits for the device. */
static ordo_status sum_marks(const struct build *b, cl_uint n, cl_uint *sum)
{
    ORDO_TRY(ordo_call_sum_before(b->call, ORDO_U32, b->marks, (size_t) n + 1));
    ORDO_TRY(ordo_call_read(b->call, b->marks, (size_t) n * sizeof *sum, sum, sizeof *sum));
    ORDO_REQUIRE(b->call->dev, *sum <= n, ORDO_DEVICE_FAILED, "%u marks of %u elements", *sum, n);
    return ORDO_OK;
}

/* ---- rows ---------------------------------------------------------------------------------------------------- */

static ordo_status hold(struct build *b, size_t bytes, cl_mem *mem)
{
    ORDO_TRY(ordo_buffer_create(b->call->dev, bytes, mem));
    b->index->bytes_held += bytes;
    return ORDO_OK;
}

static void drop(struct build *b, size_t bytes, cl_mem *mem)
{
    ordo_buffer_destroy(b->call->dev, mem);
    b->index->bytes_held -= bytes;
}

ordo_status ordo_call_check_strings(struct ordo_call *call, const struct ordo_strings *column)
{
    struct ordo_string_args more;
    struct ordo_args        args = { .n = 0 };
    const int               mark = call->n_scratch;
    const cl_uint           n = (cl_uint) column->count;
    cl_mem                  found = NULL;
    cl_uint                 bad = 0;
    ORDO_TRY(ordo_call_scratch(call, sizeof bad, &found));
    ORDO_TRY(ordo_call_fill(call, found, 0, sizeof bad, 0));
    ordo_string_column_args(&args, column, &more);
    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(found));
    ORDO_TRY(launch_build(call, "string_check", n, &args));
    ORDO_TRY(ordo_call_read(call, found, 0, &bad, sizeof bad));
    ordo_call_release(call, mark);
    return bad ? ordo_strings_refuse(call, column, n - bad) : ORDO_OK;
}

static ordo_status order_rows(struct build *b)
{
    if (b->sorted)
        return ordo_call_check_strings(b->call, &b->index->column);
    ORDO_TRY(hold(b, b->n * sizeof(cl_uint), &b->index->rows));
    return ordo_call_sort_strings(b->call, &b->index->column, ordo_at(b->index->rows, 0));
}

/* Indices into `state` of kernel string_apart. */
enum { UNFINISHED, DESCENDS, TOO_LONG, N_STATES };

static ordo_status judge(const struct build *b, const cl_uint state[N_STATES])
{
    ORDO_REQUIRE(b->call->dev, state[DESCENDS] == 0, b->sorted ? ORDO_INVALID : ORDO_DEVICE_FAILED,
                 "the column is not sorted: string %u is less than the one before", b->n - state[DESCENDS]);
    ORDO_REQUIRE(b->call->dev, state[TOO_LONG] == 0, ORDO_TOO_LARGE,
                 "string %u in sorted order and the one before begin with the same 256 MB", b->n - state[TOO_LONG]);
    return ORDO_OK;
}

static ordo_status compare_neighbours(struct build *b)
{
    cl_uint                 state[N_STATES] = { 1 };
    cl_mem                  words = NULL;
    struct ordo_string_args more;
    struct ordo_args        args = { .n = 0 };
    ORDO_TRY(ordo_call_scratch(b->call, b->n * sizeof(cl_uint), &b->position));
    ORDO_TRY(ordo_call_scratch(b->call, sizeof state, &words));
    ORDO_TRY(ordo_call_fill(b->call, b->position, 0, b->n * sizeof(cl_uint), STRING_GOES_ON));
    ordo_string_column_args(&args, &b->index->column, &more);
    ORDO_ADD(&args, ORDO_ARG(b->index->rows), ORDO_ARG(b->n), ORDO_ARG(b->position), ORDO_ARG(words));
    for (cl_uint turns = 0; state[UNFINISHED]; turns++) {
        ORDO_REQUIRE(b->call->dev, turns <= STRING_SHARED_MAX / STRINGS_PREFIX_MAX, ORDO_DEVICE_FAILED,
                     "neighbours are not compared after %u launches", turns);
        ORDO_TRY(ordo_call_fill(b->call, words, 0, sizeof state, 0));
        ORDO_TRY(launch(b, "string_apart", b->n, &args));
        ORDO_TRY(ordo_call_read(b->call, words, 0, state, sizeof state));
        ORDO_TRY(judge(b, state));
    }
    return ORDO_OK;
}

/* Assigns ids to the distinct strings. For each two neighbouring strings, writes the first bit position where they
 * differ to b->level[0]. */
static ordo_status number_strings(struct build *b)
{
    struct ordo_string_index *x = b->index;
    struct ordo_args          heads = { .n = 0 }, tests = { .n = 0 };
    cl_mem                    starts = NULL, first = NULL, rows = x->rows;
    cl_uint                   ids = 0;
    ORDO_TRY(ordo_call_scratch(b->call, ((size_t) b->n + 1) * sizeof ids, &b->marks));
    ORDO_ADD(&heads, ORDO_ARG(b->position), ORDO_ARG(b->n), ORDO_ARG(b->marks));
    ORDO_TRY(launch(b, "string_heads", b->n, &heads));
    ORDO_TRY(sum_marks(b, b->n, &ids));
    ORDO_REQUIRE(b->call->dev, ids > 0, ORDO_DEVICE_FAILED, "%u rows have no string", b->n);
    x->ids = ids;
    x->n_rows = b->keep_rows ? b->n : ids;
    if (ids < b->n && b->keep_rows)
        ORDO_TRY(hold(b, ((size_t) ids + 1) * sizeof ids, &x->starts));
    else if (ids < b->n)
        ORDO_TRY(hold(b, ids * sizeof ids, &first));
    starts = x->starts;
    b->level[0].count = ids - 1;
    ordo_status status = ordo_call_scratch(b->call, ids * sizeof ids, &b->level[0].tests);
    ORDO_ADD(&tests, ORDO_ARG(b->position), ORDO_ARG(b->marks), ORDO_ARG(rows), ORDO_ARG(b->n),
             ORDO_ARG(b->level[0].tests), ORDO_ARG(starts), ORDO_ARG(first));
    if (status == ORDO_OK)
        status = launch(b, "string_tests", b->n, &tests);
    if (first) {
        if (x->rows)
            drop(b, b->n * sizeof ids, &x->rows);
        x->rows = first;
    }
    return status;
}

/* ---- levels -------------------------------------------------------------------------------------------------- */

/* Copies tests from level `of` to level `above`: each test whose subtree is too large for one node.
 * cl/shared/string_index.h defines tests and nodes. */
static ordo_status collect(struct build *b, const struct level *of, struct level *above)
{
    struct ordo_args mark = { .n = 0 }, promote = { .n = 0 };
    above->count = 0;
    if (of->count == 0)
        return ORDO_OK;
    ORDO_ADD(&mark, ORDO_ARG(of->tests), ORDO_ARG(of->count), ORDO_ARG(b->marks));
    ORDO_TRY(launch(b, "string_above", of->count, &mark));
    ORDO_TRY(sum_marks(b, of->count, &above->count));
    if (above->count == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_call_scratch(b->call, above->count * sizeof(cl_uint), &above->tests));
    ORDO_TRY(ordo_call_scratch(b->call, above->count * sizeof(cl_uint), &above->cuts));
    ORDO_ADD(&promote, ORDO_ARG(of->tests), ORDO_ARG(of->count), ORDO_ARG(b->marks), ORDO_ARG(above->tests),
             ORDO_ARG(above->cuts));
    return launch(b, "string_promote", of->count, &promote);
}

static ordo_status make_levels(struct build *b)
{
    cl_uint n = 1;
    for (;; n++) {
        ORDO_TRY(collect(b, &b->level[n - 1], &b->above));
        if (b->above.count == 0 || b->above.count > b->level[n - 1].count / 2 || n == STRING_LEVELS_MAX)
            break;
        b->level[n] = b->above;
    }
    b->index->levels = n;
    b->index->branches = b->above.count;
    return ORDO_OK;
}

/* ---- branches ------------------------------------------------------------------------------------------------ */

#define NO_BRANCH UINT32_MAX

/* left[i] and right[i] are the children of test i, an inner node of the trie. NO_BRANCH means no child. */
struct children {
    cl_uint *left, *right;
};

/* Builds the Cartesian tree of tests[]. Returns its root, the index of the minimum. path[] needs space for n
 * indices. */
static cl_uint link_tests(const cl_uint *tests, cl_uint n, const struct children *c, cl_uint *path)
{
    cl_uint depth = 0;
    for (cl_uint i = 0; i < n; i++) {
        c->left[i] = c->right[i] = NO_BRANCH;
        while (depth > 0 && tests[path[depth - 1]] > tests[i])
            c->left[i] = path[--depth];
        if (depth > 0)
            c->right[path[depth - 1]] = i;
        path[depth++] = i;
    }
    return path[0];
}

/* Writes the tree to b->branch in preorder. `path` is a stack of tests whose right subtree is not yet written. */
static void write_branches(struct build *b, const cl_uint *tests, const cl_uint *cuts, const struct children *c,
                           cl_uint root, cl_uint *path)
{
    cl_uint depth = 0, n = 0, *number = c->left; /* number[i] is the index of test i in b->branch. */
    for (cl_uint at = root;;) {
        const cl_uint left = c->left[at];
        b->branch[n] = (string_branch) { tests[at], cuts[at], 0, left != NO_BRANCH };
        number[at] = n++;
        if (c->right[at] != NO_BRANCH)
            path[depth++] = at;
        if (left != NO_BRANCH) {
            at = left;
        } else if (depth > 0) {
            const cl_uint parent = path[--depth];
            b->branch[number[parent]].right = n;
            at = c->right[parent];
        } else {
            return;
        }
    }
}

/* `words` is scratch memory of 5 * b->above.count words. */
static ordo_status make_branches(struct build *b, cl_uint *words)
{
    const size_t          n = b->above.count, bytes = n * sizeof *words;
    const struct children c = { words + 2 * n, words + 3 * n };
    ORDO_TRY(ordo_call_read(b->call, b->above.tests, 0, words, bytes));
    ORDO_TRY(ordo_call_read(b->call, b->above.cuts, 0, words + n, bytes));
    write_branches(b, words, words + n, &c, link_tests(words, b->above.count, &c, words + 4 * n), words + 4 * n);
    return ORDO_OK;
}

/* ---- the index ----------------------------------------------------------------------------------------------- */

/* Reserves words at the end of the index and returns the index of the first one. Rounds up to multiples of 4, because
 * kernels load four words at once. */
static size_t take_words(size_t *used, size_t words)
{
    const size_t at = *used;
    *used += (words + 3) / 4 * 4;
    return at;
}

static size_t place_all(struct build *b)
{
    size_t used = sizeof(string_head) / 4;
    b->head = (string_head) { .n_branches = b->above.count, .levels = b->index->levels };
    for (cl_uint i = 0; i < b->index->levels; i++) {
        string_level *level = &b->head.level[i];
        level->count = b->level[i].count;
        level->tests = take_words(&used, level->count);
        level->cuts = i ? take_words(&used, level->count) : level->tests;
    }
    b->head.branches = take_words(&used, (size_t) 4 * b->above.count);
    return used;
}

static ordo_status copy_words(const struct build *b, cl_mem from, size_t to, cl_uint count)
{
    return count ? ordo_call_copy(b->call, from, 0, b->index->words, to * 4, (size_t) count * 4) : ORDO_OK;
}

static ordo_status assemble(struct build *b)
{
    const size_t words = place_all(b);
    ORDO_TRY(hold(b, words * 4, &b->index->words));
    ORDO_TRY(ordo_call_write(b->call, b->index->words, 0, &b->head, sizeof b->head));
    for (cl_uint i = 0; i < b->index->levels; i++) {
        ORDO_TRY(copy_words(b, b->level[i].tests, b->head.level[i].tests, b->level[i].count));
        if (i)
            ORDO_TRY(copy_words(b, b->level[i].cuts, b->head.level[i].cuts, b->level[i].count));
    }
    if (b->above.count == 0)
        return ORDO_OK;
    return ordo_call_write(b->call, b->index->words, b->head.branches * 4, b->branch,
                           b->above.count * sizeof *b->branch);
}

static ordo_status branch_and_assemble(struct build *b)
{
    if (b->above.count == 0)
        return assemble(b);
    cl_uint *words = malloc((size_t) b->above.count * 5 * sizeof *words);
    b->branch = malloc(b->above.count * sizeof *b->branch);
    ordo_status status =
        words && b->branch ? make_branches(b, words) : ORDO_FAIL(b->call->dev, ORDO_NO_HOST_MEMORY, NULL);
    if (status == ORDO_OK)
        status = assemble(b);
    free(words);
    free(b->branch);
    return status;
}

static struct build begin(struct ordo_call *call, const struct ordo_string_index_params *params,
                          struct ordo_string_index *index)
{
    return (struct build) { .call = call,
                            .index = index,
                            .sorted = params->sorted,
                            .keep_rows = params->keep_rows,
                            .n = (cl_uint) index->column.count };
}

static ordo_status make_tests(struct build *b)
{
    ORDO_TRY(order_rows(b));
    ORDO_TRY(compare_neighbours(b));
    return number_strings(b);
}

ordo_status ordo_call_number_strings(struct ordo_call *call, const struct ordo_string_index_params *params,
                                     struct ordo_string_index *index, cl_mem *tests)
{
    struct build b = begin(call, params, index);
    ORDO_TRY(make_tests(&b));
    *tests = b.level[0].tests;
    return ORDO_OK;
}

ordo_status ordo_call_build_strings(struct ordo_call *call, const struct ordo_string_index_params *params,
                                    struct ordo_string_index *index)
{
    struct build b = begin(call, params, index);
    if (b.n == 0)
        return ORDO_OK;
    ORDO_TRY(make_tests(&b));
    ORDO_TRY(make_levels(&b));
    return branch_and_assemble(&b);
}
