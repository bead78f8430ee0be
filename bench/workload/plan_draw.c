/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include <math.h>
#include <stdlib.h>

uint64_t stream(const struct dict_plan *plan, int which)
{
    return which == STREAM_TABLE ? plan->spec.seed /* equal to inputs_make */ : plan->spec.seed * 16 + (uint64_t) which;
}

void set_stored(struct column_batch *cols, enum column_id column, size_t row, uint64_t key)
{
    column_set(cols, column, row, key_stored(cols->type, key));
}

/* Numbers of keys of 16 bytes are drawn as keys of 8 bytes. */
static bool draw_keys(struct column_batch *cols, enum dist dist, uint64_t seed, size_t count)
{
    if (!type_is_wide(cols->type)) {
        keys_draw(cols->type, dist, seed, count, cols->at[COL_KEYS]);
        return true;
    }
    uint64_t *numbers = malloc(count * sizeof *numbers + 1);
    if (!numbers)
        return false;
    keys_draw(ORDO_U64, dist, seed, count, numbers);
    for (size_t i = 0; i < count; i++)
        column_set(cols, COL_KEYS, i, numbers[i]);
    free(numbers);
    return true;
}

bool draw_elements(const struct dict_plan *plan, struct column_batch *cols, int from_stream, size_t first, size_t count)
{
    const struct spec *spec = &plan->spec;
    /* Requests may prefer some keys. A table for queries has each about once. Keys of an expiry are times. */
    const bool      even = spec->dist == ZIPF && !workload_fills(spec->workload);
    const enum dist dist = spec->workload == EXPIRY ? SEQUENTIAL : even ? UNIFORM : spec->dist;
    if (!columns_reserve(cols, count, IN(KEYS) | IN(VALUES)))
        return false;
    values_make(spec->value_bytes, first, count, cols->at[COL_VALUES]);
    return draw_keys(cols, dist, stream(plan, from_stream), count);
}

void set_value_by_key(struct column_batch *cols, size_t row)
{
    column_set(cols, COL_VALUES, row, value_by_key(column_get(cols, COL_KEYS, row)));
}

static void set_value_at(void *cols, size_t row)
{
    set_value_by_key(cols, row);
}

void set_values_by_key(struct column_batch *cols, size_t rows)
{
    for_each(rows, set_value_at, cols);
}

bool batch_steps(struct script *script, size_t batch, enum step_call call, size_t at, size_t count)
{
    for (size_t done = 0; done < count; done += batch) {
        const size_t left = count - done;
        if (!script_steps(script,
                          &(struct step) { .call = call, .at = at + done, .count = left < batch ? left : batch }, 1))
            return false;
    }
    return true;
}

size_t pick_of(const struct dict_plan *plan, size_t keys, size_t i, size_t count)
{
    const uint64_t r = draw(stream(plan, STREAM_PICK), i);
    switch (plan->spec.dist) {
    case ZIPF: /* the logarithm of the rank is uniform; ranks are scattered over the keys */
        return (size_t) (draw(2000, (uint64_t) exp2(log2((double) keys) * (double) (r >> 11) * 0x1p-53)) % keys);
    case SEQUENTIAL:
    case SORTED:
        return (size_t) ((double) i / (double) count * (double) keys);
    case REVERSE:
        return (size_t) ((double) (count - 1 - i) / (double) count * (double) keys);
    default:
        return (size_t) (r % keys);
    }
}

uint64_t highest(const struct dict_plan *plan)
{
    return plan->model.key_bytes == 4 ? UINT32_MAX : UINT64_MAX;
}

void request_each(const struct dict_plan *plan, struct column_batch *cols, size_t at, size_t count, each_fn fn)
{
    for_each(count, fn, &(struct requests) { plan, cols, at, count });
}
