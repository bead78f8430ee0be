/* SPDX-License-Identifier: Apache-2.0 */
/* Radix sort: the launches of each way (sort_plan.h). Kernels and papers: cl/primitive/sort_*.cl. */
#include "primitive/sort.h"
#include "primitive/host_array.h"
#include "primitive/sort_plan.h"

#include "shared/sort.h"

struct pairs {
    struct ordo_slice keys, values;
};

struct sort {
    struct ordo_call     *call;
    struct ordo_sort_plan plan;
    struct pairs          in, out, spare;
    cl_mem                pass_digits; /* SORT_PLAN_WORDS words, if the device plans the passes */
};

/* ---- launches -------------------------------------------------------------------------------------------------- */

static struct ordo_launch kernel_of(const struct sort *s, const char *file, const char *kernel, size_t groups,
                                    size_t group)
{
    return (struct ordo_launch) {
        .file = file,
        .kernel = kernel,
        .groups = groups,
        .group = group,
        .defines = { { "ORDO_KEY", s->plan.key },
                     { "ORDO_VALUE_BYTES", s->plan.value_bytes },
                     { "ORDO_DESCENDING", s->plan.descending },
                     { "RANK_BITS", s->plan.digit_bits },
                     { "GROUP_SIZE", (long) group } },
    };
}

/* A kernel that uses group/sort_tile.cl. */
static struct ordo_launch tile_kernel(const struct sort *s, const char *file, const char *kernel, size_t groups)
{
    struct ordo_launch launch = kernel_of(s, file, kernel, groups, s->plan.group);
    ordo_launch_define(&launch, "RANK_ITEMS", s->plan.items);
    ordo_launch_define(&launch, "SORT_PLANNED", s->plan.planned);
    ordo_launch_define(&launch, "LOCAL_BYTES", s->plan.local_bytes);
    ordo_launch_define(&launch, "HISTOGRAM_COPIES", s->plan.copies);
    ordo_launch_define(&launch, "HISTOGRAM_BYTES", s->plan.histogram_bytes);
    ordo_launch_define(&launch, "ORDO_MAX_REGISTERS", s->plan.registers);
    return launch;
}

/* Kernels for keys alone have no arguments for values. */
static void add_pairs(struct ordo_args *args, const struct sort *s, const struct pairs *pairs)
{
    ORDO_ADD(args, ORDO_ARG(pairs->keys.mem));
    if (s->plan.value_bytes)
        ORDO_ADD(args, ORDO_ARG(pairs->values.mem));
}

static struct sort_planned planned_of(const struct sort *s)
{
    return (struct sort_planned) { .first_bit = s->plan.first_bit, .bits = s->plan.bits, .passes = s->plan.passes };
}

/* The buffers of a pass. */
static const struct pairs *pass_from(const struct sort *s, uint32_t pass)
{
    return pass == 0 ? &s->in : (s->plan.passes - pass) % 2 == 0 ? &s->out : &s->spare;
}

static const struct pairs *pass_to(const struct sort *s, uint32_t pass)
{
    return (s->plan.passes - pass) % 2 == 1 ? &s->out : &s->spare;
}

/* The arguments of a pass that all ways share. */
static struct sort_pass pass_of(const struct sort *s, uint32_t pass)
{
    const struct ordo_sort_plan *p = &s->plan;
    const struct pairs          *from = pass_from(s, pass), *to = pass_to(s, pass);
    const uint32_t               below = SORT_BITS_BELOW(p->bits, p->passes, pass);
    const uint32_t               width = SORT_BITS_BELOW(p->bits, p->passes, pass + 1) - below;
    return (struct sort_pass) {
        .keys_in_at = from->keys.at,
        .keys_out_at = to->keys.at,
        .values_in_at = from->values.at,
        .values_out_at = to->values.at,
        .count = (uint32_t) p->count,
        .tiles = p->tiles,
        .end_tile = p->tiles,
        .pass = pass,
        .shift = p->first_bit + below,
        .digit_mask = (1u << width) - 1,
    };
}

