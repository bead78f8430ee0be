/* SPDX-License-Identifier: Apache-2.0 */
/* Executes concurrent batches. One launch runs all finds, and later launches run the updates.
 * cl/dict/hash/concurrent.cl says when an update gives up. */
#include "dict/hash/hash.h"

#include "dict/batch.h"
#include "dict/leftover.h"
#include "shared/faults.h"

/* Minimum and maximum capacity of the lists `pending` and `next`. */
#define WINDOW_MIN ((size_t) 1 << 10)
#define WINDOW_MAX ((size_t) 1 << 24)

struct concurrent {
    struct ordo_call                   *call;
    struct ordo_hash                   *hash;
    const struct ordo_concurrent_batch *batch;
    cl_uint                             histogram[ORDO_HISTOGRAM_WORDS];
    size_t                              window;
    cl_mem                              pending, next, state, latches;
    cl_uint                             n_latches, tick, final;
};

static size_t n_of(const struct concurrent *c, int least, int most)
{
    return ordo_histogram_sum(c->histogram, least, most);
}

static struct ordo_launch kernel_of(const struct concurrent *c, const char *kernel, size_t items)
{
    struct ordo_launch launch = ordo_dict_kernel(&c->hash->dict, "dict/hash/concurrent.cl", kernel, items);
    ordo_launch_define(&launch, "CONCURRENT_HISTORY", c->hash->history != NULL);
    return launch;
}

static ordo_status find_in_batch(const struct concurrent *c)
{
    const struct ordo_concurrent_batch *b = c->batch;
    const struct ordo_launch            launch = kernel_of(c, "hash_find_in_batch", b->count);
    const cl_uint                       n = (cl_uint) b->count;
    struct ordo_args                    args = { .n = 0 };

    ordo_hash_add_table(&args, &c->hash->table);
    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(c->hash->history));
    ordo_args_slice(&args, &b->codes);
    ordo_args_slice(&args, &b->keys);
    ordo_args_slice(&args, &b->values_out);
    ordo_args_slice(&args, &b->found);
    ordo_args_slice(&args, &b->outcomes);
    return ordo_call_launch(c->call, &launch, &args);
}

/* Returns how kernel hash_apply executes updates. */
static cl_uint way_of(const struct concurrent *c, bool again)
{
    if (c->hash->faults & FAULT_ALONE)
        return HASH_ALONE;
    if (ordo_device_facts(c->call->dev)->atomics != ORDO_ATOMICS_LEGACY)
        return HASH_TOGETHER;
    return again ? HASH_ALONE : HASH_LISTING;
}

/* Launches `count` operations of the list `again` (if NULL, of the batch) from index `from` on. Adds operations that
 * give up to c->pending. */
static ordo_status launch_some(const struct concurrent *c, size_t from, size_t count, cl_mem again)
{
    static const cl_uint                never = 0;
    const cl_uint                       how = way_of(c, again), faults = c->hash->faults;
    const struct ordo_concurrent_batch *b = c->batch;
    struct ordo_launch                  launch = kernel_of(c, "hash_apply", how == HASH_ALONE ? 1 : count);
    const cl_uint                       first = (cl_uint) from, n = (cl_uint) count;
    struct ordo_args                    args = { .n = 0 };

    ordo_hash_add_table(&args, &c->hash->table);
    ORDO_ADD(&args, ORDO_ARG(first), ORDO_ARG(n), ORDO_ARG(how), ORDO_ARG(c->final), ORDO_ARG(never), ORDO_ARG(again),
             ORDO_ARG(c->pending), ORDO_ARG(c->state), ORDO_ARG(c->latches), ORDO_ARG(c->n_latches),
             ORDO_ARG(c->hash->history));
    ordo_args_slice(&args, &b->codes);
    ordo_args_slice(&args, &b->keys);
    ordo_args_slice(&args, &b->values);
    ordo_args_slice(&args, &b->found);
    ordo_args_slice(&args, &b->outcomes);
    ORDO_ADD(&args, ORDO_ARG(faults));
    ordo_launch_define(&launch, "CONCURRENT_FAULTS", faults != 0);
    return ordo_call_launch(c->call, &launch, &args);
}

