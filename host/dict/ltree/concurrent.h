/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ORDO_LTREE_CONCURRENT_H
#define ORDO_LTREE_CONCURRENT_H

#include "dict/ltree/ltree.h"

#include "dict/batch.h"

struct ordo_ltree_batch {
    struct ordo_call                   *call;
    struct ordo_ltree                  *tree;
    const struct ordo_concurrent_batch *batch;
    cl_uint                             tally[N_TALLIES];
    bool                                found_first;
    cl_mem                              subset; /* Indices of the operations to launch. NULL means all. */
    size_t                              count;
    cl_uint                             state[LTREE_STATE_WORDS];
    size_t                              window;
    cl_mem                              pending, next;
    int                                 mark;
    cl_uint                             far; /* A query gives up after it has passed this many leaves. */
    /* If 1, operations that need a new leaf are refused. */
    cl_uint final;
    bool    half; /* A change of the tree between two launches did not complete. */
};

#define ORDO_LTREE_QUERY_LEAVES ((cl_uint) 256)
/* value of `far` for queries that may pass any number of leaves */
#define ORDO_LTREE_ALL_LEAVES ((cl_uint) -1)

/* ---- concurrent_memory.c ----------------------------------------------------------------------------------------- */

/* Returns ORDO_OK if `status` means a lack of memory. Otherwise returns `status`. */
ordo_status ordo_ltree_or_without(ordo_status status);
/* Like ordo_ltree_or_without. After an error, also releases all scratch buffers of the call except the first `mark`. */
ordo_status ordo_ltree_or_drop(const struct ordo_ltree_batch *c, int mark, ordo_status status);

ordo_status ordo_ltree_clear_counters(const struct ordo_ltree_batch *c);
/* Sets the clock that gives operations their time stamps. Only tests use time stamps. */
ordo_status ordo_ltree_set_tick(const struct ordo_ltree_batch *c, cl_uint tick);
/* Prepares the next launch after a step that may have changed the tree. If the driver refused a part of that step,
 * completes it. If the tree has no leaf, creates one. */
ordo_status ordo_ltree_go_on(struct ordo_ltree_batch *c);

ordo_status ordo_ltree_take_lists(struct ordo_ltree_batch *c);
/* Returns whether `stores` more elements are likely to find free leaves. */
bool ordo_ltree_has_room(const struct ordo_ltree *tree, size_t stores);
/* Grows the pools before the first launch, so that stores find free leaves. */
ordo_status ordo_ltree_grow_ahead(struct ordo_ltree_batch *c);
/* Grows the pools by about a quarter, for operations that found no free leaf. If that fails, rebuilds the tree. If no
 * leaf is free even then, sets *lacks to true. */
ordo_status ordo_ltree_add_leaves(struct ordo_ltree_batch *c, bool *lacks);
/* Shrinks pools that are too large, if nothing fails. The batch must have ended. */
void ordo_ltree_fit_pools(const struct ordo_ltree_batch *c);

/* ---- leftover.c -------------------------------------------------------------------------------------------------- */

struct ordo_ltree_listed {
    size_t count;
    cl_mem list, next;
};

/* Counts operations by kind in the state of the tree, which must not be empty. */
ordo_status ordo_ltree_launch_tally(const struct ordo_ltree_batch *c);
/* Reads the state and the counts into c->state and c->tally. Waits for the device. */
ordo_status ordo_ltree_read_tally(struct ordo_ltree_batch *c);
ordo_status ordo_ltree_list_others(struct ordo_ltree_batch *c);
/* Executes the listed operations in key order. Operations that lack memory stay in l->list. Sets *updated to true if at
 * least an eighth of the updates are done. */
ordo_status ordo_ltree_finish_at_rest(struct ordo_ltree_batch *c, struct ordo_ltree_listed *l, bool *updated);

#endif
