/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/trie/xfast.h"

#define MODULE "dict/trie/xfast_prefix.cl"

#define N_OF(arrays) (sizeof(arrays) / sizeof *(arrays))

static size_t if_wanted(struct ordo_slice slice, size_t bytes)
{
    return slice.mem ? bytes : 0;
}

static ordo_status check_keys(const ordo_dict *dict)
{
    ORDO_REQUIRE(dict->dev, dict->key == ORDO_U32 || dict->key == ORDO_U64, ORDO_UNSUPPORTED,
                 "prefixes need keys of ORDO_U32 or ORDO_U64");
    return ORDO_OK;
}

struct prefix_counts {
    struct ordo_slice keys, lengths;
    size_t            count;
    struct ordo_slice counts;
};

static ordo_status launch_counts(struct ordo_xfast *xfast, struct ordo_call *call, const struct prefix_counts *c)
{
    const cl_uint    n = (cl_uint) c->count;
    struct ordo_args args = ordo_xfast_args(xfast);

    ordo_args_slice(&args, &c->keys);
    ordo_args_slice(&args, &c->lengths);
    ORDO_ADD(&args, ORDO_ARG(n));
    ordo_args_slice(&args, &c->counts);
    const struct ordo_launch launch = ordo_xfast_kernel(xfast, MODULE, "xfast_under", c->count);
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status count_prefix(struct ordo_call *call, ordo_dict *dict, const struct prefix_counts *c)
{
    struct ordo_xfast      *xfast = ordo_xfast_of(dict);
    const struct ordo_array arrays[] = {
        { "keys", c->keys, c->count, dict->key_bytes },
        { "lengths", c->lengths, c->count, 1 },
        { "counts", c->counts, c->count, sizeof(cl_uint) },
    };
    ORDO_TRY(check_keys(dict));
    ORDO_REQUIRE_COUNT(dict->dev, "count", c->count);
    ORDO_TRY(ordo_check_arrays(dict->dev, arrays, N_OF(arrays), 1));
    if (c->count == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_xfast_raise(xfast, call));
    if (!xfast->flat)
        return ordo_call_fill(call, c->counts.mem, c->counts.at * sizeof(cl_uint), c->count * sizeof(cl_uint), 0);
    return launch_counts(xfast, call, c);
}

ordo_status ordo_xfast_count_prefix(ordo_dict *dict, struct ordo_slice keys, struct ordo_slice lengths, size_t count,
                                    struct ordo_slice counts, const struct ordo_order *order)
{
    const struct prefix_counts c = { keys, lengths, count, counts };
    ORDO_TRY(ordo_dict_check_own(dict, &ordo_xfast_structure));
    ORDO_DICT_QUERY(dict, ORDO_CAN_FIND, order, count_prefix(&call, dict, &c));
}

ordo_status ordo_xfast_count_prefix_host(ordo_dict *dict, const void *keys, const uint8_t *lengths, size_t count,
                                         uint32_t *counts)
{
    ORDO_REQUIRE_GIVEN(NULL, dict);
    struct ordo_host_array a[] = {
        ordo_host_in(keys, count, dict->key_bytes),
        ordo_host_in(lengths, count, 1),
        ordo_host_out(counts, count, sizeof *counts),
    };
    struct ordo_call outer;
    ORDO_TRY(ordo_host_begin(&outer, dict->dev, &dict->last, a, N_OF(a)));
    return ordo_host_end(&outer, a, N_OF(a),
                         ordo_xfast_count_prefix(dict, a[0].slice, a[1].slice, count, a[2].slice, NULL));
}

static ordo_status make_masks(struct ordo_xfast *xfast, struct ordo_call *call)
{
    const size_t     bytes = xfast->shape.count * xfast->runs.dict.key_bytes;
    struct ordo_args args = ordo_xfast_args(xfast);
    cl_mem           masks = NULL;

    if (xfast->masks)
        return ORDO_OK;
    ORDO_TRY(ordo_call_changes(call));
    ORDO_TRY(ordo_buffer_create(call->dev, bytes, &masks));
    ORDO_ADD(&args, ORDO_ARG(masks));
    const struct ordo_launch launch =
        ordo_xfast_kernel(xfast, MODULE, "xfast_masks", ordo_ceil_div(xfast->shape.count, XFAST_MASKS_SHARE));
    const ordo_status status = ordo_call_launch(call, &launch, &args);
    if (status != ORDO_OK) {
        ordo_buffer_destroy(call->dev, &masks);
        return status;
    }
    xfast->masks = masks;
    xfast->mask_bytes = bytes;
    ordo_xfast_note_peak(xfast);
    return ORDO_OK;
}

struct prefix_seeks {
    struct ordo_slice keys;
    size_t            count;
    struct ordo_slice prefixes_out, values_out, found;
};

static ordo_status launch_matches(struct ordo_xfast *xfast, struct ordo_call *call, const struct prefix_seeks *s)
{
    const struct ordo_slice values = ordo_run_values(&xfast->runs.dict, ordo_xfast_run(xfast));
    const cl_uint           n = (cl_uint) s->count;
    struct ordo_args        args = ordo_xfast_args(xfast);

    ORDO_ADD(&args, ORDO_ARG(xfast->masks));
    ordo_args_slice(&args, &values);
    ORDO_ADD(&args, ORDO_ARG(xfast->runs.dict.value_bytes));
    ordo_args_slice(&args, &s->keys);
    ORDO_ADD(&args, ORDO_ARG(n));
    ordo_args_slice(&args, &s->prefixes_out);
    ordo_args_slice(&args, &s->values_out);
    ordo_args_slice(&args, &s->found);
    const struct ordo_launch launch = ordo_xfast_kernel(xfast, MODULE, "xfast_matches", s->count);
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status longest_prefix(struct ordo_call *call, ordo_dict *dict, const struct prefix_seeks *s)
{
    struct ordo_xfast      *xfast = ordo_xfast_of(dict);
    const struct ordo_array arrays[] = {
        { "keys", s->keys, s->count, dict->key_bytes },
        { "prefixes_out", s->prefixes_out, s->count, if_wanted(s->prefixes_out, dict->key_bytes) },
        { "values_out", s->values_out, s->count, if_wanted(s->values_out, dict->value_bytes), dict->value_bytes },
        { "found", s->found, s->count, if_wanted(s->found, 1) },
    };
    ORDO_TRY(check_keys(dict));
    ORDO_REQUIRE_COUNT(dict->dev, "count", s->count);
    ORDO_TRY(ordo_check_arrays(dict->dev, arrays, N_OF(arrays), 3));
    if (s->count == 0 || (!s->prefixes_out.mem && !s->values_out.mem && !s->found.mem))
        return ORDO_OK;
    ORDO_TRY(ordo_xfast_raise(xfast, call));
    if (!xfast->flat) {
        const struct ordo_finds none = { s->keys, s->count, false, ordo_none(), s->found };
        return ordo_runs_find(dict, call, &none);
    }
    ORDO_TRY(make_masks(xfast, call));
    return launch_matches(xfast, call, s);
}

ordo_status ordo_xfast_longest_prefix(ordo_dict *dict, struct ordo_slice keys, size_t count,
                                      struct ordo_slice prefixes_out, struct ordo_slice values_out,
                                      struct ordo_slice found, const struct ordo_order *order)
{
    const struct prefix_seeks s = { keys, count, prefixes_out, values_out, found };
    ORDO_TRY(ordo_dict_check_own(dict, &ordo_xfast_structure));
    ORDO_DICT_QUERY(dict, ORDO_CAN_FIND, order, longest_prefix(&call, dict, &s));
}

ordo_status ordo_xfast_longest_prefix_host(ordo_dict *dict, const void *keys, size_t count, void *prefixes_out,
                                           void *values_out, uint8_t *found)
{
    ORDO_REQUIRE_GIVEN(NULL, dict);
    struct ordo_host_array a[] = {
        ordo_host_in(keys, count, dict->key_bytes),
        ordo_host_inout(prefixes_out, count, prefixes_out ? dict->key_bytes : 0),
        ordo_host_inout(values_out, count, values_out ? dict->value_bytes : 0),
        ordo_host_out(found, count, found ? 1 : 0),
    };
    struct ordo_call outer;
    ORDO_TRY(ordo_host_begin(&outer, dict->dev, &dict->last, a, N_OF(a)));
    return ordo_host_end(&outer, a, N_OF(a),
                         ordo_xfast_longest_prefix(dict, a[0].slice, count, a[1].slice, a[2].slice, a[3].slice, NULL));
}
