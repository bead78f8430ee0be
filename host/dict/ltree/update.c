/* SPDX-License-Identifier: Apache-2.0 */
/* Applies batches of updates by a rebuild, or in place:
 *
 *   1  plan     Counts the updates of each leaf, and the maximum number of new leaves. Waits for the device.
 *   2  reserve  Grows the pools.
 *   3  change   Updates all leaves in one launch, then each level above.
 *
 * A batch by buckets waits only after step 3, because a read between two kernels delays the second one by 25 to 90 us.
 * If a bucket overflows or the pools lack leaves, step 3 changes nothing, and the host sorts the batch or repeats step
 * 3. */
#include "dict/ltree/ltree.h"

#include "dict/batch.h"
#include "dict/generic/generic.h"
#include "primitive/scan.h"
#include "primitive/sort.h"

#define UPDATE_FILE "dict/ltree/update.cl"
#define BUCKET_FILE "dict/ltree/bucket.cl"

/* A batch must be in key order, unless update_by_buckets applies it. */
struct batch {
    struct ordo_sorted_updates u;
    cl_uint                    all_erased;
    /* If NULL, values replace stored values. */
    const struct ordo_combines *combines;
};

static cl_uint erases(const struct batch *batch)
{
    return batch->all_erased || batch->u.erased.mem;
}

/* Returns true if a batch should be divided into buckets: one list of updates per leaf. */
static bool has_buckets(const struct ordo_ltree *tree)
{
    return !ordo_device_facts(tree->dict.dev)->cpu && tree->bucket_backoff == 0;
}

/* With this many updates per leaf of 28 slots, a rebuild of the tree costs less than the use of buckets. */
#define REBUILD_PER_LEAF 6
/* With this many updates per leaf, a rebuild costs less than to apply the sorted batch in place. */
#define REBUILD_SORTED 2

#define REBUILD_SLOTS ((size_t) LTREE_WORDS_USUAL - LTREE_TAIL)

static bool is_worth_rebuilding(const struct ordo_ltree *tree, size_t count)
{
    const size_t leaves = ordo_ceil_div(tree->leaves_max * ordo_ltree_slots(tree), REBUILD_SLOTS);
    return tree->underfull || count / (has_buckets(tree) ? REBUILD_PER_LEAF : REBUILD_SORTED) >= leaves;
}

/* ---- 1 plan ------------------------------------------------------------------------------------------------------ */

/* Scratch memory. Update i belongs in slot positions[i] of leaf leaves[i], whose parent is parents[i]. first[g] is the
 * first update of group g (all updates of one leaf). */
struct plan {
    cl_mem  leaves, positions, parents, first;
    cl_uint state[LTREE_STATE_WORDS];
};

static ordo_status number_groups(struct ordo_call *call, const struct ordo_ltree *tree, cl_mem leaves, cl_uint n,
                                 cl_mem number)
{
    const struct ordo_launch launch = ordo_ltree_kernel(tree, UPDATE_FILE, "group_flags", ordo_ltree_flat(tree), n);
    const struct ordo_scan   scan = { .type = ORDO_U32,
                                      .op = ORDO_SUM,
                                      .inclusive = true,
                                      .in = ordo_at(number, 0),
                                      .out = ordo_at(number, 0),
                                      .count = n };
    struct ordo_args         args = { .n = 0 };
    ORDO_ADD(&args, ORDO_ARG(leaves), ORDO_ARG(n), ORDO_ARG(number));
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    return ordo_call_scan(call, &scan);
}

static ordo_status list_groups(struct ordo_call *call, const struct ordo_ltree *tree, cl_uint n,
                               const struct plan *plan)
{
    const struct ordo_launch launch = ordo_ltree_kernel(tree, UPDATE_FILE, "group_first", ordo_ltree_flat(tree), n);
    const int                mark = call->n_scratch;
    struct ordo_args         args = { .n = 0 };
    cl_mem                   number = NULL;

    ORDO_TRY(ordo_call_scratch(call, n * sizeof(cl_uint), &number));
    ORDO_TRY(number_groups(call, tree, plan->leaves, n, number));
    ORDO_ADD(&args, ORDO_ARG(number), ORDO_ARG(n), ORDO_ARG(plan->first), ORDO_ARG(tree->state));
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    ordo_call_release(call, mark);
    return ORDO_OK;
}

