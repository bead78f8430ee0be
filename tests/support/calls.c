/* SPDX-License-Identifier: Apache-2.0 */
/* All public calls on arrays and dictionaries: see calls.h. */
#include "calls.h"

#include <string.h>

#define LENGTH(array)      (sizeof(array) / sizeof *(array))
#define OR_NULL(g, params) ((g)->no_params ? NULL : (params))

/* ---- both forms of each call ------------------------------------------------------------------------------------- */

/* Defines functions that call ordo_NAME and ordo_NAME_host with these arguments. ordo_NAME also gets the order. */
#define CALL(name, ...)                                                                                                \
    static ordo_status call_##name(const struct given *g, const struct ordo_slice a[])                                 \
    {                                                                                                                  \
        return ordo_##name(__VA_ARGS__, g->order);                                                                     \
    }                                                                                                                  \
    static ordo_status call_##name##_host(const struct given *g, void *const a[])                                      \
    {                                                                                                                  \
        return ordo_##name##_host(__VA_ARGS__);                                                                        \
    }

/* ---- primitives -------------------------------------------------------------------------------------------------- */

static uint32_t row_bytes(const struct given *g)
{
    return g->row_bytes ? g->row_bytes : 4;
}

#define SCAN(g) OR_NULL(g, ordo_scan_params(.type = (g)->type, .op = (g)->array_op, .inclusive = (g)->inclusive))
#define COMPACT(g)                                                                                                     \
    OR_NULL(g, ordo_compact_params(.key_bytes = (uint32_t) ordo_type_bytes((g)->type), .value_bytes = (g)->value_bytes))
#define SORT(g)                                                                                                        \
    OR_NULL(g, ordo_sort_params(.key = (g)->type, .value_bytes = (g)->value_bytes, .descending = (g)->descending,      \
                                .first_bit = (g)->first_bit, .bits = (g)->bits))
#define MERGE(g)                                                                                                       \
    OR_NULL(g, ordo_merge_params(.key = (g)->type, .value_bytes = (g)->value_bytes, .descending = (g)->descending))
#define SEARCH(g)                                                                                                      \
    OR_NULL(g, ordo_search_params(.key = (g)->type, .upper = (g)->upper, .sorted_queries = (g)->sorted_queries,        \
                                  .index = (g)->index, .scheme = (g)->scheme))
#define EQUAL(g)                                                                                                       \
    OR_NULL(g, ordo_equal_range_params(.key = (g)->type, .sorted_queries = (g)->sorted_queries, .index = (g)->index))
#define BY_KEY(g)                                                                                                      \
    OR_NULL(g, ordo_reduce_by_key_params(.key = (g)->type, .value = (g)->value, .op = (g)->array_op,                   \
                                         .wide = (g)->wide, .sorted = (g)->sorted, .bits = (g)->bits))
#define UNIQUE(g) OR_NULL(g, ordo_unique_params(.key = (g)->type, .sorted = (g)->sorted, .bits = (g)->bits))
#define TOP(g)                                                                                                         \
    OR_NULL(g, ordo_top_k_params(.key = (g)->type, .value_bytes = (g)->value_bytes, .greatest = (g)->greatest))
#define LOOKUP(g)                                                                                                      \
    OR_NULL(g, ordo_lookup_params(.key = (g)->type, .value_bytes = (g)->value_bytes,                                   \
                                  .sorted_queries = (g)->sorted_queries, .index = (g)->index, .scheme = (g)->scheme))
#define REDUCE(g)  OR_NULL(g, ordo_reduce_params(.type = (g)->type, .op = (g)->array_op))
#define GATHER(g)  OR_NULL(g, ordo_gather_params(.row_bytes = row_bytes(g)))
#define SCATTER(g) OR_NULL(g, ordo_scatter_params(.row_bytes = row_bytes(g), .distinct = (g)->distinct))
#define SELECT(g)  OR_NULL(g, ordo_select_params(.key = (g)->type, .greatest = (g)->greatest))

