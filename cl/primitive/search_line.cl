/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the child of a node where the search for a query continues. A *line* has the separators of one node, in groups
 * named *SIMD blocks* (shared/index.h). */
#pragma once
#include "primitive/search_keys.cl"
#include "primitive/separator.cl"

/* Returns whether the rank of a query may lie in a later block (shared/index.h, I2), because `before` keys of the found
 * block come before the query. */
ORDO_FN bool ends_block(uint before)
{
    return SEPARATOR_BITS < KEY_BITS && before == SEARCH_NODE;
}

ORDO_FN uint rank_in_array(key_array keys, uint rank, uint before, ordo_key_form query)
{
    return ends_block(before) && rank < keys.count ? rank_from(keys, rank, query, SEARCH_UPPER) : rank;
}

#define LINE_ENTRIES (1 << SEARCH_LINE)
#define LINE_STEPS   ((SEARCH_LINE + SEARCH_SIMD - 1) / SEARCH_SIMD)
#define LINE_IS_NODE (SEARCH_SIMD == SEARCH_LINE && SEARCH_LINE == NODE_LOG2 && SEPARATOR_BITS == KEY_BITS)

ORDO_FN index_form search_form(void)
{
    const index_form form = { NODE_LOG2, SEARCH_LINE, SEARCH_SIMD, SEARCH_PAGE };

    return form;
}

#if LINE_IS_NODE
#define line_before(line, step, block, query) node_before(line, query)
#else

#if ORDO_CPU
#define SUM_2(v) ((v).x + (v).y)
#define SUM_4(v) SUM_2((v).lo + (v).hi)
#if SEPARATOR_BITS == 32
typedef int4  compared4;
typedef int8  compared8;
typedef int16 compared16;
#else
typedef long4  compared4;
typedef long8  compared8;
typedef long16 compared16;
#endif
#if SEARCH_UPPER && KEY_BITS <= 64
#define COMPARE(keys, query) ((keys) <= (query))
#else
#define COMPARE(keys, query) ((keys) < (query))
#endif

/* Returns how many of the 2^levels - 1 separators of a SIMD block come before the query. The last element of the loaded
 * vector is outside of the block, and does not count. */
ORDO_FN uint simd_before(__global const separator *block, uint levels, ordo_key_form form)
{
#if KEY_BITS > 64
    const ulong query = form.y;
#else
    const ordo_key_form query = form;
#endif
    if (levels == 1)
        return COMPARE(*block, query) ? 1 : 0;
    if (levels == 2) {
        compared4 four = COMPARE(vload4(0, block), query);
        four.s3 = 0;
        return (uint) -SUM_4(four);
    }
    if (levels == 3) {
        compared8 eight = COMPARE(vload8(0, block), query);
        eight.s7 = 0;
        return (uint) -SUM_4(eight.lo + eight.hi);
    }
    compared16 all = COMPARE(vload16(0, block), query);
    all.sf = 0;
    const compared8 halves = all.lo + all.hi;
    return (uint) -SUM_4(halves.lo + halves.hi);
}
#elif KEY_BITS > 64
/* Forms of separators and queries need only their high halves (separator_form). With whole lines, lanes load pairs of
 * 16 bytes, which lie aligned. */
ORDO_FN uint simd_before(__global const separator *block, uint levels, ordo_key_form form)
{
    const ulong query = form.y;
    const uint  n = (1u << levels) - 1;
    uint        before = 0;

#if SEARCH_SIMD == SEARCH_LINE
    ORDO_UNROLL
    for (uint first = 0; first < n; first += 2 * TEAM_WIDTH) {
        const uint i = first + 2 * team_lane();
        if (2 * TEAM_WIDTH <= LINE_ENTRIES || i < n) {
            const ulong2 two = *(__global const ulong2 *) (block + i);
            before += (two.x < query ? 1 : 0) + (i + 1 < n && two.y < query ? 1 : 0);
        }
    }
#else
    ORDO_UNROLL
    for (uint first = 0; first < n; first += TEAM_WIDTH)
        if (first + team_lane() < n)
            before += block[first + team_lane()] < query ? 1 : 0;
#endif
    return before;
}
#else
ORDO_FN uint simd_before(__global const separator *block, uint levels, ordo_key_form query)
{
    uint before = 0;

    ORDO_UNROLL
    for (uint i = 0; i < (1u << levels) - 1; i += TEAM_WIDTH)
        if (i + team_lane() < (1u << levels) - 1)
            before += search_before(separator_form(block[i + team_lane()]), query);
    return before;
}
#endif

ORDO_FN uint line_before(__global const separator *line, uint step, uint block, ordo_key_form query)
{
    const uint depth = step * SEARCH_SIMD;

    return simd_before(line + index_simd_slot(search_form(), depth, block), index_simd_depth(search_form(), depth),
                       query);
}
#endif

ORDO_FN uint line_child(uint step, uint block, uint before)
{
    return (block << index_simd_depth(search_form(), step * SEARCH_SIMD)) + before;
}

ORDO_FN __global const separator *line_at(__global const separator *nodes, uint number)
{
    return nodes + ((ulong) number << SEARCH_LINE);
}

ORDO_FN __global const separator *line_of(__global const separator *nodes, index_place at, uint unit)
{
    return line_at(nodes, index_line(at, search_form(), unit));
}

#if TEAM_WIDTH == 1
/* Returns the number of the node or block in the next lower level where the search continues. `line` has the separators
 * of node `unit`. `last` is the greatest number in the lower level. */
ORDO_FN uint line_next(__global const separator *line, uint last, uint unit, ordo_key_form query)
{
    uint child = 0;

    ORDO_UNROLL
    for (uint step = 0; step < LINE_STEPS; step++)
        child = line_child(step, child, line_before(line, step, child, query));
    /* Entries after the last child are padding. If the search ends there, min() selects the last child. */
    return min(unit * LINE_ENTRIES + child, last);
}
#endif
