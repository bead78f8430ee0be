/* SPDX-License-Identifier: Apache-2.0 */
/* Executes concurrent batches by cl/dict/ltree/concurrent.cl. A batch takes several launches, because operations
 * obstruct each other if there are more operations than leaves. */
#include "dict/ltree/concurrent.h"

/* With more operations in a launch, a node's version could wrap around and hide a change. */
#define LAUNCH_MAX ((size_t) 1 << 22)
_Static_assert(2 * ((size_t) 1 << 22) <= (size_t) 1 << LTREE_VERSION_BITS, "a version could come back within a launch");
/* Maximum operations of a batch's first launch, per leaf of the tree. */
#define LAUNCH_PER_LEAF ((size_t) 4)
#define LAUNCH_MIN      ((size_t) 64)
/* Maximum operations of a launch with one work-item. */
#define LAUNCH_ALONE ((size_t) LTREE_STEPS / 8)
/* Operations that give up are launched this many more times. Then the host executes them in key order. */
#define TURNS_TOGETHER 1
/* If no operation completes in this many consecutive rounds of launches, a latch was never released. */
#define TURNS_STUCK 64

/* Returns true if only one work-item may run, because the device does not order memory accesses between work-groups. */
static bool is_alone(const struct ordo_ltree_batch *c)
{
    return ordo_device_facts(c->call->dev)->atomics == ORDO_ATOMICS_LEGACY || (c->tree->faults & FAULT_ALONE);
}

/* A compute unit has REGISTERS registers. In work-groups of more than EASY work-items, each work-item may use an equal
 * share of them, rounded down to a multiple of REGISTERS_STEP. */
#define REGISTERS      ((size_t) 1 << 16)
#define REGISTERS_STEP 8
#define EASY           ((size_t) 256)

static long registers_max(size_t group)
{
    return group > EASY ? (long) (REGISTERS / group / REGISTERS_STEP * REGISTERS_STEP) : 0;
}

static uint32_t setting(const struct ordo_ltree *tree, enum ordo_tunable tunable)
{
    return ordo_tunable(tree->dict.dev, tunable, ordo_shape_of(tree->dict.key_bytes, tree->dict.value_bytes));
}

static void define_settings(struct ordo_launch *launch, const struct ordo_ltree *tree)
{
    static const struct {
        const char       *name;
        enum ordo_tunable tunable;
    } settings[] = { { "LTREE_COUPLED", ORDO_LTREE_COUPLED },
                     { "LTREE_RETRY", ORDO_LTREE_RETRY },
                     { "LTREE_FENCES", ORDO_LTREE_FENCES },
                     { "LTREE_UNCACHED", ORDO_LTREE_UNCACHED } };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (setting(tree, settings[i].tunable))
            ordo_launch_define(launch, settings[i].name, setting(tree, settings[i].tunable));
}

static struct ordo_launch apply_kernel(const struct ordo_ltree *tree, size_t count, bool alone)
{
    const struct ordo_ltree_shape shape = alone ? ordo_ltree_operations_alone(tree) : ordo_ltree_operations(tree);
    const size_t                  each = ordo_min_size(count >> 20, 8) / shape.lanes;
    const size_t                  items = alone ? 1 : ordo_ceil_div(count, each < 1 ? 1 : each);
    struct ordo_launch launch = ordo_ltree_kernel(tree, "dict/ltree/concurrent.cl", "ltree_apply", shape, items);

    launch.groups = ordo_ceil_div(items, shape.group);
    ordo_launch_define(&launch, "CONCURRENT_HISTORY", tree->history != NULL);
    ordo_launch_define(&launch, "CONCURRENT_FAULTS", tree->faults != 0);
    ordo_launch_define(&launch, "LTREE_MERGE", tree->config.merges);
    ordo_launch_define(&launch, "LTREE_RAISE", tree->config.raise_percent);
    ordo_launch_define(&launch, "ORDO_MAX_REGISTERS", registers_max(shape.group));
    define_settings(&launch, tree);
    return launch;
}

/* Launches `count` operations of the list `again` (if NULL, of the batch) from index `from` on. An operation gives up,
 * and goes to the list `pending`, if
 *
 *   - it cannot latch a leaf in LTREE_TRIES tries
 *   - it must split a leaf, but no leaf is free
 *   - it is a query that has passed c->far leaves (a range query continues while its output has room)
 *   - its work-item has taken LTREE_STEPS steps
 *
 * An update that has split a node never gives up. */
