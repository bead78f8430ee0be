/* SPDX-License-Identifier: Apache-2.0 */
/* Copies rows between a table and a list. Gather copies row index[i] of the table to row i of the list. Scatter copies
 * row i of the list to row index[i] of the table. Both skip row i if the table has no row index[i].
 *
 *  ROWS_WORD     bytes per copied word. This number must divide the row size and the offsets
 *  ROWS_SCATTER  1: scatter. If several rows of the list have the same index[i], only the last of them is copied
 *  ROWS_GROUP    work-items per group. 1: a work-item copies whole rows */
#pragma once
#include "device/atomic.cl"
#include "device/compiler.cl"

#ifndef ROWS_WORD
#define ROWS_WORD 4
#endif
#ifndef ROWS_SCATTER
#define ROWS_SCATTER 0
#endif
#ifndef ROWS_GROUP
#define ROWS_GROUP 1
#endif

#if ROWS_WORD == 1
typedef uchar row_word;
#elif ROWS_WORD == 2
typedef ushort row_word;
#elif ROWS_WORD == 4
typedef uint row_word;
#elif ROWS_WORD == 8
typedef ulong row_word;
#elif ROWS_WORD == 16
typedef uint4 row_word;
#else
#error "ROWS_WORD must be 1, 2, 4, 8 or 16"
#endif

typedef struct {
    __global row_word   *table, *list;
    __global const uint *index, *latest;
    uint                 count, n_rows;
    uint                 words;
} row_arrays;

/* Returns whether row i of the list is copied. Sets *at to the index of the row's first word in the table. */
ORDO_FN bool row_place(__private const row_arrays *a, uint i, __private ulong *at)
{
    const uint row = a->index[i];
    if (row >= a->n_rows)
        return false;
#if ROWS_SCATTER
    if (a->latest && a->latest[row] != i + 1)
        return false;
#endif
    *at = a->words == 1 ? row : (ulong) row * a->words;
    return true;
}

ORDO_FN void row_move(__private const row_arrays *a, ulong in_table, ulong in_list)
{
#if ROWS_SCATTER
    a->table[in_table] = a->list[in_list];
#else
    a->list[in_list] = a->table[in_table];
#endif
}

#if ROWS_GROUP == 1

/* Distances in rows between a prefetch and the copy of the row: of one word, and of several. */
#define ROWS_AHEAD_WORD 32
#define ROWS_AHEAD      16

/* On PoCL, this function moves 2^16 rows of 4 bytes in half the time of rows_move. For 2^22 rows, the prefetch saves a
 * third of the time. */
ORDO_FN void rows_move_words(__private const row_arrays *a, uint first, uint end)
{
    for (uint i = first; i < end; i++) {
        ulong at;
        if (end - i > ROWS_AHEAD_WORD)
            ORDO_PREFETCH(a->table + a->index[i + ROWS_AHEAD_WORD]);
        if (row_place(a, i, &at))
            row_move(a, at, i);
    }
}

ORDO_FN void rows_move(__private const row_arrays *a, uint first, uint end)
{
    if (a->words == 1) {
        rows_move_words(a, first, end);
        return;
    }
    for (uint i = first; i < end; i++) {
        ulong at;
        if (end - i > ROWS_AHEAD)
            ORDO_PREFETCH(a->table + (ulong) a->index[i + ROWS_AHEAD] * a->words);
        if (!row_place(a, i, &at))
            continue;
        for (uint w = 0; w < a->words; w++)
            row_move(a, at + w, (ulong) i * a->words + w);
    }
}

#else

/* Copies words between the list and the table. In the list, they are words `first` to first + count - 1, and may begin
 * and end within a row. The whole group must call. */
ORDO_FN void words_move(__private const row_arrays *a, ulong first, uint count)
{
    const uint row = (uint) (first / a->words), within = (uint) (first % a->words);
    for (uint w = get_local_id(0); w < count; w += ROWS_GROUP) {
        const uint from_row = within + w;
        const uint rows = a->words == 1 ? from_row : from_row / a->words;
        ulong      at;
        if (row_place(a, row + rows, &at))
            row_move(a, at + (from_row - rows * a->words), first + w);
    }
}

#endif

/* A group copies `share` rows if ROWS_GROUP is 1, else `share` words. */
ORDO_KERNEL(ROWS_GROUP)
void rows_move_all(__global row_word *table, ulong table_at, __global row_word *list, ulong list_at,
                   __global const uint *index, ulong index_at, __global const uint *latest, uint count, uint n_rows,
                   uint words, uint share)
{
    const row_arrays a = { table + table_at, list + list_at, index + index_at, latest, count, n_rows, words };
    const ulong      first = (ulong) get_group_id(0) * share;
#if ROWS_GROUP == 1
    rows_move(&a, (uint) first, (uint) min(first + share, (ulong) count));
#else
    words_move(&a, first, (uint) min((ulong) share, (ulong) count * words - first));
#endif
}

/* Sets latest[r] to 1 + the greatest i for which index[i] is r. `latest` must be 0 before. */
ORDO_KERNEL(ROWS_GROUP)
void rows_latest(__global const uint *index, ulong index_at, uint count, uint n_rows, __global uint *latest)
{
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {
        const uint row = index[index_at + i];
        if (row < n_rows)
            ordo_max(&latest[row], (uint) i + 1);
    }
}
