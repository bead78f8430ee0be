/* SPDX-License-Identifier: Apache-2.0 */
/* Batches into a linked tree: in place, leaf by leaf and then level by level (cl/dict/links/update.cl), or by building
 * the tree anew.
 *
 *   1  plan     the updates of each leaf; how many new leaves at most         waits
 *   2  reserve  memory for these: after this nothing can fail but the device
 *   3  change   leaves, then each level, then the root
 *
 * The updates of a leaf are brought together by sorting the batch, or, where a GPU has few for each leaf, by
 * buckets: no sort, and half the launches. If very many updates fall into one leaf, 1 and 3 go round: memory for all
 * rounds is reserved before the first, and each puts a sample of the group into the tree, so that the next one finds
 * many leaves in its place.
 *
 * Values that are combined are so where an update meets its leaf, which each does once: 3 goes round no more than once, and what is
 * tried again has changed nothing. Where that is not so, and where the tree is built anew, they are combined before (combine_now). */
#include "dict/links/links.h"

#include "dict/batch.h"
#include "dict/generic/generic.h"
#include "primitive/scan.h"
#include "primitive/sort.h"

#define UPDATE_FILE "dict/links/update.cl"
#define BUCKET_FILE "dict/links/bucket.cl"

/* A batch; in key order unless it goes by buckets. */
struct batch {
    struct ordo_sorted_updates u;
    cl_uint                    all_erased;
    const struct ordo_combines
        *combines; /* how its values are combined with those that are there; NULL: they replace them */
};

/* ---- which way ---------------------------------------------------------------------------------------------------- */

/* Whether a batch in place goes by buckets: on a GPU, unless leaves have been bucket_backoff of late. */
static bool has_buckets(const struct ordo_links *tree)
{
    return !ordo_device_facts(tree->dict.dev)->cpu && tree->bucket_backoff == 0;
}

/* A batch of so many updates a leaf of 28 slots costs less when the tree is built anew (measured on an H200 alone): one in place reads
 * and writes each leaf that it touches, which these are all. At 2^24 elements: 2^22 updates by buckets 2.7, anew 2.1 G/s;
 * a sorted batch in place 1.4 G/s at 2^21. */
#define REBUILD_PER_LEAF 6
#define REBUILD_SORTED   2

#define REBUILD_SLOTS ((size_t) LINKS_WORDS_USUAL - LINKS_TAIL)

static bool is_worth_rebuilding(const struct ordo_links *tree, size_t count)
{
    const size_t leaves = ordo_ceil_div(tree->leaves_most * ordo_links_slots(tree), REBUILD_SLOTS);
    return tree->underfull || count / (has_buckets(tree) ? REBUILD_PER_LEAF : REBUILD_SORTED) >= leaves;
}

/* ---- 1 plan ------------------------------------------------------------------------------------------------------ */

/* In scratch: of each update its leaf, its place there and its leaf's parent; and where groups begin. */
struct plan {
    cl_mem  leaves, positions, parents, first;
    cl_uint state[LINKS_STATE_WORDS];
};

static ordo_status group(struct ordo_call *call, const struct ordo_links *tree, size_t count, const struct plan *plan)
{
    const struct ordo_links_shape shape = ordo_links_flat(tree);
    const cl_uint                 n = (cl_uint) count;
    struct ordo_args              flags = { .n = 0 }, first = { .n = 0 }, need = { .n = 0 };
    const int                     mark = call->n_scratch;
    cl_mem                        number = NULL;

    ORDO_TRY(ordo_call_scratch(call, count * sizeof(cl_uint), &number));
    ORDO_ADD(&flags, ORDO_ARG(plan->leaves), ORDO_ARG(n), ORDO_ARG(number));
    ORDO_TRY(ordo_links_launch(call, tree, UPDATE_FILE, "group_flags", &shape, count, &flags));
    const struct ordo_scan scan = { .type = ORDO_U32,
                                    .op = ORDO_SUM,
                                    .inclusive = true,
                                    .in = ordo_at(number, 0),
                                    .out = ordo_at(number, 0),
                                    .count = count };
    ORDO_TRY(ordo_call_scan(call, &scan));
    ORDO_ADD(&first, ORDO_ARG(number), ORDO_ARG(n), ORDO_ARG(plan->first), ORDO_ARG(tree->state));
    ORDO_TRY(ordo_links_launch(call, tree, UPDATE_FILE, "group_first", &shape, count, &first));
    ordo_links_add_tree(&need, tree);
    ORDO_ADD(&need, ORDO_ARG(plan->leaves), ORDO_ARG(plan->first));
    /* Each work-item ends with two atomics: some thousands of them take all groups. */
    ORDO_TRY(ordo_links_launch(call, tree, UPDATE_FILE, "group_plan", &shape, ordo_min_size(count, 1 << 13), &need));
    ordo_call_release(call, mark);
    return ORDO_OK;
}

