/* SPDX-License-Identifier: Apache-2.0 */
/* Executes concurrent batches on a HAMT.
 *
 *   1  Seeks, counts and ranges run first, on the trie as it was before the batch.
 *   2  A launch (cl/dict/trie/hamt_concurrent.cl) runs up to WINDOW_MAX other operations. Updates change the draft, a
 *      trie of this launch (cl/shared/hamt_draft.h), but not the dictionary's trie.
 *   3  The host reads the draft in key order, and merges it with the trie as an ordered batch.
 *   4  Updates that gave up in step 2 run as ordered batches. Any order is correct, because the operations overlap in
 *      time.
 *
 * If memory is short before the end of step 3, nothing has changed, and the host repeats steps 2 and 3 with half as
 * many operations. If even WINDOW_MIN operations lack memory, all updates go to step 4, which refuses updates that lack
 * memory even alone. */
#include "dict/trie/hamt.h"

#include "dict/batch.h"
#include "shared/faults.h"

#define WINDOW_MIN ((size_t) 1 << 10)
#define WINDOW_MAX ((size_t) 1 << 24)

struct concurrent {
    struct ordo_call                   *call;
    struct ordo_hamt                   *hamt;
    const struct ordo_concurrent_batch *batch;
    cl_uint                             histogram[ORDO_HISTOGRAM_WORDS];
    size_t                              window; /* Maximum operations of a launch. */
    cl_mem                              pending, state;
    cl_uint                             words[HAMT_DRAFT_WORDS]; /* `state` after the last launch */
};

static size_t n_of(const struct concurrent *c, int least, int most)
{
    return ordo_histogram_sum(c->histogram, least, most);
}

static struct ordo_slice from(struct ordo_slice slice, size_t first)
{
    return slice.mem ? ordo_at(slice.mem, slice.at + first) : slice;
}

/* ---- 1 queries in key order -------------------------------------------------------------------------------------- */

static ordo_status query(const struct concurrent *c)
{
    const struct ordo_concurrent_batch *b = c->batch;
    const struct ordo_slice *const      slices[] = { &b->codes,    &b->keys,       &b->hi,          &b->rooms,
                                                     &b->found,    &b->keys_out,   &b->values_out,  &b->counts,
                                                     &b->outcomes, &b->range_keys, &b->range_values };
    const cl_ulong                      capacity = b->range_capacity;
    const struct ordo_launch            launch =
        ordo_hamt_kernel(c->hamt, "dict/trie/hamt_leftover.cl", "hamt_query_in_batch", b->count);
    struct ordo_args args = ordo_hamt_args(&c->hamt->trie);

    ORDO_ADD(&args, ORDO_ARG_UINT(b->count));
    for (size_t i = 0; i < sizeof slices / sizeof *slices; i++)
        ordo_args_slice(&args, slices[i]);
    ORDO_ADD(&args, ORDO_ARG(capacity));
    return ordo_call_launch(c->call, &launch, &args);
}

/* ---- 2 launch ---------------------------------------------------------------------------------------------------- */

/* Runs `count` operations from index `first` on, and sets c->words. Without a draft, lists all updates in c->pending.
 * Waits. */
static ordo_status launch(struct concurrent *c, size_t first, size_t count, const struct ordo_hamt_draft *draft)
{
    const struct ordo_concurrent_batch *b = c->batch;
    const struct ordo_slice             keys = from(b->keys, first);
    const size_t                        items = c->hamt->faults & FAULT_ALONE ? 1 : count;
    struct ordo_launch launch = ordo_hamt_kernel(c->hamt, "dict/trie/hamt_concurrent.cl", "hamt_apply", items);
    struct ordo_args   args = ordo_hamt_args(&c->hamt->trie);

    ordo_launch_define(&launch, "CONCURRENT_HISTORY", c->hamt->history != NULL);
    ordo_launch_define(&launch, "CONCURRENT_FAULTS", c->hamt->faults != 0);
    ordo_hamt_draft_add(&args, draft, &keys);
    ORDO_ADD(&args, ORDO_ARG_UINT(first), ORDO_ARG_UINT(count), ORDO_ARG(c->pending), ORDO_ARG(c->hamt->history));
    ordo_args_slice(&args, &b->codes);
    ordo_args_slice(&args, &b->values);
    ordo_args_slice(&args, &b->values_out);
    ordo_args_slice(&args, &b->found);
    ordo_args_slice(&args, &b->outcomes);
    ORDO_ADD(&args, ORDO_ARG(c->hamt->faults));
    ORDO_TRY(ordo_call_launch(c->call, &launch, &args));
    ORDO_TRY(ordo_call_read(c->call, c->state, 0, c->words, sizeof c->words));
    c->hamt->restarts += ordo_is_dry_run(c->call->dev) ? 0 : c->words[HAMT_RESTARTS];
    return ORDO_OK;
}