/* Maximum number of operations of a launch with a single work-item. */
#define ALONE_MAX ((size_t) 2048)

static ordo_status launch_all(const struct concurrent *c, size_t from, size_t count, cl_mem again)
{
    const size_t most = way_of(c, again) == HASH_ALONE ? ALONE_MAX : count;
    for (size_t done = 0, n; done < count; done += n) {
        n = ordo_min_size(most, count - done);
        ORDO_TRY(launch_some(c, from + done, n, again));
    }
    return ORDO_OK;
}

static ordo_status take_turn(struct concurrent *c, size_t from, size_t count, cl_mem again, size_t *left)
{
    cl_uint state[HASH_SHARED_WORDS];

    ORDO_TRY(ordo_call_fill(c->call, c->state, HASH_PENDING * sizeof(cl_uint), sizeof(cl_uint), 0));
    ORDO_TRY(ordo_call_fill(c->call, c->state, HASH_TICK * sizeof(cl_uint), sizeof(cl_uint), c->tick));
    c->hash->needs_check = true;
    c->hash->recounts = c->hash->table.starts != NULL;
    ORDO_TRY(launch_all(c, from, count, again));
    ORDO_TRY(ordo_call_read(c->call, c->state, 0, state, sizeof state));
    c->hash->needs_check = false;
    c->tick = state[HASH_TICK];
    *left = state[HASH_PENDING];
    return ORDO_OK;
}

static ordo_status gather(void *batch, size_t from, size_t count, const struct ordo_leftover *to)
{
    const struct concurrent            *c = batch;
    const struct ordo_concurrent_batch *b = c->batch;
    const struct ordo_launch            launch = kernel_of(c, "hash_gather", count);
    struct ordo_args                    args = { .n = 0 };

    ORDO_ADD(&args, ORDO_ARG(c->pending), ORDO_ARG_UINT(from), ORDO_ARG_UINT(count));
    ordo_args_slice(&args, &b->codes);
    ordo_args_slice(&args, &b->keys);
    ordo_args_slice(&args, &b->values);
    ORDO_ADD(&args, ORDO_ARG(to->codes), ORDO_ARG(to->keys), ORDO_ARG(to->values));
    return ordo_call_launch(c->call, &launch, &args);
}

static ordo_status scatter(void *batch, size_t from, size_t count, cl_mem found)
{
    struct concurrent                  *c = batch;
    const struct ordo_concurrent_batch *b = c->batch;
    const struct ordo_launch            launch = kernel_of(c, "hash_scatter", count);
    struct ordo_args                    args = { .n = 0 };

    ORDO_ADD(&args, ORDO_ARG(c->pending), ORDO_ARG_UINT(from), ORDO_ARG_UINT(count), ORDO_ARG(found));
    ordo_args_slice(&args, &b->found);
    ordo_args_slice(&args, &b->outcomes);
    ORDO_ADD(&args, ORDO_ARG(c->hash->history), ORDO_ARG(c->tick));
    ORDO_TRY(ordo_call_launch(c->call, &launch, &args));
    c->tick += (cl_uint) count;
    return ORDO_OK;
}

/* Repeats the operations of c->pending until all are done. Each launch completes at least one of them. */
static ordo_status finish_without(struct concurrent *c, size_t done, size_t left)
{
    c->final = 1;
    while (left > 0) {
        const cl_mem list = c->pending;
        const size_t had = left;
        c->pending = c->next;
        c->next = list;
        ORDO_TRY(take_turn(c, done, had, list, &left));
        done = 0;
        if (left >= had && c->hash->faults == 0)
            return ORDO_FAIL(c->call->dev, ORDO_BROKEN, "%zu operations do not end: is a latch set without a holder?",
                             left);
    }
    return ORDO_OK;
}

