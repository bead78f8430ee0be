/* SPDX-License-Identifier: Apache-2.0 */
/* Implements ordo_key_plan, ordo_key_pack and ordo_key_unpack. */
#include "primitive/host_array.h"
#include "primitive/primitive.h"

#include "shared/pack.h"

_Static_assert(ORDO_MAX_KEY_FIELDS == PACK_FIELDS, "the kernel takes as many fields as the interface");

struct pack {
    const struct ordo_key_field *fields;
    size_t                       n_fields, count;
    struct ordo_key_layout       layout;
    struct ordo_slice            column[PACK_FIELDS];
    struct ordo_slice            valid[PACK_FIELDS]; /* Bitmaps. Their offsets are in bits. */
    struct ordo_slice            keys, outside;
};

#define NAMES(array)                                                                                                   \
    {                                                                                                                  \
        array "[0]", array "[1]", array "[2]", array "[3]", array "[4]", array "[5]", array "[6]", array "[7]"         \
    }
static const char *const name_columns[PACK_FIELDS] = NAMES("columns");
static const char *const name_valid[PACK_FIELDS] = NAMES("valid");
static const char *const name_columns_out[PACK_FIELDS] = NAMES("columns_out");
static const char *const name_valid_out[PACK_FIELDS] = NAMES("valid_out");

/* ---- layout -------------------------------------------------------------------------------------------------- */

#define KEY_BITS_MAX 128u

static bool is_float(ordo_type type)
{
    return type == ORDO_F32 || type == ORDO_F64;
}

static bool is_signed(ordo_type type)
{
    return type == ORDO_I32 || type == ORDO_I64;
}

static uint32_t bits_of_type(ordo_type type)
{
    return (uint32_t) ordo_type_bytes(type) * 8;
}

static uint32_t bits_of(const struct ordo_key_field *field)
{
    return field->bits ? field->bits : bits_of_type(field->type);
}

static ordo_status check_field(ordo_device *dev, const struct ordo_key_field *field, size_t f)
{
    const unsigned bits = bits_of(field), most = bits_of_type(field->type);
    ORDO_REQUIRE(dev, most > 0, ORDO_INVALID, "fields[%zu].type is %d: that is no type (ordo_type)", f,
                 (int) field->type);
    ORDO_REQUIRE(dev, !ordo_type_is_wide(field->type), ORDO_UNSUPPORTED,
                 "fields[%zu].type is %d: columns of 16 bytes cannot be packed", f, (int) field->type);
    ORDO_REQUIRE(dev, bits <= most, ORDO_INVALID, "fields[%zu].bits is %u: its type has %u", f, bits, most);
    ORDO_REQUIRE(dev, bits == most || !is_float(field->type), ORDO_INVALID,
                 "fields[%zu].bits is %u: a float has all its %u bits", f, bits, most);
    return ORDO_OK;
}

static ordo_status make_layout(ordo_device *dev, const struct ordo_key_field *fields, size_t n_fields,
                               struct ordo_key_layout *out)
{
    struct ordo_key_layout layout = { .bits = 0 };
    ORDO_REQUIRE_GIVEN(dev, fields);
    ORDO_REQUIRE(dev, n_fields > 0 && n_fields <= PACK_FIELDS, ORDO_INVALID,
                 "n_fields is %zu: a key has 1 to %d fields (ORDO_MAX_KEY_FIELDS)", n_fields, PACK_FIELDS);
    for (size_t f = 0; f < n_fields; f++) {
        ORDO_TRY(check_field(dev, &fields[f], f));
        const unsigned bits = bits_of(&fields[f]) + fields[f].nullable;
        ORDO_REQUIRE(dev, layout.bits + bits <= KEY_BITS_MAX, ORDO_INVALID,
                     "fields[%zu] takes %u bits%s, and the fields before it take %u: a key has at most %u", f, bits,
                     fields[f].nullable ? " with its null bit" : "", (unsigned) layout.bits, KEY_BITS_MAX);
        layout.bits += bits;
    }
    layout.key = layout.bits <= 32 ? ORDO_U32 : layout.bits <= 64 ? ORDO_U64 : ORDO_U128;
    for (size_t f = n_fields, bits = 0; f-- > 0; bits += bits_of(&fields[f]) + fields[f].nullable)
        layout.first_bit[f] = (uint32_t) bits;
    *out = layout;
    return ORDO_OK;
}

ordo_status ordo_key_plan(ordo_device *dev, const struct ordo_key_field *fields, size_t n_fields,
                          struct ordo_key_layout *out)
{
    ORDO_REQUIRE_GIVEN(dev, dev);
    ORDO_REQUIRE_GIVEN(dev, out);
    return make_layout(dev, fields, n_fields, out);
}

/* ---- launches ------------------------------------------------------------------------------------------------ */

