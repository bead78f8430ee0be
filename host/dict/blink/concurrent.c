/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on a B-link tree side by side: launches of cl/dict/blink/concurrent.cl until none is left over.
 *
 * Finds come first, all at once: they have no order among the others, so they may have the moment before any of these
 * begins, when the tree is at rest. Then a search needs no version, takes lines from any cache, and is done by teams
 * in a kernel of few registers: 12 G/s on an H200 at 2^24, where searches that may meet a writer come to 4.9 G/s, and
 * to 6 G/s in a kernel that does nothing else.
 *
 * A batch is cut into launches, each twice the one before: work-items that are many more than leaves are only in
 * each other's way. Operations that give up are listed; when all have had their turn, the list is launched again. What
 * then is left of updates is done as a batch in order, which takes no latches: so a leaf that very many want costs a
 * sort, not as many turns. (Each of them overlaps all others that are left: any order will do.) If some gave up for want
 * of leaves, the pool grows in between; if it cannot, operations go on one by one, and those that need one are refused.
 */
#include "dict/blink/blink.h"

#include "dict/batch.h"

#define CONCURRENT_FILE "dict/blink/concurrent.cl"

/* A version has 25 bits, and an operation changes a node twice at most. */
#define LAUNCH_MOST ((size_t) 1 << 22)
/* Operations beside each other for each leaf, and in any case. */
#define LAUNCH_PER_LEAF ((size_t) 4)
#define LAUNCH_LEAST    ((size_t) 64)
/* By one work-item: BLINK_STEPS of it do so many with some to spare. */
#define LAUNCH_ALONE ((size_t) 2048)
/* Rounds over the list before its updates are done in order; and, where there is no memory for that, before one work-item
 * does what is left: then nothing is in the way. */
#define ROUNDS_TOGETHER 1
#define ROUNDS_OF_MANY  8

/* A cl_uint4: operation, count, query. */
#define PENDING_BYTES ((size_t) 16)

struct tally {
    cl_uint stores, scans, ranges, erases, finds;
};

struct concurrent {
    struct ordo_call                   *call;
    struct ordo_blink                  *tree;
    const struct ordo_concurrent_batch *batch;
    struct tally                        tally;
    cl_uint                             state[BLINK_STATE_WORDS];
    cl_mem                              pending;
    cl_uint                             final; /* the pool cannot grow any more */
};

