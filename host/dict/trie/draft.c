/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/trie/draft.h"

#include "dict/batch.h"
#include "dict/leftover.h"
#include "primitive/scan.h"
#include "primitive/sort.h"
#include "shared/faults.h"

#define WINDOW_MIN ((size_t) 1 << 10)
#define WINDOW_MAX ((size_t) 1 << 24)

static size_t n_of(const struct ordo_draft_batch *b, int least, int most)
{
    return ordo_histogram_sum(b->histogram, least, most);
}

static struct ordo_slice from(struct ordo_slice slice, size_t first)
{
    return slice.mem ? ordo_at(slice.mem, slice.at + first) : slice;
}

/* ---- 1 queries in key order -------------------------------------------------------------------------------------- */

static ordo_status query(const struct ordo_draft_batch *b)
{
    const struct ordo_concurrent_batch *c = b->batch;
    const struct ordo_slice *const      slices[] = { &c->codes,    &c->keys,       &c->hi,          &c->rooms,
                                                     &c->found,    &c->keys_out,   &c->values_out,  &c->counts,
                                                     &c->outcomes, &c->range_keys, &c->range_values };
    const cl_ulong                      capacity = c->range_capacity;
    struct ordo_args                    args = { .n = 0 };
    const struct ordo_launch            launch = b->kind->query(b->dict, c->count, &args);

    ORDO_ADD(&args, ORDO_ARG_UINT(c->count));
    for (size_t i = 0; i < sizeof slices / sizeof *slices; i++)
        ordo_args_slice(&args, slices[i]);
    ORDO_ADD(&args, ORDO_ARG(capacity), ORDO_ARG(b->dict->value_bytes));
    return ordo_call_launch(b->call, &launch, &args);
}

/* ---- 2 launch ---------------------------------------------------------------------------------------------------- */

ordo_status ordo_draft_zeros(struct ordo_call *call, size_t bytes, cl_mem *out)
{
    ORDO_TRY(ordo_call_scratch(call, bytes, out));
    return ordo_call_fill(call, *out, 0, bytes, 0);
}

void ordo_draft_add_table(struct ordo_args *args, const struct ordo_draft *draft, const struct ordo_slice *keys)
{
    ORDO_ADD(args, ORDO_ARG(draft->slots), ORDO_ARG(draft->n_slots));
    ordo_args_slice(args, keys);
}

static ordo_status reset(const struct ordo_draft_batch *b)
{
    const size_t word = sizeof(cl_uint), at = (DRAFT_TICK + 1) * word;
    return ordo_call_fill(b->call, b->state, at, b->kind->words * word - at, 0);
}

/* Runs the operations of a window, and reads the counters. If `draft` has no slots, all updates become pending. Waits
 * for the device. */
static ordo_status launch(struct ordo_draft_batch *b, const struct ordo_draft_window *window,
                          const struct ordo_draft *draft)
{
    const struct ordo_concurrent_batch *c = b->batch;
    const struct ordo_drafts           *tests = b->drafts;
    struct ordo_args                    args = { .n = 0 };
    struct ordo_launch launch = b->kind->apply(b->dict, tests->faults & FAULT_ALONE ? 1 : window->count, draft, &args);

    ordo_launch_define(&launch, "CONCURRENT_HISTORY", tests->history != NULL);
    ordo_launch_define(&launch, "CONCURRENT_FAULTS", tests->faults != 0);
    ordo_draft_add_table(&args, draft, &window->keys);
    ORDO_ADD(&args, ORDO_ARG_UINT(window->first), ORDO_ARG_UINT(window->count), ORDO_ARG(b->state),
             ORDO_ARG(b->pending), ORDO_ARG(tests->history));
    ordo_args_slice(&args, &c->codes);
    ordo_args_slice(&args, &c->values);
    ordo_args_slice(&args, &c->values_out);
    ORDO_ADD(&args, ORDO_ARG(b->dict->value_bytes));
    ordo_args_slice(&args, &c->found);
    ordo_args_slice(&args, &c->outcomes);
    ORDO_ADD(&args, ORDO_ARG(tests->faults));
    ORDO_TRY(ordo_call_launch(b->call, &launch, &args));
    ORDO_TRY(ordo_call_read(b->call, b->state, 0, b->words, b->kind->words * sizeof *b->words));
    b->drafts->restarts += ordo_is_dry_run(b->call->dev) ? 0 : b->words[DRAFT_RESTARTS];
    return ORDO_OK;
}

