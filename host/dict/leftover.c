/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/leftover.h"

static ordo_status gather(const struct ordo_leftovers *l, size_t at, size_t count, struct ordo_leftover *to)
{
    const ordo_dict *dict = l->dict;

    *to = (struct ordo_leftover) { .codes = NULL };
    ORDO_TRY(ordo_call_scratch(l->call, count, &to->codes));
    ORDO_TRY(ordo_call_scratch(l->call, count, &to->found));
    ORDO_TRY(ordo_call_scratch(l->call, count * dict->key_bytes, &to->keys));
    if (l->has_values && dict->value_bytes)
        ORDO_TRY(ordo_call_scratch(l->call, count * dict->value_bytes, &to->values));
    return l->gather(l->batch, at, count, to);
}

static ordo_status apply(const struct ordo_leftovers *l, size_t count, const struct ordo_leftover *left)
{
    const struct ordo_batch batch = { .codes = ordo_at(left->codes, 0),
                                      .keys = ordo_at(left->keys, 0),
                                      .values = left->values ? ordo_at(left->values, 0) : ordo_none(),
                                      .count = count,
                                      .found = ordo_at(left->found, 0) };
    return ordo_dict_apply_enqueue(l->dict, l->call, &batch, NULL);
}

/* Executes `count` operations as one ordered batch. If memory is short before the first change, sets *done to false. */
static ordo_status apply_some(const struct ordo_leftovers *l, size_t at, size_t count, bool *done)
{
    const int            mark = l->call->n_scratch;
    struct ordo_leftover left;
    ordo_status          status = gather(l, at, count, &left);

    if (status == ORDO_OK)
        status = apply(l, count, &left);
    *done = status == ORDO_OK;
    if (*done) {
        ORDO_TRY(l->scatter(l->batch, at, count, left.found));
        ordo_call_release(l->call, mark);
        return ORDO_OK;
    }
    if (!ordo_lacks_memory(status) || (l->half_done && *l->half_done))
        return status;
    ordo_call_abandon(l->call, mark);
    return ORDO_OK;
}

ordo_status ordo_dict_apply_leftovers(const struct ordo_leftovers *l, size_t count, size_t *done)
{
    *done = 0;
    for (size_t most = count; *done < count && most > 0;) {
        const size_t n = ordo_min_size(most, count - *done);
        bool         did = false;
        ORDO_TRY(apply_some(l, *done, n, &did));
        *done += did ? n : 0;
        most = did ? most : n / 2;
    }
    return ORDO_OK;
}
