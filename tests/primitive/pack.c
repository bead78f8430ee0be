/* SPDX-License-Identifier: Apache-2.0 */
/* Columns packed into keys, and unpacked again. */
#include "tests/support/wide.h"

#include <stdio.h>
#include <stdlib.h>

enum { FIELDS = ORDO_MAX_KEY_FIELDS };

/* A table of random columns. Its values are in range of their fields, unless they are under a null. */
struct table {
    size_t                count, n_fields;
    struct ordo_key_field field[FIELDS];
    uint64_t             *value[FIELDS]; /* as 64 bits, without extension of the sign */
    bool                 *is_null[FIELDS];
    void                 *column[FIELDS]; /* with elements of the type */
    uint8_t              *valid[FIELDS];  /* bitmap from bit 0 on, or NULL */
};

/* ---- the reference ------------------------------------------------------------------------------------------- */

static uint32_t type_bits(ordo_type type)
{
    return (uint32_t) ordo_type_bytes(type) * 8;
}

static uint32_t field_bits(const struct ordo_key_field *field)
{
    return field->bits ? field->bits : type_bits(field->type);
}

static uint64_t low_bits(uint32_t bits)
{
    return UINT64_MAX >> (64 - bits);
}

static uint64_t form_of(ordo_type type, uint64_t value)
{
    const uint32_t word = (uint32_t) value;
    return ordo_type_bytes(type) == 4 ? ordo_key_bits(type, &word) : ordo_key_bits(type, &value);
}

static bool is_signed(ordo_type type)
{
    return type == ORDO_I32 || type == ORDO_I64;
}

/* Ordered form of the least value of a field. */
static uint64_t least_form(const struct ordo_key_field *field)
{
    const uint32_t bits = field_bits(field), all = type_bits(field->type);
    return is_signed(field->type) ? ((uint64_t) 1 << (all - 1)) - ((uint64_t) 1 << (bits - 1)) : 0;
}

/* Whether a value has no place in its field. */
static bool is_outside(const struct ordo_key_field *field, uint64_t value)
{
    const uint64_t form = form_of(field->type, value), least = least_form(field);
    return form < least || form - least > low_bits(field_bits(field));
}

/* Appends the lowest bits of a word, 1 to 64, to a key. */
static struct test_form append(struct test_form key, uint64_t word, uint32_t bits)
{
    if (bits == 64)
        return (struct test_form) { key.low, word };
    return (struct test_form) { key.high << bits | key.low >> (64 - bits), key.low << bits | word };
}

static struct test_form key_on_host(const struct table *table, size_t i)
{
    struct test_form key = { 0, 0 };
    for (size_t f = 0; f < table->n_fields; f++) {
        const struct ordo_key_field *field = &table->field[f];
        const uint32_t               bits = field_bits(field);
        const uint64_t               form = form_of(field->type, table->value[f][i]) - least_form(field);
        const bool                   null = table->is_null[f][i];
        if (field->nullable)
            key = append(key, null == field->nulls_last, 1);
        key = append(key, null ? 0 : field->descending ? low_bits(bits) - form : form, bits);
    }
    return key;
}

static uint32_t total_bits(const struct table *table)
{
    uint32_t bits = 0;
    for (size_t f = 0; f < table->n_fields; f++)
        bits += field_bits(&table->field[f]) + table->field[f].nullable;
    return bits;
}

/* ---- random tables ------------------------------------------------------------------------------------------- */

/* Adds a field of at most `room` bits. Returns its bits. */
static uint32_t add_field(struct test *t, struct table *table, uint32_t room)
{
    struct ordo_key_field *field = &table->field[table->n_fields];
    const bool             nullable = room > 1 && test_below(t, 2);
    uint32_t               most;
    do {
        field->type = test_types[test_below(t, 6)];
        most = type_bits(field->type);
    } while ((field->type == ORDO_F32 || field->type == ORDO_F64) && most > room - nullable);
    if (field->type != ORDO_F32 && field->type != ORDO_F64 && (most > room - nullable || test_below(t, 2)))
        field->bits = 1 + (uint32_t) test_below(t, most < room - nullable ? most : room - nullable);
    field->descending = test_below(t, 2);
    field->nullable = nullable;
    field->nulls_last = test_below(t, 2);
    table->n_fields++;
    return field_bits(field) + nullable;
}

