/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/warm_up.h"

#include <stdlib.h>

static uint32_t scattered(size_t i)
{
    uint32_t x = (uint32_t) i * 0x9e3779b1u;
    x = (x ^ x >> 15) * 0x85ebca77u;
    return x ^ x >> 13;
}

static ordo_status write_words(struct ordo_call *call, const struct ordo_warm_up_arrays *a, uint32_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        words[i] = scattered(i);
    for (size_t i = 0; i < ORDO_WARM_UP_ARRAYS; i++)
        ORDO_TRY(ordo_call_write(call, a->at[i].mem, 0, words, n * sizeof *words));
    uint8_t *codes = (uint8_t *) words;
    for (size_t i = 0; i < a->count; i++)
        codes[i] = (uint8_t) (i % ORDO_N_CODES == ORDO_COMBINE ? ORDO_FIND : i % ORDO_N_CODES);
    ORDO_TRY(ordo_call_write(call, a->at[2].mem, 0, codes, a->count));
    /* Codes for concurrent batches. The greatest one, ORDO_RANGE, is left out: ranges need more output arrays. */
    for (size_t i = 0; i < a->count; i++)
        codes[i] = (uint8_t) (i % ORDO_RANGE);
    ORDO_TRY(ordo_call_write(call, a->at[11].mem, 0, codes, a->count));
    for (size_t i = 0; i < a->count; i++)
        codes[i] = (uint8_t) (i % ORDO_SEEK_LT);
    return ordo_call_write(call, a->at[12].mem, 0, codes, a->count);
}

static ordo_status fill(const struct ordo_warm_up_arrays *a)
{
    const size_t     n = 4 * a->count + 2;
    struct ordo_call call;
    if (ordo_is_dry_run(a->dev))
        return ORDO_OK;
    uint32_t *words = calloc(n, sizeof *words);
    ORDO_REQUIRE_MEMORY(a->dev, words);
    ordo_status got = ordo_call_begin(&call, a->dev, NULL);
    if (got == ORDO_OK)
        got = ordo_call_end(&call, write_words(&call, a, words, n));
    free(words);
    return got;
}

ordo_status ordo_warm_up_arrays_create(ordo_device *dev, size_t count, struct ordo_warm_up_arrays *out)
{
    ordo_status got = ORDO_OK;
    *out = (struct ordo_warm_up_arrays) { .dev = dev, .count = count };
    for (size_t i = 0; i < ORDO_WARM_UP_ARRAYS && got == ORDO_OK; i++)
        got = ordo_buffer_create(dev, (2 * count + 1) * sizeof(uint64_t), &out->at[i].mem);
    if (got == ORDO_OK)
        got = fill(out);
    if (got != ORDO_OK)
        ordo_warm_up_arrays_destroy(out);
    return got;
}

void ordo_warm_up_arrays_destroy(struct ordo_warm_up_arrays *arrays)
{
    for (size_t i = 0; i < ORDO_WARM_UP_ARRAYS; i++)
        ordo_buffer_destroy(arrays->dev, &arrays->at[i].mem);
}

struct warm_up {
    ordo_dict                        *dict;
    const struct ordo_warm_up_arrays *a;
    struct ordo_slice                 values, values_out;
    ordo_status                       first_error;
};

/* Records the first unexpected error. Reads of a dry run return an invented number, which can cause ORDO_TOO_SMALL. */
static void note(struct warm_up *t, ordo_status status)
{
    if (status != ORDO_UNSUPPORTED && status != ORDO_TOO_SMALL && t->first_error == ORDO_OK)
        t->first_error = status;
}

static void build(struct warm_up *t)
{
    note(t, ordo_dict_build(t->dict, t->a->at[0], t->values, t->a->count, NULL));
}

/* Returns the capacity of each output of keys, in elements. */
static size_t room(const struct warm_up *t)
{
    return t->dict->key_bytes > 8 || t->dict->value_bytes > 8 ? t->a->count : 2 * t->a->count;
}

static ordo_type value_type(const struct warm_up *t)
{
    return t->dict->value_bytes == 8 ? ORDO_U64 : ORDO_U32;
}

static void update(struct warm_up *t)
{
    const struct ordo_warm_up_arrays *a = t->a;
    note(t, ordo_dict_upsert(t->dict, a->at[0], t->values, a->count, NULL));
    note(t, ordo_dict_upsert(t->dict, a->at[0], t->values, a->count, NULL));
    note(t, ordo_dict_insert(t->dict, a->at[0], t->values, a->count, a->at[4], NULL));
    note(t, ordo_dict_erase(t->dict, a->at[0], (a->count + 1) / 2, NULL));
}

static void update_by_value(struct warm_up *t)
{
    const struct ordo_warm_up_arrays *a = t->a;
    const size_t                      few = (a->count + 63) / 64;
    size_t                            n = 0;
    if (t->dict->value_bytes && t->dict->value_bytes <= 8) {
        note(t, ordo_dict_combine(t->dict, value_type(t), ORDO_SUM, a->at[0], t->values, a->count, NULL));
        note(t, ordo_dict_combine(t->dict, value_type(t), ORDO_SUM, a->at[0], t->values, few, NULL));
    }
    note(t, ordo_dict_upsert(t->dict, a->at[0], t->values, few, NULL));
    note(t, ordo_dict_take_first(t->dict, (a->count + 7) / 8, a->at[5], t->values_out, &n, NULL));
    note(t, ordo_dict_erase_range(t->dict, a->at[0], a->at[0], (a->count + 7) / 8, a->at[6], NULL));
    note(t, ordo_dict_erase_range(t->dict, a->at[0], a->at[0], 1, a->at[6], NULL));
}

