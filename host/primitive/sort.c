/* SPDX-License-Identifier: Apache-2.0 */
/* Launches the kernels of a radix sort. Their files, cl/primitive/sort_*.cl, name the papers. */
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
    /* Kernel sort_histogram writes the digit of each pass here. NULL if plan.planned is false. */
    cl_mem pass_digits;
};

/* ---- launches -------------------------------------------------------------------------------------------------- */

/* clang-format off */
#define SORT_DEFINES(plan, size)                 \
    { "ORDO_KEY", (plan)->key },                 \
    { "ORDO_VALUE_BYTES", (plan)->value_bytes }, \
    { "ORDO_DESCENDING", (plan)->descending },   \
    { "RANK_BITS", (plan)->digit_bits },         \
    { "GROUP_SIZE", (long) (size) }
/* clang-format on */

static struct ordo_launch tile_kernel(const struct ordo_sort_plan *p, const char *file, const char *kernel,
                                      size_t groups)
{
    return (struct ordo_launch) {
        .file = file,
        .kernel = kernel,
        .groups = groups,
        .group = p->group,
        .defines = { SORT_DEFINES(p, p->group),
                     { "RANK_ITEMS", p->items },
                     { "SORT_PLANNED", p->planned },
                     { "LOCAL_BYTES", p->local_bytes },
                     { "HISTOGRAM_COPIES", p->copies },
                     { "HISTOGRAM_BYTES", p->histogram_bytes },
                     { "ORDO_MAX_REGISTERS", p->registers } },
    };
}

static void add_pairs(struct ordo_args *args, const struct sort *s, const struct pairs *a, const struct pairs *b)
{
    for (; a; a = b, b = NULL) {
        ORDO_ADD(args, ORDO_ARG(a->keys.mem));
        if (s->plan.value_bytes)
            ORDO_ADD(args, ORDO_ARG(a->values.mem));
    }
}

struct pass {
    const struct pairs *from, *to;
    struct sort_pass    args;
    struct sort_planned planned;
};

static struct pass pass_of(const struct sort *s, uint32_t pass)
{
    const struct ordo_sort_plan *p = &s->plan;
    const bool                   to_out = (p->passes - pass) % 2 == 1;
    const struct pairs          *from = pass == 0 ? &s->in : to_out ? &s->spare : &s->out;
    const struct pairs          *to = to_out ? &s->out : &s->spare;
    const uint32_t               below = SORT_BITS_BELOW(p->bits, p->passes, pass);
    const uint32_t               width = SORT_BITS_BELOW(p->bits, p->passes, pass + 1) - below;
    return (struct pass) {
        .from = from,
        .to = to,
        .args = { .keys_in_at = from->keys.at,
                  .keys_out_at = to->keys.at,
                  .values_in_at = from->values.at,
                  .values_out_at = to->values.at,
                  .count = (uint32_t) p->count,
                  .tiles = p->tiles,
                  .end_tile = p->tiles,
                  .pass = pass,
                  .shift = p->first_bit + below,
                  .digit_mask = (1u << width) - 1 },
        .planned = { .first_bit = p->first_bit, .bits = p->bits, .passes = p->passes },
    };
}

static ordo_status launch_pass(struct sort *s, const char *file, const char *kernel, const cl_mem *control,
                               const struct pass *p)
{
    const struct ordo_launch launch = tile_kernel(&s->plan, file, kernel, p->args.end_tile - p->args.first_tile);
    struct ordo_args         args = { .n = 0 };
    add_pairs(&args, s, p->from, p->to);
    if (control)
        ORDO_ADD(&args, ORDO_ARG(*control));
    if (s->plan.planned)
        ORDO_ADD(&args, ORDO_ARG(s->pass_digits), ORDO_ARG(p->planned));
    ORDO_ADD(&args, ORDO_ARG(p->args));
    return ordo_call_launch(s->call, &launch, &args);
}

/* ---- sorts of few elements --------------------------------------------------------------------------------------- */