/* ---- 3 merge ----------------------------------------------------------------------------------------------------- */

static ordo_status begin_updates(const struct ordo_draft_batch *b, size_t operations, struct ordo_draft_updates *out)
{
    *out = (struct ordo_draft_updates) { .count = 0 };
    ORDO_TRY(ordo_call_scratch(b->call, operations * b->dict->key_bytes, &out->keys));
    if (b->dict->value_bytes)
        ORDO_TRY(ordo_call_scratch(b->call, operations * b->dict->value_bytes, &out->values));
    return ordo_call_scratch(b->call, operations, &out->erased);
}

static ordo_status begin_draft(const struct ordo_draft_batch *b, size_t operations, struct ordo_draft *draft)
{
    draft->n_slots = (cl_uint) operations * DRAFT_SLOTS_EACH;
    ORDO_TRY(ordo_draft_zeros(b->call, draft->n_slots * sizeof(cl_uint), &draft->slots));
    ORDO_TRY(reset(b));
    return b->kind->begin ? b->kind->begin(b, operations, draft) : ORDO_OK;
}

/* Executes steps 2 and 3 of draft.h for a window of operations. An error leaves the trie unchanged. Waits for the
 * device. */
static ordo_status run_draft(struct ordo_draft_batch *b, const struct ordo_draft_window *window)
{
    struct ordo_draft         draft = { .slots = NULL };
    struct ordo_draft_updates updates;

    ORDO_TRY(begin_updates(b, window->count, &updates));
    const int mark = b->call->n_scratch;
    ORDO_TRY(begin_draft(b, window->count, &draft));
    ORDO_TRY(launch(b, window, &draft));
    ORDO_TRY(b->kind->collect(b, &draft, window, &updates));
    ordo_call_release(b->call, mark);
    if (updates.count == 0)
        return ORDO_OK;
    const struct ordo_sorted_updates sorted = {
        ordo_at(updates.keys, 0), ordo_at(updates.values, 0), ordo_at(updates.erased, 0), updates.count, true, true
    };
    return b->dict->structure->update_sorted(b->dict, b->call, &sorted);
}

static struct ordo_launch collect_kernel(const struct ordo_draft_batch *b, const char *kernel, size_t items)
{
    return ordo_dict_kernel(b->dict, "dict/trie/draft_collect.cl", kernel, items);
}

/* counts[b] becomes the number of updates in the slots before block b, *total the number of all updates. Waits for the
 * device. */
static ordo_status count_updates(const struct ordo_draft_batch *b, const struct ordo_draft *draft,
                                 const struct ordo_slice *keys, size_t blocks, cl_mem *counts, size_t *total)
{
    const struct ordo_launch launch = collect_kernel(b, "draft_count", blocks + 1);
    struct ordo_args         args = { .n = 0 };
    cl_uint                  n = 0;

    ORDO_TRY(ordo_call_scratch(b->call, (blocks + 1) * sizeof n, counts));
    ordo_draft_add_table(&args, draft, keys);
    ORDO_ADD(&args, ORDO_ARG_UINT(blocks), ORDO_ARG(*counts));
    ORDO_TRY(ordo_call_launch(b->call, &launch, &args));
    ORDO_TRY(ordo_call_sum_before(b->call, ORDO_U32, *counts, blocks + 1));
    ORDO_TRY(ordo_call_read(b->call, *counts, blocks * sizeof n, &n, sizeof n));
    *total = ordo_is_dry_run(b->call->dev) ? 1 : n;
    return ORDO_OK;
}