#define PLAN_ITEMS ((size_t) 1 << 13)

static ordo_status measure_groups(struct ordo_call *call, const struct ordo_ltree *tree, const struct batch *batch,
                                  const struct plan *plan)
{
    const struct ordo_launch launch = ordo_ltree_kernel(tree, UPDATE_FILE, "group_plan", ordo_ltree_flat(tree),
                                                        ordo_min_size(batch->u.count, PLAN_ITEMS));
    struct ordo_args         args = ordo_ltree_args(tree);
    ORDO_ADD(&args, ORDO_ARG(plan->leaves), ORDO_ARG(plan->first), ORDO_ARG_UINT(erases(batch)));
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status make_plan(struct ordo_call *call, struct ordo_ltree *tree, const struct batch *batch,
                             struct plan *plan)
{
    const size_t count = batch->u.count;
    ORDO_TRY(ordo_ltree_locate(call, tree, batch->u.keys, count, plan->leaves, plan->positions, plan->parents));
    tree->planned = true;
    ORDO_TRY(list_groups(call, tree, (cl_uint) count, plan));
    ORDO_TRY(measure_groups(call, tree, batch, plan));
    return ordo_ltree_read_state(call, tree, plan->state);
}

static ordo_status take_plan_scratch(struct ordo_call *call, size_t count, struct plan *plan)
{
    ORDO_TRY(ordo_call_scratch(call, count * sizeof(cl_uint), &plan->leaves));
    ORDO_TRY(ordo_call_scratch(call, count * sizeof(cl_uint), &plan->positions));
    ORDO_TRY(ordo_call_scratch(call, count * sizeof(cl_uint), &plan->parents));
    return ordo_call_scratch(call, (count + 1) * sizeof(cl_uint), &plan->first);
}

/* ---- 3 change ---------------------------------------------------------------------------------------------------- */

/* Maximum teams that update leaves. */
#define LEAF_TEAMS     ((size_t) 1 << 15)
#define LEAF_TEAMS_CPU ((size_t) 1 << 12)

static ordo_status update_leaves(struct ordo_call *call, const struct ordo_ltree *tree, const struct batch *batch,
                                 const struct plan *plan)
{
    const size_t     teams = ordo_device_facts(tree->dict.dev)->cpu ? LEAF_TEAMS_CPU : LEAF_TEAMS;
    struct ordo_args args = ordo_ltree_args(tree);

    ORDO_ADD(&args, ORDO_ARG(plan->leaves), ORDO_ARG(plan->parents), ORDO_ARG(plan->first));
    ordo_args_slice(&args, &batch->u.keys);
    ordo_args_slice(&args, &batch->u.values);
    ordo_args_slice(&args, &batch->u.erased);
    ORDO_ADD(&args, ORDO_ARG(plan->positions), ORDO_ARG_UINT(batch->u.count), ORDO_ARG(batch->all_erased),
             ORDO_ARG(tree->pools.dirty[1]));
    struct ordo_launch launch = ordo_ltree_kernel(tree, UPDATE_FILE, "update_leaves", ordo_ltree_teams(tree, 0),
                                                  ordo_min_size(plan->state[LTREE_GROUPS], teams));
    ordo_ltree_define_combines(&launch, batch->combines);
    return ordo_call_launch(call, &launch, &args);
}

static void note_change(struct ordo_ltree *tree, size_t splits)
{
    tree->list.fresh = false;
    tree->in_order = tree->in_order && splits == 0;
    tree->rounds++;
}

/* Adds entries for new leaves to the levels above. All leaves must already contain the updates. If the driver refuses a
 * launch, sets tree->unchecked. */
static void finish(struct ordo_call *call, struct ordo_ltree *tree, const struct batch *batch, const cl_uint *state)
{
    const size_t leaves = state[LTREE_LEAVES], splits = state[LTREE_WANTED];

    note_change(tree, splits);
    tree->leaves_max = leaves + splits;
    tree->elements_max += batch->u.count;
    tree->unchecked = splits > 0 && ordo_ltree_update_above(call, tree, leaves, splits) != ORDO_OK;
}

/* ---- a batch by buckets ------------------------------------------------------------------------------------------ */

struct buckets {
    cl_mem  bucket, heads, parents;
    cl_uint slots;
};

static cl_uint slots_for(const struct ordo_ltree *tree, size_t count)
{
    const size_t leaves = tree->leaves_max;
    return count < leaves / 2 ? 7 : count < 2 * leaves ? 15 : LTREE_BUCKET_OF(tree->config.words);
}

static ordo_status take_bucket_scratch(struct ordo_call *call, const struct ordo_ltree *tree, size_t count,
                                       struct buckets *b)
{
    b->slots = slots_for(tree, count);
    ORDO_TRY(ordo_call_scratch(call, tree->leaves_max * b->slots * sizeof(cl_uint), &b->bucket));
    ORDO_TRY(ordo_call_scratch(call, count * sizeof(cl_uint), &b->heads));
    return ordo_call_scratch(call, count * sizeof(cl_uint), &b->parents);
}

static ordo_status fill_buckets(struct ordo_call *call, struct ordo_ltree *tree, const struct batch *batch,
                                const struct buckets *b)
{
    struct ordo_args args = ordo_ltree_args(tree);

    if (!tree->counted)
        ORDO_TRY(ordo_ltree_count_leaves(call, tree));
    tree->counted = false;
    if (tree->planned)
        ORDO_TRY(ordo_call_fill(call, tree->state, LTREE_GROUPS * sizeof(cl_uint), 3 * sizeof(cl_uint), 0));
    tree->planned = true;
    ordo_args_slice(&args, &batch->u.keys);
    ORDO_ADD(&args, ORDO_ARG_UINT(batch->u.count), ORDO_ARG_UINT(erases(batch)), ORDO_ARG(b->slots),
             ORDO_ARG(b->bucket), ORDO_ARG(b->heads), ORDO_ARG(b->parents));
    const struct ordo_launch launch =
        ordo_ltree_kernel(tree, BUCKET_FILE, "bucket_updates", ordo_ltree_search_shape(tree), batch->u.count);
    return ordo_call_launch(call, &launch, &args);
}

#define HEAD_GROUP 128
/* More work-items do not run at the same time on current GPUs. */
#define HEAD_ITEMS ((size_t) 1 << 17)

/* Returns how many lanes share one head of a bucket. A team takes its heads one after another, so in a small batch each
 * team has one head. */
static cl_uint head_spread(struct ordo_ltree_shape shape, size_t count)
{
    size_t spread = shape.lanes;
    while (spread > 1 && count * spread > HEAD_ITEMS)
        spread /= 2;
    return (cl_uint) spread;
}

/* Changes nothing if a bucket has overflowed or the updates may need more than `room` new leaves. */
static ordo_status empty_buckets(struct ordo_call *call, const struct ordo_ltree *tree, const struct batch *batch,
                                 const struct buckets *b, size_t room)
{
    const struct ordo_ltree_shape shape = ordo_ltree_narrow(tree, HEAD_GROUP);
    const cl_uint                 spread = head_spread(shape, batch->u.count);
    struct ordo_args              args = ordo_ltree_args(tree);

    ORDO_ADD(&args, ORDO_ARG_UINT(batch->u.count), ORDO_ARG_UINT(room), ORDO_ARG(spread), ORDO_ARG(b->slots),
             ORDO_ARG(b->bucket), ORDO_ARG(b->heads), ORDO_ARG(b->parents));
    ordo_args_slice(&args, &batch->u.keys);
    ordo_args_slice(&args, &batch->u.values);
    ordo_args_slice(&args, &batch->u.erased);
    ORDO_ADD(&args, ORDO_ARG(batch->all_erased), ORDO_ARG(tree->pools.dirty[1]));
    struct ordo_launch launch = ordo_ltree_kernel(tree, BUCKET_FILE, "update_heads", shape, batch->u.count * spread);
    ordo_ltree_define_combines(&launch, batch->combines);
    return ordo_call_launch(call, &launch, &args);
}

static bool is_underfull(const struct ordo_ltree *tree, const cl_uint state[LTREE_STATE_WORDS])
{
    return state[LTREE_LEAVES] > 64 && state[LTREE_ELEMENTS] / (ordo_ltree_slots(tree) / 4) < state[LTREE_LEAVES];
}

static bool is_beyond_most(const struct ordo_ltree *tree, const cl_uint state[LTREE_STATE_WORDS])
{
    return (size_t) state[LTREE_LEAVES] + state[LTREE_WANTED] > ordo_ltree_leaves_allowed(tree, state[LTREE_DEAD]);
}

static ordo_status combine_now(struct ordo_call *call, struct ordo_ltree *tree, struct batch *batch)
{
    if (!batch->combines)
        return ORDO_OK;
    const struct ordo_combines sorted = { batch->combines->value, batch->combines->op, batch->u.keys, batch->u.values,
                                          batch->u.count };
    batch->combines = NULL;
    return ordo_dict_combine_sorted(&tree->dict, call, &sorted);
}

static ordo_status rebuild_with(struct ordo_call *call, struct ordo_ltree *tree, struct batch *batch)
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
    return ordo_ltree_rebuild(call, tree, &run, ordo_ltree_update_fill(tree));
}

