/* SPDX-License-Identifier: Apache-2.0 */
/* Merges a batch into the leaves that its updates fall into. */
#include "dict/trie/hamt.h"

#include "primitive/scan.h"

#define MODULE       "dict/trie/hamt_merge.cl"
#define SMALL_MODULE "dict/trie/hamt_small.cl"

struct merge {
    const struct ordo_sorted_run *batch;
    cl_uint                       n, all; /* If `all` is 1, all blocks go to a new pool. */
    struct ordo_hamt_trie         old, next;
    cl_mem                        effects, more, begins, plan;
    hamt_plan_end                 sums;
    cl_mem                        leaf_of, ends, fresh, state; /* arrays of hamt_small.cl */
};

static struct ordo_args args_of(const struct merge *m)
{
    struct ordo_args args = ordo_hamt_args(&m->old);

    ORDO_ADD(&args, ORDO_ARG(m->batch->mem), ORDO_ARG(m->effects), ORDO_ARG(m->more), ORDO_ARG(m->n));
    return args;
}

static ordo_status find_effects(struct ordo_call *call, const struct ordo_hamt *hamt, struct merge *m)
{
    const struct ordo_slice hidden = ordo_run_hidden(m->batch);
    struct ordo_args        args = ordo_hamt_args(&m->old);

    ORDO_TRY(ordo_call_scratch(call, m->n * sizeof(cl_ushort), &m->effects));
    ORDO_TRY(ordo_call_scratch(call, ((size_t) m->n + 1) * sizeof(cl_uint), &m->more));
    ORDO_TRY(ordo_call_scratch(call, ((size_t) m->old.n_leaves + 1) * sizeof(cl_uint), &m->begins));
    ORDO_TRY(ordo_call_scratch(call, m->old.n_leaves * sizeof(cl_ulong) + sizeof m->sums, &m->plan));
    ORDO_ADD(&args, ORDO_ARG(m->batch->mem));
    ordo_args_slice(&args, &hidden);
    ORDO_ADD(&args, ORDO_ARG(m->n), ORDO_ARG(m->effects), ORDO_ARG(m->more), ORDO_ARG(m->plan));
    const struct ordo_launch launch =
        ordo_hamt_kernel(hamt, MODULE, "hamt_effects", ordo_dict_step_items(call->dev, m->n));
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    return ordo_call_sum_before(call, ORDO_U32, m->more, (size_t) m->n + 1);
}

static ordo_status plan(struct ordo_call *call, const struct ordo_hamt *hamt, struct merge *m)
{
    struct ordo_args args = args_of(m);

    ORDO_ADD(&args, ORDO_ARG(m->all), ORDO_ARG(m->begins), ORDO_ARG(m->plan));
    const struct ordo_launch launch = ordo_hamt_kernel(hamt, MODULE, "hamt_plan", (size_t) m->old.n_leaves + 1);
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    return ordo_call_sum_before(call, ORDO_U64, m->plan, (size_t) m->old.n_leaves + 1);
}

static ordo_status read_sums(struct ordo_call *call, struct merge *m)
{
    ORDO_TRY(ordo_call_read(call, m->plan, m->old.n_leaves * sizeof(cl_ulong), &m->sums, sizeof m->sums));
    if (ordo_is_dry_run(call->dev)) {
        m->sums.follow = (cl_ulong) 1 << 32 | 1;
        m->sums.found[HAMT_LARGEST] = m->sums.found[HAMT_LEFT] = m->sums.found[HAMT_MORE] = 0;
        m->sums.found[HAMT_CHANGES] = 1;
    }
    return ORDO_OK;
}

/* Estimates the pool units (HAMT_UNIT bytes) of the changed leaves, as if each update changed a different leaf. Large
 * leaves get more updates. */
static size_t units_touched(const struct ordo_hamt *hamt, const struct merge *m)
{
    const size_t touched = ordo_min_size(m->n, m->old.n_leaves), mean = m->old.live / m->old.n_leaves;
    return touched * (mean + mean / 8 * 3 + 1) + ordo_hamt_units_max(hamt, m->n, hamt->fixed_depth ? m->n : 0);
}