static ordo_status check_inputs(const struct concurrent *c)
{
    ordo_device *dev = c->call->dev;

    if (n_of(c, ORDO_SEEK_LT, ORDO_RANGE) > 0 && !ordo_is_dry_run(dev))
        return ORDO_FAIL(dev, ORDO_UNSUPPORTED,
                         "codes: the batch has seeks, counts or ranges, and a hash table has no order");
    return ordo_dict_check_concurrent(&c->hash->dict, c->batch, n_of(c, ORDO_UPSERT, ORDO_INSERT), 0, 0);
}

static ordo_status check_room(const struct concurrent *c)
{
    const size_t stores = n_of(c, ORDO_UPSERT, ORDO_INSERT);
    size_t       elements = 0;

    if (c->hash->table.n_buckets * HASH_SLOTS + stores > ORDO_MAX_COUNT)
        ORDO_TRY(ordo_hash_size(&c->hash->dict, c->call, &elements));
    if (elements + stores > ORDO_MAX_COUNT)
        return ORDO_FAIL(c->call->dev, ORDO_TOO_LARGE,
                         "codes: %zu stores and %zu elements may exceed ORDO_MAX_COUNT, %zu", stores, elements,
                         ORDO_MAX_COUNT);
    return ORDO_OK;
}

static ordo_status take_lists(struct concurrent *c)
{
    const size_t most = ordo_min_size(WINDOW_MAX, ordo_device_facts(c->call->dev)->max_alloc_bytes / sizeof(cl_uint));
    const int    mark = c->call->n_scratch;

    for (c->window = ordo_min_size(c->batch->count, most);; c->window /= 2) {
        ordo_status status = ordo_call_scratch(c->call, c->window * sizeof(cl_uint), &c->pending);
        if (status == ORDO_OK)
            status = ordo_call_scratch(c->call, c->window * sizeof(cl_uint), &c->next);
        if (!ordo_lacks_memory(status) || c->window <= WINDOW_MIN)
            return status;
        ordo_call_abandon(c->call, mark);
    }
}

/* A batch has LATCHES_EACH latches (locks of one bit) per operation, from LATCHES_MIN to LATCHES_MAX. */
#define LATCHES_EACH 8
#define LATCHES_MIN  ((size_t) 1 << 10)
#define LATCHES_MAX  ((size_t) 1 << 22)

static ordo_status prepare(struct concurrent *c)
{
    size_t latches = LATCHES_MIN;
    while (latches < LATCHES_MAX && latches < c->batch->count * LATCHES_EACH)
        latches *= 2;
    const size_t bytes = latches / 32 * sizeof(cl_uint);

    c->n_latches = (cl_uint) latches;
    ORDO_TRY(ordo_call_scratch(c->call, HASH_SHARED_WORDS * sizeof(cl_uint), &c->state));
    ORDO_TRY(ordo_call_scratch(c->call, bytes, &c->latches));
    ORDO_TRY(ordo_call_fill(c->call, c->latches, 0, bytes, 0));
    return take_lists(c);
}

static ordo_status count_absent(struct concurrent *c, size_t *absent)
{
    const struct ordo_concurrent_batch *b = c->batch;
    const struct ordo_launch            launch = kernel_of(c, "hash_absent", b->count);
    const cl_uint                       n = (cl_uint) b->count;
    struct ordo_args                    args = { .n = 0 };
    cl_uint                             count = 0;

    ORDO_TRY(ordo_call_fill(c->call, c->state, HASH_PENDING * sizeof count, sizeof count, 0));
    ordo_hash_add_table(&args, &c->hash->table);
    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(c->state));
    ordo_args_slice(&args, &b->codes);
    ordo_args_slice(&args, &b->keys);
    ORDO_TRY(ordo_call_launch(c->call, &launch, &args));
    ORDO_TRY(ordo_call_read(c->call, c->state, HASH_PENDING * sizeof count, &count, sizeof count));
    *absent = count;
    return ORDO_OK;
}

