/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/generic/generic.h"
#include "dict/request.h"

#include <stdlib.h>

void ordo_dict_destroy(ordo_dict **dict)
{
    if (!dict || !*dict)
        return;
    ordo_device *dev = (*dict)->dev;
    ordo_reserve_leave(dev, &(*dict)->reserve);
    ordo_dict_drop_aggregates(*dict);
    (*dict)->structure->destroy(*dict);
    ordo_last_call_forget(dev, &(*dict)->last);
    free(*dict);
    *dict = NULL;
    ordo_device_release(dev);
}

bool ordo_dict_can(const ordo_dict *dict, ordo_dict_op op)
{
    if (!dict)
        return false;
    const struct ordo_structure *s = dict->structure;
    switch (op) {
    case ORDO_CAN_BUILD:
        return s->build != NULL;
    case ORDO_CAN_UPDATE:
        return s->update != NULL;
    case ORDO_CAN_FIND:
        return s->find != NULL;
    case ORDO_CAN_ORDER:
        return s->seek != NULL;
    case ORDO_CAN_APPLY:
        return s->update_sorted != NULL;
    case ORDO_CAN_COMPACT:
        return s->compact != NULL;
    case ORDO_CAN_CONCURRENT:
        return s->apply_concurrent != NULL;
    }
    return false;
}

const char *ordo_dict_name(const ordo_dict *dict)
{
    return dict ? dict->structure->name : "";
}

static ordo_status unable(const ordo_dict *dict)
{
    return ORDO_FAIL(dict->dev, ORDO_UNSUPPORTED,
                     "this structure, %s, has no such operation (its header lists those it has)", ordo_dict_name(dict));
}

/* Checks the structure if a driver may have dropped commands of an update. Returns ORDO_BROKEN if this or an earlier
 * check has found damage. */
static ordo_status validate(struct ordo_call *call, ordo_dict *dict)
{
    dict->needs_check = ordo_last_call_dropped(dict->dev, &dict->last) || dict->needs_check;
    if (dict->needs_check) {
        ORDO_TRY(ordo_call_changes(call));
        ordo_dict_drop_aggregates(dict);
        if (dict->structure->invalidate)
            dict->structure->invalidate(dict);
        const ordo_status status = dict->structure->check(dict, call);
        dict->broken = status == ORDO_BROKEN;
        dict->needs_check = status != ORDO_OK && status != ORDO_BROKEN;
        if (dict->needs_check)
            return status;
    }
    ORDO_REQUIRE(dict->dev, !dict->broken, ORDO_BROKEN,
                 "commands that changed the dictionary were dropped, as another command in their queue had failed, and "
                 "what they left is not sound: build or clear it");
    return ORDO_OK;
}

static void trust(ordo_dict *dict)
{
    ordo_last_call_trust(&dict->last);
    dict->needs_check = dict->broken = false;
}

static ordo_status begin_change(struct ordo_call *call, ordo_dict *dict)
{
    ordo_dict_drop_aggregates(dict);
    return ordo_call_changes(call);
}

static ordo_status begin(struct ordo_call *call, ordo_dict *dict, ordo_dict_op op, const struct ordo_order *order,
                         bool waits)
{
    ORDO_REQUIRE_GIVEN(NULL, dict);
    if (!ordo_dict_can(dict, op))
        return unable(dict);
    return ordo_call_begin_after(call, dict->dev, order, &dict->last, waits);
}

ordo_status ordo_dict_begin(struct ordo_call *call, ordo_dict *dict, ordo_dict_op op, const struct ordo_order *order,
                            bool waits)
{
    ORDO_TRY(begin(call, dict, op, order, waits));
    const ordo_status sound = validate(call, dict);
    return sound == ORDO_OK ? ORDO_OK : ordo_dict_end(call, dict, sound);
}

ordo_status ordo_dict_begin_update(struct ordo_call *call, ordo_dict *dict, ordo_dict_op op,
                                   const struct ordo_order *order)
{
    ORDO_TRY(ordo_dict_begin(call, dict, op, order, true));
    const ordo_status ready = begin_change(call, dict);
    return ready == ORDO_OK ? ORDO_OK : ordo_dict_end(call, dict, ready);
}

/* Must follow each successful ordo_dict_begin or ordo_dict_begin_update, because it unlocks the device. `status` is the
 * result of the work since then. */
ordo_status ordo_dict_end(struct ordo_call *call, ordo_dict *dict, ordo_status status)
{
    if (status == ORDO_NO_DEVICE_MEMORY)
        ordo_dict_drop_aggregates(dict);
    ordo_call_remember(call, &dict->last);
    return ordo_call_end(call, status);
}

ordo_status ordo_dict_check_own(const ordo_dict *dict, const struct ordo_structure *structure)
{
    ORDO_REQUIRE_GIVEN(NULL, dict);
    return dict->structure == structure ? ORDO_OK : unable(dict);
}