/* Launches a kernel that moves the elements of a pass. control NULL: the kernel has none. */
static ordo_status launch_pass(struct sort *s, const char *file, const char *kernel, const cl_mem *control,
                               const struct sort_pass *p)
{
    const struct ordo_launch  launch = tile_kernel(s, file, kernel, p->end_tile - p->first_tile);
    const struct sort_planned planned = planned_of(s);
    struct ordo_args          args = { .n = 0 };
    add_pairs(&args, s, pass_from(s, p->pass));
    add_pairs(&args, s, pass_to(s, p->pass));
    if (control)
        ORDO_ADD(&args, ORDO_ARG(*control));
    if (s->plan.planned)
        ORDO_ADD(&args, ORDO_ARG(s->pass_digits), ORDO_ARG(planned));
    ORDO_ADD(&args, ORDO_ARG(*p));
    return ordo_call_launch(s->call, &launch, &args);
}

/* ---- one launch for everything --------------------------------------------------------------------------------- */

static struct sort_small small_of(const struct sort *s)
{
    return (struct sort_small) {
        .keys_in_at = s->in.keys.at,
        .keys_out_at = s->out.keys.at,
        .values_in_at = s->in.values.at,
        .values_out_at = s->out.values.at,
        .count = (uint32_t) s->plan.count,
        .first_bit = s->plan.first_bit,
        .bits = s->plan.bits,
        .passes = s->plan.passes,
    };
}

static ordo_status sort_small(struct sort *s)
{
    const struct ordo_launch launch = tile_kernel(s, "primitive/sort_small.cl", "sort_small", 1);
    const struct sort_small  small = small_of(s);
    struct ordo_args         args = { .n = 0 };
    add_pairs(&args, s, &s->in);
    add_pairs(&args, s, &s->out);
    ORDO_ADD(&args, ORDO_ARG(small));
    return ordo_call_launch(s->call, &launch, &args);
}

static ordo_status sort_few_chunks(struct sort *s)
{
    const struct ordo_launch launch = kernel_of(s, "primitive/sort_chunked.cl", "sort_chunk_few", 1, 1);
    const cl_uint            in_place = s->plan.in_place;
    const struct sort_small  few = small_of(s);
    struct ordo_args         args = { .n = 0 };
    add_pairs(&args, s, &s->in);
    add_pairs(&args, s, &s->out);
    add_pairs(&args, s, &s->spare);
    ORDO_ADD(&args, ORDO_ARG(in_place), ORDO_ARG(few));
    return ordo_call_launch(s->call, &launch, &args);
}

static ordo_status sort_direct(struct sort *s)
{
    for (uint32_t pass = 0; pass < s->plan.passes; pass++) {
        const struct sort_pass p = pass_of(s, pass);
        ORDO_TRY(launch_pass(s, "primitive/sort_direct.cl", "sort_direct", NULL, &p));
    }
    return ORDO_OK;
}

/* ---- the local pass -------------------------------------------------------------------------------------------- */

static ordo_status launch_local(struct sort *s, const struct ordo_launch *launch, bool values, cl_mem bounds)
{
    const struct ordo_sort_local *l = &s->plan.local;
    const struct sort_local       local = {
              .keys_out_at = s->out.keys.at,
              .values_out_at = s->out.values.at,
              .count = (uint32_t) s->plan.count,
              .first_bit = s->plan.first_bit,
              .passes = s->plan.passes,
              .step = l->step,
              .ranges = l->ranges,
              .range_max = l->group * l->items,
    };
    struct ordo_args args = { .n = 0 };
    if (values) {
        add_pairs(&args, s, &s->out);
        add_pairs(&args, s, &s->spare);
    } else {
        ORDO_ADD(&args, ORDO_ARG(s->out.keys.mem), ORDO_ARG(s->spare.keys.mem));
    }
    ORDO_ADD(&args, ORDO_ARG(s->pass_digits), ORDO_ARG(bounds), ORDO_ARG(local));
    return ordo_call_launch(s->call, launch, &args);
}

static struct ordo_launch local_kernel(const struct sort *s, const char *kernel, size_t groups)
{
    struct ordo_launch launch = kernel_of(s, "primitive/sort_local.cl", kernel, groups, s->plan.local.group);
    ordo_launch_define(&launch, "LOCAL_ITEMS", s->plan.local.items);
    ordo_launch_define(&launch, "LOCAL_BYTES", s->plan.local.local_bytes);
    return launch;
}

