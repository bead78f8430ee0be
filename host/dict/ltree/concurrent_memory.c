/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/ltree/concurrent.h"

ordo_status ordo_ltree_or_without(ordo_status status)
{
    return ordo_lacks_memory(status) || status == ORDO_NO_HOST_MEMORY ? ORDO_OK : status;
}

ordo_status ordo_ltree_or_drop(const struct ordo_ltree_batch *c, int mark, ordo_status status)
{
    if (status != ORDO_OK)
        ordo_call_abandon(c->call, mark);
    return ordo_ltree_or_without(status);
}

ordo_status ordo_ltree_clear_counters(const struct ordo_ltree_batch *c)
{
    return ordo_call_fill(c->call, c->tree->state, LTREE_PENDING * sizeof(cl_uint), LTREE_COUNTERS * sizeof(cl_uint),
                          0);
}

ordo_status ordo_ltree_set_tick(const struct ordo_ltree_batch *c, cl_uint tick)
{
    if (!c->tree->history && !c->tree->faults)
        return ORDO_OK;
    return ordo_call_fill(c->call, c->tree->state, LTREE_TICK * sizeof(cl_uint), sizeof(cl_uint), tick);
}

ordo_status ordo_ltree_go_on(struct ordo_ltree_batch *c)
{
    const cl_uint tick = c->state[LTREE_TICK];
    if (!ordo_ltree_has_nodes(c->tree) || c->tree->rescue.mem || c->tree->unchecked)
        ORDO_TRY(ordo_ltree_begin(c->call, c->tree));
    ORDO_TRY(ordo_ltree_set_tick(c, tick));
    ORDO_TRY(ordo_ltree_read_state(c->call, c->tree, c->state));
    c->state[LTREE_TICK] = tick;
    return ORDO_OK;
}

#define WINDOW_MIN ((size_t) 1 << 10)
#define WINDOW_MAX ((size_t) 1 << 24)

static ordo_status take_lists(struct ordo_ltree_batch *c, size_t most)
{
    const size_t each = LTREE_PENDED_BYTES(c->tree->dict.key_bytes);

    for (c->window = most;; c->window /= 2) {
        ordo_status status = ordo_call_scratch(c->call, c->window * each, &c->pending);
        if (status == ORDO_OK)
            status = ordo_call_scratch(c->call, c->window * each, &c->next);
        if (ordo_ltree_or_without(status) != ORDO_OK || status == ORDO_OK || c->window <= WINDOW_MIN)
            return status;
        ordo_call_release(c->call, c->mark);
    }
}

ordo_status ordo_ltree_take_lists(struct ordo_ltree_batch *c)
{
    const size_t each = LTREE_PENDED_BYTES(c->tree->dict.key_bytes);
    const size_t most = ordo_device_facts(c->call->dev)->max_alloc_bytes / each;

    c->mark = c->call->n_scratch;
    return take_lists(c, ordo_min_size(c->count, ordo_min_size(WINDOW_MAX, most)));
}

static ordo_status grow_to(struct ordo_ltree_batch *c, size_t leaves)
{
    const size_t had = c->tree->pools.leaves;

    leaves = ordo_min_size(leaves, ordo_ltree_leaves_allowed(c->tree, c->state[LTREE_DEAD]));
    while (leaves > had) {
        const ordo_status status = ordo_ltree_reserve(c->call, c->tree, c->state, leaves);
        if (status == ORDO_OK || ordo_ltree_or_without(status) != ORDO_OK)
            return status;
        leaves = had + (leaves - had) / 2;
    }
    return ORDO_OK;
}

#define SAMPLE ((size_t) 1 << 14)
/* Safety margin, in 1/1024, of the estimated fraction of new keys. */
#define SAMPLE_DOUBT 4

static ordo_status estimate_new(struct ordo_ltree_batch *c, size_t *out)
{
    const int     mark = c->call->n_scratch;
    const cl_uint step = (cl_uint) ordo_ceil_div(c->batch->count, SAMPLE);
    cl_uint       absent[2] = { 0, 0 };
    cl_mem        words = NULL;

    ORDO_TRY(ordo_call_scratch(c->call, sizeof absent, &words));
    ORDO_TRY(ordo_call_fill(c->call, words, 0, sizeof absent, 0));
    ORDO_TRY(ordo_ltree_count_absent(c->call, c->tree, c->batch, step, words));
    ORDO_TRY(ordo_call_read(c->call, words, 0, absent, sizeof absent));
    ordo_call_release(c->call, mark);
    const double share = absent[0] ? (double) absent[1] / absent[0] + (step > 1 ? SAMPLE_DOUBT / 1024.0 : 0) : 1;
    *out = share < 1 ? (size_t) (share * c->tally[TALLY_STORES]) : c->tally[TALLY_STORES];
    return ORDO_OK;
}

/* Estimates the number of leaves after `stores` new keys: the expected number for random keys, but at most the worst
 * case. */