static struct sort_small small_of(const struct sort *s, const struct pairs *to)
{
    return (struct sort_small) {
        .keys_in_at = s->in.keys.at,
        .keys_out_at = to->keys.at,
        .values_in_at = s->in.values.at,
        .values_out_at = to->values.at,
        .count = (uint32_t) s->plan.count,
        .first_bit = s->plan.first_bit,
        .bits = s->plan.bits,
        .passes = s->plan.passes,
    };
}

static ordo_status sort_tiles(struct sort *s, const struct pairs *to)
{
    const struct ordo_launch launch = tile_kernel(&s->plan, "primitive/sort_small.cl", "sort_small", s->plan.tiles);
    const struct sort_small  small = small_of(s, to);
    struct ordo_args         args = { .n = 0 };
    add_pairs(&args, s, &s->in, to);
    ORDO_ADD(&args, ORDO_ARG(small));
    return ordo_call_launch(s->call, &launch, &args);
}

static ordo_status sort_small(struct sort *s)
{
    return sort_tiles(s, &s->out);
}

/* Small groups distribute 2^14 elements to all compute units of an H200. */
enum { MERGE_GROUP = 128 };

static ordo_status sort_merge(struct sort *s)
{
    const struct ordo_sort_plan *p = &s->plan;
    const size_t                 group = p->group < MERGE_GROUP ? p->group : MERGE_GROUP;
    const struct ordo_launch     launch = { .file = "primitive/sort_merge.cl",
                                            .kernel = "sort_merge",
                                            .groups = ordo_ceil_div(p->count, group),
                                            .group = group,
                                            .defines = { { "ORDO_KEY", p->key },
                                                         { "ORDO_VALUE_BYTES", p->value_bytes },
                                                         { "ORDO_DESCENDING", p->descending },
                                                         { "GROUP_SIZE", (long) group } } };
    const struct sort_merge      merge = { .keys_in_at = s->spare.keys.at,
                                           .keys_out_at = s->out.keys.at,
                                           .values_in_at = s->spare.values.at,
                                           .values_out_at = s->out.values.at,
                                           .count = (uint32_t) p->count,
                                           .tile = p->tile,
                                           .first_bit = p->first_bit,
                                           .bits = p->bits };
    struct ordo_args             args = { .n = 0 };
    ORDO_TRY(sort_tiles(s, &s->spare));
    add_pairs(&args, s, &s->spare, &s->out);
    ORDO_ADD(&args, ORDO_ARG(merge));
    return ordo_call_launch(s->call, &launch, &args);
}

#define CHUNKED_FILE "primitive/sort_chunked.cl"
#define BUCKETS_FILE "primitive/sort_buckets.cl"

static struct ordo_launch chunk_kernel(const struct sort *s, const char *file, const char *kernel, size_t groups)
{
    return (struct ordo_launch) {
        .file = file, .kernel = kernel, .groups = groups, .group = 1, .defines = { SORT_DEFINES(&s->plan, 1) }
    };
}

static ordo_status sort_few_chunks(struct sort *s)
{
    const struct ordo_launch launch = chunk_kernel(s, CHUNKED_FILE, "sort_chunk_few", 1);
    const cl_uint            in_place = s->plan.in_place;
    const struct sort_small  few = small_of(s, &s->out);
    struct ordo_args         args = { .n = 0 };
    add_pairs(&args, s, &s->in, &s->out);
    add_pairs(&args, s, &s->spare, NULL);
    ORDO_ADD(&args, ORDO_ARG(in_place), ORDO_ARG(few));
    return ordo_call_launch(s->call, &launch, &args);
}

/* ---- histogram and local pass ------------------------------------------------------------------------------------ */

/* For each pass and each digit value, counts the elements with a lesser digit. Writes the counts to *control, from word
 * `bases` on. */
