/* SPDX-License-Identifier: Apache-2.0 */
/* State of a mixed batch between its steps. apply.c explains the steps. */
#ifndef ORDO_DICT_APPLY_H
#define ORDO_DICT_APPLY_H

#include "dict/generic/generic.h"

#include "shared/apply.h"

/* Results of seeks in the dictionary before the batch. */
struct neighbours {
    cl_mem keys, values, found;
};

/* The batch's n seeks, the n_up upward ones first, and the n_erased keys that the batch erases. Some of these keys may
 * be absent from the dictionary. */
struct seeks {
    cl_uint           n_up, n, n_erased;
    cl_mem            ops, keys, erased;
    struct neighbours base; /* of the upward seeks, the erased keys upwards, then both downwards */
    cl_mem            end;  /* see apply_chain in cl/dict/apply_seek.cl */
};

struct apply {
    ordo_dict               *dict;
    struct ordo_call        *call;
    const struct ordo_batch *batch;
    cl_uint                  n;
    cl_uint                  histogram[ORDO_HISTOGRAM_WORDS]; /* number of operations of each code */

    struct ordo_sorted_batch sorted;
    cl_mem there, before; /* for each sorted key: 1 if it is present before the batch, and its value */
    cl_mem counted;       /* the histogram on the device */
    cl_mem number;        /* 0, 1, 2, ...; after the sort reused for the starts of segments */
    cl_mem start, insert; /* see sorted_batch in cl/dict/apply_batch.cl */
    cl_mem sums, insert_at;
    cl_mem group_of, first_of, there_before;
    cl_mem made; /* values after combines; NULL without combines */
    cl_mem places;

    cl_mem  entries, masks, block_sums; /* the timeline */
    cl_uint n_blocks, n_levels;

    struct seeks seeks;
};

/* Takes scratch for `count` elements. *out stays as it is if bytes is 0. */
static inline ordo_status ordo_apply_scratch(const struct apply *a, size_t count, size_t bytes, cl_mem *out)
{
    return bytes ? ordo_call_scratch(a->call, count * bytes, out) : ORDO_OK;
}

cl_uint ordo_apply_n_of(const struct apply *a, ordo_code least, ordo_code most);

static inline cl_uint ordo_apply_n_seeks(const struct apply *a)
{
    return ordo_apply_n_of(a, ORDO_SEEK_LT, ORDO_SEEK_GT);
}

ordo_status ordo_apply_scan(const struct apply *a, ordo_type type, ordo_op op, bool inclusive, cl_mem mem, size_t at,
                            size_t count);

/* Add the arguments BATCH_ARGS (cl/dict/apply_batch.cl) and TIMELINE_ARGS (cl/dict/timeline.cl). */
void ordo_apply_add_batch(struct ordo_args *args, const struct apply *a);
void ordo_apply_add_timeline(struct ordo_args *args, const struct apply *a);

/* apply_order.c. Answers counts, ranks, selections and ranges. Waits if there are ranges. */
ordo_status ordo_apply_build_timeline(struct apply *a);
ordo_status ordo_apply_resolve_order(struct apply *a, size_t *needed);

/* apply_seek.c. resolve_seeks answers all seeks but far ones (count_changed in apply.c). If there are far ones,
 * resolve_far repeats all seeks by the timeline. */
ordo_status ordo_apply_resolve_seeks(struct apply *a);
ordo_status ordo_apply_resolve_far(struct apply *a);

#endif