CALL(scan, g->dev, SCAN(g), a[0], a[1], g->count)
CALL(segmented_scan, g->dev, SCAN(g), a[0], a[1], a[2], g->count)
CALL(reduce, g->dev, REDUCE(g), a[0], g->count, a[1])
CALL(compact, g->dev, COMPACT(g), a[0], a[1], a[2], g->count, a[3], a[4], a[5])
CALL(merge, g->dev, MERGE(g), a[0], a[1], g->count, a[2], a[3], g->second, a[4], a[5])
CALL(merge_runs, g->dev, MERGE(g), a[0], a[1], g->runs, g->n_runs, a[2], a[3])
CALL(search, g->dev, SEARCH(g), a[0], g->second, a[1], g->count, a[2])
CALL(equal_range, g->dev, EQUAL(g), a[0], g->second, a[1], g->count, a[2], a[3])
CALL(lookup, g->dev, LOOKUP(g), a[0], a[1], g->second, a[2], g->count, a[3], a[4])
CALL(reduce_by_key, g->dev, BY_KEY(g), a[0], a[1], g->count, a[2], a[3], a[4], g->room, a[5])
CALL(unique, g->dev, UNIQUE(g), a[0], g->count, a[1], a[2], g->room, a[3])
CALL(gather, g->dev, GATHER(g), a[0], g->second, a[1], g->count, a[2])
CALL(scatter, g->dev, SCATTER(g), a[0], a[1], g->count, a[2], g->second)
CALL(top_k, g->dev, TOP(g), a[0], a[1], g->count, g->k, a[2], a[3], a[4])
CALL(select, g->dev, SELECT(g), a[0], g->count, g->k, a[1], a[2])

/* ordo_sort_host sorts in place. */
static ordo_status call_sort(const struct given *g, const struct ordo_slice a[])
{
    return ordo_sort(g->dev, SORT(g), a[0], a[1], a[2], a[3], g->count, g->order);
}

static ordo_status call_sort_host(const struct given *g, void *const a[])
{
    if (a[0] && a[2])
        memcpy(a[2], a[0], g->n * ordo_type_bytes(g->type));
    if (a[1] && a[3] && (g->value_bytes == 4 || g->value_bytes == 8))
        memcpy(a[3], a[1], g->n * g->value_bytes);
    return ordo_sort_host(g->dev, SORT(g), a[2], a[3], g->count);
}

/* Keys of two columns: all bits of 32, with nulls, and small numbers. */
static const struct ordo_key_field *fields(const struct given *g)
{
    static const struct ordo_key_field two[] = { { ORDO_U32, 0, false, true, false },
                                                 { ORDO_I32, 30, true, false, false } };
    return OR_NULL(g, two);
}
#define N_FIELDS(g) ((g)->n_fields ? (g)->n_fields : 2)

/* Bitmaps of the two columns. Offsets of a bitmap count bits. */
static struct ordo_slice bitmap_at(struct ordo_slice bytes)
{
    return ordo_at(bytes.mem, bytes.at > SIZE_MAX / 8 ? SIZE_MAX - 7 : bytes.at * 8);
}
#define TWO_SLICES(a, b) ((const struct ordo_slice[]) { a, b })

static ordo_status call_key_pack(const struct given *g, const struct ordo_slice a[])
{
    return ordo_key_pack(g->dev, fields(g), N_FIELDS(g), TWO_SLICES(a[0], a[1]),
                         TWO_SLICES(bitmap_at(a[2]), ordo_none()), g->count, a[3], a[4], g->order);
}

static ordo_status call_key_pack_host(const struct given *g, void *const a[])
{
    return ordo_key_pack_host(g->dev, fields(g), N_FIELDS(g), (const void *[]) { a[0], a[1] },
                              (const uint8_t *[]) { a[2], NULL }, g->count, a[3], a[4]);
}

static ordo_status call_key_unpack(const struct given *g, const struct ordo_slice a[])
{
    return ordo_key_unpack(g->dev, fields(g), N_FIELDS(g), a[0], g->count, TWO_SLICES(a[1], a[2]),
                           TWO_SLICES(bitmap_at(a[3]), ordo_none()), g->order);
}

static ordo_status call_key_unpack_host(const struct given *g, void *const a[])
{
    return ordo_key_unpack_host(g->dev, fields(g), N_FIELDS(g), a[0], g->count, (void *[]) { a[1], a[2] },
                                (uint8_t *[]) { a[3], NULL });
}

static size_t n_bytes(const struct given *g)
{
    return g->n_bytes ? g->n_bytes : g->count > SIZE_MAX / CALL_STRING_BYTES ? SIZE_MAX : CALL_STRING_BYTES * g->count;
}

