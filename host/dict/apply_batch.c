/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/apply.h"

#include "primitive/scan.h"
#include "shared/codes.h"

_Static_assert(ORDO_FIND == CODE_FIND && ORDO_CONTAINS == CODE_CONTAINS && ORDO_UPSERT == CODE_UPSERT &&
                   ORDO_INSERT == CODE_INSERT && ORDO_ERASE == CODE_ERASE && ORDO_SEEK_LT == CODE_SEEK_LT &&
                   ORDO_SEEK_LE == CODE_SEEK_LE && ORDO_SEEK_GE == CODE_SEEK_GE && ORDO_SEEK_GT == CODE_SEEK_GT &&
                   ORDO_COUNT == CODE_COUNT && ORDO_RANGE == CODE_RANGE && ORDO_COMBINE == CODE_COMBINE &&
                   ORDO_RANK_LT == CODE_RANK_LT && ORDO_RANK_LE == CODE_RANK_LE && ORDO_SELECT == CODE_SELECT &&
                   ORDO_N_CODES == N_CODES && ORDO_HISTOGRAM_WORDS == HISTOGRAM_WORDS && ORDO_DONE == OUTCOME_DONE &&
                   ORDO_NOT_STORED == OUTCOME_NOT_STORED && ORDO_CUT_SHORT == OUTCOME_CUT_SHORT &&
                   ORDO_UNKNOWN == OUTCOME_UNKNOWN,
               "cl/shared/codes.h differs from include/ordo/dict.h");

void ordo_apply_add_batch(struct ordo_args *args, const struct apply *a)
{
    ordo_args_slice(args, &a->batch->codes);
    ordo_args_slice(args, &a->batch->values);
    ORDO_ADD(args, ORDO_ARG(a->sorted.keys), ORDO_ARG(a->sorted.index), ORDO_ARG(a->start), ORDO_ARG(a->insert),
             ORDO_ARG(a->there), ORDO_ARG(a->before), ORDO_ARG(a->made), ORDO_ARG(a->n));
}

void ordo_apply_add_timeline(struct ordo_args *args, const struct apply *a)
{
    ORDO_ADD(args, ORDO_ARG(a->masks), ORDO_ARG(a->block_sums), ORDO_ARG(a->there_before), ORDO_ARG(a->group_of),
             ORDO_ARG(a->n_blocks), ORDO_ARG(a->n_levels));
}

ordo_status ordo_apply_scan(const struct apply *a, ordo_type type, ordo_op op, bool inclusive, cl_mem mem, size_t at,
                            size_t count)
{
    const struct ordo_scan s = {
        .type = type, .op = op, .inclusive = inclusive, .in = ordo_at(mem, at), .out = ordo_at(mem, at), .count = count
    };
    return ordo_call_scan(a->call, &s);
}

size_t ordo_histogram_sum(const cl_uint histogram[ORDO_HISTOGRAM_WORDS], int least, int most)
{
    size_t n = 0;
    for (int code = least; code <= most; code++)
        n += histogram[code];
    return n;
}

cl_uint ordo_apply_n_of(const struct apply *a, ordo_code least, ordo_code most)
{
    return (cl_uint) ordo_histogram_sum(a->histogram, (int) least, (int) most);
}