static ordo_status launch(const struct ordo_ltree_batch *c, cl_uint offers, size_t from, size_t count, cl_mem again,
                          cl_mem pending, bool alone)
{
    const struct ordo_concurrent_batch *const b = c->batch;
    const struct ordo_slice *const            in[] = { &b->codes, &b->keys, &b->hi, &b->values, &b->rooms };
    const struct ordo_slice *const            out[] = { &b->found,    &b->keys_out,   &b->values_out,  &b->counts,
                                                        &b->outcomes, &b->range_keys, &b->range_values };
    const struct ordo_launch                  apply = apply_kernel(c->tree, count, alone);
    const cl_ulong                            capacity = b->range_capacity;
    struct ordo_args                          args = ordo_ltree_args(c->tree);

    ORDO_ADD(&args, ORDO_ARG_UINT(c->tree->pools.leaves), ORDO_ARG_UINT(c->tree->pools.inner), ORDO_ARG(offers),
             ORDO_ARG_UINT(from), ORDO_ARG_UINT(count), ORDO_ARG(c->final), ORDO_ARG_UINT(0), ORDO_ARG(c->far),
             ORDO_ARG_UINT(c->found_first), ORDO_ARG(again), ORDO_ARG(c->subset), ORDO_ARG(pending),
             ORDO_ARG(c->tree->history));
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        ordo_args_slice(&args, in[i]);
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        ordo_args_slice(&args, out[i]);
    ORDO_ADD(&args, ORDO_ARG(capacity), ORDO_ARG(c->tree->faults));
    return ordo_call_launch(c->call, &apply, &args);
}

static size_t first_launch_max(size_t leaves)
{
    return LAUNCH_PER_LEAF * leaves < LAUNCH_MIN ? LAUNCH_MIN : LAUNCH_PER_LEAF * leaves;
}

static ordo_status launch_window(const struct ordo_ltree_batch *c, size_t first, size_t count)
{
    const bool alone = is_alone(c);
    size_t     most = alone ? LAUNCH_ALONE : first_launch_max(c->state[LTREE_LEAVES]);

    for (size_t done = 0, n; done < count; done += n) {
        n = ordo_min_size(ordo_min_size(most, LAUNCH_MAX), count - done);
        ORDO_TRY(launch(c, LTREE_OFFERS_ALL, first + done, n, NULL, c->pending, alone));
        most = alone ? most : most * 2;
    }
    return ORDO_OK;
}

static ordo_status launch_list(const struct ordo_ltree_batch *c, size_t count, cl_mem list, cl_mem next, bool alone)
{
    const size_t most = alone ? LAUNCH_ALONE : LAUNCH_MAX;
    for (size_t first = 0, n; first < count; first += n) {
        n = ordo_min_size(most, count - first);
        ORDO_TRY(launch(c, LTREE_OFFERS_ALL, first, n, list, next, alone));
    }
    return ORDO_OK;
}

static void expect_changes(const struct ordo_ltree_batch *c)
{
    if (c->tally[TALLY_STORES] == 0 && c->tally[TALLY_ERASES] == 0)
        return;
    c->tree->unchecked = true;
    c->tree->list.fresh = c->tree->in_order = c->tree->counted = false;
    if (c->tally[TALLY_ERASES] > 0)
        c->tree->emptied = SIZE_MAX;
}

/* Handles the *count operations that gave up, while no kernel runs.
 *
 *   1  If operations found no free leaf, grows the pools or rebuilds the tree. Fails if no leaf is free even then.
 *   2  Adds missing entries of new nodes to the levels above.
 *   3  If step 1 failed, or operations gave up in a second launch too, executes them as sorted batches. With
 *      links.coupled, only if step 1 failed, so that operations take latches.
 *   4  Launches the remaining operations. */
static ordo_status finish_turn(struct ordo_ltree_batch *c, size_t turn, bool alone, size_t *count)
{
    struct ordo_ltree_listed l = { *count, c->pending, c->next };
    const bool               takes_latches = setting(c->tree, ORDO_LTREE_COUPLED) && !ordo_is_dry_run(c->call->dev);
    bool                     lacks = false, updated = false;

    if (c->state[LTREE_STARVED] > 0)
        ORDO_TRY(ordo_ltree_add_leaves(c, &lacks));
    /* The next call creates inner nodes that c->state does not count. So it comes after ordo_ltree_add_leaves, which
     * copies only the nodes that c->state counts. */
    if (c->state[LTREE_SPLITS_PENDING]) {
        ORDO_TRY(ordo_ltree_rebuild_levels(c->call, c->tree, c->state));
        c->state[LTREE_SPLITS_PENDING] = 0;
    }
    if ((turn >= TURNS_TOGETHER && !takes_latches) || lacks)
        ORDO_TRY(ordo_ltree_finish_at_rest(c, &l, &updated));
    c->final = c->final || (lacks && !updated);
    *count = l.count;
    c->pending = l.next;
    c->next = l.list;
    if (l.count > 0)
        expect_changes(c);
    return launch_list(c, l.count, l.list, l.next, is_alone(c) || alone);
}

