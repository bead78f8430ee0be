/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on a hash table side by side: launches of cl/dict/hash/concurrent.cl.
 *
 * Finds come first: they see what was there before. Then all updates are launched at once. What gave up, as its buckets are full or
 * too many want them, is done at rest as a batch in order, which moves elements and lets the table grow: each of these operations
 * overlaps all others that are left, so any order will do. Where there is no memory for that, what is left is launched again, and
 * again, until nothing is; who finds no slot then is refused. Each turn ends with all latches free, so one operation at least of
 * those that want a latch has it.
 *
 * No memory is asked for between the first change and the last without which the batch could not be ended: the list comes first,
 * for as many operations at a time as there is memory for. Where no order between work-groups is to be had, all is done in
 * order. */
#include "dict/hash/hash.h"

#include "dict/batch.h"

#define CONCURRENT_FILE "dict/hash/concurrent.cl"

/* Operations for which there are lists at once, at least and at most. */
#define WINDOW_LEAST ((size_t) 1 << 10)
#define WINDOW_MOST  ((size_t) 1 << 24)

struct concurrent {
    struct ordo_call                   *call;
    struct ordo_hash                   *hash;
    const struct ordo_concurrent_batch *batch;
    cl_uint                             survey[ORDO_SURVEY_WORDS];
    size_t                              window; /* operations that each of the lists has room for */
    cl_mem                              pending, next, state, latches;
    cl_uint                             n_latches, tick, final;
};

/* How many operations there are from one code to another. */
static size_t n_of(const struct concurrent *c, int least, int most)
{
    size_t n = 0;
    for (int code = least; code <= most; code++)
        n += c->survey[code];
    return n;
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

/* `applies`: it runs operations that change, to which tests do things. */
static ordo_status run_kernel(const struct concurrent *c, const char *name, bool applies, size_t items,
                              const struct ordo_args *args)
{
    const struct ordo_define defines[] = {
        { "HASH_HISTORY", c->hash->history != NULL },
        { "HASH_TORTURE", applies && c->hash->torture != 0 },
        { NULL, 0 },
    };
    return ordo_dict_launch_with(c->call, &c->hash->dict, CONCURRENT_FILE, name, defines, items, args->arg, args->n);
}

static ordo_status find_beside(const struct concurrent *c)
{
    const struct ordo_concurrent_batch *b = c->batch;
    const cl_uint                       n = (cl_uint) b->count;
    struct ordo_args                    args = { .n = 0 };

    ordo_hash_add_table(&args, &c->hash->table);
    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(c->hash->history));
    ordo_args_slice(&args, &b->codes);
    ordo_args_slice(&args, &b->keys);
    ordo_args_slice(&args, &b->values_out);
    ordo_args_slice(&args, &b->found);
    ordo_args_slice(&args, &b->outcomes);
    return run_kernel(c, "hash_find_beside", false, b->count, &args);
}

#define TORTURE_ALONE 128

/* Without order between groups nothing is tried before it is known that it cannot be done at rest, and then by one work-item. */
static cl_uint way_of(const struct concurrent *c, bool again)
{
    if (c->hash->torture & TORTURE_ALONE)
        return HASH_ALONE;
    if (ordo_device_facts(c->call->dev)->atomics != ORDO_ATOMICS_LEGACY)
        return HASH_TOGETHER;
    return again ? HASH_ALONE : HASH_LISTING;
}

/* Operations from `from` on, or of the list `again`; who gives up goes to c->pending. */
static ordo_status launch(const struct concurrent *c, size_t from, size_t count, cl_mem again)
{
    static const cl_uint                never = 0;
    const cl_uint                       how = way_of(c, again), torture = c->hash->torture;
    const struct ordo_concurrent_batch *b = c->batch;
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
    if (torture != 0)
        ORDO_ADD(&args, ORDO_ARG(torture));
    return run_kernel(c, "hash_apply", true, how == HASH_ALONE ? 1 : count, &args);
}

/* By one work-item: no more than this in a launch. */
#define LAUNCH_ALONE ((size_t) 2048)

static ordo_status launch_all(const struct concurrent *c, size_t from, size_t count, cl_mem again)
{
    const size_t most = way_of(c, again) == HASH_ALONE ? LAUNCH_ALONE : count;
    for (size_t done = 0, n; done < count; done += n) {
        n = ordo_min_size(most, count - done);
        ORDO_TRY(launch(c, from + done, n, again));
    }
    return ORDO_OK;
}