/* Sorts the segments that the passes leave. Each kernel ends immediately if the plan has no local pass. */
static ordo_status sort_locally(struct sort *s)
{
    const struct ordo_sort_local *l = &s->plan.local;
    cl_mem                        bounds = NULL;
    if (l->step == 0)
        return ORDO_OK;
    const struct ordo_launch find = local_kernel(s, "sort_bounds", ordo_ceil_div(l->ranges + 1, l->group));
    const struct ordo_launch sort = local_kernel(s, "sort_local", l->ranges);
    const struct ordo_launch large = tile_kernel(s, "primitive/sort_large.cl", "sort_large", l->ranges);
    ORDO_TRY(ordo_call_scratch(s->call, (2 * (size_t) l->ranges + 1) * sizeof(cl_uint), &bounds));
    ORDO_TRY(launch_local(s, &find, false, bounds));
    ORDO_TRY(launch_local(s, &sort, true, bounds));
    return launch_local(s, &large, true, bounds);
}

/* ---- one-sweep ------------------------------------------------------------------------------------------------- */

/* The control buffer (cl/shared/sort.h). Its parts begin at these words. */
struct control {
    cl_mem   mem, counters;
    uint32_t launch_tiles, launches; /* of one pass */
    uint32_t status, bases;
};

/* Counts the digits of every pass, and plans the passes. */
static ordo_status launch_histogram(struct sort *s, const char *file, const struct control *c)
{
    const struct ordo_sort_plan *p = &s->plan;
    const size_t                 enough = (size_t) ordo_device_facts(s->call->dev)->compute_units * 4;
    const struct ordo_launch     launch = tile_kernel(s, file, "sort_histogram", ordo_min_size(enough, p->tiles));
    const struct sort_histogram  h = {
         .keys_at = s->in.keys.at,
         .count = (uint32_t) p->count,
         .first_bit = p->first_bit,
         .bits = p->bits,
         .passes = p->passes,
         .bases_word = c->bases,
         .segment_limit = p->local.segment_limit,
    };
    struct ordo_args args = { .n = 0 };
    ORDO_ADD(&args, ORDO_ARG(s->in.keys.mem), ORDO_ARG(c->counters), ORDO_ARG(c->mem));
    if (p->planned) {
        ORDO_TRY(ordo_call_scratch(s->call, SORT_PLAN_WORDS * sizeof(cl_uint), &s->pass_digits));
        ORDO_ADD(&args, ORDO_ARG(s->pass_digits));
    }
    ORDO_ADD(&args, ORDO_ARG(h));
    return ordo_call_launch(s->call, &launch, &args);
}

static ordo_status make_control(struct sort *s, struct control *c)
{
    const struct ordo_sort_plan *p = &s->plan;
    const size_t                 radix = (size_t) 1 << p->digit_bits;
    c->launch_tiles = SORT_LAUNCH_MAX / p->tile;
    c->launches = (uint32_t) ordo_ceil_div(p->tiles, c->launch_tiles);
    c->status = p->passes * c->launches; /* after the tickets */
    c->bases = c->status + (uint32_t) (p->tiles * radix);
    ORDO_TRY(ordo_call_scratch(s->call, (c->bases + 2 * radix * p->passes) * 4, &c->mem));
    return ordo_call_zeroed(s->call, (1 + p->passes * radix) * 4, &c->counters);
}

static ordo_status sort_onesweep(struct sort *s)
{
    static const char file[] = "primitive/sort_onesweep.cl";
    struct control    c = { 0 };
    ORDO_TRY(make_control(s, &c));
    ORDO_TRY(launch_histogram(s, file, &c));
    for (uint32_t pass = 0; pass < s->plan.passes; pass++)
        for (uint32_t part = 0; part < c.launches; part++) {
            struct sort_pass p = pass_of(s, pass);
            const uint32_t   bases = c.bases + (s->plan.planned ? 0 : 2 * pass << s->plan.digit_bits);
            p.first_tile = part * c.launch_tiles;
            p.end_tile = (uint32_t) ordo_min_size(s->plan.tiles, (size_t) p.first_tile + c.launch_tiles);
            p.ticket_word = pass * c.launches + part;
            p.status_word = c.status;
            p.bases_in_word = bases + (part % 2 << s->plan.digit_bits);
            p.bases_out_word = bases + ((part + 1) % 2 << s->plan.digit_bits);
            ORDO_TRY(launch_pass(s, file, "sort_onesweep", &c.mem, &p));
        }
    return sort_locally(s);
}

/* ---- reduce-then-scan ------------------------------------------------------------------------------------------ */

