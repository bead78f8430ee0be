/* SPDX-License-Identifier: Apache-2.0 */
/* A dictionary on a device that goes through a plan: gets its content, does the calls to be timed, and is compared with
 * the plan's model. */
#ifndef BENCH_DICT_SUBJECT_H
#define BENCH_DICT_SUBJECT_H

#include "bench/workload/dict_plan.h"

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

#endif