/* ---- 3 merge ----------------------------------------------------------------------------------------------------- */

/* Runs operations on a draft, and merges it with the trie. An error changes nothing. Waits. */
static ordo_status run_draft(struct concurrent *c, size_t first, size_t count)
{
    const struct ordo_slice  keys = from(c->batch->keys, first), values = from(c->batch->values, first);
    struct ordo_hamt_draft   draft = { .state = c->state };
    struct ordo_hamt_updates updates;

    ORDO_TRY(ordo_hamt_updates_begin(c->call, c->hamt, count, &updates));
    const int mark = c->call->n_scratch;
    ORDO_TRY(ordo_hamt_draft_begin(c->call, c->hamt, count, &draft));
    ORDO_TRY(launch(c, first, count, &draft));
    ORDO_TRY(ordo_hamt_draft_collect(c->call, c->hamt, &draft, c->words, keys, values, &updates));
    ordo_call_release(c->call, mark);
    if (updates.count == 0)
        return ORDO_OK;
    const struct ordo_sorted_updates sorted = {
        ordo_at(updates.keys, 0), ordo_at(updates.values, 0), ordo_at(updates.erased, 0), updates.count, true, true
    };
    return ordo_hamt_update_sorted(&c->hamt->dict, c->call, &sorted);
}

/* ---- 4 leftovers ------------------------------------------------------------------------------------------------- */

/* Updates that gave up (scratch memory). */
struct left {
    cl_mem codes, keys, values, found;
};

static ordo_status gather(const struct concurrent *c, size_t at, size_t count, struct left *left)
{
    const struct ordo_concurrent_batch *b = c->batch;
    const ordo_dict                    *dict = &c->hamt->dict;
    const struct ordo_launch launch = ordo_hamt_kernel(c->hamt, "dict/trie/hamt_leftover.cl", "hamt_gather", count);
    struct ordo_args         args = { .n = 0 };

    *left = (struct left) { .codes = NULL };
    ORDO_TRY(ordo_call_scratch(c->call, count, &left->codes));
    ORDO_TRY(ordo_call_scratch(c->call, count, &left->found));
    ORDO_TRY(ordo_call_scratch(c->call, count * dict->key_bytes, &left->keys));
    if (dict->value_bytes)
        ORDO_TRY(ordo_call_scratch(c->call, count * dict->value_bytes, &left->values));
    ORDO_ADD(&args, ORDO_ARG(c->pending), ORDO_ARG_UINT(at), ORDO_ARG_UINT(count));
    ordo_args_slice(&args, &b->codes);
    ordo_args_slice(&args, &b->keys);
    ordo_args_slice(&args, &b->values);
    ORDO_ADD(&args, ORDO_ARG(left->codes), ORDO_ARG(left->keys), ORDO_ARG(left->values));
    return ordo_call_launch(c->call, &launch, &args);
}

/* Copies the results `found` of updates at .. at + count - 1 of c->pending to the batch. If `found` is NULL, refuses
 * these updates. */
static ordo_status scatter(struct concurrent *c, size_t at, size_t count, cl_mem found)
{
    const struct ordo_launch launch = ordo_hamt_kernel(c->hamt, "dict/trie/hamt_leftover.cl", "hamt_scatter", count);
    struct ordo_args         args = { .n = 0 };

    ORDO_ADD(&args, ORDO_ARG(c->pending), ORDO_ARG_UINT(at), ORDO_ARG_UINT(count), ORDO_ARG(found));
    ordo_args_slice(&args, &c->batch->found);
    ordo_args_slice(&args, &c->batch->outcomes);
    ORDO_ADD(&args, ORDO_ARG(c->hamt->history), ORDO_ARG_UINT(c->words[HAMT_TICK] + at));
    return ordo_call_launch(c->call, &launch, &args);
}

/* Executes updates at .. at + count - 1 of c->pending as an ordered batch. */
static ordo_status apply_some(struct concurrent *c, size_t at, size_t count)
{
    const int   mark = c->call->n_scratch;
    struct left left;

    ORDO_TRY(gather(c, at, count, &left));
    const struct ordo_batch batch = { .codes = ordo_at(left.codes, 0),
                                      .keys = ordo_at(left.keys, 0),
                                      .values = left.values ? ordo_at(left.values, 0) : ordo_none(),
                                      .count = count,
                                      .found = ordo_at(left.found, 0) };
    ORDO_TRY(ordo_dict_apply_enqueue(&c->hamt->dict, c->call, &batch, NULL));
    ORDO_TRY(scatter(c, at, count, left.found));
    ordo_call_release(c->call, mark);
    return ORDO_OK;
}