/* c->state must be the state after the first launch. */
static ordo_status finish_operations(struct ordo_ltree_batch *c)
{
    size_t stuck = 0, launched = SIZE_MAX;

    for (size_t turn = 0;; turn++) {
        c->tree->restarts += c->state[LTREE_RESTARTS];
        size_t count = c->state[LTREE_PENDING];
        if (count == 0)
            return ORDO_OK;
        ORDO_TRY(ordo_ltree_clear_counters(c));
        ORDO_TRY(ordo_ltree_reclaim(c->call, c->tree, c->state));
        stuck = count < launched || c->state[LTREE_MOVED] ? 0 : stuck + 1;
        if (stuck > TURNS_STUCK)
            return ORDO_FAIL(c->call->dev, ORDO_BROKEN,
                             "%zu operations come to no end: is a node latched that nobody holds?", count);
        ORDO_TRY(finish_turn(c, turn, stuck > 0, &count));
        ORDO_TRY(ordo_ltree_read_state(c->call, c->tree, c->state));
        launched = count;
    }
}

static cl_uint first_tick(const struct ordo_ltree_batch *c)
{
    return c->tree->history && c->found_first ? (cl_uint) (2 * c->batch->count) : 0;
}

enum { FINDS_BESIDE_UPDATES, FINDS_FIRST, FINDS_FIRST_IF_MANY };
#define MANY ((size_t) 1 << 22)

/* Returns whether finds precede the changes of a batch that has both. */
static bool finds_precede_changes(const struct ordo_ltree_batch *c)
{
    const uint32_t order = setting(c->tree, ORDO_LTREE_FINDS);
    const bool     many = c->batch->count >= MANY || ordo_is_dry_run(c->call->dev);

    return order == FINDS_FIRST || (order == FINDS_FIRST_IF_MANY && many);
}

static bool finds_first(const struct ordo_ltree_batch *c)
{
    const bool changes = c->tally[TALLY_STORES] > 0 || c->tally[TALLY_ERASES] > 0;
    return c->tally[TALLY_FINDS] > 0 && (!changes || finds_precede_changes(c));
}

/* Answers the finds. Then lists the other operations, so that later launches meet no finds: 10^7 operations with 10 %
 * updates take 1.1 instead of 2.0 ms (H200). */
static ordo_status find_first(struct ordo_ltree_batch *c)
{
    const int mark = c->call->n_scratch;

    ORDO_TRY(ordo_ltree_find_in_batch(c->call, c->tree, c->batch));
    c->count -= ordo_min_size(c->tally[TALLY_FINDS], c->count);
    if (c->count == 0)
        return ORDO_OK;
    const ordo_status status = ordo_ltree_list_others(c);
    if (status != ORDO_OK) {
        c->subset = NULL;
        c->count = c->batch->count;
    }
    return ordo_ltree_or_drop(c, mark, status);
}

static ordo_status prepare(struct ordo_ltree_batch *c)
{
    ORDO_TRY(ordo_ltree_take_lists(c));
    ORDO_TRY(ordo_ltree_set_tick(c, first_tick(c)));
    return c->tally[TALLY_STORES] > 0 ? ordo_ltree_grow_ahead(c) : ORDO_OK;
}

static ordo_status run_windows(struct ordo_ltree_batch *c)
{
    for (size_t first = 0; first < c->count; first += c->window) {
        expect_changes(c);
        if (first > 0)
            ORDO_TRY(ordo_ltree_clear_counters(c));
        ORDO_TRY(launch_window(c, first, ordo_min_size(c->window, c->count - first)));
        ORDO_TRY(ordo_ltree_read_state(c->call, c->tree, c->state));
        ORDO_TRY(finish_operations(c));
    }
    return ORDO_OK;
}

static ordo_status complete_levels(struct ordo_ltree_batch *c)
{
    ORDO_TRY(ordo_ltree_reclaim(c->call, c->tree, c->state));
    if (c->state[LTREE_SPLITS_PENDING] == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_ltree_rebuild_levels(c->call, c->tree, c->state));
    return ordo_ltree_read_state(c->call, c->tree, c->state);
}

/* Adds missing entries of new nodes to the levels above, even after an error. If this fails, tree->unchecked stays set,
 * so that the next call completes it. Returns no error, because the operations are done. */
static void end(struct ordo_ltree_batch *c, ordo_status status)
{
    const bool done = status == ORDO_OK;

    if (status == ORDO_BROKEN || c->half || c->tree->rescue.mem ||
        (!done && ordo_ltree_read_state(c->call, c->tree, c->state) != ORDO_OK) || complete_levels(c) != ORDO_OK)
        return;
    c->tree->unchecked = c->tree->unchecked && ordo_ltree_or_without(status) != ORDO_OK;
    if (done)
        ordo_ltree_fit_pools(c);
}

