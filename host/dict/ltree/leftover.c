/* SPDX-License-Identifier: Apache-2.0 */
/* Executes concurrent operations that gave up, while no other kernel changes the tree. */
#include "dict/ltree/concurrent.h"

static struct ordo_launch kernel(const struct ordo_ltree_batch *c, const char *name, size_t items)
{
    struct ordo_launch launch =
        ordo_ltree_kernel(c->tree, "dict/ltree/leftover.cl", name, ordo_ltree_flat(c->tree), items);
    launch.groups = ordo_ceil_div(items, launch.group);
    return launch;
}

#define TALLY_ITEMS ((size_t) 1 << 18)

ordo_status ordo_ltree_launch_tally(const struct ordo_ltree_batch *c)
{
    const struct ordo_launch launch = kernel(c, "ltree_tally", ordo_min_size(c->batch->count, TALLY_ITEMS));
    struct ordo_args         args = { .n = 0 };

    ORDO_TRY(ordo_ltree_clear_counters(c));
    ordo_args_slice(&args, &c->batch->codes);
    ORDO_ADD(&args, ORDO_ARG_UINT(c->batch->count), ORDO_ARG(c->tree->state));
    return ordo_call_launch(c->call, &launch, &args);
}

ordo_status ordo_ltree_read_tally(struct ordo_ltree_batch *c)
{
    ORDO_TRY(ordo_ltree_read_state(c->call, c->tree, c->state));
    memcpy(c->tally, &c->state[LTREE_TALLY], sizeof c->tally);
    return ORDO_OK;
}

ordo_status ordo_ltree_list_others(struct ordo_ltree_batch *c)
{
    const size_t             n = c->batch->count;
    const struct ordo_launch launch = kernel(c, "ltree_list_others", ordo_ceil_div(n, LTREE_LIST_ITEMS));
    struct ordo_args         args = { .n = 0 };
    cl_mem                   n_listed = NULL;

    ORDO_TRY(ordo_call_scratch(c->call, c->count * sizeof(cl_uint), &c->subset));
    ORDO_TRY(ordo_call_scratch(c->call, sizeof(cl_uint), &n_listed));
    ORDO_TRY(ordo_call_fill(c->call, n_listed, 0, sizeof(cl_uint), 0));
    ordo_args_slice(&args, &c->batch->codes);
    ORDO_ADD(&args, ORDO_ARG_UINT(n), ORDO_ARG(c->subset), ORDO_ARG(n_listed));
    return ordo_call_launch(c->call, &launch, &args);
}

/* Copies of the operations of one kind that gave up. where[p] is the index of copy p in the batch. */
struct left {
    enum ltree_left kind;
    cl_uint         taken[2]; /* taken[0]: number of copied operations; taken[1]: number of operations of other kinds */
    cl_mem          where, codes, keys, values, hi, before;
    cl_mem          found, keys_out, values_out, counts;
};

static ordo_status take_left(const struct ordo_ltree_batch *c, enum ltree_left kind, size_t n, struct left *out)
{
    const size_t kb = c->tree->dict.key_bytes, vb = c->tree->dict.value_bytes;

    *out = (struct left) { .kind = kind };
    ORDO_TRY(ordo_call_scratch(c->call, n * sizeof(cl_uint), &out->where));
    ORDO_TRY(ordo_call_scratch(c->call, n * kb, &out->keys));
    if (kind == LEFT_COUNTS) {
        ORDO_TRY(ordo_call_scratch(c->call, n * kb, &out->hi));
        ORDO_TRY(ordo_call_scratch(c->call, n * sizeof(cl_uint), &out->before));
        return ordo_call_scratch(c->call, n * sizeof(cl_uint), &out->counts);
    }
    ORDO_TRY(ordo_call_scratch(c->call, n, &out->found));
    if (kind == LEFT_UPDATES)
        ORDO_TRY(ordo_call_scratch(c->call, n, &out->codes));
    if (kind == LEFT_UPDATES && vb)
        return ordo_call_scratch(c->call, n * vb, &out->values);
    if (kind == LEFT_UPDATES)
        return ORDO_OK;
    if (kind != LEFT_FINDS)
        ORDO_TRY(ordo_call_scratch(c->call, n * kb, &out->keys_out));
    return vb ? ordo_call_scratch(c->call, n * vb, &out->values_out) : ORDO_OK;
}

