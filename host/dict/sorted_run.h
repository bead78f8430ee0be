/* SPDX-License-Identifier: Apache-2.0 */
/* The sorted array, the LSM and FAST consist of sorted runs: arrays of elements in ascending order of keys. An update
 * writes a new run, and changes no key or value in place. */
#ifndef ORDO_RUN_H
#define ORDO_RUN_H

#include "dict/launch.h"
#include "primitive/index.h"
#include "primitive/merge_runs.h"
#include "shared/runs.h"

/* A run lies in one block of device memory:
 *
 *     keys | values | hidden: a bit per element | visible: a count per RUN_BLOCK elements | nodes of the search index
 *
 * The keys begin at byte 0. The members `values`, `hidden`, `visible` and `nodes` are the byte offsets of the other
 * parts, and multiples of 256. `bytes` is the size of all parts. */
struct ordo_run_layout {
    size_t     values, hidden, visible, nodes, bytes;
    index_form form;
};

enum ordo_run_marks {
    ORDO_RUN_UNMARKED,
    ORDO_RUN_MARKED,  /* invariant R4 below holds */
    ORDO_RUN_COUNTED, /* invariants R4 and R5 hold */
};

struct ordo_sorted_run {
    cl_mem                 mem;
    size_t                 mem_bytes;
    struct ordo_run_layout layout;
    size_t                 count;
    enum ordo_run_marks    marks;
    bool                   has_hidden;
    bool                   distinct;
    bool                   erased;
    bool                   indexed;
    struct ordo_index      index;
    uint64_t               query_cost; /* cost of past queries (lsm_plan.c) */
};

/* Runs, oldest first. No run is empty. Invariants (host/dict/runs/check.c checks them):
 *
 *   R1 sorted    The keys of a run ascend. Of equal keys, the newest element comes last.
 *   R2 newest    A key's newest element is its last one in the newest run that has the key. The key's other elements
 *                are stale (replaced). The key is in the dictionary if the hidden bit of its newest element is 0.
 *   R3 hidden    A tombstone is an element that erases its key. If the newest element of a key is a tombstone, its
 *                hidden bit is 1, otherwise 0. The bit of a stale element may be 0 or 1. If has_hidden is false, all
 *                bits count as 0.
 *   R4 marked    If a marked run replaces an element, the element's hidden bit is 1. The element is in this run or in
 *                an older one. If all runs are marked, the set is called resolved. The hidden bit is then 0 exactly for
 *                the elements of the dictionary.
 *   R5 counted   In a counted run, visible[j] is the number of elements before index j * RUN_BLOCK whose hidden bit is
 *                0. The last entry counts all of them.
 *   R6 distinct  A run with `distinct` has no repeated key.
 *   R7 erased    A run without `erased` has no tombstone, so a find need not read its bits. */
struct ordo_run_set {
    struct ordo_sorted_run run[ORDO_MAX_RUNS];
    size_t                 n;
};

