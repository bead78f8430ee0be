/* SPDX-License-Identifier: Apache-2.0 */
/* Finds keys while no other launch changes the tree. */
#pragma once
#include "dict/codes.cl"
#include "dict/ltree/query.cl"

ORDO_FN void ltree_prefetch_values(const ltree_tree *tree, __private const ltree_position position[LTREE_ITEMS])
{
#if ORDO_VALUE_BYTES
    LTREE_UNROLL
    for (uint r = 0; r < LTREE_ITEMS; r++)
        if (position[r].place & PLACE_HIT)
            ORDO_PREFETCH(ltree_values(tree, position[r].leaf) + (position[r].place & PLACE_SLOT));
#endif
}

ORDO_FN void ltree_write_result(const ltree_tree *tree, ltree_position position, __global ltree_value *value,
                                __global uchar *found)
{
    const bool hit = (position.place & PLACE_HIT) != 0;
    if (HAS_VALUES && value && hit)
        *value = ltree_values(tree, position.leaf)[position.place & PLACE_SLOT];
    if (found)
        *found = hit;
}

ORDO_KERNEL(LTREE_GROUP)
void ltree_find(LTREE_TREE, __global const ordo_key *keys, ulong keys_at, uint n, __global ltree_value *values_out,
                ulong values_at, __global uchar *found, ulong found_at)
{
    const ltree_tree tree = LTREE_TREE_HERE;

    LTREE_LEAVE_IDLE(n)
    for (ulong tile = get_group_id(0); tile * LTREE_TILE < n; tile += get_num_groups(0)) {
        const uint     first = (uint) tile * LTREE_TILE;
        ltree_position position[LTREE_ITEMS] = { { 0, 0, 0 } };

        ltree_find_keys(&tree, keys + keys_at, n, first, position);
        if (values_out)
            ltree_prefetch_values(&tree, position);
        LTREE_UNROLL
        for (uint r = 0; r < LTREE_ITEMS; r++) {
            const uint i = ltree_query_at(first, r);
            if (i < n)
                ltree_write_result(&tree, position[r], values_out ? values_out + values_at + i : values_out,
                                   found ? found + found_at + i : found);
        }
    }
}

/* Answers the operations with CODE_FIND or CODE_CONTAINS in a concurrent batch. In `history`, which only tests use,
 * operation i begins at time 2 * i and ends at time 2 * i + 1. */
ORDO_KERNEL(LTREE_GROUP)
void ltree_find_in_batch(LTREE_TREE, __global const uchar *codes, ulong codes_at, __global const ordo_key *keys,
                         ulong keys_at, uint n, __global ltree_value *values_out, ulong values_at,
                         __global uchar *found, ulong found_at, __global uchar *outcomes, ulong outcomes_at,
                         __global uint *history)
{
    const ltree_tree tree = LTREE_TREE_HERE;

    for (ulong tile = get_group_id(0); tile * LTREE_TILE < n; tile += get_num_groups(0)) {
        const uint     first = (uint) tile * LTREE_TILE;
        ordo_key_form  query[LTREE_ITEMS];
        ltree_position position[LTREE_ITEMS] = { { 0, 0, 0 } };
        uint           code[LTREE_ITEMS];
        bool           any = false;

        LTREE_UNROLL
        for (uint r = 0; r < LTREE_ITEMS; r++) {
            const uint i = ltree_query_at(first, r);
            code[r] = i < n ? codes[codes_at + i] : N_CODES;
            query[r] = CODE_FINDS(code[r]) ? key_bits(keys[keys_at + i]) : KEY_LEAST;
            any = any || CODE_FINDS(code[r]);
        }
        if (!subgroup_any(any))
            continue;
        ltree_find_tile(&tree, query, position);
        if (values_out)
            ltree_prefetch_values(&tree, position);
        LTREE_UNROLL
        for (uint r = 0; r < LTREE_ITEMS; r++) {
            const uint i = ltree_query_at(first, r);
            if (!CODE_FINDS(code[r]))
                continue;
            ltree_write_result(&tree, position[r], values_out && code[r] == CODE_FIND ? values_out + values_at + i : 0,
                               found ? found + found_at + i : found);
            if (outcomes)
                outcomes[outcomes_at + i] = OUTCOME_DONE;
            if (history)
                vstore2((uint2) (2 * i, 2 * i + 1), i, history);
        }
    }
}

/* Samples every step-th operation. Adds the number of sampled upserts and inserts to absent[0], and the number of those
 * among them with an absent key to absent[1]. */
ORDO_KERNEL(LTREE_GROUP)
void ltree_absent(LTREE_TREE, __global const uchar *codes, ulong codes_at, __global const ordo_key *keys, ulong keys_at,
                  uint n, uint step, __global uint *absent)
{
    const ltree_tree tree = LTREE_TREE_HERE;
    const uint       samples = (n - 1) / step + 1;
    uint             stores = 0, missing = 0;

    for (ulong tile = get_group_id(0); tile * LTREE_TILE < samples; tile += get_num_groups(0)) {
        const uint     first = (uint) tile * LTREE_TILE;
        ordo_key_form  query[LTREE_ITEMS];
        ltree_position position[LTREE_ITEMS] = { { 0, 0, 0 } };
        bool           is_store[LTREE_ITEMS];

        LTREE_UNROLL
        for (uint r = 0; r < LTREE_ITEMS; r++) {
            const uint  s = ltree_query_at(first, r);
            const ulong i = min(s, samples - 1) * (ulong) step;
            is_store[r] = s < samples && (codes[codes_at + i] == CODE_UPSERT || codes[codes_at + i] == CODE_INSERT);
            query[r] = key_bits(keys[keys_at + i]);
        }
        ltree_find_tile(&tree, query, position);
        LTREE_UNROLL
        for (uint r = 0; r < LTREE_ITEMS; r++) {
            stores += is_store[r];
            missing += is_store[r] && !(position[r].place & PLACE_HIT);
        }
    }
    if (stores)
        (void) ordo_add(absent, stores);
    if (missing)
        (void) ordo_add(absent + 1, missing);
}

ORDO_KERNEL(LTREE_GROUP)
void ltree_locate(LTREE_TREE, __global const ordo_key *keys, ulong keys_at, uint n, __global uint *leaves,
                  __global uint *places, __global uint *parents)
{
    const ltree_tree tree = LTREE_TREE_HERE;

    LTREE_LEAVE_IDLE(n)
    for (ulong tile = get_group_id(0); tile * LTREE_TILE < n; tile += get_num_groups(0)) {
        const uint     first = (uint) tile * LTREE_TILE;
        ltree_position position[LTREE_ITEMS] = { { 0, 0, 0 } };

        ltree_find_keys(&tree, keys + keys_at, n, first, position);
        LTREE_UNROLL
        for (uint r = 0; r < LTREE_ITEMS; r++) {
            const uint i = ltree_query_at(first, r);
            if (i >= n)
                continue;
            leaves[i] = position[r].leaf;
            places[i] = position[r].place;
            if (parents)
                parents[i] = position[r].parent;
        }
    }
}
