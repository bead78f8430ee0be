/* SPDX-License-Identifier: Apache-2.0 */
#include "primitive/merge_batch.h"

/* Each tile adds up the counts of all earlier tiles. So more than TILES_MAX tiles would be slow. */
#define TILE_MIN  64
#define TILES_MAX 1024

/* In larger work-groups, kernel updates_write would spill registers (NVIDIA). */
#define UPDATES_GROUP_MAX 256

/* A work-item of kernel updates_write reads this number of bytes of keys at once. */
#define UPDATES_KEY_BYTES 32

/* Each element takes a search step for each doubling of its tile's updates. Merges of more than one update for each
 * UPDATES_APART elements use merge_runs.c. */
#define UPDATES_APART 32

static size_t group_of(const ordo_device *dev, const struct ordo_merge_params *params)
{
    return ordo_group_of(dev, ORDO_RUNS_GROUP, ordo_shape_of(ordo_type_bytes(params->key), params->value_bytes));
}

bool ordo_merge_by_batch(const ordo_device *dev, const struct ordo_merge_params *params, size_t array_count,
                         size_t batch_count, bool combines)
{
    return group_of(dev, params) == 1 || (!combines && batch_count <= array_count / UPDATES_APART);
}

/* ---- CPUs ------------------------------------------------------------------------------------------------------ */

struct merge {
    const struct ordo_merge_params *params;
    const struct ordo_merge_source *array, *batch;
    const struct ordo_merge_target *out;
    cl_mem                          places, kept;
    size_t                          tiles;
    cl_uint                         length; /* Elements per tile. */
};

static void cut(const ordo_device *dev, struct merge *m)
{
    const enum ordo_shape data = ordo_shape_of(ordo_type_bytes(m->params->key), m->params->value_bytes);
    const size_t          count = m->array->count + m->batch->count, items = ordo_tunable(dev, ORDO_RUNS_ITEMS, data);
    size_t                length = ordo_ceil_div(count, TILES_MAX);

    length = length > items ? length : items;
    m->length = (cl_uint) (length > TILE_MIN ? length : TILE_MIN);
    m->tiles = ordo_ceil_div(count, m->length);
}

static ordo_status launch(struct ordo_call *call, const struct merge *m, const char *name, const struct ordo_args *args)
{
    const struct ordo_merge_combine *combine = m->out->combine;
    struct ordo_launch               launch = { .file = "primitive/merge_batch.cl",
                                                .kernel = name,
                                                .groups = m->tiles,
                                                .group = 1,
                                                .defines = { { "ORDO_KEY", m->params->key },
                                                             { "ORDO_VALUE_BYTES", m->params->value_bytes },
                                                             { "ORDO_DESCENDING", m->params->descending } } };
    if (combine) {
        ordo_launch_define(&launch, "COMBINE_TYPE", combine->type);
        ordo_launch_define(&launch, "COMBINE_OP", combine->op);
    }
    return ordo_call_launch(call, &launch, args);
}

static struct ordo_slice bits_of(const struct ordo_merge_source *run)
{
    return run->hidden == SIZE_MAX ? ordo_none() : ordo_at(run->keys.mem, run->hidden / sizeof(cl_uint));
}

static ordo_status enqueue_place(struct ordo_call *call, const struct merge *m)
{
    const cl_uint           n = (cl_uint) m->array->count, b = (cl_uint) m->batch->count;
    const struct ordo_slice hidden = bits_of(m->batch);
    struct ordo_args        args = { .n = 0 };
    ordo_args_slice(&args, &m->array->keys);
    ORDO_ADD(&args, ORDO_ARG(n));
    ordo_args_slice(&args, &m->batch->keys);
    ORDO_ADD(&args, ORDO_ARG(b));
    ordo_args_slice(&args, &hidden);
    ORDO_ADD(&args, ORDO_ARG(m->length), ORDO_ARG(m->places), ORDO_ARG(m->kept));
    return launch(call, m, "batch_place", &args);
}

static ordo_status enqueue_write(struct ordo_call *call, const struct merge *m)
{
    const cl_uint           n = (cl_uint) m->array->count, b = (cl_uint) m->batch->count;
    const struct ordo_slice hidden = bits_of(m->batch);
    struct ordo_args        args = { .n = 0 };
    ordo_args_slice(&args, &m->array->keys);
    ordo_args_slice(&args, &m->array->values);
    ORDO_ADD(&args, ORDO_ARG(n));
    ordo_args_slice(&args, &m->batch->keys);
    ordo_args_slice(&args, &m->batch->values);
    ORDO_ADD(&args, ORDO_ARG(b));
    ordo_args_slice(&args, &hidden);
    ORDO_ADD(&args, ORDO_ARG(m->length), ORDO_ARG(m->places), ORDO_ARG(m->kept));
    ordo_args_slice(&args, &m->out->keys);
    ordo_args_slice(&args, &m->out->values);
    ORDO_ADD(&args, ORDO_ARG(m->out->kept));
    return launch(call, m, "batch_write", &args);
}

