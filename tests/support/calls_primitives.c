/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of primitives and on strings: see calls.h. */
#include "call_forms.h"

#include <string.h>

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
#define GATHER(g)  OR_NULL(g, ordo_gather_params(.row_bytes = call_row_bytes(g)))
#define SCATTER(g) OR_NULL(g, ordo_scatter_params(.row_bytes = call_row_bytes(g), .distinct = (g)->distinct))
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
    if (a[1] && a[3] && (g->value_bytes == 4 || g->value_bytes == 8 || g->value_bytes == 16))
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
COLUMN_CALL(gather_strings, g->dev, COLUMN(0), a[2], g->count, a[3], a[4], 4 * g->room, g->got)
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
    { ARRAY(gather_strings), .array = { STRINGS("offsets", "bytes", FLAGS), IN("rows", 4, IDS),
                                        OUT("offsets_out", 8, 1, 1), OUT("bytes_out", 1, (size_t) 4 * CALL_ROOM, 0) } },
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
