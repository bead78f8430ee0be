/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "dict/each.cl"
#include "dict/trie/hamt.cl"

ORDO_KERNEL(RUN_GROUP)
void hamt_find(HAMT_TRIE, __global const ordo_key *keys, ulong keys_at, uint n, __global hamt_value *values_out,
               ulong values_out_at, __global uchar *found, ulong found_at)
{
    const hamt_trie t = HAMT_TRIE_HERE;
    RUN_EACH (uint, s, RUN_STEPS(n)) {
        const uint    first = s * RUN_STEP, some = min(n - first, (uint) RUN_STEP);
        ordo_key_form key[RUN_STEP];
        uint          leaf[RUN_STEP];
        hamt_node     node[RUN_STEP];
        hamt_load_keys(&t, keys, keys_at + first, some, key, leaf, node);
        for (uint k = 0; k < RUN_SOME(some); k++) {
            bool there = false;
            if (t.n_leaves) {
                const hamt_position at = hamt_look(&node[k], key[k]);
                there = at.there;
                if (there)
                    hamt_take(&node[k], at.below, 0, 0, values_out, values_out_at + first + k);
            }
            if (found)
                found[found_at + first + k] = there;
        }
    }
}

ORDO_FN void hamt_rank_each(const hamt_trie *t, const ordo_key_form key[RUN_STEP], uint some, bool upper,
                            uint rank[RUN_STEP])
{
    uint      leaf[RUN_STEP];
    hamt_node node[RUN_STEP];
    if (t->n_leaves)
        hamt_load_each(t, key, some, leaf, node);
    for (uint k = 0; k < RUN_SOME(some); k++) {
        rank[k] = 0;
        if (t->n_leaves) {
            const hamt_position at = hamt_look(&node[k], key[k]);
            rank[k] = node[k].record.before + at.below + (upper && at.there);
        }
    }
}

ORDO_KERNEL(RUN_GROUP)
void hamt_rank(HAMT_TRIE, __global const ordo_key *keys, ulong keys_at, uint n, uint upper, __global uint *ranks,
               ulong ranks_at)
{
    const hamt_trie t = HAMT_TRIE_HERE;
    RUN_EACH (uint, s, RUN_STEPS(n)) {
        const uint    first = s * RUN_STEP, some = min(n - first, (uint) RUN_STEP);
        ordo_key_form key[RUN_STEP];
        uint          rank[RUN_STEP];
        hamt_keys(keys, keys_at + first, some, key);
        hamt_rank_each(&t, key, some, upper, rank);
        for (uint k = 0; k < RUN_SOME(some); k++)
            ranks[ranks_at + first + k] = rank[k];
    }
}

ORDO_KERNEL(RUN_GROUP)
void hamt_count(HAMT_TRIE, __global const ordo_key *lo, ulong lo_at, __global const ordo_key *hi, ulong hi_at, uint n,
                __global uint *counts, ulong counts_at, __global uint *firsts)
{
    const hamt_trie t = HAMT_TRIE_HERE;
    RUN_EACH (uint, s, RUN_STEPS(n)) {
        const uint    first = s * RUN_STEP, some = min(n - first, (uint) RUN_STEP);
        ordo_key_form from[RUN_STEP], to[RUN_STEP];
        uint          below[RUN_STEP], up_to[RUN_STEP];
        hamt_keys(lo, lo_at + first, some, from);
        hamt_keys(hi, hi_at + first, some, to);
        hamt_rank_each(&t, from, some, false, below);
        if (counts)
            hamt_rank_each(&t, to, some, true, up_to);
        for (uint k = 0; k < RUN_SOME(some); k++) {
            if (firsts)
                firsts[first + k] = below[k];
            if (counts)
                counts[counts_at + first + k] = from[k] <= to[k] ? up_to[k] - below[k] : 0;
        }
    }
}

/* Finds a neighbour of each key:
 *
 *   forward                first element >= key
 *   forward, upper         first element > key
 *   not forward            last element < key
 *   not forward, upper     last element <= key */
