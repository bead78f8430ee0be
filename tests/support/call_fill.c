/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs of calls: see calls.h. */
#include "calls.h"
#include "support.h"

static uint32_t word_of(struct test *t, enum call_input input, size_t i, size_t n, size_t held)
{
    switch (input) {
    case INPUT_ASCENDING: /* with duplicates */
        return (uint32_t) (i / 2 * (UINT32_MAX / n));
    case INPUT_RANKS:
        return (uint32_t) test_below(t, held + 2);
    case INPUT_DISTINCT:
        return (uint32_t) (i * (UINT32_MAX / n));
    case INPUT_INDICES:
        return (uint32_t) test_below(t, n + n / 8);
    case INPUT_IDS:
        return (uint32_t) test_below(t, n);
    case INPUT_OFFSETS:
        return (uint32_t) (CALL_STRING_BYTES * i - i % 5);
    default:
        return (uint32_t) test_below(t, held) * 2654435761u + (uint32_t) test_below(t, 2);
    }
}

static uint8_t byte_of(struct test *t, enum call_input input, size_t i)
{
    static const uint8_t points[] = { ORDO_FIND, ORDO_UPSERT, ORDO_CONTAINS, ORDO_INSERT, ORDO_ERASE, ORDO_COMBINE };

    return (uint8_t) (input == INPUT_CODES     ? i % ORDO_N_CODES
                      : input == INPUT_BITS    ? test_below(t, 256)
                      : input == INPUT_LETTERS ? test_below(t, CALL_LETTERS)
                      : input == INPUT_POINTS  ? points[i % LENGTH(points)]
                      : input == INPUT_UPSERTS ? (uint64_t) ORDO_UPSERT
                                               : test_below(t, 2));
}

static void fill_above(size_t n, uint32_t distance, uint32_t *words, const uint32_t *before)
{
    for (size_t i = 0; i < n; i++)
        words[i] = before[i] > UINT32_MAX - distance ? UINT32_MAX : before[i] + distance;
}

static void fill(struct test *t, enum call_input input, size_t bytes, size_t n, size_t held, void *to)
{
    for (size_t i = 0; i < n; i++)
        if (bytes == 1)
            ((uint8_t *) to)[i] = byte_of(t, input, i);
        else if (bytes == 4)
            ((uint32_t *) to)[i] = word_of(t, input, i, n, held);
        else
            ((uint64_t *) to)[i] = CALL_ROOM * i;
}

void call_fill(struct test *t, const struct array_call *call, size_t n, size_t held, void *const a[])
{
    for (size_t i = 0; i < call_arrays(call); i++) {
        const struct call_array *array = &call->array[i];
        const size_t             count = call_array_count(array, n);
        if (array->output)
            continue;
        if (array->input == INPUT_ABOVE && i > 0)
            fill_above(count, UINT32_MAX / (uint32_t) held, a[i], a[i - 1]);
        else
            fill(t, array->input, array->bytes, count, held, a[i]);
    }
}

static ordo_string_dict *make_string_dict(struct test *t, const struct ordo_host_strings *column)
{
    struct ordo_host_strings few = *column;
    ordo_string_dict        *dict = NULL;

    few.count = column->count / 8;
    test_ok(t, ordo_string_dict_create(t->dev, ordo_string_dict_config(.value_bytes = 4), &dict));
    test_ok(t, ordo_string_dict_upsert_host(dict, column, column->offsets));
    test_ok(t, ordo_string_dict_upsert_host(dict, &few, column->offsets));
    return dict;
}

struct call_strings call_strings_of(struct test *t, const struct array_call *call, size_t n)
{
    struct call_strings made = { NULL, NULL };
    AUTO_FREE uint32_t *offsets = test_alloc((n + 1) * sizeof *offsets);
    AUTO_FREE uint8_t  *bytes = test_alloc(CALL_STRING_BYTES * n);
    uint32_t            end = 0;

    if (!call || call->object == OBJECT_OTHER)
        return made;
    for (size_t i = 0; i < n; i++) {
        offsets[i] = end;
        for (size_t rest = i + 1; rest > 0; rest = (rest - 1) / CALL_LETTERS)
            bytes[end++] = (uint8_t) ((rest - 1) % CALL_LETTERS);
    }
    offsets[n] = end;
    const struct ordo_host_strings column = { offsets, 4, bytes, end, n };
    if (call->object == OBJECT_STRING_DICT)
        made.dict = make_string_dict(t, &column);
    else
        test_ok(
            t, ordo_string_index_build_host(t->dev, ordo_string_index_params(.keep_rows = true), &column, &made.index));
    return made;
}

void call_strings_free(struct call_strings *strings)
{
    ordo_string_index_destroy(&strings->index);
    ordo_string_dict_destroy(&strings->dict);
}
