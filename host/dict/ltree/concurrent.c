/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on a linked tree side by side: launches of cl/dict/ltree/concurrent.cl until none is left over.
 *
 * Finds come first, all at once: they have no order among the others, so they may have the moment before any of these
 * begins, when the tree is at rest. Then a search needs no version, takes lines from any cache, and is done by teams
 * in a kernel of few registers: 12 G/s on an H200 at 2^24, where searches that may meet a writer come to 4.9 G/s, and
 * to 6 G/s in a kernel that does nothing else.
 *
 * A batch is cut into launches, each twice the one before: work-items that are many more than leaves are only in
 * each other's way. What an operation may give up on, and is then listed:
 *
 *   - a leaf that it cannot have, after LTREE_TRIES tries: too many want it;
 *   - a new leaf, if there is none: it starves;
 *   - a query that has gone through QUERY_LEAVES leaves and is not at its end: used-up leaves, or a long count. Only
 *     elements that are asked for one by one are worth a leaf each;
 *   - the rest of its way, when the work-item's LTREE_STEPS steps are done. If that was to tell the level above of a split, it
 *     is not listed, for it is done itself; the level lags behind (LTREE_SPLITS_PENDING).
 *
 * Between launches the tree is at rest, and the host does, in this order:
 *
 *   0  reclaim  what leaves that have merged have left behind goes (skiplists alone). That needs no memory
 *   1  room     if some starved: larger pools; where these cannot be had, the tree is built anew if that gives leaves back;
 *               else those that need a leaf are refused from then on (`final`)
 *   2  levels   what lags behind takes in what has split. That needs no memory (levels.c)
 *   3  at rest  after all have had a second turn: what is listed is done as batches in order, updates first, then queries
 *               over the list of leaves. (Each of them overlaps all others that are left: any order will do.) So a leaf that
 *               very many want costs a sort, not as many turns, and a query over empty leaves a search
 *   4  a turn   for what is left: ranges, and all where there was no memory for 3
 *
 * Each turn gets something done: queries latch nothing and always come further, and of updates that want one leaf one has
 * it. So turns are not counted, but those in which nothing came further are: after such a turn one work-item goes
 * alone, in nobody's way, and many of them in a row are a latch that nobody holds.
 *
 * No memory is asked for between the first change and the last without which the batch could not be ended: the lists come
 * first, for as many operations at a time as there is memory for; 1 and 3 do without what they cannot get. So running out of
 * memory refuses operations, and leaves no node behind that was split and not told of.
 *
 * Leaves that a batch has emptied stay while others may be led to them. At its end, pools of which less than half are
 * elements are made to fit: by building the tree anew, or, if leaves are well filled, by moving it. As at least half as
 * many changes as there are elements lie between two such times, that is a bounded number of moves a change. So are pools of
 * which more than two sevenths are leaves that have merged into others: each of these took several erases.
 */
#include "dict/ltree/concurrent.h"

/* Operations in a launch: a version has LTREE_VERSION_BITS, and an operation changes a node at most twice. */
#define LAUNCH_MAX ((size_t) 1 << 22)
_Static_assert(2 * ((size_t) 1 << 22) <= (size_t) 1 << LTREE_VERSION_BITS, "a version could come back within a launch");
/* Operations beside each other for each leaf, and in any case. */
#define LAUNCH_PER_LEAF ((size_t) 4)
#define LAUNCH_MIN      ((size_t) 64)
/* By one work-item: LTREE_STEPS of it do so many with some to spare. */
#define LAUNCH_ALONE ((size_t) LTREE_STEPS / 8)
/* Turns before what is listed is done at rest. */
#define TURNS_TOGETHER 1
/* Turns in a row in which nothing comes further, at most. (With faults injected they may all fail by chance.) */
#define TURNS_STUCK 64