static ordo_status plan_on_device(struct sort *s)
{
    struct control c = { 0 };
    const size_t   words = (size_t) s->plan.passes << s->plan.digit_bits;
    if (!s->plan.planned)
        return ORDO_OK;
    ORDO_TRY(ordo_call_scratch(s->call, 2 * words * 4, &c.mem));
    ORDO_TRY(ordo_call_zeroed(s->call, (1 + words) * 4, &c.counters));
    return launch_histogram(s, "primitive/sort_histogram.cl", &c);
}

static ordo_status count_digits(struct sort *s, cl_mem control, const struct sort_pass *p)
{
    static const char         file[] = "primitive/sort_scatter.cl";
    const struct ordo_launch  count = tile_kernel(s, file, "sort_count", s->plan.tiles);
    const struct ordo_launch  scan = tile_kernel(s, file, "sort_scan", (size_t) 1 << s->plan.digit_bits);
    const struct sort_planned planned = planned_of(s);
    struct ordo_args          both = { .n = 0 }, args = { .n = 0 };
    ORDO_ADD(&both, ORDO_ARG(control));
    if (s->plan.planned)
        ORDO_ADD(&both, ORDO_ARG(s->pass_digits), ORDO_ARG(planned));
    ORDO_ADD(&both, ORDO_ARG(*p));
    ORDO_ADD(&args, ORDO_ARG(pass_from(s, p->pass)->keys.mem));
    ordo_args_add(&args, both.arg, both.n);
    ORDO_TRY(ordo_call_launch(s->call, &count, &args));
    return ordo_call_launch(s->call, &scan, &both);
}

static ordo_status sort_reduce_scan(struct sort *s)
{
    cl_mem control = NULL;
    ORDO_TRY(ordo_call_scratch(s->call, ((size_t) s->plan.tiles + 1) * 4 << s->plan.digit_bits, &control));
    ORDO_TRY(plan_on_device(s));
    for (uint32_t pass = 0; pass < s->plan.passes; pass++) {
        const struct sort_pass p = pass_of(s, pass);
        ORDO_TRY(count_digits(s, control, &p));
        ORDO_TRY(launch_pass(s, "primitive/sort_scatter.cl", "sort_scatter", &control, &p));
    }
    return sort_locally(s);
}

/* ---- chunks (CPUs) --------------------------------------------------------------------------------------------- */

static struct sort_chunks chunks_of(const struct sort *s, uint32_t pass)
{
    const struct sort_pass p = pass_of(s, pass);
    return (struct sort_chunks) {
        .keys_in_at = p.keys_in_at,
        .keys_out_at = p.keys_out_at,
        .values_in_at = p.values_in_at,
        .values_out_at = p.values_out_at,
        .count = p.count,
        .chunk = s->plan.chunk,
        .chunks = s->plan.chunks,
        .shift = p.shift,
        .digit_mask = p.digit_mask,
    };
}

static ordo_status launch_chunks(struct sort *s, const char *kernel, size_t groups, struct ordo_args *args, cl_mem plan,
                                 cl_mem counts, const struct sort_chunks *c)
{
    const struct ordo_launch launch = kernel_of(s, "primitive/sort_chunked.cl", kernel, groups, 1);
    ORDO_ADD(args, ORDO_ARG(plan), ORDO_ARG(counts), ORDO_ARG(*c));
    return ordo_call_launch(s->call, &launch, args);
}

static ordo_status launch_buckets(struct sort *s, const char *kernel, size_t groups, struct ordo_args *args)
{
    const struct ordo_sort_plan *p = &s->plan;
    const struct ordo_launch     launch = kernel_of(s, "primitive/sort_buckets.cl", kernel, groups, 1);
    const struct sort_buckets    b = {
           .keys_in_at = s->in.keys.at,
           .keys_out_at = s->out.keys.at,
           .values_in_at = s->in.values.at,
           .values_out_at = s->out.values.at,
           .count = (uint32_t) p->count,
           .chunk = p->chunk,
           .chunks = p->chunks,
           .first_bit = p->first_bit,
           .bits = p->bits,
           .longest = p->bucket_max,
    };
    ORDO_ADD(args, ORDO_ARG(b));
    return ordo_call_launch(s->call, &launch, args);
}