static size_t leaves_after(const struct ordo_ltree *tree, size_t leaves, size_t elements, size_t stores)
{
    const size_t slots = ordo_ltree_slots(tree);
    const size_t needed = leaves + ordo_min_size(stores, leaves) + stores / (slots / 2) + 1;
    const size_t likely = (elements + stores) / (slots * 11 / 14) + 64;

    return ordo_min_size(needed, likely > leaves ? likely : leaves);
}

static size_t leaves_for(const struct ordo_ltree_batch *c, size_t stores)
{
    return leaves_after(c->tree, c->state[LTREE_LEAVES], c->state[LTREE_ELEMENTS], stores);
}

bool ordo_ltree_has_room(const struct ordo_ltree *tree, size_t stores)
{
    return leaves_after(tree, tree->leaves_max, tree->elements_max, stores) <= tree->pools.leaves;
}

ordo_status ordo_ltree_grow_ahead(struct ordo_ltree_batch *c)
{
    size_t      stores = c->tally[TALLY_STORES];
    ordo_status status;

    if (leaves_for(c, stores) <= c->tree->pools.leaves)
        return ORDO_OK;
    if (c->state[LTREE_ELEMENTS] > 0)
        ORDO_TRY(estimate_new(c, &stores));
    const size_t leaves =
        ordo_min_size(leaves_for(c, stores), ordo_ltree_leaves_allowed(c->tree, c->state[LTREE_DEAD]));
    while ((status = ordo_ltree_reserve(c->call, c->tree, c->state, leaves)) != ORDO_OK &&
           ordo_ltree_or_without(status) == ORDO_OK && c->window > WINDOW_MIN) {
        ordo_call_release(c->call, c->mark);
        ORDO_TRY(take_lists(c, c->window / 4));
    }
    return status == ORDO_OK || ordo_ltree_or_without(status) != ORDO_OK ? status : grow_to(c, leaves);
}

static ordo_status reclaim(struct ordo_ltree_batch *c)
{
    const unsigned fill = ordo_ltree_update_fill(c->tree);
    const size_t   leaves = c->state[LTREE_LEAVES];
    const size_t   needed = ordo_ltree_nodes_over(c->tree, c->state[LTREE_ELEMENTS], fill);
    const int      mark = c->call->n_scratch;
    ordo_status    status;

    if (needed + leaves / 8 >= leaves)
        return ORDO_OK;
    status = ordo_ltree_begin(c->call, c->tree);
    if (status == ORDO_OK)
        status = ordo_ltree_rebuild(c->call, c->tree, NULL, fill);
    ORDO_TRY(ordo_ltree_or_drop(c, mark, status));
    return ordo_ltree_go_on(c);
}

ordo_status ordo_ltree_add_leaves(struct ordo_ltree_batch *c, bool *lacks)
{
    const size_t had = c->tree->pools.leaves, more = c->state[LTREE_STARVED], taken = c->state[LTREE_LEAVES];

    *lacks = false;
    ORDO_TRY(grow_to(c, had + (more > had / 4 ? had / 4 + 1 : more)));
    if (c->tree->pools.leaves > had)
        return ORDO_OK;
    ORDO_TRY(reclaim(c));
    *lacks = c->state[LTREE_LEAVES] >= taken;
    return ORDO_OK;
}

/* With at most this many leaves, pools are not shrunk. */
#define LEAVES_FEW 192

static bool is_mostly_unused(const struct ordo_ltree *tree, const cl_uint state[LTREE_STATE_WORDS])
{
    const size_t elements = state[LTREE_ELEMENTS];
    return tree->pools.leaves > LEAVES_FEW + elements / (ordo_ltree_slots(tree) / 2) && tree->changes >= elements / 2;
}

static bool is_mostly_live(const cl_uint state[LTREE_STATE_WORDS])
{
    const size_t dead = state[LTREE_DEAD];
    return dead <= LEAVES_FEW / 3 || dead * 7 <= (size_t) state[LTREE_LEAVES] * 2;
}

void ordo_ltree_fit_pools(const struct ordo_ltree_batch *c)
{
    struct ordo_ltree *tree = c->tree;
    const unsigned     fill = ordo_ltree_update_fill(tree);
    const size_t       needed = ordo_ltree_nodes_over(tree, c->state[LTREE_ELEMENTS], fill);

    tree->changes += (size_t) c->tally[TALLY_STORES] + c->tally[TALLY_ERASES];
    const bool dead = !is_mostly_live(c->state);
    if (!dead && !is_mostly_unused(tree, c->state))
        return;
    tree->changes = 0;
    const int mark = c->call->n_scratch;
    ordo_ltree_drop_list(tree);
    const ordo_status status = dead || needed + needed / 8 < c->state[LTREE_LEAVES]
                                   ? ordo_ltree_rebuild(c->call, tree, NULL, fill)
                                   : ordo_ltree_shrink(c->call, tree, c->state);
    if (status != ORDO_OK)
        ordo_call_abandon(c->call, mark);
}