static ordo_status list_updates(const struct ordo_draft_batch *b, const struct ordo_draft *draft,
                                const struct ordo_slice *keys, size_t blocks, cl_mem counts,
                                const struct ordo_draft_updates *out, cl_mem words)
{
    const struct ordo_launch      launch = collect_kernel(b, "draft_list", blocks);
    const struct ordo_sort_params by_key = { .key = b->dict->key, .value_bytes = sizeof(cl_uint) };
    struct ordo_args              args = { .n = 0 };

    ordo_draft_add_table(&args, draft, keys);
    ORDO_ADD(&args, ORDO_ARG_UINT(blocks), ORDO_ARG(counts), ORDO_ARG(out->keys), ORDO_ARG(words));
    ORDO_TRY(ordo_call_launch(b->call, &launch, &args));
    return ordo_call_sort(b->call, &by_key, ordo_at(out->keys, 0), ordo_at(words, 0), ordo_at(out->keys, 0),
                          ordo_at(words, 0), out->count);
}

ordo_status ordo_draft_collect(const struct ordo_draft_batch *b, const struct ordo_draft *draft,
                               const struct ordo_draft_window *window, struct ordo_draft_updates *out)
{
    const size_t     blocks = ordo_ceil_div(draft->n_slots, DRAFT_BLOCK);
    struct ordo_args args = { .n = 0 };
    cl_mem           counts = NULL, words = NULL;

    ORDO_TRY(count_updates(b, draft, &window->keys, blocks, &counts, &out->count));
    if (out->count == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_call_scratch(b->call, out->count * sizeof(cl_uint), &words));
    ORDO_TRY(list_updates(b, draft, &window->keys, blocks, counts, out, words));
    ORDO_ADD(&args, ORDO_ARG(words), ORDO_ARG_UINT(out->count));
    ordo_args_slice(&args, &window->values);
    ORDO_ADD(&args, ORDO_ARG(out->values), ORDO_ARG(out->erased));
    const struct ordo_launch launch = collect_kernel(b, "draft_updates", out->count);
    return ordo_call_launch(b->call, &launch, &args);
}

/* ---- 4 leftovers ------------------------------------------------------------------------------------------------- */

static struct ordo_launch leftover_kernel(const struct ordo_draft_batch *b, const char *kernel, size_t items)
{
    return ordo_dict_kernel(b->dict, "dict/trie/draft_leftover.cl", kernel, items);
}

static ordo_status gather(void *batch, size_t at, size_t count, const struct ordo_leftover *to)
{
    const struct ordo_draft_batch      *b = batch;
    const struct ordo_concurrent_batch *c = b->batch;
    const struct ordo_launch            launch = leftover_kernel(b, "draft_gather", count);
    struct ordo_args                    args = { .n = 0 };

    ORDO_ADD(&args, ORDO_ARG(b->pending), ORDO_ARG_UINT(at), ORDO_ARG_UINT(count));
    ordo_args_slice(&args, &c->codes);
    ordo_args_slice(&args, &c->keys);
    ordo_args_slice(&args, &c->values);
    ORDO_ADD(&args, ORDO_ARG(to->codes), ORDO_ARG(to->keys), ORDO_ARG(to->values));
    return ordo_call_launch(b->call, &launch, &args);
}

/* Copies results to the batch. If `found` is NULL, reports that the updates were not stored. */
static ordo_status scatter(void *batch, size_t at, size_t count, cl_mem found)
{
    const struct ordo_draft_batch *b = batch;
    const struct ordo_launch       launch = leftover_kernel(b, "draft_scatter", count);
    struct ordo_args               args = { .n = 0 };

    ORDO_ADD(&args, ORDO_ARG(b->pending), ORDO_ARG_UINT(at), ORDO_ARG_UINT(count), ORDO_ARG(found));
    ordo_args_slice(&args, &b->batch->found);
    ordo_args_slice(&args, &b->batch->outcomes);
    ORDO_ADD(&args, ORDO_ARG(b->drafts->history), ORDO_ARG_UINT(b->words[DRAFT_TICK] + at));
    return ordo_call_launch(b->call, &launch, &args);
}

/* Executes all pending updates. Reports updates that lack memory as not stored. */
static ordo_status apply_pending(struct ordo_draft_batch *b)
{
    const struct ordo_leftovers leftovers = {
        .dict = b->dict, .call = b->call, .batch = b, .has_values = true, .gather = gather, .scatter = scatter
    };
    const size_t all = ordo_is_dry_run(b->call->dev) ? 1 : b->words[DRAFT_PENDING];
    size_t       done = 0;

    ORDO_TRY(ordo_dict_apply_leftovers(&leftovers, all, &done));
    return done < all ? scatter(b, done, all - done, NULL) : ORDO_OK;
}

