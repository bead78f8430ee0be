/* SPDX-License-Identifier: Apache-2.0 */
/* A static search index. cl/shared/index.h shows its memory. */
#ifndef ORDO_INDEX_H
#define ORDO_INDEX_H

#include "primitive/primitive.h"

struct ordo_index {
    ordo_device      *dev;
    ordo_type         key;
    struct ordo_slice keys;      /* the array; not retained, only compared */
    size_t            count;     /* of keys */
    cl_uint           node_log2; /* of the keys per node */
    cl_uint           shift, blocks, levels;
    size_t            bytes;    /* of nodes */
    cl_mem            nodes;    /* NULL if there is no level: at most one block */
    size_t            nodes_at; /* the first node, counted in nodes from the buffer's start */

    /* A compressed index has keys, too (cl/shared/index.h, I5 to I7). */
    cl_mem  packed;  /* NULL: it is none */
    cl_mem  offsets; /* NULL: all blocks have `width` bytes a key */
    cl_uint width;
    size_t  packed_bytes; /* offsets included */
};

/* Log2 of the keys of a node in the profile. Tunables may change, so a caller that reserves memory for a later index
 * keeps it. */
cl_uint ordo_index_node_log2(const ordo_device *dev, ordo_type key);
/* An index of `count` keys without memory. index.bytes: the size of its nodes. */
struct ordo_index ordo_index_of(ordo_device *dev, ordo_type key, struct ordo_slice keys, size_t count,
                                cl_uint node_log2);
/* Builds the index in index->nodes. Nothing if index->bytes is 0. */
ordo_status ordo_call_index(struct ordo_call *call, const struct ordo_index *index);

#endif
