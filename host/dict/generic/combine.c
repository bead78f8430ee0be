/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/generic/generic.h"
#include "primitive/scan.h"
#include "primitive/sort.h"

#define COMBINE_FILE "dict/generic/combine.cl"

ordo_status ordo_dict_check_numbers(const ordo_dict *dict, ordo_type value, ordo_op op, const char *call)
{
    ORDO_TRY(ordo_check_narrow(dict->dev, value, call));
    ORDO_REQUIRE(dict->dev, dict->value_bytes <= 8, ORDO_UNSUPPORTED, "%s does not take values of %u bytes", call,
                 dict->value_bytes);
    ORDO_REQUIRE(dict->dev, ordo_type_bytes(value) == dict->value_bytes, ORDO_INVALID,
                 "value has %zu bytes: values of this dictionary have %u", ordo_type_bytes(value), dict->value_bytes);
    return ordo_check_op(dict->dev, value, op, call);
}

struct ordo_launch ordo_dict_kernel_typed(const ordo_dict *dict, const char *file, const char *kernel, ordo_type value,
                                          ordo_op op, size_t items)
{
    struct ordo_launch launch = ordo_dict_kernel(dict, file, kernel, items);
    ordo_launch_define(&launch, "COMBINE_TYPE", value);
    ordo_launch_define(&launch, "COMBINE_OP", op);
    return launch;
}

static ordo_status sort_combines(ordo_dict *dict, struct ordo_call *call, const struct ordo_combines *c, cl_mem *keys,
                                 cl_mem *values)
{
    const struct ordo_sort_params params = { .key = dict->key, .value_bytes = dict->value_bytes };
    ORDO_TRY(ordo_call_scratch(call, c->count * dict->key_bytes, keys));
    ORDO_TRY(ordo_call_scratch(call, c->count * dict->value_bytes, values));
    return ordo_call_sort(call, &params, c->keys, c->values, ordo_at(*keys, 0), ordo_at(*values, 0), c->count);
}

static ordo_status sum_up(ordo_dict *dict, struct ordo_call *call, const struct ordo_combines *c)
{
    const cl_uint    n = (cl_uint) c->count;
    struct ordo_args args = { .n = 0 };
    cl_mem           before = NULL, found = NULL, heads = NULL;

    ORDO_TRY(ordo_call_scratch(call, c->count * dict->value_bytes, &before));
    ORDO_TRY(ordo_call_scratch(call, c->count, &found));
    ORDO_TRY(ordo_call_scratch(call, c->count, &heads));
    const struct ordo_finds finds = { c->keys, c->count, true, ordo_at(before, 0), ordo_at(found, 0), c->once };
    ORDO_TRY(dict->structure->find(dict, call, &finds));
    ordo_args_slice(&args, &c->keys);
    ORDO_ADD(&args, ORDO_ARG(found), ORDO_ARG(before), ORDO_ARG(n), ORDO_ARG(heads));
    ordo_args_slice(&args, &c->values);
    const struct ordo_launch launch =
        ordo_dict_kernel_typed(dict, COMBINE_FILE, "combine_heads", c->value, c->op, c->count);
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    const struct ordo_scan scan = { .type = c->value,
                                    .op = c->op,
                                    .inclusive = true,
                                    .in = c->values,
                                    .heads = ordo_at(heads, 0),
                                    .out = c->values,
                                    .count = c->count };
    return ordo_call_scan(call, &scan);
}

ordo_status ordo_dict_combine_sorted(ordo_dict *dict, struct ordo_call *call, const struct ordo_combines *sorted)
{
    const int mark = call->n_scratch;
    ORDO_TRY(sum_up(dict, call, sorted));
    ordo_call_release(call, mark);
    return ORDO_OK;
}

ordo_status ordo_dict_combine_generic(ordo_dict *dict, struct ordo_call *call, const struct ordo_combines *c)
{
    cl_mem keys = NULL, values = NULL;

    ORDO_TRY(sort_combines(dict, call, c, &keys, &values));
    const struct ordo_combines sorted = { c->value, c->op, ordo_at(keys, 0), ordo_at(values, 0), c->count };
    ORDO_TRY(ordo_dict_combine_sorted(dict, call, &sorted));
    const struct ordo_sorted_updates updates = { ordo_at(keys, 0), ordo_at(values, 0), ordo_none(), c->count, false };
    return dict->structure->update_sorted(dict, call, &updates);
}

ordo_status ordo_dict_combine_enqueue(ordo_dict *dict, struct ordo_call *call, const struct ordo_combines *c)
{
    return dict->structure->combine ? dict->structure->combine(dict, call, c)
                                    : ordo_dict_combine_generic(dict, call, c);
}
