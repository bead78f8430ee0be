/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on sorted runs (dict/sorted_run.h), for the sorted array, the LSM and FAST. */
#ifndef ORDO_RUNS_H
#define ORDO_RUNS_H

#include "dict/sorted_run.h"

/* ---- runs.c ------------------------------------------------------------------------------------------------------ */

ordo_status ordo_runs_build(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys, struct ordo_slice values,
                            size_t count);
/* Replaces all runs by *run, which must have no hidden elements. If run->mem is NULL, no run remains. Shrinks the block
 * if the run needs less than half of it. */
void ordo_runs_become(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_sorted_run *run);
/* Keeps only the first `count` elements of the run. The set must have exactly one run. */
void ordo_runs_cut(struct ordo_runs *runs, struct ordo_call *call, size_t count);
/* Moves all visible elements into one run. If memory allows, its block has at most twice the needed size. The set must
 * not be empty. Waits. */
ordo_status ordo_runs_gather(ordo_dict *dict, struct ordo_call *call);
/* Moves all visible elements into one run, or several if one does not fit into memory. Adds 1 to runs->cleanups.
 * Waits. */
ordo_status ordo_runs_clean_up(ordo_dict *dict, struct ordo_call *call);
/* Like ordo_runs_clean_up, but if memory allows, the new run's block has just the needed size. Frees nearly all unused
 * blocks. */
ordo_status ordo_runs_compact(ordo_dict *dict, struct ordo_call *call);
ordo_status ordo_runs_export(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys_out,
                             struct ordo_slice values_out, size_t capacity, size_t *count);

/* ---- find.c ------------------------------------------------------------------------------------------------------ */

/* Sets *out to `wanted`. If this is ordo_none(), allocates `bytes` bytes of scratch memory instead. */
ordo_status ordo_runs_or_scratch(struct ordo_call *call, struct ordo_slice wanted, size_t bytes,
                                 struct ordo_slice *out);
ordo_status ordo_runs_find(ordo_dict *dict, struct ordo_call *call, const struct ordo_finds *finds);
/* Sets found[] to 0, unless it is ordo_none(). */
ordo_status ordo_runs_find_none(struct ordo_call *call, const ordo_dict *dict, const struct ordo_slice *found,
                                size_t count);

/* ---- rank.c ------------------------------------------------------------------------------------------------------ */

/* Sets ranks[i] to the number of keys less than keys[i]. If `upper` is true, also counts equal keys. */
ordo_status ordo_runs_rank_in_run(struct ordo_call *call, const ordo_dict *dict, struct ordo_sorted_run *run,
                                  struct ordo_slice keys, size_t count, bool upper, struct ordo_slice ranks);
/* Returns how many of `count` queries to answer at a time, if each needs `bytes` bytes of a scratch buffer. */
size_t              ordo_runs_part(const struct ordo_call *call, size_t count, size_t bytes);
typedef ordo_status ordo_runs_scratch(struct ordo_call *call, const void *what, size_t most, void *scratch);
/* Calls `take` to allocate scratch memory for *most queries, and halves *most while memory is short. */
ordo_status ordo_runs_take_scratch(struct ordo_call *call, ordo_runs_scratch *take, const void *what, size_t *most,
                                   void *scratch);
/* ordo_runs_count, _seek, _rank, _size, _range and _select first hide all replaced elements. */
ordo_status ordo_runs_count(ordo_dict *dict, struct ordo_call *call, const struct ordo_counts *counts);
ordo_status ordo_runs_seek(ordo_dict *dict, struct ordo_call *call, const struct ordo_seeks *seeks);
ordo_status ordo_runs_rank(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranks *ranks);
ordo_status ordo_runs_size(ordo_dict *dict, struct ordo_call *call, size_t *out);

/* ---- range.c ----------------------------------------------------------------------------------------------------- */

ordo_status ordo_runs_range(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranges *ranges);
/* Sets `lows` and `highs` to the ranks of lo[i] and hi[i] in each run. */
ordo_status ordo_runs_rank_bounds(struct ordo_call *call, const ordo_dict *dict, const struct ordo_run_set *set,
                                  const struct ordo_slice *lo, const struct ordo_slice *hi, size_t count, cl_mem lows,
                                  cl_mem highs);
/* Estimates how many elements of the oldest run are in the ranges. Waits. */
ordo_status ordo_runs_estimate(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranges *ranges, double *out);

/* ---- erase.c ----------------------------------------------------------------------------------------------------- */

/* Hides the elements of an interval. Sets *gone to their number, and *left to the number of remaining elements. The set
 * must not be empty. Waits if e->counted is false. */
ordo_status ordo_runs_hide(ordo_dict *dict, struct ordo_call *call, const struct ordo_interval_erasure *e, size_t *gone,
                           size_t *left);
/* Hides the elements of interval spans[r] (a run_interval) of each run r. `gone` is their total number. Must be a
 * call's last launch. */
ordo_status ordo_runs_hide_spans(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set, cl_mem spans,
                                 size_t gone);

/* ---- select.c ---------------------------------------------------------------------------------------------------- */

ordo_status ordo_runs_select(ordo_dict *dict, struct ordo_call *call, const struct ordo_selects *selects);
/* Writes the first or last elements, and hides them if ends->take. Sets *got to their number, and *left to the number
 * of remaining elements. If ends->count exceeds 2^14, sets *done to false and changes nothing. Waits. */
ordo_status ordo_runs_ends(ordo_dict *dict, struct ordo_call *call, const struct ordo_ends *ends, size_t *got,
                           size_t *left, bool *done);

/* ---- check.c ----------------------------------------------------------------------------------------------------- */

void ordo_runs_invalidate(ordo_dict *dict);
/* Returns ORDO_BROKEN if a run violates an invariant of struct ordo_run_set. Waits. */
ordo_status ordo_runs_check(ordo_dict *dict, struct ordo_call *call);
ordo_status ordo_runs_statistics(ordo_dict *dict, struct ordo_call *call, struct ordo_statistics *out);

#endif