static bool outline(struct merge *m)
{
    const size_t units = (cl_uint) m->sums.follow;

    m->next = (struct ordo_hamt_trie) { .n_leaves = (cl_uint) (m->sums.follow >> 32),
                                        .n = m->old.n + m->sums.found[HAMT_MORE],
                                        .used = m->all ? units : m->old.used + units,
                                        .live = m->all ? units : m->old.live + units - m->sums.found[HAMT_LEFT],
                                        .pool = m->all ? (struct ordo_hamt_block) { .mem = NULL } : m->old.pool };
    return m->all || m->next.used <= m->old.pool.bytes / HAMT_UNIT;
}

static void foresee_all(struct ordo_call *call, struct ordo_hamt *hamt, const struct merge *m)
{
    const double grows = ((double) m->old.n + m->n) / m->old.n;
    ordo_hamt_foresee(call, hamt, (size_t) (m->old.n_leaves * grows), (size_t) ((double) m->old.live * grows));
}

/* Plans the next trie, with all blocks in a new pool if the current pool is too small. Waits for the device. */
static ordo_status foresee(struct ordo_call *call, struct ordo_hamt *hamt, struct merge *m)
{
    ORDO_TRY(find_effects(call, hamt, m));
    m->all = m->all || m->old.used + units_touched(hamt, m) > m->old.pool.bytes / HAMT_UNIT;
    ORDO_TRY(plan(call, hamt, m));
    if (m->all)
        foresee_all(call, hamt, m);
    ORDO_TRY(read_sums(call, m));
    if (outline(m))
        return ORDO_OK;
    m->all = true;
    ORDO_TRY(plan(call, hamt, m));
    foresee_all(call, hamt, m);
    ORDO_TRY(read_sums(call, m));
    outline(m);
    return ORDO_OK;
}

