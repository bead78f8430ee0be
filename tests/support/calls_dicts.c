/* SPDX-License-Identifier: Apache-2.0 */
/* Calls on dictionaries: see calls.h. */
#include "call_forms.h"

CALL(dict_build, g->dict, a[0], a[1], g->count)
CALL(dict_upsert, g->dict, a[0], a[1], g->count)
CALL(dict_insert, g->dict, a[0], a[1], g->count, a[2])
CALL(dict_erase, g->dict, a[0], g->count)
CALL(dict_combine, g->dict, g->value, g->op, a[0], a[1], g->count)
CALL(dict_erase_range, g->dict, a[0], a[1], g->count, a[2])
CALL(dict_find, g->dict, a[0], g->count, a[1], a[2])
CALL(dict_contains, g->dict, a[0], g->count, a[1])
CALL(dict_count, g->dict, a[0], a[1], g->count, a[2])
CALL(dict_seek, g->dict, g->relation, a[0], g->count, a[1], a[2], a[3])
CALL(dict_seek_within, g->dict, g->relation, a[0], a[1], g->count, a[2], a[3], a[4])
CALL(dict_first, g->dict, a[0], a[1], a[2])
CALL(dict_last, g->dict, a[0], a[1], a[2])
CALL(dict_select, g->dict, a[0], g->count, a[1], a[2], a[3])
CALL(dict_aggregate, g->dict, g->value, g->op, a[0], a[1], g->count, a[2], a[3])
/* Ranks have ORDO_LE; the default relation is ORDO_GE. */
CALL(dict_rank, g->dict, g->relation == ORDO_GE ? ORDO_LE : g->relation, a[0], g->count, a[1])

/* Where a call writes the number of elements. */
#define COUNT_OF(g, unused) ((g)->no_count ? NULL : (g)->got ? (g)->got : (unused))
static _Thread_local size_t unused;
CALL(dict_export, g->dict, a[0], a[1], g->room, COUNT_OF(g, &unused))
CALL(dict_take_first, g->dict, g->count, a[0], a[1], COUNT_OF(g, &unused))
CALL(dict_take_last, g->dict, g->count, a[0], a[1], COUNT_OF(g, &unused))
CALL(dict_peek_first, g->dict, g->count, a[0], a[1], COUNT_OF(g, &unused))
CALL(dict_peek_last, g->dict, g->count, a[0], a[1], COUNT_OF(g, &unused))

static ordo_status call_dict_range(const struct given *g, const struct ordo_slice a[])
{
    return ordo_dict_range(g->dict, a[0], a[1], g->count, a[2], a[3], a[4], g->room, g->got, g->order);
}

static ordo_status call_dict_range_host(const struct given *g, void *const a[])
{
    size_t needed = 0;
    return ordo_dict_range_host(g->dict, a[0], a[1], g->count, a[2], a[3], a[4], g->room, g->got ? g->got : &needed);
}

#define LIMITED(s)                                                                                                     \
    OR_NULL(g, (&(struct s) { .lo = a[0],                                                                              \
                              .hi = a[1],                                                                              \
                              .count = g->count,                                                                       \
                              .limit = g->limit,                                                                       \
                              .limits = a[2],                                                                          \
                              .descending = !g->ascending,                                                             \
                              .offsets = a[3],                                                                         \
                              .keys_out = a[4],                                                                        \
                              .values_out = a[5],                                                                      \
                              .capacity = g->room }))

static ordo_status call_dict_range_limited(const struct given *g, const struct ordo_slice a[])
{
    return ordo_dict_range_limited(g->dict, LIMITED(ordo_limited_ranges), g->got, g->order);
}

static ordo_status call_dict_range_limited_host(const struct given *g, void *const a[])
{
    return ordo_dict_range_limited_host(g->dict, LIMITED(ordo_host_limited_ranges), g->got);
}

#define BATCH(s)                                                                                                       \
    OR_NULL(g, (&(struct s) { .codes = a[0],                                                                           \
                              .keys = a[1],                                                                            \
                              .hi = a[2],                                                                              \
                              .values = a[3],                                                                          \
                              .count = g->count,                                                                       \
                              .found = a[4],                                                                           \
                              .keys_out = a[5],                                                                        \
                              .values_out = a[6],                                                                      \
                              .counts = a[7],                                                                          \
                              .offsets = a[8],                                                                         \
                              .range_keys = a[9],                                                                      \
                              .range_values = a[10],                                                                   \
                              .range_capacity = g->room,                                                               \
                              .value = g->value,                                                                       \
                              .combine = g->op }))