/* Whether only one work-item may run: where no order between groups is to be had. */
static bool is_alone(const struct ordo_ltree_batch *c)
{
    return ordo_device_facts(c->call->dev)->atomics == ORDO_ATOMICS_LEGACY || (c->tree->faults & FAULT_ALONE);
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

/* What a group of so many work-items leaves each of the registers that a compute unit has, where the driver can be told: larger
 * groups would not start. 0: its choice. */
#define REGISTERS ((size_t) 1 << 16)
#define EASY      ((size_t) 256)

static struct ordo_launch apply_kernel(const struct ordo_ltree *tree, size_t group, size_t items)
{
    const struct ordo_ltree_shape shape = { group, 1, 0 };
    struct ordo_launch launch = ordo_ltree_kernel(tree, "dict/ltree/concurrent.cl", "ltree_apply", shape, items);

    launch.groups = ordo_ceil_div(items, group);
    ordo_launch_define(&launch, "CONCURRENT_HISTORY", tree->history != NULL);
    ordo_launch_define(&launch, "CONCURRENT_FAULTS", tree->faults != 0);
    ordo_launch_define(&launch, "LTREE_MERGE", tree->config.merges);
    ordo_launch_define(&launch, "LTREE_RAISE", tree->config.raise_percent);
    ordo_launch_define(&launch, "ORDO_MAX_REGISTERS", group > EASY ? (long) (REGISTERS / group) : 0);
    return launch;
}

/* Operations from `from` on: of the batch, or of the list `again`. */
static ordo_status launch(const struct ordo_ltree_batch *c, size_t from, size_t count, cl_mem again, cl_mem pending,
                          bool alone)
{
    const struct ordo_concurrent_batch *const b = c->batch;
    const struct ordo_slice *const            in[] = { &b->codes, &b->keys, &b->his, &b->values, &b->rooms };
    const struct ordo_slice *const            out[] = { &b->found,    &b->keys_out,   &b->values_out,  &b->counts,
                                                        &b->outcomes, &b->range_keys, &b->range_values };
    /* In large launches work-items take several operations: those that are done sooner take more. */
    const size_t             each = count >> 16 < 1 ? 1 : ordo_min_size(count >> 16, 8);
    const struct ordo_launch apply =
        alone ? apply_kernel(c->tree, 1, 1)
              : apply_kernel(c->tree, ordo_ltree_operations_group(c->tree), ordo_ceil_div(count, each));
    const cl_ulong   room = b->range_capacity;
    struct ordo_args args = ordo_ltree_args(c->tree);

    ORDO_ADD(&args, ORDO_ARG_UINT(c->tree->pools.leaves), ORDO_ARG_UINT(c->tree->pools.inner), ORDO_ARG_UINT(from),
             ORDO_ARG_UINT(count), ORDO_ARG(c->final), ORDO_ARG_UINT(0), ORDO_ARG(c->far), ORDO_ARG(again),
             ORDO_ARG(pending), ORDO_ARG(c->tree->history));
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        ordo_args_slice(&args, in[i]);
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        ordo_args_slice(&args, out[i]);
    ORDO_ADD(&args, ORDO_ARG(room), ORDO_ARG(c->tree->faults));
    return ordo_call_launch(c->call, &apply, &args);
}

/* Operations first .. first + count - 1 of the batch. */
static ordo_status launch_window(const struct ordo_ltree_batch *c, size_t first, size_t count)
{
    const bool alone = is_alone(c);
    size_t     most = alone ? LAUNCH_ALONE : LAUNCH_PER_LEAF * c->state[LTREE_LEAVES];

    if (most < LAUNCH_MIN)
        most = LAUNCH_MIN;
    for (size_t done = 0, n; done < count; done += n) {
        n = ordo_min_size(ordo_min_size(most, LAUNCH_MAX), count - done);
        ORDO_TRY(launch(c, first + done, n, NULL, c->pending, alone));
        most = alone ? most : most * 2;
    }
    return ORDO_OK;
}

static ordo_status launch_list(const struct ordo_ltree_batch *c, size_t count, cl_mem list, cl_mem next, bool alone)
{
    const size_t most = alone ? LAUNCH_ALONE : LAUNCH_MAX;
    for (size_t first = 0, n; first < count; first += n) {
        n = ordo_min_size(most, count - first);
        ORDO_TRY(launch(c, first, n, list, next, alone));
    }
    return ORDO_OK;
}

/* Before leaves are changed side by side: what is known of the tree besides is no longer so. */
static void expect_changes(const struct ordo_ltree_batch *c)
{
    if (c->tally[TALLY_STORES] == 0 && c->tally[TALLY_ERASES] == 0)
        return;
    c->tree->in_doubt = true;
    c->tree->list.fresh = c->tree->in_order = c->tree->counted = false;
}

/* ---- turns ------------------------------------------------------------------------------------------------------- */

/* One more turn for a list of operations, of which what gives up is listed in c->pending. */
static ordo_status finish_turn(struct ordo_ltree_batch *c, size_t turn, bool alone, size_t *count)
{
    struct ordo_ltree_listed l = { *count, c->pending, c->next };
    bool                     lacks = false, updated = false;

    if (c->state[LTREE_STARVED] > 0)
        ORDO_TRY(ordo_ltree_make_room(c, &lacks));
    if (c->state[LTREE_SPLITS_PENDING]) { /* after growth, which goes by the number of inner nodes as it was read */
        ORDO_TRY(ordo_ltree_rebuild_levels(c->call, c->tree, c->state));
        c->state[LTREE_SPLITS_PENDING] = 0;
    }
    if (turn >= TURNS_TOGETHER || lacks)
        ORDO_TRY(ordo_ltree_finish_at_rest(c, &l, &updated));
    c->final = c->final || (lacks && !updated);
    *count = l.count;
    c->pending = l.next;
    c->next = l.list;
    if (l.count > 0)
        expect_changes(c);
    return launch_list(c, l.count, l.list, l.next, is_alone(c) || alone);
}

static ordo_status finish_operations(struct ordo_ltree_batch *c)
{
    size_t stuck = 0, launched = SIZE_MAX;

    for (size_t turn = 0;; turn++) {
        ORDO_TRY(ordo_ltree_batch_state(c));
        ORDO_TRY(ordo_ltree_reclaim(c->call, c->tree, c->state));
        size_t count = c->state[LTREE_PENDING];
        if (count == 0)
            return ORDO_OK;
        stuck = count < launched || c->state[LTREE_MOVED] ? 0 : stuck + 1;
        if (stuck > TURNS_STUCK)
            return ORDO_FAIL(c->call->dev, ORDO_BROKEN,
                             "%zu operations come to no end: is a node latched that nobody holds?", count);
        ORDO_TRY(finish_turn(c, turn, stuck > 0, &count));
        launched = count;
    }
}

/* ---- a batch ----------------------------------------------------------------------------------------------------- */

static ordo_status check_inputs(const struct ordo_ltree_batch *c)
{
    const struct ordo_concurrent_batch *b = c->batch;
    ordo_device                        *dev = c->call->dev;

    if (c->tree->dict.value_bytes && c->tally[TALLY_STORES] && !b->values.mem)
        return ORDO_FAIL(dev, ORDO_INVALID, "the batch stores, but has no values");
    if (c->tally[TALLY_SCANS] && !b->his.mem)
        return ORDO_FAIL(dev, ORDO_INVALID, "the batch has counts or ranges, but no upper bounds");
    if (c->tally[TALLY_RANGES] && !b->rooms.mem)
        return ORDO_FAIL(dev, ORDO_INVALID, "the batch has ranges, but no rooms");
    return ORDO_OK;
}

/* The first tick of a recorded history; those before are the finds'. */
static cl_uint first_tick(const struct ordo_ltree_batch *c)
{
    return c->tree->history ? (cl_uint) (2 * c->batch->count) : 0;
}

/* For all but finds: what there must be before anything is changed. */
static ordo_status prepare(struct ordo_ltree_batch *c)
{
    ORDO_TRY(ordo_ltree_take_lists(c));
    ORDO_TRY(ordo_ltree_batch_state(c));
    ORDO_TRY(ordo_ltree_set_tick(c, first_tick(c)));
    return c->tally[TALLY_STORES] > 0 ? ordo_ltree_grow_ahead(c) : ORDO_OK;
}

static ordo_status run_windows(struct ordo_ltree_batch *c)
{
    for (size_t first = 0; first < c->batch->count; first += c->window) {
        expect_changes(c);
        ORDO_TRY(launch_window(c, first, ordo_min_size(c->window, c->batch->count - first)));
        ORDO_TRY(finish_operations(c));
    }
    return ORDO_OK;
}

/* The levels above have all been told, and nothing is left to be done, also after an error: what was done by then stays. Where a
 * lack of memory has ended the batch, every launch has been one that ran to its end, so that nothing is in doubt. */
static ordo_status end(struct ordo_ltree_batch *c, ordo_status status)
{
    if (status == ORDO_BROKEN || c->half || c->tree->rescue.mem ||
        (status != ORDO_OK && ordo_ltree_batch_state(c) != ORDO_OK))
        return status;
    const ordo_status reclaimed = ordo_ltree_reclaim(c->call, c->tree, c->state);
    if (reclaimed != ORDO_OK)
        return status == ORDO_OK ? reclaimed : status;
    if (c->state[LTREE_SPLITS_PENDING]) {
        ordo_status mended = ordo_ltree_rebuild_levels(c->call, c->tree, c->state);
        if (mended == ORDO_OK)
            mended = ordo_ltree_batch_state(c); /* that took inner nodes, and give_back moves as many as it knows of */
        if (mended != ORDO_OK)
            return status == ORDO_OK ? mended : status;
    }
    c->tree->in_doubt = c->tree->in_doubt && ordo_ltree_or_without(status) != ORDO_OK;
    return status;
}

static ordo_status run_others(struct ordo_ltree_batch *c)
{
    ORDO_TRY(prepare(c));
    ORDO_TRY(end(c, run_windows(c)));
    return ordo_ltree_give_back(c);
}

ordo_status ordo_ltree_apply_concurrent(ordo_dict *dict, struct ordo_call *call,
                                        const struct ordo_concurrent_batch *batch)
{
    struct ordo_ltree      *tree = ordo_ltree_of(dict);
    struct ordo_ltree_batch c = { .call = call, .tree = tree, .batch = batch, .far = ORDO_LTREE_QUERY_LEAVES };

    ORDO_TRY(ordo_ltree_take_tally(&c));
    ORDO_TRY(check_inputs(&c));
    ORDO_TRY(ordo_ltree_begin(call, tree));
    ORDO_TRY(ordo_ltree_check_room(call, tree, c.tally[TALLY_STORES]));
    if (c.tally[TALLY_FINDS] > 0)
        ORDO_TRY(ordo_ltree_find_in_batch(call, tree, batch));
    return c.tally[TALLY_FINDS] < batch->count ? run_others(&c) : ORDO_OK;
}
