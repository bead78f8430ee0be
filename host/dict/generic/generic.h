/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that no structure need have a way of its own for: done by the structure's other operations (dict/structure.h).
 *
 *   combine.c     the value becomes old (+, min, max) new: find, then update; and where a structure has a way of its own, that
 *   ranges.c      ranges with limits and in descending order, seeks with bounds: rank, select, then range or seek
 *   erase.c       ranges erased: rank, select, range, update; the first (last) elements taken: the same
 *   aggregate.c   sums, minima, maxima over ranges: rank, then range or export
 *
 * Arguments are checked, counts from 1 up. All enqueue, unless they say that they wait, and leave the dictionary as it was if
 * they fail.
 */
#ifndef ORDO_GENERIC_H
#define ORDO_GENERIC_H

#include "dict/batch.h"

/* That values are numbers of this type, and the operation one of theirs: see ordo_dict_combine. */
ordo_status ordo_dict_check_numbers(const ordo_dict *dict, ordo_type value, ordo_op op);

/* By whatever way the structure has; ordo_dict_combine_generic: by the way that any structure has. */
ordo_status ordo_dict_combine_enqueue(ordo_dict *dict, struct ordo_call *call, const struct ordo_combines *combines);
ordo_status ordo_dict_combine_generic(ordo_dict *dict, struct ordo_call *call, const struct ordo_combines *combines);
/* Of a batch in key order: each value becomes what its key has had before the batch, and all that this brings for it up to there. Of
 * equal keys the last then says what to store, which may be done twice. Changes nothing else. */
ordo_status ordo_dict_combine_sorted(ordo_dict *dict, struct ordo_call *call, const struct ordo_combines *sorted);

ordo_status ordo_dict_limited_enqueue(ordo_dict *dict, struct ordo_call *call, const struct ordo_limited_ranges *ranges,
                                      bool waits);

/* Turns the elements of ranges round; offsets[count] says how many there are. */
ordo_status ordo_dict_reverse(struct ordo_call *call, const ordo_dict *dict, struct ordo_slice offsets, size_t count,
                              size_t capacity, struct ordo_slice keys_out, struct ordo_slice values_out);

ordo_status ordo_dict_seek_within_enqueue(ordo_dict *dict, struct ordo_call *call, const struct ordo_seeks *seeks,
                                          struct ordo_slice bounds);

struct ordo_erasures {
    struct ordo_slice lo, hi;
    size_t            count;
    struct ordo_slice erased; /* uint32_t; ordo_none() where nobody asks */
};
/* Waits. */
ordo_status ordo_dict_erase_range_enqueue(ordo_dict *dict, struct ordo_call *call, const struct ordo_erasures *e);

/* *got: how many there are. Waits. */
ordo_status ordo_dict_ends_enqueue(ordo_dict *dict, struct ordo_call *call, const struct ordo_ends *ends, size_t *got);

struct ordo_aggregates {
    ordo_type         value;
    ordo_op           op;
    struct ordo_slice lo, hi;
    size_t            count;
    struct ordo_slice results, counts; /* counts: uint32_t, or ordo_none() */
};
/* Waits. */
ordo_status ordo_dict_aggregate_enqueue(ordo_dict *dict, struct ordo_call *call, const struct ordo_aggregates *a);
/* After a change of the dictionary: what was made for later aggregates goes. */
void ordo_dict_drop_aggregates(ordo_dict *dict);

/* A kernel of `file` whose values are numbers of this type, joined by op. */
struct ordo_launch ordo_dict_kernel_typed(const ordo_dict *dict, const char *file, const char *kernel, ordo_type value,
                                          ordo_op op, size_t items);

#endif