static uint64_t random_value(struct test *t, const struct ordo_key_field *field)
{
    const uint32_t bits = field_bits(field), all = type_bits(field->type);
    const uint64_t extremes[] = { 0, 1, low_bits(bits), low_bits(bits) >> 1, (low_bits(bits) >> 1) + 1 };
    const uint64_t word = (test_below(t, 4) == 0 ? extremes[test_below(t, 5)] : test_random(t)) & low_bits(bits);
    const uint64_t sign = (uint64_t) 1 << (bits - 1);
    return is_signed(field->type) ? ((word ^ sign) - sign) & low_bits(all) : word;
}

/* Fills the columns from value[] and is_null[]. A value under a null is arbitrary. */
static void fill_columns(struct test *t, struct table *table)
{
    for (size_t f = 0; f < table->n_fields; f++) {
        const size_t bytes = ordo_type_bytes(table->field[f].type);
        for (size_t i = 0; i < table->count; i++) {
            const uint64_t wide = table->is_null[f][i] ? test_random(t) : table->value[f][i];
            const uint32_t word = (uint32_t) wide;
            memcpy((uint8_t *) table->column[f] + i * bytes, bytes == 4 ? (const void *) &word : &wide, bytes);
            if (table->valid[f] && !table->is_null[f][i])
                table->valid[f][i / 8] |= (uint8_t) (1 << i % 8);
        }
    }
}

/* Makes a table of the fields that `table` has. */
static void fill_table(struct test *t, struct table *table, size_t count)
{
    table->count = count;
    for (size_t f = 0; f < table->n_fields; f++) {
        const bool has_bitmap = table->field[f].nullable && test_below(t, 5) > 0;
        table->value[f] = test_alloc(count * sizeof(uint64_t));
        table->is_null[f] = test_alloc(count * sizeof(bool));
        table->column[f] = test_alloc(count * ordo_type_bytes(table->field[f].type));
        table->valid[f] = has_bitmap ? test_alloc((count + 7) / 8) : NULL;
        if (has_bitmap)
            memset(table->valid[f], 0, (count + 7) / 8);
        for (size_t i = 0; i < count; i++) {
            table->value[f][i] = random_value(t, &table->field[f]);
            table->is_null[f][i] = has_bitmap && test_below(t, 3) == 0;
        }
    }
    fill_columns(t, table);
}

static struct table make_table(struct test *t, size_t count)
{
    struct table   table = { .count = count };
    const size_t   n_fields = 1 + test_below(t, FIELDS);
    const uint32_t most = 32u << test_below(t, 3);
    uint32_t       used = 0;
    for (size_t f = 0; f < n_fields && used < most; f++)
        used += add_field(t, &table, most - used);
    fill_table(t, &table, count);
    return table;
}

static void free_table(struct table *table)
{
    for (size_t f = 0; f < table->n_fields; f++) {
        free(table->value[f]);
        free(table->is_null[f]);
        free(table->column[f]);
        free(table->valid[f]);
    }
}
#define AUTO_TABLE AUTO(free_table)

/* ---- packing and unpacking ----------------------------------------------------------------------------------- */

static void say_what(struct test *t, const struct table *table)
{
    char   text[500] = "";
    size_t used = 0;
    for (size_t f = 0; f < table->n_fields && used < sizeof text; f++) {
        const struct ordo_key_field *field = &table->field[f];
        used += (size_t) snprintf(text + used, sizeof text - used, "%s%s:%u%s%s", f ? ", " : "",
                                  test_type_name[field->type], (unsigned) field_bits(field),
                                  field->descending ? " descending" : "",
                                  !field->nullable    ? ""
                                  : field->nulls_last ? " nulls last"
                                                      : " nulls first");
    }
    test_context(t, "%zu rows of %s", table->count, text);
}

