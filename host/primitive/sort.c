/* SPDX-License-Identifier: Apache-2.0 */
/* Radix sort: which method, how wide the digits, which buffer each pass writes, and the launches. The kernels and their
 * papers: cl/primitive/sort.cl, sort_local.cl, sort_small.cl, sort_chunked.cl. */
#include "primitive/sort.h"
#include "primitive/host_array.h"
#include "primitive/primitive.h"

#include "shared/sort.h"

#include <assert.h>

#define SORT_MODULE    "primitive/sort.cl"
#define LOCAL_MODULE   "primitive/sort_local.cl"
#define SMALL_MODULE   "primitive/sort_small.cl"
#define CHUNKED_MODULE "primitive/sort_chunked.cl"

/* Where one array of keys and one of values lie. */
struct pairs {
    struct ordo_slice keys, values;
};

/* The local pass, which runs behind the passes where the plan says so (cl/shared/sort.h). */
struct local {
    bool     possible;
    uint32_t group, items;
    uint32_t step, ranges, segment_limit;
};

struct sort {
    struct ordo_call              *call;
    const struct ordo_sort_params *params;
    ordo_device                   *dev;
    size_t                         key_bytes, value_bytes, count;
    struct pairs                   in, out, spare;
    uint32_t                       first_bit, bits, passes;
    uint32_t                       method, digit_bits, group, items, registers, tile, tiles;
    struct ordo_define             defines[9];
    cl_mem                         plan;    /* any buffer unless `planned` */
    bool                           planned; /* the device plans the passes */
    struct local                   local;
};

/* ---- choosing ------------------------------------------------------------------------------------------------ */

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Local memory that the histogram of all digits takes with `copies` of its counters. */
static size_t histogram_need(const struct sort *s, size_t digit_bits, size_t copies)
{
    const size_t passes = ordo_ceil_div(8 * s->key_bytes, digit_bits) + 1;
    return (passes * copies << digit_bits) * 4 + 2048;
}

/* Local memory of a kernel that ranks tiles and exchanges elements of `bytes`. */
static size_t local_need(const struct sort *s, size_t bytes, size_t group, size_t items, size_t digit_bits)
{
    const size_t lanes = ordo_device_facts(s->dev)->sub_group, radix = (size_t) 1 << digit_bits;
    const size_t counts = group / lanes * radix * 4;
    const size_t tile = group * items * bytes;
    const size_t scan = lanes >= 8 ? group / lanes * 4 : 2 * group * 4;
    return max_size(counts, tile) + radix * 4 + scan + 64;
}

/* Takes the tunables' group, items and digit, and less of each where the device has no room for them. */
static void fit(struct sort *s, uint32_t group, uint32_t items, uint32_t digit_bits)
{
    const struct ordo_facts *facts = ordo_device_facts(s->dev);
    assert(group > 0 && items > 0);
    const size_t bytes = max_size(s->key_bytes, s->value_bytes);
    while (group > 1 && local_need(s, bytes, group, items, digit_bits) > facts->local_bytes) {
        const size_t counts = group / facts->sub_group * ((size_t) 4 << digit_bits);
        if (counts > facts->local_bytes / 2 && digit_bits > 4)
            digit_bits--;
        else if (items > 4)
            items--;
        else
            group = group / 2 < facts->sub_group ? 1 : group / 2;
    }
    while (s->method == ORDO_SORT_ONESWEEP && digit_bits > 4 && histogram_need(s, digit_bits, 1) > facts->local_bytes)
        digit_bits--;
    s->group = group;
    s->items = items;
    s->digit_bits = digit_bits;
    s->tile = group * items;
    s->tiles = (uint32_t) ordo_ceil_div(s->count, s->tile);
}

/* Items per work-item: the tunable's, unless that leaves compute units without a tile; then the fewest of a few steps with
 * which one round of tiles of 2048 or more still takes everything. (Few steps: each is a build.) On an H100, 2^18 pairs: 46 us with tiles
 * of 2048, 68 us with tiles of 10752. */
