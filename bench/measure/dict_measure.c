/* SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"

#include "bench/common/terminal.h"
#include "bench/peers/host.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct measuring {
    ordo_device              *device;
    const struct timing_goal *goal;
    struct dict_plan         *plan;
    struct dict_target       *target;
    struct dict_figures      *out;
    char                     *why;
};

static ordo_status no_memory(const struct measuring *m)
{
    because(m->why, "%s", ordo_status_string(ORDO_NO_HOST_MEMORY));
    return ORDO_NO_HOST_MEMORY;
}

/* ---- updates ------------------------------------------------------------------------------------------------- */

/* Updates of more batches, or of this many times the seconds of all repetitions, are not repeated batch by batch. */
#define BATCHES_MAX 4096
#define TIMES_MAX   10

/* Repeats the updates and waits for each batch. */
static ordo_status measure_batches(struct measuring *m)
{
    const size_t steps = m->plan->work.n_steps;
    if (steps < 2 || steps > BATCHES_MAX || m->out->timing.wall.median > TIMES_MAX * m->goal->seconds || stop_asked())
        return ORDO_OK;
    m->out->batch_seconds = calloc(steps, sizeof *m->out->batch_seconds);
    if (!m->out->batch_seconds)
        return no_memory(m);
    TRY(dict_target_prepare(m->target, NULL));
    TRY(ordo_device_finish(m->device));
    for (size_t s = 0; s < steps; s++) {
        const double before = now();
        TRY(dict_target_step(m->target, s));
        TRY(ordo_device_finish(m->device));
        m->out->batch_seconds[m->out->n_batches++] = now() - before;
    }
    return ORDO_OK;
}

static ordo_status measure_once(struct measuring *m)
{
    struct timing_goal goal = *m->goal;
    const bool         changes = m->plan->spec.workload != HOSTEXPORT;
    goal.prepare = changes ? dict_target_prepare : NULL;
    goal.device_too = goal.device_too && !workload_is_host(m->plan->spec.workload);
    TRY(dict_target_load(m->target, m->why));
    if (!changes)
        TRY(dict_target_prepare(m->target, NULL));
    TRY(time_calls(m->device, dict_target_work, m->target, &goal, &m->out->timing));
    progress("checking");
    m->out->right = dict_target_check(m->target, true, m->why);
    return m->out->right ? measure_batches(m) : ORDO_OK;
}

static ordo_status measure_rebuild(struct measuring *m)
{
    struct timing timing;
    TRY(time_calls(m->device, dict_target_rebuild, m->target, m->goal, &timing));
    m->out->rebuild_seconds = timing.wall.median;
    return ORDO_OK;
}

/* ---- queries, at each fill ----------------------------------------------------------------------------------- */

static void add_spread(struct spread *sum, const struct spread *part, double share)
{
    sum->median += part->median * share;
    sum->low += part->low * share;
    sum->high += part->high * share;
}

static void add_timing(struct timing *sum, const struct timing *part, double share)
{
    add_spread(&sum->wall, &part->wall, share);
    sum->interval[0] += part->interval[0] * share;
    sum->interval[1] += part->interval[1] * share;
    if (sum->repetitions == 0) {
        sum->first_call = part->first_call;
        sum->began = part->began;
    }
    if (sum->repetitions == 0 || part->repetitions < sum->repetitions)
        sum->repetitions = part->repetitions;
    for (int r = 0; r < sum->repetitions; r++)
        sum->sample[r] += part->sample[r] * share;
    sum->batch = part->batch;
    sum->end = part->end;
}

static size_t elements_in(const struct dict_plan *plan, size_t batches)
{
    return batches ? plan->table.steps[batches - 1].at + plan->table.steps[batches - 1].count : 0;
}

static ordo_status measure_fill(struct measuring *m, const struct timing_goal *goal, size_t i)
{
    const size_t  from = i ? plan_fill(m->plan, i - 1) : 0, to = plan_fill(m->plan, i);
    struct timing timing;
    if (!plan_advance(m->plan, i))
        return no_memory(m);
    TRY(dict_target_fill(m->target, from, to));
    TRY(dict_target_load(m->target, m->why));
    TRY(time_calls(m->device, dict_target_work, m->target, goal, &timing));
    add_timing(&m->out->timing, &timing, 1 / (double) plan_fills(m->plan));
    struct dict_fill *fill = &m->out->fills[m->out->n_fills++];
    *fill =
        (struct dict_fill) { to,   elements_in(m->plan, to), timing.wall.median, timing.first_call, timing.repetitions,
                             { 0 } };
    memcpy(fill->sample, timing.sample, sizeof fill->sample);
    m->out->right = dict_target_check(m->target, to == plan_fill(m->plan, plan_fills(m->plan) - 1), m->why);
    return ORDO_OK;
}

/* The repetitions per fill, and the least length of one: 200 times the final wait. */
#define BATCHES   8
#define BATCH_MIN 0.003

static ordo_status measure_fills(struct measuring *m)
{
    const size_t       fills = plan_fills(m->plan);
    struct timing_goal goal = *m->goal;
    goal.seconds /= (double) fills;
    goal.batch_seconds = fmin(goal.batch_seconds, fmax(BATCH_MIN, goal.seconds / BATCHES));
    goal.device_too = false;
    goal.prepare = m->plan->spec.first_calls ? dict_target_prepare : NULL;
    m->out->timing = (struct timing) { .device = spread_of(NULL, 0) };
    m->out->right = true;
    m->out->fills = calloc(fills, sizeof *m->out->fills);
    if (!m->out->fills)
        return no_memory(m);
    for (size_t i = 0; i < fills && m->out->right; i++) {
        progress("fill %zu of %zu", i + 1, fills);
        TRY(measure_fill(m, &goal, i));
    }
    return ORDO_OK;
}

/* ---- both ---------------------------------------------------------------------------------------------------- */

static ordo_status measure(struct measuring *m)
{
    TRY(dict_target_open(m->device, m->plan, &m->target, m->why));
    TRY(plan_has_fills(m->plan->spec.workload) ? measure_fills(m) : measure_once(m));
    TRY(dict_target_statistics(m->target, &m->out->statistics));
    return workload_cleans_up(m->plan->spec.workload) ? measure_rebuild(m) : ORDO_OK;
}

ordo_status dict_measure(ordo_device *device, const struct spec *spec, const struct timing_goal *goal, unsigned host,
                         struct dict_figures *out, char *why)
{
    struct measuring m = { .device = device, .goal = goal, .out = out, .why = why };
    *out = (struct dict_figures) { .rebuild_seconds = NAN, .baseline = { NAN, NAN, NAN } };
    m.plan = plan_borrow(spec);
    if (!m.plan)
        return no_memory(&m);
    const ordo_status got = measure(&m);
    dict_target_close(&m.target);
    for (int i = 0; i < N_DICT_BASELINES && got == ORDO_OK; i++)
        if (host >> i & 1) {
            progress("the host's turn");
            out->baseline[i] = dict_baseline_rate(m.plan, i);
        }
    plan_return(got == ORDO_OK);
    return got;
}

void dict_figures_free(struct dict_figures *figures)
{
    free(figures->fills);
    free(figures->batch_seconds);
    figures->fills = NULL;
    figures->batch_seconds = NULL;
    figures->n_fills = 0;
    figures->n_batches = 0;
}