size_t ordo_parameter_bytes(const ordo_dict *dict, const struct ordo_parameter *p)
{
    const size_t bytes[] = {
        [KEY] = dict->key_bytes, [VALUE] = dict->value_bytes, [BYTE] = 1, [UINT] = 4, [ULONG] = 8
    };
    return bytes[p->element];
}

size_t ordo_parameter_count(const struct ordo_parameter *p, const struct ordo_request *r)
{
    return p->flags & CAPACITY ? r->capacity : p->flags & ONE_MORE ? r->count + 1 : r->count;
}

static ordo_status check_arrays(const ordo_dict *dict, const struct ordo_method *m, const struct ordo_request *r)
{
    struct ordo_array arrays[ORDO_PARAMETERS_MAX];
    size_t            n = 0, n_outputs = 0;
    for (const struct ordo_parameter *p = m->parameters; p->name; p++, n++) {
        const bool   absent = (p->flags & OPTIONAL) && !r->a[n].mem;
        const size_t bytes = absent ? 0 : ordo_parameter_bytes(dict, p);
        arrays[n] = (struct ordo_array) { p->name, r->a[n], ordo_parameter_count(p, r), bytes, bytes };
        n_outputs += (p->flags & OUT) != 0;
    }
    return ordo_check_arrays(dict->dev, arrays, n, n_outputs);
}

static ordo_status run(struct ordo_call *call, ordo_dict *dict, const struct ordo_method *m,
                       const struct ordo_request *r)
{
    if (m->check)
        ORDO_TRY(m->check(dict, r));
    ORDO_REQUIRE_COUNT(dict->dev, "count", r->count);
    ORDO_TRY(check_arrays(dict, m, r));
    if (r->count == 0 && !m->runs_empty)
        return ORDO_OK;
    if (m->manner != ORDO_REPLACE)
        return m->run(dict, call, r);
    ORDO_TRY(begin_change(call, dict));
    ORDO_TRY(m->run(dict, call, r));
    trust(dict);
    return ORDO_OK;
}

static ordo_status query(ordo_dict *dict, const struct ordo_method *m, const struct ordo_request *r,
                         const struct ordo_order *order)
{
    ORDO_DICT_QUERY(dict, m->needs, order, run(&call, dict, m, r));
}

ordo_status ordo_dict_request(ordo_dict *dict, const struct ordo_method *m, const struct ordo_request *r,
                              const struct ordo_order *order)
{
    struct ordo_call call;
    if (m->manner < ORDO_UPDATE)
        return query(dict, m, r, order);
    if (m->manner == ORDO_REPLACE)
        ORDO_TRY(begin(&call, dict, m->needs, order, true));
    else
        ORDO_TRY(ordo_dict_begin_update(&call, dict, m->needs, order));
    return ordo_dict_end(&call, dict, run(&call, dict, m, r));
}

ordo_status ordo_dict_clear(ordo_dict *dict)
{
    struct ordo_call call;
    ORDO_REQUIRE_GIVEN(NULL, dict);
    ORDO_TRY(ordo_call_begin(&call, dict->dev, NULL));
    ordo_dict_drop_aggregates(dict);
    dict->structure->clear(dict);
    trust(dict);
    return ordo_call_end(&call, ORDO_OK);
}

ordo_status ordo_dict_clean_up(ordo_dict *dict, const struct ordo_order *order)
{
    struct ordo_call call;
    ORDO_TRY(ordo_dict_begin_update(&call, dict, ORDO_CAN_COMPACT, order));
    return ordo_dict_end(&call, dict,
                         dict->structure->clean_up ? dict->structure->clean_up(dict, &call) : unable(dict));
}

ordo_status ordo_dict_compact(ordo_dict *dict, const struct ordo_order *order)
{
    struct ordo_call call;
    ORDO_TRY(ordo_dict_begin_update(&call, dict, ORDO_CAN_COMPACT, order));
    return ordo_dict_end(&call, dict, dict->structure->compact(dict, &call));
}

ordo_status ordo_dict_size(ordo_dict *dict, const struct ordo_order *order, size_t *out)
{
    ORDO_REQUIRE_GIVEN(dict ? dict->dev : NULL, out);
    ORDO_DICT_QUERY(dict, ORDO_CAN_FIND, order, dict->structure->size(dict, &call, out));
}

ordo_status ordo_dict_check(ordo_dict *dict, const struct ordo_order *order)
{
    ORDO_DICT_QUERY(dict, ORDO_CAN_BUILD, order, dict->structure->check(dict, &call));
}

static ordo_status statistics(struct ordo_call *call, ordo_dict *dict, struct ordo_statistics *out)
{
    ORDO_TRY(dict->structure->statistics(dict, call, out));
    out->bytes_spare += dict->aggregates.bytes;
    return ORDO_OK;
}

ordo_status ordo_dict_statistics(ordo_dict *dict, const struct ordo_order *order, struct ordo_statistics *out)
{
    ORDO_REQUIRE_GIVEN(dict ? dict->dev : NULL, out);
    ORDO_DICT_QUERY(dict, ORDO_CAN_BUILD, order, statistics(&call, dict, out));
}