/* Defines both forms of a call on columns of strings. COLUMN(i) has its offsets and bytes in arrays i and i + 1. */
#define COLUMN_CALL(name, ...)                                                                                         \
    static ordo_status call_##name(const struct given *g, const struct ordo_slice a[])                                 \
    {                                                                                                                  \
        typedef struct ordo_strings column;                                                                            \
        return ordo_##name(__VA_ARGS__, g->order);                                                                     \
    }                                                                                                                  \
    static ordo_status call_##name##_host(const struct given *g, void *const a[])                                      \
    {                                                                                                                  \
        typedef struct ordo_host_strings column;                                                                       \
        return ordo_##name##_host(__VA_ARGS__);                                                                        \
    }
#define COLUMN(i)                                                                                                      \
    (g->no_column ? NULL                                                                                               \
                  : &(const column) { a[i], g->offset_bytes ? g->offset_bytes : 4, a[(i) + 1], n_bytes(g), g->count })
#define SORT_STRINGS OR_NULL(g, ordo_sort_strings_params(.descending = g->descending))

COLUMN_CALL(sort_strings, g->dev, SORT_STRINGS, COLUMN(0), a[2], a[3])
COLUMN_CALL(string_index_search, g->strings.index, g->string_search, COLUMN(0), a[2])
COLUMN_CALL(string_index_prefix, g->strings.index, COLUMN(0), a[2], a[3])
COLUMN_CALL(string_index_common, g->strings.index, COLUMN(0), a[2], a[3], a[4])
COLUMN_CALL(string_index_range, g->strings.index, COLUMN(0), COLUMN(2), a[4], a[5])
COLUMN_CALL(string_dict_find, g->strings.dict, COLUMN(0), a[2], a[3])
COLUMN_CALL(string_dict_search, g->strings.dict, g->string_search, COLUMN(0), a[2])
COLUMN_CALL(string_dict_prefix, g->strings.dict, COLUMN(0), a[2], a[3])
COLUMN_CALL(string_dict_range, g->strings.dict, COLUMN(0), COLUMN(2), a[4], a[5])
CALL(string_index_rows, g->strings.index, a[0], a[1], g->room)
CALL(string_index_strings, g->strings.index, a[0], g->count, a[1], a[2], g->room, g->got)

/* Builds an index, and finds the strings of its column. */
static ordo_status call_string_index_build(const struct given *g, const struct ordo_slice a[])
{
    typedef struct ordo_strings column;
    ordo_string_index          *index = NULL;
    ordo_status got = ordo_string_index_build(g->dev, ordo_string_index_params(0), COLUMN(0), g->order, &index);
    if (got == ORDO_OK)
        got = ordo_string_index_search(index, ORDO_STRING_FIND, COLUMN(0), a[2], NULL);
    ordo_string_index_destroy(&index);
    return got;
}

static ordo_status call_string_index_build_host(const struct given *g, void *const a[])
{
    typedef struct ordo_host_strings column;
    ordo_string_index               *index = NULL;
    ordo_status got = ordo_string_index_build_host(g->dev, ordo_string_index_params(0), COLUMN(0), &index);
    if (got == ORDO_OK)
        got = ordo_string_index_search_host(index, ORDO_STRING_FIND, COLUMN(0), a[2]);
    ordo_string_index_destroy(&index);
    return got;
}

#define IN(name, bytes, of)                                                                                            \
    {                                                                                                                  \
        name, bytes, 1, 0, INPUT_##of                                                                                  \
    }
#define VALUES(name)                                                                                                   \
    {                                                                                                                  \
        name, 4, 1, 0, INPUT_RANDOM, .value = true                                                                     \
    }
/* Elements of another number: see enum call_extent. */
#define SIZED(name, of, size)                                                                                          \
    {                                                                                                                  \
        name, 4, 1, 0, INPUT_##of, .extent = EXTENT_##size                                                             \
    }
#define VALUES_SIZED(name, size)                                                                                       \
    {                                                                                                                  \
        name, 4, 1, 0, INPUT_RANDOM, .value = true, .extent = EXTENT_##size                                            \
    }
#define OUT_SIZED(name, times, is_value, size)                                                                         \
    {                                                                                                                  \
        name, 4, times, 0, .output = true, .value = (is_value), .extent = EXTENT_##size                                \
    }
