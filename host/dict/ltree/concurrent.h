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
    size_t                              window; /* operations that fit each list */
    cl_mem                              pending, next;
    int                                 mark;  /* of the call's scratch, before the lists */
    cl_uint                             far;   /* leaves that a query passes in a launch, at most */
    cl_uint                             final; /* no more leaves will come */
    bool                                half;  /* a change at rest did not complete */
};

/* Maximum of leaves that a concurrent query passes. If it cannot be done at rest, only the work-item's steps end it. */
#define ORDO_LTREE_QUERY_LEAVES ((cl_uint) 256)
#define ORDO_LTREE_ALL_LEAVES   ((cl_uint) -1)

/* ---- concurrent_memory.c ----------------------------------------------------------------------------------------- */

/* Replaces a lack of memory, which some drivers report as host memory, by ORDO_OK: work between launches is optional.
 */
ordo_status ordo_ltree_or_without(ordo_status status);
/* Does the same, and abandons the scratch of a failed step, whose counters may be dirty. */
ordo_status ordo_ltree_or_drop(const struct ordo_ltree_batch *c, int mark, ordo_status status);

/* Reads the state, and resets the counters of operations that gave up. */
ordo_status ordo_ltree_batch_state(struct ordo_ltree_batch *c);
ordo_status ordo_ltree_set_tick(const struct ordo_ltree_batch *c, cl_uint tick);
/* After a possible rebuild: there are nodes, and the clock goes on. */
ordo_status ordo_ltree_go_on(struct ordo_ltree_batch *c);

/* Takes lists for the batch, or for a part of it if memory is short. */
ordo_status ordo_ltree_take_lists(struct ordo_ltree_batch *c);
/* Grows the pools before the first launch. If new keys alone would need more leaves, estimates their number from a
 * sample. If memory is short, shortens the lists. */
ordo_status ordo_ltree_grow_ahead(struct ordo_ltree_batch *c);
/* Makes leaves for starved operations, one each. *lacks: whether it found none. */
ordo_status ordo_ltree_add_leaves(struct ordo_ltree_batch *c, bool *lacks);
/* Shrinks pools that are too large. Without memory for it, a later batch tries again. */
ordo_status ordo_ltree_fit_pools(struct ordo_ltree_batch *c);

/* ---- leftover.c -------------------------------------------------------------------------------------------------- */

/* Listed operations, and memory for another list. */
struct ordo_ltree_listed {
    size_t count;
    cl_mem list, next;
};

/* Waits. */
ordo_status ordo_ltree_take_tally(struct ordo_ltree_batch *c);
/* Does listed operations as batches in order, and lists the rest for lack of memory. *updated: whether it did an eighth
 * of the updates or more. */
ordo_status ordo_ltree_finish_at_rest(struct ordo_ltree_batch *c, struct ordo_ltree_listed *l, bool *updated);

#endif
