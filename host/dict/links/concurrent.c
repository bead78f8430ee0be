/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on a linked tree side by side: launches of cl/dict/links/concurrent.cl until none is left over.
 *
 * Finds come first, all at once: they have no order among the others, so they may have the moment before any of these
 * begins, when the tree is at rest. Then a search needs no version, takes lines from any cache, and is done by teams
 * in a kernel of few registers: 12 G/s on an H200 at 2^24, where searches that may meet a writer come to 4.9 G/s, and
 * to 6 G/s in a kernel that does nothing else.
 *
 * A batch is cut into launches, each twice the one before: work-items that are many more than leaves are only in
 * each other's way. What an operation may give up on, and is then listed:
 *
 *   - a leaf that it cannot have, after LINKS_TRIES tries: too many want it;
 *   - a new leaf, if there is none: it starves;
 *   - a query that has gone through QUERY_LEAVES leaves and is not at its end: used-up leaves, or a long count. Only
 *     elements that are asked for one by one are worth a leaf each;
 *   - the rest of its way, when the work-item's LINKS_STEPS steps are done. If that was to tell the level above of a split, it
 *     is not listed, for it is done itself; the level lags behind (LINKS_SPLITS_PENDING).
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
#include "dict/links/links.h"

#include "dict/batch.h"

#define CONCURRENT_FILE "dict/links/concurrent.cl"

/* A version has 25 bits, and an operation changes a node twice at most. */
#define LAUNCH_MOST ((size_t) 1 << 22)
/* Operations beside each other for each leaf, and in any case. */
#define LAUNCH_PER_LEAF ((size_t) 4)
#define LAUNCH_LEAST    ((size_t) 64)
/* By one work-item: LINKS_STEPS of it do so many with some to spare. */
#define LAUNCH_ALONE ((size_t) 2048)
/* Turns before what is listed is done at rest. */
#define TURNS_TOGETHER 1
/* Turns in a row in which nothing comes further, at most. (Under torture they may all fail by chance.) */
#define TURNS_STUCK 64

/* Leaves that a query goes through beside others; where it cannot be done at rest, only the work-item's steps end it. */
#define QUERY_LEAVES     ((cl_uint) 256)
#define QUERY_LEAVES_ALL ((cl_uint) -1)

/* Operations for which there are lists at once, at least and at most. */
#define WINDOW_LEAST ((size_t) 1 << 10)
#define WINDOW_MOST  ((size_t) 1 << 24)

/* A cl_uint4: operation, count, query. */
#define PENDING_BYTES ((size_t) 16)

struct tally {
    cl_uint stores, scans, ranges, erases, finds;
};

struct concurrent {
    struct ordo_call                   *call;
    struct ordo_links                  *tree;
    const struct ordo_concurrent_batch *batch;
    struct tally                        tally;
    cl_uint                             state[LINKS_STATE_WORDS];
    size_t                              window; /* operations that each of the lists has room for */
    cl_mem                              pending, next;
    cl_uint                             far;   /* leaves that a query goes through in a launch */
    cl_uint                             final; /* there are no more leaves to be had */
    bool                                half;  /* a change at rest was begun, and not seen through */
};

#define TORTURE_ALONE 128