/* Waits. */
static ordo_status make_plan(struct ordo_call *call, struct ordo_links *tree, const struct batch *batch,
                             struct plan *plan)
{
    const size_t count = batch->u.count;
    ORDO_TRY(ordo_links_locate(call, tree, batch->u.keys, count, plan->leaves, plan->positions, plan->parents));
    tree->planned = true;
    ORDO_TRY(group(call, tree, count, plan));
    return ordo_links_read_state(call, tree, plan->state);
}

static ordo_status take_plan_scratch(struct ordo_call *call, size_t count, struct plan *plan)
{
    ORDO_TRY(ordo_call_scratch(call, count * sizeof(cl_uint), &plan->leaves));
    ORDO_TRY(ordo_call_scratch(call, count * sizeof(cl_uint), &plan->positions));
    ORDO_TRY(ordo_call_scratch(call, count * sizeof(cl_uint), &plan->parents));
    return ordo_call_scratch(call, (count + 1) * sizeof(cl_uint), &plan->first);
}

/* ---- 3 change ---------------------------------------------------------------------------------------------------- */

/* Updates of one leaf that its team takes one after another in a round. */
#define SHARE_MOST 1024

/* Teams that take leaves: each ends with an atomic, for which CPUs wait as long as for a leaf. */
#define LEAF_TEAMS     ((size_t) 1 << 15)
#define LEAF_TEAMS_CPU ((size_t) 1 << 12)

static ordo_status update_leaves(struct ordo_call *call, const struct ordo_links *tree, const struct batch *batch,
                                 const struct plan *plan)
{
    const struct ordo_links_shape shape = ordo_links_teams(tree, 0);
    const cl_uint                 n = (cl_uint) batch->u.count, most = SHARE_MOST;
    const size_t                  teams = ordo_device_facts(tree->dict.dev)->cpu ? LEAF_TEAMS_CPU : LEAF_TEAMS;
    struct ordo_args              args = { .n = 0 };

    ordo_links_add_tree(&args, tree);
    ORDO_ADD(&args, ORDO_ARG(plan->leaves), ORDO_ARG(plan->parents), ORDO_ARG(plan->first));
    ordo_args_slice(&args, &batch->u.keys);
    ordo_args_slice(&args, &batch->u.values);
    ordo_args_slice(&args, &batch->u.erased);
    ORDO_ADD(&args, ORDO_ARG(plan->positions), ORDO_ARG(n), ORDO_ARG(batch->all_erased), ORDO_ARG(most),
             ORDO_ARG(tree->pools.dirty[1]));
    return ordo_links_launch_combining(call, tree, UPDATE_FILE, "update_leaves", batch->combines, &shape,
                                       ordo_min_size(plan->state[LINKS_GROUPS], teams), &args);
}

/* By a plan. Once the leaves have changed the batch is stored: where the levels above could not be told, they are made from what the
 * leaves say. */
static ordo_status change(struct ordo_call *call, struct ordo_links *tree, const struct batch *batch,
                          const struct plan *plan)
{
    tree->list.fresh = false;
    tree->in_doubt = true;
    ORDO_TRY(update_leaves(call, tree, batch, plan));
    tree->rounds++;
    if (plan->state[LINKS_WANTED] > 0) {
        tree->in_order = false;
        if (ordo_links_update_above(call, tree, plan->state[LINKS_LEAVES], plan->state[LINKS_WANTED]) != ORDO_OK)
            return ordo_links_validate(call, tree);
    }
    tree->in_doubt = false;
    return ORDO_OK;
}

/* ---- a batch by buckets ------------------------------------------------------------------------------------------ */

/* In scratch: see bucket_updates in cl/dict/links/bucket.cl. */
struct buckets {
    cl_mem  bucket, heads, parents;
    cl_uint slots;
    bool    seen_through; /* a call failed, and the levels above were made from what the leaves say */
};