ORDO_KERNEL(RUN_GROUP)
void hamt_seek(HAMT_TRIE, __global const ordo_key *keys, ulong keys_at, uint n, uint forward, uint upper,
               __global ordo_key *keys_out, ulong keys_out_at, __global hamt_value *values_out, ulong values_out_at,
               __global uchar *found, ulong found_at)
{
    const hamt_trie t = HAMT_TRIE_HERE;
    RUN_EACH (uint, s, RUN_STEPS(n)) {
        const uint    first = s * RUN_STEP, some = min(n - first, (uint) RUN_STEP);
        ordo_key_form key[RUN_STEP];
        uint          leaves[RUN_STEP];
        hamt_node     nodes[RUN_STEP];
        hamt_load_keys(&t, keys, keys_at + first, some, key, leaves, nodes);
        for (uint k = 0; k < RUN_SOME(some); k++) {
            bool there = false;
            if (t.n_leaves) {
                hamt_node           node = nodes[k];
                const hamt_position at = hamt_look(&node, key[k]);
                uint                position = at.below + (upper && at.there);
                there = forward ? node.record.before + position < t.n : node.record.before + position > 0;
                if (there && (forward ? position == node.count : position == 0)) {
                    node = hamt_load(&t, forward ? leaves[k] + 1 : leaves[k] - 1);
                    position = forward ? 0 : node.count;
                }
                if (there)
                    hamt_take(&node, forward ? position : position - 1, keys_out, keys_out_at + first + k, values_out,
                              values_out_at + first + k);
            }
            if (found)
                found[found_at + first + k] = there;
        }
    }
}

ORDO_KERNEL(RUN_GROUP)
void hamt_select(HAMT_TRIE, __global const uint *ranks, ulong ranks_at, uint n, __global ordo_key *keys_out,
                 ulong keys_out_at, __global hamt_value *values_out, ulong values_out_at, __global uchar *found,
                 ulong found_at)
{
    const hamt_trie t = HAMT_TRIE_HERE;
    RUN_EACH (uint, i, n) {
        const uint rank = ranks[ranks_at + i];
        const bool there = rank < t.n;
        if (there) {
            const hamt_node node = hamt_load(&t, hamt_leaf_of_rank(&t, rank));
            hamt_take(&node, rank - node.record.before, keys_out, keys_out_at + i, values_out, values_out_at + i);
        }
        if (found)
            found[found_at + i] = there;
    }
}

typedef struct {
    hamt_node node;
    uint      leaf, position;
} hamt_cursor;

ORDO_FN void hamt_move_to(const hamt_trie *t, hamt_cursor *c, uint rank)
{
    c->leaf = hamt_leaf_of_rank(t, rank);
    c->node = hamt_load(t, c->leaf);
    c->position = rank - c->node.record.before;
}

/* Copies the elements of range i, which begin at rank firsts[i], to indices offsets[i] .. offsets[i + 1] - 1 of the
 * outputs. If `firsts` is NULL, copies all elements. If the results exceed `most`, writes nothing. */
ORDO_KERNEL(RUN_GROUP)
void hamt_write(HAMT_TRIE, __global const ulong *offsets, ulong offsets_at, __global const uint *firsts, uint n,
                ulong most, __global ordo_key *keys_out, ulong keys_out_at, __global hamt_value *values_out,
                ulong values_out_at)
{
    const hamt_trie       t = HAMT_TRIE_HERE;
    __global const ulong *starts = offsets + offsets_at;
    const ulong           total = firsts ? starts[n] : t.n;
    if (total > most)
        return;
    const uint each = HAMT_SHARE(ORDO_CPU);
    RUN_EACH (ulong, share, (total + each - 1) / each) {
        const ulong begin = share * each, end = min(begin + each, total);
        uint        owner = firsts ? each_owner(starts, 0, n - 1, begin) : 0;
        ulong       stop = firsts ? starts[owner + 1] : total;
        hamt_cursor c;
        hamt_move_to(&t, &c, firsts ? firsts[owner] + (uint) (begin - starts[owner]) : (uint) begin);
        for (ulong at = begin; at < end; at++) {
            if (at == stop) {
                owner = each_owner_from(starts, owner, n, at);
                stop = starts[owner + 1];
                hamt_move_to(&t, &c, firsts[owner]);
            } else if (c.position == c.node.count) {
                c.node = hamt_load(&t, ++c.leaf);
                c.position = 0;
            }
            hamt_take(&c.node, c.position++, keys_out, keys_out_at + at, values_out, values_out_at + at);
        }
    }
}