/* A leaf gets at most this many updates, because its team applies them one after another. */
#define SHARE_MAX 1024

/* Drops updates without effect: all but the last of each key, and erasures of absent keys. */
static ordo_status keep_effects(struct ordo_call *call, struct ordo_ltree *tree, struct batch *batch, struct plan *plan)
{
    struct ordo_args args = { .n = 0 };
    cl_mem           flags = NULL;

    ORDO_TRY(combine_now(call, tree, batch));
    ORDO_TRY(ordo_call_scratch(call, (batch->u.count + 1) * sizeof(cl_uint), &flags));
    ordo_args_slice(&args, &batch->u.keys);
    ordo_args_slice(&args, &batch->u.erased);
    ORDO_ADD(&args, ORDO_ARG(plan->positions), ORDO_ARG_UINT(batch->u.count), ORDO_ARG(batch->all_erased),
             ORDO_ARG(flags));
    const struct ordo_launch launch =
        ordo_ltree_kernel(tree, UPDATE_FILE, "group_effects", ordo_ltree_flat(tree), batch->u.count + 1);
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    ORDO_TRY(ordo_batch_keep(call, &tree->dict, flags, &batch->u));
    return batch->u.count > 0 ? make_plan(call, tree, batch, plan) : ORDO_OK;
}