/* ---- the batch --------------------------------------------------------------------------------------------------- */

static ordo_status check_inputs(const struct ordo_draft_batch *b)
{
    ordo_device *dev = b->call->dev;
    const size_t stores = n_of(b, ORDO_UPSERT, ORDO_INSERT), elements = b->kind->elements(b->dict);

    ORDO_TRY(ordo_dict_check_concurrent(b->dict, b->batch, stores, n_of(b, ORDO_COUNT, ORDO_RANGE),
                                        b->histogram[ORDO_RANGE]));
    if (elements + stores > ORDO_MAX_COUNT && !ordo_is_dry_run(dev))
        return ORDO_FAIL(dev, ORDO_TOO_LARGE, "codes: %zu stores and %zu elements may exceed ORDO_MAX_COUNT, %zu",
                         stores, elements, ORDO_MAX_COUNT);
    return ORDO_OK;
}

/* Sets b->window, the maximum number of operations of a launch. */
static ordo_status prepare(struct ordo_draft_batch *b)
{
    const int mark = b->call->n_scratch;

    b->window = ordo_min_size(b->batch->count, WINDOW_MAX);
    if (b->kind->most)
        b->window = b->kind->most(b->dict, b->window);
    for (;; b->window /= 2) {
        ordo_status status = ordo_call_scratch(b->call, sizeof b->words, &b->state);
        if (status == ORDO_OK)
            status = ordo_call_scratch(b->call, b->window * sizeof(cl_uint), &b->pending);
        if (status == ORDO_OK)
            return ordo_call_fill(b->call, b->state, DRAFT_TICK * sizeof(cl_uint), sizeof(cl_uint), 0);
        if (!ordo_lacks_memory(status) || b->window <= WINDOW_MIN)
            return status;
        ordo_call_abandon(b->call, mark);
    }
}

static ordo_status run_window(struct ordo_draft_batch *b, size_t first, size_t *count)
{
    static const struct ordo_draft none;
    const int                      mark = b->call->n_scratch;
    struct ordo_draft_window       window = { first, 0, from(b->batch->keys, first), from(b->batch->values, first) };
    ordo_status                    status;

    for (;; b->window /= 2) {
        *count = window.count = ordo_min_size(b->window, b->batch->count - first);
        status = run_draft(b, &window);
        if (!ordo_lacks_memory(status))
            break;
        ordo_call_abandon(b->call, mark);
        if (b->window <= WINDOW_MIN)
            break;
    }
    if (ordo_lacks_memory(status)) {
        ORDO_TRY(reset(b));
        status = launch(b, &window, &none);
    }
    ORDO_TRY(status);
    ordo_call_release(b->call, mark);
    return apply_pending(b);
}

ordo_status ordo_draft_apply(ordo_dict *dict, struct ordo_call *call, struct ordo_drafts *drafts,
                             const struct ordo_draft_kind *kind, const struct ordo_concurrent_batch *batch)
{
    struct ordo_draft_batch b = { .call = call, .dict = dict, .drafts = drafts, .kind = kind, .batch = batch };
    size_t                  n = 0;

    ORDO_TRY(ordo_dict_histogram(dict, call, batch->codes, batch->count, b.histogram));
    ORDO_TRY(check_inputs(&b));
    const size_t queries = n_of(&b, ORDO_SEEK_LT, ORDO_RANGE), updates = n_of(&b, ORDO_UPSERT, ORDO_ERASE);
    if (kind->prepare)
        ORDO_TRY(kind->prepare(dict, call, batch->count - updates, updates));
    if (queries == batch->count && !ordo_is_dry_run(call->dev))
        return query(&b);
    ORDO_TRY(prepare(&b));
    if (queries > 0 || ordo_is_dry_run(call->dev))
        ORDO_TRY(query(&b));
    for (size_t first = 0; first < batch->count; first += n)
        ORDO_TRY(run_window(&b, first, &n));
    return ORDO_OK;
}
