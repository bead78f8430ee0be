/* SPDX-License-Identifier: Apache-2.0 */
#include "inputs.h"

#include "bench/common/threads.h"
#include "keys.h"

#include <stdlib.h>

static bool keys_are_sorted(enum workload workload)
{
    return workload == MERGE || workload == MERGE_RUNS || workload == SEARCH || workload == LOOKUP ||
           workload == EQUAL_RANGE;
}

static bool draw_keys(const struct spec *spec, bool ascending, enum dist dist, uint64_t seed, size_t count, void *keys)
{
    if (ascending)
        return keys_draw_sorted(spec->type, dist, seed, count, keys);
    keys_draw(spec->type, dist, seed, count, keys);
    return true;
}

/* Draws each key from GROUPS, and sorts them if equal keys must be adjacent. */
static bool make_groups(const struct spec *spec, struct inputs *in)
{
    const size_t bytes = type_bytes(spec->type);

    keys_draw(spec->type, spec->dist, spec->seed, spec->count, in->keys);
    for (size_t i = 0; i < spec->count && spec->dist == UNIFORM; i++) {
        const uint64_t group = draw(4000, draw(spec->seed, i) % GROUPS);
        set_element(in->keys, bytes, i, key_stored(spec->type, bytes == 4 ? group >> 32 : group));
    }
    return spec->variant == 0 || elements_sort(spec->type, in->keys, NULL, 0, spec->count);
}

/* Random indices and distinct rows. */
static void make_rows(const struct spec *spec, struct inputs *in)
{
    const size_t words = spec_row_bytes(spec) / 4;

    for (size_t i = 0; i < spec->count; i++)
        set_element(in->keys, 4, i, draw(spec->seed, i) % spec->count);
    for (size_t i = 0; i < spec->count * words; i++)
        set_element(in->rows, 4, i, draw(spec->seed + 1, i));
}

static bool make_keys(const struct spec *spec, struct inputs *in)
{
    if (spec->workload == GROUPBY)
        return make_groups(spec, in);
    if (spec->workload == GATHER) {
        make_rows(spec, in);
        return true;
    }
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

static void hits_of(void *arg, size_t i)
{
    const struct hits *hits = arg;
    const struct spec *spec = hits->spec;
    const size_t       bytes = type_bytes(spec->type);
    const uint64_t     r = draw(spec->seed + 8, i);
    if (r % 8 != 0)
        move_element(hits->in->queries, i, hits->in->keys, (size_t) (r / 8 % spec->count), bytes);
}

static bool make_queries(const struct spec *spec, const struct inputs *in)
{
    const bool sorted = variant_is_sorted(spec->variant), search = spec->workload == SEARCH;
    const bool in_order =
        spec->dist == SORTED || spec->dist == REVERSE || spec->dist == SEQUENTIAL || spec->dist == DENSE;
    const enum dist dist = in_order ? UNIFORM : spec->dist;

    if (!draw_keys(spec, search && sorted, dist, spec->seed + 9, spec->n_queries, in->queries))
        return false;
    if (search)
        return true;
    if (spec->count > 0)
        for_each(spec->n_queries, hits_of, &(struct hits) { spec, in });
    return !sorted || elements_sort(spec->type, in->queries, NULL, 0, spec->n_queries);
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
    const size_t bytes = spec->workload == GATHER ? 4 : type_bytes(spec->type);
    const size_t row_bytes = spec->workload == GATHER ? spec_row_bytes(spec) : 0;
    const bool   queries = !workload_is_dict(spec->workload) && workload_has_queries(spec->workload);

    *in = (struct inputs) { 0 };
    in->keys = malloc(spec->count * bytes + 1);
    in->values = spec->value_bytes ? malloc(spec->count * spec->value_bytes + 1) : NULL;
    in->flags = spec->workload == COMPACT ? malloc(spec->count + 1) : NULL;
    in->rows = row_bytes ? malloc(spec->count * row_bytes + 1) : NULL;
    in->queries = queries ? malloc(spec->n_queries * bytes + 1) : NULL;

    bool made = in->keys && (in->values || !spec->value_bytes) && (in->flags || spec->workload != COMPACT) &&
                (in->queries || !queries) && (in->rows || !row_bytes);
    made = made && make_keys(spec, in) && (!queries || make_queries(spec, in));
    if (!made) {
        inputs_free(in);
        return false;
    }
    if (in->values)
        values_make(spec->value_bytes, 0, spec->count, in->values);
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
    free(in->rows);
    *in = (struct inputs) { 0 };
}
