/* SPDX-License-Identifier: Apache-2.0 */
#include "rivals.h"

#include "bench/common/device.h"
#include "bench/common/threads.h"
#include "bench/common/timing.h"

#include <stdlib.h>

static const char *const lockfree_lines[] = {
#include "lockfree_cl.h"
};
static const char *const cuckoo_lines[] = {
#include "cuckoo_cl.h"
};

struct rival {
    ordo_device     *device;
    cl_command_queue queue;
    bool             cuckoo; /* else the skiplist */
    cl_program       program;
    cl_kernel        kernels[3];
    size_t           group;              /* work-items, within the limit of each kernel */
    cl_mem           words, state, mine; /* nodes and counters, or slots and errors; node of each operation */
    cl_uint          size;               /* pairs of words that have room, or slots */
    cl_uint          code, seed, moves;  /* of the current step */
    bool             empty;
};

/* By number. Kernels of a list, and of a table. */
enum { CLEAR, NODES, APPLY };
enum { BUILD_TABLE = 1, FIND };

/* All kernels have the same arguments. The operations of a launch are at .. at + n - 1. Without codes all are `code`.
 * found_out, values_out and outcomes may be NULL. */
static const char arguments[] =
    "#define ARGUMENTS(type) __global type *words, volatile __global uint *state, __global uint *mine, "
    "__global const uchar *codes, __global const uint *keys, __global const uint *values, "
    "__global uint *values_out, __global uchar *found_out, __global uchar *outcomes, "
    "ulong at, uint n, uint size, uint code, uint seed, uint moves\n";

/* At least `items` work-items, from `first` on. */
static ordo_status launch(const struct rival *r, int kernel, size_t first, size_t items, const cl_mem *columns,
                          const struct step *step, cl_event *done)
{
    static const cl_mem none[N_COLUMNS];
    const cl_mem       *c = columns ? columns : none;
    const cl_mem        codes = step && step->call == DO_CONCURRENT ? c[COL_CODES] : NULL;
    const cl_mem        buffers[] = { r->words,      r->state,          r->mine,      codes,          c[COL_KEYS],
                                      c[COL_VALUES], c[COL_VALUES_OUT], c[COL_FOUND], c[COL_OUTCOMES] };
    const cl_ulong      at = step ? step->at : 0;
    const cl_uint       numbers[] = { (cl_uint) (first + items), r->size, r->code, r->seed, r->moves };
    const size_t        local = r->group, global = (items + local - 1) / local * local;
    cl_uint             n = 0;
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        TRY_CL(clSetKernelArg(r->kernels[kernel], n++, sizeof(cl_mem), &buffers[i]));
    TRY_CL(clSetKernelArg(r->kernels[kernel], n++, sizeof at, &at));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        TRY_CL(clSetKernelArg(r->kernels[kernel], n++, sizeof(cl_uint), &numbers[i]));
    TRY_CL(clEnqueueNDRangeKernel(r->queue, r->kernels[kernel], 1, &first, &global, &local, 0, NULL, done));
    return ORDO_OK;
}

static ordo_status zero_word(const struct rival *r, size_t word)
{
    static const cl_uint none = 0;
    TRY_CL(clEnqueueFillBuffer(r->queue, r->state, &none, 4, word * 4, 4, 0, NULL, NULL));
    return ORDO_OK;
}

static ordo_status read_words(const struct rival *r, cl_mem from, size_t bytes, void *to, cl_event *done)
{
    if (done && *done)
        clReleaseEvent(*done);
    TRY_CL(clEnqueueReadBuffer(r->queue, from, CL_TRUE, 0, bytes, to, 0, NULL, done));
    return ORDO_OK;
}

/* ---- the skiplist -------------------------------------------------------------------------------------------- */

/* Enough for 2^27 keys. */
#define LEVELS 28
/* Words before the links of a node; words of the state (lockfree.cl). */
#define LINKS_AT 2
enum { USED, LEVELS_IN_USE, UNFINISHED, RESTARTS, NO_ROOM, STATE_WORDS };