static uint32_t items_for(const struct sort *s, uint32_t group, uint32_t most)
{
    const size_t round = (size_t) group * ordo_device_facts(s->dev)->compute_units;
    for (uint32_t items = group < 1024 ? 2048 / group : 2; items < most; items *= 2)
        if (round * items >= s->count)
            return items;
    return most;
}

static void choose(struct sort *s)
{
    const struct ordo_facts *facts = ordo_device_facts(s->dev);
    const enum ordo_shape    shape = ordo_shape_of(s->key_bytes, s->value_bytes);
    s->method = ordo_tunable(s->dev, ORDO_SORT_METHOD, shape);
    if (s->method == ORDO_SORT_ONESWEEP && !facts->groups_progress)
        s->method = ORDO_SORT_REDUCE_SCAN;
    const uint32_t group = (uint32_t) ordo_group_of(s->dev, ORDO_SORT_GROUP, shape);
    const uint32_t items = ordo_tunable(s->dev, ORDO_SORT_ITEMS, shape);
    fit(s, group, s->method == ORDO_SORT_CHUNKED ? items : items_for(s, group, items),
        ordo_tunable(s->dev, ORDO_SORT_DIGIT_BITS, shape));
    s->registers = ordo_tunable(s->dev, ORDO_SORT_REGISTERS, shape);
    if (s->group == 1)
        s->method = ORDO_SORT_CHUNKED;
    if (s->method == ORDO_SORT_CHUNKED)
        s->group = 1; /* a chunk is one work-item's */
}

/* Whether one work-group can hold all; then group, items and digit are those of the single launch. */
static bool choose_small(struct sort *s)
{
    const enum ordo_shape shape = ordo_shape_of(s->key_bytes, s->value_bytes);
    struct sort           small = *s;
    uint32_t              group = (uint32_t) ordo_group_of(s->dev, ORDO_SORT_SMALL_GROUP, shape);
    uint32_t              items = ordo_tunable(s->dev, ORDO_SORT_SMALL_ITEMS, shape);
    if (group == 1)
        return false;
    if (s->count * 4 <= (size_t) group * items && group >= 256 && items >= 4) {
        group /= 2; /* a quarter of the work is done sooner by fewer */
        items /= 2;
    }
    fit(&small, group, items, ordo_tunable(s->dev, ORDO_SORT_DIGIT_BITS, shape));
    if (small.group == 1 || s->count > small.tile)
        return false;
    *s = small;
    s->registers = 0;
    return true;
}

/* Local memory that cl/primitive/sort_local.cl takes, and a little more. */
static size_t local_bytes(const struct local *l)
{
    return (size_t) l->group * l->items * 4 + 2 * (size_t) l->group * 4 + 64;
}

/* Allows the local pass for many keys of 8 bytes that are sorted by their most significant bits. The plan, which the
 * device makes, says whether it runs. */
static void choose_local(struct sort *s)
{
    const enum ordo_shape shape = ordo_shape_of(s->key_bytes, s->value_bytes);
    struct local         *l = &s->local;
    const uint32_t        least = ordo_tunable(s->dev, ORDO_SORT_LOCAL, shape);
    l->group = (uint32_t) ordo_group_of(s->dev, ORDO_SORT_LOCAL_GROUP, shape);
    l->items = ordo_tunable(s->dev, ORDO_SORT_LOCAL_ITEMS, shape);
    if (s->key_bytes < 8 || s->first_bit + s->bits != 64 || s->digit_bits != 8 || s->passes < SORT_LOCAL_DIGITS ||
        least == 0 || l->group == 1 || s->count >> least == 0 ||
        local_bytes(l) > ordo_device_facts(s->dev)->local_bytes)
        return;
    /* Two passes by 8 bits put uniform keys into segments of count / 65536 elements. A range has `step` elements and the
     * rest of a segment: the group has room for a segment of twice that mean, and of at least 256 elements. */
    const uint32_t range = l->group * l->items;
    const size_t   segment = max_size(256, 2 * ordo_ceil_div(s->count, 65536));
    const uint32_t room = (uint32_t) ordo_min_size(segment, range / 2);
    l->step = range - room;
    l->segment_limit = room * 3 / 4;
    l->ranges = (uint32_t) ordo_ceil_div(s->count, l->step);
    l->possible = true;
}