/* A dictionary of sorted runs. Other structures use one to sort their batches. */
struct ordo_runs {
    ordo_dict           dict;
    struct ordo_run_set set;
    struct {
        cl_mem mem;
        size_t bytes;
    } spare[ORDO_MAX_RUNS];
    size_t n_spare, spare_bytes;
    size_t bytes, bytes_peak; /* bytes of all blocks, including unused blocks */
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
/* Returns the hidden bits as uint32_t words, or ordo_none(). */
static inline struct ordo_slice ordo_run_hidden(const struct ordo_sorted_run *run)
{
    return run->has_hidden ? ordo_at(run->mem, run->layout.hidden / 4) : ordo_none();
}
static inline struct ordo_slice ordo_run_visible(const struct ordo_sorted_run *run)
{
    return ordo_at(run->mem, run->layout.visible / 4);
}
static inline size_t ordo_run_entries(size_t count)
{
    return ordo_ceil_div(count, RUN_BLOCK) + 1;
}
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
static inline bool ordo_run_set_is_clean(const struct ordo_run_set *set)
{
    return set->n == 1 && set->run[0].distinct && !set->run[0].has_hidden;
}
static inline void ordo_run_note_clean(struct ordo_sorted_run *run)
{
    run->has_hidden = run->erased = false;
    run->distinct = true;
    if (run->marks == ORDO_RUN_COUNTED)
        run->marks = ORDO_RUN_MARKED;
}

/* ---- sorted_run.c ------------------------------------------------------------------------------------------------ */

struct ordo_run_layout ordo_run_layout_of(const ordo_dict *dict, size_t count, index_form form);
/* Gives *out a block for `count` elements. The caller must write the elements. The run has no hidden bits and no
 * index. */
ordo_status ordo_runs_block(struct ordo_runs *runs, struct ordo_call *call, size_t count, struct ordo_sorted_run *out);
ordo_status ordo_run_scratch(struct ordo_call *call, const ordo_dict *dict, size_t count, struct ordo_sorted_run *out);
bool        ordo_runs_fit(const struct ordo_runs *runs, size_t count);
/* Makes the run's block, if any, unused. Frees blocks if too many are unused. */
void ordo_runs_release(struct ordo_runs *runs, struct ordo_sorted_run *run);
void ordo_runs_drop_spare(struct ordo_runs *runs);
void ordo_runs_release_spare(ordo_dict *dict);
/* Frees the largest unused blocks until all unused blocks take at most `most` bytes. */
void ordo_runs_limit_spare(struct ordo_runs *runs, size_t most);
/* Frees unused blocks until they take at most 4 MiB or the bytes of all runs, whichever is more. */
void ordo_runs_trim_spare(struct ordo_runs *runs);
/* Releases all runs. Then adds *run, if it has a block. */
void ordo_runs_replace(struct ordo_runs *runs, const struct ordo_sorted_run *run);
void ordo_runs_clear(ordo_dict *dict);

ordo_status ordo_run_index(struct ordo_call *call, const ordo_dict *dict, struct ordo_sorted_run *run);
/* Adds the blocks of all runs to the kernel arguments. If `values` is true, adds the same blocks again, for values.
 * Then sets *table and adds it. The caller must keep *table valid until the launch. */
void ordo_run_set_add(struct ordo_args *args, const ordo_dict *dict, const struct ordo_run_set *set, bool values,
                      run_table *table);
static inline struct ordo_slice ordo_slice_from(struct ordo_slice slice, size_t at)
{
    return slice.mem ? ordo_at(slice.mem, slice.at + at) : slice;
}

/* ---- sorted_run_resolve.c ---------------------------------------------------------------------------------------- */

/* Hides all replaced elements, and counts each run's visible elements. */
ordo_status ordo_run_set_resolve(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set);
/* Hides the elements that the newest run replaces. The elements that other runs replace must already be hidden. After
 * an error, `marks` of the newest run is unchanged. */
ordo_status ordo_run_set_mark_newest(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set);
/* Hides all replaced elements. Then counts each run's visible elements. The count waits for the device if any run has
 * hidden bits. */
ordo_status ordo_run_set_counts(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set,
                                size_t counts[ORDO_MAX_RUNS]);
/* Counts the distinct keys of a run, except erased keys. Waits for the device. */
ordo_status ordo_run_count_newest(struct ordo_call *call, const ordo_dict *dict, const struct ordo_sorted_run *run,
                                  size_t *out);
/* Like ordo_run_set_counts, but sets *out to the total of all runs. */
ordo_status ordo_run_set_size(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set, size_t *out);
/* Sets out[j] to the number of visible elements before element j * RUN_BLOCK. The last entry counts all. */
ordo_status ordo_run_count_visible(struct ordo_call *call, const ordo_dict *dict, const struct ordo_sorted_run *run,
                                   struct ordo_slice out);
/* Gives all runs the arrays `hidden` and `visible`, and hides all replaced elements. */
ordo_status ordo_run_set_add_bits(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set);
/* stale[r] becomes a bitmap of the elements of run r that newer elements replace. */
ordo_status ordo_run_set_mark_stale(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set,
                                    const struct ordo_slice *stale);

/* ---- sorted_run_merge.c ------------------------------------------------------------------------------------------ */

/* Sorts a batch stably into a new run. If `erase`, its elements become tombstones. */
ordo_status ordo_runs_sort(struct ordo_runs *runs, struct ordo_call *call, bool erase, struct ordo_slice keys,
                           struct ordo_slice values, size_t count, struct ordo_sorted_run *out);
ordo_status ordo_run_sort_scratch(struct ordo_call *call, const ordo_dict *dict, bool erase, struct ordo_slice keys,
                                  struct ordo_slice values, size_t count, struct ordo_sorted_run *out);
ordo_status ordo_run_take_scratch(struct ordo_call *call, const ordo_dict *dict,
                                  const struct ordo_sorted_updates *updates, struct ordo_sorted_run *out);
/* Sorts a batch into a new run. If a key repeats, its last element is stored. If a large batch already ascends, copies
 * it without a sort. Waits for the device. */
ordo_status ordo_runs_sort_distinct(struct ordo_runs *runs, struct ordo_call *call, struct ordo_slice keys,
                                    struct ordo_slice values, size_t count, struct ordo_sorted_run *out);
ordo_status ordo_runs_take(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_sorted_updates *updates,
                           struct ordo_sorted_run *out);
/* A batch of updates. If `sorted` is NULL, the other members describe an unsorted batch. */
struct ordo_run_batch {
    const struct ordo_sorted_updates *sorted;
    bool                              erase;
    struct ordo_slice                 keys, values;
    size_t                            count;
};
ordo_status ordo_runs_take_batch(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_run_batch *batch,
                                 struct ordo_sorted_run *out);
/* Merges n neighbouring runs, oldest first, into a new run. */
ordo_status ordo_runs_merge(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_sorted_run *in, size_t n,
                            struct ordo_sorted_run *out);
/* Writes the visible elements in key order. Replaced elements must be hidden. */
ordo_status ordo_run_set_write(struct ordo_call *call, const ordo_dict *dict, const struct ordo_run_set *set,
                               struct ordo_slice keys, struct ordo_slice values);
/* Hides all replaced elements, and makes a new run of the visible ones. If no element is visible, out->mem becomes
 * NULL. Waits for the device. */
ordo_status ordo_runs_filter(struct ordo_runs *runs, struct ordo_call *call, struct ordo_run_set *set,
                             struct ordo_sorted_run *out);
/* Makes a new run of the visible elements of n neighbouring runs. Run i has counts[i] of them. Replaced elements
 * must be hidden. */
ordo_status ordo_runs_filter_segment(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_sorted_run *in,
                                     const size_t *counts, size_t n, struct ordo_sorted_run *out);
/* Returns true if ordo_runs_visible can leave out replaced elements without first hiding them. */
bool ordo_runs_can_dedup(const struct ordo_runs *runs, const struct ordo_run_set *set);
/* Makes a new run of the visible elements. May first hide the replaced elements of *set. Waits for the device. */
ordo_status ordo_runs_visible(struct ordo_runs *runs, struct ordo_call *call, struct ordo_run_set *set,
                              struct ordo_sorted_run *out);
/* Merges a run and a batch, and combines the values of equal keys. The run must have no hidden elements, and the batch
 * no tombstones (elements that erase their keys). May change the batch's values, even after an error. Waits for the
 * device. */
ordo_status ordo_runs_combine(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_run_set *set,
                              const struct ordo_merge_combine *combine, struct ordo_sorted_run *out);
bool        ordo_runs_can_combine(const struct ordo_runs *runs, size_t count);

#endif