static ordo_status run_others(struct ordo_ltree_batch *c)
{
    ORDO_TRY(prepare(c));
    const ordo_status status = run_windows(c);
    end(c, status);
    return status;
}

/* ---- launch before the tally is read ----------------------------------------------------------------------------- */

/* Without these functions, the device would be idle between the tally and the first launch until the host has read the
 * tally, for about 20 us on an H200. In larger batches this does not matter. */
#define AHEAD_MAX ((size_t) 1 << 18)

static cl_uint offers_of(const struct ordo_concurrent_batch *b)
{
    return (b->hi.mem ? LTREE_NEEDS_HI : 0) | (b->rooms.mem ? LTREE_NEEDS_ROOMS : 0);
}

static bool offers_suffice(const struct ordo_ltree_batch *c)
{
    const cl_uint *tally = c->tally;
    return (LTREE_NEEDS(tally[TALLY_STORES], tally[TALLY_SCANS], tally[TALLY_RANGES], tally[TALLY_ERASES],
                        tally[TALLY_FINDS]) &
            ~offers_of(c->batch)) == 0;
}

/* Returns whether one launch is enough even if all operations store new keys. A batch without values may have only
 * finds, for which a launch ahead would be in vain. */
static bool may_launch_ahead(const struct ordo_ltree_batch *c)
{
    const struct ordo_ltree *tree = c->tree;

    if (is_alone(c) || ordo_is_dry_run(c->call->dev) || finds_precede_changes(c) ||
        (tree->dict.value_bytes && !c->batch->values.mem))
        return false;
    return c->count <= ordo_min_size(first_launch_max(tree->leaves_max), AHEAD_MAX) &&
           tree->elements_max + c->count <= ORDO_MAX_COUNT && ordo_ltree_has_room(tree, c->count);
}

/* Launches the batch, if one launch is enough. The kernel does nothing if the batch needs something that is not
 * offered. */
static ordo_status launch_ahead(struct ordo_ltree_batch *c, bool *launched)
{
    const int mark = c->call->n_scratch;

    *launched = false;
    if (!may_launch_ahead(c))
        return ORDO_OK;
    const ordo_status status = ordo_ltree_take_lists(c);
    if (status != ORDO_OK)
        return ordo_ltree_or_drop(c, mark, status);
    if (c->window < c->count) {
        ordo_call_release(c->call, mark);
        return ORDO_OK;
    }
    ORDO_TRY(ordo_ltree_set_tick(c, 0));
    ORDO_TRY(launch(c, offers_of(c->batch), 0, c->count, NULL, c->pending, false));
    *launched = true;
    return ORDO_OK;
}

/* Finishes a batch that launch_ahead has launched. `status` is the result of reading the tally. */
static ordo_status finish_ahead(struct ordo_ltree_batch *c, ordo_status status)
{
    if (status != ORDO_OK)
        c->tally[TALLY_STORES] = c->tally[TALLY_ERASES] = 1; /* The batch may have changed the tree. */
    expect_changes(c);
    if (status == ORDO_OK)
        status = finish_operations(c);
    end(c, status);
    return status;
}

ordo_status ordo_ltree_apply_concurrent(ordo_dict *dict, struct ordo_call *call,
                                        const struct ordo_concurrent_batch *batch)
{
    struct ordo_ltree      *tree = ordo_ltree_of(dict);
    struct ordo_ltree_batch c = {
        .call = call, .tree = tree, .batch = batch, .count = batch->count, .far = ORDO_LTREE_QUERY_LEAVES
    };
    bool ahead = false;

    ORDO_TRY(ordo_ltree_begin(call, tree));
    ORDO_TRY(ordo_ltree_launch_tally(&c));
    ORDO_TRY(launch_ahead(&c, &ahead));
    const ordo_status status = ordo_ltree_read_tally(&c);
    if (ahead && (status != ORDO_OK || offers_suffice(&c)))
        return finish_ahead(&c, status);
    ORDO_TRY(status);
    if (ahead)
        ordo_call_release(call, c.mark);
    ORDO_TRY(ordo_dict_check_concurrent(&tree->dict, batch, c.tally[TALLY_STORES], c.tally[TALLY_SCANS],
                                        c.tally[TALLY_RANGES]));
    ORDO_TRY(ordo_ltree_check_count(call, tree, c.tally[TALLY_STORES]));
    c.found_first = finds_first(&c);
    if (c.found_first)
        ORDO_TRY(find_first(&c));
    return c.count > 0 ? run_others(&c) : ORDO_OK;
}
