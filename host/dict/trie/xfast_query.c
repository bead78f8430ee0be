/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/trie/xfast.h"

#include "dict/batch.h"

#define MODULE "dict/trie/xfast_query.cl"

/* Returns the number of lanes that look up a query's levels together. */
static size_t team_lanes(const struct ordo_xfast *xfast, size_t group)
{
    const ordo_dict         *dict = &xfast->runs.dict;
    const struct ordo_facts *facts = ordo_device_facts(dict->dev);
    const enum ordo_shape    data = ordo_shape_of(dict->key_bytes, dict->value_bytes);

    if (facts->cpu || group % facts->sub_group != 0)
        return 1;
    return ordo_min_size(ordo_tunable(dict->dev, ORDO_XFAST_LANES, data), facts->sub_group);
}

static struct ordo_launch steps(const struct ordo_xfast *xfast, const char *kernel, size_t n)
{
    struct ordo_launch launch = ordo_xfast_kernel(xfast, MODULE, kernel, ordo_dict_step_items(xfast->runs.dict.dev, n));
    ordo_launch_define(&launch, "TEAM_WIDTH", (long) team_lanes(xfast, launch.group));
    return launch;
}

static void add_values(struct ordo_args *args, const struct ordo_xfast *xfast, const struct ordo_slice *values)
{
    ordo_args_slice(args, values);
    ORDO_ADD(args, ORDO_ARG(xfast->runs.dict.value_bytes));
}

/* A dry run lists the kernels of both ways. */
static bool searches_run(const struct ordo_xfast *xfast)
{
    return !xfast->flat || ordo_is_dry_run(xfast->runs.dict.dev);
}

ordo_status ordo_xfast_find(ordo_dict *dict, struct ordo_call *call, const struct ordo_finds *finds)
{
    struct ordo_xfast *xfast = ordo_xfast_of(dict);
    const cl_uint      n = (cl_uint) finds->count;

    ORDO_TRY(ordo_xfast_prepare(xfast, call, finds->once ? 0 : finds->count));
    if (searches_run(xfast))
        ORDO_TRY(ordo_runs_find(dict, call, finds));
    if (!xfast->flat)
        return ORDO_OK;
    struct ordo_args        args = ordo_xfast_args(xfast);
    const struct ordo_slice values = ordo_run_values(dict, ordo_xfast_run(xfast));
    add_values(&args, xfast, &values);
    ordo_args_slice(&args, &finds->keys);
    ORDO_ADD(&args, ORDO_ARG(n));
    ordo_args_slice(&args, &finds->values_out);
    ordo_args_slice(&args, &finds->found);
    const struct ordo_launch launch = steps(xfast, "xfast_find", finds->count);
    return ordo_call_launch(call, &launch, &args);
}

ordo_status ordo_xfast_rank(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranks *ranks)
{
    struct ordo_xfast *xfast = ordo_xfast_of(dict);
    const cl_uint      n = (cl_uint) ranks->count, upper = ranks->upper;

    ORDO_TRY(ordo_xfast_prepare(xfast, call, ranks->count));
    if (searches_run(xfast))
        ORDO_TRY(ordo_runs_rank(dict, call, ranks));
    if (!xfast->flat)
        return ORDO_OK;
    struct ordo_args args = ordo_xfast_args(xfast);
    ordo_args_slice(&args, &ranks->keys);
    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(upper));
    ordo_args_slice(&args, &ranks->ranks);
    const struct ordo_launch launch = steps(xfast, "xfast_ranks", ranks->count);
    return ordo_call_launch(call, &launch, &args);
}

ordo_status ordo_xfast_seek(ordo_dict *dict, struct ordo_call *call, const struct ordo_seeks *seeks)
{
    struct ordo_xfast *xfast = ordo_xfast_of(dict);
    const cl_uint      n = (cl_uint) seeks->count;
    const cl_uint      upper = seeks->relation == ORDO_LE || seeks->relation == ORDO_GT;
    const cl_uint      forward = seeks->relation == ORDO_GE || seeks->relation == ORDO_GT;

    ORDO_TRY(ordo_xfast_prepare(xfast, call, seeks->count));
    if (searches_run(xfast))
        ORDO_TRY(ordo_runs_seek(dict, call, seeks));
    if (!xfast->flat)
        return ORDO_OK;
    struct ordo_args        args = ordo_xfast_args(xfast);
    const struct ordo_slice values = ordo_run_values(dict, ordo_xfast_run(xfast));
    add_values(&args, xfast, &values);
    ordo_args_slice(&args, &seeks->keys);
    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(upper), ORDO_ARG(forward));
    ordo_args_slice(&args, &seeks->keys_out);
    ordo_args_slice(&args, &seeks->values_out);
    ordo_args_slice(&args, &seeks->found);
    const struct ordo_launch launch = steps(xfast, "xfast_seek", seeks->count);
    return ordo_call_launch(call, &launch, &args);
}

ordo_status ordo_xfast_count(ordo_dict *dict, struct ordo_call *call, const struct ordo_counts *counts)
{
    struct ordo_xfast *xfast = ordo_xfast_of(dict);
    const cl_uint      n = (cl_uint) counts->count;

    ORDO_TRY(ordo_xfast_prepare(xfast, call, counts->count));
    if (searches_run(xfast))
        ORDO_TRY(ordo_runs_count(dict, call, counts));
    if (!xfast->flat)
        return ORDO_OK;
    struct ordo_args args = ordo_xfast_args(xfast);
    ordo_args_slice(&args, &counts->lo);
    ordo_args_slice(&args, &counts->hi);
    ORDO_ADD(&args, ORDO_ARG(n));
    ordo_args_slice(&args, &counts->counts);
    const struct ordo_launch launch = steps(xfast, "xfast_tally", counts->count);
    return ordo_call_launch(call, &launch, &args);
}