/* A bucket holds the updates of a leaf but the first. With random keys, and 2^20 leaves, some leaf gets more than these in
 * one batch of some hundreds, by the Poisson distribution; that batch is sorted. */
static cl_uint slots_for(const struct ordo_links *tree, size_t count)
{
    const size_t leaves = tree->leaves_most;
    return count < leaves / 2 ? 7 : count < 2 * leaves ? 15 : LINKS_BUCKET_OF(tree->config.words);
}

static ordo_status take_bucket_scratch(struct ordo_call *call, const struct ordo_links *tree, size_t count,
                                       struct buckets *b)
{
    b->slots = slots_for(tree, count);
    ORDO_TRY(ordo_call_scratch(call, tree->leaves_most * b->slots * sizeof(cl_uint), &b->bucket));
    ORDO_TRY(ordo_call_scratch(call, count * sizeof(cl_uint), &b->heads));
    return ordo_call_scratch(call, count * sizeof(cl_uint), &b->parents);
}

static ordo_status fill_buckets(struct ordo_call *call, struct ordo_links *tree, const struct batch *batch,
                                const struct buckets *b)
{
    const struct ordo_links_shape shape = ordo_links_search_shape(tree);
    const cl_uint                 n = (cl_uint) batch->u.count;
    struct ordo_args              args = { .n = 0 };

    if (!tree->counted)
        ORDO_TRY(ordo_links_count_leaves(call, tree));
    tree->counted = false; /* until all that arrived has been taken */
    if (tree->planned)
        ORDO_TRY(ordo_call_fill(call, tree->state, LINKS_GROUPS * sizeof(cl_uint), 3 * sizeof(cl_uint), 0));
    tree->planned = true;
    ordo_links_add_tree(&args, tree);
    ordo_args_slice(&args, &batch->u.keys);
    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(b->slots), ORDO_ARG(b->bucket), ORDO_ARG(b->heads), ORDO_ARG(b->parents));
    return ordo_links_launch(call, tree, BUCKET_FILE, "bucket_updates", &shape, batch->u.count, &args);
}

/* Changes nothing if the batch overflows a bucket, or wants more new leaves than the pools have. */
static ordo_status empty_buckets(struct ordo_call *call, const struct ordo_links *tree, const struct batch *batch,
                                 const struct buckets *b)
{
    const struct ordo_links_shape shape = ordo_links_narrow(tree);
    const cl_uint                 n = (cl_uint) batch->u.count;
    const cl_uint                 room = (cl_uint) (tree->pools.leaves - tree->leaves_most);
    struct ordo_args              args = { .n = 0 };

    ordo_links_add_tree(&args, tree);
    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(b->slots), ORDO_ARG(b->bucket), ORDO_ARG(b->heads), ORDO_ARG(b->parents));
    ordo_args_slice(&args, &batch->u.keys);
    ordo_args_slice(&args, &batch->u.values);
    ordo_args_slice(&args, &batch->u.erased);
    ORDO_ADD(&args, ORDO_ARG(batch->all_erased), ORDO_ARG(room), ORDO_ARG(tree->pools.dirty[1]));
    return ordo_links_launch_combining(call, tree, BUCKET_FILE, "update_heads", batch->combines, &shape, batch->u.count,
                                       &args);
}

/* Where the levels above could not be told: the leaves have taken the batch, or are as they were if they could not. What was found is
 * where the plan has it. */
static ordo_status see_buckets_through(struct ordo_call *call, struct ordo_links *tree, struct buckets *b,
                                       cl_uint state[LINKS_STATE_WORDS])
{
    cl_uint found[LINKS_STATE_WORDS];

    ORDO_TRY(ordo_links_read_state(call, tree, found));
    ORDO_TRY(ordo_links_validate(call, tree));
    ORDO_TRY(ordo_links_read_state(call, tree, state));
    state[LINKS_FOUND_WANTED] = found[LINKS_WANTED];
    state[LINKS_FOUND_LARGEST] = found[LINKS_LARGEST];
    b->seen_through = true;
    return ORDO_OK;
}

/* Enqueues all that a batch by buckets does, and reads the state after it; waits. */
static ordo_status try_buckets(struct ordo_call *call, struct ordo_links *tree, const struct batch *batch,
                               struct buckets *b, cl_uint state[LINKS_STATE_WORDS])
{
    const size_t leaves = tree->leaves_most, room = tree->pools.leaves - leaves;
    const bool   in_order = tree->in_order;