static void set_defines(struct sort *s)
{
    long copies = 4;
    while (copies > 1 && histogram_need(s, s->digit_bits, (size_t) copies) > ordo_device_facts(s->dev)->local_bytes)
        copies /= 2;
    const struct ordo_define defines[] = {
        { "ORDO_KEY", s->params->key },
        { "ORDO_VALUE_BYTES", (long) s->value_bytes },
        { "ORDO_DESCENDING", s->params->descending },
        { "RANK_BITS", s->digit_bits },
        { "GROUP_SIZE", s->group },
        { "RANK_ITEMS", s->items },
        { "HISTOGRAM_COPIES", copies },
        { "ORDO_MAX_REGISTERS", s->registers },
        { NULL, 0 },
    };
    memcpy(s->defines, defines, sizeof defines);
}

static bool in_place(const struct sort *s)
{
    return s->in.keys.mem == s->out.keys.mem && s->in.keys.at == s->out.keys.at;
}

/* A pass never writes where it reads. Passes alternate between out and a spare buffer so that the last one writes out; in
 * place that needs an even number of them, so digits become a little narrower. */
static void plan_passes(struct sort *s)
{
    s->passes = (uint32_t) ordo_ceil_div(s->bits, s->digit_bits);
    if (in_place(s) && s->passes % 2 == 1)
        s->passes++;
}

/* ---- launches ------------------------------------------------------------------------------------------------ */

/* Arguments of a kernel that moves keys and values: values are there only if they have bytes. */
struct move_args {
    struct ordo_arg arg[8];
    size_t          n;
};

static struct move_args move_args(const struct sort *s, const struct pairs *from, const struct pairs *to)
{
    struct move_args a = { .n = 2 };
    a.arg[0] = ORDO_ARG(from->keys.mem);
    a.arg[1] = ORDO_ARG(to->keys.mem);
    if (s->value_bytes) {
        a.arg[a.n++] = ORDO_ARG(from->values.mem);
        a.arg[a.n++] = ORDO_ARG(to->values.mem);
    }
    return a;
}

static ordo_status launch(struct sort *s, const char *module, const char *name, size_t groups,
                          const struct ordo_arg *args, size_t n_args)
{
    struct ordo_kernel *kernel = NULL;
    ORDO_TRY(ordo_call_kernel(s->call, module, name, s->defines, &kernel));
    return ordo_call_launch_kernel(s->call, kernel, groups, s->group, args, n_args);
}

/* What kernels that sort all by one launch are told. */
static struct sort_small small_of(const struct sort *s)
{
    return (struct sort_small) {
        .keys_in_at = s->in.keys.at,
        .keys_out_at = s->out.keys.at,
        .values_in_at = s->in.values.at,
        .values_out_at = s->out.values.at,
        .count = (uint32_t) s->count,
        .first_bit = s->first_bit,
        .bits = s->bits,
        .passes = (uint32_t) ordo_ceil_div(s->bits, s->digit_bits),
    };
}

static ordo_status sort_small(struct sort *s)
{
    const struct sort_small small = small_of(s);
    struct move_args        a = move_args(s, &s->in, &s->out);
    a.arg[a.n++] = ORDO_ARG(small);
    return launch(s, SMALL_MODULE, "sort_small", 1, a.arg, a.n);
}

/* Lends the spare buffers, if any pass writes there. */
static ordo_status take_spare(struct sort *s)
{
    if (s->passes < 2)
        return ORDO_OK;
    ORDO_TRY(ordo_call_scratch(s->call, s->count * s->key_bytes, &s->spare.keys.mem));
    if (s->value_bytes)
        ORDO_TRY(ordo_call_scratch(s->call, s->count * s->value_bytes, &s->spare.values.mem));
    return ORDO_OK;
}

/* Which buffers pass `pass` reads and writes. */
static const struct pairs *pass_from(const struct sort *s, uint32_t pass)
{
    return pass == 0 ? &s->in : (s->passes - pass) % 2 == 0 ? &s->out : &s->spare;
}