static void find(struct warm_up *t)
{
    const struct ordo_warm_up_arrays *a = t->a;
    note(t, ordo_dict_find(t->dict, a->at[0], a->count, t->values_out, a->at[4], NULL));
    note(t, ordo_dict_contains(t->dict, a->at[0], a->count, a->at[4], NULL));
}

static void order(struct warm_up *t)
{
    const struct ordo_warm_up_arrays *a = t->a;
    size_t                            n = 0;
    for (int relation = ORDO_LT; relation <= ORDO_GT; relation++)
        note(t, ordo_dict_seek(t->dict, (ordo_relation) relation, a->at[0], a->count, a->at[5], t->values_out, a->at[4],
                               NULL));
    note(t, ordo_dict_first(t->dict, a->at[5], t->values_out, a->at[4], NULL));
    note(t, ordo_dict_count(t->dict, a->at[0], a->at[0], a->count, a->at[6], NULL));
    note(t,
         ordo_dict_range(t->dict, a->at[0], a->at[0], a->count, a->at[7], a->at[5], t->values_out, room(t), &n, NULL));
    note(t, ordo_dict_rank(t->dict, ORDO_LT, a->at[0], a->count, a->at[6], NULL));
    note(t, ordo_dict_select(t->dict, a->at[6], a->count, a->at[5], t->values_out, a->at[4], NULL));
    if (t->dict->value_bytes && t->dict->value_bytes <= 8)
        note(t, ordo_dict_aggregate(t->dict, value_type(t), ORDO_SUM, a->at[0], a->at[0], a->count, a->at[3], a->at[6],
                                    NULL));
    note(t, ordo_dict_size(t->dict, NULL, &n));
    note(t, ordo_dict_export(t->dict, a->at[5], t->values_out, room(t), &n, NULL));
}

static void apply(struct warm_up *t)
{
    const struct ordo_warm_up_arrays *a = t->a;
    const struct ordo_batch           batch = { .codes = a->at[ordo_dict_can(t->dict, ORDO_CAN_ORDER) ? 2 : 12],
                                                .keys = a->at[0],
                                                .hi = a->at[0],
                                                .values = t->values,
                                                .count = a->count,
                                                .found = a->at[4],
                                                .keys_out = a->at[5],
                                                .values_out = t->values_out,
                                                .counts = a->at[6],
                                                .offsets = a->at[7],
                                                .range_keys = a->at[8],
                                                .range_values = t->values.mem ? a->at[9] : ordo_none(),
                                                .range_capacity = room(t) };
    size_t                            needed = 0;
    note(t, ordo_dict_apply(t->dict, &batch, &needed, NULL));
}

static void concurrent(struct warm_up *t)
{
    const struct ordo_warm_up_arrays  *a = t->a;
    const struct ordo_concurrent_batch batch = { .codes = a->at[ordo_dict_can(t->dict, ORDO_CAN_ORDER) ? 11 : 12],
                                                 .keys = a->at[0],
                                                 .hi = a->at[0],
                                                 .values = t->values,
                                                 .count = a->count,
                                                 .found = a->at[4],
                                                 .keys_out = a->at[5],
                                                 .values_out = t->values_out,
                                                 .counts = a->at[6],
                                                 .outcomes = a->at[10] };
    note(t, ordo_dict_apply_concurrent(t->dict, &batch, NULL));
    note(t, ordo_dict_build(t->dict, a->at[0], t->values, a->count / 16, NULL));
    note(t, ordo_dict_compact(t->dict, NULL));
    note(t, ordo_dict_apply_concurrent(t->dict, &batch, NULL));
}

static void compact(struct warm_up *t)
{
    note(t, ordo_dict_compact(t->dict, NULL));
}

static const struct {
    uint32_t operation;
    void (*call)(struct warm_up *t);
} stops[] = {
    { ORDO_PREPARE_UPDATE, update },
    { ORDO_PREPARE_FIND, find },
    { ORDO_PREPARE_ORDER, order },
    { ORDO_PREPARE_BUILD, build },
    { ORDO_PREPARE_APPLY, apply },
    { ORDO_PREPARE_CONCURRENT, concurrent },
    { ORDO_PREPARE_UPDATE, update_by_value },
    { ORDO_PREPARE_FIND, find },
    { ORDO_PREPARE_ORDER, order },
    { ORDO_PREPARE_COMPACT, compact },
};

ordo_status ordo_dict_warm_up(ordo_dict *dict, uint32_t operations, const struct ordo_warm_up_arrays *arrays)
{
    const bool     has_values = dict->value_bytes > 0;
    struct warm_up t = { .dict = dict,
                         .a = arrays,
                         .values = has_values ? arrays->at[1] : ordo_none(),
                         .values_out = has_values ? arrays->at[3] : ordo_none() };
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++)
        if (operations & stops[i].operation)
            stops[i].call(&t);
    return t.first_error;
}
