/* SPDX-License-Identifier: Apache-2.0 */
#include "cuckoo.h"

#include "baseline_kernels.h"

#include <stdio.h>
#include <stdlib.h>

#define GROUP ((size_t) 256)
/* Seeds that are tried, and moves of an element, for each doubling of the elements. */
#define SEEDS_MOST     32
#define MOVES_EACH     7
#define LOAD_AS_PAPERS 80
#define EMPTY          UINT64_MAX

/* What a build says is wrong (cuckoo.cl). */
enum { NO_PLACE = 1, NO_PAIR = 2 };
enum { CLEAR, BUILD, FIND };

static const char *const source_lines[] = {
#include "cuckoo_cl.h"
};

struct cuckoo {
    struct baseline_kernels kernels;
    cl_mem                  slots, wrong;
    cl_uint                 n_slots, seed;
};

#define TRY      BASELINE_TRY
#define TRY_CL   BASELINE_TRY_CL
#define ARGUMENT BASELINE_ARGUMENT

/* ---- life ---------------------------------------------------------------------------------------------------- */

bool cuckoo_can(ordo_device *device)
{
    return ordo_device_facts(device)->int64_atomics;
}

static ordo_status make(struct cuckoo *table, ordo_device *device, char *why, size_t why_bytes)
{
    static const char *const     names[] = { "cuckoo_clear", "cuckoo_build", "cuckoo_find", NULL };
    const struct baseline_source source = { "cuckoo table", source_lines, names, "", GROUP };
    TRY(baseline_kernels_make(&table->kernels, device, &source, why, why_bytes));
    snprintf(why, why_bytes, "no memory for a cuckoo table of %zu bytes", cuckoo_bytes(table));
    TRY(baseline_buffer(&table->kernels, cuckoo_bytes(table), &table->slots));
    TRY(baseline_buffer(&table->kernels, sizeof(cl_uint), &table->wrong));
    TRY(cuckoo_clear(table));
    *why = 0;
    return ORDO_OK;
}

ordo_status cuckoo_open(ordo_device *device, size_t elements, uint32_t load_percent, struct cuckoo **out, char *why,
                        size_t why_bytes)
{
    struct cuckoo *table = calloc(1, sizeof *table);
    ordo_status    got = ORDO_NO_HOST_MEMORY;
    snprintf(why, why_bytes, "%s", ordo_status_string(got));
    if (table) {
        table->n_slots = (cl_uint) (elements * 100 / (load_percent ? load_percent : LOAD_AS_PAPERS) + 1);
        got = make(table, device, why, why_bytes);
    }
    if (got != ORDO_OK)
        cuckoo_close(&table);
    *out = table;
    return got;
}

void cuckoo_close(struct cuckoo **table)
{
    if (!*table)
        return;
    baseline_kernels_free(&(*table)->kernels);
    if ((*table)->slots)
        clReleaseMemObject((*table)->slots);
    if ((*table)->wrong)
        clReleaseMemObject((*table)->wrong);
    free(*table);
    *table = NULL;
}

size_t cuckoo_bytes(const struct cuckoo *table)
{
    return table->n_slots * sizeof(cl_ulong);
}

/* ---- launches ------------------------------------------------------------------------------------------------ */

static ordo_status empty(const struct cuckoo *table, cl_command_queue queue)
{
    const struct baseline_argument arguments[] = { ARGUMENT(table->slots), ARGUMENT(table->n_slots) };
    return BASELINE_ENQUEUE(&table->kernels, CLEAR, arguments, 0, table->n_slots, queue, NULL);
}

ordo_status cuckoo_clear(struct cuckoo *table)
{
    TRY(empty(table, ordo_device_queue(table->kernels.device)));
    return ordo_device_finish(table->kernels.device);
}

/* The elements, where, and how many moves there may be. */
struct elements {
    cl_mem   keys, values;
    cl_ulong at;
    cl_uint  n, moves;
};

