/* SPDX-License-Identifier: Apache-2.0 */
/* Sorted runs of elements. Newer elements come later within a run, and newer runs later in a set. The sorted array, the
 * LSM and FAST consist of runs; other structures use runs to sort batches and to rebuild.
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
 *   R1 sorted    A run's keys ascend. Of equal keys the newest comes last.
 *   R2 newest    A key's newest element is the last one with the key in the newest run that has the key. Others are
 *                stale. The key is in the dictionary if its newest element has hidden bit 0.
 *   R3 hidden    Tombstones (elements that erase their key) have hidden bit 1, other newest elements 0, other stale
 *                elements either. A run without `has_hidden` has no bits, and all bits count as 0.
 *   R4 marked    A marked run has hidden its stale elements, and the elements of older runs that it makes stale. If all
 *                runs are marked, the set is resolved: an element is visible exactly if its hidden bit is 0.
 *   R5 counted   In a counted run, visible[j] is the number of elements with hidden bit 0 before j * RUN_BLOCK. The
 *                last entry counts all.
 *   R6 distinct  All keys of a `distinct` run differ.
 *   R7 erased    A run that is not `erased` has no tombstone. A find takes the first match from the newest run on, so
 *                it reads the bits of `erased` runs only.
 *
 * A run is in one of these states:
 *
 *     marks           has_hidden   erased    made by
 *     UNMARKED        no           no        a batch that stores; a merge of such runs
 *     UNMARKED        yes          yes       a batch that erases; a merge with such a run
 *     UNMARKED        yes          no        newer runs that hid its elements
 *     MARKED          no           no        a run without hidden elements
 *     MARKED          yes          either    ordo_run_set_mark_newest, a merge of marked runs
 *     COUNTED         yes          either    ordo_run_set_resolve
 *
 * An update adds a run, or merges the newest runs with it. No key or value changes in place, so a failed update changes
 * nothing. The last launch of an erased interval hides newest elements, which makes them tombstones. */
#ifndef ORDO_RUN_H
#define ORDO_RUN_H

#include "dict/launch.h"
#include "primitive/index.h"
#include "primitive/merge_runs.h"
#include "shared/runs.h"

/* Byte offsets of the parts of a block, all multiples of 256. A part may have capacity for more elements than the run
 * has. */
struct ordo_run_layout {
    size_t  values, hidden, visible, nodes, bytes;
    cl_uint node_log2; /* log2 of the size of the index's nodes */
};

enum ordo_run_marks {
    ORDO_RUN_UNMARKED,
    ORDO_RUN_MARKED,  /* R4 */
    ORDO_RUN_COUNTED, /* R4 and R5 */
};

struct ordo_sorted_run {
    cl_mem                 mem;
    size_t                 mem_bytes; /* size of the block, at least layout.bytes */
    struct ordo_run_layout layout;
    size_t                 count;
    enum ordo_run_marks    marks;
    bool                   has_hidden; /* R3 */
    bool                   distinct;   /* R6 */
    bool                   erased;     /* R7 */
    bool                   indexed;    /* the index is built */
    struct ordo_index      index;
    uint64_t               query_cost; /* see lsm_plan.c */
};

/* Oldest first. No run is empty. */
struct ordo_run_set {
    struct ordo_sorted_run run[ORDO_MAX_RUNS];
    size_t                 n;
};