    tree->in_doubt = true;
    tree->list.fresh = tree->in_order = false;
    ORDO_TRY(empty_buckets(call, tree, batch, b));
    tree->rounds++;
    /* The batch is stored by now, it seems: for want of memory at this point it is not given up at once. */
    if (ordo_links_update_above(call, tree, leaves, batch->u.count) != ORDO_OK)
        ORDO_TRY(see_buckets_through(call, tree, b, state));
    else if (ordo_links_read_state(call, tree, state) != ORDO_OK)
        ORDO_TRY(ordo_links_read_state(call, tree, state));
    tree->in_doubt = false;
    if (state[LINKS_FOUND_LARGEST] > 0 || state[LINKS_FOUND_WANTED] > room)
        tree->rounds--; /* nothing was changed after all */
    tree->in_order = in_order && state[LINKS_FOUND_WANTED] == 0;
    return ORDO_OK;
}

/* ---- a batch ----------------------------------------------------------------------------------------------------- */

/* Leaves that are less than a quarter full are not worth keeping. */
static bool is_underfull(const struct ordo_links *tree, const cl_uint state[LINKS_STATE_WORDS])
{
    return state[LINKS_LEAVES] > 64 && state[LINKS_ELEMENTS] / (ordo_links_slots(tree) / 4) < state[LINKS_LEAVES];
}

/* Of a sorted batch of combines makes one of stores. The batch's arrays are its own. */
static ordo_status combine_now(struct ordo_call *call, struct ordo_links *tree, struct batch *batch)
{
    if (!batch->combines)
        return ORDO_OK;
    const struct ordo_combines sorted = { batch->combines->value, batch->combines->op, batch->u.keys, batch->u.values,
                                          batch->u.count };
    batch->combines = NULL;
    return ordo_dict_combine_sorted(&tree->dict, call, &sorted);
}

static ordo_status rebuild_with(struct ordo_call *call, struct ordo_links *tree, struct batch *batch)
{
    ORDO_TRY(combine_now(call, tree, batch));
    struct ordo_sorted_updates u = batch->u;
    struct ordo_sorted_run     run;
    if (batch->all_erased) {
        ORDO_TRY(ordo_call_scratch(call, ordo_ceil_div(u.count, 4) * 4, &u.erased.mem));
        ORDO_TRY(ordo_call_fill(call, u.erased.mem, 0, ordo_ceil_div(u.count, 4) * 4, 0x01010101u));
        if (tree->dict.value_bytes)
            ORDO_TRY(ordo_call_scratch(call, u.count * tree->dict.value_bytes, &u.values.mem));
    }
    ORDO_TRY(ordo_runs_take(&tree->runs, call, &u, &run));
    return ordo_links_rebuild(call, tree, &run, ordo_links_update_fill(tree));
}

/* Leaves only updates that do anything, of which a leaf can have no more than it has slots but for those that store new keys. */
static ordo_status keep_effects(struct ordo_call *call, const struct ordo_links *tree, struct batch *batch,
                                const struct plan *plan)
{
    const struct ordo_links_shape shape = ordo_links_flat(tree);
    const cl_uint                 n = (cl_uint) batch->u.count;
    struct ordo_args              args = { .n = 0 };
    cl_mem                        flags = NULL;

    ORDO_TRY(ordo_call_scratch(call, (batch->u.count + 1) * sizeof(cl_uint), &flags));
    ordo_args_slice(&args, &batch->u.keys);
    ordo_args_slice(&args, &batch->u.erased);
    ORDO_ADD(&args, ORDO_ARG(plan->positions), ORDO_ARG(n), ORDO_ARG(batch->all_erased), ORDO_ARG(flags));
    ORDO_TRY(ordo_links_launch(call, tree, UPDATE_FILE, "group_effects", &shape, batch->u.count + 1, &args));
    return ordo_batch_keep(call, &tree->dict, flags, &batch->u);
}

/* Each round leaves a 36th of the largest group at most, or what one can take: so many are enough for all. */
#define ROUNDS_MOST 16

static ordo_status update_round(struct ordo_call *call, struct ordo_links *tree, const struct batch *batch,
                                struct plan *plan)
{
    if (tree->in_doubt)
        ORDO_TRY(ordo_links_validate(call, tree));
    ORDO_TRY(make_plan(call, tree, batch, plan));
    tree->leaves_most = tree->pools.leaves;
    tree->elements_most += batch->u.count;
    return change(call, tree, batch, plan);
}

