/* SPDX-License-Identifier: Apache-2.0 */
/* A static search index over a sorted array: a tree of separators. A separator is the last key of a lower node, or of a
 * block of the array. Layout: cl/shared/index.h. */
#ifndef ORDO_INDEX_H
#define ORDO_INDEX_H

#include "primitive/primitive.h"
#include "shared/index.h"

struct ordo_index {
    ordo_device      *dev;
    ordo_type         key;
    struct ordo_slice keys; /* The indexed array. Its buffer is not retained. */
    size_t            count;
    index_form        form;
    cl_uint           shift, blocks, levels;
    size_t            bytes;
    cl_mem            nodes;    /* Separators of all levels. NULL if the array has fewer than two blocks. */
    size_t            nodes_at; /* The first separator of this index is element nodes_at of `nodes`. */

    cl_mem  packed;  /* The compressed keys, or NULL. */
    cl_mem  offsets; /* Offsets of compressed blocks. NULL if all blocks have the same size. */
    cl_uint width;   /* Bytes per compressed key. 0 if blocks differ in size. */
    size_t  packed_bytes;
};

/* Returns the layout for new indexes. Tunables may change it later, so callers must store it with the index. */
index_form ordo_index_form(const ordo_device *dev, ordo_type key);
/* Returns how many levels of the index a memory page holds, at least 1. */
cl_uint ordo_index_page_levels(const ordo_device *dev, const struct ordo_index *index);
/* Returns an index without a buffer. The caller must create index.nodes with index.bytes bytes. */
struct ordo_index ordo_index_of(ordo_device *dev, ordo_type key, struct ordo_slice keys, size_t count, index_form form);
/* Writes the separators to index->nodes. */
ordo_status ordo_call_index(struct ordo_call *call, const struct ordo_index *index);
/* Waits for the device. Returns ORDO_BROKEN if a separator is not the last key of its block or node. */
ordo_status ordo_call_check_index(struct ordo_call *call, const struct ordo_index *index);

#endif
