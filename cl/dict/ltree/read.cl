/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of concurrent finds, seeks, counts and ranges in a leaf. */
#pragma once
#include "dict/ltree/operation.cl"

ORDO_FN ltree_value ltree_look_at_value(const ltree_batch *batch, ltree_op *op, uint slot, uint *seen)
{
    ltree_value value = 0;
    if (HAS_VALUES)
        value = ltree_load_uncached_value(ltree_values(&batch->tree, op->at) + slot);
    *seen ^= VALUE_WORD(value);
    return value;
}

ORDO_FN uint ltree_find_on(const ltree_batch *batch, ltree_op *op, __global ordo_key_form *line, ltree_tail tail)
{
    const uint    count = tail.header & LTREE_COUNT_MASK;
    ordo_key_form key;
    ltree_value   value = 0;

    line += ltree_after_look(batch, tail.header);
    const uint slot = ltree_place(line, op->query, true, &key);
    uint       seen = slot ^ ltree_fold(key);
    ltree_delay(batch, op, FAULT_SLOW_LOOKS);
    const bool found = slot < count && key_same(key, op->query);
    if (found && op->code == CODE_FIND)
        value = ltree_look_at_value(batch, op, slot, &seen);
    if (!ltree_unchanged(batch, line, tail, seen))
        return STEP_AGAIN;
    if (HAS_VALUES && found && op->code == CODE_FIND && batch->values_out && apart_leads())
        batch->values_out[op->i] = value;
    return ltree_answer(batch, op, found);
}

ORDO_FN uint ltree_seek_on(const ltree_batch *batch, ltree_op *op, __global ordo_key_form *line, ltree_tail tail)
{
    const bool    forward = op->code >= CODE_SEEK_GE;
    const uint    count = tail.header & LTREE_COUNT_MASK;
    ordo_key_form key;
    ltree_value   value = 0;

    line += ltree_after_look(batch, tail.header);
    uint slot = ltree_place(line, op->query, true, &key);
    uint seen = slot ^ ltree_fold(key);
    ltree_delay(batch, op, FAULT_SLOW_LOOKS);
    bool found = slot < count && (forward || key_same(key, op->query));
    if (!forward && !found && slot > 0) {
        /* If another team changes the leaf meanwhile, count may be 0. Then ltree_unchanged fails. */
        slot = min(slot, count) - 1;
        found = slot < LTREE_SLOTS;
        if (found)
            key = ltree_load_uncached_key(line + slot);
        seen ^= ltree_fold(key);
    }
    if (found)
        value = ltree_look_at_value(batch, op, slot, &seen);
    if (!ltree_unchanged(batch, line, tail, seen))
        return STEP_AGAIN;
    if (found || (forward ? tail.right == LTREE_NONE : op->at == 0))
        return ltree_answer_seek(batch, op, found, key, value);
    op->query = forward ? key_plus(tail.high, LTREE_WORD(1)) : tail.low;
    op->at = forward ? tail.right : LTREE_NONE;
    return ++op->hops < batch->far ? STEP_ON : STEP_FAR;
}

/* Range op->i may write output elements `begin` to `end` - 1. */
typedef struct {
    ulong begin, end;
} ltree_room;

ORDO_FN ltree_room ltree_room_of(const ltree_batch *batch, const ltree_op *op)
{
    ltree_room room = { 0, 0 };
    if (op->code == CODE_RANGE && batch->rooms) {
        room.end = min(batch->rooms[op->i + 1], batch->range_capacity);
        room.begin = min(batch->rooms[op->i], room.end);
    }
    return room;
}

ORDO_FN void ltree_write_element(const ltree_batch *batch, const ltree_op *op, ulong place, ordo_key_form key,
                                 uint slot)
{
    if (batch->range_keys)
        batch->range_keys[place] = key_from_bits(key);
    if (HAS_VALUES && batch->range_values)
        batch->range_values[place] = ltree_load_uncached_value(ltree_values(&batch->tree, op->at) + slot);
}

/* Counts the keys from op->query to `hi` in the first `count` slots, and copies elements if the output has room.
 * Computes *seen, which the caller must pass to ltree_unchanged, from all loaded keys. */
ORDO_FN uint ltree_scan_keys(const ltree_batch *batch, ltree_op *op, __global ordo_key_form *line, uint count,
                             ordo_key_form hi, ltree_room room, uint *seen)
{
    uint keys_here = 0;
#if TEAM_WIDTH == 1
    for (uint first = 0; first < min(count, (uint) LTREE_SLOTS); first += PIECE_KEYS) {
        ordo_key_form keys[PIECE_KEYS];
        ltree_delay(batch, op, FAULT_SLOW_LOOKS);
        ltree_unpack_keys(ordo_load_uncached128((__global const uint *) (line + first)), keys);
        ORDO_UNROLL
        for (uint k = 0; k < PIECE_KEYS; k++) {
            *seen ^= ltree_fold(keys[k]);
            if (first + k >= count || key_before(keys[k], op->query) || key_before(hi, keys[k]))
                continue;
            const ulong place = room.begin + op->count + keys_here;
            if (place < room.end)
                ltree_write_element(batch, op, place, keys[k], first + k);
            keys_here++;
        }
    }
#else
    column_keys keys;

    KEYS_DO(load_uncached)(&keys, line, 0, LTREE_SLOTS);
    ltree_delay(batch, op, FAULT_SLOW_LOOKS);
    ORDO_UNROLL
    for (uint r = 0; r < COLUMN_ROWS; r++) {
        const uint s = column_word(r);
        const bool is_in =
            s < min(count, (uint) LTREE_SLOTS) && key_upto(op->query, keys.at[r]) && key_upto(keys.at[r], hi);
        const team_mask lanes = apart_ballot(is_in);
        const ulong     place = room.begin + op->count + keys_here + mask_count(lanes & team_lanes_below());
        if (is_in && place < room.end)
            ltree_write_element(batch, op, place, keys.at[r], s);
        keys_here += mask_count(lanes);
        *seen ^= (uint) lanes;
    }
#endif
    return keys_here;
}

/* Counts or copies the keys of this leaf, then moves the operation to the right neighbour. Writes elements before it
 * checks the header. If the header has changed, the next try overwrites these elements. */
ORDO_FN uint ltree_scan_on(const ltree_batch *batch, ltree_op *op, __global ordo_key_form *line, ltree_tail tail)
{
    const uint          count = tail.header & LTREE_COUNT_MASK;
    const ordo_key_form hi = key_bits(batch->hi[op->i]);
    const ltree_room    room = ltree_room_of(batch, op);
    uint                seen = 0;

    line += ltree_after_look(batch, tail.header);
    const uint keys_here = ltree_scan_keys(batch, op, line, count, hi, room, &seen);
    /* The second load of the header (ltree_unchanged) must not precede the loads of values. */
    if (!LTREE_BY_FENCE && HAS_VALUES && room.begin < room.end)
        ordo_fence_acquire();
    if (!ltree_unchanged(batch, line, tail, seen))
        return STEP_AGAIN;
    op->count += keys_here;
    if (key_before(tail.high, hi) && tail.right != LTREE_NONE) {
        op->query = key_plus(tail.high, LTREE_WORD(1));
        op->at = tail.right;
        return ++op->hops < batch->far || op->count < room.end - room.begin ? STEP_ON : STEP_FAR;
    }
    if (batch->counts && apart_leads())
        batch->counts[op->i] = op->count;
    ltree_outcome(batch, op,
                  op->code == CODE_RANGE && op->count > room.end - room.begin ? OUTCOME_CUT_SHORT : OUTCOME_DONE);
    return STEP_DONE;
}