/* Whether only one work-item may run: where no order between groups is to be had. */
static bool is_alone(const struct concurrent *c)
{
    return ordo_device_facts(c->call->dev)->atomics == ORDO_ATOMICS_LEGACY;
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

static ordo_status run_kernel(const struct concurrent *c, const char *name, size_t group, size_t items,
                              const struct ordo_args *args)
{
    const struct ordo_define defines[] = {
        { "ORDO_KEY", c->tree->dict.key },
        { "ORDO_VALUE_BYTES", c->tree->dict.value_bytes },
        { "BLINK_GROUP", (long) group },
        { "TEAM_WIDTH", 1 },
        { "BLINK_HISTORY", c->tree->history != NULL },
        { "BLINK_TORTURE", c->tree->torture },
        { NULL, 0 },
    };
    struct ordo_kernel *kernel = NULL;
    ORDO_TRY(ordo_call_kernel(c->call, CONCURRENT_FILE, name, defines, &kernel));
    return ordo_call_launch(c->call, kernel, ordo_ceil_div(items, group), group, args->arg, args->n);
}

/* Operations from `from` on: of the batch, or of the list `again`. */
static ordo_status launch(const struct concurrent *c, size_t from, size_t count, cl_mem again, cl_mem pending,
                          bool alone)
{
    static const cl_uint                      never = 0;
    const struct ordo_concurrent_batch *const b = c->batch;
    const struct ordo_slice *const            in[] = { &b->codes, &b->keys, &b->his, &b->values, &b->rooms };
    const struct ordo_slice *const            out[] = { &b->found,    &b->keys_out,   &b->values_out,  &b->counts,
                                                        &b->outcomes, &b->range_keys, &b->range_values };
    const cl_uint    leaves = (cl_uint) c->tree->leaf_capacity, inner = (cl_uint) c->tree->inner_capacity;
    const cl_uint    first = (cl_uint) from, n = (cl_uint) count;
    const cl_ulong   room = b->range_capacity;
    struct ordo_args args = { .n = 0 };

    ordo_blink_add_tree(&args, c->tree);
    ORDO_ADD(&args, ORDO_ARG(leaves), ORDO_ARG(inner), ORDO_ARG(first), ORDO_ARG(n), ORDO_ARG(c->final),
             ORDO_ARG(never), ORDO_ARG(again), ORDO_ARG(pending), ORDO_ARG(c->tree->history));
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        ordo_args_slice(&args, in[i]);
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        ordo_args_slice(&args, out[i]);
    ORDO_ADD(&args, ORDO_ARG(room));
    if (alone)
        return run_kernel(c, "blink_apply", 1, 1, &args);
    /* In large launches work-items take several operations: those that are done sooner take more. */
    const size_t each = count >> 16 < 1 ? 1 : ordo_min_size(count >> 16, 8);
    return run_kernel(c, "blink_apply", ordo_blink_flat(c->tree).group, ordo_ceil_div(count, each), &args);
}

static ordo_status launch_all(const struct concurrent *c)
{
    const bool alone = is_alone(c);
    size_t     most = alone ? LAUNCH_ALONE : LAUNCH_PER_LEAF * c->state[BLINK_LEAVES];

    if (most < LAUNCH_LEAST)
        most = LAUNCH_LEAST;
    for (size_t first = 0, n; first < c->batch->count; first += n) {
        n = ordo_min_size(ordo_min_size(most, LAUNCH_MOST), c->batch->count - first);
        ORDO_TRY(launch(c, first, n, NULL, c->pending, alone));
        most = alone ? most : most * 2;
    }
    return ORDO_OK;
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

/* The state, with counters that went above the pools put right; the counters of gave-up operations begin anew. */
static ordo_status read_state(struct concurrent *c)
{
    cl_mem device = c->tree->state;

    ORDO_TRY(ordo_blink_read_state(c->call, c->tree, c->state)); /* leaves: as many as there are at most */
    if (c->state[BLINK_INNER] > c->tree->inner_capacity)
        c->state[BLINK_INNER] = (cl_uint) c->tree->inner_capacity;
    ORDO_TRY(ordo_call_fill(c->call, device, BLINK_LEAVES * sizeof(cl_uint), sizeof(cl_uint), c->state[BLINK_LEAVES]));
    ORDO_TRY(ordo_call_fill(c->call, device, BLINK_INNER * sizeof(cl_uint), sizeof(cl_uint), c->state[BLINK_INNER]));
    return ordo_call_fill(c->call, device, BLINK_PENDING * sizeof(cl_uint), 2 * sizeof(cl_uint), 0);
}

/* Room for so many leaves, or for as many as there can be. Growth that fails is no error: operations wait for it to
 * be. */
static ordo_status grow_to(struct concurrent *c, size_t leaves)
{
    const size_t cap = c->tree->config.max_leaves, had = c->tree->leaf_capacity;

    if (cap > 0 && leaves > cap)
        leaves = cap;
    while (leaves > had) {
        const ordo_status status = ordo_blink_reserve(c->call, c->tree, c->state, leaves);
        if (status != ORDO_NO_DEVICE_MEMORY && status != ORDO_TOO_LARGE)
            return status;
        leaves = had + (leaves - had) / 2;
    }
    return ORDO_OK;
}

/* Ahead of the first launch, for what it will be if keys fall anywhere: two thirds of each leaf. But no more than
 * can be needed: each leaf may be full now, and is then split into two halves. */
static ordo_status grow_ahead(struct concurrent *c)
{
    const size_t stores = c->tally.stores, leaves = c->state[BLINK_LEAVES];
    const size_t needed = leaves + ordo_min_size(stores, leaves) + stores / (BLINK_SLOTS / 2) + 1;
    const size_t likely = (c->state[BLINK_ELEMENTS] + stores) / 22 + 64; /* and the reserve */

    return grow_to(c, ordo_min_size(needed, likely > leaves ? likely : leaves));
}

/* After operations have starved, each of which needs one leaf at most. */
static ordo_status grow_again(struct concurrent *c)
{
    const size_t had = c->tree->leaf_capacity, more = c->state[BLINK_STARVED];

    ORDO_TRY(grow_to(c, had + (more > had / 4 ? had / 4 + 1 : more)));
    c->final = c->tree->leaf_capacity == had;
    return ORDO_OK;
}

/* ---- what gave up ------------------------------------------------------------------------------------------------ */

/* Long scans take a launch for each BLINK_STEPS leaves: that many rounds are no sign of trouble. */
static size_t rounds_most(const struct concurrent *c)
{
    return 256 + c->state[BLINK_LEAVES] / 4096;
}

static ordo_status launch_list(const struct concurrent *c, size_t count, cl_mem list, cl_mem next, bool alone)
{
    const size_t most = alone ? LAUNCH_ALONE : LAUNCH_MOST;
    for (size_t first = 0, n; first < count; first += n) {
        n = ordo_min_size(most, count - first);
        ORDO_TRY(launch(c, first, n, list, next, alone));
    }
    return ORDO_OK;
}

/* Before operations go on: the way down leads past leaves that nobody was told of, and what gave up may be lost
 * among them. */
static ordo_status mend(struct concurrent *c)
{
    ORDO_TRY(ordo_blink_mend(c->call, c->tree, c->state));
    c->tree->list.fresh = false;
    /* the clock goes on */
    return ordo_call_fill(c->call, c->tree->state, BLINK_TICK * sizeof(cl_uint), sizeof(cl_uint), c->state[BLINK_TICK]);
}

/* The updates among what gave up, in scratch: of each its number, and as a batch. */
struct left {
    cl_mem            where, found, rest;
    cl_uint           taken[2]; /* updates, others */
    struct ordo_batch updates;
};

static ordo_status gather(const struct concurrent *c, size_t count, cl_mem list, struct left *out)
{
    const struct ordo_concurrent_batch *b = c->batch;
    const struct ordo_dict             *dict = &c->tree->dict;
    const cl_uint                       n = (cl_uint) count;
    struct ordo_args                    args = { .n = 0 };
    cl_mem                              taken = NULL;

    *out = (struct left) { .where = NULL };
    ORDO_TRY(ordo_call_scratch(c->call, sizeof out->taken, &taken));
    ORDO_TRY(ordo_call_scratch(c->call, count * sizeof(cl_uint), &out->where));
    ORDO_TRY(ordo_call_scratch(c->call, count, &out->found));
    ORDO_TRY(ordo_call_scratch(c->call, count * PENDING_BYTES, &out->rest));
    ORDO_TRY(ordo_call_scratch(c->call, count, &out->updates.codes.mem));
    ORDO_TRY(ordo_call_scratch(c->call, count * dict->key_bytes, &out->updates.keys.mem));
    if (b->values.mem && dict->value_bytes)
        ORDO_TRY(ordo_call_scratch(c->call, count * dict->value_bytes, &out->updates.values.mem));
    ORDO_TRY(ordo_call_fill(c->call, taken, 0, sizeof out->taken, 0));
    ORDO_ADD(&args, ORDO_ARG(list), ORDO_ARG(n));
    ordo_args_slice(&args, &b->codes);
    ordo_args_slice(&args, &b->keys);
    ordo_args_slice(&args, &b->values);
    ORDO_ADD(&args, ORDO_ARG(taken), ORDO_ARG(out->where), ORDO_ARG(out->updates.codes.mem),
             ORDO_ARG(out->updates.keys.mem), ORDO_ARG(out->updates.values.mem), ORDO_ARG(out->rest));
    ORDO_TRY(run_kernel(c, "blink_gather", ordo_blink_flat(c->tree).group, count, &args));
    ORDO_TRY(ordo_call_read(c->call, taken, 0, out->taken, sizeof out->taken));
    out->updates.count = out->taken[0];
    out->updates.found = ordo_at(out->found, 0);
    return ORDO_OK;
}

static ordo_status scatter(const struct concurrent *c, const struct left *left)
{
    const cl_uint    n = left->taken[0], tick = c->state[BLINK_TICK], after = tick + n;
    struct ordo_args args = { .n = 0 };

    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(left->where), ORDO_ARG(left->found));
    ordo_args_slice(&args, &c->batch->found);
    ordo_args_slice(&args, &c->batch->outcomes);
    ORDO_ADD(&args, ORDO_ARG(c->tree->history), ORDO_ARG(tick));
    ORDO_TRY(run_kernel(c, "blink_scatter", ordo_blink_flat(c->tree).group, n, &args));
    return ordo_call_fill(c->call, c->tree->state, BLINK_TICK * sizeof(cl_uint), sizeof(cl_uint), after);
}

/* Before leaves are changed side by side: what is known of the tree besides is no longer so. */
static void expect_changes(struct ordo_blink *tree)
{
    tree->in_doubt = true;
    tree->list.fresh = tree->in_order = tree->counted = false;
}

/* Does the updates of a list in order, and makes *list and *count what else there is; both are as they were if there is no
 * memory for it. The tree is still in doubt, and so is checked first: a leaf that somebody has latched and left would
 * otherwise be taken for a sound one. */
static ordo_status settle_in_order(struct concurrent *c, size_t *count, cl_mem *list)
{
    struct left left;
    ordo_status status = gather(c, *count, *list, &left);

    if (status == ORDO_OK && left.taken[0] == 0)
        return ORDO_OK;
    if (status == ORDO_OK)
        status = ordo_dict_apply_enqueue(&c->tree->dict, c->call, &left.updates, NULL);
    expect_changes(c->tree);
    if (status == ORDO_NO_DEVICE_MEMORY || status == ORDO_TOO_LARGE)
        return ORDO_OK;
    ORDO_TRY(status);
    if (!ordo_blink_has_nodes(c->tree)) /* all that there was is erased */
        ORDO_TRY(ordo_blink_begin(c->call, c->tree));
    ORDO_TRY(scatter(c, &left));
    *count = left.taken[1];
    *list = left.rest;
    return ORDO_OK;
}

/* One more turn for a list of operations, of which what gives up goes to `next`. */
static ordo_status settle_round(struct concurrent *c, size_t round, size_t *count, cl_mem *list, cl_mem next)
{
    if (c->state[BLINK_STARVED] > 0)
        ORDO_TRY(grow_again(c));
    if (c->state[BLINK_LAGGING]) /* after growth, which goes by the number of inner nodes as it was read */
        ORDO_TRY(mend(c));
    if (round == ROUNDS_TOGETHER && !is_alone(c))
        ORDO_TRY(settle_in_order(c, count, list));
    return launch_list(c, *count, *list, next, is_alone(c) || round >= ROUNDS_OF_MANY);
}

static ordo_status settle(struct concurrent *c)
{
    cl_mem list = c->pending, next = NULL;

    for (size_t round = 0;; round++) {
        ORDO_TRY(read_state(c));
        size_t count = c->state[BLINK_PENDING];
        if (count == 0)
            return ORDO_OK;
        if (round > rounds_most(c))
            return ordo_fail(c->call->dev, ORDO_BROKEN, 0, __FILE__, __LINE__,
                             "%zu operations come to no end: is a node latched that nobody holds?", count);
        if (!next)
            ORDO_TRY(ordo_call_scratch(c->call, count * PENDING_BYTES, &next));
        ORDO_TRY(settle_round(c, round, &count, &list, next));
        const cl_mem done = list;
        list = next;
        next = done;
    }
}

/* ---- a batch ----------------------------------------------------------------------------------------------------- */

static ordo_status take_tally(struct concurrent *c)
{
    const cl_uint    n = (cl_uint) c->batch->count;
    struct ordo_args args = { .n = 0 };
    cl_mem           words = NULL;

    ORDO_TRY(ordo_call_scratch(c->call, sizeof c->tally, &words));
    ORDO_TRY(ordo_call_fill(c->call, words, 0, sizeof c->tally, 0));
    ordo_args_slice(&args, &c->batch->codes);
    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(words));
    ORDO_TRY(run_kernel(c, "blink_tally", ordo_blink_flat(c->tree).group,
                        ordo_min_size(c->batch->count, (size_t) 1 << 18), &args));
    return ordo_call_read(c->call, words, 0, &c->tally, sizeof c->tally);
}