static ordo_status launch_histogram(struct sort *s, const char *file, uint32_t bases, cl_mem *control)
{
    const struct ordo_sort_plan *p = &s->plan;
    const size_t                 words = (size_t) p->passes << p->digit_bits;
    const struct ordo_launch     launch = tile_kernel(p, file, "sort_histogram", p->histogram_groups);
    const struct sort_histogram  h = {
         .keys_at = s->in.keys.at,
         .count = (uint32_t) p->count,
         .first_bit = p->first_bit,
         .bits = p->bits,
         .passes = p->passes,
         .bases_word = bases,
         .segment_limit = p->local.segment_limit,
    };
    cl_mem           counters = NULL;
    struct ordo_args args = { .n = 0 };
    ORDO_TRY(ordo_call_scratch(s->call, (bases + 2 * words) * 4, control));
    ORDO_TRY(ordo_call_zeroed(s->call, (1 + words) * 4, &counters));
    ORDO_ADD(&args, ORDO_ARG(s->in.keys.mem), ORDO_ARG(counters), ORDO_ARG(*control));
    if (p->planned) {
        ORDO_TRY(ordo_call_scratch(s->call, SORT_PLAN_WORDS * sizeof(cl_uint), &s->pass_digits));
        ORDO_ADD(&args, ORDO_ARG(s->pass_digits));
    }
    ORDO_ADD(&args, ORDO_ARG(h));
    return ordo_call_launch(s->call, &launch, &args);
}

static struct ordo_launch local_kernel(const struct ordo_sort_plan *p, const char *kernel, size_t groups)
{
    return (struct ordo_launch) { .file = "primitive/sort_local.cl",
                                  .kernel = kernel,
                                  .groups = groups,
                                  .group = p->local.group,
                                  .defines = { SORT_DEFINES(p, p->local.group),
                                               { "LOCAL_ITEMS", p->local.items },
                                               { "LOCAL_BYTES", p->local.local_bytes } } };
}

static ordo_status sort_ranges(struct sort *s, const struct ordo_launch *launch, cl_mem bounds,
                               const struct sort_local *local)
{
    struct ordo_args args = { .n = 0 };
    add_pairs(&args, s, &s->out, &s->spare);
    ORDO_ADD(&args, ORDO_ARG(s->pass_digits), ORDO_ARG(bounds), ORDO_ARG(*local));
    return ordo_call_launch(s->call, launch, &args);
}

/* Kernel sort_histogram decides whether the local pass runs. */
static ordo_status sort_locally(struct sort *s)
{
    const struct ordo_sort_plan  *p = &s->plan;
    const struct ordo_sort_local *l = &p->local;
    const struct sort_local       local = {
              .keys_out_at = s->out.keys.at,
              .values_out_at = s->out.values.at,
              .count = (uint32_t) p->count,
              .first_bit = p->first_bit,
              .passes = p->passes,
              .step = l->step,
              .ranges = l->ranges,
              .range_max = l->group * l->items,
    };
    cl_mem           bounds = NULL;
    struct ordo_args args = { .n = 0 };
    if (l->step == 0)
        return ORDO_OK;
    const struct ordo_launch divide = local_kernel(p, "sort_bounds", l->ranges / l->group + 1);
    const struct ordo_launch evenly = local_kernel(p, "sort_local", l->ranges);
    struct ordo_launch       by_segments = evenly;
    const struct ordo_launch large = tile_kernel(p, "primitive/sort_large.cl", "sort_large", l->ranges);
    ordo_launch_define(&by_segments, "LOCAL_SEGMENTS", 1);
    ORDO_TRY(ordo_call_scratch(s->call, (2 * (size_t) l->ranges + 1) * sizeof(cl_uint), &bounds));
    ORDO_ADD(&args, ORDO_ARG(s->out.keys.mem), ORDO_ARG(s->spare.keys.mem), ORDO_ARG(s->pass_digits), ORDO_ARG(bounds),
             ORDO_ARG(local));
    ORDO_TRY(ordo_call_launch(s->call, &divide, &args));
    ORDO_TRY(sort_ranges(s, &evenly, bounds, &local));
    if (p->key_bytes > 8)
        ORDO_TRY(sort_ranges(s, &by_segments, bounds, &local));
    ORDO_TRY(sort_ranges(s, &large, bounds, &local));
    return ORDO_OK;
}

/* ---- one-sweep ------------------------------------------------------------------------------------------------- */