static ordo_status call_dict_apply(const struct given *g, const struct ordo_slice a[])
{
    return ordo_dict_apply(g->dict, BATCH(ordo_batch), g->got, g->order);
}

static ordo_status call_dict_apply_host(const struct given *g, void *const a[])
{
    return ordo_dict_apply_host(g->dict, BATCH(ordo_host_batch), g->got);
}

#define CONCURRENT(s)                                                                                                  \
    OR_NULL(g, (&(struct s) { .codes = a[0],                                                                           \
                              .keys = a[1],                                                                            \
                              .hi = a[2],                                                                              \
                              .values = a[3],                                                                          \
                              .count = g->count,                                                                       \
                              .rooms = a[4],                                                                           \
                              .found = a[5],                                                                           \
                              .keys_out = a[6],                                                                        \
                              .values_out = a[7],                                                                      \
                              .counts = a[8],                                                                          \
                              .outcomes = a[9],                                                                        \
                              .range_keys = a[10],                                                                     \
                              .range_values = a[11],                                                                   \
                              .range_capacity = g->room }))

static ordo_status call_dict_apply_concurrent(const struct given *g, const struct ordo_slice a[])
{
    return ordo_dict_apply_concurrent(g->dict, CONCURRENT(ordo_concurrent_batch), g->order);
}

static ordo_status call_dict_apply_concurrent_host(const struct given *g, void *const a[])
{
    return ordo_dict_apply_concurrent_host(g->dict, CONCURRENT(ordo_host_concurrent_batch));
}

#define KEYS         IN("keys", 4, RANDOM)
#define GIVEN        IN("values", 4, RANDOM)
#define LO           IN("lo", 4, RANDOM)
#define HI           IN("hi", 4, ABOVE)
#define DICT(name)   "ordo_dict_" #name, call_dict_##name, call_dict_##name##_host, false, false
#define UPDATES      .changes = true
#define UPDATES_ONCE .changes = true, .once = true

const struct array_call dict_calls[] = {
    { DICT(find), { KEYS, MAY("values_out", 4, 1, 0), MAY("found", 1, 1, 0) } },
    { DICT(contains), { KEYS, OUT("found", 1, 1, 0) } },
    { DICT(count), { LO, HI, OUT("counts", 4, 1, 0) }, ORDO_CAN_ORDER },
    { DICT(range),
      { LO, HI, OUT("offsets", 8, 1, 1), MAY("keys_out", 4, CALL_ROOM, 0), MAY("values_out", 4, CALL_ROOM, 0) },
      ORDO_CAN_ORDER },
    { DICT(seek),
      { KEYS, MAY("keys_out", 4, 1, 0), MAY("values_out", 4, 1, 0), MAY("found", 1, 1, 0) },
      ORDO_CAN_ORDER },
    { DICT(first), { MAY("key_out", 4, 0, 1), MAY("value_out", 4, 0, 1), MAY("found", 1, 0, 1) }, ORDO_CAN_ORDER },
    { DICT(last), { MAY("key_out", 4, 0, 1), MAY("value_out", 4, 0, 1), MAY("found", 1, 0, 1) }, ORDO_CAN_ORDER },
    { DICT(export), { OUT("keys_out", 4, CALL_ROOM, 0), MAY("values_out", 4, CALL_ROOM, 0) } },
    { DICT(apply),
      { IN("codes", 1, CODES), KEYS, IN("hi", 4, ABOVE), GIVEN, MAY("found", 1, 1, 0), MAY("keys_out", 4, 1, 0),
        MAY("values_out", 4, 1, 0), MAY("counts", 4, 1, 0), OUT("offsets", 8, 1, 1), MAY("range_keys", 4, CALL_ROOM, 0),
        MAY("range_values", 4, CALL_ROOM, 0) },
      UPDATES },
    /* upserts of distinct keys, because other results depend on the order */
    { DICT(apply_concurrent),
      { IN("codes", 1, UPSERTS),
        IN("keys", 4, DISTINCT),
        { "hi", 4, 1, 0, INPUT_ABOVE, .optional = true },
        GIVEN,
        { "rooms", 8, 1, 1, INPUT_ROOMS, .optional = true },
        MAY("found", 1, 1, 0),
        MAY("keys_out", 4, 1, 0),
        MAY("values_out", 4, 1, 0),
        MAY("counts", 4, 1, 0),
        MAY("outcomes", 1, 1, 0),
        MAY("range_keys", 4, CALL_ROOM, 0),
        MAY("range_values", 4, CALL_ROOM, 0) },
      ORDO_CAN_CONCURRENT,
      UPDATES },
    { DICT(seek_within),
      { KEYS, IN("bounds", 4, ABOVE), MAY("keys_out", 4, 1, 0), MAY("values_out", 4, 1, 0), MAY("found", 1, 1, 0) },
      ORDO_CAN_ORDER },
    { DICT(rank), { KEYS, OUT("ranks", 4, 1, 0) }, ORDO_CAN_ORDER },
    { DICT(select),
      { IN("ranks", 4, RANKS), MAY("keys_out", 4, 1, 0), MAY("values_out", 4, 1, 0), MAY("found", 1, 1, 0) },
      ORDO_CAN_ORDER },
    { DICT(range_limited),
      { LO,
        HI,
        { "limits", 4, 1, 0, INPUT_RANKS, .optional = true },
        OUT("offsets", 8, 1, 1),
        MAY("keys_out", 4, CALL_ROOM, 0),
        MAY("values_out", 4, CALL_ROOM, 0) },
      ORDO_CAN_ORDER },
    { DICT(aggregate), { LO, HI, OUT("results", 4, 1, 0), MAY("counts", 4, 1, 0) }, ORDO_CAN_ORDER },
    { DICT(peek_first), { MAY("keys_out", 4, 1, 0), MAY("values_out", 4, 1, 0) }, ORDO_CAN_ORDER },
    { DICT(peek_last), { MAY("keys_out", 4, 1, 0), MAY("values_out", 4, 1, 0) }, ORDO_CAN_ORDER },
    { DICT(take_first), { MAY("keys_out", 4, 1, 0), MAY("values_out", 4, 1, 0) }, ORDO_CAN_ORDER, UPDATES_ONCE },
    { DICT(take_last), { MAY("keys_out", 4, 1, 0), MAY("values_out", 4, 1, 0) }, ORDO_CAN_ORDER, UPDATES_ONCE },
    { DICT(erase_range), { LO, HI, MAY("erased", 4, 1, 0) }, ORDO_CAN_ORDER, UPDATES },
    { DICT(combine), { KEYS, GIVEN }, UPDATES_ONCE },
    { DICT(insert), { KEYS, GIVEN, MAY("inserted", 1, 1, 0) }, UPDATES },
    { DICT(upsert), { KEYS, GIVEN }, UPDATES },
    { DICT(erase), { KEYS }, UPDATES },
    { DICT(build), { KEYS, GIVEN }, UPDATES },
};
const size_t n_dict_calls = LENGTH(dict_calls);

