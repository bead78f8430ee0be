/* SPDX-License-Identifier: Apache-2.0 */
/* Sorted runs of elements, newest last within a run and among runs: what the sorted array and the LSM are made of, and
 * what a structure that is built anew makes of a batch, or of a batch and its own content.
 *
 *     run[0]     oldest, largest     k0 k1 k2 ...   values   hidden bits   visible counts   index
 *     run[1]     newer               k0 k1 ...      ...
 *     run[n-1]   newest
 *
 * A run lies in one block of device memory:
 *
 *     keys | values | hidden: a bit per element | visible: a count per RUN_BLOCK elements | nodes of the search index
 *
 * Invariants (checked by host/dict/runs/check.c):
 *   R1 sorted    a run's keys ascend. Elements of equal keys stand next to each other, the newest last.
 *   R2 newest    the newest element of a key is the last one of its segment in the newest run that has the key. It alone can
 *                be visible: a key is in the dictionary if it is and its hidden bit is 0.
 *   R3 hidden    the hidden bit is set of every tombstone, and of no other element that is newest; of stale elements (not the
 *                newest of their keys) it may be set. A run without `has_hidden` has no bits, and all bits count as 0.
 *   R4 marked    a marked run has hidden its own stale elements and those that it makes stale in older runs. If all runs
 *                are marked, the set is resolved: an element is visible just if its hidden bit is 0.
 *   R5 counted   visible[j] of a counted run is the number of its elements before j * RUN_BLOCK whose hidden bit is 0 (one
 *                entry more than blocks: the last is all).
 *   R6 distinct  all keys of a `distinct` run differ.
 *   R7 erased    a run that is not `erased` has no tombstone: its hidden bits are those of stale elements. A query of a key
 *                looks into the newest run first and takes the first match, so it reads bits of `erased` runs only.
 *
 * A run is in one of these states:
 *
 *     marks           has_hidden   erased    made by
 *     UNMARKED        no           no        a batch that stores; a merge of such runs
 *     UNMARKED        yes          yes       a batch that erases; a merge with such a run
 *     MARKED          no           no        a run of which nothing is hidden
 *     MARKED          yes          either    ordo_run_set_mark_newest, a merge of marked runs
 *     COUNTED         yes          either    ordo_run_set_resolve
 *
 * An UNMARKED run may have bits without being `erased` if newer runs have hidden its elements.
 *
 * An update adds a run, or merges the newest ones with it into a new one; no key or value changes in place, so an
 * update that fails has changed nothing. Hidden bits are set in place, by queries too: for what is stale (R3); and by one launch, the
 * last of a call that erases an interval: an element that is newest becomes a tombstone where it stands.
 */
#ifndef ORDO_RUN_H
#define ORDO_RUN_H

#include "dict/launch.h"
#include "primitive/index.h"
#include "primitive/merge_runs.h"
#include "shared/runs.h"

/* Where the parts of a block lie, in bytes from its start; all are multiples of 256. Parts may have room for more elements than
 * the run has: they are then further apart than `bytes` tells. */
struct ordo_run_layout {
    size_t  values, hidden, visible, nodes, bytes;
    cl_uint node_log2; /* of the index, as the profile had it when room was made for it */
};

enum ordo_run_marks {
    ORDO_RUN_UNMARKED,
    ORDO_RUN_MARKED,  /* R4 */
    ORDO_RUN_COUNTED, /* R4 and R5 */
};

struct ordo_sorted_run {
    cl_mem                 mem;
    size_t                 mem_bytes; /* of the block; layout.bytes, what the run needs, or more */
    struct ordo_run_layout layout;
    size_t                 count;
    enum ordo_run_marks    marks;
    bool                   has_hidden; /* R3 */
    bool                   distinct;   /* R6 */
    bool                   erased;     /* R7 */
    bool                   indexed;    /* the index is built; its nodes lie in the block */
    struct ordo_index      index;
    uint64_t               query_cost; /* what queries have cost that looked into it (lsm.c) */
};

/* Oldest first; no run in it is empty. */
struct ordo_run_set {
    struct ordo_sorted_run run[ORDO_MAX_RUNS];
    size_t                 n;
};

/* A dictionary of runs; of other structures, what makes runs for them. */
struct ordo_runs {
    ordo_dict           dict;
    struct ordo_run_set set;
    /* Blocks kept for later runs, so few that all blocks together take little more than twice what runs do. */
    struct {
        cl_mem mem;
        size_t bytes;
    } spare[ORDO_MAX_RUNS];
    size_t n_spare, spare_bytes;
    size_t bytes, bytes_peak; /* of all blocks, spare ones included */
    size_t cleanups;
};

static inline struct ordo_runs *ordo_runs_of(ordo_dict *dict)
{
    return (struct ordo_runs *) dict;
}