static ordo_status check_inputs(const struct concurrent *c)
{
    const struct ordo_concurrent_batch *b = c->batch;
    ordo_device                        *dev = c->call->dev;

    if (c->tree->dict.value_bytes && c->tally.stores && !b->values.mem)
        return ordo_fail(dev, ORDO_INVALID, 0, __FILE__, __LINE__, "the batch stores, but has no values");
    if (c->tally.scans && !b->his.mem)
        return ordo_fail(dev, ORDO_INVALID, 0, __FILE__, __LINE__,
                         "the batch has counts or ranges, but no upper bounds");
    if (c->tally.ranges && !b->rooms.mem)
        return ordo_fail(dev, ORDO_INVALID, 0, __FILE__, __LINE__, "the batch has ranges, but no rooms");
    return ORDO_OK;
}

/* The first tick of a recorded history; those before are the finds'. */
static cl_uint first_tick(const struct concurrent *c)
{
    return c->tree->history ? (cl_uint) (2 * c->batch->count) : 0;
}

/* For all but finds. */
static ordo_status prepare(struct concurrent *c)
{
    cl_mem state = c->tree->state;

    ORDO_TRY(read_state(c));
    ORDO_TRY(ordo_call_fill(c->call, state, BLINK_TICK * sizeof(cl_uint), sizeof(cl_uint), first_tick(c)));
    ORDO_TRY(ordo_call_fill(c->call, state, BLINK_LAGGING * sizeof(cl_uint), sizeof(cl_uint), 0));
    if (c->tally.stores > 0)
        ORDO_TRY(grow_ahead(c));
    return ordo_call_scratch(c->call, c->batch->count * PENDING_BYTES, &c->pending);
}