/* Defines a function that makes a call without a form over host memory. */
#define OTHER(name, ...)                                                                                               \
    static ordo_status call_##name(const struct given *g, const struct ordo_slice a[])                                 \
    {                                                                                                                  \
        (void) a;                                                                                                      \
        return ordo_##name(__VA_ARGS__);                                                                               \
    }
static _Thread_local struct ordo_statistics statistics;
OTHER(dict_clear, g->dict)
OTHER(dict_compact, g->dict, g->order)
OTHER(dict_check, g->dict, g->order)
OTHER(dict_size, g->dict, g->order, COUNT_OF(g, &unused))
OTHER(dict_statistics, g->dict, g->order, &statistics)
OTHER(lsm_cleanup, g->dict, g->order)
CALL(xfast_count_prefix, g->dict, a[0], a[1], g->count, a[2])
CALL(xfast_longest_prefix, g->dict, a[0], g->count, a[1], a[2], a[3])
CALL(hamt_write_roaring, g->dict, a[0], g->room, COUNT_OF(g, &unused))
CALL(hamt_read_roaring, g->dict, a[0], g->room)

#define PLAIN(name) "ordo_" #name, call_##name, NULL, false, false

const struct array_call other_calls[] = {
    { PLAIN(dict_compact) },
    { PLAIN(dict_check) },
    { PLAIN(dict_size) },
    { PLAIN(dict_statistics) },
    { PLAIN(lsm_cleanup), .stem = "lsm" },
    { ARRAY(xfast_count_prefix), .array = { KEYS, IN("lengths", 1, FLAGS), OUT("counts", 4, 1, 0) }, .stem = "xfast" },
    { ARRAY(xfast_longest_prefix),
      .array = { KEYS, MAY("prefixes_out", 4, 1, 0), MAY("values_out", 4, 1, 0), MAY("found", 1, 1, 0) },
      .stem = "xfast" },
    { ARRAY(hamt_write_roaring), .array = { MAY("out", 1, CALL_ROOM, 0) }, .stem = "hamt" },
    { ARRAY(hamt_read_roaring), .array = { IN("bytes", 1, FLAGS) }, .stem = "hamt", UPDATES },
    { PLAIN(dict_clear), UPDATES },
};
const size_t n_other_calls = LENGTH(other_calls);