/* Keys of the table, with elements of the key type. */
static void *keys_on_host(const struct table *table, ordo_type key)
{
    const size_t bytes = ordo_type_bytes(key);
    uint8_t     *keys = test_alloc(table->count * bytes);
    for (size_t i = 0; i < table->count; i++) {
        const struct test_form form = key_on_host(table, i);
        const uint32_t         word = (uint32_t) form.low;
        if (bytes == 16)
            test_form_put(key, form, keys + i * bytes);
        else
            memcpy(keys + i * bytes, bytes == 4 ? (const void *) &word : &form.low, bytes);
    }
    return keys;
}

/* Uploads a bitmap so that it begins at bit `skip` of a byte. */
static struct test_array upload_bitmap(struct test *t, const uint8_t *valid, size_t count, size_t skip)
{
    const size_t       bytes = (count + skip + 7) / 8;
    AUTO_FREE uint8_t *moved = test_alloc(bytes);
    test_random_bytes(t, moved, bytes);
    for (size_t i = 0; i < count; i++) {
        const size_t at = i + skip;
        const int    bit = valid[i / 8] >> i % 8 & 1;
        moved[at / 8] = (uint8_t) ((moved[at / 8] & ~(1 << at % 8)) | bit << at % 8);
    }
    return test_upload(t, moved, bytes, 1, test_below(t, 6));
}

static void try_pack(struct test *t, const struct table *table, ordo_type key, const void *want)
{
    AUTO_ARRAY struct test_array keys = test_upload(t, NULL, table->count, ordo_type_bytes(key), test_below(t, 6));
    struct test_array            column[FIELDS], valid[FIELDS];
    struct ordo_slice            columns[FIELDS], bitmaps[FIELDS];
    for (size_t f = 0; f < table->n_fields; f++) {
        const size_t skip = test_below(t, 8);
        column[f] =
            test_upload(t, table->column[f], table->count, ordo_type_bytes(table->field[f].type), test_below(t, 6));
        columns[f] = test_slice(&column[f]);
        bitmaps[f] = ordo_none();
        if (!table->valid[f])
            continue;
        valid[f] = upload_bitmap(t, table->valid[f], table->count, skip);
        bitmaps[f] = ordo_at(valid[f].mem, valid[f].at * 8 + skip);
    }
    test_ok(t, ordo_key_pack(t->dev, table->field, table->n_fields, columns, bitmaps, table->count, test_slice(&keys),
                             ordo_none(), NULL));
    test_expect(t, key, &keys, want, table->count);
    for (size_t f = 0; f < table->n_fields; f++) {
        test_free(&column[f]);
        if (table->valid[f])
            test_free(&valid[f]);
    }
}

/* The column as an unpack restores it: nulls are 0. */
static void *restored_column(const struct table *table, size_t f)
{
    const size_t bytes = ordo_type_bytes(table->field[f].type);
    uint8_t     *column = test_alloc(table->count * bytes);
    for (size_t i = 0; i < table->count; i++) {
        const uint64_t wide = table->is_null[f][i] ? 0 : table->value[f][i];
        const uint32_t word = (uint32_t) wide;
        memcpy(column + i * bytes, bytes == 4 ? (const void *) &word : &wide, bytes);
    }
    return column;
}

static void *restored_bitmap(const struct table *table, size_t f)
{
    uint8_t *valid = test_alloc((table->count + 7) / 8);
    memset(valid, 0, (table->count + 7) / 8);
    for (size_t i = 0; i < table->count; i++)
        valid[i / 8] |= (uint8_t) (!table->is_null[f][i] << i % 8);
    return valid;
}

