/* SPDX-License-Identifier: Apache-2.0 */
#include "lockfree.h"

#include "baseline_kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Levels: enough for 2^27 keys. */
#define LEVELS 28
/* Words of a node before its links; of the state (lockfree.cl). */
#define LINKS_AT 2
enum { TOP, LEVELS_IN_USE, UNFINISHED, RESTARTS, NO_ROOM, STATE_WORDS };

/* 16 warps. */
#define GROUP ((size_t) 512)
/* Launches of the same operations, at most. */
#define LAUNCHES 64
/* An empty list takes so many operations at first, then so many times as many in each launch: all of a large batch would be at the
 * head's links. */
#define FIRST_PART  ((size_t) 1024)
#define PART_GROWTH 4

static const char *const source_lines[] = {
#include "lockfree_cl.h"
};

enum { CLEAR, NODES, APPLY };

struct lockfree {
    struct baseline_kernels kernels;
    cl_mem                  words, state, mine;
    size_t                  bytes, mine_rows;
    bool                    empty;
};

#define TRY      BASELINE_TRY
#define TRY_CL   BASELINE_TRY_CL
#define ARGUMENT BASELINE_ARGUMENT

/* ---- life ---------------------------------------------------------------------------------------------------- */

static ordo_status make_kernels(struct lockfree *list, ordo_device *device, char *why, size_t why_bytes)
{
    static const char *const     names[] = { "lockfree_clear", "lockfree_nodes", "lockfree_apply", NULL };
    char                         options[256];
    const struct baseline_source source = { "lock-free skiplist", source_lines, names, options, GROUP };
    snprintf(options, sizeof options, "-DLEVELS=%d -DCODE_UPSERT=%d -DCODE_INSERT=%d -DCODE_ERASE=%d -DOUTCOME_DONE=%d",
             LEVELS, ORDO_UPSERT, ORDO_INSERT, ORDO_ERASE, ORDO_DONE);
    return baseline_kernels_make(&list->kernels, device, &source, why, why_bytes);
}

ordo_status lockfree_open(ordo_device *device, size_t node_bytes, struct lockfree **out, char *why, size_t why_bytes)
{
    struct lockfree *list = calloc(1, sizeof *list);
    *out = NULL;
    snprintf(why, why_bytes, "%s", ordo_status_string(ORDO_NO_HOST_MEMORY));
    if (!list)
        return ORDO_NO_HOST_MEMORY;
    list->bytes = node_bytes + (size_t) (LINKS_AT + LEVELS + 1) / 2 * 8;
    ordo_status got = make_kernels(list, device, why, why_bytes);
    if (got == ORDO_OK) {
        snprintf(why, why_bytes, "no memory for the nodes of a lock-free skiplist, %zu bytes", list->bytes);
        got = baseline_buffer(&list->kernels, list->bytes, &list->words);
    }
    if (got == ORDO_OK)
        got = baseline_buffer(&list->kernels, STATE_WORDS * sizeof(cl_uint), &list->state);
    if (got == ORDO_OK)
        got = lockfree_clear(list);
    if (got == ORDO_OK)
        *why = 0;
    else
        lockfree_close(&list);
    *out = list;
    return got;
}

void lockfree_close(struct lockfree **list)
{
    if (!*list)
        return;
    baseline_kernels_free(&(*list)->kernels);
    const cl_mem all[] = { (*list)->words, (*list)->state, (*list)->mine };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i])
            clReleaseMemObject(all[i]);
    free(*list);
    *list = NULL;
}

/* height_of in lockfree.cl. */
static unsigned height_of(uint32_t key)
{
    uint32_t mixed = (key ^ 0x9e3779b9u) * 0x9e3779b1u;
    unsigned height = 1;
    mixed = (mixed ^ mixed >> 15) * 0x85ebca77u;
    mixed = (mixed ^ mixed >> 13) * 0xc2b2ae3du;
    mixed ^= mixed >> 16;
    for (; height < LEVELS && (mixed & 1) == 0; height++)
        mixed >>= 1;
    return height;
}

size_t lockfree_node_bytes(uint32_t key)
{
    return (LINKS_AT + height_of(key) + (size_t) 1) / 2 * 8;
}

/* ---- launches ------------------------------------------------------------------------------------------------ */

