/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "dict/each.cl"
#include "dict/trie/hamt.cl"

/* Built together: hamt_place hamt_place_heads hamt_touched hamt_sums */

ORDO_KERNEL(RUN_GROUP)
void hamt_place(HAMT_TRIE, __global const ordo_key *keys, uint n, __global uint *leaf)
{
    const hamt_trie t = HAMT_TRIE_HERE;
    RUN_EACH (uint, j, n)
        leaf[j] = hamt_leaf_of(&t, key_bits(keys[j]));
}

ORDO_KERNEL(RUN_GROUP)
void hamt_place_heads(__global const uint *leaf, uint n, __global uint *heads)
{
    RUN_EACH (uint, j, n + 1)
        heads[j] = j < n && (j == 0 || leaf[j] != leaf[j - 1]);
}

/* Lists the leaves that the batch changes. `number` must hold the exclusive prefix sums of hamt_place_heads' flags.
 *
 *   touched[k]   index of a leaf
 *   firsts[k]    number of elements in all earlier leaves of the trie
 *   offsets[k]   number of the leaf's elements
 *   units[k]     size of the leaf's block in units of HAMT_UNIT bytes */
ORDO_KERNEL(RUN_GROUP)
void hamt_touched(HAMT_TRIE, __global const uint *leaf, __global const uint *number, uint n, uint most,
                  __global uint *touched, __global uint *firsts, __global ulong *offsets, __global uint *units)
{
    const hamt_trie t = HAMT_TRIE_HERE;
    const uint      here = number[n];
    RUN_EACH (uint, j, n) {
        if (number[j + 1] == number[j])
            continue;
        const uint      k = number[j];
        const hamt_node node = hamt_load(&t, leaf[j]);
        touched[k] = leaf[j];
        firsts[k] = node.record.before;
        offsets[k] = node.count;
        units[k] = hamt_units(node.count, (node.record.place & HAMT_WIDE) != 0);
    }
    RUN_EACH (uint, k, most + 1) {
        if (k < here)
            continue;
        offsets[k] = 0;
        units[k] = 0;
    }
}

ORDO_KERNEL(RUN_GROUP)
void hamt_sums(__global const uint *number, uint n, __global const ulong *offsets, __global const uint *units,
               uint most, __global uint *out)
{
    if (get_global_id(0) != 0)
        return;
    out[HAMT_TOUCHED] = number[n];
    out[HAMT_ELEMENTS] = (uint) offsets[most];
    out[HAMT_FREED] = units[most];
}