/* A round after the first is tried once more if it fails: what is done of a batch is found to be so. If that fails, too, the tree holds
 * neither what it held nor what it was to hold. */
static ordo_status update_rounds(struct ordo_call *call, struct ordo_links *tree, const struct batch *batch,
                                 struct plan *plan)
{
    const uint64_t before = tree->rounds;
    ordo_status    status = ORDO_OK;
    for (int round = 0; round < ROUNDS_MOST && status == ORDO_OK; round++) {
        status = update_round(call, tree, batch, plan);
        if (status != ORDO_OK && round > 0)
            status = update_round(call, tree, batch, plan);
        tree->broken = tree->broken || (status != ORDO_OK && tree->rounds != before);
        if (status == ORDO_OK && plan->state[LINKS_LARGEST] <= SHARE_MOST)
            return ORDO_OK;
    }
    if (status != ORDO_OK)
        return status;
    tree->in_doubt = true;
    return ordo_fail(call->dev, ORDO_BROKEN, 0, __FILE__, __LINE__, "updates of one leaf come to no end");
}

/* Many updates in one leaf: in rounds. The plan is of a first look. */
static ordo_status update_in_rounds(struct ordo_call *call, struct ordo_links *tree, struct batch *batch,
                                    struct plan *plan)
{
    /* Splits leave at least half a node's entries in each. */
    const size_t slots = ordo_links_slots(tree), half = slots / 2, groups = plan->state[LINKS_GROUPS];
    const size_t entries = batch->u.count + groups * slots;
    ORDO_TRY(ordo_links_reserve(call, tree, plan->state, plan->state[LINKS_LEAVES] + groups + entries / half));
    ORDO_TRY(combine_now(call, tree, batch));
    ORDO_TRY(keep_effects(call, tree, batch, plan));
    return batch->u.count > 0 ? update_rounds(call, tree, batch, plan) : ORDO_OK;
}

static ordo_status update_sorted_batch(struct ordo_call *call, struct ordo_links *tree, struct batch *batch)
{
    struct plan plan;
    ORDO_TRY(take_plan_scratch(call, batch->u.count, &plan));
    ORDO_TRY(make_plan(call, tree, batch, &plan));
    if (is_underfull(tree, plan.state))
        return rebuild_with(call, tree, batch);
    if (plan.state[LINKS_LARGEST] > SHARE_MOST)
        return update_in_rounds(call, tree, batch, &plan);
    const size_t leaves = (size_t) plan.state[LINKS_LEAVES] + plan.state[LINKS_WANTED];
    ORDO_TRY(ordo_links_reserve(call, tree, plan.state, leaves));
    ORDO_TRY(change(call, tree, batch, &plan));
    tree->leaves_most = leaves;
    tree->elements_most += batch->u.count;
    return ORDO_OK;
}

/* After a batch that bucket_backoff some leaf, batches are sorted before another tries buckets: none at first, for of random
 * batches one in some hundreds overflows by chance (at 2^20 leaves); then, while each that tries does, 1, 3, 7 and so
 * on, up to this many. */
#define BUCKET_BACKOFF_MOST 15

/* *done: false, and nothing changed, if the batch is to be sorted instead. The device decides whether the leaves can
 * take the batch, so that there is one wait, at the end; only when pools must grow there is another. */
static ordo_status update_by_buckets(struct ordo_call *call, struct ordo_links *tree, const struct batch *batch,
                                     bool *done)
{
    struct buckets b = { .seen_through = false };
    cl_uint        state[LINKS_STATE_WORDS];

    *done = false;
    ORDO_TRY(take_bucket_scratch(call, tree, batch->u.count, &b));
    const size_t room = tree->pools.leaves - tree->leaves_most;
    ORDO_TRY(fill_buckets(call, tree, batch, &b));
    ORDO_TRY(try_buckets(call, tree, batch, &b, state));
    if (state[LINKS_FOUND_LARGEST] > 0) {
        tree->bucket_backoff = tree->bucket_backoff_next;
        tree->bucket_backoff_next =
            tree->bucket_backoff_next < BUCKET_BACKOFF_MOST ? 2 * tree->bucket_backoff_next + 1 : BUCKET_BACKOFF_MOST;
        return ORDO_OK;
    }
    if (state[LINKS_FOUND_WANTED] > room) {
        ORDO_TRY(ordo_links_reserve(call, tree, state, (size_t) state[LINKS_LEAVES] + state[LINKS_FOUND_WANTED]));
        ORDO_TRY(try_buckets(call, tree, batch, &b, state));
    }
    tree->bucket_backoff_next = 0;
    *done = true;
    tree->counted = !b.seen_through;
    tree->underfull = is_underfull(tree, state);
    return ORDO_OK;
}