static ordo_status sort_onesweep(struct sort *s)
{
    static const char            file[] = "primitive/sort_onesweep.cl";
    const struct ordo_sort_plan *p = &s->plan;
    const uint32_t               status = p->passes * p->launches;
    const uint32_t               all_bases = status + (p->tiles << p->digit_bits);
    cl_mem                       control = NULL;
    ORDO_TRY(launch_histogram(s, file, all_bases, &control));
    for (uint32_t pass = 0; pass < p->passes; pass++)
        for (uint32_t part = 0; part < p->launches; part++) {
            struct pass    now = pass_of(s, pass);
            const uint32_t bases = all_bases + (p->planned ? 0 : 2 * pass << p->digit_bits);
            now.args.first_tile = part * p->launch_tiles;
            if (part + 1 < p->launches)
                now.args.end_tile = now.args.first_tile + p->launch_tiles;
            now.args.ticket_word = pass * p->launches + part;
            now.args.status_word = status;
            now.args.bases_in_word = bases + (part % 2 << p->digit_bits);
            now.args.bases_out_word = bases + ((part + 1) % 2 << p->digit_bits);
            ORDO_TRY(launch_pass(s, file, "sort_onesweep", &control, &now));
        }
    return sort_locally(s);
}

/* ---- reduce-then-scan ------------------------------------------------------------------------------------------ */

static ordo_status count_digits(struct sort *s, cl_mem control, const struct pass *p)
{
    static const char        file[] = "primitive/sort_scatter.cl";
    const struct ordo_launch count = tile_kernel(&s->plan, file, "sort_count", s->plan.tiles);
    const struct ordo_launch scan = tile_kernel(&s->plan, file, "sort_scan", (size_t) 1 << s->plan.digit_bits);
    struct ordo_args         both = { .n = 0 }, args = { .n = 0 };
    ORDO_ADD(&both, ORDO_ARG(control));
    if (s->plan.planned)
        ORDO_ADD(&both, ORDO_ARG(s->pass_digits), ORDO_ARG(p->planned));
    ORDO_ADD(&both, ORDO_ARG(p->args));
    ORDO_ADD(&args, ORDO_ARG(p->from->keys.mem));
    ordo_args_add(&args, both.arg, both.n);
    ORDO_TRY(ordo_call_launch(s->call, &count, &args));
    return ordo_call_launch(s->call, &scan, &both);
}

static ordo_status sort_reduce_scan(struct sort *s)
{
    cl_mem control = NULL, planning = NULL;
    ORDO_TRY(ordo_call_scratch(s->call, ((size_t) s->plan.tiles + 1) * 4 << s->plan.digit_bits, &control));
    if (s->plan.planned)
        ORDO_TRY(launch_histogram(s, "primitive/sort_histogram.cl", 0, &planning));
    for (uint32_t pass = 0; pass < s->plan.passes; pass++) {
        const struct pass p = pass_of(s, pass);
        ORDO_TRY(count_digits(s, control, &p));
        ORDO_TRY(launch_pass(s, "primitive/sort_scatter.cl", "sort_scatter", &control, &p));
    }
    return sort_locally(s);
}

/* ---- chunks (CPUs) --------------------------------------------------------------------------------------------- */

static ordo_status launch_chunks(struct sort *s, const char *kernel, size_t groups, struct ordo_args *args, cl_mem plan,
                                 cl_mem counts, const struct sort_chunks *c)
{
    const struct ordo_launch launch = chunk_kernel(s, CHUNKED_FILE, kernel, groups);
    ORDO_ADD(args, ORDO_ARG(plan), ORDO_ARG(counts), ORDO_ARG(*c));
    return ordo_call_launch(s->call, &launch, args);
}

static ordo_status launch_buckets(struct sort *s, const char *kernel, size_t groups, struct ordo_args *args)
{
    const struct ordo_sort_plan *p = &s->plan;
    const struct ordo_launch     launch = chunk_kernel(s, BUCKETS_FILE, kernel, groups);
    const struct sort_buckets    b = { .keys_in_at = s->in.keys.at,
                                       .keys_out_at = s->out.keys.at,
                                       .values_in_at = s->in.values.at,
                                       .values_out_at = s->out.values.at,
                                       .count = (uint32_t) p->count,
                                       .chunk = p->buckets.chunk,
                                       .chunks = p->buckets.chunks,
                                       .first_bit = p->first_bit,
                                       .bits = p->bits,
                                       .bucket_bits = p->buckets.bits,
                                       .longest = p->buckets.longest,
                                       .step = p->buckets.step,
                                       .blocks = p->buckets.blocks,
                                       .sort_step = p->buckets.sort_step,
                                       .room = p->buckets.room };
    ORDO_ADD(args, ORDO_ARG(b));
    return ordo_call_launch(s->call, &launch, args);
}