static cl_uint how_of(const struct ordo_key_field *field)
{
    return (ordo_type_bytes(field->type) == 8 ? PACK_WIDE : 0u) | (is_signed(field->type) ? PACK_SIGNED : 0u) |
           (is_float(field->type) ? PACK_FLOAT : 0u) | (field->nullable ? PACK_NULLABLE : 0u) |
           (field->nulls_last ? PACK_NULLS_LAST : 0u);
}

static pack_plan plan_of(const struct pack *p)
{
    pack_plan plan = { .n_fields = (cl_uint) p->n_fields };
    for (size_t f = 0; f < p->n_fields; f++) {
        const struct ordo_key_field *field = &p->fields[f];
        plan.bits[f] = bits_of(field);
        plan.first[f] = p->layout.first_bit[f];
        plan.how[f] = how_of(field);
        plan.mask[f] = UINT64_MAX >> (64 - plan.bits[f]);
        plan.bias[f] = is_signed(field->type) ? (uint64_t) 1 << (plan.bits[f] - 1) : 0;
        plan.turn[f] = field->descending ? plan.mask[f] : 0;
        plan.column_at[f] = p->column[f].at;
        plan.valid_at[f] = p->valid[f].at;
        plan.n_bitmaps += p->valid[f].mem != NULL;
    }
    return plan;
}

enum { ROWS_PER_ITEM = 4, ROWS_PER_CHUNK = 4096 };

static struct ordo_launch kernel_of(const ordo_device *dev, const struct pack *p, const char *kernel)
{
    const size_t group = ordo_group_of(dev, ORDO_COMPACT_GROUP, ordo_shape_of(ordo_type_bytes(p->layout.key), 0));
    const size_t tile = group == 1 ? ROWS_PER_CHUNK : group * ROWS_PER_ITEM;
    return (struct ordo_launch) {
        .file = "primitive/pack.cl",
        .kernel = kernel,
        .groups = ordo_ceil_div(p->count, tile),
        .group = group,
        .defines = { { "ORDO_KEY", p->layout.key }, { "PACK_GROUP", (long) group }, { "PACK_TILE", (long) tile } },
    };
}

static void add_args(struct ordo_args *args, const struct pack *p, const pack_plan *plan, const cl_uint *count)
{
    for (size_t f = 0; f < PACK_FIELDS; f++)
        ORDO_ADD(args, ORDO_ARG(p->column[f].mem), ORDO_ARG(p->valid[f].mem));
    ORDO_ADD(args, ORDO_ARG(*plan), ORDO_ARG(*count));
    ordo_args_slice(args, &p->keys);
}

static bool may_be_outside(const struct ordo_key_field *fields, size_t n_fields)
{
    for (size_t f = 0; f < n_fields; f++)
        if (bits_of(&fields[f]) < bits_of_type(fields[f].type))
            return true;
    return false;
}