static ordo_status merge_tiles(struct ordo_call *call, struct merge *m)
{
    cut(call->dev, m);
    ORDO_TRY(ordo_call_scratch(call, m->batch->count * sizeof(cl_uint), &m->places));
    ORDO_TRY(ordo_call_scratch(call, m->tiles * sizeof(cl_uint), &m->kept));
    ORDO_TRY(enqueue_place(call, m));
    return enqueue_write(call, m);
}

/* ---- GPUs ------------------------------------------------------------------------------------------------------ */

struct updates {
    const struct merge *merge;
    size_t              group, items, groups;
    cl_uint             n, b, tiles;
    cl_mem              places, sums, starts, finished;
};

static ordo_status launch_updates(struct ordo_call *call, const struct updates *u, const char *name, size_t groups,
                                  const struct ordo_args *args)
{
    const struct ordo_merge_params *params = u->merge->params;
    const struct ordo_launch        launch = { .file = "primitive/merge_updates.cl",
                                               .kernel = name,
                                               .groups = groups,
                                               .group = u->group,
                                               .defines = { { "ORDO_KEY", params->key },
                                                            { "ORDO_VALUE_BYTES", params->value_bytes },
                                                            { "ORDO_DESCENDING", params->descending },
                                                            { "GROUP_SIZE", (long) u->group },
                                                            { "UPDATES_ITEMS", (long) u->items } } };
    return ordo_call_launch(call, &launch, args);
}

static ordo_status place_updates(struct ordo_call *call, const struct updates *u)
{
    const struct merge     *m = u->merge;
    const struct ordo_slice hidden = bits_of(m->batch);
    struct ordo_args        args = { .n = 0 };
    ordo_args_slice(&args, &m->array->keys);
    ORDO_ADD(&args, ORDO_ARG(u->n));
    ordo_args_slice(&args, &m->batch->keys);
    ORDO_ADD(&args, ORDO_ARG(u->b));
    ordo_args_slice(&args, &hidden);
    ORDO_ADD(&args, ORDO_ARG(u->tiles), ORDO_ARG(u->places), ORDO_ARG(u->sums), ORDO_ARG(u->starts),
             ORDO_ARG(u->finished), ORDO_ARG(m->out->kept));
    return launch_updates(call, u, "updates_place", u->groups + ordo_ceil_div(u->tiles, u->group), &args);
}

static ordo_status write_updates(struct ordo_call *call, const struct updates *u)
{
    const struct merge *m = u->merge;
    struct ordo_args    args = { .n = 0 };
    ordo_args_slice(&args, &m->array->keys);
    ordo_args_slice(&args, &m->array->values);
    ORDO_ADD(&args, ORDO_ARG(u->n));
    ordo_args_slice(&args, &m->batch->keys);
    ordo_args_slice(&args, &m->batch->values);
    ORDO_ADD(&args, ORDO_ARG(u->b), ORDO_ARG(u->tiles), ORDO_ARG(u->places), ORDO_ARG(u->sums), ORDO_ARG(u->starts));
    ordo_args_slice(&args, &m->out->keys);
    ordo_args_slice(&args, &m->out->values);
    return launch_updates(call, u, "updates_write", u->tiles + u->groups, &args);
}

static ordo_status merge_updates(struct ordo_call *call, const struct merge *m, size_t group)
{
    const size_t   items = UPDATES_KEY_BYTES / ordo_type_bytes(m->params->key);
    struct updates u = { .merge = m,
                         .group = group,
                         .items = items,
                         .groups = ordo_ceil_div(m->batch->count, group),
                         .n = (cl_uint) m->array->count,
                         .b = (cl_uint) m->batch->count,
                         .tiles = (cl_uint) ordo_ceil_div(m->array->count, group * items) };
    ORDO_TRY(ordo_call_scratch(call, 2 * m->batch->count * sizeof(cl_uint), &u.places));
    ORDO_TRY(ordo_call_scratch(call, u.groups * sizeof(cl_uint), &u.sums));
    ORDO_TRY(ordo_call_scratch(call, u.tiles * sizeof(cl_uint), &u.starts));
    ORDO_TRY(ordo_call_zeroed(call, sizeof(cl_uint), &u.finished));
    ORDO_TRY(place_updates(call, &u));
    return write_updates(call, &u);
}

/* ---- both ------------------------------------------------------------------------------------------------------ */

ordo_status ordo_merge_batch_enqueue(struct ordo_call *call, const struct ordo_merge_params *params,
                                     const struct ordo_merge_source *array, const struct ordo_merge_source *batch,
                                     const struct ordo_merge_target *out)
{
    struct merge m = { .params = params, .array = array, .batch = batch, .out = out };
    const int    mark = call->n_scratch;
    const size_t group = group_of(call->dev, params);

    ORDO_TRY(group > 1 ? merge_updates(call, &m, ordo_min_size(group, UPDATES_GROUP_MAX)) : merge_tiles(call, &m));
    ordo_call_release(call, mark);
    return ORDO_OK;
}
