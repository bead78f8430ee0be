/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a static search index; shared/index.h shows it. The host gives ORDO_KEY and INDEX_NODE_LOG2. */
#pragma once
#include "shared/index.h"
#include "shared/key.h"

#ifndef INDEX_NODE_LOG2
#define INDEX_NODE_LOG2 4
#endif
#ifndef INDEX_GROUP
#define INDEX_GROUP 64 /* work-items per work-group */
#endif

/* Writes every entry of every level. Each reads its key from the array itself, so no level waits for another. */
ORDO_KERNEL(INDEX_GROUP)
void index_build(__global const ordo_key *keys, ulong keys_at, uint count, uint shift, __global ordo_key_form *nodes,
                 ulong nodes_at, uint n_nodes)
{
    const uint blocks = index_blocks(count, shift, INDEX_NODE_LOG2);
    const uint entries = n_nodes << INDEX_NODE_LOG2;
    keys += keys_at;
    nodes += nodes_at;

    for (uint e = get_global_id(0); e < entries; e += get_global_size(0)) {
        uint level = index_levels(blocks, INDEX_NODE_LOG2);
        uint entry = e;
        for (;;) {
            const uint here = index_units(blocks, INDEX_NODE_LOG2, level) << INDEX_NODE_LOG2;
            if (entry < here)
                break;
            entry -= here;
            level--;
        }
        nodes[e] = key_bits(keys[index_separator(count, shift, INDEX_NODE_LOG2, level, entry)]);
    }
}
