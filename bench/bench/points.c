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

/* Takes the last digit of a number, to the base of the places on an axis. */
static int digit(int *number, int places)
{
    const int last = *number % places;
    *number /= places;
    return last;
}

/* The i-th point; shares of updates vary fastest, then batches. *i is 0 unless it is past the last. */
static struct spec point_of(const struct run *run, enum workload workload, int variant, int *i)
{
    const struct options *o = run->options;
    const bool            dict = workload_is_dict(workload), values = workload_has_values(workload);
    const bool            updates = workload_has_updates(workload);
    const bool            whole =
        workload == CONCURRENTFILL || workload == CONCURRENTERASE || workload_on_device(workload) == BUILD;
    const bool  batches = dict && !whole && o->n_batches;
    const int   update = digit(i, updates ? o->n_updates : 1), batch = digit(i, batches ? o->n_batches : 1);
    const int   dist = digit(i, workload == FILLSEQ ? 1 : o->n_dists), value = digit(i, values ? o->n_value_bytes : 1);
    struct spec spec = { .workload = workload,
                         .variant = variant,
                         .type = (ordo_type) o->types[digit(i, o->n_types)],
                         .value_bytes = values ? o->value_bytes[value] : 0,
                         .dist = workload == FILLSEQ ? SEQUENTIAL : (enum dist) o->dists[dist],
                         .n_queries = workload_has_queries(workload) ? run->n_queries : 0,
                         .seed = o->seed,
                         .tune = o->tune,
                         .batch = batches ? o->batches[batch] : 0 };
#define X(member, option, key, low, high, initial, has, traits) spec.member = dict && (has) ? o->member : 0;
    AXIS_MAP(X)
#undef X
    if (updates)
        spec.update_percent = o->update_percents[update];
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
    const struct spec spec = point_of(run, workload, variant, &(int) { 0 });
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
    int n = 0;
    for (int variant = 0; variant_name(workload, variant); variant++) {
        if ((run->options->side_by_side && variant_is_other_data(workload, variant)) ||
            !variant_wanted(run->options, workload, variant) || !variant_makes_sense(workload, variant) ||
            !variant_can(run, workload, variant))
            continue;
        for (int i = 0, past = 0;; past = ++i) {
            const struct spec spec = point_of(run, workload, variant, &past);
            if (past)
                break;
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

bool series_follows(const struct series *list, int s)
{
    for (int before = 0; before < s && workload_is_dict(list[s].spec.workload); before++)
        if (spec_asks_same(&list[before].spec, &list[s].spec))
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