/* Whether only one work-item may run: where no order between groups is to be had. */
static bool is_alone(const struct concurrent *c)
{
    return ordo_device_facts(c->call->dev)->atomics == ORDO_ATOMICS_LEGACY || (c->tree->torture & TORTURE_ALONE);
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

/* What a group of so many work-items leaves each of the registers that a compute unit has, where the driver can be told: larger
 * groups would not start. 0: its choice. */
#define REGISTERS ((size_t) 1 << 16)
#define EASY      ((size_t) 256)

static long registers_of(size_t group)
{
    return group > EASY ? (long) (REGISTERS / group) : 0;
}

/* `applies`: as it runs operations, the kernel is another where there is a history, or what merges. */
static ordo_status run_any(const struct concurrent *c, const char *name, bool applies, size_t group, size_t items,
                           const struct ordo_args *args)
{
    const struct ordo_define defines[] = {
        { "ORDO_KEY", c->tree->dict.key },
        { "ORDO_VALUE_BYTES", c->tree->dict.value_bytes },
        { "LINKS_GROUP", (long) group },
        { "TEAM_WIDTH", 1 },
        { "LINKS_HISTORY", applies && c->tree->history != NULL },
        { "LINKS_TORTURE", applies && c->tree->torture != 0 },
        { "LINKS_MERGE", applies && c->tree->config.reclaim != NULL },
        { "LINKS_RAISE", applies ? c->tree->config.raise_percent : 100 },
        { "ORDO_MAX_REGISTERS", registers_of(group) },
        applies ? ordo_links_words_define(c->tree) : (struct ordo_define) { NULL, 0 },
        { NULL, 0 },
    };
    struct ordo_kernel *kernel = NULL;
    ORDO_TRY(ordo_call_kernel(c->call, CONCURRENT_FILE, name, defines, &kernel));
    return ordo_call_launch_kernel(c->call, kernel, ordo_ceil_div(items, group), group, args->arg, args->n);
}

static ordo_status run_apply(const struct concurrent *c, size_t group, size_t items, const struct ordo_args *args)
{
    return run_any(c, "links_apply", true, group, items, args);
}

static ordo_status run_beside(const struct concurrent *c, const char *name, size_t items, const struct ordo_args *args)
{
    return run_any(c, name, false, ordo_links_flat(c->tree).group, items, args);
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
    const cl_uint    leaves = (cl_uint) c->tree->pools.leaves, inner = (cl_uint) c->tree->pools.inner;
    const cl_uint    first = (cl_uint) from, n = (cl_uint) count;
    const cl_uint    torture = c->tree->torture;
    const cl_ulong   room = b->range_capacity;
    struct ordo_args args = { .n = 0 };

    ordo_links_add_tree(&args, c->tree);
    ORDO_ADD(&args, ORDO_ARG(leaves), ORDO_ARG(inner), ORDO_ARG(first), ORDO_ARG(n), ORDO_ARG(c->final),
             ORDO_ARG(never), ORDO_ARG(c->far), ORDO_ARG(again), ORDO_ARG(pending), ORDO_ARG(c->tree->history));
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        ordo_args_slice(&args, in[i]);
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        ordo_args_slice(&args, out[i]);
    ORDO_ADD(&args, ORDO_ARG(room));
    if (c->tree->torture != 0)
        ORDO_ADD(&args, ORDO_ARG(torture));
    if (alone)
        return run_apply(c, 1, 1, &args);
    /* In large launches work-items take several operations: those that are done sooner take more. */
    const size_t each = count >> 16 < 1 ? 1 : ordo_min_size(count >> 16, 8);
    return run_apply(c, ordo_links_operations_group(c->tree), ordo_ceil_div(count, each), &args);
}

/* Operations first .. first + count - 1 of the batch. */
static ordo_status launch_window(const struct concurrent *c, size_t first, size_t count)
{
    const bool alone = is_alone(c);
    size_t     most = alone ? LAUNCH_ALONE : LAUNCH_PER_LEAF * c->state[LINKS_LEAVES];

    if (most < LAUNCH_LEAST)
        most = LAUNCH_LEAST;
    for (size_t done = 0, n; done < count; done += n) {
        n = ordo_min_size(ordo_min_size(most, LAUNCH_MOST), count - done);
        ORDO_TRY(launch(c, first + done, n, NULL, c->pending, alone));
        most = alone ? most : most * 2;
    }
    return ORDO_OK;
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

/* ORDO_OK for a lack of memory: the host does without the work that it does between launches. Some drivers report a lack of
 * device memory as one of host memory. */
static ordo_status or_without(ordo_status status)
{
    return ordo_lacks_memory(status) || status == ORDO_NO_HOST_MEMORY ? ORDO_OK : status;
}

/* The same, and what it had begun is dropped: counters may not be zero again. */
static ordo_status or_drop(const struct concurrent *c, int mark, ordo_status status)
{
    if (status != ORDO_OK)
        ordo_call_abandon(c->call, mark);
    return or_without(status);
}

/* ---- the state --------------------------------------------------------------------------------------------------- */

/* The counters of operations that gave up begin anew. */
static ordo_status read_state(struct concurrent *c)
{
    ORDO_TRY(ordo_links_read_counters(c->call, c->tree, c->state));
    c->tree->restarts += c->state[LINKS_RESTARTS];
    return ordo_call_fill(c->call, c->tree->state, LINKS_PENDING * sizeof(cl_uint), 4 * sizeof(cl_uint), 0);
}

static ordo_status set_tick(const struct concurrent *c, cl_uint tick)
{
    return ordo_call_fill(c->call, c->tree->state, LINKS_TICK * sizeof(cl_uint), sizeof(cl_uint), tick);
}

/* After the host may have built the tree anew: there are nodes, and the clock goes on. */
static ordo_status go_on(struct concurrent *c)
{
    const cl_uint tick = c->state[LINKS_TICK];
    if (!ordo_links_has_nodes(c->tree) || c->tree->rescue.mem) /* all elements are erased, or a build was refused */
        ORDO_TRY(ordo_links_begin(c->call, c->tree));
    ORDO_TRY(set_tick(c, tick));
    ORDO_TRY(read_state(c));
    c->state[LINKS_TICK] = tick;
    return ORDO_OK;
}

/* Before leaves are changed side by side: what is known of the tree besides is no longer so. */
static void expect_changes(const struct concurrent *c)
{
    if (c->tally.stores == 0 && c->tally.erases == 0)
        return;
    c->tree->in_doubt = true;
    c->tree->list.fresh = c->tree->in_order = c->tree->counted = false;
}

/* ---- 1 room ------------------------------------------------------------------------------------------------------ */

/* Room for so many leaves, or for as many as there can be. Growth that fails is no error: operations wait for it to
 * be. */
static ordo_status grow_to(struct concurrent *c, size_t leaves)
{
    const size_t had = c->tree->pools.leaves;

    leaves = ordo_min_size(leaves, ordo_links_leaves_allowed(c->tree, c->state[LINKS_DEAD]));
    while (leaves > had) {
        const ordo_status status = ordo_links_reserve(c->call, c->tree, c->state, leaves);
        if (status == ORDO_OK || or_without(status) != ORDO_OK)
            return status;
        leaves = had + (leaves - had) / 2;
    }
    return ORDO_OK;
}

/* Operations looked at for how many keys are new; and how many of 1024 stores may be new although none of these was. */
#define SAMPLE       ((size_t) 1 << 14)
#define SAMPLE_DOUBT 4

/* About how many of the batch's stores have keys that are not there. */
static ordo_status estimate_new(struct concurrent *c, size_t *out)
{
    const int     mark = c->call->n_scratch;
    const cl_uint step = (cl_uint) ordo_ceil_div(c->batch->count, SAMPLE);
    cl_uint       absent[2] = { 0, 0 };
    cl_mem        words = NULL;

    ORDO_TRY(ordo_call_scratch(c->call, sizeof absent, &words));
    ORDO_TRY(ordo_call_fill(c->call, words, 0, sizeof absent, 0));
    ORDO_TRY(ordo_links_count_absent(c->call, c->tree, c->batch, step, words));
    ORDO_TRY(ordo_call_read(c->call, words, 0, absent, sizeof absent));
    ordo_call_release(c->call, mark);
    const double share = absent[0] ? (double) absent[1] / absent[0] + (step > 1 ? SAMPLE_DOUBT / 1024.0 : 0) : 1;
    *out = share < 1 ? (size_t) (share * c->tally.stores) : c->tally.stores;
    return ORDO_OK;
}

/* Leaves for so many new keys, if they fall anywhere: two thirds of each leaf. But no more than can be needed: each leaf
 * may be full now, and is then split into two halves. */
static size_t leaves_for(const struct concurrent *c, size_t stores)
{
    const size_t leaves = c->state[LINKS_LEAVES], slots = ordo_links_slots(c->tree);
    const size_t needed = leaves + ordo_min_size(stores, leaves) + stores / (slots / 2) + 1;
    const size_t likely = (c->state[LINKS_ELEMENTS] + stores) / (slots * 11 / 14) + 64; /* and the reserve */

    return ordo_min_size(needed, likely > leaves ? likely : leaves);
}

/* Ahead of the first launch. Where all stores could be of new keys, and there is no room for these, a sample tells. */
static ordo_status grow_ahead(struct concurrent *c)
{
    size_t stores = c->tally.stores;

    if (leaves_for(c, stores) <= c->tree->pools.leaves)
        return ORDO_OK;
    if (c->state[LINKS_ELEMENTS] > 0)
        ORDO_TRY(estimate_new(c, &stores));
    return grow_to(c, leaves_for(c, stores));
}

/* Builds the tree anew if that gives an eighth of the leaves back; so many splits lie between two such times. */
static ordo_status reclaim(struct concurrent *c)
{
    const unsigned fill = ordo_links_update_fill(c->tree);
    const size_t   leaves = c->state[LINKS_LEAVES];
    const size_t   needed = ordo_links_nodes_over(c->tree, c->state[LINKS_ELEMENTS], fill);
    const int      mark = c->call->n_scratch;
    ordo_status    status;

    if (needed + leaves / 8 >= leaves)
        return ORDO_OK;
    status = ordo_links_begin(c->call, c->tree);
    if (status == ORDO_OK)
        status = ordo_links_rebuild(c->call, c->tree, NULL, fill);
    ORDO_TRY(or_drop(c, mark, status));
    return go_on(c);
}

/* After operations have starved, each of which needs one leaf at most. */
static ordo_status make_room(struct concurrent *c)
{
    const size_t had = c->tree->pools.leaves, more = c->state[LINKS_STARVED], taken = c->state[LINKS_LEAVES];

    ORDO_TRY(grow_to(c, had + (more > had / 4 ? had / 4 + 1 : more)));
    if (c->tree->pools.leaves > had)
        return ORDO_OK;
    ORDO_TRY(reclaim(c));
    c->final = c->state[LINKS_LEAVES] >= taken;
    return ORDO_OK;
}

/* ---- 3 at rest --------------------------------------------------------------------------------------------------- */

/* As in cl/dict/links/concurrent.cl. */
enum kind { UPDATES, FORWARD, BACKWARD, COUNTS, KINDS };

/* Listed operations; their kinds, at the next turn. */
struct listed {
    size_t count;
    cl_mem list, next;
};

/* Those of one kind, in scratch, as a batch: of each its number in the batch that they come from. What there is of the
 * rest depends on the kind. */
struct left {
    enum kind kind;
    cl_uint   taken[2]; /* these, others */
    cl_mem    where, codes, keys, values, his, before;
    cl_mem    found, keys_out, values_out, counts;
};

static ordo_status take_left(const struct concurrent *c, enum kind kind, size_t n, struct left *out)
{
    const size_t kb = c->tree->dict.key_bytes, vb = c->tree->dict.value_bytes;

    *out = (struct left) { .kind = kind };
    ORDO_TRY(ordo_call_scratch(c->call, n * sizeof(cl_uint), &out->where));
    ORDO_TRY(ordo_call_scratch(c->call, n * kb, &out->keys));
    if (kind == COUNTS) {
        ORDO_TRY(ordo_call_scratch(c->call, n * kb, &out->his));
        ORDO_TRY(ordo_call_scratch(c->call, n * sizeof(cl_uint), &out->before));
        return ordo_call_scratch(c->call, n * sizeof(cl_uint), &out->counts);
    }
    ORDO_TRY(ordo_call_scratch(c->call, n, &out->found));
    if (kind == UPDATES)
        ORDO_TRY(ordo_call_scratch(c->call, n, &out->codes));
    if (kind == UPDATES && vb)
        return ordo_call_scratch(c->call, n * vb, &out->values);
    if (kind == UPDATES)
        return ORDO_OK;
    ORDO_TRY(ordo_call_scratch(c->call, n * kb, &out->keys_out));
    return vb ? ordo_call_scratch(c->call, n * vb, &out->values_out) : ORDO_OK;
}

/* The others go to l->next. */
static ordo_status gather(const struct concurrent *c, const struct listed *l, struct left *left)
{
    const struct ordo_concurrent_batch *b = c->batch;
    const struct ordo_slice *const      in[] = { &b->codes, &b->his, &b->values, &b->rooms };
    const cl_uint                       n = (cl_uint) l->count, kind = left->kind;
    const cl_ulong                      room = b->range_capacity;
    struct ordo_args                    args = { .n = 0 };
    cl_mem                              taken = NULL;

    ORDO_TRY(ordo_call_scratch(c->call, sizeof left->taken, &taken));
    ORDO_TRY(ordo_call_fill(c->call, taken, 0, sizeof left->taken, 0));
    ORDO_ADD(&args, ORDO_ARG(l->list), ORDO_ARG(n), ORDO_ARG(kind));
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        ordo_args_slice(&args, in[i]);
    ORDO_ADD(&args, ORDO_ARG(room), ORDO_ARG(taken), ORDO_ARG(left->where), ORDO_ARG(left->codes), ORDO_ARG(left->keys),
             ORDO_ARG(left->values), ORDO_ARG(left->his), ORDO_ARG(left->before), ORDO_ARG(l->next));
    ORDO_TRY(run_beside(c, "links_gather", l->count, &args));
    return ordo_call_read(c->call, taken, 0, left->taken, sizeof left->taken);
}

static ordo_status scatter(struct concurrent *c, const struct left *left)
{
    const struct ordo_concurrent_batch *b = c->batch;
    const struct ordo_slice *const      in[] = { &b->codes, &b->rooms };
    const struct ordo_slice *const      out[] = { &b->found, &b->keys_out, &b->values_out, &b->counts, &b->outcomes };
    const cl_uint                       n = left->taken[0], tick = c->state[LINKS_TICK];
    const cl_ulong                      room = b->range_capacity;
    struct ordo_args                    args = { .n = 0 };

    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(left->where), ORDO_ARG(left->found), ORDO_ARG(left->keys_out),
             ORDO_ARG(left->values_out), ORDO_ARG(left->counts), ORDO_ARG(left->before));
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        ordo_args_slice(&args, in[i]);
    ORDO_ADD(&args, ORDO_ARG(room));
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        ordo_args_slice(&args, out[i]);
    ORDO_ADD(&args, ORDO_ARG(c->tree->history), ORDO_ARG(tick));
    ORDO_TRY(run_beside(c, "links_scatter", n, &args));
    c->state[LINKS_TICK] += n;
    return ORDO_OK;
}

/* The tree may still be in doubt, and is then checked first: a leaf that somebody has latched and left would otherwise be
 * taken for a sound one. */
static ordo_status do_left(const struct concurrent *c, const struct left *left)
{
    ordo_dict               *dict = &c->tree->dict;
    const size_t             n = left->taken[0];
    const struct ordo_batch  updates = { .codes = ordo_at(left->codes, 0),
                                         .keys = ordo_at(left->keys, 0),
                                         .values = ordo_at(left->values, 0),
                                         .count = n,
                                         .found = ordo_at(left->found, 0) };
    const struct ordo_counts counts = { ordo_at(left->keys, 0), ordo_at(left->his, 0), n, ordo_at(left->counts, 0) };
    const struct ordo_seeks  seeks = { left->kind == FORWARD ? ORDO_GE : ORDO_LE,
                                      ordo_at(left->keys, 0),
                                      n,
                                      ordo_at(left->keys_out, 0),
                                      ordo_at(left->values_out, 0),
                                      ordo_at(left->found, 0),
                                      0 };

    if (left->kind == UPDATES)
        return ordo_dict_apply_enqueue(dict, c->call, &updates, NULL);
    return left->kind == COUNTS ? ordo_links_count(dict, c->call, &counts) : ordo_links_seek(dict, c->call, &seeks);
}

/* Does those of a kind, and lists the others; *done: false, and nothing is changed, if there is no memory for it. An error where
 * a change came to an end half way: operations done once more would find what they stored themselves. */
static ordo_status finish_kind(struct concurrent *c, enum kind kind, struct listed *l, bool *done)
{
    const int      mark = c->call->n_scratch;
    const uint64_t rounds = c->tree->rounds;
    struct left    left;
    ordo_status    status = take_left(c, kind, l->count, &left);

    if (status == ORDO_OK)
        status = gather(c, l, &left);
    if (status == ORDO_OK && left.taken[0] > 0)
        status = do_left(c, &left);
    *done = status == ORDO_OK;
    if (status == ORDO_OK && left.taken[0] > 0) {
        ORDO_TRY(go_on(c));
        ORDO_TRY(scatter(c, &left));
        ORDO_TRY(set_tick(c, c->state[LINKS_TICK]));
        *l = (struct listed) { left.taken[1], l->next, l->list };
    }
    if (status == ORDO_OK)
        ordo_call_release(c->call, mark);
    c->half = status != ORDO_OK && c->tree->rounds != rounds;
    return c->half ? status : or_drop(c, mark, status);
}

static ordo_status finish_at_rest(struct concurrent *c, struct listed *l)
{
    for (int kind = 0; kind < KINDS && l->count > 0; kind++) {
        bool done = false;
        ORDO_TRY(finish_kind(c, (enum kind) kind, l, &done));
        if (!done && kind != UPDATES)
            c->far = QUERY_LEAVES_ALL;
    }
    return ORDO_OK;
}

/* ---- turns ------------------------------------------------------------------------------------------------------- */

/* One more turn for a list of operations, of which what gives up is listed in c->pending. */
static ordo_status finish_turn(struct concurrent *c, size_t turn, bool alone, size_t *count)
{
    struct listed l = { *count, c->pending, c->next };

    if (c->state[LINKS_STARVED] > 0)
        ORDO_TRY(make_room(c));
    if (c->state[LINKS_SPLITS_PENDING]) { /* after growth, which goes by the number of inner nodes as it was read */
        ORDO_TRY(ordo_links_rebuild_levels(c->call, c->tree, c->state));
        c->state[LINKS_SPLITS_PENDING] = 0;
    }
    if (turn >= TURNS_TOGETHER)
        ORDO_TRY(finish_at_rest(c, &l));
    *count = l.count;
    c->pending = l.next;
    c->next = l.list;
    if (l.count > 0)
        expect_changes(c);
    return launch_list(c, l.count, l.list, l.next, is_alone(c) || alone);
}

static ordo_status finish_operations(struct concurrent *c)
{
    size_t stuck = 0, launched = SIZE_MAX;

    for (size_t turn = 0;; turn++) {
        ORDO_TRY(read_state(c));
        ORDO_TRY(ordo_links_reclaim(c->call, c->tree, c->state));
        size_t count = c->state[LINKS_PENDING];
        if (count == 0)
            return ORDO_OK;
        stuck = count < launched || c->state[LINKS_MOVED] ? 0 : stuck + 1;
        if (stuck > TURNS_STUCK)
            return ORDO_FAIL(c->call->dev, ORDO_BROKEN,
                             "%zu operations come to no end: is a node latched that nobody holds?", count);
        ORDO_TRY(finish_turn(c, turn, stuck > 0, &count));
        launched = count;
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
    ORDO_TRY(run_beside(c, "links_tally", ordo_min_size(c->batch->count, (size_t) 1 << 18), &args));
    return ordo_call_read(c->call, words, 0, &c->tally, sizeof c->tally);
}

static ordo_status check_inputs(const struct concurrent *c)
{
    const struct ordo_concurrent_batch *b = c->batch;
    ordo_device                        *dev = c->call->dev;

    if (c->tree->dict.value_bytes && c->tally.stores && !b->values.mem)
        return ORDO_FAIL(dev, ORDO_INVALID, "the batch stores, but has no values");
    if (c->tally.scans && !b->his.mem)
        return ORDO_FAIL(dev, ORDO_INVALID, "the batch has counts or ranges, but no upper bounds");
    if (c->tally.ranges && !b->rooms.mem)
        return ORDO_FAIL(dev, ORDO_INVALID, "the batch has ranges, but no rooms");
    return ORDO_OK;
}

/* The first tick of a recorded history; those before are the finds'. */
static cl_uint first_tick(const struct concurrent *c)
{
    return c->tree->history ? (cl_uint) (2 * c->batch->count) : 0;
}

/* Lists for the batch, or for as large a part of it as there is memory for. */
static ordo_status take_lists(struct concurrent *c)
{
    const size_t most = ordo_min_size(WINDOW_MOST, ordo_device_facts(c->call->dev)->max_alloc_bytes / PENDING_BYTES);
    const int    mark = c->call->n_scratch;

    for (c->window = ordo_min_size(c->batch->count, most);; c->window /= 2) {
        ordo_status status = ordo_call_scratch(c->call, c->window * PENDING_BYTES, &c->pending);
        if (status == ORDO_OK)
            status = ordo_call_scratch(c->call, c->window * PENDING_BYTES, &c->next);
        if (or_without(status) != ORDO_OK || status == ORDO_OK || c->window <= WINDOW_LEAST)
            return status;
        ordo_call_release(c->call, mark);
    }
}

/* For all but finds: what there must be before anything is changed. */
static ordo_status prepare(struct concurrent *c)
{
    ORDO_TRY(take_lists(c));
    ORDO_TRY(read_state(c));
    ORDO_TRY(set_tick(c, first_tick(c)));
    return c->tally.stores > 0 ? grow_ahead(c) : ORDO_OK;
}

static ordo_status run_windows(struct concurrent *c)
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
static ordo_status end(struct concurrent *c, ordo_status status)
{
    if (status == ORDO_BROKEN || c->half || c->tree->rescue.mem || (status != ORDO_OK && read_state(c) != ORDO_OK))
        return status;
    const ordo_status reclaimed = ordo_links_reclaim(c->call, c->tree, c->state);
    if (reclaimed != ORDO_OK)
        return status == ORDO_OK ? reclaimed : status;
    if (c->state[LINKS_SPLITS_PENDING]) {
        ordo_status mended = ordo_links_rebuild_levels(c->call, c->tree, c->state);
        if (mended == ORDO_OK)
            mended = read_state(c); /* that took inner nodes, and give_back moves as many as it knows of */
        if (mended != ORDO_OK)
            return status == ORDO_OK ? mended : status;
    }
    c->tree->in_doubt = c->tree->in_doubt && or_without(status) != ORDO_OK;
    return status;
}

/* ---- what a batch leaves ----------------------------------------------------------------------------------------- */

/* Pools of no more leaves than this are not worth a thought. */
#define LEAVES_FEW 192

static bool is_roomy(const struct ordo_links *tree, const cl_uint state[LINKS_STATE_WORDS])
{
    const size_t elements = state[LINKS_ELEMENTS];
    return tree->pools.leaves > LEAVES_FEW + elements / (ordo_links_slots(tree) / 2) && tree->changes >= elements / 2;
}

/* Whether no more than two of seven leaves taken have merged into others, so that the pools have 1.4 times those in use. */
static bool is_mostly_live(const cl_uint state[LINKS_STATE_WORDS])
{
    const size_t dead = state[LINKS_DEAD];
    return dead <= LEAVES_FEW / 3 || dead * 7 <= (size_t) state[LINKS_LEAVES] * 2;
}

/* Gives back what the pools have too much. Without memory for it, tries again after as many changes. */
static ordo_status give_back(struct concurrent *c)
{
    struct ordo_links *tree = c->tree;
    const unsigned     fill = ordo_links_update_fill(tree);
    const size_t       needed = ordo_links_nodes_over(tree, c->state[LINKS_ELEMENTS], fill);

    tree->changes += (size_t) c->tally.stores + c->tally.erases;
    const bool dead = !is_mostly_live(c->state);
    if (!dead && !is_roomy(tree, c->state))
        return ORDO_OK;
    tree->changes = 0;
    const int mark = c->call->n_scratch;
    ordo_links_drop_list(tree); /* of as many leaves as there were */
    const ordo_status status = dead || needed + needed / 8 < c->state[LINKS_LEAVES]
                                   ? ordo_links_rebuild(c->call, tree, NULL, fill)
                                   : ordo_links_shrink(c->call, tree, c->state);
    return or_drop(c, mark, status);
}

static ordo_status run_others(struct concurrent *c)
{
    ORDO_TRY(prepare(c));
    ORDO_TRY(end(c, run_windows(c)));
    return give_back(c);
}

ordo_status ordo_links_apply_concurrent(ordo_dict *dict, struct ordo_call *call,
                                        const struct ordo_concurrent_batch *batch)
{
    struct ordo_links *tree = ordo_links_of(dict);
    struct concurrent  c = { .call = call, .tree = tree, .batch = batch, .far = QUERY_LEAVES };

    ORDO_TRY(take_tally(&c));
    ORDO_TRY(check_inputs(&c));
    ORDO_TRY(ordo_links_begin(call, tree));
    ORDO_TRY(ordo_links_check_room(call, tree, c.tally.stores));
    if (c.tally.finds > 0)
        ORDO_TRY(ordo_links_find_in_batch(call, tree, batch));
    return c.tally.finds < batch->count ? run_others(&c) : ORDO_OK;
}