static void try_unpack(struct test *t, const struct table *table, ordo_type key, const void *packed)
{
    AUTO_ARRAY struct test_array keys = test_upload(t, packed, table->count, ordo_type_bytes(key), test_below(t, 6));
    const size_t                 skipped = test_below(t, 4) ? FIELDS : test_below(t, table->n_fields);
    struct test_array            column[FIELDS], valid[FIELDS];
    struct ordo_slice            columns[FIELDS], bitmaps[FIELDS];
    for (size_t f = 0; f < table->n_fields; f++) {
        column[f] = test_upload(t, NULL, table->count, ordo_type_bytes(table->field[f].type), test_below(t, 6));
        valid[f] = test_upload(t, NULL, (table->count + 7) / 8, 1, test_below(t, 6));
        columns[f] = f == skipped ? ordo_none() : test_slice(&column[f]);
        bitmaps[f] = table->field[f].nullable ? ordo_at(valid[f].mem, valid[f].at * 8) : ordo_none();
    }
    test_ok(t, ordo_key_unpack(t->dev, table->field, table->n_fields, test_slice(&keys), table->count, columns, bitmaps,
                               NULL));
    for (size_t f = 0; f < table->n_fields; f++) {
        AUTO_FREE void *values = restored_column(table, f), *bits = restored_bitmap(table, f);
        if (f != skipped)
            test_expect(t, table->field[f].type, &column[f], values, table->count);
        if (table->field[f].nullable)
            test_expect(t, ORDO_U32, &valid[f], bits, (table->count + 7) / 8);
        test_free(&column[f]);
        test_free(&valid[f]);
    }
}

static void try_host(struct test *t, const struct table *table, ordo_type key, const void *want)
{
    const size_t    bitmap_bytes = (table->count + 7) / 8;
    AUTO_FREE void *keys = test_alloc(table->count * ordo_type_bytes(key));
    const void     *columns[FIELDS];
    const uint8_t  *valid[FIELDS];
    void           *columns_out[FIELDS] = { NULL };
    uint8_t        *valid_out[FIELDS] = { NULL };
    for (size_t f = 0; f < table->n_fields; f++) {
        columns[f] = table->column[f];
        valid[f] = table->valid[f];
        columns_out[f] = test_alloc(table->count * ordo_type_bytes(table->field[f].type));
        valid_out[f] = table->field[f].nullable ? test_alloc(bitmap_bytes) : NULL;
    }
    test_ok(t, ordo_key_pack_host(t->dev, table->field, table->n_fields, columns, valid, table->count, keys, NULL));
    test_same(t, "keys of host arrays", key, keys, want, table->count);
    test_ok(t, ordo_key_unpack_host(t->dev, table->field, table->n_fields, keys, table->count, columns_out, valid_out));
    for (size_t f = 0; f < table->n_fields; f++) {
        AUTO_FREE void *values = restored_column(table, f), *bits = restored_bitmap(table, f);
        test_same(t, "columns in host arrays", table->field[f].type, columns_out[f], values, table->count);
        if (valid_out[f])
            test_same_bytes(t, "bitmaps in host arrays", valid_out[f], bits, bitmap_bytes);
        free(columns_out[f]);
        free(valid_out[f]);
    }
}

static void try_table(struct test *t, const struct table *table)
{
    struct ordo_key_layout layout;
    say_what(t, table);
    test_ok(t, ordo_key_plan(t->dev, table->field, table->n_fields, &layout));
    test_true(t, layout.bits == total_bits(table));
    test_true(t, layout.key == (layout.bits <= 32 ? ORDO_U32 : layout.bits <= 64 ? ORDO_U64 : ORDO_U128));
    test_true(t, layout.first_bit[table->n_fields - 1] == 0);
    AUTO_FREE void *keys = keys_on_host(table, layout.key);
    try_pack(t, table, layout.key, keys);
    try_unpack(t, table, layout.key, keys);
    try_host(t, table, layout.key, keys);
}

/* ---- tests: columns and keys --------------------------------------------------------------------------------- */

MASK_TEST(pack, any_fields_become_keys_and_columns_again, "", "cpu=0")
{
    for (int round = 0; round < 60; round++) {
        AUTO_TABLE struct table table = make_table(t, test_below(t, 3000));
        try_table(t, &table);
    }
}

MOST_MASKS_TEST(pack, every_row_has_its_key_at_every_seam)
{
    size_t       counts[TEST_SEAMS];
    const size_t n = test_seams(256, 1024, counts);
    for (size_t i = 0; i < n; i++) {
        AUTO_TABLE struct table table = make_table(t, counts[i]);
        try_table(t, &table);
    }
    for (size_t i = 0; i < 3; i++) {
        AUTO_TABLE struct table table = make_table(t, 4095 + i);
        try_table(t, &table);
    }
}

/* ---- tests: order -------------------------------------------------------------------------------------------- */

