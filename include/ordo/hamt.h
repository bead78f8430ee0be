/* SPDX-License-Identifier: Apache-2.0 */
/* The HAMT, an ordered trie of bitmaps, for sets, dense or clustered keys, and ranks over changing
 * contents.
 *
 *     tables     one step from a key, or a rank, to its leaf if keys are spread evenly
 *     leaves     a bitmap of 1024 keys, or up to 64 sorted keys, of 16 bits where they fit
 *
 * share/doc/hamt.md describes how it works, its limits and measurements. */
#ifndef ORDO_HAMT_H
#define ORDO_HAMT_H

#include "dict.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ordo_hamt_config {
    struct ordo_dict_config dict;
    /* The trie of the paper, to repeat its measurements: all leaves are bitmaps, and nodes of 64
     * places for 6 bits each replace the tables: 5 levels for 4-byte keys, 10 for 8-byte keys. A
     * query reads two words of a node on each level. An update makes all nodes anew, waits once
     * more, and needs 4 bytes of scratch for each leaf and level. A leaf takes 128 bytes and its
     * values, a node 256 bytes; an 8-byte key far from others needs up to 8 nodes. */
    bool fixed_depth;
};

/* Creates an empty HAMT. It does all of dict.h except concurrent batches.
 * Cost:      a find, rank, select or bound: 1 or 2 words of a table, 1 or 2 leaf records (16 bytes;
 *            8-byte keys 24), then a sector of a bitmap or a binary search among 64 keys; with k
 *            leaves in a cell of the table, log2(k) more records. An update of b elements: a sort
 *            of b, a copy of each touched leaf, and 60 bytes for each leaf of the trie. New values
 *            of stored keys are written in place. All blocks are copied when the pool is full.
 *            Erasures that leave a quarter of the elements, or leaves half full, rebuild the trie
 *            (a cleanup in ordo_dict_statistics).
 * Memory:    the values, 8 bytes and a record for each leaf, and for the keys at most 128 bytes for
 *            1024 keys, or 2 bytes for a key within 65536 of its leaf's first, else the whole key;
 *            blocks are rounded up to 16 bytes. After updates a quarter more, and records twice;
 *            after one that copied all blocks, these twice. An update with more than 1024 in a leaf
 *            also holds the elements that it touches twice. Peak of a build or compact: keys and
 *            values three times, 14 bytes a key, and 4 MiB.
 * Blocking:  an update waits once; twice if a small batch no longer fits into the pool; five times
 *            if more than 1024 of its elements fall into one leaf.
 * Errors:    ORDO_TOO_LARGE: keys and values need more than 32 GiB or than the largest
 *            allocation. After any error the dictionary is unchanged. */
ORDO_API ordo_status ordo_hamt_create(ordo_device *device, const struct ordo_hamt_config *config,
                                      ordo_dict **out);

/* ---- Roaring ------------------------------------------------------------------------------
 *
 * Dictionaries of ordo_hamt_create with keys of ORDO_U32 or ORDO_U64; others return
 * ORDO_UNSUPPORTED. The bytes have the Roaring portable format of CRoaring, its Java and Go
 * versions and Parquet's deletion vectors. For u64 keys they have its 64-bit extension: the
 * number of bitmaps, then for each the upper half of its keys and a bitmap of 32-bit keys. */

/* Replaces the content by the set in `size` bytes of device memory, which may begin at any byte.
 * Cost:      checks the bytes, reads them again, builds sorted keys; finds bitmaps of u64 keys one
 *            by one
 * Memory:    scratch: 40 bytes a container, 8 for each 64 keys, words or runs, 32 a bitmap of u64;
 *            then the peak of a build. 7 KB of runs can be 33 million keys, which need 290 MB: set
 *            a limit.
 * Blocking:  waits
 * Errors:    ORDO_INVALID names the wrong bitmap or container; ORDO_TOO_LARGE above
 *            ORDO_MAX_COUNT keys or bytes; ORDO_UNSUPPORTED with values. The content is then
 *            unchanged. */
ORDO_API ordo_status ordo_hamt_read_roaring(ordo_dict *dict, struct ordo_slice bytes, size_t size,
                                            const struct ordo_order *order);
ORDO_API ordo_status ordo_hamt_read_roaring_host(ordo_dict *dict, const void *bytes, size_t size);

/* Writes the keys to `out`, bytes of device memory that may begin at any byte, and the number of
 * bytes to *size. With ordo_none() for `out` it only counts. Each container has its smallest form
 * (runs, if an array is as small). Equal sets give equal bytes, as CRoaring's for keys added one by
 * one, after roaring_bitmap_run_optimize.
 * Cost:      an export, some passes over the keys, and the bytes
 * Memory:    scratch: the keys, 8 bytes a key, 4 a run of successive keys, 32 a container
 * Blocking:  waits
 * Errors:    ORDO_TOO_SMALL if *size is above capacity; nothing is written */
ORDO_API ordo_status ordo_hamt_write_roaring(ordo_dict *dict, struct ordo_slice out,
                                             size_t capacity, size_t *size,
                                             const struct ordo_order *order);
ORDO_API ordo_status ordo_hamt_write_roaring_host(ordo_dict *dict, void *out, size_t capacity,
                                                  size_t *size);

/* Parameters made in place, as ordo.h says. */
#ifndef __cplusplus
#define ordo_hamt_config(...) (&(struct ordo_hamt_config) { __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif

#endif
