/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a set in the Roaring portable format into a HAMT. Each launch checks the bytes that the next launch reads. The
 * trie is built after the last check. */
#include "dict/trie/hamt.h"

#include "primitive/scan.h"
#include "shared/roaring.h"

#define MODULE "dict/trie/roaring_read.cl"

/* Maximum bitmaps per launch, to limit its time. */
#define WALK_MAX 4096

struct reading {
    struct ordo_hamt_ready ready; /* must be the first member */
    const ordo_dict       *dict;
    struct ordo_slice      bytes;
    cl_ulong               size;
    bool                   wide;
    cl_uint                leaf_max, n_parts, n_containers, n_slices;
    cl_ulong               total;
    cl_mem                 wrong, parts, containers, starts, counts, number, leaves;
};

static void begin_args(struct ordo_args *args, const struct reading *r)
{
    args->n = args->n_at = 0;
    ordo_args_slice(args, &r->bytes);
}

static ordo_status begin_faults(struct ordo_call *call, struct reading *r)
{
    ORDO_TRY(ordo_call_scratch(call, ROARING_FAULT_WORDS * sizeof(cl_uint), &r->wrong));
    return ordo_call_fill(call, r->wrong, 0, ROARING_FAULT_WORDS * sizeof(cl_uint), UINT32_MAX);
}

static ordo_status check_faults(struct ordo_call *call, const struct reading *r)
{
#define X(id, of, text) { of, text },
    static const struct {
        const char *of, *text;
    } faults[] = { ROARING_FAULTS(X) };
#undef X
    cl_uint wrong[ROARING_FAULT_WORDS];

    memset(wrong, 0xff, sizeof wrong);
    ORDO_TRY(ordo_call_read(call, r->wrong, 0, wrong, sizeof wrong));
    for (size_t f = 0; f < ROARING_FAULT_WORDS; f++)
        ORDO_REQUIRE(call->dev, wrong[f] == UINT32_MAX, ORDO_INVALID,
                     "bytes: not in the Roaring portable format: %s %u %s", faults[f].of, (unsigned) wrong[f],
                     faults[f].text);
    return ORDO_OK;
}

/* Minimum bytes of each bitmap in a set of 64-bit keys: 4 for the upper half of its keys, and 8 for an empty bitmap. */
#define PART_BYTES_MIN 12

static ordo_status count_parts(struct ordo_call *call, struct reading *r)
{
    cl_ulong n = 1;

    ORDO_REQUIRE(call->dev, r->size >= 8, ORDO_INVALID,
                 "size is %zu: a set in the Roaring portable format has at least 8 bytes", (size_t) r->size);
    if (r->wide)
        ORDO_TRY(ordo_call_read(call, r->bytes.mem, r->bytes.at, &n, sizeof n));
    ORDO_REQUIRE(call->dev, !r->wide || n <= (r->size - 8) / PART_BYTES_MIN, ORDO_INVALID,
                 "size is %zu: too few bytes for the %llu bitmaps that the header announces", (size_t) r->size,
                 (unsigned long long) n);
    ORDO_REQUIRE(call->dev, n > 0 || r->size == 8, ORDO_INVALID,
                 "bytes: not in the Roaring portable format: %zu bytes are left over after 0 bitmaps",
                 (size_t) r->size - 8);
    r->n_parts = (cl_uint) n;
    return ORDO_OK;
}

static ordo_status find_parts(struct ordo_call *call, struct reading *r)
{
    const cl_uint  wide = r->wide;
    const cl_ulong start[ROARING_WALK_WORDS] = { [ROARING_AT] = r->wide ? 8 : 0 };
    cl_ulong       found = 0;
    cl_mem         walk = NULL;

    ORDO_TRY(ordo_call_scratch(call, sizeof start, &walk));
    ORDO_TRY(ordo_call_scratch(call, r->n_parts * sizeof(roaring_part), &r->parts));
    ORDO_TRY(ordo_call_write(call, walk, 0, start, sizeof start));
    for (cl_uint from = 0; from < r->n_parts; from += WALK_MAX) {
        const cl_uint    stop = r->n_parts - from < WALK_MAX ? r->n_parts : from + WALK_MAX;
        struct ordo_args args;
        begin_args(&args, r);
        ORDO_ADD(&args, ORDO_ARG(r->size), ORDO_ARG(wide), ORDO_ARG(r->n_parts), ORDO_ARG(from), ORDO_ARG(stop),
                 ORDO_ARG(walk), ORDO_ARG(r->parts), ORDO_ARG(r->wrong));
        const struct ordo_launch launch = ordo_roaring_kernel(r->dict, MODULE, "roaring_walk", 1);
        ORDO_TRY(ordo_call_launch(call, &launch, &args));
    }
    ORDO_TRY(check_faults(call, r));
    ORDO_TRY(ordo_call_read(call, walk, ROARING_FOUND * sizeof found, &found, sizeof found));
    r->n_containers = (cl_uint) found;
    return ORDO_OK;
}

