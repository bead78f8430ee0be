/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include <stdlib.h>
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
    /* Without a matching name: all but rivals, and shapes of strings that only papers need. */
    return !any && !(workload_is_dict(workload) && structure_is_rival(variant)) &&
           !(workload_is_strings(workload) && string_shape_is_named(variant));
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
    const bool  strings = workload_is_strings(workload);
    const int   update = digit(i, updates ? o->n_updates : 1), batch = digit(i, batches ? o->n_batches : 1);
    const int   dist = digit(i, workload == FILLSEQ || strings ? 1 : o->n_dists);
    const int   value = digit(i, values ? o->n_value_bytes : 1);
    struct spec spec = { .workload = workload,
                         .variant = variant,
                         .type = strings ? ORDO_U32 : (ordo_type) o->types[digit(i, o->n_types)],
                         .value_bytes = values ? o->value_bytes[value] : 0,
                         .dist = workload == FILLSEQ ? SEQUENTIAL
                                 : strings           ? UNIFORM
                                                     : (enum dist) o->dists[dist],
                         .n_queries = workload_has_queries(workload) ? run->n_queries : 0,
                         .seed = o->seed,
                         .tune = o->tune,
                         .lines = strings ? o->lines : NULL,
                         .numbers = strings ? NULL : o->numbers,
                         .batch = batches ? o->batches[batch] : 0 };
#define X(member, option, key, low, high, initial, has, traits)                                                        \
    spec.member = takes_axis(workload, traits) && (has) ? o->member : 0;
    AXIS_MAP(X)
#undef X
    if (workload_asks_strings(workload))
        spec.hit_percent = o->hit_percent;
    if (updates)
        spec.update_percent = o->update_percents[update];
    return spec;
}

bool variant_can(const struct run *run, enum workload workload, int variant)
{
    const struct spec spec = point_of(run, workload, variant, &(int) { 0 });
    if (workload_is_strings(workload))
        return (variant == STRINGS_FILE) == (run->options->lines != NULL);
    return !workload_is_dict(workload) || dict_target_can(run->device, &spec);
}

/* Lists the series of a workload (NULL: only counts them). */
static int list_series(const struct run *run, enum workload workload, struct series *list)
{
    const bool searches = workload == SEARCH || workload == LOOKUP || workload == EQUAL_RANGE;
    int        n = 0;
    for (int variant = 0; variant_name(workload, variant); variant++) {
        /* The variant has other inputs than the first. */
        const bool other = searches ? variant_is_sorted(variant)
                                    : !workload_is_dict(workload) && !workload_is_strings(workload) && variant > 0;
        /* Cleanup needs stale elements; compaction needs spare memory. */
        const bool no_sense = (workload_needs_order(workload) && structure_is(variant, ORDO_NO_ORDER)) ||
                              (workload == CLEANUP && !structure_is(variant, ORDO_KEEPS_STALE)) ||
                              (workload == COMPACTALL && structure_is(variant, ORDO_BUILT_WHOLE));
        if ((run->options->side_by_side && other) || !variant_wanted(run->options, workload, variant) || no_sense ||
            !variant_can(run, workload, variant))
            continue;
        for (int i = 0, past = 0;; past = ++i) {
            const struct spec spec = point_of(run, workload, variant, &past);
            if (past)
                break;
            if (type_bytes(spec.type) < dist_key_bytes(spec.dist) ||
                (workload_asks_prefixes(workload) && spec.type != ORDO_U32 && spec.type != ORDO_U64) ||
                (type_is_wide(spec.type) &&
                 (!workload_takes_wide(workload) || (searches && variant == VARIANT_COMPRESSED) ||
                  (workload_is_dict(workload) && !structure_is(variant, ORDO_WIDE_KEYS)))) ||
                (workload_is_roaring(workload) && spec.type != ORDO_U32) ||
                (workload_takes_u128(workload) && spec.type != ORDO_U128) ||
                (workload_needs_values(workload) && !spec.value_bytes))
                continue;
            if (list)
                list[n].spec = spec;
            n++;
        }
    }
    return n;
}

struct series *make_series(const struct run *run, enum workload workload, int *n)
{
    *n = list_series(run, workload, NULL);
    struct series *list = calloc((size_t) *n + 1, sizeof *list);
    if (!list) {
        report_error("out of memory");
        exit(EXIT_FAILED);
    }
    list_series(run, workload, list);
    return list;
}

bool series_follows(const struct series *list, int s)
{
    for (int before = 0; before < s; before++)
        if (spec_asks_same(&list[before].spec, &list[s].spec))
            return true;
    return false;
}

/* By default there are three sizes; `compare` uses the last. */
int begin_part(struct run *run, const struct options *part)
{
    static const size_t on_gpu[] = { 1 << 16, 1 << 20, 1 << 24 }, on_cpu[] = { 1 << 12, 1 << 16, 1 << 20 };
    const bool          cpu = ordo_device_facts(run->device)->cpu;
    const int           first = part->side_by_side ? 2 : 0;
    int                 rows = 0;
    run->options = part;
    run->sizes = part->n_sizes ? part->sizes : (cpu ? on_cpu : on_gpu) + first;
    run->n_sizes = part->n_sizes ? part->n_sizes : 3 - first;
    run->n_queries = part->n_queries ? part->n_queries : (size_t) 1 << (cpu ? 20 : 24);
    for (int w = 0; w < part->n_workloads; w++)
        rows += list_series(run, (enum workload) part->workloads[w], NULL) * run->n_sizes;
    return rows;
}
