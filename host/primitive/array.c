/* SPDX-License-Identifier: Apache-2.0 */
/* Checks types and arrays, and chooses group sizes. */
#include "primitive/primitive.h"

#include "shared/key.h"

size_t ordo_type_bytes(ordo_type type)
{
    switch (type) {
    case ORDO_U32:
    case ORDO_I32:
    case ORDO_F32:
        return 4;
    case ORDO_U64:
    case ORDO_I64:
    case ORDO_F64:
        return 8;
    case ORDO_U128:
    case ORDO_BYTES16:
        return 16;
    }
    return 0;
}

bool ordo_type_is_wide(ordo_type type)
{
    return type == ORDO_U128 || type == ORDO_BYTES16;
}

const char *ordo_wide_name(ordo_type type)
{
    return type == ORDO_U128 ? "u128" : "bytes16";
}

uint64_t ordo_key_bits(ordo_type type, const void *key)
{
    uint32_t word = 0;
    uint64_t wide = 0;
    if (!key || ordo_type_bytes(type) == 0 || ordo_type_is_wide(type))
        return 0;
    if (ordo_type_bytes(type) == 8) {
        memcpy(&wide, key, sizeof wide);
        return key_bits_of((int) type, wide);
    }
    memcpy(&word, key, sizeof word);
    return key_bits_of((int) type, word);
}

ordo_status ordo_check_type(ordo_device *dev, ordo_type type)
{
    if (ordo_type_bytes(type) == 0)
        return ORDO_FAIL(dev, ORDO_INVALID, "%d is no type (ordo_type)", (int) type);
    return ORDO_OK;
}

ordo_status ordo_check_narrow(ordo_device *dev, ordo_type type, const char *call)
{
    ORDO_TRY(ordo_check_type(dev, type));
    if (ordo_type_is_wide(type))
        return ORDO_FAIL(dev, ORDO_UNSUPPORTED, "%s does not take keys or values of type %s", call,
                         ordo_wide_name(type));
    return ORDO_OK;
}

ordo_status ordo_check_value_bytes(ordo_device *dev, uint32_t bytes)
{
    if (bytes != 0 && bytes != 4 && bytes != 8 && bytes != 16)
        return ORDO_FAIL(dev, ORDO_INVALID, "value_bytes is %u: values have 0, 4, 8 or 16 bytes", (unsigned) bytes);
    return ORDO_OK;
}

ordo_status ordo_check_pair(ordo_device *dev, ordo_type key, uint32_t value_bytes)
{
    ORDO_TRY(ordo_check_type(dev, key));
    return ordo_check_value_bytes(dev, value_bytes);
}

static bool is_float(ordo_type type)
{
    return type == ORDO_F32 || type == ORDO_F64;
}

static bool is_op(ordo_op op)
{
    return op == ORDO_SUM || op == ORDO_MIN || op == ORDO_MAX;
}

ordo_status ordo_check_op(ordo_device *dev, ordo_type type, ordo_op op, const char *call)
{
    ORDO_TRY(ordo_check_narrow(dev, type, call));
    if (!is_op(op))
        return ORDO_FAIL(dev, ORDO_INVALID, "%d is no operation (ordo_op)", (int) op);
    if (op == ORDO_SUM && is_float(type))
        return ORDO_FAIL(dev, ORDO_UNSUPPORTED,
                         "a sum of floats depends on the device's grouping: ORDO_SUM is for integers");
    return ORDO_OK;
}

size_t ordo_group_of(const ordo_device *dev, enum ordo_tunable group, enum ordo_shape shape)
{
    const struct ordo_facts *facts = ordo_device_facts(dev);
    size_t                   size = ordo_tunable(dev, group, shape);
    while (size > facts->max_group || (size > facts->sub_group && size % facts->sub_group != 0))
        size /= 2;
    return size < facts->sub_group ? 1 : size;
}

ordo_status ordo_check_arrays(ordo_device *dev, const struct ordo_array *arrays, size_t n, size_t n_outputs)
{
    for (size_t i = 0; i < n; i++) {
        ORDO_TRY(ordo_check_slice(dev, arrays[i].name, arrays[i].slice, arrays[i].count, arrays[i].bytes));
        if (arrays[i].align > 8 && arrays[i].slice.mem)
            ORDO_TRY(ordo_check_aligned(dev, arrays[i].name, arrays[i].slice.mem, arrays[i].align));
    }
    for (size_t out = n - n_outputs; out < n; out++)
        for (size_t i = 0; i < out; i++)
            if (ordo_slices_overlap(arrays[i].slice, arrays[i].count, arrays[i].bytes, arrays[out].slice,
                                    arrays[out].count, arrays[out].bytes))
                return ORDO_FAIL(dev, ORDO_INVALID, "%s and %s overlap", arrays[i].name, arrays[out].name);
    return ORDO_OK;
}