static ordo_status split_groups(struct ordo_call *call, const struct ordo_ltree *tree, const struct batch *batch,
                                const struct plan *plan)
{
    const cl_uint    n = (cl_uint) batch->u.count, most = SHARE_MAX;
    struct ordo_args args = ordo_ltree_args(tree);

    ORDO_ADD(&args, ORDO_ARG(plan->leaves), ORDO_ARG(plan->parents));
    ordo_args_slice(&args, &batch->u.keys);
    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(most), ORDO_ARG(tree->pools.dirty[1]));
    const struct ordo_launch launch =
        ordo_ltree_kernel(tree, UPDATE_FILE, "group_split", ordo_ltree_flat(tree), n / most);
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status split_ahead(struct ordo_call *call, struct ordo_ltree *tree, const struct batch *batch,
                               struct plan *plan)
{
    const size_t leaves = plan->state[LTREE_LEAVES], splits = batch->u.count / SHARE_MAX;

    ORDO_TRY(ordo_ltree_reserve(call, tree, plan->state, leaves + splits));
    ORDO_TRY(split_groups(call, tree, batch, plan));
    tree->list.fresh = tree->in_order = false;
    tree->emptied = SIZE_MAX;
    tree->leaves_max = leaves + splits;
    tree->unchecked = true;
    ORDO_TRY(ordo_ltree_update_above(call, tree, leaves, splits));
    tree->unchecked = false;
    return make_plan(call, tree, batch, plan);
}