/* After an error what was done stays done: the levels above are told of what has split, if that can still be had. The next
 * call looks at the tree. */
static ordo_status end_early(struct concurrent *c, ordo_status status)
{
    if (status != ORDO_BROKEN && read_state(c) == ORDO_OK && c->state[BLINK_LAGGING])
        (void) ordo_blink_mend(c->call, c->tree, c->state);
    return status;
}

static ordo_status run_others(struct concurrent *c)
{
    struct ordo_blink *tree = c->tree;

    ORDO_TRY(prepare(c));
    if (c->tally.stores || c->tally.erases)
        expect_changes(tree);
    ordo_status status = launch_all(c);
    if (status == ORDO_OK)
        status = settle(c);
    if (status != ORDO_OK)
        return end_early(c, status);
    if (c->state[BLINK_LAGGING])
        ORDO_TRY(ordo_blink_mend(c->call, tree, c->state));
    tree->in_doubt = false;
    return ORDO_OK;
}

ordo_status ordo_blink_apply_concurrent(ordo_dict *dict, struct ordo_call *call,
                                        const struct ordo_concurrent_batch *batch)
{
    struct ordo_blink *tree = ordo_blink_of(dict);
    struct concurrent  c = { .call = call, .tree = tree, .batch = batch };

    ORDO_TRY(take_tally(&c));
    ORDO_TRY(check_inputs(&c));
    ORDO_TRY(ordo_blink_begin(call, tree));
    if (c.tally.finds > 0)
        ORDO_TRY(ordo_blink_find_in_batch(call, tree, batch));
    return c.tally.finds < batch->count ? run_others(&c) : ORDO_OK;
}