/* Pairs of words for a store. The mean is 2.3. The head and some high nodes need more. */
#define PAIRS_EACH  4
#define PAIRS_SPARE 1024
#define PAIRS_MAX   ((size_t) INT32_MAX) /* a link holds twice a number */
#define LAUNCHES    64
/* An empty list takes 1024 operations first, then 4 times as many per launch, because a whole batch would contend
 * for the head's links. */
#define FIRST_PART  ((size_t) 1024)
#define PART_GROWTH 4

static ordo_status list_part(const struct rival *r, const cl_mem *c, const struct step *step, size_t first,
                             size_t count, cl_event *done)
{
    cl_uint state[STATE_WORDS] = { 0 };
    for (int tries = 0; tries < LAUNCHES; tries++) {
        TRY(zero_word(r, UNFINISHED));
        TRY(launch(r, APPLY, first, count, c, step, NULL));
        TRY(read_words(r, r->state, sizeof state, state, done));
        if (state[NO_ROOM] || !state[UNFINISHED])
            return state[NO_ROOM] ? ORDO_NO_DEVICE_MEMORY : ORDO_OK;
    }
    return ORDO_BROKEN;
}

/* Allocates nodes, then runs the operations. */
static ordo_status list_step(struct rival *r, const cl_mem *c, const struct step *step, cl_event *done)
{
    size_t part = r->empty ? FIRST_PART : step->count;
    if (step->call != DO_CONCURRENT && step->call != DO_ERASE && step->call != DO_UPSERT)
        return ORDO_UNSUPPORTED;
    r->code = step->call == DO_ERASE ? ORDO_ERASE : ORDO_UPSERT;
    TRY(zero_word(r, NO_ROOM));
    TRY(launch(r, NODES, 0, step->count, c, step, NULL));
    r->empty = false;
    for (size_t first = 0; first < step->count; first += part, part *= PART_GROWTH) {
        const size_t left = step->count - first;
        TRY(list_part(r, c, step, first, part < left ? part : left, done));
    }
    return ORDO_OK;
}

/* A level, walked in pieces on all processors. Piece p begins after the node start[p], a live node of a higher level,
 * and ends with start[p + 1]; the first begins after the head, the last at the end. */
struct walk {
    const cl_uint *words;
    size_t         nodes, level, pieces;
    size_t         start[MAX_PARTS];
    size_t         count[MAX_PARTS]; /* of live nodes */
    bool           good[MAX_PARTS];  /* keys ascend and links are valid */
    struct model  *out;              /* gets the elements of each piece from `at` on; NULL: nothing */
    size_t         at[MAX_PARTS];
    cl_uint       *live; /* of a walk in one piece: the first LIVE_MAX live nodes; NULL: nothing */
};

#define LIVE_MAX 1024

static void take_node(const struct walk *walk, int piece, size_t node)
{
    const size_t place = walk->count[piece];
    if (walk->out)
        model_set(walk->out, walk->at[piece] + place, walk->words[node * 2], walk->words[node * 2 + 1]);
    if (walk->live && place < LIVE_MAX)
        walk->live[place] = (cl_uint) node;
}

static void walk_piece(void *walk_, int piece)
{
    struct walk   *walk = walk_;
    const cl_uint *words = walk->words;
    const size_t   nodes = walk->nodes, stop = (size_t) piece + 1 < walk->pieces ? walk->start[piece + 1] : 0;
    size_t         node = walk->start[piece];
    int64_t        last = node ? (int64_t) words[node * 2] : -1;
    walk->count[piece] = 0;
    walk->good[piece] = false;
    for (size_t steps = 0; steps <= nodes; steps++) {
        const size_t link = node * 2 + LINKS_AT + walk->level;
        node = link < nodes * 2 ? words[link] >> 1 : nodes;
        walk->good[piece] = node == stop;
        if (node == 0 || node >= nodes)
            return;
        const cl_uint key = words[node * 2];
        if (!(words[node * 2 + LINKS_AT] & 1)) { /* not erased */
            walk->good[piece] &= last < key;
            if (last >= key)
                return;
            last = key;
            take_node(walk, piece, node);
            walk->count[piece]++;
        }
        if (node == stop)
            return;
    }
}