static ordo_status find_containers(struct ordo_call *call, struct reading *r)
{
    struct ordo_args args;
    cl_ulong         slices = 0;

    ORDO_TRY(ordo_call_scratch(call, r->n_containers * sizeof(roaring_container), &r->containers));
    ORDO_TRY(ordo_call_scratch(call, ((size_t) r->n_containers + 1) * sizeof slices, &r->starts));
    begin_args(&args, r);
    ORDO_ADD(&args, ORDO_ARG(r->parts), ORDO_ARG(r->n_parts), ORDO_ARG(r->n_containers), ORDO_ARG(r->containers),
             ORDO_ARG(r->starts), ORDO_ARG(r->wrong));
    const struct ordo_launch launch =
        ordo_roaring_kernel(r->dict, MODULE, "roaring_containers", (size_t) r->n_containers + 1);
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    ORDO_TRY(ordo_call_sum_before(call, ORDO_U64, r->starts, (size_t) r->n_containers + 1));
    ORDO_TRY(check_faults(call, r));
    ORDO_TRY(ordo_call_read(call, r->starts, r->n_containers * sizeof slices, &slices, sizeof slices));
    r->n_slices = (cl_uint) slices;
    return ORDO_OK;
}

static ordo_status count_keys(struct ordo_call *call, struct reading *r)
{
    const size_t     share = ROARING_SHARE(ordo_device_facts(call->dev)->cpu);
    struct ordo_args slices, counts = { .n = 0 };

    ORDO_TRY(ordo_call_scratch(call, ((size_t) r->n_slices + 1) * sizeof(cl_ulong), &r->counts));
    begin_args(&slices, r);
    ORDO_ADD(&slices, ORDO_ARG(r->containers), ORDO_ARG(r->starts), ORDO_ARG(r->n_containers), ORDO_ARG(r->n_slices),
             ORDO_ARG(r->counts), ORDO_ARG(r->wrong));
    const struct ordo_launch launch_slices =
        ordo_roaring_kernel(r->dict, MODULE, "roaring_slices", r->n_slices / share + 1);
    ORDO_TRY(ordo_call_launch(call, &launch_slices, &slices));
    ORDO_TRY(ordo_call_sum_before(call, ORDO_U64, r->counts, (size_t) r->n_slices + 1));
    ORDO_ADD(&counts, ORDO_ARG(r->containers), ORDO_ARG(r->starts), ORDO_ARG(r->counts), ORDO_ARG(r->n_containers),
             ORDO_ARG(r->wrong));
    const struct ordo_launch launch_counts = ordo_roaring_kernel(r->dict, MODULE, "roaring_counts", r->n_containers);
    ORDO_TRY(ordo_call_launch(call, &launch_counts, &counts));
    ORDO_TRY(check_faults(call, r));
    ORDO_TRY(ordo_call_read(call, r->counts, r->n_slices * sizeof r->total, &r->total, sizeof r->total));
    ORDO_REQUIRE(call->dev, r->total <= ORDO_MAX_COUNT, ORDO_TOO_LARGE,
                 "the set has %llu keys: a dictionary may have %zu (ORDO_MAX_COUNT)", (unsigned long long) r->total,
                 ORDO_MAX_COUNT);
    return ORDO_OK;
}

static void set_args(struct ordo_args *args, const struct reading *r)
{
    begin_args(args, r);
    ORDO_ADD(args, ORDO_ARG(r->containers), ORDO_ARG(r->starts), ORDO_ARG(r->counts), ORDO_ARG(r->n_containers),
             ORDO_ARG(r->leaf_max));
}