#define ENQUEUE(list, kernel, arguments, first, items, queue)                                                          \
    BASELINE_ENQUEUE(&(list)->kernels, kernel, arguments, first, items, queue, NULL)

ordo_status lockfree_clear(struct lockfree *list)
{
    const struct baseline_argument arguments[] = { ARGUMENT(list->words), ARGUMENT(list->state) };
    list->empty = true;
    TRY(ENQUEUE(list, CLEAR, arguments, 0, LEVELS, ordo_device_queue(list->kernels.device)));
    return ordo_device_finish(list->kernels.device);
}

/* A node for each store, and what is to be done. */
static ordo_status give_nodes(struct lockfree *list, const struct lockfree_batch *b, cl_command_queue queue)
{
    const cl_uint                  capacity = (cl_uint) (list->bytes / 8), code = b->code, n = (cl_uint) b->count;
    const cl_ulong                 at = b->at;
    const struct baseline_argument arguments[] = { ARGUMENT(list->words), ARGUMENT(list->state), ARGUMENT(capacity),
                                                   ARGUMENT(b->codes),    ARGUMENT(code),        ARGUMENT(b->keys),
                                                   ARGUMENT(b->values),   ARGUMENT(at),          ARGUMENT(n),
                                                   ARGUMENT(list->mine) };
    return ENQUEUE(list, NODES, arguments, 0, b->count, queue);
}

/* Operations first .. first + count - 1 of the batch. */
static ordo_status operate(struct lockfree *list, const struct lockfree_batch *b, size_t first, size_t count,
                           cl_command_queue queue)
{
    const cl_uint                  code = b->code, n = (cl_uint) (first + count);
    const cl_ulong                 at = b->at;
    const struct baseline_argument arguments[] = {
        ARGUMENT(list->words),   ARGUMENT(list->state), ARGUMENT(b->codes), ARGUMENT(code),       ARGUMENT(b->keys),
        ARGUMENT(b->values),     ARGUMENT(at),          ARGUMENT(n),        ARGUMENT(list->mine), ARGUMENT(b->found),
        ARGUMENT(b->values_out), ARGUMENT(b->outcomes)
    };
    return ENQUEUE(list, APPLY, arguments, first, count, queue);
}

static ordo_status room_for_rows(struct lockfree *list, size_t rows)
{
    if (rows <= list->mine_rows)
        return ORDO_OK;
    if (list->mine)
        clReleaseMemObject(list->mine);
    list->mine = NULL;
    list->mine_rows = 0;
    TRY(baseline_buffer(&list->kernels, rows * sizeof(cl_uint), &list->mine));
    list->mine_rows = rows;
    return ORDO_OK;
}

static ordo_status zero(struct lockfree *list, size_t word, cl_command_queue queue)
{
    static const cl_uint none = 0;
    TRY_CL(clEnqueueFillBuffer(queue, list->state, &none, sizeof none, word * sizeof none, sizeof none, 0, NULL, NULL));
    return ORDO_OK;
}

static ordo_status apply_once(struct lockfree *list, const struct lockfree_batch *batch, size_t first, size_t count,
                              cl_command_queue queue, cl_uint state[STATE_WORDS], cl_event *done)
{
    if (done && *done)
        clReleaseEvent(*done);
    TRY(zero(list, UNFINISHED, queue));
    TRY(operate(list, batch, first, count, queue));
    TRY_CL(clEnqueueReadBuffer(queue, list->state, CL_TRUE, 0, STATE_WORDS * sizeof(cl_uint), state, 0, NULL, done));
    return ORDO_OK;
}

/* Until all of them are done. */
static ordo_status apply_part(struct lockfree *list, const struct lockfree_batch *batch, size_t first, size_t count,
                              cl_command_queue queue, cl_event *done)
{
    cl_uint state[STATE_WORDS] = { 0 };
    for (int launch = 0; launch < LAUNCHES; launch++) {
        TRY(apply_once(list, batch, first, count, queue, state, done));
        if (state[NO_ROOM])
            return ORDO_NO_DEVICE_MEMORY;
        if (state[UNFINISHED] == 0)
            return ORDO_OK;
    }
    return ORDO_BROKEN;
}

