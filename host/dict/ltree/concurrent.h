/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a concurrent batch on a linked tree, and the host's steps between its launches. */
#ifndef ORDO_LTREE_CONCURRENT_H
#define ORDO_LTREE_CONCURRENT_H

#include "dict/ltree/ltree.h"

#include "dict/batch.h"

struct ordo_ltree_batch {
    struct ordo_call                   *call;
    struct ordo_ltree                  *tree;
    const struct ordo_concurrent_batch *batch;
    cl_uint                             tally[N_TALLIES];
    bool                                found_first; /* True if the finds ran before the launches. */
    cl_uint                             state[LTREE_STATE_WORDS];
    size_t                              window; /* Capacity of each list, in operations. */
    cl_mem                              pending, next;
    int                                 mark; /* Number of the call's scratch buffers before the lists. */
    cl_uint                             far;  /* Maximum leaves that a query passes. */
    /* 1 if operations that need a new leaf are refused. */
    cl_uint final;
    bool    half; /* True if a change of the tree between two launches did not complete. */
};

/* Maximum leaves that a concurrent query passes before it gives up. */
#define ORDO_LTREE_QUERY_LEAVES ((cl_uint) 256)
/* Value of `far` if a query may pass any number of leaves. */
#define ORDO_LTREE_ALL_LEAVES ((cl_uint) -1)

/* ---- concurrent_memory.c ----------------------------------------------------------------------------------------- */

/* Returns ORDO_OK if `status` is a lack of memory, else `status`. So an optional step that lacks memory does not end
 * the batch. */
ordo_status ordo_ltree_or_without(ordo_status status);
/* Like ordo_ltree_or_without. After any error also releases the scratch buffers from number `mark` on
 * (ordo_call_abandon). */
ordo_status ordo_ltree_or_drop(const struct ordo_ltree_batch *c, int mark, ordo_status status);

/* Sets the device's counters (LTREE_PENDING and the words after it) to 0. */
ordo_status ordo_ltree_clear_counters(const struct ordo_ltree_batch *c);
/* Reads the tree's state to c->state, and sets the device's counters to 0. */
ordo_status ordo_ltree_batch_state(struct ordo_ltree_batch *c);
/* Sets the device's tick (logical clock). Does nothing unless a test records a history or injects faults, because no
 * other kernel uses the tick. */
ordo_status ordo_ltree_set_tick(const struct ordo_ltree_batch *c, cl_uint tick);
/* Continues a batch after a step that may have changed the tree. Completes a build or an update of levels that the
 * driver has refused, or creates the first leaf. Restores the tick (a time stamp for tests), and reads the state. */
ordo_status ordo_ltree_go_on(struct ordo_ltree_batch *c);

/* Allocates the lists c->pending and c->next of operations that give up. Sets c->window to their capacity. */
ordo_status ordo_ltree_take_lists(struct ordo_ltree_batch *c);
/* Grows the pools of leaves before the first launch, so that the batch's stores find free leaves. If memory is short,
 * frees some by shorter lists c->pending and c->next. */
ordo_status ordo_ltree_grow_ahead(struct ordo_ltree_batch *c);
/* Adds leaves for operations that starve (find no free leaf): grows the pools by at most about a quarter or, if that
 * fails, rebuilds the tree. Sets *lacks to true if neither frees a leaf. */
ordo_status ordo_ltree_add_leaves(struct ordo_ltree_batch *c, bool *lacks);
/* Shrinks pools that are too large, if memory allows. The batch must have ended, because records of unfinished
 * operations may name emptied leaves. */
ordo_status ordo_ltree_fit_pools(struct ordo_ltree_batch *c);

/* ---- leftover.c -------------------------------------------------------------------------------------------------- */

/* A list of operations that gave up, and memory for the next list. */
struct ordo_ltree_listed {
    size_t count;
    cl_mem list, next;
};

/* Sets c->tally to the number of operations of each kind (enum ltree_tally), and reads the tree's state to c->state.
 * The tree must have nodes. Waits for the device. */
ordo_status ordo_ltree_take_tally(struct ordo_ltree_batch *c);
/* Executes the listed operations between launches, as batches in key order. If memory is short, some stay in l->list.
 * Sets *updated to true if at least an eighth of the updates are done. */
ordo_status ordo_ltree_finish_at_rest(struct ordo_ltree_batch *c, struct ordo_ltree_listed *l, bool *updated);

#endif