static ordo_status write_records(struct ordo_call *call, const struct ordo_hamt *hamt, const struct merge *m)
{
    const cl_uint    first_unit = m->all ? 0 : (cl_uint) m->old.used;
    struct ordo_args args = args_of(m);

    ORDO_ADD(&args, ORDO_ARG(m->all), ORDO_ARG(m->begins), ORDO_ARG(m->plan), ORDO_ARG(first_unit), ORDO_ARG(m->next.n),
             ORDO_ARG(m->next.leaves.mem));
    const struct ordo_launch launch = ordo_hamt_kernel(hamt, MODULE, "hamt_records", (size_t) m->old.n_leaves + 1);
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status write_blocks(struct ordo_call *call, const struct ordo_hamt *hamt, const struct merge *m)
{
    const struct ordo_slice values = ordo_run_values(&hamt->dict, m->batch);
    const size_t            lanes = HAMT_LANES(ordo_device_facts(call->dev)->cpu, hamt->dict.value_bytes);
    struct ordo_args        args = args_of(m);

    ordo_args_slice(&args, &values);
    ORDO_ADD(&args, ORDO_ARG(m->all), ORDO_ARG(m->begins), ORDO_ARG(m->plan), ORDO_ARG(m->next.leaves.mem),
             ORDO_ARG(m->next.pool.mem));
    const struct ordo_launch launch = ordo_hamt_kernel(hamt, MODULE, "hamt_blocks", m->old.n_leaves * lanes);
    return ordo_call_launch(call, &launch, &args);
}

/* ---- small batches ----------------------------------------------------------------------------------------------- */

static bool is_small(const struct ordo_call *call, const struct ordo_hamt *hamt, const struct merge *m)
{
    const size_t elements = (size_t) m->old.n + m->n, leaves = (size_t) m->old.n_leaves + m->n;
    const bool   fits = m->old.used + units_touched(hamt, m) <= m->old.pool.bytes / HAMT_UNIT &&
                      ordo_hamt_units_max(hamt, elements, leaves) < HAMT_UNITS_MAX;
    return ordo_is_dry_run(call->dev) || (fits && m->n <= HAMT_SMALL_MAX && m->n <= m->old.n_leaves / 2);
}

/* Returns the offset of the hamt_small_end in m->plan. */
static size_t small_end_at(const struct merge *m)
{
    return ((size_t) m->n + HAMT_SMALL_TILES(m->n)) * sizeof(cl_ulong);
}

static struct ordo_launch small_plan_kernel(const struct ordo_call *call, const struct ordo_hamt *hamt, cl_uint n)
{
    const struct ordo_facts *facts = ordo_device_facts(call->dev);
    struct ordo_launch       launch = ordo_hamt_kernel(hamt, SMALL_MODULE, "hamt_small_plan", 1);

    launch.groups = HAMT_SMALL_TILES(n);
    launch.group = facts->cpu ? 1 : ordo_min_size(HAMT_SMALL_TILE, facts->max_group);
    ordo_launch_define(&launch, "GROUP_SIZE", (long) launch.group);
    return launch;
}

static ordo_status small_plan(struct ordo_call *call, const struct ordo_hamt *hamt, struct merge *m)
{
    const struct ordo_slice hidden = ordo_run_hidden(m->batch);
    const size_t            record = HAMT_RECORD(hamt->dict.key_bytes);
    const size_t            totals = HAMT_SMALL_TILES(m->n) * sizeof(cl_ulong);
    struct ordo_args        args = ordo_hamt_args(&m->old);

    ORDO_TRY(ordo_call_scratch(call, m->n * sizeof(cl_ushort), &m->effects));
    ORDO_TRY(ordo_call_scratch(call, m->n * sizeof(cl_uint), &m->leaf_of));
    ORDO_TRY(ordo_call_scratch(call, m->n * sizeof(cl_uint), &m->more));
    ORDO_TRY(ordo_call_scratch(call, m->n * sizeof(cl_uint), &m->ends));
    ORDO_TRY(ordo_call_scratch(call, (size_t) m->n * HAMT_SMALL_FRESH * record, &m->fresh));
    ORDO_TRY(ordo_call_scratch(call, small_end_at(m) + sizeof(hamt_small_end) + totals, &m->plan));
    ORDO_TRY(ordo_call_zeroed(call, (HAMT_FOUND_WORDS + 1) * sizeof(cl_uint), &m->state));
    ORDO_ADD(&args, ORDO_ARG(m->batch->mem));
    ordo_args_slice(&args, &hidden);
    ORDO_ADD(&args, ORDO_ARG(m->n), ORDO_ARG(m->effects), ORDO_ARG(m->leaf_of), ORDO_ARG(m->more), ORDO_ARG(m->ends),
             ORDO_ARG(m->fresh), ORDO_ARG(m->plan), ORDO_ARG(m->state));
    const struct ordo_launch launch = small_plan_kernel(call, hamt, m->n);
    return ordo_call_launch(call, &launch, &args);
}

static cl_uint room(const struct merge *m)
{
    return (cl_uint) (ordo_min_size(m->old.pool.bytes / HAMT_UNIT, HAMT_UNITS_MAX - 1) - m->old.used);
}

static ordo_status small_write(struct ordo_call *call, const struct ordo_hamt *hamt, const struct merge *m)
{
    const struct ordo_slice values = ordo_run_values(&hamt->dict, m->batch);
    const bool              cpu = ordo_device_facts(call->dev)->cpu;
    const size_t            lanes = HAMT_LANES(cpu, hamt->dict.value_bytes);
    const cl_uint           first_unit = (cl_uint) m->old.used, units = room(m);
    const size_t            items = m->n * lanes + HAMT_SMALL_RECORDS(cpu, m->old.n_leaves) +
                         HAMT_SMALL_TAILS(cpu, m->next.cell_bits, m->next.rank_bits);
    struct ordo_args args = args_of(m);

    ordo_args_slice(&args, &values);
    ORDO_ADD(&args, ORDO_ARG(m->leaf_of), ORDO_ARG(m->ends), ORDO_ARG(m->fresh), ORDO_ARG(m->plan),
             ORDO_ARG(first_unit), ORDO_ARG(units), ORDO_ARG(m->next.cell_bits), ORDO_ARG(m->next.rank_bits),
             ORDO_ARG(m->next.leaves.mem), ORDO_ARG(m->next.tables.mem), ORDO_ARG(m->next.pool.mem));
    struct ordo_launch launch = ordo_hamt_kernel(hamt, SMALL_MODULE, "hamt_small_write", items);
    ordo_launch_define(&launch, "GROUP_SIZE", (long) small_plan_kernel(call, hamt, m->n).group);
    return ordo_call_launch(call, &launch, &args);
}

/* The host reads the sizes of the next trie only after all kernels. Waits. */
static ordo_status small_enqueue(struct ordo_call *call, const struct ordo_hamt *hamt, struct merge *m)
{
    ORDO_TRY(small_write(call, hamt, m));
    ORDO_TRY(ordo_call_read(call, m->plan, small_end_at(m), &m->sums, sizeof m->sums));
    if (ordo_is_dry_run(call->dev)) {
        m->sums = (hamt_plan_end) { .follow = (cl_ulong) m->n << 46 | (cl_ulong) m->n << 28 };
        m->sums.found[HAMT_CHANGES] = m->sums.found[HAMT_GAPS] = 1;
    }
    return ORDO_OK;
}

static void small_outline(struct merge *m)
{
    const size_t units = HAMT_SMALL_UNITS(m->sums.follow);

    m->next.n_leaves = m->old.n_leaves + HAMT_SMALL_FOLLOW(m->sums.follow) - m->n;
    m->next.n = m->old.n + HAMT_SMALL_MORE(m->sums.follow) - m->n;
    m->next.used = m->old.used + units;
    m->next.live = m->old.live + units - m->sums.found[HAMT_LEFT];
}

/* ---- all batches ------------------------------------------------------------------------------------------------- */

static ordo_status write(struct ordo_call *call, struct ordo_hamt *hamt, struct merge *m)
{
    ORDO_TRY(ordo_hamt_check_size(call, hamt, &m->next));
    if (m->all)
        ORDO_TRY(ordo_hamt_make_pool(hamt, &m->next, m->next.live, true));
    ORDO_TRY(ordo_hamt_make_blocks(hamt, &m->next, true));
    ORDO_TRY(write_records(call, hamt, m));
    ORDO_TRY(write_blocks(call, hamt, m));
    return ordo_hamt_make_tables(call, hamt, &m->next, true);
}

static ordo_status renew(struct ordo_call *call, struct ordo_hamt *hamt, struct merge *m)
{
    static const struct ordo_hamt_trie nothing = { .n = 0 };

    if (m->next.n_leaves == 0) {
        ordo_hamt_become(hamt, &nothing);
        return ORDO_OK;
    }
    const ordo_status status = write(call, hamt, m);
    if (status != ORDO_OK) {
        ordo_hamt_give_up(hamt, &m->next);
        return status;
    }
    ordo_hamt_become(hamt, &m->next);
    if (m->all)
        ordo_hamt_foresee(call, hamt, hamt->trie.n_leaves, hamt->trie.live);
    else
        ordo_hamt_foresee_records(call, hamt, hamt->trie.n_leaves);
    return ORDO_OK;
}

/* Overwrites stored values in place. Must be the call's last command, because it cannot be undone. */
static ordo_status overwrite(struct ordo_call *call, const struct ordo_hamt *hamt, const struct merge *m)
{
    const struct ordo_slice values = ordo_run_values(&hamt->dict, m->batch);
    struct ordo_args        args = args_of(m);

    if (!values.mem)
        return ORDO_OK;
    ordo_args_slice(&args, &values);
    ORDO_ADD(&args, ORDO_ARG(m->old.pool.mem));
    const struct ordo_launch launch = ordo_hamt_kernel(hamt, MODULE, "hamt_overwrite", m->n);
    return ordo_call_launch(call, &launch, &args);
}

static bool is_countable(const struct ordo_hamt *hamt, const struct merge *m)
{
    const size_t elements = (size_t) m->old.n + m->n, leaves = (size_t) m->old.n_leaves + m->n;
    return elements <= ORDO_MAX_COUNT && ordo_hamt_units_max(hamt, elements, leaves) <= UINT32_MAX;
}

/* Makes the next trie the current one, if it holds the batch. */
static ordo_status small_finish(struct ordo_call *call, struct ordo_hamt *hamt, struct merge *m, bool *done)
{
    static const struct ordo_hamt_trie nothing = { .n = 0 };
    const bool                         fits = HAMT_SMALL_UNITS(m->sums.follow) <= room(m);
    const bool                         changes = m->sums.found[HAMT_CHANGES];

    m->all = !fits;
    *done = m->sums.found[HAMT_LARGEST] == 0 && (fits || !changes);
    small_outline(m);
    if (!*done || !changes || m->next.n_leaves == 0) {
        ordo_hamt_put_back(hamt, &m->next);
        if (*done && changes)
            ordo_hamt_become(hamt, &nothing);
        return *done && !changes ? overwrite(call, hamt, m) : ORDO_OK;
    }
    if (hamt->fixed_depth || m->sums.found[HAMT_GONE] || m->sums.found[HAMT_GAPS])
        ORDO_TRY(ordo_hamt_make_tables(call, hamt, &m->next, true));
    ordo_hamt_become(hamt, &m->next);
    return ORDO_OK;
}

/* Sets *done to false and changes nothing if a leaf gets too many updates, or memory is lacking. */
static ordo_status merge_small(struct ordo_call *call, struct ordo_hamt *hamt, struct merge *m, bool *done)
{
    m->next = (struct ordo_hamt_trie) { .n_leaves = m->old.n_leaves + m->n, .pool = m->old.pool };
    ORDO_TRY(small_plan(call, hamt, m));
    if (ordo_hamt_make_blocks(hamt, &m->next, true) != ORDO_OK) {
        ordo_hamt_give_up(hamt, &m->next);
        return ORDO_OK;
    }
    ordo_status status = small_enqueue(call, hamt, m);
    if (status == ORDO_OK)
        status = small_finish(call, hamt, m, done);
    if (status != ORDO_OK)
        ordo_hamt_give_up(hamt, &m->next);
    return status;
}

static ordo_status merge_all(struct ordo_call *call, struct ordo_hamt *hamt, struct merge *m, bool *done)
{
    m->old = hamt->trie;
    ORDO_TRY(foresee(call, hamt, m));
    *done = m->sums.found[HAMT_LARGEST] <= HAMT_UPDATES_MAX;
    if (!*done)
        return ORDO_OK;
    return m->sums.found[HAMT_CHANGES] ? renew(call, hamt, m) : overwrite(call, hamt, m);
}

ordo_status ordo_hamt_merge(struct ordo_call *call, struct ordo_hamt *hamt, const struct ordo_sorted_run *batch,
                            bool *done)
{
    const int    mark = call->n_scratch;
    struct merge m = { .batch = batch, .n = (cl_uint) batch->count, .old = hamt->trie };

    *done = false;
    if (!is_countable(hamt, &m) || m.n / m.old.n_leaves > HAMT_UPDATES_MAX / 2)
        return ORDO_OK;
    if (is_small(call, hamt, &m))
        ORDO_TRY(merge_small(call, hamt, &m, done));
    if ((!*done && m.sums.found[HAMT_LARGEST] == 0) || ordo_is_dry_run(call->dev)) {
        ordo_call_release(call, mark);
        ORDO_TRY(merge_all(call, hamt, &m, done));
    }
    ordo_call_release(call, mark);
    return ORDO_OK;
}
