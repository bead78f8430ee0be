/* SPDX-License-Identifier: Apache-2.0 */
/* A static search index. cl/shared/index.h shows its memory. */
#ifndef ORDO_INDEX_H
#define ORDO_INDEX_H

#include "primitive/primitive.h"

struct ordo_index {
    ordo_device      *dev;
    ordo_type         key;
    struct ordo_slice keys; /* the indexed array, not retained */
    size_t            count;
    cl_uint           node_log2; /* log2 of the keys per node */
    cl_uint           shift, blocks, levels;
    size_t            bytes;
    cl_mem            nodes;    /* NULL if there is at most one block, so no level */
    size_t            nodes_at; /* number of nodes from the buffer's start to the first node */

    /* Only a compressed index holds keys (cl/shared/index.h, I5 to I7). */
    cl_mem  packed;  /* the keys; NULL: the index is not compressed */
    cl_mem  offsets; /* NULL: every block has `width` bytes per key */
    cl_uint width;
    size_t  packed_bytes; /* of `packed` and `offsets` */
};

/* Returns log2 of the keys per node, a tunable. A caller that reserves memory for a later index keeps the number,
 * because tunables may change. */
cl_uint ordo_index_node_log2(const ordo_device *dev, ordo_type key);
/* Describes an index of `count` keys, whose memory the caller allocates: index.bytes for its nodes. */
struct ordo_index ordo_index_of(ordo_device *dev, ordo_type key, struct ordo_slice keys, size_t count,
                                cl_uint node_log2);
/* Builds the index in index->nodes. Does nothing if index->bytes is 0. */
ordo_status ordo_call_index(struct ordo_call *call, const struct ordo_index *index);

#endif
