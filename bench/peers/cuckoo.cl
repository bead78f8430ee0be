/* SPDX-License-Identifier: Apache-2.0 */
/* Cuckoo hashing with a pair in each slot and three functions. A work-item puts its pair at the first function's
 * slot, takes out the pair there, moves that to its next function's slot, and so on until a slot was empty. Slots
 * are never emptied, so a lookup ends at an empty slot. */
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

#define EMPTY     0xfffffffffffffffful
#define FUNCTIONS 3

/* Errors: too many moves; a pair that equals an empty slot. */
#define NO_PLACE 1u
#define NO_PAIR  2u

uint place_of(uint key, uint function, uint seed, uint n_slots)
{
    uint x = (key ^ seed) * (function == 0 ? 0x9e3779b1u : function == 1 ? 0x85ebca6bu : 0xc2b2ae35u);
    x = (x ^ x >> 15 ^ seed >> 7) * 0x7feb352du;
    x = (x ^ x >> 13) * 0x846ca68bu;
    return mul_hi(x ^ x >> 16, n_slots);
}

/* The next slot of a pair that was taken out. */
uint next_place(uint key, uint slot, uint seed, uint n_slots)
{
    uint function = 0, next = slot;
    while (function < FUNCTIONS && place_of(key, function, seed, n_slots) != slot)
        function++;
    for (uint k = 1; k < FUNCTIONS && next == slot; k++)
        next = place_of(key, (function + k) % FUNCTIONS, seed, n_slots);
    return next;
}

/* ARGUMENTS: see rivals.c. words: slots; size: their number. */

__kernel void cuckoo_clear(ARGUMENTS(ulong))
{
    const size_t i = get_global_id(0);
    if (i < size)
        words[i] = EMPTY;
}

/* Keys are distinct. */
__kernel void cuckoo_build(ARGUMENTS(ulong))
{
    const size_t i = get_global_id(0);
    if (i >= n)
        return;
    ulong pair = (ulong) keys[at + i] << 32 | values[at + i];
    uint  slot = place_of(keys[at + i], 0, seed, size);
    if (pair == EMPTY) {
        atomic_or(state, NO_PAIR);
        return;
    }
    for (uint move = 0; move < moves; move++) {
        pair = atom_xchg((volatile __global ulong *) &words[slot], pair);
        if (pair == EMPTY)
            return;
        slot = next_place((uint) (pair >> 32), slot, seed, size);
    }
    atomic_or(state, NO_PLACE);
}

/* found_out and values_out may be NULL. */
__kernel void cuckoo_find(ARGUMENTS(ulong))
{
    const size_t i = get_global_id(0);
    if (i >= n)
        return;
    const uint key = keys[at + i];
    bool       is_there = false;
    for (uint function = 0; function < FUNCTIONS && !is_there; function++) {
        const ulong pair = words[place_of(key, function, seed, size)];
        if (pair == EMPTY)
            break;
        is_there = (uint) (pair >> 32) == key;
        if (is_there && values_out)
            values_out[at + i] = (uint) pair;
    }
    if (found_out)
        found_out[at + i] = is_there;
}
