/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "group/value.cl"

#define HASH_RENEWED(part, was, u) value_combine_by(was, (part)->values[hash_index_of(part, u)], (part)->how)

ORDO_FN uint hash_last_of(const hash_part *part, __local const uint *words, uint places, uint u)
{
    const ordo_key mixed = part->mixed[u];
    uint           at = hash_first_place(mixed, places), last = u;
    for (uint tries = 0; tries < places; tries++) {
        last = words[at] - 1;
        if (key_same(part->mixed[last], mixed))
            break;
        at = at + 1 == places ? 0 : at + 1;
    }
    return last;
}

/* Combines the value of update u into the value of update `last`, which has the same key. For a minimum or maximum, the
 * caller must first replace the value of `last` by its rank (value_rank). If ranks have 8 bytes, this function combines
 * only their upper 4 bytes. The caller must then call hash_bring_lower. */
ORDO_FN void hash_bring(const hash_part *part, uint u, uint last)
{
    volatile __global uint *to = (volatile __global uint *) (part->values + hash_index_of(part, last));
    const ordo_value        value = part->values[hash_index_of(part, u)];
#if ORDO_VALUE_BYTES == 8
    if (VALUE_OP_OF(part->how) == COMBINE_SUM) {
        const uint was = ordo_add(to, (uint) value);
        ordo_add(to + 1, (uint) (value >> 32) + (was + (uint) value < was));
    } else {
        const uint upper = (uint) (value_rank(value, part->how) >> 32);
        if (ordo_max(to + 1, upper) < upper)
            ordo_store_relaxed(to, 0);
    }
#else
    if (VALUE_OP_OF(part->how) == COMBINE_SUM)
        ordo_add(to, value);
    else
        ordo_max(to, value_rank(value, part->how));
#endif
}

/* The work-group must first call hash_bring for all updates, and then a barrier. */
ORDO_FN void hash_bring_lower(const hash_part *part, uint u, uint last)
{
#if ORDO_VALUE_BYTES == 8
    volatile __global uint *to = (volatile __global uint *) (part->values + hash_index_of(part, last));
    const ordo_value        bits = value_rank(part->values[hash_index_of(part, u)], part->how);
    if (ordo_load_relaxed(to + 1) == (uint) (bits >> 32))
        ordo_max(to, (uint) bits);
#endif
}

/* If `folds` is true, combines all values of each key into the value of the key's last update. The whole group must
 * call. */
ORDO_FN void hash_fold(const hash_part *part, __local const uint *words, uint most, __local const uint *live,
                       bool folds)
{
    const uint places = hash_places(part, most), n = folds ? part->n : 0;
    const uint n_ordered = VALUE_OP_OF(part->how) == COMBINE_SUM ? 0 : n;
    HASH_EACH (u, n_ordered)
        if (hash_bit(live, u))
            part->values[hash_index_of(part, u)] = value_rank(part->values[hash_index_of(part, u)], part->how);
    hash_barrier();
    HASH_EACH (u, n)
        if (!hash_bit(live, u))
            hash_bring(part, u, hash_last_of(part, words, places, u));
    hash_barrier();
#if ORDO_VALUE_BYTES == 8
    HASH_EACH (u, n_ordered)
        if (!hash_bit(live, u))
            hash_bring_lower(part, u, hash_last_of(part, words, places, u));
    hash_barrier();
#endif
    HASH_EACH (u, n_ordered)
        if (hash_bit(live, u))
            part->values[hash_index_of(part, u)] = value_of_rank(part->values[hash_index_of(part, u)], part->how);
    hash_barrier();
}
