/* SPDX-License-Identifier: Apache-2.0 */
/* The topmost levels of an index are its first page. These kernels group queries by the node that they reach below this
 * page. Kim et al., FAST (ACM TODS 36(4), 2011), section 8 (c). */
#pragma once
#include "primitive/search_line.cl"

/* Descends `levels` levels from the root, whose place is `at`. Sets buffers[i] to the node or block that query
 * first + i reaches. Sets places[i] to first + i. */
ORDO_KERNEL(SEARCH_GROUP)
void search_page(__global const ordo_key *keys, ulong keys_at, uint keys_count, __global const ordo_key *queries,
                 ulong queries_at, uint first, uint n_queries, __global const separator *nodes, ulong nodes_at,
                 uint blocks, index_place at, uint levels, __global uint *buffers, __global uint *places)
{
    queries += queries_at + first;
    nodes += nodes_at;
    const index_window window = index_window_of(keys + keys_at, keys_count);

    for (ulong i = get_global_id(0); i < n_queries; i += get_global_size(0)) {
        const ordo_key_form query = separator_query(window, key_bits(queries[i]));
        index_place         here = at;
        uint                unit = 0;

        for (uint level = 0; level < levels; level++) {
            const uint last = index_units(blocks, SEARCH_LINE, here.level - 1) - 1;
            unit = line_next(line_of(nodes, here, unit), last, unit, query);
            here = index_below(here, blocks, search_form());
        }
        buffers[i] = unit;
        places[i] = first + (uint) i;
    }
}

ORDO_KERNEL(SEARCH_GROUP)
void search_take(__global const ordo_key *queries, ulong queries_at, uint n_queries, __global const uint *places,
                 __global ordo_key *out)
{
    queries += queries_at;
    for (ulong i = get_global_id(0); i < n_queries; i += get_global_size(0))
        out[i] = queries[places[i]];
}
