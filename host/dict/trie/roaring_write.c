/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/trie/hamt.h"

#include "primitive/scan.h"
#include "shared/roaring.h"

#define MODULE "dict/trie/roaring_write.cl"

struct writing {
    const struct ordo_hamt *hamt;
    cl_uint                 leaf_max, n_containers, wide;
    cl_mem                  leaves, heads;
    cl_mem                  sizes, has_runs, firsts;
    cl_mem                  part_starts, header_bytes;
};

static ordo_status words(struct ordo_call *call, size_t n, cl_mem *out)
{
    return ordo_call_scratch(call, n * sizeof(cl_uint), out);
}

static struct ordo_launch pass(const struct writing *w, const char *kernel, size_t items)
{
    return ordo_roaring_kernel(&w->hamt->dict, MODULE, kernel, ordo_dict_pass_items(w->hamt->dict.dev, items));
}

static struct ordo_args leaf_args(const struct writing *w)
{
    struct ordo_args args = ordo_hamt_args(&w->hamt->trie);

    ORDO_ADD(&args, ORDO_ARG(w->leaf_max));
    return args;
}

static void add_sums(struct ordo_args *args, const struct writing *w)
{
    ORDO_ADD(args, ORDO_ARG(w->heads), ORDO_ARG(w->sizes), ORDO_ARG(w->has_runs), ORDO_ARG(w->firsts),
             ORDO_ARG(w->n_containers), ORDO_ARG(w->wide));
}