static inline struct ordo_slice ordo_run_keys(const struct ordo_sorted_run *run)
{
    return ordo_at(run->mem, 0);
}
static inline struct ordo_slice ordo_run_values(const ordo_dict *dict, const struct ordo_sorted_run *run)
{
    return dict->value_bytes ? ordo_at(run->mem, run->layout.values / dict->value_bytes) : ordo_none();
}
/* As uint32_t words; ordo_none() without bits. */
static inline struct ordo_slice ordo_run_hidden(const struct ordo_sorted_run *run)
{
    return run->has_hidden ? ordo_at(run->mem, run->layout.hidden / 4) : ordo_none();
}
static inline struct ordo_slice ordo_run_visible(const struct ordo_sorted_run *run)
{
    return ordo_at(run->mem, run->layout.visible / 4);
}
/* Of the directory of visible counts. */
static inline size_t ordo_run_entries(size_t count)
{
    return ordo_ceil_div(count, RUN_BLOCK) + 1;
}
/* Elements of all runs, visible or not. */
static inline size_t ordo_run_set_stored(const struct ordo_run_set *set)
{
    size_t count = 0;
    for (size_t r = 0; r < set->n; r++)
        count += set->run[r].count;
    return count;
}
static inline bool ordo_run_set_is_resolved(const struct ordo_run_set *set)
{
    for (size_t r = 0; r < set->n; r++)
        if (set->run[r].marks == ORDO_RUN_UNMARKED)
            return false;
    return true;
}
/* One run, of which all elements are visible. */
static inline bool ordo_run_set_is_clean(const struct ordo_run_set *set)
{
    return set->n == 1 && set->run[0].distinct && !set->run[0].has_hidden;
}
/* All elements of the run are visible, so it needs no bits. */
static inline void ordo_run_note_clean(struct ordo_sorted_run *run)
{
    run->has_hidden = run->erased = false;
    run->distinct = true;
    if (run->marks == ORDO_RUN_COUNTED)
        run->marks = ORDO_RUN_MARKED;
}

/* ---- sorted_run.c ------------------------------------------------------------------------------------------------- */

struct ordo_run_layout ordo_run_layout_of(const ordo_dict *dict, size_t count, cl_uint node_log2);
/* A run of `count` elements, not yet written, in a spare block or a new one: no bits, no index, nothing known. */
ordo_status ordo_runs_block(struct ordo_runs *runs, struct ordo_call *call, size_t count, struct ordo_sorted_run *out);
/* The same in scratch of the call. */
ordo_status ordo_run_scratch(struct ordo_call *call, const ordo_dict *dict, size_t count, struct ordo_sorted_run *out);
/* Whether a run of `count` elements is no larger than the device's largest allocation. */
bool ordo_runs_fit(const struct ordo_runs *runs, size_t count);
/* Keeps the run's block for later, or lets go of it. A run without a block is fine. */
void ordo_runs_release(struct ordo_runs *runs, struct ordo_sorted_run *run);
void ordo_runs_drop_spare(struct ordo_runs *runs);
void ordo_runs_give_spare(ordo_dict *dict);
/* Drops spare blocks, the largest first, until they take no more than `most` bytes. */
void ordo_runs_limit_spare(struct ordo_runs *runs, size_t most);
/* Keeps spare blocks of no more than runs take. */
void ordo_runs_trim_spare(struct ordo_runs *runs);
/* Puts one run in the place of all; none if `run` has none. */
void ordo_runs_replace(struct ordo_runs *runs, const struct ordo_sorted_run *run);
void ordo_runs_clear(ordo_dict *dict);

/* Enqueues the build of the run's index, if it is not there. */
ordo_status ordo_run_index(struct ordo_call *call, const ordo_dict *dict, struct ordo_sorted_run *run);
/* Adds the set to a kernel's arguments: the buffers of the runs (RUNS_KEYS), the same buffers again for a kernel that takes
 * `values` (RUNS_VALUES), and *table, which must stay until the launch. */
void ordo_run_set_add(struct ordo_args *args, const ordo_dict *dict, const struct ordo_run_set *set, bool values,
                      run_table *table);
/* A slice from its element `at` on. ordo_none() stays ordo_none(). */
static inline struct ordo_slice ordo_slice_from(struct ordo_slice slice, size_t at)
{
    return slice.mem ? ordo_at(slice.mem, slice.at + at) : slice;
}

/* ---- sorted_run_resolve.c ------------------------------------------------------------------------------------------------ */

/* Makes R4 and R5 hold for all runs. Nothing if they do. Enqueues; no wait.
 * Cost  each element of a run that is not marked is searched for in each older run. */
ordo_status ordo_run_set_resolve(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set);
/* Of a set whose other runs are marked, marks the newest, too, which is stored: after an error it is as if it were not marked.
 * Nothing is counted. */