static ordo_status gather(const struct ordo_ltree_batch *c, const struct ordo_ltree_listed *l, size_t most,
                          struct left *left)
{
    const struct ordo_launch            launch = kernel(c, "ltree_gather", l->count);
    const struct ordo_concurrent_batch *b = c->batch;
    const struct ordo_slice *const      in[] = { &b->codes, &b->hi, &b->values, &b->rooms };
    const cl_ulong                      capacity = b->range_capacity;
    struct ordo_args                    args = { .n = 0 };
    cl_mem                              taken = NULL;

    ORDO_TRY(ordo_call_scratch(c->call, sizeof left->taken, &taken));
    ORDO_TRY(ordo_call_fill(c->call, taken, 0, sizeof left->taken, 0));
    ORDO_ADD(&args, ORDO_ARG(l->list), ORDO_ARG_UINT(l->count), ORDO_ARG_UINT(left->kind), ORDO_ARG_UINT(most));
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        ordo_args_slice(&args, in[i]);
    ORDO_ADD(&args, ORDO_ARG(capacity), ORDO_ARG(taken), ORDO_ARG(left->where), ORDO_ARG(left->codes),
             ORDO_ARG(left->keys), ORDO_ARG(left->values), ORDO_ARG(left->hi), ORDO_ARG(left->before),
             ORDO_ARG(l->next));
    ORDO_TRY(ordo_call_launch(c->call, &launch, &args));
    ORDO_TRY(ordo_call_read(c->call, taken, 0, left->taken, sizeof left->taken));
    left->taken[0] = (cl_uint) ordo_min_size(left->taken[0], most);
    return ORDO_OK;
}

static ordo_status scatter(struct ordo_ltree_batch *c, const struct left *left)
{
    const struct ordo_concurrent_batch *b = c->batch;
    const struct ordo_slice *const      in[] = { &b->codes, &b->rooms };
    const struct ordo_slice *const      out[] = { &b->found, &b->keys_out, &b->values_out, &b->counts, &b->outcomes };
    const cl_uint                       n = left->taken[0];
    const struct ordo_launch            launch = kernel(c, "ltree_scatter", n);
    const cl_ulong                      capacity = b->range_capacity;
    struct ordo_args                    args = { .n = 0 };

    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(left->where), ORDO_ARG(left->found), ORDO_ARG(left->keys_out),
             ORDO_ARG(left->values_out), ORDO_ARG(left->counts), ORDO_ARG(left->before));
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        ordo_args_slice(&args, in[i]);
    ORDO_ADD(&args, ORDO_ARG(capacity));
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        ordo_args_slice(&args, out[i]);
    ORDO_ADD(&args, ORDO_ARG(c->tree->history), ORDO_ARG_UINT(c->state[LTREE_TICK]));
    ORDO_TRY(ordo_call_launch(c->call, &launch, &args));
    c->state[LTREE_TICK] += n;
    return ORDO_OK;
}

