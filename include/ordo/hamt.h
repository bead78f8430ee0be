/* SPDX-License-Identifier: Apache-2.0 */
/* The HAMT: an ordered trie of bitmaps. It suits sets, dense or clustered keys, and ranks in
 * changing dictionaries. See share/doc/hamt.md.
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
    /* If true, all leaves are bitmaps on one level, as in the paper that share/doc/hamt.md names.
     * This form is only for benchmarks. */
    bool fixed_depth;
};

/* Creates an empty HAMT, which supports all calls of dict.h.
 * Cost: a query reads a table entry, the description of a leaf, and the leaf. A leaf is a bitmap or
 *   has at most 64 keys. An update sorts its elements, copies each affected leaf, and moves 60
 *   bytes per leaf of the trie.
 * Memory: the keys, the values, and 24 bytes per leaf (32 with 8-byte keys). All keys between two
 *   successive multiples of 1024 take at most 128 bytes together. Sparser keys take 2 bytes each,
 *   or their full size if they lie far apart. share/doc/hamt.md describes the temporary memory.
 * Blocking: an update waits for the device once, or in rare cases up to five times
 *   (share/doc/hamt.md).
 * Errors: ORDO_TOO_LARGE if keys and values exceed 32 GiB or the largest allocation.
 * Concurrency: if memory is missing, all updates of a concurrent batch have the outcome
 *   ORDO_NOT_STORED. Each ORDO_FIND with found[i] = 0 then leaves values_out[i] undefined. */
ORDO_API ordo_status ordo_hamt_create(ordo_device *device, const struct ordo_hamt_config *config,
                                      ordo_dict **out);

/* ---- Roaring ------------------------------------------------------------------------------
 *
 * For HAMTs with keys of type ORDO_U32 or ORDO_U64. Other dictionaries return ORDO_UNSUPPORTED. The
 * bytes have the Roaring portable format, as in CRoaring and Parquet's deletion vectors. 8-byte
 * keys use its 64-bit extension. */

/* Replaces the content by a Roaring set of `size` bytes, which may begin at any byte of a buffer.
 * Cost: up to five reads of the bytes, and one write of the trie.
 * Memory: a Roaring set consists of containers of up to 65536 keys. Each takes 44 bytes of scratch.
 *   It also takes 8 bytes for every 64 stored items, which are keys, bitmap words or runs. If keys
 *   have 8 bytes, all keys with equal upper halves take 32 more bytes together. Each leaf takes 36
 *   bytes of scratch, 44 with 8-byte keys. Set a memory limit for untrusted bytes: 7 KB can become
 *   a trie of 5 MB.
 * Blocking: yes.
 * Errors: ORDO_INVALID for wrong bytes; the message names the container. ORDO_TOO_LARGE above
 *   ORDO_MAX_COUNT keys or bytes. ORDO_UNSUPPORTED for a dictionary with values. */
ORDO_API ordo_status ordo_hamt_read_roaring(ordo_dict *dict, struct ordo_slice bytes, size_t size,
                                            const struct ordo_order *order);
ORDO_API ordo_status ordo_hamt_read_roaring_host(ordo_dict *dict, const void *bytes, size_t size);

/* Writes the keys as a Roaring set to `out`, which may begin at any byte. *size receives the number
 * of bytes. If `out` is ordo_none(), only counts the bytes. Equal sets give equal bytes, as in
 * CRoaring after roaring_bitmap_run_optimize.
 * Cost: three reads of the trie, and one write of the bytes.
 * Memory: scratch of 8 bytes per leaf and 44 bytes per container.
 * Blocking: yes.
 * Errors: ORDO_TOO_SMALL if *size exceeds `capacity`. `out` is then unchanged. */
ORDO_API ordo_status ordo_hamt_write_roaring(ordo_dict *dict, struct ordo_slice out,
                                             size_t capacity, size_t *size,
                                             const struct ordo_order *order);
ORDO_API ordo_status ordo_hamt_write_roaring_host(ordo_dict *dict, void *out, size_t capacity,
                                                  size_t *size);

#ifndef __cplusplus
#define ordo_hamt_config(...) (&(struct ordo_hamt_config) { __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif

#endif
