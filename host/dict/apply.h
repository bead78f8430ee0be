/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ORDO_DICT_APPLY_H
#define ORDO_DICT_APPLY_H

#include "dict/generic/generic.h"

#include "shared/apply.h"

struct neighbours {
    cl_mem keys, values, found;
};

/* `n` is the number of seeks. The first `n_up` have code ORDO_SEEK_GE or ORDO_SEEK_GT. `n_erased` is the number of
 * erase operations. Array `erased` gets the erased keys that were in the dictionary before the batch. */
struct seeks {
    cl_uint n_up, n, n_erased;
    cl_mem  ops, keys, erased;
    /* Entry i is the result of a search for keys[i] in the dictionary before the batch. */
    struct neighbours base;
    cl_mem            end;
};

struct apply {
    ordo_dict               *dict;
    struct ordo_call        *call;
    const struct ordo_batch *batch;
    cl_uint                  n;
    cl_uint                  histogram[ORDO_HISTOGRAM_WORDS];

    struct ordo_sorted_batch sorted;
    /* cl/dict/apply_batch.cl describes `there`, `before`, `start`, `insert` and `made`. */
    cl_mem there, before;
    cl_mem counted;
    /* Before the batch is sorted, element i is i. Afterwards element s is the first operation of segment s
     * (cl/dict/apply_batch.cl). */
    cl_mem number;
    cl_mem start, insert;
    cl_mem sums, insert_at;
    cl_mem group_of, first_of, there_before;
    cl_mem made;
    cl_mem places;

    cl_mem  entries, masks, block_sums;
    cl_uint n_blocks, n_levels;

    struct seeks seeks;
};

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

void ordo_apply_add_batch(struct ordo_args *args, const struct apply *a);
void ordo_apply_add_timeline(struct ordo_args *args, const struct apply *a);

ordo_status ordo_apply_build_timeline(struct apply *a);
/* Waits if the batch has ranges. */
ordo_status ordo_apply_resolve_order(struct apply *a, size_t *needed);

/* Answers seeks. If a seek visits too many keys of the batch, ordo_apply_resolve_far must answer all seeks again. */
ordo_status ordo_apply_resolve_seeks(struct apply *a);
ordo_status ordo_apply_resolve_far(struct apply *a);

#endif