/* If a bucket is too long, the kernels write SORT_BUCKET_NONE to `plan`, and sort_many_chunks sorts instead. */
static ordo_status sort_buckets(struct sort *s, cl_mem counts, cl_mem plan)
{
    const size_t     groups = (size_t) s->plan.buckets.chunks * s->plan.buckets.step;
    struct ordo_args keys = { .n = 0 }, span = { .n = 0 }, digit = { .n = 0 }, scan = { .n = 0 };
    struct ordo_args count = { .n = 0 }, move = { .n = 0 }, sort = { .n = 0 };
    ORDO_ADD(&keys, ORDO_ARG(s->in.keys.mem), ORDO_ARG(plan));
    ORDO_ADD(&span, ORDO_ARG(s->in.keys.mem), ORDO_ARG(plan), ORDO_ARG(counts));
    ORDO_ADD(&digit, ORDO_ARG(counts), ORDO_ARG(plan));
    ORDO_ADD(&count, ORDO_ARG(s->in.keys.mem), ORDO_ARG(plan), ORDO_ARG(counts));
    ORDO_ADD(&scan, ORDO_ARG(plan), ORDO_ARG(counts));
    add_pairs(&move, s, &s->in, &s->spare);
    add_pairs(&move, s, &s->out, NULL);
    ORDO_ADD(&move, ORDO_ARG(plan), ORDO_ARG(counts));
    add_pairs(&sort, s, &s->spare, &s->out);
    ORDO_ADD(&sort, ORDO_ARG(plan));
    ORDO_TRY(launch_buckets(s, "sort_bucket_sample", 1, &keys));
    ORDO_TRY(launch_buckets(s, "sort_bucket_span", groups, &span));
    ORDO_TRY(launch_buckets(s, "sort_bucket_digit", 1, &digit));
    ORDO_TRY(launch_buckets(s, "sort_bucket_count", groups, &count));
    ORDO_TRY(launch_buckets(s, "sort_bucket_scan", 1, &scan));
    ORDO_TRY(launch_buckets(s, "sort_bucket_scatter", groups, &move));
    return launch_buckets(s, "sort_bucket_sort",
                          ordo_device_facts(s->call->dev)->compute_units * (size_t) s->plan.buckets.sort_step, &sort);
}

static ordo_status sort_many_chunks(struct sort *s)
{
    const uint32_t chunks = s->plan.chunks;
    cl_mem         counts = NULL, plan = NULL;
    const size_t   words = (size_t) chunks << s->plan.digit_bits,
                 bucket_words = (size_t) s->plan.buckets.chunks << s->plan.buckets.bits;
    ORDO_TRY(ordo_call_scratch(s->call, 4 * SHARED_MAX(words, bucket_words), &counts));
    if (s->plan.buckets.longest) {
        ORDO_TRY(ordo_call_scratch(s->call, SORT_BUCKET_WORDS * sizeof(cl_uint), &plan));
        ORDO_TRY(sort_buckets(s, counts, plan));
    }
    for (uint32_t pass = 0; pass < s->plan.passes; pass++) {
        const struct pass        p = pass_of(s, pass);
        const struct sort_chunks c = { .keys_in_at = p.args.keys_in_at,
                                       .keys_out_at = p.args.keys_out_at,
                                       .values_in_at = p.args.values_in_at,
                                       .values_out_at = p.args.values_out_at,
                                       .count = p.args.count,
                                       .chunk = s->plan.chunk,
                                       .chunks = chunks,
                                       .shift = p.args.shift,
                                       .digit_mask = p.args.digit_mask };
        struct ordo_args         count = { .n = 0 }, scan = { .n = 0 }, move = { .n = 0 };
        ORDO_ADD(&count, ORDO_ARG(p.from->keys.mem));
        add_pairs(&move, s, p.from, p.to);
        ORDO_TRY(launch_chunks(s, "sort_chunk_count", chunks, &count, plan, counts, &c));
        ORDO_TRY(launch_chunks(s, "sort_chunk_scan", 1, &scan, plan, counts, &c));
        ORDO_TRY(launch_chunks(s, "sort_chunk_scatter", chunks, &move, plan, counts, &c));
    }
    return ORDO_OK;
}