ordo_status ordo_run_set_mark_newest(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set);
/* The number of visible elements of each run. Resolves; waits, if anything may be hidden. */
ordo_status ordo_run_set_counts(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set,
                                size_t counts[ORDO_MAX_RUNS]);
/* The number of visible elements of a run that is its set's only one. Marks nothing. Waits. */
ordo_status ordo_run_count_newest(struct ordo_call *call, const ordo_dict *dict, const struct ordo_sorted_run *run,
                                  size_t *out);
/* The number of visible elements of all runs. Resolves; waits as ordo_run_set_counts. */
ordo_status ordo_run_set_size(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set, size_t *out);
/* The directory that a run's hidden bits make, in ordo_run_entries words from `out` on. */
ordo_status ordo_run_count_visible(struct ordo_call *call, const ordo_dict *dict, const struct ordo_sorted_run *run,
                                   struct ordo_slice out);
/* Makes R4 and R5 hold, for all runs with bits. Enqueues. */
ordo_status ordo_run_set_add_bits(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set);
/* Sets the bits of all stale elements in `stale`, for each run a slice of words, whatever is in them. */
ordo_status ordo_run_set_mark_stale(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set,
                                    const struct ordo_slice *stale);

/* ---- sorted_run_merge.c ------------------------------------------------------------------------------------------------- */

/* Sorts a batch into a new run (equal keys in the order of the batch); all tombstones if `erase`. */
ordo_status ordo_runs_sort(struct ordo_runs *runs, struct ordo_call *call, bool erase, struct ordo_slice keys,
                           struct ordo_slice values, size_t count, struct ordo_sorted_run *out);
/* The same, or a run from updates that are sorted, in scratch of the call, which has its block: it is not to be released. */
ordo_status ordo_run_sort_scratch(struct ordo_call *call, const ordo_dict *dict, bool erase, struct ordo_slice keys,
                                  struct ordo_slice values, size_t count, struct ordo_sorted_run *out);
ordo_status ordo_run_take_scratch(struct ordo_call *call, const ordo_dict *dict,
                                  const struct ordo_sorted_updates *updates, struct ordo_sorted_run *out);
/* A new run of the distinct keys of a batch, of equal ones the last. Waits for how many they are. One that ascends is
 * copied. */
ordo_status ordo_runs_sort_distinct(struct ordo_runs *runs, struct ordo_call *call, struct ordo_slice keys,
                                    struct ordo_slice values, size_t count, struct ordo_sorted_run *out);
/* A new run from updates that are sorted. */
ordo_status ordo_runs_take(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_sorted_updates *updates,
                           struct ordo_sorted_run *out);
/* A batch of updates: sorted ones, or as a call has them. */
struct ordo_run_batch {
    const struct ordo_sorted_updates *sorted; /* NULL: what follows */
    bool                              erase;
    struct ordo_slice                 keys, values;
    size_t                            count;
};
/* A new run from either. */
ordo_status ordo_runs_take_batch(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_run_batch *batch,
                                 struct ordo_sorted_run *out);
/* Merges n runs of the device's, oldest first and each next to the last, into a new one that keeps every element. */
ordo_status ordo_runs_merge(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_sorted_run *in, size_t n,
                            struct ordo_sorted_run *out);
/* Writes what is visible of a resolved set; values may be ordo_none(). */
ordo_status ordo_run_set_write(struct ordo_call *call, const ordo_dict *dict, const struct ordo_run_set *set,
                               struct ordo_slice keys, struct ordo_slice values);
/* A new run of what is visible in the set: resolves it, waits for its size. `out` has no block if nothing is visible. */
ordo_status ordo_runs_filter(struct ordo_runs *runs, struct ordo_call *call, struct ordo_run_set *set,
                             struct ordo_sorted_run *out);
/* The same of runs of a resolved set that stand next to each other, with their visible counts: by itself such a stretch
 * can be replaced, as what it makes stale elsewhere is hidden (R4). */
ordo_status ordo_runs_filter_stretch(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_sorted_run *in,
                                     const size_t *counts, size_t n, struct ordo_sorted_run *out);
/* Whether the set need not be resolved for that. */
bool ordo_runs_can_dedup(const struct ordo_runs *runs, const struct ordo_run_set *set);
/* The same, without resolving the set where that can be done and there is the memory: then in a block with room for all that the
 * runs have, and the run's layout. */
ordo_status ordo_runs_visible(struct ordo_runs *runs, struct ordo_call *call, struct ordo_run_set *set,
                              struct ordo_sorted_run *out);
/* The same of a clean run and a batch beside it, which hides nothing: a key's value is what all elements of the key come to. The batch's
 * values may be changed, also if it fails. */
ordo_status ordo_runs_combine(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_run_set *set,
                              const struct ordo_merge_combine *combine, struct ordo_sorted_run *out);
/* Whether that can be done with what is stored and so many more elements. */
bool ordo_runs_can_combine(const struct ordo_runs *runs, size_t count);

#endif