/* The same, and how many gave up. Waits. The table is sound afterwards, unless the launch failed. */
static ordo_status take_turn(struct concurrent *c, size_t from, size_t count, cl_mem again, size_t *left)
{
    cl_uint state[HASH_BESIDE_WORDS];

    ORDO_TRY(ordo_call_fill(c->call, c->state, HASH_PENDING * sizeof(cl_uint), sizeof(cl_uint), 0));
    ORDO_TRY(ordo_call_fill(c->call, c->state, HASH_TICK * sizeof(cl_uint), sizeof(cl_uint), c->tick));
    c->hash->in_doubt = true;
    c->hash->recounts = c->hash->table.starts != NULL;
    ORDO_TRY(launch_all(c, from, count, again));
    ORDO_TRY(ordo_call_read(c->call, c->state, 0, state, sizeof state));
    c->hash->in_doubt = false;
    c->tick = state[HASH_TICK];
    *left = state[HASH_PENDING];
    return ORDO_OK;
}

/* ---- at rest ----------------------------------------------------------------------------------------------------- */

/* Operations that gave up, in scratch. */
struct left {
    cl_mem codes, keys, values, found;
};

static ordo_status gather(const struct concurrent *c, size_t count, struct left *left)
{
    const struct ordo_concurrent_batch *b = c->batch;
    const ordo_dict                    *dict = &c->hash->dict;
    const cl_uint                       n = (cl_uint) count;
    struct ordo_args                    args = { .n = 0 };

    *left = (struct left) { .codes = NULL };
    ORDO_TRY(ordo_call_scratch(c->call, count, &left->codes));
    ORDO_TRY(ordo_call_scratch(c->call, count, &left->found));
    ORDO_TRY(ordo_call_scratch(c->call, count * dict->key_bytes, &left->keys));
    if (b->values.mem && dict->value_bytes)
        ORDO_TRY(ordo_call_scratch(c->call, count * dict->value_bytes, &left->values));
    ORDO_ADD(&args, ORDO_ARG(c->pending), ORDO_ARG(n));
    ordo_args_slice(&args, &b->codes);
    ordo_args_slice(&args, &b->keys);
    ordo_args_slice(&args, &b->values);
    ORDO_ADD(&args, ORDO_ARG(left->codes), ORDO_ARG(left->keys), ORDO_ARG(left->values));
    return run_kernel(c, "hash_gather", false, count, &args);
}

static ordo_status scatter(struct concurrent *c, size_t count, const struct left *left)
{
    const struct ordo_concurrent_batch *b = c->batch;
    const cl_uint                       n = (cl_uint) count;
    struct ordo_args                    args = { .n = 0 };

    ORDO_ADD(&args, ORDO_ARG(c->pending), ORDO_ARG(n), ORDO_ARG(left->found));
    ordo_args_slice(&args, &b->found);
    ordo_args_slice(&args, &b->outcomes);
    ORDO_ADD(&args, ORDO_ARG(c->hash->history), ORDO_ARG(c->tick));
    ORDO_TRY(run_kernel(c, "hash_scatter", false, count, &args));
    c->tick += n;
    return ORDO_OK;
}

/* Those of c->pending as a batch in order; *done: false, and nothing is changed, if there is no memory for it. An error where it
 * came to an end half way: then what they would find would no longer be what they found. */
static ordo_status finish_at_rest(struct concurrent *c, size_t count, bool *done)
{
    const int         mark = c->call->n_scratch;
    struct left       left;
    ordo_status       status = gather(c, count, &left);
    struct ordo_batch batch = { .count = count };

    if (status == ORDO_OK) {
        batch.codes = ordo_at(left.codes, 0);
        batch.keys = ordo_at(left.keys, 0);
        batch.values = left.values ? ordo_at(left.values, 0) : ordo_none();
        batch.found = ordo_at(left.found, 0);
        status = ordo_dict_apply_enqueue(&c->hash->dict, c->call, &batch, NULL);
    }
    *done = status == ORDO_OK;
    if (*done) {
        ORDO_TRY(scatter(c, count, &left));
        ordo_call_release(c->call, mark);
        return ORDO_OK;
    }
    if (!ordo_lacks_memory(status) || c->hash->broken)
        return status;
    ordo_call_abandon(c->call, mark);
    return ORDO_OK;
}

/* Without memory: turn after turn, of which each leaves fewer. */
static ordo_status finish_without(struct concurrent *c, size_t left)
{
    c->final = 1;
    while (left > 0) {
        const cl_mem list = c->pending;
        const size_t had = left;
        c->pending = c->next;
        c->next = list;
        ORDO_TRY(take_turn(c, 0, had, list, &left));
        if (left >= had && c->hash->torture == 0)
            return ordo_fail(c->call->dev, ORDO_BROKEN, 0, __FILE__, __LINE__,
                             "%zu operations come to no end: is a bucket latched that nobody holds?", left);
    }
    return ORDO_OK;
}

/* ---- a batch ----------------------------------------------------------------------------------------------------- */