static const struct pairs *pass_to(const struct sort *s, uint32_t pass)
{
    return (s->passes - pass) % 2 == 1 ? &s->out : &s->spare;
}

/* What all methods tell a pass. */
static struct sort_pass pass_args(const struct sort *s, uint32_t pass)
{
    const struct pairs *from = pass_from(s, pass), *to = pass_to(s, pass);
    const uint32_t      below = SORT_BITS_BELOW(s->bits, s->passes, pass);
    const uint32_t      width = SORT_BITS_BELOW(s->bits, s->passes, pass + 1) - below;
    return (struct sort_pass) {
        .keys_in_at = from->keys.at,
        .keys_out_at = to->keys.at,
        .values_in_at = from->values.at,
        .values_out_at = to->values.at,
        .count = (uint32_t) s->count,
        .tiles = s->tiles,
        .end_tile = s->tiles,
        .first_bit = s->first_bit,
        .bits = s->bits,
        .passes = s->passes,
        .pass = pass,
        .shift = s->first_bit + below,
        .digit_mask = (1u << width) - 1,
        .planned = s->planned,
    };
}

static ordo_status launch_pass(struct sort *s, const char *name, cl_mem control, struct sort_pass p)
{
    struct move_args a = move_args(s, pass_from(s, p.pass), pass_to(s, p.pass));
    a.arg[a.n++] = ORDO_ARG(control);
    a.arg[a.n++] = ORDO_ARG(s->plan);
    a.arg[a.n++] = ORDO_ARG(p);
    return launch(s, SORT_MODULE, name, p.end_tile - p.first_tile, a.arg, a.n);
}

/* ---- the local pass -------------------------------------------------------------------------------------------- */

/* A kernel that runs behind the passes. */
struct local_kernel {
    const char               *module, *name;
    const struct ordo_define *defines;
    bool                      values; /* it moves values */
    size_t                    groups, group;
};

static ordo_status launch_local(struct sort *s, const struct local_kernel *k, cl_mem bounds)
{
    const struct sort_local args = {
        .keys_out_at = s->out.keys.at,
        .values_out_at = s->out.values.at,
        .count = (uint32_t) s->count,
        .first_bit = s->first_bit,
        .passes = s->passes,
        .step = s->local.step,
        .ranges = s->local.ranges,
        .range_max = s->local.group * s->local.items,
    };
    struct move_args    a = move_args(s, &s->out, &s->spare);
    struct ordo_kernel *kernel = NULL;
    a.n = k->values ? a.n : 2;
    a.arg[a.n++] = ORDO_ARG(s->plan);
    a.arg[a.n++] = ORDO_ARG(bounds);
    a.arg[a.n++] = ORDO_ARG(args);
    ORDO_TRY(ordo_call_kernel(s->call, k->module, k->name, k->defines, &kernel));
    return ordo_call_launch_kernel(s->call, kernel, k->groups, k->group, a.arg, a.n);
}

/* Sorts the segments that the passes leave. Each kernel ends at once where the plan has no local pass. */
static ordo_status sort_locally(struct sort *s)
{
    const struct local *l = &s->local;
    cl_mem              bounds = NULL;
    if (!l->possible)
        return ORDO_OK;
    const struct ordo_define defines[] = {
        { "ORDO_KEY", s->params->key },
        { "ORDO_VALUE_BYTES", (long) s->value_bytes },
        { "ORDO_DESCENDING", s->params->descending },
        { "GROUP_SIZE", l->group },
        { "LOCAL_ITEMS", l->items },
        { NULL, 0 },
    };
    const struct local_kernel kernels[] = {
        { LOCAL_MODULE, "sort_bounds", defines, false, ordo_ceil_div(l->ranges + 1, l->group), l->group },
        { LOCAL_MODULE, "sort_local", defines, true, l->ranges, l->group },
        { SORT_MODULE, "sort_large", s->defines, true, l->ranges, s->group },
    };
    ORDO_TRY(ordo_call_scratch(s->call, (2 * (size_t) l->ranges + 1) * sizeof(cl_uint), &bounds));
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        ORDO_TRY(launch_local(s, &kernels[i], bounds));
    return ORDO_OK;
}

