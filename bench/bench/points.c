/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

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
    /* Without a matching name: all but rivals. */
    return !any && !(workload_is_dict(workload) && structure_is_rival(variant));
}

/* Places per axis; an axis without meaning has one. */
struct places {
    int types, values, dists, batches, updates;
};

static bool has_batches(enum workload workload)
{
    return workload_is_dict(workload) && workload != CONCURRENTFILL && workload_on_device(workload) != BUILD;
}

static struct places places_of(const struct options *o, enum workload workload)
{
    return (struct places) { .types = o->n_types,
                             .values = workload_has_values(workload) ? o->n_value_bytes : 1,
                             .dists = workload == FILLSEQ ? 1 : o->n_dists,
                             .batches = has_batches(workload) && o->n_batches ? o->n_batches : 1,
                             .updates = workload_has_updates(workload) ? o->n_updates : 1 };
}

/* The i-th point; shares of updates vary fastest, then batches. */
static struct spec point_of(const struct run *run, enum workload workload, int variant, int i)
{
    const struct options *o = run->options;
    const struct places   places = places_of(o, workload);
    const int             update = i % places.updates, batch = i / places.updates % places.batches;
    const int             others = i / places.updates / places.batches, dist = others % places.dists;
    const int             value = others / places.dists % places.values, type = others / places.dists / places.values;
    struct spec           spec = { .workload = workload,
                                   .variant = variant,
                                   .type = (ordo_type) o->types[type],
                                   .value_bytes = workload_has_values(workload) ? o->value_bytes[value] : 0,
                                   .dist = workload == FILLSEQ ? SEQUENTIAL : (enum dist) o->dists[dist],
                                   .n_queries = workload_has_queries(workload) ? run->n_queries : 0,
                                   .seed = o->seed,
                                   .tune = o->tune };
    if (workload_is_dict(workload)) {
        spec.batch = o->n_batches && has_batches(workload) ? o->batches[batch] : 0;
#define X(member, option, key, low, high, initial, has, traits) spec.member = (has) ? o->member : 0;
        AXIS_MAP(X)
#undef X
        spec.update_percent = workload_has_updates(workload) ? o->update_percents[update] : 0;
    }
    return spec;
}

static bool point_makes_sense(const struct spec *spec)
{
    const bool has_prefixes = spec->type == ORDO_U32 || spec->type == ORDO_U64;
    if (workload_asks_prefixes(spec->workload) && !has_prefixes)
        return false;
    return spec->value_bytes > 0 || !workload_needs_values(spec->workload);
}

/* Cleanup needs stale elements; compaction needs spare memory. */
static bool variant_makes_sense(enum workload workload, int variant)
{
    if (workload_needs_order(workload) && structure_is(variant, ORDO_NO_ORDER))
        return false;
    if (workload == CLEANUP)
        return structure_is(variant, ORDO_KEEPS_STALE);
    return workload != COMPACTALL || !structure_is(variant, ORDO_BUILT_WHOLE);
}

bool variant_can(const struct run *run, enum workload workload, int variant)
{
    const struct spec spec = point_of(run, workload, variant, 0);
    return !workload_is_dict(workload) || dict_target_can(run->device, &spec);
}

/* Whether the variant has other inputs than the first. */
static bool variant_is_other_data(enum workload workload, int variant)
{
    if (workload == SEARCH || workload == LOOKUP || workload == EQUAL_RANGE)
        return variant_is_sorted(variant);
    return !workload_is_dict(workload) && variant > 0;
}

int list_series(const struct run *run, enum workload workload, struct series *list)
{
    const struct places places = places_of(run->options, workload);
    const int           points = places.types * places.values * places.dists * places.batches * places.updates;
    int                 n = 0;
    for (int variant = 0; variant_name(workload, variant); variant++) {
        if (run->options->side_by_side && variant_is_other_data(workload, variant))
            continue;
        if (!variant_wanted(run->options, workload, variant) || !variant_makes_sense(workload, variant) ||
            !variant_can(run, workload, variant))
            continue;
        for (int i = 0; i < points; i++) {
            const struct spec spec = point_of(run, workload, variant, i);
            if (!point_makes_sense(&spec))
                continue;
            if (list)
                list[n].spec = spec;
            n++;
        }
    }
    return n;
}

/* Three sizes; `compare` uses the last. */
static void use_default_sizes(struct run *run, bool cpu)
{
    static const size_t on_gpu[] = { 1 << 16, 1 << 20, 1 << 24 }, on_cpu[] = { 1 << 12, 1 << 16, 1 << 20 };
    const int           first = run->options->side_by_side ? 2 : 0;
    run->sizes = run->options->n_sizes ? run->options->sizes : (cpu ? on_cpu : on_gpu) + first;
    run->n_sizes = run->options->n_sizes ? run->options->n_sizes : 3 - first;
    run->n_queries = run->options->n_queries ? run->options->n_queries : (size_t) 1 << (cpu ? 20 : 24);
}

bool same_but_variant(const struct spec *a, const struct spec *b)
{
    return a->workload == b->workload && a->type == b->type && a->value_bytes == b->value_bytes && a->dist == b->dist &&
           a->count == b->count && a->batch == b->batch && a->update_percent == b->update_percent;
}

bool series_follows(const struct series *list, int s)
{
    for (int before = 0; before < s && workload_is_dict(list[s].spec.workload); before++)
        if (same_but_variant(&list[before].spec, &list[s].spec))
            return true;
    return false;
}

int begin_part(struct run *run, const struct options *part)
{
    int rows = 0;
    run->options = part;
    use_default_sizes(run, ordo_device_facts(run->device)->cpu);
    for (int w = 0; w < part->n_workloads; w++)
        rows += list_series(run, (enum workload) part->workloads[w], NULL) * run->n_sizes;
    return rows;
}