static ordo_status survey(struct ordo_call *call, const struct writing *w)
{
    const struct ordo_launch launch = pass(w, "roaring_leaves", (size_t) w->hamt->trie.n_leaves + 1);
    struct ordo_args         args = leaf_args(w);

    ORDO_ADD(&args, ORDO_ARG(w->leaves), ORDO_ARG(w->heads));
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status divide(struct ordo_call *call, struct writing *w)
{
    const size_t n = w->hamt->trie.n_leaves;
    cl_ulong     sum = 0;

    ORDO_TRY(ordo_call_scratch(call, (n + 1) * sizeof sum, &w->leaves));
    ORDO_TRY(survey(call, w));
    ORDO_TRY(ordo_call_sum_before(call, ORDO_U64, w->leaves, n + 1));
    ORDO_TRY(ordo_call_read(call, w->leaves, n * sizeof sum, &sum, sizeof sum));
    w->n_containers = (cl_uint) (sum >> 32);
    ORDO_TRY(ordo_call_scratch(call, ((size_t) w->n_containers + 1) * sizeof(roaring_head), &w->heads));
    return survey(call, w);
}

static ordo_status shape(struct ordo_call *call, struct writing *w)
{
    const size_t     n = (size_t) w->n_containers + 1;
    struct ordo_args args = { .n = 0 };

    ORDO_TRY(ordo_call_scratch(call, n * sizeof(cl_ulong), &w->sizes));
    ORDO_TRY(words(call, n, &w->has_runs));
    ORDO_TRY(words(call, n, &w->firsts));
    ORDO_ADD(&args, ORDO_ARG(w->heads), ORDO_ARG(w->n_containers), ORDO_ARG(w->sizes), ORDO_ARG(w->has_runs),
             ORDO_ARG(w->firsts));
    const struct ordo_launch launch = pass(w, "roaring_shapes", n);
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    ORDO_TRY(ordo_call_sum_before(call, ORDO_U64, w->sizes, n));
    ORDO_TRY(ordo_call_sum_before(call, ORDO_U32, w->has_runs, n));
    return ordo_call_sum_before(call, ORDO_U32, w->firsts, n);
}

static ordo_status launch_parts(struct ordo_call *call, const struct writing *w, cl_uint lists)
{
    struct ordo_args args = { .n = 0 };

    add_sums(&args, w);
    ORDO_ADD(&args, ORDO_ARG(lists), ORDO_ARG(w->part_starts), ORDO_ARG(w->header_bytes));
    const struct ordo_launch launch = pass(w, "roaring_parts", (size_t) w->n_containers + 1);
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status head(struct ordo_call *call, struct writing *w)
{
    const size_t n = (size_t) w->n_containers + 1;

    ORDO_TRY(words(call, n, &w->part_starts));
    ORDO_TRY(ordo_call_scratch(call, n * sizeof(cl_ulong), &w->header_bytes));
    ORDO_TRY(launch_parts(call, w, 1));
    ORDO_TRY(launch_parts(call, w, 0));
    return ordo_call_sum_before(call, ORDO_U64, w->header_bytes, n);
}

static ordo_status measure(struct ordo_call *call, const struct writing *w, size_t *out)
{
    const size_t at = w->n_containers * sizeof(cl_ulong);
    cl_ulong     containers = 0, headers = 0;

    ORDO_TRY(ordo_call_read(call, w->sizes, at, &containers, sizeof containers));
    ORDO_TRY(ordo_call_read(call, w->header_bytes, at, &headers, sizeof headers));
    *out = (size_t) (containers + headers + (w->wide ? 8 : 0));
    return ORDO_OK;
}

static ordo_status fill(struct ordo_call *call, const struct writing *w, const struct ordo_slice *out)
{
    struct ordo_args header = { .n = 0 }, fill = leaf_args(w);

    add_sums(&header, w);
    ORDO_ADD(&header, ORDO_ARG(w->part_starts), ORDO_ARG(w->header_bytes));
    ordo_args_slice(&header, out);
    const struct ordo_launch launch_header = pass(w, "roaring_header", w->n_containers);
    ORDO_TRY(ordo_call_launch(call, &launch_header, &header));
    add_sums(&fill, w);
    ORDO_ADD(&fill, ORDO_ARG(w->leaves), ORDO_ARG(w->header_bytes));
    ordo_args_slice(&fill, out);
    const struct ordo_launch launch_fill = pass(w, "roaring_fill", w->hamt->trie.n_leaves);
    return ordo_call_launch(call, &launch_fill, &fill);
}

#define EMPTY_BYTES 8

static ordo_status fill_empty(struct ordo_call *call, const struct ordo_hamt *hamt, const struct ordo_slice *out)
{
    const uint8_t plain = hamt->dict.key_bytes == 8 ? 0 : 1;
    const uint8_t empty[EMPTY_BYTES] = { plain * (ROARING_PLAIN & 255), plain * (ROARING_PLAIN >> 8) };
    return ordo_call_write(call, out->mem, out->at, empty, sizeof empty);
}

static ordo_status check_room(const struct ordo_call *call, size_t size, size_t capacity)
{
    ORDO_REQUIRE(call->dev, size <= capacity, ORDO_TOO_SMALL, "capacity is %zu: the set needs %zu bytes", capacity,
                 size);
    return ORDO_OK;
}

static ordo_status write_set(struct ordo_call *call, const struct ordo_hamt *hamt, const struct ordo_slice *out,
                             size_t capacity, size_t *size)
{
    struct writing w = { .hamt = hamt,
                         .leaf_max = hamt->fixed_depth ? 0 : HAMT_LEAF,
                         .wide = hamt->dict.key_bytes == 8 };
    const bool     any = hamt->trie.n > 0;

    *size = EMPTY_BYTES;
    if (any) {
        ORDO_TRY(divide(call, &w));
        ORDO_TRY(shape(call, &w));
        ORDO_TRY(head(call, &w));
        ORDO_TRY(measure(call, &w, size));
    }
    if (!out->mem)
        return ORDO_OK;
    ORDO_TRY(check_room(call, *size, capacity));
    return any ? fill(call, &w, out) : fill_empty(call, hamt, out);
}

static ordo_status write_roaring(struct ordo_call *call, ordo_dict *dict, struct ordo_slice out, size_t capacity,
                                 size_t *size)
{
    const struct ordo_array arrays[] = { { "out", out, capacity, out.mem ? 1 : 0 } };

    ORDO_TRY(ordo_hamt_check_roaring(dict));
    ORDO_TRY(ordo_check_arrays(dict->dev, arrays, 1, 1));
    return write_set(call, ordo_hamt_of(dict), &out, capacity, size);
}

ordo_status ordo_hamt_write_roaring(ordo_dict *dict, struct ordo_slice out, size_t capacity, size_t *size,
                                    const struct ordo_order *order)
{
    ORDO_REQUIRE_GIVEN(dict ? dict->dev : NULL, size);
    ORDO_TRY(ordo_dict_check_own(dict, &ordo_hamt_structure));
    ORDO_DICT_QUERY(dict, ORDO_CAN_FIND, order, write_roaring(&call, dict, out, capacity, size));
}

ordo_status ordo_hamt_write_roaring_host(ordo_dict *dict, void *out, size_t capacity, size_t *size)
{
    ORDO_REQUIRE_GIVEN(NULL, dict);
    ORDO_REQUIRE_GIVEN(dict->dev, size);
    struct ordo_host_array a[] = { ordo_host_out(out, capacity, out ? 1 : 0) };
    a[0].limit = size;
    struct ordo_call outer;
    ORDO_TRY(ordo_host_begin(&outer, dict->dev, &dict->last, a, 1));
    return ordo_host_end(&outer, a, 1, ordo_hamt_write_roaring(dict, a[0].slice, capacity, size, NULL));
}