static int64_t integer_of(ordo_type type, uint64_t value)
{
    return type == ORDO_I32 ? (int32_t) (uint32_t) value : (int64_t) value;
}

/* Compares values of one field as a user would: floats without NaNs and zeros, unsigned integers below 2^63. */
static int compare_values(const struct ordo_key_field *field, uint64_t a, uint64_t b)
{
    const uint32_t words[2] = { (uint32_t) a, (uint32_t) b };
    float          x[2];
    int            sign;
    memcpy(x, words, sizeof x);
    if (field->type == ORDO_F32)
        sign = (x[0] > x[1]) - (x[0] < x[1]);
    else
        sign = (integer_of(field->type, a) > integer_of(field->type, b)) -
               (integer_of(field->type, a) < integer_of(field->type, b));
    return field->descending ? -sign : sign;
}

static int compare_rows(const struct table *table, size_t a, size_t b)
{
    for (size_t f = 0; f < table->n_fields; f++) {
        const struct ordo_key_field *field = &table->field[f];
        const bool                   null_a = table->is_null[f][a], null_b = table->is_null[f][b];
        const int                    nulls = field->nulls_last ? null_a - null_b : null_b - null_a;
        const int of_values = null_a || null_b ? 0 : compare_values(field, table->value[f][a], table->value[f][b]);
        if (nulls || of_values)
            return nulls ? nulls : of_values;
    }
    return 0;
}

/* Rows sorted by their keys are in the order of a comparison, and equal rows in the order of the input. */
static void check_order(struct test *t, const struct table *table)
{
    struct ordo_key_layout layout;
    AUTO_FREE void        *keys = test_alloc(table->count * 16);
    AUTO_FREE uint32_t    *row = test_alloc(table->count * sizeof *row);
    const void            *columns[FIELDS];
    const uint8_t         *valid[FIELDS];
    for (size_t f = 0; f < table->n_fields; f++) {
        columns[f] = table->column[f];
        valid[f] = table->valid[f];
    }
    for (size_t i = 0; i < table->count; i++)
        row[i] = (uint32_t) i;
    say_what(t, table);
    test_ok(t, ordo_key_plan(t->dev, table->field, table->n_fields, &layout));
    test_ok(t, ordo_key_pack_host(t->dev, table->field, table->n_fields, columns, valid, table->count, keys, NULL));
    test_ok(t, ordo_sort_host(t->dev, ordo_sort_params(.key = layout.key, .value_bytes = 4, .bits = layout.bits), keys,
                              row, table->count));
    for (size_t i = 1; i < table->count; i++) {
        const int order = compare_rows(table, row[i - 1], row[i]);
        test_true(t, order < 0 || (order == 0 && row[i - 1] < row[i]));
    }
}

DEVICE_TEST(pack, sorted_keys_order_rows_like_a_comparison)
{
    enum { ROWS = 2000 };
    for (int way = 0; way < 16; way++) {
        const bool              wide = way & 8;
        AUTO_TABLE struct table table = { .n_fields = 3 };
        table.field[0] = (struct ordo_key_field) { ORDO_I32, 4, way & 1, true, way & 2 };
        table.field[1] = (struct ordo_key_field) { ORDO_F32, 0, way & 2, false, false };
        table.field[2] = (struct ordo_key_field) { ORDO_I64, wide ? 60 : 5, way & 4, true, way & 1 };
        fill_table(t, &table, ROWS);
        for (size_t i = 0; i < ROWS; i++) {
            const float number = ((float) test_below(t, 9) - 4.5f) * 1e10f;
            uint32_t    bits;
            memcpy(&bits, &number, sizeof bits);
            table.value[1][i] = bits;
        }
        fill_columns(t, &table);
        check_order(t, &table);
    }
}

/* ---- tests: values out of range ------------------------------------------------------------------------------ */

/* Two columns on the device. */
struct columns {
    struct test_array column[2], valid;
    struct ordo_slice columns[2], bitmaps[2];
};

