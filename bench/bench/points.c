/* SPDX-License-Identifier: Apache-2.0 */
#include "points.h"

#include "bench/measure/dict_subject.h"
#include "bench/workload/dict_plan.h"

#include <string.h>

bool variant_wanted(const struct options *o, enum workload workload, int variant)
{
    bool any = false;
    for (int i = 0; i < o->n_variants; i++)
        for (int v = 0; variant_name(workload, v); v++)
            if (strcmp(variant_any(o->variants[i]), variant_name(workload, v)) == 0) {
                any = true;
                if (v == variant)
                    return true;
            }
    return !any; /* none of this workload's variants was named */
}

/* How many places each axis has for a workload: those that mean nothing to it have one. */
struct axes {
    int types, values, dists, batches, updates;
};

static bool has_batches(enum workload workload)
{
    return workload_is_dict(workload) && workload != CONCURRENTFILL;
}

static struct axes axes_of(const struct options *o, enum workload workload)
{
    return (struct axes) { .types = o->n_types,
                           .values = workload_has_values(workload) ? o->n_value_bytes : 1,
                           .dists = workload == FILLSEQ ? 1 : o->n_dists,
                           .batches = has_batches(workload) && o->n_batches ? o->n_batches : 1,
                           .updates = workload == CONCURRENTMIX ? o->n_updates : 1 };
}

/* The i-th point of the axes, shares of updates changing fastest, then batches. */
static struct spec point_of(const struct run *run, enum workload workload, int variant, int i)
{
    const struct options *o = run->options;
    const struct axes     axes = axes_of(o, workload);
    const int             update = i % axes.updates, batch = i / axes.updates % axes.batches;
    const int             others = i / axes.updates / axes.batches, dist = others % axes.dists;
    const int             value = others / axes.dists % axes.values, type = others / axes.dists / axes.values;
    struct spec           spec = { .workload = workload,
                                   .variant = variant,
                                   .type = (ordo_type) o->types[type],
                                   .value_bytes = workload_has_values(workload) ? o->value_bytes[value] : 0,
                                   .dist = workload == FILLSEQ ? SEQUENTIAL : (enum dist) o->dists[dist],
                                   .n_queries = workload_has_queries(workload) ? run->n_queries : 0,
                                   .seed = o->seed };
    if (workload_is_dict(workload)) {
        spec.batch = o->n_batches && has_batches(workload) ? o->batches[batch] : 0;
        spec.hit_percent = o->hit_percent;
        spec.width = o->width;
        spec.fills = o->fills;
        spec.growth = o->growth;
        spec.first_calls = o->first_calls && plan_has_fills(workload);
        spec.update_percent = workload == CONCURRENTMIX ? o->update_percents[update] : 0;
        spec.erase_percent = o->erase_percent;
    }
    return spec;
}

/* Cleanup is for what keeps stale elements; the others give memory back in the same call, if there is any. */
static bool variant_makes_sense(enum workload workload, int variant)
{
    if (workload == CLEANUP)
        return structure_is(variant, KEEPS_STALE);
    return workload != COMPACTALL || !structure_is(variant, BUILT_WHOLE);
}

bool variant_can(const struct run *run, enum workload workload, int variant)
{
    const struct spec spec = point_of(run, workload, variant, 0);
    return !workload_is_dict(workload) || dict_subject_can(run->device, &spec);
}

int list_series(const struct run *run, enum workload workload, struct series *list)
{
    const struct axes axes = axes_of(run->options, workload);
    const int         points = axes.types * axes.values * axes.dists * axes.batches * axes.updates;
    int               n = 0;
    for (int variant = 0; variant_name(workload, variant); variant++) {
        if (!variant_wanted(run->options, workload, variant) || !variant_makes_sense(workload, variant) ||
            !variant_can(run, workload, variant))
            continue;
        for (int i = 0; i < points; i++, n++)
            if (list)
                list[n].spec = point_of(run, workload, variant, i);
    }
    return n;
}