/* Sorts by buckets, unless one of them is too long. plan: says so. */
static ordo_status sort_buckets(struct sort *s, cl_mem counts, cl_mem *plan)
{
    const size_t     chunks = s->plan.chunks;
    struct ordo_args keys = { .n = 0 }, span = { .n = 0 }, digit = { .n = 0 }, scan = { .n = 0 };
    struct ordo_args count = { .n = 0 }, move = { .n = 0 }, sort = { .n = 0 };
    ORDO_TRY(ordo_call_scratch(s->call, SORT_BUCKET_WORDS * sizeof(cl_uint), plan));
    ORDO_ADD(&keys, ORDO_ARG(s->in.keys.mem), ORDO_ARG(*plan));
    ORDO_ADD(&span, ORDO_ARG(s->in.keys.mem), ORDO_ARG(*plan), ORDO_ARG(counts));
    ORDO_ADD(&digit, ORDO_ARG(counts), ORDO_ARG(*plan));
    ORDO_ADD(&count, ORDO_ARG(s->in.keys.mem), ORDO_ARG(*plan), ORDO_ARG(counts));
    ORDO_ADD(&scan, ORDO_ARG(*plan), ORDO_ARG(counts));
    add_pairs(&move, s, &s->in);
    add_pairs(&move, s, &s->spare);
    add_pairs(&move, s, &s->out);
    ORDO_ADD(&move, ORDO_ARG(*plan), ORDO_ARG(counts));
    add_pairs(&sort, s, &s->spare);
    add_pairs(&sort, s, &s->out);
    ORDO_ADD(&sort, ORDO_ARG(*plan));
    ORDO_TRY(launch_buckets(s, "sort_bucket_sample", 1, &keys));
    ORDO_TRY(launch_buckets(s, "sort_bucket_span", chunks, &span));
    ORDO_TRY(launch_buckets(s, "sort_bucket_digit", 1, &digit));
    ORDO_TRY(launch_buckets(s, "sort_bucket_count", chunks, &count));
    ORDO_TRY(launch_buckets(s, "sort_bucket_scan", 1, &scan));
    ORDO_TRY(launch_buckets(s, "sort_bucket_scatter", chunks, &move));
    return launch_buckets(s, "sort_bucket_sort", (size_t) 1 << SORT_BUCKET_BITS, &sort);
}

static ordo_status sort_many_chunks(struct sort *s)
{
    const size_t chunks = s->plan.chunks;
    cl_mem       counts = NULL, plan = NULL;
    ORDO_TRY(ordo_call_scratch(s->call, chunks * 4 << SORT_BUCKET_BITS, &counts));
    if (s->plan.bucket_max)
        ORDO_TRY(sort_buckets(s, counts, &plan));
    for (uint32_t pass = 0; pass < s->plan.passes; pass++) {
        const struct sort_chunks c = chunks_of(s, pass);
        const struct pairs      *from = pass_from(s, pass);
        struct ordo_args         count = { .n = 0 }, scan = { .n = 0 }, move = { .n = 0 };
        ORDO_ADD(&count, ORDO_ARG(from->keys.mem));
        add_pairs(&move, s, from);
        add_pairs(&move, s, pass_to(s, pass));
        ORDO_TRY(launch_chunks(s, "sort_chunk_count", chunks, &count, plan, counts, &c));
        ORDO_TRY(launch_chunks(s, "sort_chunk_scan", 1, &scan, plan, counts, &c));
        ORDO_TRY(launch_chunks(s, "sort_chunk_scatter", chunks, &move, plan, counts, &c));
    }
    return ORDO_OK;
}

/* ---- the call -------------------------------------------------------------------------------------------------- */

static bool same_place(struct ordo_slice a, struct ordo_slice b)
{
    return a.mem == b.mem && a.at == b.at;
}

static ordo_status check_sort(const struct sort *s, const struct ordo_sort_params *params, size_t count)
{
    ordo_device            *dev = s->call->dev;
    const size_t            key_bytes = ordo_type_bytes(params->key), value_bytes = params->value_bytes;
    const bool              same_keys = same_place(s->in.keys, s->out.keys);
    const bool              same_values = same_place(s->in.values, s->out.values);
    const struct ordo_array arrays[] = {
        { "keys_in", s->in.keys, count, key_bytes },
        { "values_in", s->in.values, count, value_bytes },
        { "keys_out", s->out.keys, count, key_bytes },
        { "values_out", s->out.values, count, value_bytes },
    };
    ORDO_REQUIRE(dev, count == 0 || value_bytes == 0 || same_keys == same_values, ORDO_INVALID,
                 "only keys or only values are in place: sort both in place, or neither");
    if (same_keys && same_values) /* the outputs are the inputs */
        return ordo_check_arrays(dev, arrays, 2, 1);
    return ordo_check_arrays(dev, arrays, 4, 2);
}