/* ---- one-sweep ----------------------------------------------------------------------------------------------- */

/* Where the parts of the control buffer lie, in words (see cl/shared/sort.h). */
struct control {
    cl_mem   mem, counters;
    uint32_t launch_tiles, launches; /* of one pass */
    uint32_t status, bases;
};

static ordo_status make_control(struct sort *s, struct control *c)
{
    const size_t radix = (size_t) 1 << s->digit_bits;
    c->launch_tiles = SORT_LAUNCH_MAX / s->tile;
    c->launches = (uint32_t) ordo_ceil_div(s->tiles, c->launch_tiles);
    c->status = s->passes * c->launches; /* behind the tickets */
    c->bases = c->status + (uint32_t) (s->tiles * radix);
    ORDO_TRY(ordo_call_scratch(s->call, (c->bases + 2 * radix * s->passes) * 4, &c->mem));
    return ordo_call_zeroed(s->call, (1 + s->passes * radix) * 4, &c->counters);
}

static ordo_status launch_histogram(struct sort *s, const struct control *c)
{
    const struct sort_histogram h = {
        .keys_at = s->in.keys.at,
        .count = (uint32_t) s->count,
        .first_bit = s->first_bit,
        .bits = s->bits,
        .passes = s->passes,
        .bases_word = c->bases,
        .segment_limit = s->local.possible ? s->local.segment_limit : 0,
    };
    const size_t enough = (size_t) ordo_device_facts(s->dev)->compute_units * 4;
    return launch(
        s, SORT_MODULE, "sort_histogram", ordo_min_size(enough, s->tiles),
        ORDO_ARGS(ORDO_ARG(s->in.keys.mem), ORDO_ARG(c->counters), ORDO_ARG(c->mem), ORDO_ARG(s->plan), ORDO_ARG(h)));
}

/* Lets the device plan the passes; the histogram does that. */
static ordo_status plan_on_device(struct sort *s, const struct control *c)
{
    choose_local(s);
    s->planned = s->key_bytes == 8;
    ORDO_TRY(ordo_call_scratch(s->call, SORT_PLAN_WORDS * sizeof(cl_uint), &s->plan));
    return launch_histogram(s, c);
}

static ordo_status sort_onesweep(struct sort *s)
{
    struct control c = { 0 };
    ORDO_TRY(make_control(s, &c));
    ORDO_TRY(plan_on_device(s, &c));
    for (uint32_t pass = 0; pass < s->passes; pass++)
        for (uint32_t part = 0; part < c.launches; part++) {
            struct sort_pass p = pass_args(s, pass);
            p.first_tile = part * c.launch_tiles;
            p.end_tile = (uint32_t) ordo_min_size(s->tiles, (size_t) p.first_tile + c.launch_tiles);
            p.ticket_word = pass * c.launches + part;
            p.status_word = c.status;
            p.bases_word = c.bases;
            p.part = part;
            ORDO_TRY(launch_pass(s, "sort_onesweep", c.mem, p));
        }
    return sort_locally(s);
}

/* ---- direct ------------------------------------------------------------------------------------------------------ */

/* Whether there are so few tiles that each counting all keys is cheaper than a launch more. */
static bool is_direct(const struct sort *s)
{
    return s->tiles <= ordo_tunable(s->dev, ORDO_SORT_DIRECT, ordo_shape_of(s->key_bytes, s->value_bytes));
}

static ordo_status sort_direct(struct sort *s)
{
    for (uint32_t pass = 0; pass < s->passes; pass++) {
        const struct sort_pass p = pass_args(s, pass);
        struct move_args       a = move_args(s, pass_from(s, pass), pass_to(s, pass));
        a.arg[a.n++] = ORDO_ARG(p);
        ORDO_TRY(launch(s, SORT_MODULE, "sort_direct", s->tiles, a.arg, a.n));
    }
    return ORDO_OK;
}

/* ---- reduce-then-scan ---------------------------------------------------------------------------------------- */

/* Plans the passes where the local pass may run: that costs one more read of the keys. Elsewhere every pass runs, and
 * no kernel reads the plan. */
