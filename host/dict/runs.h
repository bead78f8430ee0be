/* SPDX-License-Identifier: Apache-2.0 */
/* Sorted runs of elements, newest last within a run and among runs: what the sorted array and the LSM are made of.
 *
 *     runs[0]   oldest, largest      k0 k1 k2 ...   values   hidden bits   visible counts   index
 *     runs[1]   newer                k0 k1 ...      ...
 *     runs[n-1] newest
 *
 * A run lies in one block of device memory:
 *
 *     keys | values | hidden: a bit per element | visible: a count per RUN_BLOCK elements | nodes of the search index
 *
 * Invariants (checked by runs_check.c):
 *   R1 sorted    a run's keys ascend. Elements of equal keys stand next to each other, the newest last.
 *   R2 newest    the newest element of a key is the last one of its segment in the newest run that has the key. It alone can
 *                be visible: a key is in the dictionary if it is and its hidden bit is 0.
 *   R3 hidden    the hidden bit is set of every tombstone; of an element that is not the newest of its key it may be set,
 *                and is in a settled run. A run without `has_hidden` has no bits: none of its elements is a tombstone.
 *   R4 settled   runs 0 to n_settled - 1 are settled among all runs: an element's hidden bit is 0 just if it is visible, and
 *                visible[j] is the number of visible elements before element j * RUN_BLOCK (one entry more than blocks: the
 *                last is all). n_settled is 0 or the number of runs.
 *   R5 tombstone an element that says that its key is erased has a hidden bit and a value of no meaning. It may go only when
 *                no older run is left that could hold its key.
 *   R6 distinct  of a run that is `distinct` all keys differ.
 */
#ifndef ORDO_RUNS_H
#define ORDO_RUNS_H

#include "dict/dict.h"
#include "primitive/index.h"

#define ORDO_RUNS_MAX ORDO_MAX_RUNS

/* Where the parts of a block lie, in bytes from its start; all are multiples of 256. */
struct ordo_run_layout {
    size_t capacity; /* elements */
    size_t values, hidden, visible, nodes, bytes;
};

struct ordo_sorted_run {
    cl_mem                 mem;
    struct ordo_run_layout layout;
    size_t                 count;
    bool                   has_hidden; /* R3 */
    bool                   distinct;   /* R6 */
    struct ordo_index      index;      /* its nodes lie in the block */
};

struct ordo_runs {
    ordo_dict             *dict;
    struct ordo_sorted_run run[ORDO_RUNS_MAX + 1]; /* oldest first; one more while a batch comes in */
    size_t                 n;
    bool                   settled; /* R4: all or none */
    /* Blocks kept for later runs; dropped so that blocks of all kinds never take more than twice what is stored. */
    struct {
        cl_mem mem;
        size_t bytes;
    } spare[ORDO_RUNS_MAX];
    size_t n_spare;
    size_t bytes, bytes_peak; /* of all blocks, spare ones included */
};

static inline struct ordo_slice ordo_run_keys(const ordo_dict *dict, const struct ordo_sorted_run *run)
{
    (void) dict;
    return ordo_at(run->mem, 0);
}
static inline struct ordo_slice ordo_run_values(const ordo_dict *dict, const struct ordo_sorted_run *run)
{
    return dict->value_bytes ? ordo_at(run->mem, run->layout.values / dict->value_bytes) : ordo_none();
}
/* As uint32_t words. Ordo_none() without bits. */
static inline struct ordo_slice ordo_run_hidden(const struct ordo_sorted_run *run)
{
    return run->has_hidden ? ordo_at(run->mem, run->layout.hidden / 4) : ordo_none();
}
static inline struct ordo_slice ordo_run_visible(const struct ordo_sorted_run *run)
{
    return ordo_at(run->mem, run->layout.visible / 4);
}

/* ---- runs.c: blocks and updates ---------------------------------------------------------------------------------- */

