/* SPDX-License-Identifier: Apache-2.0 */
/* The HAMT: an ordered trie of bitmaps. For sets, dense and clustered keys, ranks and selections over what changes.
 *
 *     tables     the way from a key, or a rank, to its leaf in one step where keys are spread evenly
 *     leaves     of each region with elements: a bitmap of 1024 keys, or up to 64 keys, sorted, of 16 bits where they fit
 *
 * After Y. Hubaut, J. Iacono, "Fast dynamic predecessor query on GPU": a trie over the bits of keys (no hash: it is in order)
 * with bitmaps as leaves. There all nodes have one form, values lie in a hash table beside, and ranges "seem difficult". Here the
 * number of bits before a key's is its rank, and so the place of its value; regions with few keys hold them sorted (as Roaring
 * bitmaps do: D. Lemire et al., "Roaring Bitmaps", SPE 48(4), 2018); levels that tell nothing are left out; and nodes are
 * numbered by scans, so no work-item waits for an allocator. */
#ifndef ORDO_HAMT_H
#define ORDO_HAMT_H

#include "dict.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ordo_hamt_config {
    struct ordo_dict_config dict;
    /* The trie as in the paper, to repeat what it measures: every leaf is a bitmap of 1024 keys, however few of them are there, and above
     * leaves are nodes of 64 places for 6 bits each, so that of 4-byte keys there are 5 levels, of 8-byte keys 10. A query reads two
     * words of a node on each level in the place of the table's. A leaf takes 128 bytes besides its values, a node 256; of keys far
     * apart each has a leaf of its own, and of 8-byte ones up to 8 nodes. An update waits once more, and makes all nodes anew:
     * scratch is 4 bytes for each leaf and level. */
    bool fixed_depth;
};

/* An empty HAMT. It does all of dict.h but concurrent batches: a bit of a bitmap could be set by an atomic, but the number of bits
 * before it, which ranks and the places of values go by, would have to be counted anew before the next query, and that is most of
 * what a batch in order costs. Floats go by their ordered form, so that of a set of floats that are not close to each other leaves
 * are sorted keys.
 * Cost    find, rank, select, and each bound of a count or a range: a word or two of a table, a record of a leaf or two (16 bytes;
 *         of 8-byte keys 24), and of its keys one sector of a bitmap, or a binary search among 64. Where keys are clustered,
 *         so that one cell of the table has k leaves, log2(k) records more. A seek may look into the next leaf.
 *         An update of b elements: a sort of b; the leaves that it touches are read, merged with it, and written anew; besides one
 *         pass over the records of all leaves, 60 bytes for each. It waits once, for how much that is; twice if a small batch no
 *         longer fits into the memory held; five times if more than 1024 updates fall into one leaf, of which all is then taken out and put
 *         in again. Of keys that are all there values alone are written, in place. Else nothing in use is written over, so that what
 *         leaves no longer need is left behind until the memory held is used up: then all blocks are copied, which a quarter of what lives must
 *         have been written for. All is built anew when erasures have left less than a quarter, or half of the elements a leaf has after
 *         a build: that counts in ordo_dict_statistics as a cleanup.
 *         On an H200, of 2^24 u32 keys with 4-byte values, in G/s: finds 11, seeks 11, ranks 13, selections 17 of uniform keys;
 *         17 to 13, and of successive keys 70 to 99, where they are crowded. Batches of 2^20 new keys: 1.2 after a build, and 1.4 to 1.7 from the
 *         third on; of keys without values 2.0, of crowded ones 4.2. Each leaf is touched then.
 * Memory  after a build or ordo_dict_compact: 2^27 successive u32 keys without values 1.17 bits a key; 2^24 random ones 2.9 bytes
 *         a key. At most 128 bytes for 1024 keys, or 2 bytes a key that is within 65536 of its leaf's first, else the whole
 *         key; blocks are rounded up to 16 bytes; 8 bytes and a record for each leaf; the values. After updates a quarter more,
 *         and the records twice; after those that had all blocks copied, these twice too, until a batch does not. An update that
 *         has too many for one leaf holds besides what it touches twice. At their peak a build and a compact hold all
 *         keys and values three times, 14 bytes a key, and 4 MiB.
 * Errors  nothing that is in use is written over, but values by a command that nothing comes after: a call that fails, for want of memory or
 *         anything else, leaves the dictionary as it was. Keys and values are one allocation: more than the device's largest, or than 32 GiB, is
 *         ORDO_TOO_LARGE. */