static ordo_status launch_divide(struct ordo_call *call, const struct reading *r)
{
    const struct ordo_launch launch =
        ordo_roaring_kernel(r->dict, MODULE, "roaring_divide", (size_t) r->n_containers + 1);
    struct ordo_args args;

    set_args(&args, r);
    ORDO_ADD(&args, ORDO_ARG(r->number), ORDO_ARG(r->leaves));
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status divide(struct ordo_call *call, struct reading *r)
{
    cl_uint *n = &r->ready.n;

    ORDO_TRY(ordo_call_scratch(call, ((size_t) r->n_containers + 1) * sizeof *n, &r->number));
    ORDO_TRY(launch_divide(call, r));
    ORDO_TRY(ordo_call_sum_before(call, ORDO_U32, r->number, (size_t) r->n_containers + 1));
    ORDO_TRY(ordo_call_read(call, r->number, r->n_containers * sizeof *n, n, sizeof *n));
    if (ordo_is_dry_run(call->dev))
        *n = 1;
    ORDO_TRY(ordo_call_scratch(call, ((size_t) *n + 1) * sizeof(roaring_start), &r->leaves));
    return launch_divide(call, r);
}

static ordo_status shape(struct ordo_call *call, struct reading *r)
{
    const size_t     n = r->ready.n;
    struct ordo_args args;
    cl_uint          units = 0;

    ORDO_TRY(ordo_call_scratch(call, n * HAMT_RECORD(r->dict->key_bytes), &r->ready.fresh));
    ORDO_TRY(ordo_call_scratch(call, (n + 1) * sizeof units, &r->ready.sizes));
    set_args(&args, r);
    ORDO_ADD(&args, ORDO_ARG(r->leaves), ORDO_ARG(r->ready.n), ORDO_ARG(r->ready.fresh), ORDO_ARG(r->ready.sizes));
    const struct ordo_launch launch = ordo_roaring_kernel(r->dict, MODULE, "roaring_shape", n + 1);
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    ORDO_TRY(ordo_call_sum_before(call, ORDO_U32, r->ready.sizes, n + 1));
    ORDO_TRY(ordo_call_read(call, r->ready.sizes, n * sizeof units, &units, sizeof units));
    r->ready.units = units;
    return ORDO_OK;
}

static ordo_status fill(struct ordo_call *call, const struct ordo_hamt_ready *ready, const struct ordo_hamt_trie *next)
{
    const struct reading    *r = (const struct reading *) ready;
    const struct ordo_launch launch = ordo_roaring_kernel(r->dict, MODULE, "roaring_fill_leaves", ready->n);
    struct ordo_args         args;

    set_args(&args, r);
    ORDO_ADD(&args, ORDO_ARG(r->leaves), ORDO_ARG(ready->n), ORDO_ARG(next->leaves.mem), ORDO_ARG(next->pool.mem));
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status become(struct ordo_call *call, struct ordo_hamt *hamt, struct reading *r)
{
    ORDO_TRY(divide(call, r));
    ORDO_TRY(shape(call, r));
    r->ready.n_elements = (cl_uint) r->total;
    r->ready.fill = fill;
    ORDO_TRY(ordo_hamt_assemble_ready(call, hamt, &r->ready));
    ordo_hamt_drop_spare(hamt);
    return ORDO_OK;
}

static ordo_status read_set(struct ordo_call *call, struct ordo_hamt *hamt, struct reading *r)
{
    ORDO_TRY(count_parts(call, r));
    ORDO_TRY(begin_faults(call, r));
    if (r->n_parts > 0)
        ORDO_TRY(find_parts(call, r));
    if (r->n_containers > 0) {
        ORDO_TRY(find_containers(call, r));
        ORDO_TRY(count_keys(call, r));
        return become(call, hamt, r);
    }
    ordo_hamt_clear(&hamt->dict);
    return ORDO_OK;
}

static ordo_status check_read(ordo_dict *dict, struct ordo_slice bytes, size_t size)
{
    const struct ordo_array arrays[] = { { "bytes", bytes, size, 1 } };

    ORDO_TRY(ordo_hamt_check_roaring(dict));
    ORDO_REQUIRE(dict->dev, dict->value_bytes == 0, ORDO_UNSUPPORTED,
                 "the Roaring format has no values: this dictionary has values of %u bytes", dict->value_bytes);
    ORDO_REQUIRE_COUNT(dict->dev, "size", size);
    return ordo_check_arrays(dict->dev, arrays, 1, 0);
}

static ordo_status read_roaring(struct ordo_call *call, ordo_dict *dict, struct ordo_slice bytes, size_t size)
{
    struct reading r = { .dict = dict, .bytes = bytes, .size = size, .wide = dict->key_bytes == 8 };

    ORDO_TRY(check_read(dict, bytes, size));
    r.leaf_max = ordo_hamt_of(dict)->fixed_depth ? 0 : HAMT_LEAF;
    return read_set(call, ordo_hamt_of(dict), &r);
}

ordo_status ordo_hamt_read_roaring(ordo_dict *dict, struct ordo_slice bytes, size_t size,
                                   const struct ordo_order *order)
{
    struct ordo_call call;
    ORDO_TRY(ordo_dict_check_own(dict, &ordo_hamt_structure));
    ORDO_TRY(ordo_dict_begin_update(&call, dict, ORDO_CAN_FIND, order));
    return ordo_dict_end(&call, dict, read_roaring(&call, dict, bytes, size));
}

ordo_status ordo_hamt_read_roaring_host(ordo_dict *dict, const void *bytes, size_t size)
{
    ORDO_REQUIRE_GIVEN(NULL, dict);
    struct ordo_host_array a[] = { ordo_host_in(bytes, size, 1) };
    struct ordo_call       outer;

    /* Without `copied`, ordo_host_end would wait for kernels that read the caller's bytes. This wait could fail after
     * the trie is replaced. */
    a[0].copied = true;
    ORDO_TRY(ordo_host_begin(&outer, dict->dev, &dict->last, a, 1));
    return ordo_host_end(&outer, a, 1, ordo_hamt_read_roaring(dict, a[0].slice, size, NULL));
}