static ordo_status sort_batch(struct ordo_call *call, const struct ordo_links *tree, struct batch *batch)
{
    const struct ordo_sort_params params = { .key = tree->dict.key,
                                             .value_bytes = batch->all_erased ? 0 : tree->dict.value_bytes };
    const struct ordo_slice       keys = batch->u.keys, values = batch->u.values;
    const size_t                  count = batch->u.count;
    batch->u = (struct ordo_sorted_updates) { .count = count };
    ORDO_TRY(ordo_call_scratch(call, count * tree->dict.key_bytes, &batch->u.keys.mem));
    if (params.value_bytes)
        ORDO_TRY(ordo_call_scratch(call, count * params.value_bytes, &batch->u.values.mem));
    return ordo_call_sort(call, &params, keys, values, batch->u.keys, batch->u.values, count);
}

/* *done: false, and nothing changed, if the batch is to be sorted. */
static ordo_status update_unsorted(struct ordo_call *call, struct ordo_links *tree, const struct batch *batch,
                                   bool *done)
{
    *done = false;
    if (has_buckets(tree) && !is_worth_rebuilding(tree, batch->u.count))
        return update_by_buckets(call, tree, batch, done);
    tree->bucket_backoff -= tree->bucket_backoff > 0;
    return ORDO_OK;
}

/* Built anew of a batch that is not sorted. */
static ordo_status rebuild_of(struct ordo_call *call, struct ordo_links *tree, struct batch *batch)
{
    struct ordo_sorted_run run;

    if (batch->combines) {
        ORDO_TRY(sort_batch(call, tree, batch));
        return rebuild_with(call, tree, batch);
    }
    ORDO_TRY(
        ordo_runs_sort(&tree->runs, call, batch->all_erased, batch->u.keys, batch->u.values, batch->u.count, &run));
    return ordo_links_rebuild(call, tree, &run, ordo_links_update_fill(tree));
}

/* A batch in any order. */
static ordo_status update(struct ordo_call *call, struct ordo_links *tree, struct batch *batch)
{
    bool done = false;

    ORDO_TRY(ordo_links_begin(call, tree));
    if (!batch->all_erased)
        ORDO_TRY(ordo_links_check_room(call, tree, batch->u.count));
    ORDO_TRY(update_unsorted(call, tree, batch, &done));
    if (done)
        return ORDO_OK;
    if (is_worth_rebuilding(tree, batch->u.count))
        return rebuild_of(call, tree, batch);
    ORDO_TRY(sort_batch(call, tree, batch));
    return update_sorted_batch(call, tree, batch);
}

ordo_status ordo_links_update(ordo_dict *dict, struct ordo_call *call, bool erase, struct ordo_slice keys,
                              struct ordo_slice values, size_t count)
{
    struct batch batch = { { .keys = keys, .values = values, .count = count }, erase, NULL };
    return update(call, ordo_links_of(dict), &batch);
}

ordo_status ordo_links_combine(ordo_dict *dict, struct ordo_call *call, const struct ordo_combines *c)
{
    struct batch batch = { { .keys = c->keys, .values = c->values, .count = c->count }, 0, c };
    return update(call, ordo_links_of(dict), &batch);
}

ordo_status ordo_links_update_sorted(ordo_dict *dict, struct ordo_call *call, const struct ordo_sorted_updates *u)
{
    struct ordo_links *tree = ordo_links_of(dict);
    struct batch       batch = { *u, 0, NULL };
    bool               done = false;

    ORDO_TRY(ordo_links_begin(call, tree));
    ORDO_TRY(ordo_links_check_room(call, tree, u->count));
    ORDO_TRY(update_unsorted(call, tree, &batch, &done));
    if (done)
        return ORDO_OK;
    return is_worth_rebuilding(tree, u->count) ? rebuild_with(call, tree, &batch)
                                               : update_sorted_batch(call, tree, &batch);
}