static ordo_status do_left(const struct ordo_ltree_batch *c, const struct left *left)
{
    ordo_dict               *dict = &c->tree->dict;
    const size_t             n = left->taken[0];
    const struct ordo_batch  updates = { .codes = ordo_at(left->codes, 0),
                                         .keys = ordo_at(left->keys, 0),
                                         .values = ordo_at(left->values, 0),
                                         .count = n,
                                         .found = ordo_at(left->found, 0) };
    const struct ordo_counts counts = { ordo_at(left->keys, 0), ordo_at(left->hi, 0), n, ordo_at(left->counts, 0) };
    const struct ordo_finds  finds = { .keys = ordo_at(left->keys, 0),
                                       .count = n,
                                       .values_out = ordo_at(left->values_out, 0),
                                       .found = ordo_at(left->found, 0) };
    const struct ordo_seeks  seeks = { left->kind == LEFT_FORWARD ? ORDO_GE : ORDO_LE,
                                      ordo_at(left->keys, 0),
                                      n,
                                      ordo_at(left->keys_out, 0),
                                      ordo_at(left->values_out, 0),
                                      ordo_at(left->found, 0),
                                      0 };

    if (left->kind == LEFT_UPDATES)
        return ordo_dict_apply_enqueue(dict, c->call, &updates, NULL);
    if (left->kind == LEFT_FINDS)
        return ordo_ltree_find(dict, c->call, &finds);
    return left->kind == LEFT_COUNTS ? ordo_ltree_count(dict, c->call, &counts)
                                     : ordo_ltree_seek(dict, c->call, &seeks);
}

/* Checks the tree first, because a launch that ended early may have left latches. */
static ordo_status check_and_do(struct ordo_ltree_batch *c, const struct left *left)
{
    const uint64_t rounds = c->tree->rounds;

    ORDO_TRY(ordo_ltree_begin(c->call, c->tree));
    const ordo_status status = do_left(c, left);
    /* ordo_ltree_begin has cleared `unchecked`, so only an incomplete change in do_left can have set it. */
    c->half = c->tree->unchecked || (status != ORDO_OK && c->tree->rounds != rounds);
    return status;
}

static ordo_status end_left(struct ordo_ltree_batch *c, const struct left *left)
{
    ORDO_TRY(ordo_ltree_go_on(c));
    c->half = false;
    ORDO_TRY(scatter(c, left));
    return ordo_ltree_set_tick(c, c->state[LTREE_TICK]);
}

/* Executes up to `most` listed operations of one kind, or sets *done to false if memory is short. After the first
 * change of the tree, any error ends the batch. */
static ordo_status finish_some(struct ordo_ltree_batch *c, enum ltree_left kind, size_t most,
                               struct ordo_ltree_listed *l, bool *done)
{
    const int   mark = c->call->n_scratch;
    struct left left;
    ordo_status status = take_left(c, kind, most, &left);

    if (status == ORDO_OK)
        status = gather(c, l, most, &left);
    if (status == ORDO_OK && left.taken[0] > 0)
        status = check_and_do(c, &left);
    *done = status == ORDO_OK;
    if (!*done)
        return c->half ? status : ordo_ltree_or_drop(c, mark, status);
    if (left.taken[0] > 0) {
        ORDO_TRY(end_left(c, &left));
        *l = (struct ordo_ltree_listed) { left.taken[1], l->next, l->list };
    }
    ordo_call_release(c->call, mark);
    return ORDO_OK;
}

#define PARTS_MAX 8

static ordo_status finish_updates(struct ordo_ltree_batch *c, struct ordo_ltree_listed *l, bool *updated)
{
    const size_t count = l->count;
    *updated = false;
    for (size_t parts = 1; parts <= PARTS_MAX && !*updated; parts *= 2)
        ORDO_TRY(finish_some(c, LEFT_UPDATES, ordo_ceil_div(count, parts), l, updated));
    return ORDO_OK;
}

ordo_status ordo_ltree_finish_at_rest(struct ordo_ltree_batch *c, struct ordo_ltree_listed *l, bool *updated)
{
    ORDO_TRY(finish_updates(c, l, updated));
    for (int kind = LEFT_UPDATES + 1; kind < LEFT_RANGES && l->count > 0; kind++) {
        bool done = false;
        ORDO_TRY(finish_some(c, (enum ltree_left) kind, l->count, l, &done));
        if (!done)
            c->far = ORDO_LTREE_ALL_LEAVES;
    }
    return ORDO_OK;
}