ORDO_API ordo_status ordo_hamt_create(ordo_device *device, const struct ordo_hamt_config *config, ordo_dict **out);

/* ---- Roaring --------------------------------------------------------------------------------------------------
 *
 * Of dictionaries that ordo_hamt_create made, with keys of ORDO_U32 or ORDO_U64; others: ORDO_UNSUPPORTED. The bytes are those of the
 * Roaring portable format, which CRoaring, its Java and Go twins, Parquet's deletion vectors and many more read and write; of u64
 * keys its extension to 64 bits: the number of bitmaps, and of each the upper half of its keys and a bitmap of 32 bits. */

/* Replaces the whole content by the set that `size` bytes (in device memory, at any byte) are. The dictionary has no values
 * (others: ORDO_UNSUPPORTED). The bytes must be one set and nothing more: all counts and places in them are checked before anything is
 * made of them, and of what is not so (cut, bytes left over, an unknown cookie, keys out of order, runs that overlap, counts that
 * are wrong) ORDO_INVALID is returned, ordo_device_last_error says which bitmap or container it is, and the dictionary holds what it
 * held before. ORDO_TOO_LARGE: a set of more than ORDO_MAX_COUNT keys, or more bytes. Waits.
 * Cost     the bytes are read twice, once to check them; then a build of keys in order. Bitmaps of u64 keys are found one after
 *          another, by some dependent reads each: where nearly each key has an upper half of its own, this is what takes the time.
 * Memory   scratch: for u64 keys 32 bytes for each bitmap; 40 bytes for each container, and 8 for each 64 of its keys,
 *          words or runs. Once all is checked, the keys, and what a build of them takes. A few bytes can be many keys: a
 *          run of 65,536 keys takes 14 bytes, so that a file of 7 KB can hold 33 million keys, and reading them takes 290
 *          MB. Before bytes from elsewhere are read, set a limit on the device's memory. */
ORDO_API ordo_status ordo_hamt_read_roaring(ordo_dict *dict, struct ordo_slice bytes, size_t size,
                                            const struct ordo_order *order);
ORDO_API ordo_status ordo_hamt_read_roaring_host(ordo_dict *dict, const void *bytes, size_t size);

/* Writes the keys to `out`, bytes in device memory that begin at any byte. Each container has the form that takes the fewest bytes:
 * array, bitmap or runs; runs, where an array takes as many. So equal sets are equal bytes. CRoaring writes the same bytes
 * for a set whose keys were added one by one, after roaring_bitmap_run_optimize. Its bytes depend on how a set was made:
 * after roaring_bitmap_add_range it may write longer containers, which hold the same keys. *size receives how many these are; if that is more than capacity, nothing is written and ORDO_TOO_SMALL
 * returned. With ordo_none() for `out` they are only counted. Waits.
 * Cost     an export, then some passes over the keys, and the bytes.
 * Memory   scratch: the keys, 8 bytes for each key, 4 for each run of successive keys, 32 for each container. */
ORDO_API ordo_status ordo_hamt_write_roaring(ordo_dict *dict, struct ordo_slice out, size_t capacity, size_t *size,
                                             const struct ordo_order *order);
ORDO_API ordo_status ordo_hamt_write_roaring_host(ordo_dict *dict, void *out, size_t capacity, size_t *size);

/* Parameters made in place, as ordo.h says. */
#ifndef __cplusplus
#define ordo_hamt_config(...) (&(struct ordo_hamt_config) { __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif

#endif
