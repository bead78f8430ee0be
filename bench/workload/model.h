/* SPDX-License-Identifier: Apache-2.0 */
/* The dictionary that others are checked against: a sorted array in host memory, changed and queried by plain code. */
#ifndef BENCH_MODEL_H
#define BENCH_MODEL_H

#include "element.h"

#include "ordo/ordo.h"

struct model {
    ordo_type type;
    uint32_t  key_bytes, value_bytes;
    size_t    count;
    void     *keys; /* distinct and ascending, in ordered form (key_order of keys.h) */
    void     *values;
};

struct model model_empty(ordo_type type, uint32_t value_bytes);
void         model_free(struct model *model);

static inline uint64_t model_key(const struct model *model, size_t i)
{
    return element(model->keys, model->key_bytes, i);
}
static inline uint64_t model_value(const struct model *model, size_t i)
{
    return model->value_bytes ? element(model->values, model->value_bytes, i) : 0;
}

/* How many keys are below `key` (ordered form); quick if it is `hint`. */
size_t model_below(const struct model *model, uint64_t key, size_t hint);
/* How many keys are at or below `key`, of which `from` are known to be; quick if it is little more. */
size_t model_up_to(const struct model *model, uint64_t key, size_t from);

#endif
