/* SPDX-License-Identifier: Apache-2.0 */
/* A workload on a device: its inputs in device memory, the call to be timed, and the check of what it left. */
#ifndef BENCH_MEASURE_MEASURE_H
#define BENCH_MEASURE_MEASURE_H

#include "bench/common/timing.h"
#include "bench/workload/inputs.h"
#include "bench/workload/model.h"
#include "bench/workload/plan.h"
#include "bench/workload/workload.h"

#include "ordo/ordo.h"

#include <stdbool.h>

struct subject;

/* What a subject takes of the device's memory. */
struct workload_bytes subject_bytes(const struct spec *spec);

/* Makes the inputs, moves them to the device and builds the search index if the variant has one. Blocks.
 * After an error *out is NULL and `why` says what failed. */
ordo_status subject_open(ordo_device *device, const struct spec *spec, struct subject **out, char *why,
                         size_t why_bytes);
void        subject_close(struct subject **subject);

/* A call_fn (timing.h): enqueues the workload of the subject that `arg` is, once; from and to host memory does it. */
ordo_status subject_call(void *arg, const struct ordo_order *order);
/* A call_fn for `prepare` of workloads from and to host memory: the arrays that the call before changed are as at first. */
ordo_status subject_prepare(void *arg, const struct ordo_order *order);

/* Fills the outputs with POISON_BYTE, so that a check sees only what came after. */
ordo_status subject_poison(struct subject *subject);

/* Waits for the device, reads the outputs and checks them all. False with the reason in `why`. */
bool subject_check(struct subject *subject, char *why, size_t why_bytes);

/* Builds the search index anew, after a change of tunables; does nothing for other variants. */
ordo_status subject_index(struct subject *subject);
/* Seconds of the last build of the index and the bytes it takes; 0 without one. */
double subject_index_seconds(const struct subject *subject);
size_t subject_index_bytes(const struct subject *subject);

const struct inputs *subject_inputs(const struct subject *subject);

/* Calls on dictionaries from and to arrays in host memory: inputs are the cols's own, outputs have memory beside it. */

struct host_outputs {
    void  *at[N_COLUMNS];
    size_t exported; /* elements that the last export found */
};

/* Room for all outputs of a cols, poisoned. False without memory: then there are none. */
bool host_outputs_make(const struct column_batch *cols, struct host_outputs *outputs);
void host_outputs_free(struct host_outputs *outputs);
/* Fills them with POISON_BYTE. */
void host_outputs_poison(const struct column_batch *cols, struct host_outputs *outputs);

/* A build, upsert, find or export; blocks. ORDO_UNSUPPORTED: another step. */
ordo_status host_step(ordo_dict *dict, const struct column_batch *cols, struct host_outputs *outputs,
                      const struct step *step);

/* A dictionary on a device that goes through a plan: gets its content, does the calls to be timed, and is compared with
 * the plan's model. */

struct dict_subject;

/* Whether the structure that the variant names can do the workload. True where that cannot be found out: then opening it
 * says why. */
bool dict_subject_can(ordo_device *device, const struct spec *spec);

/* An empty dictionary of the structure that the plan's variant names, and the plan's table in device memory. The plan must
 * outlive it. After an error *out is NULL and `why` says what failed. */
ordo_status dict_subject_open(ordo_device *device, const struct dict_plan *plan, struct dict_subject **out, char *why,
                              size_t why_bytes);
void        dict_subject_close(struct dict_subject **subject);

/* Moves the plan's work (and churn) to the device, as it is now. */
ordo_status dict_subject_load(struct dict_subject *subject, char *why, size_t why_bytes);

/* Brings the content from the table's first `from` batches to its first `to`: by upserts, a sorted array by a bulk
 * build. */
ordo_status dict_subject_fill(struct dict_subject *subject, size_t from, size_t to);

/* A call_fn (timing.h) for `prepare`: clears, fills with the whole table, and lets the churn happen. */
ordo_status dict_subject_prepare(void *arg, const struct ordo_order *order);
/* A call_fn: the work. */
ordo_status dict_subject_work(void *arg, const struct ordo_order *order);
/* One of its steps. */
ordo_status dict_subject_step(struct dict_subject *subject, size_t step);
/* A call_fn: builds the dictionary anew from the table. */
ordo_status dict_subject_rebuild(void *arg, const struct ordo_order *order);

/* Fills the outputs with POISON_BYTE. */
ordo_status dict_subject_poison(struct dict_subject *subject);

/* Whether the outputs of the work are the plan's, and, if `content` is set, the dictionary's elements the model's and its
 * invariants whole. */
bool dict_subject_check(struct dict_subject *subject, bool content, char *why, size_t why_bytes);

ordo_status dict_subject_statistics(struct dict_subject *subject, struct ordo_statistics *out);

/* One point of the axes on a dictionary: the plan is made, gone through and timed, and everything is checked. */

#define FILLS_MAX 64

/* What queries took when the dictionary had so many of its batches. */
struct dict_fill {
    size_t batches, elements; /* put in */
    double seconds;           /* a call with all queries */
    double first_seconds;     /* the first such call after the updates; of the first fill with building kernels */
    int    repetitions;
    double sample[REPETITIONS_MAX]; /* seconds a call, in their order */
};

struct dict_figures {
    bool right;
    /* Of queries: the mean over all fills, so that rates are harmonic means; host's clock only. */
    struct timing          timing;
    int                    n_fills;
    struct dict_fill      *fills;
    size_t                 n_batches;       /* of updates in several batches, done once more: ... */
    double                *batch_seconds;   /* ... the time of each, waiting for its end */
    double                 rebuild_seconds; /* cleanup: what building it anew takes; NaN otherwise */
    double                 baseline[3];     /* operations a second by dict_yardstick.h's; NaN: not known */
    struct ordo_statistics statistics;      /* at the end */
};

void dict_figures_free(struct dict_figures *figures);

/* Returns the first error, with its reason in `why`; with a wrong answer ORDO_OK, and `why` says what is wrong.
 * host: baselines to be taken too, 1 << DICT_BTREE and so on. The caller frees *out with dict_figures_free in any case. */
ordo_status dict_measure(ordo_device *device, const struct spec *spec, const struct timing_goal *goal, unsigned host,
                         struct dict_figures *out, char *why, size_t why_bytes);

#endif
