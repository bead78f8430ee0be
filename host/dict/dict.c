/* SPDX-License-Identifier: Apache-2.0 */
/* The interface of dictionaries: checks arguments, puts calls in turn, and hands them to the structure. */
#include "dict/generic/generic.h"

#include "shared/key.h"

#include <stdlib.h>

/* ---- life -------------------------------------------------------------------------------------------------------- */

static ordo_status check_config(ordo_device *dev, const struct ordo_dict_config *config, ordo_dict **out)
{
    ORDO_REQUIRE_GIVEN(dev, out);
    *out = NULL;
    ORDO_REQUIRE_GIVEN(dev, dev);
    ORDO_TRY(ordo_device_check_fork(dev));
    ORDO_REQUIRE_GIVEN(dev, config);
    ORDO_TRY(ordo_check_type(dev, config->key));
    ORDO_TRY(ordo_check_value_bytes(dev, config->value_bytes));
    return ORDO_OK;
}

static void give_spare(struct ordo_reserve *reserve)
{
    ordo_dict *dict = (ordo_dict *) ((char *) reserve - offsetof(ordo_dict, reserve));
    if (dict->structure->give_spare)
        dict->structure->give_spare(dict);
}

ordo_status ordo_dict_create(ordo_device *dev, const struct ordo_structure *structure,
                             const struct ordo_dict_config *config, size_t bytes, ordo_dict **out)
{
    ORDO_TRY(check_config(dev, config, out));
    ordo_dict *dict = calloc(1, bytes);
    ORDO_REQUIRE_MEMORY(dev, dict);
    ordo_device_hold(dev);
    dict->dev = dev;
    dict->structure = structure;
    dict->key = config->key;
    dict->key_bytes = ordo_type_bytes(config->key);
    dict->value_bytes = config->value_bytes;
    dict->reserve.give = give_spare;
    ordo_reserve_join(dev, &dict->reserve);
    *out = dict;
    return ORDO_OK;
}

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
    ordo_device_let_go(dev);
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

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static ordo_status unable(const ordo_dict *dict)
{
    return ORDO_FAIL(dict->dev, ORDO_UNSUPPORTED,
                     "this structure, %s, has no such operation (its header lists those it has)", ordo_dict_name(dict));
}

/* Where commands of a call that changed the dictionary were dropped, as another command in their queue had failed, the
 * structure is checked before anything else. */
static ordo_status validate(struct ordo_call *call, ordo_dict *dict)
{
    dict->in_doubt = ordo_last_call_dropped(dict->dev, &dict->last) || dict->in_doubt;
    if (dict->in_doubt) {
        ORDO_TRY(ordo_call_changes(call));
        ordo_dict_drop_aggregates(dict);
        if (dict->structure->doubt)
            dict->structure->doubt(dict);
        const ordo_status status = dict->structure->check(dict, call);
        dict->broken = status == ORDO_BROKEN;
        dict->in_doubt = status != ORDO_OK && status != ORDO_BROKEN;
        if (dict->in_doubt)
            return status;
    }
    ORDO_REQUIRE(dict->dev, !dict->broken, ORDO_BROKEN,
                 "commands that changed the dictionary were dropped, as another command in their queue had failed, and "
                 "what they left is not sound: build or clear it");
    return ORDO_OK;
}

