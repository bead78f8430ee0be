/* SPDX-License-Identifier: Apache-2.0 */
/* A workload on a device: its inputs in device memory, the call to be timed, and the check of what it left. */
#ifndef BENCH_SUBJECT_H
#define BENCH_SUBJECT_H

#include "bench/workload/inputs.h"

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

#endif