/* A dictionary of runs. Structures of other families contain one to make runs. */
struct ordo_runs {
    ordo_dict           dict;
    struct ordo_run_set set;
    /* Cached blocks for later runs. All blocks together take little more than twice the bytes of the runs. */
    struct {
        cl_mem mem;
        size_t bytes;
    } spare[ORDO_MAX_RUNS];
    size_t n_spare, spare_bytes;
    size_t bytes, bytes_peak; /* bytes of all blocks, including cached ones */
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
/* The hidden bits in uint32_t words, or ordo_none() if the run has no bits. */
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
/* Whether the set is one run without hidden elements. */
static inline bool ordo_run_set_is_clean(const struct ordo_run_set *set)
{
    return set->n == 1 && set->run[0].distinct && !set->run[0].has_hidden;
}
/* Notes that all elements are visible, so the run needs no hidden bits. */
static inline void ordo_run_note_clean(struct ordo_sorted_run *run)
{
    run->has_hidden = run->erased = false;
    run->distinct = true;
    if (run->marks == ORDO_RUN_COUNTED)
        run->marks = ORDO_RUN_MARKED;
}

/* ---- sorted_run.c ------------------------------------------------------------------------------------------------ */

struct ordo_run_layout ordo_run_layout_of(const ordo_dict *dict, size_t count, cl_uint node_log2);
/* Makes an unwritten run of `count` elements, without bits and index, in a cached or new block. */
ordo_status ordo_runs_block(struct ordo_runs *runs, struct ordo_call *call, size_t count, struct ordo_sorted_run *out);
/* Makes an unwritten run of `count` elements in scratch of the call. */
ordo_status ordo_run_scratch(struct ordo_call *call, const ordo_dict *dict, size_t count, struct ordo_sorted_run *out);
/* Whether a run of `count` elements fits into the largest allocation. */
bool ordo_runs_fit(const struct ordo_runs *runs, size_t count);
/* Caches or frees the run's block, if it has one. */
void ordo_runs_release(struct ordo_runs *runs, struct ordo_sorted_run *run);
void ordo_runs_drop_spare(struct ordo_runs *runs);
void ordo_runs_release_spare(ordo_dict *dict);
/* Frees cached blocks, the largest first, until they take no more than `most` bytes. */
void ordo_runs_limit_spare(struct ordo_runs *runs, size_t most);
/* Frees cached blocks that exceed the bytes of the runs. */
void ordo_runs_trim_spare(struct ordo_runs *runs);
/* Replaces all runs by *run, or by none if *run has no block. */
void ordo_runs_replace(struct ordo_runs *runs, const struct ordo_sorted_run *run);
void ordo_runs_clear(ordo_dict *dict);

/* Builds the run's index if the run has none. */
ordo_status ordo_run_index(struct ordo_call *call, const ordo_dict *dict, struct ordo_sorted_run *run);
/* Adds the set to a kernel's arguments: the runs' buffers for keys (RUNS_KEYS), again for `values` (RUNS_VALUES), and
 * *table, which must stay valid until the launch. */
void ordo_run_set_add(struct ordo_args *args, const ordo_dict *dict, const struct ordo_run_set *set, bool values,
                      run_table *table);
/* A slice from its element `at` on. ordo_none() stays ordo_none(). */
static inline struct ordo_slice ordo_slice_from(struct ordo_slice slice, size_t at)
{
    return slice.mem ? ordo_at(slice.mem, slice.at + at) : slice;
}

/* ---- sorted_run_resolve.c ---------------------------------------------------------------------------------------- */

/* Resolves the set: makes R4 and R5 hold for all runs. Searches each older run for each element of an unmarked run. */
ordo_status ordo_run_set_resolve(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set);
/* Marks the newest run (R4). Needs all other runs marked. After an error the newest run is unmarked. */
ordo_status ordo_run_set_mark_newest(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set);
/* Counts the visible elements of each run. Resolves the set. Waits if a run has bits. */
ordo_status ordo_run_set_counts(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set,
                                size_t counts[ORDO_MAX_RUNS]);
/* Counts the visible elements of a set's only run, without marking it. Waits for the device. */
ordo_status ordo_run_count_newest(struct ordo_call *call, const ordo_dict *dict, const struct ordo_sorted_run *run,
                                  size_t *out);
/* Counts the visible elements of all runs. Resolves the set. Waits if a run has bits. */
ordo_status ordo_run_set_size(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set, size_t *out);
/* Writes a run's visible counts (R5) to ordo_run_entries words from `out` on. */
ordo_status ordo_run_count_visible(struct ordo_call *call, const ordo_dict *dict, const struct ordo_sorted_run *run,
                                   struct ordo_slice out);
/* Makes R4 and R5 hold, and adds hidden bits to each run. */
ordo_status ordo_run_set_add_bits(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set);
/* Writes a bit for each stale element. `stale` has a slice of words for each run. */
ordo_status ordo_run_set_mark_stale(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set,
                                    const struct ordo_slice *stale);

/* ---- sorted_run_merge.c ------------------------------------------------------------------------------------------ */

/* Sorts a batch into a new run, stably. Makes all elements tombstones if `erase`. */
ordo_status ordo_runs_sort(struct ordo_runs *runs, struct ordo_call *call, bool erase, struct ordo_slice keys,
                           struct ordo_slice values, size_t count, struct ordo_sorted_run *out);
/* Make a run in scratch of the call: the first sorts a batch, the second takes sorted updates. The caller does not
 * release the run. */
ordo_status ordo_run_sort_scratch(struct ordo_call *call, const ordo_dict *dict, bool erase, struct ordo_slice keys,
                                  struct ordo_slice values, size_t count, struct ordo_sorted_run *out);
ordo_status ordo_run_take_scratch(struct ordo_call *call, const ordo_dict *dict,
                                  const struct ordo_sorted_updates *updates, struct ordo_sorted_run *out);
/* Makes a new run of a batch without repeated keys: the last of equal keys stays. Only copies a batch whose keys
 * ascend. Waits for the device. */
ordo_status ordo_runs_sort_distinct(struct ordo_runs *runs, struct ordo_call *call, struct ordo_slice keys,
                                    struct ordo_slice values, size_t count, struct ordo_sorted_run *out);
ordo_status ordo_runs_take(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_sorted_updates *updates,
                           struct ordo_sorted_run *out);
/* A batch of updates: either `sorted`, or the arrays of a call. */
struct ordo_run_batch {
    const struct ordo_sorted_updates *sorted; /* NULL: the other members have the batch */
    bool                              erase;
    struct ordo_slice                 keys, values;
    size_t                            count;
};
ordo_status ordo_runs_take_batch(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_run_batch *batch,
                                 struct ordo_sorted_run *out);
/* Merges n neighbouring runs, oldest first, into a new run of all their elements. */
ordo_status ordo_runs_merge(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_sorted_run *in, size_t n,
                            struct ordo_sorted_run *out);
/* Writes the visible elements of a resolved set. `values` may be ordo_none(). */
ordo_status ordo_run_set_write(struct ordo_call *call, const ordo_dict *dict, const struct ordo_run_set *set,
                               struct ordo_slice keys, struct ordo_slice values);
/* Makes a new run of the set's visible elements. *out has no block if there are none. Resolves the set. Waits for the
 * device. */
ordo_status ordo_runs_filter(struct ordo_runs *runs, struct ordo_call *call, struct ordo_run_set *set,
                             struct ordo_sorted_run *out);
/* Makes a new run of the visible elements (counts[i] of run i) of n neighbouring runs of a resolved set. It can replace
 * them, because the elements that they make stale in older runs are hidden (R4). */
ordo_status ordo_runs_filter_segment(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_sorted_run *in,
                                     const size_t *counts, size_t n, struct ordo_sorted_run *out);
/* Whether ordo_runs_visible can skip resolving the set. */
bool ordo_runs_can_dedup(const struct ordo_runs *runs, const struct ordo_run_set *set);
/* Makes a new run of the set's visible elements. If ordo_runs_can_dedup and memory suffices for all stored elements,
 * needs one pass, and the block has capacity for all; else resolves. Waits for the device. */
ordo_status ordo_runs_visible(struct ordo_runs *runs, struct ordo_call *call, struct ordo_run_set *set,
                              struct ordo_sorted_run *out);
/* Merges a clean run and a batch without tombstones into a new run. A key's value combines the values of all its
 * elements. May change the batch's values, even if it fails. Waits for the device. */
ordo_status ordo_runs_combine(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_run_set *set,
                              const struct ordo_merge_combine *combine, struct ordo_sorted_run *out);
/* Whether ordo_runs_combine works for the stored elements and `count` more. */
bool ordo_runs_can_combine(const struct ordo_runs *runs, size_t count);

#endif