/* With the table's seed. Waits. */
static ordo_status build_once(struct cuckoo *table, const struct elements *e, cl_command_queue queue, cl_event *done,
                              cl_uint *wrong)
{
    static const cl_uint           none = 0;
    const struct baseline_argument arguments[] = { ARGUMENT(table->slots), ARGUMENT(table->n_slots),
                                                   ARGUMENT(table->seed),  ARGUMENT(e->moves),
                                                   ARGUMENT(e->keys),      ARGUMENT(e->values),
                                                   ARGUMENT(e->at),        ARGUMENT(e->n),
                                                   ARGUMENT(table->wrong) };
    if (done && *done)
        clReleaseEvent(*done);
    TRY(empty(table, queue));
    TRY_CL(clEnqueueFillBuffer(queue, table->wrong, &none, sizeof none, 0, sizeof none, 0, NULL, NULL));
    TRY(BASELINE_ENQUEUE(&table->kernels, BUILD, arguments, 0, e->n, queue, NULL));
    TRY_CL(clEnqueueReadBuffer(queue, table->wrong, CL_TRUE, 0, sizeof *wrong, wrong, 0, NULL, done));
    return ORDO_OK;
}

ordo_status cuckoo_build(struct cuckoo *table, cl_mem keys, cl_mem values, size_t at, size_t count,
                         const struct ordo_order *order)
{
    struct elements  e = { keys, values, at, (cl_uint) count, MOVES_EACH };
    cl_command_queue queue = NULL;
    cl_uint          wrong = NO_PLACE;
    for (size_t n = count; n > 1; n /= 2)
        e.moves += MOVES_EACH;
    TRY(baseline_begin(&table->kernels, order, &queue));
    for (cl_uint attempt = 1; attempt <= SEEDS_MOST && wrong == NO_PLACE; attempt++) {
        table->seed = attempt * 0x9e3779b1u;
        TRY(build_once(table, &e, queue, order ? order->done : NULL, &wrong));
    }
    return wrong == 0 ? ORDO_OK : wrong & NO_PAIR ? ORDO_INVALID : ORDO_UNSUPPORTED;
}

ordo_status cuckoo_find(struct cuckoo *table, cl_mem keys, size_t at, size_t count, cl_mem values_out, cl_mem found,
                        const struct ordo_order *order)
{
    const cl_ulong                 first = at;
    const cl_uint                  n = (cl_uint) count;
    const struct baseline_argument arguments[] = { ARGUMENT(table->slots), ARGUMENT(table->n_slots),
                                                   ARGUMENT(table->seed),  ARGUMENT(keys),
                                                   ARGUMENT(first),        ARGUMENT(n),
                                                   ARGUMENT(values_out),   ARGUMENT(found) };
    cl_command_queue               queue = NULL;
    TRY(baseline_begin(&table->kernels, order, &queue));
    return BASELINE_ENQUEUE(&table->kernels, FIND, arguments, 0, count, queue, order ? order->done : NULL);
}

/* ---- what it holds ------------------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    const cl_ulong *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Pairs of slots to elements in order. */
static void take_elements(cl_ulong *pairs, size_t n, struct model *out)
{
    for (size_t i = 0; i < n; i++)
        if (pairs[i] != EMPTY)
            pairs[out->count++] = pairs[i];
    qsort(pairs, out->count, sizeof *pairs, ascending);
    for (size_t i = 0; i < out->count; i++) {
        set_element(out->keys, 4, i, pairs[i] >> 32);
        set_element(out->values, 4, i, pairs[i] & UINT32_MAX);
    }
}

ordo_status cuckoo_export(struct cuckoo *table, struct model *out, char *why, size_t why_bytes)
{
    const size_t bytes = cuckoo_bytes(table);
    cl_ulong    *pairs = malloc(bytes);
    *out = model_empty(ORDO_U32, 4);
    out->keys = malloc(bytes / 2);
    out->values = malloc(bytes / 2);
    ordo_status got = pairs && out->keys && out->values ? ORDO_OK : ORDO_NO_HOST_MEMORY;
    if (got == ORDO_OK && clEnqueueReadBuffer(ordo_device_queue(table->kernels.device), table->slots, CL_TRUE, 0, bytes,
                                              pairs, 0, NULL, NULL) != CL_SUCCESS)
        got = ORDO_OPENCL;
    if (got == ORDO_OK)
        take_elements(pairs, table->n_slots, out);
    else
        snprintf(why, why_bytes, "%s", ordo_status_string(got));
    free(pairs);
    return got;
}
