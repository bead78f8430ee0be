/* SPDX-License-Identifier: Apache-2.0 */
/* A static search index over a sorted array. cl/shared/index.h shows its memory layout. */
#ifndef ORDO_INDEX_H
#define ORDO_INDEX_H

#include "primitive/primitive.h"

struct ordo_index {
    ordo_device      *dev;
    ordo_type         key;
    struct ordo_slice keys; /* The indexed array, whose buffer is not retained. */
    size_t            count;
    cl_uint           node_log2; /* Binary logarithm of the number of keys per node. */
    cl_uint           shift, blocks, levels;
    size_t            bytes;
    /* Separators of all levels, or NULL if there is at most one block. A separator is the last key of a node or
     * block. */
    cl_mem nodes;
    size_t nodes_at; /* Number of nodes in `nodes` before the first node of this index. */

    cl_mem  packed;  /* The compressed keys. NULL if the index is not compressed. */
    cl_mem  offsets; /* Offsets of blocks. NULL if every block has `width` bytes per key. */
    cl_uint width;
    size_t  packed_bytes; /* Size of `packed` and `offsets` in bytes. */
};

/* Returns the binary logarithm of the number of keys per node. The result depends on a tunable that may change, so
 * callers store it with their index. */
cl_uint ordo_index_node_log2(const ordo_device *dev, ordo_type key);
/* Describes an index over `count` keys, but allocates no memory. The caller must allocate index.bytes bytes for
 * index.nodes. */
struct ordo_index ordo_index_of(ordo_device *dev, ordo_type key, struct ordo_slice keys, size_t count,
                                cl_uint node_log2);
/* Writes the separators to index->nodes. Does nothing if index->bytes is 0. */
ordo_status ordo_call_index(struct ordo_call *call, const struct ordo_index *index);

#endif