ordo_status lockfree_apply(struct lockfree *list, const struct lockfree_batch *batch, const struct ordo_order *order)
{
    cl_command_queue queue = NULL;
    size_t           part = list->empty ? FIRST_PART : batch->count;
    TRY(room_for_rows(list, batch->count));
    TRY(baseline_begin(&list->kernels, order, &queue));
    TRY(zero(list, NO_ROOM, queue));
    TRY(give_nodes(list, batch, queue));
    list->empty = false;
    for (size_t first = 0; first < batch->count; first += part, part *= PART_GROWTH) {
        const size_t left = batch->count - first;
        TRY(apply_part(list, batch, first, part < left ? part : left, queue, order ? order->done : NULL));
    }
    return ORDO_OK;
}

/* ---- what it holds ------------------------------------------------------------------------------------------- */

static ordo_status read_state(const struct lockfree *list, cl_uint state[STATE_WORDS])
{
    TRY_CL(clEnqueueReadBuffer(ordo_device_queue(list->kernels.device), list->state, CL_TRUE, 0,
                               STATE_WORDS * sizeof(cl_uint), state, 0, NULL, NULL));
    return ORDO_OK;
}

ordo_status lockfree_statistics(struct lockfree *list, struct lockfree_statistics *out)
{
    cl_uint state[STATE_WORDS];
    TRY(read_state(list, state));
    *out = (struct lockfree_statistics) { .bytes_used = (size_t) state[TOP] * 8,
                                          .bytes = list->bytes,
                                          .levels = state[LEVELS_IN_USE],
                                          .restarts = state[RESTARTS] };
    return ORDO_OK;
}

/* The nodes as they were read. */
struct image {
    const cl_uint *words;
    size_t         nodes; /* pairs of words that are taken */
};

/* The next node of a level; 0: there is none, SIZE_MAX: there is no such node. */
static size_t next_of(const struct image *image, size_t node, size_t level)
{
    const size_t word = node * 2 + LINKS_AT + level;
    const size_t next = word < image->nodes * 2 ? image->words[word] >> 1 : SIZE_MAX;
    return next < image->nodes ? next : SIZE_MAX;
}

static bool is_erased(const struct image *image, size_t node)
{
    return image->words[node * 2 + LINKS_AT] & 1;
}

/* Goes through one level; *count: of nodes that are not erased, which go to `out` unless that is NULL. */
static bool walk(const struct image *image, size_t level, struct model *out, size_t *count)
{
    int64_t last = -1;
    *count = 0;
    for (size_t node = next_of(image, 0, level), steps = 0; node; node = next_of(image, node, level), steps++) {
        if (node == SIZE_MAX || steps > image->nodes)
            return false;
        const cl_uint key = image->words[node * 2];
        if (is_erased(image, node))
            continue;
        if (last >= key)
            return false;
        last = key;
        if (out) {
            set_element(out->keys, 4, *count, key);
            set_element(out->values, 4, *count, image->words[node * 2 + 1]);
        }
        ++*count;
    }
    return true;
}

/* No level holds more than the one below: all elements are in the lowest. */
static bool is_sound(const struct image *image, struct model *out)
{
    size_t below = 0;
    if (!walk(image, 0, out, &out->count))
        return false;
    below = out->count;
    for (size_t level = 1; level < LEVELS; level++) {
        size_t count = 0;
        if (!walk(image, level, NULL, &count) || count > below)
            return false;
        below = count;
    }
    return true;
}

ordo_status lockfree_export(struct lockfree *list, struct model *out, char *why, size_t why_bytes)
{
    cl_uint state[STATE_WORDS];
    TRY(read_state(list, state));
    const size_t bytes = (size_t) state[TOP] * 8;
    cl_uint     *words = malloc(bytes);
    *out = model_empty(ORDO_U32, 4);
    out->keys = malloc(bytes);
    out->values = malloc(bytes);
    ordo_status got = words && out->keys && out->values ? ORDO_OK : ORDO_NO_HOST_MEMORY;
    if (got == ORDO_OK && clEnqueueReadBuffer(ordo_device_queue(list->kernels.device), list->words, CL_TRUE, 0, bytes,
                                              words, 0, NULL, NULL) != CL_SUCCESS)
        got = ORDO_OPENCL;
    if (got == ORDO_OK && !is_sound(&(struct image) { words, state[TOP] }, out))
        got = ORDO_BROKEN;
    if (got != ORDO_OK)
        snprintf(why, why_bytes, "%s", got == ORDO_BROKEN ? "the lists are not sorted" : ordo_status_string(got));
    free(words);
    return got;
}
