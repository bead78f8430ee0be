/* SPDX-License-Identifier: Apache-2.0 */
#include "primitive/merge_runs.h"
#include "primitive/host_array.h"
#include "primitive/merge.h"
#include "primitive/scan.h"
#include "primitive/tiles.h"

#include "shared/runs.h"

_Static_assert(RUN_TABLE_MAX == ORDO_MAX_RUNS, "a table holds the runs of a call");

/* ---- the kernels' shape -------------------------------------------------------------------------------------- */

struct shape {
    size_t group, items;
    size_t n_rounds; /* Rounds of pairwise merges. 2^n_rounds is at least the number of runs. */
    size_t capacity;
    size_t stride;
    size_t window;
};

/* Preferred and minimum distance between samples of a run, in elements. */
#define STRIDE_GOOD 96
#define STRIDE_MIN  32
#define CHUNK_MIN   1024 /* Minimum elements that one work-item merges. Limits scratch memory. */

struct plan {
    enum ordo_merge_marks marks;
    bool                  combines;
    size_t                n_runs;
};

/* An upper bound for the bytes of struct runs_local (cl/group/run_tile.cl). */
static size_t local_bytes(const struct ordo_merge_params *params, const struct plan *plan, size_t group, size_t items)
{
    const enum ordo_merge_marks marks = plan->marks;
    const size_t                key_bytes = ordo_type_bytes(params->key);
    const size_t                from = (params->value_bytes || marks ? 2 : 0) + (plan->combines ? 2 : 0);
    const size_t                bits = marks ? group * items / 8 + 4 * group + 640 : 0;
    return (group * items + items + 1) * (key_bytes + from) + bits + 1280;
}

static bool fit_group(const ordo_device *dev, const struct ordo_merge_params *params, const struct plan *plan,
                      struct shape *shape)
{
    const struct ordo_facts *facts = ordo_device_facts(dev);
    const size_t             slots = shape->group * shape->items;
    const size_t             gaps = ((size_t) 1 << (shape->n_rounds - 1)) * (shape->items - 1);

    if (shape->group < RUN_TABLE_MAX || shape->group > facts->max_group || slots <= gaps ||
        shape->group % facts->sub_group != 0 ||
        local_bytes(params, plan, shape->group, shape->items) > facts->local_bytes)
        return false;
    shape->capacity = slots - gaps;

    const size_t n_runs = plan->n_runs;
    const size_t longest = shape->capacity / (2 * n_runs), spread = shape->capacity / (8 * n_runs);
    shape->stride = ordo_min_size(longest, spread > STRIDE_GOOD ? spread : STRIDE_GOOD);
    if (shape->stride < STRIDE_MIN)
        return false;
    shape->window = shape->capacity / shape->stride - n_runs;
    return true;
}

static void fit_chunk(size_t elements, struct shape *shape)
{
    shape->group = 1;
    shape->items = elements > CHUNK_MIN ? elements : CHUNK_MIN;
    shape->capacity = shape->items;
    shape->window = 8;
    shape->stride = shape->items / shape->window;
}

static struct shape choose_shape(ordo_device *dev, const struct ordo_merge_params *params, const struct plan *plan)
{
    const enum ordo_shape data = ordo_shape_of(ordo_type_bytes(params->key), params->value_bytes);
    const size_t          group = ordo_group_of(dev, ORDO_RUNS_GROUP, data);
    struct shape          shape = { .group = group, .items = ordo_tunable(dev, ORDO_RUNS_ITEMS, data), .n_rounds = 1 };

    while (((size_t) 1 << shape.n_rounds) < plan->n_runs)
        shape.n_rounds++;
    if (group > 1 && shape.items <= ORDO_MERGE_ITEMS_MAX) {
        for (; shape.group >= RUN_TABLE_MAX; shape.group /= 2)
            if (fit_group(dev, params, plan, &shape))
                return shape;
        for (shape.group = 2 * group; shape.group <= 512; shape.group *= 2)
            if (fit_group(dev, params, plan, &shape))
                return shape;
        shape.items = 4096;
    }
    fit_chunk(shape.items, &shape);
    return shape;
}