static ordo_status take_spare(struct sort *s)
{
    if (s->plan.way == ORDO_SORT_BY_SMALL || s->plan.passes < 2)
        return ORDO_OK;
    if (s->plan.bucket_max && s->plan.key_bytes == s->plan.value_bytes) { /* for pairs (sort_buckets.cl) */
        ORDO_TRY(ordo_call_scratch(s->call, 2 * s->plan.count * s->plan.key_bytes, &s->spare.keys.mem));
        s->spare.values = ordo_at(s->spare.keys.mem, s->plan.count);
        return ORDO_OK;
    }
    ORDO_TRY(ordo_call_scratch(s->call, s->plan.count * s->plan.key_bytes, &s->spare.keys.mem));
    if (s->plan.value_bytes)
        ORDO_TRY(ordo_call_scratch(s->call, s->plan.count * s->plan.value_bytes, &s->spare.values.mem));
    return ORDO_OK;
}

ordo_status ordo_call_sort(struct ordo_call *call, const struct ordo_sort_params *params, struct ordo_slice keys_in,
                           struct ordo_slice values_in, struct ordo_slice keys_out, struct ordo_slice values_out,
                           size_t count)
{
    static ordo_status (*const sort_by[])(struct sort * s) = {
        [ORDO_SORT_BY_SMALL] = sort_small,           [ORDO_SORT_BY_DIRECT] = sort_direct,
        [ORDO_SORT_BY_ONESWEEP] = sort_onesweep,     [ORDO_SORT_BY_REDUCE_SCAN] = sort_reduce_scan,
        [ORDO_SORT_BY_FEW_CHUNKS] = sort_few_chunks, [ORDO_SORT_BY_MANY_CHUNKS] = sort_many_chunks,
    };
    struct sort s = { .call = call, .in = { keys_in, values_in }, .out = { keys_out, values_out } };
    ORDO_TRY(check_sort(&s, params, count));
    if (count == 0)
        return ORDO_OK;
    s.plan = ordo_sort_plan_of(call->dev, params, count, same_place(keys_in, keys_out));
    ORDO_TRY(take_spare(&s));
    return sort_by[s.plan.way](&s);
}

static ordo_status check_params(ordo_device *dev, const struct ordo_sort_params *params, size_t count)
{
    ORDO_REQUIRE_GIVEN(dev, dev);
    ORDO_REQUIRE_GIVEN(dev, params);
    ORDO_TRY(ordo_check_type(dev, params->key));
    const size_t key_bits = 8 * ordo_type_bytes(params->key);
    ORDO_TRY(ordo_check_value_bytes(dev, params->value_bytes));
    ORDO_REQUIRE(dev, params->first_bit < key_bits && params->bits <= key_bits - params->first_bit, ORDO_INVALID,
                 "first_bit is %u and bits is %u: a key has %zu bits", (unsigned) params->first_bit,
                 (unsigned) params->bits, key_bits);
    ORDO_REQUIRE_COUNT(dev, "count", count);
    return ORDO_OK;
}

ordo_status ordo_sort(ordo_device *dev, const struct ordo_sort_params *params, struct ordo_slice keys_in,
                      struct ordo_slice values_in, struct ordo_slice keys_out, struct ordo_slice values_out,
                      size_t count, const struct ordo_order *order)
{
    struct ordo_call call;
    ORDO_TRY(check_params(dev, params, count));
    ORDO_TRY(ordo_call_begin(&call, dev, order));
    return ordo_call_end(&call, ordo_call_sort(&call, params, keys_in, values_in, keys_out, values_out, count));
}

ordo_status ordo_sort_host(ordo_device *dev, const struct ordo_sort_params *params, void *keys, void *values,
                           size_t count)
{
    ORDO_TRY(check_params(dev, params, count));
    struct ordo_host_array a[] = {
        ordo_host_inout(keys, count, ordo_type_bytes(params->key)),
        ordo_host_inout(values, count, params->value_bytes),
    };
    struct ordo_call call;
    ORDO_TRY(ordo_host_begin(&call, dev, NULL, a, 2));
    return ordo_host_end(&call, a, 2,
                         ordo_sort(dev, params, a[0].slice, a[1].slice, a[0].slice, a[1].slice, count, NULL));
}
