/* SPDX-License-Identifier: Apache-2.0 */
/* A concurrent batch on a linked tree, and the host's steps between its launches. */
#ifndef ORDO_LTREE_CONCURRENT_H
#define ORDO_LTREE_CONCURRENT_H

#include "dict/ltree/ltree.h"

#include "dict/batch.h"

struct ordo_ltree_batch {
    struct ordo_call                   *call;
    struct ordo_ltree                  *tree;
    const struct ordo_concurrent_batch *batch;
    cl_uint                             tally[N_TALLIES];
    bool                                found_first; /* Finds ran before the launches. */
    cl_mem                              subset;      /* indices of the operations to launch; NULL: all */
    size_t                              count;
    cl_uint                             state[LTREE_STATE_WORDS];
    size_t                              window; /* capacity of each list, in operations */
    cl_mem                              pending, next;
    int                                 mark; /* number of scratch buffers before the lists */
    cl_uint                             far;  /* maximum leaves that a query passes */
    /* If 1, operations that need a new leaf are refused. */
    cl_uint final;
    bool    half; /* A change of the tree between two launches did not complete. */
};

/* A concurrent query gives up after this many leaves. */
#define ORDO_LTREE_QUERY_LEAVES ((cl_uint) 256)
/* for queries that may pass any number of leaves */
#define ORDO_LTREE_ALL_LEAVES ((cl_uint) -1)

/* ---- concurrent_memory.c ----------------------------------------------------------------------------------------- */

/* Turns a lack of memory into ORDO_OK, so that an optional step without memory does not end the batch. */
ordo_status ordo_ltree_or_without(ordo_status status);
/* Like ordo_ltree_or_without. After an error, also releases scratch buffers from number `mark` on. */
ordo_status ordo_ltree_or_drop(const struct ordo_ltree_batch *c, int mark, ordo_status status);

ordo_status ordo_ltree_clear_counters(const struct ordo_ltree_batch *c);
/* Reads the state to c->state, then clears the device's counters. */
ordo_status ordo_ltree_batch_state(struct ordo_ltree_batch *c);
/* Sets the logical clock. Only tests that record a history or inject faults use it. */
ordo_status ordo_ltree_set_tick(const struct ordo_ltree_batch *c, cl_uint tick);
/* Continues after a step that may have changed the tree. Completes a build or update that the driver refused, or
 * creates the first leaf. Restores the clock and reads the state. */
ordo_status ordo_ltree_go_on(struct ordo_ltree_batch *c);

/* Allocates the lists of operations that give up, and sets c->window. */
ordo_status ordo_ltree_take_lists(struct ordo_ltree_batch *c);
/* Grows the pools before the first launch, so that stores find free leaves. If memory is short, shortens the lists. */
ordo_status ordo_ltree_grow_ahead(struct ordo_ltree_batch *c);
/* Grows the pools by at most about a quarter, for operations that found no free leaf. If that fails, rebuilds the tree.
 * If neither frees a leaf, sets *lacks to true. */
ordo_status ordo_ltree_add_leaves(struct ordo_ltree_batch *c, bool *lacks);
/* Shrinks pools that are too large. The batch must have ended. */
ordo_status ordo_ltree_fit_pools(struct ordo_ltree_batch *c);

/* ---- leftover.c -------------------------------------------------------------------------------------------------- */

/* Operations that gave up, and memory for the next list. */
struct ordo_ltree_listed {
    size_t count;
    cl_mem list, next;
};

/* Counts operations by kind in c->tally, and reads the state of the tree, which must have nodes. Waits. */
ordo_status ordo_ltree_take_tally(struct ordo_ltree_batch *c);
/* Makes c->subset the list of the c->count operations that are neither finds nor contains. */
ordo_status ordo_ltree_list_others(struct ordo_ltree_batch *c);
/* Executes the listed operations as batches in key order. If memory is short, some stay in l->list. *updated becomes
 * true if at least an eighth of the updates are done. */
ordo_status ordo_ltree_finish_at_rest(struct ordo_ltree_batch *c, struct ordo_ltree_listed *l, bool *updated);

#endif