static ordo_status update_sorted_batch(struct ordo_call *call, struct ordo_ltree *tree, struct batch *batch)
{
    struct plan plan;

    ORDO_TRY(take_plan_scratch(call, batch->u.count, &plan));
    ORDO_TRY(make_plan(call, tree, batch, &plan));
    if (plan.state[LTREE_LARGEST] > SHARE_MAX)
        ORDO_TRY(keep_effects(call, tree, batch, &plan));
    if (batch->u.count == 0)
        return ORDO_OK;
    if (is_underfull(tree, plan.state) || is_beyond_most(tree, plan.state))
        return rebuild_with(call, tree, batch);
    if (plan.state[LTREE_LARGEST] > SHARE_MAX)
        ORDO_TRY(split_ahead(call, tree, batch, &plan));
    ORDO_TRY(ordo_ltree_reserve(call, tree, plan.state, (size_t) plan.state[LTREE_LEAVES] + plan.state[LTREE_WANTED]));
    ORDO_TRY(update_leaves(call, tree, batch, &plan));
    finish(call, tree, batch, plan.state);
    return ORDO_OK;
}

/* After an overflow, at most this many batches are sorted before a batch uses buckets again. */
#define BUCKET_BACKOFF_MAX 15

static void back_off(struct ordo_ltree *tree, bool overflows)
{
    const unsigned wait = tree->bucket_backoff_next;

    tree->bucket_backoff = overflows ? wait : 0;
    tree->bucket_backoff_next = !overflows ? 0 : wait < BUCKET_BACKOFF_MAX ? 2 * wait + 1 : BUCKET_BACKOFF_MAX;
}

/* A leaf splits into two half-full leaves. It thus splits about once per slots / 2 new elements. If more leaves split,
 * update_top adds their entries with one work-group, which is only slower. */
static size_t likely_splits(const struct ordo_ltree *tree, const struct batch *batch, size_t room)
{
    return batch->all_erased ? 0 : ordo_min_size(room, 2 * batch->u.count / ordo_ltree_slots(tree));
}

/* Empties the buckets and updates the levels above. Reads the new state, with the batch's LTREE_WANTED and
 * LTREE_LARGEST. If the driver refuses a launch for the levels above, sets tree->unchecked. */
static ordo_status apply_buckets(struct ordo_call *call, struct ordo_ltree *tree, const struct batch *batch,
                                 const struct buckets *b, size_t room, cl_uint state[LTREE_STATE_WORDS])
{
    const size_t splits = likely_splits(tree, batch, room);

    ORDO_TRY(empty_buckets(call, tree, batch, b, room));
    tree->unchecked = true;
    const bool complete = ordo_ltree_update_above(call, tree, tree->leaves_max + splits, splits) == ORDO_OK;
    ORDO_TRY(ordo_ltree_read_state(call, tree, state));
    if (complete) {
        state[LTREE_WANTED] = state[LTREE_LAST_WANTED];
        state[LTREE_LARGEST] = state[LTREE_LAST_LARGEST];
    }
    tree->unchecked = !complete;
    return ORDO_OK;
}