static ordo_status check_inputs(const struct concurrent *c)
{
    ordo_device *dev = c->call->dev;

    if (n_of(c, ORDO_SEEK_LT, ORDO_RANGE) > 0 && !ordo_rehearses(dev))
        return ordo_fail(dev, ORDO_UNSUPPORTED, 0, __FILE__, __LINE__,
                         "the batch has seeks, counts or ranges, and a hash table has no order");
    if (c->hash->dict.value_bytes && n_of(c, ORDO_UPSERT, ORDO_INSERT) > 0 && !c->batch->values.mem)
        return ordo_fail(dev, ORDO_INVALID, 0, __FILE__, __LINE__, "the batch stores, but has no values");
    return ORDO_OK;
}

static ordo_status check_room(const struct concurrent *c)
{
    const size_t stores = n_of(c, ORDO_UPSERT, ORDO_INSERT);
    size_t       elements = 0;

    if (c->hash->table.n_buckets * HASH_SLOTS + stores > ORDO_MAX_COUNT)
        ORDO_TRY(ordo_hash_size(&c->hash->dict, c->call, &elements));
    if (elements + stores > ORDO_MAX_COUNT)
        return ordo_fail(c->call->dev, ORDO_TOO_LARGE, 0, __FILE__, __LINE__,
                         "the table has %zu elements: %zu more, if all are new, are more than it can count", elements,
                         stores);
    return ORDO_OK;
}

/* Lists for the batch, or for as large a part of it as there is memory for. */
static ordo_status take_lists(struct concurrent *c)
{
    const size_t most = ordo_min_size(WINDOW_MOST, ordo_device_facts(c->call->dev)->max_alloc_bytes / sizeof(cl_uint));
    const int    mark = c->call->n_scratch;

    for (c->window = ordo_min_size(c->batch->count, most);; c->window /= 2) {
        ordo_status status = ordo_call_scratch(c->call, c->window * sizeof(cl_uint), &c->pending);
        if (status == ORDO_OK)
            status = ordo_call_scratch(c->call, c->window * sizeof(cl_uint), &c->next);
        if (!ordo_lacks_memory(status) || c->window <= WINDOW_LEAST)
            return status;
        ordo_call_abandon(c->call, mark);
    }
}

/* Latches of a batch: so many for each operation, and never more than this. */
#define LATCHES_EACH  8
#define LATCHES_LEAST ((size_t) 1 << 10)
#define LATCHES_MOST  ((size_t) 1 << 22)

/* What there must be before anything is changed: the lists and the latches. */
static ordo_status prepare(struct concurrent *c)
{
    size_t latches = LATCHES_LEAST;
    while (latches < LATCHES_MOST && latches < c->batch->count * LATCHES_EACH)
        latches *= 2;
    const size_t bytes = latches / 32 * sizeof(cl_uint);

    c->n_latches = (cl_uint) latches;
    ORDO_TRY(ordo_call_scratch(c->call, HASH_BESIDE_WORDS * sizeof(cl_uint), &c->state));
    ORDO_TRY(ordo_call_scratch(c->call, bytes, &c->latches));
    ORDO_TRY(ordo_call_fill(c->call, c->latches, 0, bytes, 0));
    return take_lists(c);
}

/* What failed for want of memory is tried once more: its scratch has been given back, and drivers say so of other things, too. */
#define AT_REST_TRIES 2

/* Updates from `first` on. */
static ordo_status run_window(struct concurrent *c, size_t first, size_t count)
{
    size_t left = 0;
    bool   done = false;

    c->final = 0;
    ORDO_TRY(take_turn(c, first, count, NULL, &left));
    if (left == 0)
        return ORDO_OK;
    for (int tries = 0; tries < AT_REST_TRIES && !done; tries++)
        ORDO_TRY(finish_at_rest(c, left, &done));
    return done ? ORDO_OK : finish_without(c, left);
}

ordo_status ordo_hash_apply_concurrent(ordo_dict *dict, struct ordo_call *call,
                                       const struct ordo_concurrent_batch *batch)
{
    struct concurrent c = { .call = call, .hash = ordo_hash_of(dict), .batch = batch };

    ORDO_TRY(ordo_dict_survey(dict, call, batch->codes, batch->count, c.survey));
    ORDO_TRY(check_inputs(&c));
    ORDO_TRY(ordo_hash_begin(call, c.hash));
    ORDO_TRY(check_room(&c));
    const size_t finds = n_of(&c, ORDO_FIND, ORDO_CONTAINS);
    if (finds > 0)
        ORDO_TRY(find_beside(&c));
    if (finds == batch->count && !ordo_rehearses(call->dev))
        return ORDO_OK;
    ORDO_TRY(prepare(&c));
    c.tick = c.hash->history ? (cl_uint) (2 * batch->count) : 0; /* those before are the finds' */
    for (size_t first = 0; first < batch->count; first += c.window)
        ORDO_TRY(run_window(&c, first, ordo_min_size(c.window, batch->count - first)));
    return ordo_hash_give_back(call, c.hash, n_of(&c, ORDO_ERASE, ORDO_ERASE));
}