/* If a batch has fewer than slots / SLOTS_PER_STORE stores, the table grows only after an operation finds no free
 * slot. */
#define SLOTS_PER_STORE 8

static ordo_status grow(struct concurrent *c, bool *grown)
{
    struct ordo_hash *hash = c->hash;
    const size_t      stores = n_of(c, ORDO_UPSERT, ORDO_INSERT), slots = hash->table.n_buckets * HASH_SLOTS;
    size_t            elements = 0, absent = stores;

    if (stores == 0 || stores < slots / SLOTS_PER_STORE || hash->faults != 0)
        return ORDO_OK;
    ORDO_TRY(ordo_hash_size(&hash->dict, c->call, &elements));
    if (elements + stores <= HASH_LIMIT(slots / HASH_SLOTS) && !ordo_is_dry_run(c->call->dev))
        return ORDO_OK;
    if (hash->table.starts)
        ORDO_TRY(count_absent(c, &absent));
    if (elements + absent <= HASH_LIMIT(slots / HASH_SLOTS))
        return ORDO_OK;
    *grown = true;
    return ordo_hash_rebuild(c->call, hash, NULL, absent, ordo_hash_update_load(hash));
}

static ordo_status grow_if_fits(struct concurrent *c, bool *grown)
{
    const int         mark = c->call->n_scratch;
    const ordo_status status = grow(c, grown);

    if (!ordo_lacks_memory(status))
        return status;
    *grown = false;
    ordo_call_abandon(c->call, mark);
    return ORDO_OK;
}

/* Executes all updates concurrently. Then an ordered batch executes the updates that gave up, and can grow the
 * table. */
static ordo_status run_window(struct concurrent *c, size_t first, size_t count)
{
    const struct ordo_leftovers leftovers = { .dict = &c->hash->dict,
                                              .call = c->call,
                                              .batch = c,
                                              .has_values = c->batch->values.mem != NULL,
                                              .half_done = &c->hash->needs_check,
                                              .gather = gather,
                                              .scatter = scatter };
    size_t                      left = 0, done = 0;

    c->final = 0;
    ORDO_TRY(take_turn(c, first, count, NULL, &left));
    ORDO_TRY(ordo_dict_apply_leftovers(&leftovers, left, &done));
    return finish_without(c, done, left - done);
}

ordo_status ordo_hash_apply_concurrent(ordo_dict *dict, struct ordo_call *call,
                                       const struct ordo_concurrent_batch *batch)
{
    struct concurrent c = { .call = call, .hash = ordo_hash_of(dict), .batch = batch };
    bool              grown = false;

    ORDO_TRY(ordo_dict_histogram(dict, call, batch->codes, batch->count, c.histogram));
    ORDO_TRY(check_inputs(&c));
    ORDO_TRY(ordo_hash_begin(call, c.hash));
    ORDO_TRY(check_room(&c));
    const size_t finds = n_of(&c, ORDO_FIND, ORDO_CONTAINS);
    if (finds > 0)
        ORDO_TRY(find_in_batch(&c));
    if (finds == batch->count && !ordo_is_dry_run(call->dev))
        return ORDO_OK;
    ORDO_TRY(prepare(&c));
    ORDO_TRY(grow_if_fits(&c, &grown));
    c.tick = c.hash->history ? (cl_uint) (2 * batch->count) : 0;
    for (size_t first = 0; first < batch->count; first += c.window)
        ORDO_TRY(run_window(&c, first, ordo_min_size(c.window, batch->count - first)));
    const size_t erased = n_of(&c, ORDO_ERASE, ORDO_ERASE);
    return grown || erased > 0 ? ordo_hash_shrink(call, c.hash, erased) : ORDO_OK;
}
