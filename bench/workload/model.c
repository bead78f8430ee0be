/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

#include "baseline.h"

#include <stdlib.h>

struct model model_empty(ordo_type type, uint32_t value_bytes)
{
    return (struct model) { .type = type, .key_bytes = (uint32_t) ordo_type_bytes(type), .value_bytes = value_bytes };
}

void model_free(struct model *model)
{
    free(model->keys);
    free(model->values);
    model->keys = model->values = NULL;
    model->count = 0;
}

/* ---- places -------------------------------------------------------------------------------------------------- */

static bool is_below(const struct model *model, uint64_t key, size_t at)
{
    return at <= model->count && (at == 0 || model_key(model, at - 1) < key) &&
           (at == model->count || model_key(model, at) >= key);
}

size_t model_below(const struct model *model, uint64_t key, size_t hint)
{
    return is_below(model, key, hint) ? hint : host_lower_bound(model->keys, model->key_bytes, model->count, key);
}

size_t model_up_to(const struct model *model, uint64_t key, size_t from)
{
    size_t low = from, high = from, step = 1; /* keys before low are at or below `key`; doubles until one is not */
    while (high < model->count && model_key(model, high) <= key) {
        low = high + 1;
        high += step;
        step *= 2;
    }
    high = high < model->count ? high : model->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (model_key(model, middle) <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