/* If a bucket overflows or the tree must be rebuilt, sets *done to false and changes no element. */
static ordo_status update_by_buckets(struct ordo_call *call, struct ordo_ltree *tree, const struct batch *batch,
                                     bool *done)
{
    const size_t   room = ordo_ltree_room(tree);
    struct buckets b;
    cl_uint        state[LTREE_STATE_WORDS];

    *done = false;
    ORDO_TRY(take_bucket_scratch(call, tree, batch->u.count, &b));
    ORDO_TRY(fill_buckets(call, tree, batch, &b));
    ORDO_TRY(apply_buckets(call, tree, batch, &b, room, state));
    back_off(tree, state[LTREE_LARGEST] > 0);
    tree->underfull = is_underfull(tree, state);
    if (state[LTREE_LARGEST] > 0)
        return ORDO_OK;
    const size_t wanted = state[LTREE_WANTED];
    if (wanted > room) {
        if (tree->underfull || is_beyond_most(tree, state))
            return ORDO_OK;
        ORDO_TRY(ordo_ltree_reserve(call, tree, state, state[LTREE_LEAVES] + wanted));
        ORDO_TRY(apply_buckets(call, tree, batch, &b, wanted, state));
    }
    tree->counted = *done = true;
    note_change(tree, wanted);
    return ORDO_OK;
}

static ordo_status sort_batch(struct ordo_call *call, const struct ordo_ltree *tree, struct batch *batch)
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

static ordo_status update_unsorted(struct ordo_call *call, struct ordo_ltree *tree, const struct batch *batch,
                                   bool *done)
{
    *done = false;
    if (has_buckets(tree) && !is_worth_rebuilding(tree, batch->u.count))
        return update_by_buckets(call, tree, batch, done);
    tree->bucket_backoff -= tree->bucket_backoff > 0;
    return ORDO_OK;
}

static ordo_status rebuild_of(struct ordo_call *call, struct ordo_ltree *tree, struct batch *batch)
{
    struct ordo_sorted_run run;

    if (batch->combines) {
        ORDO_TRY(sort_batch(call, tree, batch));
        return rebuild_with(call, tree, batch);
    }
    ORDO_TRY(
        ordo_runs_sort(&tree->runs, call, batch->all_erased, batch->u.keys, batch->u.values, batch->u.count, &run));
    return ordo_ltree_rebuild(call, tree, &run, ordo_ltree_update_fill(tree));
}

static ordo_status update(struct ordo_call *call, struct ordo_ltree *tree, struct batch *batch)
{
    bool done = false;

    ORDO_TRY(ordo_ltree_begin(call, tree));
    if (!batch->all_erased)
        ORDO_TRY(ordo_ltree_check_count(call, tree, batch->u.count));
    ORDO_TRY(update_unsorted(call, tree, batch, &done));
    if (done)
        return ORDO_OK;
    if (is_worth_rebuilding(tree, batch->u.count))
        return rebuild_of(call, tree, batch);
    ORDO_TRY(sort_batch(call, tree, batch));
    return update_sorted_batch(call, tree, batch);
}

ordo_status ordo_ltree_update(ordo_dict *dict, struct ordo_call *call, bool erase, struct ordo_slice keys,
                              struct ordo_slice values, size_t count)
{
    struct batch batch = { { .keys = keys, .values = values, .count = count }, erase, NULL };
    return update(call, ordo_ltree_of(dict), &batch);
}

ordo_status ordo_ltree_combine(ordo_dict *dict, struct ordo_call *call, const struct ordo_combines *c)
{
    struct batch batch = { { .keys = c->keys, .values = c->values, .count = c->count }, 0, c };
    return update(call, ordo_ltree_of(dict), &batch);
}

ordo_status ordo_ltree_update_sorted(ordo_dict *dict, struct ordo_call *call, const struct ordo_sorted_updates *u)
{
    struct ordo_ltree *tree = ordo_ltree_of(dict);
    struct batch       batch = { *u, 0, NULL };
    bool               done = false;

    ORDO_TRY(ordo_ltree_begin(call, tree));
    ORDO_TRY(ordo_ltree_check_count(call, tree, u->count));
    ORDO_TRY(update_unsorted(call, tree, &batch, &done));
    if (done)
        return ORDO_OK;
    return is_worth_rebuilding(tree, u->count) ? rebuild_with(call, tree, &batch)
                                               : update_sorted_batch(call, tree, &batch);
}