static ordo_status plan_reduce_scan(struct sort *s, cl_mem control)
{
    struct control c = { 0 };
    choose_local(s);
    s->plan = control;
    if (!s->local.possible)
        return ORDO_OK;
    const size_t words = (size_t) s->passes << s->digit_bits;
    ORDO_TRY(ordo_call_scratch(s->call, 2 * words * 4, &c.mem));
    ORDO_TRY(ordo_call_zeroed(s->call, (1 + words) * 4, &c.counters));
    return plan_on_device(s, &c);
}

static ordo_status sort_reduce_scan(struct sort *s)
{
    const size_t radix = (size_t) 1 << s->digit_bits;
    cl_mem       control = NULL;
    ORDO_TRY(ordo_call_scratch(s->call, radix * (1 + (size_t) s->tiles) * 4, &control));
    ORDO_TRY(plan_reduce_scan(s, control));
    for (uint32_t pass = 0; pass < s->passes; pass++) {
        const struct sort_pass p = pass_args(s, pass);
        const cl_mem           keys = pass_from(s, pass)->keys.mem;
        ORDO_TRY(launch(s, SORT_MODULE, "sort_count", s->tiles,
                        ORDO_ARGS(ORDO_ARG(keys), ORDO_ARG(control), ORDO_ARG(s->plan), ORDO_ARG(p))));
        ORDO_TRY(
            launch(s, SORT_MODULE, "sort_scan", radix, ORDO_ARGS(ORDO_ARG(control), ORDO_ARG(s->plan), ORDO_ARG(p))));
        ORDO_TRY(launch_pass(s, "sort_scatter", control, p));
    }
    return sort_locally(s);
}

/* ---- chunks (CPUs) ------------------------------------------------------------------------------------------- */

/* Chunks are few enough for their counters to be scanned by one work-item, and so many that every core gets some where a
 * driver deals 32 groups at a time to a thread. */
#define CHUNKS_PER_UNIT 128

/* Elements of one launch by one work-item, in chunks: 1024 keys of 8 bytes took 24 launches with PoCL on two cores, and ten times as
 * long. Of more than four the launches take less than what the other cores do. */
#define FEW_CHUNKS 4

static bool is_few(const struct sort *s)
{
    return s->count <= (size_t) FEW_CHUNKS * s->items * 1024;
}

static ordo_status sort_few(struct sort *s)
{
    const cl_uint           same = in_place(s);
    const struct sort_small few = small_of(s);
    struct move_args        a = move_args(s, &s->in, &s->out);
    a.arg[a.n++] = ORDO_ARG(s->spare.keys.mem);
    if (s->value_bytes)
        a.arg[a.n++] = ORDO_ARG(s->spare.values.mem);
    a.arg[a.n++] = ORDO_ARG(same);
    a.arg[a.n++] = ORDO_ARG(few);
    return launch(s, CHUNKED_MODULE, "sort_chunk_few", 1, a.arg, a.n);
}

static ordo_status sort_chunked(struct sort *s)
{
    const size_t       radix = (size_t) 1 << s->digit_bits, units = ordo_device_facts(s->dev)->compute_units;
    const size_t       chunk = max_size((size_t) s->items * 1024, ordo_ceil_div(s->count, CHUNKS_PER_UNIT * units));
    struct sort_chunks c = { .count = (uint32_t) s->count, .chunk = (uint32_t) chunk };
    cl_mem             counts = NULL;

    c.chunks = (uint32_t) ordo_ceil_div(s->count, chunk);
    ORDO_TRY(ordo_call_scratch(s->call, radix * c.chunks * 4, &counts));
    for (uint32_t pass = 0; pass < s->passes; pass++) {
        const struct sort_pass p = pass_args(s, pass);
        const struct pairs    *from = pass_from(s, pass);
        struct move_args       a = move_args(s, from, pass_to(s, pass));
        c.keys_in_at = p.keys_in_at;
        c.keys_out_at = p.keys_out_at;
        c.values_in_at = p.values_in_at;
        c.values_out_at = p.values_out_at;
        c.shift = p.shift;
        c.digit_mask = p.digit_mask;
        a.arg[a.n++] = ORDO_ARG(counts);
        a.arg[a.n++] = ORDO_ARG(c);
        ORDO_TRY(launch(s, CHUNKED_MODULE, "sort_chunk_count", c.chunks,
                        ORDO_ARGS(ORDO_ARG(from->keys.mem), ORDO_ARG(counts), ORDO_ARG(c))));
        ORDO_TRY(launch(s, CHUNKED_MODULE, "sort_chunk_scan", 1, ORDO_ARGS(ORDO_ARG(counts), ORDO_ARG(c))));
        ORDO_TRY(launch(s, CHUNKED_MODULE, "sort_chunk_scatter", c.chunks, a.arg, a.n));
    }
    return ORDO_OK;
}