static struct columns upload_two(struct test *t, const struct table *table)
{
    struct columns c = { .valid = upload_bitmap(t, table->valid[0], table->count, 3) };
    for (size_t f = 0; f < 2; f++) {
        c.column[f] = test_upload(t, table->column[f], table->count, ordo_type_bytes(table->field[f].type), 2);
        c.columns[f] = test_slice(&c.column[f]);
    }
    c.bitmaps[0] = ordo_at(c.valid.mem, c.valid.at * 8 + 3);
    c.bitmaps[1] = ordo_none();
    return c;
}

static void free_two(struct columns *c)
{
    test_free(&c->column[0]);
    test_free(&c->column[1]);
    test_free(&c->valid);
}

/* The error of a call that waits names the first row, and the first field in it, with a value out of range. */
static void check_message(struct test *t, const uint32_t want[2])
{
    const size_t first = want[1] < want[0];
    char         text[1000] = "", words[100];
    ordo_device_last_error(t->dev, text, sizeof text);
    (void) snprintf(words, sizeof words, "the value of row %u in columns[%zu] needs more than", (unsigned) want[first],
                    first);
    if (!strstr(text, words))
        test_fail(t, __FILE__, __LINE__, "'%s' does not say '%s'", text, words);
}

/* Packs with and without an array for the result of the check, over device memory and host memory. */
static void check_outside(struct test *t, const struct table *table, const uint32_t want[2])
{
    AUTO(free_two) struct columns c = upload_two(t, table);
    AUTO_ARRAY struct test_array  keys = test_upload(t, NULL, table->count, 4, 1), got = test_upload(t, NULL, 2, 4, 3);
    const bool                    is_outside_any = want[0] != UINT32_MAX || want[1] != UINT32_MAX;
    const ordo_status             status = is_outside_any ? ORDO_INVALID : ORDO_OK;
    AUTO_FREE uint32_t           *host_keys = test_alloc(table->count * sizeof *host_keys);
    const void                   *columns[] = { table->column[0], table->column[1] };
    const uint8_t                *valid[] = { table->valid[0], NULL };
    uint32_t                      host_got[2] = { 0 };

    test_context(t, "rows %#x and %#x are out of range", (unsigned) want[0], (unsigned) want[1]);
    test_ok(t, ordo_key_pack(t->dev, table->field, 2, c.columns, c.bitmaps, table->count, test_slice(&keys),
                             test_slice(&got), NULL));
    test_expect(t, ORDO_U32, &got, want, 2);
    test_status(t,
                ordo_key_pack(t->dev, table->field, 2, c.columns, c.bitmaps, table->count, test_slice(&keys),
                              ordo_none(), NULL),
                status);
    if (is_outside_any)
        check_message(t, want);
    test_ok(t, ordo_key_pack_host(t->dev, table->field, 2, columns, valid, table->count, host_keys, host_got));
    test_same(t, "rows out of range", ORDO_U32, host_got, want, 2);
    test_status(t, ordo_key_pack_host(t->dev, table->field, 2, columns, valid, table->count, host_keys, NULL), status);
    if (is_outside_any)
        check_message(t, want);
}

/* Returns a value just outside or far outside of a field's range. */
static uint64_t outside_value(struct test *t, const struct ordo_key_field *field)
{
    const uint32_t bits = field_bits(field), all = type_bits(field->type);
    const uint64_t above = (uint64_t) 1 << (is_signed(field->type) ? bits - 1 : bits);
    uint64_t       value;
    if (test_below(t, 2))
        return is_signed(field->type) && test_below(t, 2) ? (0 - above - 1) & low_bits(all) : above;
    do
        value = test_random(t) & low_bits(all);
    while (!is_outside(field, value));
    return value;
}

MASK_TEST(pack, values_out_of_range_are_found, "", "cpu=0")
{
    static const struct ordo_key_field fields[][2] = {
        { { ORDO_I32, 5, false, true, false }, { ORDO_U64, 20, true, false, false } },
        { { ORDO_I64, 1, true, true, true }, { ORDO_U32, 30, false, false, false } },
    };
    for (size_t round = 0; round < 12; round++) {
        AUTO_TABLE struct table table = { .n_fields = 2 };
        uint32_t                want[2] = { UINT32_MAX, UINT32_MAX };
        memcpy(table.field, fields[round % 2], sizeof fields[0]);
        do { /* until there is a bitmap */
            free_table(&table);
            fill_table(t, &table, 1 + test_below(t, 4000));
        } while (!table.valid[0]);
        for (size_t n = round % 4; n > 0; n--) {
            const size_t f = test_below(t, 2), i = test_below(t, table.count);
            table.value[f][i] = outside_value(t, &table.field[f]);
            if (!table.is_null[f][i] && i < want[f])
                want[f] = (uint32_t) i;
        }
        fill_columns(t, &table);
        check_outside(t, &table, want);
    }
}

