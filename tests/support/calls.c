/* SPDX-License-Identifier: Apache-2.0 */
/* The call of a name and its arguments: see calls.h. */
#include "call_forms.h"

#include <string.h>

const struct array_call *call_named(const char *name)
{
    const struct {
        const struct array_call *calls;
        size_t                   n;
    } tables[] = { { primitive_calls, n_primitive_calls },
                   { dict_calls, n_dict_calls },
                   { other_calls, n_other_calls } };

    for (size_t table = 0; table < LENGTH(tables); table++)
        for (size_t i = 0; i < tables[table].n; i++)
            if (strcmp(tables[table].calls[i].name, name) == 0)
                return &tables[table].calls[i];
    return NULL;
}

/* The two halves of an ascending array, second half first. */
static const struct ordo_run *halves(size_t n)
{
    static struct ordo_run runs[2];

    runs[0] = (struct ordo_run) { n / 2, n - n / 2 };
    runs[1] = (struct ordo_run) { 0, n / 2 };
    return runs;
}

struct array_call call_without_order(const struct array_call *call)
{
    struct array_call points = *call;

    for (size_t i = 0; i < call_arrays(&points); i++)
        if (points.array[i].input == INPUT_CODES)
            points.array[i].input = INPUT_POINTS;
    return points;
}

struct given call_given(ordo_device *dev, ordo_dict *dict, size_t n)
{
    return (struct given) { .dev = dev,
                            .dict = dict,
                            .type = ORDO_U32,
                            .value_bytes = 4,
                            .n = n,
                            .count = n,
                            .second = n,
                            .k = n / 2,
                            .room = CALL_ROOM * n,
                            .relation = ORDO_GE,
                            .string_search = ORDO_STRING_LONGEST_PREFIX,
                            .op = ORDO_MAX,
                            .runs = halves(n),
                            .n_runs = 2,
                            .limit = 2 };
}

size_t call_arrays(const struct array_call *call)
{
    size_t n = 0;

    while (n < CALL_ARRAYS && call->array[n].name)
        n++;
    return n;
}

size_t call_array_elements(const struct call_array *array, const struct given *g)
{
    switch (array->extent) {
    case EXTENT_SECOND:
        return g->second;
    case EXTENT_BOTH:
        return g->count + g->second;
    case EXTENT_FIRST_K:
        return g->k < g->count ? g->k : g->count;
    case EXTENT_RUNS:
        return g->n;
    default:
        return array->times == CALL_ROOM ? g->room : call_array_count(array, g->count);
    }
}

bool call_array_is_key(const struct call_array *array)
{
    const char *const        name = array->name;
    static const char *const others[] = { "in", "out", "lo", "hi", "hi", "bounds", "queries" };

    for (size_t i = 0; i < LENGTH(others); i++)
        if (strcmp(name, others[i]) == 0)
            return true;
    return strstr(name, "key") != NULL;
}

size_t call_array_bytes(const struct call_array *array, const struct given *g)
{
    const bool is_value = strstr(array->name, "value") || strcmp(array->name, "results") == 0;

    if (call_array_is_key(array))
        return ordo_type_bytes(g->type);
    if (is_value && (g->dict || array->value))
        return g->value_bytes;
    if (is_value)
        return g->wide && array->output ? 8 : ordo_type_bytes(g->value);
    return strncmp(array->name, "rows", 4) == 0 ? call_row_bytes(g) : array->bytes;
}