/* ---- the call ------------------------------------------------------------------------------------------------ */

static ordo_status check_sort(struct sort *s)
{
    const size_t            kb = s->key_bytes, vb = s->value_bytes, n = s->count;
    const bool              same_keys = in_place(s);
    const bool              same_values = s->in.values.mem == s->out.values.mem && s->in.values.at == s->out.values.at;
    const struct ordo_array arrays[] = {
        { "keys_in", s->in.keys, n, kb },
        { "values_in", s->in.values, n, vb },
        { "keys_out", s->out.keys, n, kb },
        { "values_out", s->out.values, n, vb },
    };

    if (n > 0 && vb > 0 && same_keys != same_values)
        return ORDO_FAIL(s->dev, ORDO_INVALID, "of keys and values only one is sorted in place");
    if (same_keys && same_values) /* the outputs are the inputs */
        return ordo_check_arrays(s->dev, arrays, 2, 1);
    return ordo_check_arrays(s->dev, arrays, 4, 2);
}

static ordo_status enqueue_sort(struct sort *s)
{
    ORDO_TRY(check_sort(s));
    if (s->count == 0)
        return ORDO_OK;
    choose(s);
    if (s->method != ORDO_SORT_CHUNKED && choose_small(s)) {
        set_defines(s);
        return sort_small(s);
    }
    set_defines(s);
    plan_passes(s);
    ORDO_TRY(take_spare(s));
    if (s->method != ORDO_SORT_CHUNKED && is_direct(s))
        return sort_direct(s);
    switch (s->method) {
    case ORDO_SORT_ONESWEEP:
        return sort_onesweep(s);
    case ORDO_SORT_REDUCE_SCAN:
        return sort_reduce_scan(s);
    default:
        return is_few(s) ? sort_few(s) : sort_chunked(s);
    }
}

static ordo_status check_params(ordo_device *dev, const struct ordo_sort_params *params, size_t count)
{
    ORDO_REQUIRE_GIVEN(dev, dev);
    ORDO_REQUIRE_GIVEN(dev, params);
    ORDO_TRY(ordo_check_type(dev, params->key));
    const size_t key_bits = 8 * ordo_type_bytes(params->key);
    ORDO_TRY(ordo_check_value_bytes(dev, params->value_bytes));
    ORDO_REQUIRE(dev, params->first_bit < key_bits && params->bits <= key_bits - params->first_bit, ORDO_INVALID,
                 "first_bit %u and bits %u go beyond the %zu bits of a key", (unsigned) params->first_bit,
                 (unsigned) params->bits, key_bits);
    ORDO_REQUIRE_COUNT(dev, "count", count);
    return ORDO_OK;
}

ordo_status ordo_call_sort(struct ordo_call *call, const struct ordo_sort_params *params, struct ordo_slice keys_in,
                           struct ordo_slice values_in, struct ordo_slice keys_out, struct ordo_slice values_out,
                           size_t count)
{
    const size_t key_bytes = ordo_type_bytes(params->key);
    struct sort  s = {
         .call = call,
         .params = params,
         .dev = call->dev,
         .key_bytes = key_bytes,
         .value_bytes = params->value_bytes,
         .count = count,
         .in = { keys_in, values_in },
         .out = { keys_out, values_out },
         .first_bit = params->first_bit,
         .bits = params->bits ? params->bits : (uint32_t) (8 * key_bytes) - params->first_bit,
    };
    return enqueue_sort(&s);
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