/* ---- the call -------------------------------------------------------------------------------------------------- */

static ordo_status check_sort(const struct sort *s, size_t key_bytes, size_t value_bytes, size_t count, bool same_keys,
                              bool same_values)
{
    ordo_device            *dev = s->call->dev;
    const bool              in_place = same_keys && same_values;
    const struct ordo_array arrays[] = {
        { "keys_in", s->in.keys, count, key_bytes, key_bytes },
        { "values_in", s->in.values, count, value_bytes, value_bytes },
        { "keys_out", s->out.keys, count, key_bytes, key_bytes },
        { "values_out", s->out.values, count, value_bytes, value_bytes },
    };
    ORDO_REQUIRE(dev, count == 0 || value_bytes == 0 || same_keys == same_values, ORDO_INVALID,
                 "only keys or only values are in place: sort both in place, or neither");
    return ordo_check_arrays(dev, arrays, in_place ? 2 : 4, in_place ? 1 : 2);
}

ordo_status ordo_call_sort(struct ordo_call *call, const struct ordo_sort_params *params, struct ordo_slice keys_in,
                           struct ordo_slice values_in, struct ordo_slice keys_out, struct ordo_slice values_out,
                           size_t count)
{
    static ordo_status (*const sort_by[])(struct sort * s) = {
        [ORDO_SORT_BY_SMALL] = sort_small,           [ORDO_SORT_BY_MERGE] = sort_merge,
        [ORDO_SORT_BY_ONESWEEP] = sort_onesweep,     [ORDO_SORT_BY_REDUCE_SCAN] = sort_reduce_scan,
        [ORDO_SORT_BY_FEW_CHUNKS] = sort_few_chunks, [ORDO_SORT_BY_MANY_CHUNKS] = sort_many_chunks,
    };
    struct sort  s = { .call = call, .in = { keys_in, values_in }, .out = { keys_out, values_out } };
    const size_t key_bytes = ordo_type_bytes(params->key);
    const bool   same_keys = keys_in.mem == keys_out.mem && keys_in.at == keys_out.at;
    const bool   same_values = values_in.mem == values_out.mem && values_in.at == values_out.at;
    ORDO_TRY(check_sort(&s, key_bytes, params->value_bytes, count, same_keys, same_values));
    if (count == 0)
        return ORDO_OK;
    s.plan = ordo_sort_plan_of(call->dev, params, key_bytes, count, same_keys);
    if (s.plan.buckets.longest && key_bytes == s.plan.value_bytes) {
        /* sort_buckets.cl stores pairs of key and value in one buffer. */
        const size_t pairs = count + ordo_device_facts(call->dev)->compute_units * (size_t) s.plan.buckets.room;
        ORDO_TRY(ordo_call_scratch(call, 2 * pairs * key_bytes, &s.spare.keys.mem));
        s.spare.values = ordo_at(s.spare.keys.mem, count);
    } else if (s.plan.way == ORDO_SORT_BY_MERGE || (s.plan.way != ORDO_SORT_BY_SMALL && s.plan.passes > 1)) {
        ORDO_TRY(ordo_call_scratch(call, count * key_bytes, &s.spare.keys.mem));
        if (s.plan.value_bytes)
            ORDO_TRY(ordo_call_scratch(call, count * s.plan.value_bytes, &s.spare.values.mem));
    }
    return sort_by[s.plan.way](&s);
}

static ordo_status check_params(ordo_device *dev, const struct ordo_sort_params *params, size_t count)
{
    ORDO_REQUIRE_GIVEN(dev, dev);
    ORDO_REQUIRE_GIVEN(dev, params);
    ORDO_TRY(ordo_check_pair(dev, params->key, params->value_bytes));
    const size_t key_bits = 8 * ordo_type_bytes(params->key);
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