/* The number of live nodes. False if the level is not right. */
static bool walk_level(struct walk *walk, size_t *count)
{
    bool good = true;
    run_parts((int) walk->pieces, walk_piece, walk);
    *count = 0;
    for (size_t p = 0; p < walk->pieces; p++) {
        walk->at[p] = *count;
        *count += walk->count[p];
        good &= walk->good[p];
    }
    return good;
}

/* Cuts lower levels at nodes of a level with `count` of them. */
static void cut(struct walk *walk, size_t count)
{
    walk->pieces = MAX_PARTS;
    for (size_t p = 1; p < walk->pieces; p++)
        walk->start[p] = walk->live[count * p / walk->pieces];
    walk->live = NULL;
}

/* All elements are in the lowest level, so no level has more than the level below. */
static bool take_list(const cl_uint *words, size_t nodes, struct model *out)
{
    cl_uint     live[LIVE_MAX];
    struct walk walk = { .words = words, .nodes = nodes, .level = LEVELS, .pieces = 1, .live = live };
    size_t      above = 0, count = 0;
    bool        good = true;
    while (walk.level-- > 0 && good) {
        if (walk.live && above >= MAX_PARTS && above <= LIVE_MAX)
            cut(&walk, above);
        good = walk_level(&walk, &count) && count >= above;
        above = count;
    }
    walk.level = 0;
    walk.out = out;
    good = good && walk_level(&walk, &out->count);
    return good;
}

/* ---- the cuckoo table ---------------------------------------------------------------------------------------- */

/* Seeds to try; moves of an element per doubling of the elements. */
#define SEEDS_MAX      32
#define MOVES_EACH     7
#define LOAD_AS_PAPERS 80
#define EMPTY          UINT64_MAX

enum { NO_PLACE = 1, NO_PAIR = 2 };

static ordo_status table_step(struct rival *r, const cl_mem *c, const struct step *step, cl_event *done)
{
    cl_uint wrong = NO_PLACE;
    if (step->call != DO_BUILD)
        return step->call == DO_FIND ? launch(r, FIND, 0, step->count, c, step, done) : ORDO_UNSUPPORTED;
    r->moves = MOVES_EACH;
    for (size_t left = step->count; left > 1; left /= 2)
        r->moves += MOVES_EACH;
    for (cl_uint attempt = 1; attempt <= SEEDS_MAX && wrong == NO_PLACE; attempt++) {
        r->seed = attempt * 0x9e3779b1u;
        TRY(launch(r, CLEAR, 0, r->size, NULL, NULL, NULL));
        TRY(zero_word(r, 0));
        TRY(launch(r, BUILD_TABLE, 0, step->count, c, step, NULL));
        TRY(read_words(r, r->state, sizeof wrong, &wrong, done));
    }
    return wrong == 0 ? ORDO_OK : wrong & NO_PAIR ? ORDO_INVALID : ORDO_UNSUPPORTED;
}

