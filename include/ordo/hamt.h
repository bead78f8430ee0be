/* SPDX-License-Identifier: Apache-2.0 */
/* The HAMT, an ordered trie of bitmaps, for sets, dense or clustered keys, and ranks over changing
 * contents. share/doc/hamt.md explains it and has its limits and measurements.
 *
 * Example: reads a Roaring bitmap and counts its keys below 1000.
 *
 *     uint32_t bound = 1000, rank = 0;
 *     ordo_dict *set = NULL;
 *     ordo_hamt_create(dev, ordo_hamt_config(.dict = { .key = ORDO_U32 }), &set);
 *     ordo_hamt_read_roaring_host(set, bytes, size);
 *     ordo_dict_rank_host(set, ORDO_LT, &bound, 1, &rank); */
#ifndef ORDO_HAMT_H
#define ORDO_HAMT_H

#include "dict.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ordo_hamt_config {
    struct ordo_dict_config dict;
    /* The trie of the paper, to repeat its measurements: all leaves are bitmaps, and nodes of 64
     * places replace the tables (share/doc/hamt.md). */
    bool fixed_depth;
};

/* Creates an empty HAMT. It supports all calls of dict.h except concurrent batches.
 * Cost: a find, rank, select or bound: 1 or 2 words of a table, 1 or 2 leaf records (16 bytes;
 *   8-byte keys 24), then a sector of a bitmap or a binary search among 64 keys; with k leaves in a
 *   cell of the table, log2(k) more records. An update of b elements: a sort of b, a copy of each
 *   touched leaf, and 60 bytes for each leaf of the trie; new values of stored keys in place; a
 *   copy of a full pool. Erasures that leave a quarter of the elements, or leaves half full,
 *   rebuild the trie (cleanups in ordo_dict_statistics).
 * Memory: the values, and for each leaf 8 bytes, a record, and its keys: at most 128 bytes for
 *   1024, or 2 bytes for each within 65536 of the first, else whole keys. After updates up to twice
 *   that (share/doc/hamt.md). Peak of a build or compact: keys and values three times, 14 bytes a
 *   key, and 4 MiB.
 * Blocking: an update waits once; twice if a small batch no longer fits into the pool; five times
 *   if more than 1024 of its elements fall into one leaf.
 * Errors: ORDO_TOO_LARGE: keys and values need more than 32 GiB or than the largest allocation.
 *   After any error the dictionary is unchanged. */
ORDO_API ordo_status ordo_hamt_create(ordo_device *device, const struct ordo_hamt_config *config,
                                      ordo_dict **out);

/* ---- Roaring ------------------------------------------------------------------------------
 *
 * Dictionaries of ordo_hamt_create with keys of ORDO_U32 or ORDO_U64; others return
 * ORDO_UNSUPPORTED. The bytes have the Roaring portable format of CRoaring, its Java and Go
 * versions and Parquet's deletion vectors, for u64 keys its 64-bit extension: the number of
 * bitmaps, then for each the upper half of its keys and a bitmap of 32-bit keys. */

/* Replaces the content by the set in `size` bytes of device memory, which may begin at any byte.
 * Cost: two reads of the bytes, a build of sorted keys, and a search for bitmaps of u64 keys one by
 *   one.
 * Memory: scratch: 40 bytes a container, 8 for each 64 keys, words or runs, 32 a bitmap of u64;
 *   then the peak of a build. 7 KB of runs can be 33 million keys, which need 290 MB: set a limit.
 * Blocking: waits.
 * Errors: ORDO_INVALID names the wrong bitmap or container; ORDO_TOO_LARGE above ORDO_MAX_COUNT
 *   keys or bytes; ORDO_UNSUPPORTED with values. The content is then unchanged. */
ORDO_API ordo_status ordo_hamt_read_roaring(ordo_dict *dict, struct ordo_slice bytes, size_t size,
                                            const struct ordo_order *order);
ORDO_API ordo_status ordo_hamt_read_roaring_host(ordo_dict *dict, const void *bytes, size_t size);

/* Writes the keys to `out`, which may begin at any byte, and their bytes to *size. With ordo_none()
 * for `out` it only counts. Each container has its smallest form (runs, if an array is as small).
 * Equal sets give equal bytes: CRoaring's after roaring_bitmap_run_optimize.
 * Cost: an export, some passes over the keys, and the bytes.
 * Memory: scratch: the keys, 8 bytes a key, 4 a run of successive keys, 32 a container.
 * Blocking: waits.
 * Errors: ORDO_TOO_SMALL if *size is above capacity; nothing is written. */
ORDO_API ordo_status ordo_hamt_write_roaring(ordo_dict *dict, struct ordo_slice out,
                                             size_t capacity, size_t *size,
                                             const struct ordo_order *order);
ORDO_API ordo_status ordo_hamt_write_roaring_host(ordo_dict *dict, void *out, size_t capacity,
                                                  size_t *size);

/* See ordo.h. */
#ifndef __cplusplus
#define ordo_hamt_config(...) (&(struct ordo_hamt_config) { __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif

#endif
