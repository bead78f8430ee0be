/* SPDX-License-Identifier: Apache-2.0 */
/* A concurrent batch on a linked tree, shared by concurrent.c, concurrent_memory.c and leftover.c. */
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
    size_t                              window; /* operations that each of the lists has room for */
    cl_mem                              pending, next;
    int                                 mark;  /* of the call's scratch, before the lists */
    cl_uint                             far;   /* leaves that a query goes through in a launch */
    cl_uint                             final; /* there are no more leaves to be had */
    bool                                half;  /* a change at rest was begun, and not seen through */
};

/* Leaves that a query goes through beside others; where it cannot be done at rest, only the work-item's steps end it. */
#define ORDO_LTREE_QUERY_LEAVES     ((cl_uint) 256)
#define ORDO_LTREE_QUERY_LEAVES_ALL ((cl_uint) -1)

/* ---- concurrent_memory.c ----------------------------------------------------------------------------------------- */

/* ORDO_OK for a lack of memory: the host does without the work that it does between launches. Some drivers report a lack of
 * device memory as one of host memory. */
ordo_status ordo_ltree_or_without(ordo_status status);
/* The same, and what it had begun is dropped: counters may not be zero again. */
ordo_status ordo_ltree_or_drop(const struct ordo_ltree_batch *b, int mark, ordo_status status);

/* Reads the state. The counters of operations that gave up begin anew. */
ordo_status ordo_ltree_batch_state(struct ordo_ltree_batch *b);
ordo_status ordo_ltree_set_tick(const struct ordo_ltree_batch *b, cl_uint tick);
/* After the host may have built the tree anew: there are nodes, and the clock goes on. */
ordo_status ordo_ltree_go_on(struct ordo_ltree_batch *b);

/* Lists for the batch, or for as large a part of it as there is memory for. */
ordo_status ordo_ltree_take_lists(struct ordo_ltree_batch *b);
/* Ahead of the first launch. Where all stores could be of new keys, and there is no room for these, a sample tells. If there is
 * no memory for both, leaves go before lists, which are then shorter. */
ordo_status ordo_ltree_grow_ahead(struct ordo_ltree_batch *b);
/* After operations have starved, each of which needs one leaf at most. *lacks: whether there is no leaf more than before. */
ordo_status ordo_ltree_make_room(struct ordo_ltree_batch *b, bool *lacks);
/* Gives back what the pools have too much. Without memory for it, tries again after as many changes. */
ordo_status ordo_ltree_give_back(struct ordo_ltree_batch *b);

/* ---- leftover.c -------------------------------------------------------------------------------------------------- */

/* Listed operations, and room for another list. */
struct ordo_ltree_listed {
    size_t count;
    cl_mem list, next;
};

/* Counts the batch's operations by kind. Waits. */
ordo_status ordo_ltree_take_tally(struct ordo_ltree_batch *b);
/* Does what is listed as batches in order, and lists what there is no memory for. *updated: whether it did updates, at least
 * an eighth of those listed. */
ordo_status ordo_ltree_finish_at_rest(struct ordo_ltree_batch *b, struct ordo_ltree_listed *l, bool *updated);

#endif
