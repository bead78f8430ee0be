/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the tables of a HAMT from its records. */
#pragma once
#include "dict/each.cl"
#include "dict/trie/hamt.cl"

typedef struct {
    __global const hamt_leaf *leaves;
    uint                      n_leaves, cells;
    ordo_key_form             base;
    uint                      shift;
    bool                      ranks;
    __global uint            *table;
} hamt_table;

#define HAMT_CELLS_SHARE 64

ORDO_FN uint hamt_cell_of(const hamt_table *t, uint leaf)
{
    if (leaf == t->n_leaves)
        return t->cells;
    return t->ranks ? t->leaves[leaf].before >> t->shift : (uint) ((t->leaves[leaf].first - t->base) >> t->shift);
}

ORDO_FN void hamt_fill_cells(const hamt_table *t, uint from, uint to, uint leaves)
{
    const uint n = from < to ? min(to - from, HAMT_CELLS_SHARE - from % HAMT_CELLS_SHARE) : 0;
    for (uint c = 0; c < n; c++)
        t->table[from + c] = leaves;
}

ORDO_FN void hamt_fill_after(const hamt_table *t, uint leaf)
{
    hamt_fill_cells(t, hamt_cell_of(t, leaf), hamt_cell_of(t, leaf + 1), leaf + 1);
}

ORDO_FN void hamt_fill_share(const hamt_table *t, uint share)
{
    const uint from = share * HAMT_CELLS_SHARE;
    uint       low = 0;
    HAMT_SEARCH(low, t->n_leaves, i, hamt_cell_of(t, i) < from)
    hamt_fill_cells(t, from, hamt_cell_of(t, low), low);
}

ORDO_FN void hamt_fill_table(const hamt_table *t)
{
    RUN_EACH (uint, i, t->n_leaves)
        hamt_fill_after(t, i);
    RUN_EACH (uint, s, (t->cells - 1) / HAMT_CELLS_SHARE + 1)
        hamt_fill_share(t, s);
}

ORDO_FN void hamt_fill_tables(__global const hamt_leaf *leaves, uint n_leaves, uint n, uint cell_bits, uint rank_bits,
                              __global uint *tables)
{
    const uint          cells = 1u << cell_bits, ranks = 1u << rank_bits;
    const ordo_key_form base = leaves[0].first;
    const uint          key_shift = hamt_key_shift(leaves[n_leaves - 1].first - base, cell_bits);
    const hamt_table    by_key = { leaves, n_leaves, cells, base, key_shift, false, tables };
    const hamt_table    by_rank = {
           leaves, n_leaves, ranks, 0, hamt_rank_shift(n, rank_bits), true, tables + HAMT_RANKS_AT(cell_bits)
    };
    if (!HAMT_FIXED_DEPTH)
        hamt_fill_table(&by_key);
    hamt_fill_table(&by_rank);
}