/* ---- launches ------------------------------------------------------------------------------------------------ */

struct merge {
    const struct ordo_merge_params *params;
    enum ordo_merge_marks           marks;
    struct ordo_merge_source        run[ORDO_MAX_RUNS];
    struct ordo_merge_target        out;
    run_table                       table;
    struct shape                    shape;
    size_t                          search_group;
    size_t                          n_samples, n_splitters;
    cl_mem                          samples, splitters, splits;
};

static bool combines(const struct merge *m)
{
    return m->out.combine != NULL;
}

static struct ordo_launch kernel(const struct merge *m, const char *name, size_t items, size_t group)
{
    const struct ordo_merge_combine *combine = strcmp(name, "runs_dedup") == 0 ? m->out.combine : NULL;
    struct ordo_launch               launch = { .file = "primitive/merge_runs.cl",
                                                .kernel = name,
                                                .groups = ordo_ceil_div(items, group),
                                                .group = group,
                                                .defines = { { "ORDO_KEY", m->params->key },
                                                             { "ORDO_VALUE_BYTES", m->params->value_bytes },
                                                             { "ORDO_DESCENDING", m->params->descending },
                                                             { "RUNS_HIDDEN", m->marks },
                                                             { "RUNS_GROUP", (long) m->shape.group },
                                                             { "RUNS_ITEMS", (long) m->shape.items },
                                                             { "RUNS_SEARCH_GROUP", (long) m->search_group } } };
    if (combine) {
        ordo_launch_define(&launch, "COMBINE_TYPE", combine->type);
        ordo_launch_define(&launch, "COMBINE_OP", combine->op);
    }
    return launch;
}

static void add_keys(struct ordo_args *args, const struct merge *m)
{
    for (size_t r = 0; r < ORDO_MAX_RUNS; r++)
        ORDO_ADD(args, ORDO_ARG(m->run[r].keys.mem));
}

static void add_values(struct ordo_args *args, const struct merge *m)
{
    for (size_t r = 0; r < ORDO_MAX_RUNS; r++)
        ORDO_ADD(args, ORDO_ARG(m->run[r].values.mem));
}