/* ---- tests: layouts and arguments ---------------------------------------------------------------------------- */

static void expect_layout_status(struct test *t, const struct ordo_key_field *fields, size_t n, ordo_status status,
                                 const char *words)
{
    struct ordo_key_layout layout = { .bits = 12345 };
    char                   text[1000] = "";
    test_context(t, "fields that are refused because '%s'", words);
    test_status(t, ordo_key_plan(t->dev, fields, n, &layout), status);
    test_true(t, layout.bits == 12345);
    ordo_device_last_error(t->dev, text, sizeof text);
    if (!strstr(text, words))
        test_fail(t, __FILE__, __LINE__, "'%s' does not say '%s'", text, words);
}

static void expect_layout_error(struct test *t, const struct ordo_key_field *fields, size_t n, const char *words)
{
    expect_layout_status(t, fields, n, ORDO_INVALID, words);
}

DEVICE_TEST(pack, the_layout_is_the_narrowest_and_errors_name_the_field)
{
    const struct ordo_key_field fields[] = { { ORDO_U32, 31, false, true, false },
                                             { ORDO_F32, 0, true, false, false },
                                             { ORDO_I64, 0, false, false, false },
                                             { ORDO_U32, 1, false, false, false } };
    const struct ordo_key_field unknown[] = { { ORDO_U32, 0, false, false, false },
                                              { (ordo_type) 99, 0, false, false, false } };
    const struct ordo_key_field uuid[] = { { ORDO_BYTES16, 0, false, false, false } };
    const struct ordo_key_field wide[] = { { ORDO_U32, 33, false, false, false } };
    const struct ordo_key_field part[] = { { ORDO_F64, 63, false, false, false } };
    const struct ordo_key_field null64[] = { { ORDO_U64, 0, false, true, false }, { ORDO_U64, 0, false, true, false } };
    const struct ordo_key_field many[ORDO_MAX_KEY_FIELDS + 1] = { { ORDO_U32, 1, false, false, false } };
    struct ordo_key_layout      layout;

    test_ok(t, ordo_key_plan(t->dev, fields, 1, &layout));
    test_true(t, layout.key == ORDO_U32 && layout.bits == 32 && layout.first_bit[0] == 0);
    test_ok(t, ordo_key_plan(t->dev, fields, 2, &layout));
    test_true(t, layout.key == ORDO_U64 && layout.bits == 64 && layout.first_bit[0] == 32 && layout.first_bit[1] == 0);
    test_ok(t, ordo_key_plan(t->dev, fields, 3, &layout));
    test_true(t, layout.key == ORDO_U128 && layout.bits == 128 && layout.first_bit[0] == 96);
    test_ok(t, ordo_key_plan(t->dev, null64, 1, &layout));
    test_true(t, layout.key == ORDO_U128 && layout.bits == 65 && layout.first_bit[0] == 0);
    expect_layout_error(t, fields, 4,
                        "fields[3] takes 1 bits, and the fields before it take 128: a key has at most 128");
    expect_layout_error(t, null64, 2, "fields[1] takes 65 bits with its null bit, and the fields before it take 65");
    expect_layout_status(t, uuid, 1, ORDO_UNSUPPORTED, "fields[0].type is 7: columns of 16 bytes cannot be packed");
    expect_layout_error(t, unknown, 2, "fields[1].type is 99");
    expect_layout_error(t, wide, 1, "fields[0].bits is 33: its type has 32");
    expect_layout_error(t, part, 1, "fields[0].bits is 63: a float has all its 64 bits");
    expect_layout_error(t, fields, 0, "n_fields is 0");
    expect_layout_error(t, many, ORDO_MAX_KEY_FIELDS + 1, "n_fields is 9");
    expect_layout_error(t, NULL, 1, "fields is NULL");
    test_status(t, ordo_key_plan(NULL, fields, 1, &layout), ORDO_INVALID);
    test_status(t, ordo_key_plan(t->dev, fields, 1, NULL), ORDO_INVALID);
}