static int ascending(const void *a, const void *b)
{
    const cl_ulong *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static bool take_table(cl_ulong *pairs, size_t n, struct model *out)
{
    for (size_t i = 0; i < n; i++)
        if (pairs[i] != EMPTY)
            pairs[out->count++] = pairs[i];
    qsort(pairs, out->count, sizeof *pairs, ascending);
    for (size_t i = 0; i < out->count; i++) {
        set_element(out->keys, 4, i, pairs[i] >> 32);
        set_element(out->values, 4, i, pairs[i] & UINT32_MAX);
    }
    return true;
}

/* ---- both ---------------------------------------------------------------------------------------------------- */

bool rival_can(ordo_device *device, const struct spec *spec)
{
    const enum workload w = spec->workload;
    if (spec->type != ORDO_U32 || spec->value_bytes != 4)
        return false;
    if (spec->variant == LOCKFREE)
        return (workload_is_concurrent(w) && !workload_needs_order(w)) || w == DELETERANDOM;
    return ordo_device_facts(device)->int64_atomics && (w == BUILD || w == READRANDOM || w == READMISSING) &&
           spec->dist == SEQUENTIAL; /* distinct keys, none all ones */
}

static ordo_status build(struct rival *r, char *why)
{
    static const char *const names[2][3] = { { "lockfree_clear", "lockfree_nodes", "lockfree_apply" },
                                             { "cuckoo_clear", "cuckoo_build", "cuckoo_find" } };
    cl_device_id             id = ordo_device_id(r->device);
    char                     options[256], *text = text_of_lines(r->cuckoo ? cuckoo_lines : lockfree_lines);
    const char              *texts[] = { arguments, text };
    cl_int                   code = CL_OUT_OF_HOST_MEMORY;
    snprintf(options, sizeof options, "-DLEVELS=%d -DCODE_UPSERT=%d -DCODE_INSERT=%d -DCODE_ERASE=%d -DOUTCOME_DONE=%d",
             LEVELS, ORDO_UPSERT, ORDO_INSERT, ORDO_ERASE, ORDO_DONE);
    if (text)
        r->program = clCreateProgramWithSource(ordo_device_context(r->device), 2, texts, NULL, &code);
    free(text);
    if (code == CL_SUCCESS)
        code = clBuildProgram(r->program, 1, &id, options, NULL, NULL);
    r->group = r->cuckoo ? 256 : 512;
    for (int k = 0; k < 3 && code == CL_SUCCESS; k++) {
        size_t most = 0;
        r->kernels[k] = clCreateKernel(r->program, names[r->cuckoo][k], &code);
        if (code == CL_SUCCESS)
            code = clGetKernelWorkGroupInfo(r->kernels[k], id, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL);
        r->group = most < r->group ? most : r->group;
    }
    if (code == CL_SUCCESS)
        return ORDO_OK;
    const int said = snprintf(why, WHY_BYTES, "the kernels of %s do not build: %s\n",
                              variant_name(BUILD, r->cuckoo ? CUCKOO : LOCKFREE), ordo_cl_error_string(code));
    if (r->program && (size_t) said < WHY_BYTES)
        clGetProgramBuildInfo(r->program, id, CL_PROGRAM_BUILD_LOG, WHY_BYTES - (size_t) said, why + said, NULL);
    return ORDO_OPENCL;
}

static size_t words_bytes(const struct rival *r)
{
    return (size_t) r->size * 8;
}

static ordo_status make(struct rival *r, const struct dict_plan *plan, char *why)
{
    const size_t table = plan->table.cols.rows[COL_KEYS],
                 queries = plan_has_fills(plan->spec.workload) ? plan->spec.n_queries : 0;
    const size_t work = queries ? queries : plan->work.cols.rows[COL_KEYS], most = table > work ? table : work;
    const size_t stores = table + (queries || workload_erases(plan->spec.workload) ? 0 : work);
    const size_t load = plan->spec.load_percent ? plan->spec.load_percent : LOAD_AS_PAPERS;
    const size_t slots = (queries ? table : most) * 100 / load + 1, pairs = stores * PAIRS_EACH + PAIRS_SPARE;
    r->queue = ordo_device_queue(r->device);
    r->size = (cl_uint) (r->cuckoo ? slots : pairs < PAIRS_MAX ? pairs : PAIRS_MAX);
    TRY(build(r, why));
    because(why, "no memory for a %s of %zu bytes", variant_name(BUILD, plan->spec.variant), words_bytes(r));
    TRY(device_buffer(r->device, words_bytes(r), &r->words));
    TRY(device_buffer(r->device, STATE_WORDS * sizeof(cl_uint), &r->state));
    TRY(device_buffer(r->device, r->cuckoo ? 0 : most * sizeof(cl_uint), &r->mine));
    TRY(rival_clear(r));
    *why = 0;
    return ORDO_OK;
}

ordo_status rival_open(ordo_device *device, const struct dict_plan *plan, struct rival **out, char *why)
{
    struct rival *r = *out = calloc(1, sizeof *r);
    because(why, "%s", ordo_status_string(ORDO_NO_HOST_MEMORY));
    if (!r)
        return ORDO_NO_HOST_MEMORY;
    r->device = device;
    r->cuckoo = plan->spec.variant == CUCKOO;
    const ordo_status got = make(r, plan, why);
    if (got != ORDO_OK)
        rival_close(out);
    return got;
}

void rival_close(struct rival **rival)
{
    struct rival *r = *rival;
    if (!r)
        return;
    for (int i = 0; i < 3; i++)
        if (r->kernels[i])
            clReleaseKernel(r->kernels[i]);
    if (r->program)
        clReleaseProgram(r->program);
    device_release((const cl_mem[]) { r->words, r->state, r->mine }, 3);
    free(r);
    *rival = NULL;
}

ordo_status rival_clear(struct rival *r)
{
    r->empty = true;
    TRY(launch(r, CLEAR, 0, r->cuckoo ? r->size : LEVELS, NULL, NULL, NULL));
    return ordo_device_finish(r->device);
}

ordo_status rival_step(struct rival *r, const cl_mem columns[N_COLUMNS], const struct step *step,
                       const struct ordo_order *order)
{
    r->queue = order && order->queue ? order->queue : ordo_device_queue(r->device);
    if (order && order->n_wait)
        TRY_CL(clEnqueueBarrierWithWaitList(r->queue, order->n_wait, order->wait, NULL));
    const ordo_status got = (r->cuckoo ? table_step : list_step)(r, columns, step, order ? order->done : NULL);
    r->queue = ordo_device_queue(r->device);
    return got;
}

ordo_status rival_export(struct rival *r, struct model *out, char *why)
{
    cl_uint state[STATE_WORDS];
    *out = model_empty(ORDO_U32, 4);
    TRY(read_words(r, r->state, sizeof state, state, NULL));
    const size_t bytes = r->cuckoo ? words_bytes(r) : (size_t) state[USED] * 8;
    void        *words = malloc(bytes);
    out->keys = malloc(bytes);
    out->values = malloc(bytes);
    ordo_status got = words && out->keys && out->values ? ORDO_OK : ORDO_NO_HOST_MEMORY;
    if (got == ORDO_OK)
        got = read_words(r, r->words, bytes, words, NULL);
    if (got == ORDO_OK && !(r->cuckoo ? take_table(words, r->size, out) : take_list(words, state[USED], out)))
        got = ORDO_BROKEN;
    if (got != ORDO_OK)
        because(why, "%s", got == ORDO_BROKEN ? "the lists are not sorted" : ordo_status_string(got));
    free(words);
    return got;
}

ordo_status rival_statistics(const struct rival *r, struct ordo_statistics *out)
{
    cl_uint state[STATE_WORDS];
    TRY(read_words(r, r->state, sizeof state, state, NULL));
    const size_t bytes = r->cuckoo ? words_bytes(r) : (size_t) state[USED] * 8;
    *out = (struct ordo_statistics) { .bytes_data = bytes, .bytes_peak = bytes };
    out->levels = r->cuckoo ? 0 : state[LEVELS_IN_USE];
    out->restarts = r->cuckoo ? 0 : state[RESTARTS];
    return ORDO_OK;
}
