/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a concurrent batch on a linked tree. "At rest" means: between launches. */
#ifndef ORDO_LTREE_CONCURRENT_H
#define ORDO_LTREE_CONCURRENT_H

#include "dict/ltree/ltree.h"

#include "dict/batch.h"

struct ordo_ltree_batch {
    struct ordo_call                   *call;
    struct ordo_ltree                  *tree;
    const struct ordo_concurrent_batch *batch;
    cl_uint                             tally[N_TALLIES];
    cl_uint                             state[LTREE_STATE_WORDS];
    size_t                              window; /* capacity of each list, in operations */
    cl_mem                              pending, next;
    int                                 mark; /* position in the call's scratch before the lists */
    cl_uint                             far;  /* maximum leaves that a query passes in a launch */
    /* 1: operations that need a new leaf are refused */
    cl_uint final;
    bool    half; /* a change at rest was not completed */
};

/* Maximum leaves that a concurrent query passes before it gives up. ALL_LEAVES is for queries that could not be done at
 * rest. */
#define ORDO_LTREE_QUERY_LEAVES ((cl_uint) 256)
#define ORDO_LTREE_ALL_LEAVES   ((cl_uint) -1)

/* ---- concurrent_memory.c ----------------------------------------------------------------------------------------- */

/* Returns ORDO_OK if `status` is a lack of memory, which some drivers report as host memory; else `status`. Work
 * between launches is optional. */
ordo_status ordo_ltree_or_without(ordo_status status);
/* Like ordo_ltree_or_without. After an error also abandons the scratch taken since `mark`, whose counters may be
 * dirty. */
ordo_status ordo_ltree_or_drop(const struct ordo_ltree_batch *c, int mark, ordo_status status);

/* Reads the state to c->state, and resets its counts of operations that gave up. */
ordo_status ordo_ltree_batch_state(struct ordo_ltree_batch *c);
ordo_status ordo_ltree_set_tick(const struct ordo_ltree_batch *c, cl_uint tick);
/* Call this after a possible rebuild. Creates the first leaf if the tree has no nodes, restores the tick of the history
 * (LTREE_TICK), and reads the state. */
ordo_status ordo_ltree_go_on(struct ordo_ltree_batch *c);

/* Allocates the two lists of operations that give up (c->pending, c->next): for all operations, or for as many as fit
 * (c->window). */
ordo_status ordo_ltree_take_lists(struct ordo_ltree_batch *c);
/* Grows the pools before the first launch, so that the batch's stores find free leaves. If the pools are too small for
 * only new keys, estimates the number of new keys from a sample. If memory is short, shortens the lists. */
ordo_status ordo_ltree_grow_ahead(struct ordo_ltree_batch *c);
/* Makes a free leaf for each operation that starved (gave up for lack of a leaf), by growth or a rebuild. *lacks:
 * whether it made none. */
ordo_status ordo_ltree_add_leaves(struct ordo_ltree_batch *c, bool *lacks);
/* Shrinks pools that are too large. If memory is short, leaves that to a later batch. */
ordo_status ordo_ltree_fit_pools(struct ordo_ltree_batch *c);

/* ---- leftover.c -------------------------------------------------------------------------------------------------- */

/* A list of operations that gave up, and memory for the next list. */
struct ordo_ltree_listed {
    size_t count;
    cl_mem list, next;
};

/* Counts the batch's operations by kind in c->tally. Waits for the device. */
ordo_status ordo_ltree_take_tally(struct ordo_ltree_batch *c);
/* Does the listed operations at rest, as batches in key order. Operations for which memory is short stay listed in
 * l->list. *updated: whether it did an eighth of the updates or more. */
ordo_status ordo_ltree_finish_at_rest(struct ordo_ltree_batch *c, struct ordo_ltree_listed *l, bool *updated);

#endif