/* Arrays of the second field, and bitmaps: tests/conformance/bad_arguments.c tries the others. */
DEVICE_TEST(pack, refuses_bad_columns)
{
    const struct ordo_key_field  plain[] = { { ORDO_U32, 20, false, false, false },
                                             { ORDO_U32, 12, false, false, false } };
    const struct ordo_key_field  nullable[] = { { ORDO_U32, 20, false, true, false } };
    AUTO_ARRAY struct test_array a = test_upload(t, NULL, 100, 4, 0), b = test_upload(t, NULL, 100, 4, 0);
    AUTO_ARRAY struct test_array keys = test_upload(t, NULL, 100, 4, 0), bits = test_upload(t, NULL, 13, 1, 0);
    const struct ordo_slice      k = test_slice(&keys), none = ordo_none(), row = test_slice(&bits);
    const struct ordo_slice      good[] = { test_slice(&a), test_slice(&b) }, same[] = { good[0], good[0] };
    const struct ordo_slice      bitmaps[] = { row, none }, shifted[] = { ordo_at(row.mem, 1) };
    const struct ordo_slice      absent[] = { good[0], none }, late[] = { good[0], ordo_at(b.mem, 20) };
    uint32_t                     words[4] = { 0 };
    const void                  *host_in[] = { words, words + 1 }, *host_absent[] = { words, NULL };
    void                        *host_same[] = { words, words };

    test_context(t, "bad columns");
    test_status(t, ordo_key_pack(t->dev, plain, 2, NULL, NULL, 100, k, none, NULL), ORDO_INVALID);
    test_status(t, ordo_key_pack(t->dev, plain, 2, absent, NULL, 100, k, none, NULL), ORDO_INVALID);
    test_status(t, ordo_key_pack(t->dev, plain, 2, late, NULL, 100, k, none, NULL), ORDO_INVALID);
    test_status(t, ordo_key_pack(t->dev, plain, 2, good, NULL, 100, good[1], none, NULL), ORDO_INVALID);
    test_status(t, ordo_key_pack(t->dev, plain, 2, good, bitmaps, 100, k, none, NULL), ORDO_INVALID);
    test_status(t, ordo_key_pack(t->dev, nullable, 1, good, bitmaps, 100, k, k, NULL), ORDO_INVALID);
    test_status(t, ordo_key_unpack(t->dev, plain, 2, k, 100, NULL, NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_key_unpack(t->dev, plain, 2, k, 100, same, NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_key_unpack(t->dev, plain, 2, k, 100, good, bitmaps, NULL), ORDO_INVALID);
    test_status(t, ordo_key_unpack(t->dev, nullable, 1, k, 50, good, shifted, NULL), ORDO_INVALID);
    test_ok(t, ordo_key_unpack(t->dev, plain, 2, k, 100, absent, NULL, NULL));
    test_status(t, ordo_key_pack_host(t->dev, plain, 2, NULL, NULL, 1, words + 2, NULL), ORDO_INVALID);
    test_status(t, ordo_key_pack_host(t->dev, plain, 2, host_absent, NULL, 1, words + 2, NULL), ORDO_INVALID);
    test_status(t, ordo_key_pack_host(t->dev, plain, 2, host_in, NULL, 1, words + 1, NULL), ORDO_INVALID);
    test_status(t, ordo_key_unpack_host(t->dev, plain, 2, words + 2, 1, NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_key_unpack_host(t->dev, plain, 2, words + 2, 1, host_same, NULL), ORDO_INVALID);
    test_ok(t, ordo_key_pack(t->dev, plain, 2, good, NULL, 0, none, none, NULL));
    test_ok(t, ordo_key_unpack(t->dev, plain, 2, none, 0, good, NULL, NULL));
}
