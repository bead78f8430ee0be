/* SPDX-License-Identifier: Apache-2.0 */
/* Implements operations by the structure's other operations (dict/structure.h). */
#ifndef ORDO_GENERIC_H
#define ORDO_GENERIC_H

#include "dict/batch.h"

/* Returns an error if the dictionary's values cannot have type `value`, or the type lacks `op`. */
ordo_status ordo_dict_check_numbers(const ordo_dict *dict, ordo_type value, ordo_op op, const char *call);

ordo_status ordo_dict_combine_enqueue(ordo_dict *dict, struct ordo_call *call, const struct ordo_combines *combines);
ordo_status ordo_dict_combine_generic(ordo_dict *dict, struct ordo_call *call, const struct ordo_combines *combines);
/* The batch must be sorted by key. Replaces each value in the batch by the combination of its key's stored value and
 * values in the batch up to this one. The caller must then store the last value of each key. */
ordo_status ordo_dict_combine_sorted(ordo_dict *dict, struct ordo_call *call, const struct ordo_combines *sorted);

ordo_status ordo_dict_limited_enqueue(ordo_dict *dict, struct ordo_call *call, const struct ordo_limited_ranges *ranges,
                                      bool waits);

ordo_status ordo_dict_reverse(struct ordo_call *call, const ordo_dict *dict, struct ordo_slice offsets, size_t count,
                              size_t capacity, struct ordo_slice keys_out, struct ordo_slice values_out);

ordo_status ordo_dict_seek_within_enqueue(ordo_dict *dict, struct ordo_call *call, const struct ordo_seeks *seeks,
                                          struct ordo_slice bounds);

struct ordo_erasures {
    struct ordo_slice lo, hi;
    size_t            count;
    struct ordo_slice erased; /* uint32_t, or ordo_none() */
};
/* Waits for the device. */
ordo_status ordo_dict_erase_range_enqueue(ordo_dict *dict, struct ordo_call *call, const struct ordo_erasures *e);

/* Reads the first or last elements, and erases them if ends->take. Sets *got to their number. Waits. */
ordo_status ordo_dict_ends_enqueue(ordo_dict *dict, struct ordo_call *call, const struct ordo_ends *ends, size_t *got);

struct ordo_aggregates {
    ordo_type         value;
    ordo_op           op;
    struct ordo_slice lo, hi;
    size_t            count;
    struct ordo_slice results, counts; /* uint32_t `counts`, or ordo_none() */
};
/* Waits for the device. */
ordo_status ordo_dict_aggregate_enqueue(ordo_dict *dict, struct ordo_call *call, const struct ordo_aggregates *a);
void        ordo_dict_drop_aggregates(ordo_dict *dict);

struct ordo_launch ordo_dict_kernel_typed(const ordo_dict *dict, const char *file, const char *kernel, ordo_type value,
                                          ordo_op op, size_t items);

#endif