/* A run of `capacity` elements in a spare block or a new one: count 0, no bits, no index. */
ordo_status ordo_runs_block(struct ordo_runs *runs, size_t capacity, struct ordo_sorted_run *out);
/* Keeps the run's block for later, or lets go of it. */
void ordo_runs_release(struct ordo_runs *runs, struct ordo_sorted_run *run);
/* Enqueues the build of the run's index, in its block. */
ordo_status ordo_run_index(struct ordo_call *call, const ordo_dict *dict, struct ordo_sorted_run *run);
/* Sorts a batch into a new run (equal keys in the order of the batch); all tombstones if `erase`. */
ordo_status ordo_runs_sort(struct ordo_runs *runs, struct ordo_call *call, bool erase, struct ordo_slice keys,
                           struct ordo_slice values, size_t count, struct ordo_sorted_run *out);
/* A new run from updates that are sorted and distinct. */
ordo_status ordo_runs_take(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_sorted_updates *updates,
                           struct ordo_sorted_run *out);
void        ordo_runs_clear(struct ordo_runs *runs); /* all blocks, spare ones too */

/* ---- run_merge.c -------------------------------------------------------------------------------------------------- */

/* One input or output of a merge. hidden as uint32_t words, ordo_none(): no bits. */
struct ordo_merge_run {
    struct ordo_slice keys, values, hidden;
    size_t            count;
};
static inline struct ordo_merge_run ordo_merge_run_of(const ordo_dict *dict, const struct ordo_sorted_run *run)
{
    return (struct ordo_merge_run) { ordo_run_keys(dict, run), ordo_run_values(dict, run), ordo_run_hidden(run),
                                     run->count };
}

/* Merges n runs (1 to ORDO_RUNS_MAX + 1), oldest first, into out, which has room for all: every element stays, with its
 * hidden bit if out->hidden is given (inputs without bits: 0). */
ordo_status ordo_runs_merge(struct ordo_call *call, const ordo_dict *dict, const struct ordo_merge_run *in, size_t n,
                            const struct ordo_merge_run *out);

/* The same, keeping only what is visible among these runs: the last element of each key (R2), if not hidden. In two
 * steps, between which the caller provides the room: counts; then, by ordo_runs_distil, writes. */
struct ordo_distillate {
    size_t total; /* elements that will be written */
    void  *plan;  /* run_merge.c's own */
};
/* Waits for the total. */
ordo_status ordo_runs_survey(struct ordo_call *call, const ordo_dict *dict, const struct ordo_merge_run *in, size_t n,
                             struct ordo_distillate *out);
/* Writes out->keys and out->values (each may be ordo_none()); ends the distillate. */
ordo_status ordo_runs_distil(struct ordo_call *call, const ordo_dict *dict, const struct ordo_merge_run *in, size_t n,
                             struct ordo_distillate *distillate, const struct ordo_merge_run *out);
/* Ends one that is not written. NULL plan is fine. */
void ordo_distillate_end(struct ordo_distillate *distillate);

/* ---- run_settle.c, run_query.c ------------------------------------------------------------------------------------- */

/* Makes R4 hold for all runs. Nothing if it does. Enqueues; no wait. */
ordo_status ordo_runs_settle(struct ordo_runs *runs, struct ordo_call *call);
/* The number of visible elements. Settles; waits. */
ordo_status ordo_runs_size(struct ordo_runs *runs, struct ordo_call *call, size_t *out);

ordo_status ordo_runs_find(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_finds *finds);
/* These settle. */
ordo_status ordo_runs_count(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_counts *counts);
ordo_status ordo_runs_range(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_ranges *ranges);
ordo_status ordo_runs_seek(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_seeks *seeks);

/* ---- runs_check.c -------------------------------------------------------------------------------------------------- */

/* R1 to R6 for all runs, on the device; waits. ORDO_BROKEN with the invariant, the run and the element. */
ordo_status ordo_runs_check(struct ordo_runs *runs, struct ordo_call *call);

#endif