#define OUT(name, bytes, times, more)                                                                                  \
    {                                                                                                                  \
        name, bytes, times, more, .output = true                                                                       \
    }
#define OUT_VALUES(name, times)                                                                                        \
    {                                                                                                                  \
        name, 4, times, 0, .output = true, .value = true                                                               \
    }
#define MAY(name, bytes, times, more)                                                                                  \
    {                                                                                                                  \
        name, bytes, times, more, .output = true, .optional = true                                                     \
    }
/* A column of strings. */
#define STRINGS(offsets, bytes, of) { offsets, 4, 1, 1, INPUT_OFFSETS }, IN_BYTES(bytes, of)
#define IN_BYTES(name, of)                                                                                             \
    {                                                                                                                  \
        name, 1, CALL_STRING_BYTES, 0, INPUT_##of                                                                      \
    }
#define ARRAY(name) "ordo_" #name, call_##name, call_##name##_host

const struct array_call primitive_calls[] = {
    { ARRAY(scan), true, false, { IN("in", 4, RANDOM), OUT("out", 4, 1, 0) } },
    { ARRAY(segmented_scan), true, false, { IN("in", 4, RANDOM), IN("heads", 1, FLAGS), OUT("out", 4, 1, 0) } },
    { ARRAY(reduce), true, false, { IN("in", 4, RANDOM), OUT("out", 4, 0, 1) } },
    { ARRAY(compact),
      false,
      true,
      { IN("keys", 4, RANDOM), VALUES("values"), IN("flags", 1, FLAGS), OUT("keys_out", 4, 1, 0),
        OUT_VALUES("values_out", 1), OUT("kept", 4, 0, 1) } },
    { ARRAY(sort),
      true,
      true,
      { IN("keys_in", 4, RANDOM), VALUES("values_in"), OUT("keys_out", 4, 1, 0), OUT_VALUES("values_out", 1) } },
    { ARRAY(merge),
      true,
      true,
      { IN("a_keys", 4, ASCENDING), VALUES("a_values"), SIZED("b_keys", ASCENDING, SECOND),
        VALUES_SIZED("b_values", SECOND), OUT_SIZED("keys_out", 2, false, BOTH),
        OUT_SIZED("values_out", 2, true, BOTH) } },
    { ARRAY(merge_runs),
      true,
      true,
      { SIZED("keys", ASCENDING, RUNS), VALUES_SIZED("values", RUNS), OUT("keys_out", 4, 1, 0),
        OUT_VALUES("values_out", 1) } },
    { ARRAY(search),
      true,
      false,
      { SIZED("keys", ASCENDING, SECOND), IN("queries", 4, RANDOM), OUT("ranks", 4, 1, 0) } },
    { ARRAY(lookup),
      true,
      true,
      { SIZED("keys", ASCENDING, SECOND), VALUES_SIZED("values", SECOND), IN("queries", 4, RANDOM),
        OUT_VALUES("values_out", 1), MAY("found", 1, 1, 0) } },
    { ARRAY(equal_range),
      true,
      false,
      { SIZED("keys", ASCENDING, SECOND), IN("queries", 4, RANDOM), OUT("lower", 4, 1, 0), OUT("upper", 4, 1, 0) } },
    { ARRAY(reduce_by_key),
      true,
      false,
      { IN("keys", 4, RANDOM), IN("values", 4, RANDOM), OUT("keys_out", 4, CALL_ROOM, 0),
        OUT("values_out", 4, CALL_ROOM, 0), MAY("counts", 4, CALL_ROOM, 0), OUT("groups", 4, 0, 1) } },
    { ARRAY(unique),
      true,
      false,
      { IN("keys", 4, RANDOM), OUT("keys_out", 4, CALL_ROOM, 0), MAY("counts", 4, CALL_ROOM, 0),
        OUT("groups", 4, 0, 1) } },
    { ARRAY(top_k),
      true,
      true,
      { IN("keys", 4, RANDOM),
        VALUES("values"),
        OUT_SIZED("keys_out", 1, false, FIRST_K),
        OUT_SIZED("values_out", 1, true, FIRST_K),
        { "indices", 4, 1, 0, .output = true, .optional = true, .extent = EXTENT_FIRST_K } } },
    { ARRAY(select), true, false, { IN("keys", 4, RANDOM), OUT("key_out", 4, 0, 1), MAY("index_out", 4, 0, 1) } },
    { ARRAY(gather),
      false,
      false,
      { SIZED("rows", RANDOM, SECOND), IN("indices", 4, INDICES), OUT("rows_out", 4, 1, 0) } },
    { ARRAY(scatter),
      false,
      false,
      { IN("rows", 4, RANDOM), IN("indices", 4, INDICES), OUT_SIZED("rows_out", 1, false, SECOND) } },
    { ARRAY(key_pack),
      false,
      false,
      { IN("columns", 4, RANDOM),
        IN("second", 4, RANKS),
        { "valid", 1, 0, 0, INPUT_BITS, .optional = true, .bits = true },
        OUT("keys_out", 8, 1, 0),
        MAY("outside", 4, 0, 2) } },
    { ARRAY(key_unpack),
      false,
      false,
      { IN("keys", 8, RANDOM),
        MAY("columns_out", 4, 1, 0),
        MAY("second_out", 4, 1, 0),
        { "valid_out", 1, 0, 0, .output = true, .optional = true, .bits = true } } },
    { ARRAY(sort_strings),
      false,
      false,
      { STRINGS("offsets", "bytes", FLAGS), OUT("rows_out", 4, 1, 0), MAY("equal_out", 1, 1, 0) } },
    { ARRAY(string_index_build), .array = { STRINGS("offsets", "bytes", FLAGS), OUT("ids", 4, 1, 0) } },
    { ARRAY(string_index_search), .array = { STRINGS("offsets", "bytes", LETTERS), OUT("ids", 4, 1, 0) },
      .object = OBJECT_STRING_INDEX },
    { ARRAY(string_index_prefix),
      .array = { STRINGS("offsets", "bytes", LETTERS), MAY("first", 4, 1, 0), MAY("counts", 4, 1, 0) },
      .object = OBJECT_STRING_INDEX },
    { ARRAY(string_index_common),
      .array = { STRINGS("offsets", "bytes", LETTERS), MAY("lengths", 8, 1, 0), MAY("first", 4, 1, 0),
                 MAY("counts", 4, 1, 0) },
      .object = OBJECT_STRING_INDEX },
    { ARRAY(string_index_range),
      .array = { STRINGS("offsets", "bytes", LETTERS), STRINGS("hi_offsets", "hi_bytes", LETTERS),
                 MAY("first", 4, 1, 0), MAY("counts", 4, 1, 0) },
      .object = OBJECT_STRING_INDEX },
    { ARRAY(string_index_rows), .array = { MAY("starts", 4, 1, 1), MAY("rows", 4, 1, 0) },
      .object = OBJECT_STRING_INDEX },
    { ARRAY(string_index_strings),
      .array = { IN("ids", 4, IDS), OUT("offsets", 8, 1, 1), OUT("bytes", 1, CALL_ROOM, 0) },
      .object = OBJECT_STRING_INDEX },
    { ARRAY(string_dict_find),
      .array = { STRINGS("offsets", "bytes", LETTERS), MAY("values_out", 4, 1, 0), MAY("found", 1, 1, 0) },
      .object = OBJECT_STRING_DICT },
    { ARRAY(string_dict_search), .array = { STRINGS("offsets", "bytes", LETTERS), OUT("ranks", 4, 1, 0) },
      .object = OBJECT_STRING_DICT },
    { ARRAY(string_dict_prefix),
      .array = { STRINGS("offsets", "bytes", LETTERS), MAY("first", 4, 1, 0), MAY("counts", 4, 1, 0) },
      .object = OBJECT_STRING_DICT },
    { ARRAY(string_dict_range),
      .array = { STRINGS("offsets", "bytes", LETTERS), STRINGS("hi_offsets", "hi_bytes", LETTERS),
                 MAY("first", 4, 1, 0), MAY("counts", 4, 1, 0) },
      .object = OBJECT_STRING_DICT },
};
const size_t n_primitive_calls = LENGTH(primitive_calls);

/* ---- dictionaries ------------------------------------------------------------------------------------------------ */

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

/* ---- arguments --------------------------------------------------------------------------------------------------- */

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
    return strncmp(array->name, "rows", 4) == 0 ? row_bytes(g) : array->bytes;
}
