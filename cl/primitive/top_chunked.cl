/* SPDX-License-Identifier: Apache-2.0 */
/* Selects a few least elements of an array on a CPU. A work-item lists the keys of a chunk that are below a limit.
 * Lists are in array order, so a stable sort of all lists completes the selection. */
#pragma once
#include "device/compiler.cl"
#include "shared/key.h"
#include "shared/top.h"

#define TOP_BLOCK 64

ORDO_FN uint top_at_most(__global const ordo_key *list, uint count, ordo_key_form limit)
{
    uint n = 0;
    for (uint i = 0; i < count; i++)
        n += key_upto(list[i], limit);
    return n;
}

ORDO_FN ordo_key_form top_limit(__global const ordo_key *list, uint count, uint needed)
{
    ordo_key_form limit = KEY_LEAST;
    for (uint bit = KEY_BITS; bit-- > 0;)
        if (top_at_most(list, count, limit | key_low_bits(bit)) < needed)
            limit |= key_of_digit(1, bit);
    return limit;
}

/* Keeps the `needed` least keys of a list, in their order. Returns the greatest of them. */
ORDO_FN ordo_key_form top_shrink(__global ordo_key *list, __global uint *index, uint count, uint needed)
{
    const ordo_key_form limit = top_limit(list, count, needed);
    const bool          some = !key_same(limit, KEY_LEAST);
    const uint          below = some ? top_at_most(list, count, key_minus(limit, key_of_digit(1, 0))) : 0;
    uint                equal = needed - below, to = 0;
    for (uint i = 0; i < count && to < needed; i++) {
        const bool same = key_same(list[i], limit);
        const bool stays = key_before(list[i], limit) || (same && equal > 0);
        equal -= same && equal > 0;
        list[to] = list[i];
        index[to] = index[i];
        to += stays;
    }
    return limit;
}

ORDO_FN bool top_any_below(__global const ordo_key *keys, ordo_key_form limit)
{
    uint below = 0;
    for (uint i = 0; i < TOP_BLOCK; i++)
        below |= key_before(key_bits(keys[i]), limit);
    return below != 0;
}

/* Selects the c.needed least elements of each chunk. Each chunk must have at least c.needed elements. A list has space
 * for c.room elements. */
ORDO_KERNEL(1)
void top_chunk(__global const ordo_key *keys, __global ordo_key *lists, __global uint *indices, struct top_chunks c)
{
    const uint         chunk = (uint) get_group_id(0), begin = chunk * c.chunk;
    const uint         end = begin + min(c.chunk, c.count - begin);
    __global ordo_key *list = lists + (ulong) chunk * c.room;
    __global uint     *index = indices + (ulong) chunk * c.room;
    ordo_key_form      limit = KEY_GREATEST;
    uint               count = 0;
    bool               open = true;
    keys += c.keys_at;
    for (uint i = begin; i < end;) {
        const uint upto = i + min((uint) TOP_BLOCK, end - i);
        if (!open && upto - i == TOP_BLOCK && !top_any_below(keys + i, limit)) {
            i = upto;
            continue;
        }
        for (; i < upto; i++) {
            const ordo_key_form key = key_bits(keys[i]);
            if (!open && !key_before(key, limit))
                continue;
            list[count] = key;
            index[count] = i;
            count++;
            if (count == c.room) {
                limit = top_shrink(list, index, count, c.needed);
                count = c.needed;
                open = false;
            }
        }
    }
    if (count > c.needed)
        top_shrink(list, index, count, c.needed);
    for (uint i = 0; i < c.needed; i++)
        list[i] = key_from_bits(list[i]);
}

ORDO_KERNEL(1)
void top_join(__global const ordo_key *lists, __global const uint *indices, __global ordo_key *keys_out,
              __global uint *index_out, struct top_chunks c)
{
    const ulong chunk = get_group_id(0);
    for (uint i = 0; i < c.needed; i++) {
        keys_out[chunk * c.needed + i] = lists[chunk * c.room + i];
        index_out[chunk * c.needed + i] = indices[chunk * c.room + i];
    }
}
