/* SPDX-License-Identifier: Apache-2.0 */
/* A workload on a device: inputs, the timed call, and the check of its results. */
#pragma once

#include "bench/common/timing.h"
#include "bench/peers/host.h"
#include "bench/workload/inputs.h"
#include "bench/workload/model.h"
#include "bench/workload/plan.h"
#include "bench/workload/workload.h"

#include "ordo/ordo.h"

#include <stdbool.h>

/* Arrays of a workload: inputs, then outputs. */
#define BUFFERS_MAX 16
struct buffers {
    ordo_device *device;
    int          n_inputs, n;
    bool         on_host; /* outputs in host memory and no inputs, for calls on arrays of the host */
    bool         pinned;  /* with on_host: all arrays, in memory of ordo_host_alloc */
    size_t       bytes[BUFFERS_MAX];
    cl_mem       at[BUFFERS_MAX]; /* NULL: unused */
    void        *host[BUFFERS_MAX];
};

/* Makes them and writes the inputs. Blocks. Returns an error with its reason in `why`; then also call buffers_free. */
ordo_status buffers_make(struct buffers *buffers, const size_t *bytes, const void *const *from, char *why);
void        buffers_free(struct buffers *buffers);
/* Fills the outputs with POISON_BYTE. */
ordo_status buffers_poison(struct buffers *buffers);
/* Reads an output. The caller frees it; NULL with the reason in `why`. */
void *buffers_read(const struct buffers *buffers, int i, char *why);
/* From an element on; none if the array is unused. */
struct ordo_slice buffers_at(const struct buffers *buffers, int i, size_t at);

struct target {
    ordo_device   *device;
    struct spec    spec;
    struct inputs  in;
    ordo_index    *index;         /* NULL: none */
    double         index_seconds; /* of its last build */
    struct buffers arrays;        /* a host's array is sorted in place of its outputs */

    ordo_string_index *strings;     /* NULL: none */
    ordo_string_dict  *string_dict; /* NULL: none. Its values are the last rows with each string. */
    ordo_dict         *set;         /* readroaring, writeroaring; else NULL */
    size_t             set_bytes;   /* that the last call wrote */
};

struct workload_bytes target_bytes(const struct spec *spec);

/* Makes the inputs, moves them to the device and builds the index if the variant has one. Blocks. After an error
 * *out is NULL and `why` has the reason. */
ordo_status target_open(ordo_device *device, const struct spec *spec, struct target **out, char *why);
void        target_close(struct target **target);

/* A call_fn: enqueues the workload once. Workloads on host memory block. */
ordo_status target_call(void *arg, const struct ordo_order *order);
/* A call_fn for `prepare`: restores the host arrays that the last call changed, or destroys the index that it built. */
ordo_status target_prepare(void *arg, const struct ordo_order *order);

/* Waits, reads and checks all outputs. False with the reason in `why`. */
bool target_check(struct target *target, char *why);

/* Parts of the calls above for workloads of strings. */
struct workload_bytes string_target_bytes(const struct spec *spec);
ordo_status           string_target_fill(struct target *target, char *why);
ordo_status           string_target_call(struct target *target, const struct ordo_order *order);
ordo_status           string_target_prepare(struct target *target);
bool                  string_target_check(struct target *target, char *why);

/* Parts of these calls for sets in the Roaring format. */
struct workload_bytes roaring_target_bytes(const struct spec *spec);
ordo_status           roaring_target_fill(struct target *target, char *why);
ordo_status           roaring_target_call(struct target *target, const struct ordo_order *order);
bool                  roaring_target_check(struct target *target, char *why);

/* Rebuilds the index after a change of tunables. */
ordo_status target_index(struct target *target);

/* Creates an empty structure with its default settings. */
ordo_status structure_create(ordo_device *device, int structure, const struct ordo_dict_config *config,
                             ordo_dict **dict);

/* Whether the structure can run the workload; true if unknown, then opening it fails. */
bool dict_target_can(ordo_device *device, const struct spec *spec);

/* Measures one point of a dictionary and checks everything. */

#define FILLS_MAX 64

/* Query times at one fill. */
struct dict_fill {
    size_t batches, elements; /* so far */
    double seconds;           /* of a call with all queries */
    double first_seconds;     /* first call after the updates; of the first fill with kernel builds */
    int    repetitions;
    double sample[REPETITIONS_MAX]; /* seconds a call, in order */
};

struct dict_figures {
    bool right;
    /* For queries: the mean over fills, so that rates are harmonic means; wall clock only. */
    struct timing          timing;
    int                    n_fills;
    struct dict_fill      *fills;
    size_t                 n_batches;                  /* updates in several batches, repeated with a wait each */
    double                *batch_seconds;              /* seconds of each */
    double                 rebuild_seconds;            /* cleanup: seconds to build it from the elements; else NaN */
    double                 baseline[N_DICT_BASELINES]; /* operations a second of host baselines; NaN: unknown */
    struct ordo_statistics statistics;                 /* at the end */
};

void dict_figures_free(struct dict_figures *figures);

/* Returns the first error with its reason in `why`. A wrong result returns ORDO_OK with the reason in `why`. host:
 * baselines to run, as bits 1 << DICT_BTREE. The caller frees *out with dict_figures_free in any case. */
ordo_status dict_measure(ordo_device *device, const struct spec *spec, const struct timing_goal *goal, unsigned host,
                         struct dict_figures *out, char *why);
