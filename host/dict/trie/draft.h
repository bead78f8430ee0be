/* SPDX-License-Identifier: Apache-2.0 */
/* Executes concurrent batches on a dictionary that is a trie. No kernel changes the trie in place.
 *
 *   1  query      Answers seeks, counts and ranges on the trie before the batch.
 *   2  launch     Runs up to 2^24 other operations. Updates change only the draft, a hash table (cl/shared/draft.h).
 *   3  merge      Merges the draft's updates with the trie as an ordered batch.
 *   4  leftovers  Runs the updates that step 2 did not complete, as ordered batches. Any order is correct, because the
 *                 operations overlap in time.
 *
 * If memory is short in steps 2 or 3, the trie stays unchanged, and the host repeats these steps with half as many
 * operations. If even 2^10 operations lack memory, all updates go to step 4. */
#ifndef ORDO_DRAFT_H
#define ORDO_DRAFT_H

#include "dict/launch.h"
#include "shared/draft.h"

struct ordo_drafts {
    size_t restarts;
    /* For tests: faults to inject, a sum of enum ordo_fault values. */
    uint32_t faults;
    /* For tests: two time stamps (uint32_t) per operation, or NULL. */
    cl_mem history;
};

/* The hash table of a launch's updates, in scratch memory. All members are 0 if there is none. */
struct ordo_draft {
    cl_mem  slots;
    cl_uint n_slots;
    cl_mem  nodes, leaves;
    cl_uint most_nodes, most_leaves;
};

struct ordo_draft_updates {
    cl_mem keys, values, erased;
    size_t count;
};

struct ordo_draft_kind;

struct ordo_draft_batch {
    struct ordo_call                   *call;
    ordo_dict                          *dict;
    struct ordo_drafts                 *drafts;
    const struct ordo_draft_kind       *kind;
    const struct ordo_concurrent_batch *batch;
    cl_uint                             histogram[ORDO_HISTOGRAM_WORDS];
    size_t                              window;
    cl_mem                              pending, state;
    cl_uint                             words[DRAFT_WORDS_MAX]; /* copy of `state` after the last launch */
};

/* The operations of a launch: first .. first + count - 1 of the batch. */
struct ordo_draft_window {
    size_t            first, count;
    struct ordo_slice keys, values;
};

struct ordo_draft_kind {
    size_t words; /* number of counters in `state`, at most DRAFT_WORDS_MAX */
    /* Returns the maximum number of operations of a launch. NULL means no limit. */
    size_t (*most)(ordo_dict *dict, size_t operations);
    size_t (*elements)(ordo_dict *dict); /* an upper bound of the number of elements */
    /* Prepares the trie for `reads` operations that change nothing, and for `updates`. May be NULL. */
    ordo_status (*prepare)(ordo_dict *dict, struct ordo_call *call, size_t reads, size_t updates);
    /* Returns the kernel for seeks, counts and ranges. Its last parameters are the macro DRAFT_QUERIES. Adds the
     * arguments for all earlier parameters to *args. */
    struct ordo_launch (*query)(ordo_dict *dict, size_t items, struct ordo_args *args);
    /* Returns the kernel for finds and updates. Its last parameters are the macro DRAFT_BATCH. Adds the arguments for
     * all earlier parameters to *args. */
    struct ordo_launch (*apply)(ordo_dict *dict, size_t items, const struct ordo_draft *draft, struct ordo_args *args);
    /* Allocates draft->nodes and draft->leaves. `begin` is NULL if the structure uses neither. */
    ordo_status (*begin)(const struct ordo_draft_batch *b, size_t operations, struct ordo_draft *draft);
    /* Writes the draft's updates in key order, and their number, to *out. Waits for the device. */
    ordo_status (*collect)(const struct ordo_draft_batch *b, const struct ordo_draft *draft,
                           const struct ordo_draft_window *window, struct ordo_draft_updates *out);
};

/* Implements ordo_dict_apply_concurrent. Waits for the device. */
ordo_status ordo_draft_apply(ordo_dict *dict, struct ordo_call *call, struct ordo_drafts *drafts,
                             const struct ordo_draft_kind *kind, const struct ordo_concurrent_batch *batch);

void        ordo_draft_add_table(struct ordo_args *args, const struct ordo_draft *draft, const struct ordo_slice *keys);
ordo_status ordo_draft_zeros(struct ordo_call *call, size_t bytes, cl_mem *out);
ordo_status ordo_draft_collect(const struct ordo_draft_batch *b, const struct ordo_draft *draft,
                               const struct ordo_draft_window *window, struct ordo_draft_updates *out);

#endif
