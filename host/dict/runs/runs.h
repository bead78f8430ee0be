/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that the sorted array, the LSM and FAST share: dictionaries of sorted runs (dict/sorted_run.h).
 *
 * A file calls only files before it (host/meson.build). sorted_array.c, lsm.c and fast.c are independent. */
#ifndef ORDO_RUNS_H
#define ORDO_RUNS_H

#include "dict/sorted_run.h"

/* ---- runs.c ------------------------------------------------------------------------------------------------------ */

ordo_status ordo_runs_build(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys, struct ordo_slice values,
                            size_t count);
/* Replaces all runs by one, clean or without a block, and moves it to a smaller block if it needs less than half. */
void ordo_runs_become(struct ordo_runs *runs, struct ordo_call *call, const struct ordo_sorted_run *run);
/* Cuts a clean set to its first `count` elements, in place. */
void ordo_runs_cut(struct ordo_runs *runs, struct ordo_call *call, size_t count);
/* Moves all visible elements into one run, in a block at most twice as large as needed. The set is not empty. Waits. */
ordo_status ordo_runs_gather(ordo_dict *dict, struct ordo_call *call);
/* Gathers and counts a cleanup, unless the set is clean. Without memory for one run, or above the largest
 * allocation, makes as few runs as fit. Waits. */
ordo_status ordo_runs_clean_up(ordo_dict *dict, struct ordo_call *call);
/* Cleans up, and frees nearly all cached blocks. */
ordo_status ordo_runs_compact(ordo_dict *dict, struct ordo_call *call);
ordo_status ordo_runs_export(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys_out,
                             struct ordo_slice values_out, size_t capacity, size_t *count);

/* ---- find.c ------------------------------------------------------------------------------------------------------ */

/* `wanted`, or scratch if that is ordo_none(). */
ordo_status ordo_runs_or_scratch(struct ordo_call *call, struct ordo_slice wanted, size_t bytes,
                                 struct ordo_slice *out);
ordo_status ordo_runs_find(ordo_dict *dict, struct ordo_call *call, const struct ordo_finds *finds);
/* found[0 .. count - 1] = 0. Nothing if found is ordo_none(). */
ordo_status ordo_runs_find_none(struct ordo_call *call, const ordo_dict *dict, const struct ordo_slice *found,
                                size_t count);

/* ---- rank.c ------------------------------------------------------------------------------------------------------ */

/* ranks[i] = the number of keys of the run that are less than keys[i], or not greater (`upper`). */
ordo_status ordo_runs_rank_in_run(struct ordo_call *call, const ordo_dict *dict, struct ordo_sorted_run *run,
                                  struct ordo_slice keys, size_t count, bool upper, struct ordo_slice ranks);
/* The number of `count` queries that are answered at a time, if each takes `bytes` of one scratch block. */
size_t ordo_runs_part(const struct ordo_call *call, size_t count, size_t bytes);
/* Takes scratch for *most queries. If memory is short, halves *most and tries again. */
typedef ordo_status ordo_runs_scratch(struct ordo_call *call, const void *what, size_t most, void *scratch);
ordo_status ordo_runs_take_scratch(struct ordo_call *call, ordo_runs_scratch *take, const void *what, size_t *most,
                                   void *scratch);
/* The queries below resolve the set. */
ordo_status ordo_runs_count(ordo_dict *dict, struct ordo_call *call, const struct ordo_counts *counts);
ordo_status ordo_runs_seek(ordo_dict *dict, struct ordo_call *call, const struct ordo_seeks *seeks);
ordo_status ordo_runs_rank(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranks *ranks);
ordo_status ordo_runs_size(ordo_dict *dict, struct ordo_call *call, size_t *out);

/* ---- range.c ----------------------------------------------------------------------------------------------------- */

/* Resolves. */
ordo_status ordo_runs_range(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranges *ranges);
/* The ranks of few bounds in each run, in one launch. */
ordo_status ordo_runs_rank_bounds(struct ordo_call *call, const ordo_dict *dict, const struct ordo_run_set *set,
                                  const struct ordo_slice *lo, const struct ordo_slice *hi, size_t count, cl_mem lows,
                                  cl_mem highs);
/* About how many elements of the oldest run the ranges have. Waits. */
ordo_status ordo_runs_estimate(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranges *ranges, double *out);

/* ---- erase.c ----------------------------------------------------------------------------------------------------- */

/* Hides the elements of an interval. *gone: its visible elements; *left: the others. Resolves. Waits unless `e` has the
 * counts. The set is not empty. */
ordo_status ordo_runs_hide(ordo_dict *dict, struct ordo_call *call, const struct ordo_interval_erasure *e, size_t *gone,
                           size_t *left);
/* Hides the elements of the spans, a run_interval for each run, `gone` elements in all. The last launch of a call. */
ordo_status ordo_runs_hide_spans(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set, cl_mem spans,
                                 size_t gone);

/* ---- select.c ---------------------------------------------------------------------------------------------------- */

/* Resolves. */
ordo_status ordo_runs_select(ordo_dict *dict, struct ordo_call *call, const struct ordo_selects *selects);
/* Writes the first or last elements, and hides them to take them. *got: their number; *left: the number of others.
 * *done is false, without changes, if they are many. Resolves. Waits. */
ordo_status ordo_runs_ends(ordo_dict *dict, struct ordo_call *call, const struct ordo_ends *ends, size_t *got,
                           size_t *left, bool *done);

/* ---- check.c ----------------------------------------------------------------------------------------------------- */

/* Checks R1 to R7 of all runs on the device. ORDO_BROKEN with the invariant, the run and the element. Waits. */
void        ordo_runs_invalidate(ordo_dict *dict);
ordo_status ordo_runs_check(ordo_dict *dict, struct ordo_call *call);
ordo_status ordo_runs_statistics(ordo_dict *dict, struct ordo_call *call, struct ordo_statistics *out);

#endif
