/* SPDX-License-Identifier: Apache-2.0 */
#include "inputs.h"

#include "bench/common/threads.h"
#include "element.h"
#include "keys.h"

#include <stdlib.h>

static bool keys_are_sorted(enum workload workload)
{
    return workload == MERGE || workload == MERGE_RUNS || workload == SEARCH || workload == LOOKUP;
}

static bool draw_keys(const struct spec *spec, bool ascending, enum dist dist, uint64_t seed, size_t count, void *keys)
{
    if (ascending)
        return keys_draw_sorted(spec->type, dist, seed, count, keys);
    keys_draw(spec->type, dist, seed, count, keys);
    return true;
}

static bool make_keys(const struct spec *spec, struct inputs *in)
{
    for (size_t r = 0; r < spec_runs(spec); r++) {
        const struct ordo_run run = spec_run(spec, r);
        if (!draw_keys(spec, keys_are_sorted(spec->workload), spec->dist, spec->seed + r * 100, run.count,
                       (char *) in->keys + run.at * type_bytes(spec->type)))
            return false;
    }
    return true;
}

struct hits {
    const struct spec   *spec;
    const struct inputs *in;
};

static void hits_of_span(void *arg, size_t from, size_t to, int part)
{
    const struct hits *hits = arg;
    const struct spec *spec = hits->spec;
    const size_t       bytes = type_bytes(spec->type);
    (void) part;
    for (size_t i = from; i < to; i++) {
        const uint64_t r = draw(spec->seed + 8, i);
        if (r % 8 != 0)
            set_element(hits->in->queries, bytes, i, element(hits->in->keys, bytes, (size_t) (r / 8 % spec->count)));
    }
}

static bool make_queries(const struct spec *spec, const struct inputs *in)
{
    const bool      sorted = spec->variant & VARIANT_SORTED, search = spec->workload == SEARCH;
    const bool      in_order = spec->dist == SORTED || spec->dist == REVERSE || spec->dist == SEQUENTIAL;
    const enum dist dist = in_order ? UNIFORM : spec->dist;

    if (!draw_keys(spec, search && sorted, dist, spec->seed + 9, spec->n_queries, in->queries))
        return false;
    if (search)
        return true;
    if (spec->count > 0)
        for_spans(spec->n_queries, hits_of_span, &(struct hits) { spec, in });
    return !sorted || keys_sort(spec->type, in->queries, spec->n_queries);
}

static void make_values(const struct spec *spec, const struct inputs *in)
{
    for (size_t i = 0; i < spec->count; i++)
        set_element(in->values, spec->value_bytes, i, value_of(spec->value_bytes, i));
}

static void make_flags(const struct spec *spec, struct inputs *in)
{
    for (size_t i = 0; i < spec->count; i++) {
        const uint64_t r = draw(spec->seed + 7, i);
        in->flags[i] = r & 1 ? (uint8_t) (1 + (r >> 1) % 255) : 0;
        in->kept += in->flags[i] != 0;
    }
}

bool inputs_make(const struct spec *spec, struct inputs *in)
{
    const size_t bytes = type_bytes(spec->type);
    const bool   queries = spec->workload == SEARCH || spec->workload == LOOKUP;

    *in = (struct inputs) { 0 };
    in->keys = malloc(spec->count * bytes + 1);
    in->values = spec->value_bytes ? malloc(spec->count * spec->value_bytes + 1) : NULL;
    in->flags = spec->workload == COMPACT ? malloc(spec->count + 1) : NULL;
    in->queries = queries ? malloc(spec->n_queries * bytes + 1) : NULL;

    bool made = in->keys && (in->values || !spec->value_bytes) && (in->flags || spec->workload != COMPACT) &&
                (in->queries || !queries);
    made = made && make_keys(spec, in) && (!queries || make_queries(spec, in));
    if (!made) {
        inputs_free(in);
        return false;
    }
    if (in->values)
        make_values(spec, in);
    if (in->flags)
        make_flags(spec, in);
    return true;
}

void inputs_free(struct inputs *in)
{
    free(in->keys);
    free(in->values);
    free(in->flags);
    free(in->queries);
    *in = (struct inputs) { 0 };
}