static ordo_status enqueue_pack(struct ordo_call *call, const struct pack *p, const struct ordo_slice *outside)
{
    const pack_plan          plan = plan_of(p);
    const cl_uint            count = (cl_uint) p->count;
    const struct ordo_launch launch = kernel_of(call->dev, p, "pack_rows");
    const struct ordo_slice  none = ordo_none();
    struct ordo_args         args = { .n = 0 };
    if (outside->mem)
        ORDO_TRY(ordo_call_fill(call, outside->mem, outside->at * sizeof(cl_uint), p->n_fields * sizeof(cl_uint),
                                PACK_NO_ROW));
    add_args(&args, p, &plan, &count);
    ordo_args_slice(&args, may_be_outside(p->fields, p->n_fields) ? outside : &none);
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status read_outside(struct ordo_call *call, const struct pack *p, cl_mem outside)
{
    cl_uint row[PACK_FIELDS];
    size_t  first = 0;
    ORDO_TRY(ordo_call_read(call, outside, 0, row, p->n_fields * sizeof *row));
    for (size_t f = 1; f < p->n_fields; f++)
        if (row[f] < row[first])
            first = f;
    ORDO_REQUIRE(call->dev, row[first] == PACK_NO_ROW, ORDO_INVALID,
                 "the value of row %u in columns[%zu] needs more than the %u bits of fields[%zu]",
                 (unsigned) row[first], first, (unsigned) bits_of(&p->fields[first]), first);
    return ORDO_OK;
}

static ordo_status enqueue_unpack(struct ordo_call *call, const struct pack *p)
{
    const pack_plan          plan = plan_of(p);
    const cl_uint            count = (cl_uint) p->count;
    const struct ordo_launch launch = kernel_of(call->dev, p, "unpack_rows");
    struct ordo_args         args = { .n = 0 };
    add_args(&args, p, &plan, &count);
    return ordo_call_launch(call, &launch, &args);
}

/* ---- checks -------------------------------------------------------------------------------------------------- */

static struct ordo_array bitmap_of(const struct pack *p, size_t f, const char *name)
{
    const struct ordo_slice bits = p->valid[f];
    const size_t            bytes = bits.mem ? ordo_ceil_div(bits.at % 8 + p->count, 8) : 0;
    return (struct ordo_array) { name, ordo_at(bits.mem, bits.at / 8), bytes, 1 };
}

static ordo_status check_bitmaps(ordo_device *dev, const struct pack *p, const char *const names[])
{
    for (size_t f = 0; f < p->n_fields; f++)
        ORDO_REQUIRE(dev, p->fields[f].nullable || !p->valid[f].mem, ORDO_INVALID,
                     "%s is given, but fields[%zu] is not nullable", names[f], f);
    return ORDO_OK;
}

static ordo_status check_pack(ordo_device *dev, const struct pack *p)
{
    const size_t      key_bytes = ordo_type_bytes(p->layout.key);
    struct ordo_array arrays[2 * PACK_FIELDS + 2];
    size_t            n = 0;
    ORDO_REQUIRE_COUNT(dev, "count", p->count);
    ORDO_TRY(check_bitmaps(dev, p, name_valid));
    for (size_t f = 0; f < p->n_fields; f++) {
        arrays[n++] =
            (struct ordo_array) { name_columns[f], p->column[f], p->count, ordo_type_bytes(p->fields[f].type) };
        arrays[n++] = bitmap_of(p, f, name_valid[f]);
    }
    arrays[n++] = (struct ordo_array) { "keys_out", p->keys, p->count, key_bytes, key_bytes };
    arrays[n++] = (struct ordo_array) { "outside", p->outside, p->outside.mem ? p->n_fields : 0, sizeof(cl_uint) };
    return ordo_check_arrays(dev, arrays, n, 2);
}

static ordo_status check_unpack(ordo_device *dev, const struct pack *p)
{
    const size_t      key_bytes = ordo_type_bytes(p->layout.key);
    struct ordo_array arrays[2 * PACK_FIELDS + 1] = { { "keys", p->keys, p->count, key_bytes, key_bytes } };
    size_t            n = 1;
    ORDO_REQUIRE_COUNT(dev, "count", p->count);
    ORDO_TRY(check_bitmaps(dev, p, name_valid_out));
    for (size_t f = 0; f < p->n_fields; f++) {
        ORDO_REQUIRE(dev, p->valid[f].at % 8 == 0, ORDO_INVALID, "%s begins at bit %zu: that is no multiple of 8",
                     name_valid_out[f], p->valid[f].at);
        arrays[n++] = (struct ordo_array) { name_columns_out[f], p->column[f], p->column[f].mem ? p->count : 0,
                                            ordo_type_bytes(p->fields[f].type) };
        arrays[n++] = bitmap_of(p, f, name_valid_out[f]);
    }
    return ordo_check_arrays(dev, arrays, n, n - 1);
}

/* ---- calls --------------------------------------------------------------------------------------------------- */

static ordo_status set_up(ordo_device *dev, struct pack *p, const struct ordo_slice *columns,
                          const struct ordo_slice *valid)
{
    ORDO_TRY(make_layout(dev, p->fields, p->n_fields, &p->layout));
    memcpy(p->column, columns, p->n_fields * sizeof *columns);
    if (valid)
        memcpy(p->valid, valid, p->n_fields * sizeof *valid);
    return ORDO_OK;
}

static ordo_status check_and_pack(struct ordo_call *call, const struct pack *p, bool waits)
{
    struct ordo_slice outside = p->outside;
    ORDO_TRY(check_pack(call->dev, p));
    if (waits)
        ORDO_TRY(ordo_call_scratch(call, PACK_FIELDS * sizeof(cl_uint), &outside.mem));
    ORDO_TRY(enqueue_pack(call, p, &outside));
    return waits ? read_outside(call, p, outside.mem) : ORDO_OK;
}

static ordo_status check_and_unpack(struct ordo_call *call, const struct pack *p)
{
    ORDO_TRY(check_unpack(call->dev, p));
    return enqueue_unpack(call, p);
}

ordo_status ordo_key_pack(ordo_device *dev, const struct ordo_key_field *fields, size_t n_fields,
                          const struct ordo_slice *columns, const struct ordo_slice *valid, size_t count,
                          struct ordo_slice keys_out, struct ordo_slice outside, const struct ordo_order *order)
{
    struct pack p = { .fields = fields, .n_fields = n_fields, .count = count, .keys = keys_out, .outside = outside };
    struct ordo_call call;
    ORDO_REQUIRE_GIVEN(dev, columns);
    ORDO_TRY(set_up(dev, &p, columns, valid));
    const bool waits = !outside.mem && count > 0 && may_be_outside(fields, n_fields);
    ORDO_TRY(ordo_call_begin_alone(&call, dev, order, NULL, waits));
    return ordo_call_end(&call, check_and_pack(&call, &p, waits));
}

ordo_status ordo_key_unpack(ordo_device *dev, const struct ordo_key_field *fields, size_t n_fields,
                            struct ordo_slice keys, size_t count, const struct ordo_slice *columns_out,
                            const struct ordo_slice *valid_out, const struct ordo_order *order)
{
    struct pack      p = { .fields = fields, .n_fields = n_fields, .count = count, .keys = keys };
    struct ordo_call call;
    ORDO_REQUIRE_GIVEN(dev, columns_out);
    ORDO_TRY(set_up(dev, &p, columns_out, valid_out));
    ORDO_TRY(ordo_call_begin(&call, dev, order));
    return ordo_call_end(&call, check_and_unpack(&call, &p));
}

/* ---- calls with host arrays ---------------------------------------------------------------------------------- */

enum { HOST_KEYS = 2 * PACK_FIELDS, HOST_OUTSIDE, HOST_ARRAYS };

static void take_slices(const struct ordo_host_array *a, struct ordo_slice *columns, struct ordo_slice *valid)
{
    for (size_t f = 0; f < PACK_FIELDS; f++) {
        columns[f] = a[2 * f].slice;
        valid[f] = ordo_at(a[2 * f + 1].slice.mem, a[2 * f + 1].slice.at * 8);
    }
}

ordo_status ordo_key_pack_host(ordo_device *dev, const struct ordo_key_field *fields, size_t n_fields,
                               const void *const *columns, const uint8_t *const *valid, size_t count, void *keys_out,
                               uint32_t *outside)
{
    struct ordo_key_layout layout;
    struct ordo_host_array a[HOST_ARRAYS];
    struct ordo_slice      column[PACK_FIELDS], bitmap[PACK_FIELDS];
    ORDO_REQUIRE_GIVEN(dev, columns);
    ORDO_TRY(make_layout(dev, fields, n_fields, &layout));
    for (size_t f = 0; f < PACK_FIELDS; f++) {
        const void    *values = f < n_fields ? columns[f] : NULL;
        const uint8_t *bits = valid && f < n_fields ? valid[f] : NULL;
        a[2 * f] = ordo_host_in(values, count, f < n_fields ? ordo_type_bytes(fields[f].type) : 0);
        a[2 * f].name = name_columns[f];
        a[2 * f + 1] = ordo_host_in(bits, ordo_ceil_div(count, 8), bits ? 1 : 0);
        a[2 * f + 1].name = name_valid[f];
    }
    a[HOST_KEYS] = ordo_host_out(keys_out, count, ordo_type_bytes(layout.key));
    a[HOST_OUTSIDE] = ordo_host_out(outside, n_fields, outside ? sizeof *outside : 0);

    struct ordo_call call;
    ORDO_TRY(ordo_host_begin(&call, dev, NULL, a, HOST_ARRAYS));
    take_slices(a, column, bitmap);
    return ordo_host_end(
        &call, a, HOST_ARRAYS,
        ordo_key_pack(dev, fields, n_fields, column, bitmap, count, a[HOST_KEYS].slice, a[HOST_OUTSIDE].slice, NULL));
}

ordo_status ordo_key_unpack_host(ordo_device *dev, const struct ordo_key_field *fields, size_t n_fields,
                                 const void *keys, size_t count, void *const *columns_out, uint8_t *const *valid_out)
{
    struct ordo_key_layout layout;
    struct ordo_host_array a[HOST_OUTSIDE];
    struct ordo_slice      column[PACK_FIELDS], bitmap[PACK_FIELDS];
    ORDO_REQUIRE_GIVEN(dev, columns_out);
    ORDO_TRY(make_layout(dev, fields, n_fields, &layout));
    for (size_t f = 0; f < PACK_FIELDS; f++) {
        void    *values = f < n_fields ? columns_out[f] : NULL;
        uint8_t *bits = valid_out && f < n_fields ? valid_out[f] : NULL;
        a[2 * f] = ordo_host_out(values, count, values ? ordo_type_bytes(fields[f].type) : 0);
        a[2 * f].name = name_columns_out[f];
        a[2 * f + 1] = ordo_host_out(bits, ordo_ceil_div(count, 8), bits ? 1 : 0);
        a[2 * f + 1].name = name_valid_out[f];
    }
    a[HOST_KEYS] = ordo_host_in(keys, count, ordo_type_bytes(layout.key));

    struct ordo_call call;
    ORDO_TRY(ordo_host_begin(&call, dev, NULL, a, HOST_OUTSIDE));
    take_slices(a, column, bitmap);
    return ordo_host_end(&call, a, HOST_OUTSIDE,
                         ordo_key_unpack(dev, fields, n_fields, a[HOST_KEYS].slice, count, column, bitmap, NULL));
}