static ordo_status enqueue_sample(struct ordo_call *call, const struct merge *m)
{
    const struct ordo_launch launch = kernel(m, "runs_sample", m->n_samples, m->search_group);
    struct ordo_args         args = { .n = 0 };

    add_keys(&args, m);
    ORDO_ADD(&args, ORDO_ARG(m->table), ORDO_ARG(m->samples));
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status enqueue_select(struct ordo_call *call, const struct merge *m)
{
    const struct ordo_launch launch = kernel(m, "runs_select", m->n_samples, m->search_group);
    struct ordo_args         args = { .n = 0 };

    ORDO_ADD(&args, ORDO_ARG(m->samples), ORDO_ARG(m->table), ORDO_ARG(m->splitters));
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status enqueue_split(struct ordo_call *call, const struct merge *m)
{
    const struct ordo_launch launch = kernel(m, "runs_split", m->n_splitters * m->table.n_runs, m->search_group);
    const cl_uint            n_splitters = (cl_uint) m->n_splitters;
    struct ordo_args         args = { .n = 0 };

    add_keys(&args, m);
    ORDO_ADD(&args, ORDO_ARG(m->table), ORDO_ARG(m->samples), ORDO_ARG(m->splitters), ORDO_ARG(n_splitters),
             ORDO_ARG(m->splits));
    return ordo_call_launch(call, &launch, &args);
}

/* Replaces the values of the second run by their inclusive scan. Each key is one segment of the scan. */
static ordo_status combine_second(struct ordo_call *call, const struct merge *m)
{
    const struct ordo_merge_source *run = &m->run[1];
    const cl_uint                   n = (cl_uint) run->count;
    const int                       mark = call->n_scratch;
    struct ordo_args                args = { .n = 0 };
    cl_mem                          heads = NULL;
    const struct ordo_launch        launch =
        kernel(m, "runs_heads", ordo_ceil_div(run->count, MERGE_RUNS_HEADS), m->search_group);

    ORDO_TRY(ordo_call_scratch(call, run->count, &heads));
    ordo_args_slice(&args, &run->keys);
    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(heads));
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    const struct ordo_scan scan = { .type = m->out.combine->type,
                                    .op = m->out.combine->op,
                                    .inclusive = true,
                                    .in = run->values,
                                    .heads = ordo_at(heads, 0),
                                    .out = run->values,
                                    .count = run->count };
    ORDO_TRY(ordo_call_scan(call, &scan));
    ordo_call_release(call, mark);
    return ORDO_OK;
}

struct tile_args {
    struct ordo_args args;
    cl_uint          n_tiles, n_rounds, capacity;
};

static void add_tile_args(struct tile_args *t, const struct merge *m)
{
    t->n_tiles = (cl_uint) m->n_splitters + 1;
    t->n_rounds = (cl_uint) m->shape.n_rounds;
    t->capacity = (cl_uint) m->shape.capacity;
    add_keys(&t->args, m);
    add_values(&t->args, m);
    ORDO_ADD(&t->args, ORDO_ARG(m->table), ORDO_ARG(m->splits), ORDO_ARG(t->n_tiles), ORDO_ARG(t->n_rounds),
             ORDO_ARG(t->capacity));
    ordo_args_slice(&t->args, &m->out.keys);
    ordo_args_slice(&t->args, &m->out.values);
}

static struct ordo_launch tile_kernel(const struct merge *m, const char *name, size_t n_tiles)
{
    const struct plan  plan = { m->marks, combines(m), m->table.n_runs };
    struct ordo_launch launch = kernel(m, name, n_tiles * m->shape.group, m->shape.group);

    if (m->shape.group > 1)
        ordo_launch_define(&launch, "RUNS_LOCAL_BYTES",
                           (long) local_bytes(m->params, &plan, m->shape.group, m->shape.items));
    return launch;
}

static ordo_status enqueue_dedup(struct ordo_call *call, const struct merge *m)
{
    const int            mark = call->n_scratch;
    struct tile_args     t = { .args.n = 0 };
    struct ordo_lookback state;

    add_tile_args(&t, m);
    const struct ordo_launch launch = tile_kernel(m, "runs_dedup", t.n_tiles);
    ORDO_TRY(ordo_lookback_state(call, t.n_tiles, sizeof(cl_uint), &state));
    ORDO_ADD(&t.args, ORDO_ARG(state.mem), ORDO_ARG(state.stamp), ORDO_ARG(m->out.kept));
    ORDO_TRY(ordo_call_launch(call, &launch, &t.args));
    ordo_call_release(call, mark);
    return ORDO_OK;
}

static ordo_status enqueue_tiles(struct ordo_call *call, const struct merge *m)
{
    const char      *name = m->shape.group > 1 ? "runs_tiles" : "runs_chunks";
    struct tile_args t = { .args.n = 0 };

    add_tile_args(&t, m);
    const struct ordo_launch launch = tile_kernel(m, name, t.n_tiles);
    ordo_args_slice(&t.args, &m->out.hidden);
    return ordo_call_launch(call, &launch, &t.args);
}

static void put_run(struct merge *m, size_t r, const struct ordo_merge_source *run)
{
    m->run[r] = *run;
    m->table.keys_at[r] = run->keys.at;
    m->table.values_at[r] = run->values.at;
    m->table.count[r] = (cl_uint) run->count;
    m->table.hidden_at[r] = run->hidden == SIZE_MAX ? RUN_TABLE_NONE : (cl_uint) (run->hidden / 256);
    m->table.visible_at[r] = run->hidden == SIZE_MAX ? 0 : (cl_uint) (run->visible / 256);
}

static void move_run(struct merge *m, size_t from, size_t to)
{
    const struct ordo_merge_source run = m->run[from], none = { .hidden = SIZE_MAX };
    put_run(m, from, &none);
    put_run(m, to, &run);
}

/* If there are 3, 5 or 9 runs, moves all runs except the first to the second half of the table. The first run, usually
 * the largest, then has an empty neighbour in all rounds but the last. So these rounds do not copy its elements. */
static void set_first_apart(struct merge *m)
{
    const size_t n = m->table.n_runs, half = (size_t) 1 << (m->shape.n_rounds - 1);
    if (m->shape.group == 1 || n != half + 1 || n < 3)
        return;
    for (size_t r = n - 1; r > 0; r--)
        move_run(m, r, half + r - 1);
    m->table.n_runs = (cl_uint) (half + n - 1);
}

static ordo_status enqueue_many(struct ordo_call *call, struct merge *m)
{
    const size_t key_bytes = ordo_type_bytes(m->params->key);

    m->shape = choose_shape(call->dev, m->params, &(struct plan) { m->marks, combines(m), m->table.n_runs });
    set_first_apart(m);
    m->search_group = m->shape.group > 1 ? ordo_min_size(m->shape.group, 128) : 1;
    m->table.stride = (cl_uint) m->shape.stride;
    m->table.window = (cl_uint) m->shape.window;
    for (size_t r = 0; r < RUN_TABLE_MAX; r++) {
        m->table.n_samples_before[r] = (cl_uint) m->n_samples;
        m->n_samples += m->table.count[r] / m->shape.stride;
    }
    m->table.n_samples_before[RUN_TABLE_MAX] = (cl_uint) m->n_samples;
    m->n_splitters = m->n_samples / m->shape.window;

    ORDO_TRY(ordo_call_scratch(call, m->n_samples * key_bytes, &m->samples));
    ORDO_TRY(ordo_call_scratch(call, m->n_splitters * sizeof(cl_uint), &m->splitters));
    ORDO_TRY(ordo_call_scratch(call, m->n_splitters * m->table.n_runs * sizeof(cl_uint), &m->splits));
    if (m->n_splitters > 0) {
        ORDO_TRY(enqueue_sample(call, m));
        ORDO_TRY(enqueue_select(call, m));
        ORDO_TRY(enqueue_split(call, m));
    }
    if (combines(m))
        ORDO_TRY(combine_second(call, m));
    return m->marks == ORDO_MARKS_DEDUP ? enqueue_dedup(call, m) : enqueue_tiles(call, m);
}

static struct ordo_merge_side side_of(const struct merge *m, size_t r)
{
    return (struct ordo_merge_side) { m->run[r].keys, m->run[r].values, m->run[r].count };
}

static ordo_status enqueue_copy(struct ordo_call *call, const struct merge *m)
{
    const size_t                    key_bytes = ordo_type_bytes(m->params->key), value_bytes = m->params->value_bytes;
    const struct ordo_merge_source *run = &m->run[0];
    ORDO_TRY(ordo_call_copy(call, run->keys.mem, run->keys.at * key_bytes, m->out.keys.mem, m->out.keys.at * key_bytes,
                            run->count * key_bytes));
    return ordo_call_copy(call, run->values.mem, run->values.at * value_bytes, m->out.values.mem,
                          m->out.values.at * value_bytes, run->count * value_bytes);
}

static ordo_status enqueue(struct ordo_call *call, struct merge *m)
{
    const struct ordo_merge_side out = { m->out.keys, m->out.values, 0 };
    const struct ordo_merge_side first = side_of(m, 0), second = side_of(m, 1);
    if (m->table.n_runs == 0)
        return ORDO_OK;
    if (m->marks == ORDO_MARKS_NONE && m->table.n_runs == 1)
        return enqueue_copy(call, m);
    if (m->marks == ORDO_MARKS_NONE && m->table.n_runs == 2)
        return ordo_merge_enqueue(call, m->params, &first, &second, &out);
    return enqueue_many(call, m);
}

static void add_run(struct merge *m, const struct ordo_merge_source *run)
{
    if (run->count > 0)
        put_run(m, m->table.n_runs++, run);
}

bool ordo_merge_can_dedup(ordo_device *dev, const struct ordo_merge_params *params, size_t n_runs, bool combines)
{
    const struct shape shape = choose_shape(dev, params, &(struct plan) { ORDO_MARKS_DEDUP, combines, n_runs });
    return shape.group > 1 && ordo_looks_back(dev, ordo_shape_of(sizeof(cl_uint), 0));
}

ordo_status ordo_merge_runs_enqueue(struct ordo_call *call, const struct ordo_merge_params *params,
                                    enum ordo_merge_marks marks, const struct ordo_merge_source *runs, size_t n_runs,
                                    const struct ordo_merge_target *out)
{
    struct merge m = { .params = params, .marks = marks, .out = *out };
    size_t       count = 0;
    for (size_t r = 0; r < n_runs; r++) {
        add_run(&m, &runs[r]);
        count += runs[r].count;
    }
    if (marks == ORDO_MARKS_KEEP)
        ORDO_TRY(ordo_call_fill(call, out->hidden.mem, out->hidden.at * 4, ordo_ceil_div(count, 32) * 4, 0));
    return enqueue(call, &m);
}

/* ---- the call ------------------------------------------------------------------------------------------------ */

static ordo_status check_runs(ordo_device *dev, const struct ordo_run *runs, size_t n_runs, size_t *count)
{
    *count = 0;
    ORDO_REQUIRE(dev, n_runs <= ORDO_MAX_RUNS, ORDO_INVALID, "n_runs is %zu: a call takes up to %d (ORDO_MAX_RUNS)",
                 n_runs, ORDO_MAX_RUNS);
    ORDO_REQUIRE(dev, runs != NULL || n_runs == 0, ORDO_INVALID, "runs is NULL, and n_runs %zu", n_runs);
    for (size_t r = 0; r < n_runs; r++) {
        ORDO_REQUIRE(dev, runs[r].count <= ORDO_MAX_COUNT - *count, ORDO_TOO_LARGE,
                     "run %zu has %zu elements, those before it %zu: " ORDO_AT_MOST, r, runs[r].count, *count,
                     ORDO_MAX_COUNT);
        *count += runs[r].count;
    }
    return ORDO_OK;
}

/* If the offset overflows, sets it to SIZE_MAX, which ordo_check_arrays refuses. */
static struct ordo_slice part_of(struct ordo_slice array, const struct ordo_run *run)
{
    return ordo_at(array.mem, run->at <= SIZE_MAX - array.at ? array.at + run->at : SIZE_MAX);
}

struct arrays {
    struct ordo_slice keys, values, keys_out, values_out;
};

static ordo_status check_arrays(ordo_device *dev, const struct ordo_merge_params *params, const struct arrays *a,
                                const struct ordo_run *runs, size_t n_runs, size_t count)
{
    const size_t      key_bytes = ordo_type_bytes(params->key), value_bytes = params->value_bytes;
    struct ordo_array arrays[2 * ORDO_MAX_RUNS + 4] = { { "keys", a->keys, 0, key_bytes, key_bytes },
                                                        { "values", a->values, 0, value_bytes, value_bytes } };
    size_t            n = 2;
    for (size_t r = 0; r < n_runs; r++) {
        if (runs[r].count == 0)
            continue;
        arrays[n++] = (struct ordo_array) { "keys", part_of(a->keys, &runs[r]), runs[r].count, key_bytes, key_bytes };
        arrays[n++] =
            (struct ordo_array) { "values", part_of(a->values, &runs[r]), runs[r].count, value_bytes, value_bytes };
    }
    arrays[n++] = (struct ordo_array) { "keys_out", a->keys_out, count, key_bytes, key_bytes };
    arrays[n++] = (struct ordo_array) { "values_out", a->values_out, count, value_bytes, value_bytes };
    return ordo_check_arrays(dev, arrays, n, 2);
}

static ordo_status check_and_enqueue(struct ordo_call *call, const struct ordo_merge_params *params,
                                     const struct arrays *a, const struct ordo_run *runs, size_t n_runs)
{
    const struct ordo_merge_target out = { a->keys_out, a->values_out, ordo_none() };
    struct ordo_merge_source       source[ORDO_MAX_RUNS];
    size_t                         count = 0;
    ORDO_TRY(ordo_merge_check_params(call->dev, params));
    ORDO_TRY(check_runs(call->dev, runs, n_runs, &count));
    ORDO_TRY(check_arrays(call->dev, params, a, runs, n_runs, count));

    for (size_t r = 0; r < n_runs; r++)
        source[r] = (struct ordo_merge_source) { .keys = part_of(a->keys, &runs[r]),
                                                 .values = a->values.mem ? part_of(a->values, &runs[r]) : ordo_none(),
                                                 .count = runs[r].count,
                                                 .hidden = SIZE_MAX };
    return ordo_merge_runs_enqueue(call, params, ORDO_MARKS_NONE, source, n_runs, &out);
}

ordo_status ordo_merge_runs(ordo_device *dev, const struct ordo_merge_params *params, struct ordo_slice keys,
                            struct ordo_slice values, const struct ordo_run *runs, size_t n_runs,
                            struct ordo_slice keys_out, struct ordo_slice values_out, const struct ordo_order *order)
{
    const struct arrays a = { keys, values, keys_out, values_out };
    struct ordo_call    call;

    ORDO_TRY(ordo_call_begin(&call, dev, order));
    return ordo_call_end(&call, check_and_enqueue(&call, params, &a, runs, n_runs));
}

ordo_status ordo_merge_runs_host(ordo_device *dev, const struct ordo_merge_params *params, const void *keys,
                                 const void *values, const struct ordo_run *runs, size_t n_runs, void *keys_out,
                                 void *values_out)
{
    size_t count = 0, extent = 0;
    ORDO_TRY(ordo_merge_check_params(dev, params));
    ORDO_TRY(check_runs(dev, runs, n_runs, &count));
    for (size_t r = 0; r < n_runs; r++) {
        if (runs[r].count == 0)
            continue;
        ORDO_REQUIRE(dev, runs[r].at <= ORDO_MAX_COUNT, ORDO_TOO_LARGE, "run %zu begins at element %zu: " ORDO_AT_MOST,
                     r, runs[r].at, ORDO_MAX_COUNT);
        if (extent < runs[r].at + runs[r].count)
            extent = runs[r].at + runs[r].count;
    }

    const size_t           key_bytes = ordo_type_bytes(params->key), value_bytes = params->value_bytes;
    struct ordo_host_array arrays[] = {
        ordo_host_in(keys, extent, key_bytes),
        ordo_host_in(values, extent, value_bytes),
        ordo_host_out(keys_out, count, key_bytes),
        ordo_host_out(values_out, count, value_bytes),
    };
    const size_t     n = sizeof arrays / sizeof *arrays;
    struct ordo_call call;
    ORDO_TRY(ordo_host_begin(&call, dev, NULL, arrays, n));
    return ordo_host_end(&call, arrays, n,
                         ordo_merge_runs(dev, params, arrays[0].slice, arrays[1].slice, runs, n_runs, arrays[2].slice,
                                         arrays[3].slice, NULL));
}