/* Executes all updates in c->pending as ordered batches. While memory is short, halves the batches. Refuses an update
 * that lacks memory even alone. */
static ordo_status apply_pending(struct concurrent *c)
{
    const size_t all = ordo_is_dry_run(c->call->dev) ? 1 : c->words[HAMT_PENDING];
    size_t       most = all, n;

    for (size_t done = 0; done < all; done += n) {
        const int mark = c->call->n_scratch;
        n = ordo_min_size(most, all - done);
        const ordo_status status = apply_some(c, done, n);
        if (status == ORDO_OK)
            continue;
        if (!ordo_lacks_memory(status))
            return status;
        ordo_call_abandon(c->call, mark);
        most = n / 2;
        if (most == 0)
            return scatter(c, done, all - done, NULL);
        n = 0;
    }
    return ORDO_OK;
}

/* ---- the batch --------------------------------------------------------------------------------------------------- */

static ordo_status check_inputs(const struct concurrent *c)
{
    ordo_device *dev = c->call->dev;
    const size_t stores = n_of(c, ORDO_UPSERT, ORDO_INSERT);

    ORDO_TRY(ordo_dict_check_concurrent(&c->hamt->dict, c->batch, stores, n_of(c, ORDO_COUNT, ORDO_RANGE),
                                        c->histogram[ORDO_RANGE]));
    if (c->hamt->trie.n + stores > ORDO_MAX_COUNT && !ordo_is_dry_run(dev))
        return ORDO_FAIL(dev, ORDO_TOO_LARGE, "codes: %zu stores and %zu elements may exceed ORDO_MAX_COUNT, %zu",
                         stores, (size_t) c->hamt->trie.n, ORDO_MAX_COUNT);
    return ORDO_OK;
}

/* Allocates c->state and c->pending. Sets c->window to the number of operations, or less if they are many or memory is
 * short. */
static ordo_status prepare(struct concurrent *c)
{
    const int mark = c->call->n_scratch;

    c->window = ordo_hamt_draft_operations(c->hamt, ordo_min_size(c->batch->count, WINDOW_MAX));
    for (;; c->window /= 2) {
        ordo_status status = ordo_call_scratch(c->call, sizeof c->words, &c->state);
        if (status == ORDO_OK)
            status = ordo_call_scratch(c->call, c->window * sizeof(cl_uint), &c->pending);
        if (status == ORDO_OK)
            return ordo_call_fill(c->call, c->state, HAMT_TICK * sizeof(cl_uint), sizeof(cl_uint), 0);
        if (!ordo_lacks_memory(status) || c->window <= WINDOW_MIN)
            return status;
        ordo_call_abandon(c->call, mark);
    }
}

/* Runs at most c->window operations from index `first` on, and sets *count to their number. Lowers c->window if memory
 * is short. */
static ordo_status run_window(struct concurrent *c, size_t first, size_t *count)
{
    const struct ordo_hamt_draft none = { .state = c->state };
    const int                    mark = c->call->n_scratch;
    ordo_status                  status;

    for (;; c->window /= 2) {
        *count = ordo_min_size(c->window, c->batch->count - first);
        status = run_draft(c, first, *count);
        if (!ordo_lacks_memory(status))
            break;
        ordo_call_abandon(c->call, mark);
        if (c->window <= WINDOW_MIN)
            break;
    }
    if (ordo_lacks_memory(status)) {
        ORDO_TRY(ordo_hamt_draft_reset(c->call, c->hamt, &none));
        status = launch(c, first, *count, &none);
    }
    ORDO_TRY(status);
    ordo_call_release(c->call, mark);
    return apply_pending(c);
}

ordo_status ordo_hamt_apply_concurrent(ordo_dict *dict, struct ordo_call *call,
                                       const struct ordo_concurrent_batch *batch)
{
    struct concurrent c = { .call = call, .hamt = ordo_hamt_of(dict), .batch = batch };
    size_t            n = 0;

    ORDO_TRY(ordo_dict_histogram(dict, call, batch->codes, batch->count, c.histogram));
    ORDO_TRY(check_inputs(&c));
    const size_t queries = n_of(&c, ORDO_SEEK_LT, ORDO_RANGE);
    if (queries == batch->count && !ordo_is_dry_run(call->dev))
        return query(&c);
    ORDO_TRY(prepare(&c));
    if (queries > 0 || ordo_is_dry_run(call->dev))
        ORDO_TRY(query(&c));
    for (size_t first = 0; first < batch->count; first += n)
        ORDO_TRY(run_window(&c, first, &n));
    return ORDO_OK;
}