/* The dictionary is made anew. */
static void trust(ordo_dict *dict)
{
    ordo_last_call_trust(&dict->last);
    dict->in_doubt = dict->broken = false;
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

/* Also after an error: commands may have been enqueued. */
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

#define N_OF(arrays) (sizeof(arrays) / sizeof *(arrays))

/* Bytes of an element of an output that may be left out. */
static size_t if_wanted(struct ordo_slice slice, size_t bytes)
{
    return slice.mem ? bytes : 0;
}

/* ---- updates ----------------------------------------------------------------------------------------------------- */

static ordo_status check_elements(const ordo_dict *dict, struct ordo_slice keys, struct ordo_slice values,
                                  size_t value_bytes, size_t count)
{
    const struct ordo_array arrays[] = {
        { "keys", keys, count, dict->key_bytes },
        { "values", values, count, value_bytes },
    };
    ORDO_REQUIRE_COUNT(dict->dev, "count", count);
    return ordo_check_arrays(dict->dev, arrays, N_OF(arrays), 0);
}

/* What was there does not matter, sound or not. */
static ordo_status build(struct ordo_call *call, ordo_dict *dict, struct ordo_slice keys, struct ordo_slice values,
                         size_t count)
{
    ORDO_TRY(check_elements(dict, keys, values, dict->value_bytes, count));
    ORDO_TRY(begin_change(call, dict));
    if (count > 0)
        ORDO_TRY(dict->structure->build(dict, call, keys, values, count));
    else
        dict->structure->clear(dict);
    trust(dict);
    return ORDO_OK;
}

ordo_status ordo_dict_build(ordo_dict *dict, struct ordo_slice keys, struct ordo_slice values, size_t count,
                            const struct ordo_order *order)
{
    struct ordo_call call;
    ORDO_TRY(begin(&call, dict, ORDO_CAN_BUILD, order, true));
    return ordo_dict_end(&call, dict, build(&call, dict, keys, values, count));
}

static ordo_status update(struct ordo_call *call, ordo_dict *dict, bool erase, struct ordo_slice keys,
                          struct ordo_slice values, size_t count)
{
    ORDO_TRY(check_elements(dict, keys, values, erase ? 0 : dict->value_bytes, count));
    return count ? dict->structure->update(dict, call, erase, keys, values, count) : ORDO_OK;
}

ordo_status ordo_dict_upsert(ordo_dict *dict, struct ordo_slice keys, struct ordo_slice values, size_t count,
                             const struct ordo_order *order)
{
    struct ordo_call call;
    ORDO_TRY(ordo_dict_begin_update(&call, dict, ORDO_CAN_UPDATE, order));
    return ordo_dict_end(&call, dict, update(&call, dict, false, keys, values, count));
}

ordo_status ordo_dict_erase(ordo_dict *dict, struct ordo_slice keys, size_t count, const struct ordo_order *order)
{
    struct ordo_call call;
    ORDO_TRY(ordo_dict_begin_update(&call, dict, ORDO_CAN_UPDATE, order));
    return ordo_dict_end(&call, dict, update(&call, dict, true, keys, ordo_none(), count));
}

static ordo_status insert(struct ordo_call *call, ordo_dict *dict, struct ordo_slice keys, struct ordo_slice values,
                          size_t count, struct ordo_slice inserted)
{
    const struct ordo_array arrays[] = {
        { "keys", keys, count, dict->key_bytes },
        { "values", values, count, dict->value_bytes },
        { "inserted", inserted, count, if_wanted(inserted, 1) },
    };
    ORDO_REQUIRE_COUNT(dict->dev, "count", count);
    ORDO_TRY(ordo_check_arrays(dict->dev, arrays, N_OF(arrays), 1));
    return count ? ordo_dict_insert_enqueue(dict, call, keys, values, count, inserted) : ORDO_OK;
}

ordo_status ordo_dict_insert(ordo_dict *dict, struct ordo_slice keys, struct ordo_slice values, size_t count,
                             struct ordo_slice inserted, const struct ordo_order *order)
{
    struct ordo_call call;
    ORDO_TRY(ordo_dict_begin_update(&call, dict, ORDO_CAN_UPDATE, order));
    return ordo_dict_end(&call, dict, insert(&call, dict, keys, values, count, inserted));
}

static ordo_status combine(struct ordo_call *call, ordo_dict *dict, const struct ordo_combines *c)
{
    ORDO_TRY(ordo_dict_check_numbers(dict, c->value, c->op));
    ORDO_TRY(check_elements(dict, c->keys, c->values, dict->value_bytes, c->count));
    return c->count ? ordo_dict_combine_enqueue(dict, call, c) : ORDO_OK;
}

ordo_status ordo_dict_combine(ordo_dict *dict, ordo_type value, ordo_op op, struct ordo_slice keys,
                              struct ordo_slice values, size_t count, const struct ordo_order *order)
{
    const struct ordo_combines c = { value, op, keys, values, count };
    struct ordo_call           call;
    ORDO_TRY(ordo_dict_begin_update(&call, dict, ORDO_CAN_UPDATE, order));
    return ordo_dict_end(&call, dict, combine(&call, dict, &c));
}

static ordo_status erase_range(struct ordo_call *call, ordo_dict *dict, const struct ordo_erasures *e)
{
    const struct ordo_array arrays[] = {
        { "lo", e->lo, e->count, dict->key_bytes },
        { "hi", e->hi, e->count, dict->key_bytes },
        { "erased", e->erased, e->count, if_wanted(e->erased, sizeof(cl_uint)) },
    };
    ORDO_REQUIRE_COUNT(dict->dev, "count", e->count);
    ORDO_TRY(ordo_check_arrays(dict->dev, arrays, N_OF(arrays), 1));
    return e->count ? ordo_dict_erase_range_enqueue(dict, call, e) : ORDO_OK;
}

ordo_status ordo_dict_erase_range(ordo_dict *dict, struct ordo_slice lo, struct ordo_slice hi, size_t count,
                                  struct ordo_slice erased, const struct ordo_order *order)
{
    const struct ordo_erasures e = { lo, hi, count, erased };
    struct ordo_call           call;
    ORDO_TRY(ordo_dict_begin_update(&call, dict, ORDO_CAN_ORDER, order));
    return ordo_dict_end(&call, dict, erase_range(&call, dict, &e));
}

static ordo_status ends(struct ordo_call *call, ordo_dict *dict, const struct ordo_ends *e, size_t *got)
{
    const struct ordo_array arrays[] = {
        { "keys_out", e->keys_out, e->count, if_wanted(e->keys_out, dict->key_bytes) },
        { "values_out", e->values_out, e->count, if_wanted(e->values_out, dict->value_bytes) },
    };
    *got = 0;
    ORDO_REQUIRE_COUNT(dict->dev, "count", e->count);
    ORDO_TRY(ordo_check_arrays(dict->dev, arrays, N_OF(arrays), 2));
    return e->count ? ordo_dict_ends_enqueue(dict, call, e, got) : ORDO_OK;
}

static ordo_status take(ordo_dict *dict, bool last, size_t count, struct ordo_slice keys_out,
                        struct ordo_slice values_out, size_t *taken, const struct ordo_order *order)
{
    const struct ordo_ends e = { last, true, count, keys_out, values_out };
    struct ordo_call       call;
    ORDO_REQUIRE_GIVEN(dict ? dict->dev : NULL, taken);
    ORDO_TRY(ordo_dict_begin_update(&call, dict, ORDO_CAN_ORDER, order));
    return ordo_dict_end(&call, dict, ends(&call, dict, &e, taken));
}

ordo_status ordo_dict_take_first(ordo_dict *dict, size_t count, struct ordo_slice keys_out,
                                 struct ordo_slice values_out, size_t *taken, const struct ordo_order *order)
{
    return take(dict, false, count, keys_out, values_out, taken, order);
}

ordo_status ordo_dict_take_last(ordo_dict *dict, size_t count, struct ordo_slice keys_out, struct ordo_slice values_out,
                                size_t *taken, const struct ordo_order *order)
{
    return take(dict, true, count, keys_out, values_out, taken, order);
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

/* ---- queries ----------------------------------------------------------------------------------------------------- */

static ordo_status find(struct ordo_call *call, ordo_dict *dict, const struct ordo_finds *f)
{
    const struct ordo_array arrays[] = {
        { "keys", f->keys, f->count, dict->key_bytes },
        { "values_out", f->values_out, f->count, if_wanted(f->values_out, dict->value_bytes) },
        { "found", f->found, f->count, if_wanted(f->found, 1) },
    };
    ORDO_REQUIRE_COUNT(dict->dev, "count", f->count);
    ORDO_TRY(ordo_check_arrays(dict->dev, arrays, N_OF(arrays), 2));
    if (f->count == 0 || (!f->values_out.mem && !f->found.mem))
        return ORDO_OK;
    return dict->structure->find(dict, call, f);
}

ordo_status ordo_dict_find(ordo_dict *dict, struct ordo_slice keys, size_t count, struct ordo_slice values_out,
                           struct ordo_slice found, const struct ordo_order *order)
{
    const struct ordo_finds finds = { keys, count, false, values_out, found };
    ORDO_DICT_QUERY(dict, ORDO_CAN_FIND, order, find(&call, dict, &finds));
}

ordo_status ordo_dict_contains(ordo_dict *dict, struct ordo_slice keys, size_t count, struct ordo_slice found,
                               const struct ordo_order *order)
{
    if (count > 0 && !found.mem)
        return ORDO_FAIL(dict ? dict->dev : NULL, ORDO_INVALID, "found is absent");
    return ordo_dict_find(dict, keys, count, ordo_none(), found, order);
}

static ordo_status count_keys(struct ordo_call *call, ordo_dict *dict, const struct ordo_counts *c)
{
    const struct ordo_array arrays[] = {
        { "lo", c->lo, c->count, dict->key_bytes },
        { "hi", c->hi, c->count, dict->key_bytes },
        { "counts", c->counts, c->count, sizeof(cl_uint) },
    };
    ORDO_REQUIRE_COUNT(dict->dev, "count", c->count);
    ORDO_TRY(ordo_check_arrays(dict->dev, arrays, N_OF(arrays), 1));
    return c->count ? dict->structure->count(dict, call, c) : ORDO_OK;
}

ordo_status ordo_dict_count(ordo_dict *dict, struct ordo_slice lo, struct ordo_slice hi, size_t count,
                            struct ordo_slice counts, const struct ordo_order *order)
{
    const struct ordo_counts c = { lo, hi, count, counts };
    ORDO_DICT_QUERY(dict, ORDO_CAN_ORDER, order, count_keys(&call, dict, &c));
}

/* The last offset; waits. */
static ordo_status read_needed(struct ordo_call *call, const struct ordo_ranges *r, size_t *needed)
{
    cl_ulong total = 0;
    ORDO_TRY(ordo_call_read(call, r->offsets.mem, (r->offsets.at + r->count) * sizeof total, &total, sizeof total));
    *needed = (size_t) total;
    if (*needed > r->capacity)
        return ORDO_FAIL(call->dev, ORDO_TOO_SMALL, "the ranges hold %zu elements, room is for %zu", *needed,
                         r->capacity);
    return ORDO_OK;
}

static ordo_status range(struct ordo_call *call, ordo_dict *dict, const struct ordo_ranges *r, size_t *needed)
{
    const struct ordo_array arrays[] = {
        { "lo", r->lo, r->count, dict->key_bytes },
        { "hi", r->hi, r->count, dict->key_bytes },
        { "offsets", r->offsets, r->count + 1, sizeof(cl_ulong) },
        { "keys_out", r->keys_out, r->capacity, if_wanted(r->keys_out, dict->key_bytes) },
        { "values_out", r->values_out, r->capacity, if_wanted(r->values_out, dict->value_bytes) },
    };
    ORDO_REQUIRE_COUNT(dict->dev, "count", r->count);
    ORDO_TRY(ordo_check_arrays(dict->dev, arrays, N_OF(arrays), 3));
    if (r->count == 0)
        ORDO_TRY(ordo_call_fill(call, r->offsets.mem, r->offsets.at * sizeof(cl_ulong), sizeof(cl_ulong), 0));
    else
        ORDO_TRY(dict->structure->range(dict, call, r));
    return needed ? read_needed(call, r, needed) : ORDO_OK;
}

ordo_status ordo_dict_range(ordo_dict *dict, struct ordo_slice lo, struct ordo_slice hi, size_t count,
                            struct ordo_slice offsets, struct ordo_slice keys_out, struct ordo_slice values_out,
                            size_t capacity, size_t *needed, const struct ordo_order *order)
{
    const struct ordo_ranges r = { lo, hi, count, offsets, false, keys_out, values_out, capacity, needed != NULL };
    ORDO_DICT_QUERY(dict, ORDO_CAN_ORDER, order, range(&call, dict, &r, needed));
}

static ordo_status range_limited(struct ordo_call *call, ordo_dict *dict, const struct ordo_limited_ranges *r,
                                 size_t *needed)
{
    const struct ordo_array arrays[] = {
        { "lo", r->lo, r->count, dict->key_bytes },
        { "hi", r->hi, r->count, dict->key_bytes },
        { "limits", r->limits, r->count, if_wanted(r->limits, sizeof(cl_uint)) },
        { "offsets", r->offsets, r->count + 1, sizeof(cl_ulong) },
        { "keys_out", r->keys_out, r->capacity, if_wanted(r->keys_out, dict->key_bytes) },
        { "values_out", r->values_out, r->capacity, if_wanted(r->values_out, dict->value_bytes) },
    };
    const struct ordo_ranges all = { .offsets = r->offsets, .count = r->count, .capacity = r->capacity };
    ORDO_REQUIRE_COUNT(dict->dev, "count", r->count);
    ORDO_TRY(ordo_check_arrays(dict->dev, arrays, N_OF(arrays), 3));
    if (r->count == 0)
        ORDO_TRY(ordo_call_fill(call, r->offsets.mem, r->offsets.at * sizeof(cl_ulong), sizeof(cl_ulong), 0));
    else
        ORDO_TRY(ordo_dict_limited_enqueue(dict, call, r, needed != NULL));
    return needed ? read_needed(call, &all, needed) : ORDO_OK;
}

ordo_status ordo_dict_range_limited(ordo_dict *dict, const struct ordo_limited_ranges *ranges, size_t *needed,
                                    const struct ordo_order *order)
{
    ORDO_REQUIRE_GIVEN(dict ? dict->dev : NULL, ranges);
    ORDO_DICT_QUERY(dict, ORDO_CAN_ORDER, order, range_limited(&call, dict, ranges, needed));
}

static ordo_status aggregate(struct ordo_call *call, ordo_dict *dict, const struct ordo_aggregates *a)
{
    const struct ordo_array arrays[] = {
        { "lo", a->lo, a->count, dict->key_bytes },
        { "hi", a->hi, a->count, dict->key_bytes },
        { "results", a->results, a->count, dict->value_bytes },
        { "counts", a->counts, a->count, if_wanted(a->counts, sizeof(cl_uint)) },
    };
    ORDO_TRY(ordo_dict_check_numbers(dict, a->value, a->op));
    ORDO_REQUIRE_COUNT(dict->dev, "count", a->count);
    ORDO_TRY(ordo_check_arrays(dict->dev, arrays, N_OF(arrays), 2));
    return a->count ? ordo_dict_aggregate_enqueue(dict, call, a) : ORDO_OK;
}

ordo_status ordo_dict_aggregate(ordo_dict *dict, ordo_type value, ordo_op op, struct ordo_slice lo,
                                struct ordo_slice hi, size_t count, struct ordo_slice results, struct ordo_slice counts,
                                const struct ordo_order *order)
{
    const struct ordo_aggregates a = { value, op, lo, hi, count, results, counts };
    ORDO_DICT_QUERY(dict, ORDO_CAN_ORDER, order, aggregate(&call, dict, &a));
}

static ordo_status check_seeks(const ordo_dict *dict, const struct ordo_seeks *s)
{
    const struct ordo_array arrays[] = {
        { "keys", s->keys, s->count, dict->key_bytes },
        { "keys_out", s->keys_out, s->count, if_wanted(s->keys_out, dict->key_bytes) },
        { "values_out", s->values_out, s->count, if_wanted(s->values_out, dict->value_bytes) },
        { "found", s->found, s->count, if_wanted(s->found, 1) },
    };
    ORDO_REQUIRE(dict->dev, s->relation >= ORDO_LT && s->relation <= ORDO_GT, ORDO_INVALID,
                 "%d is no relation (ordo_relation)", (int) s->relation);
    ORDO_REQUIRE_COUNT(dict->dev, "count", s->count);
    return ordo_check_arrays(dict->dev, arrays, N_OF(arrays), 3);
}

static ordo_status seek(struct ordo_call *call, ordo_dict *dict, const struct ordo_seeks *s)
{
    ORDO_TRY(check_seeks(dict, s));
    if (s->count == 0 || (!s->keys_out.mem && !s->values_out.mem && !s->found.mem))
        return ORDO_OK;
    return dict->structure->seek(dict, call, s);
}

ordo_status ordo_dict_seek(ordo_dict *dict, ordo_relation relation, struct ordo_slice keys, size_t count,
                           struct ordo_slice keys_out, struct ordo_slice values_out, struct ordo_slice found,
                           const struct ordo_order *order)
{
    const struct ordo_seeks s = { relation, keys, count, keys_out, values_out, found, 0 };
    ORDO_DICT_QUERY(dict, ORDO_CAN_ORDER, order, seek(&call, dict, &s));
}

static ordo_status seek_within(struct ordo_call *call, ordo_dict *dict, const struct ordo_seeks *s,
                               struct ordo_slice bounds)
{
    const struct ordo_array arrays[] = {
        { "bounds", bounds, s->count, dict->key_bytes },
        { "keys_out", s->keys_out, s->count, if_wanted(s->keys_out, dict->key_bytes) },
        { "values_out", s->values_out, s->count, if_wanted(s->values_out, dict->value_bytes) },
        { "found", s->found, s->count, if_wanted(s->found, 1) },
    };
    ORDO_TRY(check_seeks(dict, s));
    ORDO_TRY(ordo_check_arrays(dict->dev, arrays, N_OF(arrays), 3));
    if (s->count == 0 || (!s->keys_out.mem && !s->values_out.mem && !s->found.mem))
        return ORDO_OK;
    return ordo_dict_seek_within_enqueue(dict, call, s, bounds);
}

ordo_status ordo_dict_seek_within(ordo_dict *dict, ordo_relation relation, struct ordo_slice keys,
                                  struct ordo_slice bounds, size_t count, struct ordo_slice keys_out,
                                  struct ordo_slice values_out, struct ordo_slice found, const struct ordo_order *order)
{
    const struct ordo_seeks s = { relation, keys, count, keys_out, values_out, found, 0 };
    ORDO_DICT_QUERY(dict, ORDO_CAN_ORDER, order, seek_within(&call, dict, &s, bounds));
}

static ordo_status rank(struct ordo_call *call, ordo_dict *dict, ordo_relation relation, const struct ordo_ranks *r)
{
    const struct ordo_array arrays[] = {
        { "keys", r->keys, r->count, dict->key_bytes },
        { "ranks", r->ranks, r->count, sizeof(cl_uint) },
    };
    ORDO_REQUIRE(dict->dev, relation == ORDO_LT || relation == ORDO_LE, ORDO_INVALID,
                 "relation is %d: ranks are of ORDO_LT and ORDO_LE", (int) relation);
    ORDO_REQUIRE_COUNT(dict->dev, "count", r->count);
    ORDO_TRY(ordo_check_arrays(dict->dev, arrays, N_OF(arrays), 1));
    return r->count ? dict->structure->rank(dict, call, r) : ORDO_OK;
}

ordo_status ordo_dict_rank(ordo_dict *dict, ordo_relation relation, struct ordo_slice keys, size_t count,
                           struct ordo_slice ranks, const struct ordo_order *order)
{
    const struct ordo_ranks r = { relation == ORDO_LE, keys, count, ranks };
    ORDO_DICT_QUERY(dict, ORDO_CAN_ORDER, order, rank(&call, dict, relation, &r));
}

static ordo_status select_ranks(struct ordo_call *call, ordo_dict *dict, const struct ordo_selects *s)
{
    const struct ordo_array arrays[] = {
        { "ranks", s->ranks, s->count, sizeof(cl_uint) },
        { "keys_out", s->keys_out, s->count, if_wanted(s->keys_out, dict->key_bytes) },
        { "values_out", s->values_out, s->count, if_wanted(s->values_out, dict->value_bytes) },
        { "found", s->found, s->count, if_wanted(s->found, 1) },
    };
    ORDO_REQUIRE_COUNT(dict->dev, "count", s->count);
    ORDO_TRY(ordo_check_arrays(dict->dev, arrays, N_OF(arrays), 3));
    if (s->count == 0 || (!s->keys_out.mem && !s->values_out.mem && !s->found.mem))
        return ORDO_OK;
    return dict->structure->select(dict, call, s);
}

ordo_status ordo_dict_select(ordo_dict *dict, struct ordo_slice ranks, size_t count, struct ordo_slice keys_out,
                             struct ordo_slice values_out, struct ordo_slice found, const struct ordo_order *order)
{
    const struct ordo_selects s = { ranks, count, keys_out, values_out, found };
    ORDO_DICT_QUERY(dict, ORDO_CAN_ORDER, order, select_ranks(&call, dict, &s));
}

static ordo_status peek(ordo_dict *dict, bool last, size_t count, struct ordo_slice keys_out,
                        struct ordo_slice values_out, size_t *got, const struct ordo_order *order)
{
    const struct ordo_ends e = { last, false, count, keys_out, values_out };
    ORDO_REQUIRE_GIVEN(dict ? dict->dev : NULL, got);
    ORDO_DICT_QUERY(dict, ORDO_CAN_ORDER, order, ends(&call, dict, &e, got));
}

ordo_status ordo_dict_peek_first(ordo_dict *dict, size_t count, struct ordo_slice keys_out,
                                 struct ordo_slice values_out, size_t *got, const struct ordo_order *order)
{
    return peek(dict, false, count, keys_out, values_out, got, order);
}

ordo_status ordo_dict_peek_last(ordo_dict *dict, size_t count, struct ordo_slice keys_out, struct ordo_slice values_out,
                                size_t *got, const struct ordo_order *order)
{
    return peek(dict, true, count, keys_out, values_out, got, order);
}

/* The element nearest to one end of all keys, by a seek from the least or greatest key that there can be. */
static ordo_status seek_end(struct ordo_call *call, ordo_dict *dict, struct ordo_seeks *s)
{
    const uint64_t key = ordo_dict_end_key(dict, s->relation != ORDO_GE);
    ORDO_TRY(ordo_call_scratch(call, sizeof key, &s->keys.mem));
    ORDO_TRY(ordo_call_fill(call, s->keys.mem, 0, 4, (uint32_t) key));
    ORDO_TRY(ordo_call_fill(call, s->keys.mem, 4, 4, (uint32_t) (key >> 32)));
    return seek(call, dict, s);
}

static ordo_status find_end(ordo_dict *dict, ordo_relation relation, struct ordo_slice key_out,
                            struct ordo_slice value_out, struct ordo_slice found, const struct ordo_order *order)
{
    struct ordo_seeks s = { relation, ordo_none(), 1, key_out, value_out, found, 0 };
    ORDO_DICT_QUERY(dict, ORDO_CAN_ORDER, order, seek_end(&call, dict, &s));
}

ordo_status ordo_dict_first(ordo_dict *dict, struct ordo_slice key_out, struct ordo_slice value_out,
                            struct ordo_slice found, const struct ordo_order *order)
{
    return find_end(dict, ORDO_GE, key_out, value_out, found, order);
}

ordo_status ordo_dict_last(ordo_dict *dict, struct ordo_slice key_out, struct ordo_slice value_out,
                           struct ordo_slice found, const struct ordo_order *order)
{
    return find_end(dict, ORDO_LE, key_out, value_out, found, order);
}

ordo_status ordo_dict_size(ordo_dict *dict, const struct ordo_order *order, size_t *out)
{
    ORDO_REQUIRE_GIVEN(dict ? dict->dev : NULL, out);
    ORDO_DICT_QUERY(dict, ORDO_CAN_FIND, order, dict->structure->size(dict, &call, out));
}

static ordo_status export_all(struct ordo_call *call, ordo_dict *dict, struct ordo_slice keys_out,
                              struct ordo_slice values_out, size_t capacity, size_t *count)
{
    const struct ordo_array arrays[] = {
        { "keys_out", keys_out, capacity, dict->key_bytes },
        { "values_out", values_out, capacity, if_wanted(values_out, dict->value_bytes) },
    };
    ORDO_TRY(ordo_check_arrays(dict->dev, arrays, N_OF(arrays), 2));
    return dict->structure->export_all(dict, call, keys_out, values_out, capacity, count);
}

ordo_status ordo_dict_export(ordo_dict *dict, struct ordo_slice keys_out, struct ordo_slice values_out, size_t capacity,
                             size_t *count, const struct ordo_order *order)
{
    ORDO_REQUIRE_GIVEN(dict ? dict->dev : NULL, count);
    ORDO_DICT_QUERY(dict, ORDO_CAN_FIND, order, export_all(&call, dict, keys_out, values_out, capacity, count));
}

/* ---- mixed batches ----------------------------------------------------------------------------------------------- */

static ordo_status check_batch(const ordo_dict *dict, const struct ordo_batch *b)
{
    const size_t            kb = dict->key_bytes, vb = dict->value_bytes;
    const struct ordo_array arrays[] = {
        { "codes", b->codes, b->count, 1 },
        { "keys", b->keys, b->count, kb },
        { "his", b->his, b->count, if_wanted(b->his, kb) },
        { "values", b->values, b->count, if_wanted(b->values, vb) },
        { "found", b->found, b->count, if_wanted(b->found, 1) },
        { "keys_out", b->keys_out, b->count, if_wanted(b->keys_out, kb) },
        { "values_out", b->values_out, b->count, if_wanted(b->values_out, vb) },
        { "counts", b->counts, b->count, if_wanted(b->counts, sizeof(cl_uint)) },
        { "offsets", b->offsets, b->count + 1, if_wanted(b->offsets, sizeof(cl_ulong)) },
        { "range_keys", b->range_keys, b->range_capacity, if_wanted(b->range_keys, kb) },
        { "range_values", b->range_values, b->range_capacity, if_wanted(b->range_values, vb) },
    };
    ORDO_REQUIRE_COUNT(dict->dev, "count", b->count);
    return ordo_check_arrays(dict->dev, arrays, N_OF(arrays), 7);
}

static ordo_status apply(struct ordo_call *call, ordo_dict *dict, const struct ordo_batch *batch, size_t *needed)
{
    if (needed)
        *needed = 0;
    ORDO_TRY(check_batch(dict, batch));
    if (batch->count > 0)
        return ordo_dict_apply_enqueue(dict, call, batch, needed);
    if (!batch->offsets.mem)
        return ORDO_OK;
    return ordo_call_fill(call, batch->offsets.mem, batch->offsets.at * sizeof(cl_ulong), sizeof(cl_ulong), 0);
}

ordo_status ordo_dict_apply(ordo_dict *dict, const struct ordo_batch *batch, size_t *needed,
                            const struct ordo_order *order)
{
    struct ordo_call call;
    ORDO_REQUIRE_GIVEN(dict ? dict->dev : NULL, batch);
    ORDO_TRY(ordo_dict_begin_update(&call, dict, ORDO_CAN_APPLY, order));
    return ordo_dict_end(&call, dict, apply(&call, dict, batch, needed));
}

/* ---- operations side by side ------------------------------------------------------------------------------------- */

static ordo_status check_concurrent(const ordo_dict *dict, const struct ordo_concurrent_batch *b)
{
    const size_t            kb = dict->key_bytes, vb = dict->value_bytes;
    const struct ordo_array arrays[] = {
        { "codes", b->codes, b->count, 1 },
        { "keys", b->keys, b->count, kb },
        { "his", b->his, b->count, if_wanted(b->his, kb) },
        { "values", b->values, b->count, if_wanted(b->values, vb) },
        { "rooms", b->rooms, b->count + 1, if_wanted(b->rooms, sizeof(cl_ulong)) },
        { "found", b->found, b->count, if_wanted(b->found, 1) },
        { "keys_out", b->keys_out, b->count, if_wanted(b->keys_out, kb) },
        { "values_out", b->values_out, b->count, if_wanted(b->values_out, vb) },
        { "counts", b->counts, b->count, if_wanted(b->counts, sizeof(cl_uint)) },
        { "outcomes", b->outcomes, b->count, if_wanted(b->outcomes, 1) },
        { "range_keys", b->range_keys, b->range_capacity, if_wanted(b->range_keys, kb) },
        { "range_values", b->range_values, b->range_capacity, if_wanted(b->range_values, vb) },
    };
    ORDO_REQUIRE_COUNT(dict->dev, "count", b->count);
    return ordo_check_arrays(dict->dev, arrays, N_OF(arrays), 7);
}

static ordo_status apply_concurrent(struct ordo_call *call, ordo_dict *dict, const struct ordo_concurrent_batch *batch)
{
    ORDO_TRY(check_concurrent(dict, batch));
    return batch->count ? dict->structure->apply_concurrent(dict, call, batch) : ORDO_OK;
}

ordo_status ordo_dict_apply_concurrent(ordo_dict *dict, const struct ordo_concurrent_batch *batch,
                                       const struct ordo_order *order)
{
    struct ordo_call call;
    ORDO_REQUIRE_GIVEN(dict ? dict->dev : NULL, batch);
    ORDO_TRY(ordo_dict_begin_update(&call, dict, ORDO_CAN_CONCURRENT, order));
    return ordo_dict_end(&call, dict, apply_concurrent(&call, dict, batch));
}

/* ---- what is inside ---------------------------------------------------------------------------------------------- */

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
