/* SPDX-License-Identifier: Apache-2.0 */
/* The dictionary of strings: a list of runs. cl/shared/string_dict.h describes runs, marks, ranks and places.
 *
 * Updates make new runs and marks, and wait for the device. Then they replace the list. So an error leaves the
 * dictionary unchanged. */
#ifndef ORDO_STRING_DICT_PRIVATE_H
#define ORDO_STRING_DICT_PRIVATE_H

#include "ordo/string_dict.h"
#include "primitive/string_index.h"
#include "shared/string_dict.h"

struct ordo_string_run {
    ordo_string_index *index; /* owns the strings */
    cl_mem             values, marks;
    cl_uint            count, visible; /* strings, and those not hidden */
};

/* Each run has over 3 times as many strings as the next one, unless a merge lacked memory. */
enum { ORDO_STRING_RUNS_MAX = 48, ORDO_STRING_GROWTH = 3 };

/* The oldest run comes first. */
struct ordo_string_runs {
    struct ordo_string_run at[ORDO_STRING_RUNS_MAX];
    cl_uint                n;
};

struct ordo_string_dict {
    ordo_device            *dev;
    uint32_t                value_bytes;
    struct ordo_string_runs runs;
    /* view[r] is the place of the string with rank r. NULL until a call needs it. */
    cl_mem                view;
    size_t                cleanups;
    struct ordo_last_call last;
};

/* ---- runs: runs.c ------------------------------------------------------------------------------------------------ */

ordo_status ordo_string_launch(struct ordo_call *call, const char *kernel, size_t count, const struct ordo_args *args);

size_t ordo_string_marks_bytes(size_t count);
size_t ordo_string_runs_visible(const struct ordo_string_runs *runs, cl_uint from);
size_t ordo_string_runs_stored(const struct ordo_string_runs *runs, cl_uint from);
/* Returns true if there is one run, and nothing in it is hidden. Ranks are then ids. */
bool ordo_string_runs_plain(const struct ordo_string_runs *runs);

/* Free the buffers of one or several runs, except buffers that a run of `keep` (may be NULL) also has. */
void ordo_string_run_release(ordo_device *dev, struct ordo_string_run *run, const struct ordo_string_runs *keep);
void ordo_string_runs_release(ordo_device *dev, struct ordo_string_runs *runs, const struct ordo_string_runs *keep);

/* Creates the run's marks. All strings are visible. */
ordo_status ordo_string_run_show(struct ordo_call *call, struct ordo_string_run *run);
/* Hides the strings of a batch in the first n runs, which get new marks. Removes runs without visible strings. Frees
 * their buffers, except buffers that a run of `keep` also has. Waits. */
ordo_status ordo_string_runs_hide(struct ordo_call *call, struct ordo_string_runs *runs, cl_uint n,
                                  const struct ordo_strings *batch, const struct ordo_string_runs *keep);

/* Adds to ranks[i] the number of visible strings of the run before string ids[i], or before string i if `ids` is
 * NULL. */
ordo_status ordo_string_run_add(struct ordo_call *call, const struct ordo_string_run *run, cl_mem ids, cl_uint count,
                                const struct ordo_slice *ranks);

/* ---- strings by place: gather.c ---------------------------------------------------------------------------------- */

struct ordo_string_source {
    struct ordo_strings column;
    struct ordo_slice   values;
};

/* Copies `count` strings and their values from several columns. The rows of all columns are numbered consecutively,
 * from the first row of source[0] on. Row places[i] becomes string i. If `places` is NULL, copies the first `count`
 * rows. */
struct ordo_string_gather {
    struct ordo_string_source source[ORDO_STRING_RUNS_MAX];
    cl_uint                   n_sources;
    cl_mem                    places;
    cl_uint                   count;
    uint32_t                  value_bytes;
    struct ordo_slice         offsets, bytes, values; /* `values` may be ordo_none() */
};

void ordo_string_gather_from(struct ordo_string_gather *g, const struct ordo_string_runs *runs, cl_uint from);
/* Writes the offsets, and sets *total to the number of bytes. Waits. */
ordo_status ordo_string_gather_lengths(struct ordo_call *call, const struct ordo_string_gather *g, cl_ulong *total);
ordo_status ordo_string_gather_copy(struct ordo_call *call, const struct ordo_string_gather *g);

/* ---- new runs: merge.c ------------------------------------------------------------------------------------------- */

/* Writes the places of the visible strings of runs `from` to n - 1 in ascending order of the strings. */
ordo_status ordo_string_order(struct ordo_call *call, const struct ordo_string_runs *runs, cl_uint from, cl_mem places);

/* places[i] becomes the number of the last row that has the string with id i. `batch` must be an index with keep_rows =
 * true and sorted = false. */
ordo_status ordo_string_last_rows(struct ordo_call *call, const ordo_string_index *batch, cl_mem places);

/* Makes a run of a batch. If a string repeats, stores its last row. Waits. */
ordo_status ordo_string_run_of(struct ordo_call *call, const ordo_string_dict *dict, const struct ordo_strings *batch,
                               struct ordo_slice values, struct ordo_string_run *out);

/* Replaces the runs from number `from` on by one run. Drops hidden strings. Frees the buffers of the replaced runs,
 * except buffers that dict->runs also has. After an error, *runs is unchanged. Waits. */
ordo_status ordo_string_merge(struct ordo_call *call, const ordo_string_dict *dict, struct ordo_string_runs *runs,
                              cl_uint from);

/* ---- calls: string_dict.c ---------------------------------------------------------------------------------------- */

ordo_status ordo_string_dict_begin(struct ordo_call *call, ordo_string_dict *dict, const struct ordo_order *order,
                                   bool waits);
ordo_status ordo_string_dict_end(struct ordo_call *call, ordo_string_dict *dict, ordo_status status);

#endif
